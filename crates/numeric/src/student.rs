//! Student's law.

use crate::beta::incomplete_beta;
use crate::gamma::chi_squared_upper_tail;
use crate::normal::{normal_quantile, normal_upper_tail};
use crate::root::falling_root;

/// Pr(T > t) for t ≥ 0 with any positive number of degrees of freedom; of infinitely many, the normal law's.
pub fn student_upper_tail(degrees: f64, t: f64) -> f64 {
    if !(degrees < 1e7) {
        return normal_upper_tail(t);
    }
    let square = t * t;
    let sum = degrees + square;
    0.5 * incomplete_beta(degrees / 2.0, 0.5, degrees / sum, square / sum)
}

/// Pr(F > f) for the ratio of two mean squares; of infinitely many degrees of freedom below, the chi-squared law's.
pub fn variance_ratio_upper_tail(above: f64, below: f64, f: f64) -> f64 {
    if !(below < 1e7) {
        return chi_squared_upper_tail(above, above * f);
    }
    let sum = below + above * f;
    incomplete_beta(below / 2.0, above / 2.0, below / sum, above * f / sum)
}

/// The t with Pr(T > t) = `tail`, for a tail below one half; of infinitely many degrees of freedom, the normal law's.
pub fn student_quantile(degrees: f64, tail: f64) -> f64 {
    let normal = normal_quantile(tail);
    if !(degrees < 1e7) {
        return normal;
    }
    let mut high = normal.max(1.0);
    while student_upper_tail(degrees, high) > tail && high < 1e300 {
        high *= 2.0;
    }
    falling_root(0.0, high, 0.0, |t| student_upper_tail(degrees, t) - tail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_printed_tables() {
        // 97.5 % points.
        for (degrees, expected) in [
            (1.0, 12.706_204_736),
            (2.0, 4.302_652_730),
            (10.0, 2.228_138_852),
            (100.0, 1.983_971_519),
        ] {
            let found = student_quantile(degrees, 0.025);
            assert!((found - expected).abs() < 1e-8, "{degrees}: {found}");
        }
        assert!((student_quantile(1e6, 0.025) - 1.959_966_4).abs() < 1e-6);
        assert_eq!(student_quantile(f64::INFINITY, 0.025), normal_quantile(0.025));
    }
}
