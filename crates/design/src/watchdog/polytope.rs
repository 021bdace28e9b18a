//! The beliefs about X that an output within the budget may leave.

use super::problem::{FLAT, WatchdogProblem};
use undertone_numeric::simplex::{Bounds, Row, Simplex, Verdict};

/// {q : q >= 0, Σq = 1, e^-ε_l <= Σ_x lift(s,x) q(x) <= e^ε_u for every s}: every output of a release
/// within the budget leaves a posterior q = P(x|y) in it, and every mixture of its points that averages
/// to P(x) is such a release. It holds P(x) itself, so it is never empty.
#[derive(Debug, Clone)]
pub(super) struct Polytope {
    /// One row per value of the secret, of deviations of the lift from one over their largest; then the
    /// sum.
    rows: Vec<Vec<f64>>,
    /// The ranges of the rows' own variables; the sum has none.
    ranges: Vec<Bounds>,
    fresh: Simplex,
    current: Simplex,
    symbols: usize,
    /// Questions about parts so far.
    asked: usize,
}

/// Questions about parts between two fresh starts.
const RESTART: usize = 32;

impl Polytope {
    pub(super) fn new(problem: &WatchdogProblem) -> Self {
        let symbols = problem.len();
        let (floor, ceiling) = problem.budget.deviations();
        let (mut rows, mut ranges) = (Vec::new(), Vec::new());
        for s in 0..problem.secrets() {
            let deviations = problem.deviations(s);
            let least = deviations.iter().copied().fold(0.0, f64::min);
            let most = deviations.iter().copied().fold(0.0, f64::max);
            let scale = most.max(-least);
            if scale <= FLAT {
                continue;
            }
            // The row's own variable is Σ (lift - 1) q, on the scale of the row.
            rows.push(deviations.iter().map(|deviation| -deviation / scale).collect::<Vec<_>>());
            let (lower, upper) = (floor.max(least) / scale, ceiling.min(most) / scale);
            ranges.push(Bounds { lower, upper });
        }
        rows.push(vec![1.0; symbols]);
        let own = |&own: &Bounds| Row { rhs: 0.0, own, cost: 0.0 };
        let mut fresh =
            Simplex::new(&ranges.iter().map(own).chain([Row::equal(1.0)]).collect::<Vec<_>>());
        for x in 0..symbols {
            let column: Vec<f64> = rows.iter().map(|row| row[x]).collect();
            fresh.add_column(&column, Bounds { lower: 0.0, upper: 1.0 }, 0.0);
        }
        Self { rows, ranges, current: fresh.clone(), fresh, symbols, asked: 0 }
    }

    /// Forgets the last corner, and with it whatever rounding has gathered.
    pub(super) fn restart(&mut self) {
        self.current.clone_from(&self.fresh);
    }

    /// A corner where `cost` is least; `None` if the simplex got lost.
    pub(super) fn lowest(&mut self, cost: &[f64]) -> Option<Vec<f64>> {
        (self.minimise(cost) == Verdict::Optimal).then(|| self.corner())
    }

    fn minimise(&mut self, cost: &[f64]) -> Verdict {
        cost.iter().enumerate().for_each(|(x, &cost)| self.current.set_cost(x, cost));
        self.current.minimise()
    }

    /// The last corner found, with rounding below zero cut off.
    fn corner(&self) -> Vec<f64> {
        let mut q: Vec<f64> = (0..self.symbols).map(|x| self.current.value(x).max(0.0)).collect();
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
        let boxes = lower.iter().zip(upper).map(|(&lower, &upper)| Bounds { lower, upper });
        let boxes: Vec<Bounds> = boxes.collect();
        boxes.iter().enumerate().for_each(|(x, &bounds)| self.current.set_bounds(x, bounds));
        match self.minimise(cost) {
            Verdict::Infeasible => return Err(Empty),
            Verdict::Optimal => {}
            Verdict::Unbounded { .. } | Verdict::Unsettled => {
                return Ok((self.corner(), f64::NEG_INFINITY));
            }
        }
        let prices = self.current.prices();
        let last = prices.len() - 1;
        // The right-hand side is zero but for the sum, which is one.
        let mut bound = prices[last];
        let mut add = |slope: f64, range: &Bounds| {
            bound += (slope * range.lower).min(slope * range.upper);
        };
        for (x, (cost, range)) in cost.iter().zip(&boxes).enumerate() {
            let paid: f64 = prices.iter().zip(&self.rows).map(|(price, row)| price * row[x]).sum();
            add(cost - paid, range);
        }
        for (price, range) in prices[..last].iter().zip(&self.ranges) {
            add(-price, range);
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
