//! What whoever answers for a survey's privacy must know: its rounds, what they tell together, what is assumed.

use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;
use undertone::answer::within_document;
use undertone::policy_report::channel_words;
use undertone::risk::RiskReport;
use undertone_core::{Context, Policy, WEIGHT_ONE};
use undertone_wire::{Problem, SurveyDescription};

use super::gain::Gain;
use super::plan::Plan;
use super::survey::GroupPolicy;
use super::surveys::{LogChain, LogEntry, RoundTimes};
use super::together::GroupTogether;
use super::{AppState, CachedSurvey, blocking, gain, surveys, together};
use crate::clock::timestamp;

/// Up to this many answers a prior is written out.
const LISTED: usize = 50;

/// Everything the officer's page says.
#[derive(Debug, Serialize)]
pub(crate) struct OfficerFacts {
    pub(crate) survey: SurveyDescription,
    pub(crate) written: String,
    pub(crate) created: String,
    plan: Plan,
    group_minimum: u64,
    minimum: u64,
    #[serde(flatten)]
    pub(crate) rounds: Arc<OfficerRounds>,
    pub(crate) composition: Composition,
    pub(crate) gain: Option<Gain>,
    pub(crate) owners_word: &'static [&'static str],
    pub(crate) assumptions: &'static [&'static str],
    pub(crate) attack_model: &'static [Attack],
    pub(crate) chain: LogChain,
    pub(crate) log: Vec<LogEntry>,
}

/// The rounds with their policies and what they tell together, which take a while to read out.
#[derive(Debug, Serialize)]
pub(crate) struct OfficerRounds {
    pub(crate) rounds: Vec<OfficerRound>,
    #[serde(skip)]
    together: Vec<GroupTogether>,
}

/// A round: its policies, and what was said of its reports when it was released.
#[derive(Debug, Serialize)]
pub(crate) struct OfficerRound {
    #[serde(flatten)]
    pub(crate) times: RoundTimes,
    pub(crate) reports: Option<u64>,
    pub(crate) warnings: Vec<String>,
    pub(crate) influence: Option<String>,
    pub(crate) policies: Vec<OfficerPolicy>,
}

/// What a group's policy promises and assumes.
#[derive(Debug, Serialize)]
pub(crate) struct OfficerPolicy {
    #[serde(flatten)]
    pub(crate) group: GroupPolicy,
    /// The form of the channel, in words.
    pub(crate) channel: String,
    pub(crate) prior: AssumedPrior,
    pub(crate) provenance: PriorProvenance,
    /// What an observer can learn from one answer.
    #[serde(serialize_with = "within_document")]
    pub(crate) risk: RiskReport,
}

/// What a policy assumes of an observer's belief, in words and, where they are few, in numbers.
#[derive(Debug, Serialize)]
pub(crate) struct AssumedPrior {
    pub(crate) kind: &'static str,
    pub(crate) in_words: &'static str,
    #[serde(flatten)]
    pub(crate) shares: AssumedShares,
}

/// The shares that are assumed.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum AssumedShares {
    /// One prior, unless it is long.
    Prior { p: Option<Vec<f64>> },
    /// Any prior between these ends, unless they are many.
    Box { lower: Option<Vec<f64>>, upper: Option<Vec<f64>> },
    /// No numbers.
    None {},
}

/// Where an assumed prior comes from.
#[derive(Debug, Serialize)]
pub(crate) struct PriorProvenance {
    pub(crate) source: String,
    pub(crate) n: u64,
    pub(crate) date: String,
    pub(crate) confidence: Option<String>,
}

/// What all rounds so far cost a person who answers each of them.
#[derive(Debug, Serialize)]
pub(crate) struct Composition {
    spent_ldp: Option<String>,
    total_ldp: String,
    pub(crate) in_words: String,
    pub(crate) together: Vec<GroupTogether>,
}

/// Somebody who would learn more, and what they can do.
#[derive(Debug, Serialize)]
pub(crate) struct Attack {
    pub(crate) who: &'static str,
    pub(crate) what: &'static str,
}

fn rounds(cached: &CachedSurvey) -> Result<OfficerRounds, Problem> {
    let mut rounds = Vec::new();
    for (note, record) in cached.survey.rounds.iter().zip(&cached.rounds) {
        let mut policies = Vec::new();
        for group in &note.groups {
            let Ok(id) = group.policy.parse() else { continue };
            policies.push(policy(cached.policy(&id)?, group)?);
        }
        let released = note.released.as_ref();
        let said = |pointer: &str| released.and_then(|released| released.pointer(pointer));
        let warnings = said("/warnings").and_then(Value::as_array).into_iter().flatten();
        rounds.push(OfficerRound {
            times: RoundTimes::of(note, record),
            reports: said("/reports").and_then(Value::as_u64),
            warnings: warnings.filter_map(|one| one.as_str().map(str::to_owned)).collect(),
            influence: said("/influence/in_words").and_then(|one| one.as_str().map(str::to_owned)),
            policies,
        });
    }
    Ok(OfficerRounds { rounds, together: together::by_group(cached)? })
}

/// The entries of the log that are shown.
const ENTRIES: u32 = 500;

/// Everything the officer's page says.
pub(crate) async fn of(state: &AppState, survey: &str) -> Result<OfficerFacts, Problem> {
    let cached = state.survey(survey).await?;
    let log = surveys::log(state, &cached.id, 0, ENTRIES).await?;
    let chain = surveys::chain(state, &cached.id).await?;
    let gain = gain::public(&cached).await?;
    let known = cached.officer.get_or_try_init(|| {
        let cached = cached.clone();
        async { blocking(move || rounds(&cached)).await?.map(Arc::new) }
    });
    let rounds = known.await?.clone();
    let body = &cached.survey.body;
    Ok(OfficerFacts {
        survey: surveys::described(&cached),
        written: timestamp(state.now()),
        created: timestamp(cached.survey.created),
        plan: body.plan.clone(),
        group_minimum: body.group_minimum,
        minimum: body.minimum,
        composition: Composition {
            spent_ldp: cached.survey.spent().map(|nats| nats.to_string()),
            total_ldp: body.plan.total()?.to_string(),
            in_words: composition(&cached)?,
            together: rounds.together.clone(),
        },
        rounds,
        gain,
        owners_word: &OWNERS_WORD,
        assumptions: &ASSUMPTIONS,
        attack_model: &ATTACKS,
        chain,
        log,
    })
}

fn composition(cached: &CachedSurvey) -> Result<String, Problem> {
    let spent = cached.survey.spent().map_or("an unknown amount".into(), |nats| nats.to_string());
    let total = cached.survey.body.plan.total()?;
    Ok(format!(
        "A person who answers every round so far has released answers whose LDP adds up to at most {spent} nats, of {total} planned. LDP adds up also when later policies depend on earlier answers; LIP does not, so the total is kept in LDP; what the rounds tell together is worked out below. Repeating the same answer to the same policy costs nothing."
    ))
}

fn policy(policy: &Policy, group: &GroupPolicy) -> Result<OfficerPolicy, Problem> {
    let draft = policy.draft();
    let provenance = draft.provenance();
    let channel = channel_words(draft.shape());
    Ok(OfficerPolicy {
        group: group.clone(),
        channel,
        prior: assumed(draft.context()),
        provenance: PriorProvenance {
            source: provenance.source.clone(),
            n: provenance.n,
            date: provenance.date.clone(),
            confidence: provenance.confidence.map(|confidence| confidence.to_string()),
        },
        risk: surveys::risk(policy)?,
    })
}

/// The context in words, with its numbers where they are few.
fn assumed(context: &Context) -> AssumedPrior {
    let shares = |weights: &[u64]| -> Option<Vec<f64>> {
        let all = weights.iter().map(|&w| w as f64 / WEIGHT_ONE as f64).collect();
        (weights.len() <= LISTED).then_some(all)
    };
    let (kind, in_words, shares) = match context {
        Context::Unknown => (
            "unknown",
            "Nothing is assumed about the people asked: the promise is LDP and holds for any belief.",
            AssumedShares::None {},
        ),
        Context::Known(prior) => (
            "prior",
            "The LIP promise holds for an observer whose belief before the answer is this prior. For any other observer the LDP level holds.",
            AssumedShares::Prior { p: shares(prior.weights()) },
        ),
        Context::Each(_) => {
            ("priors", "The LIP promise holds for each prior of a list.", AssumedShares::None {})
        }
        Context::Within(within) => (
            "box",
            "The LIP promise holds for an observer whose belief before the answer is any prior between these ends. For any other observer the LDP level holds.",
            AssumedShares::Box { lower: shares(within.lower()), upper: shares(within.upper()) },
        ),
        Context::Secret(_) => {
            ("secret", "The promise is about a secret behind the answer.", AssumedShares::None {})
        }
    };
    AssumedPrior { kind, in_words, shares }
}

/// What is on the page because the owner says so. Everything else was computed by the curator, and devices
/// check the policies for themselves.
static OWNERS_WORD: [&str; 4] = [
    "How many people share a policy. Nothing counts them; the curator only refuses a stated number below the survey's minimum.",
    "A prior that was given, where it comes from, and on how many observations it rests.",
    "How long reports are kept, and whom to ask.",
    "What the groups are, and that people can tell which one they are in by something public.",
];

static ASSUMPTIONS: [&str; 6] = [
    "The device is the person's own, runs the client unchanged, and its random numbers cannot be predicted.",
    "The prior, where one is assumed, describes what an observer believes. No check can see whether it does; the LDP level holds without it.",
    "A box learnt from a round holds the truth with at least the stated confidence, whatever the number of reports, if the people of that round are independent draws from the population and their reports are honest.",
    "Each person answers a question once per round, on one device, which keeps the account and refuses more. Whoever has two devices, or clears one, pays twice.",
    "What is protected is the answer. Taking part, when, from which address, and in which group is not.",
    "Whoever answers in a browser trusts the page this curator serves; whoever does not uses a client from elsewhere.",
];

static ATTACKS: [Attack; 6] = [
    Attack {
        who: "The curator, and whoever it shows its reports to",
        what: "sees every randomised report, when it came, from where, and under which policy, so also from which group. It learns about the answer at most what the policy certifies. Devices check the policy exactly before they use it.",
    },
    Attack {
        who: "A network observer",
        what: "sees who takes part and when, with encryption too; without it also the randomised report, and could replace the respondents' page, so browsers are not let to answer without it. About the answer it learns no more than the curator.",
    },
    Attack {
        who: "A crowd of false people",
        what: "learns nothing about an honest person's answer beyond what the estimate tells, but can move the estimate: by at most the stated influence of one report for each invented report. An output law no population can produce is flagged; a patient crowd is not noticed.",
    },
    Attack {
        who: "A wrong prior",
        what: "weakens LIP, never below the LDP level. Reports that contradict the prior are flagged and the estimate that uses it is set aside.",
    },
    Attack {
        who: "A policy for one person",
        what: "would name that person by its id. How many people share a policy is the owner's word and nothing here can check it: people who compare the policy's id with others', or with the list on this page, can.",
    },
    Attack {
        who: "Whoever has an owner's token, or the store",
        what: "can create, seal, release and delete, read estimates before they are released, and from the store read the randomised reports of open rounds and write a log of its own, whose chain would hold; what devices checked and sent before stays what it was. Other tokens allow less, and the log names whose was used.",
    },
];
