//! What a channel is good for.

use std::borrow::Cow;

use crate::measure::mutual_information;
use crate::{Channel, Distribution, Error};

/// A goal of design, with the numbers it needs: values and losses in the order of the prior's symbols.
#[derive(Debug, Clone, PartialEq)]
pub enum Objective {
    /// The probability that the released symbol is not the input.
    Hamming,
    /// Mean |v(X) - v(Y)|, outputs read as inputs.
    Absolute(Vec<f64>),
    /// Mean (v(X) - v(Y))², outputs read as inputs.
    Squared(Vec<f64>),
    /// Mean D(X,Y) for any matrix, one row per input, one column per output.
    Matrix(Vec<Vec<f64>>),
    /// Mean squared error of the best estimate of v(X) from the output.
    Mmse(Vec<f64>),
    /// I(X;Y), to be made large.
    MutualInformation,
    /// I(X;Y)/H(X), to be made large.
    NormalisedMutualInformation,
    /// Trace of the inverse Fisher information of the population's frequencies, at the prior: the
    /// sum over symbols of n times the variance of an efficient estimate of its share.
    Frequency,
}

impl Objective {
    /// The name on the command line.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Hamming => "hamming",
            Self::Absolute(_) => "absolute",
            Self::Squared(_) => "squared",
            Self::Matrix(_) => "matrix",
            Self::Mmse(_) => "mmse",
            Self::MutualInformation => "mi",
            Self::NormalisedMutualInformation => "nmi",
            Self::Frequency => "frequency",
        }
    }

    /// Whether more is better.
    pub fn is_gain(&self) -> bool {
        matches!(self, Self::MutualInformation | Self::NormalisedMutualInformation)
    }

    /// Whether it is about how far numbers are apart.
    pub fn is_about_numbers(&self) -> bool {
        matches!(self, Self::Absolute(_) | Self::Squared(_) | Self::Mmse(_))
    }

    /// Whether it is an expected loss, linear in the channel.
    pub fn is_linear(&self) -> bool {
        match self {
            Self::Hamming | Self::Absolute(_) | Self::Squared(_) | Self::Matrix(_) => true,
            Self::Mmse(_)
            | Self::MutualInformation
            | Self::NormalisedMutualInformation
            | Self::Frequency => false,
        }
    }

    /// Refuses values and losses that do not fit so many symbols.
    pub fn check(&self, symbols: usize) -> Result<(), Error> {
        match self {
            Self::Absolute(values) | Self::Squared(values) | Self::Mmse(values) => {
                check_values(values, symbols)
            }
            Self::Matrix(losses) => check_losses(losses, symbols),
            Self::Hamming
            | Self::MutualInformation
            | Self::NormalisedMutualInformation
            | Self::Frequency => Ok(()),
        }
    }

    /// The loss of releasing y for x, for objectives linear in the channel; `None` for the others. A table with a
    /// cell for every pair: not for large alphabets.
    pub fn losses(&self, symbols: usize) -> Result<Option<Vec<Vec<f64>>>, Error> {
        let distances = |values: &[f64], loss: fn(f64) -> f64| {
            check_values(values, symbols)?;
            let row = |&a: &f64| values.iter().map(|&b| loss(a - b)).collect();
            Ok(Some(values.iter().map(row).collect()))
        };
        match self {
            Self::Hamming => {
                let row = |x: usize| (0..symbols).map(|y| f64::from(u8::from(x != y))).collect();
                Ok(Some((0..symbols).map(row).collect()))
            }
            Self::Absolute(values) => distances(values, f64::abs),
            Self::Squared(values) => distances(values, |d| d * d),
            Self::Matrix(losses) => {
                check_losses(losses, symbols)?;
                Ok(Some(losses.clone()))
            }
            Self::Mmse(_)
            | Self::MutualInformation
            | Self::NormalisedMutualInformation
            | Self::Frequency => Ok(None),
        }
    }

    /// What `channel` achieves under `prior`. For linear objectives the channel's outputs are read as
    /// the loss matrix's columns, so there must not be more of them.
    pub fn value(&self, prior: &Distribution, channel: &Channel) -> Result<f64, Error> {
        let channel = &*channel.under(prior)?;
        if let Some(losses) = self.losses(prior.len())? {
            let read = match self {
                Self::Matrix(_) => Cow::Borrowed(channel),
                _ => read_as_inputs(prior, channel)?,
            };
            return expected(prior, &read, &losses);
        }
        match self {
            Self::Mmse(values) => mmse(prior, channel, values),
            Self::NormalisedMutualInformation => {
                let entropy = prior.entropy();
                if !(entropy > 0.0) {
                    return Err(Error::other(
                        "prior",
                        "has no entropy, so nmi is undefined; use mi",
                    ));
                }
                Ok(mutual_information::leakage(prior, channel)? / entropy)
            }
            Self::Frequency => frequency(prior, channel),
            _ => mutual_information::leakage(prior, channel),
        }
    }

    /// What is achieved without looking at the data: the best constant output, or no information. Takes no table
    /// of losses unless one was given.
    pub fn blind(&self, prior: &Distribution) -> Result<f64, Error> {
        self.check(prior.len())?;
        let p = prior.as_slice();
        Ok(match self {
            Self::Hamming => 1.0 - prior.max(),
            Self::Squared(values) => {
                // E(X - v)² is the variance and the square of the mean's distance to v.
                let mean: f64 = p.iter().zip(values).map(|(p, v)| p * v).sum();
                let variance: f64 = p.iter().zip(values).map(|(p, v)| p * (v - mean).powi(2)).sum();
                let nearest = values.iter().map(|v| (v - mean).powi(2));
                variance + nearest.fold(f64::INFINITY, f64::min)
            }
            Self::Absolute(values) => {
                // Least at a median.
                let mut order: Vec<usize> = (0..p.len()).collect();
                order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
                let mut below = 0.0;
                let median = order.iter().find(|&&x| {
                    below += p[x];
                    below >= 0.5
                });
                let at = median.or(order.last()).map_or(0.0, |&x| values[x]);
                p.iter().zip(values).map(|(p, v)| p * (v - at).abs()).sum()
            }
            Self::Matrix(losses) => {
                let column =
                    |y: usize| p.iter().zip(losses).map(|(p, row)| p * row[y]).sum::<f64>();
                (0..losses[0].len()).map(column).fold(f64::INFINITY, f64::min)
            }
            Self::Frequency => f64::INFINITY,
            Self::Mmse(_) => self.value(prior, &Channel::new(vec![vec![1.0]; prior.len()])?)?,
            Self::MutualInformation | Self::NormalisedMutualInformation => 0.0,
        })
    }
}

fn check_values(values: &[f64], symbols: usize) -> Result<(), Error> {
    if values.len() != symbols {
        return Err(Error::Size { what: "values".into(), expected: symbols, found: values.len() });
    }
    let what = |at: usize| format!("values[{at}]");
    if let Some(at) = values.iter().position(|v| !v.is_finite()) {
        return Err(Error::NotFinite { what: what(at), value: values[at] });
    }
    // Squares of differences must stay finite.
    match values.iter().position(|v| v.abs() > 1e49) {
        Some(at) => Err(Error::range(what(at), values[at], "between -1e49 and 1e49")),
        None => Ok(()),
    }
}

/// Refuses a loss matrix that is no table of moderate numbers with a row for every symbol.
pub(crate) fn check_losses(losses: &[Vec<f64>], symbols: usize) -> Result<(), Error> {
    if losses.len() != symbols {
        return Err(Error::Size {
            what: "the loss matrix".into(),
            expected: symbols,
            found: losses.len(),
        });
    }
    let outputs = losses.first().map_or(0, Vec::len);
    if outputs == 0 {
        return Err(Error::Empty { what: "the loss matrix".into() });
    }
    for (x, row) in losses.iter().enumerate() {
        let what = format!("loss matrix row {x}");
        if row.len() != outputs {
            return Err(Error::Size { what, expected: outputs, found: row.len() });
        }
        if let Some(&value) = row.iter().find(|v| !v.is_finite()) {
            return Err(Error::NotFinite { what, value });
        }
        // Sums and differences of losses must stay finite.
        if let Some(&value) = row.iter().find(|loss| loss.abs() > 1e100) {
            return Err(Error::range(what, value, "between -1e100 and 1e100"));
        }
    }
    Ok(())
}

/// The channel with its outputs in the order of the prior's symbols, as which they are read. Unnamed
/// outputs are read place by place, whether all are there or not.
fn read_as_inputs<'a>(
    prior: &Distribution,
    channel: &'a Channel,
) -> Result<Cow<'a, Channel>, Error> {
    match channel.output_symbols().are_named() {
        true => channel.outputs_in_order_of("the channel's outputs", prior.symbols()),
        false => Ok(Cow::Borrowed(channel)),
    }
}

/// Σ P(x) q(y|x) loss(x,y).
fn expected(prior: &Distribution, channel: &Channel, losses: &[Vec<f64>]) -> Result<f64, Error> {
    if channel.outputs() > losses[0].len() {
        return Err(Error::Size {
            what: "the channel's outputs".into(),
            expected: losses[0].len(),
            found: channel.outputs(),
        });
    }
    let row = |x: usize| {
        channel.rows()[x].as_slice().iter().zip(&losses[x]).map(|(q, l)| q * l).sum::<f64>()
    };
    Ok((0..prior.len()).map(|x| prior[x] * row(x)).sum())
}

/// The probability that the released symbol is not the input's (0-1 loss); outputs beyond the inputs
/// never match.
pub fn hamming(prior: &Distribution, channel: &Channel) -> Result<f64, Error> {
    let channel = channel.under(prior)?;
    let channel = read_as_inputs(prior, &channel)?;
    let kept = |x: usize| if x < channel.outputs() { prior[x] * channel.q(x, x) } else { 0.0 };
    Ok(1.0 - (0..prior.len()).map(kept).sum::<f64>())
}

/// The mean squared error of the best estimate of a value from the output: E[Var(V|Y)].
pub fn mmse(prior: &Distribution, channel: &Channel, values: &[f64]) -> Result<f64, Error> {
    let channel = &*channel.under(prior)?;
    check_values(values, prior.len())?;
    let mean = |weights: &[f64]| weights.iter().zip(values).map(|(w, v)| w * v).sum::<f64>();
    let square = prior.as_slice().iter().zip(values).map(|(p, v)| p * v * v).sum::<f64>();
    let mut explained = 0.0;
    for y in 0..channel.outputs() {
        let joint: Vec<f64> = channel.column(y).zip(prior.as_slice()).map(|(q, p)| q * p).collect();
        let mass: f64 = joint.iter().sum();
        if mass > 0.0 {
            explained += mean(&joint).powi(2) / mass;
        }
    }
    Ok((square - explained).max(0.0))
}

/// Trace of the inverse Fisher information of the frequencies on the simplex, at the prior.
///
/// With S = Σ_y q_y q_yᵀ / P(y) (q_y the column of likelihoods), the efficient covariance of the
/// frequencies of one respondent is S⁻¹ - p pᵀ restricted to directions that sum to zero: since
/// S p = 1 and 1ᵀp = 1, it is exactly S⁻¹ - p pᵀ. Infinite when the channel merges two populations.
pub fn frequency(prior: &Distribution, channel: &Channel) -> Result<f64, Error> {
    let channel = &*channel.under(prior)?;
    let m = prior.len();
    let mut information = vec![vec![0.0; m]; m];
    for y in 0..channel.outputs() {
        let column: Vec<f64> = channel.column(y).collect();
        let mass: f64 = column.iter().zip(prior.as_slice()).map(|(q, p)| q * p).sum();
        if !(mass > 0.0) {
            continue;
        }
        for (row, a) in information.iter_mut().zip(&column) {
            for (cell, b) in row.iter_mut().zip(&column) {
                *cell += a * b / mass;
            }
        }
    }
    let squares: f64 = prior.as_slice().iter().map(|p| p * p).sum();
    Ok(trace_of_inverse(information).map_or(f64::INFINITY, |trace| trace - squares))
}

/// The trace of the inverse of a symmetric positive matrix by Cholesky; `None` if it is singular.
pub(crate) fn trace_of_inverse(mut a: Vec<Vec<f64>>) -> Option<f64> {
    let m = a.len();
    let scale = (0..m).map(|i| a[i][i]).fold(0.0, f64::max);
    for i in 0..m {
        for j in 0..=i {
            let dot: f64 = (0..j).map(|k| a[i][k] * a[j][k]).sum();
            let rest = a[i][j] - dot;
            if i == j {
                if !(rest > 1e-13 * scale) {
                    return None;
                }
                a[i][i] = rest.sqrt();
            } else {
                a[i][j] = rest / a[j][j];
            }
        }
    }
    // Columns of L⁻¹ by forward substitution; the trace is the sum of their squares.
    let mut trace = 0.0;
    for column in 0..m {
        let mut x = vec![0.0; m];
        for i in column..m {
            let dot: f64 = (column..i).map(|k| a[i][k] * x[k]).sum();
            x[i] = (f64::from(u8::from(i == column)) - dot) / a[i][i];
            trace += x[i] * x[i];
        }
    }
    Some(trace)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::mechanism::randomized_response;

    #[test]
    fn frequency_of_the_identity_is_multinomial() {
        let prior = Distribution::new("p", vec![0.5, 0.3, 0.2]).unwrap();
        let value = frequency(&prior, &Channel::identity(3).unwrap()).unwrap();
        let multinomial: f64 = prior.as_slice().iter().map(|p| p * (1.0 - p)).sum();
        assert!((value - multinomial).abs() < 1e-12);
    }

    #[test]
    fn frequency_of_a_binary_channel_is_the_delta_method() {
        let prior = Distribution::new("p", vec![0.8, 0.2]).unwrap();
        let channel = randomized_response::symmetric(2, 1.0).unwrap();
        let slope = channel.q(1, 1) - channel.q(0, 1);
        let share = channel.q(0, 1) + slope * 0.2;
        let variance = share * (1.0 - share) / (slope * slope);
        assert!((frequency(&prior, &channel).unwrap() - 2.0 * variance).abs() < 1e-12);
    }

    #[test]
    fn values_and_losses_that_do_not_fit_are_refused() {
        let rows = |rows: &[&[f64]]| {
            Objective::Matrix(rows.iter().map(|row| row.to_vec()).collect()).check(2)
        };
        assert_eq!(rows(&[&[0.0, 1.0], &[1.0, 0.0]]), Ok(()));
        for (bad, words) in [
            (rows(&[]), "has 0 entries where 2 are needed"),
            (rows(&[&[], &[]]), "is empty"),
            (rows(&[&[0.0], &[1.0, 0.0]]), "row 1 has 2 entries"),
            (rows(&[&[0.0, f64::NAN], &[1.0, 0.0]]), "row 0 is NaN"),
            (rows(&[&[0.0, 1e300], &[1.0, 0.0]]), "row 0 is 1e300"),
            (Objective::Squared(vec![1.0]).check(2), "values has 1 entries"),
            (Objective::Mmse(vec![1.0, f64::INFINITY]).check(2), "values[1] is inf"),
            (Objective::Absolute(vec![-1e300, 0.0]).check(2), "values[0] is -1e300"),
        ] {
            assert!(bad.as_ref().is_err_and(|e| e.to_string().contains(words)), "{words}: {bad:?}");
        }
        assert_eq!(Objective::Frequency.check(2), Ok(()));
    }

    #[test]
    fn a_silent_channel_tells_no_frequency() {
        let silent = Channel::new(vec![vec![0.5, 0.5]; 2]).unwrap();
        assert!(frequency(&Distribution::uniform(2), &silent).unwrap().is_infinite());
    }

    #[test]
    fn blind_guesses() {
        let prior = Distribution::new("p", vec![0.5, 0.3, 0.2]).unwrap();
        assert!((Objective::Hamming.blind(&prior).unwrap() - 0.5).abs() < 1e-15);
        let absolute = Objective::Absolute(vec![0.0, 1.0, 2.0]).blind(&prior).unwrap();
        assert!((absolute - 0.7).abs() < 1e-15);
        assert!(Objective::Absolute(vec![0.0]).blind(&prior).is_err());
    }
}
