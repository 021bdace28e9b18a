//! Numbers in options. Every parser says what it takes, so that a number it does not take is bad usage, with the
//! option named before the words.

/// A limit in nats of at least 0; only the word `inf` is no limit, and no number is.
pub(crate) fn limit(text: &str) -> Result<f64, String> {
    let number = if text == "inf" { Some(f64::INFINITY) } else { finite(text) };
    let fix = "give a number of nats of at least 0, or `inf` for no limit";
    number.filter(|nats| *nats >= 0.0).ok_or_else(|| fix.into())
}

/// A limit in nats above 0, or `inf`.
pub(crate) fn positive_limit(text: &str) -> Result<f64, String> {
    let fix = "give a number of nats above 0, or `inf` for no limit";
    limit(text).ok().filter(|nats| *nats > 0.0).ok_or_else(|| fix.into())
}

/// A probability that is neither 0 nor 1.
pub(crate) fn between_0_and_1(text: &str) -> Result<f64, String> {
    let inside = |number: &f64| *number > 0.0 && *number < 1.0;
    finite(text).filter(inside).ok_or_else(|| "give a number above 0 and below 1".into())
}

/// A share that is not 0.
pub(crate) fn share(text: &str) -> Result<f64, String> {
    let inside = |number: &f64| *number > 0.0 && *number <= 1.0;
    finite(text).filter(inside).ok_or_else(|| "give a number above 0 and at most 1".into())
}

/// A number above 0.
pub(crate) fn positive(text: &str) -> Result<f64, String> {
    finite(text).filter(|number| *number > 0.0).ok_or_else(|| "give a number above 0".into())
}

/// A time of some seconds.
pub(crate) fn seconds(text: &str) -> Result<f64, String> {
    let inside = |number: &f64| *number > 0.0 && *number < 1e9;
    finite(text).filter(inside).ok_or_else(|| "give a number of seconds above 0, below 1e9".into())
}

/// How many outputs a sensor has.
pub(crate) fn outputs(text: &str) -> Result<usize, String> {
    let inside = |number: &usize| (2..=256).contains(number);
    text.parse().ok().filter(inside).ok_or_else(|| "give a whole number from 2 to 256".into())
}

/// A whole number of at least 1.
pub(crate) fn count(text: &str) -> Result<usize, String> {
    let fix = "give a whole number of at least 1, below 2^53";
    text.parse().ok().filter(|number| (1..1 << 53).contains(number)).ok_or_else(|| fix.into())
}

fn finite(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_parser_takes_its_range_and_nothing_else() {
        type Parser = fn(&str) -> Result<f64, String>;
        let parsers: [(Parser, &[&str], &[&str]); 6] = [
            (limit, &["0", "1e-12", "2", "inf"], &["-1", "1e400", "infinity", "Inf", "-inf"]),
            (positive_limit, &["1e-12", "inf"], &["0", "-1", "1e400"]),
            (between_0_and_1, &["0.5", "1e-9"], &["0", "1", "-0.5"]),
            (share, &["0.5", "1"], &["0", "1.1"]),
            (positive, &["1e-300", "7"], &["0", "-1", "inf"]),
            (seconds, &["0.1", "3600"], &["0", "1e9", "inf"]),
        ];
        for (parser, good, bad) in parsers {
            for text in good {
                assert!(parser(text).is_ok(), "{text}");
            }
            for text in bad.iter().chain(&["NaN", "nan", "", "x", "1_0"]) {
                let fix = parser(text).unwrap_err();
                assert!(fix.starts_with("give a number"), "{text}: {fix}");
            }
        }
    }
}
