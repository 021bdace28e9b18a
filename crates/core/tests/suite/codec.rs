//! One encoding per policy: what decodes is what was encoded, and nothing else decodes.

use crate::common::{Random, draft, level, prior, stated_id, table, unhex};
use sha2::{Digest, Sha256};
use undertone_core::{
    Alphabet, Bits, Bound, Claim, Context, Decimal, DecodeError, Delta, Draft, Keep, MASS_ONE,
    Policy, PolicyId, Provenance, Shape, Subject, WEIGHT_ONE,
};

fn increasing(random: &mut Random, count: usize) -> Vec<Decimal> {
    loop {
        let mut list: Vec<Decimal> = (0..count).map(|_| random.decimal()).collect();
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
            Alphabet::names((0..size).map(name)).unwrap()
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
    let shape = random.any_shape(5);
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
        n: random.magnitude(53),
        date: ["", "2024-05-01"][random.size(0, 1)].into(),
        confidence: confidence[random.size(0, 2)],
        rounding: random.magnitude(53),
    };
    Draft::new(inputs, outputs, shape, context, claims, provenance).unwrap()
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
    let stated = stated_id(&draft);
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
    let names = Alphabet::names(["no", "yes"]).unwrap();
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
    assert_eq!(with(23, 4), tag("shape"));
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
    let names = Alphabet::names(["ä"]).unwrap();
    let flat = table(&[&[MASS_ONE]]);
    let claims = vec![Claim::ldp(level(1, 1))];
    let draft = Draft::new(names, None, flat, Context::Unknown, claims, Provenance::default());
    let mut bytes = draft.unwrap().to_bytes();
    let at = bytes.iter().position(|&byte| byte == 0xc3).unwrap();
    bytes[at] = 0xff;
    assert_eq!(Draft::from_bytes(&bytes), Err(DecodeError::NotText));
}
