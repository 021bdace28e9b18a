//! LDP of everything one person sends.

use super::{exact, is_bound, is_level, plain, random::work, verified};
use crate::common::Random;
use undertone_core::{
    Alphabet, Claim, Context, Draft, Epsilon, Item, Law, Nats, PlanClaim, PlanDraft, PlanRefusal,
    PlanSide, Provenance, Shape, Table,
};

#[test]
fn random_plans_agree_with_every_pair_of_persons() {
    let mut random = Random::new(21);
    let (mut plans, mut shared) = (0, 0);
    while plans < 150 {
        let parts = random.plan(5, 3);
        if work(&parts) > 20_000 {
            continue;
        }
        plans += 1;
        let truth = exact::ldp(&parts);
        let person = verified(parts.clone()).person();
        match person.exact {
            true => assert!(is_level(person.ldp, &truth), "{person:?} {truth:?} {parts:?}"),
            false => {
                shared += 1;
                assert!(is_bound(person.ldp, &truth), "{person:?} {truth:?} {parts:?}");
            }
        }
    }
    assert!(shared > 5, "{shared}");
}

/// A randomised response at an odds ratio.
fn response(odds: (u32, u32)) -> Shape {
    let one = 1u128 << 48;
    let (n, d) = (u128::from(odds.0), u128::from(odds.1));
    // Rounded down, so that the odds are not exceeded.
    let most = (one * n / (n + d)) as u64;
    let rest = (1 << 48) - most;
    Shape::Table(Table::from_masses(vec![vec![most, rest], vec![rest, most]]).unwrap())
}

/// The odds for ldp:1 and ldp:2 have a product above the odds for ldp:3, and the sum of their nats is 3: it is accepted.
#[test]
fn a_sum_that_holds_in_nats_is_accepted() {
    let level = |text: &str| Epsilon::parse(text).unwrap();
    let mut parts =
        plain(vec![response(level("1").odds()), response(level("2").odds())], &[], Law::Unknown);
    for (draft, level) in parts.policies.iter_mut().zip(["1", "2"]) {
        let inputs = Alphabet::indices(2).unwrap();
        let claims = vec![Claim::ldp(Epsilon::parse(level).unwrap())];
        let shape = draft.shape().clone();
        *draft = Draft::new(
            inputs.clone(),
            Some(inputs),
            shape,
            Context::Unknown,
            claims,
            Provenance::default(),
        )
        .unwrap();
    }
    parts.claims = vec![PlanClaim::Person { ldp: "3".parse().unwrap() }];
    verified(parts.clone());
    // A sum that forgot an item would accept this too.
    parts.claims = vec![PlanClaim::Person { ldp: "2.9999".parse().unwrap() }];
    let refusal = PlanDraft::new(parts).unwrap().verify().unwrap_err();
    let PlanRefusal::Claim { side: PlanSide::Ldp, exact: true, .. } = &refusal else {
        panic!("{refusal:?}")
    };
    let words = refusal.to_string();
    assert!(words.contains("q0 1") && words.contains("q1 2"), "{words}");
}

/// Of three drawn items two are answered: the two largest count, wherever they stand.
#[test]
fn the_largest_drawn_items_count() {
    for order in [[2, 3, 5], [5, 3, 2], [3, 5, 2]] {
        let shapes = order.map(|odds| response((odds, 1))).to_vec();
        let mut parts = plain(shapes, &[], Law::Unknown);
        parts.items.iter_mut().for_each(|item| item.weight = 1);
        parts.asked = 2;
        let person = verified(parts).person();
        // ln 15, as rounding down left it.
        let nats = person.ldp.unwrap();
        let ln_15: Nats = "2.7080502012".parse().unwrap();
        assert!(nats.units().abs_diff(ln_15.units()) <= 1 && person.exact, "{nats}");
    }
}

/// A policy that claims what it does not keep makes the plan refused, whatever the plan claims.
#[test]
fn a_false_policy_refuses_the_plan() {
    let mut parts = plain(vec![response((3, 1)), response((4, 1))], &[], Law::Unknown);
    let inputs = Alphabet::indices(2).unwrap();
    let claims = vec![Claim::ldp(Epsilon::parse("1.0986122887").unwrap())];
    let shape = parts.policies[1].shape().clone();
    parts.policies[1] = Draft::new(
        inputs.clone(),
        Some(inputs),
        shape,
        Context::Unknown,
        claims,
        Provenance::default(),
    )
    .unwrap();
    let refusal = PlanDraft::new(parts).unwrap().verify().unwrap_err();
    assert!(matches!(refusal, PlanRefusal::Policy { index: 1, .. }), "{refusal:?}");
}

/// RR(2) kept and RR(1) drawn from it: one report costs .7353, any number what is kept costs.
#[test]
fn a_kept_answer_bounds_any_number_of_reports() {
    let level = |text: &str| Epsilon::parse(text).unwrap().odds();
    let mut parts = plain(vec![response(level("2"))], &[], Law::Unknown);
    parts.policies.push(super::policy(Alphabet::indices(2).unwrap(), response(level("1"))));
    parts.items = vec![Item { questions: vec![0], policy: 0, fresh: Some(1), weight: 0 }];
    let plan = verified(parts);
    let (first, exact) = plan.first_report(0);
    let first = first.unwrap().units();
    assert!(exact && (7_352_000_000..7_354_000_000).contains(&first), "{first}");
    assert_eq!(plan.person().ldp, Some("2".parse().unwrap()));
}
