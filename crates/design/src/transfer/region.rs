//! Regions of priors, and the exact leakage of a known channel over all priors in one.
//!
//! The lift of x for output y is q(y|x)/P(y). Only P(y) depends on the prior, and it is linear in
//! it, so per output the worst prior is found greedily: as much mass as the region allows on the
//! inputs with the smallest likelihoods (or the largest).

use crate::composition::{Leakage, given};
use crate::distribution::check_weights;
use crate::{Channel, Distribution, Error, Symbols};

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

    /// The exact leakage of `channel` over every prior in the box.
    pub fn leakage(&self, channel: &Channel) -> Result<Leakage, Error> {
        over_region(channel, &self.symbols, |values, largest| self.extreme(values, largest))
    }
}

/// All priors within a total variation distance of a centre: an estimate's confidence region has
/// the distance [`super::radius`]/2.
#[derive(Debug, Clone, PartialEq)]
pub struct PriorBall {
    centre: Distribution,
    distance: f64,
}

impl PriorBall {
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

    /// The exact leakage of `channel` over every prior in the ball.
    pub fn leakage(&self, channel: &Channel) -> Result<Leakage, Error> {
        let symbols = self.centre.symbols();
        over_region(channel, symbols, |values, largest| self.extreme(values, largest))
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

fn over_region(
    channel: &Channel,
    symbols: &Symbols,
    extreme: impl Fn(&[f64], bool) -> Result<Distribution, Error>,
) -> Result<Leakage, Error> {
    let any = Distribution::uniform(symbols.len()).over(symbols)?;
    let channel = &*channel.under(&any)?;
    let mut leakage = Leakage { max_lift: 0.0, min_lift: 0.0, ldp: 0.0 };
    for y in 0..channel.outputs() {
        let column: Vec<f64> = channel.column(y).collect();
        let high = column.iter().copied().fold(0.0, f64::max);
        let low = column.iter().copied().fold(f64::INFINITY, f64::min);
        let total = |prior: &Distribution| -> f64 {
            column.iter().zip(prior.as_slice()).map(|(q, p)| q * p).sum()
        };
        if high > 0.0 {
            let least = total(&extreme(&column, false)?);
            leakage.max_lift = leakage.max_lift.max((high / least).ln());
            let most = total(&extreme(&column, true)?);
            leakage.min_lift = leakage.min_lift.max((most / low).ln());
        }
    }
    leakage.ldp = given(&any, std::slice::from_ref(channel))?.ldp;
    Ok(leakage)
}
