//! The client against a curator that loses answers, is busy, refuses, or is not there.

use crate::common::{self, Fault, TestCurator, golden, quick};
use std::io::Write;
use undertone_client::{
    AboveConsent, BatchForm, Budget, Client, ClientError, Connection, Consent, Delivery, Device,
    FetchError, Level, OverBudget, SecretConsent, SubmitError,
};
use undertone_core::{Nats, Policy, Sequence, Symbol, Token};

fn symbol(policy: &Policy, at: usize) -> Symbol {
    policy.draft().inputs().symbol(at).unwrap()
}

fn nats(text: &str) -> Nats {
    Nats::parse_down(text).unwrap()
}

fn published(name: &str) -> (TestCurator, Policy) {
    let (curator, policy) = (TestCurator::start(), golden(name));
    curator.publish("survey", &policy, "open");
    (curator, policy)
}

#[test]
fn an_answer_is_drawn_remembered_and_sent_once() {
    let (curator, policy) = published("minimal");
    let mut client = Client::with_connection(curator.connection(), Device::memory());
    let survey = client.survey("survey").unwrap();
    assert_eq!((survey.question(), survey.people(), survey.is_open()), ("A question?", 1000, true));
    let first = client.answer(&survey, symbol(&policy, 0)).unwrap();
    assert_eq!((first.delivery.clone(), first.repeated), (Delivery::Accepted, false));
    policy.accepts(&first.report).unwrap();
    // Whatever the answer is now.
    let again = client.answer(&survey, symbol(&policy, 1)).unwrap();
    assert_eq!((again.report, again.repeated), (first.report, true));
    assert_eq!(curator.stored().into_values().collect::<Vec<_>>(), [1]);
    assert_eq!(client.device().spent("question:aquestion"), Some(nats("1.0986122887")));
}

#[test]
fn lost_answers_are_repeated_with_the_same_report_id() {
    let (curator, policy) = published("minimal");
    for fault in [Fault::Lost, Fault::Cut, Fault::Busy, Fault::Portal, Fault::Short] {
        let (before, stored) = (curator.attempts().len(), curator.stored().len());
        curator.fault(fault);
        let mut client = Client::with_connection(curator.connection(), Device::memory());
        let survey = client.survey("survey").unwrap();
        let answer = client.answer(&survey, symbol(&policy, 0)).unwrap();
        assert_eq!(answer.delivery, Delivery::Accepted);
        let attempts = curator.attempts()[before..].to_vec();
        assert_eq!(attempts, vec![vec![answer.report.id.to_string()]; 2]);
        assert_eq!(curator.stored().len(), stored + 1);
    }
}

#[test]
fn patience_ends_and_the_report_waits() {
    let (curator, policy) = published("minimal");
    (0..3).for_each(|_| curator.fault(Fault::Problem(429, "too_many_requests")));
    let mut client = Client::with_connection(curator.connection(), Device::memory());
    let survey = client.survey("survey").unwrap();
    let answer = client.answer(&survey, symbol(&policy, 0)).unwrap();
    assert_eq!(answer.delivery, Delivery::Waiting);
    assert!(answer.obstacle.unwrap().contains("429"));
    assert_eq!((curator.attempts().len(), client.device().waiting()), (3, 1));
    assert_eq!(client.flush().unwrap().accepted, 1);
    assert_eq!(client.device().waiting(), 0);
    assert_eq!(curator.stored().len(), 1);
}

#[test]
fn final_refusals_are_not_repeated() {
    let (curator, policy) = published("minimal");
    curator.fault(Fault::Problem(409, "round_sealed"));
    let mut client = Client::with_connection(curator.connection(), Device::memory());
    let survey = client.survey("survey").unwrap();
    let answer = client.answer(&survey, symbol(&policy, 0)).unwrap();
    let Delivery::Refused(problem) = answer.delivery else { panic!("{:?}", answer.delivery) };
    assert_eq!((problem.status, problem.code.as_str()), (409, "round_sealed"));
    assert_eq!(curator.attempts().len(), 1);
    assert_eq!(client.flush().unwrap(), undertone_client::Flushed::default());
}

#[test]
fn offline_reports_wait_and_go_in_batches_in_both_forms() {
    for (name, form) in [
        ("minimal", BatchForm::Json),
        ("minimal", BatchForm::Binary),
        ("bits_11", BatchForm::Binary),
        ("keep_300", BatchForm::Json),
    ] {
        let (curator, policy) = published(name);
        let consent = Consent { lip: Some(nats("100")), ldp: Some(nats("100")), secrets: vec![] };
        let mut device = Device::memory_with_budget(nats("100"));
        for level in [Level::Collector, Level::Device] {
            device.set_budget(level, Budget::ever(nats("1000"))).unwrap();
        }
        let mut client = Client::with_connection(curator.connection(), device)
            .with_consent(consent)
            .with_form(form);
        let survey = client.survey("survey").unwrap();
        for person in 0..5 {
            let about = survey.clone().about(&format!("person {person}"));
            client.record(&about, symbol(&policy, 1)).unwrap();
        }
        assert_eq!((client.device().waiting(), curator.attempts().len()), (5, 0));
        // The batch is refused for one bad report, then each goes by itself and one is refused.
        curator.fault(Fault::Problem(422, "token_out_of_range"));
        curator.fault(Fault::Problem(422, "token_out_of_range"));
        let flushed = client.flush().unwrap();
        assert_eq!((flushed.accepted, flushed.refused, flushed.waiting), (4, 1, 0));
        let sizes: Vec<usize> = curator.attempts().iter().map(Vec::len).collect();
        assert_eq!(sizes, [5, 1, 1, 1, 1, 1]);
        assert_eq!(curator.stored().len(), 4);
        let kinds = curator.seen.lock().unwrap().kinds.clone();
        assert!(kinds.iter().all(|kind| kind == form.media_type()), "{kinds:?}");
    }
}

#[test]
fn a_batch_that_is_too_large_goes_in_parts() {
    for (name, form) in [("minimal", BatchForm::Json), ("bits_11", BatchForm::Binary)] {
        let (curator, policy) = published(name);
        let consent = Consent::UNLIMITED;
        let mut device = Device::memory_with_budget(nats("100"));
        for level in [Level::Collector, Level::Device] {
            device.set_budget(level, Budget::ever(nats("1000"))).unwrap();
        }
        let mut client = Client::with_connection(curator.connection(), device)
            .with_consent(consent)
            .with_form(form);
        let survey = client.survey("survey").unwrap();
        let record = |client: &mut Client, people: std::ops::Range<usize>| {
            for person in people {
                let about = survey.clone().about(&format!("person {person}"));
                client.record(&about, symbol(&policy, 1)).unwrap();
            }
        };
        // Eleven reports fit into a body and twelve do not.
        record(&mut client, 0..50);
        let reports: Vec<_> =
            client.device().answers().map(|(_, one)| one.report.clone()).collect();
        let largest = form.encode(&reports[..11]).unwrap().len();
        assert!(form.encode(&reports[..12]).unwrap().len() > largest);
        curator.seen.lock().unwrap().largest = Some(largest);
        let flushed = client.flush().unwrap();
        assert_eq!((flushed.accepted, flushed.refused, flushed.waiting), (50, 0, 0));
        let sizes: Vec<usize> = curator.attempts().iter().map(Vec::len).collect();
        assert_eq!(sizes, [50, 25, 12, 6, 6, 6, 7, 6, 6, 6, 7], "halves, and no length twice");
        assert!(curator.stored().values().all(|&times| times == 1));
        assert_eq!(curator.stored().len(), 50);
        // What was learnt is kept: the next batch is not tried at lengths that were refused.
        let before = curator.attempts().len();
        record(&mut client, 50..70);
        assert_eq!(client.flush().unwrap().accepted, 20);
        let sizes: Vec<usize> = curator.attempts()[before..].iter().map(Vec::len).collect();
        assert_eq!(sizes, [10, 10]);
        // One report that is too large is refused for good.
        curator.seen.lock().unwrap().largest = Some(1);
        record(&mut client, 70..72);
        assert_eq!(client.flush().unwrap().refused, 2);
        assert_eq!(client.device().waiting(), 0);
    }
}

/// A curator that never stops sending costs no more than what a device would use.
#[test]
fn what_has_no_end_is_not_fetched() {
    let (curator, policy) = published("keep_300");
    let length = policy.draft().to_bytes().len() as u64;
    let small = curator.connection().with_policy_limit(length - 1);
    match small.policy(policy.id()) {
        Err(FetchError::TooLarge { what: "the policy", limit }) => assert_eq!(limit, length - 1),
        other => panic!("{other:?}"),
    }
    assert_eq!(curator.seen.lock().unwrap().fetched, 1, "and is not tried again");
    curator.connection().with_policy_limit(length).policy(policy.id()).unwrap();

    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let sending = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let head = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
        let chunk = [b"10000\r\n", &[b' '; 1 << 16][..], b"\r\n"].concat();
        stream.write_all(head).unwrap();
        let mut sent = 0;
        while stream.write_all(&chunk).is_ok() {
            sent += chunk.len();
        }
        sent
    });
    let endless = quick(&base);
    assert!(matches!(endless.survey("one"), Err(FetchError::TooLarge { what: "the survey", .. })));
    drop(endless);
    let sent = sending.join().unwrap();
    assert!(sent < 40 << 20, "{sent} bytes were taken");
}

#[test]
fn nobody_there() {
    let (curator, policy) = published("minimal");
    let survey = curator.connection().survey("survey").unwrap();
    // A port that was free a moment ago.
    let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut client = Client::with_connection(quick(&format!("http://{gone}")), Device::memory());
    assert!(matches!(
        client.survey("survey"),
        Err(ClientError::Fetch(FetchError::Unavailable { .. }))
    ));
    assert!(matches!(
        client.answer(&survey, symbol(&policy, 0)),
        Err(ClientError::OtherCurator { .. })
    ));
}

#[test]
fn consent_is_held_against_what_is_attained() {
    let cases = [
        // Default consent accepts exactly ln 3 without a context.
        ("minimal", Consent::default(), None),
        ("minimal", Consent { ldp: Some(nats("1.0986122886")), ..Consent::default() }, Some("ldp")),
        // No context: judged by LDP alone.
        ("minimal", Consent { lip: Some(Nats::ZERO), ..Consent::default() }, None),
        ("table_prior_lip", Consent { lip: Some(nats("0.01")), ..Consent::default() }, Some("lip")),
        // No finite LDP is above every number.
        (
            "watchdog_three",
            Consent { lip: Some(nats("100")), ldp: Some(nats("100")), secrets: vec![] },
            Some("ldp"),
        ),
        // Without a limit on LDP, LIP is what bounds; without a context LDP stands in for it.
        ("watchdog_three", Consent { lip: None, ldp: None, secrets: vec![] }, None),
        ("minimal", Consent { lip: Some(nats("1")), ldp: None, secrets: vec![] }, Some("lip")),
        ("minimal", Consent { lip: Some(nats("1.1")), ldp: None, secrets: vec![] }, None),
        (
            "minimal",
            Consent {
                secrets: vec![SecretConsent { name: "income".into(), ldp: nats("0.5") }],
                ..Consent::default()
            },
            Some("secret"),
        ),
    ];
    for (name, consent, refused) in cases {
        let (curator, policy) = published(name);
        let mut client =
            Client::with_connection(curator.connection(), Device::memory()).with_consent(consent);
        let survey = client.connection().survey("survey").unwrap();
        let outcome = client.answer(&survey, symbol(&policy, 0));
        let why = match &outcome {
            Ok(_) => None,
            Err(ClientError::Consent(AboveConsent::Ldp { .. })) => Some("ldp"),
            Err(ClientError::Consent(AboveConsent::Lip { .. })) => Some("lip"),
            Err(ClientError::Consent(AboveConsent::Secret { .. })) => Some("secret"),
            Err(other) => panic!("{other}"),
        };
        assert_eq!(why, refused, "{name}");
        assert_eq!(client.survey("survey").is_err(), refused.is_some());
        assert_eq!(curator.attempts().len(), usize::from(refused.is_none()));
        assert_eq!(client.device().answers().count(), usize::from(refused.is_none()));
    }
}

#[test]
fn a_named_secret_is_judged_by_its_own_level() {
    let policy = golden("table_secret_ldp_of_secret");
    let strength = policy.certificate().secret.unwrap();
    let (input, secret) =
        (policy.certificate().input.ldp.ratio.ln_up(), strength.ldp.ratio.ln_up().unwrap());
    assert!(input.is_none_or(|input| input > secret), "the vector tells the two apart");
    let undertone_core::Context::Secret(named) = policy.draft().context() else { panic!() };
    let consent = |name: &str, ldp: Nats| Consent {
        lip: None,
        ldp: None,
        secrets: vec![SecretConsent { name: name.into(), ldp }],
    };
    let standing = Sequence::new().after(&policy);
    consent(named.name(), secret).check(&standing).unwrap();
    let less = Nats::from_units(secret.units() - 1);
    assert!(consent(named.name(), less).check(&standing).is_err());
    // A policy that does not know the secret is judged by the input behind which it stands.
    assert!(consent("another", secret).check(&standing).is_err());
}

#[test]
fn the_budget_of_a_datum_is_shared_by_surveys_about_it() {
    let (curator, one) = published("minimal");
    let two = golden("table_prior_lip");
    curator.publish("other", &two, "open");
    let device = Device::memory_with_budget(nats("1.1"));
    let mut client = Client::with_connection(curator.connection(), device);
    let first = client.survey("survey").unwrap().about("age");
    client.answer(&first, symbol(&one, 0)).unwrap();
    let second = client.survey("other").unwrap();
    let refused = client.answer(&second.clone().about("age"), symbol(&two, 0));
    assert!(matches!(refused, Err(ClientError::Budget(OverBudget { level: Level::Question, .. }))));
    assert_eq!(client.device().spent("age"), Some(nats("1.0986122887")));
    client.answer(&second.clone().about("weight"), symbol(&two, 0)).unwrap();
    client.device_mut().set_budget(Level::Question, Budget::ever(nats("3"))).unwrap();
    // The budget allows it now; what both tell together is still above what was agreed to.
    let refused = client.answer(&second.clone().about("age"), symbol(&two, 0));
    assert!(matches!(refused, Err(ClientError::Consent(_))), "{refused:?}");
    let mut client = client.with_consent(Consent::UNLIMITED);
    client.answer(&second.about("age"), symbol(&two, 0)).unwrap();
}

#[test]
fn a_closed_round_costs_nothing() {
    let (curator, policy) = published("minimal");
    curator.publish("closed", &policy, "sealed");
    let mut client = Client::with_connection(curator.connection(), Device::memory());
    let survey = client.survey("closed").unwrap();
    let refused = client.answer(&survey, symbol(&policy, 0));
    assert!(matches!(refused, Err(ClientError::NotOpen { round: 1 })));
    assert_eq!(client.device().answers().count(), 0);
}

#[test]
fn a_curator_that_cheats_is_refused() {
    let (curator, policy) = published("minimal");
    let other = golden("table_prior_lip");
    let fetch = |seen: &dyn Fn(&mut common::Seen)| {
        seen(&mut curator.seen.lock().unwrap());
        curator.connection().survey("survey")
    };
    // Another policy under the id.
    let swapped = fetch(&|seen| {
        seen.policies.insert(policy.id().to_string(), other.draft().to_bytes());
    });
    assert!(matches!(swapped, Err(FetchError::OtherPolicy { .. })));
    // Bytes that are none.
    let cut = fetch(&|seen| {
        let bytes = policy.draft().to_bytes();
        seen.policies.insert(policy.id().to_string(), bytes[..bytes.len() - 1].to_vec());
    });
    assert!(matches!(cut, Err(FetchError::Decode(_))));
    // Answers that are not the policy's inputs.
    curator.publish("survey", &policy, "open");
    let asked = fetch(&|seen| {
        seen.surveys.get_mut("survey").unwrap()["answers"] =
            serde_json::json!({"names": ["a", "b"]});
    });
    assert!(matches!(asked, Err(FetchError::Answers)));
    // Two groups and no choice; and another survey than was asked for.
    curator.publish("survey", &policy, "open");
    let two = fetch(&|seen| {
        let groups = &mut seen.surveys.get_mut("survey").unwrap()["round"]["groups"];
        let mut second = groups[0].clone();
        second["group"] = "others".into();
        groups.as_array_mut().unwrap().push(second);
    });
    assert!(matches!(two, Err(FetchError::Group { groups }) if groups == ["everyone", "others"]));
    assert_eq!(curator.connection().survey_of_group("survey", "others").unwrap().group(), "others");
    curator.publish("survey", &policy, "open");
    let listed = fetch(&|seen| {
        let round = &mut seen.surveys.get_mut("survey").unwrap()["round"];
        let group = &round["groups"][0];
        let values = serde_json::json!([group["group"], group["policy"], group["people"]]);
        round["groups"] = serde_json::json!([values]);
    });
    assert!(matches!(listed, Err(FetchError::Malformed { .. })), "a list for an object");
    curator.publish("survey", &policy, "open");
    for (field, value) in [
        ("answers", serde_json::json!({"indices": 2, "names": ["no", "yes"]})),
        ("round", serde_json::Value::Null),
    ] {
        let survey = fetch(&|seen| seen.surveys.get_mut("survey").unwrap()[field] = value.clone());
        let refused = matches!(survey, Err(FetchError::Malformed { .. } | FetchError::Answers));
        assert!(refused, "{field}: {survey:?}");
        curator.publish("survey", &policy, "open");
    }
    let renamed = fetch(&|seen| seen.surveys.get_mut("survey").unwrap()["id"] = "x".into());
    assert!(matches!(renamed, Err(FetchError::Malformed { .. })));
    for id in ["", "../admin", "A", &"a".repeat(65)] {
        assert!(
            matches!(curator.connection().survey(id), Err(FetchError::SurveyId { .. })),
            "{id}"
        );
    }
    assert!(matches!(curator.connection().survey("gone"), Err(FetchError::Refused(_))));
}

#[test]
fn a_false_claim_is_refused() {
    let curator = TestCurator::start();
    let honest = golden("table_prior_lip");
    curator.publish("survey", &honest, "open");
    let path =
        format!("{}/../../vectors/v1/policy/bad_table_prior_lip.json", env!("CARGO_MANIFEST_DIR"));
    let file: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let draft = undertone_core::Draft::from_json(&file["document"].to_string()).unwrap();
    curator.seen.lock().unwrap().policies.insert(honest.id().to_string(), draft.to_bytes());
    assert!(matches!(curator.connection().survey("survey"), Err(FetchError::Claim(_))));
}

#[test]
fn a_crowd_shares_connection_and_policy() {
    let (curator, policy) = published("minimal");
    let shared = curator.connection();
    let survey = shared.survey("survey").unwrap();
    let mut reports = Vec::new();
    for person in 0..200 {
        let mut client = Client::with_connection(shared.clone(), Device::memory());
        reports.push(client.record(&survey, symbol(&policy, person % 2)).unwrap().0);
    }
    shared.submit("survey", &reports, BatchForm::Binary).unwrap();
    assert_eq!(curator.stored().len(), 200);
    assert_eq!(curator.seen.lock().unwrap().fetched, 1);
    let ones = reports.iter().filter(|report| report.token == Token::Index(1)).count();
    // Both answers equally often at 3 to 1: sd 6.1 around 100; the chance of leaving this is below 1e-9.
    assert!((60..=140).contains(&ones), "{ones}");
}

#[test]
fn bodies_that_cannot_be_written() {
    let (curator, policy) = published("minimal");
    let shared = curator.connection();
    let survey = shared.survey("survey").unwrap();
    let mut client = Client::with_connection(shared.clone(), Device::memory());
    let report = client.record(&survey, symbol(&policy, 0)).unwrap().0;
    let mut foreign = report.clone();
    foreign.policy.0[0] ^= 1;
    let body = |reports: &[_], form| shared.submit("survey", reports, form);
    assert!(matches!(body(&[], BatchForm::Json), Err(SubmitError::Body { .. })));
    assert!(matches!(
        body(&[report.clone(), foreign], BatchForm::Binary),
        Err(SubmitError::Body { .. })
    ));
    let many = vec![report; undertone_wire::limits::MOST_REPORTS + 1];
    assert!(matches!(body(&many, BatchForm::Json), Err(SubmitError::Body { .. })));
    assert!(curator.attempts().is_empty());
}

#[test]
fn addresses() {
    for bad in [
        "",
        "localhost:1",
        "ftp://x",
        "http://",
        "http:///x",
        "http://a b",
        "http://u@h",
        "http://h?x",
        "http://h#x",
    ] {
        assert!(Connection::new(bad).is_err(), "{bad}");
    }
    assert_eq!(Connection::new("https://h.example/sub/").unwrap().base(), "https://h.example/sub");
}
