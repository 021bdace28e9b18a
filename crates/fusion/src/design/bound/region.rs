//! How well two scenarios can be told apart by what one sensor, or all, may send.
//!
//! For two scenarios a and b and a factor γ, let E_γ be the largest P(A|a) - γ P(A|b) over events A of the output. For
//! one sensor it is at most the maximum of Σ_x (B(x|a) - γ B(x|b)) v(x) over the v(x) = P(A|x) that the budgets allow:
//! any event of any map, with any number of outputs, is such a v, and merging outputs keeps both the LDP level and the
//! lifts of G that this sensor alone must keep. The maximum is a linear program; what is used is the value of its
//! Lagrangian at multipliers of the lift rows, which is an upper bound whatever the multipliers are.
//!
//! E_γ is convex in γ. The largest convex function below bounds at the points of a lattice of ln γ is therefore a bound
//! everywhere, and it is the E_γ of a pair of laws whose likelihood ratios lie on the lattice. By Blackwell's theorem that
//! pair tells a from b at least as well as any permitted map. Sensors are independent given the scenario, so the product of their
//! pairs tells a from b at least as well as any permitted network: its lattice convolution bounds E_γ of all outputs.

use undertone_numeric::simplex::{Bounds, Row, Simplex, Verdict};

use super::super::vertex;

/// Lattice points of ln γ above zero, and as many below.
pub(super) const HALF: usize = 24;

/// Rounds of column generation for one bound.
const ROUNDS: usize = 40;
/// A bound this close to what is attained is not improved.
const CLOSE: f64 = 1e-9;
/// More than all sums of probabilities here are rounded by.
const ROUNDING: f64 = 1e-11;

/// What one sensor may say: its LDP odds, and linear rows on v that every event of its output keeps.
#[derive(Debug, Clone, Default)]
pub(super) struct Permitted {
    /// e^ε; nothing if readings need not be hidden.
    pub(super) odds: Option<f64>,
    /// Σ_x row(x) v(x) <= bound.
    pub(super) rows: Vec<(Vec<f64>, f64)>,
}

impl Permitted {
    /// The largest Σ gain(x) v(x) over the v within the LDP odds, and the v.
    fn simple(&self, gain: &[f64]) -> (f64, Vec<f64>) {
        let difference: Vec<f64> = gain.iter().map(|g| -g).collect();
        let v = vertex::best(&difference, self.odds.unwrap_or(f64::INFINITY));
        (dot(gain, &v), v)
    }

    /// Never below the largest Σ gain(x) v(x) over the permitted v.
    fn most(&self, gain: &[f64]) -> f64 {
        let (mut best, first) = self.simple(gain);
        if self.rows.is_empty() {
            return best;
        }
        let count = self.rows.len();
        // Mixtures of simple v that keep the rows: a row for each, and one for the weights.
        let bounds = self.rows.iter().map(|(_, bound)| *bound);
        let mut rows: Vec<Row> =
            bounds.map(|rhs| Row { rhs, own: Bounds::NON_NEGATIVE, cost: 0.0 }).collect();
        rows.push(Row::equal(1.0));
        let mut master = Simplex::new(&rows);
        let add = |master: &mut Simplex, v: &[f64]| {
            let mut entries: Vec<f64> = self.rows.iter().map(|(row, _)| dot(row, v)).collect();
            entries.push(1.0);
            master.add_column(&entries, Bounds::NON_NEGATIVE, -dot(gain, v));
        };
        for constant in [0.0, 1.0] {
            add(&mut master, &vec![constant; gain.len()]);
        }
        add(&mut master, &first);
        for _ in 0..ROUNDS {
            if master.minimise() != Verdict::Optimal {
                break;
            }
            let prices: Vec<f64> = master.prices()[..count].iter().map(|p| p.min(0.0)).collect();
            let mut reduced = gain.to_vec();
            let mut constant = 0.0;
            for ((row, bound), price) in self.rows.iter().zip(&prices) {
                reduced.iter_mut().zip(row).for_each(|(g, a)| *g += price * a);
                constant -= price * bound;
            }
            let (value, v) = self.simple(&reduced);
            best = best.min(value + constant);
            let attained = -master.prices()[count];
            if value <= attained + CLOSE {
                break;
            }
            add(&mut master, &v);
        }
        best
    }

    /// Bounds on E_γ of a against b at γ = e^(jδ), j = 0, 1, .. [`HALF`].
    fn curve(&self, a: &[f64], b: &[f64], step: f64) -> Vec<f64> {
        let at = |j: usize| {
            let factor = (step * j as f64).exp();
            let gain: Vec<f64> = a.iter().zip(b).map(|(p, q)| p - factor * q).collect();
            (self.most(&gain) + ROUNDING).clamp(0.0, 1.0)
        };
        (0..=HALF).map(at).collect()
    }

    /// The largest |ln P(A|a)/P(A|b)|, roughly: where the lattice may end.
    pub(super) fn reach(&self, a: &[f64], b: &[f64]) -> f64 {
        let side = |a: &[f64], b: &[f64]| match self.odds {
            // The worst v is at its most where a is likelier by more than the ratio itself: a few steps find it.
            Some(odds) => {
                let mut ratio = 1.0;
                for _ in 0..60 {
                    let gain: Vec<f64> = a.iter().zip(b).map(|(p, q)| p - ratio * q).collect();
                    let high = |law: &[f64]| -> f64 {
                        let raised = law.iter().zip(&gain).filter(|(_, g)| **g > 0.0);
                        1.0 + (odds - 1.0) * raised.map(|(p, _)| p).sum::<f64>()
                    };
                    ratio = high(a) / high(b);
                }
                ratio.ln()
            }
            None => {
                let ratios = a.iter().zip(b).filter(|(p, _)| **p > 0.0).map(|(p, q)| (p / q).ln());
                ratios.fold(0.0, f64::max)
            }
        };
        side(a, b).max(side(b, a))
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// A pair of laws whose likelihood ratios are e^(jδ) for |j| up to some number, or nothing or without bound.
#[derive(Debug, Clone)]
pub(super) struct Pair {
    /// P(ratio = e^(jδ) | b), from the least j on.
    base: Vec<f64>,
    /// P(ratio without bound | a).
    infinite: f64,
}

impl Pair {
    /// The pair of one sensor.
    pub(super) fn new(permitted: &Permitted, a: &[f64], b: &[f64], step: f64) -> Self {
        Self::of(&permitted.curve(a, b, step), &permitted.curve(b, a, step), step)
    }

    /// Nothing is told apart.
    pub(super) fn silent() -> Self {
        Self { base: vec![1.0], infinite: 0.0 }
    }

    /// The pair whose E_γ is the convex hull of these bounds, for a against b and for b against a.
    fn of(forward: &[f64], backward: &[f64], step: f64) -> Self {
        // E_(1/γ) of a against b is 1 - 1/γ + E_γ of b against a over γ: the event's complement.
        let below = (1..=HALF).rev().map(|j| {
            let factor = (-step * j as f64).exp();
            (factor, 1.0 - factor + factor * backward[j])
        });
        let above = forward.iter().enumerate().map(|(j, &e)| ((step * j as f64).exp(), e));
        let points: Vec<(f64, f64)> = [(0.0, 1.0)].into_iter().chain(below).chain(above).collect();
        // The lower hull, as indices.
        let mut hull: Vec<usize> = Vec::new();
        let slope = |a: usize, b: usize| (points[b].1 - points[a].1) / (points[b].0 - points[a].0);
        for at in 0..points.len() {
            while let [.., first, last] = hull[..]
                && slope(first, last) >= slope(last, at)
            {
                hull.pop();
            }
            hull.push(at);
        }
        // How fast E falls beyond a factor is how often the ratio exceeds it.
        let mut base = vec![0.0; 2 * HALF + 1];
        let mut beyond = 1.0f64;
        for pair in hull.windows(2) {
            let next = (-slope(pair[0], pair[1])).clamp(0.0, beyond);
            // The first point is γ = 0; a ratio of nothing has no mass under a.
            if pair[0] > 0 {
                base[pair[0] - 1] = beyond - next;
            }
            beyond = next;
        }
        if let Some(&last) = hull.last() {
            base[last - 1] += beyond;
        }
        let finite: f64 =
            base.iter().enumerate().map(|(at, q)| q * Self::factor(at, HALF, step)).sum();
        Self { base, infinite: (1.0 - finite).max(0.0) }
    }

    /// The ratio at a place of a lattice that goes so far below zero.
    fn factor(at: usize, below: usize, step: f64) -> f64 {
        (step * (at as f64 - below as f64)).exp()
    }

    /// Both sensors' outputs.
    pub(super) fn with(&self, other: &Self) -> Self {
        let mut base = vec![0.0; self.base.len() + other.base.len() - 1];
        for (i, p) in self.base.iter().enumerate().filter(|(_, p)| **p > 0.0) {
            for (j, q) in other.base.iter().enumerate() {
                base[i + j] += p * q;
            }
        }
        Self { base, infinite: 1.0 - (1.0 - self.infinite) * (1.0 - other.infinite) }
    }

    /// (γ, a bound on E_γ of a against b) at every point of the lattice.
    pub(super) fn limits(&self, step: f64) -> Vec<(f64, f64)> {
        let below = self.base.len() / 2;
        let (mut a, mut b) = (self.infinite, 0.0);
        let mut limits: Vec<(f64, f64)> = Vec::with_capacity(self.base.len());
        for (at, q) in self.base.iter().enumerate().rev() {
            let factor = Self::factor(at, below, step);
            // What is beyond this point.
            limits.push((factor, (a - factor * b + ROUNDING).clamp(0.0, 1.0)));
            a += factor * q;
            b += q;
        }
        limits.reverse();
        limits
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// P(yes) of randomised response at these odds.
    fn response(odds: f64) -> (Vec<f64>, Vec<f64>) {
        let p = odds / (1.0 + odds);
        (vec![p, 1.0 - p], vec![1.0 - p, p])
    }

    #[test]
    fn the_pair_of_a_certain_reading_is_randomised_response() {
        let (odds, step) = (3.0f64, 3.0f64.ln() / HALF as f64);
        let permitted = Permitted { odds: Some(odds), rows: Vec::new() };
        let (a, b) = ([1.0, 0.0], [0.0, 1.0]);
        assert!((permitted.reach(&a, &b) - odds.ln()).abs() < 1e-12);
        let pair = Pair::new(&permitted, &a, &b, step);
        // One factor per lattice point: E_γ = max(0, 3/4 - γ/4) for γ >= 1/3.
        for (factor, bound) in pair.limits(step) {
            assert!(
                (bound - (0.75 - factor / 4.0).max(1.0 - factor).max(0.0)).abs() < 1e-9,
                "{factor} {bound}"
            );
        }
        assert!(pair.infinite < 1e-9);
    }

    #[test]
    fn two_sensors_are_their_product() {
        let (odds, step) = (3.0f64, 3.0f64.ln() / HALF as f64);
        let permitted = Permitted { odds: Some(odds), rows: Vec::new() };
        let one = Pair::new(&permitted, &[1.0, 0.0], &[0.0, 1.0], step);
        let two = one.with(&one).with(&Pair::silent());
        let (a, b) = response(odds);
        for (factor, bound) in two.limits(step) {
            let each = || a.iter().zip(&b);
            let pairs = each().flat_map(|(p, q)| each().map(move |(r, s)| (p * r, q * s)));
            let expected: f64 = pairs.map(|(p, q)| (p - factor * q).max(0.0)).sum();
            assert!((bound - expected).abs() < 1e-9, "{factor} {bound} {expected}");
        }
    }

    #[test]
    fn a_row_that_binds_lowers_the_bound_to_the_program() {
        // v(0) - v(1) <= .2 without LDP: the largest v(0) - v(1) is .2.
        let permitted = Permitted { odds: None, rows: vec![(vec![1.0, -1.0, 0.0], 0.2)] };
        assert!((permitted.most(&[1.0, -1.0, 0.0]) - 0.2).abs() < 1e-9);
        // v = (1, .8, 1) is best then.
        assert!((permitted.most(&[1.0, -0.5, 0.25]) - 0.85).abs() < 1e-9);
        let free = Permitted::default();
        assert!((free.most(&[1.0, -1.0, 0.5]) - 1.5).abs() < 1e-12);
    }
}
