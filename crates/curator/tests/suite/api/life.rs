//! The life of a survey beside its rounds, and what is left of it on the disk, on both engines.

use crate::api::harness::{Service, crowd, listed, yes_no};
use crate::common::postgres;
use rand_chacha::ChaCha12Rng;
use rand_core::SeedableRng;
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;
use undertone_curator::server::Limits;
use undertone_curator::store;

async fn started(address: &str) -> Service {
    Service::on(store::open(address).await.unwrap(), |_| {}, Limits::default()).await
}

/// The kinds of a survey's log, and who did it.
async fn log(service: &Service, survey: &str) -> Vec<(String, String)> {
    let entries = service.get(&format!("/v1/surveys/{survey}/log")).await.json();
    let entries = entries["entries"].as_array().unwrap().clone();
    let one = |entry: &Value| {
        let detail: Value = serde_json::from_str(entry["detail"].as_str().unwrap()).unwrap();
        (entry["kind"].as_str().unwrap().into(), detail["by"].as_str().unwrap().into())
    };
    entries.iter().map(one).collect()
}

async fn waits_for(service: &Service, survey: &str, kind: &str) {
    for _ in 0..2000 {
        if log(service, survey).await.iter().any(|(found, _)| found == kind) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("no {kind} in the log: {:?}", log(service, survey).await);
}

async fn a_whole_life(address: &str) {
    let service = started(address).await;
    let policy = service.create(&yes_no("life")).await;
    let mut rng = ChaCha12Rng::seed_from_u64(5);
    let mut send = |count| listed(&crowd(&policy, &[0.9, 0.1], count, &mut rng));
    let asked = &service;
    let post = |path: &'static str| async move {
        asked.owner_post(&format!("/v1/surveys/life/{path}"), &Value::Null).await
    };
    assert_eq!(service.post_json("/v1/surveys/life/reports", &send(20)).await.status, 202);
    let paused = post("pause").await;
    assert_eq!((paused.status, &paused.json()["phase"]), (200, &json!("paused")));
    assert_eq!(service.get("/v1/surveys/life").await.json()["state"], "paused");
    let late = service.post_json("/v1/surveys/life/reports", &send(20)).await;
    assert_eq!((late.status, late.code()), (503, "survey_paused".into()));
    assert_eq!(late.header("retry-after"), Some("300"));
    // Twice is once, and what comes too early is refused in words.
    assert_eq!(post("pause").await.status, 200);
    assert_eq!(post("archive").await.code(), "conflict");
    let early = post("delete").await;
    assert_eq!(early.code(), "conflict");
    assert_eq!(early.json()["title"], "What is there now does not allow it");
    assert_eq!(post("rounds").await.code(), "conflict");
    assert_eq!(post("resume").await.json()["state"], "open");
    assert_eq!(service.post_json("/v1/surveys/life/reports", &send(20)).await.status, 202);
    assert_eq!(service.counted("life").await, 40);
    let closed = post("close").await.json();
    assert_eq!((&closed["phase"], &closed["state"]), (&json!("closed"), &json!("sealed")));
    let late = service.post_json("/v1/surveys/life/reports", &send(1)).await;
    assert_eq!(late.code(), "round_sealed");
    assert_eq!(post("rounds").await.code(), "conflict");
    assert_eq!(post("resume").await.code(), "conflict");
    assert_eq!(post("archive").await.json()["phase"], "archived");
    waits_for(&service, "life", "reports_erased").await;
    // A policy names the answers, and is kept in memory.
    let known = format!("/v1/policies/{}", policy.id());
    assert_eq!(service.get(&known).await.status, 200);
    assert_eq!(post("delete").await.status, 204);
    assert_eq!(service.get(&known).await.status, 404);
    assert_eq!(service.owner_get("/v1/surveys/life").await.code(), "survey_unknown");
    assert_eq!(service.get("/s/life").await.status, 404);
    assert_eq!(service.owner_get("/v1/surveys").await.json()["surveys"], json!([]));
    assert_eq!(post("delete").await.code(), "survey_unknown");
    let again = service.owner_post("/v1/surveys", &yes_no("life")).await;
    assert_eq!(again.code(), "conflict");
    assert!(again.text().contains("was deleted") && again.text().contains("take another"));
    let log = log(&service, "life").await;
    let expected = [
        ("survey_created", "owner"),
        ("round_opened", "owner"),
        ("survey_paused", "owner"),
        ("survey_resumed", "owner"),
        ("round_sealed", "owner"),
        ("survey_closed", "owner"),
        ("survey_archived", "owner"),
        ("reports_erased", "curator"),
        ("survey_deleted", "owner"),
    ];
    let mut found: Vec<(&str, &str)> = log.iter().map(|(kind, by)| (&**kind, &**by)).collect();
    // Counting goes on beside the owner.
    let erased = found.iter().position(|(kind, _)| *kind == "reports_erased").unwrap();
    assert!(erased > 5);
    let entry = found.remove(erased);
    found.insert(7, entry);
    assert_eq!(found, expected);
    let checked = store::check(address, &store::Options::default(), &|_| {}).await.unwrap();
    assert!(checked.is_sound(), "{:?}", checked.faults);
    assert_eq!((checked.surveys, checked.rounds, checked.policies, checked.reports), (1, 0, 0, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_embedded_survey_lives_and_is_deleted() {
    let folder = tempfile::tempdir().unwrap();
    a_whole_life(&format!("sqlite:{}", folder.path().join("a.db").display())).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_survey_on_postgresql_lives_and_is_deleted() {
    let Some(server) = postgres::Server::start() else { return };
    a_whole_life(&server.database("life")).await;
}

/// Whether bytes stand in any of the files.
fn stand_in(files: &[impl AsRef<Path>], wanted: &[u8]) -> bool {
    let holds = |file: &Path| {
        let bytes = std::fs::read(file).unwrap_or_default();
        bytes.windows(wanted.len()).any(|some| some == wanted)
    };
    files.iter().any(|file| holds(file.as_ref()))
}

/// A survey that was sealed has its reports' ids off the disk, also while the curator runs.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_of_sealed_reports_is_left_in_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.db");
    let service = started(&format!("sqlite:{}", file.display())).await;
    let policy = service.create(&yes_no("brief")).await;
    let other = service.create(&yes_no("other")).await;
    let mut rng = ChaCha12Rng::seed_from_u64(6);
    let mut reports = crowd(&policy, &[0.9, 0.1], 500, &mut rng);
    let kept = crowd(&other, &[0.9, 0.1], 500, &mut rng);
    for turn in reports.chunks(50) {
        service.post_json("/v1/surveys/brief/reports", &listed(turn)).await;
    }
    service.post_json("/v1/surveys/other/reports", &listed(&kept)).await;
    assert_eq!(service.counted("brief").await, 500);
    assert_eq!(service.counted("other").await, 500);
    let files: Vec<_> = ["", "-wal", "-shm"]
        .iter()
        .map(|ending| folder.path().join(format!("a.db{ending}")))
        .collect();
    assert!(
        reports.iter().all(|report| stand_in(&files, &report.id.0)),
        "the test looks at nothing"
    );
    service.owner_post("/v1/surveys/brief/rounds/1/seal", &Value::Null).await;
    waits_for(&service, "brief", "reports_erased").await;
    reports.retain(|report| stand_in(&files, &report.id.0));
    assert_eq!(reports.len(), 0, "ids are left");
    assert!(kept.iter().all(|report| stand_in(&files, &report.id.0)), "ids of an open round stay");
    // What the open round had counted is still counted once.
    service.post_json("/v1/surveys/other/reports", &listed(&kept)).await;
    assert_eq!(service.counted("other").await, 500);
    // A deleted survey leaves neither its question nor its policy.
    assert!(stand_in(&files, &policy.id().0));
    for step in ["close", "delete"] {
        let done = service.owner_post(&format!("/v1/surveys/brief/{step}"), &Value::Null).await;
        assert!(done.status < 300, "{}", done.text());
    }
    assert!(!stand_in(&files, &policy.id().0));
}

/// On PostgreSQL the tables' own files hold nothing of them; its write-ahead log and its backups are its
/// administrator's.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_of_sealed_reports_is_left_in_postgresql_tables() {
    let Some(server) = postgres::Server::start() else { return };
    let service = started(&server.database("brief")).await;
    let policy = service.create(&yes_no("brief")).await;
    let mut rng = ChaCha12Rng::seed_from_u64(7);
    let reports = crowd(&policy, &[0.9, 0.1], 200, &mut rng);
    service.post_json("/v1/surveys/brief/reports", &listed(&reports)).await;
    assert_eq!(service.counted("brief").await, 200);
    let files = || -> Vec<_> {
        server.sql("brief", "CHECKPOINT");
        let path = |table| {
            server.sql("brief", &format!("SELECT pg_relation_filepath('undertone.{table}')"))
        };
        ["batch", "chunk"].iter().map(|table| server.data().join(path(table))).collect()
    };
    let before = files();
    assert!(
        reports.iter().all(|report| stand_in(&before, &report.id.0)),
        "the test looks at nothing"
    );
    service.owner_post("/v1/surveys/brief/rounds/1/seal", &Value::Null).await;
    waits_for(&service, "brief", "reports_erased").await;
    let mut after = files();
    after.extend(before);
    assert!(!reports.iter().any(|report| stand_in(&after, &report.id.0)));
}

/// The officer's page hashes the whole log again and says what it finds.
async fn forged(address: &str, forge: impl Fn()) {
    let service = started(address).await;
    service.create(&yes_no("log")).await;
    let facts = service.get("/v1/surveys/log/officer?form=json").await.json();
    let last = facts["log"].as_array().unwrap().last().unwrap()["hash"].clone();
    assert_eq!(facts["chain"]["head"], last);
    service.owner_post("/v1/surveys/log/rounds/1/seal", &Value::Null).await;
    let page = service.get("/v1/surveys/log/officer").await.text();
    assert!(page.contains("Checked for this page: ") && !page.contains("was altered"), "{page}");
    let facts = service.get("/v1/surveys/log/officer?form=json").await.json();
    assert_eq!(facts["chain"]["intact"], true);
    waits_for(&service, "log", "reports_erased").await;
    let facts = service.get("/v1/surveys/log/officer?form=json").await.json();
    assert_ne!(facts["chain"]["head"], last, "the head moves with every entry");
    forge();
    let page = service.get("/v1/surveys/log/officer").await.text();
    assert!(page.contains("The log was altered: entry 2 "), "{page}");
    let facts = service.get("/v1/surveys/log/officer?form=json").await.json();
    assert_eq!(
        (&facts["chain"]["intact"], &facts["chain"]["broken_at"]),
        (&json!(false), &json!(2))
    );
}

const FORGERY: &str = "UPDATE event SET detail = '{\"by\":\"nobody\"}' WHERE seq = 2";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_forged_entry_is_shown_as_one() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.db");
    forged(&format!("sqlite:{}", file.display()), || {
        rusqlite::Connection::open(&file).unwrap().execute_batch(FORGERY).unwrap();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_forged_entry_on_postgresql_is_shown_as_one() {
    let Some(server) = postgres::Server::start() else { return };
    let address = server.database("forged");
    let forgery = FORGERY.replace("event", "undertone.event");
    forged(&address, || drop(server.sql("forged", &forgery))).await;
}

/// A store that refuses reports is not ready, and the metrics say how full it is.
async fn full(address: &str, most: u64) {
    let options = store::Options { max_bytes: Some(most), ..store::Options::default() };
    let store = store::open_with(address, options).await.unwrap();
    // Nothing is counted meanwhile, which would make room.
    let calm =
        |settings: &mut undertone_curator::Settings| settings.fold_pause = Duration::from_secs(600);
    let service = Service::on(store, calm, Limits::default()).await;
    let policy = service.create(&yes_no("full")).await;
    assert_eq!(service.get("/readyz").await.status, 200);
    let mut rng = ChaCha12Rng::seed_from_u64(8);
    let mut refused: Option<String> = None;
    for _ in 0..400 {
        let reports = listed(&crowd(&policy, &[0.9, 0.1], 2000, &mut rng));
        let answer = service.post_json("/v1/surveys/full/reports", &reports).await;
        if answer.status == 507 {
            // Twice in a row with a new measurement between them.
            if refused.is_some() {
                break;
            }
            refused = Some(answer.code());
            tokio::time::sleep(Duration::from_millis(300)).await;
        } else {
            refused = None;
        }
    }
    assert_eq!(refused.as_deref(), Some("storage_full"));
    let ready = service.get("/readyz").await;
    assert_eq!((ready.status, ready.code()), (507, "storage_full".into()));
    let metrics = service.owner_get("/metrics").await.text();
    let value = |name: &str| -> i64 {
        let line = metrics.lines().find(|line| line.starts_with(&format!("{name} "))).unwrap();
        line.split(' ').nth(1).unwrap().parse().unwrap()
    };
    assert!(value("undertone_store_bytes") >= most as i64);
    assert_eq!(value("undertone_store_free_bytes"), 0);
    assert!(value("undertone_reports_waiting") >= 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_embedded_store_is_not_ready() {
    let folder = tempfile::tempdir().unwrap();
    full(&format!("sqlite:{}", folder.path().join("a.db").display()), 1 << 20).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_postgresql_is_not_ready() {
    let Some(server) = postgres::Server::start() else { return };
    full(&server.database("brimming"), 3 << 20).await;
}
