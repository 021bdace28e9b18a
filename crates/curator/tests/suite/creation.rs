//! Curators killed while they create surveys: a survey has its first round, or does not exist.

use crate::api::harness::{TOKEN, yes_no};
use crate::common::postgres;
use rand_chacha::ChaCha12Rng;
use rand_core::{Rng, SeedableRng};
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use undertone_curator::auth::OwnerToken;
use undertone_curator::clock::{SystemClock, SystemRandomness};
use undertone_curator::store::{self, Faults, Options, Store, StoreError};
use undertone_curator::{App, Curator, Settings};
use undertone_wire::RoundState;

const ADDRESS: &str = "UNDERTONE_TEST_CREATION_STORE";
const FIRST: &str = "UNDERTONE_TEST_CREATION_FIRST";
const FAULT: &str = "UNDERTONE_TEST_CREATION_FAULT";
const POINTS: [&str; 2] = ["create/written", "create/committed"];

async fn open(address: &str, faults: Faults) -> Arc<dyn Store> {
    // A database that has just lost a client may take a moment.
    loop {
        match store::open_with(address, Options { faults: faults.clone(), ..Options::default() })
            .await
        {
            Ok(store) => return store,
            Err(StoreError::Unavailable(_)) => tokio::time::sleep(Duration::from_millis(20)).await,
            Err(error) => panic!("{error}"),
        }
    }
}

/// Not a test of its own: the curator that is killed. Creates one survey after the other and says which.
#[test]
fn creating_process() {
    let Ok(address) = std::env::var(ADDRESS) else { return };
    let first: u64 = std::env::var(FIRST).unwrap().parse().unwrap();
    let faults = std::env::var(FAULT).map_or(Faults::none(), |fault| {
        let (point, turns) = fault.split_once(':').unwrap();
        let (point, turns) = (point.to_owned(), turns.parse::<u64>().unwrap());
        let seen = AtomicU64::new(0);
        Faults::call(move |at| {
            if at == point && seen.fetch_add(1, Ordering::Relaxed) + 1 == turns {
                postgres::signal("KILL", std::process::id());
                std::thread::sleep(Duration::from_secs(60));
            }
        })
    });
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        let curator = Curator::new(App {
            store: open(&address, faults).await,
            clock: Arc::new(SystemClock),
            randomness: Arc::new(SystemRandomness),
            owner: OwnerToken::new(TOKEN).unwrap(),
            settings: Settings::default(),
        });
        for number in first..first + 50 {
            let body = yes_no(&format!("survey-{number}")).to_string();
            curator.create(body.as_bytes()).await.unwrap();
            let _ = std::io::stdout().lock().write_all(format!("\nMADE {number}\n").as_bytes());
        }
    });
}

/// Kills curators at both named points and at random moments; gives the surveys they said they had made.
fn kill_often(address: &str, kills: u64, seed: u64) -> BTreeSet<u64> {
    let mut rng = ChaCha12Rng::seed_from_u64(seed);
    let mut made = BTreeSet::new();
    for turn in 0..kills {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "creation::creating_process", "--nocapture"]);
        command.env(ADDRESS, address).env(FIRST, (1000 * turn).to_string());
        let named = turn.is_multiple_of(2);
        if named {
            let point = POINTS[(turn / 2) as usize % POINTS.len()];
            command.env(FAULT, format!("{point}:{}", 1 + rng.next_u64() % 4));
        }
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let (enough, pause) = (1 + rng.next_u64() % 4, rng.next_u64() % 8000);
        let mut answers = 0;
        for line in BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok) {
            if let Some(number) = line.strip_prefix("MADE ") {
                made.insert(number.parse().unwrap());
                answers += 1;
                if !named && answers == enough {
                    std::thread::sleep(Duration::from_micros(pause));
                    child.kill().unwrap();
                }
            }
        }
        child.wait().unwrap();
    }
    made
}

async fn all_have_their_round(address: &str, made: &BTreeSet<u64>, kills: u64) {
    let store = open(address, Faults::none()).await;
    let list = store.overview(None, 100_000).await.unwrap();
    let names: BTreeSet<String> = list.iter().map(|one| one.id.to_string()).collect();
    for number in made {
        assert!(names.contains(&format!("survey-{number}")), "survey {number} was said to be made");
    }
    // Each curator had at most one under way when it died.
    assert!(names.len() as u64 <= made.len() as u64 + kills);
    assert!(made.len() as u64 >= kills / 2, "the curators made something: {made:?}");
    for one in &list {
        assert_eq!(one.newest, Some((1, RoundState::Open)), "{} has no round", one.id);
        let events = store.events(&one.id, 0, 10).await.unwrap();
        let kinds: Vec<&str> = events.iter().map(|entry| &*entry.event.kind).collect();
        assert_eq!(kinds, ["survey_created", "round_opened"], "{}", one.id);
        assert!(events[0].precedes(&events[1]));
        let rounds = store.rounds(&one.id).await.unwrap();
        assert!(store.policy(&rounds[0].policies[0]).await.unwrap().is_some(), "{}", one.id);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn embedded_surveys_are_whole() {
    let directory = tempfile::tempdir().unwrap();
    let address = format!("sqlite:{}", directory.path().join("curator.db").display());
    let made = kill_often(&address, 24, 31);
    all_have_their_round(&address, &made, 24).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn postgresql_surveys_are_whole() {
    let Some(server) = postgres::Server::start() else { return };
    let address = server.database("creation");
    let made = kill_often(&address, 16, 32);
    all_have_their_round(&address, &made, 16).await;
}
