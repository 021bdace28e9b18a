//! Whatever text arrives: no panic, and what decodes has bytes that decode to the same.

#![no_main]

use libfuzzer_sys::fuzz_target;
use undertone_core::Draft;

fuzz_target!(|text: &str| {
    let Ok(draft) = Draft::from_json(text) else { return };
    assert_eq!(Draft::from_bytes(&draft.to_bytes()).as_ref(), Ok(&draft));
    assert_eq!(Draft::from_json(&draft.to_json()).as_ref(), Ok(&draft));
    let _ = draft.verify();
});
