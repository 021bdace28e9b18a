//! Pages for people: the owner's, the respondents', the privacy officer's.

use axum::Json;
use axum::extract::{Extension, Path, Query, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;

use undertone_wire::{Code, Problem};

use super::refusal::Answer;
use super::{Embedded, Shared, officer_page};
use crate::service::officer;
use crate::web;

/// What a page may do: run and load what the curator itself serves, and nothing else.
pub const PAGE_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

pub(super) async fn dashboard() -> Answer<Response> {
    page("index.html")
}

/// The page is the same for every survey; its script reads the address.
pub(super) async fn respondent(
    State(state): Shared,
    Path(survey): Path<String>,
) -> Answer<Response> {
    state.survey(&survey).await?;
    page("respond.html")
}

fn page(name: &str) -> Answer<Response> {
    let page = web::asset(name).ok_or_else(|| missing(name))?;
    let headers = [
        (header::CONTENT_TYPE, page.kind),
        (header::CONTENT_SECURITY_POLICY, PAGE_POLICY),
        (header::CACHE_CONTROL, "no-cache"),
    ];
    Ok((Extension(Embedded), headers, page.bytes).into_response())
}

fn missing(name: &str) -> Problem {
    Problem::new(Code::NotFound, format!("there is no asset {name:?}"))
}

/// An embedded file.
pub(super) async fn asset(Path(file): Path<String>) -> Answer<Response> {
    embedded(&file)
}

/// An embedded module of a part of the client library.
pub(super) async fn asset_in_folder(
    Path((folder, file)): Path<(String, String)>,
) -> Answer<Response> {
    embedded(&format!("{folder}/{file}"))
}

/// An embedded module of a part of a part of the client library.
pub(super) async fn asset_in_inner_folder(
    Path((folder, inner, file)): Path<(String, String, String)>,
) -> Answer<Response> {
    embedded(&format!("{folder}/{inner}/{file}"))
}

/// The answer with an embedded file. Names are looked up, never joined to a path.
fn embedded(name: &str) -> Answer<Response> {
    let found = web::asset(name).filter(|_| !name.ends_with(".html"));
    let asset = found.ok_or_else(|| missing(name))?;
    let headers = [
        (header::CONTENT_TYPE, asset.kind),
        (header::CACHE_CONTROL, "no-cache"),
        // The client library is meant to be used by other sites' pages too.
        (header::ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
    ];
    Ok((Extension(Embedded), headers, asset.bytes).into_response())
}

#[derive(Deserialize)]
pub(super) struct OfficerForm {
    form: Option<String>,
}

pub(super) async fn officer(
    State(state): Shared,
    Path(survey): Path<String>,
    Query(OfficerForm { form }): Query<OfficerForm>,
) -> Answer<Response> {
    let facts = officer::of(&state, &survey).await?;
    match form.as_deref() {
        Some("json") => Ok(Json(facts).into_response()),
        None | Some("html") => {
            let headers = [
                (header::CONTENT_TYPE, "text/html; charset=utf-8".to_owned()),
                (header::CONTENT_SECURITY_POLICY, officer_page::content_policy()),
            ];
            Ok((headers, officer_page::page(&facts)).into_response())
        }
        Some(other) => {
            let detail = format!("form={other}: use html or json");
            Err(Problem::new(Code::UnsupportedForm, detail).into())
        }
    }
}
