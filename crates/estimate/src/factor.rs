//! A column of categories.

use crate::Error;

/// One category for every row: names, and for every row the index of its own.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Factor {
    levels: Vec<String>,
    codes: Vec<u32>,
}

impl Factor {
    /// Categories by name and every row's index among them. Refuses an index that no name has.
    pub fn new(levels: Vec<String>, codes: Vec<u32>) -> Result<Self, Error> {
        let beyond = |code: &&u32| **code as usize >= levels.len();
        if let Some(&code) = codes.iter().find(beyond) {
            return Err(Error::Code { code, size: levels.len() });
        }
        Ok(Self { levels, codes })
    }

    /// The categories' names.
    pub fn levels(&self) -> &[String] {
        &self.levels
    }

    /// The category of every row, as an index into the names.
    pub fn codes(&self) -> &[u32] {
        &self.codes
    }

    /// Names and indices, each on its own.
    pub fn into_parts(self) -> (Vec<String>, Vec<u32>) {
        (self.levels, self.codes)
    }
}
