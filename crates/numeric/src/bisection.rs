//! Bisection between a place where something holds and one where it does not.

/// Two places, on the first of which something holds and on the second of which it does not; either may be
/// the larger.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bracket {
    /// Where it holds.
    pub holds: f64,
    /// Where it does not.
    pub fails: f64,
}

impl Bracket {
    /// Halves the bracket up to this many times, or until no float lies inside.
    ///
    /// ```
    /// use undertone_numeric::bisection::Bracket;
    /// let root = Bracket { holds: 1.0, fails: 2.0 }.halve(100, |x| x * x <= 2.0);
    /// assert!((root.holds - std::f64::consts::SQRT_2).abs() < 1e-15);
    /// ```
    pub fn halve(mut self, times: usize, mut test: impl FnMut(f64) -> bool) -> Self {
        for _ in 0..times {
            let Some(middle) = self.middle() else { break };
            self.take(middle, test(middle));
        }
        self
    }

    /// Halves the bracket this many times with a test that may fail.
    pub fn try_halve<E>(
        mut self,
        times: usize,
        mut test: impl FnMut(f64) -> Result<bool, E>,
    ) -> Result<Self, E> {
        for _ in 0..times {
            let Some(middle) = self.middle() else { break };
            self.take(middle, test(middle)?);
        }
        Ok(self)
    }

    /// Halves the bracket until it is no wider than `tolerance` times the place where it holds, with a test
    /// that may fail.
    pub fn try_narrow<E>(
        mut self,
        tolerance: f64,
        mut test: impl FnMut(f64) -> Result<bool, E>,
    ) -> Result<Self, E> {
        while (self.holds - self.fails).abs() > tolerance * self.holds.abs()
            && let Some(middle) = self.middle()
        {
            self.take(middle, test(middle)?);
        }
        Ok(self)
    }

    /// A float strictly inside.
    fn middle(&self) -> Option<f64> {
        let middle = (self.holds + self.fails) / 2.0;
        let (low, high) = (self.holds.min(self.fails), self.holds.max(self.fails));
        (low < middle && middle < high).then_some(middle)
    }

    fn take(&mut self, middle: f64, holds: bool) {
        *(if holds { &mut self.holds } else { &mut self.fails }) = middle;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_directions_end_at_neighbouring_floats() {
        let rising = Bracket { holds: 0.0, fails: 1.0 }.halve(2000, |x| x <= 0.1);
        assert_eq!((rising.holds, rising.fails), (0.1, 0.1f64.next_up()));
        let falling = Bracket { holds: 1.0, fails: 0.0 }.halve(2000, |x| x >= 0.1);
        assert_eq!((falling.holds, falling.fails), (0.1, 0.1f64.next_down()));
    }

    #[test]
    fn as_often_as_asked_and_no_finer_than_asked() {
        let mut calls = 0;
        let found = Bracket { holds: 0.0, fails: 1.0 }.halve(3, |x| {
            calls += 1;
            x <= 0.3
        });
        assert_eq!((calls, found), (3, Bracket { holds: 0.25, fails: 0.375 }));
        let tested = |x: f64| Ok::<_, ()>(x >= 7.25);
        let found = Bracket { holds: 16.0, fails: 0.0 }.try_narrow(1e-3, tested).unwrap();
        assert!(found.holds - found.fails <= 1e-3 * found.holds && found.holds >= 7.25);
        assert!(found.fails < 7.25);
    }

    #[test]
    fn errors_pass_through() {
        let bracket = Bracket { holds: 0.0, fails: 1.0 };
        assert_eq!(bracket.try_halve(5, |_| Err("no")), Err("no"));
        assert_eq!(bracket.try_narrow(0.1, |_| Err("no")), Err("no"));
    }

    #[test]
    fn bounds_that_are_no_numbers_stop_at_once() {
        let odd = Bracket { holds: f64::NAN, fails: 1.0 }.halve(5, |_| true);
        assert!(odd.holds.is_nan());
        let found = Bracket { holds: 0.0, fails: f64::INFINITY }.halve(5, |_| true);
        assert_eq!(found.holds, 0.0);
    }
}
