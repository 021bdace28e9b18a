//! Maps for very many sensors of a few kinds.
//!
//! Sensors of one kind have the same laws and get the same map of two outputs, or say nothing. What they say together depends
//! on how many sent a one, so that both the error of H and what is told of G are found exactly by going through the counts of
//! all kinds. The search is over each kind's map and how many of it speak: from random thresholds, one coordinate after
//! another, and every candidate is mixed with noise until it tells no more of G than is allowed. How much better other maps
//! might be is not known.

use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use rayon::prelude::*;
use undertone_design::{Channel, Error};
use undertone_numeric::bisection::Bracket;
use undertone_numeric::dice::{between, unit};

use crate::design::{Budgets, Watch};
use crate::{Maps, Model, Sensor};

/// More combinations of counts than this take too long to be gone through at every step.
const MAX_COUNTS: usize = 1 << 17;
/// How much of what is told of H counts beside its error, which says nothing where every guess is the same.
const PRICE: f64 = 1e-3;
/// What is told of G is kept below the budget by this share, so that rounding to integers needs no more noise.
const MARGIN: f64 = 1e-7;

/// Sensors with the same laws.
#[derive(Debug, Clone)]
pub struct Kind {
    /// Which sensors.
    pub members: Vec<usize>,
    /// How many of them speak: the first.
    pub active: usize,
    /// P(1 | reading) of those.
    pub ones: Vec<f64>,
}

/// Maps for a crowd.
#[derive(Debug, Clone)]
pub struct Proposal {
    /// The kinds.
    pub kinds: Vec<Kind>,
    /// One map per sensor.
    pub maps: Maps,
    /// The Bayes error of H.
    pub error: f64,
}

/// What is asked for.
#[derive(Debug, Clone, Copy)]
pub struct Request {
    /// The budgets, of one epoch.
    pub budgets: Budgets,
    /// How many starts the search makes.
    pub restarts: u32,
    /// Where its randomness begins.
    pub seed: u64,
}

/// A kind's candidate.
#[derive(Debug, Clone)]
struct Choice {
    active: usize,
    /// The least P(1 | x); the greatest is what LDP allows beside it.
    floor: f64,
    /// Between the least (nought) and the greatest (one), by reading.
    shape: Vec<f64>,
}

/// What a candidate does.
#[derive(Debug, Clone, Copy)]
struct Seen {
    error: f64,
    public: f64,
    leak: f64,
}

impl Seen {
    fn value(self) -> f64 {
        self.error - PRICE * self.public
    }
}

/// A model by kinds of sensors.
struct Crowd<'a> {
    model: &'a Model,
    members: Vec<Vec<usize>>,
    /// ln n!
    factorial: Vec<f64>,
    public: Vec<f64>,
    private: Vec<f64>,
    ldp: f64,
    information: f64,
}

impl<'a> Crowd<'a> {
    fn new(model: &'a Model, budgets: Budgets) -> Result<Self, Error> {
        let mut members: Vec<Vec<usize>> = Vec::new();
        let sensors = model.sensors();
        for (t, sensor) in sensors.iter().enumerate() {
            let alike =
                |first: &Sensor| first.rows() == sensor.rows() && first.row_of() == sensor.row_of();
            match members.iter_mut().find(|kind| alike(&sensors[kind[0]])) {
                Some(kind) => kind.push(t),
                None => members.push(vec![t]),
            }
        }
        let counts = members.iter().try_fold(1usize, |all, kind| all.checked_mul(kind.len() + 1));
        if counts.is_none_or(|counts| counts > MAX_COUNTS) {
            return Err(Error::TooLarge {
                what: format!(
                    "the number of ways in which {} sensors of {} kinds can be counted",
                    sensors.len(),
                    members.len()
                ),
                size: counts.unwrap_or(usize::MAX),
                limit: MAX_COUNTS,
                fix: "give sensors that differ little the same laws, or leave some out".into(),
            });
        }
        let most = sensors.len() as u32;
        let factorial = (0..=most).scan(0.0, |sum, n| {
            *sum += f64::from(n.max(1)).ln();
            Some(*sum)
        });
        let level = |epsilon: Option<undertone_core::Epsilon>| {
            epsilon.map_or(f64::INFINITY, |epsilon| epsilon.nats().units() as f64 * 1e-10)
        };
        Ok(Self {
            model,
            members,
            factorial: factorial.collect(),
            public: model.public_law(),
            private: model.private_law(),
            ldp: level(budgets.ldp),
            information: level(budgets.information) * (1.0 - MARGIN),
        })
    }

    fn sensor(&self, kind: usize) -> &Sensor {
        &self.model.sensors()[self.members[kind][0]]
    }

    /// P(1 | x) of a choice, where `share` of it is noise that follows its own law.
    fn ones(&self, kind: usize, choice: &Choice, share: f64) -> Vec<f64> {
        let least = choice.floor;
        // Both outputs keep the level.
        let most = if self.ldp.is_finite() {
            (self.ldp.exp() * least).min(1.0 - (-self.ldp).exp() * (1.0 - least))
        } else {
            1.0
        };
        let ones = choice.shape.iter().map(|s| least + s * (most - least));
        let ones: Vec<f64> = ones.collect();
        let law = self.model.reading_law(self.members[kind][0]);
        let whole: f64 = ones.iter().zip(&law).map(|(p, q)| p * q).sum();
        ones.iter().map(|p| (1.0 - share) * p + share * whole).collect()
    }

    /// Goes through all counts.
    fn judge(&self, choices: &[Choice], share: f64) -> Seen {
        let atoms = self.model.atoms();
        // By kind and count: how many orders, and the likelihood of one by atom, as logarithms.
        let table = |(kind, choice): (usize, &Choice)| -> Vec<(f64, Vec<f64>)> {
            let ones = self.ones(kind, choice, share);
            let sensor = self.sensor(kind);
            let one = |k: usize| -> f64 {
                sensor.given(k).as_slice().iter().zip(&ones).map(|(p, q)| p * q).sum()
            };
            let ones: Vec<f64> = (0..atoms.len()).map(one).collect();
            let times = |count: usize, p: f64| if count == 0 { 0.0 } else { count as f64 * p.ln() };
            (0..=choice.active)
                .map(|count| {
                    let zeros = choice.active - count;
                    let orders = self.factorial[choice.active]
                        - self.factorial[count]
                        - self.factorial[zeros];
                    let by_atom = |p: &f64| times(count, *p) + times(zeros, 1.0 - p);
                    (orders, ones.iter().map(by_atom).collect())
                })
                .collect()
        };
        let tables: Vec<Vec<(f64, Vec<f64>)>> = choices.iter().enumerate().map(table).collect();
        let start: Vec<f64> = atoms.iter().map(|atom| atom.weight.ln()).collect();
        let mut sums = Sums {
            crowd: self,
            kept: 0.0,
            public: 0.0,
            leak: 0.0,
            h: vec![0.0; self.public.len()],
            g: vec![0.0; self.private.len()],
        };
        sums.descend(&tables, 0.0, &start);
        Seen { error: 1.0 - sums.kept, public: sums.public, leak: sums.leak }
    }

    /// The least noise with which a candidate keeps the budget of G, and what it does then.
    fn within(&self, choices: &[Choice]) -> (f64, Seen) {
        let open = self.judge(choices, 0.0);
        if open.leak <= self.information {
            return (0.0, open);
        }
        let holds = |share: f64| self.judge(choices, share).leak <= self.information;
        let share = Bracket { holds: 1.0, fails: 0.0 }.halve(14, holds).holds;
        (share, self.judge(choices, share))
    }

    fn value(&self, choices: &[Choice]) -> f64 {
        self.within(choices).1.value()
    }

    /// The least P(1 | x) at which both outputs keep the level alike.
    fn middle(&self) -> f64 {
        if self.ldp.is_finite() { 1.0 / (1.0 + self.ldp.exp()) } else { 0.0 }
    }

    fn start(&self, rng: &mut ChaCha20Rng) -> Vec<Choice> {
        let (h, g) = (self.public.len(), self.private.len());
        let choice = |kind: usize, rng: &mut ChaCha20Rng| {
            // Which values of H this kind's ones speak for, and how much each scenario counts.
            let side: Vec<f64> = loop {
                let side: Vec<f64> =
                    (0..h).map(|_| if unit(rng) < 0.5 { 1.0 } else { -1.0 }).collect();
                if side.iter().any(|s| *s > 0.0) && side.iter().any(|s| *s < 0.0) {
                    break side;
                }
            };
            let tilt: Vec<f64> = (0..h * g).map(|_| between(0.3, 1.7, rng)).collect();
            let sensor = self.sensor(kind);
            let mut score = vec![0.0; sensor.inputs()];
            let count: f64 = self.public.iter().filter(|p| **p > 0.0).count() as f64;
            for (k, atom) in self.model.atoms().iter().enumerate() {
                // Every value of H weighs alike, however rare.
                let weight = atom.weight / (self.public[atom.public] * count);
                let weight = weight * side[atom.public] * tilt[atom.public * g + atom.private];
                let law = sensor.given(k).as_slice();
                score.iter_mut().zip(law).for_each(|(sum, p)| *sum += weight * p);
            }
            let all = self.members[kind].len();
            // At small budgets few can speak, so few are as likely as many.
            let some = (all as f64).powf(unit(rng)).round() as usize;
            let active = if unit(rng) < 0.2 { all } else { some.clamp(1, all) };
            let shape = score.iter().map(|&d| f64::from(u8::from(d > 0.0))).collect();
            Choice { active, floor: self.middle(), shape }
        };
        (0..self.members.len()).map(|kind| choice(kind, rng)).collect()
    }

    /// Changes one coordinate after another for as long as that helps.
    fn search(&self, mut choices: Vec<Choice>, watch: &Watch<'_>) -> (f64, Vec<Choice>) {
        let mut value = self.value(&choices);
        for step in [1.0, 0.5, 0.25, 0.1] {
            // Whatever is better is taken at once; a sweep that gains nothing ends the step.
            loop {
                let before = value;
                let mut at = 0;
                while let Some(next) = self.neighbours(&choices, step).into_iter().nth(at) {
                    if (watch.stop)() {
                        return (value, choices);
                    }
                    let found = self.value(&next);
                    if found < value - 1e-9 {
                        (choices, value) = (next, found);
                    }
                    at += 1;
                }
                if before - value < 1e-5 {
                    break;
                }
            }
        }
        (value, choices)
    }

    /// Candidates that differ in one coordinate.
    fn neighbours(&self, choices: &[Choice], step: f64) -> Vec<Vec<Choice>> {
        let mut all = Vec::new();
        for (kind, choice) in choices.iter().enumerate() {
            let mut add = |changed: Choice| {
                let mut next = choices.to_vec();
                next[kind] = changed;
                all.push(next);
            };
            for x in 0..choice.shape.len() {
                for value in [choice.shape[x] - step, choice.shape[x] + step] {
                    let value = value.clamp(0.0, 1.0);
                    if value != choice.shape[x] {
                        let mut shape = choice.shape.clone();
                        shape[x] = value;
                        add(Choice { shape, ..choice.clone() });
                    }
                }
            }
            let most = self.members[kind].len();
            let by = ((step * most as f64 / 2.0).round() as usize).max(1);
            for active in [choice.active.saturating_sub(by), (choice.active + by).min(most)] {
                if active != choice.active {
                    add(Choice { active, ..choice.clone() });
                }
            }
            if self.ldp.is_finite() {
                let (low, high) = (self.middle() / 64.0, 1.0 - (1.0 - self.middle()) / 64.0);
                for factor in [1.0 - step / 2.0, 1.0 + step / 2.0] {
                    let floor = (choice.floor * factor).clamp(low, high);
                    add(Choice { floor, ..choice.clone() });
                }
            }
        }
        all
    }
}

/// What is summed over counts.
struct Sums<'a> {
    crowd: &'a Crowd<'a>,
    kept: f64,
    public: f64,
    leak: f64,
    h: Vec<f64>,
    g: Vec<f64>,
}

impl Sums<'_> {
    fn descend(&mut self, tables: &[Vec<(f64, Vec<f64>)>], orders: f64, masses: &[f64]) {
        let Some((table, rest)) = tables.split_first() else { return self.see(orders, masses) };
        for (more, likelihood) in table {
            let joined: Vec<f64> = masses.iter().zip(likelihood).map(|(a, b)| a + b).collect();
            self.descend(rest, orders + more, &joined);
        }
    }

    fn see(&mut self, orders: f64, masses: &[f64]) {
        let most = masses.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if most == f64::NEG_INFINITY {
            return;
        }
        self.h.fill(0.0);
        self.g.fill(0.0);
        for (atom, mass) in self.crowd.model.atoms().iter().zip(masses) {
            let mass = (mass - most).exp();
            self.h[atom.public] += mass;
            self.g[atom.private] += mass;
        }
        let total: f64 = self.g.iter().sum();
        let scale = (orders + most).exp();
        self.kept += scale * self.h.iter().copied().fold(0.0, f64::max);
        for (&joint, prior) in self.h.iter().zip(&self.crowd.public).filter(|(p, _)| **p > 0.0) {
            self.public += scale * joint * (joint / (prior * total)).ln();
        }
        for (&joint, &prior) in self.g.iter().zip(&self.crowd.private).filter(|(_, p)| **p > 0.0) {
            self.leak = self.leak.max((joint / (prior * total)).ln().abs());
        }
    }
}

/// How many times the search will call `step` of its [`Watch`].
pub fn expected_steps(request: &Request) -> u64 {
    request.restarts.into()
}

/// Chooses maps for a crowd, within both budgets.
pub fn design(model: &Model, request: &Request, watch: &Watch<'_>) -> Result<Proposal, Error> {
    let crowd = Crowd::new(model, request.budgets)?;
    let start = |index: u32| {
        let mut rng = ChaCha20Rng::seed_from_u64(request.seed);
        // What a start finds does not depend on who else searches.
        rng.set_stream(index.into());
        (!(watch.stop)() || index == 0).then(|| {
            let found = crowd.search(crowd.start(&mut rng), watch);
            (watch.step)();
            found
        })
    };
    let found: Vec<(f64, Vec<Choice>)> =
        (0..request.restarts).into_par_iter().filter_map(start).collect();
    let best = found.into_iter().reduce(|best, next| if next.0 < best.0 { next } else { best });
    let Some((_, choices)) = best else {
        return Err(Error::range("the number of restarts", 0.0, "at least 1"));
    };
    let (share, seen) = crowd.within(&choices);
    let mut channels = vec![None; model.sensors().len()];
    let mut kinds = Vec::new();
    for (kind, choice) in choices.iter().enumerate() {
        let ones = crowd.ones(kind, choice, share);
        let rows = ones.iter().map(|&p| vec![1.0 - p, p]).collect();
        let speaks = Channel::new(rows)?;
        let silent = Channel::new(vec![vec![0.5, 0.5]; ones.len()])?;
        let members = crowd.members[kind].clone();
        for (place, &t) in members.iter().enumerate() {
            let map = if place < choice.active { &speaks } else { &silent };
            channels[t] = Some(map.clone());
        }
        // Who says the same whatever is read does not speak.
        let constant = ones.windows(2).all(|two| two[0] == two[1]);
        kinds.push(Kind { members, active: if constant { 0 } else { choice.active }, ones });
    }
    let maps = Maps::new(channels.into_iter().flatten().collect())?;
    Ok(Proposal { kinds, maps, error: seen.error })
}
