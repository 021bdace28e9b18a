//! `undertone curve`: utility and attained leakage against ε, as CSV and a plot.

use std::fmt::Write;
use std::path::PathBuf;

use undertone::Answer;
use undertone::curve::{CurvePoint, CurveReport, CurveRequest, curve_with, levels};

use crate::design::{ContextArgs, objective};
use crate::failure::Failure;
use crate::output::{Outcome, progress, save};
use crate::plot::{Curves, Series, curves};

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

pub(crate) fn run(args: &Args) -> Result<Outcome, Failure> {
    let request = CurveRequest {
        epsilons: levels("epsilons", &args.epsilons)?,
        methods: args.methods.iter().map(|name| name.parse()).collect::<Result<_, _>>()?,
        context: args.context.read()?,
        objective: objective(args.objective.as_deref())?,
        values: args.values.clone(),
    };
    let bar = progress((request.epsilons.len() * request.methods.len()) as u64, "designs");
    let report = curve_with(&request, || bar.inc(1));
    bar.finish_and_clear();
    let report = report?;
    if let Some(path) = &args.output {
        save(path, &report.csv())?;
    }
    if let Some(path) = &args.plot {
        save(path, &curves(&picture(&report))?)?;
    }
    let mut text = match (&args.output, &args.plot) {
        (None, None) => report.csv(),
        _ => format!("{}\n", report.words()),
    };
    for path in args.output.iter().chain(&args.plot) {
        let _ = writeln!(text, "wrote {}", path.display());
    }
    Ok(Outcome::of(&report, text))
}

fn picture(report: &CurveReport) -> Curves {
    let series = |name: &str, value: fn(&CurvePoint) -> Option<f64>| {
        let own = || report.rows.iter().filter(|point| point.method == name);
        let missed = own().any(|point| point.policy_id.is_none() && point.utility.is_some());
        let points = own().map(|point| (point.epsilon, value(point).unwrap_or(f64::NAN)));
        let label = match name {
            "ldp" => "LDP at ε".into(),
            "ldp2" => "LDP at 2ε".into(),
            "published" if missed => "published (leaks more)".into(),
            _ => name.to_owned(),
        };
        Series { name: label, dashed: missed, points: points.collect() }
    };
    let direction = if report.is_gain { "more is better" } else { "less is better" };
    let names = report.methods();
    Curves {
        title: format!("{} under ε-LIP", report.objective),
        utility_label: format!("{} ({direction})", report.objective),
        utility: names.iter().map(|name| series(name, |point| point.utility)).collect(),
        leakage_label: "attained LIP, nats".into(),
        leakage: names.iter().map(|name| series(name, |point| point.lip)).collect(),
    }
}
