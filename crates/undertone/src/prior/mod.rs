//! Priors from data: a column that is counted, a mixture of normal laws fitted to numbers, one prior for every group of
//! rows, and the prior of a population made of several.
//!
//! ```
//! use undertone::columns::Source;
//! use undertone::prior::{PriorFitRequest, PriorSymbols, fit};
//!
//! let rows = Source::reader("answers", "answer\nno\nno\nyes\nno\n".as_bytes());
//! let symbols = PriorSymbols::named(["no", "yes"])?;
//! let fitted = fit(PriorFitRequest { symbols, ..PriorFitRequest::new(rows, "answer") })?;
//! assert_eq!(fitted.prior.p, [0.75, 0.25]);
//! # Ok::<(), undertone::Error>(())
//! ```

mod fitting;
mod found;
mod groups;
mod mix;
mod mixture;
mod symbols;
mod tally;

pub use fitting::{PriorFit, PriorFitRequest, fit};
pub use found::check_found;
pub use groups::{GroupEntry, GroupIndex, GroupPriors, GroupRequest, GroupValues, fit_groups};
pub use mix::{PriorMix, PriorMixRequest, mix};
pub use mixture::{Components, FittedMixtures, fit_mixture};
pub use symbols::PriorSymbols;
