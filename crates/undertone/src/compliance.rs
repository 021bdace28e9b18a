//! Estimates from data that people randomised themselves, where some did not follow the design.

use std::borrow::Cow;

use serde::Serialize;
use undertone_estimate::compliance::{
    AttentiveCrosswise, CheaterDetection, ComplianceError, LieDetector, Quantity, ReportCells,
};

use crate::answer::Answer;
use crate::columns::Source;
use crate::error::mention;
use crate::{Error, number};

/// A design that tells how many people followed it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ComplianceDesign {
    /// The stochastic lie detector: two groups asked as Mangat asks.
    LieDetector(LieDetector),
    /// Cheater detection: two groups with a forced yes.
    Cheaters(CheaterDetection),
    /// Crosswise with an attention question.
    Crosswise(AttentiveCrosswise),
}

/// A request for such an estimate.
pub struct ComplianceRequest {
    /// The design the data were collected under.
    pub design: ComplianceDesign,
    /// The rows.
    pub source: Source,
    /// The column of reports.
    pub response: String,
    /// The column of groups, or of answers to the attention question.
    pub second: String,
    /// The column of weights.
    pub weights: Option<String>,
    /// What a yes is written as; where nothing is said, 1, yes or true.
    pub yes: Option<String>,
    /// What the first group is called, where there are groups.
    pub first_group: Option<String>,
    /// The confidence of intervals.
    pub level: f64,
}

/// What was found.
#[derive(Debug, Clone, Serialize)]
pub struct ComplianceReport {
    /// The design's name.
    pub design: &'static str,
    /// The estimates, the share that is wanted first.
    pub estimates: Vec<ComplianceQuantity>,
    /// How many rows were used.
    pub n: u64,
    /// How many rows were left out because a cell was missing.
    pub missing: u64,
    /// The confidence of intervals.
    pub level: f64,
    /// What is supposed, in sentences.
    pub assumptions: Vec<String>,
}

/// One estimate with its interval.
#[derive(Debug, Clone, Serialize)]
pub struct ComplianceQuantity {
    /// What it is.
    pub name: &'static str,
    /// The estimate; noise may put it outside of 0 to 1.
    #[serde(serialize_with = "number::as_value")]
    pub estimate: f64,
    /// Its standard error, by the delta method.
    #[serde(serialize_with = "number::as_value")]
    pub std_error: f64,
    /// The interval's lower end.
    #[serde(serialize_with = "number::as_value")]
    pub low: f64,
    /// The interval's upper end.
    #[serde(serialize_with = "number::as_value")]
    pub high: f64,
}

impl std::str::FromStr for ComplianceDesign {
    type Err = Error;

    /// Reads `lie-detector:P1,P2`, `cheaters:P1,P2` or `crosswise:P,Q`.
    fn from_str(text: &str) -> Result<Self, Error> {
        let fail = |problem: String| Error::field("design", format!("is {text:?}: {problem}"));
        let forms = "write lie-detector:P1,P2, cheaters:P1,P2 or crosswise:P,Q, Q being the P of the attention question";
        let (name, numbers) = text.split_once(':').ok_or_else(|| fail(forms.into()))?;
        let numbers: Option<Vec<f64>> =
            numbers.split(',').map(|number| number.trim().parse().ok()).collect();
        let Some([one, other]) = numbers.as_deref() else { return Err(fail(forms.into())) };
        let words = |error: ComplianceError| fail(error.to_string());
        match name {
            "lie-detector" => LieDetector::new(*one, *other).map(Self::LieDetector).map_err(words),
            "cheaters" => CheaterDetection::new(*one, *other).map(Self::Cheaters).map_err(words),
            "crosswise" => {
                AttentiveCrosswise::new(*one, *other).map(Self::Crosswise).map_err(words)
            }
            _ => Err(fail(forms.into())),
        }
    }
}

impl ComplianceDesign {
    /// The name people ask for it by.
    pub fn name(&self) -> &'static str {
        match self {
            Self::LieDetector(_) => "lie-detector",
            Self::Cheaters(_) => "cheaters",
            Self::Crosswise(_) => "crosswise",
        }
    }

    /// Whether people are in two groups; otherwise everybody gets an attention question.
    pub fn has_groups(&self) -> bool {
        !matches!(self, Self::Crosswise(_))
    }

    fn estimate(&self, cells: &ReportCells) -> Result<Vec<Quantity>, ComplianceError> {
        Ok(match self {
            Self::LieDetector(design) => design.estimate(cells)?.to_vec(),
            Self::Cheaters(design) => design.estimate(cells)?.to_vec(),
            Self::Crosswise(design) => design.estimate(cells)?.to_vec(),
        })
    }

    fn assumptions(&self) -> Vec<String> {
        let mut said = match self {
            Self::LieDetector(design) => design.assumptions(),
            Self::Cheaters(design) => design.assumptions(),
            Self::Crosswise(design) => design.assumptions(),
        };
        said.push("Where a device draws the noise, as undertone's client does, a design cannot be disobeyed and nothing of this need be supposed.".into());
        said
    }
}

/// Reads the rows and estimates.
pub fn compliance(request: ComplianceRequest) -> Result<ComplianceReport, Error> {
    let ComplianceRequest { design, source, response, second, weights, yes, first_group, level } =
        request;
    if !(level > 0.0 && level < 1.0) {
        return Err(Error::field(
            "level",
            format!("is {level}: give a number above 0 and below 1"),
        ));
    }
    let name = source.title();
    let mut columns = vec![response.as_str(), second.as_str()];
    columns.extend(weights.as_deref());
    let mut cells = ReportCells::default();
    let mut missing = 0;
    let mut groups = Groups { first: first_group.map(Cow::Owned), second: None };
    source.each_row(&columns, |row| {
        let fail = |column: &str, problem: String| {
            Error::input(format!("{name}, row {}, column {column:?}: {problem}", row.place().row))
        };
        let [Some(report), Some(other), rest @ ..] = row.cells else {
            missing += 1;
            return Ok(());
        };
        let weight = match rest {
            [] => 1.0,
            [Some(text)] => text.trim().parse::<f64>().map_err(|_| {
                fail(columns[2], format!("{text:?} is not a number: weights are above 0"))
            })?,
            _ => {
                missing += 1;
                return Ok(());
            }
        };
        let report = is_yes(report, yes.as_deref()).map_err(|problem| fail(&response, problem))?;
        let fact = match design.has_groups() {
            true => groups.is_second(other).map_err(|problem| fail(&second, problem))?,
            false => is_yes(other, yes.as_deref()).map_err(|problem| fail(&second, problem))?,
        };
        let refused =
            |error: ComplianceError| fail(columns.get(2).unwrap_or(&""), error.to_string());
        cells.add(fact, report, weight).map_err(refused)
    })?;
    let found =
        design.estimate(&cells).map_err(|error| Error::input(format!("{name}: {error}")))?;
    let quantity = |one: &Quantity| {
        let (low, high) = one.interval(level);
        let Quantity { name, estimate, std_error } = *one;
        ComplianceQuantity { name, estimate, std_error, low, high }
    };
    Ok(ComplianceReport {
        design: design.name(),
        estimates: found.iter().map(quantity).collect(),
        n: cells.rows(),
        missing,
        level,
        assumptions: design.assumptions(),
    })
}

/// The names of two groups, the first as it was named or met first.
struct Groups<'a> {
    first: Option<Cow<'a, str>>,
    second: Option<String>,
}

impl Groups<'_> {
    fn is_second(&mut self, name: &str) -> Result<bool, String> {
        let name = name.trim();
        match (&self.first, &self.second) {
            (Some(first), _) if first == name => Ok(false),
            (Some(_), Some(second)) if second == name => Ok(true),
            (Some(_), None) => {
                self.second = Some(name.into());
                Ok(true)
            }
            (None, _) => {
                let first = mention("first_group");
                Err(format!(
                    "which group is first is not known: name it with {first}, such as {name:?}"
                ))
            }
            (Some(first), Some(second)) => Err(format!(
                "{name:?} is a third group beside {first:?} and {second:?}: the design has two"
            )),
        }
    }
}

/// Whether a cell says yes.
fn is_yes(text: &str, yes: Option<&str>) -> Result<bool, String> {
    let text = text.trim();
    if let Some(yes) = yes {
        return Ok(text == yes);
    }
    match text.to_ascii_lowercase().as_str() {
        "1" | "yes" | "true" => Ok(true),
        "0" | "no" | "false" => Ok(false),
        _ => Err(format!(
            "{text:?} is neither yes nor no: write 1 or 0, or name what is a yes with {}",
            mention("yes")
        )),
    }
}

impl Answer for ComplianceReport {
    fn words(&self) -> String {
        let percent = |value: f64| format!("{:.1} %", 100.0 * value);
        let [first, rest @ ..] = self.estimates.as_slice() else { return String::new() };
        let called = |name: &str| match name {
            "share" => "the sensitive answer is true".to_owned(),
            "honest_yes" => "the sensitive answer is true and admitted".into(),
            other => other.replace('_', " "),
        };
        let mut words = format!(
            "For {} of {} people {}, {:.0} % interval {} to {}.",
            percent(first.estimate),
            self.n,
            called(first.name),
            100.0 * self.level,
            percent(first.low),
            percent(first.high)
        );
        for one in rest {
            words += &format!(
                "\n{}: {} (standard error {})",
                called(one.name),
                percent(one.estimate),
                percent(one.std_error)
            );
        }
        if self.estimates.iter().any(|one| !(0.0..=1.0).contains(&one.estimate)) {
            words +=
                "\nAn estimate is no possible share: chance, or an assumption that does not hold.";
        }
        if self.missing > 0 {
            words += &format!("\n{} rows were left out: a cell is missing.", self.missing);
        }
        words += "\nThis supposes:";
        self.assumptions.iter().for_each(|one| words += &format!("\n  {one}"));
        words
    }
}
