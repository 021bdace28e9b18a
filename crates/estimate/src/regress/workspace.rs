//! One row of a likelihood, for every combination of the hidden predictors: memory that is made once and used for all rows.

use super::model::{Model, Outcome, log_normal_density};
use super::newton::Curvature;
use undertone_numeric::symmetric::Symmetric;
use undertone_numeric::vector::dot;

/// What is known of a row at given parameters.
#[derive(Clone, Debug)]
pub(super) struct Workspace {
    /// How many combinations there are.
    combinations: usize,
    clear: Vec<f64>,
    /// Combination after combination, the outcome's row of the model matrix.
    cells: Vec<f64>,
    /// Combination after combination, the probability of every class, or the mean.
    laws: Vec<f64>,
    predictors: Vec<PredictorWork>,
    /// The probability of every combination given the clear columns.
    masses: Vec<f64>,
    /// What the reports make of every combination.
    posterior: Vec<f64>,
    /// Combination after combination, the derivative of the log-likelihood by every linear predictor, and by the logarithm of
    /// the standard deviation.
    slopes: Vec<f64>,
    /// The whole score of one combination, and the average of all.
    whole: Vec<f64>,
    mean: Vec<f64>,
    /// Second derivatives by the linear predictors.
    bends: Vec<f64>,
    given: Vec<f64>,
}

/// What is known of one randomised predictor.
#[derive(Clone, Debug)]
struct PredictorWork {
    clear: Vec<f64>,
    cells: Vec<f64>,
    laws: Vec<f64>,
}

impl Workspace {
    pub(super) fn new(model: &Model) -> Self {
        let combinations = model.combinations.count();
        let width = model.matrix.width();
        let of_law = match &model.outcome {
            Outcome::Nothing => 0,
            Outcome::Classes(reports) => reports.classes(),
            Outcome::Number(_) => 1,
        };
        // The standard deviation has a slope as well.
        let slopes = model.equations() + 1;
        let work = |one: &super::model::PredictorModel| PredictorWork {
            clear: vec![0.0; one.matrix.width()],
            cells: vec![0.0; one.matrix.width() * combinations],
            laws: vec![0.0; one.reports.classes() * combinations],
        };
        let most = model.predictors.iter().map(|one| one.reports.classes()).max().unwrap_or(0);
        let side = slopes.max(most);
        Self {
            combinations,
            clear: vec![0.0; width],
            cells: vec![0.0; width * combinations],
            laws: vec![0.0; of_law * combinations],
            predictors: model.predictors.iter().map(work).collect(),
            masses: vec![1.0; combinations],
            posterior: vec![1.0; combinations],
            slopes: vec![0.0; slopes * combinations],
            whole: vec![0.0; model.size()],
            mean: vec![0.0; model.size()],
            bends: vec![0.0; side * side],
            given: Vec::new(),
        }
    }

    /// Works out a row's laws for every combination: all that does not depend on its reports.
    pub(super) fn load(&mut self, model: &Model, at: &[f64], row: usize) {
        let (width, equations) = (model.matrix.width(), model.equations());
        model.matrix.clear(row, &mut self.clear);
        let offset = model.matrix.offset(row);
        for combination in 0..self.combinations {
            let cells = &mut self.cells[combination * width..][..width];
            model.matrix.combine(combination, &self.clear, cells);
            let eta = |equation: usize| dot(cells, &at[equation * width..][..width]) + offset;
            match &model.outcome {
                Outcome::Nothing => {}
                Outcome::Number(_) => self.laws[combination] = eta(0),
                Outcome::Classes(_) => {
                    let law = &mut self.laws[combination * (equations + 1)..][..equations + 1];
                    (0..equations).for_each(|equation| law[equation + 1] = eta(equation));
                    law[0] = 0.0;
                    softmax(law);
                }
            }
        }
        self.masses.fill(1.0);
        for (place, (one, work)) in model.predictors.iter().zip(&mut self.predictors).enumerate() {
            let (width, classes) = (one.matrix.width(), one.reports.classes());
            let at = &at[model.predictor_start(place)..];
            one.matrix.clear(row, &mut work.clear);
            for combination in 0..self.combinations {
                let cells = &mut work.cells[combination * width..][..width];
                one.matrix.combine(combination, &work.clear, cells);
                let law = &mut work.laws[combination * classes..][..classes];
                law[0] = 0.0;
                for class in 1..classes {
                    law[class] = dot(cells, &at[(class - 1) * width..][..width]);
                }
                softmax(law);
                self.masses[combination] *= law[model.combinations.symbol(combination, place)];
            }
        }
    }

    /// Takes the row's own reports into account; the row's log-likelihood.
    pub(super) fn weigh(&mut self, model: &Model, at: &[f64], row: usize) -> f64 {
        self.posterior.copy_from_slice(&self.masses);
        let mut factor = 0.0;
        for (place, one) in model.predictors.iter().enumerate() {
            let given = one.reports.likelihood(row);
            for (combination, weight) in self.posterior.iter_mut().enumerate() {
                *weight *= given[model.combinations.symbol(combination, place)];
            }
            factor += one.reports.log_factor(row);
        }
        match &model.outcome {
            Outcome::Nothing => {}
            Outcome::Classes(reports) => {
                self.given.clear();
                self.given.extend_from_slice(reports.likelihood(row));
                self.weigh_classes(model.equations());
                factor += reports.log_factor(row);
            }
            Outcome::Number(numbers) => {
                let log_deviation = at[model.matrix.width()];
                factor += self.weigh_number(numbers[row], log_deviation);
            }
        }
        self.normalise() + factor
    }

    /// Multiplies every combination's weight by the probability of the outcome's report, and works out its slopes.
    fn weigh_classes(&mut self, equations: usize) {
        let laws = self.laws.chunks_exact(equations + 1);
        let slopes = self.slopes.chunks_exact_mut(equations + 1);
        for ((law, slopes), weight) in laws.zip(slopes).zip(&mut self.posterior) {
            let whole = dot(law, &self.given);
            *weight *= whole;
            for (class, (p, given)) in law.iter().zip(&self.given).enumerate() {
                // The last slope is the standard deviation's, which classes have none of: it holds the reference's.
                let place = if class == 0 { equations } else { class - 1 };
                slopes[place] = if whole > 0.0 { p * given / whole - p } else { 0.0 };
            }
        }
    }

    /// Multiplies every combination's weight by the density of the outcome, scaled; the logarithm of the scale.
    fn weigh_number(&mut self, number: f64, log_deviation: f64) -> f64 {
        let density = |mean: f64| log_normal_density(number, mean, log_deviation);
        let top = self.laws.iter().map(|&mean| density(mean)).fold(f64::NEG_INFINITY, f64::max);
        let precision = (-log_deviation).exp();
        for (combination, &mean) in self.laws.iter().enumerate() {
            self.posterior[combination] *= (density(mean) - top).exp();
            let away = (number - mean) * precision;
            self.slopes[2 * combination] = away * precision;
            self.slopes[2 * combination + 1] = away * away - 1.0;
        }
        top
    }

    /// Makes probabilities of the combinations' weights; the logarithm of their sum.
    fn normalise(&mut self) -> f64 {
        let sum: f64 = self.posterior.iter().sum();
        self.posterior.iter_mut().for_each(|weight| *weight /= sum);
        sum.ln()
    }

    /// Writes the score of one combination.
    fn of_combination(&mut self, model: &Model, combination: usize) {
        let (width, equations) = (model.matrix.width(), model.equations());
        let slopes = &self.slopes[combination * (equations + 1)..][..equations + 1];
        let cells = &self.cells[combination * width..][..width];
        for (equation, slope) in slopes[..equations].iter().enumerate() {
            let part = &mut self.whole[equation * width..][..width];
            part.iter_mut().zip(cells).for_each(|(part, cell)| *part = slope * cell);
        }
        if matches!(model.outcome, Outcome::Number(_)) {
            self.whole[width] = slopes[1];
        }
        for (place, (one, work)) in model.predictors.iter().zip(&self.predictors).enumerate() {
            let (width, classes) = (one.matrix.width(), one.reports.classes());
            let symbol = model.combinations.symbol(combination, place);
            let start = model.predictor_start(place);
            let law = &work.laws[combination * classes..][..classes];
            let cells = &work.cells[combination * width..][..width];
            for (class, p) in law.iter().enumerate().skip(1) {
                let slope = f64::from(u8::from(class == symbol)) - p;
                let part = &mut self.whole[start + (class - 1) * width..][..width];
                part.iter_mut().zip(cells).for_each(|(part, cell)| *part = slope * cell);
            }
        }
    }

    /// Adds the row's score, after [`Workspace::weigh`].
    pub(super) fn add_score(&mut self, model: &Model, weight: f64, score: &mut [f64]) {
        self.average(model);
        score.iter_mut().zip(&self.mean).for_each(|(sum, part)| *sum += weight * part);
    }

    fn average(&mut self, model: &Model) {
        self.mean.fill(0.0);
        for combination in 0..self.combinations {
            let weight = self.posterior[combination];
            if weight > 0.0 {
                self.of_combination(model, combination);
                self.mean
                    .iter_mut()
                    .zip(&self.whole)
                    .for_each(|(mean, part)| *mean += weight * part);
            }
        }
    }

    /// Adds the row's information, after [`Workspace::add_score`].
    pub(super) fn add_information(
        &mut self,
        model: &Model,
        at: &[f64],
        weight: f64,
        curvature: Curvature,
        information: &mut Symmetric,
    ) {
        let (width, equations) = (model.matrix.width(), model.equations());
        let louis = curvature == Curvature::Observed && self.combinations > 1;
        for combination in 0..self.combinations {
            let share = weight * self.posterior[combination];
            if !(share > 0.0) {
                continue;
            }
            let cells = &self.cells[combination * width..][..width];
            match &model.outcome {
                Outcome::Nothing => {}
                Outcome::Classes(_) => {
                    let law = &self.laws[combination * (equations + 1)..][..equations + 1];
                    let slopes = &self.slopes[combination * (equations + 1)..];
                    for i in 0..equations {
                        for j in 0..equations {
                            let hidden = |of: usize| match curvature {
                                Curvature::Observed => law[of + 1] + slopes[of],
                                Curvature::Complete => 0.0,
                            };
                            let own = if i == j { law[i + 1] - hidden(i) } else { 0.0 };
                            self.bends[i * equations + j] =
                                own - law[i + 1] * law[j + 1] + hidden(i) * hidden(j);
                        }
                    }
                    add_block(information, 0, cells, &self.bends, equations, share);
                }
                Outcome::Number(_) => {
                    let precision = (-at[width]).exp();
                    let [slope, deviation] =
                        [self.slopes[2 * combination], self.slopes[2 * combination + 1]];
                    let (cross, own) = match curvature {
                        Curvature::Observed => (2.0 * slope, 2.0 * (deviation + 1.0)),
                        Curvature::Complete => (0.0, 2.0),
                    };
                    add_block(information, 0, cells, &[precision * precision], 1, share);
                    for (i, cell) in cells.iter().enumerate() {
                        information.add(i, width, share * cross * cell);
                        information.add(width, i, share * cross * cell);
                    }
                    information.add(width, width, share * own);
                }
            }
            for (place, (one, work)) in model.predictors.iter().zip(&self.predictors).enumerate() {
                let (width, classes) = (one.matrix.width(), one.reports.classes());
                let law = &work.laws[combination * classes..][..classes];
                for i in 1..classes {
                    for j in 1..classes {
                        let own = if i == j { law[i] } else { 0.0 };
                        self.bends[(i - 1) * (classes - 1) + j - 1] = own - law[i] * law[j];
                    }
                }
                let cells = &work.cells[combination * width..][..width];
                let start = model.predictor_start(place);
                add_block(information, start, cells, &self.bends, classes - 1, share);
            }
            if louis {
                self.of_combination(model, combination);
                information.add_outer(&self.whole, -share);
            }
        }
        if louis {
            information.add_outer(&self.mean, weight);
        }
    }

    /// Adds the average, over all reports the row could have had, of the square of its score, after [`Workspace::load`].
    pub(super) fn add_expected(
        &mut self,
        model: &Model,
        at: &[f64],
        row: usize,
        weight: f64,
        information: &mut Symmetric,
    ) {
        if let Outcome::Number(_) = model.outcome {
            // Without hidden predictors a number's information does not depend on it.
            self.posterior.fill(1.0);
            self.slopes.fill(0.0);
            self.add_information(model, at, weight, Curvature::Complete, information);
            return;
        }
        self.for_every_report(model, row, |work, _, _, probability| {
            information.add_outer(&work.mean, weight * probability);
        });
    }

    /// Adds the covariance of the row's score that comes from the perturbation of its answers alone, averaged over what they may be,
    /// after [`Workspace::load`].
    pub(super) fn add_perturbation(
        &mut self,
        model: &Model,
        row: usize,
        weight: f64,
        information: &mut Symmetric,
    ) {
        let size = self.mean.len();
        let classes = model.equations() + 1;
        if matches!(model.outcome, Outcome::Number(_)) {
            return;
        }
        // Given the true answers, the mean of the score.
        let mut means = vec![0.0; self.combinations * classes * size];
        self.for_every_report(model, row, |work, of_predictors, of_outcome, probability| {
            information.add_outer(&work.mean, weight * probability);
            for (combination, given) in of_predictors.iter().enumerate() {
                for (class, own) in of_outcome.iter().enumerate() {
                    let place = (combination * classes + class) * size;
                    let sum = means[place..place + size].iter_mut();
                    sum.zip(&work.mean).for_each(|(sum, score)| *sum += given * own * score);
                }
            }
        });
        for (at, mean) in means.chunks_exact(size).enumerate() {
            let (combination, class) = (at / classes, at % classes);
            let law = if classes > 1 { self.laws[combination * classes + class] } else { 1.0 };
            information.add_outer(mean, -weight * self.masses[combination] * law);
        }
    }

    /// Visits every report the row could have had, with its average score, its probability given every combination of the
    /// predictors, given every class of the outcome, and its probability.
    fn for_every_report(
        &mut self,
        model: &Model,
        row: usize,
        mut visit: impl FnMut(&Self, &[f64], &[f64], f64),
    ) {
        let outputs =
            |reports: &super::reports::Reports| reports.outputs(row).len() / reports.classes();
        let sizes: Vec<usize> = model.predictors.iter().map(|one| outputs(&one.reports)).collect();
        let (outcomes, classes) = match &model.outcome {
            Outcome::Classes(reports) => (reports.outputs(row), reports.classes()),
            Outcome::Nothing | Outcome::Number(_) => (&[1.0][..], 1),
        };
        let mut of_predictors = vec![1.0; self.combinations];
        for reports in 0..sizes.iter().product::<usize>() {
            let mut rest = reports;
            of_predictors.fill(1.0);
            for (place, (one, size)) in model.predictors.iter().zip(&sizes).enumerate() {
                let classes = one.reports.classes();
                let given = &one.reports.outputs(row)[rest % size * classes..][..classes];
                for (combination, weight) in of_predictors.iter_mut().enumerate() {
                    *weight *= given[model.combinations.symbol(combination, place)];
                }
                rest /= size;
            }
            for given in outcomes.chunks_exact(classes) {
                let weights = self.posterior.iter_mut().zip(&self.masses).zip(&of_predictors);
                weights.for_each(|((weight, mass), given)| *weight = mass * given);
                if matches!(model.outcome, Outcome::Classes(_)) {
                    self.given.clear();
                    self.given.extend_from_slice(given);
                    self.weigh_classes(model.equations());
                }
                let probability = self.normalise().exp();
                if probability > 0.0 {
                    self.average(model);
                    visit(self, &of_predictors, given, probability);
                }
            }
        }
    }

    /// What the reports make of every combination, after [`Workspace::weigh`].
    pub(super) fn posterior(&self) -> &[f64] {
        &self.posterior
    }

    /// The outcome's row of the model matrix for one combination.
    pub(super) fn cells(&self, combination: usize) -> &[f64] {
        let width = self.clear.len();
        &self.cells[combination * width..][..width]
    }

    /// The score of one combination, after [`Workspace::weigh`].
    pub(super) fn score_of(&mut self, model: &Model, combination: usize) -> &[f64] {
        self.of_combination(model, combination);
        &self.whole
    }
}

/// Adds `share` times the product of bends between equations and of the row with itself.
fn add_block(
    information: &mut Symmetric,
    start: usize,
    cells: &[f64],
    bends: &[f64],
    equations: usize,
    share: f64,
) {
    let width = cells.len();
    for i in 0..equations {
        for j in 0..equations {
            let bend = share * bends[i * equations + j];
            for (a, cell) in cells.iter().enumerate().filter(|(_, cell)| **cell != 0.0) {
                for (b, other) in cells.iter().enumerate() {
                    information.add(
                        start + i * width + a,
                        start + j * width + b,
                        bend * cell * other,
                    );
                }
            }
        }
    }
}

/// Makes probabilities of logarithms, in place.
fn softmax(logarithms: &mut [f64]) {
    let top = logarithms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    logarithms.iter_mut().for_each(|logarithm| *logarithm = (*logarithm - top).exp());
    let sum: f64 = logarithms.iter().sum();
    logarithms.iter_mut().for_each(|p| *p /= sum);
}
