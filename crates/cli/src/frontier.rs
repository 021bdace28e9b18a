//! `undertone frontier`: what LIP and LDP cost together.

use std::fmt::Write;
use std::path::PathBuf;

use undertone::Answer;
use undertone::curve::levels;
use undertone::frontier::{FrontierPoint, FrontierReport, FrontierRequest, frontier_with};

use crate::design::{ContextArgs, objective};
use crate::failure::Failure;
use crate::output::{Outcome, nats, progress, save, table};
use crate::plot::{Curves, Series, curves};

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

pub(crate) fn run(args: &Args) -> Result<Outcome, Failure> {
    let request = FrontierRequest {
        lip: levels("lip", &args.lip)?,
        ldp: levels("ldp", &args.ldp)?,
        context: args.context.read()?,
        objective: objective(args.objective.as_deref())?,
        values: args.values.clone(),
    };
    let bar = progress(request.designs() as u64, "designs");
    let report = frontier_with(&request, || bar.inc(1));
    bar.finish_and_clear();
    let report = report?;
    if let Some(path) = &args.output {
        save(path, &report.csv())?;
    }
    if let Some(path) = &args.plot {
        save(path, &curves(&picture(&report))?)?;
    }
    let mut text = describe(&report);
    for path in args.output.iter().chain(&args.plot) {
        let _ = writeln!(text, "wrote {}", path.display());
    }
    Ok(Outcome::of(&report, text))
}

/// What the policies of one LDP level are called.
fn name(line: &[FrontierPoint]) -> String {
    let ldp = line.first().and_then(|point| point.ldp);
    ldp.map_or("LIP alone".into(), |level| format!("with LDP {}", nats(level)))
}

fn describe(report: &FrontierReport) -> String {
    let direction = if report.is_gain { "more is better" } else { "less is better" };
    let lines: Vec<&[FrontierPoint]> = report.lines().collect();
    let names: Vec<String> = lines.iter().map(|line| name(line)).collect();
    let header: Vec<&str> =
        std::iter::once("LIP").chain(names.iter().map(String::as_str)).collect();
    let cell = |point: &FrontierPoint| {
        let value = point.utility.map_or("-".into(), |value| format!("{value:.6}"));
        if point.lip_is_free { format!("= {value}") } else { value }
    };
    let row = |at: usize| {
        let lip = lines[0][at].lip;
        std::iter::once(nats(lip)).chain(lines.iter().map(|line| cell(&line[at]))).collect()
    };
    let mut text = format!("{} ({direction})\n\n", report.objective);
    text += &table(&header, (0..lines.first().map_or(0, |line| line.len())).map(row).collect());
    text += "\n\n= the LIP claim costs nothing: the best with the LDP claim alone is no better\n\n";
    text + &report.words() + "\n"
}

fn picture(report: &FrontierReport) -> Curves {
    let series = |line: &[FrontierPoint], value: fn(&FrontierPoint) -> Option<f64>| Series {
        name: name(line),
        dashed: false,
        points: line.iter().map(|point| (point.lip, value(point).unwrap_or(f64::NAN))).collect(),
    };
    let direction = if report.is_gain { "more is better" } else { "less is better" };
    // Listed from the loosest, whose line lies lowest: the widest line is drawn first.
    let lines = || report.lines().rev();
    Curves {
        title: format!("{} under LIP and LDP at once", report.objective),
        utility_label: format!("{} ({direction})", report.objective),
        utility: lines().map(|line| series(line, |point| point.utility)).collect(),
        leakage_label: "attained LIP, nats".into(),
        leakage: lines().map(|line| series(line, |point| point.attained.lip)).collect(),
    }
}
