//! [JSTL21] Lemmas 1 and 2, with their counterexamples.

use crate::properties_measures::all;
use crate::properties_measures::generate::*;
use undertone_design::measure::{delta, ldp, lip, mutual_information, pml};
use undertone_design::{Channel, Distribution};
use undertone_testkit::law;

#[test]
fn lemma_1_1_lip_is_symmetric() {
    for_cases(|dice| {
        let (prior, q) = positive_pair(dice);
        let law = q.output_law(&prior).unwrap();
        let posterior = |y: usize| {
            let row = (0..prior.len()).map(|x| prior[x] * q.q(x, y)).collect();
            Distribution::normalised("posterior", row).unwrap()
        };
        let reverse = Channel::from_rows((0..law.len()).map(posterior).collect()).unwrap();
        let (there, back) =
            (lip::leakage(&prior, &q).unwrap(), lip::leakage(&law, &reverse).unwrap());
        assert_close(back.nats, there.nats);
        assert_close(
            lip::max_lift(&law, &reverse).unwrap().nats,
            lip::max_lift(&prior, &q).unwrap().nats,
        );
    });
}

#[test]
fn lemma_1_2_zero_means_independent() {
    for_cases(|dice| {
        let (inputs, outputs) = (dice.count(2, 5), dice.count(2, 5));
        let (prior, row) = (positive(dice, inputs), positive(dice, outputs));
        let constant = Channel::from_rows(vec![row.clone(); inputs]).unwrap();
        assert!(lip::leakage(&prior, &constant).unwrap().nats < 1e-14);
        // Any other row, however close, is seen.
        let mut rows = vec![row.clone(); inputs];
        let mut weights = row.as_slice().to_vec();
        weights[0] *= 1.0 + 1e-6;
        rows[dice.count(0, inputs - 1)] = Distribution::normalised("row", weights).unwrap();
        let changed = Channel::from_rows(rows).unwrap();
        assert!(lip::leakage(&prior, &changed).unwrap().nats > 1e-10);
    });
}

#[test]
fn lemma_1_3_a_zero_cell_is_infinite_if_its_output_occurs() {
    for_cases(|dice| {
        let (prior, q) = sparse_pair(dice);
        let law = q.output_law(&prior).unwrap();
        let cells = || (0..q.inputs()).flat_map(|x| (0..q.outputs()).map(move |y| (x, y)));
        let hole = cells().find(|&(x, y)| q.q(x, y) == 0.0 && law[y] > 0.0);
        let surprise = cells().any(|(x, y)| q.q(x, y) > 0.0 && law[y] == 0.0);
        let found = lip::leakage(&prior, &q).unwrap();
        assert_eq!(found.nats == f64::INFINITY, hole.is_some() || surprise);
        assert_eq!(lip::min_lift(&prior, &q).unwrap().nats == f64::INFINITY, hole.is_some());
        assert_eq!(pml::leakage(&prior, &q).unwrap().nats == f64::INFINITY, surprise);
    });
    // The condition P(y) > 0 matters: an output nobody produces is dropped.
    let q = Channel::new(vec![vec![0.5, 0.5, 0.0], vec![0.25, 0.75, 0.0]]).unwrap();
    assert!(lip::leakage(&Distribution::uniform(2), &q).unwrap().nats.is_finite());
    assert!(ldp::leakage(&q).nats.is_finite());
}

#[test]
fn lemma_1_4_post_processing_never_increases_any_measure() {
    for_cases(|dice| {
        let (prior, q) = if dice.unit() < 0.5 { positive_pair(dice) } else { sparse_pair(dice) };
        let outputs = dice.count(1, 5);
        let next = channel_of(dice, q.outputs(), outputs, law::sparse);
        let after = q.then(&next).unwrap();
        for ((name, before), (_, after)) in all(&prior, &q).into_iter().zip(all(&prior, &after)) {
            assert!(after <= before + SLACK * before.max(1.0), "{name}: {before} -> {after}");
        }
    });
}

#[test]
fn lemma_1_5_a_correlated_secret_leaks_no_more_than_the_data() {
    for_cases(|dice| {
        let (_, q) = if dice.unit() < 0.7 { positive_pair(dice) } else { sparse_pair(dice) };
        let secrets = dice.count(1, 5);
        let secret = positive(dice, secrets);
        let given = channel_of(dice, secrets, q.inputs(), law::sparse);
        let data = given.output_law(&secret).unwrap();
        let through = given.then(&q).unwrap();
        for measure in [lip::leakage, lip::max_lift, lip::min_lift] {
            let (of_data, of_secret) =
                (measure(&data, &q).unwrap().nats, measure(&secret, &through).unwrap().nats);
            assert!(of_secret <= of_data + SLACK * of_data.max(1.0), "{of_data} {of_secret}");
        }
        let of_secret = mutual_information::leakage(&secret, &through).unwrap();
        assert!(of_secret <= mutual_information::leakage(&data, &q).unwrap() + SLACK);
    });
}

#[test]
fn lemma_2_a_mixture_of_priors_is_no_worse_than_the_worst() {
    for_cases(|dice| {
        let (first, q) = if dice.unit() < 0.7 { positive_pair(dice) } else { sparse_pair(dice) };
        let second = sparse(dice, q.inputs());
        let share = dice.unit();
        let mixed = first.as_slice().iter().zip(second.as_slice());
        let mixed = mixed.map(|(a, b)| share * a + (1.0 - share) * b).collect();
        let mixed = Distribution::new("mixture", mixed).unwrap();
        let epsilon = dice.unit();
        type Measure<'a> = &'a dyn Fn(&Distribution) -> f64;
        let lip = |p: &Distribution| lip::leakage(p, &q).unwrap().nats;
        let conditional = |p: &Distribution| delta::conditional(p, &q, epsilon).unwrap();
        let posterior = |p: &Distribution| delta::posterior(p, &q, epsilon).unwrap();
        for measure in [&lip as Measure<'_>, &conditional, &posterior] {
            let worst = measure(&first).max(measure(&second));
            let found = measure(&mixed);
            assert!(found <= worst + SLACK * worst.max(1.0), "{found} > {worst}");
        }
    });
}

#[test]
fn lemma_2_fails_if_inputs_range_over_each_support_only() {
    // Each point mass sees a channel with one input; their mixture sees the identity.
    let alone = Channel::new(vec![vec![1.0, 0.0]]).unwrap();
    assert_eq!(lip::leakage(&Distribution::uniform(1), &alone).unwrap().nats, 0.0);
    let identity = Channel::identity(2).unwrap();
    assert_eq!(lip::leakage(&Distribution::uniform(2), &identity).unwrap().nats, f64::INFINITY);
    // Over the common alphabet the point masses were never private.
    for point in [vec![1.0, 0.0], vec![0.0, 1.0]] {
        let point = Distribution::new("point", point).unwrap();
        assert_eq!(lip::leakage(&point, &identity).unwrap().nats, f64::INFINITY);
    }
}
