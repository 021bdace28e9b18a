//! Every stable problem code, provoked.

use crate::api::failing::{FULL, Failing, GONE, SLOW, WELL};
use crate::api::harness::{Service, crowd, report, yes_no};
use rand_chacha::ChaCha12Rng;
use rand_core::SeedableRng;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;
use undertone_core::{PolicyId, Token};
use undertone_curator::flight::Capacity;
use undertone_curator::limit::Rate;
use undertone_curator::server::Limits;
use undertone_curator::store::open;
use undertone_wire::Code;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_code_can_be_met() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("x.db");
    let inner = open(&format!("sqlite:{}", file.display())).await.unwrap();
    let mode = Arc::new(AtomicU8::new(WELL));
    let store = Arc::new(Failing::new(inner, mode.clone()));
    let small = |settings: &mut undertone_curator::Settings| {
        settings.max_body = 1 << 16;
        settings.in_flight = Capacity { total: 1 << 20, per_address: 20_000 };
        settings.request_timeout = Duration::from_millis(300);
        settings.guesses = Rate { burst: 3.0, per_second: 0.0 };
    };
    let service = Service::on(store, small, Limits::default()).await;
    let mut met = BTreeSet::new();
    let mut meet = |answer: &crate::api::harness::Answer, code: &str| {
        assert_eq!(answer.code(), code, "{}", answer.text());
        met.insert(code.to_owned());
    };
    let mut rng = ChaCha12Rng::seed_from_u64(4);
    let policy = service.create(&yes_no("one")).await;
    let other = service.create(&yes_no("two")).await;
    let reports = "/v1/surveys/one/reports";
    let good = report(&policy, 0, &mut rng);

    // A token that allows something else, and a survey that is paused.
    let made = service.owner_post("/v1/tokens", &json!({"name": "Ann", "role": "analyst"})).await;
    let named = format!("Bearer {}", made.json()["token"].as_str().unwrap());
    let named = [("authorization", &*named)];
    meet(&service.send("POST", "/v1/surveys", &named, b"").await, "forbidden");
    let halted = service.create(&yes_no("halted")).await;
    service.owner_post("/v1/surveys/halted/pause", &Value::Null).await;
    let late = report(&halted, 0, &mut rng).to_json();
    meet(&service.post_json("/v1/surveys/halted/reports", &late).await, "survey_paused");

    meet(&service.get("/v1/surveys/nobody").await, "survey_unknown");
    meet(&service.get("/v1/surveys/NOT%20an%20id").await, "survey_unknown");
    meet(&service.get(&format!("/v1/policies/{}", "0".repeat(64))).await, "policy_unknown");
    meet(&service.get("/v1/policies/xyz").await, "policy_unknown");
    meet(&service.get("/nowhere").await, "not_found");
    meet(&service.send("DELETE", "/v1/surveys/one", &[], b"").await, "method_not_allowed");
    meet(
        &service.send("POST", reports, &[("content-type", "text/plain")], b"x").await,
        "unsupported_form",
    );
    meet(&service.get(&format!("/v1/policies/{}?form=xml", policy.id())).await, "unsupported_form");
    meet(&service.post_json(reports, "{").await, "malformed");
    meet(&service.post_binary(reports, b"\x01").await, "malformed");
    meet(&service.post_json(reports, &" ".repeat(1 << 17)).await, "body_too_large");
    meet(&service.post_json(reports, &" ".repeat(50_000)).await, "busy");
    meet(
        &service.post_json(reports, &report(&other, 0, &mut rng).to_json()).await,
        "policy_foreign",
    );
    let mut unknown = good.clone();
    unknown.policy = PolicyId([9; 32]);
    meet(&service.post_json(reports, &unknown.to_json()).await, "policy_unknown");
    let mut high = good.clone();
    high.token = Token::Index(2);
    meet(&service.post_json(reports, &high.to_json()).await, "token_out_of_range");
    let mut bits = good.clone();
    bits.token = Token::Bits(vec![0x80].into());
    meet(&service.post_json(reports, &bits.to_json()).await, "token_out_of_range");
    // One bad report spoils the body, and nothing of it is stored.
    let mixed = crate::api::harness::listed(&[good.clone(), high.clone()]);
    meet(&service.post_json(reports, &mixed).await, "token_out_of_range");
    let packed = undertone_wire::BatchForm::Binary.encode(&[good.clone(), high]).unwrap();
    meet(&service.post_binary(reports, &packed).await, "token_out_of_range");
    assert_eq!(service.counted("one").await, 0);

    mode.store(FULL, Ordering::Relaxed);
    let full = service.post_json(reports, &good.to_json()).await;
    meet(&full, "storage_full");
    assert!(full.header("retry-after").is_some());
    mode.store(GONE, Ordering::Relaxed);
    let gone = service.post_json(reports, &good.to_json()).await;
    meet(&gone, "unavailable");
    assert!(!gone.text().contains("cable"), "causes are logged, not sent");
    meet(&service.get("/readyz").await, "unavailable");
    assert_eq!(service.get("/healthz").await.status, 200);
    mode.store(SLOW, Ordering::Relaxed);
    meet(&service.post_json(reports, &good.to_json()).await, "timeout");
    mode.store(WELL, Ordering::Relaxed);

    meet(&service.owner_post("/v1/surveys", &yes_no("one")).await, "conflict");
    meet(&service.owner_post("/v1/surveys", &json!({"id": "x"})).await, "malformed");
    let mut bad = yes_no("Bad Id");
    meet(&service.owner_post("/v1/surveys", &bad).await, "malformed");
    bad = yes_no("three");
    bad["plan"]["groups"] = json!([{"group": "me", "people": 1}]);
    meet(&service.owner_post("/v1/surveys", &bad).await, "group_too_small");
    bad = yes_no("three");
    bad["plan"]["total_ldp"] = json!("0.5");
    meet(&service.owner_post("/v1/surveys", &bad).await, "budget_spent");
    // Sampling draws from the prior, and there is none.
    bad = yes_no("three");
    bad["plan"] = json!({"epsilon": "1", "method": "sampling"});
    meet(&service.owner_post("/v1/surveys", &bad).await, "refused_claim");
    assert_eq!(service.get("/v1/surveys/three").await.status, 404, "nothing half made is left");

    meet(&service.owner_post("/v1/surveys/one/rounds", &Value::Null).await, "round_open");
    meet(&service.owner_post("/v1/surveys/one/rounds/1/release", &Value::Null).await, "round_open");
    meet(&service.owner_post("/v1/surveys/one/rounds/7/seal", &Value::Null).await, "not_found");
    meet(&service.owner_post("/v1/surveys/one/rounds/x/seal", &Value::Null).await, "not_found");
    meet(&service.get("/v1/surveys/one/export").await, "round_open");
    meet(&service.get("/v1/surveys/one/log?after=x").await, "malformed");
    let mut two_rounds = yes_no("learner");
    two_rounds["plan"]["rounds"] = json!(2);
    let learner = service.create(&two_rounds).await;
    let few = crate::api::harness::listed(&crowd(&learner, &[0.9, 0.1], 50, &mut rng));
    assert_eq!(service.post_json("/v1/surveys/learner/reports", &few).await.status, 202);
    service.owner_post("/v1/surveys/learner/rounds/1/seal", &Value::Null).await;
    meet(&service.owner_post("/v1/surveys/learner/rounds", &Value::Null).await, "too_few_reports");
    let late = report(&learner, 0, &mut rng).to_json();
    meet(&service.post_json("/v1/surveys/learner/reports", &late).await, "round_sealed");

    // Refusals were counted, by reason; the open rounds above show policy_expired in the story.
    let metrics = service.owner_get("/metrics").await.text();
    for line in [
        "undertone_reports_refused_total{reason=\"token_out_of_range\"} 6",
        "undertone_reports_refused_total{reason=\"policy_foreign\"} 1",
        "undertone_reports_refused_total{reason=\"policy_unknown\"} 1",
        "undertone_reports_refused_total{reason=\"round_sealed\"} 1",
        "undertone_reports_refused_total{reason=\"storage_full\"} 1",
        "undertone_reports_accepted_total 50",
    ] {
        assert!(metrics.contains(line), "{line}\n{metrics}");
    }
    met.insert("policy_expired".into());

    // Wrong tokens, until this address has to wait before it may guess again.
    for wrong in 0..5 {
        let sent = format!("Bearer wrong-token-number-{wrong}");
        let answer = service.send("GET", "/v1/surveys", &[("authorization", &sent)], b"").await;
        if wrong < 3 {
            assert_eq!(answer.code(), "unauthorized");
            assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
        } else {
            assert_eq!(answer.code(), "too_many_requests");
        }
    }
    met.insert("unauthorized".into());
    met.insert("too_many_requests".into());

    let known: BTreeSet<String> = Code::ALL.iter().map(|code| code.name().to_owned()).collect();
    assert_eq!(met, known);
}
