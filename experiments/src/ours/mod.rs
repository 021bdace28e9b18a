//! OURS.

use crate::Experiment;

/// Its figures and tables.
pub static ALL: &[Experiment] = &[];
