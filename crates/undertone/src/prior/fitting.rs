//! A prior from a column of data.

use serde::Serialize;
use undertone_design::fit::Fit;

use super::mixture::{Components, FittedMixtures, fit_mixture};
use super::symbols::PriorSymbols;
use super::tally::{GroupTally, Tally};
use crate::Error;
use crate::answer::{Answer, Remark};
use crate::columns::{Source, UnknownValues};
use crate::document::{DensityDocument, Floored, PriorDocument};
use crate::error::mention;
use crate::number::nats;

/// Which column to fit a prior to, and how.
pub struct PriorFitRequest {
    /// Where the rows come from.
    pub rows: Source,
    /// The column to count.
    pub column: String,
    /// What the symbols are.
    pub symbols: PriorSymbols,
    /// Fit a mixture of normal laws to the numbers; the bins' probabilities are then the mixture's. The symbols are
    /// bins.
    pub mixture: Option<Components>,
    /// Added to every count. With 0, symbols never seen count as half an observation, and are named.
    pub smoothing: f64,
    /// The chance that the truth is outside the box, and outside the radius.
    pub beta: f64,
    /// What to do with missing values and values that have no symbol.
    pub unknown: UnknownValues,
    /// Where the data came from, in words; else the column and the name of the rows.
    pub source: Option<String>,
    /// When the data were collected, as YYYY-MM-DD.
    pub date: Option<String>,
}

impl PriorFitRequest {
    /// Counts the values found in a column, nothing smoothed, with a box that holds the truth with probability 0.95.
    pub fn new(rows: Source, column: impl Into<String>) -> Self {
        Self {
            rows,
            column: column.into(),
            symbols: PriorSymbols::Found { categories: false },
            mixture: None,
            smoothing: 0.0,
            beta: 0.05,
            unknown: UnknownValues::Refuse,
            source: None,
            date: None,
        }
    }

    /// What stands in the prior for all to read, and what its counts are made with.
    pub(super) fn terms(&self) -> Result<FitTerms, Error> {
        if !(self.smoothing >= 0.0 && self.smoothing.is_finite()) {
            let problem = format!("is {}: give a number of at least 0", self.smoothing);
            return Err(Error::field("smoothing", problem));
        }
        if !(self.beta > 0.0 && self.beta < 1.0) {
            let problem = format!("is {}: give a number above 0 and below 1", self.beta);
            return Err(Error::field("beta", problem));
        }
        let named = || format!("column {} of {}", self.column, self.rows.title());
        let source = self.source.clone().unwrap_or_else(named);
        let remark = self.source.is_none().then(|| {
            Remark::new(format!(
                "{source:?} stands in the prior and in every policy made from it: {} says something else",
                mention("source")
            ))
        });
        let (smoothing, beta) = (self.smoothing, self.beta);
        Ok(FitTerms { smoothing, beta, source, remark, date: self.date.clone() })
    }
}

/// How counts become a prior, and what it says about its data.
pub(super) struct FitTerms {
    smoothing: f64,
    beta: f64,
    source: String,
    /// What the prior says of its source unasked, since it is public.
    pub(super) remark: Option<Remark>,
    date: Option<String>,
}

impl FitTerms {
    pub(super) fn fit(&self, counts: Vec<u64>) -> Result<Fit, Error> {
        Ok(Fit::from_counts(counts, self.smoothing, self.beta)?)
    }

    /// A fit as a document.
    pub(super) fn document(
        &self,
        tally: &Tally,
        group: Option<&str>,
        fit: &Fit,
        counted: &GroupTally,
    ) -> PriorDocument {
        let floored =
            fit.floored.iter().map(|&x| Floored { symbol: tally.symbols[x].clone(), to: fit.p[x] });
        PriorDocument {
            symbols: tally.symbols.clone(),
            p: fit.p.as_slice().to_vec(),
            values: tally.values.clone(),
            edges: tally.edges.clone(),
            n: Some(fit.n),
            counts: Some(fit.counts.clone()),
            lower: Some(fit.confidence.lower.clone()),
            upper: Some(fit.confidence.upper.clone()),
            radius: Some(fit.confidence.radius),
            beta: Some(fit.confidence.beta),
            smoothing: Some(fit.smoothing),
            floored: Some(floored.collect()),
            skipped: Some(counted.skipped),
            clipped: tally.edges.as_ref().map(|_| (counted.below, counted.above)),
            density: None,
            source: Some(match group {
                Some(group) => format!("{}, group {group}", self.source),
                None => self.source.clone(),
            }),
            date: self.date.clone(),
        }
    }
}

/// A prior fitted to a column. Its JSON is the prior's document.
#[derive(Debug, Clone, Serialize)]
pub struct PriorFit {
    /// The column that was counted.
    #[serde(skip)]
    pub column: String,
    /// The prior.
    #[serde(flatten)]
    pub prior: PriorDocument,
    /// The mixtures fitted to the numbers, where one was asked for.
    #[serde(skip)]
    pub mixtures: Option<FittedMixtures>,
    /// Everything a reader must not overlook.
    #[serde(skip)]
    pub remarks: Vec<Remark>,
}

/// Fits a prior to a column.
pub fn fit(request: PriorFitRequest) -> Result<PriorFit, Error> {
    let terms = request.terms()?;
    let PriorFitRequest { rows, column, symbols, mixture, unknown, .. } = request;
    let tally = Tally::of(rows, &column, &[], &symbols, unknown, mixture.is_some())?;
    let counted = tally.groups.values().next().cloned().unwrap_or_default();
    let mut fit = terms.fit(counted.counts(tally.symbols.len()))?;
    let mixtures = match (mixture, &tally.edges) {
        (Some(components), Some(edges)) => {
            Some(fit_mixture(&counted.numbers, edges, components, &mut fit)?)
        }
        (Some(_), None) => {
            let (range, bins) = (mention("range"), mention("bins"));
            let problem = format!("is fitted to numbers in bins: give {range} and {bins}");
            return Err(Error::field("mixture", problem));
        }
        (None, _) => None,
    };
    let mut prior = terms.document(&tally, None, &fit, &counted);
    if let Some(mixtures) = &mixtures {
        let density = DensityDocument::of(mixtures.chosen());
        let laws = density.components.len();
        prior.source =
            prior.source.map(|source| format!("mixture of {laws} normal laws fitted to {source}"));
        prior.density = Some(density);
    }
    let mut remarks = remarks(&tally, &fit, &counted, mixtures.is_some());
    remarks.extend(terms.remark);
    Ok(PriorFit { column, prior, mixtures, remarks })
}

/// Everything a reader of a fit must not overlook.
pub(super) fn remarks(tally: &Tally, fit: &Fit, counted: &GroupTally, fitted: bool) -> Vec<Remark> {
    let mut said = Vec::new();
    let list = |symbols: &[usize]| {
        let named = symbols.iter().take(10).map(|&x| tally.symbols[x].as_str());
        let more = symbols.len().saturating_sub(10);
        let names = named.collect::<Vec<_>>().join(", ");
        if more > 0 { format!("{names} and {more} more") } else { names }
    };
    if let Some(&first) = fit.floored.first() {
        let unseen = if fitted { "hardly any mass" } else { "never seen" };
        said.push(Remark::new(format!(
            "{unseen}: {}; counted as half an observation each, p = {}",
            list(&fit.floored),
            nats(fit.p[first])
        )));
    }
    let outside = fit.outside();
    if !outside.is_empty() {
        let pushed =
            if fitted { "the mixture leaves" } else { "smoothing pushed the estimate out of" };
        said.push(Remark::new(format!("{pushed} the box of the counts at: {}", list(&outside))));
    }
    if counted.skipped > 0 {
        let (skipped, rows) = (counted.skipped, counted.rows);
        said.push(Remark::new(format!("{skipped} of {rows} rows were skipped")));
    }
    if counted.below + counted.above > 0 {
        said.push(Remark::new(format!(
            "{} numbers below and {} above the range were counted in the end bins",
            counted.below, counted.above
        )));
    }
    if tally.found {
        said.push(found_remark());
    }
    said
}

/// What holds for every group whose symbols were found.
pub(super) fn found_remark() -> Remark {
    Remark::new(format!(
        "the symbols are those found in the data: if others can occur, list all with {}",
        mention("symbols")
    ))
}

/// A prior's likeliest symbols with their shares, in percent.
pub(super) fn likeliest(symbols: &[String], p: &[f64]) -> String {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&a, &b| p[b].total_cmp(&p[a]));
    let share = |&x: &usize| {
        let name = symbols.get(x).cloned().unwrap_or_else(|| x.to_string());
        format!("{name} {} %", nats((1e4 * p[x]).round() / 1e2))
    };
    order.iter().take(3).map(share).collect::<Vec<_>>().join(", ")
}

impl Answer for PriorFit {
    fn words(&self) -> String {
        let prior = &self.prior;
        let n = prior.n.unwrap_or_default();
        let mut words = format!(
            "{n} observations of {:?}, likeliest {}.",
            self.column,
            likeliest(&prior.symbols, &prior.p)
        );
        words.extend(prior.confidence_words().map(|sentence| format!("\n{sentence}")));
        words.extend(self.remarks.iter().map(|remark| format!("\nnote: {remark}")));
        words
    }
}
