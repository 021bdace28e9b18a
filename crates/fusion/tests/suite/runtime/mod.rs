//! Networks at work: budgets, state files, faults, and two brokers.
#![cfg(feature = "runtime")]
mod board;
mod brokers;
mod center;
mod certificates;
mod conversation;
mod faults;
mod moving;
mod network;
mod scripted;
mod secure;
mod sensor;
