//! Sensors' reports: no panic, and one encoding each.

#![no_main]

#[path = "../../crates/fusion/src/runtime/report.rs"]
mod report;

use libfuzzer_sys::fuzz_target;
use report::Report;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(report) = Report::from_bytes(bytes) {
        assert_eq!(report.to_bytes(), bytes);
    }
});
