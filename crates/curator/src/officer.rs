//! One self-contained page per survey for whoever answers for its privacy.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use undertone_core::{Context, Policy, Shape, WEIGHT_ONE};

use crate::app::CachedSurvey;
use crate::clock::timestamp;
use crate::html::{base64, escape};
use crate::survey::GroupPolicy;
use crate::{observer, routes, together};
use undertone_wire::{Code, Problem};

/// Up to this many answers a prior is written out.
const LISTED: usize = 50;

/// The rounds with their policies and what they tell together, which take a while to read out.
pub(crate) fn rounds(cached: &CachedSurvey) -> Result<Value, Problem> {
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

/// Everything the page says, for programs.
pub(crate) fn facts(
    cached: &CachedSurvey,
    known: &Value,
    log: Vec<Value>,
    gain: Value,
    now: i64,
) -> Result<Value, Problem> {
    let body = &cached.survey.body;
    Ok(json!({
        "survey": routes::described(cached),
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

/// The policy of the page: nothing but its own style, known by its hash.
pub(crate) fn content_policy() -> String {
    let hash = base64(&Sha256::digest(STYLE));
    format!(
        "default-src 'none'; style-src 'sha256-{hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
}

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1b1b1b;background:#fff}h1,h2,h3{line-height:1.2}table{border-collapse:collapse;margin:.5rem 0}td,th{border:1px solid #999;padding:.2rem .6rem;text-align:left;vertical-align:top}code{overflow-wrap:anywhere}.note{border-left:.3rem solid #b50;padding-left:.8rem}.wide{overflow-wrap:anywhere}@media(max-width:40rem){.log tr,.log td{display:block;border:0;padding:0}.log tr{border-top:1px solid #999;padding:.5rem 0}.log th{display:none}}@media(prefers-color-scheme:dark){body{color:#e8e8e8;background:#161616}}";

/// The page.
pub(crate) fn page(facts: &Value) -> String {
    let survey = &facts["survey"];
    let mut out = format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\"><title>Privacy of {title}</title><style>{STYLE}</style></head><body><h1>Privacy of &ldquo;{title}&rdquo;</h1>",
        title = text(&survey["title"]),
    );
    let newest = facts["rounds"].as_array().and_then(|rounds| rounds.last());
    let policies = newest.and_then(|round| round["policies"].as_array());
    let ids: Vec<String> = policies
        .into_iter()
        .flatten()
        .map(|policy| format!("<code>{}</code>", text(&policy["policy"])))
        .collect();
    out += &format!(
        "<p>Survey <code>{}</code>, written {}. Current policy: {}</p><p>Question: {}</p>",
        text(&survey["id"]),
        text(&facts["written"]),
        if ids.is_empty() { "none yet".into() } else { ids.join(", ") },
        text(&survey["question"]),
    );
    out += "<h2>Rounds</h2>";
    for round in facts["rounds"].as_array().into_iter().flatten() {
        out += &round_section(round);
    }
    out +=
        &format!("<h2>Composition so far</h2><p>{}</p>", text(&facts["composition"]["in_words"]));
    let groups = facts["composition"]["together"].as_array().into_iter().flatten();
    for group in groups {
        out += &format!("<p>{}: {}</p>", text(&group["group"]), text(&group["in_words"]));
    }
    if let Some(words) = facts["gain"]["in_words"].as_str() {
        out += &format!("<h2>Against LDP all along</h2><p>{}</p>", escape(words));
    }
    out += "<h2>What is the owner's word</h2><p>These are shown as the owner states them. Nothing here can check them.</p>";
    out += &list(&facts["owners_word"]);
    out += "<h2>Assumptions</h2>";
    out += &list(&facts["assumptions"]);
    out += "<h2>Attack model</h2><table><tr><th>who</th><th>can do</th></tr>";
    for attack in facts["attack_model"].as_array().into_iter().flatten() {
        out += &format!(
            "<tr><td>{}</td><td>{}</td></tr>",
            text(&attack["who"]),
            text(&attack["what"])
        );
    }
    out += &format!(
        "</table><h2>Retention and contact</h2><p>Retention, says the owner: {}</p><p>Contact, says the owner: {}</p>",
        stated(&survey["retention"]),
        stated(&survey["contact"]),
    );
    out += "<h2>Log</h2><p>Every entry carries the hash of the one before. Whoever kept an earlier copy, or its last hash, notices a change or an omission; to anybody else a log that was written anew looks the same. The first 500 entries are shown here, all of them under the survey's address with /log.</p><table class=\"log wide\"><tr><th>#</th><th>when</th><th>what</th><th>detail</th><th>hash</th></tr>";
    for entry in facts["log"].as_array().into_iter().flatten() {
        out += &format!(
            "<tr><td>{}</td><td>{}</td><td>{}</td><td><code>{}</code></td><td><code>{}</code></td></tr>",
            entry["seq"],
            escape(&timestamp(entry["at"].as_i64().unwrap_or(0))),
            text(&entry["kind"]),
            text(&entry["detail"]),
            text(&entry["hash"]),
        );
    }
    out += "</table></body></html>";
    out
}

fn round_section(round: &Value) -> String {
    let mut out = format!(
        "<h3>Round {} ({})</h3><p>Opened {}{}{}. Accounted LDP: {} nats.</p>",
        round["number"],
        text(&round["state"]),
        text(&round["opened"]),
        round["sealed"].as_str().map_or(String::new(), |at| format!(", sealed {}", escape(at))),
        round["released"].as_str().map_or(String::new(), |at| format!(", released {}", escape(at))),
        text(&round["ldp"]),
    );
    if let Some(reports) = round["reports"].as_u64() {
        out += &format!("<p>{reports} reports. {}</p>", text(&round["influence"]));
    }
    for warning in round["warnings"].as_array().into_iter().flatten() {
        out += &format!("<p class=\"note\">{}</p>", text(warning));
    }
    for policy in round["policies"].as_array().into_iter().flatten() {
        out += &policy_section(policy);
    }
    out
}

fn policy_section(policy: &Value) -> String {
    let claims: Vec<String> = policy["claims"].as_array().into_iter().flatten().map(text).collect();
    let mut rows = vec![
        ("policy", format!("<code>{}</code>", text(&policy["policy"]))),
        (
            "group",
            format!(
                "{}, at least {} people (the owner's word)",
                text(&policy["group"]),
                policy["people"]
            ),
        ),
        ("claims", claims.join(" and ")),
        (
            "attained, in nats",
            format!(
                "LIP {}, LDP {}",
                policy["lip"].as_str().map_or("not claimed".into(), escape),
                text(&policy["ldp"])
            ),
        ),
        ("channel", format!("{} ({})", text(&policy["channel"]), text(&policy["method"]))),
        ("assumed", format!("{}{}", text(&policy["prior"]["in_words"]), numbers(&policy["prior"]))),
        ("provenance of the prior", provenance(policy)),
    ];
    if let Some(why) = policy["unlearned"].as_str() {
        rows.push(("nothing was learnt", escape(why)));
    }
    if let Some(confidence) = policy["learned"]["confidence"].as_f64() {
        rows.push((
            "confidence",
            format!(
                "the LIP claim holds if the truth is in the box, which it is with probability {confidence} at least (from {} reports of round {})",
                policy["learned"]["reports"], policy["learned"]["round"]
            ),
        ));
    }
    let words: Vec<String> =
        policy["observer"]["in_words"].as_array().into_iter().flatten().map(text).collect();
    rows.push(("what an observer can learn", words.join("<br>")));
    let rows: Vec<String> = rows
        .into_iter()
        .map(|(name, value)| format!("<tr><th>{name}</th><td>{value}</td></tr>"))
        .collect();
    format!("<table>{}</table>", rows.concat())
}

fn numbers(prior: &Value) -> String {
    let list = |field: &str| {
        let values = prior[field].as_array()?;
        let shown: Vec<String> =
            values.iter().map(|p| format!("{:.4}", p.as_f64().unwrap_or(f64::NAN))).collect();
        Some(shown.join(", "))
    };
    match (list("p"), list("lower"), list("upper")) {
        (Some(p), _, _) => format!(" ({p})"),
        (_, Some(lower), Some(upper)) => format!(" (at least {lower}; at most {upper})"),
        _ => String::new(),
    }
}

fn provenance(policy: &Value) -> String {
    let provenance = &policy["provenance"];
    let mut said = stated(&provenance["source"]);
    if provenance["n"].as_u64().is_some_and(|n| n > 0) {
        said += &format!(", n = {}", provenance["n"]);
    }
    if let Some(date) = provenance["date"].as_str().filter(|date| !date.is_empty()) {
        said += &format!(", {}", escape(date));
    }
    if let Some(confidence) = provenance["confidence"].as_str() {
        said += &format!(", confidence {}", escape(confidence));
    }
    if policy["prior"]["kind"] == "prior" {
        said += " (the owner's word)";
    }
    said
}

fn list(lines: &Value) -> String {
    let items = lines.as_array().into_iter().flatten();
    let items: Vec<String> = items.map(|line| format!("<li>{}</li>", text(line))).collect();
    format!("<ul>{}</ul>", items.concat())
}

fn text(value: &Value) -> String {
    escape(value.as_str().unwrap_or_default())
}

fn stated(value: &Value) -> String {
    match value.as_str() {
        Some(said) if !said.is_empty() => escape(said),
        _ => "not stated".into(),
    }
}
