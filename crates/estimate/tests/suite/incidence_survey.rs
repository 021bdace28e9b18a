//! Surveys through blocks: how often intervals hold, and the error at a thousand symbols.

use undertone_core::{Context, Policy, Sampler, Symbol};
use undertone_estimate::{Estimator, Method, Pool, Settings, Tally};
use undertone_testkit::dice::Dice;
use undertone_testkit::respondents::multinomial;

use crate::incidence::{geometry, policy, subsets};

/// How many people have each symbol, and the tally of what they report, drawn as clients draw.
fn survey(policy: &Policy, n: u64, p: &[f64], dice: &mut Dice) -> (Vec<u64>, Tally) {
    let people = multinomial(n, p, dice);
    let each = people.iter().enumerate();
    let symbol = |x: usize| policy.draft().inputs().symbol(x).unwrap();
    let inputs: Vec<Symbol> =
        each.flat_map(|(x, &count)| vec![symbol(x); count as usize]).collect();
    let (sampler, mut tally) = (Sampler::new(policy), Tally::new(policy));
    if policy.draft().shape().releases_bits() {
        let width = p.len().div_ceil(8);
        for inputs in inputs.chunks(1000) {
            let mut rows = vec![0; width * inputs.len()];
            sampler.draw_bits(inputs, dice, &mut rows).unwrap();
            tally.add_packed_bits(&rows).unwrap();
        }
    } else {
        let mut blocks = vec![0; inputs.len()];
        sampler.draw_indices(&inputs, dice, &mut blocks).unwrap();
        tally.add_indices(&blocks).unwrap();
    }
    (people, tally)
}

fn zipf(size: usize) -> Vec<f64> {
    let total: f64 = (1..=size).map(|rank| 1.0 / rank as f64).sum();
    (1..=size).map(|rank| 1.0 / rank as f64 / total).collect()
}

/// Shares, a sum of shares, a mean and a contrast at 95 %: each holds in at least 95 % of 400 surveys, less four standard errors of
/// the simulation. An interval that covers exactly 95 % would fail in one run of 30,000, and seeds are fixed.
#[test]
fn intervals_hold_for_blocks_and_for_subsets() {
    const SURVEYS: usize = 400;
    let p = zipf(16);
    let half: Vec<f64> = (0..16).map(|x| f64::from(u8::from(x < 5))).collect();
    let ranks: Vec<f64> = (0..16).map(f64::from).collect();
    let mut contrast = vec![0.0; 16];
    (contrast[0], contrast[1]) = (1.0, -1.0);
    for (seed, family) in [geometry(4, 3, 1, 0, true), geometry(5, 3, 4, 1, false), subsets(4)]
        .into_iter()
        .enumerate()
    {
        let policy = policy(16, family, "1", Context::Unknown);
        let mut dice = Dice::new(100 + seed as u64);
        let settings = [Settings::default(), Settings::default().of_respondents()];
        let mut hits = [[0usize; 19]; 2];
        let mut lengths = [[(0.0, 0.0); 19]; 2];
        for _ in 0..SURVEYS {
            let (people, tally) = survey(&policy, 500, &p, &mut dice);
            let respondents: Vec<f64> = people.iter().map(|&count| count as f64 / 500.0).collect();
            for (at, settings) in settings.into_iter().enumerate() {
                let truth = if at == 0 { &p } else { &respondents };
                let pool = Pool::new(&policy, tally.clone()).unwrap();
                let estimator = Estimator::new(pool, settings).unwrap();
                let mut found = estimator.shares(Method::Unbiased).unwrap().symbols;
                let mut truths = truth.clone();
                for values in [&half, &ranks, &contrast] {
                    found.push(estimator.linear(Method::Unbiased, values).unwrap().estimate);
                    truths.push(values.iter().zip(truth).map(|(v, p)| v * p).sum());
                }
                for (z, (estimate, truth)) in found.iter().zip(&truths).enumerate() {
                    hits[at][z] += usize::from(estimate.covers(*truth));
                    lengths[at][z].0 += estimate.high - estimate.low;
                    lengths[at][z].1 += 2.0 * 1.96 * estimate.standard_error.unwrap();
                }
            }
        }
        for (hits, lengths) in hits.iter().zip(&lengths) {
            let shares = hits.map(|hits| hits as f64 / SURVEYS as f64);
            let widths: Vec<f64> = lengths[16..].iter().map(|(a, b)| a / b).collect();
            eprintln!(
                "{}: {shares:.3?}, lengths of sums {widths:.2?}",
                policy.draft().shape().name()
            );
            assert!(shares.iter().all(|share| *share >= 0.9064), "{shares:?}");
            // Cut off at what is possible, they can be shorter than the normal law has them; never much longer.
            assert!(widths.iter().all(|width| *width <= 1.4), "{widths:?}");
        }
    }
}

/// The distance between a list of shares, clipped at nought and renormalised, and the truth.
fn distance(statistics: &[f64], p: &[f64]) -> f64 {
    let total: f64 = statistics.iter().map(|value| value.max(0.0)).sum();
    statistics.iter().zip(p).map(|(value, p)| (value.max(0.0) / total - p).abs()).sum()
}

/// The authors of Hadamard response (Acharya, Sun and Zhang, 2019) have an error of 1.3163 in ℓ1 for subset selection: Zipf's law over
/// 1,000 symbols, 50,000 people, ε = 1, shares clipped at nought and renormalised. Sixty surveys with these seeds give 1.3162 (projective
/// geometry: 1.3124), with a standard error of .0034.
#[test]
fn a_thousand_symbols_have_the_published_error() {
    const SURVEYS: usize = 12;
    let p = zipf(1000);
    let mean_of = |policy: &Policy, seed: u64| {
        let mut dice = Dice::new(seed);
        let one = |_| {
            let (_, tally) = survey(policy, 50_000, &p, &mut dice);
            let pool = Pool::new(policy, tally).unwrap();
            let estimator = Estimator::new(pool, Settings::default()).unwrap();
            distance(&estimator.statistics(), &p)
        };
        let errors: Vec<f64> = (0..SURVEYS).map(one).collect();
        let mean = errors.iter().sum::<f64>() / SURVEYS as f64;
        let square: f64 = errors.iter().map(|error| (error - mean).powi(2)).sum();
        (mean, (square / (SURVEYS - 1) as f64).sqrt())
    };
    let (selected, spread) = mean_of(&policy(1000, subsets(269), "1", Context::Unknown), 7);
    let (projective, _) =
        mean_of(&policy(1000, geometry(4, 6, 1, 0, true), "1", Context::Unknown), 8);
    eprintln!(
        "subsets {selected:.4} (published 1.3163), projective {projective:.4}, one survey ± {spread:.4}"
    );
    // Theirs is an average too. Four standard errors of the difference; one pair of seeds in 15,000 would fail, a little more since
    // the spread is estimated from few surveys.
    let error = spread.max(0.01) * (2.0 / SURVEYS as f64).sqrt();
    assert!((selected - 1.3163).abs() < 4.0 * error, "{selected} ± {error}");
    assert!(projective < 1.05 * selected, "{projective} {selected}");
}
