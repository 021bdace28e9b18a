//! Context-aware local privacy with guarantees you can check.
//!
//! Every use case is a typed request, one function and a typed [`Answer`], which serialises to the same JSON
//! wherever it is asked for and can say itself in words. The command line, the Python package and the curator parse,
//! call these functions and show what they return.
//!
//! A yes/no question from a prior to an estimate:
//!
//! ```
//! use undertone::prelude::*;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let made = Design::new(["no", "yes"]).prior([0.9, 0.1]).protect("lip:1").policy()?;
//! let policy = Policy::from_json(&made.to_json())?; // on a device: every claim is checked again, exactly
//! let (mut tally, mut rng) = (Tally::new(&policy), system_rng()?);
//! for person in 0..2000 {
//!     let answer = if person % 8 == 0 { "yes" } else { "no" };
//!     let mut ledger = Ledger::new("2".parse()?); // a person's own: at most 2 nats about any datum
//!     let (past, consent) = (Sequence::new(), Consent::default());
//!     let report = ledger.answer("pens", &policy, answer, &past, &consent, &mut rng)?;
//!     tally.add_report(&report.ok_or("this person has answered before")?)?;
//! }
//! let shares = Estimator::new(Pool::new(&policy, tally)?, Settings::default())?.headline()?.shares;
//! println!("{} say yes, between {} and {}", shares.symbols[1].value, shares.symbols[1].low, shares.symbols[1].high);
//! # assert!(shares.symbols[1].high < 0.5);
//! # Ok(())
//! # }
//! ```
//!
//! | module | what it answers |
//! |---|---|
//! | [`design`], [`curve`], [`frontier`] | the best verified policy for a purpose, and what privacy costs |
//! | [`policy_make`] | a policy from one's own mechanism: a channel, or a classical survey design |
//! | [`watchdog`] | a release that keeps a secret behind the data |
//! | [`audit`], [`risk`], [`policy_report`], [`together`] | what a channel, a policy or several reveal |
//! | [`relate`], [`compose`], [`transfer`] | what one guarantee says about another, several releases, another population |
//! | [`columns`], [`prior`], [`perturb`], [`estimate`] | files of rows: their priors, their randomised copies, their statistics |
//! | [`compliance`] | data people randomised themselves: how many followed the design, and the share in spite of it |
//! | [`export`] | data and designs for R packages |
//! | [`observations`], [`crosstab`], [`regress`], [`correlate`] | files of people: joint shares, models and correlations of randomised and clear columns, with a sample's design |
//! | [`release`], [`kept`] | files of people: their answers to a plan, and what columns left in the clear tell |
//! | [`hitters`] | values that many people have, out of a set too large to list |
//! | [`document`] | priors, channels, joint laws and policies as people write them |
//!
//! Longer programs are in the crate's `examples`: a survey, a frame of columns, a telemetry counter and a sensor.

pub mod answer;
pub mod attained;
pub mod audit;
pub mod columns;
mod combined;
pub mod compliance;
pub mod compose;
pub mod correlate;
pub mod crosstab;
pub mod curve;
pub mod design;
pub mod document;
pub mod error;
pub mod estimate;
pub mod export;
mod frame;
pub mod frontier;
pub mod hitters;
pub mod kept;
pub mod named_refusal;
pub mod number;
pub mod observations;
pub mod perturb;
pub mod plan;
pub mod policy_make;
pub mod policy_report;
pub mod prelude;
pub mod prior;
pub mod random;
pub mod regress;
pub mod relate;
pub mod release;
pub mod risk;
pub mod shapes;
pub mod together;
pub mod transfer;
pub mod watchdog;

pub use answer::Answer;
pub use document::Prior;
pub use error::{Error, ErrorCode};
pub use undertone_design::{Channel, Distribution, Joint, Symbols};
