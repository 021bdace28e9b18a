//! Figures and tables of the papers from the command line.
use crate::common::{Scratch, complaint, json, undertone};

#[test]
fn the_list_names_keys_and_data_files() {
    let (code, value) = json(&["reproduce", "list"]);
    assert_eq!(code, 0);
    let all = value["experiments"].as_array().unwrap();
    let find = |key: &str| all.iter().find(|item| item["key"] == key).unwrap();
    assert_eq!(find("jstl21-fig-4")["paper"], "JSTL21");
    assert_eq!(find("jstl21-fig-11")["data"][0], "student/student-mat.csv");
}

#[test]
fn a_figure_leaves_tables_plots_claims_and_a_page_and_is_remembered() {
    let dir = Scratch::new("reproduce");
    let out = dir.path("report");
    let args = ["reproduce", "jstl21-fig-4", "--quick", "-o", &out];
    let (code, value) = json(&args);
    assert_eq!(code, 0);
    let found = &value["experiments"][0];
    assert_eq!((&found["status"], &found["resumed"]), (&"done".into(), &false.into()));
    let claims = found["claims"].as_array().unwrap();
    assert!(claims.iter().all(|claim| claim["paper_number"].is_string()));
    assert!(claims.iter().any(|claim| claim["paper_number"] == "no number printed"));
    for file in ["leakage.csv", "leakage.svg", "claims.csv"] {
        assert!(std::path::Path::new(&out).join("jstl21-fig-4").join(file).exists(), "{file}");
    }
    let page = std::fs::read_to_string(std::path::Path::new(&out).join("report.html")).unwrap();
    assert!(page.contains("<svg") && page.contains("id=\"jstl21-fig-4\""));
    assert_eq!(json(&args).1["experiments"][0]["resumed"], true);
    let afresh = json(&[&args[..], &["--fresh"]].concat()).1;
    assert_eq!(afresh["experiments"][0]["resumed"], false);
    let said = undertone(&args);
    assert!(String::from_utf8_lossy(&said.stdout).contains("report.html"));
}

#[test]
fn missing_data_is_said_and_is_no_failure() {
    let dir = Scratch::new("reproduce-missing");
    let (out, empty) = (dir.path("report"), dir.path("data"));
    std::fs::create_dir(&empty).unwrap();
    let args = ["reproduce", "jstl21-fig-11", "--quick", "--data", &empty, "-o", &out];
    let (code, value) = json(&args);
    assert_eq!(code, 0);
    assert_eq!(value["experiments"][0]["status"], "missing-data");
    let why = value["experiments"][0]["why"].as_str().unwrap();
    assert!(why.contains("student/student-mat.csv") && why.contains("README.md"), "{why}");
}

#[test]
fn unknown_keys_and_folders_are_bad_usage() {
    let (code, said) = complaint(&["reproduce", "jstl21-fig-99"]);
    assert!(code == 2 && said.contains("jstl21-fig-4"), "{said}");
    let (code, said) = complaint(&["reproduce", "all", "jstl21-fig-4"]);
    assert!(code == 2 && said.contains("stands alone"), "{said}");
    let (code, said) = complaint(&["reproduce", "jstl21-fig-4", "--data", "/no/such/folder"]);
    assert!(code == 2 && said.contains("no such folder"), "{said}");
    assert_eq!(complaint(&["reproduce"]).0, 2);
}
