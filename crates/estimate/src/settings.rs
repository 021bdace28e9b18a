//! What is asked of an estimate: of whom, how sure, one by one or all together.

use crate::Error;
use serde::Serialize;

/// Whom an estimate speaks of.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Target {
    /// The population the respondents were drawn from: intervals cover both who was drawn and how
    /// the answers were perturbed.
    Population,
    /// These respondents and nobody else: intervals cover the perturbation alone.
    Respondents,
}

/// What a stated level covers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Coverage {
    /// Each interval on its own.
    Each,
    /// All intervals of one answer at once (Bonferroni: the chances of a miss add up).
    All,
}

/// How an estimate is made.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// Linear in the counts and right on average whatever the truth. Where chance makes such a value impossible,
    /// the nearest possible one is reported; [`Estimator::statistics`](crate::Estimator::statistics) has them all as
    /// they are.
    Unbiased,
    /// The distribution under which the reports are most likely.
    Mle,
    /// What the policy's prior makes of every report, added up over these respondents.
    Mmse,
}

impl Method {
    /// What a reader must know about it, in a sentence.
    pub fn label(self) -> &'static str {
        match self {
            Self::Unbiased => {
                "unbiased: right on average whatever the truth is; a value that is not possible is moved to the nearest one that is"
            }
            Self::Mle => {
                "maximum likelihood: the population that makes these reports most likely; it does not use the prior"
            }
            Self::Mmse => {
                "least squared error with the prior: the sum over these respondents, right only if the prior is"
            }
        }
    }
}

/// Level, coverage and target; 95 % for each symbol of the population unless said otherwise.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Settings {
    level: f64,
    coverage: Coverage,
    target: Target,
}

impl Default for Settings {
    fn default() -> Self {
        Self { level: 0.95, coverage: Coverage::Each, target: Target::Population }
    }
}

impl Settings {
    /// A confidence level such as 0.95.
    pub fn at_level(level: f64) -> Result<Self, Error> {
        if !(level > 0.0 && level < 1.0) {
            let range = "above 0 and below 1";
            return Err(Error::Range { what: "the confidence level", value: level, range });
        }
        Ok(Self { level, ..Self::default() })
    }

    /// All intervals of an answer at once.
    pub fn all_at_once(self) -> Self {
        Self { coverage: Coverage::All, ..self }
    }

    /// Each interval of an answer on its own.
    pub(crate) fn each_alone(self) -> Self {
        Self { coverage: Coverage::Each, ..self }
    }

    /// About these respondents instead of the population they come from.
    pub fn of_respondents(self) -> Self {
        Self { target: Target::Respondents, ..self }
    }

    /// The confidence level.
    pub fn level(self) -> f64 {
        self.level
    }

    /// What the level covers.
    pub fn coverage(self) -> Coverage {
        self.coverage
    }

    /// Of whom.
    pub fn target(self) -> Target {
        self.target
    }

    /// A level at which `parts` statements, each with its own misses, hold together at this one.
    pub(crate) fn shared_by(self, parts: usize) -> Self {
        let level = 1.0 - (1.0 - self.level) / parts as f64;
        // One minus a small number is rounded; never below the part that is permitted.
        Self { level: level.next_up().min(1.0 - f64::EPSILON), ..self }
    }

    /// The chance of a miss of one interval out of `intervals`, rounded down.
    pub(crate) fn miss(self, intervals: usize) -> f64 {
        let chance = (1.0 - self.level) * (1.0 - 1e-12);
        match self.coverage {
            Coverage::Each => chance,
            Coverage::All => chance / intervals.max(1) as f64,
        }
    }
}
