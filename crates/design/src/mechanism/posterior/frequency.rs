//! The channel that tells a population's frequencies best: minimise tr S⁻¹, S = Σ w L Lᵀ, Σ w L = 1.
//!
//! This is an A-optimal design whose experiments are extremal outputs. With f = tr S⁻¹ and Q = S⁻²,
//! f falls at the rate LᵀQL when the weight of L grows, so the best direction is again a best mixture,
//! for the convex utility LᵀQL. The outputs it uses join the design, and all weights are then made
//! optimal by Newton steps behind a barrier.
//!
//! **Bound.** For any other design S': tr S'⁻¹ · tr(S⁻¹ S' S⁻¹) >= (tr S⁻¹)² by Cauchy-Schwarz, and
//! tr(S⁻² S') = Σ w' L'ᵀQL' is at most the best mixture's value m; so no channel under the claims
//! has a trace below f²/m.

use super::mixture::{DIRECTIONS, Mixture, Source};
use super::utility::Utility;
use crate::{Distribution, Error};
use undertone_numeric::cholesky::Cholesky;
use undertone_numeric::dice::{Dice, signed_unit};
use undertone_numeric::vector::dot;

/// Relative gap between trace and bound at which the search ends, up to so many symbols. Each digit takes
/// more rounds, and a round visits every vertex; beyond, best directions are only climbed to.
const GAPS: [(usize, f64); 4] =
    [(8, 1e-10), (12, 1e-6), (super::corners::MAX_SYMBOLS, 1e-3), (usize::MAX, 1e-3)];

const MAX_ROUNDS: usize = 80;

/// The best design and the largest lower bound found for tr S⁻¹ (0 if there is none).
pub(super) fn minimise(source: &Source) -> Result<(Mixture, f64), Error> {
    let mut design = Design::start(source)?;
    let mut bound = 0.0f64;
    let symbols = source.region.symbols();
    let least_gap = GAPS.iter().find(|(most, _)| symbols <= *most).map_or(1e-3, |(_, gap)| *gap);
    for _ in 0..MAX_ROUNDS {
        let (trace, utility) = design.utility()?;
        let best = source.best(&utility, &design.columns)?;
        if best.at_most.is_finite() {
            bound = bound.max(trace * trace / best.at_most);
        }
        // Cauchy-Schwarz with the value instead of the bound tells when nothing is left to gain.
        let reachable = trace * trace / best.value;
        if trace - reachable <= least_gap * trace {
            break;
        }
        let gap = (trace - reachable) / trace;
        design.join(best, 0.1);
        design.settle(0.1, (1e-3 * gap).max(1e-13))?;
    }
    design.trim()?;
    let trace = design.trace();
    let mixture = Mixture {
        columns: design.columns,
        weights: design.weights,
        value: trace,
        at_most: f64::INFINITY,
        prices: Vec::new(),
    };
    Ok((mixture, bound))
}

/// No channel whose outputs satisfy Σ P (L-1)² <= `spread` has a `frequency` value below this.
///
/// With D = diag P and T = D^½ S D^½: T √P = √P and tr T = Σ w Σ P L² <= 1 + spread, so T' = T - √P√Pᵀ has
/// trace at most `spread`, and the value, tr S⁻¹ - Σ P², is tr(K T'⁻¹) on the complement of √P, K being
/// D compressed to it. Cauchy-Schwarz gives (tr K^½)²/spread, and K's eigenvalues interlace D's, so its
/// root has at least the trace of √P without the largest entry. Symbols without mass only add.
pub(super) fn floor(prior: &Distribution, spread: f64) -> f64 {
    let roots: f64 = prior.as_slice().iter().map(|p| p.sqrt()).sum();
    (roots - prior.max().sqrt()).powi(2) / spread
}

/// Outputs with positive weights that satisfy Σ w L = 1, and an invertible S.
struct Design {
    columns: Vec<Vec<f64>>,
    weights: Vec<f64>,
}

impl Design {
    /// The mean of the mixtures that tell most about each symbol alone, and of a few random ones.
    fn start(source: &Source) -> Result<Self, Error> {
        let symbols = source.region.symbols();
        let mut design = Self { columns: Vec::new(), weights: Vec::new() };
        let mut dice = Dice::new(DIRECTIONS);
        for at in 0..4 * symbols + 8 {
            let direction: Vec<f64> = (0..symbols)
                .map(|x| {
                    if at < symbols { f64::from(u8::from(x == at)) } else { signed_unit(&mut dice) }
                })
                .collect();
            let square = direction.iter().map(|a| direction.iter().map(|b| a * b).collect());
            let best = source.best(&Utility::Quadratic(square.collect()), &design.columns)?;
            design.join(best, 1.0 / (at + 1) as f64);
            if at + 1 >= symbols && design.factor().is_some() {
                design.settle(1.0, 1e-3)?;
                return Ok(design);
            }
        }
        Err(Error::Uninformative {
            problem: "under these claims the outputs cannot tell the symbols apart, so no frequencies can be estimated; allow a larger epsilon".into(),
        })
    }

    /// Adds a mixture with this share of the whole.
    fn join(&mut self, other: Mixture, share: f64) {
        self.weights.iter_mut().for_each(|w| *w *= 1.0 - share);
        for (column, weight) in other.columns.into_iter().zip(other.weights) {
            let near = |old: &Vec<f64>| old.iter().zip(&column).all(|(a, b)| (a - b).abs() <= 1e-9);
            match self.columns.iter().position(near) {
                Some(at) => self.weights[at] += share * weight,
                None if weight > 0.0 => {
                    self.columns.push(column);
                    self.weights.push(share * weight);
                }
                None => {}
            }
        }
        // A weight the barrier has pushed to nothing is gone for good.
        self.keep(1e-13);
    }

    fn keep(&mut self, least: f64) {
        let keep: Vec<bool> = self.weights.iter().map(|w| *w > least).collect();
        let mut at = keep.iter();
        self.columns.retain(|_| at.next().copied().unwrap_or(false));
        self.weights.retain(|w| *w > least);
    }

    fn information(&self) -> Vec<Vec<f64>> {
        let symbols = self.columns.first().map_or(0, Vec::len);
        let mut s = vec![vec![0.0; symbols]; symbols];
        for (column, w) in self.columns.iter().zip(&self.weights) {
            for (row, a) in s.iter_mut().zip(column) {
                row.iter_mut().zip(column).for_each(|(cell, b)| *cell += w * a * b);
            }
        }
        s
    }

    fn factor(&self) -> Option<Cholesky> {
        let information = self.information();
        Cholesky::new(information.len(), |i, j| information[i][j], 1e-13)
    }

    /// tr S⁻¹ at these weights; infinite where S is singular.
    fn trace(&self) -> f64 {
        self.factor()
            .map_or(f64::INFINITY, |f| f.inverse().iter().enumerate().map(|(i, row)| row[i]).sum())
    }

    /// tr S⁻¹ and the utility of one more output, LᵀS⁻²L.
    fn utility(&self) -> Result<(f64, Utility), Error> {
        let inverse = self.factor().ok_or_else(singular)?.inverse();
        let trace = inverse.iter().enumerate().map(|(i, row)| row[i]).sum();
        let square = inverse.iter().map(|a| inverse.iter().map(|b| dot(a, b)).collect());
        Ok((trace, Utility::Quadratic(square.collect())))
    }

    /// Makes the weights optimal for these outputs: minimises t·tr S⁻¹ - Σ ln w under Σ w L = 1 for
    /// growing t, by Newton's method in the variables dw/w, until the barrier's relative share, first
    /// `from`, is below `gap`.
    fn settle(&mut self, from: f64, gap: f64) -> Result<(), Error> {
        let count = self.weights.len() as f64;
        let mut t = count / (from * self.trace()).max(f64::MIN_POSITIVE);
        loop {
            let last = count <= gap * t * self.trace();
            let enough = if last { 1e-10 } else { 1e-3 };
            for _ in 0..60 {
                if self.newton(t)? < enough {
                    break;
                }
            }
            if last {
                return Ok(());
            }
            t *= 20.0;
        }
    }

    /// One damped step; returns the squared Newton decrement, 0 when no step helps.
    fn newton(&mut self, t: f64) -> Result<f64, Error> {
        let inverse = self.factor().ok_or_else(singular)?.inverse();
        let n = self.weights.len();
        let once: Vec<Vec<f64>> =
            self.columns.iter().map(|l| inverse.iter().map(|row| dot(row, l)).collect()).collect();
        let w = &self.weights;
        let mut hessian = vec![vec![0.0; n]; n];
        for i in 0..n {
            for j in 0..=i {
                // S⁻¹L_i · L_j and S⁻¹L_i · S⁻¹L_j.
                let cell = 2.0
                    * t
                    * w[i]
                    * w[j]
                    * dot(&once[i], &self.columns[j])
                    * dot(&once[i], &once[j]);
                hessian[i][j] = cell;
                hessian[j][i] = cell;
            }
            hessian[i][i] += 1.0;
        }
        let down: Vec<f64> = (0..n).map(|i| t * w[i] * dot(&once[i], &once[i]) + 1.0).collect();
        let factor = Cholesky::new(n, |i, j| hessian[i][j], 0.0).ok_or_else(singular)?;
        let free = factor.solve(&down);
        // Stay on Σ w L = 1, and return to it if rounding has led away.
        let symbols = inverse.len();
        let row = |x: usize| (0..n).map(|i| w[i] * self.columns[i][x]).collect::<Vec<_>>();
        let rows: Vec<Vec<f64>> = (0..symbols).map(row).collect();
        let reached: Vec<Vec<f64>> = rows.iter().map(|row| factor.solve(row)).collect();
        let schur: Vec<Vec<f64>> =
            rows.iter().map(|a| reached.iter().map(|b| dot(a, b)).collect()).collect();
        let missing = rows.iter().map(|row| 1.0 - row.iter().sum::<f64>());
        let excess: Vec<f64> = rows.iter().zip(missing).map(|(a, m)| dot(a, &free) - m).collect();
        let prices =
            Cholesky::new(symbols, |i, j| schur[i][j], 1e-16).ok_or_else(singular)?.solve(&excess);
        let step: Vec<f64> = (0..n)
            .map(|i| free[i] - (0..symbols).map(|x| prices[x] * reached[x][i]).sum::<f64>())
            .collect();
        let decrement = dot(&step, &hessian.iter().map(|row| dot(row, &step)).collect::<Vec<_>>());
        let slope = -dot(&down, &step);
        let furthest = step.iter().copied().fold(0.0f64, |m, s| m.max(-s));
        let mut length = if furthest > 0.99 { 0.99 / furthest } else { 1.0 };
        let old = self.weights.clone();
        let cost =
            |design: &Self| t * design.trace() - design.weights.iter().map(|w| w.ln()).sum::<f64>();
        let before = cost(self);
        for _ in 0..40 {
            self.weights = old.iter().zip(&step).map(|(w, s)| w * (1.0 + length * s)).collect();
            let after = cost(self);
            // Near the end the decrease drowns in rounding; the step is then taken on trust.
            let noise = 1e-14 * (1.0 + before.abs());
            if after <= before + 0.1 * length * slope.min(0.0) + noise {
                return Ok(decrement);
            }
            length /= 2.0;
        }
        self.weights = old;
        Ok(0.0)
    }

    /// Drops outputs of no weight and settles the rest.
    fn trim(&mut self) -> Result<(), Error> {
        let before = Self { columns: self.columns.clone(), weights: self.weights.clone() };
        let trace = self.trace();
        self.keep(1e-8);
        // The remaining outputs may not span the constraint; then the full list stands.
        let settled = self.settle(1e-9, 1e-13).is_ok() && self.is_balanced();
        let as_good = settled && self.trace() <= trace * (1.0 + 1e-9);
        if !as_good {
            *self = before;
        }
        Ok(())
    }

    fn is_balanced(&self) -> bool {
        let symbols = self.columns.first().map_or(0, Vec::len);
        let sum =
            |x: usize| self.columns.iter().zip(&self.weights).map(|(l, w)| w * l[x]).sum::<f64>();
        (0..symbols).all(|x| (sum(x) - 1.0).abs() <= 1e-11)
    }
}

fn singular() -> Error {
    Error::Uninformative {
        problem: "the design became singular: frequencies are too poorly told apart at this epsilon; allow a larger one".into(),
    }
}
