//! Mean and variance.

use crate::channel::dot;
use crate::decode::Decoder;
use crate::estimator::{bounds, onto_simplex, undetermined};
use crate::interval::{Spread, interval};
use crate::settings::Method;
use crate::{Answer, Error, Estimate, Estimator};

impl Estimator {
    /// The mean of the numbers the symbols stand for.
    pub fn mean(&self, method: Method) -> Result<Answer, Error> {
        self.linear(method, &self.numbers("a mean")?)
    }

    /// Their variance. Values inside a bin count as its representative.
    ///
    /// With T the unbiased linear statistics, the unbiased value is T(v²) - T(v)² + Var T(v): a square
    /// of an estimate is too large by its variance. The interval is that of the linear statistic of
    /// (v - mean)², which is what the variance amounts to in large samples.
    pub fn variance(&self, method: Method) -> Result<Answer, Error> {
        let values = self.numbers("a variance")?;
        let estimate = match method {
            Method::Unbiased => {
                let p = onto_simplex(&self.decoder().values(&self.groups));
                self.variance_by(self.decoder(), &values, &p)
            }
            Method::Mle => {
                let fit = &self.fit().shares;
                let mean = dot(fit, &values);
                let squares: Vec<f64> = values.iter().map(|v| (v - mean).powi(2)).collect();
                let value = dot(fit, &squares);
                let read = self.variance_by(self.efficient(), &values, fit);
                let (low, high) = (read.low.min(value), read.high.max(value));
                Estimate { value, low, high, ..read }
            }
            Method::Mmse => {
                let problem = "a sum of posteriors does not give the variance of a sum: use unbiased or maximum likelihood";
                return Err(Error::unanswerable("the variance with the prior", problem));
            }
        };
        Ok(self.label(method, estimate))
    }

    fn variance_by(&self, decoder: &Decoder, values: &[f64], p: &[f64]) -> Estimate {
        let (least, most) = bounds(values);
        let limits = (0.0, (most - least).powi(2) / 4.0);
        let around = dot(p, values);
        let fallback = || {
            let squares: Vec<f64> = values.iter().map(|v| (v - around).powi(2)).collect();
            undetermined(dot(p, &squares), limits)
        };
        let Some(first) = decoder.functional(values) else { return fallback() };
        let mean = first.value(&self.groups);
        let squares: Vec<f64> = values.iter().map(|v| (v - mean).powi(2)).collect();
        let Some(second) = decoder.functional(&squares) else { return fallback() };
        let value =
            second.value(&self.groups) + first.variance(&self.groups, values, p, self.target());
        let variance = second.variance(&self.groups, &squares, p, self.target());
        let miss = self.settings().miss(1);
        let (low, high) = interval(value, Spread::constant(variance), limits, miss);
        Estimate { value, low, high, standard_error: Some(variance.sqrt()), identified: true }
    }
}
