//! A notion together with its numbers: `lip:1`, `lip:1,0.01`, `alip:0.5,1`.

use std::fmt;
use std::str::FromStr;

use super::Notion;
use undertone_design::Error;
use undertone_design::measure::delta::Convention;

/// A notion with its budget: ε in nats (two of them for `alip`) and δ with its convention.
///
/// For `alphalift` ε bounds the logarithm of ℓ_α, the ℓ_α of the worst output. An infinite lower
/// budget of `alip` means that only the upper side is bounded, which is `pml`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Guarantee {
    notion: Notion,
    lower: f64,
    upper: f64,
    delta: f64,
    convention: Convention,
}

impl Guarantee {
    /// A pure guarantee with one ε.
    pub fn new(notion: Notion, epsilon: f64) -> Result<Self, Error> {
        check_epsilon("epsilon", epsilon)?;
        Ok(Self::raw(notion, epsilon))
    }

    /// Asymmetric LIP: `lower` bounds -ln of the smallest lift (it may be infinite), `upper` ln of
    /// the largest.
    pub fn asymmetric(lower: f64, upper: f64) -> Result<Self, Error> {
        if lower != f64::INFINITY {
            check_epsilon("the lower epsilon", lower)?;
        }
        check_epsilon("the upper epsilon", upper)?;
        Ok(Self::sides(lower, upper))
    }

    /// This guarantee with a δ in the given convention.
    pub fn with_delta(self, delta: f64, convention: Convention) -> Result<Self, Error> {
        if !(0.0..1.0).contains(&delta) {
            return Err(Error::range("delta", delta, "at least 0 and below 1"));
        }
        if delta > 0.0 && !self.notion.has_delta() {
            return Err(Error::other(
                "delta",
                format!(
                    "{} has no delta (found {delta}); only ldp, lip, alip, bplip and wclip do",
                    self.notion
                ),
            ));
        }
        let measured = matches!(self.notion, Notion::Alip | Notion::Bplip);
        if delta > 0.0 && measured && convention != Convention::Conditional {
            return Err(Error::other(
                "convention",
                format!("the delta of {} is always conditional (found {convention})", self.notion),
            ));
        }
        let convention =
            if self.notion == Notion::Lip { convention } else { Convention::default() };
        Ok(Self { delta, convention, ..self })
    }

    /// One ε, unchecked: bounds may be infinite and printed forms may be negative.
    pub(super) fn raw(notion: Notion, epsilon: f64) -> Self {
        Self {
            notion,
            lower: epsilon,
            upper: epsilon,
            delta: 0.0,
            convention: Convention::Conditional,
        }
    }

    /// Asymmetric LIP, unchecked.
    pub(super) fn sides(lower: f64, upper: f64) -> Self {
        Self { lower, ..Self::raw(Notion::Alip, upper) }
    }

    /// Another δ, unchecked.
    pub(super) fn and_delta(self, delta: f64, convention: Convention) -> Self {
        let convention = if delta == 0.0 { Convention::Conditional } else { convention };
        Self { delta, convention, ..self }
    }

    /// This guarantee with each side at least the given one.
    pub(super) fn raised_to(self, lower: f64, upper: f64) -> Self {
        let both = self.notion != Notion::Alip;
        let (lower, upper) =
            if both { (lower.max(upper), lower.max(upper)) } else { (lower, upper) };
        Self { lower: self.lower.max(lower), upper: self.upper.max(upper), ..self }
    }

    /// The notion: what the guarantee bounds.
    pub fn notion(&self) -> Notion {
        self.notion
    }

    /// ε; for `alip` the larger of its two.
    pub fn epsilon(&self) -> f64 {
        self.lower.max(self.upper)
    }

    /// The budget of the lower side (the same as ε except for `alip`).
    pub fn lower(&self) -> f64 {
        self.lower
    }

    /// The budget of the upper side (the same as ε except for `alip`).
    pub fn upper(&self) -> f64 {
        self.upper
    }

    /// δ; zero for a pure guarantee.
    pub fn delta(&self) -> f64 {
        self.delta
    }

    /// Against what δ is measured.
    pub fn convention(&self) -> Convention {
        self.convention
    }

    /// Whether δ is zero.
    pub fn is_pure(&self) -> bool {
        self.delta == 0.0
    }
}

impl fmt::Display for Guarantee {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { notion, lower, upper, delta, convention } = self;
        if *notion == Notion::Alip {
            write!(f, "{notion}:{lower},{upper}")?;
        } else {
            write!(f, "{notion}:{upper}")?;
        }
        if *delta != 0.0 {
            write!(f, ",{delta}")?;
            if *notion == Notion::Lip && *convention != Convention::Conditional {
                write!(f, " ({convention})")?;
            }
        }
        Ok(())
    }
}

impl FromStr for Guarantee {
    type Err = Error;

    /// `notion:epsilon[,delta]`, or `alip:lower,upper[,delta]`; δ is taken as conditional.
    fn from_str(text: &str) -> Result<Self, Error> {
        let shape = "write notion:epsilon[,delta], for example lip:1,0.01 (alip:lower,upper)";
        let Some((name, numbers)) = text.split_once(':') else {
            return Err(Error::other("guarantee", format!("{text:?} has no budget; {shape}")));
        };
        let notion: Notion = name.trim().parse()?;
        let numbers = numbers
            .split(',')
            .map(|number| {
                number.trim().parse().map_err(|_| {
                    Error::other("guarantee", format!("{number:?} is not a number; {shape}"))
                })
            })
            .collect::<Result<Vec<f64>, _>>()?;
        let (pure, delta) = match (notion, numbers.as_slice()) {
            (Notion::Alip, [lower, upper]) => (Self::asymmetric(*lower, *upper)?, 0.0),
            (Notion::Alip, [lower, upper, delta]) => (Self::asymmetric(*lower, *upper)?, *delta),
            (Notion::Alip, _) => {
                let problem = format!("{text:?} needs two budgets: write alip:lower,upper");
                return Err(Error::other("guarantee", problem));
            }
            (_, [epsilon]) => (Self::new(notion, *epsilon)?, 0.0),
            (_, [epsilon, delta]) => (Self::new(notion, *epsilon)?, *delta),
            _ => return Err(Error::other("guarantee", format!("{text:?} is too long; {shape}"))),
        };
        pure.with_delta(delta, Convention::Conditional)
    }
}

fn check_epsilon(what: &str, epsilon: f64) -> Result<(), Error> {
    // Beyond 700 e^ε leaves the floats; no guarantee of that size means anything.
    if (0.0..=MAX_EPSILON).contains(&epsilon) {
        Ok(())
    } else {
        Err(Error::range(what, epsilon, format!("a number from 0 to {MAX_EPSILON} (nats)")))
    }
}

/// The largest ε accepted: e^2ε must stay finite.
pub const MAX_EPSILON: f64 = 300.0;

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn text_round_trips() {
        for text in ["lip:1", "lip:1,0.01", "alip:0.5,1", "alip:inf,1", "ldp:2", "infp:0.18"] {
            let guarantee: Guarantee = text.parse().unwrap();
            assert_eq!(guarantee.to_string(), text);
            assert_eq!(guarantee.to_string().parse::<Guarantee>().unwrap(), guarantee);
        }
        assert_eq!("infp:.18".parse::<Guarantee>().unwrap().epsilon(), 0.18);
        assert_eq!("alip:0.5,1,0.1".parse::<Guarantee>().unwrap().delta(), 0.1);
    }

    #[test]
    fn bad_text_is_refused_with_the_reason() {
        for (text, reason) in [
            ("lap:1", "unknown"),
            ("lip", "no budget"),
            ("lip:", "not a number"),
            ("lip:-1", "epsilon is -1"),
            ("lip:NaN", "epsilon is NaN"),
            ("lip:inf", "epsilon is inf"),
            ("lip:1e4", "from 0 to 300"),
            ("lip:1,1", "delta is 1"),
            ("lip:1,-0.1", "delta is -0.1"),
            ("lip:1,NaN", "delta is NaN"),
            ("lip:1,0.1,0.1", "too long"),
            ("alip:1", "two budgets"),
            ("alip:1,inf", "upper epsilon"),
            ("mip:1,0.1", "mip has no delta"),
            ("di:1,0.1", "di has no delta"),
        ] {
            let message = text.parse::<Guarantee>().unwrap_err().to_string();
            assert!(message.contains(reason), "{text}: {message}");
        }
    }
}
