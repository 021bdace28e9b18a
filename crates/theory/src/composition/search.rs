//! The exact worst case from one symbol's view: vertices of slices, layer by layer.
//!
//! f is linear in every single r_k, so its extreme is at vertices of the slices, which have all
//! coordinates but one at an end. The search builds products release by release, merges products
//! that agree up to an exchange of equally likely symbols, drops those that the relaxation
//! ([`super::relax`]) proves no better than what is known, and solves the last release by filling.
//!
//! When f is to be large, n equal releases may all use the same vector: by Hölder's inequality
//! Σ w Π_k r_k <= Π_k (Σ w r_k^n)^(1/n) <= max_k Σ w r_k^n for any weights w >= 0 that the other
//! releases leave. Such a group is one step of the search, however many releases it has.

use std::collections::HashSet;

use super::Side;
use super::relax::{self, Open};
use super::view::{Group, View};
use undertone_design::Error;

/// Above this many other symbols the vertices of a slice are no longer enumerated.
const MAX_OTHERS: usize = 15;

/// How much work one view may take, in steps of about ten nanoseconds.
const MAX_WORK: usize = 20_000_000;

/// Slack, in nats, within which a product counts as no better than the best one known.
const TOLERANCE: f64 = 1e-13;

/// A choice of r_k for every release, with the f it gives.
#[derive(Debug, Clone)]
pub(super) struct Found {
    pub(super) f: f64,
    /// r_k over `View::others`, in the order of the releases of the groups, group by group.
    pub(super) ratios: Vec<Vec<f64>>,
}

impl View {
    /// The groups, one entry per release, in search order.
    pub(super) fn sequence(&self) -> impl Iterator<Item = (usize, &Group)> {
        self.groups.iter().flat_map(|group| group.releases.iter().map(move |&k| (k, group)))
    }

    /// A good f by alternating exact single-release steps; a start for the exact search.
    pub(super) fn descend(&self) -> Found {
        let sequence: Vec<&Group> = self.sequence().map(|(_, group)| group).collect();
        let mut best = self.settle(&sequence, Vec::new());
        // Different first releases lead to different local optima.
        for first in 0..self.masses.len().min(MAX_OTHERS) {
            let Some(group) = sequence.first() else { break };
            let mut order = vec![1.0; self.masses.len()];
            order[first] = if self.sign() > 0.0 { 0.0 } else { 2.0 };
            let start = self.settle(&sequence, vec![self.fill(group, &order)]);
            if self.better(start.f, best.f) {
                best = start;
            }
        }
        best
    }

    fn better(&self, new: f64, old: f64) -> bool {
        self.sign() * (new - old) < 0.0
    }

    /// Completes a partial choice greedily, then improves one release at a time until none can be.
    fn settle(&self, sequence: &[&Group], mut ratios: Vec<Vec<f64>>) -> Found {
        while ratios.len() < sequence.len() {
            let others = product(&ratios, self.masses.len());
            ratios.push(self.fill(sequence[ratios.len()], &others));
        }
        let mut f = self.sum(&ratios);
        loop {
            for k in 0..ratios.len() {
                let kept = std::mem::take(&mut ratios[k]);
                let rest: Vec<Vec<f64>> =
                    ratios.iter().filter(|r| !r.is_empty()).cloned().collect();
                ratios[k] = self.fill(sequence[k], &product(&rest, self.masses.len()));
                if !self.better(self.sum(&ratios), f) {
                    ratios[k] = kept;
                }
            }
            let now = self.sum(&ratios);
            if self.sign() * (now - f) >= -TOLERANCE * f.abs() || !now.is_finite() {
                return Found { f: now, ratios };
            }
            f = now;
        }
    }

    /// The best single release against the product of the others: a fractional knapsack. When f is
    /// to be small the budget goes where the others' product is smallest, otherwise where largest.
    fn fill(&self, group: &Group, others: &[f64]) -> Vec<f64> {
        let mut order: Vec<usize> = (0..others.len()).collect();
        order.sort_by(|&a, &b| (self.sign() * others[a]).total_cmp(&(self.sign() * others[b])));
        let mut ratio = group.low.clone();
        let lowest: f64 = ratio.iter().zip(&self.masses).map(|(r, p)| r * p).sum();
        let mut left = group.budget - lowest;
        for z in order {
            if left <= 0.0 {
                break;
            }
            let step = (group.high[z] - ratio[z]).min(left / self.masses[z]);
            ratio[z] += step;
            left -= step * self.masses[z];
        }
        ratio
    }

    fn sum(&self, ratios: &[Vec<f64>]) -> f64 {
        product(ratios, self.masses.len()).iter().zip(&self.masses).map(|(r, p)| r * p).sum()
    }

    /// A bound no choice can beat: f is at least (raised) or at most (lowered) this.
    pub(super) fn limit(&self) -> f64 {
        let weights: Vec<f64> = self.masses.iter().map(|p| self.sign() * p).collect();
        let open: Vec<Open<'_>> =
            self.groups.iter().map(|group| Open { group, count: group.releases.len() }).collect();
        self.sign() * relax::least(&weights, &self.masses, &open)
    }

    /// The best choice if it leaks more than `known`, and nothing if none does.
    pub(super) fn search(&self, known: f64) -> Result<Option<Found>, Error> {
        let no_better =
            |f: f64, best: f64| self.leakage(f) <= best + TOLERANCE * (1.0 + best.abs());
        if no_better(self.limit(), known) {
            return Ok(None);
        }
        if self.others.len() > MAX_OTHERS {
            return Err(too_large("the number of symbols", self.others.len() + 1, MAX_OTHERS + 1));
        }
        let vertices: Vec<Vec<Vec<f64>>> = self.groups.iter().map(|g| self.vertices(g)).collect();
        let classes = self.classes();
        let (mut best, mut found) = (known, None);
        let mut work = 0;
        let mut layer = vec![(vec![1.0; self.masses.len()], Vec::<Vec<f64>>::new())];
        let steps = self.steps();
        let mut done = 0;
        for (at, &(g, times)) in steps.iter().enumerate() {
            let last = at + 1 == steps.len();
            done += times;
            let open: Vec<Open<'_>> = open_after(&self.groups, done);
            let cost = self.masses.len() * (2 + relax::priced(&open).1);
            let mut seen = HashSet::new();
            let mut next = Vec::new();
            for (so_far, ratios) in &layer {
                let filled;
                let choices = if last && times == 1 {
                    filled = [self.fill(&self.groups[g], so_far)];
                    &filled[..]
                } else {
                    &vertices[g][..]
                };
                for choice in choices {
                    let value: Vec<f64> =
                        so_far.iter().zip(choice).map(|(a, b)| a * b.powi(times as i32)).collect();
                    if !last && !seen.insert(key(&value, &classes)) {
                        continue;
                    }
                    work += cost;
                    if work > MAX_WORK {
                        return Err(too_large(
                            "the search over products of lift vectors",
                            work,
                            MAX_WORK,
                        ));
                    }
                    let weights: Vec<f64> =
                        value.iter().zip(&self.masses).map(|(v, p)| self.sign() * v * p).collect();
                    let limit = self.sign() * relax::least(&weights, &self.masses, &open);
                    if no_better(limit, best) {
                        continue;
                    }
                    let mut ratios = ratios.clone();
                    ratios.extend(std::iter::repeat_n(choice.clone(), times));
                    if last {
                        best = self.leakage(limit);
                        found = Some(Found { f: limit, ratios });
                    } else {
                        next.push((value, ratios));
                    }
                }
            }
            layer = next;
        }
        Ok(found)
    }

    /// The steps of the search: a group, and how many of its releases take the same vector.
    fn steps(&self) -> Vec<(usize, usize)> {
        let mut steps = Vec::new();
        for (g, group) in self.groups.iter().enumerate() {
            match self.side {
                Side::Raised => steps.extend(std::iter::repeat_n((g, 1), group.releases.len())),
                Side::Lowered => steps.push((g, group.releases.len())),
            }
        }
        steps
    }

    /// The distinct vertices of a slice: every coordinate but one at an end.
    fn vertices(&self, group: &Group) -> Vec<Vec<f64>> {
        let m = self.masses.len();
        let mut all = Vec::new();
        let mut seen = HashSet::new();
        for free in 0..m {
            for mask in (0..1u32 << m).filter(|mask| mask >> free & 1 == 0) {
                let end = |z: usize| if mask >> z & 1 == 1 { group.high[z] } else { group.low[z] };
                let mut ratio: Vec<f64> = (0..m).map(end).collect();
                let rest: f64 =
                    (0..m).filter(|&z| z != free).map(|z| ratio[z] * self.masses[z]).sum();
                let value = (group.budget - rest) / self.masses[free];
                let slack = 1e-12 * group.high[free];
                if group.low[free] - slack <= value && value <= group.high[free] + slack {
                    ratio[free] = value.clamp(group.low[free], group.high[free]);
                    if seen.insert(ratio.iter().map(|&r| rounded(r)).collect::<Vec<_>>()) {
                        all.push(ratio);
                    }
                }
            }
        }
        all
    }

    /// Symbols of equal mass are interchangeable: the first symbol of the same mass, for each.
    fn classes(&self) -> Vec<usize> {
        let first = |p: &f64| self.masses.iter().position(|q| q == p).unwrap_or(0);
        self.masses.iter().map(first).collect()
    }
}

/// What remains open of each group once `done` releases are fixed.
fn open_after(groups: &[Group], done: usize) -> Vec<Open<'_>> {
    let mut done = done;
    let mut open = Vec::new();
    for group in groups {
        let fixed = done.min(group.releases.len());
        done -= fixed;
        if fixed < group.releases.len() {
            open.push(Open { group, count: group.releases.len() - fixed });
        }
    }
    open
}

fn product(ratios: &[Vec<f64>], m: usize) -> Vec<f64> {
    let mut value = vec![1.0; m];
    for ratio in ratios {
        value.iter_mut().zip(ratio).for_each(|(v, r)| *v *= r);
    }
    value
}

/// Equal for products that differ only by float noise.
fn rounded(value: f64) -> i64 {
    (value.ln() * 1e12).round() as i64
}

/// Equal for products that differ only by an exchange of equally likely symbols.
fn key(value: &[f64], classes: &[usize]) -> Vec<(usize, i64)> {
    let mut key: Vec<_> = classes.iter().copied().zip(value.iter().map(|&v| rounded(v))).collect();
    key.sort_unstable();
    key
}

pub(super) fn too_large(what: &str, size: usize, limit: usize) -> Error {
    Error::TooLarge {
        what: what.into(),
        size,
        limit,
        fix: "use the sharpened bound, merge rare symbols, or compose fewer releases".into(),
    }
}
