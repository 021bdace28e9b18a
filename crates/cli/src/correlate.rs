//! `undertone correlate`: correlations of randomised and clear columns.

use undertone::correlate::{CorrelateRequest, correlate};
use undertone::number::counted;

use crate::columns::DataFile;
use crate::failure::Failure;
use crate::output::{Outcome, table};
use crate::survey::{RandomisedOptions, SamplingOptions};

/// Estimate the correlations between columns of numbers, each randomised or clear.
///
/// They are those of the true numbers: the correlation of the reports themselves is nearer to nought. A column of two symbols counts as 0
/// and 1.
///
/// Example: undertone correlate --data people.csv --columns answer,age --randomised answer=policy.json
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    data: DataFile,
    /// Two columns or more.
    #[arg(long, value_delimiter = ',', value_name = "A,B[,C..]", required = true)]
    columns: Vec<String>,
    #[command(flatten)]
    randomised: RandomisedOptions,
    #[command(flatten)]
    sampling: SamplingOptions,
    /// The probability with which each interval holds its correlation.
    #[arg(long, default_value_t = 0.95, allow_negative_numbers = true)]
    level: f64,
}

pub(crate) fn run(args: &Args) -> Result<Outcome, Failure> {
    let request = CorrelateRequest {
        columns: args.columns.clone(),
        randomised: args.randomised.designs()?,
        sampling: args.sampling.sampling(None)?,
        level: args.level,
    };
    let report = correlate(args.data.rows()?, &request)?;
    let four = |number: f64| format!("{number:.4}");
    let rows = report.correlations.iter().map(|one| {
        let mut row = vec![one.one.clone(), one.other.clone()];
        row.extend([one.value, one.low, one.high, one.std_error].map(four));
        row.push(if one.beyond { "beyond what is possible".into() } else { String::new() });
        row
    });
    let header = ["column", "with", "correlation", "from", "to", "std. error", ""];
    let text = format!(
        "{}, {} left out because a cell is missing; {} % intervals\n\n{}\n\n{}",
        counted(report.n, "row"),
        report.missing,
        100.0 * report.level,
        table(&header, rows.collect()),
        report.assumptions.join("\n")
    );
    Ok(Outcome::of(&report, text))
}
