//! One binary for all integration tests of this crate: linking them one by one took longer than running them.

#![allow(clippy::unwrap_used)]

mod client;
mod common;
mod device;
mod ledger;
mod offline;
mod sequences;
