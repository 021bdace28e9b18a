//! A mean over draws, and how far it may be off.

use undertone_numeric::student::student_quantile;

use crate::claim::short;

/// A mean with the half width of its 95 % interval, by Student's law over the draws.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// The mean; infinite if a draw is.
    pub mean: f64,
    /// Half the interval's width; NaN where the mean is infinite or there is one draw only.
    pub half: f64,
}

impl Interval {
    /// Of independent draws.
    pub fn of(draws: &[f64]) -> Self {
        let n = draws.len() as f64;
        let mean = draws.iter().sum::<f64>() / n;
        if draws.len() < 2 || !mean.is_finite() {
            return Self { mean, half: f64::NAN };
        }
        let variance = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
        Self { mean, half: student_quantile(n - 1.0, 0.025) * (variance / n).sqrt() }
    }

    /// Of the differences of paired draws.
    pub fn of_differences(ours: &[f64], theirs: &[f64]) -> Self {
        let differences: Vec<f64> = ours.iter().zip(theirs).map(|(a, b)| a - b).collect();
        Self::of(&differences)
    }

    /// Whether all of it lies above nought.
    pub fn above(self) -> bool {
        self.mean - self.half > 0.0
    }

    /// Whether all of it lies below nought; an infinite difference does.
    pub fn below(self) -> bool {
        self.mean == f64::NEG_INFINITY || self.mean + self.half < 0.0
    }

    /// `0.83 ± 0.02`; roundings of an interval of no width are left out.
    pub fn words(self) -> String {
        if self.half > 1e-6 * self.mean.abs() {
            format!("{} ± {}", short(self.mean), short(self.half))
        } else {
            short(self.mean)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn students_law_of_three_and_of_twenty_draws() {
        let found = Interval::of(&[1.0, 2.0, 3.0]);
        assert!((found.mean - 2.0).abs() < 1e-12);
        assert!((found.half - 4.302_652_730 / 3f64.sqrt()).abs() < 1e-6, "{found:?}");
        let twenty: Vec<f64> = (0..20).map(f64::from).collect();
        // s = 5.9161, t = 2.093024.
        assert!((Interval::of(&twenty).half - 2.768_81).abs() < 2e-5);
        // 2 ± 2.48 decides nothing, 9.5 ± 2.77 does.
        assert!(!found.above() && !found.below() && Interval::of(&twenty).above());
        assert!(Interval::of_differences(&[1.0, 1.1], &[2.0, 2.0]).below());
        assert!(Interval::of_differences(&[1.0, 1.1], &[2.0, f64::INFINITY]).below());
        let both = [f64::INFINITY, 1.0];
        assert!(!Interval::of_differences(&both, &both).below());
        assert_eq!(Interval::of_differences(&[1.0, 2.0], &[2.0, 3.0]).mean, -1.0);
        assert_eq!(Interval::of(&[1.0, f64::INFINITY]).words(), "unbounded");
        assert_eq!(Interval::of(&[1.0, 1.0 + 1e-9]).words(), "1");
        assert_eq!(Interval::of(&[1.0, 3.0]).words(), "2 ± 12.71");
    }
}
