//! Use cases of sensor networks: each is a request, one function and an answer that serialises and has words.
//!
//! [`design_network`] chooses how every sensor randomises, [`evaluate()`] says what a centre learns, and [`train()`]
//! learns from labelled samples. The mathematics is in [`crate::design`], [`crate::Evaluation`] and [`crate::learn`].

mod design;
mod evaluate;
mod figures;
mod train;

pub use design::{
    AttemptReport, FusionModel, NetworkReport, NetworkRequest, RequestedBudgets, ThetaCondition,
    ThetaReport, check_budgets, design_network,
};
pub use evaluate::{
    EvaluationReport, EvaluationRequest, EvaluationSubject, HeldOutReport, JudgedNetwork,
    NetworkLaw, evaluate,
};
pub use figures::{
    BoundReport, EpochReport, ExaminedFigures, LeakageLevel, NetworkFigures, WorstOutputs,
};
pub use train::{
    AdversaryReport, MethodReport, RequestedTraining, ShippedReport, ThresholdReport, TrainReport,
    TrainRequest, TrainedReport, train,
};
