//! Bit counts as if bits were independent.
//!
//! Given shares p, bit x is set with probability θ(x) = other + gap p(x), so the composite
//! log-likelihood is a sum of concave functions of one share each. So is the part of an expectation
//! step that comes from other policies, Σ expected(x) ln p(x). Maximising such a sum under Σ p = 1
//! takes one multiplier.

use crate::channel::Bits;
use undertone_numeric::root::falling_newton_root;

/// One policy's bit counts.
pub(super) struct BitGroup {
    reports: f64,
    set: Vec<f64>,
    other: f64,
    gap: f64,
}

impl BitGroup {
    pub(super) fn new(bits: &Bits, reports: f64, set: Vec<f64>) -> Self {
        Self { reports, set, other: bits.other, gap: bits.gap() }
    }

    pub(super) fn log_likelihood(&self, p: &[f64]) -> f64 {
        let term = |count: f64, chance: f64| if count > 0.0 { count * chance.ln() } else { 0.0 };
        let bit = |(p, &set): (&f64, &f64)| {
            let theta = self.other + self.gap * p;
            term(set, theta) + term(self.reports - set, 1.0 - theta)
        };
        p.iter().zip(&self.set).map(bit).sum()
    }

    pub(super) fn add_slopes(&self, p: &[f64], slopes: &mut [f64]) {
        for (x, (slope, p)) in slopes.iter_mut().zip(p).enumerate() {
            *slope += self.slope(x, *p).0;
        }
    }

    /// The derivative by the share of x, and its own derivative.
    fn slope(&self, x: usize, p: f64) -> (f64, f64) {
        let theta = self.other + self.gap * p;
        let ratio = |count: f64, chance: f64| if count > 0.0 { count / chance } else { 0.0 };
        let (set, clear) = (self.set[x], self.reports - self.set[x]);
        let (up, down) = (ratio(set, theta), ratio(clear, 1.0 - theta));
        let bend = ratio(up, theta) + ratio(down, 1.0 - theta);
        (self.gap * (up - down), -self.gap * self.gap * bend)
    }
}

/// The shares that maximise Σ expected(x) ln p(x) plus the bits' parts; `start` if they say nothing.
pub(super) fn maximise(groups: &[BitGroup], expected: &[f64], start: &[f64]) -> Vec<f64> {
    if groups.iter().all(|group| group.gap == 0.0) && expected.iter().all(|&w| w == 0.0) {
        return start.to_vec();
    }
    let slope = |x: usize, p: f64| {
        let weight = if expected[x] > 0.0 { expected[x] / p } else { 0.0 };
        let own = if expected[x] > 0.0 { (weight, -weight / p) } else { (0.0, 0.0) };
        groups.iter().fold(own, |sum, group| {
            let part = group.slope(x, p);
            (sum.0 + part.0, sum.1 + part.1)
        })
    };
    // Shares sum to at least one when all are at least 1/k, and to at most one when none is above:
    // the slopes at 1/k bound the multiplier.
    let size = expected.len();
    let even = 1.0 / size as f64;
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for x in 0..size {
        let at_even = slope(x, even).0;
        (low, high) = (low.min(at_even), high.max(at_even));
    }
    if !(low < high) {
        return vec![even; size];
    }
    let mut shares = start.to_vec();
    let mut multiplier = low + (high - low) / 2.0;
    for _ in 0..200 {
        // Newton's method on the sum of the shares, kept inside a shrinking bracket.
        let (mut sum, mut rate) = (0.0, 0.0);
        for (x, share) in shares.iter_mut().enumerate() {
            let (found, bend) = root(|p| slope(x, p), multiplier, *share);
            *share = found;
            sum += found;
            if found > 0.0 && found < 1.0 && bend < 0.0 {
                rate += 1.0 / bend;
            }
        }
        if sum > 1.0 {
            low = multiplier
        } else {
            high = multiplier
        }
        let newton = multiplier + (1.0 - sum) / rate;
        let inside = newton > low && newton < high;
        let next = if inside { newton } else { low + (high - low) / 2.0 };
        if (sum - 1.0).abs() < 1e-14 || next == multiplier || high - low <= 0.0 {
            break;
        }
        multiplier = next;
    }
    let total: f64 = shares.iter().sum();
    if !(total > 0.0) {
        return start.to_vec();
    }
    shares.iter_mut().for_each(|p| *p /= total);
    shares
}

/// Where a falling slope takes a value, between 0 and 1, and its derivative there, from a guess.
fn root(slope: impl Fn(f64) -> (f64, f64), value: f64, guess: f64) -> (f64, f64) {
    let (at_zero, at_one) = (slope(0.0), slope(1.0));
    if !(at_zero.0 > value) {
        return (0.0, at_zero.1);
    }
    if at_one.0 >= value {
        return (1.0, at_one.1);
    }
    // Slopes may be infinite at the ends.
    let guess = if guess > 0.0 && guess < 1.0 { guess } else { 0.5 };
    falling_newton_root(0.0, 1.0, 0.0, guess, |p| {
        let (here, bend) = slope(p);
        (here - value, bend)
    })
}
