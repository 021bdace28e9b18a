//! The plan document and its bytes: one form each, and every refusal.

use super::{plain, verified};
use crate::common::Random;
use undertone_core::{
    Alphabet, Given, Law, LawError, MASS_ONE, Node, Plan, PlanClaim, PlanDecodeError, PlanDraft,
    PlanError, PlanParts, Point, Row,
};

/// Plans with everything a document can hold.
fn full(random: &mut Random) -> PlanParts {
    let mut parts = random.plan(5, 3);
    parts.questions[0].wording = "Do you \"smoke\"?\n".into();
    parts.periods = 1 + random.below(3) as u32;
    let level =
        |random: &mut Random| undertone_core::Nats::from_units(random.below(1 << 40) + (1 << 44));
    for which in 0..parts.questions.len() as u32 {
        let given = if random.one_in(2) { Given::All } else { Given::Own };
        let (lower, upper) = (level(random), level(random));
        let lower = if random.one_in(2) { upper } else { lower };
        parts.claims.push(PlanClaim::Question { which, given, lower, upper });
    }
    for which in 0..parts.secrets.len() as u32 {
        let upper = level(random);
        parts.claims.push(PlanClaim::Secret { which, lower: upper, upper });
    }
    // A level that a document can hold.
    parts.claims[0] = PlanClaim::Person { ldp: level(random) };
    parts
}

#[test]
fn documents_and_bytes_are_read_back() {
    let mut random = Random::new(23);
    for _ in 0..200 {
        let draft = PlanDraft::new(full(&mut random)).unwrap();
        assert_eq!(PlanDraft::from_json(&draft.to_json()).unwrap(), draft);
        let bytes = draft.to_bytes();
        assert_eq!(PlanDraft::from_bytes(&bytes).unwrap(), draft);
        for end in (0..bytes.len()).step_by(7) {
            assert!(PlanDraft::from_bytes(&bytes[..end]).is_err(), "{end} of {}", bytes.len());
        }
        let longer = [&bytes[..], &[0]].concat();
        assert!(PlanDraft::from_bytes(&longer).is_err());
    }
}

/// No byte can be changed without changing the plan, or refusing it.
#[test]
fn a_changed_byte_is_another_plan_or_none() {
    let mut random = Random::new(24);
    let draft = PlanDraft::new(full(&mut random)).unwrap();
    let bytes = draft.to_bytes();
    for at in 0..bytes.len() {
        for flip in [1u8, 0x80, 0xff] {
            let mut changed = bytes.clone();
            changed[at] ^= flip;
            if let Ok(other) = PlanDraft::from_bytes(&changed) {
                assert_ne!(other, draft);
                assert_eq!(other.to_bytes(), changed);
            }
        }
    }
}

#[test]
fn a_stated_id_must_be_the_content_s_own() {
    let mut random = Random::new(25);
    let draft = PlanDraft::new(full(&mut random)).unwrap();
    let id = draft.id().to_string();
    let forged = draft.to_json().replace(&id, &"0".repeat(64));
    let Err(PlanDecodeError::Id { actual }) = PlanDraft::from_json(&forged) else { panic!() };
    assert_eq!(actual, id);
}

/// A plan of two yes/no questions with a law.
fn small() -> PlanParts {
    let mut random = Random::new(26);
    let shapes = vec![random.private(2), random.private(2)];
    let row = || Row::new(vec![MASS_ONE / 2, MASS_ONE / 2]).unwrap();
    plain(
        shapes,
        &[],
        Law::Tree(vec![Node::Root(row()), Node::Given { parent: 0, rows: vec![row(), row()] }]),
    )
}

fn refused(change: impl FnOnce(&mut PlanParts)) -> PlanError {
    let mut parts = small();
    change(&mut parts);
    PlanDraft::new(parts).unwrap_err()
}

#[test]
fn parts_that_do_not_fit_are_named() {
    verified(small());
    let named = |error: PlanError, text: &str| {
        let words = error.to_string();
        assert!(words.contains(text), "{words:?} does not say {text:?}");
    };
    named(refused(|p| p.questions[1].name = "q0".into()), "\"q0\"");
    named(refused(|p| p.questions[1].name = String::new()), "1 to 200 bytes");
    named(refused(|p| p.questions[0].wording = "x".repeat(2001)), "\"q0\"");
    named(refused(|p| p.questions[0].answers = Alphabet::names(["a", "b"]).unwrap()), "q0");
    named(refused(|p| p.items[1].questions = vec![2]), "item 1");
    named(refused(|p| p.items[1].questions = vec![1, 1]), "item 1");
    named(refused(|p| p.items[1].questions = vec![1, 0]), "item 1");
    named(refused(|p| p.items[1].questions = Vec::new()), "item 1");
    named(refused(|p| p.items[1].questions = vec![0, 1]), "4 bare indices");
    named(refused(|p| p.items[1].policy = 2), "policy 2");
    named(refused(|p| p.items[1].fresh = Some(7)), "fresh 7");
    named(refused(|p| p.items.truncate(1)), "\"q1\" is in no item");
    named(refused(|p| p.items[1].policy = 0), "policy 1 is used by no item");
    named(refused(|p| p.asked = 1), "0 items with a weight");
    named(refused(|p| p.items[1].weight = 3), "0 are asked of 1 items");
    named(refused(|p| p.items.iter_mut().for_each(|i| i.weight = 1)), "0 are asked of 2 items");
    named(refused(|p| p.periods = 0), "periods");
    named(refused(|p| p.claims.clear()), "claims");
    let level = undertone_core::Nats::ZERO;
    let question =
        |which| PlanClaim::Question { which, given: Given::All, lower: level, upper: level };
    named(refused(|p| p.claims.push(question(2))), "claim 1");
    named(
        refused(|p| {
            p.law = Law::Unknown;
            p.claims.push(question(0));
        }),
        "give a law",
    );
    named(
        refused(|p| p.claims.push(PlanClaim::Secret { which: 0, lower: level, upper: level })),
        "claim 1",
    );
}

#[test]
fn laws_that_are_none_are_named() {
    let law = |law: Law| {
        let PlanError::Law(error) = refused(|p| p.law = law) else { panic!() };
        error
    };
    let row = |masses: &[u64]| Row::new(masses.to_vec()).unwrap();
    let half = MASS_ONE / 2;
    let root = || Node::Root(row(&[half, half]));
    let given = |parent, rows| Node::Given { parent, rows };
    let both = || vec![row(&[half, half]), row(&[half, half])];
    assert!(matches!(law(Law::Tree(vec![root()])), LawError::Sizes { .. }));
    let three = row(&[half, half / 2, half / 2]);
    assert!(matches!(
        law(Law::Tree(vec![root(), Node::Root(three)])),
        LawError::Sizes { variable: 1, .. }
    ));
    assert!(matches!(
        law(Law::Tree(vec![root(), given(0, vec![row(&[half, half])])])),
        LawError::Sizes { variable: 1, .. }
    ));
    assert_eq!(law(Law::Tree(vec![root(), given(2, both())])), LawError::Parent { variable: 1 });
    assert_eq!(
        law(Law::Tree(vec![given(1, both()), given(0, both())])),
        LawError::Parent { variable: 0 }
    );
    assert_eq!(law(Law::Tree(vec![given(0, both()), root()])), LawError::Parent { variable: 0 });
    let nought = || vec![row(&[0, MASS_ONE]), row(&[0, MASS_ONE])];
    assert_eq!(
        law(Law::Tree(vec![root(), given(0, nought())])),
        LawError::Nought { variable: 1, value: 0 }
    );
    assert_eq!(
        law(Law::Tree(vec![Node::Root(row(&[MASS_ONE, 0])), root()])),
        LawError::Nought { variable: 0, value: 1 }
    );
    let point = |weight, values: &[u32]| Point { weight, values: values.to_vec() };
    assert_eq!(law(Law::Points(Vec::new())), LawError::Count { found: 0 });
    let points = |list: Vec<Point>| law(Law::Points(list));
    assert_eq!(
        points(vec![point(half, &[0, 0]), point(half, &[0, 0])]),
        LawError::Order { point: 1 }
    );
    assert_eq!(
        points(vec![point(half, &[1, 0]), point(half, &[0, 1])]),
        LawError::Order { point: 1 }
    );
    assert_eq!(
        points(vec![point(half, &[0, 0]), point(half, &[1, 2])]),
        LawError::Point { point: 1 }
    );
    assert_eq!(points(vec![point(half, &[0]), point(half, &[1, 1])]), LawError::Point { point: 0 });
    assert_eq!(
        points(vec![point(half, &[0, 0]), point(half - 1, &[1, 1])]),
        LawError::Sum { found: u128::from(MASS_ONE - 1) }
    );
    assert_eq!(
        points(vec![point(half, &[0, 0]), point(half, &[1, 0])]),
        LawError::Nought { variable: 1, value: 1 }
    );
    let secret = PlanDraft::new(PlanParts {
        secrets: vec![undertone_core::SecretVariable {
            name: "s".into(),
            values: Alphabet::indices(2).unwrap(),
        }],
        law: Law::Unknown,
        ..small()
    });
    assert_eq!(secret.unwrap_err(), PlanError::Law(LawError::Secrets));
}

#[test]
fn texts_that_are_no_documents_are_refused() {
    let good = PlanDraft::new(small()).unwrap().to_json();
    assert!(Plan::from_json(&good.replace(&"18446744073709551615".to_owned(), "1")).is_err());
    let edits: [(&str, &str); 12] = [
        ("\"plan/1\"", "\"plan/2\""),
        ("\"law\"", "\"laws\""),
        ("\"items\": [", "\"items\": [[], "),
        ("\"parent\":\"q0\"", "\"parent\":\"q9\""),
        ("\"questions\":[\"q1\"]", "\"questions\":[\"q9\"]"),
        ("\"about\":\"person\"", "\"about\":\"people\""),
        ("\"notion\":\"ldp\"", "\"notion\":\"lip\""),
        ("\"policy\":1", "\"policy\":1.0"),
        ("\"policy\":1", "\"policy\":-1"),
        ("\"kind\": \"tree\"", "\"kind\": \"forest\""),
        ("\"policies\": [", "\"policies\": [null, "),
        ("{\"weights\"", "{\"parent\":\"q1\",\"weights\""),
    ];
    for (old, new) in edits {
        let text = good.replacen(old, new, 1);
        assert_ne!(text, good, "{old}");
        assert!(PlanDraft::from_json(&text).is_err(), "{old} -> {new}");
    }
    for level in ["1.0", "01", "1e0", "-1", ".5", "0.12345678901", ""] {
        let mut parts = small();
        parts.claims =
            vec![PlanClaim::Person { ldp: undertone_core::Nats::from_units(30_000_000_000) }];
        let text = PlanDraft::new(parts).unwrap().to_json();
        let text = text.replacen("\"nats\":\"3\"", &format!("\"nats\":\"{level}\""), 1);
        assert!(PlanDraft::from_json(&text).is_err(), "{level}");
    }
}
