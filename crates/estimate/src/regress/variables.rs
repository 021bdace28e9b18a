//! The columns a regression reads.

use crate::{Error, Evidence, Factor};

/// One column.
#[derive(Clone, Debug)]
pub enum Variable {
    /// Clear numbers.
    Number(Vec<f64>),
    /// Clear categories.
    Category(Factor),
    /// Reports about symbols, some or all of them randomised.
    Randomised {
        /// What every row says about its true symbol.
        evidence: Evidence,
        /// The symbols' numbers, where they stand for numbers.
        values: Option<Vec<f64>>,
    },
}

impl Variable {
    fn rows(&self) -> usize {
        match self {
            Self::Number(numbers) => numbers.len(),
            Self::Category(factor) => factor.codes().len(),
            Self::Randomised { evidence, .. } => evidence.rows(),
        }
    }
}

/// Named columns of the same length.
#[derive(Clone, Debug, Default)]
pub struct Variables {
    columns: Vec<(String, Variable)>,
}

/// More categories than these are not made of a column of numbers.
const MOST_CATEGORIES: usize = 1000;

impl Variables {
    /// No columns.
    pub fn new() -> Self {
        Self::default()
    }

    /// One more column. Refuses a name that is taken, another length, numbers that are not finite, and symbols without values
    /// each.
    pub fn with(mut self, name: impl Into<String>, variable: Variable) -> Result<Self, Error> {
        let name = name.into();
        let wrong =
            |problem: String| Err(Error::unanswerable("a column", format!("{name}: {problem}")));
        if self.columns.iter().any(|(known, _)| *known == name) {
            return wrong("there are two of that name".into());
        }
        if let Some((first, other)) = self.columns.first()
            && other.rows() != variable.rows()
        {
            return wrong(format!("{} rows, where {first} has {}", variable.rows(), other.rows()));
        }
        match &variable {
            Variable::Number(numbers) => {
                if let Some(at) = numbers.iter().position(|number| !number.is_finite()) {
                    return wrong(format!("row {} is not a finite number: leave it out", at + 1));
                }
            }
            Variable::Randomised { evidence, values: Some(values) } => {
                if values.len() != evidence.symbols()
                    || values.iter().any(|value| !value.is_finite())
                {
                    return wrong("its values are not one finite number for every symbol".into());
                }
            }
            Variable::Category(_) | Variable::Randomised { values: None, .. } => {}
        }
        self.columns.push((name, variable));
        Ok(self)
    }

    /// How many rows the columns have.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |(_, variable)| variable.rows())
    }

    /// A column by its name.
    pub fn get(&self, name: &str) -> Result<&Variable, Error> {
        match self.columns.iter().find(|(known, _)| known == name) {
            Some((_, variable)) => Ok(variable),
            None => {
                let names: Vec<&str> = self.columns.iter().map(|(name, _)| name.as_str()).collect();
                let problem = format!("there is no column {name}: there are {}", names.join(", "));
                Err(Error::unanswerable("formula", problem))
            }
        }
    }
}

/// The categories of a column of numbers, in increasing order.
pub(super) fn categories(name: &str, numbers: &[f64]) -> Result<Factor, Error> {
    let mut values: Vec<f64> = Vec::new();
    for &number in numbers {
        if let Err(at) = values.binary_search_by(|value| value.total_cmp(&(number + 0.0))) {
            values.insert(at, number + 0.0);
        }
        if values.len() > MOST_CATEGORIES {
            return Err(Error::unanswerable(
                "formula",
                format!(
                    "C({name}) has more than {MOST_CATEGORIES} different numbers: use {name} as a number"
                ),
            ));
        }
    }
    let place =
        |number: &f64| match values.binary_search_by(|value| value.total_cmp(&(number + 0.0))) {
            Ok(at) | Err(at) => at as u32,
        };
    let codes = numbers.iter().map(place).collect();
    Factor::new(values.iter().map(f64::to_string).collect(), codes)
}
