//! ZDS22 Figure 3: utility and leakage at ε = 1.5.

use super::cdf::{self, Printed};
use crate::{Context, Error, Experiment, Outcome, Paper};

/// The experiment.
pub const EXPERIMENT: Experiment = Experiment {
    key: "zds22-fig-3",
    paper: Paper::Zds22,
    title: "Figure 3: utility and leakage at LDP 1.5, λ = .5 and .65",
    data: &[],
    run,
};

fn run(context: &Context) -> Result<Outcome, Error> {
    cdf::run(
        context,
        &Printed {
            epsilon: 1.5,
            figure: "Figure 3",
            nonzero: [11.0, 4.0],
            studied: [4.5, 11.35],
            points: 1.0,
            lower: [98.5, 96.8],
            upper: [99.0, 97.0],
            changed: [8.8, 89.5, 1.7],
        },
    )
}
