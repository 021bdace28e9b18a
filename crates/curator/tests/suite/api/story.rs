//! The whole story on every engine: create, answer, seal, release, learn, second round.

use crate::api::harness::{Service, crowd, listed, yes_no};
use rand_chacha::ChaCha12Rng;
use rand_core::SeedableRng;
use serde_json::{Value, json};
use undertone_core::Context;
use undertone_curator::server::Limits;
use undertone_wire::BatchForm;

const SHARES: [f64; 3] = [0.6, 0.3, 0.1];

fn commute() -> Value {
    json!({
        "id": "commute", "title": "Commute", "question": "How do you get to work?",
        "answers": {"names": ["car", "bus", "bicycle"]},
        "plan": {"epsilon": "1", "rounds": 2, "total_ldp": "3"},
        "minimum": 500,
    })
}

/// Tells the story, and gives the released estimates of both rounds.
pub(crate) async fn story(service: &Service) -> Value {
    let mut rng = ChaCha12Rng::seed_from_u64(1);
    let first = service.create(&commute()).await;
    assert_eq!(*first.draft().context(), Context::Unknown);
    assert_eq!(first.draft().claims()[0].to_string(), "ldp:1");
    let shown = service.get("/v1/surveys/commute").await.json();
    assert_eq!(shown["state"], "open");
    assert_eq!(shown["round"]["number"], 1);
    assert_eq!(shown["round"]["groups"][0]["people"], 100);
    assert!(!shown.to_string().contains("reports"), "no counts for everybody");

    // A few answers, one by one; nothing is said about an open round below the minimum.
    let few = crowd(&first, &SHARES, 20, &mut rng);
    for report in &few {
        let answer = service.post_json("/v1/surveys/commute/reports", &report.to_json()).await;
        assert_eq!((answer.status, answer.json()), (202, json!({"accepted": 1})));
    }
    assert_eq!(service.counted("commute").await, 20);
    let early = service.owner_get("/v1/surveys/commute/estimates?round=1").await;
    assert_eq!(early.code(), "too_few_reports");
    let early = service.owner_get("/v1/surveys/commute/estimates").await.json();
    assert!(early["rounds"][0]["too_few"].is_string() && early["rounds"][0]["headline"].is_null());

    // Many more, in both forms.
    let many = crowd(&first, &SHARES, 8000, &mut rng);
    let answer = service.post_json("/v1/surveys/commute/reports", &listed(&many[..4000])).await;
    assert_eq!(answer.json()["accepted"], 4000);
    let body = BatchForm::Binary.encode(&many[4000..]).unwrap();
    let answer = service.post_binary("/v1/surveys/commute/reports", &body).await;
    assert_eq!(answer.json()["accepted"], 4000);
    assert_eq!(service.counted("commute").await, 8020);
    let live = service.owner_get("/v1/surveys/commute/estimates?round=1").await.json();
    assert_eq!(live["rounds"][0]["reports"], 8020);
    let hidden = service.get("/v1/surveys/commute/estimates").await.json();
    assert_eq!(hidden["rounds"], json!([]));
    assert_eq!(service.get("/v1/surveys/commute/estimates?round=1").await.code(), "round_open");

    // Seal, release.
    let sealed = service.owner_post("/v1/surveys/commute/rounds/1/seal", &Value::Null).await;
    assert_eq!((sealed.status, &sealed.json()["state"]), (200, &json!("sealed")));
    let late = service.post_json("/v1/surveys/commute/reports", &few[0].to_json()).await;
    assert_eq!(late.code(), "round_sealed");
    let again = service.owner_post("/v1/surveys/commute/rounds/1/seal", &Value::Null).await;
    assert_eq!(again.status, 200, "sealing twice is sealing once");
    let released = service.owner_post("/v1/surveys/commute/rounds/1/release", &Value::Null).await;
    assert_eq!(released.json()["state"], "released", "{}", released.text());
    let public = service.get("/v1/surveys/commute/estimates").await.json();
    let round = &public["rounds"][0];
    assert_eq!(round["reports"], 8020);
    for (x, share) in SHARES.iter().enumerate() {
        let estimate = &round["headline"]["shares"][x];
        let value = |field: &str| estimate[field].as_f64().unwrap();
        assert!(value("low") <= *share && *share <= value("high"), "{estimate}");
        assert!(value("high") - value("low") < 0.12, "{estimate}");
    }
    assert_eq!(round["impossible"], false);

    // The second round assumes the box and nothing more.
    let opened = service.owner_post("/v1/surveys/commute/rounds", &Value::Null).await;
    assert_eq!(opened.status, 201, "{}", opened.text());
    let owned = opened.json();
    let learned = &owned["rounds"][1]["groups"][0]["learned"];
    assert_eq!((&learned["round"], &learned["reports"]), (&json!(1), &json!(8020)));
    let second = service.policy("commute").await;
    let Context::Within(within) = second.draft().context() else { panic!("not a box") };
    for (share, (lower, upper)) in SHARES.iter().zip(within.lower().iter().zip(within.upper())) {
        let units = share * 2f64.powi(32);
        assert!(*lower as f64 <= units && units <= *upper as f64);
    }
    assert_eq!(second.draft().claims()[0].to_string(), "lip:1");
    let provenance = second.draft().provenance();
    assert!(provenance.source.contains("round 1 of survey commute"), "{}", provenance.source);
    assert_eq!((provenance.n, provenance.date.as_str()), (8020, "2026-11-15"));
    assert_eq!(provenance.confidence.unwrap().to_string(), "0.95");
    assert_eq!(
        service.post_json("/v1/surveys/commute/reports", &few[0].to_json()).await.code(),
        "policy_expired"
    );
    let answers = crowd(&second, &SHARES, 6000, &mut rng);
    let answer = service.post_json("/v1/surveys/commute/reports", &listed(&answers)).await;
    assert_eq!(answer.json()["accepted"], 6000);
    for step in ["seal", "release"] {
        let path = format!("/v1/surveys/commute/rounds/2/{step}");
        assert_eq!(service.owner_post(&path, &Value::Null).await.status, 200);
    }
    let public = service.get("/v1/surveys/commute/estimates").await.json();
    for (x, share) in SHARES.iter().enumerate() {
        let estimate = &public["rounds"][1]["headline"]["shares"][x];
        let value = |field: &str| estimate[field].as_f64().unwrap();
        assert!(value("low") <= *share && *share <= value("high"), "{estimate}");
    }
    let gain = &public["gain"];
    assert!(gain["in_words"].as_str().unwrap().contains("gain"), "{gain}");
    assert_eq!(gain["expected"], false);
    // The plan has no third round.
    let third = service.owner_post("/v1/surveys/commute/rounds", &Value::Null).await;
    assert_eq!(third.code(), "budget_spent");

    log_is_chained(service).await;
    pages(service).await;
    exports(service).await;
    public
}

async fn log_is_chained(service: &Service) {
    let log = service.get("/v1/surveys/commute/log").await.json();
    let entries = log["entries"].as_array().unwrap();
    let mut kinds: Vec<&str> =
        entries.iter().map(|entry| entry["kind"].as_str().unwrap()).collect();
    // The curator erases the reports of a sealed round when it comes to it.
    kinds.retain(|kind| *kind != "reports_erased");
    assert_eq!(
        kinds,
        [
            "survey_created",
            "round_opened",
            "round_sealed",
            "round_released",
            "round_opened",
            "round_sealed",
            "round_released"
        ]
    );
    for pair in entries.windows(2) {
        assert_eq!(pair[0]["hash"], pair[1]["previous"]);
    }
    let later = service.get("/v1/surveys/commute/log?after=5").await.json();
    assert!(later["entries"].as_array().unwrap().starts_with(&entries[5..]));
}

async fn pages(service: &Service) {
    let page = service.get("/v1/surveys/commute/officer").await;
    assert!(page.header("content-type").unwrap().starts_with("text/html"));
    assert!(page.header("content-security-policy").unwrap().contains("style-src 'sha256-"));
    let text = page.text();
    for said in ["Commute", "lip:1", "Composition so far", "Attack model", "Log", "round_released"]
    {
        assert!(text.contains(said), "{said}");
    }
    assert!(!text.contains("<script"));
    // What nothing checks is marked wherever it stands.
    let numbers = text
        .split("at least ")
        .skip(1)
        .map(|rest| rest.trim_start_matches(|c: char| c.is_ascii_digit()));
    let people: Vec<&str> = numbers.filter(|rest| rest.starts_with(" people")).collect();
    assert!(!people.is_empty());
    assert!(people.iter().all(|rest| rest.starts_with(" people (the owner's word)")), "{text}");
    assert!(
        text.contains("What is the owner's word") && text.contains("Retention, says the owner")
    );
    let facts = service.get("/v1/surveys/commute/officer?form=json").await.json();
    assert_eq!(facts["rounds"].as_array().unwrap().len(), 2);
    let spent: f64 = facts["composition"]["spent_ldp"].as_str().unwrap().parse().unwrap();
    let each: f64 = facts["rounds"]
        .as_array()
        .unwrap()
        .iter()
        .map(|round| round["ldp"].as_str().unwrap().parse::<f64>().unwrap())
        .sum();
    assert!((spent - each).abs() < 1e-9 && spent <= 3.0);
    // What both rounds tell together, by the kernel's rule: no more than the sum.
    let together = &facts["composition"]["together"][0];
    assert_eq!((&together["group"], &together["rounds"]), (&"everyone".into(), &2.into()));
    let level = |name: &str| together["together"]["attained"][name].as_f64().unwrap();
    let (ldp, lip) = (level("ldp"), level("lip"));
    assert!(
        together["together"]["exact"].as_bool().unwrap()
            && ldp <= spent + 1e-9
            && lip <= ldp
            && lip > 0.0
    );
    assert!(text.contains("all 2 rounds"), "{together}");
    let observer = service.get("/v1/surveys/commute/observer").await.json();
    assert!(observer["groups"][0]["risk"]["in_words"][0].as_str().unwrap().contains("belief"));
}

async fn exports(service: &Service) {
    let csv = service.get("/v1/surveys/commute/export").await;
    assert!(csv.header("content-type").unwrap().starts_with("text/csv"));
    assert!(csv.header("content-disposition").unwrap().contains("commute.csv"));
    let lines: Vec<String> = csv.text().lines().map(String::from).collect();
    assert_eq!(lines[0], "round,kind,group,policy,name,count,value,low,high");
    let counted: u64 = lines
        .iter()
        .filter(|line| line.starts_with("1,count,"))
        .map(|line| line.split(',').nth(5).unwrap().parse::<u64>().unwrap())
        .sum();
    assert_eq!(counted, 8020);
    let rows = service.get("/v1/surveys/commute/export?form=json").await.json();
    assert_eq!(rows["rows"].as_array().unwrap().len(), lines.len() - 1);
    if cfg!(feature = "parquet") {
        let file = service.get("/v1/surveys/commute/export?form=parquet").await;
        assert_eq!((&file.body[..4], file.status), (&b"PAR1"[..], 200));
    }
    let unknown = service.get("/v1/surveys/commute/export?form=xml").await;
    assert_eq!(unknown.code(), "unsupported_form");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_sqlite() {
    let mut service = Service::start().await;
    story(&service).await;
    service.stop().await;
}

/// A survey with a prior designs its first round for it; everything survives a restart.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_given_prior_and_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let file = format!("sqlite:{}", folder.path().join("kept.db").display());
    let open = || async { undertone_curator::store::open(&file).await.unwrap() };
    let mut service = Service::on(open().await, |_| {}, Limits::default()).await;
    let policy = service.create(&yes_no("smoking")).await;
    assert!(matches!(policy.draft().context(), Context::Known(_)));
    assert!(policy.draft().provenance().source.starts_with("a census"));
    assert_eq!(policy.draft().claims()[0].to_string(), "lip:1");
    let mut rng = ChaCha12Rng::seed_from_u64(2);
    let reports = crowd(&policy, &[0.87, 0.13], 3000, &mut rng);
    service.post_json("/v1/surveys/smoking/reports", &listed(&reports)).await;
    service.stop().await;
    drop(service);

    let mut service = Service::on(open().await, |_| {}, Limits::default()).await;
    // Counting resumes by itself: the curator looks when it starts.
    assert_eq!(service.counted("smoking").await, 3000);
    let live = service.owner_get("/v1/surveys/smoking/estimates?round=1").await.json();
    let yes = &live["rounds"][0]["headline"]["shares"][1];
    let number = |field: &str| yes[field].as_f64().unwrap();
    // Four standard errors.
    assert!((number("value") - 0.13).abs() < number("high") - number("low"), "{yes}");
    let second = &live["rounds"][0]["mmse"];
    assert_eq!(second["shares"][1]["symbol"], "yes");
    assert!(second["greyed"].is_boolean());
    let influence = live["rounds"][0]["influence"]["most"].as_f64().unwrap();
    assert!(influence > 1.0 / 3000.0 && influence < 10.0 / 3000.0, "{influence}");
    service.stop().await;
}

/// Groups have their own policies; the estimate of all of them is a pool.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn groups_have_their_own_policies() {
    let service = Service::start().await;
    let mut body = yes_no("grouped");
    body["plan"]["groups"] = json!([
        {"group": "young", "people": 400, "prior": {"p": [0.8, 0.2]}},
        {"group": "old", "people": 300},
    ]);
    service.create(&body).await;
    let shown = service.get("/v1/surveys/grouped").await.json();
    let groups = shown["round"]["groups"].as_array().unwrap();
    assert_eq!(groups.len(), 2);
    assert_ne!(groups[0]["policy"], groups[1]["policy"]);
    let mut rng = ChaCha12Rng::seed_from_u64(3);
    let mut all = Vec::new();
    for group in groups {
        let id = group["policy"].as_str().unwrap();
        let document = service.get(&format!("/v1/policies/{id}")).await.text();
        let policy = undertone_core::Draft::from_json(&document).unwrap().verify().unwrap();
        let yes = if group["group"] == "old" { 0.4 } else { 0.15 };
        all.extend(crowd(&policy, &[1.0 - yes, yes], 1500, &mut rng));
    }
    let answer = service.post_json("/v1/surveys/grouped/reports", &listed(&all)).await;
    assert_eq!(answer.json()["accepted"], 3000);
    service.counted("grouped").await;
    let live = service.owner_get("/v1/surveys/grouped/estimates?round=1").await.json();
    let round = &live["rounds"][0];
    assert_eq!(round["groups"].as_array().unwrap().len(), 2);
    let holds = |share: &Value, truth: f64| {
        let [low, high] = ["low", "high"].map(|end| share[end].as_f64().unwrap());
        assert!(low < truth && truth < high, "{truth}: {share}");
    };
    holds(&round["headline"]["shares"][1], 0.275);
    // How the second group differs from the first stands beside both, and in the exported table.
    let [difference] = round["differences"].as_array().unwrap().as_slice() else {
        panic!("{round}")
    };
    assert_eq!([&difference["group"], &difference["reference"]], ["old", "young"]);
    holds(&difference["shares"][1], 0.25);
    assert!(difference["shares"][1]["low"].as_f64().unwrap() > 0.0, "{difference}");
    let of = |at: usize| round["groups"][at]["headline"]["shares"][1]["value"].as_f64().unwrap();
    let value = difference["shares"][1]["value"].as_f64().unwrap();
    assert!((value - (of(1) - of(0))).abs() < 1e-9, "{difference}");
    let table = service.owner_get("/v1/surveys/grouped/export?form=csv").await.text();
    let count = |start: &str| table.lines().filter(|line| line.starts_with(start)).count();
    assert_eq!(
        [count("1,headline,,"), count("1,headline,old,"), count("1,difference,old,")],
        [2; 3]
    );
}
