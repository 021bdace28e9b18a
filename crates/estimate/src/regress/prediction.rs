//! What a regression expects at given covariates.

use super::coding::Atom;
use super::{Family, RegressionFit};
use crate::Error;
use undertone_numeric::vector::dot;

/// A prevalence or a mean at given covariates, with its interval.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    /// The symbol whose prevalence it is; none for the mean of a number.
    pub symbol: Option<String>,
    /// The prevalence or the mean.
    pub value: f64,
    /// Its standard error.
    pub standard_error: f64,
    /// The lower end of its interval.
    pub low: f64,
    /// The upper end of its interval.
    pub high: f64,
}

impl RegressionFit {
    /// The prevalence of every symbol, or the mean, for somebody with these values of all columns of the formula's right-hand
    /// side. Intervals of prevalences are symmetric in the logarithm of the odds, so they stay between 0 and 1.
    pub fn predict(&self, at: &[(&str, &str)]) -> Result<Vec<Prediction>, Error> {
        let cells = self.cells(at)?;
        let mut offset = 0.0;
        for name in &self.coding.offsets {
            offset += number(name, given(at, name)?)?;
        }
        let width = cells.len();
        let coefficients: Vec<f64> = self.coefficients.iter().map(|one| one.estimate).collect();
        let equations = coefficients.len() / width;
        let eta: Vec<f64> =
            coefficients.chunks_exact(width).map(|own| dot(own, &cells) + offset).collect();
        // The error of Σ gradient(equation) eta(equation).
        let error = |gradient: &[f64]| {
            let mut variance = 0.0;
            for i in 0..equations * width {
                for j in 0..equations * width {
                    let own = gradient[i / width] * cells[i % width];
                    let other = gradient[j / width] * cells[j % width];
                    variance += own * other * self.covariance.at(i, j);
                }
            }
            variance.max(0.0).sqrt()
        };
        if self.family == Family::Linear {
            let (value, standard_error) = (eta[0], error(&[1.0]));
            let away = self.quantile * standard_error;
            return Ok(vec![Prediction {
                symbol: None,
                value,
                standard_error,
                low: value - away,
                high: value + away,
            }]);
        }
        let top = eta.iter().copied().fold(0.0, f64::max);
        let masses: Vec<f64> = [0.0].iter().chain(&eta).map(|eta| (eta - top).exp()).collect();
        let total: f64 = masses.iter().sum();
        let law: Vec<f64> = masses.iter().map(|mass| mass / total).collect();
        // A logistic regression has one symbol, the second class.
        let skipped = law.len() - self.symbols.len();
        let one = |(symbol, class): (&String, usize)| {
            let p = law[class];
            let slope = |equation: usize| {
                p * (f64::from(u8::from(equation + 1 == class)) - law[equation + 1])
            };
            let gradient: Vec<f64> = (0..equations).map(slope).collect();
            let standard_error = error(&gradient);
            let (odds, spread) = ((p / (1.0 - p)).ln(), p * (1.0 - p));
            let away = if spread > 0.0 { self.quantile * standard_error / spread } else { 0.0 };
            let share = |log_odds: f64| 1.0 / (1.0 + (-log_odds).exp());
            Prediction {
                symbol: Some(symbol.clone()),
                value: p,
                standard_error,
                low: share(odds - away),
                high: share(odds + away),
            }
        };
        Ok(self.symbols.iter().zip(skipped..).map(one).collect())
    }

    /// The row of the model matrix.
    fn cells(&self, at: &[(&str, &str)]) -> Result<Vec<f64>, Error> {
        let known = |name: &str| {
            let atoms = self.coding.columns.iter().flat_map(|column| &column.atoms);
            let mut names = atoms.map(|(Atom::Number(name) | Atom::Level(name, _))| name);
            names.any(|own| own == name) || self.coding.offsets.iter().any(|own| own == name)
        };
        if let Some((name, _)) = at.iter().find(|(name, _)| !known(name)) {
            return refuse(format!(
                "{name} is not a column of the formula's right-hand side: leave it out"
            ));
        }
        let atom = |atom: &Atom| -> Result<f64, Error> {
            match atom {
                Atom::Number(name) => number(name, given(at, name)?),
                Atom::Level(name, level) => {
                    let own = self.level(name, given(at, name)?)?;
                    Ok(f64::from(u8::from(own == *level as usize)))
                }
            }
        };
        let columns = self.coding.columns.iter();
        columns.map(|column| column.atoms.iter().map(atom).product()).collect()
    }

    /// The place of a category, by its name or, for numbers, by its value.
    fn level(&self, name: &str, value: &str) -> Result<usize, Error> {
        let levels = self.levels.of_column(name).unwrap_or_default();
        let number = value.parse::<f64>().ok();
        let same = |level: &String| {
            level == value || (number.is_some() && level.parse::<f64>().ok() == number)
        };
        levels.iter().position(same).ok_or_else(|| {
            let listed = levels.iter().take(8).map(String::as_str).collect::<Vec<_>>().join(", ");
            Error::unanswerable(
                "the prediction",
                format!("{name} has no category {value}: it has {listed}"),
            )
        })
    }
}

fn given<'v>(at: &[(&str, &'v str)], name: &str) -> Result<&'v str, Error> {
    match at.iter().find(|(known, _)| *known == name) {
        Some((_, value)) => Ok(value),
        None => refuse(format!("a value of {name} is missing: give one, as in {name}=1")),
    }
}

fn number(name: &str, text: &str) -> Result<f64, Error> {
    match text.trim().parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(number),
        _ => refuse(format!("{name} is {text:?}: give a number")),
    }
}

fn refuse<T>(problem: String) -> Result<T, Error> {
    Err(Error::unanswerable("the prediction", problem))
}
