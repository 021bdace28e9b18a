//! What whoever answers for a survey's privacy must know: its rounds, what they tell together, what is assumed.

use serde_json::{Value, json};
use undertone_core::{Context, Policy, Shape, WEIGHT_ONE};
use undertone_wire::{Code, Problem};

use super::survey::GroupPolicy;
use super::{AppState, CachedSurvey, blocking, gain, observer, surveys, together};
use crate::clock::timestamp;

/// Up to this many answers a prior is written out.
const LISTED: usize = 50;

/// The rounds with their policies and what they tell together, which take a while to read out.
fn rounds(cached: &CachedSurvey) -> Result<Value, Problem> {
    let mut rounds = Vec::new();
    for (note, record) in cached.survey.rounds.iter().zip(&cached.rounds) {
        let mut groups = Vec::new();
        for group in &note.groups {
            let Ok(id) = group.policy.parse() else { continue };
            groups.push(policy(cached.policy(&id)?, group)?);
        }
        let released = note.released.as_ref();
        let said = |pointer: &str| released.and_then(|released| released.pointer(pointer).cloned());
        rounds.push(json!({
            "number": note.number, "state": record.state.name(), "ldp": note.ldp,
            "opened": timestamp(record.opened), "sealed": record.sealed.map(timestamp),
            "released": record.released.map(timestamp),
            "reports": said("/reports"),
            "warnings": said("/drift/warnings"),
            "influence": said("/influence/in_words"),
            "policies": groups,
        }));
    }
    Ok(json!({"rounds": rounds, "together": together::by_group(cached)?}))
}

/// The entries of the log that are shown.
const ENTRIES: u32 = 500;

/// Everything the officer's page says.
pub(crate) async fn of(state: &AppState, survey: &str) -> Result<Value, Problem> {
    let cached = state.survey(survey).await?;
    let log = surveys::log(state, &cached, 0, ENTRIES).await?;
    let gain = gain::public(&cached).await?;
    let known = cached.officer.get_or_try_init(|| {
        let cached = cached.clone();
        async { blocking(move || rounds(&cached)).await? }
    });
    facts(&cached, known.await?, log, gain, state.now())
}

fn facts(
    cached: &CachedSurvey,
    known: &Value,
    log: Vec<Value>,
    gain: Value,
    now: i64,
) -> Result<Value, Problem> {
    let body = &cached.survey.body;
    Ok(json!({
        "survey": surveys::described(cached),
        "written": timestamp(now),
        "created": timestamp(cached.survey.created),
        "plan": body.plan,
        "group_minimum": body.group_minimum,
        "minimum": body.minimum,
        "rounds": known["rounds"],
        "composition": {
            "spent_ldp": cached.survey.spent().map(|nats| nats.to_string()),
            "total_ldp": body.plan.total()?.to_string(),
            "in_words": composition(cached)?,
            "together": known["together"],
        },
        "gain": gain,
        "owners_word": OWNERS_WORD,
        "assumptions": ASSUMPTIONS,
        "attack_model": ATTACKS.map(|(who, what)| json!({"who": who, "what": what})),
        "log": log,
    }))
}

fn composition(cached: &CachedSurvey) -> Result<String, Problem> {
    let spent = cached.survey.spent().map_or("an unknown amount".into(), |nats| nats.to_string());
    let total = cached.survey.body.plan.total()?;
    Ok(format!(
        "A person who answers every round so far has released answers whose LDP adds up to at most {spent} nats, of {total} planned. LDP adds up also when later policies depend on earlier answers; LIP does not, so the total is kept in LDP; what the rounds tell together is worked out below. Repeating the same answer to the same policy costs nothing."
    ))
}

fn policy(policy: &Policy, group: &GroupPolicy) -> Result<Value, Problem> {
    let draft = policy.draft();
    let provenance = draft.provenance();
    let learns = observer::learns(draft)
        .map_err(|error| Problem::new(Code::Unavailable, error.to_string()))?;
    let shape = match draft.shape() {
        Shape::Table(table) => {
            format!("a table of {} answers and {} outputs", table.rows().len(), table.outputs())
        }
        Shape::Keep(keep) => {
            format!("keep the answer or draw another, {} answers", keep.keep().len())
        }
        Shape::Bits(bits) => format!("{} randomised bits", bits.symbols()),
    };
    Ok(json!({
        "group": group.group, "people": group.people, "policy": group.policy,
        "claims": group.claims, "lip": group.lip, "ldp": group.ldp, "method": group.method,
        "channel": shape, "prior": assumed(draft.context()), "learned": group.learned,
        "unlearned": group.unlearned,
        "provenance": {
            "source": provenance.source, "n": provenance.n, "date": provenance.date,
            "confidence": provenance.confidence.map(|c| c.to_string()),
        },
        "observer": learns,
    }))
}

/// The context in words, with its numbers where they are few.
fn assumed(context: &Context) -> Value {
    let shares = |weights: &[u64]| -> Value {
        let all: Vec<f64> = weights.iter().map(|&w| w as f64 / WEIGHT_ONE as f64).collect();
        if all.len() <= LISTED { json!(all) } else { Value::Null }
    };
    match context {
        Context::Unknown => {
            json!({"kind": "unknown", "in_words": "Nothing is assumed about the people asked: the promise is LDP and holds for any belief."})
        }
        Context::Known(prior) => {
            json!({"kind": "prior", "in_words": "The LIP promise holds for an observer whose belief before the answer is this prior. For any other observer the LDP level holds.", "p": shares(prior.weights())})
        }
        Context::Each(_) => {
            json!({"kind": "priors", "in_words": "The LIP promise holds for each prior of a list."})
        }
        Context::Within(within) => {
            json!({"kind": "box", "in_words": "The LIP promise holds for an observer whose belief before the answer is any prior between these ends. For any other observer the LDP level holds.", "lower": shares(within.lower()), "upper": shares(within.upper())})
        }
        Context::Secret(_) => {
            json!({"kind": "secret", "in_words": "The promise is about a secret behind the answer."})
        }
    }
}

/// What is on the page because the owner says so. Everything else was computed by the curator, and devices
/// check the policies for themselves.
const OWNERS_WORD: [&str; 4] = [
    "How many people share a policy. Nothing counts them; the curator only refuses a stated number below the survey's minimum.",
    "A prior that was given, where it comes from, and on how many observations it rests.",
    "How long reports are kept, and whom to ask.",
    "What the groups are, and that people can tell which one they are in by something public.",
];

const ASSUMPTIONS: [&str; 6] = [
    "The device is the person's own, runs the client unchanged, and its random numbers cannot be predicted.",
    "The prior, where one is assumed, describes what an observer believes. No check can see whether it does; the LDP level holds without it.",
    "A box learnt from a round holds the truth with at least the stated confidence, whatever the number of reports, if the people of that round are independent draws from the population and their reports are honest.",
    "Each person answers a question once per round, on one device, which keeps the account and refuses more. Whoever has two devices, or clears one, pays twice.",
    "What is protected is the answer. Taking part, when, from which address, and in which group is not.",
    "Whoever answers in a browser trusts the page this curator serves; whoever does not uses a client from elsewhere.",
];

const ATTACKS: [(&str, &str); 6] = [
    (
        "The curator, and whoever it shows its reports to",
        "sees every randomised report, when it came, from where, and under which policy, so also from which group. It learns about the answer at most what the policy certifies. Devices check the policy exactly before they use it.",
    ),
    (
        "A network observer",
        "sees who takes part and when, with encryption too; without it also the randomised report, and could replace the respondents' page, so browsers are not let to answer without it. About the answer it learns no more than the curator.",
    ),
    (
        "A crowd of false people",
        "learns nothing about an honest person's answer beyond what the estimate tells, but can move the estimate: by at most the stated influence of one report for each invented report. An output law no population can produce is flagged; a patient crowd is not noticed.",
    ),
    (
        "A wrong prior",
        "weakens LIP, never below the LDP level. Reports that contradict the prior are flagged and the estimate that uses it is set aside.",
    ),
    (
        "A policy for one person",
        "would name that person by its id. How many people share a policy is the owner's word and nothing here can check it: people who compare the policy's id with others', or with the list on this page, can.",
    ),
    (
        "Whoever has the owner's token, or the store",
        "can create, seal and release, read estimates before they are released, and from the store read every randomised report and write a log of its own; what devices checked and sent before stays what it was.",
    ),
];
