//! The mechanisms for numbers against slow, independent computations, and what ships against what was
//! claimed.
#![allow(clippy::unwrap_used)]

mod dice;
mod gaussian;
mod laplace;
mod shipped;
