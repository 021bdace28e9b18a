//! One binary for all integration tests of this crate: linking them one by one took longer than running them.

#![allow(clippy::unwrap_used)]

mod api;
mod api_logs;
mod common;
mod crash;
mod creation;
mod life_crash;
mod store_check;
mod store_full;
mod store_model;
mod store_story;
mod store_upgrade;
