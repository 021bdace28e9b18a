//! Numerical methods against exact arithmetic.

mod rounding;
