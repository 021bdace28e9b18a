//! Random schedules of appends, repetitions, folds and reopenings against a plain map, on both engines.

use crate::common::postgres;
use rand_chacha::ChaCha12Rng;
use rand_core::{Rng, SeedableRng};
use std::collections::HashMap;
use std::sync::Arc;
use undertone_core::{PolicyId, ReportId, Token};
use undertone_curator::store::{
    self, Batch, Event, NewPolicy, NewSurvey, Options, RoundKey, Store,
};
use undertone_wire::{ReportRows, TokenShape};

const OUTPUTS: u32 = 6;
const SURVEYS: [&str; 2] = ["coffee", "tea"];

fn key(survey: usize) -> RoundKey {
    RoundKey { survey: SURVEYS[survey].parse().unwrap(), number: 1 }
}

fn policy(number: usize) -> PolicyId {
    PolicyId([number as u8; 32])
}

/// What the store should say, kept in the plainest way.
#[derive(Default)]
struct Model {
    /// Per survey, in the order of arrival: policy, id, token.
    arrived: [Vec<(usize, ReportId, u32)>; 2],
}

impl Model {
    /// Counts and repetitions of one policy: the first of a survey's reports with the same id counts.
    fn tally(&self, survey: usize, policy: usize) -> (Vec<u64>, u64, u64) {
        let mut seen: HashMap<ReportId, ()> = HashMap::new();
        let (mut counts, mut reports, mut duplicates) = (vec![0; OUTPUTS as usize], 0, 0);
        for &(of, id, token) in &self.arrived[survey] {
            let new = seen.insert(id, ()).is_none();
            if of == policy && new {
                counts[token as usize] += 1;
                reports += 1;
            } else if of == policy {
                duplicates += 1;
            }
        }
        (counts, reports, duplicates)
    }
}

fn below(rng: &mut ChaCha12Rng, limit: u64) -> u64 {
    rng.next_u64() % limit
}

/// Ids as honest clients draw them, and as others might choose them.
fn id(rng: &mut ChaCha12Rng, style: u64, fresh: u64) -> ReportId {
    let number = match style {
        0 => u128::from(rng.next_u64()) << 64 | u128::from(rng.next_u64()),
        // Ascending, descending, and all in one corner.
        1 => u128::from(fresh),
        2 => u128::MAX - u128::from(fresh),
        _ => u128::from(below(rng, 300)) << 120 | u128::from(below(rng, 3)),
    };
    ReportId(number.to_be_bytes())
}

async fn prepare(store: &dyn Store) {
    for survey in [0, 1] {
        let id = key(survey).survey;
        let event = Event { survey: id.clone(), at: 0, kind: "test".into(), detail: String::new() };
        let new = |number| NewPolicy {
            id: policy(number),
            bytes: vec![number as u8],
            tokens: TokenShape { outputs: OUTPUTS, bits: false },
        };
        // Both surveys publish the same policies.
        let (document, created, opened) = ("v1".into(), event.clone(), event);
        let policies = vec![new(1), new(2)];
        let new = NewSurvey { id, document, policies, created, opened };
        store.create_survey(&new).await.unwrap();
    }
}

async fn check(store: &dyn Store, model: &Model) {
    for survey in 0..2 {
        let tallies = store.tallies(&key(survey)).await.unwrap();
        for (number, tally) in (1..).zip(tallies) {
            let (counts, reports, duplicates) = model.tally(survey, number);
            assert_eq!(tally.unfolded, 0);
            assert_eq!((tally.counts, tally.reports), (counts, reports), "survey {survey}");
            assert_eq!(tally.duplicates, duplicates);
        }
    }
}

async fn schedule(address: &str, seed: u64, steps: usize) -> Model {
    let mut rng = ChaCha12Rng::seed_from_u64(seed);
    let options = || Options {
        step_reports: 7 + (seed * 37 % 120) as usize,
        step_chunks: 1 + (seed % 5) as usize,
        fan: 2 + (seed % 3) as usize,
        chunk_ids: 1 + (seed * 13 % 23) as usize,
        ..Options::default()
    };
    let mut store: Arc<dyn Store> = store::open_with(address, options()).await.unwrap();
    prepare(store.as_ref()).await;
    let mut model = Model::default();
    for step in 0..steps as u64 {
        match below(&mut rng, 10) {
            0..=5 => {
                let (survey, of) = (below(&mut rng, 2) as usize, 1 + below(&mut rng, 2) as usize);
                let arrived = &mut model.arrived[survey];
                let mut new = Vec::new();
                for number in 0..1 + below(&mut rng, 60) {
                    let known = arrived.len() as u64;
                    let id = match below(&mut rng, 4) {
                        0 if known > 0 => arrived[below(&mut rng, known) as usize].1,
                        _ => id(&mut rng, seed % 4, 100 * step + number),
                    };
                    let token = below(&mut rng, u64::from(OUTPUTS)) as u32;
                    new.push((id, Token::Index(token)));
                    arrived.push((of, id, token));
                }
                let reports = ReportRows::pack(new.iter().map(|(id, token)| (*id, token))).unwrap();
                store
                    .append(vec![Batch { round: key(survey), policy: policy(of), reports }])
                    .await
                    .unwrap();
            }
            6..=8 => {
                store.fold().await.unwrap();
            }
            _ if step % 3 == 0 => {
                drop(store);
                store = store::open_with(address, options()).await.unwrap();
            }
            _ => {
                while store.fold().await.unwrap().more {}
                check(store.as_ref(), &model).await;
            }
        }
    }
    while store.fold().await.unwrap().more {}
    check(store.as_ref(), &model).await;
    model
}

/// Every run is sorted, no id is in two of them, and together they are the ids counted.
fn check_runs(chunks: Vec<(i64, i64, Vec<u8>, Vec<u8>)>, model: &Model) {
    let mut ends: HashMap<i64, Vec<u8>> = HashMap::new();
    let mut held: HashMap<(i64, Vec<u8>), ()> = HashMap::new();
    for (round, run, first, ids) in chunks {
        assert_eq!(first, ids[..16]);
        for id in ids.chunks(16) {
            let end = ends.insert(run, id.to_vec());
            assert!(end.is_none_or(|end| *end < *id), "run {run} is not in order");
            assert!(held.insert((round, id.to_vec()), ()).is_none(), "an id is in two runs");
        }
    }
    for (survey, arrived) in (1..).zip(&model.arrived) {
        let mut wanted: Vec<Vec<u8>> = arrived.iter().map(|(_, id, _)| id.0.to_vec()).collect();
        wanted.sort();
        wanted.dedup();
        assert_eq!(wanted.len(), held.keys().filter(|(round, _)| *round == survey).count());
        assert!(wanted.into_iter().all(|id| held.contains_key(&(survey, id))));
    }
}

/// In memory where possible: thousands of commits are synced.
fn directory() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

const RUNS: &str = "SELECT round, run, first, chunk.ids FROM chunk JOIN run ON run.id = chunk.run
                    ORDER BY run, first";

#[tokio::test(flavor = "multi_thread")]
async fn embedded_is_the_map() {
    for seed in 0..12 {
        let directory = directory();
        let file = directory.path().join("curator.db");
        let model = schedule(&format!("sqlite:{}", file.display()), seed, 250).await;
        let look = rusqlite::Connection::open(&file).unwrap();
        let mut select = look.prepare(RUNS).unwrap();
        let rows = select
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))
            .unwrap();
        check_runs(rows.map(Result::unwrap).collect(), &model);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn postgresql_is_the_map() {
    let Some(server) = postgres::Server::start() else { return };
    for seed in 1..4 {
        let name = format!("model{seed}");
        let address = server.database(&name);
        let model = schedule(&address, seed, 120).await;
        let (client, connection) =
            tokio_postgres::connect(&address, tokio_postgres::NoTls).await.unwrap();
        tokio::spawn(connection);
        client.batch_execute("SET search_path = undertone").await.unwrap();
        let rows = client.query(RUNS, &[]).await.unwrap();
        let read = |row: &tokio_postgres::Row| (row.get(0), row.get(1), row.get(2), row.get(3));
        check_runs(rows.iter().map(read).collect(), &model);
    }
}

/// Full steps of the real size: runs that are read from end to end, looked up, merged in levels.
#[tokio::test(flavor = "multi_thread")]
async fn a_million_reports_in_production_sizes() {
    let directory = directory();
    let address = format!("sqlite:{}", directory.path().join("curator.db").display());
    let options = Options { step_reports: 1 << 14, ..Options::default() };
    let store = store::open_with(&address, options).await.unwrap();
    prepare(store.as_ref()).await;
    let mut rng = ChaCha12Rng::seed_from_u64(5);
    let (mut rows, mut counts) = (Vec::new(), vec![0; OUTPUTS as usize]);
    let mut id = [0; 16];
    for _ in 0..1_000_000 {
        rng.fill_bytes(&mut id);
        let token = below(&mut rng, u64::from(OUTPUTS)) as u32;
        counts[token as usize] += 1;
        rows.extend_from_slice(&id);
        rows.extend_from_slice(&token.to_be_bytes());
    }
    let rows = bytes::Bytes::from(rows);
    let append = |range: std::ops::Range<usize>| {
        let reports =
            ReportRows::from_rows(4, rows.slice(20 * range.start..20 * range.end)).unwrap();
        store.append(vec![Batch { round: key(0), policy: policy(1), reports }])
    };
    for start in (0..1_000_000).step_by(10_000) {
        append(start..start + 10_000).await.unwrap();
    }
    while store.fold().await.unwrap().more {}
    // A few again, far apart: single chunks are looked up.
    for start in (0..1_000_000).step_by(99_991) {
        append(start..start + 5).await.unwrap();
    }
    while store.fold().await.unwrap().more {}
    let tally = store.tallies(&key(0)).await.unwrap().remove(0);
    assert_eq!((tally.counts, tally.reports, tally.duplicates), (counts, 1_000_000, 55));
}
