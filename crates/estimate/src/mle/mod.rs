//! Maximum likelihood: the shares under which the reports are most likely.
//!
//! The log-likelihood is concave in the shares. One `Keep` policy has an exact maximum in closed form
//! (`water.rs`); so have the bit counts of `Bits` policies (`bits.rs`); a square table whose unbiased
//! shares are all possible has those as its maximum. Everything else is climbed by expectation
//! maximisation (iterative Bayes), accelerated (`em.rs`).
//!
//! For `Bits` the counts of bits are all a tally keeps, and a report says more than that: which bits
//! were set together. What is maximised for them is the likelihood of the counts as if the bits were
//! independent, a composite likelihood, and the fit says so. Numbered blocks are counted by block, so that theirs is the whole likelihood,
//! climbed with two sums over all blocks a step; where there are too many of them, their symbols' counts are taken like bits.

mod bits;
mod em;
mod law;
mod water;

pub(crate) use law::LinearLaw;

use crate::channel::Channel;
use crate::pool::Group;
use crate::{Error, Estimator};
use serde::Serialize;

/// The shares under which the reports are most likely.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Fit {
    /// One share per symbol; they sum to one.
    pub shares: Vec<f64>,
    /// The log-likelihood there, without the terms that do not depend on the shares.
    pub log_likelihood: f64,
    /// No shares have a log-likelihood more than this above it (concavity).
    pub gap: f64,
    /// How many times all reports were gone through; 0 for a closed form.
    pub steps: usize,
    /// Whether no more than 1e-10 of the log-likelihood can be left to gain.
    pub converged: bool,
    /// How it was found, and for bits that their counts are not all a report says.
    pub note: String,
}

/// The relative gain in log-likelihood that may be left.
pub(crate) const TOLERANCE: f64 = 1e-10;

/// Climbing stops here, and says so.
const MOST_STEPS: usize = 30_000;

/// The best fit; where several fit equally well, one near `start`, which is positive everywhere.
/// `unbiased` are the shares a square, invertible system gives.
pub(crate) fn fit(groups: &[Group], start: &[f64], unbiased: Option<Vec<f64>>) -> Fit {
    let problem = em::Problem::new(groups);
    let only_bits = groups.iter().all(|group| group.climbed_outputs().is_none());
    let (shares, how) = match (groups, unbiased) {
        ([Group { channel: Channel::Keep(keep), tally, .. }], _) => {
            match water::fill(keep, tally.counts()) {
                Some(shares) => (shares, "the exact maximum, by filling up"),
                None => return climb(&problem, start),
            }
        }
        ([group], Some(shares))
            if has_square_law(group) && shares.iter().all(|&share| share >= 0.0) =>
        {
            (shares, "the exact maximum: the unbiased shares are all possible")
        }
        _ if only_bits => (
            problem.shares_from(&vec![0.0; start.len()], start),
            "the exact maximum, by filling up",
        ),
        _ => return climb(&problem, start),
    };
    let (log_likelihood, gap) = problem.certify(&shares);
    let note = problem.note(how);
    let converged = gap <= TOLERANCE * log_likelihood.abs().max(1.0);
    let closed = Fit { shares, log_likelihood, gap, steps: 0, converged, note };
    // Rounding in a poorly conditioned inverse can leave a closed form short of its certificate.
    if converged {
        return closed;
    }
    let climbed = climb(&problem, start);
    if climbed.gap < closed.gap { climbed } else { closed }
}

/// Whether unbiased shares reproduce the seen counts: those of a table that was inverted do, and those of as many blocks as symbols.
fn has_square_law(group: &Group) -> bool {
    match &group.channel {
        Channel::Table(_) => true,
        Channel::Keep(_) => false,
        Channel::Bits(bits) => {
            bits.blocks().is_some_and(|blocks| blocks.outputs() == blocks.inputs())
        }
    }
}

/// The best fit to how often the outputs of one law were seen, all of them possible; `closed` is one that is known to be the maximum unless rounding spoilt it.
pub(crate) fn fit_law(law: &dyn LinearLaw, counts: Vec<f64>, closed: Option<Vec<f64>>) -> Fit {
    let problem = em::Problem::of(law, counts);
    let start = vec![1.0 / law.inputs() as f64; law.inputs()];
    if let Some(shares) = closed {
        let (log_likelihood, gap) = problem.certify(&shares);
        if gap <= TOLERANCE * log_likelihood.abs().max(1.0) {
            let note = "the exact maximum: the unbiased shares are all possible".into();
            return Fit { shares, log_likelihood, gap, steps: 0, converged: true, note };
        }
    }
    climb(&problem, &start)
}

fn climb(problem: &em::Problem<'_>, start: &[f64]) -> Fit {
    let climbed = problem.climb(start, TOLERANCE, problem.most_steps(MOST_STEPS));
    let how = if climbed.converged {
        "by expectation maximisation"
    } else {
        "by expectation maximisation, which was stopped before it had converged"
    };
    Fit {
        log_likelihood: climbed.log_likelihood,
        gap: climbed.gap,
        steps: climbed.steps,
        converged: climbed.converged,
        note: problem.note(how),
        shares: climbed.shares,
    }
}

impl Estimator {
    /// Plain iterative Bayes from the uniform distribution, as it is usually run: until no share moves by
    /// `tolerance` or more, or `most` steps were taken. For comparison: the shares of
    /// [`Estimator::fit`] are at the maximum, these are where the steps became small.
    pub fn iterative_bayes(&self, tolerance: f64, most: usize) -> Result<Fit, Error> {
        if !(tolerance > 0.0) {
            let range = "above 0";
            return Err(Error::Range { what: "the tolerance", value: tolerance, range });
        }
        if self.groups.iter().any(|group| group.climbed_outputs().is_none()) {
            let problem = "it needs each report's whole row of bits, and a tally keeps their counts; or there are too many blocks";
            return Err(Error::unanswerable("iterative Bayes", problem));
        }
        let problem = em::Problem::new(&self.groups);
        let uniform = vec![1.0 / self.symbols() as f64; self.symbols()];
        let (shares, steps) = problem.iterate(&uniform, tolerance, most);
        let (log_likelihood, gap) = problem.certify(&shares);
        let converged = gap <= TOLERANCE * log_likelihood.abs().max(1.0);
        let note = "by plain iterative Bayes".into();
        Ok(Fit { shares, log_likelihood, gap, steps, converged, note })
    }
}
