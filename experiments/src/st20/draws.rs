//! The methods of ST20 Tables I and II over many draws of the rows they learn from: what depends on the draw is
//! shown with an interval. No trees and no guarantees here, which [`super::comparison`] has for one draw.

use rand_chacha::ChaCha12Rng;
use rand_core::SeedableRng;
use rayon::prelude::*;
use undertone_fusion::design::Watch;
use undertone_fusion::learn::compare::{Entry, wrong};
use undertone_fusion::learn::leakage::{averaged, counted};
use undertone_fusion::learn::linear::Linear;
use undertone_fusion::learn::prepare::Parts;
use undertone_fusion::learn::release::{Projected, Release};
use undertone_fusion::learn::ship::ship;
use undertone_fusion::learn::{Settings, train};
use undertone_fusion::{Origin, Samples};

use crate::claim::short;
use crate::interval::Interval;
use crate::row;
use crate::{Error, Panel, Series, Table, certified};

/// How often every row to learn from is released to a detector, at most.
const MOST_RELEASED: usize = 4000;
/// How many levels a released projection is cut into.
const LEVELS: usize = 10;

/// What is tested where one method is said to be the lowest.
pub const LOWEST: &str = "mean over the draws below every other method's, the 95 % interval of every difference below nought";

/// What one method did in one draw.
#[derive(Debug, Clone, Copy)]
pub struct Figures {
    /// Error of H by a linear detector learned on the draw.
    pub error_h: f64,
    /// Error of G likewise.
    pub error_g: f64,
    /// ε_I by (12): counts of drawn outputs.
    pub counted: f64,
    /// ε_I by (12) with the maps' own probabilities.
    pub averaged: f64,
    /// The LDP of the worst sensor.
    pub ldp: f64,
}

/// Every method in every draw.
pub struct Draws {
    methods: Vec<&'static str>,
    /// By method, then by draw.
    found: Vec<Vec<Figures>>,
}

fn judged(parts: &Parts, entry: Entry, settings: &Settings) -> Result<Figures, Error> {
    let Parts { train: seen, test, .. } = parts;
    let (release, ldp) = match entry {
        Entry::Learned(method) => {
            let trained = train(seen, method, settings, &Watch::PATIENT)?;
            let level = if method.hides_readings() { settings.ldp } else { f64::INFINITY };
            let shipped = ship(seen, &trained.maps, level, &Origin::default())?;
            let levels = shipped.policies.iter();
            let attained = levels.map(|p| certified::nats(p.certificate().input.ldp.ratio));
            let ldp = attained.fold(0.0, f64::max);
            (Release::Maps(shipped.maps), ldp)
        }
        Entry::Centralised(criterion) => {
            let projected = Projected::fit(seen, criterion, 1.0, LEVELS)?;
            (Release::Projected(projected), f64::INFINITY)
        }
        Entry::Raw => {
            let sizes = seen.sensors().iter().map(|(_, alphabet)| alphabet.len()).collect();
            (Release::Raw(sizes), f64::INFINITY)
        }
    };
    let mut rng = ChaCha12Rng::seed_from_u64(settings.seed);
    let times = (MOST_RELEASED / seen.samples().len()).clamp(1, 64);
    let learned = release.rows(seen, times, &mut rng);
    let fresh = release.rows(test, 1, &mut rng);
    let labels = |samples: &Samples, private: bool, count: usize| -> Vec<usize> {
        let label = |s: &undertone_fusion::Sample| if private { s.private } else { s.public };
        samples.samples().iter().map(label).cycle().take(count).collect()
    };
    let error = |private: bool| {
        let known = labels(seen, private, learned.len());
        let detector = Linear::fit(&learned, &release.sizes(), &known, settings.ridge)?;
        let truth = labels(test, private, fresh.len());
        Ok::<_, Error>(wrong(&fresh, &truth, |row| detector.decide(row)))
    };
    Ok(Figures {
        error_h: error(false)?,
        error_g: error(true)?,
        counted: counted(&labels(test, true, fresh.len()), &fresh),
        averaged: averaged(test, &release)?.unwrap_or(f64::NAN),
        ldp,
    })
}

impl Draws {
    /// Learns and judges every method in every draw; `parts` gives the rows of a draw, numbered from 1.
    pub fn run(
        methods: &[&'static str],
        draws: u64,
        settings: &Settings,
        parts: impl Fn(u64) -> Result<Parts, Error> + Sync,
    ) -> Result<Self, Error> {
        let entries =
            methods.iter().map(|name| Entry::parse(name)).collect::<Result<Vec<_>, _>>()?;
        let draw = |seed: u64| {
            let parts = parts(seed)?;
            let settings = Settings { seed, ..*settings };
            entries.iter().map(|entry| judged(&parts, *entry, &settings)).collect()
        };
        let seeds: Vec<u64> = (1..=draws).collect();
        let by_draw: Vec<Vec<Figures>> = seeds
            .par_iter()
            .with_max_len(1)
            .map(|seed| draw(*seed))
            .collect::<Result<_, Error>>()?;
        let found =
            (0..methods.len()).map(|at| by_draw.iter().map(|own| own[at]).collect()).collect();
        Ok(Self { methods: methods.to_vec(), found })
    }

    /// How many draws there are.
    pub fn count(&self) -> usize {
        self.found.first().map_or(0, Vec::len)
    }

    /// A figure of one method in every draw; empty if it was not run.
    pub fn of(&self, method: &str, of: fn(&Figures) -> f64) -> Vec<f64> {
        let at = self.methods.iter().position(|own| *own == method);
        at.map_or(Vec::new(), |at| self.found[at].iter().map(of).collect())
    }

    /// The mean of a figure.
    pub fn mean(&self, method: &str, figure: fn(&Figures) -> f64) -> Interval {
        Interval::of(&self.of(method, figure))
    }

    /// In how many draws one method's figure is at most every other's (1e-6 for rounding).
    pub fn least_in(&self, method: &str, others: &[&str], figure: fn(&Figures) -> f64) -> usize {
        let ours = self.of(method, figure);
        let theirs: Vec<Vec<f64>> = others.iter().map(|other| self.of(other, figure)).collect();
        let least = |at: &usize| theirs.iter().all(|own| ours[*at] <= own[*at] + 1e-6);
        (0..ours.len()).filter(least).count()
    }

    /// Whether one method's mean is below every other's, beyond doubt by the 95 % intervals of paired differences.
    pub fn lowest(&self, method: &str, others: &[&str], figure: fn(&Figures) -> f64) -> bool {
        let ours = self.of(method, figure);
        let gap = |other: &&str| Interval::of_differences(&ours, &self.of(other, figure));
        others.iter().all(|other| gap(other).below())
    }

    /// Which of the others has the smallest mean, and by how much the method's is larger, draw by draw.
    pub fn against_best(
        &self,
        method: &str,
        others: &[&'static str],
        figure: fn(&Figures) -> f64,
    ) -> (&'static str, Interval) {
        let mean = |other: &&'static str| self.mean(other, figure).mean;
        let best = others.iter().copied().min_by(|a, b| mean(a).total_cmp(&mean(b)));
        let best = best.unwrap_or_default();
        (best, Interval::of_differences(&self.of(method, figure), &self.of(best, figure)))
    }

    /// The median of a figure, which says something also where it is infinite in some draws.
    pub fn median(&self, method: &str, figure: fn(&Figures) -> f64) -> f64 {
        let mut draws = self.of(method, figure);
        draws.sort_unstable_by(f64::total_cmp);
        let half = draws.len() / 2;
        match draws.len() {
            0 => f64::NAN,
            n if n % 2 == 1 => draws[half],
            _ => 0.5 * (draws[half - 1] + draws[half]),
        }
    }

    /// In how many draws a figure is finite.
    pub fn finite(&self, method: &str, figure: fn(&Figures) -> f64) -> usize {
        self.of(method, figure).iter().filter(|value| value.is_finite()).count()
    }

    /// `median epic 0.7 (infinite in 3), npo 1.2, ..`.
    pub fn medians(&self, methods: &[&str], figure: fn(&Figures) -> f64) -> String {
        let one = |method: &&str| {
            let infinite = self.count() - self.finite(method, figure);
            let rest =
                if infinite > 0 { format!(" (infinite in {infinite})") } else { String::new() };
            format!("{method} {}{rest}", short(self.median(method, figure)))
        };
        format!("median {}", methods.iter().map(one).collect::<Vec<_>>().join(", "))
    }

    /// `epic 1.4 ± 0.1, npo 2 ± 0.2, ..`.
    pub fn listed(&self, methods: &[&str], figure: fn(&Figures) -> f64) -> String {
        let one = |method: &&str| format!("{method} {}", self.mean(method, figure).words());
        methods.iter().map(one).collect::<Vec<_>>().join(", ")
    }

    /// Means and half widths of 95 % intervals.
    pub fn table(&self, name: &str) -> Table {
        let columns = [
            "method",
            "draws",
            "error_h",
            "error_h_half",
            "error_g",
            "error_g_half",
            "counted_i",
            "counted_i_half",
            "counted_i_infinite",
            "averaged_i",
            "averaged_i_half",
            "attained_ld",
        ];
        let mut table = Table::new(name, &columns);
        for method in &self.methods {
            let mean = |figure| self.mean(method, figure);
            let (h, g) = (mean(|f| f.error_h), mean(|f| f.error_g));
            let (counted, averaged) = (mean(|f| f.counted), mean(|f| f.averaged));
            let infinite = self.count() - self.finite(method, |f| f.counted);
            table.push(row![
                method,
                self.count(),
                h.mean,
                h.half,
                g.mean,
                g.half,
                counted.mean,
                counted.half,
                infinite,
                averaged.mean,
                averaged.half,
                mean(|f| f.ldp).mean,
            ]);
        }
        table
    }

    /// ε_I of every method by both estimators, with intervals; what is infinite is left out.
    pub fn panel(&self, title: &str) -> Panel {
        let line = |name: &str, shift: f64, figure: fn(&Figures) -> f64| {
            let all = self.methods.iter().enumerate().filter(|(_, method)| **method != "raw");
            let placed: Vec<(f64, Interval)> =
                all.map(|(at, m)| (at as f64 + 1.0 + shift, self.mean(m, figure))).collect();
            let points = placed.iter().map(|(x, i)| (*x, i.mean)).collect();
            let bars = placed.iter().map(|(x, i)| (*x, i.mean - i.half, i.mean + i.half)).collect();
            Series::points(name, points).with_bars(bars)
        };
        let names: Vec<String> =
            self.methods.iter().enumerate().map(|(at, m)| format!("{} {m}", at + 1)).collect();
        Panel {
            title: title.into(),
            x_label: "method".into(),
            y_label: "ε_I, in nats".into(),
            series: vec![
                line("(12) over the maps' own randomness, 95 % interval over draws", -0.08, |f| {
                    f.averaged
                }),
                line("(12) by counting; infinite ones are left out", 0.08, |f| f.counted),
                Series::reference(format!("methods: {}", names.join(", ")), Vec::new()),
            ],
            ..Panel::default()
        }
    }
}
