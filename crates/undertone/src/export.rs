//! Data and a design's parameters in the form R packages for randomised response read.
//!
//! The package `rr` (`rrreg`) and the package `RRreg` (`RRuni`, `RRlog`) take a data frame whose response is 0 or 1 and the
//! randomisation as a design's name and probabilities. A policy of a yes/no question is such a design; which one, its integers say.

use std::io::Write;
use std::str::FromStr;

use serde::Serialize;
use undertone_core::Policy;
use undertone_design::survey_design::SurveyDesign;

use crate::answer::Answer;
use crate::columns::{Source, csv};
use crate::error::mention;
use crate::{Error, ErrorCode};

/// A package of R that reads what is exported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RPackage {
    /// `rr`, by Blair, Zhou and Imai.
    Rr,
    /// `RRreg`, by Heck and Moshagen.
    RRreg,
}

impl FromStr for RPackage {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        match name {
            "rr" => Ok(Self::Rr),
            "RRreg" => Ok(Self::RRreg),
            _ => Err(Error::field("for", format!("is {name:?}: write rr or RRreg"))),
        }
    }
}

/// A request to write data for R.
pub struct ExportRequest<'a> {
    /// The package that will read them.
    pub package: RPackage,
    /// The policy the reports were made under.
    pub policy: &'a Policy,
    /// The rows.
    pub source: Source,
    /// The column of reports.
    pub column: String,
    /// The covariates to write beside it, in the clear.
    pub keep: Vec<String>,
    /// What the data file is called where R runs.
    pub data_name: String,
}

/// What was written.
#[derive(Debug, Clone, Serialize)]
pub struct ExportReport {
    /// The package.
    pub package: &'static str,
    /// How many rows were written.
    pub rows: u64,
    /// How many were left out because the report or a covariate is missing.
    pub missing: u64,
    /// The call in R.
    pub call: String,
    /// The script that reads the data and makes the call.
    pub script: String,
}

/// Writes the rows as CSV, reports as 0 and 1, and says how R is to read them.
pub fn export(request: ExportRequest<'_>, to: &mut dyn Write) -> Result<ExportReport, Error> {
    let ExportRequest { package, policy, source, column, keep, data_name } = request;
    let call = call(package, policy, &column, &keep)?;
    let name = source.title();
    let mut columns = vec![column.as_str()];
    columns.extend(keep.iter().map(String::as_str));
    let mut bytes = record(columns.iter().copied());
    let (mut rows, mut missing) = (0, 0);
    let outputs = [policy.outputs().label(0), policy.outputs().label(1)];
    let flush = |bytes: &mut Vec<u8>, to: &mut dyn Write| {
        let written =
            to.write_all(bytes).map_err(|error| Error::of_system("write", "the data", &error));
        bytes.clear();
        written
    };
    source.each_row(&columns, |row| {
        let cells: Option<Vec<&str>> = row.cells.iter().map(|cell| cell.as_deref()).collect();
        let Some(cells) = cells else {
            missing += 1;
            return Ok(());
        };
        let Some(report) = outputs.iter().position(|output| *output == cells[0].trim()) else {
            let problem = format!(
                "{name}, row {}, column {column:?}: {:?} is no report of the policy, which releases {:?} and {:?}",
                row.place().row,
                crate::error::shortened(cells[0]),
                outputs[0],
                outputs[1]
            );
            return Err(Error::input(problem));
        };
        let code = ["0", "1"][report];
        bytes.extend(record(std::iter::once(code).chain(cells[1..].iter().copied())));
        rows += 1;
        if bytes.len() > 1 << 16 { flush(&mut bytes, to) } else { Ok(()) }
    })?;
    flush(&mut bytes, to)?;
    let library = package.name();
    let script = format!(
        "# Written by undertone for the R package {library}: reports are 1 for {:?} and 0 for {:?}.\n# Policy {}\nlibrary({library})\ndata <- read.csv({:?}, check.names = FALSE)\nfit <- {call}\nprint(summary(fit))\n",
        outputs[1],
        outputs[0],
        policy.id(),
        data_name
    );
    Ok(ExportReport { package: library, rows, missing, call, script })
}

fn record<'a>(cells: impl Iterator<Item = &'a str>) -> Vec<u8> {
    let mut line = Vec::new();
    for (at, cell) in cells.enumerate() {
        if at > 0 {
            line.push(b',');
        }
        line.extend(csv::quoted(cell, b','));
    }
    line.push(b'\n');
    line
}

impl RPackage {
    /// The package's name in R.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rr => "rr",
            Self::RRreg => "RRreg",
        }
    }

    /// The arguments that say the randomisation; `None` if the package has no design for it.
    fn design(self, designs: &[SurveyDesign]) -> Option<String> {
        let found = |wanted: fn(&SurveyDesign) -> bool| designs.iter().copied().find(wanted);
        let mirrored = found(|one| matches!(one, SurveyDesign::Warner { .. }));
        let forced = found(|one| matches!(one, SurveyDesign::Forced { .. }));
        let kuk = found(|one| matches!(one, SurveyDesign::Kuk { .. }));
        match (self, mirrored.or(forced).or(kuk)?) {
            (Self::Rr, SurveyDesign::Warner { p }) => {
                Some(format!("p = {p}, design = \"mirrored\""))
            }
            (Self::Rr, SurveyDesign::Forced { truth, yes, no }) => {
                Some(format!("p = {truth}, p1 = {yes}, p0 = {no}, design = \"forced-known\""))
            }
            (Self::RRreg, SurveyDesign::Warner { p }) => {
                Some(format!("model = \"Warner\", p = {p}"))
            }
            // Prompted categories in the order of their codes.
            (Self::RRreg, SurveyDesign::Forced { yes, no, .. }) => {
                Some(format!("model = \"FR\", p = c({no}, {yes})"))
            }
            (Self::RRreg, SurveyDesign::Kuk { p1, p2 }) => {
                Some(format!("model = \"Kuk\", p = c({p1}, {p2})"))
            }
            _ => None,
        }
    }
}

/// The call in R; refused if the package has no design for the policy.
pub fn call(
    package: RPackage,
    policy: &Policy,
    column: &str,
    keep: &[String],
) -> Result<String, Error> {
    let designs = SurveyDesign::all_of(policy.draft().shape());
    let Some(design) = package.design(&designs) else {
        let problem = match designs.is_empty() {
            true => format!(
                "it has {} inputs and {} outputs, and the package reads yes/no questions",
                policy.inputs().len(),
                policy.outputs().len()
            ),
            false => format!(
                "\"yes\" is reported less often where it is true: use {} RRreg, or swap the symbols",
                mention("for")
            ),
        };
        let said = format!("{} has no design for this policy: {problem}", package.name());
        return Err(Error::new(ErrorCode::Input, said));
    };
    let covariates: Vec<String> = keep.iter().map(|name| variable(name)).collect();
    let right = if keep.is_empty() { "1".into() } else { covariates.join(" + ") };
    let formula = format!("{} ~ {right}", variable(column));
    Ok(match (package, keep.is_empty()) {
        (RPackage::Rr, _) => format!("rrreg({formula}, {design}, data = data)"),
        (RPackage::RRreg, true) => {
            format!("RRuni(response = {}, data = data, {design})", variable(column))
        }
        (RPackage::RRreg, false) => format!("RRlog({formula}, data = data, {design})"),
    })
}

/// A column's name as R reads it in a formula: between backticks unless it is plain.
fn variable(name: &str) -> String {
    let mut letters = name.chars();
    let first = letters.next().is_some_and(|c| c.is_ascii_alphabetic());
    match first && letters.all(|c| c.is_ascii_alphanumeric() || c == '.' || c == '_') {
        true => name.into(),
        false => format!("`{}`", name.replace('\\', "\\\\").replace('`', "\\`")),
    }
}

impl Answer for ExportReport {
    fn words(&self) -> String {
        let left_out = match self.missing {
            0 => String::new(),
            missing => format!("; {missing} were left out, a cell being empty"),
        };
        format!(
            "{} rows were written{left_out}. In R, with the package {}:\n{}",
            self.rows, self.package, self.call
        )
    }
}
