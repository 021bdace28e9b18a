//! Plans and responses: accepted, refused, drawn.

use crate::plan::exact;
use crate::plan::is_level;
use crate::plan::random::work;
use crate::vectors::generator::responses::respond;
use crate::vectors::generator::stream::Stream;
use crate::vectors::{bytes, fields, load, text};
use serde_json::Value;
use undertone_core::{
    Belief, DecodeError, Given, Law, Nats, Plan, PlanDecodeError, PlanDraft, PlanError,
    PlanRefusal, PlanSide, Response, ResponseMismatch, Variable,
};

fn verified(name: &Value) -> Plan {
    let file = load(&format!("plan/{}", text(name)));
    Plan::from_json(&file["document"].to_string()).unwrap()
}

fn level(value: &Value) -> Option<Nats> {
    match text(value) {
        "unbounded" => None,
        digits => Some(digits.parse().unwrap()),
    }
}

fn same(path: &str, found: &Option<Belief>, written: &Value) {
    match found {
        None => assert!(written.is_null(), "{path}"),
        Some(Belief { upper, lower, exact, .. }) => {
            assert_eq!(
                (level(&written["upper"]), level(&written["lower"])),
                (*upper, *lower),
                "{path}"
            );
            assert_eq!(written["exact"], *exact, "{path}");
        }
    }
}

pub(crate) fn good(path: &str) {
    let file = load(path);
    assert_eq!(fields(&file), ["about", "attained", "bytes", "document", "id"], "{path}");
    let draft = PlanDraft::from_json(&file["document"].to_string()).unwrap();
    let encoded = bytes(&file["bytes"]);
    assert_eq!(draft.to_bytes(), encoded, "{path}");
    assert_eq!(PlanDraft::from_bytes(&encoded).unwrap(), draft, "{path}");
    assert_eq!(draft.id().to_string(), text(&file["id"]), "{path}");
    for end in 0..encoded.len() {
        assert!(PlanDraft::from_bytes(&encoded[..end]).is_err(), "{path} cut at {end}");
    }
    let (parts, plan) = (draft.parts().clone(), draft.verify().unwrap());
    let attained = &file["attained"];
    let costs: Vec<_> = attained["costs"].as_array().unwrap().iter().map(level).collect();
    assert_eq!(plan.costs(), costs, "{path}");
    let person = plan.person();
    assert_eq!(person.ldp, level(&attained["person"]["ldp"]), "{path}");
    assert_eq!(attained["person"]["exact"], person.exact, "{path}");
    for (item, first) in attained["first_reports"].as_array().unwrap().iter().enumerate() {
        let (ldp, exact) = plan.first_report(item);
        assert_eq!((ldp, first["exact"].as_bool()), (level(&first["ldp"]), Some(exact)), "{path}");
    }
    // Whatever can be listed is listed, in rationals.
    let listed = !matches!(parts.law, Law::Unknown) && parts.periods == 1 && countable(&parts);
    let hold = |about, given, found: &Option<Belief>| {
        if let Some(found) = found
            && listed
        {
            let truth = exact::belief(&parts, about, given);
            assert!(is_level(found.upper, &truth.upper), "{path} {found:?} {truth:?}");
            assert!(is_level(found.lower, &truth.lower), "{path} {found:?} {truth:?}");
        }
    };
    for (at, question) in parts.questions.iter().enumerate() {
        for (given, word) in [(Given::All, "all"), (Given::Own, "own")] {
            let about = Variable::Question(at as u32);
            let found = plan.belief(about, given);
            same(path, &found, &attained["questions"][&question.name][word]);
            hold(about, given, &found);
        }
    }
    for (at, secret) in parts.secrets.iter().enumerate() {
        let about = Variable::Secret(at as u32);
        let found = plan.belief(about, Given::All);
        same(path, &found, &attained["secrets"][&secret.name]);
        hold(about, Given::All, &found);
    }
}

fn countable(parts: &undertone_core::PlanParts) -> bool {
    let small = |at: u32| parts.policies[at as usize].shape().inputs() <= 8;
    parts.items.iter().all(|item| small(item.policy)) && work(parts) <= 20_000
}

fn code(error: &PlanDecodeError) -> &'static str {
    match error {
        PlanDecodeError::NotAPlan => "not_a_plan",
        PlanDecodeError::Version { .. } => "version",
        PlanDecodeError::Json { .. } => "json",
        PlanDecodeError::Id { .. } => "id",
        PlanDecodeError::Level { .. } => "nats",
        PlanDecodeError::Unknown { place: "law", .. } => "law",
        PlanDecodeError::Unknown { .. } => "plan",
        PlanDecodeError::Row(_) => "law",
        PlanDecodeError::Plan(PlanError::Law(_)) => "law",
        PlanDecodeError::Policy { .. } => "policy",
        PlanDecodeError::Part(part) => crate::vectors::policy::code(part),
        PlanDecodeError::Plan(_) => "plan",
        other => panic!("{other:?}"),
    }
}

pub(crate) fn bad(path: &str) {
    let file = load(path);
    if file["stage"] == "decode" {
        assert_eq!(fields(&file).len(), 4, "{path}");
        let read = match (file.get("bytes"), file.get("text")) {
            (Some(value), None) => PlanDraft::from_bytes(&bytes(value)),
            (None, Some(value)) => PlanDraft::from_json(text(value)),
            _ => panic!("{path} has nothing to read"),
        };
        let error = read.err().unwrap_or_else(|| panic!("{path} decodes"));
        assert_eq!(code(&error), text(&file["error"]), "{path}: {error}");
        return;
    }
    assert_eq!(text(&file["stage"]), "verify", "{path}");
    let draft = PlanDraft::from_json(&file["document"].to_string()).unwrap();
    let PlanRefusal::Claim { index, side, attained, allowed, .. } = draft.verify().unwrap_err()
    else {
        panic!("{path}")
    };
    let refusal = &file["refusal"];
    let side = match side {
        PlanSide::Ldp => "ldp",
        PlanSide::Upper => "upper",
        PlanSide::Lower => "lower",
    };
    assert_eq!(refusal["claim"], index, "{path}");
    assert_eq!(text(&refusal["side"]), side, "{path}");
    assert_eq!(level(&refusal["attained"]), attained, "{path}");
    assert_eq!(level(&refusal["allowed"]), Some(allowed), "{path}");
}

pub(crate) fn choose(path: &str) {
    let file = load(path);
    let plan = verified(&file["plan"]);
    for case in file["cases"].as_array().unwrap() {
        let stream = bytes(&case["stream"]);
        let mut rng = Stream::new(&stream);
        let choice = plan.choose(&mut rng);
        let items: Vec<u64> = choice.items().iter().map(|&item| u64::from(item)).collect();
        assert_eq!(case["items"], serde_json::json!(items), "{path}");
        assert_eq!(case["consumed"], rng.consumed, "{path}");
    }
}

pub(crate) fn response(path: &str) {
    let file = load(path);
    let plan = verified(&file["plan"]);
    let numbers = |field: &str| -> Vec<usize> {
        file[field].as_array().unwrap().iter().map(|n| n.as_u64().unwrap() as usize).collect()
    };
    let (items, answers) = (numbers("items"), numbers("answers"));
    let stream = bytes(&file["stream"]);
    let mut rng = Stream::new(&stream);
    let items: Vec<u32> = items.iter().map(|&item| item as u32).collect();
    let made = respond(&plan, &items, &answers, &mut rng);
    assert_eq!(file["consumed"], rng.consumed, "{path}");
    assert_eq!(serde_json::from_str::<Value>(&made.to_json()).unwrap(), file["response"], "{path}");
    assert_eq!(Response::from_json(&file["response"].to_string()).unwrap(), made, "{path}");
    assert_eq!(made.to_bytes(), bytes(&file["bytes"]), "{path}");
    assert_eq!(Response::from_bytes(&bytes(&file["bytes"])).unwrap(), made, "{path}");
    assert_eq!(plan.accepts(&made), Ok(()), "{path}");
}

pub(crate) fn bad_response(path: &str) {
    let file = load(path);
    let read = Response::from_json(text(&file["text"]));
    let expected = text(&file["error"]);
    if file["stage"] == "accept" {
        let found = match verified(&file["plan"]).accepts(&read.unwrap()).unwrap_err() {
            ResponseMismatch::Plan => "plan",
            ResponseMismatch::Items { .. } => "items",
            ResponseMismatch::Asked { .. } => "asked",
            ResponseMismatch::Token { .. } => "token",
            other => panic!("{path}: {other}"),
        };
        assert_eq!(found, expected, "{path}");
        return;
    }
    let found = match read.unwrap_err() {
        DecodeError::Version { .. } => "version",
        DecodeError::Json { .. } => "json",
        other => panic!("{path}: {other}"),
    };
    assert_eq!(found, expected, "{path}");
}
