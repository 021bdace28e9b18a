//! Named tokens: listed, made, revoked and rotated by the owner of all surveys.

use axum::Json;
use axum::body::Body;
use axum::extract::{Extension, Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use super::refusal::Answer;
use super::{Shared, body};
use crate::auth::{Caller, Right};
use crate::service::run_detached;
use crate::service::tokens::{self, ShownToken};

#[derive(Serialize)]
pub(super) struct TokenList {
    tokens: Vec<ShownToken>,
}

pub(super) async fn list(
    State(state): Shared,
    Extension(caller): Extension<Caller>,
) -> Answer<Json<TokenList>> {
    state.allow(&caller, Right::Everything, None)?;
    Ok(Json(TokenList { tokens: tokens::list(&*state.app.store).await? }))
}

pub(super) async fn create(
    State(state): Shared,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
    request: Body,
) -> Answer<Response> {
    state.allow(&caller, Right::Everything, None)?;
    let (bytes, _hold) = body::read(&state, &caller, &headers, request).await?;
    let new = tokens::from_json(&bytes)?;
    let made = run_detached(async move {
        let (store, randomness) = (&*state.app.store, &*state.app.randomness);
        let made = tokens::create(store, randomness, (state.now(), caller.name()), new).await?;
        state.forget_tokens();
        tracing::info!(
            id = made.id,
            name = made.name,
            role = made.role,
            by = caller.name(),
            "a token was made"
        );
        Ok(made)
    });
    Ok((StatusCode::CREATED, Json(made.await?)).into_response())
}

pub(super) async fn revoke(
    State(state): Shared,
    Extension(caller): Extension<Caller>,
    Path(token): Path<String>,
) -> Answer<Json<ShownToken>> {
    state.allow(&caller, Right::Everything, None)?;
    let revoked = run_detached(async move {
        let by = (state.now(), caller.name());
        let revoked = tokens::revoke(&*state.app.store, by, &token).await?;
        state.forget_tokens();
        tracing::info!(
            id = revoked.id,
            name = revoked.name,
            by = caller.name(),
            "a token was revoked"
        );
        Ok(revoked)
    });
    Ok(Json(revoked.await?))
}

pub(super) async fn rotate(
    State(state): Shared,
    Extension(caller): Extension<Caller>,
    Path(token): Path<String>,
) -> Answer<Response> {
    state.allow(&caller, Right::Everything, None)?;
    let made = run_detached(async move {
        let (store, randomness) = (&*state.app.store, &*state.app.randomness);
        let made = tokens::rotate(store, randomness, (state.now(), caller.name()), &token).await?;
        state.forget_tokens();
        tracing::info!(
            old = token,
            id = made.id,
            name = made.name,
            by = caller.name(),
            "a token was rotated"
        );
        Ok(made)
    });
    Ok((StatusCode::CREATED, Json(made.await?)).into_response())
}
