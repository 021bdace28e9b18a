//! Blocks among the items of a plan: never below what every combination, set and outcome gives.

use crate::common::{Q, Random, leakage, ln, nats, rows, sum};
use crate::plan::beliefs::{variables, with_a_wide_leaf};
use crate::plan::{exact, is_bound, plain, policy, verified};
use undertone_core::incidence::{Family, Geometry, Incidence};
use undertone_core::{Alphabet, Given, Law, MASS_ONE, Shape, Table};

/// Blocks with a finite level, few enough to write out, or some other channel.
fn channel(random: &mut Random, size: usize) -> Shape {
    if random.one_in(3) {
        return random.private(size);
    }
    loop {
        let found = random.incidence(size);
        let finite = (1 << 40..MASS_ONE - (1 << 40)).contains(&found.coin());
        if finite && found.blocks().is_none_or(|blocks| blocks <= 12) {
            return Shape::Incidence(found);
        }
    }
}

#[test]
fn beliefs_with_blocks_are_never_below_the_definitions() {
    let mut random = Random::new(1841);
    let (mut near, mut beliefs, mut wide) = (0, 0, 0);
    for _ in 0..150 {
        let count = random.size(1, 3);
        let sizes: Vec<usize> = (0..count).map(|_| random.size(2, 3)).collect();
        let shapes: Vec<Shape> = sizes.iter().map(|&size| channel(&mut random, size)).collect();
        let secrets: Vec<usize> = (0..random.size(0, 1)).map(|_| 2).collect();
        let all: Vec<usize> = sizes.iter().chain(&secrets).copied().collect();
        let law = if random.one_in(2) { random.points(&all) } else { random.tree(&all) };
        let numbered = shapes.iter().all(|shape| match shape {
            Shape::Incidence(blocks) => !blocks.releases_bits(),
            _ => true,
        });
        let blocks = shapes.iter().any(|shape| matches!(shape, Shape::Incidence(_)));
        let parts = plain(shapes, &secrets, law);
        let plan = verified(parts.clone());
        let larger = matches!(parts.law, Law::Tree(_)).then(|| verified(with_a_wide_leaf(&parts)));
        let person = plan.person();
        assert!(is_bound(person.ldp, &exact::ldp(&parts)));
        for about in variables(&parts) {
            for given in [Given::All, Given::Own] {
                let truth = exact::belief(&parts, about, given);
                let found = plan.belief(about, given).unwrap();
                assert!(is_bound(found.upper, &truth.upper), "{about:?} {found:?} {truth:?}");
                assert!(is_bound(found.lower, &truth.lower), "{about:?} {found:?} {truth:?}");
                beliefs += 1;
                // Enumerated, and above only by the unevenness of an index.
                if let (true, Some(found), Some(truth)) =
                    (numbered && blocks, found.lower, truth.lower)
                {
                    assert!(nats(found) <= ln(&truth) + crate::common::ratio(1, 1_000_000_000));
                    near += 1;
                }
            }
            if let Some(larger) = &larger {
                let truth = exact::belief(&parts, about, Given::All);
                let found = larger.belief(about, Given::All).unwrap();
                assert!(is_bound(found.upper, &truth.upper), "{about:?} {found:?} {truth:?}");
                assert!(is_bound(found.lower, &truth.lower), "{about:?} {found:?} {truth:?}");
                wide += 1;
            }
        }
    }
    assert!(near > 60 && beliefs > 400 && wide > 100, "{near} {beliefs} {wide}");
}

/// A kept block, and a report drawn from it: the two channels in a row, by definition.
#[test]
fn reports_from_a_kept_block_are_bounded_by_both_channels() {
    let mut random = Random::new(1842);
    let plane = Geometry::new(2, 3, 1, 0, true).unwrap();
    for _ in 0..20 {
        let coin = MASS_ONE / 8 + random.below(MASS_ONE / 2);
        let memo = Incidence::new(6, coin, Family::Geometry(plane.clone())).unwrap();
        let masses = (0..7).map(|_| random.positive(3, MASS_ONE)).collect();
        let fresh = Shape::Table(Table::from_masses(masses).unwrap());
        let mut parts = plain(vec![Shape::Incidence(memo.clone())], &[], Law::Unknown);
        parts.policies.push(policy(Alphabet::indices(7).unwrap(), fresh.clone()));
        parts.items[0].fresh = Some(1);
        let plan = verified(parts);
        let (first, second) = (rows(&Shape::Incidence(memo)), rows(&fresh));
        let row = |x: &Vec<Q>| -> Vec<Q> {
            (0..3).map(|y| sum((0..7).map(|m| &x[m] * &second[m][y]))).collect()
        };
        let both: Vec<Vec<Q>> = first.iter().map(row).collect();
        let truth = leakage(&both, &[]).ldp;
        let (found, exact) = plan.first_report(0);
        assert!(!exact && is_bound(found, &truth));
        assert!(
            nats(found.unwrap()) <= ln(&truth.unwrap()) + crate::common::ratio(1, 1_000_000_000)
        );
    }
}
