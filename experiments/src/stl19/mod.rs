//! STL19: Context Aware Laplacian Mechanism for Local Information Privacy.

use crate::Experiment;

pub mod fig_3;
pub mod laplace;

/// Its figures and tables.
pub static ALL: &[Experiment] = &[fig_3::EXPERIMENT];
