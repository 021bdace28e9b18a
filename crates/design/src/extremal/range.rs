//! The promise of one release: how far any lift may lie from one.

use crate::measure::lip;
use crate::{Channel, Distribution, Error};

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

    /// One range per entry, with that ε on both sides.
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

    /// 1 - e^-ε_lower: how much of Σ P L = 1 is left when every lift is at its lowest.
    pub fn room(&self) -> f64 {
        -(-self.epsilon_lower).exp_m1()
    }

    /// e^ε_upper - e^-ε_lower: how far a lift can be raised from its lowest.
    pub fn step(&self) -> f64 {
        self.epsilon_upper.exp_m1() + self.room()
    }

    /// Whether both sides of lifts of mean one under `prior` keep the promise, within `tolerance` of it.
    pub fn keeps(
        &self,
        prior: &Distribution,
        channel: &Channel,
        tolerance: f64,
    ) -> Result<bool, Error> {
        let within = |found: f64, budget: f64| found <= budget * (1.0 + tolerance);
        Ok(within(lip::min_lift(prior, channel)?.nats, self.epsilon_lower)
            && within(lip::max_lift(prior, channel)?.nats, self.epsilon_upper))
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
            self.high.min(self.low + self.room() / mass)
        } else {
            self.high
        }
    }

    /// The smallest lift a symbol of this mass can get: all other symbols, of mass `rest` together, at their
    /// highest. The rest is an argument because one less a mass near one has lost its digits.
    pub fn lowest(&self, mass: f64, rest: f64) -> f64 {
        if self.reveals_nothing() {
            1.0
        } else if mass > 0.0 {
            self.low.max((1.0 - rest * self.high) / mass)
        } else {
            self.low
        }
    }

    /// Σ P(z) L(z) over the symbols other than one of this mass and lift, `rest` being their mass.
    pub fn left_for_others(&self, mass: f64, rest: f64, lift: f64) -> f64 {
        if lift == self.low {
            self.room() + rest * self.low
        } else if lift == self.high && mass <= 0.5 {
            1.0 - mass * self.high
        } else if lift == self.high {
            (rest * self.high - self.epsilon_upper.exp_m1()).max(0.0)
        } else if lift < 1.0 {
            // As low as it gets, above the promise: all others are at their highest.
            rest * self.high
        } else {
            rest * self.low
        }
    }
}

/// The mass of all symbols but one. Only a symbol of more than half the mass needs the others summed.
pub fn rest_of(masses: &[f64], x: usize) -> f64 {
    if masses[x] <= 0.5 {
        return 1.0 - masses[x];
    }
    masses.iter().enumerate().filter(|(z, _)| *z != x).map(|(_, p)| p).sum()
}
