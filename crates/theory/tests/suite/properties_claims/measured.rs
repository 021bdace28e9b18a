//! What a channel leaks in a notion, as a guarantee.

use undertone_design::measure::{
    alpha_lift, arimoto, di, ldp, lip, maximal_leakage, mutual_information, sibson,
};
use undertone_design::{Channel, Distribution};
use undertone_theory::relation::{Guarantee, Notion, Setting};

/// Lower and upper leakage in a notion of one datum; equal except for `alip`.
pub(crate) fn leakage(
    notion: Notion,
    prior: &Distribution,
    q: &Channel,
    s: &Setting,
) -> (f64, f64) {
    let alpha = s.alpha.unwrap();
    let level = match notion {
        Notion::Alip => {
            return (lip::min_lift(prior, q).unwrap().nats, lip::max_lift(prior, q).unwrap().nats);
        }
        Notion::Ldp | Notion::Wclip => ldp::leakage(q).nats,
        Notion::Lip => lip::leakage(prior, q).unwrap().nats,
        Notion::Bplip => {
            s.priors.iter().map(|p| lip::leakage(p, q).unwrap().nats).fold(0.0, f64::max)
        }
        Notion::Pml => lip::max_lift(prior, q).unwrap().nats,
        Notion::Di => di::leakage(prior, q).unwrap().nats,
        Notion::Mip => mutual_information::leakage(prior, q).unwrap(),
        Notion::Mil => maximal_leakage::leakage(prior, q).unwrap(),
        Notion::Sibson => sibson::leakage(prior, q, alpha).unwrap(),
        Notion::Arimoto => arimoto::leakage(prior, q, alpha).unwrap(),
        Notion::Alphalift => alpha_lift::leakage(prior, q, alpha).unwrap().nats,
        other => panic!("{other} is not about one datum"),
    };
    (level, level)
}

/// The guarantee that a channel of this leakage keeps, with a hair to spare for what measuring loses;
/// `None` where it keeps none.
pub(crate) fn kept(notion: Notion, (lower, upper): (f64, f64)) -> Option<Guarantee> {
    let spare = |level: f64| level * (1.0 + 1e-9) + 1e-15;
    match notion {
        Notion::Alip => Guarantee::asymmetric(spare(lower), spare(upper)).ok(),
        _ => Guarantee::new(notion, spare(upper)).ok(),
    }
}
