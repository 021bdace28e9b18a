//! A survey's plan: promises, rounds, budget, and who shares a policy.

use serde::{Deserialize, Deserializer, Serialize};
use undertone::Distribution;
use undertone::design::DesignMethod;
use undertone_core::{Epsilon, Nats};

use undertone_wire::limits::{EVERYONE, MOST_GROUPS, MOST_ROUNDS};
use undertone_wire::{Code, Problem};

/// The methods a plan may name: those that keep what they claim, for any number of answers.
const METHODS: [DesignMethod; 7] = [
    DesignMethod::Optimal,
    DesignMethod::Compact,
    DesignMethod::Krr,
    DesignMethod::Oue,
    DesignMethod::Sue,
    DesignMethod::Sampling,
    DesignMethod::ExtremalLdp,
];

/// Promises, rounds and budget.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// The promise of every round, in nats: LIP once a prior is known, LDP before.
    #[serde(deserialize_with = "decimal")]
    pub epsilon: String,
    /// The prior, if one is known. Without one the first round is LDP and later ones learn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prior: Option<GivenPrior>,
    /// How many rounds there may be.
    #[serde(default = "one")]
    pub rounds: u32,
    /// The attained LDP all rounds together may cost one person, in nats. Left out, it is what `rounds`
    /// rounds can cost at most.
    #[serde(
        default,
        deserialize_with = "optional_decimal",
        skip_serializing_if = "Option::is_none"
    )]
    pub total_ldp: Option<String>,
    /// A cap on the LDP of each context-aware round, claimed beside the LIP.
    #[serde(
        default,
        deserialize_with = "optional_decimal",
        skip_serializing_if = "Option::is_none"
    )]
    pub ldp_per_round: Option<String>,
    /// The confidence 1-β of the box a later round is designed for.
    #[serde(default = "usual_confidence")]
    pub confidence: f64,
    /// `auto`, or a method of `undertone design`: optimal, compact, krr, oue, sue, sampling, extremal-ldp.
    #[serde(default = "auto")]
    pub method: String,
    /// Who shares a policy. Left out: everyone, at least as many people as the group minimum.
    #[serde(default)]
    pub groups: Vec<Group>,
}

fn one() -> u32 {
    1
}

fn usual_confidence() -> f64 {
    0.95
}

fn auto() -> String {
    "auto".into()
}

/// A prior as its owner states it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GivenPrior {
    /// One probability per answer.
    pub p: Vec<f64>,
    /// Where it comes from, in the owner's words.
    #[serde(default)]
    pub source: String,
    /// How many observations it rests on, as the owner says.
    #[serde(default)]
    pub n: u64,
    /// When, as YYYY-MM-DD.
    #[serde(default)]
    pub date: String,
}

/// People who share a policy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// Its name.
    pub group: String,
    /// How many people share the policy, at least. The owner's word: nothing checks it.
    pub people: u64,
    /// Its own prior, in place of the plan's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prior: Option<GivenPrior>,
}

/// A decimal number as text; JSON numbers are accepted too.
fn decimal<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Either {
        Text(String),
        Number(f64),
    }
    Ok(match Either::deserialize(from)? {
        Either::Text(text) => text,
        Either::Number(number) => number.to_string(),
    })
}

fn optional_decimal<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    #[derive(Deserialize)]
    struct Wrapped(#[serde(deserialize_with = "decimal")] String);
    Ok(Option::<Wrapped>::deserialize(from)?.map(|Wrapped(text)| text))
}

impl GivenPrior {
    fn check(&self, what: &str, symbols: usize) -> Result<(), Problem> {
        let bad = |problem: String| Err(Problem::malformed(format!("{what}: {problem}")));
        if self.p.len() != symbols {
            return bad(format!("{} probabilities for {symbols} answers", self.p.len()));
        }
        if self.source.len() > 300 {
            return bad("source has more than 300 bytes".into());
        }
        match Distribution::new(what, self.p.clone()) {
            Ok(_) => Ok(()),
            Err(error) => bad(error.to_string()),
        }
    }
}

impl Plan {
    pub(crate) fn check(&self, symbols: usize, group_minimum: u64) -> Result<(), Problem> {
        let bad = |problem: String| Err(Problem::malformed(format!("plan.{problem}")));
        let epsilon = self.epsilon()?;
        if epsilon == Epsilon::ZERO {
            return bad("epsilon is 0, at which answers say nothing: give a positive level".into());
        }
        if !(1..=MOST_ROUNDS).contains(&self.rounds) {
            return bad(format!("rounds is {}: give 1 to {MOST_ROUNDS}", self.rounds));
        }
        if !(self.confidence >= 0.5 && self.confidence <= 0.999_999) {
            return bad(format!("confidence is {}: give 0.5 to 0.999999", self.confidence));
        }
        self.total()?;
        self.cap()?;
        if self.method != "auto" {
            self.named_method()?;
        }
        if let Some(prior) = &self.prior {
            prior.check("plan.prior", symbols)?;
        }
        if self.groups.len() > MOST_GROUPS {
            return bad(format!(
                "groups: {} are too many: at most {MOST_GROUPS}",
                self.groups.len()
            ));
        }
        for (at, group) in self.groups.iter().enumerate() {
            let name = &group.group;
            if name.is_empty()
                || name.len() > 64
                || self.groups[..at].iter().any(|g| &g.group == name)
            {
                return bad(format!("groups: {name:?} must have 1 to 64 bytes and occur once"));
            }
            if group.people < group_minimum {
                let detail = format!(
                    "plan.groups: {name:?} has {} people and at least {group_minimum} must share a policy, because its id tells which group a report is from: merge it with another",
                    group.people
                );
                return Err(Problem::new(Code::GroupTooSmall, detail));
            }
            if let Some(prior) = &group.prior {
                prior.check(&format!("plan.groups: the prior of {name:?}"), symbols)?;
            }
        }
        Ok(())
    }

    /// The promise of every round.
    pub fn epsilon(&self) -> Result<Epsilon, Problem> {
        Epsilon::parse(&self.epsilon).map_err(|error| {
            Problem::malformed(format!("plan.epsilon {:?}: {error}", self.epsilon))
        })
    }

    /// The cap on a context-aware round's LDP.
    pub fn cap(&self) -> Result<Option<Epsilon>, Problem> {
        let read = |text: &String| {
            Epsilon::parse(text).map_err(|error| {
                Problem::malformed(format!("plan.ldp_per_round {text:?}: {error}"))
            })
        };
        self.ldp_per_round.as_ref().map(read).transpose()
    }

    /// The budget of attained LDP over all rounds.
    pub fn total(&self) -> Result<Nats, Problem> {
        if let Some(text) = &self.total_ldp {
            return Nats::parse_down(text)
                .map_err(|error| Problem::malformed(format!("plan.total_ldp {text:?}: {error}")));
        }
        // A round under LIP attains at most twice its level in LDP.
        let level = self.epsilon()?.nats().units();
        let informed = self.prior.is_some() || self.groups.iter().any(|g| g.prior.is_some());
        let first = if informed { 2 * level } else { level };
        Ok(Nats::from_units(first + 2 * level * u64::from(self.rounds - 1)))
    }

    /// The method, unless it is `auto`.
    pub fn named_method(&self) -> Result<Option<DesignMethod>, Problem> {
        if self.method == "auto" {
            return Ok(None);
        }
        let known = METHODS.into_iter().find(|method| method.name() == self.method);
        known.map(Some).ok_or_else(|| {
            let names = METHODS.map(DesignMethod::name).join(", ");
            Problem::malformed(format!("plan.method {:?}: use auto or one of {names}", self.method))
        })
    }

    /// The groups; everyone, if none are named.
    pub fn groups(&self, group_minimum: u64) -> Vec<Group> {
        if self.groups.is_empty() {
            return vec![Group { group: EVERYONE.into(), people: group_minimum, prior: None }];
        }
        self.groups.clone()
    }
}
