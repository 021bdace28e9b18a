//! How an answer is randomised, one mechanism per file, named after what it does; the derivation is in its first
//! comment: claim, proof, what the kernel checks again.
//!
//! Mechanisms and measures do not mirror each other: one mechanism can meet claims of several notions, and what it
//! leaks under each is told by [`crate::measure::audit`]. [`accuracy`] is no mechanism; it asks the others the other way
//! round, for the ε or the people that an accuracy costs.

pub mod accuracy;
pub mod gaussian;
pub mod keep;
pub mod laplace;
pub mod linear;
pub mod posterior;
pub mod randomized_response;
pub mod robust;
pub mod sampling;
pub mod staircase;
pub mod symmetric;
pub mod unary;
pub mod uncertain;

use crate::Channel;

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
