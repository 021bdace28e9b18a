//! A detector that is linear in the features of the outputs: ST20's rules <w, Φ(z)>.

use undertone_design::Error;

use super::data::Tasks;
use super::kernel::Layout;
use super::loss::Loss;
use super::regression::Regression;

/// One weight per output symbol of every sensor (of the kernel of pairs, also per two of them), one such list per task: for two
/// values the sign decides, for more the largest score.
#[derive(Debug, Clone, PartialEq)]
pub struct Linear {
    values: Vec<usize>,
    weights: Vec<Vec<f64>>,
    features: Features,
}

/// Which weights a released row has.
#[derive(Debug, Clone, PartialEq)]
enum Features {
    /// One for each symbol; where each sensor's weights begin.
    Single(Vec<usize>),
    /// Those of a kernel.
    Of(Layout),
}

impl Features {
    fn score(&self, weights: &[f64], row: &[usize]) -> f64 {
        match self {
            Self::Single(from) => {
                row.iter().zip(from).map(|(&symbol, &from)| weights[from + symbol]).sum()
            }
            Self::Of(layout) => layout.score(weights, row),
        }
    }
}

impl Linear {
    /// Rules over the features of a kernel.
    pub(crate) fn from_parts(values: Vec<usize>, weights: Vec<Vec<f64>>, layout: Layout) -> Self {
        Self { values, weights, features: Features::Of(layout) }
    }

    /// Learns from released symbols: `rows[i]` has one symbol per feature, below `levels`.
    pub fn fit(
        rows: &[Vec<usize>],
        levels: &[usize],
        labels: &[usize],
        ridge: f64,
    ) -> Result<Self, Error> {
        check(rows, levels, labels)?;
        let size: usize = levels.iter().sum();
        let from: Vec<usize> = levels
            .iter()
            .scan(0, |at, level| {
                *at += level;
                Some(*at - level)
            })
            .collect();
        let mut features = vec![0.0; rows.len() * size];
        for (row, place) in rows.iter().zip(features.chunks_exact_mut(size)) {
            row.iter().zip(&from).for_each(|(&symbol, &from)| place[from + symbol] = 1.0);
        }
        let tasks = Tasks::new(labels);
        let weights = vec![1.0 / rows.len() as f64; rows.len()];
        let fit = |signs: &Vec<f64>| {
            let (features, weights, loss) = (&features[..], &weights[..], Loss::Logistic);
            Regression { features, size, signs, weights, ridge, loss }.minimise(&[])
        };
        let weights = tasks.signs.iter().map(fit).collect();
        Ok(Self { weights, values: tasks.values, features: Features::Single(from) })
    }

    /// The most likely label.
    pub fn decide(&self, row: &[usize]) -> usize {
        let score = |weights: &[f64]| self.features.score(weights, row);
        if let ([least, most], [weights]) = (&self.values[..], &self.weights[..]) {
            return if score(weights) > 0.0 { *most } else { *least };
        }
        let scores: Vec<f64> = self.weights.iter().map(|weights| score(weights)).collect();
        let better = |best: usize, at: usize| if scores[at] > scores[best] { at } else { best };
        self.values.get((1..scores.len()).fold(0, better)).copied().unwrap_or(0)
    }
}

/// Refuses rows, levels and labels that do not fit together.
pub(crate) fn check(rows: &[Vec<usize>], levels: &[usize], labels: &[usize]) -> Result<(), Error> {
    if rows.is_empty() {
        return Err(Error::Empty { what: "the list of released rows".into() });
    }
    if labels.len() != rows.len() {
        let what = "the list of labels".into();
        return Err(Error::Size { what, expected: rows.len(), found: labels.len() });
    }
    for (i, row) in rows.iter().enumerate() {
        if row.len() != levels.len() {
            let what = format!("released row {i}");
            return Err(Error::Size { what, expected: levels.len(), found: row.len() });
        }
        if let Some(j) = (0..row.len()).find(|&j| row[j] >= levels[j]) {
            let problem = format!("symbol {} where {} exist", row[j], levels[j]);
            return Err(Error::other(format!("released row {i}, feature {j}"), problem));
        }
    }
    Ok(())
}
