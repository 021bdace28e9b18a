//! A curator as far as a client can see one, on bare sockets, with faults on demand.

#![allow(dead_code, reason = "each test file uses a part")]

use serde_json::{Value, json};
use std::collections::{BTreeMap, VecDeque};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use undertone_client::{Connection, Retry};
use undertone_core::{Draft, Policy};
use undertone_wire::hex;

/// A golden policy.
pub(crate) fn golden(name: &str) -> Policy {
    let path = format!("{}/../../vectors/v1/policy/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let file: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    Draft::from_json(&file["document"].to_string()).unwrap().verify().unwrap()
}

/// What happens to a submission.
#[derive(Clone, Copy)]
pub(crate) enum Fault {
    /// Stored, and then the connection is cut.
    Lost,
    /// The connection is cut before anything is stored.
    Cut,
    /// 503.
    Busy,
    /// 200 with somebody else's page.
    Portal,
    /// Acknowledges fewer reports than were sent.
    Short,
    /// A problem with this status and code.
    Problem(u16, &'static str),
}

/// What the curator has seen.
#[derive(Default)]
pub(crate) struct Seen {
    pub(crate) surveys: BTreeMap<String, Value>,
    pub(crate) policies: BTreeMap<String, Vec<u8>>,
    pub(crate) faults: VecDeque<Fault>,
    /// The ids of the reports in every submission, in order.
    pub(crate) attempts: Vec<Vec<String>>,
    /// How often each was stored.
    pub(crate) stored: BTreeMap<String, u32>,
    pub(crate) kinds: Vec<String>,
    pub(crate) fetched: u32,
    /// Nobody answers: every connection is cut.
    pub(crate) away: bool,
    /// Longer bodies are refused with 413.
    pub(crate) largest: Option<usize>,
}

pub(crate) struct TestCurator {
    pub(crate) base: String,
    pub(crate) seen: Arc<Mutex<Seen>>,
}

impl TestCurator {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(Seen::default()));
        let shared = seen.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = shared.clone();
                std::thread::spawn(move || serve(stream, &shared));
            }
        });
        Self { base, seen }
    }

    /// Publishes a survey over a policy that asks "A question?".
    pub(crate) fn publish(&self, id: &str, policy: &Policy, state: &str) {
        self.ask(id, "A question?", policy, state);
    }

    /// Publishes a survey that asks a question of its own.
    pub(crate) fn ask(&self, id: &str, question: &str, policy: &Policy, state: &str) {
        let document: Value = serde_json::from_str(&policy.draft().to_json()).unwrap();
        let survey = json!({
            "id": id, "title": "A title", "question": question, "answers": document["inputs"],
            "state": state, "contact": "owner@example", "retention": "a year", "later": "unknown fields are left alone",
            "round": {"number": 1, "state": state, "groups": [
                {"group": "everyone", "policy": policy.id().to_string(), "people": 1000}]},
        });
        let mut seen = self.seen.lock().unwrap();
        seen.surveys.insert(id.into(), survey);
        seen.policies.insert(policy.id().to_string(), policy.draft().to_bytes());
    }

    pub(crate) fn fault(&self, fault: Fault) {
        self.seen.lock().unwrap().faults.push_back(fault);
    }

    pub(crate) fn attempts(&self) -> Vec<Vec<String>> {
        self.seen.lock().unwrap().attempts.clone()
    }

    pub(crate) fn stored(&self) -> BTreeMap<String, u32> {
        self.seen.lock().unwrap().stored.clone()
    }

    /// Cuts every connection from now on.
    pub(crate) fn go_away(&self) {
        self.seen.lock().unwrap().away = true;
    }

    /// Answers again.
    pub(crate) fn come_back(&self) {
        self.seen.lock().unwrap().away = false;
    }

    /// A connection that loses patience quickly.
    pub(crate) fn connection(&self) -> Connection {
        quick(&self.base)
    }
}

pub(crate) fn quick(base: &str) -> Connection {
    let retry =
        Retry { attempts: 3, first: Duration::from_millis(1), longest: Duration::from_millis(5) };
    Connection::new(base).unwrap().with_retry(retry)
}

fn serve(stream: TcpStream, seen: &Mutex<Seen>) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|&read| read > 0)?;
        let target = line.split(' ').nth(1)?.to_owned();
        let (mut length, mut kind) = (0, String::new());
        loop {
            let mut header = String::new();
            reader.read_line(&mut header).ok()?;
            let header = header.trim_end().to_owned();
            if header.is_empty() {
                break;
            }
            let (name, value) = header.split_once(": ")?;
            match name.to_ascii_lowercase().as_str() {
                "content-length" => length = value.parse().ok()?,
                "content-type" => kind = value.into(),
                _ => {}
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        let (status, content) = respond(&target, &kind, &body, seen)?;
        let mut stream = &stream;
        let head = format!("HTTP/1.1 {status} x\r\ncontent-length: {}\r\n\r\n", content.len());
        stream.write_all(head.as_bytes()).ok()?;
        stream.write_all(&content).ok()?;
    }
}

/// `None` cuts the connection.
fn respond(target: &str, kind: &str, body: &[u8], seen: &Mutex<Seen>) -> Option<(u16, Vec<u8>)> {
    let mut seen = seen.lock().unwrap();
    if seen.away {
        return None;
    }
    let problem = |status: u16, code: &str| {
        let body = json!({"status": status, "code": code, "detail": "as told"});
        Some((status, body.to_string().into_bytes()))
    };
    let path = target.split('?').next()?;
    let parts: Vec<&str> = path.trim_start_matches('/').split('/').collect();
    match parts.as_slice() {
        ["v1", "policies", id] => {
            seen.fetched += 1;
            assert!(target.ends_with("?form=bytes"));
            match seen.policies.get(*id) {
                Some(bytes) => Some((200, bytes.clone())),
                None => problem(404, "policy_unknown"),
            }
        }
        ["v1", "surveys", id] => match seen.surveys.get(*id) {
            Some(survey) => Some((200, survey.to_string().into_bytes())),
            None => problem(404, "survey_unknown"),
        },
        ["v1", "surveys", _, "reports"] => {
            let ids = report_ids(kind, body);
            seen.attempts.push(ids.clone());
            seen.kinds.push(kind.into());
            if seen.largest.is_some_and(|largest| body.len() > largest) {
                return problem(413, "body_too_large");
            }
            let fault = seen.faults.pop_front();
            let mut acknowledged = ids.len();
            match fault {
                Some(Fault::Cut) => return None,
                Some(Fault::Busy) => return problem(503, "unavailable"),
                Some(Fault::Portal) => return Some((200, b"<p>Welcome".to_vec())),
                Some(Fault::Problem(status, code)) => return problem(status, code),
                Some(Fault::Short) => acknowledged -= 1,
                Some(Fault::Lost) | None => {}
            }
            for id in ids {
                *seen.stored.entry(id).or_default() += 1;
            }
            if matches!(fault, Some(Fault::Lost)) {
                return None;
            }
            Some((202, json!({"accepted": acknowledged}).to_string().into_bytes()))
        }
        _ => problem(404, "not_found"),
    }
}

/// The report ids of a body, read by this page's own understanding of the two forms.
fn report_ids(kind: &str, body: &[u8]) -> Vec<String> {
    if kind == "application/vnd.undertone.reports" {
        assert_eq!(body[0], 1);
        let count = u32::from_be_bytes(body[34..38].try_into().unwrap()) as usize;
        let each = (body.len() - 38) / count;
        assert_eq!(38 + count * each, body.len());
        return (0..count).map(|i| hex::encode(&body[38 + i * each..54 + i * each])).collect();
    }
    assert_eq!(kind, "application/json");
    let value: Value = serde_json::from_slice(body).unwrap();
    let list = value.get("reports").map_or(vec![value.clone()], |l| l.as_array().unwrap().clone());
    list.iter().map(|report| report["id"].as_str().unwrap().to_owned()).collect()
}
