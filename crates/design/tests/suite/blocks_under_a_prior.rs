//! What a prior is worth to blocks: two-sided LIP against LDP, blocks of equal mass, head and tail. Numbers of the documentation.

use undertone_core::incidence::{Family, Geometry, Incidence};
use undertone_core::{Context, Shape, Subject};
use undertone_design::designer::{self, DesignOutcome, DesignProblem, Designed, Method};
use undertone_design::mechanism::incidence::Limits;
use undertone_design::objective::Objective;
use undertone_design::{Distribution, protection};
use undertone_testkit::law::{distribution, zipf};
use undertone_testkit::spec::{indexed, under};

fn designed(prior: &Distribution, text: &str, method: Method) -> Designed {
    let claims = vec![protection::parse(text, Subject::Input).unwrap()];
    let (spec, prior) = if text.starts_with("ldp") {
        (indexed(prior.len(), Context::Unknown, claims), prior.clone())
    } else {
        under(prior, claims)
    };
    let request = DesignProblem {
        spec,
        prior,
        objective: Objective::Frequency,
        method,
        accept: false,
        max_bits: None,
    };
    match designer::design(&request).unwrap() {
        DesignOutcome::Shipped(designed) => *designed,
        DesignOutcome::Missed(missed) => panic!("{}", missed.refusal),
    }
}

fn error(prior: &Distribution, text: &str, method: Method) -> f64 {
    designed(prior, text, method).utility.unwrap()
}

/// n times the summed variance on Zipf(1): LDP at ε and at 2ε by subset selection, then under LIP at ε bits, subsets, numbered
/// blocks, blocks of equal mass, and head and tail.
#[test]
fn what_lip_buys_on_zipf() {
    let rows: [(usize, &str, &str, &str, [f64; 5]); 4] = [
        (64, "ldp:1", "ldp:2", "lip:1", [228.3, 44.9, 236.6, 170.5, 149.4]),
        (128, "ldp:1", "ldp:2", "lip:1", [464.0, 91.2, 472.4, 361.1, 315.5]),
        (1024, "ldp:1", "ldp:2", "lip:1", [3763.7, 740.0, 3772.4, 3163.9, 2126.3]),
        (1024, "ldp:0.5", "ldp:1", "lip:0.5", [16015.5, 3763.7, 16045.5, 13268.2, 10877.8]),
    ];
    for (symbols, once, twice, lip, expected) in rows {
        let prior = distribution(&zipf(symbols, 1.0));
        let found = [
            error(&prior, once, Method::Subset),
            error(&prior, twice, Method::Subset),
            error(&prior, lip, Method::Oue),
            error(&prior, lip, Method::Subset),
            error(&prior, lip, Method::Blocks),
        ];
        println!("{symbols} {lip}: {found:.1?}");
        for (found, expected) in found.iter().zip(expected) {
            assert!((found / expected - 1.0).abs() < 2e-3, "{symbols} {lip}: {found} {expected}");
        }
        let [once, twice, bits, subsets, blocks] = found;
        // One bit per symbol gains nothing from the prior: the rarest symbol decides.
        assert!(bits > once && subsets < once && blocks < subsets && blocks > twice);
    }
}

/// A family made for the prior beats every geometry at equal LIP, and head and tail rarely do.
#[test]
fn blocks_of_equal_mass_beat_uniform_ones() {
    for (symbols, lip, uniform, balanced) in [
        (16, "lip:1", 31.5, 22.9),
        (64, "lip:0.5", 686.2, 326.7),
        (64, "lip:1", 149.4, 111.6),
        (64, "lip:2", 27.0, 25.4),
        (128, "lip:1", 315.5, 192.8),
    ] {
        let prior = distribution(&zipf(symbols, 1.0));
        let blocks = error(&prior, lip, Method::Blocks);
        let made = designed(&prior, lip, Method::Balanced);
        let split = error(&prior, lip, Method::HeadTail);
        let best = error(&prior, lip, Method::Compact);
        println!(
            "{symbols} {lip}: blocks {blocks:.1}, balanced {:.1}, head and tail {split:.1}",
            made.utility.unwrap()
        );
        assert!((blocks / uniform - 1.0).abs() < 2e-3, "{symbols} {lip}: {blocks}");
        assert!(
            (made.utility.unwrap() / balanced - 1.0).abs() < 5e-3,
            "{symbols} {lip}: {:?}",
            made.utility
        );
        assert!(best <= 1.01 * blocks.min(split).min(made.utility.unwrap()));
        let Shape::Incidence(family) = made.policy.draft().shape() else { panic!() };
        assert!(matches!(family.family(), Family::Listed(_)));
        assert!(made.blind().is_none());
    }
}

/// Relabelling the symbols of a geometry changes the lightest and the heaviest block, and so how much blocks may say. 400 random
/// orders of Zipf(1) over 64 symbols in the geometry of order 4: the best says hardly more than a typical one.
#[test]
fn relabelling_helps_little() {
    let prior = distribution(&zipf(64, 1.0));
    let made = Incidence::new(64, 0, Family::Geometry(Geometry::hashing(4, 3).unwrap())).unwrap();
    let mut seed = 5u64;
    let mut next = |most: usize| {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 33) as usize % most
    };
    let mut order: Vec<usize> = (0..64).collect();
    let mut ratios: Vec<f64> = (0..400)
        .map(|_| {
            (1..64).rev().for_each(|at| order.swap(at, next(at + 1)));
            let mixed = order.iter().map(|&x| prior[x]).collect();
            let mixed = Distribution::normalised("a prior", mixed).unwrap();
            let claims = vec![protection::parse("lip:1", Subject::Input).unwrap()];
            Limits::of(&under(&mixed, claims).0).of_blocks(&made)
        })
        .collect();
    ratios.sort_by(f64::total_cmp);
    println!("least {:.3}, median {:.3}, most {:.3}", ratios[0], ratios[200], ratios[399]);
    assert!(ratios[0] > 1f64.exp() && ratios[399] < 2f64.exp());
    assert!(ratios[399] < 1.35 * ratios[200]);
}
