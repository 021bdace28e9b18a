//! A survey with a hundred thousand answers: created, answered, estimated, sealed and released.

use crate::api::harness::{Service, listed, report, yes_no};
use rand_chacha::ChaCha12Rng;
use rand_core::SeedableRng;
use serde_json::{Value, json};
use undertone_core::Shape;

const MANY: usize = 100_000;

fn places(count: usize) -> Value {
    let names: Vec<String> = (0..count).map(|at| format!("place {at}")).collect();
    let mut body = yes_no("places");
    body["answers"] = json!({ "names": names });
    body["plan"] = json!({ "epsilon": "3" });
    body["minimum"] = 20.into();
    body
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_thousand_answers() {
    let mut service = Service::start().await;
    let policy = service.create(&places(MANY)).await;
    assert_eq!(policy.draft().inputs().len(), MANY);
    // Blocks, of which a report has three bytes: the errors of shares do not grow with the number of answers.
    assert!(matches!(policy.draft().shape(), Shape::Incidence(_)));
    assert!(policy.draft().shape().report_bits() <= 20);
    let mut rng = ChaCha12Rng::seed_from_u64(5);
    for _ in 0..4 {
        let reports: Vec<_> = (0..20).map(|_| report(&policy, 77_777, &mut rng)).collect();
        let sent = service.post_json("/v1/surveys/places/reports", &listed(&reports)).await;
        assert_eq!(sent.status, 202, "{}", sent.text());
    }
    assert_eq!(service.counted("places").await, 80);
    let estimates = service.owner_get("/v1/surveys/places/estimates").await;
    let text = estimates.text();
    assert!(text.len() < 40_000_000, "{} bytes", text.len());
    let round = estimates.json()["rounds"][0].clone();
    let shares = round["headline"]["shares"].as_array().unwrap();
    assert_eq!((shares.len(), &round["shares_left_out"]), (10_000, &90_000.into()));
    let value = |share: &Value| share["value"].as_f64().unwrap();
    let largest = shares.iter().max_by(|a, b| value(a).total_cmp(&value(b))).unwrap();
    assert_eq!(largest["symbol"], "place 77777", "everybody is there");
    let outputs = policy.draft().shape().outputs();
    assert_eq!(round["counts"][0]["outputs"].as_array().unwrap().len(), outputs);
    for step in ["seal", "release"] {
        let path = format!("/v1/surveys/places/rounds/1/{step}");
        assert_eq!(service.owner_post(&path, &json!({})).await.status, 200, "{step}");
    }
    let released = service.get("/v1/surveys/places/estimates").await.json();
    assert_eq!(released["rounds"][0]["shares_left_out"], 90_000);
    for page in ["observer", "officer"] {
        let shown = service.owner_get(&format!("/v1/surveys/places/{page}")).await;
        assert_eq!(shown.status, 200, "{page}");
        assert!(shown.text().len() < 1_000_000, "{page}: {} bytes", shown.text().len());
    }
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn too_many_answers_are_refused_in_words() {
    let mut service = Service::start().await;
    let groups = json!([{"group": "north", "people": 500}, {"group": "south", "people": 500}]);
    let mut grouped = places(10_001);
    grouped["plan"]["groups"] = groups;
    let long = |at: usize| format!("{at} {}", "x".repeat(150));
    let mut wordy = places(2);
    wordy["answers"] = json!({ "names": (0..30_000).map(long).collect::<Vec<_>>() });
    for (body, said) in [
        (places(MANY + 1), "a survey offers 2 to 100000"),
        (grouped, "with groups at most 10000"),
        (wordy, "at most 4194304, so shorten them"),
    ] {
        let refused = service.owner_post("/v1/surveys", &body).await;
        assert_eq!(refused.status, 400, "{}", refused.text());
        assert!(refused.text().contains(said), "{}", refused.text());
    }
    service.stop().await;
}
