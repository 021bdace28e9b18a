//! Rows that say the same about all columns, counted together.

use crate::mle::LinearLaw;
use crate::{Error, Evidence, Sample};
use std::collections::HashMap;

/// The distinct combinations of codes that occur, and which of them every row has.
#[derive(Clone, Debug)]
pub(super) struct JointCodes {
    /// The class of every row.
    pub(super) classes: Vec<u32>,
    /// For every class, one code per column.
    pub(super) codes: Vec<Vec<u32>>,
}

/// Up to so many possible combinations are looked up in a table.
const DENSE: u128 = 1 << 24;

impl JointCodes {
    pub(super) fn new(columns: &[&Evidence]) -> Result<Self, Error> {
        let rows = columns[0].rows();
        let sizes: Vec<u128> = columns.iter().map(|column| column.distinct() as u128).collect();
        let all: u128 = sizes.iter().product();
        let key = |row: usize| {
            let digits = columns.iter().zip(&sizes);
            digits.fold(0u128, |key, (column, size)| key * size + u128::from(column.codes()[row]))
        };
        let mut codes: Vec<Vec<u32>> = Vec::new();
        let mut new = |row: usize| {
            codes.push(columns.iter().map(|column| column.codes()[row]).collect());
            codes.len() as u32 - 1
        };
        let mut classes = Vec::with_capacity(rows);
        if all <= DENSE {
            let mut table = vec![u32::MAX; all as usize];
            for row in 0..rows {
                let place = &mut table[key(row) as usize];
                if *place == u32::MAX {
                    *place = new(row);
                }
                classes.push(*place);
            }
        } else {
            let mut table: HashMap<u128, u32> = HashMap::new();
            for row in 0..rows {
                classes.push(*table.entry(key(row)).or_insert_with(|| new(row)));
            }
        }
        Ok(Self { classes, codes })
    }

    /// The weight of every class.
    pub(super) fn weights(&self, sample: &Sample) -> Vec<f64> {
        let mut weights = vec![0.0; self.codes.len()];
        for (row, &class) in self.classes.iter().enumerate() {
            weights[class as usize] += sample.weight(row);
        }
        weights
    }
}

/// The probability of every class, given joint shares: a product of the columns' likelihoods. Nothing of the size classes times cells
/// is kept.
pub(super) struct JointLaw<'a> {
    columns: &'a [&'a Evidence],
    codes: &'a [Vec<u32>],
    /// The classes in the order of their last code, which are contracted together.
    order: Vec<u32>,
    /// The joint cells of all columns but the last.
    leading: usize,
    cells: usize,
}

impl<'a> JointLaw<'a> {
    pub(super) fn new(columns: &'a [&'a Evidence], codes: &'a [Vec<u32>]) -> Self {
        let mut order: Vec<u32> = (0..codes.len() as u32).collect();
        order.sort_by_key(|&class| codes[class as usize].last().copied());
        let (last, first) = (columns[columns.len() - 1], &columns[..columns.len() - 1]);
        let leading: usize = first.iter().map(|column| column.symbols()).product();
        Self { columns, codes, order, leading, cells: leading * last.symbols() }
    }

    fn last(&self) -> &Evidence {
        self.columns[self.columns.len() - 1]
    }

    /// The classes, those with one last code together.
    fn groups(&self) -> impl Iterator<Item = (u32, &[u32])> {
        let last = |class: u32| self.codes[class as usize][self.columns.len() - 1];
        self.order
            .chunk_by(move |&a, &b| last(a) == last(b))
            .map(move |group| (last(group[0]), group))
    }

    /// The product of a class's likelihoods in all columns but the last.
    fn product(&self, class: u32, out: &mut Vec<f64>) {
        out.clear();
        out.push(1.0);
        let codes = &self.codes[class as usize];
        for (column, &code) in self.columns.iter().zip(codes).take(self.columns.len() - 1) {
            let likelihood = column.likelihood(code);
            *out = out.iter().flat_map(|a| likelihood.iter().map(move |b| a * b)).collect();
        }
    }
}

impl LinearLaw for JointLaw<'_> {
    fn inputs(&self) -> usize {
        self.cells
    }

    fn outputs(&self) -> usize {
        self.codes.len()
    }

    fn forward_into(&self, p: &[f64], law: &mut [f64]) {
        let size = self.last().symbols();
        let mut contracted = vec![0.0; self.leading];
        let mut product = Vec::new();
        for (code, group) in self.groups() {
            let likelihood = self.last().likelihood(code);
            for (sum, row) in contracted.iter_mut().zip(p.chunks_exact(size)) {
                *sum = row.iter().zip(likelihood).map(|(p, l)| p * l).sum();
            }
            for &class in group {
                self.product(class, &mut product);
                law[class as usize] = product.iter().zip(&contracted).map(|(a, b)| a * b).sum();
            }
        }
    }

    fn back_into(&self, r: &[f64], means: &mut [f64]) {
        let size = self.last().symbols();
        means.fill(0.0);
        let mut gathered = vec![0.0; self.leading];
        let mut product = Vec::new();
        for (code, group) in self.groups() {
            gathered.fill(0.0);
            for &class in group {
                self.product(class, &mut product);
                let r = r[class as usize];
                gathered.iter_mut().zip(&product).for_each(|(sum, a)| *sum += r * a);
            }
            let likelihood = self.last().likelihood(code);
            for (sum, row) in gathered.iter().zip(means.chunks_exact_mut(size)) {
                row.iter_mut().zip(likelihood).for_each(|(mean, l)| *mean += sum * l);
            }
        }
    }
}
