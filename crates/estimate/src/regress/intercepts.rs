//! Several answers of one person: an intercept for each, drawn from a normal law.
//!
//! A cluster's likelihood is ∫ Π_i P(report i | x_iᵀβ + v) φ(v; 0, σ²) dv, by Gauss and Hermite's quadrature around the
//! integrand's top and as wide as it (Liu and Pierce 1994). With s(v) the score at one intercept and τ(v) what the reports make
//! of it, score and information are those of `model` with the integral in place of the sum.

use super::errors::Errors;
use super::fit::RegressionFit;
use super::model::{Model, Outcome, logistic};
use super::newton::{Climb, Curvature, End, Objective, Totals, inverse, maximise};
use super::prepared::Prepared;
use super::reports::Reports;
use super::{Family, Regression};
use crate::{Error, Factor, Sample};
use std::f64::consts::{PI, SQRT_2};
use undertone_numeric::gamma::chi_squared_upper_tail;
use undertone_numeric::hermite::gauss_hermite;
use undertone_numeric::vector::dot;

/// How clusters differ beyond their covariates.
#[derive(Clone, Debug, PartialEq)]
pub struct RandomIntercepts {
    /// How many clusters there are.
    pub clusters: usize,
    /// The standard deviation of their intercepts; 0 where the reports show none.
    pub deviation: f64,
    /// The lower end of its interval.
    pub low: f64,
    /// The upper end of its interval; infinite where the deviation is 0.
    pub high: f64,
    /// The probability of a likelihood ratio as large where clusters do not differ.
    pub p_value: f64,
}

/// Intercepts with a larger deviation than this are not told from intercepts without end: e^±10 is as good as 0 and 1.
const WIDEST: f64 = 10.0;

/// Points of the quadrature. Clusters of a few answers need fewer.
const NODES: usize = 25;

/// The likelihood of clusters.
struct Clustered<'m, 'a> {
    model: &'m Model<'a>,
    reports: &'m Reports<'a>,
    /// The rows, cluster after cluster, and where each begins.
    rows: Vec<u32>,
    starts: Vec<usize>,
    nodes: Vec<(f64, f64)>,
}

/// What a report says at one linear predictor: the logarithm of its probability, its slope, its curvature and the curvature
/// that the true answer would have.
fn kernel(eta: f64, given: &[f64]) -> [f64; 4] {
    let [no, yes] = logistic(eta);
    let law = no * given[0] + yes * given[1];
    let posterior = yes * given[1] / law;
    let bend = no * yes - posterior * (no * given[0] / law);
    [law.ln(), posterior - yes, bend, no * yes]
}

impl<'m, 'a> Clustered<'m, 'a> {
    fn new(model: &'m Model<'a>, reports: &'m Reports<'a>, clusters: &Factor) -> Self {
        let mut counts = vec![0usize; clusters.levels().len() + 1];
        clusters.codes().iter().for_each(|&code| counts[code as usize + 1] += 1);
        for at in 1..counts.len() {
            counts[at] += counts[at - 1];
        }
        let mut next = counts.clone();
        let mut rows = vec![0; clusters.codes().len()];
        for (row, &code) in clusters.codes().iter().enumerate() {
            rows[next[code as usize]] = row as u32;
            next[code as usize] += 1;
        }
        Self { model, reports, rows, starts: counts, nodes: gauss_hermite(NODES) }
    }

    fn evaluate(&self, at: &[f64], curvature: Option<Curvature>) -> Totals {
        let width = self.model.matrix.width();
        let deviation = at[width].exp();
        let mut totals = Totals::zero(width + 1);
        let mut cells: Vec<f64> = Vec::new();
        let mut etas: Vec<f64> = Vec::new();
        for pair in self.starts.windows(2) {
            let rows = &self.rows[pair[0]..pair[1]];
            if rows.is_empty() {
                continue;
            }
            cells.resize(rows.len() * width, 0.0);
            etas.clear();
            for (row, cells) in rows.iter().zip(cells.chunks_exact_mut(width)) {
                self.model.matrix.clear(*row as usize, cells);
                etas.push(dot(cells, &at[..width]) + self.model.matrix.offset(*row as usize));
            }
            self.add_cluster(rows, &cells, &etas, deviation, curvature, &mut totals);
        }
        totals
    }

    /// The top of a cluster's integrand, and how wide it is there.
    fn top(&self, rows: &[u32], etas: &[f64], deviation: f64) -> (f64, f64) {
        let precision = 1.0 / (deviation * deviation);
        let (mut top, mut bend) = (0.0, precision);
        for _ in 0..50 {
            let (mut slope, mut complete) = (-top * precision, precision);
            bend = precision;
            for (&row, eta) in rows.iter().zip(etas) {
                let [_, own, curved, whole] =
                    kernel(eta + top, self.reports.likelihood(row as usize));
                slope += own;
                bend += curved;
                complete += whole;
            }
            // Where the integrand is not concave, the answers' own curvature leads up as well.
            let step = slope / if bend > 0.1 * complete { bend } else { complete };
            bend = if bend > 0.1 * complete { bend } else { complete };
            top += step.clamp(-2.0, 2.0);
            if step.abs() < 1e-9 {
                break;
            }
        }
        (top, 1.0 / bend.sqrt())
    }

    fn add_cluster(
        &self,
        rows: &[u32],
        cells: &[f64],
        etas: &[f64],
        deviation: f64,
        curvature: Option<Curvature>,
        totals: &mut Totals,
    ) {
        let width = self.model.matrix.width();
        let (top, wide) = self.top(rows, etas, deviation);
        let log_scale = (SQRT_2 * wide).ln() - deviation.ln() - 0.5 * (2.0 * PI).ln();
        let place = |node: f64| top + SQRT_2 * wide * node;
        let logarithm = |&(node, weight): &(f64, f64)| {
            let v = place(node);
            let given = rows.iter().zip(etas);
            let sum: f64 = given
                .map(|(&row, eta)| kernel(eta + v, self.reports.likelihood(row as usize))[0])
                .sum();
            sum - 0.5 * (v / deviation).powi(2) + weight.ln() + node * node
        };
        let mut shares: Vec<f64> = self.nodes.iter().map(logarithm).collect();
        let largest = shares.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        shares.iter_mut().for_each(|share| *share = (*share - largest).exp());
        let sum: f64 = shares.iter().sum();
        let factors: f64 = rows.iter().map(|&row| self.reports.log_factor(row as usize)).sum();
        totals.log_likelihood += sum.ln() + largest + log_scale + factors;
        let Some(curvature) = curvature else { return };
        let louis = curvature == Curvature::Observed;
        let mut mean = vec![0.0; width + 1];
        let mut score = vec![0.0; width + 1];
        let mut bends = vec![0.0; rows.len()];
        for (&(node, _), share) in self.nodes.iter().zip(&shares) {
            let (v, share) = (place(node), share / sum);
            score.fill(0.0);
            for (at, (&row, eta)) in rows.iter().zip(etas).enumerate() {
                let [_, slope, bend, whole] =
                    kernel(eta + v, self.reports.likelihood(row as usize));
                bends[at] += share * if louis { bend } else { whole };
                let own = &cells[at * width..][..width];
                score.iter_mut().zip(own).for_each(|(sum, cell)| *sum += slope * cell);
            }
            let square = (v / deviation).powi(2);
            score[width] = square - 1.0;
            totals.information.add(width, width, share * 2.0 * square);
            if louis {
                totals.information.add_outer(&score, -share);
            }
            mean.iter_mut().zip(&score).for_each(|(mean, part)| *mean += share * part);
        }
        if louis {
            totals.information.add_outer(&mean, 1.0);
        }
        let mut own = vec![0.0; width + 1];
        for (cells, bend) in cells.chunks_exact(width).zip(&bends) {
            own[..width].copy_from_slice(cells);
            totals.information.add_outer(&own, *bend);
        }
        totals.score.iter_mut().zip(&mean).for_each(|(sum, part)| *sum += part);
    }
}

impl Objective for Clustered<'_, '_> {
    fn value(&self, at: &[f64]) -> f64 {
        if at[self.model.matrix.width()] > (2.0 * WIDEST).ln() {
            return f64::NEG_INFINITY;
        }
        self.evaluate(at, None).log_likelihood
    }

    fn totals(&self, at: &[f64], curvature: Curvature) -> Totals {
        self.evaluate(at, Some(curvature))
    }
}

impl Prepared<'_> {
    /// Fits intercepts to clusters, from the fit without them.
    pub(super) fn fit_intercepts(
        &self,
        asked: &Regression,
        model: &Model,
        plain: &Climb,
        mut scales: Vec<f64>,
        clusters: &Factor,
        sample: &Sample,
    ) -> Result<RegressionFit, Error> {
        let refuse = |problem: &str| Err(Error::unanswerable("random intercepts", problem));
        let (Family::Logistic, Outcome::Classes(reports)) = (self.family, &model.outcome) else {
            return refuse(
                "they are for logistic regressions: use clusters with robust errors instead",
            );
        };
        if !model.predictors.is_empty() {
            return refuse("a predictor is randomised: use clusters with robust errors instead");
        }
        if !sample.is_simple() {
            return refuse(
                "the sample has weights, strata or a finite population: use clusters with robust errors instead",
            );
        }
        if asked.errors.is_some_and(|errors| errors != Errors::Observed) {
            return refuse("their errors are from the observed information: ask for observed");
        }
        if clusters.codes().len() != sample.rows() {
            let (expected, found) = (sample.rows(), clusters.codes().len());
            return Err(Error::Size { what: "the clusters", expected, found });
        }
        let clustered = Clustered::new(model, reports, clusters);
        let width = model.matrix.width();
        let mut start = plain.at.clone();
        start.push(-0.5);
        scales.push(1.0);
        let all: Vec<usize> = (0..=width).collect();
        let climb = maximise(&clustered, start, &all, &scales);
        let used = clustered.starts.windows(2).filter(|pair| pair[0] < pair[1]).count();
        let shrinking = match &climb.end {
            End::Runaway(step) => {
                let others = step.iter().zip(&scales).take(width);
                step[width] < 0.0
                    && others.map(|(step, scale)| (step * scale).abs()).fold(0.0, f64::max) < 0.1
            }
            End::Converged | End::Stuck => climb.at[width] < -6.0,
        };
        let rising = climb.end == End::Stuck && climb.totals.score[width] > 0.0;
        if climb.at[width] > WIDEST.ln() || rising {
            return refuse(
                "the likelihood keeps rising with the deviation of the intercepts: as far as the reports tell, the answers of one cluster are all alike; use clusters with robust errors instead, or gather more answers of each",
            );
        }
        let mut fit;
        if shrinking {
            let Some(covariance) = inverse(&plain.totals.information, &all[..width]) else {
                return refuse("the information is singular: take terms out");
            };
            fit = self.finished(asked, sample, &plain.at, covariance, Errors::Observed);
            fit.log_likelihood = Some(plain.totals.log_likelihood);
            let (deviation, low, high) = (0.0, 0.0, f64::INFINITY);
            fit.random_intercepts =
                Some(RandomIntercepts { clusters: used, deviation, low, high, p_value: 1.0 });
            if asked.tests {
                fit.tests = self.likelihood_ratios(model, plain, &scales, 1)?;
            }
        } else {
            self.check(&climb, &scales, 1)?;
            let Some(covariance) = inverse(&climb.totals.information, &all) else {
                return refuse(
                    "the information is singular: the reports do not tell how clusters differ",
                );
            };
            let away = covariance.at(width, width).sqrt();
            fit = self.finished(asked, sample, &climb.at, covariance, Errors::Observed);
            fit.log_likelihood = Some(climb.totals.log_likelihood);
            let gained = climb.totals.log_likelihood - plain.totals.log_likelihood;
            let end = |side: f64| (climb.at[width] + side * fit.quantile * away).exp();
            // Under no difference the deviation is at the edge of what it may be: half of the law of χ² is at nought.
            let p_value = 0.5 * chi_squared_upper_tail(1.0, (2.0 * gained).max(0.0));
            let deviation = climb.at[width].exp();
            let (low, high) = (end(-1.0), end(1.0));
            fit.random_intercepts =
                Some(RandomIntercepts { clusters: used, deviation, low, high, p_value });
            if asked.tests {
                fit.tests = self.likelihood_ratios(&clustered, &climb, &scales, 1)?;
            }
        }
        fit.iterations = climb.iterations;
        fit.assumptions = self.assumptions(asked, sample);
        fit.assumptions.push(format!(
            "Each of {used} clusters has an intercept of its own, drawn from a normal law; given it, answers are independent. Coefficients and prevalences are those of a cluster with the middle intercept."
        ));
        Ok(fit)
    }
}
