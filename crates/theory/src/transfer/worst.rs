//! The largest leakage under one prior of any mechanism that keeps its promise under another.
//!
//! **Claim.** Over lift vectors L with low <= L <= high and Σ P1 L = 1, the lift of x under P2, which is
//! L(x)/Σ P2 L, is largest where x is raised first and the others by rising P2/P1, and smallest where the
//! others are raised by falling P2/P1 and x last.
//!
//! **Proof.** A ratio of linear functions on a polytope has its maximum θ where the linear function
//! L(x) - θ Σ P2 L has its own, zero (Dinkelbach). That is a fractional knapsack: raise symbols by falling
//! (1{z=x} - θ P2(z))/P1(z). For z ≠ x this is -θ P2/P1, whose order does not depend on θ. For x it is
//! (1 - θ P2(x))/P1(x), which is not negative, because θ P2(x) is a posterior probability. The minimum is the
//! same with both signs turned. Symbols without mass under P1 cost nothing and take whichever end is better.
//!
//! So one sort serves every symbol, and a tree of sums over its order gives each symbol's extreme: O(k log k) in all.

use std::ops::Range;

use undertone_design::extremal::LiftRange;
use undertone_design::{Distribution, Error};

/// The largest leakage under `to` of any lift vector allowed under `from`, and the vector.
///
/// The leakage is read off the vector itself, so it is attained.
pub(crate) fn worst_case(
    from: &Distribution,
    to: &Distribution,
    range: LiftRange,
) -> Result<(f64, Vec<f64>), Error> {
    let to = &*to.in_order_of("the second prior", from.symbols())?;
    let nothing = (0.0, vec![1.0; from.len()]);
    if range.reveals_nothing() {
        return Ok(nothing);
    }
    let mut worst = nothing;
    for side in [Side::Raised, Side::Lowered] {
        let filling = Filling::new(from, to, range, side);
        let leakages: Vec<f64> = (0..from.len()).map(|x| filling.leakage(x)).collect();
        let largest = (0..from.len()).max_by(|&a, &b| leakages[a].total_cmp(&leakages[b]));
        let Some(x) = largest else { continue };
        let lift = filling.vector(x);
        let total: f64 = lift.iter().zip(to.as_slice()).map(|(l, p)| l * p).sum();
        let leakage = side.sign() * (lift[x] / total).ln();
        if leakage > worst.0 {
            worst = (leakage, lift);
        }
    }
    Ok(worst)
}

/// Whether the belief in a symbol is to rise or to fall.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Side {
    Raised,
    Lowered,
}

impl Side {
    fn sign(self) -> f64 {
        match self {
            Self::Raised => 1.0,
            Self::Lowered => -1.0,
        }
    }
}

/// The order in which symbols are raised from low to high, with sums over its stretches.
struct Filling<'a> {
    from: &'a [f64],
    to: &'a [f64],
    range: LiftRange,
    side: Side,
    /// Symbols with mass under `from`, in the order they are raised.
    order: Vec<usize>,
    /// The place of each symbol in the order.
    place: Vec<Option<usize>>,
    sums: Sums,
    /// Σ P2 L before anything is raised: all at low, but for symbols that cost nothing.
    base: f64,
}

impl<'a> Filling<'a> {
    fn new(from: &'a Distribution, to: &'a Distribution, range: LiftRange, side: Side) -> Self {
        let (from, to) = (from.as_slice(), to.as_slice());
        let mut order: Vec<usize> = (0..from.len()).filter(|&z| from[z] > 0.0).collect();
        let key = |z: usize| side.sign() * (to[z] / from[z]);
        order.sort_by(|&a, &b| key(a).total_cmp(&key(b)));
        let step = range.step();
        let mut place = vec![None; from.len()];
        for (at, &z) in order.iter().enumerate() {
            place[z] = Some(at);
        }
        let sums = Sums::new(order.iter().map(|&z| (step * from[z], step * to[z])));
        let free: f64 = (0..from.len()).filter(|&z| from[z] <= 0.0).map(|z| to[z]).sum();
        let paid: f64 = order.iter().map(|&z| to[z]).sum();
        let end = match side {
            Side::Raised => range.low(),
            Side::Lowered => range.high(),
        };
        let base = range.low() * paid + end * free;
        Self { from, to, range, side, order, place, sums, base }
    }

    /// How far x is raised, and what raising the others adds to Σ P2 L.
    fn raised(&self, x: usize) -> (f64, f64) {
        let (mut budget, step, p) = (self.range.room(), self.range.step(), self.from[x]);
        match self.side {
            Side::Raised => {
                let own = if p > 0.0 { step.min(budget / p) } else { step };
                budget = (budget - own * p).max(0.0);
                (own, self.others(x, &mut budget))
            }
            // x takes only what the others cannot.
            Side::Lowered => {
                let added = self.others(x, &mut budget);
                (if p > 0.0 { step.min(budget / p) } else { 0.0 }, added)
            }
        }
    }

    /// What raising others than x by `budget` adds to Σ P2 L; what they cannot take is left.
    fn others(&self, x: usize, budget: &mut f64) -> f64 {
        let place = self.place[x].unwrap_or(self.order.len());
        let before = self.sums.fill(0..place, budget);
        before + self.sums.fill(place + 1..self.order.len(), budget)
    }

    /// The largest leakage about x on this side.
    fn leakage(&self, x: usize) -> f64 {
        let (own, others) = self.raised(x);
        // Σ P2 L counts a symbol that costs nothing at its better end; as x itself it is at the other one.
        let counted = match (self.side, self.place[x]) {
            (Side::Lowered, None) => self.range.step(),
            _ => 0.0,
        };
        let total = self.base + (own - counted) * self.to[x] + others;
        self.side.sign() * ((self.range.low() + own) / total).ln()
    }

    /// The lift vector that attains it.
    fn vector(&self, x: usize) -> Vec<f64> {
        let (low, high) = (self.range.low(), self.range.high());
        let mut lift = vec![low; self.from.len()];
        if self.side == Side::Lowered {
            let free = (0..lift.len()).filter(|&z| self.from[z] <= 0.0 && self.to[z] > 0.0);
            free.for_each(|z| lift[z] = high);
        }
        let own = self.raised(x).0;
        lift[x] = low + own;
        // In the order of the proof: what x takes first is gone, what it takes last is not yet.
        let mut left = match self.side {
            Side::Raised => (self.range.room() - own * self.from[x]).max(0.0),
            Side::Lowered => self.range.room(),
        };
        for &z in self.order.iter().filter(|&&z| z != x) {
            if left <= 0.0 {
                break;
            }
            let step = self.range.step().min(left / self.from[z]);
            lift[z] += step;
            left -= step * self.from[z];
        }
        lift
    }
}

/// What raising each symbol of an order takes of Σ P1 L and adds to Σ P2 L, summed over stretches of
/// doubling length. Only additions: differences of prefix sums would lose what a rare symbol adds.
struct Sums {
    /// A heap: node n has the children 2n and 2n + 1, and the leaves are the last half.
    nodes: Vec<(f64, f64)>,
}

impl Sums {
    fn new(leaves: impl ExactSizeIterator<Item = (f64, f64)>) -> Self {
        let size = leaves.len().next_power_of_two();
        let mut nodes = vec![(0.0, 0.0); size];
        nodes.extend(leaves);
        nodes.resize(2 * size, (0.0, 0.0));
        for at in (1..size).rev() {
            let (left, right) = (nodes[2 * at], nodes[2 * at + 1]);
            nodes[at] = (left.0 + right.0, left.1 + right.1);
        }
        Self { nodes }
    }

    /// Spends `budget` on the symbols of a stretch in order, the last one in part; what that adds.
    fn fill(&self, stretch: Range<usize>, budget: &mut f64) -> f64 {
        self.fill_node(1, 0..self.nodes.len() / 2, &stretch, budget)
    }

    fn fill_node(
        &self,
        at: usize,
        covered: Range<usize>,
        stretch: &Range<usize>,
        budget: &mut f64,
    ) -> f64 {
        if *budget <= 0.0 || covered.end <= stretch.start || stretch.end <= covered.start {
            return 0.0;
        }
        let (taken, added) = self.nodes[at];
        if stretch.start <= covered.start && covered.end <= stretch.end && taken <= *budget {
            *budget -= taken;
            return added;
        }
        if covered.len() == 1 {
            let part = *budget / taken;
            *budget = 0.0;
            return part * added;
        }
        let middle = usize::midpoint(covered.start, covered.end);
        let left = self.fill_node(2 * at, covered.start..middle, stretch, budget);
        left + self.fill_node(2 * at + 1, middle..covered.end, stretch, budget)
    }
}
