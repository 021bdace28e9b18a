//! A two-layer network: tanh units, then probabilities; trained by gradient descent with momentum on
//! the whole training set.

use rand_core::Rng;

use crate::Error;
use undertone_numeric::dice::unit;

/// Weights of both layers. The last weight of each unit is its bias.
#[derive(Debug, Clone, PartialEq)]
pub struct Network {
    hidden: Vec<Vec<f64>>,
    output: Vec<Vec<f64>>,
}

/// How to train.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Training {
    /// How many tanh units.
    pub units: usize,
    /// How many steps.
    pub steps: usize,
    /// The size of a step.
    pub rate: f64,
    /// How much of the last step is kept.
    pub momentum: f64,
    /// The weight of the squared weights in the loss.
    pub decay: f64,
}

impl Default for Training {
    fn default() -> Self {
        Self { units: 12, steps: 400, rate: 0.2, momentum: 0.9, decay: 1e-2 }
    }
}

/// Features and class of each example.
pub struct Examples<'a> {
    /// One row per example, all of one length.
    pub features: &'a [Vec<f64>],
    /// The classes, below `classes`.
    pub labels: &'a [usize],
    /// How many classes there are.
    pub classes: usize,
}

/// A weighted sum with a bias.
fn sum(weights: &[f64], inputs: &[f64]) -> f64 {
    let bias = weights.last().copied().unwrap_or(0.0);
    inputs.iter().zip(weights).map(|(x, w)| x * w).sum::<f64>() + bias
}

fn softmax(scores: &[f64]) -> Vec<f64> {
    let top = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let powers: Vec<f64> = scores.iter().map(|s| (s - top).exp()).collect();
    let total: f64 = powers.iter().sum();
    powers.iter().map(|p| p / total).collect()
}

impl Network {
    /// Small random weights.
    fn random(inputs: usize, units: usize, classes: usize, stream: &mut impl Rng) -> Self {
        let mut draw = |scale: f64| scale * (2.0 * unit(stream) - 1.0);
        let mut layer = |from: usize, to: usize| {
            let scale = 1.0 / (from as f64).sqrt();
            (0..to).map(|_| (0..=from).map(|_| draw(scale)).collect()).collect()
        };
        Self { hidden: layer(inputs, units), output: layer(units, classes) }
    }

    /// The probability of each class.
    pub fn predict(&self, features: &[f64]) -> Vec<f64> {
        let units = self.units(features);
        softmax(&self.output.iter().map(|weights| sum(weights, &units)).collect::<Vec<_>>())
    }

    fn units(&self, features: &[f64]) -> Vec<f64> {
        self.hidden.iter().map(|weights| sum(weights, features).tanh()).collect()
    }

    /// Mean cross-entropy plus the decay's share: what [`Self::gradient`] is the gradient of.
    #[cfg(test)]
    fn loss(&self, examples: &Examples<'_>, decay: f64) -> f64 {
        let pairs = examples.features.iter().zip(examples.labels);
        let surprise: f64 = pairs.map(|(x, &y)| -self.predict(x)[y].max(1e-300).ln()).sum();
        let squares: f64 = self.hidden.iter().chain(&self.output).flatten().map(|w| w * w).sum();
        surprise / examples.features.len() as f64 + 0.5 * decay * squares
    }

    /// The gradient of the loss, shaped like the network.
    fn gradient(&self, examples: &Examples<'_>, decay: f64) -> Self {
        let scaled = |layer: &Vec<Vec<f64>>| -> Vec<Vec<f64>> {
            layer.iter().map(|unit| unit.iter().map(|w| decay * w).collect()).collect()
        };
        let mut gradient = Self { hidden: scaled(&self.hidden), output: scaled(&self.output) };
        let share = 1.0 / examples.features.len() as f64;
        for (features, &label) in examples.features.iter().zip(examples.labels) {
            let units = self.units(features);
            let mut error =
                softmax(&self.output.iter().map(|w| sum(w, &units)).collect::<Vec<_>>());
            error[label] -= 1.0;
            for (unit, e) in gradient.output.iter_mut().zip(&error) {
                add(unit, &units, share * e);
            }
            for (at, unit) in gradient.hidden.iter_mut().enumerate() {
                let back: f64 = self.output.iter().zip(&error).map(|(w, e)| w[at] * e).sum();
                add(unit, features, share * back * (1.0 - units[at] * units[at]));
            }
        }
        gradient
    }

    /// Trains from random weights of the given stream.
    pub fn train(
        examples: &Examples<'_>,
        training: &Training,
        stream: &mut impl Rng,
    ) -> Result<Self, Error> {
        let Some(first) = examples.features.first() else {
            return Err(Error::other("a network needs at least one example"));
        };
        if let Some(label) = examples.labels.iter().find(|label| **label >= examples.classes) {
            let classes = examples.classes;
            return Err(Error::other(format!(
                "class {label} of an example is not below {classes}"
            )));
        }
        let mut network = Self::random(first.len(), training.units, examples.classes, stream);
        let mut speed = network.clone();
        speed.each(|w| *w = 0.0);
        for _ in 0..training.steps {
            let mut steps = network.gradient(examples, training.decay).flat().into_iter();
            speed.each(|v| {
                *v = training.momentum * *v - training.rate * steps.next().unwrap_or(0.0)
            });
            let mut moves = speed.flat().into_iter();
            network.each(|w| *w += moves.next().unwrap_or(0.0));
        }
        Ok(network)
    }

    fn each(&mut self, mut change: impl FnMut(&mut f64)) {
        self.hidden.iter_mut().chain(&mut self.output).flatten().for_each(&mut change);
    }

    fn flat(&self) -> Vec<f64> {
        self.hidden.iter().chain(&self.output).flatten().copied().collect()
    }
}

/// Adds a multiple of the inputs, and of one for the bias.
fn add(unit: &mut [f64], inputs: &[f64], factor: f64) {
    for (w, x) in unit.iter_mut().zip(inputs.iter().chain([&1.0])) {
        *w += factor * x;
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use rand_chacha::ChaCha12Rng;
    use rand_core::SeedableRng;

    fn examples() -> (Vec<Vec<f64>>, Vec<usize>) {
        let point = |i: usize| vec![(i % 7) as f64 / 3.0 - 1.0, (i % 5) as f64 / 2.0 - 1.0];
        let features: Vec<Vec<f64>> = (0..60).map(point).collect();
        // Not linear: the class is the quadrant's sign, plus a third class in the middle.
        let label =
            |x: &Vec<f64>| if x[0].abs() < 0.2 { 2 } else { usize::from(x[0] * x[1] > 0.0) };
        let labels = features.iter().map(label).collect();
        (features, labels)
    }

    #[test]
    fn the_gradient_agrees_with_differences_of_the_loss() {
        let (features, labels) = examples();
        let examples = Examples { features: &features, labels: &labels, classes: 3 };
        let mut stream = ChaCha12Rng::seed_from_u64(3);
        let network = Network::random(2, 4, 3, &mut stream);
        let gradient = network.gradient(&examples, 0.03).flat();
        for (at, slope) in gradient.iter().enumerate() {
            let moved = |by: f64| {
                let (mut other, mut place) = (network.clone(), 0);
                other.each(|w| {
                    *w += if place == at { by } else { 0.0 };
                    place += 1;
                });
                other.loss(&examples, 0.03)
            };
            let difference = (moved(1e-5) - moved(-1e-5)) / 2e-5;
            assert!((difference - slope).abs() < 1e-8, "{at}: {difference} {slope}");
        }
    }

    #[test]
    fn training_learns_what_no_single_layer_can() {
        let (features, labels) = examples();
        let examples = Examples { features: &features, labels: &labels, classes: 3 };
        let training = Training { decay: 1e-4, steps: 2000, ..Training::default() };
        let mut stream = ChaCha12Rng::seed_from_u64(1);
        let network = Network::train(&examples, &training, &mut stream).unwrap();
        let right = features.iter().zip(&labels).filter(|(x, y)| {
            let p = network.predict(x);
            (0..3).all(|class| p[class] <= p[**y])
        });
        assert!(right.count() >= 57);
        let bad = Examples { features: &features, labels: &labels, classes: 2 };
        assert!(Network::train(&bad, &training, &mut stream).is_err());
    }
}
