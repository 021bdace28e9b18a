//! Curators killed while they pause, close and delete surveys, wipe the disk and make tokens: every step is taken
//! whole, with its entry in the log, or not at all.

use crate::api::harness::{Service, yes_no};
use crate::common::postgres;
use rand_chacha::ChaCha12Rng;
use rand_core::{Rng, SeedableRng};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use undertone_curator::server::Limits;
use undertone_curator::store::{self, Faults, Options, Store, StoreError};
use undertone_wire::RoundState;

const ADDRESS: &str = "UNDERTONE_TEST_LIFE_STORE";
const FIRST: &str = "UNDERTONE_TEST_LIFE_FIRST";
const FAULT: &str = "UNDERTONE_TEST_LIFE_FAULT";
const POINTS: [&str; 7] = [
    "move/written",
    "move/committed",
    "erase/written",
    "erase/committed",
    "wipe/done",
    "wipe/noted",
    "tokens/written",
];
/// The steps every survey takes, with what each leaves in its log.
const STEPS: [(&str, &[&str]); 4] = [
    ("pause", &["survey_paused"]),
    ("resume", &["survey_resumed"]),
    ("close", &["round_sealed", "survey_closed"]),
    ("delete", &["survey_deleted"]),
];

async fn open(address: &str, faults: Faults) -> Arc<dyn Store> {
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

/// Not a test of its own: the curator that is killed. Takes one survey after the other through its life.
#[test]
fn living_process() {
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
    let say = |line: String| {
        let _ = std::io::stdout().lock().write_all(format!("\n{line}\n").as_bytes());
    };
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        let service = Service::on(open(&address, faults).await, |_| {}, Limits::default()).await;
        for number in first..first + 40 {
            let made = service.owner_post("/v1/surveys", &yes_no(&format!("s-{number}"))).await;
            assert_eq!(made.status, 201, "{}", made.text());
            say(format!("DONE {number} made"));
            let token = json!({"name": format!("n-{number}"), "role": "officer"});
            assert_eq!(service.owner_post("/v1/tokens", &token).await.status, 201);
            say(format!("DONE {number} token"));
            for (step, _) in STEPS {
                let path = format!("/v1/surveys/s-{number}/{step}");
                let done = service.owner_post(&path, &Value::Null).await;
                assert!(done.status < 300, "{step}: {}", done.text());
                say(format!("DONE {number} {step}"));
            }
        }
    });
}

/// Kills curators at the named points and at random moments; gives what each survey was said to have done.
fn kill_often(address: &str, kills: u64, seed: u64) -> BTreeMap<u64, BTreeSet<String>> {
    let mut rng = ChaCha12Rng::seed_from_u64(seed);
    let mut done: BTreeMap<u64, BTreeSet<String>> = BTreeMap::new();
    for turn in 0..kills {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "life_crash::living_process", "--nocapture"]);
        command.env(ADDRESS, address).env(FIRST, (1000 * turn).to_string());
        let named = !turn.is_multiple_of(3);
        if named {
            let point = POINTS[(rng.next_u64() as usize) % POINTS.len()];
            command.env(FAULT, format!("{point}:{}", 1 + rng.next_u64() % 5));
        }
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let (enough, pause) = (1 + rng.next_u64() % 12, rng.next_u64() % 8000);
        let mut answers = 0;
        for line in BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok) {
            let Some((number, step)) =
                line.strip_prefix("DONE ").and_then(|rest| rest.split_once(' '))
            else {
                continue;
            };
            done.entry(number.parse().unwrap()).or_default().insert(step.to_owned());
            answers += 1;
            // A point that is not reached any more would be waited for in vain.
            if answers == if named { 60 } else { enough } {
                std::thread::sleep(Duration::from_micros(pause));
                child.kill().unwrap();
            }
        }
        child.wait().unwrap();
    }
    done
}

/// Every log is what the steps leave, up to one of them, and the survey's state is what its log says.
async fn all_steps_are_whole(address: &str, done: &BTreeMap<u64, BTreeSet<String>>, kills: u64) {
    let store = open(address, Faults::none()).await;
    assert!(done.len() as u64 >= kills / 2, "the curators did something: {done:?}");
    let names: BTreeSet<String> =
        store.tokens().await.unwrap().into_iter().map(|token| token.name).collect();
    let mut deleted = 0;
    for (number, steps) in done {
        let id = format!("s-{number}").parse().unwrap();
        let events = store.events(&id, 0, 100).await.unwrap();
        assert!(events[0].is_first() && events.windows(2).all(|two| two[0].precedes(&two[1])));
        let mut kinds: Vec<&str> = events.iter().map(|entry| &*entry.event.kind).collect();
        // The curator's own entry comes when it comes, at most once and after the sealing.
        let erased: Vec<usize> =
            (0..kinds.len()).filter(|&at| kinds[at] == "reports_erased").collect();
        assert!(erased.len() <= 1 && erased.iter().all(|&at| at > 4), "{kinds:?}");
        kinds.retain(|kind| *kind != "reports_erased");
        let mut expected = vec!["survey_created", "round_opened"];
        let mut taken = 0;
        for (_, left) in STEPS {
            if kinds.len() > expected.len() {
                expected.extend(left);
                taken += 1;
            }
        }
        assert_eq!(kinds, expected, "survey {id}");
        // What was acknowledged happened, and at most one step more.
        let said = steps.iter().filter(|step| *step != "made" && *step != "token").count();
        assert!(taken == said || taken == said + 1, "survey {id}: {taken} of {steps:?}");
        assert!(!steps.contains("token") || names.contains(&format!("n-{number}")));
        let rounds = store.rounds(&id).await.unwrap();
        match taken {
            4 => {
                deleted += 1;
                assert!(rounds.is_empty());
            }
            3 => assert_eq!(rounds[0].state, RoundState::Sealed),
            _ => assert_eq!((rounds[0].state, rounds[0].held), (RoundState::Open, taken == 1)),
        }
    }
    assert!(deleted > 0);
    drop(store);
    let checked = store::check(address, &Options::default(), &|_| {}).await.unwrap();
    assert!(checked.is_sound(), "{:?}", checked.faults);
}

#[tokio::test(flavor = "multi_thread")]
async fn embedded_lives_are_whole() {
    let directory = tempfile::tempdir().unwrap();
    let address = format!("sqlite:{}", directory.path().join("curator.db").display());
    let done = kill_often(&address, 24, 41);
    all_steps_are_whole(&address, &done, 24).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn postgresql_lives_are_whole() {
    let Some(server) = postgres::Server::start() else { return };
    let address = server.database("lives");
    let done = kill_often(&address, 16, 42);
    all_steps_are_whole(&address, &done, 16).await;
}
