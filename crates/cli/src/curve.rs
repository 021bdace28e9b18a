//! `undertone curve`: utility and attained leakage against ε, as CSV and a plot.

use std::fmt::Write;
use std::path::PathBuf;

use serde_json::{Value, json};
use undertone_core::Ratio;
use undertone_design::designer::{self, Method, Outcome as Found, Request};

use crate::design::{ContextArgs, Known, method, objective, request};
use crate::failure::Failure;
use crate::output::{Outcome, Round, number, optional, optional_at_most, rounded, save};
use crate::plot::{Curves, Series, curves};
use undertone::number as numbers;

/// Draw utility and attained leakage against epsilon, for several methods.
///
/// Every point but the printed formulas' is a verified policy. A printed formula that misses its claim is
/// drawn dashed, at what it truly leaks. The methods ldp and ldp2 are the LDP optimum at epsilon and at twice that.
///
/// Example: undertone curve --prior prior.json --epsilons 0.1:5:0.1 --methods optimal,published,krr --plot curve.svg
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
    /// The levels: from:to:step, or a list.
    #[arg(long, default_value = "0.25:5:0.25")]
    epsilons: String,
    /// Which methods, besides ldp and ldp2.
    #[arg(long, value_delimiter = ',', default_value = "optimal,published,krr,ldp,ldp2")]
    methods: Vec<String>,
    /// Write the points here as CSV.
    #[arg(short, long)]
    output: Option<PathBuf>,
    /// Draw them into this SVG file.
    #[arg(long)]
    plot: Option<PathBuf>,
}

/// One design of the curve.
struct Point {
    epsilon: f64,
    method: String,
    utility: Option<f64>,
    lip: Option<f64>,
    ldp: Option<f64>,
    policy: Option<String>,
    /// Why there is none, if there is none.
    note: String,
}

/// The levels of `from:to:step` or `a,b,c`, at most a thousand.
pub(crate) fn levels(option: &str, text: &str) -> Result<Vec<f64>, Failure> {
    let bad = || {
        Failure::usage(format!(
            "{option} {text:?}: write from:to:step, for example 0.1:5:0.1, or a list 0.5,1,2"
        ))
    };
    let number =
        |part: &str| part.trim().parse::<f64>().ok().filter(|v| v.is_finite()).ok_or_else(bad);
    let levels = match text.split(':').collect::<Vec<_>>().as_slice() {
        [from, to, step] => {
            let (from, to, step) = (number(from)?, number(to)?, number(step)?);
            if !(step > 0.0 && to >= from && (to - from) / step <= 1000.0) {
                return Err(bad());
            }
            let count = ((to - from) / step + 1e-9).floor() as usize;
            (0..=count).map(|k| from + k as f64 * step).collect()
        }
        [list] => list.split(',').map(number).collect::<Result<Vec<_>, _>>()?,
        _ => return Err(bad()),
    };
    if levels.iter().any(|&e| !(0.0..=11.0).contains(&e)) {
        return Err(Failure::usage(format!(
            "{option} {text:?}: levels lie between 0 and 11, so that twice a level still fits"
        )));
    }
    Ok(levels)
}

pub(crate) fn run(args: &Args) -> Result<Outcome, Failure> {
    let levels = levels("--epsilons", &args.epsilons)?;
    let known = args.context.read()?;
    let goal = objective(args.objective.as_deref(), &args.values, &known)?;
    for name in args.methods.iter().filter(|name| !["ldp", "ldp2"].contains(&name.as_str())) {
        method(name)?;
    }
    let mut points = Vec::new();
    let total = levels.len() * args.methods.len();
    let progress = crate::output::progress(total as u64, "designs");
    for name in &args.methods {
        for &epsilon in &levels {
            let wanted = wanted(&known, name, epsilon, &goal)?;
            points.push(point(name, epsilon, &wanted));
            progress.inc(1);
        }
    }
    progress.finish_and_clear();
    let csv = csv(&points);
    if let Some(path) = &args.output {
        save(path, &csv)?;
    }
    if let Some(path) = &args.plot {
        save(path, &curves(&picture(args, &goal, &points))?)?;
    }
    let rows: Vec<Value> = points.iter().map(row).collect();
    let mut text = if args.output.is_none() { csv } else { String::new() };
    for path in args.output.iter().chain(&args.plot) {
        let _ = writeln!(text, "wrote {}", path.display());
    }
    Ok(Outcome::good(json!({ "objective": goal.name(), "rows": rows }), text))
}

fn wanted(
    known: &Known,
    name: &str,
    epsilon: f64,
    goal: &undertone_design::objective::Objective,
) -> Result<Request, Failure> {
    let (protect, method) = match name {
        "ldp" => (format!("input:ldp:{epsilon:.10}"), Method::Optimal),
        "ldp2" => (format!("input:ldp:{:.10}", 2.0 * epsilon), Method::Optimal),
        "extremal-ldp" => (format!("input:ldp:{epsilon:.10}"), Method::ExtremalLdp),
        _ => (format!("lip:{epsilon:.10}"), method(name)?),
    };
    request(known, &[protect], goal.clone(), method)
}

fn point(name: &str, epsilon: f64, request: &Request) -> Point {
    let empty = |note: String| Point {
        epsilon,
        method: name.into(),
        utility: None,
        lip: None,
        ldp: None,
        policy: None,
        note,
    };
    let up = |ratio: Option<Ratio>| Some(ratio?.ln_up().map_or(f64::INFINITY, numbers::float));
    match designer::design(request) {
        Ok(Found::Shipped(designed)) => {
            let strength = designed.policy.certificate().input;
            let blind = designed.blind().filter(|blind| blind.defeats(&request.objective));
            let note = blind.map(|blind| blind.describe(designed.policy.draft().inputs()));
            Point {
                utility: designed.utility,
                lip: up(strength.lip()),
                ldp: up(Some(strength.ldp.ratio)),
                policy: Some(designed.policy.id().to_string()),
                ..empty(note.unwrap_or_default())
            }
        }
        Ok(Found::Missed(missed)) => Point {
            utility: request.objective.value(&request.prior, &missed.channel).ok(),
            lip: Some(missed.level.attained),
            ldp: Some(undertone_design::measure::ldp::upper_bound(&missed.channel)),
            ..empty(format!(
                "misses its claim: leaks {}",
                rounded(missed.level.attained, Round::Up)
            ))
        },
        Err(error) => empty(error.to_string()),
    }
}

fn row(point: &Point) -> Value {
    json!({
        "epsilon": number(point.epsilon),
        "method": point.method,
        "utility": optional(point.utility),
        "lip": optional_at_most(point.lip),
        "ldp": optional_at_most(point.ldp),
        "policy_id": point.policy,
        "note": point.note,
    })
}

fn csv(points: &[Point]) -> String {
    let mut text = String::from("epsilon,method,utility,lip,ldp,policy_id,note\n");
    let cell =
        |value: Option<f64>| value.map_or(String::new(), |v| numbers::cell(v, Round::Nearest));
    let leak = |value: Option<f64>| value.map_or(String::new(), |v| numbers::cell(v, Round::Up));
    for point in points {
        let note = point.note.replace('"', "\"\"");
        let _ = writeln!(
            text,
            "{},{},{},{},{},{},\"{note}\"",
            numbers::cell(point.epsilon, Round::Nearest),
            point.method,
            cell(point.utility),
            leak(point.lip),
            leak(point.ldp),
            point.policy.as_deref().unwrap_or("")
        );
    }
    text
}

fn picture(args: &Args, goal: &undertone_design::objective::Objective, points: &[Point]) -> Curves {
    let series = |name: &String, value: fn(&Point) -> Option<f64>| {
        let own = || points.iter().filter(|point| &point.method == name);
        let missed = own().any(|point| point.policy.is_none() && point.utility.is_some());
        let points = own().map(|point| (point.epsilon, value(point).unwrap_or(f64::NAN)));
        let label = match name.as_str() {
            "ldp" => "LDP at ε".into(),
            "ldp2" => "LDP at 2ε".into(),
            "published" if missed => "published (leaks more)".into(),
            _ => name.clone(),
        };
        Series { name: label, dashed: missed, points: points.collect() }
    };
    let direction = if goal.is_gain() { "more is better" } else { "less is better" };
    Curves {
        title: format!("{} under ε-LIP", goal.name()),
        utility_label: format!("{} ({direction})", goal.name()),
        utility: args.methods.iter().map(|name| series(name, |p| p.utility)).collect(),
        leakage_label: "attained LIP, nats".into(),
        leakage: args.methods.iter().map(|name| series(name, |p| p.lip)).collect(),
    }
}
