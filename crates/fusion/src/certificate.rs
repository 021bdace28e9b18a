//! Information privacy of G over all outputs together, computed from the integers that ship.
//!
//! Every number is enclosed by outward rounding, so what is certified is never below the exact
//! leakage; the enclosures are so narrow (64 significant bits) that it is above it by no more than
//! the last printed digit.

use undertone_core::{Bounds, Magnitude, Nats, Policy, Ratio, Round, Shape, Table};
use undertone_design::Error;

use crate::cone::{Cone, Ray, larger};
use crate::exact::ExactModel;
use crate::kinds::Kinds;
use crate::walk::{self, Outputs, SensorOutputs};

/// The numbers of epochs that every certificate covers.
pub const EPOCHS: [u32; 3] = [1, 10, 100];

/// Products of atoms and output vectors above this are not enumerated; it takes minutes.
const MAX_WORK: usize = 1 << 34;
/// With more atoms than this nothing useful is known of what cannot be enumerated.
const MAX_ATOMS: usize = 12;

/// What an observer of all outputs can learn, at most.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Certificate {
    /// ε_I after various numbers of epochs, increasing; the first is one epoch.
    pub epochs: Vec<Repeated>,
    /// The LDP level every sensor's policy attains, in order.
    pub ldp: Vec<Nats>,
}

/// The leakage of a constant G after several epochs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Repeated {
    /// How many epochs.
    pub epochs: u32,
    /// ε_I if the epochs are independent given G; `None` if there is no bound.
    pub information: Option<Nats>,
    /// Whether that is the exact value (rounded up) or only a bound on it.
    pub exact: bool,
    /// ε_I however readings depend on each other over time, even if they never change: what LDP
    /// alone guarantees (ST20 Theorem 1(vi), sharpened).
    pub always: Option<Nats>,
}

impl Certificate {
    /// Computes the leakage of the network for 1, 10, 100 and `epochs` epochs.
    pub fn new(model: &ExactModel, policies: &[Policy], epochs: u32) -> Result<Self, Error> {
        let tables = tables(model, policies)?;
        let ratios: Vec<Ratio> =
            policies.iter().map(|policy| policy.certificate().input.ldp.ratio).collect();
        let ldp = policies.iter().map(attained).collect::<Result<Vec<Nats>, _>>()?;
        let mut counts: Vec<u32> = EPOCHS.to_vec();
        counts.push(epochs.max(1));
        counts.sort_unstable();
        counts.dedup();
        let extremes = Extremes::new(model, &tables, &counts)?;
        let line = |(at, &epochs): (usize, &u32)| {
            let (information, exact) = extremes.after(at, epochs);
            Repeated {
                epochs,
                information,
                exact,
                always: extremes.implied_by_ldp(&ratios, epochs),
            }
        };
        Ok(Self { epochs: counts.iter().enumerate().map(line).collect(), ldp })
    }

    /// The LDP of a reading that stays the same over this many epochs, of the sensor that tells most: the kernel's rule
    /// for a sequence of releases, whose worst transcript repeats the most telling output. `None` past the largest number.
    pub fn reading_ldp(&self, epochs: u32) -> Option<Nats> {
        let most = self.ldp.iter().map(|nats| nats.units()).max().unwrap_or(0);
        most.checked_mul(u64::from(epochs)).map(Nats::from_units)
    }

    /// The line for this number of epochs.
    pub fn after(&self, epochs: u32) -> Option<&Repeated> {
        self.epochs.iter().find(|line| line.epochs == epochs)
    }
}

/// ε_I after this many epochs alone; `None` if there is no bound.
pub(crate) fn information(
    model: &ExactModel,
    policies: &[Policy],
    epochs: u32,
) -> Result<Option<Nats>, Error> {
    let extremes = Extremes::new(model, &tables(model, policies)?, &[epochs])?;
    Ok(extremes.after(0, epochs).0)
}

/// The LDP level a policy attains.
fn attained(policy: &Policy) -> Result<Nats, Error> {
    policy.ldp().ok_or_else(|| {
        Error::other("policy", "its LDP level has no bound, so it cannot have been verified")
    })
}

/// The policies' tables, if they fit the model's sensors.
pub(crate) fn tables<'a>(
    model: &ExactModel,
    policies: &'a [Policy],
) -> Result<Vec<&'a Table>, Error> {
    if policies.len() != model.sensors.len() {
        return Err(Error::Size {
            what: "the list of policies".into(),
            expected: model.sensors.len(),
            found: policies.len(),
        });
    }
    let table = |(policy, sensor): (&'a Policy, &crate::exact::ExactSensor)| {
        let what = || format!("the policy of sensor {}", sensor.name);
        let Shape::Table(table) = policy.draft().shape() else {
            return Err(Error::other(what(), "is not a table: re-export it as one"));
        };
        if *policy.draft().inputs() != sensor.readings {
            return Err(Error::other(what(), "is not for this sensor's readings"));
        }
        Ok(table)
    };
    policies.iter().zip(&model.sensors).map(table).collect()
}

/// Whether a sensor's output does not depend on its reading.
pub(crate) fn is_silent(table: &Table) -> bool {
    table.rows().windows(2).all(|pair| pair[0].masses() == pair[1].masses())
}

/// How a network's outputs are gone through.
enum Ways {
    /// Vector by vector.
    Vectors(Outputs<Bounds>),
    /// By how many sensors of each kind sent what: as exact, because nothing else matters.
    Counts(Kinds<Bounds>),
    /// By the rays of a cone that holds the likelihoods of all vectors: a bound.
    Rays(Vec<Bounds>, Vec<Ray>),
}

impl Ways {
    /// Vectors where they can be enumerated, else counts, else a bound. Refuses networks where none of it can be had.
    fn new(model: &ExactModel, tables: &[&Table]) -> Result<Self, Error> {
        let outputs: Vec<usize> = tables.iter().map(|table| table.outputs()).collect();
        let atoms = model.atoms.len();
        let vectors = walk::vectors(&outputs);
        let (weights, sensors) = enclosures(model, tables);
        if vectors.as_ref().is_ok_and(|vectors| vectors.saturating_mul(atoms) <= MAX_WORK) {
            return Ok(Self::Vectors(Outputs::from_parts(weights, sensors)));
        }
        let kinds = Kinds::new(weights.clone(), sensors.clone());
        if kinds.counts().is_some() {
            return Ok(Self::Counts(kinds));
        }
        if atoms > MAX_ATOMS {
            let vectors = vectors.unwrap_or(usize::MAX);
            return Err(Error::TooLarge {
                what: format!("{atoms} atoms times the output vectors of {} sensors", tables.len()),
                size: vectors.saturating_mul(atoms),
                limit: MAX_WORK,
                fix: format!(
                    "use fewer sensors, outputs or distinct samples, sensors of fewer kinds, or at most {MAX_ATOMS} \
                     scenarios (then a bound is certified), or bound the leakage from held-out samples (`undertone \
                     fusion train`)"
                ),
            });
        }
        let around = |sensor: &SensorOutputs<Bounds>| {
            let at =
                |k: usize, z: usize| sensor.likelihood[sensor.row_of[k] as usize * sensor.size + z];
            let ray = |z: usize| (0..atoms).map(|k| at(k, z)).collect();
            Cone::around(atoms, &(0..sensor.size).map(ray).collect::<Vec<Ray>>())
        };
        let cone = sensors.iter().map(around).reduce(|all, next| all.product(&next));
        Ok(Self::Rays(weights, cone.map_or(Vec::new(), |cone| cone.rays())))
    }

    /// How many steps it takes, atoms included.
    #[cfg(feature = "runtime")]
    fn steps(&self) -> usize {
        match self {
            Self::Vectors(outputs) => outputs.vectors().saturating_mul(outputs.atoms()),
            Self::Counts(kinds) => kinds.steps(),
            Self::Rays(weights, rays) => rays.len().saturating_mul(weights.len()),
        }
    }
}

#[cfg(feature = "runtime")]
/// How many steps it takes to find ε_I after a number of epochs.
pub(crate) fn steps(model: &ExactModel, policies: &[Policy]) -> Result<usize, Error> {
    Ok(Ways::new(model, &tables(model, policies)?)?.steps())
}

/// Enclosures of every sensor's output likelihoods, and of the atoms' weights: the products of two integers are exact.
pub(crate) fn enclosures(
    model: &ExactModel,
    tables: &[&Table],
) -> (Vec<Bounds>, Vec<SensorOutputs<Bounds>>) {
    let sensors = model.sensors.iter().zip(tables).map(|(sensor, table)| {
        if is_silent(table) {
            // Its output has the same likelihood everywhere and cancels: one output that is certain says as
            // little, and its likelihood needs no rounding.
            let likelihood = vec![Bounds::new(1 << 96, -96); sensor.rows.len()];
            return SensorOutputs { size: 1, likelihood, row_of: sensor.row_of.clone() };
        }
        let size = table.outputs();
        let likelihood = sensor.rows.iter().flat_map(|law| {
            (0..size).map(move |z| {
                let product = |(&p, row): (&u64, &undertone_core::Row)| {
                    u128::from(p) * u128::from(row.masses()[z])
                };
                Bounds::new(law.iter().zip(table.rows()).map(product).sum(), -96)
            })
        });
        SensorOutputs { size, likelihood: likelihood.collect(), row_of: sensor.row_of.clone() }
    });
    let weight = |atom: &crate::exact::ExactAtom| Bounds::new(u128::from(atom.weight), -48);
    (model.atoms.iter().map(weight).collect(), sensors.collect())
}

/// The extreme likelihood ratios between values of G over all outputs, or over a cone that holds them.
struct Extremes {
    /// P(g) of the values with mass, exact.
    prior: Vec<Magnitude>,
    /// An upper bound on max_z p(z|a)/p(z|b), by a and b; `None` if it has no bound.
    ratio: Vec<Option<Magnitude>>,
    /// For each number of epochs, an upper bound on the largest 1/lift when one output is repeated.
    fall: Vec<Option<Magnitude>>,
    /// An upper bound on the largest lift in one epoch.
    rise: Option<Magnitude>,
    /// Whether all outputs were gone through, and nothing else.
    exact: bool,
}

impl Extremes {
    fn new(model: &ExactModel, tables: &[&Table], counts: &[u32]) -> Result<Self, Error> {
        let ways = Ways::new(model, tables)?;
        let exact = !matches!(ways, Ways::Rays(..));
        let law = model.private_law();
        let values: Vec<usize> = (0..law.len()).filter(|&g| law[g] > 0).collect();
        let prior: Vec<Magnitude> =
            values.iter().map(|&g| Magnitude::new(u128::from(law[g]), -48, Round::Down)).collect();
        let place: Vec<usize> = (0..law.len())
            .map(|g| values.iter().position(|&value| value == g).unwrap_or(0))
            .collect();
        let size = values.len();
        let one = Some(Magnitude::ONE);
        let new = || {
            let start = Self {
                prior: prior.clone(),
                ratio: vec![Some(Magnitude::ZERO); size * size],
                fall: vec![one; counts.len()],
                rise: one,
                exact,
            };
            (start, vec![Bounds::ZERO; size])
        };
        let see = |(extremes, joint): &mut (Self, Vec<Bounds>), masses: &[Bounds]| {
            joint.fill(Bounds::ZERO);
            for (atom, &mass) in model.atoms.iter().zip(masses) {
                let sum = &mut joint[place[atom.private]];
                *sum = sum.plus(mass);
            }
            extremes.see(joint, counts);
        };
        let mut whole = new().0;
        let parts = match ways {
            Ways::Vectors(outputs) => outputs.fold(new, |state, _, masses| see(state, masses)),
            Ways::Counts(kinds) => kinds.fold(new, |state, _, masses| see(state, masses)),
            // A power of a quotient is convex along the cone, as the lifts are quotients: rays decide.
            Ways::Rays(weights, rays) => {
                let mut state = new();
                for ray in rays {
                    let masses: Vec<Bounds> =
                        weights.iter().zip(ray).map(|(&weight, p)| weight * p).collect();
                    see(&mut state, &masses);
                }
                vec![state]
            }
        };
        for (part, _) in parts {
            whole.rise = larger(whole.rise, part.rise);
            whole.ratio.iter_mut().zip(part.ratio).for_each(|(a, b)| *a = larger(*a, b));
            whole.fall.iter_mut().zip(part.fall).for_each(|(a, b)| *a = larger(*a, b));
        }
        Ok(whole)
    }

    /// One vector of outputs: P(z, g) for every g with mass.
    fn see(&mut self, joint: &[Bounds], counts: &[u32]) {
        let size = joint.len();
        let total = joint.iter().fold(Bounds::ZERO, |sum, &p| sum.plus(p));
        if total.high.is_zero() {
            return;
        }
        for b in 0..size {
            // lift = P(z,b)/(P(b)P(z)): at most high over lows, at least low over highs.
            let expected = self.prior[b].times(total.low, Round::Down);
            self.rise = larger(self.rise, Some(joint[b].high.over(expected, Round::Up)));
            let silent = joint[b].low.is_zero();
            for a in 0..size {
                let ratio = (!silent).then(|| {
                    let above = joint[a].high.times(self.prior[b], Round::Up);
                    above.over(joint[b].low.times(self.prior[a], Round::Down), Round::Up)
                });
                let most = &mut self.ratio[a * size + b];
                *most = larger(*most, ratio);
            }
            for (fall, &epochs) in self.fall.iter_mut().zip(counts) {
                if silent {
                    *fall = None;
                    continue;
                }
                // 1/lift after repeating this output: Σ_a P(a) (p(z|a)/p(z|b))^epochs.
                let mut sum = Magnitude::ZERO;
                for a in 0..size {
                    let above = joint[a].high.times(self.prior[b], Round::Up);
                    let below = joint[b].low.times(self.prior[a], Round::Down);
                    let ratio = if a == b {
                        Magnitude::ONE
                    } else {
                        above.over(below, Round::Up).power(epochs, Round::Up)
                    };
                    sum = sum.plus(self.prior[a].times(ratio, Round::Up), Round::Up);
                }
                *fall = larger(*fall, Some(sum));
            }
        }
    }

    /// ε_I after `epochs` epochs (the count at place `at`), and whether it is exact.
    ///
    /// Falling belief: ln Σ_a P(a) Π_τ p(z_τ|a)/p(z_τ|b) is a convex function of how often each
    /// output occurs, so its largest value is at a sequence that repeats one output: exact. Rising
    /// belief is bounded by taking the extreme ratio of every pair: exact for two values of G, where
    /// one pair decides.
    fn after(&self, at: usize, epochs: u32) -> (Option<Nats>, bool) {
        let Some(fall) = self.fall[at] else { return (None, self.exact) };
        let fall = fall.ln_up();
        let size = self.prior.len();
        let rise = if epochs == 1 { self.rise } else { self.rise_after(epochs) };
        // Certainty is the most a belief can rise to.
        let least = self.prior.iter().min().copied().unwrap_or(Magnitude::ONE);
        let certain = Magnitude::ONE.over(least, Round::Up).ln_up();
        let rise = rise.map_or(certain, |rise| rise.ln_up().min(certain));
        let decided = epochs == 1 || size == 2 || fall >= rise;
        (Some(fall.max(rise)), self.exact && decided)
    }

    /// 1/(P(b) + Σ_a P(a) (min_z p(z|a)/p(z|b))^epochs), the largest over b.
    fn rise_after(&self, epochs: u32) -> Option<Magnitude> {
        let size = self.prior.len();
        let value = |b: usize| {
            let mut sum = self.prior[b];
            for a in (0..size).filter(|&a| a != b) {
                // The least ratio of a to b is one over the largest of b to a.
                let least = match self.ratio[b * size + a] {
                    Some(most) if !most.is_zero() => Magnitude::ONE.over(most, Round::Down),
                    _ => Magnitude::ZERO,
                };
                let power = least.power(epochs, Round::Down);
                sum = sum.plus(self.prior[a].times(power, Round::Down), Round::Down);
            }
            Magnitude::ONE.over(sum, Round::Up)
        };
        (0..size).map(value).max()
    }

    /// ln(p + (1-p) Π r_t^epochs) with p the least P(g) and r_t the LDP ratio of sensor t: ST20 Theorem 1(vi), sharpened.
    /// It holds whatever the readings do over time. `None` past the largest number.
    fn implied_by_ldp(&self, ratios: &[Ratio], epochs: u32) -> Option<Nats> {
        let once = ratios.iter().try_fold(Magnitude::ONE, |product, ratio| {
            Some(product.times(ratio.magnitude_up()?, Round::Up))
        })?;
        let least = self.prior.iter().min().copied()?;
        let rest = least.from_one(Round::Up).times(once.power(epochs, Round::Up), Round::Up);
        Some(least.plus(rest, Round::Up).ln_up()).filter(|nats| nats.units() < u64::MAX)
    }
}
