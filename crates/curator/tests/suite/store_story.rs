//! One story for every engine: publish, append, repeat, fold, seal, release, reopen.

use crate::common::postgres;
use std::sync::Arc;
use undertone_core::{PolicyId, ReportId, Token};
use undertone_curator::store::{
    self, Batch, Event, Faults, NewPolicy, NewSurvey, Options, Progress, RoundKey, RoundTally,
    Store, StoreError,
};
use undertone_wire::{ReportRows, RoundState, SurveyId, TokenShape};

fn survey() -> SurveyId {
    "coffee".parse().unwrap()
}

fn round(number: u32) -> RoundKey {
    RoundKey { survey: survey(), number }
}

fn event(at: i64, kind: &str) -> Event {
    Event { survey: survey(), at, kind: kind.into(), detail: format!("{{\"at\":{at}}}") }
}

fn policy(number: u8, outputs: u32, bits: bool) -> NewPolicy {
    NewPolicy {
        id: PolicyId([number; 32]),
        bytes: vec![number; 100],
        tokens: TokenShape { outputs, bits },
    }
}

fn id(number: u64) -> ReportId {
    // Spread over all ids, as random ones are.
    let spread = u128::from(number).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
    ReportId(spread.to_be_bytes())
}

fn batch(number: u32, policy: u8, reports: &[(u64, u32)]) -> Batch {
    let tokens: Vec<(ReportId, Token)> =
        reports.iter().map(|&(number, token)| (id(number), Token::Index(token))).collect();
    let reports = ReportRows::pack(tokens.iter().map(|(id, token)| (*id, token))).unwrap();
    Batch { round: round(number), policy: PolicyId([policy; 32]), reports }
}

/// Small steps, so that little data meets every branch.
fn small() -> Options {
    Options { step_reports: 50, step_chunks: 4, fan: 2, chunk_ids: 7, ..Options::default() }
}

async fn fold_all(store: &dyn Store) -> (u64, u64) {
    let (mut folded, mut duplicates) = (0, 0);
    loop {
        let progress = store.fold().await.unwrap();
        folded += progress.folded;
        duplicates += progress.duplicates;
        if !progress.more {
            return (folded, duplicates);
        }
    }
}

async fn only_tally(store: &dyn Store, number: u32) -> RoundTally {
    store.tallies(&round(number)).await.unwrap().remove(0)
}

macro_rules! assert_refused {
    ($result:expr, $kind:pat) => {
        let result = $result;
        assert!(matches!(result, Err($kind)), "{result:?}");
    };
}

fn new_survey(document: &str, policies: &[NewPolicy]) -> NewSurvey {
    NewSurvey {
        id: survey(),
        document: document.into(),
        policies: policies.to_vec(),
        created: event(1, "created"),
        opened: event(3, "opened"),
    }
}

async fn surveys_and_rounds(store: &dyn Store) {
    store.ready().await.unwrap();
    assert_eq!(store.survey(&survey()).await.unwrap(), None);
    assert!(store.overview(None, 10).await.unwrap().is_empty());
    let policies = [policy(1, 5, false), policy(2, 12, true)];
    store.create_survey(&new_survey("v1", &policies)).await.unwrap();
    // Refused as a whole: nothing of it stays.
    assert_refused!(
        store.create_survey(&new_survey("other", &[policy(9, 5, false)])).await,
        StoreError::Conflict(_)
    );
    assert_eq!(store.policy(&PolicyId([9; 32])).await.unwrap(), None);
    let twice = NewSurvey {
        id: "tea".parse().unwrap(),
        ..new_survey("half", &[policy(9, 5, false), policy(9, 6, false)])
    };
    assert_refused!(store.create_survey(&twice).await, StoreError::Conflict(_));
    assert_eq!(store.survey(&twice.id).await.unwrap(), None, "a survey without its round");
    assert_eq!(store.policy(&PolicyId([9; 32])).await.unwrap(), None);
    assert_eq!(store.replace_survey(&survey(), 1, "v2", &event(4, "changed")).await, Ok(2));
    assert_refused!(
        store.replace_survey(&survey(), 1, "lost", &event(4, "changed")).await,
        StoreError::Conflict(_)
    );
    let other: SurveyId = "tea".parse().unwrap();
    assert_refused!(
        store.replace_survey(&other, 1, "none", &event(4, "changed")).await,
        StoreError::NotFound(_)
    );
    assert_eq!(store.replace_survey(&survey(), 2, "v3", &event(5, "changed")).await, Ok(3));
    let found = store.survey(&survey()).await.unwrap().unwrap();
    assert_eq!((&*found.document, found.version), ("v3", 3));

    // Round 1 is open, so no other can be opened, whatever its number and version.
    for (number, version) in [(1, 3), (2, 3), (2, 2)] {
        let refused = store
            .open_round(
                &round(number),
                &[policy(9, 5, false)],
                (version, "v4"),
                &event(6, "opened"),
            )
            .await;
        assert_refused!(refused, StoreError::Conflict(_));
    }
    assert_eq!(store.policy(&PolicyId([9; 32])).await.unwrap(), None);
    assert_eq!(store.survey(&survey()).await.unwrap().unwrap().version, 3);
    assert_eq!(store.policy(&policies[1].id).await.unwrap(), Some(vec![2; 100]));
    let rounds = store.rounds(&survey()).await.unwrap();
    assert_eq!(rounds.len(), 1);
    assert_eq!(rounds[0].policies, [policies[0].id, policies[1].id]);
    assert_eq!((rounds[0].state, rounds[0].opened, rounds[0].sealed), (RoundState::Open, 3, None));
    assert_refused!(store.tallies(&round(2)).await, StoreError::NotFound(_));
}

/// The list of surveys, page by page, with the counts of the newest round alone.
async fn listing(store: &dyn Store) {
    for name in ["tea", "cocoa"] {
        let id: SurveyId = name.parse().unwrap();
        let event = Event { survey: id.clone(), ..event(30, "created") };
        let policies = vec![policy(7, 5, false), policy(8, 5, false)];
        let (created, opened) = (event.clone(), event);
        store
            .create_survey(&NewSurvey { id, document: name.into(), policies, created, opened })
            .await
            .unwrap();
    }
    let place = |policy: u8, reports: &[(u64, u32)]| Batch {
        round: RoundKey { survey: "tea".parse().unwrap(), number: 1 },
        ..batch(1, policy, reports)
    };
    store.append(vec![place(7, &[(1, 0), (2, 0), (2, 0)]), place(8, &[(3, 1)])]).await.unwrap();
    fold_all(store).await;
    store.append(vec![place(8, &[(4, 1), (5, 1)])]).await.unwrap();
    let all = store.overview(None, 10).await.unwrap();
    let names: Vec<&str> = all.iter().map(|one| one.id.as_str()).collect();
    assert_eq!(names, ["cocoa", "coffee", "tea"]);
    let counts = |one: &store::Overview| (one.newest, one.reports, one.duplicates, one.unfolded);
    assert_eq!(counts(&all[0]), (Some((1, RoundState::Open)), 0, 0, 0));
    // Round 2, whatever round 1 has counted.
    let newest = only_tally(store, 2).await;
    assert_eq!(counts(&all[1]), (Some((2, RoundState::Open)), newest.reports, 1, 0));
    assert_eq!(counts(&all[2]), (Some((1, RoundState::Open)), 3, 1, 2));
    assert_eq!((&*all[2].survey.document, all[2].survey.version), ("tea", 1));
    assert_eq!(store.overview(None, 2).await.unwrap(), all[..2]);
    assert_eq!(store.overview(Some(&all[1].id), 2).await.unwrap(), all[2..]);
    assert!(store.overview(Some(&all[2].id), 2).await.unwrap().is_empty());
    let key = RoundKey { survey: "tea".parse().unwrap(), number: 1 };
    let sealed = Event { survey: key.survey.clone(), ..event(31, "sealed") };
    store.seal(&key, 31, &sealed).await.unwrap();
    let tea = store.overview(Some(&all[1].id), 2).await.unwrap().remove(0);
    assert_eq!(tea.newest, Some((1, RoundState::Sealed)));
    fold_all(store).await;
}

async fn reports(store: &dyn Store) {
    // Twice in one batch, in two batches of one call, and in another call; before and after a fold.
    let first = batch(1, 1, &[(1, 0), (2, 1), (2, 1), (3, 4)]);
    store.append(vec![first.clone(), batch(1, 1, &[(3, 4), (4, 4)])]).await.unwrap();
    store.append(vec![batch(1, 1, &[(1, 0)])]).await.unwrap();
    store.append(vec![]).await.unwrap();
    store.append(vec![batch(1, 1, &[])]).await.unwrap();
    let tally = only_tally(store, 1).await;
    assert_eq!((tally.reports, tally.duplicates, tally.unfolded), (0, 0, 7));
    assert_eq!(fold_all(store).await, (4, 3));
    let tally = only_tally(store, 1).await;
    assert_eq!((&tally.counts[..], tally.reports, tally.unfolded), (&[1, 1, 0, 0, 2][..], 4, 0));
    store.append(vec![first]).await.unwrap();
    assert_eq!(fold_all(store).await, (0, 4));
    assert_eq!(store.fold().await, Ok(Progress::default()));
    // The other policy shares the round's ids, and counts bits.
    let bits = |number: u64, bytes: [u8; 2]| (id(number), Token::Bits(bytes.into()));
    let tokens = [bits(4, [0xff, 0xf0]), bits(5, [0x81, 0x10]), bits(6, [0x80, 0])];
    let reports = ReportRows::pack(tokens.iter().map(|(id, token)| (*id, token))).unwrap();
    store
        .append(vec![Batch { round: round(1), policy: PolicyId([2; 32]), reports }])
        .await
        .unwrap();
    assert_eq!(fold_all(store).await, (2, 1));
    let tallies = store.tallies(&round(1)).await.unwrap();
    assert_eq!(tallies[0].reports, 4);
    assert_eq!(tallies[1].counts, [2, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1]);
    assert_eq!((tallies[1].reports, tallies[1].duplicates), (2, 1));

    // What does not fit is refused as a whole.
    let misfit = vec![batch(1, 1, &[(90, 0)]), batch(1, 1, &[(91, 5)])];
    assert_refused!(store.append(misfit).await, StoreError::Misfit(_));
    let wide = ReportRows::from_rows(2, vec![0; 18].into()).unwrap();
    let wide = Batch { round: round(1), policy: PolicyId([1; 32]), reports: wide };
    assert_refused!(store.append(vec![wide]).await, StoreError::Misfit(_));
    assert_refused!(store.append(vec![batch(1, 7, &[(92, 0)])]).await, StoreError::NotFound(_));
    assert_refused!(store.append(vec![batch(2, 1, &[(93, 0)])]).await, StoreError::NotFound(_));
    assert_eq!(fold_all(store).await, (0, 0));

    // Enough for many runs and merges; every id twice, the second time in another order.
    for start in (100..1100).step_by(20) {
        let some: Vec<(u64, u32)> = (start..start + 20).map(|n| (n, (n % 5) as u32)).collect();
        store.append(vec![batch(1, 1, &some)]).await.unwrap();
        if start % 60 == 0 {
            store.fold().await.unwrap();
        }
    }
    for start in (2..22).rev().map(|block| 50 * block) {
        let some: Vec<(u64, u32)> =
            (start..start + 50).rev().map(|n| (n, (n % 5) as u32)).collect();
        store.append(vec![batch(1, 1, &some)]).await.unwrap();
    }
    fold_all(store).await;
    let tally = only_tally(store, 1).await;
    assert_eq!(tally.counts, [201, 201, 200, 200, 202]);
    assert_eq!((tally.reports, tally.duplicates), (1004, 1007));
}

/// Appends from many tasks while the round is sealed: what was acknowledged is counted, what was refused
/// is not.
async fn sealing(store: &Arc<dyn Store>) {
    let before = only_tally(store.as_ref(), 1).await.reports;
    let tasks: Vec<_> = (0..40u64)
        .map(|task| {
            let store = store.clone();
            tokio::spawn(async move {
                let mut accepted = 0;
                for n in 0..50 {
                    match store.append(vec![batch(1, 1, &[(10_000 + 100 * task + n, 0)])]).await {
                        Ok(()) => accepted += 1,
                        Err(StoreError::RoundClosed) => return (accepted, true),
                        Err(error) => panic!("{error}"),
                    }
                }
                (accepted, false)
            })
        })
        .collect();
    tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    store.seal(&round(1), 9, &event(9, "sealed")).await.unwrap();
    let waiting: u64 = store.tallies(&round(1)).await.unwrap().iter().map(|t| t.unfolded).sum();
    let mut accepted = 0;
    for task in tasks {
        accepted += task.await.unwrap().0;
    }
    assert_eq!(waiting, accepted, "an append committed after the seal");
    assert_refused!(store.append(vec![batch(1, 1, &[(20_000, 0)])]).await, StoreError::RoundClosed);
    assert_refused!(store.seal(&round(1), 9, &event(9, "sealed")).await, StoreError::Conflict(_));
    if waiting > 0 {
        let early = store.release(&round(1), 10, (3, "v4"), &event(10, "released")).await;
        assert_refused!(early, StoreError::Unfolded);
    }
    assert_eq!(fold_all(store.as_ref()).await, (accepted, 0));
    assert_eq!(only_tally(store.as_ref(), 1).await.reports, before + accepted);
    assert_refused!(
        store.release(&round(1), 10, (2, "v4"), &event(10, "released")).await,
        StoreError::Conflict(_)
    );
    store.release(&round(1), 10, (3, "v4"), &event(10, "released")).await.unwrap();
    assert_refused!(
        store.release(&round(1), 10, (4, "v5"), &event(10, "released")).await,
        StoreError::Conflict(_)
    );
    let one = store.rounds(&survey()).await.unwrap().remove(0);
    assert_eq!((one.state, one.sealed, one.released), (RoundState::Released, Some(9), Some(10)));

    // The next round counts the same ids anew; a policy serves one round only.
    assert_refused!(
        store.open_round(&round(2), &[policy(1, 5, false)], (4, "v5"), &event(11, "opened")).await,
        StoreError::Conflict(_)
    );
    store
        .open_round(&round(2), &[policy(3, 5, false)], (4, "v5"), &event(11, "opened"))
        .await
        .unwrap();
    store.append(vec![batch(2, 3, &[(1, 0), (100, 3)])]).await.unwrap();
    // One call for two rounds, one of them closed: nothing is stored.
    let mixed = vec![batch(2, 3, &[(500, 0)]), batch(1, 1, &[(501, 0)])];
    assert_refused!(store.append(mixed).await, StoreError::RoundClosed);
    assert_eq!(fold_all(store.as_ref()).await, (2, 0));
}

/// A seal that comes while an append is between its writing and its commit waits for it.
async fn sealing_waits(address: &str) {
    let (inside, mut began) = tokio::sync::mpsc::unbounded_channel();
    let faults = Faults::call(move |point| {
        if point == "append/inserted" {
            let _ = inside.send(());
            std::thread::sleep(std::time::Duration::from_millis(300));
        }
    });
    let slow = store::open_with(address, Options { faults, ..small() }).await.unwrap();
    let other = if address.starts_with("sqlite:") {
        // One process, one store.
        slow.clone()
    } else {
        store::open(address).await.unwrap()
    };
    let before = only_tally(other.as_ref(), 2).await.unfolded;
    let appending = tokio::spawn(async move { slow.append(vec![batch(2, 3, &[(77, 1)])]).await });
    began.recv().await.unwrap();
    other.seal(&round(2), 20, &event(20, "sealed")).await.unwrap();
    let sealed = only_tally(other.as_ref(), 2).await.unfolded;
    appending.await.unwrap().unwrap();
    assert_eq!((before, sealed), (0, 1), "sealed before the append was committed");
    assert_eq!(fold_all(other.as_ref()).await, (1, 0));
}

async fn log(store: &dyn Store) {
    let events = store.events(&survey(), 0, 100).await.unwrap();
    let kinds: Vec<&str> = events.iter().map(|entry| &*entry.event.kind).collect();
    assert_eq!(kinds, ["created", "opened", "changed", "changed", "sealed", "released", "opened"]);
    assert_eq!(events[0].previous, [0; 32]);
    assert!(events.windows(2).all(|pair| pair[0].precedes(&pair[1])));
    assert_eq!(store.events(&survey(), 2, 2).await.unwrap(), events[2..4]);
    assert!(store.events(&survey(), u64::MAX, 2).await.unwrap().is_empty());
    assert!(store.events(&"water".parse().unwrap(), 0, 2).await.unwrap().is_empty());
}

async fn story(address: &str) {
    let store = store::open_with(address, small()).await.unwrap();
    surveys_and_rounds(store.as_ref()).await;
    reports(store.as_ref()).await;
    sealing(&store).await;
    log(store.as_ref()).await;
    let before = (store.tallies(&round(1)).await, store.rounds(&survey()).await);
    drop(store);
    // Reopened, with other options.
    let store = store::open(address).await.unwrap();
    assert_eq!((store.tallies(&round(1)).await, store.rounds(&survey()).await), before);
    store.append(vec![batch(2, 3, &[(1, 0), (7, 0)])]).await.unwrap();
    assert_eq!(fold_all(store.as_ref()).await, (1, 1));
    log(store.as_ref()).await;
    listing(store.as_ref()).await;
    drop(store);
    sealing_waits(address).await;
}

/// The file and those beside it are their owner's alone, also where an earlier program left them open.
async fn private(file: &std::path::Path) {
    use std::os::unix::fs::PermissionsExt;
    let address = format!("sqlite:{}", file.display());
    let beside = |ending: &str| std::path::PathBuf::from(format!("{}{ending}", file.display()));
    let mode =
        |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(file), 0o600, "a new file");
    std::fs::set_permissions(file, PermissionsExt::from_mode(0o644)).unwrap();
    let store = store::open(&address).await.unwrap();
    store.ready().await.unwrap();
    for path in [file.to_owned(), beside("-wal"), beside("-shm")] {
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn embedded() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("curator.db");
    story(&format!("sqlite:{}", file.display())).await;
    private(&file).await;

    // Ids of sealed rounds are gone.
    let look = rusqlite::Connection::open(&file).unwrap();
    let number = |sql: &str| look.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(number("SELECT count(*) FROM chunk"), 0);
    assert_eq!(number("SELECT count(*) FROM batch"), 0);
    // A database of a later version is refused in words.
    look.execute("UPDATE meta SET value = 99 WHERE name = 'schema'", []).unwrap();
    let refused = store::open(&format!("sqlite:{}", file.display())).await.err().unwrap();
    assert_eq!(refused, StoreError::Newer { found: 99, known: 2 });
    // So are files of something else.
    let foreign = directory.path().join("foreign.db");
    rusqlite::Connection::open(&foreign).unwrap().execute("CREATE TABLE x (y)", []).unwrap();
    let refused = store::open(&format!("sqlite:{}", foreign.display())).await.err().unwrap();
    let said = refused.to_string();
    assert!(said.ends_with("foreign.db is not a store (a database of something else)"), "{said}");
    let text = directory.path().join("text.db");
    std::fs::write(&text, "This is not a database, but it is long enough. ".repeat(100)).unwrap();
    let refused = store::open(&format!("sqlite:{}", text.display())).await.err().unwrap();
    let said = refused.to_string();
    assert!(said.ends_with("text.db is not a store (not SQLite)"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn postgresql() {
    let Some(server) = postgres::Server::start() else { return };
    let address = server.database("story");
    story(&address).await;
    assert_eq!(server.sql("story", "SELECT count(*) FROM undertone.chunk"), "0");
    assert_eq!(server.sql("story", "SELECT count(*) FROM undertone.batch"), "0");
    server.sql("story", "UPDATE undertone.meta SET value = 99 WHERE name = 'schema'");
    let refused = store::open(&address).await.err().unwrap();
    assert_eq!(refused, StoreError::Newer { found: 99, known: 2 });
}

/// The password comes from a file or the environment; the address has none.
#[tokio::test(flavor = "multi_thread")]
async fn postgresql_with_a_password() {
    use std::os::unix::fs::PermissionsExt;
    let Some(server) = postgres::Server::start_asking_for_passwords() else { return };
    server.sql("postgres", "CREATE ROLE curator LOGIN PASSWORD 'se:cret'");
    server.sql("postgres", "CREATE DATABASE guarded OWNER curator");
    let address = server.address("guarded").replace("postgres@", "curator@");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pgpass");
    let open = |text: Option<&str>, file: Option<&std::path::Path>| {
        let (text, file) = (text.map(String::from), file.map(|file| file.to_owned()));
        let options = Options { password: store::Password { text, file }, ..small() };
        let address = address.clone();
        async move { store::open_with(&address, options).await.map(drop) }
    };
    assert_refused!(open(None, None).await, StoreError::Unavailable(_));
    assert_refused!(open(None, Some(&file)).await, StoreError::Unavailable(_));
    assert_refused!(open(Some("wrong"), None).await, StoreError::Unavailable(_));
    open(Some("se:cret"), Some(&file)).await.unwrap();
    std::fs::write(&file, "*:*:elsewhere:*:wrong\n*:*:guarded:curator:se\\:cret\n").unwrap();
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o644)).unwrap();
    match open(None, Some(&file)).await {
        Err(StoreError::Unavailable(words)) => assert!(words.contains("chmod 600"), "{words}"),
        other => panic!("{other:?}"),
    }
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o600)).unwrap();
    open(None, Some(&file)).await.unwrap();
}

/// Several curators on one database: all create the tables, append the same ids and fold at once.
#[tokio::test(flavor = "multi_thread")]
async fn curators_share_postgresql() {
    let Some(server) = postgres::Server::start() else { return };
    let address = server.database("shared");
    let opening: Vec<_> = (0..3)
        .map(|_| {
            let address = address.clone();
            tokio::spawn(async move { store::open_with(&address, small()).await.unwrap() })
        })
        .collect();
    let mut curators = Vec::new();
    for one in opening {
        curators.push(one.await.unwrap());
    }
    let first = &curators[0];
    first.create_survey(&new_survey("v1", &[policy(1, 5, false)])).await.unwrap();
    let mut tasks = Vec::new();
    for (turn, store) in curators.iter().cloned().enumerate() {
        let adding = store.clone();
        tasks.push(tokio::spawn(async move {
            for start in 0..60u64 {
                // Each curator in another order; every id reaches all three.
                let start = (start * 7 + 20 * turn as u64) % 60;
                let some: Vec<(u64, u32)> =
                    (0..20).map(|n| (start * 20 + n, (n % 5) as u32)).collect();
                adding.append(vec![batch(1, 1, &some)]).await.unwrap();
            }
        }));
        tasks.push(tokio::spawn(async move {
            for _ in 0..60 {
                store.fold().await.unwrap();
            }
        }));
    }
    // Documents race too: each version is won once.
    for task in tasks {
        task.await.unwrap();
    }
    let rivals = curators.iter().map(|store| {
        let store = store.clone();
        tokio::spawn(
            async move { store.replace_survey(&survey(), 1, "v2", &event(3, "changed")).await },
        )
    });
    let mut won = 0;
    for rival in rivals.collect::<Vec<_>>() {
        won += usize::from(rival.await.unwrap().is_ok());
    }
    assert_eq!(won, 1);
    fold_all(first.as_ref()).await;
    let tally = only_tally(curators[1].as_ref(), 1).await;
    assert_eq!(tally.counts, [240; 5]);
    assert_eq!((tally.reports, tally.duplicates, tally.unfolded), (1200, 2400, 0));
    // Sealing gets its turn although three curators append without a pause.
    let hammering: Vec<_> = (0..12u64)
        .map(|task| {
            let store = curators[task as usize % 3].clone();
            tokio::spawn(async move {
                for n in 0.. {
                    match store.append(vec![batch(1, 1, &[(10_000 * (task + 1) + n, 0)])]).await {
                        Ok(()) => {}
                        Err(StoreError::RoundClosed) => return n,
                        Err(error) => panic!("{error}"),
                    }
                }
                0
            })
        })
        .collect();
    tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    first.seal(&round(1), 9, &event(9, "sealed")).await.unwrap();
    let waiting = only_tally(first.as_ref(), 1).await.unfolded;
    let mut accepted = 0;
    for task in hammering {
        accepted += task.await.unwrap();
    }
    assert_eq!(waiting, accepted, "an append committed after the seal");
    assert_eq!(fold_all(first.as_ref()).await, (accepted, 0));
    let events = first.events(&survey(), 0, 10).await.unwrap();
    assert!(events.len() == 4 && events.windows(2).all(|pair| pair[0].precedes(&pair[1])));
}
