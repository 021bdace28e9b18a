//! The connection to one curator, over HTTP.

use crate::submit::{SubmitError, is_final};
use crate::survey::{Survey, verified};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use undertone_core::{DecodeError, Policy, PolicyId, Refusal, Report};
use undertone_wire::limits::{POLICY_BYTES, REPLY_BYTES, SURVEY_BYTES};
use undertone_wire::{Acknowledgement, BatchForm, ProblemDocument, SurveyDescription, SurveyId};

/// A curator's address with a pool of connections and the policies verified so far. Cloning is
/// cheap and shares both.
#[derive(Clone, Debug)]
pub struct Connection {
    base: Arc<str>,
    agent: ureq::Agent,
    retry: Retry,
    policy_limit: u64,
    /// The length of the shortest body that was refused for its length; longer ones are not tried.
    too_large: Arc<AtomicUsize>,
    verified: Arc<Mutex<BTreeMap<PolicyId, Arc<Policy>>>>,
}

/// How often and how patiently to try again. Waiting doubles each time, with up to half of it added
/// at random so that devices do not return all at once; a `Retry-After` of the curator is respected
/// up to `longest`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Retry {
    /// Attempts in all, at least one.
    pub attempts: u32,
    /// The first wait.
    pub first: Duration,
    /// The longest wait.
    pub longest: Duration,
}

impl Default for Retry {
    fn default() -> Self {
        Self { attempts: 4, first: Duration::from_millis(200), longest: Duration::from_secs(10) }
    }
}

impl Retry {
    /// The wait after attempt `done` (from 0).
    fn wait(&self, done: u32, asked: Option<u64>) -> Duration {
        let doubled = self.first.saturating_mul(1u32.checked_shl(done).unwrap_or(u32::MAX));
        let mut byte = [0; 1];
        // Without a generator nobody would have got here; no jitter then.
        let jitter = getrandom::fill(&mut byte).map_or(0, |()| u32::from(byte[0]));
        let spread = doubled.min(self.longest).saturating_mul(512 + jitter) / 512;
        spread.max(asked.map_or(Duration::ZERO, Duration::from_secs)).min(self.longest)
    }
}

/// An address that is not a curator's.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{address:?} is not a curator's address: write http:// or https://, a host, and no query")]
pub struct BadAddress {
    /// What was given.
    pub address: String,
}

/// Why a survey or policy could not be had, or is not to be trusted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    /// The name cannot be a survey's.
    #[error("{id:?} is not a survey's id: it has 1 to 64 of a-z, 0-9 and -")]
    SurveyId {
        /// What was asked.
        id: String,
    },
    /// The curator refuses.
    #[error("the curator refuses: {0}")]
    Refused(ProblemDocument),
    /// No answer, or not now.
    #[error("the curator cannot be reached or is busy: {reason}")]
    Unavailable {
        /// What happened.
        reason: String,
    },
    /// What comes has no end, or is longer than anything this device would use.
    #[error("{what} has more than {limit} bytes: it is not fetched")]
    TooLarge {
        /// What was being fetched.
        what: &'static str,
        /// How many bytes it may have.
        limit: u64,
    },
    /// What came is not what was asked for.
    #[error("{what} cannot be read: {message}")]
    Malformed {
        /// What was being read.
        what: &'static str,
        /// What is wrong with it.
        message: String,
    },
    /// The policy's bytes are not a policy.
    #[error("the policy cannot be read: {0}")]
    Decode(#[from] DecodeError),
    /// A claim is false.
    #[error("the policy is refused: {0}")]
    Claim(Box<Refusal>),
    /// Another policy came.
    #[error("policy {asked} was asked for and {found} came: nothing is sent under it")]
    OtherPolicy {
        /// The id in the survey.
        asked: PolicyId,
        /// The id of what came.
        found: PolicyId,
    },
    /// The survey asks one thing and its policy encodes another.
    #[error("the survey's answers are not the policy's inputs: nothing is sent under it")]
    Answers,
    /// Several groups, or not this one.
    #[error("the survey has the groups {groups:?}: name the one you belong to")]
    Group {
        /// Its groups.
        groups: Vec<String>,
    },
}

/// A response, read whole.
struct Reply {
    status: u16,
    wait: Option<u64>,
    body: Vec<u8>,
}

impl Reply {
    fn problem(&self) -> ProblemDocument {
        let parsed: ProblemDocument = serde_json::from_slice(&self.body).unwrap_or_default();
        ProblemDocument { status: self.status, ..parsed }
    }
}

/// The status of a body that is too large.
const TOO_LARGE: u16 = 413;

impl Connection {
    /// A connection to the curator at `http://host[:port][/path]`, or `https://`.
    pub fn new(base: &str) -> Result<Self, BadAddress> {
        let config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_global(Some(Duration::from_secs(60)))
            .timeout_connect(Some(Duration::from_secs(10)))
            .user_agent("undertone-client")
            .build();
        Self::with_agent(base, config.into())
    }

    /// A connection over an agent of the caller's making (proxies, own certificates). It must not turn
    /// statuses into errors and should not follow redirects.
    pub fn with_agent(base: &str, agent: ureq::Agent) -> Result<Self, BadAddress> {
        let bad = || BadAddress { address: base.into() };
        let host = base
            .strip_prefix("http://")
            .or_else(|| base.strip_prefix("https://"))
            .ok_or_else(bad)?
            .trim_end_matches('/');
        let plain = |c: char| c.is_ascii_graphic() && !matches!(c, '?' | '#' | '@' | '"' | '<');
        if host.is_empty() || host.starts_with('/') || !host.chars().all(plain) {
            return Err(bad());
        }
        Ok(Self {
            base: base.trim_end_matches('/').into(),
            agent,
            retry: Retry::default(),
            policy_limit: POLICY_BYTES,
            too_large: Arc::new(AtomicUsize::new(usize::MAX)),
            verified: Arc::default(),
        })
    }

    /// This connection with another patience.
    #[must_use]
    pub fn with_retry(mut self, retry: Retry) -> Self {
        self.retry = Retry { attempts: retry.attempts.max(1), ..retry };
        self
    }

    /// This connection, over which policies of up to so many bytes are fetched (64 MiB if not told).
    #[must_use]
    pub fn with_policy_limit(self, bytes: u64) -> Self {
        Self { policy_limit: bytes, ..self }
    }

    /// The curator's address.
    pub fn base(&self) -> &str {
        &self.base
    }

    /// Fetches a survey and verifies the policy of its only group.
    pub fn survey(&self, id: &str) -> Result<Survey, FetchError> {
        self.survey_for(id, None)
    }

    /// Fetches a survey and verifies the policy of one of its groups.
    pub fn survey_of_group(&self, id: &str, group: &str) -> Result<Survey, FetchError> {
        self.survey_for(id, Some(group))
    }

    pub(crate) fn survey_for(&self, id: &str, group: Option<&str>) -> Result<Survey, FetchError> {
        let id: SurveyId = id.parse().map_err(|_| FetchError::SurveyId { id: id.into() })?;
        let body = self.get(&format!("/v1/surveys/{id}"), "the survey", SURVEY_BYTES)?;
        let description = SurveyDescription::from_json(&body).map_err(|error| {
            FetchError::Malformed { what: "the survey", message: error.to_string() }
        })?;
        Survey::new(&self.base, &id, group, description, |policy| self.policy(policy))
    }

    /// Fetches a policy, checks every claim exactly and that it is the one asked for. A policy is
    /// fetched and verified once.
    pub fn policy(&self, id: PolicyId) -> Result<Arc<Policy>, FetchError> {
        if let Some(known) = self.verified().get(&id) {
            return Ok(known.clone());
        }
        let path = format!("/v1/policies/{id}?form=bytes");
        let bytes = self.get(&path, "the policy", self.policy_limit)?;
        let policy = Arc::new(verified(id, &bytes)?);
        self.verified().insert(id, policy.clone());
        Ok(policy)
    }

    fn verified(&self) -> std::sync::MutexGuard<'_, BTreeMap<PolicyId, Arc<Policy>>> {
        // The map is whole after every operation, so a panic elsewhere does not spoil it.
        self.verified.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// GET with retries; an answer of more than `limit` bytes is not read to its end.
    fn get(&self, path: &str, what: &'static str, limit: u64) -> Result<Vec<u8>, FetchError> {
        let url = format!("{}{path}", self.base);
        let attempt = || {
            let reply = match read(self.agent.get(&url).call(), limit) {
                Ok(reply) => reply,
                Err(ureq::Error::BodyExceedsLimit(_)) => {
                    return Ok(Err(FetchError::TooLarge { what, limit }));
                }
                Err(error) => return Err(Later::because(&error)),
            };
            match reply.status {
                200 => Ok(Ok(reply.body)),
                status if is_final(status) => Ok(Err(FetchError::Refused(reply.problem()))),
                status => Err(Later::after(status, reply.wait)),
            }
        };
        let unavailable = |later: Later| FetchError::Unavailable { reason: later.reason };
        self.retried(attempt).map_err(unavailable)?
    }

    /// Sends reports and returns once the curator has acknowledged all of them. Every attempt sends
    /// the same report ids, so a lost response costs nothing but a duplicate. Reports that are too many
    /// bytes for one body go in parts; if a part fails, sending all of them again is harmless.
    pub fn submit(
        &self,
        survey: &str,
        reports: &[Report],
        form: BatchForm,
    ) -> Result<(), SubmitError> {
        if let Err(error) = survey.parse::<SurveyId>() {
            return Err(SubmitError::Body { reason: format!("survey {survey:?}: {error}") });
        }
        let url = format!("{}/v1/surveys/{survey}/reports", self.base);
        self.submit_parts(&url, reports, form)
    }

    /// Sends reports in one body, or in two halves where the curator takes no body of that length.
    fn submit_parts(
        &self,
        url: &str,
        reports: &[Report],
        form: BatchForm,
    ) -> Result<(), SubmitError> {
        let body = form.encode(reports)?;
        let divisible = reports.len() > 1;
        if !(divisible && body.len() >= self.too_large.load(Ordering::Relaxed)) {
            match self.submit_body(url, &body, reports.len(), form) {
                Err(SubmitError::Refused(problem)) if divisible && problem.status == TOO_LARGE => {
                    self.too_large.fetch_min(body.len(), Ordering::Relaxed);
                }
                outcome => return outcome,
            }
        }
        drop(body);
        let (first, second) = reports.split_at(reports.len() / 2);
        self.submit_parts(url, first, form)?;
        self.submit_parts(url, second, form)
    }

    fn submit_body(
        &self,
        url: &str,
        body: &[u8],
        reports: usize,
        form: BatchForm,
    ) -> Result<(), SubmitError> {
        let attempt = || {
            let request = self.agent.post(url).header("content-type", form.media_type());
            let reply = read(request.send(body), REPLY_BYTES).map_err(|e| Later::because(&e))?;
            let counted: Option<Acknowledgement> = serde_json::from_slice(&reply.body).ok();
            match (reply.status, counted) {
                (202, Some(Acknowledgement { accepted })) if accepted == reports as u64 => {
                    Ok(Ok(()))
                }
                (status, _) if is_final(status) => Ok(Err(SubmitError::Refused(reply.problem()))),
                (status, _) => Err(Later::after(status, reply.wait)),
            }
        };
        let unavailable = |Later { reason, wait }| SubmitError::Unavailable { reason, wait };
        self.retried(attempt).map_err(unavailable)?
    }

    /// Tries until there is an outcome, good or bad, or patience ends.
    fn retried<T>(&self, attempt: impl Fn() -> Result<T, Later>) -> Result<T, Later> {
        let mut done = 0;
        loop {
            match attempt() {
                Err(Later { wait, .. }) if done + 1 < self.retry.attempts => {
                    std::thread::sleep(self.retry.wait(done, wait));
                    done += 1;
                }
                outcome => return outcome,
            }
        }
    }
}

/// An attempt that may succeed if it is made again.
struct Later {
    reason: String,
    wait: Option<u64>,
}

impl Later {
    fn after(status: u16, wait: Option<u64>) -> Self {
        Self { reason: format!("the answer has status {status}"), wait }
    }

    fn because(error: &ureq::Error) -> Self {
        Self { reason: error.to_string(), wait: None }
    }
}

fn read(
    response: Result<ureq::http::Response<ureq::Body>, ureq::Error>,
    limit: u64,
) -> Result<Reply, ureq::Error> {
    let mut response = response?;
    let wait = response.headers().get("retry-after").and_then(|v| v.to_str().ok()?.parse().ok());
    let status = response.status().as_u16();
    // The reader refuses at its limit, before it has seen whether anything follows.
    let body = response.body_mut().with_config().limit(limit.saturating_add(1)).read_to_vec()?;
    Ok(Reply { status, wait, body })
}
