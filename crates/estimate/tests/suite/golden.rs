//! Values the papers' corrected formulas give, from counts.

use undertone_core::{Alphabet, Policy};
use undertone_estimate::{Estimator, Method, Pool, Settings, Tally};
use undertone_testkit::golden::golden;
use undertone_testkit::policy::{binary, krr, row};

/// The counts a population gives on average.
fn average(policy: &Policy, p: &[f64], n: u64) -> Estimator {
    let rows: Vec<Vec<f64>> = (0..p.len()).map(|x| row(policy.draft().shape(), x)).collect();
    let law = |y: usize| p.iter().zip(&rows).map(|(p, row)| p * row[y]).sum::<f64>();
    let counts: Vec<u64> = (0..rows[0].len()).map(|y| (law(y) * n as f64).round() as u64).collect();
    let mut tally = Tally::new(policy);
    tally.add_counts(&counts).unwrap();
    let settings = Settings::default().of_respondents();
    Estimator::new(Pool::new(policy, tally).unwrap(), settings).unwrap()
}

/// G32: the squared error of the context-free count of 100 respondents at ε = 1 (JLT18 (25)).
#[test]
fn the_context_free_count() {
    let policy = krr(Alphabet::indices(2).unwrap(), None, "1");
    for share in [0.0, 0.1, 0.5] {
        let n = 1_000_000;
        let found = average(&policy, &[1.0 - share, share], n);
        let error = found.shares(Method::Unbiased).unwrap().symbols[1].standard_error.unwrap();
        // For N respondents the count's variance is N times a constant, whatever the truth.
        let of_hundred = error * error * n as f64 * 100.0;
        assert!((of_hundred / golden("G32").0 - 1.0).abs() < 1e-6, "{of_hundred}");
    }
}

/// G23 and G31: what the prior leaves open about one respondent, from the estimate's own error.
#[test]
fn the_error_left_by_the_prior() {
    for (id, rare, policy) in [
        ("G23", 0.1, binary(0.1, "1")),
        ("G25", 0.3, binary(0.3, "2")),
        ("G31", 0.3, krr(Alphabet::indices(2).unwrap(), Some(&[0.7, 0.3]), "1")),
    ] {
        let n = 1_000_000_000;
        let found = average(&policy, &[1.0 - rare, rare], n);
        let share = found.shares(Method::Mmse).unwrap().symbols[1];
        assert!((share.value - rare).abs() < 1e-8);
        let each = share.standard_error.unwrap().powi(2) * n as f64;
        assert!((each / golden(id).0 - 1.0).abs() < 1e-6, "{id}: {each}");
    }
}

/// JLT18 (24), corrected: ten yeses among a hundred come out as ten, not ninety.
#[test]
fn the_count_is_of_the_yeses() {
    let policy = krr(Alphabet::indices(2).unwrap(), None, "1");
    let found = average(&policy, &[0.9, 0.1], 1_000_000);
    let shares = found.shares(Method::Unbiased).unwrap();
    assert!((shares.counts(100)[1].value - 10.0).abs() < 1e-3);
}
