//! Choosing the sensors' maps: little error in H, within budgets for G and for every reading.

mod block;
pub mod deterministic;
mod limits;
mod rows;
mod search;
mod stages;
#[cfg(test)]
mod tests;
mod theta;
pub mod vertex;

use undertone_core::Epsilon;
use undertone_design::Error;

use crate::lift::LiftBounds;
use crate::{Maps, Model};
use limits::Limits;
use stages::{SecondStage, Task};

pub use theta::{Stricter, Theta};

/// How to choose the maps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Both budgets at once, by exact block steps; never worse than ILL or LIP.
    Joint,
    /// Information privacy, then LDP at the level promised (ST20 ILL, corrected).
    Ill,
    /// ST20 ILL as printed: LDP at half the level.
    IllHalf,
    /// ST20 ILL with the exact level of the second stage.
    IllEta,
    /// LDP, then information privacy (ST20 LIP).
    Lip,
    /// LDP alone: G is not protected beyond what follows from it.
    Ldp,
    /// Information privacy alone: readings are not protected.
    InformationOnly,
    /// ILL as printed, with the condition (9) in place of the information budget itself.
    PaperTheta,
}

impl Method {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Joint,
        Self::Ill,
        Self::IllHalf,
        Self::IllEta,
        Self::Lip,
        Self::Ldp,
        Self::InformationOnly,
        Self::PaperTheta,
    ];

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Joint => "joint",
            Self::Ill => "ill",
            Self::IllHalf => "ill-half",
            Self::IllEta => "ill-eta",
            Self::Lip => "lip",
            Self::Ldp => "ldp",
            Self::InformationOnly => "infp",
            Self::PaperTheta => "paper-theta",
        }
    }

    /// Whether it keeps the information budget.
    pub fn hides_private(self) -> bool {
        self != Self::Ldp
    }

    /// Whether it keeps the LDP budget.
    pub fn hides_readings(self) -> bool {
        self != Self::InformationOnly
    }
}

impl std::str::FromStr for Method {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        Self::ALL.into_iter().find(|method| method.name() == name).ok_or_else(|| {
            let known = Self::ALL.map(Self::name).join(", ");
            Error::other("method", format!("{name:?} is not one of {known}"))
        })
    }
}

/// What must not be exceeded. `None` promises nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budgets {
    /// Information privacy of G over all outputs of all epochs.
    pub information: Option<Epsilon>,
    /// LDP of every sensor's reading in each epoch.
    pub ldp: Option<Epsilon>,
    /// For how many epochs G may stay the same.
    pub epochs: u32,
}

impl Budgets {
    /// Levels in nats for one epoch; infinity promises nothing.
    pub fn new(information: f64, ldp: f64) -> Result<Self, Error> {
        Ok(Self {
            information: level("the information budget", information)?,
            ldp: level("the LDP budget", ldp)?,
            epochs: 1,
        })
    }
}

/// A level in nats as the kernel's odds; `None` for infinity.
fn level(what: &str, nats: f64) -> Result<Option<Epsilon>, Error> {
    if nats == f64::INFINITY {
        return Ok(None);
    }
    if !(nats >= 0.0) {
        return Err(Error::range(what, nats, "at least 0, or infinity"));
    }
    // Twelve places hide float noise; the kernel keeps ten, rounded down.
    let parsed = undertone_design::protection::epsilon(&format!("{nats:.12}"));
    parsed.map(Some).map_err(|error| Error::other(what, error.to_string()))
}

/// A design to make.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// The method by which the maps are chosen.
    pub method: Method,
    /// The budgets that must not be exceeded.
    pub budgets: Budgets,
    /// How many outputs every sensor has.
    pub outputs: Vec<usize>,
    /// How many starts each search makes.
    pub restarts: u32,
    /// The seed of the search's randomness.
    pub seed: u64,
}

/// Who waits: asked whether to stop, told of every step.
pub struct Watch<'a> {
    /// True ends the search with the best so far.
    pub stop: &'a (dyn Fn() -> bool + Sync),
    /// Called after every start and every perturbation.
    pub step: &'a (dyn Fn() + Sync),
}

impl Watch<'_> {
    /// Nobody waits.
    pub const PATIENT: Watch<'static> = Watch { stop: &|| false, step: &|| {} };
}

/// What one part of a search reached.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Attempt {
    /// The name of the part.
    pub name: &'static str,
    /// The error of H it reached.
    pub error: f64,
}

/// Maps in floats that respect the budgets up to the solver's precision. They become a promise when
/// they ship ([`crate::Bundle`]).
#[derive(Debug, Clone, PartialEq)]
pub struct Proposal {
    /// One map per sensor.
    pub maps: Maps,
    /// The Bayes error of H.
    pub error: f64,
    /// What the parts of the search reached.
    pub attempts: Vec<Attempt>,
    /// For [`Method::PaperTheta`], what the condition cost.
    pub theta: Option<Stricter>,
}

/// A search may use this much memory in all.
const MAX_BYTES: usize = 1 << 33;

/// A sensible number of starts: many for small networks, few where each takes seconds.
pub fn usual_restarts(model: &Model, outputs: &[usize]) -> u32 {
    let vectors = outputs.iter().try_fold(1usize, |all, &size| all.checked_mul(size));
    let work = vectors.and_then(|all| all.checked_mul(model.atoms().len())).unwrap_or(usize::MAX);
    ((1usize << 22) / work.max(1)).clamp(12, 200) as u32
}

/// How many steps a [`Watch`] will hear of, about.
pub fn expected_steps(request: &Request) -> u64 {
    let searches = match request.method {
        Method::Joint if request.budgets.information.is_some() && request.budgets.ldp.is_some() => {
            4
        }
        Method::Joint | Method::Ldp | Method::InformationOnly => 1,
        Method::Ill | Method::IllHalf | Method::IllEta => 1,
        Method::Lip => 2,
        Method::PaperTheta => 13,
    };
    searches * u64::from(request.restarts + request.restarts.div_ceil(2))
}

/// Searches for maps within the budgets. There is no bound on how much better others might be; the
/// seed makes the result repeatable.
pub fn design(model: &Model, request: &Request, watch: &Watch<'_>) -> Result<Proposal, Error> {
    check(model, request)?;
    let Budgets { information, ldp, epochs } = request.budgets;
    let nats = |epsilon: Epsilon| {
        let (numerator, denominator) = epsilon.odds();
        (f64::from(numerator) / f64::from(denominator)).ln()
    };
    let hidden = information.filter(|_| request.method.hides_private());
    let lift = hidden.map(|level| LiftBounds::new(&model.private_law(), nats(level), epochs));
    let odds = ldp.filter(|_| request.method.hides_readings()).map(|level| nats(level).exp());
    let limits = Limits {
        lift: lift.transpose()?,
        // Beyond this the limit is far below the precision of anything else.
        ldp: odds.filter(|&odds| odds < 1e7),
        spread: None,
    };
    let task = Task { model, request, limits, watch };
    match request.method {
        Method::Joint => task.joint(),
        Method::Ill => task.ill(&task.information_only()?, SecondStage::Full),
        Method::IllHalf => task.ill(&task.information_only()?, SecondStage::Half),
        Method::IllEta => task.ill(&task.information_only()?, SecondStage::Contracted),
        Method::Lip => task.lip(&task.ldp_only()?.maps),
        Method::Ldp => task.ldp_only(),
        Method::InformationOnly => task.least(task.information_only()?),
        Method::PaperTheta => {
            let level = information.map(nats).ok_or_else(|| {
                Error::other("the information budget", "paper-theta needs one: give a number")
            })?;
            if epochs > 1 {
                let problem = "paper-theta speaks of one epoch only: use joint";
                return Err(Error::other("the number of epochs", problem));
            }
            task.paper_theta(level)
        }
    }
}

/// Refuses outputs that do not fit the sensors or the memory.
fn check(model: &Model, request: &Request) -> Result<(), Error> {
    if request.outputs.len() != model.sensors().len() {
        return Err(Error::Size {
            what: "the list of output sizes".into(),
            expected: model.sensors().len(),
            found: request.outputs.len(),
        });
    }
    if let Some(&size) = request.outputs.iter().find(|&&size| !(2..=256).contains(&size)) {
        return Err(Error::range("the number of outputs", size as f64, "from 2 to 256"));
    }
    let vectors = crate::walk::vectors(&request.outputs)?;
    let laws = |sensor: &crate::Sensor| sensor.rows().len().min(model.atoms().len());
    let labels = model.public().size() * model.private().size();
    let cells = model.sensors().iter().map(laws).max().unwrap_or(1) * labels;
    let cells = cells.min(model.atoms().len());
    let each = 8 * (2 * cells + 4 * model.private().size()) * vectors / 2;
    let bytes = each.saturating_mul(rayon::current_num_threads());
    if bytes > MAX_BYTES {
        return Err(Error::TooLarge {
            what: format!(
                "the memory for {vectors} output vectors of {} sensors, in bytes,",
                request.outputs.len()
            ),
            size: bytes,
            limit: MAX_BYTES,
            fix:
                "use fewer sensors or outputs, design groups of sensors apart, or learn maps from \
                  samples (`undertone fusion train`)"
                    .into(),
        });
    }
    Ok(())
}
