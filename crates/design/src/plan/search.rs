//! The best outline at a person's level, among these kinds of plans:
//!
//! * everybody answers everything, in groups, the level split at its best;
//! * each person draws one group of questions at the whole level, any groups with any chances;
//! * each person draws several groups of a partition, each at the same part of the level;
//! * everybody answers the most important questions, and draws one group of the rest.
//!
//! Every simpler plan that the result is compared with is among the candidates, so it is never better.

use super::coins::{Coins, Repeats};
use super::compared;
use super::group::{Group, Ways, symbols};
use super::inclusion::Draw;
use super::levels;
use super::mixture::{self, Column};
use super::outline::{MOST_WEIGHTED, Outline};
use super::target::{Question, Target};
use crate::Error;

/// Groups of all sizes are listed while there are no more than this many; beyond, they are grown as the mixture asks for them.
pub const MOST_GROUPS: usize = 4_096;

/// A partition of more questions than this is not improved by merging.
const MOST_MERGED: usize = 16;

/// So many numbers of drawn groups get their best chances, which take a while.
const MOST_REFINED: usize = 2;

/// At most so many questions are answered by everybody beside a draw of the rest.
const MOST_BESIDE: usize = 4;

/// Parts of the level that are tried for what everybody answers beside a draw.
const BESIDE: [f64; 9] = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];

/// Below this level nothing is asked.
const LEAST_LEVEL: f64 = 1e-6;

/// What is asked for.
#[derive(Debug, Clone)]
pub struct Problem {
    /// The questions.
    pub questions: Vec<Question>,
    /// What is to be estimated.
    pub targets: Vec<Target>,
    /// The level of LDP that one person may spend in one period.
    pub level: f64,
    /// Which randomisations are looked at.
    pub ways: Ways,
}

/// The largest levels at which some questions may be asked together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// By randomised response.
    pub kept: f64,
    /// In any other way.
    pub other: f64,
}

/// At which levels, of at most the one given, some questions may be asked together.
pub type Limit<'a> = &'a dyn Fn(&[usize], f64) -> Limits;

/// Only the level itself is a limit.
pub fn whole(_: &[usize], level: f64) -> Limits {
    Limits { kept: level, other: level }
}

impl Problem {
    /// Checks the level, and that there is something to ask.
    pub fn new(
        questions: Vec<Question>,
        pairs: Vec<Target>,
        level: f64,
        repeats: Option<Repeats>,
    ) -> Result<Self, Error> {
        if questions.is_empty() {
            return Err(Error::Empty { what: "questions".into() });
        }
        if !(level > 0.0 && level.is_finite()) {
            return Err(Error::range("the person's level", level, "above 0 nats"));
        }
        if let Some(repeats) = repeats
            && !(repeats.first > 0.0 && repeats.first < 1.0 && repeats.reports > 0)
        {
            let problem = "the level of one report must be above 0 and below that of any number, with at least one report";
            return Err(Error::other("reports", problem));
        }
        let targets = Target::all(&questions, pairs);
        Ok(Self { questions, targets, level, ways: Ways { repeats, listed: false } })
    }

    /// What an outline is worth: the weighted sum of n times the variances.
    pub fn value(&self, outline: &Outline) -> f64 {
        outline.value(&self.questions, &self.targets)
    }

    /// The best single way to randomise some questions together.
    pub fn cheapest(&self, chosen: &[usize], level: f64) -> Option<Group> {
        Group::cheapest(&self.questions, &self.targets, chosen, level, self.ways)
    }

    /// Whether some pair is to be estimated.
    pub fn has_pairs(&self) -> bool {
        self.targets.iter().any(|target| target.questions.len() > 1)
    }

    fn all(&self) -> Vec<usize> {
        (0..self.questions.len()).collect()
    }
}

/// The best outline within the person's level.
pub fn best(problem: &Problem) -> Result<Outline, Error> {
    let mut found = vec![everybody(problem)];
    found.extend(one_group(problem, &problem.all(), problem.level, &whole));
    found.extend(several(problem));
    found.extend(beside(problem));
    found.extend([compared::equal_split(problem), compared::one_each(problem)]);
    found.extend(compared::combined(problem));
    cheapest(problem, found)
}

/// The outline that costs least; refused if none tells all targets.
pub fn cheapest(
    problem: &Problem,
    found: impl IntoIterator<Item = Outline>,
) -> Result<Outline, Error> {
    let worth = found.into_iter().map(|outline| (problem.value(&outline), outline));
    let best = worth.filter(|(value, _)| value.is_finite()).min_by(|a, b| a.0.total_cmp(&b.0));
    best.map(|(_, outline)| outline).ok_or_else(|| {
        let fix = "no plan tells every share and pair: ask for a larger level, or name fewer pairs";
        Error::Uninformative { problem: fix.into() }
    })
}

/// Everybody answers everything: the level is split at its best, and questions are merged into groups while that helps.
pub fn everybody(problem: &Problem) -> Outline {
    let mut parts: Vec<Vec<usize>> = problem.all().into_iter().map(|at| vec![at]).collect();
    let mut best = everybody_of(problem, &parts);
    let mut least = problem.value(&best);
    while parts.len() > 1 && parts.len() <= MOST_MERGED {
        // A merged group is first judged at the sum of the two levels, and the split found again for the best merger.
        let merged = mergers(&parts).filter_map(|(one, other, union)| {
            let level = best.items[one].group.level + best.items[other].group.level;
            let group = problem.cheapest(&union, level)?;
            let mut groups: Vec<Group> = best.items.iter().map(|item| item.group.clone()).collect();
            groups[one] = group;
            groups.remove(other);
            Some((problem.value(&Outline::everybody(groups)), one, other, union))
        });
        let Some((_, one, other, union)) = merged.min_by(|a, b| a.0.total_cmp(&b.0)) else { break };
        parts[one] = union;
        parts.remove(other);
        let found = everybody_of(problem, &parts);
        let value = problem.value(&found);
        if value >= least {
            break;
        }
        (best, least) = (found, value);
    }
    best
}

/// Pairs of parts, the first before the second, and their union.
fn mergers(parts: &[Vec<usize>]) -> impl Iterator<Item = (usize, usize, Vec<usize>)> + '_ {
    let pairs = (0..parts.len()).flat_map(|one| (one + 1..parts.len()).map(move |to| (one, to)));
    pairs.map(|(one, other)| (one, other, union(&parts[one], &parts[other])))
}

fn union(one: &[usize], other: &[usize]) -> Vec<usize> {
    let mut all = [one, other].concat();
    all.sort_unstable();
    all.dedup();
    all
}

/// Everybody answers each part as one group, at the best split of the level.
fn everybody_of(problem: &Problem, parts: &[Vec<usize>]) -> Outline {
    let made = |levels: &[f64]| {
        let groups = parts.iter().zip(levels).filter_map(|(part, &e)| problem.cheapest(part, e));
        Outline::everybody(groups.collect())
    };
    let levels = if problem.has_pairs() {
        let even = vec![problem.level / parts.len() as f64; parts.len()];
        let unit = even[0] / 2.0;
        levels::exchange(even, unit, |levels| problem.value(&made(levels)))
    } else {
        levels::split(parts.len(), problem.level, |part, level| {
            let group = problem.cheapest(&parts[part], level);
            group.map_or(f64::INFINITY, |group| group.cost(&problem.questions, &problem.targets))
        })
    };
    made(&levels)
}

/// Each person draws one group of some questions; `limit` says at which level a group may be asked.
pub fn one_group(
    problem: &Problem,
    among: &[usize],
    level: f64,
    limit: Limit<'_>,
) -> Option<Outline> {
    let targets: Vec<Target> = problem
        .targets
        .iter()
        .filter(|target| target.questions.iter().all(|at| among.contains(at)))
        .cloned()
        .collect();
    let columns = |chosen: &[usize]| columns(problem, &targets, chosen, limit(chosen, level));
    let (families, all) = families(problem, among);
    let mut found: Vec<Column> = families.iter().flat_map(|chosen| columns(chosen)).collect();
    if !all {
        // Groups grow from each question by what they are worth at the prices of the mixture so far.
        for _ in 0..20 {
            let mixture = mixture::solve(&found, &targets)?;
            let known: Vec<&[usize]> =
                found.iter().map(|column| column.group.questions.as_slice()).collect();
            let mut grown: Vec<Vec<usize>> = among
                .iter()
                .filter_map(|&seed| grow(among, seed, &mixture, &columns))
                .filter(|chosen| !known.contains(&chosen.as_slice()))
                .collect();
            grown.sort();
            grown.dedup();
            if grown.is_empty() {
                break;
            }
            found.extend(grown.iter().flat_map(|chosen| columns(chosen)));
        }
    }
    let (found, mixture) = mixture::pruned(found, &targets)?;
    let groups = found.into_iter().map(|column| column.group).zip(mixture.chances);
    Some(Outline::drawn(Vec::new(), groups.collect(), 1))
}

/// The groups to begin with: all of them if they are not too many, else those of one and of two questions that fit.
fn families(problem: &Problem, among: &[usize]) -> (Vec<Vec<usize>>, bool) {
    let fits = |chosen: &Vec<usize>| symbols(&problem.questions, chosen).is_some();
    if among.len() < 13 {
        let subset = |bits: usize| {
            let members = among.iter().enumerate().filter(|(at, _)| bits >> at & 1 == 1);
            members.map(|(_, &question)| question).collect::<Vec<_>>()
        };
        return ((1..1usize << among.len()).map(subset).filter(fits).collect(), true);
    }
    let singles = among.iter().map(|&at| vec![at]);
    let named = problem.targets.iter().map(|target| target.questions.clone());
    let mut found: Vec<Vec<usize>> = singles.chain(named.filter(fits)).collect();
    found.sort();
    found.dedup();
    (found, false)
}

/// The columns of a group: its ways to be randomised, and what they tell.
fn columns(problem: &Problem, targets: &[Target], chosen: &[usize], limits: Limits) -> Vec<Column> {
    let at = |level: f64| match level > LEAST_LEVEL {
        true => Group::candidates(&problem.questions, targets, chosen, level, problem.ways),
        false => Vec::new(),
    };
    let kept = |group: &Group| matches!(group.coins, Coins::Keep { .. } | Coins::Memo { .. });
    let found = at(limits.kept).into_iter().filter(kept);
    let found = found.chain(at(limits.other).into_iter().filter(|group| !kept(group)));
    let column = |group: Group| {
        let told = targets.iter().enumerate().filter_map(|(at, target)| {
            Some((at, 1.0 / group.variance(&problem.questions, target)?))
        });
        Column { told: told.collect(), group }
    };
    found.map(column).filter(|column| !column.told.is_empty()).collect()
}

/// The group with a question that is worth most at a mixture's prices, grown by one question at a time; nothing unless it
/// improves the mixture.
fn grow(
    among: &[usize],
    seed: usize,
    mixture: &mixture::Mixture,
    columns: &dyn Fn(&[usize]) -> Vec<Column>,
) -> Option<Vec<usize>> {
    let worth = |chosen: &[usize]| {
        let scores = columns(chosen);
        scores
            .iter()
            .map(|column| mixture::score(&column.told, &mixture.prices))
            .fold(0.0, f64::max)
    };
    let mut chosen = vec![seed];
    let mut value = worth(&chosen);
    loop {
        let larger =
            among.iter().filter(|at| !chosen.contains(at)).map(|&at| union(&chosen, &[at]));
        let best = larger.map(|group| (worth(&group), group)).max_by(|a, b| a.0.total_cmp(&b.0));
        match best {
            Some((found, group)) if found > value => (value, chosen) = (found, group),
            _ => break,
        }
    }
    (value > mixture.value * (1.0 + 1e-6)).then_some(chosen)
}

/// Each person draws several groups of a partition, each at the same part of the level: the numbers of groups that are best at equal
/// chances, with their best chances.
fn several(problem: &Problem) -> Vec<Outline> {
    let numbers = 2..problem.questions.len();
    let mut found: Vec<(f64, usize, Vec<Vec<usize>>)> =
        numbers.filter_map(|asked| partition(problem, asked)).collect();
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    found.truncate(MOST_REFINED);
    let refined = found.iter().filter_map(|(_, asked, parts)| {
        let level = problem.level / *asked as f64;
        let groups: Option<Vec<Group>> =
            parts.iter().map(|part| problem.cheapest(part, level)).collect();
        Some(draw_of(problem, groups?, *asked))
    });
    refined.collect()
}

/// The best partition of which each person draws `asked` groups with equal chances, and what it is worth.
fn partition(problem: &Problem, asked: usize) -> Option<(f64, usize, Vec<Vec<usize>>)> {
    let level = problem.level / asked as f64;
    let mut parts: Vec<Vec<usize>> = problem.all().into_iter().map(|at| vec![at]).collect();
    let worth = |parts: &[Vec<usize>]| {
        let groups: Option<Vec<Group>> =
            parts.iter().map(|part| problem.cheapest(part, level)).collect();
        groups.map(|groups| problem.value(&even_draw(groups, asked)))
    };
    let mut least = worth(&parts)?;
    while parts.len() > asked + 1 && parts.len() <= MOST_MERGED {
        let merged = mergers(&parts).filter_map(|(one, other, union)| {
            let mut fewer = parts.clone();
            fewer[one] = union;
            fewer.remove(other);
            Some((worth(&fewer)?, fewer))
        });
        match merged.min_by(|a, b| a.0.total_cmp(&b.0)) {
            Some((found, fewer)) if found < least => (least, parts) = (found, fewer),
            _ => break,
        }
    }
    Some((least, asked, parts))
}

fn even_draw(groups: Vec<Group>, asked: usize) -> Outline {
    Outline::drawn(Vec::new(), groups.into_iter().map(|group| (group, 1.0)).collect(), asked)
}

/// Each person draws `asked` of some groups, with chances in proportion to the roots of their costs; groups whose chance
/// would be one are answered by everybody.
fn draw_of(problem: &Problem, groups: Vec<Group>, asked: usize) -> Outline {
    if problem.has_pairs() || groups.len() > MOST_WEIGHTED {
        return even_draw(groups, asked);
    }
    let root = |group: &Group| group.cost(&problem.questions, &problem.targets).sqrt();
    let (mut all, mut drawn) = (Vec::new(), groups.clone());
    let mut left = asked;
    while left > 1 && drawn.len() > left {
        let sum: f64 = drawn.iter().map(root).sum();
        let most = (0..drawn.len()).max_by(|&a, &b| root(&drawn[a]).total_cmp(&root(&drawn[b])));
        match most {
            Some(at) if left as f64 * root(&drawn[at]) >= 0.98 * sum => {
                all.push(drawn.remove(at));
                left -= 1;
            }
            _ => break,
        }
    }
    let sum: f64 = drawn.iter().map(root).sum();
    let wanted: Vec<f64> = drawn.iter().map(|group| left as f64 * root(group) / sum).collect();
    if wanted.iter().any(|chance| *chance >= 0.999) {
        return even_draw(groups, asked);
    }
    let weights = Draw::weights_for(&wanted, left);
    let weighted = Outline::drawn(all, drawn.into_iter().zip(weights).collect(), left);
    let plain = even_draw(groups, asked);
    if problem.value(&weighted) < problem.value(&plain) { weighted } else { plain }
}

/// Everybody answers the most important questions, and draws one group of the rest.
fn beside(problem: &Problem) -> Vec<Outline> {
    let count = problem.questions.len();
    if problem.has_pairs() || count < 3 {
        return Vec::new();
    }
    let cost = |at: usize, level: f64| {
        let group = problem.cheapest(&[at], level);
        group.map_or(f64::INFINITY, |group| group.cost(&problem.questions, &problem.targets))
    };
    let mut order = problem.all();
    let important: Vec<f64> = order.iter().map(|&at| cost(at, problem.level)).collect();
    order.sort_by(|&a, &b| important[b].total_cmp(&important[a]).then(a.cmp(&b)));
    let mut found: Vec<Outline> = Vec::new();
    for everybody in 1..=MOST_BESIDE.min(count - 2) {
        let (always, rest) = order.split_at(everybody);
        let mut rest = rest.to_vec();
        rest.sort_unstable();
        let made = |part: f64| {
            let shared = problem.level * part;
            let levels = levels::split(always.len(), shared, |at, level| cost(always[at], level));
            let groups = always.iter().zip(levels);
            let groups = groups.filter_map(|(&at, level)| problem.cheapest(&[at], level)).collect();
            let drawn = one_group(problem, &rest, problem.level - shared, &whole)?;
            let drawn: Vec<(Group, f64)> = drawn
                .items
                .into_iter()
                .map(|item| (item.group, f64::from(item.weight).max(1.0)))
                .collect();
            Some(Outline::drawn(groups, drawn, 1))
        };
        let tried = BESIDE.iter().filter_map(|&part| made(part));
        let worth = tried.map(|outline| (problem.value(&outline), outline));
        let Some((value, best)) = worth.min_by(|a, b| a.0.total_cmp(&b.0)) else { continue };
        // Where one more question for everybody does not help, two will not.
        if found.last().is_some_and(|before| problem.value(before) <= value) {
            break;
        }
        found.push(best);
    }
    found
}
