//! The least noise that is enough: doubling, then bisection.

use crate::Error;

/// How a search runs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Search {
    /// The first value tried; positive.
    pub(crate) start: f64,
    /// How many powers of two above and below it are tried.
    pub(crate) reach: u32,
    /// The relative width at which bisection ends.
    pub(crate) tolerance: f64,
}

impl Search {
    /// For functions computed in floats, to their last digits.
    pub(crate) fn to_the_last_digit(start: f64) -> Self {
        Self { start, reach: 200, tolerance: 4.0 * f64::EPSILON }
    }

    /// A value that holds, with one just below it that does not; `None` if no value in reach holds. If
    /// all in reach hold, the least of them.
    ///
    /// For something that holds from some value on, that is the least value. For anything else it is
    /// still a value that was found to hold.
    pub(crate) fn least(
        self,
        mut holds: impl FnMut(f64) -> Result<bool, Error>,
    ) -> Result<Option<f64>, Error> {
        let (mut good, mut bad) = (self.start, self.start);
        let mut tries = 0;
        if holds(self.start)? {
            loop {
                bad = good / 2.0;
                if tries == self.reach {
                    return Ok(Some(good));
                }
                if !holds(bad)? {
                    break;
                }
                good = bad;
                tries += 1;
            }
        } else {
            loop {
                good = 2.0 * bad;
                if tries == self.reach {
                    return Ok(None);
                }
                if holds(good)? {
                    break;
                }
                bad = good;
                tries += 1;
            }
        }
        while good - bad > self.tolerance * good {
            let middle = (good + bad) / 2.0;
            if holds(middle)? { good = middle } else { bad = middle }
        }
        Ok(Some(good))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn finds_a_threshold_from_either_side() {
        for start in [1e-3, 1.0, 1e3] {
            let found = Search::to_the_last_digit(start).least(|v| Ok(v >= 7.25)).unwrap().unwrap();
            assert!((7.25..7.25 * (1.0 + 1e-15)).contains(&found), "{start}: {found}");
        }
    }

    #[test]
    fn says_when_nothing_or_everything_holds() {
        let search = Search { start: 1.0, reach: 10, tolerance: 1e-9 };
        assert_eq!(search.least(|_| Ok(false)).unwrap(), None);
        assert_eq!(search.least(|_| Ok(true)).unwrap(), Some(2f64.powi(-10)));
        assert!(search.least(|_| Err(Error::other("x", "y"))).is_err());
    }
}
