//! Several policies answered for one datum, held against a person's consent.

use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::str::FromStr;

use serde::{Serialize, Serializer};
use undertone_core::{Consent, Policy, PolicyId, Ratio, SecretConsent, Sequence, Standing};
use undertone_design::protection;

use crate::answer::Answer;
use crate::{Error, number};

/// One limit a person sets: `ldp:E`, `lip:E` or `secret:NAME=ldp:E`.
#[derive(Debug, Clone)]
pub struct ConsentLimit {
    text: String,
    consent: Consent,
}

impl FromStr for ConsentLimit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let nats =
            |level: &str| protection::nats(level).map_err(|error| format!("{level:?} is {error}"));
        let unlimited = Consent::UNLIMITED;
        let consent = if let Some(level) = text.strip_prefix("ldp:") {
            Consent { ldp: Some(nats(level)?), ..unlimited }
        } else if let Some(level) = text.strip_prefix("lip:") {
            Consent { lip: Some(nats(level)?), ..unlimited }
        } else if let Some(rest) = text.strip_prefix("secret:") {
            let Some((name, level)) =
                rest.rsplit_once("=ldp:").filter(|(name, _)| !name.is_empty())
            else {
                return Err(format!(
                    "{text:?} names no secret and level: write secret:NAME=ldp:0.5"
                ));
            };
            let secret = SecretConsent { name: name.into(), ldp: nats(level)? };
            Consent { secrets: vec![secret], ..unlimited }
        } else {
            return Err(format!("{text:?} is no limit: write ldp:1, lip:1 or secret:NAME=ldp:0.5"));
        };
        Ok(Self { text: text.into(), consent })
    }
}

/// What several policies tell about one datum when all of them are answered.
#[derive(Debug, Clone, Serialize)]
pub struct TogetherReport {
    /// Always: only verified policies are judged.
    pub verified: bool,
    /// The policies, in order.
    #[serde(serialize_with = "number::as_texts")]
    pub policies: Vec<PolicyId>,
    /// The whole.
    pub together: Together,
}

/// A sequence of releases as one.
#[derive(Debug, Clone, Serialize)]
pub struct Together {
    /// Whether the levels are attained by some answers; otherwise they are bounds.
    pub exact: bool,
    /// How much all answers together tell.
    pub attained: AttainedTogether,
    /// Whether the claim of each holds for all answers together; nothing where that cannot be said.
    pub claims: Option<bool>,
    /// Every limit, and whether it is met.
    pub consent: Vec<LimitMet>,
}

/// How much all answers together tell, in nats rounded up.
#[derive(Debug, Clone, Serialize)]
pub struct AttainedTogether {
    /// Likelihoods of two values of the input.
    #[serde(serialize_with = "number::as_level")]
    pub ldp: Ratio,
    /// Belief about the input; nothing without a prior.
    #[serde(serialize_with = "number::as_optional_level")]
    pub lip: Option<Ratio>,
    /// Likelihoods of two values of the secret about which most is told.
    #[serde(serialize_with = "number::as_optional_level")]
    pub secret: Option<Ratio>,
    /// The level of each secret, by its name.
    #[serde(serialize_with = "levels_by_name")]
    pub secrets: Vec<(String, Ratio)>,
}

/// A limit and whether it is met.
#[derive(Debug, Clone, Serialize)]
pub struct LimitMet {
    /// The limit as it was written.
    pub claim: String,
    /// Whether all answers together stay below it.
    pub met: bool,
}

fn levels_by_name<S: Serializer>(levels: &[(String, Ratio)], to: S) -> Result<S::Ok, S::Error> {
    let named: BTreeMap<_, _> =
        levels.iter().map(|(name, ratio)| (name, number::level(Some(*ratio)))).collect();
    named.serialize(to)
}

/// Judges everything these policies tell about one datum as one release.
pub fn together<P: Borrow<Policy>>(
    policies: &[P],
    limits: &[ConsentLimit],
) -> Result<TogetherReport, Error> {
    let listed: Vec<&Policy> = policies.iter().map(Borrow::borrow).collect();
    let Some(standing) = Sequence::together(&listed) else {
        return Err(Error::field("together", "needs at least one policy"));
    };
    let limit = |limit: &ConsentLimit| LimitMet {
        claim: limit.text.clone(),
        met: limit.consent.check(&standing).is_ok(),
    };
    Ok(TogetherReport {
        verified: true,
        policies: listed.iter().map(|policy| policy.id()).collect(),
        together: Together {
            exact: standing.exact,
            claims: standing.claims,
            consent: limits.iter().map(limit).collect(),
            attained: AttainedTogether::from(standing),
        },
    })
}

impl From<Standing> for AttainedTogether {
    fn from(standing: Standing) -> Self {
        let secret = standing.secrets.iter().map(|(_, ratio)| *ratio).max();
        Self { ldp: standing.ldp, lip: standing.lip, secret, secrets: standing.secrets }
    }
}

impl Answer for TogetherReport {
    fn words(&self) -> String {
        let kind = if self.together.exact {
            "Over every answer all of them can give, from the integers, in nats, rounded up."
        } else {
            "Upper bounds, in nats: some answers are too many to list, blocks are drawn by an index that does not divide evenly, or the policies have other symbols."
        };
        let claims = match self.together.claims {
            Some(true) => "The claims of all of them hold for all answers together.",
            Some(false) => {
                "Claims speak of one release each: all answers together go beyond a claim of one of them."
            }
            None => "Whether the claims hold for all answers together cannot be said here.",
        };
        let mut words = format!("{kind}\n{claims}");
        for LimitMet { claim, met } in &self.together.consent {
            let verdict = if *met { "met" } else { "NOT MET" };
            words += &format!("\nconsent {claim}: {verdict}");
        }
        words
    }

    fn is_good(&self) -> bool {
        self.together.consent.iter().all(|limit| limit.met)
    }
}
