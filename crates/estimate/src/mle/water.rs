//! The exact maximum for one `Keep` policy.
//!
//! With r the share of reports drawn from the base b, the law of the outputs is
//! q(y) = λ(y) p(y) + r b(y), so p >= 0 says q >= r b: a floor under every output. With N reports and
//! counts c, the conditions for the maximum of Σ c ln q - N Σ p (whose shares sum to one by
//! themselves) give
//!
//!   q(y) = max{ r b(y), c(y) / (N + ν t(y)) },   t(y) = 1/λ(y) - 1,
//!
//! with one multiplier ν for what r is, Σ t q = r Σ b/λ, and r such that ν Σ b/λ = Σ s b, where
//! s(y) >= 0 is what the floor costs at y. Both equations are monotone, one inside the other. With a
//! constant λ the drawn share is known, r = 1 - λ, and all counts above their floors shrink alike:
//! sorting finds which they are (water filling).

use crate::channel::Keep;
use undertone_numeric::root::falling_root;

/// The shares; `None` if some symbol is never kept (then climbing takes over) or nothing was counted.
pub(super) fn fill(keep: &Keep, counts: &[u64]) -> Option<Vec<f64>> {
    if keep.keep.contains(&0.0) || counts.iter().all(|&count| count == 0) {
        return None;
    }
    let counts: Vec<f64> = counts.iter().map(|&count| count as f64).collect();
    match keep.constant() {
        Some(lambda) => Some(constant(lambda, &keep.base, &counts)),
        None => Some(varying(keep, &counts)),
    }
}

fn constant(lambda: f64, base: &[f64], counts: &[f64]) -> Vec<f64> {
    let floor: Vec<f64> = base.iter().map(|b| (1.0 - lambda) * b).collect();
    // Outputs in the order in which a falling water level leaves them: count over floor.
    let mut order: Vec<usize> = (0..counts.len()).collect();
    let dry = |y: usize| if counts[y] > 0.0 { floor[y] / counts[y] } else { f64::INFINITY };
    order.sort_unstable_by(|&a, &b| dry(a).total_cmp(&dry(b)));
    // Above their floors: the first of the order. Their counts times `level` fill what is left.
    let below: f64 = floor.iter().sum();
    let (mut above, mut floors, mut level) = (0.0, below, f64::INFINITY);
    for &y in &order {
        if dry(y) >= level {
            break;
        }
        above += counts[y];
        floors -= floor[y];
        level = (1.0 - floors) / above;
    }
    let share = |(y, floor): (usize, &f64)| ((counts[y] * level - floor) / lambda).max(0.0);
    normalised(floor.iter().enumerate().map(share).collect())
}

fn varying(keep: &Keep, counts: &[f64]) -> Vec<f64> {
    let total: f64 = counts.iter().sum();
    let outputs = 0..counts.len();
    let toll: Vec<f64> = keep.keep.iter().map(|k| 1.0 / k - 1.0).collect();
    let scale: f64 = keep.base.iter().zip(&keep.keep).map(|(b, k)| b / k).sum();
    let law = |drawn: f64, nu: f64, y: usize| {
        let floor = drawn * keep.base[y];
        let pull = total + nu * toll[y];
        if counts[y] == 0.0 {
            floor
        } else if pull > 0.0 {
            floor.max(counts[y] / pull)
        } else {
            f64::INFINITY
        }
    };
    // Below this multiplier some output would be without bound.
    let seen = outputs.clone().filter(|&y| counts[y] > 0.0);
    let least = -total / seen.map(|y| toll[y]).fold(1e-300, f64::max);
    let multiplier = |drawn: f64| {
        let excess = |nu: f64| {
            outputs.clone().map(|y| toll[y] * law(drawn, nu, y)).sum::<f64>() - drawn * scale
        };
        let mut high = total;
        while excess(high) > 0.0 && high < 1e290 {
            high *= 8.0;
        }
        falling_root(least.max(-1e290), high, 1e-15 * total, excess)
    };
    // The derivative of the maximum by the drawn share.
    let slope = |drawn: f64| {
        let nu = multiplier(drawn);
        let price = |y: usize| {
            let floor = drawn * keep.base[y];
            let held = floor > 0.0 && law(drawn, nu, y) <= floor;
            let cost = total + nu * toll[y] - counts[y] / floor;
            if held { cost.max(0.0) * keep.base[y] } else { 0.0 }
        };
        nu * scale - outputs.clone().map(price).sum::<f64>()
    };
    // It lies between those of the most and the least kept symbol.
    let rests = keep.keep.iter().map(|k| 1.0 - k);
    let (low, high) =
        rests.fold((f64::INFINITY, 0.0f64), |(low, high), rest| (low.min(rest), high.max(rest)));
    let drawn = falling_root(low, high, 1e-16, slope);
    let nu = multiplier(drawn);
    let share = |y: usize| ((law(drawn, nu, y) - drawn * keep.base[y]) / keep.keep[y]).max(0.0);
    normalised(outputs.clone().map(share).collect())
}

fn normalised(mut p: Vec<f64>) -> Vec<f64> {
    let total: f64 = p.iter().sum();
    p.iter_mut().for_each(|p| *p /= total);
    p
}
