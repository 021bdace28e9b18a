//! Packets as bytes and back, and topics.

use super::*;
use proptest::prelude::*;

/// What the demonstration's broker takes.
const LIMIT: usize = 1 << 16;

fn examples() -> Vec<Packet> {
    let will = Will { topic: "a/b".into(), payload: vec![1, 2], qos: 1, retain: true };
    let connect = Connect {
        level: 4,
        clean: true,
        keep_alive: 10,
        client: "me".into(),
        will: Some(will),
        username: Some("u".into()),
        password: Some(b"p".to_vec()),
    };
    let plain = Connect { will: None, username: None, password: None, ..connect.clone() };
    let message = Publish {
        duplicate: false,
        retain: true,
        topic: "x/y".into(),
        id: None,
        payload: vec![9; 300],
    };
    let numbered = Publish { duplicate: true, id: Some(7), ..message.clone() };
    vec![
        Packet::Connect(connect),
        Packet::Connect(plain),
        Packet::ConnAck { present: true, code: 0 },
        Packet::Publish(message),
        Packet::Publish(numbered),
        Packet::PubAck(3),
        Packet::Subscribe { id: 1, filters: vec![("a/+/c".into(), 1), ("#".into(), 0)] },
        Packet::SubAck { id: 1, codes: vec![1, 0x80] },
        Packet::Unsubscribe { id: 2, filters: vec!["a".into()] },
        Packet::UnsubAck(2),
        Packet::PingReq,
        Packet::PingResp,
        Packet::Disconnect,
    ]
}

#[test]
fn packets_survive_and_every_beginning_of_one_waits_for_more() {
    for packet in examples() {
        let bytes = encode(&packet);
        assert_eq!(decode(&bytes, LIMIT), Ok(Some((packet.clone(), bytes.len()))));
        for cut in 0..bytes.len() {
            assert_eq!(decode(&bytes[..cut], LIMIT), Ok(None), "{packet:?} at {cut}");
        }
    }
}

#[test]
fn bytes_of_the_standard() {
    // A connection of client "a", clean, keep alive 60, as the standard lays it out.
    let bytes = [0x10, 13, 0, 4, b'M', b'Q', b'T', b'T', 4, 2, 0, 60, 0, 1, b'a'];
    let (packet, length) = decode(&bytes, LIMIT).unwrap().unwrap();
    assert_eq!(length, 15);
    let Packet::Connect(connect) = packet else { panic!("{packet:?}") };
    assert!(connect.clean && connect.client == "a" && connect.keep_alive == 60);
    for bad in [
        &[0x10, 2, 0, 4][..],               // too short inside
        &[0x36, 5, 0, 1, b'a', 0, 1],       // QoS 3
        &[0x34, 5, 0, 1, b'a', 0, 1],       // QoS 2
        &[0x32, 5, 0, 1, b'a', 0, 0],       // number 0
        &[0x30, 3, 0, 1, b'#'],             // a wildcard in a topic
        &[0x30, 2, 0, 0],                   // no topic
        &[0x82, 2, 0, 1],                   // nothing subscribed to
        &[0x80, 6, 0, 1, 0, 1, b'a', 0],    // flags
        &[0xc0, 1, 0],                      // a ping with a body
        &[0x30, 0xff, 0xff, 0xff, 0xff, 1], // a length of five bytes
        &[0x30, 0xff, 0xff, 0xff, 0x7f],    // 256 MiB
        &[0xf0, 0],
        &[0x00, 0],
    ] {
        assert!(decode(bad, LIMIT).is_err(), "{bad:?}");
    }
}

#[test]
fn filters_take_what_the_standard_says() {
    for (filter, topic, expected) in [
        ("a/b", "a/b", true),
        ("a/b", "a/c", false),
        ("a/+", "a/b", true),
        ("a/+", "a", false),
        ("a/+", "a/b/c", false),
        ("a/#", "a", true),
        ("a/#", "a/b/c", true),
        ("#", "a/b", true),
        ("+/+", "/a", true),
        ("#", "$SYS/x", false),
        ("+/x", "$SYS/x", false),
        ("$SYS/#", "$SYS/x", true),
    ] {
        assert_eq!(matches(filter, topic), expected, "{filter} {topic}");
    }
    for (filter, valid) in
        [("a/#", true), ("a/#/b", false), ("a#", false), ("+", true), ("", false), ("a+/b", false)]
    {
        assert_eq!(valid_filter(filter), valid, "{filter}");
    }
}

proptest! {
    #[test]
    fn whatever_is_read_can_be_written_and_read_again(
        bytes in proptest::collection::vec(any::<u8>(), 0..200),
        at in 0usize..13,
        change in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
    ) {
        let mut near = encode(&examples()[at]);
        for (place, byte) in change {
            let place = place.index(near.len());
            near[place] = byte;
        }
        for bytes in [bytes, near] {
            if let Ok(Some((packet, length))) = decode(&bytes, LIMIT) {
                prop_assert!(length <= bytes.len());
                let again = encode(&packet);
                prop_assert_eq!(decode(&again, LIMIT), Ok(Some((packet, again.len()))));
            }
        }
    }
}
