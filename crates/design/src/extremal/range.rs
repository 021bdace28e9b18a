//! The promise of one release: how far any lift may lie from one.

use crate::Error;

/// The largest ε accepted, so that e^(2ε) stays a finite float.
pub const MAX_EPSILON: f64 = 300.0;

/// One release's promise, asymmetric LIP (ZDS22 Def 1; JSTL21 Def 5 when both sides agree):
/// every lift q(y|x)/P(y) lies in [e^-ε_lower, e^ε_upper]. Zero-mass symbols are held to it too.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LiftRange {
    epsilon_lower: f64,
    epsilon_upper: f64,
    low: f64,
    high: f64,
}

impl LiftRange {
    /// Two-sided ε-LIP.
    pub fn symmetric(epsilon: f64) -> Result<Self, Error> {
        Self::asymmetric(epsilon, epsilon)
    }

    /// (ε_lower, ε_upper): separate budgets for losing and for gaining belief.
    pub fn asymmetric(epsilon_lower: f64, epsilon_upper: f64) -> Result<Self, Error> {
        for (what, value) in
            [("the lower epsilon", epsilon_lower), ("the upper epsilon", epsilon_upper)]
        {
            if !(0.0..=MAX_EPSILON).contains(&value) {
                return Err(Error::range(
                    what,
                    value,
                    format!("at least 0 and at most {MAX_EPSILON}"),
                ));
            }
        }
        Ok(Self {
            epsilon_lower,
            epsilon_upper,
            low: (-epsilon_lower).exp(),
            high: epsilon_upper.exp(),
        })
    }

    /// The same ε on both sides, once per entry.
    pub fn each_symmetric(epsilons: &[f64]) -> Result<Vec<Self>, Error> {
        epsilons.iter().map(|&epsilon| Self::symmetric(epsilon)).collect()
    }

    /// ε_lower.
    pub fn epsilon_lower(&self) -> f64 {
        self.epsilon_lower
    }

    /// ε_upper.
    pub fn epsilon_upper(&self) -> f64 {
        self.epsilon_upper
    }

    /// The larger of the two: the symmetric ε this promise implies.
    pub fn epsilon(&self) -> f64 {
        self.epsilon_lower.max(self.epsilon_upper)
    }

    /// The smallest lift allowed, e^-ε_lower.
    pub fn low(&self) -> f64 {
        self.low
    }

    /// The largest lift allowed, e^ε_upper.
    pub fn high(&self) -> f64 {
        self.high
    }

    /// Whether the promise leaves room for nothing but lifts of one. Lifts average to one over the
    /// outputs for every x, so either side at zero forces the other.
    pub fn reveals_nothing(&self) -> bool {
        self.epsilon_lower == 0.0 || self.epsilon_upper == 0.0
    }

    /// The largest lift a symbol of this mass can get: all other symbols at their lowest.
    pub fn highest(&self, mass: f64) -> f64 {
        if self.reveals_nothing() {
            1.0
        } else if mass > 0.0 {
            self.high.min((1.0 - (1.0 - mass) * self.low) / mass)
        } else {
            self.high
        }
    }

    /// The smallest lift a symbol of this mass can get: all other symbols at their highest.
    pub fn lowest(&self, mass: f64) -> f64 {
        if self.reveals_nothing() {
            1.0
        } else if mass > 0.0 {
            self.low.max((1.0 - (1.0 - mass) * self.high) / mass)
        } else {
            self.low
        }
    }

    /// The largest ln L(x)/L(x') over all lift vectors, by the masses of x and x' (two different
    /// symbols): the exact step from LIP to LDP, JSTL21 Theorem 1 (9), corrected.
    ///
    /// Raising x costs at least (highest, low) and lowering x' at least (high, lowest); when neither
    /// limit binds, both ends are reached at once and the rest of the alphabet balances the sum.
    pub fn log_ratio(&self, mass_high: f64, mass_low: f64) -> f64 {
        if self.reveals_nothing() {
            return 0.0;
        }
        let raised = self.highest(mass_high).ln() + self.epsilon_lower;
        let lowered = self.epsilon_upper - self.lowest(mass_low).ln();
        raised.min(lowered).min(self.epsilon_lower + self.epsilon_upper)
    }
}
