//! How an answer is randomised, one mechanism per file, named after what it does; the derivation is in its first
//! comment: claim, proof, what the kernel checks again.
//!
//! Mechanisms and measures do not mirror each other: one mechanism can meet claims of several notions, and what it
//! leaks under each is told by [`crate::measure::audit`]. [`accuracy`] is no mechanism; it asks the others the other way
//! round, for the ε or the people that an accuracy costs.

pub mod accuracy;
pub mod gaussian;
pub mod incidence;
pub mod keep;
pub mod laplace;
pub mod linear;
pub mod mean;
pub mod optimum;
pub mod posterior;
pub mod printed;
pub mod randomized_response;
pub mod robust;
pub mod sampling;
pub mod staircase;
pub mod symmetric;
pub mod unary;
pub mod uncertain;

use crate::{Channel, Error};

/// A way to solve a problem `P`, with everything between the solver and a design.
///
/// Over symbols `P` is [`crate::designer::DesignProblem`], over numbers what [`crate::continuous`] makes of a request, for a secret behind
/// the data [`crate::watchdog::WatchdogProblem`]. Nothing that comes out is trusted: whatever ships was rounded by
/// [`crate::quantize`] and verified by the kernel.
pub trait Mechanism<P> {
    /// What it makes of a problem.
    type Design;

    /// The name people ask for it by.
    fn name(&self) -> &'static str;

    /// Solves the problem.
    fn design(&self, problem: &P) -> Result<Self::Design, Error>;
}

/// A channel as a designer proposes it, before rounding.
#[derive(Debug, Clone, PartialEq)]
pub struct Proposal {
    /// The channel, in floats.
    pub channel: Channel,
    /// What the objective is worth on it, by the solver's account.
    pub optimum: f64,
    /// A bound no channel under the same claims can pass, where the method has one: a lower bound on
    /// a loss, an upper bound on a gain.
    pub bound: Option<f64>,
}
