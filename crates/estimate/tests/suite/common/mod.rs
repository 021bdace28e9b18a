//! How often intervals hold, over many surveys.

// Every test binary uses a part of this.
#![allow(dead_code, clippy::unwrap_used)]

use undertone_estimate::{Estimate, Estimator, Pool, Settings};
use undertone_testkit::dice::Dice;
use undertone_testkit::respondents::Source;

/// Enough for a coverage of exactly 95 % to have a standard error of 0.69 points.
pub(crate) const REPLICATIONS: usize = 1000;

/// What became of one interval over many surveys.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    /// How often it held its truth.
    pub(crate) share: f64,
    /// Its mean length, in units of 2 · 1.96 standard errors; 0 where there is no standard error.
    pub(crate) width: f64,
}

/// How often each of several intervals holds its truth, over surveys of `n` people per source. `ask`
/// also gets the respondents' own shares.
pub(crate) fn coverage(
    sources: &[(&Source, u64)],
    p: &[f64],
    seed: u64,
    settings: Settings,
    ask: impl Fn(&Estimator, &[f64]) -> Vec<(Estimate, f64)>,
) -> Vec<Held> {
    let mut dice = Dice::new(seed);
    let mut sums: Vec<(usize, f64, f64)> = Vec::new();
    for _ in 0..REPLICATIONS {
        let mut people = vec![0u64; p.len()];
        let mut pool: Option<Pool> = None;
        for (source, n) in sources {
            let (drawn, tally) = source.draw(*n, p, &mut dice);
            people.iter_mut().zip(drawn).for_each(|(sum, more)| *sum += more);
            pool = Some(match pool {
                None => Pool::new(&source.policy, tally).unwrap(),
                Some(pool) => pool.and(&source.policy, tally).unwrap(),
            });
        }
        let total: u64 = people.iter().sum();
        let respondents: Vec<f64> = people.iter().map(|&c| c as f64 / total as f64).collect();
        let estimator = Estimator::new(pool.unwrap(), settings).unwrap();
        let answers = ask(&estimator, &respondents);
        sums.resize(answers.len(), (0, 0.0, 0.0));
        for (sum, (estimate, truth)) in sums.iter_mut().zip(answers) {
            assert!(estimate.low <= estimate.value && estimate.value <= estimate.high);
            sum.0 += usize::from(estimate.covers(truth));
            sum.1 += estimate.high - estimate.low;
            sum.2 += 2.0 * 1.959_964 * estimate.standard_error.unwrap_or(0.0);
        }
    }
    let held = |&(hits, length, normal): &(usize, f64, f64)| Held {
        share: hits as f64 / REPLICATIONS as f64,
        width: if normal > 0.0 { length / normal } else { 0.0 },
    };
    sums.iter().map(held).collect()
}

/// Asserts that nominal 95 % intervals cover at least that, less four standard errors of the simulation (one run in
/// 30,000 of an interval that covers exactly 95 % would fail, and the seeds are fixed), and that they are at most
/// `widest` times as long as the normal law would have them.
#[track_caller]
pub(crate) fn holds(name: &str, found: &[Held], widest: f64) {
    let shares: Vec<f64> = found.iter().map(|held| held.share).collect();
    let widths: Vec<f64> = found.iter().map(|held| held.width).collect();
    eprintln!("{name}: {shares:.4?}, lengths {widths:.2?}");
    for (at, held) in found.iter().enumerate() {
        assert!(held.share >= 0.9224, "{name}, interval {at}: covers {}", held.share);
        assert!(held.width <= widest, "{name}, interval {at}: {} times as long", held.width);
    }
}
