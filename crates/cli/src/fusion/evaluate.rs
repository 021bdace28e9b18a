//! `undertone fusion evaluate`: what the centre learns under given maps.

use std::path::{Path, PathBuf};

use undertone_design::Channel;
use undertone_fusion::Maps;
use undertone_fusion::report::{
    EvaluationReport, EvaluationRequest, EvaluationSubject, HeldOutReport, NetworkLaw, evaluate,
};

use super::connection::bundle;
use super::figures;
use super::source::ModelArgs;
use crate::failure::Failure;
use crate::input;
use crate::options;
use crate::output::{Outcome, Round, nats, rounded, table};
use crate::plot;

/// Say what the centre learns of the public hypothesis, of the private one and of every reading.
///
/// A network file is verified first: every policy by the kernel, the certificate by computing it anew.
/// With --model its maps are judged under that law instead of the network's own, which is how to see what
/// a wrong model costs. With --samples they are judged by labelled samples, read with the network's own
/// levels: what the centre's rule gets wrong, what an attacker learns, and what can be guaranteed if the
/// samples had no part in making the network.
///
/// Example: undertone fusion evaluate network.json
#[derive(clap::Args)]
pub(super) struct Args {
    /// A network, as `fusion design -o` writes it.
    #[arg(conflicts_with = "maps", required_unless_present = "maps")]
    network: Option<PathBuf>,
    /// Maps to evaluate instead: a list of matrices, one per sensor, one row per reading.
    #[arg(long)]
    maps: Option<PathBuf>,
    #[command(flatten)]
    model: ModelArgs,
    /// How sure a guarantee from samples is to be.
    #[arg(long, default_value = "0.95", value_parser = options::between_0_and_1)]
    confidence: f64,
    /// Where the randomness of drawn outputs begins.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Draw what is learned here, as SVG.
    #[arg(long)]
    plot: Option<PathBuf>,
}

pub(super) fn run(args: &Args) -> Result<Outcome, Failure> {
    let subject = match (&args.network, &args.maps) {
        (Some(path), _) => {
            let bundle = bundle(path)?;
            let under = match args.model.samples.table()? {
                Some(table) => NetworkLaw::Samples(table),
                None if args.model.given() => NetworkLaw::Model(args.model.read()?.model),
                None => NetworkLaw::Own,
            };
            EvaluationSubject::Network { bundle, under }
        }
        (None, Some(path)) => EvaluationSubject::Maps {
            name: path.display().to_string(),
            model: args.model.read()?.model,
            maps: maps(path)?,
        },
        (None, None) => {
            return Err(Failure::usage("give a network file, or --maps with --model"));
        }
    };
    let (confidence, seed) = (args.confidence, args.seed);
    let report = evaluate(&EvaluationRequest { subject, confidence, seed })?;
    if let Some(path) = &args.plot {
        plot::save(path, &picture(&report)?)?;
    }
    let text = describe(&report);
    Ok(Outcome::of(&report, text))
}

fn maps(path: &Path) -> Result<Maps, Failure> {
    let expected = "a list of matrices, one per sensor, one row per reading";
    let matrices: Vec<Vec<Vec<f64>>> = input::json(path, expected)?;
    let channels = matrices.into_iter().map(Channel::new).collect::<Result<_, _>>();
    channels.and_then(Maps::new).map_err(|error| {
        Failure::input(format!("{}: {error}; expected {expected}", path.display()))
    })
}

fn describe(report: &EvaluationReport) -> String {
    let model = &report.model;
    let names = (model.public().name(), model.private().name());
    let information = report.figures.information.words();
    let mut text = figures::warnings(&report.warnings);
    text += &figures::learned(&report.figures, names, &information, report.basis());
    if let Some(rule) = &report.rule {
        text += &format!(
            "\n\nThe centre decides for {}: wrong in {:.6} of its decisions, false alarms {:.6}, detections {:.6}.",
            report.network.as_ref().map_or("error".into(), |network| network.objective.to_string()),
            rule.error,
            rule.false_alarm,
            rule.detection
        );
    }
    let readings: Vec<usize> = model.sensors().iter().map(|sensor| sensor.inputs()).collect();
    let sensors = figures::sensors(&report.figures, &readings, &report.policies);
    let Some(network) = &report.network else { return format!("{text}\n\n{sensors}") };
    if let Some(seen) = &network.held_out {
        text += &format!("\n\n{}", held_out(seen));
    }
    text += &format!("\n\n{sensors}");
    if let Some(epochs) = &network.epochs {
        text += &format!("\n\n{}", figures::repetition(epochs));
    }
    text + &format!(
        "\n\nmethod {}, model {}; every policy and the network are verified.\nnetwork id: {}",
        network.method, network.source, network.bundle_id
    )
}

fn held_out(seen: &HeldOutReport) -> String {
    let row = |what: &str, value: String, about: String| vec![what.into(), value, about];
    let share = |value: f64| format!("{value:.6}");
    let blindly = |value: f64| format!("blindly {value:.6}");
    let (units, examined) =
        (if seen.in_sequences { "sequences" } else { "samples" }, &seen.examined);
    let learned = || "learned from half of the samples".to_owned();
    let bound = &examined.leakage_ucb;
    let rows = vec![
        row("H, the centre", share(seen.rule_error_public), blindly(seen.blind_public)),
        row("H, trees", share(examined.attacker_public), learned()),
        row("G, the centre", share(seen.rule_error_private), blindly(seen.blind_private)),
        row("G, trees", share(examined.attacker_private), learned()),
        row(
            "counted",
            rounded(examined.counted, Round::Up),
            "ST20 (12), from drawn outputs".into(),
        ),
        row(
            "averaged",
            examined.averaged.map_or("-".into(), nats),
            "over the maps' randomness".into(),
        ),
        row(
            "guarantee",
            rounded(bound.nats, Round::Up),
            format!(
                "with confidence {} from {} {units}, if they had no part in making the network and are independent",
                bound.confidence, bound.units
            ),
        ),
    ];
    table(&["held out", "value", ""], rows)
}

/// Errors about H and G: of the law, of the centre's rule, of the attacker; and what each sensor tells.
fn picture(report: &EvaluationReport) -> Result<String, Failure> {
    let (seen, model) = (&report.figures, &report.model);
    let row = |label: &str, values: [f64; 2], note: &str| plot::Dots {
        label: label.into(),
        values: values.to_vec(),
        note: note.into(),
    };
    let mut rows = vec![row("Bayes", [seen.error_public, seen.error_private], "best possible")];
    if let Some(judged) = report.network.as_ref().and_then(|network| network.held_out.as_ref()) {
        let rule = [judged.rule_error_public, judged.rule_error_private];
        rows.push(row("the centre", rule, "on drawn outputs"));
        let trees = [judged.examined.attacker_public, judged.examined.attacker_private];
        rows.push(row("trees", trees, "learned from labelled outputs"));
    }
    let level = match report.information_computed {
        nats if nats.is_finite() => format!("information {nats:.3} nats"),
        _ => "information unbounded".into(),
    };
    plot::dots(&plot::DotPlot {
        title: format!(
            "Public {} and private {}: {} sensors, {level}",
            model.public().name(),
            model.private().name(),
            model.sensors().len()
        ),
        axis: "how often the guess is wrong".into(),
        series: vec!["public hypothesis".into(), "private hypothesis".into()],
        rows,
        marks: vec![("H blind".into(), seen.blind_public), ("G blind".into(), seen.blind_private)],
    })
}
