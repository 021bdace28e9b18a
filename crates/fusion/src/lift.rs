//! How far belief in each value of G may move, as bounds that are linear in a sensor's map.

use undertone_design::Error;
use undertone_numeric::bisection::Bracket;

/// For every value g with mass, bounds on p(g|z)/p(g) in one epoch.
#[derive(Debug, Clone, PartialEq)]
pub struct LiftBounds {
    prior: Vec<f64>,
    lower: Vec<f64>,
    upper: Vec<f64>,
}

impl LiftBounds {
    /// Information privacy at level `nats` after `epochs` epochs that are independent given G.
    ///
    /// One epoch: lifts within e^-ε and e^ε. Several: the tightest bounds on one epoch's lifts that
    /// keep the product of any sequence within the level. For two values of G these are exact; for
    /// more they are sufficient.
    pub fn new(prior: &[f64], nats: f64, epochs: u32) -> Result<Self, Error> {
        if !(nats >= 0.0) {
            return Err(Error::range("the information budget", nats, "at least 0"));
        }
        if epochs == 0 {
            return Err(Error::range("the number of epochs", 0.0, "at least 1"));
        }
        let alive = prior.iter().filter(|&&p| p > 0.0).count();
        let fits = |level: f64| worst_after(prior, level, epochs) <= nats;
        let bounds = match (epochs, alive) {
            (1, _) => Self::symmetric(prior, nats),
            (_, 2) => Self::two_values(prior, nats, epochs),
            _ => {
                // The worst case after all epochs grows with the level of one.
                let bracket = Bracket { holds: 0.0, fails: nats };
                Self::symmetric(prior, bracket.halve(60, fits).holds)
            }
        };
        Ok(bounds.tightened())
    }

    /// The share `part` of these bounds, on a logarithmic scale.
    pub fn scaled(&self, part: f64) -> Self {
        let scale = |bounds: &[f64]| bounds.iter().map(|b| (part * b.ln()).exp()).collect();
        let Self { prior, lower, upper } = self;
        Self { prior: prior.clone(), lower: scale(lower), upper: scale(upper) }.tightened()
    }

    /// The least permitted p(g|z)/p(g), for every g.
    pub fn lower(&self) -> &[f64] {
        &self.lower
    }

    /// The largest permitted p(g|z)/p(g), for every g.
    pub fn upper(&self) -> &[f64] {
        &self.upper
    }

    /// P(g).
    pub fn prior(&self) -> &[f64] {
        &self.prior
    }

    /// The values of G whose bounds imply all others: with two values one is enough.
    pub(crate) fn watched(&self) -> Vec<usize> {
        let alive: Vec<usize> = (0..self.prior.len()).filter(|&g| self.prior[g] > 0.0).collect();
        if alive.len() == 2 { alive[..1].to_vec() } else { alive }
    }

    fn symmetric(prior: &[f64], nats: f64) -> Self {
        let (lower, upper) = (vec![(-nats).exp(); prior.len()], vec![nats.exp(); prior.len()]);
        Self { prior: prior.to_vec(), lower, upper }
    }

    /// With two values, p(z|b)/p(z|a) raised to the number of epochs must keep both lifts.
    fn two_values(prior: &[f64], nats: f64, epochs: u32) -> Self {
        let mut bounds = Self::symmetric(prior, nats);
        let root = f64::from(epochs).recip();
        let alive: Vec<usize> = (0..prior.len()).filter(|&g| prior[g] > 0.0).collect();
        for (&a, &b) in alive.iter().zip(alive.iter().rev()) {
            let (p, q) = (prior[a], prior[b]);
            // lift of a = 1/(p + q ρ^T), lift of b = ρ^T/(p + q ρ^T), with ρ = p(z|b)/p(z|a).
            let least = ((-nats).exp() - p) / q;
            let most = (nats.exp() - p) / q;
            let other_most = q_bound(q, p, nats);
            let other_least = q_least(q, p, nats);
            let low = least.max(other_least).max(0.0).powf(root);
            let high = most.min(other_most).powf(root);
            bounds.upper[a] = 1.0 / (p + q * low);
            bounds.lower[a] = 1.0 / (p + q * high);
        }
        bounds
    }

    /// The lifts average to one, so each bound limits the others.
    fn tightened(mut self) -> Self {
        let alive: Vec<usize> = (0..self.prior.len()).filter(|&g| self.prior[g] > 0.0).collect();
        let sum = |bounds: &[f64], but: usize| -> f64 {
            alive.iter().filter(|&&g| g != but).map(|&g| self.prior[g] * bounds[g]).sum()
        };
        let (mut lower, mut upper) = (self.lower.clone(), self.upper.clone());
        for &g in &alive {
            lower[g] = lower[g].max((1.0 - sum(&self.upper, g)) / self.prior[g]);
            upper[g] = upper[g].min((1.0 - sum(&self.lower, g)) / self.prior[g]);
        }
        (self.lower, self.upper) = (lower, upper);
        self
    }
}

/// The largest ρ at which the lift of the other value, ρ/(p + qρ), is within e^nats.
fn q_bound(q: f64, p: f64, nats: f64) -> f64 {
    let rest = (-nats).exp() - q;
    if rest > 0.0 { p / rest } else { f64::INFINITY }
}

/// The least ρ at which the lift of the other value is at least e^-nats.
fn q_least(q: f64, p: f64, nats: f64) -> f64 {
    p / (nats.exp() - q)
}

/// The worst leakage after `epochs` epochs whose lifts are each within e^-level and e^level: what a
/// constant G may lose to a stream that keeps its level at every step (epochs independent given G).
pub fn worst_after(prior: &[f64], level: f64, epochs: u32) -> f64 {
    let bounds = LiftBounds::symmetric(prior, level).tightened();
    let alive: Vec<usize> = (0..prior.len()).filter(|&g| prior[g] > 0.0).collect();
    let times = f64::from(epochs);
    let side = |ratio: &dyn Fn(usize, usize) -> f64, g: usize| -> f64 {
        let others = alive.iter().filter(|&&other| other != g);
        let sum: f64 =
            others.map(|&other| prior[other] * (times * ratio(other, g).ln()).exp()).sum();
        (prior[g] + sum).ln().abs()
    };
    let most = |other: usize, g: usize| bounds.upper[other] / bounds.lower[g];
    let least = |other: usize, g: usize| bounds.lower[other] / bounds.upper[g];
    alive.iter().map(|&g| side(&most, g).max(side(&least, g))).fold(0.0, f64::max)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn repetition_costs_what_the_specification_says() {
        for (epochs, expected) in [(1, 0.18), (2, 0.387), (5, 1.14), (10, 2.67), (50, 15.9)] {
            let found = worst_after(&[0.5, 0.5], 0.18, epochs);
            assert!((found - expected).abs() < 0.006 * expected.max(1.0), "{epochs}: {found}");
        }
    }

    #[test]
    fn bounds_for_many_epochs_spend_the_level_and_no_more() {
        for prior in [vec![0.5, 0.5], vec![0.9, 0.1], vec![0.2, 0.3, 0.5], vec![0.4, 0.0, 0.6]] {
            for (nats, epochs) in [(0.2, 1), (0.2, 10), (1.5, 3), (3.0, 100)] {
                let bounds = LiftBounds::new(&prior, nats, epochs).unwrap();
                let alive: Vec<usize> = (0..prior.len()).filter(|&g| prior[g] > 0.0).collect();
                // With two values of G the extreme lifts of one are those of the other.
                if alive.len() == 2 {
                    let (a, b) = (alive[0], alive[1]);
                    let mut worst = 0.0f64;
                    for lift in [bounds.lower[a], bounds.upper[a]] {
                        let other = (1.0 - prior[a] * lift) / prior[b];
                        let times = f64::from(epochs);
                        let ratio = (times * (other / lift).ln()).exp();
                        let lifts = [
                            1.0 / (prior[a] + prior[b] * ratio),
                            ratio / (prior[a] + prior[b] * ratio),
                        ];
                        worst = lifts.iter().fold(worst, |w, l| w.max(l.ln().abs()));
                    }
                    assert!((worst - nats).abs() < 1e-9, "{prior:?} {nats} {epochs}: {worst}");
                }
                assert!(bounds.upper.iter().all(|&u| u >= 1.0 - 1e-12 && u <= nats.exp() + 1e-12));
            }
        }
        assert!(LiftBounds::new(&[0.5, 0.5], f64::NAN, 1).is_err());
        assert!(LiftBounds::new(&[0.5, 0.5], 1.0, 0).is_err());
    }
}
