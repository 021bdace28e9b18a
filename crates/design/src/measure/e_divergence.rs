//! E-divergence (hockey-stick divergence): what one distribution has beyond γ times another.
//!
//! JSTL21 Definition 8: E_γ(f||h) = sup_S f(S) - γ h(S) = Σ (f - γh)_+; it holds for every
//! finite γ >= 0. γ = 1 is the total variation distance.

use crate::{Distribution, Error};

/// E_γ(f||h) for γ >= 0.
pub fn divergence(f: &Distribution, h: &Distribution, gamma: f64) -> Result<f64, Error> {
    let h = h.in_order_of("the second distribution", f.symbols())?;
    if !(gamma >= 0.0 && gamma.is_finite()) {
        return Err(Error::range("gamma", gamma, "finite and at least 0"));
    }
    Ok(excess(f.as_slice(), h.as_slice(), gamma))
}

/// Σ (f - γh)_+ of two lists of the same length.
pub(super) fn excess(f: &[f64], h: &[f64], gamma: f64) -> f64 {
    f.iter().zip(h).map(|(f, h)| (f - gamma * h).max(0.0)).sum()
}
