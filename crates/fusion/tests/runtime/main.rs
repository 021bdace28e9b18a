//! Networks at work: budgets, state files, faults, and two brokers.
#![cfg(feature = "runtime")]
#![allow(clippy::unwrap_used)]

mod brokers;
mod center;
mod faults;
mod network;
mod secure;
mod sensor;
