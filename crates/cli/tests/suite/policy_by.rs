//! Designs for a table of priors, rows drawn under the policy of their group, and what they say together.
//!
//! Noise comes from the system: intervals at 1 - 10⁻⁶ miss once in a million runs.

use std::fmt::Write;

use crate::common::{Scratch, complaint, json};

/// Predicted priors of four thousand people in two kinds, with few digits, and their answers.
fn people() -> String {
    let mut table = "person,no,yes,answer,town\n".to_owned();
    for n in 0..4000 {
        let (no, yes, says_yes) = match n % 4 {
            0 => (0.4, 0.6, n % 20 < 12),
            1 => (0.42, 0.58, n % 20 < 10),
            _ => (0.95, 0.05, n % 20 == 2),
        };
        let answer = if says_yes { "yes" } else { "no" };
        writeln!(table, "{n},{no},{yes},{answer},{}", if n < 2000 { "a" } else { "b" }).unwrap();
    }
    table
}

fn read(scratch: &Scratch, name: &str) -> String {
    std::fs::read_to_string(scratch.path(name)).unwrap()
}

/// The scratch folder with the table, the map, and the table with groups.
fn designed(more: &[&str]) -> (Scratch, serde_json::Value) {
    let scratch = Scratch::new("policy-by");
    scratch.file("people.csv", &people());
    let (table, map, grouped) = (
        scratch.path("people.csv"),
        scratch.path("policies/map.json"),
        scratch.path("grouped.csv"),
    );
    let mut args = vec!["design", "--priors", &table, "--symbols", "no,yes", "--protect", "lip:1"];
    args.extend(["-o", &map, "--grouped", &grouped]);
    args.extend(more);
    let (code, answer) = json(&args);
    assert_eq!(code, 0, "{answer}");
    (scratch, answer)
}

#[test]
fn every_policy_of_a_map_holds_for_every_prior_of_its_group() {
    let (scratch, answer) = designed(&["--groups", "2"]);
    let groups = answer["groups"].as_array().unwrap();
    assert_eq!(groups.len(), 2);
    assert_eq!((&groups[0]["people"], &groups[1]["people"]), (&2000.into(), &2000.into()));
    // What the mean of a group allows, its worst member must allow as well: the exact measures of single priors, from the files.
    let map: serde_json::Value =
        serde_json::from_str(&read(&scratch, "policies/map.json")).unwrap();
    for (group, priors) in [("1", vec!["[0.95,0.05]"]), ("2", vec!["[0.4,0.6]", "[0.42,0.58]"])] {
        let policy = scratch.path(&format!("policies/{}", map[group].as_str().unwrap()));
        let (code, shown) = json(&["policy", "verify", &policy]);
        assert_eq!(code, 0, "{shown}");
        for prior in priors {
            scratch.file("prior.json", prior);
            let index = group.parse::<usize>().unwrap() - 1;
            let channel = channel_of(&policy);
            scratch.file("channel.json", &channel);
            let (prior, channel) = (scratch.path("prior.json"), scratch.path("channel.json"));
            let (code, measured) = json(&["audit", "--prior", &prior, "--channel", &channel]);
            assert_eq!(code, 0, "{measured}");
            let lip = measured["lip"].as_f64().unwrap();
            assert!(lip <= 1.0 + 1e-9, "{group} {prior}: {lip}");
            assert!(groups[index]["attained"]["ldp"].as_f64().unwrap() > 0.9);
        }
    }
    // Groups are what the table's other columns have beside them.
    let grouped = read(&scratch, "grouped.csv");
    assert_eq!(grouped.lines().next(), Some("person,answer,town,group"));
    assert_eq!(grouped.lines().nth(1), Some("0,yes,a,2"));
    assert_eq!(grouped.lines().nth(3), Some("2,yes,a,1"));
    // What the group tells: .95 of one half and .59 of the other, where .68 do blindly.
    let told = &answer["told"];
    assert!((told["guessed_with_group"].as_f64().unwrap() - 0.77).abs() < 1e-9, "{told}");
    assert!((told["guessed_blindly"].as_f64().unwrap() - 0.68).abs() < 1e-9, "{told}");
    let compared = |name: &str| answer["compared"][name].as_f64().unwrap();
    assert!(compared("by_group") < compared("one_policy"));
    assert!(compared("one_policy") <= compared("ldp") * 1.0001);
}

/// The rows of a policy of two symbols.
fn channel_of(policy: &str) -> String {
    let document = std::fs::read_to_string(policy).unwrap();
    let draft = undertone_core::Draft::from_json(&document).unwrap();
    let row = |x: usize| undertone_testkit::policy::row(draft.shape(), x);
    serde_json::to_string(&[row(0), row(1)]).unwrap()
}

#[test]
fn rows_are_drawn_and_read_under_the_policies_of_their_groups() {
    let (scratch, _) = designed(&["--groups", "2"]);
    let (map, grouped) = (scratch.path("policies/map.json"), scratch.path("grouped.csv"));
    let released = scratch.path("released.csv");
    let by = format!("group={map}");
    let perturb = ["perturb", "--policy-by", &by, "--column", "answer", &grouped, "-o", &released];
    let mut kept = perturb.to_vec();
    kept.extend(["--keep", "group"]);
    let (code, report) = json(&kept);
    assert_eq!(code, 0, "{report}");
    assert_eq!(report["groups"][1]["perturbed"], 2000, "{report}");
    assert!(
        report["policy_id"].is_null() && report["kept"][0]["columns"][0] == "group",
        "{report}"
    );
    assert_eq!(read(&scratch, "released.csv").lines().next(), Some("answer,group"));
    let estimate =
        ["estimate", "--policy-by", &by, "--column", "answer", &released, "--level", "0.999999"];
    let (code, told) = json(&estimate);
    assert_eq!(code, 0, "{told}");
    let yes = &told["headline"]["shares"][1];
    let truth = people().lines().filter(|line| line.contains(",yes,")).count() as f64 / 4000.0;
    let (low, high) = (yes["low"].as_f64().unwrap(), yes["high"].as_f64().unwrap());
    assert!(low < truth && truth < high && high - low < 0.25, "{truth}: {yes}");
    assert_eq!(told["groups"][0]["reports"], 2000);
    // The same file with a design of its sample: the path of single rows says the same.
    let mut sampled = estimate.to_vec();
    sampled.extend(["--by", "group"]);
    let (code, other) = json(&sampled);
    assert_eq!(code, 0, "{other}");
    let value = |share: &serde_json::Value| share["value"].as_f64().unwrap();
    assert!((value(&other["shares"][1]) - value(yes)).abs() < 1e-9, "{other}");
    // Without the column of groups nothing is left to estimate from, and that is said.
    let (code, report) = json(&perturb);
    assert_eq!(code, 0, "{report}");
    assert!(report["warnings"].to_string().contains("no estimate is possible"), "{report}");
    assert_eq!(read(&scratch, "released.csv").lines().next(), Some("answer"));
}

#[test]
fn what_would_name_a_person_or_leave_a_row_without_a_policy_is_refused() {
    let (scratch, _) = designed(&["--groups", "2"]);
    let (map, released) = (scratch.path("policies/map.json"), scratch.path("released.csv"));
    let by = format!("group={map}");
    let refused = |rows: &str, more: &[&str], word: &str| {
        scratch.file("rows.csv", rows);
        let rows = scratch.path("rows.csv");
        let mut args =
            vec!["perturb", "--policy-by", &by, "--column", "answer", &rows, "-o", &released];
        args.extend(more);
        let (code, said) = complaint(&args);
        assert!(code != 0 && said.contains(word), "{code} {said}");
        assert!(!std::path::Path::new(&released).exists(), "{word}: something was left behind");
    };
    let few = format!("answer,group\n{}{}", "yes,1\n".repeat(120), "no,2\n".repeat(7));
    refused(&few, &["--keep", "group"], "2 (7)");
    refused(
        "answer,group\nyes,3\n",
        &["--unknown", "skip"],
        "row 1 (line 2), column \"group\" names no group",
    );
    refused("answer,group\nyes,\n", &[], "column \"group\" is empty");
    refused("answer,group\nmaybe,1\n", &[], "column \"answer\" is none of");
    let large = few.replace("no,2\n", "");
    refused(&large, &["--keep", "answer"], "cannot also be kept");
    scratch.file("clear.json", "{\"1\": \"clear\"}");
    let clear = format!("group={}", scratch.path("clear.json"));
    let rows = scratch.path("rows.csv");
    let args = ["perturb", "--policy-by", &clear, "--column", "answer", &rows, "-o", &released];
    assert!(complaint(&args).1.contains("the rows of \"1\" are clear"));
    // Where the group is not released nobody is named, and a small one is drawn like any other.
    scratch.file("rows.csv", &few);
    let args = ["perturb", "--policy-by", &by, "--column", "answer", &rows, "-o", &released];
    assert_eq!(json(&args).0, 0);
    // A stream cannot be taken back.
    let args =
        ["perturb", "--policy-by", &by, "--column", "answer", "--keep", "group", &rows, "-o", "-"];
    assert!(complaint(&args).1.contains("--least-group 1"), "{}", complaint(&args).1);
}

#[test]
fn tables_that_are_no_priors_are_refused() {
    let scratch = Scratch::new("policy-by");
    let refused = |table: &str, more: &[&str], word: &str| {
        scratch.file("table.csv", table);
        let path = scratch.path("table.csv");
        let mut args = vec!["design", "--priors", &path, "--protect", "lip:1"];
        args.extend(if more.contains(&"--symbols") {
            &[][..]
        } else {
            &["--symbols", "no,yes"][..]
        });
        args.extend(more);
        let (code, said) = complaint(&args);
        assert!(code != 0 && said.contains(word), "{code} {said}");
    };
    refused("no,yes\n0.5,0.6\n", &[], "row 1 (line 2): the probabilities of no, yes add up to 1.1");
    refused("no,yes\n0.5,x\n", &[], "column \"yes\" is no probability");
    refused("no,yes\n0.5,\n", &[], "is no probability");
    refused("no,maybe\n0.5,0.5\n", &[], "no column \"yes\"");
    refused("no,yes\n0.5,0.5\n", &[], "has 1 people, and a group needs 100");
    refused("no,yes,n\n0.5,0.5,-3\n", &["--people", "n"], "is no number of people");
    refused("no,yes\n0.5,0.5\n", &["--symbols", "no"], "at least two symbols");
    refused("no,yes\n0.5,0.5\n", &["--groups", "0"], "whole number of at least 1");
    refused("no,yes\n0.5,0.5\n", &["--prior", "p.json"], "cannot be used with");
}
