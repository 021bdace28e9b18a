//! Shapes compared, with and without a prior.

use undertone::Prior;
use undertone::design::DesignContext;
use undertone::shapes::{ComparedBy, ShapesRequest, shapes};
use undertone_core::Nats;

fn zipf(symbols: u32) -> Prior {
    let weights: Vec<f64> = (1..=symbols).map(|rank| 1.0 / f64::from(rank)).collect();
    let sum: f64 = weights.iter().sum();
    Prior::new(weights.iter().map(|weight| weight / sum).collect::<Vec<_>>()).unwrap()
}

#[test]
fn a_prior_brings_the_shapes_made_for_it_and_compares_all_shares() {
    let context = DesignContext { priors: vec![zipf(64)], ..DesignContext::default() };
    let protect = vec!["lip:1".parse().unwrap()];
    let found = shapes(&ShapesRequest { context, protect }).unwrap();
    assert_eq!((found.compared_by, found.rows.len()), (ComparedBy::Variance, 9));
    let best = found.rows.iter().min_by(|a, b| a.variance.unwrap().total_cmp(&b.variance.unwrap()));
    assert_eq!(best.unwrap().method, "balanced");
    assert_eq!(found.least(), best.unwrap().variance);
    // LIP 1 lies between LDP 1 and LDP 2, and every row says where.
    let level = |nats: &str| Nats::parse_down(nats).unwrap();
    for row in &found.rows {
        let ldp = row.ldp.unwrap().ln_up().unwrap();
        assert!(level("0.9") < ldp && ldp <= level("2"), "{}: {ldp}", row.method);
    }
    assert!(found.csv().lines().all(|line| line.split(',').count() == 6));
}

#[test]
fn without_a_prior_a_rare_share_decides() {
    let context = DesignContext { size: Some(64), ..DesignContext::default() };
    let protect = vec!["ldp:1".parse().unwrap()];
    let found = shapes(&ShapesRequest { context, protect }).unwrap();
    assert_eq!((found.compared_by, found.rows.len()), (ComparedBy::VarianceAtZero, 7));
    let least = found.rows.iter().filter_map(|row| row.variance_at_zero).min_by(f64::total_cmp);
    assert_eq!(found.least(), least);
}
