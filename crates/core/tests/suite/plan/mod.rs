//! Plans: what is promised about a person, held against exhaustive rational enumeration.

pub(crate) mod beliefs;
mod bounds;
mod choice;
mod documents;
pub(crate) mod exact;
mod person;
pub(crate) mod random;
mod responses;

use crate::common::{Q, doubt, ln, nats};
use undertone_core::{
    Alphabet, Claim, Context, Draft, Epsilon, Item, Law, Nats, PlanClaim, PlanDraft, PlanParts,
    Provenance, Question, SecretVariable, Shape,
};

/// What a level printed for a leakage ratio must be: not below its logarithm, and at most one unit in the tenth place above it,
/// or a few where many roundings went into it.
pub(crate) fn is_level(printed: Option<Nats>, truth: &Option<Q>) -> bool {
    match (printed, truth) {
        (None, None) => true,
        (Some(printed), Some(truth)) => {
            let (truth, printed) = (ln(truth), nats(printed));
            printed >= truth.clone() - doubt()
                && printed <= truth + crate::common::ratio(2, 10_000_000_000)
        }
        _ => false,
    }
}

/// Whether a printed level is not below a leakage ratio.
pub(crate) fn is_bound(printed: Option<Nats>, truth: &Option<Q>) -> bool {
    match (printed, truth) {
        (None, _) => true,
        (Some(_), None) => false,
        (Some(printed), Some(truth)) => nats(printed) >= ln(truth) - doubt(),
    }
}

/// A policy for any channel: it claims its own LDP, or, without one, as much of a delta as the kernel needs.
pub(crate) fn policy(inputs: Alphabet, shape: Shape) -> Draft {
    let outputs =
        matches!(shape, Shape::Table(_)).then(|| Alphabet::indices(shape.outputs()).unwrap());
    let claims = vec![Claim::ldp(Epsilon::LARGEST)];
    Draft::new(inputs, outputs, shape, Context::Unknown, claims, Provenance::default()).unwrap()
}

/// A plan of questions over bare indices, each its own item, answered by everybody; it claims next to nothing.
pub(crate) fn plain(shapes: Vec<Shape>, secrets: &[usize], law: Law) -> PlanParts {
    let question = |(at, shape): (usize, &Shape)| Question {
        name: format!("q{at}"),
        wording: String::new(),
        answers: Alphabet::indices(shape.inputs()).unwrap(),
    };
    let secret = |(at, &size): (usize, &usize)| SecretVariable {
        name: format!("s{at}"),
        values: Alphabet::indices(size).unwrap(),
    };
    let item =
        |at: usize| Item { questions: vec![at as u32], policy: at as u32, fresh: None, weight: 0 };
    PlanParts {
        questions: shapes.iter().enumerate().map(question).collect(),
        secrets: secrets.iter().enumerate().map(secret).collect(),
        law,
        items: (0..shapes.len()).map(item).collect(),
        asked: 0,
        periods: 1,
        claims: vec![anything()],
        provenance: Provenance::default(),
        policies: shapes
            .into_iter()
            .map(|shape| policy(Alphabet::indices(shape.inputs()).unwrap(), shape))
            .collect(),
    }
}

/// A claim that holds for every plan of finite cost.
pub(crate) fn anything() -> PlanClaim {
    PlanClaim::Person { ldp: Nats::from_units(u64::MAX) }
}

pub(crate) fn verified(parts: PlanParts) -> undertone_core::Plan {
    PlanDraft::new(parts).unwrap().verify().unwrap_or_else(|refusal| panic!("{refusal}"))
}
