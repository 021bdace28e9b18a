//! Larger surveys, simulated: nominal 95 % intervals hold the truth at least that often, and are not much longer than
//! the normal law would have them. Small surveys are enumerated in `coverage_exact`.
//!
//! Statistics with a seed: 1,000 replications.

use crate::common::{coverage, holds};
use undertone_core::Alphabet;
use undertone_estimate::{Estimate, Method, Settings};
use undertone_testkit::policy::{binary, krr, optimal, oue};
use undertone_testkit::respondents::Source;

fn against(estimates: &[Estimate], truth: &[f64]) -> Vec<(Estimate, f64)> {
    estimates.iter().copied().zip(truth.iter().copied()).collect()
}

const EIGHT: [f64; 8] = [0.3, 0.2, 0.15, 0.12, 0.1, 0.08, 0.04, 0.01];
const FIVE: [f64; 5] = [0.4, 0.25, 0.2, 0.1, 0.05];

fn shares(name: &str, sources: &[(&Source, u64)], p: &[f64], seed: u64, widest: f64) {
    for method in [Method::Unbiased, Method::Mle] {
        let found = coverage(sources, p, seed, Settings::default(), |estimator, _| {
            against(&estimator.shares(method).unwrap().symbols, p)
        });
        holds(&format!("{name}, {method:?}, population"), &found, widest);
    }
    let settings = Settings::default().of_respondents();
    let found = coverage(sources, p, seed + 1, settings, |estimator, respondents| {
        against(&estimator.shares(Method::Unbiased).unwrap().symbols, respondents)
    });
    holds(&format!("{name}, unbiased, respondents"), &found, 1.4);
}

fn posterior(name: &str, sources: &[(&Source, u64)], p: &[f64], seed: u64) {
    let found = coverage(sources, p, seed, Settings::default(), |estimator, respondents| {
        against(&estimator.shares(Method::Mmse).unwrap().symbols, respondents)
    });
    holds(&format!("{name}, with the prior"), &found, 1.45);
}

#[test]
fn yes_or_no_with_a_rare_yes() {
    let source = Source::new(binary(0.1, "1"));
    let truth = [0.9, 0.1];
    shares("binary", &[(&source, 500)], &truth, 11, 1.1);
    posterior("binary", &[(&source, 500)], &truth, 12);
}

#[test]
fn randomised_response_over_eight() {
    let source = Source::new(krr(Alphabet::indices(8).unwrap(), Some(&EIGHT), "2"));
    shares("krr 8", &[(&source, 2000)], &EIGHT, 21, 1.1);
    posterior("krr 8", &[(&source, 2000)], &EIGHT, 22);
}

#[test]
fn an_optimal_table() {
    let source = Source::new(optimal(&FIVE, "1"));
    shares("table 5", &[(&source, 2000)], &FIVE, 31, 1.35);
    posterior("table 5", &[(&source, 2000)], &FIVE, 32);
}

#[test]
fn unary_bits() {
    let source = Source::new(oue(8, Some(&EIGHT), "2"));
    shares("oue 8", &[(&source, 1000)], &EIGHT, 41, 1.1);
}
