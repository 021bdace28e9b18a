//! Documents and bytes of blocks: what is well formed survives, and what is hostile is refused before it costs anything.

use crate::common::{Random, draft};
use undertone_core::incidence::{Family, Geometry, Incidence, IncidenceError, Listed, Subsets};
use undertone_core::{
    Alphabet, Claim, Context, DecodeError, Delta, Draft, DraftError, Epsilon, Prior, Priors,
    Provenance, Secret, Shape, ShapeError, WEIGHT_ONE,
};

fn of(incidence: Incidence) -> Draft {
    draft(Shape::Incidence(incidence), Context::Unknown, vec![Claim::ldp(Epsilon::LARGEST)])
}

#[test]
fn every_family_survives_its_document_and_its_bytes() {
    let mut random = Random::new(1831);
    for _ in 0..300 {
        let symbols = random.size(2, 7);
        let draft = of(random.incidence(symbols));
        let bytes = draft.to_bytes();
        assert_eq!(Draft::from_bytes(&bytes).as_ref(), Ok(&draft));
        let json = draft.to_json();
        assert_eq!(Draft::from_json(&json).as_ref(), Ok(&draft), "{json}");
        for length in 0..bytes.len() {
            let error = Draft::from_bytes(&bytes[..length]).unwrap_err();
            assert!(matches!(error, DecodeError::Truncated { missing: 1.. }), "{error:?}");
        }
    }
}

/// Bytes as written, with the family's own part replaced.
fn with_family(family: &[u8]) -> Result<Draft, DecodeError> {
    let plane = Geometry::new(2, 3, 1, 0, true).unwrap();
    let bytes = of(Incidence::new(7, 3 << 46, Family::Geometry(plane)).unwrap()).to_bytes();
    let written = [&[1u8][..], &number(2), &number(3), &number(1), &number(0), &[1]].concat();
    let at = bytes.windows(written.len()).position(|window| window == written).unwrap();
    Draft::from_bytes(&[&bytes[..at], family, &bytes[at + written.len()..]].concat())
}

fn number(value: u32) -> [u8; 4] {
    value.to_be_bytes()
}

#[test]
fn there_is_one_way_to_write_a_family() {
    let plain = [&[1u8][..], &number(2), &number(3), &number(1), &number(0), &[1]].concat();
    assert!(with_family(&plain).is_ok());
    let flag = [&plain[..plain.len() - 1], &[2]].concat();
    assert_eq!(with_family(&flag), Err(DecodeError::Tag { what: "family.zero" }));
    assert_eq!(with_family(&[4]), Err(DecodeError::Tag { what: "family" }));
    // Members out of order, and twice.
    for pair in [[1, 0], [1, 1]] {
        let lists = [[0, 1], pair].concat();
        let mut bytes = [&[3u8][..], &number(2)].concat();
        for list in lists.chunks(2) {
            bytes.extend([number(2), number(list[0]), number(list[1])].concat());
        }
        let refused = with_family(&bytes);
        assert!(
            matches!(
                refused,
                Err(DecodeError::Shape(ShapeError::Incidence(IncidenceError::List { .. })))
                    | Err(DecodeError::Shape(ShapeError::Incidence(IncidenceError::Member { .. })))
            ),
            "{refused:?}"
        );
    }
}

/// Lengths and orders that the bytes do not have: refused without reserving or searching for them.
#[test]
fn what_is_announced_is_not_believed() {
    let huge = [0, 1, u32::MAX, u32::MAX - 4, 1 << 24, 4097, 4099, 1 << 31];
    for count in huge {
        let lists = [&[3u8][..], &number(count), &number(count)].concat();
        assert!(with_family(&lists).is_err());
        assert!(with_family(&[&[0u8][..], &number(count)].concat()).is_err() || count == 1);
        for other in huge {
            let hashing = [&[2u8][..], &number(count), &number(other)].concat();
            assert!(with_family(&hashing).is_err());
            for last in huge {
                let parts = [number(count), number(other), number(last), number(count)].concat();
                assert!(with_family(&[&[1u8][..], &parts, &[1]].concat()).is_err());
            }
        }
    }
}

#[test]
fn documents_are_refused_in_words() {
    let document = |channel: &str| {
        let json = format!(
            r#"{{"format":"policy/1","inputs":{{"count":7}},"channel":{channel},"context":{{"kind":"unknown"}},"claims":[]}}"#
        );
        Draft::from_json(&json).unwrap_err().to_string()
    };
    let plane = of(Incidence::new(7, 3 << 46, {
        Family::Geometry(Geometry::new(2, 3, 1, 0, true).unwrap())
    })
    .unwrap());
    let json = plane.to_json();
    let family =
        r#"{"kind":"geometry","order":2,"dimension":3,"classes":1,"cosets":0,"zero":true}"#;
    assert!(json.contains(family), "{json}");
    for (other, words) in [
        (
            r#"{"kind":"geometry","order":6,"dimension":3,"classes":1,"cosets":0,"zero":true}"#,
            "the next one has 7",
        ),
        (
            r#"{"kind":"geometry","order":4294967291,"dimension":3,"classes":1,"cosets":0,"zero":true}"#,
            "order",
        ),
        (
            r#"{"kind":"geometry","order":2,"dimension":2,"classes":1,"cosets":0,"zero":true}"#,
            "3 points",
        ),
        (
            r#"{"kind":"geometry","order":2,"dimension":25,"classes":1,"cosets":0,"zero":true}"#,
            "fewer coordinates",
        ),
        (
            r#"{"kind":"geometry","order":2,"dimension":3,"classes":1,"cosets":1,"zero":true}"#,
            "everything",
        ),
        (r#"{"kind":"subsets","size":7}"#, "choose 1 to 6"),
        (r#"{"kind":"subsets","size":0}"#, "choose 1 to 6"),
        (r#"{"kind":"hashing","buckets":2,"dimension":2}"#, "4 points"),
        (r#"{"kind":"listed","blocks":[[0,1],[2]]}"#, "members"),
        (r#"{"kind":"listed","blocks":[[],[0,1,2,3,4,5,6]]}"#, "tells nothing"),
    ] {
        let changed = json.replace(family, other);
        let without_id: Vec<&str> =
            changed.lines().filter(|line| !line.contains("\"id\"")).collect();
        let error = Draft::from_json(&without_id.join("\n")).unwrap_err().to_string();
        assert!(error.contains(words), "{other}: {error}");
    }
    assert!(document("{}").len() > 10);
}

/// A δ is a sum over all outputs, which nobody takes over blocks; outputs are numbered and have no names.
#[test]
fn blocks_have_no_delta_and_no_names() {
    let subsets =
        || Shape::Incidence(Incidence::new(4, 1 << 47, Family::Subsets(Subsets::new(2))).unwrap());
    let inputs = || Alphabet::indices(4).unwrap();
    let new = |outputs, claim| {
        Draft::new(
            inputs(),
            outputs,
            subsets(),
            Context::Unknown,
            vec![claim],
            Provenance::default(),
        )
    };
    let claim = Claim::ldp(Epsilon::LARGEST);
    let escaping = claim.with_delta(Delta::from_units(1).unwrap());
    assert_eq!(new(None, escaping), Err(DraftError::DeltaOnBits { index: 0 }));
    assert_eq!(new(Some(inputs()), claim), Err(DraftError::Outputs));
}

/// Two symbols, two weights a law and 2^24 blocks: a small document that would take hours, refused where it is read.
#[test]
fn contexts_with_more_laws_than_blocks_can_bear_are_refused() {
    let wide = Geometry::new(2, 24, 1, 0, true).unwrap();
    let shape =
        || Shape::Incidence(Incidence::new(2, 3 << 46, Family::Geometry(wide.clone())).unwrap());
    let even = || Prior::new(vec![WEIGHT_ONE / 2; 2]).unwrap();
    let laws = 1 << 10;
    let mut weights = vec![WEIGHT_ONE / laws as u64; laws];
    weights[0] += WEIGHT_ONE % laws as u64;
    let list = vec![even(); laws];
    let secret = Secret::new("s".into(), Prior::new(weights).unwrap(), list.clone()).unwrap();
    for context in [Context::Each(Priors::new(list).unwrap()), Context::Secret(secret)] {
        let claims = vec![Claim::ldp(Epsilon::LARGEST)];
        let inputs = Alphabet::indices(2).unwrap();
        let refused = Draft::new(inputs, None, shape(), context, claims, Provenance::default());
        assert_eq!(refused, Err(DraftError::Laws { laws }));
    }
}

/// As many blocks as symbols, one symbol each: no pair shares one, which is not found out pair by pair.
#[test]
fn long_lists_are_read_in_one_pass() {
    let symbols = 1 << 17;
    let blocks: Vec<Vec<u32>> = (0..symbols).map(|x| vec![x]).collect();
    let listed = Listed::new(symbols as usize, &blocks).unwrap();
    let blocks = Incidence::new(symbols as usize, 1 << 47, Family::Listed(listed)).unwrap();
    let (all, others) = (u64::from(symbols), u64::from(symbols) - 1);
    assert_eq!(blocks.together(), Some([(0, 1), (1, others)]));
    assert_eq!(blocks.blocks(), Some(all as usize));
}

/// What does not exist is in nothing, and asking for it stops nobody.
#[test]
fn blocks_and_symbols_beyond_the_end_are_in_nothing() {
    let mut random = Random::new(1832);
    for _ in 0..100 {
        let symbols = random.size(2, 7);
        let blocks = random.incidence(symbols);
        for far in [symbols as u32, 1000, u32::MAX] {
            assert!(!blocks.contains(0, far));
            assert_eq!(blocks.nth(far, true, 0), 0);
            for inside in [false, true] {
                if far >= 1000 {
                    assert!(!blocks.contains(far, 0));
                    assert_eq!(blocks.nth(0, inside, far), 0);
                }
            }
        }
    }
}
