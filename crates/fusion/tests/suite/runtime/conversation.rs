//! What a client says to its broker and how it takes the answers, step by step.

use std::future::ready;
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use undertone_fusion::runtime::packet::{LARGEST, Packet, Publish};
use undertone_fusion::runtime::{Link, LinkEvent, LinkOptions, Message};

use crate::runtime::brokers::LIMIT;
use crate::runtime::scripted::{Peer, Script, delivery, event, loss};

fn message(topic: &str, payload: Vec<u8>) -> Message {
    Message { topic: topic.into(), payload, retain: false }
}

fn publish(id: u16, payload: Vec<u8>) -> Packet {
    let (duplicate, retain) = (false, false);
    Packet::Publish(Publish { duplicate, retain, topic: "a".into(), id: Some(id), payload })
}

/// Answers every sign of life until a message arrives.
async fn published(peer: &mut Peer) -> Publish {
    loop {
        match peer.next().await.expect("the client stays") {
            Packet::Publish(message) => return message,
            Packet::PingReq => peer.say(&Packet::PingResp).await,
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broker_that_answers_is_kept_and_one_that_is_silent_is_lost() {
    let script = Script::start().await;
    let options = LinkOptions { keep_alive: Duration::from_secs(1), ..script.options() };
    let mut link = Link::open(options).unwrap();
    let mut peer = script.welcome().await;
    assert_eq!(event(&mut link).await, LinkEvent::Connected);
    for _ in 0..3 {
        assert_eq!(peer.next().await, Some(Packet::PingReq));
        peer.say(&Packet::PingResp).await;
    }
    // The connection stands, and nothing is said any more.
    let reason = loss(&mut link).await;
    assert!(reason.contains("no sign of life"), "{reason}");
    // It comes back by itself, with the message that was not acknowledged.
    link.publish(message("a", vec![1])).unwrap();
    let mut peer = script.welcome().await;
    assert_eq!(published(&mut peer).await.payload, [1]);
    drop(peer);
    let mut peer = script.welcome().await;
    let again = published(&mut peer).await;
    peer.say(&Packet::PubAck(again.id.unwrap())).await;
    assert!(link.flushed(LIMIT).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broker_waits_for_a_client_that_does_not_listen_and_loses_nothing() {
    const MESSAGES: u16 = 2000;
    let script = Script::start().await;
    let options = LinkOptions {
        keep_alive: Duration::from_secs(1),
        filters: vec!["a".into()],
        ..script.options()
    };
    let mut link = Link::open(options).unwrap();
    let mut peer = script.welcome().await;
    let Some(Packet::Subscribe { id, .. }) = peer.next().await else { panic!("no subscription") };
    peer.say(&Packet::SubAck { id, codes: vec![1] }).await;
    // Twenty megabytes, far more than the connection and the queue of events hold.
    let (reader, mut writer) = peer.stream.into_split();
    let writing = tokio::spawn(async move {
        for id in 1..=MESSAGES {
            let bytes =
                undertone_fusion::runtime::packet::encode(&publish(id, vec![id as u8; 10_000]));
            writer.write_all(&bytes).await.unwrap();
        }
        writer
    });
    // The client lives, although nobody takes what it received.
    let mut heard = Heard { reader, bytes: Vec::new(), acknowledged: 0 };
    for _ in 0..2 {
        heard.until_ping().await;
    }
    assert!(heard.acknowledged < MESSAGES && !writing.is_finished());
    let reading = tokio::spawn(async move {
        while heard.acknowledged < MESSAGES {
            heard.step().await;
        }
    });
    for id in 1..=MESSAGES {
        assert_eq!(delivery(&mut link).await, ("a".into(), vec![id as u8; 10_000]));
    }
    let writer = tokio::time::timeout(LIMIT, writing).await.unwrap().unwrap();
    tokio::time::timeout(LIMIT, reading).await.unwrap().unwrap();
    drop(writer);
}

/// What a client sends to a broker that says nothing but messages.
struct Heard {
    reader: tokio::net::tcp::OwnedReadHalf,
    bytes: Vec<u8>,
    /// Acknowledgements, which come in order.
    acknowledged: u16,
}

impl Heard {
    /// Takes the next packet; whether it was a sign of life.
    async fn step(&mut self) -> bool {
        use tokio::io::AsyncReadExt;
        use undertone_fusion::runtime::packet::decode;
        loop {
            if let Some((packet, length)) = decode(&self.bytes, LARGEST).unwrap() {
                self.bytes.drain(..length);
                match packet {
                    Packet::PingReq => return true,
                    Packet::PubAck(id) => {
                        assert_eq!(id, self.acknowledged + 1);
                        self.acknowledged = id;
                        return false;
                    }
                    other => panic!("{other:?}"),
                }
            }
            let read = self.reader.read_buf(&mut self.bytes);
            assert!(tokio::time::timeout(LIMIT, read).await.unwrap().unwrap() > 0, "it left");
        }
    }

    async fn until_ping(&mut self) {
        while !self.step().await {}
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_nobody_takes_any_more_is_left_to_the_broker() {
    let script = Script::start().await;
    let link = Link::open(LinkOptions { filters: vec!["a".into()], ..script.options() }).unwrap();
    let mut peer = script.welcome().await;
    let Some(Packet::Subscribe { id, .. }) = peer.next().await else { panic!("no subscription") };
    peer.say(&Packet::SubAck { id, codes: vec![1] }).await;
    link.publish(message("b", vec![2])).unwrap();
    let sent = published(&mut peer).await;
    // From its first step on, whoever closes listens no more.
    let mut closing = Box::pin(link.close(LIMIT));
    tokio::select! {
        biased;
        flushed = &mut closing => panic!("{flushed} before the message was acknowledged"),
        () = ready(()) => {}
    }
    peer.say(&publish(7, vec![3])).await;
    peer.say(&Packet::PubAck(sent.id.unwrap())).await;
    let rest = tokio::spawn(async move {
        let mut rest = Vec::new();
        while let Some(packet) = peer.next().await {
            rest.push(packet);
        }
        rest
    });
    assert!(closing.await);
    assert_eq!(rest.await.unwrap(), [Packet::Disconnect]);
}

#[tokio::test(flavor = "multi_thread")]
async fn refusals_say_why_and_only_some_are_final() {
    for (code, words, last) in [
        (1, "MQTT 3.1.1", true),
        (2, "name", true),
        (3, "not available", false),
        (4, "password", true),
        (5, "does not let this client in", true),
        (9, "unknown code 9", false),
    ] {
        let script = Script::start().await;
        let mut link = Link::open(script.options()).unwrap();
        let mut peer = script.accept().await;
        assert!(matches!(peer.next().await, Some(Packet::Connect(_))));
        peer.say(&Packet::ConnAck { present: false, code }).await;
        let (reason, refused) = match event(&mut link).await {
            LinkEvent::Lost { reason } => (reason, false),
            LinkEvent::Refused { reason } => (reason, true),
            other => panic!("{other:?}"),
        };
        assert!(reason.contains(words) && reason.contains(&script.port().to_string()), "{reason}");
        assert_eq!(refused, last, "{reason}");
    }
    // A topic that may not be heard.
    let script = Script::start().await;
    let filters = vec!["a".into(), "b/#".into()];
    let mut link = Link::open(LinkOptions { filters, ..script.options() }).unwrap();
    let mut peer = script.welcome().await;
    let Some(Packet::Subscribe { id, .. }) = peer.next().await else { panic!("no subscription") };
    peer.say(&Packet::SubAck { id, codes: vec![1, 0x80] }).await;
    let event = event(&mut link).await;
    assert!(matches!(&event, LinkEvent::Refused { reason } if reason.contains("b/#")), "{event:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broker_that_breaks_the_rules_is_left() {
    for (bytes, words) in [
        (&[0x40, 2, 0, 9][..], "acknowledged a message"),
        (&[0xf0, 0], "unknown kind"),
        (&[0xc0, 0], "only a client sends"),
        (&[0x30, 0xff, 0xff, 0xff, 0xff, 1], "length"),
        (&[], "closed the connection"),
    ] {
        let script = Script::start().await;
        let mut link = Link::open(script.options()).unwrap();
        let mut peer = script.welcome().await;
        assert_eq!(event(&mut link).await, LinkEvent::Connected);
        peer.stream.write_all(bytes).await.unwrap();
        if bytes.is_empty() {
            drop(peer);
        }
        let reason = loss(&mut link).await;
        assert!(reason.contains(words), "{reason}");
        let _again = script.welcome().await;
    }
    // Before it has accepted the client, encryption may be what is missing.
    let script = Script::start().await;
    let mut link = Link::open(script.options()).unwrap();
    let mut peer = script.accept().await;
    // An alert of TLS.
    peer.stream.write_all(&[0x15, 3, 3, 0, 2, 2, 0x46]).await.unwrap();
    let reason = loss(&mut link).await;
    assert!(reason.contains("mqtts://"), "{reason}");
    let port = script.port();
    drop((script, peer, link));
    // Nobody at all.
    let address = undertone_fusion::runtime::Address::local(port);
    let mut link = Link::open(LinkOptions::new(address, "client".into())).unwrap();
    let reason = loss(&mut link).await;
    assert!(reason.contains("no connection") && reason.contains("refused"), "{reason}");
}

#[tokio::test]
async fn what_mqtt_cannot_say_is_refused_before_it_is_sent() {
    let script = Script::start().await;
    let refused = |options: LinkOptions, words: &str| {
        let error = Link::open(options).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    };
    let long = "x".repeat(65_536);
    refused(LinkOptions { client: long.clone(), ..script.options() }, "client");
    let credentials = |name: &str, password: &str| LinkOptions {
        credentials: Some((name.into(), password.into())),
        ..script.options()
    };
    refused(credentials(&long, "p"), "user name");
    refused(credentials("u\0", "p"), "user name");
    refused(credentials("u", &long), "password");
    let will = Some(message("a", vec![0; 65_536]));
    refused(LinkOptions { will, ..script.options() }, "last will");
    refused(LinkOptions { filters: vec!["a/#/b".into()], ..script.options() }, "a/#/b");
    refused(LinkOptions { filters: vec!["a\0".into()], ..script.options() }, "filter");
    let link = Link::open(script.options()).unwrap();
    for topic in ["", "a/+", "a\0", &long] {
        assert!(link.publish(message(topic, vec![])).is_err(), "{topic:?}");
    }
    // Not touched, and so hardly any memory.
    let error = link.publish(message("a", vec![0; LARGEST - 4])).unwrap_err().to_string();
    assert!(error.contains("268435450 at most"), "{error}");
    assert_eq!(link.waiting(), 0);
}
