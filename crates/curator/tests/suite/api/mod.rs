//! The curator over real sockets.

mod abuse;
pub(crate) mod harness;
mod learning;
mod openapi;
#[cfg(feature = "postgres")]
mod postgres;
mod problems;
mod retries;
mod story;
mod tls;
