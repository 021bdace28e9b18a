//! Gauss and Hermite's quadrature.

use crate::symmetric::Symmetric;

/// Nodes t and weights w with Σ w f(t) = ∫ e^(-t²) f(t) dt for every polynomial f of degree below twice their number: the eigenvalues of
/// the recurrence of Hermite's polynomials (Golub and Welsch 1969).
pub fn gauss_hermite(count: usize) -> Vec<(f64, f64)> {
    let mut recurrence = Symmetric::zero(count);
    for k in 1..count {
        let beside = (k as f64 / 2.0).sqrt();
        recurrence.add(k, k - 1, beside);
        recurrence.add(k - 1, k, beside);
    }
    let pairs = recurrence.eigenpairs().into_iter();
    pairs
        .map(|(node, vector)| (node, std::f64::consts::PI.sqrt() * vector[0] * vector[0]))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_of_the_normal_law() {
        for count in [1, 2, 5, 25] {
            let nodes = gauss_hermite(count);
            // ∫ t^(2k) e^(-t²) dt = Γ(k + ½).
            let mut moment = std::f64::consts::PI.sqrt();
            for k in 0..count.min(8) as i32 {
                let found: f64 = nodes.iter().map(|(t, w)| w * t.powi(2 * k)).sum();
                assert!((found / moment - 1.0).abs() < 1e-11, "{count} {k}: {found}");
                moment *= f64::from(k) + 0.5;
            }
        }
    }
}
