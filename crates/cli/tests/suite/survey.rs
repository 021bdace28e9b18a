//! Classical survey designs on the command line: policies, people who do not follow, numbers of people, data for R.

use crate::common::{Scratch, complaint, json, root, undertone};

fn text(args: &[&str]) -> String {
    let output = undertone(args);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_design_becomes_a_policy_that_estimates() {
    let scratch = Scratch::new("survey-make");
    let policy = scratch.path("policy.json");
    let (code, made) = json(&[
        "policy",
        "make",
        "--design",
        "warner:0.75",
        "--symbols",
        "no,smokes",
        "-o",
        &policy,
    ]);
    assert_eq!(
        (code, &made["claims"][0], &made["verified"]),
        (0, &"ldp:1.0986122887".into(), &true.into())
    );
    let shown = text(&["policy", "show", &policy]);
    assert!(shown.contains("As a survey design: Warner (warner:0.75)"), "{shown}");
    // 40 % of 1,000 reports are yes: (.4 - .25)/.5 = 30 %.
    let reports: String = (0..1000).map(|i| if i % 5 < 2 { "smokes\n" } else { "no\n" }).collect();
    let reports = scratch.file("reports.csv", &format!("answer\n{reports}"));
    let (code, found) = json(&["estimate", "--policy", &policy, "--column", "answer", &reports]);
    assert_eq!(code, 0);
    let share = found["unbiased"]["shares"].as_array().or(found["unbiased"]["symbols"].as_array());
    let value = |entry: &serde_json::Value| entry["value"].as_f64().unwrap();
    assert!(share.unwrap().iter().any(|entry| (value(entry) - 0.3).abs() < 1e-9), "{found}");
}

#[test]
fn designs_that_cannot_be_are_refused_with_the_exit_code_of_usage() {
    for (design, words) in [
        ("warner:0.5", "singular"),
        ("warner:1.5", "above 0 and below 1"),
        ("forced:0.5,0.2,0.2", "sum to 0.9"),
        ("coin", "write channel:FILE"),
    ] {
        let (code, said) = complaint(&["policy", "make", "--design", design]);
        assert_eq!(code, 2, "{design}");
        assert!(said.contains("--design") && said.contains(words), "{said}");
    }
    let scratch = Scratch::new("survey-singular");
    let deaf = scratch.file("deaf.json", "[[0.5, 0.5], [0.5, 0.5]]");
    let (code, said) = complaint(&["policy", "make", "--design", &format!("channel:{deaf}")]);
    assert!(code != 0 && said.contains("singular"), "{said}");
    let (code, said) = complaint(&["policy", "make", "--design", "channel:nowhere.json"]);
    assert_eq!(code, 1);
    assert!(said.contains("cannot read nowhere.json"), "{said}");
    let (code, said) = complaint(&["policy", "make", "--design", "triangular:0.25"]);
    assert_eq!(code, 1);
    assert!(said.contains("give --claim none"), "{said}");
    let (code, value) = json(&["policy", "make", "--design", "warner:0.75", "--claim", "ldp:1"]);
    assert_eq!((code, &value["verified"]), (1, &false.into()));
    let said = text(&["policy", "make", "--design", "mangat:0.7", "--claim", "none"]);
    assert!(said.contains("for estimation only"), "{said}");
}

#[test]
fn a_mean_is_released_as_numbers_whose_average_is_unbiased() {
    let scratch = Scratch::new("survey-mean");
    let policy = scratch.path("policy.json");
    let (code, made) = json(&[
        "design",
        "--range",
        "0,10",
        "--bins",
        "8",
        "--density",
        "uniform:0,10",
        "--any-prior",
        "--protect",
        "ldp:1",
        "--objective",
        "mean",
        "-o",
        &policy,
    ]);
    assert_eq!(code, 0, "{made}");
    let (utility, bound) = (made["utility"].as_f64().unwrap(), made["bound"].as_f64().unwrap());
    let one_bit = made["parameters"]["one_bit"].as_f64().unwrap();
    assert!(bound <= utility && utility < 1.001 * bound && utility < one_bit, "{made}");
    assert!(made["parameters"]["bias"].as_f64().unwrap() < 1e-9);
    // The estimate's mean is the plain average of what was released.
    let data: String = (0..4000).map(|i| format!("{}\n", i % 10)).collect();
    let data = scratch.file("data.csv", &format!("x\n{data}"));
    let released = scratch.path("released.csv");
    text(&["perturb", "--policy", &policy, "--column", "x", &data, "-o", &released]);
    let rows = std::fs::read_to_string(&released).unwrap();
    let numbers: Vec<f64> = rows.lines().skip(1).map(|line| line.parse().unwrap()).collect();
    let average = numbers.iter().sum::<f64>() / numbers.len() as f64;
    let (code, found) = json(&["estimate", "--policy", &policy, "--column", "x", &released]);
    assert_eq!(code, 0, "{found}");
    let mean = found["unbiased"]["mean"]["value"].as_f64().unwrap();
    assert!((mean - average).abs() < 0.5, "{mean} {average}");
}

#[test]
fn people_who_do_not_follow() {
    let scratch = Scratch::new("survey-compliance");
    // λ1 = .2 + .7·.2 = .34, λ2 = .2 + .7·.6 = .62.
    let row = |group: usize, share: usize| {
        (0..100).map(move |i| format!("{group},{}\n", u8::from(i < share)))
    };
    let rows: String = row(1, 34).chain(row(2, 62)).collect();
    let file = scratch.file("survey.csv", &format!("group,y\n{rows}"));
    let asked = |design: &'static str, more: &[&'static str]| {
        let words =
            ["compliance", "--design", design, "--response", "y", "--group", "group", &file];
        words.into_iter().chain(more.iter().copied()).map(str::to_owned).collect::<Vec<_>>()
    };
    let refused = |design, more: &[&'static str]| {
        let words = asked(design, more);
        complaint(&words.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let words = asked("cheaters:0.2,0.6", &[]);
    let (code, found) = json(&words.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(code, 0, "{found}");
    let estimates = found["estimates"].as_array().unwrap().iter();
    let estimates: Vec<f64> = estimates.map(|one| one["estimate"].as_f64().unwrap()).collect();
    for (estimate, truth) in estimates.iter().zip([0.2, 0.7, 0.1]) {
        assert!((estimate - truth).abs() < 1e-9, "{estimates:?}");
    }
    let (code, said) = refused("cheaters:0.2,0.2", &[]);
    assert!(code == 2 && said.contains("singular"), "{said}");
    let (code, said) = refused("crosswise:0.2,0.2", &[]);
    assert!(code == 2 && said.contains("--attention"), "{said}");
    let (code, said) = refused("cheaters:0.2,0.6", &["--weights", "y"]);
    assert!(code == 1 && said.contains("above 0") && said.contains("row"), "{said}");
}

/// The published estimates of the R package cWise on its own data.
#[test]
fn golden_crosswise_with_attention() {
    let path = root().join("../shared/data/surveys/cwise_cmdata.csv");
    if !path.exists() {
        println!("skipped: no ../shared/data/surveys");
        return;
    }
    let path = path.display().to_string();
    let base = [
        "compliance",
        "--design",
        "crosswise:0.15,0.15",
        "--response",
        "Y",
        "--attention",
        "A",
        &path,
    ];
    let (code, found) = json(&base);
    assert_eq!(code, 0);
    let at = |found: &serde_json::Value, which: usize, field: &str| {
        (found["estimates"][which][field].as_f64().unwrap() * 1e4).round() / 1e4
    };
    assert_eq!((at(&found, 0, "estimate"), at(&found, 0, "std_error")), (0.1054, 0.0227));
    assert_eq!((at(&found, 1, "estimate"), at(&found, 1, "std_error")), (0.1950, 0.0144));
    let (_, weighted) = json(&[&base[..], &["--weights", "weight"]].concat());
    assert_eq!([0, 1, 2].map(|which| at(&weighted, which, "estimate")), [0.1097, 0.1921, 0.7888]);
}

#[test]
fn the_number_of_people_is_the_first_thing_said() {
    let scratch = Scratch::new("survey-size");
    let policy = scratch.path("policy.json");
    text(&["policy", "make", "--design", "warner:0.75", "-o", &policy]);
    let (code, found) =
        json(&["plan", "size", "--policy", &policy, "--shares", "0.8,0.2", "--half-width", "0.02"]);
    // 1.96² · .35 · .65/(.5² · .02²).
    assert_eq!((code, &found["needed_n"], &found["in_the_clear"]), (0, &8740.into(), &1537.into()));
    let picture = scratch.path("power.svg");
    let said = text(&[
        "plan",
        "size",
        "--protect",
        "ldp:1",
        "--shares",
        "0.8,0.2",
        "--difference",
        "0.1",
        "--plot",
        &picture,
    ]);
    let first: u64 = said.split(' ').next().unwrap().parse().unwrap();
    assert!(first > 1000 && said.contains("in each group"), "{said}");
    assert!(std::fs::read_to_string(&picture).unwrap().contains("<svg"));
    let said =
        text(&["plan", "size", "--policy", &policy, "--shares", "0.8,0.2", "--slope", "0.5"]);
    assert!(said.contains("people are needed to find a slope of 0.5"), "{said}");
    let (code, table) = json(&[
        "plan",
        "size",
        "--policy",
        &policy,
        "--shares",
        "0.8,0.2",
        "--half-width",
        "0.05",
        "--with-policy",
        &policy,
        "--with-shares",
        "0.5,0.5",
    ]);
    assert_eq!(code, 0, "{table}");
    assert!(table["needed_n"].as_u64().unwrap() > 1398);
    let (code, said) =
        complaint(&["plan", "size", "--policy", &policy, "--shares", "1", "--slope", "0.5"]);
    assert_eq!(code, 2);
    assert!(said.contains("--shares has 1 numbers"), "{said}");
    let size = ["plan", "size", "--policy", &policy, "--shares", "0,1"];
    let (code, said) = complaint(&[&size[..], &["--difference", "0.1"]].concat());
    assert!(code == 2 && said.contains("everybody gives the answer"), "{said}");
    let (code, said) = complaint(&[&size[..], &["--half-width", "0.1", "--power", "0.9"]].concat());
    assert!(code == 2 && said.contains("--power"), "{said}");
}

#[test]
fn an_accuracy_needs_no_objective() {
    let scratch = Scratch::new("survey-accuracy");
    let prior =
        scratch.file("prior.json", r#"{"symbols": ["a", "b"], "p": [0.7, 0.3], "values": [1, 2]}"#);
    let base = ["design", "--prior", &prior, "--protect", "lip:1", "--accuracy", "0.02", "--for-n"];
    let said = text(&base);
    assert!(said.lines().next().unwrap().contains("people are needed"), "{said}");
    let (_, plain) = json(&base);
    let (_, asked) = json(&[&base[..], &["--objective", "frequency"]].concat());
    assert_eq!(plain["parameters"]["needed_n"], asked["parameters"]["needed_n"]);
}

#[test]
fn data_for_r_have_the_arguments_of_the_packages() {
    let scratch = Scratch::new("survey-export");
    let policy = scratch.path("policy.json");
    let reports = scratch.file(
        "reports.csv",
        "answer,age,\"how old\",secret\nyes,30,x,s\nno,,y,s\nno,40,\"a,b\",s\n",
    );
    let output = scratch.path("survey.csv");
    let export = |package: &str, keep: &str| {
        let mut args = vec![
            "export", "--for", package, "--policy", &policy, "--column", "answer", &reports, "-o",
            &output,
        ];
        if !keep.is_empty() {
            args.extend(["--keep", keep]);
        }
        let (code, found) = json(&args);
        assert_eq!(code, 0, "{found}");
        (found["call"].as_str().unwrap().to_owned(), found["rows"].as_u64().unwrap())
    };
    text(&["policy", "make", "--design", "forced:0.5,0.3,0.2", "-o", &policy]);
    let (call, rows) = export("rr", "age,how old");
    assert_eq!(
        call,
        "rrreg(answer ~ age + `how old`, p = 0.5, p1 = 0.3, p0 = 0.2, design = \"forced-known\", data = data)"
    );
    assert_eq!(rows, 2);
    // Nothing but what was asked for is written.
    assert_eq!(
        std::fs::read_to_string(&output).unwrap(),
        "answer,age,how old\n1,30,x\n0,40,\"a,b\"\n"
    );
    let script = std::fs::read_to_string(scratch.path("survey.R")).unwrap();
    assert!(
        script.contains(
            "library(rr)\ndata <- read.csv(\"survey.csv\", check.names = FALSE)\nfit <- rrreg("
        ),
        "{script}"
    );
    assert_eq!(
        export("RRreg", "").0,
        "RRuni(response = answer, data = data, model = \"FR\", p = c(0.2, 0.3))"
    );
    text(&["policy", "make", "--design", "crosswise:0.25", "-o", &policy]);
    assert_eq!(
        export("RRreg", "age").0,
        "RRlog(answer ~ age, data = data, model = \"Warner\", p = 0.25)"
    );
    assert_eq!(
        export("rr", "age").0,
        "rrreg(answer ~ age, p = 0.25, design = \"mirrored\", data = data)"
    );
    let (code, said) = complaint(&[
        "export", "--for", "stata", "--policy", &policy, "--column", "answer", &reports, "-o",
        &output,
    ]);
    assert_eq!(code, 2);
    assert!(said.contains("write rr or RRreg"), "{said}");
    text(&["policy", "make", "--design", "krr:3,1", "-o", &policy]);
    let (code, said) = complaint(&[
        "export", "--for", "rr", "--policy", &policy, "--column", "answer", &reports, "-o", &output,
    ]);
    assert_eq!(code, 1);
    assert!(said.contains("yes/no questions"), "{said}");
}
