//! Sensor networks: every sensor randomises what it saw; the fusion centre learns a public
//! hypothesis H and not a private one G (ST20).
//!
//! A [`Model`] says who reads what when; [`Maps`] say how each sensor randomises; an [`Evaluation`]
//! says what the centre learns of H, of G and of each reading; [`FusionRule`] decides H. [`report`] has the use
//! cases, each a request, a function and an answer.
//! All leakages are in nats.

pub mod bundle;
pub mod certificate;
pub mod codebook;
pub mod design;
pub mod evaluation;
pub mod exact;
pub mod learn;
pub mod lift;
mod magnitude;
pub mod maps;
pub mod model;
pub mod report;
pub mod rule;
#[cfg(feature = "runtime")]
pub mod runtime;
pub mod samples;
pub mod table;
mod walk;

pub use bundle::{Bundle, Origin};
pub use certificate::{Certificate, Repeated};
pub use codebook::{Codebook, Column, Columns, Spacing};
pub use evaluation::Evaluation;
pub use exact::ExactModel;
pub use maps::Maps;
pub use model::{Atom, Hypothesis, Model, Point, Sensor};
pub use rule::FusionRule;
pub use samples::{Sample, Samples};
pub use undertone_design::Error;
