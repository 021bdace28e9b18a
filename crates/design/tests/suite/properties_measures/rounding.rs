//! Bounds are bounds: outward rounding against rationals and 300-bit logarithms.

use crate::properties_measures::generate::*;
use crate::properties_measures::rational::{Exact, Real, real};
use dashu::rational::RBig;
use undertone_design::measure::{ldp, lip, maximal_leakage, mutual_information};
use undertone_design::{Channel, Distribution};
use undertone_testkit::dice::Dice;

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
        let dice = &mut Dice::new(seed);
        let (mut prior, mut q) =
            if seed % 2 == 0 { positive_pair(dice) } else { sparse_pair(dice) };
        let tight = seed % 3 != 0;
        if !tight {
            // Masses down to the subnormal range.
            let shrink = |dice: &mut Dice, p: &Distribution| {
                let weights = p.as_slice().iter();
                let weights = weights.map(|v| v * 2f64.powi(-(dice.count(0, 1070) as i32)));
                Distribution::normalised("tiny", weights.collect())
            };
            // Weights that all vanish cannot be normalised: keep the old ones then.
            prior = shrink(dice, &prior).unwrap_or(prior);
            let rows = q.rows().iter().map(|row| shrink(dice, row).unwrap_or(row.clone()));
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
