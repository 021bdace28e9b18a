//! JLT18: Context-aware Data Aggregation with Localized Information Privacy.

use crate::Experiment;

pub mod checkins;
pub mod clicks;
pub mod fig_2;
pub mod fig_5;
pub mod fig_6;
pub mod fig_7;
pub mod fig_8;
pub mod fig_9;
pub mod model;

/// Its figures. Figures 1, 3 and 4 are pictures without numbers.
pub static ALL: &[Experiment] = &[
    fig_2::EXPERIMENT,
    fig_5::EXPERIMENT,
    fig_6::EXPERIMENT,
    fig_7::EXPERIMENT,
    fig_8::EXPERIMENT,
    fig_9::EXPERIMENT,
];

/// Levels from `first` to `last` in steps, rounded so that they print as written.
pub(crate) fn levels(first: f64, last: f64, step: f64) -> Vec<f64> {
    let count = ((last - first) / step).round() as u32;
    (0..=count).map(|k| ((first + f64::from(k) * step) * 1e6).round() / 1e6).collect()
}
