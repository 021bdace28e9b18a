//! Randomised response for a yes/no question whose prior is only known to lie in an interval.
//!
//! **Claim.** Let P(1) lie in `[a, b]` and E = e^ε. Every channel that is ε-LIP for all these priors is a
//! post-processing of [`optimal`], so it is best for every loss and every convex utility.
//!
//! **Proof.** An output with likelihoods l0, l1 and ratio k = l1/l0 >= 1 raises belief in 1 and lowers
//! belief in 0. Its probability (1-p) l0 + p l1 is least at p = a and greatest at p = b, so it may be
//! released if and only if k <= E(1-a + ak), that is k(1 - aE) <= E(1-a), and 1-b + bk <= E, that is
//! k <= (E-1+b)/b. The largest such k is K1; exchanging the symbols (a for 1-b, b for 1-a) gives the
//! largest l0/l1, K0. The likelihood ratios of all outputs thus lie in `[1/K0, K1]`, and
//! the channel with the two ends only dominates every other in the convex order; its rows sum to one
//! for q(1|0) = (K0-1)/(K0 K1-1) and q(0|1) = (K1-1)/(K0 K1-1).
//!
//! **What the kernel re-checks.** Both sides for the worst prior of the box, on the integers that ship.

use crate::{Channel, Error};

/// The prior's interval for symbol 1, checked.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    lower: f64,
    upper: f64,
}

impl Interval {
    /// `lower <= P(1) <= upper`.
    pub fn new(lower: f64, upper: f64) -> Result<Self, Error> {
        if 0.0 <= lower && lower <= upper && upper <= 1.0 {
            Ok(Self { lower, upper })
        } else {
            let problem = format!("[{lower}, {upper}] must have 0 <= lower <= upper <= 1");
            Err(Error::other("the interval of P(1)", problem))
        }
    }

    /// The least probability of symbol 1.
    pub fn lower(self) -> f64 {
        self.lower
    }

    /// The greatest.
    pub fn upper(self) -> f64 {
        self.upper
    }

    /// This interval, told about symbol 0.
    fn of_the_other(self) -> Self {
        Self { lower: 1.0 - self.upper, upper: 1.0 - self.lower }
    }

    /// The largest ratio of likelihoods of symbol 1 over symbol 0 that an output may have.
    fn largest_ratio(self, e: f64) -> f64 {
        let (a, b) = (self.lower, self.upper);
        // With b = 0 the output's probability does not depend on l1 from above.
        let falls = if b > 0.0 { (e - 1.0 + b) / b } else { f64::INFINITY };
        let rises = if a * e < 1.0 { e * (1.0 - a) / (1.0 - a * e) } else { f64::INFINITY };
        falls.min(rises)
    }
}

/// JSTL21, the optimum for an uncertain prior as printed: q(1|0) = b/(b-a+E), q(0|1) = (1-a)/(b-a+E).
/// It satisfies its claim if and only if aE + b >= 1 and (1-b)E + (1-a) >= 1 ([`published_is_valid`]).
pub fn published(interval: Interval, epsilon: f64) -> Result<Channel, Error> {
    let e = odds(epsilon)?;
    let Interval { lower: a, upper: b } = interval;
    flips(b / (b - a + e), (1.0 - a) / (b - a + e))
}

/// Whether the printed channel is ε-LIP for every prior of the interval.
pub fn published_is_valid(interval: Interval, epsilon: f64) -> Result<bool, Error> {
    let e = odds(epsilon)?;
    let Interval { lower: a, upper: b } = interval;
    Ok(a * e + b >= 1.0 && (1.0 - b) * e + (1.0 - a) >= 1.0)
}

/// The channel that dominates all others under ε-LIP for every prior of the interval.
pub fn optimal(interval: Interval, epsilon: f64) -> Result<Channel, Error> {
    let e = odds(epsilon)?;
    let k1 = interval.largest_ratio(e);
    let k0 = interval.of_the_other().largest_ratio(e);
    // With nothing to release (ε = 0) both ratios are one, and any constant row will do.
    if k0 * k1 <= 1.0 {
        return flips(0.5, 0.5);
    }
    flips((k0 - 1.0) / (k0 * k1 - 1.0), (k1 - 1.0) / (k0 * k1 - 1.0))
}

/// The channel with q(1|0) = `raised` and q(0|1) = `lost`.
fn flips(raised: f64, lost: f64) -> Result<Channel, Error> {
    Channel::new(vec![vec![1.0 - raised, raised], vec![lost, 1.0 - lost]])
}

fn odds(epsilon: f64) -> Result<f64, Error> {
    // Above this the kernel cannot express e^ε.
    if (0.0..=22.18).contains(&epsilon) {
        Ok(epsilon.exp())
    } else {
        Err(Error::range("epsilon", epsilon, "at least 0 and at most 22.18"))
    }
}
