//! The curator over TLS.

use crate::api::harness::TOKEN;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use std::process::Command;
use std::sync::Arc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use undertone_curator::auth::OwnerToken;
use undertone_curator::clock::{SystemClock, SystemRandomness};
use undertone_curator::server::{self, Limits};
use undertone_curator::{App, Curator, Settings};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_over_tls() {
    let folder = tempfile::tempdir().unwrap();
    let (certificate, key) = (folder.path().join("cert.pem"), folder.path().join("key.pem"));
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"])
        .args(["-nodes", "-days", "30", "-subj", "/CN=localhost"])
        .args([
            "-addext",
            "subjectAltName=DNS:localhost",
            "-addext",
            "basicConstraints=critical,CA:FALSE",
        ])
        .arg("-keyout")
        .arg(&key)
        .arg("-out")
        .arg(&certificate)
        .output();
    if !made.is_ok_and(|made| made.status.success()) {
        println!("skipped: no openssl to make a certificate with");
        return;
    }
    let tls = server::tls(&certificate, &key).unwrap();
    assert!(server::tls(&key, &certificate).is_err(), "a key is no certificate");
    assert!(server::tls(&folder.path().join("none"), &key).is_err());

    let file = format!("sqlite:{}", folder.path().join("x.db").display());
    let curator = Curator::new(App {
        store: undertone_curator::store::open(&file).await.unwrap(),
        clock: Arc::new(SystemClock),
        randomness: Arc::new(SystemRandomness),
        owner: OwnerToken::new(TOKEN).unwrap(),
        settings: Settings { secure: true, ..Settings::default() },
    });
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let running = tokio::spawn(async move {
        let until = async {
            let _ = stopped.await;
        };
        server::serve(&curator, listener, Some(tls), Limits::default(), until).await
    });

    let mut roots = rustls::RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(&certificate).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let connector = tokio_rustls::TlsConnector::from(Arc::new(config));
    let plain = TcpStream::connect(address).await.unwrap();
    let name = ServerName::try_from("localhost").unwrap();
    let mut stream = connector.connect(name, plain).await.unwrap();
    stream
        .write_all(b"GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
        .await
        .unwrap();
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer).await;
    let answer = String::from_utf8_lossy(&answer).into_owned();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(answer.contains("strict-transport-security: max-age=31536000"), "{answer}");
    // Plain HTTP finds nobody.
    let mut plain = TcpStream::connect(address).await.unwrap();
    plain.write_all(b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
    let mut answer = Vec::new();
    let _ = plain.read_to_end(&mut answer).await;
    assert!(!String::from_utf8_lossy(&answer).contains("200"));
    let _ = stop.send(());
    running.await.unwrap().unwrap();
}
