//! `undertone serve`: the curator.

use std::io::{ErrorKind, IsTerminal};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::json;
use tokio::net::TcpListener;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;
use undertone_curator::auth::OwnerToken;
use undertone_curator::clock::{SystemClock, SystemRandomness};
use undertone_curator::flight::Capacity;
use undertone_curator::limit::Rate;
use undertone_curator::server::{self, Limits};
use undertone_curator::{App, Curator, Settings, secret_file, store};

use crate::failure::{Failure, system_words};
use crate::input;
use crate::output::line;

/// Run the curator: surveys, rounds, reports and estimates over HTTP, with pages for owner and respondents.
///
/// The owner's token is read from --admin-token-file, else from the environment variable
/// UNDERTONE_ADMIN_TOKEN, else made and printed once. The store's address is read from --store, --store-file or the
/// environment variable UNDERTONE_STORE; a PostgreSQL password belongs in --store-file, PGPASSWORD or the
/// file PGPASSFILE (else ~/.pgpass), never on a command line. Logs go to standard error; UNDERTONE_LOG
/// filters them (info, debug, undertone_curator=debug). Stop it with Ctrl-C or SIGTERM: requests under
/// way are finished.
///
/// Example: undertone serve --store sqlite:surveys.db --listen 127.0.0.1:8080
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Where to listen.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080")]
    listen: String,
    /// sqlite:FILE, or postgres://USER@HOST/DATABASE for several curators on one database; sqlite:undertone.db if
    /// nothing says otherwise.
    #[arg(long, value_name = "STORE", conflicts_with = "store_file")]
    store: Option<String>,
    /// A file with the store's address, for your eyes only (chmod 600).
    #[arg(long, value_name = "FILE")]
    store_file: Option<PathBuf>,
    /// A file with the owner's token, for your eyes only (chmod 600); made with a new token if there is none.
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
    /// Requests and reports per second from one address (a request costs one, each further report in it one more), with
    /// bursts of ten times that; 0 for no limit. The owner has none.
    #[arg(long, value_name = "N", default_value_t = 1000)]
    rate: u32,
    /// Connections at once.
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    max_connections: usize,
    /// Connections at once from one address; 0 for no limit, and none behind --trust-proxy.
    #[arg(long, value_name = "N", default_value_t = 512)]
    max_connections_per_address: usize,
    /// Bytes of requests and answers in memory at once, such as 256MiB; a quarter of it for one address.
    #[arg(long, value_name = "BYTES", default_value = "256MiB", value_parser = bytes)]
    max_bytes_in_flight: u64,
    /// Refuse reports once the store has grown to so many bytes, such as 20GB. Left out: while there is room on the disk.
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    max_store_bytes: Option<u64>,
}

/// The environment variable with the store's address.
const STORE_VARIABLE: &str = "UNDERTONE_STORE";
/// The store if nothing says otherwise.
const USUAL_STORE: &str = "sqlite:undertone.db";
/// The environment variable with the owner's token.
const TOKEN_VARIABLE: &str = "UNDERTONE_ADMIN_TOKEN";
/// The environment variable that filters logs.
const LOG_VARIABLE: &str = "UNDERTONE_LOG";

pub(crate) fn run(args: &Args, json: bool) -> u8 {
    match serve(args, json) {
        Ok(()) => 0,
        Err(failure) => failure.print(json),
    }
}

/// Logs on standard error.
pub(crate) fn log(json: bool, otherwise: LevelFilter) {
    let wanted = std::env::var(LOG_VARIABLE).ok().and_then(|text| text.parse::<Targets>().ok());
    let filter = wanted.unwrap_or_else(|| Targets::new().with_default(otherwise));
    let logs = tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
    // Colours are for terminals: in a file or a journal they would be noise between the words.
    let logs = logs.with_ansi(std::io::stderr().is_terminal());
    let logs = if json { logs.json().boxed() } else { logs.boxed() };
    // A second attempt in one process keeps the first.
    let _ = tracing_subscriber::registry().with(logs.with_filter(filter)).try_init();
}

/// A number of bytes: digits, and a unit in powers of 1000 (kB, MB, GB, TB) or 1024 (KiB, MiB, GiB, TiB).
fn bytes(text: &str) -> Result<u64, String> {
    const UNITS: [(&str, u64); 9] = [
        ("", 1),
        ("kB", 1000),
        ("MB", 1_000_000),
        ("GB", 1_000_000_000),
        ("TB", 1_000_000_000_000),
        ("KiB", 1 << 10),
        ("MiB", 1 << 20),
        ("GiB", 1 << 30),
        ("TiB", 1 << 40),
    ];
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let unit = UNITS.iter().find(|(name, _)| *name == unit.trim()).map(|(_, size)| *size);
    let size = number.parse::<u64>().ok().zip(unit).and_then(|(n, unit)| n.checked_mul(unit));
    size.filter(|&size| size > 0).ok_or_else(|| {
        "give a number of bytes above 0, with kB, MB, GB, TB, KiB, MiB, GiB or TiB behind it if you like".into()
    })
}

/// The owner's token, and what to say about it.
enum Given {
    /// It was given: nothing is said.
    Known,
    /// It was made and is shown once.
    New(String),
    /// It was made and written to a file.
    Written(PathBuf),
}

fn owner(args: &Args) -> Result<(OwnerToken, Given), Failure> {
    let text = match &args.admin_token_file {
        Some(path) if !path.exists() => {
            let (owner, token) = new_owner()?;
            secret_file::create(path, &format!("{token}\n"))?;
            return Ok((owner, Given::Written(path.clone())));
        }
        Some(path) => Some(secret_file::read(path)?),
        None => std::env::var(TOKEN_VARIABLE).ok(),
    };
    match text {
        Some(token) => Ok((OwnerToken::new(&token).map_err(Failure::input)?, Given::Known)),
        None => new_owner().map(|(owner, token)| (owner, Given::New(token))),
    }
}

/// The store's address, from wherever it was given.
fn store_address(args: &Args) -> Result<String, Failure> {
    let address = match (&args.store, &args.store_file) {
        (Some(address), _) => {
            let known = ["sqlite:", "postgres://", "postgresql://"];
            if !known.iter().any(|scheme| address.starts_with(scheme)) {
                // Without the value: it may hold a password.
                return Err(Failure::usage(
                    "--store: the store's address must be sqlite:FILE or postgres://USER@HOST/DATABASE",
                ));
            }
            if store::shows_password(address) {
                tracing::warn!(
                    "every user of this machine can read the password in --store: use --store-file or PGPASSFILE"
                );
            }
            address.clone()
        }
        (None, Some(path)) => secret_file::read(path)?,
        (None, None) => std::env::var(STORE_VARIABLE).unwrap_or_else(|_| USUAL_STORE.into()),
    };
    let address = address.trim();
    #[cfg(not(feature = "postgres"))]
    if address.starts_with("postgres") {
        return Err(Failure::missing_feature(
            "postgres",
            "the store is PostgreSQL",
            "or keep reports in sqlite:FILE",
        ));
    }
    Ok(address.to_owned())
}

/// Where libpq would look for a password.
fn password() -> store::Password {
    let file = std::env::var_os("PGPASSFILE").map(PathBuf::from);
    let home = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".pgpass"));
    store::Password { text: std::env::var("PGPASSWORD").ok(), file: file.or_else(home) }
}

/// A new owner's token.
pub(crate) fn new_owner() -> Result<(OwnerToken, String), Failure> {
    let (token, owner) = OwnerToken::generate(&SystemRandomness)
        .ok_or_else(|| Failure::input("the system's random generator failed"))?;
    Ok((owner, token))
}

fn serve(args: &Args, json: bool) -> Result<(), Failure> {
    log(json, LevelFilter::INFO);
    let tls = match (&args.tls_cert, &args.tls_key) {
        (Some(certificate), Some(key)) => {
            input::readable(certificate)?;
            input::readable(key)?;
            Some(server::tls(certificate, key).map_err(Failure::input)?)
        }
        _ => None,
    };
    let address = store_address(args)?;
    let (owner, given) = owner(args)?;
    let options = store::Options {
        max_bytes: args.max_store_bytes,
        password: password(),
        ..store::Options::default()
    };
    let in_flight = usize::try_from(args.max_bytes_in_flight).unwrap_or(usize::MAX);
    let rate = (args.rate > 0).then(|| {
        let per_second = f64::from(args.rate);
        Rate { burst: 10.0 * per_second, per_second }
    });
    let settings = Settings {
        rate,
        in_flight: Capacity { total: in_flight, per_address: in_flight / 4 },
        trust_proxy: args.trust_proxy,
        metrics_open: args.metrics_open,
        secure: tls.is_some(),
        ..Settings::default()
    };
    let limits = Limits {
        connections: args.max_connections.max(1),
        per_address: Some(args.max_connections_per_address).filter(|&most| most > 0),
        ..Limits::default()
    };
    runtime()?.block_on(async {
        let store = store::open_with(&address, options)
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
            let said = format!("cannot listen on {}", args.listen);
            match error.kind() {
                ErrorKind::InvalidInput => Failure::usage(format!(
                    "--listen: {said}: give an address and a port, such as 127.0.0.1:8080"
                )),
                ErrorKind::AddrInUse => Failure::input(format!(
                    "{said}: another program listens there: end it, or give another address with --listen, such as 127.0.0.1:8081"
                )),
                _ => Failure::input(format!("{said}: {}", system_words(&error))),
            }
        })?;
        let address = listener.local_addr().map_err(Failure::input)?;
        announce(address, tls.is_some(), &given, json);
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

fn announce(address: SocketAddr, secure: bool, given: &Given, json: bool) {
    let scheme = if secure { "https" } else { "http" };
    let base = format!("{scheme}://{address}/");
    let (token, file) = match given {
        Given::Known => (None, None),
        Given::New(token) => (Some(token), None),
        Given::Written(path) => (None, Some(path.display().to_string())),
    };
    if json {
        line(&json!({"address": base, "token": token, "token_file": file}).to_string());
        return;
    }
    line(&format!("serving {base}"));
    if let Some(token) = token {
        line(&format!("owner's token, shown once: {token}"));
    }
    if let Some(file) = file {
        line(&format!("owner's token: new, in {file}, which only you can read"));
    }
    if !secure && !address.ip().is_loopback() {
        line(
            "note: without TLS the pages let nobody sign in or answer from other machines: give --tls-cert and --tls-key, or put a proxy with TLS in front",
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

#[cfg(test)]
mod tests {
    use super::bytes;

    #[test]
    fn sizes_have_units() {
        let good = [("1", 1), ("20GB", 20_000_000_000), ("256MiB", 256 << 20), ("1 TiB", 1 << 40)];
        for (text, size) in good {
            assert_eq!(bytes(text), Ok(size), "{text}");
        }
        for bad in ["", "0", "0GB", "-1", "1.5GB", "GB", "10XB", "99999999999TB"] {
            assert!(bytes(bad).is_err(), "{bad}");
        }
    }
}
