//! Who may do what: tokens, of which only hashes are kept, and what their roles allow.

use axum::http::{HeaderMap, header};
use sha2::{Digest, Sha256};
use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use subtle::ConstantTimeEq;

use crate::clock::Randomness;
use undertone_wire::SurveyId;

const LEAST_CHARACTERS: usize = 16;
const MOST_CHARACTERS: usize = 512;

/// The hash of the owner's token.
#[derive(Clone, Copy)]
pub struct OwnerToken([u8; 32]);

impl fmt::Debug for OwnerToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OwnerToken(..)")
    }
}

/// A token that is too short to keep anybody out, or cannot be sent in a header.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the owner's token must have 16 to 512 visible ASCII characters and no spaces")]
pub struct WeakToken;

impl OwnerToken {
    /// Hashes a token; surrounding white space does not belong to it.
    pub fn new(token: &str) -> Result<Self, WeakToken> {
        let token = token.trim();
        let visible = token.bytes().all(|byte| byte.is_ascii_graphic());
        if visible && (LEAST_CHARACTERS..=MOST_CHARACTERS).contains(&token.len()) {
            Ok(Self(Sha256::digest(token).into()))
        } else {
            Err(WeakToken)
        }
    }

    /// A new token of 256 random bits in hexadecimal; `None` without randomness.
    pub fn generate(randomness: &dyn Randomness) -> Option<(String, Self)> {
        let mut bytes = [0; 32];
        if !randomness.fill(&mut bytes) {
            return None;
        }
        let token = undertone_wire::hex::encode(&bytes);
        let owner = Self(Sha256::digest(&token).into());
        Some((token, owner))
    }

    /// Whether the request carries the token. The hashes are compared in constant time.
    pub fn admits(&self, headers: &HeaderMap) -> bool {
        hash_of(headers).is_some_and(|hash| self.is(&hash))
    }

    /// Whether this is its hash.
    pub(crate) fn is(&self, hash: &[u8; 32]) -> bool {
        hash.ct_eq(&self.0).into()
    }

    /// Its hash, which is all that is stored.
    pub(crate) fn hash(&self) -> [u8; 32] {
        self.0
    }
}

/// The hash of the token a request carries; of one too long to be any, of nothing.
pub(crate) fn hash_of(headers: &HeaderMap) -> Option<[u8; 32]> {
    let token = bearer(headers).filter(|token| token.len() <= MOST_CHARACTERS)?;
    Some(Sha256::digest(token).into())
}

/// The token a request carries, whether it is right or wrong. Credentials of another scheme are meant
/// for somebody else, such as a proxy in front that asks for a password.
pub(crate) fn bearer(headers: &HeaderMap) -> Option<&str> {
    let sent = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = sent.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// What a named token allows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// Everything; of one survey, everything but making others and managing tokens.
    Owner,
    /// Looks at surveys and at estimates before they are released.
    Analyst,
    /// Looks at surveys without estimates, and stops one: pause, close, delete.
    Officer,
    /// Looks at the state of surveys and at how many have answered.
    Admission,
}

impl Role {
    /// Every role.
    pub const ALL: [Self; 4] = [Self::Owner, Self::Analyst, Self::Officer, Self::Admission];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Owner => "owner",
            Self::Analyst => "analyst",
            Self::Officer => "officer",
            Self::Admission => "admission",
        }
    }

    /// The role of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.name() == name)
    }

    fn may(self, right: Right) -> bool {
        match right {
            Right::Look => true,
            Right::Estimates => matches!(self, Self::Owner | Self::Analyst),
            Right::Stop => matches!(self, Self::Owner | Self::Officer),
            Right::Run | Right::Everything => self == Self::Owner,
        }
    }
}

/// Something a token may allow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Right {
    /// See a survey with its counts.
    Look,
    /// See estimates that are not released.
    Estimates,
    /// Pause, close and delete a survey.
    Stop,
    /// Open, seal and release rounds, resume and archive.
    Run,
    /// Make surveys, manage tokens, read the metrics: for a token that is for all surveys.
    Everything,
}

/// Whose token it is and what for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Access {
    pub(crate) name: String,
    pub(crate) role: Role,
    pub(crate) survey: Option<SurveyId>,
}

/// What the log calls whoever has the token the curator was started with.
pub(crate) const OWNER: &str = "owner";

impl Access {
    /// The token the curator was started with.
    pub(crate) fn owner() -> Self {
        Self { name: OWNER.into(), role: Role::Owner, survey: None }
    }

    /// Whether it allows something with a survey; `None` stands for what concerns no survey, or all of them.
    pub(crate) fn may(&self, right: Right, survey: Option<&str>) -> bool {
        let reaches = match (&self.survey, survey) {
            (None, _) => true,
            (Some(own), Some(asked)) => own.as_str() == asked,
            (Some(_), None) => false,
        };
        reaches && self.role.may(right)
    }
}

/// Which token a request came with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Standing {
    /// None: anybody.
    Anonymous,
    /// A wrong one.
    Mistaken,
    /// One that works.
    Known(Arc<Access>),
}

/// Who asks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Caller {
    /// The address, as far as it is known.
    pub(crate) address: IpAddr,
    /// The token it came with.
    pub(crate) standing: Standing,
}

impl Caller {
    /// Whether it came with a token that works: limits for strangers are not for them.
    pub(crate) fn is_known(&self) -> bool {
        matches!(self.standing, Standing::Known(_))
    }

    /// What the log calls them.
    pub(crate) fn name(&self) -> &str {
        match &self.standing {
            Standing::Known(access) => &access.name,
            Standing::Anonymous | Standing::Mistaken => "anybody",
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::clock::SystemRandomness;

    #[test]
    fn only_the_token_opens() {
        let (token, owner) = OwnerToken::generate(&SystemRandomness).unwrap();
        let admits = |text: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::AUTHORIZATION, text.parse().unwrap());
            owner.admits(&headers)
        };
        assert!(admits(&format!("Bearer {token}")));
        assert!(admits(&format!("bearer {token}")));
        for bad in [
            "",
            "Bearer",
            "Bearer ",
            &token,
            &format!("Basic {token}"),
            &format!("Bearer {token}x"),
        ] {
            assert!(!admits(bad), "{bad}");
        }
        assert!(!owner.admits(&HeaderMap::new()));
        assert!(!format!("{owner:?}").contains(&token[..8]));
        assert!(OwnerToken::new("short").is_err() && OwnerToken::new(&"x y".repeat(9)).is_err());
        assert!(OwnerToken::new(&format!(" {token}\n")).unwrap().admits(&{
            let mut headers = HeaderMap::new();
            headers.insert(header::AUTHORIZATION, format!("Bearer {token}").parse().unwrap());
            headers
        }));
    }
}
