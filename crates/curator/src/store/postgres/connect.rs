//! Reaching the database, and what its errors mean.

use super::passfile;
use crate::store::{Password, StoreError};
use deadpool_postgres::{
    Hook, HookError, Manager, ManagerConfig, Pool, PoolError, RecyclingMethod, Runtime,
};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;
use tokio_postgres::Config;
use tokio_postgres::error::SqlState;
use tokio_postgres_rustls::MakeRustlsConnect;

/// Connections one curator holds at most: one appends, one folds, the others read.
const CONNECTIONS: usize = 8;
const PATIENCE: Duration = Duration::from_secs(10);

/// Acknowledged means on disk, whatever the server's default; and nobody waits for ever.
const SESSION: &str = "
SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off';
SET statement_timeout = '60s';
SET lock_timeout = '30s';
SET idle_in_transaction_session_timeout = '60s';
SET client_min_messages = 'warning';
";

/// A pool of connections to `postgres://..`. TLS is used as `sslmode` says; `sslrootcert` names a file of
/// certificates to trust instead of the public ones. An address without a password gets the one given.
pub(super) fn pool(address: &str, password: &Password) -> Result<Pool, StoreError> {
    let (address, roots) = split_roots(address);
    let mut config = Config::from_str(&address)
        .map_err(|error| StoreError::Unavailable(format!("the store's address: {error}")))?;
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(PATIENCE);
    }
    if config.get_application_name().is_none() {
        config.application_name("undertone");
    }
    if config.get_password().is_none() {
        let found = match (&password.text, &password.file) {
            (Some(text), _) => Some(text.clone()),
            (None, Some(file)) => passfile::password(file, &config)?,
            (None, None) => None,
        };
        if let Some(found) = found {
            config.password(found);
        }
    }
    let tls = match roots {
        Some(file) => trusting(&file)?,
        None => MakeRustlsConnect::with_webpki_roots(),
    };
    let recycling_method = RecyclingMethod::Fast;
    let manager = Manager::from_config(config, tls, ManagerConfig { recycling_method });
    let settle = Hook::async_fn(|client: &mut deadpool_postgres::ClientWrapper, _| {
        Box::pin(async move { client.batch_execute(SESSION).await.map_err(HookError::Backend) })
    });
    Pool::builder(manager)
        .max_size(CONNECTIONS)
        .runtime(Runtime::Tokio1)
        .wait_timeout(Some(PATIENCE))
        .create_timeout(Some(PATIENCE))
        .recycle_timeout(Some(PATIENCE))
        .post_create(settle)
        .build()
        .map_err(|error| StoreError::Unavailable(error.to_string()))
}

/// Takes `sslrootcert=FILE` out of the address, which the driver does not know.
fn split_roots(address: &str) -> (String, Option<String>) {
    let Some((base, query)) = address.split_once('?') else { return (address.into(), None) };
    let name = "sslrootcert=";
    let file = query.split('&').find_map(|part| part.strip_prefix(name)).map(String::from);
    let rest: Vec<&str> = query.split('&').filter(|part| !part.starts_with(name)).collect();
    let mark = if rest.is_empty() { "" } else { "?" };
    (format!("{base}{mark}{}", rest.join("&")), file)
}

fn trusting(file: &str) -> Result<MakeRustlsConnect, StoreError> {
    let bad = |why: String| StoreError::Unavailable(format!("sslrootcert={file}: {why}"));
    let mut roots = rustls::RootCertStore::empty();
    let certificates = CertificateDer::pem_file_iter(file).map_err(|e| bad(e.to_string()))?;
    for certificate in certificates {
        let certificate = certificate.map_err(|error| bad(error.to_string()))?;
        roots.add(certificate).map_err(|error| bad(error.to_string()))?;
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| bad(error.to_string()))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}

/// What an error of PostgreSQL means to the caller.
pub(super) fn fault(error: tokio_postgres::Error) -> StoreError {
    match error.code() {
        Some(&SqlState::DISK_FULL) => StoreError::Full,
        Some(code) if code.code().starts_with("23") => StoreError::Conflict(words(&error)),
        Some(&SqlState::DATA_CORRUPTED | &SqlState::INDEX_CORRUPTED) => {
            StoreError::Corrupt(words(&error))
        }
        _ => StoreError::Unavailable(words(&error)),
    }
}

/// The driver's own text says only "db error".
fn words(error: &tokio_postgres::Error) -> String {
    match error.as_db_error() {
        Some(db) => format!("{} ({})", db.message(), db.code().code()),
        None => match std::error::Error::source(error) {
            Some(source) => format!("{error}: {source}"),
            None => error.to_string(),
        },
    }
}

pub(super) fn unreachable(error: PoolError) -> StoreError {
    match error {
        PoolError::Backend(error) => fault(error),
        PoolError::PostCreateHook(HookError::Backend(error)) => fault(error),
        other => StoreError::Unavailable(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::split_roots;

    #[test]
    fn root_certificates_are_taken_out_of_the_address() {
        let split = |text| split_roots(text);
        assert_eq!(split("postgres://h/d"), ("postgres://h/d".into(), None));
        let (address, file) = split("postgres://h/d?sslmode=require&sslrootcert=/a/b.pem");
        assert_eq!(
            (&*address, file.as_deref()),
            ("postgres://h/d?sslmode=require", Some("/a/b.pem"))
        );
        let (address, file) = split("postgres://h/d?sslrootcert=x");
        assert_eq!((&*address, file.as_deref()), ("postgres://h/d", Some("x")));
    }
}
