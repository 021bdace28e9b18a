//! `undertone perturb`: a column randomised, kept columns as they were, and nothing else.
//!
//! Noise comes from the system and cannot be seeded, so these policies leave nothing to it: `constant`
//! always releases the same symbol, `faithful` any other than the given one with probability 2^-31
//! (some hundred draws in all: a false alarm once in ten million runs). One test looks at frequencies,
//! and states its own error.
use std::io::{Read, Write};
use std::process::{Command, Stdio};

use crate::common::{Scratch, complaint, json, undertone};
use undertone_core::{
    Alphabet, Bits, Claim, Context, Decimal, Draft, Epsilon, KEEP_ONE, Keep, MASS_ONE, Provenance,
    Shape, Table, WEIGHT_ONE,
};

fn document(inputs: Alphabet, shape: Shape, epsilon: &str) -> String {
    let claims = vec![Claim::ldp(Epsilon::parse(epsilon).unwrap())];
    let draft =
        Draft::new(inputs, None, shape, Context::Unknown, claims, Provenance::default()).unwrap();
    draft.verify().unwrap().draft().to_json()
}

fn names(list: &[&str]) -> Alphabet {
    Alphabet::names(list.iter().copied()).unwrap()
}

fn decimals(list: &[&str]) -> Vec<Decimal> {
    list.iter().map(|text| text.parse().unwrap()).collect()
}

/// Ten thousand to forty thousand in bins of ten thousand.
fn bins() -> Alphabet {
    Alphabet::bins(
        decimals(&["10000", "20000", "30000", "40000"]),
        decimals(&["15000", "25000.5", "35000"]),
    )
    .unwrap()
}

/// Releases the symbol itself but for a part in two thousand million for every other.
fn faithful(inputs: Alphabet) -> String {
    let size = inputs.len();
    let rare = 1u64 << 17;
    let row = |x: usize| {
        let mut row = vec![rare; size];
        row[x] = MASS_ONE - rare * (size as u64 - 1);
        row
    };
    let table = Table::from_masses((0..size).map(row).collect()).unwrap();
    document(inputs, Shape::Table(table), "22")
}

/// Releases the last symbol whatever the input.
fn constant(inputs: Alphabet) -> String {
    let mut row = vec![0; inputs.len()];
    row[inputs.len() - 1] = MASS_ONE;
    let table = Table::from_masses(vec![row; inputs.len()]).unwrap();
    document(inputs, Shape::Table(table), "0")
}

fn read(path: &str) -> String {
    std::fs::read_to_string(path).unwrap()
}

/// No half-written file is left beside `path`.
fn assert_no_part(dir: &Scratch) {
    let folder = dir.path("");
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(!name.contains(".part"), "{name}");
    }
}

/// Runs with something on standard input; exit code, standard output, standard error.
fn piped(args: &[&str], input: &[u8]) -> (i32, Vec<u8>, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_undertone"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let feed = std::thread::spawn(move || {
        let _ = stdin.write_all(&input);
    });
    let output = child.wait_with_output().unwrap();
    feed.join().unwrap();
    (
        output.status.code().unwrap(),
        output.stdout,
        String::from_utf8_lossy(&output.stderr).into_owned(),
    )
}

const ODD: &str = "\u{feff}id;answer;\"a, note\"\r\n1;yes;\"x;\"\"y\"\"\r\nz\"\r\n\r\n2;no; spaced \r\n3; yes ;5\" pipe\r\n4;no;";

#[test]
fn kept_cells_keep_every_byte() {
    let dir = Scratch::new("bytes");
    let data = dir.file("odd.csv", ODD);
    let out = dir.path("out.csv");
    let run = |policy: &str, keep: &[&str]| {
        let args = ["perturb", "--policy", policy, "--column", "answer", &data, "-o", &out];
        let (code, value) = json(&[&args[..], keep].concat());
        assert_eq!(code, 0, "{value}");
        value
    };
    let policy = dir.file("p.json", &faithful(names(&["yes", "no"])));
    let both = ["--keep", "a, note", "--keep", "id"];
    let value = run(&policy, &both);
    // Gone are the spaces around a cell that is replaced, and the empty line.
    let same = ODD.replace(" yes ", "yes").replace("z\"\r\n\r\n", "z\"\r\n");
    assert_eq!(read(&out), same);
    assert_eq!(value["kept"][0]["columns"], serde_json::json!(["id", "a, note"]));
    for (field, count) in
        [("rows", 4), ("perturbed", 4), ("unknown", 0), ("missing", 0), ("skipped", 0)]
    {
        assert_eq!(value[field], count, "{field}");
    }
    assert!(value["rate"].as_f64().unwrap() > 0.0);
    assert_eq!(value["policy_id"].as_str().unwrap().len(), 64);
    // Labels that need quotes get them.
    let policy = dir.file("q.json", &constant(names(&["yes", "no", "a;\"b\""])));
    run(&policy, &both);
    let expected = same
        .replace("yes;\"x", "\"a;\"\"b\"\"\";\"x")
        .replace("no;", "\"a;\"\"b\"\"\";")
        .replace(";yes;", ";\"a;\"\"b\"\"\";");
    assert_eq!(read(&out), expected);
    // One of the two, and none.
    run(&policy, &["--keep", "id"]);
    let cell = "\"a;\"\"b\"\"\"";
    assert_eq!(
        read(&out),
        format!("\u{feff}id;answer\r\n1;{cell}\r\n2;{cell}\r\n3;{cell}\r\n4;{cell}")
    );
    run(&policy, &[]);
    assert_eq!(read(&out), format!("\u{feff}answer\r\n{cell}\r\n{cell}\r\n{cell}\r\n{cell}"));
}

/// What is not named does not leave, and what is named is said aloud.
#[test]
fn other_columns_stay_at_home_unless_they_are_named() {
    let dir = Scratch::new("keep");
    let data =
        dir.file("a.csv", "name,answer,region,gross_pay\nAnna,yes,north,31337\nBo,no,south,4711\n");
    let policy = dir.file("p.json", &faithful(names(&["yes", "no"])));
    let out = dir.path("out.csv");
    let args = ["perturb", "--policy", &policy, "--column", "answer", &data, "-o", &out];
    let said = String::from_utf8(undertone(&args).stdout).unwrap();
    assert_eq!(read(&out), "answer\nyes\nno\n");
    assert!(said.contains("left out: name, region, gross_pay (--keep NAME"), "{said}");
    assert!(!said.contains("in the clear"), "{said}");
    let keep = [&args[..], &["--keep", "region"]].concat();
    let said = String::from_utf8(undertone(&keep).stdout).unwrap();
    assert_eq!(read(&out), "answer,region\nyes,north\nno,south\n");
    assert!(said.contains("kept in the clear: region"), "{said}");
    assert!(said.contains("left out: name, gross_pay (--keep NAME"), "{said}");
    let (code, value) = json(&keep);
    assert_eq!(code, 0);
    assert_eq!(value["kept"][0]["columns"], serde_json::json!(["region"]));
    assert_eq!(value["left_out"], serde_json::json!(["name", "gross_pay"]));
    let (code, said) = complaint(&[&args[..], &["--keep", "answer"]].concat());
    assert!(code == 2 && said.contains("cannot also be kept"), "{said}");
    let (code, said) = complaint(&[&args[..], &["--keep", "nobody"]].concat());
    assert!(code == 1 && said.contains("no column \"nobody\""), "{said}");
    let (code, said) = complaint(&[&keep[..], &["--only"]].concat());
    assert!(code == 2 && said.contains("cannot be used with"), "{said}");
}

/// What kept columns tell is measured and said, and no part of what is written.
#[test]
fn kept_columns_are_measured_on_the_data() {
    let dir = Scratch::new("measured");
    let mut rows = String::from("id,school,school_number,coin,copy\n");
    let schools = ["none", "primary", "secondary", "college"];
    for at in 0..2000usize {
        let school = at * 7919 % 10_007 % 4;
        let (name, coin) = (schools[school], at * 31 % 101 % 2);
        rows += &format!("p{at},{name},{},{coin},{name}\n", 10 - school);
    }
    let data = dir.file("a.csv", &rows);
    let policy = dir.file("p.json", &constant(names(&schools)));
    let out = dir.path("out.csv");
    let base = ["perturb", "--policy", &policy, "--column", "school", &data, "-o", &out];
    let kept = |columns: &[&str]| {
        let keep: Vec<&str> = columns.iter().flat_map(|name| ["--keep", name]).collect();
        let (code, value) = json(&[&base[..], &keep].concat());
        assert_eq!((code, value["kept"].as_array().unwrap().len()), (0, 1), "{value}");
        let found = value["kept"][0].clone();
        assert_eq!((&found["question"], &found["rows"]), (&"school".into(), &2000.into()));
        let warned = value["warnings"].as_array().unwrap().contains(&found["warning"]);
        assert_eq!(found["warning"].is_null(), !warned);
        assert!(found["accuracy_upper"].as_f64() >= found["accuracy"].as_f64());
        found
    };
    let number = |found: &serde_json::Value, field: &str| found[field].as_f64().unwrap();
    // The same under other names: everything is told.
    let found = kept(&["school_number"]);
    assert!(number(&found, "accuracy") > 0.99 && number(&found, "majority") < 0.3, "{found}");
    assert!(number(&found, "log_loss_reduction") > 0.9 && number(&found, "unique") == 0.0);
    assert!(found["warning"].as_str().unwrap().contains("tells \"school\" apart"), "{found}");
    // What has nothing to do with it: nothing, which clears nothing.
    let found = kept(&["coin"]);
    assert!(found["warning"].is_null() && number(&found, "log_loss_reduction") < 0.01, "{found}");
    // Everybody's own number predicts nobody else's school, and finds everybody.
    let found = kept(&["id"]);
    assert_eq!((number(&found, "unique"), number(&found, "log_loss_reduction")), (1.0, 0.0));
    assert!(found["warning"].as_str().unwrap().contains("singles out 100.0 %"), "{found}");
    // For people, too; what is written says nothing of it.
    let said =
        String::from_utf8(undertone(&[&base[..], &["--keep", "id"]].concat()).stdout).unwrap();
    assert!(
        said.contains("warning: keeping id in the clear singles out")
            && said.contains("guessed blindly"),
        "{said}"
    );
    assert_eq!(read(&out).lines().next(), Some("id,school"));
    assert!(!read(&out).contains("predict"));
    // The column itself under another name is refused, and nothing is written.
    std::fs::remove_file(&out).unwrap();
    let (code, said) = complaint(&[&base[..], &["--keep", "copy"]].concat());
    assert!(
        code == 2 && said.contains("--keep \"copy\": that column is equal to \"school\""),
        "{said}"
    );
    assert!(!std::path::Path::new(&out).exists());
    assert_no_part(&dir);
}

/// A second draw from the same data tells more than one.
#[test]
fn whoever_replaces_an_earlier_release_is_told() {
    let dir = Scratch::new("again");
    let data = dir.file("a.csv", "answer\nyes\nno\n");
    let policy = dir.file("p.json", &faithful(names(&["yes", "no"])));
    let out = dir.file("out.csv", "");
    let args = ["perturb", "--policy", &policy, "--column", "answer", &data, "-o", &out];
    // A file that holds nothing is no release.
    let (_, value) = json(&args);
    assert_eq!((&value["replaced"], &value["warnings"]), (&false.into(), &serde_json::json!([])));
    let (code, value) = json(&args);
    assert_eq!((code, &value["replaced"]), (0, &true.into()));
    assert!(value["warnings"][0].as_str().unwrap().starts_with("replaced an earlier release"));
    let said = String::from_utf8(undertone(&args).stdout).unwrap();
    assert_eq!(said.matches("warning: replaced an earlier release").count(), 1, "{said}");
    assert_eq!(read(&out), "answer\nyes\nno\n");
    // A run that fails replaces nothing.
    let odd = dir.file("b.csv", "answer\nperhaps\n");
    let (code, said) =
        complaint(&["perturb", "--policy", &policy, "--column", "answer", &odd, "-o", &out]);
    assert!(code == 1 && !said.contains("replaced"), "{said}");
    assert_eq!(read(&out), "answer\nyes\nno\n");
    // What is no file is replaced by nothing.
    let (code, rows, said) = piped(&[&args[..7], &["-", "--json"]].concat(), b"");
    assert_eq!((code, rows), (0, b"answer\nyes\nno\n".to_vec()));
    let value: serde_json::Value = serde_json::from_str(&said).unwrap();
    assert_eq!((&value["replaced"], &value["output"]), (&false.into(), &"-".into()));
    // A speed has three digits.
    let rate = value["rate"].as_f64().unwrap();
    assert_eq!(format!("{rate:.2e}").parse::<f64>().unwrap(), rate);
}

/// A blank line of a file of one column is a person's blank answer, not an empty line to copy.
#[test]
fn a_blank_answer_of_one_column_is_missing() {
    let dir = Scratch::new("blank");
    let policy = dir.file("p.json", &constant(names(&["yes", "no", "other"])));
    let out = dir.path("out.csv");
    for (name, content) in [("a.csv", "answer\nyes\n\nno\n"), ("b.csv", "answer\r\nyes\r\n\r\nno")]
    {
        let data = dir.file(name, content);
        let args = ["perturb", "--policy", &policy, "--column", "answer", &data, "-o", &out];
        let (code, said) = complaint(&args);
        assert!(code == 1 && said.contains("row 2 (line 3), column \"answer\" is empty"), "{said}");
        assert!(!std::path::Path::new(&out).exists());
        let end = if content.contains('\r') { "\r\n" } else { "\n" };
        let last = if content.ends_with('\n') { end } else { "" };
        let (code, value) = json(&[&args[..], &["--unknown", "skip"]].concat());
        assert_eq!((code, &value["rows"], &value["missing"]), (0, &3.into(), &1.into()));
        assert_eq!(read(&out), format!("answer{end}other{end}other{last}"));
        let (code, value) = json(&[&args[..], &["--unknown", "other"]].concat());
        assert_eq!((code, &value["perturbed"]), (0, &3.into()));
        assert_eq!(read(&out), format!("answer{end}other{end}other{end}other{last}"));
        std::fs::remove_file(&out).unwrap();
    }
    // Without a header, from the first line on; with other columns an empty line is no row.
    let bare = dir.file("c.csv", "\nyes\n");
    let base = ["perturb", "--policy", &policy];
    let (code, said) =
        complaint(&[&base[..], &["--column", "1", &bare, "-o", &out, "--no-header"]].concat());
    assert!(code == 1 && said.contains("row 1 (line 1), column \"1\" is empty"), "{said}");
    let two = dir.file("d.csv", "\nid,answer\n\n1,yes\n\n");
    let (code, value) = json(&[&base[..], &["--column", "answer", &two, "-o", &out]].concat());
    assert_eq!((code, &value["rows"]), (0, &1.into()));
    assert_eq!(read(&out), "answer\nother\n");
}

/// Messages about a person's row name the row and the column, never the value.
#[test]
fn no_message_repeats_an_answer() {
    let dir = Scratch::new("silent");
    let out = dir.path("out.csv");
    let secret = "Zaphod31337";
    let named = dir.file("n.json", &faithful(names(&["yes", "no"])));
    let points = Alphabet::points(decimals(&["0", "1"])).unwrap();
    let points = dir.file("q.json", &faithful(points));
    let indices = dir.file("i.json", &faithful(Alphabet::indices(2).unwrap()));
    let binned = dir.file("b.json", &faithful(bins()));
    let data = dir.file("a.csv", &format!("id,answer\n1,{secret}\n"));
    let silent = |args: &[&str]| {
        let (code, said) = complaint(args);
        assert!(code == 1 && said.contains("row 1 (line 2), column \"answer\" is"), "{said}");
        assert!(!said.contains(secret), "{said}");
    };
    for policy in [&named, &points, &indices, &binned] {
        silent(&["perturb", "--policy", policy, "--column", "answer", &data, "-o", &out]);
        silent(&["estimate", "--policy", policy, "--column", "answer", &data]);
    }
    for symbols in
        [&["--symbols", "yes,no"][..], &["--points", "1,2"], &["--range", "0,9", "--bins", "3"]]
    {
        silent(&[&["prior", "fit", "--column", "answer", &data], symbols].concat());
    }
}

#[test]
fn many_blocks_on_many_threads_keep_the_order_of_rows() {
    let dir = Scratch::new("blocks");
    let mut rows = String::from("id,answer,text\n");
    for at in 0..120_000 {
        let answer = ["red", "green", "blue"][(at * 7 + at / 5) % 3];
        rows += &format!("{at},{answer},\"some text, quoted {at}\"\n");
    }
    let data = dir.file("big.csv", &rows);
    let policy = dir.file("p.json", &constant(names(&["red", "green", "blue"])));
    let expected = rows.replace(",red,", ",blue,").replace(",green,", ",blue,");
    let out = dir.path("out.csv");
    for threads in ["1", "2", "5"] {
        let args = ["perturb", "--policy", &policy, "--column", "answer", &data, "-o", &out];
        let more = ["--threads", threads, "--keep", "id", "--keep", "text"];
        let (code, value) = json(&[&args[..], &more].concat());
        assert_eq!((code, &value["perturbed"]), (0, &120_000.into()));
        assert!(read(&out) == expected, "{threads} threads");
    }
}

#[test]
fn values_without_a_symbol_are_refused_left_out_or_other() {
    let dir = Scratch::new("unknown");
    let data = dir.file("a.csv", "id,answer\n1,yes\n2,\"maybe\"\n3,no\n4,\n5,NaN\n6,no\n");
    let policy = dir.file("p.json", &faithful(names(&["yes", "no", "other"])));
    let small = dir.file("s.json", &faithful(names(&["yes", "no"])));
    let out = dir.path("out.csv");
    let run = |policy: &str, unknown: &str| {
        let args = ["perturb", "--policy", policy, "--column", "answer", &data, "-o", &out];
        json(&[&args[..], &["--unknown", unknown, "--keep", "id"]].concat())
    };
    let (code, value) = run(&policy, "error");
    let said = value["error"].as_str().unwrap();
    assert_eq!(code, 1);
    for part in [
        "row 2 (line 3)",
        "\"answer\" is none of",
        "3 symbols (yes, no, other)",
        "--unknown skip or other",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert!(!std::path::Path::new(&out).exists());
    assert_no_part(&dir);
    let (code, value) = run(&policy, "skip");
    assert_eq!(code, 0);
    assert_eq!(read(&out), "id,answer\n1,yes\n3,no\n6,no\n");
    for (field, count) in
        [("rows", 6), ("perturbed", 3), ("unknown", 1), ("missing", 2), ("skipped", 3)]
    {
        assert_eq!(value[field], count, "{field}");
    }
    let (code, value) = run(&policy, "other");
    assert_eq!((code, &value["skipped"], &value["unknown"]), (0, &0.into(), &1.into()));
    assert_eq!(read(&out), "id,answer\n1,yes\n2,other\n3,no\n4,other\n5,other\n6,no\n");
    // A policy without that symbol cannot.
    let (code, value) = run(&small, "other");
    assert!(code == 2 && value["error"].as_str().unwrap().contains("no symbol \"other\""));
}

#[test]
fn numbers_are_clipped_binned_and_counted() {
    let dir = Scratch::new("bins");
    let data = dir.file("a.csv", "pay\n9999.99\n10000\n19999.999\n2e4\n40000\n1e9\nnan\n-3\n");
    let policy = dir.file("p.json", &faithful(bins()));
    let out = dir.path("out.csv");
    let args = ["perturb", "--policy", &policy, "--column", "pay", &data, "-o", &out];
    let (code, value) = json(&args);
    assert!(code == 1 && value["error"].as_str().unwrap().contains("row 7"), "{value}");
    let (code, value) = json(&[&args[..], &["--unknown", "skip"]].concat());
    assert_eq!(code, 0);
    assert_eq!(read(&out), "pay\n15000\n15000\n15000\n25000.5\n35000\n35000\n15000\n");
    for (field, count) in
        [("clipped", 3), ("clipped_below", 2), ("clipped_above", 1), ("missing", 1), ("rows", 8)]
    {
        assert_eq!(value[field], count, "{field}");
    }
    // Text that is no number is not a number below the range.
    let words = dir.file("w.csv", "pay\nmuch\n");
    let (code, said) =
        complaint(&["perturb", "--policy", &policy, "--column", "pay", &words, "-o", &out]);
    assert!(code == 1 && said.contains("\"pay\" is not a finite number"), "{said}");
    // All of it outside: said, and a warning.
    let cents = dir.file("c.csv", &("pay\n".to_owned() + &"2500000\n2600000\n".repeat(20)));
    let args = ["perturb", "--policy", &policy, "--column", "pay", &cents, "-o", &out];
    let (_, value) = json(&args);
    assert_eq!(value["clipped"], 40);
    assert!(value["warnings"][0].as_str().unwrap().contains("right unit"), "{value}");
    let text = String::from_utf8(undertone(&args).stdout).unwrap();
    assert!(text.contains("above the range") && text.contains("100.00 % of all"), "{text}");
}

#[test]
fn one_column_no_header_gzip_and_pipes() {
    let dir = Scratch::new("ways");
    let policy = dir.file("p.json", &faithful(names(&["yes", "no"])));
    let data = dir.file("a.csv", "id,answer\r\n1,yes\r\n2,no\r\n");
    let base = ["perturb", "--policy", &policy];
    let out = dir.path("out.csv");
    let run = |more: &[&str]| {
        let (code, value) = json(&[&base[..], more].concat());
        assert_eq!(code, 0, "{value}");
    };
    run(&["--column", "answer", &data, "-o", &out, "--only"]);
    assert_eq!(read(&out), "answer\r\nyes\r\nno\r\n");
    let bare = dir.file("b.csv", "1,yes\n2,no");
    run(&["--column", "2", &bare, "-o", &out, "--no-header", "--keep", "1"]);
    assert_eq!(read(&out), "1,yes\n2,no");
    // Nothing at all is no table, with a line of names or without.
    let empty = dir.file("e.csv", "\r\n");
    for (header, missing) in
        [(None, "line of column names"), (Some("--no-header"), "no rows of data")]
    {
        let args = ["--column", "1", &empty, "-o", &out];
        let (code, said) = complaint(&[&base[..], &args, header.as_slice()].concat());
        assert!(code == 1 && said.contains("file is empty: "), "{said}");
        assert!(said.contains(missing), "{said}");
    }
    // Packed again by the name of the output; several members, one file.
    let packed = dir.path("out.csv.gz");
    run(&["--column", "answer", &data, "-o", &packed, "--keep", "id"]);
    let mut text = String::new();
    let file = std::fs::File::open(&packed).unwrap();
    flate2::read::MultiGzDecoder::new(file).read_to_string(&mut text).unwrap();
    assert_eq!(text, read(&data));
    run(&["--column", "answer", &packed, "-o", &out, "--keep", "id"]);
    assert_eq!(read(&out), read(&data));
    let bytes = std::fs::read(&packed).unwrap();
    let torn = dir.path("torn.csv.gz");
    std::fs::write(&torn, &bytes[..bytes.len() - 9]).unwrap();
    std::fs::remove_file(&out).unwrap();
    let (code, said) = complaint(&[&base[..], &["--column", "answer", &torn, "-o", &out]].concat());
    assert!(code == 1 && said.contains("to its end"), "{said}");
    assert!(!std::path::Path::new(&out).exists());
    // Rows on standard output, the summary on standard error.
    let args = [&base[..], &["--column", "answer", "-", "-o", "-"]].concat();
    let (code, stdout, said) = piped(&args, b"answer\nno\nyes\n");
    assert_eq!((code, stdout.as_slice()), (0, &b"answer\nno\nyes\n"[..]));
    assert!(said.contains("perturbed") && said.contains("rows per second"), "{said}");
    let (_, _, said) = piped(&[&args[..], &["--json"]].concat(), b"answer\nno\n");
    assert!(said.contains("\"perturbed\": 1"), "{said}");
    let (code, stdout, _) = piped(&[&args[..], &["--keep", "id"]].concat(), &bytes);
    assert_eq!((code, stdout), (0, read(&data).into_bytes()));
    let (code, _, said) = piped(&args, b"PAR1 and more");
    assert!(code == 1 && said.contains("read from its end"), "{said}");
}

#[test]
fn a_file_may_be_replaced_by_itself() {
    let dir = Scratch::new("self");
    let policy = dir.file("p.json", &constant(names(&["yes", "no"])));
    let data = dir.file("a.csv", "answer\nyes\nno\n");
    let (code, _) =
        json(&["perturb", "--policy", &policy, "--column", "answer", &data, "-o", &data]);
    assert_eq!(code, 0);
    assert_eq!(read(&data), "answer\nno\nno\n");
}

#[test]
fn what_fails_leaves_nothing_and_says_why() {
    let dir = Scratch::new("fails");
    let good = faithful(names(&["yes", "no"]));
    let policy = dir.file("p.json", &good);
    let data = dir.file("a.csv", "id,answer\n1,yes\n2,no\n");
    let out = dir.file("out.csv", "precious");
    let check = |policy: &str, column: &str, data: &str, out: &str, expected: &str| {
        let (code, said) =
            complaint(&["perturb", "--policy", policy, "--column", column, data, "-o", out]);
        assert!(code == 1 && said.contains(expected), "{expected}: {code} {said}");
    };
    check(&policy, "reply", &data, &out, "no column \"reply\"; the columns are id, answer");
    check(&policy, "id", &data, &out, "row 1 (line 2), column \"id\" is none of");
    check(&policy, "answer", &dir.path("none.csv"), &out, "cannot read");
    check(&policy, "answer", &dir.file("e.csv", ""), &out, "the file is empty");
    check(
        &policy,
        "answer",
        &dir.file("r.csv", "id,answer\n1,yes\n2\n"),
        &out,
        "row 2 (line 3) has 1 cells",
    );
    check(
        &policy,
        "answer",
        &dir.file("q.csv", "id,answer\n1,yes\n2,\"no\n"),
        &out,
        "row 2 (line 3) opens a quote",
    );
    check(&policy, "x", &dir.file("t.csv", "x,x\nyes,no\n"), &out, "two columns are called \"x\"");
    let latin = dir.path("latin.csv");
    std::fs::write(&latin, b"answer\nyes\nn\xe3o\n").unwrap();
    check(&policy, "answer", &latin, &out, "row 2 (line 3) is not UTF-8");
    // Someone made the claim stronger than the table: refused before a row is read.
    let ratio = (MASS_ONE - (1 << 17)) / (1 << 17);
    let forged = good.replace("\"22\"", "\"1.0986122887\"");
    assert!(forged != good && ratio > 3, "{good}");
    let (code, said) = complaint(&[
        "perturb",
        "--policy",
        &dir.file("f.json", &forged),
        "--column",
        "answer",
        &data,
        "-o",
        &out,
    ]);
    assert!(code == 1 && said.contains("f.json"), "{said}");
    assert_eq!(read(&out), "precious");
    assert_no_part(&dir);
    // Where nothing can be written.
    check(&policy, "answer", &data, "/no/such/folder/out.csv", "cannot write");
    check(&policy, "answer", &data, &dir.path(""), "is a folder");
    if std::path::Path::new("/dev/full").exists() {
        check(&policy, "answer", &data, "/dev/full", "make room");
    }
    let (code, said) = complaint(&[
        "perturb",
        "--policy",
        &policy,
        "--column",
        "answer",
        &data,
        "-o",
        &dir.path("o.parquet"),
    ]);
    assert!(code == 2 && said.contains("which is CSV"), "{said}");
    let (code, said) = complaint(&[
        "perturb",
        "--policy",
        &policy,
        "--column",
        "answer",
        &data,
        "-o",
        &out,
        "--separator",
        "x",
    ]);
    assert!(code == 2 && said.contains("--separator"), "{said}");
    // Two bins that look alike in the output.
    let alike = Alphabet::bins(decimals(&["0", "1", "2"]), decimals(&["1", "1"])).unwrap();
    let alike = dir.file("alike.json", &constant(alike));
    check(&alike, "id", &data, &out, "written alike");
}

#[test]
fn no_rows_are_no_failure() {
    let dir = Scratch::new("none");
    let policy = dir.file("p.json", &faithful(names(&["yes", "no"])));
    let data = dir.file("a.csv", "id,answer\n");
    let out = dir.path("out.csv");
    let (code, value) =
        json(&["perturb", "--policy", &policy, "--column", "answer", &data, "-o", &out]);
    assert_eq!((code, &value["rows"]), (0, &0.into()));
    assert_eq!(read(&out), "answer\n");
}

#[test]
fn a_sorted_file_is_warned_about() {
    let dir = Scratch::new("sorted");
    let policy = dir.file("p.json", &constant(bins()));
    let out = dir.path("out.csv");
    let pay = |order: &dyn Fn(u64) -> u64| {
        let rows: Vec<String> =
            (0..300).map(|at| format!("{}\n", 10_000 + 100 * order(at))).collect();
        "pay\n".to_owned() + &rows.concat()
    };
    for (name, order, sorted) in [
        ("up", &(|at| at) as &dyn Fn(u64) -> u64, true),
        ("down", &|at| 299 - at, true),
        ("mixed", &|at| at * 97 % 300, false),
    ] {
        let data = dir.file(&format!("{name}.csv"), &pay(order));
        let (_, value) =
            json(&["perturb", "--policy", &policy, "--column", "pay", &data, "-o", &out]);
        let warned = value["warnings"].to_string().contains("shuffle");
        assert_eq!(warned, sorted, "{name}: {value}");
    }
}

#[test]
fn bits_are_written_as_digits() {
    let dir = Scratch::new("bits");
    let ten: Vec<String> = (0..10).map(|at| format!("s{at}")).collect();
    let inputs = names(&ten.iter().map(String::as_str).collect::<Vec<_>>());
    // Every bit is set with the same probability, 0 or 1: the digits are known.
    for (probability, expected) in [(0, "0000"), (WEIGHT_ONE, "ffc0")] {
        let bits = Shape::Bits(Bits::new(10, probability, probability).unwrap());
        let policy = dir.file("p.json", &document(inputs.clone(), bits, "0"));
        let data = dir.file("a.csv", "x,y\ns3,1\ns9,2\n");
        let out = dir.path("out.csv");
        let (code, value) = json(&[
            "perturb", "--policy", &policy, "--column", "x", "--keep", "y", &data, "-o", &out,
        ]);
        assert_eq!(code, 0, "{value}");
        assert_eq!(read(&out), format!("x,y\n{expected},1\n{expected},2\n"));
    }
}

/// The only test that looks at frequencies: a correct build fails it once in 10^9 runs.
#[test]
fn frequencies_are_the_channels() {
    const Z: f64 = 6.11;
    let dir = Scratch::new("noise");
    let keep =
        Keep::new(vec![KEEP_ONE / 4, KEEP_ONE / 2], vec![MASS_ONE / 4, MASS_ONE - MASS_ONE / 4]);
    let policy = dir.file("p.json", &document(names(&["a", "b"]), Shape::Keep(keep.unwrap()), "3"));
    let rows = 40_000;
    for (input, chance) in [("a", 0.25 + 0.75 * 0.25), ("b", 0.5 * 0.25)] {
        let data = dir.file("a.csv", &("x\n".to_owned() + &format!("{input}\n").repeat(rows)));
        let out = dir.path("out.csv");
        let (code, _) = json(&["perturb", "--policy", &policy, "--column", "x", &data, "-o", &out]);
        assert_eq!(code, 0);
        let seen = read(&out).lines().filter(|line| *line == "a").count() as f64;
        let n = rows as f64;
        let error = (n * chance * (1.0 - chance)).sqrt();
        assert!((seen - n * chance).abs() < Z * error, "{input}: {seen} of {n}, chance {chance}");
    }
}

#[cfg(feature = "parquet")]
mod parquet_files;
