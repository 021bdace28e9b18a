//! `undertone estimate` on numbers: no value outside its interval or its range, and intervals that hold for the numbers
//! people have. The noise is fresh in every run, so what must hold is asked at a level of one miss in a million.

use crate::common::{Scratch, json, root, undertone};
use serde_json::Value;
use std::process::Command;

/// A design for numbers with the design's own options, perturbed and estimated at a level.
fn survey(dir: &Scratch, data: &str, options: &[&str], level: &str) -> Value {
    let (policy, released) = (dir.path("policy.json"), dir.path("released.csv"));
    let made = undertone(&[&["design"], options, &["-o", &policy]].concat());
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let perturbed =
        undertone(&["perturb", "--policy", &policy, "--column", "age", data, "-o", &released]);
    assert!(perturbed.status.success(), "{}", String::from_utf8_lossy(&perturbed.stderr));
    let (code, found) =
        json(&["estimate", "--policy", &policy, "--column", "age", &released, "--level", level]);
    assert_eq!(code, 0, "{found}");
    found
}

fn ends(estimate: &Value) -> (f64, f64, f64) {
    let at = |field: &str| estimate[field].as_f64().unwrap();
    (at("low"), at("value"), at("high"))
}

/// Every estimate of an answer lies in its interval, and every interval in the range.
fn all_possible(found: &Value, range: (f64, f64)) {
    let inside = |estimate: &Value, (least, most): (f64, f64)| {
        let (low, value, high) = ends(estimate);
        assert!(least <= low && low <= value && value <= high && high <= most, "{estimate}");
        assert!(estimate["method"].is_string() && estimate["impossible"].is_boolean());
    };
    let width = range.1 - range.0;
    for place in [&found["mean"], &found["unbiased"]["mean"], &found["mle"]["mean"]] {
        inside(place, range);
    }
    inside(&found["variance"], (0.0, width * width / 4.0));
    for quantile in found["quantiles"].as_array().unwrap() {
        inside(quantile, range);
    }
    for list in ["headline", "unbiased", "mle"] {
        let (low, value, high) = ends(&found["mean"]);
        if list == "headline" {
            assert_eq!(ends(&found[list]), (low, value, high));
            // The estimate's method, where the mean's has the interval's.
            assert!(["mle", "unbiased"].contains(&found[list]["method"].as_str().unwrap()));
        }
        for share in found[list]["shares"].as_array().unwrap() {
            inside(share, (0.0, 1.0));
        }
    }
}

/// A file of numbers between 0 and 10, all of them 3.
#[test]
fn the_mean_of_equal_numbers_is_theirs() {
    let dir = Scratch::new("threes");
    let data = dir.file("data.csv", &format!("age\n{}", "3.0\n".repeat(3000)));
    let numbers = ["--range", "0,10", "--bins", "16", "--density", "uniform:0,10"];
    let options = [&numbers[..], &["--protect", "ldp:4", "--method", "sampling"]].concat();
    let found = survey(&dir, &data, &options, "0.999999");
    all_possible(&found, (0.0, 10.0));
    let (low, _, high) = ends(&found["mean"]);
    assert!(low <= 3.0 && 3.0 <= high && high - low < 3.0, "{}", found["mean"]);
    let (low, _, high) = ends(&found["quantiles"][1]);
    assert!(low <= 3.0 && 3.0 <= high && high - low < 2.0, "{}", found["quantiles"][1]);
}

/// The ages of the Adult data: 32,561 people, mean 38.58, median 37.
#[test]
fn adult_ages() {
    let source = root().join("../shared/data/adult/adult.data.gz");
    if !source.is_file() {
        println!("skipped: no ../shared/data/adult");
        return;
    }
    let dir = Scratch::new("adult");
    let unpacked = Command::new("gzip").arg("-dc").arg(&source).output().unwrap();
    let rows = String::from_utf8(unpacked.stdout).unwrap();
    let ages: Vec<&str> = rows
        .lines()
        .filter_map(|row| row.split(',').next())
        .filter(|age| !age.is_empty())
        .collect();
    assert_eq!(ages.len(), 32_561);
    let data = dir.file("ages.csv", &format!("age\n{}\n", ages.join("\n")));
    let prior = dir.path("prior.json");
    let fitted = undertone(&[
        "prior", "fit", "--column", "age", &data, "--range", "17,90", "--bins", "16", "-o", &prior,
    ]);
    assert!(fitted.status.success(), "{}", String::from_utf8_lossy(&fitted.stderr));
    // How long the median's interval may be at 95 %, in years: the bins have 4.6, and sampling at ldp:1 keeps one answer in 400.
    for (protect, method, most) in [
        ("ldp:1", "sampling", 73.0),
        ("ldp:1", "laplace", 45.0),
        ("lip:1", "laplace", 45.0),
        ("ldp:1", "krr", 16.0),
        ("lip:1,0.001", "gaussian", 65.0),
    ] {
        let options = ["--prior", &prior, "--protect", protect, "--method", method];
        let sure = survey(&dir, &data, &options, "0.999999");
        all_possible(&sure, (17.0, 90.0));
        let (low, _, high) = ends(&sure["mean"]);
        assert!(low <= 38.5816 && 38.5817 <= high, "{method}: {}", sure["mean"]);
        let (low, _, high) = ends(&sure["quantiles"][1]);
        assert!(low <= 37.0 && 37.0 <= high, "{method}: {}", sure["quantiles"][1]);
        let usual = survey(&dir, &data, &options, "0.95");
        all_possible(&usual, (17.0, 90.0));
        let (low, _, high) = ends(&usual["quantiles"][1]);
        assert!(high - low <= most, "{protect} by {method}: {}", usual["quantiles"][1]);
        if method != "sampling" {
            let (low, _, high) = ends(&usual["mean"]);
            assert!(high - low < 14.0, "{protect} by {method}: {}", usual["mean"]);
        }
    }
}
