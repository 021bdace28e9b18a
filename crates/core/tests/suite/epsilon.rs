//! A privacy level is the largest fraction of 32-bit integers that keeps its promise.

use crate::common::{self, Q, Random, binary, exp, level, ln, nats, odds, ratio};
use undertone_core::{Epsilon, EpsilonError, Nats};

const MOST: u64 = u32::MAX as u64;

/// The next larger fraction n'/d' >= n/d with terms up to 2^32 - 1: the neighbour with
/// n'd - nd' = 1 and the largest terms. `None` above the largest.
fn next_larger(numerator: u64, denominator: u64) -> Option<(u64, u64)> {
    // The inverse of d modulo n, by Euclid's algorithm.
    let (mut old, mut new) = ((i128::from(denominator), 1i128), (i128::from(numerator), 0i128));
    while new.0 != 0 {
        let quotient = old.0 / new.0;
        (old, new) = (new, (old.0 - quotient * new.0, old.1 - quotient * new.1));
    }
    assert_eq!(old.0, 1, "{numerator}/{denominator} is not in lowest terms");
    let inverse = old.1.rem_euclid(i128::from(numerator)) as u64;
    let most = MOST - (MOST - inverse) % numerator;
    let below = (u128::from(denominator) * u128::from(most) - 1) / u128::from(numerator);
    (below > 0).then_some((most, below as u64))
}

/// e^ε lies at or above the odds and strictly below the next larger fraction.
fn check(asked: Nats) -> Epsilon {
    let epsilon = Epsilon::at_most(asked).unwrap();
    let (numerator, denominator) = epsilon.odds();
    let doubt = binary(1, 300);
    let truth = exp(&nats(asked));
    assert!(odds(epsilon) <= &truth + &doubt, "{asked}: {numerator}/{denominator} is above");
    if let Some((n, d)) = next_larger(u64::from(numerator), u64::from(denominator)) {
        assert!(ratio(n, d) > truth, "{asked}: {n}/{d} would fit");
    }
    // What is printed for people is not above what was asked, nor below the truth.
    assert!(epsilon.nats() <= asked);
    if numerator != denominator {
        let logarithm = ln(&odds(epsilon));
        assert!(nats(epsilon.nats()) >= &logarithm - common::doubt());
        assert!(nats(epsilon.nats()) - logarithm <= binary(1, 31));
    }
    // Asking for what is printed gives the same level.
    assert_eq!(Epsilon::parse(&epsilon.to_string()), Ok(epsilon));
    epsilon
}

#[test]
fn largest_odds() {
    let mut random = Random::new(31);
    let largest = Epsilon::LARGEST.nats().units();
    // A walk takes milliseconds in this profile; a few hundred levels are enough.
    let simple = (0..=2218).step_by(37).map(|hundredths| hundredths * 100_000_000);
    let tiny = 0..30;
    let near_the_end = (0..5).map(|below| largest - below);
    let any: Vec<u64> = (0..60).map(|_| random.below(largest)).collect();
    let small: Vec<u64> = (0..40).map(|_| random.magnitude(30)).collect();
    let mut asked: Vec<u64> =
        simple.chain(tiny).chain(near_the_end).chain(any).chain(small).collect();
    asked.sort_unstable();
    let levels: Vec<Q> = asked.iter().map(|&units| odds(check(Nats::from_units(units)))).collect();
    assert!(levels.is_sorted());
}

#[test]
fn known_levels() {
    assert_eq!(Epsilon::parse("0"), Ok(Epsilon::ZERO));
    assert_eq!(Epsilon::ZERO.nats(), Nats::ZERO);
    // ln 2 = 0.69314718055994.., so 2/1 is reached at the next tenth digit only.
    assert_eq!(Epsilon::parse("0.6931471806").unwrap().odds(), (2, 1));
    assert!(odds(Epsilon::parse("0.6931471805").unwrap()) < ratio(2, 1));
    assert_eq!(Epsilon::parse("22.1807097777"), Ok(Epsilon::LARGEST));
    assert_eq!(Epsilon::LARGEST.odds(), (u32::MAX, 1));
    // ln(2^32 - 1) = 22.18070977768..
    assert_eq!(Epsilon::LARGEST.to_string(), "22.1807097777");
    assert_eq!(level(4, 2).ratio(), level(2, 1).ratio());
}

#[test]
fn bad_texts() {
    let texts = [
        "",
        ".",
        "1e3",
        "-1",
        "-0",
        "+1",
        "NaN",
        "nan",
        "inf",
        "infinity",
        "0x1",
        "1.2.3",
        "1,5",
        " 1",
        "1 ",
        "1_000",
        "½",
        "１",
        "1000000000000",
        "0.5f",
        "..",
        "1\0",
        "\u{663}",
    ];
    for text in texts {
        assert_eq!(Epsilon::parse(text), Err(EpsilonError::NotNats), "{text:?}");
        assert!(Nats::parse_down(text).is_err(), "{text:?}");
    }
    let too_large = ["22.19", "22.1807097778", "23", "999999999", "999999999.9999999999"];
    for text in too_large {
        let asked = Nats::parse_down(text).unwrap();
        assert_eq!(Epsilon::parse(text), Err(EpsilonError::TooLarge { asked }), "{text:?}");
    }
}

#[test]
fn nats_round_trip_and_round_down() {
    let mut random = Random::new(32);
    for _ in 0..5000 {
        let units = random.magnitude(64) % 10_000_000_000_000_000_000;
        let nats = Nats::from_units(units);
        assert_eq!(Nats::parse_down(&nats.to_string()), Ok(nats));
        // Digits past the tenth are dropped.
        let longer = format!("{}.{:010}{}", units / 10_000_000_000, units % 10_000_000_000, 99);
        assert_eq!(Nats::parse_down(&longer), Ok(nats));
    }
    let text = |units| Nats::from_units(units).to_string();
    assert_eq!(text(0), "0");
    assert_eq!(text(1), "0.0000000001");
    assert_eq!(text(5_000_000_000), "0.5");
    assert_eq!(text(100_000_000_000), "10");
    assert_eq!(Nats::parse_down(".5"), Ok(Nats::from_units(5_000_000_000)));
    assert_eq!(Nats::parse_down("5."), Ok(Nats::from_units(50_000_000_000)));
    assert_eq!(Nats::from_units(u64::MAX).checked_add(Nats::from_units(1)), None);
}
