//! The watchdog: release X so that belief in a secret S behind it stays within a budget.
//!
//! Symbols whose log-lifts are within the budget are low-risk and may be released as they are; the
//! printed mechanism (ZDS22 Definition 2) merges or scrambles all others, which keeps little of X and
//! need not meet the budget either. The corrected methods always meet it:
//!
//! | method | release | promise |
//! |---|---|---|
//! | [`merge`], [`uniform`] | as printed | [`Release::met`] tells |
//! | [`repair()`] | high-risk set enlarged until it is within the budget | within the budget |
//! | [`subset()`] | several groups instead of one | within the budget |
//! | [`best_partition`] | the best groups there are (small alphabets) | optimal among groups |
//! | [`optimal`] | randomised | optimal, with the proof in [`Release::bound`] where it closes |
//!
//! Utility is NMI = I(X;Y)/H(X), ZDS22 (10).

mod budget;
mod colgen;
mod gap;
mod optimum;
mod partition;
mod polytope;
mod printed;
mod problem;
mod repair;
mod ship;
mod subset;
mod vertices;

pub use budget::Budget;
pub use optimum::{MAX_COLUMN_SYMBOLS, MAX_VERTEX_SYMBOLS, by_columns, by_vertices, optimal};
pub use partition::{MAX_PARTITION_SYMBOLS, Partition, best_partition};
pub use printed::{merge, merged_leakage, uniform};
pub use problem::WatchdogProblem;
pub use repair::repair;
pub use ship::{Request, SPLITS, Shipment, best_split, ship};
pub use subset::subset;

use crate::measure::{lip, mutual_information};
use crate::mechanism::Mechanism;
use crate::{Channel, Error, Joint};

/// A way to choose the release.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// One merged symbol for the high-risk set, as printed.
    Merge,
    /// A uniformly drawn high-risk symbol for every high-risk symbol, as printed.
    Uniform,
    /// Merging after greedy repair.
    Repair,
    /// Subset merging.
    Subset,
    /// The best partition.
    Partition,
    /// The best randomised release.
    Optimal,
}

impl Method {
    /// Every method, the printed ones first.
    pub const ALL: [Self; 6] =
        [Self::Merge, Self::Uniform, Self::Repair, Self::Subset, Self::Partition, Self::Optimal];

    /// Whether the paper prints it and it may miss its budget.
    pub fn is_printed(self) -> bool {
        matches!(self, Self::Merge | Self::Uniform)
    }
}

impl Mechanism<WatchdogProblem> for Method {
    type Design = Release;

    fn name(&self) -> &'static str {
        match self {
            Self::Merge => "merge",
            Self::Uniform => "uniform",
            Self::Repair => "repair",
            Self::Subset => "subset",
            Self::Partition => "partition",
            Self::Optimal => "optimal",
        }
    }

    fn design(&self, problem: &WatchdogProblem) -> Result<Release, Error> {
        match self {
            Self::Merge => merge(problem),
            Self::Uniform => uniform(problem),
            Self::Repair => repair(problem),
            Self::Subset => subset(problem),
            Self::Partition => best_partition(problem),
            Self::Optimal => optimal(problem),
        }
    }
}

/// A proposed release, in floats, and what it is worth.
#[derive(Debug, Clone, PartialEq)]
pub struct Release {
    /// The symbols that could be released as they are.
    pub low_risk: Vec<usize>,
    /// For every output the symbols it can come from; equal ones once. A merging release's groups.
    pub groups: Vec<Vec<usize>>,
    /// P(y|x).
    pub channel: Channel,
    /// I(X;Y)/H(X).
    pub nmi: f64,
    /// How far belief in the secret can rise, in nats.
    pub max_lift: f64,
    /// How far belief in the secret can fall, in nats.
    pub min_lift: f64,
    /// Whether both are within the budget (to float error).
    pub met: bool,
    /// No release within the budget has a larger NMI than this, where the method can prove one.
    pub bound: Option<f64>,
}

/// Runs one method on a joint law.
pub fn release(joint: &Joint, budget: Budget, method: Method) -> Result<Release, Error> {
    method.design(&WatchdogProblem::new(joint, budget)?)
}

/// What a channel achieves and reveals.
fn measured(
    problem: &WatchdogProblem,
    channel: Channel,
    groups: Vec<Vec<usize>>,
    met: bool,
) -> Result<Release, Error> {
    let joint = &problem.joint;
    let seen = joint.through(&channel)?;
    Ok(Release {
        low_risk: problem.low_risk(),
        groups,
        nmi: problem.normalised(mutual_information::leakage(&joint.data()?, &channel)?),
        max_lift: lip::max_lift(joint.secret(), &seen)?.nats.max(0.0),
        min_lift: lip::min_lift(joint.secret(), &seen)?.nats.max(0.0),
        channel,
        met,
        bound: None,
    })
}
