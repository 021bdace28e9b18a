//! One item's reports, as reports about its combined symbols or about one of its questions.

use super::PlanTally;
use crate::channel::{Channel, Keep, Table};
use crate::pool::Group;
use crate::{Error, Estimator, Pool, Settings, Tally};
use undertone_core::{Alphabet, Context, Plan, Prior};

/// The most cells, and the most products, of two channels in a row that are written out.
const MOST_CELLS: usize = 1 << 24;
const MOST_PRODUCTS: usize = 1 << 32;

/// The channel from an item's answer to its report: the policy's, and behind it that of `fresh` where reports are drawn
/// from a kept answer.
pub(super) fn channel(plan: &Plan, item: usize) -> Result<Channel, Error> {
    let memo = Channel::new(plan.policy_of(item).draft().shape())?;
    if plan.parts().items[item].fresh.is_none() {
        return Ok(memo);
    }
    in_a_row(&memo, &Channel::new(plan.reporting_policy(item).draft().shape())?)
}

fn in_a_row(memo: &Channel, fresh: &Channel) -> Result<Channel, Error> {
    if let (Channel::Keep(first), Channel::Keep(second)) = (memo, fresh)
        && let (Some(a), Some(b)) = (first.constant(), second.constant())
    {
        // Kept twice, or drawn by the first and kept by the second, or drawn by the second.
        let drawn = |(one, two): (&f64, &f64)| b * (1.0 - a) * one + (1.0 - b) * two;
        let rest = 1.0 - a * b;
        let base = first.base.iter().zip(&second.base).map(drawn);
        let base = match rest > 0.0 {
            true => base.map(|mass| mass / rest).collect(),
            false => first.base.clone(),
        };
        return Ok(Channel::Keep(Keep { keep: vec![a * b; first.base.len()], base }));
    }
    let (memo, fresh) = (memo.one_output()?, fresh.one_output()?);
    if memo.bits().or(fresh.bits()).is_some() {
        let problem = "bits drawn from a kept answer are not independent, and their counts alone do not say how they vary: use a table or keep policy as fresh";
        return Err(Error::unanswerable("an item with a fresh policy", problem));
    }
    let (inputs, outputs) = (memo.inputs(), fresh.outputs());
    let cells = inputs.saturating_mul(outputs);
    if cells > MOST_CELLS || cells.saturating_mul(memo.outputs()) > MOST_PRODUCTS {
        let what = "the two channels of an item in a row";
        return Err(Error::TooLarge { what, cells, limit: MOST_CELLS });
    }
    let mut written = Vec::with_capacity(cells);
    let mut row = vec![0.0; memo.outputs()];
    for x in 0..inputs {
        row.iter_mut().enumerate().for_each(|(y, cell)| *cell = memo.at(x, y));
        written.extend(fresh.forward(&row));
    }
    Ok(Channel::Table(Table::of_cells(outputs, written)))
}

/// Which answer to a question each combined symbol of an item has; just the symbols where the item has one question.
pub(super) fn answers_of(plan: &Plan, item: usize, question: u32) -> Vec<u32> {
    let size = |&question: &u32| plan.parts().questions[question as usize].answers.len();
    let questions = &plan.parts().items[item].questions;
    let all: usize = questions.iter().map(size).product();
    // How many combined symbols share an answer to this question and to all before it.
    let behind: usize =
        questions.iter().skip_while(|&&other| other != question).skip(1).map(size).product();
    let own = size(&question);
    (0..all).map(|symbol| (symbol / behind % own) as u32).collect()
}

/// An item's reports about its combined symbols.
pub(super) fn group(plan: &Plan, item: usize, tally: &Tally) -> Result<Group, Error> {
    tally.check(plan.reporting_policy(item))?;
    Ok(Group::through(plan.policy_of(item), channel(plan, item)?, tally.clone()))
}

/// An estimator of one item's answers: for a combined item, of the joint shares of its questions' answers, numbered with the first
/// question's the most significant digit.
pub fn item_estimator(
    plan: &Plan,
    tally: &PlanTally,
    item: usize,
    settings: Settings,
) -> Result<Estimator, Error> {
    let Some(counts) = tally.items().get(item).filter(|_| tally.plan() == plan.id()) else {
        let problem = format!("there are {} in the plan", plan.parts().items.len());
        return Err(Error::unanswerable("an item's number", problem));
    };
    let group = group(plan, item, counts)?;
    let inputs = match plan.parts().items[item].questions.as_slice() {
        [question] => plan.parts().questions[*question as usize].answers.clone(),
        // Combined symbols have no names of their own.
        _ => Alphabet::indices(group.channel.inputs())
            .map_err(|error| Error::unanswerable("a combined item", error.to_string()))?,
    };
    Estimator::new(Pool::of(inputs, group), settings)
}

/// A combined item's reports as reports about one question, where that is exact: if all combined symbols are kept with one
/// probability, so are the answers to the question, whatever the other answers are.
pub(super) fn projected(group: &Group, points: &[u32], size: usize) -> Option<Group> {
    let Channel::Keep(keep) = &group.channel else { return None };
    let kept = keep.constant()?;
    let mut base = vec![0.0; size];
    keep.base.iter().zip(points).for_each(|(mass, &point)| base[point as usize] += mass);
    let context = match &group.context {
        Context::Known(prior) => {
            let mut weights = vec![0; size];
            let pairs = prior.weights().iter().zip(points);
            pairs.for_each(|(weight, &point)| weights[point as usize] += weight);
            Prior::new(weights).map_or(Context::Unknown, Context::Known)
        }
        _ => Context::Unknown,
    };
    let channel = Channel::Keep(Keep { keep: vec![kept; size], base });
    let tally = group.tally.lumped(points, size);
    Some(group.about(channel, context, tally))
}

/// Adds a group to others about the same question: to one whose channel is the same, or behind them.
pub(super) fn join(groups: &mut Vec<Group>, group: Group) -> Result<(), Error> {
    let same = |other: &&mut Group| {
        other.policy == group.policy
            && other.tally.policy() == group.tally.policy()
            && other.context == group.context
            && alike(&other.channel, &group.channel)
    };
    match groups.iter_mut().find(same) {
        Some(other) => other.merge(&group),
        None => {
            groups.push(group);
            Ok(())
        }
    }
}

/// Whether two channels of one policy differ by no more than the rounding of its integers: sums of masses over other questions'
/// answers are of 2^-48 each.
fn alike(one: &Channel, other: &Channel) -> bool {
    let near = |a: &[f64], b: &[f64]| {
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-12)
    };
    match (one, other) {
        (Channel::Keep(a), Channel::Keep(b)) => near(&a.keep, &b.keep) && near(&a.base, &b.base),
        (Channel::Table(a), Channel::Table(b)) => {
            a.inputs() == b.inputs() && a.rows().zip(b.rows()).all(|(a, b)| near(a, b))
        }
        (Channel::Bits(a), Channel::Bits(b)) => {
            // One policy's bits go together in one way.
            a.symbols() == b.symbols() && near(&[a.own, a.other], &[b.own, b.other])
        }
        _ => false,
    }
}
