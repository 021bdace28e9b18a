//! Blocks of symbols that are released by their number.

use crate::reorder::picked;
use std::sync::Arc;
use undertone_core::MASS_ONE;
use undertone_core::incidence::Incidence;

/// How likely every numbered block is, given a symbol that is in it or one that is not. Symbols are in the pool's order.
#[derive(Clone, Debug)]
pub(crate) struct Blocks {
    incidence: Arc<Incidence>,
    /// The policy's own index of each symbol, where the pool has another order.
    order: Option<Arc<[usize]>>,
    pub(crate) inside: f64,
    pub(crate) outside: f64,
}

impl Blocks {
    /// `None` for subsets, which have no numbers.
    pub(super) fn new(incidence: &Incidence) -> Option<Self> {
        let (all, each) = (incidence.blocks()?, incidence.replication()?);
        let coin = incidence.coin() as f64 / MASS_ONE as f64;
        let (inside, outside) = (coin / each as f64, (1.0 - coin) / (all - each) as f64);
        Some(Self { incidence: Arc::new(incidence.clone()), order: None, inside, outside })
    }

    pub(crate) fn inputs(&self) -> usize {
        self.incidence.symbols()
    }

    pub(crate) fn outputs(&self) -> usize {
        self.incidence.blocks().unwrap_or(0)
    }

    pub(crate) fn reordered(self, order: &[usize]) -> Self {
        let order = match &self.order {
            Some(before) => picked(before, order).into(),
            None => order.into(),
        };
        Self { order: Some(order), ..self }
    }

    /// Whether a block contains a symbol.
    pub(crate) fn contains(&self, block: usize, x: usize) -> bool {
        let own = self.order.as_ref().map_or(x, |order| order[x]);
        self.incidence.contains(block as u32, own as u32)
    }

    /// w(y|x), y being a block's number.
    pub(crate) fn at(&self, x: usize, block: usize) -> f64 {
        if self.contains(block, x) { self.inside } else { self.outside }
    }

    /// For every block the sum of its symbols' weights.
    pub(crate) fn block_sums(&self, weights: &[f64]) -> Vec<f64> {
        let Some(order) = &self.order else { return self.incidence.block_sums(weights) };
        let mut own = vec![0.0; weights.len()];
        order.iter().zip(weights).for_each(|(&at, weight)| own[at] = *weight);
        self.incidence.block_sums(&own)
    }

    /// For every symbol the sum of the numbers of the blocks it is in.
    pub(crate) fn symbol_sums<T: Copy + Default + std::ops::AddAssign + PartialEq>(
        &self,
        numbers: &[T],
    ) -> Vec<T> {
        let sums = self.incidence.symbol_sums(numbers);
        match &self.order {
            Some(order) => picked(&sums, order),
            None => sums,
        }
    }

    /// The probability of every block for a population `p`.
    pub(crate) fn forward(&self, p: &[f64]) -> Vec<f64> {
        let base = self.outside * p.iter().sum::<f64>();
        let law = |sum: f64| base + (self.inside - self.outside) * sum;
        self.block_sums(p).into_iter().map(law).collect()
    }

    /// Σ_y w(y|x) r(y) for every x, y being the blocks.
    pub(crate) fn back(&self, r: &[f64]) -> Vec<f64> {
        self.back_of(r, (self.inside, self.outside))
    }

    /// Σ_y w(y|x)² r(y) for every x.
    pub(crate) fn back_squares(&self, r: &[f64]) -> Vec<f64> {
        self.back_of(r, (self.inside * self.inside, self.outside * self.outside))
    }

    fn back_of(&self, r: &[f64], (inside, outside): (f64, f64)) -> Vec<f64> {
        let all: f64 = r.iter().sum();
        let mean = |sum: f64| inside * sum + outside * (all - sum);
        self.symbol_sums(r).into_iter().map(mean).collect()
    }

    /// The mean square, given every x, of the sum of the weights of a released block's symbols.
    pub(super) fn squares(&self, weights: &[f64]) -> Vec<f64> {
        let mut sums = self.block_sums(weights);
        sums.iter_mut().for_each(|sum| *sum *= *sum);
        self.back(&sums)
    }
}
