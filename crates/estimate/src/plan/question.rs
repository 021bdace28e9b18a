//! One question of a plan: alone, combined with others, or in several items.

use super::{PlanTally, item};
use crate::answer::{Answer, Estimate, Shares};
use crate::decode::Score;
use crate::estimator::{bounds, check_values, onto_simplex, values_of};
use crate::headline::Headline;
use crate::interval::{IntervalMethod, Law, Limits, Problem};
use crate::pool::Group;
use crate::quantity::{range_of, rounding_of};
use crate::settings::{Method, Settings, Target};
use crate::{Error, Estimator, Pool};
use undertone_core::{Alphabet, Plan};

/// Answers about one question of a plan.
///
/// Where all reports are reports about this question, [`QuestionEstimator::whole`] has the estimator that answers everything; else the
/// unbiased shares and the mean are sums of scores of combined symbols.
#[derive(Debug)]
pub struct QuestionEstimator {
    answers: Alphabet,
    settings: Settings,
    items: Vec<u32>,
    answered: u64,
    basis: Basis,
}

#[derive(Debug)]
enum Basis {
    /// Everything is a report about this question, each of another person.
    Whole(Box<Estimator>),
    /// Some reports are about more, or several are of one person, at most `together`.
    Parts { parts: Vec<Part>, together: usize },
}

/// One item's reports.
#[derive(Debug)]
struct Part {
    estimator: Estimator,
    /// Which answer to the question each of its symbols has.
    points: Vec<u32>,
    /// How much its estimate counts, up to a factor.
    weight: f64,
}

/// The variance under the priors is averaged over so many answers at most.
const SAMPLED: usize = 64;

impl QuestionEstimator {
    /// Prepares a question of a plan, by its number; refuses one nobody has answered.
    pub fn new(
        plan: &Plan,
        tally: &PlanTally,
        question: usize,
        settings: Settings,
    ) -> Result<Self, Error> {
        tally.check(plan)?;
        let parts = plan.parts();
        let Some(asked) = parts.questions.get(question) else {
            let problem = format!("there are {} in the plan", parts.questions.len());
            return Err(Error::unanswerable("a question's number", problem));
        };
        let number = question as u32;
        let answers = asked.answers.clone();
        let has = |at: &usize| {
            parts.items[*at].questions.contains(&number) && tally.items()[*at].reports() > 0
        };
        let items: Vec<usize> = (0..parts.items.len()).filter(has).collect();
        if items.is_empty() {
            return Err(Error::NoReports);
        }
        let mut groups = Vec::new();
        for &at in &items {
            let group = item::group(plan, at, &tally.items()[at])?;
            let points = item::answers_of(plan, at, number);
            groups.push(if parts.items[at].questions.len() == 1 {
                (group, points, true)
            } else if let Some(own) = item::projected(&group, &points, answers.len()) {
                (own, (0..answers.len() as u32).collect(), true)
            } else {
                (group, points, false)
            });
        }
        let together = together(plan, tally, question, &items);
        let basis = if together == 1 && groups.iter().all(|(_, _, own)| *own) {
            let mut joined = Vec::new();
            groups.into_iter().try_for_each(|(group, ..)| item::join(&mut joined, group))?;
            joined.sort_by_key(|group| group.policy);
            let pool = Pool::of_groups(answers.clone(), joined);
            Basis::Whole(Box::new(Estimator::new(pool, settings)?))
        } else {
            let part = |(group, points, own): (Group, Vec<u32>, bool)| {
                let inputs = match own {
                    true => answers.clone(),
                    // Combined symbols have no names of their own.
                    false => Alphabet::indices(points.len()).map_err(|error| {
                        Error::unanswerable("a combined item", error.to_string())
                    })?,
                };
                Part::new(Pool::of(inputs, group), points, &answers, settings)
            };
            let parts = groups.into_iter().map(part).collect::<Result<_, Error>>()?;
            Basis::Parts { parts, together }
        };
        Ok(Self {
            answers,
            settings,
            items: items.iter().map(|&at| at as u32).collect(),
            answered: tally.answered(question),
            basis,
        })
    }

    /// The estimator that answers everything, where all reports are about this question and of different people.
    pub fn whole(&self) -> Option<&Estimator> {
        match &self.basis {
            Basis::Whole(estimator) => Some(estimator),
            Basis::Parts { .. } => None,
        }
    }

    /// The items with this question that have reports, by their numbers.
    pub fn items(&self) -> &[u32] {
        &self.items
    }

    /// How many people answered it.
    pub fn answered(&self) -> u64 {
        self.answered
    }

    /// The answers people could give.
    pub fn answers(&self) -> &Alphabet {
        &self.answers
    }

    /// Level, coverage and target.
    pub fn settings(&self) -> Settings {
        self.settings
    }

    /// How many reports its items have.
    pub fn reports(&self) -> u64 {
        match &self.basis {
            Basis::Whole(estimator) => estimator.pool().reports(),
            Basis::Parts { parts, .. } => parts
                .iter()
                .fold(0, |sum, part| sum.saturating_add(part.estimator.pool().reports())),
        }
    }

    /// The shares to print first, and why these.
    pub fn headline(&self) -> Result<Headline, Error> {
        match &self.basis {
            Basis::Whole(estimator) => estimator.headline(),
            Basis::Parts { parts, together } => Ok(Headline {
                shares: self.shares()?,
                because: match (parts.len(), together) {
                    (1, _) => "unbiased: the question was answered together with others, and its shares are sums of theirs".into(),
                    (items, 1) => format!("unbiased: the question is in {items} items, weighed by the precision their policies have under the priors"),
                    (items, most) => format!("unbiased: the question is in {items} items, of which one person answers up to {most}; intervals and errors allow for that"),
                },
            }),
        }
    }

    /// The unbiased share of every answer.
    pub fn shares(&self) -> Result<Shares, Error> {
        let Basis::Parts { parts, together } = &self.basis else {
            return self.whole().ok_or(Error::NoReports)?.shares(Method::Unbiased);
        };
        let size = self.answers.len();
        let one = |x: usize| {
            let mut values = vec![0.0; size];
            values[x] = 1.0;
            let miss = self.settings.miss(size);
            pooled(parts, *together, self.settings.target(), &values, miss)
                .estimate((0.0, 0.0), (0.0, 1.0))
        };
        Ok(Shares {
            method: Method::Unbiased,
            label: Method::Unbiased.label().into(),
            settings: self.settings,
            reports: self.reports(),
            symbols: (0..size).map(one).collect(),
        })
    }

    /// The unbiased share of every answer as it comes out, possible or not; the mean of many surveys' is right.
    pub fn statistics(&self) -> Vec<f64> {
        let Basis::Parts { parts, .. } = &self.basis else {
            return self.whole().map(Estimator::statistics).unwrap_or_default();
        };
        let size = self.answers.len();
        let one = |x: usize| {
            let mut values = vec![0.0; size];
            values[x] = 1.0;
            Combination::new(parts, self.settings.target(), &values).value
        };
        (0..size).map(one).collect()
    }

    /// Σ values(x) share(x), unbiased: a mean, or the share of several answers together.
    pub fn linear(&self, values: &[f64]) -> Result<Answer, Error> {
        check_values(values, self.answers.len())?;
        self.number(values, (0.0, 0.0), bounds(values))
    }

    /// The mean of the numbers the answers stand for, unbiased.
    pub fn mean(&self) -> Result<Answer, Error> {
        let values = values_of(&self.answers).ok_or_else(|| {
            Error::unanswerable(
                "a mean",
                "the answers are names, not numbers: give values for them",
            )
        })?;
        let (rounding, range) = (rounding_of(&self.answers), range_of(&self.answers, &values));
        self.number(&values, rounding, range)
    }

    fn number(
        &self,
        values: &[f64],
        rounding: (f64, f64),
        possible: (f64, f64),
    ) -> Result<Answer, Error> {
        let Basis::Parts { parts, together } = &self.basis else {
            let whole = self.whole().ok_or(Error::NoReports)?;
            return whole.linear_of(Method::Unbiased, values, rounding, possible);
        };
        let miss = self.settings.miss(1);
        let found = pooled(parts, *together, self.settings.target(), values, miss);
        Ok(Answer {
            method: Method::Unbiased,
            label: Method::Unbiased.label().into(),
            settings: self.settings,
            reports: self.reports(),
            estimate: found.estimate(rounding, possible),
        })
    }
}

/// How many of some items, which share a question, one person can have answered.
fn together(plan: &Plan, tally: &PlanTally, question: usize, items: &[usize]) -> usize {
    let reports =
        items.iter().fold(0u64, |sum, &at| sum.saturating_add(tally.items()[at].reports()));
    if tally.answered(question) == reports {
        // Every report is of another person.
        return 1;
    }
    let drawn = items.iter().filter(|&&at| plan.parts().items[at].weight > 0).count();
    items.len() - drawn + drawn.min(plan.parts().asked as usize)
}

impl Part {
    fn new(
        pool: Pool,
        points: Vec<u32>,
        answers: &Alphabet,
        settings: Settings,
    ) -> Result<Self, Error> {
        let estimator = Estimator::new(pool, settings)?;
        let mut part = Self { estimator, points, weight: 0.0 };
        let step = answers.len().div_ceil(SAMPLED);
        let (mut sum, mut count) = (0.0, 0.0);
        for x in (0..answers.len()).step_by(step) {
            let mut values = vec![0.0; answers.len()];
            values[x] = 1.0;
            if let Some(score) = part.score(&values) {
                let anchor = &part.estimator.anchor;
                sum += part.variance(&score, &values, anchor, Target::Population);
                count += 1.0;
            }
        }
        // An item that determines none of these answers may still determine another.
        part.weight = if sum > 0.0 { count / sum } else { 1e-30 };
        Ok(part)
    }

    fn group(&self) -> Option<&Group> {
        self.estimator.groups.first()
    }

    fn reports(&self) -> f64 {
        self.group().map_or(0.0, Group::reports)
    }

    /// Values of the question's answers as values of this item's symbols.
    fn lifted(&self, values: &[f64]) -> Vec<f64> {
        self.points.iter().map(|&point| values[point as usize]).collect()
    }

    /// The statistic of Σ values(x) share(x), where this item determines it.
    fn score(&self, values: &[f64]) -> Option<Score> {
        let lifted = self.lifted(values);
        let score = self.estimator.decoder().functional(&lifted)?;
        self.estimator.is_exact(&score, &lifted).then_some(score)
    }

    fn variance(&self, score: &Score, values: &[f64], p: &[f64], target: Target) -> f64 {
        score.variance(&self.estimator.groups, &self.lifted(values), p, target)
    }

    /// The population of combined symbols nearest to what this item says.
    fn population(&self) -> Vec<f64> {
        onto_simplex(&self.estimator.statistics())
    }
}

/// The items' scores for one number, and the part of the whole each has.
struct Combination<'a> {
    /// Items that determine the number; all, where none does.
    parts: Vec<(&'a Part, f64)>,
    scores: Vec<Option<Score>>,
    value: f64,
    identified: bool,
}

impl<'a> Combination<'a> {
    fn new(parts: &'a [Part], target: Target, values: &[f64]) -> Self {
        let all: Vec<(&Part, Option<Score>)> =
            parts.iter().map(|part| (part, part.score(values))).collect();
        let identified = all.iter().any(|(_, score)| score.is_some());
        // Respondents are whom they are: each item speaks of its own, and all of them count.
        let needed = |(_, score): &(&Part, Option<Score>)| {
            score.is_some() || !identified || target == Target::Respondents
        };
        let (used, scores): (Vec<&Part>, Vec<Option<Score>>) =
            all.into_iter().filter(needed).unzip();
        let weight = |part: &Part| match target {
            Target::Population => part.weight,
            Target::Respondents => part.reports(),
        };
        let total: f64 = used.iter().map(|part| weight(part)).sum();
        let parts: Vec<(&Part, f64)> =
            used.into_iter().map(|part| (part, weight(part) / total)).collect();
        let value = parts.iter().zip(&scores).map(|((part, share), score)| {
            let own = match score {
                Some(score) => score.value(&part.estimator.groups),
                // Not determined: what is nearest to what was assumed.
                None => {
                    let lifted = part.lifted(values);
                    let statistics = part.estimator.statistics();
                    statistics.iter().zip(&lifted).map(|(share, value)| share * value).sum()
                }
            };
            share * own
        });
        let value = value.sum();
        let identified = identified && scores.iter().all(Option::is_some);
        Self { parts, scores, value, identified }
    }

    /// The variance of the value, if every item's population is the one given: exact where every report is of another
    /// person, and never below the truth where up to `together` are of one.
    fn variance(
        &self,
        values: &[f64],
        together: usize,
        target: Target,
        population: impl Fn(&Part) -> Vec<f64>,
    ) -> f64 {
        let each = self.parts.iter().zip(&self.scores).map(|((part, share), score)| {
            let Some(score) = score else { return 0.0 };
            let p = population(part);
            let own = part.variance(score, values, &p, target);
            if together == 1 || target == Target::Respondents {
                return share * share * own;
            }
            // Of m reports of one person: (Σ c)² ≤ m Σ c², for what people differ in.
            let lifted = part.lifted(values);
            let mean: f64 = p.iter().zip(&lifted).map(|(p, value)| p * value).sum();
            let between: f64 =
                p.iter().zip(&lifted).map(|(p, value)| p * (value - mean).powi(2)).sum();
            share * share * (own + (together - 1) as f64 * between / part.reports())
        });
        each.sum()
    }
}

/// A number, its limits and its standard error.
struct Pooled {
    value: f64,
    limits: Limits,
    standard_error: Option<f64>,
}

impl Pooled {
    fn estimate(&self, rounding: (f64, f64), possible: (f64, f64)) -> Estimate {
        let limits = self.limits.widened(rounding.0, rounding.1);
        Estimate {
            standard_error: self.standard_error,
            identified: self.standard_error.is_some(),
            ..Estimate::clamped(self.value, limits, possible)
        }
    }
}

/// Σ values(x) share(x) from several items, its limits missed with probability at most `miss`.
fn pooled(parts: &[Part], together: usize, target: Target, values: &[f64], miss: f64) -> Pooled {
    let combined = Combination::new(parts, target, values);
    let standard_error = combined
        .identified
        .then(|| combined.variance(values, together, target, Part::population).sqrt());
    let limits = match (&combined.parts[..], target) {
        ([(part, _)], _) if together == 1 => part.estimator.limits(&part.lifted(values), miss),
        (several, Target::Respondents) => {
            let possible = bounds(values);
            let each = miss / several.len() as f64;
            let own = several.iter().map(|(part, share)| {
                let limits = part.estimator.limits(&part.lifted(values), each);
                let (low, high, _) = limits.within(possible);
                (share * low, share * high)
            });
            let (low, high) = own.fold((0.0, 0.0), |sum, own| (sum.0 + own.0, sum.1 + own.1));
            Limits { low, high, method: IntervalMethod::Chernoff }
        }
        (several, Target::Population) if combined.identified => {
            tilted(several, &combined.scores, together, values, miss)
        }
        // Whatever any of them refuses, at its part of the permitted misses.
        (several, Target::Population) => {
            let each = miss / several.len() as f64;
            let own =
                several.iter().map(|(part, _)| part.estimator.limits(&part.lifted(values), each));
            own.fold(Limits::EVERYTHING, |all, own| Limits {
                low: all.low.max(own.low),
                high: all.high.min(own.high),
                method: if own.low.is_finite() { own.method } else { all.method },
            })
        }
    };
    Pooled { value: combined.value, limits, standard_error }
}

/// Limits from one sum over all items: given its answer to the question, whatever the other answers are, a report's score
/// has at most the mass that the worst of them gives.
fn tilted(
    parts: &[(&Part, f64)],
    scores: &[Option<Score>],
    together: usize,
    values: &[f64],
    miss: f64,
) -> Limits {
    let mut laws = Vec::new();
    for ((part, share), score) in parts.iter().zip(scores) {
        let (Some(group), Some(score)) = (part.group(), score) else { continue };
        let Some(weights) = score.weights.first() else { continue };
        let weights: Vec<f64> = weights.iter().map(|weight| share * weight).collect();
        let law = Box::new(Law::of(group, &weights));
        let law = Law::Lumped { law, points: &part.points, size: values.len() };
        laws.push((group.reports(), law));
    }
    let problem = Problem::new(values.to_vec(), laws, false).with_together(together);
    let tail = miss / 2.0;
    Limits {
        low: problem.least_mean(tail),
        high: problem.most_mean(tail),
        method: IntervalMethod::Chernoff,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
