//! Regions of priors: boxes and balls, and their extreme members.

use crate::distribution::check_weights;
use crate::{Distribution, Error, Symbols};

/// All priors between a lower and an upper limit per symbol: {lower <= P <= upper, Σ P = 1}. The
/// symbols are unnamed unless [`PriorBox::over`] names them.
#[derive(Debug, Clone, PartialEq)]
pub struct PriorBox {
    lower: Vec<f64>,
    upper: Vec<f64>,
    symbols: Symbols,
}

impl PriorBox {
    /// Checks that lower <= upper everywhere and that the box holds at least one prior.
    pub fn new(lower: Vec<f64>, upper: Vec<f64>) -> Result<Self, Error> {
        // These refuse NaN, so the comparisons below may be written plainly.
        check_weights("the box's lower limits", &lower)?;
        check_weights("the box's upper limits", &upper)?;
        if upper.len() != lower.len() {
            return Err(Error::Size {
                what: "the box's upper limits".into(),
                expected: lower.len(),
                found: upper.len(),
            });
        }
        for (x, (l, u)) in lower.iter().zip(&upper).enumerate() {
            if l > u {
                return Err(Error::range(
                    format!("the lower limit of symbol {x}"),
                    *l,
                    format!("at most {u}"),
                ));
            }
        }
        let (least, most): (f64, f64) = (lower.iter().sum(), upper.iter().sum());
        if least > 1.0 + 1e-9 {
            return Err(Error::range("the sum of the lower limits", least, "at most 1"));
        }
        if most < 1.0 - 1e-9 {
            return Err(Error::range("the sum of the upper limits", most, "at least 1"));
        }
        let symbols = Symbols::unnamed(lower.len());
        Ok(Self { lower, upper, symbols })
    }

    /// These limits, place by place, of the given symbols.
    pub fn over(self, symbols: &Symbols) -> Result<Self, Error> {
        let (expected, found) = (self.lower.len(), symbols.len());
        if expected != found {
            return Err(Error::Size { what: "the list of symbols".into(), expected, found });
        }
        Ok(Self { symbols: symbols.clone(), ..self })
    }

    /// This box with its symbols in the `wanted` order; refuses other symbols.
    pub fn in_order_of(&self, wanted: &Symbols) -> Result<Self, Error> {
        let Some(places) = self.symbols.places("the box of priors", wanted)? else {
            return Ok(self.clone());
        };
        let pick = |ends: &[f64]| places.iter().map(|&at| ends[at]).collect();
        Ok(Self { lower: pick(&self.lower), upper: pick(&self.upper), symbols: wanted.clone() })
    }

    /// The least probabilities.
    pub fn lower(&self) -> &[f64] {
        &self.lower
    }

    /// The greatest probabilities.
    pub fn upper(&self) -> &[f64] {
        &self.upper
    }

    /// What the limits are of.
    pub fn symbols(&self) -> &Symbols {
        &self.symbols
    }

    /// The prior that divides the box's width evenly.
    pub fn middle(&self) -> Result<Distribution, Error> {
        let (low, high): (f64, f64) = (self.lower.iter().sum(), self.upper.iter().sum());
        let share = if high > low { (1.0 - low) / (high - low) } else { 0.0 };
        let point = self.lower.iter().zip(&self.upper).map(|(l, u)| l + share * (u - l));
        Distribution::new("the box's middle", point.collect())?.over(&self.symbols)
    }

    /// The prior of the box with the least (or, if `largest`, the greatest) Σ P(x) value(x), the values
    /// in the order of the box's symbols.
    pub fn extreme(&self, values: &[f64], largest: bool) -> Result<Distribution, Error> {
        let mut p = self.lower.clone();
        let mut left = 1.0 - p.iter().sum::<f64>();
        for x in order(values, self.lower.len(), largest)? {
            let step = (self.upper[x] - p[x]).min(left).max(0.0);
            p[x] += step;
            left -= step;
        }
        Distribution::normalised("a prior of the box", p)?.over(&self.symbols)
    }
}

/// All priors within a total variation distance of a centre: an estimate's confidence region has
/// the distance [`crate::fit::radius`]/2.
#[derive(Debug, Clone, PartialEq)]
pub struct PriorBall {
    centre: Distribution,
    distance: f64,
}

impl PriorBall {
    /// The middle.
    pub fn centre(&self) -> &Distribution {
        &self.centre
    }

    /// A ball of this total variation distance around `centre`.
    pub fn new(centre: Distribution, distance: f64) -> Result<Self, Error> {
        if !(0.0..=1.0).contains(&distance) {
            return Err(Error::range("the total variation distance", distance, "between 0 and 1"));
        }
        Ok(Self { centre, distance })
    }

    /// The prior of the ball with the least (or, if `largest`, the greatest) Σ P(x) value(x): mass
    /// moves from the worst symbols to the single best one.
    pub fn extreme(&self, values: &[f64], largest: bool) -> Result<Distribution, Error> {
        let order = order(values, self.centre.len(), largest)?;
        let mut p = self.centre.as_slice().to_vec();
        let mut left = self.distance;
        for &x in order[1..].iter().rev() {
            let step = p[x].min(left);
            p[x] -= step;
            p[order[0]] += step;
            left -= step;
        }
        self.centre.reweighed("a prior of the ball", p)
    }
}

/// Symbols by value, the ones that should get mass first.
fn order(values: &[f64], len: usize, largest: bool) -> Result<Vec<usize>, Error> {
    if values.len() != len {
        return Err(Error::Size {
            what: "the list of values".into(),
            expected: len,
            found: values.len(),
        });
    }
    let mut order: Vec<usize> = (0..len).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    if largest {
        order.reverse();
    }
    Ok(order)
}
