//! Whatever body arrives as a new survey: no panic, and what is accepted survives being stored.

#![no_main]

#[allow(dead_code)]
#[path = "../../crates/curator/src/service/plan.rs"]
mod plan;
#[allow(dead_code)]
#[path = "../../crates/curator/src/service/survey.rs"]
mod survey;

use libfuzzer_sys::fuzz_target;
use survey::{Phase, Survey, SurveyBody};

fuzz_target!(|bytes: &[u8]| {
    let Ok(body) = SurveyBody::from_json(bytes) else { return };
    let answers = body.alphabet().unwrap();
    assert!(answers.len() >= 2);
    assert!(body.plan.epsilon().is_ok() && body.plan.total().is_ok() && body.plan.cap().is_ok());
    assert!(!body.plan.groups(body.group_minimum).is_empty());
    let survey = Survey { body, created: 0, rounds: Vec::new(), phase: Phase::default() };
    assert_eq!(Survey::from_json(&survey.to_json()).unwrap(), survey);
});
