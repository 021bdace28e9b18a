//! Undertone's estimators: mergeable tallies of reports, and answers with intervals. No solver.
//!
//! A [`Tally`] counts the reports of one policy. A [`Pool`] holds tallies of one policy or several
//! over the same symbols, listed in any order. An [`Estimator`] answers questions about them: shares, means, variances,
//! quantiles, heavy hitters, and whether the prior still fits ([`Drift`]).
//!
//! ```
//! use undertone_core::{Alphabet, Claim, Context, Draft, Epsilon, Keep, Provenance, Shape};
//! use undertone_estimate::{Estimator, Method, Pool, Settings, Tally};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // Randomised response over four symbols: half of the answers are kept.
//! let shape = Shape::Keep(Keep::new(vec![1 << 39; 4], vec![1 << 46; 4])?);
//! let claims = vec![Claim::ldp(Epsilon::parse("1.7")?)];
//! let (inputs, assumed) = (Alphabet::indices(4)?, Context::Unknown);
//! let policy = Draft::new(inputs, None, shape, assumed, claims, Provenance::default())?
//!     .verify()
//!     .map_err(|refusal| refusal.to_string())?;
//!
//! // Count in any split and any order; store as JSON; merge.
//! let mut tally = Tally::new(&policy);
//! tally.add_indices(&[0, 1, 1, 3, 2, 1, 0, 1])?;
//! let mut other = Tally::new(&policy);
//! other.add_counts(&[300, 150, 100, 120])?;
//! tally.merge(&Tally::from_json(&other.to_json())?)?;
//!
//! // One pool, one estimator, many questions.
//! let pool = Pool::new(&policy, tally)?; // more policies: .and(&policy_2, tally_2)?
//! let estimator = Estimator::new(pool, Settings::default())?;
//! let shares = estimator.shares(Method::Unbiased)?;
//! assert!((shares.symbols[0].value - (302.0 / 678.0 - 0.125) / 0.5).abs() < 1e-12);
//! assert!(shares.symbols[0].covers(0.64)); // 95 % unless the settings say otherwise
//! let headline = estimator.headline()?; // maximum likelihood or unbiased, never the prior's
//! let drift = estimator.drift()?; // drift.warnings are sentences for people
//! # let _ = (headline, drift);
//! # Ok(())
//! # }
//! ```
//!
//! Groups whose policies follow a prediction of what is asked come from different populations: [`Strata`] has shares of their own for
//! each, and what all say together.
//!
//! Responses to a plan, where one person answers several questions, are counted in a [`PlanTally`] and asked question by
//! question ([`QuestionEstimator`], see [`plan`]).
//!
//! Rows with several columns, randomised or clear, are [`Evidence`]; how they were drawn is a [`Sample`]; joint shares of two or three
//! columns are a [`Crosstab`].
//!
//! # What each estimate is
//!
//! * **Unbiased** ([`Method::Unbiased`]): a score for every output, added up. The scores come from
//!   the policy's integers and from the prior alone, never from the reports, so the result is right on
//!   average whatever the truth, and its variance is known exactly. O(k) for `Keep` (Sherman and
//!   Morrison) and `Bits`; for `Table` weighted least squares by QR with its condition number stated.
//!   Several `Keep` and `Bits` policies are weighed by the inverse of the variance each would have under
//!   the priors; with a `Table` among them all outputs enter one system, which may see what no policy sees
//!   alone. All this supposes that the policies' respondents come from one population.
//! * **Maximum likelihood** ([`Method::Mle`]): see [`mle`]. Policies are combined by their likelihood. In
//!   large sparse alphabets the constraint that no share is negative pulls it away from the truth;
//!   [`Estimator::headline`] notices and says so.
//! * **With the prior** ([`Method::Mmse`]): the sum over these respondents of what the prior makes of
//!   each report. Right only if the prior is. For `Bits` use [`BitsFold`].
//! * **Dirichlet** ([`Estimator::dirichlet`]): a posterior for rates, sampled.
//!
//! # Intervals
//!
//! They cover for every population and every number of reports, as a theorem: see [`interval`] for what is supposed and
//! what is proved, and [`IntervalMethod`] for how. No value lies outside its interval, no interval outside of what is
//! possible; where the reports leave nothing possible, [`Estimate::impossible`] says so. Means, variances and
//! quantiles speak of the numbers people have, not of the bins they were put into.
//!
//! The intervals of [`Estimator::dirichlet`] are statements of belief: they cover at their level on average over the Dirichlet
//! prior. `docs/coverage.md` states what all of them cover, measured by n.
//!
//! # Limits
//!
//! * What the reports do not determine is said ([`Identification`]), and gets a value near what was assumed. Its interval
//!   holds everything the reports leave possible, however many there are.
//! * A tally of bits keeps how often each was set, not which went together. Maximum likelihood of the
//!   counts is a composite likelihood and says so.
//! * Whoever sends invented reports moves an estimate by at most [`Estimator::influence`].

pub mod answer;
mod channel;
pub mod compliance;
pub mod correlation;
mod covariance;
pub mod crosstab;
mod decode;
pub mod dirichlet;
pub mod drift;
pub mod error;
pub mod estimator;
pub mod evidence;
pub mod factor;
pub mod fold;
pub mod headline;
pub mod identification;
mod influence;
pub mod interval;
mod limits;
pub mod mle;
mod mmse;
pub mod plan;
pub mod pool;
pub mod quantity;
pub mod regress;
mod reorder;
pub mod sample;
pub mod settings;
pub mod strata;
pub mod tally;

pub use answer::{Answer, Estimate, Shares};
pub use correlation::Correlation;
pub use crosstab::{Crosstab, CrosstabColumn, TableShare, difference_of_independent};
pub use dirichlet::{Dirichlet, Posterior};
pub use drift::{Drift, PolicyDrift, Test};
pub use error::Error;
pub use estimator::Estimator;
pub use evidence::{DesignId, Evidence, EvidenceBuilder};
pub use factor::Factor;
pub use fold::BitsFold;
pub use headline::{Headline, Summary};
pub use identification::Identification;
pub use interval::IntervalMethod;
pub use mle::Fit;
pub use plan::{CrossAxis, CrossTally, PlanTally, QuestionEstimator};
pub use pool::Pool;
pub use quantity::{Bar, Control, Heavy, HeavyHitters, Histogram};
pub use sample::{Margin, Sample, SampleDesign, SampleError, SampleShares};
pub use settings::{Coverage, Method, Settings, Target};
pub use strata::{Strata, StratumShares};
pub use tally::Tally;
