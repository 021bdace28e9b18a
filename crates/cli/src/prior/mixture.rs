//! A mixture of normal laws fitted to a column of numbers.

use undertone_design::density::{self, Density, Fitted, Settings};
use undertone_design::fit::{Fit, UNSEEN, radius};

use super::tally::GroupTally;
use crate::failure::Failure;
use crate::output::{nats, table};
use crate::plot::DensityPlot;

/// How many normal laws.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Components {
    /// So many.
    Given(usize),
    /// As many as the Bayesian information criterion chooses.
    Auto,
}

/// The most components `auto` tries.
const TRIED: usize = 8;

impl std::str::FromStr for Components {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let most = density::MOST_COMPONENTS;
        match text.parse() {
            _ if text == "auto" => Ok(Self::Auto),
            Ok(count) if (1..=most).contains(&count) => Ok(Self::Given(count)),
            _ => Err(format!("give 1 to {most}, or auto")),
        }
    }
}

/// The mixtures that were fitted, and which was chosen.
pub(super) struct Mixed {
    tried: Vec<Fitted>,
    best: usize,
}

impl Mixed {
    pub(super) fn chosen(&self) -> &Fitted {
        &self.tried[self.best]
    }

    pub(super) fn describe(&self) -> String {
        let rows = self.chosen().mixture.components().iter().map(|part| {
            let share = nats((1e4 * part.weight).round() / 1e2);
            vec![format!("{share} %"), nats(part.law.mean()), nats(part.law.deviation())]
        });
        let mut text = table(&["share", "mean", "deviation"], rows.collect());
        if self.tried.len() > 1 {
            let rows = self.tried.iter().enumerate().map(|(at, fitted)| {
                let chosen = if at == self.best { "chosen" } else { "" };
                vec![(at + 1).to_string(), nats(fitted.bic), chosen.into()]
            });
            text += &format!("\n\n{}", table(&["components", "BIC", ""], rows.collect()));
        }
        if self.best + 1 == TRIED {
            text += "\nnote: no more components than these were tried; more may fit better still";
        }
        if !self.chosen().converged {
            text += "\nnote: the fit had not settled when its steps ran out";
        }
        text
    }
}

/// Fits a mixture to the numbers, clipped to the range as a device clips them, and puts its
/// probabilities of the bins in the place of the counted shares. Box and counts stay as they are; the
/// radius grows by the distance moved.
pub(super) fn fit(
    numbers: &[f64],
    edges: &[f64],
    components: Components,
    fit: &mut Fit,
) -> Result<Mixed, Failure> {
    let (low, high) = (edges[0], edges[edges.len() - 1]);
    let clipped: Vec<f64> = numbers.iter().map(|v| v.clamp(low, high)).collect();
    // Nothing narrower than what a bin hides can be seen in the bins.
    let bin = (high - low) / (edges.len() - 1) as f64;
    let settings = Settings { least_deviation: Some(bin / 12f64.sqrt()), ..Settings::default() };
    let (best, tried) = match components {
        Components::Given(count) => (0, vec![density::fit(&clipped, count, &settings)?]),
        Components::Auto => density::choose(&clipped, TRIED, &settings)?,
    };
    let mixed = Mixed { tried, best };
    let law = Density::Mixture(mixed.chosen().mixture.clone());
    let binned = law.clipped(edges)?.raised(UNSEEN / fit.n as f64)?;
    let shares = fit.counts.iter().map(|&count| count as f64 / fit.n as f64);
    let moved: f64 =
        binned.p.as_slice().iter().zip(shares).map(|(p, share)| (p - share).abs()).sum();
    let sampling = radius(fit.n, fit.counts.len(), fit.confidence.beta)?;
    fit.confidence.radius = (sampling + moved).min(2.0);
    (fit.p, fit.floored) = (binned.p, binned.floored);
    Ok(mixed)
}

/// The data, the fit and the bins.
pub(super) fn picture(
    column: &str,
    edges: &[f64],
    fit: &Fit,
    mixed: Option<&Mixed>,
    counted: &GroupTally,
) -> DensityPlot {
    const STEPS: usize = 600;
    let (low, high) = (edges[0], edges[edges.len() - 1]);
    let bin = (high - low) / (edges.len() - 1) as f64;
    let curve = |density: &dyn Fn(f64) -> f64| {
        let at = |i: usize| low + (high - low) * i as f64 / STEPS as f64;
        // As a share of one bin, so that it lies over the bars.
        (0..=STEPS).map(|i| (at(i), bin * density(at(i)))).collect::<Vec<_>>()
    };
    let parts = mixed.map(|mixed| mixed.chosen().mixture.components()).unwrap_or_default();
    let part = |c: &density::Component| curve(&|y| c.weight * c.law.density(y));
    let clipped = counted.below + counted.above;
    DensityPlot {
        title: format!("{column}: {} observations in {} bins", fit.n, edges.len() - 1),
        note: match clipped {
            0 => String::new(),
            _ => format!("{clipped} of them lie outside the range and are counted in the end bins"),
        },
        label: column.into(),
        edges: edges.to_vec(),
        data: fit.counts.iter().map(|&count| count as f64 / fit.n as f64).collect(),
        prior: fit.p.as_slice().to_vec(),
        law: mixed.map(|mixed| {
            let law = Density::Mixture(mixed.chosen().mixture.clone());
            curve(&|y| law.density(y))
        }),
        parts: if parts.len() > 1 { parts.iter().map(part).collect() } else { Vec::new() },
    }
}
