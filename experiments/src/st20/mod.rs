//! ST20: On the Relationship Between Inference and Data Privacy in Decentralized IoT Networks.

use crate::Experiment;

pub mod comparison;
pub mod draws;
pub mod fig_2;
pub mod fig_5;
pub mod fig_6;
pub mod fig_7;
pub mod fig_8;
pub mod fig_9;
pub mod learned;
pub mod map;
pub mod network;
pub mod sweep;
pub mod table_1;
pub mod table_2;
pub mod tune;

/// Its figures and tables.
pub static ALL: &[Experiment] = &[
    fig_2::EXPERIMENT,
    fig_5::EXPERIMENT,
    fig_6::EXPERIMENT,
    fig_7::EXPERIMENT,
    fig_8::EXPERIMENT,
    fig_9::EXPERIMENT,
    table_1::EXPERIMENT,
    table_2::EXPERIMENT,
];
