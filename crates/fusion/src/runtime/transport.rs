//! The way to a broker: TCP and, for `mqtts`, TLS over it; and in plain words why there is none.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::ServerName;
use rustls::{AlertDescription, CertificateError, ClientConfig};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use undertone_design::Error;

use super::address::Address;

/// A broker that takes longer than this for one step of a connection is given up.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

/// Why there is no connection any more, where the broker gave no reason.
pub(super) const CLOSED: &str = "it closed the connection";

/// Bytes both ways, encrypted or not.
pub(super) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// The name that the broker's certificate must be for.
pub(super) fn server_name(address: &Address) -> Result<ServerName<'static>, Error> {
    let host = address.host.trim_start_matches('[').trim_end_matches(']');
    ServerName::try_from(host.to_owned()).map_err(|_| {
        let problem = "no certificate can be for this host: give a DNS name or an IP address";
        Error::other(format!("broker {address}"), problem)
    })
}

/// Connects to a broker; otherwise says why it failed.
pub(super) async fn connect(
    address: &Address,
    tls: Option<&Arc<ClientConfig>>,
) -> Result<Box<dyn Stream>, String> {
    let target = format!("{}:{}", address.host, address.port);
    let tcp = timeout(PATIENCE, TcpStream::connect(target))
        .await
        .map_err(|_| format!("no connection within {} s", PATIENCE.as_secs()))?
        .map_err(|error| format!("no connection: {error}"))?;
    // Reports are small, and each waits for the acknowledgement of the one before.
    tcp.set_nodelay(true).map_err(|error| format!("no connection: {error}"))?;
    let Some(config) = tls else { return Ok(Box::new(tcp)) };
    let name = server_name(address).map_err(|error| error.to_string())?;
    let handshake = TlsConnector::from(config.clone()).connect(name, tcp);
    let stream = timeout(PATIENCE, handshake)
        .await
        .map_err(|_| {
            let limit = PATIENCE.as_secs();
            format!("the TLS handshake took more than {limit} s: does it speak TLS on this port?")
        })?
        .map_err(|error| match in_words(&error) {
            closed if closed == CLOSED => {
                format!("{CLOSED} during the TLS handshake: does it speak TLS on this port?")
            }
            words => words,
        })?;
    Ok(Box::new(stream))
}

/// Why reading or writing failed.
pub(super) fn in_words(error: &io::Error) -> String {
    match error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
        Some(rustls::Error::InvalidCertificate(reason)) => {
            format!("its certificate {}", distrust(reason))
        }
        Some(rustls::Error::AlertReceived(alert)) => rejection(*alert),
        Some(rustls::Error::InvalidMessage(_)) => {
            "what it says is not TLS: is this its port for mqtts://?".into()
        }
        Some(other) => format!("TLS failed: {other}"),
        None => match error.kind() {
            io::ErrorKind::BrokenPipe
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::UnexpectedEof => CLOSED.into(),
            _ => error.to_string(),
        },
    }
}

/// What is wrong with the broker's certificate.
fn distrust(reason: &CertificateError) -> String {
    match reason {
        CertificateError::UnknownIssuer => {
            "is not signed by the authority that is trusted here".into()
        }
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            "has expired (or this machine's clock is wrong)".into()
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "is not valid yet (or this machine's clock is wrong)".into()
        }
        CertificateError::NotValidForNameContext { expected, presented } => {
            let presented = match presented.as_slice() {
                [] => "no name at all".into(),
                names => names.join(" or "),
            };
            format!("is for {presented}, not for {}", expected.to_str())
        }
        other => format!("cannot be trusted: {other}"),
    }
}

/// Why the broker ended TLS, as far as it says so.
fn rejection(alert: AlertDescription) -> String {
    use AlertDescription::{
        AccessDenied, BadCertificate, CertificateExpired, CertificateRequired, CertificateRevoked,
        CertificateUnknown, UnknownCA, UnsupportedCertificate,
    };
    match alert {
        CertificateRequired => {
            "it asks for a certificate of this client: give one, and its key".into()
        }
        AccessDenied
        | BadCertificate
        | CertificateExpired
        | CertificateRevoked
        | CertificateUnknown
        | UnknownCA
        | UnsupportedCertificate => {
            format!("it does not accept this client's certificate ({alert:?})")
        }
        other => format!("it ended TLS ({other:?})"),
    }
}
