//! Designs bounded Laplace noise for LDP and times bulk draws from the verified policy. See
//! `bench/laplace`.
//!
//! In, as JSON on standard input: `{"low": "0", "high": "3", "inputs": 13, "outputs": 1000, "epsilon":
//! "1", "draws": 16777216}`. Out, as JSON on standard output: the scale, the nanoseconds per draw (the
//! median over blocks of 32,768), and the mean and the mean square of the numbers released for the
//! lowest input.

use std::error::Error;
use std::io::{Read, stdin};
use std::time::Instant;

use rand_chacha::ChaCha12Rng;
use rand_core::{Rng, SeedableRng};
use undertone_core::{Context, Provenance, Sampler, Subject, Symbol};
use undertone_design::codebook::{self, Codebook, Range};
use undertone_design::continuous::{self, ContinuousOutcome, Loss, Method, Parameter, Request};
use undertone_design::measure::delta::Convention;
use undertone_design::mechanism::laplace::Scale;
use undertone_design::quantize::PolicySpec;
use undertone_design::{Distribution, Symbols, protection};

const BLOCK: usize = 1 << 15;

fn main() -> Result<(), Box<dyn Error>> {
    let mut text = String::new();
    stdin().read_to_string(&mut text)?;
    let problem: serde_json::Value = serde_json::from_str(&text)?;
    let word = |name: &str| problem[name].as_str().ok_or(format!("{name}: give a text"));
    let count = |name: &str| problem[name].as_u64().ok_or(format!("{name}: give a number"));
    let range = Range::parse(&[word("low")?.to_owned(), word("high")?.to_owned()])?;
    let (inputs, outputs) = (count("inputs")? as usize, count("outputs")? as usize);
    let (low, high) = range.ends();
    let point = |at: usize| {
        let value = low + (high - low) * at as f64 / (inputs - 1) as f64;
        codebook::nearest(value).ok_or(format!("{value} does not fit"))
    };
    let points = (0..inputs).map(point).collect::<Result<Vec<_>, _>>()?;
    let codebook = Codebook::of_points(points, range, outputs)?;
    let spec = PolicySpec {
        inputs: codebook.inputs().clone(),
        outputs: None,
        context: Context::Unknown,
        claims: vec![protection::parse(&format!("ldp:{}", word("epsilon")?), Subject::Input)?],
        provenance: Provenance::default(),
    };
    let prior = Distribution::uniform(inputs).over(&Symbols::of(codebook.inputs()))?;
    let request = Request {
        codebook,
        spec,
        prior,
        density: None,
        loss: Loss::Squared,
        method: Method::Laplace(Scale::Exact),
        convention: Convention::Conditional,
        accept: false,
    };
    let shipped = match continuous::design(&request)? {
        ContinuousOutcome::Shipped(shipped) => shipped,
        ContinuousOutcome::Missed(_) => return Err("the scale misses its claim".into()),
    };
    let policy = &shipped.designed.policy;
    let scale = shipped.parameters.iter().find(|(name, _)| *name == "scale");
    let Some((_, Parameter::One(scale))) = scale else { return Err("no scale".into()) };

    let sampler = Sampler::new(policy);
    let mut rng = ChaCha12Rng::seed_from_u64(1);
    let symbol = |at: usize| policy.draft().inputs().symbol(at);
    let mixed: Vec<Symbol> = (0..BLOCK)
        .map(|_| symbol((rng.next_u64() % inputs as u64) as usize))
        .collect::<Result<_, _>>()?;
    let mut out = vec![0u32; BLOCK];
    let blocks = (count("draws")? as usize).div_ceil(BLOCK).max(1);
    let mut times = Vec::with_capacity(blocks);
    for _ in 0..blocks {
        let started = Instant::now();
        sampler.draw_indices(&mixed, &mut rng, &mut out)?;
        times.push(started.elapsed().as_secs_f64() * 1e9 / BLOCK as f64);
        std::hint::black_box(&out);
    }
    times.sort_by(f64::total_cmp);

    let values = codebook::values(policy.draft().outputs()).ok_or("outputs are not numbers")?;
    let lowest = vec![symbol(0)?; BLOCK];
    let (mut sum, mut squares) = (0.0, 0.0);
    for _ in 0..32 {
        sampler.draw_indices(&lowest, &mut rng, &mut out)?;
        for &y in &out {
            sum += values[y as usize];
            squares += values[y as usize].powi(2);
        }
    }
    let n = (32 * BLOCK) as f64;
    let found = serde_json::json!({
        "scale": scale,
        "nanoseconds": times[blocks / 2],
        "mean": sum / n,
        "mean_square": squares / n,
        "outputs": policy.draft().outputs().len(),
    });
    println!("{found}");
    Ok(())
}
