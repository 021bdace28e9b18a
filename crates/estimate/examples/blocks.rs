//! How long a survey through numbered blocks takes to read: unbiased shares with their intervals, and the likeliest shares.
//!
//! `cargo run --release -p undertone-estimate --example blocks`

use std::error::Error;
use std::time::Instant;
use undertone_core::{
    Alphabet, Claim, Context, Draft, Family, Geometry, Incidence, Policy, Provenance, Sampler,
    Shape,
};
use undertone_estimate::{Estimator, Method, Pool, Settings, Tally};
use undertone_testkit::claim::epsilon;
use undertone_testkit::dice::Dice;
use undertone_testkit::respondents::multinomial;

fn main() -> Result<(), Box<dyn Error>> {
    for (symbols, dimension) in [(1000, 6), (5000, 7), (20_000, 8), (1_000_000, 11)] {
        let policy = policy(symbols, dimension)?;
        let start = Instant::now();
        let tally = survey(&policy, 1_000_000)?;
        println!(
            "{symbols} symbols, {} blocks, 10^6 reports drawn in {:.2?}",
            policy.draft().shape().outputs(),
            start.elapsed()
        );
        let start = Instant::now();
        let estimator = Estimator::new(Pool::new(&policy, tally)?, Settings::default())?;
        println!("  decoded in {:.2?}", start.elapsed());
        let start = Instant::now();
        let shares = estimator.shares(Method::Unbiased)?;
        let first = &shares.symbols[0];
        println!(
            "  shares and intervals in {:.2?}: the first is {:.4} to {:.4}",
            start.elapsed(),
            first.low,
            first.high
        );
        let start = Instant::now();
        let ranks: Vec<f64> = (0..symbols).map(|x| x as f64).collect();
        let mean = estimator.linear(Method::Unbiased, &ranks)?.estimate;
        println!("  the mean rank in {:.2?}: {:.1} to {:.1}", start.elapsed(), mean.low, mean.high);
        let start = Instant::now();
        let fit = estimator.fit();
        println!("  the likeliest in {:.2?}, {} steps {}", start.elapsed(), fit.steps, fit.note);
    }
    Ok(())
}

/// A projective geometry of order 4 at ε = 1, whose blocks hold a quarter of the symbols.
fn policy(symbols: usize, dimension: u32) -> Result<Policy, Box<dyn Error>> {
    let family = Family::Geometry(Geometry::new(4, dimension, 1, 0, true)?);
    let probe = Incidence::new(symbols, 0, family.clone())?;
    let (all, each) = (probe.blocks().unwrap_or(0), probe.replication().unwrap_or(0));
    let odds = 1f64.exp() * (1.0 - 1e-9) * each as f64 / (all - each) as f64;
    let coin = (odds / (1.0 + odds) * undertone_core::MASS_ONE as f64) as u64;
    let shape = Shape::Incidence(Incidence::new(symbols, coin, family)?);
    let (inputs, claims) = (Alphabet::indices(symbols)?, vec![Claim::ldp(epsilon("1"))]);
    let draft = Draft::new(inputs, None, shape, Context::Unknown, claims, Provenance::default())?;
    Ok(draft.verify()?)
}

/// People whose symbols follow Zipf's law.
fn survey(policy: &Policy, people: u64) -> Result<Tally, Box<dyn Error>> {
    let inputs = policy.draft().inputs();
    let weights: Vec<f64> = (1..=inputs.len()).map(|rank| 1.0 / rank as f64).collect();
    let total: f64 = weights.iter().sum();
    let shares: Vec<f64> = weights.iter().map(|weight| weight / total).collect();
    let mut dice = Dice::new(1);
    let mut symbols = Vec::new();
    for (x, count) in multinomial(people, &shares, &mut dice).into_iter().enumerate() {
        let symbol = inputs.symbol(x)?;
        symbols.extend(std::iter::repeat_n(symbol, count as usize));
    }
    let mut blocks = vec![0; symbols.len()];
    Sampler::new(policy).draw_indices(&symbols, &mut dice, &mut blocks)?;
    let mut tally = Tally::new(policy);
    tally.add_indices(&blocks)?;
    Ok(tally)
}
