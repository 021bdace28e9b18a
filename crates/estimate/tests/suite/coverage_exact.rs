//! Coverage without simulation: all counts a small survey can have, each with its exact probability.
//!
//! Every nominal level is a floor here, for every population on a grid and every number of reports.

use undertone_core::{Alphabet, Context, Policy, Shape};
use undertone_estimate::{Estimate, Estimator, IntervalMethod, Method, Pool, Settings, Tally};
use undertone_testkit::policy::{
    assumed, binary, bins, keep, krr, loose, optimal, oue, row, table,
};

/// Rounding in sums of exact probabilities.
const ROUNDING: f64 = 1e-9;

pub(crate) fn indices(size: usize) -> Alphabet {
    Alphabet::indices(size).unwrap()
}

pub(crate) fn estimator(policy: &Policy, counts: &[u64], settings: Settings) -> Estimator {
    let mut tally = Tally::new(policy);
    tally.add_counts(counts).unwrap();
    Estimator::new(Pool::new(policy, tally).unwrap(), settings).unwrap()
}

pub(crate) fn rows(policy: &Policy) -> Vec<Vec<f64>> {
    let shape = policy.draft().shape();
    (0..shape.inputs()).map(|x| row(shape, x)).collect()
}

/// ln n! for small n.
fn log_factorial(n: u64) -> f64 {
    (2..=n).map(|i| (i as f64).ln()).sum()
}

/// All counts of `n` reports over some outputs.
pub(crate) fn all_counts(outputs: usize, n: u64) -> Vec<Vec<u64>> {
    if outputs == 1 {
        return vec![vec![n]];
    }
    let with = |first: u64| {
        all_counts(outputs - 1, n - first).into_iter().map(move |mut rest| {
            rest.insert(0, first);
            rest
        })
    };
    (0..=n).flat_map(with).collect()
}

pub(crate) fn multinomial(counts: &[u64], law: &[f64]) -> f64 {
    let mut log = log_factorial(counts.iter().sum());
    for (&count, &law) in counts.iter().zip(law) {
        if count > 0 {
            log += count as f64 * law.ln() - log_factorial(count);
        }
    }
    log.exp()
}

/// All populations with shares in steps of 1/`steps`, and a few close to the corners.
pub(crate) fn populations(size: usize, steps: u64) -> Vec<Vec<f64>> {
    let even = all_counts(size, steps).into_iter();
    let mut all: Vec<Vec<f64>> =
        even.map(|c| c.iter().map(|&c| c as f64 / steps as f64).collect()).collect();
    for x in 0..size {
        for small in [0.001, 0.01, 0.03] {
            let mut p = vec![small / (size - 1) as f64; size];
            p[x] = 1.0 - small;
            all.push(p);
        }
    }
    all
}

/// What is asked in one survey: intervals that the truth, a function of the population, must lie in.
pub(crate) type Ask<'a> = &'a dyn Fn(&Estimator) -> Vec<Estimate>;

/// Between which numbers each interval's truth lies in a population.
pub(crate) type Truth<'a> = &'a dyn Fn(&[f64]) -> Vec<(f64, f64)>;

/// For every interval, the least probability over all populations that it holds the truth; and the same for all
/// intervals at once.
pub(crate) fn worst(
    policy: &Policy,
    n: u64,
    settings: Settings,
    populations: &[Vec<f64>],
    ask: Ask<'_>,
    truth: Truth<'_>,
) -> (f64, f64) {
    let rows = rows(policy);
    let surveys: Vec<(Vec<u64>, Vec<Estimate>)> = all_counts(rows[0].len(), n)
        .into_iter()
        .map(|counts| {
            let found = ask(&estimator(policy, &counts, settings));
            for estimate in &found {
                sound(estimate);
            }
            (counts, found)
        })
        .collect();
    let (mut each, mut all) = (1.0f64, 1.0f64);
    for p in populations {
        let law: Vec<f64> = (0..rows[0].len())
            .map(|y| p.iter().zip(&rows).map(|(p, row)| p * row[y]).sum())
            .collect();
        let truth = truth(p);
        let mut held = vec![0.0; truth.len()];
        let mut together = 0.0;
        for (counts, found) in &surveys {
            let chance = multinomial(counts, &law);
            let mut holds = true;
            for ((held, estimate), (least, most)) in held.iter_mut().zip(found).zip(&truth) {
                // Where several numbers fit one population, both ends of them must be held.
                let good = estimate.low <= *least + 1e-12 && *most - 1e-12 <= estimate.high;
                *held += if good { chance } else { 0.0 };
                holds &= good;
            }
            together += if holds { chance } else { 0.0 };
        }
        each = held.iter().copied().fold(each, f64::min);
        all = all.min(together);
    }
    (each, all)
}

/// What every estimate promises of itself.
#[track_caller]
fn sound(estimate: &Estimate) {
    let Estimate { value, low, high, .. } = *estimate;
    assert!(low <= value && value <= high, "{estimate:?}");
    assert!(low.is_finite() && high.is_finite(), "{estimate:?}");
}

pub(crate) fn shares(method: Method) -> impl Fn(&Estimator) -> Vec<Estimate> {
    move |estimator: &Estimator| estimator.shares(method).unwrap().symbols
}

pub(crate) fn exactly(p: &[f64]) -> Vec<(f64, f64)> {
    p.iter().map(|&p| (p, p)).collect()
}

/// ldp:5 on two symbols covered .807 with 20 reports, and .93 with 100, by the normal law.
#[test]
fn two_symbols() {
    let grid: Vec<Vec<f64>> =
        (0..=200).map(|i| vec![1.0 - f64::from(i) / 200.0, f64::from(i) / 200.0]).collect();
    for level in ["0.5", "1", "5", "12"] {
        let kept = krr(indices(2), None, level);
        let written = loose(indices(2), None, table(&rows(&kept)));
        for policy in [&kept, &written, &binary(0.1, "1")] {
            for n in [1, 2, 5, 20, 24, 100] {
                for method in [Method::Unbiased, Method::Mle] {
                    let ask = shares(method);
                    let (each, _) = worst(policy, n, Settings::default(), &grid, &ask, &exactly);
                    assert!(each >= 0.95 - ROUNDING, "ldp:{level}, {n} reports: {each}");
                }
            }
        }
        let one = estimator(&kept, &[9, 11], Settings::default()).shares(Method::Mle).unwrap();
        assert_eq!(one.symbols[0].method, IntervalMethod::ClopperPearson);
    }
}

/// Bits: the count of a bit is binomial whatever the others are. Ten of them with 20 reports covered .900.
#[test]
fn unary_bits() {
    for level in ["0.5", "1", "3"] {
        let policy = oue(10, None, level);
        let Shape::Bits(bits) = policy.draft().shape() else { panic!("bits") };
        let unit = (1u64 << 32) as f64;
        let (own, other) = (bits.own() as f64 / unit, bits.other() as f64 / unit);
        for n in [1u64, 5, 20, 60] {
            let interval = |set: u64| {
                let mut tally = Tally::new(&policy);
                let mut counts = vec![n / 2; 10];
                counts[3] = set;
                tally.add_bit_counts(n, &counts).unwrap();
                let pool = Pool::new(&policy, tally).unwrap();
                let estimator = Estimator::new(pool, Settings::default()).unwrap();
                let share = estimator.shares(Method::Unbiased).unwrap().symbols[3];
                sound(&share);
                share
            };
            let found: Vec<Estimate> = (0..=n).map(interval).collect();
            for i in 0..=400 {
                let share = f64::from(i) / 400.0;
                let chance = other + (own - other) * share;
                let held: f64 = (0..=n)
                    .filter(|&set| found[set as usize].covers(share))
                    .map(|set| multinomial(&[set, n - set], &[chance, 1.0 - chance]))
                    .sum();
                assert!(held >= 0.95 - ROUNDING, "{level}, {n} reports, share {share}: {held}");
            }
        }
    }
}

/// Randomised response, tables with more outputs than symbols, symbols that are kept more often than others.
#[test]
fn three_symbols() {
    let uneven = keep(&[0.5, 0.2, 0.35], &[0.2, 0.3, 0.5]);
    let prior = [0.5, 0.3, 0.2];
    let grid = populations(3, 12);
    for (name, policy, most) in [
        ("krr", krr(indices(3), None, "1"), 30),
        ("uneven keep", loose(indices(3), None, uneven), 30),
        ("square table", loose(indices(3), None, blurred()), 30),
        ("optimal", optimal(&prior, "1"), 30),
    ] {
        for n in [1, 4, 10, 20, most] {
            let ask = shares(Method::Unbiased);
            let (each, _) = worst(&policy, n, Settings::default(), &grid, &ask, &exactly);
            eprintln!("{name}, {n} reports: {each:.4}");
            assert!(each >= 0.95 - ROUNDING, "{name}, {n} reports: {each}");
        }
        let (each, _) =
            worst(&policy, 12, Settings::default(), &grid, &shares(Method::Mle), &exactly);
        assert!(each >= 0.95 - ROUNDING, "{name}, maximum likelihood: {each}");
    }
}

/// A table whose second symbol lies nearly between the other two: the reports hardly tell it.
pub(crate) fn blurred() -> Shape {
    table(&[vec![0.7, 0.2, 0.1], vec![0.41, 0.3, 0.29], vec![0.1, 0.4, 0.5]])
}

/// The box that a second round's promise rests on: all shares at once, 999 times in a thousand. By the normal law it
/// held them 970 times with 20 reports.
#[test]
fn all_shares_at_once() {
    let settings = Settings::at_level(0.999).unwrap().all_at_once();
    let prior = [0.5, 0.3, 0.2];
    let grid = populations(3, 10);
    for (name, policy) in [
        ("krr", krr(indices(3), None, "2")),
        ("weak krr", krr(indices(3), None, "6")),
        ("optimal", optimal(&prior, "2")),
        ("keep", loose(indices(3), None, keep(&[0.9, 0.7, 0.8], &[0.2, 0.3, 0.5]))),
    ] {
        for n in [5, 20] {
            let (_, all) = worst(&policy, n, settings, &grid, &shares(Method::Unbiased), &exactly);
            eprintln!("{name}, {n} reports: {all:.6}");
            assert!(all >= 0.999 - ROUNDING, "{name}, {n} reports: {all}");
        }
    }
    let grid = populations(4, 8);
    let policy = krr(indices(4), None, "3");
    let (_, all) = worst(&policy, 12, settings, &grid, &shares(Method::Unbiased), &exactly);
    assert!(all >= 0.999 - ROUNDING, "four symbols: {all}");
}

/// Numbers in bins: wherever in its bin every number lies, the interval of the mean, of the variance and of a quantile holds
/// for the numbers. One survey has one population of bins; its numbers may all lie at the lower edges or at the upper ones.
#[test]
fn numbers_in_bins() {
    const EDGES: [f64; 4] = [0.0, 1.0, 3.0, 10.0];
    let grid = populations(3, 10);
    let mean =
        |p: &[f64], values: &[f64]| -> f64 { p.iter().zip(values).map(|(p, v)| p * v).sum() };
    let quantile = |p: &[f64], q: f64| {
        let mut sum = 0.0;
        let at = p.iter().position(|p| {
            sum += p;
            sum >= q - 1e-12
        });
        (EDGES[at.unwrap()], EDGES[at.unwrap() + 1])
    };
    let blur = loose(bins(&EDGES), Some(indices(3)), blurred());
    for (name, policy) in [("krr", krr(bins(&EDGES), None, "2")), ("table", blur)] {
        let ask = |e: &Estimator| {
            vec![
                e.mean(Method::Unbiased).unwrap().estimate,
                e.mean(Method::Mle).unwrap().estimate,
                e.variance(Method::Unbiased).unwrap().estimate,
                e.quantile(0.5).unwrap().estimate,
                e.quantile(0.9).unwrap().estimate,
            ]
        };
        let truth = |p: &[f64]| {
            let ends = (mean(p, &EDGES[..3]), mean(p, &EDGES[1..]));
            let of = |values: [f64; 3]| {
                let middle = mean(p, &values);
                mean(p, &values.map(|v| (v - middle).powi(2)))
            };
            // Numbers drawn together and pulled apart.
            let variances = [
                of([0.0, 1.0, 3.0]),
                of([1.0, 3.0, 10.0]),
                of([1.0, 2.0, 3.0]),
                of([0.0, 2.0, 10.0]),
            ];
            let least = variances.iter().copied().fold(f64::INFINITY, f64::min);
            let most = variances.iter().copied().fold(0.0, f64::max);
            vec![ends, ends, (least, most), quantile(p, 0.5), quantile(p, 0.9)]
        };
        for n in [3, 12] {
            let (each, _) = worst(&policy, n, Settings::default(), &grid, &ask, &truth);
            eprintln!("{name}, {n} reports: {each:.4}");
            assert!(each >= 0.95 - ROUNDING, "{name}, {n} reports: {each}");
        }
    }
}

/// Fixed respondents: only the noise is random, and nothing is assumed of who they are.
#[test]
fn these_respondents() {
    let settings = Settings::default().of_respondents();
    let policies = [
        krr(indices(3), None, "1"),
        loose(indices(3), None, blurred()),
        loose(indices(3), None, keep(&[0.5, 0.2, 0.35], &[0.2, 0.3, 0.5])),
    ];
    for policy in policies {
        let rows = rows(&policy);
        for n in [1u64, 4, 9] {
            let surveys: Vec<(Vec<u64>, Vec<Estimate>)> = all_counts(3, n)
                .into_iter()
                .map(|counts| {
                    let found = estimator(&policy, &counts, settings);
                    let mut answers = found.shares(Method::Unbiased).unwrap().symbols;
                    answers.push(found.mean(Method::Unbiased).unwrap().estimate);
                    answers.iter().for_each(sound);
                    (counts, answers)
                })
                .collect();
            for people in all_counts(3, n) {
                let law = sums_of(&people, &rows);
                let mut truth: Vec<f64> = people.iter().map(|&c| c as f64 / n as f64).collect();
                truth.push(truth[1] + 2.0 * truth[2]);
                for (x, &truth) in truth.iter().enumerate() {
                    let held: f64 = surveys
                        .iter()
                        .filter(|(_, found)| {
                            found[x].low <= truth + 1e-12 && truth <= found[x].high + 1e-12
                        })
                        .map(|(counts, _)| law[&counts[..]])
                        .sum();
                    assert!(held >= 0.95 - ROUNDING, "{people:?}, {x}: {held}");
                }
            }
        }
    }
}

/// The law of the counts when so many people have each symbol.
fn sums_of(people: &[u64], rows: &[Vec<f64>]) -> std::collections::HashMap<Vec<u64>, f64> {
    let mut law = std::collections::HashMap::from([(vec![0; rows[0].len()], 1.0)]);
    for (&count, row) in people.iter().zip(rows) {
        let mut next = std::collections::HashMap::new();
        for more in all_counts(row.len(), count) {
            let chance = multinomial(&more, row);
            for (counts, before) in &law {
                let sum: Vec<u64> = counts.iter().zip(&more).map(|(a, b)| a + b).collect();
                *next.entry(sum).or_insert(0.0) += before * chance;
            }
        }
        law = next;
    }
    law
}

/// Two policies at once: a binomial count no longer, and scores that weigh groups by what the policies are.
#[test]
fn two_policies() {
    let first = krr(indices(2), None, "1");
    let second = krr(indices(2), None, "3");
    let third =
        loose(indices(2), Some(indices(3)), table(&[vec![0.7, 0.2, 0.1], vec![0.2, 0.3, 0.5]]));
    for (a, b, settings) in [
        (&first, &second, Settings::default()),
        (&first, &third, Settings::default()),
        (&first, &second, Settings::default().of_respondents()),
    ] {
        let (rows_a, rows_b) = (rows(a), rows(b));
        for (n, m) in [(3u64, 3u64), (12, 8)] {
            let mut surveys = Vec::new();
            for mine in all_counts(rows_a[0].len(), n) {
                for theirs in all_counts(rows_b[0].len(), m) {
                    let mut tallies = (Tally::new(a), Tally::new(b));
                    tallies.0.add_counts(&mine).unwrap();
                    tallies.1.add_counts(&theirs).unwrap();
                    let pool = Pool::new(a, tallies.0).unwrap().and(b, tallies.1).unwrap();
                    let found = Estimator::new(pool, settings).unwrap();
                    let share = found.shares(Method::Unbiased).unwrap().symbols[1];
                    sound(&share);
                    surveys.push((mine.clone(), theirs, share));
                }
            }
            for i in 0..=40 {
                let p = f64::from(i) / 40.0;
                let law = |rows: &[Vec<f64>]| -> Vec<f64> {
                    (0..rows[0].len()).map(|y| (1.0 - p) * rows[0][y] + p * rows[1][y]).collect()
                };
                let (law_a, law_b) = (law(&rows_a), law(&rows_b));
                if settings.target() == undertone_estimate::Target::Population {
                    let held: f64 = surveys
                        .iter()
                        .filter(|(_, _, share)| share.covers(p))
                        .map(|(mine, theirs, _)| {
                            multinomial(mine, &law_a) * multinomial(theirs, &law_b)
                        })
                        .sum();
                    assert!(held >= 0.95 - ROUNDING, "{n} and {m} reports, {p}: {held}");
                }
            }
            if settings.target() == undertone_estimate::Target::Respondents && n == 3 {
                // Every mixture of respondents in both groups, alike or not.
                for mine in all_counts(2, n) {
                    for theirs in all_counts(2, m) {
                        let (law_a, law_b) = (sums_of(&mine, &rows_a), sums_of(&theirs, &rows_b));
                        let truth = (mine[1] + theirs[1]) as f64 / (n + m) as f64;
                        let held: f64 = surveys
                            .iter()
                            .filter(|(_, _, share)| share.covers(truth))
                            .map(|(a, b, _)| law_a[&a[..]] * law_b[&b[..]])
                            .sum();
                        assert!(held >= 0.95 - ROUNDING, "{mine:?} {theirs:?}: {held}");
                    }
                }
            }
        }
    }
}

/// With the prior, if it is right: given any reports, the respondents' own share lies in the interval with at least the
/// stated probability.
#[test]
fn posteriors_given_any_reports() {
    let known = |weights: &[u64]| {
        Context::Known(
            undertone_core::Prior::new(weights.iter().map(|w| w << 28).collect()).unwrap(),
        )
    };
    let policy = assumed(indices(3), None, blurred(), known(&[10, 4, 2]));
    let (rows, prior) = (rows(&policy), [10.0 / 16.0, 4.0 / 16.0, 2.0 / 16.0]);
    for n in [1u64, 3, 10] {
        for counts in all_counts(3, n) {
            let found = estimator(&policy, &counts, Settings::default());
            let shares = found.shares(Method::Mmse).unwrap().symbols;
            for (x, share) in shares.iter().enumerate() {
                sound(share);
                // The number of respondents with x: a sum of independent yes and no.
                let mut law = vec![1.0];
                for (y, &count) in counts.iter().enumerate() {
                    let total: f64 = (0..3).map(|z| prior[z] * rows[z][y]).sum();
                    let posterior = prior[x] * rows[x][y] / total;
                    for _ in 0..count {
                        let mut next = vec![0.0; law.len() + 1];
                        for (hits, chance) in law.iter().enumerate() {
                            next[hits] += chance * (1.0 - posterior);
                            next[hits + 1] += chance * posterior;
                        }
                        law = next;
                    }
                }
                let held: f64 = (0..law.len())
                    .filter(|&hits| share.covers(hits as f64 / n as f64))
                    .map(|hits| law[hits])
                    .sum();
                assert!(held >= 0.95 - ROUNDING, "{counts:?}, {x}: {held}");
            }
        }
    }
}
