//! Tables about a network that several commands print.

use std::path::Path;

use undertone_core::{Nats, Policy};
use undertone_fusion::report::{EpochReport, NetworkFigures, NetworkReport, ObjectiveReport};

use crate::failure::Failure;
use crate::output::{Round, rounded, save, table};

/// A certified level for people: as the kernel prints it.
pub(super) fn nats(level: Option<Nats>) -> String {
    level.map_or("unbounded".into(), |nats| nats.to_string())
}

/// What is learned of the public hypothesis, of the private one (the two names) and of the readings.
pub(super) fn learned(
    seen: &NetworkFigures,
    (public, private): (&str, &str),
    information: &str,
    about: &str,
) -> String {
    let row = |name: &str, value: String, what: String| vec![name.into(), value, what];
    let rows = vec![
        row(
            "error_public",
            format!("{:.6}", seen.error_public),
            format!("{public} is guessed wrong; blindly {:.6}", seen.blind_public),
        ),
        row(
            "error_private",
            format!("{:.6}", seen.error_private),
            format!("{private} is guessed wrong; blindly {:.6}", seen.blind_private),
        ),
        row("information", information.into(), about.into()),
        row(
            "I(H;Z)",
            format!("{:.6}", seen.information_public),
            format!("what all outputs say of {public}"),
        ),
        row(
            "I(G;Z)",
            format!("{:.6}", seen.information_private),
            format!("what all outputs say of {private}"),
        ),
    ];
    table(&["", "value", "of what"], rows)
}

/// What is wrong, loudly; nothing if nothing is.
pub(super) fn warnings(warnings: &[String]) -> String {
    warnings.iter().map(|warning| format!("WARNING: {}\n\n", warning)).collect()
}

/// What the network is for, what it reaches and what no other could.
pub(super) fn objective(report: &NetworkReport, public: &str) -> String {
    let ObjectiveReport { name, chosen, value, blind, limit } = &report.objective;
    let what = match name.as_str() {
        "error" => format!("{public} is guessed wrong"),
        "balanced" => "wrong decisions if all values were equally common".into(),
        "information" => format!("nats that all outputs say of {public}"),
        "cost" => "expected cost of a decision".into(),
        _ => "detected at that rate of false alarms".into(),
    };
    let row = |name: &str, value: String, what: String| vec![name.into(), value, what];
    let mut rows = vec![
        row(name, format!("{value:.6}"), format!("{what}; blindly {blind:.6}")),
        row(
            "limit",
            rounded(limit.value, limit.round()),
            "no maps within these budgets reach better".into(),
        ),
        row(
            "error_public_lower",
            rounded(report.error_public_lower, Round::Down),
            format!("no maps within these budgets are wrong about {public} less often"),
        ),
        row(
            "I(H;Z) at most",
            rounded(report.information_public_upper, Round::Up),
            format!("no maps within these budgets say more of {public}"),
        ),
    ];
    if let Some(rule) = &report.rule {
        rows.push(row(
            "the centre's rule",
            format!("{:.6}", rule.error),
            format!(
                "of its decisions are wrong; false alarms {:.6}, detections {:.6}",
                rule.false_alarm, rule.detection
            ),
        ));
    }
    format!("Objective {name}: {chosen}.\n\n{}", table(&["", "value", "of what"], rows))
}

/// One line per sensor: how many readings it has, what it tells, and its policy, if it has one.
pub(super) fn sensors(seen: &NetworkFigures, readings: &[usize], policies: &[String]) -> String {
    let line = |(t, name): (usize, &String)| {
        let mut line = vec![
            name.clone(),
            readings.get(t).map_or(String::new(), usize::to_string),
            format!("{:.6}", seen.sensor_information[t]),
            seen.ldp[t].words(),
        ];
        line.extend(policies.get(t).map(|id| id.chars().take(16).collect()));
        line
    };
    let lines = seen.sensors.iter().enumerate().map(line).collect();
    let header = ["sensor", "readings", "I(X;Z)", "ldp", "policy"];
    table(if policies.is_empty() { &header[..4] } else { &header }, lines)
}

/// What repetition costs.
pub(super) fn repetition(epochs: &[EpochReport]) -> String {
    let line = |line: &EpochReport| {
        vec![
            line.epochs.to_string(),
            line.information.words(),
            if line.exact { "exact".into() } else { "a bound".to_owned() },
            line.always.words(),
            line.reading_ldp.words(),
        ]
    };
    let header = ["epochs", "information", "", "whatever repeats", "ldp of a reading"];
    let lines = epochs.iter().map(line).collect();
    format!(
        "{}\n\nEpochs are independent given the private value, which stays the same; the fourth column \
         holds\nhowever readings depend on each other over time. The last is what all epochs together tell \
         about a\nreading that never changes, of the sensor that tells most.",
        table(&header, lines)
    )
}

/// One policy per file, named by its sensor.
pub(super) fn save_policies<'a>(
    folder: &Path,
    names: impl Iterator<Item = &'a str>,
    policies: &[Policy],
) -> Result<(), Failure> {
    std::fs::create_dir_all(folder).map_err(|error| Failure::of_system("make", folder, &error))?;
    for (t, (name, policy)) in names.zip(policies).enumerate() {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
        let name: String = name.chars().take(40).map(plain).collect();
        // The number keeps names apart that differ in other characters only.
        save(&folder.join(format!("sensor-{t}-{name}.json")), &policy.draft().to_json())?;
    }
    Ok(())
}
