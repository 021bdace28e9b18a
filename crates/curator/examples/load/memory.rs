//! Memory over a very large number of reports, at the level of the store.

use crate::generator::row;
use crate::process::memory;
use bytes::Bytes;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use undertone_core::PolicyId;
use undertone_curator::store::{self, Batch, Event, NewPolicy, NewSurvey, RoundKey, Store};
use undertone_wire::{ReportRows, TokenShape};

const BATCH: u64 = 10_000;

/// Appends and folds so many reports, and prints what this process holds ten times on the way.
pub(crate) async fn run(engine: &str, address: &str, reports: u64) {
    let store = store::open(address).await.unwrap();
    let key = RoundKey { survey: "memory".parse().unwrap(), number: 1 };
    let survey = key.survey.clone();
    let event = Event { survey: survey.clone(), at: 0, kind: "load".into(), detail: String::new() };
    let id = PolicyId([9; 32]);
    let policies =
        vec![NewPolicy { id, bytes: vec![9], tokens: TokenShape { outputs: 4, bits: false } }];
    let (document, created, opened) = ("{}".into(), event.clone(), event);
    let new = NewSurvey { id: survey, document, policies, created, opened };
    store.create_survey(&new).await.unwrap();
    let start = Instant::now();
    let finished = Arc::new(AtomicBool::new(false));
    let folding = tokio::spawn(fold(store.clone(), finished.clone()));
    for part in 1..=10 {
        for block in reports / BATCH * (part - 1) / 10..reports / BATCH * part / 10 {
            let mut rows = Vec::with_capacity(20 * BATCH as usize);
            (block * BATCH..(block + 1) * BATCH).for_each(|number| rows.extend(row(number)));
            let reports = ReportRows::from_rows(4, Bytes::from(rows)).unwrap();
            store.append(vec![Batch { round: key.clone(), policy: id, reports }]).await.unwrap();
        }
        let tally = store.tallies(&key).await.unwrap().remove(0);
        println!(
            "{engine}: {:.0} s, {} appended, {} counted: {}",
            start.elapsed().as_secs_f64(),
            reports / BATCH * part / 10 * BATCH,
            tally.reports,
            memory("/proc/self/status")
        );
    }
    finished.store(true, Ordering::Relaxed);
    folding.await.unwrap();
    let tally = store.tallies(&key).await.unwrap().remove(0);
    assert_eq!((tally.reports, tally.duplicates), (reports / BATCH * BATCH, 0));
    println!(
        "{engine}: {:.0} s, all counted once: {}",
        start.elapsed().as_secs_f64(),
        memory("/proc/self/status")
    );
}

async fn fold(store: Arc<dyn Store>, finished: Arc<AtomicBool>) {
    loop {
        let last = finished.load(Ordering::Relaxed);
        if !store.fold().await.unwrap().more {
            if last {
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        }
    }
}
