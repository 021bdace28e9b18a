//! Groups of people with populations and policies of their own: what all of them say together.
//!
//! A [`Pool`] supposes that every policy's respondents come from one population. Groups that were made by predicting the very
//! thing that is asked do not: whoever was predicted to say yes says it more often. Here every group has shares of its own, and the
//! shares of all people are those of the groups, each with its part of the respondents. Neither the priors of the policies nor what
//! was predicted enters.
//!
//! * **Unbiased**: e(y) is the score of a report y under its row's own policy, with mean 1 given the symbol in question and 0 given
//!   any other; the share is the mean of the scores of all rows. With v(x) the variance of e given x under the policy, which is
//!   known exactly from its integers, the mean of n rows has variance (E v(X) + s (1 − s))/n for people drawn from a
//!   population in which the share is s, and E v(X)/n for these respondents. E v(X) is estimated without bias from the same
//!   scores, and dividing by n − 1 makes up for what an estimated s (1 − s) is too small by.
//! * **Maximum likelihood**: the likelihood of all rows has one factor for each group, so every group's shares are at their own
//!   maximum. No group's share can be negative; among many small groups these corners add up to a bias towards rare symbols,
//!   which is why the unbiased shares are the ones to read first.
//! * **Intervals** are the estimate and so many standard errors, by Student's law: reports are bounded and independent, so the mean
//!   of many is nearly normal. Their coverage is measured (`tests/suite/strata.rs`), not proved for every number of reports.

use crate::estimator::{Estimator, check_values, values_of};
use crate::interval::IntervalMethod;
use crate::settings::{Settings, Target};
use crate::{Error, Estimate, Fit, PolicyDrift, Pool, Tally};
use undertone_core::{Alphabet, Policy};
use undertone_numeric::student::student_quantile;
use undertone_numeric::vector::long_dot;

/// The reports of groups with populations and policies of their own, over the same symbols.
#[derive(Debug)]
pub struct Strata {
    inputs: Alphabet,
    settings: Settings,
    strata: Vec<Stratum>,
    reports: f64,
}

/// One group that has reports.
#[derive(Debug)]
struct Stratum {
    estimator: Estimator,
    /// Which of the groups given it is.
    at: usize,
    reports: f64,
    /// For every symbol of all, the symbol of this group's policy.
    order: Vec<usize>,
    /// The unbiased shares, by the symbols of this group's policy.
    unbiased: Vec<f64>,
}

/// What one group's reports say.
#[derive(Clone, Debug)]
pub struct StratumShares {
    /// Which of the groups given it is.
    pub at: usize,
    /// How many reports it has.
    pub reports: u64,
    /// Its unbiased shares as they come out, possible or not.
    pub unbiased: Vec<f64>,
    /// Its maximum-likelihood shares, and how they were found.
    pub fit: Fit,
    /// Its reports held against the prior of its policy.
    pub drift: PolicyDrift,
}

impl Strata {
    /// The reports of some groups, each with its policy; groups without reports say nothing. Refuses policies about other symbols,
    /// fewer than two reports, and reports that do not determine every group's shares.
    pub fn new(groups: Vec<(&Policy, Tally)>, settings: Settings) -> Result<Self, Error> {
        let Some((first, _)) = groups.first() else { return Err(Error::NoReports) };
        let inputs = first.draft().inputs().clone();
        let mut strata = Vec::with_capacity(groups.len());
        for (at, (policy, tally)) in groups.into_iter().enumerate() {
            let order = inputs.order_in(policy.draft().inputs());
            let order = order.ok_or_else(|| Error::alphabet(policy, &inputs))?;
            if tally.reports() == 0 {
                continue;
            }
            let reports = tally.reports() as f64;
            let estimator = Estimator::new(Pool::new(policy, tally)?, settings)?;
            if !estimator.identification().unidentified.is_empty() {
                return Err(Error::unanswerable(
                    "the shares of all groups",
                    "some group's policy does not determine its shares: design it for the objective frequency",
                ));
            }
            let unbiased = estimator.statistics();
            strata.push(Stratum { estimator, at, reports, order, unbiased });
        }
        let reports = strata.iter().map(|stratum| stratum.reports).sum();
        if !(reports >= 2.0) {
            let problem = "one report has no spread to judge it by: give more";
            return Err(match reports {
                0.0 => Error::NoReports,
                _ => Error::unanswerable("the shares of all groups", problem),
            });
        }
        Ok(Self { inputs, settings, strata, reports })
    }

    /// The symbols, in the order of the first group's policy.
    pub fn inputs(&self) -> &Alphabet {
        &self.inputs
    }

    /// How many reports, of all groups.
    pub fn reports(&self) -> u64 {
        self.strata.iter().map(|stratum| stratum.estimator.pool().reports()).sum()
    }

    /// The numbers the symbols stand for: points, representatives of bins, or bare indices.
    pub fn values(&self) -> Option<Vec<f64>> {
        values_of(&self.inputs)
    }

    /// The unbiased share of every symbol as it comes out, possible or not: they sum to one.
    pub fn statistics(&self) -> Vec<f64> {
        self.mix(|stratum| stratum.ordered(&stratum.unbiased))
    }

    /// The share of every symbol, unbiased.
    pub fn shares(&self) -> Result<Vec<Estimate>, Error> {
        let symbols = self.inputs.len();
        let one = |x: usize| {
            let mut values = vec![0.0; symbols];
            values[x] = 1.0;
            self.estimate(&values, symbols)
        };
        (0..symbols).map(one).collect()
    }

    /// Σ values(x) share(x), unbiased: a mean, or the share of several symbols together.
    pub fn linear(&self, values: &[f64]) -> Result<Estimate, Error> {
        check_values(values, self.inputs.len())?;
        self.estimate(values, 1)
    }

    /// The maximum-likelihood shares of all people.
    pub fn mle(&self) -> Vec<f64> {
        self.mix(|stratum| stratum.ordered(&stratum.estimator.fit().shares))
    }

    /// What every group with reports says.
    pub fn groups(&self) -> Result<Vec<StratumShares>, Error> {
        let one = |stratum: &Stratum| {
            let estimator = &stratum.estimator;
            let fit = estimator.fit().clone();
            let shares = stratum.ordered(&fit.shares);
            let drift = estimator.drift()?.policies.into_iter().next().ok_or(Error::NoReports)?;
            Ok(StratumShares {
                at: stratum.at,
                reports: estimator.pool().reports(),
                unbiased: stratum.ordered(&stratum.unbiased),
                fit: Fit { shares, ..fit },
                drift,
            })
        };
        self.strata.iter().map(one).collect()
    }

    /// The groups' numbers, each with its part of the respondents.
    fn mix(&self, each: impl Fn(&Stratum) -> Vec<f64>) -> Vec<f64> {
        let mut sum = vec![0.0; self.inputs.len()];
        for stratum in &self.strata {
            let part = stratum.reports / self.reports;
            sum.iter_mut().zip(each(stratum)).for_each(|(sum, one)| *sum += part * one);
        }
        sum
    }

    fn estimate(&self, values: &[f64], intervals: usize) -> Result<Estimate, Error> {
        let shares = self.statistics();
        let value = long_dot(&shares, values);
        let mut noise = 0.0;
        for stratum in &self.strata {
            noise += stratum.reports / self.reports * stratum.noise(values)?;
        }
        let variance = match self.settings.target() {
            Target::Respondents => noise / self.reports,
            Target::Population => {
                let squares: Vec<f64> = values.iter().map(|value| value * value).collect();
                let people = long_dot(&shares, &squares) - value * value;
                (noise + people.max(0.0)) / (self.reports - 1.0)
            }
        };
        let standard_error = variance.sqrt();
        let miss = self.settings.miss(intervals);
        let reach = student_quantile(self.reports - 1.0, miss / 2.0) * standard_error;
        let (least, most) = crate::estimator::bounds(values);
        let within = |value: f64| value.clamp(least, most);
        let (low, high) = (within(value - reach), within(value + reach));
        Ok(Estimate {
            value: within(value),
            low,
            high,
            standard_error: Some(standard_error),
            identified: true,
            impossible: value + reach < least || value - reach > most,
            method: IntervalMethod::Student,
        })
    }
}

impl Stratum {
    /// A list over this group's symbols in the order of all.
    fn ordered(&self, own: &[f64]) -> Vec<f64> {
        self.order.iter().map(|&place| own[place]).collect()
    }

    /// The mean over this group's people, estimated without bias, of the variance of one report's score given the symbol.
    fn noise(&self, values: &[f64]) -> Result<f64, Error> {
        let mut own = vec![0.0; values.len()];
        self.order.iter().zip(values).for_each(|(&place, value)| own[place] = *value);
        let score = self.estimator.decoder().functional(&own);
        let group = &self.estimator.groups[0];
        let (Some(score), true) = (score, self.estimator.groups.len() == 1) else {
            let problem = "a group's policy does not determine it";
            return Err(Error::unanswerable("this number of all groups", problem));
        };
        // The score adds up to the estimate: one report's own is as many times larger as there are reports.
        let scale = self.reports * self.reports;
        let (_, variances) = group.channel.moments(&score.weights[0]);
        let noise: f64 = self
            .unbiased
            .iter()
            .zip(&variances)
            .map(|(share, variance)| share * variance * scale)
            .sum();
        // Estimated shares can be impossible, a mean of variances cannot be below the least of them.
        let least = variances.iter().copied().fold(f64::INFINITY, f64::min) * scale;
        Ok(noise.max(least))
    }
}
