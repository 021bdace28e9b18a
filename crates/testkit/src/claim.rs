//! Claims in one word.

use undertone_core::{Bound, Claim, Delta, Epsilon, MASS_ONE, Subject};

/// A level in nats, as text.
#[track_caller]
pub fn epsilon(text: &str) -> Epsilon {
    Epsilon::parse(text).unwrap()
}

/// A share of one, rounded down to the kernel's units.
#[track_caller]
pub fn delta(share: f64) -> Delta {
    Delta::from_units((share * MASS_ONE as f64) as u64).unwrap()
}

/// ε-LIP about the input.
#[track_caller]
pub fn lip(level: &str) -> Claim {
    Claim::lip(epsilon(level))
}

/// ε-LDP about the input.
#[track_caller]
pub fn ldp(level: &str) -> Claim {
    Claim::ldp(epsilon(level))
}

/// Asymmetric LIP about the input.
#[track_caller]
pub fn alip(lower: &str, upper: &str) -> Claim {
    pure(Bound::Lip { lower: epsilon(lower), upper: epsilon(upper) })
}

/// Differential identifiability of the input.
#[track_caller]
pub fn di(level: &str) -> Claim {
    pure(Bound::Di(epsilon(level)))
}

/// A bound about the input without δ.
pub fn pure(bound: Bound) -> Claim {
    Claim { about: Subject::Input, bound, delta: Delta::ZERO }
}
