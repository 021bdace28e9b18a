//! Properties of the measures: the papers' lemmas, the relations between notions, agreement with slow
//! implementations written from the definitions, and outward rounding.
mod definitions;
mod generate;
mod lemmas;
mod rational;
mod relations;
mod rounding;

use undertone_design::measure::audit::Audit;
use undertone_design::measure::ldp;
use undertone_design::{Channel, Distribution};

/// Every measure of a pair that should obey data processing, by name.
fn all(prior: &Distribution, q: &Channel) -> Vec<(&'static str, f64)> {
    let audit = Audit::of(prior, q, Some(0.2), 1.7).unwrap();
    let delta = audit.delta.unwrap();
    vec![
        ("ldp", audit.ldp.nats),
        ("lip", audit.lip.nats),
        ("max_lift", audit.max_lift.nats),
        ("min_lift", audit.min_lift.nats),
        ("mutual_information", audit.mutual_information),
        ("maximal_leakage", audit.maximal_leakage),
        ("sibson", audit.sibson),
        ("arimoto", audit.arimoto),
        ("alpha_lift", audit.alpha_lift.nats),
        ("ldp delta", ldp::delta(q, 0.2).unwrap().0),
        ("conditional", delta.conditional),
        ("posterior", delta.posterior),
        ("joint", delta.joint),
        ("joint_sets", delta.joint_sets.unwrap()),
        // Last: the only one that is not zero when nothing is revealed.
        ("identifiability", audit.identifiability.nats),
    ]
}
