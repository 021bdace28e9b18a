//! What follows from a privacy guarantee: for researchers.
//!
//! * [`relation`]: which guarantees of other notions a guarantee implies, and counterexamples where it implies none;
//! * [`composition`]: what several releases of one datum leak together;
//! * [`sequence`]: what releases of a datum that changes leak;
//! * [`transfer`]: what a guarantee is worth when the prior was wrong.
//!
//! Results of the papers stand in their printed form beside the corrected one. Nothing a device or a curator does
//! depends on this crate, and `undertone-design` never uses it. All leakages are in nats.
//!
//! ```
//! use undertone_design::Distribution;
//! use undertone_theory::relation::{Guarantee, Notion, RelationOutcome, Setting, relate};
//!
//! // ε-LIP of a question that one person in ten answers with yes: which ε-LDP follows?
//! let prior = Distribution::new("prior", vec![0.9, 0.1])?;
//! let answer = relate(&Guarantee::new(Notion::Lip, 1.0)?, Notion::Ldp, &Setting::of(prior))?;
//! let RelationOutcome::Holds(holds) = answer.outcome else { panic!("lip implies ldp") };
//! assert!(holds.guarantee.epsilon() > 1.0 && holds.guarantee.epsilon() < 2.0);
//! # Ok::<(), undertone_design::Error>(())
//! ```

pub mod composition;
pub mod relation;
pub mod sequence;
pub mod transfer;
