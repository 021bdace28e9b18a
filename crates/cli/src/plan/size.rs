//! How many people a survey needs.

use std::path::{Path, PathBuf};

use undertone::Answer;
use undertone::plan::{self, PlannedQuestion, Randomised, SizeGoal, SizeReport, SizeRequest};

use crate::failure::Failure;
use crate::input;
use crate::options;
use crate::output::{Outcome, nats, table};
use crate::plot::{self, SizePlot};

/// Find how many people are needed: for a half-width, to find a difference or a slope, or for a table of two questions.
///
/// Example: undertone plan size --protect ldp:1 --shares 0.8,0.2 --difference 0.05
#[derive(clap::Args)]
#[command(group(clap::ArgGroup::new("goal").required(true).args(["half_width", "difference", "slope"])))]
#[command(group(clap::ArgGroup::new("how").required(true).args(["policy", "protect"])))]
pub(super) struct Args {
    /// The policy that will randomise the answers.
    #[arg(long)]
    policy: Option<PathBuf>,
    /// What a policy must keep, in place of one: ldp:E or lip:E (repeatable); the best for shares is reckoned with.
    #[arg(long)]
    protect: Vec<String>,
    /// The expected share of each answer, in the policy's order.
    #[arg(long, value_delimiter = ',', required = true)]
    shares: Vec<f64>,
    /// Every share within this of the truth; with --with-policy or --with-protect, every cell of the table.
    #[arg(long)]
    half_width: Option<f64>,
    /// A difference between two groups of equal size in the share of --symbol.
    #[arg(long)]
    difference: Option<f64>,
    /// A slope of the log-odds of the last answer, per standard deviation of a covariate in the clear.
    #[arg(long)]
    slope: Option<f64>,
    /// Whose share differs between the groups; the last answer's if it is not given.
    #[arg(long, requires = "difference")]
    symbol: Option<String>,
    /// The policy of a second question, for a table of both.
    #[arg(long, requires_all = ["half_width", "with_shares"], conflicts_with = "with_protect")]
    with_policy: Option<PathBuf>,
    /// What the second question's policy must keep.
    #[arg(long, requires_all = ["half_width", "with_shares"])]
    with_protect: Vec<String>,
    /// The expected share of each answer to the second question.
    #[arg(long, value_delimiter = ',')]
    with_shares: Vec<f64>,
    /// The confidence of intervals; the significance of a test is the rest.
    #[arg(long, default_value = "0.95", value_parser = options::between_0_and_1)]
    level: f64,
    /// The chance of finding the difference or the slope.
    #[arg(long, default_value = "0.8", value_parser = options::between_0_and_1, conflicts_with = "half_width")]
    power: f64,
    /// Draw what other numbers of people reach as an SVG picture.
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
}

pub(super) fn run(args: &Args) -> Result<Outcome, Failure> {
    let question = question(args.policy.as_deref(), &args.protect, &args.shares)?;
    let goal = match (args.half_width, args.difference, args.slope) {
        (Some(width), _, _) if !args.with_shares.is_empty() => {
            let with = (args.with_policy.as_deref(), &args.with_protect);
            if with.0.is_none() && with.1.is_empty() {
                return Err(Failure::usage("--with-shares needs --with-policy or --with-protect"));
            }
            SizeGoal::CellHalfWidth(width, self::question(with.0, with.1, &args.with_shares)?)
        }
        (Some(width), _, _) => SizeGoal::HalfWidth(width),
        (None, Some(difference), _) => {
            SizeGoal::Difference { difference, symbol: args.symbol.clone() }
        }
        (None, None, Some(slope)) => SizeGoal::Slope(slope),
        (None, None, None) => {
            return Err(Failure::usage("give --half-width, --difference or --slope"));
        }
    };
    let request = SizeRequest { question, goal, level: args.level, power: args.power };
    let report = plan::size(&request)?;
    let mut text = shown(&report);
    if let Some(path) = &args.plot {
        plot::save(path, &picture(&report)?)?;
        text += &format!("\n\npicture written to {}", path.display());
    }
    Ok(Outcome::of(&report, text))
}

fn question(
    policy: Option<&Path>,
    protect: &[String],
    shares: &[f64],
) -> Result<PlannedQuestion, Failure> {
    let randomised = match policy {
        Some(path) => Randomised::Policy(Box::new(input::policy(path)?)),
        None => {
            let parsed = protect.iter().map(|text| text.parse()).collect::<Result<_, _>>()?;
            Randomised::Promise(parsed)
        }
    };
    Ok(PlannedQuestion { randomised, shares: shares.to_vec() })
}

/// Every few points of the curve.
const STEP: usize = 4;

fn shown(report: &SizeReport) -> String {
    let rows = report
        .curve
        .iter()
        .step_by(STEP)
        .map(|point| vec![point.n.to_string(), nats((point.reached * 1e4).round() / 1e4)]);
    let reached = report.curve_of.replace('_', "-");
    format!("{}\n\n{}", report.words(), table(&["people", &reached], rows.collect()))
}

fn picture(report: &SizeReport) -> Result<String, Failure> {
    plot::size(&SizePlot {
        title: format!("{} people are needed {}", report.needed_n, report.goal),
        reached: report.curve_of.replace('_', "-"),
        points: report.curve.iter().map(|point| (point.n as f64, point.reached)).collect(),
        needed: report.needed_n as f64,
    })
}
