//! Continued fractions by Lentz's method.

/// Relative changes below this end a fraction.
const SETTLED: f64 = 1e-15;

/// Denominators are kept this far from zero.
const TINY: f64 = 1e-300;

/// The value of 1/(b₀ + a₁/(b₁ + a₂/(b₂ + ...))), one step after another.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ContinuedFraction {
    value: f64,
    c: f64,
    d: f64,
}

impl ContinuedFraction {
    /// 1/b₀, which is where the fraction begins.
    pub(crate) fn one_over(b: f64) -> Self {
        let d = 1.0 / away_from_zero(b);
        Self { value: d, c: 1.0 / TINY, d }
    }

    /// Adds a/(b + ...) at the lower end; true once that changes nothing any more.
    pub(crate) fn extend(&mut self, a: f64, b: f64) -> bool {
        self.d = 1.0 / away_from_zero(b + a * self.d);
        self.c = away_from_zero(b + a / self.c);
        let change = self.c * self.d;
        self.value *= change;
        (change - 1.0).abs() <= SETTLED
    }

    /// The value so far.
    pub(crate) fn value(&self) -> f64 {
        self.value
    }
}

fn away_from_zero(v: f64) -> f64 {
    if v.abs() < TINY { TINY } else { v }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_golden_ratio() {
        let mut fraction = ContinuedFraction::one_over(1.0);
        let steps = (0..200).take_while(|_| !fraction.extend(1.0, 1.0)).count();
        assert!((fraction.value() - 0.618_033_988_749_894_9).abs() < 1e-15);
        assert!(steps < 50, "{steps}");
    }

    #[test]
    fn a_denominator_of_zero_is_stepped_over() {
        // 1/(1 - 1/(1 + 1/2)) = 3, whose first step would divide by zero.
        let mut fraction = ContinuedFraction::one_over(1.0);
        fraction.extend(-1.0, 1.0);
        fraction.extend(1.0, 2.0);
        assert!((fraction.value() - 3.0).abs() < 1e-12, "{}", fraction.value());
    }
}
