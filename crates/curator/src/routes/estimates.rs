//! Estimates and their export: released rounds for everybody, the others for the owner.

use axum::Json;
use axum::extract::{Extension, Path, Query, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value, json};

use super::Shared;
use super::refusal::Answer;
use crate::app::{AppState, CachedSurvey, blocking};
use crate::auth::Caller;
use crate::estimates::{self, Counted};
use crate::export;
use crate::gain::{self, Spent};
use crate::rounds::find;
use crate::store::RoundRecord;
use undertone_core::Nats;
use undertone_wire::{Code, Problem, RoundState};

#[derive(Deserialize)]
pub(super) struct Which {
    round: Option<String>,
    form: Option<String>,
}

pub(super) async fn show(
    State(state): Shared,
    Extension(caller): Extension<Caller>,
    Path(survey): Path<String>,
    Query(Which { round, .. }): Query<Which>,
) -> Answer<Json<Value>> {
    let owner = state.is_owner(caller)?;
    let cached = state.survey(&survey).await?;
    let round = round.map(|number| {
        let read = number.parse();
        read.map_err(|_| Problem::malformed(format!("round={number}: give the number of a round")))
    });
    Ok(Json(of(&state, &cached, round.transpose()?, owner).await?))
}

/// The estimates of one round or of all the caller may see.
pub(super) async fn of(
    state: &AppState,
    cached: &CachedSurvey,
    round: Option<u32>,
    owner: bool,
) -> Result<Value, Problem> {
    let rounds = match round {
        Some(number) => vec![one(state, cached, find(cached, number)?, owner).await?],
        None => all(state, cached, owner).await?,
    };
    let gain = if owner { gain(state, cached).await? } else { public_gain(cached).await? };
    Ok(json!({
        "survey": cached.id.as_str(),
        "minimum": cached.survey.body.minimum,
        "rounds": rounds,
        "gain": gain,
    }))
}

/// Every round the caller may see.
async fn all(state: &AppState, cached: &CachedSurvey, owner: bool) -> Result<Vec<Value>, Problem> {
    let mut rounds = Vec::new();
    for record in &cached.rounds {
        match one(state, cached, record, owner).await {
            Ok(shown) => rounds.push(shown),
            Err(problem) if matches!(problem.code, Code::RoundOpen | Code::RoundSealed) => {}
            Err(Problem { code: Code::TooFewReports, detail, .. }) => rounds.push(json!({
                "number": record.key.number, "state": record.state.name(),
                "headline": null, "mmse": null, "too_few": detail,
            })),
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
) -> Result<Value, Problem> {
    let number = record.key.number;
    let note = cached.survey.rounds.iter().find(|note| note.number == number);
    if let Some(released) = note.and_then(|note| note.released.clone()) {
        return Ok(released);
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
    blocking(move || estimates::round(number, reached, &counted)).await?
}

/// Against LDP all along, as far as the owner may see: rounds still open count with the reports of
/// the last sealed one.
async fn gain(state: &AppState, cached: &CachedSurvey) -> Result<Value, Problem> {
    let mut rounds = Vec::new();
    for record in &cached.rounds {
        rounds.push((record.state, state.counted(cached, record).await?));
    }
    compare(cached, rounds).await
}

/// The same from released rounds alone, computed once.
pub(super) async fn public_gain(cached: &CachedSurvey) -> Result<Value, Problem> {
    cached.gain.get_or_try_init(|| released_gain(cached)).await.cloned()
}

async fn released_gain(cached: &CachedSurvey) -> Result<Value, Problem> {
    let mut rounds = Vec::new();
    for (record, note) in cached.rounds.iter().zip(&cached.survey.rounds) {
        let Some(released) = &note.released else { continue };
        let mut counted = Vec::new();
        for counts in released["counts"].as_array().into_iter().flatten() {
            let Some(id) = counts["policy"].as_str().and_then(|id| id.parse().ok()) else {
                continue;
            };
            let outputs = counts["outputs"].as_array();
            let tally = crate::store::RoundTally {
                policy: id,
                counts: outputs
                    .into_iter()
                    .flatten()
                    .map(|output| output["count"].as_u64().unwrap_or(0))
                    .collect(),
                reports: counts["reports"].as_u64().unwrap_or(0),
                duplicates: 0,
                unfolded: 0,
            };
            let group = counts["group"].as_str().unwrap_or_default().into();
            counted.push(Counted { group, policy: cached.policy(&id)?.clone(), tally });
        }
        rounds.push((record.state, counted));
    }
    compare(cached, rounds).await
}

async fn compare(
    cached: &CachedSurvey,
    rounds: Vec<(RoundState, Vec<Counted>)>,
) -> Result<Value, Problem> {
    let learned = |note: &crate::survey::RoundNote| note.groups.iter().any(|g| g.learned.is_some());
    if rounds.len() < 2 || !cached.survey.rounds.iter().any(learned) {
        return Ok(Value::Null);
    }
    let answers = cached.survey.body.alphabet()?;
    let spent: Vec<Nats> = cached
        .survey
        .rounds
        .iter()
        .map(|note| Nats::parse_down(&note.ldp).unwrap_or(Nats::ZERO))
        .collect();
    blocking(move || {
        // The newest round that takes no more reports says what the shares are.
        let closed = rounds.iter().rev().find(|(state, _)| *state != RoundState::Open);
        let Some((_, last)) = closed else { return Ok(Value::Null) };
        let Some(estimator) = estimates::estimator(last)? else { return Ok(Value::Null) };
        let estimate = estimator.fit().shares.clone();
        let sum = |counted: &[Counted]| counted.iter().map(|c| c.tally.reports).sum::<u64>();
        let usual = sum(last);
        let expected = rounds.iter().any(|(state, _)| *state == RoundState::Open);
        let list: Vec<Spent<'_>> = rounds
            .iter()
            .zip(spent)
            .map(|((state, counted), ldp)| {
                let share = usual / counted.len().max(1) as u64;
                let reports = |c: &Counted| match state {
                    RoundState::Open => share,
                    _ => c.tally.reports,
                };
                let groups = counted.iter().map(|c| (&*c.policy, reports(c))).collect();
                Spent { ldp, groups }
            })
            .collect();
        let mut gain = gain::against_ldp(&answers, &estimate, &list).unwrap_or(Value::Null);
        if gain.is_object() {
            gain["expected"] = json!(expected);
        }
        Ok(gain)
    })
    .await?
}

pub(super) async fn export(
    State(state): Shared,
    Extension(caller): Extension<Caller>,
    Path(survey): Path<String>,
    Query(Which { form, .. }): Query<Which>,
) -> Answer<Response> {
    let owner = state.is_owner(caller)?;
    let cached = state.survey(&survey).await?;
    let rounds = all(&state, &cached, owner).await?;
    if rounds.is_empty() && !owner {
        let detail = "no round of this survey is released yet";
        return Err(Problem::new(Code::RoundOpen, detail).into());
    }
    let rows = export::rows(&rounds);
    let (kind, body) = match form.as_deref() {
        None | Some("csv") => ("text/csv; charset=utf-8", export::csv(&rows).into_bytes()),
        Some("json") => {
            let body = json!({"survey": cached.id.as_str(), "rows": rows});
            ("application/json", body.to_string().into_bytes())
        }
        #[cfg(feature = "parquet")]
        Some("parquet") => {
            let made = blocking(move || export::parquet(&rows)).await?;
            let body = made.map_err(|error| {
                tracing::error!(%error, "a Parquet file could not be written");
                Problem::new(Code::Unavailable, "the Parquet file could not be written")
            })?;
            ("application/vnd.apache.parquet", body)
        }
        Some(other) => {
            let forms = if cfg!(feature = "parquet") {
                "csv, json or parquet"
            } else {
                "csv or json; this curator was built without the feature parquet"
            };
            let detail = format!("form={other}: use {forms}");
            return Err(Problem::new(Code::UnsupportedForm, detail).into());
        }
    };
    let ending = form.as_deref().unwrap_or("csv");
    let name = format!("attachment; filename=\"{}.{ending}\"", cached.id);
    let headers = [(header::CONTENT_TYPE, kind.to_owned()), (header::CONTENT_DISPOSITION, name)];
    Ok((headers, body).into_response())
}
