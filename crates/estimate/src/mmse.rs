//! What the prior makes of every report, added up.
//!
//! Under the prior, a report with output y stands for symbol x with probability
//! P(x) w(y|x) / P_Y(y). Summed over the reports this is the best guess, in squared error, of how many
//! of *these respondents* have each symbol, and the uncertainty left is that of independent draws, which the
//! interval covers for every number of reports. Both hold if the prior is right, and only then: with a wrong prior the sum does not approach the truth
//! however many people answer (JLT18 aggregates this way).

use crate::answer::{Answer, Shares};
use crate::channel::Bits;
use crate::estimator::bounds;
use crate::interval::posterior;
use crate::mle::LinearLaw;
use crate::pool::Group;
use crate::settings::Method;
use crate::{Error, Estimate, Estimator};

const WHAT: &str = "the estimate with the prior";

impl Estimator {
    pub(crate) fn mmse_shares(&self) -> Result<Shares, Error> {
        let mut sums = vec![0.0; self.symbols()];
        let mut squares = vec![0.0; self.symbols()];
        for group in &self.groups {
            outputs_of(group)?;
            let prior = prior_of(group)?;
            let (once, twice) = count_over_law(group, &prior)?;
            let (back, back_squares) = match group.channel.bits().and_then(Bits::blocks) {
                Some(blocks) => (blocks.back(&once), blocks.back_squares(&twice)),
                None => (group.channel.back(&once), group.channel.back_squares(&twice)),
            };
            for (x, p) in prior.iter().enumerate() {
                sums[x] += p * back[x];
                squares[x] += p * p * back_squares[x];
            }
        }
        let miss = self.settings().miss(self.symbols());
        let reports = self.pool().reports() as f64;
        let pairs = sums.iter().zip(&squares);
        let symbols = pairs.map(|(sum, square)| {
            let variance = (sum - square).max(0.0) / (reports * reports);
            let limits = posterior::limits(sum / reports, variance, 1.0 / reports, miss);
            let estimate = Estimate::clamped(sum / reports, limits, (0.0, 1.0));
            Estimate { standard_error: Some(variance.sqrt()), ..estimate }
        });
        Ok(self.label_shares(Method::Mmse, symbols.collect()))
    }

    pub(crate) fn mmse_linear(
        &self,
        values: &[f64],
        rounding: (f64, f64),
        possible: (f64, f64),
    ) -> Result<Answer, Error> {
        let (mut sum, mut variance) = (0.0, 0.0);
        for group in &self.groups {
            let prior = prior_of(group)?;
            let (law, counts) = outputs_of(group)?;
            let (once, _) = count_over_law(group, &prior)?;
            let weighed = |power: i32| {
                let p: Vec<f64> =
                    prior.iter().zip(values).map(|(p, v)| p * v.powi(power)).collect();
                law.law(&p)
            };
            // Given output y: the mean of the values is first(y)/law(y), of their squares second/law.
            for (((count, &ratio), first), second) in
                counts.iter().zip(&once).zip(weighed(1)).zip(weighed(2))
            {
                let count = *count as f64;
                if count > 0.0 {
                    let (mean, square) = (first * ratio / count, second * ratio / count);
                    sum += count * mean;
                    variance += count * (square - mean * mean).max(0.0);
                }
            }
        }
        let reports = self.pool().reports() as f64;
        let variance = variance / (reports * reports);
        let (least, most) = bounds(values);
        let (value, range) = (sum / reports, (most - least) / reports);
        let limits = posterior::limits(value, variance, range, self.settings().miss(1));
        let estimate = Estimate::clamped(value, limits.widened(rounding.0, rounding.1), possible);
        Ok(self.label(Method::Mmse, Estimate { standard_error: Some(variance.sqrt()), ..estimate }))
    }
}

fn prior_of(group: &Group) -> Result<Vec<f64>, Error> {
    group.prior().ok_or_else(|| {
        let problem = format!("policy {} does not assume one prior", group.policy);
        Error::unanswerable(WHAT, problem)
    })
}

/// The law of a group's outputs and their counts.
fn outputs_of(group: &Group) -> Result<(&dyn LinearLaw, &[u64]), Error> {
    let problem = "a posterior needs each report's whole row of bits, and a tally keeps their counts: use BitsFold";
    group.outputs().ok_or_else(|| Error::unanswerable(WHAT, problem))
}

/// count(y)/law(y) and count(y)/law(y)² under the prior.
fn count_over_law(group: &Group, prior: &[f64]) -> Result<(Vec<f64>, Vec<f64>), Error> {
    let (law, counts) = outputs_of(group)?;
    let law = law.law(prior);
    let (mut once, mut twice) = (vec![0.0; law.len()], vec![0.0; law.len()]);
    for (y, (&count, &law)) in counts.iter().zip(&law).enumerate() {
        if count > 0 {
            if !(law > 0.0) {
                let problem = format!(
                    "output {y} was reported, which the prior of policy {} rules out",
                    group.policy
                );
                return Err(Error::unanswerable(WHAT, problem));
            }
            once[y] = count as f64 / law;
            twice[y] = once[y] / law;
        }
    }
    Ok((once, twice))
}
