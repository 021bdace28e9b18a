//! What the centre is for: how good maps are, and how it decides.
//!
//! Every objective but detection is a sum over what the centre can hear, Σ_z φ(P(·,z)), of a concave function that
//! grows with its argument's size (φ(a v) = a φ(v)): the least expected cost, or minus the information. At any point
//! such a function is the sum of *prices* times masses, and nowhere above it; so with the prices of the present maps a
//! sensor's best map solves a linear program, and what it then costs in truth is no more.

use std::str::FromStr;

use serde::{Serialize, Serializer};
use undertone_design::Error;

/// What maps are chosen, and decisions made, for.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Objective {
    /// As few wrong decisions as possible: Bayes' rule.
    #[default]
    Error,
    /// As few wrong decisions as possible if every value of H were equally common: a mistake costs one over its
    /// value's probability, so that rare values count.
    Balanced,
    /// As much information about H as possible; decisions are Bayes'.
    Information,
    /// As many detections as possible at a given rate of false alarms (Neyman and Pearson). The first value of H is
    /// "nothing"; any other is detected.
    Detection {
        /// How often something is said to be detected when H has its first value.
        false_alarm: f64,
    },
    /// As little expected cost as possible.
    Cost(Costs),
}

/// What deciding d costs when H is h: a row for each decision, which are H's values, a column for each value. Square,
/// finite, not negative.
#[derive(Debug, Clone, PartialEq)]
pub struct Costs(Vec<Vec<f64>>);

/// Larger costs are refused: beside them smaller ones would be lost in rounding.
const MOST_COST: f64 = 1e9;

/// With a probability below this share of the prior's, information is not worth more per unit of mass.
const LEAST_SHARE: f64 = 1e-12;

impl Costs {
    /// Refuses what is not square, finite and at least zero.
    pub fn new(rows: Vec<Vec<f64>>) -> Result<Self, Error> {
        let refuse = |problem: String| Error::other("costs", problem);
        if let Some(row) = rows.iter().find(|row| row.len() != rows.len()) {
            let (count, found) = (rows.len(), row.len());
            let problem = format!(
                "has {count} rows and one of {found} numbers: give a row for each decision, which are the values of \
                 the public hypothesis, and in it a number for each value"
            );
            return Err(refuse(problem));
        }
        if rows.len() < 2 {
            return Err(refuse("has fewer than two rows: there is nothing to decide".into()));
        }
        let bad = rows.iter().flatten().find(|cost| !(0.0..=MOST_COST).contains(*cost));
        match bad {
            Some(cost) => {
                Err(refuse(format!("holds {cost}: give numbers from 0 to {MOST_COST:e}")))
            }
            None => Ok(Self(rows)),
        }
    }

    /// The rows.
    pub fn rows(&self) -> &[Vec<f64>] {
        &self.0
    }

    /// The one decision that is cheapest before anything is heard; of equals the first.
    fn cheapest(&self, masses: &[f64]) -> (usize, f64) {
        let cost = |row: &Vec<f64>| -> f64 { row.iter().zip(masses).map(|(c, p)| c * p).sum() };
        let costs = self.0.iter().map(cost).enumerate();
        costs.fold((0, f64::INFINITY), |best, next| if next.1 < best.1 { next } else { best })
    }
}

impl Objective {
    /// Refuses a rate that is none, and costs for another number of values.
    pub fn check(&self, values: usize) -> Result<(), Error> {
        match self {
            Self::Detection { false_alarm } if !(*false_alarm > 0.0 && *false_alarm < 1.0) => {
                let problem = format!("is {false_alarm}: give a number above 0 and below 1");
                Err(Error::other("the rate of false alarms", problem))
            }
            Self::Cost(costs) if costs.0.len() != values => {
                let found = costs.0.len();
                let problem = format!(
                    "has {found} rows and columns, and the public hypothesis {values} values: give a row and a column \
                     for each, in their order"
                );
                Err(Error::other("costs", problem))
            }
            _ => Ok(()),
        }
    }

    /// What it is called.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Balanced => "balanced",
            Self::Information => "information",
            Self::Detection { .. } => "detection",
            Self::Cost(_) => "cost",
        }
    }
}

impl std::fmt::Display for Objective {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Detection { false_alarm } => write!(to, "detection:{false_alarm}"),
            _ => to.write_str(self.name()),
        }
    }
}

impl Serialize for Objective {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl FromStr for Objective {
    type Err = Error;

    /// Reads a name; costs come from a document.
    fn from_str(name: &str) -> Result<Self, Error> {
        let refuse = |problem: String| Error::other("objective", problem);
        let objective = match name.split_once(':') {
            None => match name {
                "error" => Self::Error,
                "balanced" => Self::Balanced,
                "information" => Self::Information,
                _ => {
                    let problem = format!(
                        "{name:?} is unknown: use error, balanced, information, detection:FALSE_ALARM or cost:FILE"
                    );
                    return Err(refuse(problem));
                }
            },
            Some(("detection", rate)) => {
                let false_alarm = rate.parse().map_err(|_| {
                    refuse(format!(
                        "detection:{rate} has no number: give the rate of false alarms, such as detection:0.05"
                    ))
                })?;
                Self::Detection { false_alarm }
            }
            Some((kind, _)) => {
                let problem = format!("{kind:?} takes nothing after a colon, or is unknown");
                return Err(refuse(problem));
            }
        };
        objective.check(0)?;
        Ok(objective)
    }
}

/// An objective for one law of H.
#[derive(Debug, Clone, PartialEq)]
pub struct Goal {
    kind: Kind,
    /// P(h).
    public: Vec<f64>,
}

#[derive(Debug, Clone, PartialEq)]
enum Kind {
    /// Costs of one for every mistake, by themselves: sums of maxima are more accurate than of minima.
    Error,
    Cost(Costs),
    Information,
    Detection {
        false_alarm: f64,
    },
}

impl Goal {
    /// Refuses an objective that does not fit.
    pub fn new(objective: &Objective, public: Vec<f64>) -> Result<Self, Error> {
        objective.check(public.len())?;
        let kind = match objective {
            Objective::Error => Kind::Error,
            Objective::Balanced => Kind::Cost(balanced(&public)),
            Objective::Information => Kind::Information,
            Objective::Detection { false_alarm } => {
                if !(public[0] > 0.0) {
                    let problem = "needs a first value of the public hypothesis that occurs: it is \"nothing\" there";
                    return Err(Error::other("the objective detection", problem));
                }
                Kind::Detection { false_alarm: *false_alarm }
            }
            Objective::Cost(costs) => Kind::Cost(costs.clone()),
        };
        Ok(Self { kind, public })
    }

    /// P(h).
    pub fn public(&self) -> &[f64] {
        &self.public
    }

    /// The costs of decisions; nothing for information and detection.
    pub fn costs(&self) -> Option<Costs> {
        match &self.kind {
            Kind::Error => Some(mistakes(self.public.len())),
            Kind::Cost(costs) => Some(costs.clone()),
            Kind::Information | Kind::Detection { .. } => None,
        }
    }

    /// The rate of false alarms, for detection.
    pub fn false_alarm(&self) -> Option<f64> {
        match self.kind {
            Kind::Detection { false_alarm } => Some(false_alarm),
            _ => None,
        }
    }

    /// What is added to the sum of [`Self::gain`], with the other sign, to make a loss.
    pub(crate) fn offset(&self) -> f64 {
        if self.kind == Kind::Error { 1.0 } else { 0.0 }
    }

    /// What one output vector of masses P(·,z) is worth. Not for detection, which is no sum.
    pub(crate) fn gain(&self, masses: &[f64]) -> f64 {
        match &self.kind {
            Kind::Error => masses.iter().copied().fold(0.0, f64::max),
            Kind::Cost(costs) => -costs.cheapest(masses).1,
            Kind::Information => {
                let total: f64 = masses.iter().sum();
                let each = masses.iter().zip(&self.public).filter(|(p, _)| **p > 0.0);
                each.map(|(p, prior)| p * (p / (prior * total)).ln()).sum()
            }
            Kind::Detection { .. } => 0.0,
        }
    }

    /// What a unit of mass of each value costs at this output vector when the decision is made for these masses. Not
    /// for detection.
    pub(crate) fn prices(&self, masses: &[f64], prices: &mut [f64]) {
        match &self.kind {
            Kind::Error => {
                let better =
                    |best: usize, h: usize| if masses[h] > masses[best] { h } else { best };
                let decision = (1..masses.len()).fold(0, better);
                prices.fill(0.0);
                prices[decision] = -1.0;
            }
            Kind::Cost(costs) => prices.copy_from_slice(&costs.0[costs.cheapest(masses).0]),
            Kind::Information => {
                let total: f64 = masses.iter().sum();
                for ((price, p), prior) in prices.iter_mut().zip(masses).zip(&self.public) {
                    let share = p / (prior * total);
                    // Neither a value that never occurs nor an output that is never sent has a share.
                    *price = if share.is_nan() { 0.0 } else { -share.max(LEAST_SHARE).ln() };
                }
            }
            Kind::Detection { .. } => prices.fill(0.0),
        }
    }

    /// The loss of a centre that hears nothing.
    pub fn blind(&self) -> f64 {
        match self.kind {
            Kind::Detection { false_alarm } => 1.0 - false_alarm,
            _ => self.offset() - self.gain(&self.public),
        }
    }

    /// The decision that is best for a posterior; of equals the lowest. For detection the likeliest value, which is
    /// what is said where no test is.
    pub(crate) fn decide(&self, posterior: &[f64]) -> usize {
        match &self.kind {
            Kind::Cost(costs) => costs.cheapest(posterior).0,
            _ => likeliest(posterior, 0),
        }
    }
}

/// Where a law is largest, from `from` on; of equals the first.
pub(crate) fn likeliest(law: &[f64], from: usize) -> usize {
    (from + 1..law.len()).fold(from, |best, at| if law[at] > law[best] { at } else { best })
}

/// Every mistake costs one.
fn mistakes(values: usize) -> Costs {
    let row = |d: usize| (0..values).map(|h| f64::from(u8::from(h != d))).collect();
    Costs((0..values).map(row).collect())
}

/// A mistake about h costs 1/(n P(h)), where n values occur: the expected cost is the mean over them of how often a
/// decision is wrong when H has that value.
fn balanced(public: &[f64]) -> Costs {
    let alive = public.iter().filter(|p| **p > 0.0).count() as f64;
    let cost = |d: usize, h: usize| {
        if h != d && public[h] > 0.0 { 1.0 / (alive * public[h]) } else { 0.0 }
    };
    let row = |d: usize| (0..public.len()).map(|h| cost(d, h)).collect();
    Costs((0..public.len()).map(row).collect())
}

/// The most powerful test of "nothing" at a rate of false alarms: which odds are an alarm.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Test {
    /// P(anything else, z)/P(nothing, z) above this is an alarm.
    pub threshold: f64,
    /// So often what is exactly there is one too.
    pub share: f64,
    /// How often something is missed.
    pub missed: f64,
}

/// Odds this close, relatively, are equal: the same outputs in another order of sensors have them.
const SAME: f64 = 1e-11;

impl Test {
    /// The test for cells of mass (nothing, anything else), whatever they add up to.
    pub(crate) fn new(mut cells: Vec<(f64, f64)>, false_alarm: f64) -> Self {
        cells.retain(|(nothing, event)| nothing + event > 0.0);
        let odds = |cell: &(f64, f64)| cell.1 / cell.0;
        cells.sort_by(|a, b| odds(b).total_cmp(&odds(a)));
        let nothing: f64 = cells.iter().map(|cell| cell.0).sum();
        let event: f64 = cells.iter().map(|cell| cell.1).sum();
        let left = |alarms: f64| false_alarm * nothing - alarms;
        let (mut alarms, mut caught, mut at) = (0.0, 0.0, 0);
        while at < cells.len() {
            let threshold = odds(&cells[at]);
            let equal = |cell: &&(f64, f64)| {
                let odds = odds(cell);
                odds == threshold || odds >= threshold * (1.0 - SAME)
            };
            let same: Vec<&(f64, f64)> = cells[at..].iter().take_while(equal).collect();
            let (more, gained) = same.iter().fold((0.0, 0.0), |sum, c| (sum.0 + c.0, sum.1 + c.1));
            if more > left(alarms) {
                let share = (left(alarms) / more).clamp(0.0, 1.0);
                let missed = 1.0 - (caught + share * gained) / event;
                return Self { threshold, share, missed: missed.clamp(0.0, 1.0) };
            }
            alarms += more;
            caught += gained;
            at += same.len();
        }
        Self { threshold: 0.0, share: 1.0, missed: 0.0 }
    }

    /// How often these masses are an alarm.
    pub(crate) fn alarm(&self, nothing: f64, event: f64) -> f64 {
        let odds = event / nothing;
        if !(odds > 0.0) && self.threshold > 0.0 {
            return 0.0;
        }
        if odds == self.threshold || (odds - self.threshold).abs() <= SAME * self.threshold {
            return self.share;
        }
        f64::from(u8::from(odds > self.threshold))
    }
}
