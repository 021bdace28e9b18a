//! Time and randomness, as arguments.

use std::time::{SystemTime, UNIX_EPOCH};

/// What time it is.
pub trait Clock: Send + Sync {
    /// Seconds since 1970.
    fn now(&self) -> i64;
}

/// The system's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> i64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
    }
}

/// Where random bytes come from.
pub trait Randomness: Send + Sync {
    /// Fills the buffer; `false` if there is no randomness to be had.
    fn fill(&self, buffer: &mut [u8]) -> bool;
}

/// The system's generator.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemRandomness;

impl Randomness for SystemRandomness {
    fn fill(&self, buffer: &mut [u8]) -> bool {
        getrandom::fill(buffer).is_ok()
    }
}

/// The day of a time, as YYYY-MM-DD (UTC).
pub fn date(seconds: i64) -> String {
    let (year, month, day) = civil(seconds.div_euclid(86_400));
    format!("{year:04}-{month:02}-{day:02}")
}

/// A time as YYYY-MM-DDTHH:MM:SSZ.
pub fn timestamp(seconds: i64) -> String {
    let rest = seconds.rem_euclid(86_400);
    format!("{}T{:02}:{:02}:{:02}Z", date(seconds), rest / 3600, rest / 60 % 60, rest % 60)
}

/// Year, month and day of a number of days since 1970-01-01, in the Gregorian calendar.
///
/// Counted in eras of 400 years that begin on 1 March, so that the leap day is the last of its year.
fn civil(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let (month, carry) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (year + 400 * era + carry, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_of_the_calendar() {
        assert_eq!(timestamp(0), "1970-01-01T00:00:00Z");
        assert_eq!(timestamp(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(timestamp(1_709_164_800 + 86_399), "2024-02-29T23:59:59Z");
        assert_eq!(date(4_107_542_399), "2100-02-28");
        assert_eq!(date(4_107_542_400), "2100-03-01");
        assert_eq!(date(-1), "1969-12-31");
    }
}
