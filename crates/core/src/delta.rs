//! The least δ at given odds, exactly (conditional convention).

use crate::certificate::{Cell, LeastDelta, Marginals, Pushed};
use crate::claim::Bound;
use crate::context::Context;
use crate::epsilon::Epsilon;
use crate::likelihood::{KeepView, Likelihoods};
use crate::ratio::Ratio;
use crate::wide::Wide;
use alloc::vec::Vec;

/// The largest excess seen so far, as a numerator over a denominator fixed by the caller.
#[derive(Default)]
struct Largest {
    excess: Wide,
    cell: Cell,
}

impl Largest {
    fn see(&mut self, excess: Wide, cell: Cell) {
        if excess > self.excess {
            *self = Self { excess, cell };
        }
    }

    fn over(self, denominator: Wide) -> LeastDelta {
        let ratio = Ratio::new(self.excess, denominator).unwrap_or(Ratio::UNBOUNDED);
        LeastDelta { ratio, cell: self.cell, bound: false }
    }
}

fn wide(value: u32) -> Wide {
    Wide::from(u64::from(value))
}

/// The least δ of a bound on the input; `None` for identifiability, and for LIP without a context.
pub(crate) fn of_input(
    bound: &Bound,
    channel: &dyn Likelihoods,
    context: &Context,
    marginals: Option<&Marginals>,
) -> Option<LeastDelta> {
    let (inputs, outputs) = (channel.inputs(), channel.outputs());
    let keep = channel.as_keep();
    let (lower, upper) = match (*bound, keep) {
        (Bound::Lip { lower, upper }, _) => (lower, upper),
        (Bound::Di(_), _) => return None,
        (Bound::Ldp(epsilon), Some(keep)) => return Some(keep_ldp(epsilon, keep)),
        (Bound::Ldp(epsilon), None) if channel.unit() == 48 => {
            return Some(ldp_pairs(epsilon, inputs, outputs, channel));
        }
        (Bound::Ldp(epsilon), None) => {
            let cell = |x, y| Wide::from(channel.at(x, y));
            return Some(ldp_rows(epsilon, inputs, outputs, channel.unit(), cell));
        }
    };
    let under = |marginals: &Marginals| match keep {
        Some(keep) => keep_lip(lower, upper, keep, marginals),
        None if channel.unit() + marginals.scale <= 80 => {
            let cell = |x: usize, y: usize| channel.at(x, y) << marginals.scale;
            lip_rows(lower, upper, inputs, channel.unit(), marginals, Wide::low_u128, cell)
        }
        None => {
            let cell = |x: usize, y: usize| Wide::from(channel.at(x, y)) << marginals.scale;
            lip_rows(lower, upper, inputs, channel.unit(), marginals, |m| m, cell)
        }
    };
    // For a list of priors each is taken by itself; for a box the worst prior may differ from
    // output to output, so the sum is an upper bound.
    match (context, marginals) {
        (Context::Each(priors), _) => {
            let each = priors.as_slice().iter().enumerate().map(|(at, prior)| {
                let mut least = under(&Marginals::exact(channel.mixture(prior.weights()), 32));
                least.cell.prior = (least.ratio > Ratio::ZERO).then_some(at as u32);
                least
            });
            each.reduce(|worst, least| if least.ratio > worst.ratio { least } else { worst })
        }
        (_, marginals) => {
            let bound = matches!(context, Context::Within(_));
            Some(LeastDelta { bound, ..under(marginals?) })
        }
    }
}

/// The least δ of a bound on the secret, summed over the pushed rows; `None` for identifiability.
pub(crate) fn of_secret(bound: &Bound, pushed: &Pushed) -> Option<LeastDelta> {
    let rows = &pushed.rows;
    Some(match *bound {
        Bound::Di(_) => return None,
        Bound::Lip { lower, upper } => {
            let cell = |s: usize, y: usize| rows[s][y] << pushed.marginals.scale;
            lip_rows(lower, upper, rows.len(), pushed.unit, &pushed.marginals, |m| m, cell)
        }
        Bound::Ldp(epsilon) => {
            let outputs = pushed.marginals.range.len();
            ldp_rows(epsilon, rows.len(), outputs, pushed.unit, |s, y| rows[s][y])
        }
    })
}

/// An integer wide enough for the sums at hand.
trait Exact: Copy + core::ops::Add<Output = Self> + Into<Wide> {
    const ZERO: Self;
    fn times(self, by: u32) -> Self;
    fn above(self, other: Self) -> Self;
}

impl Exact for u128 {
    const ZERO: Self = 0;
    fn times(self, by: u32) -> Self {
        self * Self::from(by)
    }
    fn above(self, other: Self) -> Self {
        self.saturating_sub(other)
    }
}

impl Exact for Wide {
    const ZERO: Self = Self::ZERO;
    fn times(self, by: u32) -> Self {
        self * wide(by)
    }
    fn above(self, other: Self) -> Self {
        self.saturating_sub(other)
    }
}

/// max over x of Σ_y (w(y|x) - E m(y))_+ and of Σ_y (m(y) - E w(y|x))_+.
fn lip_rows<N: Exact>(
    lower: Epsilon,
    upper: Epsilon,
    inputs: usize,
    unit: u32,
    marginals: &Marginals,
    narrow: impl Fn(Wide) -> N,
    cell: impl Fn(usize, usize) -> N,
) -> LeastDelta {
    let ((up_n, up_d), (low_n, low_d)) = (upper.odds(), lower.odds());
    let range = marginals.range.iter();
    let columns: Vec<(N, N)> = range
        .map(|&[(least, _), (greatest, _)]| {
            (narrow(least).times(up_n), narrow(greatest).times(low_d))
        })
        .collect();
    let (mut rise, mut fall) = (Largest::default(), Largest::default());
    for x in 0..inputs {
        let (mut above, mut below) = (N::ZERO, N::ZERO);
        for (y, &(cap, need)) in columns.iter().enumerate() {
            let w = cell(x, y);
            above = above + w.times(up_d).above(cap);
            below = below + need.above(w.times(low_n));
        }
        let at = Some(x as u32);
        rise.see(above.into(), Cell { high: at, ..Cell::default() });
        fall.see(below.into(), Cell { low: at, ..Cell::default() });
    }
    worse(rise, up_d, fall, low_d, unit + marginals.scale)
}

/// The worse of the two sides of LIP, each over its own denominator.
fn worse(rise: Largest, up_d: u32, fall: Largest, low_d: u32, unit: u32) -> LeastDelta {
    let rise = rise.over(wide(up_d) << unit);
    let fall = fall.over(wide(low_d) << unit);
    if fall.ratio > rise.ratio { fall } else { rise }
}

/// max over pairs of Σ_y (w(y|x) - E w(y|x'))_+.
fn ldp_rows(
    epsilon: Epsilon,
    inputs: usize,
    outputs: usize,
    unit: u32,
    cell: impl Fn(usize, usize) -> Wide,
) -> LeastDelta {
    let (n, d) = epsilon.odds();
    let mut largest = Largest::default();
    for x in 0..inputs {
        for z in (0..inputs).filter(|&z| z != x) {
            let excess = (0..outputs).fold(Wide::ZERO, |sum, y| {
                sum + (cell(x, y) * wide(d)).saturating_sub(cell(z, y) * wide(n))
            });
            let cell = Cell { high: Some(x as u32), low: Some(z as u32), ..Cell::default() };
            largest.see(excess, cell);
        }
    }
    largest.over(wide(d) << unit)
}

/// max over pairs of Σ_y (w(y|x) - E w(y|x'))_+ for a table of 48-bit masses: 64-bit sums, rounded up,
/// discard nearly all pairs, and the exact sum is taken only for those that could be the worst.
fn ldp_pairs(
    epsilon: Epsilon,
    inputs: usize,
    outputs: usize,
    channel: &dyn Likelihoods,
) -> LeastDelta {
    const DROPPED: u32 = 20;
    let (n, d) = (u128::from(epsilon.odds().0), u128::from(epsilon.odds().1));
    let mut tops = Vec::with_capacity(inputs * outputs);
    let mut floors = Vec::with_capacity(inputs * outputs);
    for x in 0..inputs {
        for y in 0..outputs {
            let w = channel.at(x, y);
            // d·w < 2^80 leaves 60 bits; n·w saturates, which only matters where it exceeds any top.
            tops.push(((d * w + (1 << DROPPED) - 1) >> DROPPED) as u64);
            floors.push(((n * w) >> DROPPED).min(1 << 62) as u64);
        }
    }
    let row = |x: usize| x * outputs..(x + 1) * outputs;
    let mut largest = Largest::default();
    // The rounded-up sum must exceed this to be of interest.
    let mut to_beat = 0u64;
    for x in 0..inputs {
        let top = &tops[row(x)];
        for z in (0..inputs).filter(|&z| z != x) {
            let floor = &floors[row(z)];
            let rough: u64 = top.iter().zip(floor).map(|(&a, &b)| a.saturating_sub(b)).sum();
            if rough <= to_beat {
                continue;
            }
            let excess: u128 = (0..outputs)
                .map(|y| (d * channel.at(x, y)).saturating_sub(n * channel.at(z, y)))
                .sum();
            let cell = Cell { high: Some(x as u32), low: Some(z as u32), ..Cell::default() };
            largest.see(Wide::from(excess), cell);
            to_beat = to_beat.max((excess >> DROPPED) as u64);
        }
    }
    largest.over(Wide::from(d << 48))
}

/// Prefix sums of base masses and of scaled marginals, ordered by marginal over base.
struct ByLift {
    order: Vec<u32>,
    base: Vec<Wide>,
    mass: Vec<Wide>,
}

impl ByLift {
    fn new(keep: &KeepView<'_>, mass: &[Wide]) -> Self {
        let base_of = |y: u32| Wide::from(keep.base(y as usize));
        let mut order: Vec<u32> = (0..mass.len() as u32).collect();
        // Outputs without base come last: no factor reaches them, and 0/0 has no place among ratios.
        order.sort_by(|&a, &b| {
            let empty = |y: u32| base_of(y).is_zero();
            let (left, right) = (mass[a as usize] * base_of(b), mass[b as usize] * base_of(a));
            empty(a).cmp(&empty(b)).then(left.cmp(&right)).then(a.cmp(&b))
        });
        let (mut base, mut sums) = (Vec::from([Wide::ZERO]), Vec::from([Wide::ZERO]));
        for (at, &y) in order.iter().enumerate() {
            base.push(base[at] + base_of(y));
            sums.push(sums[at] + mass[y as usize]);
        }
        Self { order, base, mass: sums }
    }

    /// How many outputs have mass(y) < factor·base(y).
    fn below(&self, factor: Wide, keep: &KeepView<'_>, mass: &[Wide]) -> usize {
        self.order
            .partition_point(|&y| mass[y as usize] < factor * Wide::from(keep.base(y as usize)))
    }
}

/// Row x is rest(x)·base(y) except at y = x. The sum over all y is read off prefix sums over the
/// outputs ordered by marginal over base, and the term at x is exchanged for its own.
fn keep_lip(
    lower: Epsilon,
    upper: Epsilon,
    keep: &KeepView<'_>,
    marginals: &Marginals,
) -> LeastDelta {
    let ((up_n, up_d), (low_n, low_d)) = (upper.odds(), lower.odds());
    let caps: Vec<Wide> = marginals.range.iter().map(|r| r[0].0 * wide(up_n)).collect();
    let needs: Vec<Wide> = marginals.range.iter().map(|r| r[1].0 * wide(low_d)).collect();
    let (by_cap, by_need) = (ByLift::new(keep, &caps), ByLift::new(keep, &needs));
    let total_need = by_need.mass[needs.len()];
    let total_base = by_need.base[needs.len()];
    let (mut rise, mut fall) = (Largest::default(), Largest::default());
    for x in 0..keep.inputs() {
        let rest = Wide::from(keep.rest(x)) << marginals.scale;
        let own = Wide::from(keep.own(x)) << marginals.scale;
        let base = Wide::from(keep.base(x));
        let at = Some(x as u32);

        let factor = rest * wide(up_d);
        let count = by_cap.below(factor, keep, &caps);
        let all = factor * by_cap.base[count] - by_cap.mass[count];
        let others = all - (factor * base).saturating_sub(caps[x]);
        let above = others + (own * wide(up_d)).saturating_sub(caps[x]);
        rise.see(above, Cell { high: at, ..Cell::default() });

        let factor = rest * wide(low_n);
        let count = by_need.below(factor, keep, &needs);
        let all = total_need - by_need.mass[count] - factor * (total_base - by_need.base[count]);
        let others = all - needs[x].saturating_sub(factor * base);
        let below = others + needs[x].saturating_sub(own * wide(low_n));
        fall.see(below, Cell { low: at, ..Cell::default() });
    }
    worse(rise, up_d, fall, low_d, 88 + marginals.scale)
}

/// With c = rest(x) - E rest(x'), the excess of row x over E times row x' is
/// (λ(x) + c base(x))_+ for c <= 0 and λ(x) + c (1 - base(x')) for c > 0.
///
/// In the first case the best partner is the most kept input, whatever its c: for c > 0 the first
/// expression is below the second. In the second, for a given x' the excess grows with λ(x), so
/// the best partner is the most kept x that still has c > 0.
fn keep_ldp(epsilon: Epsilon, keep: &KeepView<'_>) -> LeastDelta {
    let (n, d) = (i128::from(epsilon.odds().0), i128::from(epsilon.odds().1));
    let rest = |x: usize| i128::from(keep.rest(x));
    let kept = |x: usize| (1i128 << 40) - rest(x);
    let base = |x: usize| i128::from(keep.base(x));
    let order = keep.by_rest();
    let mut largest = Largest::default();
    let mut see = |excess: i128, x: usize, z: usize| {
        let cell = Cell { high: Some(x as u32), low: Some(z as u32), ..Cell::default() };
        largest.see(Wide::from(excess.max(0).unsigned_abs()), cell);
    };
    for x in 0..keep.inputs() {
        if let Some(z) = order.iter().map(|&z| z as usize).find(|&z| z != x) {
            see(d * (kept(x) << 48) + (d * rest(x) - n * rest(z)) * base(x), x, z);
        }
        // As x': the first input in the order of rest with d·rest > n·rest(x').
        let z = x;
        let first = order.partition_point(|&x| d * rest(x as usize) <= n * rest(z));
        if let Some(&x) = order.get(first) {
            let x = x as usize;
            let gap = d * rest(x) - n * rest(z);
            see(d * (kept(x) << 48) + gap * ((1 << 48) - base(z)), x, z);
        }
    }
    largest.over(wide(epsilon.odds().1) << 88)
}

#[cfg(test)]
mod tests {
    use super::{Cell, Largest, Ratio, Wide};

    /// Not even an excess of nought is allowed where the unit is lost.
    #[test]
    fn an_excess_over_nothing_has_no_bound() {
        assert_eq!(Largest::default().over(Wide::ZERO).ratio, Ratio::UNBOUNDED);
        let some = Largest { excess: Wide::from(1u64), cell: Cell::default() };
        assert_eq!(some.over(Wide::ZERO).ratio, Ratio::UNBOUNDED);
        assert_eq!(Largest::default().over(Wide::from(1u64)).ratio, Ratio::ZERO);
    }
}
