//! A design for people.

use undertone::design::{
    DesignDetails, KeptReport, NumberDetails, NumberRefusal, RefusedDesign, RefusedDetails,
    ShapeReport, SymbolDetails, VerifiedDesign,
};

use crate::audit::strength_table;
use crate::output::{Round, nats, rounded, table};

/// Channels of at most so many inputs and outputs are printed.
const SHOWN: (usize, usize) = (12, 8);

/// Printed mechanisms for means, as parameters and for people.
const PRINTED: [(&str, &str); 3] = [
    ("one_bit", "one bit (Duchi and others)"),
    ("piecewise", "piecewise (Wang and others)"),
    ("hybrid", "hybrid (Wang and others)"),
];

/// A verified design; `written` is where its policy was saved.
pub(super) fn verified(found: &VerifiedDesign, written: Option<&str>) -> String {
    let certificate = found.policy.certificate();
    let people = found.people_words().map_or(String::new(), |words| format!("{words}\n\n"));
    let mut text =
        format!("{people}verified: {}\npolicy id: {}\n\n", found.claims(), found.policy_id);
    text += &strength_table(&certificate.input, certificate.secret.as_ref());
    if let (DesignDetails::Numbers(_), Some(delta)) = (&found.details, found.attained.delta) {
        text += &format!("\ndelta at the claimed epsilon: {} (conditional convention)", up(delta));
    }
    text += &format!("\n\n{}", worth(found));
    if let Some(note) = &found.method_note {
        text += &format!("\n{note}");
    }
    match &found.details {
        DesignDetails::Symbols(details) => text += &symbols(found, details),
        DesignDetails::Numbers(details) => text += &numbers(found, details),
    }
    if let Some(path) = written {
        text += &format!("\n\nwrote {path}");
    }
    if let Some(blind) = &found.uninformative {
        text += &format!("\n\nwarning: {blind}");
    }
    text
}

/// What the policy is worth, beside what others are.
fn worth(found: &VerifiedDesign) -> String {
    let direction = if found.is_gain { "more is better" } else { "less is better" };
    let compared = |value: Option<f64>| value.map_or("-".into(), nats);
    let own = "of the integers that ship".into();
    let mut rows = vec![vec!["this policy".into(), compared(found.utility), own]];
    let (bound, of) = match &found.details {
        DesignDetails::Symbols(_) => ("no policy can pass", "under the same claims"),
        DesignDetails::Numbers(_) if found.objective == "mean" => {
            ("no channel has less", "under the same claims, unbiased")
        }
        DesignDetails::Numbers(_) => ("the optimum", "over the same inputs and outputs"),
    };
    if let Some(value) = found.bound {
        rows.push(vec![bound.into(), rounded(value.value, value.round()), of.into()]);
    }
    if let DesignDetails::Symbols(details) = &found.details {
        for one in &details.alone {
            let note = if one.decides { "the other claims cost nothing" } else { "" };
            rows.push(vec![format!("{} alone", one.claim), nats(one.utility), note.into()]);
        }
    }
    let comparison = &found.comparison;
    for (name, mechanism) in PRINTED {
        if let Some(variance) = found.parameters.one(name) {
            rows.push(vec![mechanism.into(), nats(variance), "at the same LDP".into()]);
        }
    }
    for (times, value) in [(1.0, comparison.ldp), (2.0, comparison.ldp_twice)] {
        // For means there are the mechanisms above.
        if value.is_none() && found.objective == "mean" {
            continue;
        }
        let name = format!("LDP at {}", up(times * comparison.epsilon));
        rows.push(vec![name, compared(value), "the LDP optimum".into()]);
    }
    rows.push(vec!["a blind guess".into(), nats(comparison.blind), "without any data".into()]);
    table(&[&format!("{} ({direction})", found.objective), "value", ""], rows)
}

fn symbols(found: &VerifiedDesign, details: &SymbolDetails) -> String {
    let mut text = String::new();
    if let Some(level) = details.published {
        text += &format!(
            "\nThe printed formula claims {} and attains {}.",
            up(level.claimed),
            up(level.attained)
        );
    }
    text += &parameters(&found.parameters.words());
    let small = |rows: &&Vec<Vec<f64>>| rows.len() <= SHOWN.0 && found.outputs.len() <= SHOWN.1;
    if let (Some(rows), Some(inputs)) = (found.channel.as_ref().filter(small), &details.inputs) {
        let header: Vec<&str> =
            ["input"].into_iter().chain(found.outputs.iter().map(String::as_str)).collect();
        let row = |(input, row): (&String, &Vec<f64>)| {
            let cells = row.iter().map(|q| format!("{q:.6}"));
            [input.clone()].into_iter().chain(cells).collect()
        };
        let table = table(&header, inputs.iter().zip(rows).map(row).collect());
        text += &format!("\n\nProbability of each output:\n{table}");
    }
    if found.policy.draft().inputs().len() > SHOWN.0 {
        text += &format!("\n{}", on_the_wire(&found.facts));
    }
    if let Some(advice) = &details.advice {
        text += &format!("\n\n{advice}");
    }
    text
}

/// What one report of many symbols costs, and how well it tells of rare ones.
fn on_the_wire(facts: &ShapeReport) -> String {
    let bits = undertone::number::counted(facts.report_bits, "bit");
    let variance = facts.variance_at_zero.map_or(String::new(), |variance| {
        format!(" n times the variance of a share that is nought: {}.", nats(variance))
    });
    format!("One report takes {bits} (shape {}).{variance}", facts.shape)
}

fn numbers(found: &VerifiedDesign, details: &NumberDetails) -> String {
    let mut text = parameters(&found.parameters.words());
    if let Some(kept) = &details.density {
        text += &format!("\n{}", density(kept));
    }
    let [low, high] = details.codebook.range;
    text += &format!(
        "\n{} inputs and {} outputs; numbers outside {} to {} are clipped.",
        details.codebook.inputs,
        details.codebook.outputs,
        nats(low),
        nats(high)
    );
    if let Some([below, above]) = details.clipped {
        let percent = |share: f64| nats((1e6 * share).round() / 1e4);
        text += &format!(
            "\nOf the law {} % lies below and {} % above that range.",
            percent(below),
            percent(above)
        );
        let empty = &details.floored;
        if !empty.is_empty() {
            text += &format!(
                "\nnote: {} bins had no mass and were given the least a policy can carry: {}",
                empty.len(),
                empty.iter().take(10).cloned().collect::<Vec<_>>().join(", ")
            );
        }
    }
    text
}

/// A line of parameters, if there are any.
fn parameters(words: &str) -> String {
    if words.is_empty() { String::new() } else { format!("\n{words}") }
}

/// What noise leaks before it is put in bins.
fn density(kept: &KeptReport) -> String {
    let epsilon = kept.epsilon;
    match &kept.delta {
        None => format!(
            "Before it is put in bins the noise leaks {}; {} is claimed.",
            up(epsilon.attained),
            up(epsilon.claimed)
        ),
        Some(delta) => format!(
            "Before it is clipped and put in bins the noise needs a delta of {} at epsilon {}; {} is claimed.",
            up(delta.attained),
            up(epsilon.claimed),
            up(delta.claimed)
        ),
    }
}

/// A level for people, never below it.
fn up(value: f64) -> String {
    rounded(value, Round::Up)
}

/// A formula that does not keep its claim.
pub(super) fn refused(refused: &RefusedDesign) -> String {
    let (noise, kept, refusal) = match &refused.details {
        RefusedDetails::Symbols { published, refusal } => {
            return format!(
                "REFUSED: the printed formula claims {} and leaks {} nats.\n{}\n\nUse --method optimal, or --accept to ship it with the level it attains.",
                up(published.claimed),
                up(published.attained),
                refusal.message
            );
        }
        RefusedDetails::Numbers { parameters, density, refusal, .. } => {
            (parameters, density, refusal)
        }
    };
    let mut text = String::from("REFUSED: this noise does not keep its claim.");
    match refusal {
        Some(NumberRefusal { cell, delta }) => {
            text += &format!("\n{}", cell.message);
            if let Some(delta) = delta {
                text += &format!("\nThe table needs a delta of {}.", up(*delta));
            }
        }
        None => {
            text += "\nThe formula's own noise does not. Its table over these outputs happens to: --accept ships that.";
        }
    }
    if let Some(kept) = kept {
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
    text += &parameters(&noise.words());
    text += "\n\nLeave --scale and --sigma out for noise that keeps the claim, or use --accept to ship this with the level it attains.";
    text
}
