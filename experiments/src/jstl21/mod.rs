//! JSTL21: Context-Aware Local Information Privacy.

use crate::Experiment;

pub mod fig_10;
pub mod fig_11;
pub mod fig_12;
pub mod fig_2;
pub mod fig_3;
pub mod fig_4;
pub mod fig_5;
pub mod fig_6;
pub mod fig_7;
pub mod fig_8;
pub mod fig_9;
pub mod gauss;
pub mod network;
pub mod students;

/// Its figures.
pub static ALL: &[Experiment] = &[
    fig_2::EXPERIMENT,
    fig_3::EXPERIMENT,
    fig_4::EXPERIMENT,
    fig_5::EXPERIMENT,
    fig_6::EXPERIMENT,
    fig_7::EXPERIMENT,
    fig_8::EXPERIMENT,
    fig_9::EXPERIMENT,
    fig_10::EXPERIMENT,
    fig_11::EXPERIMENT,
    fig_12::EXPERIMENT,
];

/// Levels from `step` to `last`, rounded so that they print as written.
pub(crate) fn grid(last: f64, step: f64) -> Vec<f64> {
    let count = (last / step).round() as u32;
    (1..=count).map(|k| (f64::from(k) * step * 1e6).round() / 1e6).collect()
}
