//! Timing on a machine that does other things too.

use std::time::Instant;
use std::{env, fs};

/// How often to repeat what a measurement repeats so often: hardly at all with `BENCH_QUICK`, which
/// is to see that everything runs.
pub fn repetitions(measured: usize) -> usize {
    if env::var_os("BENCH_QUICK").is_some() { measured / 100 + 1 } else { measured }
}

/// Runs every candidate `repetitions` times, in turn, so that a slow spell of the machine hits all
/// of them, and returns the median seconds of each. For candidates far shorter than a time slice.
pub fn medians(repetitions: usize, candidates: &mut [&mut dyn FnMut()]) -> Vec<f64> {
    in_turn(repetitions, candidates).into_iter().map(median).collect()
}

/// As [`medians`], but the least seconds of each: what it takes when nothing else is in the way.
pub fn least(repetitions: usize, candidates: &mut [&mut dyn FnMut()]) -> Vec<f64> {
    let least = |times: Vec<f64>| times.into_iter().fold(f64::INFINITY, f64::min);
    in_turn(repetitions, candidates).into_iter().map(least).collect()
}

fn in_turn(repetitions: usize, candidates: &mut [&mut dyn FnMut()]) -> Vec<Vec<f64>> {
    let mut times = vec![Vec::with_capacity(repetitions); candidates.len()];
    for candidate in candidates.iter_mut() {
        candidate();
    }
    for _ in 0..repetitions {
        for (candidate, times) in candidates.iter_mut().zip(&mut times) {
            let start = Instant::now();
            candidate();
            times.push(start.elapsed().as_secs_f64());
        }
    }
    times
}

/// The median seconds one long task keeps a processor busy; where the system does not tell that,
/// the seconds that pass.
pub fn busy(repetitions: usize, mut task: impl FnMut()) -> f64 {
    let run = |_| {
        let (start, before) = (Instant::now(), on_processor());
        task();
        match (before, on_processor()) {
            (Some(before), Some(after)) => after - before,
            _ => start.elapsed().as_secs_f64(),
        }
    };
    median((0..repetitions).map(run).collect())
}

/// Seconds this thread has spent on a processor (Linux).
fn on_processor() -> Option<f64> {
    let text = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds: u64 = text.split_whitespace().next()?.parse().ok()?;
    Some(nanoseconds as f64 * 1e-9)
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
