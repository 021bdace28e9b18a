//! What a centre learns under given maps.

use serde::Serialize;
use undertone::{Answer, Error};

use super::figures::{EpochReport, ExaminedFigures, LeakageLevel, NetworkFigures};
use super::objective::{RuleReport, warnings};
use crate::learn::compare::{self, Examined, Pair};
use crate::learn::leakage::Evidence;
use crate::learn::release::Release;
use crate::table::LabelledTable;
use crate::{Bundle, Evaluation, FusionRule, Maps, Model, Objective};

/// Maps, and the law under which they are judged.
#[derive(Debug, Clone)]
pub struct EvaluationRequest {
    /// What is judged.
    pub subject: EvaluationSubject,
    /// How sure a guarantee from samples is to be, between 0 and 1.
    pub confidence: f64,
    /// Where the randomness of drawn outputs begins.
    pub seed: u64,
}

impl EvaluationRequest {
    /// A question with guarantees of confidence 0.95.
    pub fn new(subject: EvaluationSubject) -> Self {
        Self { subject, confidence: 0.95, seed: 1 }
    }
}

/// Maps, and the law under which they are judged.
#[derive(Debug, Clone)]
#[allow(clippy::large_enum_variant)]
pub enum EvaluationSubject {
    /// A network's maps.
    Network {
        /// The network.
        bundle: Bundle,
        /// The law.
        under: NetworkLaw,
    },
    /// Any maps, in floats.
    Maps {
        /// What the maps are called in errors: the name of their document.
        name: String,
        /// The law.
        model: Model,
        /// The maps.
        maps: Maps,
    },
}

/// The law under which a network's maps are judged.
#[derive(Debug, Clone)]
#[allow(clippy::large_enum_variant)]
pub enum NetworkLaw {
    /// The network's own model, for which it is certified.
    Own,
    /// Another model of the same sensors, which is how to see what a wrong model costs.
    Model(Model),
    /// Labelled samples, read with the network's own labels and levels.
    Samples(LabelledTable),
}

/// What a centre learns under given maps.
#[derive(Debug, Clone, Serialize)]
pub struct EvaluationReport {
    /// What is learned; `information` and `ldp` are certified where the network's own model was asked about.
    #[serde(flatten)]
    pub figures: NetworkFigures,
    /// Whether it is certified.
    pub certified: bool,
    /// The ids of the sensors' policies; none for maps in floats.
    pub policies: Vec<String>,
    /// The network, where one was judged.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub network: Option<JudgedNetwork>,
    /// How the rule does under that law: a network's own, or Bayes'; nothing where there are too many outputs to say.
    pub rule: Option<RuleReport>,
    /// What is wrong with it, if anything is.
    pub warnings: Vec<String>,
    /// The law under which the maps were judged.
    #[serde(skip)]
    pub model: Model,
    /// How far belief in the private hypothesis moves in one epoch under that law, in floats.
    #[serde(skip)]
    pub information_computed: f64,
}

/// A network that was judged.
#[derive(Debug, Clone, Serialize)]
pub struct JudgedNetwork {
    /// Its id.
    pub bundle_id: String,
    /// Whether no output depends on any reading.
    pub silent: bool,
    /// What its centre decides for.
    pub objective: Objective,
    /// How its maps were chosen.
    pub method: String,
    /// What held-out samples say, where they were given.
    pub held_out: Option<HeldOutReport>,
    /// What so many epochs together leak, where the network's own model was asked about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epochs: Option<Vec<EpochReport>>,
    /// Where its model came from.
    #[serde(skip)]
    pub source: String,
}

/// What labelled samples say about a network.
#[derive(Debug, Clone, Serialize)]
pub struct HeldOutReport {
    /// What an attacker learns, and what can be guaranteed.
    #[serde(flatten)]
    pub examined: ExaminedFigures,
    /// How many samples there are.
    pub samples: usize,
    /// How often the centre's own rule is wrong about the public label.
    pub rule_error_public: f64,
    /// How often the centre's posterior is wrong about the private label.
    pub rule_error_private: f64,
    /// How often the most common public label is wrong.
    pub blind_public: f64,
    /// How often the most common private label is wrong.
    pub blind_private: f64,
    /// Whether samples come in sequences, which then count once each.
    #[serde(skip)]
    pub in_sequences: bool,
}

/// Says what a centre learns of the public hypothesis, of the private one and of every reading.
pub fn evaluate(request: &EvaluationRequest) -> Result<EvaluationReport, Error> {
    let EvaluationRequest { subject, confidence, seed } = request;
    if !(*confidence > 0.0 && *confidence < 1.0) {
        let problem = format!("is {confidence}: give a number above 0 and below 1");
        return Err(Error::field("confidence", problem));
    }
    match subject {
        EvaluationSubject::Maps { name, model, maps } => {
            let seen = Evaluation::new(model, maps)
                .map_err(|error| Error::input(format!("{name}: {error}")))?;
            let figures = NetworkFigures::new(&seen, model);
            let rule = RuleReport::new(&FusionRule::new(model, maps)?, model, maps)?;
            let (objective, name) = (Objective::Error, model.public().name());
            Ok(EvaluationReport {
                warnings: warnings(&figures, &objective, false, rule.as_ref(), name),
                rule,
                figures,
                certified: false,
                policies: Vec::new(),
                network: None,
                model: model.clone(),
                information_computed: seen.information.nats,
            })
        }
        EvaluationSubject::Network { bundle, under } => network(bundle, under, *confidence, *seed),
    }
}

fn network(
    bundle: &Bundle,
    under: &NetworkLaw,
    confidence: f64,
    seed: u64,
) -> Result<EvaluationReport, Error> {
    let (model, maps, held_out) = match under {
        NetworkLaw::Own => (bundle.float_model()?, bundle.maps()?, None),
        NetworkLaw::Model(model) => (model.clone(), bundle.maps_for(model)?, None),
        NetworkLaw::Samples(table) => {
            let (model, report) = held_out(bundle, table, confidence, seed)?;
            (model, bundle.maps()?, Some(report))
        }
    };
    let seen = Evaluation::new(&model, &maps)?;
    let certificate = bundle.certificate();
    let mut figures = NetworkFigures::new(&seen, &model).with_ldp(certificate);
    let certified = matches!(under, NetworkLaw::Own);
    if certified {
        let attained = certificate.after(1).and_then(|line| line.information);
        figures.information = LeakageLevel::Certified(attained);
    }
    let rule = RuleReport::new(&bundle.rule()?, &model, &maps)?;
    let (objective, name) = (bundle.objective(), model.public().name());
    Ok(EvaluationReport {
        warnings: warnings(&figures, objective, bundle.is_silent(), rule.as_ref(), name),
        rule,
        figures,
        certified,
        policies: bundle.policies().iter().map(|policy| policy.id().to_string()).collect(),
        network: Some(JudgedNetwork {
            bundle_id: bundle.id().into(),
            silent: bundle.is_silent(),
            objective: objective.clone(),
            method: bundle.origin().method.clone(),
            held_out,
            epochs: certified.then(|| EpochReport::of(certificate)),
            source: bundle.origin().source.clone(),
        }),
        information_computed: seen.information.nats,
        model,
    })
}

/// Judges a network by labelled samples; also the law that the samples would be.
fn held_out(
    bundle: &Bundle,
    table: &LabelledTable,
    confidence: f64,
    seed: u64,
) -> Result<(Model, HeldOutReport), Error> {
    let samples = table.samples_for(bundle)?;
    let release = Release::Maps(bundle.maps()?);
    let units = table.sequence.as_deref();
    let evidence = Evidence { held_out: &samples, units, prior: None, chosen_with: None };
    let examined: Examined = compare::examine(&evidence, &release, confidence, seed)?;
    let rule: Pair = compare::rule_errors(&samples, &bundle.rule()?, &release, seed)?;
    let report = HeldOutReport {
        samples: samples.samples().len(),
        rule_error_public: rule.public,
        rule_error_private: rule.private,
        blind_public: examined.blind.public,
        blind_private: examined.blind.private,
        in_sequences: units.is_some(),
        examined: (&examined).into(),
    };
    Ok((samples.model()?, report))
}

impl EvaluationReport {
    /// Of what `information` is, and how it is known.
    pub fn basis(&self) -> &'static str {
        match &self.network {
            None => "in one epoch; as floats, not certified",
            Some(_) if self.certified => "in one epoch; certified under the network's own model",
            Some(JudgedNetwork { held_out: Some(_), .. }) => {
                "in one epoch, as if these samples were the law; not certified"
            }
            Some(_) => "in one epoch, under the model given; not certified",
        }
    }
}

impl Answer for EvaluationReport {
    fn words(&self) -> String {
        let (public, private) = (self.model.public().name(), self.model.private().name());
        let words = format!("{} ({})", self.figures.words(public, private), self.basis());
        let warnings = self.warnings.iter().map(|warning| format!("WARNING: {warning}\n"));
        warnings.chain([words]).collect()
    }
}
