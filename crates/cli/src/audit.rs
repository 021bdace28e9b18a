//! `undertone audit`: every measure of a channel or a policy.

use std::path::PathBuf;

use undertone::audit::{AuditReport, AuditRequest, AuditSubject, ChannelAudit, DeltaReport};
use undertone_core::{Ratio, Strength};

use crate::failure::Failure;
use crate::input;
use crate::output::{Outcome, Round, nats, rounded, table};

/// Measure what a channel, or a policy, reveals under every notion.
///
/// A channel is audited in floats as given; for a policy the leakages come from its integers, exactly,
/// and are printed rounded up. A policy is audited under its own prior, or under --prior (rounded to 2^-32).
/// Prior, policy, channel and joint law are matched by the names of their symbols.
///
/// Example: undertone audit --prior prior.json --channel channel.json --epsilon 0.3
#[derive(clap::Args)]
pub(crate) struct Args {
    /// A policy document to audit.
    #[arg(conflicts_with_all = ["channel", "joint"], required_unless_present_any = ["channel", "joint"])]
    policy: Option<PathBuf>,
    /// The prior of the data: [0.5,0.3,0.2], {"a": 0.5, "b": 0.5} or {"symbols": [...], "p": [...]}.
    #[arg(long, conflicts_with = "joint")]
    prior: Option<PathBuf>,
    /// The channel: a list of rows, in the order of the prior's symbols, or {"inputs": [...], "outputs":
    /// [...], "rows": [...]}. `-` reads standard input.
    #[arg(long)]
    channel: Option<PathBuf>,
    /// A joint law P(s,x) of a secret and the data, one row per s, or {"secret": [...], "symbols": [...],
    /// "rows": [...]}: audits the secret, through the channel if one is given, else against the data itself.
    #[arg(long)]
    joint: Option<PathBuf>,
    /// Also print the least delta at this epsilon, in each convention.
    #[arg(long, allow_negative_numbers = true)]
    epsilon: Option<f64>,
    /// The order of the Sibson, Arimoto and alpha-lift measures.
    #[arg(long, default_value_t = 2.0, allow_negative_numbers = true)]
    alpha: f64,
}

pub(crate) fn run(args: &Args) -> Result<Outcome, Failure> {
    let subject = subject(args)?;
    let request = AuditRequest { subject, epsilon: args.epsilon, alpha: args.alpha };
    let report = undertone::audit::audit(&request)?;
    let text = match &report {
        AuditReport::Channel(audit) => describe(audit),
        AuditReport::Policy(audit) => {
            let (input, secret) = &audit.strength;
            let mut text = strength_table(input, secret.as_ref());
            if let Some(floats) = &audit.floats {
                let table = describe(floats);
                text += &format!("\n\nThe averaged measures, in floats:\n{table}");
            }
            text
        }
    };
    Ok(Outcome::of(&report, text))
}

fn subject(args: &Args) -> Result<AuditSubject, Failure> {
    let prior = args.prior.as_deref().map(input::prior).transpose()?;
    let prior = prior.map(|prior| prior.law().clone());
    if let Some(path) = &args.policy {
        let draft = Box::new(input::draft(path)?);
        return Ok(AuditSubject::Policy { draft, prior });
    }
    let channel = args.channel.as_deref().map(input::channel).transpose()?;
    if let Some(path) = &args.joint {
        return Ok(AuditSubject::Secret { joint: input::joint(path)?, channel });
    }
    match (prior, channel) {
        (Some(prior), Some(channel)) => Ok(AuditSubject::Channel { prior, channel }),
        _ => Err(Failure::usage("give --prior and --channel, or --joint, or a policy document")),
    }
}

fn describe(audit: &ChannelAudit) -> String {
    let row = |name: &str, value: f64, meaning: String| vec![name.to_owned(), nats(value), meaning];
    let leak = |name: &str, value: f64, meaning: String| {
        vec![name.to_owned(), rounded(value, Round::Up), meaning]
    };
    let label = |names: &Option<Vec<String>>, at: usize| match names {
        Some(names) => names[at].clone(),
        None => at.to_string(),
    };
    let (who, worst) = (audit.who, &audit.worst);
    let cell = |cell: undertone::audit::WorstCell| {
        let (input, output) =
            (label(&audit.inputs, cell.input), label(&audit.outputs, cell.output));
        format!("{who} {input}, output {output}")
    };
    let pair = worst.ldp;
    let pair = format!(
        "{who} {} against {}, output {}",
        label(&audit.inputs, pair.high),
        label(&audit.inputs, pair.low),
        label(&audit.outputs, pair.output)
    );
    let furthest = if audit.max_lift >= audit.min_lift { worst.max_lift } else { worst.min_lift };
    let averaged = &audit.averaged;
    let order = format!("order {}", averaged.alpha);
    let mut rows = vec![
        leak("lip", audit.lip, format!("belief moves furthest at {}", cell(furthest))),
        leak("max_lift", audit.max_lift, format!("rises furthest at {}", cell(worst.max_lift))),
        leak("min_lift", audit.min_lift, format!("falls furthest at {}", cell(worst.min_lift))),
        leak("ldp", audit.ldp, format!("likelihoods differ most at {pair}")),
        row(
            "identifiability",
            averaged.identifiability,
            "posterior odds between two values".into(),
        ),
        row(
            "mutual_information",
            averaged.mutual_information,
            format!(
                "of {} nats of entropy",
                nats(audit.secret_entropy.unwrap_or(averaged.entropy))
            ),
        ),
        row("maximal_leakage", averaged.maximal_leakage, "best guess of any function of it".into()),
        row("sibson", averaged.sibson, order.clone()),
        row("arimoto", averaged.arimoto, order.clone()),
        row("alpha_lift", averaged.alpha_lift, format!("logarithm, {order}")),
    ];
    rows.extend(audit.delta.iter().flat_map(deltas));
    let table = table(&["measure", "value", "where, or of what"], rows);
    match audit.delta {
        Some(_) => {
            format!("{table}\nAll values but the deltas, which are probabilities, are in nats.")
        }
        None => format!("{table}\nAll values in nats."),
    }
}

/// The least delta in each convention.
fn deltas(delta: &DeltaReport) -> Vec<Vec<String>> {
    let at = format!("least delta at epsilon {}", nats(delta.epsilon));
    let row = |name: &str, value: Option<f64>| match value {
        Some(value) => {
            vec![format!("delta {name}"), rounded(value, Round::Up), at.clone()]
        }
        None => {
            vec![format!("delta {name}"), "-".into(), "too many symbols to try all sets".into()]
        }
    };
    let mut rows = vec![row("conditional", delta.conditional)];
    if let Some(others) = &delta.others {
        rows.push(row("posterior", Some(others.posterior)));
        rows.push(row("joint", Some(others.joint)));
        rows.push(row("joint_sets", others.joint_sets));
    }
    rows
}

/// What the integers attain, rounded up, for people.
pub(crate) fn strength_table(input: &Strength, secret: Option<&Strength>) -> String {
    let show = |ratio: Option<Ratio>| match ratio.map(Ratio::ln_up) {
        Some(Some(nats)) => nats.to_string(),
        Some(None) => "unbounded".into(),
        None => "no prior".into(),
    };
    let row = |who: &str, strength: &Strength| {
        vec![
            who.to_owned(),
            show(strength.lip()),
            show(strength.upper.map(|w| w.ratio)),
            show(strength.lower.map(|w| w.ratio)),
            show(Some(strength.ldp.ratio)),
        ]
    };
    let mut rows = vec![row("the input", input)];
    rows.extend(secret.map(|strength| row("the secret", strength)));
    let table = table(&["attained, about", "lip", "max_lift", "min_lift", "ldp"], rows);
    format!("{table}\nFrom the policy's integers, in nats, rounded up.")
}
