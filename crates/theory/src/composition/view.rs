//! The worst-case problem as seen from one symbol.
//!
//! Fix a symbol x and whether its lift is to be raised or lowered. Releases with lift vectors
//! L_1..L_n give x the joint lift 1/(P(x) + f), where f = Σ_{z≠x} P(z) Π_k r_k(z) and
//! r_k(z) = L_k(z)/L_k(x). Raising x means making f small, lowering it means making f large.
//!
//! **L_k(x) is at its extreme.** Suppose L(x) < highest. Move the other coordinates towards `low`
//! and L(x) up so that Σ P L = 1 still holds: no L(z) grows and L(x) does, so every r(z) falls and f
//! falls with them. Hence raising needs only vectors with L_k(x) = highest, and by the mirrored
//! argument lowering needs only L_k(x) = lowest. What is left is a slice: the other coordinates,
//! each in [low, high], with the fixed sum Σ_{z≠x} P(z) L_k(z) = 1 - P(x) L_k(x).

use super::Side;
use undertone_design::Distribution;
use undertone_design::extremal::LiftRange;

/// Equal releases, with their slice in units of L(x).
#[derive(Debug, Clone)]
pub(super) struct Group {
    /// The promise they share.
    pub(super) range: LiftRange,
    /// Which releases they are.
    pub(super) releases: Vec<usize>,
    /// L(x), the same for all of them.
    pub(super) at: f64,
    /// Σ_{z≠x} P(z) r(z).
    pub(super) budget: f64,
    /// The smallest r(z), one per other symbol.
    pub(super) low: Vec<f64>,
    /// The largest r(z), one per other symbol.
    pub(super) high: Vec<f64>,
}

/// Everything the search needs about one symbol and one side.
#[derive(Debug, Clone)]
pub(super) struct View {
    pub(super) side: Side,
    pub(super) symbol: usize,
    /// P(x).
    pub(super) mass: f64,
    /// The other symbols that have mass; the rest never enter a sum.
    pub(super) others: Vec<usize>,
    /// Their masses.
    pub(super) masses: Vec<f64>,
    pub(super) groups: Vec<Group>,
}

impl View {
    /// The view of `symbol`, with equal releases grouped; releases that reveal nothing are left out.
    pub(super) fn new(
        prior: &Distribution,
        ranges: &[LiftRange],
        symbol: usize,
        side: Side,
    ) -> Self {
        let p = prior.as_slice();
        let mass = p[symbol];
        let others: Vec<usize> = (0..p.len()).filter(|&z| z != symbol && p[z] > 0.0).collect();
        let masses: Vec<f64> = others.iter().map(|&z| p[z]).collect();
        let rest = masses.iter().sum();
        let groups = groups(ranges, (mass, rest), &masses, side);
        Self { side, symbol, mass, groups, others, masses }
    }

    /// A view with all other symbols merged into one that may take any value any of them may.
    ///
    /// `rest` is the mass of the others, and `smallest` the least positive mass among them: its slice is the
    /// widest.
    pub(super) fn merged(
        ranges: &[LiftRange],
        (mass, rest): (f64, f64),
        smallest: Option<f64>,
        side: Side,
    ) -> Self {
        let mut groups = groups(ranges, (mass, rest), &[], side);
        let masses: Vec<f64> = smallest.map(|_| rest).into_iter().collect();
        if let Some(smallest) = smallest {
            for group in &mut groups {
                let (low, high) = ends(group, rest, smallest);
                (group.low, group.high) = (vec![low], vec![high]);
            }
        }
        Self { side, symbol: 0, mass, others: vec![], masses, groups }
    }

    /// The leakage of x, in nats, when the sum over the others is f.
    pub(super) fn leakage(&self, f: f64) -> f64 {
        match self.side {
            Side::Raised => -(self.mass + f).ln(),
            Side::Lowered => (self.mass + f).ln(),
        }
    }

    /// +1 when f is to be small, -1 when it is to be large: f times this is always minimised.
    pub(super) fn sign(&self) -> f64 {
        match self.side {
            Side::Raised => 1.0,
            Side::Lowered => -1.0,
        }
    }
}

fn groups(
    ranges: &[LiftRange],
    (mass, rest): (f64, f64),
    masses: &[f64],
    side: Side,
) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for (k, &range) in ranges.iter().enumerate().filter(|(_, range)| !range.reveals_nothing()) {
        if let Some(group) = groups.iter_mut().find(|group| group.range == range) {
            group.releases.push(k);
            continue;
        }
        let at = match side {
            Side::Raised => range.highest(mass),
            Side::Lowered => range.lowest(mass, rest),
        };
        let budget = range.left_for_others(mass, rest, at) / at;
        groups.push(Group { range, releases: vec![k], at, budget, low: vec![], high: vec![] });
    }
    for group in &mut groups {
        (group.low, group.high) = masses.iter().map(|&p| ends(group, rest, p)).unzip();
    }
    groups
}

/// The smallest and largest r(z) a symbol of mass `p` can have when the others have `rest - p`.
fn ends(group: &Group, rest: f64, p: f64) -> (f64, f64) {
    let (low, high) = (group.range.low() / group.at, group.range.high() / group.at);
    let most = high.min(low + (group.budget - low * rest).max(0.0) / p);
    let least = low.max(high - (high * rest - group.budget).max(0.0) / p);
    (least.min(most), most)
}
