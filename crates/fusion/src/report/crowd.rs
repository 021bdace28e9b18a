//! Maps for very many sensors of a few kinds, certified.

use serde::Serialize;
use undertone::{Answer, Error, number};
use undertone_core::PlanDraft;

use super::design::{FusionModel, check_budgets};
use super::figures::{LeakageLevel, NetworkFigures};
use super::objective::warnings;
use crate::crowd::{self, Kind};
use crate::design::{Budgets, Method, Watch};
use crate::{Bundle, Evaluation, ExactModel, Objective, Origin};

/// A model of many sensors, and what their maps have to keep.
#[derive(Debug, Clone)]
pub struct CrowdRequest {
    /// The model.
    pub model: FusionModel,
    /// The most that belief in the private hypothesis may move in one epoch, in nats; infinite, or nothing, for no limit.
    pub information: Option<f64>,
    /// The LDP level of every sensor's reading, in nats; infinite, or nothing, for no limit.
    pub ldp: Option<f64>,
    /// How many starts the search makes.
    pub restarts: u32,
    /// Where its randomness begins.
    pub seed: u64,
}

impl CrowdRequest {
    /// How many times the search will call `step` of its [`Watch`].
    pub fn steps(&self) -> u64 {
        self.restarts.into()
    }
}

/// Many sensors whose maps were found and certified.
#[derive(Debug, Clone, Serialize)]
pub struct CrowdReport {
    /// What the centre learns.
    #[serde(flatten)]
    pub figures: NetworkFigures,
    /// The network's id.
    pub bundle_id: String,
    /// The sensors by kinds.
    pub kinds: Vec<KindReport>,
    /// Whether `information` is exact, and not only a bound.
    pub exact: bool,
    /// What is wrong with a network that keeps every promise and is of no use.
    pub warnings: Vec<String>,
    /// Whether no output depends on any reading.
    pub silent: bool,
    /// What may be told of the private hypothesis.
    pub budget: LeakageLevel,
    /// How many starts the search made.
    pub restarts: u32,
    /// Where its randomness began.
    pub seed: u64,
    /// The network itself: plan and certificate.
    #[serde(skip)]
    pub bundle: Bundle,
}

/// Sensors of one kind.
#[derive(Debug, Clone, Serialize)]
pub struct KindReport {
    /// The first one's name.
    pub first: String,
    /// How many there are.
    pub sensors: usize,
    /// How many of them speak.
    pub active: usize,
    /// The LDP level of those.
    pub ldp: LeakageLevel,
    /// P(1 | reading) of those, of the map that ships.
    #[serde(serialize_with = "number::as_values")]
    pub ones: Vec<f64>,
    /// The id of their policy.
    pub policy: String,
}

/// Chooses how very many sensors of a few kinds randomise, and certifies the integers that ship.
pub fn design_crowd(request: &CrowdRequest, watch: &Watch<'_>) -> Result<CrowdReport, Error> {
    let CrowdRequest { information, ldp, restarts, seed, .. } = *request;
    check_budgets(Method::Joint, information, ldp)?;
    if !(1..=1_000_000).contains(&restarts) {
        let problem = format!("is {restarts}: give a whole number from 1 to 1000000");
        return Err(Error::field("restarts", problem));
    }
    let level = |value: Option<f64>| value.unwrap_or(f64::INFINITY);
    let budgets = Budgets::new(level(information), level(ldp))?;
    let FusionModel { model: given, source, samples } = &request.model;
    let sensors = given.sensors().len();
    if sensors > PlanDraft::MAX_QUESTIONS {
        let most = PlanDraft::MAX_QUESTIONS;
        let problem = format!(": {sensors} sensors; at most {most}: lower `count`");
        return Err(Error::field("model", problem));
    }
    let exact = ExactModel::new(given)?;
    exact.law()?;
    let search = crowd::Request { budgets, restarts, seed };
    let proposal = crowd::design(&exact.model()?, &search, watch)?;
    let origin = Origin {
        method: "crowd".into(),
        source: source.clone(),
        samples: *samples,
        seed,
        restarts,
    };
    let bundle = Bundle::ship(&exact, &proposal.maps, budgets, &origin)?;
    let maps = bundle.maps()?;
    let seen = Evaluation::new(given, &maps)?;
    let certificate = bundle.certificate();
    let line = certificate.after(1);
    let figures = NetworkFigures {
        information: LeakageLevel::Certified(line.and_then(|line| line.information)),
        ..NetworkFigures::new(&seen, given).with_ldp(certificate)
    };
    let kind = |kind: &Kind| {
        let first = kind.members[0];
        let map = &maps.channels()[first];
        KindReport {
            first: given.sensors()[first].name().to_owned(),
            sensors: kind.members.len(),
            active: kind.active,
            ldp: LeakageLevel::Certified(certificate.ldp.get(first).copied()),
            ones: (0..map.inputs()).map(|x| map.q(x, 1)).collect(),
            policy: bundle.policies()[first].id().to_string(),
        }
    };
    Ok(CrowdReport {
        kinds: proposal.kinds.iter().map(kind).collect(),
        bundle_id: bundle.id().into(),
        exact: line.is_some_and(|line| line.exact),
        warnings: warnings(
            &figures,
            &Objective::Error,
            bundle.is_silent(),
            None,
            given.public().name(),
        ),
        silent: bundle.is_silent(),
        budget: budgets.information.into(),
        restarts,
        seed,
        figures,
        bundle,
    })
}

impl Answer for CrowdReport {
    fn words(&self) -> String {
        let model = self.bundle.model();
        let (public, private) = (model.public().name(), model.private().name());
        let figures = self.figures.words(public, private);
        let warnings: String =
            self.warnings.iter().map(|warning| format!("WARNING: {warning}\n")).collect();
        format!(
            "{warnings}{figures}\nEvery policy and the network are verified.\nnetwork id: {}",
            self.bundle_id
        )
    }
}
