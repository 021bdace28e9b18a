//! The prior was wrong: what a mechanism designed for P1 leaks when the data follow P2.
//!
//! Four answers for a mechanism that is ε-LIP under P1: the published bound (JSTL21 Lemma 3 and
//! (12)), the density ratio, a bound free of the smallest probability, and the exact worst case over
//! all such mechanisms. For a known channel, audit it under P2 ([`of_channel`]), under an estimate's
//! confidence ball or under a box of priors ([`LeakageOver`]).
//!
//! Zero-mass symbols: the promise under P1 is taken to hold for symbols P1 gives no mass. Without
//! that nothing could be said about a P2 that has them. Bounds that divide by a mass are infinite
//! when it is zero; the others and the exact value stay finite.

mod estimated;
mod family;
mod region;
mod worst;

pub use estimated::{Estimated, estimated, published_estimate_eta, published_radius};
pub use family::{FamilyTransfer, family};
pub use region::LeakageOver;
pub(crate) use worst::worst_case;

use crate::composition::{self, Leakage};
use crate::relation::audited::TOLERANCE;
use undertone_design::extremal::{self, LiftRange};
use undertone_design::measure::lip;
use undertone_design::{Channel, Distribution, Error};

/// What any mechanism that keeps a promise under P1 can leak under P2, in nats.
#[derive(Debug, Clone, PartialEq)]
pub struct Transfer {
    /// JSTL21 (12) as printed: min{η + ε, 2ε, ln((e^ε - 1 + p1)/p1)}; true but loose.
    pub published: f64,
    /// JSTL21 Lemma 3: ln(1 + TV/c), c the smallest mass of either prior.
    pub eta: f64,
    /// max |ln P1(x)/P2(x)|, never above η: the leakage is at most ε + ratio.
    pub ratio: f64,
    /// ε - ln(1 - 2 TV sinh ε), which needs no smallest mass; absent when TV is too large for it.
    pub prior_free: Option<f64>,
    /// The exact worst case over all mechanisms that keep the promise under P1; only an upper bound unless
    /// `confirmed`.
    pub exact: f64,
    /// Whether a channel built from the witness was measured to keep the promise under P1 and to leak `exact`
    /// under P2.
    pub confirmed: bool,
    /// Lifts under P1 of an output that attains it, in the order of P1's symbols.
    pub witness: Vec<f64>,
}

/// All four answers for a promise `range` made under `from` and tested under `to`, a law of the same
/// symbols in any order.
pub fn transfer(
    from: &Distribution,
    to: &Distribution,
    range: LiftRange,
) -> Result<Transfer, Error> {
    let to = &*to.in_order_of("the second prior", from.symbols())?;
    let eta = eta(from, to)?;
    let (exact, witness) = worst_case(from, to, range)?;
    let channel = extremal::witness(&witness, range.low(), range.high())?;
    let reached = lip::leakage(to, &channel)?.nats;
    let confirmed =
        range.keeps(from, &channel, TOLERANCE)? && (reached - exact).abs() <= TOLERANCE * exact;
    let published = published(from.min(), range.epsilon(), eta);
    let (ratio, distance) = (log_ratio(from, to)?, from.total_variation(to)?);
    let prior_free = prior_free(distance, range);
    // `exact` and `reached` are sums over all symbols: with 10^5 of them their noise is in the twelfth digit. The
    // bounds have hardly any, and nothing attains more than a bound.
    let least_bound = published.min(range.epsilon() + ratio).min(prior_free.unwrap_or(published));
    let exact = if confirmed { exact.max(reached) } else { exact };
    Ok(Transfer {
        published,
        eta,
        ratio,
        prior_free,
        exact: exact.min(least_bound),
        confirmed,
        witness,
    })
}

/// JSTL21 Lemma 3: η = ln(1 + TV/c), c the smaller of the two smallest masses. Infinite when c = 0
/// and the priors differ.
pub fn eta(from: &Distribution, to: &Distribution) -> Result<f64, Error> {
    Ok(eta_at(from.total_variation(to)?, from.min().min(to.min())))
}

fn eta_at(distance: f64, floor: f64) -> f64 {
    if distance == 0.0 {
        0.0
    } else if floor > 0.0 {
        (distance / floor).ln_1p()
    } else {
        f64::INFINITY
    }
}

/// JSTL21 (12) from Lemma 3's η and the smallest mass of the design prior.
fn published(p_min: f64, epsilon: f64, eta: f64) -> f64 {
    (eta + epsilon).min(composition::printed_ldp(p_min, epsilon))
}

/// max |ln P1(x)/P2(x)|; symbols without mass in both are skipped, in one only it is infinite.
pub fn log_ratio(from: &Distribution, to: &Distribution) -> Result<f64, Error> {
    let to = to.in_order_of("the second prior", from.symbols())?;
    let pairs = from.as_slice().iter().zip(to.as_slice());
    Ok(pairs.filter(|(a, b)| a != b).map(|(a, b)| (a / b).ln().abs()).fold(0.0, f64::max))
}

/// A bound from the total variation distance alone; absent when the distance is too large for it.
///
/// Σ P2 L = 1 + Σ (P2 - P1) L lies within TV·(high - low) of one, so a lift under P2 is at most
/// high/(1 - TV(high - low)) and at least low/(1 + TV(high - low)). For symmetric ε the first
/// dominates and reads ε - ln(1 - 2 TV sinh ε).
pub fn prior_free(distance: f64, range: LiftRange) -> Option<f64> {
    let shift = distance * (range.high() - range.low());
    let raised = range.epsilon_upper() - (-shift).ln_1p();
    let lowered = range.epsilon_lower() + shift.ln_1p();
    (shift < 1.0).then(|| raised.max(lowered))
}

/// The exact leakage under `to` of a known channel.
pub fn of_channel(to: &Distribution, channel: &Channel) -> Result<Leakage, Error> {
    composition::given(to, std::slice::from_ref(channel))
}

/// The δ that (ε,δ)-LIP, conditional convention, is left with at a distance TV: δ + e^ε·TV.
///
/// P(y) moves by at most TV in total, and enters a positive part with a factor of at most e^ε.
pub fn delta(epsilon: f64, delta: f64, distance: f64) -> Result<f64, Error> {
    for (what, value) in [("delta", delta), ("the total variation distance", distance)] {
        if !(0.0..=1.0).contains(&value) {
            return Err(Error::range(what, value, "between 0 and 1"));
        }
    }
    let range = LiftRange::symmetric(epsilon)?;
    Ok((delta + range.high() * distance).min(1.0))
}

/// The condition under which η + ε is the smallest of the three terms of (12).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SmallestTerm {
    /// The total variation distance of the two priors.
    pub distance: f64,
    /// JSTL21 Corollary 6 as printed: c(e^min(ε,Φ) - 1) with Φ = (e^ε - 1 + p1)/p1 - ε. False.
    pub printed_threshold: f64,
    /// JSTL21 Corollary 6 with the missing logarithm, Φ = ln((e^ε - 1 + p1)/p1) - ε: an equivalence.
    pub threshold: f64,
}

/// JSTL21 Corollary 6, as printed and corrected.
pub fn smallest_term(
    from: &Distribution,
    to: &Distribution,
    epsilon: f64,
) -> Result<SmallestTerm, Error> {
    let epsilon = LiftRange::symmetric(epsilon)?.epsilon();
    let floor = from.min().min(to.min());
    let odds = epsilon.exp_m1() / from.min();
    let threshold = |phi: f64| floor * epsilon.min(phi).exp_m1();
    Ok(SmallestTerm {
        distance: from.total_variation(to)?,
        printed_threshold: threshold(1.0 + odds - epsilon),
        threshold: threshold(odds.ln_1p() - epsilon),
    })
}
