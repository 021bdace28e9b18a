//! What a cross-table says.

use std::collections::BTreeMap;

use serde::Serialize;
use undertone_estimate::crosstab::{Independence, IndependenceTest};
use undertone_estimate::{Crosstab, Method, Sample, TableShare};

use super::CrosstabRequest;
use crate::Answer;
use crate::number;
use crate::observations::{Observations, ReportedUnder, Sampling};

/// Joint shares, with what follows from them.
#[derive(Debug, Clone, Serialize)]
pub struct CrosstabReport {
    /// The columns.
    pub columns: Vec<String>,
    /// How many rows were estimated from.
    pub n: u64,
    /// How many rows were read.
    pub rows: u64,
    /// How many of them lack one of the columns.
    pub missing: u64,
    /// How shares were estimated.
    pub method: Method,
    /// The probability with which each interval holds its share.
    pub level: f64,
    /// The share of every combination of symbols.
    pub cells: Vec<JointShareReport>,
    /// The shares of every column's symbols.
    pub margins: Vec<MarginReport>,
    /// The shares of the first column's symbols in groups of the others.
    pub conditional: Vec<GroupShareReport>,
    /// By how much such shares differ from those of the first group.
    pub differences: Vec<DifferenceReport>,
    /// Whether columns have to do with each other, two by two.
    pub independence: Vec<IndependenceReport>,
    /// The log-likelihood at the shares, for maximum likelihood.
    #[serde(serialize_with = "number::as_optional_value")]
    pub log_likelihood: Option<f64>,
    /// How many times all counts were gone through, for maximum likelihood; 0 for a closed form.
    pub iterations: Option<usize>,
    /// What the sample's design does to the cells' variances, on average.
    #[serde(serialize_with = "number::as_value")]
    pub design_effect: f64,
    /// What is supposed, in sentences.
    pub assumptions: Vec<String>,
    /// What else a reader must know.
    pub notes: Vec<String>,
}

/// A share, or a difference, with its interval; nothing where the reports do not determine it.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct ShareReport {
    /// The estimate.
    #[serde(serialize_with = "number::as_optional_value")]
    pub value: Option<f64>,
    /// The interval's lower end.
    #[serde(serialize_with = "number::as_optional_value")]
    pub low: Option<f64>,
    /// The interval's upper end.
    #[serde(serialize_with = "number::as_optional_value")]
    pub high: Option<f64>,
    /// The standard error.
    #[serde(serialize_with = "number::as_optional_value")]
    pub std_error: Option<f64>,
    /// The variance over that of as many rows drawn simply at random.
    #[serde(serialize_with = "number::as_optional_value")]
    pub design_effect: Option<f64>,
}

/// The share of a combination of symbols.
#[derive(Debug, Clone, Serialize)]
pub struct JointShareReport {
    /// One symbol per column.
    pub symbols: Vec<String>,
    /// The share.
    #[serde(flatten)]
    pub share: ShareReport,
}

/// The shares of one column's symbols.
#[derive(Debug, Clone, Serialize)]
pub struct MarginReport {
    /// The column.
    pub column: String,
    /// The shares.
    pub shares: Vec<JointShareReport>,
}

/// The share of a symbol of the first column in a group.
#[derive(Debug, Clone, Serialize)]
pub struct GroupShareReport {
    /// The symbol.
    pub symbol: String,
    /// The group: a symbol of every other column.
    pub given: BTreeMap<String, String>,
    /// The share.
    #[serde(flatten)]
    pub share: ShareReport,
}

/// The difference of a symbol's shares in two groups.
#[derive(Debug, Clone, Serialize)]
pub struct DifferenceReport {
    /// The symbol of the first column.
    pub symbol: String,
    /// The group.
    pub given: BTreeMap<String, String>,
    /// The group whose share is taken off.
    pub reference: BTreeMap<String, String>,
    /// The difference.
    #[serde(flatten)]
    pub share: ShareReport,
}

/// A test that two columns are independent.
#[derive(Debug, Clone, Serialize)]
pub struct IndependenceReport {
    /// The columns.
    pub columns: [String; 2],
    /// `pearson`, `permutation` or `rao-scott`.
    pub test: &'static str,
    /// Pearson's statistic of the reports.
    #[serde(serialize_with = "number::as_value")]
    pub statistic: f64,
    /// Its degrees of freedom.
    #[serde(serialize_with = "number::as_value")]
    pub degrees_of_freedom: f64,
    /// How often independent columns would have a statistic as large.
    #[serde(serialize_with = "number::as_value")]
    pub p_value: f64,
    /// How many rearrangements the permutation test made.
    pub rearrangements: Option<usize>,
}

impl From<TableShare> for ShareReport {
    fn from(share: TableShare) -> Self {
        let TableShare { value, low, high, std_error, design_effect } = share;
        Self { value, low, high, std_error, design_effect }
    }
}

impl ShareReport {
    /// Value and ends for people, in units of `scale`; dashes where nothing is determined.
    pub fn written(&self, scale: f64) -> [String; 3] {
        [self.value, self.low, self.high]
            .map(|number| number.map_or("-".into(), |number| format!("{:.2}", scale * number)))
    }
}

impl From<&Independence> for IndependenceReport {
    fn from(found: &Independence) -> Self {
        let (test, rearrangements) = match found.test {
            IndependenceTest::Pearson => ("pearson", None),
            IndependenceTest::Permutation { rearrangements } => {
                ("permutation", Some(rearrangements))
            }
            IndependenceTest::RaoScott => ("rao-scott", None),
        };
        Self {
            columns: found.columns.clone(),
            test,
            statistic: found.statistic,
            degrees_of_freedom: found.degrees_of_freedom,
            p_value: found.p_value,
            rearrangements,
        }
    }
}

impl IndependenceReport {
    /// The test in a sentence.
    pub fn sentence(&self) -> String {
        let [a, b] = &self.columns;
        let how = match (self.test, self.rearrangements) {
            (_, Some(times)) => {
                format!("{times} rearrangements of the reports, since expected counts are small")
            }
            ("rao-scott", _) => {
                "Rao and Scott's test of the reports, which allows for the sample's design".into()
            }
            _ => format!(
                "Pearson's chi-squared of the reports, {:.2} with {} of freedom",
                self.statistic,
                number::counted(self.degrees_of_freedom as u64, "degree")
            ),
        };
        let p = if self.p_value < 1e-4 {
            "below 0.0001".into()
        } else {
            format!("{:.4}", self.p_value)
        };
        format!(
            "{a} and {b}: independent answers would look so unequal with probability {p} ({how})."
        )
    }
}

impl CrosstabReport {
    pub(super) fn new(
        table: &Crosstab,
        read: &Observations,
        sample: &Sample,
        request: &CrosstabRequest,
    ) -> Self {
        let group = |given: &[usize]| -> BTreeMap<String, String> {
            let others = table.columns[1..].iter().zip(&table.levels[1..]).zip(given);
            others.map(|((column, levels), &x)| (column.clone(), levels[x].clone())).collect()
        };
        let symbol = |of: usize| table.levels[0][of].clone();
        let margin = |(column, shares): (usize, &Vec<TableShare>)| MarginReport {
            column: table.columns[column].clone(),
            shares: shares
                .iter()
                .zip(&table.levels[column])
                .map(|(share, level)| JointShareReport {
                    symbols: vec![level.clone()],
                    share: (*share).into(),
                })
                .collect(),
        };
        Self {
            columns: table.columns.clone(),
            n: table.n as u64,
            rows: read.rows,
            missing: read.missing,
            method: table.method,
            level: table.level,
            cells: table
                .cells
                .iter()
                .map(|cell| JointShareReport {
                    symbols: table.names(&cell.at).into_iter().map(str::to_owned).collect(),
                    share: cell.share.into(),
                })
                .collect(),
            margins: table.margins.iter().enumerate().map(margin).collect(),
            conditional: table
                .conditional
                .iter()
                .map(|share| GroupShareReport {
                    symbol: symbol(share.of),
                    given: group(&share.given),
                    share: share.share.into(),
                })
                .collect(),
            differences: table
                .differences
                .iter()
                .map(|difference| DifferenceReport {
                    symbol: symbol(difference.of),
                    given: group(&difference.given),
                    reference: group(&difference.reference),
                    share: difference.share.into(),
                })
                .collect(),
            independence: table.independence.iter().map(Into::into).collect(),
            log_likelihood: table.fit.as_ref().map(|fit| fit.log_likelihood),
            iterations: table.fit.as_ref().map(|fit| fit.iterations),
            design_effect: table.design_effect,
            assumptions: assumptions(&request.randomised, &request.sampling, sample),
            notes: table.notes.clone(),
        }
    }
}

/// What is supposed, in sentences.
pub(crate) fn assumptions(
    randomised: &[(String, ReportedUnder)],
    drawn: &Sampling,
    sample: &Sample,
) -> Vec<String> {
    let mut said = Vec::new();
    if !randomised.is_empty() {
        let names: Vec<&str> = randomised.iter().map(|(name, _)| name.as_str()).collect();
        said.push(format!(
            "{} randomised as the policy says, each person's answers independently of each other and of everybody else's.",
            if names.len() == 1 { format!("{} was", names[0]) } else { format!("{} were", names.join(" and ")) }
        ));
    }
    let mut how = Vec::new();
    let mut add = |column: &Option<String>, what: &str| {
        how.extend(column.iter().map(|column| format!("{what} of column {column}")));
    };
    add(&drawn.weights, "weights");
    add(&drawn.strata, "strata");
    add(&drawn.cluster, "clusters");
    if let Some(people) = sample.population() {
        how.push(format!("a population of {people} people"));
    }
    if !drawn.margins.is_empty() {
        let names: Vec<&str> = drawn.margins.iter().map(|(name, _)| name.as_str()).collect();
        how.push(format!("weights raked to the known margins of {}", names.join(", ")));
    }
    said.push(if how.is_empty() {
        "Rows are people drawn simply at random from a large population.".into()
    } else {
        format!("Rows were drawn with {}.", how.join(", "))
    });
    said
}

impl Answer for CrosstabReport {
    fn words(&self) -> String {
        let mut said = vec![format!(
            "Joint shares of {} from {}, {} % intervals.",
            self.columns.join(", "),
            number::counted(self.n, "row"),
            number::nats(100.0 * self.level)
        )];
        for cell in &self.cells {
            let [value, low, high] = cell.share.written(100.0);
            said.push(format!("{}: {value} % ({low} to {high})", cell.symbols.join(", ")));
        }
        said.extend(self.independence.iter().map(IndependenceReport::sentence));
        said.extend(self.assumptions.iter().chain(&self.notes).cloned());
        said.join("\n")
    }
}
