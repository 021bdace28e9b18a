//! How the notions bound each other, their extreme values, and what is refused.

use crate::properties_measures::all;
use crate::properties_measures::generate::*;
use undertone_design::measure::audit::Audit;
use undertone_design::measure::{
    arimoto, delta, e_divergence, hockey_stick, ldp, lip, maximal_leakage, mutual_information,
    sibson,
};
use undertone_design::{Channel, Distribution, Error};

#[test]
fn notions_bound_each_other() {
    for_cases(|dice| {
        let (prior, q) = positive_pair(dice);
        let a = Audit::of(&prior, &q, None, 1.0 + 4.0 * dice.unit()).unwrap();
        let (low, high) = (a.min_lift.nats, a.max_lift.nats);
        let at_most = |name: &str, value: f64, bound: f64| {
            assert!(value <= bound + SLACK, "{name}: {value} > {bound}");
        };
        assert_eq!(a.lip.nats, low.max(high));
        at_most("lip => 2 ldp", a.ldp.nats, 2.0 * a.lip.nats);
        at_most("alip => ldp, [ZDS22] Prop 1-1", a.ldp.nats, low + high);
        at_most("ldp => lip", a.lip.nats, a.ldp.nats);
        at_most("mi", a.mutual_information, a.lip.nats * (a.lip.nats / 2.0).tanh());
        at_most("mi <= sibson", a.mutual_information, a.sibson);
        at_most("sibson <= maximal leakage", a.sibson, a.maximal_leakage);
        at_most("arimoto <= maximal leakage", a.arimoto, a.maximal_leakage);
        at_most("maximal leakage <= max-lift", a.maximal_leakage, high);
        at_most("log alpha-lift <= max-lift", a.alpha_lift.nats, high);
        at_most("di", a.identifiability.nats, a.ldp.nats + (prior.max() / prior.min()).ln());
        assert!(
            (a.alpha_lift.lift.ln() - a.alpha_lift.nats).abs() < SLACK && a.alpha_lift.lift >= 1.0
        );
    });
}

#[test]
fn a_worst_cell_attains_its_leakage() {
    for_cases(|dice| {
        let (prior, q) = positive_pair(dice);
        let law = q.output_law(&prior).unwrap();
        let a = Audit::of(&prior, &q, None, 2.0).unwrap();
        let lift = |(x, y): (usize, usize)| (q.q(x, y) / law[y]).ln();
        assert_close(lift(a.max_lift.at).max(0.0), a.max_lift.nats);
        assert_close((-lift(a.min_lift.at)).max(0.0), a.min_lift.nats);
        assert_close(lift(a.lip.at).abs(), a.lip.nats);
        let (x, other, y) = a.ldp.at;
        assert_close((q.q(x, y) / q.q(other, y)).ln(), a.ldp.nats);
        let (x, other, y) = a.identifiability.at;
        let odds = prior[x] * q.q(x, y) / (prior[other] * q.q(other, y));
        assert_close(odds.ln(), a.identifiability.nats);
        let (needed, (x, other)) = ldp::delta(&q, 0.1).unwrap();
        let rows = q.rows();
        let attained = e_divergence::divergence(&rows[x], &rows[other], 0.1f64.exp()).unwrap();
        assert_close(attained, needed);
    });
}

#[test]
fn delta_conventions_are_ordered() {
    for_cases(|dice| {
        let (prior, q) = if dice.unit() < 0.5 { positive_pair(dice) } else { sparse_pair(dice) };
        let epsilon = 1.5 * dice.unit();
        let found = Audit::of(&prior, &q, Some(epsilon), 2.0).unwrap().delta.unwrap();
        let (d9, d5, d4) = (found.conditional, found.posterior, found.joint);
        assert!(d5 <= d9 + SLACK && d9 <= epsilon.exp() * d5 + SLACK);
        assert!(prior.min() * d9 <= d4 + SLACK && d4 <= prior.max() * d9 + SLACK);
        assert!(d4 <= found.joint_sets.unwrap() + SLACK, "single inputs are sets too");
    });
}

#[test]
fn sibson_grows_with_its_order_from_information_to_maximal_leakage() {
    let orders =
        [1.0, 1.0 + 1e-12, 1.0 + 1e-8, 1.001, 1.3, 1.999, 2.0, 2.5, 7.0, 60.0, 1e4, f64::INFINITY];
    for_cases(|dice| {
        let (prior, q) = if dice.unit() < 0.5 { positive_pair(dice) } else { sparse_pair(dice) };
        let values = orders.map(|alpha| sibson::leakage(&prior, &q, alpha).unwrap());
        assert!(values.windows(2).all(|w| w[0] <= w[1] + SLACK), "{values:?}");
        let shannon = mutual_information::leakage(&prior, &q).unwrap();
        assert!((values[1] - shannon).abs() < 1e-10 && (values[2] - shannon).abs() < 1e-6);
        assert_close(values[11], maximal_leakage::leakage(&prior, &q).unwrap());
        assert!(values[11] - values[10] < 1e-2);
        for alpha in [1.0, 1.0 + 1e-12] {
            assert!((arimoto::leakage(&prior, &q, alpha).unwrap() - shannon).abs() < 1e-10);
        }
    });
}

#[test]
fn hockey_stick_curves_fall_to_zero_at_the_leakage() {
    for_cases(|dice| {
        let (prior, q) = positive_pair(dice);
        let total = lip::leakage(&prior, &q).unwrap().nats;
        let grid: Vec<f64> = (0..=20).map(|i| total * f64::from(i) / 20.0).collect();
        let curve = hockey_stick::lip(&prior, &q, &grid).unwrap();
        assert!(curve.windows(2).all(|w| w[1] <= w[0] + 1e-15) && curve[20] < SLACK);
        let law = q.output_law(&prior).unwrap();
        let farthest = q.rows().iter().map(|row| row.total_variation(&law).unwrap());
        assert_close(curve[0], farthest.fold(0.0, f64::max));
        let pairwise = hockey_stick::ldp(&q, &[ldp::leakage(&q).nats, 0.0]).unwrap();
        assert!(pairwise[0] < SLACK && pairwise[1] >= curve[0] - SLACK);
        if total > 0.1 {
            assert!(hockey_stick::lip(&prior, &q, &[total - 0.05]).unwrap()[0] > 0.0);
        }
    });
}

#[test]
fn a_constant_channel_reveals_nothing() {
    for_cases(|dice| {
        let (inputs, outputs) = (dice.count(1, 6), dice.count(1, 6));
        let prior = positive(dice, inputs);
        let q = Channel::from_rows(vec![sparse(dice, outputs); inputs]).unwrap();
        let mut measures = all(&prior, &q);
        // Posterior odds are the prior odds then.
        assert_close(measures.pop().unwrap().1, (prior.max() / prior.min()).ln());
        for (name, value) in measures {
            assert!((0.0..1e-14).contains(&value), "{name}: {value}");
        }
    });
}

#[test]
fn revealing_everything() {
    let prior = Distribution::new("prior", vec![0.5, 0.25, 0.25]).unwrap();
    let a = Audit::of(&prior, &Channel::identity(3).unwrap(), Some(1.0), f64::INFINITY).unwrap();
    for infinite in [a.ldp.nats, a.lip.nats, a.min_lift.nats, a.identifiability.nats] {
        assert_eq!(infinite, f64::INFINITY);
    }
    assert_close(a.max_lift.nats, 4f64.ln());
    assert_close(a.mutual_information, prior.entropy());
    assert_close(a.maximal_leakage, 3f64.ln());
    assert_close(a.arimoto, 2f64.ln());
    assert_close(a.delta.unwrap().conditional, 0.75);
    let unseen = Distribution::new("prior", vec![0.5, 0.5, 0.0]).unwrap();
    let mild = Channel::new(vec![vec![0.6, 0.4], vec![0.4, 0.6], vec![0.9, 0.1]]).unwrap();
    let a = Audit::of(&unseen, &mild, None, 2.0).unwrap();
    assert_close(a.lip.nats, 5f64.ln());
    assert_eq!((a.lip.at, a.identifiability.nats), ((2, 1), f64::INFINITY));
    assert_close(a.maximal_leakage, 1.2f64.ln());
}

#[test]
fn bad_requests_are_refused() {
    let (prior, q) = (Distribution::uniform(2), Channel::identity(2).unwrap());
    for epsilon in [f64::NAN, -1.0, f64::INFINITY] {
        assert!(matches!(Audit::of(&prior, &q, Some(epsilon), 2.0), Err(Error::Range { .. })));
    }
    for alpha in [f64::NAN, 0.5] {
        assert!(matches!(Audit::of(&prior, &q, None, alpha), Err(Error::Range { .. })));
    }
    let three = Distribution::uniform(3);
    assert!(matches!(Audit::of(&three, &q, None, 2.0), Err(Error::Size { .. })));
    assert!(e_divergence::divergence(&prior, &three, 1.0).is_err());
    assert!(e_divergence::divergence(&prior, &prior, f64::NAN).is_err());
    let (wide, many) = (Distribution::uniform(21), Channel::identity(21).unwrap());
    let refused = delta::joint_sets(&wide, &many, 0.1);
    assert!(matches!(refused, Err(Error::TooLarge { size: 21, limit: 20, .. })));
    let audited = Audit::of(&wide, &many, Some(0.1), 2.0).unwrap().delta.unwrap();
    assert!(audited.joint_sets.is_none() && audited.conditional > 0.0);
}
