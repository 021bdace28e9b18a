//! Sensors' reports: no panic, and one encoding each.

#![no_main]

use libfuzzer_sys::fuzz_target;
use undertone_wire::SensorReport;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(report) = SensorReport::from_bytes(bytes) {
        assert_eq!(report.to_bytes(), bytes);
    }
});
