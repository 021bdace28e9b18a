//! `undertone policy`: re-check a policy document, or show it.

mod together;

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use undertone_core::{Claim, Context, Draft, Policy, Prior, Shape, WEIGHT_ONE};

use crate::audit::{attained, exact, strength_table};
use crate::failure::Failure;
use crate::input;
use crate::numbers;
use crate::output::{Outcome, at_most};
use crate::risk;

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
    ///
    /// With --together: what several policies tell about one datum when all of them are answered, held against what a
    /// person agreed to. Example: undertone policy verify a.json b.json --together --consent lip:1
    Verify {
        /// The policy document; `-` reads standard input. Several with --together.
        #[arg(required = true)]
        policies: Vec<PathBuf>,
        /// Judge everything these policies tell about one datum as one release.
        #[arg(long)]
        together: bool,
        /// A limit on the whole: ldp:E, lip:E or secret:NAME=ldp:E (repeatable); exit 1 if one is not met.
        #[arg(long, value_name = "LIMIT", requires = "together")]
        consent: Vec<together::Limit>,
    },
    /// Show the claims, what is attained, and what an observer can learn.
    Show {
        /// The policy document; `-` reads standard input.
        policy: PathBuf,
        /// Draw what an observer can learn as an SVG picture.
        #[arg(long, value_name = "FILE.svg")]
        plot: Option<PathBuf>,
    },
}

pub(crate) fn run(args: &Args) -> Result<Outcome, Failure> {
    match &args.action {
        Action::Verify { policies, together: true, consent } => together::run(policies, consent),
        Action::Verify { policies, .. } => match policies.as_slice() {
            [policy] => verify(input::draft(policy)?),
            _ => Err(Failure::usage(
                "several policies are verified one by one, or with --together as releases about one datum",
            )),
        },
        Action::Show { policy, plot } => show(input::draft(policy)?, plot.as_deref()),
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
            "rounding": at_most(provenance.rounding as f64 / (1u64 << 48) as f64),
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
            "delta": numbers::share(least.ratio),
            "bound": least.bound,
        }),
        None => Value::Null,
    };
    policy.certificate().deltas.iter().map(one).collect()
}

fn show(draft: Draft, plot: Option<&Path>) -> Result<Outcome, Failure> {
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
    let told = risk::read(&draft)?;
    map.extend(told.json());
    text += &format!("\n\n{}", told.text());
    if let Some(path) = plot {
        told.plot(path, checked.good)?;
        text += &format!("\n\npicture written to {}", path.display());
    }
    Ok(Outcome { json: Value::Object(map), text, good: checked.good })
}
