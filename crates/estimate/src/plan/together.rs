//! Which items of a plan have some questions together.

use super::CrossTally;
use crate::Error;
use std::collections::BTreeSet;
use undertone_core::Plan;

/// More combinations of items than these are not counted for one set of questions.
const MOST: usize = 256;

/// The sets of two or three items that one person can answer and that have all of two or three questions together: what
/// [`PlanTally::with_crosses`](super::PlanTally::with_crosses) must count for their joint shares. Empty where one combined item has all of the
/// questions, whose own tally is enough.
pub fn items_together(plan: &Plan, questions: &[u32]) -> Result<Vec<Vec<u32>>, Error> {
    let parts = plan.parts();
    let refused = |problem: String| Err(Error::unanswerable("questions together", problem));
    let mut distinct: Vec<u32> = questions.to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    let known = distinct.iter().all(|&question| (question as usize) < parts.questions.len());
    if distinct.len() != questions.len() || !CrossTally::SIZES.contains(&distinct.len()) || !known {
        return refused(format!(
            "{questions:?}: give two or three different questions of the plan"
        ));
    }
    let mut found = BTreeSet::from([BTreeSet::<u32>::new()]);
    for question in &distinct {
        let with = |item: &usize| parts.items[*item].questions.contains(question);
        let with: Vec<u32> = (0..parts.items.len()).filter(with).map(|item| item as u32).collect();
        let joined = found.iter().flat_map(|set| {
            with.iter().map(move |&item| set.iter().copied().chain([item]).collect())
        });
        let possible = |set: &BTreeSet<u32>| {
            let drawn = set.iter().filter(|&&item| parts.items[item as usize].weight > 0);
            drawn.count() <= parts.asked as usize
        };
        found = joined.filter(possible).take(MOST * MOST + 1).collect();
    }
    let alone = found.iter().any(|set| set.len() == 1);
    let sets: Vec<Vec<u32>> = found
        .into_iter()
        .filter(|set| CrossTally::SIZES.contains(&set.len()))
        .map(|set| set.into_iter().collect())
        .collect();
    let names = || {
        let name = |&question: &u32| parts.questions[question as usize].name.as_str();
        distinct.iter().map(name).collect::<Vec<_>>().join(", ")
    };
    if sets.is_empty() && !alone {
        return refused(format!(
            "nobody answers {} together under this plan: combine them in one item, or ask more items of each person",
            names()
        ));
    }
    if sets.len() > MOST {
        return refused(format!(
            "{} are together in more than {MOST} sets of items: choose these by their numbers",
            names()
        ));
    }
    Ok(sets)
}
