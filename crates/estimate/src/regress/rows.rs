//! Which rows are summed over, and how often each counts.

use super::matrix::ModelMatrix;
use super::reports::Reports;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hasher};

/// Rows with their weights. Rows that are alike in everything a model reads are summed over once.
#[derive(Clone, Debug)]
pub(super) struct Rows {
    count: usize,
    /// One of every kind of row, where kinds are few.
    kinds: Option<Vec<u32>>,
    /// The weight of every row, or of every kind; 1 each where there are none.
    weights: Option<Vec<f64>>,
}

/// Fewer rows than these are summed over one by one.
const FEWEST: usize = 512;

impl Rows {
    /// Every row by itself.
    pub(super) fn each(count: usize, weights: Option<Vec<f64>>) -> Self {
        Self { count, kinds: None, weights }
    }

    /// One row of every kind, if there are at least four rows of a kind on average.
    pub(super) fn grouped(
        count: usize,
        weights: Option<Vec<f64>>,
        matrices: &[&ModelMatrix],
        reports: &[&Reports],
    ) -> Self {
        if count < FEWEST {
            return Self::each(count, weights);
        }
        let mark = |row: usize, with: &mut dyn FnMut(u64)| {
            matrices.iter().for_each(|matrix| matrix.mark(row, &mut *with));
            reports.iter().for_each(|reports| with(u64::from(reports.code(row))));
        };
        let most = (count / 4).max(FEWEST / 4);
        let mut known: HashMap<u64, u32> = HashMap::new();
        let (mut kinds, mut sums): (Vec<u32>, Vec<f64>) = (Vec::new(), Vec::new());
        let (mut first, mut second) = (Vec::new(), Vec::new());
        for row in 0..count {
            first.clear();
            mark(row, &mut |bits| first.push(bits));
            let mut hasher = DefaultHasher::new();
            first.iter().for_each(|&bits| hasher.write_u64(bits));
            let next = kinds.len() as u32;
            let kind = *known.entry(hasher.finish()).or_insert(next);
            // Another row with the same hash is no proof that it is of the same kind.
            let alike = kind != next && {
                second.clear();
                mark(kinds[kind as usize] as usize, &mut |bits| second.push(bits));
                first == second
            };
            let weight = weights.as_ref().map_or(1.0, |weights| weights[row]);
            if alike {
                sums[kind as usize] += weight;
            } else {
                kinds.push(row as u32);
                sums.push(weight);
            }
            let early = row == FEWEST && kinds.len() > FEWEST / 2;
            if early || kinds.len() > most {
                return Self::each(count, weights);
            }
        }
        Self { count, kinds: Some(kinds), weights: Some(sums) }
    }

    /// How many rows or kinds are summed over.
    pub(super) fn len(&self) -> usize {
        self.kinds.as_ref().map_or(self.count, Vec::len)
    }

    /// One of the rows that are summed over, and its weight.
    pub(super) fn at(&self, index: usize) -> (usize, f64) {
        let row = self.kinds.as_ref().map_or(index, |kinds| kinds[index] as usize);
        (row, self.weights.as_ref().map_or(1.0, |weights| weights[index]))
    }
}
