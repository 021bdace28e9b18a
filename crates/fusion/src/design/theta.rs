//! The condition of ST20 (9)-(10), and how much stricter it is than what it is for.
//!
//! Hypothesis tests between G = 0 and G = g must all err with probability at least θ. The constant
//! c_G in θ depends on the maps themselves: evaluated at the maps that ship it implies information
//! privacy; frozen at other maps it implies nothing.

use undertone_design::Error;

use super::limits::{Limits, Spread};
use super::stages::{SecondStage, Task};
use super::{Attempt, Proposal};
use crate::walk::{self, Outputs};
use crate::{Evaluation, Maps, Model};

/// ST20 (9) at given maps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Theta {
    /// c_G: the least probability of the outputs that speak most against, or most for, any g.
    pub coverage: f64,
    /// θ = (1 - c_G(1 - e^(-ε/2)))/2.
    pub theta: f64,
    /// The least error of any test: (1 - spread)/2.
    pub test_error: f64,
    /// The total variation distance that θ allows: c_G(1 - e^(-ε/2)).
    pub allowed: f64,
    /// The largest total variation distance between the laws of the outputs given 0 and given g.
    pub spread: f64,
}

/// What the condition costs: it holds at one design and is measured at another that needs no more.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stricter {
    /// The condition at the first stage found under it.
    pub kept: Theta,
    /// The information level that first stage truly has.
    pub information: f64,
    /// The condition at maps that meet the information budget exactly.
    pub exact: Theta,
    /// How many times the distance of those maps exceeds what the condition would allow them.
    pub factor: f64,
}

impl Theta {
    /// Evaluates the condition for level `nats` at these maps, c_G included.
    pub fn new(model: &Model, maps: &Maps, nats: f64) -> Result<Self, Error> {
        walk::vectors(&maps.outputs())?;
        let prior = model.private_law();
        let atoms = model.atoms();
        let laws =
            Outputs::new(model, maps)?.fold(Vec::new, |laws: &mut Vec<Vec<f64>>, _, masses| {
                let mut law = vec![0.0; prior.len()];
                atoms.iter().zip(masses).for_each(|(atom, m)| law[atom.private] += m);
                law.iter_mut().zip(&prior).filter(|(_, p)| **p > 0.0).for_each(|(m, p)| *m /= p);
                laws.push(law);
            });
        let alive: Vec<usize> = (0..prior.len()).filter(|&g| prior[g] > 0.0).collect();
        let (reference, others) = (alive[0], &alive[1..]);
        let laws: Vec<Vec<f64>> = laws.concat();
        let (mut coverage, mut spread) = (1.0f64, 0.0f64);
        for &g in others {
            let pairs = || laws.iter().map(|law| (law[reference], law[g]));
            spread = spread.max(pairs().map(|(p, q)| (p - q).abs()).sum::<f64>() / 2.0);
            let ratio = |(p, q): (f64, f64)| q / p;
            let seen = || pairs().filter(|(p, q)| p + q > 0.0);
            let least = seen().map(ratio).fold(f64::INFINITY, f64::min);
            let most = seen().map(ratio).fold(0.0, f64::max);
            // Outputs that differ only in the order of equal sensors have equal ratios, up to rounding.
            let against: f64 =
                seen().filter(|&pair| ratio(pair) <= least * (1.0 + TIE)).map(|(p, _)| p).sum();
            let towards: f64 =
                seen().filter(|&pair| ratio(pair) >= most * (1.0 - TIE)).map(|(_, q)| q).sum();
            coverage = coverage.min(against).min(towards);
        }
        Ok(Self::at(coverage, spread, nats))
    }

    /// The condition with a given c_G, which is what freezing it amounts to.
    pub fn at(coverage: f64, spread: f64, nats: f64) -> Self {
        let allowed = coverage * (1.0 - (-nats / 2.0).exp());
        let theta = (1.0 - allowed) / 2.0;
        Self { coverage, theta, test_error: (1.0 - spread) / 2.0, allowed, spread }
    }

    /// Whether (9) holds.
    pub fn holds(&self) -> bool {
        self.test_error >= self.theta
    }
}

/// Ratios this close are equal.
const TIE: f64 = 1e-12;

/// Distances tried are this many, each half of the one before.
const LEVELS: u32 = 12;

impl Task<'_> {
    /// The printed ILL: a first stage under (9), then a second at half the LDP level.
    ///
    /// For each of several distances, block descent keeps the laws within it, and what it finds is
    /// mixed until the condition holds with c_G evaluated at the very maps.
    pub(crate) fn paper_theta(&self, nats: f64) -> Result<Proposal, Error> {
        let exact = self.information_only()?.into_iter().next();
        let exact = exact.ok_or_else(|| Error::other("design", "no start was tried"))?;
        let at_exact = Theta::new(self.model, &exact, nats)?;
        let mut best: Option<Proposal> = None;
        for level in 0..LEVELS {
            if (self.watch.stop)() && best.is_some() {
                break;
            }
            let most = at_exact.spread.max(1e-6) / f64::from(1u32 << level);
            let spread = Spread { most, prior: self.model.private_law() };
            let limits = Limits { spread: Some(spread), ..Limits::default() };
            for maps in self.best(self.model, &limits, Vec::new())? {
                let kept = self
                    .mixed_until(&maps, |maps| Ok(Theta::new(self.model, maps, nats)?.holds()))?;
                let next = self.proposal(kept, Vec::new());
                if best.as_ref().is_none_or(|best| next.loss < best.loss) {
                    best = Some(next);
                }
            }
        }
        let first = best.ok_or_else(|| Error::other("design", "no start was tried"))?;
        let attempts = vec![
            Attempt { name: "first stage under (9)", loss: first.loss },
            Attempt { name: "first stage, exact", loss: self.loss(&exact) },
        ];
        let report = Stricter {
            kept: Theta::new(self.model, &first.maps, nats)?,
            information: Evaluation::new(self.model, &first.maps)?.information.nats,
            exact: at_exact,
            factor: at_exact.spread / at_exact.allowed,
        };
        let maps = match self.limits.ldp {
            Some(odds) => self.second_stage(&first.maps, odds, SecondStage::Half)?,
            None => first.maps,
        };
        Ok(Proposal { theta: Some(report), ..self.proposal(maps, attempts) })
    }
}
