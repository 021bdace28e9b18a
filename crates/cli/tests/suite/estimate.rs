//! `undertone estimate`: files of known counts, so that every number can be checked.
use std::io::Write;
use std::process::{Command, Stdio};

use crate::common::{Scratch, complaint, json, root, undertone};
use serde_json::Value;
use undertone_core::{
    Alphabet, Bits, Claim, Context, Decimal, Draft, Epsilon, KEEP_ONE, Keep, MASS_ONE, Prior,
    Provenance, Shape, Table, WEIGHT_ONE,
};

fn document(inputs: Alphabet, shape: Shape, context: Context, epsilon: &str) -> String {
    let claims = vec![Claim::ldp(Epsilon::parse(epsilon).unwrap())];
    let draft = Draft::new(inputs, None, shape, context, claims, Provenance::default()).unwrap();
    draft.verify().unwrap().draft().to_json()
}

fn names(list: &[&str]) -> Alphabet {
    Alphabet::names(list.iter().copied()).unwrap()
}

/// Randomised response over a, b, c, d that keeps a share of 1/`part` of the answers.
fn randomised(part: u64, prior: Option<[u64; 4]>) -> String {
    let shape = Shape::Keep(Keep::new(vec![KEEP_ONE / part; 4], vec![MASS_ONE / 4; 4]).unwrap());
    let context = prior.map_or(Context::Unknown, |parts| {
        Context::Known(Prior::new(parts.map(|p| p * (WEIGHT_ONE / 16)).to_vec()).unwrap())
    });
    document(names(&["a", "b", "c", "d"]), shape, context, "3")
}

/// A column `y` with the labels so many times each, mixed.
fn column(counts: &[(&str, usize)]) -> String {
    let mut left: Vec<(&str, usize)> = counts.to_vec();
    let mut rows = String::from("y\n");
    while left.iter().any(|(_, count)| *count > 0) {
        for (label, count) in &mut left {
            if *count > 0 {
                rows += &format!("{label}\n");
                *count -= 1;
            }
        }
    }
    rows
}

const COUNTS: [(&str, usize); 4] = [("a", 302), ("b", 150), ("c", 101), ("d", 125)];

fn values(list: &Value) -> Vec<f64> {
    list.as_array().unwrap().iter().map(|entry| entry["value"].as_f64().unwrap()).collect()
}

#[track_caller]
fn near(found: f64, expected: f64, within: f64) {
    assert!((found - expected).abs() <= within, "{found} is not {expected}");
}

#[test]
fn shares_are_inverted_and_all_answers_are_there() {
    let dir = Scratch::new("shares");
    let policy = dir.file("p.json", &randomised(2, Some([4, 4, 4, 4])));
    let data = dir.file("y.csv", &column(&COUNTS));
    let (code, value) = json(&["estimate", "--policy", &policy, "--column", "y", &data]);
    assert_eq!(code, 0, "{value}");
    assert_eq!(
        (&value["reports"], &value["rows"], &value["skipped"]),
        (&678.into(), &678.into(), &0.into())
    );
    // Half of the answers are kept, the others are even: share = (frequency - 1/8) / (1/2).
    let expected: Vec<f64> =
        COUNTS.iter().map(|(_, n)| (*n as f64 / 678.0 - 0.125) / 0.5).collect();
    for field in ["headline", "unbiased", "mle"] {
        for (found, expected) in values(&value[field]["shares"]).iter().zip(&expected) {
            near(*found, *expected, 1e-9);
        }
    }
    assert_eq!(value["headline"]["method"], "mle");
    assert_eq!(value["headline"]["shares"][1]["symbol"], "b");
    for share in value["headline"]["shares"].as_array().unwrap() {
        let at = |field: &str| share[field].as_f64().unwrap();
        assert!(at("low") < at("value") && at("value") < at("high"), "{share}");
    }
    // With the prior: each report's posterior, added up.
    let law = |own: f64| 0.25 * own;
    let posterior: f64 = COUNTS
        .iter()
        .map(|(label, n)| *n as f64 * law(if *label == "a" { 0.625 } else { 0.125 }) / 0.25)
        .sum();
    near(value["mmse"]["shares"][0]["value"].as_f64().unwrap(), posterior / 678.0, 1e-9);
    assert!(value["mmse"]["label"].as_str().unwrap().contains("right only if the prior is"));
    assert!(value["drift"]["policies"][0]["prior"]["p_value"].as_f64().unwrap() < 1e-6);
    assert!(value["warnings"][0].as_str().unwrap().contains("contradict the prior"));
    assert_eq!(value["level"], 0.95);
    let text = String::from_utf8(
        undertone(&[
            "estimate",
            "--policy",
            &policy,
            "--column",
            "y",
            &data,
            "--population",
            "1000",
        ])
        .stdout,
    )
    .unwrap();
    for part in [
        "678 reports",
        "maximum likelihood",
        "64.1",
        "█",
        "warning:",
        "With the prior",
        "prior %",
        "people",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

/// Expected ten per cent, truly twenty: the headline says twenty, the prior drags its own estimate to
/// .112 however many people answer, and says whose fault that is.
#[test]
fn a_rate_is_never_read_off_the_prior() {
    let dir = Scratch::new("wrong");
    let policy = root().join("examples/rare-answer.json");
    let policy = policy.to_str().unwrap();
    let (_, audit) = json(&["audit", policy]);
    let (_, shown) = json(&["policy", "show", policy]);
    assert!(audit.is_object() && shown.is_object());
    let document: Value = serde_json::from_str(&std::fs::read_to_string(policy).unwrap()).unwrap();
    let rows = document["channel"]["masses"].as_array().unwrap();
    let mass = |x: usize, y: usize| rows[x][y].as_u64().unwrap() as f64 / MASS_ONE as f64;
    for people in [20_000.0, 200_000.0] {
        let yes = (people * (0.8 * mass(0, 1) + 0.2 * mass(1, 1))).round();
        let tally = format!(
            "{{\"undertone\":\"tally/1\",\"policy\":{},\"kind\":\"indices\",\"reports\":{people},\"counts\":[{},{yes}]}}",
            document["id"],
            people - yes
        );
        let tally = dir.file("t.json", &tally);
        let (code, value) = json(&["estimate", "--policy", policy, "--tally", &tally]);
        assert_eq!(code, 0, "{value}");
        near(value["headline"]["shares"][1]["value"].as_f64().unwrap(), 0.2, 2e-4);
        near(value["mmse"]["shares"][1]["value"].as_f64().unwrap(), 0.112, 5e-4);
        assert_eq!(value["drift"]["drifted"], true);
    }
}

#[test]
fn splits_tallies_formats_and_threads_agree() {
    let dir = Scratch::new("split");
    let policy = dir.file("p.json", &randomised(2, None));
    let whole = dir.file("y.csv", &column(&COUNTS));
    let text = column(&COUNTS);
    let lines: Vec<&str> = text.lines().skip(1).collect();
    let part = |name: &str, lines: &[&str]| dir.file(name, &format!("y\n{}\n", lines.join("\n")));
    let (one, two) = (part("1.csv", &lines[..100]), part("2.csv", &lines[100..]));
    let run = |more: &[&str]| {
        let (code, mut value) =
            json(&[&["estimate", "--policy", &policy, "--column", "y"][..], more].concat());
        assert_eq!(code, 0, "{value}");
        value["rows"] = Value::Null;
        value
    };
    let expected = run(&[&whole]);
    assert_eq!(run(&[&one, &two, "--threads", "3"]), expected);
    let (a, b) = (dir.path("a.json"), dir.path("b.json"));
    run(&[&one, "--save-tally", &a]);
    assert_eq!(run(&[&two, "--tally", &a]), expected);
    run(&[&two, "--save-tally", &b]);
    assert_eq!(run(&["--tally", &a, "--tally", &b]), expected);
    // From standard input.
    let mut child = Command::new(env!("CARGO_BIN_EXE_undertone"))
        .args(["estimate", "--policy", &policy, "--column", "y", "-", "--json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let mut value: Value = serde_json::from_slice(&output.stdout).unwrap();
    value["rows"] = Value::Null;
    assert_eq!(value, expected);
}

#[test]
fn several_policies_make_one_estimate() {
    let dir = Scratch::new("pool");
    let first = dir.file("first.json", &randomised(2, None));
    let second = dir.file("second.json", &randomised(4, None));
    let (_, shown) = json(&["policy", "verify", &second]);
    let id = shown["policy_id"].as_str().unwrap();
    // Rows say which policy by the file's name or by the id.
    let mut rows = String::from("who,y\n");
    let other: [(&str, usize); 4] = [("a", 90), ("b", 80), ("c", 70), ("d", 60)];
    for (name, counts) in [("first", COUNTS), (id, other)] {
        for (label, count) in counts {
            rows += &format!("{name},{label}\n").repeat(count);
        }
    }
    let data = dir.file("both.csv", &rows);
    let args = ["estimate", "--policy", &first, "--policy", &second];
    let (code, pooled) =
        json(&[&args[..], &["--column", "y", "--policy-column", "who", &data]].concat());
    assert_eq!(code, 0, "{pooled}");
    assert_eq!(pooled["reports"], 978);
    let mut reports: Vec<u64> = pooled["policies"]
        .as_array()
        .unwrap()
        .iter()
        .map(|policy| policy["reports"].as_u64().unwrap())
        .collect();
    reports.sort_unstable();
    assert_eq!(reports, [300, 678]);
    // The same through tallies.
    let (one, two) = (dir.file("1.csv", &column(&COUNTS)), dir.file("2.csv", &column(&other)));
    let (a, b) = (dir.path("a.json"), dir.path("b.json"));
    json(&["estimate", "--policy", &first, "--column", "y", &one, "--save-tally", &a]);
    json(&["estimate", "--policy", &second, "--column", "y", &two, "--save-tally", &b]);
    let both = dir.path("both.json");
    let (code, tallied) =
        json(&[&args[..], &["--tally", &a, "--tally", &b, "--save-tally", &both]].concat());
    assert_eq!(code, 0, "{tallied}");
    assert_eq!(tallied["headline"], pooled["headline"]);
    let (_, again) = json(&[&args[..], &["--tally", &both]].concat());
    assert_eq!(again, tallied);
    // Mistakes.
    let check = |more: &[&str], code: i32, expected: &str| {
        let (found, said) = complaint(&[&args[..], more].concat());
        assert!(found == code && said.contains(expected), "{expected}: {said}");
    };
    check(&["--column", "y", &data], 2, "--policy-column");
    check(&["--column", "y", "--policy-column", "how", &data], 1, "no column \"how\"");
    let third = dir.file("third.csv", "who,y\nfirst,a\nthird,b\n");
    check(
        &["--column", "y", "--policy-column", "who", &third],
        1,
        "row 2 (line 3), column \"who\" names none of the policies",
    );
    let (code, said) = complaint(&["estimate", "--policy", &first, "--tally", &b]);
    assert!(code == 1 && said.contains("which is not given"), "{said}");
    let (code, said) = complaint(&[
        "estimate",
        "--policy",
        &first,
        "--policy",
        &first,
        "--column",
        "y",
        "--policy-column",
        "who",
        &data,
    ]);
    assert!(code == 2 && said.contains("given twice"), "{said}");
    let torn = dir.file("torn.json", "{\"undertone\":\"tally/1\"}");
    check(&["--tally", &torn], 1, "torn.json");
}

#[test]
fn cells_that_are_no_reports_are_refused_or_counted() {
    let dir = Scratch::new("tokens");
    let policy = dir.file("p.json", &randomised(2, None));
    let data = dir.file("y.csv", "id,y\n1,a\n2,e\n3,\n4,b\n5,c\n");
    let args = ["estimate", "--policy", &policy, "--column", "y", &data];
    let (code, said) = complaint(&args);
    for part in [
        "row 2 (line 3)",
        "column \"y\" is none",
        "none of the policy's 4 outputs (a, b, c, d)",
        "--unknown skip",
    ] {
        assert!(code == 1 && said.contains(part), "{part}: {said}");
    }
    let (code, value) = json(&[&args[..], &["--unknown", "skip"]].concat());
    assert_eq!(code, 0, "{value}");
    for (field, count) in
        [("rows", 5), ("reports", 3), ("skipped", 2), ("unknown", 1), ("missing", 1)]
    {
        assert_eq!(value[field], count, "{field}");
    }
    assert!(value["warnings"].to_string().contains("2 of 5 rows were skipped"), "{value}");
    // The wrong column throughout, and no rows at all.
    let (code, said) =
        complaint(&["estimate", "--policy", &policy, "--column", "id", &data, "--unknown", "skip"]);
    assert!(code == 1 && said.contains("every one of 5 rows was skipped"), "{said}");
    let empty = dir.file("e.csv", "y\n");
    let (code, said) = complaint(&["estimate", "--policy", &policy, "--column", "y", &empty]);
    assert!(code == 1 && said.contains("no reports"), "{said}");
    for (more, expected) in [
        (&["--level", "1"][..], "--level"),
        (&["--level", "nan"], "--level"),
        (&["--quantiles", "0.5,1"], "--quantiles"),
        (&["--above", "1.5"], "--above"),
    ] {
        let (code, said) = complaint(&[&args[..], &["--unknown", "skip"], more].concat());
        assert!(code == 2 && said.contains(expected), "{more:?}: {code} {said}");
    }
    let (code, said) = complaint(&["estimate", "--policy", &policy, &data]);
    assert!(code == 2 && said.contains("--column"), "{said}");
}

/// Bins whose noise is negligible: mean, variance and quantiles are those of the file.
#[test]
fn numbers_have_means_variances_quantiles_and_a_histogram() {
    let dir = Scratch::new("numbers");
    let edge = |at: usize| format!("{}", 100 * at).parse::<Decimal>().unwrap();
    let value = |at: usize| format!("{}", 100 * at + 50).parse::<Decimal>().unwrap();
    let size = 40;
    let bins = Alphabet::bins((0..=size).map(edge).collect(), (0..size).map(value).collect());
    let rare = 1u64 << 17;
    let row = |x: usize| {
        let mut row = vec![rare; size];
        row[x] = MASS_ONE - rare * (size as u64 - 1);
        row
    };
    let table = Table::from_masses((0..size).map(row).collect()).unwrap();
    let policy = document(bins.unwrap(), Shape::Table(table), Context::Unknown, "22");
    let policy = dir.file("p.json", &policy);
    let shape = |x: usize| 10 + 3 * (x as i64 - 12).pow(2).min(100) as usize;
    let mut rows = String::from("y\n");
    let (mut n, mut sum, mut squares) = (0.0, 0.0, 0.0);
    for x in 0..size {
        rows += &format!("{}\n", 100 * x + 50).repeat(shape(x));
        let (count, v) = (shape(x) as f64, (100 * x + 50) as f64);
        (n, sum, squares) = (n + count, sum + count * v, squares + count * v * v);
    }
    let data = dir.file("y.csv", &rows);
    let svg = dir.path("y.svg");
    let args = ["estimate", "--policy", &policy, "--column", "y", &data];
    let (code, found) = json(
        &[
            &args[..],
            &["--quantiles", "0.5", "--plot", &svg, "--respondents", "--population", "1000"],
        ]
        .concat(),
    );
    assert_eq!(code, 0, "{found}");
    let (mean, variance) = (sum / n, squares / n - (sum / n).powi(2));
    for place in
        [&found["mean"], &found["headline"], &found["unbiased"]["mean"], &found["mle"]["mean"]]
    {
        near(place["value"].as_f64().unwrap(), mean, 1e-3);
    }
    near(found["variance"]["value"].as_f64().unwrap(), variance, 1e-3 * variance);
    near(found["population"]["sum"]["value"].as_f64().unwrap(), 1000.0 * mean, 1.0);
    // The median lies where half of the file is below it.
    let median = found["quantiles"][0]["value"].as_f64().unwrap();
    let below: f64 = (0..size)
        .map(|x| {
            let (from, to) = ((100 * x) as f64, (100 * x + 100) as f64);
            shape(x) as f64 * ((median - from) / (to - from)).clamp(0.0, 1.0)
        })
        .sum();
    near(below / n, 0.5, 1e-3);
    let bars = found["histogram"].as_array().unwrap();
    assert_eq!((bars.len(), &bars[3]["from"], &bars[3]["to"]), (40, &300.0.into(), &400.0.into()));
    near(bars[3]["share"]["value"].as_f64().unwrap(), shape(3) as f64 / n, 1e-6);
    // For people, neighbours are taken together.
    let merged = found["merged"].as_array().unwrap();
    assert_eq!((merged.len(), &merged[1]["symbol"]), (20, &"200 to 400".into()));
    near(merged[1]["value"].as_f64().unwrap(), (shape(2) + shape(3)) as f64 / n, 1e-6);
    assert_eq!(found["target"], "respondents");
    let picture = std::fs::read_to_string(&svg).unwrap();
    for text in ["y: estimate from", "mean and interval", "share of each bin", "4000"] {
        assert!(picture.contains(text), "{text}");
    }
    let text = String::from_utf8(undertone(&args).stdout).unwrap();
    for part in ["mean", "variance", "quantile 0.25", "Every 2 neighbours of 40 bins"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn heavy_hitters_levels_and_pictures() {
    let dir = Scratch::new("heavy");
    let policy = dir.file("p.json", &randomised(2, Some([4, 4, 4, 4])));
    let data = dir.file("y.csv", &column(&[("a", 5000), ("b", 1900), ("c", 1550), ("d", 1550)]));
    let svg = dir.path("y.svg");
    let args = ["estimate", "--policy", &policy, "--column", "y", &data, "--plot", &svg];
    let (code, value) = json(&[&args[..], &["--above", "0.2"]].concat());
    assert_eq!(code, 0, "{value}");
    let heavy = &value["heavy_hitters"];
    assert_eq!(
        (heavy["symbols"].as_array().unwrap().len(), &heavy["symbols"][0]["symbol"]),
        (1, &"a".into())
    );
    assert!(heavy["symbols"][0]["p_value"].as_f64().unwrap() < 0.05);
    let width = |value: &Value| {
        let share = &value["headline"]["shares"][0];
        share["high"].as_f64().unwrap() - share["low"].as_f64().unwrap()
    };
    let (_, wide) = json(&[&args[..], &["--level", "0.99"]].concat());
    let (_, all) = json(&[&args[..], &["--all"]].concat());
    let (_, these) = json(&[&args[..], &["--respondents"]].concat());
    assert!(width(&wide) > 1.2 * width(&value) && width(&all) > 1.2 * width(&value));
    assert!(width(&these) < width(&value));
    let picture = std::fs::read_to_string(&svg).unwrap();
    for text in
        ["10 000 perturbed answers", "prior (assumed)", "estimate and interval", "contradict"]
    {
        assert!(picture.contains(text), "{text}");
    }
    let (code, said) = complaint(&[
        "estimate",
        "--policy",
        &policy,
        "--column",
        "y",
        &data,
        "--plot",
        "/no/such/y.svg",
    ]);
    assert!(code == 1 && said.contains("cannot write"), "{said}");
}

#[test]
fn bits_are_read_from_digits() {
    let dir = Scratch::new("digits");
    let bits = Shape::Bits(Bits::new(10, WEIGHT_ONE / 2, WEIGHT_ONE / 4).unwrap());
    let policy = document(Alphabet::indices(10).unwrap(), bits, Context::Unknown, "1.1");
    let policy = dir.file("p.json", &policy);
    // 60 reports set bit 0, 40 set bits 1 and 9.
    let data = dir.file("y.csv", &column(&[("8000", 60), ("4040", 40)]));
    let (code, value) = json(&["estimate", "--policy", &policy, "--column", "y", &data]);
    assert_eq!(code, 0, "{value}");
    // Unbiased: (frequency - 1/4) / (1/2 - 1/4).
    let found = values(&value["unbiased"]["shares"]);
    for (x, share) in [(0, 0.6), (1, 0.4), (9, 0.4), (2, 0.0)] {
        // What comes out beyond [0, 1] is printed as the nearest possible share.
        near(found[x], ((share - 0.25) / 0.25f64).clamp(0.0, 1.0), 1e-9);
    }
    assert_eq!(value["mmse"], Value::Null);
    for bad in ["80", "80000", "8g00", "8001", "zz"] {
        let data = dir.file("bad.csv", &format!("y\n8000\n{bad}\n"));
        let (code, said) = complaint(&["estimate", "--policy", &policy, "--column", "y", &data]);
        assert!(code == 1 && said.contains("4 hexadecimal digits for 10 bits"), "{bad}: {said}");
        let (_, value) =
            json(&["estimate", "--policy", &policy, "--column", "y", &data, "--unknown", "skip"]);
        assert_eq!((&value["reports"], &value["unknown"]), (&1.into(), &1.into()), "{bad}");
    }
}

#[cfg(feature = "parquet")]
mod parquet_files {
    use super::*;
    use std::sync::Arc;

    use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
    use parquet::arrow::ArrowWriter;
    use parquet::file::metadata::KeyValue;
    use parquet::file::properties::WriterProperties;

    fn write(path: &str, columns: Vec<(&str, ArrayRef)>, note: Option<(&str, &str)>) {
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let note = note.map(|(key, value)| vec![KeyValue::new(key.into(), value.to_owned())]);
        let properties = WriterProperties::builder()
            .set_key_value_metadata(note)
            .set_max_row_group_row_count(Some(100))
            .build();
        let file = std::fs::File::create(path).unwrap();
        let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
    }

    fn labels() -> Vec<Option<String>> {
        column(&COUNTS).lines().skip(1).map(|line| Some(line.to_owned())).collect()
    }

    #[test]
    fn columns_are_counted_and_their_policy_is_checked() {
        let dir = Scratch::new("pq-count");
        let policy = dir.file("p.json", &randomised(2, None));
        let other = dir.file("o.json", &randomised(4, None));
        let csv = dir.file("y.csv", &column(&COUNTS));
        let (_, shown) = json(&["policy", "verify", &policy]);
        let id = shown["policy_id"].as_str().unwrap();
        let data = dir.path("y.parquet");
        let texts: ArrayRef = Arc::new(StringArray::from(labels()));
        write(&data, vec![("y", texts.clone())], Some(("undertone.policy.y", id)));
        let run = |data: &str| json(&["estimate", "--policy", &policy, "--column", "y", data]);
        assert_eq!(run(&data), run(&csv));
        let (code, said) = complaint(&["estimate", "--policy", &other, "--column", "y", &data]);
        assert!(
            code == 1 && said.contains("was perturbed under policy") && said.contains(id),
            "{said}"
        );
        // Two policies, told apart by a column.
        let who: Vec<&str> = (0..labels().len()).map(|at| ["p", "o"][at % 2]).collect();
        let rows: String =
            who.iter().zip(labels()).map(|(who, y)| format!("{who},{}\n", y.unwrap())).collect();
        let csv = dir.file("both.csv", &format!("who,y\n{rows}"));
        write(&data, vec![("who", Arc::new(StringArray::from(who))), ("y", texts)], None);
        let run = |data: &str| {
            json(&[
                "estimate",
                "--policy",
                &policy,
                "--policy",
                &other,
                "--column",
                "y",
                "--policy-column",
                "who",
                data,
            ])
        };
        let found = run(&data);
        assert_eq!(found.0, 0, "{}", found.1);
        assert_eq!(found, run(&csv));
    }

    #[test]
    fn numbers_bits_nulls_and_strangers() {
        let dir = Scratch::new("pq-cells");
        let keep = Shape::Keep(
            Keep::new(vec![KEEP_ONE / 2; 3], vec![MASS_ONE / 4, MASS_ONE / 4, MASS_ONE / 2])
                .unwrap(),
        );
        let policy = document(Alphabet::indices(3).unwrap(), keep, Context::Unknown, "3");
        let policy = dir.file("p.json", &policy);
        let data = dir.path("y.parquet");
        let cells = [Some(0), Some(2), None, Some(1), Some(3), Some(2)];
        write(&data, vec![("y", Arc::new(Int64Array::from(cells.to_vec())))], None);
        let args = ["estimate", "--policy", &policy, "--column", "y", &data];
        let (code, said) = complaint(&args);
        assert!(code == 1 && said.contains("row 3, column \"y\" is empty or NaN"), "{said}");
        let (code, value) = json(&[&args[..], &["--unknown", "skip"]].concat());
        assert_eq!(code, 0, "{value}");
        assert_eq!(
            (&value["reports"], &value["unknown"], &value["missing"]),
            (&4.into(), &1.into(), &1.into())
        );
        let bits = Shape::Bits(Bits::new(3, WEIGHT_ONE / 2, WEIGHT_ONE / 4).unwrap());
        let policy = document(names(&["a", "b", "c"]), bits, Context::Unknown, "1.1");
        let policy = dir.file("b.json", &policy);
        write(&data, vec![("y", Arc::new(StringArray::from(vec!["80", "60", "e0"])))], None);
        let (code, value) = json(&["estimate", "--policy", &policy, "--column", "y", &data]);
        assert_eq!(code, 0, "{value}");
        // (2/3 - 1/4) / (1/4) is above 1: the nearest possible share is.
        near(values(&value["unbiased"]["shares"])[0], 1.0, 1e-9);
        near(values(&value["unbiased"]["shares"])[1], 1.0, 1e-9);
    }
}
