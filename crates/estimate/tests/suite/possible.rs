//! Numbers: no value outside its interval or its range, intervals of the numbers people have and not of their bins, and
//! intervals as narrow as blurring noise allows.

use undertone_core::{Alphabet, Shape};
use undertone_estimate::{Answer, Estimator, Method, Pool, Settings};
use undertone_testkit::dice::Dice;
use undertone_testkit::policy::{bins, keep, krr, loose, table};
use undertone_testkit::respondents::Source;

/// Equal bins over a range.
fn equal_bins(from: f64, to: f64, count: usize) -> Vec<f64> {
    (0..=count).map(|i| from + (to - from) * i as f64 / count as f64).collect()
}

/// The number of the bin that a number falls into.
fn bin(edges: &[f64], number: f64) -> usize {
    edges.partition_point(|&edge| edge <= number).clamp(1, edges.len() - 1) - 1
}

/// Noise added to a bin's number and clipped to the bins, as a table: `density` of the distance in bins.
fn noise(count: usize, density: impl Fn(f64) -> f64) -> Shape {
    let wide = 40 * count as i64;
    let row = |x: i64| {
        let mut row = vec![0.0; count];
        for y in -wide..wide {
            row[y.clamp(0, count as i64 - 1) as usize] += density((y - x) as f64);
        }
        let total: f64 = row.iter().sum();
        row.iter().map(|cell| cell / total).collect()
    };
    table(&(0..count as i64).map(row).collect::<Vec<Vec<f64>>>())
}

fn survey(source: &Source, n: u64, p: &[f64], seed: u64) -> Estimator {
    let tally = source.draw(n, p, &mut Dice::new(seed)).1;
    Estimator::new(Pool::new(&source.policy, tally).unwrap(), Settings::default()).unwrap()
}

/// Every number that is asked of numbers.
fn answers(estimator: &Estimator) -> Vec<Answer> {
    let mut answers = vec![estimator.quantile(0.25).unwrap(), estimator.quantile(0.5).unwrap()];
    for method in [Method::Unbiased, Method::Mle] {
        answers.push(estimator.mean(method).unwrap());
        answers.push(estimator.variance(method).unwrap());
    }
    answers
}

/// Ages between 17 and 90, most of them young.
fn ages(count: usize) -> Vec<f64> {
    let weight = |i: usize| {
        let age = 17.0 + 73.0 * (i as f64 + 0.5) / count as f64;
        (-((age - 32.0) / 18.0).powi(2) / 2.0).exp()
            + 0.15 * (-((age - 55.0) / 12.0).powi(2) / 2.0).exp()
    };
    let total: f64 = (0..count).map(weight).sum();
    (0..count).map(|i| weight(i) / total).collect()
}

/// Everybody has 3.0, which is no bin's representative. The mean's interval held it in 0 of 150 surveys.
#[test]
fn intervals_are_about_numbers_and_not_about_bins() {
    let edges = equal_bins(0.0, 10.0, 16);
    let source = Source::new(krr(bins(&edges), None, "4"));
    let mut p = vec![0.0; 16];
    p[bin(&edges, 3.0)] = 1.0;
    for seed in 0..150 {
        let estimator = survey(&source, 20_000, &p, seed);
        for method in [Method::Unbiased, Method::Mle] {
            let mean = estimator.mean(method).unwrap().estimate;
            assert!(mean.covers(3.0) && mean.high - mean.low < 1.0, "{mean:?}");
            let variance = estimator.variance(method).unwrap().estimate;
            assert!(variance.covers(0.0) && variance.high < 3.0, "{variance:?}");
        }
        for probability in [0.05, 0.5, 0.95] {
            let quantile = estimator.quantile(probability).unwrap().estimate;
            assert!(quantile.covers(3.0) && quantile.high - quantile.low < 1.3, "{quantile:?}");
        }
    }
}

/// An answer is kept once in four hundred times: means came out between -629 and 675 for ages from 17 to 90.
#[test]
fn nothing_leaves_its_interval_or_its_range() {
    let edges = equal_bins(17.0, 90.0, 16);
    let p = ages(16);
    let sampling = loose(bins(&edges), None, keep(&[0.0025; 16], &p));
    let uneven: Vec<f64> = (0..16).map(|x| 0.002 + 0.0002 * f64::from(x)).collect();
    let uneven = loose(bins(&edges), None, keep(&uneven, &p));
    for policy in [sampling, uneven] {
        let source = Source::new(policy);
        for seed in 0..40 {
            let estimator = survey(&source, 5000, &p, seed);
            for answer in answers(&estimator) {
                let found = answer.estimate;
                assert!(found.low <= found.value && found.value <= found.high, "{found:?}");
            }
            for answer in [
                estimator.mean(Method::Unbiased),
                estimator.mean(Method::Mle),
                estimator.quantile(0.5),
            ] {
                let found = answer.unwrap().estimate;
                assert!(found.low >= 17.0 && found.high <= 90.0, "{found:?}");
            }
            for method in [Method::Unbiased, Method::Mle] {
                for share in estimator.shares(method).unwrap().symbols {
                    assert!(0.0 <= share.low && share.low <= share.value, "{share:?}");
                    assert!(share.value <= share.high && share.high <= 1.0, "{share:?}");
                }
                let variance = estimator.variance(method).unwrap().estimate;
                assert!(variance.low >= 0.0 && variance.high <= 73.0 * 73.0 / 4.0, "{variance:?}");
            }
        }
    }
}

/// Counts that no population gives: the nearest possible share, and a word about it.
#[test]
fn impossible_reports_are_called_so() {
    let policy = krr(Alphabet::indices(2).unwrap(), None, "1");
    let mut tally = undertone_estimate::Tally::new(&policy);
    // Everybody names the first symbol, where even a population that has nothing else names it 73 times in 100.
    tally.add_counts(&[400, 0]).unwrap();
    let pool = Pool::new(&policy, tally).unwrap();
    let estimator = Estimator::new(pool, Settings::default()).unwrap();
    for method in [Method::Unbiased, Method::Mle] {
        let shares = estimator.shares(method).unwrap().symbols;
        for (share, nearest) in shares.iter().zip([1.0, 0.0]) {
            assert!(share.impossible, "{share:?}");
            assert_eq!((share.low, share.value, share.high), (nearest, nearest, nearest));
        }
        let mean = estimator.mean(method).unwrap().estimate;
        assert!(mean.impossible && mean.value == 0.0, "{mean:?}");
    }
}

/// Laplace noise as wide as the range, which unbiased scores cannot undo: the median's interval was most of the range.
#[test]
fn laplace_noise_leaves_quantiles_narrow() {
    let (edges, p) = (equal_bins(17.0, 90.0, 16), ages(16));
    let source = Source::new(loose(
        bins(&edges),
        Some(Alphabet::indices(16).unwrap()),
        noise(16, |d| (-d.abs() / 16.0).exp()),
    ));
    let mut sum = 0.0;
    let median = p.iter().scan(0.0, |sum, p| {
        *sum += p;
        Some(*sum)
    });
    let median = median.take_while(|sum| *sum < 0.5).count();
    for seed in 0..20 {
        let estimator = survey(&source, 32_561, &p, seed);
        let found = estimator.quantile(0.5).unwrap().estimate;
        assert!(found.low <= edges[median] && edges[median + 1] <= found.high, "{found:?}");
        sum += found.high - found.low;
        let mean = estimator.mean(Method::Mle).unwrap().estimate;
        assert!(mean.high - mean.low < 10.0, "{mean:?}");
    }
    assert!(sum / 20.0 < 0.42 * 73.0, "the median's interval is {} years long", sum / 20.0);
}

/// Gaussian noise, whose table has a condition number of 1e8. Unbiased scores amplify the noise by as much, so that the mean's
/// interval ran into an end of the range on one side and stopped anywhere on the other.
#[test]
fn gaussian_noise_leaves_the_mean_narrow() {
    let (edges, p) = (equal_bins(10_000.0, 120_000.0, 11), ages(11));
    let source = Source::new(loose(
        bins(&edges),
        Some(Alphabet::indices(11).unwrap()),
        noise(11, |d| (-d * d / 200.0).exp()),
    ));
    let middles: Vec<f64> = edges.windows(2).map(|pair| (pair[0] + pair[1]) / 2.0).collect();
    let truth: f64 = p.iter().zip(&middles).map(|(p, v)| p * v).sum();
    let mut missed = 0;
    for seed in 0..60 {
        let estimator = survey(&source, 6906, &p, seed);
        assert!(estimator.identification().condition > 1e6);
        for method in [Method::Unbiased, Method::Mle] {
            let mean = estimator.mean(method).unwrap().estimate;
            // Numbers may lie anywhere in their bins of 10,000.
            let (least, most) = (truth - 5000.0, truth + 5000.0);
            missed += usize::from(!(mean.low <= least && most <= mean.high));
            assert!(mean.high - mean.low < 40_000.0, "{mean:?}");
        }
    }
    // A miss in twenty is permitted; of these intervals, which hold for every population, hardly any misses.
    assert!(missed <= 2, "missed {missed} of 120");
}
