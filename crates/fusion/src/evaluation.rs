//! What the fusion centre learns: of H, of G, and of each sensor's reading.

use undertone_design::measure::{self, Leakage};
use undertone_design::{Distribution, Error};

use crate::kinds::{Kinds, Log};
use crate::walk::{self, Outputs, SensorOutputs};
use crate::{Atom, Maps, Model};

/// Exact figures (up to float rounding) of a model under given maps. For people; a guarantee comes
/// from the certificate of the integers that ship.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluation {
    /// The Bayes error of H: how often the best guess is wrong.
    pub error_public: f64,
    /// The Bayes error of G.
    pub error_private: f64,
    /// The error of guessing H without hearing anything.
    pub blind_public: f64,
    /// The error of guessing G without hearing anything.
    pub blind_private: f64,
    /// I(H;Z).
    pub public_information: f64,
    /// I(G;Z): average information leakage, ST20 Definition 1.
    pub private_information: f64,
    /// I(X_t;Z_t) of each sensor.
    pub sensor_information: Vec<f64>,
    /// Information privacy of G, ST20 Definition 1: the largest |ln p(g|z)/p(g)|, and where it is.
    pub information: Information,
    /// Local differential privacy of each sensor's reading.
    pub ldp: Vec<f64>,
}

/// The largest |ln p(g|z)/p(g)| and the private value and outputs that attain it.
#[derive(Debug, Clone, PartialEq)]
pub struct Information {
    /// ε_I in nats.
    pub nats: f64,
    /// The value of G.
    pub private: usize,
    /// One output per sensor.
    pub outputs: Vec<usize>,
}

/// What is summed over one share of the output vectors.
struct Sums {
    kept_public: f64,
    kept_private: f64,
    public_information: f64,
    private_information: f64,
    worst: Information,
    /// P(h,z) and P(g,z) of the vector at hand.
    h: Vec<f64>,
    g: Vec<f64>,
}

impl Sums {
    /// One vector of outputs, or all that say the same: `scale` times these masses are P(z, k).
    fn see(
        &mut self,
        atoms: &[Atom],
        (public, private): (&[f64], &[f64]),
        scale: f64,
        masses: impl Iterator<Item = f64>,
        outputs: impl FnOnce() -> Vec<usize>,
    ) {
        self.h.fill(0.0);
        self.g.fill(0.0);
        for (atom, mass) in atoms.iter().zip(masses) {
            self.h[atom.public] += mass;
            self.g[atom.private] += mass;
        }
        let evidence: f64 = self.g.iter().sum();
        if !(evidence > 0.0) {
            return;
        }
        self.kept_public += scale * self.h.iter().copied().fold(0.0, f64::max);
        self.kept_private += scale * self.g.iter().copied().fold(0.0, f64::max);
        for (&joint, prior) in self.h.iter().zip(public).filter(|(joint, _)| **joint > 0.0) {
            self.public_information += scale * joint * (joint / (prior * evidence)).ln();
        }
        let mut furthest = None;
        for (g, (&joint, &prior)) in self.g.iter().zip(private).enumerate() {
            if !(prior > 0.0) {
                continue;
            }
            let lift = (joint / (prior * evidence)).ln();
            if joint > 0.0 {
                self.private_information += scale * joint * lift;
            }
            if lift.abs() > self.worst.nats {
                self.worst.nats = lift.abs();
                furthest = Some(g);
            }
        }
        if let Some(private) = furthest {
            self.worst = Information { private, outputs: outputs(), ..self.worst.clone() };
        }
    }
}

/// The sensors by kinds, with logarithms. Who says the same whatever happens says as little with one output.
fn by_kinds(outputs: Outputs) -> Kinds<Log> {
    let (weights, sensors) = outputs.parts();
    let sensor = |sensor: SensorOutputs<f64>| {
        let SensorOutputs { size, likelihood, row_of } = sensor;
        if likelihood.chunks(size).all(|row| row == &likelihood[..size]) {
            let likelihood = vec![Log(0.0); likelihood.len() / size];
            return SensorOutputs { size: 1, likelihood, row_of };
        }
        let likelihood = likelihood.iter().map(|p| Log(p.ln())).collect();
        SensorOutputs { size, likelihood, row_of }
    };
    Kinds::new(
        weights.iter().map(|weight| Log(weight.ln())).collect(),
        sensors.into_iter().map(sensor).collect(),
    )
}

impl Evaluation {
    /// The least and the largest p(g|z)/p(g) over all outputs, for every g.
    pub fn lifts(model: &Model, maps: &Maps) -> Result<Vec<(f64, f64)>, Error> {
        walk::vectors(&maps.outputs())?;
        let private = model.private_law();
        let atoms = model.atoms();
        let new = || (vec![(1.0f64, 1.0f64); private.len()], vec![0.0; private.len()]);
        let parts = Outputs::new(model, maps)?.fold(new, |(lifts, g), _, masses| {
            g.fill(0.0);
            atoms.iter().zip(masses).for_each(|(atom, mass)| g[atom.private] += mass);
            let evidence: f64 = g.iter().sum();
            if !(evidence > 0.0) {
                return;
            }
            for ((place, &joint), &prior) in lifts.iter_mut().zip(&*g).zip(&private) {
                if prior > 0.0 {
                    let lift = joint / (prior * evidence);
                    *place = (place.0.min(lift), place.1.max(lift));
                }
            }
        });
        let mut lifts = new().0;
        for (part, _) in parts {
            for (place, part) in lifts.iter_mut().zip(part) {
                *place = (place.0.min(part.0), place.1.max(part.1));
            }
        }
        Ok(lifts)
    }

    /// Goes through all outputs without storing them: the cost is (number of atoms) x (number of output vectors). Where
    /// those are too many, through how many sensors of each kind sent what, which is as exact.
    pub fn new(model: &Model, maps: &Maps) -> Result<Self, Error> {
        let outputs = Outputs::new(model, maps)?;
        let (public, private) = (model.public_law(), model.private_law());
        let atoms = model.atoms();
        let new = || Sums {
            kept_public: 0.0,
            kept_private: 0.0,
            public_information: 0.0,
            private_information: 0.0,
            worst: Information { nats: 0.0, private: 0, outputs: vec![0; maps.len()] },
            h: vec![0.0; public.len()],
            g: vec![0.0; private.len()],
        };
        let laws = (&public[..], &private[..]);
        let parts = match walk::vectors(&maps.outputs()) {
            Ok(_) => outputs.fold(new, |sums, z, masses| {
                sums.see(atoms, laws, 1.0, masses.iter().copied(), || z.into());
            }),
            Err(too_many) => {
                let kinds = by_kinds(outputs);
                if kinds.counts().is_none() {
                    return Err(too_many);
                }
                kinds.fold(new, |sums, counts, masses| {
                    // Relative to the likeliest atom: two hundred likelihoods may multiply to less than a float holds.
                    let most = masses.iter().map(|mass| mass.0).fold(f64::NEG_INFINITY, f64::max);
                    if most > f64::NEG_INFINITY {
                        let scale = (counts.orders + most).exp();
                        let relative = masses.iter().map(|mass| (mass.0 - most).exp());
                        sums.see(atoms, laws, scale, relative, || kinds.example(counts));
                    }
                })
            }
        };
        let sum = |part: fn(&Sums) -> f64| parts.iter().map(part).sum::<f64>();
        let worst = parts.iter().map(|part| &part.worst);
        let worst = worst.reduce(|best, next| if next.nats > best.nats { next } else { best });
        let information = worst.cloned().unwrap_or_else(|| new().worst);
        let most = |law: &[f64]| law.iter().copied().fold(0.0, f64::max);
        let sensors: Vec<usize> = (0..maps.len()).collect();
        let sensor_information = |&t: &usize| {
            let law = Distribution::normalised("readings", model.reading_law(t))?;
            measure::mutual_information::leakage(&law, &maps.channels()[t])
        };
        let ldp = |&t: &usize| -> f64 {
            let Leakage { nats, .. } = measure::ldp::leakage(&maps.channels()[t]);
            nats
        };
        Ok(Self {
            error_public: 1.0 - sum(|part| part.kept_public),
            error_private: 1.0 - sum(|part| part.kept_private),
            blind_public: 1.0 - most(&public),
            blind_private: 1.0 - most(&private),
            public_information: sum(|part| part.public_information),
            private_information: sum(|part| part.private_information),
            sensor_information: sensors.iter().map(sensor_information).collect::<Result<_, _>>()?,
            information,
            ldp: sensors.iter().map(ldp).collect(),
        })
    }
}
