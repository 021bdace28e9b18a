//! What simpler plans are worth at the same level of the whole person.

use super::coins::{binomial, subsets};
use super::group::{Group, MOST_QUESTIONS, symbols};
use super::mixture::{self, Column};
use super::outline::Outline;
use super::rs_fd;
use super::search::{MOST_GROUPS, Problem};

/// Weighted sums of n times the variances of simpler plans; nothing where a plan cannot tell a target.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Compared {
    /// Everybody answers every question, each at the same part of the level.
    pub equal_split: Option<f64>,
    /// Each person answers one question, all with the same chance.
    pub one_each: Option<f64>,
    /// Each person answers one combined symbol of s questions, for the best s of at least two.
    pub combined: Option<f64>,
    /// Random sampling plus fake data at this level of the whole person.
    pub rs_fd: Option<f64>,
}

/// What the simpler plans are worth.
pub fn compared(problem: &Problem) -> Compared {
    let worth = |outline: &Outline| Some(problem.value(outline)).filter(|value| value.is_finite());
    Compared {
        equal_split: worth(&equal_split(problem)),
        one_each: worth(&one_each(problem)),
        combined: combined(problem).as_ref().and_then(worth),
        rs_fd: rs_fd::value(problem),
    }
}

/// Everybody answers every question at the same part of the level.
pub fn equal_split(problem: &Problem) -> Outline {
    let level = problem.level / problem.questions.len() as f64;
    let groups = (0..problem.questions.len()).filter_map(|at| problem.cheapest(&[at], level));
    Outline::everybody(groups.collect())
}

/// Each person answers one question, all with the same chance.
pub fn one_each(problem: &Problem) -> Outline {
    let groups =
        (0..problem.questions.len()).filter_map(|at| problem.cheapest(&[at], problem.level));
    Outline::drawn(Vec::new(), groups.map(|group| (group, 1.0)).collect(), 1)
}

/// Each person answers one combined symbol of s questions at the whole level, for the best s: all groups of s questions, or
/// a partition if they are too many, with their best chances.
pub fn combined(problem: &Problem) -> Option<Outline> {
    let count = problem.questions.len();
    let found = (2..=count.min(MOST_QUESTIONS)).filter_map(|size| combined_of(problem, size));
    let worth = found.map(|outline| (problem.value(&outline), outline));
    worth.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, outline)| outline)
}

/// Each person answers one combined symbol of `size` questions.
fn combined_of(problem: &Problem, size: usize) -> Option<Outline> {
    let count = problem.questions.len();
    let families: Vec<Vec<usize>> = if binomial(count, size) <= MOST_GROUPS {
        subsets(count, size)
    } else {
        let all: Vec<usize> = (0..count).collect();
        all.chunks(size).map(<[usize]>::to_vec).collect()
    };
    let fits = |chosen: &&Vec<usize>| symbols(&problem.questions, chosen).is_some();
    let made =
        families.iter().filter(fits).filter_map(|chosen| problem.cheapest(chosen, problem.level));
    let column = |group: Group| {
        let told = problem.targets.iter().enumerate().filter_map(|(at, target)| {
            Some((at, 1.0 / group.variance(&problem.questions, target)?))
        });
        Column { told: told.collect(), group }
    };
    let (columns, mixture) = mixture::pruned(made.map(column).collect(), &problem.targets)?;
    let groups = columns.into_iter().map(|column| column.group).zip(mixture.chances);
    Some(Outline::drawn(Vec::new(), groups.collect(), 1))
}
