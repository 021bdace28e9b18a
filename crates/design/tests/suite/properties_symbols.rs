//! Every operation on two laws, channels or boxes matches them by symbol: turning the second argument changes
//! nothing, other symbols are refused, and so are unnamed ones beside named ones.

use undertone_core::{Alphabet, Claim, Epsilon, Provenance};
use undertone_design::designer::{self, DesignOutcome, DesignProblem, Method};
use undertone_design::extremal::{LiftRange, family_lifts};
use undertone_design::knowledge::Knowledge;
use undertone_design::measure::audit::Audit;
use undertone_design::measure::network::Network;
use undertone_design::measure::{
    alpha_lift, arimoto, delta, di, e_divergence, lip, maximal_leakage, mutual_information, renyi,
    sibson,
};
use undertone_design::mechanism::{accuracy, linear, posterior};
use undertone_design::objective::{self, Objective};
use undertone_design::quantize::PolicySpec;
use undertone_design::{Channel, Distribution, Error, Joint};
use undertone_testkit::claim::lip;
use undertone_testkit::dice::Dice;
use undertone_testkit::law::dyadic;
use undertone_testkit::listing::{Listed, SIZE, matched, rows, symbols};
use undertone_testkit::spec;

#[test]
fn measures_match_channels_with_their_prior() {
    let mut dice = Dice::new(21);
    for _ in 0..20 {
        let (p, q) = (dyadic(SIZE, &mut dice), rows(&mut dice, 3));
        let prior = Listed::Plain.law(&p);
        let values = [1.0, 2.0, 4.0, 7.0];
        let mut check = |what: &str, of: &dyn Fn(&Channel) -> Result<f64, Error>| {
            matched(&mut dice, what, |listed| of(&listed.channel(&q)));
        };
        check("lip", &|c| Ok(lip::leakage(&prior, c)?.nats));
        check("lip bound", &|c| Ok(lip::upper_bound(&prior, c)?.two_sided()));
        check("di", &|c| Ok(di::leakage(&prior, c)?.nats));
        check("mutual information", &|c| mutual_information::leakage(&prior, c));
        check("its bound", &|c| mutual_information::upper_bound(&prior, c));
        check("maximal leakage", &|c| maximal_leakage::leakage(&prior, c));
        check("maximal bound", &|c| maximal_leakage::upper_bound(&prior, c));
        for alpha in [1.0, 1.5, 3.0, f64::INFINITY] {
            check("sibson", &|c| sibson::leakage(&prior, c, alpha));
            check("arimoto", &|c| arimoto::leakage(&prior, c, alpha));
            check("alpha lift", &|c| Ok(alpha_lift::leakage(&prior, c, alpha)?.nats));
        }
        check("delta", &|c| delta::conditional(&prior, c, 0.2));
        check("joint delta", &|c| delta::joint(&prior, c, 0.2));
        check("set delta", &|c| delta::joint_sets(&prior, c, 0.2));
        check("mmse", &|c| objective::mmse(&prior, c, &values));
        check("frequency", &|c| objective::frequency(&prior, c));
        check("nmi", &|c| Objective::NormalisedMutualInformation.value(&prior, c));
        check("half-width", &|c| Ok(accuracy::variances(&prior, c)?[2]));
        // With the cells that attain it, as places among the prior's symbols.
        matched(&mut dice, "audit", |listed| {
            Audit::of(&prior, &listed.channel(&q), Some(0.3), 2.0)
        });
        matched(&mut dice, "output law", |listed| listed.channel(&q).output_law(&prior));
        // The law may be what is turned, too.
        let channel = Listed::Plain.channel(&q);
        // Sums are then taken in another order, which moves their last bits.
        matched(&mut dice, "turned prior", |listed| {
            let bound = lip::upper_bound(&listed.law(&p), &channel)?;
            Ok((bound.two_sided() * 1e9).round())
        });
        let excess = delta::Excess::of(&prior, &channel, 0.2, 0.2).unwrap();
        matched(&mut dice, "excess", |listed| excess.joint(&listed.law(&p)));
    }
}

#[test]
fn losses_read_outputs_as_inputs_by_name() {
    let mut dice = Dice::new(22);
    let (p, q) = (dyadic(SIZE, &mut dice), rows(&mut dice, SIZE));
    let prior = Listed::Plain.law(&p);
    let square = |listed: Listed| {
        let rows: Vec<Vec<f64>> = listed.pick(&q).iter().map(|row| listed.pick(row)).collect();
        let channel = Channel::new(rows).unwrap().of_outputs(&listed.symbols()).unwrap();
        channel.of_inputs(&listed.symbols()).unwrap()
    };
    let values = vec![1.0, 2.0, 4.0, 7.0];
    for goal in
        [Objective::Hamming, Objective::Absolute(values.clone()), Objective::Squared(values)]
    {
        matched(&mut dice, goal.name(), |listed| goal.value(&prior, &square(listed)));
    }
    matched(&mut dice, "hamming", |listed| objective::hamming(&prior, &square(listed)));
}

#[test]
fn laws_are_compared_by_symbol() {
    let mut dice = Dice::new(23);
    for _ in 0..20 {
        let (p, r) = (dyadic(SIZE, &mut dice), dyadic(SIZE, &mut dice));
        let from = Listed::Plain.law(&p);
        let mut check = |what: &str, of: &dyn Fn(&Distribution) -> Result<f64, Error>| {
            matched(&mut dice, what, |listed| of(&listed.law(&r)));
        };
        check("total variation", &|to| from.total_variation(to));
        check("e-divergence", &|to| e_divergence::divergence(&from, to, 1.3));
        check("renyi", &|to| renyi::divergence(&from, to, 2.5));
        let range = LiftRange::asymmetric(0.7, 1.1).unwrap();
        let set = |listed: Listed| [from.clone(), listed.law(&r)];
        matched(&mut dice, "rays", |listed| family_lifts(&set(listed), range));
    }
}

#[test]
fn secrets_and_regions_are_matched_with_their_channels() {
    let mut dice = Dice::new(24);
    for _ in 0..20 {
        let (p, q, r) = (dyadic(SIZE, &mut dice), rows(&mut dice, 3), rows(&mut dice, 2));
        let prior = Listed::Plain.law(&p);
        let first = Listed::Plain.channel(&r);
        matched(&mut dice, "beside", |listed| first.beside(&listed.channel(&q)));
        matched(&mut dice, "turned box", |listed| listed.within(&p).in_order_of(prior.symbols()));
        let half = |list: &[f64]| list.iter().map(|p| p / 2.0).collect::<Vec<f64>>();
        let joint = vec![half(&p), half(&Listed::Turned([2, 3, 0, 1]).pick(&p))];
        let joint =
            Joint::new(joint).unwrap().over(&symbols(&["yes", "no"]), prior.symbols()).unwrap();
        matched(&mut dice, "through", |listed| joint.through(&listed.channel(&q)));
        matched(&mut dice, "secret", |listed| {
            Audit::of_secret(&joint, Some(&listed.channel(&q)), None, 2.0)
        });
        matched(&mut dice, "network", |listed| {
            let network = Network::new(vec![2], vec![4], joint.clone(), listed.channel(&q))?;
            Ok((network.identifiability()?, network.mutual_information()?))
        });
    }
}

#[test]
fn designs_are_matched_with_what_they_promise() {
    let mut dice = Dice::new(26);
    let (p, r) = (dyadic(SIZE, &mut dice), dyadic(SIZE, &mut dice));
    let prior = Listed::Plain.law(&p);
    let context = Knowledge::Known(prior.clone()).context().unwrap().context;
    let inputs = prior.symbols().alphabet().unwrap();
    let spec = spec::spec(inputs, context, vec![lip("1")]);
    let losses = Objective::Hamming.losses(SIZE).unwrap().unwrap();
    let mi = Objective::MutualInformation;
    matched(&mut dice, "linear", |listed| linear::optimal(&spec, &listed.law(&r), &losses));
    matched(&mut dice, "convex", |listed| posterior::optimal(&spec, &listed.law(&r), &mi));
    for method in [Method::Optimal, Method::Krr, Method::Sampling, Method::Published] {
        matched(&mut dice, method.name(), |listed| {
            let request = DesignProblem {
                spec: spec.clone(),
                prior: listed.law(&p),
                objective: Objective::Absolute(vec![1.0, 2.0, 4.0, 7.0]),
                method,
                accept: true,
                max_bits: None,
            };
            match designer::design(&request)? {
                DesignOutcome::Shipped(found) => Ok((found.policy.id(), found.utility)),
                DesignOutcome::Missed(_) => panic!("accepted"),
            }
        });
    }
    let q = rows(&mut dice, SIZE);
    matched(&mut dice, "shipped", |listed| Ok(spec.ship(&listed.channel(&q))?.policy.id()));
}

#[test]
fn a_policy_without_names_is_of_unnamed_symbols() {
    let draft = |inputs: Alphabet| {
        let rows = vec![vec![0.75, 0.25], vec![0.25, 0.75]];
        let plain = PolicySpec {
            inputs,
            outputs: None,
            context: undertone_core::Context::Unknown,
            claims: vec![Claim::ldp(Epsilon::parse("1.2").unwrap())],
            provenance: Provenance::default(),
        };
        plain.ship(&Channel::new(rows).unwrap()).unwrap().policy.draft().clone()
    };
    let named = Distribution::uniform(2).over(&symbols(&["no", "yes"])).unwrap();
    let unnamed = Distribution::uniform(2);
    let indices = draft(Alphabet::indices(2).unwrap());
    let names = draft(Alphabet::names(["yes", "no"]).unwrap());
    let channel = |draft| undertone_design::to_floats::policy_channel(draft).unwrap();
    assert!(lip::leakage(&unnamed, &channel(&indices)).is_ok());
    assert!(lip::leakage(&named, &channel(&names)).is_ok());
    assert!(matches!(lip::leakage(&named, &channel(&indices)), Err(Error::Symbols { .. })));
    assert!(matches!(lip::leakage(&unnamed, &channel(&names)), Err(Error::Symbols { .. })));
}
