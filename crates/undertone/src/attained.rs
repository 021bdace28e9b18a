//! What a policy's integers attain, as programs read it.

use std::collections::BTreeMap;

use serde::Serialize;
use undertone_core::{Draft, Ratio, Strength};

use crate::number;

/// The leakages a policy attains about one subject: exact, and in nats rounded up.
#[derive(Debug, Clone, Serialize)]
pub struct Attained {
    /// How far belief moves in either direction; nothing without a prior.
    #[serde(serialize_with = "number::as_optional_level")]
    pub lip: Option<Ratio>,
    /// How far belief rises; nothing without a prior.
    #[serde(serialize_with = "number::as_optional_level")]
    pub max_lift: Option<Ratio>,
    /// How far belief falls; nothing without a prior.
    #[serde(serialize_with = "number::as_optional_level")]
    pub min_lift: Option<Ratio>,
    /// How far likelihoods of two values differ.
    #[serde(serialize_with = "number::as_level")]
    pub ldp: Ratio,
    /// The ratios themselves, by name.
    pub exact: BTreeMap<&'static str, ExactRatio>,
    /// Whether the ratios are bounds, a hair above what is attained: blocks are drawn by an index that does not divide evenly.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub bound: bool,
}

/// A ratio, and its logarithm rounded up.
#[derive(Debug, Clone, Serialize)]
pub struct ExactRatio {
    nats: serde_json::Value,
    ratio: String,
}

impl From<Ratio> for ExactRatio {
    fn from(ratio: Ratio) -> Self {
        match ratio.ln_up() {
            Some(nats) => Self { nats: nats.to_string().into(), ratio: ratio.to_string() },
            None => Self { nats: number::certified(None), ratio: "unbounded".into() },
        }
    }
}

/// What a policy attains about the input and, where its context has one, about the secret.
#[derive(Debug, Clone, Serialize)]
pub struct AttainedAll {
    /// About the input.
    #[serde(flatten)]
    pub input: Attained,
    /// About the secret.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret: Option<Attained>,
}

impl From<&Strength> for Attained {
    fn from(strength: &Strength) -> Self {
        let sides = [
            ("max_lift", strength.upper),
            ("min_lift", strength.lower),
            ("ldp", Some(strength.ldp)),
        ];
        let exact = sides.into_iter().filter_map(|(name, worst)| Some((name, worst?.ratio.into())));
        Self {
            lip: strength.lip(),
            max_lift: strength.upper.map(|worst| worst.ratio),
            min_lift: strength.lower.map(|worst| worst.ratio),
            ldp: strength.ldp.ratio,
            exact: exact.collect(),
            bound: !strength.exact,
        }
    }
}

impl AttainedAll {
    /// What a draft attains, verified or not.
    pub fn of(draft: &Draft) -> Self {
        let (input, secret) = draft.strength();
        Self { input: (&input).into(), secret: secret.as_ref().map(Into::into) }
    }
}

impl AttainedAll {
    /// The levels in a sentence or two.
    pub fn words(&self) -> String {
        let level = |ratio: Ratio| match ratio.ln_up() {
            Some(nats) => format!("by at most {nats} nats"),
            None => "without bound".into(),
        };
        let about = |who: &str, attained: &Attained| {
            let likelihoods =
                format!("likelihoods of two values differ {} (LDP)", level(attained.ldp));
            match attained.lip {
                Some(lip) => {
                    format!("Belief about the {who} moves {} (LIP); {likelihoods}.", level(lip))
                }
                None => format!("About the {who}: {likelihoods}."),
            }
        };
        let mut words = about("input", &self.input);
        if let Some(secret) = &self.secret {
            words += &format!(" {}", about("secret", secret));
        }
        words
    }
}
