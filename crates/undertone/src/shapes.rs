//! What each shape's reports take, and how well they tell shares: which one to choose for an alphabet.
//!
//! ```
//! use undertone::design::DesignContext;
//! use undertone::shapes::{ShapesRequest, shapes};
//!
//! let context = DesignContext { size: Some(1024), ..DesignContext::default() };
//! let found = shapes(&ShapesRequest { context, protect: vec!["ldp:1".parse()?] })?;
//! let row = |method: &str| found.rows.iter().find(|row| row.method == method).unwrap();
//! // Blocks of a geometry are as accurate as the best there is, in a hundredth of the bits.
//! assert!(row("blocks").variance_at_zero < row("oue").variance_at_zero.map(|oue| 1.01 * oue));
//! assert!(row("blocks").report_bits <= Some(13) && row("oue").report_bits == Some(1024));
//! # Ok::<(), undertone::Error>(())
//! ```

use std::fmt::Write;

use serde::Serialize;
use undertone_core::{PolicyId, Ratio};

use crate::answer::Answer;
use crate::design::{
    DesignContext, DesignMethod, DesignReport, DesignRequest, Objective, Protection, design,
};
use crate::number;
use crate::policy_report::channel_words;
use crate::{Error, ErrorCode};

/// Which shapes to compare.
#[derive(Debug, Clone)]
pub struct ShapesRequest {
    /// What is known about the data.
    pub context: DesignContext,
    /// What must hold, all of it at once.
    pub protect: Vec<Protection>,
}

/// The shapes that are compared, each at its best for shares; the last two are made for a prior.
const COMPARED: [DesignMethod; 9] = [
    DesignMethod::Krr,
    DesignMethod::Oue,
    DesignMethod::Subset,
    DesignMethod::Hadamard,
    DesignMethod::Projective,
    DesignMethod::Hashing,
    DesignMethod::Blocks,
    DesignMethod::Balanced,
    DesignMethod::HeadTail,
];

impl ShapesRequest {
    /// How many designs it takes.
    pub fn designs(&self) -> usize {
        self.compared().len()
    }

    /// Whether people are expected to answer as one prior says.
    fn has_prior(&self) -> bool {
        let DesignContext { priors, any_prior, within, secret, .. } = &self.context;
        priors.len() == 1 && !any_prior && within.is_none() && secret.is_none()
    }

    fn compared(&self) -> &'static [DesignMethod] {
        if self.has_prior() { &COMPARED } else { &COMPARED[..7] }
    }
}

/// What each shape takes and tells.
#[derive(Debug, Clone, Serialize)]
pub struct ShapesReport {
    /// How many symbols there are.
    pub symbols: usize,
    /// What every policy promises.
    #[serde(serialize_with = "number::as_texts")]
    pub protect: Vec<Protection>,
    /// What the shapes are compared by.
    pub compared_by: ComparedBy,
    /// One shape each, the fewest bits first; those that are not to be had come last.
    pub rows: Vec<ShapeRow>,
}

/// What tells the better of two shapes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ComparedBy {
    /// The variance of one share whose true frequency is nought: nothing is known of the shares.
    VarianceAtZero,
    /// The variances of all shares, summed, under the one prior: shapes made for it err differently from symbol to symbol.
    Variance,
}

impl ComparedBy {
    /// For the head of a column and for sentences.
    pub fn words(self) -> &'static str {
        match self {
            Self::VarianceAtZero => "variance of a rare share",
            Self::Variance => "variances of all shares",
        }
    }
}

/// A verified policy of one shape, or why there is none.
#[derive(Debug, Clone, Serialize)]
pub struct ShapeRow {
    /// The method that finds it.
    pub method: &'static str,
    /// The policy's id.
    #[serde(serialize_with = "number::as_optional_text")]
    pub policy_id: Option<PolicyId>,
    /// The shape.
    pub shape: Option<&'static str>,
    /// What the channel does, in words.
    pub channel: Option<String>,
    /// The bits one report takes.
    pub report_bits: Option<u64>,
    /// n times the variance of one share whose true frequency is nought.
    pub variance_at_zero: Option<f64>,
    /// n times the variances of all shares, summed, if people are as the prior says.
    pub variance: Option<f64>,
    /// How far likelihoods of two symbols differ in the integers that ship, in nats rounded up.
    #[serde(serialize_with = "number::as_optional_level")]
    pub ldp: Option<Ratio>,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
}

impl ShapeRow {
    /// The bytes one report takes by itself.
    pub fn report_bytes(&self) -> Option<u64> {
        self.report_bits.map(|bits| bits.div_ceil(8).max(1))
    }

    /// The error that shapes are compared by, times n.
    pub fn error(&self, by: ComparedBy) -> Option<f64> {
        match by {
            ComparedBy::VarianceAtZero => self.variance_at_zero,
            ComparedBy::Variance => self.variance,
        }
    }
}

/// Designs every shape.
pub fn shapes(request: &ShapesRequest) -> Result<ShapesReport, Error> {
    shapes_with(request, || {})
}

/// Designs every shape, and calls `done` after each.
pub fn shapes_with(request: &ShapesRequest, done: impl Fn()) -> Result<ShapesReport, Error> {
    let mut rows = Vec::new();
    let mut symbols = 0;
    for &method in request.compared() {
        let found = design(&DesignRequest {
            context: request.context.clone(),
            protect: request.protect.clone(),
            objective: Some(Objective::Frequency),
            method: Some(method),
            ..DesignRequest::default()
        });
        rows.push(match found {
            Ok(DesignReport::Verified(found)) => {
                symbols = found.policy.inputs().len();
                ShapeRow {
                    method: method.name(),
                    policy_id: Some(found.policy.id()),
                    shape: Some(found.facts.shape),
                    channel: Some(channel_words(found.policy.draft().shape())),
                    report_bits: Some(found.facts.report_bits),
                    variance_at_zero: found.facts.variance_at_zero,
                    variance: found.utility,
                    ldp: Some(found.attained.leakages.input.ldp),
                    missing: None,
                }
            }
            Ok(DesignReport::Refused(_)) => {
                missing(method, "its formula misses the promise".to_owned())
            }
            // What is wrong with the request is wrong for every shape.
            Err(error) if error.code() == ErrorCode::Usage => return Err(error),
            Err(error) => missing(method, error.to_string()),
        });
        done();
    }
    if symbols == 0 {
        let reasons: Vec<String> = rows.into_iter().filter_map(|row| row.missing).collect();
        return Err(Error::input(format!("no shape can be had: {}", reasons.join("; "))));
    }
    let compared_by =
        if request.has_prior() { ComparedBy::Variance } else { ComparedBy::VarianceAtZero };
    let error = |row: &ShapeRow| row.error(compared_by).unwrap_or(f64::INFINITY);
    rows.sort_by(|a, b| {
        let bits = |row: &ShapeRow| (row.report_bits.is_none(), row.report_bits);
        bits(a).cmp(&bits(b)).then(error(a).total_cmp(&error(b)))
    });
    Ok(ShapesReport { symbols, protect: request.protect.clone(), compared_by, rows })
}

fn missing(method: DesignMethod, reason: String) -> ShapeRow {
    ShapeRow {
        method: method.name(),
        policy_id: None,
        shape: None,
        channel: None,
        report_bits: None,
        variance_at_zero: None,
        variance: None,
        ldp: None,
        missing: Some(reason),
    }
}

impl ShapesReport {
    /// The smallest error of any shape.
    pub fn least(&self) -> Option<f64> {
        self.rows.iter().filter_map(|row| row.error(self.compared_by)).min_by(f64::total_cmp)
    }

    /// The rows as CSV.
    pub fn csv(&self) -> String {
        let mut text = "method,shape,report_bits,variance_at_zero,variance,ldp\n".to_owned();
        let number = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
        for row in &self.rows {
            let bits = row.report_bits.map_or(String::new(), |bits| bits.to_string());
            let (zero, all) = (number(row.variance_at_zero), number(row.variance));
            let shape = row.shape.unwrap_or("");
            let ldp = row.ldp.map_or(String::new(), number::level_words);
            let _ = writeln!(text, "{},{shape},{bits},{zero},{all},{ldp}", row.method);
        }
        text
    }
}

impl Answer for ShapesReport {
    fn words(&self) -> String {
        let within = |row: &&ShapeRow| {
            let (own, least) = (row.error(self.compared_by), self.least());
            own.zip(least).is_some_and(|(own, least)| own <= 1.05 * least)
        };
        // The rows are in the order of their bits.
        match self.rows.iter().find(within) {
            Some(row) => format!(
                "The smallest report within 5 % of the best takes {} ({}, {}).",
                number::counted(row.report_bits.unwrap_or(0), "bit"),
                row.method,
                row.error(self.compared_by).map_or(String::new(), |value| format!(
                    "n times the {} {value:.3}",
                    self.compared_by.words()
                )),
            ),
            None => "No shape tells all shares.".into(),
        }
    }
}
