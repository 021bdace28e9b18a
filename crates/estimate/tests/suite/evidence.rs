//! Likelihoods of rows, clear and randomised.

use undertone_core::{Alphabet, Bits, Shape, WEIGHT_ONE};
use undertone_estimate::{Error, Evidence, EvidenceBuilder};
use undertone_testkit::policy::{keep, loose, table};

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn a_clear_column_is_certain() {
    let evidence = Evidence::clear(names(&["a", "b", "c"]), vec![2, 0, 2]).unwrap();
    assert_eq!((evidence.rows(), evidence.distinct(), evidence.symbols()), (3, 2, 3));
    assert!(evidence.is_clear());
    let certain = |row: usize| evidence.certain(evidence.codes()[row]);
    assert_eq!([certain(0), certain(1), certain(2)], [Some(2), Some(0), Some(2)]);
    let refused = Evidence::clear(names(&["a"]), vec![1]).unwrap_err();
    assert_eq!(refused.to_string(), "category 1 does not exist: there are 1, counted from 0");
}

#[test]
fn likelihoods_are_the_policys_columns_in_the_columns_order() {
    let rows = vec![vec![0.5, 0.25, 0.25], vec![0.125, 0.375, 0.5]];
    let policy = loose(
        Alphabet::names(["no", "yes"]).unwrap(),
        Some(Alphabet::indices(3).unwrap()),
        table(&rows),
    );
    let evidence = Evidence::randomised(&policy, &[2, 0, 2]).unwrap();
    assert_eq!(evidence.likelihood(evidence.codes()[0]), [0.25, 0.5]);
    assert_eq!(evidence.likelihood(evidence.codes()[1]), [0.5, 0.125]);
    assert!(!evidence.is_clear());
    assert!(matches!(Evidence::randomised(&policy, &[3]), Err(Error::Token { at: 0, .. })));

    // Half of the rows clear, half under a policy that lists the symbols the other way round.
    let mut builder = EvidenceBuilder::new(names(&["yes", "no"])).unwrap();
    let (clear, other) = (builder.clear(), builder.design(&policy).unwrap());
    builder.push_index(clear, 0).unwrap();
    builder.push_index(other, 0).unwrap();
    let mixed = builder.finish().unwrap();
    assert_eq!(mixed.likelihood(mixed.codes()[0]), [1.0, 0.0]);
    assert_eq!(mixed.likelihood(mixed.codes()[1]), [0.125, 0.5]);
    let mut stranger = EvidenceBuilder::new(names(&["red", "green"])).unwrap();
    let words = stranger.design(&policy).unwrap_err().to_string();
    assert!(words.contains("is about other symbols than red, green"), "{words}");
}

#[test]
fn a_thousand_bits_do_not_underflow_and_keep_their_likelihood() {
    let policy = |size: usize| {
        let bits = Bits::new(size, WEIGHT_ONE / 2, WEIGHT_ONE / 8).unwrap();
        loose(Alphabet::indices(size).unwrap(), None, Shape::Bits(bits))
    };
    let small = policy(3);
    let mut builder = EvidenceBuilder::of_policy(&small).unwrap();
    let design = builder.design(&small).unwrap();
    builder.push_bits(design, &[0b1010_0000]).unwrap();
    assert!(matches!(builder.push_bits(design, &[0b0001_0000]), Err(Error::Token { at: 1, .. })));
    let evidence = builder.finish().unwrap();
    let factor = evidence.log_factor(0).exp();
    let expected = [0.5 * 0.875 * 0.125, 0.125 * 0.5 * 0.125, 0.125 * 0.875 * 0.5];
    for (found, expected) in evidence.likelihood(0).iter().zip(expected) {
        assert!((found * factor / expected - 1.0).abs() < 1e-14);
    }
    let large = policy(1000);
    let mut builder = EvidenceBuilder::of_policy(&large).unwrap();
    let design = builder.design(&large).unwrap();
    let mut row = vec![0xff; 62];
    row.resize(125, 0);
    builder.push_bits(design, &row).unwrap();
    let evidence = builder.finish().unwrap();
    let likelihood = evidence.likelihood(0);
    assert_eq!(likelihood[0], 1.0);
    assert!((likelihood[999] / (0.5 * 0.125 / (0.5 * 0.875)) - 1.0).abs() < 1e-12);
    let log = 0.5f64.ln() + 495.0 * 0.125f64.ln() + 504.0 * 0.875f64.ln();
    assert!((evidence.log_factor(0) - log).abs() < 1e-9);
}

#[test]
fn a_keep_policy_needs_only_the_outputs_that_occur() {
    let policy = loose(Alphabet::indices(4).unwrap(), None, keep(&[0.5; 4], &[0.25; 4]));
    let evidence = Evidence::randomised(&policy, &[3, 3, 1]).unwrap();
    assert_eq!(evidence.distinct(), 2);
    assert_eq!(evidence.likelihood(0), [0.125, 0.125, 0.125, 0.625]);
}
