//! The rules, by paper. A rule is data: to add an implication, add an entry.

mod derived;
mod information_privacy;
mod sensors;
mod watchdog;

use super::Rule;

/// Every rule: what the five papers print, then what is derived here.
pub fn all() -> impl Iterator<Item = &'static Rule> + Clone {
    let papers = information_privacy::RULES.iter().chain(watchdog::RULES).chain(sensors::RULES);
    papers.chain(derived::RULES)
}
