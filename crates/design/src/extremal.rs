//! Extremal lift vectors: the corners of everything a bounded-lift mechanism can reveal.
//!
//! One output of a mechanism is, up to scale, a vector of lifts L(x) = q(y|x)/P(y) with
//! Σ P(x) L(x) = 1. Under asymmetric LIP each lift lies in [lower, upper], so the possible vectors
//! form a polytope whose vertices have every coordinate but one at an end of the interval. Any
//! convex quantity of one output attains its supremum at a vertex, and any vertex v is attained by
//! a real mechanism: release a marker with law proportional to v on rare occasions (see [`witness`]).

use crate::{Channel, Distribution, Error};

mod family;
mod range;

pub use family::{family_lifts, family_witness};
pub use range::{LiftRange, MAX_EPSILON, rest_of};

/// Above this many symbols the 2^(M-1)·M vertices are no longer enumerated.
pub const MAX_SYMBOLS: usize = 16;

/// All vertices of {lower <= L(x) <= upper, Σ P(x) L(x) = 1}.
///
/// `lower` = e^-ε_lower <= 1 and `upper` = e^ε_upper >= 1. Coordinates of zero-mass symbols do not
/// enter the sum and take both ends. Vertices are distinct.
pub fn lifts(prior: &Distribution, lower: f64, upper: f64) -> Result<Vec<Vec<f64>>, Error> {
    let m = prior.len();
    if m > MAX_SYMBOLS {
        return Err(Error::TooLarge {
            what: "the prior".into(),
            size: m,
            limit: MAX_SYMBOLS,
            fix: "merge rare symbols, or use the closed-form bound".into(),
        });
    }
    if !(0.0 < lower && lower <= 1.0) {
        return Err(Error::range("the lower lift", lower, "above 0 and at most 1"));
    }
    if !(upper >= 1.0 && upper.is_finite()) {
        return Err(Error::range("the upper lift", upper, "finite and at least 1"));
    }
    let p = prior.as_slice();
    let mut found: Vec<Vec<f64>> = Vec::new();
    for free in (0..m).filter(|&x| p[x] > 0.0) {
        for mask in 0..1u32 << (m - 1) {
            // Bit j of the mask picks the end for the j-th coordinate other than `free`.
            let high = |x: usize| mask >> (if x < free { x } else { x - 1 }) & 1 == 1;
            let end = |x: usize| if x != free && high(x) { upper } else { lower };
            let mut lift: Vec<f64> = (0..m).map(end).collect();
            let rest: f64 = (0..m).filter(|&x| x != free).map(|x| p[x] * lift[x]).sum();
            let value = (1.0 - rest) / p[free];
            // What rounding can do to 1 - rest, whose terms are of the order of one.
            let slack = 32.0 * m as f64 * f64::EPSILON / p[free];
            if !(lower - slack <= value && value <= upper + slack) {
                continue;
            }
            lift[free] = value.clamp(lower, upper);
            let known = |old: &Vec<f64>| old.iter().zip(&lift).all(|(a, b)| (a - b).abs() <= slack);
            // A vertex with several coordinates strictly inside cannot occur; one whose free
            // coordinate sits on an end is met once per coordinate, so only those need a search.
            let on_end = (lift[free] - lower).abs() <= slack || (lift[free] - upper).abs() <= slack;
            if !on_end || !found.iter().any(known) {
                found.push(lift);
            }
        }
    }
    Ok(found)
}

/// A two-output channel whose first output has exactly the lift vector `lift`, released as often as
/// the second output's lifts allow while staying in [lower, upper].
///
/// The second output has lifts (1 - wL(x))/(1 - w); w is the largest weight that keeps them inside.
pub fn witness(lift: &[f64], lower: f64, upper: f64) -> Result<Channel, Error> {
    let most = |l: f64| {
        let mut w = 0.5f64;
        if l > 1.0 {
            w = w.min((1.0 - lower) / (l - lower));
        }
        if l < 1.0 {
            w = w.min((upper - 1.0) / (upper - l));
        }
        w
    };
    let weight = lift.iter().map(|&l| most(l)).fold(0.5, f64::min);
    Channel::new(lift.iter().map(|l| vec![weight * l, 1.0 - weight * l]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vertices_are_feasible_and_extremal() {
        let prior = Distribution::new("p", vec![0.2, 0.3, 0.1, 0.4]).unwrap();
        let (lower, upper) = ((-0.7f64).exp(), 0.5f64.exp());
        let all = lifts(&prior, lower, upper).unwrap();
        assert!(!all.is_empty());
        for lift in &all {
            let sum: f64 = lift.iter().zip(prior.as_slice()).map(|(l, p)| l * p).sum();
            assert!((sum - 1.0).abs() < 1e-12);
            let inside = lift.iter().filter(|&&l| l > lower + 1e-9 && l < upper - 1e-9).count();
            assert!(inside <= 1);
        }
        for (i, a) in all.iter().enumerate() {
            for b in &all[i + 1..] {
                assert!(a.iter().zip(b).any(|(a, b)| (a - b).abs() > 1e-9));
            }
        }
    }

    #[test]
    fn one_symbol_has_nothing_to_reveal() {
        assert_eq!(lifts(&Distribution::uniform(1), 0.5, 2.0).unwrap(), vec![vec![1.0]]);
    }

    #[test]
    fn a_witness_attains_its_lift() {
        let prior = Distribution::uniform(3);
        for lift in lifts(&prior, 0.5, 2.0).unwrap() {
            let channel = witness(&lift, 0.5, 2.0).unwrap();
            let law = channel.output_law(&prior).unwrap();
            for (x, expected) in lift.iter().enumerate() {
                assert!((channel.q(x, 0) / law[0] - expected).abs() < 1e-12);
                let other = channel.q(x, 1) / law[1];
                assert!((0.5 - 1e-12..=2.0 + 1e-12).contains(&other));
            }
        }
    }
}
