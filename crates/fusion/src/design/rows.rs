//! The rows of a block's linear program, made when they are needed.
//!
//! They number 2|G||Z|^s and are never written out: each is a combination of few *groups*, the laws of
//! the sensor's reading that occur together with each value of G.

use super::block::{Prepared, Surroundings};
use super::limits::{Limits, Spread};
use undertone_numeric::cutting_planes::RowOracle;

/// Up to this many rows, every row is looked at before every step.
const FEW_ROWS: usize = 4000;
/// Otherwise this many of the worst are added to the ones looked at.
const BATCH: usize = 100;

/// Rows that concern one reading are met to this.
const LOCAL_TOLERANCE: f64 = 1e-11;
/// Lift rows are compared at a smaller scale than others, so they are held to a finer tolerance.
const LIFT_TOLERANCE: f64 = 2e-12;
/// A distance between laws is within its bound up to this: cuts close in on it slowly.
const SPREAD_TOLERANCE: f64 = 1e-9;
/// A bound on the lift of a watched value of G when the sensor sends z and the others r.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LiftRow {
    z: usize,
    r: usize,
    watched: usize,
    upper: bool,
}

/// The inequality that a row stands for.
#[derive(Clone, Copy)]
enum Name {
    /// m_z <= p(z|x).
    Floor { x: usize, z: usize },
    /// p(z|x) <= e^ε m_z.
    Ceiling { x: usize, z: usize },
    /// The last output's probability is not negative.
    Last { x: usize },
    /// A bound on a lift.
    Lift(LiftRow),
    /// The distance between the laws of Z given g and given the reference is at most a bound.
    Spread { g: usize },
    /// There are no more false alarms than may be.
    Alarms,
}

/// The rows of a block. Variables are p(z|x) for all outputs but the last, then the floors m_z.
pub(super) struct Rows<'a> {
    sensor: &'a Prepared,
    outputs: usize,
    reach: usize,
    /// P(r, g, row) group after group.
    groups: Vec<f64>,
    ldp: Option<f64>,
    /// For every watched value: g, P(g), lower and upper bound on its lift.
    watched: Vec<(usize, f64, f64, f64)>,
    /// The scale at which violations of lift rows are compared, by watched value, side and r; zero
    /// for rows without mass.
    scale: Vec<f64>,
    /// The lift rows looked at; `None` means all.
    pool: Option<Vec<LiftRow>>,
    /// Those that were violated most at some step.
    pub(super) used: Vec<LiftRow>,
    spread: Option<&'a Spread>,
    /// For detection, the false alarms of every (x, z) and how many there may be.
    pub(super) alarms: Option<&'a (Vec<f64>, f64)>,
    /// Asked before every row whether to give up.
    pub(super) stop: Option<&'a dyn Fn() -> bool>,
}

impl<'a> Rows<'a> {
    pub(super) fn new(
        sensor: &'a Prepared,
        around: &Surroundings,
        outputs: usize,
        limits: &'a Limits,
        hot: &[LiftRow],
    ) -> Self {
        let reach = around.reach;
        let mut rows = Self {
            sensor,
            outputs,
            reach,
            groups: Vec::new(),
            ldp: limits.ldp,
            watched: Vec::new(),
            scale: Vec::new(),
            pool: None,
            used: Vec::new(),
            spread: limits.spread.as_ref(),
            alarms: None,
            stop: None,
        };
        if limits.lift.is_none() && limits.spread.is_none() {
            return rows;
        }
        rows.groups = vec![0.0; sensor.groups.len() * reach];
        for (&group, masses) in sensor.group_of.iter().zip(around.masses.chunks_exact(reach)) {
            let place = &mut rows.groups[group * reach..(group + 1) * reach];
            place.iter_mut().zip(masses).for_each(|(sum, m)| *sum += m);
        }
        let Some(lift) = &limits.lift else { return rows };
        let watch = |g: usize| (g, lift.prior()[g], lift.lower()[g], lift.upper()[g]);
        rows.watched = lift.watched().into_iter().map(watch).collect();
        rows.scale = rows.scales();
        if 2 * rows.watched.len() * outputs * reach > FEW_ROWS {
            rows.pool = Some(hot.to_vec());
        }
        rows
    }

    pub(super) fn variables(&self) -> usize {
        let floors = if self.ldp.is_some() { self.outputs } else { 0 };
        self.sensor.inputs * (self.outputs - 1) + floors
    }

    /// How a group's mass counts in a lift row: upper rows say p(z|g)/... - u P(z) <= 0.
    fn factor(&self, group: usize, watched: usize, upper: bool) -> f64 {
        let (g, prior, low, high) = self.watched[watched];
        let own = if self.sensor.groups[group].0 == g { 1.0 / prior } else { 0.0 };
        if upper { own - high } else { low - own }
    }

    /// A lift row's coefficients of p(z|x), unscaled.
    fn coefficients(&self, r: usize, watched: usize, upper: bool, out: &mut [f64]) {
        let inputs = self.sensor.inputs;
        out.fill(0.0);
        for (group, &(_, row)) in self.sensor.groups.iter().enumerate() {
            let weight = self.groups[group * self.reach + r] * self.factor(group, watched, upper);
            if weight != 0.0 {
                let law = &self.sensor.laws[row * inputs..(row + 1) * inputs];
                out.iter_mut().zip(law).for_each(|(sum, p)| *sum += weight * p);
            }
        }
    }

    /// One over the sum of what a row's coefficients are made of: cheap, and never above one over
    /// the largest coefficient.
    fn scales(&self) -> Vec<f64> {
        let mut scales = Vec::with_capacity(2 * self.watched.len() * self.reach);
        let mut sums = vec![0.0; self.reach];
        for watched in 0..self.watched.len() {
            for upper in [false, true] {
                sums.fill(0.0);
                for (group, masses) in self.groups.chunks_exact(self.reach).enumerate() {
                    let weight = self.factor(group, watched, upper).abs();
                    sums.iter_mut().zip(masses).for_each(|(sum, m)| *sum += weight * m);
                }
                // Below this a vector r has no mass that floats could tell from none.
                scales.extend(sums.iter().map(|&s| if s > 1e-280 { 1.0 / s } else { 0.0 }));
            }
        }
        scales
    }

    fn scale(&self, r: usize, watched: usize, upper: bool) -> f64 {
        self.scale[(2 * watched + usize::from(upper)) * self.reach + r]
    }

    /// p(z|x) of the variables, the last output's included.
    fn p(&self, v: &[f64], x: usize, z: usize) -> f64 {
        let free = self.outputs - 1;
        let row = &v[x * free..(x + 1) * free];
        if z < free { row[z] } else { 1.0 - row.iter().sum::<f64>() }
    }

    /// The worst of the rows that concern one reading.
    fn worst_local(&self, v: &[f64]) -> Option<(f64, Name)> {
        let mut worst: Option<(f64, Name)> = None;
        let mut consider = |violation: f64, name: Name| {
            if violation > worst.map_or(LOCAL_TOLERANCE, |(most, _)| most) {
                worst = Some((violation, name));
            }
        };
        let floors = self.sensor.inputs * (self.outputs - 1);
        for x in 0..self.sensor.inputs {
            if self.outputs > 2 {
                consider(-self.p(v, x, self.outputs - 1), Name::Last { x });
            }
            if let Some(odds) = self.ldp {
                for z in 0..self.outputs {
                    let (p, m) = (self.p(v, x, z), v[floors + z]);
                    consider(m - p, Name::Floor { x, z });
                    consider(p / odds - m, Name::Ceiling { x, z });
                }
            }
        }
        worst
    }

    /// Calls `found(violation, name)` for every lift row looked at that is violated.
    fn violated_lifts(&self, v: &[f64], all: bool, mut found: impl FnMut(f64, LiftRow)) {
        if self.watched.is_empty() {
            return;
        }
        let likelihood = self.pushed(v);
        let q = |group: usize, z: usize| likelihood[self.sensor.groups[group].1 * self.outputs + z];
        let groups = self.sensor.groups.len();
        if let (Some(pool), false) = (&self.pool, all) {
            for &row in pool {
                let LiftRow { z, r, watched, upper } = row;
                let sum: f64 = (0..groups)
                    .map(|group| {
                        let mass = self.groups[group * self.reach + r];
                        mass * q(group, z) * self.factor(group, watched, upper)
                    })
                    .sum();
                let violation = sum * self.scale(r, watched, upper);
                if violation > LIFT_TOLERANCE {
                    found(violation, row);
                }
            }
            return;
        }
        let mut sums = vec![0.0; self.reach];
        for z in 0..self.outputs {
            for watched in 0..self.watched.len() {
                for upper in [false, true] {
                    sums.fill(0.0);
                    for (group, masses) in self.groups.chunks_exact(self.reach).enumerate() {
                        let weight = q(group, z) * self.factor(group, watched, upper);
                        sums.iter_mut().zip(masses).for_each(|(sum, m)| *sum += weight * m);
                    }
                    let from = (2 * watched + usize::from(upper)) * self.reach;
                    let scales = &self.scale[from..from + self.reach];
                    for (r, (sum, scale)) in sums.iter().zip(scales).enumerate() {
                        let violation = sum * scale;
                        if violation > LIFT_TOLERANCE {
                            found(violation, LiftRow { z, r, watched, upper });
                        }
                    }
                }
            }
        }
    }

    /// The row of false alarms, if there are too many.
    fn worst_alarms(&self, v: &[f64]) -> Option<(f64, Name)> {
        let (each, most) = self.alarms?;
        let cells = (0..self.sensor.inputs).flat_map(|x| (0..self.outputs).map(move |z| (x, z)));
        let sum: f64 = cells.zip(each).map(|((x, z), a)| a * self.p(v, x, z)).sum();
        (sum - most > LOCAL_TOLERANCE).then_some((sum - most, Name::Alarms))
    }

    /// How much the law of (z, r) given g exceeds the one given the reference, for output z, if a group
    /// of atoms sends z with probability `q`.
    fn excess(&self, spread: &Spread, g: usize, q: impl Fn(usize) -> f64, out: &mut [f64]) {
        out.fill(0.0);
        for (group, masses) in self.groups.chunks_exact(self.reach).enumerate() {
            let weight = q(group) * spread.factor(self.sensor.groups[group].0, g);
            if weight != 0.0 {
                out.iter_mut().zip(masses).for_each(|(sum, m)| *sum += weight * m);
            }
        }
    }

    /// The value of G whose law is furthest beyond the permitted distance from the reference.
    fn worst_spread(&self, v: &[f64]) -> Option<(f64, Name)> {
        let spread = self.spread?;
        let likelihood = self.pushed(v);
        let mut excess = vec![0.0; self.reach];
        let mut worst: Option<(f64, Name)> = None;
        for g in spread.compared() {
            let mut distance = 0.0;
            for z in 0..self.outputs {
                let q = |group: usize| likelihood[self.sensor.groups[group].1 * self.outputs + z];
                self.excess(spread, g, q, &mut excess);
                distance += excess.iter().map(|e| e.abs()).sum::<f64>() / 2.0;
            }
            let violation = distance - spread.most;
            if violation > worst.map_or(SPREAD_TOLERANCE, |(most, _)| most) {
                worst = Some((violation, Name::Spread { g }));
            }
        }
        worst
    }

    /// The cut that the signs at `v` give: the distance is the largest over all signs.
    fn write_spread(&self, spread: &Spread, g: usize, v: &[f64], row: &mut [f64]) -> f64 {
        let likelihood = self.pushed(v);
        let (free, inputs) = (self.outputs - 1, self.sensor.inputs);
        let mut excess = vec![0.0; self.reach];
        let mut coefficients = vec![0.0; inputs * self.outputs];
        for z in 0..self.outputs {
            let q = |group: usize| likelihood[self.sensor.groups[group].1 * self.outputs + z];
            self.excess(spread, g, q, &mut excess);
            for (group, masses) in self.groups.chunks_exact(self.reach).enumerate() {
                let (own, law) = self.sensor.groups[group];
                let factor = spread.factor(own, g);
                if factor == 0.0 {
                    continue;
                }
                let signed = masses.iter().zip(&excess);
                let signed: f64 = signed.map(|(m, e)| if *e < 0.0 { -m } else { *m }).sum();
                let law = &self.sensor.laws[law * inputs..(law + 1) * inputs];
                for (x, p) in law.iter().enumerate() {
                    coefficients[x * self.outputs + z] += p * factor * signed / 2.0;
                }
            }
        }
        let mut bound = spread.most;
        for (x, c) in coefficients.chunks_exact(self.outputs).enumerate() {
            for z in 0..free {
                row[x * free + z] = c[z] - c[free];
            }
            bound -= c[free];
        }
        let most = row.iter().fold(0.0f64, |most, v| most.max(v.abs()));
        if most > 0.0 {
            row.iter_mut().for_each(|v| *v /= most);
            bound /= most;
        }
        bound
    }

    /// The output's law for every law of the reading.
    fn pushed(&self, v: &[f64]) -> Vec<f64> {
        let map: Vec<f64> = (0..self.sensor.inputs)
            .flat_map(|x| (0..self.outputs).map(move |z| self.p(v, x, z)))
            .collect();
        self.sensor.push(&map, self.outputs)
    }

    fn worst_lift(&self, v: &[f64]) -> Option<(f64, Name)> {
        let mut worst: Option<(f64, Name)> = None;
        self.violated_lifts(v, false, |violation, row| {
            if violation > worst.map_or(0.0, |(most, _)| most) {
                worst = Some((violation, Name::Lift(row)));
            }
        });
        worst
    }

    /// Adds the worst rows of all to the ones looked at; false if no row is violated.
    fn refill(&mut self, v: &[f64]) -> bool {
        let mut found = Vec::new();
        self.violated_lifts(v, true, |violation, row| found.push((violation, row)));
        if found.len() > BATCH {
            found.select_nth_unstable_by(BATCH, |a, b| b.0.total_cmp(&a.0));
            found.truncate(BATCH);
        }
        let Some(pool) = &mut self.pool else { return false };
        pool.extend(found.iter().map(|(_, row)| *row));
        !found.is_empty()
    }

    /// Writes a row and returns its bound.
    fn write(&self, name: Name, v: &[f64], row: &mut [f64]) -> f64 {
        let free = self.outputs - 1;
        let floors = self.sensor.inputs * free;
        row.fill(0.0);
        // Adds `weight` times p(z|x) to the row and returns what it adds to the right-hand side.
        let probability = |row: &mut [f64], x: usize, z: usize, weight: f64| {
            if z < free {
                row[x * free + z] += weight;
                return 0.0;
            }
            row[x * free..(x + 1) * free].iter_mut().for_each(|v| *v -= weight);
            -weight
        };
        match name {
            Name::Floor { x, z } => {
                row[floors + z] = 1.0;
                probability(row, x, z, -1.0)
            }
            Name::Ceiling { x, z } => {
                row[floors + z] = -1.0;
                probability(row, x, z, self.ldp.map_or(0.0, f64::recip))
            }
            Name::Last { x } => probability(row, x, free, -1.0),
            Name::Lift(LiftRow { z, r, watched, upper }) => {
                let mut coefficients = vec![0.0; self.sensor.inputs];
                self.coefficients(r, watched, upper, &mut coefficients);
                let most = coefficients.iter().fold(0.0f64, |most, c| most.max(c.abs()));
                let scale = if most > 0.0 { 1.0 / most } else { 0.0 };
                coefficients
                    .iter()
                    .enumerate()
                    .map(|(x, c)| probability(row, x, z, c * scale))
                    .sum()
            }
            Name::Spread { g } => {
                self.spread.map_or(0.0, |spread| self.write_spread(spread, g, v, row))
            }
            Name::Alarms => {
                let Some((each, most)) = self.alarms else { return 0.0 };
                let scale = 1.0 / each.iter().fold(0.0f64, |largest, a| largest.max(a.abs()));
                let mut bound = most * scale;
                for (at, a) in each.iter().enumerate() {
                    bound += probability(row, at / self.outputs, at % self.outputs, a * scale);
                }
                bound
            }
        }
    }
}

impl RowOracle for Rows<'_> {
    fn stopped(&self) -> bool {
        self.stop.is_some_and(|stop| stop())
    }

    fn most_violated(&mut self, x: &[f64], row: &mut [f64]) -> Option<f64> {
        let found =
            [self.worst_local(x), self.worst_lift(x), self.worst_spread(x), self.worst_alarms(x)];
        let mut worst = found.into_iter().flatten().max_by(|a, b| a.0.total_cmp(&b.0));
        if worst.is_none() && self.pool.is_some() && self.refill(x) {
            worst = self.worst_lift(x);
        }
        let (_, name) = worst?;
        if let (Name::Lift(row), Some(_)) = (name, &self.pool) {
            self.used.push(row);
        }
        Some(self.write(name, x, row))
    }
}
