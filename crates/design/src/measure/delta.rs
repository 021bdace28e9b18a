//! The least δ of (ε,δ)-LIP, in the conventions that the papers use without telling them apart.
//!
//! With E = e^ε, A_x = Σ_y (q(y|x) - E P(y))_+ and B_x = Σ_y (P(y) - E q(y|x))_+:
//!
//! * [`conditional`]: max{A_x, B_x}, JSTL21 Corollary 9. The default everywhere.
//! * [`posterior`]: max{A_x/E, B_x}, JSTL21 Definition 5 (3).
//! * [`joint`]: P(x)·max{A_x, B_x}, STL19 Definition 4 (5), (6).
//! * [`joint_sets`]: the same on sets S of inputs, where it stays meaningful when single inputs
//!   have no mass.
//!
//! posterior <= conditional <= E·posterior, and Pmin·conditional <= joint <= Pmax·conditional.

use std::fmt;
use std::str::FromStr;

use super::e_divergence::excess;
use super::odds;
use crate::{Channel, Distribution, Error, Symbols};

/// Against what the δ of an (ε,δ)-LIP guarantee is measured. Every other notion uses `Conditional`.
///
/// With A = Σ_y (q(y|x) - E P(y))_+, B = Σ_y (P(y) - E q(y|x))_+ and E = e^ε, δ bounds for every x:
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Convention {
    /// max{A, B}: JSTL21 Corollary 9, the default.
    #[default]
    Conditional,
    /// max{A/E, B}: JSTL21 Definition 5.
    Posterior,
    /// P(x)·max{A, B}: STL19 Definition 4 on single inputs.
    Joint,
    /// P(S)·max{A, B} on sets S of inputs: the worst set instead of the worst input.
    JointSets,
}

impl Convention {
    /// Every convention.
    pub const ALL: [Self; 4] = [Self::Conditional, Self::Posterior, Self::Joint, Self::JointSets];

    /// The name, as typed on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Conditional => "conditional",
            Self::Posterior => "posterior",
            Self::Joint => "joint",
            Self::JointSets => "joint_sets",
        }
    }
}

impl fmt::Display for Convention {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Convention {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::ALL.into_iter().find(|convention| convention.name() == text).ok_or_else(|| {
            Error::other(
                "convention",
                format!("{text:?} is unknown; use conditional, posterior, joint or joint_sets"),
            )
        })
    }
}

/// [`joint_sets`] enumerates the 2^n sets of symbols with mass up to this n.
pub const MAX_SYMBOLS: usize = 20;

/// By how much each input exceeds its bounds: A_x above, B_x below, in the order of the prior's symbols.
///
/// The two sides may have their own ε (asymmetric LIP, ZDS22 Definition 1, with δ).
#[derive(Debug, Clone, PartialEq)]
pub struct Excess {
    /// A_x = E_{e^upper}(q(·|x) || P_Y).
    pub above: Vec<f64>,
    /// B_x = E_{e^lower}(P_Y || q(·|x)).
    pub below: Vec<f64>,
    upper_odds: f64,
    symbols: Symbols,
}

impl Excess {
    /// A_x for lifts above e^upper, B_x for lifts below e^-lower.
    pub fn of(
        prior: &Distribution,
        channel: &Channel,
        lower: f64,
        upper: f64,
    ) -> Result<Self, Error> {
        let (lower_odds, upper_odds) = (odds(lower)?, odds(upper)?);
        let channel = channel.under(prior)?;
        let law = channel.output_law(prior)?;
        let law = law.as_slice();
        let rows = channel.rows().iter();
        Ok(Self {
            above: rows.clone().map(|row| excess(row.as_slice(), law, upper_odds)).collect(),
            below: rows.map(|row| excess(law, row.as_slice(), lower_odds)).collect(),
            upper_odds,
            symbols: prior.symbols().clone(),
        })
    }

    /// max over x of max{A_x, B_x}.
    pub fn conditional(&self) -> f64 {
        self.worst(|_, above, below| above.max(below))
    }

    /// max over x of max{A_x/E, B_x}.
    pub fn posterior(&self) -> f64 {
        self.worst(|_, above, below| (above / self.upper_odds).max(below))
    }

    /// max over x of P(x)·max{A_x, B_x}.
    pub fn joint(&self, prior: &Distribution) -> Result<f64, Error> {
        let prior = prior.in_order_of("the prior", &self.symbols)?;
        Ok(self.worst(|x, above, below| prior[x] * above.max(below)))
    }

    fn worst(&self, value: impl Fn(usize, f64, f64) -> f64) -> f64 {
        let sides = self.above.iter().zip(&self.below).enumerate();
        sides.map(|(x, (&above, &below))| value(x, above, below)).fold(0.0, f64::max)
    }
}

/// max over x of max{A_x, B_x}: JSTL21 Corollary 9.
pub fn conditional(prior: &Distribution, channel: &Channel, epsilon: f64) -> Result<f64, Error> {
    Ok(Excess::of(prior, channel, epsilon, epsilon)?.conditional())
}

/// max over x of max{A_x/e^ε, B_x}: JSTL21 Definition 5.
pub fn posterior(prior: &Distribution, channel: &Channel, epsilon: f64) -> Result<f64, Error> {
    Ok(Excess::of(prior, channel, epsilon, epsilon)?.posterior())
}

/// max over x of P(x)·max{A_x, B_x}: STL19 Definition 4 on single inputs.
pub fn joint(prior: &Distribution, channel: &Channel, epsilon: f64) -> Result<f64, Error> {
    Excess::of(prior, channel, epsilon, epsilon)?.joint(prior)
}

/// STL19 Definition 4 on sets: the maximum over non-empty sets S of inputs of
/// Σ_y (P(S,y) - E P(S)P(y))_+ and Σ_y (P(S)P(y) - E P(S,y))_+.
///
/// Exact, by trying every set of symbols that have mass; more than [`MAX_SYMBOLS`] are refused.
pub fn joint_sets(prior: &Distribution, channel: &Channel, epsilon: f64) -> Result<f64, Error> {
    let odds = odds(epsilon)?;
    let channel = channel.under(prior)?;
    let law = channel.output_law(prior)?;
    let support: Vec<usize> = (0..prior.len()).filter(|&x| prior[x] > 0.0).collect();
    if support.len() > MAX_SYMBOLS {
        return Err(Error::TooLarge {
            what: "the prior's support, for the joint_sets delta,".into(),
            size: support.len(),
            limit: MAX_SYMBOLS,
            fix: "merge rare symbols, or use the conditional convention".into(),
        });
    }
    // Both sums are over y of (Σ_{x in S} term(x,y))_+.
    let side = |term: &dyn Fn(f64, f64) -> f64| {
        let row = |&x: &usize| -> Vec<f64> {
            let cells = channel.rows()[x].as_slice().iter().zip(law.as_slice());
            cells.map(|(&q, &p)| prior[x] * term(q, p)).collect()
        };
        let terms: Vec<Vec<f64>> = support.iter().map(row).collect();
        best_subset(&terms, &vec![0.0; law.len()])
    };
    Ok(side(&|q, p| q - odds * p).max(side(&|q, p| p - odds * q)))
}

/// The largest Σ_y (sums_y + Σ_{x in S} rows_xy)_+ over all S.
///
/// A tree of choices rather than a running sum: every set's sums are added afresh along its own
/// branch, so rounding errors cannot pile up over a million sets.
fn best_subset(rows: &[Vec<f64>], sums: &[f64]) -> f64 {
    let Some((first, rest)) = rows.split_first() else {
        return sums.iter().map(|s| s.max(0.0)).sum();
    };
    let with: Vec<f64> = sums.iter().zip(first).map(|(s, v)| s + v).collect();
    best_subset(rest, &with).max(best_subset(rest, sums))
}
