//! What was found.

use serde::Serialize;
use undertone_core::plan::PlanId;

use crate::answer::Answer;
use crate::error::shortened_to;
use crate::number::{self, Round, counted, decimal};

/// The values that many people have, and what could have been seen.
#[derive(Debug, Clone, Serialize)]
pub struct FoundReport {
    /// The plan.
    #[serde(serialize_with = "number::as_text")]
    pub plan_id: PlanId,
    /// How many reports were read.
    pub reports: u64,
    /// How many more were left out because they had been read before.
    pub repeated: u64,
    /// What happened in each round.
    pub rounds: Vec<SearchedRound>,
    /// The values found, the most frequent first.
    pub found: Vec<FoundValue>,
    /// Each value found is had by more than this share of people...
    #[serde(serialize_with = "number::as_value")]
    pub threshold: f64,
    /// ... and the chance that this is false of any of them is at most this; as is the chance that any interval misses.
    #[serde(serialize_with = "number::as_value")]
    pub error: f64,
    /// The probability with which what is visible is found.
    #[serde(serialize_with = "number::as_value")]
    pub power: f64,
    /// From which share on a value was visible; nothing if not even one that everybody has.
    #[serde(serialize_with = "number::as_optional_bound")]
    pub visible_share: Option<f64>,
    /// From which share on a known value was visible; nothing if there are none, or not even one that everybody has.
    #[serde(serialize_with = "number::as_optional_bound")]
    pub visible_share_known: Option<f64>,
    /// From how many reports on a value that everybody has is visible.
    pub needed_n: Option<u64>,
}

/// A round of a search.
#[derive(Debug, Clone, Serialize)]
pub struct SearchedRound {
    /// How many bits of the code it asked for.
    pub bits: usize,
    /// How many people were in it.
    pub people: u64,
    /// How many candidates were tested on them.
    pub tested: u64,
    /// How many went on; of the last round, how many were found.
    pub kept: u64,
    /// Whether more would have gone on than can be followed.
    pub crowded: bool,
}

/// A value that was found.
#[derive(Debug, Clone, Serialize)]
pub struct FoundValue {
    /// The value.
    pub value: String,
    /// Whether it may be the beginning of longer ones.
    pub cut: bool,
    /// The share of people who have it, as the last round's reports estimate it.
    #[serde(serialize_with = "number::as_value")]
    pub share: f64,
    /// The lower end of its interval; the intervals of all values that were tested hold at once.
    #[serde(serialize_with = "number::as_value")]
    pub low: f64,
    /// The upper end.
    #[serde(serialize_with = "number::as_value")]
    pub high: f64,
    /// The standard error of the share.
    #[serde(serialize_with = "number::as_value")]
    pub standard_error: f64,
    /// How many of the last round's reports support it.
    pub supporting: u64,
    /// The chance of so many, were its share no more than the threshold.
    #[serde(serialize_with = "number::as_value")]
    pub p_value: f64,
    /// The p-value adjusted for the whole list, by Holm: at most the error.
    #[serde(serialize_with = "number::as_value")]
    pub p_adjusted: f64,
    /// Whether it was known beforehand.
    pub known: bool,
}

impl FoundReport {
    /// What a reader must not overlook.
    pub fn warnings(&self) -> Vec<String> {
        let mut said = Vec::new();
        if self.repeated > 0 {
            said.push(format!(
                "{} were read twice, seed for seed, and count once; a person who sent two different ones cannot be told from two people",
                counted(self.repeated, "report")
            ));
        }
        for (at, round) in (1..).zip(&self.rounds).filter(|(_, round)| round.crowded) {
            said.push(format!(
                "more than {} prefixes passed round {at}, and the strongest go on",
                round.kept
            ));
        }
        said
    }

    /// From which share on something could be seen, in words.
    pub fn visibility(&self) -> String {
        let percent = |share: f64| format!("{} %", decimal(100.0 * share, Round::Up, 3));
        match (self.visible_share, self.visible_share_known, self.needed_n) {
            (Some(share), known, _) => {
                let known = known.map_or(String::new(), |known| {
                    format!(" (one of the known values from {} on)", percent(known))
                });
                format!(
                    "A value was found with probability {} from a share of {} on{known}; what is rarer is mostly missed.",
                    self.power,
                    percent(share)
                )
            }
            (None, Some(known), _) => format!(
                "Only known values could be found, from a share of {} on with probability {}.",
                percent(known),
                self.power
            ),
            (None, None, needed) => format!(
                "Nothing could be found: with {} not even a value that everybody has is visible{}.",
                counted(self.reports, "report"),
                needed.map_or(String::new(), |needed| format!("; that takes {needed}"))
            ),
        }
    }
}

impl Answer for FoundReport {
    fn words(&self) -> String {
        let percent = |share: f64| decimal(100.0 * share, Round::Nearest, 3);
        let mut words = match self.found.len() {
            0 => format!("No value found in {}.", counted(self.reports, "report")),
            found => format!(
                "{} found in {}; the chance that any of them is had by no more than {} % of people is at most {}.",
                counted(found as u64, "value"),
                counted(self.reports, "report"),
                percent(self.threshold),
                self.error
            ),
        };
        for one in &self.found {
            words += &format!(
                "\n{:?}{}: {} % ({} to {} %)",
                shortened_to(80, &one.value),
                if one.cut { " or what begins so" } else { "" },
                percent(one.share),
                percent(one.low),
                percent(one.high)
            );
        }
        words += &format!("\n{}", self.visibility());
        words.extend(self.warnings().iter().map(|warning| format!("\nwarning: {warning}")));
        words
    }

    /// Reports in which nothing could be seen answer nothing.
    fn is_good(&self) -> bool {
        self.visible_share.is_some() || self.visible_share_known.is_some()
    }
}
