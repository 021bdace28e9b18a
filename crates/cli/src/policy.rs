//! `undertone policy`: re-check a policy document, or show it.

use std::path::PathBuf;

use serde_json::{Map, Value, json};
use undertone_core::{Claim, Context, Draft, Policy, Prior, Shape, WEIGHT_ONE};

use crate::audit::{attained, exact, strength_table};
use crate::failure::Failure;
use crate::input;
use crate::output::{Outcome, table};

/// Re-check a policy document, or show what an observer can learn from it.
///
/// Example: undertone policy verify policy.json
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(clap::Subcommand)]
enum Action {
    /// Re-check every claim exactly; exit 1 with the offending cell if one is false.
    Verify {
        /// The policy document; `-` reads standard input.
        policy: PathBuf,
    },
    /// Show the claims, what is attained, and what an observer can learn.
    Show {
        /// The policy document; `-` reads standard input.
        policy: PathBuf,
    },
}

pub(crate) fn run(args: &Args) -> Result<Outcome, Failure> {
    match &args.action {
        Action::Verify { policy } => verify(input::draft(policy)?),
        Action::Show { policy } => show(input::draft(policy)?),
    }
}

fn claim(claim: &Claim) -> Value {
    json!(claim.to_string())
}

/// The fields shared by `verify` and `show`.
pub(crate) fn fields(draft: &Draft) -> Map<String, Value> {
    let (input, secret) = draft.strength();
    let mut all = attained(&input);
    if let Some(secret) = &secret {
        all.insert("secret".into(), Value::Object(attained(secret)));
    }
    let provenance = draft.provenance();
    let context = match draft.context() {
        Context::Unknown => json!({"kind": "unknown"}),
        Context::Known(prior) => json!({"kind": "prior", "p": fractions(prior)}),
        Context::Each(priors) => {
            json!({"kind": "priors", "list": priors.as_slice().iter().map(fractions).collect::<Vec<_>>()})
        }
        Context::Within(within) => {
            let ends = |ends: &[u64]| {
                ends.iter().map(|&e| e as f64 / WEIGHT_ONE as f64).collect::<Vec<_>>()
            };
            json!({"kind": "box", "lower": ends(within.lower()), "upper": ends(within.upper())})
        }
        Context::Secret(secret) => json!({
            "kind": "secret",
            "name": secret.name(),
            "p": fractions(secret.prior()),
            "rows": secret.rows().iter().map(fractions).collect::<Vec<_>>(),
        }),
    };
    let mut map = Map::new();
    map.insert("claims".into(), draft.claims().iter().map(claim).collect());
    map.insert("attained".into(), Value::Object(all));
    map.insert("prior".into(), context);
    map.insert(
        "provenance".into(),
        json!({
            "source": provenance.source,
            "n": provenance.n,
            "date": provenance.date,
            "confidence": provenance.confidence.map(|c| c.to_string()),
            "rounding": provenance.rounding as f64 / (1u64 << 48) as f64,
        }),
    );
    map
}

fn fractions(prior: &Prior) -> Vec<f64> {
    prior.weights().iter().map(|&w| w as f64 / WEIGHT_ONE as f64).collect()
}

fn verify(draft: Draft) -> Result<Outcome, Failure> {
    let mut map = fields(&draft);
    let (input, secret) = draft.strength();
    let strength = strength_table(&input, secret.as_ref());
    match draft.verify() {
        Ok(policy) => {
            map.insert("verified".into(), json!(true));
            map.insert("policy_id".into(), json!(policy.id().to_string()));
            map.insert("deltas".into(), deltas(&policy));
            let claims: Vec<String> =
                policy.draft().claims().iter().map(ToString::to_string).collect();
            let text = format!(
                "verified: {}\npolicy id: {}\n\n{strength}",
                claims.join(" and "),
                policy.id()
            );
            Ok(Outcome::good(Value::Object(map), text))
        }
        Err(refusal) => {
            map.insert("verified".into(), json!(false));
            map.insert(
                "refusal".into(),
                json!({
                    "message": refusal.to_string(),
                    "claim": refusal.index,
                    "side": format!("{:?}", refusal.side).to_lowercase(),
                    "output": refusal.cell.output,
                    "high": refusal.cell.high,
                    "low": refusal.cell.low,
                    "prior": refusal.cell.prior,
                    "attained": exact(refusal.attained),
                    "allowed": exact(refusal.allowed),
                }),
            );
            let text = format!("REFUSED: {refusal}\n\n{strength}");
            Ok(Outcome { json: Value::Object(map), text, good: false })
        }
    }
}

fn deltas(policy: &Policy) -> Value {
    let one = |least: &Option<undertone_core::LeastDelta>| match least {
        Some(least) => json!({
            "delta": least.ratio.scaled_up(52) as f64 / (1u64 << 52) as f64,
            "bound": least.bound,
        }),
        None => Value::Null,
    };
    policy.certificate().deltas.iter().map(one).collect()
}

fn show(draft: Draft) -> Result<Outcome, Failure> {
    let checked = verify(draft.clone())?;
    let Value::Object(mut map) = checked.json else { return Ok(checked) };
    let shape = match draft.shape() {
        Shape::Table(table) => {
            format!("a table of {} inputs and {} outputs", table.rows().len(), table.outputs())
        }
        Shape::Keep(keep) => {
            format!("keep the answer or draw another, {} symbols", keep.keep().len())
        }
        Shape::Bits(bits) => format!("{} randomised bits", bits.symbols()),
    };
    map.insert("shape".into(), json!(shape));
    let mut text = format!("{}\n\nchannel: {shape}", checked.text);
    let provenance = draft.provenance();
    if !provenance.source.is_empty() {
        text += &format!(
            "\nprior from: {} (n = {}{}{})",
            provenance.source,
            provenance.n,
            if provenance.date.is_empty() {
                String::new()
            } else {
                format!(", {}", provenance.date)
            },
            provenance.confidence.map_or(String::new(), |c| format!(", confidence {c}"))
        );
    }
    if let Some((rows, text_rows)) = learn(&draft) {
        map.insert("beliefs".into(), rows);
        text += &format!("\n\nWhat an observer can learn about one person:\n{text_rows}");
    }
    Ok(Outcome { json: Value::Object(map), text, good: checked.good })
}

/// For each symbol, the range of beliefs an observer can end with, computed from the certificate's
/// worst lifts and the exact likelihood ratio: odds move by at most the LDP factor.
fn learn(draft: &Draft) -> Option<(Value, String)> {
    const SHOWN: usize = 40;
    let Context::Known(prior) = draft.context() else { return None };
    let (strength, _) = draft.strength();
    let up = strength.upper?.ratio.ln_up().map(nats_value)?.exp();
    let down = strength.lower?.ratio.ln_up().map_or(0.0, |n| (-nats_value(n)).exp());
    let odds = strength.ldp.ratio.ln_up().map(|n| nats_value(n).exp());
    let belief = |p: f64| {
        let (mut high, mut low) = ((p * up).min(1.0), p * down);
        if let Some(odds) = odds {
            high = high.min(p * odds / (p * odds + 1.0 - p));
            low = low.max(p / (p + (1.0 - p) * odds));
        }
        (low, high)
    };
    let weights = fractions(prior);
    let rows: Vec<Value> = weights
        .iter()
        .enumerate()
        .map(|(x, &p)| {
            let (low, high) = belief(p);
            json!({"symbol": draft.inputs().label(x), "before": p, "least": low, "most": high})
        })
        .collect();
    let percent = |p: f64| format!("{:.2} %", 100.0 * p);
    let shown = weights.iter().take(SHOWN).enumerate().map(|(x, &p)| {
        let (low, high) = belief(p);
        vec![draft.inputs().label(x), percent(p), percent(low), percent(high)]
    });
    let mut text =
        table(&["answer", "belief before", "after, at least", "after, at most"], shown.collect());
    if weights.len() > SHOWN {
        text += &format!("\n({} more symbols; use --json for all)", weights.len() - SHOWN);
    }
    Some((Value::Array(rows), text))
}

fn nats_value(nats: undertone_core::Nats) -> f64 {
    nats.units() as f64 / 1e10
}
