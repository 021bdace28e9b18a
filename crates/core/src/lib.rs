//! Undertone's kernel: what runs on a device, and what an auditor trusts.
//!
//! A mechanism ends as a *policy*: a finite channel written in integers, with the claims it makes.
//! [`Draft::verify`] re-checks every inequality of every claim exactly and is the only way to a
//! [`Policy`]; only a policy can randomise; only a [`Report`] leaves the device. The table that is
//! checked is the table that is sampled.
//!
//! ```
//! use undertone_core::{Alphabet, Claim, Context, Draft, Epsilon, Keep, Provenance, Shape};
//! use rand_chacha::{ChaCha20Rng, rand_core::SeedableRng};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // Randomised response over two symbols: half of the answers are kept, the others are a coin's.
//! let claiming = |nats: &str| -> Result<Draft, Box<dyn std::error::Error>> {
//!     let shape = Shape::Keep(Keep::new(vec![1 << 39; 2], vec![1 << 47; 2])?);
//!     let claims = vec![Claim::ldp(Epsilon::parse(nats)?)];
//!     let inputs = Alphabet::indices(2)?;
//!     Ok(Draft::new(inputs, None, shape, Context::Unknown, claims, Provenance::default())?)
//! };
//! assert!(claiming("1")?.verify().is_err()); // an answer is three times as likely from one input: ln 3
//! let policy = claiming("1.1")?.verify().map_err(|refusal| refusal.to_string())?;
//! assert_eq!(policy.ldp().map(|nats| nats.to_string()).as_deref(), Some("1.0986122887"));
//!
//! // A test's generator; a device uses its system's.
//! let mut rng = ChaCha20Rng::seed_from_u64(1);
//! let token = policy.draw(policy.draft().inputs().symbol(1)?, &mut rng)?;
//! # let _ = token;
//! # Ok(())
//! # }
//! ```
//!
//! Start with [`policy`], then [`certificate`] and [`sample`]. There are no floats here, no `unsafe`,
//! no clock and no I/O; randomness is an argument.

#![no_std]
// A refusal carries its exact ratios; it is the product, not an afterthought.
#![expect(clippy::result_large_err, reason = "refusals carry exact ratios")]

extern crate alloc;

pub mod alphabet;
pub mod certificate;
pub mod claim;
mod codec;
mod columns;
pub mod consent;
pub mod context;
pub mod decimal;
mod delta;
pub mod document;
pub mod epsilon;
pub mod ledger;
mod likelihood;
pub mod mass;
pub mod nats;
pub mod policy;
pub mod ratio;
pub mod report;
pub mod sample;
pub mod sequence;
pub mod shape;
mod strict;
pub mod symbol;
mod transcript;
mod unary;
pub mod wide;

pub use alphabet::{Alphabet, AlphabetError, AlphabetView};
pub use certificate::{Cell, Certificate, LeastDelta, Refusal, Side, Strength, Worst};
pub use claim::{Bound, Claim, Delta, Subject};
pub use consent::{AboveConsent, Consent, SecretConsent};
pub use context::{Context, ContextError, PriorBox, Priors, Secret};
pub use decimal::Decimal;
pub use document::DecodeError;
pub use epsilon::{Epsilon, EpsilonError};
pub use ledger::{Decision, Exhausted, Ledger, Permit, Release};
pub use mass::{KEEP_ONE, MASS_ONE, PartsError, Prior, Row, WEIGHT_ONE};
pub use nats::Nats;
pub use policy::{Draft, DraftError, Policy, PolicyError, PolicyId, Provenance};
pub use ratio::Ratio;
pub use report::{Foreign, Report, ReportId};
pub use sample::{SampleError, Sampler};
pub use sequence::{Sequence, Standing};
pub use shape::{Bits, Keep, Shape, ShapeError, Table};
pub use strict::Object;
pub use symbol::{Symbol, Token};
pub use wide::Wide;
