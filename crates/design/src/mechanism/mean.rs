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
//! linearly. Where there are more than [`MOST_NODES`] points, the program is solved at so many of them.
//!
//! **What the kernel re-checks.** Every inequality, on the integers that ship.

use undertone_numeric::golden_section::golden_section;
use undertone_numeric::simplex::{Bounds, Row, Simplex, Verdict};

use crate::Error;

/// The most points at which the program is solved.
pub const MOST_NODES: usize = 17;

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
    /// No channel and no numbers have a smaller variance at the points of the program.
    pub bound: f64,
}

/// Solves the problem.
pub fn design(problem: &MeanProblem) -> Result<UnbiasedMean, Error> {
    let Scaled { points, middle, half } = Scaled::of(&problem.points)?;
    let nodes = Nodes::of(&points, &problem.law);
    let (columns, bound) = Program::new(&nodes, problem)?.solve()?;
    let values: Vec<f64> = columns.iter().map(|column| column.value).collect();
    let rows: Vec<Vec<f64>> = points.iter().map(|&x| nodes.interpolated(x, &columns)).collect();
    let found = UnbiasedMean {
        values: values.iter().map(|value| middle + half * value).collect(),
        variance: 0.0,
        bound: bound * half * half,
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
    fn of(points: &[f64], law: &[f64]) -> Self {
        let count = points.len().min(MOST_NODES);
        let at = |node: usize| points[node * (points.len() - 1) / (count - 1)];
        let mut nodes = Self { points: (0..count).map(at).collect(), law: vec![0.0; count] };
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

/// The linear program: rows for the sums of the channel's rows, for unbiasedness and, where the worst variance counts, for the
/// variance at every node.
struct Program<'a> {
    nodes: &'a Nodes,
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
        let mut rows = vec![Row::equal(1.0); nodes.points.len()];
        rows.extend(nodes.points.iter().map(|&x| Row::equal(x)));
        if worst {
            let own = Bounds::NON_NEGATIVE;
            rows.extend(nodes.points.iter().map(|&x| Row { rhs: x * x, own, cost: 0.0 }));
        }
        let mut simplex = Simplex::new(&rows);
        if worst {
            let entries: Vec<f64> = (0..rows.len())
                .map(|row| if row < 2 * nodes.points.len() { 0.0 } else { -1.0 })
                .collect();
            simplex.add_column(&entries, Bounds::NON_NEGATIVE, 1.0);
        }
        let root = ratio.sqrt();
        let mut program = Self {
            nodes,
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
        let mut column: Vec<f64> = entries.clone();
        column.extend(entries.iter().map(|w| w * value));
        let square = value * value;
        let mut cost = 0.0;
        match self.weighing {
            Weighing::Worst => column.extend(entries.iter().map(|w| w * square)),
            // The mean of the entries under the law is one.
            Weighing::Expected => cost = square,
        }
        self.simplex.add_column(&column, Bounds::NON_NEGATIVE, cost);
        self.columns.push((value, entries));
    }

    /// The reduced cost of the best column for a number, and the column.
    fn priced(&self, prices: &[f64], value: f64) -> (f64, Vec<f64>) {
        let size = self.nodes.points.len();
        let square = value * value;
        let cost = |x: usize| {
            let linear = -prices[x] - prices[size + x] * value;
            match self.weighing {
                Weighing::Worst => linear - prices[2 * size + x] * square,
                Weighing::Expected => linear + self.nodes.law[x] * square,
            }
        };
        let costs: Vec<f64> = (0..size).map(cost).collect();
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
            let (mut value, mut dual) = (0.0, 0.0);
            for (row, x) in self.nodes.points.iter().enumerate() {
                let size = self.nodes.points.len();
                dual += prices[row] + prices[size + row] * x;
                if self.weighing == Weighing::Worst {
                    dual += prices[2 * size + row] * x * x;
                } else {
                    value -= self.nodes.law[row] * x * x;
                }
            }
            let offset = value;
            value += dual;
            let found = self.search(&prices);
            let least = found.iter().map(|(cost, ..)| *cost).fold(0.0, f64::min);
            bound = f64::max(bound, dual + offset + least);
            if value - bound <= GAP * value.abs() {
                break;
            }
            for (_, value, entries) in found {
                self.add(value, entries);
            }
        }
        Ok((self.vertex(), bound))
    }

    /// Columns that would lower the cost, at the best numbers of a search on the line.
    fn search(&self, prices: &[f64]) -> Vec<(f64, f64, Vec<f64>)> {
        let at = |step: usize| self.reach * (2.0 * step as f64 / SEARCHED as f64 - 1.0);
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
            let entries: Vec<f64> = entries.iter().map(|w| w * mass).collect();
            match kept.iter_mut().find(|column| column.value == *value) {
                Some(column) => {
                    column.entries.iter_mut().zip(entries).for_each(|(sum, w)| *sum += w);
                }
                None => kept.push(Column { value: *value, entries }),
            }
        }
        kept.sort_by(|a, b| a.value.total_cmp(&b.value));
        kept
    }
}
