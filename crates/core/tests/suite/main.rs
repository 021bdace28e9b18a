//! One binary for all integration tests of this crate: linking them one by one took longer than running them.

#![allow(clippy::unwrap_used)]

mod claims;
mod codec;
mod common;
mod delta;
mod document;
mod epsilon;
mod incidence;
mod invariants;
mod ledger;
mod plan;
mod refusals;
mod reports;
mod sample;
mod sequence;
mod strength;
mod usage;
mod vectors;
