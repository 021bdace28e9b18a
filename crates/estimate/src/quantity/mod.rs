//! Numbers people ask for.

mod heavy;
mod histogram;
mod moments;
mod quantile;

pub use heavy::{Control, Heavy, HeavyHitters};
pub use histogram::{Bar, Histogram};
pub(crate) use moments::{range_of, rounding_of};
