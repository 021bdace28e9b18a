//! What a curator does, whoever asks: one module for each use case, over `AppState`.

mod counting;
pub mod design;
pub mod estimates;
mod failure;
pub mod gain;
pub(crate) mod ingest;
pub mod learning;
pub(crate) mod life;
pub(crate) mod officer;
pub mod plan;
mod rounds;
pub mod survey;
pub(crate) mod surveys;
mod together;
pub mod tokens;
mod wiping;

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::http::HeaderMap;
use tokio::sync::OnceCell;
use undertone_core::{Draft, Policy, PolicyId};
use undertone_wire::{Code, Problem, RoundState, SurveyId};

use crate::auth::{self, Access, Caller, OwnerToken, Right, Standing};
use crate::clock::{Clock, Randomness, timestamp};
use crate::flight::{Capacity, Flight, Hold};
use crate::limit::{Limiter, Rate};
use crate::metrics::Metrics;
use crate::store::{RoundRecord, Store, TokenRecord};
use gain::Gain;
use officer::OfficerRounds;
use survey::{Stored, Survey};
use surveys::ObserverReport;

/// What the curator is made of.
#[derive(Clone)]
pub struct App {
    /// Where everything is kept.
    pub store: Arc<dyn Store>,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
    /// Where survey ids come from when none is given.
    pub randomness: Arc<dyn Randomness>,
    /// Who may create, seal and release.
    pub owner: OwnerToken,
    /// Limits.
    pub settings: Settings,
}

/// Limits; the defaults are meant for production.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The largest body of the owner, in bytes.
    pub max_body: usize,
    /// The largest body of anybody else, in bytes. Ten thousand reports with an index fit, also as JSON.
    pub max_anonymous_body: usize,
    /// How many bytes of bodies and answers may be in memory at once.
    pub in_flight: Capacity,
    /// How long a body may take to arrive.
    pub body_timeout: Duration,
    /// How long an answer may take.
    pub request_timeout: Duration,
    /// How long an answer may take that involves designing a policy or counting what waits.
    pub design_timeout: Duration,
    /// How often one address may ask, and how many reports it may send: a request costs one, and each
    /// further report in it one more. `None` for no limit.
    pub rate: Option<Rate>,
    /// How often one address may try a wrong owner's token.
    pub guesses: Rate,
    /// Whether the client's address is the last one of `X-Forwarded-For`: only behind a proxy that sets it.
    pub trust_proxy: bool,
    /// Whether anybody may read the metrics.
    pub metrics_open: bool,
    /// Whether the curator is reached over TLS, so that browsers may be told to insist on it.
    pub secure: bool,
    /// How old the curator's picture of a survey may be. A round that another curator sealed is noticed
    /// by the store at once, and here after this time.
    pub memory: Duration,
    /// How long to wait before looking for reports to count.
    pub fold_pause: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            max_body: 8 << 20,
            max_anonymous_body: 2 << 20,
            in_flight: Capacity { total: 256 << 20, per_address: 64 << 20 },
            body_timeout: Duration::from_secs(15),
            request_timeout: Duration::from_secs(30),
            design_timeout: Duration::from_secs(300),
            rate: Some(Rate { burst: 10_000.0, per_second: 1000.0 }),
            guesses: Rate { burst: 10.0, per_second: 0.1 },
            trust_proxy: false,
            metrics_open: false,
            secure: false,
            memory: Duration::from_secs(1),
            fold_pause: Duration::from_millis(200),
        }
    }
}

/// The address a request came from; the server puts it there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer(pub IpAddr);

/// A survey as the curator remembers it.
#[derive(Debug)]
pub(crate) struct CachedSurvey {
    pub(crate) id: SurveyId,
    pub(crate) survey: Survey,
    pub(crate) version: u64,
    pub(crate) rounds: Vec<RoundRecord>,
    /// Every policy of the survey, with its round.
    pub(crate) policies: HashMap<PolicyId, (u32, Arc<Policy>)>,
    /// What takes long to compute is computed once, until something changes.
    pub(crate) gain: OnceCell<Option<Gain>>,
    pub(crate) observer: OnceCell<Arc<ObserverReport>>,
    pub(crate) officer: OnceCell<Arc<OfficerRounds>>,
    /// When the store was last asked.
    read: Mutex<Instant>,
}

impl CachedSurvey {
    pub(crate) fn newest(&self) -> Option<&RoundRecord> {
        self.rounds.last()
    }

    pub(crate) fn open(&self) -> Option<&RoundRecord> {
        self.newest().filter(|round| round.state == RoundState::Open && !round.held)
    }

    pub(crate) fn policy(&self, id: &PolicyId) -> Result<&Arc<Policy>, Problem> {
        self.policies.get(id).map(|(_, policy)| policy).ok_or_else(|| {
            Problem::new(Code::PolicyUnknown, "the survey's policy is not in the store")
        })
    }
}

/// The curator at work: its dependencies, and what it remembers between requests.
pub(crate) struct AppState {
    pub(crate) app: App,
    pub(crate) metrics: Metrics,
    pub(crate) requests: Option<Limiter>,
    pub(crate) guesses: Limiter,
    pub(crate) flight: Arc<Flight>,
    /// Told when reports were appended, so that they are counted soon.
    pub(crate) appended: tokio::sync::Notify,
    surveys: Mutex<HashMap<SurveyId, Arc<CachedSurvey>>>,
    policies: Mutex<HashMap<PolicyId, Arc<Policy>>>,
    tokens: Mutex<KnownTokens>,
    /// When what was deleted is next tried to be removed from the disk, after a failure.
    pub(crate) wipe_not_before: Mutex<Option<Instant>>,
}

/// The tokens that work, by their hashes, and when the store was last asked for them.
#[derive(Default)]
struct KnownTokens {
    read: Option<Instant>,
    by_hash: HashMap<[u8; 32], Arc<Access>>,
}

/// At most this many surveys and policies are remembered; a full memory is emptied.
const REMEMBERED: usize = 4096;

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

impl AppState {
    pub(crate) fn new(app: App) -> Self {
        Self {
            metrics: Metrics::default(),
            requests: app.settings.rate.map(Limiter::new),
            guesses: Limiter::new(app.settings.guesses),
            flight: Flight::new(app.settings.in_flight),
            appended: tokio::sync::Notify::new(),
            surveys: Mutex::default(),
            policies: Mutex::default(),
            tokens: Mutex::default(),
            wipe_not_before: Mutex::default(),
            app,
        }
    }

    /// A policy from memory or the store, verified by the kernel when it is read.
    pub(crate) async fn policy(&self, id: PolicyId) -> Result<Option<Arc<Policy>>, Problem> {
        if let Some(policy) = locked(&self.policies).get(&id) {
            return Ok(Some(policy.clone()));
        }
        let Some(bytes) = self.app.store.policy(&id).await? else { return Ok(None) };
        let verified = move || {
            let draft = Draft::from_bytes(&bytes).map_err(|error| error.to_string())?;
            draft.verify().map_err(|refusal| refusal.to_string())
        };
        let policy = blocking(verified).await?.map_err(|cause| {
            tracing::error!(%cause, policy = %id, "a stored policy does not verify");
            Problem::new(Code::Unavailable, "a stored policy does not verify: it is not used")
        })?;
        if policy.id() != id {
            tracing::error!(policy = %id, "a stored policy has another id");
            return Err(Problem::new(Code::Unavailable, "a stored policy has another id"));
        }
        let policy = Arc::new(policy);
        let mut known = locked(&self.policies);
        if known.len() >= REMEMBERED {
            known.clear();
        }
        known.insert(id, policy.clone());
        Ok(Some(policy))
    }

    /// A survey, at most as old as the settings allow.
    pub(crate) async fn survey(&self, name: &str) -> Result<Arc<CachedSurvey>, Problem> {
        let id = surveys::known(name)?;
        let Some(cached) = locked(&self.surveys).get(&id).cloned() else {
            return self.fresh(&id).await;
        };
        {
            let mut read = locked(&cached.read);
            if read.elapsed() < self.app.settings.memory {
                drop(read);
                return Ok(cached);
            }
            // One request asks the store; those that come meanwhile make do with what is known.
            *read = Instant::now();
        }
        self.fresh(&id).await
    }

    /// A survey as the store has it now.
    pub(crate) async fn fresh(&self, id: &SurveyId) -> Result<Arc<CachedSurvey>, Problem> {
        let read = Instant::now();
        let (stored, rounds) =
            tokio::try_join!(self.app.store.survey(id), self.app.store.rounds(id))?;
        let Some(stored) = stored else {
            locked(&self.surveys).remove(id);
            return Err(Problem::new(Code::SurveyUnknown, format!("there is no survey {id}")));
        };
        let known = locked(&self.surveys).get(id).cloned();
        if let Some(cached) = known.filter(|l| l.version == stored.version && l.rounds == rounds) {
            *locked(&cached.read) = read;
            return Ok(cached);
        }
        let survey = match Stored::from_json(&stored.document)? {
            Stored::Survey(survey) => *survey,
            Stored::Deleted { deleted } => {
                self.forget_deleted(id);
                let detail = format!("survey {id} was deleted at {}", timestamp(deleted));
                return Err(Problem::new(Code::SurveyUnknown, detail));
            }
        };
        let mut policies = HashMap::new();
        for round in &rounds {
            for &policy in &round.policies {
                if let Some(verified) = self.policy(policy).await? {
                    policies.insert(policy, (round.key.number, verified));
                }
            }
        }
        let cached = Arc::new(CachedSurvey {
            id: id.clone(),
            survey,
            version: stored.version,
            rounds,
            policies,
            gain: OnceCell::new(),
            observer: OnceCell::new(),
            officer: OnceCell::new(),
            read: Mutex::new(read),
        });
        let mut known = locked(&self.surveys);
        if known.len() >= REMEMBERED {
            known.clear();
        }
        known.insert(id.clone(), cached.clone());
        Ok(cached)
    }

    pub(crate) fn forget(&self, id: &SurveyId) {
        locked(&self.surveys).remove(id);
    }

    /// Forgets a deleted survey with its policies, which name its answers. Policies of others are read again when they are asked for.
    pub(crate) fn forget_deleted(&self, id: &SurveyId) {
        self.forget(id);
        locked(&self.policies).clear();
    }

    /// A survey in memory, however old; for what is worth no question to the store.
    pub(crate) fn remembered(&self, name: &str) -> Option<Arc<CachedSurvey>> {
        locked(&self.surveys).get(&name.parse().ok()?).cloned()
    }

    /// Who asks. The owner's token is compared first; the others are in memory, at most as old as the settings allow.
    pub(crate) async fn caller(&self, address: IpAddr, headers: &HeaderMap) -> Caller {
        let standing = match auth::hash_of(headers) {
            None if auth::bearer(headers).is_none() => Standing::Anonymous,
            None => Standing::Mistaken,
            Some(hash) if self.app.owner.is(&hash) => Standing::Known(Arc::new(Access::owner())),
            Some(hash) => self.named(&hash).await.map_or(Standing::Mistaken, Standing::Known),
        };
        Caller { address, standing }
    }

    async fn named(&self, hash: &[u8; 32]) -> Option<Arc<Access>> {
        {
            let mut known = locked(&self.tokens);
            let fresh = |read: Instant| read.elapsed() < self.app.settings.memory;
            if known.read.is_some_and(fresh) {
                return known.by_hash.get(hash).cloned();
            }
            // One request asks the store, however many come with wrong tokens.
            known.read = Some(Instant::now());
        }
        match self.app.store.tokens().await {
            Ok(tokens) => {
                let works =
                    |token: &TokenRecord| Some((token.hash, Arc::new(tokens::access(token)?)));
                locked(&self.tokens).by_hash = tokens.iter().filter_map(works).collect();
            }
            Err(error) => {
                tracing::warn!(%error, "the tokens could not be read");
                locked(&self.tokens).read = None;
            }
        }
        locked(&self.tokens).by_hash.get(hash).cloned()
    }

    /// The tokens are read again before the next is compared.
    pub(crate) fn forget_tokens(&self) {
        locked(&self.tokens).read = None;
    }

    /// Refuses whoever has no token for this.
    ///
    /// The token was compared before guesses are counted: whoever has one gets in, however many wrong ones
    /// came from the same address, which behind a proxy may be everybody's.
    pub(crate) fn allow(
        &self,
        caller: &Caller,
        right: Right,
        survey: Option<&str>,
    ) -> Result<(), Problem> {
        match &caller.standing {
            Standing::Known(access) if access.may(right, survey) => return Ok(()),
            Standing::Known(access) => {
                let of = access
                    .survey
                    .as_ref()
                    .map_or("all surveys".into(), |id| format!("survey {id}"));
                let detail = format!(
                    "this token is for an {} of {of}, which does not allow this",
                    access.role.name()
                );
                return Err(Problem::new(Code::Forbidden, detail));
            }
            Standing::Anonymous => {}
            Standing::Mistaken => {
                if let Err(wait) = self.guesses.take(caller.address, 1.0, Instant::now()) {
                    let detail =
                        "too many wrong tokens from this address: wait before the next guess";
                    return Err(Problem::new(Code::TooManyRequests, detail).retry_in(wait));
                }
                tracing::warn!(address = %caller.address, "a wrong token");
            }
        }
        let detail = "send the owner's token: Authorization: Bearer TOKEN";
        Err(Problem::new(Code::Unauthorized, detail))
    }

    /// Whether the request may have more than anybody; a wrong token is refused rather than ignored, and a token that is
    /// for something else is treated as none.
    pub(crate) fn may(&self, caller: &Caller, right: Right, survey: &str) -> Result<bool, Problem> {
        match &caller.standing {
            Standing::Anonymous => Ok(false),
            Standing::Known(access) => Ok(access.may(right, Some(survey))),
            Standing::Mistaken => self.allow(caller, right, Some(survey)).map(|()| true),
        }
    }

    /// Takes from the address's allowance: one for a request, one for each further report in it. Whoever has a
    /// token has no limit.
    pub(crate) fn charge(&self, caller: &Caller, cost: usize) -> Result<(), Problem> {
        let Some(limiter) = self.requests.as_ref().filter(|_| cost > 0 && !caller.is_known())
        else {
            return Ok(());
        };
        limiter.take(caller.address, cost as f64, Instant::now()).map_err(|wait| {
            let detail = "this address asks too often or sends too many reports: slow down";
            Problem::new(Code::TooManyRequests, detail).retry_in(wait)
        })
    }

    /// An account of the bytes a request holds.
    pub(crate) fn hold(&self, caller: &Caller) -> Hold {
        Hold::none(&self.flight, caller.address, caller.is_known())
    }

    pub(crate) fn now(&self) -> i64 {
        self.app.clock.now()
    }
}

/// Runs something that takes a while away from the threads that answer.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Problem> {
    tokio::task::spawn_blocking(work).await.map_err(|error| {
        tracing::error!(%error, "a computation failed");
        Problem::new(Code::Unavailable, "a computation failed")
    })
}

/// Runs something to its end even if whoever asked goes away: a survey is not left half made.
pub(crate) async fn run_detached<T: Send + 'static>(
    work: impl Future<Output = Result<T, Problem>> + Send + 'static,
) -> Result<T, Problem> {
    tokio::spawn(work).await.map_err(|error| {
        tracing::error!(%error, "a request failed");
        Problem::new(Code::Unavailable, "the request failed")
    })?
}
