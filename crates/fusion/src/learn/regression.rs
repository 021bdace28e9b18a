//! Regression with a ridge under a convex loss, its dual, and what both say about a detector.

use super::loss::Loss;

use undertone_numeric::symmetric::Symmetric;
use undertone_numeric::vector::dot;

/// Minimise Σ_i ρ_i φ(c_i <v,Φ_i>) + (λ/2)|v|² over v.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Regression<'a> {
    /// Φ_i, one after another.
    pub(crate) features: &'a [f64],
    /// The size of one Φ_i.
    pub(crate) size: usize,
    /// c_i, each -1 or +1.
    pub(crate) signs: &'a [f64],
    /// ρ_i.
    pub(crate) weights: &'a [f64],
    /// λ.
    pub(crate) ridge: f64,
    /// φ.
    pub(crate) loss: Loss,
}

impl Regression<'_> {
    fn rows(&self) -> impl Iterator<Item = (&[f64], f64, f64)> {
        let rows = self.features.chunks_exact(self.size);
        rows.zip(self.signs).zip(self.weights).map(|((row, &c), &rho)| (row, c, rho))
    }

    /// The risk at v.
    pub(crate) fn risk(&self, v: &[f64]) -> f64 {
        let data: f64 =
            self.rows().map(|(row, c, rho)| rho * self.loss.value(c * dot(row, v))).sum();
        data + self.ridge / 2.0 * dot(v, v)
    }

    /// The minimiser, by damped Newton steps from `start`. The risk is strictly convex, so there is
    /// one.
    pub(crate) fn minimise(&self, start: &[f64]) -> Vec<f64> {
        let mut v = if start.len() == self.size { start.to_vec() } else { vec![0.0; self.size] };
        let mut risk = self.risk(&v);
        for _ in 0..100 {
            let (gradient, hessian) = self.derivatives(&v);
            let Some(factor) = hessian.cholesky() else { break };
            let step = factor.solve(&gradient);
            let decrement = dot(&gradient, &step);
            if !(decrement > 1e-26) {
                break;
            }
            let mut length = 1.0;
            let next = loop {
                let next: Vec<f64> = v.iter().zip(&step).map(|(v, s)| v - length * s).collect();
                let found = self.risk(&next);
                if found <= risk - 0.25 * length * decrement || length < 1e-9 {
                    break (found < risk).then_some((next, found));
                }
                length /= 2.0;
            };
            let Some((next, found)) = next else { break };
            (v, risk) = (next, found);
        }
        v
    }

    fn derivatives(&self, v: &[f64]) -> (Vec<f64>, Symmetric) {
        let mut gradient: Vec<f64> = v.iter().map(|v| self.ridge * v).collect();
        let mut hessian = Symmetric::zero(self.size);
        (0..self.size).for_each(|j| hessian.add(j, j, self.ridge));
        for (row, c, rho) in self.rows() {
            let a = self.loss.slope(c * dot(row, v));
            gradient.iter_mut().zip(row).for_each(|(g, f)| *g -= rho * c * a * f);
            hessian.add_outer(row, self.loss.bend(rho, a));
        }
        (gradient, hessian)
    }

    /// The multipliers a_i = −φ'(c_i <v,Φ_i>), optimal when v is.
    pub(crate) fn multipliers(&self, v: &[f64]) -> Vec<f64> {
        self.rows().map(|(row, c, _)| self.loss.slope(c * dot(row, v))).collect()
    }

    /// The dual value at a: Σ ρ_i H(a_i) - |Σ ρ_i a_i c_i Φ_i|²/(2λ), at most the least risk.
    pub(crate) fn dual(&self, a: &[f64]) -> f64 {
        let mut sum = vec![0.0; self.size];
        let mut information = 0.0;
        for ((row, c, rho), &a) in self.rows().zip(a) {
            information += rho * self.loss.entropy(a);
            sum.iter_mut().zip(row).for_each(|(sum, f)| *sum += rho * a * c * f);
        }
        information - dot(&sum, &sum) / (2.0 * self.ridge)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_chacha::ChaCha12Rng;
    use rand_core::SeedableRng;
    use undertone_numeric::dice::unit;

    fn problem(seed: u64) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
        let mut rng = ChaCha12Rng::seed_from_u64(seed);
        let mut uniform = move || unit(&mut rng);
        let features = (0..120).map(|_| uniform() * 2.0 - 1.0).collect();
        let signs = (0..30).map(|_| if uniform() < 0.5 { -1.0 } else { 1.0 }).collect();
        let weights: Vec<f64> = (0..30).map(|_| uniform() + 0.1).collect();
        let total: f64 = weights.iter().sum();
        (features, signs, weights.iter().map(|w| w / total).collect())
    }

    #[test]
    fn the_slope_and_the_hessian_are_derivatives() {
        for loss in Loss::ALL {
            derivatives_of(loss);
        }
    }

    fn derivatives_of(loss: Loss) {
        let (features, signs, weights) = problem(1);
        let (ridge, size) = (0.05, 4);
        let (signs, weights, features) = (&signs[..], &weights[..], &features[..]);
        let task = Regression { features, size, signs, weights, ridge, loss };
        let v = [0.3, -1.2, 0.7, 2.0];
        let (gradient, hessian) = task.derivatives(&v);
        for j in 0..4 {
            let moved = |by: f64| {
                let mut v = v;
                v[j] += by;
                v
            };
            let h = 1e-5;
            let slope = (task.risk(&moved(h)) - task.risk(&moved(-h))) / (2.0 * h);
            let size = 1.0 + slope.abs();
            assert!((slope - gradient[j]).abs() < 1e-8 * size, "{j}: {slope} {}", gradient[j]);
            let (up, down) = (task.derivatives(&moved(h)).0, task.derivatives(&moved(-h)).0);
            for i in 0..4 {
                let bend = (up[i] - down[i]) / (2.0 * h);
                assert!((bend - hessian.at(i, j)).abs() < 1e-7 * (1.0 + bend.abs()));
            }
        }
    }

    #[test]
    fn the_duality_gap_closes_and_any_multipliers_bound_from_below() {
        for (loss, seed) in Loss::ALL.into_iter().flat_map(|loss| (0..20).map(move |n| (loss, n))) {
            let (features, signs, weights) = problem(seed);
            let (ridge, size) = (0.01 * 3f64.powi(seed as i32 % 5), 4);
            let (signs, weights, features) = (&signs[..], &weights[..], &features[..]);
            let task = Regression { features, size, signs, weights, ridge, loss };
            let v = task.minimise(&[]);
            let least = task.risk(&v);
            let gap = least - task.dual(&task.multipliers(&v));
            assert!(gap.abs() < 1e-11, "{loss:?} {seed}: {gap}");
            // A start far away ends in the same place.
            let other = task.minimise(&[5.0, -5.0, 5.0, -5.0]);
            assert!((task.risk(&other) - least).abs() < 1e-12, "{loss:?} {seed}");
            let mut rng = ChaCha12Rng::seed_from_u64(100 + seed);
            let any: Vec<f64> = (0..30).map(|_| unit(&mut rng)).collect();
            assert!(task.dual(&any) <= least + 1e-12);
            assert!(task.dual(&[0.5; 30]) <= least + 1e-12);
        }
    }
}
