//! `undertone transfer`: what leaks when the prior was wrong.

use std::path::PathBuf;

use serde_json::{Value, json};
use undertone_design::extremal::LiftRange;
use undertone_design::measure::lip;
use undertone_design::realise;
use undertone_theory::transfer;

use crate::failure::Failure;
use crate::input;
use crate::output::{Outcome, Round, at_most, nats, number_to, optional_at_most, rounded, table};

/// Bound what leaks when the prior was wrong, and compute it exactly.
///
/// A mechanism keeps epsilon-LIP under the prior --from; the truth is --to, a prior of the same symbols in any
/// order. With --policy the answer is also given for that policy's own channel. Without --to, the truth is any prior that --samples
/// observations leave possible at confidence 1 - beta.
///
/// Example: undertone transfer --from assumed.json --to truth.json --epsilon 1
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The prior the mechanism was designed for.
    #[arg(long)]
    from: PathBuf,
    /// The true prior.
    #[arg(long, required_unless_present = "samples")]
    to: Option<PathBuf>,
    /// The LIP level kept under --from.
    #[arg(long, allow_negative_numbers = true)]
    epsilon: f64,
    /// A policy whose own leakage under --to is wanted too.
    #[arg(long, requires = "to")]
    policy: Option<PathBuf>,
    /// How many observations --from was estimated from.
    #[arg(long)]
    samples: Option<u64>,
    /// The probability that the estimate is further off than its radius.
    #[arg(long, default_value_t = 0.05, allow_negative_numbers = true)]
    beta: f64,
}

/// A leakage for people, never below it.
fn up(value: f64) -> String {
    rounded(value, Round::Up)
}

pub(crate) fn run(args: &Args) -> Result<Outcome, Failure> {
    let range = LiftRange::symmetric(args.epsilon)
        .map_err(|error| Failure::usage(format!("--epsilon: {error}")))?;
    let from = input::prior(&args.from)?;
    let mut fields = serde_json::Map::new();
    let mut text = String::new();
    if let Some(path) = &args.to {
        let to = input::prior(path)?;
        let to = to.in_order_of(&path.display().to_string(), from.symbols())?;
        let found = transfer::transfer(&from, &to, range)?;
        fields.insert("published".into(), at_most(found.published));
        fields.insert("ratio".into(), at_most(args.epsilon + found.ratio));
        fields.insert("prior_free".into(), optional_at_most(found.prior_free));
        // Only what a channel was measured to attain is called exact.
        let name = if found.confirmed { "exact" } else { "at_most" };
        fields.insert("exact".into(), Value::Null);
        fields.insert(name.into(), at_most(found.exact));
        fields.insert("eta".into(), at_most(found.eta));
        fields.insert("log_ratio".into(), at_most(found.ratio));
        fields.insert("witness".into(), json!(found.witness));
        let mut rows = vec![
            vec![
                "published".into(),
                up(found.published),
                "JSTL21 (12): with the smallest mass of either prior".into(),
            ],
            vec![
                "ratio".into(),
                up(args.epsilon + found.ratio),
                format!("epsilon + max |ln P1/P2| = epsilon + {}", up(found.ratio)),
            ],
            vec![
                "prior_free".into(),
                found.prior_free.map_or("does not apply".into(), up),
                "from the total variation distance alone".into(),
            ],
            vec![
                name.replace('_', " "),
                up(found.exact),
                "worst over all mechanisms that keep the promise".into(),
            ],
        ];
        if let Some(path) = &args.policy {
            let draft = input::draft(path)?;
            let bound = lip::upper_bound(&to, &realise::policy_channel(&draft)?)?;
            fields.insert("policy".into(), at_most(bound.two_sided()));
            rows.push(vec![
                "policy".into(),
                up(bound.two_sided()),
                "this policy's own channel, rounded up".into(),
            ]);
        }
        text += &table(&["LIP under the true prior", "nats", "how"], rows);
    }
    if let Some(samples) = args.samples {
        let found = transfer::estimated(&from, samples, args.beta, range)
            .map_err(|error| Failure::usage(format!("--samples, --beta: {error}")))?;
        fields.insert(
            "estimated".into(),
            json!({
                "samples": samples,
                "beta": args.beta,
                "radius": at_most(found.radius),
                "published_radius": at_most(found.published_radius),
                "floor": number_to(found.floor, Round::Down),
                "eta": at_most(found.eta),
                "leakage": at_most(found.leakage),
            }),
        );
        text += &format!(
            "\nWith probability {} the truth is within l1 distance {} of an estimate from {samples} samples\n(the printed radius is {}), and then the LIP level is at most {} nats.",
            nats(1.0 - args.beta),
            up(found.radius),
            up(found.published_radius),
            up(found.leakage)
        );
    }
    Ok(Outcome::good(fields.into(), text.trim_start().into()))
}
