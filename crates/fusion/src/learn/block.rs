//! One sensor's map while everything else is held: a convex program.
//!
//! Variables are p(z|x) for every reading seen and every output but the last, with LDP the floors
//! m_z <= p(z|x) <= e^ε m_z, and perhaps one more that is to be made large.

use super::barrier::{Convex, Coordinate, Program, Row};
use super::data::Data;
use super::loss::Loss;
use undertone_numeric::symmetric::Symmetric;

/// The variables of one sensor.
pub(crate) struct Block<'a> {
    data: &'a Data,
    t: usize,
    /// The readings that occur.
    seen: Vec<usize>,
    /// Where each reading is among them.
    place: Vec<usize>,
    /// e^ε.
    odds: Option<f64>,
}

/// Where the multipliers of the adversaries stand.
#[derive(Debug, Clone)]
pub(crate) struct Multipliers(pub(crate) Vec<Vec<f64>>);

impl<'a> Block<'a> {
    pub(crate) fn new(data: &'a Data, t: usize, odds: Option<f64>) -> Self {
        let mut seen = data.readings[t].clone();
        seen.sort_unstable();
        seen.dedup();
        let mut place = vec![usize::MAX; data.inputs[t]];
        seen.iter().enumerate().for_each(|(at, &x)| place[x] = at);
        Self { data, t, seen, place, odds }
    }

    fn free(&self) -> usize {
        self.data.outputs - 1
    }

    fn floors(&self) -> usize {
        self.seen.len() * self.free()
    }

    /// How many variables there are, without the one that is to be made large.
    fn variables(&self) -> usize {
        self.floors() + if self.odds.is_some() { self.data.outputs } else { 0 }
    }

    fn rows(&self) -> Vec<Row> {
        let (free, floors) = (self.free(), self.floors());
        let mut rows = Vec::new();
        for at in 0..self.seen.len() {
            let own = |z: usize| at * free + z;
            let whole = |scale: f64| (0..free).map(|z| (own(z), scale)).collect::<Vec<_>>();
            for z in 0..free {
                match self.odds {
                    None => rows.push(Row { cells: vec![(own(z), -1.0)], bound: 0.0 }),
                    Some(odds) => {
                        let m = floors + z;
                        rows.push(Row { cells: vec![(own(z), -1.0), (m, 1.0)], bound: 0.0 });
                        rows.push(Row { cells: vec![(own(z), 1.0), (m, -odds)], bound: 0.0 });
                    }
                }
            }
            let mut last = Row { cells: whole(1.0), bound: 1.0 };
            if let Some(odds) = self.odds {
                last.cells.push((floors + free, 1.0));
                let mut most = Row { cells: whole(-1.0), bound: -1.0 };
                most.cells.push((floors + free, -odds));
                rows.push(most);
            }
            rows.push(last);
        }
        rows
    }

    /// A point strictly inside all rows, near `map`.
    fn start(&self, map: &[f64]) -> Vec<f64> {
        const HAIR: f64 = 1e-3;
        let k = self.data.outputs;
        let mixed = |x: usize, z: usize| (1.0 - HAIR) * map[x * k + z] + HAIR / k as f64;
        let mut start = Vec::with_capacity(self.variables() + 1);
        for &x in &self.seen {
            start.extend((0..k - 1).map(|z| mixed(x, z)));
        }
        if let Some(odds) = self.odds {
            for z in 0..k {
                let column = self.seen.iter().map(|&x| mixed(x, z));
                let (least, most) = column
                    .fold((f64::INFINITY, 0.0f64), |(least, most), p| (least.min(p), most.max(p)));
                start.push((least * (most / odds)).sqrt());
            }
        }
        start
    }

    /// The point of a map itself, which need not be strictly inside.
    #[cfg(test)]
    pub(crate) fn point(&self, map: &[f64]) -> Vec<f64> {
        let mut point = self.start(map);
        for (place, &x) in point.chunks_mut(self.free()).zip(&self.seen) {
            place.copy_from_slice(&map[x * self.data.outputs..][..self.free()]);
        }
        point
    }

    /// The map at a point; readings never seen keep their row of `old`.
    fn map(&self, x: &[f64], old: &[f64]) -> Vec<f64> {
        let (k, free) = (self.data.outputs, self.free());
        let mut map = old.to_vec();
        for (at, &reading) in self.seen.iter().enumerate() {
            let row = &x[at * free..(at + 1) * free];
            let last = (1.0 - row.iter().sum::<f64>()).max(0.0);
            let place = &mut map[reading * k..(reading + 1) * k];
            place[..free].copy_from_slice(row);
            place[free] = last;
        }
        map
    }

    /// The map with the least risk where every adversary's dual value is at least `theta`.
    pub(crate) fn least_risk(&self, risk: &Risk, leaks: &[Leak], map: &[f64]) -> Option<Vec<f64>> {
        let rows = self.rows();
        let constraints = leaks.iter().map(|leak| leak as &dyn Convex).collect();
        let program = Program { objective: risk, constraints, rows: &rows };
        Some(self.map(&program.minimise(&self.start(map))?, map))
    }

    /// The map with the largest least dual value whose risk stays within its limit.
    pub(crate) fn least_leak(&self, risk: &Risk, leaks: &[Leak], map: &[f64]) -> Option<Vec<f64>> {
        let rows = self.rows();
        let at = self.variables();
        let mut start = self.start(map);
        start.push(0.0);
        let worst = leaks.iter().map(|leak| leak.value(&start)).fold(0.0, f64::max);
        // Any level below the least dual value is feasible.
        start[at] = -worst - 0.1;
        let mut constraints: Vec<&dyn Convex> =
            leaks.iter().map(|leak| leak as &dyn Convex).collect();
        constraints.push(risk);
        let aim = Coordinate { at, sign: -1.0 };
        let program = Program { objective: &aim, constraints, rows: &rows };
        Some(self.map(&program.minimise(&start)?, map))
    }

    /// The risk of the rules `w` (one per task) as a function of this sensor's map.
    pub(crate) fn risk(
        &self,
        features: &[f64],
        rules: &[Vec<f64>],
        ridge: f64,
        limit: f64,
    ) -> Risk {
        let Self { data, t, .. } = self;
        let (size, free, layout) = (data.size(), self.free(), data.layout());
        let share = 1.0 / (data.n * rules.len()) as f64;
        let own: Vec<Vec<usize>> = (0..data.outputs).map(|z| layout.own(*t, z)).collect();
        let mut is_own = vec![false; size];
        own.iter().flatten().for_each(|&at| is_own[at] = true);
        let mut constant = -limit;
        let mut partners = Vec::new();
        let tasks = rules.iter().zip(&data.tasks.signs).map(|(w, signs)| {
            constant += ridge / 2.0 * w.iter().map(|w| w * w).sum::<f64>() / rules.len() as f64;
            let mut readings: Vec<Vec<Alike>> = vec![Vec::new(); self.seen.len()];
            let (before, behind) = (t * data.outputs, (t + 1) * data.outputs);
            for (i, row) in features.chunks_exact(size).enumerate() {
                let first: f64 = row[..before].iter().zip(w).map(|(f, w)| f * w).sum();
                let others = (behind..size).filter(|&at| !is_own[at]);
                let base = first + others.map(|at| row[at] * w[at]).sum::<f64>();
                layout.partners(*t, row, &mut partners);
                // What this sample scores if the sensor says z.
                let says = |z: usize| -> f64 {
                    own[z].iter().zip(&partners).map(|(&at, partner)| w[at] * partner).sum()
                };
                let last = says(free);
                let deltas: Vec<f64> = (0..free).map(|z| says(z) - last).collect();
                let place = &mut readings[self.place[data.readings[*t][i]]];
                match place.iter_mut().find(|alike| alike.deltas == deltas) {
                    Some(alike) => alike.samples.push((base + last, signs[i])),
                    None => place.push(Alike { deltas, samples: vec![(base + last, signs[i])] }),
                }
            }
            readings
        });
        let tasks = tasks.collect();
        Risk { free, share, tasks, constant, loss: data.loss }
    }

    /// How far each adversary's dual value at fixed multipliers is below `level`; without one, below
    /// the extra variable.
    pub(crate) fn leaks(
        &self,
        features: &[f64],
        multipliers: &Multipliers,
        ridge: f64,
        level: Option<f64>,
    ) -> Vec<Leak> {
        let Self { data, t, .. } = self;
        let (size, layout) = (data.size(), data.layout());
        let own: Vec<usize> = (0..data.outputs).flat_map(|z| layout.own(*t, z)).collect();
        let mut partners = Vec::new();
        let leak = |(contrast, a): (&super::data::Contrast, &Vec<f64>)| {
            let mut pulls = vec![vec![0.0; own.len() / data.outputs]; self.seen.len()];
            let mut others = vec![0.0; size];
            let mut constant = 0.0;
            for (j, &i) in contrast.members.iter().enumerate() {
                let (rho, c) = (contrast.weights[j], contrast.signs[j]);
                let pull = rho * a[j] * c;
                constant -= rho * data.loss.entropy(a[j]);
                let row = &features[i * size..(i + 1) * size];
                layout.partners(*t, row, &mut partners);
                let pulled = &mut pulls[self.place[data.readings[*t][i]]];
                pulled.iter_mut().zip(&partners).for_each(|(sum, partner)| *sum += pull * partner);
                others.iter_mut().zip(row).for_each(|(sum, f)| *sum += pull * f);
            }
            own.iter().for_each(|&at| others[at] = 0.0);
            constant += others.iter().map(|u| u * u).sum::<f64>() / (2.0 * ridge);
            let level = match level {
                Some(level) => {
                    constant += level;
                    None
                }
                None => Some(self.variables()),
            };
            Leak { free: self.free(), pulls, constant, ridge, level }
        };
        data.contrasts.iter().zip(&multipliers.0).map(leak).collect()
    }
}

/// The risk of fixed rules, minus a limit.
pub(crate) struct Risk {
    free: usize,
    share: f64,
    /// For every task and every reading seen, the samples with it.
    tasks: Vec<Vec<Vec<Alike>>>,
    constant: f64,
    loss: Loss,
}

/// Samples with one reading whose scores depend on the sensor's map in the same way: with the count kernel, all of them.
#[derive(Clone)]
struct Alike {
    /// What more is scored if the sensor surely says another output than the last.
    deltas: Vec<f64>,
    /// The score if it says the last, and the sign.
    samples: Vec<(f64, f64)>,
}

impl Alike {
    /// What the sensor's map adds to the scores.
    fn own(&self, row: &[f64]) -> f64 {
        self.deltas.iter().zip(row).map(|(d, p)| d * p).sum()
    }
}

impl Convex for Risk {
    fn value(&self, x: &[f64]) -> f64 {
        let mut sum = 0.0;
        for task in &self.tasks {
            for (readings, row) in task.iter().zip(x.chunks(self.free)) {
                for alike in readings {
                    let own = alike.own(row);
                    let value = |&(base, sign): &(f64, f64)| self.loss.value(sign * (base + own));
                    sum += alike.samples.iter().map(value).sum::<f64>();
                }
            }
        }
        self.share * sum + self.constant
    }

    fn derivatives(&self, x: &[f64], gradient: &mut [f64], scale: f64, hessian: &mut Symmetric) {
        gradient.fill(0.0);
        for task in &self.tasks {
            for (at, (readings, row)) in task.iter().zip(x.chunks(self.free)).enumerate() {
                let from = at * self.free;
                for alike in readings {
                    let own = alike.own(row);
                    let (mut first, mut second) = (0.0, 0.0);
                    for &(base, sign) in &alike.samples {
                        let a = self.loss.slope(sign * (base + own));
                        first -= sign * a;
                        second += self.loss.bend(1.0, a);
                    }
                    for (z, d) in alike.deltas.iter().enumerate() {
                        gradient[from + z] += self.share * first * d;
                        for (y, e) in alike.deltas.iter().enumerate() {
                            hessian.add(from + z, from + y, scale * self.share * second * d * e);
                        }
                    }
                }
            }
        }
    }
}

/// A level minus the dual value of one adversary at fixed multipliers.
pub(crate) struct Leak {
    free: usize,
    /// Σ ρ_i a_i c_i over the samples with each reading, times each thing the sensor's outputs go together with.
    pulls: Vec<Vec<f64>>,
    constant: f64,
    ridge: f64,
    /// Which variable the level is, if it is one.
    level: Option<usize>,
}

impl Leak {
    /// Σ_x A_x p(z|x) for every output, with what it goes together with; the last from the others.
    fn sums(&self, x: &[f64]) -> Vec<Vec<f64>> {
        let width = self.pulls.first().map_or(0, Vec::len);
        let mut sums = vec![vec![0.0; width]; self.free + 1];
        for (j, last) in sums[self.free].iter_mut().enumerate() {
            *last = self.pulls.iter().map(|pulls| pulls[j]).sum();
        }
        for (pulls, row) in self.pulls.iter().zip(x.chunks(self.free)) {
            for (j, pull) in pulls.iter().enumerate() {
                for (z, p) in row.iter().enumerate() {
                    sums[z][j] += pull * p;
                    sums[self.free][j] -= pull * p;
                }
            }
        }
        sums
    }
}

impl Convex for Leak {
    fn value(&self, x: &[f64]) -> f64 {
        let squares: f64 = self.sums(x).iter().flatten().map(|u| u * u).sum();
        squares / (2.0 * self.ridge) + self.constant + self.level.map_or(0.0, |at| x[at])
    }

    fn derivatives(&self, x: &[f64], gradient: &mut [f64], scale: f64, hessian: &mut Symmetric) {
        gradient.fill(0.0);
        let sums = self.sums(x);
        let (free, last) = (self.free, &sums[self.free]);
        for (at, pulls) in self.pulls.iter().enumerate() {
            for z in 0..free {
                let along = pulls.iter().zip(&sums[z]).zip(last);
                let along: f64 = along.map(|((pull, own), last)| pull * (own - last)).sum();
                gradient[at * free + z] = along / self.ridge;
            }
            for (to, others) in self.pulls.iter().enumerate() {
                let both: f64 = pulls.iter().zip(others).map(|(a, b)| scale * a * b).sum();
                for (z, y) in (0..free).flat_map(|z| (0..free).map(move |y| (z, y))) {
                    let times = if y == z { 2.0 } else { 1.0 };
                    hessian.add(at * free + z, to * free + y, both * times / self.ridge);
                }
            }
        }
        if let Some(level) = self.level {
            gradient[level] = 1.0;
        }
    }
}
