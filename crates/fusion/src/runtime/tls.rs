//! Encrypted connections.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore};
use undertone_design::Error;

/// How a process proves to the broker who it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// Its certificate, and those between it and the authority (PEM).
    pub certificate: PathBuf,
    /// Its private key (PEM).
    pub key: PathBuf,
}

/// A configuration that trusts brokers certified by the authority in `authority` (PEM), and no other.
pub fn client_config(
    authority: &Path,
    identity: Option<&Identity>,
) -> Result<Arc<ClientConfig>, Error> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(authority)? {
        roots.add(certificate).map_err(|error| refuse(authority, &error))?;
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| Error::other("TLS", error.to_string()))?
        .with_root_certificates(roots);
    let config = match identity {
        None => builder.with_no_client_auth(),
        Some(Identity { certificate, key }) => {
            let chain = certificates(certificate)?;
            let key = PrivateKeyDer::from_pem_file(key).map_err(|error| refuse(key, &error))?;
            builder
                .with_client_auth_cert(chain, key)
                .map_err(|error| refuse(certificate, &error))?
        }
    };
    Ok(Arc::new(config))
}

fn refuse(path: &Path, problem: &dyn std::fmt::Display) -> Error {
    Error::other(path.display().to_string(), format!("{problem}; give a PEM file"))
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, Error> {
    let found = CertificateDer::pem_file_iter(path).map_err(|error| refuse(path, &error))?;
    let found: Vec<_> = found.collect::<Result<_, _>>().map_err(|error| refuse(path, &error))?;
    if found.is_empty() {
        return Err(refuse(path, &"there is no certificate in it"));
    }
    Ok(found)
}
