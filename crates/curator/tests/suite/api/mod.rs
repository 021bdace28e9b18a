//! The curator over real sockets.

mod abuse;
mod failing;
pub(crate) mod harness;
mod learning;
mod listing;
mod openapi;
#[cfg(feature = "postgres")]
mod postgres;
mod problems;
mod retries;
mod story;
mod tls;
