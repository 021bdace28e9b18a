//! Certificates and passwords, with real brokers.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::time::Duration;

use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use tokio::io::AsyncReadExt;
use tokio::net::TcpListener;
use undertone_fusion::runtime::packet::Packet;
use undertone_fusion::runtime::{
    Address, Broker, Budget, Center, CenterEvent, CenterNode, Link, LinkEvent, LinkOptions,
    Message, Mosquitto, Pace, Sensor, SensorNode, client_config, free_port,
};

use crate::runtime::brokers::{LIMIT, decisions, until};
use crate::runtime::certificates::{Certificates, Front, run};
use crate::runtime::network::network;
use crate::runtime::scripted::{Script, delivery, event, loss, until_lost};

fn secure(host: &str, port: u16) -> Address {
    Address { secure: true, host: host.into(), port }
}

/// A client that trusts `ca` and proves itself as `identity`, if there is one.
fn options(made: &Certificates, port: u16, identity: Option<&str>) -> LinkOptions {
    let identity = identity.map(|name| made.identity(name));
    LinkOptions {
        tls: Some(client_config(&made.at("ca.pem"), identity.as_ref()).unwrap()),
        longest_pause: Duration::from_millis(300),
        ..LinkOptions::new(secure("localhost", port), "client".into())
    }
}

/// Why a client with these options is not connected.
async fn reason(options: LinkOptions) -> String {
    loss(&mut Link::open(options).unwrap()).await
}

async fn first(options: LinkOptions) -> LinkEvent {
    event(&mut Link::open(options).unwrap()).await
}

#[tokio::test(flavor = "multi_thread")]
async fn certificates_and_passwords_are_asked_for_and_given() {
    let Some(program) = Mosquitto::find() else {
        eprintln!("skipped: mosquitto is not installed");
        return;
    };
    let Some(made) = Certificates::make() else { return };
    let at = |name: &str| made.at(name);
    std::fs::write(at("passwords"), "").unwrap();
    let password = ["-b", "passwords", "sensor", "open sesame"];
    if !run(made.folder(), "mosquitto_passwd", &password) {
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
        broker = Mosquitto::start(&program, made.folder(), port, &lines).await.ok();
        if broker.is_some() {
            break;
        }
    }
    let broker = broker.expect("mosquitto starts");
    let good = LinkOptions {
        credentials: Some(("sensor".into(), "open sesame".into())),
        ..options(&made, broker.port(), Some("client"))
    };
    assert_eq!(first(good.clone()).await, LinkEvent::Connected);

    // A broker certified by somebody else.
    let identity = made.identity("client");
    let stranger = client_config(&at("stranger.pem"), Some(&identity)).unwrap();
    let why = reason(LinkOptions { tls: Some(stranger), ..good.clone() }).await;
    assert!(why.contains("not signed by the authority"), "{why}");
    // No certificate of one's own.
    let nameless = client_config(&at("ca.pem"), None).unwrap();
    let why = reason(LinkOptions { tls: Some(nameless), ..good.clone() }).await;
    assert!(why.contains("give one, and its key"), "{why}");
    // Another password, and none.
    for credentials in [Some(("sensor".into(), "open barley".into())), None] {
        let event = first(LinkOptions { credentials, ..good.clone() }).await;
        assert!(matches!(event, LinkEvent::Refused { .. }), "{event:?}");
    }
    // Encryption that is not configured is not tried without.
    let error = Link::open(LinkOptions { tls: None, ..good.clone() }).unwrap_err().to_string();
    assert!(error.contains("give the certificate of the authority"), "{error}");

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

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_with_a_certificate_is_named() {
    let Some(made) = Certificates::make() else { return };
    let broker = Broker::start(0).await.unwrap();
    let front = async |name: &str| Front::start(0, made.server(name, false), broker.port()).await;
    // The broker's.
    let good = front("broker").await;
    assert_eq!(first(options(&made, good.port, None)).await, LinkEvent::Connected);
    let stranger = client_config(&made.at("stranger.pem"), None).unwrap();
    let why = reason(LinkOptions { tls: Some(stranger), ..options(&made, good.port, None) }).await;
    assert!(why.contains("certificate is not signed by the authority"), "{why}");
    assert!(why.contains(&format!("mqtts://localhost:{}", good.port)), "{why}");
    let elsewhere = front("elsewhere").await;
    let why = reason(options(&made, elsewhere.port, None)).await;
    assert!(why.contains("elsewhere.example") && why.contains("not for localhost"), "{why}");
    let expired = front("expired").await;
    let why = reason(options(&made, expired.port, None)).await;
    assert!(why.contains("has expired"), "{why}");
    // A certificate can be for a number as well.
    let number = LinkOptions { address: secure("127.0.0.1", good.port), ..options(&made, 1, None) };
    assert_eq!(first(number).await, LinkEvent::Connected);
    let host = Ipv6Addr::LOCALHOST.into();
    match Front::start_at(host, 0, made.server("broker", false), broker.port()).await {
        Err(_) => eprintln!("skipped: no IPv6 on this machine"),
        Ok(front) => {
            let address = secure("[::1]", front.port);
            let number = LinkOptions { address, ..options(&made, 1, None) };
            assert_eq!(first(number).await, LinkEvent::Connected);
        }
    }
    let nowhere = LinkOptions { address: secure("a_b..c", 1), ..options(&made, 1, None) };
    let error = Link::open(nowhere).unwrap_err().to_string();
    assert!(error.contains("DNS name"), "{error}");
    // The client's.
    let asking = Front::start(0, made.server("broker", true), broker.port()).await;
    let client = options(&made, asking.port, Some("client"));
    assert_eq!(first(client).await, LinkEvent::Connected);
    let why = reason(options(&made, asking.port, None)).await;
    assert!(why.contains("asks for a certificate of this client"), "{why}");
    let why = reason(options(&made, asking.port, Some("intruder"))).await;
    assert!(why.contains("does not accept this client's certificate"), "{why}");
    // No TLS where it is expected, and the other way round.
    let why = reason(options(&made, broker.port(), None)).await;
    assert!(why.contains("TLS"), "{why}");
    let address = Address::local(good.port);
    let why = reason(LinkOptions { address, tls: None, ..options(&made, 1, None) }).await;
    assert!(why.contains("mqtts://"), "{why}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broker_that_goes_away_during_tls_comes_back_and_nothing_is_lost() {
    let Some(made) = Certificates::make() else { return };
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let mut link = Link::open(LinkOptions {
        filters: vec!["a".into()],
        lasting: true,
        ..options(&made, port, Some("client"))
    })
    .unwrap();
    let publish = |link: &Link, payload: u8| {
        let message = Message { topic: "a".into(), payload: vec![payload], retain: false };
        link.publish(message).unwrap();
    };
    (0..10).for_each(|payload| publish(&link, payload));
    // In the middle of the handshake.
    let (mut stream, _) = listener.accept().await.unwrap();
    assert!(stream.read(&mut [0; 16]).await.unwrap() > 0);
    drop((stream, listener));
    let why = loss(&mut link).await;
    assert!(why.contains("closed the connection during the TLS handshake"), "{why}");
    // For good, three times, in the middle of the conversation.
    let broker = Broker::start(0).await.unwrap();
    let mut heard = Vec::new();
    for round in 1..=3 {
        let front = Front::start(port, made.server("broker", true), broker.port()).await;
        while heard.len() < 10 * usize::from(round) {
            let (_, payload) = delivery(&mut link).await;
            // At least once, and in order.
            if !heard.contains(&payload[0]) {
                heard.push(payload[0]);
            }
        }
        front.stop().await;
        let why = until_lost(&mut link).await;
        assert!(why.contains("closed the connection"), "{why}");
        let first = 10 * round;
        (first..first + 10).for_each(|payload| publish(&link, payload));
    }
    assert_eq!(heard, (0..30).collect::<Vec<u8>>());
    let front = Front::start(port, made.server("broker", true), broker.port()).await;
    assert!(link.close(LIMIT).await);
    front.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn large_messages_travel_encrypted_both_ways_at_once() {
    let Some(made) = Certificates::make() else { return };
    let script = Script::start().await;
    let front = Front::start(0, made.server("broker", false), script.port()).await;
    let filters = vec!["a".into()];
    let mut link = Link::open(LinkOptions { filters, ..options(&made, front.port, None) }).unwrap();
    let payload: Vec<u8> =
        (0..24_000_000u32).map(|at| (at.wrapping_mul(2_654_435_769) >> 24) as u8).collect();
    for _ in 0..2 {
        let message = Message { topic: "a".into(), payload: payload.clone(), retain: false };
        link.publish(message).unwrap();
    }
    let echo = tokio::spawn(async move {
        let mut peer = script.welcome().await;
        while let Some(packet) = peer.next().await {
            match packet {
                Packet::Subscribe { id, .. } => {
                    peer.say(&Packet::SubAck { id, codes: vec![1] }).await
                }
                Packet::Publish(message) => {
                    // The acknowledgement first: the client's second message meets the first on its way back.
                    peer.say(&Packet::PubAck(message.id.unwrap())).await;
                    peer.say(&Packet::Publish(message)).await;
                }
                Packet::PingReq => peer.say(&Packet::PingResp).await,
                Packet::PubAck(_) | Packet::Disconnect => {}
                other => panic!("{other:?}"),
            }
        }
    });
    for _ in 0..2 {
        let (topic, heard) = delivery(&mut link).await;
        assert!(topic == "a" && heard == payload, "{topic} {}", heard.len());
    }
    assert!(link.close(LIMIT).await);
    tokio::time::timeout(LIMIT, echo).await.unwrap().unwrap();
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
