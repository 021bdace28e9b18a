//! How many people a survey needs: for an interval's half-width, or for the power of a test.
//!
//! A test's critical value has the standard error that holds if there is nothing to find, and its power the one that holds if
//! there is: with σ0 and σ1 those errors for one person and d what is to be found, the power of n people at a two-sided level is
//! Φ((d√n - zσ0)/σ1), so n = ((z σ0 + z' σ1)/d)². These are large-sample figures, for planning.

use undertone_numeric::normal::{normal_cdf, normal_quantile};

use crate::mechanism::accuracy;
use crate::{Channel, Distribution, Error};

/// Steps of the trapezoidal rule over ±[`REACH`] standard deviations of a covariate.
const STEPS: usize = 512;

/// How far the covariate's normal law is followed.
const REACH: f64 = 8.5;

/// What one person contributes to a test: the effect, and the standard errors without and with it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TestedEffect {
    effect: f64,
    null: f64,
    alternative: f64,
    /// How many people an observation takes: 2 where two groups are compared.
    people: u64,
}

impl TestedEffect {
    /// A difference between two groups of equal size in the share of `symbol`, the groups having these laws. The critical value
    /// supposes that both have the mean of the two.
    pub fn difference(
        channel: &Channel,
        laws: [&Distribution; 2],
        symbol: usize,
    ) -> Result<Self, Error> {
        let [one, other] = laws;
        let effect = (other[symbol] - one[symbol]).abs();
        if !(effect > 0.0) {
            return Err(Error::other("difference", "is nought: nothing is to be found"));
        }
        let middle = one.as_slice().iter().zip(other.as_slice()).map(|(a, b)| (a + b) / 2.0);
        let middle = Distribution::normalised("shares", middle.collect())?.over(one.symbols())?;
        let variance = |law: &Distribution| Ok::<_, Error>(told(channel, law)?[symbol]);
        Ok(Self {
            effect,
            null: (2.0 * variance(&middle)?).sqrt(),
            alternative: (variance(one)? + variance(other)?).sqrt(),
            people: 2,
        })
    }

    /// A slope of the log-odds of a yes/no answer, per standard deviation of a normal covariate that is known in the clear. The test
    /// is the score test: whether reports go with the covariate. `yes` is the share of yes in all.
    pub fn slope(channel: &Channel, yes: f64, slope: f64) -> Result<Self, Error> {
        if channel.inputs() != 2 {
            return Err(Error::Size {
                what: "a slope is for a yes/no question: the policy".into(),
                expected: 2,
                found: channel.inputs(),
            });
        }
        if !(yes > 0.0 && yes < 1.0) {
            return Err(Error::range("the share of yes", yes, "above 0 and below 1"));
        }
        if !(slope != 0.0 && slope.abs() <= 20.0) {
            return Err(Error::range("slope", slope, "not 0, and from -20 to 20"));
        }
        let at = |x: f64, intercept: f64| 1.0 / (1.0 + (-(intercept + slope * x)).exp());
        // The intercept with which the share of yes in all is as given.
        let (mut low, mut high) = (-60.0, 60.0);
        for _ in 0..100 {
            let middle = (low + high) / 2.0;
            match expected(|x| at(x, middle)) < yes {
                true => low = middle,
                false => high = middle,
            }
        }
        let intercept = (low + high) / 2.0;
        let outputs = 0..channel.outputs();
        let seen = |y: usize, yes: f64| (1.0 - yes) * channel.q(0, y) + yes * channel.q(1, y);
        let score = |y: usize| match seen(y, yes) {
            mass if mass > 0.0 => (channel.q(1, y) - channel.q(0, y)) / mass,
            _ => 0.0,
        };
        let null: f64 = outputs.clone().map(|y| seen(y, yes) * score(y).powi(2)).sum();
        let moment = |power: i32| {
            expected(|x| {
                let yes = at(x, intercept);
                let mean: f64 = outputs.clone().map(|y| seen(y, yes) * score(y).powi(power)).sum();
                mean * x.powi(power)
            })
        };
        let effect = moment(1);
        if !(null > 0.0 && effect != 0.0) {
            return Err(silent());
        }
        let alternative = (moment(2) - effect * effect).sqrt();
        Ok(Self { effect: effect.abs(), null: null.sqrt(), alternative, people: 1 })
    }

    /// How many people have this power at a two-sided level of significance.
    pub fn needed(&self, significance: f64, power: f64) -> Result<u64, Error> {
        for (what, value) in [("significance", significance), ("power", power)] {
            if !(value > 0.0 && value < 1.0) {
                return Err(Error::range(what, value, "above 0 and below 1"));
            }
        }
        let critical = normal_quantile(significance / 2.0) * self.null;
        let root = (critical + normal_quantile(1.0 - power) * self.alternative) / self.effect;
        let observations = root.max(0.0).powi(2).ceil().max(1.0);
        whole(observations * self.people as f64)
    }

    /// The power of so many people.
    pub fn power(&self, people: u64, significance: f64) -> f64 {
        let root = (people as f64 / self.people as f64).sqrt();
        let critical = normal_quantile(significance / 2.0) * self.null;
        normal_cdf((root * self.effect - critical) / self.alternative)
    }
}

/// How many people give every share an interval of this half-width.
pub fn for_shares(
    channel: &Channel,
    law: &Distribution,
    half_width: f64,
    level: f64,
) -> Result<u64, Error> {
    let worst = told(channel, law)?.into_iter().fold(0.0, f64::max);
    for_variance(worst, half_width, level)
}

/// How many people give every cell of a table of two independent questions an interval of this half-width, both answers being
/// randomised on their own.
pub fn for_cells(
    first: (&Channel, &Distribution),
    second: (&Channel, &Distribution),
    half_width: f64,
    level: f64,
) -> Result<u64, Error> {
    for_variance(cell_variance(first, second)?, half_width, level)
}

/// n times the largest variance of a cell's share.
pub fn cell_variance(
    first: (&Channel, &Distribution),
    second: (&Channel, &Distribution),
) -> Result<f64, Error> {
    // Scores of independent questions multiply, and so do their second moments.
    let (one, other) = (told(first.0, first.1)?, told(second.0, second.1)?);
    let mut worst = 0.0f64;
    for (a, p) in one.iter().zip(first.1.as_slice()) {
        for (b, q) in other.iter().zip(second.1.as_slice()) {
            worst = worst.max((a + p * p) * (b + q * q) - (p * q).powi(2));
        }
    }
    Ok(worst)
}

/// n times the largest variance of a share.
pub fn share_variance(channel: &Channel, law: &Distribution) -> Result<f64, Error> {
    Ok(told(channel, law)?.into_iter().fold(0.0, f64::max))
}

fn for_variance(variance: f64, half_width: f64, level: f64) -> Result<u64, Error> {
    if !(half_width > 0.0 && half_width < 1.0) {
        return Err(Error::range("half_width", half_width, "above 0 and below 1"));
    }
    if !(level > 0.0 && level < 1.0) {
        return Err(Error::range("level", level, "above 0 and below 1"));
    }
    let z = normal_quantile((1.0 - level) / 2.0);
    whole((variance * (z / half_width).powi(2)).ceil().max(1.0))
}

/// n times the variance of each share, if the reports tell them.
fn told(channel: &Channel, law: &Distribution) -> Result<Vec<f64>, Error> {
    let variances = accuracy::variances(law, channel)?;
    match variances.iter().all(|variance| variance.is_finite()) {
        true => Ok(variances),
        false => Err(silent()),
    }
}

fn silent() -> Error {
    Error::other(
        "policy",
        "its reports do not determine the shares, so no number of people is enough: use another policy",
    )
}

fn whole(people: f64) -> Result<u64, Error> {
    if people < 9e15 {
        return Ok(people as u64);
    }
    Err(Error::other(
        "people",
        format!("{people:.1e} are needed, more than there can be: raise epsilon or ask for less"),
    ))
}

/// The mean of f under the standard normal law.
fn expected(f: impl Fn(f64) -> f64) -> f64 {
    let step = 2.0 * REACH / STEPS as f64;
    let at = |i: usize| i as f64 * step - REACH;
    let density = |x: f64| (-x * x / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
    (0..=STEPS).map(|i| f(at(i)) * density(at(i)) * step).sum()
}
