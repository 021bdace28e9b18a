//! Every figure and table of the five papers, rerun and judged.
//!
//! One file per figure or table. Each runs to an [`Outcome`]: CSV tables, plots, and claims with a
//! verdict that is computed from the numbers. [`run()`](run::run) runs them on all cores and
//! remembers what is finished; [`report::write`] makes one page of it.

pub mod certified;
pub mod claim;
pub mod data;
pub mod error;
pub mod experiment;
pub mod markdown;
pub mod numeric;
pub mod outcome;
pub mod plot;
pub mod registry;
pub mod report;
pub mod run;
pub mod summary;
pub mod table;

pub mod jlt18;
pub mod jstl21;
pub mod ours;
pub mod st20;
pub mod stl19;
pub mod zds22;

pub use claim::{Claim, Verdict};
pub use error::Error;
pub use experiment::{Context, Experiment, Paper};
pub use outcome::Outcome;
pub use plot::{Panel, Picture, Series};
pub use table::Table;
