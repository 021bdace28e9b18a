//! What no way of collecting can pass at a person's level, however the answers are randomised.
//!
//! **Claim.** Let everything one person sends be ε-LDP, the answers to different questions independent at the expected shares,
//! and the estimates unbiased whatever the joint law. Then Σ w n·Var is at least each of
//!
//! * Σ over cells of w s(1-s)/g², g = tanh(ε/2), s = 1/(e^ε+1) + t g: each share alone, asked as a yes/no question at the whole level;
//! * (Σ √w r)² · 4e^ε/(e^ε-1)² over questions, r the trace of the root of diag(t) - tt'.
//!
//! **Proof.** Knowing the law of everything else given whether a person is in a cell, what is sent is an ε-LDP channel from that one
//! bit, and randomised response is at least as informative as any of those (Kairouz, Oh and Viswanath). For the second, the likelihood of an output over
//! its mean, as a function of the person's data, lies between numbers whose ratio is e^ε around its mean 1, so its variance is at most
//! (e^ε-1)²/(4e^ε) =: C. The scores of the questions' shares, made orthonormal, are uncorrelated functions of the data, so by Bessel's inequality
//! their informations, normalised, have traces whose sum over all questions is at most C. The covariance of the estimates is at least the inverse information, and
//! tr(A J⁻¹ A') >= (tr √(A'A))²/tr J; the best allotment of C between questions gives the square of the sum.

use undertone_numeric::symmetric::Symmetric;

use super::target::{Question, Target};

/// Above this many answers r is bounded from below instead: eigenvalues of diag(t) - tt' interlace with the shares.
const MOST_SOLVED: usize = 64;

/// A number that the weighted sum of n·Var of no collection within a level is below, if the answers are independent.
pub fn lower(questions: &[Question], targets: &[Target], level: f64) -> f64 {
    let each: f64 =
        targets.iter().map(|target| target.weight * alone(questions, target, level)).sum();
    let singles = targets.iter().filter(|target| target.questions.len() == 1);
    let root: f64 = singles
        .map(|target| {
            target.weight.sqrt() * root_trace(questions[target.questions[0]].shares().as_slice())
        })
        .sum();
    let e = level.exp();
    each.max(root * root * 4.0 * e / (e - 1.0).powi(2))
}

/// Each cell of a target as a yes/no question at the whole level.
fn alone(questions: &[Question], target: &Target, level: f64) -> f64 {
    let gap = (level / 2.0).tanh();
    let other = 1.0 / (level.exp() + 1.0);
    let known = |share: f64| {
        let seen = other + share * gap;
        seen * (1.0 - seen) / (gap * gap)
    };
    match target.questions.as_slice() {
        &[one] => questions[one].shares().as_slice().iter().map(|share| known(*share)).sum(),
        // Σ s(1-s) over cells needs their number and the squares of their shares only.
        _ => {
            let (cells, squares) = (target.cells, target.squares);
            let linear = cells * other * (1.0 - other) + gap * (1.0 - 2.0 * other);
            linear / (gap * gap) - squares
        }
    }
}

/// The trace of the root of diag(t) - tt', or a little less.
fn root_trace(shares: &[f64]) -> f64 {
    if shares.len() > MOST_SOLVED {
        let mut sorted = shares.to_vec();
        sorted.sort_by(|a, b| b.total_cmp(a));
        return sorted.iter().skip(1).map(|share| share.sqrt()).sum();
    }
    let mut matrix = Symmetric::zero(shares.len());
    for (i, t) in shares.iter().enumerate() {
        matrix.add(i, i, *t);
    }
    matrix.add_outer(shares, -1.0);
    matrix.eigenpairs().iter().map(|(value, _)| value.max(0.0).sqrt()).sum()
}
