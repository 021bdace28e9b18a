//! LIP and LDP promised at once.
use crate::common::{Scratch, complaint, json, root, undertone};
use serde_json::Value;

fn utility(rows: &[Value], lip: f64, ldp: Option<f64>) -> &Value {
    let same = |value: &Value, wanted: Option<f64>| match wanted {
        Some(wanted) => value.as_f64().is_some_and(|v| (v - wanted).abs() < 1e-9),
        None => value.is_null(),
    };
    rows.iter().find(|row| same(&row["lip"], Some(lip)) && same(&row["ldp"], ldp)).unwrap()
}

/// Zipf(1) on four symbols: the optimum under LDP 1.5 has error .3915 and can be had with LIP 1 for
/// nothing, not with LIP .75.
#[test]
fn it_says_where_lip_costs_nothing() {
    let dir = Scratch::new("frontier");
    let zipf = dir.file("z.json", "[0.48,0.24,0.16,0.12]");
    let svg = dir.path("z.svg");
    let csv = dir.path("z.csv");
    let (code, value) = json(&[
        "frontier",
        "--prior",
        &zipf,
        "--lip",
        "0.75,1,1.5",
        "--ldp",
        "1.5,3",
        "--objective",
        "hamming",
        "--plot",
        &svg,
        "-o",
        &csv,
    ]);
    assert_eq!(code, 0);
    let rows = value["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 9);
    let both = utility(rows, 1.0, Some(1.5));
    assert!((both["utility"].as_f64().unwrap() - 0.3915).abs() < 5e-5, "{both}");
    assert_eq!(both["lip_is_free"], true);
    assert_eq!(utility(rows, 0.75, Some(1.5))["lip_is_free"], false);
    assert_eq!(value["ldp_alone"][0]["lip_free_from"], 1.0);
    for row in rows {
        let attained = |notion: &str| row["attained"][notion].as_f64().unwrap();
        assert!(attained("lip") <= row["lip"].as_f64().unwrap(), "{row}");
        assert!(row["ldp"].as_f64().is_none_or(|ldp| attained("ldp") <= ldp), "{row}");
    }
    // More promises never help.
    let at = |lip: f64, ldp: Option<f64>| utility(rows, lip, ldp)["utility"].as_f64().unwrap();
    for lip in [0.75, 1.0, 1.5] {
        assert!(at(lip, Some(1.5)) >= at(lip, Some(3.0)) - 1e-9);
        assert!(at(lip, Some(3.0)) >= at(lip, None) - 1e-9);
    }
    let text = std::fs::read_to_string(&csv).unwrap();
    assert_eq!(text.lines().count(), 10, "{text}");
    let shown = ["frontier", "--prior", &zipf, "--lip", "0.75,1", "--ldp", "1.5"];
    let shown = undertone(&[&shown[..], &["--objective", "hamming"]].concat()).stdout;
    let shown = String::from_utf8(shown).unwrap();
    // Numbers stand one below the other, marked or not.
    let ends: Vec<usize> = ["  0.414347 ", "= 0.391534 "]
        .iter()
        .map(|cell| {
            shown.lines().find_map(|line| line.find(cell)).unwrap_or_else(|| panic!("{shown}"))
        })
        .collect();
    assert_eq!(ends[0], ends[1], "{shown}");
    let picture = std::fs::read_to_string(&svg).unwrap();
    assert!(picture.contains("with LDP 1.5") && picture.contains("LIP alone"));
}

#[test]
fn every_example_has_a_frontier() {
    let example = |name: &str| root().join("examples").join(name).to_str().unwrap().to_owned();
    let run = |args: &[&str]| {
        let levels = ["--lip", "0.5,1", "--ldp", "1"];
        let (code, value) = json(&[&["frontier"], args, &levels].concat());
        assert_eq!(code, 0, "{value}");
        value
    };
    // LDP at 1 is LIP at 1: there the LIP claim is always free.
    let free = |value: &Value| {
        let row = utility(value["rows"].as_array().unwrap(), 1.0, Some(1.0)).clone();
        assert_eq!(row["lip_is_free"], true, "{row}");
    };
    free(&run(&["--prior", &example("rare-disease.json"), "--objective", "frequency"]));
    free(&run(&["--prior", &example("opinion.json"), "--objective", "absolute"]));
    free(&run(&["--prior", &example("pages.json"), "--objective", "hamming"]));
    free(&run(&["--joint", &example("shopping-joint.json")]));
    let output = undertone(&["frontier", "--prior", &example("opinion.json"), "--ldp", "1"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("LDP 1 alone:") && text.contains("costs nothing"), "{text}");
}

#[test]
fn bad_levels_are_refused() {
    let dir = Scratch::new("frontier-bad");
    let prior = dir.file("p.json", "[0.5,0.5]");
    for (option, text) in [("--lip", "nan"), ("--ldp", "2:1:0.1"), ("--lip", "12"), ("--ldp", "")] {
        let (code, said) = complaint(&["frontier", "--prior", &prior, option, text]);
        assert_eq!(code, 2, "{said}");
        assert!(said.contains(option), "{said}");
    }
}
