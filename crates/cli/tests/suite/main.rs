//! One binary for all integration tests of this crate: linking them one by one took longer than running them.

#![allow(clippy::unwrap_used)]

mod bad_input;
mod commands;
mod common;
mod continuous;
mod crosstab;
mod design;
mod estimate;
mod estimate_numbers;
mod estimate_plan;
mod examples;
mod faces;
mod frontier;
mod fusion;
mod fusion_run;
mod fusion_secure;
mod fusion_time;
mod fusion_train;
mod hitters;
mod large;
mod names;
mod papers;
mod permutations;
mod perturb;
mod plan;
mod plots;
mod policy_by;
mod prior;
mod regress;
mod release;
mod serve;
mod store;
mod survey;
mod together;
mod watchdog;
