//! A design for people and for programs.

use serde_json::{Map, Value, json};
use undertone_core::Delta;
use undertone_design::Distribution;
use undertone_design::designer::{self, Designed, Method, Missed, PrintedLevel, Request};
use undertone_design::objective::Objective;
use undertone_design::price;

use super::Args;
use crate::audit::{attained, exact};
use crate::failure::Failure;
use crate::output::{Outcome, Round, at_most, nats, number, number_to, optional, rounded, table};
use undertone::number as numbers;

pub(super) fn shipped(
    args: &Args,
    request: &Request,
    designed: &Designed,
    blind: Option<String>,
) -> Result<Outcome, Failure> {
    let comparison = designer::compare(request)?;
    let alone = match designed.utility {
        Some(utility) => price::alone(request, utility)?,
        None => Vec::new(),
    };
    let certificate = designed.policy.certificate();
    let mut level = attained(&certificate.input);
    if let Some(secret) = &certificate.secret {
        level.insert("secret".into(), Value::Object(attained(secret)));
    }
    let delta = certificate.deltas.iter().flatten().map(|least| least.ratio).max();
    level.insert("delta".into(), delta.map_or(Value::Null, |d| json!(numbers::share(d))));
    let parameters: Map<String, Value> =
        designed.parameters.iter().map(|&(name, value)| (name.to_owned(), number(value))).collect();
    let claims: Vec<String> =
        designed.policy.draft().claims().iter().map(ToString::to_string).collect();
    let rows: Option<Vec<&[f64]>> = designed
        .channel
        .as_ref()
        .map(|channel| channel.rows().iter().map(Distribution::as_slice).collect());
    let inputs = designed.policy.draft().inputs();
    let inputs: Vec<String> = (0..inputs.len()).map(|x| inputs.label(x)).collect();
    let labels: Vec<String> =
        designed.outputs.iter().map(|&y| designed.policy.draft().outputs().label(y)).collect();
    let json = json!({
        "policy_id": designed.policy.id().to_string(),
        "method": request.method.name(),
        "objective": request.objective.name(),
        "utility": optional(designed.utility),
        "optimum": optional(designed.optimum),
        "bound": designed.bound.map_or(Value::Null, |bound| number_to(bound, outward(request))),
        "mixed": number(designed.mixed),
        "channel": rows,
        "inputs": rows.is_some().then_some(inputs),
        "outputs": labels,
        "parameters": parameters,
        "requested": claims,
        "attained": level,
        "published": designed.published.map(printed),
        "comparison": {
            "epsilon": at_most(comparison.epsilon),
            "ldp": optional(comparison.ldp),
            "ldp_twice": optional(comparison.ldp_twice),
            "blind": number(comparison.blind),
        },
        "alone": alone
            .iter()
            .map(|one| json!({"claim": claims[one.claim], "utility": number(one.utility), "decides": one.decides}))
            .collect::<Vec<_>>(),
        "advice": advice(request),
        "uninformative": blind,
        "output": args.output.as_ref().map(|path| path.display().to_string()),
    });
    let mut text = describe(args, request, designed, &comparison, &alone);
    if let Some(blind) = blind {
        text += &format!("\n\nwarning: {blind}");
    }
    Ok(Outcome::good(json, text))
}

/// Which way a bound on the objective is rounded: a bound on a gain up, on a loss down.
fn outward(request: &Request) -> Round {
    if request.objective.is_gain() { Round::Up } else { Round::Down }
}

/// A printed formula's level, as claimed and as it is.
pub(super) fn printed(level: PrintedLevel) -> Value {
    json!({"claimed": at_most(level.claimed), "attained": at_most(level.attained)})
}

fn describe(
    args: &Args,
    request: &Request,
    designed: &Designed,
    comparison: &designer::Comparison,
    alone: &[price::Alone],
) -> String {
    let certificate = designed.policy.certificate();
    let claims: Vec<String> =
        designed.policy.draft().claims().iter().map(ToString::to_string).collect();
    let mut text =
        format!("verified: {}\npolicy id: {}\n\n", claims.join(" and "), designed.policy.id());
    text += &crate::audit::strength_table(&certificate.input, certificate.secret.as_ref());
    let goal = request.objective.name();
    let direction = if request.objective.is_gain() { "more is better" } else { "less is better" };
    let mut rows = vec![vec![
        "this policy".into(),
        designed.utility.map_or("-".into(), nats),
        "of the integers that ship".into(),
    ]];
    if let Some(bound) = designed.bound {
        let bound = rounded(bound, outward(request));
        rows.push(vec!["no policy can pass".into(), bound, "under the same claims".into()]);
    }
    for one in alone {
        let claim = format!("{} alone", claims[one.claim]);
        let note = if one.decides { "the other claims cost nothing" } else { "" };
        rows.push(vec![claim, nats(one.utility), note.into()]);
    }
    let epsilon = rounded(comparison.epsilon, Round::Up);
    let compared = |value: Option<f64>| value.map_or("-".into(), nats);
    rows.push(vec![
        format!("LDP at {epsilon}"),
        compared(comparison.ldp),
        "the LDP optimum".into(),
    ]);
    let twice = rounded(2.0 * comparison.epsilon, Round::Up);
    rows.push(vec![
        format!("LDP at {twice}"),
        compared(comparison.ldp_twice),
        "the LDP optimum".into(),
    ]);
    rows.push(vec!["a blind guess".into(), nats(comparison.blind), "without any data".into()]);
    text += &format!("\n\n{}", table(&[&format!("{goal} ({direction})"), "value", ""], rows));
    if let Some(level) = designed.published {
        text += &format!(
            "\nThe printed formula claims {} and attains {}.",
            rounded(level.claimed, Round::Up),
            rounded(level.attained, Round::Up)
        );
    }
    if !designed.parameters.is_empty() {
        let list: Vec<String> = designed
            .parameters
            .iter()
            .map(|(name, value)| format!("{name} = {}", nats(*value)))
            .collect();
        text += &format!("\nParameters: {}.", list.join(", "));
    }
    if let Some(channel) =
        designed.channel.as_ref().filter(|c| c.inputs() <= 12 && c.outputs() <= 8)
    {
        let labels = designed.outputs.iter().map(|&y| designed.policy.draft().outputs().label(y));
        let header: Vec<String> = std::iter::once("input".to_owned()).chain(labels).collect();
        let header: Vec<&str> = header.iter().map(String::as_str).collect();
        let row = |x: usize| {
            let cells = channel.rows()[x].as_slice().iter().map(|q| format!("{q:.6}"));
            std::iter::once(designed.policy.draft().inputs().label(x)).chain(cells).collect()
        };
        text += &format!(
            "\n\nProbability of each output:\n{}",
            table(&header, (0..channel.inputs()).map(row).collect())
        );
    }
    if let Some(advice) = advice(request) {
        text += &format!("\n\n{advice}");
    }
    if let Some(path) = &args.output {
        text += &format!("\n\nwrote {}", path.display());
    }
    text
}

pub(super) fn refused(request: &Request, missed: &Missed) -> Outcome {
    let json = json!({
        "policy_id": null,
        "method": request.method.name(),
        "objective": request.objective.name(),
        "published": printed(missed.level),
        "refusal": {
            "message": missed.refusal.to_string(),
            "output": missed.refusal.cell.output,
            "high": missed.refusal.cell.high,
            "low": missed.refusal.cell.low,
            "attained": exact(missed.refusal.attained),
            "allowed": exact(missed.refusal.allowed),
        },
        "channel": missed.channel.rows().iter().map(Distribution::as_slice).collect::<Vec<_>>(),
    });
    let text = format!(
        "REFUSED: the printed formula claims {} and leaks {} nats.\n{}\n\nUse --method optimal, or --accept to ship it with the level it attains.",
        rounded(missed.level.claimed, Round::Up),
        rounded(missed.level.attained, Round::Up),
        missed.refusal
    );
    Outcome { json, text, good: false }
}

/// What somebody who asked for this would rather know before shipping it.
fn advice(request: &Request) -> Option<String> {
    let mut said = Vec::new();
    let surveyed = request.objective == Objective::Frequency
        && request.prior.len() > designer::LARGE_FREQUENCY;
    let single = matches!(request.method, Method::Krr);
    if surveyed && single {
        said.push(
            "A report of one symbol out of many tells little about frequencies: its variance grows with the square of their number. \
             Use --method optimal, which takes bits where they serve better.",
        );
    }
    let slack = request.promise.claims.iter().any(|claim| claim.delta != Delta::ZERO);
    let table = !surveyed && request.method == Method::Optimal;
    if slack && table && !request.objective.is_linear() {
        said.push(
            "This objective cannot make use of a delta: the policy keeps its claims without it. \
             Use hamming, absolute, squared or a matrix of losses to spend it.",
        );
    }
    (!said.is_empty()).then(|| said.join("\n"))
}
