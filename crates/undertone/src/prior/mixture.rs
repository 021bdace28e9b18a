//! Mixtures of normal laws fitted to a column of numbers.

use std::str::FromStr;

use undertone_design::density::{self, Density, Fitted, Settings};
use undertone_design::fit::radius;
use undertone_design::fit::{Fit, UNSEEN};

use crate::Error;

/// How many normal laws a mixture has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Components {
    /// So many.
    Given(usize),
    /// As many as the Bayesian information criterion chooses.
    Auto,
}

/// The most components that are tried when none are given.
const TRIED: usize = 8;

impl FromStr for Components {
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

/// The mixtures that were fitted, and which of them was chosen.
#[derive(Debug, Clone)]
pub struct FittedMixtures {
    /// With one component, two, and so on; or the one that was asked for.
    pub tried: Vec<Fitted>,
    /// Which of them was chosen.
    pub best: usize,
}

impl FittedMixtures {
    /// The mixture that was chosen.
    pub fn chosen(&self) -> &Fitted {
        &self.tried[self.best]
    }

    /// Whether the choice fell on the most components that were tried: more may fit better still.
    pub fn at_most_tried(&self) -> bool {
        self.best + 1 == TRIED
    }
}

/// Fits a mixture to the numbers, clipped to the range as a device clips them, and puts its
/// probabilities of the bins in the place of the counted shares. Box and counts stay as they are; the
/// radius grows by the distance moved.
pub fn fit_mixture(
    numbers: &[f64],
    edges: &[f64],
    components: Components,
    fit: &mut Fit,
) -> Result<FittedMixtures, Error> {
    let (low, high) = match edges {
        [low, .., high] if low < high && edges.len() == fit.counts.len() + 1 => (*low, *high),
        _ => {
            let problem = format!(
                "are {} for {} bins: give one more than there are bins, increasing",
                edges.len(),
                fit.counts.len()
            );
            return Err(Error::field("edges", problem));
        }
    };
    let clipped: Vec<f64> = numbers.iter().map(|v| v.clamp(low, high)).collect();
    // Nothing narrower than what a bin hides can be seen in the bins.
    let bin = (high - low) / (edges.len() - 1) as f64;
    let settings = Settings { least_deviation: Some(bin / 12f64.sqrt()), ..Settings::default() };
    let (best, tried) = match components {
        Components::Given(count) => (0, vec![density::fit(&clipped, count, &settings)?]),
        Components::Auto => density::choose(&clipped, TRIED, &settings)?,
    };
    let mixtures = FittedMixtures { tried, best };
    let law = Density::Mixture(mixtures.chosen().mixture.clone());
    let binned = law.clipped(edges)?.raised(UNSEEN / fit.n as f64)?;
    let shares = fit.counts.iter().map(|&count| count as f64 / fit.n as f64);
    let moved: f64 =
        binned.p.as_slice().iter().zip(shares).map(|(p, share)| (p - share).abs()).sum();
    let sampling = radius(fit.n, fit.counts.len(), fit.confidence.beta)?;
    fit.confidence.radius = (sampling + moved).min(2.0);
    (fit.p, fit.floored) = (binned.p, binned.floored);
    Ok(mixtures)
}
