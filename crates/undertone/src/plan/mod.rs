//! Several data of one person under one promise: designing a plan, re-checking it, showing it.
//!
//! [`design`] is the one function behind `undertone plan design` and Python's `undertone.Plan.design`; [`verify`] re-checks a plan
//! document exactly, and says what an observer of everything one person ever sends can learn.
//!
//! ```
//! use undertone::plan::{PlanRequest, QuestionList, design};
//!
//! let questions = QuestionList::read("questions", r#"{"questions": [
//!     {"name": "smokes", "answers": ["no", "yes"], "shares": [0.8, 0.2]},
//!     {"name": "commute", "answers": ["car", "bus", "bike"]}]}"#)?;
//! let report = design(&PlanRequest::new(questions, "ldp:2".parse()?))?;
//! assert!(report.plan.person().ldp.is_some_and(|ldp| ldp <= "2".parse().unwrap()));
//! # Ok::<(), undertone::Error>(())
//! ```

mod costs;
mod designed;
mod joint;
mod named;
mod promise;
mod questions;
mod report;
mod request;
mod shown;
mod size;

pub(crate) use costs::shown_belief;
pub use costs::{PersonCosts, belief_words};
pub use designed::design;
pub use joint::JointLaw;
pub use promise::{NamedPromise, PersonLevel};
pub use questions::{AskedQuestion, QuestionList};
pub use report::{ComparedPlans, DesignedItem, PlanDesign, RepeatedReports};
pub use request::PlanRequest;
pub use shown::{PlanReport, ShownItem, verify};
pub use size::{PlannedQuestion, Randomised, SizeGoal, SizePoint, SizeReport, SizeRequest, size};
