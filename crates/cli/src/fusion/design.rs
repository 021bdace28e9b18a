//! `undertone fusion design`: maps for every sensor, within budgets, certified.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use undertone_fusion::design::{Method, Watch};
use undertone_fusion::report::{
    NetworkReport, NetworkRequest, RequestedBudgets, ThetaCondition, ThetaReport, design_network,
};
use undertone_fusion::{Costs, Maps, Objective};

use super::connection::bundle;
use super::figures;
use super::source::ModelArgs;
use crate::failure::Failure;
use crate::input;
use crate::options;
use crate::output::{Outcome, Round, progress, rounded, save, table};

/// Choose how every sensor randomises so that the centre learns the public hypothesis and not the
/// private one.
///
/// Both budgets hold for the integers that ship: every sensor's map is a policy the kernel verified,
/// and what all outputs together say about the private hypothesis is certified over their exact joint
/// law. What no maps within the budgets can reach is printed beside what was found; --seed makes the search
/// repeatable.
///
/// Example: undertone fusion design --model examples/fusion-ga.json --information 0.18 --ldp 2 -o network.json
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    model: ModelArgs,
    /// The most that belief in the private hypothesis may move, in nats; `inf` for no limit.
    #[arg(long, value_parser = options::limit)]
    information: Option<f64>,
    /// The LDP level of every sensor's reading in each epoch, in nats; `inf` for no limit.
    #[arg(long, value_parser = options::limit)]
    ldp: Option<f64>,
    /// How many outputs every sensor has: one number, or one per sensor.
    #[arg(long, value_delimiter = ',', default_value = "2", value_parser = options::outputs)]
    outputs: Vec<usize>,
    /// How to choose the maps.
    #[arg(long, value_enum, default_value_t = Choice::Joint)]
    method: Choice,
    /// What the maps and the centre's rule are for: error (fewest wrong decisions), balanced (the same if all values were
    /// equally common), information (I(H;Z)), detection:RATE (most detections at this rate of false alarms; the first
    /// value of the public hypothesis is "nothing", any other is detected) or cost:FILE (least expected cost; a JSON
    /// matrix, one row per decision, one column per value). The default is error or, where the best rule for that would
    /// always decide the same, balanced.
    #[arg(long)]
    objective: Option<String>,
    /// Begin from this network's maps as well, which must be within the budgets: the result is not worse. Repeat it for
    /// several.
    #[arg(long, value_name = "NETWORK")]
    begin: Vec<PathBuf>,
    /// For how many epochs the private hypothesis may stay the same: the information budget is for all of them.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    epochs: u32,
    /// How many starts each search makes (default: 200 for small networks, fewer for large ones).
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    restarts: Option<u32>,
    /// Where the search's randomness begins.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Stop searching after this many seconds and take the best so far.
    #[arg(long, value_parser = options::seconds)]
    time_limit: Option<f64>,
    /// Write the network (model, policies, certificate) here.
    #[arg(short, long)]
    output: Option<PathBuf>,
    /// Write every sensor's policy into this folder.
    #[arg(long)]
    policies: Option<PathBuf>,
}

#[derive(clap::ValueEnum, Clone, Copy)]
enum Choice {
    /// Both budgets at once; never worse than ill or lip.
    Joint,
    /// Information privacy first, then LDP on its outputs, at the level promised.
    Ill,
    /// As ill, but LDP at half the level promised, as the paper prints it.
    IllHalf,
    /// As ill, with the exact level of the second stage.
    IllEta,
    /// LDP first, then information privacy on its outputs.
    Lip,
    /// LDP alone.
    Ldp,
    /// Information privacy alone.
    Infp,
    /// ILL as printed, under the printed sufficient condition; reports how much stricter that is.
    PaperTheta,
}

impl From<Choice> for Method {
    fn from(choice: Choice) -> Self {
        match choice {
            Choice::Joint => Self::Joint,
            Choice::Ill => Self::Ill,
            Choice::IllHalf => Self::IllHalf,
            Choice::IllEta => Self::IllEta,
            Choice::Lip => Self::Lip,
            Choice::Ldp => Self::Ldp,
            Choice::Infp => Self::InformationOnly,
            Choice::PaperTheta => Self::PaperTheta,
        }
    }
}

pub(super) fn run(args: &Args) -> Result<Outcome, Failure> {
    let limit = args.time_limit.map(Duration::from_secs_f64);
    let model = args.model.read()?;
    let begin = args.begin.iter().map(|path| Ok(bundle(path)?.maps_for(&model.model)?));
    let request = NetworkRequest {
        objective: args.objective.as_deref().map(objective).transpose()?,
        begin: begin.collect::<Result<Vec<Maps>, Failure>>()?,
        model,
        information: args.information,
        ldp: args.ldp,
        outputs: args.outputs.clone(),
        method: args.method.into(),
        epochs: args.epochs,
        restarts: args.restarts,
        seed: args.seed,
    };
    let bar = progress(request.steps()?, "starts");
    let begun = Instant::now();
    let watch = Watch {
        stop: &|| limit.is_some_and(|limit| begun.elapsed() >= limit),
        step: &|| bar.inc(1),
    };
    let report = design_network(&request, &watch);
    bar.finish_and_clear();
    let report = report?;
    if let Some(path) = &args.output {
        save(path, &report.bundle.to_json())?;
    }
    if let Some(folder) = &args.policies {
        figures::save_policies(folder, report.bundle.sensors(), report.bundle.policies())?;
    }
    let text = describe(&report);
    Ok(Outcome::of(&report, text))
}

/// The objective's name, or the costs in a file.
fn objective(name: &str) -> Result<Objective, Failure> {
    let Some(path) = name.strip_prefix("cost:") else {
        return name.parse().map_err(|error| Failure::usage(format!("--objective: {error}")));
    };
    let expected = "a matrix of costs, one row per decision and one column per value";
    let rows: Vec<Vec<f64>> = input::json(path.as_ref(), expected)?;
    let costs = Costs::new(rows).map_err(|error| Failure::input(format!("{path}: {error}")))?;
    Ok(Objective::Cost(costs))
}

fn describe(report: &NetworkReport) -> String {
    let RequestedBudgets { ldp, .. } = &report.requested;
    let ldp = match ldp.words().as_str() {
        "unbounded" => "no limit".to_owned(),
        level => format!("{level} nats"),
    };
    let mut text = figures::warnings(&report.warnings);
    text += &format!(
        "method {}, {} starts from seed {}; LDP budget {ldp}\n\n",
        report.method, report.restarts, report.seed
    );
    let model = report.bundle.model();
    let names = (model.public().name(), model.private().name());
    let certified = figures::nats(report.in_one_epoch());
    text += &figures::learned(&report.figures, names, &certified, &report.budget_words());
    text += &format!("\n\n{}", figures::objective(report, names.0));
    let policies = report.bundle.policies().iter();
    let readings: Vec<usize> = policies.map(|policy| policy.draft().inputs().len()).collect();
    text += &format!("\n\n{}", figures::sensors(&report.figures, &readings, &report.policies));
    text += &format!("\n\n{}", figures::repetition(&report.epochs));
    if !report.attempts.is_empty() {
        let lines = report.attempts.iter();
        let lines = lines.map(|part| vec![part.name.into(), format!("{:.6}", part.loss)]);
        let loss = match report.objective.name.as_str() {
            "error" => "error_public",
            "information" => "information, negative",
            name if name.starts_with("detection") => "missed",
            _ => "expected cost",
        };
        text += &format!("\n\n{}", table(&["part of the search", loss], lines.collect()));
    }
    if let Some(ThetaReport { kept, information, exact, factor }) = &report.theta {
        let row = |name: &str, condition: &ThetaCondition| {
            let numbers =
                [condition.coverage, condition.theta, condition.allowed, condition.spread];
            let mut row = vec![name.to_owned()];
            row.extend(numbers.map(|value| format!("{value:.6}")));
            row
        };
        let rows = vec![row("first stage", kept), row("maps at the budget", exact)];
        text += &format!(
            "\n\n{}\n\nThe first stage keeps the printed condition (9) and leaks {}. Maps that meet the \
             budget itself\nare {factor:.1} times as far apart as the condition would allow them.",
            table(&["", "c_G", "theta", "distance allowed", "distance"], rows),
            rounded(*information, Round::Up),
        );
    }
    text += &format!(
        "\n\nEvery policy and the network are verified.\nnetwork id: {}",
        report.bundle_id
    );
    text
}
