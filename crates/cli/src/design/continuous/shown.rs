//! A design over numbers, for people and for programs.

use serde_json::{Map, Value, json};
use undertone_core::{Refusal, Side};
use undertone_design::Distribution;
use undertone_design::continuous::{self, Kept, Missed, Parameter, Parameters, Request, Shipped};
use undertone_design::designer::{Comparison, PrintedLevel};

use super::{Args, Inputs};
use crate::audit::{attained, exact};
use crate::design::shown::printed;
use crate::failure::Failure;
use crate::output::{Outcome, Round, at_most, nats, number, number_to, optional, rounded, table};
use undertone::number as numbers;

/// Tables with more cells than this are written to the policy's file only.
const LISTED: usize = 1 << 16;

fn parameters(list: &Parameters) -> Map<String, Value> {
    let value = |parameter: &Parameter| match parameter {
        Parameter::One(value) => number(*value),
        Parameter::Each(values) => values.iter().map(|value| number(*value)).collect(),
    };
    list.iter().map(|(name, parameter)| ((*name).to_owned(), value(parameter))).collect()
}

/// A level for people, never below it.
fn up(value: f64) -> String {
    rounded(value, Round::Up)
}

/// What the density keeps: ε at the claimed δ as for every printed formula, δ beside it.
fn kept(kept: &Kept) -> Value {
    let mut value = printed(kept.epsilon);
    value["delta"] = kept.delta.map_or(Value::Null, printed);
    value
}

/// The same for a formula of a paper, which is held to its own word.
fn published(request: &Request, density: Option<&Kept>) -> Option<Value> {
    density.filter(|_| request.method.is_printed()).map(kept)
}

pub(super) fn shipped(
    args: &Args,
    method: &str,
    request: &Request,
    inputs: &Inputs,
    shipped: &Shipped,
    blind: Option<String>,
) -> Result<Outcome, Failure> {
    let designed = &shipped.designed;
    let comparison = continuous::compare(shipped)?;
    let bound = match designed.bound {
        Some(bound) => Some(bound),
        None => continuous::reachable(shipped)?,
    };
    let certificate = designed.policy.certificate();
    let draft = designed.policy.draft();
    let mut level = attained(&certificate.input);
    if let Some(secret) = &certificate.secret {
        level.insert("secret".into(), Value::Object(attained(secret)));
    }
    let delta = certificate.deltas.iter().flatten().map(|least| least.ratio).max();
    let delta = delta.map(numbers::share);
    level.insert("delta".into(), json!(delta));
    let claims: Vec<String> = draft.claims().iter().map(ToString::to_string).collect();
    let listed =
        designed.channel.as_ref().filter(|channel| channel.inputs() * channel.outputs() <= LISTED);
    let rows: Option<Vec<&[f64]>> =
        listed.map(|channel| channel.rows().iter().map(Distribution::as_slice).collect());
    let labels: Vec<String> = match rows {
        Some(_) => designed.outputs.iter().map(|&y| draft.outputs().label(y)).collect(),
        None => Vec::new(),
    };
    let (low, high) = request.codebook.range().ends();
    let json = json!({
        "policy_id": designed.policy.id().to_string(),
        "method": method,
        "objective": request.loss.name(),
        "utility": optional(designed.utility),
        "optimum": optional(designed.optimum),
        "bound": bound.map_or(Value::Null, |bound| number_to(bound, Round::Down)),
        "mixed": number(designed.mixed),
        "channel": rows,
        "outputs": labels,
        "parameters": parameters(&shipped.parameters),
        "requested": args.protect,
        "claims": claims,
        "convention": request.convention.name(),
        "attained": level,
        "published": published(request, shipped.density.as_ref()),
        "density": shipped.density.as_ref().map(kept),
        "codebook": {
            "range": [low, high],
            "inputs": draft.inputs().len(),
            "outputs": draft.outputs().len(),
        },
        "clipped": inputs.binned.as_ref().map(|binned| [binned.below, binned.above]),
        "floored": floored(inputs),
        "comparison": {
            "epsilon": at_most(comparison.epsilon),
            "ldp": optional(comparison.ldp),
            "ldp_twice": optional(comparison.ldp_twice),
            "blind": number(comparison.blind),
        },
        "uninformative": blind,
        "output": args.output.as_ref().map(|path| path.display().to_string()),
    });
    let mut text = describe(args, request, inputs, shipped, &comparison, bound, delta);
    if let Some(blind) = blind {
        text += &format!("\n\nwarning: {blind}");
    }
    Ok(Outcome::good(json, text))
}

/// The bins a density left empty.
fn floored(inputs: &Inputs) -> Vec<String> {
    let Some(binned) = &inputs.binned else { return Vec::new() };
    binned.floored.iter().map(|&x| inputs.codebook.inputs().label(x)).collect()
}

fn describe(
    args: &Args,
    request: &Request,
    inputs: &Inputs,
    shipped: &Shipped,
    comparison: &Comparison,
    bound: Option<f64>,
    delta: Option<f64>,
) -> String {
    let designed = &shipped.designed;
    let certificate = designed.policy.certificate();
    let draft = designed.policy.draft();
    let claims: Vec<String> = draft.claims().iter().map(ToString::to_string).collect();
    let mut text =
        format!("verified: {}\npolicy id: {}\n\n", claims.join(" and "), designed.policy.id());
    text += &crate::audit::strength_table(&certificate.input, certificate.secret.as_ref());
    if let Some(delta) = delta {
        text += &format!("\ndelta at the claimed epsilon: {} (conditional convention)", up(delta));
    }
    let mut rows = vec![vec![
        "this policy".into(),
        designed.utility.map_or("-".into(), nats),
        "of the integers that ship".into(),
    ]];
    if let Some(bound) = bound {
        rows.push(vec![
            "the optimum".into(),
            rounded(bound, Round::Down),
            "over the same inputs and outputs".into(),
        ]);
    }
    let compared = |value: Option<f64>| value.map_or("-".into(), nats);
    for (epsilon, value) in [(1.0, comparison.ldp), (2.0, comparison.ldp_twice)] {
        let name = format!("LDP at {}", up(epsilon * comparison.epsilon));
        rows.push(vec![name, compared(value), "the LDP optimum".into()]);
    }
    rows.push(vec!["a blind guess".into(), nats(comparison.blind), "without any data".into()]);
    let header = format!("{} (less is better)", request.loss.name());
    text += &format!("\n\n{}", table(&[&header, "value", ""], rows));
    text += &noise(&shipped.parameters);
    if let Some(kept) = &shipped.density {
        text += &format!("\n{}", density(kept));
    }
    let (low, high) = request.codebook.range().ends();
    text += &format!(
        "\n{} inputs and {} outputs between {} and {}; numbers beyond are clipped.",
        draft.inputs().len(),
        draft.outputs().len(),
        nats(low),
        nats(high)
    );
    if let Some(binned) = &inputs.binned {
        let percent = |share: f64| nats((1e6 * share).round() / 1e4);
        text += &format!(
            "\nOf the law {} % lies below and {} % above that range.",
            percent(binned.below),
            percent(binned.above)
        );
        let empty = floored(inputs);
        if !empty.is_empty() {
            text += &format!(
                "\nnote: {} bins had no mass and were given the least a policy can carry: {}",
                empty.len(),
                empty.iter().take(10).cloned().collect::<Vec<_>>().join(", ")
            );
        }
    }
    if let Some(path) = &args.output {
        text += &format!("\n\nwrote {}", path.display());
    }
    text
}

/// The δ a refused table needs, where that is what it was refused for; rounded up.
fn needed(refusal: &Refusal) -> Option<f64> {
    let delta = refusal.side == Side::Delta;
    delta.then(|| numbers::share(refusal.attained))
}

/// The noise in words.
fn noise(list: &Parameters) -> String {
    let value = |parameter: &Parameter| match parameter {
        Parameter::One(value) => nats(*value),
        Parameter::Each(values) => {
            let least = values.iter().copied().fold(f64::INFINITY, f64::min);
            let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            format!("{} to {}", nats(least), nats(most))
        }
    };
    if list.is_empty() {
        return String::new();
    }
    let list: Vec<String> =
        list.iter().map(|(name, parameter)| format!("{name} = {}", value(parameter))).collect();
    format!("\nParameters: {}.", list.join(", "))
}

fn density(kept: &Kept) -> String {
    let PrintedLevel { claimed, attained } = kept.epsilon;
    match &kept.delta {
        None => format!(
            "Before it is put in bins the noise leaks {}; {} is claimed.",
            up(attained),
            up(claimed)
        ),
        Some(delta) => format!(
            "Before it is clipped and put in bins the noise needs a delta of {} at epsilon {}; {} is claimed.",
            up(delta.attained),
            up(claimed),
            up(delta.claimed)
        ),
    }
}

pub(super) fn refused(method: &str, request: &Request, missed: &Missed) -> Outcome {
    let channel = &missed.channel;
    let rows: Option<Vec<&[f64]>> = (channel.inputs() * channel.outputs() <= LISTED)
        .then(|| channel.rows().iter().map(Distribution::as_slice).collect());
    let json = json!({
        "policy_id": null,
        "method": method,
        "objective": request.loss.name(),
        "published": published(request, missed.density.as_ref()),
        "density": missed.density.as_ref().map(kept),
        "parameters": parameters(&missed.parameters),
        "convention": request.convention.name(),
        "refusal": missed.refusal.as_ref().map(|refusal| json!({
            "message": refusal.to_string(),
            "output": refusal.cell.output,
            "high": refusal.cell.high,
            "low": refusal.cell.low,
            "attained": exact(refusal.attained),
            "allowed": exact(refusal.allowed),
            "delta": needed(refusal),
        })),
        "channel": rows,
    });
    let mut text = String::from("REFUSED: this noise does not keep its claim.");
    match &missed.refusal {
        Some(refusal) => {
            text += &format!("\n{refusal}");
            if let Some(delta) = needed(refusal) {
                text += &format!("\nThe table needs a delta of {}.", up(delta));
            }
        }
        None => {
            text += "\nThe formula's own noise does not. Its table over these outputs happens to: --accept ships that.";
        }
    }
    if let Some(kept) = &missed.density {
        text += &format!("\n{}", density(kept));
        if kept.delta.is_some() {
            text += &match kept.epsilon.attained {
                attained if attained.is_finite() => {
                    format!(" At the claimed delta its epsilon is {}.", up(attained))
                }
                _ => " At the claimed delta its epsilon is above 60.".into(),
            };
        }
    }
    text += &noise(&missed.parameters);
    text += "\n\nLeave --scale and --sigma out for noise that keeps the claim, or use --accept to ship this with the level it attains.";
    Outcome { json, text, good: false }
}
