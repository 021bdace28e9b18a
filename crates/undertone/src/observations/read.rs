//! Reading observations, row by row.

use std::collections::HashMap;

use undertone_core::Policy;
use undertone_estimate::{DesignId, Evidence, EvidenceBuilder, Factor};

use super::value::{ValueCell, Values};
use super::{CellTexts, Observation, Observations, ObservedAs, ObservedColumn, ReportedUnder};
use crate::Error;
use crate::columns::csv::{self, CsvFile};
use crate::columns::{Code, Lookup, OpenedSource, RowPlace, Source, position};
use crate::error::{listed, mention, shortened_to};
use crate::estimate::{BadRow, Batch, Tokens};

/// More categories than these are not read as symbols of a table or a model.
const MOST_LEVELS: usize = 1 << 12;

/// A cell as something that may be kept.
enum Read {
    Missing,
    Index(u32),
    Number(f64),
    Value(ValueCell),
    /// A report, under which of the column's designs.
    Report(usize),
}

/// One column while it is read.
struct Column<'a> {
    name: &'a str,
    kind: Kind<'a>,
    /// Which of the row's cells it is.
    cell: usize,
}

enum Kind<'a> {
    Levels { names: HashMap<String, u32>, codes: Vec<u32>, clear: bool },
    Numbers { list: Vec<f64>, positive: bool },
    Values(Values),
    Reports(Box<Reports<'a>>),
}

struct Reports<'a> {
    builder: EvidenceBuilder,
    designs: Vec<ReportDesign<'a>>,
    /// Which cell names the design, and what it may say.
    by: Option<(usize, &'a str, HashMap<&'a str, usize>)>,
    batch: Batch,
}

struct ReportDesign<'a> {
    id: DesignId,
    /// `None` for rows that are clear, which are looked up among the symbols.
    tokens: Option<Tokens<'a>>,
    symbols: Lookup,
}

/// Reads a file.
pub(super) fn read(source: Source, wanted: &[ObservedColumn]) -> Result<Observations, Error> {
    observe(wanted, |names, visit| each_row(source, names, visit))
}

/// Reads columns in memory: `texts` gives a column's cells by row.
pub(super) fn read_columns<'t>(
    rows: usize,
    wanted: &[ObservedColumn],
    texts: impl Fn(&str) -> Option<&'t CellTexts<'t>>,
) -> Result<Observations, Error> {
    observe(wanted, |names, visit| {
        let column = |name: &&str| {
            texts(name).ok_or_else(|| Error::input(format!("there is no column {name:?}")))
        };
        let columns: Vec<&CellTexts<'t>> = names.iter().map(column).collect::<Result<_, _>>()?;
        for row in 0..rows {
            let cells: Vec<Option<String>> = columns.iter().map(|text| text(row)).collect();
            let cells: Vec<Option<&str>> = cells
                .iter()
                .map(|cell| cell.as_deref().and_then(crate::columns::present))
                .collect();
            visit(&cells).map_err(|what| Error::input(format!("row {}{what}", row + 1)))?;
        }
        Ok(())
    })
}

/// What is done with the cells of every row.
type Visit<'v> = &'v mut dyn FnMut(&[Option<&str>]) -> Result<(), String>;

fn observe(
    wanted: &[ObservedColumn],
    each: impl FnOnce(&[&str], Visit<'_>) -> Result<(), Error>,
) -> Result<Observations, Error> {
    let mut names: Vec<&str> = Vec::new();
    let mut columns = Vec::with_capacity(wanted.len());
    for column in wanted {
        names.push(&column.name);
        let cell = names.len() - 1;
        if let ObservedAs::Randomised(ReportedUnder::By { column, .. }) = &column.kind {
            names.push(column);
        }
        columns.push(Column::new(column, cell)?);
    }
    let (mut rows, mut missing) = (0, 0);
    each(&names, &mut |cells| {
        rows += 1;
        let mut found = Vec::with_capacity(columns.len());
        for column in &mut columns {
            match column.look(cells)? {
                Read::Missing => {
                    missing += 1;
                    return Ok(());
                }
                value => found.push(value),
            }
        }
        columns.iter_mut().zip(found).try_for_each(|(column, value)| column.keep(value))
    })?;
    if rows == missing {
        return Err(Error::input(match rows {
            0 => "there are no rows".to_owned(),
            _ => format!(
                "every one of {rows} rows lacks one of the columns: {}",
                listed(names.iter().map(|name| (*name).to_owned()), 8)
            ),
        }));
    }
    let columns = columns.into_iter().map(Column::finish).collect::<Result<_, _>>()?;
    Ok(Observations { columns, rows, missing })
}

impl<'a> Column<'a> {
    fn new(wanted: &'a ObservedColumn, cell: usize) -> Result<Self, Error> {
        let kind = match &wanted.kind {
            ObservedAs::Factor | ObservedAs::Clear => Kind::Levels {
                names: HashMap::new(),
                codes: Vec::new(),
                clear: matches!(wanted.kind, ObservedAs::Clear),
            },
            ObservedAs::Number => Kind::Numbers { list: Vec::new(), positive: false },
            ObservedAs::Value => Kind::Values(Values::default()),
            ObservedAs::Weight => Kind::Numbers { list: Vec::new(), positive: true },
            ObservedAs::Randomised(under) => Kind::Reports(Box::new(Reports::new(under, cell)?)),
        };
        Ok(Self { name: &wanted.name, kind, cell })
    }

    /// What a row's cell is, or what is wrong with it.
    fn look(&mut self, cells: &[Option<&str>]) -> Result<Read, String> {
        let text = cells[self.cell];
        let wrong = |what: String| format!(", column {:?} {what}", self.name);
        match &mut self.kind {
            Kind::Levels { names, .. } => {
                let Some(text) = text.filter(|text| *text != NOT_AVAILABLE) else {
                    return Ok(Read::Missing);
                };
                if let Some(&code) = names.get(text) {
                    return Ok(Read::Index(code));
                }
                let code = names.len() as u32;
                names.insert(text.to_owned(), code);
                Ok(Read::Index(code))
            }
            Kind::Numbers { positive, .. } => {
                let Some(text) = text.filter(|text| *text != NOT_AVAILABLE) else {
                    return Ok(Read::Missing);
                };
                let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
                let Some(number) = number else {
                    let shown = shortened_to(40, text);
                    return Err(wrong(format!(
                        "is {shown:?}: give a number, or leave it empty where there is none"
                    )));
                };
                if *positive && !(number > 0.0) {
                    return Err(wrong(format!(
                        "is a weight of {number}: weights must be above nought; leave out rows that stand for nobody"
                    )));
                }
                Ok(Read::Number(number))
            }
            Kind::Values(values) => match text.filter(|text| *text != NOT_AVAILABLE) {
                None => Ok(Read::Missing),
                Some(text) => values.look(text).map(Read::Value).map_err(wrong),
            },
            Kind::Reports(reports) => reports.look(text, cells).map_err(wrong),
        }
    }

    fn keep(&mut self, value: Read) -> Result<(), String> {
        match (&mut self.kind, value) {
            (Kind::Levels { codes, .. }, Read::Index(code)) => codes.push(code),
            (Kind::Numbers { list, .. }, Read::Number(number)) => list.push(number),
            (Kind::Values(values), Read::Value(cell)) => values.keep(cell),
            (Kind::Reports(reports), Read::Report(design)) => reports.keep(design)?,
            _ => {}
        }
        Ok(())
    }

    fn finish(self) -> Result<Observation, Error> {
        Ok(match self.kind {
            Kind::Levels { names, codes, clear } => {
                let (levels, codes) = ordered(names, codes);
                if clear && levels.len() > MOST_LEVELS {
                    return Err(Error::input(format!(
                        "column {:?} has {} different values: is it a number? Put it into bins, or name another column",
                        self.name,
                        levels.len()
                    )));
                }
                match clear {
                    true => {
                        Observation::Evidence(Evidence::clear(levels, codes).map_err(Error::input)?)
                    }
                    false => Observation::Factor(Factor::new(levels, codes).map_err(Error::input)?),
                }
            }
            Kind::Numbers { list, .. } => Observation::Numbers(list),
            Kind::Values(values) => values.finish()?,
            Kind::Reports(reports) => {
                Observation::Evidence(reports.builder.finish().map_err(Error::input)?)
            }
        })
    }
}

/// What R writes where nothing is known.
const NOT_AVAILABLE: &str = "NA";

impl<'a> Reports<'a> {
    fn new(under: &'a ReportedUnder, cell: usize) -> Result<Self, Error> {
        let (first, listed): (&Policy, Vec<(&str, Option<&Policy>)>) = match under {
            ReportedUnder::Policy(policy) => (&**policy, vec![("", Some(&**policy))]),
            ReportedUnder::By { column, designs } => {
                let Some(first) = designs.iter().find_map(|(_, policy)| policy.as_ref()) else {
                    return Err(Error::field(
                        "policy_by",
                        format!(
                            ": every value of {column:?} is clear: then the column is not randomised"
                        ),
                    ));
                };
                (
                    first,
                    designs.iter().map(|(name, policy)| (name.as_str(), policy.as_ref())).collect(),
                )
            }
        };
        let mut builder = EvidenceBuilder::of_policy(first).map_err(Error::input)?;
        let mut designs = Vec::new();
        let mut known = HashMap::new();
        for (at, (name, policy)) in listed.into_iter().enumerate() {
            let id = match policy {
                Some(policy) => builder.design(policy).map_err(Error::input)?,
                None => builder.clear(),
            };
            let symbols = Lookup::of_inputs(first.inputs());
            designs.push(ReportDesign { id, tokens: policy.map(Tokens::new), symbols });
            known.insert(name, at);
        }
        let by = match under {
            ReportedUnder::Policy(_) => None,
            // The cell that names the design was asked for right behind the report's.
            ReportedUnder::By { column, .. } => Some((cell + 1, column.as_str(), known)),
        };
        Ok(Self { builder, designs, by, batch: Batch::Indices(Vec::new()) })
    }

    fn look(&mut self, text: Option<&str>, cells: &[Option<&str>]) -> Result<Read, String> {
        let Some(text) = text else { return Ok(Read::Missing) };
        let design = match &self.by {
            None => 0,
            Some((cell, column, known)) => {
                let Some(name) = cells[*cell].filter(|name| *name != NOT_AVAILABLE) else {
                    return Ok(Read::Missing);
                };
                *known.get(name).ok_or_else(|| {
                    let name = shortened_to(40, name);
                    format!("has a row whose {column:?} is {name:?}, which {} does not list: add it with a policy or \"clear\"", mention("policy_by"))
                })?
            }
        };
        let ReportDesign { tokens, symbols, .. } = &self.designs[design];
        let code = match tokens {
            Some(tokens) => {
                self.batch = tokens.batch();
                tokens.read(text, &mut self.batch)
            }
            None => {
                let code = symbols.text(text);
                if let Code::Symbol(symbol) = code {
                    self.batch = Batch::Indices(vec![symbol]);
                }
                code
            }
        };
        match (code, tokens) {
            (Code::Symbol(_), _) => Ok(Read::Report(design)),
            (Code::Missing, _) => Ok(Read::Missing),
            (Code::Unknown, _) if text == NOT_AVAILABLE => Ok(Read::Missing),
            (code, Some(tokens)) => Err(format!(
                "{}: was it randomised under this policy? Name the policy it was with {}",
                tokens.complaint(code),
                mention("randomised")
            )),
            (_, None) => Err("is none of the policy's symbols, in a row that is clear".into()),
        }
    }

    /// Adds the report that was looked at last.
    fn keep(&mut self, design: usize) -> Result<(), String> {
        let id = self.designs[design].id;
        let added = match &self.batch {
            Batch::Indices(list) => match list.last() {
                Some(&index) => self.builder.push_index(id, index),
                None => Ok(()),
            },
            Batch::Bits(row) => self.builder.push_bits(id, row),
        };
        added.map_err(|error| format!(": {error}"))
    }
}

/// Categories in increasing order of their numbers, or of their letters where some are none; and the rows' codes in that order.
pub(super) fn ordered(names: HashMap<String, u32>, mut codes: Vec<u32>) -> (Vec<String>, Vec<u32>) {
    let mut list: Vec<(String, u32)> = names.into_iter().collect();
    let number = |name: &str| name.parse::<f64>().ok().filter(|number| number.is_finite());
    if list.iter().all(|(name, _)| number(name).is_some()) {
        let key = |name: &str| number(name).unwrap_or_default();
        list.sort_by(|a, b| key(&a.0).total_cmp(&key(&b.0)).then(a.0.cmp(&b.0)));
    } else {
        list.sort();
    }
    let mut place = vec![0; list.len()];
    list.iter().zip(0..).for_each(|((_, code), at)| place[*code as usize] = at);
    codes.iter_mut().for_each(|code| *code = place[*code as usize]);
    (list.into_iter().map(|(name, _)| name).collect(), codes)
}

/// Calls `visit` with the cells of every row; what it finds wrong is said behind the row's place.
fn each_row(source: Source, wanted: &[&str], visit: Visit<'_>) -> Result<(), Error> {
    match source.open()? {
        OpenedSource::Csv(file) => each_csv_row(file, wanted, visit),
        #[cfg(feature = "parquet")]
        OpenedSource::Parquet(file) => each_parquet_row(file, wanted, visit),
    }
}

#[cfg(feature = "parquet")]
fn each_parquet_row(
    file: crate::columns::parquet::ParquetFile,
    wanted: &[&str],
    visit: Visit<'_>,
) -> Result<(), Error> {
    let name = file.name.clone();
    let each = |row: &crate::columns::Row<'_>| {
        let cells: Vec<Option<&str>> = row.cells.iter().map(Option::as_deref).collect();
        let place = |what| Error::in_document(&name, format!("{}{what}", row.place()));
        visit(&cells).map_err(place)
    };
    file.each_row(wanted, each).map(|_| ())
}

fn each_csv_row(file: CsvFile, wanted: &[&str], visit: Visit<'_>) -> Result<(), Error> {
    let positions: Vec<usize> = wanted
        .iter()
        .map(|column| position(&file.name, column, &file.columns))
        .collect::<Result<_, _>>()?;
    let form = file.form();
    let (mut rows, mut lines) = (0, file.head_lines);
    for block in file.blocks {
        let block = block?;
        let mut number = 0;
        let walked = csv::each_record(&block, form, &positions, |record, texts| {
            number += 1;
            let cells: Vec<Option<&str>> =
                texts.iter().map(|text| crate::columns::present(text)).collect();
            visit(&cells).map_err(|what| {
                let place = RowPlace::in_block(number - 1, &block, record.start);
                BadRow { place, what }
            })
        });
        rows += walked.map_err(|bad: BadRow| {
            let place = bad.place.after(rows, lines);
            Error::in_document(&file.name, format!("{place}{}", bad.what))
        })?;
        lines += csv::lines(&block);
    }
    Ok(())
}
