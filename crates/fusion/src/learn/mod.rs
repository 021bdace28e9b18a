//! Learning the sensors' maps from labelled samples (ST20 Section V and supplement), and judging what
//! was learned on samples that were held out.
//!
//! [`train`] chooses maps by empirical risk; [`centralised`] has the comparators that see all data;
//! [`leakage`] says what held-out samples prove about the outputs, and [`trees`] is an attacker.
//! [`compare`] does all of it for a list of methods.

mod barrier;
mod block;
pub mod centralised;
pub mod compare;
mod data;
pub mod draw;
mod kernel;
pub mod leakage;
pub mod linear;
mod loss;
pub mod prepare;
mod regression;
pub mod release;
mod search;
pub mod sequences;
pub mod ship;
pub mod split;
#[cfg(test)]
mod tests;
pub mod trees;

use undertone_design::Error;

pub use kernel::Kernel;
pub use loss::Loss;

use crate::design::Watch;
use crate::{Maps, Samples};
use data::Data;
use linear::Linear;
use search::{Search, State};

/// What is asked of the maps (ST20 (18)).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Little risk for H, a large risk for whoever guesses G, and LDP: ST20 (18).
    Epic,
    /// Little risk for H and a large risk for whoever guesses G, without LDP.
    Npo,
    /// Little risk for H under LDP, without hiding G.
    ELdp,
}

impl Method {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Epic, Self::Npo, Self::ELdp];

    /// What it is called on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Epic => "epic",
            Self::Npo => "npo",
            Self::ELdp => "e-ldp",
        }
    }

    /// Whether it makes G hard to guess on the training samples.
    pub fn hides_private(self) -> bool {
        self != Self::ELdp
    }

    /// Whether it keeps the LDP level.
    pub fn hides_readings(self) -> bool {
        self != Self::Npo
    }
}

/// How to learn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// How many outputs every sensor has.
    pub outputs: usize,
    /// The LDP level of every sensor's reading, in nats; infinite for none.
    pub ldp: f64,
    /// r: the share of the largest attainable threshold that is asked for, θ = r θ*.
    pub ratio: f64,
    /// How much of the way from the least risk to that of knowing nothing may be given up while θ* is
    /// sought.
    pub slack: f64,
    /// λ, of the centre and of the adversaries.
    pub ridge: f64,
    /// How many starts the search makes.
    pub restarts: u32,
    /// The most sweeps over all sensors in each step.
    pub sweeps: u32,
    /// The seed of the training's randomness.
    pub seed: u64,
    /// What the rules of the centre and of the adversaries see.
    pub kernel: Kernel,
    /// What a wrong decision costs them.
    pub loss: Loss,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            outputs: 2,
            ldp: 1.0,
            ratio: 0.99,
            slack: 0.5,
            ridge: 0.01,
            restarts: 3,
            sweeps: 40,
            seed: 1,
            kernel: Kernel::Count,
            loss: Loss::Logistic,
        }
    }
}

impl Settings {
    /// Refuses what cannot be.
    fn check(&self) -> Result<(), Error> {
        let share = |value: f64| value > 0.0 && value <= 1.0;
        if !(2..=256).contains(&self.outputs) {
            return Err(Error::range(
                "the number of outputs",
                self.outputs as f64,
                "from 2 to 256",
            ));
        }
        if !(self.ldp > 0.0) {
            let range = "above 0, or infinity for no limit";
            return Err(Error::range("the LDP budget", self.ldp, range));
        }
        if !share(self.ratio) {
            return Err(Error::range("the threshold ratio", self.ratio, "above 0 and at most 1"));
        }
        if !share(self.slack) {
            return Err(Error::range("the slack", self.slack, "above 0 and at most 1"));
        }
        if !(self.ridge > 0.0 && self.ridge.is_finite()) {
            return Err(Error::range("the ridge", self.ridge, "above 0 and finite"));
        }
        if self.restarts == 0 || self.sweeps == 0 {
            return Err(Error::range("restarts and sweeps", 0.0, "at least 1"));
        }
        Ok(())
    }
}

/// Maps that were learned, in floats; they become a promise when they ship ([`crate::Bundle`]).
#[derive(Debug, Clone, PartialEq)]
pub struct Trained {
    /// One map per sensor.
    pub maps: Maps,
    /// The empirical risk of H, ST20 F.
    pub risk: f64,
    /// The risk of H if the outputs said nothing.
    pub blind: f64,
    /// For every private value but the first, the least risk of whoever tells it from the first; that of a coin toss is the loss of
    /// a score of nought, ln 2 for the logistic one.
    pub adversaries: Vec<Adversary>,
    /// The thresholds, where G is hidden.
    pub threshold: Option<Threshold>,
    /// The centre's rule, as learned with the maps.
    pub rule: Linear,
}

/// Whoever tells one private value from the first.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Adversary {
    /// The value.
    pub private: usize,
    /// min_v R_g, ST20 (18b).
    pub risk: f64,
    /// The dual value at the adversary's own multipliers: the same, up to rounding.
    pub dual: f64,
}

/// ST20's two steps towards θ.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Threshold {
    /// θ*, the largest least risk of an adversary that was found.
    pub most: f64,
    /// θ = r θ*, the constraint.
    pub kept: f64,
}

/// Learns the maps. The constraint on G is about the training samples: it is no guarantee, see
/// [`leakage`].
///
/// LDP holds up to the solver's precision, and exactly once the maps ship.
pub fn train(
    samples: &Samples,
    method: Method,
    settings: &Settings,
    watch: &Watch<'_>,
) -> Result<Trained, Error> {
    settings.check()?;
    let data = Data::new(samples, settings.outputs, settings.kernel, settings.loss);
    // Beyond this the limit is far below the precision of anything else.
    let odds = Some(settings.ldp.exp()).filter(|&odds| method.hides_readings() && odds < 1e7);
    let search = Search { data: &data, settings, odds, watch };
    let open = search.least_risk()?;
    let (state, threshold) = match method.hides_private() {
        false => (open, None),
        true => {
            let (state, threshold) = search.hide(open);
            (state, Some(threshold))
        }
    };
    let maps = data.channels(&state.maps)?;
    Ok(Trained {
        maps,
        risk: state.risk,
        blind: search.blind(),
        adversaries: adversaries(&data, &state, settings.ridge),
        threshold,
        rule: Linear::from_parts(data.tasks.values.clone(), state.rules, data.layout()),
    })
}

fn adversaries(data: &Data, state: &State, ridge: f64) -> Vec<Adversary> {
    let adversary = |contrast: &data::Contrast| {
        let rows = data.members(&state.features, contrast);
        let task = data.private(&rows, contrast, ridge);
        let v = task.minimise(&[]);
        let dual = task.dual(&task.multipliers(&v));
        Adversary { private: contrast.private, risk: task.risk(&v), dual }
    };
    data.contrasts.iter().map(adversary).collect()
}

/// The least empirical risk of H and of every adversary under given maps: ST20 F and (18b), with the count kernel and the logistic
/// loss.
pub fn risks(samples: &Samples, maps: &Maps, ridge: f64) -> Result<(f64, Vec<Adversary>), Error> {
    if !(ridge > 0.0 && ridge.is_finite()) {
        return Err(Error::range("the ridge", ridge, "above 0 and finite"));
    }
    let outputs = maps.outputs()[0];
    let data = Data::new(samples, outputs, Kernel::Count, Loss::Logistic);
    let state = State::new(&data, data.flat(maps)?, ridge);
    Ok((state.risk, adversaries(&data, &state, ridge)))
}

/// About how many steps a [`Watch`] will hear of.
pub fn expected_steps(method: Method, settings: &Settings, sensors: usize) -> u64 {
    let sweeps = u64::from(settings.restarts) * 6 + if method.hides_private() { 24 } else { 0 };
    sweeps * sensors as u64
}
