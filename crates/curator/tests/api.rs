//! The curator over real sockets.

#![allow(clippy::unwrap_used, missing_docs)]

#[path = "api/abuse.rs"]
mod abuse;
#[path = "api/harness.rs"]
mod harness;
#[path = "api/learning.rs"]
mod learning;
#[path = "api/openapi.rs"]
mod openapi;
#[cfg(feature = "postgres")]
#[path = "api/postgres.rs"]
mod postgres;
#[path = "api/problems.rs"]
mod problems;
#[path = "api/retries.rs"]
mod retries;
#[path = "api/story.rs"]
mod story;
#[path = "api/tls.rs"]
mod tls;
