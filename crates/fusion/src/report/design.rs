//! Maps for every sensor, within budgets, certified.

use serde::Serialize;
use undertone::error::mention;
use undertone::{Answer, Error, number};
use undertone_core::Nats;

use super::figures::{EpochReport, LeakageLevel, NetworkFigures, rows};
use super::objective::{Limit, ObjectiveReport, RuleReport, is_gain, reached, value, warnings};
use crate::design::bound::{self, Limits};
use crate::design::{
    Aim, Budgets, Method, Proposal, Request, Stricter, Theta, Watch, design_for, expected_steps,
    usual_restarts,
};
use crate::objective::Goal;
use crate::{Bundle, Evaluation, ExactModel, Maps, Model, Objective, Origin};

/// A model, and where it came from.
#[derive(Debug, Clone)]
pub struct FusionModel {
    /// The model.
    pub model: Model,
    /// Where it came from, in words.
    pub source: String,
    /// How many samples it rests on; 0 for an assumption.
    pub samples: u64,
}

impl FusionModel {
    /// A model that is an assumption.
    pub fn assumed(model: Model, source: impl Into<String>) -> Self {
        Self { model, source: source.into(), samples: 0 }
    }
}

/// A model, and what the maps of its sensors have to keep.
#[derive(Debug, Clone)]
pub struct NetworkRequest {
    /// The model.
    pub model: FusionModel,
    /// The most that belief in the private hypothesis may move, in nats; infinite, or nothing, for no limit.
    pub information: Option<f64>,
    /// The LDP level of every sensor's reading in each epoch, in nats; infinite, or nothing, for no limit.
    pub ldp: Option<f64>,
    /// How many outputs every sensor has: one number, or one per sensor; from 2 to 256.
    pub outputs: Vec<usize>,
    /// How the maps are chosen.
    pub method: Method,
    /// For how many epochs the private hypothesis may stay the same: the information budget is for all of them.
    pub epochs: u32,
    /// How many starts each search makes; by default 200 for small networks and fewer for large ones.
    pub restarts: Option<u32>,
    /// Where the search's randomness begins.
    pub seed: u64,
    /// What the maps and the centre's rule are for. Nothing for the error of the public hypothesis or, where the best rule
    /// for that would be blind, the balanced error.
    pub objective: Option<Objective>,
    /// Maps to begin from as well, such as those found under tighter budgets: the result is not worse than any of them
    /// that is within these.
    pub begin: Vec<Maps>,
}

/// The largest number of starts and of epochs.
const MOST: u32 = 1_000_000;

impl NetworkRequest {
    /// A network of two outputs per sensor for one epoch, found by the joint method; a budget has to be set.
    pub fn new(model: FusionModel) -> Self {
        Self {
            model,
            information: None,
            ldp: None,
            outputs: vec![2],
            method: Method::Joint,
            epochs: 1,
            restarts: None,
            seed: 1,
            objective: None,
            begin: Vec::new(),
        }
    }

    /// How many times the search will call `step` of its [`Watch`].
    pub fn steps(&self) -> Result<u64, Error> {
        Ok(expected_steps(&self.search()?))
    }

    /// What the search is asked for.
    fn search(&self) -> Result<Request, Error> {
        let sensors = self.model.model.sensors().len();
        let budgets = self.budgets()?;
        let outputs = match self.outputs[..] {
            [all] => vec![all; sensors],
            _ => self.outputs.clone(),
        };
        if outputs.len() != sensors {
            let found = outputs.len();
            return Err(Error::field(
                "outputs",
                format!(
                    "has {found} entries where {sensors} are needed: give one number, or one per sensor"
                ),
            ));
        }
        if let Some(odd) = outputs.iter().find(|count| !(2..=256).contains(*count)) {
            let problem = format!("is {odd}: give a whole number from 2 to 256");
            return Err(Error::field("outputs", problem));
        }
        for (field, count) in [("epochs", Some(self.epochs)), ("restarts", self.restarts)] {
            if let Some(count) = count.filter(|count| !(1..=MOST).contains(count)) {
                let problem = format!("is {count}: give a whole number from 1 to {MOST}");
                return Err(Error::field(field, problem));
            }
        }
        Ok(Request {
            method: self.method,
            budgets,
            restarts: self.restarts.unwrap_or_else(|| usual_restarts(&self.model.model, &outputs)),
            outputs,
            seed: self.seed,
        })
    }

    /// The budgets, checked against the method.
    fn budgets(&self) -> Result<Budgets, Error> {
        let (information, ldp) = (self.information, self.ldp);
        check_budgets(self.method, information, ldp)?;
        let level = |value: Option<f64>| value.unwrap_or(f64::INFINITY);
        let blamed = |field: &'static str| {
            move |error: crate::Error| Error::field(field, format!(": {error}"))
        };
        let ldp = Budgets::new(f64::INFINITY, level(ldp)).map_err(blamed("ldp"))?.ldp;
        let information = Budgets::new(level(information), f64::INFINITY);
        let information = information.map_err(blamed("information"))?.information;
        Ok(Budgets { information, ldp, epochs: self.epochs })
    }
}

/// Refuses budgets that cannot be, or that a method does not keep or cannot do without.
pub fn check_budgets(
    method: Method,
    information: Option<f64>,
    ldp: Option<f64>,
) -> Result<(), Error> {
    let name = |field: &str| mention(field);
    if information.is_none() && ldp.is_none() {
        return Err(Error::usage(format!(
            "give {}, {} or both: the budgets of the private hypothesis and of the readings",
            name("information"),
            name("ldp")
        )));
    }
    for (field, value) in [("information", information), ("ldp", ldp)] {
        if let Some(value) = value.filter(|value| !(*value >= 0.0)) {
            let problem =
                format!("is {value}: give a number of nats of at least 0, or `inf` for no limit");
            return Err(Error::field(field, problem));
        }
    }
    if ldp.is_some_and(f64::is_finite) && !method.hides_readings() {
        return Err(Error::usage(format!(
            "{} infp keeps no LDP level: leave {} out, or use joint",
            name("method"),
            name("ldp")
        )));
    }
    if information.is_some_and(f64::is_finite) && !method.hides_private() {
        return Err(Error::usage(format!(
            "{} ldp keeps no information budget: leave {} out, or use joint",
            name("method"),
            name("information")
        )));
    }
    let needs = |field: &str, value: Option<f64>| match value {
        None | Some(f64::INFINITY) => Err(Error::usage(format!(
            "{} {} needs {}: give a number of nats",
            name("method"),
            method.name(),
            name(field)
        ))),
        Some(_) => Ok(()),
    };
    match method {
        Method::Joint => Ok(()),
        Method::Ldp => needs("ldp", ldp),
        Method::InformationOnly | Method::PaperTheta => needs("information", information),
        _ => needs("information", information).and_then(|()| needs("ldp", ldp)),
    }
}

/// A network that was found and certified.
#[derive(Debug, Clone, Serialize)]
pub struct NetworkReport {
    /// What the centre learns: `information` of all epochs asked for, `ldp` of each sensor, both certified.
    #[serde(flatten)]
    pub figures: NetworkFigures,
    /// What maps and rule are for.
    pub objective: ObjectiveReport,
    /// No maps within the budgets, and no rule, are wrong about the public hypothesis less often.
    #[serde(serialize_with = "number::as_lower_bound")]
    pub error_public_lower: f64,
    /// No maps within the budgets tell more of the public hypothesis, in nats.
    #[serde(serialize_with = "number::as_bound")]
    pub information_public_upper: f64,
    /// How the centre's rule does; nothing where there are too many outputs to say.
    pub rule: Option<RuleReport>,
    /// What is wrong with it, if anything is.
    pub warnings: Vec<String>,
    /// How the maps were chosen.
    pub method: &'static str,
    /// The network's id.
    pub bundle_id: String,
    /// Whether no output depends on any reading.
    pub silent: bool,
    /// Where the search's randomness began.
    pub seed: u64,
    /// How many starts each search made.
    pub restarts: u32,
    /// What was asked for.
    pub requested: RequestedBudgets,
    /// What so many epochs together leak.
    pub epochs: Vec<EpochReport>,
    /// The ids of the sensors' policies.
    pub policies: Vec<String>,
    /// The maps that ship, one matrix per sensor.
    pub maps: Vec<Vec<Vec<f64>>>,
    /// The error of the public hypothesis before the maps were rounded.
    pub found: f64,
    /// What each part of the search found.
    pub attempts: Vec<AttemptReport>,
    /// How much stricter the printed sufficient condition is, where that was asked for.
    pub theta: Option<ThetaReport>,
    /// The network itself: plan and certificate.
    #[serde(skip)]
    pub bundle: Bundle,
}

/// The budgets a network was asked to keep; no limit is a level without bound.
#[derive(Debug, Clone, Serialize)]
pub struct RequestedBudgets {
    /// Of the private hypothesis.
    pub information: LeakageLevel,
    /// Of every reading.
    pub ldp: LeakageLevel,
    /// For how many epochs.
    pub epochs: u32,
}

/// What one part of a search found.
#[derive(Debug, Clone, Serialize)]
pub struct AttemptReport {
    /// Which part.
    pub name: &'static str,
    /// What it made small: the error of the public hypothesis, unless another objective was asked for.
    pub loss: f64,
}

/// How much stricter the printed sufficient condition is than the budget itself.
#[derive(Debug, Clone, Serialize)]
pub struct ThetaReport {
    /// The maps of the first stage, which keep it.
    pub kept: ThetaCondition,
    /// What those leak, in nats.
    pub information: f64,
    /// The maps that meet the budget itself.
    pub exact: ThetaCondition,
    /// How many times as far apart those are.
    pub factor: f64,
}

/// The printed condition at one set of maps.
#[derive(Debug, Clone, Serialize)]
pub struct ThetaCondition {
    /// c_G.
    pub coverage: f64,
    /// θ.
    pub theta: f64,
    /// The distance it allows.
    pub allowed: f64,
    /// The distance there is.
    pub spread: f64,
}

impl From<&Theta> for ThetaCondition {
    fn from(theta: &Theta) -> Self {
        let Theta { coverage, theta, allowed, spread, .. } = *theta;
        Self { coverage, theta, allowed, spread }
    }
}

impl From<&Stricter> for ThetaReport {
    fn from(report: &Stricter) -> Self {
        Self {
            kept: (&report.kept).into(),
            information: report.information,
            exact: (&report.exact).into(),
            factor: report.factor,
        }
    }
}

/// Chooses how every sensor randomises so that the centre learns the public hypothesis and not the private one, and
/// certifies the integers that ship. `watch` hears of every step and may end the search early.
///
/// ```
/// use undertone_fusion::design::Watch;
/// use undertone_fusion::report::{FusionModel, NetworkRequest, design_network};
/// use undertone_fusion::Model;
///
/// let reads = |h: usize, g: usize| vec![0.8 - 0.5 * h as f64 - 0.1 * g as f64, 0.2 + 0.5 * h as f64 + 0.1 * g as f64];
/// let given: Vec<_> = (0..2).map(|h| (0..2).map(|g| reads(h, g)).collect()).collect();
/// let model = Model::independent(vec![vec![0.3, 0.2], vec![0.2, 0.3]], vec![given; 2])?;
/// let mut request = NetworkRequest::new(FusionModel::assumed(model, "two lamps"));
/// (request.information, request.restarts) = (Some(0.3), Some(4));
/// let network = design_network(&request, &Watch::PATIENT)?;
/// assert_eq!(network.bundle.policies().len(), 2);
/// # Ok::<(), undertone::Error>(())
/// ```
pub fn design_network(request: &NetworkRequest, watch: &Watch<'_>) -> Result<NetworkReport, Error> {
    let search = request.search()?;
    let FusionModel { model: given, source, samples } = &request.model;
    let exact = ExactModel::new(given)?;
    // A law that is too large to ship is refused before the search and not after it.
    exact.law()?;
    let model = exact.model()?;
    let Chosen { objective, chosen, proposal, limits } = choose(&model, request, &search, watch)?;
    let origin = Origin {
        method: search.method.name().into(),
        source: source.clone(),
        samples: *samples,
        seed: search.seed,
        restarts: search.restarts,
    };
    let bundle = Bundle::ship(&exact, &proposal.maps, search.budgets, &origin)?;
    let bundle = bundle.deciding(objective.clone())?;
    let seen = Evaluation::new(given, &bundle.maps()?)?;
    let certificate = bundle.certificate();
    let attained = certificate.after(search.budgets.epochs).and_then(|line| line.information);
    let figures = NetworkFigures {
        information: LeakageLevel::Certified(attained),
        ..NetworkFigures::new(&seen, given).with_ldp(certificate)
    };
    let rule = RuleReport::new(&bundle.rule()?, given, &bundle.maps()?)?;
    let goal = Goal::new(&objective, given.public_law())?;
    let rounding = rounding(given);
    let limit = Limit {
        value: value(&objective, limits.loss - slack(&objective, &goal, rounding)),
        is_gain: is_gain(&objective),
    };
    let attempts = proposal.attempts.iter();
    Ok(NetworkReport {
        objective: ObjectiveReport {
            name: objective.to_string(),
            chosen,
            value: reached(&objective, &goal, &figures, rule.as_ref()),
            blind: value(&objective, goal.blind()),
            limit,
        },
        error_public_lower: (limits.error - rounding).max(0.0),
        information_public_upper: limits.information + told_more(&goal, rounding),
        warnings: warnings(
            &figures,
            &objective,
            bundle.is_silent(),
            rule.as_ref(),
            given.public().name(),
        ),
        rule,
        figures,
        method: search.method.name(),
        bundle_id: bundle.id().into(),
        silent: bundle.is_silent(),
        seed: search.seed,
        restarts: search.restarts,
        requested: RequestedBudgets {
            information: search.budgets.information.into(),
            ldp: search.budgets.ldp.into(),
            epochs: search.budgets.epochs,
        },
        epochs: EpochReport::of(certificate),
        policies: bundle.policies().iter().map(|policy| policy.id().to_string()).collect(),
        maps: rows(&bundle.maps()?),
        found: proposal.error,
        attempts: attempts.map(|part| AttemptReport { name: part.name, loss: part.loss }).collect(),
        theta: proposal.theta.as_ref().map(Into::into),
        bundle,
    })
}

/// Maps, what they are for, and what none can pass.
struct Chosen {
    objective: Objective,
    chosen: String,
    proposal: Proposal,
    limits: Limits,
}

/// A rule that errs less often than a blind one by no more than this is blind.
const LEAST_GAIN: f64 = 1e-7;

/// Searches for what was asked; for the error where nothing was, unless the best rule would then be blind. With a rare
/// public event that is the rule rather than the exception: no evidence within the budgets makes the event likelier than
/// not. Then a mistake costs one over its value's probability.
fn choose(
    model: &Model,
    request: &NetworkRequest,
    search: &Request,
    watch: &Watch<'_>,
) -> Result<Chosen, Error> {
    let limits = |objective: &Objective| {
        bound::limits(model, search.method, search.budgets, objective, &|| (watch.stop)())
    };
    let find = |objective: &Objective| {
        let aim = Aim { objective: objective.clone(), warm: request.begin.clone() };
        design_for(model, search, &aim, watch)
    };
    if let Some(objective) = &request.objective {
        let limits = limits(objective)?;
        let (objective, chosen) = (objective.clone(), "asked for".into());
        return Ok(Chosen { proposal: find(&objective)?, objective, chosen, limits });
    }
    let blind = Goal::new(&Objective::Error, model.public_law())?.blind();
    let least = limits(&Objective::Error)?;
    let plain =
        if least.error < blind - LEAST_GAIN { Some(find(&Objective::Error)?) } else { None };
    if let Some(proposal) = &plain
        && proposal.error < blind - LEAST_GAIN
    {
        let chosen = "the usual one: fewest wrong decisions".into();
        let proposal = proposal.clone();
        return Ok(Chosen { objective: Objective::Error, chosen, proposal, limits: least });
    }
    let balanced = find(&Objective::Balanced)?;
    let alone = Goal::new(&Objective::Balanced, model.public_law())?.blind();
    if balanced.loss < alone - LEAST_GAIN {
        let why = match plain {
            None => "whatever the maps, fewest wrong decisions means to decide always the same",
            Some(_) => {
                "with the maps found, fewest wrong decisions means to decide always the same"
            }
        };
        let limits = limits(&Objective::Balanced)?;
        let chosen =
            format!("{why}, so a mistake costs one over the probability of what was the case");
        return Ok(Chosen { objective: Objective::Balanced, chosen, proposal: balanced, limits });
    }
    let chosen = "the usual one; no other would tell more".into();
    let proposal = plain.unwrap_or(balanced);
    Ok(Chosen { objective: Objective::Error, chosen, proposal, limits: least })
}

/// How far the law of labels and readings can lie from its integers, under which budgets are kept and bounds found: the
/// largest remainder moves no weight of a scenario, and no probability of a reading, by more than 2^-32.
fn rounding(given: &Model) -> f64 {
    let readings: usize = given.sensors().iter().map(crate::Sensor::inputs).sum();
    (given.atoms().len() + readings) as f64 * (0.5f64).powi(31)
}

/// What such a distance can change a loss by.
fn slack(objective: &Objective, goal: &Goal, distance: f64) -> f64 {
    let public = goal.public();
    match objective {
        Objective::Error => distance,
        Objective::Information => told_more(goal, distance),
        Objective::Detection { .. } => {
            let event: f64 = public[1..].iter().sum();
            2.0 * distance / public[0].min(event)
        }
        _ => {
            let most =
                |costs: crate::Costs| costs.rows().iter().flatten().copied().fold(0.0, f64::max);
            2.0 * distance * goal.costs().map_or(1.0, most)
        }
    }
}

/// What such a distance can change the information by.
fn told_more(goal: &Goal, distance: f64) -> f64 {
    // h(δ) <= -δ ln δ + δ.
    let entropy = distance - distance * distance.ln();
    2.0 * (distance * (goal.public().len() as f64).ln() + entropy)
}

impl NetworkReport {
    /// What one epoch leaks of the private hypothesis, as certified.
    pub fn in_one_epoch(&self) -> Option<Nats> {
        self.bundle.certificate().after(1).and_then(|line| line.information)
    }

    /// What `information` is of, and what its budget is.
    pub fn budget_words(&self) -> String {
        let RequestedBudgets { information, epochs, .. } = &self.requested;
        match (information, epochs) {
            (LeakageLevel::Certified(None), _) => "in one epoch; no limit was set".into(),
            (budget, 1) => format!("in one epoch; budget {} nats", budget.words()),
            (budget, epochs) => {
                format!("in one epoch; budget {} nats for {epochs} epochs", budget.words())
            }
        }
    }
}

impl Answer for NetworkReport {
    fn words(&self) -> String {
        let model = self.bundle.model();
        let (public, private) = (model.public().name(), model.private().name());
        let one = LeakageLevel::Certified(self.in_one_epoch());
        let figures = NetworkFigures { information: one, ..self.figures.clone() };
        let mut words: String =
            self.warnings.iter().map(|warning| format!("WARNING: {warning}\n")).collect();
        words += &figures.words(public, private);
        let ObjectiveReport { name, chosen, value, blind, limit } = &self.objective;
        words += &format!(
            "\nObjective {name} ({chosen}): {value:.6}, blindly {blind:.6}; no maps within the budgets reach better than {}.",
            number::rounded(limit.value, limit.round())
        );
        format!(
            "{words}\nEvery policy and the network are verified.\nnetwork id: {}",
            self.bundle_id
        )
    }
}
