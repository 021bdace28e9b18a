//! A hidden Markov chain in enclosures: what outputs over time say about a label of its state.
//!
//! Let A be the vector of P(outputs so far, class of the state), where states whose next step has the same law are one class.
//! An epoch takes A to A·M with one of finitely many matrices, and everything asked for is a quotient of functions that are
//! linear in A, in the epoch's likelihoods, and in the vector of P(later outputs | class). Such a quotient is largest at
//! extreme rays of each. So the extreme rays of all reachable vectors are kept: all of them while they are few, with one or
//! two classes the two ends, and beyond that those of a cone around them, which makes the result a bound.

use undertone_core::{Bounds, Magnitude, Nats, Policy, Round};
use undertone_design::Error;

use super::ExactChain;
use super::course::Leak;
use crate::ExactModel;
use crate::certificate::{enclosures, tables};
use crate::cone::{Cone, Ray, larger};
use crate::kinds::Kinds;

/// More vectors than this are replaced by the rays of a cone around them.
const MAX_RAYS: usize = 1 << 11;
/// More triples of past, present and future than this are not tried in one epoch.
const MAX_TRIPLES: usize = 1 << 15;
/// More likelihood vectors of one epoch than this are replaced likewise.
const MAX_EMISSIONS: usize = 1 << 12;
/// The largest number of states for which that is of any use.
const MAX_STATES: usize = 12;

/// How vectors that are too many are replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Thin {
    /// By rays around them: what is found is never too small.
    Around,
    /// By a few of them: what is found is attained.
    Among,
}

/// Vectors that can be reached, up to their length.
#[derive(Debug, Clone)]
pub(super) struct Reach {
    pub(super) rays: Vec<Ray>,
    /// Whether every ray is reached, and every reached vector is between them.
    pub(super) exact: bool,
}

/// A chain of states with likelihoods of outputs and a label.
#[derive(Debug, Clone)]
pub(super) struct Process {
    /// The law of the first state.
    pub(super) first: Vec<Bounds>,
    /// By class, the law of the next state.
    pub(super) rows: Vec<Vec<Bounds>>,
    /// The class of each state.
    pub(super) class: Vec<usize>,
    /// The likelihoods of each output vector (or of many that say the same) by state.
    pub(super) emissions: Vec<Ray>,
    /// Whether those are the output vectors themselves.
    pub(super) exact: bool,
    /// The label of each state.
    pub(super) label: Vec<usize>,
    pub(super) labels: usize,
}

impl Process {
    /// The pairs (H, G) of a network that move by a chain, labelled by G.
    pub(super) fn new(
        model: &ExactModel,
        policies: &[Policy],
        chain: &ExactChain,
    ) -> Result<Self, Error> {
        let states = chain.states();
        let place = |pair: (usize, usize)| states.iter().position(|&s| s == pair).unwrap_or(0);
        let of_atom: Vec<usize> =
            model.atoms.iter().map(|atom| place((atom.public, atom.private))).collect();
        let mut weight = vec![0u128; states.len()];
        model
            .atoms
            .iter()
            .zip(&of_atom)
            .for_each(|(atom, &s)| weight[s] += u128::from(atom.weight));
        let first: Vec<Bounds> = weight.iter().map(|&mass| Bounds::new(mass, -48)).collect();
        let by_state = |masses: &[Bounds]| -> Ray {
            let mut sums = vec![Bounds::ZERO; states.len()];
            masses.iter().zip(&of_atom).for_each(|(&mass, &s)| sums[s] = sums[s].plus(mass));
            // The weights are exact and not zero.
            sums.iter().zip(&first).map(|(sum, &whole)| sum.over(whole).unwrap_or(*sum)).collect()
        };
        let (weights, sensors) = enclosures(model, &tables(model, policies)?);
        let kinds = Kinds::new(weights.clone(), sensors.clone());
        let few = kinds.counts().filter(|&count| count <= MAX_EMISSIONS);
        let emissions: Vec<Ray> = match few {
            Some(_) => {
                let see = |rays: &mut Vec<Ray>, masses: &[Bounds]| rays.push(by_state(masses));
                kinds.fold(Vec::new, |rays, _, masses| see(rays, masses)).concat()
            }
            None if weights.len() <= MAX_STATES => {
                let cone = sensors.iter().map(|sensor| {
                    let at = |k: usize, z: usize| {
                        sensor.likelihood[sensor.row_of[k] as usize * sensor.size + z]
                    };
                    let ray = |z: usize| (0..weights.len()).map(|k| at(k, z)).collect();
                    Cone::around(weights.len(), &(0..sensor.size).map(ray).collect::<Vec<Ray>>())
                });
                let rays = cone.reduce(|all, next| all.product(&next)).map(|cone| cone.rays());
                let joint = |ray: Ray| {
                    let masses: Vec<Bounds> =
                        ray.into_iter().zip(&weights).map(|(p, &weight)| p * weight).collect();
                    by_state(&masses)
                };
                rays.unwrap_or_default().into_iter().map(joint).collect()
            }
            None => {
                return Err(Error::TooLarge {
                    what:
                        "the number of output vectors of one epoch, over which a chain is followed,"
                            .into(),
                    size: kinds.counts().unwrap_or(usize::MAX),
                    limit: MAX_EMISSIONS,
                    fix: format!(
                        "use fewer sensors, sensors of fewer kinds, or at most {MAX_STATES} scenarios (then a bound is \
                         certified)"
                    ),
                });
            }
        };
        let (rows, class) = classes(&chain.rows);
        let enclose = |row: Vec<u64>| -> Vec<Bounds> {
            row.into_iter().map(|mass| Bounds::new(u128::from(mass), -48)).collect()
        };
        let labels = 1 + states.iter().map(|&(_, g)| g).max().unwrap_or(0);
        Ok(Self {
            first,
            rows: rows.into_iter().map(enclose).collect(),
            class,
            emissions,
            exact: few.is_some(),
            label: states.iter().map(|&(_, g)| g).collect(),
            labels,
        })
    }

    /// The same chain with a mark that is a function of its last value and of the step's two labels; the mark is the label.
    pub(super) fn marked(
        &self,
        start: impl Fn(usize) -> usize,
        next: impl Fn(usize, usize, usize) -> usize,
    ) -> Self {
        let states: Vec<(usize, usize)> =
            (0..self.class.len()).flat_map(|s| [(s, 0), (s, 1)]).collect();
        let first = |&(s, mark): &(usize, usize)| {
            if start(self.label[s]) == mark { self.first[s] } else { Bounds::ZERO }
        };
        let row = |&(from, mark): &(usize, usize)| -> Vec<Bounds> {
            let law = &self.rows[self.class[from]];
            let to = |&(to, after): &(usize, usize)| {
                let marked = next(mark, self.label[from], self.label[to]);
                if marked == after { law[to] } else { Bounds::ZERO }
            };
            states.iter().map(to).collect()
        };
        let (rows, class) = classes(&states.iter().map(row).collect::<Vec<_>>());
        let emission = |ray: &Ray| states.iter().map(|&(s, _)| ray[s]).collect();
        Self {
            first: states.iter().map(first).collect(),
            rows,
            class,
            emissions: self.emissions.iter().map(emission).collect(),
            exact: self.exact,
            label: states.iter().map(|&(_, mark)| mark).collect(),
            labels: 2,
        }
    }

    /// What is known before anything was said.
    pub(super) fn start() -> Reach {
        Reach { rays: vec![vec![Bounds::ONE]], exact: true }
    }

    /// What lies ahead when nothing more is said.
    pub(super) fn end(&self) -> Reach {
        Reach { rays: vec![vec![Bounds::ONE; self.rows.len()]], exact: true }
    }

    /// The law of the state before an epoch's outputs, from a vector over classes (or over nothing, in the first epoch).
    pub(super) fn predicted(&self, ray: &Ray, first: bool) -> Vec<Bounds> {
        if first {
            return self.first.clone();
        }
        let mut law = vec![Bounds::ZERO; self.class.len()];
        for (&mass, row) in ray.iter().zip(&self.rows) {
            if !mass.high.is_zero() {
                law.iter_mut().zip(row).for_each(|(sum, &p)| *sum = sum.plus(mass * p));
            }
        }
        law
    }

    /// The law of the state in each epoch up to `epochs`.
    pub(super) fn laws(&self, epochs: usize) -> Vec<Vec<Bounds>> {
        let mut laws = vec![self.first.clone()];
        while laws.len() < epochs {
            let last = laws.last().map_or(&self.first, |law| law);
            let ray = self.by_class(last.iter().copied());
            laws.push(self.predicted(&ray, false));
        }
        laws
    }

    pub(super) fn by_class(&self, masses: impl Iterator<Item = Bounds>) -> Ray {
        let mut ray = vec![Bounds::ZERO; self.rows.len()];
        masses.zip(&self.class).for_each(|(mass, &c)| ray[c] = ray[c].plus(mass));
        ray
    }

    /// One epoch more heard.
    pub(super) fn forward(&self, from: &Reach, first: bool, thin: Thin) -> Reach {
        let from = self.thinned(from.clone(), MAX_RAYS / self.emissions.len().max(1), thin);
        let mut rays = Vec::with_capacity(from.rays.len() * self.emissions.len());
        for ray in &from.rays {
            let law = self.predicted(ray, first);
            for emission in &self.emissions {
                rays.push(self.by_class(law.iter().zip(emission).map(|(&p, &e)| p * e)));
            }
        }
        self.thinned(Reach { rays, exact: from.exact && self.exact }, MAX_RAYS, thin)
    }

    /// One epoch more to come.
    pub(super) fn backward(&self, from: &Reach, thin: Thin) -> Reach {
        let from = self.thinned(from.clone(), MAX_RAYS / self.emissions.len().max(1), thin);
        let mut rays = Vec::with_capacity(from.rays.len() * self.emissions.len());
        for ray in &from.rays {
            for emission in &self.emissions {
                rays.push(self.before(ray, emission));
            }
        }
        self.thinned(Reach { rays, exact: from.exact && self.exact }, MAX_RAYS, thin)
    }

    /// P(an epoch's outputs and what follows | class before), from P(what follows | class after).
    fn before(&self, ray: &Ray, emission: &Ray) -> Ray {
        let row = |row: &Vec<Bounds>| {
            let states = row.iter().zip(emission).zip(&self.class);
            states.fold(Bounds::ZERO, |sum, ((&p, &e), &c)| sum.plus(p * e * ray[c]))
        };
        self.rows.iter().map(row).collect()
    }

    /// Fewer vectors, if they are more than `most` or if two say as much.
    fn thinned(&self, reach: Reach, most: usize, thin: Thin) -> Reach {
        let Some(size) = reach.rays.first().map(Vec::len) else { return reach };
        if size > 2 && reach.rays.len() <= most.max(1) {
            return reach;
        }
        if reach.rays.len() <= 2 {
            return reach;
        }
        match thin {
            Thin::Around => {
                let exact = reach.exact && size <= 2;
                Reach { rays: Cone::around(size, &reach.rays).rays(), exact }
            }
            Thin::Among => Reach { rays: furthest(size, &reach.rays), exact: reach.exact },
        }
    }

    /// How far belief in the label in one epoch may move from its law there, given all that was said before it, in it and
    /// after it.
    pub(super) fn leak(
        &self,
        (past, future): (&Reach, &Reach),
        first: bool,
        law: &[Bounds],
        thin: Thin,
    ) -> Extreme {
        let emissions = &self.emissions;
        if emissions.len() == 1 {
            // Who always says the same tells nothing, and no rounding makes something of it.
            return Extreme::new(true);
        }
        let few = |reach: &Reach, other: usize| {
            let room = MAX_TRIPLES / (emissions.len() * other).max(1);
            self.thinned(reach.clone(), room.max(2), thin)
        };
        let past = few(past, future.rays.len().min(64));
        let future = few(future, past.rays.len());
        let mut prior = vec![Bounds::ZERO; self.labels];
        law.iter().zip(&self.label).for_each(|(&p, &label)| prior[label] = prior[label].plus(p));
        let mut extreme = Extreme::new(past.exact && future.exact && self.exact);
        let mut joint = vec![Bounds::ZERO; self.labels];
        for ray in &past.rays {
            let law = self.predicted(ray, first);
            for emission in emissions {
                let masses: Vec<Bounds> = law.iter().zip(emission).map(|(&p, &e)| p * e).collect();
                for later in &future.rays {
                    joint.fill(Bounds::ZERO);
                    for (s, &mass) in masses.iter().enumerate() {
                        let sum = &mut joint[self.label[s]];
                        *sum = sum.plus(mass * later[self.class[s]]);
                    }
                    extreme.see(&joint, &prior);
                }
            }
        }
        extreme
    }
}

/// The largest lift and its largest inverse so far.
#[derive(Debug, Clone, Copy)]
pub(super) struct Extreme {
    rise: Option<Magnitude>,
    fall: Option<Magnitude>,
    pub(super) exact: bool,
}

impl Extreme {
    pub(super) fn new(exact: bool) -> Self {
        Self { rise: Some(Magnitude::ONE), fall: Some(Magnitude::ONE), exact }
    }

    /// Beliefs in all labels after some outputs, from before.
    fn see(&mut self, joint: &[Bounds], prior: &[Bounds]) {
        let total = joint.iter().fold(Bounds::ZERO, |sum, &p| sum.plus(p));
        if total.high.is_zero() {
            return;
        }
        for (&after, &before) in joint.iter().zip(prior).filter(|(_, p)| !p.high.is_zero()) {
            self.compare(after, before * total);
        }
    }

    /// Two masses whose quotient is a lift.
    pub(super) fn compare(&mut self, after: Bounds, expected: Bounds) {
        let up = |above: Bounds, below: Bounds| {
            (!below.low.is_zero()).then(|| above.high.over(below.low, Round::Up))
        };
        self.rise = larger(self.rise, up(after, expected));
        self.fall = larger(self.fall, up(expected, after));
    }

    /// The larger of two.
    pub(super) fn or(self, other: Self) -> Self {
        Self {
            rise: larger(self.rise, other.rise),
            fall: larger(self.fall, other.fall),
            exact: self.exact && other.exact,
        }
    }

    /// In nats, rounded up; `None` if there is no bound.
    pub(super) fn nats(&self) -> Option<Nats> {
        Some(self.rise?.ln_up().max(self.fall?.ln_up()))
    }
}

impl Leak {
    /// What is certified, and what some outputs attain.
    pub(super) fn new(around: Extreme, among: Option<Extreme>) -> Self {
        let information = around.nats();
        let attained =
            if around.exact { information } else { among.and_then(|among| among.nats()) };
        // What is rounded up is at most two units above.
        let down = |nats: Nats| Nats::from_units(nats.units().saturating_sub(2));
        let at_least = if around.exact { attained } else { attained.map(down) };
        Self { information, exact: around.exact, at_least }
    }
}

/// The different rows, and which is each state's.
fn classes<T: PartialEq + Clone>(rows: &[Vec<T>]) -> (Vec<Vec<T>>, Vec<usize>) {
    let mut known: Vec<Vec<T>> = Vec::new();
    let class = |row: &Vec<T>| {
        known.iter().position(|other| other == row).unwrap_or_else(|| {
            known.push(row.clone());
            known.len() - 1
        })
    };
    let class = rows.iter().map(class).collect();
    (known, class)
}

/// For each pair of entries, the vector whose first exceeds its second most.
fn furthest(size: usize, rays: &[Ray]) -> Vec<Ray> {
    let mut kept: Vec<usize> = Vec::new();
    for i in 0..size {
        for j in (0..size).filter(|&j| j != i) {
            // a_i / a_j > b_i / b_j, without dividing by what may be zero.
            let further = |a: &Ray, b: &Ray| {
                a[i].low.times(b[j].low, Round::Down) > b[i].low.times(a[j].low, Round::Down)
            };
            let best = (0..rays.len())
                .reduce(|best, next| if further(&rays[next], &rays[best]) { next } else { best });
            kept.extend(best.filter(|best| !kept.contains(best)));
        }
    }
    kept.into_iter().map(|at| rays[at].clone()).collect()
}
