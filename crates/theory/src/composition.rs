//! Several releases about the same datum: what they leak together.
//!
//! LIP does not add up: two ε-LIP releases can leak more than 2ε (uniform binary, ε = 1: 2.336).
//! Three answers are given for releases that keep ε_1..ε_n-LIP each, symmetric or not: the published
//! bound (JSTL21 Theorem 4), a sharper closed form, and the exact worst case over all mechanisms
//! with the lift vectors that attain it. [`given()`] is the answer for known channels, and [`family()`]
//! the one for mechanisms that keep their promise under several priors (JSTL21 Corollary 4).
//!
//! **What is covered.** Releases independent of each other given x, each keeping its promise under
//! the original prior. The later mechanism may be chosen after seeing earlier outputs: for every
//! sequence of outputs the joint likelihood is still a product of one allowed lift vector per
//! release. Not covered: a later mechanism whose promise is relative to the posterior so far
//! (those do add up, by the chain rule), and releases that share randomness.

mod family;
mod given;
mod relax;
mod search;
mod view;

pub(crate) use family::exact_ldp;
pub use family::{FamilyComposition, family};
pub use given::{Leakage, given};
pub(crate) use given::{columns, each_output, log_ratios};

use crate::relation::audited::TOLERANCE;
use relax::Open;
use undertone_design::extremal::{self, LiftRange};
use undertone_design::{Channel, Distribution, Error};
use view::View;

/// Σ(ε_lower + ε_upper) beyond which products leave the range of floats.
pub const MAX_TOTAL_EPSILON: f64 = 700.0;

/// Above this many symbols the exact worst case is not attempted.
const MAX_SYMBOLS: usize = 64;

/// Whether the observer's belief in the symbol rises or falls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Posterior above prior: a max-lift.
    Raised,
    /// Posterior below prior: a min-lift.
    Lowered,
}

/// What releases under given promises can leak together.
#[derive(Debug, Clone, PartialEq)]
pub struct Composition {
    /// JSTL21 Theorem 4 as printed; true but loose.
    pub published: f64,
    /// The sharper closed form, see [`sharpened`].
    pub sharpened: f64,
    /// The exact worst case over all mechanisms, unless the search would be too large or floats cannot
    /// confirm it.
    pub exact: Option<WorstCase>,
}

/// The largest joint leakage any mechanisms can reach, and how.
#[derive(Debug, Clone, PartialEq)]
pub struct WorstCase {
    /// In nats; the supremum is attained.
    pub leakage: f64,
    /// The symbol whose belief moves furthest.
    pub symbol: usize,
    /// In which direction.
    pub side: Side,
    /// One lift vector per release; their product, rescaled, has the leakage above.
    pub lifts: Vec<Vec<f64>>,
}

impl WorstCase {
    /// Channels that keep the promises and attain the worst case on their first outputs.
    pub fn channels(&self, ranges: &[LiftRange]) -> Result<Vec<Channel>, Error> {
        if ranges.len() != self.lifts.len() {
            return Err(Error::Size {
                what: "the list of promises".into(),
                expected: self.lifts.len(),
                found: ranges.len(),
            });
        }
        let pairs = self.lifts.iter().zip(ranges);
        pairs.map(|(lift, range)| extremal::witness(lift, range.low(), range.high())).collect()
    }
}

/// All answers for releases under the promises `ranges`; `exact` is absent where it is too large or cannot be
/// confirmed.
pub fn compose(prior: &Distribution, ranges: &[LiftRange]) -> Result<Composition, Error> {
    let exact = match worst_case(prior, ranges) {
        Ok(worst) => Some(worst),
        Err(error) if error.leaves_a_bound() => None,
        Err(other) => return Err(other),
    };
    Ok(Composition {
        published: published(prior.min(), ranges)?,
        sharpened: sharpened(prior, ranges)?,
        exact,
    })
}

/// JSTL21 Theorem 4 as printed: ln(p + (1-p) Π_k min{E_k², (E_k - 1 + p)/p}), p = min P(x).
///
/// An asymmetric promise enters with the larger of its two ε. A symbol without mass (p = 0) leaves
/// 2 Σ ε_k.
pub fn published(p_min: f64, ranges: &[LiftRange]) -> Result<f64, Error> {
    if !(0.0..=1.0).contains(&p_min) {
        return Err(Error::range("the smallest prior probability", p_min, "between 0 and 1"));
    }
    let total = ranges.iter().map(|range| printed_ldp(p_min, range.epsilon())).sum();
    Ok(ldp_to_lip(p_min, total))
}

/// min{2ε, ln((e^ε - 1 + p)/p)}, the LDP level JSTL21 Proposition 1 gives an ε-LIP release.
pub(crate) fn printed_ldp(p_min: f64, epsilon: f64) -> f64 {
    (2.0 * epsilon).min((epsilon.exp_m1() / p_min).ln_1p())
}

/// ln(p + (1-p) e^ε): what ε-LDP means for LIP when every symbol has mass at least p. Safe for any ε.
pub(crate) fn ldp_to_lip(p_min: f64, epsilon: f64) -> f64 {
    if p_min >= 1.0 { 0.0 } else { epsilon + (p_min * (-epsilon).exp() + (1.0 - p_min)).ln() }
}

/// A closed form between the exact worst case and the published bound.
///
/// From the view of a symbol x (module `view`): its joint lift is 1/(P(x) + f) with
/// f = Σ_{z≠x} P(z) Π_k r_k(z), each r_k(z) in [low_k, high_k] with a fixed mean m_k over z. Treat z
/// as a random variable with law P(z)/(1-P(x)) and forget which values of z exist.
///
/// * f is largest when the r_k are two-valued and rise together: the product is supermodular, so
///   nested events {r_k = high_k} with probabilities t_k = (m_k - low_k)/(high_k - low_k) maximise
///   its mean (the concave envelope of the product, and Jensen's inequality over z).
/// * f is at least (1-P(x)) Π_k low_k^(1-t_k) high_k^(t_k): Jensen for the exponential, then the
///   chord of the concave logarithm. The convex envelope itself (module `relax`) is used where it is
///   larger; for n equal releases it is the interpolation of low^(n-j) high^j at j = n·t.
///
/// high_k never exceeds L(x)·min{E_k², (E_k - 1 + p)/p}, and with all r_k at their ends this is
/// Theorem 4's own argument, so the result never exceeds the published bound. It is exact for n = 1.
pub fn sharpened(prior: &Distribution, ranges: &[LiftRange]) -> Result<f64, Error> {
    check_total(ranges)?;
    let mut masses = prior.as_slice().to_vec();
    masses.sort_by(f64::total_cmp);
    // The mass of everything above each symbol in the order, by additions only.
    let mut above = vec![0.0; masses.len() + 1];
    for at in (0..masses.len()).rev() {
        above[at] = above[at + 1] + masses[at];
    }
    let positive = masses.iter().position(|&p| p > 0.0).unwrap_or(0);
    let (mut most, mut below) = (0.0f64, 0.0);
    for (at, &mass) in masses.iter().enumerate() {
        let rest = below + above[at + 1];
        below += mass;
        if at > 0 && masses[at - 1] == mass {
            continue;
        }
        // The least positive mass among the symbols other than this one.
        let other = masses.get(if at == positive { positive + 1 } else { positive }).copied();
        for side in [Side::Raised, Side::Lowered] {
            let view = View::merged(ranges, (mass, rest), other, side);
            most = most.max(view.leakage(merged_limit(&view)));
        }
    }
    Ok(most)
}

/// The extreme of f when all other symbols are one random variable.
fn merged_limit(view: &View) -> f64 {
    let Some(&rest) = view.masses.first().filter(|rest| **rest > 0.0) else { return 0.0 };
    // (t, low, high) for every release.
    let mut values: Vec<(f64, f64, f64)> = Vec::new();
    for (_, group) in view.sequence() {
        let (low, high) = (group.low[0], group.high[0]);
        let t = if high > low { (group.budget / rest - low) / (high - low) } else { 0.0 };
        values.push((t.clamp(0.0, 1.0), low, high));
    }
    match view.side {
        Side::Lowered => {
            values.sort_by(|a, b| a.0.total_cmp(&b.0));
            // Between consecutive probabilities, the releases with larger ones are high.
            let product = |j: usize| {
                let high: f64 = values[j..].iter().map(|v| v.2).product();
                high * values[..j].iter().map(|v| v.1).product::<f64>()
            };
            let ends = values.iter().map(|v| v.0).chain([1.0]).enumerate();
            let mut before = 0.0;
            let mut sum = 0.0;
            for (j, end) in ends {
                sum += (end - before) * product(j);
                before = end;
            }
            rest * sum
        }
        Side::Raised => {
            let log: f64 = values.iter().map(|&(t, l, h)| (1.0 - t) * l.ln() + t * h.ln()).sum();
            let open: Vec<Open<'_>> = view
                .groups
                .iter()
                .map(|group| Open { group, count: group.releases.len() })
                .collect();
            (rest * log.exp()).max(relax::least(&[rest], &[rest], &open))
        }
    }
}

/// The exact worst case over all mechanisms that keep the promises, with the vectors that attain it.
///
/// Products of extremal lift vectors, renormalised by Σ P·L; most of them are never formed (modules
/// `view` and `search`). A refusal as too large leaves [`sharpened`] as the way out.
pub fn worst_case(prior: &Distribution, ranges: &[LiftRange]) -> Result<WorstCase, Error> {
    check_total(ranges)?;
    let p = prior.as_slice();
    if p.len() > MAX_SYMBOLS {
        return Err(search::too_large("the prior", p.len(), MAX_SYMBOLS));
    }
    let mut views = Vec::new();
    for x in (0..p.len()).filter(|&x| !p[..x].contains(&p[x])) {
        for side in [Side::Raised, Side::Lowered] {
            let view = View::new(prior, ranges, x, side);
            let start = view.descend();
            views.push((view.leakage(start.f), view, start));
        }
    }
    // The most promising views first: what they find prunes the others.
    views.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut best: Option<(f64, usize, search::Found)> = None;
    for (at, (leakage, view, start)) in views.iter().enumerate() {
        if best.as_ref().is_none_or(|best| *leakage > best.0) {
            best = Some((*leakage, at, start.clone()));
        }
        let known = best.as_ref().map_or(*leakage, |best| best.0);
        if let Some(found) = view.search(known)? {
            best = Some((view.leakage(found.f), at, found));
        }
    }
    let Some((leakage, at, found)) = best else {
        return Err(Error::Empty { what: "the prior".into() });
    };
    let view = &views[at].1;
    let mut lifts = vec![vec![1.0; p.len()]; ranges.len()];
    for ((k, group), ratio) in view.sequence().zip(&found.ratios) {
        lifts[k][view.symbol] = group.at;
        for (&z, r) in view.others.iter().zip(ratio) {
            lifts[k][z] = (r * group.at).clamp(group.range.low(), group.range.high());
        }
    }
    let worst =
        WorstCase { leakage: leakage.max(0.0), symbol: view.symbol, side: view.side, lifts };
    let channels = worst.channels(ranges)?;
    let priors = std::slice::from_ref(prior);
    Ok(WorstCase { leakage: confirmed(worst.leakage, &channels, ranges, priors)?, ..worst })
}

/// The level claimed for these channels, once they are seen to keep their promises under every prior and to
/// attain it by their first outputs; raised to what they attain beyond it by rounding.
fn confirmed(
    claimed: f64,
    channels: &[Channel],
    ranges: &[LiftRange],
    priors: &[Distribution],
) -> Result<f64, Error> {
    let mut likelihood = vec![1.0; priors.first().map_or(0, Distribution::len)];
    let mut kept = true;
    for (channel, range) in channels.iter().zip(ranges) {
        for prior in priors {
            kept &= range.keeps(prior, channel, TOLERANCE)?;
        }
        likelihood.iter_mut().zip(channel.column(0)).for_each(|(v, q)| *v *= q);
        let top = likelihood.iter().copied().fold(0.0, f64::max);
        likelihood.iter_mut().for_each(|v| *v /= top);
    }
    let reached = priors.iter().map(|prior| {
        let (raised, lowered) = given::lift_ends(prior, &likelihood);
        raised.max(lowered)
    });
    let reached = reached.fold(0.0, f64::max);
    if kept && (reached - claimed).abs() <= TOLERANCE * claimed {
        Ok(claimed.max(reached))
    } else {
        let fix = "use the sharpened bound".into();
        Err(Error::Unconfirmed { what: "the exact worst case of these releases".into(), fix })
    }
}

fn check_total(ranges: &[LiftRange]) -> Result<(), Error> {
    let total: f64 = ranges.iter().map(|r| r.epsilon_lower() + r.epsilon_upper()).sum();
    if total <= MAX_TOTAL_EPSILON {
        Ok(())
    } else {
        Err(Error::TooLarge {
            what: "the sum of all epsilons, both sides".into(),
            size: total as usize,
            limit: MAX_TOTAL_EPSILON as usize,
            fix: "use the published bound, which is computed in logarithms".into(),
        })
    }
}
