//! `undertone fusion crowd`: maps for very many sensors of a few kinds.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use undertone_fusion::design::Watch;
use undertone_fusion::report::{CrowdReport, CrowdRequest, KindReport, design_crowd};

use super::figures;
use super::source::ModelArgs;
use crate::failure::Failure;
use crate::options;
use crate::output::{Outcome, progress, save, table};

/// Choose how tens or hundreds of sensors of a few kinds randomise.
///
/// Sensors with the same laws are interchangeable: they get the same map of two outputs, or say nothing, and what they say
/// together depends on how many sent a one. So the error of the public hypothesis and what is told of the private one are
/// found by going through counts instead of vectors of outputs, which is as exact: 201 counts for 200 sensors. In the
/// model's file a sensor stands for many with a `count`, as in {"name": "heat", "count": 30, "given": [..]}; there are at
/// most 256 in all. Maps are for the fewest wrong decisions: there is no --objective here.
///
/// Example: undertone fusion crowd --model examples/fusion-crowd.json --information 0.5 --ldp 1 -o network.json
#[derive(clap::Args)]
pub(super) struct Args {
    /// The most that belief in the private hypothesis may move in one epoch, in nats; `inf` for no limit.
    #[arg(long, value_parser = options::limit)]
    information: Option<f64>,
    /// The LDP level of every sensor's reading in each epoch, in nats; `inf` for no limit.
    #[arg(long, value_parser = options::limit)]
    ldp: Option<f64>,
    /// How many starts the search makes.
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    restarts: u32,
    /// Where the search's randomness begins.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Stop searching after this many seconds and take the best so far.
    #[arg(long, value_parser = options::seconds)]
    time_limit: Option<f64>,
    /// Write the network (model, policies, certificate) here.
    #[arg(short, long)]
    output: Option<PathBuf>,
    // Last and apart, so that they do not hide the few options above.
    #[command(flatten, next_help_heading = "The sensors: --model, or --samples with its columns")]
    model: ModelArgs,
}

pub(super) fn run(args: &Args) -> Result<Outcome, Failure> {
    let request = CrowdRequest {
        model: args.model.read()?,
        information: args.information,
        ldp: args.ldp,
        restarts: args.restarts,
        seed: args.seed,
    };
    let bar = progress(request.steps(), "starts");
    let limit = args.time_limit.map(Duration::from_secs_f64);
    let begun = Instant::now();
    let watch = Watch {
        stop: &|| limit.is_some_and(|limit| begun.elapsed() >= limit),
        step: &|| bar.inc(1),
    };
    let report = design_crowd(&request, &watch);
    bar.finish_and_clear();
    let report = report?;
    if let Some(path) = &args.output {
        save(path, &report.bundle.to_json())?;
    }
    let text = describe(&report);
    Ok(Outcome::of(&report, text))
}

fn describe(report: &CrowdReport) -> String {
    let model = report.bundle.model();
    let names = (model.public().name(), model.private().name());
    let mut text = figures::warnings(&report.warnings);
    let known = if report.exact { "exact, by counts" } else { "a bound" };
    let about = format!("in one epoch, {known}; budget {} nats", report.budget.words());
    text += &figures::learned(&report.figures, names, &report.figures.information.words(), &about);
    let row = |kind: &KindReport| {
        vec![
            kind.first.clone(),
            kind.sensors.to_string(),
            kind.active.to_string(),
            kind.ones.len().to_string(),
            kind.ldp.words(),
            kind.policy.chars().take(16).collect(),
        ]
    };
    let header = ["kind (first)", "sensors", "speak", "readings", "ldp", "policy"];
    text += &format!("\n\n{}", table(&header, report.kinds.iter().map(row).collect()));
    text += &format!(
        "\n\nEvery policy and the network are verified.\nnetwork id: {}",
        report.bundle_id
    );
    text
}
