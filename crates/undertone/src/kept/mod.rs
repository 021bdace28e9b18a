//! What columns kept in the clear tell about those that are randomised beside them.
//!
//! Noise on a column hides nothing that another column says. How well the kept columns together predict a randomised one is
//! **measured on the data**: how often the prediction is right, beside how often the commonest value alone is; how much of the
//! uncertainty (log loss) it takes away; and how many rows have kept values like no other row's, so that whoever knows a person's
//! can find their row. Nobody is predicted from their own row: counted on the rows it predicts, any column with many values
//! seems to tell everything.
//!
//! A measurement can warn and never clear: somebody may know of a better prediction, or of columns in other files. It is about
//! the data, so it is for whoever holds them, and no part of a release.

mod cell;
mod predict;
mod rows;
mod table;
#[cfg(test)]
mod tests;
mod watch;

pub use cell::{KeptCell, key};
pub use rows::{KeptRows, measure};
pub use watch::{KeptPart, KeptWatch, tuple_key};

use serde::Serialize;
use undertone_numeric::binomial::binomial_upper_limit;

use crate::answer::Answer;
use crate::number;
use predict::Predicted;

/// How often the upper end of the accuracy is passed by the truth, at most.
const TAIL: f64 = 0.025;

/// Predictions that are right this much more often than the commonest value are warned of.
const MORE_ACCURATE: f64 = 0.1;

/// A part of the uncertainty above which a prediction is warned of.
const MORE_CERTAIN: f64 = 0.1;

/// A share of rows that stand alone above which is warned.
const MANY_ALONE: f64 = 0.05;

/// With fewer rows than this the upper end of any accuracy is more than [`MORE_ACCURATE`] above it, or the accuracy that of too little to learn from.
const FEW: u64 = 100;

/// A randomised question beside which columns are kept.
#[derive(Debug, Clone)]
pub struct KeptQuestion {
    /// What it is called.
    pub name: String,
    /// How many answers it has.
    pub symbols: usize,
}

/// How well the kept columns together predict one randomised question.
#[derive(Debug, Clone, Serialize)]
pub struct Kept {
    /// The columns that are released as they are.
    pub columns: Vec<String>,
    /// The question they were measured against.
    pub question: String,
    /// How many rows were measured: all, or a random part of them.
    pub rows: u64,
    /// The share of rows predicted right from the kept columns, each from other rows.
    #[serde(serialize_with = "number::as_value")]
    pub accuracy: f64,
    /// The share of the commonest answer: how often a guess is right that looks at nothing.
    #[serde(serialize_with = "number::as_value")]
    pub majority: f64,
    /// The upper end of the accuracy (Clopper and Pearson, 97.5 %).
    #[serde(serialize_with = "number::as_bound")]
    pub accuracy_upper: f64,
    /// The part of the uncertainty (log loss) that the kept columns take away, each row's from other rows. Below 0, they mislead.
    #[serde(serialize_with = "number::as_value")]
    pub log_loss_reduction: f64,
    /// The upper end of it: two standard errors more.
    #[serde(serialize_with = "number::as_bound")]
    pub log_loss_reduction_upper: f64,
    /// The share of rows whose kept values no other row has.
    #[serde(serialize_with = "number::as_value")]
    pub unique: f64,
    /// What to be warned of. That there is none clears nothing.
    pub warning: Option<String>,
}

/// A share in percent.
fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// A share in percent that is not below it.
fn percent_up(share: f64) -> String {
    format!("{:.1} %", (1000.0 * share - 1e-9).ceil() / 10.0)
}

/// What kept columns tell about every question.
#[derive(Debug, Clone, Serialize)]
pub struct KeptReport {
    /// Question by question.
    pub kept: Vec<Kept>,
}

impl Answer for KeptReport {
    fn words(&self) -> String {
        let said = self.kept.iter().map(|kept| match &kept.warning {
            Some(warning) => format!("{}\nwarning: {warning}", kept.words()),
            None => kept.words(),
        });
        said.collect::<Vec<_>>().join("\n")
    }
}

impl Kept {
    fn new(
        columns: Vec<String>,
        question: &KeptQuestion,
        values: &[u32],
        predicted: &Predicted,
        unique: f64,
    ) -> Self {
        let mut counts = vec![0u64; question.symbols];
        values.iter().for_each(|value| counts[*value as usize] += 1);
        let rows = predicted.rows;
        let share = |count: u64| count as f64 / rows.max(1) as f64;
        let upper = match rows {
            0 => 1.0,
            _ => binomial_upper_limit(predicted.hits, rows, TAIL),
        };
        let (reduction, error) = predicted.reduction();
        let mut kept = Self {
            columns,
            question: question.name.clone(),
            rows,
            accuracy: share(predicted.hits),
            majority: share(counts.into_iter().max().unwrap_or(0)),
            accuracy_upper: upper,
            log_loss_reduction: reduction,
            log_loss_reduction_upper: reduction + error,
            unique,
            warning: None,
        };
        kept.warning = kept.found();
        kept
    }

    /// What to be warned of.
    fn found(&self) -> Option<String> {
        let columns = self.columns.join(", ");
        let mut found = Vec::new();
        let told =
            self.accuracy > self.majority + MORE_ACCURATE || self.log_loss_reduction > MORE_CERTAIN;
        let possible = self.rows < FEW
            || self.accuracy_upper > self.majority + MORE_ACCURATE
            || self.log_loss_reduction_upper > MORE_CERTAIN;
        if told {
            found.push(format!(
                "tells {:?} apart: a guess from that is right for {} of the rows (at most {}), the commonest answer for {}, and it takes away {} of the uncertainty; the noise does not hide that",
                self.question,
                percent(self.accuracy),
                percent_up(self.accuracy_upper),
                percent(self.majority),
                percent(self.log_loss_reduction.max(0.0)),
            ));
        } else if possible {
            found.push(format!(
                "may tell {:?} apart, and {} rows are too few to say: a guess from that is right for up to {}, the commonest answer for {}",
                self.question,
                self.rows,
                percent_up(self.accuracy_upper),
                percent(self.majority),
            ));
        }
        if self.unique > MANY_ALONE {
            found.push(format!(
                "singles out {} of the rows: whoever knows these values of a person finds the row",
                percent(self.unique)
            ));
        }
        (!found.is_empty())
            .then(|| format!("keeping {columns} in the clear {}", found.join("; it also ")))
    }

    /// The measurement in a sentence.
    pub fn words(&self) -> String {
        format!(
            "{} predict {:?} right for {} of the rows (at most {}), the commonest answer alone for {}; they take away {} of the uncertainty; {} of the rows have kept values like no other row's ({} rows measured)",
            self.columns.join(", "),
            self.question,
            percent(self.accuracy),
            percent_up(self.accuracy_upper),
            percent(self.majority),
            percent(self.log_loss_reduction),
            percent(self.unique),
            self.rows,
        )
    }
}
