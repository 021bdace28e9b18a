//! Numerical methods against exact arithmetic.

#![allow(clippy::unwrap_used)]

mod rounding;
