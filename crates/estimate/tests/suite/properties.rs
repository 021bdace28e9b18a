//! Estimators against slow, independent versions of themselves.

use rand_core::Rng;
use undertone_core::{Alphabet, Policy, Shape};
use undertone_estimate::{Estimate, Estimator, Method, Pool, Settings, Tally};
use undertone_testkit::dice::Dice;
use undertone_testkit::law::dirichlet;
use undertone_testkit::policy::{binary, keep, krr, loose, oue, row, table};

fn random_keep(size: usize, constant: bool, dice: &mut Dice) -> Shape {
    let common = 0.1 + 0.8 * dice.unit();
    let kept: Vec<f64> =
        (0..size).map(|_| if constant { common } else { 0.05 + 0.9 * dice.unit() }).collect();
    keep(&kept, &dirichlet(size, 0.0, dice))
}

fn as_table(shape: &Shape) -> Shape {
    table(&(0..shape.inputs()).map(|x| row(shape, x)).collect::<Vec<_>>())
}

fn policy(shape: Shape) -> Policy {
    let outputs = matches!(shape, Shape::Table(_)) && shape.outputs() != shape.inputs();
    let outputs = outputs.then(|| Alphabet::indices(shape.outputs()).unwrap());
    loose(Alphabet::indices(shape.inputs()).unwrap(), outputs, shape)
}

fn estimator(policy: &Policy, counts: &[u64], settings: Settings) -> Estimator {
    let mut tally = Tally::new(policy);
    tally.add_counts(counts).unwrap();
    Estimator::new(Pool::new(policy, tally).unwrap(), settings).unwrap()
}

fn random_counts(outputs: usize, most: u64, dice: &mut Dice) -> Vec<u64> {
    (0..outputs).map(|_| 1 + dice.next_u64() % most).collect()
}

/// Solves A v = b by elimination with partial pivoting.
fn solve(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
    let size = b.len();
    for column in 0..size {
        let pivot =
            (column..size).max_by(|&i, &j| a[i][column].abs().total_cmp(&a[j][column].abs()));
        a.swap(column, pivot.unwrap());
        b.swap(column, pivot.unwrap());
        for i in 0..size {
            if i != column {
                let factor = a[i][column] / a[column][column];
                let pivot = a[column].clone();
                a[i].iter_mut().zip(pivot).for_each(|(cell, pivot)| *cell -= factor * pivot);
                b[i] -= factor * b[column];
            }
        }
    }
    (0..size).map(|i| b[i] / a[i][i]).collect()
}

/// The inverse of Qᵀ by elimination: row x holds the weights of the share of x.
fn inverse(shape: &Shape) -> Vec<Vec<f64>> {
    let size = shape.inputs();
    let rows: Vec<Vec<f64>> = (0..size).map(|x| row(shape, x)).collect();
    // Σ_y Q(x', y) w(y) = [x = x'].
    (0..size)
        .map(|x| solve(rows.clone(), (0..size).map(|i| f64::from(u8::from(i == x))).collect()))
        .collect()
}

fn close(a: f64, b: f64, tolerance: f64, what: &str) {
    assert!((a - b).abs() <= tolerance * (1.0 + b.abs()), "{what}: {a} against {b}");
}

#[test]
fn closed_inverses_are_the_inverses() {
    let mut dice = Dice::new(1);
    for round in 0..60 {
        let size = 2 + round % 7;
        let shape = random_keep(size, round % 2 == 0, &mut dice);
        let counts = random_counts(size, 1000, &mut dice);
        let n: u64 = counts.iter().sum();
        let weights = inverse(&shape);
        let dense = as_table(&shape);
        for shape in [&shape, &dense] {
            let policy = policy(shape.clone());
            let found = estimator(&policy, &counts, Settings::default());
            let (statistics, shares) =
                (found.statistics(), found.shares(Method::Unbiased).unwrap());
            for (x, weights) in weights.iter().enumerate() {
                let value: f64 =
                    weights.iter().zip(&counts).map(|(w, &c)| w * c as f64 / n as f64).sum();
                close(statistics[x], value, 1e-9, "share");
                let Estimate { low, high, .. } = shares.symbols[x];
                close(shares.symbols[x].value, value.clamp(low, high), 1e-9, "possible share");
            }
            close(statistics.iter().sum(), 1.0, 1e-9, "sum");
            // A single invented report moves a share by at most the range of its weights over n.
            for (reach, weights) in found.influence(1).unwrap().iter().zip(&weights) {
                let most = weights.iter().copied().fold(f64::MIN, f64::max);
                let least = weights.iter().copied().fold(f64::MAX, f64::min);
                close(*reach, (most - least) / n as f64, 1e-9, "reach");
            }
        }
    }
}

/// The variance of the statistic, straight from the definition: Σ q w² - (Σ q w)² over n for the
/// population, minus the part that is the symbols' own for the respondents.
#[test]
fn standard_errors_are_exact() {
    let mut dice = Dice::new(2);
    for round in 0..40 {
        let size = 2 + round % 5;
        let keep = random_keep(size, round % 2 == 0, &mut dice);
        // Counts of a population in the inside, so that no share is clipped.
        let p = dirichlet(size, 0.0, &mut dice);
        let p: Vec<f64> = p.iter().map(|p| 0.5 * p + 0.5 / size as f64).collect();
        let rows: Vec<Vec<f64>> = (0..size).map(|x| row(&keep, x)).collect();
        let n = 1u64 << 40;
        let law = |y: usize| (0..size).map(|x| p[x] * rows[x][y]).sum::<f64>();
        let counts: Vec<u64> = (0..size).map(|y| (law(y) * n as f64).round() as u64).collect();
        let reports = counts.iter().sum::<u64>() as f64;
        let weights = inverse(&keep);
        for shape in [keep.clone(), as_table(&keep)] {
            let policy = policy(shape);
            let people = Settings::default().of_respondents();
            let population = estimator(&policy, &counts, Settings::default());
            let respondents = estimator(&policy, &counts, people);
            for method in [Method::Unbiased, Method::Mle] {
                let shares = population.shares(method).unwrap();
                let of_respondents = respondents.shares(method).unwrap();
                for x in 0..size {
                    let w = &weights[x];
                    let square: f64 = (0..size).map(|y| law(y) * w[y] * w[y]).sum();
                    let variance = (square - p[x] * p[x]) / reports;
                    let error = shares.symbols[x].standard_error.unwrap();
                    close(error * error * reports, variance * reports, 1e-5, "population");
                    // Var = E Var(.|X) + Var E(.|X), and E(.|X) is the symbol's indicator.
                    let own = p[x] * (1.0 - p[x]) / reports;
                    let error = of_respondents.symbols[x].standard_error.unwrap();
                    close(error * error * reports, (variance - own) * reports, 1e-5, "respondents");
                }
            }
            // The same for a mean.
            let values: Vec<f64> = (0..size).map(|_| 10.0 * dice.unit() - 3.0).collect();
            let w: Vec<f64> =
                (0..size).map(|y| (0..size).map(|x| values[x] * weights[x][y]).sum()).collect();
            let mean: f64 = p.iter().zip(&values).map(|(p, v)| p * v).sum();
            let square: f64 = (0..size).map(|y| law(y) * w[y] * w[y]).sum();
            let answer = population.linear(Method::Unbiased, &values).unwrap().estimate;
            close(answer.value, mean, 1e-6, "mean");
            let error = answer.standard_error.unwrap();
            close(error * error * reports, square - mean * mean, 1e-5, "mean's variance");
        }
    }
}

/// The diagonal is the squared standard errors, and any linear combination's variance follows.
#[test]
fn covariances_agree_with_every_standard_error() {
    let mut dice = Dice::new(9);
    let alphabet = || Alphabet::indices(4).unwrap();
    let shape = random_keep(4, false, &mut dice);
    let bits = oue(4, None, "2");
    let (a, b, dense) =
        (policy(shape.clone()), krr(alphabet(), None, "2"), policy(as_table(&shape)));
    // Counts as a population in the inside gives them on average.
    let p = [0.4, 0.3, 0.2, 0.1];
    let counted = |policy: &Policy, n: f64| {
        let rows: Vec<Vec<f64>> = (0..4).map(|x| row(policy.draft().shape(), x)).collect();
        let law = |y: usize| (0..4).map(|x| p[x] * rows[x][y]).sum::<f64>();
        let mut tally = Tally::new(policy);
        let counts: Vec<u64> = (0..4).map(|y| (law(y) * n).round() as u64).collect();
        tally.add_counts(&counts).unwrap();
        tally
    };
    let Shape::Bits(channel) = bits.draft().shape() else { panic!("bits") };
    let share = |units: u64| units as f64 / (1u64 << 32) as f64;
    let (own, other) = (share(channel.own()), share(channel.other()));
    let mut set = Tally::new(&bits);
    let ones = p.map(|p| ((other + (own - other) * p) * 90_000.0).round() as u64);
    set.add_bit_counts(90_000, &ones).unwrap();
    let single = || Pool::new(&a, counted(&a, 50_000.0)).unwrap();
    let pools = [
        single(),
        single().and(&b, counted(&b, 70_000.0)).unwrap(),
        Pool::new(&bits, set.clone()).unwrap(),
        single().and(&bits, set.clone()).unwrap(),
        Pool::new(&dense, counted(&dense, 50_000.0)).unwrap().and(&bits, set).unwrap(),
    ];
    for (at, pool) in pools.into_iter().enumerate() {
        for settings in [Settings::default(), Settings::default().of_respondents()] {
            let estimator = Estimator::new(pool.clone(), settings).unwrap();
            let matrix = estimator.covariance().unwrap();
            let shares = estimator.shares(Method::Unbiased).unwrap();
            // The spread of a share mixes in a millionth of the uniform population.
            for (x, share) in shares.symbols.iter().enumerate() {
                let error = share.standard_error.unwrap();
                let ratio = matrix[x][x] / (error * error);
                assert!((ratio - 1.0).abs() < 1e-3, "pool {at}, symbol {x}: {ratio}");
                for z in 0..4 {
                    let scale = (matrix[x][x] * matrix[z][z]).sqrt();
                    assert!((matrix[x][z] - matrix[z][x]).abs() < 1e-9 * scale);
                    assert!(matrix[x][z].abs() <= scale * (1.0 + 1e-9));
                }
            }
            // One policy of outputs: shares sum to one, so errors cancel, and means agree.
            if at == 0 {
                let total: f64 = matrix.iter().flatten().sum();
                assert!(total.abs() < 1e-12);
                let values = [3.0, 1.0, 4.0, 1.5];
                let product =
                    |x: usize| (0..4).map(|z| values[x] * matrix[x][z] * values[z]).sum::<f64>();
                let variance: f64 = (0..4).map(product).sum();
                let error = estimator.linear(Method::Unbiased, &values).unwrap().estimate;
                let ratio = variance / error.standard_error.unwrap().powi(2);
                assert!((ratio - 1.0).abs() < 1e-9, "{ratio}");
            }
        }
    }
}

/// Whatever some reports are replaced by, no share moves further than its bound.
#[test]
fn invented_reports_move_no_more_than_their_influence() {
    let mut dice = Dice::new(10);
    for round in 0..40 {
        let size = 2 + round % 5;
        let shape = random_keep(size, round % 2 == 0, &mut dice);
        let shape = if round % 3 == 0 { as_table(&shape) } else { shape };
        let policy = policy(shape);
        let mut counts = random_counts(size, 200, &mut dice);
        counts[0] += 50;
        let honest = estimator(&policy, &counts, Settings::default());
        let before = honest.shares(Method::Unbiased).unwrap().values();
        let fakes = 1 + dice.next_u64() % 50;
        let bound = honest.influence(fakes).unwrap();
        for target in 0..size {
            let mut forged = counts.clone();
            forged[0] -= fakes;
            forged[target] += fakes;
            let after = estimator(&policy, &forged, Settings::default());
            let after = after.shares(Method::Unbiased).unwrap().values();
            for x in 0..size {
                assert!((after[x] - before[x]).abs() <= bound[x] * (1.0 + 1e-9) + 1e-12);
            }
            // Added instead of replaced.
            let mut more = counts.clone();
            more[target] += fakes;
            let after = estimator(&policy, &more, Settings::default());
            let after = after.shares(Method::Unbiased).unwrap().values();
            for x in 0..size {
                assert!((after[x] - before[x]).abs() <= bound[x] * (1.0 + 1e-9) + 1e-12);
            }
        }
    }
}

/// Shares, standard errors and reach of unary bits from the textbook formulas.
#[test]
fn bits_as_in_the_textbook() {
    let policy = oue(6, None, "1.5");
    let Shape::Bits(bits) = policy.draft().shape() else { panic!("bits") };
    let share = |units: u64| units as f64 / (1u64 << 32) as f64;
    let (own, other) = (share(bits.own()), share(bits.other()));
    let mut tally = Tally::new(&policy);
    let (n, set) = (10_000u64, [4000, 3000, 2600, 2500, 2400, 2300]);
    tally.add_bit_counts(n, &set).unwrap();
    let estimator =
        Estimator::new(Pool::new(&policy, tally).unwrap(), Settings::default()).unwrap();
    let shares = estimator.shares(Method::Unbiased).unwrap();
    for (x, estimate) in shares.symbols.iter().enumerate() {
        let value = (set[x] as f64 / n as f64 - other) / (own - other);
        close(estimate.value, value, 1e-12, "share");
        let theta = other + (own - other) * value.clamp(0.0, 1.0);
        let variance = theta * (1.0 - theta) / (n as f64 * (own - other).powi(2));
        close(estimate.standard_error.unwrap(), variance.sqrt(), 1e-6, "error");
    }
    for reach in estimator.influence(7).unwrap() {
        close(reach, 7.0 / (own - other) / n as f64, 1e-12, "reach");
    }
}

/// The conditions that make a point the maximum of a concave function on the simplex.
fn assert_maximum(rows: &[Vec<f64>], counts: &[u64], p: &[f64], tolerance: f64) {
    let n = counts.iter().sum::<u64>() as f64;
    let law = |y: usize| p.iter().zip(rows).map(|(p, row)| p * row[y]).sum::<f64>();
    let ratios: Vec<f64> = counts
        .iter()
        .enumerate()
        .map(|(y, &c)| if c > 0 { c as f64 / law(y) } else { 0.0 })
        .collect();
    close(p.iter().sum(), 1.0, 1e-9, "sum");
    for (p, row) in p.iter().zip(rows) {
        let slope: f64 = row.iter().zip(&ratios).map(|(q, r)| q * r).sum::<f64>() / n;
        assert!(*p >= 0.0 && slope <= 1.0 + tolerance, "slope {slope} at share {p}");
        assert!((slope - 1.0).abs() * p <= tolerance, "slope {slope} at share {p}");
    }
}

#[test]
fn filling_up_finds_the_maximum_and_climbing_agrees() {
    let mut dice = Dice::new(3);
    for round in 0..120 {
        let size = 2 + round % 9;
        let shape = random_keep(size, round % 3 == 0, &mut dice);
        // Many counts leave some shares at zero.
        let mut counts = random_counts(size, 60, &mut dice);
        counts[round % size] = if round % 4 == 0 { 0 } else { 500 };
        let rows: Vec<Vec<f64>> = (0..size).map(|x| row(&shape, x)).collect();
        let closed = estimator(&policy(shape.clone()), &counts, Settings::default());
        let fit = closed.fit();
        assert_eq!(fit.steps, 0);
        assert!(fit.converged, "{fit:?}");
        assert_maximum(&rows, &counts, &fit.shares, 1e-9);
        let climbed = estimator(&policy(as_table(&shape)), &counts, Settings::default());
        let climbed = climbed.fit();
        assert!(climbed.converged, "{climbed:?}");
        assert_maximum(&rows, &counts, &climbed.shares, 1e-7);
        for (a, b) in fit.shares.iter().zip(&climbed.shares) {
            close(*a, *b, 2e-4, "share");
        }
        close(fit.log_likelihood, climbed.log_likelihood, 1e-9, "log-likelihood");
    }
}

#[test]
fn climbing_finds_the_maximum_of_rectangular_tables() {
    let mut dice = Dice::new(4);
    for round in 0..60 {
        let (inputs, outputs) = (2 + round % 5, 2 + (round / 5) % 6);
        let rows: Vec<Vec<f64>> = (0..inputs).map(|_| dirichlet(outputs, 0.0, &mut dice)).collect();
        let shape = table(&rows);
        let counts = random_counts(outputs, 200, &mut dice);
        let estimator = estimator(&policy(shape), &counts, Settings::default());
        let fit = estimator.fit();
        assert!(fit.converged, "{fit:?}");
        assert_maximum(&rows, &counts, &fit.shares, 1e-6);
        assert!(fit.gap <= 1e-10 * fit.log_likelihood.abs());
    }
}

#[test]
fn bit_counts_are_maximised_exactly_and_pools_of_bits_too() {
    let (a, b) = (oue(5, None, "1"), oue(5, None, "2.5"));
    let mut dice = Dice::new(5);
    for round in 0..30 {
        let mut tallies = Vec::new();
        for policy in [&a, &b] {
            let mut tally = Tally::new(policy);
            let n = 1000 + dice.next_u64() % 1000;
            let set: Vec<u64> = (0..5).map(|_| 200 + dice.next_u64() % 400).collect();
            tally.add_bit_counts(n, &set).unwrap();
            tallies.push(tally);
        }
        let pool = Pool::new(&a, tallies[0].clone()).unwrap();
        let pool = if round % 2 == 0 { pool } else { pool.and(&b, tallies[1].clone()).unwrap() };
        let used = 1 + round % 2;
        let fit = Estimator::new(pool, Settings::default()).unwrap().fit().clone();
        assert!(fit.note.contains("as if bits were independent") && fit.converged, "{fit:?}");
        // The slope of the composite log-likelihood is the same for all positive shares.
        let slope = |x: usize| {
            let part = |(policy, tally): (&Policy, &Tally)| {
                let Shape::Bits(bits) = policy.draft().shape() else { panic!("bits") };
                let share = |units: u64| units as f64 / (1u64 << 32) as f64;
                let gap = share(bits.own()) - share(bits.other());
                let theta = share(bits.other()) + gap * fit.shares[x];
                let (n, set) = (tally.reports() as f64, tally.counts()[x] as f64);
                gap * (set / theta - (n - set) / (1.0 - theta))
            };
            [&a, &b].into_iter().zip(&tallies).take(used).map(part).sum::<f64>()
        };
        let top = (0..5).map(slope).fold(f64::MIN, f64::max);
        for x in 0..5 {
            if fit.shares[x] > 1e-9 {
                close(slope(x), top, 1e-6, "slope");
            } else {
                assert!(slope(x) <= top + 1e-6 * top.abs());
            }
        }
    }
}

/// A pool of a policy with itself, under other names, is the policy with all reports.
#[test]
fn pools_combine_by_likelihood() {
    let mut dice = Dice::new(6);
    let shape = random_keep(4, false, &mut dice);
    let counts = [vec![40u64, 30, 90, 10], vec![80, 10, 70, 60]];
    let whole: Vec<u64> = (0..4).map(|y| counts[0][y] + counts[1][y]).collect();
    let together = estimator(&policy(shape.clone()), &whole, Settings::default());
    // The same channel as a keep and as a table: two policies, one likelihood.
    let (as_keep, as_dense) = (policy(shape.clone()), policy(as_table(&shape)));
    let tally = |policy: &Policy, counts: &[u64]| {
        let mut tally = Tally::new(policy);
        tally.add_counts(counts).unwrap();
        tally
    };
    let pool = Pool::new(&as_keep, tally(&as_keep, &counts[0])).unwrap();
    let pool = pool.and(&as_dense, tally(&as_dense, &counts[1])).unwrap();
    let pooled = Estimator::new(pool, Settings::default()).unwrap();
    for method in [Method::Mle, Method::Unbiased] {
        let (a, b) = (pooled.shares(method).unwrap(), together.shares(method).unwrap());
        for (a, b) in a.symbols.iter().zip(&b.symbols) {
            close(a.value, b.value, 1e-5, "value");
            close(a.low, b.low, 1e-4, "low");
            close(a.high, b.high, 1e-4, "high");
        }
    }
    let law = pooled.drift().unwrap().groups.unwrap();
    assert!(law.statistic > 0.0 && law.degrees == 3.0);
}

#[test]
fn dense_and_structured_pools_agree_on_one_question() {
    // Two randomised responses: weighing by precision is weighted least squares when all errors are
    // alike, so the two ways differ little and both are unbiased.
    let alphabet = || Alphabet::indices(3).unwrap();
    let (a, b) = (krr(alphabet(), None, "1"), krr(alphabet(), None, "3"));
    let truth = [0.5, 0.3, 0.2];
    let exact = |policy: &Policy, n: u64| {
        let rows: Vec<Vec<f64>> = (0..3).map(|x| row(policy.draft().shape(), x)).collect();
        let law = |y: usize| (0..3).map(|x| truth[x] * rows[x][y]).sum::<f64>();
        let mut tally = Tally::new(policy);
        let counts: Vec<u64> = (0..3).map(|y| (law(y) * n as f64).round() as u64).collect();
        tally.add_counts(&counts).unwrap();
        tally
    };
    let n = 1 << 30;
    let structured = Pool::new(&a, exact(&a, n)).unwrap().and(&b, exact(&b, 2 * n)).unwrap();
    let dense_b = policy(as_table(b.draft().shape()));
    let dense = Pool::new(&a, exact(&a, n)).unwrap().and(&dense_b, exact(&dense_b, 2 * n)).unwrap();
    let ask = |pool: Pool| Estimator::new(pool, Settings::default()).unwrap();
    let (structured, dense) = (ask(structured), ask(dense));
    for method in [Method::Unbiased, Method::Mle] {
        let (a, b) = (structured.shares(method).unwrap(), dense.shares(method).unwrap());
        for ((a, b), truth) in a.symbols.iter().zip(&b.symbols).zip(truth) {
            close(a.value, truth, 1e-7, "structured");
            close(b.value, truth, 1e-7, "dense");
            let (a, b) = (a.standard_error.unwrap(), b.standard_error.unwrap());
            assert!(b <= a * (1.0 + 1e-9) && a <= b * 1.05, "{a} {b}");
        }
    }
}

/// Invariant 10, and the sentence of the specification: prior .1, ε = 1, truth .2.
#[test]
fn a_rate_is_never_read_off_the_prior() {
    let policy = binary(0.1, "1");
    let rows: Vec<Vec<f64>> = (0..2).map(|x| row(policy.draft().shape(), x)).collect();
    let law = 0.8 * rows[0][1] + 0.2 * rows[1][1];
    for n in [10_000u64, 1_000_000, 1_000_000_000] {
        let yes = (law * n as f64).round() as u64;
        let found = estimator(&policy, &[n - yes, yes], Settings::default());
        let mmse = found.shares(Method::Mmse).unwrap();
        assert!((mmse.symbols[1].value - 0.112).abs() < 0.0005, "{}", mmse.symbols[1].value);
        assert!(mmse.label.contains("right only if the prior is"));
        let headline = found.headline().unwrap();
        assert_eq!(headline.shares.method, Method::Mle);
        assert!((headline.shares.symbols[1].value - 0.2).abs() < 2e-4);
        let drift = found.drift().unwrap();
        assert!(drift.drifted && !drift.impossible);
        assert_eq!(drift.warnings.len(), 1, "{:?}", drift.warnings);
    }
}
