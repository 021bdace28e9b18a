//! Reports: made from given bytes, read in both encodings, and refused.

use crate::vectors::generator::stream::Stream;
use crate::vectors::{bytes, draw, fields, load, policy, text};
use serde_json::Value;
use undertone_core::{Consent, Ledger, Nats, Report, ReportMismatch, Sequence};

pub(crate) fn good(path: &str) {
    let file = load(path);
    let kind = if file.get("token").is_some() { "token" } else { "bits" };
    let mut names = vec!["bytes", "consumed", "policy", "report", "stream", "symbol", kind];
    names.sort_unstable();
    assert_eq!(fields(&file), names, "{path}");
    let policy = policy::verified(&file["policy"]);
    let stream = bytes(&file["stream"]);
    let symbol = policy.draft().inputs().symbol(file["symbol"].as_u64().unwrap() as usize).unwrap();
    let mut ledger = Ledger::new(Nats::from_units(u64::MAX));
    let permit = ledger.spend("datum", &policy, &Sequence::new(), &Consent::UNLIMITED).unwrap();
    let mut rng = Stream::new(&stream);
    let made = policy.randomize(symbol, permit, &mut rng).unwrap();
    let consumed = file["consumed"].as_u64().unwrap() as usize;
    assert_eq!(rng.consumed, consumed, "{path}");
    assert_eq!(made.token, draw::token(&file), "{path}");
    assert_eq!(made.id.0, stream[consumed - 16..consumed], "{path}: the id is read last");

    let encoded = bytes(&file["bytes"]);
    assert_eq!(made.to_bytes(), encoded, "{path}");
    assert_eq!(Report::from_bytes(&encoded).unwrap(), made, "{path}");
    assert_eq!(serde_json::from_str::<Value>(&made.to_json()).unwrap(), file["report"], "{path}");
    assert_eq!(Report::from_json(&file["report"].to_string()).unwrap(), made, "{path}");
    assert_eq!(policy.accepts(&made), Ok(()), "{path}");
    for end in 0..50 {
        assert!(Report::from_bytes(&encoded[..end]).is_err(), "{path} cut at {end}");
    }
}

pub(crate) fn bad(path: &str) {
    let file = load(path);
    if file["stage"] == "accept" {
        let names = ["about", "bytes", "error", "policy", "report", "stage"];
        assert_eq!(fields(&file), names, "{path}");
        let report = Report::from_json(&file["report"].to_string()).unwrap();
        assert_eq!(Report::from_bytes(&bytes(&file["bytes"])).unwrap(), report, "{path}");
        let expected = match text(&file["error"]) {
            "policy" => ReportMismatch::Policy,
            "token" => ReportMismatch::Token,
            other => panic!("{path}: {other}"),
        };
        let refused = policy::verified(&file["policy"]).accepts(&report);
        assert_eq!(refused, Err(expected), "{path}");
        return;
    }
    assert_eq!(text(&file["stage"]), "decode", "{path}");
    assert_eq!(fields(&file).len(), 4, "{path}");
    let read = match (file.get("bytes"), file.get("report"), file.get("text")) {
        (Some(value), None, None) => Report::from_bytes(&bytes(value)),
        (None, Some(value), None) => Report::from_json(&value.to_string()),
        (None, None, Some(value)) => Report::from_json(text(value)),
        _ => panic!("{path} has nothing to read"),
    };
    let error = read.err().unwrap_or_else(|| panic!("{path} decodes"));
    assert_eq!(policy::code(&error), text(&file["error"]), "{path}");
}
