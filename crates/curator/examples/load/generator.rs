//! Clients that keep their connections and do as little as possible besides.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const OUTPUTS: u64 = 4;

#[derive(Clone, Copy, Debug)]
pub(crate) enum LoadForm {
    Json,
    Binary,
}

/// A survey to send reports to.
pub(crate) struct Target {
    address: SocketAddr,
    survey: String,
    policy: String,
    token: String,
}

/// What the clients saw.
pub(crate) struct Seen {
    elapsed: Duration,
    /// Microseconds, sorted.
    latencies: Vec<u32>,
}

impl Seen {
    pub(crate) fn requests(&self) -> u64 {
        self.latencies.len() as u64
    }

    pub(crate) fn rate(&self) -> f64 {
        self.latencies.len() as f64 / self.elapsed.as_secs_f64()
    }

    fn quantile(&self, share: f64) -> f64 {
        let at = ((self.latencies.len() - 1) as f64 * share) as usize;
        f64::from(self.latencies[at]) / 1000.0
    }
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} requests in {:.1} s, {:.0}/s, median {:.1} ms, p99 {:.1} ms, p99.9 {:.1} ms, longest {:.1} ms",
            self.requests(),
            self.elapsed.as_secs_f64(),
            self.rate(),
            self.quantile(0.5),
            self.quantile(0.99),
            self.quantile(0.999),
            self.quantile(1.0),
        )
    }
}

/// The bits of a number, scattered one to one.
pub(crate) fn scatter(number: u64) -> u64 {
    let number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ number >> 31
}

/// Report `number`: id and token.
pub(crate) fn row(number: u64) -> [u8; 20] {
    let mut row = [0; 20];
    row[..8].copy_from_slice(&scatter(number).to_be_bytes());
    row[8..16].copy_from_slice(&scatter(!number).to_be_bytes());
    row[19] = (scatter(number) % OUTPUTS) as u8;
    row
}

impl Target {
    /// Creates a survey over HTTP.
    pub(crate) async fn create(address: SocketAddr, token: &str) -> Self {
        let survey = format!("load-{}", std::process::id() as u64 ^ scatter(now()) >> 40);
        let body = format!(
            r#"{{"id":"{survey}","title":"Load","question":"Which?","answers":{{"names":["a","b","c","d"]}},
            "plan":{{"epsilon":"1","prior":{{"p":[0.25,0.25,0.25,0.25],"source":"none"}}}},
            "retention":"none","contact":"none@example.org"}}"#
        );
        let head = format!(
            "POST /v1/surveys HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        let mut connection = Connection::open(address).await;
        let (status, answer) = connection.ask(&[head.as_bytes(), body.as_bytes()].concat()).await;
        assert!(status / 100 == 2, "{status} {answer}");
        let head = format!("GET /v1/surveys/{survey} HTTP/1.1\r\nhost: x\r\n\r\n");
        let (_, answer) = connection.ask(head.as_bytes()).await;
        let document: serde_json::Value = serde_json::from_str(&answer).unwrap();
        let policy = document["round"]["groups"][0]["policy"].as_str().unwrap().to_owned();
        Self { address, survey, policy, token: token.into() }
    }

    /// A request with reports from number `start` on.
    fn request(&self, start: u64, reports: u64, form: LoadForm) -> Vec<u8> {
        let (kind, body) = match form {
            LoadForm::Json => {
                let row = row(start);
                let id: String = row[..16].iter().map(|byte| format!("{byte:02x}")).collect();
                let body = format!(
                    r#"{{"undertone":"report/1","policy":"{}","id":"{id}","token":{}}}"#,
                    self.policy, row[19]
                );
                ("application/json", body.into_bytes())
            }
            LoadForm::Binary => {
                let mut body = Vec::with_capacity(38 + 20 * reports as usize);
                body.push(1);
                let digits = |at: usize| u8::from_str_radix(&self.policy[at..at + 2], 16).unwrap();
                body.extend((0..64).step_by(2).map(digits));
                body.push(0);
                body.extend((reports as u32).to_be_bytes());
                (start..start + reports).for_each(|number| body.extend(row(number)));
                ("application/vnd.undertone.reports", body)
            }
        };
        let head = format!(
            "POST /v1/surveys/{}/reports HTTP/1.1\r\nhost: x\r\ncontent-type: {kind}\r\n\
             content-length: {}\r\n\r\n",
            self.survey,
            body.len()
        );
        [head.into_bytes(), body].concat()
    }

    /// Sends requests of so many reports over so many connections until told to stop.
    pub(crate) async fn load(
        &self,
        connections: usize,
        reports: u64,
        form: LoadForm,
        until: impl Fn(u64, Duration) -> bool + Copy + Send + 'static,
    ) -> Seen {
        let next = Arc::new(AtomicU64::new(0));
        let start = Instant::now();
        let tasks: Vec<_> = (0..connections)
            .map(|_| {
                let next = next.clone();
                let target = Self {
                    address: self.address,
                    survey: self.survey.clone(),
                    policy: self.policy.clone(),
                    token: String::new(),
                };
                tokio::spawn(async move {
                    let mut connection = Connection::open(target.address).await;
                    let mut latencies = Vec::new();
                    loop {
                        let number = next.fetch_add(reports, Ordering::Relaxed);
                        if until(number, start.elapsed()) {
                            return latencies;
                        }
                        let request = target.request(number, reports, form);
                        let begin = Instant::now();
                        let (status, answer) = connection.ask(&request).await;
                        assert_eq!(status, 202, "{answer}");
                        latencies.push(begin.elapsed().as_micros() as u32);
                    }
                })
            })
            .collect();
        let mut latencies = Vec::new();
        for task in tasks {
            latencies.extend(task.await.unwrap());
        }
        let elapsed = start.elapsed();
        latencies.sort_unstable();
        Seen { elapsed, latencies }
    }

    /// Waits until every report is counted, exactly once; gives the seconds it took.
    pub(crate) async fn wait_until_counted(&self, reports: u64) -> f64 {
        let start = Instant::now();
        let mut connection = Connection::open(self.address).await;
        let head = format!(
            "GET /v1/surveys/{}/estimates HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {}\r\n\r\n",
            self.survey, self.token
        );
        loop {
            let (status, answer) = connection.ask(head.as_bytes()).await;
            assert_eq!(status, 200, "{answer}");
            let document: serde_json::Value = serde_json::from_str(&answer).unwrap();
            let round = &document["rounds"][0];
            let counted = round["reports"].as_u64().unwrap_or(0);
            assert!(counted <= reports, "{counted} of {reports} counted");
            if counted == reports {
                assert_eq!(round["duplicates"].as_u64(), Some(0));
                return start.elapsed().as_secs_f64();
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
}

fn now() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.unwrap().as_nanos() as u64
}

/// One kept connection.
struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Connection {
    async fn open(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).await.unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream, buffer: Vec::new() }
    }

    /// Sends a request and reads its answer: status and body.
    async fn ask(&mut self, request: &[u8]) -> (u16, String) {
        self.stream.write_all(request).await.unwrap();
        self.buffer.clear();
        loop {
            if self.stream.read_buf(&mut self.buffer).await.unwrap() == 0 {
                panic!("the connection ended");
            }
            let Some(end) = self.buffer.windows(4).position(|four| four == b"\r\n\r\n") else {
                continue;
            };
            let head = String::from_utf8_lossy(&self.buffer[..end]).to_lowercase();
            let length: usize = head
                .lines()
                .find_map(|line| line.strip_prefix("content-length: "))
                .map_or(0, |length| length.parse().unwrap());
            if self.buffer.len() < end + 4 + length {
                continue;
            }
            let status = head[9..12].parse().unwrap();
            return (status, String::from_utf8_lossy(&self.buffer[end + 4..]).into_owned());
        }
    }
}
