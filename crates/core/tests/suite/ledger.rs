//! Budgets: what adds up is added, what does not is refused.

#![allow(clippy::unwrap_used, clippy::result_large_err)]

use crate::common::{
    self, Q, Random, alip, doubt, draft, exp, level, ln, nats, past, prior, ratio, table,
};
use undertone_core::{
    Bits, Claim, Consent, Context, Decision, Delta, Draft, Epsilon, KEEP_ONE, Keep, Ledger,
    LedgerError, MASS_ONE, Nats, Permit, Policy, Release, Secret, Sequence, Shape, WEIGHT_ONE,
};

const BUDGET: &str = "3";

fn budget(text: &str) -> Nats {
    Nats::parse_down(text).unwrap()
}

/// Binary randomised response with odds 3, costing ln 3; `mark` makes policies differ.
fn response(mark: u64) -> Policy {
    let quarter = MASS_ONE / 4;
    let shape = table(&[&[3 * quarter, quarter], &[quarter, 3 * quarter]]);
    let draft = draft(shape, Context::Unknown, vec![Claim::ldp(level(3, 1))]);
    marked(&draft, mark).verify().unwrap()
}

/// The same draft under another identity.
fn marked(draft: &Draft, mark: u64) -> Draft {
    let provenance = undertone_core::Provenance { n: mark, ..Default::default() };
    let outputs = matches!(draft.shape(), Shape::Table(_)).then(|| draft.outputs().clone());
    let (inputs, shape, context) = (draft.inputs(), draft.shape(), draft.context());
    let claims = draft.claims().to_vec();
    Draft::new(inputs.clone(), outputs, shape.clone(), context.clone(), claims, provenance).unwrap()
}

fn fresh(decision: Result<Decision, LedgerError>) -> Permit {
    match decision {
        Ok(Decision::Fresh(permit)) => permit,
        other => panic!("{other:?}"),
    }
}

/// A deterministic table: input x is released as group[x].
fn partition(groups: &[usize]) -> Shape {
    let outputs = groups.iter().max().unwrap() + 1;
    let row = |&group: &usize| {
        let mut row = vec![0; outputs];
        row[group] = MASS_ONE;
        row
    };
    let rows: Vec<Vec<u64>> = groups.iter().map(row).collect();
    table(&rows.iter().map(Vec::as_slice).collect::<Vec<_>>())
}

#[test]
fn costs_add_up_until_the_budget_is_spent() {
    let mut ledger = Ledger::new(budget(BUDGET));
    let cost = response(0).certificate().input.ldp.ratio.ln_up().unwrap();
    assert_eq!(cost.to_string(), "1.0986122887");
    assert_eq!(ledger.spent("age"), Some(Nats::ZERO));
    for mark in 1..=2 {
        let _permit =
            fresh(ledger.request("age", &response(mark), &Sequence::new(), &Consent::UNLIMITED));
        assert_eq!(ledger.spent("age"), Some(Nats::from_units(mark * cost.units())));
    }
    let spent = Nats::from_units(2 * cost.units());
    let expected = LedgerError::Budget { spent, cost, budget: budget(BUDGET) };
    let refused =
        ledger.request("age", &response(3), &Sequence::new(), &Consent::UNLIMITED).unwrap_err();
    assert_eq!(refused, expected);
    for part in ["3 nats", "2.1972245774", "1.0986122887"] {
        assert!(refused.to_string().contains(part), "{refused}");
    }
    // Refusal costs nothing, and another datum has a budget of its own.
    assert_eq!(ledger.spent("age"), Some(spent));
    let _permit =
        fresh(ledger.request("income", &response(3), &Sequence::new(), &Consent::UNLIMITED));
    assert_eq!(ledger.spent("income"), Some(cost));
}

/// A budget is spent to its last unit and not one beyond.
#[test]
fn the_edge_of_the_budget() {
    let cost = response(0).certificate().input.ldp.ratio.ln_up().unwrap();
    for (units, allowed) in [(2 * cost.units(), true), (2 * cost.units() - 1, false)] {
        let mut ledger = Ledger::new(Nats::from_units(units));
        let _first =
            fresh(ledger.request("age", &response(1), &Sequence::new(), &Consent::UNLIMITED));
        assert_eq!(
            ledger.request("age", &response(2), &Sequence::new(), &Consent::UNLIMITED).is_ok(),
            allowed
        );
    }
    // A first release is held to the budget too, and a free one always passes.
    let mut ledger = Ledger::new(Nats::ZERO);
    assert!(ledger.request("age", &response(1), &Sequence::new(), &Consent::UNLIMITED).is_err());
    let silent = draft(
        table(&[&[MASS_ONE], &[MASS_ONE]]),
        Context::Unknown,
        vec![Claim::ldp(Epsilon::ZERO)],
    );
    let _permit = fresh(ledger.request(
        "age",
        &silent.verify().unwrap(),
        &Sequence::new(),
        &Consent::UNLIMITED,
    ));
    assert_eq!(ledger.spent("age"), Some(Nats::ZERO));
}

/// Past releases whose sum is too large for a number are above every budget, also where the claims of all releases
/// hold together.
#[test]
fn a_sum_past_the_largest_number_is_no_leave() {
    let shape = table(&[&[MASS_ONE], &[MASS_ONE]]);
    let silent = draft(shape, Context::Unknown, vec![Claim::ldp(Epsilon::ZERO)]).verify().unwrap();
    let largest = Nats::from_units(u64::MAX);
    let release = Release { policy: silent.id(), cost: Some(largest) };
    let mut past = Sequence::new();
    past.untold(&silent);
    past.untold(&silent);
    assert_eq!(past.after(&silent).claims, Some(true));
    let mut ledger = Ledger::restore(largest, [("age".into(), vec![release; 2])]);
    let refused = ledger.spend("age", &silent, &past, &Consent::UNLIMITED).unwrap_err();
    let expected = LedgerError::Budget { spent: largest, cost: Nats::ZERO, budget: largest };
    assert_eq!(refused, expected);
    assert_eq!(ledger.releases().map(|(_, past)| past.len()).sum::<usize>(), 2);
}

#[test]
fn a_repeat_costs_nothing_but_a_second_draw_does() {
    let mut ledger = Ledger::new(budget(BUDGET));
    let policy = response(0);
    let _permit = fresh(ledger.request("age", &policy, &Sequence::new(), &Consent::UNLIMITED));
    let spent = ledger.spent("age");
    for _ in 0..10 {
        assert!(matches!(
            ledger.request("age", &policy, &Sequence::new(), &Consent::UNLIMITED),
            Ok(Decision::Repeat)
        ));
        assert_eq!(ledger.spent("age"), spent);
    }
    // Asking for an independent answer is a new release.
    let _permit = ledger.spend("age", &policy, &Sequence::new(), &Consent::UNLIMITED).unwrap();
    assert_eq!(ledger.spent("age").unwrap().units(), 2 * spent.unwrap().units());
    assert!(matches!(
        ledger.spend("age", &policy, &Sequence::new(), &Consent::UNLIMITED),
        Err(LedgerError::Budget { .. })
    ));
    // With the budget gone the remembered answer may still be sent.
    assert!(matches!(
        ledger.request("age", &policy, &Sequence::new(), &Consent::UNLIMITED),
        Ok(Decision::Repeat)
    ));
}

#[test]
fn storing_and_restoring_keeps_every_release() {
    let mut ledger = Ledger::new(budget(BUDGET));
    for (datum, mark) in [("age", 1), ("age", 2), ("income", 1)] {
        let _permit =
            fresh(ledger.request(datum, &response(mark), &Sequence::new(), &Consent::UNLIMITED));
    }
    let stored: Vec<(String, Vec<Release>)> =
        ledger.releases().map(|(datum, releases)| (datum.into(), releases.to_vec())).collect();
    let restored = Ledger::restore(ledger.budget(), stored.clone());
    assert_eq!(restored, ledger);
    // Stored one line per release, nothing is forgotten either.
    let lines = stored.iter().flat_map(|(datum, releases)| {
        releases.iter().map(|&release| (datum.clone(), vec![release]))
    });
    let mut restored = Ledger::restore(ledger.budget(), lines);
    assert_eq!(restored, ledger);
    assert!(restored.request("age", &response(3), &Sequence::new(), &Consent::UNLIMITED).is_err());
    // Sums past the largest number count as unbounded, not as small.
    let huge = Release { policy: response(1).id(), cost: Some(Nats::from_units(u64::MAX)) };
    let mut full = Ledger::restore(Nats::from_units(u64::MAX), [("age".into(), vec![huge])]);
    assert!(full.request("age", &response(2), &Sequence::new(), &Consent::UNLIMITED).is_err());
    let mut over = Ledger::restore(Nats::from_units(u64::MAX), [("age".into(), vec![huge, huge])]);
    assert!(over.request("age", &response(2), &Sequence::new(), &Consent::UNLIMITED).is_err());
}

/// ln(p + (1-p)e^L), p the lightest symbol: never below, and within 10^-9.
#[test]
fn what_the_budget_means_for_belief() {
    let mut random = Random::new(61);
    for round in 0..400 {
        let units = match round % 4 {
            0 => random.below(10),
            1 => random.magnitude(40),
            2 => random.below(1_000_000_000_000),
            _ => random.below(1_200_000_000_000),
        };
        let size = random.size(1, 4);
        let context = random.prior(size);
        let release = Release { policy: response(0).id(), cost: Some(Nats::from_units(units)) };
        let ledger = Ledger::restore(Nats::ZERO, [("age".into(), vec![release])]);
        let found = nats(ledger.lip_consequence("age", &context).unwrap());
        let lightest = common::binary(*context.weights().iter().min().unwrap(), 32);
        let spent = nats(Nats::from_units(units));
        let odds = &lightest + (Q::ONE - &lightest) * exp(&spent);
        let truth = if odds == Q::ONE { Q::ZERO } else { ln(&odds) };
        assert!(&found + doubt() >= truth, "{found} < {truth}");
        assert!(&found - truth <= ratio(1, 1_000_000_000), "{found}");
        assert!(found <= spent);
    }
    let ledger = Ledger::new(budget(BUDGET));
    let even = prior(&[WEIGHT_ONE / 2, WEIGHT_ONE / 2]);
    assert_eq!(ledger.lip_consequence("age", &even), Some(Nats::ZERO));
    // Past what can be written, belief is bounded by the LDP level itself.
    let release = Release { policy: response(0).id(), cost: Some(budget("500")) };
    let ledger = Ledger::restore(budget("999"), [("age".into(), vec![release])]);
    assert_eq!(ledger.lip_consequence("age", &even), Some(budget("500")));
    // Nothing is known about belief where nothing finite was spent.
    let release = Release { policy: response(0).id(), cost: None };
    let ledger = Ledger::restore(budget("999"), [("age".into(), vec![release])]);
    assert_eq!((ledger.spent("age"), ledger.lip_consequence("age", &even)), (None, None));
}

/// The consequence bounds what two given releases really leak.
#[test]
fn the_consequence_covers_the_joint_channel() {
    let quarter = MASS_ONE / 4;
    let mut ledger = Ledger::new(budget(BUDGET));
    for mark in 1..=2 {
        let _permit =
            fresh(ledger.request("age", &response(mark), &Sequence::new(), &Consent::UNLIMITED));
    }
    for weights in [[1, WEIGHT_ONE - 1], [WEIGHT_ONE / 4, 3 * (WEIGHT_ONE / 4)]] {
        let bound = ledger.lip_consequence("age", &prior(&weights)).unwrap();
        let joint = table(&[
            &[9 * (quarter / 4), 3 * (quarter / 4), 3 * (quarter / 4), quarter / 4],
            &[quarter / 4, 3 * (quarter / 4), 3 * (quarter / 4), 9 * (quarter / 4)],
        ]);
        let claims = vec![Claim::ldp(Epsilon::LARGEST)];
        let (strength, _) = draft(joint, Context::Known(prior(&weights)), claims).strength();
        assert!(strength.lip().unwrap().ln_up().unwrap() <= bound);
    }
}

/// The specification's joint Q36, in integers: P(s) in units of 2^-32 and P(x|s) likewise, each
/// rounded down with the rest given to the largest.
fn q36() -> Secret {
    let golden: Q =
        Q::from_parts(6_180_339_887_498_949u64.into(), 10_000_000_000_000_000u64.into());
    let cell = |s: u64, x: u64| {
        let k = s * 6 + x + 1;
        let product = Q::from(k * k) * &golden;
        &product - Q::from(product.floor())
    };
    let quantised = |parts: &[Q]| {
        let total = common::sum(parts.iter().cloned());
        let unit = Q::from(WEIGHT_ONE);
        let mut weights: Vec<u64> =
            parts.iter().map(|p| (p * &unit / &total).floor().try_into().unwrap()).collect();
        let largest = (0..weights.len()).max_by_key(|&at| weights[at]).unwrap();
        weights[largest] += WEIGHT_ONE - weights.iter().sum::<u64>();
        prior(&weights)
    };
    let rows: Vec<Vec<Q>> = (0..3).map(|s| (0..6).map(|x| cell(s, x)).collect()).collect();
    let masses: Vec<Q> = rows.iter().map(|row| common::sum(row.iter().cloned())).collect();
    let given = rows.iter().map(|row| quantised(row)).collect();
    Secret::new("s".into(), quantised(&masses), given).unwrap()
}

/// Rounded to `places` decimals.
fn rounded(value: &Q, places: u32) -> String {
    let scale = 10u64.pow(places);
    let units: u64 = (value * Q::from(scale) + ratio(1, 2)).floor().try_into().unwrap();
    format!("{}.{:0width$}", units / scale, units % scale, width = places as usize)
}

/// Deterministic groups that each meet alip:.5,.3 on the secret, and together release X.
#[test]
fn the_q36_pair_is_refused() {
    let context = Context::Secret(q36());
    let claim = alip(Epsilon::parse("0.5").unwrap(), Epsilon::parse("0.3").unwrap()).about_secret();
    let policy =
        |groups: &[usize]| draft(partition(groups), context.clone(), vec![claim]).verify().unwrap();
    let (first, second) = (policy(&[0, 1, 2, 0, 1, 2]), policy(&[0, 1, 1, 1, 1, 0]));
    // Together they tell every x: the leakage of X itself, W02 and W03 of the specification.
    let whole = draft(partition(&[0, 1, 2, 3, 4, 5]), context.clone(), vec![claim]);
    let (input, secret) = whole.strength();
    assert!(input.ldp.ratio.is_unbounded());
    let falls = common::value(secret.unwrap().lower.unwrap().ratio).unwrap();
    assert_eq!(rounded(&ln(&falls), 4), "1.5314");
    let rises = common::value(secret.unwrap().upper.unwrap().ratio).unwrap();
    assert_eq!(rounded(&ln(&rises), 6), "0.765238");
    assert!(whole.verify().is_err());

    for (a, b) in [(&first, &second), (&second, &first)] {
        let mut ledger = Ledger::new(budget(BUDGET));
        let _permit = fresh(ledger.request("x", a, &Sequence::new(), &Consent::UNLIMITED));
        assert_eq!(ledger.spent("x"), None);
        // Unchecked without the earlier policy, checked and found wanting with it.
        let unchecked = LedgerError::NotComposable { checked: false };
        assert_eq!(
            ledger.request("x", b, &Sequence::new(), &Consent::UNLIMITED).unwrap_err(),
            unchecked
        );
        assert_eq!(
            ledger.request("x", b, &past(Some(b)), &Consent::UNLIMITED).unwrap_err(),
            unchecked
        );
        let checked = LedgerError::NotComposable { checked: true };
        assert_eq!(
            ledger.request("x", b, &past(Some(a)), &Consent::UNLIMITED).unwrap_err(),
            checked
        );
        assert_ne!(unchecked.to_string(), checked.to_string());
        // Nothing was recorded; the first answer may be repeated, another datum is free.
        assert!(matches!(
            ledger.request("x", a, &Sequence::new(), &Consent::UNLIMITED),
            Ok(Decision::Repeat)
        ));
        assert_eq!(ledger.releases().map(|(_, releases)| releases.len()).sum::<usize>(), 1);
        let _permit = fresh(ledger.request("other x", b, &Sequence::new(), &Consent::UNLIMITED));
    }
}

/// Once per datum, unless both together verify; never a third time.
#[test]
fn a_pair_that_composes_is_accepted_and_a_third_refused() {
    // S is the first of two fair bits of X. The second bit says nothing about S, nor does any
    // further function of it; a trace of the first says a little.
    let quarter = WEIGHT_ONE / 4;
    let rows =
        vec![prior(&[2 * quarter, 2 * quarter, 0, 0]), prior(&[0, 0, 2 * quarter, 2 * quarter])];
    let secret = Secret::new("first bit".into(), prior(&[2 * quarter, 2 * quarter]), rows).unwrap();
    let context = Context::Secret(secret);
    let claim = alip(level(2, 1), level(3, 2)).about_secret();
    let policy = |groups: &[usize], mark: u64| {
        let draft = draft(partition(groups), context.clone(), vec![claim]);
        marked(&draft, mark).verify().unwrap()
    };
    let (first, second, third) =
        (policy(&[0, 1, 0, 1], 1), policy(&[1, 0, 1, 0], 2), policy(&[0, 0, 0, 0], 3));
    let mut ledger = Ledger::new(budget(BUDGET));
    let _permit = fresh(ledger.request("x", &first, &Sequence::new(), &Consent::UNLIMITED));
    let _permit = fresh(ledger.request("x", &second, &past(Some(&first)), &Consent::UNLIMITED));
    assert_eq!(ledger.spent("x"), None);
    // Even one that says nothing: three releases cannot be checked as two.
    for earlier in [None, Some(&first), Some(&second)] {
        let refused = ledger.request("x", &third, &past(earlier), &Consent::UNLIMITED).unwrap_err();
        assert_eq!(refused, LedgerError::NotComposable { checked: false });
    }
    // The same pair in a fresh ledger, with a noisy first bit instead: 3/4 against 1/4 meets the
    // claim once but not twice.
    let q = MASS_ONE / 4;
    let noisy = table(&[&[3 * q, q], &[3 * q, q], &[q, 3 * q], &[q, 3 * q]]);
    let claims = vec![claim];
    let noisy = |mark| {
        marked(&draft(noisy.clone(), context.clone(), claims.clone()), mark).verify().unwrap()
    };
    let (one, two) = (noisy(1), noisy(2));
    let mut ledger = Ledger::new(budget(BUDGET));
    let _permit = fresh(ledger.request("x", &first, &Sequence::new(), &Consent::UNLIMITED));
    let _permit = fresh(ledger.request("x", &one, &past(Some(&first)), &Consent::UNLIMITED));
    // Both have a finite LDP level: here it is the budget that speaks.
    let mut ledger = Ledger::new(budget(BUDGET));
    let _permit = fresh(ledger.request("x", &one, &Sequence::new(), &Consent::UNLIMITED));
    let _permit = fresh(ledger.request("x", &two, &past(Some(&one)), &Consent::UNLIMITED));
    assert_eq!(ledger.spent("x").unwrap().to_string(), "2.1972245774");
}

/// Mixing a policy that adds up with one that does not, in either order.
#[test]
fn a_policy_without_a_finite_level_is_used_alone() {
    let context = Context::Known(prior(&[WEIGHT_ONE / 2, WEIGHT_ONE / 2]));
    let claims = vec![
        alip(Epsilon::LARGEST, level(2, 1)).with_delta(Delta::from_units(MASS_ONE / 2).unwrap()),
    ];
    let whole = draft(partition(&[0, 1]), context, claims).verify().unwrap();
    assert_eq!(whole.certificate().input.ldp.ratio.ln_up(), None);
    for (a, b) in [(whole.clone(), response(1)), (response(1), whole)] {
        let mut ledger = Ledger::new(budget(BUDGET));
        let _permit = fresh(ledger.request("x", &a, &Sequence::new(), &Consent::UNLIMITED));
        // A δ is a sum over outputs and does not survive an adaptive choice: never joined.
        for earlier in [None, Some(&a)] {
            let refused = ledger.request("x", &b, &past(earlier), &Consent::UNLIMITED).unwrap_err();
            assert_eq!(refused, LedgerError::NotComposable { checked: false });
        }
    }
    // Shapes that cannot be listed together exactly are not joined either.
    let keep = Shape::Keep(Keep::new(vec![KEEP_ONE / 2; 2], vec![MASS_ONE, 0]).unwrap());
    let context = || Context::Known(prior(&[WEIGHT_ONE / 2, WEIGHT_ONE / 2]));
    let wide = |shape: Shape| {
        let delta = Delta::from_units(MASS_ONE - 1).unwrap();
        let claim = Claim::ldp(Epsilon::LARGEST);
        let claim = if matches!(shape, Shape::Bits(_)) { claim } else { claim.with_delta(delta) };
        draft(shape, context(), vec![claim]).verify().unwrap()
    };
    let keep = wide(keep);
    let bits = wide(Shape::Bits(Bits::new(2, WEIGHT_ONE / 2, WEIGHT_ONE / 4).unwrap()));
    let mut ledger = Ledger::new(budget(BUDGET));
    let _permit = fresh(ledger.request("x", &keep, &Sequence::new(), &Consent::UNLIMITED));
    let refused = ledger.request("x", &bits, &past(Some(&keep)), &Consent::UNLIMITED).unwrap_err();
    assert_eq!(refused, LedgerError::NotComposable { checked: false });
}

/// The joint check is that of the product channel: on random pairs the ledger decides as the
/// definitions do.
#[test]
fn the_joint_channel_is_the_product() {
    let mut random = Random::new(62);
    let (mut accepted, mut refused) = (0, 0);
    for _ in 0..1500 {
        let inputs = random.size(2, 4);
        let secret = random.secret(inputs);
        let context = Context::Secret(secret.clone());
        let mut side = || {
            let outputs = random.size(1, 4);
            let shape = random.table(inputs, outputs);
            let claim = match random.below(3) {
                0 => Claim::ldp(random.epsilon()),
                _ => alip(random.epsilon(), random.epsilon()),
            };
            draft(shape, context.clone(), vec![claim.about_secret()]).verify()
        };
        let (Ok(a), Ok(b)) = (side(), side()) else { continue };
        let finite = |policy: &Policy| !policy.certificate().input.ldp.ratio.is_unbounded();
        if finite(&a) && finite(&b) || a.id() == b.id() {
            continue;
        }
        let (rows_a, rows_b) = (common::rows(a.draft().shape()), common::rows(b.draft().shape()));
        let pair = |(a, b): (&Vec<Q>, &Vec<Q>)| -> Vec<Q> {
            a.iter().flat_map(|p| b.iter().map(move |q| p * q)).collect()
        };
        let joint: Vec<Vec<Q>> = rows_a.iter().zip(&rows_b).map(pair).collect();
        let (pushed, prior) = common::pushed(&secret, &joint);
        let leakage = common::leakage(&pushed, &[prior]);
        let expected = [&a, &b]
            .iter()
            .all(|policy| common::satisfies(&policy.draft().claims()[0].bound, &leakage));
        let mut ledger = Ledger::new(budget("1000"));
        let _permit = fresh(ledger.request("x", &a, &Sequence::new(), &Consent::UNLIMITED));
        match ledger.request("x", &b, &past(Some(&a)), &Consent::UNLIMITED) {
            Ok(_) => {
                assert!(expected);
                accepted += 1;
            }
            Err(error) => {
                assert_eq!(error, LedgerError::NotComposable { checked: true });
                assert!(!expected);
                refused += 1;
            }
        }
    }
    assert!(accepted > 20 && refused > 20, "{accepted} {refused}");
}
