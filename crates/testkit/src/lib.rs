//! What the tests of several crates share. A development dependency only: it panics where a test should fail.
//!
//! | module | holds |
//! |---|---|
//! | [`dice`] | seeded numbers; every test draws from one kind of dice |
//! | [`law`], [`channel`], [`joint`] | random and fixed laws, channels and joint laws, as plain numbers |
//! | [`claim`], [`spec`], [`policy`] | claims, what a policy is asked to be, and policies, in one line |
//! | [`plan`] | plans of several questions, and the law of what their items send |
//! | [`respondents`] | people who answer through a policy |
//! | [`listing`] | the same symbols in several orders |
//! | [`golden`] | the golden values of the specification |
//! | [`integral`] | slow integrals |
//!
//! Laws and channels are lists of floats, so that unit tests inside a crate can use them as well as integration
//! tests: a type of the crate under test would be another type there.
//!
//! ```
//! use undertone_testkit::{channel, dice::Dice, law};
//! let mut dice = Dice::new(1);
//! let prior = law::uneven(3, &mut dice);
//! let rows = channel::rows(3, 4, law::sparse, &mut dice);
//! assert!((prior.iter().sum::<f64>() - 1.0).abs() < 1e-12 && rows.len() == 3);
//! ```
#![allow(clippy::unwrap_used, clippy::missing_panics_doc)]

pub mod channel;
pub mod claim;
pub mod dice;
pub mod golden;
pub mod integral;
pub mod joint;
pub mod law;
pub mod listing;
pub mod plan;
pub mod policy;
pub mod respondents;
pub mod spec;
