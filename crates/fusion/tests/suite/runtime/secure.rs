//! Certificates and passwords, with a real broker.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use undertone_fusion::runtime::{
    Address, Budget, Center, CenterEvent, CenterNode, Identity, Link, LinkEvent, LinkOptions,
    Mosquitto, Pace, Sensor, SensorNode, client_config, free_port,
};

use crate::runtime::brokers::{LIMIT, decisions, until};
use crate::runtime::network::network;

/// Runs a program in a folder; `false` if it is not installed.
fn run(folder: &Path, program: &str, arguments: &[&str]) -> bool {
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

/// An authority, a broker and a client it certified, and an authority nobody trusts.
fn certificates(folder: &Path) -> bool {
    for name in ["ca", "stranger"] {
        let subject = format!("/CN={name}");
        let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
        let (key_file, file) = (format!("{name}.key"), format!("{name}.pem"));
        let rest = ["-keyout", &key_file, "-out", &file, "-subj", &subject, "-days", "2"];
        if !run(folder, "openssl", &[&["req", "-x509"], &key[..], &rest[..]].concat()) {
            return false;
        }
    }
    let names = "subjectAltName=DNS:localhost,IP:127.0.0.1\n";
    std::fs::write(folder.join("names"), names).unwrap();
    for name in ["broker", "client"] {
        let subject = format!("/CN={name}");
        let (key_file, request, file) =
            (format!("{name}.key"), format!("{name}.csr"), format!("{name}.pem"));
        let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
        let rest = ["-keyout", &key_file, "-out", &request, "-subj", &subject];
        run(folder, "openssl", &[&["req"], &key[..], &rest[..]].concat());
        let sign = ["x509", "-req", "-in", &request, "-CA", "ca.pem", "-CAkey", "ca.key"];
        let rest = ["-CAcreateserial", "-out", &file, "-days", "2", "-extfile", "names"];
        run(folder, "openssl", &[&sign[..], &rest[..]].concat());
    }
    true
}

async fn first(options: LinkOptions) -> LinkEvent {
    let mut link = Link::open(options).unwrap();
    tokio::time::timeout(LIMIT, link.next()).await.unwrap().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn certificates_and_passwords_are_asked_for_and_given() {
    let Some(program) = Mosquitto::find() else {
        eprintln!("skipped: mosquitto is not installed");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("passwords"), "").unwrap();
    let password = ["-b", "passwords", "sensor", "open sesame"];
    if !certificates(folder.path()) || !run(folder.path(), "mosquitto_passwd", &password) {
        return;
    }
    let line = |key: &str, name: &str| format!("{key} {}", at(name).display());
    let lines = [
        line("cafile", "ca.pem"),
        line("certfile", "broker.pem"),
        line("keyfile", "broker.key"),
        "require_certificate true".into(),
        "allow_anonymous false".into(),
        line("password_file", "passwords"),
    ];
    let mut broker = None;
    for _ in 0..20 {
        let port = free_port().unwrap();
        broker = Mosquitto::start(&program, folder.path(), port, &lines).await.ok();
        if broker.is_some() {
            break;
        }
    }
    let broker = broker.expect("mosquitto starts");
    let identity = Identity { certificate: at("client.pem"), key: at("client.key") };
    let address = Address { secure: true, host: "localhost".into(), port: broker.port() };
    let trusted = client_config(&at("ca.pem"), Some(&identity)).unwrap();
    let good = LinkOptions {
        credentials: Some(("sensor".into(), "open sesame".into())),
        tls: Some(trusted),
        longest_pause: Duration::from_millis(300),
        ..LinkOptions::new(address.clone(), "probe".into())
    };
    assert_eq!(first(good.clone()).await, LinkEvent::Connected);

    // A broker certified by somebody else.
    let stranger = client_config(&at("stranger.pem"), Some(&identity)).unwrap();
    let event = first(LinkOptions { tls: Some(stranger), ..good.clone() }).await;
    assert!(
        matches!(&event, LinkEvent::Lost { reason } if reason.contains("certificate")),
        "{event:?}"
    );
    // No certificate of one's own.
    let nameless = client_config(&at("ca.pem"), None).unwrap();
    let event = first(LinkOptions { tls: Some(nameless), ..good.clone() }).await;
    assert!(matches!(event, LinkEvent::Lost { .. }), "{event:?}");
    // Another password, and none.
    for credentials in [Some(("sensor".into(), "open barley".into())), None] {
        let event = first(LinkOptions { credentials, ..good.clone() }).await;
        assert!(matches!(event, LinkEvent::Refused { .. }), "{event:?}");
    }
    // Encryption that is not configured is not tried without.
    let error = Link::open(LinkOptions { tls: None, ..good.clone() }).unwrap_err().to_string();
    assert!(error.contains("--ca"), "{error}");

    // The whole way, encrypted.
    let bundle = network(10);
    let budget = Budget::certified(&bundle);
    let center = Center::open(&bundle, budget, Pace { deadline: LIMIT, window: 8 }, None).unwrap();
    let mut center = CenterNode::start(center, good.clone()).unwrap();
    until(&mut center, |_, event| *event == CenterEvent::Connected).await;
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let mut nodes = Vec::new();
    for index in 0..3 {
        let sensor = Sensor::open(&bundle, index, budget, &at(&format!("s{index}"))).unwrap();
        let mut node = SensorNode::start(&bundle, sensor, good.clone()).unwrap();
        node.send(1, "2", &mut rng).unwrap();
        nodes.push(node);
    }
    assert!(decisions(&mut center, 1).await[0].missing.is_empty());
}

#[test]
fn files_that_hold_no_certificate_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("empty.pem");
    let error = client_config(&path, None).unwrap_err().to_string();
    assert!(error.contains("empty.pem"), "{error}");
    std::fs::write(&path, "nothing").unwrap();
    let error = client_config(&path, None).unwrap_err().to_string();
    assert!(error.contains("empty.pem") && error.contains("PEM"), "{error}");
}
