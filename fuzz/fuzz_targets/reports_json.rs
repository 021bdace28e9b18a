//! Whatever JSON arrives as reports: no panic, and what is read is what the kernel reads.

#![no_main]

use libfuzzer_sys::fuzz_target;
use undertone_core::Report;
use undertone_wire::limits::MOST_REPORTS;
use undertone_wire::{reports_from_json, reports_to_json};

fuzz_target!(|bytes: &[u8]| {
    let alone = core::str::from_utf8(bytes).ok().and_then(|text| Report::from_json(text).ok());
    let Ok(reports) = reports_from_json(bytes) else {
        // The kernel is the reference for a single report.
        assert_eq!(alone, None);
        return;
    };
    assert!((1..=MOST_REPORTS).contains(&reports.len()));
    for report in &reports {
        assert_eq!(Report::from_json(&report.to_json()).as_ref(), Ok(report));
    }
    if let Some(alone) = alone {
        assert_eq!(reports, [alone]);
    }
    // A list of them reads the same.
    let list: Vec<String> = reports.iter().map(Report::to_json).collect();
    let again = format!("{{\"reports\":[{}]}}", list.join(","));
    assert_eq!(reports_from_json(again.as_bytes()).as_ref(), Ok(&reports));
    let written = reports_to_json(&reports).unwrap();
    assert_eq!(reports_from_json(&written), Ok(reports));
});
