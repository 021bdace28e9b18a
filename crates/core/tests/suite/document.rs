//! The policy document: what a person reads is what was encoded, and a wrong one is told what is
//! wrong with it.

use crate::common::{Random, stated_id};
use undertone_core::{Decimal, DecodeError, Draft};

/// The document of a small policy, as a person reads it.
const DOCUMENT: &str = r#"{
  "undertone": "policy/1",
  "claims": [
    {"notion":"ldp","about":"input","epsilon":{"nats":"1.0986122887","odds":[3,1]},"delta":0}
  ],
  "context": {"kind":"prior","weights":[1073741824,3221225472]},
  "provenance": {"source":"poll","n":1000,"date":"2024-05-01","confidence":"0.95","rounding":7},
  "inputs": {"names":["no","yes"]},
  "channel": {"shape": "table", "masses": [
    [211106232532992,70368744177664],
    [70368744177664,211106232532992]
  ]}
}
"#;

#[test]
fn the_document() {
    let draft = Draft::from_json(DOCUMENT).unwrap();
    let stated = format!("\"undertone\": \"policy/1\",\n  \"id\": \"{}\",", stated_id(&draft));
    assert_eq!(draft.to_json(), DOCUMENT.replace("\"undertone\": \"policy/1\",", &stated));
    assert!(draft.verify().is_ok());
}

/// Edits of the document and what the refusal must mention.
/// What is said about a list in the place of an object.
const LIST: &[&str] = &["invalid type: sequence, expected an object"];

#[test]
fn bad_documents_say_what_is_wrong() {
    let edits: &[(&str, &str, &[&str])] = &[
        // Versions and unknown fields, at every level.
        ("policy/1", "policy/2", &["policy/2", "policy/1"]),
        ("\"policy/1\"", "1", &["invalid type", "line 2"]),
        ("\"inputs\"", "\"input\"", &["unknown field `input`"]),
        ("\"kind\"", "\"date\":\"x\",\"kind\"", &["date"]),
        ("\"n\":1000", "\"n\":1000,\"m\":1", &["unknown field `m`"]),
        ("\"names\":", "\"name\":", &["unknown field `name`"]),
        ("\"shape\":", "\"width\": 2, \"shape\":", &["unknown field `width`"]),
        ("\"notion\"", "\"level\":1,\"notion\"", &["unknown field `level`"]),
        ("\"odds\"", "\"odd\":1,\"odds\"", &["unknown field `odd`"]),
        // Missing fields.
        ("\"undertone\": \"policy/1\",", "", &["missing field `undertone`"]),
        ("\"about\":\"input\",", "", &["missing field `about`"]),
        ("\"weights\":[1073741824,3221225472]", "\"kind\":\"prior\"", &[]),
        (",\"odds\":[3,1]", "", &["missing field `odds`"]),
        ("\"inputs\": {\"names\":[\"no\",\"yes\"]},", "", &["missing field `inputs`"]),
        // Kinds that do not exist.
        ("\"ldp\"", "\"dp\"", &["unknown variant `dp`"]),
        ("\"kind\":\"prior\"", "\"kind\":\"posterior\"", &["unknown variant `posterior`"]),
        ("\"table\"", "\"chair\"", &["unknown variant `chair`"]),
        (
            "\"about\":\"input\"",
            "\"about\":\"output\"",
            &["\"input\" or \"secret\", not \"output\""],
        ),
        // What the constructors refuse.
        (
            "211106232532992,70368744177664]",
            "211106232532992,70368744177663]",
            &["channel", "row 0", "281474976710655"],
        ),
        ("3221225472", "3221225473", &["prior", "4294967297"]),
        ("[\"no\",\"yes\"]", "[\"no\",\"no\"]", &["alphabet", "\"no\""]),
        ("[\"no\",\"yes\"]", "[\"no\"]", &["input alphabet", "1", "2"]),
        (
            "\"names\":[\"no\",\"yes\"]",
            "\"names\":[\"no\",\"yes\"],\"indices\":2",
            &["exactly one"],
        ),
        ("[3,1]", "[1,3]", &["claims", "1/3"]),
        ("[3,1]", "[3,0]", &["claims", "3/0"]),
        ("\"delta\":0", "\"delta\":281474976710656", &["claims", "delta"]),
        ("\"2024-05-01\"", "\"yesterday\"", &["provenance.date"]),
        ("\"0.95\"", "\"1.5\"", &["provenance.confidence"]),
        ("\"0.95\"", "\"95%\"", &["decimal"]),
        (
            "\"notion\":\"ldp\",\"about\":\"input\"",
            "\"notion\":\"ldp\",\"about\":\"secret\"",
            &["claim 0", "secret"],
        ),
        // Nats that are not those of the odds.
        ("1.0986122887", "1.0986122886", &["1.0986122886", "1.0986122887"]),
        ("1.0986122887", "1", &["claims"]),
        ("\"nats\":\"1.0986122887\"", "\"nats\":1.0986122887", &["invalid type"]),
        // Numbers that are not non-negative integers of their size.
        ("211106232532992,70368744177664]", "0.75,0.25]", &["floating point `0.75`"]),
        (
            "211106232532992,70368744177664]",
            "2.11106232532992e14,70368744177664]",
            &["invalid type: floating point"],
        ),
        ("211106232532992,70368744177664]", "-1,70368744177664]", &["invalid value: integer `-1`"]),
        (
            "211106232532992,70368744177664]",
            "18446744073709551616,70368744177664]",
            &["invalid type: floating point"],
        ),
        ("211106232532992,70368744177664]", "null,70368744177664]", &["invalid type: null"]),
        (
            "211106232532992,70368744177664]",
            "\"211106232532992\",70368744177664]",
            &["invalid type: string"],
        ),
        ("3221225472", "-3221225472", &["invalid value"]),
        ("[3,1]", "[3.0,1]", &["invalid type: floating point"]),
        ("[3,1]", "[4294967296,1]", &["invalid value"]),
        ("[3,1]", "[3]", &["invalid length"]),
        ("[3,1]", "[3,1,1]", &[]),
        ("\"n\":1000", "\"n\":1e3", &["invalid type: floating point"]),
        ("\"n\":1000", "\"n\":NaN", &["line 7"]),
        // The same key twice, at every level.
        ("\"inputs\":", "\"inputs\": {\"indices\":2}, \"inputs\":", &["duplicate field `inputs`"]),
        ("\"n\":1000", "\"n\":1000,\"n\":1000", &["duplicate field `n`"]),
        ("\"kind\":\"prior\"", "\"kind\":\"prior\",\"kind\":\"prior\"", &["duplicate field"]),
        ("\"delta\":0", "\"delta\":0,\"delta\":0", &["duplicate field `delta`"]),
        ("\"weights\":[", "\"weights\":[],\"weights\":[", &["duplicate field `weights`"]),
        ("\"masses\": [", "\"masses\": [], \"masses\": [", &["duplicate field `masses`"]),
        ("\"odds\":[3,1]", "\"odds\":[3,1],\"odds\":[3,1]", &["duplicate field `odds`"]),
        // Lists where the format says objects, and an enumeration as an object.
        ("{\"nats\":\"1.0986122887\",\"odds\":[3,1]}", "[\"1.0986122887\",[3,1]]", LIST),
        ("{\"names\":[\"no\",\"yes\"]}", "[null,[\"no\",\"yes\"]]", LIST),
        ("\"about\":\"input\"", "\"about\":{\"input\":null}", &["invalid type: map"]),
        // Integers that some JSON parsers read as others.
        ("\"n\":1000", "\"n\":9007199254740992", &["9007199254740992 is not below 2^53"]),
        // Not one JSON value.
        ("\n}\n", "\n}\n{}", &["trailing characters"]),
        ("\n}\n", ",\n}\n", &["trailing comma"]),
        ("\n}\n", "\n", &["EOF"]),
    ];
    for (from, to, words) in edits {
        assert_eq!(DOCUMENT.matches(from).count().min(1), 1, "{from} is not in the document");
        let text = DOCUMENT.replacen(from, to, 1);
        let Err(error) = Draft::from_json(&text) else { panic!("{to} was accepted") };
        let message = error.to_string();
        for word in *words {
            assert!(message.contains(word), "{to}: {message:?} does not say {word:?}");
        }
    }
    // A stated id must be the content's own.
    let right = stated_id(&Draft::from_json(DOCUMENT).unwrap());
    let wrong = right.replace(&right[..1], if right.starts_with('0') { "1" } else { "0" });
    for stated in [&wrong, &right.to_uppercase(), &right[1..], "", "null\""] {
        let text = DOCUMENT.replacen("\"claims\"", &format!("\"id\": \"{stated}\", \"claims\""), 1);
        match Draft::from_json(&text) {
            Err(DecodeError::Id { actual }) => assert_eq!(actual, right),
            Err(DecodeError::Json { .. }) => assert_eq!(stated, "null\""),
            other => panic!("{stated}: {other:?}"),
        }
    }
    let text = DOCUMENT.replacen("\"claims\"", &format!("\"id\": \"{right}\", \"claims\""), 1);
    assert!(Draft::from_json(&text).is_ok());
}

#[test]
fn hostile_documents_do_not_panic() {
    let deep = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
    assert!(Draft::from_json(&deep).is_err());
    let nested = DOCUMENT.replacen("[\"no\",\"yes\"]", &deep, 1);
    assert!(Draft::from_json(&nested).is_err());
    let object = format!("{}1{}", "{\"channel\":".repeat(100_000), "}".repeat(100_000));
    assert!(Draft::from_json(&object).is_err());
    // A million weights for two symbols, and a million rows.
    let many = "0,".repeat(1_000_000);
    let weights = DOCUMENT.replacen("3221225472", &format!("{many}3221225472"), 1);
    assert!(Draft::from_json(&weights).unwrap_err().to_string().contains("1000002 symbols"));
    let rows = "[281474976710656,0],".repeat(1_000_000);
    let masses = DOCUMENT.replacen("[\n    [2111", &format!("[{rows}\n    [2111"), 1);
    let message = Draft::from_json(&masses).unwrap_err().to_string();
    assert!(message.contains("1000002"), "{message}");
    for text in ["", "null", "[]", "0", "\"\"", "{", "{}", "\u{feff}{}"] {
        assert!(Draft::from_json(text).is_err(), "{text:?}");
    }
    // Every prefix of the document.
    for end in 0..DOCUMENT.trim_end().len() {
        assert!(Draft::from_json(&DOCUMENT[..end]).is_err());
    }
}

/// What bytes can hold, the document can hold, and the other way round.
#[test]
fn every_decimal_has_a_text() {
    let mut random = Random::new(54);
    let nines = 999_999_999_999_999_999;
    let extremes = [(nines, 0), (-nines, 0), (nines, 18), (-nines, 18), (1, 18), (-1, 18), (0, 7)];
    let random = (0..2000).map(|_| random.decimal());
    for decimal in extremes.into_iter().map(|(d, s)| Decimal::new(d, s).unwrap()).chain(random) {
        assert_eq!(decimal.to_string().parse(), Ok(decimal), "{decimal}");
    }
    // Nineteen digits that matter are too many, also with zeros that do not behind them.
    for (digits, scale) in [(nines + 1, 0), (i64::MAX, 0), (i64::MIN, 18), (nines + 2, 5)] {
        assert!(Decimal::new(digits, scale).is_err(), "{digits} x 10^-{scale}");
    }
    assert_eq!(Decimal::new(nines + 1, 18), Ok(Decimal::ONE));
    let texts = ["1000000000000000000", "123456789012345678.5", "0.0000000000000000001"];
    for text in texts {
        assert!(text.parse::<Decimal>().is_err(), "{text}");
    }
}
