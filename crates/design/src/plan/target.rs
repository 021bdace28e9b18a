//! What is to be estimated, and how much it matters.

use crate::{Distribution, Error};

/// A question: how many answers it has, the shares that are expected, and its weight.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    shares: Distribution,
    weight: f64,
}

impl Question {
    /// Two answers at least, and a weight above 0.
    pub fn new(what: &str, shares: Distribution, weight: f64) -> Result<Self, Error> {
        if shares.len() < 2 {
            let problem = "has one answer, so there is nothing to ask: give two answers at least";
            return Err(Error::other(what, problem));
        }
        if !(weight > 0.0 && weight.is_finite()) {
            return Err(Error::range(format!("{what}: weight"), weight, "above 0"));
        }
        Ok(Self { shares, weight })
    }

    /// The shares that are expected.
    pub fn shares(&self) -> &Distribution {
        &self.shares
    }

    /// How many answers it has.
    pub fn size(&self) -> usize {
        self.shares.len()
    }

    /// How much the squared errors of its shares count.
    pub fn weight(&self) -> f64 {
        self.weight
    }
}

/// The shares of one question, or of all pairs of answers to two questions.
#[derive(Debug, Clone, PartialEq)]
pub struct Target {
    /// The questions, one or two, in increasing order.
    pub questions: Vec<usize>,
    /// How much its squared errors count.
    pub weight: f64,
    /// How many cells it has.
    pub cells: f64,
    /// The sum of the squares of the shares that are expected in them.
    pub squares: f64,
}

impl Target {
    /// The shares of one question.
    pub fn single(questions: &[Question], at: usize) -> Self {
        let shares = questions[at].shares.as_slice();
        Self {
            questions: vec![at],
            weight: questions[at].weight,
            cells: shares.len() as f64,
            squares: shares.iter().map(|t| t * t).sum(),
        }
    }

    /// The shares of all pairs of answers to two questions; it counts as the more important of the two. `squares` is the sum of the squares of the
    /// joint shares; without one the answers are taken as independent.
    pub fn pair(questions: &[Question], one: usize, other: usize, squares: Option<f64>) -> Self {
        let (one, other) = (one.min(other), one.max(other));
        let (first, second) = (Self::single(questions, one), Self::single(questions, other));
        Self {
            questions: vec![one, other],
            weight: first.weight.max(second.weight),
            cells: first.cells * second.cells,
            squares: squares.unwrap_or(first.squares * second.squares),
        }
    }

    /// n times the variance of its shares if everybody answers in the clear.
    pub fn in_the_clear(&self) -> f64 {
        1.0 - self.squares
    }

    /// The targets of a plan: the pairs, and every question that is in none of them.
    pub fn all(questions: &[Question], pairs: Vec<Self>) -> Vec<Self> {
        let alone = |at: &usize| !pairs.iter().any(|pair| pair.questions.contains(at));
        let singles: Vec<Self> =
            (0..questions.len()).filter(alone).map(|at| Self::single(questions, at)).collect();
        singles.into_iter().chain(pairs).collect()
    }
}
