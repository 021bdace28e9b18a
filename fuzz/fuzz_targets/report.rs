//! Reports, as bytes and as JSON: no panic, and one encoding each.

#![no_main]

use libfuzzer_sys::fuzz_target;
use undertone_core::Report;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(report) = Report::from_bytes(bytes) {
        assert_eq!(report.to_bytes(), bytes);
        assert_eq!(Report::from_json(&report.to_json()), Ok(report));
    }
    if let Ok(text) = core::str::from_utf8(bytes)
        && let Ok(report) = Report::from_json(text)
    {
        assert_eq!(Report::from_bytes(&report.to_bytes()), Ok(report));
    }
});
