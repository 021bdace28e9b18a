//! What an observer can learn about one person: belief before and after one release.
//!
//! Computed from the policy's integers. The least and the most an observer can come to believe are
//! rounded outward, so they are bounds; where a closed form is too dear, bounds that follow from the
//! certificate take its place and [`Beliefs::attained`] says so.

mod blocks;
mod interval;
mod listed;
mod shortcut;
#[cfg(test)]
mod tests;

use interval::Interval;
use listed::Listed;
use undertone_core::{Context, Draft, Prior, PriorBox, Ratio, Shape, Strength, WEIGHT_ONE};

use crate::{Error, to_floats};

/// What a policy tells an observer.
#[derive(Debug, Clone, PartialEq)]
pub struct Risk {
    /// About the input; under no context, about anything whose probability is as listed.
    pub input: Beliefs,
    /// About the secret, where the context has one.
    pub secret: Option<Beliefs>,
    /// What each output says, for tables small enough to print.
    pub outputs: Vec<Reading>,
}

/// Every symbol's belief.
#[derive(Debug, Clone, PartialEq)]
pub struct Beliefs {
    /// One for each symbol; under no context, one for each of [`REFERENCE`].
    pub list: Vec<Belief>,
    /// Whether the ends are attained by some output and prior; otherwise they are bounds only.
    pub attained: bool,
    /// The largest factor by which the odds between two values can move, rounded up: e^LDP.
    /// Infinite if nothing bounds it.
    pub odds: f64,
}

/// Belief in one symbol, before and after one release.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Belief {
    /// The least probability the context gives it.
    pub before_least: f64,
    /// The greatest; the same under a single prior.
    pub before_most: f64,
    /// The least it can become.
    pub least: f64,
    /// The most it can become.
    pub most: f64,
    /// The output that does the most for it, where outputs are listed.
    pub most_after: Option<usize>,
    /// The output that does the least for it.
    pub least_after: Option<usize>,
}

/// One output, and what it says.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// The output.
    pub output: usize,
    /// Its probability under the prior.
    pub probability: f64,
    /// The belief in each input after it.
    pub posterior: Vec<f64>,
}

/// Beliefs for which a policy without a context is explained.
pub const REFERENCE: [f64; 7] = [0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9];

/// Tables with at most this many cells are read out output by output.
const READ_OUT: usize = 1 << 12;
/// Boxes are searched exactly up to this many steps.
const BOX_STEPS: usize = 1 << 26;
/// Vectors of up to this many bits are listed.
const LISTED_BITS: usize = 12;

impl Risk {
    /// Reads the risk off a draft, verified or not.
    pub fn of(draft: &Draft) -> Result<Self, Error> {
        let (shape, context) = (draft.shape(), draft.context());
        let (strength, secret_strength) = draft.strength();
        let odds = odds_up(&strength);
        let mut secret = None;
        let input = match context {
            Context::Unknown => {
                let list = REFERENCE.iter().map(|&p| within_odds(p, p, odds)).collect();
                Beliefs { list, attained: false, odds }
            }
            Context::Known(prior) => under(shape, &weights(prior), &strength),
            Context::Each(priors) => {
                let each = priors.as_slice().iter();
                let each: Vec<_> =
                    each.map(|prior| under(shape, &weights(prior), &strength)).collect();
                let attained = each.iter().all(|beliefs| beliefs.attained);
                Beliefs { list: hull(each.into_iter().map(|beliefs| beliefs.list)), attained, odds }
            }
            Context::Within(within) => in_box(shape, within, &strength),
            Context::Secret(context) => {
                let before = weights(context.prior());
                let rows: Vec<_> = context.rows().iter().map(weights).collect();
                if let Some(strength) = &secret_strength {
                    secret = Some(about_secret(shape, &before, &rows, strength));
                }
                let data = listed::blend(&before, &rows);
                under(shape, &data, &strength)
            }
        };
        Ok(Self { input, secret, outputs: readings(draft)? })
    }
}

/// The beliefs about the input under one prior.
fn under(shape: &Shape, prior: &[Interval], strength: &Strength) -> Beliefs {
    let list = match shape {
        Shape::Table(table) => Some(Listed::table(table).beliefs(prior)),
        Shape::Keep(keep) => Some(shortcut::keep(keep, prior)),
        Shape::Bits(bits) => Some(shortcut::bits(bits, prior)),
        Shape::Incidence(incidence) => blocks::under(incidence, prior),
    };
    let attained = list.is_some();
    let list = list.unwrap_or_else(|| certified(prior, prior, strength));
    Beliefs { list, attained, odds: odds_up(strength) }
}

/// The beliefs about the secret.
fn about_secret(
    shape: &Shape,
    before: &[Interval],
    rows: &[Vec<Interval>],
    strength: &Strength,
) -> Beliefs {
    let pushed = match shape {
        Shape::Table(table) => Some(Listed::table(table).pushed(rows)),
        Shape::Keep(keep) => Some(shortcut::keep_pushed(keep, rows)),
        Shape::Bits(bits) if bits.symbols() <= LISTED_BITS => Some(Listed::bits(bits).pushed(rows)),
        Shape::Bits(_) => None,
        Shape::Incidence(incidence) => {
            blocks::listed(incidence, rows.len()).map(|listed| listed.pushed(rows))
        }
    };
    let attained = pushed.is_some();
    let list = match pushed {
        Some(pushed) => pushed.beliefs(before),
        None => certified(before, before, strength),
    };
    Beliefs { list, attained, odds: odds_up(strength) }
}

/// The beliefs under any prior of a box.
fn in_box(shape: &Shape, within: &PriorBox, strength: &Strength) -> Beliefs {
    let ends = |units: &[u64]| -> Vec<Interval> { units.iter().map(|&w| weight(w)).collect() };
    let (lower, upper) = (ends(within.lower()), ends(within.upper()));
    let steps = shape.inputs().saturating_mul(shape.inputs()).saturating_mul(shape.outputs());
    let list = match shape {
        Shape::Bits(bits) => Some(shortcut::bits_in_box(bits, &lower, &upper)),
        Shape::Incidence(incidence) => blocks::listed(incidence, shape.inputs())
            .map(|listed| listed.box_beliefs(&lower, &upper)),
        _ if steps > BOX_STEPS => None,
        Shape::Table(table) => Some(Listed::table(table).box_beliefs(&lower, &upper)),
        Shape::Keep(keep) => Some(Listed::keep(keep).box_beliefs(&lower, &upper)),
    };
    let attained = list.is_some();
    let list = list.unwrap_or_else(|| certified(&lower, &upper, strength));
    Beliefs { list, attained, odds: odds_up(strength) }
}

impl Belief {
    /// The probability before, if it is one number and not a range.
    pub fn before(&self) -> Option<f64> {
        let width = self.before_most - self.before_least;
        (width <= 1e-12 * self.before_most).then_some(self.before_most)
    }

    /// How many times over the belief can grow; 1 for what is impossible or certain before.
    pub fn rise(&self) -> f64 {
        if self.before_most > 0.0 { self.most / self.before_most } else { 1.0 }
    }

    /// How many times over it can shrink; infinite if it can be ruled out.
    pub fn fall(&self) -> f64 {
        if self.before_least > 0.0 { self.before_least / self.least } else { 1.0 }
    }
}

impl Beliefs {
    /// The `count` symbols an observer learns most about, in the alphabet's order.
    pub fn worst(&self, count: usize) -> Vec<usize> {
        let mut order = self.by_factor(|belief| belief.rise().max(belief.fall()));
        order.truncate(count);
        order.sort_unstable();
        order
    }

    /// The symbol whose belief can rise by the largest factor, if any can rise.
    pub fn steepest_rise(&self) -> Option<usize> {
        self.by_factor(Belief::rise).first().copied().filter(|&x| self.list[x].rise() > 1.0)
    }

    /// The symbol whose belief can fall by the largest factor, if any can fall.
    pub fn steepest_fall(&self) -> Option<usize> {
        self.by_factor(Belief::fall).first().copied().filter(|&x| self.list[x].fall() > 1.0)
    }

    /// All symbols, the largest factor first; where factors differ by rounding only, the likelier
    /// symbol first.
    fn by_factor(&self, factor: impl Fn(&Belief) -> f64) -> Vec<usize> {
        let step = |belief: &Belief| (1e6 * factor(belief).ln()).round();
        let steps: Vec<f64> = self.list.iter().map(step).collect();
        let mut order: Vec<usize> = (0..self.list.len()).collect();
        order.sort_by(|&a, &b| {
            let likelier = self.list[b].before_most.total_cmp(&self.list[a].before_most);
            steps[b].total_cmp(&steps[a]).then(likelier).then(a.cmp(&b))
        });
        order
    }
}

fn weight(units: u64) -> Interval {
    Interval::exact(units as f64 / WEIGHT_ONE as f64)
}

fn weights(prior: &Prior) -> Vec<Interval> {
    prior.weights().iter().map(|&w| weight(w)).collect()
}

/// A ratio rounded up to a float; infinite where it is unbounded or does not fit.
fn ratio_up(ratio: Ratio) -> f64 {
    match ratio.scaled_up(30) {
        u64::MAX => f64::INFINITY,
        scaled => (scaled as f64).next_up() / f64::from(1u32 << 30),
    }
}

fn odds_up(strength: &Strength) -> f64 {
    ratio_up(strength.ldp.ratio)
}

/// All a likelihood ratio allows: the odds for and against move by at most a factor `odds`.
fn within_odds(before_least: f64, before_most: f64, odds: f64) -> Belief {
    let (low, high) = (Interval::exact(before_least), Interval::exact(before_most));
    let belief = Belief {
        before_least,
        before_most,
        least: 0.0,
        most: if before_most > 0.0 { 1.0 } else { 0.0 },
        most_after: None,
        least_after: None,
    };
    if odds.is_infinite() {
        return Belief { least: if before_least == 1.0 { 1.0 } else { 0.0 }, ..belief };
    }
    let odds = Interval::exact(odds);
    let most = (high * odds).share_of(high.complement());
    let least = low.share_of(low.complement() * odds);
    Belief { least: least.low, most: most.high, ..belief }
}

/// What the certificate alone implies: the lifts and the likelihood ratio, whichever says more.
fn certified(lower: &[Interval], upper: &[Interval], strength: &Strength) -> Vec<Belief> {
    let rise = strength.upper.map_or(f64::INFINITY, |worst| ratio_up(worst.ratio));
    let fall = strength.lower.map_or(f64::INFINITY, |worst| ratio_up(worst.ratio));
    let odds = odds_up(strength);
    lower
        .iter()
        .zip(upper)
        .map(|(lower, upper)| {
            let bounds = within_odds(lower.low, upper.high, odds);
            let most = if upper.high > 0.0 { (*upper * Interval::exact(rise)).high } else { 0.0 };
            let least = lower.over(Interval::exact(fall)).low;
            Belief { most: bounds.most.min(most), least: bounds.least.max(least), ..bounds }
        })
        .collect()
}

/// The widest range over several priors.
fn hull(mut lists: impl Iterator<Item = Vec<Belief>>) -> Vec<Belief> {
    let first = lists.next().unwrap_or_default();
    lists.fold(first, |seen, next| seen.into_iter().zip(next).map(|(a, b)| wider(a, b)).collect())
}

fn wider(a: Belief, b: Belief) -> Belief {
    let (most, most_after) =
        if b.most > a.most { (b.most, b.most_after) } else { (a.most, a.most_after) };
    let (least, least_after) =
        if b.least < a.least { (b.least, b.least_after) } else { (a.least, a.least_after) };
    Belief {
        before_least: a.before_least.min(b.before_least),
        before_most: a.before_most.max(b.before_most),
        least,
        most,
        most_after,
        least_after,
    }
}

/// What each output says, for a small table under one prior.
fn readings(draft: &Draft) -> Result<Vec<Reading>, Error> {
    let shape = draft.shape();
    let small = matches!(shape, Shape::Table(_)) && shape.inputs() * shape.outputs() <= READ_OUT;
    let Some(prior) = to_floats::prior(draft.context())?.filter(|_| small) else {
        return Ok(Vec::new());
    };
    let channel = to_floats::channel(shape)?;
    let read = |output: usize| {
        let joint: Vec<f64> = (0..prior.len()).map(|x| prior[x] * channel.q(x, output)).collect();
        let probability: f64 = joint.iter().sum();
        let posterior = joint.iter().map(|v| v / probability).collect();
        (probability > 0.0).then_some(Reading { output, probability, posterior })
    };
    Ok((0..channel.outputs()).filter_map(read).collect())
}
