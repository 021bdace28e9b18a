//! What a design is for, as a request says it.

use std::str::FromStr;

use undertone_design::continuous::Loss;
use undertone_design::objective::Objective as Weighed;

use crate::error::mention;
use crate::{Error, document};

/// What the reports of a policy are for. Values that some of these need come with the request or the prior.
#[derive(Debug, Clone, PartialEq)]
pub enum Objective {
    /// How many people have which symbol: the summed variance of all shares.
    Frequency,
    /// The mean squared error of the released number.
    Squared,
    /// The variance of a released number whose plain average over many people is unbiased.
    Mean,
    /// The mean absolute error of the released number.
    Absolute,
    /// How often the released symbol is wrong.
    Hamming,
    /// The mean squared error of the best estimate of the number from the report.
    Mmse,
    /// What a report tells about the input, in nats: to be made large.
    MutualInformation,
    /// That as a share of the input's entropy.
    NormalisedMutualInformation,
    /// The mean of any loss between inputs and outputs.
    Matrix(Losses),
}

/// A matrix of losses, one row per input in the order of the first prior, one column per output.
#[derive(Debug, Clone, PartialEq)]
pub struct Losses {
    name: String,
    rows: Vec<Vec<f64>>,
}

impl Losses {
    /// A matrix made by a program.
    pub fn new(rows: Vec<Vec<f64>>) -> Self {
        Self { name: "the loss matrix".into(), rows }
    }

    /// Reads a list of rows; `name` is what errors begin with.
    pub fn read(name: &str, text: &str) -> Result<Self, Error> {
        let rows = document::json(name, text, "a loss matrix, one row per input")?;
        Ok(Self { name: name.into(), rows })
    }
}

impl Objective {
    /// The name people write.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Frequency => "frequency",
            Self::Squared => "squared",
            Self::Mean => "mean",
            Self::Absolute => "absolute",
            Self::Hamming => "hamming",
            Self::Mmse => "mmse",
            Self::MutualInformation => "mi",
            Self::NormalisedMutualInformation => "nmi",
            Self::Matrix(_) => "matrix",
        }
    }

    /// The objective with the numbers it needs, checked for so many symbols. `given` says that the values come with the
    /// request.
    pub(crate) fn weighed(
        &self,
        values: impl FnOnce() -> Vec<f64>,
        given: bool,
        symbols: usize,
    ) -> Result<Weighed, Error> {
        let goal = match self {
            Self::Frequency => Weighed::Frequency,
            Self::Squared => Weighed::Squared(values()),
            Self::Mean => {
                let range = mention("range");
                let problem = format!(
                    "\"mean\" is about numbers: give {range} with {} or {}, or a prior fitted with {range}",
                    mention("points"),
                    mention("bins")
                );
                return Err(Error::field("objective", problem));
            }
            Self::Absolute => Weighed::Absolute(values()),
            Self::Hamming => Weighed::Hamming,
            Self::Mmse => Weighed::Mmse(values()),
            Self::MutualInformation => Weighed::MutualInformation,
            Self::NormalisedMutualInformation => Weighed::NormalisedMutualInformation,
            Self::Matrix(losses) => Weighed::Matrix(losses.rows.clone()),
        };
        goal.check(symbols).map_err(|error| match self {
            Self::Matrix(losses) => Error::in_document(&losses.name, error),
            _ if given => Error::field("values", format!(": {error}")),
            _ => error.into(),
        })?;
        Ok(goal)
    }

    /// The loss between numbers it is; refused if it is about symbols.
    pub(crate) fn loss(&self) -> Result<Loss, Error> {
        match self {
            Self::Absolute => Ok(Loss::Absolute),
            Self::Squared => Ok(Loss::Squared),
            Self::Mean => Ok(Loss::Mean),
            Self::Mmse => Ok(Loss::Mmse),
            _ => {
                let range = mention("range");
                let problem = format!(
                    "{:?} is not about numbers: use mean, squared, absolute or mmse, or leave {range} out",
                    self.name()
                );
                Err(Error::field("objective", problem))
            }
        }
    }
}

impl FromStr for Objective {
    type Err = Error;

    /// Reads a name; a matrix of losses has none.
    fn from_str(name: &str) -> Result<Self, Error> {
        Ok(match name {
            "frequency" => Self::Frequency,
            "squared" => Self::Squared,
            "mean" => Self::Mean,
            "absolute" => Self::Absolute,
            "hamming" => Self::Hamming,
            "mmse" => Self::Mmse,
            "mi" => Self::MutualInformation,
            "nmi" => Self::NormalisedMutualInformation,
            _ => {
                let problem = format!(
                    "{name:?} is unknown: use mean, hamming, absolute, squared, mmse, mi, nmi, frequency or a matrix of losses"
                );
                return Err(Error::field("objective", problem));
            }
        })
    }
}

impl TryFrom<&str> for Objective {
    type Error = Error;

    fn try_from(name: &str) -> Result<Self, Error> {
        name.parse()
    }
}

impl From<Losses> for Objective {
    fn from(losses: Losses) -> Self {
        Self::Matrix(losses)
    }
}
