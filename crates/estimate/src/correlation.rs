//! Correlations between columns of numbers, randomised or clear.
//!
//! Every report of a number x has a value g with E[g | x] = x and a value h with E[h | x] = x². Since columns are randomised
//! independently, means of g, of h and of products g g' estimate the moments of the true numbers without bias, and the
//! correlation is put together from them. Its error is linearised, its interval symmetric in artanh r.

use crate::evidence::Inverse;
use crate::regress::Variable;
use crate::{Error, Sample};
use undertone_numeric::student::student_quantile;
use undertone_numeric::vector::dot;

/// The correlation of two columns with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Correlation {
    /// The correlation, from -1 to 1.
    pub value: f64,
    /// Its standard error.
    pub standard_error: f64,
    /// The lower end of its interval.
    pub low: f64,
    /// The upper end of its interval.
    pub high: f64,
    /// Whether the moments gave a value beyond -1 or 1, which few reports can.
    pub beyond: bool,
}

/// One column's values: g and h of every code, and every row's code; or its numbers.
enum Scores<'a> {
    Numbers(&'a [f64]),
    Codes { codes: &'a [u32], first: Vec<f64>, second: Vec<f64> },
}

impl<'a> Scores<'a> {
    fn new(name: &str, variable: &'a Variable) -> Result<Self, Error> {
        let refuse = |problem: String| Err(Error::unanswerable("the correlation", problem));
        let (evidence, values) = match variable {
            Variable::Number(numbers) => return Ok(Self::Numbers(numbers)),
            Variable::Randomised { evidence, values: Some(values) } => (evidence, values.clone()),
            Variable::Randomised { evidence, values: None } if evidence.symbols() == 2 => {
                (evidence, vec![0.0, 1.0])
            }
            Variable::Randomised { .. } | Variable::Category(_) => {
                return refuse(format!(
                    "{name} has categories without numbers: correlate columns of numbers or of two symbols"
                ));
            }
        };
        let squares: Vec<f64> = values.iter().map(|value| value * value).collect();
        let mut inverses = Vec::new();
        for design in evidence.designs() {
            let inverse = Inverse::new(design)?;
            if inverse.determined().contains(&false) {
                return refuse(format!(
                    "the reports of {name} do not determine its shares: the design's channel is singular"
                ));
            }
            inverses.push(inverse);
        }
        let (mut first, mut second) = (Vec::new(), Vec::new());
        for code in 0..evidence.distinct() as u32 {
            let reading = evidence.reading(code);
            let scores = inverses[reading.design as usize].scores(reading);
            first.push(dot(&scores, &values));
            second.push(dot(&scores, &squares));
        }
        Ok(Self::Codes { codes: evidence.codes(), first, second })
    }

    fn at(&self, row: usize) -> (f64, f64) {
        match self {
            Self::Numbers(numbers) => (numbers[row], numbers[row] * numbers[row]),
            Self::Codes { codes, first, second } => {
                let code = codes[row] as usize;
                (first[code], second[code])
            }
        }
    }
}

impl Correlation {
    /// The correlation of two columns, at a confidence such as 0.95. Names are for messages.
    pub fn new(
        (name, one): (&str, &Variable),
        (other_name, other): (&str, &Variable),
        sample: &Sample,
        confidence: f64,
    ) -> Result<Self, Error> {
        if !(confidence > 0.0 && confidence < 1.0) {
            let range = "above 0 and below 1";
            return Err(Error::Range { what: "confidence", value: confidence, range });
        }
        let (a, b) = (Scores::new(name, one)?, Scores::new(other_name, other)?);
        let total = sample.total_weight();
        let mut sums = [0.0; 5];
        for row in 0..sample.rows() {
            let ((a, a2), (b, b2)) = (a.at(row), b.at(row));
            let weight = sample.weight(row) / total;
            for (sum, part) in sums.iter_mut().zip([a, b, a2, b2, a * b]) {
                *sum += weight * part;
            }
        }
        let [mean_a, mean_b, square_a, square_b, product] = sums;
        let (spread_a, spread_b) = (square_a - mean_a * mean_a, square_b - mean_b * mean_b);
        for (name, spread) in [(name, spread_a), (other_name, spread_b)] {
            if !(spread > 0.0) {
                return Err(Error::unanswerable(
                    "the correlation",
                    format!(
                        "the reports show no spread of {name}: gather more rows, or leave it out"
                    ),
                ));
            }
        }
        let scale = (spread_a * spread_b).sqrt();
        let value = (product - mean_a * mean_b) / scale;
        let influence = |row: usize, out: &mut [f64]| {
            let ((a, a2), (b, b2)) = (a.at(row), b.at(row));
            let (from_a, from_b) = (a - mean_a, b - mean_b);
            let together = a * b - product - mean_a * from_b - mean_b * from_a;
            let own = (a2 - square_a - 2.0 * mean_a * from_a) / spread_a;
            let others = (b2 - square_b - 2.0 * mean_b * from_b) / spread_b;
            out[0] = (together / scale - 0.5 * value * (own + others)) / total;
        };
        let variance = sample.covariance_of_total(1, influence)?.at(0, 0);
        let standard_error = variance.max(0.0).sqrt();
        let quantile = student_quantile(sample.degrees_of_freedom(), (1.0 - confidence) / 2.0);
        let beyond = value.abs() >= 1.0;
        let (low, high) = if beyond {
            (
                (value - quantile * standard_error).clamp(-1.0, 1.0),
                (value + quantile * standard_error).clamp(-1.0, 1.0),
            )
        } else {
            let (center, away) = (value.atanh(), quantile * standard_error / (1.0 - value * value));
            ((center - away).tanh(), (center + away).tanh())
        };
        Ok(Self { value: value.clamp(-1.0, 1.0), standard_error, low, high, beyond })
    }
}
