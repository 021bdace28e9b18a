//! A device in one file: JSON a person can read, with a check of its content.

use super::lock::{Lock, beside};
use super::{Delivery, Device, DeviceError, Page, Remembered, State};
use crate::datum;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use undertone_core::{Draft, Nats, Object, Policy, Release, Report};
use undertone_wire::{ProblemDocument, hex};

const VERSION: &str = "device/2";
/// Noted surveys by their id, had no budget for collectors and no generation.
const OLD_VERSION: &str = "device/1";

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

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawState {
    generation: u64,
    budget: String,
    collector_budget: String,
    data: Vec<Object<RawPage>>,
    policies: Vec<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct OldState {
    budget: String,
    data: Vec<Object<RawPage>>,
    policies: Vec<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawPage {
    datum: String,
    releases: Vec<Object<RawRelease>>,
    answers: Vec<Object<RawAnswer>>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawRelease {
    policy: String,
    cost: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawAnswer {
    curator: String,
    survey: String,
    report: Value,
    delivery: RawDelivery,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
enum RawDelivery {
    Waiting,
    Accepted,
    Refused { status: u16, code: String, detail: String },
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

fn encode(state: &State) -> Result<Vec<u8>, serde_json::Error> {
    let page = |(datum, page): (&String, &Page)| {
        let release = |release: &Release| {
            Object(RawRelease {
                policy: release.policy.to_string(),
                cost: release.cost.map(|cost| cost.to_string()),
            })
        };
        let answers = page.answers.iter().map(|answer| RawAnswer::write(answer).map(Object));
        let page = RawPage {
            datum: datum.clone(),
            releases: page.releases.iter().map(release).collect(),
            answers: answers.collect::<Result<_, serde_json::Error>>()?,
        };
        Ok(Object(page))
    };
    let policy = |policy: &Arc<Policy>| hex::encode(&policy.draft().to_bytes());
    let state = RawState {
        generation: state.generation,
        budget: state.budget.to_string(),
        collector_budget: state.collector_budget.to_string(),
        data: state.data.iter().map(page).collect::<Result<_, serde_json::Error>>()?,
        policies: state.policies.values().map(policy).collect(),
    };
    let file = RawFile { undertone: VERSION.into(), check: check(&state)?, state: Object(state) };
    let mut bytes = serde_json::to_vec_pretty(&file)?;
    bytes.push(b'\n');
    Ok(bytes)
}

fn decode(bytes: &[u8]) -> Result<State, String> {
    let words = |error: serde_json::Error| error.to_string();
    let Version { undertone } = serde_json::from_slice(bytes).map_err(words)?;
    let state = match undertone.as_str() {
        VERSION => {
            let Object(file) = serde_json::from_slice(bytes).map_err(words)?;
            checked(&file)?;
            file.state.0
        }
        OLD_VERSION => {
            let Object::<RawFile<OldState>>(file) = serde_json::from_slice(bytes).map_err(words)?;
            checked(&file)?;
            file.state.0.migrated()
        }
        _ => return Err(format!("version {undertone:?} is not known here")),
    };
    state.decoded()
}

fn checked<S: Serialize>(file: &RawFile<S>) -> Result<(), String> {
    match check(&file.state) {
        Ok(sum) if sum == file.check => Ok(()),
        Ok(_) => Err("its check does not match its content".into()),
        Err(error) => Err(error.to_string()),
    }
}

impl OldState {
    /// What was spent stays spent. A page named after the survey its reports went to says nothing about the
    /// question; one with another name was named by a program and keeps it.
    fn migrated(self) -> RawState {
        let rename = |Object(mut page): Object<RawPage>| {
            if page.answers.iter().all(|answer| answer.0.survey == page.datum) {
                page.datum = datum::of_old_survey(&page.datum);
            }
            Object(page)
        };
        RawState {
            generation: 0,
            budget: self.budget,
            collector_budget: Device::DEFAULT_COLLECTOR_BUDGET.to_string(),
            data: self.data.into_iter().map(rename).collect(),
            policies: self.policies,
        }
    }
}

impl RawState {
    fn decoded(self) -> Result<State, String> {
        let nats = |text: &str| {
            let nats = Nats::parse_down(text).map_err(|error| error.to_string())?;
            if nats.to_string() == text {
                Ok(nats)
            } else {
                Err(format!("{text} is not as printed"))
            }
        };
        let mut state = State::new(nats(&self.budget)?);
        state.collector_budget = nats(&self.collector_budget)?;
        state.generation = self.generation;
        for Object(RawPage { datum, releases, answers }) in self.data {
            let release = |Object(raw): &Object<RawRelease>| {
                Ok(Release {
                    policy: raw
                        .policy
                        .parse()
                        .map_err(|_| "a policy's id is not one".to_owned())?,
                    cost: raw.cost.as_deref().map(nats).transpose()?,
                })
            };
            let page = Page {
                releases: releases.iter().map(release).collect::<Result<_, String>>()?,
                answers: answers.into_iter().map(|raw| raw.0.read()).collect::<Result<_, _>>()?,
            };
            // What was sent must have been paid for.
            let paid = |a: &Remembered| page.releases.iter().any(|r| r.policy == a.report.policy);
            if !page.answers.iter().all(paid) {
                return Err(format!("{datum:?} has a report that its ledger does not know"));
            }
            if state.data.insert(datum.clone(), page).is_some() {
                return Err(format!("{datum:?} occurs twice"));
            }
        }
        for digits in &self.policies {
            let bytes = hex::decode(digits).ok_or("a policy is not hexadecimal")?;
            let draft = Draft::from_bytes(&bytes).map_err(|error| error.to_string())?;
            let policy = draft.verify().map_err(|refusal| refusal.to_string())?;
            state.policies.insert(policy.id(), Arc::new(policy));
        }
        Ok(state)
    }
}

impl RawAnswer {
    fn write(answer: &Remembered) -> Result<Self, serde_json::Error> {
        Ok(Self {
            curator: answer.curator.clone(),
            survey: answer.survey.clone(),
            report: serde_json::from_str(&answer.report.to_json())?,
            delivery: match &answer.delivery {
                Delivery::Waiting => RawDelivery::Waiting,
                Delivery::Accepted => RawDelivery::Accepted,
                Delivery::Refused(ProblemDocument { status, code, detail }) => {
                    RawDelivery::Refused {
                        status: *status,
                        code: code.clone(),
                        detail: detail.clone(),
                    }
                }
            },
        })
    }

    fn read(self) -> Result<Remembered, String> {
        Ok(Remembered {
            report: Report::from_json(&self.report.to_string()).map_err(|e| e.to_string())?,
            curator: self.curator,
            survey: self.survey,
            delivery: match self.delivery {
                RawDelivery::Waiting => Delivery::Waiting,
                RawDelivery::Accepted => Delivery::Accepted,
                RawDelivery::Refused { status, code, detail } => {
                    Delivery::Refused(ProblemDocument { status, code, detail })
                }
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use undertone_core::{PolicyId, ReportId, Token};

    const SHARED: &str =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../../bindings/js/test/data/device.json");

    /// A state with everything in it.
    fn state() -> State {
        let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/v1/policy/minimal.json");
        let file: Value = serde_json::from_str(&std::fs::read_to_string(golden).unwrap()).unwrap();
        let bytes = hex::decode(file["bytes"].as_str().unwrap()).unwrap();
        let policy = Draft::from_bytes(&bytes).unwrap().verify().unwrap();
        let bits = PolicyId([7; 32]);
        let problem = ProblemDocument {
            status: 409,
            code: "round_sealed".into(),
            detail: "é \" \\ \n \u{1}".into(),
        };
        let answer = |policy, token, delivery| Remembered {
            curator: "https://curator.example".into(),
            survey: "survey".into(),
            report: Report { policy, id: ReportId([9; 16]), token },
            delivery,
        };
        let mut state = State::new(Nats::from_units(21_972_245_774));
        state.generation = 7;
        let releases = vec![
            Release { policy: policy.id(), cost: Some(Nats::from_units(10_986_122_887)) },
            Release { policy: bits, cost: None },
        ];
        let answers = vec![
            answer(policy.id(), Token::Index(1), Delivery::Waiting),
            answer(bits, Token::Bits([0xa0].into()), Delivery::Refused(problem)),
        ];
        state.data.insert("größe".into(), Page { releases, answers });
        let releases = vec![Release { policy: bits, cost: None }];
        let answers = vec![answer(bits, Token::Bits([0].into()), Delivery::Accepted)];
        state.data.insert("age".into(), Page { releases, answers });
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
        let release = &mut listed["state"]["data"][0]["releases"][0];
        assert_eq!(release["cost"], Value::Null);
        *release = serde_json::json!([release["policy"], null]);
        let reason = decode(listed.to_string().as_bytes()).unwrap_err();
        assert!(reason.contains("expected an object"), "{reason}");
    }

    #[test]
    fn a_report_nobody_paid_for_is_damage() {
        let mut forged = state();
        forged.data.get_mut("age").unwrap().releases.clear();
        let reason = decode(&encode(&forged).unwrap()).unwrap_err();
        assert!(reason.contains("ledger"), "{reason}");
    }
}
