//! What the curator logs: never a token, the owner's or a report's, and no address beside a report.

use crate::api::harness::{Service, TOKEN, crowd, listed, report, yes_no};
use rand_chacha::ChaCha12Rng;
use rand_core::SeedableRng;
use serde_json::Value;
use std::fmt::{Debug, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// Keeps every event of the curator as a line of text, at every level.
#[derive(Clone, Default)]
struct Kept {
    lines: Arc<Mutex<Vec<String>>>,
    spans: Arc<AtomicU64>,
}

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let _ = write!(self.0, " {}={value:?}", field.name());
    }
}

impl Subscriber for Kept {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }
    fn new_span(&self, attributes: &Attributes<'_>) -> Id {
        let mut line = Line("span".into());
        attributes.record(&mut line);
        self.lines.lock().unwrap().push(line.0);
        Id::from_u64(self.spans.fetch_add(1, Ordering::Relaxed) + 1)
    }
    fn record(&self, _: &Id, values: &Record<'_>) {
        let mut line = Line("record".into());
        values.record(&mut line);
        self.lines.lock().unwrap().push(line.0);
    }
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, event: &Event<'_>) {
        let mut line = Line(format!("{} {}", event.metadata().level(), event.metadata().target()));
        event.record(&mut line);
        self.lines.lock().unwrap().push(line.0);
    }
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

/// Set in the process that has the global subscriber to itself.
const ALONE: &str = "UNDERTONE_TEST_ALONE";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn logs_hold_no_token() {
    if std::env::var_os(ALONE).is_none() {
        let mut command = std::process::Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "api_logs::logs_hold_no_token", "--nocapture"]).env(ALONE, "1");
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains("1 passed"), "{output:?}");
        return;
    }
    let kept = Kept::default();
    tracing::subscriber::set_global_default(kept.clone()).unwrap();
    let service = Service::start().await;
    let policy = service.create(&yes_no("one")).await;
    let mut rng = ChaCha12Rng::seed_from_u64(14);
    let reports = crowd(&policy, &[0.5, 0.5], 300, &mut rng);
    service.post_json("/v1/surveys/one/reports", &listed(&reports)).await;
    let single = report(&policy, 1, &mut rng);
    service.post_json("/v1/surveys/one/reports", &single.to_json()).await;
    // Refused in several ways, the owner's token in odd places among them.
    let mut late = single.clone();
    late.token = undertone_core::Token::Index(77_777);
    service.post_json("/v1/surveys/one/reports", &late.to_json()).await;
    service.post_json("/v1/surveys/one/reports", &format!("{}x", single.to_json())).await;
    service.get(&format!("/v1/surveys/one?token={TOKEN}")).await;
    service.get(&format!("/nowhere/{TOKEN}")).await;
    let guess = "wrong-token-9876543210fedcba";
    let sent = [("authorization", &*format!("Bearer {guess}"))];
    service.send("GET", "/v1/surveys", &sent, b"").await;
    service.counted("one").await;
    service.owner_post("/v1/surveys/one/rounds/1/seal", &Value::Null).await;
    service.owner_post("/v1/surveys/one/rounds/1/release", &Value::Null).await;

    let lines = kept.lines.lock().unwrap().clone();
    assert!(lines.iter().any(|line| line.contains("answered")), "nothing was logged: {lines:?}");
    assert!(lines.iter().any(|line| line.contains("a wrong token")), "{lines:?}");
    let ids: Vec<String> = reports.iter().chain([&single]).map(|r| r.id.to_string()).collect();
    for line in lines.iter().filter(|line| line.contains("undertone")) {
        for secret in [TOKEN, guess, "77777", "Bearer"] {
            assert!(!line.contains(secret), "{line}");
        }
        assert!(!ids.iter().any(|id| line.contains(id)), "{line}");
        // An address only where somebody guessed, and then nothing about reports.
        if line.contains("127.0.0.1") {
            assert!(line.contains("a wrong token"), "{line}");
            assert!(!line.contains("reports"), "{line}");
        }
    }
}
