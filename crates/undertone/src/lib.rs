//! Context-aware local privacy with guarantees you can check.
//!
//! Every use case is a typed request, one function and a typed [`Answer`], which serialises to the same JSON
//! wherever it is asked for and can say itself in words. The command line, the Python package and the curator parse,
//! call these functions and show what they return.

pub mod answer;
pub mod attained;
pub mod audit;
pub mod columns;
pub mod compose;
pub mod curve;
pub mod design;
pub mod document;
pub mod error;
pub mod estimate;
pub mod frontier;
pub mod named_refusal;
pub mod number;
pub mod perturb;
pub mod policy_report;
pub mod prior;
pub mod relate;
pub mod risk;
pub mod together;
pub mod transfer;
pub mod watchdog;

pub use answer::Answer;
pub use document::Prior;
pub use error::{Error, ErrorCode};
