//! `undertone export`: data and a design's parameters for R packages.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

use undertone::Answer;
use undertone::export::{self, ExportRequest, RPackage};

use crate::columns::Source;
use crate::failure::Failure;
use crate::input;
use crate::output::{Outcome, apart_from, save};

/// Write reports and a policy's parameters in the form the R packages rr and RRreg read: a CSV file and an R script.
///
/// Example: undertone export --for rr --policy policy.json --column answer --keep age,female -o survey.csv reports.csv
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    source: Source,
    /// The package: rr or RRreg.
    #[arg(long = "for", value_name = "rr|RRreg")]
    package: String,
    /// The policy the reports were made under.
    #[arg(long)]
    policy: PathBuf,
    /// The column of reports.
    #[arg(long)]
    column: String,
    /// Covariates to write beside the reports, in the clear.
    #[arg(long, value_delimiter = ',', value_name = "A,B,..")]
    keep: Vec<String>,
    /// The CSV file to write; the script is written beside it, with the ending .R.
    #[arg(short, long)]
    output: PathBuf,
}

pub(crate) fn run(args: &Args) -> Result<Outcome, Failure> {
    let package: RPackage = args.package.parse()?;
    let policy = input::policy(&args.policy)?;
    if args.output.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("r")) {
        return Err(Failure::usage("--output is the data file: give it another ending than .R"));
    }
    apart_from(&args.output, &[&args.policy, &args.source.file])?;
    // Before anything is written.
    export::call(package, &policy, &args.column, &args.keep)?;
    let refused = |error: &std::io::Error| Failure::of_system("create", &args.output, error);
    let name = args.output.file_name().map(|name| name.to_string_lossy().into_owned());
    let request = ExportRequest {
        package,
        policy: &policy,
        source: args.source.rows()?,
        column: args.column.clone(),
        keep: args.keep.clone(),
        data_name: name.unwrap_or_default(),
    };
    // Beside its place and then moved, so that nothing is lost where the rows cannot be read.
    let part = args.output.with_extension("part");
    let written = File::create(&part).map_err(|error| refused(&error)).and_then(|file| {
        let mut file = BufWriter::new(file);
        let report = export::export(request, &mut file)?;
        file.flush().map_err(|error| refused(&error))?;
        Ok(report)
    });
    let moved = written.and_then(|report| {
        std::fs::rename(&part, &args.output).map_err(|error| refused(&error))?;
        Ok(report)
    });
    let report = moved.inspect_err(|_| {
        // What is left over is no use to anybody; that it cannot be removed is no news.
        let _ = std::fs::remove_file(&part);
    })?;
    let script = args.output.with_extension("R");
    save(&script, &report.script)?;
    let text =
        format!("{}\n\nwrote {} and {}", report.words(), args.output.display(), script.display());
    Ok(Outcome::of(&report, text))
}
