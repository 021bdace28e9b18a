//! Addresses and what answers to them.

mod body;
mod cors;
mod estimates;
mod export;
mod officer_page;
mod operations;
mod pages;
mod policies;
mod refusal;
mod reports;
mod surveys;
mod tokens;

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body, HttpBody};
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use bytes::Bytes;
use undertone_wire::{Code, Problem, SurveyId};

use crate::auth::{Caller, OWNER};
use crate::flight::Counted;
use crate::metrics::Metrics;
use crate::service::estimates::SurveyEstimates;
use crate::service::{self, App, AppState, Peer};
pub use operations::OPENAPI;
pub use pages::PAGE_POLICY;
use refusal::{Refusal, Refused};

type Shared = State<Arc<AppState>>;

/// The curator: a router, its counters, and the work in the background.
#[derive(Clone)]
pub struct Curator(Arc<AppState>);

/// Every address with its methods, as the OpenAPI document must list them.
pub const ROUTES: [(&str, &[&str]); 29] = [
    ("/", &["get"]),
    ("/s/{survey}", &["get"]),
    ("/assets/{file}", &["get"]),
    ("/assets/{folder}/{file}", &["get"]),
    ("/assets/{folder}/{inner}/{file}", &["get"]),
    ("/healthz", &["get"]),
    ("/readyz", &["get"]),
    ("/metrics", &["get"]),
    ("/v1/openapi.json", &["get"]),
    ("/v1/policies/{id}", &["get"]),
    ("/v1/surveys", &["get", "post"]),
    ("/v1/surveys/{survey}", &["get"]),
    ("/v1/surveys/{survey}/reports", &["post"]),
    ("/v1/surveys/{survey}/estimates", &["get"]),
    ("/v1/surveys/{survey}/export", &["get"]),
    ("/v1/surveys/{survey}/officer", &["get"]),
    ("/v1/surveys/{survey}/observer", &["get"]),
    ("/v1/surveys/{survey}/log", &["get"]),
    ("/v1/surveys/{survey}/rounds", &["post"]),
    ("/v1/surveys/{survey}/rounds/{number}/seal", &["post"]),
    ("/v1/surveys/{survey}/rounds/{number}/release", &["post"]),
    ("/v1/surveys/{survey}/pause", &["post"]),
    ("/v1/surveys/{survey}/resume", &["post"]),
    ("/v1/surveys/{survey}/close", &["post"]),
    ("/v1/surveys/{survey}/archive", &["post"]),
    ("/v1/surveys/{survey}/delete", &["post"]),
    ("/v1/tokens", &["get", "post"]),
    ("/v1/tokens/{token}/revoke", &["post"]),
    ("/v1/tokens/{token}/rotate", &["post"]),
];

impl Curator {
    /// The curator from its dependencies.
    pub fn new(app: App) -> Self {
        Self(Arc::new(AppState::new(app)))
    }

    /// What it counts about itself.
    pub fn metrics(&self) -> &Metrics {
        &self.0.metrics
    }

    /// Whether connections come from a proxy in front, which says whose they are.
    pub(crate) fn trusts_proxy(&self) -> bool {
        self.0.app.settings.trust_proxy
    }

    /// Counts reports until it is dropped or aborted. Any number of curators on one database may do so.
    pub async fn fold_forever(self) {
        self.0.fold_forever().await;
    }

    /// Creates a survey from the JSON its owner would send, and opens its first round.
    pub async fn create(&self, body: &[u8]) -> Result<SurveyId, Problem> {
        Ok(service::surveys::create(&self.0, body, OWNER).await?.id.clone())
    }

    /// The estimates of a survey as its owner sees them, after everything that arrived is counted.
    pub async fn estimates(&self, survey: &str) -> Result<SurveyEstimates, Problem> {
        let cached = self.0.survey(survey).await?;
        if let Some(newest) = cached.newest() {
            self.0.fold_round(&newest.key).await?;
        }
        service::estimates::of(&self.0, &cached, None, true).await
    }

    /// The router.
    pub fn router(&self) -> Router {
        let settings = &self.0.app.settings;
        let public = Router::new()
            .route("/v1/surveys/{survey}", get(surveys::show))
            .route("/v1/surveys/{survey}/reports", post(reports::accept))
            .route("/v1/surveys/{survey}/estimates", get(estimates::show))
            .route("/v1/surveys/{survey}/export", get(estimates::exported))
            .route("/v1/surveys/{survey}/officer", get(pages::officer))
            .route("/v1/surveys/{survey}/observer", get(surveys::observer))
            .route("/v1/surveys/{survey}/log", get(surveys::log))
            // Inside the layer, so that preflights reach it.
            .method_not_allowed_fallback(wrong_method)
            .layer(middleware::from_fn_with_state(self.0.clone(), cors::of_survey));
        let quick = Router::new()
            .merge(public)
            .route("/", get(pages::dashboard))
            .route("/s/{survey}", get(pages::respondent))
            .route("/assets/{file}", get(pages::asset))
            .route("/assets/{folder}/{file}", get(pages::asset_in_folder))
            .route("/assets/{folder}/{inner}/{file}", get(pages::asset_in_inner_folder))
            .route("/healthz", get(operations::healthy))
            .route("/readyz", get(operations::ready))
            .route("/metrics", get(operations::metrics))
            .route("/v1/openapi.json", get(operations::openapi))
            .route("/v1/policies/{id}", get(policies::show))
            .layer(middleware::from_fn_with_state(settings.request_timeout, within));
        let slow = Router::new()
            .route("/v1/surveys", get(surveys::list).post(surveys::create))
            .route("/v1/surveys/{survey}/rounds", post(surveys::open))
            .route("/v1/surveys/{survey}/rounds/{number}/seal", post(surveys::seal))
            .route("/v1/surveys/{survey}/rounds/{number}/release", post(surveys::release))
            .route("/v1/surveys/{survey}/pause", post(surveys::pause))
            .route("/v1/surveys/{survey}/resume", post(surveys::resume))
            .route("/v1/surveys/{survey}/close", post(surveys::close))
            .route("/v1/surveys/{survey}/archive", post(surveys::archive))
            .route("/v1/surveys/{survey}/delete", post(surveys::delete))
            .route("/v1/tokens", get(tokens::list).post(tokens::create))
            .route("/v1/tokens/{token}/revoke", post(tokens::revoke))
            .route("/v1/tokens/{token}/rotate", post(tokens::rotate))
            .layer(middleware::from_fn_with_state(settings.design_timeout, within));
        Router::new()
            .merge(quick)
            .merge(slow)
            .fallback(missing)
            .method_not_allowed_fallback(wrong_method)
            .layer(middleware::from_fn_with_state(self.0.clone(), guard))
            .with_state(self.0.clone())
    }
}

async fn missing() -> Refusal {
    Problem::new(Code::NotFound, "no page has this address; /v1/openapi.json lists them").into()
}

async fn wrong_method() -> Refusal {
    let detail = "this address knows other methods; see /v1/openapi.json";
    Problem::new(Code::MethodNotAllowed, detail).into()
}

/// Gives up on an answer that takes too long.
// Not tower-http's TimeoutLayer: it answers without a body, and ours is a problem that says when to come again.
async fn within(State(limit): State<Duration>, request: Request, next: Next) -> Response {
    match tokio::time::timeout(limit, next.run(request)).await {
        Ok(response) => response,
        Err(_) => {
            let detail = format!("no answer within {} s", limit.as_secs_f64());
            Refusal::from(Problem::new(Code::Timeout, detail).retry_after(5)).into_response()
        }
    }
}

/// Around every request: the address's allowance before it; room for the answer, headers, counters and
/// one line of log after.
async fn guard(State(state): Shared, mut request: Request, next: Next) -> Response {
    let started = Instant::now();
    let peer = peer(&state, &request);
    // The token is compared first: whatever else is counted or refused, the owner gets in.
    let caller = state.caller(peer.0, request.headers()).await;
    request.extensions_mut().insert(caller.clone());
    let route = request.extensions().get::<MatchedPath>().map(|path| path.as_str().to_owned());
    let route = route.unwrap_or_else(|| "none".into());
    let method = request.method().clone();
    // Health checks are not rate-limited.
    let cost = usize::from(!matches!(route.as_str(), "/healthz" | "/readyz"));
    let mut response = match state.charge(&caller, cost) {
        Ok(()) => within_room(&state, &caller, next.run(request).await).await,
        Err(problem) => {
            if route.ends_with("/reports") {
                state.metrics.refuse(problem.code, 1);
            }
            Refusal::from(problem).into_response()
        }
    };
    protect(&state, &mut response);
    let status = response.status();
    let seconds = started.elapsed().as_secs_f64();
    state.metrics.answered(&method, &route, status.as_u16(), seconds);
    let code = response.extensions().get::<Refused>().map_or("", |refused| refused.0.name());
    // The pattern of the path, never the path, a header or a body; and no address.
    let (method, status) = (method.as_str(), status.as_u16());
    if status >= StatusCode::INTERNAL_SERVER_ERROR.as_u16() {
        tracing::warn!(method, route, status, code, seconds, "answered");
    } else {
        tracing::debug!(method, route, status, code, seconds, "answered");
    }
    response
}

/// Marks an answer whose bytes are part of the program: it takes no memory.
#[derive(Clone, Copy, Debug)]
struct Embedded;

/// Answers up to this size are not counted: every connection has as much anyway.
const SMALL: usize = 8 << 10;

/// Counts the bytes of an answer as held until they are sent; refuses it if there is no room.
async fn within_room(state: &AppState, caller: &Caller, response: Response) -> Response {
    let length = response.body().size_hint().exact().unwrap_or(u64::MAX);
    if length <= SMALL as u64 || response.extensions().get::<Embedded>().is_some() {
        return response;
    }
    let (parts, body) = response.into_parts();
    // Every answer is made in memory, so this does not wait and does not fail.
    let Ok(bytes) = axum::body::to_bytes(body, usize::MAX).await else {
        let problem = Problem::new(Code::Unavailable, "the answer could not be made");
        return Refusal::from(problem).into_response();
    };
    let mut hold = state.hold(caller);
    match hold.grow_to(bytes.len()) {
        Ok(()) => {
            let body = Body::from(Bytes::from_owner(Counted::new(bytes, hold)));
            Response::from_parts(parts, body)
        }
        Err(full) => Refusal::from(full).into_response(),
    }
}

/// The address a request came from: the connection's, or what the proxy in front says.
fn peer(state: &AppState, request: &Request) -> Peer {
    let unknown = Peer(std::net::IpAddr::from([0, 0, 0, 0]));
    let direct = request.extensions().get::<Peer>().copied().unwrap_or(unknown);
    if !state.app.settings.trust_proxy {
        return direct;
    }
    // The last entry is the one the nearest proxy wrote; those before it anybody can invent.
    let forwarded = request.headers().get_all("x-forwarded-for").iter().next_back();
    let last = forwarded.and_then(|value| value.to_str().ok()?.rsplit(',').next());
    last.and_then(|text| text.trim().parse().ok()).map_or(direct, Peer)
}

/// What every response carries.
// Not tower-http's SetResponseHeaderLayer: it sets one header, and these would be eight services around every request.
fn protect(state: &AppState, response: &mut Response) {
    const ALWAYS: [(HeaderName, &str); 5] = [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("permissions-policy"), "camera=(), geolocation=(), microphone=()"),
    ];
    let headers = response.headers_mut();
    for (name, value) in ALWAYS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if !headers.contains_key(header::CONTENT_SECURITY_POLICY) {
        let nothing = "default-src 'none'; frame-ancestors 'none'";
        headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(nothing));
    }
    if !headers.contains_key(header::CACHE_CONTROL) {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    if state.app.settings.secure {
        let insist = HeaderValue::from_static("max-age=31536000");
        headers.insert(header::STRICT_TRANSPORT_SECURITY, insist);
    }
}
