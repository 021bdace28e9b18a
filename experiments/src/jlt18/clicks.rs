//! Kosarak: how many pages were clicked more often than a threshold.

use std::collections::BTreeMap;

use crate::data::KOSARAK;
use crate::{Context, Error};

/// Transactions in the whole collection, of which the data folder has the beginning.
const WHOLE: f64 = 990_002.0;
/// The paper's threshold, for the whole collection.
pub const LITERAL: u32 = 15_000;
/// The same share of the clicks of the prefix, rounded to 50.
pub const SCALED: u32 = 550;

/// Clicks on every page.
pub struct Clicks {
    pages: BTreeMap<u32, u32>,
    /// Lines read.
    pub transactions: usize,
}

impl Clicks {
    /// Counts the file.
    pub fn read(context: &Context) -> Result<Self, Error> {
        let text = context.data.text(KOSARAK)?;
        let mut pages = BTreeMap::new();
        let mut transactions = 0;
        for (at, line) in text.lines().enumerate() {
            transactions += 1;
            for word in line.split_whitespace() {
                let page: u32 = word.parse().map_err(|_| Error::Data {
                    file: KOSARAK.path.into(),
                    line: at + 1,
                    problem: format!("{word:?} is no page number"),
                })?;
                *pages.entry(page).or_insert(0) += 1;
            }
        }
        Ok(Self { pages, transactions })
    }

    /// How many pages there are.
    pub fn pages(&self) -> usize {
        self.pages.len()
    }

    /// How many of them were clicked more often.
    pub fn above(&self, threshold: u32) -> usize {
        self.pages.values().filter(|&&clicks| clicks > threshold).count()
    }

    /// The paper's threshold for as much of the collection as was read.
    pub fn proportional(&self) -> f64 {
        f64::from(LITERAL) * self.transactions as f64 / WHOLE
    }
}
