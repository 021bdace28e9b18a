//! Outward rounding against rationals and 300-bit logarithms.

use dashu::float::{FBig, round::mode::HalfEven};
use dashu::rational::RBig;
use undertone_numeric::dice::{Dice, below, unit};
use undertone_numeric::round;

type Real = FBig<HalfEven, 2>;

fn exact(value: f64) -> RBig {
    RBig::try_from(value).unwrap()
}

/// 300 bits: far beyond anything a float comparison can notice.
fn real(value: &RBig) -> Real {
    value.to_float::<HalfEven, 2>(300).value()
}

/// Rationals have no `Sum`.
fn total(values: impl Iterator<Item = RBig>) -> RBig {
    values.fold(RBig::ZERO, |sum, value| sum + value)
}

#[test]
fn rounded_arithmetic_encloses_the_exact_result() {
    for seed in 0..4000 {
        let rng = &mut Dice::new(seed);
        let number = |rng: &mut Dice| {
            let size = [30, 300, 1022][below(3, rng)];
            let sign = if unit(rng) < 0.5 { -1.0 } else { 1.0 };
            sign * (1.0 + unit(rng)) * 2f64.powi(below(2 * size + 1, rng) as i32 - size as i32)
        };
        let (a, b) = (number(rng), number(rng));
        let (x, y) = (exact(a), exact(b));
        let encloses = |down: f64, value: &RBig, up: f64| {
            assert!(down == f64::NEG_INFINITY || exact(down) <= *value, "{a:e} {b:e}: {down:e}");
            assert!(up == f64::INFINITY || exact(up) >= *value, "{a:e} {b:e}: {up:e}");
            assert!(up <= down.next_up().next_up(), "{a:e} {b:e}: {down:e} to {up:e}");
        };
        encloses(round::add_down(a, b), &(&x + &y), round::add_up(a, b));
        encloses(round::sub_down(a, b), &(&x - &y), round::sub_up(a, b));
        encloses(round::mul_down(a, b), &(&x * &y), round::mul_up(a, b));
        encloses(round::div_down(a, b), &(&x / &y), round::div_up(a, b));
        if (a + b).is_finite() {
            let terms = [a, b, 0.1, -b];
            let value = total(terms.iter().map(|&v| exact(v)));
            assert!(exact(round::sum_up(terms)) >= value && exact(round::sum_down(terms)) <= value);
        }
        let log = real(&exact(a.abs())).ln();
        assert!(Real::try_from(round::ln_down(a.abs())).unwrap() <= log);
        assert!(Real::try_from(round::ln_up(a.abs())).unwrap() >= log);
        let power = -745.0 + 1450.0 * unit(rng);
        let value = real(&exact(power)).exp();
        assert!(Real::try_from(round::exp_down(power)).unwrap() <= value, "{power}");
        assert!(Real::try_from(round::exp_up(power)).unwrap() >= value, "{power}");
    }
}

#[test]
fn enclosures_hold_the_normalised_numbers() {
    for seed in 0..300 {
        let rng = &mut Dice::new(seed);
        // Up to 40 weights, some of them zero: their float sum is seldom exactly one.
        let weight = |rng: &mut Dice| if unit(rng) < 0.3 { 0.0 } else { unit(rng).powi(3) };
        let count = 1 + below(40, rng);
        let mut weights: Vec<f64> = (0..count).map(|_| weight(rng)).collect();
        weights[0] += 1e-3;
        let sum: f64 = weights.iter().sum();
        weights.iter_mut().for_each(|weight| *weight /= sum);
        let found = round::Enclosure::normalised(&weights);
        let whole = total(weights.iter().map(|&weight| exact(weight)));
        for (x, &weight) in weights.iter().enumerate() {
            let value = exact(weight) / &whole;
            assert!(exact(found.lower[x]) <= value && value <= exact(found.upper[x]));
            assert!(found.upper[x] - found.lower[x] <= 1e-14 * found.upper[x]);
            assert_eq!(weight == 0.0, found.upper[x] == 0.0);
        }
    }
}
