//! Gaussian noise.

use undertone_design::Distribution;
use undertone_design::density::{Component, Normal};
use undertone_design::measure::delta::Convention;
use undertone_design::mechanism::gaussian::{
    self, GaussianNoise, Spread, against_wider, between, corollary_10,
};

use crate::properties_continuous::generate::{points, prior};
use undertone_testkit::dice::Dice;
use undertone_testkit::integral::{grid, simpson};

fn normal(mean: f64, deviation: f64) -> Normal {
    Normal::new(mean, deviation).unwrap()
}

#[test]
fn divergences_agree_with_integrals_in_every_case() {
    let mut dice = Dice::new(6);
    for case in 0..80 {
        let first = normal(dice.between(-2.0, 2.0), dice.between(0.4, 3.0));
        let second = match case % 4 {
            0 => normal(dice.between(-2.0, 2.0), first.deviation()),
            1 => first,
            _ => normal(dice.between(-2.0, 2.0), dice.between(0.4, 3.0)),
        };
        let gamma = dice.between(-2.5, 2.5).exp();
        let f = |y: f64| (first.density(y) - gamma * second.density(y)).max(0.0);
        let slow = simpson(f, -40.0, 40.0, 20_000);
        let found = between(&first, &second, gamma).unwrap();
        assert!((found - slow).abs() < 1e-6, "{case}: {found} {slow}");
        // JSTL21 Proposition 3.
        let back = between(&second, &first, 1.0 / gamma).unwrap();
        assert!((found - (gamma * back - gamma + 1.0)).abs() < 1e-12, "{case}: {found} {back}");
    }
    for gamma in [f64::NAN, -1.0, f64::INFINITY] {
        assert!(between(&normal(0.0, 1.0), &normal(0.0, 1.0), gamma).is_err());
    }
}

#[test]
fn excess_against_wider_mixtures_agrees_with_integrals() {
    let mut dice = Dice::new(7);
    for case in 0..60 {
        let law = normal(dice.between(-2.0, 2.0), dice.between(0.4, 1.0));
        let n = dice.count(1, 4);
        let weights = prior(n, &mut dice);
        let part = |weight: f64, dice: &mut Dice| {
            let wider = law.deviation() * if case % 3 == 0 { 1.0 } else { dice.between(1.0, 3.0) };
            Component { weight: weight.max(1e-4), law: normal(dice.between(-3.0, 3.0), wider) }
        };
        let mut mixture: Vec<Component> =
            weights.as_slice().iter().map(|&w| part(w, &mut dice)).collect();
        let total: f64 = mixture.iter().map(|c| c.weight).sum();
        mixture.iter_mut().for_each(|c| c.weight /= total);
        let epsilon = dice.between(0.0, 2.0);
        let all = |y: f64| mixture.iter().map(|c| c.weight * c.law.density(y)).sum::<f64>();
        let odds = epsilon.exp();
        let above = simpson(|y| (law.density(y) - odds * all(y)).max(0.0), -30.0, 30.0, 20_000);
        let below = simpson(|y| (all(y) - odds * law.density(y)).max(0.0), -30.0, 30.0, 20_000);
        let found = against_wider(&law, &mixture, epsilon).unwrap();
        assert!((found.above - above).abs() < 1e-6, "{case}: {found:?} {above}");
        assert!((found.below - below).abs() < 1e-6, "{case}: {found:?} {below}");
        if let [only] = mixture.as_slice() {
            let closed = between(&law, &only.law, odds).unwrap();
            assert!((found.above - closed).abs() < 1e-12);
        }
    }
    let narrow = [Component { weight: 1.0, law: normal(0.0, 0.5) }];
    assert!(against_wider(&normal(0.0, 1.0), &narrow, 1.0).is_err());
}

#[test]
fn the_gaussian_audit_agrees_with_integrals_and_its_bound_is_one() {
    let mut dice = Dice::new(8);
    for case in 0..16 {
        let n = dice.count(2, 6);
        let points = points(n, -2.0, 2.0, &mut dice);
        let prior = prior(points.len(), &mut dice);
        let deviations: Vec<f64> = if case % 3 == 0 {
            vec![dice.between(0.5, 3.0); points.len()]
        } else {
            points.iter().map(|_| dice.between(0.5, 3.0)).collect()
        };
        let noise = GaussianNoise::new(&points, &deviations).unwrap();
        let epsilon = dice.between(0.0, 2.5);
        let excess = noise.excess(&prior, epsilon).unwrap();
        let law = |y: f64| {
            noise.bells().iter().zip(prior.as_slice()).map(|(b, p)| p * b.density(y)).sum::<f64>()
        };
        let odds = epsilon.exp();
        let mut worst = 0.0f64;
        for (sides, bell) in excess.sides.iter().zip(noise.bells()) {
            let above =
                simpson(|y| (bell.density(y) - odds * law(y)).max(0.0), -35.0, 35.0, 12_000);
            let below =
                simpson(|y| (law(y) - odds * bell.density(y)).max(0.0), -35.0, 35.0, 12_000);
            assert!((sides.above - above).abs() < 1e-6, "{case}: {sides:?} {above}");
            assert!((sides.below - below).abs() < 1e-6, "{case}: {sides:?} {below}");
            worst = worst.max(above).max(below);
        }
        let found = noise.delta(&prior, epsilon).unwrap();
        assert!((found - worst).abs() < 1e-6);
        assert!((excess.delta(Convention::Conditional, &prior).unwrap() - found).abs() < 1e-15);
        assert!(excess.delta(Convention::Posterior, &prior).unwrap() <= found);
        assert!(excess.delta(Convention::Joint, &prior).unwrap() <= found);
        assert!(excess.delta(Convention::JointSets, &prior).is_err());
        for cells in [50, 400, 3000] {
            let upper = noise.delta_upper(&prior, epsilon, cells).unwrap();
            assert!(upper >= found - 1e-13, "{case} {cells}: {upper} {found}");
        }
        // One deviation a hair different takes the other road and must arrive at the same place.
        if case % 3 == 0 {
            let mut nearly = deviations.clone();
            nearly[0] *= 1.0 + 1e-12;
            let scanned = GaussianNoise::new(&points, &nearly).unwrap();
            assert!((scanned.delta(&prior, epsilon).unwrap() - found).abs() < 1e-10);
        }
        // ε at that δ is where we came from.
        if found > 1e-9 {
            let back = noise.epsilon(&prior, found, 60.0).unwrap().unwrap();
            assert!((back - epsilon).abs() < 1e-6, "{case}: {back} {epsilon}");
        }
    }
}

#[test]
fn corollary_10_spends_its_delta_exactly_for_laws_and_for_points() {
    let mut dice = Dice::new(9);
    for case in 0..30 {
        let n = dice.count(1, 4);
        let weights = prior(n, &mut dice);
        let parts: Vec<Spread> = weights
            .as_slice()
            .iter()
            .filter(|w| **w > 0.0)
            .map(|&weight| Spread {
                weight,
                mean: dice.between(-2.0, 2.0),
                deviation: if case % 2 == 0 { dice.between(0.2, 2.0) } else { 0.0 },
            })
            .collect();
        let (x, epsilon) = (dice.between(-3.0, 3.0), dice.between(0.3, 3.0));
        let target = 10f64.powf(dice.between(-5.0, -1.0));
        let sigma = corollary_10(&parts, x, epsilon, target).unwrap();
        let spent = |sigma: f64| {
            let widened: Vec<Component> = parts
                .iter()
                .map(|p| Component {
                    weight: p.weight,
                    law: normal(p.mean, p.deviation.hypot(sigma)),
                })
                .collect();
            against_wider(&normal(x, sigma), &widened, epsilon).unwrap().conditional()
        };
        assert!((spent(sigma) / target - 1.0).abs() < 1e-6, "{case}: {} {target}", spent(sigma));
        assert!(spent(0.999 * sigma) > target);
    }
    for (epsilon, target) in [(1.0, 0.0), (1.0, 1.0), (f64::NAN, 0.1), (1.0, f64::NAN)] {
        let part = Spread { weight: 1.0, mean: 0.0, deviation: 1.0 };
        assert!(corollary_10(&[part], 0.0, epsilon, target).is_err());
    }
}

/// JSTL21 Lemma 2 holds in these conventions because every prior is over the same grid: noise that
/// keeps (ε,δ) for each component keeps it for their mixture. (For STL19's convention it fails:
/// `golden_measures::mixtures_of_priors_break_stl19_definition_4`.)
#[test]
fn a_mixture_of_priors_needs_no_more_than_its_worst_component() {
    let mut dice = Dice::new(10);
    let points = grid(-1.0, 1.0, 6);
    for _ in 0..30 {
        let (a, b, share) = (prior(7, &mut dice), prior(7, &mut dice), dice.unit());
        let mixed =
            a.as_slice().iter().zip(b.as_slice()).map(|(a, b)| share * a + (1.0 - share) * b);
        let mixed = Distribution::normalised("mixed", mixed.collect()).unwrap();
        let noise = GaussianNoise::constant(&points, dice.between(0.5, 3.0)).unwrap();
        let epsilon = dice.between(0.0, 2.0);
        for convention in [Convention::Conditional, Convention::Posterior] {
            let of = |prior: &Distribution| {
                noise.excess(prior, epsilon).unwrap().delta(convention, prior).unwrap()
            };
            assert!(of(&mixed) <= of(&a).max(of(&b)) + 1e-13);
        }
    }
}

#[test]
fn the_ldp_deviations_are_what_they_say() {
    let mut dice = Dice::new(11);
    for _ in 0..30 {
        let (width, epsilon) = (dice.between(0.1, 50.0), dice.between(0.05, 8.0));
        let target = 10f64.powf(dice.between(-8.0, -1.0));
        let analytic = gaussian::analytic(width, epsilon, target).unwrap();
        let spent = gaussian::analytic_delta(width, epsilon, analytic).unwrap();
        assert!((spent / target - 1.0).abs() < 1e-7);
        let vanilla = gaussian::vanilla(width, epsilon, target).unwrap();
        let bound = gaussian::vanilla_delta(width, epsilon, vanilla);
        assert!((bound / target - 1.0).abs() < 1e-9);
        if epsilon <= 1.0 {
            assert!(analytic <= vanilla);
        }
    }
    assert!(gaussian::vanilla(1.0, 0.0, 0.1).is_err());
    assert!(gaussian::analytic(0.0, 1.0, 0.1).is_err());
    assert!(gaussian::analytic(1.0, 1.0, 0.0).is_err());
}
