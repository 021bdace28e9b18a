//! A sensor: from what it read to what it may say.

use std::collections::BTreeMap;
use std::path::Path;

use rand_core::CryptoRng;
use undertone_core::{Policy, Shape, Token};
use undertone_design::Error;
use undertone_wire::{SensorReport, TokenKind, hex};

use super::budget::Budget;
use super::journal::Journal;
use crate::{Bundle, codebook};

/// This many of the latest tokens are remembered; older epochs are over.
const REMEMBERED: usize = if cfg!(test) { 16 } else { 4096 };

/// One sensor of a bundle with its budget of epochs.
///
/// Every token is on disk before it is returned, so no epoch is ever randomised twice: asked again
/// for the same epoch, it returns the same token. In epochs outside its budget it returns its
/// constant token, whatever it reads, until [`Sensor::reset`].
#[derive(Debug)]
pub struct Sensor {
    policy: Policy,
    bundle: [u8; 8],
    index: u16,
    budget: Budget,
    spent: u32,
    constant: u32,
    recent: BTreeMap<u64, (TokenKind, u32)>,
    /// Epochs up to here that are not remembered are over.
    floor: Option<u64>,
    journal: Journal,
    unreadable: u64,
}

impl Sensor {
    /// Sensor `index` of the bundle with its state file, which is begun with this budget if there is
    /// none. A file that exists knows its own first epoch.
    pub fn open(bundle: &Bundle, index: u16, budget: Budget, state: &Path) -> Result<Self, Error> {
        let Some(policy) = bundle.policies().get(usize::from(index)) else {
            let problem = format!(
                "there is no such sensor: the network has {}, numbered from 0",
                bundle.policies().len()
            );
            return Err(Error::other(format!("index {index}"), problem));
        };
        let budget = Budget::new(bundle, budget.first(), Some(budget.epochs()))?;
        let constant = (0..).zip(possible(policy)).find(|(_, may)| *may).map_or(0, |(z, _)| z);
        let header = format!("undertone sensor/1 {} {index}", bundle.id());
        let (journal, records) = Journal::open(state, &header)?;
        let mut sensor = Self {
            policy: policy.clone(),
            bundle: prefix(bundle),
            index,
            budget,
            spent: 0,
            constant,
            recent: BTreeMap::new(),
            floor: None,
            journal,
            unreadable: 0,
        };
        for record in &records {
            sensor.replay(record).ok_or_else(|| {
                let problem = format!(
                    "record {record:?} is not understood: was it written by a newer version?"
                );
                Error::other(format!("state file {}", state.display()), problem)
            })?;
        }
        if records.is_empty() {
            sensor.journal.append(&format!("begin {}", budget.first()))?;
        }
        Ok(sensor)
    }

    /// Its index in the bundle.
    pub fn index(&self) -> u16 {
        self.index
    }

    /// How many epochs it drew in since the last reset.
    pub fn spent(&self) -> u32 {
        self.spent
    }

    /// In which epochs it may draw.
    pub fn budget(&self) -> Budget {
        self.budget
    }

    /// Whether only its constant token is left.
    pub fn is_spent(&self) -> bool {
        self.budget.is_over(self.next_epoch())
    }

    /// How many values it could not read.
    pub fn unreadable(&self) -> u64 {
        self.unreadable
    }

    /// The latest report, which may or may not have arrived.
    pub fn last(&self) -> Option<SensorReport> {
        let (&epoch, &(kind, token)) = self.recent.last_key_value()?;
        Some(self.as_report(epoch, kind, token))
    }

    /// The epoch after all earlier ones; the first is 1.
    pub fn next_epoch(&self) -> u64 {
        let last = self.recent.last_key_value().map(|(&epoch, _)| epoch);
        last.max(self.floor).map_or(1, |epoch| epoch.saturating_add(1))
    }

    /// What to publish for this epoch. Randomness is taken from `rng` only if the epoch is new.
    ///
    /// A value that is none of the sensor's readings is replaced by a uniformly drawn one: the token
    /// then follows the average of the policy's rows, which keeps its LDP level, and saying nothing
    /// would tell that the value was odd.
    pub fn report<R: CryptoRng + ?Sized>(
        &mut self,
        epoch: u64,
        cell: &str,
        rng: &mut R,
    ) -> Result<SensorReport, Error> {
        if let Some(&(kind, token)) = self.recent.get(&epoch) {
            return Ok(self.as_report(epoch, kind, token));
        }
        if self.floor.is_some_and(|floor| epoch <= floor) {
            let problem = format!("is over: the next one is {}", self.next_epoch());
            return Err(Error::other(format!("epoch {epoch}"), problem));
        }
        let (kind, token) = if self.budget.covers(epoch) {
            (TokenKind::Drawn, self.draw(cell, rng)?)
        } else {
            (TokenKind::Constant, self.constant)
        };
        self.tidy()?;
        let record = record(epoch, kind, token);
        self.journal.append(&record)?;
        self.remember(epoch, kind, token);
        Ok(self.as_report(epoch, kind, token))
    }

    /// A new budget from epoch `first` on, which must be the same for all sensors. Only when the
    /// private value is a new one then, independent of the last: what was said about the old one
    /// stays said. Earlier epochs stay over.
    pub fn reset(&mut self, first: u64) -> Result<(), Error> {
        if first < self.next_epoch() {
            let problem = format!("is over: the next one is {}", self.next_epoch());
            return Err(Error::other(format!("epoch {first}"), problem));
        }
        self.journal.append(&format!("begin {first}"))?;
        self.begin(first);
        Ok(())
    }

    fn draw<R: CryptoRng + ?Sized>(&mut self, cell: &str, rng: &mut R) -> Result<u32, Error> {
        let inputs = self.policy.draft().inputs();
        let reading = match codebook::reading(inputs, cell.trim()) {
            Ok(reading) => reading,
            Err(_) => {
                self.unreadable += 1;
                uniform(inputs.len(), rng)
            }
        };
        let refuse = |error: &dyn std::fmt::Display| Error::other("reading", error.to_string());
        let symbol = inputs.symbol(reading).map_err(|error| refuse(&error))?;
        match self.policy.draw(symbol, rng).map_err(|error| refuse(&error))? {
            Token::Index(token) => Ok(token),
            Token::Bits(_) => {
                Err(Error::other("policy", "releases bits where a sensor sends an index"))
            }
        }
    }

    fn as_report(&self, epoch: u64, kind: TokenKind, token: u32) -> SensorReport {
        SensorReport { bundle: self.bundle, sensor: self.index, epoch, kind, token }
    }

    fn remember(&mut self, epoch: u64, kind: TokenKind, token: u32) {
        self.recent.insert(epoch, (kind, token));
        self.spent += u32::from(kind == TokenKind::Drawn);
        while self.recent.len() > REMEMBERED {
            let Some((first, _)) = self.recent.pop_first() else { break };
            self.floor = self.floor.max(Some(first));
        }
    }

    fn begin(&mut self, first: u64) {
        self.budget = self.budget.moved(first);
        self.spent = 0;
        let last = self.recent.last_key_value().map(|(&epoch, _)| epoch);
        self.floor = self.floor.max(last);
    }

    /// Keeps the file from growing for ever.
    fn tidy(&mut self) -> Result<(), Error> {
        if self.journal.records() < 4 * REMEMBERED {
            return Ok(());
        }
        let mut records: Vec<String> =
            self.recent.iter().map(|(&epoch, &(kind, token))| record(epoch, kind, token)).collect();
        let floor = self.floor.map_or("none".into(), |floor| floor.to_string());
        records.push(format!("so-far {floor} {} {}", self.budget.first(), self.spent));
        self.journal.rewrite(&records)
    }

    fn replay(&mut self, record: &str) -> Option<()> {
        let words: Vec<&str> = record.split(' ').collect();
        match words[..] {
            ["draw", epoch, token] => {
                self.remember(epoch.parse().ok()?, TokenKind::Drawn, token.parse().ok()?);
            }
            ["constant", epoch, token] => {
                self.remember(epoch.parse().ok()?, TokenKind::Constant, token.parse().ok()?);
            }
            ["so-far", floor, first, spent] => {
                self.budget = self.budget.moved(first.parse().ok()?);
                self.floor = if floor == "none" { None } else { Some(floor.parse().ok()?) };
                self.spent = spent.parse().ok()?;
            }
            ["begin", first] => self.begin(first.parse().ok()?),
            _ => return None,
        }
        Some(())
    }
}

fn record(epoch: u64, kind: TokenKind, token: u32) -> String {
    match kind {
        TokenKind::Drawn => format!("draw {epoch} {token}"),
        TokenKind::Constant => format!("constant {epoch} {token}"),
    }
}

/// The first eight bytes of the bundle's id.
pub(super) fn prefix(bundle: &Bundle) -> [u8; 8] {
    // An id is 64 hexadecimal digits.
    let bytes = hex::decode(bundle.id()).unwrap_or_default();
    std::array::from_fn(|at| bytes.get(at).copied().unwrap_or(0))
}

/// For every output, whether the policy ever sends it.
pub(super) fn possible(policy: &Policy) -> Vec<bool> {
    let Shape::Table(table) = policy.draft().shape() else { return Vec::new() };
    let sent = |z: usize| table.rows().iter().any(|row| row.masses()[z] > 0);
    (0..table.outputs()).map(sent).collect()
}

/// A uniform index below `size`, by rejection.
fn uniform<R: CryptoRng + ?Sized>(size: usize, rng: &mut R) -> usize {
    let size = size.max(1) as u64;
    let most = u64::MAX - u64::MAX % size;
    loop {
        let drawn = rng.next_u64();
        if drawn < most {
            return (drawn % size) as usize;
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::design::Budgets;
    use crate::{ExactModel, Maps, Model, Origin};
    use rand_chacha::ChaCha20Rng;
    use rand_core::SeedableRng;

    fn bundle(epochs: u32) -> Bundle {
        let given =
            vec![vec![vec![0.7, 0.3], vec![0.6, 0.4]], vec![vec![0.2, 0.8], vec![0.1, 0.9]]];
        let model = Model::independent(vec![vec![0.25; 2]; 2], vec![given]).unwrap();
        let exact = ExactModel::new(&model).unwrap();
        let budgets = Budgets { epochs, ..Budgets::new(f64::INFINITY, 1.0).unwrap() };
        let maps = Maps::identity(&model).unwrap();
        Bundle::ship(&exact, &maps, budgets, &Origin::default()).unwrap()
    }

    #[test]
    fn the_state_file_does_not_grow_for_ever_and_forgets_no_budget() {
        let bundle = bundle(70);
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("state");
        let mut sensor = Sensor::open(&bundle, 0, Budget::certified(&bundle), &state).unwrap();
        let mut rng = ChaCha20Rng::seed_from_u64(6);
        let mut said = Vec::new();
        for epoch in 1..=300 {
            said.push(sensor.report(epoch, "0", &mut rng).unwrap());
        }
        assert_eq!(said.iter().filter(|report| report.kind == TokenKind::Drawn).count(), 70);
        assert!(sensor.journal.records() <= 4 * REMEMBERED);
        drop(sensor);
        let mut sensor = Sensor::open(&bundle, 0, Budget::certified(&bundle), &state).unwrap();
        assert_eq!((sensor.spent(), sensor.next_epoch()), (70, 301));
        // The latest are said again word for word; the oldest are over.
        for report in said.iter().rev().take(REMEMBERED) {
            assert_eq!(sensor.report(report.epoch, "1", &mut rng).unwrap(), *report);
        }
        let error = sensor.report(3, "0", &mut rng).unwrap_err().to_string();
        assert!(error.contains("is over"), "{error}");
    }

    #[test]
    fn uniform_indices_reach_every_place() {
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        let mut counts = [0; 7];
        (0..7000).for_each(|_| counts[uniform(7, &mut rng)] += 1);
        // 1000 ± 5 standard deviations of 29.3.
        assert!(counts.iter().all(|count| (854..=1146).contains(count)), "{counts:?}");
    }
}
