//! Shares from rows that were drawn with a design: weights, strata, clusters, a finite population; and in groups.

use serde::Serialize;
use undertone_core::Policy;
use undertone_estimate::{
    Crosstab, CrosstabColumn, Evidence, Method, Sample, SampleDesign, Settings, TableShare,
};
use undertone_numeric::student::student_quantile;

use super::ReportGroup;
use crate::columns::Source;
use crate::crosstab::{ShareReport, assumptions};
use crate::observations::{
    Observation, Observations, ObservedAs, ObservedColumn, ReportedUnder, Sampling,
};
use crate::{Answer, Error, number};

/// More reports than these are not written out one by one.
const MOST_EXPANDED: usize = 1 << 26;

/// Which column's shares, how it was reported, in which groups, and how rows were drawn.
#[derive(Debug, Clone)]
pub struct SampledSharesRequest {
    /// The randomised column.
    pub column: String,
    /// What it was randomised under.
    pub under: ReportedUnder,
    /// The clear column that divides the rows into groups.
    pub by: Option<String>,
    /// How rows were drawn.
    pub sampling: Sampling,
    /// The probability with which each interval holds its share.
    pub level: f64,
}

/// Shares of a column, with a sample's design, and in groups.
#[derive(Debug, Clone, Serialize)]
pub struct SampledSharesReport {
    /// The column.
    pub column: String,
    /// How many rows were estimated from.
    pub n: u64,
    /// How many rows were read.
    pub rows: u64,
    /// How many of them lack one of the columns.
    pub missing: u64,
    /// The probability with which each interval holds its share.
    pub level: f64,
    /// The share of every symbol.
    pub shares: Vec<SampledShare>,
    /// The column that divides the rows into groups.
    pub by: Option<String>,
    /// The shares in every group.
    pub groups: Vec<GroupReport>,
    /// By how much a group's shares differ from the first group's.
    pub differences: Vec<GroupDifferenceReport>,
    /// What the sample's design does to the variances, on average.
    #[serde(serialize_with = "number::as_value")]
    pub design_effect: f64,
    /// What is supposed, in sentences.
    pub assumptions: Vec<String>,
    /// What else a reader must know.
    pub notes: Vec<String>,
}

/// A symbol's share.
#[derive(Debug, Clone, Serialize)]
pub struct SampledShare {
    /// The symbol.
    pub symbol: String,
    /// Its share.
    #[serde(flatten)]
    pub share: ShareReport,
}

/// The shares in one group.
#[derive(Debug, Clone, Serialize)]
pub struct GroupReport {
    /// The group.
    pub group: String,
    /// The shares.
    pub shares: Vec<SampledShare>,
}

/// How a group's shares differ from the first group's.
#[derive(Debug, Clone, Serialize)]
pub struct GroupDifferenceReport {
    /// The group.
    pub group: String,
    /// The group whose shares are taken off.
    pub reference: String,
    /// The differences.
    pub shares: Vec<SampledShare>,
}

impl SampledSharesRequest {
    /// The columns to be read; refuses what no rows could answer.
    pub fn wanted(&self) -> Result<Vec<ObservedColumn>, Error> {
        Settings::at_level(self.level)
            .map_err(|error| Error::field("level", format!(": {error}")))?;
        if self.by.as_ref() == Some(&self.column) {
            return Err(Error::field(
                "by",
                format!("is {:?} itself: name another column", self.column),
            ));
        }
        let kind = ObservedAs::Randomised(self.under.clone());
        let mut wanted = vec![ObservedColumn::new(&self.column, kind)];
        wanted.extend(self.by.iter().map(|by| ObservedColumn::new(by, ObservedAs::Clear)));
        wanted.extend(self.sampling.columns_beside(&wanted)?);
        Ok(wanted)
    }
}

/// Estimates the shares of a randomised column of a file.
pub fn estimate_sample(
    rows: Source,
    request: &SampledSharesRequest,
) -> Result<SampledSharesReport, Error> {
    estimate_sample_of(&Observations::read(rows, &request.wanted()?)?, request)
}

/// Estimates the shares of what [`SampledSharesRequest::wanted`] asked for.
pub fn estimate_sample_of(
    read: &Observations,
    request: &SampledSharesRequest,
) -> Result<SampledSharesReport, Error> {
    let (tabulated, drawn) = read.columns.split_at(1 + usize::from(request.by.is_some()));
    let evidence: Vec<&Evidence> = tabulated.iter().filter_map(Observation::evidence).collect();
    let sample = request.sampling.sample(read.kept() as usize, drawn)?;
    let randomised = [(request.column.clone(), request.under.clone())];
    let mut report = shares(&request.column, &evidence, &sample, request.level)?;
    report.rows = read.rows;
    report.missing = read.missing;
    report.by = request.by.clone();
    report.assumptions = assumptions(&randomised, &request.sampling, &sample);
    Ok(report)
}

/// Shares of the first column, and in the groups of the second where there is one.
fn shares(
    name: &str,
    evidence: &[&Evidence],
    sample: &Sample,
    level: f64,
) -> Result<SampledSharesReport, Error> {
    let columns: Vec<CrosstabColumn<'_>> =
        evidence.iter().map(|evidence| CrosstabColumn { name, evidence }).collect();
    let whole = Crosstab::new(&columns[..1], sample, Method::Unbiased, level);
    let whole = whole.map_err(Error::input)?;
    let reach = student_quantile(sample.degrees_of_freedom(), (1.0 - level) / 2.0);
    let share = |(symbol, share): (&String, TableShare)| SampledShare {
        symbol: symbol.clone(),
        share: share.into(),
    };
    let levels = evidence[0].levels();
    let all = whole.cells.iter().map(|cell| symmetric(cell.share, reach));
    let mut report = SampledSharesReport {
        column: name.to_owned(),
        n: sample.rows() as u64,
        rows: sample.rows() as u64,
        missing: 0,
        level,
        shares: levels.iter().zip(all).map(share).collect(),
        by: None,
        groups: Vec::new(),
        differences: Vec::new(),
        design_effect: whole.design_effect,
        assumptions: Vec::new(),
        notes: whole.notes.clone(),
    };
    let [_, by] = evidence else { return Ok(report) };
    let table = Crosstab::new(&columns, sample, Method::Unbiased, level).map_err(Error::input)?;
    for (at, group) in by.levels().iter().enumerate() {
        let own = table.conditional.iter().filter(|share| share.given == [at]);
        let shares = levels.iter().zip(own.map(|own| own.share)).map(share).collect();
        report.groups.push(GroupReport { group: group.clone(), shares });
        let own = table.differences.iter().filter(|difference| difference.given == [at]);
        let shares: Vec<SampledShare> =
            levels.iter().zip(own.map(|own| own.share)).map(share).collect();
        if !shares.is_empty() {
            let reference = by.levels()[0].clone();
            let group = group.clone();
            report.differences.push(GroupDifferenceReport { group, reference, shares });
        }
    }
    Ok(report)
}

/// The symmetric interval that survey packages print: so many standard errors on both sides, cut to what is possible. Rows that are all
/// alike say nothing of their spread; then the interval stays that of the policy's own noise.
fn symmetric(share: TableShare, reach: f64) -> TableShare {
    if share.std_error.is_none_or(|error| error <= 0.0) {
        return share;
    }
    let end = |sign: f64| {
        let (value, error) = (share.value?, share.std_error?);
        Some((value + sign * reach * error).clamp(0.0, 1.0))
    };
    TableShare { low: end(-1.0), high: end(1.0), ..share }
}

/// The shares if the reports are a simple random sample, without replacement, of so many people. `None` for policies that release bits, whose
/// tallies do not keep single reports, for several policies, and for populations smaller than the sample.
pub(super) fn of_population(
    groups: &[ReportGroup],
    people: u64,
    level: f64,
) -> Option<SampledSharesReport> {
    let [ReportGroup { policy, tally }] = groups else { return None };
    let reports = usize::try_from(tally.reports()).ok();
    let reports = reports.filter(|reports| (2..=MOST_EXPANDED).contains(reports))?;
    if policy.draft().shape().releases_bits() || tally.reports() > people {
        return None;
    }
    let evidence = expanded(policy, tally.counts())?;
    let design = SampleDesign { population: Some(people), ..SampleDesign::default() };
    let sample = Sample::new(reports, design).ok()?;
    let mut report = shares("answers", &[&evidence], &sample, level).ok()?;
    report.assumptions = vec![format!(
        "The reports are a simple random sample, without replacement, of {people} people."
    )];
    Some(report)
}

/// One row for every report.
fn expanded(policy: &Policy, counts: &[u64]) -> Option<Evidence> {
    let repeated =
        |(output, &count): (usize, &u64)| std::iter::repeat_n(output as u32, count as usize);
    let outputs: Vec<u32> = counts.iter().enumerate().flat_map(repeated).collect();
    Evidence::randomised(policy, &outputs).ok()
}

impl Answer for SampledSharesReport {
    fn words(&self) -> String {
        let mut said = vec![format!(
            "Shares of {} from {}, {} % intervals.",
            self.column,
            number::counted(self.n, "row"),
            number::nats(100.0 * self.level)
        )];
        let sentence = |share: &SampledShare| {
            let [value, low, high] = share.share.written(100.0);
            format!("{}: {value} % ({low} to {high})", share.symbol)
        };
        said.extend(self.shares.iter().map(sentence));
        for group in &self.groups {
            let shares = group.shares.iter().map(sentence);
            said.extend(shares.map(|share| format!("{}: {share}", group.group)));
        }
        said.extend(self.assumptions.iter().chain(&self.notes).cloned());
        said.join("\n")
    }
}
