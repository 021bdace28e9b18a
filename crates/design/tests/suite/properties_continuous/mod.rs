//! The mechanisms for numbers against slow, independent computations, and what ships against what was
//! claimed.
mod gaussian;
mod generate;
mod laplace;
mod shipped;
