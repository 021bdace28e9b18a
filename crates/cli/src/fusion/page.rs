//! The page of a running centre: what its board shows, for people and for programs. Nothing can be changed by it.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use axum::extract::{Path, Request, State};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use serde_json::json;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use undertone_curator::server::{self, Limits};
use undertone_curator::web::{self, Asset};
use undertone_fusion::runtime::Board;

use crate::failure::Failure;
use crate::serve::listen;

/// A free port that only this machine reaches.
pub(super) const ANYWHERE: &str = "127.0.0.1:0";

/// Connections at once; more wait.
const CONNECTIONS: usize = 64;

/// A page that is served until this is dropped or closed.
pub(super) struct Page {
    address: SocketAddr,
    stop: oneshot::Sender<()>,
    task: JoinHandle<std::io::Result<()>>,
}

impl Page {
    /// Begins to serve; where more than this machine reaches it, that is said on standard error.
    pub(super) async fn open(address: &str, board: Board) -> Result<Self, Failure> {
        let listener = listen(address).await?;
        let address = listener.local_addr().map_err(Failure::input)?;
        if !address.ip().is_loopback() {
            eprintln!(
                "warning: whoever reaches {address} can read the page: it asks for no password"
            );
        }
        let limits = Limits {
            connections: CONNECTIONS,
            per_address: None,
            shutdown_grace: Duration::from_secs(1),
            ..Limits::default()
        };
        let (stop, stopped) = oneshot::channel();
        let until = async {
            let _ = stopped.await;
        };
        let task = tokio::spawn(server::serve_router(router(board), listener, limits, until));
        Ok(Self { address, stop, task })
    }

    /// Where it is.
    pub(super) fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// Ends in good order.
    pub(super) async fn close(self) {
        let _ = self.stop.send(());
        let _ = self.task.await;
    }
}

/// Every path of the page.
fn router(board: Board) -> Router {
    Router::new()
        .route("/", get(async || embedded(&PAGE)))
        .route("/assets/{file}", get(asset))
        .route("/v1/state", get(state))
        .route("/healthz", get(async || "ok\n"))
        .route("/readyz", get(ready))
        .fallback(async || refusal(StatusCode::NOT_FOUND, "there is no such page"))
        .layer(middleware::from_fn(protect))
        .with_state(board)
}

/// What a program reads, and the page.
async fn state(State(board): State<Board>) -> Response {
    Json(board.state()).into_response()
}

/// Whether decisions can be made: the broker is there.
async fn ready(State(board): State<Board>) -> Response {
    if board.is_connected() {
        return "ready\n".into_response();
    }
    refusal(StatusCode::SERVICE_UNAVAILABLE, "the broker is gone; the centre tries again")
}

const PAGE: Asset =
    Asset { bytes: include_bytes!("page/index.html"), kind: "text/html; charset=utf-8" };
const STYLE: Asset =
    Asset { bytes: include_bytes!("page/center.css"), kind: "text/css; charset=utf-8" };
const SCRIPT: Asset =
    Asset { bytes: include_bytes!("page/center.js"), kind: "text/javascript; charset=utf-8" };
const CHART: Asset =
    Asset { bytes: include_bytes!("page/chart.js"), kind: "text/javascript; charset=utf-8" };

/// The page's own files, and those it shares with the curator's pages.
async fn asset(Path(file): Path<String>) -> Response {
    let found = match file.as_str() {
        "center.css" => Some(STYLE),
        "center.js" => Some(SCRIPT),
        "chart.js" => Some(CHART),
        "style.css" | "page.js" | "icon.svg" => web::asset(&file),
        _ => None,
    };
    found.map_or_else(
        || refusal(StatusCode::NOT_FOUND, "there is no such file"),
        |asset| embedded(&asset),
    )
}

fn embedded(asset: &Asset) -> Response {
    ([(header::CONTENT_TYPE, asset.kind)], asset.bytes).into_response()
}

fn refusal(status: StatusCode, words: &str) -> Response {
    (status, Json(json!({ "error": words }))).into_response()
}

/// Refuses requests under a name that is not ours, and says in every answer what a browser may do with it.
async fn protect(request: Request, next: Next) -> Response {
    let known = request.headers().get_all(header::HOST).iter();
    let mut names: Vec<&str> = known.map(|name| name.to_str().unwrap_or_default()).collect();
    names.extend(request.uri().authority().map(|authority| authority.as_str()));
    let mut response = if !names.is_empty() && names.into_iter().all(is_own) {
        next.run(request).await
    } else {
        refusal(
            StatusCode::MISDIRECTED_REQUEST,
            "this page is not known under that name: open it by its number, such as http://127.0.0.1, or as localhost",
        )
    };
    const ALWAYS: [(HeaderName, &str); 8] = [
        (
            header::CONTENT_SECURITY_POLICY,
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        ),
        (header::CACHE_CONTROL, "no-store"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (HeaderName::from_static("permissions-policy"), "camera=(), geolocation=(), microphone=()"),
    ];
    for (name, value) in ALWAYS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

/// Whether a request's host is ours: a number, or this machine. A name of somebody else that leads here (DNS rebinding) would
/// let the page of that name read this one.
fn is_own(host: &str) -> bool {
    let name = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((number, port)) if port.is_empty() || port.starts_with(':') => number,
        Some(_) => return false,
        None => host.split_once(':').map_or(host, |(name, _)| name),
    };
    name.eq_ignore_ascii_case("localhost") || name.parse::<IpAddr>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_numbers_or_this_machine() {
        for own in ["127.0.0.1:80", "127.0.0.1", "localhost:8080", "LOCALHOST", "[::1]:80", "[::1]"]
        {
            assert!(is_own(own), "{own}");
        }
        for other in [
            "",
            ":80",
            "evil.example",
            "evil.example:80",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "[::1]evil.example",
            "[::1",
            "user@127.0.0.1",
            "127.0.0.1@evil.example",
        ] {
            assert!(!is_own(other), "{other}");
        }
    }

    /// The page's policy forbids inline scripts and styles; nothing relies on them, and nothing is loaded from elsewhere.
    #[test]
    fn the_page_holds_nothing_inline_and_asks_nobody_else() {
        let text = |asset: Asset| std::str::from_utf8(asset.bytes).unwrap_or_default();
        for forbidden in [" style=", "<style", " onclick=", "javascript:", "http:", "https:"] {
            assert!(!text(PAGE).contains(forbidden), "{forbidden}");
        }
        for script in [SCRIPT, CHART] {
            for forbidden in [
                "innerHTML",
                "outerHTML",
                "insertAdjacentHTML",
                "eval(",
                "https:",
                "setAttribute(\"style",
            ] {
                assert!(!text(script).contains(forbidden), "{forbidden}");
            }
        }
        assert!(
            text(PAGE).contains("<html lang=\"en\">") && text(PAGE).contains("name=\"viewport\"")
        );
        assert!(!text(STYLE).contains("url("));
    }
}
