//! Symbols above a threshold, with the chance of a false one controlled.

use crate::answer::Estimate;
use crate::settings::{Method, Settings};
use crate::{Error, Estimator};
use serde::Serialize;
use undertone_numeric::normal::normal_quantile;

/// Which kind of false alarm is controlled.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Control {
    /// The chance of even one false symbol (Holm).
    FamilyWise,
    /// The expected share of false symbols among those named (Benjamini and Yekutieli, which holds
    /// however the counts depend on each other).
    FalseDiscovery,
}

/// A symbol named as heavy.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Heavy {
    /// Its index.
    pub symbol: usize,
    /// Its unbiased share, with its interval.
    pub share: Estimate,
    /// The probability of at least so much if its share were the threshold, or a bound above it.
    pub p_value: f64,
}

/// The symbols above a threshold.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct HeavyHitters {
    /// The threshold.
    pub threshold: f64,
    /// What is controlled, at 1 minus the level of the settings.
    pub control: Control,
    /// Level, coverage and target.
    pub settings: Settings,
    /// In words.
    pub label: String,
    /// The symbols, the largest share first.
    pub symbols: Vec<Heavy>,
}

impl Estimator {
    /// The symbols whose share in the population is above `threshold`.
    ///
    /// For one policy of randomised response or of bits, the count of a symbol is binomial and its
    /// tail is exact. Otherwise it is a bound that holds for every population and every number of reports.
    pub fn heavy_hitters(&self, threshold: f64, control: Control) -> Result<HeavyHitters, Error> {
        if !(0.0..1.0).contains(&threshold) {
            let range = "at least 0 and below 1";
            return Err(Error::Range { what: "the threshold", value: threshold, range });
        }
        let shares = self.shares(Method::Unbiased)?;
        let chance = 1.0 - self.settings().level();
        let z = normal_quantile(chance / (2.0 * self.symbols() as f64));
        let tails = self.decoder().share_tails(&self.groups, threshold, z);
        let tested = (0..tails.len()).filter(|&x| shares.symbols[x].identified);
        let mut order: Vec<(f64, usize)> = tested.map(|x| (tails[x], x)).collect();
        order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let named = passing(&order, control, chance);
        let mut symbols: Vec<Heavy> = order[..named]
            .iter()
            .map(|&(p_value, symbol)| Heavy { symbol, share: shares.symbols[symbol], p_value })
            .collect();
        symbols
            .sort_by(|a, b| b.share.value.total_cmp(&a.share.value).then(a.symbol.cmp(&b.symbol)));
        let promise = match control {
            Control::FamilyWise => "the chance that any of them is not",
            Control::FalseDiscovery => "the expected proportion of them that are not",
        };
        let label = format!(
            "shares above {threshold}; {promise} is at most {:.3} %; others may be above it too",
            100.0 * chance
        );
        Ok(HeavyHitters { threshold, control, settings: shares.settings, label, symbols })
    }
}

/// How many of the smallest p-values are named.
fn passing(order: &[(f64, usize)], control: Control, chance: f64) -> usize {
    let size = order.len() as f64;
    match control {
        Control::FamilyWise => {
            let steps = order.iter().enumerate();
            let holds = |(at, (p, _)): &(usize, &(f64, usize))| *p <= chance / (size - *at as f64);
            steps.take_while(holds).count()
        }
        Control::FalseDiscovery => {
            let harmonic: f64 = (1..=order.len()).map(|i| 1.0 / i as f64).sum();
            let holds = |&(at, (p, _)): &(usize, &(f64, usize))| {
                *p <= chance * (at as f64 + 1.0) / (size * harmonic)
            };
            order.iter().enumerate().rev().find(holds).map_or(0, |(at, _)| at + 1)
        }
    }
}
