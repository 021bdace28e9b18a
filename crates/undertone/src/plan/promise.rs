//! Promises about a person as people write them: `ldp:2` of the whole, `NAME=lip:0.5` of a question or a secret.

use std::str::FromStr;

use undertone_core::Nats;
use undertone_design::protection;

use crate::Error;

/// The level of everything one person sends: `ldp:2`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PersonLevel(pub Nats);

impl FromStr for PersonLevel {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let fix = "write ldp:2: the promise about the whole person is a level of LDP";
        let level = text.strip_prefix("ldp:");
        let level = level.ok_or_else(|| Error::field("person", format!("is {text:?}: {fix}")))?;
        let nats = nats(level).map_err(|problem| Error::field("person", problem))?;
        if nats == Nats::ZERO {
            let problem = "is ldp:0, at which nothing can be asked: give a level above 0";
            return Err(Error::field("person", problem));
        }
        Ok(Self(nats))
    }
}

/// How far belief in one datum may move, given everything the person sends: `NAME=lip:0.5` or `NAME=alip:0.3,0.5`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedPromise {
    /// The question or secret.
    pub name: String,
    /// The most that belief may fall.
    pub lower: Nats,
    /// The most that belief may rise.
    pub upper: Nats,
}

impl FromStr for NamedPromise {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let shape = "write NAME=lip:0.5 or NAME=alip:0.3,0.5";
        let odd = || format!("{text:?} is no promise: {shape}");
        let (name, promise) =
            text.rsplit_once('=').filter(|(name, _)| !name.is_empty()).ok_or_else(odd)?;
        let (lower, upper) = match promise.split_once(':') {
            Some(("lip", level)) => (nats(level)?, nats(level)?),
            Some(("alip", levels)) => {
                let (lower, upper) = levels.split_once(',').ok_or_else(odd)?;
                (nats(lower)?, nats(upper)?)
            }
            _ => return Err(odd()),
        };
        Ok(Self { name: name.into(), lower, upper })
    }
}

fn nats(text: &str) -> Result<Nats, String> {
    protection::nats(text).map_err(|error| format!("{text:?} is {error}"))
}
