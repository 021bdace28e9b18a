//! Any split of the reports gives the same tally; nothing is counted twice, lost, or taken on trust.

use proptest::prelude::*;
use rand_core::Rng;
use undertone_core::{Alphabet, Policy, Sampler, Token};
use undertone_estimate::{BitsFold, Error, Estimator, Method, Pool, Settings, Tally};
use undertone_testkit::dice::Dice;
use undertone_testkit::policy::{krr, oue};

fn letters() -> Policy {
    krr(Alphabet::indices(5).unwrap(), None, "1")
}

/// Eleven bits: a byte and a part of one.
fn unary() -> Policy {
    oue(11, Some(&[1.0 / 11.0; 11]), "1")
}

fn rows(policy: &Policy, reports: usize, seed: u64) -> Vec<u8> {
    let mut dice = Dice::new(seed);
    let inputs: Vec<_> = (0..reports)
        .map(|_| policy.draft().inputs().symbol((dice.next_u64() % 11) as usize).unwrap())
        .collect();
    let mut packed = vec![0; 2 * reports];
    Sampler::new(policy).draw_bits(&inputs, &mut dice, &mut packed).unwrap();
    packed
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn merging_is_associative_and_commutative(
        reports in prop::collection::vec(0u32..5, 1..300),
        cuts in prop::collection::vec(0usize..300, 2),
        turn in 0usize..6,
    ) {
        let policy = letters();
        let mut whole = Tally::new(&policy);
        whole.add_indices(&reports).unwrap();
        let mut ends: Vec<usize> = cuts.iter().map(|&cut| cut.min(reports.len())).collect();
        ends.sort_unstable();
        let parts = [&reports[..ends[0]], &reports[ends[0]..ends[1]], &reports[ends[1]..]];
        let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
        let [a, b, c] = orders[turn].map(|at| {
            let mut tally = Tally::new(&policy);
            for &index in parts[at] {
                tally.add(&Token::Index(index)).unwrap();
            }
            tally
        });
        let mut left = a.clone();
        left.merge(&b).unwrap();
        left.merge(&c).unwrap();
        let mut right = c;
        right.merge(&b).unwrap();
        let mut right_last = a;
        right_last.merge(&right).unwrap();
        prop_assert_eq!(&left, &whole);
        prop_assert_eq!(&right_last, &whole);
        // Bit for bit the same answers.
        let ask = |tally: &Tally| {
            let pool = Pool::new(&policy, tally.clone()).unwrap();
            Estimator::new(pool, Settings::default()).unwrap().summary().unwrap()
        };
        prop_assert_eq!(ask(&left), ask(&whole));
        prop_assert_eq!(Tally::from_json(&left.to_json()).unwrap(), whole);
    }

    #[test]
    fn packed_bits_are_counted_one_by_one(reports in 0usize..600, seed in 0u64..1000) {
        let policy = unary();
        let packed = rows(&policy, reports, seed);
        let mut tally = Tally::new(&policy);
        tally.add_packed_bits(&packed).unwrap();
        let mut slow = [0u64; 11];
        for row in packed.chunks(2) {
            for (bit, count) in slow.iter_mut().enumerate() {
                *count += u64::from(row[bit / 8] >> (7 - bit % 8) & 1);
            }
        }
        prop_assert_eq!(tally.counts(), &slow[..]);
        prop_assert_eq!(tally.reports(), reports as u64);
        let mut singly = Tally::new(&policy);
        for row in packed.chunks(2) {
            singly.add(&Token::Bits(row.into())).unwrap();
        }
        prop_assert_eq!(singly, tally);
    }

    #[test]
    fn folds_of_bits_merge_without_loss(cut in 0usize..=200, seed in 0u64..1000) {
        let policy = unary();
        let packed = rows(&policy, 200, seed);
        let mut whole = BitsFold::new(&policy).unwrap();
        whole.add_packed_bits(&packed).unwrap();
        let (mut a, mut b) = (BitsFold::new(&policy).unwrap(), BitsFold::new(&policy).unwrap());
        a.add_packed_bits(&packed[..2 * cut]).unwrap();
        b.add_packed_bits(&packed[2 * cut..]).unwrap();
        b.merge(&a).unwrap();
        prop_assert_eq!(&b, &whole);
        let total: f64 = whole.shares(Settings::default()).unwrap().values().iter().sum();
        prop_assert!((total - 1.0).abs() < 1e-9);
    }
}

#[test]
fn a_refused_addition_changes_nothing() {
    let policy = letters();
    let mut tally = Tally::new(&policy);
    tally.add_counts(&[1, 2, 3, 4, 5]).unwrap();
    let before = tally.clone();
    assert!(matches!(tally.add_indices(&[0, 1, 5]), Err(Error::Token { at: 2, .. })));
    assert!(matches!(tally.add(&Token::Index(u32::MAX)), Err(Error::Token { .. })));
    assert!(matches!(tally.add(&Token::Bits(vec![0].into())), Err(Error::Shape { .. })));
    assert!(matches!(tally.add_packed_bits(&[0]), Err(Error::Shape { .. })));
    assert!(matches!(tally.add_counts(&[1, 2, 3, 4]), Err(Error::Size { .. })));
    assert!(matches!(tally.add_counts(&[u64::MAX, 1, 0, 0, 0]), Err(Error::Overflow)));
    assert!(matches!(tally.add_counts(&[u64::MAX - 10, 0, 0, 0, 0]), Err(Error::Overflow)));
    assert!(matches!(tally.add_bit_counts(1, &[0; 5]), Err(Error::Shape { .. })));
    let other = Tally::new(&krr(Alphabet::indices(5).unwrap(), None, "2"));
    assert!(matches!(tally.merge(&other), Err(Error::Policy { .. })));
    assert_eq!(tally, before);

    let policy = unary();
    let mut tally = Tally::new(&policy);
    let before = tally.clone();
    assert!(matches!(tally.add_packed_bits(&[0; 3]), Err(Error::Token { at: 1, .. })));
    assert!(matches!(tally.add_packed_bits(&[0, 0, 0, 1]), Err(Error::Token { at: 1, .. })));
    assert!(matches!(tally.add(&Token::Bits(vec![0].into())), Err(Error::Token { .. })));
    assert!(matches!(tally.add_indices(&[0]), Err(Error::Shape { .. })));
    assert!(matches!(tally.add_bit_counts(3, &[4; 11]), Err(Error::Malformed { .. })));
    tally.add_packed_bits(&[]).unwrap();
    assert_eq!(tally, before);
}

#[test]
fn the_largest_count_survives_storage() {
    let policy = letters();
    let mut tally = Tally::new(&policy);
    tally.add_counts(&[u64::MAX - 4, 1, 1, 1, 1]).unwrap();
    let back = Tally::from_json(&tally.to_json()).unwrap();
    assert_eq!(back, tally);
    assert_eq!(back.counts()[0], u64::MAX - 4);
    assert!(matches!(tally.add_indices(&[0]), Err(Error::Overflow)));
}

#[test]
fn stored_tallies_are_checked() {
    let policy = letters();
    let good = Tally::new(&policy).to_json();
    for (from, to) in [
        ("tally/1", "tally/2"),
        ("\"reports\":0", "\"reports\":1"),
        ("\"reports\":0", "\"reports\":-1"),
        ("\"reports\":0", "\"reports\":0.5"),
        ("\"indices\"", "\"index\""),
        ("[0,0,0,0,0]", "[]"),
        ("[0,0,0,0,0]", "[18446744073709551615,1,0,0,0]"),
        ("\"reports\"", "\"more\":1,\"reports\""),
        (&policy.id().to_string()[..4], "zzzz"),
    ] {
        let bad = good.replacen(from, to, 1);
        assert_ne!(bad, good);
        assert!(matches!(Tally::from_json(&bad), Err(Error::Malformed { .. })), "{bad}");
    }
    // The values of its fields in a list, which a derived reader would take.
    let listed = format!("[\"tally/1\",\"{}\",\"indices\",0,[0,0,0,0,0]]", policy.id());
    assert!(matches!(Tally::from_json(&listed), Err(Error::Malformed { .. })));
    // A tally of four outputs under the id of a policy with five.
    let four = Tally::from_json(&good.replacen("[0,0,0,0,0]", "[0,0,0,0]", 1)).unwrap();
    assert!(matches!(Pool::new(&policy, four), Err(Error::Malformed { .. })));
    let bits = Tally::from_json(&good.replacen("indices", "bits", 1)).unwrap();
    assert!(matches!(Pool::new(&policy, bits), Err(Error::Malformed { .. })));
}

#[test]
fn pools_refuse_what_does_not_belong_together() {
    let (five, other) = (letters(), krr(Alphabet::indices(5).unwrap(), None, "2"));
    assert!(matches!(Pool::new(&five, Tally::new(&other)), Err(Error::Policy { .. })));
    let six = krr(Alphabet::indices(6).unwrap(), None, "1");
    let pool = Pool::new(&five, Tally::new(&five)).unwrap();
    let refused = pool.clone().and(&six, Tally::new(&six));
    assert!(matches!(refused, Err(Error::Alphabet { .. })));
    let empty = Estimator::new(pool, Settings::default());
    assert!(matches!(empty, Err(Error::NoReports)));
    for level in [0.0, 1.0, -0.1, f64::NAN] {
        assert!(matches!(Settings::at_level(level), Err(Error::Range { .. })));
    }
}

#[test]
fn the_order_of_policies_does_not_matter() {
    let (a, b) = (letters(), krr(Alphabet::indices(5).unwrap(), None, "2"));
    let (mut first, mut second) = (Tally::new(&a), Tally::new(&b));
    first.add_counts(&[50, 30, 20, 10, 40]).unwrap();
    second.add_counts(&[90, 30, 10, 10, 20]).unwrap();
    let ask = |pool: Pool| {
        Estimator::new(pool, Settings::default()).unwrap().shares(Method::Unbiased).unwrap()
    };
    let one = Pool::new(&a, first.clone()).unwrap().and(&b, second.clone()).unwrap();
    let two = Pool::new(&b, second).unwrap().and(&a, first.clone()).unwrap();
    assert_eq!(ask(one.clone()), ask(two));
    // The same policy again is merged, not weighed as another group.
    let half = |counts: [u64; 5]| {
        let mut tally = Tally::new(&a);
        tally.add_counts(&counts).unwrap();
        tally
    };
    let split = Pool::new(&a, half([20, 30, 0, 10, 0])).unwrap();
    let split = split.and(&a, half([30, 0, 20, 0, 40])).unwrap();
    assert_eq!(ask(split), ask(Pool::new(&a, first).unwrap()));
}
