//! Whether a law is a mixture of others.

use undertone_numeric::mixture::maximise_mixture;

use undertone_design::Distribution;

/// Whether `point` is a mixture of `set`, up to 1e-9 in total.
///
/// A mixture is decided by as many symbols as there are independent laws, however many symbols there are:
/// those are picked by elimination, the program is solved on them, and its mixture compared everywhere.
pub(super) fn in_hull(set: &[Distribution], point: &Distribution) -> bool {
    if set.is_empty() || set.iter().any(|p| p.len() != point.len()) {
        return false;
    }
    let picked = deciding_symbols(set);
    // Masses of a large alphabet are small: every row is scaled to entries of at most one.
    let scale = |x: usize| set.iter().map(|p| p[x]).fold(0.0, f64::max);
    // The weights sum to one, which the picked symbols alone may not say.
    let entries = |p: &Distribution| picked.iter().map(|&x| p[x] / scale(x)).chain([1.0]).collect();
    let columns: Vec<Vec<f64>> = set.iter().map(entries).collect();
    let rhs: Vec<f64> = entries(point);
    let Ok(found) = maximise_mixture(&columns, &vec![0.0; set.len()], &rhs) else { return false };
    let mixed = |x: usize| found.weights.iter().map(|&(j, w)| w * set[j][x]).sum::<f64>();
    let apart: f64 = (0..point.len()).map(|x| (mixed(x) - point[x]).abs()).sum();
    apart <= 1e-9
}

/// Symbols on which the laws are as independent as they are anywhere: Gaussian elimination over the laws,
/// each time at the symbol where what is left of them is largest.
fn deciding_symbols(set: &[Distribution]) -> Vec<usize> {
    let mut left: Vec<Vec<f64>> = set.iter().map(|p| p.as_slice().to_vec()).collect();
    let mut picked = Vec::new();
    let noise = 1e-12 * set.iter().map(Distribution::max).fold(0.0, f64::max);
    while let Some((at, x)) = largest_entry(&left, noise) {
        let pivot = left.swap_remove(at);
        for row in &mut left {
            let factor = row[x] / pivot[x];
            row.iter_mut().zip(&pivot).for_each(|(v, p)| *v -= factor * p);
            row[x] = 0.0;
        }
        picked.push(x);
    }
    picked
}

/// Row and column of the largest entry, unless nothing above `noise` is left.
fn largest_entry(rows: &[Vec<f64>], noise: f64) -> Option<(usize, usize)> {
    let entries = rows.iter().enumerate().flat_map(|(i, row)| (0..row.len()).map(move |x| (i, x)));
    let size = |&(i, x): &(usize, usize)| rows[i][x].abs();
    let most = entries.max_by(|a, b| size(a).total_cmp(&size(b)))?;
    (size(&most) > noise).then_some(most)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn hull_membership() {
        let d = |p: &[f64]| Distribution::new("p", p.to_vec()).unwrap();
        let set = [d(&[0.1, 0.9]), d(&[0.4, 0.6])];
        assert!(in_hull(&set, &d(&[0.25, 0.75])));
        assert!(in_hull(&set, &d(&[0.4, 0.6])));
        assert!(!in_hull(&set, &d(&[0.5, 0.5])));
        assert!(!in_hull(&set, &d(&[0.2, 0.3, 0.5])));
        assert!(!in_hull(&[], &d(&[0.5, 0.5])));
    }

    #[test]
    fn hull_membership_of_many_symbols() {
        // A million symbols: a table of them times themselves would not fit any memory.
        let n = 1_000_000;
        let law = |f: fn(f64) -> f64| {
            let weights = (0..n).map(|x| f(x as f64 / n as f64)).collect();
            Distribution::normalised("p", weights).unwrap()
        };
        let set = [law(|_| 1.0), law(|x| 1.0 + x), law(|x| 1.0 + x * x)];
        let mix = |w: [f64; 3]| {
            let at = |x: usize| w.iter().zip(&set).map(|(w, p)| w * p[x]).sum();
            Distribution::normalised("p", (0..n).map(at).collect()).unwrap()
        };
        assert!(in_hull(&set, &mix([0.2, 0.5, 0.3])));
        assert!(!in_hull(&set, &law(|x| 1.0 + x * x * x)));
        assert!(!in_hull(&set, &mix([1.4, -0.2, -0.2])));
    }
}
