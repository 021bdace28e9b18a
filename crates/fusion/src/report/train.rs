//! Maps learned from labelled samples, judged on samples held out.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use undertone::{Answer, Error, number};
use undertone_core::Policy;

use super::figures::{BoundReport, ExaminedFigures, LeakageLevel};
use crate::design::Watch;
use crate::learn::centralised::CANNOT_SHIP;
use crate::learn::compare::{Entry, Line, Study, compare};
use crate::learn::prepare::{self, Parts, Recipe};
use crate::learn::release::one_hot_ldp;
use crate::learn::{Kernel, Loss, Settings, Threshold, expected_steps};
use crate::table::LabelledTable;
use crate::{Bundle, Origin};

/// How many levels a released projection is cut into.
const PROJECTED_LEVELS: usize = 10;

/// Labelled samples, and the methods that learn from them.
#[derive(Debug, Clone)]
pub struct TrainRequest {
    /// The samples.
    pub table: LabelledTable,
    /// Where they came from, in words that travel with the network.
    pub source: String,
    /// Which samples are learned from, and how readings are cut into levels.
    pub recipe: Recipe,
    /// The methods to compare.
    pub methods: Vec<Entry>,
    /// What maps have to keep, and how they are searched.
    pub settings: Settings,
    /// How sure the guarantee is to be, between 0 and 1.
    pub confidence: f64,
}

impl TrainRequest {
    /// The methods of these names: epic, npo, e-ldp (maps), dca, mdr, ruca:PRICE (projections) and raw.
    pub fn methods<S: AsRef<str>>(names: impl IntoIterator<Item = S>) -> Result<Vec<Entry>, Error> {
        let entry = |name: S| Entry::parse(name.as_ref().trim()).map_err(Error::usage);
        names.into_iter().map(entry).collect()
    }

    /// The kernel of this name.
    pub fn kernel(name: &str) -> Result<Kernel, Error> {
        Kernel::parse(name).map_err(Error::usage)
    }

    /// The loss of this name.
    pub fn loss(name: &str) -> Result<Loss, Error> {
        Loss::parse(name).map_err(Error::usage)
    }

    /// Whether some method makes maps, which can ship.
    pub fn makes_maps(&self) -> bool {
        self.methods.iter().any(|entry| entry.ships())
    }

    /// Refuses a request for something to ship where no method makes any.
    pub fn check_ships(&self) -> Result<(), Error> {
        if self.makes_maps() {
            return Ok(());
        }
        let compared = self.methods.iter().any(|entry| matches!(entry, Entry::Centralised(_)));
        let why = if compared { CANNOT_SHIP } else { "raw readings hide nothing" };
        Err(Error::usage(format!("nothing to ship: {why}; add epic, npo or e-ldp")))
    }

    /// Refuses numbers that cannot be.
    fn check(&self) -> Result<(), Error> {
        let Settings { outputs, ldp, ratio, slack, ridge, restarts, .. } = self.settings;
        let wrong = |field: &str, value: &dyn std::fmt::Display, fix: &str| {
            Err(Error::field(field, format!("is {value}: give {fix}")))
        };
        let between = "a number above 0 and below 1";
        let share = "a number above 0 and at most 1";
        let is_share = |value: f64| value > 0.0 && value <= 1.0;
        let is_between = |value: f64| value > 0.0 && value < 1.0;
        match () {
            () if !(ldp > 0.0) => {
                wrong("ldp", &ldp, "a number of nats above 0, or `inf` for no limit")
            }
            () if !(2..=256).contains(&outputs) => {
                wrong("outputs", &outputs, "a whole number from 2 to 256")
            }
            () if !is_share(ratio) => wrong("ratio", &ratio, share),
            () if !is_share(slack) => wrong("slack", &slack, share),
            () if !(ridge > 0.0 && ridge.is_finite()) => wrong("ridge", &ridge, "a number above 0"),
            () if !(1..=10_000).contains(&restarts) => {
                wrong("restarts", &restarts, "a whole number from 1 to 10000")
            }
            () if !is_between(self.confidence) => wrong("confidence", &self.confidence, between),
            () if !is_between(self.recipe.plan.share) => {
                wrong("hold_out", &self.recipe.plan.share, between)
            }
            () if self.recipe.levels == 0 => wrong("levels", &0, "a whole number of at least 1"),
            () if self.recipe.plan.train == Some(0) => {
                wrong("train", &0, "a whole number of at least 1")
            }
            () if self.recipe.plan.test == Some(0) => {
                wrong("test", &0, "a whole number of at least 1")
            }
            () if self.methods.is_empty() => Err(Error::field("methods", "is empty: name one")),
            () => Ok(()),
        }
    }
}

/// Methods compared on samples held out.
#[derive(Debug, Clone, Serialize)]
pub struct TrainReport {
    /// How many samples were learned from.
    pub train: usize,
    /// How many were held out.
    pub test: usize,
    /// How many sequences were held out, where samples come in sequences.
    pub sequences_held_out: Option<usize>,
    /// How many sequences were left out because they repeat another.
    pub sequences_repeated: usize,
    /// The sensors' names.
    pub sensors: Vec<String>,
    /// How many readings each has.
    pub readings: Vec<usize>,
    /// The values of the public label.
    pub public: Vec<String>,
    /// The values of the private label.
    pub private: Vec<String>,
    /// What was asked for.
    pub requested: RequestedTraining,
    /// How often the most common public label is wrong.
    pub blind_public: Option<f64>,
    /// How often the most common private label is wrong.
    pub blind_private: Option<f64>,
    /// How each method did, in the order asked for.
    pub methods: Vec<MethodReport>,
    /// The samples, as split.
    #[serde(skip)]
    pub parts: Parts,
    /// What each method learned and shipped.
    #[serde(skip)]
    pub lines: Vec<Line>,
}

/// What training was asked for.
#[derive(Debug, Clone, Serialize)]
pub struct RequestedTraining {
    /// The LDP level of every reading.
    #[serde(serialize_with = "number::as_value")]
    pub ldp: f64,
    /// How many outputs every sensor has.
    pub outputs: usize,
    /// The share of the largest attainable threshold that is asked for.
    pub ratio: f64,
    /// How much of what can be learned of the public label may be given up while that threshold is sought.
    pub slack: f64,
    /// The ridge of every linear rule.
    pub ridge: f64,
    /// What the rules of the centre and of the adversaries see.
    pub kernel: &'static str,
    /// What a wrong decision costs them.
    pub loss: &'static str,
    /// How sure the guarantee is to be.
    pub confidence: f64,
    /// Where the randomness began.
    pub seed: u64,
    /// How many starts the search made.
    pub restarts: u32,
}

/// How one method did on the samples held out.
#[derive(Debug, Clone, Serialize)]
pub struct MethodReport {
    /// What an attacker learns, and what can be guaranteed.
    #[serde(flatten)]
    pub examined: ExaminedFigures,
    /// The method.
    pub method: String,
    /// Whether what it learns can run on sensors; comparators cannot.
    pub ships: bool,
    /// How often a detector linear in what is released is wrong about the public label.
    pub error_public: f64,
    /// How often such a detector is wrong about the private label.
    pub error_private: f64,
    /// The guarantee for whoever sees only what the detector of the public label decides, for maps.
    pub decisions: Option<BoundReport>,
    /// What was learned, for maps.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub trained: Option<TrainedReport>,
    /// The integers that ship, for maps.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub shipped: Option<ShippedReport>,
}

/// What a method learned.
#[derive(Debug, Clone, Serialize)]
pub struct TrainedReport {
    /// The risk of the public label.
    pub risk: f64,
    /// That risk without hearing anything.
    pub risk_blind: f64,
    /// The risk of every adversary.
    pub adversaries: Vec<AdversaryReport>,
    /// The threshold on those risks, where the method has one.
    pub threshold: Option<ThresholdReport>,
}

/// An adversary who looks for one value of the private label.
#[derive(Debug, Clone, Serialize)]
pub struct AdversaryReport {
    /// The value.
    pub private: String,
    /// The adversary's risk.
    pub risk: f64,
}

/// A threshold on the adversaries' risk.
#[derive(Debug, Clone, Serialize)]
pub struct ThresholdReport {
    /// The largest that is attainable.
    pub most: f64,
    /// The one that is kept.
    pub kept: f64,
}

impl From<Threshold> for ThresholdReport {
    fn from(Threshold { most, kept, .. }: Threshold) -> Self {
        Self { most, kept }
    }
}

/// The integers that ship.
#[derive(Debug, Clone, Serialize)]
pub struct ShippedReport {
    /// The ids of the sensors' policies.
    pub policies: Vec<String>,
    /// The LDP level each policy attains.
    pub ldp_sensors: Vec<LeakageLevel>,
    /// The LDP level of every column that became several sensors.
    pub ldp_features: BTreeMap<String, LeakageLevel>,
    /// The network's id; nothing if there are too many outputs to certify it.
    pub bundle_id: Option<String>,
    /// What one epoch leaks under the fitted model, as certified.
    pub information_fitted: Option<LeakageLevel>,
}

/// Learns how every sensor randomises from labelled samples and judges it on samples held out. `watch` hears of every
/// step and may end a search early; `expect` is told beforehand how many steps there will be.
pub fn train(
    request: &TrainRequest,
    watch: &Watch<'_>,
    expect: &dyn Fn(u64),
) -> Result<TrainReport, Error> {
    request.check()?;
    let (table, settings) = (&request.table, &request.settings);
    let parts = prepare::prepare(&table.columns, table.sequence.as_deref(), &request.recipe)
        .map_err(|error| table.problem(error))?;
    let study = Study {
        train: &parts.train,
        test: &parts.test,
        units: parts.units.as_deref(),
        confidence: request.confidence,
        levels: PROJECTED_LEVELS,
    };
    let origin = Origin {
        source: request.source.clone(),
        samples: parts.train.samples().len() as u64,
        seed: settings.seed,
        restarts: settings.restarts,
        ..Origin::default()
    };
    let steps = |entry: &Entry| match entry {
        Entry::Learned(method) => expected_steps(*method, settings, parts.train.sensors().len()),
        _ => 1,
    };
    expect(request.methods.iter().map(steps).sum());
    let line = |&entry: &Entry| compare(&study, entry, settings, &origin, watch);
    let lines = request.methods.iter().map(line).collect::<Result<Vec<Line>, _>>()?;
    Ok(report(request, parts, lines))
}

fn report(request: &TrainRequest, parts: Parts, lines: Vec<Line>) -> TrainReport {
    let Settings { outputs, ldp, ratio, slack, ridge, restarts, seed, kernel, loss, .. } =
        request.settings;
    let blind = lines.first().map(|line| line.judged.examined.blind);
    let distinct = |units: &Vec<usize>| units.iter().collect::<BTreeSet<_>>().len();
    let sensors = parts.train.sensors();
    TrainReport {
        train: parts.train.samples().len(),
        test: parts.test.samples().len(),
        sequences_held_out: parts.units.as_ref().map(distinct),
        sequences_repeated: request.table.repeated,
        sensors: sensors.iter().map(|(name, _)| name.clone()).collect(),
        readings: sensors.iter().map(|(_, alphabet)| alphabet.len()).collect(),
        public: parts.train.public().values().to_vec(),
        private: parts.train.private().values().to_vec(),
        requested: RequestedTraining {
            ldp,
            outputs,
            ratio,
            slack,
            ridge,
            kernel: kernel.name(),
            loss: loss.name(),
            confidence: request.confidence,
            seed,
            restarts,
        },
        blind_public: blind.map(|blind| blind.public),
        blind_private: blind.map(|blind| blind.private),
        methods: lines.iter().map(|line| method(request, &parts, line)).collect(),
        parts,
        lines,
    }
}

fn method(request: &TrainRequest, parts: &Parts, line: &Line) -> MethodReport {
    let values = parts.train.private().values();
    let trained = line.trained.as_ref().map(|trained| TrainedReport {
        risk: trained.risk,
        risk_blind: trained.blind,
        adversaries: trained
            .adversaries
            .iter()
            .map(|adversary| AdversaryReport {
                private: values[adversary.private].clone(),
                risk: adversary.risk,
            })
            .collect(),
        threshold: trained.threshold.map(Into::into),
    });
    let attained =
        |policy: &Policy| LeakageLevel::Certified(policy.certificate().input.ldp.ratio.ln_up());
    let shipped = line.shipped.as_ref().map(|shipped| {
        let bundle = shipped.bundle.as_ref();
        let fitted = bundle.and_then(|bundle| bundle.certificate().after(1)?.information);
        ShippedReport {
            policies: shipped.policies.iter().map(|policy| policy.id().to_string()).collect(),
            ldp_sensors: shipped.policies.iter().map(attained).collect(),
            ldp_features: features(request, parts, line),
            bundle_id: bundle.map(|bundle| bundle.id().to_owned()),
            information_fitted: fitted.map(|nats| LeakageLevel::Certified(Some(nats))),
        }
    });
    MethodReport {
        examined: (&line.judged.examined).into(),
        method: line.entry.name(),
        ships: line.entry.ships(),
        error_public: line.judged.detectors.public,
        error_private: line.judged.detectors.private,
        decisions: line.judged.decisions.as_ref().map(Into::into),
        trained,
        shipped,
    }
}

/// The LDP level of every column that became several sensors.
fn features(request: &TrainRequest, parts: &Parts, line: &Line) -> BTreeMap<String, LeakageLevel> {
    let mut bits: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (t, (name, _)) in parts.train.sensors().iter().enumerate() {
        if let (true, Some((column, _))) = (request.table.one_hot, name.split_once('=')) {
            bits.entry(column.to_owned()).or_default().push(t);
        }
    }
    let Some(shipped) = &line.shipped else { return BTreeMap::new() };
    // Both levels are sums of logarithms of exact ratios: a hair above covers their rounding.
    let level =
        |bits: &[usize]| LeakageLevel::Computed(one_hot_ldp(&shipped.maps, bits) * (1.0 + 1e-12));
    bits.into_iter().map(|(column, bits)| (column, level(&bits))).collect()
}

impl TrainReport {
    /// The first network that ships: of the first method with maps, unless it has too many outputs to certify.
    pub fn network(&self) -> Result<Option<&Bundle>, Error> {
        let Some(shipped) = self.lines.iter().find_map(|line| line.shipped.as_ref()) else {
            return Ok(None);
        };
        match &shipped.bundle {
            Some(bundle) => Ok(Some(bundle)),
            None => Err(Error::input(
                "there are too many outputs to certify the network: keep fewer sensors",
            )),
        }
    }

    /// The policies of the first method with maps.
    pub fn policies(&self) -> Option<&[Policy]> {
        let shipped = self.lines.iter().find_map(|line| line.shipped.as_ref());
        shipped.map(|shipped| shipped.policies.as_slice())
    }
}

impl Answer for TrainReport {
    fn words(&self) -> String {
        let mut lines = vec![format!(
            "{} samples to learn from, {} held out, {} sensors with {} outputs; LDP budget {} nats",
            self.train,
            self.test,
            self.sensors.len(),
            self.requested.outputs,
            number::nats(self.requested.ldp)
        )];
        if let Some(sequences) = self.sequences_held_out {
            lines.push(format!(
                "held out: {sequences} sequences, none of which was learned from; {} repeated sequences left out",
                self.sequences_repeated
            ));
        }
        for method in &self.methods {
            let bound = &method.examined.leakage_ucb;
            let outside = match bound.outside {
                outside if outside > 0.0 => format!(", but for {:.1} % of them", 100.0 * outside),
                _ => String::new(),
            };
            let comparator = if method.ships { "" } else { " (a comparator, cannot be shipped)" };
            lines.push(format!(
                "{}{comparator}: wrong about {} in {:.4} and about {} in {:.4}; with confidence {} all outputs say at most {} nats about {}{outside}",
                method.method,
                self.parts.train.public().name(),
                method.error_public,
                self.parts.train.private().name(),
                method.error_private,
                bound.confidence,
                number::rounded(bound.nats, number::Round::Up),
                self.parts.train.private().name()
            ));
        }
        lines.join("\n")
    }
}
