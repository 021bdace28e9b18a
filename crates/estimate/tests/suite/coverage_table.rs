//! The tables of `docs/coverage.md`, worked out again: run with `UNDERTONE_WRITE_COVERAGE=1` to write them anew.

use crate::coverage_exact::{
    Ask, Truth, all_counts, blurred, estimator, exactly, indices, multinomial, populations, rows,
    shares, worst,
};
use undertone_core::Policy;
use undertone_estimate::{Dirichlet, Estimate, Estimator, Method, Settings};
use undertone_testkit::policy::{bins, keep, krr, loose, optimal, row};

const SIZES: [u64; 5] = [1, 5, 10, 20, 30];

/// The worst coverage of a nominal 95 % interval by the number of reports.
fn covered(
    name: &str,
    policy: &Policy,
    settings: Settings,
    grid: &[Vec<f64>],
    ask: Ask<'_>,
    truth: Truth<'_>,
) -> String {
    let cells = SIZES.map(|n| {
        let (each, all) = worst(policy, n, settings, grid, ask, truth);
        let together = settings.coverage() == undertone_estimate::Coverage::All;
        // Rounded down: a floor is claimed.
        let held = if together { all } else { each };
        format!("{:.4}", ((held + 1e-9) * 1e4).floor() / 1e4)
    });
    format!("| {name} | {} |", cells.join(" | "))
}

/// How much longer intervals are than 2 · 1.96 standard errors, when a population gives the counts it gives on average.
fn lengths(name: &str, policy: &Policy, p: &[f64], ask: Ask<'_>) -> String {
    let rows: Vec<Vec<f64>> = (0..p.len()).map(|x| row(policy.draft().shape(), x)).collect();
    let law = |y: usize| p.iter().zip(&rows).map(|(p, row)| p * row[y]).sum::<f64>();
    let cells = [100u64, 1000, 10_000, 1_000_000].map(|n| {
        let mut counts: Vec<u64> =
            (0..rows[0].len()).map(|y| (law(y) * n as f64).round() as u64).collect();
        counts[0] = n - counts[1..].iter().sum::<u64>();
        let found = ask(&estimator(policy, &counts, Settings::default()))[0];
        let normal = 2.0 * 1.959_964 * found.standard_error.unwrap();
        format!("{:.2}", (found.high - found.low) / normal)
    });
    format!("| {name} | {} |", cells.join(" | "))
}

/// The worst coverage of Dirichlet's credible intervals on two symbols, Jeffreys' prior, for shares from .01 to .99.
fn believed(level: &str) -> String {
    let policy = krr(indices(2), None, level);
    let rows = rows(&policy);
    let cells = SIZES.map(|n| {
        let found: Vec<Estimate> = (0..=n)
            .map(|yes| {
                let prior = Dirichlet { sweeps: 4000, seed: 7, ..Dirichlet::jeffreys(2) };
                let posterior = estimator(&policy, &[n - yes, yes], Settings::default());
                posterior.dirichlet(&prior).unwrap().symbols[1]
            })
            .collect();
        let held = |p: f64| -> f64 {
            let law = [0, 1].map(|y| (1.0 - p) * rows[0][y] + p * rows[1][y]);
            let inside = (0..=n).filter(|&yes| found[yes as usize].covers(p));
            inside.map(|yes| multinomial(&[n - yes, yes], &law)).sum()
        };
        // A credible interval never reaches nought or one, where it would cover never.
        let grid = (1..100).map(|i| held(f64::from(i) / 100.0));
        format!("{:.3}", grid.fold(1.0, f64::min) + 0.0)
    });
    format!("| Dirichlet, two symbols, ldp:{level} | {} |", cells.join(" | "))
}

fn mean(p: &[f64], values: &[f64]) -> f64 {
    p.iter().zip(values).map(|(p, v)| p * v).sum()
}

#[test]
fn the_document_states_what_is_covered() {
    let prior = [0.5, 0.3, 0.2];
    let (optimal, uneven) =
        (optimal(&prior, "1"), loose(indices(3), None, keep(&[0.5, 0.2, 0.35], &[0.2, 0.3, 0.5])));
    let (three, blurred) = (krr(indices(3), None, "1"), loose(indices(3), None, blurred()));
    let yes_no: Vec<Vec<f64>> =
        (0..=200).map(|i| vec![1.0 - f64::from(i) / 200.0, f64::from(i) / 200.0]).collect();
    let grid = populations(3, 12);
    let (each, all) = (Settings::default(), Settings::default().all_at_once());
    let unbiased = shares(Method::Unbiased);
    let numbers = krr(bins(&[0.0, 1.0, 3.0, 10.0]), None, "1");
    let asked = |e: &Estimator| vec![e.mean(Method::Unbiased).unwrap().estimate];
    let between = |p: &[f64]| vec![(mean(p, &[0.0, 1.0, 3.0]), mean(p, &[1.0, 3.0, 10.0]))];
    let mut lines = vec![
        format!("| interval | {} |", SIZES.map(|n| format!("n = {n}")).join(" | ")),
        "|---|---:|---:|---:|---:|---:|".to_owned(),
    ];
    for level in ["1", "5"] {
        let policy = krr(indices(2), None, level);
        let name = format!("two symbols, ldp:{level}");
        lines.push(covered(&name, &policy, each, &yes_no, &unbiased, &exactly));
    }
    for (name, policy, settings) in [
        ("randomised response over 3, ldp:1", &three, each),
        ("the same, all at once", &three, all),
        ("some symbols kept more often", &uneven, each),
        ("the optimum for lip:1 and [.5, .3, .2]", &optimal, each),
        ("the same, all at once", &optimal, all),
        ("a blurring table", &blurred, each),
    ] {
        lines.push(covered(name, policy, settings, &grid, &unbiased, &exactly));
    }
    lines.push(covered(
        "mean of numbers in 3 bins, ldp:1",
        &numbers,
        each,
        &grid,
        &asked,
        &between,
    ));
    lines.extend([believed("1"), believed("3")]);
    lines.push(String::new());
    lines.push(
        "| interval of the first share | n = 100 | n = 1000 | n = 10,000 | n = 1,000,000 |".into(),
    );
    lines.push("|---|---:|---:|---:|---:|".into());
    for (name, policy) in [
        ("randomised response over 3, ldp:1", &three),
        ("some symbols kept more often", &uneven),
        ("the optimum for lip:1 and [.5, .3, .2]", &optimal),
    ] {
        lines.push(lengths(name, policy, &prior, &unbiased));
    }
    let tables = lines.join("\n");
    assert!(all_counts(3, 30).len() == 496, "all counts of 30 reports over 3 outputs");

    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/coverage.md");
    let text = std::fs::read_to_string(path).unwrap();
    let (before, rest) = text.split_once("<!-- tables -->\n").unwrap();
    let (stated, after) = rest.split_once("\n<!-- end of tables -->").unwrap();
    if std::env::var_os("UNDERTONE_WRITE_COVERAGE").is_some() {
        let new = format!("{before}<!-- tables -->\n{tables}\n<!-- end of tables -->{after}");
        std::fs::write(path, new).unwrap();
        return;
    }
    assert_eq!(stated, tables, "docs/coverage.md: run this test with UNDERTONE_WRITE_COVERAGE=1");
}
