//! Sensor networks, asked with documents as JSON text and answered as JSON text.

use std::time::{Duration, Instant};

use pyo3::prelude::*;
use undertone::{Answer, Error as Trouble, document};
use undertone_design::Channel;
use undertone_fusion::codebook::Spacing;
use undertone_fusion::design::{Method, Watch};
use undertone_fusion::learn::Settings;
use undertone_fusion::learn::prepare::Recipe;
use undertone_fusion::learn::split::Plan;
use undertone_fusion::report::{
    EvaluationRequest, EvaluationSubject, FusionModel, NetworkLaw, NetworkRequest, TrainRequest,
    check_budgets, design_network, evaluate, train,
};
use undertone_fusion::table::TableSpec;
use undertone_fusion::{Bundle, Costs, Maps, Model, Objective, model};

use crate::ask::{asked, optional_whole, whole};

fn read_model(text: &str) -> Result<Model, Trouble> {
    document::read("model", text, model::read)
}

/// Ends a search after so many seconds.
fn limit(seconds: Option<f64>) -> Result<Option<Duration>, Trouble> {
    let inside = |seconds: f64| seconds > 0.0 && seconds < 1e9;
    match seconds {
        Some(seconds) if !inside(seconds) => {
            let problem = format!("is {seconds}: give a number of seconds above 0, below 1e9");
            Err(Trouble::field("time_limit", problem))
        }
        seconds => Ok(seconds.map(Duration::from_secs_f64)),
    }
}

/// Maps for every sensor, within budgets: the answer, and the network that sensors and centre share.
#[pyfunction]
#[pyo3(signature = (model, *, information = None, ldp = None, outputs, method, epochs = 1, restarts = None, seed = 1, time_limit = None, objective = None, costs = None, begin))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn fusion_design(
    py: Python<'_>,
    model: &str,
    information: Option<f64>,
    ldp: Option<f64>,
    outputs: Vec<i64>,
    method: &str,
    epochs: i64,
    restarts: Option<i64>,
    seed: u64,
    time_limit: Option<f64>,
    objective: Option<String>,
    costs: Option<Vec<Vec<f64>>>,
    begin: Vec<String>,
) -> PyResult<(String, String)> {
    asked(py, || {
        let named = objective.map(|name| name.parse::<Objective>());
        let named =
            named.transpose().map_err(|error| Trouble::field("objective", format!(": {error}")))?;
        let objective = match (named, costs) {
            (Some(_), Some(_)) => {
                return Err(Trouble::usage("give an objective by name, or costs, and not both"));
            }
            (_, Some(rows)) => Some(Objective::Cost(Costs::new(rows)?)),
            (named, None) => named,
        };
        let model = read_model(model)?;
        let begin = begin.iter().map(|text| {
            let network = document::read("begin", text, Bundle::from_json)?;
            Ok(network.maps_for(&model)?)
        });
        let begin = begin.collect::<Result<Vec<Maps>, Trouble>>()?;
        let method = method.parse::<Method>().map_err(Trouble::usage)?;
        check_budgets(method, information, ldp)?;
        let limit = limit(time_limit)?;
        let outputs = outputs.iter().map(|&count| whole("outputs", count));
        let request = NetworkRequest {
            information,
            ldp,
            outputs: outputs.collect::<Result<_, _>>()?,
            method,
            epochs: whole("epochs", epochs)?,
            restarts: optional_whole("restarts", restarts)?,
            seed,
            objective,
            begin,
            model: FusionModel::assumed(model, "a model from Python"),
        };
        let begun = Instant::now();
        let stop = || limit.is_some_and(|limit| begun.elapsed() >= limit);
        let report = design_network(&request, &Watch { stop: &stop, step: &|| {} })?;
        Ok((report.json().to_string(), report.bundle.to_json()))
    })
}

/// What the centre learns under a network's maps, or under given ones and a model.
#[pyfunction]
#[pyo3(signature = (*, network = None, maps = None, model = None))]
pub(crate) fn fusion_evaluate(
    py: Python<'_>,
    network: Option<String>,
    maps: Option<String>,
    model: Option<String>,
) -> PyResult<String> {
    asked(py, || {
        let model = model.map(|text| read_model(&text)).transpose()?;
        let subject = match (network, maps, model) {
            (Some(text), None, model) => EvaluationSubject::Network {
                bundle: document::read("network", &text, Bundle::from_json)?,
                under: model.map_or(NetworkLaw::Own, NetworkLaw::Model),
            },
            (None, Some(text), Some(model)) => {
                let expected = "a list of matrices, one per sensor, one row per reading";
                let matrices: Vec<Vec<Vec<f64>>> = document::json("maps", &text, expected)?;
                let channels = matrices.into_iter().map(Channel::new).collect::<Result<_, _>>();
                let maps = channels.and_then(Maps::new);
                let maps = maps.map_err(|error| Trouble::input(format!("maps: {error}")))?;
                EvaluationSubject::Maps { name: "maps".into(), model, maps }
            }
            _ => {
                return Err(Trouble::usage(
                    "give a network, perhaps with another model, or maps with a model",
                ));
            }
        };
        Ok(evaluate(&EvaluationRequest::new(subject))?.json().to_string())
    })
}

fn spec(
    public: &str,
    private: &[String],
    sensors: &[String],
    sequence: &[String],
) -> Result<TableSpec, Trouble> {
    let sequence = sequence.to_vec();
    Ok(TableSpec { sequence, ..TableSpec::parse(public, private, sensors)? })
}

/// The columns that training reads, in the order in which it takes their cells.
#[pyfunction]
pub(crate) fn fusion_columns(
    py: Python<'_>,
    public: &str,
    private: Vec<String>,
    sensors: Vec<String>,
    sequence: Vec<String>,
) -> PyResult<Vec<String>> {
    asked(py, || {
        let spec = spec(public, &private, &sensors, &sequence)?;
        Ok(spec.columns().into_iter().map(str::to_owned).collect())
    })
}

/// Maps learned from labelled samples, judged on samples held out: the answer, and the first network that ships.
#[pyfunction]
#[pyo3(signature = (cells, *, public, private, sensors, sequence, methods, ldp, outputs, levels, cut, keep, hold_out, train_most, test_most, balance, confidence, ratio, slack, ridge, kernel, loss, restarts, seed, time_limit))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn fusion_train(
    py: Python<'_>,
    cells: Vec<Vec<String>>,
    public: &str,
    private: Vec<String>,
    sensors: Vec<String>,
    sequence: Vec<String>,
    methods: Vec<String>,
    ldp: f64,
    outputs: i64,
    levels: i64,
    cut: &str,
    keep: Option<i64>,
    hold_out: f64,
    train_most: Option<i64>,
    test_most: Option<i64>,
    balance: bool,
    confidence: f64,
    ratio: f64,
    slack: f64,
    ridge: f64,
    kernel: &str,
    loss: &str,
    restarts: i64,
    seed: u64,
    time_limit: Option<f64>,
) -> PyResult<(String, Option<String>)> {
    asked(py, || {
        let limit = limit(time_limit)?;
        let spacing = match cut {
            "equal" => Spacing::Equal,
            "quantiles" => Spacing::Quantiles,
            _ => {
                let problem = format!("is {cut:?}: use equal or quantiles");
                return Err(Trouble::field("cut", problem));
            }
        };
        let plan = Plan {
            share: hold_out,
            train: optional_whole("train", train_most)?,
            test: optional_whole("test", test_most)?,
            balance,
            seed,
        };
        let request = TrainRequest {
            table: spec(public, &private, &sensors, &sequence)?.rows("samples", cells)?,
            source: "a table from Python".into(),
            recipe: Recipe {
                plan,
                levels: whole("levels", levels)?,
                spacing,
                keep: optional_whole("keep", keep)?,
            },
            methods: TrainRequest::methods(&methods)?,
            settings: Settings {
                outputs: whole("outputs", outputs)?,
                ldp,
                ratio,
                slack,
                ridge,
                restarts: whole("restarts", restarts)?,
                seed,
                kernel: TrainRequest::kernel(kernel)?,
                loss: TrainRequest::loss(loss)?,
                ..Settings::default()
            },
            confidence,
        };
        let begun = Instant::now();
        let stop = || limit.is_some_and(|limit| begun.elapsed() >= limit);
        let report = train(&request, &Watch { stop: &stop, step: &|| {} }, &|_| {})?;
        let network = report.network()?.map(Bundle::to_json);
        Ok((report.json().to_string(), network))
    })
}
