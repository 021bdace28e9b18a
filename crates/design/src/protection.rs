//! Protections as people write them: `lip:1`, `lip:1,0.01`, `alip:0.5,1`, `ldp:2`, `di:3`.

use undertone_core::{Bound, Claim, Delta, Epsilon, EpsilonError, MASS_ONE, Nats, Subject};

use crate::Error;

/// Reads one protection as a claim about `about`; the prefix `input:` makes it about the input.
///
/// ε is rounded down to the odds the kernel can express, δ down to a multiple of 2^-48.
pub fn parse(text: &str, about: Subject) -> Result<Claim, Error> {
    let (about, rest) = match text.strip_prefix("input:") {
        Some(rest) => (Subject::Input, rest),
        None => (about, text),
    };
    let shape = "write lip:1, lip:1,0.01, alip:0.5,1, ldp:2 or di:3";
    let fail = |problem: String| Error::other(format!("protection {text:?}"), problem);
    let Some((notion, numbers)) = rest.split_once(':') else {
        return Err(fail(format!("there is no budget; {shape}")));
    };
    let numbers: Vec<&str> = numbers.split(',').map(str::trim).collect();
    let epsilon = |text: &str| epsilon(text).map_err(|error| fail(error.to_string()));
    let delta = |text: &str| {
        let value: f64 =
            text.parse().map_err(|_| fail(format!("delta {text:?} is not a number")))?;
        if !(0.0..1.0).contains(&value) {
            return Err(fail(format!("delta is {value}; it must be at least 0 and below 1")));
        }
        Delta::from_units((value * MASS_ONE as f64) as u64).map_err(|error| fail(error.to_string()))
    };
    let (bound, delta) = match (notion, numbers.as_slice()) {
        ("lip", [e]) => (lip(epsilon(e)?), Delta::ZERO),
        ("lip", [e, d]) => (lip(epsilon(e)?), delta(d)?),
        ("alip", [l, u]) => (Bound::Lip { lower: epsilon(l)?, upper: epsilon(u)? }, Delta::ZERO),
        ("alip", [l, u, d]) => (Bound::Lip { lower: epsilon(l)?, upper: epsilon(u)? }, delta(d)?),
        ("ldp", [e]) => (Bound::Ldp(epsilon(e)?), Delta::ZERO),
        ("ldp", [e, d]) => (Bound::Ldp(epsilon(e)?), delta(d)?),
        ("di", [e]) => (Bound::Di(epsilon(e)?), Delta::ZERO),
        ("lip" | "alip" | "ldp" | "di", _) => {
            return Err(fail(format!("wrong number of budgets; {shape}")));
        }
        _ => return Err(fail(format!("{notion:?} cannot be designed for; {shape}"))),
    };
    Ok(Claim { about, bound, delta })
}

/// Reads a level in nats, also with an exponent (`1e-3`), rounded down to odds the kernel can express. Levels below
/// 10^-10 round down to nought.
pub fn epsilon(text: &str) -> Result<Epsilon, EpsilonError> {
    Epsilon::at_most(nats(text)?)
}

/// Reads a number of nats as people and programs write it: with an exponent (`1e-3`), with a plus, or a nought with a
/// minus. Digits past the tenth are dropped.
pub fn nats(text: &str) -> Result<Nats, EpsilonError> {
    let text = text.trim();
    if text.starts_with('-') && text.parse() == Ok(0.0) {
        return Ok(Nats::ZERO);
    }
    let text = text.strip_prefix('+').unwrap_or(text);
    let plain = plain_decimal(text);
    Nats::parse_down(plain.as_deref().unwrap_or(text)).map_err(|_| EpsilonError::NotNats)
}

/// A decimal with an exponent written out, digit by digit, so that nothing is rounded; `None` for any other text.
fn plain_decimal(text: &str) -> Option<String> {
    let (mantissa, exponent) = text.split_once(['e', 'E'])?;
    let exponent: i32 = exponent.parse().ok().filter(|e: &i32| e.abs() <= 400)?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let digits = digits.trim_start_matches('0');
    let leading = whole.len() + fraction.len() - digits.len();
    // Where the point stands among the digits that are left.
    let point = whole.len() as i32 - leading as i32 + exponent;
    Some(match usize::try_from(point) {
        Ok(point) if point < digits.len() => format!("{}.{}", &digits[..point], &digits[point..]),
        Ok(point) => format!("{digits}{}", "0".repeat(point - digits.len())),
        Err(_) => format!("0.{}{digits}", "0".repeat(point.unsigned_abs() as usize)),
    })
}

fn lip(epsilon: Epsilon) -> Bound {
    Bound::Lip { lower: epsilon, upper: epsilon }
}

/// The level of a claim as a float, never above the claim: ln of its odds, the larger side for LIP.
pub fn level(claim: &Claim) -> f64 {
    let ln = |epsilon: Epsilon| {
        let (numerator, denominator) = epsilon.odds();
        (f64::from(numerator) / f64::from(denominator)).ln()
    };
    match claim.bound {
        Bound::Ldp(epsilon) | Bound::Di(epsilon) => ln(epsilon),
        Bound::Lip { lower, upper } => ln(lower).max(ln(upper)),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_people_write() {
        let claim = parse("lip:1,0.01", Subject::Input).unwrap();
        assert_eq!(claim.delta.units(), (0.01 * MASS_ONE as f64) as u64);
        assert!((level(&claim) - 1.0).abs() < 1e-9 && level(&claim) <= 1.0);
        assert_eq!(parse("alip:0.5,1", Subject::Secret).unwrap().about, Subject::Secret);
        assert_eq!(parse("input:ldp:2", Subject::Secret).unwrap().about, Subject::Input);
    }

    #[test]
    fn exponents_are_read_like_the_decimals_they_stand_for() {
        for (text, plain) in [
            ("1e-3", "0.001"),
            ("12.5e-1", "1.25"),
            ("0.25e1", "2.5"),
            ("2E0", "2"),
            (".5e0", "0.5"),
            ("1e1", "10"),
            ("1e-12", "0"),
            ("0e5", "0"),
            ("3e-400", "0"),
            ("+1", "1"),
            (" 1 ", "1"),
            ("-0", "0"),
            ("-0.000000000000", "0"),
        ] {
            assert_eq!(epsilon(text).unwrap(), epsilon(plain).unwrap(), "{text}");
        }
        for bad in [
            "1e", "e1", "-1e0", "1e-", "1e2.5", "1e999", "NaN", "1e30", "0x1e1", "+-1", "-+0", "+",
            "-", "",
        ] {
            assert!(epsilon(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn refuses_the_rest_in_words() {
        for bad in [
            "lip",
            "lip:",
            "lip:x",
            "lip:1,2",
            "lip:1,nan",
            "alip:1",
            "mip:1",
            "lip:-1",
            "lip:30",
            "di:1,0.1",
        ] {
            let error = parse(bad, Subject::Input).unwrap_err().to_string();
            assert!(error.contains(bad), "{error}");
        }
    }
}
