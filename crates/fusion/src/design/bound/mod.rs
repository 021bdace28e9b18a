//! What no maps within the budgets can do: bounds on the error of H, on any loss, and on the information about H.
//!
//! Let u(d|k) be how often the centre decides d in scenario k (an atom of the model), for any maps within the budgets
//! and any rule. Then
//!
//! * u(·|k) is a law;
//! * for every value g of G and every d, P(d|g) = Σ_k P(k|g) u(d|k) lies within the permitted lifts of P(d): each output
//!   vector keeps them, and what leads to one decision is a sum of output vectors;
//! * for any two scenarios k, l and any γ, u(d|k) - γ u(d|l) <= E_γ(k, l), which `region` bounds.
//!
//! All are linear in u, and so are the error, any expected cost, and a test's power: their least values over these u are
//! linear programs whose optimum no design passes. Rows are added while they matter, so every program solved has fewer
//! rows than are true, and its optimum is a bound too; what is used is the value of the dual at the prices found
//! (`Program::lower_bound`), which is a bound whatever the solver's tolerance. What the relaxation forgets is that one
//! map serves all pairs of scenarios, and that lifts must be kept by all sensors together and not only by each and by
//! the decision; so bounds close where LDP binds and leave a gap where the information budget does.
//!
//! For the information: I(H;Z) is an integral over the weights t of the two mistakes, of the blind cost minus the least
//! expected cost R(t), over t(1-t). R is concave in t, so bounds at some t bound it between them by chords. More than two
//! values of H are told one after another (chain rule).

mod region;

use std::collections::{BTreeMap, HashMap};

use undertone_design::Error;
use undertone_design::solve::Program;

use super::{Budgets, Method, nats};
use crate::lift::LiftBounds;
use crate::objective::{Costs, Goal};
use crate::{Model, Objective};
use region::{HALF, Pair, Permitted};

/// More scenarios than this are merged by their labels.
const MAX_SCENARIOS: usize = 24;
/// With more decisions times scenarios nothing is bounded.
const MAX_VARIABLES: usize = 600;
/// Rounds of adding rows.
const ROUNDS: usize = 24;
/// Rows added in one round.
const BATCH: usize = 60;
/// Rows violated by less are not added.
const VIOLATED: f64 = 1e-8;
/// The lattice of likelihood ratios ends here if nothing ends it before.
const FARTHEST: f64 = 8.0;
/// Weights of two mistakes at which the least cost is bounded.
const WEIGHTS: usize = 15;
/// What rounding of the budgets may add to a level.
const HAIR: f64 = 1e-9;

/// What no maps within the budgets pass.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// No maps, and no rule, are wrong about H less often.
    pub error: f64,
    /// No maps tell more of H, in nats.
    pub information: f64,
    /// No maps have less of the loss asked about.
    pub loss: f64,
}

/// The relaxation of a model under budgets.
struct Relaxation {
    scenarios: Vec<Scenario>,
    publics: usize,
    lifts: Option<Lifts>,
    /// For an ordered pair of scenarios, (γ, E_γ).
    pairs: BTreeMap<(usize, usize), Vec<(f64, f64)>>,
    /// Rows that were violated once: (decision, k, l, γ, E_γ).
    cuts: Vec<(usize, usize, usize, f64, f64)>,
}

/// P(g), and the least and largest lift of each value of G.
struct Lifts {
    prior: Vec<f64>,
    each: Vec<(f64, f64)>,
}

/// How often an alarm is false in each scenario, and how often it may be in all.
struct Alarms<'a> {
    each: &'a dyn Fn(&Scenario) -> f64,
    most: f64,
}

#[derive(Debug, Clone, Copy)]
struct Scenario {
    weight: f64,
    public: usize,
    private: usize,
}

/// Bounds on what a method that keeps these budgets can reach. `stop` ends the work early, with weaker bounds.
pub fn limits(
    model: &Model,
    method: Method,
    budgets: Budgets,
    objective: &Objective,
    stop: &dyn Fn() -> bool,
) -> Result<Limits, Error> {
    let mut relaxation = Relaxation::new(model, method, budgets, stop)?;
    let public = model.public_law();
    let goal = Goal::new(objective, public.clone())?;
    let plain = Goal::new(&Objective::Error, public.clone())?;
    let error = relaxation.least_cost(plain.costs().as_ref(), stop).unwrap_or(0.0);
    let error = error.clamp(0.0, plain.blind().max(0.0));
    let information = relaxation.information(&public, stop);
    let loss = match (objective, goal.false_alarm()) {
        (Objective::Error, _) => error,
        (Objective::Information, _) => -information,
        (_, Some(false_alarm)) => {
            relaxation.least_missed(&public, false_alarm, stop).unwrap_or(0.0).max(0.0)
        }
        _ => relaxation.least_cost(goal.costs().as_ref(), stop).unwrap_or(0.0).max(0.0),
    };
    Ok(Limits { error, information, loss: loss.min(goal.blind()) })
}

impl Relaxation {
    fn new(
        model: &Model,
        method: Method,
        budgets: Budgets,
        stop: &dyn Fn() -> bool,
    ) -> Result<Self, Error> {
        let private = model.private_law();
        let hidden = budgets.information.filter(|_| method.hides_private());
        let lifts = hidden.map(|level| lifts(&private, nats(level), budgets.epochs)).transpose()?;
        let odds = budgets.ldp.filter(|_| method.hides_readings());
        let odds = odds.map(|level| (nats(level) + HAIR).exp());
        let mut relaxation = Self {
            scenarios: Vec::new(),
            publics: model.public().size(),
            lifts: lifts.map(|each| Lifts { prior: private, each }),
            pairs: BTreeMap::new(),
            cuts: Vec::new(),
        };
        // Atoms with the same labels and laws are one scenario.
        let mut known: HashMap<(usize, usize, Vec<u32>), usize> = HashMap::new();
        let mut rows: Vec<Vec<u32>> = Vec::new();
        for (k, atom) in model.atoms().iter().enumerate() {
            let laws: Vec<u32> = model.sensors().iter().map(|sensor| sensor.row_of()[k]).collect();
            let scenarios = &mut relaxation.scenarios;
            let at = *known.entry((atom.public, atom.private, laws.clone())).or_insert_with(|| {
                let (public, private) = (atom.public, atom.private);
                scenarios.push(Scenario { weight: 0.0, public, private });
                rows.push(laws);
                scenarios.len() - 1
            });
            scenarios[at].weight += atom.weight;
        }
        if relaxation.scenarios.len() <= MAX_SCENARIOS {
            relaxation.tell_apart(model, odds, &rows, stop);
        } else {
            relaxation.merge(model.sensors().len(), odds);
        }
        Ok(relaxation)
    }

    /// Bounds E_γ of every pair of scenarios.
    fn tell_apart(
        &mut self,
        model: &Model,
        odds: Option<f64>,
        rows: &[Vec<u32>],
        stop: &dyn Fn() -> bool,
    ) {
        let permitted: Vec<Permitted> =
            (0..model.sensors().len()).map(|t| self.permitted(model, t, odds)).collect();
        let law = |t: usize, row: u32| model.sensors()[t].rows()[row as usize].as_slice();
        let distinct = |t: usize| {
            let mut own: Vec<u32> = rows.iter().map(|row| row[t]).collect();
            own.sort_unstable();
            own.dedup();
            own
        };
        let mut reach = 0.0f64;
        for (t, permitted) in permitted.iter().enumerate() {
            let own = distinct(t);
            for (at, &a) in own.iter().enumerate() {
                for &b in &own[at + 1..] {
                    reach = reach.max(permitted.reach(law(t, a), law(t, b)));
                }
            }
        }
        if !(reach > 0.0) {
            return;
        }
        let step = reach.min(FARTHEST) / HALF as f64;
        // Sensors that are alike have the same pairs.
        let alike = |t: usize| {
            let same = |other: &usize| {
                model.sensors()[*other].rows() == model.sensors()[t].rows()
                    && model.sensors()[*other].row_of() == model.sensors()[t].row_of()
            };
            (0..t).find(same).unwrap_or(t)
        };
        let kind: Vec<usize> = (0..permitted.len()).map(alike).collect();
        let mut parts: HashMap<(usize, u32, u32), Pair> = HashMap::new();
        for k in 0..rows.len() {
            for l in (0..rows.len()).filter(|&l| l != k) {
                let mut all = Pair::silent();
                for (t, &kind) in kind.iter().enumerate() {
                    let (a, b) = (rows[k][t], rows[l][t]);
                    if a == b {
                        continue;
                    }
                    if stop() {
                        return;
                    }
                    let pair = parts.entry((kind, a, b)).or_insert_with(|| {
                        Pair::new(&permitted[kind], law(kind, a), law(kind, b), step)
                    });
                    all = all.with(pair);
                }
                self.pairs.insert((k, l), all.limits(step));
            }
        }
    }

    /// What sensor `t` may say by itself.
    fn permitted(&self, model: &Model, t: usize, odds: Option<f64>) -> Permitted {
        let mut rows = Vec::new();
        if let Some(Lifts { prior, each }) = &self.lifts {
            let sensor = &model.sensors()[t];
            let all = model.reading_law(t);
            for (g, &(least, most)) in each.iter().enumerate().filter(|(g, _)| prior[*g] > 0.0) {
                let mut own = vec![0.0; sensor.inputs()];
                for (k, atom) in model.atoms().iter().enumerate().filter(|(_, a)| a.private == g) {
                    let law = sensor.given(k).as_slice();
                    let share = atom.weight / prior[g];
                    own.iter_mut().zip(law).for_each(|(sum, p)| *sum += share * p);
                }
                // P(A|g) - most P(A) <= 0 for an event and its complement, and least P(A) - P(A|g) <= 0.
                for (bound, sign) in [(most, 1.0), (least, -1.0)] {
                    let row: Vec<f64> =
                        own.iter().zip(&all).map(|(p, q)| sign * (p - bound * q)).collect();
                    let rest: f64 = row.iter().sum();
                    rows.push((row.iter().map(|a| -a).collect(), -rest));
                    rows.push((row, 0.0));
                }
            }
        }
        Permitted { odds, rows }
    }

    /// Too many scenarios: those with the same labels become one, and LDP alone bounds how well two are told apart.
    /// Mixtures are told apart no better than the best pair of what is mixed, and no two readings of a sensor better
    /// than randomised response tells two symbols.
    fn merge(&mut self, sensors: usize, odds: Option<f64>) {
        let mut merged: Vec<Scenario> = Vec::new();
        for scenario in &self.scenarios {
            let same =
                |s: &&mut Scenario| (s.public, s.private) == (scenario.public, scenario.private);
            match merged.iter_mut().find(same) {
                Some(place) => place.weight += scenario.weight,
                None => merged.push(*scenario),
            }
        }
        self.scenarios = merged;
        let Some(odds) = odds.filter(|odds| odds.ln() <= FARTHEST) else { return };
        let step = odds.ln() / HALF as f64;
        if !(step > 0.0) {
            return;
        }
        let permitted = Permitted { odds: Some(odds), rows: Vec::new() };
        let one = Pair::new(&permitted, &[1.0, 0.0], &[0.0, 1.0], step);
        let all = (0..sensors).fold(Pair::silent(), |all, _| all.with(&one)).limits(step);
        for k in 0..self.scenarios.len() {
            for l in (0..self.scenarios.len()).filter(|&l| l != k) {
                self.pairs.insert((k, l), all.clone());
            }
        }
    }

    /// No decisions cost less on average.
    fn least_cost(&mut self, costs: Option<&Costs>, stop: &dyn Fn() -> bool) -> Option<f64> {
        let rows = costs?.rows();
        let cost = |d: usize, s: &Scenario| s.weight * rows[d][s.public];
        self.least(self.publics, &cost, None, stop)
    }

    /// No test misses less often at this rate of false alarms. Decision 1 is an alarm.
    fn least_missed(
        &mut self,
        public: &[f64],
        false_alarm: f64,
        stop: &dyn Fn() -> bool,
    ) -> Option<f64> {
        let event: f64 = public[1..].iter().sum();
        let cost =
            |d: usize, s: &Scenario| if d == 0 && s.public > 0 { s.weight / event } else { 0.0 };
        let alarm = |s: &Scenario| if s.public == 0 { s.weight / public[0] } else { 0.0 };
        self.least(2, &cost, Some(Alarms { each: &alarm, most: false_alarm }), stop)
    }

    /// A bound on the least Σ cost(d,k) u(d|k).
    fn least(
        &mut self,
        decisions: usize,
        cost: &dyn Fn(usize, &Scenario) -> f64,
        alarms: Option<Alarms<'_>>,
        stop: &dyn Fn() -> bool,
    ) -> Option<f64> {
        let count = self.scenarios.len();
        if decisions * count > MAX_VARIABLES {
            return None;
        }
        let mut best: Option<f64> = None;
        for round in 0..ROUNDS {
            let mut program = Program::new();
            for scenario in &self.scenarios {
                (0..decisions).for_each(|d| {
                    program.non_negative(cost(d, scenario));
                });
            }
            let u = |d: usize, k: usize| k * decisions + d;
            for k in 0..count {
                program.equal((0..decisions).map(|d| (u(d, k), 1.0)), 1.0);
            }
            self.keep_lifts(&mut program, decisions);
            if let Some(Alarms { each, most }) = &alarms {
                let row = self.scenarios.iter().enumerate().map(|(k, s)| (u(1, k), each(s)));
                program.at_most(row, *most);
            }
            for &(d, k, l, factor, bound) in self.cuts.iter().filter(|cut| cut.0 < decisions) {
                let size = factor.max(1.0);
                program.at_most([(u(d, k), 1.0 / size), (u(d, l), -factor / size)], bound / size);
            }
            let Ok(found) = program.solve() else { break };
            let bound = program.lower_bound(&found, 1.0);
            best = Some(best.map_or(bound, |best: f64| best.max(bound)));
            if round + 1 == ROUNDS || stop() || !self.cut(decisions, |d, k| found.values[u(d, k)]) {
                break;
            }
        }
        best
    }

    /// The lifts of G that every decision keeps.
    fn keep_lifts(&self, program: &mut Program, decisions: usize) {
        let Some(Lifts { prior, each }) = &self.lifts else { return };
        for d in 0..decisions {
            for (g, &(least, most)) in each.iter().enumerate().filter(|(g, _)| prior[*g] > 0.0) {
                for (bound, sign) in [(most, 1.0), (least, -1.0)] {
                    let own = |s: &Scenario| if s.private == g { 1.0 / prior[g] } else { 0.0 };
                    let row = self
                        .scenarios
                        .iter()
                        .enumerate()
                        .map(|(k, s)| (k * decisions + d, sign * s.weight * (own(s) - bound)));
                    program.at_most(row, 0.0);
                }
            }
        }
    }

    /// Adds the rows that are violated most, at most one for each decision and pair; false if none is.
    fn cut(&mut self, decisions: usize, u: impl Fn(usize, usize) -> f64) -> bool {
        let mut found = Vec::new();
        for (&(k, l), limits) in &self.pairs {
            for d in 0..decisions {
                let (own, other) = (u(d, k), u(d, l));
                let violation = |&(factor, bound): &(f64, f64)| {
                    (own - factor * other - bound) / factor.max(1.0)
                };
                let worst = limits.iter().map(|limit| (violation(limit), limit));
                let worst = worst.reduce(|a, b| if b.0 > a.0 { b } else { a });
                if let Some((violated, &(factor, bound))) = worst
                    && violated > VIOLATED
                {
                    found.push((violated, (d, k, l, factor, bound)));
                }
            }
        }
        found.sort_by(|a, b| b.0.total_cmp(&a.0));
        found.truncate(BATCH);
        self.cuts.extend(found.iter().map(|(_, cut)| *cut));
        !found.is_empty()
    }

    /// No maps tell more of H than this.
    fn information(&mut self, public: &[f64], stop: &dyn Fn() -> bool) -> f64 {
        let entropy: f64 = public.iter().filter(|p| **p > 0.0).map(|p| -p * p.ln()).sum();
        if 2 * self.scenarios.len() > MAX_VARIABLES {
            return entropy;
        }
        let alive: Vec<usize> = (0..public.len()).filter(|&h| public[h] > 0.0).collect();
        let mut sum = 0.0;
        for (at, &h) in alive[..alive.len() - 1].iter().enumerate() {
            let rest: f64 = alive[at + 1..].iter().map(|&h| public[h]).sum();
            sum += self.told(h, public[h], rest, stop);
        }
        sum.min(entropy)
    }

    /// No maps tell more of whether H is `h` or a later value, of mass `own` and `rest`; times that mass.
    fn told(&mut self, h: usize, own: f64, rest: f64, stop: &dyn Fn() -> bool) -> f64 {
        let share = rest / (own + rest);
        let middle = (share / (1.0 - share)).ln();
        let spread = |i: usize| 2.2 * (i as f64 - (WEIGHTS / 2) as f64) / (WEIGHTS / 2) as f64;
        // Dense about the blind centre's point of indifference, where least is certain.
        let weight = |i: usize| {
            let odds = middle + spread(i) * spread(i).abs();
            if i == WEIGHTS / 2 { share } else { 1.0 / (1.0 + (-odds).exp()) }
        };
        let mut points = vec![(0.0, 0.0)];
        for t in (0..WEIGHTS).map(weight) {
            // Saying "later" when H is h costs t, saying "h" when it is later 1 - t.
            let cost = |d: usize, s: &Scenario| match (d, s.public.cmp(&h)) {
                (1, std::cmp::Ordering::Equal) => s.weight * t,
                (0, std::cmp::Ordering::Greater) => s.weight * (1.0 - t),
                _ => 0.0,
            };
            let blind = (t * own).min((1.0 - t) * rest);
            let bound = if stop() { None } else { self.least(2, &cost, None, stop) };
            points.push((t, bound.unwrap_or(0.0).clamp(0.0, blind)));
        }
        points.push((1.0, 0.0));
        points.windows(2).map(|pair| between(pair[0], pair[1], share, own, rest)).sum()
    }
}

/// ∫ (blind cost - chord)/(t(1-t)) from one weight to the next; no kink of the blind cost lies between.
fn between((a, at_a): (f64, f64), (b, at_b): (f64, f64), share: f64, own: f64, rest: f64) -> f64 {
    let slope = (at_b - at_a) / (b - a);
    // The integrand's numerator is c + m t.
    let (c, m) = if b <= share {
        (slope * a - at_a, own - slope)
    } else {
        (rest - at_a + slope * a, -rest - slope)
    };
    let low = if a > 0.0 { c * (b / a).ln() } else { 0.0 };
    let high = if b < 1.0 { (c + m) * ((1.0 - b) / (1.0 - a)).ln() } else { 0.0 };
    (low - high).max(0.0)
}

/// The least and largest lift of every value of G in one epoch that any maps within the budget can have.
fn lifts(private: &[f64], level: f64, epochs: u32) -> Result<Vec<(f64, f64)>, Error> {
    let level = level + HAIR;
    // For two values the bounds of one epoch are exact. For more only sufficient ones are known; what is necessary is
    // that one epoch keeps the level of all: beliefs after it are averages of beliefs after all.
    let two = private.iter().filter(|p| **p > 0.0).count() == 2;
    let bounds = LiftBounds::new(private, level, if two { epochs } else { 1 })?;
    let each = bounds.lower().iter().zip(bounds.upper());
    Ok(each.map(|(low, high)| (low * (1.0 - HAIR), high * (1.0 + HAIR))).collect())
}

#[cfg(test)]
mod tests;
