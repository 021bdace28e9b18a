//! Designing over numbers: clipped and binned on the way in, the representative of a bin on the way out.
//!
//! Every mechanism here is a density with a leakage of its own and ends as a table over the codebook's
//! outputs; the table is what is verified and what ships. A density-level calibration is on the safe
//! side, because putting outputs in cells is post-processing.

mod gaussian;
mod laplace;
mod mean;
mod noiseless;
mod problem;

pub use mean::printed_variances;

use problem::Problem;

use undertone_core::Refusal;

use crate::codebook::Codebook;
use crate::density::Density;
use crate::designer::{self, Designed, PrintedLevel};
use crate::measure::delta::Convention;
use crate::mechanism::Mechanism;
use crate::mechanism::gaussian::Sigma;
use crate::mechanism::laplace::Scale;
use crate::mechanism::linear;
use crate::objective::Objective;
use crate::quantize::PolicySpec;
use crate::{Channel, Distribution, Error, protection};

/// How the noise is made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Method {
    /// Laplace noise confined to the range.
    Laplace(Scale),
    /// Gaussian noise.
    Gaussian(Sigma),
    /// Keep the number with one probability, else draw from the prior.
    Sampling,
    /// The best channel over the same inputs and outputs.
    Optimal,
}

impl Method {
    /// Whether it is a formula of a paper, to be held to its own word.
    pub fn is_printed(&self) -> bool {
        self.origin() == Origin::Printed
    }

    fn origin(&self) -> Origin {
        match self {
            Self::Laplace(Scale::Published | Scale::Instance(Some(_)))
            | Self::Gaussian(Sigma::Published) => Origin::Printed,
            Self::Laplace(Scale::Given(_)) | Self::Gaussian(Sigma::Given(_) | Sigma::Vanilla) => {
                Origin::Given
            }
            _ => Origin::Searched,
        }
    }

    /// The name on the command line.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Laplace(scale) => scale.name(),
            Self::Gaussian(sigma) => sigma.name(),
            Self::Sampling => "sampling",
            Self::Optimal => "optimal",
        }
    }
}

/// What is lost when one number is released for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// |v(X) - v(Y)|.
    Absolute,
    /// (v(X) - v(Y))².
    Squared,
    /// The squared error of the best estimate of v(X) from Y.
    Mmse,
    /// The variance of a released number that is right on average, for every input: what n times the variance of a plain
    /// average of n of them is. The largest over the inputs where no prior is claimed about, else its mean.
    Mean,
}

impl Loss {
    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Absolute => "absolute",
            Self::Squared => "squared",
            Self::Mmse => "mmse",
            Self::Mean => "mean",
        }
    }

    fn objective(self, from: &[f64], to: &[f64]) -> Objective {
        let matrix = |loss: fn(f64) -> f64| {
            let row = |x: &f64| to.iter().map(|y| loss(x - y)).collect();
            Objective::Matrix(from.iter().map(row).collect())
        };
        match self {
            Self::Absolute => matrix(f64::abs),
            Self::Squared | Self::Mean => matrix(|d| d * d),
            Self::Mmse => Objective::Mmse(from.to_vec()),
        }
    }
}

/// A request for a mechanism over continuous data.
#[derive(Debug, Clone)]
pub struct Request {
    /// What the symbols stand for.
    pub codebook: Codebook,
    /// Context, claims and provenance; inputs and outputs are the codebook's.
    pub spec: PolicySpec,
    /// The prior that weighs the loss.
    pub prior: Distribution,
    /// The data's law before it was binned, if it is known: JSTL21 Corollary 10 uses it.
    pub density: Option<Density>,
    /// What the channel is for.
    pub loss: Loss,
    /// How to find it.
    pub method: Method,
    /// What the δ of the claims asked for means. Policies claim in the conditional convention; for
    /// another one the claims are restated as the δ attained there.
    pub convention: Convention,
    /// Whether printed or given noise that misses its claim is shipped with the level it attains.
    pub accept: bool,
}

/// A number about a design, or one for each input.
#[derive(Debug, Clone, PartialEq)]
pub enum Parameter {
    /// One for all.
    One(f64),
    /// One per input.
    Each(Vec<f64>),
}

/// Parameters by name.
pub type Parameters = Vec<(&'static str, Parameter)>;

/// What the noise was meant to keep and what its density keeps, before it is put in cells.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Kept {
    /// ε, at the claimed δ.
    pub epsilon: PrintedLevel,
    /// δ, at the claimed ε; `None` for pure claims.
    pub delta: Option<PrintedLevel>,
}

impl Kept {
    /// Whether the density misses its claim by more than the rounding of floats.
    fn misses(&self) -> bool {
        let over = |level: &PrintedLevel| level.attained > level.claimed + designer::PRINTED_SLACK;
        match &self.delta {
            Some(delta) => over(delta),
            None => over(&self.epsilon),
        }
    }
}

/// A verified policy.
#[derive(Debug, Clone)]
pub struct Shipped {
    /// The policy and what it is worth.
    pub designed: Designed,
    /// The noise, and figures beside it.
    pub parameters: Parameters,
    /// What the density keeps, where it was computed.
    pub density: Option<Kept>,
    /// For the designer's comparison: the same request over the codebook's symbols.
    pub inner: designer::DesignProblem,
}

/// Noise that misses its claim.
#[derive(Debug, Clone)]
pub struct Missed {
    /// The kernel's refusal of the table; `None` if a printed density misses its claim and its table
    /// over these outputs does not.
    pub refusal: Option<Refusal>,
    /// The table.
    pub channel: Channel,
    /// The noise, and figures beside it.
    pub parameters: Parameters,
    /// What the density keeps, where it was computed.
    pub density: Option<Kept>,
}

/// What came of a request.
#[derive(Debug, Clone)]
pub enum ContinuousOutcome {
    /// A verified policy.
    Shipped(Box<Shipped>),
    /// The noise leaks more than it claims.
    Missed(Box<Missed>),
}

/// Tables above this many cells are refused: every search step fills one.
pub const MOST_CELLS: usize = 1 << 21;

/// Optima over more cells than this are not computed just for comparison.
pub const COMPARED_CELLS: usize = 64 * 64;

/// Where noise comes from, and so what it is held to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// Looked for until it kept the claims.
    Searched,
    /// A number somebody gave: its table must keep the claims.
    Given,
    /// A printed formula: its density must keep them too.
    Printed,
}

/// A proposed table and what is known about the noise behind it.
struct Noise {
    channel: Channel,
    parameters: Parameters,
    density: Option<Kept>,
}

/// Designs, rounds, repairs and verifies.
pub fn design(request: &Request) -> Result<ContinuousOutcome, Error> {
    let problem = Problem::of(request)?;
    let origin = request.method.origin();
    if request.loss == Loss::Mean {
        return mean::unbiased(&problem);
    }
    match request.method {
        Method::Laplace(scale) => problem.finish(scale.design(&problem)?, origin),
        Method::Gaussian(sigma) => problem.finish(sigma.design(&problem)?, origin),
        Method::Sampling => noiseless::sampled(&problem),
        Method::Optimal => noiseless::optimal(&problem),
    }
}

/// The optimum of an objective over the same inputs, outputs and claims, where it is linear and small
/// enough to be worth it.
pub fn reachable(shipped: &Shipped) -> Result<Option<f64>, Error> {
    let inner = &shipped.inner;
    let Some(losses) = inner.objective.losses(inner.prior.len())? else { return Ok(None) };
    if losses.len() * losses[0].len() > COMPARED_CELLS {
        return Ok(None);
    }
    match linear::optimal(&inner.spec, &inner.prior, &losses) {
        Ok(found) => Ok(Some(found.optimum)),
        Err(Error::TooLarge { .. }) => Ok(None),
        Err(other) => Err(other),
    }
}

/// What `undertone design` shows beside a design, without optima that would take longer than it.
pub fn compare(shipped: &Shipped) -> Result<designer::Comparison, Error> {
    let inner = &shipped.inner;
    let outputs = inner.spec.outputs.as_ref().map_or(inner.prior.len(), |names| names.len());
    if inner.prior.len() * outputs <= COMPARED_CELLS {
        return designer::compare(inner);
    }
    Ok(bare(inner, inner.objective.blind(&inner.prior)?))
}

/// What is shown beside a design for a mean: nobody without a report has an unbiased number.
pub fn compare_mean(shipped: &Shipped) -> designer::Comparison {
    bare(&shipped.inner, f64::INFINITY)
}

/// A comparison without optima.
fn bare(inner: &designer::DesignProblem, blind: f64) -> designer::Comparison {
    let epsilon = inner.spec.claims.iter().map(protection::level).fold(0.0, f64::max);
    designer::Comparison { epsilon, ldp: None, ldp_twice: None, blind }
}
