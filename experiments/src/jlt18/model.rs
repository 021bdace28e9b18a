//! The mechanisms JLT18 compares, for one person who says yes with probability p: their mean squared
//! error in closed form, and the verified policies that attain it.

use undertone_design::Distribution;
use undertone_design::designer::Method;
use undertone_design::mechanism::symmetric;
use undertone_design::objective::Objective;

use crate::Error;
use crate::certified::{self, Point, protect};

/// One of the paper's models. All but the last promise ε-LIP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Model {
    /// Theorem 2 (19) as printed, which is ε-LIP only where the rarer answer has probability at least
    /// 1/(1+e^ε).
    Printed,
    /// The ε-LIP optimum.
    Optimum,
    /// Proposition 4: one flip probability for both answers.
    Symmetric,
    /// Proposition 3 (20): the ε-LDP optimum, with the same estimator.
    Ldp,
}

impl Model {
    /// One person's mean squared error. A certain answer (p of 0 or 1) leaves none.
    pub fn error(self, p: f64, epsilon: f64) -> Result<f64, Error> {
        if !(p > 0.0 && p < 1.0) {
            return Ok(0.0);
        }
        let (e, rare) = (epsilon.exp(), p.min(1.0 - p));
        let printed = p * (1.0 - p) * (2.0 / e - 1.0 / (e * e));
        Ok(match self {
            Self::Printed => printed,
            Self::Optimum if keeps_its_claim(p, epsilon) => printed,
            Self::Optimum => p * (1.0 - p) - rare * rare * (e + 1.0 / e - 2.0),
            Self::Symmetric => symmetric::error(p, epsilon)?,
            Self::Ldp => symmetric::opt_ldp_error(p, epsilon)?,
        })
    }

    /// The policy, verified, with its error and what its integers attain; for [`Model::Printed`] where
    /// it misses its claim, the printed channel and what that leaks.
    pub fn policy(self, p: f64, epsilon: f64) -> Result<Point, Error> {
        let prior = Distribution::new("prior", vec![1.0 - p, p])?;
        let (notion, method) = match self {
            Self::Printed => ("lip", Method::Published),
            Self::Optimum => ("lip", Method::Optimal),
            Self::Symmetric => ("lip", Method::Symmetric),
            Self::Ldp => ("ldp", Method::Optimal),
        };
        let estimate = Objective::Mmse(vec![0.0, 1.0]);
        certified::known(&prior, &protect(notion, epsilon), &estimate, method)
    }
}

/// Whether (19) is ε-LIP for this prior.
pub fn keeps_its_claim(p: f64, epsilon: f64) -> bool {
    p.min(1.0 - p) >= 1.0 / (1.0 + epsilon.exp())
}

/// What (19) truly leaks: max{ε, ln((1 - (1-p)/E)/p)} with p the rarer answer's probability.
pub fn printed_leakage(p: f64, epsilon: f64) -> f64 {
    let rare = p.min(1.0 - p);
    epsilon.max(((1.0 - (1.0 - rare) * (-epsilon).exp()) / rare).ln())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn policies_attain_the_closed_forms() {
        for p in [0.01, 0.3, 0.5, 0.9] {
            for epsilon in [0.5, 1.0, 4.0] {
                for model in [Model::Printed, Model::Optimum, Model::Symmetric, Model::Ldp] {
                    let (policy, error) =
                        (model.policy(p, epsilon).unwrap(), model.error(p, epsilon).unwrap());
                    let found = policy.utility.unwrap();
                    assert!(
                        (found - error).abs() < 1e-7,
                        "{model:?} {p} {epsilon}: {found} {error}"
                    );
                    let missed = model == Model::Printed && !keeps_its_claim(p, epsilon);
                    assert_eq!(policy.misses_its_claim(), missed);
                    if missed {
                        let leaks = policy.lip.unwrap();
                        assert!((leaks - printed_leakage(p, epsilon)).abs() < 1e-6, "{leaks}");
                    } else if model == Model::Ldp {
                        assert!(policy.ldp <= epsilon);
                    } else {
                        assert!(policy.lip.unwrap() <= epsilon);
                    }
                }
            }
        }
    }
}
