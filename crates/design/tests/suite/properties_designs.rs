//! "No policy can pass this": no policy that ships does, whatever method it came from.

use undertone_core::{Alphabet, Provenance};
use undertone_design::designer::{self, DesignOutcome, DesignProblem, Method};
use undertone_design::knowledge::Knowledge;
use undertone_design::objective::Objective;
use undertone_design::quantize::PolicySpec;
use undertone_design::{Distribution, Joint, protection};

use undertone_testkit::dice::{Dice, rounds};
use undertone_testkit::law::{distribution, extreme};

fn objective(at: usize, symbols: usize) -> Objective {
    let values = (0..symbols).map(|x| x as f64).collect();
    match at {
        0 => Objective::Hamming,
        1 => Objective::Absolute(values),
        2 => Objective::Squared(values),
        3 => Objective::Mmse(values),
        4 => Objective::MutualInformation,
        5 => Objective::NormalisedMutualInformation,
        _ => Objective::Frequency,
    }
}

fn request(
    knowledge: &Knowledge,
    prior: &Distribution,
    protect: &[String],
    goal: Objective,
) -> Option<DesignProblem> {
    let about = knowledge.subject();
    let claims = protect
        .iter()
        .map(|text| knowledge.claim(protection::parse(text, about).unwrap()))
        .collect();
    let spec = PolicySpec {
        inputs: Alphabet::indices(prior.len()).unwrap(),
        outputs: None,
        context: knowledge.context().ok()?.context,
        claims,
        provenance: Provenance::default(),
    };
    Some(DesignProblem {
        spec,
        prior: prior.clone(),
        objective: goal,
        method: Method::Optimal,
        accept: false,
        max_bits: None,
    })
}

#[test]
fn no_shipped_policy_passes_the_bound() {
    let mut dice = Dice::new(61);
    let (mut compared, mut wrong) = (0, Vec::new());
    for round in 0..rounds(420) {
        let m = 2 + dice.below(4);
        let weighs = distribution(&extreme(m, &mut dice));
        let knowledge = match dice.below(5) {
            0 => Knowledge::Each(vec![weighs.clone(), distribution(&extreme(m, &mut dice))]),
            1 => {
                let given: Vec<Vec<f64>> = (0..2)
                    .map(|_| distribution(&extreme(m, &mut dice)).as_slice().to_vec())
                    .collect();
                let share = 0.2 + 0.6 * dice.unit();
                let row = |s: usize, w: f64| given[s].iter().map(|p| w * p).collect();
                Knowledge::Secret(
                    "s".into(),
                    Joint::new(vec![row(0, share), row(1, 1.0 - share)]).unwrap(),
                )
            }
            _ => Knowledge::Known(weighs.clone()),
        };
        let weighs = match &knowledge {
            Knowledge::Known(_) => weighs,
            other => other.typical_prior().unwrap().unwrap(),
        };
        let epsilon = dice.budget().clamp(1e-3, 15.0);
        let mut protect = vec![match dice.below(3) {
            0 => format!("ldp:{epsilon:.9}"),
            1 => format!("alip:{epsilon:.9},{:.9}", dice.budget().clamp(1e-3, 15.0)),
            _ => format!("lip:{epsilon:.9}"),
        }];
        if dice.unit() < 0.2 {
            protect.push(format!("ldp:{:.9}", 0.1 + 2.0 * dice.unit()));
        }
        let goal = objective(round % 7, m);
        let Some(request) = request(&knowledge, &weighs, &protect, goal) else { continue };
        let Ok(DesignOutcome::Shipped(best)) = designer::design(&request) else { continue };
        let Some(bound) = best.bound else { continue };
        let mut policies = vec![("optimal", best.utility)];
        for method in [Method::Krr, Method::Sampling, Method::ExtremalLdp] {
            if let Ok(DesignOutcome::Shipped(other)) =
                designer::design(&DesignProblem { method, ..request.clone() })
            {
                policies.push((method.name(), other.utility));
            }
        }
        let gain = request.objective.is_gain();
        for (method, utility) in policies.iter().filter_map(|(name, u)| Some((name, (*u)?))) {
            compared += 1;
            if (gain && utility > bound) || (!gain && utility < bound) {
                wrong.push(format!(
                    "{} {method} {utility:e} passes {bound:e} by {:e}: {protect:?} {weighs:?} {knowledge:?}",
                    request.objective.name(),
                    (utility - bound).abs()
                ));
            }
            // A bound that is not worth printing would never be passed either.
            let optimal = *method == "optimal" && m <= 4 && weighs.min() > 0.01;
            let close = (utility - bound).abs() <= 1e-4 * (bound.abs() + 1.0);
            if optimal && !close && matches!(knowledge, Knowledge::Known(_)) {
                wrong.push(format!(
                    "{} {utility:e} is far from {bound:e} {protect:?} {weighs:?}",
                    request.objective.name()
                ));
            }
        }
    }
    println!("{compared} compared");
    assert!(
        wrong.is_empty(),
        "{} of {compared} wrong\n{}",
        wrong.len(),
        wrong[..wrong.len().min(12)].join("\n")
    );
}
