//! Whatever bytes arrive as a plan or as a response: no panic, what decodes is canonical and survives its document, and what is
//! verified holds its own claims again.

#![no_main]

use libfuzzer_sys::fuzz_target;
use undertone_core::{PlanDraft, Response};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(response) = Response::from_bytes(bytes) {
        assert_eq!(response.to_bytes(), bytes);
        assert_eq!(Response::from_json(&response.to_json()).as_ref(), Ok(&response));
    }
    let Ok(draft) = PlanDraft::from_bytes(bytes) else { return };
    assert_eq!(draft.to_bytes(), bytes);
    assert_eq!(PlanDraft::from_json(&draft.to_json()).as_ref(), Ok(&draft));
    let outcomes: usize = draft.parts().policies.iter().map(|p| p.shape().outputs()).sum();
    // What takes seconds to enumerate is for other tests.
    if outcomes <= 24
        && let Ok(plan) = draft.verify()
    {
        assert_eq!(plan.draft().to_bytes(), bytes);
    }
});
