//! A bound on f = Σ_z w(z) Π_k r_k(z) over all slices: Lagrangian duality, solved by filling.
//!
//! Each r_k(z) lies in [low, high] and Σ_z P(z) r_k(z) is fixed. Put a price λ_k on that sum. For
//! any prices
//!
//! min f >= Σ_z min_S { w(z) Π_{k∈S} high_k(z) Π_{k∉S} low_k(z) - P(z) Σ_{k∈S} λ_k (high_k - low_k)(z) } + Σ_k λ_k C_k,
//!
//! where C_k = (fixed sum) - Σ_z P(z) low_k(z): a priced slice problem splits into one problem per
//! symbol, and a function that is linear in each r_k(z) is least at a corner. Equal releases share a
//! price, so a corner is a count per group. With the other prices fixed, the best price of one group
//! is found exactly: sort the slopes of the symbols' lower hulls and fill until the budget is spent.
//! The groups take turns. Any prices give a valid bound, so stopping early is safe; with a single
//! group the first turn is optimal. Maxima are minima of -w.
//!
//! Too many groups make too many combinations of counts. Then only the first ones are priced; the
//! others are left free to take, at each symbol, whichever end is best.

use super::view::Group;

/// Groups are priced as long as they have no more combinations of counts than this (or it is one group).
const MAX_COUNTS: usize = 128;

/// Rounds of price setting when there are several groups.
const ROUNDS: usize = 6;

/// One group with the number of its releases still open.
pub(super) struct Open<'a> {
    pub(super) group: &'a Group,
    pub(super) count: usize,
}

/// A lower bound on Σ_z weight(z) Π r(z) over the open releases; weights may be negative.
pub(super) fn least(weights: &[f64], masses: &[f64], open: &[Open<'_>]) -> f64 {
    let (priced, free) = open.split_at(priced(open).0);
    let best_end = |w: f64, z: usize, o: &Open<'_>| {
        (if w > 0.0 { o.group.low[z] } else { o.group.high[z] }).powi(o.count as i32)
    };
    let freed = |(z, &w): (usize, &f64)| free.iter().fold(w, |value, o| value * best_end(w, z, o));
    let weights: Vec<f64> = weights.iter().enumerate().map(freed).collect();
    if priced.is_empty() {
        return weights.iter().sum();
    }
    let tables: Vec<Vec<f64>> =
        (0..weights.len()).map(|z| corners(weights[z], z, priced)).collect();
    let budgets: Vec<f64> = priced.iter().map(|o| budget(o, masses)).collect();
    let mut prices = vec![0.0; priced.len()];
    let mut best = f64::NEG_INFINITY;
    for _ in 0..if priced.len() == 1 { 1 } else { ROUNDS } {
        let before = best;
        for g in 0..priced.len() {
            let (value, price) = fill(g, &tables, masses, priced, &budgets, &prices);
            prices[g] = price;
            best = best.max(value);
        }
        if best <= before + 1e-13 * best.abs() {
            break;
        }
    }
    best
}

/// How many groups are priced, and a measure of the work per symbol that takes.
pub(super) fn priced(open: &[Open<'_>]) -> (usize, usize) {
    let (mut groups, mut counts) = (0, 1usize);
    for o in open {
        let more = counts.saturating_mul(o.count + 1);
        if groups > 0 && more > MAX_COUNTS {
            break;
        }
        (groups, counts) = (groups + 1, more);
    }
    (groups, if groups > 1 { counts * groups * ROUNDS } else { counts })
}

/// What the open releases of a group have to place above their lowest values.
fn budget(open: &Open<'_>, masses: &[f64]) -> f64 {
    let lowest: f64 = open.group.low.iter().zip(masses).map(|(l, p)| l * p).sum();
    open.count as f64 * (open.group.budget - lowest).max(0.0)
}

/// The value of every combination of counts at symbol z, the last group fastest.
fn corners(weight: f64, z: usize, open: &[Open<'_>]) -> Vec<f64> {
    let mut values = vec![weight];
    for o in open {
        let (low, high) = (o.group.low[z], o.group.high[z]);
        let powers: Vec<f64> =
            (0..=o.count).map(|j| low.powi((o.count - j) as i32) * high.powi(j as i32)).collect();
        values = values.iter().flat_map(|v| powers.iter().map(move |p| v * p)).collect();
    }
    values
}

/// The best price of group `g` against the other prices, and the bound it gives.
fn fill(
    g: usize,
    tables: &[Vec<f64>],
    masses: &[f64],
    open: &[Open<'_>],
    budgets: &[f64],
    prices: &[f64],
) -> (f64, f64) {
    let mut value: f64 = (0..open.len()).filter(|&o| o != g).map(|o| prices[o] * budgets[o]).sum();
    let mut pieces: Vec<(f64, f64)> = Vec::new(); // slope per unit of budget, length in budget
    for (z, table) in tables.iter().enumerate() {
        let least = least_by_count(g, z, table, masses[z], open, prices);
        value += least[0];
        let unit = masses[z] * (open[g].group.high[z] - open[g].group.low[z]);
        if unit > 0.0 {
            pieces.extend(lower_hull(&least).map(|(slope, length)| (slope / unit, length * unit)));
        }
    }
    pieces.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut left, mut price) = (budgets[g], 0.0);
    for (slope, length) in pieces {
        if left <= 0.0 {
            break;
        }
        price = slope;
        value += slope * length.min(left);
        left -= length;
    }
    (value, price)
}

/// For each count of group `g`, the least priced value over the other groups' counts.
fn least_by_count(
    g: usize,
    z: usize,
    table: &[f64],
    mass: f64,
    open: &[Open<'_>],
    prices: &[f64],
) -> Vec<f64> {
    let mut least = vec![f64::INFINITY; open[g].count + 1];
    for (at, &value) in table.iter().enumerate() {
        let (mut code, mut own, mut cost) = (at, 0, 0.0);
        for (o, other) in open.iter().enumerate().rev() {
            let count = code % (other.count + 1);
            code /= other.count + 1;
            if o == g {
                own = count;
            } else {
                let unit = mass * (other.group.high[z] - other.group.low[z]);
                cost += prices[o] * unit * count as f64;
            }
        }
        least[own] = least[own].min(value - cost);
    }
    least
}

/// The pieces (slope, length) of the lower convex hull of the points (j, the j-th value).
fn lower_hull(values: &[f64]) -> impl Iterator<Item = (f64, f64)> {
    let slope = |a: usize, b: usize| (values[b] - values[a]) / (b - a) as f64;
    let mut hull: Vec<usize> = Vec::new();
    for j in 0..values.len() {
        while let [.., a, b] = hull[..] {
            if slope(a, b) < slope(b, j) {
                break;
            }
            hull.pop();
        }
        hull.push(j);
    }
    let pieces: Vec<_> =
        hull.windows(2).map(|w| (slope(w[0], w[1]), (w[1] - w[0]) as f64)).collect();
    pieces.into_iter()
}
