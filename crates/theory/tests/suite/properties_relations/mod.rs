//! Relations against slow, independent measures: no corrected implication is ever violated, every
//! witness attains its supremum, every false printed form is violated, every counterexample is one.

// The measures are written as the definitions are, with indices.
#![allow(clippy::needless_range_loop)]

mod datum;
mod forms;
pub(crate) mod generate;
mod network;
mod refutations;
mod slow;
