//! Channels for a mean: unbiased, better than the printed mechanisms, and close to the best there is.

use undertone_core::{AlphabetView, Context, MASS_ONE, Policy, Provenance, Shape, Subject};
use undertone_design::codebook::{self, Codebook, Range};
use undertone_design::continuous::{self, ContinuousOutcome, Loss, Method, Request, Shipped};
use undertone_design::measure::delta::Convention;
use undertone_design::quantize::{self, PolicySpec};
use undertone_design::{Distribution, Symbols, protection};

fn request(points: &[f64], protect: &str, prior: Option<&[f64]>) -> Request {
    let range = Range::new("-1".parse().unwrap(), "1".parse().unwrap()).unwrap();
    let decimals = points.iter().map(|x| codebook::decimal(&x.to_string()).unwrap()).collect();
    let codebook = Codebook::of_points(decimals, range, 8).unwrap();
    let known = prior.map(|p| Distribution::new("prior", p.to_vec()).unwrap());
    let context = match &known {
        Some(law) => Context::Known(quantize::prior(law).unwrap().prior),
        None => Context::Unknown,
    };
    let law = known.unwrap_or(Distribution::uniform(points.len()));
    let spec = PolicySpec {
        inputs: codebook.inputs().clone(),
        outputs: None,
        context,
        claims: vec![protection::parse(protect, Subject::Input).unwrap()],
        provenance: Provenance::default(),
    };
    Request {
        prior: law.over(&Symbols::of(codebook.inputs())).unwrap(),
        codebook,
        spec,
        density: None,
        loss: Loss::Mean,
        method: Method::Optimal,
        convention: Convention::Conditional,
        accept: false,
    }
}

fn shipped(request: &Request) -> Box<Shipped> {
    match continuous::design(request).unwrap() {
        ContinuousOutcome::Shipped(shipped) => shipped,
        ContinuousOutcome::Missed(missed) => panic!("{missed:?}"),
    }
}

fn grid(count: usize) -> Vec<f64> {
    // Written as decimals, which the kernel reads exactly.
    let at = |i: usize| format!("{:.9}", 2.0 * i as f64 / (count - 1) as f64 - 1.0);
    (0..count).map(|i| at(i).parse().unwrap()).collect()
}

/// For every input its mean and variance, from the policy's own integers and decimals.
fn moments(policy: &Policy) -> Vec<(f64, f64)> {
    let Shape::Table(table) = policy.draft().shape() else { panic!("no table") };
    let AlphabetView::Points(values) = policy.outputs().view() else { panic!("no numbers") };
    let values: Vec<f64> = values.iter().map(|&value| codebook::float(value)).collect();
    let moments = |masses: &[u64]| {
        let expect = |f: &dyn Fn(f64) -> f64| {
            masses.iter().zip(&values).map(|(&m, &v)| m as f64 * f(v)).sum::<f64>()
                / MASS_ONE as f64
        };
        let mean = expect(&|v| v);
        (mean, expect(&|v| (v - mean).powi(2)))
    };
    table.rows().iter().map(|row| moments(row.masses())).collect()
}

fn worst(policy: &Policy) -> f64 {
    moments(policy).into_iter().map(|(_, variance)| variance).fold(0.0, f64::max)
}

#[test]
fn better_than_one_bit_piecewise_and_hybrid_at_every_level() {
    for count in [9, 41] {
        let points = grid(count);
        for tenths in [1, 2, 4, 6, 7, 10, 15, 20, 30, 40, 50, 60, 70, 80] {
            let epsilon = f64::from(tenths) / 10.0;
            let request = request(&points, &format!("ldp:{epsilon}"), None);
            let shipped = shipped(&request);
            let policy = &shipped.designed.policy;
            for (x, (mean, _)) in points.iter().zip(moments(policy)) {
                assert!((mean - x).abs() < 1e-9, "{epsilon}: {mean} for {x}");
            }
            let variance = worst(policy);
            for (name, printed) in continuous::printed_variances(epsilon.exp()) {
                assert!(variance < printed, "{epsilon}: {variance} and {name} {printed}");
            }
            let bound = shipped.designed.bound.unwrap();
            let utility = shipped.designed.utility.unwrap();
            assert!((utility - variance).abs() < 1e-9 * variance, "{utility} {variance}");
            // Interpolated rows cost at most a quarter of the squared distance of two nodes.
            let apart: f64 = if count > 33 { 2.0 / 32.0 } else { 0.0 };
            let most = bound * 1.001 + apart * apart / 4.0;
            assert!(bound <= variance && variance <= most, "{epsilon}: {bound} {variance}");
        }
    }
}

#[test]
fn two_points_have_the_variance_of_randomised_response() {
    // With two inputs and LDP every channel is made of randomised response, whose unbiased numbers are ±(e+1)/(e-1).
    for epsilon in [0.2f64, 1.0, 3.0] {
        let request = request(&[-1.0, 1.0], &format!("ldp:{epsilon}"), None);
        let e = epsilon.exp();
        let expected = 4.0 * e / (e - 1.0).powi(2);
        let variance = worst(&shipped(&request).designed.policy);
        assert!((variance / expected - 1.0).abs() < 2e-4, "{epsilon}: {variance} {expected}");
    }
}

#[test]
fn a_prior_lowers_the_expected_variance() {
    let points = grid(9);
    let prior = [0.05, 0.1, 0.2, 0.25, 0.15, 0.1, 0.08, 0.05, 0.02];
    let expected = |policy: &Policy| -> f64 {
        moments(policy).iter().zip(prior).map(|((_, variance), p)| variance * p).sum()
    };
    for epsilon in [0.5, 1.0, 2.0] {
        let lip = shipped(&request(&points, &format!("lip:{epsilon}"), Some(&prior)));
        let ldp = shipped(&request(&points, &format!("ldp:{epsilon}"), Some(&prior)));
        let blind = shipped(&request(&points, &format!("ldp:{epsilon}"), None));
        let [lip_value, ldp_value, blind] =
            [&lip, &ldp, &blind].map(|one| expected(&one.designed.policy));
        // Each has more freedom or knows more than the next.
        assert!(
            lip_value < ldp_value && ldp_value < blind * (1.0 + 1e-3),
            "{lip_value} {ldp_value} {blind}"
        );
        for (x, (mean, _)) in points.iter().zip(moments(&lip.designed.policy)) {
            assert!((mean - x).abs() < 1e-9, "{epsilon}: {mean} for {x}");
        }
        let bound = lip.designed.bound.unwrap();
        assert!(bound <= lip_value && lip_value <= bound * 1.001, "{bound} {lip_value}");
    }
}

#[test]
fn both_claims_at_once_are_met() {
    let prior = [0.4, 0.3, 0.2, 0.1];
    let mut both = request(&grid(4), "lip:1", Some(&prior));
    both.spec.claims.push(protection::parse("ldp:1.2", Subject::Input).unwrap());
    let found = shipped(&both);
    let alone = |protect: &str| {
        shipped(&request(&grid(4), protect, Some(&prior))).designed.utility.unwrap()
    };
    let least = alone("lip:1").max(alone("ldp:1.2"));
    let value = found.designed.utility.unwrap();
    assert!(value >= least * (1.0 - 2e-4), "{value} {least}");
    assert!(value <= found.designed.bound.unwrap() * 1.001);
    assert_eq!(found.designed.policy.claims().len(), 2);
}

#[test]
fn what_a_mean_cannot_serve_is_said() {
    let words = |request: &Request| continuous::design(request).unwrap_err().to_string();
    let points = grid(5);
    assert!(words(&request(&points, "ldp:1,0.01", None)).contains("pure claims"));
    assert!(words(&request(&points, "ldp:0", None)).contains("a larger level"));
    let sampled = Request { method: Method::Sampling, ..request(&points, "ldp:1", None) };
    assert!(words(&sampled).contains("leave the method out"));
    let identified = request(&points, "di:3", Some(&[0.2; 5]));
    assert!(words(&identified).contains("does not know di"));
}
