//! Surveys that were fetched once and are answered without a network, and what a forged memory of them can do.

use crate::common::{TestCurator, golden};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use undertone_client::{Client, ClientError, Consent, Delivery, Device, FetchError};
use undertone_core::{Draft, Nats, Policy};
use undertone_wire::hex;

const QUESTION: &str = "question:aquestion";

fn surveys(device: &Path) -> PathBuf {
    let mut name = device.as_os_str().to_owned();
    name.push(".surveys");
    name.into()
}

/// A device in a folder, and a curator with one survey.
fn scene() -> (tempfile::TempDir, PathBuf, TestCurator, Policy) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("device.json");
    drop(Device::create(&path, Device::DEFAULT_BUDGET).unwrap());
    let (curator, policy) = (TestCurator::start(), golden("minimal_names"));
    curator.publish("survey", &policy, "open");
    (folder, path, curator, policy)
}

fn client(curator: &TestCurator, path: &Path) -> Client {
    Client::with_connection(curator.connection(), Device::open(path).unwrap())
}

fn is_unavailable<T>(outcome: Result<T, ClientError>) -> bool {
    matches!(outcome, Err(ClientError::Fetch(FetchError::Unavailable { .. })))
}

#[test]
fn a_survey_fetched_once_is_answered_without_a_network() {
    let (_folder, path, curator, policy) = scene();
    let mut first = client(&curator, &path);
    let fetched = first.survey("survey").unwrap();
    assert!(!fetched.is_cached());
    drop(first);

    curator.go_away();
    let mut offline = client(&curator, &path);
    let survey = offline.survey("survey").unwrap();
    assert!(survey.is_cached());
    assert_eq!(survey.policy().id(), policy.id());
    assert_eq!((survey.question(), survey.contact()), ("A question?", "owner@example"));
    assert_eq!((survey.datum(), survey.group()), (QUESTION, "everyone"));
    let answer = offline.answer_named(&survey, "yes").unwrap();
    assert_eq!((answer.delivery, answer.repeated), (Delivery::Waiting, false));
    // Once drawn, it is what every later answer repeats, with a network or without.
    let again = offline.answer_named(&survey, "no").unwrap();
    assert_eq!((&again.report, again.repeated), (&answer.report, true));
    assert_eq!(offline.device().spent(QUESTION), Some(Nats::from_units(10_986_122_887)));
    drop(offline);

    curator.come_back();
    let mut online = client(&curator, &path);
    assert_eq!(online.flush().unwrap().accepted, 1);
    assert_eq!(curator.stored().into_keys().collect::<Vec<_>>(), [answer.report.id.to_string()]);
    assert!(!online.survey("survey").unwrap().is_cached());
}

#[test]
fn a_device_in_memory_keeps_surveys_too_and_only_what_it_saw() {
    let (_folder, _, curator, _) = scene();
    let mut client = Client::with_connection(curator.connection(), Device::memory());
    assert!(client.cached_survey("survey").is_none());
    client.survey("survey").unwrap();
    curator.go_away();
    assert!(client.survey("survey").unwrap().is_cached());
    assert!(client.cached_survey("survey").is_some());
    assert!(is_unavailable(client.survey("other")));
    assert!(is_unavailable(client.survey_of_group("survey", "everyone")), "it was not asked for");
    let other = TestCurator::start();
    other.go_away();
    let mut elsewhere = Client::with_connection(other.connection(), client.into_device());
    assert!(is_unavailable(elsewhere.survey("survey")), "surveys belong to their curator");
}

/// What a curator says now goes before what it said once: memory is for when nobody answers.
#[test]
fn a_curator_that_answers_is_believed() {
    let (_folder, path, curator, policy) = scene();
    let mut client = client(&curator, &path);
    client.survey("survey").unwrap();
    curator.publish("survey", &policy, "sealed");
    assert!(!client.survey("survey").unwrap().is_open());
    curator.go_away();
    assert!(!client.survey("survey").unwrap().is_open(), "and the newer one is kept");
    curator.come_back();
    curator.seen.lock().unwrap().surveys.clear();
    let gone = client.survey("survey");
    assert!(matches!(gone, Err(ClientError::Fetch(FetchError::Refused(_)))));
    curator.ask("survey", "Another?", &golden("bits_11"), "open");
    curator.seen.lock().unwrap().surveys.get_mut("survey").unwrap()["answers"] =
        json!({"indices": 2});
    let cheat = client.survey("survey");
    assert!(matches!(cheat, Err(ClientError::Fetch(FetchError::Answers))));
}

#[test]
fn consent_is_asked_again() {
    let (_folder, path, curator, _) = scene();
    let mut client = client(&curator, &path);
    client.survey("survey").unwrap();
    curator.go_away();
    let less = Consent { ldp: Some(Nats::from_units(10_986_122_886)), ..Consent::default() };
    let mut careful = client.with_consent(less);
    assert!(matches!(careful.survey("survey"), Err(ClientError::Consent(_))));
    // Nor is kept what its owner did not agree to.
    curator.come_back();
    curator.publish("another", &golden("minimal_names"), "open");
    assert!(matches!(careful.survey("another"), Err(ClientError::Consent(_))));
    assert!(careful.cached_survey("another").is_none());
}

/// Whatever is in the file: the survey as it was, or none.
#[test]
fn a_lost_or_forged_memory_can_do_nothing() {
    let (_folder, path, curator, policy) = scene();
    client(&curator, &path).survey("survey").unwrap();
    curator.go_away();
    let file = surveys(&path);
    let whole = std::fs::read(&file).unwrap();
    let good: Value = serde_json::from_slice(&whole).unwrap();
    let ledger = std::fs::read(&path).unwrap();
    let check = |bytes: &[u8], what: &str| {
        std::fs::write(&file, bytes).unwrap();
        let mut client = client(&curator, &path);
        match client.survey("survey") {
            Ok(survey) => {
                assert_eq!(survey.policy().id(), policy.id(), "{what}");
                true
            }
            Err(ClientError::Fetch(FetchError::Unavailable { .. })) => false,
            Err(other) => panic!("{what}: {other}"),
        }
    };
    assert!(check(&whole, "as it was"));
    let one = "/surveys/0";
    let digits = |draft: &Draft| json!(hex::encode(&draft.to_bytes()));
    let lie = {
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../vectors/v1/policy/bad_table_prior_lip.json"
        );
        let file: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        Draft::from_json(&file["document"].to_string()).unwrap()
    };
    for (place, value) in [
        ("/undertone", json!("surveys/2")),
        (one, json!([])),
        ("/surveys/0/curator", json!("https://elsewhere.example")),
        ("/surveys/0/group", json!("others")),
        // A policy that is true of something else, one that is no policy, and one whose claim is false.
        ("/surveys/0/policy", digits(golden("table_prior_lip").draft())),
        ("/surveys/0/policy", json!("00")),
        ("/surveys/0/policy", json!("xyz")),
        ("/surveys/0/policy", digits(&lie)),
        ("/surveys/0/survey/id", json!("another")),
        ("/surveys/0/survey/answers", json!({"names": ["yes", "no"]})),
        ("/surveys/0/survey/answers", json!({"names": ["no", "yes", "maybe"]})),
        ("/surveys/0/survey/round", Value::Null),
        ("/surveys/0/survey/round/groups/0/policy", json!("0".repeat(64))),
        ("/surveys/0/survey/round/groups", json!([])),
    ] {
        let mut forged = good.clone();
        *forged.pointer_mut(place).unwrap() = value;
        assert!(!check(forged.to_string().as_bytes(), place), "{place}");
    }
    // A false claim under its own id.
    let mut forged = good.clone();
    let document: Value = serde_json::from_str(&lie.to_json()).unwrap();
    forged["surveys"][0]["policy"] = digits(&lie);
    forged["surveys"][0]["survey"]["answers"] = document["inputs"].clone();
    forged["surveys"][0]["survey"]["round"]["groups"][0]["policy"] = document["id"].clone();
    assert!(!check(forged.to_string().as_bytes(), "a false claim"));
    for cut in [0, 1, whole.len() / 2, whole.len() - 1] {
        assert!(!check(&whole[..cut], "cut"));
    }
    for at in (0..whole.len()).step_by(11) {
        let mut flipped = whole.clone();
        flipped[at] ^= 1;
        check(&flipped, "flipped");
    }
    std::fs::remove_file(&file).unwrap();
    assert!(is_unavailable(client(&curator, &path).survey("survey")));
    assert_eq!(std::fs::read(&path).unwrap(), ledger, "the ledger was not touched");
}

/// A survey that cannot be kept is answered all the same.
#[test]
fn memory_is_bounded_and_no_condition() {
    let (_folder, path, curator, policy) = scene();
    let mut client = client(&curator, &path);
    for at in 0..40 {
        curator.publish(&format!("survey-{at}"), &policy, "open");
        client.survey(&format!("survey-{at}")).unwrap();
    }
    curator.go_away();
    let kept: Vec<bool> =
        (0..40).map(|at| client.cached_survey(&format!("survey-{at}")).is_some()).collect();
    assert_eq!(kept, [[false; 8].as_slice(), &[true; 32]].concat(), "the newest");
    curator.come_back();
    // A folder in the file's place.
    let file = surveys(&path);
    std::fs::remove_file(&file).unwrap();
    std::fs::create_dir(&file).unwrap();
    assert!(!client.survey("survey").unwrap().is_cached());
    assert!(client.cached_survey("survey").is_none());
}

#[test]
fn answers_by_name() {
    let (_folder, path, curator, policy) = scene();
    let mut client = client(&curator, &path);
    let survey = client.survey("survey").unwrap();
    for unknown in ["Yes", "perhaps", "", "0"] {
        let refused = client.answer_named(&survey, unknown).unwrap_err();
        let said = refused.to_string();
        assert!(matches!(refused, ClientError::NotAnAnswer { .. }), "{said}");
        assert!(said.contains("\"no\", \"yes\""), "{said}");
        // What a person tried to say stays with them.
        assert!(unknown.len() < 4 || !said.contains(unknown), "{said}");
    }
    assert_eq!((client.device().answers().count(), curator.attempts().len()), (0, 0));
    let answer = client.answer_named(&survey, "yes").unwrap();
    assert_eq!(answer.delivery, Delivery::Accepted);
    policy.accepts(&answer.report).unwrap();
}
