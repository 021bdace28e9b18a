//! What a person's answers may add up to, at three levels, and why one more does not fit.

use crate::day::Day;
use std::fmt;
use std::num::NonZeroU32;
use undertone_core::Nats;

/// Whose budget it is. A release must fit into all three.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Level {
    /// One question, whoever asks it.
    Question,
    /// One collector, whatever it asks.
    Collector,
    /// Everything the device tells anybody.
    Device,
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Question => "question",
            Self::Collector => "collector",
            Self::Device => "device",
        })
    }
}

/// An amount of attained LDP, once and for all or within any so many days.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Budget {
    /// The most that releases may add up to.
    pub nats: Nats,
    /// Within how many days; `None`: ever. What was released on a day counts on that day and on the days after it, this
    /// many in all.
    pub days: Option<NonZeroU32>,
}

/// The days of a year, over which what may be told is shown.
const YEAR: u32 = 365;

impl Budget {
    /// The most days a budget may take to refill: a hundred years.
    pub const MOST_DAYS: u32 = 36_500;

    /// A budget that does not refill.
    pub const fn ever(nats: Nats) -> Self {
        Self { nats, days: None }
    }

    /// A budget within any so many days; `None` for none of them, or more than [`Budget::MOST_DAYS`].
    pub const fn within(nats: Nats, days: u32) -> Option<Self> {
        match NonZeroU32::new(days) {
            Some(days) if days.get() <= Self::MOST_DAYS => Some(Self { nats, days: Some(days) }),
            _ => None,
        }
    }

    /// The most that may be told in 365 days in a row.
    pub fn yearly(self) -> Nats {
        let times = self.days.map_or(1, |days| YEAR.div_ceil(days.get()));
        Nats::from_units(self.nats.units().saturating_mul(u64::from(times)))
    }
}

impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.days {
            None => write!(f, "{} nats", self.nats),
            Some(days) => write!(f, "{} nats in {days} days", self.nats),
        }
    }
}

/// The budgets of a device, one for each level.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Budgets {
    /// Of each question.
    pub question: Budget,
    /// Of each collector, over all questions.
    pub collector: Budget,
    /// Of the device, over all collectors.
    pub device: Budget,
}

impl Budgets {
    /// A question has 2 ln 3 for ever: what was told about a fact does not become untold. A collector has four times that
    /// in a year, eight answers at ln 3, and the device four times that again: a budget that is spent for good is one people get
    /// rid of by clearing everything, which forgets the questions too. A year is as long as the total that is shown.
    pub const DEFAULT: Self = Self {
        question: Budget::ever(Nats::from_units(21_972_245_774)),
        collector: Budget { nats: Nats::from_units(87_888_983_096), days: NonZeroU32::new(YEAR) },
        device: Budget { nats: Nats::from_units(351_555_932_384), days: NonZeroU32::new(YEAR) },
    };

    /// The budget of a level.
    pub fn of(&self, level: Level) -> Budget {
        match level {
            Level::Question => self.question,
            Level::Collector => self.collector,
            Level::Device => self.device,
        }
    }

    /// The budget of a level, to change it.
    pub fn of_mut(&mut self, level: Level) -> &mut Budget {
        match level {
            Level::Question => &mut self.question,
            Level::Collector => &mut self.collector,
            Level::Device => &mut self.device,
        }
    }

    /// The most that may be told in 365 days in a row: nothing is told past the device's budget.
    pub fn yearly(&self, level: Level) -> Nats {
        self.of(level).yearly().min(self.device.yearly())
    }
}

/// What stands on one budget on some day.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Account {
    /// Whose it is.
    pub level: Level,
    /// What counts as spent on that day.
    pub spent: Nats,
    /// What may be spent.
    pub budget: Budget,
    /// Releases without a finite LDP level, which no budget counts: they are held against consent and claims alone.
    pub uncounted: usize,
    /// The most that may be told in 365 days in a row.
    pub yearly: Nats,
}

impl Account {
    /// What is left.
    pub fn left(&self) -> Nats {
        Nats::from_units(self.budget.nats.units().saturating_sub(self.spent.units()))
    }

    /// What is left in whole percent, rounded down.
    pub fn percent_left(&self) -> u32 {
        let whole = u128::from(self.budget.nats.units());
        // At most 100, so it fits.
        u32::try_from((100 * u128::from(self.left().units())).checked_div(whole).unwrap_or(0))
            .unwrap_or(0)
    }
}

/// A release that does not fit into a budget.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "the budget of {} is {budget}, {spent} are spent and this release costs {cost}: {}",
    subject(*.level, .whose),
    fix(*.level, *.refills)
)]
pub struct OverBudget {
    /// The level that refuses; the first in the order question, collector, device.
    pub level: Level,
    /// The datum's key or the collector's address; empty for the device.
    pub whose: String,
    /// What counts as spent.
    pub spent: Nats,
    /// What the release would add.
    pub cost: Nats,
    /// What may be spent.
    pub budget: Budget,
    /// The first day on which it would fit if nothing else is released; `None` if it never will.
    pub refills: Option<Day>,
}

fn subject(level: Level, whose: &str) -> String {
    match level {
        Level::Question => format!("the question {whose:?}"),
        Level::Collector => format!("all questions of {whose}"),
        Level::Device => "everything this device tells anybody".into(),
    }
}

fn fix(level: Level, refills: Option<Day>) -> String {
    match refills {
        Some(day) => format!("wait until {day}, or raise the {level}'s budget"),
        None => format!("answer less often, or raise the {level}'s budget"),
    }
}

/// What was charged to one budget, and when.
pub(crate) struct Charges(Vec<(Day, Option<Nats>)>);

impl Charges {
    pub(crate) fn new(charges: impl IntoIterator<Item = (Day, Option<Nats>)>) -> Self {
        let mut charges: Vec<_> = charges.into_iter().collect();
        charges.sort_unstable_by_key(|&(day, _)| day);
        Self(charges)
    }

    /// Whether a release on this day still counts today.
    fn counts(budget: Budget, day: Day, today: Day) -> bool {
        budget.days.is_none_or(|days| day.days().saturating_add(days.get()) > today.days())
    }

    /// What counts as spent on a day. More than can be counted is more than any budget.
    pub(crate) fn spent(&self, budget: Budget, today: Day) -> Nats {
        let counted = self.0.iter().filter(|&&(day, _)| Self::counts(budget, day, today));
        let units = counted.filter_map(|&(_, cost)| cost).map(Nats::units);
        Nats::from_units(units.fold(0, u64::saturating_add))
    }

    /// How many of them have no finite level and still count.
    pub(crate) fn uncounted(&self, budget: Budget, today: Day) -> usize {
        let counted = self.0.iter().filter(|&&(day, _)| Self::counts(budget, day, today));
        counted.filter(|(_, cost)| cost.is_none()).count()
    }

    /// Whether a cost still fits into a budget.
    pub(crate) fn fits(&self, budget: Budget, cost: Nats, today: Day) -> bool {
        let total = self.spent(budget, today).checked_add(cost);
        total.is_some_and(|total| total <= budget.nats)
    }

    /// The first day on which a cost fits if nothing else is charged; `None` if it never will.
    pub(crate) fn refills(&self, budget: Budget, cost: Nats) -> Option<Day> {
        let days = budget.days?.get();
        // The sum only changes on the day on which one of them stops counting.
        let ends = self.0.iter().map(|&(day, _)| day.after(days));
        ends.filter(|&end| self.fits(budget, cost, end)).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn nats(units: u64) -> Nats {
        Nats::from_units(units)
    }

    #[test]
    fn a_window_counts_its_days_and_no_more() {
        let day = |days: u32| Day::new(days).unwrap();
        let charges = Charges::new([
            (day(112), Some(nats(4))),
            (day(100), Some(nats(3))),
            (day(105), Some(nats(2))),
            (day(105), None),
        ]);
        let budget = Budget::within(nats(9), 10).unwrap();
        let spent = |today| charges.spent(budget, day(today)).units();
        assert_eq!([spent(109), spent(110), spent(114), spent(115)], [9, 6, 6, 4]);
        assert_eq!([spent(121), spent(122)], [4, 0]);
        assert_eq!(charges.uncounted(budget, day(114)), 1);
        assert_eq!(charges.uncounted(budget, day(115)), 0);
        assert!(
            charges.fits(budget, nats(3), day(112)) && !charges.fits(budget, nats(4), day(112))
        );
        let refills = |cost| charges.refills(budget, nats(cost)).map(Day::days);
        assert_eq!(
            [refills(3), refills(5), refills(6), refills(10)],
            [Some(110), Some(115), Some(122), None]
        );
        // Without a window nothing comes back.
        assert_eq!(charges.spent(Budget::ever(nats(9)), Day::LAST), nats(9));
        assert_eq!(charges.refills(Budget::ever(nats(9)), nats(1)), None);
    }

    /// The yearly total against the greediest spender of a year, day by day.
    #[test]
    fn the_yearly_total_is_what_the_greediest_reach() {
        for days in [1, 2, 7, 30, 31, 182, 183, 364, 365, 366, 1000] {
            let budget = Budget::within(nats(5), days).unwrap();
            let mut spent = Vec::new();
            for today in 0..365u32 {
                let today = Day::new(1_000 + today).unwrap();
                while Charges::new(spent.clone()).fits(budget, nats(1), today) {
                    spent.push((today, Some(nats(1))));
                }
            }
            assert_eq!(budget.yearly().units(), spent.len() as u64, "{days}");
        }
        assert_eq!(Budget::ever(nats(5)).yearly(), nats(5));
        let budgets = Budgets { question: Budget::within(nats(9), 1).unwrap(), ..Budgets::DEFAULT };
        assert_eq!(budgets.yearly(Level::Question), nats(9 * 365));
        let device = Budget::ever(nats(10));
        assert_eq!(Budgets { device, ..budgets }.yearly(Level::Question), nats(10));
        assert!(Budget::within(nats(1), 0).is_none() && Budget::within(nats(1), 36_501).is_none());
    }
}
