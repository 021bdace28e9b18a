//! Golden values W09 to W25 of the specification: the watchdog on its two pinned joint laws.

use undertone_design::Joint;
use undertone_design::measure::lip;
use undertone_design::watchdog::{
    Budget, Method, Release, WatchdogProblem, by_columns, by_vertices, merged_leakage, release,
};
use undertone_testkit::golden::assert_golden;

/// Q(ns,nx)[s,x] proportional to frac(k² · golden ratio), k = s·nx + x + 1.
fn spec_joint(secrets: usize, symbols: usize) -> Joint {
    let weight = |k: usize| ((k * k) as f64 * 0.618_033_988_749_894_9).fract();
    let total: f64 = (1..=secrets * symbols).map(weight).sum();
    let row = |s: usize| (0..symbols).map(|x| weight(s * symbols + x + 1) / total).collect();
    Joint::new((0..secrets).map(row).collect()).unwrap()
}

fn q36(lower: f64, upper: f64, method: Method) -> Release {
    release(&spec_joint(3, 6), Budget::new(lower, upper).unwrap(), method).unwrap()
}

fn q2030(lower: f64, upper: f64, method: Method) -> Release {
    release(&spec_joint(20, 30), Budget::new(lower, upper).unwrap(), method).unwrap()
}

fn problem(joint: Joint, lower: f64, upper: f64) -> WatchdogProblem {
    WatchdogProblem::new(&joint, Budget::new(lower, upper).unwrap()).unwrap()
}

#[test]
fn the_printed_mechanism_on_six_symbols() {
    let merged = q36(0.8, 0.5, Method::Merge);
    assert!(merged.met);
    assert_golden("W09", merged.nmi);
    let (lower, upper) = merged_leakage(&problem(spec_joint(3, 6), 0.8, 0.5)).unwrap();
    // Given in the name of W09.
    assert!((lower - 0.381616796875).abs() < 1e-12 && (upper - 0.166309078229).abs() < 1e-12);

    let scrambled = q36(0.8, 0.5, Method::Uniform);
    assert!((scrambled.nmi - merged.nmi).abs() < 1e-14);
    assert!((scrambled.max_lift - merged.max_lift).abs() < 1e-14);
    assert!((scrambled.min_lift - merged.min_lift).abs() < 1e-14);
    assert_eq!(scrambled.channel.outputs(), 6);
}

#[test]
fn groups_on_six_symbols() {
    let subset = q36(0.3, 0.2, Method::Subset);
    assert_golden("W11", subset.nmi);
    assert_eq!(subset.groups, [vec![0, 1, 5], vec![2, 3, 4]]);
    assert_golden("W12", q36(0.3, 0.2, Method::Partition).nmi);
    let best = q36(0.5, 0.3, Method::Partition);
    assert_golden("W13", best.nmi);
    assert_eq!(best.groups, [vec![0, 1], vec![2, 4], vec![3, 5]]);
}

#[test]
fn the_optimum_on_six_symbols() {
    for (id, lower, upper) in [("W14", 0.3, 0.2), ("W16", 0.8, 0.5), ("W17", 1.0, 0.5)] {
        let problem = problem(spec_joint(3, 6), lower, upper);
        let listed = by_vertices(&problem).unwrap();
        assert_golden(id, listed.nmi);
        assert!(listed.max_lift <= upper + 1e-12 && listed.min_lift <= lower + 1e-12);
        assert!(listed.bound.unwrap() - listed.nmi < 1e-12);
        assert!(listed.channel.outputs() <= 6);
        // Column generation gets there without the list, and its own search proves it.
        let generated = by_columns(&problem).unwrap();
        assert!((generated.nmi - listed.nmi).abs() < 1e-9, "{id}: {}", generated.nmi);
        assert!(generated.bound.unwrap() - listed.nmi < 1e-6, "{id}: {:?}", generated.bound);
    }
}

#[test]
fn thirty_symbols() {
    let joint = spec_joint(20, 30);
    let prior = joint.secret();
    assert_golden("W20", -lip::min_lift(prior, joint.given_secret()).unwrap().nats);
    assert_golden("W21", lip::max_lift(prior, joint.given_secret()).unwrap().nats);
    let merged = q2030(1.0, 1.0, Method::Merge);
    assert_golden("W22", merged.nmi);
    assert!(merged.met && merged.low_risk.len() == 1);
    let merged = q2030(1.3, 0.7, Method::Merge);
    assert_golden("W23", merged.nmi);
    assert!(merged.met && merged.low_risk.len() == 4);
}

#[test]
fn repair_gives_up_one_symbol() {
    let printed = q2030(4.0, 1.0, Method::Merge);
    assert!(!printed.met, "the printed mechanism misses this budget");
    assert!(printed.max_lift > 1.0 || printed.min_lift > 4.0);
    let repaired = q2030(4.0, 1.0, Method::Repair);
    assert_golden("W25", repaired.nmi);
    assert!(repaired.met && repaired.max_lift <= 1.0 && repaired.min_lift <= 4.0);
    let merged = |release: &Release| -> Vec<usize> {
        (0..30).filter(|x| !release.groups.contains(&vec![*x])).collect()
    };
    // Of the low-risk symbols, only 13 was given up.
    let given_up: Vec<usize> =
        merged(&repaired).into_iter().filter(|x| printed.low_risk.contains(x)).collect();
    assert_eq!(given_up, [13]);
}
