//! What the reports of a round say: the headline with its interval, the prior's reading second, warnings.
//!
//! The answers are those of [`undertone::estimate`], so that a share is written here as the command line writes it.

use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;
use undertone::estimate::{
    CountedReports, DriftReport, EstimateReport, EstimateRequest, EstimatedNumber,
    GroupDifferenceReport, HeadlineReport, MOST_LISTED, ReportGroup, SharesReport, estimate,
    group_differences,
};
use undertone_core::Policy;
use undertone_estimate::Estimator;
use undertone_wire::{Code, Problem, RoundState};

use super::gain::Gain;
use super::learning::{damaged, tally, unusable};
use super::rounds::find;
use super::{AppState, CachedSurvey, blocking, gain};
use crate::store::{RoundRecord, RoundTally};

/// What the caller may see of a survey's estimates.
#[derive(Debug, Serialize)]
pub struct SurveyEstimates {
    /// The survey's id.
    pub survey: String,
    /// Below this many reports nothing is said about an open round.
    pub minimum: u64,
    /// The rounds the caller may see.
    pub rounds: Vec<ShownRound>,
    /// What learning a prior has bought.
    pub gain: Option<Gain>,
}

/// A round among the estimates.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum ShownRound {
    /// As it was released, word for word.
    Released(Value),
    /// As it stands for its owner.
    Counted(Box<RoundEstimates>),
    /// An open round with too few reports to say anything.
    TooFew(FewReports),
}

/// An open round with too few reports to say anything.
#[derive(Debug, Serialize)]
pub struct FewReports {
    /// The round.
    pub number: u32,
    /// Whether it is open, sealed or released.
    pub state: &'static str,
    /// Nothing, which is `null`.
    pub headline: (),
    /// Nothing, which is `null`.
    pub mmse: (),
    /// How many reports there are and how many are needed, in words.
    pub too_few: String,
}

/// What the reports of a round say. With several groups the estimates are those of all of them together, and each
/// group's own stand in `groups`.
#[derive(Debug, Serialize)]
pub struct RoundEstimates {
    /// The round.
    pub number: u32,
    /// Whether it is open, sealed or released.
    pub state: &'static str,
    /// How many reports were counted.
    pub reports: u64,
    /// How many were sent again, and counted once.
    pub duplicates: u64,
    /// How many wait to be counted.
    pub waiting: u64,
    /// Reports per output, for each group.
    pub counts: Vec<GroupCounts>,
    /// The estimates.
    #[serde(flatten)]
    pub estimates: Estimates,
    /// The estimates of each of several groups.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<GroupEstimates>,
    /// By how much the other groups' shares differ from those of the first group that has reports.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<GroupDifferenceReport>,
}

/// Reports per output of one group.
#[derive(Debug, Serialize)]
pub struct GroupCounts {
    /// The group.
    pub group: String,
    /// Its policy.
    pub policy: String,
    /// How many reports were counted.
    pub reports: u64,
    /// How many were sent again.
    pub duplicates: u64,
    /// How often each output was reported; of bits, how often each was set.
    pub outputs: Vec<OutputCount>,
}

/// How often one output was reported.
#[derive(Debug, Serialize)]
pub struct OutputCount {
    /// The output.
    pub output: String,
    /// How often.
    pub count: u64,
}

/// The estimates of one of several groups.
#[derive(Debug, Serialize)]
pub struct GroupEstimates {
    /// The group.
    pub group: String,
    /// How many of its reports were counted.
    pub reports: u64,
    /// The estimates.
    #[serde(flatten)]
    pub estimates: Estimates,
}

/// Estimates from some reports; nothing but a note where there are none.
#[derive(Debug, Default, Serialize)]
pub struct Estimates {
    /// The probability with which an interval holds the truth.
    pub level: Option<f64>,
    /// What to read first. Never the prior's.
    pub headline: Option<HeadlineReport>,
    /// The unbiased shares.
    pub unbiased: Option<SharesReport>,
    /// What the prior makes of the reports; nothing where a policy has no single prior, or releases bits.
    pub mmse: Option<PriorsReading>,
    /// How many answers are left out of every list of shares, where only the largest are listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shares_left_out: Option<usize>,
    /// The mean, where answers are numbers.
    pub mean: Option<EstimatedNumber>,
    /// Whether prior and reports agree.
    pub drift: Option<DriftReport>,
    /// Whether no population gives such reports.
    pub impossible: bool,
    /// What a reader must not overlook.
    pub warnings: Vec<String>,
    /// What else a reader should know.
    pub notes: Vec<String>,
    /// How far invented reports can move the unbiased shares.
    pub influence: Option<Influence>,
}

/// What the prior makes of the reports.
#[derive(Debug, Serialize)]
pub struct PriorsReading {
    /// The shares.
    #[serde(flatten)]
    pub shares: SharesReport,
    /// Whether the reports contradict the prior, so that this is set aside.
    pub greyed: bool,
}

/// How far invented reports can move the unbiased shares.
#[derive(Debug, Serialize)]
pub struct Influence {
    /// How far one of them moves each share, at most; empty where not all shares are listed.
    pub one_report: Vec<f64>,
    /// The largest of these.
    pub most: f64,
    /// That in words.
    pub in_words: String,
}

/// The estimates of one round or of all the caller may see.
pub(crate) async fn of(
    state: &AppState,
    cached: &CachedSurvey,
    round: Option<u32>,
    owner: bool,
) -> Result<SurveyEstimates, Problem> {
    let rounds = match round {
        Some(number) => vec![one(state, cached, find(cached, number)?, owner).await?],
        None => all(state, cached, owner).await?,
    };
    let gain =
        if owner { gain::of_owner(state, cached).await? } else { gain::public(cached).await? };
    let minimum = cached.survey.body.minimum;
    Ok(SurveyEstimates { survey: cached.id.to_string(), minimum, rounds, gain })
}

/// Every round the caller may see.
pub(crate) async fn all(
    state: &AppState,
    cached: &CachedSurvey,
    owner: bool,
) -> Result<Vec<ShownRound>, Problem> {
    let mut rounds = Vec::new();
    for record in &cached.rounds {
        match one(state, cached, record, owner).await {
            Ok(shown) => rounds.push(shown),
            Err(problem) if matches!(problem.code, Code::RoundOpen | Code::RoundSealed) => {}
            Err(Problem { code: Code::TooFewReports, detail, .. }) => {
                rounds.push(ShownRound::TooFew(FewReports {
                    number: record.key.number,
                    state: record.state.name(),
                    headline: (),
                    mmse: (),
                    too_few: detail,
                }));
            }
            Err(problem) => return Err(problem),
        }
    }
    Ok(rounds)
}

/// One round: as it was released, or as it stands for its owner.
async fn one(
    state: &AppState,
    cached: &CachedSurvey,
    record: &RoundRecord,
    owner: bool,
) -> Result<ShownRound, Problem> {
    let number = record.key.number;
    let note = cached.survey.rounds.iter().find(|note| note.number == number);
    if let Some(released) = note.and_then(|note| note.released.clone()) {
        return Ok(ShownRound::Released(released));
    }
    if !owner {
        let code = match record.state {
            RoundState::Open => Code::RoundOpen,
            _ => Code::RoundSealed,
        };
        return Err(Problem::new(code, format!("round {number} is not released yet")));
    }
    let counted = state.counted(cached, record).await?;
    let reports: u64 = counted.iter().map(|group| group.tally.reports).sum();
    let minimum = cached.survey.body.minimum;
    if record.state == RoundState::Open && reports < minimum {
        let detail = format!(
            "round {number} has {reports} counted reports: nothing is said about an open round below {minimum}"
        );
        return Err(Problem::new(Code::TooFewReports, detail));
    }
    let reached = record.state;
    let shown = blocking(move || round_estimates(number, reached, &counted)).await??;
    Ok(ShownRound::Counted(Box::new(shown)))
}

/// One group of a round: its name, its policy, and what was counted.
#[derive(Clone, Debug)]
pub struct Counted {
    /// The group.
    pub group: String,
    /// Its policy.
    pub policy: Arc<Policy>,
    /// Its reports.
    pub tally: RoundTally,
}

/// The estimates of a round.
pub fn round_estimates(
    number: u32,
    state: RoundState,
    counted: &[Counted],
) -> Result<RoundEstimates, Problem> {
    let sum = |part: fn(&RoundTally) -> u64| counted.iter().map(|c| part(&c.tally)).sum::<u64>();
    let group = |one: &Counted| {
        let estimates = estimated(std::slice::from_ref(one))?;
        Ok(GroupEstimates { group: one.group.clone(), reports: one.tally.reports, estimates })
    };
    let several = if counted.len() > 1 { counted } else { &[] };
    let groups = several.iter().map(group).collect::<Result<Vec<_>, Problem>>()?;
    let headlines: Vec<(&str, &HeadlineReport)> = groups
        .iter()
        .filter_map(|one| Some((one.group.as_str(), one.estimates.headline.as_ref()?)))
        .collect();
    let differences = group_differences(&headlines);
    Ok(RoundEstimates {
        number,
        state: state.name(),
        reports: sum(|tally| tally.reports),
        duplicates: sum(|tally| tally.duplicates),
        waiting: sum(|tally| tally.unfolded),
        counts: counted.iter().map(counts).collect(),
        estimates: estimated(counted)?,
        groups,
        differences,
    })
}

/// Reports per output.
fn counts(counted: &Counted) -> GroupCounts {
    let outputs = counted.policy.draft().outputs();
    let rows = counted.tally.counts.iter().enumerate();
    GroupCounts {
        group: counted.group.clone(),
        policy: counted.policy.id().to_string(),
        reports: counted.tally.reports,
        duplicates: counted.tally.duplicates,
        outputs: rows.map(|(y, &count)| OutputCount { output: outputs.label(y), count }).collect(),
    }
}

/// The estimates from some groups' reports together.
fn estimated(counted: &[Counted]) -> Result<Estimates, Problem> {
    let reports = reports(counted)?;
    if reports.groups().is_empty() {
        let notes = vec!["There are no reports.".into()];
        return Ok(Estimates { notes, ..Estimates::default() });
    }
    let failed = |error: undertone::Error| unusable(&error.to_string());
    let request = EstimateRequest { quantiles: Vec::new(), ..EstimateRequest::default() };
    let influence = influence(&reports.estimator(&request).map_err(failed)?)?;
    let EstimateReport {
        level,
        headline,
        unbiased,
        mmse,
        shares_left_out,
        numbers,
        drift,
        warnings,
        notes,
        ..
    } = estimate(&reports, &request).map_err(failed)?;
    let greyed = drift.drifted || drift.impossible;
    Ok(Estimates {
        level: Some(level),
        headline: Some(headline),
        unbiased: Some(unbiased),
        mmse: mmse.map(|shares| PriorsReading { shares, greyed }),
        shares_left_out,
        mean: numbers.map(|numbers| numbers.mean),
        impossible: drift.impossible,
        drift: Some(drift),
        warnings,
        notes,
        influence: Some(influence),
    })
}

/// How far invented reports can move the unbiased shares.
fn influence(estimator: &Estimator) -> Result<Influence, Problem> {
    let one_report = estimator.influence(1).map_err(|error| damaged(&error))?;
    let most = one_report.iter().copied().fold(0.0, f64::max);
    let in_words = format!(
        "m invented reports among {} move no unbiased share by more than m times {most:.3e}.",
        estimator.pool().reports()
    );
    // Of very many answers, whose shares are not all listed either, the largest says enough.
    let one_report = if one_report.len() > MOST_LISTED { Vec::new() } else { one_report };
    Ok(Influence { one_report, most, in_words })
}

/// The reports of those groups that have any.
fn reports(counted: &[Counted]) -> Result<CountedReports, Problem> {
    let group = |one: &Counted| {
        let tally = tally(&one.policy, &one.tally)?;
        Ok(ReportGroup { policy: one.policy.as_ref().clone(), tally })
    };
    let some = counted.iter().filter(|one| one.tally.reports > 0);
    Ok(CountedReports::of(some.map(group).collect::<Result<_, Problem>>()?))
}

/// The maximum-likelihood shares from some groups' reports; `None` without reports.
pub fn likeliest_shares(counted: &[Counted]) -> Result<Option<Vec<f64>>, Problem> {
    let reports = reports(counted)?;
    if reports.groups().is_empty() {
        return Ok(None);
    }
    let estimator = reports.estimator(&EstimateRequest::default());
    let estimator = estimator.map_err(|error| unusable(&error.to_string()))?;
    Ok(Some(estimator.fit().shares.clone()))
}
