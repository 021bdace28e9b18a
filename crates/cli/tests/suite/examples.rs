//! The shipped examples are what they say they are.
//!
//! `UNDERTONE_WRITE_EXAMPLES=1 cargo test -p undertone-cli --test suite examples` writes the two policy documents afresh.
use std::path::PathBuf;

use crate::common::{self, json, root};
use undertone_core::{
    Alphabet, Claim, Context, Draft, Epsilon, MASS_ONE, Provenance, Shape, Table,
};
use undertone_design::mechanism::randomized_response;
use undertone_design::quantize::{self, PolicySpec};
use undertone_design::{Channel, Distribution};

fn example(name: &str) -> PathBuf {
    root().join("examples").join(name)
}

/// A yes/no question to which one person in ten is expected to say yes, under lip:1.
fn spec() -> (Distribution, PolicySpec) {
    let prior = Distribution::new("prior", vec![0.9, 0.1]).unwrap();
    let rounded = quantize::prior(&prior).unwrap();
    let spec = PolicySpec {
        inputs: Alphabet::names(["no", "yes"]).unwrap(),
        outputs: None,
        context: Context::Known(rounded.prior),
        claims: vec![Claim::lip(Epsilon::parse("1").unwrap())],
        provenance: Provenance {
            source: "assumed: about one person in ten says yes".into(),
            rounding: rounded.moved,
            ..Provenance::default()
        },
    };
    (prior, spec)
}

/// A channel with the promise, rounded and not verified.
fn unverified(spec: PolicySpec, channel: &Channel) -> Draft {
    let masses = |row: &Distribution| quantize::largest_remainder(row.as_slice(), MASS_ONE);
    let table = Table::from_masses(channel.rows().iter().map(masses).collect()).unwrap();
    let PolicySpec { inputs, outputs, context, claims, provenance } = spec;
    Draft::new(inputs, outputs, Shape::Table(table), context, claims, provenance).unwrap()
}

/// The file must be what the generator makes.
#[track_caller]
fn assert_shipped(name: &str, generated: &str) {
    let path = example(name);
    if std::env::var_os("UNDERTONE_WRITE_EXAMPLES").is_some() {
        std::fs::write(&path, format!("{generated}\n")).unwrap();
    }
    let shipped = std::fs::read_to_string(&path).unwrap();
    assert_eq!(
        shipped.trim_end(),
        generated.trim_end(),
        "{name} is out of date: see the head of this file"
    );
}

#[test]
fn the_false_claim_is_the_printed_formula_and_is_refused() {
    let (prior, spec) = spec();
    let printed = randomized_response::published(&prior, 1.0).unwrap();
    assert_shipped("false-claim.json", &unverified(spec, &printed).to_json());
    let path = example("false-claim.json");
    let (code, value) = json(&["policy", "verify", path.to_str().unwrap()]);
    assert_eq!((code, &value["verified"]), (1, &serde_json::json!(false)));
    // The leakage README prints.
    assert_eq!(value["refusal"]["attained"]["nats"], "1.9004770974");
}

#[test]
fn the_rare_answer_is_the_verified_optimum() {
    let (prior, spec) = spec();
    let optimum = randomized_response::binary_optimal(&prior, 1.0).unwrap();
    let policy = spec.ship(&optimum).unwrap().policy;
    assert_shipped("rare-answer.json", &policy.draft().to_json());
    let path = example("rare-answer.json");
    let (code, value) = json(&["policy", "verify", path.to_str().unwrap()]);
    assert_eq!((code, &value["verified"]), (0, &serde_json::json!(true)));
    assert!(value["attained"]["lip"].as_f64().unwrap() <= 1.0);
}

#[test]
fn every_example_prior_is_read_and_joints_are_joints() {
    for (name, symbols) in [("rare-disease.json", 2), ("opinion.json", 5), ("pages.json", 200)] {
        let path = example(name);
        let path = path.to_str().unwrap();
        let (code, value) = json(&["transfer", "--from", path, "--to", path, "--epsilon", "1"]);
        assert_eq!(code, 0, "{name}");
        assert_eq!(value["witness"].as_array().unwrap().len(), symbols, "{name}");
    }
    let pages: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(example("pages.json")).unwrap()).unwrap();
    let p: Vec<f64> = pages["p"].as_array().unwrap().iter().map(|p| p.as_f64().unwrap()).collect();
    for (rank, p_rank) in p.iter().enumerate() {
        assert!((p_rank * (rank + 1) as f64 / p[0] - 1.0).abs() < 1e-12, "rank {rank}");
    }
    let joint = example("shopping-joint.json");
    let (code, value) = json(&["audit", "--joint", joint.to_str().unwrap()]);
    assert_eq!(code, 0);
    // The gluten-free basket is twelve times likelier with the condition.
    common::close(&value["ldp"], 12f64.ln());
}
