//! Laws of outputs that are linear in the shares: what expectation maximisation needs of them.

use crate::channel::{Blocks, Channel};
use crate::pool::Group;

/// How likely every output is, as a linear function of the shares.
pub(crate) trait LinearLaw {
    /// How many shares.
    fn inputs(&self) -> usize;

    /// How many outputs.
    fn outputs(&self) -> usize;

    /// Writes the probability of every output, given the shares `p`, into `law`.
    fn forward_into(&self, p: &[f64], law: &mut [f64]);

    /// Writes Σ_y w(y|x) r(y) for every x into `means`.
    fn back_into(&self, r: &[f64], means: &mut [f64]);

    /// The probability of every output, given the shares `p`.
    fn law(&self, p: &[f64]) -> Vec<f64> {
        let mut law = vec![0.0; self.outputs()];
        self.forward_into(p, &mut law);
        law
    }
}

impl LinearLaw for Channel {
    fn inputs(&self) -> usize {
        Channel::inputs(self)
    }

    fn outputs(&self) -> usize {
        Channel::outputs(self)
    }

    fn forward_into(&self, p: &[f64], law: &mut [f64]) {
        Channel::forward_into(self, p, law);
    }

    fn back_into(&self, r: &[f64], means: &mut [f64]) {
        Channel::back_into(self, r, means);
    }
}

impl LinearLaw for Blocks {
    fn inputs(&self) -> usize {
        Blocks::inputs(self)
    }

    fn outputs(&self) -> usize {
        Blocks::outputs(self)
    }

    fn forward_into(&self, p: &[f64], law: &mut [f64]) {
        law.copy_from_slice(&self.forward(p));
    }

    fn back_into(&self, r: &[f64], means: &mut [f64]) {
        means.copy_from_slice(&self.back(r));
    }
}

/// More blocks than these are not climbed: each of some ten thousand steps takes two sums over all of them.
const MOST_BLOCKS: usize = 1 << 10;

impl Group {
    /// The law of single outputs and how often each was seen; `None` for bits, whose reports are more than one output.
    pub(crate) fn outputs(&self) -> Option<(&dyn LinearLaw, &[u64])> {
        match &self.channel {
            Channel::Table(_) | Channel::Keep(_) => Some((&self.channel, self.tally.counts())),
            Channel::Bits(bits) => bits.blocks().zip(self.by_block()).map(|(blocks, tally)| {
                let law: &dyn LinearLaw = blocks;
                (law, tally.counts())
            }),
        }
    }

    /// The law of single outputs and how often each was seen, where the maximum is climbed to; `None` for bits, and for so many blocks
    /// that climbing would take too long.
    pub(crate) fn climbed_outputs(&self) -> Option<(&dyn LinearLaw, &[u64])> {
        let few = self.channel.bits().is_none_or(|bits| bits.terms() <= MOST_BLOCKS);
        self.outputs().filter(|_| few)
    }
}
