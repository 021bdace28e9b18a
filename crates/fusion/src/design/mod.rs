//! Choosing the sensors' maps: little error in H, within budgets for G and for every reading.

mod block;
pub mod bound;
pub mod deterministic;
mod limits;
mod rows;
mod search;
mod stages;
#[cfg(test)]
mod tests;
mod theta;
pub mod vertex;

use rand_chacha::ChaCha12Rng;
use rand_core::SeedableRng;
use undertone_core::Epsilon;
use undertone_design::{Channel, Error};
use undertone_numeric::dice::below;

use crate::lift::LiftBounds;
use crate::objective::Goal;
use crate::{Costs, Evaluation, Maps, Model, Objective};
use limits::Limits;
use stages::{SecondStage, Task, ldp_of};

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

/// What maps are chosen for, and where the search may begin.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Aim {
    /// What is to be small or large.
    pub objective: Objective,
    /// Maps to begin from as well: the result is not worse than any of them that is within the budgets. A looser
    /// problem given a tighter one's result is therefore never worse than it.
    pub warm: Vec<Maps>,
}

impl From<Objective> for Aim {
    fn from(objective: Objective) -> Self {
        Self { objective, warm: Vec::new() }
    }
}

/// What one part of a search reached.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Attempt {
    /// The name of the part.
    pub name: &'static str,
    /// The loss it reached: the error of H, unless another objective was asked for.
    pub loss: f64,
}

/// Maps in floats that respect the budgets up to the solver's precision. They become a promise when
/// they ship ([`crate::Bundle`]).
#[derive(Debug, Clone, PartialEq)]
pub struct Proposal {
    /// One map per sensor.
    pub maps: Maps,
    /// The Bayes error of H.
    pub error: f64,
    /// What was made small: the error itself, the expected cost, minus the information, or how often something is
    /// missed.
    pub loss: f64,
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
            6
        }
        Method::Joint | Method::Ldp => 1,
        Method::Ill | Method::IllHalf | Method::IllEta => 1,
        Method::Lip => 4,
        Method::InformationOnly => 9,
        Method::PaperTheta => 13,
    };
    searches * u64::from(request.restarts + request.restarts.div_ceil(2))
}

/// Searches for maps within the budgets that make the error of H small; [`bound`] says how much better others might
/// be. The seed makes the result repeatable.
pub fn design(model: &Model, request: &Request, watch: &Watch<'_>) -> Result<Proposal, Error> {
    design_for(model, request, &Aim::default(), watch)
}

/// Searches for maps within the budgets that serve an objective.
pub fn design_for(
    model: &Model,
    request: &Request,
    aim: &Aim,
    watch: &Watch<'_>,
) -> Result<Proposal, Error> {
    check(model, request)?;
    let Budgets { information, ldp, epochs } = request.budgets;
    let hidden = information.filter(|_| request.method.hides_private());
    let lift = hidden.map(|level| LiftBounds::new(&model.private_law(), nats(level), epochs));
    let odds = ldp.filter(|_| request.method.hides_readings()).map(|level| nats(level).exp());
    let limits = Limits {
        lift: lift.transpose()?,
        // Beyond this the limit is far below the precision of anything else.
        ldp: odds.filter(|&odds| odds < 1e7),
        spread: None,
    };
    let goal = Goal::new(&aim.objective, model.public_law())?;
    if goal.false_alarm().is_some() {
        crate::rule::check_tested(&request.outputs)?;
    }
    let mut starts = aim.warm.clone();
    if let Some(false_alarm) = goal.false_alarm() {
        starts.extend(priced(model, request, goal.public(), false_alarm, watch)?);
    }
    if aim.objective != Objective::Error {
        starts.extend(corners(model, request, limits.ldp)?);
    }
    let mut warm = Vec::new();
    for maps in &starts {
        if maps.check(model).is_ok() && fits(model, maps, request, &limits)? {
            warm.push(maps.clone());
        }
    }
    let task = Task { model, request, goal: &goal, limits, warm, watch };
    let found = match request.method {
        Method::Joint => task.joint(),
        Method::Ill => task.ill(&task.information_only()?, SecondStage::Full),
        Method::IllHalf => task.ill(&task.information_only()?, SecondStage::Half),
        Method::IllEta => task.ill(&task.information_only()?, SecondStage::Contracted),
        Method::Lip => task.lip(),
        Method::Ldp => task.relaxed(false),
        Method::InformationOnly => task.relaxed(true),
        Method::PaperTheta => {
            let level = information.map(nats).ok_or_else(|| {
                Error::other("the information budget", "paper-theta needs one: give a number")
            })?;
            if epochs > 1 {
                let problem = "paper-theta speaks of one epoch only: use joint";
                return Err(Error::other("the number of epochs", problem));
            }
            return task.paper_theta(level);
        }
    }?;
    let mut best = found;
    for maps in &task.warm {
        if task.loss(maps) < best.loss {
            best = Proposal { attempts: best.attempts, ..task.proposal(maps.clone(), Vec::new()) };
        }
    }
    Ok(best)
}

/// Prices of a false alarm, beside that of a miss, at which detection begins.
const ALARM_PRICES: [f64; 5] = [0.5, 1.0, 2.0, 4.0, 8.0];

/// A test's power is no concave loss, so descent from silence ends too early; at a price of false alarms it is one. Maps
/// that are best at some price are where the search for a rate begins.
fn priced(
    model: &Model,
    request: &Request,
    public: &[f64],
    false_alarm: f64,
    watch: &Watch<'_>,
) -> Result<Vec<Maps>, Error> {
    let event: f64 = public[1..].iter().sum();
    let restarts = request.restarts.div_ceil(ALARM_PRICES.len() as u32);
    let request = Request { restarts, ..request.clone() };
    let mut found = Vec::new();
    for price in ALARM_PRICES {
        // Where alarms are to be rarer, they are dearer.
        let price = price * (0.3 / false_alarm).max(1.0).sqrt();
        let cost = |d: usize, h: usize| match (d, h) {
            (0, 1..) => 1.0,
            (1.., 0) => price * event / public[0],
            _ => 0.0,
        };
        let row = |d: usize| (0..public.len()).map(|h| cost(d, h)).collect();
        let costs = Costs::new((0..public.len()).map(row).collect())?;
        let aim = Aim::from(Objective::Cost(costs));
        if (watch.stop)() {
            break;
        }
        found.push(design_for(model, &request, &aim, watch)?.maps);
    }
    Ok(found)
}

/// Maps in which every reading has a favourite output, drawn at random, as far as LDP lets it be one. Where one mistake weighs
/// much more than another, descent from silence ends there; and what is best at a rate of false alarms need be best at no price
/// of them. Either is often found beside such a corner.
fn corners(model: &Model, request: &Request, odds: Option<f64>) -> Result<Vec<Maps>, Error> {
    let mut dice = ChaCha12Rng::seed_from_u64(request.seed);
    dice.set_stream(u64::MAX);
    let mut corner = || {
        let map = |(sensor, &outputs): (&crate::Sensor, &usize)| {
            let (favourite, other) = match odds {
                Some(odds) => (odds, 1.0),
                None => (1.0, 0.0),
            };
            let all = favourite + other * (outputs - 1) as f64;
            let row = |_| {
                let mut row = vec![other / all; outputs];
                row[below(outputs, &mut dice)] = favourite / all;
                row
            };
            Channel::new((0..sensor.inputs()).map(row).collect())
        };
        let maps = model.sensors().iter().zip(&request.outputs).map(map);
        Maps::new(maps.collect::<Result<_, _>>()?)
    };
    (0..request.restarts).map(|_| corner()).collect()
}

/// Designs for several requests on one model: each begins from the results of all before it that are within its
/// budgets, so that a looser request is never worse than a tighter one listed before it.
pub fn design_in_turn(
    model: &Model,
    requests: &[Request],
    aim: &Aim,
    watch: &Watch<'_>,
) -> Result<Vec<Proposal>, Error> {
    let mut aim = aim.clone();
    let mut found: Vec<Proposal> = Vec::new();
    for request in requests {
        let next = design_for(model, request, &aim, watch)?;
        aim.warm.push(next.maps.clone());
        found.push(next);
    }
    Ok(found)
}

/// A level as a number.
fn nats(epsilon: Epsilon) -> f64 {
    let (numerator, denominator) = epsilon.odds();
    (f64::from(numerator) / f64::from(denominator)).ln()
}

/// Levels above their limit by less than this are within it: the solver's precision.
const HAIR: f64 = 1e-9;

/// Whether maps are within the limits and have the outputs asked for.
fn fits(model: &Model, maps: &Maps, request: &Request, limits: &Limits) -> Result<bool, Error> {
    if maps.outputs() != request.outputs {
        return Ok(false);
    }
    if limits.ldp.is_some_and(|odds| ldp_of(maps) > odds.ln() + HAIR) {
        return Ok(false);
    }
    let Some(lift) = &limits.lift else { return Ok(true) };
    let lifts = Evaluation::lifts(model, maps)?;
    let prior = lift.prior();
    Ok((0..prior.len()).filter(|&g| prior[g] > 0.0).all(|g| {
        let (least, most) = lifts[g];
        least >= lift.lower()[g] * (1.0 - HAIR) && most <= lift.upper()[g] * (1.0 + HAIR)
    }))
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
                "give many sensors of few kinds to `undertone fusion crowd`, use fewer sensors or \
                  outputs, design groups of sensors apart, or learn maps from \
                  samples (`undertone fusion train`)"
                    .into(),
        });
    }
    Ok(())
}
