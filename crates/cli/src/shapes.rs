//! `undertone shapes`: what each shape's reports take, and how well they tell shares.

use std::fmt::Write;
use std::path::PathBuf;

use undertone::Answer;
use undertone::design::DesignContext;
use undertone::number::{counted, level_words};
use undertone::shapes::{ComparedBy, ShapeRow, ShapesReport, ShapesRequest, shapes_with};

use crate::design::ContextArgs;
use crate::failure::Failure;
use crate::input;
use crate::output::{Outcome, progress, save, table};
use crate::plot::{Tradeoff, tradeoff};

/// Compare the shapes that a policy for shares can have: how many bits a report takes, and how accurate it is.
///
/// Every row is a verified policy. The accuracy is n times the variance of one share whose true frequency is nought or, under one
/// prior, n times the variances of all shares.
///
/// Example: undertone shapes --size 1024 --protect ldp:1 --plot shapes.svg
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    context: ContextArgs,
    /// In place of a prior: so many symbols without names, 0 to SIZE-1, of which nothing is known.
    #[arg(long, conflicts_with = "symbols")]
    size: Option<usize>,
    /// What the symbols are called: a,b,c, or file:NAMES.txt with one on each line.
    #[arg(long, value_delimiter = ',', value_name = "A,B,..")]
    symbols: Vec<String>,
    /// What must hold: lip:E, alip:L,U, ldp:E or di:E; repeat it and all hold at once.
    #[arg(long, required = true)]
    protect: Vec<String>,
    /// Write the rows here as CSV.
    #[arg(short, long)]
    output: Option<PathBuf>,
    /// Draw error against bytes into this SVG file.
    #[arg(long)]
    plot: Option<PathBuf>,
}

pub(crate) fn run(args: &Args) -> Result<Outcome, Failure> {
    let symbols = input::symbols(&args.symbols)?;
    let request = ShapesRequest {
        context: DesignContext { size: args.size, symbols, ..args.context.read()? },
        protect: args.protect.iter().map(|text| text.parse()).collect::<Result<_, _>>()?,
    };
    let bar = progress(request.designs() as u64, "designs");
    let report = shapes_with(&request, || bar.inc(1));
    bar.finish_and_clear();
    let report = report?;
    if let Some(path) = &args.output {
        save(path, &report.csv())?;
    }
    if let Some(path) = &args.plot {
        save(path, &tradeoff(&picture(&report))?)?;
    }
    let mut text = describe(&report);
    for path in args.output.iter().chain(&args.plot) {
        let _ = writeln!(text, "wrote {}", path.display());
    }
    Ok(Outcome::of(&report, text))
}

fn promise(report: &ShapesReport) -> String {
    let texts: Vec<String> = report.protect.iter().map(ToString::to_string).collect();
    format!("{} under {}", counted(report.symbols as u64, "symbol"), texts.join(" and "))
}

fn describe(report: &ShapesReport) -> String {
    let least = report.least();
    let row = |row: &ShapeRow| {
        let number = |value: Option<f64>| value.map_or("-".into(), |value| format!("{value:.4}"));
        let error = row.error(report.compared_by);
        let times = error.zip(least).map(|(own, least)| own / least);
        vec![
            row.method.to_owned(),
            row.report_bits.map_or("-".into(), |bits| bits.to_string()),
            number(error),
            times.map_or("-".into(), |times| format!("{times:.3}")),
            row.ldp.map_or("-".into(), level_words),
            row.channel.clone().or_else(|| row.missing.clone()).unwrap_or_default(),
        ]
    };
    let error = format!("n x {}", report.compared_by.words());
    let header = ["method", "bits", &error, "of the best", "LDP", "a report is"];
    let rows = report.rows.iter().map(row).collect();
    format!("{}\n\n{}\n\n{}\n", promise(report), table(&header, rows), report.words())
}

fn picture(report: &ShapesReport) -> Tradeoff {
    let point = |row: &ShapeRow| {
        let error = row.error(report.compared_by)?;
        Some((row.method.to_owned(), row.report_bytes()? as f64, error))
    };
    Tradeoff {
        title: promise(report),
        across: "bytes of one report".into(),
        up: match report.compared_by {
            ComparedBy::VarianceAtZero => {
                "n times the variance of a share of nought (less is better)".into()
            }
            ComparedBy::Variance => "n times the variances of all shares (less is better)".into(),
        },
        points: report.rows.iter().filter_map(point).collect(),
    }
}
