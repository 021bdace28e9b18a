//! Laplace noise confined to an interval, with one scale for all inputs or one for each.
//!
//! STL19 Definition 6 (14): given x, the output has density e^(-|y-x|/b(x)) / (2 b(x) C_x) on [l, u]
//! and nothing outside, with C_x = 1 - (e^(-(x-l)/b) + e^(-(u-x)/b))/2 (STL19 Lemma 1, (15)).
//!
//! What the density leaks is computed exactly up to rounding of floats (`leakage.rs`); how the scale is
//! chosen is in `scale.rs`. What ships is the density's mass in each output cell, a finite table:
//! binning is post-processing, so it leaks no more.
//!
//! **What the kernel re-checks.** Every inequality of the claim, on the integers of that table.

mod leakage;
mod scale;

pub use leakage::Leakage;
pub use scale::{Limits, closed, exact, instance, largest_alpha, published};

use crate::{Channel, Distribution, Error};

/// How the scale is found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Scale {
    /// JSTL21 Theorem 6 (25), both branches, as printed.
    Published,
    /// Its first branch, which holds for every ε.
    Closed,
    /// The least scale whose density keeps the claims.
    Exact,
    /// The least scale whose table keeps the claims.
    Table,
    /// JSTL21 (26), b(x) = ΔX/(αP(x) + ε); α as given, or the largest for which the density keeps the
    /// claims.
    Instance(Option<f64>),
    /// This number.
    Given(f64),
}

/// Bounded Laplace noise on at least one input: finite ends in order, inputs increasing between them,
/// scales positive and finite.
#[derive(Debug, Clone, PartialEq)]
pub struct BoundedLaplace {
    low: f64,
    high: f64,
    points: Vec<f64>,
    scales: Vec<f64>,
}

impl BoundedLaplace {
    /// Noise with a scale for each input.
    pub fn new(range: (f64, f64), points: Vec<f64>, scales: Vec<f64>) -> Result<Self, Error> {
        let (low, high) = range;
        if !(low < high && low.is_finite() && high.is_finite()) {
            let problem =
                format!("{low} to {high}: give two finite numbers, the first below the second");
            return Err(Error::other("range", problem));
        }
        if points.is_empty() {
            return Err(Error::Empty { what: "points".into() });
        }
        if scales.len() != points.len() {
            let (expected, found) = (points.len(), scales.len());
            return Err(Error::Size { what: "the list of scales".into(), expected, found });
        }
        for (at, &value) in points.iter().enumerate() {
            if !(low..=high).contains(&value) {
                let range = format!("within the range, {low} to {high}");
                return Err(Error::range(format!("points[{at}]"), value, range));
            }
            if at > 0 && !(points[at - 1] < value) {
                let above = format!("above points[{}] = {}", at - 1, points[at - 1]);
                return Err(Error::range(format!("points[{at}]"), value, above));
            }
        }
        for (at, &value) in scales.iter().enumerate() {
            if !(value > 0.0 && value.is_finite()) {
                let what = format!("scale[{at}]");
                return Err(Error::range(what, value, "a finite number above 0"));
            }
        }
        Ok(Self { low, high, points, scales })
    }

    /// Noise with one scale for all inputs.
    pub fn constant(range: (f64, f64), points: &[f64], scale: f64) -> Result<Self, Error> {
        Self::new(range, points.to_vec(), vec![scale; points.len()])
    }

    /// The scale of each input's noise.
    pub fn scales(&self) -> &[f64] {
        &self.scales
    }

    /// The probability that unconfined noise would stay inside: C_x, STL19 Lemma 1 (15).
    pub fn normaliser(&self, x: usize) -> f64 {
        let (b, at) = (self.scales[x], self.points[x]);
        // 1 - e^-t without cancellation for wide noise.
        -((self.low - at) / b).exp_m1() / 2.0 - ((at - self.high) / b).exp_m1() / 2.0
    }

    /// ln of the density of output `y`, which must lie in the range, given input `x`.
    pub fn ln_density(&self, x: usize, y: f64) -> f64 {
        let b = self.scales[x];
        -(y - self.points[x]).abs() / b - (2.0 * b * self.normaliser(x)).ln()
    }

    /// The mass of each cell between `edges`, which must increase from one end of the range to the other.
    pub fn table(&self, edges: &[f64]) -> Result<Channel, Error> {
        if edges.first() != Some(&self.low) || edges.last() != Some(&self.high) {
            let problem = format!("output cells must reach from {} to {}", self.low, self.high);
            return Err(Error::other("edges", problem));
        }
        let row = |x: usize| {
            let mass = edges.windows(2).map(|e| self.between(x, e[0], e[1]).max(0.0)).collect();
            Distribution::normalised(&format!("channel row {x}"), mass)
        };
        Channel::from_rows((0..self.points.len()).map(row).collect::<Result<_, _>>()?)
    }

    /// P(from < Y <= to | x), up to the common factor 1/C_x.
    fn between(&self, x: usize, from: f64, to: f64) -> f64 {
        let (at, b) = (self.points[x], self.scales[x]);
        // The tail beyond a distance, and the mass between two distances on one side.
        let side = |near: f64, far: f64| -0.5 * (-near / b).exp() * ((near - far) / b).exp_m1();
        if from >= at {
            side(from - at, to - at)
        } else if to <= at {
            side(at - to, at - from)
        } else {
            side(0.0, at - from) + side(0.0, to - at)
        }
    }

    /// E(Y-X)², in closed form: STL19 (18), (19).
    pub fn mean_squared_error(&self, prior: &Distribution) -> Result<f64, Error> {
        // ∫_0^t n² e^(-n/b)/(2b) dn = b² - e^(-t/b)(t² + 2bt + 2b²)/2.
        self.mean(prior, |t, b| b * b * poisson_tail(t / b, 3))
    }

    /// E|Y-X|, in closed form.
    pub fn mean_absolute_error(&self, prior: &Distribution) -> Result<f64, Error> {
        // ∫_0^t n e^(-n/b)/(2b) dn = b/2 - e^(-t/b)(t + b)/2.
        self.mean(prior, |t, b| b / 2.0 * poisson_tail(t / b, 2))
    }

    /// Σ P(x)/C_x (G(x-l) + G(u-x)).
    fn mean(&self, prior: &Distribution, one_side: impl Fn(f64, f64) -> f64) -> Result<f64, Error> {
        prior.check_len("the list of points", self.points.len())?;
        let term = |x: usize| {
            let (at, b) = (self.points[x], self.scales[x]);
            let sides = one_side(at - self.low, b) + one_side(self.high - at, b);
            prior[x] * sides / self.normaliser(x)
        };
        Ok((0..self.points.len()).map(term).sum())
    }
}

/// e^-s Σ_{k >= from} s^k/k!, without cancellation where noise is wide and s small.
fn poisson_tail(s: f64, from: u32) -> f64 {
    if s > 2.0 {
        let (mut term, mut head) = (1.0, 1.0);
        for k in 1..from {
            term *= s / f64::from(k);
            head += term;
        }
        return 1.0 - (-s).exp() * head;
    }
    let mut term = (1..=from).fold(1.0, |term, k| term * s / f64::from(k));
    let (mut sum, mut k) = (0.0, from);
    while term > 1e-18 * sum {
        sum += term;
        k += 1;
        term *= s / f64::from(k);
    }
    (-s).exp() * sum
}
