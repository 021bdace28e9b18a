//! Golden values of the convex objectives and of the closed-form mechanisms.
use undertone_core::{Claim, Context};
use undertone_design::extremal::LiftRange;
use undertone_design::measure::delta::Convention;
use undertone_design::measure::{delta, lip};
use undertone_design::mechanism::{posterior, sampling, staircase, symmetric, unary};
use undertone_design::objective::Objective;
use undertone_design::quantize::{self, PolicySpec};
use undertone_design::{Channel, Distribution, to_floats};
use undertone_testkit::claim::epsilon as level;
use undertone_testkit::golden::assert_golden;
use undertone_testkit::spec::under;

fn prior(p: &[f64]) -> Distribution {
    Distribution::new("prior", p.to_vec()).unwrap()
}

fn range(epsilon: f64) -> LiftRange {
    LiftRange::symmetric(epsilon).unwrap()
}

const SKEWED: [f64; 4] = [0.1, 0.1, 0.1, 0.7];

#[test]
fn g33_g34_g35_the_vertex_program() {
    let prior = prior(&SKEWED);
    let best = |objective| posterior::optimal_lifts(&prior, range(2.0), &objective).unwrap();
    let values = vec![0.0, 1.0, 2.0, 3.0];
    for (id, objective) in [
        ("G33", Objective::Hamming),
        ("G34", Objective::Mmse(values)),
        ("G35", Objective::MutualInformation),
    ] {
        let found = best(objective);
        assert_golden(id, found.optimum);
        assert_golden(id, found.bound.unwrap());
        let leakage = lip::leakage(&prior, &found.channel).unwrap().nats;
        assert!(leakage <= 2.0 + 1e-12, "{id}: {leakage}");
    }
}

/// Specification (a), M-ary: |x-y| .16523 on the same prior, mutual information .29991 on [.5,.3,.2].
#[test]
fn table_a_many_symbols() {
    let values = vec![0.0, 1.0, 2.0, 3.0];
    let found = posterior::optimal_lifts(&prior(&SKEWED), range(2.0), &Objective::Absolute(values));
    assert!((found.unwrap().optimum - 0.16523).abs() < 5e-6);
    let found = posterior::optimal_lifts(
        &prior(&[0.5, 0.3, 0.2]),
        range(1.0),
        &Objective::MutualInformation,
    );
    assert!((found.unwrap().optimum - 0.29991).abs() < 5e-6);
    let normalised = posterior::optimal_lifts(
        &prior(&[0.5, 0.3, 0.2]),
        range(1.0),
        &Objective::NormalisedMutualInformation,
    )
    .unwrap();
    let entropy = prior(&[0.5, 0.3, 0.2]).entropy();
    assert!((normalised.optimum - 0.29991 / entropy).abs() < 5e-6);
    assert!((normalised.bound.unwrap() - normalised.optimum).abs() < 1e-10);
}

#[test]
fn g23_g25_the_vertex_program_agrees_with_the_binary_closed_form() {
    for (id, p1, epsilon) in [("G23", 0.1, 1.0), ("G25", 0.3, 2.0)] {
        let objective = Objective::Mmse(vec![0.0, 1.0]);
        let found = posterior::optimal_lifts(&prior(&[1.0 - p1, p1]), range(epsilon), &objective);
        assert_golden(id, found.unwrap().optimum);
    }
}

/// What ships is within 1e-8 of the float optimum and verifies at the level asked for.
#[test]
fn shipped_policies_keep_nine_digits() {
    let (spec, prior) = under(&prior(&SKEWED), vec![Claim::lip(level("2"))]);
    for objective in [
        Objective::Mmse(vec![0.0, 1.0, 2.0, 3.0]),
        Objective::MutualInformation,
        Objective::Frequency,
        Objective::Hamming,
    ] {
        let found = posterior::optimal(&spec, &prior, &objective).unwrap();
        let (channel, kept) = quantize::drop_ghosts(&found.channel).unwrap();
        let shipped =
            spec.releasing(found.channel.outputs(), &kept).unwrap().ship(&channel).unwrap();
        let integers = to_floats::channel(shipped.policy.draft().shape()).unwrap();
        let value = objective.value(&prior, &integers).unwrap();
        let lost = (value - found.optimum).abs() / found.optimum;
        assert!(lost < 1e-8, "{}: {lost:e}", objective.name());
    }
}

#[test]
fn g48_g49_sampling_without_atoms() {
    let largest = |convention| sampling::largest_atomless(1.0, 0.01, convention).unwrap();
    assert_golden("G48", largest(Convention::Posterior));
    assert_golden("G49", largest(Convention::JointSets));
    assert_eq!(largest(Convention::Conditional), 0.01);
    assert!(sampling::largest_atomless(1.0, 0.01, Convention::Joint).is_err());
}

#[test]
fn g50_sampling_on_a_finite_prior() {
    let prior = prior(&[0.9, 0.1]);
    let lambda = sampling::largest(&prior, range(1.0), 0.0, Convention::Conditional).unwrap();
    assert_golden("G50", lambda);
}

fn sampled(prior: &Distribution, lambda: f64) -> Channel {
    let row = |x: usize| {
        let own = |y: usize| if x == y { lambda } else { 0.0 };
        (0..prior.len()).map(|y| own(y) + (1.0 - lambda) * prior[y]).collect()
    };
    Channel::new((0..prior.len()).map(row).collect()).unwrap()
}

/// In every convention the largest λ uses up δ exactly, and a larger one needs more.
#[test]
fn sampling_uses_up_its_delta() {
    for p in [vec![0.9, 0.1], vec![0.5, 0.3, 0.2], vec![0.02, 0.4, 0.28, 0.3]] {
        let prior = prior(&p);
        for (epsilon, allowed) in [(0.3, 0.02), (1.0, 0.01), (1.5, 0.1)] {
            type Measured = fn(&delta::Excess, &Distribution) -> f64;
            let conventions: [(Convention, Measured); 3] = [
                (Convention::Conditional, |e, _| e.conditional()),
                (Convention::Posterior, |e, _| e.posterior()),
                (Convention::Joint, |e, prior| {
                    let rows = e.above.iter().zip(&e.below).zip(prior.as_slice());
                    rows.map(|((a, b), p)| p * a.max(*b)).fold(0.0, f64::max)
                }),
            ];
            for (convention, measured) in conventions {
                let lambda =
                    sampling::largest(&prior, range(epsilon), allowed, convention).unwrap();
                let needs = |lambda: f64| {
                    let channel = sampled(&prior, lambda);
                    let excess = delta::Excess::of(&prior, &channel, epsilon, epsilon).unwrap();
                    measured(&excess, &prior)
                };
                assert!(needs(lambda) <= allowed + 1e-12, "{p:?} {convention:?}");
                assert!(lambda == 1.0 || needs(lambda + 1e-6) > allowed, "{p:?} {convention:?}");
            }
        }
    }
}

#[test]
fn sampling_ships_the_largest_lambda_the_kernel_accepts() {
    for (claim, delta) in [(Claim::lip(level("1")), 0.0), (Claim::lip(level("1")), 0.01)] {
        let units = (delta * (1u64 << 48) as f64) as u64;
        let claim = claim.with_delta(undertone_core::Delta::from_units(units).unwrap());
        let (spec, realised) = under(&prior(&[0.9, 0.1]), vec![claim]);
        let found = sampling::design(&spec).unwrap();
        let closed =
            sampling::largest(&realised, range(1.0), delta, Convention::Conditional).unwrap();
        assert!((found.lambda - closed).abs() < 1e-9, "{} {closed}", found.lambda);
    }
    let (wrong, _) = under(&prior(&[0.9, 0.1]), vec![Claim::lip(level("1"))]);
    let wrong = PolicySpec { context: Context::Unknown, ..wrong };
    assert!(sampling::design(&wrong).is_err());
}

#[test]
fn unary_encodings_under_ldp() {
    let e = 1f64.exp();
    let (spec, _) = under(&prior(&[0.5, 0.3, 0.2]), vec![Claim::ldp(level("1"))]);
    let oue = unary::design(&spec, unary::Encoding::Optimised).unwrap();
    assert!((oue.own, oue.other - 1.0 / (e + 1.0)) >= (0.5, 0.0), "{oue:?}");
    assert!(oue.other - 1.0 / (e + 1.0) < 1e-8);
    let sue = unary::design(&spec, unary::Encoding::Symmetric).unwrap();
    let half = (0.5f64).exp();
    assert!((sue.own - half / (half + 1.0)).abs() < 1e-8 && sue.own + sue.other == 1.0);
}

/// A known prior allows a larger odds ratio than LDP; at p >= 1/E only falling belief binds.
#[test]
fn unary_encodings_under_lip() {
    for p in [vec![0.9, 0.1], vec![0.5, 0.3, 0.2], vec![0.25; 4]] {
        let (spec, realised) = under(&prior(&p), vec![Claim::lip(level("1"))]);
        let ratio = unary::odds_ratio(&realised, range(1.0));
        assert!(ratio > 1f64.exp());
        for encoding in [unary::Encoding::Optimised, unary::Encoding::Symmetric] {
            let found = unary::design(&spec, encoding).unwrap();
            let (own, other) = unary::probabilities(encoding, ratio).unwrap();
            assert!((found.own - own).abs() < 1e-8 && (found.other - other).abs() < 1e-8);
            let channel = to_floats::channel(found.policy.draft().shape()).unwrap();
            let leakage = lip::leakage(&realised, &channel).unwrap().nats;
            assert!(leakage <= 1.0 + 1e-12 && leakage > 1.0 - 1e-7, "{leakage}");
        }
    }
}

/// Zipf(1) on four symbols: LDP at 1.5 has 0-1 loss .3915, and asking for LIP at 1 besides costs
/// nothing.
#[test]
fn the_staircase_on_zipf() {
    let p: Vec<f64> = (1..=4).map(|i| 12.0 / 25.0 / f64::from(i)).collect();
    let (spec, prior) = under(&prior(&p), vec![Claim::ldp(level("1.5"))]);
    let found = staircase::optimal(&spec, &prior, &Objective::Hamming).unwrap();
    assert!((found.optimum - 0.3915).abs() < 5e-5, "{}", found.optimum);
    assert!((found.bound.unwrap() - found.optimum).abs() < 1e-10);
    let both = PolicySpec {
        claims: vec![Claim::ldp(level("1.5")), Claim::lip(level("1"))],
        ..spec.clone()
    };
    let joint = posterior::optimal(&both, &prior, &Objective::Hamming).unwrap();
    assert!((joint.optimum - found.optimum).abs() < 1e-8, "{}", joint.optimum);
    let leakage = lip::leakage(&prior, &joint.channel).unwrap().nats;
    assert!(leakage <= 1.0 + 1e-9, "{leakage}");
    let krr = staircase::randomized_response(&spec).unwrap();
    let e = 1.5f64.exp();
    assert!((krr.lambda - (e - 1.0) / (e + 3.0)).abs() < 1e-9);
    let channel = to_floats::channel(krr.policy.draft().shape()).unwrap();
    assert!(Objective::Hamming.value(&prior, &channel).unwrap() >= found.optimum - 1e-12);
}

#[test]
fn g29_g31_g32_the_symmetric_model() {
    assert_golden("G29", symmetric::error(0.3, 1.0).unwrap());
    assert_golden("G31", symmetric::opt_ldp_error(0.3, 1.0).unwrap());
    assert_golden("G32", symmetric::context_free_error(100.0, 1.0).unwrap());
    let near = |ours: f64, printed: f64| assert!((ours - printed).abs() < 5e-6, "{ours} {printed}");
    near(symmetric::published_error_at(0.3, 0.2).unwrap(), -0.01462);
    near(symmetric::error_at(0.3, 0.2).unwrap(), 0.14261);
    near(symmetric::published_error(0.3, 1.0).unwrap(), -0.41460);
    // The corrected (22) at Proposition 4's q is the corrected (23), on both sides of one half.
    for p in [0.05, 0.3, 0.5, 0.7, 0.95] {
        let q = symmetric::flip(p, 1.0).unwrap();
        let direct = symmetric::error_at(p, q).unwrap();
        assert!((direct - symmetric::error(p, 1.0).unwrap()).abs() < 1e-14);
        let leakage = lip::leakage(&prior(&[1.0 - p, p]), &symmetric::channel(p, 1.0).unwrap());
        assert!((leakage.unwrap().nats - 1.0).abs() < 1e-12);
    }
    assert!(symmetric::flip(0.0, 1.0).is_err() && symmetric::flip(0.5, f64::NAN).is_err());
}

#[test]
fn example_1_printed_and_corrected() {
    let printed = symmetric::published_example(1.0).unwrap();
    let correct = symmetric::example(100.0, 0.1, 1.0).unwrap();
    for (ours, theirs) in [
        (printed.ldp, 19.66),
        (printed.opt_ldp, 33.87),
        (printed.lip, 40.91),
        (correct.ldp, 92.07),
        (correct.opt_ldp, 160.27),
        (correct.lip, 7.914),
    ] {
        assert!((ours - theirs).abs() < 5e-4 * theirs, "{ours} {theirs}");
    }
    // (24): of 100 answers with 10 ones, the expected number reported is 10(1-q) + 90q, q = 1/(E+1).
    let q = 1.0 / (1f64.exp() + 1.0);
    let reported = 10.0 * (1.0 - q) + 90.0 * q;
    assert!((symmetric::count(100.0, reported, 1.0).unwrap() - 10.0).abs() < 1e-10);
    assert!((symmetric::published_count(100.0, reported, 1.0).unwrap() - 90.0).abs() < 1e-10);
}
