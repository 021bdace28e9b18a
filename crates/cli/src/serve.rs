//! `undertone serve`: the curator.

use std::io::{ErrorKind, IsTerminal};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
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
use undertone_curator::store::StoreError;
use undertone_curator::{App, Curator, Settings, secret_file, store};

use crate::failure::{Failure, system_words};
use crate::input;
use crate::output::line;
use crate::store::{self as kept, Address};

/// Run the curator: surveys, rounds, reports and estimates over HTTP, with pages for owner and respondents.
///
/// The owner's token is read from --admin-token-file, else from the environment variable
/// UNDERTONE_ADMIN_TOKEN, else from a file beside the store (surveys.db.token, or undertone.token for PostgreSQL), which
/// is made with a new token if there is none. The store's address is read from --store, --store-file or the
/// environment variable UNDERTONE_STORE; a PostgreSQL password belongs in --store-file, PGPASSWORD or the
/// file PGPASSFILE (else ~/.pgpass), never on a command line. Logs go to standard error; UNDERTONE_LOG
/// filters them (info, debug, undertone_curator=debug). Stop it with Ctrl-C or SIGTERM: requests under
/// way are finished.
///
/// Example: undertone serve --create --store sqlite:surveys.db --listen 127.0.0.1:8080
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Where to listen.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080")]
    listen: String,
    #[command(flatten)]
    store: Address,
    /// Make a new store if there is none: a mistyped address would otherwise begin an empty one.
    #[arg(long)]
    create: bool,
    /// Begin without reading the whole store first. A SQLite store is otherwise read from end to end at every start.
    #[arg(long)]
    no_check: bool,
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
    /// It was made and written to a file.
    Written(PathBuf),
    /// It was made, is shown once, and was written to a file nobody named.
    New(PathBuf, String),
    /// It is in the file in which it was written before.
    Kept(PathBuf),
}

/// The owner's token: of the file that is named, else of the environment, else of a file beside the store, which is made
/// with a new token if there is none, so that the next start knows it again.
fn owner(args: &Args, sqlite: Option<&Path>) -> Result<(OwnerToken, Given), Failure> {
    let known = |text: String| OwnerToken::new(&text).map_err(Failure::input);
    let (path, named) = match (&args.admin_token_file, std::env::var(TOKEN_VARIABLE)) {
        (Some(path), _) => (path.clone(), true),
        (None, Ok(text)) => return Ok((known(text)?, Given::Known)),
        (None, Err(_)) => {
            let mut name = sqlite.map_or("undertone".into(), |file| file.as_os_str().to_owned());
            name.push(".token");
            (PathBuf::from(name), false)
        }
    };
    if path.exists() {
        let owner = known(secret_file::read(&path)?)?;
        return Ok((owner, if named { Given::Known } else { Given::Kept(path) }));
    }
    let (owner, token) = new_owner()?;
    secret_file::create(&path, &format!("{token}\n"))?;
    Ok((owner, if named { Given::Written(path) } else { Given::New(path, token) }))
}

/// Refuses a damaged store: what was counted could be counted again.
async fn whole(address: &str, options: &store::Options) -> Result<(), Failure> {
    match store::check(address, options, &|_| {}).await {
        Ok(checked) if checked.is_sound() => Ok(()),
        Ok(checked) => Err(Failure::input(format!(
            "--store: the store is damaged: {}; `undertone store check` lists it all, and `undertone store restore` makes a new one from a backup",
            checked.faults.join("; ")
        ))),
        // Opening it upgrades it.
        Err(StoreError::Older { .. }) => Ok(()),
        Err(error) => Err(kept::failed(error)),
    }
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
    let address = args.store.find()?;
    let options = store::Options {
        create: args.create,
        max_bytes: args.max_store_bytes,
        password: kept::password(),
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
        let sqlite = address.strip_prefix("sqlite:").map(Path::new);
        if !args.no_check && sqlite.is_some_and(|file| file.exists()) {
            whole(&address, &options).await?;
        }
        let store = store::open_with(&address, options).await.map_err(kept::failed)?;
        let (owner, given) = owner(args, sqlite)?;
        let curator = Curator::new(App {
            store,
            clock: Arc::new(SystemClock),
            randomness: Arc::new(SystemRandomness),
            owner,
            settings,
        });
        let listener = listen(&args.listen).await?;
        let address = listener.local_addr().map_err(Failure::input)?;
        let stopped = stopped();
        announce(address, tls.is_some(), &given, json);
        server::serve(&curator, listener, tls, limits, stopped).await.map_err(Failure::input)
    })
}

/// A socket that listens where `--listen` says.
pub(crate) async fn listen(address: &str) -> Result<TcpListener, Failure> {
    TcpListener::bind(address).await.map_err(|error| {
        let said = format!("cannot listen on {address}");
        match error.kind() {
            ErrorKind::InvalidInput => Failure::usage(format!(
                "--listen: {said}: give an address and a port, such as 127.0.0.1:8080"
            )),
            ErrorKind::AddrInUse => Failure::input(format!(
                "{said}: another program listens there: end it, or give another address with --listen, such as 127.0.0.1:8081"
            )),
            _ => Failure::input(format!("{said}: {}", system_words(&error))),
        }
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
    let file = match given {
        Given::Known => None,
        Given::Written(path) | Given::New(path, _) | Given::Kept(path) => {
            Some(path.display().to_string())
        }
    };
    let token = if let Given::New(_, token) = given { Some(token) } else { None };
    if json {
        line(&json!({"address": base, "token": token, "token_file": file}).to_string());
        return;
    }
    line(&format!("serving {base}"));
    if let Some(token) = token {
        line(&format!("owner's token, shown once: {token}"));
    }
    match (given, file) {
        (Given::Written(_) | Given::New(..), Some(file)) => {
            line(&format!("owner's token: new, in {file}, which only you can read"));
        }
        (_, Some(file)) => line(&format!("owner's token: in {file}")),
        (_, None) => {}
    }
    if !secure && !address.ip().is_loopback() {
        line(
            "note: without TLS the pages let nobody sign in or answer from other machines: give --tls-cert and --tls-key, or put a proxy with TLS in front",
        );
    }
}

/// Done when the process is asked to stop. It is listened for from this call on, since whoever reads that we serve may
/// ask at once; so call it on a thread of [`runtime`], and before saying so.
#[cfg(unix)]
pub(crate) fn stopped() -> impl Future<Output = ()> {
    use tokio::signal::unix::{Signal, SignalKind, signal};
    async fn came(signal: std::io::Result<Signal>) {
        match signal {
            Ok(mut signal) => drop(signal.recv().await),
            // It ends the process by itself then.
            Err(_) => std::future::pending().await,
        }
    }
    let [interrupted, terminated] = [SignalKind::interrupt(), SignalKind::terminate()].map(signal);
    async move {
        tokio::select! {
            () = came(interrupted) => {}
            () = came(terminated) => {}
        }
    }
}

/// Done when the process is asked to stop.
#[cfg(not(unix))]
pub(crate) async fn stopped() {
    let _ = tokio::signal::ctrl_c().await;
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
