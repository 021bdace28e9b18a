//! Bounds are bounds: outward rounding against rationals and 300-bit logarithms.

use crate::properties_measures::generate::*;
use crate::properties_measures::rational::{Exact, Real, exact, exact_law, real, total};
use dashu::rational::RBig;
use rand_chacha::ChaCha12Rng;
use rand_core::SeedableRng;
use undertone_design::measure::{ldp, lip, maximal_leakage, mutual_information};
use undertone_design::{Channel, Distribution, round};

/// Asserts bound >= ln(ratio), and that it is no looser than 1e-13 when `tight`.
#[track_caller]
fn assert_bounds(bound: f64, value: Option<Real>, tight: bool) {
    let Some(value) = value else {
        assert_eq!(bound, f64::INFINITY);
        return;
    };
    if bound.is_finite() {
        assert!(Real::try_from(bound).unwrap() >= value, "{bound:e} is below {value}");
    }
    let gap = bound - value.to_f64().value();
    assert!(!tight || gap <= 1e-13, "{bound:e} is {gap:e} above");
}

#[test]
fn upper_bounds_are_never_below_the_exact_leakage() {
    let log = |ratio: Option<RBig>| ratio.map(|r| real(&r).ln());
    for seed in 0..600 {
        let rng = &mut ChaCha12Rng::seed_from_u64(seed);
        let (mut prior, mut q) = if seed % 2 == 0 { positive_pair(rng) } else { sparse_pair(rng) };
        let tight = seed % 3 != 0;
        if !tight {
            // Masses down to the subnormal range.
            let shrink = |rng: &mut ChaCha12Rng, p: &Distribution| {
                let weights = p.as_slice().iter();
                let weights = weights.map(|v| v * 2f64.powi(-(between(rng, 0, 1070) as i32)));
                Distribution::normalised("tiny", weights.collect())
            };
            // Weights that all vanish cannot be normalised: keep the old ones then.
            prior = shrink(rng, &prior).unwrap_or(prior);
            let rows = q.rows().iter().map(|row| shrink(rng, row).unwrap_or(row.clone()));
            q = Channel::from_rows(rows.collect()).unwrap();
        }
        let e = Exact::of(&prior, &q);
        let lip = lip::upper_bound(&prior, &q).unwrap();
        assert_bounds(lip.max_lift, log(e.max_lift()), tight);
        assert_bounds(lip.min_lift, log(e.min_lift()), tight);
        assert_eq!(lip.two_sided(), lip.max_lift.max(lip.min_lift));
        assert_bounds(ldp::upper_bound(&q), log(e.odds(|x, y| e.rows[x][y].clone())), tight);
        let information = mutual_information::upper_bound(&prior, &q).unwrap();
        assert_bounds(information, Some(e.mutual_information()), tight);
        let maximal = maximal_leakage::upper_bound(&prior, &q).unwrap();
        assert_bounds(maximal, log(Some(e.maximal_leakage())), tight);
    }
}

#[test]
fn rounded_arithmetic_encloses_the_exact_result() {
    for seed in 0..4000 {
        let rng = &mut ChaCha12Rng::seed_from_u64(seed);
        let number = |rng: &mut ChaCha12Rng| {
            let size = [30, 300, 1022][between(rng, 0, 2)];
            let sign = if unit(rng) < 0.5 { -1.0 } else { 1.0 };
            sign * (1.0 + unit(rng)) * 2f64.powi(between(rng, 0, 2 * size) as i32 - size as i32)
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
    for_cases(|rng| {
        // Up to 40 weights: their float sum is seldom exactly one.
        let n = between(rng, 1, 40);
        let p = sparse(rng, n);
        let found = round::Enclosure::normalised(p.as_slice());
        for (x, value) in exact_law(&p).into_iter().enumerate() {
            assert!(exact(found.lower[x]) <= value && value <= exact(found.upper[x]));
            assert!(found.upper[x] - found.lower[x] <= 1e-14 * found.upper[x]);
            assert_eq!(p[x] == 0.0, found.upper[x] == 0.0);
        }
    });
}
