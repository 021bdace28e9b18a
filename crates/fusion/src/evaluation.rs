//! What the fusion centre learns: of H, of G, and of each sensor's reading.

use undertone_design::measure::{self, Leakage};
use undertone_design::{Distribution, Error};

use crate::walk::{self, Outputs};
use crate::{Maps, Model};

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

impl Evaluation {
    /// Enumerates all outputs without storing them: the cost is (number of atoms) x (number of
    /// output vectors).
    pub fn new(model: &Model, maps: &Maps) -> Result<Self, Error> {
        walk::vectors(&maps.outputs())?;
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
        let parts = outputs.fold(new, |sums, z, masses| {
            sums.h.fill(0.0);
            sums.g.fill(0.0);
            for (atom, mass) in atoms.iter().zip(masses) {
                sums.h[atom.public] += mass;
                sums.g[atom.private] += mass;
            }
            let evidence: f64 = sums.g.iter().sum();
            if !(evidence > 0.0) {
                return;
            }
            sums.kept_public += sums.h.iter().copied().fold(0.0, f64::max);
            sums.kept_private += sums.g.iter().copied().fold(0.0, f64::max);
            for (&joint, prior) in sums.h.iter().zip(&public).filter(|(joint, _)| **joint > 0.0) {
                sums.public_information += joint * (joint / (prior * evidence)).ln();
            }
            for (g, (&joint, &prior)) in sums.g.iter().zip(&private).enumerate() {
                if !(prior > 0.0) {
                    continue;
                }
                let lift = (joint / (prior * evidence)).ln();
                if joint > 0.0 {
                    sums.private_information += joint * lift;
                }
                if lift.abs() > sums.worst.nats {
                    sums.worst = Information { nats: lift.abs(), private: g, outputs: z.into() };
                }
            }
        });
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
