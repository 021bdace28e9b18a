//! Every corner of the polytope of posteriors, for small alphabets.

use super::scene::{FLAT, Scene};

/// Slacks below this count as zero.
const TOLERANCE: f64 = 1e-11;

/// A corner and the constraints it meets with equality, as bits.
#[derive(Debug, Clone)]
struct Corner {
    q: Vec<f64>,
    tight: u128,
}

/// The corners of {q in the simplex : every lift within the budget}, by cutting the simplex with one
/// half-space at a time (double description); `None` if there are too many constraints or corners.
///
/// A cut keeps the corners on its good side and adds one on each edge it crosses. Two corners share an
/// edge when no third one lies on all constraints that both lie on.
pub(super) fn vertices(scene: &Scene, most: usize) -> Option<Vec<Vec<f64>>> {
    let symbols = scene.len();
    let cuts = cuts(scene);
    if symbols + cuts.len() > 128 {
        return None;
    }
    let mut corners: Vec<Corner> = (0..symbols)
        .map(|x| {
            let q = (0..symbols).map(|y| f64::from(u8::from(x == y))).collect();
            Corner { q, tight: ((1u128 << symbols) - 1) & !(1 << x) }
        })
        .collect();
    for (at, cut) in cuts.iter().enumerate() {
        let slack = |corner: &Corner| -> f64 { corner.q.iter().zip(cut).map(|(q, c)| q * c).sum() };
        let bit = 1u128 << (symbols + at);
        let slacks: Vec<f64> = corners.iter().map(slack).collect();
        let mut next = Vec::new();
        for (corner, &slack) in corners.iter().zip(&slacks).filter(|(_, s)| **s >= -TOLERANCE) {
            let tight = if slack <= TOLERANCE { corner.tight | bit } else { corner.tight };
            next.push(Corner { q: corner.q.clone(), tight });
        }
        for (i, inside) in corners.iter().enumerate().filter(|(i, _)| slacks[*i] > TOLERANCE) {
            for (j, outside) in corners.iter().enumerate().filter(|(j, _)| slacks[*j] < -TOLERANCE)
            {
                let common = inside.tight & outside.tight;
                // An edge of a polytope of dimension d lies on d - 1 constraints; d = symbols - 1.
                let blocked = || {
                    let other = |(k, third): (usize, &Corner)| {
                        k != i && k != j && common & !third.tight == 0
                    };
                    corners.iter().enumerate().any(other)
                };
                if common.count_ones() as usize + 2 < symbols || blocked() {
                    continue;
                }
                let share = slacks[i] / (slacks[i] - slacks[j]);
                let q: Vec<f64> = (inside.q.iter().zip(&outside.q))
                    .map(|(a, b)| (a + share * (b - a)).max(0.0))
                    .collect();
                next.push(Corner { tight: tight(&q, &cuts[..=at]) | common | bit, q });
                if next.len() > most {
                    return None;
                }
            }
        }
        corners = next;
    }
    Some(corners.into_iter().map(|corner| corner.q).collect())
}

/// Each constraint on the lifts as a vector c with c·q >= 0 on the simplex, scaled to unit size; only
/// those that cut something off.
fn cuts(scene: &Scene) -> Vec<Vec<f64>> {
    let (floor, ceiling) = scene.budget.deviations();
    let sides = (0..scene.secrets()).flat_map(|s| [(s, 1.0, floor), (s, -1.0, ceiling)]);
    let cut = |(s, sign, limit): (usize, f64, f64)| {
        let deviations = scene.deviations(s);
        let scale = deviations.iter().fold(limit.abs(), |most, d| most.max(d.abs()));
        let cut: Vec<f64> = deviations.iter().map(|d| sign * (d - limit) / scale).collect();
        (scale > FLAT && cut.iter().any(|&c| c < -TOLERANCE)).then_some(cut)
    };
    sides.filter_map(cut).collect()
}

/// The constraints that hold with equality at q: signs first, then the cuts so far.
fn tight(q: &[f64], cuts: &[Vec<f64>]) -> u128 {
    let signs = q.iter().map(|q| *q <= TOLERANCE);
    let cuts = cuts.iter().map(|cut| {
        let slack: f64 = q.iter().zip(cut).map(|(q, c)| q * c).sum();
        slack.abs() <= TOLERANCE
    });
    signs.chain(cuts).enumerate().fold(0, |bits, (at, tight)| bits | u128::from(tight) << at)
}
