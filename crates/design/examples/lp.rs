//! Times one optimal design: a problem as JSON on standard input, the result as JSON on standard output.
//!
//! In: `{"prior": [..], "epsilon": "1", "loss": "absolute" | "hamming"}`. Out: the seconds from
//! the prior to a verified policy (quantising, solving, repairing, verifying), the solver's optimum and
//! bound, and the loss of the integers that ship. See `bench/lp`.

use std::error::Error;
use std::io::{Read, stdin};
use std::time::Instant;

use undertone_core::{Alphabet, Claim, Context, Epsilon, Provenance};
use undertone_design::objective::Objective;
use undertone_design::quantize::{self, PolicySpec};
use undertone_design::{Distribution, mechanism::linear};

fn main() -> Result<(), Box<dyn Error>> {
    let mut text = String::new();
    stdin().read_to_string(&mut text)?;
    let problem: serde_json::Value = serde_json::from_str(&text)?;
    let numbers = problem["prior"].as_array().ok_or("prior: give a list of numbers")?;
    let numbers: Option<Vec<f64>> = numbers.iter().map(serde_json::Value::as_f64).collect();
    let prior = Distribution::new("prior", numbers.ok_or("prior: give numbers")?)?;
    let epsilon = problem["epsilon"].as_str().ok_or("epsilon: give it as text")?;
    let objective = match problem["loss"].as_str() {
        Some("absolute") => Objective::Absolute((0..prior.len()).map(|x| x as f64).collect()),
        Some("hamming") => Objective::Hamming,
        _ => return Err("loss: give absolute or hamming".into()),
    };
    let started = Instant::now();
    let losses = objective.losses(prior.len())?.ok_or("a linear loss is needed")?;
    let spec = PolicySpec {
        inputs: Alphabet::indices(prior.len())?,
        outputs: None,
        context: Context::Known(quantize::prior(&prior)?.prior),
        claims: vec![Claim::lip(Epsilon::parse(epsilon)?)],
        provenance: Provenance::default(),
    };
    let design = linear::design(&spec, &prior, &losses)?;
    let seconds = started.elapsed().as_secs_f64();
    let found = serde_json::json!({
        "seconds": seconds,
        "optimum": design.proposal.optimum,
        "bound": design.proposal.bound,
        "loss": design.loss,
        "mixed": design.shipped.mixed,
        "outputs": design.outputs.len(),
    });
    println!("{found}");
    Ok(())
}
