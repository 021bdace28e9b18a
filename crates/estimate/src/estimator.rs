//! One pool of reports, many questions.

use crate::answer::{Answer, Estimate, Shares};
use crate::channel::dot;
use crate::decode::{Decoder, Score};
use crate::identification::Identification;
use crate::interval::{Spread, interval};
use crate::mle::{self, Fit};
use crate::pool::{Group, shares};
use crate::settings::{Coverage, Method, Settings, Target};
use crate::{Error, Pool};
use std::sync::OnceLock;
use undertone_core::{AlphabetView, Context, Decimal};

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
    efficient: OnceLock<Option<Decoder>>,
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
        let (fit, efficient) = (OnceLock::new(), OnceLock::new());
        Ok(Self { pool, settings, groups, anchor, decoder, identification, fit, efficient })
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
        match self.pool.inputs().view() {
            AlphabetView::Names(_) => None,
            AlphabetView::Indices(size) => Some((0..size).map(f64::from).collect()),
            AlphabetView::Points(values) | AlphabetView::Bins { values, .. } => {
                Some(values.iter().copied().map(number).collect())
            }
        }
    }

    /// The share of every symbol.
    pub fn shares(&self, method: Method) -> Result<Shares, Error> {
        let symbols = match method {
            Method::Mmse => return self.mmse_shares(),
            Method::Unbiased => {
                let nearest = onto_simplex(&self.decoder.values(&self.groups));
                self.read(&self.decoder, &nearest, None)
            }
            Method::Mle => {
                let fit = &self.fit().shares;
                self.read(self.efficient(), fit, Some(fit))
            }
        };
        Ok(self.label_shares(method, symbols))
    }

    /// Σ values(x) share(x): a mean, or the share of several symbols together.
    pub fn linear(&self, method: Method, values: &[f64]) -> Result<Answer, Error> {
        self.check_values(values)?;
        let estimate = match method {
            Method::Mmse => return self.mmse_linear(values),
            Method::Unbiased => {
                let shares = self.decoder.values(&self.groups);
                let score = self.decoder.functional(values);
                self.weigh(score, values, &onto_simplex(&shares), dot(&shares, values))
            }
            Method::Mle => {
                let fit = &self.fit().shares;
                let value = dot(fit, values);
                let efficient = self.weigh(self.efficient().functional(values), values, fit, value);
                holding(efficient, value)
            }
        };
        Ok(self.label(method, estimate))
    }

    pub(crate) fn symbols(&self) -> usize {
        self.anchor.len()
    }

    /// The decoder whose weights were fixed before the reports.
    pub(crate) fn decoder(&self) -> &Decoder {
        &self.decoder
    }

    /// The decoder whose weights are best at the fit: what maximum likelihood amounts to in large
    /// samples, without its boundaries.
    pub(crate) fn efficient(&self) -> &Decoder {
        let made = self.efficient.get_or_init(|| {
            let other = self.decoder.depends_on_anchor(&self.groups);
            // The sizes were accepted once; they are the same now.
            other.then(|| Decoder::new(&self.groups, &self.fit().shares).ok()).flatten()
        });
        made.as_ref().unwrap_or(&self.decoder)
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

    fn read(&self, decoder: &Decoder, p: &[f64], values: Option<&[f64]>) -> Vec<Estimate> {
        let miss = self.settings.miss(self.symbols());
        let readings = decoder.readings(&self.groups, p, self.settings.target());
        // Far out in the tails the normal law is not good enough; where it can be avoided it is.
        let far_out = self.settings.coverage() == Coverage::All
            && self.settings.target() == Target::Population;
        let counts = if far_out { self.counts().filter(|(_, exact)| *exact) } else { None };
        let estimate = |(x, reading): (usize, &crate::decode::Reading)| {
            let value = values.map_or(reading.value, |values| values[x]);
            let Some(spread) = reading.spread else { return undetermined(value, (0.0, 1.0)) };
            let (low, high) = match &counts {
                Some((counts, _)) => counts[x].interval(miss),
                None => interval(reading.value, spread, (0.0, 1.0), miss),
            };
            let standard_error = Some(spread.at(reading.value.clamp(0.0, 1.0)).sqrt());
            let read = Estimate { value, low, high, standard_error, identified: true };
            if values.is_some() { holding(read, value) } else { read }
        };
        readings.iter().enumerate().map(estimate).collect()
    }

    /// The estimate of one linear quantity, from its statistic if there is one.
    pub(crate) fn weigh(
        &self,
        score: Option<Score>,
        values: &[f64],
        p: &[f64],
        fallback: f64,
    ) -> Estimate {
        let bounds = bounds(values);
        let Some(score) = score else { return undetermined(fallback, bounds) };
        let value = score.value(&self.groups);
        let variance = score.variance(&self.groups, values, p, self.settings.target());
        let miss = self.settings.miss(1);
        let (low, high) = interval(value, Spread::constant(variance), bounds, miss);
        Estimate { value, low, high, standard_error: Some(variance.sqrt()), identified: true }
    }

    pub(crate) fn check_values(&self, values: &[f64]) -> Result<(), Error> {
        if values.len() != self.symbols() {
            let expected = self.symbols();
            return Err(Error::Size { what: "the list of values", expected, found: values.len() });
        }
        match values.iter().find(|value| !value.is_finite()) {
            Some(&value) => Err(Error::Range { what: "a value", value, range: "a finite number" }),
            None => Ok(()),
        }
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

/// An estimate the reports say nothing about.
pub(crate) fn undetermined(value: f64, (low, high): (f64, f64)) -> Estimate {
    let value = value.clamp(low, high);
    Estimate { value, low, high, standard_error: None, identified: false }
}

/// The estimate at `value`, its interval widened to hold it. A maximum-likelihood value in a corner
/// of what is possible can lie outside the interval of the statistic, which feels no corners.
fn holding(estimate: Estimate, value: f64) -> Estimate {
    let (low, high) = (estimate.low.min(value), estimate.high.max(value));
    Estimate { value, low, high, ..estimate }
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
