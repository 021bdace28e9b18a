//! Who owns the curator: one token, of which only the hash is kept.

use axum::http::{HeaderMap, header};
use sha2::{Digest, Sha256};
use std::fmt;
use std::net::IpAddr;
use subtle::ConstantTimeEq;

use crate::clock::Randomness;

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
        let Some(token) = bearer(headers).filter(|token| token.len() <= MOST_CHARACTERS) else {
            return false;
        };
        let hash: [u8; 32] = Sha256::digest(token).into();
        hash.ct_eq(&self.0).into()
    }
}

/// The token a request carries, whether it is right or wrong. Credentials of another scheme are meant
/// for somebody else, such as a proxy in front that asks for a password.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let sent = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = sent.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// Which token a request came with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Standing {
    /// None: anybody.
    Anonymous,
    /// A wrong one.
    Mistaken,
    /// The owner's.
    Owner,
}

/// Who asks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Caller {
    /// The address, as far as it is known.
    pub(crate) address: IpAddr,
    /// The token it came with.
    pub(crate) standing: Standing,
}

impl Caller {
    pub(crate) fn new(address: IpAddr, headers: &HeaderMap, owner: &OwnerToken) -> Self {
        let standing = match bearer(headers) {
            None => Standing::Anonymous,
            Some(_) if owner.admits(headers) => Standing::Owner,
            Some(_) => Standing::Mistaken,
        };
        Self { address, standing }
    }

    pub(crate) fn is_owner(self) -> bool {
        self.standing == Standing::Owner
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
