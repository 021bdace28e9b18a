//! Counting perturbed columns, on many threads.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use undertone_core::{Family, Policy, Shape};
use undertone_estimate::Tally;

use super::reports::{NamedPolicy, ReportColumn, UnknownReports};
use crate::Error;
use crate::columns::csv::{self, CsvFile, CsvProblem};
use crate::columns::{Code, Lookup, OpenedSource, RowPlace, Source, in_order, position, threads};
use crate::error::{listed, mention};

/// What happened to the rows that were read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RowCounts {
    /// How many there were.
    pub rows: u64,
    /// How many were left out because no policy releases what they hold, or because their policy is not given.
    pub unknown: u64,
    /// How many were left out because they hold nothing.
    pub missing: u64,
}

impl RowCounts {
    pub(super) fn add(&mut self, other: &Self) {
        self.rows += other.rows;
        self.unknown += other.unknown;
        self.missing += other.missing;
    }

    /// How many were left out.
    pub fn skipped(&self) -> u64 {
        self.unknown + self.missing
    }
}

/// Reads reports of one policy or several.
pub(super) struct Reader<'a> {
    pub(super) asked: &'a ReportColumn,
    pub(super) policies: Vec<Tokens<'a>>,
    /// What the policy column may say, and which policy is meant.
    names: HashMap<String, usize>,
}

/// How one policy's outputs are written in cells.
pub(crate) struct Tokens<'a> {
    pub(super) policy: &'a Policy,
    pub(super) kind: CountedKind,
}

pub(crate) enum CountedKind {
    Indices(Lookup),
    /// Hexadecimal digits of packed bits.
    Bits {
        symbols: usize,
    },
}

/// Reports of one policy, as yet uncounted.
pub(crate) enum Batch {
    Indices(Vec<u32>),
    Bits(Vec<u8>),
}

/// What one thread has read: batches still to be counted, and tallies, one for every policy.
pub(super) struct Counter {
    pub(super) batches: Vec<Batch>,
    tallies: Vec<Tally>,
}

/// A row whose cell is no report; its place counts from the beginning of the piece read.
pub(crate) struct BadRow {
    pub(crate) place: RowPlace,
    pub(crate) what: String,
}

impl From<CsvProblem> for BadRow {
    fn from(problem: CsvProblem) -> Self {
        Self { place: problem.place, what: format!(" {}", problem.what) }
    }
}

impl Counter {
    fn new(policies: &[Tokens<'_>]) -> Self {
        Self {
            batches: policies.iter().map(Tokens::batch).collect(),
            tallies: policies.iter().map(|tokens| Tally::new(tokens.policy)).collect(),
        }
    }

    /// Counts what the batches hold.
    pub(super) fn flush(&mut self) -> Result<(), Error> {
        for (batch, tally) in self.batches.iter_mut().zip(&mut self.tallies) {
            match batch {
                Batch::Indices(indices) => {
                    tally.add_indices(indices).map_err(Error::input)?;
                    indices.clear();
                }
                Batch::Bits(rows) => {
                    tally.add_packed_bits(rows).map_err(Error::input)?;
                    rows.clear();
                }
            }
        }
        Ok(())
    }
}

impl<'a> Tokens<'a> {
    pub(crate) fn new(policy: &'a Policy) -> Self {
        let draft = policy.draft();
        let kind = match draft.shape().releases_bits() {
            true => CountedKind::Bits { symbols: draft.shape().outputs() },
            false => CountedKind::Indices(Lookup::of_outputs(draft.outputs())),
        };
        Self { policy, kind }
    }

    pub(crate) fn batch(&self) -> Batch {
        match self.kind {
            CountedKind::Indices(_) => Batch::Indices(Vec::new()),
            CountedKind::Bits { .. } => Batch::Bits(Vec::new()),
        }
    }

    /// Adds a cell's report to the batch, if it is one.
    pub(crate) fn read(&self, text: &str, batch: &mut Batch) -> Code {
        match (&self.kind, batch) {
            (CountedKind::Indices(lookup), Batch::Indices(indices)) => {
                let code = lookup.text(text);
                if let Code::Symbol(index) = code {
                    indices.push(index);
                }
                code
            }
            (CountedKind::Bits { symbols }, Batch::Bits(rows)) => {
                read_bits(text.trim(), *symbols, rows)
            }
            _ => Code::Unknown,
        }
    }

    /// What is wrong with a cell. What it says is not repeated: it may never have been perturbed.
    pub(crate) fn complaint(&self, code: Code) -> String {
        match &self.kind {
            _ if code == Code::Missing => "is empty or NaN".into(),
            CountedKind::Bits { symbols } => {
                let ones = match self.policy.draft().shape() {
                    Shape::Incidence(incidence) => match incidence.family() {
                        Family::Subsets(subsets) => format!(", {} of them ones", subsets.size()),
                        Family::Geometry(_) | Family::Listed(_) => String::new(),
                    },
                    Shape::Table(_) | Shape::Keep(_) | Shape::Bits(_) => String::new(),
                };
                let digits = 2 * symbols.div_ceil(8);
                format!("is not {digits} hexadecimal digits for {symbols} bits{ones}")
            }
            CountedKind::Indices(_) => {
                let outputs = self.policy.draft().outputs();
                let known = listed((0..outputs.len()).map(|y| outputs.label(y)), 5);
                format!("is none of the policy's {} outputs ({known})", outputs.len())
            }
        }
    }
}

/// Adds the packed bits a cell writes in hexadecimal digits. A row of bits is no single symbol: that it
/// was read is all the code says.
fn read_bits(text: &str, symbols: usize, rows: &mut Vec<u8>) -> Code {
    if text.is_empty() {
        return Code::Missing;
    }
    let width = symbols.div_ceil(8);
    let digit = |byte: u8| (byte as char).to_digit(16).map(|digit| digit as u8);
    let start = rows.len();
    let pairs = text.as_bytes().chunks_exact(2);
    let whole = pairs.remainder().is_empty();
    for pair in pairs {
        match (digit(pair[0]), digit(pair[1])) {
            (Some(high), Some(low)) => rows.push(high << 4 | low),
            _ => break,
        }
    }
    let spare = ((1u16 << (8 * width - symbols)) - 1) as u8;
    let fits = whole
        && rows.len() - start == width
        && text.len() == 2 * width
        && rows.last().is_some_and(|last| last & spare == 0);
    if fits {
        return Code::Symbol(0);
    }
    rows.truncate(start);
    Code::Unknown
}

impl<'a> Reader<'a> {
    /// Prepares the policies; refuses one that is given twice.
    pub(super) fn new(asked: &'a ReportColumn, policies: &'a [NamedPolicy]) -> Result<Self, Error> {
        let mut names: HashMap<String, Option<usize>> = HashMap::new();
        for (at, named) in policies.iter().enumerate() {
            for name in named.all_names() {
                // A name that two policies share means neither.
                names.entry(name).and_modify(|known| *known = None).or_insert(Some(at));
            }
        }
        let ids: Vec<_> = policies.iter().map(|named| named.policy.id()).collect();
        if let Some(at) = (1..ids.len()).find(|&at| ids[..at].contains(&ids[at])) {
            let problem = format!("{} is given twice: give it once", policies[at].name);
            return Err(Error::field("policy", problem));
        }
        let names = names.into_iter().filter_map(|(name, at)| Some((name, at?))).collect();
        let policies = policies.iter().map(|named| Tokens::new(&named.policy)).collect();
        Ok(Self { asked, policies, names })
    }

    /// Prepares the policies of groups, which the policy column calls by the groups' names alone.
    pub(super) fn by_group(asked: &'a ReportColumn, groups: &'a [(String, Policy)]) -> Self {
        let names = groups.iter().zip(0..).map(|((name, _), at)| (name.clone(), at)).collect();
        let policies = groups.iter().map(|(_, policy)| Tokens::new(policy)).collect();
        Self { asked, policies, names }
    }

    /// Adds a file's reports to the tallies, one for every policy.
    pub(super) fn read(&self, rows: Source, tallies: &mut [Tally]) -> Result<RowCounts, Error> {
        match rows.open()? {
            OpenedSource::Csv(file) => self.read_csv(file, tallies),
            #[cfg(feature = "parquet")]
            OpenedSource::Parquet(file) => self.read_parquet(&file, tallies),
        }
    }

    /// Adds the reports of cells in memory, each with the name of its policy, to the tallies.
    pub(super) fn read_texts(
        &self,
        cells: impl Iterator<Item = (Option<String>, Option<String>)>,
        tallies: &mut [Tally],
    ) -> Result<RowCounts, Error> {
        let mut counter = Counter::new(&self.policies);
        let mut counted = RowCounts::default();
        for (text, policy) in cells {
            counted.rows += 1;
            let (text, policy) = (text.unwrap_or_default(), policy.unwrap_or_default());
            self.row(&text, Some(&policy), &mut counter.batches, &mut counted)
                .map_err(|what| Error::input(format!("row {}{what}", counted.rows)))?;
        }
        counter.flush()?;
        for (tally, own) in tallies.iter_mut().zip(&counter.tallies) {
            tally.merge(own).map_err(Error::input)?;
        }
        Ok(counted)
    }

    fn read_csv(&self, file: CsvFile, tallies: &mut [Tally]) -> Result<RowCounts, Error> {
        let mut wanted = vec![position(&file.name, &self.asked.column, &file.columns)?];
        if let Some(column) = &self.asked.policy_column {
            wanted.push(position(&file.name, column, &file.columns)?);
        }
        let form = file.form();
        let work = |block: Vec<u8>, counter: &mut Counter| {
            let mut counted = RowCounts::default();
            let walked = csv::each_record(&block, form, &wanted, |record, texts| {
                counted.rows += 1;
                let policy = texts.get(1).map(AsRef::as_ref);
                self.row(&texts[0], policy, &mut counter.batches, &mut counted).map_err(|what| {
                    let place = RowPlace::in_block(counted.rows - 1, &block, record.start);
                    BadRow { place, what }
                })
            });
            Ok((walked.map(|_| counted), csv::lines(&block)))
        };
        self.count_all(&file.name, file.blocks, file.head_lines, tallies, work, |_| {})
    }

    /// Counts pieces of a file on many threads; `work` also says how many lines its piece has.
    pub(super) fn count_all<I: Send>(
        &self,
        source: &str,
        pieces: impl Iterator<Item = Result<I, Error>> + Send,
        mut lines_before: u64,
        tallies: &mut [Tally],
        work: impl Fn(I, &mut Counter) -> Result<(Result<RowCounts, BadRow>, u64), Error> + Sync,
        mut done: impl FnMut(&RowCounts),
    ) -> Result<RowCounts, Error> {
        // A lock of its own for every thread: nobody waits.
        let counters: Vec<Mutex<Counter>> = (0..threads(self.asked.threads))
            .map(|_| Mutex::new(Counter::new(&self.policies)))
            .collect();
        let workers = counters.iter().map(|counter| {
            let work = &work;
            move |piece: I| {
                let mut counter = counter.lock().unwrap_or_else(PoisonError::into_inner);
                let result = work(piece, &mut counter)?;
                counter.flush()?;
                Ok(result)
            }
        });
        let mut sum = RowCounts::default();
        in_order(pieces, workers.collect(), |(counted, lines)| {
            let counted = counted.map_err(|bad: BadRow| {
                let place = bad.place.after(sum.rows, lines_before);
                Error::in_document(source, format!("{place}{}", bad.what))
            })?;
            sum.add(&counted);
            lines_before += lines;
            done(&counted);
            Ok(())
        })?;
        for counter in counters {
            let counter = counter.into_inner().unwrap_or_else(PoisonError::into_inner);
            for (tally, own) in tallies.iter_mut().zip(&counter.tallies) {
                tally.merge(own).map_err(Error::input)?;
            }
        }
        Ok(sum)
    }

    /// Takes one row's report; says what is wrong with it if it may not be skipped.
    pub(super) fn row(
        &self,
        text: &str,
        policy: Option<&str>,
        batches: &mut [Batch],
        counted: &mut RowCounts,
    ) -> Result<(), String> {
        let at = match policy {
            None => 0,
            Some(name) => match self.names.get(name.trim()) {
                Some(&at) => at,
                None => return self.skip(Code::Unknown, counted, || self.unknown_policy()),
            },
        };
        let tokens = &self.policies[at];
        match tokens.read(text, &mut batches[at]) {
            Code::Symbol(_) => Ok(()),
            code => self.skip(code, counted, || {
                format!(", column {:?} {}", self.asked.column, tokens.complaint(code))
            }),
        }
    }

    fn unknown_policy(&self) -> String {
        format!(
            ", column {:?} names none of the policies or groups given",
            self.asked.policy_column.as_deref().unwrap_or_default()
        )
    }

    /// Counts a row that is left out, or says why it may not be.
    pub(super) fn skip(
        &self,
        code: Code,
        counted: &mut RowCounts,
        complaint: impl FnOnce() -> String,
    ) -> Result<(), String> {
        match (self.asked.unknown, code) {
            (UnknownReports::Refuse, _) => Err(format!(
                "{}: was it perturbed under this policy? Mend it, or use {} skip",
                complaint(),
                mention("unknown")
            )),
            (UnknownReports::Skip, Code::Missing) => {
                counted.missing += 1;
                Ok(())
            }
            (UnknownReports::Skip, _) => {
                counted.unknown += 1;
                Ok(())
            }
        }
    }
}
