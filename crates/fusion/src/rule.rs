//! The fusion rule: from what the sensors sent to a decision about H.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use undertone_core::plan::Likelihoods;
use undertone_design::Error;

use crate::objective::{Goal, Test, likeliest};
use crate::walk::Outputs;
use crate::{Atom, Maps, Model, Objective};

/// A test is not looked for among more output vectors than this.
const MAX_TESTED: usize = 1 << 22;

/// Decides H by its posterior given the outputs of the sensors heard, whichever those are: a missing
/// sensor is averaged over. Ties go to the lower value.
#[derive(Debug, Clone)]
pub struct FusionRule {
    atoms: Vec<Atom>,
    outputs: Outputs,
    sensors: usize,
    public: usize,
    private: usize,
    goal: Goal,
    /// For detection, the test of those sensors that were heard: made when they first are.
    tests: Arc<Mutex<BTreeMap<Vec<bool>, Test>>>,
}

/// What the centre believes after one epoch.
#[derive(Debug, Clone, PartialEq)]
pub struct Posterior {
    /// P(h | z).
    pub public: Vec<f64>,
    /// P(g | z).
    pub private: Vec<f64>,
    /// P(z), of the sensors heard; of very many of them, rounded to zero.
    pub evidence: f64,
    /// Whether these outputs cannot occur together, so that beliefs are those before.
    pub impossible: bool,
}

/// Masses below this are scaled up.
const SMALL: f64 = 1e-100;

impl FusionRule {
    /// The Bayes rule of this model under these maps.
    pub fn new(model: &Model, maps: &Maps) -> Result<Self, Error> {
        Self::with_objective(model, maps, &Objective::Error)
    }

    /// The rule that is best for an objective. For detection the coin that is thrown at the test's threshold is the
    /// caller's, and the test is that of the sensors heard: it has the same rate of false alarms whoever is missing.
    pub fn with_objective(
        model: &Model,
        maps: &Maps,
        objective: &Objective,
    ) -> Result<Self, Error> {
        let rule = Self {
            atoms: model.atoms().to_vec(),
            outputs: Outputs::new(model, maps)?,
            sensors: model.sensors().len(),
            public: model.public().size(),
            private: model.private().size(),
            goal: Goal::new(objective, model.public_law())?,
            tests: Arc::default(),
        };
        if rule.goal.false_alarm().is_some() {
            rule.test(&vec![true; rule.sensors])?;
        }
        Ok(rule)
    }

    /// P(outputs heard, atom) over a common factor, and that factor.
    fn masses(&self, outputs: &[Option<usize>]) -> Result<(Vec<f64>, f64), Error> {
        if outputs.len() != self.sensors {
            return Err(Error::Size {
                what: "the outputs".into(),
                expected: self.sensors,
                found: outputs.len(),
            });
        }
        let mut masses: Vec<f64> = self.atoms.iter().map(|atom| atom.weight).collect();
        let mut scale = 1.0;
        for (t, z) in outputs.iter().enumerate().filter_map(|(t, z)| Some((t, (*z)?))) {
            if z >= self.outputs.outcomes(t) {
                let problem = format!("{z} is not one of its {} outputs", self.outputs.outcomes(t));
                return Err(Error::other(format!("output of sensor {t}"), problem));
            }
            masses.iter_mut().enumerate().for_each(|(k, mass)| *mass *= self.outputs.at(t, k, z));
            // Hundreds of likelihoods may multiply to less than a float holds; their quotients do not.
            let most = masses.iter().copied().fold(0.0, f64::max);
            if most > 0.0 && most < SMALL {
                masses.iter_mut().for_each(|mass| *mass /= most);
                scale *= most;
            }
        }
        Ok((masses, scale))
    }

    /// Beliefs about H and G given one output per sensor, `None` for those not heard. Outputs that
    /// cannot occur together leave the prior as it is.
    pub fn posterior(&self, outputs: &[Option<usize>]) -> Result<Posterior, Error> {
        let (mut masses, scale) = self.masses(outputs)?;
        let mut total: f64 = masses.iter().sum();
        let evidence = total * scale;
        let impossible = !(total > 0.0);
        if impossible {
            masses = self.atoms.iter().map(|atom| atom.weight).collect();
            total = masses.iter().sum();
        }
        let mut posterior = Posterior {
            public: vec![0.0; self.public],
            private: vec![0.0; self.private],
            evidence,
            impossible,
        };
        for (atom, mass) in self.atoms.iter().zip(masses) {
            posterior.public[atom.public] += mass / total;
            posterior.private[atom.private] += mass / total;
        }
        Ok(posterior)
    }

    /// The decision for these outputs. `coin`, from 0 to 1, is looked at where a test says "sometimes".
    pub fn decide(&self, outputs: &[Option<usize>], coin: f64) -> Result<usize, Error> {
        self.decision(&self.posterior(outputs)?, outputs, coin)
    }

    /// The decision for these outputs, whose posterior is known.
    pub fn decision(
        &self,
        posterior: &Posterior,
        outputs: &[Option<usize>],
        coin: f64,
    ) -> Result<usize, Error> {
        let Some(alarm) = self.alarm(posterior, outputs)? else {
            return Ok(self.goal.decide(&posterior.public));
        };
        Ok(if coin < alarm { likeliest(&posterior.public, 1) } else { 0 })
    }

    /// The decision of a centre that remembers what was said before. A test judges every epoch by itself: its false alarms
    /// are promised for what is heard in one.
    pub fn decision_remembering(
        &self,
        remembered: &Posterior,
        outputs: &[Option<usize>],
        coin: f64,
    ) -> Result<usize, Error> {
        match self.goal.false_alarm() {
            Some(_) => self.decide(outputs, coin),
            None => Ok(self.goal.decide(&remembered.public)),
        }
    }

    /// How often each value is decided for these outputs.
    pub(crate) fn decisions(
        &self,
        posterior: &Posterior,
        outputs: &[Option<usize>],
    ) -> Result<Vec<f64>, Error> {
        let mut law = vec![0.0; self.public];
        match self.alarm(posterior, outputs)? {
            None => law[self.goal.decide(&posterior.public)] = 1.0,
            Some(alarm) => {
                law[0] = 1.0 - alarm;
                law[likeliest(&posterior.public, 1)] += alarm;
            }
        }
        Ok(law)
    }

    /// The probability of an alarm, for detection.
    fn alarm(
        &self,
        posterior: &Posterior,
        outputs: &[Option<usize>],
    ) -> Result<Option<f64>, Error> {
        if self.goal.false_alarm().is_none() {
            return Ok(None);
        }
        let heard: Vec<bool> = outputs.iter().map(Option::is_some).collect();
        let test = self.test(&heard)?;
        let nothing = posterior.public[0];
        let event: f64 = posterior.public[1..].iter().sum();
        Ok(Some(test.alarm(nothing, event)))
    }

    /// The test of the sensors heard.
    fn test(&self, heard: &[bool]) -> Result<Test, Error> {
        let mut tests = self.tests.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(test) = tests.get(heard) {
            return Ok(*test);
        }
        let speaking: Vec<usize> = (0..self.sensors).filter(|&t| heard[t]).collect();
        let sizes: Vec<usize> = speaking.iter().map(|&t| self.outputs.outcomes(t)).collect();
        check_tested(&sizes)?;
        let mut cells = Vec::new();
        let masses: Vec<f64> = self.atoms.iter().map(|atom| atom.weight).collect();
        self.cells(&speaking, &masses, &mut cells);
        let rate = self.goal.false_alarm().unwrap_or(1.0);
        let test = Test::new(cells, rate);
        tests.insert(heard.to_vec(), test);
        Ok(test)
    }

    /// The masses of "nothing" and of anything else at every output vector of `sensors`.
    fn cells(&self, sensors: &[usize], masses: &[f64], cells: &mut Vec<(f64, f64)>) {
        let Some((&t, rest)) = sensors.split_first() else {
            let sum = |event: bool| -> f64 {
                let own = self.atoms.iter().zip(masses).filter(|(a, _)| (a.public > 0) == event);
                own.map(|(_, mass)| mass).sum()
            };
            cells.push((sum(false), sum(true)));
            return;
        };
        for z in 0..self.outputs.outcomes(t) {
            let next: Vec<f64> =
                masses.iter().enumerate().map(|(k, m)| m * self.outputs.at(t, k, z)).collect();
            self.cells(rest, &next, cells);
        }
    }

    /// The likelihood of the outputs heard in each of these pairs (h, g), up to a common factor; nought if they cannot
    /// occur.
    pub(crate) fn by_pair(
        &self,
        outputs: &[Option<usize>],
        pairs: &[(usize, usize)],
    ) -> Result<Vec<f64>, Error> {
        let (masses, _) = self.masses(outputs)?;
        let of_pair = |pair: &(usize, usize)| {
            let own = |(atom, mass): (&Atom, &f64)| {
                if (atom.public, atom.private) == *pair { (*mass, atom.weight) } else { (0.0, 0.0) }
            };
            let all = self.atoms.iter().zip(&masses).map(own);
            let (mass, weight) = all.fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
            mass / weight
        };
        Ok(pairs.iter().map(of_pair).collect())
    }

    /// Beliefs in H and G from those in pairs of them.
    pub(crate) fn of_pairs(
        &self,
        pairs: &[(usize, usize)],
        beliefs: &[f64],
        evidence: f64,
    ) -> Posterior {
        let mut posterior = Posterior {
            public: vec![0.0; self.public],
            private: vec![0.0; self.private],
            evidence,
            impossible: !(evidence > 0.0),
        };
        for (&(h, g), belief) in pairs.iter().zip(beliefs) {
            posterior.public[h] += belief;
            posterior.private[g] += belief;
        }
        posterior
    }

    /// What the rule is made for.
    pub fn goal(&self) -> &Goal {
        &self.goal
    }
}

/// Refuses more output vectors than a test is looked for among.
pub(crate) fn check_tested(outputs: &[usize]) -> Result<(), Error> {
    let vectors = outputs.iter().try_fold(1usize, |all, &size| all.checked_mul(size));
    match vectors {
        Some(vectors) if vectors <= MAX_TESTED => Ok(()),
        _ => Err(Error::TooLarge {
            what: format!("the set of output vectors of {} sensors for a test", outputs.len()),
            size: vectors.unwrap_or(usize::MAX),
            limit: MAX_TESTED,
            fix: "use fewer sensors or outputs, or the objective cost or balanced".into(),
        }),
    }
}

impl Posterior {
    /// The most likely value of H; ties go to the lower one. What the centre decides is the rule's.
    pub fn likeliest(&self) -> usize {
        likeliest(&self.public, 0)
    }
}
