//! Gaussian mixtures fitted to data by expectation and maximisation, with restarts.
//!
//! The likelihood has no maximum without a floor on the deviations: a component on one value alone
//! would be infinitely likely. Every start gives a local maximum, so several are tried, from seeds
//! spread like k-means++'s. The number of components is given, or chosen by the Bayesian information
//! criterion.

use super::{Component, Mixture, Normal};
use crate::Error;
use undertone_numeric::dice::{Dice, draw};

/// More distinct values than this are grouped into as many equal cells, each represented by the mean of
/// its values.
const DISTINCT: usize = 1 << 14;

/// The most components tried or accepted.
pub const MOST_COMPONENTS: usize = 16;

/// The tolerance to which every start is climbed before the best is chosen.
const ROUGH: f64 = 1e-6;

/// How a mixture is fitted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// How many starts; the likeliest result is kept.
    pub restarts: u32,
    /// Where the starts come from. The same seed gives the same fit.
    pub seed: u64,
    /// No component's deviation falls below this; `None` is a hundredth of the data's.
    pub least_deviation: Option<f64>,
    /// A start ends when a step gains less than this share of the log-likelihood.
    pub tolerance: f64,
    /// The most steps of one start.
    pub most_steps: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self { restarts: 8, seed: 1, least_deviation: None, tolerance: 1e-10, most_steps: 5000 }
    }
}

/// A mixture and how well it fits.
#[derive(Debug, Clone, PartialEq)]
pub struct Fitted {
    /// The mixture.
    pub mixture: Mixture,
    /// The logarithm of the data's likelihood.
    pub log_likelihood: f64,
    /// (3k - 1) ln n - 2 ln likelihood; less is better.
    pub bic: f64,
    /// How many steps the best start took.
    pub steps: u32,
    /// Whether it ended because it had converged.
    pub converged: bool,
}

/// Fits `components` normal laws to finite numbers.
pub fn fit(values: &[f64], components: usize, settings: &Settings) -> Result<Fitted, Error> {
    Sample::of(values, settings)?.fit(components, settings)
}

/// Fits 1 to `most` components and returns all of them; the first entry of the answer is the position
/// of the one with the least BIC.
pub fn choose(
    values: &[f64],
    most: usize,
    settings: &Settings,
) -> Result<(usize, Vec<Fitted>), Error> {
    let sample = Sample::of(values, settings)?;
    check_components(most)?;
    let most = most.min(sample.points.len());
    let tried = (1..=most).map(|k| sample.fit(k, settings)).collect::<Result<Vec<_>, _>>()?;
    let best = (0..tried.len()).min_by(|&a, &b| tried[a].bic.total_cmp(&tried[b].bic));
    Ok((best.unwrap_or(0), tried))
}

fn check_components(k: usize) -> Result<(), Error> {
    if (1..=MOST_COMPONENTS).contains(&k) {
        return Ok(());
    }
    Err(Error::range("the number of components", k as f64, format!("1 to {MOST_COMPONENTS}")))
}

/// Distinct values with their counts, shifted and scaled to mean 0 and deviation 1.
struct Sample {
    points: Vec<(f64, f64)>,
    n: f64,
    centre: f64,
    scale: f64,
    /// The least deviation, scaled.
    floor: f64,
}

/// Means, deviations and weights while they are being fitted.
struct State {
    parts: Vec<(f64, f64, f64)>,
    log_likelihood: f64,
    steps: u32,
    converged: bool,
}

impl State {
    /// Equal shares around the seeds.
    fn at(seeds: Vec<f64>, floor: f64) -> Self {
        let share = 1.0 / seeds.len() as f64;
        let parts = seeds.into_iter().map(|mean| (share, mean, share.max(floor))).collect();
        Self { parts, log_likelihood: f64::NEG_INFINITY, steps: 0, converged: false }
    }
}

impl Sample {
    fn of(values: &[f64], settings: &Settings) -> Result<Self, Error> {
        if values.is_empty() {
            return Err(Error::Empty { what: "the data".into() });
        }
        if let Some(at) = values.iter().position(|v| !v.is_finite()) {
            return Err(Error::NotFinite { what: format!("value {at}"), value: values[at] });
        }
        let n = values.len() as f64;
        let centre = values.iter().sum::<f64>() / n;
        let scale = (values.iter().map(|v| (v - centre).powi(2)).sum::<f64>() / n).sqrt();
        if !(scale > 0.0 && scale.is_finite()) {
            let problem = format!("all values are {centre}: one value has no mixture");
            return Err(Error::other("the data", problem));
        }
        let floor = match settings.least_deviation {
            None => 0.01,
            Some(least) if least > 0.0 && least.is_finite() => least / scale,
            Some(least) => {
                return Err(Error::range("the least deviation", least, "a finite number above 0"));
            }
        };
        let mut sorted: Vec<f64> = values.iter().map(|v| (v - centre) / scale).collect();
        sorted.sort_by(f64::total_cmp);
        let mut points: Vec<(f64, f64)> = Vec::new();
        for value in sorted {
            match points.last_mut() {
                Some((last, count)) if *last == value => *count += 1.0,
                _ => points.push((value, 1.0)),
            }
        }
        Ok(Self { points: grouped(points), n, centre, scale, floor })
    }

    fn fit(&self, components: usize, settings: &Settings) -> Result<Fitted, Error> {
        check_components(components)?;
        if components > self.points.len() {
            let problem = format!(
                "{components} components for {} different values: ask for fewer",
                self.points.len()
            );
            return Err(Error::other("the mixture", problem));
        }
        let mut random = Dice::new(settings.seed ^ (components as u64) << 32);
        let starts = if components == 1 { 1 } else { settings.restarts.max(1) };
        // Every start climbs to a rough height, the best of them to the top.
        let runs = (0..starts).map(|_| {
            let start = State::at(self.seeds(components, &mut random), self.floor);
            self.climb(start, ROUGH.max(settings.tolerance), settings.most_steps)
        });
        let best = runs.max_by(|a, b| a.log_likelihood.total_cmp(&b.log_likelihood));
        let Some(best) = best else { return Err(Error::Empty { what: "restarts".into() }) };
        let best = self.climb(best, settings.tolerance, settings.most_steps);
        let part = |&(weight, mean, deviation): &(f64, f64, f64)| {
            let law = Normal::new(self.centre + self.scale * mean, self.scale * deviation)?;
            Ok(Component { weight, law })
        };
        let parts = best.parts.iter().map(part).collect::<Result<Vec<_>, Error>>()?;
        // The scaled density is `scale` times the true one.
        let log_likelihood = best.log_likelihood - self.n * self.scale.ln();
        let parameters = (3 * components - 1) as f64;
        Ok(Fitted {
            mixture: Mixture::new(parts)?,
            log_likelihood,
            bic: parameters * self.n.ln() - 2.0 * log_likelihood,
            steps: best.steps,
            converged: best.converged,
        })
    }

    /// k-means++: each seed is drawn with probability proportional to its squared distance from those
    /// before.
    fn seeds(&self, k: usize, random: &mut Dice) -> Vec<f64> {
        let mut seeds = vec![self.draw(random, |_| 1.0)];
        while seeds.len() < k {
            let distance =
                |v: f64| seeds.iter().map(|s| (v - s) * (v - s)).fold(f64::INFINITY, f64::min);
            seeds.push(self.draw(random, distance));
        }
        seeds
    }

    /// A value, drawn with probability proportional to its count times `weight`.
    fn draw(&self, random: &mut Dice, weight: impl Fn(f64) -> f64) -> f64 {
        let masses: Vec<f64> = self.points.iter().map(|&(v, count)| count * weight(v)).collect();
        self.points[draw(&masses, random)].0
    }

    /// Steps until one gains less than the tolerance.
    fn climb(&self, mut state: State, tolerance: f64, most_steps: u32) -> State {
        // The first step only looks at where it stands.
        (state.log_likelihood, state.converged) = (f64::NEG_INFINITY, false);
        while state.steps < most_steps {
            let (parts, log_likelihood) = self.step(&state.parts);
            state.steps += 1;
            let gain = log_likelihood - state.log_likelihood;
            state.log_likelihood = log_likelihood;
            if gain <= tolerance * (log_likelihood.abs() + self.n) {
                state.converged = true;
                break;
            }
            state.parts = parts;
        }
        state
    }

    /// The next parameters, and the log-likelihood of the present ones.
    fn step(&self, parts: &[(f64, f64, f64)]) -> (Vec<(f64, f64, f64)>, f64) {
        let heads: Vec<f64> = parts
            .iter()
            .map(|(weight, _, deviation)| {
                (weight / (deviation * std::f64::consts::TAU.sqrt())).ln()
            })
            .collect();
        // Per component: mass, first and second moment about its present mean.
        let mut sums = vec![(0.0, 0.0, 0.0); parts.len()];
        let mut logs = vec![0.0; parts.len()];
        let mut log_likelihood = 0.0;
        for &(value, count) in &self.points {
            let mut top = f64::NEG_INFINITY;
            for ((log, head), (_, mean, deviation)) in logs.iter_mut().zip(&heads).zip(parts) {
                let z = (value - mean) / deviation;
                *log = head - z * z / 2.0;
                top = top.max(*log);
            }
            let total: f64 = logs
                .iter_mut()
                .map(|log| {
                    *log = (*log - top).exp();
                    *log
                })
                .sum();
            log_likelihood += count * (top + total.ln());
            for ((sum, share), (_, mean, _)) in sums.iter_mut().zip(&logs).zip(parts) {
                let mass = count * share / total;
                let off = value - mean;
                sum.0 += mass;
                sum.1 += mass * off;
                sum.2 += mass * off * off;
            }
        }
        let next = sums.iter().zip(parts).map(|(&(mass, first, second), &(_, mean, deviation))| {
            // A component nothing belongs to any more stays where it is, without weight.
            if !(mass > 1e-9) {
                return (0.0, mean, deviation);
            }
            let shift = first / mass;
            let variance = (second / mass - shift * shift).max(self.floor * self.floor);
            (mass / self.n, mean + shift, variance.sqrt())
        });
        (next.collect(), log_likelihood)
    }
}

/// At most [`DISTINCT`] points, by grouping neighbours in equal cells.
fn grouped(points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    if points.len() <= DISTINCT {
        return points;
    }
    let (low, high) = (points[0].0, points[points.len() - 1].0);
    let cell = |v: f64| (((v - low) / (high - low) * DISTINCT as f64) as usize).min(DISTINCT - 1);
    let mut sums = vec![(0.0, 0.0); DISTINCT];
    for (value, count) in points {
        let sum = &mut sums[cell(value)];
        *sum = (sum.0 + value * count, sum.1 + count);
    }
    sums.into_iter().filter(|s| s.1 > 0.0).map(|(sum, count)| (sum / count, count)).collect()
}
