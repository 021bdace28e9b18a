//! What perturbed columns and stored tallies say about the population.
//!
//! Reports are counted first ([`CountedReports`]), then asked ([`estimate`]); responses to a plan, where one person answers several
//! questions, likewise ([`CountedResponses`], [`estimate_plan`]). The headline is maximum likelihood or
//! unbiased and converges to the truth whatever the prior says; what the prior makes of the reports comes second, and
//! a warning where prior and reports disagree.
//!
//! ```
//! use undertone::columns::Source;
//! use undertone::estimate::{CountedReports, EstimateRequest, NamedPolicy, ReportColumn, estimate};
//!
//! # use undertone_core::{Alphabet, Claim, Context, Draft, Epsilon, Keep, Policy, Provenance, Shape};
//! # fn policy() -> Result<Policy, Box<dyn std::error::Error>> {
//! #     let inputs = Alphabet::names(["no", "yes"])?;
//! #     let shape = Shape::Keep(Keep::new(vec![1 << 39; 2], vec![1 << 47; 2])?);
//! #     let claims = vec![Claim::ldp(Epsilon::parse("1.1")?)];
//! #     let draft =
//! #         Draft::new(inputs, None, shape, Context::Unknown, claims, Provenance::default())?;
//! #     draft.verify().map_err(|refusal| refusal.to_string().into())
//! # }
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // Half of the answers were kept, the others drawn anew from `no` and `yes`.
//! let released = format!("answer\n{}{}", "no\n".repeat(500), "yes\n".repeat(300));
//! let rows = vec![Source::reader("released", std::io::Cursor::new(released))];
//! let policies = [NamedPolicy::new(policy()?)];
//! let reports = CountedReports::read(&policies, rows, &ReportColumn::new("answer"))?;
//! let found = estimate(&reports, &EstimateRequest::default())?;
//! let no = &found.headline.shares.shares[0];
//! assert!(no.symbol == "no" && (no.share.value - 0.75).abs() < 1e-9);
//! # Ok(())
//! # }
//! ```

mod answers;
mod by_group;
mod compared;
mod counting;
mod listed;
mod number;
#[cfg(feature = "parquet")]
mod parquet;
mod plan;
mod released;
mod report;
mod reports;
mod responses;
mod sampled;
mod shown;

pub use by_group::{
    CountedGroups, GroupedEstimateReport, GroupedHeadline, GroupedMaximum, GroupedReport,
    estimate_groups,
};
pub use compared::group_differences;
pub use counting::RowCounts;
pub(crate) use counting::{BadRow, Batch, Tokens};
pub use listed::MOST_LISTED;
pub use number::EstimatedNumber;
pub use plan::{
    CombinationReport, NobodyReport, PlanEstimateReport, QuestionAnswers, QuestionReport,
    SumsReport, estimate_plan,
};
pub use released::ReleasedFrame;
pub use report::{
    DriftReport, EstimateReport, EstimatedShare, HeadlineReport, HeavyHitterReport,
    HeavyHittersReport, NumbersReport, PolicyDriftReport, PolicyReports, PopulationReport,
    QuantileReport, SharesReport,
};
pub use reports::{CountedReports, NamedPolicy, ReportColumn, ReportGroup, UnknownReports};
pub use responses::CountedResponses;
pub use sampled::{
    GroupDifferenceReport, GroupReport, SampledShare, SampledSharesReport, SampledSharesRequest,
    estimate_sample, estimate_sample_of,
};
pub use shown::ShownShares;

use undertone_estimate::Settings;

use crate::Error;

/// What to ask the reports.
#[derive(Debug, Clone)]
pub struct EstimateRequest {
    /// The probability with which an interval holds the truth.
    pub level: f64,
    /// All shares' intervals hold at once with that probability, not each on its own.
    pub all: bool,
    /// Speak of these respondents alone: intervals cover the perturbation, not who was asked.
    pub respondents: bool,
    /// Name the symbols whose share is above this threshold; the chance that any of them is not is held at 1 - level.
    pub above: Option<f64>,
    /// Which quantiles, for numbers.
    pub quantiles: Vec<f64>,
    /// Also as counts and sums, of so many people.
    pub population: Option<u64>,
    /// How many shares are listed, the largest; where nothing is said, at most [`MOST_LISTED`].
    pub top: Option<usize>,
}

impl Default for EstimateRequest {
    /// Intervals that each hold with probability 0.95, for the population; quartiles of numbers.
    fn default() -> Self {
        Self {
            level: 0.95,
            all: false,
            respondents: false,
            above: None,
            quantiles: vec![0.25, 0.5, 0.75],
            population: None,
            top: None,
        }
    }
}

impl EstimateRequest {
    /// Level, coverage and target; refuses what no reports could answer, so that it can be refused before reports are
    /// counted.
    pub fn settings(&self) -> Result<Settings, Error> {
        let settings = Settings::at_level(self.level)
            .map_err(|error| Error::field("level", format!(": {error}")))?;
        let settings = if self.all { settings.all_at_once() } else { settings };
        if let Some(bad) = self.quantiles.iter().find(|&&q| !(q > 0.0 && q < 1.0)) {
            let problem = format!(": {bad} is not between 0 and 1");
            return Err(Error::field("quantiles", problem));
        }
        if self.top == Some(0) {
            return Err(Error::field("top", "is 0: list at least one share"));
        }
        Ok(if self.respondents { settings.of_respondents() } else { settings })
    }
}

/// Estimates shares and, for numbers, mean, variance, quantiles and a histogram.
pub fn estimate(
    reports: &CountedReports,
    request: &EstimateRequest,
) -> Result<EstimateReport, Error> {
    let estimator = reports.estimator(request)?;
    EstimateReport::of(&estimator, reports.groups(), reports.rows(), reports.column(), request)
}
