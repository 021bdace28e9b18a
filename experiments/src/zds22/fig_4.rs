//! ZDS22 Figure 4: utility and leakage at ε = 2.

use super::cdf::{self, Printed};
use crate::{Context, Error, Experiment, Outcome, Paper};

/// The experiment.
pub const EXPERIMENT: Experiment = Experiment {
    key: "zds22-fig-4",
    paper: Paper::Zds22,
    title: "Figure 4: utility and leakage at LDP 2, λ = .5 and .65",
    data: &[],
    run,
};

fn run(context: &Context) -> Result<Outcome, Error> {
    cdf::run(
        context,
        &Printed {
            epsilon: 2.0,
            figure: "Figure 4",
            nonzero: [30.0, 70.0],
            studied: [27.2, 67.4],
            points: 5.0,
            lower: [93.0, 84.0],
            upper: [98.0, 89.0],
            changed: [56.1, 41.9, 2.0],
        },
    )
}
