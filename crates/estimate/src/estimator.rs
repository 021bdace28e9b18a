//! One pool of reports, many questions.

use crate::answer::{Answer, Estimate, Shares};
use crate::decode::{Decoder, Score};
use crate::identification::Identification;
use crate::interval::Limits;
use crate::mle::{self, Fit};
use crate::pool::{Group, shares};
use crate::settings::{Method, Settings, Target};
use crate::{Error, Pool};
use std::sync::OnceLock;
use undertone_core::{Alphabet, AlphabetView, Context, Decimal};
use undertone_numeric::vector::long_dot;

/// Answers questions about a pool of reports.
///
/// What several questions share (inverses, the maximum-likelihood fit) is computed once. The methods
/// are spread over the files of what they answer.
#[derive(Debug)]
pub struct Estimator {
    pool: Pool,
    settings: Settings,
    /// The groups that have reports.
    pub(crate) groups: Vec<Group>,
    /// A population fixed before the reports: the priors, with a hundredth of the uniform one.
    pub(crate) anchor: Vec<f64>,
    decoder: Decoder,
    identification: Identification,
    fit: OnceLock<Fit>,
    pub(crate) share_limits: OnceLock<Vec<Limits>>,
    /// The limits of the share of the first 0, 1, 2, ... symbols.
    pub(crate) limits_below: OnceLock<Vec<OnceLock<Limits>>>,
    /// Every group by itself, where that is asked for.
    pub(crate) apart: OnceLock<Vec<Estimator>>,
}

/// How much of the anchor is uniform, so that no symbol is ruled out by an assumption.
const UNIFORM_PART: f64 = 0.01;

impl Estimator {
    /// Prepares a pool for questions at the given level, coverage and target.
    pub fn new(pool: Pool, settings: Settings) -> Result<Self, Error> {
        let counted = |group: &&Group| group.tally.reports() > 0;
        let groups: Vec<Group> = pool.groups().iter().filter(counted).cloned().collect();
        if groups.is_empty() {
            return Err(Error::NoReports);
        }
        let anchor = anchor(&groups, pool.inputs().len());
        let decoder = Decoder::new(&groups, &anchor)?;
        let identification = decoder.identification();
        Ok(Self {
            pool,
            settings,
            groups,
            anchor,
            decoder,
            identification,
            fit: OnceLock::new(),
            share_limits: OnceLock::new(),
            limits_below: OnceLock::new(),
            apart: OnceLock::new(),
        })
    }

    /// The reports.
    pub fn pool(&self) -> &Pool {
        &self.pool
    }

    /// Level, coverage and target.
    pub fn settings(&self) -> Settings {
        self.settings
    }

    /// What the policies can and cannot tell apart, and how well conditioned their inverse is.
    pub fn identification(&self) -> &Identification {
        &self.identification
    }

    /// The maximum-likelihood fit: the shares, how it was found, and how far it can be from the top.
    pub fn fit(&self) -> &Fit {
        self.fit.get_or_init(|| {
            let square = !self.decoder.depends_on_anchor(&self.groups);
            let inverted = square && self.identification.rank == self.symbols();
            let unbiased = inverted.then(|| self.decoder.values(&self.groups));
            mle::fit(&self.groups, &self.anchor, unbiased)
        })
    }

    /// The numbers the symbols stand for: points, representatives of bins, or bare indices.
    pub fn values(&self) -> Option<Vec<f64>> {
        values_of(self.pool.inputs())
    }

    /// The share of every symbol.
    pub fn shares(&self, method: Method) -> Result<Shares, Error> {
        let symbols = match method {
            Method::Mmse => return self.mmse_shares(),
            Method::Unbiased => {
                self.read(&onto_simplex(&self.statistics()), Estimate::clamped, None)
            }
            Method::Mle => {
                let fit = &self.fit().shares;
                self.read(fit, Estimate::held, Some(fit))
            }
        };
        Ok(self.label_shares(method, symbols))
    }

    /// The unbiased share of every symbol as it comes out, possible or not: they sum to one, and the mean of many
    /// surveys' is right. For combining surveys outside of a [`Pool`]; to be read by people,
    /// [`Estimator::shares`] has only what is possible.
    pub fn statistics(&self) -> Vec<f64> {
        self.decoder.values(&self.groups)
    }

    /// Σ values(x) share(x): a mean, or the share of several symbols together.
    pub fn linear(&self, method: Method, values: &[f64]) -> Result<Answer, Error> {
        self.check_values(values)?;
        self.linear_of(method, values, (0.0, 0.0), bounds(values))
    }

    /// Σ values(x) share(x), the values being off by at most `rounding` to either side, and the number possible
    /// between two ends.
    pub(crate) fn linear_of(
        &self,
        method: Method,
        values: &[f64],
        rounding: (f64, f64),
        possible: (f64, f64),
    ) -> Result<Answer, Error> {
        if method == Method::Mmse {
            return self.mmse_linear(values, rounding, possible);
        }
        let statistics = self.statistics();
        let limits = self.limits(values, self.settings.miss(1)).widened(rounding.0, rounding.1);
        let (estimate, p) = match method {
            Method::Mle => {
                let fit = self.fit().shares.clone();
                (Estimate::held(long_dot(&fit, values), limits, possible), fit)
            }
            Method::Unbiased | Method::Mmse => {
                let value = long_dot(&statistics, values);
                (Estimate::clamped(value, limits, possible), onto_simplex(&statistics))
            }
        };
        let score = self.decoder.functional(values).filter(|score| self.is_exact(score, values));
        let error =
            |score: &Score| score.variance(&self.groups, values, &p, self.settings.target()).sqrt();
        let standard_error = score.as_ref().map(error);
        let identified = score.is_some();
        Ok(self.label(method, Estimate { standard_error, identified, ..estimate }))
    }

    /// Whether the mean of a score is the number it stands for, for every population, up to rounding.
    pub(crate) fn is_exact(&self, score: &Score, values: &[f64]) -> bool {
        if !self.decoder.is_dense() {
            return true;
        }
        let (least, most) = bounds(values);
        let means = score.means(&self.groups);
        let worst = means.iter().zip(values).map(|(mean, value)| (mean - value).abs());
        worst.fold(0.0, f64::max) <= 1e-6 * (most - least)
    }

    pub(crate) fn symbols(&self) -> usize {
        self.anchor.len()
    }

    /// The decoder whose weights were fixed before the reports.
    pub(crate) fn decoder(&self) -> &Decoder {
        &self.decoder
    }

    pub(crate) fn label_shares(&self, method: Method, symbols: Vec<Estimate>) -> Shares {
        let reports = self.pool.reports();
        Shares {
            method,
            label: self.words(method),
            settings: self.settings_of(method),
            reports,
            symbols,
        }
    }

    pub(crate) fn label(&self, method: Method, estimate: Estimate) -> Answer {
        let reports = self.pool.reports();
        Answer {
            method,
            label: self.words(method),
            settings: self.settings_of(method),
            reports,
            estimate,
        }
    }

    fn settings_of(&self, method: Method) -> Settings {
        match method {
            Method::Mmse => self.settings.of_respondents(),
            Method::Unbiased | Method::Mle => self.settings,
        }
    }

    fn words(&self, method: Method) -> String {
        let mut label: String = method.label().into();
        let open = self.identification.unidentified.len();
        if open > 0 && method != Method::Mmse {
            label += &format!(
                "; {open} of {} shares are not determined by these reports and are only the nearest to what was assumed",
                self.symbols()
            );
        }
        label
    }

    /// Every share with its interval; the standard errors are those of a population `p`.
    fn read(
        &self,
        p: &[f64],
        estimate: fn(f64, Limits, (f64, f64)) -> Estimate,
        values: Option<&[f64]>,
    ) -> Vec<Estimate> {
        let readings = self.decoder.readings(&self.groups, p, self.settings.target());
        let one = |(x, (reading, limits)): (usize, (&crate::decode::Reading, &Limits))| {
            let value = values.map_or(reading.value, |values| values[x]);
            let error =
                |spread: crate::decode::Spread| spread.at(reading.value.clamp(0.0, 1.0)).sqrt();
            Estimate {
                standard_error: reading.spread.map(error),
                identified: reading.spread.is_some(),
                ..estimate(value, *limits, (0.0, 1.0))
            }
        };
        readings.iter().zip(self.share_limits()).enumerate().map(one).collect()
    }

    pub(crate) fn check_values(&self, values: &[f64]) -> Result<(), Error> {
        check_values(values, self.symbols())
    }

    pub(crate) fn numbers(&self, what: &'static str) -> Result<Vec<f64>, Error> {
        self.values().ok_or_else(|| {
            Error::unanswerable(what, "the symbols are names, not numbers: give values for them")
        })
    }

    pub(crate) fn target(&self) -> Target {
        self.settings.target()
    }
}

/// The numbers the symbols of an alphabet stand for: points, representatives of bins, or bare indices.
pub(crate) fn values_of(alphabet: &Alphabet) -> Option<Vec<f64>> {
    match alphabet.view() {
        AlphabetView::Names(_) => None,
        AlphabetView::Indices(size) => Some((0..size).map(f64::from).collect()),
        AlphabetView::Points(values) | AlphabetView::Bins { values, .. } => {
            Some(values.iter().copied().map(number).collect())
        }
    }
}

/// Refuses values that are not finite, or not one for every symbol.
pub(crate) fn check_values(values: &[f64], expected: usize) -> Result<(), Error> {
    if values.len() != expected {
        return Err(Error::Size { what: "the list of values", expected, found: values.len() });
    }
    match values.iter().find(|value| !value.is_finite()) {
        Some(&value) => Err(Error::Range { what: "a value", value, range: "a finite number" }),
        None => Ok(()),
    }
}

/// The least and the greatest of some values.
pub(crate) fn bounds(values: &[f64]) -> (f64, f64) {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    (least, values.iter().copied().fold(f64::NEG_INFINITY, f64::max))
}

/// A decimal as a float.
pub(crate) fn number(value: Decimal) -> f64 {
    value.to_string().parse().unwrap_or(f64::NAN)
}

/// The population nearest to a list of numbers that sum to about one.
pub(crate) fn onto_simplex(values: &[f64]) -> Vec<f64> {
    let mut falling = values.to_vec();
    falling.sort_unstable_by(|a, b| b.total_cmp(a));
    // The common amount to take off: as large as the values that stay positive allow.
    let (mut sum, mut level) = (0.0, f64::INFINITY);
    for (at, value) in falling.iter().enumerate() {
        sum += value;
        let next = (sum - 1.0) / (at + 1) as f64;
        if at > 0 && *value <= next {
            break;
        }
        level = next;
    }
    let mut nearest: Vec<f64> = values.iter().map(|value| (value - level).max(0.0)).collect();
    let total: f64 = nearest.iter().sum();
    nearest.iter_mut().for_each(|value| *value /= total);
    nearest
}

fn anchor(groups: &[Group], symbols: usize) -> Vec<f64> {
    let uniform = 1.0 / symbols as f64;
    let (mut sum, mut weight) = (vec![0.0; symbols], 0.0);
    for group in groups {
        if let Some(assumed) = assumed(&group.context, symbols) {
            weight += group.reports();
            sum.iter_mut().zip(assumed).for_each(|(sum, p)| *sum += group.reports() * p);
        }
    }
    let mixed = |sum: f64| {
        let assumed = if weight > 0.0 { sum / weight } else { uniform };
        (1.0 - UNIFORM_PART) * assumed + UNIFORM_PART * uniform
    };
    sum.into_iter().map(mixed).collect()
}

/// One population in the middle of what a context assumes.
fn assumed(context: &Context, symbols: usize) -> Option<Vec<f64>> {
    match context {
        Context::Unknown => None,
        Context::Known(_) | Context::Secret(_) => crate::pool::single_prior(context),
        Context::Each(priors) => {
            let mut mean = vec![0.0; symbols];
            let count = priors.as_slice().len() as f64;
            for prior in priors.as_slice() {
                mean.iter_mut().zip(shares(prior.weights())).for_each(|(m, p)| *m += p / count);
            }
            Some(mean)
        }
        Context::Within(within) => {
            let ends = within.lower().iter().zip(within.upper());
            let middle: Vec<f64> = ends.map(|(&low, &high)| (low + high) as f64).collect();
            let total: f64 = middle.iter().sum();
            Some(middle.into_iter().map(|m| m / total).collect())
        }
    }
}
