//! Undertone's mathematics: everything that may use floats and solvers.
//!
//! Nothing computed here is trusted. A design ends as integers that
//! [`undertone_core`] re-checks exactly; a measure is a number for people, and
//! where it is printed as a bound it is rounded outward ([`undertone_numeric::round`]).
//!
//! Laws, channels, joint laws and boxes of priors carry their symbols ([`Symbols`]). Whatever takes two
//! of them matches them by symbol, in the order of the first, or refuses.
//!
//! All leakages are in nats.
//!
//! ```
//! use undertone_design::{Channel, Distribution, measure};
//!
//! // The published "optimal" randomised response for LIP at 1, where one person in ten says yes.
//! let prior = Distribution::new("the prior", vec![0.9, 0.1])?;
//! let channel = Channel::new(vec![vec![0.96321206, 0.03678794], vec![0.33109150, 0.66890850]])?;
//! let leaks = measure::lip::leakage(&prior, &channel)?.nats;
//! assert!((leaks - 1.9005).abs() < 1e-4); // and not 1
//! # Ok::<(), undertone_design::Error>(())
//! ```

pub mod channel;
pub mod codebook;
pub mod continuous;
pub mod density;
pub mod designer;
pub mod distribution;
pub mod error;
pub mod estimation_only;
pub mod extremal;
pub mod fit;
pub mod found;
pub mod informative;
pub mod joint;
pub mod knowledge;
pub mod measure;
pub mod mechanism;
pub mod objective;
pub mod plan;
pub mod price;
pub mod prior_groups;
pub mod prior_region;
pub mod protection;
pub mod quantize;
pub mod risk;
pub mod sample_size;
pub mod shape_facts;
pub mod solve;
pub mod survey_design;
pub mod symbols;
pub mod to_floats;
pub mod watchdog;

pub use channel::Channel;
pub use distribution::Distribution;
pub use error::Error;
pub use joint::Joint;
pub use symbols::Symbols;
