//! Packets of MQTT, as the client and the demonstration's broker read them: no panic, bounded, and what is read is written the same.

#![no_main]

#[allow(dead_code)]
#[path = "../../crates/fusion/src/runtime/packet.rs"]
mod packet;

use libfuzzer_sys::fuzz_target;
use packet::{decode, encode};

/// What the demonstration's broker takes.
const LARGEST: usize = 1 << 16;

fuzz_target!(|bytes: &[u8]| {
    // A stream: packet after packet, until one is bad or unfinished.
    let mut rest = bytes;
    while let Ok(Some((packet, length))) = decode(rest, LARGEST) {
        assert!(length <= rest.len() && length <= LARGEST + 5);
        let again = encode(&packet);
        assert_eq!(decode(&again, LARGEST), Ok(Some((packet, again.len()))));
        rest = &rest[length..];
    }
});
