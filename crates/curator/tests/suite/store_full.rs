//! Stores that are full: a disk, a limit. What was acknowledged stays, and room is used again.

use crate::common::postgres;
use crate::crash::{batch, folded, options, prepare, round, tally};
use std::collections::BTreeSet;
use std::process::Command;
use std::sync::Arc;
use undertone_core::PolicyId;
use undertone_curator::store::{
    self, Batch, Event, Faults, NewPolicy, Options, RoundKey, Store, StoreError,
};
use undertone_wire::TokenShape;

/// Appends until the store is full; gives the numbers of the requests that were acknowledged.
async fn fill(store: &Arc<dyn Store>) -> BTreeSet<u64> {
    let mut acknowledged = BTreeSet::new();
    let mut refusals = 0;
    for first in (0..1_000_000).step_by(10) {
        let numbers = first + 1..first + 11;
        match store.append(numbers.clone().map(batch).collect()).await {
            Ok(()) => acknowledged.extend(numbers),
            Err(StoreError::Full | StoreError::AtLimit { .. }) => refusals += 1,
            Err(error) => panic!("{error}"),
        }
        if refusals == 20 {
            return acknowledged;
        }
    }
    panic!("never full");
}

/// A store at its limit refuses reports and nothing else. What it has is counted, the round can be
/// sealed, and the room its ids took is used again by the next.
async fn limited(address: &str, bytes: u64) {
    prepare(address).await;
    let limited = Options { max_bytes: Some(bytes), ..Options::default() };
    let store = store::open_with(address, limited).await.unwrap();
    let acknowledged = fill(&store).await;
    let refused = store.append(vec![batch(2_000_000)]).await;
    assert_eq!(refused, Err(StoreError::AtLimit { most: bytes }));
    assert_eq!(folded(&store).await, tally(&acknowledged));
    let (key, survey) = (round(), round().survey);
    let event = Event { survey: survey.clone(), at: 1, kind: "test".into(), detail: String::new() };
    store.seal(&key, 1, &event).await.unwrap();
    while store.fold().await.unwrap().more {}
    let policy = NewPolicy {
        id: PolicyId([8; 32]),
        bytes: vec![8],
        tokens: TokenShape { outputs: 5, bits: false },
    };
    let next = RoundKey { survey, number: 2 };
    store.open_round(&next, std::slice::from_ref(&policy), (1, "v2"), &event).await.unwrap();
    for turn in 0..100 {
        let batch = Batch { round: next.clone(), policy: policy.id, ..batch(2_000_000) };
        match store.append(vec![batch]).await {
            Ok(()) => return,
            // The size is measured again after a moment, and folding gives room back.
            Err(StoreError::AtLimit { .. }) if turn < 99 => {
                store.fold().await.unwrap();
                tokio::time::sleep(std::time::Duration::from_millis(20)).await;
            }
            Err(error) => panic!("room that was made is not used: {error}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_embedded_store_at_its_limit() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("curator.db");
    limited(&format!("sqlite:{}", file.display()), 1 << 20).await;
    let size = std::fs::metadata(&file).unwrap().len();
    assert!(size < 3 << 20, "{size} bytes on the disk");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_postgresql_at_its_limit() {
    let Some(server) = postgres::Server::start_with(&["fsync=off", "autovacuum=off"]) else {
        return;
    };
    let address = server.database("limited");
    limited(&address, 3 << 20).await;
    let measure = "SELECT sum(pg_total_relation_size(oid)) FROM pg_class
        WHERE relnamespace = 'undertone'::regnamespace AND relkind = 'r'";
    let size: u64 = server.sql("limited", measure).parse().unwrap();
    assert!(size < 6 << 20, "{size} bytes on the disk");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_refuses_and_keeps_what_it_acknowledged() {
    let directory = tempfile::tempdir().unwrap();
    let mut mount = Command::new("mount");
    mount.args(["-t", "tmpfs", "-o", "size=3m", "tmpfs"]).arg(directory.path());
    if !mount.output().is_ok_and(|done| done.status.success()) {
        println!("skipped: no right to mount a small disk");
        return;
    }
    let unmount = Unmount(directory.path().to_path_buf());
    let file = directory.path().join("curator.db");
    let address = format!("sqlite:{}", file.display());
    prepare(&address).await;
    let store = store::open_with(&address, options(Faults::none())).await.unwrap();
    let acknowledged = fill(&store).await;
    drop(store);
    // The disk grows; all that was acknowledged is there, and nothing else.
    let grown =
        Command::new("mount").args(["-o", "remount,size=64m"]).arg(directory.path()).status();
    assert!(grown.unwrap().success());
    let store = store::open_with(&address, options(Faults::none())).await.unwrap();
    assert_eq!(folded(&store).await, tally(&acknowledged));
    drop((store, unmount));
}

struct Unmount(std::path::PathBuf);

impl Drop for Unmount {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(&self.0).status();
    }
}

/// PostgreSQL's own words for a full disk, raised where the reports are written.
#[tokio::test(flavor = "multi_thread")]
async fn a_full_postgresql_is_told_apart() {
    let Some(server) = postgres::Server::start() else { return };
    let address = server.database("brimful");
    prepare(&address).await;
    let store = store::open(&address).await.unwrap();
    store.append(vec![batch(1)]).await.unwrap();
    server.sql(
        "brimful",
        "CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
         RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$;
         CREATE TRIGGER full_disk BEFORE INSERT ON undertone.batch EXECUTE FUNCTION full_disk()",
    );
    assert_eq!(store.append(vec![batch(2)]).await, Err(StoreError::Full));
    server.sql("brimful", "DROP TRIGGER full_disk ON undertone.batch");
    store.append(vec![batch(3)]).await.unwrap();
    assert_eq!(folded(&store).await, tally(&[1, 3]));
}
