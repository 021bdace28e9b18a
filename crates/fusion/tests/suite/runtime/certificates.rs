//! Authorities and certificates of all kinds, made by the system's OpenSSL; and brokers behind TLS.

use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};
use undertone_fusion::runtime::Identity;

/// Runs a program in a folder; `false` if it is not installed.
pub(crate) fn run(folder: &Path, program: &str, arguments: &[&str]) -> bool {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder).stdin(Stdio::null());
    match command.output() {
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{program} {arguments:?}: {said}");
            true
        }
        Err(_) => {
            eprintln!("skipped: {program} is not installed");
            false
        }
    }
}

/// A folder of certificates.
pub(crate) struct Certificates(tempfile::TempDir);

impl Certificates {
    /// Those of authority `ca`: a broker's for this machine, one for another machine, an expired one,
    /// and a client's. An authority nobody trusts, `stranger`, has certified the client `intruder`.
    /// `None` if there is no OpenSSL.
    pub(crate) fn make() -> Option<Self> {
        let made = Self(tempfile::tempdir().unwrap());
        let folder = made.0.path();
        for name in ["ca", "stranger"] {
            let subject = format!("/CN={name}");
            let (key, file) = (format!("{name}.key"), format!("{name}.pem"));
            let rest = ["-keyout", &key, "-out", &file, "-subj", &subject, "-days", "2"];
            if !run(folder, "openssl", &[&["req", "-x509"], &NEW_KEY[..], &rest[..]].concat()) {
                return None;
            }
        }
        let config = "[ca]\ndefault_ca=here\n[here]\ndatabase=index\nnew_certs_dir=.\ndefault_md=sha256\n\
                      policy=names\nrand_serial=yes\nunique_subject=no\n[names]\ncommonName=supplied\n";
        std::fs::write(folder.join("config"), config).unwrap();
        std::fs::write(folder.join("index"), "").unwrap();
        std::fs::write(folder.join("here"), "subjectAltName=DNS:localhost,IP:127.0.0.1,IP:::1\n")
            .unwrap();
        std::fs::write(folder.join("there"), "subjectAltName=DNS:elsewhere.example\n").unwrap();
        let now = ["-days", "2"];
        let past = ["-startdate", "20200101000000Z", "-enddate", "20200102000000Z"];
        for (name, authority, names, time) in [
            ("broker", "ca", "here", &now[..]),
            ("elsewhere", "ca", "there", &now),
            ("expired", "ca", "here", &past),
            ("client", "ca", "here", &now),
            ("intruder", "stranger", "here", &now),
        ] {
            let subject = format!("/CN={name}");
            let (key, request, file) =
                (format!("{name}.key"), format!("{name}.csr"), format!("{name}.pem"));
            let rest = ["-keyout", &key, "-out", &request, "-subj", &subject];
            run(folder, "openssl", &[&["req"], &NEW_KEY[..], &rest[..]].concat());
            let (signer, signing) = (format!("{authority}.pem"), format!("{authority}.key"));
            let sign = ["ca", "-batch", "-notext", "-config", "config", "-extfile", names];
            let rest = ["-in", &request, "-cert", &signer, "-keyfile", &signing, "-out", &file];
            run(folder, "openssl", &[&sign[..], &rest, time].concat());
        }
        Some(made)
    }

    pub(crate) fn folder(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn identity(&self, name: &str) -> Identity {
        let at = |kind: &str| self.at(&format!("{name}.{kind}"));
        Identity { certificate: at("pem"), key: at("key") }
    }

    /// A server with this certificate; if `asking`, for clients certified by `ca` only.
    pub(crate) fn server(&self, name: &str, asking: bool) -> Arc<ServerConfig> {
        let Identity { certificate, key } = self.identity(name);
        let chain = CertificateDer::pem_file_iter(certificate).unwrap().map(Result::unwrap);
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ServerConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()
            .unwrap();
        let builder = if asking {
            let mut roots = RootCertStore::empty();
            roots.add(CertificateDer::from_pem_file(self.at("ca.pem")).unwrap()).unwrap();
            let verifier = WebPkiClientVerifier::builder_with_provider(roots.into(), provider);
            builder.with_client_cert_verifier(verifier.build().unwrap())
        } else {
            builder.with_no_client_auth()
        };
        let key = PrivateKeyDer::from_pem_file(key).unwrap();
        Arc::new(builder.with_single_cert(chain.collect(), key).unwrap())
    }
}

const NEW_KEY: [&str; 5] = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];

/// Puts TLS before a broker that has none. Dropping it cuts every connection.
pub(crate) struct Front {
    pub(crate) port: u16,
    task: JoinHandle<()>,
}

impl Front {
    /// On this port of the loopback interface, 0 for any; `behind` is the broker's port.
    pub(crate) async fn start(port: u16, server: Arc<ServerConfig>, behind: u16) -> Self {
        Self::start_at(Ipv4Addr::LOCALHOST.into(), port, server, behind).await.unwrap()
    }

    pub(crate) async fn start_at(
        host: IpAddr,
        port: u16,
        server: Arc<ServerConfig>,
        behind: u16,
    ) -> std::io::Result<Self> {
        let listener = TcpListener::bind((host, port)).await?;
        let port = listener.local_addr()?.port();
        let acceptor = tokio_rustls::TlsAcceptor::from(server);
        let task = tokio::spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((outside, _)) = listener.accept().await {
                let acceptor = acceptor.clone();
                connections.spawn(async move {
                    let Ok(mut outside) = acceptor.accept(outside).await else { return };
                    let inside = TcpStream::connect((Ipv4Addr::LOCALHOST, behind)).await;
                    let Ok(mut inside) = inside else { return };
                    let _ = tokio::io::copy_bidirectional(&mut outside, &mut inside).await;
                });
            }
        });
        Ok(Self { port, task })
    }

    /// Ends it, and waits until its port is free.
    pub(crate) async fn stop(mut self) {
        self.task.abort();
        let _ = (&mut self.task).await;
    }
}

impl Drop for Front {
    fn drop(&mut self) {
        self.task.abort();
    }
}
