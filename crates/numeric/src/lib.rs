//! Numerical methods that Undertone's other crates share: each is here once, with tests against
//! independent values.
//!
//! | module | holds |
//! |---|---|
//! | [`normal`], [`student`], [`gamma`], [`beta`], [`binomial`] | special functions and tails, accurate where they are small |
//! | [`simplex`], [`mixture`], [`cutting_planes`] | one simplex that ends at a vertex, and its two uses |
//! | [`cone`] | extreme rays of a polyhedral cone |
//! | [`vector`], [`dense`], [`cholesky`], [`qr`], [`symmetric`] | small dense algebra |
//! | [`hermite`] | quadrature against the normal law |
//! | [`root`], [`bisection`], [`threshold`], [`golden_section`] | roots and dips of functions of one number |
//! | [`dice`] | a seeded generator, and draws from any generator |
//! | [`round`] | arithmetic rounded outward, the direction in the name |
//!
//! Nothing here reads a file or a clock, draws from the system's randomness, or uses another crate of the
//! workspace: an answer depends on its arguments alone.
//!
//! ```
//! use undertone_numeric::binomial::binomial_interval;
//! // 5 hits in 100 trials, each end missed with a probability of at most 2.5 %.
//! let (low, high) = binomial_interval(5, 100, 0.025);
//! assert!((low - 0.0164).abs() < 1e-4 && (high - 0.1128).abs() < 1e-4);
//! ```

pub mod beta;
pub mod binomial;
pub mod bisection;
pub mod cholesky;
pub mod cone;
pub mod cutting_planes;
pub mod dense;
pub mod dice;
pub mod gamma;
pub mod golden_section;
pub mod hermite;
mod lentz;
pub mod mixture;
pub mod normal;
pub mod qr;
pub mod root;
pub mod round;
pub mod simplex;
pub mod student;
pub mod symmetric;
pub mod threshold;
pub mod vector;
