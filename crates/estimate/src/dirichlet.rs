//! A posterior for rates: a Dirichlet prior and what the reports add to it.
//!
//! The reports do not say which symbol each respondent has, so the posterior has no closed form. It
//! is sampled by data augmentation (Tanner and Wong 1987): share out the reports among the symbols at
//! random, given the shares; then draw the shares from the Dirichlet law of the counts; repeat. For
//! `Keep` a sweep costs O(k): a report was kept or drawn from the base, and if drawn, its symbol does
//! not depend on the output. The same seed gives the same answer.
//!
//! Noisy policies make slow chains: what is left open by a report keeps the next draw near the last.
//! The number of independent draws a chain is worth is estimated and stated, and where it is too
//! small the posterior says that it is not to be relied on.

use crate::answer::Estimate;
use crate::channel::Channel;
use crate::pool::Group;
use crate::{Error, Estimator, IntervalMethod};
use rand_chacha::ChaCha12Rng;
use rand_core::SeedableRng;
use rand_distr::{Binomial, Distribution, Gamma};
use serde::Serialize;

/// A Dirichlet prior on the shares, and how long to sample.
#[derive(Clone, PartialEq, Debug)]
pub struct Dirichlet {
    /// One positive pseudo-count per symbol.
    pub pseudo_counts: Vec<f64>,
    /// Sweeps after a first tenth, which is thrown away.
    pub sweeps: usize,
    /// The seed: the same seed gives the same answer.
    pub seed: u64,
}

impl Dirichlet {
    /// Half an observation for every symbol (Jeffreys), 20,000 sweeps.
    pub fn jeffreys(symbols: usize) -> Self {
        Self { pseudo_counts: vec![0.5; symbols], sweeps: 20_000, seed: 1 }
    }

    /// A prior worth `strength` observations.
    pub fn around(prior: &[f64], strength: f64) -> Self {
        let pseudo_counts = prior.iter().map(|p| p * strength).collect();
        Self { pseudo_counts, sweeps: 20_000, seed: 1 }
    }
}

/// What the reports and the Dirichlet prior say about the shares.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Posterior {
    /// Posterior mean, credible interval and posterior standard deviation of every share.
    pub symbols: Vec<Estimate>,
    /// The number of independent draws the worst symbol's chain is worth.
    pub effective_draws: f64,
    /// Whether that is enough (400) for the intervals to be read.
    pub reliable: bool,
    /// In words.
    pub label: String,
}

/// So many independent draws put the end of a 95 % interval within about a twentieth of its width.
const ENOUGH: f64 = 400.0;

/// Draws are kept up to this many numbers; more symbols keep fewer draws.
const MOST_KEPT: usize = 1 << 24;

impl Estimator {
    /// The posterior of the shares under a Dirichlet prior, by data augmentation.
    pub fn dirichlet(&self, prior: &Dirichlet) -> Result<Posterior, Error> {
        let symbols = self.symbols();
        if prior.pseudo_counts.len() != symbols {
            let found = prior.pseudo_counts.len();
            return Err(Error::Size {
                what: "the list of pseudo-counts",
                expected: symbols,
                found,
            });
        }
        let good = |value: f64| value > 0.0 && value.is_finite();
        if let Some(&value) = prior.pseudo_counts.iter().find(|&&value| !good(value)) {
            return Err(Error::Range {
                what: "a pseudo-count",
                value,
                range: "above 0 and finite",
            });
        }
        if prior.sweeps < 100 {
            let (what, value) = ("the number of sweeps", prior.sweeps as f64);
            return Err(Error::Range { what, value, range: "at least 100" });
        }
        if self.groups.iter().any(|group| group.climbed_outputs().is_none()) {
            let problem = "a posterior needs each report's whole row of bits, and a tally keeps their counts; or there are too many blocks";
            return Err(Error::unanswerable("the Dirichlet posterior", problem));
        }
        let mut rng = ChaCha12Rng::seed_from_u64(prior.seed);
        let mut p = self.anchor.clone();
        let thin = (prior.sweeps * symbols).div_ceil(MOST_KEPT).max(1);
        let mut draws = vec![Vec::with_capacity(prior.sweeps / thin + 1); symbols];
        for sweep in 0..prior.sweeps + prior.sweeps / 10 {
            let mut counts = prior.pseudo_counts.clone();
            for group in &self.groups {
                share_out(group, &p, &mut counts, &mut rng);
            }
            draw_shares(&counts, &mut p, &mut rng);
            if sweep >= prior.sweeps / 10 && sweep % thin == 0 {
                draws.iter_mut().zip(&p).for_each(|(draws, &p)| draws.push(p));
            }
        }
        let miss = self.settings().miss(symbols);
        let effective_draws = draws.iter().map(|d| effective(d)).fold(f64::INFINITY, f64::min);
        let estimates = draws.into_iter().map(|draws| summarise(draws, miss)).collect();
        let reliable = effective_draws >= ENOUGH;
        let label = format!(
            "posterior under a Dirichlet prior worth {:.6} observations; {} (worth {effective_draws:.0} independent draws){}",
            prior.pseudo_counts.iter().sum::<f64>(),
            "sampled by data augmentation",
            if reliable { "" } else { ": too few to rely on, take more sweeps" }
        );
        Ok(Posterior { symbols: estimates, effective_draws, reliable, label })
    }
}

/// Adds to every symbol's count its random part of a group's reports.
fn share_out(group: &Group, p: &[f64], counts: &mut [f64], rng: &mut ChaCha12Rng) {
    match &group.channel {
        Channel::Keep(keep) => {
            let by_base = keep.drawn(p);
            let mut drawn = 0u64;
            for (y, &count) in group.tally.counts().iter().enumerate() {
                let kept = keep.keep[y] * p[y];
                let chance = kept / (kept + by_base * keep.base[y]);
                let hits = binomial(count, chance, rng);
                counts[y] += hits as f64;
                drawn += count - hits;
            }
            let weight = |x: usize| (1.0 - keep.keep[x]) * p[x];
            multinomial(drawn, (0..p.len()).map(weight), counts, rng);
        }
        Channel::Table(table) => {
            for (y, &count) in group.tally.counts().iter().enumerate() {
                if count > 0 {
                    let weight = |x: usize| table.row(x)[y] * p[x];
                    multinomial(count, (0..p.len()).map(weight), counts, rng);
                }
            }
        }
        Channel::Bits(bits) => {
            let Some((blocks, tally)) = bits.blocks().zip(group.by_block()) else { return };
            for (y, &count) in tally.counts().iter().enumerate() {
                if count > 0 {
                    let weight = |x: usize| blocks.at(x, y) * p[x];
                    multinomial(count, (0..p.len()).map(weight), counts, rng);
                }
            }
        }
    }
}

/// Splits a count in proportion to weights, one binomial at a time.
fn multinomial(
    mut count: u64,
    weights: impl Iterator<Item = f64> + Clone,
    counts: &mut [f64],
    rng: &mut ChaCha12Rng,
) {
    let mut left: f64 = weights.clone().sum();
    let mut last = None;
    for (x, weight) in weights.enumerate() {
        if count == 0 {
            return;
        }
        if weight > 0.0 {
            let hits = binomial(count, weight / left, rng);
            counts[x] += hits as f64;
            count -= hits;
            last = Some(x);
        }
        left -= weight;
    }
    // What rounding left over belongs to the last symbol that could have it.
    if let Some(x) = last {
        counts[x] += count as f64;
    }
}

fn binomial(count: u64, chance: f64, rng: &mut ChaCha12Rng) -> u64 {
    if count == 0 || !(chance > 0.0) {
        return 0;
    }
    Binomial::new(count, chance.min(1.0)).map_or(0, |law| law.sample(rng))
}

/// Shares from the Dirichlet law of some counts.
fn draw_shares(counts: &[f64], p: &mut [f64], rng: &mut ChaCha12Rng) {
    let mut total = 0.0;
    for (p, &count) in p.iter_mut().zip(counts) {
        // The smallest positive float keeps a share that underflows alive.
        let drawn = Gamma::new(count, 1.0).map_or(0.0, |law| law.sample(rng));
        *p = drawn.max(f64::MIN_POSITIVE);
        total += *p;
    }
    p.iter_mut().for_each(|p| *p /= total);
}

fn summarise(mut draws: Vec<f64>, miss: f64) -> Estimate {
    let count = draws.len() as f64;
    let mean = draws.iter().sum::<f64>() / count;
    let variance = draws.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / count;
    draws.sort_unstable_by(f64::total_cmp);
    let quantile = |probability: f64| {
        let at = (probability * count).floor().clamp(0.0, count - 1.0);
        draws[at as usize]
    };
    Estimate {
        value: mean,
        low: quantile(miss / 2.0),
        high: quantile(1.0 - miss / 2.0),
        standard_error: Some(variance.sqrt()),
        identified: true,
        impossible: false,
        method: IntervalMethod::Dirichlet,
    }
}

/// The number of independent draws a chain is worth: its variance over that of its mean, from the means
/// of about √n batches.
fn effective(draws: &[f64]) -> f64 {
    let count = draws.len();
    let batch = ((count as f64).sqrt() as usize).max(1);
    let mean = draws.iter().sum::<f64>() / count as f64;
    let variance = draws.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / count as f64;
    let means: Vec<f64> =
        draws.chunks_exact(batch).map(|b| b.iter().sum::<f64>() / batch as f64).collect();
    let between = means.iter().map(|m| (m - mean).powi(2)).sum::<f64>() / means.len() as f64;
    if between > 0.0 {
        (variance / between * means.len() as f64).min(count as f64)
    } else {
        count as f64
    }
}
