//! Sums over lists of numbers.

/// Σ a(i) b(i) over the shorter of the two lists, added in their order. For lists of more than a few dozen numbers
/// [`long_dot`] is several times as fast.
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Σ a(i) b(i) over the shorter of the two lists, in eight strands, which the compiler can keep in vector
/// registers; the order of additions is fixed, and another one than [`dot`]'s.
pub fn long_dot(a: &[f64], b: &[f64]) -> f64 {
    let length = a.len().min(b.len());
    let (a8, a_rest) = a[..length].as_chunks::<8>();
    let (b8, b_rest) = b[..length].as_chunks::<8>();
    let mut sums = [0.0; 8];
    for (a, b) in a8.iter().zip(b8) {
        for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
            *sum += a * b;
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    let [a, b, c, d, e, f, g, h] = sums;
    ((a + b) + (c + d)) + ((e + f) + (g + h)) + rest
}

/// Takes `amount` times `direction` off `target`, over the shorter of the two lists.
pub fn subtract_multiple(target: &mut [f64], amount: f64, direction: &[f64]) {
    for (target, direction) in target.iter_mut().zip(direction) {
        *target -= amount * direction;
    }
}

/// ln Σ e^term, without overflow; -∞ for no terms or terms of -∞ alone. The terms are asked for twice.
pub fn log_sum_exp(terms: impl Iterator<Item = f64> + Clone) -> f64 {
    let top = terms.clone().fold(f64::NEG_INFINITY, f64::max);
    if top.is_infinite() {
        return top;
    }
    top + terms.map(|term| (term - top).exp()).sum::<f64>().ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_of_every_length() {
        for length in 0..40usize {
            let a: Vec<f64> = (0..length).map(|i| i as f64 + 1.0).collect();
            let b: Vec<f64> = (0..length).map(|i| 2.0 * i as f64 - 7.0).collect();
            let plain: f64 = a.iter().zip(&b).map(|(a, b)| a * b).sum();
            // Whole numbers: every order of additions is exact.
            let longer: Vec<f64> = b.iter().copied().chain([5.0; 9]).collect();
            for product in [dot, long_dot] {
                assert_eq!(product(&a, &b), plain);
                assert_eq!((product(&a, &longer), product(&longer, &a)), (plain, plain));
            }
        }
    }

    #[test]
    fn multiples_are_taken_off() {
        let mut target = [1.0, 2.0, 3.0];
        subtract_multiple(&mut target, 2.0, &[1.0, -1.0]);
        assert_eq!(target, [-1.0, 4.0, 3.0]);
    }

    #[test]
    fn logarithms_of_sums_outside_the_floats() {
        let sum = |terms: &[f64]| log_sum_exp(terms.iter().copied());
        assert_eq!(sum(&[]), f64::NEG_INFINITY);
        assert_eq!(sum(&[f64::NEG_INFINITY; 2]), f64::NEG_INFINITY);
        assert_eq!(sum(&[f64::INFINITY, 0.0]), f64::INFINITY);
        assert!(sum(&[f64::NAN, 0.0]).is_nan());
        assert!(
            (sum(&[0.5, -1.0, 2.0]) - (0.5f64.exp() + (-1f64).exp() + 2f64.exp()).ln()).abs()
                < 1e-15
        );
        for shift in [-5000.0, 5000.0] {
            assert!((sum(&[shift, shift, f64::NEG_INFINITY]) - shift - 2f64.ln()).abs() < 1e-12);
        }
    }
}
