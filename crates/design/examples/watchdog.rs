//! ZDS22 Section III over again: random joint laws of 20 secrets and 30 symbols.
//!
//! `cargo run --release -p undertone-design --example watchdog -- [draws] [column-generation draws]`
//! (10000 and 20 unless told). Draw number i is always the same law, whatever the number of threads.

use std::error::Error;
use std::io::{IsTerminal, Write};
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use rand_chacha::ChaCha12Rng;
use rand_core::{Rng, SeedableRng};
use undertone_design::Joint;
use undertone_design::watchdog::{Budget, Method, Release, Scene, by_columns, release};

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

const SECRETS: usize = 20;
const SYMBOLS: usize = 30;

/// Cells uniform on (0,1), normalised.
fn draw(seed: u64) -> Outcome<Joint> {
    let mut rng = ChaCha12Rng::seed_from_u64(seed);
    let mut cell = || (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
    let mut rows: Vec<Vec<f64>> =
        (0..SECRETS).map(|_| (0..SYMBOLS).map(|_| cell()).collect()).collect();
    let total: f64 = rows.iter().flatten().sum();
    rows.iter_mut().flatten().for_each(|cell| *cell /= total);
    Ok(Joint::new(rows)?)
}

/// Runs `work` on every draw over all cores, with a progress bar, and returns the results in order.
fn over_draws<T: Send>(
    name: &str,
    draws: usize,
    work: impl Fn(Joint) -> Outcome<T> + Sync,
) -> Outcome<Vec<T>> {
    let next = AtomicUsize::new(0);
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    let bar = std::io::stderr().is_terminal();
    let worker = || -> Outcome<Vec<(usize, T)>> {
        let mut results = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            if at >= draws {
                return Ok(results);
            }
            results.push((at, work(draw(at as u64)?)?));
            if bar && at.is_multiple_of((draws / 100).max(1)) {
                let filled = 40 * at / draws;
                let rest = 40 - filled;
                eprint!("\r{name} [{}{}] {at}/{draws}", "#".repeat(filled), " ".repeat(rest));
                let _ = std::io::stderr().flush();
            }
        }
    };
    let mut all = Vec::new();
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        for worker in workers {
            all.extend(worker.join().map_err(|_| "a worker panicked")??);
        }
        Outcome::Ok(())
    })?;
    if bar {
        eprint!("\r\x1b[K");
    }
    all.sort_by_key(|(at, _)| *at);
    Ok(all.into_iter().map(|(_, result)| result).collect())
}

/// What is kept of a release.
#[derive(Clone, Copy)]
struct Score {
    nmi: f64,
    met: bool,
    within: bool,
}

impl Score {
    fn of(release: &Release, budget: Budget) -> Self {
        let within = release.max_lift <= budget.upper() + 1e-12
            && release.min_lift <= budget.lower() + 1e-12;
        Self { nmi: release.nmi, met: release.met, within }
    }
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, n) = values.fold((0.0, 0.0), |(sum, n), value| (sum + value, n + 1.0));
    sum / n
}

fn share(values: impl Iterator<Item = bool>) -> f64 {
    mean(values.map(|value| f64::from(u8::from(value))))
}

const FIGURE_2_LOWER: [f64; 10] = [0.4, 0.6, 0.8, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0];

/// The means of the specification, for ε_u = .6, .8, 1.
const FIGURE_2: [(f64, [f64; 10]); 3] = [
    (0.6, [0.0, 0.0003, 0.0029, 0.0103, 0.0613, 0.1357, 0.2563, 0.3144, 0.3377, 0.3463]),
    (0.8, [0.0, 0.0003, 0.0036, 0.0146, 0.1124, 0.2950, 0.6392, 0.8090, 0.8728, 0.8953]),
    (1.0, [0.0, 0.0003, 0.0036, 0.0150, 0.1197, 0.3251, 0.7285, 0.9190, 0.9789, 0.9936]),
];

fn figure_2(draws: usize) -> Outcome<()> {
    let started = Instant::now();
    let scores = over_draws("Figure 2", draws, |joint| {
        let mut scores = Vec::new();
        for (upper, _) in FIGURE_2 {
            for lower in FIGURE_2_LOWER {
                let budget = Budget::new(lower, upper)?;
                scores.push(Score::of(&release(&joint, budget, Method::Merge)?, budget));
            }
        }
        Ok(scores)
    })?;
    println!("Figure 2: mean NMI of complete merging, {draws} draws, and the specification's");
    let mut worst = 0.0f64;
    for (row, (upper, expected)) in FIGURE_2.into_iter().enumerate() {
        for (column, (lower, expected)) in FIGURE_2_LOWER.into_iter().zip(expected).enumerate() {
            let at = |scores: &Vec<Score>| scores[row * FIGURE_2_LOWER.len() + column];
            let nmi = mean(scores.iter().map(|scores| at(scores).nmi));
            let missed = 1.0 - share(scores.iter().map(|scores| at(scores).met));
            worst = worst.max((nmi - expected).abs());
            println!(
                "  e_u {upper:.1}  e_l {lower:.1}  {nmi:.4}  {expected:.4}  budget missed {:5.2} %",
                100.0 * missed
            );
        }
    }
    println!("  largest difference {worst:.4}; {:.1} s\n", started.elapsed().as_secs_f64());
    Ok(())
}

const BUDGETS: [(f64, f64); 7] =
    [(0.75, 0.75), (0.975, 0.525), (1.0, 1.0), (1.3, 0.7), (2.0, 0.8), (4.0, 1.0), (5.0, 1.0)];

fn methods(draws: usize) -> Outcome<()> {
    let started = Instant::now();
    let scores = over_draws("methods", draws, |joint| {
        let mut scores = Vec::new();
        for (lower, upper) in BUDGETS {
            let budget = Budget::new(lower, upper)?;
            for method in [Method::Merge, Method::Repair, Method::Subset] {
                scores.push(Score::of(&release(&joint, budget, method)?, budget));
            }
        }
        Ok(scores)
    })?;
    println!("Mean NMI of merging [share within budget], repaired, subset; {draws} draws");
    let mut outside = 0;
    for (row, (lower, upper)) in BUDGETS.into_iter().enumerate() {
        let at = |column: usize| scores.iter().map(move |scores| scores[3 * row + column]);
        let nmi = |column| mean(at(column).map(|score| score.nmi));
        outside += at(1).chain(at(2)).filter(|score| !score.met || !score.within).count();
        println!(
            "  ({lower}, {upper})  {:.4} [{:.4}]  {:.4}  {:.4}",
            nmi(0),
            share(at(0).map(|score| score.met)),
            nmi(1),
            nmi(2)
        );
    }
    println!(
        "  repaired and subset releases outside their budget: {outside}; {:.1} s\n",
        started.elapsed().as_secs_f64()
    );
    Ok(())
}

fn splits(draws: usize) -> Outcome<()> {
    const LAMBDAS: [f64; 8] = [0.4, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8];
    let (even, best) = (1, 4);
    for epsilon in [1.5, 2.0] {
        let scores = over_draws("splits", draws, |joint| {
            let split = |lambda| {
                let budget = Budget::split(epsilon, lambda)?;
                Ok(Score::of(&release(&joint, budget, Method::Merge)?, budget))
            };
            LAMBDAS.into_iter().map(split).collect::<Outcome<Vec<_>>>()
        })?;
        println!("LDP {epsilon}: lambda, mean NMI of merging, share with any, share within budget");
        for (at, lambda) in LAMBDAS.into_iter().enumerate() {
            let column = || scores.iter().map(|scores| scores[at]);
            println!(
                "  {lambda:.2}  {:.5}  {:.4}  {:.4}",
                mean(column().map(|score| score.nmi)),
                share(column().map(|score| score.nmi > 1e-12)),
                share(column().map(|score| score.met)),
            );
        }
        let change = |test: fn(f64) -> bool| {
            100.0 * share(scores.iter().map(|scores| test(scores[best].nmi - scores[even].nmi)))
        };
        println!(
            "  .65 against .5: up {:.1} %, equal {:.1} %, down {:.1} %\n",
            change(|d| d > 1e-12),
            change(|d| d.abs() <= 1e-12),
            change(|d| d < -1e-12)
        );
    }
    Ok(())
}

fn columns(draws: usize) -> Outcome<()> {
    for (lower, upper) in [(0.75, 0.75), (1.3, 0.7)] {
        let budget = Budget::new(lower, upper)?;
        let found = over_draws("columns", draws, |joint| {
            let started = Instant::now();
            let release = by_columns(&Scene::new(&joint, budget)?)?;
            let bound = release.bound.unwrap_or(1.0);
            Ok((Score::of(&release, budget), bound, started.elapsed().as_secs_f64()))
        })?;
        println!("Column generation at ({lower}, {upper}): NMI, proven bound, seconds");
        for (score, bound, seconds) in &found {
            println!("  {:.5}  {bound:.5}  {seconds:.2}", score.nmi);
        }
        let least = found.iter().map(|(score, ..)| score.nmi).fold(1.0, f64::min);
        println!(
            "  least {least:.5}, mean {:.5}, mean bound {:.5}, all within budget: {}\n",
            mean(found.iter().map(|(score, ..)| score.nmi)),
            mean(found.iter().map(|(_, bound, _)| *bound)),
            found.iter().all(|(score, ..)| score.within)
        );
    }
    Ok(())
}

fn main() -> Outcome<()> {
    let mut arguments = std::env::args().skip(1);
    let mut number = |default: usize| match arguments.next() {
        Some(text) => text.parse().map_err(|_| format!("{text:?} is not a number of draws")),
        None => Ok(default),
    };
    let (draws, column_draws) = (number(10_000)?, number(20)?);
    figure_2(draws)?;
    methods(draws)?;
    splits(draws)?;
    columns(column_draws)
}
