//! Packets of the demonstration's broker: no panic, bounded, and what is read is written the same.

#![no_main]

#[allow(dead_code)]
#[path = "../../crates/fusion/src/runtime/broker/packet.rs"]
mod packet;

use libfuzzer_sys::fuzz_target;
use packet::{LARGEST, decode, encode};

fuzz_target!(|bytes: &[u8]| {
    // A stream: packet after packet, until one is bad or unfinished.
    let mut rest = bytes;
    while let Ok(Some((packet, length))) = decode(rest) {
        assert!(length <= rest.len() && length <= LARGEST + 5);
        let again = encode(&packet);
        assert_eq!(decode(&again), Ok(Some((packet, again.len()))));
        rest = &rest[length..];
    }
});
