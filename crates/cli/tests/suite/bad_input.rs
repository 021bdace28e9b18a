//! Every command against many bad inputs: the same mistake has the same exit code and the same code word
//! everywhere, the error names the file or the option, fits a few lines, and shows nothing of our insides.

use std::process::Output;

use serde_json::Value;

use crate::common::{Scratch, json, root, undertone};

/// Stands for the file under test.
const SLOT: &str = "{}";

/// Good files beside which one bad file is tried.
struct Files {
    dir: Scratch,
    prior: String,
    channel: String,
    joint: String,
    policy: String,
    rows: String,
    model: String,
}

impl Files {
    fn new() -> Self {
        // Tests share a process: the directory is this one's alone.
        let dir = Scratch::new(
            &format!("bad-input-{:?}", std::thread::current().id()).replace(['(', ')'], "-"),
        );
        let prior = dir.file("prior.json", "[0.5,0.5]");
        let channel = dir.file("channel.json", "[[0.75,0.25],[0.25,0.75]]");
        let joint = dir.file("joint.json", "[[0.375,0.125],[0.125,0.375]]");
        let policy = dir.path("policy.json");
        let made = undertone(&[
            "design",
            "--prior",
            &prior,
            "--protect",
            "lip:1",
            "-o",
            &policy,
            "--method",
            "krr",
        ]);
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let rows = dir.file("rows.csv", "answer,other\n0,x\n1,y\n0,z\n");
        let model = root().join("examples/fusion-ga.json").to_str().unwrap().to_owned();
        Self { dir, prior, channel, joint, policy, rows, model }
    }

    /// Every place where a command takes a JSON document.
    fn json_slots(&self) -> Vec<Vec<&str>> {
        let (p, q, m) = (self.prior.as_str(), self.channel.as_str(), self.model.as_str());
        let rows = self.rows.as_str();
        vec![
            vec!["audit", "--prior", SLOT, "--channel", q],
            vec!["audit", "--prior", p, "--channel", SLOT],
            vec!["audit", "--joint", SLOT],
            vec!["audit", SLOT],
            vec!["relate", "--from", "lip:1", "--to", "ldp", "--prior", SLOT],
            vec!["relate", "--from", "bplip:1", "--to", "ldp", "--prior", SLOT],
            vec!["compose", "--prior", SLOT, "--epsilons", "1,1"],
            vec!["compose", "--prior", p, "--channels", SLOT],
            vec!["compose", "--prior", p, "--markov", SLOT, "--epsilons", "1,1"],
            vec!["compose", "--joint", SLOT, "--epsilons", "1,1"],
            vec!["transfer", "--from", SLOT, "--to", p, "--epsilon", "1"],
            vec!["transfer", "--from", p, "--to", SLOT, "--epsilon", "1"],
            vec!["transfer", "--from", p, "--to", p, "--epsilon", "1", "--policy", SLOT],
            vec!["design", "--prior", SLOT, "--protect", "lip:1", "--method", "krr"],
            vec!["design", "--joint", SLOT, "--protect", "lip:1", "--objective", "hamming"],
            vec![
                "design",
                "--prior",
                p,
                "--prior-lower",
                SLOT,
                "--prior-upper",
                p,
                "--protect",
                "lip:1",
            ],
            vec![
                "design",
                "--prior",
                p,
                "--prior-lower",
                p,
                "--prior-upper",
                SLOT,
                "--protect",
                "lip:1",
            ],
            vec!["curve", "--prior", SLOT, "--epsilons", "1", "--methods", "krr"],
            vec!["frontier", "--prior", SLOT, "--lip", "1", "--ldp", "1"],
            vec!["watchdog", "--joint", SLOT, "--lower", "1", "--upper", "1"],
            vec!["policy", "verify", SLOT],
            vec!["policy", "show", SLOT],
            vec!["prior", "mix", SLOT, p, "--weights", "0.5,0.5"],
            vec!["perturb", rows, "--policy", SLOT, "--column", "answer", "-o", "out.csv"],
            vec!["estimate", rows, "--policy", SLOT, "--column", "answer"],
            vec!["estimate", "--tally", SLOT, "--policy", self.policy.as_str()],
            vec!["fusion", "design", "--model", SLOT, "--ldp", "1"],
            vec!["fusion", "evaluate", SLOT],
            vec!["fusion", "evaluate", "--maps", SLOT, "--model", m],
        ]
    }

    /// Every place where a command takes a table.
    fn table_slots(&self) -> Vec<Vec<&str>> {
        let policy = self.policy.as_str();
        vec![
            vec!["prior", "fit", SLOT, "--column", "answer"],
            vec!["perturb", SLOT, "--policy", policy, "--column", "answer", "-o", "out.csv"],
            vec!["estimate", SLOT, "--policy", policy, "--column", "answer"],
            vec![
                "fusion",
                "design",
                "--samples",
                SLOT,
                "--public",
                "answer",
                "--private",
                "other",
                "--sensors",
                "answer",
                "--ldp",
                "1",
            ],
        ]
    }
}

/// Runs a command with `--json` and checks what must hold whatever went wrong. Returns the exit code and the
/// JSON it printed.
#[track_caller]
fn tried(args: &[&str], about: &str) -> (i32, Value) {
    let output: Output = undertone(&[args, &["--json"]].concat());
    let (out, said) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let what = format!("{about}: {args:?}\n{said}\n{}", out.chars().take(400).collect::<String>());
    let code = output.status.code().unwrap_or_else(|| panic!("no exit code: {what}"));
    assert!(code <= 2, "exit {code}: {what}");
    for inside in ["panicked", "RUST_BACKTRACE", "struct Raw", "Raw(", "os error", "0x"] {
        assert!(!said.contains(inside), "shows {inside:?}: {what}");
    }
    let value: Value = serde_json::from_str(&out).unwrap_or_else(|e| panic!("{e}: {what}"));
    if let Some(error) = value.get("error") {
        let text = error.as_str().unwrap_or_else(|| panic!("error is no text: {what}"));
        let word = value["code"].as_str().unwrap_or_else(|| panic!("no code: {what}"));
        assert_eq!(value.as_object().unwrap().len(), 2, "{what}");
        assert!(
            ["usage", "file", "input", "too_large", "uninformative"].contains(&word),
            "{word}: {what}"
        );
        assert_eq!(code, if word == "usage" { 2 } else { 1 }, "{what}");
        assert!(text.len() <= 1_600 && text.lines().count() <= 6, "too long: {what}");
        let digits = text.split(|c: char| !c.is_ascii_digit()).map(str::len).max().unwrap_or(0);
        assert!(digits <= 24, "a number of {digits} digits: {what}");
        assert!(said.contains(text.lines().next().unwrap()), "{what}");
    }
    (code, value)
}

fn filled<'a>(slot: &[&'a str], file: &'a str) -> Vec<&'a str> {
    slot.iter().map(|word| if *word == SLOT { file } else { word }).collect()
}

#[test]
fn bad_documents_are_refused_alike_by_every_command() {
    let files = Files::new();
    let long = format!("{{\"symbols\":[\"{}\"],\"p\":\"x\"}}", "y".repeat(50_000));
    let contents = [
        ("empty.json", ""),
        ("blank.json", " \n"),
        ("null.json", "null"),
        ("number.json", "3"),
        ("text.json", "\"half\""),
        ("truth.json", "true"),
        ("list.json", "[]"),
        ("lists.json", "[[]]"),
        ("open.json", "[[0.5, 0.5"),
        ("garbage.json", "half and half"),
        ("nan.json", "[NaN, 1]"),
        ("huge.json", "[1e999, 0]"),
        ("large.json", "[[1e300, 1e300], [1e300, 1e300]]"),
        ("sums.json", "[[1e308, 1e308], [1e308, 1e308]]"),
        ("negative.json", "[[1.5, -0.5], [1.5, -0.5]]"),
        ("sum.json", "[[0.5, 0.4], [0.5, 0.4]]"),
        ("ragged.json", "[[0.5, 0.5], [1]]"),
        ("mixed.json", "[0.5, \"0.5\"]"),
        ("object.json", "{}"),
        ("field.json", r#"{"symbols":["a","b"],"p":[0.5,0.5],"colour":"red"}"#),
        ("provenance.json", r#"{"version":1,"provenance":[1,2]}"#),
        ("two.json", "[0.5,0.5] [0.5,0.5]"),
        ("long.json", &long),
    ];
    for slot in files.json_slots() {
        for (name, content) in contents {
            let file = files.dir.file(name, content);
            let (code, value) = tried(&filled(&slot, &file), name);
            assert_ne!(code, 0, "{name} was accepted: {slot:?}: {value}");
            assert_eq!(value["code"], "input", "{name}: {slot:?}: {value}");
            let said = value["error"].as_str().unwrap();
            assert!(said.contains(name), "{name} is not named: {slot:?}: {said}");
        }
    }
}

#[test]
fn files_that_cannot_be_read_are_told_from_bad_ones() {
    let files = Files::new();
    let folder = files.dir.path("folder");
    std::fs::create_dir_all(&folder).unwrap();
    let missing = files.dir.path("missing.json");
    let latin = files.dir.path("latin.json");
    std::fs::write(&latin, b"[0.5, \xff]").unwrap();
    let cases = [(&folder, "folder"), (&missing, "no such file"), (&latin, "UTF-8")];
    for slot in files.json_slots() {
        for (file, words) in cases {
            let (code, value) = tried(&filled(&slot, file), words);
            assert_eq!((code, &value["code"]), (1, &"file".into()), "{slot:?}: {value}");
            let said = value["error"].as_str().unwrap();
            assert!(said.contains(words) && said.contains(file.as_str()), "{slot:?}: {said}");
        }
    }
    for slot in files.table_slots() {
        for (file, words) in &cases[..2] {
            let (code, value) = tried(&filled(&slot, file), words);
            assert_eq!((code, &value["code"]), (1, &"file".into()), "{slot:?}: {value}");
            let said = value["error"].as_str().unwrap();
            assert!(said.contains(words) && said.contains(file.as_str()), "{slot:?}: {said}");
        }
    }
}

#[test]
fn bad_tables_are_refused_alike_by_every_command() {
    let files = Files::new();
    let contents: [(&str, &[u8]); 11] = [
        ("empty.csv", b""),
        ("ragged.csv", b"answer,other\n0\n1,2,3\n"),
        ("column.csv", b"reply,other\n0,x\n"),
        ("bytes.csv", b"answer,other\n\xff\xfe,x\n1,y\n"),
        ("text.parquet", b"answer,other\n0,x\n"),
        ("short.parquet", b"PAR1\x07\xff\xff\xff\xffPAR1"),
        ("tiny.parquet", b"PAR1"),
        ("none.parquet", b""),
        ("footless.parquet", b"PAR1\0\0\0\0\0\0\0\0\0\0\0\0\x10\0\0\0PAR1"),
        ("packed.csv.gz", b"\x1f\x8bno such thing"),
        ("marked.csv", b"\xef\xbb\xbf"),
    ];
    for slot in files.table_slots() {
        for (name, content) in contents {
            let path = files.dir.path(name);
            std::fs::write(&path, content).unwrap();
            let (code, value) = tried(&filled(&slot, &path), name);
            assert_eq!((code, &value["code"]), (1, &"input".into()), "{name}: {slot:?}: {value}");
            let said = value["error"].as_str().unwrap();
            assert!(said.contains(name), "{name} is not named: {slot:?}: {said}");
            // A damaged Parquet file claims sizes that read like addresses.
            assert!(!said.contains("429496"), "{said}");
        }
    }
}

#[test]
fn a_byte_order_mark_is_no_part_of_a_document() {
    let files = Files::new();
    let marked = |name: &str, content: &str| files.dir.file(name, &format!("\u{feff}{content}"));
    let prior = marked("marked-prior.json", "[0.5,0.5]");
    let channel = marked("marked-channel.json", "[[0.75,0.25],[0.25,0.75]]");
    let policy = marked("marked-policy.json", &std::fs::read_to_string(&files.policy).unwrap());
    for args in [
        vec!["audit", "--prior", &prior, "--channel", &channel],
        vec!["policy", "verify", &policy],
        vec!["design", "--prior", &prior, "--protect", "lip:1", "--method", "krr"],
        vec!["transfer", "--from", &prior, "--to", &prior, "--epsilon", "1", "--policy", &policy],
    ] {
        let (code, value) = json(&args);
        assert_eq!(code, 0, "{args:?}: {value}");
    }
}

/// Options that take a level in nats or another number, each on a command line that is good otherwise.
fn number_options(files: &Files) -> Vec<(Vec<&str>, &'static str)> {
    let (p, q, m) = (files.prior.as_str(), files.channel.as_str(), files.model.as_str());
    let (j, rows, policy) = (files.joint.as_str(), files.rows.as_str(), files.policy.as_str());
    let learned = [
        "fusion",
        "train",
        "--samples",
        rows,
        "--public",
        "answer",
        "--private",
        "other",
        "--sensors",
        "answer",
    ];
    let mut options: Vec<(Vec<&str>, &'static str)> = vec![
        (vec!["audit", "--prior", p, "--channel", q], "--epsilon"),
        (vec!["audit", "--prior", p, "--channel", q], "--alpha"),
        (vec!["relate", "--from", "lip:1", "--to", "sibson", "--prior", p], "--alpha"),
        (vec!["relate", "--from", "lip:1", "--to", "ldp"], "--p-min"),
        (vec!["relate", "--from", "ldp:1", "--to", "mil"], "--symbols"),
        (vec!["relate", "--from", "ldp:1", "--to", "infp"], "--sensors"),
        (vec!["relate", "--from", "ldp:1", "--to", "ident"], "--spread"),
        (vec!["compose", "--prior", p], "--epsilons"),
        (vec!["transfer", "--from", p, "--to", p], "--epsilon"),
        (vec!["transfer", "--from", p, "--epsilon", "1"], "--samples"),
        (vec!["transfer", "--from", p, "--epsilon", "1", "--samples", "10"], "--beta"),
        (vec!["design", "--prior", p, "--n", "1000"], "--accuracy"),
        (vec!["design", "--prior", p, "--accuracy", "0.1"], "--n"),
        (vec!["design", "--prior", p, "--accuracy", "0.1", "--n", "1000"], "--level"),
        (vec!["design", "--prior", p, "--protect", "lip:1", "--objective", "squared"], "--values"),
        (vec!["curve", "--prior", p, "--methods", "krr"], "--epsilons"),
        (vec!["frontier", "--prior", p, "--lip", "1"], "--ldp"),
        (vec!["curve", "--prior", p, "--methods", "krr", "--objective", "squared"], "--values"),
        (vec!["frontier", "--prior", p, "--ldp", "1"], "--lip"),
        (vec!["relate", "--from", "ldp:1", "--to", "infp"], "--secrets"),
        (vec!["watchdog", "--joint", j, "--upper", "1"], "--lower"),
        (vec!["watchdog", "--joint", j, "--lower", "1"], "--upper"),
        (vec!["watchdog", "--joint", j], "--ldp"),
        (vec!["watchdog", "--joint", j, "--ldp", "1"], "--split"),
        (vec!["policy", "verify", policy, "--together"], "--consent"),
        (vec!["estimate", rows, "--policy", policy, "--column", "answer"], "--level"),
        (vec!["estimate", rows, "--policy", policy, "--column", "answer"], "--above"),
        (vec!["estimate", rows, "--policy", policy, "--column", "answer"], "--quantiles"),
        (vec!["estimate", rows, "--policy", policy, "--column", "answer"], "--threads"),
        (vec!["fusion", "design", "--model", m, "--restarts", "1"], "--ldp"),
        (vec!["fusion", "design", "--model", m, "--restarts", "1", "--ldp", "1"], "--information"),
        (vec!["fusion", "design", "--model", m, "--restarts", "1", "--ldp", "1"], "--epochs"),
        (vec!["fusion", "design", "--model", m, "--ldp", "1"], "--restarts"),
        (vec!["fusion", "design", "--model", m, "--restarts", "1", "--ldp", "1"], "--outputs"),
        (vec!["fusion", "design", "--model", m, "--restarts", "1", "--ldp", "1"], "--time-limit"),
        (vec!["fusion", "evaluate", "--maps", q, "--model", m], "--confidence"),
        (vec!["demo", "--once"], "--users"),
        (vec!["prior", "fit", rows, "--column", "answer"], "--beta"),
        (vec!["prior", "fit", rows, "--column", "answer"], "--smoothing"),
        (vec!["prior", "fit", rows, "--column", "answer", "--range", "0,1"], "--bins"),
        (vec!["prior", "fit", rows, "--column", "answer", "--bins", "2"], "--range"),
        (vec!["prior", "mix", p, p], "--weights"),
    ];
    for option in [
        "--ldp",
        "--outputs",
        "--ratio",
        "--slack",
        "--ridge",
        "--hold-out",
        "--train",
        "--test",
        "--confidence",
        "--restarts",
        "--time-limit",
        "--levels",
        "--keep",
    ] {
        options.push((learned.to_vec(), option));
    }
    options
}

#[test]
fn bad_numbers_in_options_are_bad_usage_everywhere() {
    let files = Files::new();
    let nines = "9".repeat(400);
    for (args, option) in number_options(&files) {
        for value in ["-1", "NaN", "x", "", "--", "-1e300", &nines] {
            // A few options take words beside numbers, or large numbers: those they may accept.
            let words = [args.as_slice(), &[option, value]].concat();
            let (code, answer) = tried(&words, option);
            if code == 0 {
                assert_eq!(value, nines, "accepted: {words:?}");
                continue;
            }
            assert_eq!((code, &answer["code"]), (2, &"usage".into()), "{words:?}: {answer}");
            let said = answer["error"].as_str().unwrap();
            assert!(said.contains(option), "{option} is not named: {words:?}: {said}");
        }
    }
}

#[test]
fn a_guarantee_is_read_alike_by_every_command() {
    let files = Files::new();
    let (p, q, j) = (files.prior.as_str(), files.channel.as_str(), files.joint.as_str());
    let (m, policy) = (files.model.as_str(), files.policy.as_str());
    for (level, good) in [
        ("1e-12", true),
        ("1e-400", true),
        ("+1", true),
        ("-0", true),
        (".5", true),
        ("5.", true),
        ("1_0", false),
        ("-inf", false),
        ("1E-1", true),
        ("0.5", true),
        ("0", true),
        ("-1", false),
        ("NaN", false),
        ("inf", false),
        ("x", false),
        ("", false),
        ("1e400", false),
    ] {
        let (lip, ldp) = (format!("lip:{level}"), format!("ldp:{level}"));
        for args in [
            vec!["relate", "--from", &lip, "--to", "ldp", "--prior", p],
            vec!["design", "--prior", p, "--protect", &lip, "--method", "krr"],
            vec!["design", "--prior", p, "--protect", &ldp, "--method", "krr"],
            vec!["compose", "--prior", p, "--epsilons", level],
            vec!["transfer", "--from", p, "--to", p, "--epsilon", level],
            vec!["audit", "--prior", p, "--channel", q, "--epsilon", level],
            vec!["watchdog", "--joint", j, "--lower", level, "--upper", "1"],
            vec!["watchdog", "--joint", j, "--ldp", level],
            vec!["policy", "verify", policy, "--together", "--consent", &lip],
            vec!["fusion", "design", "--model", m, "--restarts", "1", "--ldp", level],
            vec!["frontier", "--prior", p, "--lip", level, "--ldp", "1"],
            vec!["curve", "--prior", p, "--epsilons", level, "--methods", "krr"],
        ] {
            // Of all commands this one has a word for no limit.
            if args[0] == "fusion" && level == "inf" {
                continue;
            }
            let (code, value) = tried(&args, level);
            // A policy that tells nothing may be refused as such, and one may miss a consent, but the level was read.
            let read =
                code == 0 || value["code"] == "uninformative" || !value["together"].is_null();
            assert_eq!(read, good, "{args:?}: {value}");
            assert!(good || value["code"] == "usage", "{args:?}: {value}");
        }
    }
}

#[test]
fn usage_errors_are_json_too() {
    for args in [
        vec!["nonsense"],
        vec!["audit"],
        vec!["design", "--colour", "red"],
        vec!["relate", "--from", "lip:1"],
        vec!["policy"],
        vec!["policy", "verify"],
        vec!["fusion", "design", "--method", "best"],
        vec!["watchdog", "--joint", "x", "--method", "none", "--ldp", "1"],
    ] {
        let (code, value) = tried(&args, "usage");
        assert_eq!((code, &value["code"]), (2, &"usage".into()), "{args:?}");
        assert!(!value["error"].as_str().unwrap().is_empty());
    }
}

/// What the words must have beside the file or the option: the field, the value and the fix.
#[test]
fn errors_name_the_field_the_value_and_the_fix() {
    let files = Files::new();
    let audit = |content: &str| {
        let file = files.dir.file("odd.json", content);
        let (code, value) =
            tried(&["audit", "--prior", &file, "--channel", &files.channel], content);
        assert_eq!(code, 1);
        value["error"].as_str().unwrap().to_owned()
    };
    let verify = |content: &str| {
        let file = files.dir.file("odd.json", content);
        let (code, value) = tried(&["policy", "verify", &file], content);
        assert_eq!(code, 1);
        value["error"].as_str().unwrap().to_owned()
    };
    let good = std::fs::read_to_string(&files.policy).unwrap();
    let mut listed: Value = serde_json::from_str(&good).unwrap();
    listed["provenance"] = serde_json::json!(["census", 100]);
    let mut texts: Value = serde_json::from_str(&good).unwrap();
    texts["context"]["weights"] = serde_json::json!([1, "half"]);
    for (said, words) in [
        (audit("[0.5, \"half\"]"), &["[1]", "\"half\"", "expected a number"][..]),
        (audit("{\"a\": 0.5, \"b c\": [0.5]}"), &["\"b c\"", "a list", "expected a number"]),
        (audit("{\"symbols\": [\"a\", 2], \"p\": [0.5, 0.5]}"), &["symbols[1]", "`2`", "a text"]),
        (audit("[1e300, 0]"), &["sums to 1e300", "divide each by 1e300"]),
        (audit("[-1e300, 0]"), &["prior[0] is -1e300", "must not be negative"]),
        (audit("[1e308, 1e308]"), &["too large to add up", "between 0 and 1"]),
        (audit("[0.5, 0.500000002]"), &["sums to 1 plus 2.00e-9", "divide each by their sum"]),
        (verify(&listed.to_string()), &["provenance", "found a list", "expected an object"]),
        (verify(&texts.to_string()), &["context", "\"half\""]),
        (verify("[1, 2]"), &["found a list", "expected an object"]),
    ] {
        for word in words {
            assert!(said.contains(word), "{word:?} is missing: {said}");
        }
    }
    for (args, words) in [
        (
            vec!["audit", "--prior", &files.prior, "--channel", &files.channel, "--epsilon", "-1"],
            "--epsilon is -1: give",
        ),
        (vec!["relate", "--from", "lip:1", "--to", "ldp", "--p-min", "--"], "--p-min has no value"),
        (vec!["demo", "--users", "many"], "--users is many: give a whole number"),
        (
            vec!["fusion", "design", "--model", &files.model, "--ldp", "-1"],
            "--ldp is -1: give a number of nats",
        ),
        (
            vec![
                "perturb",
                &files.rows,
                "--policy",
                &files.policy,
                "--column",
                "answer",
                "-o",
                "out.csv",
                "--threads",
                "0",
            ],
            "--threads is 0: give a whole number of at least 1",
        ),
        (
            vec!["fusion", "design", "--model", &files.model, "--ldp", "1", "--epochs", "0"],
            "--epochs is 0: give a whole number from 1",
        ),
    ] {
        let (code, value) = tried(&args, words);
        assert_eq!((code, &value["code"]), (2, &"usage".into()), "{args:?}");
        let said = value["error"].as_str().unwrap();
        assert!(said.contains(words), "{words:?} is missing: {said}");
    }
}

/// What cannot be written is told like what cannot be read, and leaves nothing.
#[test]
fn files_that_cannot_be_written_are_told_alike() {
    let files = Files::new();
    let nowhere = files.dir.path("no/such/folder.json");
    let table = files.dir.path("no/such/folder.csv");
    let (p, j) = (files.prior.as_str(), files.joint.as_str());
    for (args, file) in [
        (vec!["design", "--prior", p, "--protect", "lip:1", "--method", "krr", "-o"], &nowhere),
        (vec!["watchdog", "--joint", j, "--ldp", "1", "-o"], &nowhere),
        (vec!["prior", "fit", files.rows.as_str(), "--column", "answer", "-o"], &nowhere),
        (vec!["prior", "mix", p, p, "--weights", "0.5,0.5", "-o"], &nowhere),
        (vec!["curve", "--prior", p, "--epsilons", "1", "--methods", "krr", "-o"], &table),
        (
            vec!["perturb", &files.rows, "--policy", &files.policy, "--column", "answer", "-o"],
            &table,
        ),
    ] {
        let (code, value) = tried(&[args.as_slice(), &[file.as_str()]].concat(), "written");
        assert_eq!((code, &value["code"]), (1, &"file".into()), "{args:?}: {value}");
        let said = value["error"].as_str().unwrap();
        assert!(said.contains(file.as_str()) && said.contains("no such folder"), "{said}");
    }
}
