//! The model matrix, row by row, for every combination of the hidden predictors' symbols.

use super::coding::{Atom, Coding, Levels};
use super::rows::Rows;
use super::variables::{Variable, Variables};
use crate::Error;
use std::ops::Range;
use undertone_numeric::cholesky::Cholesky;
use undertone_numeric::symmetric::Symmetric;

/// A column whose part that no earlier column explains is below this share of its sum of squares depends on them.
const DEPENDENT: f64 = 1e-11;

/// Combinations of symbols of the randomised predictors: what is summed over in every row.
#[derive(Clone, Debug)]
pub(super) struct Combinations {
    /// The randomised predictors' names, how many symbols each has, and their numbers.
    pub(super) hidden: Vec<Hidden>,
    /// Combination after combination, the symbol of every randomised predictor.
    symbols: Vec<u32>,
    count: usize,
}

/// A randomised predictor.
#[derive(Clone, Debug)]
pub(super) struct Hidden {
    pub(super) name: String,
    pub(super) symbols: usize,
    pub(super) values: Option<Vec<f64>>,
}

/// More combinations than these are not summed over in every row.
const MOST_COMBINATIONS: usize = 4096;

impl Combinations {
    pub(super) fn new(hidden: Vec<Hidden>) -> Result<Self, Error> {
        let count = hidden.iter().try_fold(1usize, |product, one| product.checked_mul(one.symbols));
        let count = count.filter(|count| *count <= MOST_COMBINATIONS).ok_or_else(|| {
            Error::unanswerable(
                "the regression",
                format!(
                    "the randomised predictors have more than {MOST_COMBINATIONS} combinations of symbols: merge symbols, or leave predictors out"
                ),
            )
        })?;
        let mut symbols = Vec::with_capacity(count * hidden.len());
        for at in 0..count {
            let mut rest = at;
            for one in &hidden {
                symbols.push((rest % one.symbols) as u32);
                rest /= one.symbols;
            }
        }
        Ok(Self { hidden, symbols, count })
    }

    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// The symbol that a randomised predictor has in a combination.
    pub(super) fn symbol(&self, combination: usize, predictor: usize) -> usize {
        self.symbols[combination * self.hidden.len() + predictor] as usize
    }
}

/// Where a row's part of a column comes from.
#[derive(Clone, Copy, Debug)]
enum Source<'a> {
    Number(&'a [f64]),
    Level(&'a [u32], u32),
}

/// A coding on its data. A cell is the product of what is clear, read from the row, and of what is hidden, a number for every
/// combination that is the same in all rows.
#[derive(Clone, Debug)]
pub(super) struct ModelMatrix<'a> {
    width: usize,
    sources: Vec<Source<'a>>,
    /// For every column, where its sources stand.
    ranges: Vec<Range<usize>>,
    offsets: Vec<&'a [f64]>,
    /// Combination after combination, the hidden part of every column; empty where nothing is hidden.
    hidden: Vec<f64>,
}

impl<'a> ModelMatrix<'a> {
    pub(super) fn new(
        coding: &Coding,
        variables: &'a Variables,
        levels: &'a Levels,
        combinations: &Combinations,
    ) -> Result<Self, Error> {
        let width = coding.columns.len();
        let mut matrix = Self {
            width,
            sources: Vec::new(),
            ranges: Vec::with_capacity(width),
            offsets: Vec::new(),
            hidden: vec![1.0; width * combinations.count()],
        };
        for (at, column) in coding.columns.iter().enumerate() {
            let start = matrix.sources.len();
            for atom in &column.atoms {
                let (Atom::Number(name) | Atom::Level(name, _)) = atom;
                if let Some(place) = combinations.hidden.iter().position(|one| one.name == *name) {
                    for combination in 0..combinations.count() {
                        let symbol = combinations.symbol(combination, place);
                        matrix.hidden[combination * width + at] *= match atom {
                            Atom::Level(_, level) => f64::from(u8::from(symbol == *level as usize)),
                            Atom::Number(_) => {
                                let values = combinations.hidden[place].values.as_deref();
                                values.map_or(symbol as f64, |values| values[symbol])
                            }
                        };
                    }
                    continue;
                }
                let made = levels.made.iter().find(|(known, _)| known == name);
                matrix.sources.push(match (variables.get(name)?, atom) {
                    (Variable::Number(numbers), Atom::Number(_)) => Source::Number(numbers),
                    (Variable::Category(factor), Atom::Level(_, level)) => {
                        Source::Level(factor.codes(), *level)
                    }
                    (_, Atom::Level(_, level)) if let Some((_, factor)) = made => {
                        Source::Level(factor.codes(), *level)
                    }
                    _ => {
                        let problem = format!("{name} cannot be used as it is coded");
                        return Err(Error::unanswerable("formula", problem));
                    }
                });
            }
            matrix.ranges.push(start..matrix.sources.len());
        }
        for name in &coding.offsets {
            if let Variable::Number(numbers) = variables.get(name)? {
                matrix.offsets.push(numbers);
            }
        }
        Ok(matrix)
    }

    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// Writes what is clear of a row.
    pub(super) fn clear(&self, row: usize, cells: &mut [f64]) {
        for (cell, range) in cells.iter_mut().zip(&self.ranges) {
            let mut product = 1.0;
            for source in &self.sources[range.clone()] {
                product *= match source {
                    Source::Number(numbers) => numbers[row],
                    Source::Level(codes, level) => f64::from(u8::from(codes[row] == *level)),
                };
            }
            *cell = product;
        }
    }

    /// Writes a row for one combination, from what is clear of it.
    pub(super) fn combine(&self, combination: usize, clear: &[f64], cells: &mut [f64]) {
        let hidden = &self.hidden[combination * self.width..][..self.width];
        for ((cell, clear), hidden) in cells.iter_mut().zip(clear).zip(hidden) {
            *cell = clear * hidden;
        }
    }

    /// What is added to the linear predictor of a row.
    pub(super) fn offset(&self, row: usize) -> f64 {
        self.offsets.iter().map(|numbers| numbers[row]).sum()
    }

    /// Bits that are the same in two rows only if all their cells are.
    pub(super) fn mark(&self, row: usize, mut mark: impl FnMut(u64)) {
        for source in &self.sources {
            match source {
                Source::Number(numbers) => mark(numbers[row].to_bits()),
                Source::Level(codes, _) => mark(u64::from(codes[row])),
            }
        }
        self.offsets.iter().for_each(|numbers| mark(numbers[row].to_bits()));
    }

    /// The columns' root mean squares. Refuses columns that others add up to, and names them.
    pub(super) fn scales(&self, names: &[String], rows: &Rows) -> Result<Vec<f64>, Error> {
        let combinations = self.hidden.len() / self.width;
        let mut gram = Symmetric::zero(self.width);
        let (mut clear, mut cells) = (vec![0.0; self.width], vec![0.0; self.width]);
        for index in 0..rows.len() {
            self.clear(rows.at(index).0, &mut clear);
            for combination in 0..combinations {
                self.combine(combination, &clear, &mut cells);
                gram.add_outer(&cells, 1.0);
            }
        }
        let count = (rows.len() * combinations) as f64;
        let scales: Vec<f64> = (0..self.width).map(|i| (gram.at(i, i) / count).sqrt()).collect();
        let refuse = |problem: String| Err(Error::unanswerable("formula", problem));
        if let Some(at) = scales.iter().position(|scale| !(*scale > 0.0 && scale.is_finite())) {
            return refuse(format!(
                "{} is 0 in every row, so it has no coefficient: take it out, or merge its category",
                names[at]
            ));
        }
        let cell = |i: usize, j: usize| gram.at(i, j) / (count * scales[i] * scales[j]);
        for size in 1..=self.width {
            if Cholesky::new(size, cell, DEPENDENT).is_some() {
                continue;
            }
            // The last of these columns is a sum of the others.
            let at = size - 1;
            let before = Cholesky::new(at, cell, DEPENDENT);
            let column: Vec<f64> = (0..at).map(|i| cell(i, at)).collect();
            let parts = before.map(|before| before.solve(&column)).unwrap_or_default();
            let others: Vec<&str> = parts
                .iter()
                .zip(names)
                .filter(|(part, _)| part.abs() > 1e-6)
                .map(|(_, name)| name.as_str())
                .collect();
            return refuse(format!(
                "{} adds nothing: it is a sum of multiples of {} in every row; take one of them out",
                names[at],
                others.join(", ")
            ));
        }
        Ok(scales)
    }
}
