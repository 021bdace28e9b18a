//! Shares from rows whose policies follow their groups: every group has shares of its own, and all together are the answer.

use serde::Serialize;
use undertone_core::{Claim, Policy, PolicyId};
use undertone_estimate::drift::{ALARM, Test};
use undertone_estimate::{Coverage, IntervalMethod, Strata, Tally, Target};

use super::counting::{Reader, RowCounts};
use super::{EstimateRequest, EstimatedNumber, EstimatedShare, ReportColumn};
use crate::columns::Source;
use crate::observations::ReportedUnder;
use crate::{Answer, Error, number};

/// The reports of groups, each with its policy, counted.
#[derive(Debug, Clone)]
pub struct CountedGroups {
    by: String,
    column: String,
    groups: Vec<(String, Policy)>,
    tallies: Vec<Tally>,
    rows: RowCounts,
}

/// What reports say when every group has its policy and shares of its own.
#[derive(Debug, Clone, Serialize)]
pub struct GroupedEstimateReport {
    /// How many reports there are.
    pub reports: u64,
    /// How many rows were read.
    pub rows: u64,
    /// How many of them were left out.
    pub skipped: u64,
    /// How many were left out because their policy does not release what they hold, or their group is not in the map.
    pub unknown: u64,
    /// How many were left out because they hold nothing.
    pub missing: u64,
    /// The column.
    pub column: String,
    /// The column that says which group a row belongs to.
    pub policy_by: String,
    /// The probability with which an interval holds the truth.
    pub level: f64,
    /// Whether each interval holds with it, or all at once.
    pub coverage: Coverage,
    /// Whom the estimates speak of.
    pub target: Target,
    /// What to read first: unbiased. Neither priors nor predictions enter.
    pub headline: GroupedHeadline,
    /// The maximum-likelihood shares: every group at its own maximum.
    pub mle: GroupedMaximum,
    /// What each group's reports say by themselves.
    pub groups: Vec<GroupedReport>,
    /// What a reader must not overlook.
    pub warnings: Vec<String>,
}

/// The unbiased shares of all people.
#[derive(Debug, Clone, Serialize)]
pub struct GroupedHeadline {
    /// The method in words.
    pub label: &'static str,
    /// One for every symbol, in the order of the first group's policy.
    pub shares: Vec<EstimatedShare>,
    /// The mean, where symbols are numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean: Option<EstimatedNumber>,
    /// How intervals were found.
    pub method: IntervalMethod,
}

/// The maximum-likelihood shares of all people.
#[derive(Debug, Clone, Serialize)]
pub struct GroupedMaximum {
    /// The method in words, with what limits it.
    pub label: &'static str,
    /// One for every symbol, in the order of the first group's policy.
    #[serde(serialize_with = "number::as_values")]
    pub shares: Vec<f64>,
    /// Whether every group's maximum was reached.
    pub converged: bool,
}

/// One group.
#[derive(Debug, Clone, Serialize)]
pub struct GroupedReport {
    /// What the column of groups says.
    pub group: String,
    /// Its policy.
    #[serde(serialize_with = "number::as_text")]
    pub policy_id: PolicyId,
    /// What the policy promises.
    #[serde(serialize_with = "number::as_texts")]
    pub claims: Vec<Claim>,
    /// How many reports it has.
    pub reports: u64,
    /// Its unbiased shares as they come out, possible or not.
    #[serde(serialize_with = "number::as_values")]
    pub unbiased: Vec<f64>,
    /// Its reports held against the priors its policy supposes; nothing where it supposes none.
    pub prior: Option<Test>,
    /// How far belief moves under what the policy supposes; nothing if nothing is supposed or it is without bound.
    #[serde(serialize_with = "number::as_optional_bound")]
    pub assumed_leakage: Option<f64>,
    /// The LDP level, which holds whatever the prior; nothing if without bound.
    #[serde(serialize_with = "number::as_optional_bound")]
    pub ldp: Option<f64>,
}

impl CountedGroups {
    /// Counts a column of some files under the policies of its groups; `column` says how cells are read, and its column of
    /// policies is the one of `under`.
    pub fn read(
        under: ReportedUnder,
        files: Vec<Source>,
        column: &ReportColumn,
    ) -> Result<Self, Error> {
        Self::counted(under, column, |reader, tallies| {
            let mut rows = RowCounts::default();
            for file in files {
                rows.add(&reader.read(file, tallies)?);
            }
            Ok(rows)
        })
    }

    /// Counts cells in memory, each with its group; what has no text is missing.
    pub fn of_texts(
        under: ReportedUnder,
        cells: impl Iterator<Item = (Option<String>, Option<String>)>,
        column: &ReportColumn,
    ) -> Result<Self, Error> {
        Self::counted(under, column, |reader, tallies| reader.read_texts(cells, tallies))
    }

    fn counted(
        under: ReportedUnder,
        column: &ReportColumn,
        read: impl FnOnce(&Reader<'_>, &mut [Tally]) -> Result<RowCounts, Error>,
    ) -> Result<Self, Error> {
        let ReportedUnder::By { column: by, designs } = under else {
            return Err(Error::field("policy_by", "is not given: name a column and a map"));
        };
        let policy = |(name, policy): (String, Option<Policy>)| match policy {
            Some(policy) => Ok((name, policy)),
            None => Err(Error::field(
                "policy_by",
                format!(
                    ": the rows of {name:?} are clear: crosstab, or an estimate with a column of weights, takes such files"
                ),
            )),
        };
        let groups = designs.into_iter().map(policy).collect::<Result<Vec<_>, _>>()?;
        let asked = ReportColumn { policy_column: Some(by.clone()), ..column.clone() };
        let mut tallies: Vec<Tally> = groups.iter().map(|(_, policy)| Tally::new(policy)).collect();
        let rows = read(&Reader::by_group(&asked, &groups), &mut tallies)?;
        Ok(Self { by, column: asked.column, groups, tallies, rows })
    }
}

/// The shares of all people, where every group has its policy and shares of its own.
pub fn estimate_groups(
    counted: &CountedGroups,
    request: &EstimateRequest,
) -> Result<GroupedEstimateReport, Error> {
    let settings = request.settings()?;
    let CountedGroups { by, column, groups, tallies, rows } = counted;
    let given = groups.iter().zip(tallies).map(|((_, policy), tally)| (policy, tally.clone()));
    let strata = Strata::new(given.collect(), settings).map_err(Error::input)?;
    let inputs = strata.inputs();
    let shares = strata.shares().map_err(Error::input)?;
    let named = |(x, share): (usize, undertone_estimate::Estimate)| EstimatedShare {
        symbol: inputs.label(x),
        share: share.into(),
    };
    let mean = strata.values().map(|values| strata.linear(&values));
    let found = strata.groups().map_err(Error::input)?;
    let converged = found.iter().all(|group| group.fit.converged);
    let report = |group: &undertone_estimate::StratumShares| {
        let (name, policy) = &groups[group.at];
        GroupedReport {
            group: name.clone(),
            policy_id: policy.id(),
            claims: policy.draft().claims().to_vec(),
            reports: group.reports,
            unbiased: group.unbiased.clone(),
            prior: group.drift.prior,
            assumed_leakage: group.drift.assumed_leakage,
            ldp: group.drift.ldp,
        }
    };
    let reports: Vec<GroupedReport> = found.iter().map(report).collect();
    Ok(GroupedEstimateReport {
        reports: strata.reports(),
        rows: rows.rows,
        skipped: rows.skipped(),
        unknown: rows.unknown,
        missing: rows.missing,
        column: column.clone(),
        policy_by: by.clone(),
        level: settings.level(),
        coverage: settings.coverage(),
        target: settings.target(),
        headline: GroupedHeadline {
            label: "unbiased: every row is read under its own policy, right on average whatever each group's shares are; neither priors nor predictions enter",
            shares: shares.into_iter().enumerate().map(named).collect(),
            mean: mean.transpose().map_err(Error::input)?.map(Into::into),
            method: IntervalMethod::Student,
        },
        mle: GroupedMaximum {
            label: "maximum likelihood of all rows: every group at its own maximum, where no share is negative; among many small groups that pulls rare symbols up",
            shares: strata.mle(),
            converged,
        },
        warnings: warnings(by, &reports),
        groups: reports,
    })
}

/// What a reader must not overlook.
fn warnings(by: &str, groups: &[GroupedReport]) -> Vec<String> {
    let alarm = ALARM / groups.len().max(1) as f64;
    let off = |group: &&GroupedReport| group.prior.is_some_and(|test| test.p_value < alarm);
    let off: Vec<String> = groups.iter().filter(off).map(|group| group.group.clone()).collect();
    if off.is_empty() {
        return Vec::new();
    }
    vec![format!(
        "the reports of {} contradict the priors their policies suppose ({by}: {}): for their people the claims about belief rest on a wrong prediction, and the LDP level is what remains",
        number::counted(off.len() as u64, "group"),
        crate::error::listed(off.into_iter(), 8)
    )]
}

impl Answer for GroupedEstimateReport {
    fn words(&self) -> String {
        let percent = |share: &EstimatedShare| {
            let [value, low, high] = share.share.written(100.0);
            format!("{} {value} % ({low} to {high})", share.symbol)
        };
        let mut shares: Vec<&EstimatedShare> = self.headline.shares.iter().collect();
        shares.sort_by(|a, b| b.share.value.total_cmp(&a.share.value));
        let most: Vec<String> = shares.into_iter().take(4).map(percent).collect();
        let mut words = format!(
            "The largest shares are {}, from {} reports in {}, with {} % intervals.\nMethod: {}.",
            most.join(", "),
            self.reports,
            number::counted(self.groups.len() as u64, "group"),
            number::nats(100.0 * self.level),
            self.headline.label
        );
        words.extend(self.warnings.iter().map(|warning| format!("\nwarning: {warning}")));
        words
    }
}
