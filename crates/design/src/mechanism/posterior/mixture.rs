//! The best mixture of outputs: maximise Σ w φ(L) over outputs L with Σ w L = 1.

use super::region::Region;
use super::utility::Utility;
use crate::solve::Program;
use crate::{Channel, Distribution, Error};
use undertone_numeric::dice::{Dice, signed_unit};
use undertone_numeric::mixture::maximise_mixture;
use undertone_numeric::vector::dot;

/// Outputs with their probabilities, Σ w L = 1.
#[derive(Debug, Clone)]
pub(super) struct Mixture {
    pub(super) columns: Vec<Vec<f64>>,
    pub(super) weights: Vec<f64>,
    /// Σ w φ(L).
    pub(super) value: f64,
    /// No mixture of the region's outputs has more; infinite if unknown.
    pub(super) at_most: f64,
    /// One price per symbol: every output known is worth at most what it costs.
    pub(super) prices: Vec<f64>,
}

/// Rounds of column generation.
const MAX_ROUNDS: usize = 300;

/// Rounds in which climbing finds nothing and a search that may miss the best is made instead.
const MAX_SEARCHES: usize = 40;

/// Generation stops when bound and value agree to this.
const GAP: f64 = 1e-9;

/// Where outputs come from: a list of all extremal ones, or the region, asked for them one by one.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) region: Region,
    pub(super) vertices: Option<Vec<Vec<f64>>>,
    /// Rounds of generation for one mixture, where not all outputs are listed.
    pub(super) rounds: usize,
}

impl Source {
    pub(super) fn new(region: Region) -> Result<Self, Error> {
        let vertices = region.vertices()?;
        Ok(Self { region, vertices, rounds: MAX_ROUNDS })
    }

    /// The best mixture for `utility`, with a bound where there is one. `known` outputs are used where
    /// not all are listed.
    pub(super) fn best(&self, utility: &Utility, known: &[Vec<f64>]) -> Result<Mixture, Error> {
        match &self.vertices {
            Some(vertices) => self.listed(vertices, utility),
            None => self.generated(utility, known),
        }
    }

    /// Exact: a convex function is largest at vertices, and all are listed.
    fn listed(&self, vertices: &[Vec<f64>], utility: &Utility) -> Result<Mixture, Error> {
        let costs: Vec<f64> = vertices.iter().map(|v| utility.value(&self.region, v)).collect();
        let mut mixture = solve(vertices, &costs)?;
        let worth = |(v, cost): (&Vec<f64>, &f64)| cost - dot(&mixture.prices, v);
        let beyond = vertices.iter().zip(&costs).map(worth).fold(0.0, f64::max);
        mixture.at_most = mixture.prices.iter().sum::<f64>() + beyond;
        Ok(mixture)
    }

    /// Column generation. The master is badly degenerate when started from a few structured outputs,
    /// so it starts from many random ones; interior prices keep it moving.
    fn generated(&self, utility: &Utility, known: &[Vec<f64>]) -> Result<Mixture, Error> {
        let symbols = self.region.symbols();
        let mut dice = Dice::new(DIRECTIONS);
        let mut pool = vec![vec![1.0; symbols]];
        for at in 0..4 * symbols {
            let c = if at < 2 * symbols {
                let mut c = vec![0.0; symbols];
                c[at / 2] = if at % 2 == 0 { 1.0 } else { -1.0 };
                c
            } else {
                direction(self.region.prior.as_slice(), &mut dice)
            };
            pool.push(self.region.support(&c)?);
        }
        pool.extend_from_slice(known);
        let mut at_most = f64::INFINITY;
        let mut searches = 0;
        for _ in 0..self.rounds {
            let costs: Vec<f64> = pool.iter().map(|v| utility.value(&self.region, v)).collect();
            let (value, weights, prices) = interior(&pool, &costs)?;
            let mut starts: Vec<Vec<f64>> = (0..pool.len())
                .filter(|&j| weights[j] > 1e-6)
                .map(|j| pool[j].clone())
                .take(symbols)
                .collect();
            for _ in 0..8 {
                starts.push(
                    self.region.support(&direction(self.region.prior.as_slice(), &mut dice))?,
                );
            }
            let mut offer = utility.offer(&self.region, &prices, &starts, false)?;
            if offer.columns.is_empty() && offer.at_most == f64::INFINITY {
                for _ in 0..6 * symbols {
                    let c = direction(self.region.prior.as_slice(), &mut dice);
                    starts.push(self.region.support(&c)?);
                }
                offer = utility.offer(&self.region, &prices, &starts, true)?;
                searches += usize::from(offer.at_most > offer.best);
            }
            at_most = at_most.min(prices.iter().sum::<f64>() + offer.at_most.max(0.0));
            // Also where the bound is loose and what is offered hardly matters.
            let scale = 1.0 + value.abs();
            let idle = offer.at_most.is_finite()
                && offer.best <= 1e-6 * scale
                && offer.best <= 1e-2 * offer.at_most;
            let done = offer.columns.is_empty() || searches >= MAX_SEARCHES;
            if done || idle || at_most - value <= GAP * scale {
                break;
            }
            pool.extend(offer.columns);
            if pool.len() > 12 * symbols + known.len() + 200 {
                // Outputs far above their worth have had their turn.
                let costs: Vec<f64> = pool.iter().map(|v| utility.value(&self.region, v)).collect();
                let mut order: Vec<usize> = (0..pool.len()).collect();
                let worth = |j: usize| costs[j] - dot(&prices, &pool[j]);
                order.sort_by(|&a, &b| worth(b).total_cmp(&worth(a)));
                order.truncate(8 * symbols + known.len() + 100);
                order.push(0);
                order.sort_unstable();
                order.dedup();
                pool = order.into_iter().map(|j| pool[j].clone()).collect();
            }
        }
        let costs: Vec<f64> = pool.iter().map(|v| utility.value(&self.region, v)).collect();
        let mixture = solve(&pool, &costs)?;
        Ok(Mixture { at_most, ..mixture })
    }
}

/// The best mixture of these outputs: at a vertex of the program if the simplex settles, otherwise
/// wherever the interior-point method ends.
fn solve(columns: &[Vec<f64>], costs: &[f64]) -> Result<Mixture, Error> {
    let rows = columns.first().map_or(0, Vec::len);
    if let Ok(found) = maximise_mixture(columns, costs, &vec![1.0; rows]) {
        let (used, weights): (Vec<usize>, Vec<f64>) = found.weights.into_iter().unzip();
        return Ok(Mixture {
            columns: used.into_iter().map(|j| columns[j].clone()).collect(),
            weights,
            value: found.value,
            at_most: f64::INFINITY,
            prices: found.prices,
        });
    }
    let (value, weights, prices) = interior(columns, costs)?;
    let used: Vec<usize> = (0..columns.len()).filter(|&j| weights[j] > 1e-10).collect();
    Ok(Mixture {
        columns: used.iter().map(|&j| columns[j].clone()).collect(),
        weights: used.iter().map(|&j| weights[j]).collect(),
        value,
        at_most: f64::INFINITY,
        prices,
    })
}

/// Value, weights and prices by the interior-point method.
fn interior(columns: &[Vec<f64>], costs: &[f64]) -> Result<(f64, Vec<f64>, Vec<f64>), Error> {
    let mut program = Program::new();
    for cost in costs {
        program.non_negative(-cost);
    }
    let rows = columns.first().map_or(0, Vec::len);
    for x in 0..rows {
        program.equal(columns.iter().enumerate().map(|(j, column)| (j, column[x])), 1.0);
    }
    let found = program.solve()?;
    let prices = found.equal_prices.iter().map(|price| -price).collect();
    Ok((-found.cost, found.values, prices))
}

impl Mixture {
    /// q(y|x) = w(y) L_y(x).
    pub(super) fn channel(&self) -> Result<Channel, Error> {
        let symbols = self.columns.first().map_or(0, Vec::len);
        let row = |x: usize| {
            let cells = self.columns.iter().zip(&self.weights).map(|(l, w)| (w * l[x]).max(0.0));
            Distribution::normalised("channel row", cells.collect())
        };
        Channel::from_rows((0..symbols).map(row).collect::<Result<_, _>>()?)
    }
}

/// The seed of a search's directions: it answers the same every time.
pub(super) const DIRECTIONS: u64 = 0x9e37_79b9_7f4a_7c15;

/// Random numbers in proportion to the prior, so that rare symbols do not decide alone.
pub(super) fn direction(prior: &[f64], dice: &mut Dice) -> Vec<f64> {
    prior.iter().map(|p| p * signed_unit(dice)).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::region::RegionForm;
    use super::*;

    fn regions() -> Vec<Region> {
        let prior = Distribution::new("p", vec![0.05, 0.3, 0.1, 0.25, 0.2, 0.1]).unwrap();
        let weights = prior.as_slice().to_vec();
        let mut rows = Vec::new();
        for x in 0..6 {
            for z in (0..6).filter(|&z| z != x) {
                let mut row = vec![0.0; 6];
                (row[x], row[z]) = (-1.0, 4.0);
                rows.push(row);
            }
            let unit = |z: usize| f64::from(u8::from(z == x));
            rows.push((0..6).map(|z| 2.0 * prior[z] - unit(z)).collect());
        }
        let region = |form| Region { prior: prior.clone(), form, spread: f64::INFINITY };
        vec![
            Region::range(&prior, 0.4, 2.0),
            Region::odds(&prior, 3.0),
            region(RegionForm::Odds { weights, odds: 9.0 }),
            region(RegionForm::Cone(rows)),
        ]
    }

    fn utilities(prior: &Distribution) -> Vec<Utility> {
        let p = prior.as_slice();
        let loss = |y: usize| (0..p.len()).map(|x| p[x] * (x as f64 - y as f64).abs()).collect();
        let quadratic = |i: usize, j: usize| {
            0.1 * ((i * j) as f64).cos() + if i == j { 1.0 + i as f64 } else { 0.0 }
        };
        vec![
            Utility::Entropy,
            Utility::Square(vec![0.0, 1.0, 2.0, 5.0, -1.0, 3.0]),
            Utility::Loss((0..p.len()).map(loss).collect()),
            Utility::Quadratic((0..6).map(|i| (0..6).map(|j| quadratic(i, j)).collect()).collect()),
        ]
    }

    /// Generating outputs finds what listing all of them finds, in every form and for every utility, and
    /// its bound is never on the wrong side.
    #[test]
    fn generated_agrees_with_listed() {
        for region in regions() {
            let listed = Source::new(region.clone()).unwrap();
            assert!(listed.vertices.is_some());
            let generated = Source { region: region.clone(), vertices: None, rounds: MAX_ROUNDS };
            for utility in utilities(&region.prior) {
                let (a, b) =
                    (listed.best(&utility, &[]).unwrap(), generated.best(&utility, &[]).unwrap());
                let scale = 1.0 + a.value.abs();
                assert!((a.at_most - a.value).abs() < 1e-9 * scale, "{region:?} {utility:?}");
                // A cone's quadratics are climbed, with nothing to tell that the top is reached.
                let climbed = matches!(
                    (&region.form, &utility),
                    (RegionForm::Cone(_), Utility::Quadratic(_))
                );
                let short = if climbed { 0.02 } else { 1e-8 };
                assert!(
                    (-1e-8..short).contains(&((a.value - b.value) / scale)),
                    "{region:?} {utility:?}: {} {}",
                    a.value,
                    b.value
                );
                assert!(
                    b.at_most >= a.value - 1e-9 * scale,
                    "{region:?} {utility:?}: {}",
                    b.at_most
                );
                let exact = !matches!(region.form, RegionForm::Cone(_))
                    || matches!(utility, Utility::Square(_) | Utility::Loss(_));
                assert!(
                    !exact || b.at_most <= a.value + 1e-8 * scale,
                    "{region:?} {utility:?}: {}",
                    b.at_most
                );
            }
        }
    }

    /// A linear function's maximum over each region is at a listed vertex.
    #[test]
    fn support_agrees_with_the_vertices() {
        let mut dice = Dice::new(DIRECTIONS);
        for region in regions() {
            let vertices = region.vertices().unwrap().unwrap();
            for _ in 0..50 {
                let c: Vec<f64> = (0..6).map(|_| signed_unit(&mut dice)).collect();
                let best = vertices.iter().map(|v| dot(v, &c)).fold(f64::NEG_INFINITY, f64::max);
                let found = region.support(&c).unwrap();
                assert!((dot(&found, &c) - best).abs() < 1e-9, "{region:?}");
                assert!((dot(&found, region.prior.as_slice()) - 1.0).abs() < 1e-9);
            }
        }
    }
}
