//! What a policy is asked to be.

use undertone_core::{Alphabet, Claim, Context, PriorBox, Provenance, WEIGHT_ONE};
use undertone_design::quantize::{self, PolicySpec};
use undertone_design::{Distribution, to_floats};

/// Claims about these inputs in this context; the outputs are the design's business.
pub fn spec(inputs: Alphabet, context: Context, claims: Vec<Claim>) -> PolicySpec {
    PolicySpec { inputs, outputs: None, context, claims, provenance: Provenance::default() }
}

/// Claims about inputs 0, 1, 2, ...
#[track_caller]
pub fn indexed(symbols: usize, context: Context, claims: Vec<Claim>) -> PolicySpec {
    spec(Alphabet::indices(symbols).unwrap(), context, claims)
}

/// Claims under a known prior, and that prior as the kernel's integers have it.
#[track_caller]
pub fn under(prior: &Distribution, claims: Vec<Claim>) -> (PolicySpec, Distribution) {
    let rounded = quantize::prior(prior).unwrap().prior;
    let known = to_floats::distribution(&rounded).unwrap();
    (indexed(prior.len(), Context::Known(rounded), claims), known)
}

/// A known prior.
#[track_caller]
pub fn known(prior: &[f64]) -> Context {
    let prior = Distribution::new("prior", prior.to_vec()).unwrap();
    Context::Known(quantize::prior(&prior).unwrap().prior)
}

/// A box of priors, rounded outward.
#[track_caller]
pub fn within(low: &[f64], high: &[f64]) -> Context {
    let ends = |ends: &[f64], round: fn(f64) -> f64| {
        ends.iter().map(|end| round(end.clamp(0.0, 1.0) * WEIGHT_ONE as f64) as u64).collect()
    };
    Context::Within(PriorBox::new(ends(low, f64::floor), ends(high, f64::ceil)).unwrap())
}
