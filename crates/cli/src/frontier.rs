//! `undertone frontier`: what LIP and LDP cost together.

use std::fmt::Write;
use std::path::PathBuf;

use serde_json::{Value, json};
use undertone_core::Ratio;
use undertone_design::designer::{self, Method, Outcome as Found};
use undertone_design::objective::Objective;
use undertone_design::price;

use crate::curve::levels;
use crate::design::{ContextArgs, Known, objective, request};
use crate::failure::Failure;
use crate::output::{
    Outcome, Round, nats, number, optional, optional_at_most, rounded, save, table,
};
use crate::plot::{Curves, Series, curves};
use undertone::number as numbers;

/// Draw what a policy is worth that promises LIP and LDP at once.
///
/// Every point is a verified policy. For every LDP level it says from which LIP level on the LIP claim costs
/// nothing, because the LDP optimum already satisfies it. With --joint, LIP is of the secret and LDP of the data.
///
/// Example: undertone frontier --prior prior.json --lip 0.25:2:0.25 --ldp 0.5,1,1.5,2 --plot frontier.svg
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    context: ContextArgs,
    /// What it is for: frequency (the default), squared (the default for numbers), absolute, hamming, matrix:FILE, mmse, mi
    /// or nmi.
    #[arg(long)]
    objective: Option<String>,
    /// The symbols' values for absolute, squared and mmse; by default 0,1,2,...
    #[arg(long, value_delimiter = ',', allow_negative_numbers = true)]
    values: Vec<f64>,
    /// The LIP levels: from:to:step, or a list.
    #[arg(long, default_value = "0.25:2.5:0.25")]
    lip: String,
    /// The LDP levels, likewise; LIP alone is always drawn too.
    #[arg(long, default_value = "0.5,1,1.5,2,3")]
    ldp: String,
    /// Write the points here as CSV.
    #[arg(short, long)]
    output: Option<PathBuf>,
    /// Draw them into this SVG file.
    #[arg(long)]
    plot: Option<PathBuf>,
}

/// A verified design and what it attains.
struct Point {
    utility: Option<f64>,
    lip: Option<f64>,
    ldp: Option<f64>,
    policy: String,
}

/// All designs with the same LDP claim, or with none.
struct Line {
    ldp: Option<f64>,
    /// The design with the LDP claim alone.
    alone: Option<Point>,
    /// One per LIP level.
    points: Vec<Point>,
    /// For every LIP level, whether the LIP claim costs nothing beside the LDP claim.
    free: Vec<bool>,
}

impl Line {
    fn name(&self) -> String {
        self.ldp.map_or("LIP alone".into(), |level| format!("with LDP {}", nats(level)))
    }
}

pub(crate) fn run(args: &Args) -> Result<Outcome, Failure> {
    let lips = levels("--lip", &args.lip)?;
    let ldps = levels("--ldp", &args.ldp)?;
    let known = args.context.read()?;
    let goal = objective(args.objective.as_deref(), &args.values, &known)?;
    let blind = goal.blind(&known.prior)?;
    let steps = (lips.len() + 1) * (ldps.len() + 1);
    let progress = crate::output::progress(steps as u64, "designs");
    let mut lines = Vec::new();
    for ldp in ldps.iter().copied().map(Some).chain([None]) {
        let extra = ldp.map(|level| format!("input:ldp:{level:.10}"));
        let design = |lip: Option<f64>| {
            let lip = lip.map(|level| format!("lip:{level:.10}"));
            let protect: Vec<String> = lip.into_iter().chain(extra.clone()).collect();
            let found = point(&known, &goal, &protect);
            progress.inc(1);
            found
        };
        let alone = extra.as_ref().map(|_| design(None)).transpose()?;
        let points = lips.iter().map(|&lip| design(Some(lip))).collect::<Result<Vec<_>, _>>()?;
        let best = alone.as_ref().and_then(|point| point.utility);
        let free = |point: &Point| match (point.utility, best) {
            (Some(both), Some(alone)) => price::same(both, alone, blind),
            _ => false,
        };
        let free = points.iter().map(free).collect();
        lines.push(Line { ldp, alone, points, free });
    }
    progress.finish_and_clear();
    let csv = csv(&lips, &lines);
    if let Some(path) = &args.output {
        save(path, &csv)?;
    }
    if let Some(path) = &args.plot {
        save(path, &curves(&picture(&goal, &lips, &lines))?)?;
    }
    let rows: Vec<Value> = lines.iter().flat_map(|line| rows(&lips, line)).collect();
    let summary: Vec<Value> = lines.iter().filter_map(|line| summary(&lips, line)).collect();
    let mut text = describe(&goal, &lips, &lines);
    for path in args.output.iter().chain(&args.plot) {
        let _ = writeln!(text, "wrote {}", path.display());
    }
    let json = json!({
        "objective": goal.name(),
        "blind": number(blind),
        "rows": rows,
        "ldp_alone": summary,
    });
    Ok(Outcome::good(json, text))
}

fn point(known: &Known, goal: &Objective, protect: &[String]) -> Result<Point, Failure> {
    let wanted = request(known, protect, goal.clone(), Method::Optimal)?;
    let Found::Shipped(designed) = designer::design(&wanted)? else {
        return Err(Failure::input("the optimum is never refused: report this"));
    };
    let up = |ratio: Option<Ratio>| Some(ratio?.ln_up().map_or(f64::INFINITY, numbers::float));
    let certificate = designed.policy.certificate();
    let about = certificate.secret.as_ref().unwrap_or(&certificate.input);
    Ok(Point {
        utility: designed.utility,
        lip: up(about.lip()),
        ldp: up(Some(certificate.input.ldp.ratio)),
        policy: designed.policy.id().to_string(),
    })
}

fn rows(lips: &[f64], line: &Line) -> Vec<Value> {
    let all = lips.iter().zip(&line.points).zip(&line.free);
    all.map(|((lip, point), free)| {
        json!({
            "lip": number(*lip),
            "ldp": optional(line.ldp),
            "utility": optional(point.utility),
            "attained": { "lip": optional_at_most(point.lip), "ldp": optional_at_most(point.ldp) },
            "lip_is_free": free,
            "policy_id": point.policy,
        })
    })
    .collect()
}

/// The least LIP level asked for that costs nothing beside the LDP claim.
fn free_from(lips: &[f64], line: &Line) -> Option<f64> {
    let free = lips.iter().zip(&line.free).filter(|(_, free)| **free).map(|(lip, _)| *lip);
    free.reduce(f64::min)
}

fn summary(lips: &[f64], line: &Line) -> Option<Value> {
    let alone = line.alone.as_ref()?;
    Some(json!({
        "ldp": optional(line.ldp),
        "utility": optional(alone.utility),
        "attained": { "lip": optional_at_most(alone.lip), "ldp": optional_at_most(alone.ldp) },
        "lip_free_from": optional(free_from(lips, line)),
    }))
}

fn csv(lips: &[f64], lines: &[Line]) -> String {
    let mut text =
        String::from("lip,ldp,utility,attained_lip,attained_ldp,lip_is_free,policy_id\n");
    let cell =
        |value: Option<f64>| value.map_or(String::new(), |v| numbers::cell(v, Round::Nearest));
    let leak = |value: Option<f64>| value.map_or(String::new(), |v| numbers::cell(v, Round::Up));
    for line in lines {
        for ((lip, point), free) in lips.iter().zip(&line.points).zip(&line.free) {
            let _ = writeln!(
                text,
                "{},{},{},{},{},{free},{}",
                cell(Some(*lip)),
                cell(line.ldp),
                cell(point.utility),
                leak(point.lip),
                leak(point.ldp),
                point.policy
            );
        }
    }
    text
}

fn describe(goal: &Objective, lips: &[f64], lines: &[Line]) -> String {
    let direction = if goal.is_gain() { "more is better" } else { "less is better" };
    let names: Vec<String> = lines.iter().map(Line::name).collect();
    let header: Vec<&str> =
        std::iter::once("LIP").chain(names.iter().map(String::as_str)).collect();
    let cell = |line: &Line, at: usize| {
        let value = line.points[at].utility.map_or("-".into(), |value| format!("{value:.6}"));
        if line.free[at] { format!("{value} =") } else { value }
    };
    let row = |at: usize| {
        std::iter::once(nats(lips[at])).chain(lines.iter().map(|line| cell(line, at))).collect()
    };
    let mut text = format!("{} ({direction})\n\n", goal.name());
    text += &table(&header, (0..lips.len()).map(row).collect());
    text += "\n\n= the LIP claim costs nothing: the best with the LDP claim alone is no better\n\n";
    for line in lines {
        let (Some(ldp), Some(alone)) = (line.ldp, &line.alone) else { continue };
        let utility = alone.utility.map_or("-".into(), |value| format!("{value:.6}"));
        let attained = alone.lip.map_or("-".into(), |lip| rounded(lip, Round::Up));
        let free = match free_from(lips, line) {
            Some(lip) => format!("LIP costs nothing from {} on", nats(lip)),
            None => "LIP costs something at every level asked for".into(),
        };
        let _ = writeln!(
            text,
            "LDP {} alone: {utility}; that policy attains LIP {attained}; {free}",
            nats(ldp)
        );
    }
    text
}

fn picture(goal: &Objective, lips: &[f64], lines: &[Line]) -> Curves {
    let series = |line: &Line, value: fn(&Point) -> Option<f64>| Series {
        name: line.name(),
        dashed: false,
        points: lips
            .iter()
            .zip(&line.points)
            .map(|(&lip, point)| (lip, value(point).unwrap_or(f64::NAN)))
            .collect(),
    };
    let direction = if goal.is_gain() { "more is better" } else { "less is better" };
    // Listed from the loosest, whose line lies lowest: the widest line is drawn first.
    let lines = || lines.iter().rev();
    Curves {
        title: format!("{} under LIP and LDP at once", goal.name()),
        utility_label: format!("{} ({direction})", goal.name()),
        utility: lines().map(|line| series(line, |point| point.utility)).collect(),
        leakage_label: "attained LIP, nats".into(),
        leakage: lines().map(|line| series(line, |point| point.lip)).collect(),
    }
}
