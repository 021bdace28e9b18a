//! How H and G move from one epoch to the next.

use serde_json::Value;
use undertone_core::MASS_ONE;
use undertone_design::quantize::largest_remainder;
use undertone_design::{Distribution, Error};

use crate::{ExactModel, Model};

/// More pairs of values than this are not followed.
const MAX_STATES: usize = 64;

/// A Markov chain of pairs (H, G): the first epoch's law is the model's, and every row is a law of the next pair.
#[derive(Debug, Clone, PartialEq)]
pub struct Chain {
    private: usize,
    /// By pair and next pair, those of the same h together.
    rows: Vec<Vec<f64>>,
}

/// How one of the two hypotheses moves.
enum Motion {
    /// It stays what it is.
    Persists,
    /// It is drawn anew in each epoch, given the other one's new value, as in the first.
    Fresh,
    /// By a matrix of its own.
    Moves(Vec<Vec<f64>>),
}

/// What a transition may be, for messages.
const EXPECTED: &str = "{\"public\": M, \"private\": M} with M `persists`, `fresh` or a square matrix of probabilities, or one \
                        square matrix over all pairs (h,g), those of the same h together";

fn problem(problem: impl Into<String>) -> Error {
    Error::other("transition", problem.into())
}

impl Chain {
    /// A chain of the pairs of a model's hypotheses from a matrix over the pairs, those of the same h together.
    pub fn new(model: &Model, rows: Vec<Vec<f64>>) -> Result<Self, Error> {
        let (h, g) = (model.public().size(), model.private().size());
        let states = h * g;
        if states > MAX_STATES {
            return Err(Error::TooLarge {
                what: "the number of pairs (h,g) that move".into(),
                size: states,
                limit: MAX_STATES,
                fix: "merge values that need not be told apart".into(),
            });
        }
        if rows.len() != states {
            let found = rows.len();
            return Err(Error::Size { what: "transition".into(), expected: states, found });
        }
        let mut law = vec![0.0; states];
        model.atoms().iter().for_each(|atom| law[atom.public * g + atom.private] += atom.weight);
        let name = |s: usize| {
            let (public, private) =
                (&model.public().values()[s / g], &model.private().values()[s % g]);
            format!("({public},{private})")
        };
        for (s, row) in rows.iter().enumerate().filter(|(s, _)| law[*s] > 0.0) {
            if row.len() != states {
                let what = format!("transition: the row of {}", name(s));
                return Err(Error::Size { what, expected: states, found: row.len() });
            }
            Distribution::new(&format!("transition: the row of {}", name(s)), row.clone())?;
            if let Some(to) = (0..states).find(|&to| row[to] > 0.0 && !(law[to] > 0.0)) {
                return Err(problem(format!(
                    "leads from {} to {} with probability {}, and that pair has none in the first epoch, so that nobody \
                     knows what is read in it: give it some, or none here",
                    name(s),
                    name(to),
                    row[to]
                )));
            }
        }
        Ok(Self { private: g, rows })
    }

    /// Reads a model's `transition`.
    pub fn read(model: &Model, value: &Value) -> Result<Self, Error> {
        match value {
            Value::Array(_) => {
                let rows = serde_json::from_value(value.clone())
                    .map_err(|error| problem(format!("{error}; expected {EXPECTED}")))?;
                Self::new(model, rows)
            }
            Value::Object(fields) => {
                let odd = fields.keys().find(|key| !["public", "private"].contains(&key.as_str()));
                if let Some(odd) = odd {
                    return Err(problem(format!("has a field {odd:?}; expected {EXPECTED}")));
                }
                let motion = |field: &str, size: usize| match fields.get(field) {
                    None => Err(problem(format!(
                        "does not say how the {field} hypothesis moves: {EXPECTED}"
                    ))),
                    Some(value) => Motion::read(field, value, size),
                };
                let public = motion("public", model.public().size())?;
                let private = motion("private", model.private().size())?;
                Self::apart(model, &public, &private)
            }
            other => Err(problem(format!("is {other}; expected {EXPECTED}"))),
        }
    }

    /// Two hypotheses that move each by itself, but for one that is drawn anew given the other.
    fn apart(model: &Model, public: &Motion, private: &Motion) -> Result<Self, Error> {
        let (h, g) = (model.public().size(), model.private().size());
        if h.saturating_mul(g) > MAX_STATES {
            // The size is refused before a matrix is made.
            return Self::new(model, Vec::new());
        }
        let mut law = vec![vec![0.0; g]; h];
        model.atoms().iter().for_each(|atom| law[atom.public][atom.private] += atom.weight);
        let of_public = model.public_law();
        let of_private = model.private_law();
        let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
        let entry = |(h, g): (usize, usize), (to_h, to_g): (usize, usize)| match (public, private) {
            (Motion::Fresh, Motion::Fresh) => law[to_h][to_g],
            (Motion::Fresh, moves) => {
                moves.entry(g, to_g) * share(law[to_h][to_g], of_private[to_g])
            }
            (moves, Motion::Fresh) => {
                moves.entry(h, to_h) * share(law[to_h][to_g], of_public[to_h])
            }
            (public, private) => public.entry(h, to_h) * private.entry(g, to_g),
        };
        let pairs: Vec<(usize, usize)> = (0..h * g).map(|s| (s / g, s % g)).collect();
        let row = |&from: &(usize, usize)| pairs.iter().map(|&to| entry(from, to)).collect();
        Self::new(model, pairs.iter().map(row).collect())
    }

    /// The probability of the next pair.
    pub fn entry(&self, from: (usize, usize), to: (usize, usize)) -> f64 {
        self.rows[from.0 * self.private + from.1][to.0 * self.private + to.1]
    }
}

impl Motion {
    fn read(field: &str, value: &Value, size: usize) -> Result<Self, Error> {
        match value {
            Value::String(word) if word == "persists" => return Ok(Self::Persists),
            Value::String(word) if word == "fresh" => return Ok(Self::Fresh),
            _ => {}
        }
        let rows: Vec<Vec<f64>> = serde_json::from_value(value.clone()).map_err(|_| {
            problem(format!(
                "of the {field} hypothesis is {value}: give `persists`, `fresh` or a matrix"
            ))
        })?;
        let what = format!("transition: {field}");
        if rows.len() != size {
            return Err(Error::Size { what, expected: size, found: rows.len() });
        }
        for (at, row) in rows.iter().enumerate() {
            let what = format!("{what}[{at}]");
            if row.len() != size {
                return Err(Error::Size { what, expected: size, found: row.len() });
            }
            Distribution::new(&what, row.clone())?;
        }
        Ok(Self::Moves(rows))
    }

    /// The probability of the next value; one that is fresh does not depend on the last, and is the caller's.
    fn entry(&self, from: usize, to: usize) -> f64 {
        match self {
            Self::Moves(rows) => rows[from][to],
            Self::Persists | Self::Fresh => f64::from(u8::from(from == to)),
        }
    }
}

/// A chain in integers: the pairs that occur, and the law of the next pair in units of 2^-48.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExactChain {
    pub(crate) states: Vec<(usize, usize)>,
    pub(crate) rows: Vec<Vec<u64>>,
}

impl ExactChain {
    /// Rounds a chain.
    pub fn new(model: &ExactModel, chain: &Chain) -> Result<Self, Error> {
        let states = model.pairs();
        let row = |&from: &(usize, usize)| {
            let row: Vec<f64> = states.iter().map(|&to| chain.entry(from, to)).collect();
            if row.iter().sum::<f64>() < 1.0 - 1e-9 {
                return Err(problem(format!(
                    "leads from pair {from:?} to one whose probability in the first epoch is below 2^-48: give it more"
                )));
            }
            Ok(largest_remainder(&row, MASS_ONE))
        };
        let rows = states.iter().map(row).collect::<Result<_, _>>()?;
        Self::from_parts(model, states, rows)
    }

    /// A chain whose pairs are those that occur in the model, in order, and whose rows are laws.
    pub(crate) fn from_parts(
        model: &ExactModel,
        states: Vec<(usize, usize)>,
        rows: Vec<Vec<u64>>,
    ) -> Result<Self, Error> {
        if states != model.pairs() || states.len() > MAX_STATES {
            return Err(problem(
                "is not about the pairs (h,g) that occur in the network's model, in order",
            ));
        }
        let law = |row: &Vec<u64>| {
            let sum = row.iter().try_fold(0u64, |sum, &mass| sum.checked_add(mass));
            row.len() == states.len() && sum == Some(MASS_ONE)
        };
        if rows.len() != states.len() || !rows.iter().all(law) {
            return Err(problem(format!("has a row that does not sum to {MASS_ONE}")));
        }
        Ok(Self { states, rows })
    }

    /// The pairs (h, g), in order.
    pub fn states(&self) -> &[(usize, usize)] {
        &self.states
    }

    /// The law of the next pair, by pair, in units of 2^-48.
    pub fn rows(&self) -> &[Vec<u64>] {
        &self.rows
    }
}
