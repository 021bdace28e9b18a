//! Networks at work: budgets, state files, faults, and two brokers.
#![cfg(feature = "runtime")]
mod brokers;
mod center;
mod faults;
mod network;
mod secure;
mod sensor;
