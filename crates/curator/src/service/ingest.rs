//! Storing reports: every token of a body is checked against its policy, and all of them are stored or none.

use std::collections::BTreeMap;
use std::sync::Arc;

use undertone_core::{PolicyId, Report, ReportMismatch};
use undertone_wire::{Code, PackedBatch, Problem, ReportRows};

use super::{AppState, CachedSurvey};
use crate::store::{Batch, RoundKey, StoreError};

/// Stores reports of any of the survey's policies.
pub(crate) async fn reports(
    state: &AppState,
    cached: Arc<CachedSurvey>,
    reports: Vec<Report>,
) -> Result<(), Problem> {
    let batches = sorted(state, cached.clone(), reports).await?;
    append(state, &cached, batches).await
}

/// Stores a batch of one policy's reports.
pub(crate) async fn packed(
    state: &AppState,
    cached: Arc<CachedSurvey>,
    packed: &PackedBatch,
) -> Result<(), Problem> {
    let batches = checked(state, cached.clone(), packed).await?;
    append(state, &cached, batches).await
}

async fn append(
    state: &AppState,
    cached: &CachedSurvey,
    batches: Vec<Batch>,
) -> Result<(), Problem> {
    let Err(error) = state.app.store.append(batches).await else { return Ok(()) };
    if error == StoreError::RoundClosed {
        // Somebody else sealed it, or paused the survey.
        state.forget(&cached.id);
        paused(&*state.fresh(&cached.id).await?)?;
    }
    Err(error.into())
}

/// Refuses for the time being: the device keeps its report and tries again.
fn paused(cached: &CachedSurvey) -> Result<(), Problem> {
    if !cached.newest().is_some_and(|round| round.held) {
        return Ok(());
    }
    let detail = "the survey is paused: nothing was stored, keep the report and try later";
    Err(Problem::new(Code::SurveyPaused, detail).retry_after(300))
}

/// Checks every token of a batch against its policy.
async fn checked(
    state: &AppState,
    cached: Arc<CachedSurvey>,
    packed: &PackedBatch,
) -> Result<Vec<Batch>, Problem> {
    let policy = packed.policy();
    let (cached, round) = round_of(state, cached, policy).await?;
    if !packed.fits(cached.policy(&policy)?) {
        return Err(out_of_range(policy));
    }
    Ok(vec![Batch { round, policy, reports: packed.rows().clone() }])
}

/// Sorts reports by policy, and checks every token against its policy.
async fn sorted(
    state: &AppState,
    mut cached: Arc<CachedSurvey>,
    reports: Vec<Report>,
) -> Result<Vec<Batch>, Problem> {
    let mut by_policy: BTreeMap<PolicyId, Vec<Report>> = BTreeMap::new();
    for report in reports {
        by_policy.entry(report.policy).or_default().push(report);
    }
    let mut batches = Vec::with_capacity(by_policy.len());
    for (id, reports) in by_policy {
        let (fresh, round) = round_of(state, cached, id).await?;
        cached = fresh;
        let policy = cached.policy(&id)?;
        for report in &reports {
            match policy.accepts(report) {
                Ok(()) => {}
                Err(ReportMismatch::Token) => return Err(out_of_range(id)),
                Err(other) => return Err(Problem::new(Code::PolicyForeign, other.to_string())),
            }
        }
        let rows = reports.iter().map(|report| (report.id, &report.token));
        let reports = ReportRows::pack(rows).map_err(|_| out_of_range(id))?;
        batches.push(Batch { round, policy: id, reports });
    }
    Ok(batches)
}

fn out_of_range(policy: PolicyId) -> Problem {
    let detail =
        format!("a token is not an output of policy {policy}; nothing of this body was stored");
    Problem::new(Code::TokenOutOfRange, detail)
}

/// The open round a policy belongs to; looks again at the store before refusing what it does not know.
async fn round_of(
    state: &AppState,
    cached: Arc<CachedSurvey>,
    policy: PolicyId,
) -> Result<(Arc<CachedSurvey>, RoundKey), Problem> {
    if let Some(key) = open_round(&cached, policy) {
        return Ok((cached, key));
    }
    let cached = state.fresh(&cached.id).await?;
    if let Some(key) = open_round(&cached, policy) {
        return Ok((cached, key));
    }
    let newest = cached.newest().map_or(0, |round| round.key.number);
    if cached.policies.get(&policy).is_some_and(|(number, _)| *number == newest) {
        paused(&cached)?;
    }
    let problem = match cached.policies.get(&policy) {
        Some((number, _)) if *number < newest => Problem::new(
            Code::PolicyExpired,
            format!("policy {policy} was for round {number}: fetch the survey again"),
        ),
        Some((number, _)) => {
            Problem::new(Code::RoundSealed, format!("round {number} takes no more reports"))
        }
        None if state.policy(policy).await?.is_some() => Problem::new(
            Code::PolicyForeign,
            format!("policy {policy} is for another survey than {}", cached.id),
        ),
        None => Problem::new(
            Code::PolicyUnknown,
            format!("there is no policy {policy}: fetch the survey's"),
        ),
    };
    Err(problem)
}

fn open_round(cached: &CachedSurvey, policy: PolicyId) -> Option<RoundKey> {
    let open = cached.open()?;
    let (number, _) = cached.policies.get(&policy)?;
    (*number == open.key.number).then(|| open.key.clone())
}
