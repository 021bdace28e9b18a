//! The tightest chain of rules from one guarantee to a notion.
//!
//! Rules are monotone, so a label-correcting search suffices: every notion keeps the guarantees
//! reached so far that no other dominates, and each new one is carried on by every rule.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::{Guarantee, Missing, Notion, Rule, Setting, Step, rules};
use undertone_design::measure::delta::Convention;

/// Longer chains than this repeat themselves.
const LONGEST: usize = 8;

/// Which form of each rule to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    Corrected,
    Printed,
}

/// A guarantee reached, and how.
#[derive(Debug, Clone)]
pub(super) struct Label {
    pub guarantee: Guarantee,
    pub rules: Vec<&'static Rule>,
    pub steps: Vec<Step>,
}

/// A notion, and the convention of its δ; pure guarantees count as conditional.
type Node = (Notion, Convention);

fn node(guarantee: &Guarantee) -> Node {
    (guarantee.notion(), guarantee.convention())
}

/// Every guarantee of `to` that can be reached and that no other one dominates, the best first.
/// With δ > 0 only those in the wanted convention count.
pub(super) fn tightest(
    from: &Guarantee,
    to: Notion,
    wanted: Convention,
    setting: &Setting,
    reading: Reading,
) -> Vec<Label> {
    let start = Label { guarantee: *from, rules: vec![], steps: vec![] };
    let mut reached: BTreeMap<Node, Vec<Label>> = BTreeMap::new();
    let mut queue = VecDeque::from([start.clone()]);
    reached.insert(node(from), vec![start]);
    while let Some(label) = queue.pop_front() {
        if label.steps.len() == LONGEST {
            continue;
        }
        for rule in rules::all().filter(|rule| rule.applies(&label.guarantee)) {
            let form = match reading {
                Reading::Corrected => Some(rule.corrected),
                Reading::Printed => rule.printed.map(|printed| printed.form),
            };
            let Some(Ok(next)) = form.map(|form| form(&label.guarantee, setting)) else { continue };
            // δ = 1 promises nothing and always holds.
            let next = next.and_delta(next.delta().min(1.0), next.convention());
            if next.upper().is_nan() || next.lower().is_nan() || next.upper() == f64::INFINITY {
                continue;
            }
            let known = reached.entry(node(&next)).or_default();
            if known.iter().any(|old| dominates(&old.guarantee, &next)) {
                continue;
            }
            known.retain(|old| !dominates(&next, &old.guarantee));
            let mut next = Label { guarantee: next, ..label.clone() };
            next.rules.push(rule);
            next.steps.push(Step::of(rule, next.guarantee));
            known.push(next.clone());
            queue.push_back(next);
        }
    }
    let wanted = if from.is_pure() || to != Notion::Lip { Convention::Conditional } else { wanted };
    let mut found = reached.remove(&(to, wanted)).unwrap_or_default();
    found.retain(|label| label.guarantee.epsilon().is_finite() || to == Notion::Alip);
    let size = |g: &Guarantee| if to == Notion::Alip { g.lower() + g.upper() } else { g.epsilon() };
    found.sort_by(|a, b| {
        let (a, b) = (&a.guarantee, &b.guarantee);
        size(a).total_cmp(&size(b)).then(a.delta().total_cmp(&b.delta()))
    });
    found
}

/// Whether `a` promises at least as much as `b`, up to rounding.
fn dominates(a: &Guarantee, b: &Guarantee) -> bool {
    let within = |x: f64, y: f64| x <= y || x - y <= 1e-13 * (1.0 + y.abs());
    within(a.lower(), b.lower()) && within(a.upper(), b.upper()) && within(a.delta(), b.delta())
}

/// What would have to be known to get from `from` to `to`: the smallest set over all chains, or
/// `None` if no chain of rules leads there at all.
pub(super) fn missing(
    from: &Guarantee,
    to: Notion,
    wanted: Convention,
    setting: &Setting,
) -> Option<BTreeSet<Missing>> {
    let goal = if from.is_pure() || to != Notion::Lip {
        (to, Convention::Conditional)
    } else {
        (to, wanted)
    };
    let mut best: BTreeMap<Node, BTreeSet<Missing>> = BTreeMap::new();
    best.insert(node(from), BTreeSet::new());
    let mut queue = VecDeque::from([node(from)]);
    while let Some(at) = queue.pop_front() {
        let so_far = best[&at].clone();
        // Numbers do not matter here, only what each form asks for.
        let sample = |(notion, convention): Node| {
            let delta = if from.is_pure() || !notion.has_delta() { 0.0 } else { 1e-3 };
            Guarantee::raw(notion, 1.0).and_delta(delta, convention)
        };
        let premise = sample(at);
        for rule in rules::all().filter(|rule| rule.applies(&premise)) {
            let mut needs = so_far.clone();
            let next = match (rule.corrected)(&premise, setting) {
                Ok(next) => (rule.to, next.convention()),
                Err(missing) => {
                    needs.insert(missing);
                    (rule.to, Convention::Conditional)
                }
            };
            let better = best.get(&next).is_none_or(|old| needs.len() < old.len());
            if better {
                best.insert(next, needs);
                queue.push_back(next);
            }
        }
    }
    best.remove(&goal)
}

/// Whether rules lead from one notion to another at all, whatever they need.
pub(super) fn connected(from: Notion, to: Notion) -> bool {
    let mut seen = BTreeSet::from([from]);
    let mut queue = VecDeque::from([from]);
    while let Some(at) = queue.pop_front() {
        for rule in rules::all().filter(|rule| rule.from == at) {
            if seen.insert(rule.to) {
                queue.push_back(rule.to);
            }
        }
    }
    seen.contains(&to)
}
