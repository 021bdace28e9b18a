//! The curator under load, in a process of its own.

use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use undertone_curator::auth::OwnerToken;
use undertone_curator::clock::{SystemClock, SystemRandomness};
use undertone_curator::server::{Limits, serve};
use undertone_curator::store::{self, Faults, Options};
use undertone_curator::{App, Curator, Settings};

/// Serves until standard input ends: prints its port and owner token first, the number of commits last.
pub(crate) async fn run(address: &str) {
    let commits = Arc::new(AtomicU64::new(0));
    let counting = commits.clone();
    let faults = Faults::call(move |point| {
        if point == "append/committed" {
            counting.fetch_add(1, Ordering::Relaxed);
        }
    });
    let store = store::open_with(address, Options { faults, ..Options::default() }).await.unwrap();
    let (token, owner) = OwnerToken::generate(&SystemRandomness).unwrap();
    let curator = Curator::new(App {
        store,
        clock: Arc::new(SystemClock),
        randomness: Arc::new(SystemRandomness),
        owner,
        // One address sends everything here.
        settings: Settings { rate: None, ..Settings::default() },
    });
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    println!("{} {token}", listener.local_addr().unwrap());
    let end = async {
        let wait = || std::io::stdin().read_to_end(&mut Vec::new());
        let _ = tokio::task::spawn_blocking(wait).await;
    };
    serve(&curator, listener, None, Limits::default(), end).await.unwrap();
    println!("{}", commits.load(Ordering::Relaxed));
}
