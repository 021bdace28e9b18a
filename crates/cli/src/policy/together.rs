//! Several policies answered for one datum, held against a person's consent.

use std::path::PathBuf;
use std::str::FromStr;

use serde_json::{Map, Value, json};
use undertone_core::{Consent, Policy, Ratio, SecretConsent, Sequence, Standing};
use undertone_design::protection;

use crate::audit::leak;
use crate::failure::Failure;
use crate::input;
use crate::output::{Outcome, table};

/// One limit: `ldp:E`, `lip:E` or `secret:NAME=ldp:E`.
#[derive(Clone)]
pub(crate) struct Limit {
    text: String,
    consent: Consent,
}

impl FromStr for Limit {
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

pub(super) fn run(paths: &[PathBuf], limits: &[Limit]) -> Result<Outcome, Failure> {
    let mut policies = Vec::new();
    for path in paths {
        let refused = |error| Failure::input(format!("{}: REFUSED: {error}", path.display()));
        policies.push(input::draft(path)?.verify().map_err(refused)?);
    }
    let listed: Vec<&Policy> = policies.iter().collect();
    let Some(standing) = Sequence::together(&listed) else {
        return Err(Failure::usage("--together needs at least one policy"));
    };
    let met = |limit: &Limit| limit.consent.check(&standing).is_ok();
    let good = limits.iter().all(met);
    let consent: Vec<Value> =
        limits.iter().map(|limit| json!({"claim": limit.text, "met": met(limit)})).collect();
    let json = json!({
        "verified": true,
        "policies": policies.iter().map(|policy| policy.id().to_string()).collect::<Vec<_>>(),
        "together": {
            "exact": standing.exact,
            "attained": attained(&standing),
            "claims": standing.claims,
            "consent": consent,
        },
    });
    Ok(Outcome { json, text: text(&standing, limits, &met), good })
}

fn attained(standing: &Standing) -> Value {
    let worst = standing.secrets.iter().map(|(_, ratio)| *ratio).max();
    let secrets: Map<String, Value> =
        standing.secrets.iter().map(|(name, ratio)| (name.clone(), leak(Some(*ratio)))).collect();
    json!({
        "ldp": leak(Some(standing.ldp)),
        "lip": leak(standing.lip),
        "secret": leak(worst),
        "secrets": secrets,
    })
}

fn text(standing: &Standing, limits: &[Limit], met: &dyn Fn(&Limit) -> bool) -> String {
    let show = |ratio: Ratio| ratio.ln_up().map_or("unbounded".into(), |nats| nats.to_string());
    let mut rows = vec![vec!["ldp of the input".into(), show(standing.ldp)]];
    rows.push(vec!["lip of the input".into(), standing.lip.map_or("no prior".into(), show)]);
    for (name, ratio) in &standing.secrets {
        rows.push(vec![format!("ldp of the secret {name:?}"), show(*ratio)]);
    }
    let kind = if standing.exact {
        "Over every answer all of them can give, from the integers, in nats, rounded up."
    } else {
        "Upper bounds, in nats: some answers are too many to list, or the policies have other symbols."
    };
    let claims = match standing.claims {
        Some(true) => "The claims of all of them hold for all answers together.",
        Some(false) => {
            "Claims speak of one release each: all answers together go beyond a claim of one of them."
        }
        None => "Whether the claims hold for all answers together cannot be said here.",
    };
    let mut text = format!("{}\n{kind}\n{claims}", table(&["all together attain", "nats"], rows));
    for limit in limits {
        let verdict = if met(limit) { "met" } else { "NOT MET" };
        text += &format!("\nconsent {}: {verdict}", limit.text);
    }
    text
}
