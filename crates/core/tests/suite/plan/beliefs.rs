//! Exact beliefs: by enumeration, by a policy's own check, along binary trees.

use super::{exact, is_bound, is_level, plain, random::work, verified};
use crate::common::Random;
use undertone_core::{
    Bits, Given, Law, MASS_ONE, Node, PlanClaim, PlanDraft, PlanParts, PlanRefusal, PlanSide,
    Point, Row, Shape, Table, Variable, WEIGHT_ONE,
};

/// All variables of a plan.
pub(crate) fn variables(parts: &PlanParts) -> Vec<Variable> {
    let questions = (0..parts.questions.len() as u32).map(Variable::Question);
    questions.chain((0..parts.secrets.len() as u32).map(Variable::Secret)).collect()
}

#[test]
fn random_plans_agree_with_exhaustive_rationals() {
    let mut random = Random::new(16);
    let (mut plans, mut combined, mut split, mut trees) = (0, 0, 0, 0);
    while plans < 120 {
        let parts = random.plan(6, 3);
        if work(&parts) > 12_000 {
            continue;
        }
        plans += 1;
        combined += usize::from(parts.items.iter().any(|item| item.questions.len() > 1));
        split += usize::from(parts.asked > 0);
        trees += usize::from(matches!(parts.law, Law::Tree(_)));
        let plan = verified(parts.clone());
        for about in variables(&parts) {
            for given in [Given::All, Given::Own] {
                let found = plan.belief(about, given).unwrap();
                let truth = exact::belief(&parts, about, given);
                assert!(found.exact, "{parts:?}");
                assert!(
                    is_level(found.upper, &truth.upper),
                    "{about:?} {found:?} {truth:?} {parts:?}"
                );
                assert!(
                    is_level(found.lower, &truth.lower),
                    "{about:?} {found:?} {truth:?} {parts:?}"
                );
            }
        }
    }
    // The draw reaches what it is meant to reach.
    assert!(combined > 30 && split > 30 && trees > 60, "{combined} {split} {trees}");
}

/// A tree cannot be enumerated where one leaf releases bits of many symbols. With one that has nothing to say about the others the
/// same plan is followed along the tree, and must come out as by enumeration.
#[test]
fn binary_trees_agree_with_enumeration() {
    let mut random = Random::new(17);
    let mut compared = 0;
    while compared < 120 {
        let questions = random.size(2, 5);
        let mut parts = random.plan(questions, 2);
        parts.items.retain(|item| item.questions.len() == 1);
        let single = parts.items.len() == parts.questions.len();
        if !single
            || !matches!(parts.law, Law::Tree(_))
            || parts.asked as usize >= parts.drawn().len() && parts.asked > 0
        {
            continue;
        }
        let used: Vec<u32> = parts.items.iter().map(|item| item.policy).collect();
        parts.policies = used.iter().map(|&at| parts.policies[at as usize].clone()).collect();
        parts.items.iter_mut().zip(0..).for_each(|(item, at)| item.policy = at);
        if parts.drawn().is_empty() {
            parts.asked = 0;
        } else if parts.asked == 0 {
            continue;
        }
        let small = verified(parts.clone());
        let large = verified(with_a_wide_leaf(&parts));
        for about in variables(&parts) {
            let (here, there) = (small.belief(about, Given::All), large.belief(about, Given::All));
            let (here, there) = (here.unwrap(), there.unwrap());
            assert!(here.exact && there.exact, "{parts:?}");
            assert!(
                close(here.upper, there.upper) && close(here.lower, there.lower),
                "{about:?} {here:?} {there:?} {parts:?}"
            );
            compared += 1;
        }
    }
}

fn close(a: Option<undertone_core::Nats>, b: Option<undertone_core::Nats>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a.units().abs_diff(b.units()) <= 2,
        (a, b) => a == b,
    }
}

/// One more question with forty answers, as a leaf whose law does not depend on anything: its bits have too many outcomes to
/// list, and say nothing about the others.
pub(crate) fn with_a_wide_leaf(parts: &PlanParts) -> PlanParts {
    let mut parts = parts.clone();
    let at = parts.questions.len();
    let Law::Tree(nodes) = &mut parts.law else { panic!("not a tree") };
    for node in nodes.iter_mut() {
        // Secrets are numbered behind the questions.
        if let Node::Given { parent, .. } = node
            && *parent as usize >= at
        {
            *parent += 1;
        }
    }
    let mut masses = vec![MASS_ONE / 40; 40];
    masses[0] += MASS_ONE % 40;
    let row = Row::new(masses).unwrap();
    let rows = vec![row; parts.questions[0].answers.len()];
    nodes.insert(at, Node::Given { parent: 0, rows });
    let answers = undertone_core::Alphabet::indices(40).unwrap();
    let bits = Shape::Bits(Bits::new(40, WEIGHT_ONE / 2, WEIGHT_ONE / 3).unwrap());
    parts.policies.push(super::policy(answers.clone(), bits));
    parts.questions.push(undertone_core::Question {
        name: "wide".into(),
        wording: String::new(),
        answers,
    });
    let policy = parts.policies.len() as u32 - 1;
    let questions = vec![at as u32];
    parts.items.push(undertone_core::Item { questions, policy, fresh: None, weight: 0 });
    parts
}

/// Leaves with many answers below a yes/no variable, with listed outputs and with bits: against rationals.
#[test]
fn leaves_of_any_size_below_a_yes_no_variable_are_exact() {
    let mut random = Random::new(18);
    for round in 0..60 {
        let size = random.size(3, 5);
        let leaf = if round % 2 == 0 {
            let own = WEIGHT_ONE / 8 + random.below(WEIGHT_ONE / 2);
            let other = WEIGHT_ONE / 8 + random.below(WEIGHT_ONE / 2);
            Shape::Bits(Bits::new(size, own, other).unwrap())
        } else {
            let rows = (0..size).map(|_| random.positive(3, MASS_ONE)).collect();
            Shape::Table(Table::from_masses(rows).unwrap())
        };
        let middle = {
            let rows = (0..2).map(|_| random.positive(2, MASS_ONE)).collect();
            Shape::Table(Table::from_masses(rows).unwrap())
        };
        // secret - middle - leaf, in either direction.
        let row = |random: &mut Random, size| Row::new(random.positive(size, MASS_ONE)).unwrap();
        let down = random.one_in(2);
        let mut rows = |count: usize, size: usize| -> Vec<Row> {
            (0..count).map(|_| row(&mut random, size)).collect()
        };
        let law = if down {
            let secret = Node::Root(rows(1, 2).remove(0));
            let middle = Node::Given { parent: 2, rows: rows(2, 2) };
            vec![middle, Node::Given { parent: 0, rows: rows(2, size) }, secret]
        } else {
            let leaf = Node::Root(rows(1, size).remove(0));
            let middle = Node::Given { parent: 1, rows: rows(size, 2) };
            vec![middle, leaf, Node::Given { parent: 0, rows: rows(2, 2) }]
        };
        let parts = plain(vec![middle, leaf], &[2], Law::Tree(law));
        let wide = verified(with_a_wide_leaf(&parts));
        for about in [Variable::Question(0), Variable::Secret(0)] {
            let truth = exact::belief(&parts, about, Given::All);
            let found = wide.belief(about, Given::All).unwrap();
            assert!(found.exact, "{parts:?}");
            assert!(is_level(found.upper, &truth.upper), "{found:?} {truth:?} {parts:?}");
            assert!(is_level(found.lower, &truth.lower), "{found:?} {truth:?} {parts:?}");
        }
    }
}

/// Independent questions: each is judged by its own policy, exactly, whatever the shape and however many there are.
#[test]
fn independent_questions_are_exact_however_many() {
    let mut random = Random::new(19);
    let shapes: Vec<Shape> = (0..40)
        .map(|at| match at % 4 {
            0 => random.private(2),
            1 => {
                let kept = (0..300).map(|_| random.below(undertone_core::KEEP_ONE / 2)).collect();
                let base = random.positive(300, MASS_ONE);
                Shape::Keep(undertone_core::Keep::new(kept, base).unwrap())
            }
            2 => Shape::Bits(Bits::new(100, WEIGHT_ONE / 2, WEIGHT_ONE / 5).unwrap()),
            _ => random.private(3),
        })
        .collect();
    let nodes = shapes
        .iter()
        .map(|shape| Node::Root(Row::new(random.positive(shape.inputs(), MASS_ONE)).unwrap()))
        .collect();
    let parts = plain(shapes, &[], Law::Tree(nodes));
    let plan = verified(parts.clone());
    for at in [0usize, 3] {
        let alone = plain(vec![parts.policies[at].shape().clone()], &[], {
            let Law::Tree(nodes) = &parts.law else { panic!() };
            Law::Tree(vec![nodes[at].clone()])
        });
        let truth = exact::belief(&alone, Variable::Question(0), Given::All);
        let found = plan.belief(Variable::Question(at as u32), Given::All).unwrap();
        assert!(found.exact && is_level(found.upper, &truth.upper), "{found:?} {truth:?}");
    }
    for at in 0..40 {
        assert!(plan.belief(Variable::Question(at), Given::All).unwrap().exact);
    }
}

/// What a refusal says is where the exact value is reached.
#[test]
fn a_false_claim_is_refused_with_the_place_that_shows_it() {
    // Two answers that are always the same, each told with odds 3: together 9.
    let table = || {
        let rows = vec![vec![3 << 46, 1 << 46], vec![1 << 46, 3 << 46]];
        Shape::Table(Table::from_masses(rows).unwrap())
    };
    let point = |value| Point { weight: MASS_ONE / 2, values: vec![value, value] };
    let mut parts = plain(vec![table(), table()], &[], Law::Points(vec![point(0), point(1)]));
    // Belief 1/2 becomes 9/10: rises by ln 1.8, falls by ln 5.
    let (rise, fall) = ("0.587786665", "1.6094379125");
    let claim = |lower: &str, upper: &str| PlanClaim::Question {
        which: 0,
        given: Given::All,
        lower: lower.parse().unwrap(),
        upper: upper.parse().unwrap(),
    };
    parts.claims = vec![claim(fall, rise)];
    verified(parts.clone());
    for (lower, upper, side) in
        [(fall, "0.5877866649", PlanSide::Upper), ("1.6094379124", rise, PlanSide::Lower)]
    {
        parts.claims = vec![claim(lower, upper)];
        let refusal = PlanDraft::new(parts.clone()).unwrap().verify().unwrap_err();
        let PlanRefusal::Claim { index: 0, side: found, exact: true, .. } = &refusal else {
            panic!("{refusal:?}")
        };
        assert_eq!(*found, side);
        let words = refusal.to_string();
        assert!(words.contains("q0 = ") && words.contains("q1 = "), "{words}");
    }
    // Each item alone: 1/2 becomes 3/4.
    let own =
        verified(parts_with(&parts, super::anything())).belief(Variable::Question(0), Given::Own);
    assert_eq!(own.unwrap().upper, Some("0.4054651082".parse().unwrap()));
}

fn parts_with(parts: &PlanParts, claim: PlanClaim) -> PlanParts {
    PlanParts { claims: vec![claim], ..parts.clone() }
}

/// A tree read in the wrong direction gives another number: the test would see it.
#[test]
fn the_direction_of_a_tree_matters() {
    let table = Shape::Table(
        Table::from_masses(vec![vec![3 << 46, 1 << 46], vec![1 << 46, 3 << 46]]).unwrap(),
    );
    let row = |first: u64| Row::new(vec![first, MASS_ONE - first]).unwrap();
    let rows = vec![row(MASS_ONE / 10), row(MASS_ONE / 10 * 3)];
    let law = |asked_first: bool| match asked_first {
        true => vec![Node::Root(row(MASS_ONE / 5)), Node::Given { parent: 0, rows: rows.clone() }],
        false => vec![Node::Given { parent: 1, rows: rows.clone() }, Node::Root(row(MASS_ONE / 5))],
    };
    let level = |asked_first: bool| {
        let parts = plain(vec![table.clone()], &[2], Law::Tree(law(asked_first)));
        let truth = exact::belief(&parts, Variable::Secret(0), Given::All);
        let found = verified(parts).belief(Variable::Secret(0), Given::All).unwrap();
        assert!(is_level(found.upper, &truth.upper) && is_bound(found.lower, &truth.lower));
        found.upper
    };
    assert_ne!(level(true), level(false));
}

/// Beliefs that share the steps are exact as long as their share lasts, and safe bounds beyond it.
#[test]
fn many_beliefs_share_the_steps() {
    let mut random = Random::new(26);
    for _ in 0..20 {
        let channel = |random: &mut Random| {
            let rows = (0..3).map(|_| random.positive(3, MASS_ONE)).collect();
            Shape::Table(Table::from_masses(rows).unwrap())
        };
        let shapes: Vec<Shape> = (0..4).map(|_| channel(&mut random)).collect();
        let rows = |count: usize, random: &mut Random| -> Vec<Row> {
            (0..count).map(|_| Row::new(random.positive(3, MASS_ONE)).unwrap()).collect()
        };
        let mut law = vec![Node::Root(rows(1, &mut random).remove(0))];
        law.extend((1..4).map(|v| Node::Given { parent: v - 1, rows: rows(3, &mut random) }));
        let plan = verified(plain(shapes, &[], Law::Tree(law)));
        let among =
            |beliefs| plan.belief_among(Variable::Question(0), Given::All, beliefs).unwrap();
        let (alone, shared) = (among(1), among(1 << 20));
        assert_eq!(Some(&alone), plan.belief(Variable::Question(0), Given::All).as_ref());
        assert!(alone.exact && !shared.exact);
        assert!(shared.upper.is_none_or(|upper| alone.upper.unwrap() <= upper));
        assert!(shared.lower.is_none_or(|lower| alone.lower.unwrap() <= lower));
    }
}
