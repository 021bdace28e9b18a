//! What must hold of a policy, as a request says it.

use std::fmt;
use std::str::FromStr;

use undertone_core::{Claim, Subject};
use undertone_design::knowledge::Knowledge;
use undertone_design::protection;

use crate::Error;

/// One thing a policy must keep: `lip:1`, `lip:1,0.01` (with a delta), `alip:0.5,1`, `ldp:2` or `di:3`.
///
/// It is about the secret where there is one, else about the input; the prefix `input:` makes it about the input.
#[derive(Debug, Clone, PartialEq)]
pub struct Protection {
    text: String,
    claim: Claim,
    /// Whether the claim is about whom it says; otherwise about whom the context says.
    fixed: bool,
}

impl Protection {
    /// The claim as it must be made when this much is known about the data.
    pub(crate) fn claim(&self, knowledge: &Knowledge) -> Claim {
        let about = if self.fixed { self.claim.about } else { knowledge.subject() };
        knowledge.claim(Claim { about, ..self.claim })
    }
}

impl Protection {
    /// The claim as it is made about the input.
    pub(crate) fn of_input(&self) -> Claim {
        self.claim
    }
}

impl FromStr for Protection {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let claim = protection::parse(text, Subject::Input)
            .map_err(|error| Error::field("protect", format!(": {error}")))?;
        Ok(Self { text: text.into(), claim, fixed: text.starts_with("input:") })
    }
}

impl TryFrom<&str> for Protection {
    type Error = Error;

    fn try_from(text: &str) -> Result<Self, Error> {
        text.parse()
    }
}

impl TryFrom<String> for Protection {
    type Error = Error;

    fn try_from(text: String) -> Result<Self, Error> {
        text.parse()
    }
}

impl From<Claim> for Protection {
    fn from(claim: Claim) -> Self {
        Self { text: claim.to_string(), claim, fixed: true }
    }
}

impl fmt::Display for Protection {
    /// As it was asked for.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
