//! One binary for all integration tests of this crate: linking them one by one took longer than running them.

#![allow(clippy::unwrap_used)]

mod blocks;
mod blocks_under_a_prior;
mod golden_binary;
mod golden_continuous;
mod golden_convex;
mod golden_linear;
mod golden_measures;
mod golden_mechanisms;
mod golden_plans;
mod golden_watchdog;
mod large;
mod means;
mod properties_continuous;
mod properties_convex;
mod properties_designs;
mod properties_linear;
mod properties_measures;
mod properties_plans;
mod properties_symbols;
mod properties_watchdog;
mod sample_size;
