//! Bounds where nothing is enumerated, and repeated periods.

use super::beliefs::{variables, with_a_wide_leaf};
use super::{exact, is_bound, plain, random::work, verified};
use crate::common::Random;
use undertone_core::{Bits, Given, Law, MASS_ONE, Node, Row, Shape, Table, Variable, WEIGHT_ONE};

/// A plan that cannot be enumerated because of a leaf beside it, which says nothing about the others, tells what it told without
/// it, so a bound for it must not be below that.
#[test]
fn bounds_are_never_below_the_exact_value() {
    let mut random = Random::new(20);
    let (mut plans, mut bounds, mut by_pairs) = (0, 0, 0);
    while plans < 150 {
        let parts = random.plan(4, 3);
        if work(&parts) > 5_000 || !matches!(parts.law, Law::Tree(_)) {
            continue;
        }
        plans += 1;
        let plan = verified(with_a_wide_leaf(&parts));
        let whole = plan.person().ldp.unwrap();
        for about in variables(&parts) {
            let truth = exact::belief(&parts, about, Given::All);
            let found = plan.belief(about, Given::All).unwrap();
            assert!(is_bound(found.upper, &truth.upper), "{about:?} {found:?} {truth:?}");
            assert!(is_bound(found.lower, &truth.lower), "{about:?} {found:?} {truth:?}");
            assert!(
                found.upper <= Some(whole) && found.lower <= Some(whole),
                "{found:?} {whole:?}"
            );
            bounds += usize::from(!found.exact);
            let single = parts.items.iter().all(|item| item.questions.len() == 1);
            by_pairs += usize::from(!found.exact && single);
        }
    }
    assert!(bounds > 100 && by_pairs > 50, "{bounds} {by_pairs}");
}

/// The reference trees of the specification: what is known about a child says less about its parent.
#[test]
fn a_bound_shrinks_along_weak_edges() {
    let bits = || Shape::Bits(Bits::new(40, WEIGHT_ONE / 2, WEIGHT_ONE / 4).unwrap());
    let row = |shift: u64| {
        let mut masses = vec![MASS_ONE / 40; 40];
        masses[0] += MASS_ONE % 40 + shift;
        masses[1] -= shift;
        Row::new(masses).unwrap()
    };
    let three = vec![MASS_ONE / 2, MASS_ONE / 4, MASS_ONE / 4];
    let nodes = vec![
        Node::Given { parent: 1, rows: vec![row(0), row(MASS_ONE / 100), row(MASS_ONE / 50)] },
        Node::Root(Row::new(three).unwrap()),
    ];
    let plan = verified(plain(vec![bits()], &[3], Law::Tree(nodes)));
    let belief = plan.belief(Variable::Secret(0), Given::All).unwrap();
    assert!(!belief.exact);
    // ln 3 about the answer, of whose law 1 % or 2 % depend on the secret: 1.02 and 1.04 between two values.
    let ldp = plan.person().ldp.unwrap();
    assert_eq!(ldp, "1.0986122887".parse().unwrap());
    // The last value of the secret: ln(1/4 + 1.04/2 + 1.02/4).
    assert_eq!(belief.lower, Some("0.0246926126".parse().unwrap()));
}

/// Over several periods belief is bounded by the LDP of all of them, whatever the values did in between.
#[test]
fn periods_are_bounded_by_their_ldp() {
    let table = Shape::Table(
        Table::from_masses(vec![vec![3 << 46, 1 << 46], vec![1 << 46, 3 << 46]]).unwrap(),
    );
    let half = Row::new(vec![MASS_ONE / 2, MASS_ONE / 2]).unwrap();
    let mut parts = plain(vec![table], &[], Law::Tree(vec![Node::Root(half)]));
    parts.periods = 2;
    let plan = verified(parts);
    let person = plan.person();
    assert_eq!((person.ldp, person.exact), (Some("2.1972245774".parse().unwrap()), true));
    let belief = plan.belief(Variable::Question(0), Given::All).unwrap();
    // ln(1/2 + 9/2) and ln(1/(1/2 + 1/18)).
    assert_eq!(belief.lower, Some("1.6094379125".parse().unwrap()));
    assert_eq!(belief.upper, Some("0.587786665".parse().unwrap()));
    assert!(!belief.exact);
}
