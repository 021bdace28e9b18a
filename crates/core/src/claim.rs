//! What a policy promises.

use crate::epsilon::Epsilon;
use crate::mass::MASS_ONE;
use core::fmt;

/// One promise. A policy makes one or more, and all hold at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Claim {
    /// The subject that is protected.
    pub about: Subject,
    /// The quantity that is bounded, and how tightly.
    pub bound: Bound,
    /// The probability that may escape the bound.
    pub delta: Delta,
}

/// The subject that a claim protects.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Subject {
    /// The input X itself.
    Input,
    /// The secret S behind it, named in the context.
    Secret,
}

/// The quantity that a claim bounds, and how tightly.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bound {
    /// LDP: any two likelihoods of one output are within e^ε of each other.
    Ldp(Epsilon),
    /// LIP: posterior over prior is at most e^upper and at least e^-lower. Two-sided LIP has both
    /// equal; JSTL21 Definition 5, ZDS22 Definition 1.
    Lip {
        /// The most that belief may fall.
        lower: Epsilon,
        /// The most that belief may rise.
        upper: Epsilon,
    },
    /// Differential identifiability on singletons: the posterior odds between any two inputs are at
    /// most e^ε. JSTL21 Definition 3. No level below the prior's own odds can hold.
    Di(Epsilon),
}

/// A probability in units of 2^-48, below one. Conditional convention: for every x the excess
/// over the bound, summed over outputs, is at most δ, on each side (JSTL21 Corollary 9).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Delta(u64);

/// A δ of one or more.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("delta is {units} in units of 2^-48: it must be below one ({MASS_ONE})")]
pub struct DeltaTooLarge {
    /// The δ asked for, in units of 2^-48.
    pub units: u64,
}

impl Delta {
    /// δ = 0: nothing escapes the bound.
    pub const ZERO: Self = Self(0);

    /// From units of 2^-48; below one.
    pub fn from_units(units: u64) -> Result<Self, DeltaTooLarge> {
        if units < MASS_ONE { Ok(Self(units)) } else { Err(DeltaTooLarge { units }) }
    }

    /// δ in units of 2^-48.
    pub const fn units(self) -> u64 {
        self.0
    }
}

impl Claim {
    /// A claim of pure LDP of the input.
    pub fn ldp(epsilon: Epsilon) -> Self {
        Self { about: Subject::Input, bound: Bound::Ldp(epsilon), delta: Delta::ZERO }
    }

    /// Pure two-sided LIP of the input.
    pub fn lip(epsilon: Epsilon) -> Self {
        let bound = Bound::Lip { lower: epsilon, upper: epsilon };
        Self { about: Subject::Input, bound, delta: Delta::ZERO }
    }

    /// This claim, made about the secret.
    #[must_use]
    pub fn about_secret(self) -> Self {
        Self { about: Subject::Secret, ..self }
    }

    /// This claim, with some probability of escape.
    #[must_use]
    pub fn with_delta(self, delta: Delta) -> Self {
        Self { delta, ..self }
    }
}

impl fmt::Display for Delta {
    /// A decimal that is read back as this δ and is not below it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        PlainUnits(self.0).fmt(f)
    }
}

/// Units of 2^-48 as the shortest decimal that is not below them and below one unit more: a δ is read rounded
/// down to a unit, so this prints what was asked for.
pub(crate) struct PlainUnits(pub(crate) u64);

impl fmt::Display for PlainUnits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (units, one) = (u128::from(self.0), u128::from(MASS_ONE));
        let mut tens = 1u128;
        // 10^15 is above 2^48, so fifteen places always hold a decimal between two units.
        for places in 0..=15usize {
            let digits = (units * tens).div_ceil(one);
            if digits * one < (units + 1) * tens {
                let (whole, rest) = (digits / tens, digits % tens);
                return match places {
                    0 => write!(f, "{whole}"),
                    _ => write!(f, "{whole}.{rest:0places$}"),
                };
            }
            tens *= 10;
        }
        Err(fmt::Error)
    }
}

impl fmt::Display for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.bound {
            Bound::Ldp(epsilon) => write!(f, "ldp:{epsilon}")?,
            Bound::Di(epsilon) => write!(f, "di:{epsilon}")?,
            Bound::Lip { lower, upper } if lower == upper => write!(f, "lip:{upper}")?,
            Bound::Lip { lower, upper } => write!(f, "alip:{lower},{upper}")?,
        }
        if self.delta != Delta::ZERO {
            write!(f, " with delta {}", self.delta)?;
        }
        f.write_str(match self.about {
            Subject::Input => "",
            Subject::Secret => " of the secret",
        })
    }
}
