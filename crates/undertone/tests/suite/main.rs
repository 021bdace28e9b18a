//! One binary for all integration tests of this crate: linking them one by one took longer than running them.

#![allow(clippy::unwrap_used)]

mod crosstab;
mod design;
mod hitters;
mod hitters_vectors;
mod plan;
mod policy_make;
mod readme;
mod regress;
mod shapes;
