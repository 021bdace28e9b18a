//! Numbers as they are printed: for programs as JSON, for people as text.
//!
//! A bound is printed rounded outward, in decimal: [`Round::Up`] never prints less than it was given and
//! [`Round::Down`] never more, but for the noise of float arithmetic itself, a few units in the sixteenth digit,
//! which is not taken for a digit. What the kernel certified is printed as the decimal it certified.
//!
//! JSON has no infinity. A number without a finite value is `null`, and the answer's field `unbounded` lists where
//! such numbers stand, as JSON pointers; any other `null` means that there is no such number.
//!
//! Fields of an answer say how they are written: `#[serde(serialize_with = "number::as_bound")]`.

use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use undertone_core::{Nats, Ratio};

/// Which way a number is rounded when it is printed.
#[derive(Clone, Copy, PartialEq)]
pub enum Round {
    /// To the nearest decimal: what was asked for, and values that bound nothing.
    Nearest,
    /// Never below: leakages and upper bounds.
    Up,
    /// Never above: lower bounds.
    Down,
}

/// Significant digits of a bound.
const BOUND_DIGITS: usize = 12;

/// Significant digits of a value: one fewer than floats always keep, so that 0.1 + 0.2 is 0.3.
const VALUE_DIGITS: usize = 15;

/// A difference this small, relative to the number, comes from float arithmetic.
const NOISE: f64 = 1e-14;

/// Stands in a JSON value for a number without bound until [`finished`] takes it out; no text a command prints
/// contains it.
const UNBOUNDED: &str = "\u{0}unbounded\u{0}";

/// How many of something, for people: 1 row, 2 rows.
pub fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// A value for programs, to the nearest decimal.
pub fn number(value: f64) -> Value {
    number_to(value, Round::Nearest)
}

/// A leakage or an upper bound for programs: never below the value.
pub fn at_most(value: f64) -> Value {
    number_to(value, Round::Up)
}

/// A number for programs, rounded as asked.
pub fn number_to(value: f64, round: Round) -> Value {
    if value.is_infinite() { json!(UNBOUNDED) } else { json!(decimal(value, round, digits(round))) }
}

/// A value for programs that may be missing.
pub fn optional(value: Option<f64>) -> Value {
    value.map_or(Value::Null, number)
}

/// A leakage or an upper bound for programs that may be missing.
pub fn optional_at_most(value: Option<f64>) -> Value {
    value.map_or(Value::Null, at_most)
}

/// A certified level for programs; nothing certified is a level without bound.
pub fn certified(level: Option<Nats>) -> Value {
    level.map_or(json!(UNBOUNDED), |nats| json!(float(nats)))
}

/// Writes a value to the nearest decimal.
pub fn as_value<S: Serializer>(value: &f64, to: S) -> Result<S::Ok, S::Error> {
    number(*value).serialize(to)
}

/// Writes values, each to the nearest decimal.
pub fn as_values<S: Serializer>(values: &[f64], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(values.iter().map(|value| number(*value)))
}

/// Writes a value that may be missing to the nearest decimal.
pub fn as_optional_value<S: Serializer>(value: &Option<f64>, to: S) -> Result<S::Ok, S::Error> {
    optional(*value).serialize(to)
}

/// Writes a value that may be missing with three significant digits: a speed, of which nobody reads more.
pub fn as_optional_three_digits<S: Serializer>(
    value: &Option<f64>,
    to: S,
) -> Result<S::Ok, S::Error> {
    value.map(|value| decimal(value, Round::Nearest, 3)).serialize(to)
}

/// Writes a leakage or an upper bound, never below it.
pub fn as_bound<S: Serializer>(value: &f64, to: S) -> Result<S::Ok, S::Error> {
    at_most(*value).serialize(to)
}

/// Writes a leakage or an upper bound that may be missing, never below it.
pub fn as_optional_bound<S: Serializer>(value: &Option<f64>, to: S) -> Result<S::Ok, S::Error> {
    optional_at_most(*value).serialize(to)
}

/// Writes leakages or upper bounds, never below them.
pub fn as_bounds<S: Serializer>(values: &[f64], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(values.iter().map(|value| at_most(*value)))
}

/// Writes leakages or upper bounds that may be missing altogether, never below them.
pub fn as_optional_bounds<S: Serializer>(
    values: &Option<Vec<f64>>,
    to: S,
) -> Result<S::Ok, S::Error> {
    match values {
        Some(values) => as_bounds(values, to),
        None => to.serialize_none(),
    }
}

/// Writes a lower bound, never above it.
pub fn as_lower_bound<S: Serializer>(value: &f64, to: S) -> Result<S::Ok, S::Error> {
    number_to(*value, Round::Down).serialize(to)
}

/// Writes a certified level; nothing certified is a level without bound.
pub fn as_certified<S: Serializer>(level: &Option<Nats>, to: S) -> Result<S::Ok, S::Error> {
    certified(*level).serialize(to)
}

/// Writes the logarithm of a ratio the kernel certified, rounded up as certified.
pub fn as_level<S: Serializer>(ratio: &Ratio, to: S) -> Result<S::Ok, S::Error> {
    certified(ratio.ln_up()).serialize(to)
}

/// Writes the logarithm of a ratio that only exists in some contexts, rounded up as certified.
pub fn as_optional_level<S: Serializer>(ratio: &Option<Ratio>, to: S) -> Result<S::Ok, S::Error> {
    level(*ratio).serialize(to)
}

/// Writes anything by its words, as `Display` has them.
pub fn as_text<T: std::fmt::Display, S: Serializer>(value: &T, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(value)
}

/// Writes something that may be missing by its words.
pub fn as_optional_text<T: std::fmt::Display, S: Serializer>(
    value: &Option<T>,
    to: S,
) -> Result<S::Ok, S::Error> {
    value.as_ref().map(ToString::to_string).serialize(to)
}

/// Writes a list of things by their words.
pub fn as_texts<T: std::fmt::Display, S: Serializer>(
    values: &[T],
    to: S,
) -> Result<S::Ok, S::Error> {
    to.collect_seq(values.iter().map(ToString::to_string))
}

/// The logarithm of a ratio for programs, rounded up; nothing where there is no such ratio.
pub fn level(ratio: Option<Ratio>) -> Value {
    ratio.map_or(Value::Null, |ratio| certified(ratio.ln_up()))
}

/// The logarithm of a ratio for people, rounded up.
pub fn level_words(ratio: Ratio) -> String {
    ratio.ln_up().map_or("unbounded".into(), |nats| nats.to_string())
}

/// A certified level as the float whose shortest decimal is the one certified.
pub fn float(nats: Nats) -> f64 {
    nats.to_string().parse().unwrap_or(f64::INFINITY)
}

/// A probability the kernel computed as a ratio, in decimal and never below it: it is exact, and has no noise to forgive.
pub fn share(ratio: Ratio) -> f64 {
    let above = ratio.scaled_up(52) as f64 / (1u64 << 52) as f64;
    let near = decimal(above, Round::Up, BOUND_DIGITS);
    if near >= above { near } else { decimal(above * (1.0 + 2.0 * NOISE), Round::Up, BOUND_DIGITS) }
}

/// A number as a cell of a CSV file, where an unbounded one is `inf`: tables are read as columns of floats.
pub fn cell(value: f64, round: Round) -> String {
    decimal(value, round, digits(round)).to_string()
}

/// A value for people: up to twelve digits, no trailing zeros.
pub fn nats(value: f64) -> String {
    rounded(value, Round::Nearest)
}

/// A number for people, rounded as asked.
pub fn rounded(value: f64, round: Round) -> String {
    if value.is_infinite() {
        return "unbounded".into();
    }
    if value != 0.0 && value.abs() < 1e-4 {
        return format!("{:.6e}", decimal(value, round, 7));
    }
    let value = decimal(value, round, BOUND_DIGITS);
    if value.abs() >= 1e15 {
        return format!("{value:e}");
    }
    let power = if value == 0.0 { 0 } else { value.abs().log10().floor() as i32 };
    let text = format!("{value:.*}", (BOUND_DIGITS as i32 - 1 - power).max(0) as usize);
    let text =
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    text.into()
}

fn digits(round: Round) -> usize {
    if round == Round::Nearest { VALUE_DIGITS } else { BOUND_DIGITS }
}

/// The decimal of so many significant digits next to `value` in the direction asked for. Zero has no sign.
pub fn decimal(value: f64, round: Round, digits: usize) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value + 0.0;
    }
    // Written with one digit before the point: the digits as a whole number, and the power of ten.
    let written = format!("{:.*e}", digits - 1, value.abs());
    let (mantissa, power) = written.split_once('e').unwrap_or((&written, "0"));
    let whole: u64 = mantissa.replace('.', "").parse().unwrap_or(0);
    let power: i32 = power.parse::<i32>().unwrap_or(0) - (digits as i32 - 1);
    let read = |whole: u64| format!("{whole}e{power}").parse().unwrap_or(f64::NAN);
    let near: f64 = read(whole);
    let away = match round {
        Round::Nearest => false,
        Round::Up => value > 0.0,
        Round::Down => value < 0.0,
    };
    let off = value.abs() - near;
    let close = off.abs() <= NOISE * value.abs();
    let size = match round {
        Round::Nearest => near,
        _ if close => near,
        _ if away && off > 0.0 => read(whole + 1),
        // Below a power of ten the digits are finer by one place.
        _ if !away && off < 0.0 && whole == 10u64.pow(digits as u32 - 1) => {
            format!("{}e{}", 10 * whole - 1, power - 1).parse().unwrap_or(f64::NAN)
        }
        _ if !away && off < 0.0 => read(whole - 1),
        _ => near,
    };
    size.copysign(value)
}

/// An answer as it is printed: marks of unbounded numbers become `null` and are listed, and no zero is negative.
pub fn finished(mut answer: Value) -> Value {
    let mut unbounded = Vec::new();
    clean(&mut answer, &mut String::new(), &mut unbounded);
    if let (Value::Object(fields), false) = (&mut answer, unbounded.is_empty()) {
        fields.insert("unbounded".into(), json!(unbounded));
    }
    answer
}

fn clean(value: &mut Value, path: &mut String, unbounded: &mut Vec<String>) {
    let mut inside = |step: String, value: &mut Value| {
        let before = path.len();
        path.push('/');
        path.push_str(&step);
        clean(value, path, unbounded);
        path.truncate(before);
    };
    match value {
        Value::Object(fields) => {
            for (name, value) in fields.iter_mut() {
                inside(name.replace('~', "~0").replace('/', "~1"), value);
            }
        }
        Value::Array(items) => {
            for (at, value) in items.iter_mut().enumerate() {
                inside(at.to_string(), value);
            }
        }
        Value::String(text) if text == UNBOUNDED => {
            unbounded.push(path.clone());
            *value = Value::Null;
        }
        Value::Number(number) if number.is_f64() && number.as_f64() == Some(0.0) => {
            *value = json!(0.0);
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_is_no_digit_and_bounds_are_rounded_outward() {
        for (value, nearest, up, down) in [
            (0.180_000_000_000_000_02, "0.18", "0.18", "0.18"),
            (2.000_000_000_000_000_4, "2.0", "2.0", "2.0"),
            (0.700_000_000_000_000_1, "0.7", "0.7", "0.7"),
            (0.009_999_999_999_997_344, "0.00999999999999734", "0.01", "0.00999999999999"),
            (-0.0, "0.0", "0.0", "0.0"),
            (1.0 / 3.0, "0.333333333333333", "0.333333333334", "0.333333333333"),
            (-1.0 / 3.0, "-0.333333333333333", "-0.333333333333", "-0.333333333334"),
            (9.999_999_999_999_5, "9.9999999999995", "10.0", "9.99999999999"),
            (1e-300 / 3.0, "3.33333333333333e-301", "3.33333333334e-301", "3.33333333333e-301"),
        ] {
            assert_eq!(number(value).to_string(), nearest, "{value}");
            assert_eq!(at_most(value).to_string(), up, "{value}");
            assert_eq!(number_to(value, Round::Down).to_string(), down, "{value}");
        }
    }

    #[test]
    fn every_rounding_is_on_its_side() {
        let mut x = 0.37f64;
        for _ in 0..20_000 {
            x = (x * 7919.0).fract() + 1e-9;
            let value = x * 10f64.powi((x * 60.0) as i32 - 30);
            let up = decimal(value, Round::Up, BOUND_DIGITS);
            let down = decimal(value, Round::Down, BOUND_DIGITS);
            assert!(up >= value * (1.0 - NOISE) && down <= value * (1.0 + NOISE), "{value}");
            assert!(up - down <= 1.1e-11 * value, "{value}");
            assert_eq!(decimal(-value, Round::Up, BOUND_DIGITS), -down);
        }
    }

    #[test]
    fn people_read_no_long_tails() {
        assert_eq!(nats(1e300), "1e300");
        assert_eq!(nats(2.0), "2");
        assert_eq!(rounded(1.0 / 3.0, Round::Up), "0.333333333334");
        assert_eq!(nats(f64::INFINITY), "unbounded");
        assert_eq!(rounded(1.000_000_1e-6, Round::Up), "1.000001e-6");
    }

    #[test]
    fn what_is_unbounded_is_listed() {
        let answer = json!({"a": [1.5, at_most(f64::INFINITY)], "b/c": {"d": certified(None)}, "e": null, "z": -0.0});
        let printed = finished(answer);
        assert_eq!(printed["unbounded"], json!(["/a/1", "/b~1c/d"]));
        assert!(printed["a"][1].is_null() && printed["e"].is_null());
        assert_eq!(printed.pointer("/b~1c/d"), Some(&Value::Null));
        assert_eq!(printed["z"].to_string(), "0.0");
    }
}
