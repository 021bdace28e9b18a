//! Every outcome of several items with its probability in each atom of a law, one at a time.
//!
//! Nothing is stored but one product per atom and item, so the number of outcomes is limited by patience and not
//! by memory.

use crate::magnitude::{Bounds, Magnitude, Round};
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

/// w(y|x) from below and from above, and the exponent of its unit; for bits up to a factor common to all x.
pub(super) fn likelihood(shape: &Shape, x: usize, y: usize) -> (u128, u128, i64) {
    let (value, exponent) = match shape {
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
            let value = |x: usize| if y >> x & 1 == 1 { set } else { clear };
            // A pattern that no symbol can have said tells nothing apart; it does no harm, because a belief it leaves
            // alone moves as far without it.
            let (ones, symbols) = (y.count_ones() as usize, bits.symbols());
            let apart = (q == 0 && ones > 1) || (q == one && symbols - ones > 1);
            let silent = apart || (0..symbols).all(|x| value(x) == 0);
            (if silent { 1 << 64 } else { value(x) }, -64)
        }
        Shape::Incidence(incidence) => {
            let (low, high) = incidence.levels().of(incidence.contains(y as u32, x as u32));
            return (low, high, -112);
        }
    };
    (value, value, exponent)
}

/// The enclosure of w(y|x); for bits up to a factor common to all x.
pub(super) fn enclosed(shape: &Shape, x: usize, y: usize) -> Bounds {
    let (low, high, exponent) = likelihood(shape, x, y);
    Bounds {
        low: Magnitude::new(low, exponent, Round::Down),
        high: Magnitude::new(high, exponent, Round::Up),
    }
}

/// Steps of [`in_a_row`] above this are not taken.
const MAX_STEPS: usize = 1 << 26;

/// The LDP ratio of one channel after another, Σ_m A(m|x) B(y|m), and whether it is exact. `None` if the outputs of the
/// second cannot be listed or there is too much to do.
pub(super) fn in_a_row(memo: &Shape, fresh: &Shape) -> Option<(Ratio, bool)> {
    if fresh.releases_bits() {
        return None;
    }
    let (inputs, between, outputs) = (memo.inputs(), memo.outputs(), fresh.outputs());
    let steps = inputs.checked_mul(between)?.checked_mul(outputs)?;
    if steps > MAX_STEPS {
        return None;
    }
    let (mut worst, mut exact) = (Ratio::ONE, true);
    for y in 0..outputs {
        let cell = |x: usize| {
            (0..between).fold((Wide::ZERO, Wide::ZERO), |(low, high), m| {
                let (first, second) = (likelihood(memo, x, m), likelihood(fresh, m, y));
                let product = |a: u128, b: u128| Wide::from(a) * Wide::from(b);
                (low + product(first.0, second.0), high + product(first.1, second.1))
            })
        };
        let cells: Vec<(Wide, Wide)> = (0..inputs).map(cell).collect();
        exact &= cells.iter().all(|(low, high)| low == high);
        let high = cells.iter().map(|&(_, high)| high).max().unwrap_or(Wide::ZERO);
        let low = cells.iter().map(|&(low, _)| low).min().unwrap_or(Wide::ZERO);
        // Levels of blocks have 112 bits, too many for ratios that are compared.
        let (high, low, kept) = Ratio::narrow_up(high, low);
        exact &= kept;
        if let Some(ratio) = Ratio::new(high, low) {
            worst = worst.max(ratio);
        }
    }
    Some((worst, exact))
}
