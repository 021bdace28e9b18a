//! Pointwise maximal leakage: max ln lift, the upper side of LIP alone.
//!
//! It bounds how much any answer helps an adversary guess any function of X (arXiv 2310.07381); it
//! says nothing about beliefs that an answer lowers. ZDS22 calls it max-lift.

pub use super::lip::max_lift as leakage;
