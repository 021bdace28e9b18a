//! The channel for a mean: released numbers whose plain average is unbiased, with the least variance under the claims.
//!
//! **Problem.** Inputs are points x on a line. A channel w and numbers v_y with Σ_y w(y|x) v_y = x for every x are wanted. Where
//! nothing is known of the inputs, the largest variance Σ_y w(y|x) v_y² - x² over all x is to be least; where a law is known,
//! its mean under that law.
//!
//! **Derivation.** A column w(y|·) may be any vector of the cone the claims leave: entries within e^ε of each other (LDP),
//! within a factor of their mean under the prior (LIP). Unbiasedness and both variances are linear in the columns once
//! each has its number v, so this is a linear program with one variable for each pair of a column and a v.
//! The best column for given prices and v is found greedily, and the best v by a search on a line: column
//! generation then ends at the optimum over all channels and all numbers, not over a family of them. Columns are
//! scaled to a mean of one under a law of the inputs, so their masses sum to one and the most negative
//! reduced cost bounds how far the value can still fall ([`UnbiasedMean::bound`]).
//!
//! Between two points rows may be interpolated: that keeps every claim and the mean, and raises E v² no more than
//! linearly. Where there are many points, the program is solved at nodes between the ends of the range.
//!
//! **What the kernel re-checks.** Every inequality, on the integers that ship.

use undertone_numeric::golden_section::golden_section;
use undertone_numeric::simplex::{Bounds, Row, Simplex, Verdict};

use crate::Error;

/// The most points at which the program is solved as they are.
pub const MOST_NODES: usize = 17;

/// The most points at which it is solved where they mirror each other, and evenly spaced nodes where the worst variance counts.
const MOST_MIRRORED: usize = 33;

/// The program is solved when the value is within this of its bound, as a share of the value.
const GAP: f64 = 1e-4;

/// Rounds of column generation, far more than were ever needed.
const MOST_ROUNDS: usize = 400;

/// Numbers v at which columns are looked for before the best of them are refined.
const SEARCHED: usize = 480;

/// Columns added in one round.
const ADDED: usize = 16;

/// What the claims leave to a column of the channel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ColumnLimits {
    /// The largest ratio of two entries; infinite without an LDP claim.
    pub ratio: f64,
    /// The least an entry may be of the column's mean under the prior; 0 without a LIP claim.
    pub least: f64,
    /// The most an entry may be of the column's mean under the prior; infinite without a LIP claim.
    pub most: f64,
}

/// How the variances at the points are weighed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weighing {
    /// The largest counts.
    Worst,
    /// Their mean under the law of the inputs.
    Expected,
}

/// Points on a line, and what is wanted of a channel that releases numbers for them.
#[derive(Debug, Clone)]
pub struct MeanProblem {
    /// The inputs, increasing; at least two.
    pub points: Vec<f64>,
    /// The law the LIP claims speak of and that weighs variances.
    pub law: Vec<f64>,
    /// What the claims leave to a column.
    pub limits: ColumnLimits,
    /// How variances are weighed.
    pub weighing: Weighing,
}

/// A channel and its numbers, before rounding.
#[derive(Debug, Clone)]
pub struct UnbiasedMean {
    /// One row per input.
    pub rows: Vec<Vec<f64>>,
    /// One number per output, increasing.
    pub values: Vec<f64>,
    /// The variance of one released number, weighed as asked.
    pub variance: f64,
    /// No channel and no numbers have a smaller variance: at the points where there are few, for all numbers of the range where the
    /// worst counts among many, and not known where a law of many points weighs.
    pub bound: Option<f64>,
}

/// Solves the problem.
pub fn design(problem: &MeanProblem) -> Result<UnbiasedMean, Error> {
    let Scaled { points, middle, half } = Scaled::of(&problem.points)?;
    let nodes = Nodes::of(&points, &problem.law, problem.weighing);
    // What interpolation of a law makes of a program says nothing of other channels.
    let exact = problem.weighing == Weighing::Worst || nodes.points == points;
    let (columns, bound) = Program::new(&nodes, problem)?.solve()?;
    let values: Vec<f64> = columns.iter().map(|column| column.value).collect();
    let rows: Vec<Vec<f64>> = points.iter().map(|&x| nodes.interpolated(x, &columns)).collect();
    let found = UnbiasedMean {
        values: values.iter().map(|value| middle + half * value).collect(),
        variance: 0.0,
        bound: exact.then_some(bound * half * half),
        rows,
    };
    let variance = weighed_variance(problem, &found.rows, &found.values);
    Ok(UnbiasedMean { variance, ..found })
}

/// The variance of one number released under `rows` for each of the problem's points, weighed as the problem asks.
pub fn weighed_variance(problem: &MeanProblem, rows: &[Vec<f64>], values: &[f64]) -> f64 {
    let variance = |row: &Vec<f64>| {
        let mean: f64 = row.iter().zip(values).map(|(w, v)| w * v).sum();
        row.iter().zip(values).map(|(w, v)| w * (v - mean).powi(2)).sum::<f64>()
    };
    let each = rows.iter().map(variance);
    match problem.weighing {
        Weighing::Worst => each.fold(0.0, f64::max),
        Weighing::Expected => each.zip(&problem.law).map(|(v, p)| v * p).sum(),
    }
}

/// The points moved to the range from -1 to 1.
struct Scaled {
    points: Vec<f64>,
    middle: f64,
    half: f64,
}

impl Scaled {
    fn of(points: &[f64]) -> Result<Self, Error> {
        let (&[low, .., high], true) = (points, points.is_sorted_by(|a, b| a < b)) else {
            return Err(Error::other("points", "a mean needs two or more, increasing"));
        };
        let (middle, half) = ((low + high) / 2.0, (high - low) / 2.0);
        let points = points.iter().map(|x| (x - middle) / half).collect();
        Ok(Self { points, middle, half })
    }
}

/// The points of the program, with the law that interpolation makes of the law of all points.
struct Nodes {
    points: Vec<f64>,
    law: Vec<f64>,
}

impl Nodes {
    fn of(points: &[f64], law: &[f64], weighing: Weighing) -> Self {
        let worst = weighing == Weighing::Worst;
        let most = if worst && is_even(points, -1.0) { MOST_MIRRORED } else { MOST_NODES };
        let nodes: Vec<f64> = if points.len() <= most {
            points.to_vec()
        } else {
            let count = if worst { MOST_MIRRORED } else { MOST_NODES };
            (0..count).map(|node| 2.0 * node as f64 / (count - 1) as f64 - 1.0).collect()
        };
        let size = nodes.len();
        if worst {
            // Claims about belief need a prior, so here the law only scales columns.
            return Self { points: nodes, law: vec![1.0 / size as f64; size] };
        }
        let mut nodes = Self { points: nodes, law: vec![0.0; size] };
        for (x, p) in points.iter().zip(law) {
            let (node, share) = nodes.between(*x);
            nodes.law[node] += p * (1.0 - share);
            nodes.law[node + 1] += p * share;
        }
        nodes
    }

    /// The node before x and how far x is on the way to the next.
    fn between(&self, x: f64) -> (usize, f64) {
        let above = self.points.partition_point(|node| *node <= x);
        let node = above.clamp(1, self.points.len() - 1) - 1;
        let (from, to) = (self.points[node], self.points[node + 1]);
        (node, ((x - from) / (to - from)).clamp(0.0, 1.0))
    }

    /// The row of x.
    fn interpolated(&self, x: f64, columns: &[Column]) -> Vec<f64> {
        let (node, share) = self.between(x);
        let cell = |column: &Column| {
            (1.0 - share) * column.entries[node] + share * column.entries[node + 1]
        };
        let row: Vec<f64> = columns.iter().map(cell).collect();
        let sum: f64 = row.iter().sum();
        row.iter().map(|cell| cell / sum).collect()
    }
}

/// Whether a list reads backwards as it reads forwards, with this sign.
fn is_even(list: &[f64], sign: f64) -> bool {
    list.iter().zip(list.iter().rev()).all(|(a, b)| (a - sign * b).abs() < 1e-9)
}

/// A column of the channel and the number it releases.
struct Column {
    value: f64,
    entries: Vec<f64>,
}

impl ColumnLimits {
    /// Nothing is claimed.
    pub const NONE: Self = Self { ratio: f64::INFINITY, least: 0.0, most: f64::INFINITY };

    /// The largest ratio under which a column meets everything.
    fn safe_ratio(&self) -> f64 {
        let down = if self.least > 0.0 { 1.0 / self.least } else { f64::INFINITY };
        self.ratio.min(self.most).min(down)
    }

    /// The column of mean one under `law` with the least Σ cost·entry, and that sum.
    fn cheapest(&self, law: &[f64], costs: &[f64]) -> (f64, Vec<f64>) {
        let per_mass = |x: usize| costs[x] / law[x].max(f64::MIN_POSITIVE);
        let mut order: Vec<usize> = (0..costs.len()).collect();
        order.sort_by(|&a, &b| per_mass(a).total_cmp(&per_mass(b)));
        let ratio = self.ratio;
        if !ratio.is_finite() {
            return filled(law, costs, &order, self.least, self.most);
        }
        if self.least == 0.0 && !self.most.is_finite() {
            // Entries are a and a times the ratio, the latter for a prefix of the order.
            let (mut cost, mut mass) = (costs.iter().sum::<f64>(), law.iter().sum::<f64>());
            let mut best = (cost / mass, 0, mass);
            for (taken, &x) in order.iter().enumerate() {
                cost += (ratio - 1.0) * costs[x];
                mass += (ratio - 1.0) * law[x];
                if cost / mass < best.0 {
                    best = (cost / mass, taken + 1, mass);
                }
            }
            let mut entries = vec![1.0 / best.2; costs.len()];
            order[..best.1].iter().for_each(|&x| entries[x] *= ratio);
            return (best.0, entries);
        }
        // Both: entries lie between a and a times the ratio for some a, in which the least cost is convex.
        let at = |a: f64| {
            let (least, most) = (self.least.max(a), self.most.min(a * ratio));
            filled(law, costs, &order, least, most)
        };
        let (low, high) = golden_section(1.0 / ratio, 1.0, 48, |a| at(a).0);
        at((low + high) / 2.0)
    }
}

/// The column of mean one with entries between `least` and `most` that is largest first along `order`, and its cost.
fn filled(law: &[f64], costs: &[f64], order: &[usize], least: f64, most: f64) -> (f64, Vec<f64>) {
    let mut entries = vec![least; law.len()];
    let mut left = 1.0 - least * law.iter().sum::<f64>();
    for &x in order {
        let room = most - least;
        let taken = if law[x] * room <= left { room } else { (left / law[x]).max(0.0) };
        // What has no mass takes nothing from the others, and is raised only where that saves.
        if law[x] > 0.0 || costs[x] < 0.0 {
            entries[x] += taken;
            left -= law[x] * taken;
        }
    }
    (entries.iter().zip(costs).map(|(entry, cost)| entry * cost).sum(), entries)
}

/// Nodes that mirror each other, with one law, have an optimum that does: then the program is about pairs of them, and the
/// columns come in mirrored pairs of opposite numbers. Half of the rows take an eighth of the time.
struct Mirror {
    /// The nodes that have rows.
    rows: Vec<usize>,
    size: usize,
    folded: bool,
}

impl Mirror {
    fn of(nodes: &Nodes, weighing: Weighing) -> Self {
        let size = nodes.points.len();
        let folded = weighing == Weighing::Worst && is_even(&nodes.points, -1.0);
        let rows = if folded { size / 2..size } else { 0..size };
        Self { rows: rows.collect(), size, folded }
    }

    fn other(&self, node: usize) -> usize {
        self.size - 1 - node
    }

    /// The nodes with a row for unbiasedness: the middle of mirrored nodes needs none.
    fn means(&self) -> impl Iterator<Item = usize> + '_ {
        self.rows.iter().copied().filter(|&node| !self.folded || node != self.other(node))
    }

    /// What a column has in the rows of a node: in sums and squares, and in means.
    fn entry(&self, entries: &[f64], node: usize) -> (f64, f64) {
        match self.folded {
            true => {
                let (own, other) = (entries[node], entries[self.other(node)]);
                ((own + other) / 2.0, (own - other) / 2.0)
            }
            false => (entries[node], entries[node]),
        }
    }

    /// What the rows' prices are worth at every node for a number: the prices of sums, of means times the number and of squares
    /// times its square.
    fn worth(&self, prices: &[f64], value: f64) -> Vec<f64> {
        let count = self.rows.len();
        let means = self.means().count();
        let mut worth = vec![0.0; self.size];
        for (row, &node) in self.rows.iter().enumerate() {
            let square = prices.get(count + means + row).map_or(0.0, |price| price * value * value);
            let even = prices[row] + square;
            if self.folded {
                worth[node] += even / 2.0;
                worth[self.other(node)] += even / 2.0;
            } else {
                worth[node] += even;
            }
        }
        for (row, node) in self.means().enumerate() {
            let odd = prices[count + row] * value;
            if self.folded {
                worth[node] += odd / 2.0;
                worth[self.other(node)] -= odd / 2.0;
            } else {
                worth[node] += odd;
            }
        }
        worth
    }
}

/// The linear program: rows for the sums of the channel's rows, for unbiasedness and, where the worst variance counts, for the
/// variance at every node.
struct Program<'a> {
    nodes: &'a Nodes,
    mirror: Mirror,
    limits: ColumnLimits,
    weighing: Weighing,
    simplex: Simplex,
    columns: Vec<(f64, Vec<f64>)>,
    /// How many columns stand before the channel's in the simplex.
    before: usize,
    /// Numbers beyond this are not looked at.
    reach: f64,
}

impl<'a> Program<'a> {
    fn new(nodes: &'a Nodes, problem: &MeanProblem) -> Result<Self, Error> {
        let limits = problem.limits;
        let ratio = limits.safe_ratio();
        if !(ratio > 1.0 && ratio.is_finite()) {
            let said = if ratio > 1.0 {
                "nothing is claimed, so the numbers themselves have no variance: claim ldp:E or lip:E"
            } else {
                "at epsilon 0 reports tell nothing of a mean: claim a larger level"
            };
            return Err(Error::other("claims", said));
        }
        let worst = problem.weighing == Weighing::Worst;
        let mirror = Mirror::of(nodes, problem.weighing);
        let mut rows = vec![Row::equal(1.0); mirror.rows.len()];
        rows.extend(mirror.means().map(|node| Row::equal(nodes.points[node])));
        let squares = rows.len();
        if worst {
            let own = Bounds::NON_NEGATIVE;
            let square = |&node: &usize| nodes.points[node].powi(2);
            rows.extend(mirror.rows.iter().map(square).map(|rhs| Row { rhs, own, cost: 0.0 }));
        }
        let mut simplex = Simplex::new(&rows);
        if worst {
            let entry = |row: usize| if row < squares { 0.0 } else { -1.0 };
            let entries: Vec<f64> = (0..rows.len()).map(entry).collect();
            simplex.add_column(&entries, Bounds::NON_NEGATIVE, 1.0);
        }
        let root = ratio.sqrt();
        let mut program = Self {
            nodes,
            mirror,
            limits,
            weighing: problem.weighing,
            simplex,
            columns: Vec::new(),
            before: usize::from(worst),
            // The widest outputs of the piecewise mechanism, and half as much again.
            reach: 1.5 * (root + 1.0) / (root - 1.0),
        };
        program.start(ratio);
        Ok(program)
    }

    /// Columns of which one-bit randomisation is a mixture: thresholds, all with the same two numbers.
    fn start(&mut self, ratio: f64) {
        let value = (ratio + 1.0) / (ratio - 1.0);
        for at in 0..self.nodes.points.len() {
            for up in [true, false] {
                let high = |x: usize| if up { x >= at } else { x <= at };
                let raw: Vec<f64> = (0..self.nodes.points.len())
                    .map(|x| if high(x) { ratio } else { 1.0 })
                    .collect();
                let mean: f64 = raw.iter().zip(&self.nodes.law).map(|(w, p)| w * p).sum();
                let entries = raw.iter().map(|w| w / mean).collect();
                self.add(if up { value } else { -value }, entries);
            }
        }
    }

    fn add(&mut self, value: f64, entries: Vec<f64>) {
        let even = |&node: &usize| self.mirror.entry(&entries, node).0;
        let mut column: Vec<f64> = self.mirror.rows.iter().map(even).collect();
        let odd = |node: usize| self.mirror.entry(&entries, node).1 * value;
        column.extend(self.mirror.means().map(odd));
        let square = value * value;
        let mut cost = 0.0;
        match self.weighing {
            Weighing::Worst => {
                column.extend(self.mirror.rows.iter().map(|node| even(node) * square));
            }
            // The mean of the entries under the law is one.
            Weighing::Expected => cost = square,
        }
        self.simplex.add_column(&column, Bounds::NON_NEGATIVE, cost);
        self.columns.push((value, entries));
    }

    /// The reduced cost of the best column for a number, and the column.
    fn priced(&self, prices: &[f64], value: f64) -> (f64, Vec<f64>) {
        let worth = self.mirror.worth(prices, value);
        let cost = |(x, worth): (usize, &f64)| match self.weighing {
            Weighing::Worst => -worth,
            Weighing::Expected => self.nodes.law[x] * value * value - worth,
        };
        let costs: Vec<f64> = worth.iter().enumerate().map(cost).collect();
        self.limits.cheapest(&self.nodes.law, &costs)
    }

    /// The columns of the optimum, with their masses multiplied in, and a bound on its value.
    fn solve(mut self) -> Result<(Vec<Column>, f64), Error> {
        let mut bound = f64::NEG_INFINITY;
        for _ in 0..MOST_ROUNDS {
            match self.simplex.minimise() {
                Verdict::Optimal => {}
                other => {
                    let said = format!(
                        "the linear program ended {other:?}: use fewer bins or another level"
                    );
                    return Err(Error::other("mean", said));
                }
            }
            let prices = self.simplex.prices();
            let value = self.dual(&prices);
            let found = self.search(&prices);
            let least = found.iter().map(|(cost, ..)| *cost).fold(0.0, f64::min);
            bound = f64::max(bound, value + least);
            if value - bound <= GAP * value.abs() {
                break;
            }
            for (_, value, entries) in found {
                self.add(value, entries);
            }
        }
        Ok((self.vertex(), bound))
    }

    /// The value of the last vertex, from its prices: what the right-hand sides are worth, less E X² where that is in the cost.
    fn dual(&self, prices: &[f64]) -> f64 {
        let points = &self.nodes.points;
        let (count, means) = (self.mirror.rows.len(), self.mirror.means().count());
        let mut value: f64 = prices[..count].iter().sum();
        value += self
            .mirror
            .means()
            .zip(&prices[count..])
            .map(|(node, p)| points[node] * p)
            .sum::<f64>();
        let squares = self.mirror.rows.iter().zip(&prices[count + means..]);
        value += squares.map(|(&node, price)| points[node].powi(2) * price).sum::<f64>();
        if self.weighing == Weighing::Expected {
            value -= points.iter().zip(&self.nodes.law).map(|(x, p)| p * x * x).sum::<f64>();
        }
        value
    }

    /// Columns that would lower the cost, at the best numbers of a search on the line.
    fn search(&self, prices: &[f64]) -> Vec<(f64, f64, Vec<f64>)> {
        // Of mirrored numbers one is looked for.
        let from = if self.mirror.folded { 0.0 } else { -self.reach };
        let at = |step: usize| from + (self.reach - from) * step as f64 / SEARCHED as f64;
        let cost = |value: f64| self.priced(prices, value).0;
        let costs: Vec<f64> = (0..=SEARCHED).map(|step| cost(at(step))).collect();
        let lowest = |step: &usize| {
            let left = step.checked_sub(1).map_or(f64::INFINITY, |left| costs[left]);
            let right = costs.get(step + 1).copied().unwrap_or(f64::INFINITY);
            costs[*step] <= left && costs[*step] <= right
        };
        let mut found = Vec::new();
        for step in (0..=SEARCHED).filter(lowest) {
            let (low, high) = (at(step.saturating_sub(1)), at((step + 1).min(SEARCHED)));
            let (low, high) = golden_section(low, high, 40, cost);
            let value = (low + high) / 2.0;
            let (cost, entries) = self.priced(prices, value);
            if cost < 0.0 {
                found.push((cost, value, entries));
            }
        }
        found.sort_by(|a, b| a.0.total_cmp(&b.0));
        found.truncate(ADDED);
        found
    }

    /// The columns of the last vertex, those with one number made one.
    fn vertex(&self) -> Vec<Column> {
        let mut kept: Vec<Column> = Vec::new();
        for (at, mass) in self.simplex.basic_columns() {
            let Some(at) = at.checked_sub(self.before).filter(|_| mass > 0.0) else { continue };
            let (value, entries) = &self.columns[at];
            let mut keep = |value: f64, entries: Vec<f64>| match kept
                .iter_mut()
                .find(|column| column.value == value)
            {
                Some(column) => {
                    column.entries.iter_mut().zip(entries).for_each(|(sum, w)| *sum += w);
                }
                None => kept.push(Column { value, entries }),
            };
            if self.mirror.folded {
                keep(*value, entries.iter().map(|w| w * mass / 2.0).collect());
                keep(-*value, entries.iter().rev().map(|w| w * mass / 2.0).collect());
            } else {
                keep(*value, entries.iter().map(|w| w * mass).collect());
            }
        }
        kept.sort_by(|a, b| a.value.total_cmp(&b.value));
        kept
    }
}
