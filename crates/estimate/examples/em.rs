//! Times maximum likelihood: counts as JSON on standard input, results as JSON on standard output.
//!
//! In: `{"epsilon": 3.0, "counts": [..], "tolerance": 1e-12, "steps": 10000, "dense": true}`. Out, for
//! each way of fitting k-ary randomised response: seconds of processor time, steps, log-likelihood per
//! report, how far the top can be above it, and the shares. See `bench/estimate`.

use std::error::Error;
use std::io::{Read, stdin};
use std::time::Instant;

use serde_json::{Value, json};
use undertone_core::{
    Alphabet, Claim, Context, Delta, Draft, Epsilon, KEEP_ONE, Keep, MASS_ONE, Policy, Provenance,
    Shape, Table,
};
use undertone_estimate::{Estimator, Fit, Pool, Settings, Tally};

/// How often the exact fit is repeated.
const MANY: usize = 500;

fn main() -> Result<(), Box<dyn Error>> {
    let mut text = String::new();
    stdin().read_to_string(&mut text)?;
    let problem: Value = serde_json::from_str(&text)?;
    let epsilon = problem["epsilon"].as_f64().ok_or("epsilon: give a number")?;
    let counts: Option<Vec<u64>> =
        problem["counts"].as_array().and_then(|list| list.iter().map(Value::as_u64).collect());
    let counts = counts.ok_or("counts: give a list of whole numbers")?;
    let tolerance = problem["tolerance"].as_f64().ok_or("tolerance: give a number")?;
    let steps = problem["steps"].as_u64().ok_or("steps: give a whole number")? as usize;

    let policy = keep(counts.len(), epsilon)?;
    let keep = estimator(policy.clone(), &counts)?;
    let mut found = vec![timed("plain, keep", || keep.iterative_bayes(tolerance, steps))?];
    // Too short for the clock, so many at once; an estimator fits only once.
    let many: Vec<Estimator> =
        (0..MANY).map(|_| estimator(policy.clone(), &counts)).collect::<Result<_, _>>()?;
    let mut exact = timed("exact, keep", || {
        many.iter().for_each(|one| assert_eq!(one.fit().steps, 0));
        Ok(many[0].fit().clone())
    })?;
    exact["seconds"] = json!(exact["seconds"].as_f64().unwrap_or(0.0) / MANY as f64);
    found.push(exact);
    if problem["dense"] == true {
        let dense = estimator(table(counts.len(), epsilon)?, &counts)?;
        found.push(timed("plain, table", || dense.iterative_bayes(tolerance, steps))?);
        found.push(timed("climbed, table", || Ok(dense.fit().clone()))?);
    }
    println!("{}", Value::from(found));
    Ok(())
}

/// The probability of keeping the input.
fn lambda(size: usize, epsilon: f64) -> f64 {
    (epsilon.exp() - 1.0) / (epsilon.exp() + size as f64 - 1.0)
}

fn keep(size: usize, epsilon: f64) -> Result<Policy, Box<dyn Error>> {
    let level = (lambda(size, epsilon) * KEEP_ONE as f64) as u64;
    policy(size, Shape::Keep(Keep::new(vec![level; size], even(size))?))
}

fn table(size: usize, epsilon: f64) -> Result<Policy, Box<dyn Error>> {
    let own = (lambda(size, epsilon) * MASS_ONE as f64) as u64;
    let row = |x: usize| {
        let rest = MASS_ONE - own;
        let mut row = vec![rest / size as u64; size];
        row[x] += own + rest % size as u64;
        row
    };
    policy(size, Shape::Table(Table::from_masses((0..size).map(row).collect())?))
}

fn even(size: usize) -> Vec<u64> {
    let mut parts = vec![MASS_ONE / size as u64; size];
    parts[0] += MASS_ONE % size as u64;
    parts
}

/// The claim does not matter here; it is the weakest there is.
fn policy(size: usize, shape: Shape) -> Result<Policy, Box<dyn Error>> {
    let claim =
        Claim { delta: Delta::from_units(MASS_ONE - 1)?, ..Claim::ldp(Epsilon::parse("22")?) };
    let inputs = Alphabet::indices(size)?;
    let draft =
        Draft::new(inputs, None, shape, Context::Unknown, vec![claim], Provenance::default())?;
    draft.verify().map_err(|refusal| refusal.to_string().into())
}

fn estimator(policy: Policy, counts: &[u64]) -> Result<Estimator, Box<dyn Error>> {
    let mut tally = Tally::new(&policy);
    tally.add_counts(counts)?;
    Ok(Estimator::new(Pool::new(&policy, tally)?, Settings::default())?)
}

fn timed(
    name: &str,
    run: impl FnOnce() -> Result<Fit, undertone_estimate::Error>,
) -> Result<Value, Box<dyn Error>> {
    let (before, started) = (processor_seconds(), Instant::now());
    let fit = run()?;
    let seconds = match (before, processor_seconds()) {
        (Some(before), Some(after)) => after - before,
        _ => started.elapsed().as_secs_f64(),
    };
    Ok(json!({
        "name": name, "seconds": seconds, "steps": fit.steps, "gap": fit.gap,
        "log_likelihood": fit.log_likelihood, "shares": fit.shares,
    }))
}

/// What this thread spent on a processor, where the system says so.
fn processor_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse::<f64>().ok().map(|nanoseconds| nanoseconds * 1e-9)
}
