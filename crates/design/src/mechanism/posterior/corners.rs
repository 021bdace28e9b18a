//! Every vertex of a range or of odds in turn, for up to twenty symbols.
//!
//! Sets of raised symbols are visited in the order of a Gray code, one symbol at a time, so that what a
//! vertex is worth follows from the one before it.

use super::chords::entropy;
use super::region::{Region, RegionForm};
use super::utility::{Found, GAIN, Utility};
use undertone_numeric::vector::dot;

/// Above this many symbols the vertices are too many.
pub(super) const MAX_SYMBOLS: usize = 20;

/// Only improvements on the best so far by this factor are kept as columns, so that they differ.
const LEAP: f64 = 1.05;

/// Shows every vertex worth seeing to `found`, the best among them; `false` if there are too many or
/// the utility is not one that is looked for this way.
pub(super) fn visit(
    utility: &Utility,
    region: &Region,
    prices: &[f64],
    found: &mut Found<'_>,
) -> bool {
    if region.symbols() > MAX_SYMBOLS {
        return false;
    }
    let quadratic = match utility {
        Utility::Quadratic(q) => Some(q.as_slice()),
        Utility::Entropy => None,
        Utility::Square(_) | Utility::Loss(_) => return false,
    };
    match &region.form {
        RegionForm::Range { low, high } => range(region, prices, quadratic, (*low, *high), found),
        RegionForm::Odds { weights, odds } => {
            odds_corners(region, prices, quadratic, weights, *odds, found);
        }
        RegionForm::Cone(_) => return false,
    }
    true
}

/// A vector that changes one coordinate at a time, with its price and its worth: rᵀQr, or Σ P r ln r.
struct Walk<'a> {
    at: Vec<f64>,
    prices: &'a [f64],
    prior: &'a [f64],
    quadratic: Option<&'a [Vec<f64>]>,
    /// Q r, where there is a Q.
    slope: Vec<f64>,
    worth: f64,
    price: f64,
    mass: f64,
}

impl<'a> Walk<'a> {
    fn new(
        at: Vec<f64>,
        prior: &'a [f64],
        prices: &'a [f64],
        quadratic: Option<&'a [Vec<f64>]>,
    ) -> Self {
        let slope: Vec<f64> = quadratic.unwrap_or(&[]).iter().map(|row| dot(row, &at)).collect();
        let worth = match quadratic {
            Some(_) => dot(&slope, &at),
            None => at.iter().zip(prior).map(|(r, p)| p * entropy(*r)).sum(),
        };
        let (price, mass) = (dot(prices, &at), dot(prior, &at));
        Self { at, prices, prior, quadratic, slope, worth, price, mass }
    }

    /// How much the worth changes if coordinate x becomes `value`.
    fn change(&self, x: usize, value: f64) -> f64 {
        let step = value - self.at[x];
        match self.quadratic {
            Some(q) => step * (2.0 * self.slope[x] + step * q[x][x]),
            None => self.prior[x] * (entropy(value) - entropy(self.at[x])),
        }
    }

    fn set(&mut self, x: usize, value: f64) {
        let step = value - self.at[x];
        self.worth += self.change(x, value);
        self.price += step * self.prices[x];
        self.mass += step * self.prior[x];
        if let Some(q) = self.quadratic {
            self.slope.iter_mut().zip(&q[x]).for_each(|(s, q)| *s += step * q);
        }
        self.at[x] = value;
    }

    /// Starts afresh from time to time, before rounding adds up.
    fn refresh(&mut self) {
        *self = Self::new(self.at.clone(), self.prior, self.prices, self.quadratic);
    }
}

/// Every set of raised symbols: calls `see` with each, the walk already there.
fn sets<'a>(mut walk: Walk<'a>, low: &[f64], high: &[f64], mut see: impl FnMut(&Walk<'a>)) {
    see(&walk);
    for count in 1u32..1 << low.len() {
        let x = count.trailing_zeros() as usize;
        let raised = (count ^ (count >> 1)) >> x & 1 == 1;
        walk.set(x, if raised { high[x] } else { low[x] });
        if count % 4096 == 0 {
            walk.refresh();
        }
        see(&walk);
    }
}

/// The raised set is at the upper end, one symbol takes what is left, the others are at the lower end.
fn range(
    region: &Region,
    prices: &[f64],
    quadratic: Option<&[Vec<f64>]>,
    (low, high): (f64, f64),
    found: &mut Found<'_>,
) {
    let p = region.prior.as_slice();
    let (lows, highs) = (vec![low; p.len()], vec![high; p.len()]);
    let walk = Walk::new(lows.clone(), p, prices, quadratic);
    let mut beat = GAIN;
    sets(walk, &lows, &highs, |walk| {
        let left = 1.0 - walk.mass;
        if left < -1e-12 {
            return;
        }
        for x in (0..p.len()).filter(|&x| walk.at[x] == low && p[x] > 0.0) {
            if left > p[x] * (high - low) * (1.0 + 1e-12) {
                continue;
            }
            let value = (low + left / p[x]).clamp(low, high);
            let price = walk.price + (value - low) * prices[x];
            let beyond = walk.worth + walk.change(x, value) - price;
            if beyond > beat {
                let mut lift = walk.at.clone();
                lift[x] = value;
                found.see(lift);
                beat = LEAP * beyond;
            } else if beyond > found.best {
                found.best = beyond;
            }
        }
    });
}

/// A ray r with weighted entries of one or the odds; the lift vector is r over its mass.
fn odds_corners(
    region: &Region,
    prices: &[f64],
    quadratic: Option<&[Vec<f64>]>,
    weights: &[f64],
    odds: f64,
    found: &mut Found<'_>,
) {
    let lows: Vec<f64> = weights.iter().map(|w| 1.0 / w).collect();
    let highs: Vec<f64> = weights.iter().map(|w| odds / w).collect();
    let walk = Walk::new(lows.clone(), region.prior.as_slice(), prices, quadratic);
    let mut beat = GAIN;
    sets(walk, &lows, &highs, |walk| {
        let worth = match quadratic {
            Some(_) => walk.worth / (walk.mass * walk.mass),
            None => walk.worth / walk.mass - walk.mass.ln(),
        };
        let beyond = worth - walk.price / walk.mass;
        if beyond > beat {
            found.see(walk.at.iter().map(|r| r / walk.mass).collect());
            beat = LEAP * beyond;
        } else if beyond > found.best {
            found.best = beyond;
        }
    });
}
