//! Every outcome of several items with its probability in each atom of a law, one at a time.
//!
//! Nothing is stored but one product per atom and item, so the number of outcomes is limited by patience and not
//! by memory.

use crate::likelihood::Extremes;
use crate::magnitude::Bounds;
use crate::mass::{KEEP_ONE, MASS_ONE, WEIGHT_ONE};
use crate::ratio::Ratio;
use crate::shape::Shape;
use crate::wide::Wide;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Mul;

/// Atoms with weights, and the likelihood of every outcome of every item in each of them.
pub trait Likelihoods {
    /// What probabilities are written in.
    type Number: Copy + Mul<Output = Self::Number>;
    /// The probability of every atom.
    fn weights(&self) -> Vec<Self::Number>;
    /// How many items there are.
    fn items(&self) -> usize;
    /// How many outcomes an item has.
    fn outcomes(&self, item: usize) -> usize;
    /// P(outcome of the item | atom).
    fn at(&self, item: usize, atom: usize, outcome: usize) -> Self::Number;
}

/// Visits every outcome of the items of some [`Likelihoods`], the last item fastest.
#[derive(Clone, Copy, Debug)]
pub struct Walk<L>(pub L);

impl<L: Likelihoods> Walk<L> {
    /// Calls `visit(outcome, P(outcome, atom) for every atom)` for every outcome whose first items came out as `first` says.
    pub fn visit(&self, first: &[usize], visit: &mut impl FnMut(&[usize], &[L::Number])) {
        let mut outcome = vec![0; self.0.items()];
        let mut masses = self.0.weights();
        for (item, &at) in first.iter().enumerate() {
            outcome[item] = at;
            for (atom, mass) in masses.iter_mut().enumerate() {
                *mass = *mass * self.0.at(item, atom, at);
            }
        }
        let deeper = self.0.items() - first.len();
        let mut levels = vec![masses; deeper + 1];
        self.descend(first.len(), &mut outcome, &mut levels, visit);
    }

    fn descend(
        &self,
        item: usize,
        outcome: &mut [usize],
        levels: &mut [Vec<L::Number>],
        visit: &mut impl FnMut(&[usize], &[L::Number]),
    ) {
        if item == outcome.len() {
            return visit(outcome, &levels[0]);
        }
        for at in 0..self.0.outcomes(item) {
            outcome[item] = at;
            let (here, below) = levels.split_at_mut(1);
            for (atom, (next, mass)) in below[0].iter_mut().zip(&here[0]).enumerate() {
                *next = *mass * self.0.at(item, atom, at);
            }
            self.descend(item + 1, outcome, below, visit);
        }
    }
}

/// How many outcomes a channel has, where they can be listed.
pub(super) fn listed(shape: &Shape) -> Option<usize> {
    match shape {
        Shape::Table(_) | Shape::Keep(_) => Some(shape.outputs()),
        Shape::Bits(bits) => (bits.symbols() <= 16).then(|| 1 << bits.symbols()),
    }
}

/// w(y|x) as an integer and the exponent of its unit; for bits up to a factor common to all x.
pub(super) fn likelihood(shape: &Shape, x: usize, y: usize) -> (u128, i64) {
    match shape {
        Shape::Table(table) => (u128::from(table.rows()[x].masses()[y]), -48),
        Shape::Keep(keep) => {
            let base = u128::from(keep.base().masses()[y]);
            let (kept, one) = (u128::from(keep.keep()[x]), u128::from(KEEP_ONE));
            let own = if x == y { kept * u128::from(MASS_ONE) } else { 0 };
            (own + (one - kept) * base, -88)
        }
        Shape::Bits(bits) => {
            let one = u128::from(WEIGHT_ONE);
            let (p, q) = (u128::from(bits.own()), u128::from(bits.other()));
            let (set, clear) = (p * (one - q), (one - p) * q);
            let symbols = bits.symbols();
            let value = |x: usize| if y >> x & 1 == 1 { set } else { clear };
            // Where no symbol can have said it, nothing tells symbols apart.
            let silent = (0..symbols).all(|x| value(x) == 0);
            (if silent { 1 << 64 } else { value(x) }, -64)
        }
    }
}

/// The enclosure of w(y|x); for bits up to a factor common to all x.
pub(super) fn enclosed(shape: &Shape, x: usize, y: usize) -> Bounds {
    let (value, exponent) = likelihood(shape, x, y);
    Bounds::new(value, exponent)
}

/// Steps of [`in_a_row`] above this are not taken.
const MAX_STEPS: usize = 1 << 26;

/// The LDP ratio of one channel after another: Σ_m A(m|x) B(y|m). `None` if the outputs of the second cannot be listed or
/// there is too much to do.
pub(super) fn in_a_row(memo: &Shape, fresh: &Shape) -> Option<Ratio> {
    if matches!(fresh, Shape::Bits(_)) {
        return None;
    }
    let (inputs, between, outputs) = (memo.inputs(), memo.outputs(), fresh.outputs());
    let steps = inputs.checked_mul(between)?.checked_mul(outputs)?;
    if steps > MAX_STEPS {
        return None;
    }
    let mut worst = Ratio::ONE;
    for y in 0..outputs {
        let cell = |x: usize| {
            let terms = (0..between).map(|m| {
                let (first, second) = (likelihood(memo, x, m).0, likelihood(fresh, m, y).0);
                Wide::from(first) * Wide::from(second)
            });
            (terms.fold(Wide::ZERO, |sum, term| sum + term), x)
        };
        let Extremes { high, low } = Extremes::of((0..inputs).map(cell));
        if let Some(ratio) = Ratio::new(high.0, low.0) {
            worst = worst.max(ratio);
        }
    }
    Some(worst)
}
