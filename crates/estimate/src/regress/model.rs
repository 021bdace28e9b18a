//! The likelihood of rows whose outcome, predictors or both are hidden behind reports.
//!
//! A row's likelihood is Σ_x P(reports of x | x) P(x | z; γ) P(report of y | x, z; β), over the combinations x of the
//! randomised predictors' symbols. With s(x) the score of one combination, H(x) its second derivatives and τ(x) what the
//! reports make of it, the score is S = Σ τ s and the observed information -Σ τ (H + s sᵀ) + S Sᵀ (Louis 1982).

use super::matrix::{Combinations, ModelMatrix};
use super::newton::{Curvature, Objective, Totals};
use super::reports::Reports;
use super::rows::Rows;
use super::workspace::Workspace;
use crate::Error;
use std::f64::consts::PI;
use undertone_numeric::symmetric::Symmetric;
use undertone_numeric::vector::dot;

/// What the linear predictors explain.
#[derive(Clone, Debug)]
pub(super) enum Outcome<'a> {
    /// Nothing: the randomised predictors alone.
    Nothing,
    /// Classes, the reference first; one linear predictor for each of the others.
    Classes(Reports<'a>),
    /// Clear numbers with normal errors.
    Number(&'a [f64]),
}

/// P(x | earlier randomised predictors, z; γ): a multinomial logit.
#[derive(Clone, Debug)]
pub(super) struct PredictorModel<'a> {
    pub(super) reports: Reports<'a>,
    pub(super) matrix: ModelMatrix<'a>,
}

/// A regression with its data.
#[derive(Clone, Debug)]
pub(super) struct Model<'a> {
    pub(super) outcome: Outcome<'a>,
    pub(super) matrix: ModelMatrix<'a>,
    pub(super) predictors: Vec<PredictorModel<'a>>,
    pub(super) combinations: Combinations,
    pub(super) rows: Rows,
}

/// Rows that one thread sums before the sums are added in order: so the result does not depend on how many threads there are.
const CHUNK: usize = 1 << 14;
/// More products than these are not made in one step.
const MOST_WORK: f64 = 1e11;

impl Model<'_> {
    /// How many linear predictors the outcome has.
    pub(super) fn equations(&self) -> usize {
        match &self.outcome {
            Outcome::Nothing => 0,
            Outcome::Classes(reports) => reports.classes() - 1,
            Outcome::Number(_) => 1,
        }
    }

    /// How many parameters the outcome has.
    pub(super) fn own(&self) -> usize {
        let deviation = usize::from(matches!(self.outcome, Outcome::Number(_)));
        self.equations() * self.matrix.width() + deviation
    }

    /// Where the parameters of a predictor's model begin.
    pub(super) fn predictor_start(&self, predictor: usize) -> usize {
        let sizes = self.predictors[..predictor].iter();
        self.own()
            + sizes.map(|one| (one.reports.classes() - 1) * one.matrix.width()).sum::<usize>()
    }

    /// Refuses a model whose fit would take an hour and more: every step goes through all rows, for all pairs of parameters, for all that a
    /// row's randomised predictors may be.
    pub(super) fn check_size(&self) -> Result<(), Error> {
        let (rows, parameters) = (self.rows.len(), self.size());
        let cases = self.combinations.count();
        if rows as f64 * cases as f64 * (parameters as f64).powi(2) > MOST_WORK {
            return Err(Error::unanswerable(
                "the regression",
                format!(
                    "{parameters} coefficients, {cases} combinations of randomised predictors and {rows} different rows are too much work for one fit: merge symbols, take terms out, or put numbers into bins"
                ),
            ));
        }
        Ok(())
    }

    /// How many parameters there are.
    pub(super) fn size(&self) -> usize {
        self.predictor_start(self.predictors.len())
    }

    /// Whether the information can be averaged over all reports the designs can give.
    pub(super) fn has_expected_information(&self) -> bool {
        let listed = |reports: &Reports| !reports.has_unlisted_outputs();
        let outcome = match &self.outcome {
            Outcome::Nothing => true,
            Outcome::Classes(reports) => listed(reports),
            Outcome::Number(_) => self.predictors.is_empty(),
        };
        outcome && self.predictors.iter().all(|one| listed(&one.reports))
    }

    /// The information averaged over the reports that the designs give at these parameters, the clear columns being what they
    /// are.
    pub(super) fn expected_information(&self, at: &[f64]) -> Symmetric {
        let sum = |range: std::ops::Range<usize>| {
            let mut work = Workspace::new(self);
            let mut totals = Totals::zero(self.size());
            for index in range {
                let (row, weight) = self.rows.at(index);
                work.load(self, at, row);
                work.add_expected(self, at, row, weight, &mut totals.information);
            }
            totals
        };
        self.summed(sum).information
    }

    /// The score of one row, for every parameter.
    pub(super) fn row_score(
        &self,
        at: &[f64],
        row: usize,
        work: &mut Workspace,
        score: &mut [f64],
    ) {
        work.load(self, at, row);
        work.weigh(self, at, row);
        score.fill(0.0);
        work.add_score(self, 1.0, score);
    }

    /// Adds up chunks of rows, several at a time, in the order of the rows.
    fn summed(&self, sum: impl Fn(std::ops::Range<usize>) -> Totals + Sync) -> Totals {
        let count = self.rows.len();
        let chunks = count.div_ceil(CHUNK);
        if chunks < 2 {
            return sum(0..count);
        }
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(chunks);
        let range = |chunk: usize| chunk * CHUNK..count.min((chunk + 1) * CHUNK);
        let work = |thread: usize| -> Vec<(usize, Totals)> {
            (thread..chunks).step_by(threads).map(|chunk| (chunk, sum(range(chunk)))).collect()
        };
        let mut parts: Vec<(usize, Totals)> = std::thread::scope(|scope| {
            let work = &work;
            let running: Vec<_> =
                (0..threads).map(|thread| scope.spawn(move || work(thread))).collect();
            running.into_iter().flat_map(|one| one.join().unwrap_or_default()).collect()
        });
        parts.sort_by_key(|(chunk, _)| *chunk);
        let mut all = Totals::zero(self.size());
        for (_, part) in &parts {
            all.log_likelihood += part.log_likelihood;
            all.score.iter_mut().zip(&part.score).for_each(|(sum, part)| *sum += part);
            all.information.add_scaled(&part.information, 1.0);
        }
        if parts.len() < chunks {
            all.log_likelihood = f64::NAN;
        }
        all
    }

    /// One binary outcome and no hidden predictors: the loop most regressions spend their time in.
    fn binary_totals(
        &self,
        reports: &Reports,
        at: &[f64],
        range: std::ops::Range<usize>,
        curvature: Option<Curvature>,
    ) -> Totals {
        let width = self.matrix.width();
        let mut cells = vec![0.0; width];
        let mut score = vec![0.0; width];
        let mut triangle = vec![0.0; width * (width + 1) / 2];
        let mut log_likelihood = 0.0;
        for index in range {
            let (row, weight) = self.rows.at(index);
            self.matrix.clear(row, &mut cells);
            let eta = dot(&cells, at) + self.matrix.offset(row);
            let [no, yes] = logistic(eta);
            let given = reports.likelihood(row);
            let law = no * given[0] + yes * given[1];
            log_likelihood += weight * (law.ln() + reports.log_factor(row));
            let Some(curvature) = curvature else { continue };
            let posterior = yes * given[1] / law;
            let slope = weight * (posterior - yes);
            let bend = match curvature {
                Curvature::Observed => no * yes - posterior * (no * given[0] / law),
                Curvature::Complete => no * yes,
            } * weight;
            let mut place = 0;
            for (i, &cell) in cells.iter().enumerate() {
                score[i] += slope * cell;
                let scaled = bend * cell;
                for (sum, other) in triangle[place..=place + i].iter_mut().zip(&cells) {
                    *sum += scaled * other;
                }
                place += i + 1;
            }
        }
        let mut information = Symmetric::zero(width);
        let mut place = 0;
        for i in 0..width {
            for j in 0..=i {
                information.add(i, j, triangle[place]);
                if i != j {
                    information.add(j, i, triangle[place]);
                }
                place += 1;
            }
        }
        Totals { log_likelihood, score, information }
    }

    fn evaluate(&self, at: &[f64], curvature: Option<Curvature>) -> Totals {
        if let (Outcome::Classes(reports), true) = (&self.outcome, self.predictors.is_empty())
            && reports.classes() == 2
        {
            return self.summed(|range| self.binary_totals(reports, at, range, curvature));
        }
        self.summed(|range| {
            let mut work = Workspace::new(self);
            let mut totals = Totals::zero(self.size());
            for index in range {
                let (row, weight) = self.rows.at(index);
                work.load(self, at, row);
                totals.log_likelihood += weight * work.weigh(self, at, row);
                if let Some(curvature) = curvature {
                    work.add_score(self, weight, &mut totals.score);
                    work.add_information(self, at, weight, curvature, &mut totals.information);
                }
            }
            totals
        })
    }
}

impl Objective for Model<'_> {
    fn value(&self, at: &[f64]) -> f64 {
        self.evaluate(at, None).log_likelihood
    }

    fn totals(&self, at: &[f64], curvature: Curvature) -> Totals {
        self.evaluate(at, Some(curvature))
    }
}

/// The probabilities of no and yes at a linear predictor, each accurate where it is small.
pub(super) fn logistic(eta: f64) -> [f64; 2] {
    let small = (-eta.abs()).exp();
    let (near, far) = (1.0 / (1.0 + small), small / (1.0 + small));
    if eta > 0.0 { [far, near] } else { [near, far] }
}

/// The logarithm of the normal density with this mean and logarithm of the standard deviation.
pub(super) fn log_normal_density(number: f64, mean: f64, log_deviation: f64) -> f64 {
    let away = (number - mean) * (-log_deviation).exp();
    -0.5 * (2.0 * PI).ln() - log_deviation - 0.5 * away * away
}
