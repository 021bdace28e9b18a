//! Policies that are accepted, and policies that are refused.

use crate::vectors::exact::{self, At, Channel, Level};
use crate::vectors::{bytes, fields, load, on_disk, text};
use dashu::integer::UBig;
use dashu::rational::RBig;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use undertone_core::{DecodeError, Draft, Policy, Side};

/// The policy in a file of the directory `policy`, verified.
pub(crate) fn verified(name: &Value) -> Policy {
    let file = load(&format!("policy/{}", text(name)));
    Draft::from_json(&file["document"].to_string()).unwrap().verify().unwrap()
}

/// Its document.
pub(crate) fn document(name: &Value) -> Value {
    load(&format!("policy/{}", text(name)))["document"].take()
}

/// Document, bytes and id are of one policy, it is accepted, and it attains what the file says.
pub(crate) fn good(path: &str) {
    let file = load(path);
    assert_eq!(fields(&file), ["about", "attained", "bytes", "document", "id"], "{path}");
    let document = &file["document"];
    let draft = Draft::from_json(&document.to_string()).unwrap();
    let canonical = bytes(&file["bytes"]);
    assert_eq!(draft.to_bytes(), canonical, "{path}");
    assert_eq!(Draft::from_bytes(&canonical).unwrap(), draft, "{path}");
    assert_eq!(Draft::from_json(&draft.to_json()).unwrap(), draft, "{path}");
    let hash: String = Sha256::digest(&canonical).iter().map(|b| format!("{b:02x}")).collect();
    assert_eq!(text(&file["id"]), hash, "{path}");
    if let Some(stated) = document.get("id") {
        assert_eq!(text(stated), hash, "{path}");
    }
    let policy = draft.verify().unwrap_or_else(|refusal| panic!("{path}: {refusal}"));
    assert_eq!(policy.id().to_string(), hash, "{path}");

    let certificate = policy.certificate();
    let attained = &file["attained"];
    assert_eq!(fields(attained), ["deltas", "input", "secret"], "{path}");
    strength(&attained["input"], &certificate.input, exact::input(document), path);
    match &certificate.secret {
        Some(found) => strength(&attained["secret"], found, exact::secret(document), path),
        None => assert!(attained["secret"].is_null(), "{path}"),
    }
    if document["channel"]["shape"] == "incidence"
        && let Some((input, secret)) = exact::truth(document)
    {
        nearly(&attained["input"], &input, path);
        secret.iter().for_each(|secret| nearly(&attained["secret"], secret, path));
    }
    let claims = document["claims"].as_array().unwrap();
    let deltas = attained["deltas"].as_array().unwrap();
    assert_eq!(claims.len(), deltas.len(), "{path}");
    for ((claim, stated), found) in claims.iter().zip(deltas).zip(&certificate.deltas) {
        assert_eq!(found.is_none(), stated.is_null(), "{path}");
        let Some(channel) = subject(document, claim) else { continue };
        if !channel.is_weighed() && claim["notion"] != "ldp" {
            continue;
        }
        assert_eq!(violation(&channel, claim), None, "{path}");
        let Some(found) = found else { continue };
        assert_eq!(text(&stated["ratio"]), found.ratio.to_string(), "{path}");
        let least = Level::Finite(channel.delta(claim, At::default()));
        assert_eq!(Level::parse(text(&stated["ratio"])), least, "{path}");
        assert_eq!(stated["bound"].as_bool().unwrap(), found.bound, "{path}");
        assert_eq!(found.bound, document["context"]["kind"] == "box" && claim["notion"] != "ldp");
    }
}

/// Levels of blocks are not below what the pinned draw attains, hardly above it, and the same where they are said to be.
fn nearly(stated: &Value, truth: &Channel, path: &str) {
    let all = At::default();
    let weighed = truth.is_weighed();
    for (stated_level, truth) in [
        (&stated["ldp"], Some(truth.ldp(all))),
        (&stated["upper"], weighed.then(|| truth.upper(all))),
        (&stated["lower"], weighed.then(|| truth.lower(all))),
    ] {
        let Some(truth) = truth.filter(|_| !stated_level.is_null()) else { continue };
        let found = Level::parse(text(&stated_level["ratio"]));
        assert!(found >= truth, "{path}: {found:?} is below {truth:?}");
        if stated["exact"] == true {
            assert_eq!(found, truth, "{path}");
        } else if !path.contains("subsets_box") {
            let (Level::Finite(found), Level::Finite(truth)) = (found, truth) else { continue };
            let more =
                RBig::from_parts(UBig::from(1_000_000_000_001u64).into(), (10u64.pow(12)).into());
            assert!(found <= truth * more, "{path}");
        }
    }
}

fn strength(
    stated: &Value,
    found: &undertone_core::Strength,
    channel: Option<Channel>,
    path: &str,
) {
    let level = |stated: &Value, found: undertone_core::Ratio, exact: Option<Level>| {
        assert_eq!(text(&stated["ratio"]), found.to_string(), "{path}");
        let parsed = Level::parse(text(&stated["ratio"]));
        assert_eq!(text(&stated["nats"]), parsed.nats(), "{path}");
        if let Some(exact) = exact {
            assert_eq!(parsed, exact, "{path}");
        }
    };
    assert_eq!(stated["exact"].as_bool(), Some(found.exact), "{path}");
    let all = At::default();
    let weighed = channel.as_ref().filter(|channel| channel.is_weighed());
    level(&stated["ldp"], found.ldp.ratio, channel.as_ref().map(|c| c.ldp(all)));
    for (stated, found, exact) in [
        (&stated["upper"], found.upper, weighed.map(|c| c.upper(all))),
        (&stated["lower"], found.lower, weighed.map(|c| c.lower(all))),
    ] {
        match found {
            Some(worst) => level(stated, worst.ratio, exact),
            None => assert!(stated.is_null(), "{path}"),
        }
    }
}

/// The channel a claim is about.
fn subject(document: &Value, claim: &Value) -> Option<Channel> {
    match text(&claim["about"]) {
        "input" => exact::input(document),
        _ => exact::secret(document),
    }
}

/// The first side on which a claim fails, what is attained there, and what is allowed.
fn violation(channel: &Channel, claim: &Value) -> Option<(&'static str, Level, Level)> {
    let ratio = |(n, d): (UBig, UBig)| Level::Finite(RBig::from_parts(n.into(), d));
    let odds = |name: &str| ratio(exact::odds(&claim[name]));
    let all = At::default();
    let delta = claim.get("delta").map_or(0, |delta| delta.as_u64().unwrap());
    let sides = if delta > 0 {
        let allowed = ratio((delta.into(), UBig::ONE << 48));
        vec![("delta", Level::Finite(channel.delta(claim, all)), allowed)]
    } else {
        match text(&claim["notion"]) {
            "ldp" => vec![("ldp", channel.ldp(all), odds("epsilon"))],
            "di" => vec![("di", channel.identifiability(all), odds("epsilon"))],
            "lip" => vec![
                ("upper", channel.upper(all), odds("epsilon")),
                ("lower", channel.lower(all), odds("epsilon")),
            ],
            _ => vec![
                ("upper", channel.upper(all), odds("upper")),
                ("lower", channel.lower(all), odds("lower")),
            ],
        }
    };
    sides.into_iter().find(|(_, attained, allowed)| attained > allowed)
}

/// Refused at the stage, for the reason and at the cell the file says.
pub(crate) fn bad(path: &str) {
    let file = load(path);
    let form = ["document", "text", "bytes"].into_iter().find(|form| file.get(form).is_some());
    let form = form.unwrap_or_else(|| panic!("{path} has nothing to read"));
    let value = &file[form];
    let draft = match form {
        "document" => Draft::from_json(&value.to_string()),
        "text" => Draft::from_json(text(value)),
        _ => Draft::from_bytes(&bytes(value)),
    };
    if file["stage"] == "decode" {
        let mut names = vec!["about", "error", "stage", form];
        names.sort_unstable();
        assert_eq!(fields(&file), names, "{path}");
        let error = draft.err().unwrap_or_else(|| panic!("{path} decodes"));
        assert_eq!(code(&error), text(&file["error"]), "{path}: {error}");
        return;
    }
    assert_eq!(fields(&file), ["about", "document", "refusal", "stage"], "{path}");
    assert_eq!(text(&file["stage"]), "verify", "{path}");
    let refusal = draft.unwrap().verify().err().unwrap_or_else(|| panic!("{path} is accepted"));
    let stated = &file["refusal"];
    let index = |name: &str| stated["cell"][name].as_u64().map(|at| at as usize);
    let at = At {
        output: index("output"),
        high: index("high"),
        low: index("low"),
        prior: index("prior"),
    };
    let same = |stated: Option<usize>, found: Option<u32>| {
        assert_eq!(stated, found.map(|at| at as usize), "{path}");
    };
    same(at.output, refusal.cell.output);
    same(at.high, refusal.cell.high);
    same(at.low, refusal.cell.low);
    same(at.prior, refusal.cell.prior);
    assert_eq!(stated["claim"].as_u64().unwrap() as usize, refusal.index, "{path}");
    assert_eq!(text(&stated["side"]), side(refusal.side), "{path}");
    assert_eq!(text(&stated["attained"]), refusal.attained.to_string(), "{path}");
    assert_eq!(text(&stated["allowed"]), refusal.allowed.to_string(), "{path}");
    by_other_means(value, stated, at, path);
}

/// The claims before it hold, it fails as stated, and the cell named shows it.
fn by_other_means(document: &Value, stated: &Value, at: At, path: &str) {
    let index = stated["claim"].as_u64().unwrap() as usize;
    let claims = document["claims"].as_array().unwrap();
    for claim in &claims[..index] {
        assert_eq!(violation(&subject(document, claim).unwrap(), claim), None, "{path}");
    }
    let claim = &claims[index];
    let channel = subject(document, claim).unwrap();
    let (side, attained, allowed) = violation(&channel, claim).unwrap();
    assert_eq!(text(&stated["side"]), side, "{path}");
    assert_eq!(Level::parse(text(&stated["attained"])), attained, "{path}");
    assert_eq!(Level::parse(text(&stated["allowed"])), allowed, "{path}");
    // On bits an output is a pattern, which the cell only describes.
    let shape = text(&document["channel"]["shape"]);
    let at = if shape == "bits" { At { output: None, ..at } } else { at };
    let there = match side {
        "ldp" => channel.ldp(at),
        "upper" => channel.upper(at),
        "lower" => channel.lower(at),
        "di" => channel.identifiability(at),
        _ => Level::Finite(channel.delta(claim, at)),
    };
    assert_eq!(there, attained, "{path}: not at the cell named");
    // What differs by the unevenness of an index alone has no place.
    let named = at.high.is_some() || at.low.is_some() || path.contains("blocks_uniform");
    assert!(named, "{path}: the refusal names no one");
}

fn side(side: Side) -> &'static str {
    match side {
        Side::Ldp => "ldp",
        Side::Upper => "upper",
        Side::Lower => "lower",
        Side::Di => "di",
        Side::Delta => "delta",
    }
}

/// The stable name of a reason not to decode.
pub(crate) fn code(error: &DecodeError) -> &'static str {
    match error {
        DecodeError::NotAPolicy => "not_a_policy",
        DecodeError::Version { .. } => "version",
        DecodeError::Truncated { .. } => "truncated",
        DecodeError::Trailing { .. } => "trailing",
        DecodeError::Tag { .. } => "tag",
        DecodeError::NotText => "not_text",
        DecodeError::NotCanonical => "not_canonical",
        DecodeError::Json { .. } => "json",
        DecodeError::Id { .. } => "id",
        DecodeError::Nats { .. } => "nats",
        DecodeError::Alphabet(_) => "alphabet",
        DecodeError::Prior(_) => "prior",
        DecodeError::Context(_) => "context",
        DecodeError::Shape(_) => "channel",
        DecodeError::Epsilon(_) => "epsilon",
        DecodeError::Delta(_) => "delta",
        DecodeError::Decimal(_) => "decimal",
        DecodeError::Draft(_) => "draft",
        _ => panic!("a reason without a name: {error}"),
    }
}

/// One accepted and one refused policy for every shape (of blocks, every family), context, notion, subject and δ or not.
pub(crate) fn coverage() {
    let mut found = [BTreeSet::new(), BTreeSet::new()];
    for path in on_disk().keys().filter(|path| path.starts_with("policy/")) {
        let file = load(path);
        let refused = file.get("stage").is_some();
        let Some(document) = file.get("document").filter(|_| file["stage"] != "decode") else {
            continue;
        };
        let channel = &document["channel"];
        // Of blocks, every family.
        let shape = channel["family"].get("kind").unwrap_or(&channel["shape"]);
        let shape = text(shape).to_string();
        let context = text(&document["context"]["kind"]).to_string();
        for claim in document["claims"].as_array().unwrap() {
            let delta = claim.get("delta").is_some_and(|delta| delta != 0);
            let (notion, about) = (text(&claim["notion"]), text(&claim["about"]));
            let kind = format!("{notion} of {about}{}", if delta { " with delta" } else { "" });
            found[usize::from(refused)].insert((shape.clone(), context.clone(), kind));
        }
    }
    let mut legal = BTreeSet::new();
    let families = ["geometry", "hashing", "listed", "subsets"];
    for shape in ["table", "keep", "bits"].into_iter().chain(families) {
        for context in ["unknown", "prior", "priors", "box", "secret"] {
            for about in ["input", "secret"] {
                for notion in ["ldp", "lip", "alip", "di"] {
                    for delta in ["", " with delta"] {
                        let lip = notion == "lip" || notion == "alip";
                        let weighed = context == "prior" || context == "priors";
                        let wrong = lip && context == "unknown"
                            || about == "secret" && context != "secret"
                            || !delta.is_empty() && shape != "table" && shape != "keep"
                            || notion == "di"
                                && (!weighed || about == "secret" || !delta.is_empty());
                        if !wrong {
                            let kind = format!("{notion} of {about}{delta}");
                            legal.insert((shape.to_string(), context.to_string(), kind));
                        }
                    }
                }
            }
        }
    }
    assert_eq!(found[0], legal, "accepted");
    assert_eq!(found[1], legal, "refused");
}

/// A policy cut short does not decode, wherever it is cut.
pub(crate) fn prefixes(path: &str) {
    let canonical = bytes(&load(path)["bytes"]);
    for end in 0..canonical.len() {
        let error = Draft::from_bytes(&canonical[..end]).unwrap_err();
        assert_eq!(code(&error), "truncated", "{path} cut at {end}");
    }
}
