//! What a design is asked for.

use std::str::FromStr;

use undertone_core::Decimal;
use undertone_design::codebook::{self, Range};
use undertone_design::density::Density;
use undertone_design::measure::delta::Convention;
use undertone_design::mechanism::gaussian::Sigma;
use undertone_design::mechanism::laplace::Scale;

use super::{DesignContext, DesignMethod, Objective, Protection};
use crate::Error;

/// What is known, what must hold, and what the reports are for.
#[derive(Debug, Clone, Default)]
pub struct DesignRequest {
    /// What is known about the data.
    pub context: DesignContext,
    /// What must hold, all of it at once.
    pub protect: Vec<Protection>,
    /// How accurate shares must be, to find either the level or the number of people.
    pub accuracy: Option<AccuracyGoal>,
    /// What the reports are for; where nothing is said, shares, or for numbers their squared error, and their mean where the
    /// best single numbers do not tell all of them apart.
    pub objective: Option<Objective>,
    /// The numbers the symbols stand for, in the order of the first prior; where it is empty those of the prior's
    /// document, else 0, 1, 2 and so on.
    pub values: Vec<f64>,
    /// How to find the channel; where nothing is said the best there is, or for numbers that it cannot tell apart the
    /// best method that can.
    pub method: Option<DesignMethod>,
    /// The most bits that one report may take.
    pub max_bits: Option<u32>,
    /// Whether a printed formula that misses its claim is shipped with the level it attains.
    pub accept: bool,
    /// Whether a policy that cannot tell its symbols apart is shipped.
    pub allow_uninformative: bool,
    /// What is said about data that are numbers.
    pub numbers: NumberOptions,
}

/// Shares within so much of the truth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AccuracyGoal {
    /// The half-width of each share's interval.
    pub half_width: f64,
    /// The confidence of the interval.
    pub level: f64,
    /// What is known of the number of people.
    pub people: People,
}

/// How many people answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum People {
    /// So many: the smallest level of LIP that is accurate enough is found.
    Fixed(u64),
    /// As many as the protection asked for needs.
    Needed,
}

/// What a design says about data that are numbers.
#[derive(Debug, Clone)]
pub struct NumberOptions {
    /// The data are these numbers, increasing.
    pub points: Option<Vec<Decimal>>,
    /// Numbers are clipped to this range, a public choice.
    pub range: Option<Range>,
    /// How many equal bins numbers are rounded to; with points, how many output bins there are.
    pub bins: Option<usize>,
    /// How many output bins there are, if not as many as input bins or 64.
    pub output_bins: Option<usize>,
    /// Outputs are put in bins over this range instead.
    pub output_range: Option<Range>,
    /// The law of the numbers, in place of a prior.
    pub density: Option<AssumedLaw>,
    /// How wide Laplace noise is.
    pub scale: Option<Scale>,
    /// How wide Gaussian noise is.
    pub sigma: Option<Sigma>,
    /// What the deltas of the protections bound.
    pub convention: Convention,
}

impl Default for NumberOptions {
    fn default() -> Self {
        Self {
            points: None,
            range: None,
            bins: None,
            output_bins: None,
            output_range: None,
            density: None,
            scale: None,
            sigma: None,
            convention: Convention::Conditional,
        }
    }
}

/// A law of numbers that somebody assumes: `normal:50,10`, `uniform:0,1`, `beta:2,5`, `beta:2,5,0,100` or
/// `mixture:0.3,10,2;0.7,20,5`.
#[derive(Debug, Clone, PartialEq)]
pub struct AssumedLaw {
    words: String,
    law: Density,
}

impl AssumedLaw {
    /// The law.
    pub fn law(&self) -> &Density {
        &self.law
    }

    /// The law as it was written.
    pub fn words(&self) -> &str {
        &self.words
    }
}

impl FromStr for AssumedLaw {
    type Err = Error;

    fn from_str(words: &str) -> Result<Self, Error> {
        let law = Density::parse(words).map_err(Error::of_first_word)?;
        Ok(Self { words: words.into(), law })
    }
}

/// Reads the points of a request, exactly where they are written plainly.
pub fn points(texts: &[String]) -> Result<Vec<Decimal>, Error> {
    let read = |text: &String| codebook::number("points", text).map_err(Error::of_first_word);
    texts.iter().map(read).collect()
}

/// Reads the two ends of a range; `field` is its name in the request.
pub fn range(field: &str, ends: &[String]) -> Result<Range, Error> {
    Range::parse(ends).map_err(|error| match field {
        "range" => Error::of_first_word(error),
        _ => Error::field(field, format!(": {error}")),
    })
}

/// Reads what a delta bounds.
pub fn convention(text: &str) -> Result<Convention, Error> {
    text.parse().map_err(Error::of_first_word)
}
