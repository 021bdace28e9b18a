//! Surveys as they were fetched, for when there is no network.
//!
//! They are in a file of their own beside the device's, `<path>.surveys`, because they can be lost: whatever it holds is
//! read as if the curator had just said it, its policy is verified again, and a file that is gone, damaged or forged is
//! as good as none. A forger gains nothing that a curator could not do: ledger and consent do not ask where a survey
//! comes from.

use super::lock::beside;
use crate::survey::{Survey, verified};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use undertone_core::Object;
use undertone_wire::{SurveyDescription, SurveyId, hex};

const VERSION: &str = "surveys/1";

/// Surveys kept at most.
const MOST: usize = 32;

/// Bytes of the file at most: some of the largest surveys, or all of the usual ones.
const LARGEST: usize = 32 << 20;

/// One survey with the policy of one group.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct KeptSurvey {
    /// The curator's address.
    curator: String,
    /// The group that was asked for; `None` for the only one.
    group: Option<String>,
    survey: Object<SurveyDescription>,
    /// The policy's canonical bytes in hexadecimal digits.
    policy: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawFile {
    undertone: String,
    surveys: Vec<Object<KeptSurvey>>,
}

/// Surveys by curator, id and group, the one fetched longest ago first.
#[derive(Clone, Debug, Default)]
pub(super) struct KeptSurveys(Vec<Object<KeptSurvey>>);

/// Where a device's surveys are.
pub(super) fn path(device: &Path) -> PathBuf {
    beside(device, "surveys")
}

impl KeptSurveys {
    /// What a file holds: nothing, if it is not there or not as it was written.
    pub(super) fn read(path: &Path) -> Self {
        let mut bytes = Vec::new();
        let most = LARGEST as u64 + 1;
        match File::open(path).and_then(|file| file.take(most).read_to_end(&mut bytes)) {
            Ok(length) if length <= LARGEST => Self::from_bytes(&bytes),
            _ => Self::default(),
        }
    }

    fn from_bytes(bytes: &[u8]) -> Self {
        match serde_json::from_slice(bytes) {
            Ok(Object(RawFile { undertone, surveys })) if undertone == VERSION => Self(surveys),
            _ => Self::default(),
        }
    }

    /// Keeps a survey in the place of what was known of it. Returns the new content of the file; what does not fit is
    /// forgotten, oldest first.
    pub(super) fn keep(&mut self, survey: &Survey, group: Option<&str>) -> Vec<u8> {
        let (curator, id) = (&survey.curator, &survey.description.id);
        self.0.retain(|one| !one.0.is_of(curator, id, group));
        self.0.push(Object(KeptSurvey {
            curator: curator.clone(),
            group: group.map(Into::into),
            survey: Object((*survey.description).clone()),
            policy: hex::encode(&survey.policy().draft().to_bytes()),
        }));
        let beyond = self.0.len().saturating_sub(MOST);
        self.0.drain(..beyond);
        loop {
            let file = RawFile { undertone: VERSION.into(), surveys: std::mem::take(&mut self.0) };
            // Plain records of texts and numbers always serialise.
            let bytes = serde_json::to_vec(&file).unwrap_or_default();
            self.0 = file.surveys;
            if bytes.len() <= LARGEST || self.0.is_empty() {
                return bytes;
            }
            self.0.remove(0);
        }
    }

    /// A survey that was kept, checked like one that has just been fetched; `None` if it does not pass.
    pub(super) fn survey(
        &self,
        curator: &str,
        id: &SurveyId,
        group: Option<&str>,
    ) -> Option<Survey> {
        let Object(kept) = self.0.iter().rev().find(|one| one.0.is_of(curator, id, group))?;
        let bytes = hex::decode(&kept.policy)?;
        let policy = |id| verified(id, &bytes).map(Arc::new);
        Survey::new(curator, id, group, kept.survey.0.clone(), policy).ok().map(Survey::cached)
    }
}

impl KeptSurvey {
    fn is_of(&self, curator: &str, id: &SurveyId, group: Option<&str>) -> bool {
        self.curator == curator && self.survey.0.id == *id && self.group.as_deref() == group
    }
}
