//! One encoding per policy: what decodes is what was encoded, and nothing else decodes.

#![allow(clippy::unwrap_used)]

mod common;

use common::{Random, draft, level, prior, table};
use sha2::{Digest, Sha256};
use undertone_core::{
    Alphabet, Bits, Bound, Claim, Context, Decimal, DecodeError, Delta, Draft, Foreign, Keep,
    MASS_ONE, Policy, PolicyId, Provenance, Report, ReportId, Shape, Subject, Token, WEIGHT_ONE,
};

fn unhex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
    let digit = |byte: u8| char::from(byte).to_digit(16).unwrap() as u8;
    digits.chunks(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect()
}

fn random_decimal(random: &mut Random) -> Decimal {
    let digits = random.magnitude(60) as i64 / if random.one_in(2) { 1 } else { -1 };
    Decimal::new(digits, random.below(19) as u8).unwrap()
}

fn increasing(random: &mut Random, count: usize) -> Vec<Decimal> {
    loop {
        let mut list: Vec<Decimal> = (0..count).map(|_| random_decimal(random)).collect();
        list.sort_unstable();
        if list.windows(2).all(|pair| pair[0] < pair[1]) {
            return list;
        }
    }
}

fn random_alphabet(random: &mut Random, size: usize) -> Alphabet {
    match random.below(4) {
        0 => Alphabet::indices(size).unwrap(),
        1 => {
            let odd = ["ä", "\"quoted\"", "line\nbreak", "\\", "\u{0}", "名前", "{", "a"];
            let name = |at: usize| format!("{}{at}", odd[at % odd.len()]);
            Alphabet::names((0..size).map(name).collect()).unwrap()
        }
        2 => Alphabet::points(increasing(random, size)).unwrap(),
        _ => {
            let edges = increasing(random, size + 1);
            let values = (0..size).map(|at| edges[at + random.size(0, 1)]).collect();
            Alphabet::bins(edges, values).unwrap()
        }
    }
}

fn random_draft(random: &mut Random) -> Draft {
    let shape = random.shape(5);
    let kind = random.below(5);
    let context = random.context(shape.inputs(), kind);
    let count = if random.one_in(10) { 16 } else { random.size(1, 4) };
    let claims = (0..count).map(|_| random.claim(&shape, &context)).collect();
    let inputs = random_alphabet(random, shape.inputs());
    let named = shape.inputs() != shape.outputs() || random.one_in(2);
    let outputs = (named && matches!(shape, Shape::Table(_)))
        .then(|| random_alphabet(random, shape.outputs()));
    let confidence = [None, Some(Decimal::new(95, 2).unwrap()), Some(Decimal::ONE)];
    let provenance = Provenance {
        source: ["", "census \"2020\"", "ünïcode\n"][random.size(0, 2)].into(),
        n: random.magnitude(64),
        date: ["", "2024-05-01"][random.size(0, 1)].into(),
        confidence: confidence[random.size(0, 2)],
        rounding: random.magnitude(64),
    };
    Draft::new(inputs, outputs, shape, context, claims, provenance).unwrap()
}

/// The identity of a draft, from outside: the id its document states.
fn id(draft: &Draft) -> String {
    let json = draft.to_json();
    let start = json.find("\"id\": \"").unwrap() + 7;
    json[start..start + 64].into()
}

fn hash(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

#[test]
fn round_trips() {
    let mut random = Random::new(51);
    for _ in 0..600 {
        let draft = random_draft(&mut random);
        let bytes = draft.to_bytes();
        let decoded = Draft::from_bytes(&bytes);
        assert_eq!(decoded.as_ref(), Ok(&draft));
        assert_eq!(decoded.unwrap().to_bytes(), bytes);
        let json = draft.to_json();
        assert_eq!(Draft::from_json(&json).as_ref(), Ok(&draft), "{json}");
        // Spaces and the missing id do not matter; the content does.
        let compact: serde_json::Value = serde_json::from_str(&json).unwrap();
        let mut anonymous = compact.clone();
        anonymous.as_object_mut().unwrap().remove("id");
        assert_eq!(Draft::from_json(&compact.to_string()).as_ref(), Ok(&draft));
        assert_eq!(Draft::from_json(&anonymous.to_string()).as_ref(), Ok(&draft));
    }
}

/// The id a document states is the one its verified policy has.
#[test]
fn the_id_is_the_hash_of_the_bytes() {
    let draft = draft(table(&[&[MASS_ONE]]), Context::Unknown, vec![Claim::ldp(level(1, 1))]);
    let stated = id(&draft);
    let policy: Policy = draft.clone().verify().unwrap();
    assert_eq!(policy.id().to_string(), stated);
    assert_eq!(stated.parse::<PolicyId>(), Ok(policy.id()));
    assert_eq!(policy.id().0, hash(&draft.to_bytes()));
}

#[test]
fn every_truncation_and_every_trailing_byte_is_refused() {
    let mut random = Random::new(52);
    for _ in 0..150 {
        let bytes = random_draft(&mut random).to_bytes();
        for length in 0..bytes.len() {
            let error = Draft::from_bytes(&bytes[..length]).unwrap_err();
            assert!(
                matches!(error, DecodeError::Truncated { missing: 1.. }),
                "{length}: {error:?}"
            );
        }
        for extra in [0, 1, 0xff] {
            let longer = [&bytes[..], &[extra]].concat();
            assert_eq!(Draft::from_bytes(&longer), Err(DecodeError::Trailing { bytes: 1 }));
        }
    }
}

/// A flipped byte is noticed, or it is another policy with another id.
#[test]
fn every_flipped_byte_is_noticed() {
    let mut random = Random::new(53);
    let mut accepted = 0;
    for _ in 0..120 {
        let draft = random_draft(&mut random);
        let bytes = draft.to_bytes();
        let before = hash(&bytes);
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 1 << random.below(8);
            if let Ok(other) = Draft::from_bytes(&changed) {
                accepted += 1;
                assert_ne!(other, draft, "byte {at}");
                assert_ne!(hash(&other.to_bytes()), before);
                assert_eq!(other.to_bytes(), changed);
                // Whatever it claims, checking it does not panic.
                if random.one_in(8) {
                    let _ = other.verify();
                }
            }
        }
    }
    assert!(accepted > 100, "flips in names and weights should sometimes decode: {accepted}");
}

/// A small policy: what every byte is for.
#[test]
fn canonical_bytes_of_a_policy() {
    let shape = table(&[&[3 * (MASS_ONE / 4), MASS_ONE / 4], &[MASS_ONE / 4, 3 * (MASS_ONE / 4)]]);
    let names = Alphabet::names(vec!["no".into(), "yes".into()]).unwrap();
    let outputs = Alphabet::points(vec![Decimal::new(-5, 1).unwrap(), Decimal::ONE]).unwrap();
    let context = Context::Known(prior(&[WEIGHT_ONE / 4, 3 * (WEIGHT_ONE / 4)]));
    let escape = Delta::from_units(5).unwrap();
    let bound = Bound::Lip { lower: level(5, 2), upper: level(2, 1) };
    let claims = vec![
        Claim::ldp(level(3, 1)),
        Claim { about: Subject::Input, bound, delta: escape },
        Claim { about: Subject::Input, bound: Bound::Di(level(9, 1)), delta: Delta::ZERO },
    ];
    let provenance = Provenance {
        source: "poll".into(),
        n: 1000,
        date: "2024-05-01".into(),
        confidence: Some(Decimal::new(95, 2).unwrap()),
        rounding: 7,
    };
    let draft = Draft::new(names, Some(outputs), shape, context, claims, provenance).unwrap();
    let expected = concat!(
        "756e646572746f6e652f706f6c696379",  // "undertone/policy"
        "01",                                // version
        "01",                                // inputs are names
        "00000002",                          // two of them
        "00000002 6e6f",                     // "no"
        "00000003 796573",                   // "yes"
        "01",                                // outputs are given
        "02",                                // they are points
        "00000002",                          // two of them
        "fffffffffffffffb 01",               // -5 x 10^-1
        "0000000000000001 00",               // 1 x 10^0
        "00",                                // the shape is a table
        "00000002 00000002",                 // two inputs, two outputs
        "0000c00000000000 0000400000000000", // 3/4 1/4 in units of 2^-48
        "0000400000000000 0000c00000000000", // 1/4 3/4
        "01",                                // one prior
        "00000002",                          // over two symbols
        "0000000040000000 00000000c0000000", // 1/4 3/4 in units of 2^-32
        "03",                                // three claims
        "00 00",                             // about the input: ldp
        "00000003 00000001",                 // odds 3/1
        "0000000000000000",                  // no delta
        "00 01",                             // about the input: lip
        "00000005 00000002",                 // lower odds 5/2
        "00000002 00000001",                 // upper odds 2/1
        "0000000000000005",                  // delta 5 x 2^-48
        "00 02",                             // about the input: di
        "00000009 00000001",                 // odds 9/1
        "0000000000000000",                  // no delta
        "00000004 706f6c6c",                 // source "poll"
        "00000000000003e8",                  // n = 1000
        "0000000a 323032342d30352d3031",     // "2024-05-01"
        "01 000000000000005f 02",            // a confidence: 95 x 10^-2
        "0000000000000007",                  // rounding 7 x 2^-48
    );
    assert_eq!(draft.to_bytes(), unhex(expected));
    assert_eq!(Draft::from_bytes(&unhex(expected)), Ok(draft));
}

/// The other shapes, contexts and alphabets.
#[test]
fn canonical_bytes_of_the_other_kinds() {
    let head = "756e646572746f6e652f706f6c696379 01";
    let claim = "01 00 00 00000003 00000001 0000000000000000";
    let no_provenance = "00000000 0000000000000000 00000000 00 0000000000000000";
    let check = |draft: Draft, middle: &str| {
        let bytes = unhex(&[head, middle, claim, no_provenance].concat());
        assert_eq!(draft.to_bytes(), bytes);
        assert_eq!(Draft::from_bytes(&bytes), Ok(draft));
    };
    let half = WEIGHT_ONE / 2;
    let claims = || vec![Claim::ldp(level(3, 1))];
    let keep = Shape::Keep(Keep::new(vec![1 << 40, 1], vec![0, MASS_ONE]).unwrap());
    let each = undertone_core::Priors::new(vec![prior(&[half, half]), prior(&[0, WEIGHT_ONE])]);
    check(
        draft(keep.clone(), Context::Each(each.unwrap()), claims()),
        concat!(
            "00 00000002",                       // inputs are two indices
            "00",                                // outputs are the inputs
            "01 00000002",                       // keep, two symbols
            "0000010000000000 0000000000000001", // λ in units of 2^-40
            "0000000000000000 0001000000000000", // base in units of 2^-48
            "02 00000002",                       // a list of two priors
            "00000002 0000000080000000 0000000080000000",
            "00000002 0000000000000000 0000000100000000",
        ),
    );
    let bits = Shape::Bits(Bits::new(2, WEIGHT_ONE, 1).unwrap());
    let within = undertone_core::PriorBox::new(vec![0, half], vec![half, WEIGHT_ONE]).unwrap();
    check(
        draft(bits, Context::Within(within), claims()),
        concat!(
            "00 00000002",
            "00",
            "02 00000002",                       // bits, two symbols
            "0000000100000000 0000000000000001", // own and other in units of 2^-32
            "03 00000002",                       // a box over two symbols
            "0000000000000000 0000000080000000", // lower ends
            "0000000080000000 0000000100000000", // upper ends
        ),
    );
    let rows = vec![prior(&[half, half]), prior(&[WEIGHT_ONE, 0])];
    let secret = undertone_core::Secret::new("ill".into(), prior(&[half, half]), rows).unwrap();
    let edges = ["0", "0.5", "1"].iter().map(|e| e.parse().unwrap()).collect();
    let values = ["0.25", "1"].iter().map(|v| v.parse().unwrap()).collect();
    let bins = Alphabet::bins(edges, values).unwrap();
    let provenance = Provenance::default();
    check(
        Draft::new(bins, None, keep, Context::Secret(secret), claims(), provenance).unwrap(),
        concat!(
            "03",                                                                   // bins
            "00000003 0000000000000000 00 0000000000000005 01 0000000000000001 00", // edges
            "00000002 0000000000000019 02 0000000000000001 00", // values .25 and 1
            "00",
            "01 00000002 0000010000000000 0000000000000001 0000000000000000 0001000000000000",
            "04 00000003 696c6c", // a secret called "ill"
            "00000002 0000000080000000 0000000080000000", // P(s)
            "00000002",           // two rows P(x|s)
            "00000002 0000000080000000 0000000080000000",
            "00000002 0000000100000000 0000000000000000",
        ),
    );
}

#[test]
fn bad_bytes_say_what_is_wrong() {
    let shape = Shape::Keep(Keep::new(vec![0, 0], vec![MASS_ONE, 0]).unwrap());
    let within = undertone_core::PriorBox::new(vec![0, 0], vec![WEIGHT_ONE; 2]).unwrap();
    let good = draft(shape, Context::Within(within), vec![Claim::ldp(level(3, 1))]).to_bytes();
    let with = |at: usize, byte: u8| {
        let mut bytes = good.clone();
        bytes[at] = byte;
        Draft::from_bytes(&bytes)
    };
    assert_eq!(with(0, b'U'), Err(DecodeError::NotAPolicy));
    assert_eq!(with(16, 2), Err(DecodeError::Version { found: "2".into() }));
    let tag = |what| Err(DecodeError::Tag { what });
    assert_eq!(with(17, 4), tag("alphabet"));
    assert_eq!(with(22, 2), tag("outputs"));
    assert_eq!(with(23, 3), tag("shape"));
    // 24: symbols (4), keep (16), base (16); 60: the context, its count (4), lower and upper.
    assert_eq!(with(60, 5), tag("context"));
    // An upper end above one is cut to one by the constructor, so these are not its bytes.
    assert_eq!(with(60 + 5 + 16 + 3, 2), Err(DecodeError::NotCanonical));
    let claim = 60 + 5 + 32 + 1;
    assert!(with(claim - 1, 0).is_err(), "no claims");
    assert!(with(claim - 1, 2).is_err(), "a claim too few");
    assert_eq!(with(claim, 2), tag("claim.about"));
    assert_eq!(with(claim + 1, 3), tag("claim.notion"));
    assert!(matches!(with(claim + 5, 0), Err(DecodeError::Epsilon(_))));
    assert!(matches!(with(claim + 10, 0xff), Err(DecodeError::Delta(_))));
    let provenance = claim + 18;
    assert_eq!(with(provenance + 4 + 8 + 4, 2), tag("provenance.confidence"));
    // A decimal with a zero at its end is not the shortest form.
    let points = Alphabet::points(vec![Decimal::ONE]).unwrap();
    let flat = table(&[&[MASS_ONE]]);
    let claims = vec![Claim::ldp(level(1, 1))];
    let draft = Draft::new(points, None, flat, Context::Unknown, claims, Provenance::default());
    let mut bytes = draft.unwrap().to_bytes();
    (bytes[29], bytes[30]) = (10, 1);
    assert_eq!(Draft::from_bytes(&bytes), Err(DecodeError::NotCanonical));
    bytes[30] = 19;
    assert!(matches!(Draft::from_bytes(&bytes), Err(DecodeError::Decimal(_))));
    // Lengths that promise more than is there allocate nothing.
    for at in [18, 24] {
        assert!(with(at, 0xff).is_err());
    }
    // A name that is no text.
    let names = Alphabet::names(vec!["ä".into()]).unwrap();
    let flat = table(&[&[MASS_ONE]]);
    let claims = vec![Claim::ldp(level(1, 1))];
    let draft = Draft::new(names, None, flat, Context::Unknown, claims, Provenance::default());
    let mut bytes = draft.unwrap().to_bytes();
    let at = bytes.iter().position(|&byte| byte == 0xc3).unwrap();
    bytes[at] = 0xff;
    assert_eq!(Draft::from_bytes(&bytes), Err(DecodeError::NotText));
}

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
    let stated = format!("\"undertone\": \"policy/1\",\n  \"id\": \"{}\",", id(&draft));
    assert_eq!(draft.to_json(), DOCUMENT.replace("\"undertone\": \"policy/1\",", &stated));
    assert!(draft.verify().is_ok());
}

/// Edits of the document and what the refusal must mention.
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
        ("\"about\":\"input\"", "\"about\":\"output\"", &["unknown variant `output`"]),
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
    let right = id(&Draft::from_json(DOCUMENT).unwrap());
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
    let random = (0..2000).map(|_| random_decimal(&mut random));
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

fn report(token: Token) -> Report {
    let policy = PolicyId(core::array::from_fn(|at| at as u8));
    Report { policy, id: ReportId(core::array::from_fn(|at| 0xf0 + at as u8)), token }
}

#[test]
fn canonical_bytes_of_a_report() {
    let head = concat!(
        "01",                                                               // version
        "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f", // policy id
        "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff",                                 // report id
    );
    let index = [head, "00" /* an index */, "00000007"].concat();
    let bits = [head, "01" /* bits */, "a040"].concat();
    let cases = [
        (index, Token::Index(7), "\"token\":7}"),
        (bits, Token::Bits([0xa0, 0x40].into()), "\"bits\":\"a040\"}"),
    ];
    for (hex, token, end) in cases {
        let report = report(token);
        assert_eq!(report.to_bytes(), unhex(&hex));
        assert_eq!(Report::from_bytes(&unhex(&hex)).as_ref(), Ok(&report));
        let json = report.to_json();
        let start = r#"{"undertone":"report/1","policy":"000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f","id":"f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff","#;
        assert_eq!(json, format!("{start}{end}"));
        assert_eq!(Report::from_json(&json), Ok(report));
    }
}

#[test]
fn bad_reports_are_refused() {
    let index = report(Token::Index(7)).to_bytes();
    for length in 0..index.len() {
        let error = Report::from_bytes(&index[..length]).unwrap_err();
        assert!(matches!(error, DecodeError::Truncated { missing: 1.. }), "{length}: {error:?}");
    }
    let longer = [&index[..], &[0]].concat();
    assert_eq!(Report::from_bytes(&longer), Err(DecodeError::Trailing { bytes: 1 }));
    let bits = report(Token::Bits([0xa0].into()));
    for bytes in [index.clone(), bits.to_bytes()] {
        let original = Report::from_bytes(&bytes).unwrap();
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut changed = bytes.clone();
                changed[at] ^= 1 << bit;
                if let Ok(other) = Report::from_bytes(&changed) {
                    assert_ne!(other, original);
                    assert_eq!(other.to_bytes(), changed);
                }
            }
        }
    }
    let mut version = index.clone();
    version[0] = 2;
    let expected = DecodeError::Version { found: "report/2".into() };
    assert_eq!(Report::from_bytes(&version), Err(expected));
    let mut tag = index;
    tag[49] = 2;
    assert_eq!(Report::from_bytes(&tag), Err(DecodeError::Tag { what: "token" }));

    let json = report(Token::Index(7)).to_json();
    let edits: &[(&str, &str, &[&str])] = &[
        ("report/1", "report/2", &["report/2"]),
        ("\"token\":7", "\"token\":7,\"bits\":\"00\"", &["exactly one"]),
        (",\"token\":7", "", &["exactly one"]),
        ("\"token\":7", "\"token\":-7", &["invalid value"]),
        ("\"token\":7", "\"token\":7.0", &["floating point"]),
        ("\"token\":7", "\"token\":4294967296", &["invalid value"]),
        ("\"token\":7", "\"token\":7,\"token\":7", &["duplicate field `token`"]),
        ("\"token\":7", "\"token\":7,\"symbol\":7", &["unknown field `symbol`"]),
        ("\"token\":7", "\"bits\":\"a\"", &["bits"]),
        ("\"token\":7", "\"bits\":\"A0\"", &["bits"]),
        ("\"token\":7", "\"bits\":\"é\"", &["bits"]),
        ("\"policy\":\"00", "\"policy\":\"0", &["policy"]),
        ("\"id\":\"f0", "\"id\":\"F0", &["id"]),
        ("}", "}}", &["trailing"]),
    ];
    for (from, to, words) in edits {
        let message = Report::from_json(&json.replacen(from, to, 1)).unwrap_err().to_string();
        for word in *words {
            assert!(message.contains(word), "{to}: {message:?} does not say {word:?}");
        }
    }
}

/// A policy accepts the tokens it can release and no others.
#[test]
fn foreign_reports_are_told() {
    let claims = || vec![Claim::ldp(level(1, 1))];
    let flat = draft(table(&[&[MASS_ONE, 0]]), Context::Unknown, claims()).verify().unwrap();
    let half = WEIGHT_ONE / 2;
    let bits = Shape::Bits(Bits::new(11, half, half).unwrap());
    let bits = draft(bits, Context::Unknown, claims()).verify().unwrap();
    let of = |policy: &Policy, token| Report { policy: policy.id(), ..report(token) };
    let set = |bytes: &[u8]| Token::Bits(bytes.into());
    assert_eq!(flat.accepts(&of(&flat, Token::Index(1))), Ok(()));
    assert_eq!(flat.accepts(&of(&flat, Token::Index(2))), Err(Foreign::Token));
    assert_eq!(flat.accepts(&of(&flat, set(&[0]))), Err(Foreign::Token));
    assert_eq!(flat.accepts(&of(&bits, Token::Index(0))), Err(Foreign::Policy));
    assert_eq!(bits.accepts(&of(&bits, set(&[0xff, 0xe0]))), Ok(()));
    for bytes in [&[][..], &[0], &[0, 0, 0], &[0, 0x10], &[0, 1], &[0; 100]] {
        assert_eq!(bits.accepts(&of(&bits, set(bytes))), Err(Foreign::Token), "{bytes:?}");
    }
    assert_eq!(bits.accepts(&of(&bits, Token::Index(0))), Err(Foreign::Token));
    // A whole number of bytes leaves no spare bits.
    let eight = Shape::Bits(Bits::new(8, half, half).unwrap());
    let eight = draft(eight, Context::Unknown, claims()).verify().unwrap();
    assert_eq!(eight.accepts(&of(&eight, set(&[0xff]))), Ok(()));
}
