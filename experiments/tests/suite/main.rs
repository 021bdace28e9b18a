//! One binary for all integration tests of this crate: linking them one by one took longer than running them.

#![allow(clippy::unwrap_used)]

mod common;
mod framework;
mod jlt18;
mod jstl21;
mod ours;
mod papers;
mod reproduce;
mod st20;
mod statements;
mod stl19;
mod zds22;
