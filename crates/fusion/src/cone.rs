//! Cones of non-negative vectors, known by how far each entry can exceed each other.
//!
//! A quotient of two linear functions that are not negative is largest over a cone at one of its extreme rays. So a set of
//! likelihood vectors, of any size, may be replaced by the extreme rays of any cone that holds it: what is found over them
//! is never too small. Over vectors of two entries the smallest such cone has both its rays in the set, and nothing is lost.

use undertone_core::{Bounds, Magnitude, Round};

/// A vector of enclosures; only its direction matters.
pub(crate) type Ray = Vec<Bounds>;

/// Cones of more entries than this are replaced by simpler, larger ones: their trees would be too many.
const MAX_TREES: usize = 5;
/// And beyond this by the cone of all vectors.
const MAX_CORNERS: usize = 12;

/// All vectors whose entry i is at most `ratio[i][j]` times entry j; `None` says that entry j may be zero where i is not.
#[derive(Debug, Clone)]
pub(crate) struct Cone {
    size: usize,
    ratio: Vec<Option<Magnitude>>,
}

/// The larger, where nothing is larger than everything.
pub(crate) fn larger(a: Option<Magnitude>, b: Option<Magnitude>) -> Option<Magnitude> {
    Some(a?.max(b?))
}

impl Cone {
    /// The smallest one around vectors of `size` entries.
    pub(crate) fn around(size: usize, rays: &[Ray]) -> Self {
        let mut ratio = vec![Some(Magnitude::ZERO); size * size];
        for ray in rays {
            for (i, above) in ray.iter().enumerate() {
                for (j, below) in ray.iter().enumerate() {
                    let most = match (above.high.is_zero(), below.low.is_zero()) {
                        (true, _) => Some(Magnitude::ZERO),
                        (false, true) => None,
                        (false, false) => Some(above.high.over(below.low, Round::Up)),
                    };
                    let known = &mut ratio[i * size + j];
                    *known = larger(*known, if i == j { Some(Magnitude::ONE) } else { most });
                }
            }
        }
        Self { size, ratio }
    }

    /// The smallest one around all entrywise products of vectors of these cones.
    pub(crate) fn product(mut self, other: &Self) -> Self {
        for (most, other) in self.ratio.iter_mut().zip(&other.ratio) {
            *most = match (*most, *other) {
                // Who is zero whenever it is drawn stays so, whatever the other factor.
                (Some(none), _) | (_, Some(none)) if none.is_zero() => Some(Magnitude::ZERO),
                (Some(a), Some(b)) => Some(a.times(b, Round::Up)),
                _ => None,
            };
        }
        self
    }

    fn at(&self, i: usize, j: usize) -> Option<Magnitude> {
        self.ratio[i * self.size + j]
    }

    /// Vectors whose cone holds this one; its own extreme rays where there are few entries.
    pub(crate) fn rays(&self) -> Vec<Ray> {
        if self.size <= MAX_TREES {
            return self.extreme_rays();
        }
        let corners = if self.size <= MAX_CORNERS { self.corners() } else { None };
        corners.unwrap_or_else(|| {
            let unit = |i: usize| {
                let mut ray = vec![Bounds::ZERO; self.size];
                ray[i] = Bounds::ONE;
                ray
            };
            (0..self.size).map(unit).collect()
        })
    }

    /// The corners of a box: one entry is one and every other as small or as large as it can be. `None` if no entry bounds
    /// all others.
    fn corners(&self) -> Option<Vec<Ray>> {
        let bounded = |&j: &usize| (0..self.size).all(|i| self.at(i, j).is_some());
        let pivot = (0..self.size).find(bounded)?;
        let ends = |i: usize| -> [Bounds; 2] {
            if i == pivot {
                return [Bounds::ONE; 2];
            }
            let high = self.at(i, pivot).unwrap_or(Magnitude::ZERO);
            let low = match self.at(pivot, i) {
                Some(most) if !most.is_zero() => Magnitude::ONE.over(most, Round::Down),
                _ => Magnitude::ZERO,
            };
            [Bounds { low, high: low }, Bounds { low: high, high }]
        };
        let ends: Vec<[Bounds; 2]> = (0..self.size).map(ends).collect();
        let corner = |code: usize| {
            (code >> pivot & 1 == 0)
                .then(|| ends.iter().enumerate().map(|(i, ends)| ends[code >> i & 1]).collect())
        };
        Some((0..1usize << self.size).filter_map(corner).collect())
    }

    /// The extreme rays: where an entry is not zero, as many constraints hold with equality as a tree has edges.
    fn extreme_rays(&self) -> Vec<Ray> {
        let mut rays: Vec<Ray> = Vec::new();
        for support in 1..1usize << self.size {
            let inside: Vec<usize> = (0..self.size).filter(|i| support >> i & 1 == 1).collect();
            let outside = || (0..self.size).filter(|j| support >> j & 1 == 0);
            let may_be = |&i: &usize| {
                outside().all(|j| self.at(i, j).is_none())
                    && inside.iter().all(|&j| !self.at(i, j).is_some_and(Magnitude::is_zero))
            };
            if !inside.iter().all(may_be) {
                continue;
            }
            for tree in trees(inside.len()) {
                for turned in 0..1usize << tree.len() {
                    if let Some(values) = self.on_tree(&inside, &tree, turned) {
                        let mut ray = vec![Bounds::ZERO; self.size];
                        inside.iter().zip(values).for_each(|(&i, value)| ray[i] = value);
                        if !rays.contains(&ray) {
                            rays.push(ray);
                        }
                    }
                }
            }
        }
        rays
    }

    /// The vector at which the tree's constraints are equalities, unless it certainly breaks another. An edge (a, b) makes
    /// a as large as b allows, and turned b as large as a allows.
    fn on_tree(
        &self,
        inside: &[usize],
        tree: &[(usize, usize)],
        turned: usize,
    ) -> Option<Vec<Bounds>> {
        let mut values = vec![None; inside.len()];
        values[0] = Some(Bounds::ONE);
        // Every pass finds at least one more, because a tree is connected.
        for _ in tree {
            for (edge, &(a, b)) in tree.iter().enumerate() {
                let (large, small) = if turned >> edge & 1 == 0 { (a, b) } else { (b, a) };
                let most = self.at(inside[large], inside[small])?;
                let most = Bounds { low: most, high: most };
                match (values[large], values[small]) {
                    (None, Some(known)) => values[large] = Some(most * known),
                    (Some(known), None) => values[small] = Some(known.over(most)?),
                    _ => {}
                }
            }
        }
        let values: Vec<Bounds> = values.into_iter().collect::<Option<_>>()?;
        for (value, &i) in values.iter().zip(inside) {
            for (other, &j) in values.iter().zip(inside) {
                let allowed = self.at(i, j).map(|most| most.times(other.high, Round::Up));
                if i != j && allowed.is_some_and(|allowed| value.low > allowed) {
                    return None;
                }
            }
        }
        Some(values)
    }
}

/// All trees on the numbers below `size`, as lists of edges, from their Prüfer codes.
fn trees(size: usize) -> Vec<Vec<(usize, usize)>> {
    match size {
        0 | 1 => return vec![Vec::new()],
        2 => return vec![vec![(0, 1)]],
        _ => {}
    }
    let decode = |mut code: usize| {
        let code: Vec<usize> = (0..size - 2)
            .map(|_| {
                let digit = code % size;
                code /= size;
                digit
            })
            .collect();
        let mut degree = vec![1; size];
        code.iter().for_each(|&node| degree[node] += 1);
        let mut edges = Vec::with_capacity(size - 1);
        for &node in &code {
            let leaf = degree.iter().position(|&degree| degree == 1).unwrap_or(0);
            edges.push((leaf, node));
            degree[leaf] -= 1;
            degree[node] -= 1;
        }
        let last: Vec<usize> = (0..size).filter(|&node| degree[node] == 1).collect();
        if let [a, b] = last[..] {
            edges.push((a, b));
        }
        edges
    };
    (0..size.pow(size as u32 - 2)).map(decode).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use undertone_testkit::dice::Dice;

    fn bounds(value: f64) -> Bounds {
        Bounds::new((value * 2f64.powi(40)) as u128, -40)
    }

    fn float(value: Bounds) -> f64 {
        let (mantissa, exponent) = value.high.parts();
        mantissa as f64 * 2f64.powi(exponent as i32)
    }

    fn random(size: usize, dice: &mut Dice) -> Ray {
        (0..size).map(|_| bounds(dice.log_between(0.1, 10.0))).collect()
    }

    fn most(rays: &[Ray], above: &[f64], below: &[f64]) -> f64 {
        let value = |ray: &Ray| {
            let dot = |a: &[f64]| ray.iter().zip(a).map(|(x, a)| float(*x) * a).sum::<f64>();
            dot(above) / dot(below)
        };
        rays.iter().map(value).fold(0.0, f64::max)
    }

    #[test]
    fn there_are_as_many_trees_as_cayley_counts() {
        for (size, expected) in [(1, 1), (2, 1), (3, 3), (4, 16), (5, 125)] {
            let mut all = trees(size);
            all.iter_mut()
                .flatten()
                .for_each(|edge| *edge = (edge.0.min(edge.1), edge.0.max(edge.1)));
            all.iter_mut().for_each(|tree| tree.sort_unstable());
            all.sort();
            all.dedup();
            assert_eq!(all.len(), expected);
        }
    }

    #[test]
    fn a_cones_rays_bound_every_vector_in_it_and_are_in_it() {
        let mut dice = Dice::new(7);
        for size in [2, 3, 4, 5, 7, 13] {
            for _ in 0..20 {
                let inner: Vec<Ray> = (0..3).map(|_| random(size, &mut dice)).collect();
                let cone = Cone::around(size, &inner);
                let rays = cone.rays();
                for _ in 0..20 {
                    let above: Vec<f64> = (0..size).map(|_| dice.unit()).collect();
                    let below: Vec<f64> = (0..size).map(|_| dice.unit()).collect();
                    let (outer, own) = (most(&rays, &above, &below), most(&inner, &above, &below));
                    assert!(outer >= own * (1.0 - 1e-9), "{size}: {outer} {own}");
                    if size == 2 {
                        assert!((outer / own - 1.0).abs() < 1e-9, "{outer} {own}");
                    }
                }
                if size <= MAX_TREES {
                    for ray in &rays {
                        for i in 0..size {
                            for j in 0..size {
                                let (mantissa, exponent) = cone.at(i, j).unwrap().parts();
                                let ratio = mantissa as f64 * 2f64.powi(exponent as i32);
                                assert!(float(ray[i]) <= ratio * float(ray[j]) * (1.0 + 1e-9));
                            }
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn entries_that_may_be_zero_are_rays_of_their_own() {
        let rays = [vec![Bounds::ONE, Bounds::ZERO], vec![Bounds::ONE, Bounds::ONE]];
        let found = Cone::around(2, &rays).rays();
        assert!(found.contains(&vec![Bounds::ONE, Bounds::ZERO]));
        assert!((most(&found, &[0.0, 1.0], &[1.0, 0.0]) - 1.0).abs() < 1e-12);
        // An entry that is always zero stays zero.
        let rays = [vec![Bounds::ONE, Bounds::ZERO]];
        assert_eq!(most(&Cone::around(2, &rays).rays(), &[0.0, 1.0], &[1.0, 0.0]), 0.0);
    }

    #[test]
    fn products_of_cones_hold_the_products() {
        let mut dice = Dice::new(8);
        let [a, b]: [Vec<Ray>; 2] = [0, 1].map(|_| (0..3).map(|_| random(3, &mut dice)).collect());
        let cone = Cone::around(3, &a).product(&Cone::around(3, &b)).rays();
        for x in &a {
            for y in &b {
                let ray: Ray = x.iter().zip(y).map(|(&x, &y)| x * y).collect();
                let above: Vec<f64> = (0..3).map(|_| dice.unit()).collect();
                let below: Vec<f64> = (0..3).map(|_| dice.unit()).collect();
                let own = most(&[ray], &above, &below);
                assert!(most(&cone, &above, &below) >= own * (1.0 - 1e-9));
            }
        }
    }
}
