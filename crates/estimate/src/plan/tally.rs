//! Counts of responses: all that the estimates of a plan's questions need, and mergeable without loss.

use super::cross::{CrossAxis, CrossTally, RawCross, check_items};
use crate::tally::RawTally;
use crate::{Error, Tally};
use serde::{Deserialize, Serialize};
use undertone_core::{ItemAnswer, Object, Plan, PlanId, Response, Token};

/// What the responses of one plan, in one period, say: a [`Tally`] for every item, how many people answered each question, and a
/// [`CrossTally`] for the pairs and triples of items that were chosen beforehand.
///
/// Counts are integers, so adding responses in any order, or merging tallies of any split of them, gives the same tally. Every
/// method either counts all it was given or, with an error, nothing. A response that is added twice is counted twice: whoever
/// collects them keeps their ids and adds each once. Reports that one person repeats within a period (items with `fresh`) are
/// no more people, and a tally cannot tell: add one of them, the first, or keep a tally for each.
///
/// As JSON it is exact and read strictly:
///
/// | field | content |
/// |---|---|
/// | `undertone` | `"plan-tally/1"` |
/// | `plan` | the plan's id |
/// | `responses` | how many responses |
/// | `answered` | for every question, how many of them have an item with it |
/// | `items` | for every item its `tally/1`, of the policy that draws its reports |
/// | `crosses` | in increasing order of `items`: `{"items": [i, j], "reports": n, "cells": [[event, event, count], ..]}`, cells that were seen, in increasing order |
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PlanTally {
    plan: PlanId,
    responses: u64,
    /// How many responses have an item with each question.
    answered: Vec<u64>,
    items: Vec<Tally>,
    crosses: Vec<CrossTally>,
}

/// The stored form.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawPlanTally {
    undertone: String,
    plan: String,
    responses: u64,
    answered: Vec<u64>,
    items: Vec<Object<RawTally>>,
    crosses: Vec<Object<RawCross>>,
}

const NAME: &str = "plan-tally/1";

impl PlanTally {
    /// No responses yet, and no combinations of items.
    pub fn new(plan: &Plan) -> Self {
        let items = 0..plan.parts().items.len();
        Self {
            plan: plan.id(),
            responses: 0,
            answered: vec![0; plan.parts().questions.len()],
            items: items.map(|item| Tally::new(plan.reporting_policy(item))).collect(),
            crosses: Vec::new(),
        }
    }

    /// No responses yet; combinations of these items are counted too, two or three at a time, their numbers increasing.
    /// The order of the list does not matter.
    pub fn with_crosses(plan: &Plan, crosses: &[Vec<u32>]) -> Result<Self, Error> {
        let mut wanted = crosses.to_vec();
        wanted.sort();
        wanted.dedup();
        let mut tally = Self::new(plan);
        for items in wanted {
            check_items(&items)?;
            let known = plan.parts().items.len();
            if let Some(item) = items.iter().find(|&&item| item as usize >= known) {
                return Err(Error::unanswerable(
                    "a tally of combinations",
                    format!("item {item}: the plan's items are numbered from 0 to {}", known - 1),
                ));
            }
            let axis = |&item: &u32| CrossAxis::of(plan.reporting_policy(item as usize));
            tally.crosses.push(CrossTally::new(items.clone(), items.iter().map(axis).collect())?);
        }
        Ok(tally)
    }

    /// A tally of no responses that counts the same.
    pub fn emptied(&self) -> Self {
        Self {
            plan: self.plan,
            responses: 0,
            answered: vec![0; self.answered.len()],
            items: self.items.iter().map(Tally::emptied).collect(),
            crosses: self.crosses.iter().map(CrossTally::emptied).collect(),
        }
    }

    /// The plan whose responses are counted.
    pub fn plan(&self) -> PlanId {
        self.plan
    }

    /// How many responses.
    pub fn responses(&self) -> u64 {
        self.responses
    }

    /// How many people answered a question, alone or together with others; 0 for one there is not.
    pub fn answered(&self, question: usize) -> u64 {
        self.answered.get(question).copied().unwrap_or(0)
    }

    /// The reports of every item.
    pub fn items(&self) -> &[Tally] {
        &self.items
    }

    /// The combinations that are counted, in the order of their items.
    pub fn crosses(&self) -> &[CrossTally] {
        &self.crosses
    }

    /// The combinations of these items, where they are counted.
    pub fn cross(&self, items: &[u32]) -> Option<&CrossTally> {
        self.crosses.iter().find(|cross| cross.items() == items)
    }

    /// Counts one response, which must be one of this plan's.
    pub fn add(&mut self, plan: &Plan, response: &Response) -> Result<(), Error> {
        plan.accepts(response).map_err(|error| Error::response(&error))?;
        self.add_answers(plan, &response.answers)
    }

    /// Counts the answers of one person without an id, such as a row of a released frame: items in increasing order, at most as many
    /// drawn ones as the plan asks.
    pub fn add_answers(&mut self, plan: &Plan, answers: &[ItemAnswer]) -> Result<(), Error> {
        self.expect(plan.id())?;
        let items = &plan.parts().items;
        let refused = |problem: String| Err(Error::response(&problem));
        let (mut before, mut drawn) = (None, 0);
        // A bit for each of at most 256 questions.
        let mut answered = [0u64; 4];
        for ItemAnswer { item, token } in answers {
            let Some((known, tally)) =
                items.get(*item as usize).zip(self.items.get(*item as usize))
            else {
                return refused(format!("item {item}, where the plan has {}", items.len()));
            };
            if before.is_some_and(|before| before >= *item) {
                return refused(format!("item {item} is answered twice or out of order"));
            }
            tally.check_token(token)?;
            drawn += u32::from(known.weight > 0);
            before = Some(*item);
            for &question in &known.questions {
                answered[question as usize / 64] |= 1 << (question % 64);
            }
        }
        if drawn > plan.parts().asked {
            let asked = plan.parts().asked;
            return refused(format!("{drawn} of the drawn items, of which {asked} are asked"));
        }
        self.responses.checked_add(1).ok_or(Error::Overflow)?;
        self.crosses.iter().try_for_each(CrossTally::has_room)?;
        self.responses += 1;
        for ItemAnswer { item, token } in answers {
            self.items[*item as usize].count(token);
        }
        for (question, count) in self.answered.iter_mut().enumerate() {
            *count += answered[question / 64] >> (question % 64) & 1;
        }
        for cross in &mut self.crosses {
            let token = |item: &u32| {
                let at = answers.binary_search_by_key(item, |answer| answer.item).ok()?;
                Some(&answers[at].token)
            };
            let tokens: Option<Vec<&Token>> = cross.items().iter().map(token).collect();
            if let Some(tokens) = tokens {
                cross.add(tokens.into_iter());
            }
        }
        Ok(())
    }

    /// Adds another tally of the same plan, which counts the same combinations.
    pub fn merge(&mut self, other: &Self) -> Result<(), Error> {
        self.expect(other.plan)?;
        let sizes = |tally: &Self| (tally.answered.len(), tally.items.len(), tally.crosses.len());
        if sizes(self) != sizes(other) {
            let problem = "the two count different items or combinations: count the same pairs and triples everywhere";
            return Err(Error::unanswerable("merging tallies of a plan", problem));
        }
        for (cross, more) in self.crosses.iter().zip(&other.crosses) {
            cross.check_merge(more)?;
        }
        // Nothing else is counted more often than there are responses.
        let responses = self.responses.checked_add(other.responses).ok_or(Error::Overflow)?;
        let mut items = self.items.clone();
        for (item, more) in items.iter_mut().zip(&other.items) {
            item.merge(more)?;
        }
        (self.responses, self.items) = (responses, items);
        self.answered.iter_mut().zip(&other.answered).for_each(|(count, more)| *count += more);
        for (cross, more) in self.crosses.iter_mut().zip(&other.crosses) {
            cross.merge(more);
        }
        Ok(())
    }

    /// The tally as JSON, exact to the last response.
    pub fn to_json(&self) -> String {
        let raw = RawPlanTally {
            undertone: NAME.into(),
            plan: self.plan.to_string(),
            responses: self.responses,
            answered: self.answered.clone(),
            items: self.items.iter().map(Tally::raw).collect(),
            crosses: self.crosses.iter().map(CrossTally::raw).collect(),
        };
        // A plain record of texts and integers always serialises.
        serde_json::to_string(&raw).unwrap_or_default()
    }

    /// Reads a tally; that it fits a plan is checked where the two meet ([`PlanTally::check`]).
    pub fn from_json(text: &str) -> Result<Self, Error> {
        let Object::<RawPlanTally>(raw) =
            serde_json::from_str(text).map_err(|error| Error::malformed(error.to_string()))?;
        if raw.undertone != NAME {
            let found = raw.undertone;
            return Err(Error::malformed(format!("version {found:?}, where {NAME:?} is read")));
        }
        let plan = raw.plan.parse().map_err(|error| Error::malformed(format!("{error}")))?;
        let read = |Object(raw): Object<RawTally>| Tally::from_raw(raw);
        let items: Vec<Tally> = raw.items.into_iter().map(read).collect::<Result<_, _>>()?;
        let axis = |item: u32| items.get(item as usize).map(axis_of);
        let read = |Object(raw): Object<RawCross>| CrossTally::from_raw(raw, axis);
        let crosses: Vec<CrossTally> =
            raw.crosses.into_iter().map(read).collect::<Result<_, _>>()?;
        let tally = Self { plan, responses: raw.responses, answered: raw.answered, items, crosses };
        tally.check_counts()?;
        Ok(tally)
    }

    /// Whether some responses could have these counts, as far as sums tell.
    fn check_counts(&self) -> Result<(), Error> {
        let most = self.items.iter().map(Tally::reports).chain(self.answered.iter().copied());
        if let Some(count) = most.max().filter(|&count| count > self.responses) {
            let problem =
                format!("a count of {count}, where there are {} responses", self.responses);
            return Err(Error::malformed(problem));
        }
        if self.crosses.windows(2).any(|pair| pair[0].items() >= pair[1].items()) {
            return Err(Error::malformed("its combinations are not in increasing order"));
        }
        for cross in &self.crosses {
            for (place, &item) in cross.items().iter().enumerate() {
                let tally = &self.items[item as usize];
                let fits = cross.reports() <= tally.reports()
                    && cross
                        .margin(place)
                        .iter()
                        .zip(tally.counts())
                        .all(|(part, all)| part <= all);
                if !fits {
                    return Err(Error::malformed(format!(
                        "the combinations of items {:?} have more reports than item {item} has",
                        cross.items()
                    )));
                }
            }
        }
        Ok(())
    }

    /// Whether this could be a tally of `plan`.
    pub fn check(&self, plan: &Plan) -> Result<(), Error> {
        if self.plan != plan.id() {
            return Err(Error::Plan { expected: plan.id(), found: self.plan });
        }
        let parts = plan.parts();
        let sizes = (self.items.len(), self.answered.len());
        if sizes != (parts.items.len(), parts.questions.len()) {
            return Err(Error::malformed(format!(
                "{} items and {} questions, where the plan has {} and {}",
                sizes.0,
                sizes.1,
                parts.items.len(),
                parts.questions.len()
            )));
        }
        for (item, tally) in self.items.iter().enumerate() {
            tally.check(plan.reporting_policy(item))?;
        }
        for (question, &answered) in self.answered.iter().enumerate() {
            let with = parts.items.iter().zip(&self.items);
            let with = with.filter(|(item, _)| item.questions.contains(&(question as u32)));
            let reports = with.map(|(_, tally)| tally.reports());
            let (least, most) = reports.fold((0, 0u64), |(least, most), reports| {
                (reports.max(least), most.saturating_add(reports))
            });
            if !(least..=most).contains(&answered) {
                return Err(Error::malformed(format!(
                    "question {:?} was answered by {answered} people, with between {least} and {most} reports",
                    parts.questions[question].name
                )));
            }
        }
        Ok(())
    }

    fn expect(&self, plan: PlanId) -> Result<(), Error> {
        if plan == self.plan {
            Ok(())
        } else {
            Err(Error::Plan { expected: self.plan, found: plan })
        }
    }
}

/// What an item contributes to combinations.
fn axis_of(tally: &Tally) -> CrossAxis {
    let size = tally.counts().len().try_into().unwrap_or(u32::MAX);
    if tally.counts_bits() { CrossAxis::Bits(size) } else { CrossAxis::Outputs(size) }
}
