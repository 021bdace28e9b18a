//! One binary for all integration tests of this crate: linking them one by one took longer than running them.

#![allow(clippy::unwrap_used)]

mod common;
mod compliance;
mod coverage;
mod coverage_exact;
mod coverage_quantities;
mod coverage_table;
mod degenerate;
mod drift;
mod golden;
mod orders;
mod plan;
mod possible;
mod posterior;
mod properties;
mod tally;
mod widths;
