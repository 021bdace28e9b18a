//! A file of values, and the file of their reports.

use std::io::Write;
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde::Serialize;
use undertone_core::Nats;
use undertone_core::plan::PlanId;

use super::plan::{HittersPlan, Longer};
use super::report::NotReported;
use super::reports::REPORT_COLUMN;
use super::values::NoCode;
use crate::answer::Answer;
use crate::columns::Source;
use crate::error::mention;
use crate::frame::{OpenTarget, Target};
use crate::number::{self, counted};
use crate::random::system_rng;
use crate::{Error, ErrorCode};

/// Which values to report under which plan, and where to write.
pub struct WriteRequest {
    /// The plan.
    pub plan: HittersPlan,
    /// Where the rows come from: one person in each.
    pub rows: Source,
    /// The column with their values.
    pub column: String,
    /// What to do with a row that has no value, or none of the plan's.
    pub unknown: UnknownValue,
    /// Where to write: CSV with the one column `report`.
    pub output: Target,
}

/// What to do with a cell that is empty, or has no code.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum UnknownValue {
    /// Stop and name the row.
    #[default]
    Refuse,
    /// Leave the row out, and say how many were.
    Skip,
    /// Report it as the empty text, so that nobody is missing.
    AsEmpty,
}

/// What was written.
#[derive(Debug, Clone, Serialize)]
pub struct WrittenReport {
    /// The plan.
    #[serde(serialize_with = "number::as_text")]
    pub plan_id: PlanId,
    /// How many rows were read.
    pub rows: u64,
    /// How many reports were written.
    pub reported: u64,
    /// How many cells were empty.
    pub missing: u64,
    /// How many had no code.
    pub unknown: u64,
    /// How many were cut to the plan's length.
    pub cut: u64,
    /// What everything one person sends tells: LDP in nats, rounded up.
    #[serde(serialize_with = "number::as_certified")]
    pub ldp: Option<Nats>,
    /// Rows per second, where somebody held a clock.
    #[serde(
        skip_serializing_if = "Option::is_none",
        serialize_with = "number::as_optional_three_digits"
    )]
    pub rate: Option<f64>,
    /// Where the reports are.
    pub output: String,
    /// What a reader must not overlook.
    pub warnings: Vec<String>,
}

impl WrittenReport {
    /// The answer of a run that took so long.
    pub fn timed(self, took: Duration) -> Self {
        Self { rate: Some(self.rows as f64 / took.as_secs_f64().max(1e-9)), ..self }
    }
}

/// Reports the values of a file, one row and person at a time.
pub fn write(request: WriteRequest) -> Result<WrittenReport, Error> {
    let WriteRequest { plan, rows, column, unknown, output } = request;
    if unknown == UnknownValue::AsEmpty && !plan.values().has_empty() {
        let problem = "empty: numbers have no empty value; use skip";
        return Err(Error::field("unknown", problem));
    }
    if output.extension() == Some("parquet") {
        let problem = format!("{}: reports are written as CSV: name it so", output.name());
        return Err(Error::field("output", problem));
    }
    let (shown, packed) = (output.name().to_owned(), output.is_compressed());
    let (source, mut rng) = (rows.name().to_owned(), system_rng()?);
    let target = output.open()?;
    let name = target.name().to_owned();
    let mut lines = Lines::new(target, packed);
    let fail = |error| Error::of_system("write", &name, &error);
    lines.write_all(format!("{REPORT_COLUMN}\n").as_bytes()).map_err(fail)?;
    let (mut missing, mut unfit, mut cut, mut reported) = (0, 0, 0, 0);
    let mut order = Order::default();
    let rows = rows.each_row(&[&column], |row| {
        let wrong = |found: &str| {
            let empty = if plan.values().has_empty() { " or empty" } else { "" };
            Error::in_document(
                &source,
                format!(
                    "{}, column {column:?} {found}: mend it, or use {} skip{empty}",
                    row.place(),
                    mention("unknown")
                ),
            )
        };
        let cell = row.cells[0].as_deref();
        missing += u64::from(cell.is_none());
        let value = match (cell, unknown) {
            (Some(value), _) => value,
            (None, UnknownValue::Refuse) => return Err(wrong("is empty")),
            (None, UnknownValue::Skip) => return Ok(()),
            (None, UnknownValue::AsEmpty) => "",
        };
        if plan.longer() == Longer::Cut && plan.values().cut(value).len() < value.len() {
            cut += 1;
        }
        order.see(value);
        let report = match (plan.report(value, &mut rng), unknown) {
            (Err(NotReported::Value(why)), UnknownValue::Refuse) => {
                let cut = if why == NoCode::TooLong {
                    "; a plan with longer values cut takes it"
                } else {
                    ""
                };
                return Err(wrong(&format!("{}{cut}", plan.values().problem(why))));
            }
            (Err(NotReported::Value(_)), UnknownValue::Skip) => {
                unfit += 1;
                return Ok(());
            }
            (Err(NotReported::Value(_)), UnknownValue::AsEmpty) => {
                unfit += 1;
                plan.report("", &mut rng)
            }
            (drawn, _) => drawn,
        };
        let report = report.map_err(|error| match error {
            NotReported::Other(error) => error,
            NotReported::Value(why) => Error::new(ErrorCode::Internal, plan.values().problem(why)),
        })?;
        reported += 1;
        lines.write_all((plan.write(&report) + "\n").as_bytes()).map_err(fail)
    })?;
    if rows == 0 {
        return Err(Error::in_document(&source, "there are no rows of data"));
    }
    let replaced = lines.finish()?;
    let mut warnings = Vec::new();
    if order.is_grouped() {
        warnings.push("rows with equal values stand together, as in a sorted file: the order of the reports tells what the noise hides; shuffle the rows and report again".to_owned());
    }
    if replaced {
        warnings.push("replaced an earlier file: if those were reports of the same people and anybody saw them, two draws tell twice as much as the plan promises".to_owned());
    }
    Ok(WrittenReport {
        plan_id: plan.id(),
        rows,
        reported,
        missing,
        unknown: unfit,
        cut,
        ldp: plan.plan().person().ldp,
        rate: None,
        output: shown,
        warnings,
    })
}

/// Lines that go to a target, compressed or not.
enum Lines {
    Plain(OpenTarget),
    Packed(Box<GzEncoder<OpenTarget>>),
}

impl Lines {
    fn new(target: OpenTarget, packed: bool) -> Self {
        match packed {
            true => Self::Packed(Box::new(GzEncoder::new(target, Compression::default()))),
            false => Self::Plain(target),
        }
    }

    fn write_all(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        match self {
            Self::Plain(target) => target.write_all(bytes),
            Self::Packed(target) => target.write_all(bytes),
        }
    }

    /// Gives the file its name; whether it replaced one that held something.
    fn finish(self) -> Result<bool, Error> {
        match self {
            Self::Plain(target) => target.finish(),
            Self::Packed(packed) => {
                let finished = packed.finish();
                finished.map_err(|error| Error::of_system("write", "the reports", &error))?.finish()
            }
        }
    }
}

/// Whether equal values stand together.
#[derive(Default)]
struct Order {
    rows: u64,
    same: u64,
    changes: u64,
    last: String,
    /// How often some of the values occur: frequent ones stand together in any order.
    seen: std::collections::HashMap<String, u64>,
}

impl Order {
    fn see(&mut self, value: &str) {
        self.rows += 1;
        if self.rows > 1 {
            if value == self.last { self.same += 1 } else { self.changes += 1 }
        }
        if self.last != value {
            self.last = value.to_owned();
        }
        if self.seen.len() < 4096 || self.seen.contains_key(value) {
            *self.seen.entry(value.to_owned()).or_insert(0) += 1;
        }
    }

    /// Whether far more neighbours are equal than in a random order.
    fn is_grouped(&self) -> bool {
        let rows = self.rows as f64;
        let expected: f64 =
            self.seen.values().map(|&count| (count as f64).powi(2)).sum::<f64>() / rows.max(1.0);
        self.changes > 0 && self.rows >= 20 && self.same as f64 > 2.0 * expected + rows / 10.0
    }
}

impl Answer for WrittenReport {
    fn words(&self) -> String {
        let ldp = self.ldp.map_or("no finite level".into(), |ldp| format!("ldp:{ldp}"));
        let mut words = format!(
            "{} of {} under plan {}, written to {}; each is all that a person sends and costs {ldp}.",
            counted(self.reported, "report"),
            counted(self.rows, "row"),
            self.plan_id,
            self.output
        );
        for (count, what) in [
            (self.missing, "had no value"),
            (self.unknown, "had a value the plan has no code for"),
            (self.cut, "had a value that was cut"),
        ] {
            if count > 0 {
                words += &format!("\n{} {what}.", counted(count, "row"));
            }
        }
        words.extend(self.warnings.iter().map(|warning| format!("\nwarning: {warning}")));
        words
    }
}
