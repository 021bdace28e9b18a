//! Designs whose guarantees are read off the integers that ship.

use undertone_core::{Alphabet, Policy, Provenance, Ratio};
use undertone_design::designer::{self, DesignOutcome, DesignProblem, Method};
use undertone_design::knowledge::Knowledge;
use undertone_design::objective::Objective;
use undertone_design::quantize::PolicySpec;
use undertone_design::{Channel, Distribution, codebook, measure, protection};

use crate::Error;

/// A design, and what it truly attains.
#[derive(Debug, Clone)]
pub struct Point {
    /// What the objective is worth on the integers; for a printed formula that misses its claim, on
    /// the printed channel. `None` where the objective has no meaning.
    pub utility: Option<f64>,
    /// Attained LIP in nats, rounded up; `None` when no prior is known.
    pub lip: Option<f64>,
    /// Attained LDP in nats, rounded up.
    pub ldp: f64,
    /// The channel; `None` where it is too large to write out.
    pub channel: Option<Channel>,
    /// The symbol each column of the channel stands for, where outputs are read as inputs.
    pub symbols: Vec<usize>,
    /// The verified policy; `None` for a printed formula that misses its claim.
    pub policy: Option<Policy>,
}

impl Point {
    /// Whether a printed formula leaks more than it claims.
    pub fn misses_its_claim(&self) -> bool {
        self.policy.is_none()
    }

    /// The mean of `loss(x, y)` over the outputs y for input x, outputs read as inputs; NaN where the
    /// channel is too large to write out.
    pub fn mean_loss(&self, x: usize, loss: impl Fn(usize, usize) -> f64) -> f64 {
        let Some(channel) = &self.channel else { return f64::NAN };
        self.symbols.iter().enumerate().map(|(at, &y)| channel.q(x, at) * loss(x, y)).sum()
    }

    /// The utility, NaN where it has no meaning: a gap in a plot.
    pub fn value(&self) -> f64 {
        self.utility.unwrap_or(f64::NAN)
    }
}

/// `lip:1`, `ldp:2` as the parser of protections reads them.
pub fn protect(notion: &str, epsilon: f64) -> String {
    format!("{notion}:{epsilon:.10}")
}

/// Designs, verifies and reads the certificate. `prior` weighs the objective.
pub fn design(
    knowledge: &Knowledge,
    prior: &Distribution,
    protections: &[String],
    objective: &Objective,
    method: Method,
) -> Result<Point, Error> {
    let rounded = knowledge.context()?;
    let about = knowledge.subject();
    let claims = protections
        .iter()
        .map(|text| Ok(knowledge.claim(protection::parse(text, about)?)))
        .collect::<Result<_, undertone_design::Error>>()?;
    let request = DesignProblem {
        spec: PolicySpec {
            inputs: Alphabet::indices(prior.len()).map_err(Error::other)?,
            outputs: None,
            context: rounded.context,
            claims,
            provenance: Provenance { rounding: rounded.moved, ..Provenance::default() },
        },
        prior: prior.clone(),
        objective: objective.clone(),
        method,
        accept: false,
        max_bits: None,
    };
    Ok(match designer::design(&request)? {
        DesignOutcome::Shipped(designed) => {
            let strength = designed.policy.certificate().input;
            // Outputs that are never released are dropped; the others keep their number as a name.
            let names = codebook::values(designed.policy.draft().outputs());
            let symbol =
                |&output: &usize| names.as_ref().map_or(output, |names| names[output] as usize);
            Point {
                symbols: designed.outputs.iter().map(symbol).collect(),
                utility: designed.utility,
                lip: strength.lip().map(nats),
                ldp: nats(strength.ldp.ratio),
                channel: designed.channel,
                policy: Some(designed.policy),
            }
        }
        DesignOutcome::Missed(missed) => Point {
            utility: objective.value(prior, &missed.channel).ok(),
            lip: Some(missed.level.attained),
            ldp: measure::ldp::upper_bound(&missed.channel),
            symbols: (0..missed.channel.outputs()).collect(),
            channel: Some(missed.channel),
            policy: None,
        },
    })
}

/// Designs and certifies for one known prior.
pub fn known(
    prior: &Distribution,
    protection: &str,
    objective: &Objective,
    method: Method,
) -> Result<Point, Error> {
    let knowledge = Knowledge::Known(prior.clone());
    design(&knowledge, prior, &[protection.to_owned()], objective, method)
}

/// The logarithm of a ratio in nats, rounded up as printed.
pub fn nats(ratio: Ratio) -> f64 {
    ratio.ln_up().map_or(f64::INFINITY, |nats| nats.units() as f64 / 1e10)
}
