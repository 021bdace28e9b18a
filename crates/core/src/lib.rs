//! Undertone's kernel: what runs on a device, and what an auditor trusts.
//!
//! A mechanism ends as a *policy*: a finite channel written in integers, with the claims it makes.
//! [`Draft::verify`] re-checks every inequality of every claim exactly and is the only way to a
//! [`Policy`]; only a policy can randomise; only a [`Report`] leaves the device. The table that is
//! checked is the table that is sampled.
//!
//! ```
//! use rand_chacha::{ChaCha20Rng, rand_core::SeedableRng};
//! use undertone_core::{
//!     Alphabet, Claim, Consent, Context, Draft, Epsilon, Ledger, Provenance, Sequence, Shape, Table,
//! };
//!
//! // Randomised response with odds 3, in units of 2^-48, and what it claims: LDP at ln 3.
//! let table = Table::from_masses(vec![vec![3 << 46, 1 << 46], vec![1 << 46, 3 << 46]])?;
//! let names = Alphabet::names(["no", "yes"])?;
//! let claims = vec![Claim::ldp(Epsilon::parse("1.0986122887")?)];
//! let channel = Shape::Table(table);
//! let draft =
//!     Draft::new(names, None, channel, Context::Unknown, claims, Provenance::default())?;
//! let policy = draft.verify()?; // exact; a false claim is refused with the cell that shows it
//! assert_eq!(policy.ldp(), Some("1.0986122887".parse()?));
//!
//! // A budget, what the person agrees to, and an answer by name. Seed from the system, never twice.
//! let mut rng = ChaCha20Rng::from_seed([7; 32]);
//! let mut ledger = Ledger::new("2".parse()?);
//! let (past, consent) = (Sequence::new(), Consent::default());
//! let report = ledger.answer("smoking", &policy, "yes", &past, &consent, &mut rng)?;
//! assert!(report.is_some()); // `None`: answered before, send that report again
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```
//!
//! Start reading with [`policy`], then [`certificate`] and [`sample`]. There are no floats here, no `unsafe`,
//! no clock and no I/O; randomness is an argument. What cannot be examined is refused.

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
pub mod incidence;
pub mod ledger;
mod likelihood;
pub mod magnitude;
pub mod mass;
pub mod nats;
pub mod plan;
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
pub use incidence::{Family, Geometry, Incidence, IncidenceError, Listed, Subsets};
pub use ledger::{Decision, Ledger, LedgerError, Permit, Release};
pub use magnitude::{Bounds, Magnitude, Round};
pub use mass::{KEEP_ONE, MASS_ONE, PartsError, Prior, Row, WEIGHT_ONE};
pub use nats::Nats;
pub use plan::{
    Belief, Choice, Given, Item, ItemAnswer, Law, LawError, Node, Outcome, Person, Plan, PlanClaim,
    PlanDecodeError, PlanDraft, PlanError, PlanId, PlanParts, PlanReadError, PlanRefusal, PlanSide,
    Point, Question, Response, ResponseMismatch, SecretVariable, Variable, Walk,
};
pub use policy::{Draft, DraftError, Policy, PolicyError, PolicyId, Provenance};
pub use ratio::Ratio;
pub use report::{Report, ReportId, ReportMismatch};
pub use sample::{SampleError, Sampler};
pub use sequence::{Sequence, Standing};
pub use shape::{Bits, Keep, Shape, ShapeError, Table};
pub use strict::Object;
pub use symbol::{Symbol, Token};
pub use wide::Wide;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
