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
    use undertone_testkit::law::{distribution, zipf};
    for k in [16usize, 40, 64, 128, 256, 300, 1024] {
        for e in [0.5, 1.0, 2.0] {
            let prior = distribution(&zipf(k, 1.0));
            let (spec, prior) = undertone_testkit::spec::under(
                &prior,
                vec![
                    protection::parse(&format!("lip:{e}"), undertone_core::Subject::Input).unwrap(),
                ],
            );
            let ldp = |e: f64| {
                let r = DesignProblem { prior: prior.clone(), ..request(k, e, Method::Subset) };
                designed(&r).utility.unwrap()
            };
            println!("{k} lip {e}: subset ldp {:.2}, ldp 2e {:.2}", ldp(e), ldp(2.0 * e));
            for method in [
                Method::Subset,
                Method::Oue,
                Method::Blocks,
                Method::Balanced,
                Method::HeadTail,
                Method::Compact,
            ] {
                let t = std::time::Instant::now();
                let r = DesignProblem {
                    spec: spec.clone(),
                    prior: prior.clone(),
                    ..request(k, 1.0, method)
                };
                match designer::design(&r) {
                    Ok(DesignOutcome::Shipped(d)) => println!(
                        "  {:10} {:10.3} bits {} {:?} ldp {:?} {:?}",
                        method.name(),
                        d.utility.unwrap(),
                        d.policy.draft().shape().report_bits(),
                        d.parameters,
                        d.policy.ldp().map(|n| n.to_string()),
                        t.elapsed()
                    ),
                    other => {
                        println!("  {:10} {:?}", method.name(), other.err().map(|e| e.to_string()))
                    }
                }
            }
        }
    }
}
