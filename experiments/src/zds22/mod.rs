//! ZDS22: Asymmetric Local Information Privacy and the Watchdog Mechanism.

use crate::Experiment;

pub mod fig_1;
pub mod fig_2;
pub mod laws;

/// Its figures, the sweep of Section III-B, and what other methods make of the same budgets.
pub static ALL: &[Experiment] = &[
    fig_1::EXPERIMENT,
    fig_2::EXPERIMENT,
];
