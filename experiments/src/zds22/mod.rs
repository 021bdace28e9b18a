//! ZDS22: Asymmetric Local Information Privacy and the Watchdog Mechanism.

use crate::Experiment;

pub mod cdf;
pub mod fig_1;
pub mod fig_2;
pub mod fig_3;
pub mod fig_4;
pub mod laws;
pub mod methods;
pub mod split;

/// Its figures, the sweep of Section III-B, and what other methods make of the same budgets.
pub static ALL: &[Experiment] = &[
    fig_1::EXPERIMENT,
    fig_2::EXPERIMENT,
    fig_3::EXPERIMENT,
    fig_4::EXPERIMENT,
    split::EXPERIMENT,
    methods::EXPERIMENT,
];
