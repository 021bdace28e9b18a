//! Whether a store is sound: every row has its checksum, what one table says agrees with the others, and the log's
//! chain holds.
//!
//! The rows come in the order of [`TABLES`], so that each is compared with those it refers to; of
//! the large tables nothing is kept but the last row.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use undertone_wire::{ID_BYTES, TokenShape};

use super::fold::decode;
use super::row::{Cell, TABLES};
use super::{ChainedEvent, Event};

/// Faults that are listed; more are only counted.
const LISTED: usize = 100;

/// What a store holds, and what is wrong with it.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Checked {
    /// Surveys, deleted ones included, of which the log is left.
    pub surveys: u64,
    /// Entries of all logs.
    pub entries: u64,
    /// Policies.
    pub policies: u64,
    /// Rounds.
    pub rounds: u64,
    /// Reports counted.
    pub reports: u64,
    /// Repetitions that were not counted.
    pub duplicates: u64,
    /// Reports that wait to be counted.
    pub waiting: u64,
    /// Ids kept so that reports of open rounds are not counted twice.
    pub ids: u64,
    /// Named tokens, revoked ones included.
    pub tokens: u64,
    /// What is wrong, in words: at most a hundred.
    pub faults: Vec<String>,
    /// Faults beyond those listed.
    pub more_faults: u64,
}

impl Checked {
    /// Whether nothing is wrong.
    pub fn is_sound(&self) -> bool {
        self.faults.is_empty()
    }

    fn fault(&mut self, fault: String) {
        if self.faults.len() < LISTED {
            self.faults.push(fault);
        } else {
            self.more_faults += 1;
        }
    }
}

/// A row as it was read, with the checksum beside it if its table has them.
pub(crate) struct StoredRow {
    pub(crate) cells: Vec<Cell<'static>>,
    pub(crate) sum: Option<i64>,
}

/// What reading a store from end to end gives.
pub(crate) enum Reading {
    /// Some rows of the table of this number.
    Rows(usize, Vec<StoredRow>),
    /// Something the engine itself finds wrong.
    Fault(String),
}

struct Round {
    name: String,
    state: i64,
    swept: bool,
    /// By its tallies.
    reports: u64,
    tallies: u64,
}

struct Run {
    round: i64,
    ids: u64,
    target: Option<i64>,
    found: u64,
}

/// Compares the rows with each other as they come.
#[derive(Default)]
pub(crate) struct Checker {
    checked: Checked,
    surveys: BTreeSet<String>,
    last_event: Option<ChainedEvent>,
    policies: BTreeMap<i64, TokenShape>,
    rounds: BTreeMap<i64, Round>,
    tallied: BTreeSet<(i64, i64)>,
    runs: BTreeMap<i64, Run>,
    /// The last id of the chunk before, and its run.
    last_id: Option<(i64, Vec<u8>)>,
}

fn number(cell: &Cell<'_>) -> i64 {
    cell.int().unwrap_or(-1)
}

fn whole(cell: &Cell<'_>) -> u64 {
    u64::try_from(number(cell)).unwrap_or(0)
}

impl Checker {
    /// Takes what was read.
    pub(crate) fn take(&mut self, reading: &Reading) {
        match reading {
            Reading::Fault(fault) => self.checked.fault(fault.clone()),
            Reading::Rows(table, rows) => {
                for row in rows {
                    self.row(*table, row);
                }
            }
        }
    }

    fn row(&mut self, number: usize, StoredRow { cells, sum }: &StoredRow) {
        let table = &TABLES[number];
        if table.summed && *sum != Some(table.sum(table.covered(cells))) {
            let key: Vec<String> = cells[..table.key].iter().map(shown).collect();
            let key = key.join(", ");
            self.fault(format!("the row {key} of the table {} has not its checksum", table.name));
        }
        match table.name {
            "survey" => {
                self.checked.surveys += 1;
                self.surveys.insert(cells[0].text().to_owned());
            }
            "event" => self.event(cells),
            "policy" => self.policy(cells),
            "round" => self.round(cells),
            "tally" => self.tally(cells),
            "run" => self.run(cells),
            "chunk" => self.chunk(cells),
            "batch" => self.batch(cells),
            _ => self.checked.tokens += 1,
        }
    }

    fn fault(&mut self, fault: String) {
        self.checked.fault(fault);
    }

    fn event(&mut self, cells: &[Cell<'_>]) {
        self.checked.entries += 1;
        let (survey, seq) = (cells[0].text(), whole(&cells[1]));
        let hash = |cell: &Cell<'_>| <[u8; 32]>::try_from(cell.bytes()).unwrap_or([0; 32]);
        let known = self.surveys.contains(survey);
        let Some(id) = survey.parse().ok().filter(|_| known) else {
            return self
                .fault(format!("the log has an entry about {survey:?}, which is no survey"));
        };
        let event = Event {
            survey: id,
            at: number(&cells[2]),
            kind: cells[3].text().to_owned(),
            detail: cells[4].text().to_owned(),
        };
        let entry = ChainedEvent { seq, event, previous: hash(&cells[5]), hash: hash(&cells[6]) };
        let before = self.last_event.take().filter(|last| last.event.survey == entry.event.survey);
        let follows = match &before {
            Some(before) => before.precedes(&entry),
            None => entry.is_first(),
        };
        if !follows {
            self.fault(format!(
                "entry {seq} of the log of {survey} does not follow from the one before"
            ));
        }
        self.last_event = Some(entry);
    }

    fn policy(&mut self, cells: &[Cell<'_>]) {
        self.checked.policies += 1;
        let outputs = u32::try_from(number(&cells[2])).unwrap_or(0);
        let tokens = TokenShape { outputs, bits: number(&cells[3]) != 0 };
        self.policies.insert(number(&cells[0]), tokens);
    }

    fn round(&mut self, cells: &[Cell<'_>]) {
        self.checked.rounds += 1;
        let name = format!("round {} of survey {}", number(&cells[2]), cells[1].text());
        if !self.surveys.contains(cells[1].text()) {
            self.fault(format!("there is a {name}, and no such survey"));
        }
        let (state, swept) = (number(&cells[3]), number(&cells[8]) != 0);
        let round = Round { name, state, swept, reports: 0, tallies: 0 };
        self.rounds.insert(number(&cells[0]), round);
    }

    fn tally(&mut self, cells: &[Cell<'_>]) {
        let (of, policy) = (number(&cells[0]), number(&cells[1]));
        let (reports, tokens) = (whole(&cells[3]), self.policies.get(&policy).copied());
        self.checked.reports += reports;
        self.checked.duplicates += whole(&cells[4]);
        let (Some(round), Some(tokens)) = (self.rounds.get_mut(&of), tokens) else {
            return self.fault(format!(
                "the tally of round {of} and policy {policy} has lost one of them"
            ));
        };
        round.reports += reports;
        round.tallies += 1;
        let name = round.name.clone();
        self.tallied.insert((of, policy));
        let agree =
            decode(cells[5].bytes(), tokens.outputs).is_ok_and(|counts| match tokens.bits {
                false => counts.iter().sum::<u64>() == reports,
                true => counts.iter().all(|&count| count <= reports),
            });
        if !agree {
            self.fault(format!("the counts of {name} are not those of its {reports} reports"));
        }
    }

    fn run(&mut self, cells: &[Cell<'_>]) {
        let (id, round) = (number(&cells[0]), number(&cells[1]));
        if self.rounds.get(&round).is_none_or(|round| round.swept) {
            self.fault(format!("the run {id} belongs to no round that keeps ids"));
        }
        self.runs
            .insert(id, Run { round, ids: whole(&cells[2]), target: cells[3].int(), found: 0 });
    }

    fn chunk(&mut self, cells: &[Cell<'_>]) {
        let (run, first, ids) = (number(&cells[0]), cells[1].bytes(), cells[2].bytes());
        let count = (ids.len() / ID_BYTES) as u64;
        self.checked.ids += count;
        let whole = !ids.is_empty() && ids.len().is_multiple_of(ID_BYTES);
        let ascending = ids.chunks(ID_BYTES).is_sorted_by(|a, b| a < b);
        let before = self.last_id.take().filter(|(of, _)| *of == run);
        let behind = before.is_none_or(|(_, last)| last.as_slice() < first);
        if !whole || !ascending || !behind || !ids.starts_with(first) || first.len() != ID_BYTES {
            self.fault(format!("the ids of run {run} are not in order"));
        }
        if whole {
            self.last_id = Some((run, ids[ids.len() - ID_BYTES..].to_vec()));
        }
        match self.runs.get_mut(&run) {
            Some(run) => run.found += count,
            None => self.fault(format!("there are ids of run {run}, and no such run")),
        }
    }

    fn batch(&mut self, cells: &[Cell<'_>]) {
        let (seq, round, policy) = (number(&cells[0]), number(&cells[1]), number(&cells[2]));
        let (reports, rows) = (whole(&cells[3]), cells[4].bytes());
        self.checked.waiting += reports;
        let fits = self.tallied.contains(&(round, policy))
            && self.policies.get(&policy).is_some_and(|tokens| {
                tokens.check(rows).is_ok()
                    && rows.len() as u64 == reports.saturating_mul(tokens.row_bytes() as u64)
            });
        if !fits {
            self.fault(format!(
                "the reports in row {seq}, which wait, do not fit their round and policy"
            ));
        }
    }

    /// What was found, after the last row.
    pub(crate) fn finish(mut self) -> Checked {
        let targets: BTreeSet<i64> = self.runs.values().filter_map(|run| run.target).collect();
        // Ids by round, as the runs state them: those being merged away are part of their target.
        let (mut stated, mut held) = (BTreeMap::<i64, u64>::new(), BTreeMap::<i64, u64>::new());
        for run in self.runs.values() {
            *held.entry(run.round).or_default() += run.found;
            if run.target.is_none() {
                *stated.entry(run.round).or_default() += run.ids;
            }
        }
        let mut faults = Vec::new();
        for (id, round) in &self.rounds {
            let of = |sums: &BTreeMap<i64, u64>| sums.get(id).copied().unwrap_or(0);
            let (stated, held, name, counted) =
                (of(&stated), of(&held), &round.name, round.reports);
            if round.tallies == 0 {
                faults.push(format!("{name} has no tally"));
            }
            // Of a round that is sealed the ids are deleted step by step.
            let wrong = match round.state {
                0 => stated != counted || held != counted,
                _ => held > counted,
            };
            if wrong {
                faults.push(format!(
                    "{name} has counted {counted} reports, and there are {held} ids of {stated}"
                ));
            }
        }
        for (id, run) in &self.runs {
            let merging = run.target.is_some() || targets.contains(id);
            let open = self.rounds.get(&run.round).is_some_and(|round| round.state == 0);
            if open && !merging && run.found != run.ids {
                faults.push(format!("run {id} has {} ids of {}", run.found, run.ids));
            }
            if run.target.is_some_and(|target| !self.runs.contains_key(&target)) {
                faults.push(format!("run {id} is being merged into one that is not there"));
            }
        }
        faults.into_iter().for_each(|fault| self.checked.fault(fault));
        self.checked
    }
}

/// A cell of a key, for people.
fn shown(cell: &Cell<'_>) -> String {
    match cell {
        Cell::Null => "nothing".into(),
        Cell::Int(number) => number.to_string(),
        Cell::Text(text) => text.to_string(),
        Cell::Bytes(bytes) => undertone_wire::hex::encode(bytes),
    }
}
