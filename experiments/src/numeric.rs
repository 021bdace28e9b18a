//! Numbers released through noise, as verified tables.

use undertone_core::{Claim, Delta, MASS_ONE, Policy, Provenance};
use undertone_design::codebook::{Codebook, Range, nearest};
use undertone_design::continuous::{self, ContinuousOutcome, Loss, Method, Parameter, Request};
use undertone_design::density::Density;
use undertone_design::knowledge::Knowledge;
use undertone_design::measure::delta::Convention;
use undertone_design::quantize::PolicySpec;
use undertone_design::{Channel, Distribution, Symbols, protection};

use crate::{Error, certified};

/// What is released: inputs, their law, and the bins that come out.
#[derive(Debug, Clone)]
pub struct Numbers {
    /// The inputs, increasing.
    pub points: Vec<f64>,
    /// Numbers are clipped to this range.
    pub range: (f64, f64),
    /// Outputs are this many equal bins ..
    pub outputs: usize,
    /// .. over this range.
    pub release: (f64, f64),
    /// The law of the inputs.
    pub prior: Distribution,
    /// The law before it was put on the inputs, which JSTL21 Corollary 10 uses.
    pub density: Option<Density>,
    /// What the error is.
    pub loss: Loss,
}

/// A design and what its integers attain.
#[derive(Debug, Clone)]
pub struct Release {
    /// The mean error; of the printed table where it misses its claim.
    pub error: f64,
    /// Attained LIP, pure, in nats, rounded up.
    pub lip: f64,
    /// Attained LDP, pure, in nats, rounded up.
    pub ldp: f64,
    /// The least δ of the claim, where it has one.
    pub delta: Option<f64>,
    /// The noise: scale, deviation, λ, the largest where there is one for each input.
    pub noise: f64,
    /// The policy; `None` for a printed formula that misses its claim.
    pub policy: Option<Policy>,
}

impl Numbers {
    fn request(&self, protection: &str, method: Method) -> Result<Request, Error> {
        let decimal = |value: f64| {
            nearest(value).ok_or_else(|| Error::other(format!("{value} is no short decimal")))
        };
        let range =
            |(low, high): (f64, f64)| Ok::<_, Error>(Range::new(decimal(low)?, decimal(high)?)?);
        let points = self.points.iter().map(|p| decimal(*p)).collect::<Result<_, Error>>()?;
        let codebook = Codebook::of_points(points, range(self.range)?, self.outputs)?
            .releasing(range(self.release)?, self.outputs)?;
        let prior = self.prior.clone().over(&Symbols::of(codebook.inputs()))?;
        let knowledge = Knowledge::Known(prior.clone());
        let rounded = knowledge.context()?;
        let claim = protection::parse(protection, knowledge.subject())?;
        Ok(Request {
            spec: PolicySpec {
                inputs: codebook.inputs().clone(),
                outputs: Some(codebook.outputs().clone()),
                context: rounded.context,
                claims: vec![claim],
                provenance: Provenance { rounding: rounded.moved, ..Provenance::default() },
            },
            codebook,
            prior,
            density: self.density.clone(),
            loss: self.loss,
            method,
            convention: Convention::Conditional,
            accept: false,
        })
    }

    /// Designs, verifies and reads the certificate.
    pub fn design(&self, protection: &str, method: Method) -> Result<Release, Error> {
        let request = self.request(protection, method)?;
        match continuous::design(&request)? {
            ContinuousOutcome::Shipped(shipped) => {
                let policy = shipped.designed.policy;
                let error = shipped.designed.utility.unwrap_or(f64::NAN);
                Ok(Release { noise: largest(&shipped.parameters), ..read(policy, error) })
            }
            ContinuousOutcome::Missed(missed) => {
                let wide = self.attained(&request.spec, &missed.channel)?;
                let loss = self.mean_error(&request.codebook, &missed.channel)?;
                let noise = largest(&missed.parameters);
                Ok(Release { policy: None, error: loss, noise, ..wide })
            }
        }
    }

    /// What any table over these bins attains, on its integers.
    pub fn audit(&self, protection: &str, channel: &Channel) -> Result<Release, Error> {
        let request = self.request(protection, Method::Optimal)?;
        let error = self.mean_error(&request.codebook, channel)?;
        Ok(Release { error, ..self.attained(&request.spec, channel)? })
    }

    /// The edges of the output bins.
    pub fn edges(&self) -> Vec<f64> {
        let (low, high) = self.release;
        let edge = |at: usize| low + (high - low) * at as f64 / self.outputs as f64;
        (0..=self.outputs).map(edge).collect()
    }

    fn mean_error(&self, codebook: &Codebook, channel: &Channel) -> Result<f64, Error> {
        let outputs = codebook.output_values();
        let loss = |d: f64| if self.loss == Loss::Absolute { d.abs() } else { d * d };
        let row = |(x, p): (usize, &f64)| {
            let cells = outputs.iter().enumerate();
            p * cells.map(|(y, v)| channel.q(x, y) * loss(self.points[x] - v)).sum::<f64>()
        };
        Ok(self.prior.as_slice().iter().enumerate().map(row).sum())
    }

    fn attained(&self, spec: &PolicySpec, channel: &Channel) -> Result<Release, Error> {
        let most = Delta::from_units(MASS_ONE - 1).map_err(Error::other)?;
        let claims = spec.claims.iter().map(|claim: &Claim| claim.with_delta(most)).collect();
        let spec = PolicySpec { claims, ..spec.clone() };
        match spec.verify(channel)? {
            Ok(policy) => Ok(Release { policy: None, ..read(policy, f64::NAN) }),
            Err(refusal) => Err(Error::other(refusal)),
        }
    }
}

/// What the certificate says.
fn read(policy: Policy, error: f64) -> Release {
    let certificate = policy.certificate();
    let strength = certificate.input;
    let delta = certificate.deltas.first().copied().flatten();
    Release {
        error,
        lip: strength.lip().map_or(f64::INFINITY, certified::nats),
        ldp: certified::nats(strength.ldp.ratio),
        delta: delta.map(|least| least.ratio.scaled_up(48) as f64 / MASS_ONE as f64),
        noise: f64::NAN,
        policy: Some(policy),
    }
}

/// The first parameter, which is the noise; the largest where there is one for each input.
fn largest(parameters: &continuous::Parameters) -> f64 {
    match parameters.first() {
        Some((_, Parameter::One(value))) => *value,
        Some((_, Parameter::Each(values))) => values.iter().copied().fold(0.0, f64::max),
        None => f64::NAN,
    }
}
