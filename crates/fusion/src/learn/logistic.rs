//! Ridge logistic regression, its dual, and what both say about a detector.

use undertone_numeric::symmetric::Symmetric;
use undertone_numeric::vector::dot;

/// Minimise Σ_i ρ_i ln(1 + exp(-c_i <v,Φ_i>)) + (λ/2)|v|² over v.
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
}

/// ln(1 + e^-u) without overflow.
pub(crate) fn loss(u: f64) -> f64 {
    if u > 0.0 { (-u).exp().ln_1p() } else { u.exp().ln_1p() - u }
}

/// 1/(1 + e^u): minus the slope of [`loss`] at u.
pub(crate) fn slope(u: f64) -> f64 {
    if u > 0.0 {
        let e = (-u).exp();
        e / (1.0 + e)
    } else {
        1.0 / (1.0 + u.exp())
    }
}

/// The entropy of a coin, in nats.
pub(crate) fn entropy(a: f64) -> f64 {
    let term = |p: f64| if p > 0.0 { -p * p.ln() } else { 0.0 };
    term(a) + term(1.0 - a)
}

impl Regression<'_> {
    fn rows(&self) -> impl Iterator<Item = (&[f64], f64, f64)> {
        let rows = self.features.chunks_exact(self.size);
        rows.zip(self.signs).zip(self.weights).map(|((row, &c), &rho)| (row, c, rho))
    }

    /// The risk at v.
    pub(crate) fn risk(&self, v: &[f64]) -> f64 {
        let data: f64 = self.rows().map(|(row, c, rho)| rho * loss(c * dot(row, v))).sum();
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
            let a = slope(c * dot(row, v));
            gradient.iter_mut().zip(row).for_each(|(g, f)| *g -= rho * c * a * f);
            hessian.add_outer(row, rho * a * (1.0 - a));
        }
        (gradient, hessian)
    }

    /// The multipliers a_i = 1/(1 + exp(c_i <v,Φ_i>)), optimal when v is.
    pub(crate) fn multipliers(&self, v: &[f64]) -> Vec<f64> {
        self.rows().map(|(row, c, _)| slope(c * dot(row, v))).collect()
    }

    /// The dual value at a: Σ ρ_i H(a_i) - |Σ ρ_i a_i c_i Φ_i|²/(2λ), at most the least risk.
    pub(crate) fn dual(&self, a: &[f64]) -> f64 {
        let mut sum = vec![0.0; self.size];
        let mut information = 0.0;
        for ((row, c, rho), &a) in self.rows().zip(a) {
            information += rho * entropy(a);
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
        let (features, signs, weights) = problem(1);
        let ridge = 0.05;
        let task =
            Regression { features: &features, size: 4, signs: &signs, weights: &weights, ridge };
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
            assert!((slope - gradient[j]).abs() < 1e-9, "{j}: {slope} {}", gradient[j]);
            let (up, down) = (task.derivatives(&moved(h)).0, task.derivatives(&moved(-h)).0);
            for i in 0..4 {
                let bend = (up[i] - down[i]) / (2.0 * h);
                assert!((bend - hessian.at(i, j)).abs() < 1e-8);
            }
        }
    }

    #[test]
    fn the_duality_gap_closes_and_any_multipliers_bound_from_below() {
        for seed in 0..20 {
            let (features, signs, weights) = problem(seed);
            let ridge = 0.01 * 3f64.powi(seed as i32 % 5);
            let task = Regression {
                features: &features,
                size: 4,
                signs: &signs,
                weights: &weights,
                ridge,
            };
            let v = task.minimise(&[]);
            let least = task.risk(&v);
            let gap = least - task.dual(&task.multipliers(&v));
            assert!(gap.abs() < 1e-12, "{gap}");
            // A start far away ends in the same place.
            let other = task.minimise(&[5.0, -5.0, 5.0, -5.0]);
            assert!((task.risk(&other) - least).abs() < 1e-13);
            let mut rng = ChaCha12Rng::seed_from_u64(100 + seed);
            let any: Vec<f64> = (0..30).map(|_| unit(&mut rng)).collect();
            assert!(task.dual(&any) <= least + 1e-12);
            assert!(task.dual(&[0.5; 30]) <= least + 1e-12);
        }
    }

    #[test]
    fn extreme_scores_neither_overflow_nor_vanish() {
        assert_eq!(loss(1e4), 0.0);
        assert!((loss(-1e4) - 1e4).abs() < 1e-9);
        assert!((loss(0.0) - 2f64.ln()).abs() < 1e-15);
        assert_eq!(slope(-1e4), 1.0);
        assert!(slope(1e4) >= 0.0 && (slope(0.0) - 0.5).abs() < 1e-15);
        assert_eq!(entropy(0.0) + entropy(1.0), 0.0);
    }
}
