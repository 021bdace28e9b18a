//! What Undertone's devices, collectors and sensors say to each other.
//!
//! One type for each noun, read and written by the same code on both sides: [`SurveyDescription`] (what a device fetches),
//! reports as JSON ([`reports_to_json`], [`reports_from_json`]) or as bytes ([`PackedBatch`]) in a [`BatchForm`],
//! [`Acknowledgement`] and [`ProblemDocument`] (what comes back), [`SensorReport`] (what a sensor publishes), and the
//! [`limits`] both sides keep to. Whatever arrives is refused or becomes a value that was checked; nothing panics.
//!
//! Nothing here does I/O, knows a clock or a server, or uses floating point.
//!
//! A device writes a body, and a curator reads it:
//!
//! ```
//! use undertone_core::{PolicyId, Report, ReportId, Token};
//! use undertone_wire::{BatchForm, PackedBatch};
//!
//! let report = |id| Report { policy: PolicyId([7; 32]), id: ReportId([id; 16]), token: Token::Index(1) };
//! let body = BatchForm::Binary.encode(&[report(1), report(2)])?;
//! let batch = PackedBatch::read(&body.into())?;
//! assert_eq!(batch.reports().collect::<Vec<_>>(), [report(1), report(2)]);
//! # Ok::<(), undertone_wire::BatchError>(())
//! ```

mod acknowledgement;
mod answers;
mod batch_error;
mod code;
mod description;
mod form;
pub mod hex;
mod json_batch;
pub mod limits;
mod narrow;
mod packed_batch;
mod problem;
mod round_state;
mod rows;
#[cfg(test)]
mod samples;
mod sensor_report;
mod survey_id;
mod token_shape;

pub use acknowledgement::Acknowledgement;
pub use answers::{Answers, AnswersError};
pub use batch_error::BatchError;
pub use code::Code;
pub use description::{GroupDescription, PolicySoFar, RoundDescription, SurveyDescription};
pub use form::BatchForm;
pub use json_batch::{reports_from_json, reports_to_json};
pub use packed_batch::PackedBatch;
pub use problem::{Problem, ProblemDocument};
pub use round_state::RoundState;
pub use rows::{RaggedRows, ReportRows};
pub use sensor_report::{NotASensorReport, SensorReport, TokenKind};
pub use survey_id::{NotASurveyId, SurveyId};
pub use token_shape::{ID_BYTES, INDEX_BYTES, Misfit, TokenShape};
