//! Whatever a curator says of a survey: no panic, and what a device reads it writes the same.

#![no_main]

use libfuzzer_sys::fuzz_target;
use undertone_wire::SurveyDescription;

fuzz_target!(|bytes: &[u8]| {
    let Ok(description) = SurveyDescription::from_json(bytes) else { return };
    let _ = description.answers.0.alphabet();
    if let Some(round) = &description.round {
        let _ = (round.0.is_open(), round.0.group(None), round.0.group(Some("everyone")));
    }
    let again = serde_json::to_vec(&description).unwrap();
    assert_eq!(SurveyDescription::from_json(&again).unwrap(), description);
});
