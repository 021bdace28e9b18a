//! The beta distribution's integral.

/// I_x(a,b), the regularised incomplete beta function, for a, b > 0.
///
/// Its continued fraction by Lentz's method, on whichever side of the mean converges fast.
pub(super) fn incomplete(a: f64, b: f64, x: f64) -> f64 {
    if !(x > 0.0) {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    let lead = (a * x.ln() + b * (-x).ln_1p() - ln_beta(a, b)).exp();
    if x < (a + 1.0) / (a + b + 2.0) {
        lead * fraction(a, b, x) / a
    } else {
        1.0 - lead * fraction(b, a, 1.0 - x) / b
    }
}

/// ln B(a,b).
pub(super) fn ln_beta(a: f64, b: f64) -> f64 {
    ln_gamma(a) + ln_gamma(b) - ln_gamma(a + b)
}

fn fraction(a: f64, b: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let away = |v: f64| if v.abs() < TINY { TINY } else { v };
    let mut c = 1.0;
    let mut d = 1.0 / away(1.0 - (a + b) * x / (a + 1.0));
    let mut value = d;
    for m in 1..100_000u32 {
        let m = f64::from(m);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 / away(1.0 + even * d);
        c = away(1.0 + even / c);
        value *= d * c;
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 / away(1.0 + odd * d);
        c = away(1.0 + odd / c);
        value *= d * c;
        if (d * c - 1.0).abs() <= 1e-16 {
            break;
        }
    }
    value
}

/// ln Γ(z) for z > 0: Stirling's series above 12, reached by Γ(z+1) = zΓ(z).
fn ln_gamma(mut z: f64) -> f64 {
    let mut product = 1.0;
    while z < 12.0 {
        product *= z;
        z += 1.0;
    }
    // B_2k / (2k(2k-1)), k = 1, 2, ...
    const SERIES: [f64; 6] =
        [1.0 / 12.0, -1.0 / 360.0, 1.0 / 1260.0, -1.0 / 1680.0, 1.0 / 1188.0, -691.0 / 360_360.0];
    let square = 1.0 / (z * z);
    let tail = SERIES.iter().rev().fold(0.0, |sum, term| sum * square + term) / z;
    (z - 0.5) * z.ln() - z + 0.5 * std::f64::consts::TAU.ln() + tail - f64::ln(product)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gamma_of_whole_and_half_numbers() {
        for (z, expected) in [(1.0, 1.0f64), (5.0, 24.0), (0.5, std::f64::consts::PI.sqrt())] {
            assert!((ln_gamma(z) - expected.ln()).abs() < 2e-14, "{z}");
        }
    }

    #[test]
    fn whole_parameters_are_binomial_sums() {
        // I_x(a,b) = P(Bin(a+b-1, x) >= a).
        for (a, b) in [(1u32, 1u32), (2, 5), (5, 2), (7, 9)] {
            for x in [0.01f64, 0.2, 0.5, 0.77, 0.999] {
                let n = a + b - 1;
                let choose =
                    |k: u32| (0..k).map(|i| f64::from(n - i) / f64::from(i + 1)).product::<f64>();
                let term = |k: u32| choose(k) * x.powi(k as i32) * (1.0 - x).powi((n - k) as i32);
                let sum: f64 = (a..=n).map(term).sum();
                let found = incomplete(f64::from(a), f64::from(b), x);
                assert!((found - sum).abs() < 1e-13, "{a} {b} {x}: {found} {sum}");
            }
        }
        assert_eq!((incomplete(2.0, 3.0, -1.0), incomplete(2.0, 3.0, 1.5)), (0.0, 1.0));
        // The arcsine law.
        let arcsine = 2.0 / std::f64::consts::PI * 0.3f64.sqrt().asin();
        assert!((incomplete(0.5, 0.5, 0.3) - arcsine).abs() < 1e-13);
    }
}
