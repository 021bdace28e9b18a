//! Checks, backups and restored stores, and disks that flip bits.

use crate::common::postgres;
use crate::crash::{batch, folded, options, prepare, round, tally};
use rand_chacha::ChaCha12Rng;
use rand_core::{Rng, SeedableRng};
use std::path::Path;
use undertone_core::PolicyId;
use undertone_curator::store::{
    self, Checked, Event, Faults, NewPolicy, Options, RoundKey, StoreError,
};
use undertone_wire::TokenShape;

fn quiet(_: u64) {}

async fn check(address: &str) -> Result<Checked, StoreError> {
    store::check(address, &Options::default(), &quiet).await
}

/// Reports that are counted in an open round and in a sealed one, and some that wait.
async fn fill(address: &str) {
    prepare(address).await;
    let store = store::open_with(address, options(Faults::none())).await.unwrap();
    store.append(vec![batch(900)]).await.unwrap();
    let survey = round().survey;
    let event = Event { survey: survey.clone(), at: 1, kind: "test".into(), detail: "{}".into() };
    store.seal(&round(), 1, &event).await.unwrap();
    while store.fold().await.unwrap().more {}
    let policy = NewPolicy {
        id: PolicyId([8; 32]),
        bytes: vec![8],
        tokens: TokenShape { outputs: 5, bits: false },
    };
    let next = RoundKey { survey, number: 2 };
    store.open_round(&next, &[policy], (1, "v2"), &event).await.unwrap();
    for number in 1..=60 {
        store.append(vec![second(number)]).await.unwrap();
        store.fold().await.unwrap();
    }
    while store.fold().await.unwrap().more {}
    for number in 50..=75 {
        store.append(vec![second(number)]).await.unwrap();
    }
}

fn second(number: u64) -> store::Batch {
    let key = RoundKey { survey: round().survey, number: 2 };
    store::Batch { round: key, policy: PolicyId([8; 32]), ..batch(number) }
}

/// Everything is sent again; gives the counts of the second round and whether the sealed one still refuses.
async fn replayed(address: &str) -> Result<(Vec<u64>, bool), StoreError> {
    let calm = Options { create: false, ..options(Faults::none()) };
    let store = store::open_with(address, calm).await?;
    for number in 1..=75 {
        store.append(vec![second(number)]).await?;
    }
    let refused = store.append(vec![batch(900)]).await == Err(StoreError::RoundClosed);
    while store.fold().await?.more {}
    let key = RoundKey { survey: round().survey, number: 2 };
    Ok((store.tallies(&key).await?.remove(0).counts, refused))
}

fn right() -> (Vec<u64>, bool) {
    (tally(&(1..=75).collect::<Vec<u64>>()), true)
}

/// Single bits of a file at rest are flipped. Either a check says so, or nothing that counts is changed by it.
#[tokio::test(flavor = "multi_thread")]
async fn no_flipped_bit_is_counted_without_a_word() {
    let directory = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
    let (whole, file) = (directory.path().join("whole.db"), directory.path().join("flipped.db"));
    let address = format!("sqlite:{}", whole.display());
    fill(&address).await;
    // Without free pages, in which a flip is nobody's loss.
    rusqlite::Connection::open(&whole).unwrap().execute_batch("VACUUM").unwrap();
    let sound = check(&address).await.unwrap();
    assert_eq!((sound.faults.len(), sound.rounds, sound.surveys), (0, 2, 1));
    assert!(sound.ids > 900 && sound.ids < sound.reports && sound.waiting > 300, "{sound:?}");
    let bytes = std::fs::read(&whole).unwrap();
    let mut rng = ChaCha12Rng::seed_from_u64(20);
    let (mut found, mut harmless) = (0, 0);
    for _ in 0..300 {
        // Where something is written: most of a small file's pages is empty.
        let bit = loop {
            let bit = rng.next_u64() as usize % (8 * bytes.len());
            if bytes[bit / 8] != 0 {
                break bit;
            }
        };
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        for ending in ["", "-wal", "-shm"] {
            let _ = std::fs::remove_file(format!("{}{ending}", file.display()));
        }
        std::fs::write(&file, &flipped).unwrap();
        let address = format!("sqlite:{}", file.display());
        match check(&address).await {
            Ok(checked) if checked.is_sound() => {
                harmless += 1;
                assert_eq!(checked, sound, "bit {bit}");
                if let Ok(outcome) = replayed(&address).await {
                    assert_eq!(outcome, right(), "bit {bit}");
                }
            }
            _ => found += 1,
        }
    }
    println!("{found} flips found, {harmless} without effect, of {} bytes", bytes.len());
    assert!(found > 100, "{found} found, {harmless} harmless");
}

/// What is altered while the curator runs is noticed when it is read, and not counted.
async fn altered_rows_end_the_count(address: &str, alter: impl Fn(&str)) {
    for change in [
        "UPDATE undertone.chunk SET ids = zeroes WHERE run = (SELECT max(run) FROM undertone.chunk)",
        "UPDATE undertone.run SET ids = ids + 1",
        "UPDATE undertone.batch SET rows = zeroes",
        "UPDATE undertone.tally SET reports = reports + 1",
        "UPDATE undertone.tally SET duplicates = duplicates + 1",
    ] {
        let store = store::open_with(address, options(Faults::none())).await.unwrap();
        alter(&format!("{change};"));
        store.append(vec![second(3)]).await.unwrap();
        let refused = async {
            while store.fold().await?.more {}
            let key = RoundKey { survey: round().survey, number: 2 };
            store.tallies(&key).await
        };
        let error = refused.await.unwrap_err();
        assert!(matches!(error, StoreError::Corrupt(_)), "{change}: {error}");
        let found = check(address).await.unwrap();
        assert!(!found.is_sound(), "{change}");
        alter("undo");
    }
    // A round that was sealed is not opened again by one bit: its ids are gone.
    let store = store::open_with(address, options(Faults::none())).await.unwrap();
    alter("UPDATE undertone.round SET state = 0 WHERE number = 1;");
    let error = store.append(vec![batch(900)]).await.unwrap_err();
    assert!(matches!(error, StoreError::Corrupt(_)), "{error}");
    alter("undo");
}

#[tokio::test(flavor = "multi_thread")]
async fn altered_rows_of_an_embedded_store_end_the_count() {
    let directory = tempfile::tempdir().unwrap();
    let (file, kept) = (directory.path().join("a.db"), directory.path().join("kept.db"));
    let address = format!("sqlite:{}", file.display());
    fill(&address).await;
    std::fs::copy(&file, &kept).unwrap();
    altered_rows_end_the_count(&address, |change| {
        if change == "undo" {
            // The store that was opened before has gone by the end of its turn or holds the old file.
            for ending in ["", "-wal", "-shm"] {
                let _ = std::fs::remove_file(format!("{}{ending}", file.display()));
            }
            std::fs::copy(&kept, &file).unwrap();
            return;
        }
        let change = change.replace("undertone.", "").replace("zeroes", "zeroblob(length(rows))");
        let change = match change.contains("chunk") {
            true => change.replace("length(rows)", "length(ids)"),
            false => change,
        };
        rusqlite::Connection::open(&file).unwrap().execute_batch(&change).unwrap();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn altered_rows_of_a_postgresql_end_the_count() {
    let Some(server) = postgres::Server::start() else { return };
    let address = server.database("altered");
    fill(&address).await;
    server.sql("altered", "CREATE SCHEMA kept");
    let tables = ["chunk", "run", "batch", "tally", "round"];
    for table in tables {
        server.sql("altered", &format!("CREATE TABLE kept.{table} AS TABLE undertone.{table}"));
    }
    altered_rows_end_the_count(&address, |change| {
        if change == "undo" {
            for table in tables {
                let all = format!(
                    "DELETE FROM undertone.{table};
                     INSERT INTO undertone.{table} OVERRIDING SYSTEM VALUE SELECT * FROM kept.{table}"
                );
                server.sql("altered", &all);
            }
            return;
        }
        let column = if change.contains("chunk") { "ids" } else { "rows" };
        let zeroes = format!("decode(repeat('00', length({column})), 'hex')");
        server.sql("altered", &change.replace("zeroes", &zeroes));
    })
    .await;
}

/// A forged or shortened log is found.
#[tokio::test(flavor = "multi_thread")]
async fn a_forged_log_is_found() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("a.db");
    let address = format!("sqlite:{}", file.display());
    fill(&address).await;
    let bytes = std::fs::read(&file).unwrap();
    for forgery in [
        "UPDATE event SET detail = 'nothing happened' WHERE seq = 2",
        "UPDATE event SET at = at + 1 WHERE seq = 1",
        "DELETE FROM event WHERE seq = 1",
        "DELETE FROM event WHERE seq = 2",
    ] {
        std::fs::write(&file, &bytes).unwrap();
        rusqlite::Connection::open(&file).unwrap().execute_batch(forgery).unwrap();
        let found = check(&address).await.unwrap();
        assert!(found.faults.iter().any(|fault| fault.contains("log of coffee")), "{found:?}");
    }
}

async fn backed_up(address: &str, file: &Path) -> Checked {
    store::backup(address, file, &Options::default(), &quiet).await.unwrap()
}

/// From `address` into a file while a curator works on it, and from the file into `empty`.
async fn there_and_back(address: &str, folder: &Path, empty: &str) {
    fill(address).await;
    let working = store::open_with(address, options(Faults::none())).await.unwrap();
    let before = check(address).await.unwrap();
    let file = folder.join("backup.db");
    let saved = backed_up(address, &file).await;
    assert_eq!(saved, before);
    assert!(saved.is_sound());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    // Nothing is overwritten, and what goes on does not reach the backup.
    let again = store::backup(address, &file, &Options::default(), &quiet).await;
    assert!(matches!(again, Err(StoreError::Unwritten(_))), "{again:?}");
    folded(&working).await;
    working.append(vec![second(800)]).await.unwrap();
    let backup = format!("sqlite:{}", file.display());
    assert_eq!(check(&backup).await.unwrap(), saved);
    let restored = store::restore(&file, empty, &Options::default(), &quiet).await.unwrap();
    assert_eq!(restored, saved);
    let again = store::restore(&file, empty, &Options::default(), &quiet).await;
    assert!(matches!(again, Err(StoreError::Unwritten(_))), "{again:?}");
    // What had been counted is not counted again, what waited is counted, and the store goes on.
    assert_eq!(replayed(empty).await.unwrap(), right());
    let store = store::open_with(empty, options(Faults::none())).await.unwrap();
    store.append(vec![second(801)]).await.unwrap();
    while store.fold().await.unwrap().more {}
    assert!(check(empty).await.unwrap().is_sound());
    let names: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|one| one.unwrap().file_name()).collect();
    assert!(!names.iter().any(|name| name.to_string_lossy().ends_with(".part")), "{names:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_embedded_store_is_backed_up_and_restored() {
    let directory = tempfile::tempdir().unwrap();
    let place = |name: &str| format!("sqlite:{}", directory.path().join(name).display());
    there_and_back(&place("a.db"), directory.path(), &place("b.db")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_postgresql_is_backed_up_and_restored() {
    let Some(server) = postgres::Server::start() else { return };
    let (one, other) = (server.database("one"), server.database("other"));
    let directory = tempfile::tempdir().unwrap();
    there_and_back(&one, directory.path(), &other).await;
    // A store moves from one engine to the other in the same way.
    let file = directory.path().join("moved.db");
    let moved = format!("sqlite:{}", file.display());
    backed_up(&other, &file).await;
    assert!(check(&moved).await.unwrap().is_sound());
}

/// A damaged store makes no backup, and says why.
#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_store_is_not_copied() {
    let directory = tempfile::tempdir().unwrap();
    let (file, copy) = (directory.path().join("a.db"), directory.path().join("copy.db"));
    let address = format!("sqlite:{}", file.display());
    fill(&address).await;
    let damage = "UPDATE tally SET counts = zeroblob(length(counts))";
    rusqlite::Connection::open(&file).unwrap().execute_batch(damage).unwrap();
    let found = backed_up(&address, &copy).await;
    assert!(found.faults.iter().any(|fault| fault.contains("tally")), "{found:?}");
    assert!(!copy.exists() && !directory.path().join("copy.db.part").exists());
}

/// A mistyped address makes no new store.
#[tokio::test(flavor = "multi_thread")]
async fn a_missing_store_is_made_only_when_asked() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("none.db");
    let mut addresses = vec![format!("sqlite:{}", file.display())];
    let server = postgres::Server::start();
    addresses.extend(server.as_ref().map(|server| server.database("none")));
    for address in addresses {
        let calm = Options { create: false, ..Options::default() };
        for missing in
            [store::open_with(&address, calm.clone()).await.err(), check(&address).await.err()]
        {
            assert!(matches!(missing, Some(StoreError::Missing { .. })), "{missing:?}");
        }
        assert!(!file.exists());
        drop(store::open(&address).await.unwrap());
        drop(store::open_with(&address, calm).await.unwrap());
        let _ = std::fs::remove_file(&file);
    }
}
