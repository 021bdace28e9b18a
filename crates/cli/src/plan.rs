//! `undertone plan`: several data of one person under one promise, and how many people a survey needs.

mod size;

use std::path::{Path, PathBuf};

use undertone::Answer;
use undertone::number::decimal;
use undertone::plan::{
    self, JointLaw, NamedPromise, PersonLevel, PlanDesign, PlanReport, PlanRequest, QuestionList,
};
use undertone_core::Nats;

use crate::failure::Failure;
use crate::input;
use crate::options;
use crate::output::{Outcome, Round, nats, save, table};

/// Design a plan for several questions under one promise about the person, re-check one, show it, or find how many people a
/// survey needs.
///
/// Example: undertone plan design --questions questions.json --person ldp:2 -o plan.json
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(clap::Subcommand)]
enum Action {
    Design(Box<DesignArgs>),
    Size(Box<size::Args>),
    /// Re-check every policy and every claim exactly; exit 1 with the items and answers at fault if one is false.
    ///
    /// Example: undertone plan verify plan.json
    Verify {
        /// The plan document; `-` reads standard input.
        plan: PathBuf,
    },
    /// Show the items, what each costs, and what an observer of everything one person sends can learn.
    ///
    /// Example: undertone plan show plan.json
    Show {
        /// The plan document; `-` reads standard input.
        plan: PathBuf,
    },
}

/// Choose levels, who answers what, and which answers are randomised together, so that the shares' errors are least within
/// a promise about the person.
///
/// Example: undertone plan design --questions questions.json --person ldp:2 --joint joint.json --secret diagnosis=lip:0.5
#[derive(clap::Args)]
struct DesignArgs {
    /// The questions: {"questions": [{"name": "smokes", "answers": ["no", "yes"], "shares": [0.8, 0.2], "weight": 1}, ...],
    /// "pairs": [["smokes", "age"]]}; a question may also have a "wording". "shares" are what you expect and only steer the design;
    /// a "prior" in their place goes into the plan, and promises about beliefs hold under it. Both may be by name. A pair takes the
    /// place of its two questions in what is minimised.
    #[arg(long)]
    questions: PathBuf,
    /// LDP of everything one person sends, in all periods: ldp:2.
    #[arg(long, value_name = "ldp:E")]
    person: String,
    /// A joint law of the answers and of secrets: {"points": [...]}, {"tree": {...}} or {"independent": {...}};
    /// examples/plan-joint.json is one, and docs/tour-plan.md explains it.
    #[arg(long)]
    joint: Option<PathBuf>,
    /// How far belief in a secret may move, given everything the person sends: NAME=lip:0.5 (repeatable).
    #[arg(long, value_name = "NAME=lip:E")]
    secret: Vec<NamedPromise>,
    /// How far belief in an answer may move, given everything the person sends: NAME=lip:0.7 (repeatable).
    #[arg(long, value_name = "NAME=lip:E")]
    question: Vec<NamedPromise>,
    /// How many people half-widths are for.
    #[arg(long, default_value = "1000", value_parser = options::count)]
    people: usize,
    /// Reports of one answer in a period, drawn afresh from a memo that is kept for the period.
    #[arg(long, value_parser = options::count)]
    reports: Option<usize>,
    /// The level of one such report of everything; half of a period's level if it is not given.
    #[arg(long, value_name = "ldp:E", requires = "reports")]
    first_report: Option<String>,
    /// How many times the plan is answered in all.
    #[arg(long, default_value_t = 1)]
    periods: u32,
    /// A pair of questions whose answers are counted together: NAME,NAME (repeatable).
    #[arg(long, value_name = "NAME,NAME")]
    pairs: Vec<String>,
    /// Where questions and law come from, written into the plan (default: the names of their files).
    #[arg(long, value_name = "TEXT")]
    source: Option<String>,
    /// Write the plan document here.
    #[arg(short, long)]
    output: Option<PathBuf>,
}

pub(crate) fn run(args: &Args) -> Result<Outcome, Failure> {
    match &args.action {
        Action::Design(args) => design(args),
        Action::Size(args) => size::run(args),
        Action::Verify { plan } => {
            let report = plan::verify(input::plan_draft(plan)?);
            let text = report.words();
            Ok(Outcome::of(&report, text))
        }
        Action::Show { plan } => {
            let report = plan::verify(input::plan_draft(plan)?);
            let text = shown(&report);
            Ok(Outcome::of(&report, text))
        }
    }
}

fn design(args: &DesignArgs) -> Result<Outcome, Failure> {
    let mut questions = QuestionList::read(&name(&args.questions), &input::text(&args.questions)?)?;
    for pair in &args.pairs {
        let problem = |problem: String| Failure::usage(format!("--pairs: {problem}"));
        let (one, other) = pair
            .split_once(',')
            .ok_or_else(|| problem(format!("{pair:?} is no pair: write NAME,NAME")))?;
        questions.add_pair(one, other).map_err(problem)?;
    }
    let joint = match &args.joint {
        Some(path) => Some(JointLaw::read(&name(path), &input::text(path)?, &questions)?),
        None => None,
    };
    let first_report = args.first_report.as_deref().map(first_report).transpose()?;
    let request = PlanRequest {
        joint,
        beliefs: args.question.clone(),
        secrets: args.secret.clone(),
        people: args.people as u64,
        reports: args.reports.map(|reports| reports as u64),
        first_report,
        periods: args.periods,
        source: args.source.clone().unwrap_or_else(|| source(args)),
        ..PlanRequest::new(questions, args.person.parse::<PersonLevel>()?)
    };
    let report = plan::design(&request)?;
    let mut text = designed(&report);
    match &args.output {
        Some(path) => {
            save(path, &report.plan.to_json())?;
            text += &format!("\n\nwrote {}", path.display());
        }
        None => text += "\n\nnothing was written: -o PLAN.json keeps the plan",
    }
    Ok(Outcome::of(&report, text))
}

fn first_report(text: &str) -> Result<Nats, Failure> {
    let PersonLevel(nats) = text
        .parse::<PersonLevel>()
        .map_err(|_| Failure::usage(format!("--first-report is {text:?}: write ldp:0.5")))?;
    Ok(nats)
}

fn name(path: &Path) -> String {
    path.display().to_string()
}

/// Where the law comes from: the files' own names, which are the same on every machine.
fn source(args: &DesignArgs) -> String {
    let name = |path: &PathBuf| path.file_name().map(|name| name.to_string_lossy().into_owned());
    let files = std::iter::once(&args.questions).chain(&args.joint).filter_map(name);
    files.collect::<Vec<_>>().join(", ")
}

/// Items and questions that are listed one by one.
const LISTED: usize = 16;
/// Answers that are named.
const ANSWERS: usize = 5;

fn designed(report: &PlanDesign) -> String {
    let short = |value: f64| nats(decimal(value, Round::Nearest, 4));
    let percent = |part: f64| format!("{} %", nats(decimal(100.0 * part, Round::Nearest, 3)));
    // The widest that says anything about a share.
    let points = |width: f64| match width < 0.5 {
        true => nats(decimal(100.0 * width, Round::Up, 3)),
        false => "50 or more: the shares stay unknown".into(),
    };
    let level = |nats: Option<Nats>| nats.map_or("unbounded".into(), |nats| nats.to_string());
    let questions = report.half_widths.iter().map(|(name, width)| {
        vec![name.clone(), percent(report.reach[name]), format!("± {}", points(*width))]
    });
    let width = format!("95 % half-width in points, {} people", report.people);
    let questions = table(&["question", "asked of", &width], questions.collect());
    let items = report.items.iter().take(LISTED).map(|item| {
        vec![
            item.name.clone(),
            item.symbols.to_string(),
            level(item.attained),
            item.mechanism.to_owned(),
            percent(item.chance),
        ]
    });
    let header = ["item", "symbols", "LDP", "randomised by", "asked of"];
    let mut items = table(&header, items.collect());
    if report.items.len() > LISTED {
        items += &format!("\nand {} more items", report.items.len() - LISTED);
    }
    let compared = [
        ("this plan", Some(report.objective)),
        ("equal splitting", report.compared.equal_split),
        ("one question each", report.compared.one_each),
        ("best combined symbol", report.compared.combined),
        ("fake answers (RS+FD), this LDP of the person", report.compared.rs_fd),
        ("nobody gets below", Some(report.bound)),
        ("answers in the clear", Some(report.in_the_clear)),
    ];
    let compared = compared
        .map(|(name, value)| vec![name.to_owned(), value.map_or("cannot do this".into(), short)]);
    let compared = table(&["", "weighted sum of people × variance"], compared.to_vec());
    format!("{}\n\n{questions}\n\n{items}\n\n{compared}", report.words())
}

fn shown(report: &PlanReport) -> String {
    let level = |nats: Option<Nats>| nats.map_or("unbounded".into(), |nats| nats.to_string());
    // Where no reports repeat, one report is all there is.
    let repeats = report.items.iter().any(|item| item.first_report != item.attained);
    let items = report.items.iter().take(LISTED).map(|item| {
        let drawn = match item.weight {
            0 => "everybody".to_owned(),
            _ => format!("{} % of people", nats(decimal(100.0 * item.chance, Round::Nearest, 3))),
        };
        let mut row = vec![item.name.clone(), item.shape.to_owned(), drawn, level(item.attained)];
        row.extend(repeats.then(|| level(item.first_report)));
        row
    });
    let mut header = vec!["item", "shape", "answered by", "LDP"];
    header.extend(repeats.then_some("LDP of one report"));
    let items = table(&header, items.collect());
    let mut text = format!("{}\n\n{}\n\n{items}", report.words(), questions(report));
    if report.items.len() > LISTED {
        text += &format!("\nand {} more items", report.items.len() - LISTED);
    }
    text
}

/// The questions and their answers, so that a reader knows what is asked.
fn questions(report: &PlanReport) -> String {
    let Some(plan) = &report.plan else { return String::new() };
    let parts = plan.parts();
    let question = |question: &undertone_core::Question| {
        let answers = &question.answers;
        let listed = (0..answers.len().min(ANSWERS)).map(|x| answers.label(x));
        let mut listed = listed.collect::<Vec<_>>().join(", ");
        if answers.len() > ANSWERS {
            listed += &format!(", ... ({} answers)", answers.len());
        }
        vec![question.name.clone(), question.wording.clone(), listed]
    };
    let rows = parts.questions.iter().take(LISTED).map(question).collect();
    let mut text = table(&["question", "wording", "answers"], rows);
    if parts.questions.len() > LISTED {
        text += &format!("\nand {} more questions", parts.questions.len() - LISTED);
    }
    text
}
