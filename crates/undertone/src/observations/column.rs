//! What a column is read as, and what comes of it.

use undertone_core::Policy;
use undertone_estimate::{Evidence, Factor};

/// A column that is read, and as what.
#[derive(Debug, Clone)]
pub struct ObservedColumn {
    /// What the file calls it.
    pub name: String,
    /// As what it is read.
    pub kind: ObservedAs,
}

/// As what a column is read.
#[derive(Debug, Clone)]
pub enum ObservedAs {
    /// Categories: whatever its cells say, in increasing order of numbers or letters.
    Factor,
    /// Numbers.
    Number,
    /// Numbers if all its cells are, else categories.
    Value,
    /// Numbers above nought.
    Weight,
    /// Categories as evidence that leaves no doubt.
    Clear,
    /// Reports, as evidence of the policy's symbols.
    Randomised(ReportedUnder),
}

/// Under which design each row of a column was reported.
#[derive(Debug, Clone)]
pub enum ReportedUnder {
    /// All under one policy.
    Policy(Box<Policy>),
    /// Under the one that another column names.
    By {
        /// That column.
        column: String,
        /// What it may say, and the policy that is meant; none for rows that are clear. At least one has a policy.
        designs: Vec<(String, Option<Policy>)>,
    },
}

impl From<Policy> for ReportedUnder {
    fn from(policy: Policy) -> Self {
        Self::Policy(Box::new(policy))
    }
}

impl ObservedColumn {
    /// A column that is read as something.
    pub fn new(name: impl Into<String>, kind: ObservedAs) -> Self {
        Self { name: name.into(), kind }
    }
}

/// A column that was read.
#[derive(Debug, Clone)]
pub enum Observation {
    /// Of [`ObservedAs::Factor`], and of [`ObservedAs::Value`] where some cell is no number.
    Factor(Factor),
    /// Of [`ObservedAs::Number`] and [`ObservedAs::Weight`], and of [`ObservedAs::Value`] where all cells are numbers.
    Numbers(Vec<f64>),
    /// Of [`ObservedAs::Clear`] and [`ObservedAs::Randomised`].
    Evidence(Evidence),
}

impl Observation {
    /// The categories, if it was read as such.
    pub fn factor(&self) -> Option<&Factor> {
        match self {
            Self::Factor(factor) => Some(factor),
            _ => None,
        }
    }

    /// The numbers, if it was read as such.
    pub fn numbers(&self) -> Option<&[f64]> {
        match self {
            Self::Numbers(numbers) => Some(numbers),
            _ => None,
        }
    }

    /// The evidence, if it was read as such.
    pub fn evidence(&self) -> Option<&Evidence> {
        match self {
            Self::Evidence(evidence) => Some(evidence),
            _ => None,
        }
    }
}
