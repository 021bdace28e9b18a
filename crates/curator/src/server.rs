//! The loop that accepts connections: limits, time-outs, TLS, and an orderly end.

mod guests;
mod stream;

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use socket2::SockRef;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_rustls::TlsAcceptor;
use tower::ServiceExt;
use undertone_wire::{Code, Problem};

use crate::metrics::Metrics;
use crate::routes::Curator;
use crate::service::Peer;
use guests::Guests;
use stream::{Stream, Tracked, Unread};

/// Limits of the connections themselves.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// At most this many connections at once; more wait to be accepted.
    pub connections: usize,
    /// At most this many of them from one address (for IPv6, one /64); more are told so and closed. `None` for
    /// no limit, and not applied behind a trusted proxy, from which they all come.
    pub per_address: Option<usize>,
    /// How long a request's head may take to arrive, and how long a connection may lie idle.
    pub head: Duration,
    /// How long the other side may take nothing of an answer, or let a connection that is being closed
    /// wait. Whoever takes it slowly has longer.
    pub write: Duration,
    /// How long requests under way may take to finish once the end has begun.
    pub shutdown_grace: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 10_000,
            per_address: Some(512),
            head: Duration::from_secs(15),
            write: Duration::from_secs(20),
            shutdown_grace: Duration::from_secs(20),
        }
    }
}

/// Why TLS could not be set up.
#[derive(Debug, thiserror::Error)]
#[error("TLS: {0}")]
pub struct TlsError(String);

/// Reads a certificate chain and its key, both PEM.
pub fn tls(certificates: &Path, key: &Path) -> Result<TlsAcceptor, TlsError> {
    let unreadable = |path: &Path, error: &dyn std::fmt::Display| {
        TlsError(format!("cannot read {}: {error}", path.display()))
    };
    let chain = CertificateDer::pem_file_iter(certificates)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| unreadable(certificates, &error))?;
    if chain.is_empty() {
        return Err(TlsError(format!("no certificate in {}", certificates.display())));
    }
    let key = PrivateKeyDer::from_pem_file(key).map_err(|error| unreadable(key, &error))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, key))
        .map_err(|error| TlsError(error.to_string()))?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

/// Serves until `until` is done, then lets requests under way finish. Reports are counted in the
/// background meanwhile.
pub async fn serve(
    curator: &Curator,
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    limits: Limits,
    until: impl Future<Output = ()>,
) -> io::Result<()> {
    let folding = tokio::spawn(curator.clone().fold_forever());
    let per_address = limits.per_address.filter(|_| !curator.trusts_proxy());
    let limits = Limits { per_address, ..limits };
    let served = accept(curator.router(), listener, tls, limits, curator.metrics(), until).await;
    folding.abort();
    served
}

/// Serves another router than a curator's in the same way, without TLS.
pub async fn serve_router(
    router: axum::Router,
    listener: TcpListener,
    limits: Limits,
    until: impl Future<Output = ()>,
) -> io::Result<()> {
    accept(router, listener, None, limits, &Metrics::default(), until).await
}

async fn accept(
    router: axum::Router,
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    limits: Limits,
    metrics: &Metrics,
    until: impl Future<Output = ()>,
) -> io::Result<()> {
    let room = Arc::new(Semaphore::new(limits.connections));
    let guests = Arc::new(Guests::default());
    let per_address = limits.per_address.unwrap_or(usize::MAX);
    let graceful = GracefulShutdown::new();
    let mut until = pin!(until);
    loop {
        let permit = tokio::select! {
            permit = room.clone().acquire_owned() => permit.map_err(io::Error::other)?,
            () = &mut until => break,
        };
        let (stream, address) = tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    // Out of file handles, most likely: wait for some to close.
                    tracing::warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            },
            () = &mut until => break,
        };
        let Some(guest) = guests.admit(address.ip(), per_address) else {
            metrics.crowded.inc();
            if tls.is_none() {
                // At most as many of these at once as connections.
                tokio::spawn(async move {
                    let _ = tokio::time::timeout(limits.write, turn_away(stream)).await;
                    drop(permit);
                });
            }
            continue;
        };
        let (router, tls, watcher) = (router.clone(), tls.clone(), graceful.watcher());
        let connections = metrics.connections.clone();
        tokio::spawn(async move {
            connections.inc();
            let served = connection(stream, address, router, tls, limits, watcher).await;
            connections.dec();
            drop((guest, permit));
            if let Err(error) = served {
                // Broken off, too slow, or not HTTP: the other side's doing.
                tracing::trace!(%error, "a connection ended");
            }
        });
    }
    drop(listener);
    if tokio::time::timeout(limits.shutdown_grace, graceful.shutdown()).await.is_err() {
        tracing::warn!("some requests did not finish and were dropped");
    }
    Ok(())
}

type Failure = Box<dyn std::error::Error + Send + Sync>;

async fn connection(
    stream: TcpStream,
    address: SocketAddr,
    router: axum::Router,
    tls: Option<TlsAcceptor>,
    limits: Limits,
    watcher: hyper_util::server::graceful::Watcher,
) -> Result<(), Failure> {
    stream.set_nodelay(true)?;
    // The system would keep megabytes for a connection that does not read; and only what leaves this buffer
    // shows that the other side reads.
    SockRef::from(&stream).set_send_buffer_size(SEND_BUFFER)?;
    match tls {
        None => answer(stream, address, router, limits, watcher).await,
        Some(acceptor) => {
            let shaken = tokio::time::timeout(limits.head, acceptor.accept(stream)).await??;
            answer(shaken, address, router, limits, watcher).await
        }
    }
}

/// Says that the address has too many connections, and waits until that was read.
async fn turn_away(mut stream: TcpStream) -> io::Result<()> {
    let detail =
        "this address has too many connections: close some, or use one for several requests";
    let problem = Problem::new(Code::TooManyRequests, detail).retry_after(5);
    // A record of texts and a number always serialises.
    let body = serde_json::to_string(&problem.document()).unwrap_or_default();
    let head = format!(
        "HTTP/1.1 429 Too Many Requests\r\ncontent-type: application/problem+json\r\nretry-after: 5\r\n\
         connection: close\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(format!("{head}{body}").as_bytes()).await?;
    stream.shutdown().await?;
    // One read finds the request that was sent meanwhile, another its end.
    let mut thrown_away = [0; 1024];
    for _ in 0..64 {
        if stream.read(&mut thrown_away).await? == 0 {
            break;
        }
    }
    Ok(())
}

async fn answer(
    stream: impl AsyncRead + AsyncWrite + Unpin + 'static,
    address: SocketAddr,
    router: axum::Router,
    limits: Limits,
    watcher: hyper_util::server::graceful::Watcher,
) -> Result<(), Failure> {
    let unread = Unread::default();
    let stream = Stream::new(stream, limits.write, unread.clone());
    let service = hyper::service::service_fn(move |request: hyper::Request<Incoming>| {
        let track = |body| Body::new(Tracked::new(body, unread.clone()));
        let mut request: Request = request.map(track);
        request.extensions_mut().insert(Peer(address.ip()));
        router.clone().oneshot(request)
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head)
        .max_headers(64)
        .max_buf_size(CONNECTION_BUFFER)
        .serve_connection(TokioIo::new(stream), service);
    watcher.watch(connection).await.map_err(Into::into)
}

/// What the system may keep of an answer to one connection.
const SEND_BUFFER: usize = 128 << 10;

/// What one connection may have read ahead: the largest head, and a piece of a body.
const CONNECTION_BUFFER: usize = 16 << 10;
