//! What simpler plans are worth at the same level of the whole person.

use super::coins::{Coins, best_own_bit, binomial, subsets};
use super::group::{Group, MOST_QUESTIONS, symbols};
use super::mixture::{self, Column};
use super::outline::Outline;
use super::search::{MOST_GROUPS, Problem};
use super::target::Question;

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
        rs_fd: rs_fd(problem),
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

/// Random sampling plus fake data: each person randomises one question at the whole level and sends uniform fake answers
/// to all others without saying which is which, so every report of a question is true with chance 1/m. The best of its forms (randomised
/// response, bits with fake zeros, bits with fake answers) is taken for each question. Its own ε speaks of two people who differ in one answer; of the whole person
/// it is ε'-LDP ([`rs_fd_level`]), and this is its value at ε' = the level. Nothing for pairs, of which it tells nothing here, and for repeated reports.
pub fn rs_fd(problem: &Problem) -> Option<f64> {
    if problem.has_pairs() || problem.repeats.is_some() {
        return None;
    }
    let count = problem.questions.len() as f64;
    let one =
        |question: &Question| question.weight() * rs_fd_variance(question, count, problem.level);
    Some(problem.questions.iter().map(one).sum())
}

/// The level of the whole person of RS+FD over m questions, whose own level is ε.
pub fn rs_fd_level(own: f64, questions: usize) -> f64 {
    (questions as f64 * own.exp_m1()).ln_1p()
}

fn rs_fd_variance(question: &Question, count: f64, level: f64) -> f64 {
    let symbols = question.size() as f64;
    // With `fake` the chance that a fake answer counts for a symbol.
    let summed = |own: f64, other: f64, fake: f64| {
        let gap = own - other;
        let seen = |t: &f64| (other + t * gap) / count + (1.0 - 1.0 / count) * fake;
        let noise: f64 = question.shares().as_slice().iter().map(seen).map(|s| s * (1.0 - s)).sum();
        noise * (count / gap).powi(2)
    };
    let Coins::Keep { own, other } = Coins::keep(level, question.size()) else {
        return f64::INFINITY;
    };
    let kept = summed(own, other, 1.0 / symbols);
    let bits = |fake: &dyn Fn(f64, f64) -> f64| {
        let cost = |own: f64| match Coins::bits(level, own) {
            Coins::Bits { own, other } => summed(own, other, fake(own, other)),
            _ => f64::INFINITY,
        };
        cost(best_own_bit(level, cost))
    };
    let zeros = bits(&|_, other| other);
    let answers = bits(&|own, other| other + (own - other) / symbols);
    kept.min(zeros).min(answers)
}
