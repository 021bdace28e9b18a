//! Exact strength of the shape `Bits`, whose 2^k outputs are never listed.
//!
//! Up to a factor common to all inputs, the likelihood of x given a vector of bits is `high` if the
//! bit of x speaks for it and `low` if it speaks against it; which symbols have a speaking bit is
//! an arbitrary set. So every extreme is a question about sets, answered in closed form.

use crate::certificate::{Cell, NOTHING, Strength, keep_worst};
use crate::context::{Context, Secret};
use crate::likelihood::Extremes;
use crate::mass::{MASS_ONE, Prior, WEIGHT_ONE};
use crate::ratio::Ratio;
use crate::shape::Bits;
use crate::transcript::Factor;
use crate::wide::Wide;
use alloc::vec::Vec;
use core::cmp::Ordering;

/// How much the input leaks. For x the worst set is {x} or its complement, and the lighter x is in the
/// prior, the worse.
pub(crate) fn strength(bits: &Bits, context: &Context) -> Strength {
    let known = !matches!(context, Context::Unknown);
    of_weights(bits, known, |x| least_weight(context, x))
}

/// How much the input leaks under a prior in units of 2^-48.
pub(crate) fn strength_under(bits: &Bits, weights: &[u64]) -> Strength {
    let one = Wide::from(MASS_ONE);
    of_weights(bits, true, |x| (Wide::from(weights[x]), one, None))
}

/// `weight` gives the weight of x, one in the same unit, and which prior that is.
fn of_weights(
    bits: &Bits,
    known: bool,
    weight: impl Fn(usize) -> (Wide, Wide, Option<u32>),
) -> Strength {
    let (high, low) = bits.likelihoods();
    let (high, low) = (Wide::from(high), Wide::from(low));
    let (mut ldp, mut upper, mut lower) = (NOTHING, NOTHING, NOTHING);
    if bits.symbols() > 1 {
        let cell = Cell { output: Some(0), high: Some(0), low: Some(1), prior: None };
        keep_worst(&mut ldp, high, low, cell);
    }
    // Where other bits are never (or always) set, no two of them speak for their symbols at once: belief in x falls at
    // the pattern of another symbol, not at the complement of its own.
    let apart = [0, WEIGHT_ONE].contains(&bits.other());
    for x in (0..bits.symbols()).filter(|_| known) {
        let (weight, one, prior) = weight(x);
        let rest = one - weight;
        let here = Some(x as u32);
        let cell = Cell { output: here, high: here, low: None, prior };
        keep_worst(&mut upper, high * one, weight * high + rest * low, cell);
        let output = if apart { None } else { here };
        let cell = Cell { output, high: None, low: here, prior };
        keep_worst(&mut lower, weight * low + rest * high, low * one, cell);
    }
    Strength { ldp, upper: known.then_some(upper), lower: known.then_some(lower), exact: true }
}

/// The smallest weight of x over the context's priors, one in the same unit, and which prior. Where no prior says
/// otherwise that is nought, the worst.
fn least_weight(context: &Context, x: usize) -> (Wide, Wide, Option<u32>) {
    let unit = Wide::from(WEIGHT_ONE);
    match context {
        Context::Unknown => (Wide::ZERO, unit, None),
        Context::Known(prior) => (Wide::from(prior.weights()[x]), unit, None),
        Context::Each(priors) => {
            let weights = priors.as_slice().iter().map(|p| p.weights()[x]);
            let (at, least) = weights.enumerate().min_by_key(|&(_, w)| w).unwrap_or((0, 0));
            (Wide::from(least), unit, Some(at as u32))
        }
        Context::Within(within) => (Wide::from(within.least(x)), unit, None),
        Context::Secret(secret) => (data_weight(secret, x), unit * unit, None),
    }
}

/// P(x) = Σ_s P(s) P(x|s), in units of 2^-64.
fn data_weight(secret: &Secret, x: usize) -> Wide {
    let weights = secret.prior().weights().iter();
    weights
        .zip(secret.rows())
        .fold(Wide::ZERO, |sum, (&p, row)| sum + Wide::from(p) * Wide::from(row.weights()[x]))
}

/// P(x) for every x, in units of 2^-64.
pub(crate) fn data_weights(secret: &Secret) -> Vec<Wide> {
    let size = secret.rows().first().map_or(0, |row| row.len());
    (0..size).map(|x| data_weight(secret, x)).collect()
}

/// The largest posterior odds between two inputs, up to a common factor: the heaviest input with its
/// bit for it against the lightest with its bit against it.
pub(crate) fn weighted_extremes(bits: &Bits, weights: &[u64]) -> Option<Extremes> {
    let (high, low) = bits.likelihoods();
    heaviest_and_lightest(high, low, weights)
}

/// The heaviest input times `high` and the lightest times `low`.
pub(crate) fn heaviest_and_lightest(high: u128, low: u128, weights: &[u64]) -> Option<Extremes> {
    // With one symbol there are no two inputs.
    let weighed = || weights.iter().copied().enumerate().filter(|_| weights.len() > 1);
    let (heaviest, most) = weighed().max_by_key(|&(_, weight)| weight)?;
    let (lightest, least) = weighed().min_by_key(|&(_, weight)| weight)?;
    Some(Extremes {
        high: (Wide::from(most) * Wide::from(high), heaviest),
        low: (Wide::from(least) * Wide::from(low), lightest),
    })
}

/// How much the secret leaks. A ratio (l + D a(A)) / (l + D b(A)) of two measures of a set A is largest
/// at a set of the form {x: a(x) > t b(x)}, so only prefixes of the order by a/b are tried.
pub(crate) fn secret_strength(bits: &Bits, secret: &Secret) -> Strength {
    let (high, low) = bits.likelihoods();
    let gap = Wide::from(high - low);
    let low = Wide::from(low);
    let unit = Wide::from(WEIGHT_ONE);
    let data = data_weights(secret);
    let rows: Vec<Vec<Wide>> = secret
        .rows()
        .iter()
        .map(|row| row.weights().iter().map(|&w| Wide::from(w) * unit).collect())
        .collect();
    let (mut ldp, mut upper, mut lower) = (NOTHING, NOTHING, NOTHING);
    let floor = low * unit * unit;
    let worst_set = |a: &[Wide], b: &[Wide], worst: &mut _, cell: Cell| {
        let mut order: Vec<usize> = (0..a.len()).collect();
        order.sort_by(|&x, &z| by_ratio(a, b, x, z));
        let (mut sum_a, mut sum_b) = (Wide::ZERO, Wide::ZERO);
        for x in order {
            sum_a += a[x];
            sum_b += b[x];
            keep_worst(worst, floor + gap * sum_a, floor + gap * sum_b, cell);
        }
    };
    for (s, row) in rows.iter().enumerate() {
        let here = Some(s as u32);
        worst_set(row, &data, &mut upper, Cell { high: here, ..Cell::default() });
        worst_set(&data, row, &mut lower, Cell { low: here, ..Cell::default() });
        for (t, other) in rows.iter().enumerate().filter(|&(t, _)| t != s) {
            let cell = Cell { high: here, low: Some(t as u32), ..Cell::default() };
            worst_set(row, other, &mut ldp, cell);
        }
    }
    Strength { ldp, upper: Some(upper), lower: Some(lower), exact: true }
}

/// Descending by a/b; 0/0 last, where it cannot matter.
fn by_ratio(a: &[Wide], b: &[Wide], x: usize, z: usize) -> Ordering {
    let empty = |at: usize| a[at].is_zero() && b[at].is_zero();
    empty(x).cmp(&empty(z)).then_with(|| (a[z] * b[x]).cmp(&(a[x] * b[z])))
}

/// How much a sequence of releases tells about a secret when its next output multiplies each symbol's
/// likelihood by `high` or by `low`, for an arbitrary set of symbols; `factor` is the likelihood of what
/// was released before.
pub(crate) fn secret_ldp(
    high: u128,
    low: u128,
    secret: &Secret,
    factor: Option<&Factor>,
    exact: &mut bool,
) -> Ratio {
    let (gap, low) = (Wide::from(high - low), Wide::from(low));
    let times = |row: &Prior, ends: Option<&[Wide]>| -> Vec<Wide> {
        let weights = row.weights().iter().map(|&weight| Wide::from(weight)).enumerate();
        weights.map(|(x, weight)| ends.map_or(weight, |ends| weight * ends[x])).collect()
    };
    let sum = |entries: &[Wide]| entries.iter().fold(Wide::ZERO, |sum, &entry| sum + entry);
    let mut worst = Ratio::ONE;
    for (s, above) in secret.rows().iter().enumerate() {
        for (_, below) in secret.rows().iter().enumerate().filter(|&(t, _)| t != s) {
            let (raw_above, raw_below) = (times(above, None), times(below, None));
            let upper = times(above, factor.map(Factor::upper));
            let lower = times(below, factor.map(|factor| factor.lower.as_slice()));
            let mut order: Vec<usize> = (0..upper.len()).collect();
            order.sort_by(|&x, &z| by_ratio(&raw_above, &raw_below, x, z));
            let (mut top, mut bottom) = (low * sum(&upper), low * sum(&lower));
            for x in order {
                top += gap * upper[x];
                bottom += gap * lower[x];
                let (numerator, denominator, kept) = Ratio::narrow_up(top, bottom);
                *exact &= kept;
                worst = Ratio::new(numerator, denominator).map_or(worst, |ratio| ratio.max(worst));
            }
        }
    }
    worst
}

#[cfg(test)]
mod tests {
    use super::{Context, WEIGHT_ONE, Wide, least_weight};

    /// A weight of one would make every belief certain already, and no lift too large.
    #[test]
    fn without_a_prior_a_symbol_may_weigh_nothing() {
        let (weight, one, _) = least_weight(&Context::Unknown, 0);
        assert_eq!((weight, one), (Wide::ZERO, Wide::from(WEIGHT_ONE)));
    }
}
