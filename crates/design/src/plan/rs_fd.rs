//! Random sampling plus fake data (RS+FD): each person randomises one question and sends uniform fake answers to all others
//! without saying which is which, so that a report of a question is true with chance 1/m.
//!
//! Its own ε speaks of two people who differ in one answer. Of the whole person it is ε'-LDP with ε' = ln(m(e^ε-1)+1) ([`level`]), the level at which the one answer is
//! randomised. At the same level of the whole person it is a randomised function of what a person who draws one question sends, and cannot be better.

use super::coins::{Coins, best_own_bit};
use super::search::Problem;
use super::target::Question;

/// The level of the whole person, of RS+FD over so many questions whose own level is `own`.
pub fn level(own: f64, questions: usize) -> f64 {
    (questions as f64 * own.exp_m1()).ln_1p()
}

/// The weighted sum of n times the variances if every person's one true answer is randomised at the problem's level, by the best form for each
/// question. Nothing for pairs, of which it tells nothing here, and for repeated reports.
pub fn value(problem: &Problem) -> Option<f64> {
    if problem.has_pairs() || problem.ways.repeats.is_some() {
        return None;
    }
    let count = problem.questions.len();
    let one = |question: &Question| {
        question.weight() * Form::best(question, count, problem.level).variance(question, count)
    };
    Some(problem.questions.iter().map(one).sum())
}

/// How a question is randomised, and what a fake answer is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Form {
    /// Randomised response; a fake answer is a uniform one.
    Kept {
        /// The probability of the own symbol.
        own: f64,
        /// The probability of each other one.
        other: f64,
    },
    /// Bits; a fake answer has no own bit.
    BitsOfNothing {
        /// The probability that the own bit is set.
        own: f64,
        /// The probability that any other bit is set.
        other: f64,
    },
    /// Bits; a fake answer is a uniform one.
    BitsOfAnswers {
        /// The probability that the own bit is set.
        own: f64,
        /// The probability that any other bit is set.
        other: f64,
    },
}

impl Form {
    /// The best form for a question, one of `count`.
    pub fn best(question: &Question, count: usize, level: f64) -> Self {
        let worth = |form: &Self| form.variance(question, count);
        let pair = |coins: Coins| match coins {
            Coins::Keep { own, other } | Coins::Bits { own, other } => (own, other),
            Coins::Subset { .. } | Coins::Memo { .. } => (1.0, 1.0),
        };
        let bits = |form: &dyn Fn(f64, f64) -> Self| {
            let made = |own: f64| {
                let (own, other) = pair(Coins::bits(level, own));
                form(own, other)
            };
            made(best_own_bit(level, |own| worth(&made(own))))
        };
        let (own, other) = pair(Coins::keep(level, question.size()));
        let kept = Self::Kept { own, other };
        let nothing = bits(&|own, other| Self::BitsOfNothing { own, other });
        let answers = bits(&|own, other| Self::BitsOfAnswers { own, other });
        let better = |a: Self, b: Self| if worth(&b) < worth(&a) { b } else { a };
        better(better(kept, nothing), answers)
    }

    /// The own and the other probability, and the chance that a fake answer counts for a symbol.
    pub fn chances(self, symbols: usize) -> (f64, f64, f64) {
        match self {
            Self::Kept { own, other } => (own, other, 1.0 / symbols as f64),
            Self::BitsOfNothing { own, other } => (own, other, other),
            Self::BitsOfAnswers { own, other } => {
                (own, other, other + (own - other) / symbols as f64)
            }
        }
    }

    /// n times the summed variance of the shares of a question, one of `count`.
    pub fn variance(self, question: &Question, count: usize) -> f64 {
        let (own, other, fake) = self.chances(question.size());
        let (gap, count) = (own - other, count as f64);
        let seen = |t: &f64| (other + t * gap) / count + (1.0 - 1.0 / count) * fake;
        let noise: f64 = question.shares().as_slice().iter().map(seen).map(|s| s * (1.0 - s)).sum();
        noise * (count / gap).powi(2)
    }
}
