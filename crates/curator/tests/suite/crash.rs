//! Servers killed under load, at random moments and at named points inside a commit and inside a fold; clients
//! that lose requests and answers and repeat themselves. Every acknowledged report is counted once.

use crate::common::postgres;
use rand_chacha::ChaCha12Rng;
use rand_core::{Rng, SeedableRng};
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};
use undertone_core::{PolicyId, ReportId, Token};
use undertone_curator::store::{
    self, Batch, Event, Faults, NewPolicy, NewSurvey, Options, RoundKey, Store, StoreError,
};
use undertone_wire::{ReportRows, TokenShape};

const OUTPUTS: u32 = 5;
const POLICY: PolicyId = PolicyId([7; 32]);
const ADDRESS: &str = "UNDERTONE_TEST_CRASH_STORE";
const FAULT: &str = "UNDERTONE_TEST_CRASH_FAULT";
const POINTS: [&str; 7] = [
    "append/inserted",
    "append/committed",
    "fold/read",
    "fold/written",
    "fold/committed",
    "merge/written",
    "merge/committed",
];

pub(crate) fn round() -> RoundKey {
    RoundKey { survey: "coffee".parse().unwrap(), number: 1 }
}

/// Small steps: many commits, runs and merges in little time.
pub(crate) fn options(faults: Faults) -> Options {
    Options {
        step_reports: 300,
        step_chunks: 6,
        fan: 2,
        chunk_ids: 25,
        faults,
        ..Options::default()
    }
}

pub(crate) async fn prepare(address: &str) {
    let store = store::open(address).await.unwrap();
    let survey = round().survey;
    let event = Event { survey: survey.clone(), at: 0, kind: "test".into(), detail: String::new() };
    let policies = vec![NewPolicy {
        id: POLICY,
        bytes: vec![7],
        tokens: TokenShape { outputs: OUTPUTS, bits: false },
    }];
    let (document, created, opened) = ("v1".into(), event.clone(), event);
    let new = NewSurvey { id: survey, document, policies, created, opened };
    store.create_survey(&new).await.unwrap();
}

/// Request `number`: which reports it carries follows from its number.
pub(crate) fn batch(number: u64) -> Batch {
    let size = 1 + number % 37;
    let tokens: Vec<(ReportId, Token)> = (0..size)
        .map(|place| {
            let id = (u128::from(number) << 64 | u128::from(place))
                .wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
            (
                ReportId(id.to_be_bytes()),
                Token::Index(((number + place) % u64::from(OUTPUTS)) as u32),
            )
        })
        .collect();
    let reports = ReportRows::pack(tokens.iter().map(|(id, token)| (*id, token))).unwrap();
    Batch { round: round(), policy: POLICY, reports }
}

/// What a set of requests amounts to when each is counted once.
pub(crate) fn tally<'a>(requests: impl IntoIterator<Item = &'a u64>) -> Vec<u64> {
    let mut counts = vec![0; OUTPUTS as usize];
    for number in requests {
        for place in 0..1 + number % 37 {
            counts[((number + place) % u64::from(OUTPUTS)) as usize] += 1;
        }
    }
    counts
}

/// Not a test of its own: the server that is killed. Reads request numbers, appends, answers, and folds
/// all the while.
#[test]
fn server_process() {
    let Ok(address) = std::env::var(ADDRESS) else { return };
    let faults = match std::env::var(FAULT) {
        Ok(fault) => {
            let (point, turns) = fault.split_once(':').unwrap();
            let (point, turns) = (point.to_owned(), turns.parse::<u64>().unwrap());
            let seen = AtomicU64::new(0);
            Faults::call(move |at| {
                if at == point && seen.fetch_add(1, Ordering::Relaxed) + 1 == turns {
                    postgres::signal("KILL", std::process::id());
                    // It goes no further from here.
                    std::thread::sleep(Duration::from_secs(60));
                }
            })
        }
        Err(_) => Faults::none(),
    };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        // A database that has just been killed may take a moment.
        let store = loop {
            match store::open_with(&address, options(faults.clone())).await {
                Ok(store) => break store,
                Err(StoreError::Unavailable(_)) => {
                    tokio::time::sleep(Duration::from_millis(20)).await
                }
                Err(error) => panic!("{error}"),
            }
        };
        let folding = store.clone();
        tokio::spawn(async move {
            loop {
                match folding.fold().await {
                    Ok(progress) if progress.more => {}
                    Ok(_) | Err(StoreError::Unavailable(_)) => {
                        tokio::time::sleep(Duration::from_millis(1)).await;
                    }
                    Err(error) => panic!("{error}"),
                }
            }
        });
        let (requests, mut queue) = tokio::sync::mpsc::unbounded_channel::<u64>();
        std::thread::spawn(move || {
            for line in std::io::stdin().lock().lines() {
                if requests.send(line.unwrap().parse().unwrap()).is_err() {
                    return;
                }
            }
        });
        say("READY 0");
        while let Some(number) = queue.recv().await {
            let store = store.clone();
            tokio::spawn(async move {
                match store.append(vec![batch(number)]).await {
                    Ok(()) => say(&format!("DONE {number}")),
                    Err(StoreError::Unavailable(_)) => {
                        // Nobody is helped by clients that try again at once.
                        tokio::time::sleep(Duration::from_millis(20)).await;
                        say(&format!("FAIL {number}"));
                    }
                    Err(error) => panic!("{error}"),
                }
            });
        }
    });
}

fn say(line: &str) {
    // On a line of its own, whatever the test harness has printed before.
    let _ = std::io::stdout().lock().write_all(format!("\n{line}\n").as_bytes());
}

/// A server process and its answers.
struct Process {
    child: Child,
    answers: Receiver<(String, u64)>,
    ready: bool,
    /// Requests that were not answered yet.
    open: usize,
}

impl Process {
    fn start(address: &str, fault: Option<String>) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "crash::server_process", "--nocapture", "--test-threads=1"]);
        command.env(ADDRESS, address).stdin(Stdio::piped()).stdout(Stdio::piped());
        if let Some(fault) = fault {
            command.env(FAULT, fault);
        }
        let mut child = command.spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let (sender, answers) = channel();
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                if let Some((word, number)) = line.split_once(' ')
                    && let Ok(number) = number.parse()
                {
                    let _ = sender.send((word.to_owned(), number));
                }
            }
        });
        Self { child, answers, ready: false, open: 0 }
    }

    /// Asks for a request; it may be lost if the server is gone.
    fn ask(&mut self, number: u64) {
        let input = self.child.stdin.as_mut().unwrap();
        let _ = input.write_all(format!("{number}\n").as_bytes());
        self.open += 1;
    }

    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// Clients that never forget what was acknowledged.
struct Clients {
    rng: ChaCha12Rng,
    sent: BTreeSet<u64>,
    acknowledged: BTreeSet<u64>,
    next: u64,
}

impl Clients {
    fn new(seed: u64) -> Self {
        let rng = ChaCha12Rng::seed_from_u64(seed);
        Self { rng, sent: BTreeSet::new(), acknowledged: BTreeSet::new(), next: 0 }
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.rng.next_u64() % limit
    }

    /// A new request, one that was not acknowledged, or one that was.
    fn choose(&mut self) -> u64 {
        let turn = self.below(10);
        let among = match turn {
            0..=2 => self.sent.difference(&self.acknowledged).copied().collect(),
            3 => self.acknowledged.iter().copied().collect(),
            _ => Vec::new(),
        };
        if among.is_empty() {
            self.next += 1;
            return self.next;
        }
        among[self.below(among.len() as u64) as usize]
    }

    /// Sends requests, several at a time, until the server dies or `until` says so; gives how many
    /// answers came.
    fn load(&mut self, process: &mut Process, until: impl Fn(u64, Instant) -> bool) -> u64 {
        let (mut answers, mut start) = (0, Instant::now());
        loop {
            match process.answers.recv_timeout(Duration::from_millis(2)) {
                Ok((word, _)) if word == "READY" => {
                    process.ready = true;
                    start = Instant::now();
                }
                Ok((word, number)) if word == "DONE" || word == "FAIL" => {
                    answers += 1;
                    process.open -= 1;
                    // One answer in ten is lost on the way.
                    if word == "DONE" && self.below(10) > 0 {
                        self.acknowledged.insert(number);
                    }
                }
                Ok(_) | Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return answers,
            }
            if process.ready && until(answers, start) {
                return answers;
            }
            while process.ready && process.open < 24 {
                let number = self.choose();
                self.sent.insert(number);
                process.ask(number);
                if self.below(12) == 0 {
                    // The same once more, at once.
                    process.ask(number);
                }
            }
        }
    }

    /// At the end: every report that was acknowledged is counted, each once, and none that was not sent;
    /// after everything is sent again, all are.
    async fn settle(&self, address: &str) {
        let store = store::open_with(address, options(Faults::none())).await.unwrap();
        let counts = folded(&store).await;
        let held = counted(address).await;
        assert!(ids(&self.acknowledged).is_subset(&held), "an acknowledged report is lost");
        assert!(held.is_subset(&ids(&self.sent)));
        assert_eq!(counts.iter().sum::<u64>(), held.len() as u64, "a report is counted twice");
        for &number in &self.sent {
            let whole = ids([&number]);
            let there = whole.intersection(&held).count();
            assert!(there == 0 || there == whole.len(), "a request is stored in part");
        }
        let all: Vec<u64> = self.sent.iter().copied().collect();
        for some in all.chunks(50) {
            store.append(some.iter().map(|&number| batch(number)).collect()).await.unwrap();
        }
        assert_eq!(folded(&store).await, tally(&self.sent));
        assert!(!self.acknowledged.is_empty());
    }
}

/// The ids of some requests.
fn ids<'a>(requests: impl IntoIterator<Item = &'a u64>) -> BTreeSet<Vec<u8>> {
    let rows = requests.into_iter().flat_map(|&number| {
        let reports = batch(number).reports;
        let rows = reports.rows().chunks(reports.row_bytes());
        rows.map(|row| row[..16].to_vec()).collect::<Vec<_>>()
    });
    rows.collect()
}

/// The ids the store has counted, read behind its back.
async fn counted(address: &str) -> BTreeSet<Vec<u8>> {
    let chunks: Vec<Vec<u8>> = match address.strip_prefix("sqlite:") {
        Some(file) => {
            let look = rusqlite::Connection::open(file).unwrap();
            let mut select = look.prepare("SELECT ids FROM chunk").unwrap();
            select.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
        }
        None => {
            let (client, connection) =
                tokio_postgres::connect(address, tokio_postgres::NoTls).await.unwrap();
            tokio::spawn(connection);
            let rows = client.query("SELECT ids FROM undertone.chunk", &[]).await.unwrap();
            rows.iter().map(|row| row.get(0)).collect()
        }
    };
    chunks.iter().flat_map(|chunk| chunk.chunks(16).map(<[u8]>::to_vec)).collect()
}

pub(crate) async fn folded(store: &Arc<dyn Store>) -> Vec<u64> {
    while store.fold().await.unwrap().more {}
    store.tallies(&round()).await.unwrap().remove(0).counts
}

/// Starts a server, loads it and lets it die: at a named point every other time, else at a random
/// moment. `strike` is called just before.
fn one_kill(address: &str, clients: &mut Clients, turn: usize, strike: impl FnOnce(&mut Clients)) {
    let fault = turn.is_multiple_of(2).then(|| {
        let point = POINTS[turn / 2 % POINTS.len()];
        format!("{point}:{}", 1 + clients.below(6))
    });
    let named = fault.is_some();
    let mut process = Process::start(address, fault);
    let pause = Duration::from_micros(clients.below(60_000));
    let answers = 1 + clients.below(40);
    clients.load(&mut process, |count, start| {
        if named { count > 100_000 } else { count >= answers && start.elapsed() >= pause }
    });
    strike(clients);
    process.kill();
}

const EMBEDDED_KILLS: usize = 32;
const POSTGRESQL_KILLS: usize = 24;

#[tokio::test(flavor = "multi_thread")]
async fn embedded_survives_kills() {
    let directory = tempfile::tempdir().unwrap();
    let address = format!("sqlite:{}", directory.path().join("curator.db").display());
    prepare(&address).await;
    let mut clients = Clients::new(11);
    for turn in 0..EMBEDDED_KILLS {
        one_kill(&address, &mut clients, turn, |_| {});
    }
    println!("{EMBEDDED_KILLS} kills, {} requests", clients.sent.len());
    clients.settle(&address).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn postgresql_survives_kills() {
    let Some(mut server) = postgres::Server::start() else { return };
    let address = server.database("crash");
    prepare(&address).await;
    let mut clients = Clients::new(12);
    let mut backends = 0;
    for turn in 0..POSTGRESQL_KILLS {
        // Two turns without, a backend, the whole server.
        let (backend, whole) = (turn % 4 == 2, turn % 4 == 3);
        one_kill(&address, &mut clients, turn, |clients| {
            if backend {
                backends += usize::from(server.kill_backend("crash", clients.below(8) as usize));
            } else if whole {
                server.kill();
            }
        });
        if whole {
            server.resume();
        } else {
            server.wait();
        }
    }
    println!("{POSTGRESQL_KILLS} kills, {} requests, {backends} backends", clients.sent.len());
    clients.settle(&address).await;
}

/// The database goes away and comes back while the curator stays: appends fail in words, then succeed
/// again, and nothing acknowledged is lost.
#[tokio::test(flavor = "multi_thread")]
async fn curators_outlive_their_database() {
    let Some(mut server) = postgres::Server::start() else { return };
    let address = server.database("restart");
    prepare(&address).await;
    let mut clients = Clients::new(13);
    let mut process = Process::start(&address, None);
    for turn in 0..4 {
        let before = clients.acknowledged.len();
        clients.load(&mut process, |count, _| count >= 60);
        assert!(clients.acknowledged.len() > before, "nothing goes after restart {turn}");
        match turn {
            0 => server.stop(),
            1 => server.kill(),
            2 => assert!(server.kill_backend("restart", 0)),
            _ => break,
        }
        // While it is down: requests are refused.
        clients.load(&mut process, |_, start| start.elapsed() > Duration::from_millis(100));
        if turn < 2 {
            server.resume();
        } else {
            server.wait();
        }
    }
    process.kill();
    clients.settle(&address).await;
}
