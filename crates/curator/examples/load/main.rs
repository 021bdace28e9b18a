//! How many durable reports a curator takes, on this machine, generator included. See `bench/load`.
//!
//! `load [--seconds S] [--reports N] [--connections C] [--memory N] [--engine sqlite|postgres] [PART ..]` with the
//! parts `single`, `batches`, `copy` and `memory` (all of them if none is named).

#![allow(clippy::unwrap_used, reason = "a measurement that fails should stop")]

mod generator;
mod memory;
mod peers;
#[path = "../../tests/suite/common/postgres.rs"]
mod postgres;
mod process;
mod server;

use generator::{LoadForm, Target};
use std::time::Duration;

/// What to measure.
struct Plan {
    seconds: u64,
    reports: u64,
    connections: usize,
    memory: u64,
    engines: Vec<String>,
    parts: Vec<String>,
}

impl Plan {
    fn from_arguments(mut arguments: impl Iterator<Item = String>) -> Self {
        let mut plan = Self {
            seconds: 120,
            reports: 20_000_000,
            connections: 256,
            memory: 100_000_000,
            engines: vec!["sqlite".into(), "postgres".into()],
            parts: Vec::new(),
        };
        while let Some(argument) = arguments.next() {
            let mut number = || arguments.next().unwrap().parse().unwrap();
            match &*argument {
                "--seconds" => plan.seconds = number(),
                "--reports" => plan.reports = number(),
                "--connections" => plan.connections = number() as usize,
                "--memory" => plan.memory = number(),
                "--engine" => plan.engines = vec![arguments.next().unwrap()],
                part => plan.parts.push(part.into()),
            }
        }
        plan
    }

    fn has(&self, part: &str) -> bool {
        self.parts.is_empty() || self.parts.iter().any(|one| one == part)
    }
}

#[tokio::main]
async fn main() {
    let mut arguments = std::env::args().skip(1).peekable();
    if arguments.next_if(|first| first == "serve").is_some() {
        return server::run(&arguments.next().unwrap()).await;
    }
    let plan = Plan::from_arguments(arguments);
    println!("load average {}", std::fs::read_to_string("/proc/loadavg").unwrap().trim());
    let directory = tempfile::tempdir().unwrap();
    let server = postgres::Server::start_with(&[
        "shared_buffers=1GB",
        "max_wal_size=8GB",
        "checkpoint_timeout=15min",
    ]);
    let mut copied = None;
    if plan.has("copy")
        && let Some(server) = &server
    {
        copied = Some(peers::copy(&server.database("copy"), plan.reports).await);
    }
    for engine in &plan.engines {
        let address = match (&**engine, &server) {
            ("sqlite", _) => format!("sqlite:{}", directory.path().join("curator.db").display()),
            (_, Some(server)) => server.database("curator"),
            (_, None) => continue,
        };
        if plan.has("single") {
            for form in [LoadForm::Json, LoadForm::Binary] {
                let target = process::Curator::start(&address).await;
                single(engine, &target, &plan, form).await;
                target.stop().await;
            }
        }
        if plan.has("batches") {
            let target = process::Curator::start(&address).await;
            let rate = batches(engine, target, &plan, directory.path()).await;
            if let Some(copied) = copied {
                println!("{engine}: {:.2} of COPY with a unique key", rate / copied);
            }
        }
        if plan.has("memory") {
            let address = match (&**engine, &server) {
                ("sqlite", _) => format!("sqlite:{}", directory.path().join("large.db").display()),
                (_, Some(server)) => server.database("large"),
                (_, None) => continue,
            };
            memory::run(engine, &address, plan.memory).await;
        }
    }
    println!("load average {}", std::fs::read_to_string("/proc/loadavg").unwrap().trim());
}

/// Processor time, which says what a request costs however busy the machine is.
struct Spent {
    curator: f64,
    generator: f64,
}

impl Spent {
    fn of(curator: &process::Curator) -> Self {
        Self { curator: curator.processor(), generator: process::processor("/proc/self/stat") }
    }

    fn print(&self, engine: &str, curator: &process::Curator, requests: u64) {
        let now = Self::of(curator);
        let each = |seconds: f64| 1e6 * seconds / requests as f64;
        println!(
            "{engine}: processor time per request: curator {:.1} us, generator {:.1} us",
            each(now.curator - self.curator),
            each(now.generator - self.generator)
        );
    }
}

async fn single(engine: &str, curator: &process::Curator, plan: &Plan, form: LoadForm) {
    let target = Target::create(curator.address, &curator.token).await;
    let until = Duration::from_secs(plan.seconds);
    let before = Spent::of(curator);
    let seen = target.load(plan.connections, 1, form, move |_, elapsed| elapsed >= until).await;
    println!("{engine}: single reports, {form:?}, {} connections: {seen}", plan.connections);
    before.print(engine, curator, seen.requests());
}

async fn batches(
    engine: &str,
    curator: process::Curator,
    plan: &Plan,
    directory: &std::path::Path,
) -> f64 {
    let target = Target::create(curator.address, &curator.token).await;
    let reports = plan.reports;
    let before = Spent::of(&curator);
    let seen = target.load(16, 1000, LoadForm::Binary, move |sent, _| sent >= reports).await;
    println!("{engine}: batches of 1,000, 16 connections: {seen}");
    before.print(engine, &curator, seen.requests());
    println!("{engine}: {}", curator.memory());
    let waited = target.wait_until_counted(seen.requests() * 1000).await;
    println!("{engine}: all counted {waited:.1} s after the last acknowledgement");
    let commits = curator.stop().await;
    let limit = peers::append(&directory.join("plain"), reports, commits);
    println!(
        "{engine}: {commits} commits, {:.0} reports each; bare append with as many syncs: {:.0}/s",
        reports as f64 / commits as f64,
        limit
    );
    seen.rate() * 1000.0
}
