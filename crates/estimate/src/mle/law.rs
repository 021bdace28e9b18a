//! Laws of outputs that are linear in the shares: what expectation maximisation needs of them.

use crate::channel::Channel;

/// How likely every output is, as a linear function of the shares.
pub(crate) trait LinearLaw {
    /// How many shares.
    fn inputs(&self) -> usize;

    /// How many outputs.
    fn outputs(&self) -> usize;

    /// Writes the probability of every output, given the shares `p`, into `law`.
    fn forward_into(&self, p: &[f64], law: &mut [f64]);

    /// Writes Σ_y w(y|x) r(y) for every x into `means`.
    fn back_into(&self, r: &[f64], means: &mut [f64]);
}

impl LinearLaw for Channel {
    fn inputs(&self) -> usize {
        Channel::inputs(self)
    }

    fn outputs(&self) -> usize {
        Channel::outputs(self)
    }

    fn forward_into(&self, p: &[f64], law: &mut [f64]) {
        Channel::forward_into(self, p, law);
    }

    fn back_into(&self, r: &[f64], means: &mut [f64]) {
        Channel::back_into(self, r, means);
    }
}
