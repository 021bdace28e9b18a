//! Policies of many symbols: made, re-checked, used and read in memory like the number of symbols, and never printed in full.
use crate::common::{Scratch, complaint, json, undertone};

/// A hundred thousand symbols: what grows with their square would take eighty gigabytes.
const MANY: &str = "100000";

fn said(args: &[&str]) -> String {
    let output = undertone(args);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn designs_of_many_symbols() {
    let dir = Scratch::new("many-design");
    for (method, shape, bits) in
        [("krr", "keep", 17), ("oue", "bits", 100_000), ("sue", "bits", 100_000)]
    {
        let out = dir.path(&format!("{method}.json"));
        let asked =
            ["design", "--size", MANY, "--protect", "ldp:1", "--method", method, "-o", &out];
        let (code, found) = json(&asked);
        assert_eq!(
            (code, &found["shape"], &found["report_bits"]),
            (0, &shape.into(), &bits.into())
        );
        assert!(found["variance_at_zero"].as_f64().unwrap() > 3.6, "{found}");
        assert!(found["channel"].is_null());
        let text = said(&asked);
        assert!(text.contains(&format!("One report takes {bits} bits (shape {shape})")), "{text}");
        assert!(text.len() < 3000, "{} bytes", text.len());
        let (code, checked) = json(&["policy", "verify", &out]);
        assert_eq!((code, &checked["policy_id"]), (0, &found["policy_id"]));
        let shown = said(&["policy", "show", &out]);
        assert!(shown.len() < 10_000, "{} bytes", shown.len());
    }
}

#[test]
fn a_size_is_no_prior() {
    let dir = Scratch::new("size");
    let prior = dir.file("p.json", "[0.5,0.5]");
    let size = ["design", "--size", "9", "--protect", "ldp:1"];
    let (code, both) = complaint(&[&size[..], &["--prior", &prior]].concat());
    assert_eq!(code, 2);
    assert!(both.contains("--size") && both.contains("--prior"), "{both}");
    let (_, belief) = complaint(&["design", "--size", "9", "--protect", "lip:1"]);
    assert!(belief.contains("needs a prior") && belief.contains("--any-prior"), "{belief}");
}

/// LDP needs no prior: names are enough, from the command line or a file.
#[test]
fn names_are_enough_for_ldp() {
    let dir = Scratch::new("names-ldp");
    let (code, listed) = json(&["design", "--symbols", "bus,car,bike", "--protect", "ldp:1"]);
    assert_eq!((code, &listed["inputs"]), (0, &serde_json::json!(["bus", "car", "bike"])));
    let file = format!("file:{}", dir.file("names.txt", "bus\ncar\nbike\n"));
    let (_, read) = json(&["design", "--symbols", &file, "--protect", "ldp:1"]);
    assert_eq!(listed["policy_id"], read["policy_id"]);
    let many: String = (0..1000).map(|at| format!("place {at}\n")).collect();
    let many = format!("file:{}", dir.file("many.txt", &many));
    let (code, found) = json(&["design", "--symbols", &many, "--protect", "ldp:1"]);
    assert_eq!((code, &found["shape"]), (0, &"incidence".into()));
    let (code, rows) = json(&["shapes", "--symbols", &many, "--protect", "ldp:1"]);
    assert_eq!((code, &rows["symbols"]), (0, &1000.into()));
    let (code, belief) = complaint(&["design", "--symbols", "a,b", "--protect", "lip:1"]);
    assert_eq!(code, 2);
    assert!(belief.contains("--symbols") && belief.contains("--any-prior"), "{belief}");
    for wrong in ["a,a", "a,", "file:/nowhere/names.txt"] {
        let (code, said) = complaint(&["design", "--symbols", wrong, "--protect", "ldp:1"]);
        assert!(code != 0 && (said.contains("symbol") || said.contains("nowhere")), "{said}");
    }
}

/// Answers of which half are the symbol 7 and the others spread over all symbols.
fn answers(rows: usize) -> String {
    let row = |at: usize| if at.is_multiple_of(2) { 7 } else { at * 7_919 % 100_000 };
    let lines: Vec<String> = (0..rows).map(|at| row(at).to_string()).collect();
    format!("answer\n{}\n", lines.join("\n"))
}

#[test]
fn the_largest_shares_of_many() {
    let dir = Scratch::new("many-estimate");
    let (policy, released) = (dir.path("policy.json"), dir.path("released.csv"));
    let data = dir.file("data.csv", &answers(20_000));
    said(&["design", "--size", MANY, "--protect", "ldp:9", "--method", "krr", "-o", &policy]);
    said(&["perturb", "--policy", &policy, "--column", "answer", &data, "-o", &released]);
    let asked = ["estimate", "--policy", &policy, "--column", "answer", &released];
    let (_, found) = json(&asked);
    let shares =
        |found: &serde_json::Value| found["headline"]["shares"].as_array().unwrap().clone();
    assert_eq!((shares(&found).len(), &found["shares_left_out"]), (10_000, &90_000.into()));
    for list in [&found["unbiased"]["shares"], &found["mle"]["shares"], &found["fit"]["shares"]] {
        assert_eq!(list.as_array().unwrap().len(), 10_000);
    }
    let (_, few) = json(&[&asked[..], &["--top", "3"]].concat());
    assert_eq!((shares(&few).len(), &few["shares_left_out"]), (3, &99_997.into()));
    let largest = shares(&few);
    assert!(largest.iter().any(|share| share["symbol"] == "7"), "{largest:?}");
    // What is listed is what is listed of all, to the last digit.
    let (_, all) = json(&[&asked[..], &["--top", MANY]].concat());
    assert_eq!((shares(&all).len(), &all["shares_left_out"]), (100_000, &serde_json::Value::Null));
    let everybody = shares(&all);
    for share in shares(&found).iter().chain(&largest) {
        let x: usize = share["symbol"].as_str().unwrap().parse().unwrap();
        assert_eq!(share, &everybody[x]);
    }
    let text = said(&asked);
    assert!(text.contains("The 24 largest of 100000 shares; --json has 10000"), "{text}");
    assert!(said(&[&asked[..], &["--top", "2"]].concat()).contains("The 2 largest of 100000"));
    // Intervals that hold all together need no warning about the list.
    assert!(text.contains("intervals that hold each on its own miss more often"), "{text}");
    let together = said(&[&asked[..], &["--all"]].concat());
    assert!(together.contains("intervals that hold all together allow for that"), "{together}");
    let (_, none) = complaint(&[&asked[..], &["--top", "0"]].concat());
    assert!(none.contains("--top is 0"), "{none}");
}

/// One report of a hundred thousand bits is 12.5 kilobytes: blocks of rows are cut so that a thousand of them need no gigabytes, and
/// come out as many as went in.
#[test]
fn rows_of_many_bits() {
    let dir = Scratch::new("many-bits");
    let (policy, released) = (dir.path("policy.json"), dir.path("released.csv"));
    let data = dir.file("data.csv", &answers(2_500));
    said(&["design", "--size", MANY, "--protect", "ldp:3", "--method", "oue", "-o", &policy]);
    said(&["perturb", "--policy", &policy, "--column", "answer", &data, "-o", &released]);
    let text = std::fs::read_to_string(&released).unwrap();
    assert_eq!(text.lines().count(), 2_501);
    assert!(text.lines().skip(1).all(|line| line.len() == 25_000));
    let asked = ["estimate", "--policy", &policy, "--column", "answer", &released, "--top", "1"];
    let (code, found) = json(&asked);
    assert_eq!((code, &found["reports"]), (0, &2_500.into()));
    let share = &found["headline"]["shares"][0];
    assert_eq!(share["symbol"], "7", "{share}");
    // 0.5 within six standard errors: a correct build fails this once in five hundred million runs.
    let error = share["standard_error"].as_f64().unwrap();
    assert!((share["value"].as_f64().unwrap() - 0.5).abs() < 6.0 * error, "{share}");
}
