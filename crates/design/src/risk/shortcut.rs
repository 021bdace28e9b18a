//! Closed forms for the shapes whose channel is never written out.

use super::Belief;
use super::interval::Interval;
use super::listed::{Listed, base, feasible};
use undertone_core::{Bits, KEEP_ONE, Keep, WEIGHT_ONE};

/// `Keep` under one prior, in time linear in the alphabet.
///
/// After the output y != x, the posterior of x is P(x)(1-λ(x)) times b(y)/P(y), so only the two
/// largest and two smallest of those ratios matter; after y = x it is written out.
pub(super) fn keep(keep: &Keep, prior: &[Interval]) -> Vec<Belief> {
    let kept = |x: usize| Interval::exact(keep.keep()[x] as f64 / KEEP_ONE as f64);
    let redrawn: Vec<Interval> =
        prior.iter().enumerate().map(|(x, &p)| p * kept(x).complement()).collect();
    let total: Interval = redrawn.iter().copied().sum();
    let own: Vec<Interval> = prior.iter().enumerate().map(|(x, &p)| p * kept(x)).collect();
    let drawn: Vec<Option<Interval>> = (0..prior.len())
        .map(|y| {
            let law = own[y] + base(keep, y) * total;
            (law.high > 0.0).then(|| base(keep, y).over(law))
        })
        .collect();
    let best = two(&drawn, |ratio| ratio.high);
    let worst = two(&drawn, |ratio| -ratio.low);
    let elsewhere = |ends: &[usize], x: usize| ends.iter().copied().find(|&y| y != x);
    let belief = |x: usize| {
        let before = prior[x];
        let mut found = Belief {
            before_least: before.low,
            before_most: before.high,
            least: before.low,
            most: before.high,
            most_after: None,
            least_after: None,
        };
        let law = own[x] + base(keep, x) * total;
        let mut candidates = Vec::new();
        if law.high > 0.0 {
            candidates.push((x, (own[x] + base(keep, x) * redrawn[x]).over(law)));
        }
        for y in [elsewhere(&best, x), elsewhere(&worst, x)].into_iter().flatten() {
            if let Some(ratio) = drawn[y] {
                candidates.push((y, redrawn[x] * ratio));
            }
        }
        for (y, posterior) in candidates {
            if posterior.high > found.most {
                (found.most, found.most_after) = (posterior.high.min(1.0), Some(y));
            }
            if posterior.low < found.least {
                (found.least, found.least_after) = (posterior.low, Some(y));
            }
        }
        found
    };
    (0..prior.len()).map(belief).collect()
}

/// The outputs with the two largest scores.
fn two(ratios: &[Option<Interval>], score: impl Fn(Interval) -> f64) -> Vec<usize> {
    let mut ends: Vec<(f64, usize)> = Vec::with_capacity(3);
    for (y, ratio) in ratios.iter().enumerate() {
        let Some(ratio) = ratio else { continue };
        ends.push((score(*ratio), y));
        ends.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        ends.truncate(2);
    }
    ends.into_iter().map(|(_, y)| y).collect()
}

/// `Keep` seen from the secret: c(y|s) = P(y|s) λ(y) + b(y) Σ_x P(x|s)(1-λ(x)).
pub(super) fn keep_pushed(keep: &Keep, rows: &[Vec<Interval>]) -> Listed<'static> {
    let kept: Vec<Interval> =
        keep.keep().iter().map(|&k| Interval::exact(k as f64 / KEEP_ONE as f64)).collect();
    let redrawn: Vec<Interval> = rows
        .iter()
        .map(|row| row.iter().zip(&kept).map(|(&p, k)| p * k.complement()).sum())
        .collect();
    let column = |y: usize| {
        rows.iter().zip(&redrawn).map(|(row, &r)| row[y] * kept[y] + base(keep, y) * r).collect()
    };
    Listed::from_columns(rows.len(), (0..kept.len()).map(column).collect(), true)
}

/// Up to a common factor, the likelihoods of an input whose own bit speaks for it and of one whose
/// own bit speaks against it.
fn likelihoods(bits: &Bits) -> (Interval, Interval) {
    if bits.own() == bits.other() {
        return (Interval::exact(1.0), Interval::exact(1.0));
    }
    let probability = |units: u64| Interval::exact(units as f64 / WEIGHT_ONE as f64);
    let (p, q) = (probability(bits.own()), probability(bits.other()));
    let (set, clear) = (p * q.complement(), p.complement() * q);
    if bits.own() > bits.other() { (set, clear) } else { (clear, set) }
}

/// `Bits` under one prior: belief in x is highest when only its own bit speaks for its symbol, and
/// lowest when only its own does not.
pub(super) fn bits(bits: &Bits, prior: &[Interval]) -> Vec<Belief> {
    prior.iter().map(|&p| bits_belief(bits, (p.low, p.high))).collect()
}

/// `Bits` under all priors of a box: the range of every input's posterior.
pub(super) fn bits_in_box(bits: &Bits, lower: &[Interval], upper: &[Interval]) -> Vec<Belief> {
    let ends: Vec<(f64, f64)> = lower.iter().zip(upper).map(|(l, u)| (l.low, u.high)).collect();
    feasible(&ends).into_iter().map(|reach| bits_belief(bits, reach)).collect()
}

fn bits_belief(bits: &Bits, (before_least, before_most): (f64, f64)) -> Belief {
    let (high, low) = likelihoods(bits);
    let after = |before: f64, own: Interval, others: Interval| {
        let before = Interval::exact(before);
        (before * own).share_of(before.complement() * others)
    };
    Belief {
        before_least,
        before_most,
        least: after(before_least, low, high).low.min(before_least),
        most: after(before_most, high, low).high.max(before_most),
        most_after: None,
        least_after: None,
    }
}
