//! A column whose cells say whether they are numbers or categories.

use std::collections::HashMap;

use undertone_estimate::Factor;

use super::Observation;
use super::read::ordered;
use crate::Error;
use crate::error::shortened_to;

/// More different numbers than these are not kept as categories too.
const MOST_LEVELS: usize = 1 << 12;

/// A column while it is read. Numbers are kept while every cell is one, and categories while there are few: a word among thousands of
/// different numbers is a mistake.
#[derive(Debug)]
pub(super) struct Values {
    numbers: Option<Vec<f64>>,
    codes: Option<Vec<u32>>,
    names: HashMap<String, u32>,
}

/// One cell of it.
pub(super) struct ValueCell {
    number: f64,
    code: u32,
}

impl Default for Values {
    fn default() -> Self {
        Self { numbers: Some(Vec::new()), codes: Some(Vec::new()), names: HashMap::new() }
    }
}

impl Values {
    pub(super) fn look(&mut self, text: &str) -> Result<ValueCell, String> {
        let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
        if number.is_none() {
            if self.codes.is_none() {
                let shown = shortened_to(40, text);
                return Err(format!(
                    "is {shown:?} where thousands of rows before have different numbers: give a number, or leave it empty where there is none"
                ));
            }
            self.numbers = None;
        }
        let mut code = 0;
        if self.codes.is_some() {
            match self.names.get(text) {
                Some(&known) => code = known,
                None => {
                    code = self.names.len() as u32;
                    self.names.insert(text.to_owned(), code);
                }
            }
            if self.names.len() > MOST_LEVELS && self.numbers.is_some() {
                (self.codes, self.names) = (None, HashMap::new());
            }
        }
        Ok(ValueCell { number: number.unwrap_or_default(), code })
    }

    pub(super) fn keep(&mut self, cell: ValueCell) {
        if let Some(numbers) = &mut self.numbers {
            numbers.push(cell.number);
        }
        if let Some(codes) = &mut self.codes {
            codes.push(cell.code);
        }
    }

    pub(super) fn finish(self) -> Result<Observation, Error> {
        if let Some(numbers) = self.numbers {
            return Ok(Observation::Numbers(numbers));
        }
        let (levels, codes) = ordered(self.names, self.codes.unwrap_or_default());
        Ok(Observation::Factor(Factor::new(levels, codes).map_err(Error::input)?))
    }
}
