//! `undertone transfer`: what leaks when the prior was wrong.

use std::path::PathBuf;

use undertone::transfer::{TransferBounds, TransferRequest, transfer};

use crate::failure::Failure;
use crate::input;
use crate::output::{Outcome, Round, rounded, table};

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

pub(crate) fn run(args: &Args) -> Result<Outcome, Failure> {
    let report = transfer(&TransferRequest {
        from: input::prior(&args.from)?,
        to: args.to.as_deref().map(input::prior).transpose()?,
        epsilon: args.epsilon,
        policy: args.policy.as_deref().map(input::draft).transpose()?,
        samples: args.samples,
        beta: args.beta,
    })?;
    let parts = report.truth.as_ref().map(bounds).into_iter().chain(report.estimated_words());
    let text = parts.collect::<Vec<_>>().join("\n");
    Ok(Outcome::of(&report, text))
}

/// A leakage for people, never below it.
fn up(value: f64) -> String {
    rounded(value, Round::Up)
}

fn bounds(found: &TransferBounds) -> String {
    let row = |name: &str, leakage: Option<f64>, how: &str| {
        vec![name.to_owned(), leakage.map_or("does not apply".into(), up), how.to_owned()]
    };
    let ratio = format!("epsilon + max |ln P1/P2| = epsilon + {}", up(found.log_ratio));
    let (name, worst) = match found.exact {
        Some(exact) => ("exact", Some(exact)),
        None => ("at most", found.at_most),
    };
    let published = "JSTL21 (12): with the smallest mass of either prior";
    let mut rows = vec![
        row("published", Some(found.published), published),
        row("ratio", Some(found.ratio), &ratio),
        row("prior-free", found.prior_free, "from the total variation distance alone"),
        row(name, worst, "worst over all mechanisms that keep the promise"),
    ];
    if let Some(leakage) = found.policy {
        rows.push(row("policy", Some(leakage), "this policy's own channel, rounded up"));
    }
    format!("LIP under the true prior:\n\n{}", table(&["bound", "nats", "how"], rows))
}
