//! What several commands print about a network.

use serde_json::{Value, json};
use undertone_core::{Nats, Policy};
use undertone_fusion::learn::compare::Examined;
use undertone_fusion::learn::leakage::Bound;
use undertone_fusion::{Bundle, Certificate, Evaluation, Maps, Model, Repeated};

use crate::failure::Failure;
use crate::output::{at_most, certified, nats, number, optional, save, table};

/// A certified level for people: as the kernel prints it.
fn level(nats: Option<Nats>) -> String {
    nats.map_or("unbounded".into(), |nats| nats.to_string())
}

/// The figures of an evaluation.
pub(super) fn fields(seen: &Evaluation, model: &Model) -> Value {
    json!({
        "error_public": number(seen.error_public),
        "error_private": number(seen.error_private),
        "blind_public": number(seen.blind_public),
        "blind_private": number(seen.blind_private),
        "public_information": number(seen.public_information),
        "private_information": number(seen.private_information),
        "sensor_information": seen.sensor_information.iter().map(|&i| number(i)).collect::<Vec<_>>(),
        "sensors": model.sensors().iter().map(|sensor| sensor.name()).collect::<Vec<_>>(),
        "information": at_most(seen.information.nats),
        "worst": {
            "private": model.private().values()[seen.information.private],
            "outputs": seen.information.outputs,
        },
        "ldp": seen.ldp.iter().map(|&nats| at_most(nats)).collect::<Vec<_>>(),
    })
}

/// The table of repetition.
pub(super) fn epochs(certificate: &Certificate) -> Value {
    let line = |line: &Repeated| {
        json!({
            "epochs": line.epochs,
            "information": certified(line.information),
            "exact": line.exact,
            "always": certified(line.always),
            "reading_ldp": certified(certificate.reading_ldp(line.epochs)),
        })
    };
    certificate.epochs.iter().map(line).collect()
}

/// The maps, row by row.
pub(super) fn maps(maps: &Maps) -> Value {
    let map = |channel: &undertone_design::Channel| {
        channel.rows().iter().map(|row| row.as_slice().to_vec()).collect::<Vec<_>>()
    };
    json!(maps.channels().iter().map(map).collect::<Vec<_>>())
}

/// What is learned of H, of G and of the readings; the leakage of G from the certificate, if it is
/// about this model.
pub(super) fn learned(
    seen: &Evaluation,
    model: &Model,
    certificate: Option<&Certificate>,
    about: &str,
) -> String {
    let certified = certificate.and_then(|certificate| certificate.after(1));
    let information = match certified {
        Some(line) => level(line.information),
        None => nats(seen.information.nats),
    };
    let (public, private) = (model.public().name(), model.private().name());
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
        row("information", information, about.into()),
        row(
            "I(H;Z)",
            format!("{:.6}", seen.public_information),
            format!("what all outputs say of {public}"),
        ),
        row(
            "I(G;Z)",
            format!("{:.6}", seen.private_information),
            format!("what all outputs say of {private}"),
        ),
    ];
    table(&["", "value", "of what"], rows)
}

/// That a network says nothing, and what to do about it.
pub(super) fn silence(model: &Model) -> String {
    format!(
        "This network is silent: no output depends on any reading, so nothing is told of {} either. \
         The budgets leave no room\nfor more; raise --information or --ldp.",
        model.public().name()
    )
}

/// One line per sensor; with a bundle, its certified level and policy.
pub(super) fn sensors(seen: &Evaluation, model: &Model, bundle: Option<&Bundle>) -> String {
    let line = |(t, sensor): (usize, &undertone_fusion::Sensor)| {
        let mut line = vec![
            sensor.name().to_owned(),
            sensor.inputs().to_string(),
            format!("{:.6}", seen.sensor_information[t]),
        ];
        match bundle {
            Some(bundle) => {
                line.push(bundle.certificate().ldp[t].to_string());
                line.push(bundle.policies()[t].id().to_string()[..16].to_owned());
            }
            None => line.push(nats(seen.ldp[t])),
        }
        line
    };
    let lines = model.sensors().iter().enumerate().map(line).collect();
    let header = ["sensor", "readings", "I(X;Z)", "ldp", "policy"];
    table(if bundle.is_some() { &header } else { &header[..4] }, lines)
}

/// What repetition costs.
pub(super) fn repetition(certificate: &Certificate) -> String {
    let line = |line: &Repeated| {
        vec![
            line.epochs.to_string(),
            level(line.information),
            if line.exact { "exact".into() } else { "a bound".to_owned() },
            level(line.always),
            level(certificate.reading_ldp(line.epochs)),
        ]
    };
    let header = ["epochs", "information", "", "whatever repeats", "ldp of a reading"];
    let lines = certificate.epochs.iter().map(line).collect();
    format!(
        "{}\n\nEpochs are independent given the private value, which stays the same; the fourth column \
         holds\nhowever readings depend on each other over time. The last is what all epochs together tell \
         about a\nreading that never changes, of the sensor that tells most.",
        table(&header, lines)
    )
}

/// What held-out samples say about a release.
pub(super) fn examined(seen: &Examined) -> Value {
    json!({
        "attacker_public": seen.attackers.public,
        "attacker_private": seen.attackers.private,
        "counted": at_most(seen.counted),
        "averaged": optional(seen.averaged),
        "leakage_ucb": bound(&seen.bound),
        "leakage_ucb_if_rows_independent": seen.if_independent.as_ref().map(bound),
        "ldp": at_most(seen.ldp),
        "sensor_information": seen.sensor_information,
    })
}

/// A bound that holds with stated confidence.
pub(super) fn bound(bound: &Bound) -> Value {
    json!({
        "nats": at_most(bound.nats),
        "outside": bound.outside,
        "confidence": bound.confidence,
        "units": bound.units,
        "cells": bound.cells,
    })
}

/// The LDP level each policy attains.
pub(super) fn policy_levels(policies: &[Policy]) -> Value {
    let level = |policy: &Policy| certified(policy.certificate().input.ldp.ratio.ln_up());
    policies.iter().map(level).collect()
}

/// Adds the fields of one object to another.
pub(super) fn merge(into: &mut Value, more: Value) {
    if let (Value::Object(all), Value::Object(more)) = (into, more) {
        all.extend(more);
    }
}

/// One policy per file, named by its sensor.
pub(super) fn save_policies<'a>(
    folder: &std::path::Path,
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
