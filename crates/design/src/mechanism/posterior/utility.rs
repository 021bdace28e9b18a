//! What one output is worth, as a convex function of its lift vector, and which output is worth most
//! at given prices.

use super::chords::{self, entropy};
use super::corners;
use super::region::Region;
use crate::Error;
use undertone_numeric::vector::dot;

/// A convex function φ of the lift vector L of an output released with probability w: it adds w·φ(L).
#[derive(Debug, Clone)]
pub(super) enum Utility {
    /// Σ P L ln L: the sum over outputs is I(X;Y).
    Entropy,
    /// (Σ P v L)²: what the output explains of the mean of V².
    Square(Vec<f64>),
    /// -min_y Σ P(x) L(x) loss(x,y): the output is read as the best y. One vector P(x)·loss(x,y) per y.
    Loss(Vec<Vec<f64>>),
    /// LᵀQL for a positive semidefinite Q.
    Quadratic(Vec<Vec<f64>>),
}

/// Answers to "which output is worth most beyond its price?".
#[derive(Debug)]
pub(super) struct Offer {
    /// Outputs worth more than their price, the best first; perhaps none.
    pub(super) columns: Vec<Vec<f64>>,
    /// What the best of them is worth beyond its price.
    pub(super) best: f64,
    /// No output of the region is worth more than this beyond its price; infinite if unknown.
    pub(super) at_most: f64,
}

/// What counts as worth more than its price.
pub(super) const GAIN: f64 = 1e-11;

impl Utility {
    /// φ(L).
    pub(super) fn value(&self, region: &Region, lift: &[f64]) -> f64 {
        let p = region.prior.as_slice();
        match self {
            Self::Entropy => p.iter().zip(lift).map(|(p, l)| p * entropy(*l)).sum(),
            Self::Square(values) => {
                p.iter().zip(lift).zip(values).map(|((p, l), v)| p * l * v).sum::<f64>().powi(2)
            }
            Self::Loss(losses) => -self.best_reading(losses, lift).1,
            Self::Quadratic(q) => q.iter().zip(lift).map(|(row, l)| l * dot(row, lift)).sum(),
        }
    }

    /// The y of least loss, and that loss.
    pub(super) fn best_reading(&self, losses: &[Vec<f64>], lift: &[f64]) -> (usize, f64) {
        let all = losses.iter().map(|loss| dot(loss, lift)).enumerate();
        all.fold((0, f64::INFINITY), |best, one| if one.1 < best.1 { one } else { best })
    }

    /// The slope of φ at L.
    fn slope(&self, region: &Region, lift: &[f64]) -> Vec<f64> {
        let p = region.prior.as_slice();
        match self {
            Self::Entropy => {
                let floor = f64::MIN_POSITIVE;
                p.iter().zip(lift).map(|(p, l)| p * (l.max(floor).ln() + 1.0)).collect()
            }
            Self::Square(values) => {
                let mean: f64 = p.iter().zip(lift).zip(values).map(|((p, l), v)| p * l * v).sum();
                p.iter().zip(values).map(|(p, v)| 2.0 * mean * p * v).collect()
            }
            Self::Loss(losses) => {
                losses[self.best_reading(losses, lift).0].iter().map(|l| -l).collect()
            }
            Self::Quadratic(q) => q.iter().map(|row| 2.0 * dot(row, lift)).collect(),
        }
    }

    /// Outputs worth more than `prices`, found from `starts` by climbing, or exactly.
    ///
    /// Losses and squares are searched exactly at all times. For the others `thorough` asks for the
    /// best bound there is; without it only the climb is made and no bound is given.
    pub(super) fn offer(
        &self,
        region: &Region,
        prices: &[f64],
        starts: &[Vec<f64>],
        thorough: bool,
    ) -> Result<Offer, Error> {
        let mut found = Found::new(self, region, prices);
        match self {
            Self::Loss(losses) => {
                for loss in losses {
                    let c: Vec<f64> = loss.iter().zip(prices).map(|(l, p)| -l - p).collect();
                    found.see(region.support(&c)?);
                }
                let at_most = found.best;
                return Ok(found.offer(at_most));
            }
            Self::Square(values) => {
                self.outline(region, prices, values, &mut found)?;
                let at_most = found.best;
                return Ok(found.offer(at_most));
            }
            Self::Entropy | Self::Quadratic(_) => {}
        }
        for start in starts {
            self.climb(region, prices, start.clone(), &mut found)?;
        }
        let at_most = match self {
            _ if !thorough => f64::INFINITY,
            _ if corners::visit(self, region, prices, &mut found) => found.best,
            Self::Entropy => chords::bound(self, region, prices, &mut found)?,
            _ => f64::INFINITY,
        };
        Ok(found.offer(at_most))
    }

    /// Climbs by maximising the tangent, which a convex function never falls below, so the value
    /// rises at every step until a vertex is its own best answer.
    pub(super) fn climb(
        &self,
        region: &Region,
        prices: &[f64],
        mut lift: Vec<f64>,
        found: &mut Found<'_>,
    ) -> Result<(), Error> {
        let mut value = f64::NEG_INFINITY;
        for _ in 0..100 {
            let c: Vec<f64> =
                self.slope(region, &lift).iter().zip(prices).map(|(s, p)| s - p).collect();
            let next = region.support(&c)?;
            let better = self.value(region, &next) - dot(prices, &next);
            let rises = better > value + 1e-13 * value.abs();
            if !rises {
                break;
            }
            (lift, value) = (next, better);
        }
        found.see(lift);
        Ok(())
    }

    /// Squares, exactly: (mean, -price) of an output lies in a polygon, and mean² - price is convex, so
    /// it is largest at a corner of its upper outline. Corners are found by asking for the point
    /// furthest out across every edge found so far.
    fn outline(
        &self,
        region: &Region,
        prices: &[f64],
        values: &[f64],
        found: &mut Found<'_>,
    ) -> Result<(), Error> {
        let means: Vec<f64> =
            region.prior.as_slice().iter().zip(values).map(|(p, v)| p * v).collect();
        let corner = |across: f64, up: f64| {
            let c = means.iter().zip(prices).map(|(m, p)| across * m - up * p);
            let lift = region.support(&c.collect::<Vec<_>>())?;
            let point = (dot(&means, &lift), -dot(prices, &lift));
            Ok::<_, Error>((lift, point))
        };
        let (left, right) = (corner(-1.0, 0.0)?, corner(1.0, 0.0)?);
        let mut edges = vec![(left.1, right.1)];
        found.see(left.0);
        found.see(right.0);
        while let Some((a, b)) = edges.pop() {
            let (run, rise) = (b.0 - a.0, b.1 - a.1);
            let wide = run > 1e-13 * (1.0 + a.0.abs() + b.0.abs());
            if !wide {
                continue;
            }
            let (lift, c) = corner(-rise / run, 1.0)?;
            // Above the edge by more than rounding, and strictly between its ends.
            let above = c.1 - a.1 - rise / run * (c.0 - a.0);
            found.see(lift);
            if above > 1e-13 * (1.0 + c.1.abs()) && c.0 > a.0 && c.0 < b.0 {
                edges.push((a, c));
                edges.push((c, b));
            }
        }
        Ok(())
    }
}

/// Outputs seen, with what they are worth beyond their price.
pub(super) struct Found<'a> {
    utility: &'a Utility,
    region: &'a Region,
    prices: &'a [f64],
    pub(super) best: f64,
    columns: Vec<(f64, Vec<f64>)>,
}

impl<'a> Found<'a> {
    fn new(utility: &'a Utility, region: &'a Region, prices: &'a [f64]) -> Self {
        Self { utility, region, prices, best: f64::NEG_INFINITY, columns: Vec::new() }
    }

    pub(super) fn see(&mut self, lift: Vec<f64>) {
        let worth = self.utility.value(self.region, &lift) - dot(self.prices, &lift);
        self.best = self.best.max(worth);
        let near = |old: &Vec<f64>| old.iter().zip(&lift).all(|(a, b)| (a - b).abs() <= 1e-9);
        if worth > GAIN && !self.columns.iter().any(|(_, old)| near(old)) {
            self.columns.push((worth, lift));
        }
    }

    fn offer(mut self, at_most: f64) -> Offer {
        self.columns.sort_by(|a, b| b.0.total_cmp(&a.0));
        self.columns.truncate(2 * self.prices.len());
        let columns = self.columns.into_iter().map(|(_, lift)| lift).collect();
        Offer { columns, best: self.best, at_most }
    }
}
