//! What one device releases in all: about one question, to one collector, under any number of survey ids.

use crate::common::{TestCurator, golden};
use serde_json::Value;
use undertone_client::{
    AboveConsent, Budget, Client, ClientError, Consent, Device, Level, OverBudget, SecretConsent,
};
use undertone_core::{Draft, LedgerError, Nats, Policy, Provenance, Symbol};

fn symbol(policy: &Policy, at: usize) -> Symbol {
    policy.draft().inputs().symbol(at).unwrap()
}

fn nats(text: &str) -> Nats {
    Nats::parse_down(text).unwrap()
}

/// A golden policy under another identity.
fn marked(name: &str, n: u64) -> Policy {
    let policy = golden(name);
    let draft = policy.draft();
    let provenance = Provenance { n, ..Provenance::default() };
    let (inputs, shape) = (draft.inputs().clone(), draft.shape().clone());
    let (context, claims) = (draft.context().clone(), draft.claims().to_vec());
    let outputs = (draft.outputs() != draft.inputs()).then(|| draft.outputs().clone());
    Draft::new(inputs, outputs, shape, context, claims, provenance).unwrap().verify().unwrap()
}

#[test]
fn fifteen_surveys_with_one_question_share_one_budget() {
    let curator = TestCurator::start();
    let mut client = Client::with_connection(curator.connection(), Device::memory());
    let wordings = ["Do you smoke?", "do you SMOKE", "Do you  smoke ?!"];
    let mut released = 0;
    for at in 0..15u64 {
        let (id, policy) = (format!("survey-{at}"), marked("minimal", at));
        curator.ask(&id, wordings[at as usize % 3], &policy, "open");
        let survey = client.survey(&id).unwrap();
        match client.answer(&survey, symbol(&policy, 0)) {
            Ok(_) => released += 1,
            Err(ClientError::Budget(OverBudget { level: Level::Question, .. })) => {}
            Err(other) => panic!("{other}"),
        }
    }
    assert_eq!(released, 2);
    assert_eq!(client.device().spent("question:doyousmoke"), Some(nats("2.1972245774")));
}

#[test]
fn a_dummy_answer_is_no_new_budget() {
    let curator = TestCurator::start();
    let (two, three) = (golden("minimal_names"), golden("rare_dummy"));
    curator.ask("two", "Do you smoke?", &two, "open");
    curator.ask("three", "Do you smoke?", &three, "open");
    let device = Device::memory_with_budget(nats("1.5"));
    let mut client = Client::with_connection(curator.connection(), device);
    let survey = client.survey("two").unwrap();
    client.answer(&survey, symbol(&two, 0)).unwrap();
    let survey = client.survey("three").unwrap();
    let refused = client.answer(&survey, symbol(&three, 0));
    assert!(matches!(refused, Err(ClientError::Budget(OverBudget { level: Level::Question, .. }))));
}

#[test]
fn a_collector_has_a_budget_over_all_its_questions() {
    let (curator, other) = (TestCurator::start(), TestCurator::start());
    let mut client = Client::with_connection(curator.connection(), Device::memory());
    let mut answered = 0;
    for at in 0..12u64 {
        let (id, policy) = (format!("survey-{at}"), marked("minimal", at));
        curator.ask(&id, &format!("Question number {at}?"), &policy, "open");
        let survey = client.survey(&id).unwrap();
        match client.answer(&survey, symbol(&policy, 0)) {
            Ok(_) => answered += 1,
            Err(ClientError::Budget(OverBudget { level: Level::Collector, spent, .. })) => {
                assert_eq!(spent, nats("8.7888983096"))
            }
            Err(error) => panic!("{error}"),
        }
    }
    assert_eq!(answered, 8);
    assert_eq!(client.device().spent_at(&curator.base), nats("8.7888983096"));
    // A report another collector has already is news to this one, and is charged there.
    let policy = marked("minimal", 0);
    other.ask("elsewhere", "Question number 0?", &policy, "open");
    let mut elsewhere = Client::with_connection(other.connection(), client.into_device());
    let survey = elsewhere.survey("elsewhere").unwrap();
    assert!(elsewhere.answer(&survey, symbol(&policy, 1)).unwrap().repeated);
    assert_eq!(elsewhere.device().spent_at(&other.base), nats("1.0986122887"));
    // The person may raise it.
    let mut client = Client::with_connection(curator.connection(), elsewhere.into_device());
    client.device_mut().set_budget(Level::Collector, Budget::ever(nats("9.9"))).unwrap();
    let survey = client.survey("survey-8").unwrap();
    client.answer(&survey, symbol(&policy, 0)).unwrap();
}

#[test]
fn two_collectors_who_compare_report_ids_do_not_find_one_person() {
    let (one, other, policy) = (TestCurator::start(), TestCurator::start(), golden("minimal"));
    for curator in [&one, &other] {
        curator.ask("survey", "A question?", &policy, "open");
    }
    let mut client = Client::with_connection(one.connection(), Device::memory());
    let survey = client.survey("survey").unwrap();
    let here = client.answer(&survey, symbol(&policy, 0)).unwrap().report;
    let mut client = Client::with_connection(other.connection(), client.into_device());
    let survey = client.survey("survey").unwrap();
    let there = client.answer(&survey, symbol(&policy, 1)).unwrap().report;
    // What was drawn is drawn once; only the id is new.
    assert_eq!((&there.token, there.policy), (&here.token, here.policy));
    assert_ne!(there.id, here.id);
    // Each place is told the same thing again, however often.
    assert_eq!(client.answer(&survey, symbol(&policy, 1)).unwrap().report, there);
    let mut client = Client::with_connection(one.connection(), client.into_device());
    let survey = client.survey("survey").unwrap();
    assert_eq!(client.answer(&survey, symbol(&policy, 1)).unwrap().report, here);
    assert_eq!(client.device().spent("question:aquestion"), policy.ldp());
}

#[test]
fn a_release_without_a_finite_level_does_not_lift_the_collectors_budget() {
    let curator = TestCurator::start();
    let mut device = Device::memory();
    device.set_budget(Level::Collector, Budget::ever(nats("2"))).unwrap();
    let client = Client::with_connection(curator.connection(), device);
    let mut client = client.with_consent(Consent::UNLIMITED);
    let policies = [golden("watchdog_three"), marked("minimal", 1), marked("minimal", 2)];
    for (at, policy) in policies.iter().enumerate() {
        let id = format!("survey-{at}");
        curator.ask(&id, &format!("Question number {at}?"), policy, "open");
        let survey = client.survey(&id).unwrap();
        let outcome = client.answer(&survey, symbol(policy, 0));
        match at {
            2 => assert!(
                matches!(
                    outcome,
                    Err(ClientError::Budget(OverBudget { level: Level::Collector, .. }))
                ),
                "{outcome:?}"
            ),
            _ => assert!(outcome.is_ok(), "{outcome:?}"),
        }
    }
}

/// The pair: the same answers in another order, nought about the secret each, all of it together.
#[test]
fn consent_covers_the_sequence_whatever_the_order_of_answers() {
    let consent = Consent {
        lip: None,
        ldp: None,
        secrets: vec![SecretConsent { name: "first".into(), ldp: Nats::ZERO }],
    };
    let directory = tempfile::tempdir().unwrap();
    for (at, (first, then, allowed)) in [
        ("second_bit", "parity_reordered", false),
        ("second_bit", "second_bit_reordered", true),
        ("second_bit_noisy", "parity_noisy", false),
    ]
    .into_iter()
    .enumerate()
    {
        let curator = TestCurator::start();
        let (first, then) = (golden(first), golden(then));
        curator.publish("first", &first, "open");
        curator.publish("then", &then, "open");
        let path = directory.path().join(format!("{at}.json"));
        let device = Device::create(&path, Device::DEFAULT_BUDGET).unwrap();
        let mut client =
            Client::with_connection(curator.connection(), device).with_consent(consent.clone());
        let survey = client.survey("first").unwrap();
        client.answer(&survey, symbol(&first, 2)).unwrap();
        // What was released is read back from the file.
        drop(client);
        let mut client =
            Client::with_connection(curator.connection(), Device::open(&path).unwrap())
                .with_consent(consent.clone());
        let survey = client.survey("then").unwrap();
        let outcome = client.answer(&survey, symbol(&then, 2));
        match outcome {
            Ok(_) => assert!(allowed),
            Err(ClientError::Consent(AboveConsent::Secret { .. }))
            | Err(ClientError::Ledger(LedgerError::NotComposable { checked: true })) => {
                assert!(!allowed);
            }
            Err(other) => panic!("{other}"),
        }
        assert_eq!(curator.attempts().len(), if allowed { 2 } else { 1 });
    }
}

#[test]
fn belief_is_limited_over_all_answers() {
    let curator = TestCurator::start();
    let (first, then) = (golden("rare_lip"), golden("rare_lip_again"));
    curator.publish("first", &first, "open");
    curator.publish("then", &then, "open");
    let mut refused = 0;
    for _ in 0..20 {
        let mut client =
            Client::with_connection(curator.connection(), Device::memory_with_budget(nats("9")));
        let survey = client.survey("first").unwrap();
        client.answer(&survey, symbol(&first, 1)).unwrap();
        let survey = client.survey("then").unwrap();
        match client.answer(&survey, symbol(&then, 1)) {
            Err(ClientError::Consent(AboveConsent::Lip { attained, .. })) => {
                assert!(attained.unwrap() > nats("1.0986122887"));
                refused += 1;
            }
            Err(ClientError::Consent(AboveConsent::Ldp { .. })) => refused += 1,
            Err(other) => panic!("{other}"),
            Ok(_) => {}
        }
    }
    // After "yes" (three times in four) a second "yes" would reach 2.16; after "no" LDP is the limit.
    assert_eq!(refused, 20);
}

/// The old file, about this curator, with its check made anew.
fn old_file(base: &str) -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../bindings/js/test/data/device-1.json");
    let mut file: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    assert_eq!(file["undertone"], "device/1");
    let was = file["state"]["data"][0]["answers"][0]["curator"].as_str().unwrap().to_owned();
    // The order of fields is part of what is checked, so texts are edited, not values.
    let text = std::fs::read_to_string(path).unwrap().replace(&was, base);
    file = serde_json::from_str(&text).unwrap();
    let state = &text[text.find("\"state\":").unwrap()..];
    let compact: String = compact(&state[state.find('{').unwrap()..]);
    let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let sum = compact.trim_end_matches('}').len();
    let whole = &compact[..sum];
    // The state ends with the last brace but one.
    let closed = format!("{whole}}}");
    let check = format!("{:016x}", closed.bytes().fold(0xcbf2_9ce4_8422_2325, mix));
    text.replace(file["check"].as_str().unwrap(), &check)
}

/// JSON without white space outside of texts; the fixture's texts hold none.
fn compact(text: &str) -> String {
    let mut inside = false;
    text.chars()
        .filter(|&c| {
            if c == '"' {
                inside = !inside;
            }
            inside || !c.is_whitespace()
        })
        .collect()
}

/// A file an older version wrote: what it spent stays spent, whatever surveys are called now.
#[test]
fn an_old_file_is_migrated_and_nothing_is_forgotten() {
    let curator = TestCurator::start();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("device.json");
    std::fs::write(&path, old_file(&curator.base)).unwrap();
    let device = Device::open(&path).unwrap();
    // Two surveys known by their ids, and a datum a program had named.
    assert_eq!(device.answers().count(), 3);
    assert!(device.spent_at(&curator.base) > nats("3.2"));
    assert!(device.spent("weight in 2026").is_some_and(|spent| spent > Nats::ZERO));
    let policy = marked("minimal", 5);
    // A new id with the old question, whose wording the old device did not keep: both old surveys may have
    // asked it, so their 2.197 count.
    curator.ask("renamed", "How do you commute?", &policy, "open");
    curator.ask("commute", "How do you commute?", &golden("minimal"), "open");
    curator.ask("smoking", "Do you smoke?", &golden("minimal"), "open");
    let mut client = Client::with_connection(curator.connection(), device);
    let renamed = client.survey("renamed").unwrap();
    let refused = client.answer(&renamed, symbol(&policy, 0));
    assert!(
        matches!(refused, Err(ClientError::Budget(OverBudget { level: Level::Question, .. }))),
        "{refused:?}"
    );
    // Answering the old surveys again is free and tells the device what they ask.
    for id in ["commute", "smoking"] {
        let survey = client.survey(id).unwrap();
        assert!(client.answer(&survey, symbol(&policy, 0)).unwrap().repeated);
    }
    assert_eq!(client.device().spent("question:howdoyoucommute"), Some(nats("1.0986122887")));
    assert_eq!(client.device().spent("question:doyousmoke"), Some(nats("1.0986122887")));
    client.answer(&renamed, symbol(&policy, 0)).unwrap();
    assert_eq!(client.device().spent("question:howdoyoucommute"), Some(nats("2.1972245774")));
    drop(client);
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains("device/3") && !text.contains("survey:"), "{text}");
    Device::open(&path).unwrap();
}
