//! Every command against many bad inputs: the same mistake has the same exit code and the same code word
//! everywhere, the error names the file or the option, fits a few lines, and shows nothing of our insides.

mod options;

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
                "third",
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

/// What runs until it is stopped does not begin with files it cannot use.
#[test]
fn services_tell_bad_files_and_bad_options_alike() {
    let files = Files::new();
    let (folder, missing) = (files.dir.path("folder"), files.dir.path("missing"));
    std::fs::create_dir_all(&folder).unwrap();
    let store = format!("sqlite:{}", files.dir.path("store.db"));
    let network = files.dir.path("network.json");
    let budget = ["--ldp", "1", "--restarts", "1", "-o", &network];
    let made = undertone(&[&["fusion", "design", "--model", &files.model][..], &budget].concat());
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let center = ["fusion", "center", "--bundle", &network, "--broker"];
    let served = ["serve", "--create", "--store", &store, "--listen"];
    let any = "127.0.0.1:0";
    for (file, words) in [(&folder, "folder"), (&missing, "no such file")] {
        for (start, rest) in [
            (&served[..1], vec!["--store-file", file]),
            (&served[..], vec![any, "--tls-cert", file, "--tls-key", &files.rows]),
            (&served[..], vec![any, "--tls-cert", &files.rows, "--tls-key", file]),
            (&center[..], vec!["mqtts://127.0.0.1:1", "--ca", file]),
            (&center[..], vec!["mqtt://127.0.0.1:1", "--username", "u", "--password-file", file]),
        ] {
            let args = [start, &rest].concat();
            let (code, value) = tried(&args, words);
            assert_eq!((code, &value["code"]), (1, &"file".into()), "{args:?}: {value}");
            let said = value["error"].as_str().unwrap();
            assert!(said.contains(words) && said.contains(file.as_str()), "{args:?}: {said}");
        }
    }
    for (start, rest, option) in [
        (&served[..], vec!["nowhere"], "--listen"),
        (&served[..], vec![any, "--rate", "-1"], "--rate"),
        (&served[..], vec![any, "--max-store-bytes", "-1"], "--max-store-bytes"),
        (&center[..], vec!["mqtt://127.0.0.1:1", "--deadline", "NaN"], "--deadline"),
        (&center[..], vec!["mqtt://127.0.0.1:1", "--window", "0"], "--window"),
    ] {
        let args = [start, &rest].concat();
        let (code, value) = tried(&args, option);
        assert_eq!((code, &value["code"]), (2, &"usage".into()), "{args:?}: {value}");
        assert!(value["error"].as_str().unwrap().contains(option), "{args:?}: {value}");
    }
    let (code, value) = tried(&["serve", "--store", "mysql://u:secret@h"], "--store");
    assert_eq!((code, &value["code"]), (2, &"usage".into()), "{value}");
    assert!(!value["error"].as_str().unwrap().contains("secret"), "{value}");
}
