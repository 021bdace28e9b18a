//! A day, as finely as a device notes when it released something.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

/// A day of the calendar (UTC), counted from 1970-01-01, at most 9999-12-31.
///
/// Nothing finer is stored: when somebody answered is nobody's business, and budgets refill by the day.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Day(u32);

impl Day {
    /// 1970-01-01, which stands for "no day was seen yet".
    pub(crate) const UNSEEN: Self = Self(0);
    /// 9999-12-31.
    pub const LAST: Self = Self(2_932_896);

    /// The day this many days after 1970-01-01; `None` past [`Day::LAST`].
    pub const fn new(days: u32) -> Option<Self> {
        if days <= Self::LAST.0 { Some(Self(days)) } else { None }
    }

    /// What the system's clock says. A clock before 1970 says 1970-01-01.
    pub fn today() -> Self {
        let seconds =
            SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        Self(u32::try_from(seconds / 86_400).unwrap_or(u32::MAX)).min(Self::LAST)
    }

    /// Days since 1970-01-01.
    pub const fn days(self) -> u32 {
        self.0
    }

    /// This many days later, at most [`Day::LAST`].
    #[must_use]
    pub fn after(self, days: u32) -> Self {
        Self(self.0.saturating_add(days)).min(Self::LAST)
    }
}

/// Days of 400 years, after which the calendar repeats itself.
const CYCLE: u32 = 146_097;

impl fmt::Display for Day {
    /// `2026-11-18`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Counted from 1 March of the year 0, so that the day a leap year has more is its last.
        let from_march = self.0 + 719_468;
        let (cycle, day) = (from_march / CYCLE, from_march % CYCLE);
        let year = (day - day / 1_460 + day / 36_524 - day / (CYCLE - 1)) / 365;
        let of_year = day - (365 * year + year / 4 - year / 100);
        // Months from March on have 31, 30, 31, 30, 31 days, and again.
        let month = (5 * of_year + 2) / 153;
        let date = of_year - (153 * month + 2) / 5 + 1;
        let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
        write!(f, "{:04}-{month:02}-{date:02}", 400 * cycle + year + next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every day of two cycles, counted by hand.
    #[test]
    fn dates_are_those_of_the_calendar() {
        let leap = |year: u32| {
            year.is_multiple_of(4) && !year.is_multiple_of(100) || year.is_multiple_of(400)
        };
        let mut day = 0;
        for year in 1970..2770 {
            let february = if leap(year) { 29 } else { 28 };
            for (month, length) in (1..).zip([31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31])
            {
                for date in 1..=length {
                    assert_eq!(Day(day).to_string(), format!("{year:04}-{month:02}-{date:02}"));
                    day += 1;
                }
            }
        }
        assert_eq!(Day::LAST.to_string(), "9999-12-31");
        assert_eq!((Day::new(Day::LAST.0 + 1), Day::LAST.after(7)), (None, Day::LAST));
        assert!(Day::today() > Day(20_000));
    }
}
