//! `undertone audit`: every measure of a channel or a policy.

use std::path::PathBuf;

use serde_json::{Map, Value, json};
use undertone_core::{
    Bound, Claim, Context, Delta, Draft, Epsilon, MASS_ONE, Ratio, Shape, Strength, Subject,
};
use undertone_design::measure::audit::Audit;
use undertone_design::measure::{ldp, lip, maximal_leakage, mutual_information};
use undertone_design::{Channel, Distribution, Symbols, protection, quantize, realise};

use crate::failure::Failure;
use crate::input;
use crate::numbers;
use crate::output::{Outcome, at_most, certified, nats, number, optional, optional_at_most, table};

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
    if let Some(epsilon) = args.epsilon
        && !(0.0..=700.0).contains(&epsilon)
    {
        return Err(Failure::usage(format!("--epsilon is {epsilon}: give a number from 0 to 700")));
    }
    if !(args.alpha >= 1.0) {
        return Err(Failure::usage(format!(
            "--alpha is {}: give a number of at least 1",
            args.alpha
        )));
    }
    if let Some(path) = &args.policy {
        let draft = input::draft(path)?;
        return match &args.prior {
            Some(path) => policy(args, &under(&draft, &input::prior(path)?)?),
            None => policy(args, &draft),
        };
    }
    let channel = args.channel.as_deref().map(input::channel).transpose()?;
    if let Some(path) = &args.joint {
        let joint = input::joint(path)?;
        let audit = Audit::of_secret(&joint, channel.as_ref(), args.epsilon, args.alpha)?;
        let seen = match &channel {
            Some(channel) => joint.through(channel)?,
            None => joint.given_secret().clone(),
        };
        let json = floats(&audit, joint.secret(), &seen)?;
        let text = describe(&audit, "secret value", joint.secret(), &seen);
        return Ok(Outcome::good(Value::Object(json), text));
    }
    let (Some(prior), Some(channel)) = (&args.prior, channel) else {
        return Err(Failure::usage("give --prior and --channel, or --joint, or a policy document"));
    };
    let prior = input::prior(prior)?;
    let audit = Audit::of(&prior, &channel, args.epsilon, args.alpha)?;
    let json = floats(&audit, &prior, &channel)?;
    let text = describe(&audit, "input", &prior, &channel);
    Ok(Outcome::good(Value::Object(json), text))
}

/// A policy's channel in the context of another prior, of the symbols the policy names.
fn under(draft: &Draft, prior: &Distribution) -> Result<Draft, Failure> {
    let prior = prior.in_order_of("the prior", &Symbols::of(draft.inputs()))?;
    let context = Context::Known(quantize::prior(&prior)?.prior);
    let outputs = matches!(draft.shape(), Shape::Table(_)).then(|| draft.outputs().clone());
    // What is claimed was about another prior.
    let claims = vec![Claim::ldp(Epsilon::LARGEST)];
    let (inputs, shape) = (draft.inputs().clone(), draft.shape().clone());
    Draft::new(inputs, outputs, shape, context, claims, draft.provenance().clone())
        .map_err(Failure::input)
}

/// Every field of an audit in floats, with bounds rounded outward beside those that have them.
fn floats(
    audit: &Audit,
    prior: &Distribution,
    channel: &Channel,
) -> Result<Map<String, Value>, Failure> {
    let channel = &*channel.under(prior)?;
    let lip_upper = lip::upper_bound(prior, channel)?;
    let value = json!({
        "inputs": labels(prior.symbols()),
        "outputs": labels(channel.output_symbols()),
        "ldp": number(audit.ldp.nats),
        "lip": number(audit.lip.nats),
        "max_lift": number(audit.max_lift.nats),
        "min_lift": number(audit.min_lift.nats),
        "mutual_information": number(audit.mutual_information),
        "maximal_leakage": number(audit.maximal_leakage),
        "identifiability": number(audit.identifiability.nats),
        "alpha": number(audit.alpha),
        "sibson": number(audit.sibson),
        "arimoto": number(audit.arimoto),
        "alpha_lift": number(audit.alpha_lift.nats),
        "entropy": number(audit.entropy),
        "secret_entropy": optional(audit.secret_entropy),
        "delta": audit.delta.map(|d| json!({
            "epsilon": d.epsilon,
            "conditional": at_most(d.conditional),
            "posterior": at_most(d.posterior),
            "joint": at_most(d.joint),
            "joint_sets": optional_at_most(d.joint_sets),
        })),
        "worst": {
            "ldp": {"high": audit.ldp.at.0, "low": audit.ldp.at.1, "output": audit.ldp.at.2},
            "max_lift": {"input": audit.max_lift.at.0, "output": audit.max_lift.at.1},
            "min_lift": {"input": audit.min_lift.at.0, "output": audit.min_lift.at.1},
        },
        "upper_bounds": {
            "ldp": at_most(ldp::upper_bound(channel)),
            "lip": at_most(lip_upper.two_sided()),
            "max_lift": at_most(lip_upper.max_lift),
            "min_lift": at_most(lip_upper.min_lift),
            "mutual_information": at_most(mutual_information::upper_bound(prior, channel)?),
            "maximal_leakage": at_most(maximal_leakage::upper_bound(prior, channel)?),
        },
    });
    match value {
        Value::Object(map) => Ok(map),
        _ => Ok(Map::new()),
    }
}

/// What indices stand for; nothing where symbols have no names.
fn labels(symbols: &Symbols) -> Option<Vec<String>> {
    symbols.are_named().then(|| (0..symbols.len()).map(|x| symbols.label(x)).collect())
}

fn describe(audit: &Audit, who: &str, prior: &Distribution, channel: &Channel) -> String {
    let row = |name: &str, value: f64, meaning: String| vec![name.to_owned(), nats(value), meaning];
    let input = |x: usize| prior.symbols().label(x);
    let output = |y: usize| channel.output_symbols().label(y);
    let cell = |(x, y): (usize, usize)| format!("{who} {}, output {}", input(x), output(y));
    let pair = |(x, z, y): (usize, usize, usize)| {
        format!("{who} {} against {}, output {}", input(x), input(z), output(y))
    };
    let order = format!("order {}", audit.alpha);
    let mut rows = vec![
        row("lip", audit.lip.nats, format!("belief moves furthest at {}", cell(audit.lip.at))),
        row(
            "max_lift",
            audit.max_lift.nats,
            format!("rises furthest at {}", cell(audit.max_lift.at)),
        ),
        row(
            "min_lift",
            audit.min_lift.nats,
            format!("falls furthest at {}", cell(audit.min_lift.at)),
        ),
        row("ldp", audit.ldp.nats, format!("likelihoods differ most at {}", pair(audit.ldp.at))),
        row(
            "identifiability",
            audit.identifiability.nats,
            "posterior odds between two values".into(),
        ),
        row(
            "mutual_information",
            audit.mutual_information,
            format!("of {} nats of entropy", nats(audit.secret_entropy.unwrap_or(audit.entropy))),
        ),
        row("maximal_leakage", audit.maximal_leakage, "best guess of any function of it".into()),
        row("sibson", audit.sibson, order.clone()),
        row("arimoto", audit.arimoto, order.clone()),
        row("alpha_lift", audit.alpha_lift.nats, format!("logarithm, {order}")),
    ];
    if let Some(d) = audit.delta {
        let at = format!("least delta at epsilon {}", nats(d.epsilon));
        rows.push(row("delta conditional", d.conditional, at.clone()));
        rows.push(row("delta posterior", d.posterior, at.clone()));
        rows.push(row("delta joint", d.joint, at.clone()));
        match d.joint_sets {
            Some(sets) => rows.push(row("delta joint_sets", sets, at)),
            None => rows.push(vec![
                "delta joint_sets".into(),
                "-".into(),
                "too many symbols to try all sets".into(),
            ]),
        }
    }
    format!("{}\nAll values in nats.", table(&["measure", "value", "where, or of what"], rows))
}

/// The exact ratio and its logarithm rounded up.
pub(crate) fn exact(ratio: Ratio) -> Value {
    match ratio.ln_up() {
        Some(nats) => json!({"nats": nats.to_string(), "ratio": ratio.to_string()}),
        None => json!({"nats": certified(None), "ratio": "unbounded"}),
    }
}

/// A ratio's logarithm as a JSON number, rounded up.
pub(crate) fn leak(ratio: Option<Ratio>) -> Value {
    ratio.map_or(Value::Null, |ratio| certified(ratio.ln_up()))
}

/// The attained figures of one subject.
pub(crate) fn attained(strength: &Strength) -> Map<String, Value> {
    let mut map = Map::new();
    map.insert("lip".into(), leak(strength.lip()));
    map.insert("max_lift".into(), leak(strength.upper.map(|w| w.ratio)));
    map.insert("min_lift".into(), leak(strength.lower.map(|w| w.ratio)));
    map.insert("ldp".into(), leak(Some(strength.ldp.ratio)));
    let sides =
        [("max_lift", strength.upper), ("min_lift", strength.lower), ("ldp", Some(strength.ldp))];
    let exact =
        sides.into_iter().filter_map(|(name, worst)| Some((name.to_owned(), exact(worst?.ratio))));
    map.insert("exact".into(), Value::Object(exact.collect()));
    map
}

/// The least δ at ε, exactly, rounded up to a float; `None` where the shape or context has none.
fn exact_delta(draft: &Draft, epsilon: f64) -> Option<f64> {
    if matches!(draft.shape(), Shape::Bits(_)) {
        return None;
    }
    let epsilon = protection::epsilon(&epsilon.to_string()).ok()?;
    let most = Delta::from_units(MASS_ONE - 1).ok()?;
    let bound = Bound::Lip { lower: epsilon, upper: epsilon };
    let claim = Claim { about: Subject::Input, bound, delta: most };
    let policy = draft.clone().with_claims(vec![claim]).ok()?.verify().ok()?;
    let least = (*policy.certificate().deltas.first()?)?;
    Some(numbers::share(least.ratio))
}

fn policy(args: &Args, draft: &Draft) -> Result<Outcome, Failure> {
    let (input, secret) = draft.strength();
    let mut map = attained(&input);
    if let Some(secret) = &secret {
        map.insert("secret".into(), Value::Object(attained(secret)));
    }
    let prior = realise::policy_prior(draft)?;
    let channel = realise::policy_channel(draft);
    let mut text = strength_table(&input, secret.as_ref());
    if let (Some(prior), Ok(channel)) = (prior, channel) {
        let audit = Audit::of(&prior, &channel, args.epsilon, args.alpha)?;
        let measured = floats(&audit, &prior, &channel)?;
        for name in [
            "mutual_information",
            "maximal_leakage",
            "identifiability",
            "alpha",
            "sibson",
            "arimoto",
            "alpha_lift",
            "entropy",
        ] {
            map.insert(name.into(), measured[name].clone());
        }
        let table = describe(&audit, "input", &prior, &channel);
        text += &format!("\n\nThe averaged measures, in floats:\n{table}");
        if let Some(delta) = audit.delta {
            map.insert("delta".into(), json!({
                "epsilon": delta.epsilon,
                "conditional": optional_at_most(exact_delta(draft, delta.epsilon).or(Some(delta.conditional))),
                "posterior": at_most(delta.posterior),
                "joint": at_most(delta.joint),
                "joint_sets": optional_at_most(delta.joint_sets),
            }));
        }
    } else if let Some(epsilon) = args.epsilon {
        map.insert(
            "delta".into(),
            json!({"epsilon": epsilon, "conditional": optional_at_most(exact_delta(draft, epsilon))}),
        );
    }
    Ok(Outcome::good(Value::Object(map), text))
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
