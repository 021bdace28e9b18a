//! What the reports say, as programs read it.

use serde::{Serialize, Serializer};
use undertone_core::{Claim, PolicyId};
use undertone_estimate::drift::{Drift, PolicyDrift, Test};
use undertone_estimate::{Bar, Control, Coverage, Fit, Identification, Method, Target};

use super::{EstimatedNumber, SampledSharesReport, ShownShares};
use crate::answer::Answer;
use crate::number;

/// What reports say about the population they come from.
#[derive(Debug, Clone, Serialize)]
pub struct EstimateReport {
    /// How many reports there are.
    pub reports: u64,
    /// How many rows were read.
    pub rows: u64,
    /// How many of them were left out.
    pub skipped: u64,
    /// How many were left out because no policy releases what they hold.
    pub unknown: u64,
    /// How many were left out because they hold nothing.
    pub missing: u64,
    /// The column they were read from; nothing for stored tallies alone.
    pub column: Option<String>,
    /// The policies.
    pub policies: Vec<PolicyReports>,
    /// The probability with which an interval holds the truth.
    pub level: f64,
    /// Whether each interval holds with it, or all at once.
    pub coverage: Coverage,
    /// Whom the estimates speak of.
    pub target: Target,
    /// What to read first. Never the prior's.
    pub headline: HeadlineReport,
    /// The unbiased shares.
    pub unbiased: SharesReport,
    /// The maximum-likelihood shares.
    pub mle: SharesReport,
    /// What the prior makes of the reports; nothing where a policy has no single prior, or releases bits.
    pub mmse: Option<SharesReport>,
    /// How the maximum-likelihood shares were found.
    pub fit: Fit,
    /// How many symbols are left out of every list of shares, where only the largest are listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shares_left_out: Option<usize>,
    /// What the policies can tell apart.
    pub identification: Identification,
    /// Whether prior and reports agree.
    pub drift: DriftReport,
    /// The prior of the policies, if they share one.
    pub prior: Option<Vec<f64>>,
    /// What a reader must not overlook.
    pub warnings: Vec<String>,
    /// Mean, variance, quantiles and a histogram, where symbols are numbers.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub numbers: Option<NumbersReport>,
    /// The symbols above a threshold, where one was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heavy_hitters: Option<HeavyHittersReport>,
    /// Counts and sums, where the number of people was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub population: Option<PopulationReport>,
    /// The shares if the reports are a simple random sample, without replacement, of the population's people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sample: Option<SampledSharesReport>,
    /// What else a reader should know: what is not determined, what did not converge.
    #[serde(skip)]
    pub notes: Vec<String>,
    /// What people are shown of the shares.
    #[serde(skip)]
    pub shown: ShownShares,
}

/// A policy and how many reports it has.
#[derive(Debug, Clone, Serialize)]
pub struct PolicyReports {
    /// The policy.
    #[serde(serialize_with = "number::as_text")]
    pub policy_id: PolicyId,
    /// How many reports.
    pub reports: u64,
    /// What the policy promises.
    #[serde(skip)]
    pub claims: Vec<Claim>,
}

/// The share of every symbol, and the mean of numbers, by one method.
#[derive(Debug, Clone, Serialize)]
pub struct SharesReport {
    /// The method in words, with what limits it.
    pub label: String,
    /// Whom the shares speak of.
    pub target: Target,
    /// One for every symbol, in the policy's order.
    pub shares: Vec<EstimatedShare>,
    /// The mean, where symbols are numbers.
    pub mean: Option<EstimatedNumber>,
}

/// A symbol's share.
#[derive(Debug, Clone, Serialize)]
pub struct EstimatedShare {
    /// The symbol; of bins, their ends.
    pub symbol: String,
    /// Its share.
    #[serde(flatten)]
    pub share: EstimatedNumber,
}

/// What to read first: maximum likelihood, or unbiased where that is better; never the prior's. For numbers it is the
/// mean, whose fields stand beside the shares.
#[derive(Debug, Clone)]
pub struct HeadlineReport {
    /// The shares, and the mean of numbers.
    pub shares: SharesReport,
    /// How they were estimated.
    pub method: Method,
    /// Why this method.
    pub because: String,
}

impl Serialize for HeadlineReport {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Written<'a> {
            #[serde(flatten)]
            shares: &'a SharesReport,
            method: Method,
            because: &'a str,
            #[serde(flatten)]
            mean: Option<Mean>,
        }
        // Without the method of its interval: the headline's own stands there.
        #[derive(Serialize)]
        struct Mean {
            #[serde(serialize_with = "number::as_value")]
            value: f64,
            #[serde(serialize_with = "number::as_value")]
            low: f64,
            #[serde(serialize_with = "number::as_value")]
            high: f64,
            #[serde(serialize_with = "number::as_optional_value")]
            standard_error: Option<f64>,
            identified: bool,
            impossible: bool,
        }
        let mean = self.shares.mean.map(|mean| {
            let EstimatedNumber {
                value, low, high, standard_error, identified, impossible, ..
            } = mean;
            Mean { value, low, high, standard_error, identified, impossible }
        });
        let Self { shares, method, because } = self;
        Written { shares, method: *method, because, mean }.serialize(to)
    }
}

/// Answers about numbers.
#[derive(Debug, Clone, Serialize)]
pub struct NumbersReport {
    /// The mean, by the headline's method.
    pub mean: EstimatedNumber,
    /// The variance, by the headline's method.
    pub variance: EstimatedNumber,
    /// The quantiles asked for.
    pub quantiles: Vec<QuantileReport>,
    /// The share of every bin or point, with its density.
    pub histogram: Vec<Bar>,
    /// The shares of neighbouring bins together, which are known better.
    pub merged: Vec<EstimatedShare>,
}

/// A quantile.
#[derive(Debug, Clone, Serialize)]
pub struct QuantileReport {
    /// Which quantile.
    pub probability: f64,
    /// The number.
    #[serde(flatten)]
    pub quantile: EstimatedNumber,
}

/// The symbols whose share is above a threshold.
#[derive(Debug, Clone, Serialize)]
pub struct HeavyHittersReport {
    /// The threshold.
    pub above: f64,
    /// What is controlled, in words.
    pub label: String,
    /// What is controlled, at 1 minus the level.
    pub control: Control,
    /// The symbols, the largest share first.
    pub symbols: Vec<HeavyHitterReport>,
}

/// A symbol whose share is above the threshold.
#[derive(Debug, Clone, Serialize)]
pub struct HeavyHitterReport {
    /// The symbol and its unbiased share.
    #[serde(flatten)]
    pub share: EstimatedShare,
    /// The probability of at least so much if its share were the threshold, or a bound above it.
    pub p_value: f64,
}

/// Counts and sums of so many people.
#[derive(Debug, Clone, Serialize)]
pub struct PopulationReport {
    /// How many people.
    pub people: u64,
    /// How many of them have each symbol.
    pub counts: Vec<EstimatedShare>,
    /// The sum of their numbers, where symbols are numbers.
    pub sum: Option<EstimatedNumber>,
}

/// How the reports compare with what the priors predict, and with what any population could give.
#[derive(Debug, Clone, Serialize)]
pub struct DriftReport {
    /// One comparison for every policy that has reports.
    pub policies: Vec<PolicyDriftReport>,
    /// Whether the policies' respondents answer alike; nothing for one policy, or with bits.
    pub groups: Option<Test>,
    /// Whether any policy's prior is contradicted by the reports.
    pub drifted: bool,
    /// Whether any policy's reports are such as no population gives.
    pub impossible: bool,
    /// Sentences to show.
    pub warnings: Vec<String>,
}

/// One policy's reports held against its prior. Leakages are in nats and written rounded up.
#[derive(Debug, Clone, Serialize)]
pub struct PolicyDriftReport {
    /// The policy.
    #[serde(serialize_with = "number::as_text")]
    pub policy: PolicyId,
    /// How many reports.
    pub reports: u64,
    /// Reports against the prior's prediction; nothing where nothing is assumed.
    pub prior: Option<Test>,
    /// The total variation distance from the prior to the estimate; nothing without a single prior.
    pub distance: Option<f64>,
    /// Reports against the best any population can do.
    pub law: Test,
    /// How far belief moves under the policy's own assumptions; nothing if nothing is assumed or it is without bound.
    #[serde(serialize_with = "number::as_optional_bound")]
    pub assumed_leakage: Option<f64>,
    /// How far belief moves with the estimated shares in place of the prior; nothing if without bound.
    #[serde(serialize_with = "number::as_optional_bound")]
    pub leakage: Option<f64>,
    /// The LDP level, which holds whatever the prior; nothing if without bound.
    #[serde(serialize_with = "number::as_optional_bound")]
    pub ldp: Option<f64>,
}

impl From<Drift> for DriftReport {
    fn from(drift: Drift) -> Self {
        let Drift { policies, groups, drifted, impossible, warnings } = drift;
        let policies = policies.into_iter().map(Into::into).collect();
        Self { policies, groups, drifted, impossible, warnings }
    }
}

impl From<PolicyDrift> for PolicyDriftReport {
    fn from(drift: PolicyDrift) -> Self {
        let PolicyDrift { policy, reports, prior, distance, law, assumed_leakage, leakage, ldp } =
            drift;
        Self { policy, reports, prior, distance, law, assumed_leakage, leakage, ldp }
    }
}

impl Answer for EstimateReport {
    fn words(&self) -> String {
        let percent = |share: &EstimatedShare| {
            let [value, low, high] = share.share.written(100.0);
            format!("{} {value} % ({low} to {high})", share.symbol)
        };
        let mut words = match &self.numbers {
            Some(numbers) => {
                let [value, low, high] = numbers.mean.written(1.0);
                format!("The mean is {value} ({low} to {high})")
            }
            None => {
                let mut shares: Vec<&EstimatedShare> = self.headline.shares.shares.iter().collect();
                shares.sort_by(|a, b| b.share.value.total_cmp(&a.share.value));
                let most: Vec<String> = shares.into_iter().take(4).map(percent).collect();
                format!("The largest shares are {}", most.join(", "))
            }
        };
        let level = number::nats(100.0 * self.level);
        words += &format!(
            ", from {} reports, with {level} % intervals.\nMethod: {}.",
            self.reports, self.headline.because
        );
        words.extend(self.warnings.iter().map(|warning| format!("\nwarning: {warning}")));
        words
    }
}
