//! `undertone crosstab`: joint shares of randomised and clear columns.

use std::path::PathBuf;

use undertone::crosstab::{
    CrosstabMethod, CrosstabReport, CrosstabRequest, GroupShareReport, crosstab,
};
use undertone::number::counted;

use crate::columns::DataFile;
use crate::failure::Failure;
use crate::output::{Outcome, nats, table};
use crate::plot::{self, IntervalPlot, IntervalRow};
use crate::survey::{RandomisedOptions, SamplingOptions};

/// Estimate the joint shares of two or three columns, each randomised or clear, and test whether they have to do
/// with each other.
///
/// Shares of the first column are also shown within the groups that the others make, with their differences from the first group.
/// What the reports do not determine is said and has no number. Intervals allow for who was asked and for how answers were
/// randomised.
///
/// Example: undertone crosstab --data people.csv --columns answer,sex --randomised answer=policy.json
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    data: DataFile,
    /// Two columns or three.
    #[arg(long, value_delimiter = ',', value_name = "A,B[,C]", required = true)]
    columns: Vec<String>,
    #[command(flatten)]
    randomised: RandomisedOptions,
    #[command(flatten)]
    sampling: SamplingOptions,
    /// How many people the population has, where that is not many more than the rows.
    #[arg(long, value_name = "PEOPLE")]
    population: Option<u64>,
    /// How shares are estimated.
    #[arg(long, value_enum, default_value_t = Method::Mle)]
    method: Method,
    /// The probability with which each interval holds its share.
    #[arg(long, default_value_t = 0.95, allow_negative_numbers = true)]
    level: f64,
    /// Draw the shares in each group with their intervals as an SVG picture.
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
}

/// How shares are estimated.
#[derive(clap::ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
enum Method {
    /// The shares under which the reports are most likely.
    Mle,
    /// Products of the columns' inverses.
    Unbiased,
}

pub(crate) fn run(args: &Args) -> Result<Outcome, Failure> {
    let request = CrosstabRequest {
        columns: args.columns.clone(),
        randomised: args.randomised.designs()?,
        sampling: args.sampling.sampling(args.population)?,
        method: match args.method {
            Method::Mle => CrosstabMethod::Mle,
            Method::Unbiased => CrosstabMethod::Unbiased,
        },
        level: args.level,
    };
    let report = crosstab(args.data.rows()?, &request)?;
    let mut text = text(&report);
    if let Some(path) = &args.plot {
        plot::save(path, &picture(&report)?)?;
        text += &format!("\npicture written to {}", path.display());
    }
    Ok(Outcome::of(&report, text))
}

/// The group that a share is of, in the order of the columns.
fn given(report: &CrosstabReport, found: &GroupShareReport) -> Vec<String> {
    let symbol = |column: &String| found.given.get(column).cloned().unwrap_or_default();
    report.columns[1..].iter().map(symbol).collect()
}

/// The shares of the first column in every group.
fn picture(report: &CrosstabReport) -> Result<String, Failure> {
    let row = |found: &GroupShareReport| IntervalRow {
        name: format!("{} = {}", report.columns[0], found.symbol),
        group: {
            let others = report.columns[1..].iter().zip(given(report, found));
            others
                .map(|(column, symbol)| format!("{column} = {symbol}"))
                .collect::<Vec<_>>()
                .join(", ")
        },
        value: found.share.value.map(|share| 100.0 * share),
        low: found.share.low.map(|share| 100.0 * share),
        high: found.share.high.map(|share| 100.0 * share),
    };
    plot::intervals(&IntervalPlot {
        title: format!("{} by {}", report.columns[0], report.columns[1..].join(" and ")),
        axis: format!(
            "share of {} in %, {} % intervals",
            report.columns[0],
            nats(100.0 * report.level)
        ),
        rows: report.conditional.iter().map(row).collect(),
    })
}

/// The tables people read.
fn text(report: &CrosstabReport) -> String {
    let mut text = format!(
        "{} with all of {}{}\n\nJoint shares in %, {} % intervals\n",
        counted(report.n, "row"),
        report.columns.join(", "),
        match report.missing {
            0 => String::new(),
            missing =>
                format!(" ({missing} of {} left out because a cell is missing)", report.rows),
        },
        nats(100.0 * report.level)
    );
    let designed = (report.design_effect - 1.0).abs() > 1e-9;
    let mut header: Vec<&str> = report.columns.iter().map(String::as_str).collect();
    header.extend(["share", "from", "to", "std. error"]);
    if designed {
        header.push("design effect");
    }
    let cell = |symbols: &[String], share: &undertone::crosstab::ShareReport| {
        let mut row = symbols.to_vec();
        row.extend(share.written(100.0));
        let two = |number: Option<f64>, scale: f64| {
            number.map_or("-".into(), |number| format!("{:.2}", scale * number))
        };
        row.push(two(share.std_error, 100.0));
        if designed {
            row.push(two(share.design_effect, 1.0));
        }
        row
    };
    let rows = report.cells.iter().map(|found| cell(&found.symbols, &found.share)).collect();
    text += &format!("{}\n", table(&header, rows));
    for margin in &report.margins {
        let mut header = vec![margin.column.as_str()];
        header.extend(
            &["share", "from", "to", "std. error", "design effect"][..4 + usize::from(designed)],
        );
        let rows = margin.shares.iter().map(|found| cell(&found.symbols, &found.share)).collect();
        text += &format!("\n{}\n", table(&header, rows));
    }
    text += &format!("\nShares of {} in each group, in %\n", report.columns[0]);
    let mut header: Vec<&str> = report.columns[1..].iter().map(String::as_str).collect();
    header.extend([report.columns[0].as_str(), "share", "from", "to"]);
    header.extend(["minus first group", "from", "to"]);
    let group = |found: &GroupShareReport| {
        let mut row = given(report, found);
        row.push(found.symbol.clone());
        row.extend(found.share.written(100.0));
        let same = report
            .differences
            .iter()
            .find(|other| other.symbol == found.symbol && other.given == found.given);
        row.extend(same.map_or([const { String::new() }; 3], |other| other.share.written(100.0)));
        row
    };
    text += &format!("{}\n", table(&header, report.conditional.iter().map(group).collect()));
    if designed {
        text += &format!("\nDesign effect of the cells, on average: {:.2}\n", report.design_effect);
    }
    text += "\n";
    let sentences = report.independence.iter().map(|test| test.sentence());
    for sentence in sentences.chain(report.assumptions.iter().chain(&report.notes).cloned()) {
        text += &format!("{sentence}\n");
    }
    text
}
