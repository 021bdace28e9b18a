//! One fact has one JSON: the curator tells the risk of a policy with the bytes of `tests/faces/risk.json`, which the
//! command line and the Python package are held to as well.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};
use undertone_core::Draft;
use undertone_curator::server::Limits;
use undertone_curator::service::survey::{GroupPolicy, RoundNote, Survey, SurveyBody};
use undertone_curator::store::{self, Event, NewPolicy, NewSurvey, Store};
use undertone_wire::TokenShape;

use crate::api::harness::{Service, TODAY};

fn face(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/faces");
    std::fs::read_to_string(folder.join(name)).unwrap()
}

/// Stores a survey whose one round has this policy.
async fn stored(store: &Arc<dyn Store>, policy: &undertone_core::Policy) {
    let draft = policy.draft();
    let body = json!({
        "id": "faces", "title": "Faces", "question": "How do you travel?",
        "answers": {"names": ["on foot", "bus", "car"]}, "plan": {"epsilon": "1"},
    });
    let group = GroupPolicy {
        group: "everyone".into(),
        people: 100,
        policy: policy.id().to_string(),
        method: "optimal".into(),
        claims: draft.claims().iter().map(ToString::to_string).collect(),
        lip: Some("1".into()),
        ldp: "1.5".into(),
        learned: None,
        unlearned: None,
    };
    let note = RoundNote { number: 1, groups: vec![group], ldp: "1.5".into(), released: None };
    let survey = Survey {
        body: SurveyBody::from_json(body.to_string().as_bytes()).unwrap(),
        created: TODAY,
        rounds: vec![note],
        phase: Default::default(),
    };
    let event = |kind: &str| Event {
        survey: "faces".parse().unwrap(),
        at: TODAY,
        kind: kind.into(),
        detail: "{}".into(),
    };
    let policies =
        vec![NewPolicy { id: policy.id(), bytes: draft.to_bytes(), tokens: TokenShape::of(draft) }];
    let new = NewSurvey {
        id: "faces".parse().unwrap(),
        document: survey.to_json(),
        policies,
        created: event("survey_created"),
        opened: event("round_opened"),
    };
    store.create_survey(&new).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_risk_of_a_policy_has_the_bytes_of_every_face() {
    let folder = tempfile::tempdir().unwrap();
    let place = format!("sqlite:{}", folder.path().join("curator.db").display());
    let store = store::open(&place).await.unwrap();
    let policy = Draft::from_json(&face("policy.json")).unwrap().verify().unwrap();
    stored(&store, &policy).await;
    let mut service = Service::on(store, |_| {}, Limits::default()).await;
    let observer = service.get("/v1/surveys/faces/observer").await.json();
    let officer = service.get("/v1/surveys/faces/officer?form=json").await.json();
    let written = |risk: &Value| format!("{risk:#}\n");
    assert_eq!(written(&observer["groups"][0]["risk"]), face("risk.json"));
    assert_eq!(written(&officer["rounds"][0]["policies"][0]["risk"]), face("risk.json"));
    service.stop().await;
}
