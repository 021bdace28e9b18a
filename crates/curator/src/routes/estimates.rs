//! Estimates and their export: released rounds for everybody, the others for the owner.

use axum::Json;
use axum::extract::{Extension, Path, Query, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use undertone_wire::{Code, Problem};

use super::refusal::Answer;
use super::{Shared, export};
use crate::auth::{Caller, Right};
#[cfg(feature = "parquet")]
use crate::service::blocking;
use crate::service::estimates::{self, SurveyEstimates};

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
) -> Answer<Json<SurveyEstimates>> {
    let owner = state.may(&caller, Right::Estimates, &survey)?;
    let cached = state.survey(&survey).await?;
    let round = round.map(|number| {
        let read = number.parse();
        read.map_err(|_| Problem::malformed(format!("round={number}: give the number of a round")))
    });
    Ok(Json(estimates::of(&state, &cached, round.transpose()?, owner).await?))
}

/// The table as JSON.
#[derive(Serialize)]
struct Exported<'a> {
    survey: &'a str,
    rows: &'a [export::Row],
}

pub(super) async fn exported(
    State(state): Shared,
    Extension(caller): Extension<Caller>,
    Path(survey): Path<String>,
    Query(Which { form, .. }): Query<Which>,
) -> Answer<Response> {
    let owner = state.may(&caller, Right::Estimates, &survey)?;
    let cached = state.survey(&survey).await?;
    let rounds = estimates::all(&state, &cached, owner).await?;
    if rounds.is_empty() && !owner {
        let detail = "no round of this survey is released yet";
        return Err(Problem::new(Code::RoundOpen, detail).into());
    }
    let rows = export::rows(&rounds);
    let (kind, body) = match form.as_deref() {
        None | Some("csv") => ("text/csv; charset=utf-8", export::csv(&rows).into_bytes()),
        Some("json") => {
            let body = Exported { survey: cached.id.as_str(), rows: &rows };
            // Plain records with finite numbers always serialise.
            ("application/json", serde_json::to_vec(&body).unwrap_or_default())
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
