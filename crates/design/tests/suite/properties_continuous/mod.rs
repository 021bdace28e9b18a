//! The mechanisms for numbers against slow, independent computations, and what ships against what was
//! claimed.
mod dice;
mod gaussian;
mod laplace;
mod shipped;
