//! The exact leakage of a known channel over all priors in a region.
//!
//! The lift of x for output y is q(y|x)/P(y). Only P(y) depends on the prior, and it is linear in
//! it, so per output the worst prior is found greedily: as much mass as the region allows on the
//! inputs with the smallest likelihoods (or the largest).

use undertone_design::prior_region::{PriorBall, PriorBox};
use undertone_design::{Channel, Distribution, Error, Symbols};

use crate::composition::{Leakage, given};

/// A region of priors under which a channel can be judged.
pub trait LeakageOver {
    /// The exact leakage of `channel` over every prior in the region.
    fn leakage(&self, channel: &Channel) -> Result<Leakage, Error>;
}

impl LeakageOver for PriorBox {
    fn leakage(&self, channel: &Channel) -> Result<Leakage, Error> {
        over_region(channel, self.symbols(), |values, largest| self.extreme(values, largest))
    }
}

impl LeakageOver for PriorBall {
    fn leakage(&self, channel: &Channel) -> Result<Leakage, Error> {
        let symbols = self.centre().symbols();
        over_region(channel, symbols, |values, largest| self.extreme(values, largest))
    }
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
