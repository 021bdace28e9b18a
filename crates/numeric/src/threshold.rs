//! The least number from which something holds: doubling, then bisection.

use crate::bisection::Bracket;

/// How the least number from which something holds is sought.
#[derive(Debug, Clone, Copy)]
pub struct ThresholdSearch {
    /// The first value tried; positive.
    pub start: f64,
    /// How many powers of two above and below it are tried.
    pub reach: u32,
    /// The relative width at which bisection ends.
    pub tolerance: f64,
}

impl ThresholdSearch {
    /// For functions computed in floats, to their last digits.
    pub fn to_the_last_digit(start: f64) -> Self {
        Self { start, reach: 200, tolerance: 4.0 * f64::EPSILON }
    }

    /// A value that holds, with one just below it that does not; `None` if no value in reach holds. If
    /// all in reach hold, the least of them.
    ///
    /// For something that holds from some value on, that is the least value. For anything else it is
    /// still a value that was found to hold.
    pub fn least<E>(self, mut holds: impl FnMut(f64) -> Result<bool, E>) -> Result<Option<f64>, E> {
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
        let bracket = Bracket { holds: good, fails: bad };
        Ok(Some(bracket.try_narrow(self.tolerance, holds)?.holds))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_a_threshold_from_either_side() {
        for start in [1e-3, 1.0, 1e3] {
            let found = ThresholdSearch::to_the_last_digit(start)
                .least(|v| Ok::<_, ()>(v >= 7.25))
                .unwrap()
                .unwrap();
            assert!((7.25..7.25 * (1.0 + 1e-15)).contains(&found), "{start}: {found}");
        }
    }

    #[test]
    fn says_when_nothing_or_everything_holds() {
        let search = ThresholdSearch { start: 1.0, reach: 10, tolerance: 1e-9 };
        assert_eq!(search.least(|_| Ok::<_, ()>(false)).unwrap(), None);
        assert_eq!(search.least(|_| Ok::<_, ()>(true)).unwrap(), Some(2f64.powi(-10)));
        assert!(search.least(|_| Err("x")).is_err());
    }
}
