//! Policies that promise nothing: for estimates from data that were randomised by people themselves.
//!
//! A policy makes at least one claim, and the kernel checks it. A mechanism without a promise therefore makes the weakest
//! claim that can be written: LDP at the largest odds, and for tables and keep channels with the largest δ, of all but
//! 2^-48. Every channel meets it under which no two inputs are told apart with certainty. Estimators read such a policy as
//! any other. A device judges a policy by what it attains and not by what it claims, so one without a finite level is
//! refused there whatever is written in it.

use undertone_core::{Bound, Claim, Delta, Epsilon, MASS_ONE, Shape, Subject};

/// The weakest claim a policy of this shape can make.
pub fn claim(shape: &Shape) -> Claim {
    let pure = Claim::ldp(Epsilon::LARGEST);
    match shape {
        Shape::Bits(_) | Shape::Incidence(_) => pure,
        Shape::Table(_) | Shape::Keep(_) => pure.with_delta(weakest_delta()),
    }
}

/// Whether claims promise nothing.
pub fn promises_nothing(claims: &[Claim]) -> bool {
    claims
        .iter()
        .all(|claim| claim.about == Subject::Input && claim.bound == Bound::Ldp(Epsilon::LARGEST))
}

fn weakest_delta() -> Delta {
    // One unit below one is below one.
    Delta::from_units(MASS_ONE - 1).unwrap_or(Delta::ZERO)
}
