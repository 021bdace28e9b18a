//! One binary for all integration tests of this crate: linking them one by one took longer than running them.

#![allow(clippy::unwrap_used)]

mod common;
mod compliance;
mod coverage;
mod coverage_crosstab;
mod coverage_exact;
mod coverage_quantities;
mod coverage_table;
mod crosstab;
mod degenerate;
mod drift;
mod evidence;
mod golden;
mod incidence;
mod incidence_survey;
mod orders;
mod plan;
mod possible;
mod posterior;
mod properties;
mod regress;
mod regress_coverage;
mod sample;
mod strata;
mod tally;
mod widths;
