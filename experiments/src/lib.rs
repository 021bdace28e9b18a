//! Every figure and table of the five papers, rerun and judged.
//!
//! One file per figure or table. Each runs to an [`Outcome`]: CSV tables, plots, and claims with a
//! verdict that is computed from the numbers. [`run()`](run::run) runs them on all cores and
//! remembers what is finished; [`report::write`] makes pages of it, and [`record::Record`] is what the
//! repository keeps of a full run.

pub mod certified;
pub mod claim;
pub mod data;
pub mod error;
pub mod experiment;
pub mod interval;
pub mod markdown;
pub mod numeric;
pub mod outcome;
pub mod pdf;
pub mod plot;
pub mod record;
pub mod registry;
pub mod report;
pub mod run;
pub mod sections;
pub mod summary;
pub mod table;

pub mod jlt18;
pub mod jstl21;
pub mod ours;
pub mod st20;
pub mod stl19;
pub mod zds22;

pub use claim::{Claim, Kind, Verdict};
pub use error::Error;
pub use experiment::{Context, Experiment, Paper};
pub use outcome::Outcome;
pub use plot::{Panel, Picture, Series};
pub use table::Table;
