//! Shares from data that people randomised themselves, where some did not follow the design.
//!
//! A coin in a respondent's hand can be disobeyed: some who should say yes say no, some answer without reading. Each
//! design here asks for one thing more, a second group with another coin or a question whose answer is known, and estimates
//! how many followed along with the share that is wanted. None of this is needed where a device draws the noise.
//!
//! | design | asks | estimates |
//! |---|---|---|
//! | [`LieDetector`] | two groups with different coins | the share, and how many of those it is true of say so |
//! | [`CheaterDetection`] | two groups with different coins | honest yes, honest no, and people who always say no |
//! | [`AttentiveCrosswise`] | a crosswise question whose sensitive statement is true of nobody | the share, corrected for people who answer at random |
//!
//! Standard errors are by the delta method from the weighted shares of reports, with n - 1 in the denominator; intervals are normal.

mod attention;
mod cheaters;
mod lie_detector;

pub use attention::AttentiveCrosswise;
pub use cheaters::CheaterDetection;
pub use lie_detector::LieDetector;

use undertone_numeric::normal::normal_quantile;

/// Yes/no reports with weights, counted by a second yes/no fact: the group of the person, or another answer. Any split of
/// the rows gives the same counts.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ReportCells {
    /// Rows, by the second fact and the report.
    rows: [[u64; 2]; 2],
    /// Sums of weights.
    weights: [[f64; 2]; 2],
    /// Sums of squared weights.
    squares: [[f64; 2]; 2],
}

/// A share or a rate with its standard error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quantity {
    /// What it is, in a word or two.
    pub name: &'static str,
    /// The estimate; noise may put it outside of 0 to 1.
    pub estimate: f64,
    /// Its standard error.
    pub std_error: f64,
}

/// Why no estimate was given: what is wrong with the parameters or the data, and the fix.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ComplianceError {
    /// A probability is out of its range.
    #[error("{name} is {value}: give a probability above 0 and below 1")]
    Probability {
        /// The parameter.
        name: &'static str,
        /// Its value.
        value: f64,
    },
    /// A design whose channel is singular.
    #[error("{problem}, so the design is singular and its reports say nothing: {fix}")]
    Singular {
        /// What makes it so.
        problem: &'static str,
        /// The way out.
        fix: &'static str,
    },
    /// A group, or all data, of fewer than two rows.
    #[error("{group} has {rows} rows: an error needs two or more")]
    Rows {
        /// Which rows.
        group: &'static str,
        /// How many there are.
        rows: u64,
    },
    /// A weight is not above nought.
    #[error("a weight is {value}: weights are finite and above 0")]
    Weight {
        /// The weight found.
        value: f64,
    },
    /// Nobody seems to have followed the design.
    #[error("{problem}: the correction divides by nearly nought and is not given")]
    Inattentive {
        /// What the data say.
        problem: String,
    },
}

impl ReportCells {
    /// Counts one row.
    pub fn add(&mut self, second: bool, report: bool, weight: f64) -> Result<(), ComplianceError> {
        if !(weight > 0.0 && weight.is_finite()) {
            return Err(ComplianceError::Weight { value: weight });
        }
        let (group, yes) = (usize::from(second), usize::from(report));
        self.rows[group][yes] += 1;
        self.weights[group][yes] += weight;
        self.squares[group][yes] += weight * weight;
        Ok(())
    }

    /// Adds the counts of other rows.
    pub fn merge(&mut self, other: &Self) {
        for group in 0..2 {
            for yes in 0..2 {
                self.rows[group][yes] += other.rows[group][yes];
                self.weights[group][yes] += other.weights[group][yes];
                self.squares[group][yes] += other.squares[group][yes];
            }
        }
    }

    /// How many rows were counted.
    pub fn rows(&self) -> u64 {
        self.rows.iter().flatten().sum()
    }

    /// The weighted share of yes in each group, and the variance of each.
    fn group_shares(&self) -> Result<[(f64, f64); 2], ComplianceError> {
        let mut shares = [(0.0, 0.0); 2];
        for (group, name) in ["the first group", "the second group"].into_iter().enumerate() {
            let rows = self.rows[group][0] + self.rows[group][1];
            if rows < 2 {
                return Err(ComplianceError::Rows { group: name, rows });
            }
            let [no, yes] = self.weights[group];
            let share = yes / (no + yes);
            let [no_squares, yes_squares] = self.squares[group];
            let spread = yes_squares * (1.0 - share).powi(2) + no_squares * share.powi(2);
            let factor = rows as f64 / (rows - 1) as f64;
            shares[group] = (share, factor * spread / (no + yes).powi(2));
        }
        Ok(shares)
    }

    /// The weighted shares of the second fact and of yes, over all rows, and the variance of a weighted sum of both.
    fn pair_shares(&self) -> Result<PairShares, ComplianceError> {
        let rows = self.rows();
        if rows < 2 {
            return Err(ComplianceError::Rows { group: "the file", rows });
        }
        let total: f64 = self.weights.iter().flatten().sum();
        let second = (self.weights[1][0] + self.weights[1][1]) / total;
        let yes = (self.weights[0][1] + self.weights[1][1]) / total;
        Ok(PairShares { cells: *self, total, second, yes })
    }
}

/// Shares of two facts about the same people.
struct PairShares {
    cells: ReportCells,
    total: f64,
    second: f64,
    yes: f64,
}

impl PairShares {
    /// The variance of a · share of the second fact + b · share of yes.
    fn variance(&self, a: f64, b: f64) -> f64 {
        let rows = self.cells.rows() as f64;
        let mut sum = 0.0;
        for (group, squares) in self.cells.squares.iter().enumerate() {
            for (yes, square) in squares.iter().enumerate() {
                let score = a * (group as f64 - self.second) + b * (yes as f64 - self.yes);
                sum += square * score * score;
            }
        }
        rows / (rows - 1.0) * sum / (self.total * self.total)
    }
}

impl Quantity {
    /// The ends of the normal interval at a confidence level, cut at 0 and 1.
    pub fn interval(&self, level: f64) -> (f64, f64) {
        let half = normal_quantile((1.0 - level) / 2.0) * self.std_error;
        ((self.estimate - half).clamp(0.0, 1.0), (self.estimate + half).clamp(0.0, 1.0))
    }

    /// Whether the estimate is no possible share.
    pub fn is_outside(&self) -> bool {
        !(0.0..=1.0).contains(&self.estimate)
    }
}

fn inside(name: &'static str, value: f64) -> Result<(), ComplianceError> {
    match value > 0.0 && value < 1.0 {
        true => Ok(()),
        false => Err(ComplianceError::Probability { name, value }),
    }
}

/// Two groups' probabilities, which must differ.
fn two_coins(first: f64, second: f64) -> Result<(), ComplianceError> {
    inside("P1", first)?;
    inside("P2", second)?;
    if first == second {
        let (problem, fix) = ("both groups have one P", "give the groups different coins");
        return Err(ComplianceError::Singular { problem, fix });
    }
    Ok(())
}
