//! Intervals for shares, ratios of shares, and their differences.
//!
//! A cell's unbiased share T is a mean of n scores. Given that the true share is θ, its variance is V(θ)/n with
//! V(θ) = θ m + (1-θ) m' - θ², m and m' being the mean squares of the score given this cell and given another one. The values θ that T
//! does not contradict, (T-θ)² ≤ z² D V(θ)/n, are those between the roots of a parabola; for a clear column they are Wilson's
//! interval. D is the design effect. A ratio of two means has the values between which the numerator less θ times the denominator is
//! not far from nought (Fieller); a difference of two shares takes the square root of the squared distances of their ends (MOVER).

/// The ends of an interval, which may lie outside of what is possible.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Ends {
    /// The unbiased value.
    pub(super) middle: f64,
    pub(super) low: f64,
    pub(super) high: f64,
}

/// What is known of a share's score.
#[derive(Clone, Copy, Debug)]
pub(super) struct ShareScore {
    /// Its mean.
    pub(super) mean: f64,
    /// Its mean square given the cell.
    pub(super) own: f64,
    /// Its mean square given another one.
    pub(super) other: f64,
}

impl ShareScore {
    /// V(θ).
    pub(super) fn variance(&self, share: f64) -> f64 {
        (share * self.own + (1.0 - share) * self.other - share * share).max(0.0)
    }

    /// The part of V(θ) that the perturbation makes, whoever is drawn: the variance of the score given the true cell.
    pub(super) fn perturbation(&self, share: f64) -> f64 {
        (share * (self.own - 1.0) + (1.0 - share) * self.other).max(0.0)
    }

    /// The shares that a mean over `rows` does not contradict, `rows` being divided by the design effect; `z` standard errors are permitted.
    pub(super) fn ends(&self, rows: f64, z: f64) -> Ends {
        let (mean, reach) = (self.mean, z * z / rows);
        // (1 + r) θ² - (2T + r (m - m')) θ + T² - r m' ≤ 0.
        let half = mean + reach * (self.own - self.other) / 2.0;
        let (square, rest) = (1.0 + reach, mean * mean - reach * self.other);
        let root = half * half - square * rest;
        if !(root >= 0.0) {
            // No share at all: T is outside of what is possible, and the nearest possible value stands for it.
            let nearest = mean.clamp(0.0, 1.0);
            return Ends { middle: mean, low: nearest, high: nearest };
        }
        let root = root.sqrt();
        Ends { middle: mean, low: (half - root) / square, high: (half + root) / square }
    }
}

/// The values of numerator/denominator that their means do not contradict; everything where the denominator could be nought.
pub(super) fn ratio(means: (f64, f64), covariance: (f64, f64, f64), z: f64) -> Ends {
    let ((top, bottom), (of_top, both, of_bottom)) = (means, covariance);
    let square = bottom * bottom - z * z * of_bottom;
    let half = top * bottom - z * z * both;
    let rest = top * top - z * z * of_top;
    let root = half * half - square * rest;
    let middle = top / bottom;
    if !(square > 0.0 && bottom > 0.0 && root >= 0.0) {
        return Ends { middle, low: f64::NEG_INFINITY, high: f64::INFINITY };
    }
    let root = root.sqrt();
    Ends { middle, low: (half - root) / square, high: (half + root) / square }
}

/// The difference of two numbers whose estimates are correlated.
pub(super) fn difference(a: Ends, b: Ends, correlation: f64) -> Ends {
    let middle = a.middle - b.middle;
    let reach = |x: f64, y: f64| {
        if x.is_infinite() || y.is_infinite() {
            return f64::INFINITY;
        }
        (x * x + y * y - 2.0 * correlation.clamp(-1.0, 1.0) * x * y).max(0.0).sqrt()
    };
    let low = middle - reach(a.middle - a.low, b.high - b.middle);
    let high = middle + reach(a.high - a.middle, b.middle - b.low);
    Ends { middle, low, high }
}

/// The difference of two numbers estimated from different people, each a value with its lower and upper end; so is the result (MOVER).
pub fn difference_of_independent(one: [f64; 3], other: [f64; 3]) -> [f64; 3] {
    let [one, other] = [one, other].map(|[middle, low, high]| Ends { middle, low, high });
    let Ends { middle, low, high } = difference(one, other, 0.0);
    [middle, low, high]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clear_shares_have_wilsons_interval() {
        // 3 of 20: Wilson, 1927, at z = 1.959964.
        let score = ShareScore { mean: 0.15, own: 1.0, other: 0.0 };
        let ends = score.ends(20.0, 1.959_963_985);
        assert!((ends.low - 0.052_368_7).abs() < 1e-6, "{ends:?}");
        assert!((ends.high - 0.360_418_9).abs() < 1e-6, "{ends:?}");
        let none = ShareScore { mean: 0.0, own: 1.0, other: 0.0 }.ends(20.0, 1.959_963_985);
        assert!(none.low.abs() < 1e-12 && (none.high - 0.161_125_2).abs() < 1e-6, "{none:?}");
    }

    #[test]
    fn ratios_and_differences_of_well_known_numbers_are_delta_intervals() {
        let ends = ratio((0.2, 0.5), (1e-8, 0.0, 1e-8), 2.0);
        let delta = 2.0 * (1e-8f64 * (1.0 + 0.4 * 0.4)).sqrt() / 0.5;
        assert!((ends.middle - 0.4).abs() < 1e-15);
        assert!(((ends.high - ends.low) / 2.0 / delta - 1.0).abs() < 1e-6);
        assert_eq!(ratio((0.1, 0.01), (1e-4, 0.0, 1e-4), 2.0).low, f64::NEG_INFINITY);
        let (a, b) =
            (Ends { middle: 0.5, low: 0.2, high: 0.8 }, Ends { middle: 0.1, low: -0.3, high: 0.5 });
        let apart = difference(a, b, 0.0);
        assert!((apart.low + 0.1).abs() < 1e-12 && (apart.high - 0.9).abs() < 1e-12, "{apart:?}");
        let unknown = Ends { low: f64::NEG_INFINITY, high: f64::INFINITY, ..b };
        assert_eq!(difference(a, unknown, 0.5).high, f64::INFINITY);
        let together = difference(a, b, 1.0);
        assert!((together.low - 0.3).abs() < 1e-12, "{together:?}");
    }
}
