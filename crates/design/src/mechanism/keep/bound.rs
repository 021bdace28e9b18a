//! No channel, of any shape, guesses the input more often than this.
//!
//! **Claim.** Let lifts lie in [l, h]. For any prices π, one per symbol, every channel under the claim releases
//! the input itself with probability at most Σ π + max over y and L of (P(y)L(y) - π·L), L ranging over all lift
//! vectors.
//!
//! **Proof.** The success is Σ_y w_y P(y) L_y(y), Σ w_y L_y(x) = 1 for every x and Σ w_y = 1. Adding
//! Σ_x π(x)(1 - Σ_y w_y L_y(x)) = 0 gives Σ π + Σ_y w_y (P(y)L_y(y) - π·L_y), and a mean is at most its maximum.
//!
//! The inner maximum is a fractional knapsack for each y, so the bound is *evaluated* exactly on the whole
//! alphabet in O(k log k), whatever prices are proposed. It is linear programming duality: the best prices give
//! the optimum of the program over the whole alphabet. They are *proposed* as π(x) = P(x)d(x), d equal to d₀ for
//! all symbols too rare to be worth a release and larger for the others, just enough for the knapsack of y to be
//! worth nothing when everything else that it raises is rare: with Σ = Σ π and α = (1-l)/(h-l) the mass that can
//! be raised at once,
//!
//! * P(y) <= α: P(y)(d(y) - d₀) = (hP(y) - lΣ - (1-l)d₀)₊/(h-l);
//! * P(y) > α: d(y) = ((1 - (1-P(y))l) - lΣ)/(1-l), at least d₀.
//!
//! Σ solves Σ = d₀ + Σ_y P(y)(d(y) - d₀), and d₀ is chosen to make the evaluated bound small.

use crate::extremal::LiftRange;
use crate::{Distribution, Error};

use super::{maximise, posterior};
use crate::objective::Objective;
use undertone_numeric::bisection::Bracket;

/// A lower bound on the 0-1 loss of every channel whose lifts under `prior` stay in `range`: the
/// optimum itself while all vertices can be listed, the dual bound above.
pub fn least_loss(prior: &Distribution, range: LiftRange) -> Result<f64, Error> {
    if range.reveals_nothing() {
        return Ok(1.0 - prior.max());
    }
    if prior.len() <= posterior::MAX_LISTED {
        let found = posterior::optimal_lifts(prior, range, &Objective::Hamming)?;
        return Ok(found.bound.unwrap_or(0.0));
    }
    let alphabet = Alphabet::new(prior, range);
    Ok((1.0 - alphabet.most_success()).max(0.0))
}

/// Probabilities, largest first, and the range of lifts.
struct Alphabet {
    p: Vec<f64>,
    low: f64,
    high: f64,
    /// The mass that can have the highest lift at once.
    raised: f64,
}

impl Alphabet {
    fn new(prior: &Distribution, range: LiftRange) -> Self {
        let mut p: Vec<f64> = prior.as_slice().iter().copied().filter(|p| *p > 0.0).collect();
        p.sort_by(|a, b| b.total_cmp(a));
        let (low, high) = (range.low(), range.high());
        Self { p, low, high, raised: (1.0 - low) / (high - low) }
    }

    /// The least bound over the proposals; any of them is valid.
    fn most_success(&self) -> f64 {
        let rare = maximise(|t| -self.evaluate(t - 1.0), 2.0, 60) - 1.0;
        self.evaluate(rare)
    }

    /// P(y)(d(y) - d₀), which falls with y.
    fn extra(&self, p: f64, total: f64, rare: f64) -> f64 {
        let (low, high) = (self.low, self.high);
        let extra = if p <= self.raised {
            (high * p - low * total - (1.0 - low) * rare) / (high - low)
        } else {
            p * ((1.0 - (1.0 - p) * low - low * total) / (1.0 - low) - rare)
        };
        extra.max(0.0)
    }

    /// Σ as the root of Σ = d₀ + Σ_y P(y)(d(y) - d₀), whose right side falls with Σ.
    fn total(&self, rare: f64) -> f64 {
        let sum = |total: f64| {
            let extras = self.p.iter().map(|p| self.extra(*p, total, rare));
            rare + extras.take_while(|extra| *extra > 0.0).sum::<f64>()
        };
        let bracket = Bracket { holds: rare, fails: sum(rare).max(rare) };
        bracket.halve(60, |middle| sum(middle) > middle).fails
    }

    /// The bound at the prices proposed for this d₀: for each y the knapsack that raises y among the
    /// others, all symbols at density d₀ being one pool.
    fn evaluate(&self, rare: f64) -> f64 {
        let total = self.total(rare);
        let extras: Vec<f64> = self
            .p
            .iter()
            .map(|p| self.extra(*p, total, rare))
            .take_while(|extra| *extra > 0.0)
            .collect();
        let density = |y: usize| rare + extras.get(y).map_or(0.0, |extra| extra / self.p[y]);
        let mut order: Vec<usize> = (0..extras.len()).collect();
        order.sort_by(|&a, &b| density(a).total_cmp(&density(b)));
        // Running mass and price of the cheapest: the pool, then the others.
        let pool: f64 = self.p[extras.len()..].iter().sum();
        let mut running = vec![(0.0, 0.0), (pool, pool * rare)];
        let mut place = vec![0; order.len()];
        for (at, &y) in order.iter().enumerate() {
            let (mass, price) = running[at + 1];
            running.push((mass + self.p[y], price + self.p[y] * density(y)));
            place[y] = at + 1;
        }
        let dearest = |at: usize| match at {
            0 => rare,
            _ => order.get(at - 1).map_or(0.0, |&y| density(y)),
        };
        let (everything, sum) = running[order.len() + 1];
        // The price of the cheapest `mass` of symbols other than y.
        let cheapest = |mass: f64, y: usize| {
            let upto = |mass: f64| {
                let mass = mass.min(everything);
                let at = running.partition_point(|(m, _)| *m <= mass).max(1) - 1;
                (at, running[at].1 + (mass - running[at].0) * dearest(at))
            };
            match (upto(mass), place.get(y)) {
                ((at, price), Some(&place)) if at < place => price,
                _ => upto(mass + self.p[y]).1 - self.p[y] * density(y),
            }
        };
        let beyond = |y: usize| {
            // Raising y earns its own success; symbols that are cheaper even so come first.
            let own = density(y) - 1.0;
            let before =
                if rare < own { 1 + order.partition_point(|&x| density(x) < own) } else { 0 };
            let counted = place.get(y).copied().unwrap_or(0) < before;
            let first = running[before].0 - if counted { self.p[y] } else { 0.0 };
            let mine = (self.raised - first).clamp(0.0, self.p[y]);
            let others = cheapest((self.raised - mine).max(0.0), y);
            let raise = (self.high - self.low) * (others + mine * own);
            -(self.low * (sum - self.p[y]) + raise)
        };
        sum + (0..self.p.len()).map(beyond).fold(f64::NEG_INFINITY, f64::max)
    }
}
