//! One binary for all integration tests of this crate: linking them one by one took longer than running them.

#![allow(clippy::unwrap_used)]

mod golden_composition;
mod golden_relations;
mod properties_claims;
mod properties_composition;
mod properties_relations;
mod properties_symbols;
