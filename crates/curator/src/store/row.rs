//! Rows as they are stored: the columns of every table, and the checksum that a row carries.
//!
//! A checksum is no signature: it tells a disk or a memory that flips bits, and nothing about people who can
//! write to the store.

use std::borrow::Cow;

use super::{RoundStep, StoreError, TokenRecord};
use undertone_wire::SurveyId;

/// One value of a row.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Cell<'a> {
    /// Nothing.
    Null,
    /// A number, or a yes (1) or no (0).
    Int(i64),
    /// A text.
    Text(Cow<'a, str>),
    /// Bytes.
    Bytes(Cow<'a, [u8]>),
}

impl Cell<'_> {
    /// The number, if it is one.
    pub(crate) fn int(&self) -> Option<i64> {
        if let Self::Int(number) = self { Some(*number) } else { None }
    }

    /// The text, or nothing.
    pub(crate) fn text(&self) -> &str {
        if let Self::Text(text) = self { text } else { "" }
    }

    /// The bytes, or none.
    pub(crate) fn bytes(&self) -> &[u8] {
        if let Self::Bytes(bytes) = self { bytes } else { &[] }
    }
}

impl Cell<'_> {
    /// The same with its text or bytes its own.
    pub(crate) fn into_owned(self) -> Cell<'static> {
        match self {
            Self::Null => Cell::Null,
            Self::Int(number) => Cell::Int(number),
            Self::Text(text) => Cell::Text(text.into_owned().into()),
            Self::Bytes(bytes) => Cell::Bytes(bytes.into_owned().into()),
        }
    }
}

impl From<i64> for Cell<'_> {
    fn from(number: i64) -> Self {
        Self::Int(number)
    }
}

impl From<bool> for Cell<'_> {
    fn from(yes: bool) -> Self {
        Self::Int(i64::from(yes))
    }
}

impl From<Option<i64>> for Cell<'_> {
    fn from(number: Option<i64>) -> Self {
        number.map_or(Self::Null, Self::Int)
    }
}

impl<'a> From<&'a str> for Cell<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text.into())
    }
}

impl<'a> From<Option<&'a str>> for Cell<'a> {
    fn from(text: Option<&'a str>) -> Self {
        text.map_or(Self::Null, Self::from)
    }
}

impl<'a> From<&'a [u8]> for Cell<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Self::Bytes(bytes.into())
    }
}

/// What a column holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// A whole number.
    Int,
    /// Yes or no: PostgreSQL has a type for it.
    Flag,
    /// A text.
    Text,
    /// Bytes.
    Bytes,
}

use Kind::{Bytes, Flag, Int, Text};

/// A table: its columns without the checksum, those of its key first.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) name: &'static str,
    pub(crate) columns: &'static [(&'static str, Kind)],
    /// How many columns are the key.
    pub(crate) key: usize,
    /// Whether the engine gives out the first column, which the checksum then leaves out.
    pub(crate) numbered: bool,
    /// Whether rows have a checksum; entries of the log have their own hashes.
    pub(crate) summed: bool,
}

pub(crate) const SURVEY: Table = Table {
    name: "survey",
    columns: &[("id", Text), ("version", Int), ("document", Text)],
    key: 1,
    numbered: false,
    summed: true,
};
pub(crate) const EVENT: Table = Table {
    name: "event",
    columns: &[
        ("survey", Text),
        ("seq", Int),
        ("at", Int),
        ("kind", Text),
        ("detail", Text),
        ("previous", Bytes),
        ("hash", Bytes),
    ],
    key: 2,
    numbered: false,
    summed: false,
};
pub(crate) const POLICY: Table = Table {
    name: "policy",
    columns: &[("id", Int), ("name", Bytes), ("outputs", Int), ("bits", Flag), ("bytes", Bytes)],
    key: 1,
    numbered: true,
    summed: true,
};
pub(crate) const ROUND: Table = Table {
    name: "round",
    columns: &[
        ("id", Int),
        ("survey", Text),
        ("number", Int),
        ("state", Int),
        ("held", Flag),
        ("opened", Int),
        ("sealed", Int),
        ("released", Int),
        ("swept", Flag),
        ("wiped", Flag),
    ],
    key: 1,
    numbered: true,
    summed: true,
};
pub(crate) const TALLY: Table = Table {
    name: "tally",
    columns: &[
        ("round", Int),
        ("policy", Int),
        ("position", Int),
        ("reports", Int),
        ("duplicates", Int),
        ("counts", Bytes),
    ],
    key: 2,
    numbered: false,
    summed: true,
};
pub(crate) const RUN: Table = Table {
    name: "run",
    columns: &[("id", Int), ("round", Int), ("ids", Int), ("target", Int)],
    key: 1,
    numbered: true,
    summed: true,
};
pub(crate) const CHUNK: Table = Table {
    name: "chunk",
    columns: &[("run", Int), ("first", Bytes), ("ids", Bytes)],
    key: 2,
    numbered: false,
    summed: true,
};
pub(crate) const BATCH: Table = Table {
    name: "batch",
    columns: &[("seq", Int), ("round", Int), ("policy", Int), ("reports", Int), ("rows", Bytes)],
    key: 1,
    numbered: true,
    summed: true,
};
pub(crate) const TOKEN: Table = Table {
    name: "token",
    columns: &[
        ("id", Text),
        ("name", Text),
        ("role", Text),
        ("survey", Text),
        ("hash", Bytes),
        ("created", Int),
        ("created_by", Text),
        ("revoked", Int),
        ("revoked_by", Text),
    ],
    key: 1,
    numbered: false,
    summed: true,
};

/// Every table, each after those it refers to.
pub(crate) static TABLES: [Table; 9] =
    [SURVEY, EVENT, POLICY, ROUND, TALLY, RUN, CHUNK, BATCH, TOKEN];

impl Table {
    /// The checksum of a row. `cells` are its columns in order, without the number the engine gave it.
    pub(crate) fn sum(&self, cells: &[Cell<'_>]) -> i64 {
        let mut sum = crc32fast::Hasher::new();
        sum.update(self.name.as_bytes());
        for cell in cells {
            // Each value behind its kind and length, so that nothing flows from one into the next.
            let mut put = |kind: u8, bytes: &[u8]| {
                let mut head = [kind, 0, 0, 0, 0, 0, 0, 0, 0];
                head[1..].copy_from_slice(&(bytes.len() as u64).to_be_bytes());
                sum.update(&head);
                sum.update(bytes);
            };
            match cell {
                Cell::Null => put(0, &[]),
                Cell::Int(number) => put(1, &number.to_be_bytes()),
                Cell::Text(text) => put(2, text.as_bytes()),
                Cell::Bytes(bytes) => put(3, bytes),
            }
        }
        i64::from(sum.finalize())
    }

    /// Refuses a row that was read with another checksum than its own.
    pub(crate) fn verify(&self, cells: &[Cell<'_>], found: i64) -> Result<(), StoreError> {
        if self.sum(cells) == found {
            return Ok(());
        }
        let name = self.name;
        Err(StoreError::Corrupt(format!("a row of the table {name} does not have its checksum")))
    }

    /// The cells of a whole row that its checksum covers.
    pub(crate) fn covered<'a, 'b>(&self, row: &'a [Cell<'b>]) -> &'a [Cell<'b>] {
        let end = self.columns.len().min(row.len());
        &row[usize::from(self.numbered).min(end)..end]
    }

    /// The columns' names, each behind a prefix, with the checksum at the end where there is one.
    pub(crate) fn names(&self, prefix: &str) -> String {
        let mut names: Vec<String> =
            self.columns.iter().map(|(name, _)| format!("{prefix}{name}")).collect();
        if self.summed {
            names.push(format!("{prefix}checksum"));
        }
        names.join(", ")
    }
}

/// A round's row.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct RoundRow {
    pub(crate) id: i64,
    pub(crate) survey: String,
    pub(crate) number: i64,
    pub(crate) state: i64,
    pub(crate) held: bool,
    pub(crate) opened: i64,
    pub(crate) sealed: Option<i64>,
    pub(crate) released: Option<i64>,
    pub(crate) swept: bool,
    pub(crate) wiped: bool,
}

impl RoundRow {
    /// A new, open round; the engine has yet to number it.
    pub(crate) fn new(survey: &str, number: u32, opened: i64) -> Self {
        Self {
            id: 0,
            survey: survey.into(),
            number: number.into(),
            state: 0,
            held: false,
            opened,
            sealed: None,
            released: None,
            swept: false,
            wiped: false,
        }
    }

    /// Its checksum.
    pub(crate) fn sum(&self) -> i64 {
        ROUND.sum(&self.cells())
    }

    /// Itself, if its checksum is the one found.
    pub(crate) fn verified(self, found: i64) -> Result<Self, StoreError> {
        ROUND.verify(&self.cells(), found)?;
        Ok(self)
    }

    /// Moves it on.
    pub(crate) fn take(&mut self, step: RoundStep) {
        match step {
            RoundStep::Hold => self.held = true,
            RoundStep::Resume => self.held = false,
            RoundStep::Seal(at) => (self.state, self.sealed, self.held) = (1, Some(at), false),
        }
    }

    /// Whether it takes reports.
    pub(crate) fn is_open(&self) -> bool {
        self.state == 0 && !self.held
    }

    fn cells(&self) -> [Cell<'_>; 9] {
        [
            (&*self.survey).into(),
            self.number.into(),
            self.state.into(),
            self.held.into(),
            self.opened.into(),
            self.sealed.into(),
            self.released.into(),
            self.swept.into(),
            self.wiped.into(),
        ]
    }
}

/// A tally's row.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct TallyRow {
    pub(crate) round: i64,
    pub(crate) policy: i64,
    pub(crate) position: i64,
    pub(crate) reports: i64,
    pub(crate) duplicates: i64,
    pub(crate) counts: Vec<u8>,
}

impl TallyRow {
    /// Its checksum.
    pub(crate) fn sum(&self) -> i64 {
        TALLY.sum(&self.cells())
    }

    /// Itself, if its checksum is the one found.
    pub(crate) fn verified(self, found: i64) -> Result<Self, StoreError> {
        TALLY.verify(&self.cells(), found)?;
        Ok(self)
    }

    fn cells(&self) -> [Cell<'_>; 6] {
        [
            self.round.into(),
            self.policy.into(),
            self.position.into(),
            self.reports.into(),
            self.duplicates.into(),
            (&*self.counts).into(),
        ]
    }
}

/// A token as its row.
pub(crate) fn token_cells(token: &TokenRecord) -> [Cell<'_>; 9] {
    let TokenRecord { id, name, role, survey, hash, created, created_by, revoked } = token;
    [
        (&**id).into(),
        (&**name).into(),
        (&**role).into(),
        survey.as_ref().map(SurveyId::as_str).into(),
        hash[..].into(),
        (*created).into(),
        (&**created_by).into(),
        revoked.as_ref().map(|(at, _)| *at).into(),
        revoked.as_ref().map(|(_, by)| &**by).into(),
    ]
}

/// A token from its row, if its checksum is the one found.
pub(crate) fn token_of(cells: &[Cell<'_>], found: i64) -> Result<TokenRecord, StoreError> {
    TOKEN.verify(cells, found)?;
    let wrong = || StoreError::Corrupt("a token that makes no sense".into());
    let survey = match &cells[3] {
        Cell::Null => None,
        text => Some(text.text().parse().map_err(|_| wrong())?),
    };
    Ok(TokenRecord {
        id: cells[0].text().into(),
        name: cells[1].text().into(),
        role: cells[2].text().into(),
        survey,
        hash: cells[4].bytes().try_into().map_err(|_| wrong())?,
        created: cells[5].int().ok_or_else(wrong)?,
        created_by: cells[6].text().into(),
        revoked: cells[7].int().map(|at| (at, cells[8].text().into())),
    })
}

/// Refuses to revoke what is not there or revoked already.
pub(crate) fn revocable<'a>(
    tokens: &'a [TokenRecord],
    id: &str,
) -> Result<&'a TokenRecord, StoreError> {
    let found = tokens.iter().find(|token| token.id == id);
    let token = found.ok_or_else(|| StoreError::NotFound(format!("token {id}")))?;
    match &token.revoked {
        None => Ok(token),
        Some(_) => Err(StoreError::Conflict(format!("token {id} is revoked already"))),
    }
}

/// Refuses a name that another token has which works.
pub(crate) fn unused_name(
    tokens: &[TokenRecord],
    revoked: Option<&str>,
    name: &str,
) -> Result<(), StoreError> {
    let works = |token: &&TokenRecord| token.revoked.is_none() && Some(&*token.id) != revoked;
    match tokens.iter().filter(works).find(|token| token.name == name) {
        None => Ok(()),
        Some(_) => Err(StoreError::Conflict(format!("there is a token for {name:?} already"))),
    }
}

/// The checksum of a survey's row.
pub(crate) fn survey_sum(id: &str, version: u64, document: &str) -> i64 {
    SURVEY.sum(&[id.into(), (version as i64).into(), document.into()])
}

/// The checksum of a policy's row.
pub(crate) fn policy_sum(name: &[u8], outputs: u32, bits: bool, bytes: &[u8]) -> i64 {
    POLICY.sum(&[name.into(), i64::from(outputs).into(), bits.into(), bytes.into()])
}

/// The checksum of a run's row.
pub(crate) fn run_sum(round: i64, ids: u64, target: Option<i64>) -> i64 {
    RUN.sum(&[round.into(), (ids as i64).into(), target.into()])
}

/// The checksum of a chunk's row. Its first id is part of its ids.
pub(crate) fn chunk_sum(run: i64, ids: &[u8]) -> i64 {
    let first = &ids[..ids.len().min(undertone_wire::ID_BYTES)];
    CHUNK.sum(&[run.into(), first.into(), ids.into()])
}

/// The ids of a chunk that was read, if its checksum is the one found.
pub(crate) fn verified_chunk(run: i64, ids: Vec<u8>, found: i64) -> Result<Vec<u8>, StoreError> {
    if chunk_sum(run, &ids) == found {
        return Ok(ids);
    }
    Err(StoreError::Corrupt("ids of counted reports do not have their checksum".into()))
}

/// The checksum of a row of reports.
pub(crate) fn batch_sum(round: i64, policy: i64, reports: i64, rows: &[u8]) -> i64 {
    BATCH.sum(&[round.into(), policy.into(), reports.into(), rows.into()])
}

/// Refuses reports that were read with another checksum than their own.
pub(crate) fn verify_batch(
    (round, policy): (i64, i64),
    reports: i64,
    rows: &[u8],
    found: i64,
) -> Result<(), StoreError> {
    BATCH.verify(&[round.into(), policy.into(), reports.into(), rows.into()], found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_flipped_bit_shows() {
        let ids: Vec<u8> = (0..160u32).map(|n| (n * 37) as u8).collect();
        let sum = chunk_sum(3, &ids);
        for bit in 0..8 * ids.len() {
            let mut flipped = ids.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert_ne!(chunk_sum(3, &flipped), sum, "bit {bit}");
        }
        assert_ne!(chunk_sum(4, &ids), sum);
        assert!(verified_chunk(3, ids, sum ^ 1).is_err());
    }

    #[test]
    fn values_do_not_flow_into_each_other() {
        assert_ne!(survey_sum("ab", 1, "c"), survey_sum("a", 1, "bc"));
        assert_ne!(run_sum(1, 2, None), run_sum(1, 2, Some(0)));
        let round = RoundRow::new("coffee", 1, 7);
        let sealed = RoundRow { state: 1, sealed: Some(7), ..round.clone() };
        assert!(round.clone().verified(round.sum()).is_ok());
        assert!(sealed.verified(round.sum()).is_err());
    }

    #[test]
    fn every_table_names_its_columns_once() {
        for table in &TABLES {
            let mut names: Vec<&str> = table.columns.iter().map(|(name, _)| *name).collect();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), table.columns.len(), "{}", table.name);
            assert!(table.key >= 1 && table.key < table.columns.len());
        }
    }
}
