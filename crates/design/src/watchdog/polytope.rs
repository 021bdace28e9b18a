//! The beliefs about X that an output within the budget may leave.

use super::scene::{FLAT, Scene};
use super::tableau::{Tableau, Verdict};

/// {q : q >= 0, Σq = 1, e^-ε_l <= Σ_x lift(s,x) q(x) <= e^ε_u for every s}: every output of a release
/// within the budget leaves a posterior q = P(x|y) in it, and every mixture of its points that averages
/// to P(x) is such a release. It holds P(x) itself, so it is never empty.
#[derive(Debug, Clone)]
pub(super) struct Polytope {
    /// One row per value of the secret, of deviations of the lift from one over their largest; then the
    /// sum.
    rows: Vec<Vec<f64>>,
    fresh: Tableau,
    current: Tableau,
    symbols: usize,
    /// Questions about parts so far.
    asked: usize,
}

/// Questions about parts between two fresh starts.
const RESTART: usize = 32;

impl Polytope {
    pub(super) fn new(scene: &Scene) -> Self {
        let symbols = scene.len();
        let (floor, ceiling) = scene.budget.deviations();
        let (mut rows, mut lower, mut upper) = (Vec::new(), vec![0.0; symbols], vec![1.0; symbols]);
        for s in 0..scene.secrets() {
            let deviations = scene.deviations(s);
            let least = deviations.iter().copied().fold(0.0, f64::min);
            let most = deviations.iter().copied().fold(0.0, f64::max);
            let scale = most.max(-least);
            if scale <= FLAT {
                continue;
            }
            // The row's own variable is Σ (lift - 1) q, on the scale of the row.
            rows.push(deviations.iter().map(|deviation| -deviation / scale).collect::<Vec<_>>());
            lower.push(floor.max(least) / scale);
            upper.push(ceiling.min(most) / scale);
        }
        rows.push(vec![1.0; symbols]);
        lower.push(0.0);
        upper.push(0.0);
        let mut rhs = vec![0.0; rows.len() - 1];
        rhs.push(1.0);
        let fresh = Tableau::new(&rows, &rhs, lower, upper);
        Self { rows, current: fresh.clone(), fresh, symbols, asked: 0 }
    }

    /// Forgets the last corner, and with it whatever rounding has gathered.
    pub(super) fn restart(&mut self) {
        self.current.clone_from(&self.fresh);
    }

    /// A corner where `cost` is least; `None` if the simplex got lost.
    pub(super) fn lowest(&mut self, cost: &[f64]) -> Option<Vec<f64>> {
        (self.current.minimise(cost) == Verdict::Optimal).then(|| self.corner())
    }

    /// The last corner found, with rounding below zero cut off.
    fn corner(&self) -> Vec<f64> {
        let mut q: Vec<f64> =
            self.current.values()[..self.symbols].iter().map(|q| q.max(0.0)).collect();
        let sum: f64 = q.iter().sum();
        q.iter_mut().for_each(|q| *q /= sum);
        q
    }

    /// Minimises `cost` over the part of the polytope within a box: a corner and a value that no point
    /// of the part is below. `Err` if the part is empty; a bound of -∞ if the simplex got lost.
    ///
    /// The bound does not lean on the simplex: any prices give one, because every variable is bounded.
    pub(super) fn within(
        &mut self,
        cost: &[f64],
        lower: &[f64],
        upper: &[f64],
    ) -> Result<(Vec<f64>, f64), Empty> {
        self.asked += 1;
        if self.asked.is_multiple_of(RESTART) {
            self.restart();
        }
        self.current.lower[..self.symbols].copy_from_slice(lower);
        self.current.upper[..self.symbols].copy_from_slice(upper);
        match self.current.minimise(cost) {
            Verdict::Infeasible => return Err(Empty),
            Verdict::Unsettled => return Ok((self.corner(), f64::NEG_INFINITY)),
            Verdict::Optimal => {}
        }
        let prices = self.current.prices(cost);
        let last = prices.len() - 1;
        // The right-hand side is zero but for the sum, which is one.
        let mut bound = prices[last];
        let mut add = |slope: f64, j: usize| {
            bound += (slope * self.current.lower[j]).min(slope * self.current.upper[j]);
        };
        for (j, cost) in cost.iter().enumerate() {
            let paid: f64 = prices.iter().zip(&self.rows).map(|(price, row)| price * row[j]).sum();
            add(cost - paid, j);
        }
        for (s, price) in prices[..last].iter().enumerate() {
            add(-price, self.symbols + s);
        }
        Ok((self.corner(), bound))
    }
}

/// A part of a polytope with nothing in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Empty;

/// Σ -q ln q.
pub(super) fn entropy(q: &[f64]) -> f64 {
    q.iter().filter(|&&q| q > 0.0).map(|&q| -q * q.ln()).sum()
}

pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}
