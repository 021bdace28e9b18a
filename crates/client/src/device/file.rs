//! A device in one file: JSON a person can read, with a check of its content.

use super::DeviceError;
use super::lock::{Lock, beside};
use super::old::{First, Second};
use super::raw::RawState;
use super::state::State;
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use undertone_core::Object;

const VERSION: &str = "device/3";
const SECOND_VERSION: &str = "device/2";
const FIRST_VERSION: &str = "device/1";
/// A device's state on its way to another device.
const LEDGER_VERSION: &str = "ledger/1";

/// A file nobody else has open: its lock is held as long as this lives.
#[derive(Debug)]
pub(super) struct Locked {
    path: PathBuf,
    _lock: Lock,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawFile<S> {
    undertone: String,
    check: String,
    state: Object<S>,
}

/// The one field every version has.
#[derive(Deserialize)]
struct Version {
    undertone: String,
}

impl Locked {
    /// Takes the device's lock, which is a file of its own because the real one is replaced.
    pub(super) fn new(path: &Path) -> Result<Self, DeviceError> {
        let real = real(path).map_err(|error| DeviceError::Io { path: path.into(), error })?;
        match Lock::take(&real) {
            Ok(lock) => Ok(Self { path: real, _lock: lock }),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                Err(DeviceError::InUse { path: path.into() })
            }
            Err(error) => Err(DeviceError::Io { path: path.into(), error }),
        }
    }

    /// Whether the file is there.
    pub(super) fn exists(&self) -> bool {
        self.path.exists()
    }

    pub(super) fn read(&self) -> Result<State, DeviceError> {
        let bytes = std::fs::read(&self.path).map_err(|error| self.io(error))?;
        decode(&bytes).map_err(|reason| DeviceError::Damaged { path: self.path.clone(), reason })
    }

    /// Writes the first state.
    pub(super) fn create(&self, state: &State) -> Result<(), DeviceError> {
        self.put(state)
    }

    /// Replaces the file if it is still the one of this generation.
    pub(super) fn write(&self, generation: u64, state: &State) -> Result<(), DeviceError> {
        if self.path.exists() && self.read()?.generation != generation {
            return Err(DeviceError::Changed { path: self.path.clone() });
        }
        self.put(state)
    }

    fn put(&self, state: &State) -> Result<(), DeviceError> {
        let bytes = encode(state).map_err(|error| self.io(error.into()))?;
        replace(&self.path, &bytes).map_err(|error| self.io(error))
    }

    /// Where the file is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    fn io(&self, error: std::io::Error) -> DeviceError {
        DeviceError::Io { path: self.path.clone(), error }
    }
}

/// Replaces a file as a whole: written beside it, synced, renamed, directory synced.
pub(super) fn replace(path: &Path, bytes: &[u8]) -> Result<(), std::io::Error> {
    let beside = beside(path, "new");
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(&beside)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    std::fs::rename(&beside, path)?;
    // Only Unix can sync a directory, and needs it for the rename to last.
    if cfg!(unix) {
        let parent = path.parent().filter(|p| !p.as_os_str().is_empty());
        File::open(parent.unwrap_or(Path::new(".")))?.sync_all()?;
    }
    Ok(())
}

/// Where a file is, or will be, whatever links lead to it: one file has one lock.
fn real(path: &Path) -> Result<PathBuf, std::io::Error> {
    match path.canonicalize() {
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        found => return found,
    }
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let name = path.file_name().ok_or(ErrorKind::InvalidInput)?;
    Ok(folder.unwrap_or(Path::new(".")).canonicalize()?.join(name))
}

/// FNV-1a over the state as it is written: finds damage, not malice.
fn check(state: &impl Serialize) -> Result<String, serde_json::Error> {
    let bytes = serde_json::to_vec(state)?;
    let mix = |hash: u64, &byte: &u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    Ok(format!("{:016x}", bytes.iter().fold(0xcbf2_9ce4_8422_2325, mix)))
}

/// The file of a device.
fn encode(state: &State) -> Result<Vec<u8>, serde_json::Error> {
    encode_as(VERSION, state)
}

/// The file in which a ledger goes to another device.
pub(super) fn encode_ledger(state: &State) -> Result<Vec<u8>, serde_json::Error> {
    encode_as(LEDGER_VERSION, state)
}

fn encode_as(version: &str, state: &State) -> Result<Vec<u8>, serde_json::Error> {
    let state = RawState::write(state)?;
    let file = RawFile { undertone: version.into(), check: check(&state)?, state: Object(state) };
    let mut bytes = serde_json::to_vec_pretty(&file)?;
    bytes.push(b'\n');
    Ok(bytes)
}

fn decode(bytes: &[u8]) -> Result<State, String> {
    let state = match version(bytes)?.as_str() {
        VERSION => checked(bytes)?,
        SECOND_VERSION => checked::<Second>(bytes)?.migrated(),
        FIRST_VERSION => checked::<First>(bytes)?.migrated(),
        LEDGER_VERSION => {
            return Err("it is a ledger on its way to another device, to be imported".into());
        }
        other => return Err(format!("version {other:?} is not known here")),
    };
    state.decoded()
}

/// Reads a ledger that another device gave away.
pub(super) fn decode_ledger(bytes: &[u8]) -> Result<State, String> {
    match version(bytes)?.as_str() {
        LEDGER_VERSION => {}
        VERSION | SECOND_VERSION | FIRST_VERSION => {
            return Err("it is a device's own file: export its ledger first".into());
        }
        other => return Err(format!("version {other:?} is not known here")),
    }
    let state = checked::<RawState>(bytes)?.decoded()?;
    state.moved.is_some().then_some(state).ok_or_else(|| "it was not given away".into())
}

fn version(bytes: &[u8]) -> Result<String, String> {
    let Version { undertone } = serde_json::from_slice(bytes).map_err(|e| e.to_string())?;
    Ok(undertone)
}

/// The state of a file whose check matches.
fn checked<S: Serialize + for<'a> Deserialize<'a>>(bytes: &[u8]) -> Result<S, String> {
    let words = |error: serde_json::Error| error.to_string();
    let Object::<RawFile<S>>(file) = serde_json::from_slice(bytes).map_err(words)?;
    if check(&file.state).map_err(words)? == file.check {
        Ok(file.state.0)
    } else {
        Err("its check does not match its content".into())
    }
}

#[cfg(test)]
mod tests {
    use super::super::plans::{KeptResponse, PlanNotes, PlanPart};
    use super::super::state::{Moved, Noted, Told};
    use super::super::{Delivery, Remembered};
    use super::*;
    use crate::budget::{Budget, Budgets};
    use crate::day::Day;
    use serde_json::Value;
    use std::sync::Arc;
    use undertone_core::{
        Draft, ItemAnswer, Nats, PlanId, PolicyId, Report, ReportId, Response, Token,
    };
    use undertone_wire::{ProblemDocument, hex};

    const SHARED: &str =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../../bindings/js/test/data/device.json");

    /// A state with everything in it.
    fn state() -> State {
        let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/v1/policy/minimal.json");
        let file: Value = serde_json::from_str(&std::fs::read_to_string(golden).unwrap()).unwrap();
        let bytes = hex::decode(file["bytes"].as_str().unwrap()).unwrap();
        let policy = Draft::from_bytes(&bytes).unwrap().verify().unwrap();
        let (bits, plan) = (PolicyId([7; 32]), PlanId([5; 32]));
        let address = "https://curator.example";
        let problem = ProblemDocument {
            status: 409,
            code: "round_sealed".into(),
            detail: "é \" \\ \n \u{1}".into(),
        };
        let answer = |policy, token, delivery| Remembered {
            curator: address.into(),
            survey: "survey".into(),
            report: Report { policy, id: ReportId([9; 16]), token },
            delivery,
        };
        let at = |days| Day::new(days).unwrap();
        let release = |data: &[&str], policy, cost, part| Noted {
            id: ReportId([9; 16]),
            data: data.iter().map(|&datum| datum.into()).collect(),
            policy,
            cost,
            day: at(20_774),
            collectors: vec![Told { address: address.into(), day: at(20_775) }],
            part,
        };
        let part = PlanPart { plan, item: 3, period: 1 };
        let cost = Some(Nats::from_units(10_986_122_887));
        let mut state = State::new(Nats::from_units(21_972_245_774));
        state.generation = 7;
        state.day = at(20_775);
        state.moved = Some(Moved { id: ReportId([1; 16]), day: at(20_775) });
        state.releases = vec![
            release(&["größe"], policy.id(), cost, None),
            release(&["größe"], bits, None, None),
            release(&["age"], bits, None, None),
            release(&["age", "größe"], policy.id(), cost, Some(part)),
            release(&["age"], bits, None, Some(PlanPart { item: 4, ..part })),
        ];
        let answers = vec![
            answer(policy.id(), Token::Index(1), Delivery::Waiting),
            answer(bits, Token::Bits([0xa0].into()), Delivery::Refused(problem)),
        ];
        state.answers.insert("größe".into(), answers);
        let answers = vec![answer(bits, Token::Bits([0].into()), Delivery::Accepted)];
        state.answers.insert("age".into(), answers);
        let mut notes = PlanNotes { choice: Some(vec![1, 3, 4]), ..PlanNotes::default() };
        notes.memos.insert((3, 1), Token::Index(2));
        notes.memos.insert((4, 1), Token::Bits([0x80].into()));
        let answers = vec![
            ItemAnswer { item: 3, token: Token::Index(2) },
            ItemAnswer { item: 4, token: Token::Bits([0x80].into()) },
        ];
        notes.responses.push(KeptResponse {
            collector: address.into(),
            period: 1,
            response: Response { plan, id: ReportId([9; 16]), answers },
            delivery: Delivery::Waiting,
        });
        state.plans.insert(plan, notes);
        state
            .plans
            .insert(PlanId([6; 32]), PlanNotes { choice: Some(vec![]), ..PlanNotes::default() });
        state.policies.insert(policy.id(), Arc::new(policy));
        state
    }

    #[test]
    fn the_file_is_the_one_that_javascript_reads() {
        let bytes = encode(&state()).unwrap();
        if std::env::var_os("UNDERTONE_WRITE_FIXTURES").is_some() {
            std::fs::write(SHARED, &bytes).unwrap();
        }
        assert_eq!(String::from_utf8(bytes).unwrap(), std::fs::read_to_string(SHARED).unwrap());
    }

    #[test]
    fn what_is_written_is_read() {
        let bytes = encode(&state()).unwrap();
        assert_eq!(encode(&decode(&bytes).unwrap()).unwrap(), bytes);
    }

    /// A list of a record's values has the same check, and is still not what is written.
    #[test]
    fn a_list_in_the_place_of_an_object_is_damage() {
        let text = String::from_utf8(encode(&state()).unwrap()).unwrap();
        let mut listed: Value = serde_json::from_str(&text).unwrap();
        let told = &mut listed["state"]["releases"][0]["collectors"][0];
        *told = serde_json::json!([told["address"], told["day"]]);
        let reason = decode(listed.to_string().as_bytes()).unwrap_err();
        assert!(reason.contains("expected an object"), "{reason}");
    }

    #[test]
    fn what_nobody_paid_for_is_damage() {
        let forged = |forge: &dyn Fn(&mut State)| {
            let mut state = state();
            forge(&mut state);
            decode(&encode(&state).unwrap()).unwrap_err()
        };
        let unpaid = forged(&|state| state.releases.retain(|noted| noted.part.is_some()));
        assert!(unpaid.contains("ledger"), "{unpaid}");
        let memo = forged(&|state| state.releases.retain(|noted| noted.part.is_none()));
        assert!(memo.contains("ledger"), "{memo}");
        let response = forged(&|state| {
            let notes = state.plans.get_mut(&PlanId([5; 32])).unwrap();
            notes.responses[0].response.answers[0].item = 2;
        });
        assert!(response.contains("response that its ledger"), "{response}");
        let late = forged(&|state| state.day = Day::new(20_774).unwrap());
        assert!(late.contains("2026-11-18 is later"), "{late}");
    }

    /// What the version before this one wrote.
    #[test]
    fn the_second_version_is_read() {
        let path =
            concat!(env!("CARGO_MANIFEST_DIR"), "/../../bindings/js/test/data/device-2.json");
        let state = decode(&std::fs::read(path).unwrap()).unwrap();
        assert_eq!(
            (state.generation, state.day, state.releases.len()),
            (7, Day::new(0).unwrap(), 3)
        );
        assert_eq!(state.budgets.collector, Budget::ever(Nats::from_units(87_888_983_096)));
        assert_eq!(state.budgets.device, Budgets::DEFAULT.device);
        assert!(state.releases.iter().all(|noted| noted.id == ReportId([9; 16])));
        assert!(state.releases.iter().all(|noted| noted.collectors.len() == 1));
        // And written as JavaScript writes it.
        let third = path.replace("device-2", "device-2-as-3");
        let bytes = encode(&state).unwrap();
        if std::env::var_os("UNDERTONE_WRITE_FIXTURES").is_some() {
            std::fs::write(&third, &bytes).unwrap();
        }
        assert_eq!(String::from_utf8(bytes).unwrap(), std::fs::read_to_string(third).unwrap());
    }

    #[test]
    fn a_ledger_on_its_way_is_no_device_and_the_other_way_round() {
        let (device, ledger) = (encode(&state()).unwrap(), encode_ledger(&state()).unwrap());
        assert_eq!(encode(&decode_ledger(&ledger).unwrap()).unwrap(), device);
        assert!(decode(&ledger).unwrap_err().contains("import"));
        assert!(decode_ledger(&device).unwrap_err().contains("export"));
        let here = encode_ledger(&State { moved: None, ..state() }).unwrap();
        assert!(decode_ledger(&here).unwrap_err().contains("given away"));
    }
}
