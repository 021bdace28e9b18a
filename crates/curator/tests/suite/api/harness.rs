//! A curator on a free port, and a plain HTTP client.

use rand_chacha::ChaCha12Rng;
use rand_core::Rng;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use undertone_core::{Draft, Policy, Report, ReportId};
use undertone_curator::auth::OwnerToken;
use undertone_curator::clock::{Clock, SystemRandomness};
use undertone_curator::server::{self, Limits};
use undertone_curator::store::Store;
use undertone_curator::{App, Curator, Settings};

pub(crate) const TOKEN: &str = "owner-token-0123456789abcdef";

/// A clock that stands still unless told.
pub(crate) struct Still(AtomicI64);

impl Clock for Still {
    fn now(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// 2026-11-15.
pub(crate) const TODAY: i64 = 1_794_700_800;

pub(crate) struct Service {
    pub(crate) address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    running: Option<JoinHandle<std::io::Result<()>>>,
    _folder: Option<tempfile::TempDir>,
}

impl Service {
    /// On a temporary SQLite file, without limits on how often one may ask.
    pub(crate) async fn start() -> Self {
        Self::with(|_| {}, Limits::default()).await
    }

    pub(crate) async fn with(change: impl FnOnce(&mut Settings), limits: Limits) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("curator.db");
        let place = format!("sqlite:{}", file.display());
        let store = undertone_curator::store::open(&place).await.unwrap();
        let mut service = Self::on(store, change, limits).await;
        service._folder = Some(folder);
        service
    }

    pub(crate) async fn on(
        store: Arc<dyn Store>,
        change: impl FnOnce(&mut Settings),
        limits: Limits,
    ) -> Self {
        let mut settings = Settings { rate: None, ..Settings::default() };
        settings.fold_pause = std::time::Duration::from_millis(5);
        change(&mut settings);
        let curator = Curator::new(App {
            store,
            clock: Arc::new(Still(AtomicI64::new(TODAY))),
            randomness: Arc::new(SystemRandomness),
            owner: OwnerToken::new(TOKEN).unwrap(),
            settings,
        });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        let running = tokio::spawn(async move {
            let until = async {
                let _ = stopped.await;
            };
            server::serve(&curator, listener, None, limits, until).await
        });
        Self { address, stop: Some(stop), running: Some(running), _folder: None }
    }

    /// Asks the server to end and waits until it has.
    pub(crate) async fn stop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        if let Some(running) = self.running.take() {
            running.await.unwrap().unwrap();
        }
    }

    /// Asks the server to end, without waiting.
    pub(crate) fn begin_stop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send("GET", path, &[], b"").await
    }

    pub(crate) async fn owner_get(&self, path: &str) -> Answer {
        self.send("GET", path, &[("authorization", &bearer())], b"").await
    }

    pub(crate) async fn owner_post(&self, path: &str, body: &Value) -> Answer {
        let headers = [("authorization", bearer()), ("content-type", "application/json".into())];
        let headers: Vec<(&str, &str)> = headers.iter().map(|(k, v)| (*k, v.as_str())).collect();
        let body = if body.is_null() { String::new() } else { body.to_string() };
        self.send("POST", path, &headers, body.as_bytes()).await
    }

    pub(crate) async fn post_json(&self, path: &str, body: &str) -> Answer {
        self.send("POST", path, &[("content-type", "application/json")], body.as_bytes()).await
    }

    pub(crate) async fn post_binary(&self, path: &str, body: &[u8]) -> Answer {
        let kind = undertone_wire::BatchForm::Binary.media_type();
        self.send("POST", path, &[("content-type", kind)], body).await
    }

    pub(crate) async fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Answer {
        let mut head = format!(
            "{method} {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: {}\r\n",
            body.len()
        );
        for (name, value) in headers {
            head += &format!("{name}: {value}\r\n");
        }
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        stream.write_all(format!("{head}\r\n").as_bytes()).await.unwrap();
        // The server may answer and close before all of a large body is sent.
        let _ = stream.write_all(body).await;
        Answer::read(&mut stream).await.expect("an answer")
    }

    /// Creates a survey and gives the policy of its round.
    pub(crate) async fn create(&self, body: &Value) -> Policy {
        let made = self.owner_post("/v1/surveys", body).await;
        assert_eq!(made.status, 201, "{}", made.text());
        self.policy(made.json()["id"].as_str().unwrap()).await
    }

    /// The first group's policy of the newest round, verified as a device does.
    pub(crate) async fn policy(&self, survey: &str) -> Policy {
        let shown = self.get(&format!("/v1/surveys/{survey}")).await.json();
        let id = shown["round"]["groups"][0]["policy"].as_str().unwrap().to_owned();
        let document = self.get(&format!("/v1/policies/{id}")).await;
        assert_eq!(document.status, 200);
        let policy = Draft::from_json(&document.text()).unwrap().verify().unwrap();
        assert_eq!(policy.id().to_string(), id);
        policy
    }

    /// Waits until all reports of a survey's newest round are counted, and gives their number.
    pub(crate) async fn counted(&self, survey: &str) -> u64 {
        for _ in 0..2000 {
            let listed = self.owner_get("/v1/surveys").await.json();
            let list = listed["surveys"].as_array().unwrap();
            let one = list.iter().find(|one| one["id"] == survey).unwrap();
            if one["waiting"] == 0 {
                return one["reports"].as_u64().unwrap();
            }
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
        panic!("reports still wait");
    }
}

pub(crate) fn bearer() -> String {
    format!("Bearer {TOKEN}")
}

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    /// Reads one answer from a connection that is closed after it.
    pub(crate) async fn read(stream: &mut TcpStream) -> Option<Self> {
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes).await;
        let end = bytes.windows(4).position(|w| w == b"\r\n\r\n")?;
        let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
        let mut lines = head.lines();
        let status = lines.next()?.split(' ').nth(1)?.parse().ok()?;
        let headers = lines
            .filter_map(|line| line.split_once(": "))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
            .collect();
        Some(Self { status, headers, body: bytes[end + 4..].to_vec() })
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("not JSON: {}", self.text()))
    }

    /// The problem's code, after checking its form.
    pub(crate) fn code(&self) -> String {
        assert_eq!(
            self.header("content-type"),
            Some("application/problem+json"),
            "{}",
            self.text()
        );
        let problem = self.json();
        assert_eq!(problem["status"], self.status);
        let code = problem["code"].as_str().unwrap();
        assert_eq!(problem["type"], format!("urn:undertone:problem:{code}"));
        assert!(!problem["detail"].as_str().unwrap().is_empty());
        assert!(!problem["title"].as_str().unwrap().is_empty());
        code.to_owned()
    }
}

/// A yes/no survey with a prior.
pub(crate) fn yes_no(id: &str) -> Value {
    json!({
        "id": id, "title": "Smoking", "question": "Do you smoke?",
        "answers": {"names": ["no", "yes"]},
        "plan": {"epsilon": "1", "prior": {"p": [0.9, 0.1], "source": "a census"}},
        "retention": "one year", "contact": "office@example.org",
    })
}

/// One honest report about answer `x`.
pub(crate) fn report(policy: &Policy, x: usize, rng: &mut ChaCha12Rng) -> Report {
    let symbol = policy.draft().inputs().symbol(x).unwrap();
    let token = policy.draw(symbol, rng).unwrap();
    let mut id = [0; 16];
    rng.fill_bytes(&mut id);
    Report { policy: policy.id(), id: ReportId(id), token }
}

/// `count` honest reports of people whose answers follow `shares`.
pub(crate) fn crowd(
    policy: &Policy,
    shares: &[f64],
    count: usize,
    rng: &mut ChaCha12Rng,
) -> Vec<Report> {
    let mut one = |_| {
        let mut u = rng.next_u64() as f64 / 2f64.powi(64);
        let mut x = 0;
        while x + 1 < shares.len() && u >= shares[x] {
            u -= shares[x];
            x += 1;
        }
        report(policy, x, rng)
    };
    (0..count).map(&mut one).collect()
}

/// The JSON body of a list of reports.
pub(crate) fn listed(reports: &[Report]) -> String {
    let list: Vec<String> = reports.iter().map(Report::to_json).collect();
    format!("{{\"reports\": [{}]}}", list.join(","))
}
