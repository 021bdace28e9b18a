//! Hypotheses that move: what everything said over many epochs tells of a private one that persists or drifts.
//!
//! The pair (H, G) follows a Markov chain ([`Chain`]); readings of an epoch depend on the pair of that epoch alone, and the
//! maps stay the same. [`Course`] is what is certified of it, in integers: belief in G at any epoch, in its whole path, or in
//! a property of the path. [`Filter`] is the centre's belief in H, which remembers what was said before.

mod chain;
mod course;
mod filter;
mod path;
mod process;
mod track;

pub use chain::{Chain, ExactChain};
pub use course::{Course, Horizon, Leak, Secret, horizons};
pub(crate) use course::{PATH_BUDGET, kept};
pub use filter::Filter;
pub use track::{Tracking, track};
