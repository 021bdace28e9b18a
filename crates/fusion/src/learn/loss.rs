//! Losses: what a score costs that leans the wrong way, and the dual of that.
//!
//! ST20 (18) is stated for a loss φ and computed with the logistic one; the others are those its framework takes besides. Of each the
//! dual is needed too: min_v Σ ρ φ(c⟨v,Φ⟩) + (λ/2)|v|² = max_a Σ ρ H(a) − |Σ ρ a c Φ|²/(2λ) with H(a) = min_u φ(u) + a u, which is
//! concave, and a = −φ'(u) at the optimum.

use undertone_design::Error;

/// φ, convex and falling.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Loss {
    /// ln(1 + e^-u), as in ST20.
    #[default]
    Logistic,
    /// e^-u.
    Exponential,
    /// max(0, 1 − u), its corner rounded over a width of one half: (1 − u)² there.
    Hinge,
}

/// Over how much of the score the hinge's corner is rounded.
const WIDTH: f64 = 0.5;

impl Loss {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Logistic, Self::Exponential, Self::Hinge];

    /// What it is called on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Logistic => "logistic",
            Self::Exponential => "exponential",
            Self::Hinge => "hinge",
        }
    }

    /// Reads a name.
    pub fn parse(name: &str) -> Result<Self, Error> {
        Self::ALL.into_iter().find(|loss| loss.name() == name).ok_or_else(|| {
            let problem = format!("{name:?} is not one of logistic, exponential, hinge");
            Error::other("loss", problem)
        })
    }

    /// φ(u), without overflow where it has none.
    pub(crate) fn value(self, u: f64) -> f64 {
        match self {
            Self::Logistic if u > 0.0 => (-u).exp().ln_1p(),
            Self::Logistic => u.exp().ln_1p() - u,
            Self::Exponential => (-u).exp(),
            Self::Hinge => {
                let a = self.slope(u);
                // On the corner (1 − u)²/(2 width); below it the line through its end.
                a * (1.0 - u) - WIDTH * a * a / 2.0
            }
        }
    }

    /// −φ'(u).
    pub(crate) fn slope(self, u: f64) -> f64 {
        match self {
            Self::Logistic if u > 0.0 => {
                let e = (-u).exp();
                e / (1.0 + e)
            }
            Self::Logistic => 1.0 / (1.0 + u.exp()),
            Self::Exponential => (-u).exp(),
            Self::Hinge => ((1.0 - u) / WIDTH).clamp(0.0, 1.0),
        }
    }

    /// A weight times φ''(u), given a = −φ'(u).
    pub(crate) fn bend(self, weight: f64, a: f64) -> f64 {
        match self {
            Self::Logistic => weight * a * (1.0 - a),
            Self::Exponential => weight * a,
            Self::Hinge => weight * f64::from(u8::from(a > 0.0 && a < 1.0)) / WIDTH,
        }
    }

    /// H(a), for a multiplier some score has.
    pub(crate) fn entropy(self, a: f64) -> f64 {
        let term = |p: f64| if p > 0.0 { -p * p.ln() } else { 0.0 };
        match self {
            Self::Logistic => term(a) + term(1.0 - a),
            Self::Exponential => a + term(a),
            Self::Hinge => a - WIDTH * a * a / 2.0,
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Against finite differences, and the dual against a search over all scores.
    #[test]
    fn slopes_bends_and_duals_are_those_of_the_loss() {
        for loss in Loss::ALL {
            assert_eq!(Loss::parse(loss.name()).unwrap(), loss);
            for step in -40..60 {
                // Away from the two ends of the rounded corner, where the hinge bends suddenly.
                let u = 0.1 * f64::from(step) + 0.037;
                let h = 1e-5;
                let slope = -(loss.value(u + h) - loss.value(u - h)) / (2.0 * h);
                assert!((slope - loss.slope(u)).abs() < 1e-7 * (1.0 + slope), "{loss:?} {u}");
                let bend = -(loss.slope(u + h) - loss.slope(u - h)) / (2.0 * h);
                assert!(
                    (bend - loss.bend(1.0, loss.slope(u))).abs() < 1e-6 * (1.0 + bend),
                    "{loss:?} {u}"
                );
            }
            for a in [0.05, 0.2, 0.5, 0.9] {
                let at = |step: i32| f64::from(step) * 1e-4;
                let least = (-60_000..60_000)
                    .map(|step| loss.value(at(step)) + a * at(step))
                    .fold(f64::INFINITY, f64::min);
                assert!((least - loss.entropy(a)).abs() < 1e-7, "{loss:?} {a}: {least}");
            }
        }
        assert!(Loss::parse("squared").is_err());
    }

    #[test]
    fn the_hinge_is_a_hinge_but_for_its_corner() {
        assert_eq!((Loss::Hinge.value(1.0), Loss::Hinge.value(7.0)), (0.0, 0.0));
        assert!((Loss::Hinge.value(-3.0) - (4.0 - WIDTH / 2.0)).abs() < 1e-15);
        assert!((Loss::Hinge.value(0.75) - 0.0625).abs() < 1e-15);
    }

    #[test]
    fn extreme_scores_neither_overflow_nor_vanish() {
        let loss = Loss::Logistic;
        assert_eq!(loss.value(1e4), 0.0);
        assert!((loss.value(-1e4) - 1e4).abs() < 1e-9);
        assert!((loss.value(0.0) - 2f64.ln()).abs() < 1e-15);
        assert_eq!(loss.slope(-1e4), 1.0);
        assert!(loss.slope(1e4) >= 0.0 && (loss.slope(0.0) - 0.5).abs() < 1e-15);
        assert_eq!(loss.entropy(0.0) + loss.entropy(1.0), 0.0);
    }
}
