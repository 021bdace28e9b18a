//! The warning lamp: it lights for a wrong prior and for reports nobody could have sent, and not
//! otherwise.

use undertone_core::{
    Alphabet, Context, Policy, Prior, PriorBox, Priors, Secret, Shape, WEIGHT_ONE,
};
use undertone_estimate::drift::ALARM;
use undertone_estimate::{Drift, Estimator, Pool, Settings, Tally};
use undertone_testkit::dice::Dice;
use undertone_testkit::policy::{self, assumed, binary, keep, krr, oue, row, table};
use undertone_testkit::respondents::Source;
use undertone_testkit::respondents::multinomial;

const FOUR: [f64; 4] = [0.4, 0.3, 0.2, 0.1];
const OTHER: [f64; 4] = [0.25, 0.25, 0.25, 0.25];

fn indices(size: usize) -> Alphabet {
    Alphabet::indices(size).unwrap()
}

fn prior(p: &[f64]) -> Prior {
    Prior::new(undertone_design::quantize::largest_remainder(p, WEIGHT_ONE)).unwrap()
}

fn drift(policy: &Policy, tally: Tally) -> Drift {
    let pool = Pool::new(policy, tally).unwrap();
    Estimator::new(pool, Settings::default()).unwrap().drift().unwrap()
}

fn counted(policy: &Policy, counts: &[u64]) -> Tally {
    let mut tally = Tally::new(policy);
    tally.add_counts(counts).unwrap();
    tally
}

fn policies() -> Vec<Policy> {
    let shape = keep(&[0.5, 0.3, 0.6, 0.4], &FOUR);
    let rows: Vec<Vec<f64>> = (0..4).map(|x| row(&shape, x)).collect();
    vec![
        krr(indices(4), Some(&FOUR), "2"),
        assumed(indices(4), None, shape, Context::Known(prior(&FOUR))),
        assumed(indices(4), None, table(&rows), Context::Known(prior(&FOUR))),
        oue(4, Some(&FOUR), "2"),
    ]
}

/// 4,000 surveys with the right prior, each with two tests at one in a thousand: p-values are close to
/// uniform and false alarms rare. (A true rate of 0.001 exceeds 16 in 4,000 with probability 2e-6.)
#[test]
fn a_right_prior_rarely_alarms() {
    for (at, policy) in policies().into_iter().enumerate() {
        let source = Source::new(policy);
        let mut dice = Dice::new(100 + at as u64);
        let (mut alarms, mut impossible, mut small) = (0, 0, 0);
        for _ in 0..4000 {
            let found = drift(&source.policy, source.draw(500, &FOUR, &mut dice).1);
            alarms += usize::from(found.drifted);
            impossible += usize::from(found.impossible);
            small += usize::from(found.policies[0].prior.unwrap().p_value < 0.05);
        }
        assert!(alarms <= 16, "policy {at}: {alarms} alarms");
        assert!(impossible <= 16, "policy {at}: {impossible} impossible laws");
        assert!((140..=260).contains(&small), "policy {at}: {small} of 4000 below 0.05");
    }
}

#[test]
fn a_wrong_prior_alarms() {
    for (at, policy) in policies().into_iter().enumerate() {
        let source = Source::new(policy);
        let mut dice = Dice::new(200 + at as u64);
        for _ in 0..200 {
            let found = drift(&source.policy, source.draw(10_000, &OTHER, &mut dice).1);
            assert!(found.drifted && !found.impossible, "policy {at}: {found:?}");
            let distance = found.policies[0].distance.unwrap();
            assert!((distance - 0.2).abs() < 0.06, "{distance}");
            assert!(found.warnings[0].contains("contradict the prior"));
        }
    }
}

/// Rare outputs: ten thousand symbols and as many reports, where chi-squared alone would not do.
#[test]
fn sparse_counts_do_not_alarm() {
    let size = 10_000;
    let p: Vec<f64> = {
        let weights: Vec<f64> = (0..size).map(|x| 1.0 / (x as f64 + 20.0)).collect();
        let total: f64 = weights.iter().sum();
        weights.iter().map(|w| w / total).collect()
    };
    let shape = keep(&vec![0.7; size], &p);
    let policy = assumed(indices(size), None, shape, Context::Known(prior(&p)));
    let law = p; // The base is the prior, so the outputs have the prior's law.
    let mut dice = Dice::new(300);
    let mut small = 0;
    for _ in 0..60 {
        let counts = multinomial(size as u64, &law, &mut dice);
        let found = drift(&policy, counted(&policy, &counts));
        assert!(!found.drifted && !found.impossible, "{:?}", found.policies[0]);
        small += usize::from(found.policies[0].prior.unwrap().p_value < 0.1);
    }
    assert!(small <= 16, "{small} of 60 below 0.1");
}

#[test]
fn impossible_laws_are_called_so() {
    // At ε = 1 over four symbols every output has probability at least 0.175.
    let policy = krr(indices(4), None, "1");
    let found = drift(&policy, counted(&policy, &[400, 300, 280, 20]));
    assert!(found.impossible && !found.drifted);
    assert!(found.policies[0].prior.is_none());
    assert!(found.warnings[0].contains("No population"), "{:?}", found.warnings);
    // As a table, and as bits.
    let rows: Vec<Vec<f64>> = (0..4).map(|x| row(policy.draft().shape(), x)).collect();
    let dense = policy::loose(indices(4), None, table(&rows));
    let same = drift(&dense, counted(&dense, &[400, 300, 280, 20]));
    assert!(same.impossible);
    let (a, b) = (found.policies[0].law, same.policies[0].law);
    assert!((a.statistic / b.statistic - 1.0).abs() < 1e-3 && a.degrees == b.degrees);
    let bits = oue(4, None, "1");
    let mut tally = Tally::new(&bits);
    tally.add_bit_counts(1000, &[500, 500, 500, 500]).unwrap();
    assert!(drift(&bits, tally).impossible, "shares that sum to four");
    // An output the policy never releases.
    let shape = table(&[vec![0.6, 0.4, 0.0], vec![0.3, 0.7, 0.0]]);
    let silent = policy::loose(indices(2), Some(indices(3)), shape);
    let found = drift(&silent, counted(&silent, &[45, 55, 1]));
    assert!(found.impossible);
    assert_eq!(found.policies[0].law.p_value, 0.0);
}

/// The largest |ln lift| straight from the definition.
fn slow_leakage(policy: &Policy, p: &[f64]) -> f64 {
    let shape = policy.draft().shape();
    let rows: Vec<Vec<f64>> = match shape {
        Shape::Bits(bits) => {
            let share = |units: u64| units as f64 / WEIGHT_ONE as f64;
            let (own, other) = (share(bits.own()), share(bits.other()));
            let chance = |x: usize, output: u32| -> f64 {
                (0..p.len())
                    .map(|bit| {
                        let set = if bit == x { own } else { other };
                        if output >> bit & 1 == 1 { set } else { 1.0 - set }
                    })
                    .product()
            };
            (0..p.len()).map(|x| (0..1 << p.len()).map(|y| chance(x, y)).collect()).collect()
        }
        shape => (0..p.len()).map(|x| row(shape, x)).collect(),
    };
    let mut worst = 0.0f64;
    for y in 0..rows[0].len() {
        let law: f64 = rows.iter().zip(p).map(|(row, p)| row[y] * p).sum();
        for row in &rows {
            worst = worst.max((row[y] / law).ln().abs());
        }
    }
    worst
}

#[test]
fn leakage_under_the_estimate_is_exact_and_rounded_up() {
    for (at, policy) in policies().into_iter().enumerate() {
        let source = Source::new(policy);
        let mut dice = Dice::new(400 + at as u64);
        for _ in 0..20 {
            let tally = source.draw(3000, &OTHER, &mut dice).1;
            let pool = Pool::new(&source.policy, tally).unwrap();
            let estimator = Estimator::new(pool, Settings::default()).unwrap();
            let found = &estimator.drift().unwrap().policies[0];
            let slow = slow_leakage(&source.policy, &estimator.fit().shares);
            let ours = found.leakage.unwrap();
            assert!(ours >= slow - 1e-15 && ours < slow + 1e-9, "policy {at}: {ours} {slow}");
            assert!(ours <= found.ldp.unwrap() + 1e-9);
        }
    }
    // The binary optimum at ε = 1 leaks exactly 1 under its prior, and more under .05.
    let policy = binary(0.1, "1");
    let rows: Vec<Vec<f64>> = (0..2).map(|x| row(policy.draft().shape(), x)).collect();
    let yes = ((0.95 * rows[0][1] + 0.05 * rows[1][1]) * 1e9) as u64;
    let found = &drift(&policy, counted(&policy, &[1_000_000_000 - yes, yes])).policies[0];
    assert!((found.assumed_leakage.unwrap() - 1.0).abs() < 1e-6);
    assert!(found.leakage.unwrap() > 1.05 && found.leakage.unwrap() < found.ldp.unwrap());
}

#[test]
fn lists_boxes_and_secrets() {
    let shape = || keep(&[0.6; 4], &FOUR);
    let at = |context: Context| assumed(indices(4), None, shape(), context);
    let each = at(Context::Each(Priors::new(vec![prior(&OTHER), prior(&FOUR)]).unwrap()));
    let scale = |p: &[f64], by: f64| -> Vec<u64> {
        p.iter().map(|p| (p * by * WEIGHT_ONE as f64) as u64).collect()
    };
    let within = at(Context::Within(PriorBox::new(scale(&FOUR, 0.8), scale(&FOUR, 1.2)).unwrap()));
    // P(x) = ½ (.6, .4, 0, 0) + ½ (.2, .2, .4, .2) = (.4, .3, .2, .1).
    let secret = Secret::new(
        "s".into(),
        prior(&[0.5, 0.5]),
        vec![prior(&[0.6, 0.4, 0.0, 0.0]), prior(&[0.2, 0.2, 0.4, 0.2])],
    );
    let secret = at(Context::Secret(secret.unwrap()));
    let third = [0.1, 0.2, 0.3, 0.4];
    for policy in [each, within, secret] {
        let source = Source::new(policy);
        let mut dice = Dice::new(500);
        for _ in 0..50 {
            let fine = drift(&source.policy, source.draw(4000, &FOUR, &mut dice).1);
            assert!(fine.policies[0].prior.unwrap().p_value >= ALARM, "{fine:?}");
            let off = drift(&source.policy, source.draw(4000, &third, &mut dice).1);
            assert!(off.drifted, "{off:?}");
        }
    }
}

#[test]
fn groups_that_answer_differently() {
    let (a, b) = (krr(indices(4), None, "2"), krr(indices(4), None, "3"));
    let (first, second) = (Source::new(a), Source::new(b));
    let mut dice = Dice::new(600);
    let mut alarms = 0;
    for _ in 0..200 {
        let ask = |one: Tally, two: Tally| {
            let pool = Pool::new(&first.policy, one).unwrap().and(&second.policy, two).unwrap();
            Estimator::new(pool, Settings::default()).unwrap().drift().unwrap()
        };
        let one = first.draw(3000, &FOUR, &mut dice).1;
        let same = ask(one.clone(), second.draw(3000, &FOUR, &mut dice).1);
        alarms += usize::from(same.groups.unwrap().p_value < ALARM);
        let apart = ask(one, second.draw(3000, &OTHER, &mut dice).1);
        assert!(apart.groups.unwrap().p_value < ALARM);
        assert!(apart.warnings.iter().any(|warning| warning.contains("do not answer alike")));
    }
    assert!(alarms <= 4, "{alarms}");
}
