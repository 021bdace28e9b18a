//! Use cases of sensor networks: each is a request, one function and an answer that serialises and has words.
//!
//! [`design_network`] chooses how every sensor randomises, [`design_crowd`] does for very many of few kinds,
//! [`evaluate()`] says what a centre learns, [`certify_epochs`] what is told over time where hypotheses move, and
//! [`train()`] learns from labelled samples. The mathematics is in [`crate::design`], [`crate::Evaluation`] and [`crate::learn`].

mod crowd;
mod design;
mod epochs;
mod evaluate;
mod figures;
mod objective;
mod train;

pub use crowd::{CrowdReport, CrowdRequest, KindReport, design_crowd};
pub use design::{
    AttemptReport, FusionModel, NetworkReport, NetworkRequest, RequestedBudgets, ThetaCondition,
    ThetaReport, check_budgets, design_network,
};
pub use epochs::{
    EpochsReport, EpochsRequest, HorizonReport, LeakReport, TrackingReport, certify_epochs,
};
pub use evaluate::{
    EvaluationReport, EvaluationRequest, EvaluationSubject, HeldOutReport, JudgedNetwork,
    NetworkLaw, evaluate,
};
pub use figures::{
    BoundReport, EpochReport, ExaminedFigures, LeakageLevel, NetworkFigures, WorstOutputs,
};
pub use objective::{Limit, ObjectiveReport, RuleReport};
pub use train::{
    AdversaryReport, MethodReport, RequestedTraining, ShippedReport, ThresholdReport, TrainReport,
    TrainRequest, TrainedReport, train,
};
