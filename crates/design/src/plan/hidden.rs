//! The best outline that also keeps beliefs within limits, by a judge that has the last word.
//!
//! If each person answers one group, every group can be brought within the limits by itself. What several items tell together is not the
//! sum of what each tells, so where everybody answers everything the level is split with a price on the part of the promises that each item uses up, and the
//! price is raised until the judge accepts. Any other outline is turned down as a whole.

use super::beliefs::Beliefs;
use super::compared;
use super::group::{Group, MOST_LISTED, Ways};
use super::levels;
use super::outline::{Outline, OutlineItem};
use super::search::{self, Problem};
use crate::Error;

/// Halvings of a price or a scale.
const HALVINGS: usize = 24;

/// The judge of an outline.
pub type Judge<'a> = &'a dyn Fn(&Outline) -> Result<bool, Error>;

/// The best outline found that the judge accepts.
pub fn best(problem: &Problem, beliefs: &Beliefs, judge: Judge<'_>) -> Result<Outline, Error> {
    let free = search::best(problem)?;
    if judge(&free)? {
        return Ok(free);
    }
    // From here on outputs are listed, so that the judge knows exactly how far belief moves.
    let ways = Ways { listed: true, ..problem.ways };
    let problem = &Problem { ways, ..problem.clone() };
    let mut found = Vec::new();
    let limit = |chosen: &[usize], level: f64| {
        let limits = beliefs.limits(chosen, level);
        let listed = |limit: f64| match fits(problem, beliefs, chosen) {
            // What is limited by the level alone needs no room.
            true if limit >= level => level,
            true => limit * INSIDE,
            false => 0.0,
        };
        search::Limits { kept: listed(limits.kept), other: listed(limits.other) }
    };
    let all: Vec<usize> = (0..problem.questions.len()).collect();
    if let Some(outline) = search::one_group(problem, &all, problem.level, &limit) {
        found.extend(turned_down(problem, &outline, judge)?);
    }
    found.extend(priced(problem, beliefs, judge)?);
    // What is simpler is never better, turned down as it must be.
    let simpler = [free, compared::equal_split(problem), compared::one_each(problem)];
    for outline in simpler.into_iter().chain(compared::combined(problem)) {
        found.extend(turned_down(problem, &outline, judge)?);
    }
    search::cheapest(problem, found).map_err(|_| {
        let fix = "no plan that tells every share keeps belief within the limits asked for: allow more, or leave out the questions that tell most about what is to be hidden";
        Error::Uninformative { problem: fix.into() }
    })
}

/// Limits are floats: levels stay this much inside.
const INSIDE: f64 = 1.0 - 1e-7;

/// Combinations times outcomes of one group that the kernel enumerates beside many others.
const MOST_STEPS: usize = 1 << 20;

/// Whether the kernel can be expected to list what a group tells.
fn fits(problem: &Problem, beliefs: &Beliefs, chosen: &[usize]) -> bool {
    let symbols: usize = chosen.iter().map(|&at| problem.questions[at].size()).product();
    chosen.len() == 1
        || (symbols <= 4 * MOST_LISTED
            && beliefs.states().is_some_and(|states| states * symbols <= MOST_STEPS))
}

/// An outline with all its levels turned down by one factor, the largest that the judge accepts; nothing if it accepts none.
pub fn turned_down(
    problem: &Problem,
    outline: &Outline,
    judge: Judge<'_>,
) -> Result<Option<Outline>, Error> {
    let scaled = |factor: f64| {
        let item = |item: &OutlineItem| {
            let group = problem.cheapest(&item.group.questions, item.group.level * factor)?;
            Some(OutlineItem { group, ..*item })
        };
        let items: Option<Vec<OutlineItem>> = outline.items.iter().map(item).collect();
        items.map(|items| Outline { items, asked: outline.asked })
    };
    if judge(outline)? {
        return Ok(Some(outline.clone()));
    }
    let (mut accepted, mut low, mut high) = (None, 0.0, 1.0);
    for _ in 0..HALVINGS {
        let middle = (low + high) / 2.0;
        match scaled(middle) {
            Some(outline) if judge(&outline)? => (accepted, low) = (Some(outline), middle),
            _ => high = middle,
        }
        if high - low < 1e-5 * high {
            break;
        }
    }
    Ok(accepted)
}

/// Everybody answers everything, with a price on what each item tells about what is to be hidden.
fn priced(
    problem: &Problem,
    beliefs: &Beliefs,
    judge: Judge<'_>,
) -> Result<Option<Outline>, Error> {
    let count = problem.questions.len();
    if problem.has_pairs() {
        let outline = search::everybody(problem);
        return turned_down(problem, &outline, judge);
    }
    let made = |price: f64| {
        // One item more takes what is not spent, at no cost.
        let levels = levels::split(count + 1, problem.level, |at, level| {
            if at == count {
                return 0.0;
            }
            let group = problem.cheapest(&[at], level);
            let cost = |group: Group| group.cost(&problem.questions, &problem.targets);
            group.map_or(f64::INFINITY, cost) + price * beliefs.used(&[at], level)
        });
        let groups = levels[..count].iter().enumerate();
        Outline::everybody(
            groups.filter_map(|(at, &level)| problem.cheapest(&[at], level)).collect(),
        )
    };
    // The price of using up a whole promise, from next to nothing to far above everything else.
    let typical = problem.value(&made(0.0)).max(f64::MIN_POSITIVE);
    let (mut accepted, mut low, mut high) = (None, -12.0, 12.0);
    for _ in 0..HALVINGS / 2 {
        let middle = (low + high) / 2.0f64;
        let outline = made(typical * middle.exp());
        if judge(&outline)? {
            (accepted, high) = (Some(outline), middle);
        } else {
            low = middle;
        }
    }
    match accepted {
        Some(outline) => Ok(Some(outline)),
        None => turned_down(problem, &made(typical * 12f64.exp()), judge),
    }
}
