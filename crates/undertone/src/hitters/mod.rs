//! Values that many people have, out of a set too large to list: addresses, words, numbers of nine digits.
//!
//! A value becomes a code of a fixed number of bits ([`OpenValues`]). Each person is in one round, drawn once whatever the value, and
//! sends one report: a hash of the first bits of the code, by a function of the report's own, randomised by a verified policy. The collector
//! keeps the prefixes that many reports of the first round support, tests every way they go on with the people of the second, and so on;
//! the last round tests whole values. Nobody is asked twice, no device hears which prefixes were kept, and whatever is tested is tested on
//! people who had no part in choosing it.
//!
//! Rounds are the items of a kernel's [`Plan`](undertone_core::plan::Plan), which draws one of them and certifies what all a person sends can tell.
//!
//! ```
//! use undertone::hitters::{self, CollectedReports, FindRequest, HittersRequest};
//! use undertone::random::seeded_rng;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let request = HittersRequest::new("letters:a-z:6".parse()?, "ldp:2".parse()?);
//! let plan = hitters::design(&request)?.plan;
//! let (mut reports, mut rng) = (CollectedReports::none(&plan), seeded_rng(7));
//! for person in 0..20_000 {
//!     let value = if person % 2 == 0 { "rain" } else { "snow" };
//!     let report = plan.report(value, &mut rng).map_err(|_| "a value without a code")?;
//!     reports.add_text(&plan, &plan.write(&report)).map_err(|_| "another plan's report")?;
//! }
//! let found = hitters::find(&plan, &reports, &FindRequest::default())?;
//! let values: Vec<&str> = found.found.iter().map(|one| one.value.as_str()).collect();
//! assert!(values.contains(&"rain") && values.contains(&"snow") && values.len() == 2);
//! # Ok(())
//! # }
//! ```

mod code;
mod designed;
mod found;
mod hash;
mod known;
mod plan;
mod report;
mod reports;
mod search;
mod support;
mod transform;
mod values;
mod visible;
mod written;

pub use code::Code;
pub use designed::{HittersDesign, HittersRequest, PlannedRound, design};
pub use found::{FoundReport, FoundValue, SearchedRound};
pub use hash::{hashed, seed_bits};
pub use known::KnownValues;
pub use plan::{HittersPlan, Longer};
pub use report::{HittersReport, NoReport, NotReported};
pub use reports::{CollectedReports, REPORT_COLUMN};
pub use search::{FindRequest, find};
pub use support::Support;
pub use values::{NoCode, OpenValues};
pub use visible::{Passage, critical_count, least_people, rule_of_thumb};
pub use written::{UnknownValue, WriteRequest, WrittenReport, write};

#[cfg(test)]
use designed::policy_over;
