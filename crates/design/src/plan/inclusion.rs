//! The chances of items when each person draws several, one after the other, in proportion to weights of those left.
//!
//! Drawing so is the order in which independent exponential clocks ring, at rates equal to the weights: item i is drawn if
//! fewer than `asked` other clocks ring before its own. The chance is one integral over the time of the last ring.

/// Points of the integral over time.
const POINTS: usize = 300;

/// Rounds in which weights are fitted to chances.
const FITS: usize = 15;

/// Items with weights, of which each person draws `asked`, fewer than there are.
#[derive(Debug, Clone, Copy)]
pub struct Draw<'a> {
    /// The weights.
    pub weights: &'a [f64],
    /// How many are drawn.
    pub asked: usize,
}

impl Draw<'_> {
    /// The chance that a person draws each item.
    pub fn chances(&self) -> Vec<f64> {
        let count = self.weights.len();
        if self.is_even() {
            return vec![self.asked as f64 / count as f64; count];
        }
        if self.asked == 1 {
            let sum: f64 = self.weights.iter().sum();
            return self.weights.iter().map(|weight| weight / sum).collect();
        }
        (0..count)
            .map(|at| {
                self.integral(|time| self.rings(at, time) * self.few(&[at], self.asked, time))
            })
            .collect()
    }

    /// The chance that a person draws both items.
    pub fn together(&self, one: usize, other: usize) -> f64 {
        let count = self.weights.len() as f64;
        if self.asked < 2 {
            return 0.0;
        }
        if self.is_even() {
            let asked = self.asked as f64;
            return asked * (asked - 1.0) / (count * (count - 1.0));
        }
        // The later of the two rings now, the earlier has rung.
        let later = |late: usize, early: usize, time: f64| {
            self.rings(late, time) * (1.0 - (-self.rate(early) * time).exp())
        };
        self.integral(|time| {
            let both = later(one, other, time) + later(other, one, time);
            both * self.few(&[one, other], self.asked - 1, time)
        })
    }

    /// Weights at which the items have the chances wanted, which sum to `asked` and are below one.
    pub fn weights_for(wanted: &[f64], asked: usize) -> Vec<f64> {
        let mut weights: Vec<f64> = wanted.iter().map(|chance| -(-chance).ln_1p()).collect();
        if asked == 1 {
            return wanted.to_vec();
        }
        for _ in 0..FITS {
            let found = Draw { weights: &weights, asked }.chances();
            let odds = |chance: f64| -(-chance.min(1.0 - 1e-9)).ln_1p();
            let pairs = weights.iter_mut().zip(wanted.iter().zip(found));
            pairs.for_each(|(weight, (wanted, found))| *weight *= odds(*wanted) / odds(found));
        }
        weights
    }

    fn is_even(&self) -> bool {
        self.weights.iter().all(|weight| *weight == self.weights[0])
    }

    /// The weight with their mean as the unit.
    fn rate(&self, at: usize) -> f64 {
        self.weights[at] * self.weights.len() as f64 / self.weights.iter().sum::<f64>()
    }

    fn rings(&self, at: usize, time: f64) -> f64 {
        self.rate(at) * (-self.rate(at) * time).exp()
    }

    /// The chance that fewer than `most` items other than those left out have rung.
    fn few(&self, out: &[usize], most: usize, time: f64) -> f64 {
        let mut counts = vec![0.0; most];
        counts[0] = 1.0;
        for at in (0..self.weights.len()).filter(|at| !out.contains(at)) {
            let still = (-self.rate(at) * time).exp();
            for rung in (0..most).rev() {
                let before = if rung > 0 { counts[rung - 1] } else { 0.0 };
                counts[rung] = counts[rung] * still + before * (1.0 - still);
            }
        }
        counts.iter().sum()
    }

    /// The integral over all times, by Simpson's rule in the part t/(1+t) of the time that has passed.
    fn integral(&self, f: impl Fn(f64) -> f64) -> f64 {
        let step = 1.0 / POINTS as f64;
        let at = |point: usize| {
            let part = point as f64 * step;
            if point == POINTS { 0.0 } else { f(part / (1.0 - part)) / (1.0 - part).powi(2) }
        };
        let weight = |point: usize| match point {
            0 | POINTS => 1.0,
            _ if point % 2 == 1 => 4.0,
            _ => 2.0,
        };
        (0..=POINTS).map(|point| weight(point) * at(point)).sum::<f64>() * step / 3.0
    }
}
