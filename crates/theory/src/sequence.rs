//! Correlated data X_1..X_T, each released through its own channel: what all outputs reveal together.
//!
//! The joint law is a [`Process`]: listed trajectories or a Markov chain, with the independent, the
//! comonotone and the constant ("the same secret every epoch") couplings ready made. For known
//! channels [`leakage()`] gives the leakage of the whole trajectory and of each X_k, [`posterior()`] the
//! forward-backward answer for one observed output sequence. For promises instead of channels there
//! are the bound of JSTL21 Corollary 5 ([`published`], [`sharpened`]) and the exact [`worst_case`].

mod leakage;
mod posterior;
mod process;
mod worst;

pub use leakage::{Lifts, SequenceLeakage, exact_leakage, leakage, leakage_bound};
pub use posterior::{Posterior, posterior};
pub use process::Process;
pub use worst::{SequenceWorstCase, independent_worst_case, worst_case};

use crate::composition::{exact_ldp, ldp_to_lip, printed_ldp};
use undertone_design::Error;
use undertone_design::extremal::LiftRange;

/// JSTL21 Corollary 5 (11) as printed: ln(p + (1-p) e^D), D = Σ_k min{2ε_k, ln((E_k - 1 + p_k)/p_k)},
/// p the smallest probability of a trajectory and p_k the smallest of X_k. True but loose; with
/// p = 0, as under any coupling that forbids a trajectory, it is D.
pub fn published(process: &Process, ranges: &[LiftRange]) -> Result<f64, Error> {
    process.check_len("the list of promises", ranges.len())?;
    let steps = ranges.iter().zip(process.marginals());
    let ldp = steps.map(|(range, law)| printed_ldp(law.min(), range.epsilon())).sum();
    Ok(ldp_to_lip(process.min_mass(), ldp))
}

/// Corollary 5 with p taken over the trajectories that can occur and each step's exact LDP level.
///
/// The likelihoods of two trajectories differ by at most D = Σ_k D_k, D_k the exact LDP level of the
/// promise among the symbols X_k can take; their prior-weighted mean is the likelihood of the
/// output, so 1/lift is at most p + (1-p)e^D and lift at most 1/(p + (1-p)e^-D), which is smaller.
pub fn sharpened(process: &Process, ranges: &[LiftRange]) -> Result<f64, Error> {
    process.check_len("the list of promises", ranges.len())?;
    let steps = ranges.iter().zip(process.marginals());
    let ldp = steps.map(|(range, law)| exact_ldp(law, range)).sum();
    Ok(ldp_to_lip(process.min_support_mass(), ldp))
}
