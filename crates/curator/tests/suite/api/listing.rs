//! The owner's list: one question to the store, in pages, however many surveys there are.

use crate::api::failing::{Failing, WELL};
use crate::api::harness::{Service, crowd, listed, yes_no};
use crate::common::postgres::Server;
use rand_chacha::ChaCha12Rng;
use rand_core::SeedableRng;
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use undertone_core::PolicyId;
use undertone_curator::server::Limits;
use undertone_curator::store::{self, Event, NewPolicy, NewSurvey, Store};
use undertone_wire::TokenShape;

const SURVEYS: usize = 1200;

/// Stores surveys whose documents are real; their policies are of no importance to a list.
async fn fill(store: &dyn Store, document: &str, count: usize) {
    for number in 0..count {
        let id: undertone_wire::SurveyId = format!("survey-{number:05}").parse().unwrap();
        let event = |kind: &str| Event {
            survey: id.clone(),
            at: 0,
            kind: kind.into(),
            detail: String::new(),
        };
        let mut name = [0; 32];
        name[..8].copy_from_slice(&(number as u64).to_be_bytes());
        let policy = NewPolicy {
            id: PolicyId(name),
            bytes: vec![1; 300],
            tokens: TokenShape { outputs: 2, bits: false },
        };
        let (created, opened) = (event("survey_created"), event("round_opened"));
        let (id, document, policies) = (id.clone(), document.to_owned(), vec![policy]);
        store.create_survey(&NewSurvey { id, document, policies, created, opened }).await.unwrap();
    }
}

async fn story(address: &str) {
    let inner = store::open(address).await.unwrap();
    let store = Arc::new(Failing::new(inner, Arc::new(AtomicU8::new(WELL))));
    let service = Service::on(store.clone(), |_| {}, Limits::default()).await;
    let policy = service.create(&yes_no("coffee")).await;
    let document = store.survey(&"coffee".parse().unwrap()).await.unwrap().unwrap().document;
    let mut rng = ChaCha12Rng::seed_from_u64(21);
    let reports = listed(&crowd(&policy, &[0.5, 0.5], 40, &mut rng));
    assert_eq!(service.post_json("/v1/surveys/coffee/reports", &reports).await.status, 202);
    assert_eq!(service.counted("coffee").await, 40);
    fill(store.as_ref(), &document, SURVEYS).await;

    let before = store.reads.load(Ordering::Relaxed);
    let first = service.owner_get("/v1/surveys").await.json();
    assert_eq!(store.reads.load(Ordering::Relaxed) - before, 1, "one question, not one a survey");
    let surveys = first["surveys"].as_array().unwrap();
    assert_eq!((surveys.len(), &surveys[0]["id"]), (500, &Value::from("coffee")));
    for (field, value) in [("reports", 40), ("waiting", 0), ("duplicates", 0)] {
        assert_eq!(surveys[0][field], value, "{field}");
    }
    for (field, value) in [("title", "Smoking"), ("question", "Do you smoke?"), ("state", "open")] {
        assert_eq!(surveys[0][field], value, "{field}");
    }
    assert_eq!(surveys[0]["round"]["number"], 1);

    // All pages together are all surveys, each once, in order.
    let (mut names, mut path) = (Vec::new(), "/v1/surveys?limit=300".to_owned());
    loop {
        let page = service.owner_get(&path).await.json();
        for survey in page["surveys"].as_array().unwrap() {
            names.push(survey["id"].as_str().unwrap().to_owned());
        }
        let Some(next) = page["next"].as_str() else { break };
        path = format!("/v1/surveys?limit=300&after={next}");
    }
    assert_eq!(names.len(), SURVEYS + 1);
    assert!(names.windows(2).all(|pair| pair[0] < pair[1]));

    for bad in ["limit=0", "limit=1001", "limit=x", "after=No%20id"] {
        assert_eq!(service.owner_get(&format!("/v1/surveys?{bad}")).await.code(), "malformed");
    }
    // One survey as its owner sees it has its counts; for others it has none.
    let own = service.owner_get("/v1/surveys/coffee").await.json();
    assert_eq!((&own["reports"], &own["minimum"]), (&Value::from(40), &Value::from(100)));
    let shown = service.get("/v1/surveys/coffee").await.json();
    assert!(shown["reports"].is_null() && shown["minimum"].is_null(), "{shown}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_question_on_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    story(&format!("sqlite:{}", folder.path().join("curator.db").display())).await;
}

#[cfg(feature = "postgres")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_question_on_postgres() {
    let Some(server) = Server::start() else { return };
    story(&server.database("listing")).await;
}
