//! `undertone serve`: the curator.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::json;
use tokio::net::TcpListener;
use tracing_subscriber::EnvFilter;
use undertone_curator::auth::OwnerToken;
use undertone_curator::clock::{SystemClock, SystemRandomness};
use undertone_curator::limit::Rate;
use undertone_curator::server::{self, Limits};
use undertone_curator::{App, Curator, Settings, store};

use crate::failure::Failure;
use crate::output::line;

/// Run the curator: surveys, rounds, reports and estimates over HTTP, with pages for owner and respondents.
///
/// The owner's token is read from --admin-token-file, else from the environment variable
/// UNDERTONE_ADMIN_TOKEN, else made and printed once. Logs go to standard error; UNDERTONE_LOG
/// filters them (info, debug, undertone_curator=debug). Stop it with Ctrl-C or SIGTERM: requests under
/// way are finished.
///
/// Example: undertone serve --store sqlite:surveys.db --listen 127.0.0.1:8080
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Where to listen.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080")]
    listen: String,
    /// sqlite:FILE, or postgres://USER:PASSWORD@HOST/DATABASE for several curators on one database.
    #[arg(long, value_name = "STORE", default_value = "sqlite:undertone.db")]
    store: String,
    /// A file with the owner's token.
    #[arg(long, value_name = "FILE")]
    admin_token_file: Option<PathBuf>,
    /// Certificate chain (PEM): serve over TLS.
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// The certificate's private key (PEM).
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// Take the client's address from the last entry of X-Forwarded-For. Only behind a proxy that sets it.
    #[arg(long)]
    trust_proxy: bool,
    /// Let anybody read /metrics.
    #[arg(long)]
    metrics_open: bool,
    /// Requests per second from one address, with bursts of ten times that; 0 for no limit.
    #[arg(long, value_name = "N", default_value_t = 200)]
    rate: u32,
    /// Connections at once.
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    max_connections: usize,
}

/// The environment variable with the owner's token.
const TOKEN_VARIABLE: &str = "UNDERTONE_ADMIN_TOKEN";
/// The environment variable that filters logs.
const LOG_VARIABLE: &str = "UNDERTONE_LOG";

/// It has no result to give back, so it cannot be called in place.
pub(crate) fn only_from_a_command_line() -> Failure {
    Failure::usage("serve runs until it is stopped: start it from a command line")
}

pub(crate) fn run(args: &Args, json: bool) -> u8 {
    match serve(args, json) {
        Ok(()) => 0,
        Err(failure) => failure.print(json),
    }
}

/// Logs on standard error.
pub(crate) fn log(json: bool, otherwise: &str) {
    let filter = EnvFilter::try_from_env(LOG_VARIABLE).unwrap_or_else(|_| otherwise.into());
    let logs = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    // A second attempt in one process keeps the first.
    let _ = if json { logs.json().try_init() } else { logs.try_init() };
}

/// The owner's token as given, or a new one and its text.
fn owner(args: &Args) -> Result<(OwnerToken, Option<String>), Failure> {
    let given =
        match &args.admin_token_file {
            Some(path) => Some(std::fs::read_to_string(path).map_err(|error| {
                Failure::input(format!("cannot read {}: {error}", path.display()))
            })?),
            None => std::env::var(TOKEN_VARIABLE).ok(),
        };
    match given {
        Some(token) => Ok((OwnerToken::new(&token).map_err(Failure::input)?, None)),
        None => new_owner().map(|(owner, token)| (owner, Some(token))),
    }
}

/// A new owner's token.
pub(crate) fn new_owner() -> Result<(OwnerToken, String), Failure> {
    let (token, owner) = OwnerToken::generate(&SystemRandomness)
        .ok_or_else(|| Failure::input("the system's random generator failed"))?;
    Ok((owner, token))
}

fn serve(args: &Args, json: bool) -> Result<(), Failure> {
    log(json, "info");
    let tls = match (&args.tls_cert, &args.tls_key) {
        (Some(certificate), Some(key)) => {
            Some(server::tls(certificate, key).map_err(Failure::input)?)
        }
        _ => None,
    };
    let (owner, new_token) = owner(args)?;
    let rate = (args.rate > 0).then(|| {
        let per_second = f64::from(args.rate);
        Rate { burst: 10.0 * per_second, per_second }
    });
    let settings = Settings {
        rate,
        trust_proxy: args.trust_proxy,
        metrics_open: args.metrics_open,
        secure: tls.is_some(),
        ..Settings::default()
    };
    let limits = Limits { connections: args.max_connections.max(1), ..Limits::default() };
    runtime()?.block_on(async {
        let store = store::open(&args.store)
            .await
            .map_err(|error| Failure::input(format!("--store: {error}")))?;
        let curator = Curator::new(App {
            store,
            clock: Arc::new(SystemClock),
            randomness: Arc::new(SystemRandomness),
            owner,
            settings,
        });
        let listener = TcpListener::bind(&args.listen).await.map_err(|error| {
            Failure::input(format!("cannot listen on {}: {error}", args.listen))
        })?;
        let address = listener.local_addr().map_err(Failure::input)?;
        announce(address, tls.is_some(), new_token.as_deref(), json);
        server::serve(&curator, listener, tls, limits, stopped()).await.map_err(Failure::input)
    })
}

/// The threads the curator runs on.
pub(crate) fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::input(format!("cannot start threads: {error}")))
}

fn announce(address: SocketAddr, secure: bool, token: Option<&str>, json: bool) {
    let scheme = if secure { "https" } else { "http" };
    let base = format!("{scheme}://{address}/");
    if json {
        line(&json!({"address": base, "token": token}).to_string());
        return;
    }
    line(&format!("serving {base}"));
    if let Some(token) = token {
        line(&format!("owner's token, shown once: {token}"));
    }
    if !secure && !address.ip().is_loopback() {
        line(
            "note: without TLS browsers refuse to answer from other machines: give --tls-cert and --tls-key, or put a proxy in front",
        );
    }
}

/// Done when the process is asked to stop.
pub(crate) async fn stopped() {
    let interrupted = tokio::signal::ctrl_c();
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminated) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = interrupted => {}
                _ = terminated.recv() => {}
            }
            return;
        }
    }
    let _ = interrupted.await;
}
