//! The fusion rule: from what the sensors sent to a decision about H.

use undertone_core::plan::Likelihoods;
use undertone_design::Error;

use crate::walk::Outputs;
use crate::{Atom, Maps, Model};

/// Decides H by its posterior given the outputs of the sensors heard, whichever those are: a missing
/// sensor is averaged over. Ties go to the lower value.
#[derive(Debug, Clone)]
pub struct FusionRule {
    atoms: Vec<Atom>,
    outputs: Outputs,
    sensors: usize,
    public: usize,
    private: usize,
}

/// What the centre believes after one epoch.
#[derive(Debug, Clone, PartialEq)]
pub struct Posterior {
    /// P(h | z).
    pub public: Vec<f64>,
    /// P(g | z).
    pub private: Vec<f64>,
    /// P(z), of the sensors heard.
    pub evidence: f64,
}

impl FusionRule {
    /// The Bayes rule of this model under these maps.
    pub fn new(model: &Model, maps: &Maps) -> Result<Self, Error> {
        Ok(Self {
            atoms: model.atoms().to_vec(),
            outputs: Outputs::new(model, maps)?,
            sensors: model.sensors().len(),
            public: model.public().size(),
            private: model.private().size(),
        })
    }

    /// Beliefs about H and G given one output per sensor, `None` for those not heard. Outputs that
    /// cannot occur together leave the prior as it is (with evidence zero).
    pub fn posterior(&self, outputs: &[Option<usize>]) -> Result<Posterior, Error> {
        if outputs.len() != self.sensors {
            return Err(Error::Size {
                what: "the outputs".into(),
                expected: self.sensors,
                found: outputs.len(),
            });
        }
        let heard: Vec<(usize, usize)> =
            outputs.iter().enumerate().filter_map(|(t, z)| Some((t, (*z)?))).collect();
        for &(t, z) in &heard {
            if z >= self.outputs.outcomes(t) {
                let problem = format!("{z} is not one of its {} outputs", self.outputs.outcomes(t));
                return Err(Error::other(format!("output of sensor {t}"), problem));
            }
        }
        let mass = |k: usize| -> f64 {
            heard.iter().map(|&(t, z)| self.outputs.at(t, k, z)).product::<f64>()
                * self.atoms[k].weight
        };
        let mut masses: Vec<f64> = (0..self.atoms.len()).map(mass).collect();
        let evidence: f64 = masses.iter().sum();
        if !(evidence > 0.0) {
            masses = self.atoms.iter().map(|atom| atom.weight).collect();
        }
        let total: f64 = masses.iter().sum();
        let mut posterior = Posterior {
            public: vec![0.0; self.public],
            private: vec![0.0; self.private],
            evidence,
        };
        for (atom, mass) in self.atoms.iter().zip(masses) {
            posterior.public[atom.public] += mass / total;
            posterior.private[atom.private] += mass / total;
        }
        Ok(posterior)
    }

    /// The most likely value of H.
    pub fn decide(&self, outputs: &[Option<usize>]) -> Result<usize, Error> {
        Ok(self.posterior(outputs)?.decision())
    }
}

impl Posterior {
    /// The most likely value of H; ties go to the lower one.
    pub fn decision(&self) -> usize {
        let better =
            |best: usize, h: usize| if self.public[h] > self.public[best] { h } else { best };
        (1..self.public.len()).fold(0, better)
    }
}
