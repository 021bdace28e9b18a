//! Posteriors against slow sums and integrals over everything possible.

use rand_core::Rng;
use undertone_core::{Alphabet, Context, Policy, Prior, Shape, WEIGHT_ONE};
use undertone_design::quantize::largest_remainder;
use undertone_estimate::{BitsFold, Dirichlet, Estimator, Method, Pool, Settings, Tally};
use undertone_testkit::dice::Dice;
use undertone_testkit::policy::{assumed, keep, krr, oue, row, table};

const P: [f64; 4] = [0.4, 0.3, 0.2, 0.1];
const OTHER: [f64; 4] = [0.1, 0.2, 0.3, 0.4];

fn known(p: &[f64]) -> Context {
    Context::Known(Prior::new(largest_remainder(p, WEIGHT_ONE)).unwrap())
}

fn policy(shape: Shape, p: &[f64]) -> Policy {
    assumed(Alphabet::indices(p.len()).unwrap(), None, shape, known(p))
}

fn counted(policy: &Policy, counts: &[u64]) -> Tally {
    let mut tally = Tally::new(policy);
    tally.add_counts(counts).unwrap();
    tally
}

fn estimator(policy: &Policy, counts: &[u64]) -> Estimator {
    let pool = Pool::new(policy, counted(policy, counts)).unwrap();
    Estimator::new(pool, Settings::default()).unwrap()
}

/// Sums and variances over the respondents, one report after the other.
fn slow(groups: &[(&Policy, &[f64], &[u64])], values: &[f64]) -> (Vec<f64>, Vec<f64>, f64, f64) {
    let size = values.len();
    let (mut sums, mut variances) = (vec![0.0; size], vec![0.0; size]);
    let (mut mean, mut variance, mut n) = (0.0, 0.0, 0.0);
    for (policy, prior, counts) in groups {
        let rows: Vec<Vec<f64>> = (0..size).map(|x| row(policy.draft().shape(), x)).collect();
        for (y, &count) in counts.iter().enumerate() {
            let law: f64 = (0..size).map(|x| prior[x] * rows[x][y]).sum();
            let posterior: Vec<f64> = (0..size).map(|x| prior[x] * rows[x][y] / law).collect();
            let count = count as f64;
            let first: f64 = posterior.iter().zip(values).map(|(p, v)| p * v).sum();
            let second: f64 = posterior.iter().zip(values).map(|(p, v)| p * v * v).sum();
            for x in 0..size {
                sums[x] += count * posterior[x];
                variances[x] += count * posterior[x] * (1.0 - posterior[x]);
            }
            mean += count * first;
            variance += count * (second - first * first);
            n += count;
        }
    }
    let share = |v: f64| v / n;
    let error = |v: f64| v.sqrt() / n;
    (
        sums.into_iter().map(share).collect(),
        variances.into_iter().map(error).collect(),
        mean / n,
        variance.sqrt() / n,
    )
}

#[test]
fn sums_of_posteriors_and_personal_priors() {
    let shape = keep(&[0.5, 0.0, 0.6, 0.3], &[0.4, 0.3, 0.2, 0.1]);
    let rows: Vec<Vec<f64>> = (0..4).map(|x| row(&shape, x)).collect();
    // The same channel for two kinds of people, each with a prior of their own.
    let (a, b) = (policy(shape, &P), policy(table(&rows), &OTHER));
    let (first, second) = ([50, 20, 30, 7], [5, 0, 40, 60]);
    let values = [2.0, -1.0, 5.0, 0.5];
    let pool = Pool::new(&a, counted(&a, &first)).unwrap().and(&b, counted(&b, &second)).unwrap();
    let both = Estimator::new(pool, Settings::default()).unwrap();
    for (estimator, groups) in [
        (estimator(&a, &first), vec![(&a, &P[..], &first[..])]),
        (estimator(&b, &second), vec![(&b, &OTHER[..], &second[..])]),
        (both, vec![(&a, &P[..], &first[..]), (&b, &OTHER[..], &second[..])]),
    ] {
        let (shares, errors, mean, error) = slow(&groups, &values);
        let found = estimator.shares(Method::Mmse).unwrap();
        for x in 0..4 {
            assert!((found.symbols[x].value - shares[x]).abs() < 1e-8);
            assert!((found.symbols[x].standard_error.unwrap() - errors[x]).abs() < 1e-8);
        }
        let answer = estimator.linear(Method::Mmse, &values).unwrap().estimate;
        assert!((answer.value - mean).abs() < 1e-7, "{} {mean}", answer.value);
        assert!((answer.standard_error.unwrap() - error).abs() < 1e-7);
    }
}

#[test]
fn rows_of_bits_one_by_one() {
    let policy = oue(4, Some(&P), "1.3");
    let Shape::Bits(bits) = policy.draft().shape() else { panic!("bits") };
    let share = |units: u64| units as f64 / WEIGHT_ONE as f64;
    let (own, other) = (share(bits.own()), share(bits.other()));
    let mut dice = Dice::new(1);
    let rows: Vec<u8> = (0..300).map(|_| (dice.next_u64() as u8) & 0xf0).collect();
    let mut sums = [0.0; 4];
    let mut variances = [0.0; 4];
    for byte in &rows {
        let likelihood = |x: usize| -> f64 {
            (0..4)
                .map(|bit| {
                    let set = if bit == x { own } else { other };
                    if byte >> (7 - bit) & 1 == 1 { set } else { 1.0 - set }
                })
                .product()
        };
        let weights: Vec<f64> = (0..4).map(|x| P[x] * likelihood(x)).collect();
        let total: f64 = weights.iter().sum();
        for x in 0..4 {
            let posterior = weights[x] / total;
            sums[x] += posterior;
            variances[x] += posterior * (1.0 - posterior);
        }
    }
    let mut fold = BitsFold::new(&policy).unwrap();
    fold.add_packed_bits(&rows).unwrap();
    assert_eq!(fold.tally().reports(), 300);
    let found = fold.shares(Settings::default()).unwrap();
    for x in 0..4 {
        assert!((found.symbols[x].value - sums[x] / 300.0).abs() < 1e-9);
        let error = variances[x].sqrt() / 300.0;
        assert!((found.symbols[x].standard_error.unwrap() - error).abs() < 1e-8);
    }
    assert!(fold.add_packed_bits(&[0x01]).is_err());
    assert_eq!(fold.tally().reports(), 300);
    // Other shapes, and bits without a prior, have no fold.
    assert!(BitsFold::new(&krr(Alphabet::indices(4).unwrap(), None, "1")).is_err());
    assert!(BitsFold::new(&oue(4, None, "1")).is_err());
}

/// The posterior of a yes-rate by numerical integration, against the sampled one.
#[test]
fn the_sampled_posterior_is_the_posterior() {
    let rows = [vec![0.8, 0.2], vec![0.3, 0.7]];
    let counts = [120u64, 80];
    let (a, b) = (2.0, 3.0);
    let density = |p: f64| {
        let law = (1.0 - p) * rows[0][1] + p * rows[1][1];
        (counts[1] as f64) * law.ln()
            + (counts[0] as f64) * (1.0 - law).ln()
            + (b - 1.0) * p.ln()
            + (a - 1.0) * (1.0 - p).ln()
    };
    let grid: Vec<f64> = (1..20_000).map(|i| f64::from(i) / 20_000.0).collect();
    let top = grid.iter().map(|&p| density(p)).fold(f64::MIN, f64::max);
    let weights: Vec<f64> = grid.iter().map(|&p| (density(p) - top).exp()).collect();
    let total: f64 = weights.iter().sum();
    let mean: f64 = grid.iter().zip(&weights).map(|(p, w)| p * w / total).sum();
    let quantile = |probability: f64| {
        let mut sum = 0.0;
        let at = weights.iter().position(|w| {
            sum += w / total;
            sum >= probability
        });
        grid[at.unwrap()]
    };
    let as_table = policy(table(&rows), &[0.5, 0.5]);
    // The same channel as a keep: λ = ½ with base (.6, .4).
    let as_keep = policy(keep(&[0.5, 0.5], &[0.6, 0.4]), &[0.5, 0.5]);
    for policy in [as_table, as_keep] {
        let estimator = estimator(&policy, &counts);
        let prior = Dirichlet { pseudo_counts: vec![a, b], sweeps: 60_000, seed: 3 };
        let found = estimator.dirichlet(&prior).unwrap();
        assert!(found.reliable && found.effective_draws > 3000.0, "{}", found.effective_draws);
        let yes = found.symbols[1];
        assert!((yes.value - mean).abs() < 0.004, "{} {mean}", yes.value);
        assert!((yes.low - quantile(0.025)).abs() < 0.012, "{} {}", yes.low, quantile(0.025));
        assert!((yes.high - quantile(0.975)).abs() < 0.012, "{} {}", yes.high, quantile(0.975));
        assert_eq!(found, estimator.dirichlet(&prior).unwrap(), "the same seed, the same answer");
        let other = estimator.dirichlet(&Dirichlet { seed: 4, ..prior }).unwrap();
        assert_ne!(found, other);
    }
}

#[test]
fn a_slow_chain_says_so() {
    let policy = krr(Alphabet::indices(30).unwrap(), None, "0.5");
    let counts: Vec<u64> = (0..30).map(|x| 900 + 10 * x).collect();
    let prior = Dirichlet { sweeps: 2000, ..Dirichlet::jeffreys(30) };
    let found = estimator(&policy, &counts).dirichlet(&prior).unwrap();
    assert!(!found.reliable && found.effective_draws < 400.0, "{}", found.effective_draws);
    assert!(found.label.contains("too few to rely on"));
}
