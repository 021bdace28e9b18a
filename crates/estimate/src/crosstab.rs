//! Joint shares of two or three columns, each clear or randomised; of one column, its shares.
//!
//! Rows that say the same are counted together first, so that ten million rows cost one pass. **Maximum likelihood** climbs the likelihood
//! of these counts ([`mle`](crate::mle)); **unbiased** shares are means of the product of the columns' scores, a score being a
//! row of the column's (generalised) inverse under the design that the report was made with. Where channels are square and invertible
//! and the unbiased table has nothing below nought both are the same numbers.
//!
//! **Intervals** rest on the unbiased scores by both methods (`limits.rs`): for a cell, the shares that the mean score does not contradict,
//! its variance being that of the share in question; given clear columns, the same within a group; given randomised ones, Fieller's; for
//! differences between groups, MOVER. They hold at the stated level approximately, for numbers of rows that the simulations
//! of `tests/suite/coverage_crosstab.rs` name, and take the sample's design into account. Where a share is exactly nought the
//! interval, cut at nought, holds it more often than stated.
//!
//! What some rows' designs do not determine has no number: [`TableShare::value`] is `None`.

mod independence;
mod joint;
mod limits;
mod scores;
mod shares;

pub use independence::{Independence, IndependenceTest};
pub use limits::difference_of_independent;
pub use shares::TableShare;

use crate::mle::{Fit, fit_law};
use crate::{Error, Evidence, Method, Sample};
use joint::{JointCodes, JointLaw};
use scores::JointScores;
use serde::Serialize;
use shares::Table;

/// A column of a cross-table.
#[derive(Clone, Copy, Debug)]
pub struct CrosstabColumn<'a> {
    /// What it is called.
    pub name: &'a str,
    /// What its rows say.
    pub evidence: &'a Evidence,
}

/// Joint shares with what follows from them.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Crosstab {
    /// The columns' names.
    pub columns: Vec<String>,
    /// The symbols of every column.
    pub levels: Vec<Vec<String>>,
    /// How many rows.
    pub n: usize,
    /// How the shares were estimated.
    pub method: Method,
    /// The probability with which each interval holds its share.
    pub level: f64,
    /// The share of every combination of symbols, the last column's running fastest.
    pub cells: Vec<CrosstabCell>,
    /// For every column, the share of each of its symbols.
    pub margins: Vec<Vec<TableShare>>,
    /// Shares of the first column's symbols among those with given symbols of the others.
    pub conditional: Vec<ConditionalShare>,
    /// By how much such a share differs from that of the first group.
    pub differences: Vec<GroupDifference>,
    /// For every two columns, whether they have to do with each other.
    pub independence: Vec<Independence>,
    /// How the likelihood was climbed, for maximum likelihood.
    pub fit: Option<CrosstabFit>,
    /// What the sample's design does to the cells' variances, on average; 1 for a simple sample.
    pub design_effect: f64,
    /// What a reader must know, in sentences.
    pub notes: Vec<String>,
}

/// The share of one combination of symbols.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct CrosstabCell {
    /// One symbol per column, by index.
    pub at: Vec<usize>,
    /// Its share.
    #[serde(flatten)]
    pub share: TableShare,
}

/// The share of a symbol of the first column in a group.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ConditionalShare {
    /// The symbol, by index.
    pub of: usize,
    /// The group: one symbol of every other column, by index.
    pub given: Vec<usize>,
    /// The share.
    #[serde(flatten)]
    pub share: TableShare,
}

/// A difference between the shares of a symbol in two groups.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct GroupDifference {
    /// The symbol of the first column, by index.
    pub of: usize,
    /// The group.
    pub given: Vec<usize>,
    /// The group whose share is taken off: the first one.
    pub reference: Vec<usize>,
    /// The difference.
    #[serde(flatten)]
    pub share: TableShare,
}

/// How the likelihood was climbed.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct CrosstabFit {
    /// The log-likelihood of the reports; with weights, each row's times its weight.
    pub log_likelihood: f64,
    /// No shares have a log-likelihood more than this above it.
    pub gap: f64,
    /// How many times all counts were gone through; 0 for a closed form.
    pub iterations: usize,
    /// Whether the climb reached the top.
    pub converged: bool,
}

/// More cells than these are not estimated together.
const MOST_CELLS: usize = 1024;
/// More operations than these are not made for the cells' covariance.
const MOST_WORK: f64 = 1e11;

impl Crosstab {
    /// At most three columns; of one, its shares.
    pub const COLUMNS: std::ops::RangeInclusive<usize> = 1..=3;

    /// Estimates the joint shares of columns of the same rows; intervals hold each at `level`.
    pub fn new(
        columns: &[CrosstabColumn<'_>],
        sample: &Sample,
        method: Method,
        level: f64,
    ) -> Result<Self, Error> {
        check(columns, sample, method, level)?;
        let evidence: Vec<&Evidence> = columns.iter().map(|column| column.evidence).collect();
        let joint = JointCodes::new(&evidence)?;
        let weights = joint.weights(sample);
        let scores = JointScores::new(&evidence, &joint, &weights)?;
        let sizes: Vec<usize> = evidence.iter().map(|column| column.symbols()).collect();
        let cells: usize = sizes.iter().product();
        let work = joint.codes.len() as f64 * (cells * cells) as f64;
        if work > MOST_WORK {
            return Err(Error::unanswerable(
                "a cross-table",
                format!(
                    "{} different combinations of reports for {cells} cells take too long: merge symbols, or leave a column out",
                    joint.codes.len()
                ),
            ));
        }
        let width = cells;
        let means = sample.shares(width, &joint.classes, |class, out| {
            scores.write(&joint.codes[class as usize], out);
        })?;
        let determined: Vec<bool> =
            (0..cells).map(|cell| scores.always_determined(&place(cell, &sizes))).collect();
        let (fit, shares) = match method {
            Method::Mle => {
                let law = JointLaw::new(&evidence, &joint.codes);
                let possible =
                    scores.are_unique() && means.values.iter().all(|&value| value >= 0.0);
                let fit = fit_law(&law, weights.clone(), possible.then(|| means.values.clone()));
                let shares = fit.shares.clone();
                (Some(fit), shares)
            }
            Method::Unbiased | Method::Mmse => (None, means.values.clone()),
        };
        let notes = notes(columns, fit.as_ref(), &determined, &scores);
        let mut independence = Vec::new();
        for a in 0..columns.len() {
            for b in a + 1..columns.len() {
                let names = [columns[a].name, columns[b].name];
                independence.extend(independence::test(names, [evidence[a], evidence[b]], sample)?);
            }
        }
        let factors: f64 = joint
            .codes
            .iter()
            .zip(&weights)
            .map(|(codes, weight)| {
                let of = |(column, &code): (&&Evidence, &u32)| column.log_factor(code);
                weight * evidence.iter().zip(codes).map(of).sum::<f64>()
            })
            .sum();
        let fit = fit.map(|fit| CrosstabFit {
            log_likelihood: fit.log_likelihood + factors,
            gap: fit.gap,
            iterations: fit.steps,
            converged: fit.converged,
        });
        let table = Table {
            evidence: &evidence,
            joint: &joint,
            scores: &scores,
            sample,
            means: &means,
            shares: &shares,
            determined: &determined,
            sizes: &sizes,
            level,
        };
        let known: Vec<f64> =
            (0..cells).filter(|&cell| determined[cell]).map(|cell| table.effect(cell)).collect();
        Ok(Self {
            columns: columns.iter().map(|column| column.name.to_owned()).collect(),
            levels: evidence.iter().map(|column| column.levels().to_vec()).collect(),
            n: sample.rows(),
            method,
            level,
            cells: table.cells(),
            margins: (0..sizes.len())
                .map(|column| table.margin(column))
                .collect::<Result<_, _>>()?,
            conditional: if columns.len() > 1 { table.conditional() } else { Vec::new() },
            differences: if columns.len() > 1 { table.differences() } else { Vec::new() },
            independence,
            fit,
            design_effect: known.iter().sum::<f64>() / known.len().max(1) as f64,
            notes,
        })
    }

    /// What every symbol of a cell is called.
    pub fn names(&self, at: &[usize]) -> Vec<&str> {
        at.iter().zip(&self.levels).map(|(&x, levels)| levels[x].as_str()).collect()
    }
}

/// The symbols of a cell, the last column's running fastest.
fn place(mut cell: usize, sizes: &[usize]) -> Vec<usize> {
    let mut at = vec![0; sizes.len()];
    for (x, size) in at.iter_mut().zip(sizes).rev() {
        (*x, cell) = (cell % size, cell / size);
    }
    at
}

/// The number of a cell.
fn number(at: &[usize], sizes: &[usize]) -> usize {
    at.iter().zip(sizes).fold(0, |number, (x, size)| number * size + x)
}

fn check(
    columns: &[CrosstabColumn<'_>],
    sample: &Sample,
    method: Method,
    level: f64,
) -> Result<(), Error> {
    let refused = |problem: String| Err(Error::unanswerable("a cross-table", problem));
    if !Crosstab::COLUMNS.contains(&columns.len()) {
        return refused(format!("{} columns: give one, two or three", columns.len()));
    }
    if !(level > 0.0 && level < 1.0) {
        let range = "above 0 and below 1";
        return Err(Error::Range { what: "the confidence level", value: level, range });
    }
    if method == Method::Mmse {
        return refused("there is no prior of several columns: use mle or unbiased".into());
    }
    for column in columns {
        let found = column.evidence.rows();
        if found != sample.rows() {
            return Err(Error::Size { what: "a column", expected: sample.rows(), found });
        }
    }
    if sample.rows() < 2 {
        return refused("one row: an interval needs two or more".into());
    }
    let sizes = columns.iter().map(|column| column.evidence.symbols());
    let cells = sizes.fold(1usize, |product, size| product.saturating_mul(size));
    if cells > MOST_CELLS {
        return refused(format!(
            "{cells} cells, above the {MOST_CELLS} supported: merge symbols, or leave a column out"
        ));
    }
    Ok(())
}

/// What a reader must know.
fn notes(
    columns: &[CrosstabColumn<'_>],
    fit: Option<&Fit>,
    determined: &[bool],
    scores: &JointScores,
) -> Vec<String> {
    let mut notes = Vec::new();
    for (at, column) in columns.iter().enumerate() {
        let missing: Vec<&str> = (0..column.evidence.symbols())
            .filter(|&x| !scores.column_determined(at, x))
            .map(|x| column.evidence.levels()[x].as_str())
            .collect();
        if !missing.is_empty() {
            notes.push(format!(
                "The reports of {} do not determine the share of {}: cells with it have no number.",
                column.name,
                missing.join(", ")
            ));
        }
    }
    if let Some(fit) = fit.filter(|fit| !fit.converged) {
        notes.push(format!(
            "The likelihood was not climbed to its top: it may be {:.2e} higher.",
            fit.gap
        ));
    }
    if fit.is_some() && determined.iter().all(|known| *known) && !scores.are_unique() {
        notes.push(
            "Intervals and standard errors are those of unbiased scores, which here use less of the reports than maximum likelihood does."
                .into(),
        );
    }
    if scores.combinations.len() > 1 {
        notes.push(
            "Rows were reported under several designs: who got which is supposed to have nothing to do with the answers."
                .into(),
        );
    }
    notes
}
