//! Policies that list the same symbols in different orders are pooled symbol by symbol, or refused.

use rand_core::Rng;
use undertone_core::{
    Alphabet, Bits, Context, Draft, Keep, Policy, Prior, PriorBox, Priors, Provenance, Secret,
    Shape, Table, WEIGHT_ONE,
};
use undertone_design::quantize::largest_remainder;
use undertone_estimate::{Error, Estimator, Pool, Settings, Summary, Tally};
use undertone_testkit::dice::Dice;
use undertone_testkit::policy::{assumed, keep, table};

const NAMES: [&str; 4] = ["north", "east", "south", "west"];
const SHARES: [f64; 4] = [0.4, 0.3, 0.2, 0.1];

fn prior(p: [f64; 4]) -> Prior {
    Prior::new(largest_remainder(&p, WEIGHT_ONE)).unwrap()
}

fn names(order: [usize; 4]) -> Alphabet {
    Alphabet::names(order.iter().map(|&x| NAMES[x])).unwrap()
}

fn picked<T: Copy>(list: &[T], order: [usize; 4]) -> Vec<T> {
    order.iter().map(|&x| list[x]).collect()
}

/// The same shape, context and counts with the symbols listed in another order.
fn turned(shape: &Shape, context: &Context, order: [usize; 4]) -> (Shape, Context) {
    let law = |law: &Prior| Prior::new(picked(law.weights(), order)).unwrap();
    let shape = match shape {
        Shape::Table(all) => Shape::Table(
            Table::new(order.iter().map(|&x| all.rows()[x].clone()).collect()).unwrap(),
        ),
        Shape::Keep(all) => Shape::Keep(
            Keep::new(picked(all.keep(), order), picked(all.base().masses(), order)).unwrap(),
        ),
        Shape::Bits(_) => shape.clone(),
        Shape::Incidence(_) => panic!("blocks have tests of their own"),
    };
    let context = match context {
        Context::Unknown => Context::Unknown,
        Context::Known(known) => Context::Known(law(known)),
        Context::Each(priors) => {
            Context::Each(Priors::new(priors.as_slice().iter().map(law).collect()).unwrap())
        }
        Context::Within(within) => {
            let (lower, upper) = (picked(within.lower(), order), picked(within.upper(), order));
            Context::Within(PriorBox::new(lower, upper).unwrap())
        }
        Context::Secret(secret) => {
            let rows = secret.rows().iter().map(law).collect();
            let own = secret.prior().clone();
            Context::Secret(Secret::new(secret.name().into(), own, rows).unwrap())
        }
    };
    (shape, context)
}

fn shapes() -> Vec<Shape> {
    let rows = [
        vec![0.5, 0.2, 0.1, 0.1, 0.1],
        vec![0.1, 0.6, 0.1, 0.1, 0.1],
        vec![0.1, 0.1, 0.5, 0.2, 0.1],
        vec![0.1, 0.1, 0.1, 0.2, 0.5],
    ];
    vec![
        table(&rows),
        keep(&[0.5, 0.4, 0.3, 0.6], &[0.1, 0.2, 0.3, 0.4]),
        Shape::Bits(Bits::new(4, WEIGHT_ONE / 2, WEIGHT_ONE / 5).unwrap()),
    ]
}

fn contexts() -> Vec<Context> {
    let within = PriorBox::new(
        largest_remainder(&[0.3, 0.2, 0.1, 0.05], WEIGHT_ONE / 2),
        vec![WEIGHT_ONE / 2, WEIGHT_ONE / 3, WEIGHT_ONE / 4, WEIGHT_ONE / 5],
    );
    let rows = vec![prior([0.5, 0.3, 0.1, 0.1]), prior([0.3, 0.3, 0.3, 0.1])];
    let half = Prior::new(vec![WEIGHT_ONE / 2; 2]).unwrap();
    vec![
        Context::Unknown,
        Context::Known(prior(SHARES)),
        Context::Each(Priors::new(vec![prior(SHARES), prior([0.1, 0.2, 0.3, 0.4])]).unwrap()),
        Context::Within(within.unwrap()),
        Context::Secret(Secret::new("habit".into(), half, rows).unwrap()),
    ]
}

/// Counts of invented reports: every output, or bit, so often.
fn tally(policy: &Policy, counts: &[u64]) -> Tally {
    let mut tally = Tally::new(policy);
    match tally.counts_bits() {
        true => tally.add_bit_counts(1000, counts).unwrap(),
        false => tally.add_counts(counts).unwrap(),
    }
    tally
}

fn outputs(shape: &Shape) -> Option<Alphabet> {
    matches!(shape, Shape::Table(_)).then(|| Alphabet::indices(shape.outputs()).unwrap())
}

/// The policy of another survey: the same in all but its id, so that two of them are never one.
fn elsewhere(policy: &Policy) -> Policy {
    let draft = policy.draft();
    let from = Provenance { source: "another survey".into(), ..draft.provenance().clone() };
    let (inputs, shape, context) = (draft.inputs(), draft.shape(), draft.context());
    let claims = draft.claims().to_vec();
    Draft::new(inputs.clone(), outputs(shape), shape.clone(), context.clone(), claims, from)
        .unwrap()
        .verify()
        .unwrap()
}

fn ask(pool: Pool) -> Summary {
    Estimator::new(pool, Settings::default()).unwrap().summary().unwrap()
}

/// Answers that do not depend on which policy is which: ids differ with the order.
fn same(a: &Summary, b: &Summary, what: &str) {
    // Ends of intervals are found by a search.
    let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-7, "{what}: {a} against {b}");
    let shares = [(&a.unbiased, &b.unbiased), (&a.mle, &b.mle)];
    for (ours, theirs) in shares.into_iter().chain(a.mmse.as_ref().zip(b.mmse.as_ref())) {
        for (ours, theirs) in ours.symbols.iter().zip(&theirs.symbols) {
            near(ours.value, theirs.value);
            near(ours.low, theirs.low);
            near(ours.high, theirs.high);
        }
    }
    assert_eq!(a.mmse.is_some(), b.mmse.is_some(), "{what}");
    let distances = |s: &Summary| {
        let mut all: Vec<f64> = s.drift.policies.iter().filter_map(|p| p.distance).collect();
        all.sort_by(f64::total_cmp);
        all
    };
    let (ours, theirs) = (distances(a), distances(b));
    assert_eq!(ours.len(), theirs.len());
    ours.iter().zip(&theirs).for_each(|(a, b)| near(*a, *b));
}

#[test]
fn policies_are_pooled_by_symbol_whatever_their_order() {
    let mut dice = Dice::new(14);
    let plain = [0, 1, 2, 3];
    for shape in shapes() {
        let first =
            elsewhere(&assumed(names(plain), outputs(&shape), shape.clone(), Context::Unknown));
        let counts: Vec<u64> = (0..shape.outputs()).map(|_| 50 + dice.next_u64() % 900).collect();
        let others: Vec<u64> = (0..shape.outputs()).map(|_| 50 + dice.next_u64() % 900).collect();
        for context in contexts() {
            let pool = || Pool::new(&first, tally(&first, &counts)).unwrap();
            let second = assumed(names(plain), outputs(&shape), shape.clone(), context.clone());
            let expected = ask(pool().and(&second, tally(&second, &others)).unwrap());
            for order in [[3, 1, 0, 2], [1, 0, 2, 3], [3, 2, 1, 0]] {
                let (shape, context) = turned(&shape, &context, order);
                let policy = assumed(names(order), outputs(&shape), shape.clone(), context);
                let counts = match shape {
                    Shape::Table(_) => others.clone(),
                    _ => picked(&others, order),
                };
                let given = tally(&policy, &counts);
                let both = pool().and(&policy, given.clone()).unwrap();
                same(&ask(both.clone()), &expected, &format!("{order:?} {shape:?}"));
                // The tally itself is handed back as it was given.
                let (_, back) = both.tallies().find(|(id, _)| *id == policy.id()).unwrap();
                assert_eq!(*back, given);
                // More of the same policy is merged in its own order, too.
                let twice = both.and(&policy, given.clone()).unwrap();
                let (_, back) = twice.tallies().find(|(id, _)| *id == policy.id()).unwrap();
                assert_eq!(back.reports(), 2 * given.reports());
                let first = back.counts()[0];
                assert_eq!(first, 2 * given.counts()[0]);
            }
        }
    }
}

/// Without matching, the second policy's "north" would be read as "west".
#[test]
fn the_order_decides_nothing_about_the_shares() {
    let shape = || keep(&[0.5; 4], &[0.25; 4]);
    let first = assumed(names([0, 1, 2, 3]), None, shape(), Context::Unknown);
    let second = assumed(names([3, 2, 1, 0]), None, shape(), Context::Unknown);
    let pool = Pool::new(&first, tally(&first, &[700, 100, 100, 100])).unwrap();
    let pool = pool.and(&second, tally(&second, &[100, 100, 100, 700])).unwrap();
    let estimator = Estimator::new(pool, Settings::default()).unwrap();
    let north = estimator.statistics()[0];
    assert!((north - (0.7 - 0.125) / 0.5).abs() < 1e-9, "{north}");
}

#[test]
fn other_symbols_are_refused_with_both_lists() {
    let shape = || keep(&[0.5; 4], &[0.25; 4]);
    let first = assumed(names([0, 1, 2, 3]), None, shape(), Context::Unknown);
    let other = ["north", "east", "south", "up"].map(String::from).to_vec();
    for (alphabet, said) in [
        (Alphabet::names(other).unwrap(), "\"up\""),
        (Alphabet::indices(4).unwrap(), "4 unnamed symbols"),
    ] {
        let second = assumed(alphabet, None, shape(), Context::Unknown);
        let pool = Pool::new(&first, Tally::new(&first)).unwrap();
        let refused = pool.and(&second, Tally::new(&second)).unwrap_err();
        assert!(matches!(refused, Error::Alphabet { .. }));
        let words = refused.to_string();
        assert!(words.contains(said) && words.contains("\"west\""), "{words}");
    }
}
