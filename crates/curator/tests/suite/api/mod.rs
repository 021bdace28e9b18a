//! The curator over real sockets.

mod abuse;
mod faces;
mod failing;
mod flood;
pub(crate) mod harness;
mod learning;
mod life;
mod listing;
mod many;
mod openapi;
mod planned;
#[cfg(feature = "postgres")]
mod postgres;
mod problems;
mod retries;
mod story;
mod tls;
mod tokens;
