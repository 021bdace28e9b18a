//! One binary for all integration tests of this crate: linking them one by one took longer than running them.

#![allow(clippy::unwrap_used)]

mod certificate;
mod common;
mod crowd;
mod golden_design;
mod golden_evaluation;
mod golden_learn;
mod learn;
mod objectives;
mod plan;
mod properties;
mod runtime;
mod time;
