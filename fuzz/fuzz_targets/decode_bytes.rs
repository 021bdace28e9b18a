//! Whatever bytes arrive: no panic, and what decodes is canonical and survives its document.

#![no_main]

use libfuzzer_sys::fuzz_target;
use undertone_core::Draft;

fuzz_target!(|bytes: &[u8]| {
    let Ok(draft) = Draft::from_bytes(bytes) else { return };
    assert_eq!(draft.to_bytes(), bytes);
    assert_eq!(Draft::from_json(&draft.to_json()).as_ref(), Ok(&draft));
    // Blocks that a few bytes describe can be many; what takes seconds to sum over is for other tests.
    if draft.shape().outputs() > 1 << 16 {
        return;
    }
    let attained = draft.strength();
    if let Ok(policy) = draft.verify() {
        assert_eq!((policy.certificate().input, policy.certificate().secret), attained);
        assert_eq!(policy.draft().to_bytes(), bytes);
    }
});
