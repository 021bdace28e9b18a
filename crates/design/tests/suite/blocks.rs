//! Blocks of symbols, against the closed forms of the literature and from the integers of verified policies.

use undertone_core::{Context, Policy, Shape};
use undertone_design::designer::{self, DesignOutcome, DesignProblem, Designed, Method};
use undertone_design::mechanism::incidence::{self, Rates};
use undertone_design::objective::Objective;
use undertone_design::{Distribution, protection};
use undertone_testkit::spec::indexed;

fn request(symbols: usize, level: f64, method: Method) -> DesignProblem {
    let claim = protection::parse(&format!("ldp:{level}"), undertone_core::Subject::Input).unwrap();
    DesignProblem {
        spec: indexed(symbols, Context::Unknown, vec![claim]),
        prior: Distribution::uniform(symbols),
        objective: Objective::Frequency,
        method,
        accept: false,
        max_bits: None,
    }
}

fn designed(request: &DesignProblem) -> Designed {
    match designer::design(request).unwrap() {
        DesignOutcome::Shipped(designed) => *designed,
        DesignOutcome::Missed(missed) => panic!("{}", missed.refusal),
    }
}

fn at_zero(policy: &Policy) -> f64 {
    match policy.draft().shape() {
        Shape::Incidence(incidence) => Rates::of(incidence).unwrap().variance_at_zero(),
        Shape::Bits(bits) => {
            let part = |units: u64| units as f64 / undertone_core::WEIGHT_ONE as f64;
            Rates { own: part(bits.own()), other: part(bits.other()) }.variance_at_zero()
        }
        Shape::Keep(keep) => {
            let kept = keep.keep()[0] as f64 / undertone_core::KEEP_ONE as f64;
            let other = (1.0 - kept) / keep.keep().len() as f64;
            Rates { own: kept + other, other }.variance_at_zero()
        }
        Shape::Table(_) => panic!("a table has no one variance"),
    }
}

#[test]
fn timing() {
    for (k, e) in
        [(16, 1.0), (16, 2.0), (128, 1.0), (128, 4.0), (1024, 1.0), (1024, 4.0), (1_000_000, 1.0)]
    {
        for method in [
            Method::Krr,
            Method::Oue,
            Method::Subset,
            Method::Projective,
            Method::Hadamard,
            Method::Hashing,
            Method::Blocks,
            Method::Compact,
        ] {
            let t = std::time::Instant::now();
            let d = designed(&request(k, e, method));
            println!(
                "{k} {e} {:10} {:10.4} bits {} {:?} {} {:?}",
                method.name(),
                at_zero(&d.policy),
                d.policy.draft().shape().report_bits(),
                d.parameters,
                d.utility.unwrap() / k as f64,
                t.elapsed()
            );
        }
    }
}
