//! Intervals that keep their coverage at the edge of what is possible.
//!
//! A linear statistic does not feel that shares lie between 0 and 1: it is close to normal around
//! the truth even where the truth is 0. So a hypothesis is tested by the statistic, with the
//! variance the statistic has *under the hypothesis* (a score test), and the interval is the set of
//! hypotheses that are not refused. Values of the statistic are ordered by their likelihood ratio
//! against the best *possible* hypothesis (Feldman and Cousins, 1998): far from the edges this is
//! the ordinary two-sided interval, at an edge it turns one-sided without a jump, it is never empty,
//! and it covers at its level everywhere.

use crate::root::falling_root;
use crate::special::{normal_quantile, normal_upper};

/// The variance of a statistic as a function of the true value t: constant + linear t + square t².
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub(crate) struct Spread {
    pub(crate) constant: f64,
    pub(crate) linear: f64,
    pub(crate) square: f64,
}

impl Spread {
    pub(crate) fn constant(variance: f64) -> Self {
        Self { constant: variance, ..Self::default() }
    }

    pub(crate) fn at(&self, t: f64) -> f64 {
        (self.constant + (self.linear + self.square * t) * t).max(0.0)
    }

    /// The variance of a sum of independent statistics.
    pub(crate) fn add(&mut self, other: Self) {
        self.constant += other.constant;
        self.linear += other.linear;
        self.square += other.square;
    }

    pub(crate) fn scaled(self, factor: f64) -> Self {
        Self {
            constant: self.constant * factor,
            linear: self.linear * factor,
            square: self.square * factor,
        }
    }
}

/// The values t between `bounds` that a statistic observed at `value` does not refuse at level
/// 1 - `miss`.
pub(crate) fn interval(value: f64, spread: Spread, bounds: (f64, f64), miss: f64) -> (f64, f64) {
    let (low, high) = bounds;
    if let Some(plain) = far_from_bounds(value, spread, bounds, miss) {
        return plain;
    }
    // From the nearest possible value outwards the p-value falls from one.
    let middle = value.clamp(low, high);
    let excess = |t: f64| p_value(value, t, spread.at(t).sqrt(), bounds) - miss;
    let exact = 1e-9 * spread.at(middle).sqrt() + f64::EPSILON * (high - low);
    let below = falling_root(0.0, middle - low, exact, |by| excess(middle - by));
    let above = falling_root(0.0, high - middle, exact, |by| excess(middle + by));
    (middle - below, middle + above)
}

/// The solutions of (value - t)² = z² variance(t), where the bounds play no part.
fn far_from_bounds(
    value: f64,
    spread: Spread,
    (low, high): (f64, f64),
    miss: f64,
) -> Option<(f64, f64)> {
    let square = normal_quantile(miss / 2.0).powi(2);
    let a = 1.0 - square * spread.square;
    let b = value + square * spread.linear / 2.0;
    let c = value * value - square * spread.constant;
    let root = (b * b - a * c).sqrt();
    let ends = ((b - root) / a, (b + root) / a);
    let far = |t: f64| {
        let reach = (square * spread.at(t)).sqrt();
        t - reach >= low && t + reach <= high
    };
    (a > 0.0 && far(ends.0) && far(ends.1)).then_some(ends)
}

/// The probability, if t is true, of a statistic that speaks more strongly against t than `value`
/// does, given that the truth lies between the bounds.
pub(crate) fn p_value(value: f64, t: f64, error: f64, (low, high): (f64, f64)) -> f64 {
    if !(error > 0.0) {
        // Without noise the statistic is the truth, up to rounding.
        return f64::from(u8::from((value - t).abs() <= 1e-9 * (high - low)));
    }
    // In standard errors, with the lower bound at 0.
    let (x, truth, top) = ((value - low) / error, (t - low) / error, (high - low) / error);
    // Twice the logarithm of the likelihood ratio between the best possible value and t.
    let best = x.clamp(0.0, top);
    let ratio = ((x - truth).powi(2) - (x - best).powi(2)).max(0.0);
    let reach = ratio.sqrt();
    let below = if truth - reach >= 0.0 {
        -reach
    } else if truth > 0.0 {
        (truth * truth - ratio) / (2.0 * truth) - truth
    } else {
        f64::NEG_INFINITY
    };
    let room = top - truth;
    let above = if reach <= room {
        reach
    } else if room > 0.0 {
        (room + ratio / room) / 2.0
    } else {
        f64::INFINITY
    };
    normal_upper(-below) + normal_upper(above)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WIDE: (f64, f64) = (-1e9, 1e9);

    #[test]
    fn far_from_the_bounds_it_is_the_ordinary_interval() {
        let (low, high) = interval(3.0, Spread::constant(4.0), WIDE, 0.05);
        let half = 2.0 * 1.959_963_984_540_054;
        assert!((low - (3.0 - half)).abs() < 1e-9 && (high - (3.0 + half)).abs() < 1e-9);
    }

    #[test]
    fn a_binomial_share_gets_wilsons_interval() {
        // 30 of 100: (0.2189, 0.3959).
        let spread = Spread { constant: 0.0, linear: 0.01, square: -0.01 };
        let (low, high) = interval(0.3, spread, (0.0, 1.0), 0.05);
        assert!((low - 0.218_949).abs() < 1e-6, "{low}");
        assert!((high - 0.395_848_5).abs() < 1e-6, "{high}");
    }

    /// Feldman and Cousins (1998), table X: 90 % and 95 % intervals for a normal mean that cannot be
    /// negative, in units of the standard error, to the two decimals printed there.
    #[test]
    fn at_a_bound_it_is_feldman_and_cousins() {
        for (x, level, low, high) in [
            (-3.0, 0.90, 0.00, 0.26),
            (-1.0, 0.90, 0.00, 0.81),
            (0.0, 0.90, 0.00, 1.64),
            (1.0, 0.90, 0.00, 2.64),
            (2.0, 0.90, 0.58, 3.64),
            (3.0, 0.90, 1.37, 4.64),
            (-3.0, 0.95, 0.00, 0.42),
            (0.0, 0.95, 0.00, 1.96),
            (2.0, 0.95, 0.35, 3.96),
        ] {
            let (a, b) = interval(x, Spread::constant(1.0), (0.0, 1e9), 1.0 - level);
            assert!((a - low).abs() <= 0.0101, "{x} {level}: {a}");
            assert!((b - high).abs() <= 0.0101, "{x} {level}: {b}");
            // The mirror image at an upper bound.
            let (c, d) = interval(-x, Spread::constant(1.0), (-1e9, 0.0), 1.0 - level);
            assert!((c + b).abs() < 1e-6 && (d + a).abs() < 1e-6);
        }
    }

    #[test]
    fn between_two_close_bounds_coverage_is_exact() {
        // The chance that the interval holds the truth, integrated over the statistic.
        for truth in [0.0, 0.3, 0.7, 1.5, 2.0] {
            let (mut hit, step) = (0.0, 0.002);
            for i in -5000..6000 {
                let x = f64::from(i) * step;
                let weight = (-(x - truth) * (x - truth) / 2.0_f64).exp() * step
                    / std::f64::consts::TAU.sqrt();
                if p_value(x, truth, 1.0, (0.0, 2.0)) > 0.05 {
                    hit += weight;
                }
            }
            assert!((hit - 0.95).abs() < 2e-3, "{truth}: {hit}");
        }
    }

    #[test]
    fn never_empty_and_holds_the_nearest_possible_value() {
        for i in -60..60 {
            let x = f64::from(i) / 4.0;
            let (low, high) = interval(x, Spread::constant(1.0), (0.0, 1.0), 0.05);
            assert!(low <= x.clamp(0.0, 1.0) && x.clamp(0.0, 1.0) <= high, "{x}: {low} {high}");
        }
    }

    #[test]
    fn without_noise_the_interval_is_a_point() {
        let (low, high) = interval(0.25, Spread::default(), (0.0, 1.0), 0.05);
        assert!((low - 0.25).abs() < 2e-9 && (high - 0.25).abs() < 2e-9);
    }
}
