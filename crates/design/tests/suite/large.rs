//! Large alphabets and boxes of priors: nothing grows with the square of the alphabet, and every box is designed for.

use undertone_core::{Context, Shape};
use undertone_design::designer::{self, DesignOutcome, DesignProblem, Designed, Method};
use undertone_design::knowledge::Knowledge;
use undertone_design::mechanism::keep;
use undertone_design::objective::Objective;
use undertone_design::prior_region::PriorBox;
use undertone_design::{Distribution, protection, to_floats};
use undertone_testkit::law::{distribution, zipf};
use undertone_testkit::spec::indexed;

fn request(
    knowledge: &Knowledge,
    claims: &[&str],
    objective: Objective,
    method: Method,
) -> DesignProblem {
    let prior = knowledge.typical_prior().unwrap().unwrap();
    let about = knowledge.subject();
    let claims = claims.iter().map(|text| protection::parse(text, about).unwrap()).collect();
    let context = knowledge.context().unwrap().context;
    let spec = indexed(prior.len(), context, claims);
    DesignProblem { spec, prior, objective, method, accept: false, max_bits: None }
}

fn designed(request: &DesignProblem) -> Designed {
    match designer::design(request).unwrap() {
        DesignOutcome::Shipped(designed) => *designed,
        DesignOutcome::Missed(missed) => panic!("{}", missed.refusal),
    }
}

/// A table of pairs would take 80 GB here: this test ends only where there is none.
#[test]
fn a_hundred_thousand_symbols_by_every_method() {
    let known = Knowledge::Known(distribution(&zipf(100_000, 1.0)));
    for method in [Method::Optimal, Method::Krr, Method::Oue, Method::Sue, Method::Sampling] {
        for objective in [Objective::Frequency, Objective::Hamming] {
            let found = designed(&request(&known, &["lip:1"], objective, method));
            assert!(found.channel.is_none());
            assert_eq!(found.policy.draft().shape().inputs(), 100_000);
        }
    }
    let numbers = Objective::Squared((0..100_000).map(f64::from).collect());
    let refused = designer::design(&request(&known, &["lip:1"], numbers.clone(), Method::Optimal));
    let said = refused.unwrap_err().to_string();
    assert!(said.contains("100000 symbols") && said.contains("fewer bins"), "{said}");
    let found = designed(&request(&known, &["ldp:1"], numbers, Method::Krr));
    assert!(found.utility.unwrap() > 0.0);
}

/// For the shares of many symbols blocks are as good as bits, in two bytes for a thousand, and beat every channel that names one symbol.
#[test]
fn the_best_shape_for_many_shares_is_chosen() {
    for symbols in [40, 200, 1000] {
        let known = Knowledge::Known(distribution(&zipf(symbols, 1.0)));
        for claims in [["lip:1"], ["ldp:1"]] {
            let best = designed(&request(&known, &claims, Objective::Frequency, Method::Optimal));
            for method in [Method::Krr, Method::Oue, Method::Sue] {
                let other = designed(&request(&known, &claims, Objective::Frequency, method));
                let (best, other) = (best.utility.unwrap(), other.utility.unwrap());
                assert!(best <= 1.01 * other, "{symbols} {claims:?} {method:?}: {best} {other}");
            }
            let shape = best.policy.draft().shape();
            assert!(matches!(shape, Shape::Incidence(_)), "{symbols} {claims:?}");
            assert!(symbols < 1000 || shape.report_bits() <= 13, "{symbols} {claims:?}");
        }
    }
}

/// Where levels are so small that the solver gives up, shapes with a formula serve.
#[test]
fn the_smallest_levels_have_a_policy() {
    for symbols in [7, 20] {
        let known = Knowledge::Known(Distribution::uniform(symbols));
        for claim in ["ldp:0.01", "ldp:0.0001"] {
            let found = designed(&request(&known, &[claim], Objective::Frequency, Method::Optimal));
            let subset = designed(&request(&known, &[claim], Objective::Frequency, Method::Subset));
            assert!(found.utility.unwrap() <= 1.01 * subset.utility.unwrap(), "{symbols} {claim}");
        }
    }
}

/// The best constant answer, against every constant channel, and without a table of pairs at 10^5 symbols.
#[test]
fn a_blind_guess_needs_no_table() {
    let prior = distribution(&zipf(9, 1.0));
    let values: Vec<f64> = (0..9).map(|x| f64::from((x * 5) % 9) - 2.5).collect();
    let matrix = (0..9).map(|x| (0..9).map(|y| f64::from((3 * x + 5 * y) % 7)).collect()).collect();
    for objective in [
        Objective::Hamming,
        Objective::Absolute(values.clone()),
        Objective::Squared(values),
        Objective::Matrix(matrix),
    ] {
        let losses = objective.losses(9).unwrap().unwrap();
        let constant = |y: usize| (0..9).map(|x| prior[x] * losses[x][y]).sum::<f64>();
        let best = (0..9).map(constant).fold(f64::INFINITY, f64::min);
        let blind = objective.blind(&prior).unwrap();
        assert!((blind - best).abs() < 1e-12, "{}: {blind} {best}", objective.name());
    }
    let known = Knowledge::Known(distribution(&zipf(100_000, 1.0)));
    let values: Vec<f64> = (0..100_000).map(f64::from).collect();
    for objective in
        [Objective::Hamming, Objective::Absolute(values.clone()), Objective::Squared(values)]
    {
        let asked = request(&known, &["ldp:1"], objective, Method::Krr);
        assert!(designed(&asked).utility.is_some());
        assert!(designer::compare(&asked).unwrap().blind.is_finite());
    }
    for method in [Method::Published, Method::ExtremalLdp] {
        let refused = designer::design(&request(&known, &["lip:1"], Objective::Frequency, method));
        assert!(matches!(refused, Err(undertone_design::Error::TooLarge { .. })), "{method:?}");
    }
}

/// The formulas for `Keep` are those of the channel written out.
#[test]
fn keep_is_judged_without_writing_it_out() {
    let prior = distribution(&zipf(70, 1.0));
    let known = Knowledge::Known(prior.clone());
    let values: Vec<f64> = (0..70).map(|x| f64::from((x * 37) % 70) - 11.5).collect();
    for method in [Method::Krr, Method::Sampling] {
        let found = designed(&request(&known, &["lip:3"], Objective::Frequency, method));
        let Shape::Keep(shape) = found.policy.draft().shape() else { panic!() };
        let channel = to_floats::channel(found.policy.draft().shape()).unwrap();
        for objective in [
            Objective::Hamming,
            Objective::Frequency,
            Objective::Absolute(values.clone()),
            Objective::Squared(values.clone()),
        ] {
            let direct = objective.value(&prior, &channel).unwrap();
            let formula = keep::value(shape, &prior, &objective).unwrap();
            let name = objective.name();
            assert!((direct - formula).abs() <= 1e-8 * direct.abs(), "{name}: {direct} {formula}");
        }
    }
}

/// Every objective has a design over a box; it is no better than that for a single prior of it, no worse than the best LDP
/// channel, and holds at the box's corners.
#[test]
fn a_box_of_priors_is_designed_for_under_every_objective() {
    for (lower, upper) in [
        (vec![0.2, 0.1, 0.3], vec![0.5, 0.4, 0.6]),
        (vec![0.15; 5], vec![0.3; 5]),
        (vec![0.05; 10], vec![0.2; 10]),
    ] {
        let size = lower.len();
        let within = Knowledge::Within(PriorBox::new(lower, upper).unwrap());
        let middle = within.typical_prior().unwrap().unwrap();
        let values: Vec<f64> = (0..size).map(|x| x as f64).collect();
        for objective in
            [Objective::Mmse(values), Objective::MutualInformation, Objective::Frequency]
        {
            let found = designed(&request(&within, &["lip:1"], objective.clone(), Method::Optimal));
            assert!(matches!(found.policy.draft().context(), Context::Within(_)));
            let attained = found.policy.certificate().input.lip().unwrap().ln_up().unwrap();
            assert!(attained.units() <= 10_000_000_000, "{attained}");
            let single = Knowledge::Known(middle.clone());
            let single =
                designed(&request(&single, &["lip:1"], objective.clone(), Method::Optimal));
            let sign = if objective.is_gain() { -1.0 } else { 1.0 };
            let (robust, free) = (sign * found.utility.unwrap(), sign * single.utility.unwrap());
            let name = objective.name();
            // Single priors are optimal up to a gap of their own for frequency.
            assert!(robust >= free - 1e-3 * free.abs(), "{name} {size}: {robust} {free}");
            let nothing = Knowledge::Known(middle.clone());
            let ldp = designed(&request(&nothing, &["ldp:1"], objective, Method::Optimal));
            let private = sign * ldp.utility.unwrap();
            assert!(robust <= private + 1e-3 * private.abs(), "{name} {size}: {robust} {private}");
        }
    }
}

#[test]
fn a_large_box_takes_a_shape_that_is_not_written_out() {
    let within =
        Knowledge::Within(PriorBox::new(vec![0.5 / 500.0; 500], vec![3.0 / 500.0; 500]).unwrap());
    for objective in [Objective::Frequency, Objective::Hamming] {
        let found = designed(&request(&within, &["lip:2"], objective, Method::Optimal));
        assert!(found.utility.unwrap().is_finite());
    }
}
