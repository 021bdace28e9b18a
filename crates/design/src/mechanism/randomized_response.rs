//! Randomised response: as the papers print it, and the true optimum for a yes/no question.
//!
//! **Claim.** For a binary X with p = min P <= 1/2 and E = e^ε, every ε-LIP channel is a
//! post-processing of the two-output channel of [`binary_optimal`].
//!
//! **Proof.** Posteriors of the rarer value lie on the interval [max(p/E, 1 - E(1-p)), min(pE, 1 - (1-p)/E)].
//! The two-output channel whose posteriors are the ends of that interval dominates any other in the
//! convex order, because every posterior in between is a mixture of the ends. If p >= 1/(1+E) the
//! upper end is 1 - (1-p)/E and the printed formula is that channel; otherwise it is pE, and the
//! printed formula goes beyond it.
//!
//! **What the kernel re-checks.** Every inequality, on the integers that ship.

use crate::{Channel, Distribution, Error};

/// JSTL21 (19), JLT18 Theorem 2, as printed: keep x with probability 1 - e^-ε, else draw from the
/// prior. It satisfies ε-LIP if and only if the smallest probability is at least 1/(1+e^ε).
pub fn published(prior: &Distribution, epsilon: f64) -> Result<Channel, Error> {
    check(epsilon)?;
    let rest = (-epsilon).exp();
    let row = |x: usize| {
        let cell = |(y, p): (usize, &f64)| rest * p + if x == y { 1.0 - rest } else { 0.0 };
        prior.as_slice().iter().enumerate().map(cell).collect()
    };
    Channel::new((0..prior.len()).map(row).collect())
}

/// The ε-LIP channel for a yes/no question that dominates all others: with p the probability of the
/// rarer answer and p < 1/(1+E), q(other|rare) = 1/(1+E) and q(rare|other) = (1-pE)/((1-p)(1+E));
/// otherwise the printed formula.
pub fn binary_optimal(prior: &Distribution, epsilon: f64) -> Result<Channel, Error> {
    check(epsilon)?;
    if prior.len() != 2 {
        return Err(Error::Size { what: "the prior".into(), expected: 2, found: prior.len() });
    }
    let e = epsilon.exp();
    let rare = usize::from(prior[1] < prior[0]);
    let p = prior[rare];
    if p >= 1.0 / (1.0 + e) {
        return published(prior, epsilon);
    }
    let lost = 1.0 / (1.0 + e);
    let raised = (1.0 - p * e) / ((1.0 - p) * (1.0 + e));
    let mut rows = vec![vec![1.0 - lost, lost], vec![raised, 1.0 - raised]];
    if rare == 1 {
        rows = vec![vec![1.0 - raised, raised], vec![lost, 1.0 - lost]];
    }
    Channel::new(rows)
}

/// k-ary randomised response: the input with odds e^ε against any other symbol. LDP at ε exactly.
pub fn symmetric(symbols: usize, epsilon: f64) -> Result<Channel, Error> {
    check(epsilon)?;
    if symbols == 0 {
        return Err(Error::Empty { what: "the alphabet".into() });
    }
    let total = epsilon.exp() + (symbols - 1) as f64;
    let row = |x: usize| {
        (0..symbols).map(|y| if x == y { epsilon.exp() / total } else { 1.0 / total }).collect()
    };
    Channel::new((0..symbols).map(row).collect())
}

fn check(epsilon: f64) -> Result<(), Error> {
    // Above this the kernel cannot express e^ε.
    if (0.0..=22.18).contains(&epsilon) {
        Ok(())
    } else {
        Err(Error::range("epsilon", epsilon, "at least 0 and at most 22.18"))
    }
}
