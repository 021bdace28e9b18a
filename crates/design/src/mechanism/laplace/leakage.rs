//! What bounded Laplace noise leaks, exactly up to the rounding of floats.
//!
//! **Claim.** Between two neighbouring knots (ends of the range and inputs) ln f_Y - ln f_x is convex in y.
//!
//! **Proof.** There every ln f_x is a straight line of slope ±1/b(x), so f_Y = Σ P(x) f_x is a sum of
//! exponentials of lines, whose logarithm is convex; subtracting a line keeps that.
//!
//! So belief in x falls most (ln f_Y/f_x is largest) at a knot, and rises most at a knot or where the
//! slope of ln f_Y passes that of ln f_x. With one scale for all inputs the difference is monotone
//! between knots and the knots suffice. The likelihood ratio of two inputs is a straight line between
//! knots, so LDP needs knots only.

use super::BoundedLaplace;
use crate::{Distribution, Error};
use undertone_numeric::bisection::Bracket;

/// The leakage of a density, in nats.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Leakage {
    /// The largest ln f_x/f_Y: how far belief can rise.
    pub max_lift: f64,
    /// The largest ln f_Y/f_x: how far it can fall.
    pub min_lift: f64,
    /// The largest ln f_x/f_x'.
    pub ldp: f64,
}

impl Leakage {
    /// Two-sided LIP: the larger of the two lifts.
    pub fn lip(&self) -> f64 {
        self.max_lift.max(self.min_lift)
    }
}

/// ln Σ P e^(ln f) and its slope, from the inputs' values and slopes at one place.
struct Marginal {
    ln: f64,
    slope: f64,
}

impl BoundedLaplace {
    /// What an observer of the density learns under `prior`. Inputs without mass are protected like the
    /// others.
    pub fn leakage(&self, prior: &Distribution) -> Result<Leakage, Error> {
        prior.check_len("the list of points", self.points.len())?;
        let mut knots = self.points.clone();
        if knots[0] > self.low {
            knots.insert(0, self.low);
        }
        if knots[knots.len() - 1] < self.high {
            knots.push(self.high);
        }
        // ln(2bC) of each input, and every ln f_x at every knot.
        let heads: Vec<f64> = (0..self.points.len())
            .map(|x| (2.0 * self.scales[x] * self.normaliser(x)).ln())
            .collect();
        let line = |x: usize, y: f64| -(y - self.points[x]).abs() / self.scales[x] - heads[x];
        let heights = |y: f64| (0..self.points.len()).map(|x| line(x, y)).collect::<Vec<f64>>();
        let at_knots: Vec<Vec<f64>> = knots.iter().map(|&y| heights(y)).collect();

        let mut worst = Leakage { max_lift: 0.0, min_lift: 0.0, ldp: 0.0 };
        for heights in &at_knots {
            let law = marginal(prior, heights, |_| 0.0).ln;
            let high = heights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let low = heights.iter().copied().fold(f64::INFINITY, f64::min);
            worst.max_lift = worst.max_lift.max(high - law);
            worst.min_lift = worst.min_lift.max(law - low);
            worst.ldp = worst.ldp.max(high - low);
        }
        for (at, pair) in knots.windows(2).enumerate() {
            let (from, to) = (pair[0], pair[1]);
            let slope = |x: usize| {
                let rate = 1.0 / self.scales[x];
                if self.points[x] <= from { -rate } else { rate }
            };
            let first = marginal(prior, &at_knots[at], slope);
            let last = marginal(prior, &at_knots[at + 1], slope);
            let (lefts, rights) = (&at_knots[at], &at_knots[at + 1]);
            for (x, (left, right)) in lefts.iter().zip(rights).enumerate() {
                // A dip inside needs the difference to fall at one end and to rise at the other.
                let (down, up) = (first.slope - slope(x), last.slope - slope(x));
                if !(down < 0.0 && up > 0.0) {
                    continue;
                }
                // No deeper than where the two end tangents meet.
                let (left, right) = (first.ln - left, last.ln - right);
                let meet = (right - left + down * from - up * to) / (down - up);
                if -(left + down * (meet - from)) <= worst.max_lift {
                    continue;
                }
                let law = |y: f64| marginal(prior, &heights(y), slope);
                let bracket = Bracket { holds: from, fails: to };
                let low = bracket.halve(100, |y| law(y).slope < slope(x)).holds;
                worst.max_lift = worst.max_lift.max(line(x, low) - law(low).ln);
            }
        }
        Ok(worst)
    }
}

fn marginal(prior: &Distribution, heights: &[f64], slope: impl Fn(usize) -> f64) -> Marginal {
    let weighed = |x: usize| prior[x] > 0.0;
    let inputs = || (0..heights.len()).filter(|&x| weighed(x));
    let top = inputs().map(|x| heights[x]).fold(f64::NEG_INFINITY, f64::max);
    let (mut sum, mut moment) = (0.0, 0.0);
    for x in inputs() {
        let mass = prior[x] * (heights[x] - top).exp();
        sum += mass;
        moment += mass * slope(x);
    }
    Marginal { ln: top + sum.ln(), slope: moment / sum }
}
