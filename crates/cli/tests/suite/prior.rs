//! `undertone prior`: from data to a prior file that every command reads.
use crate::common::{Scratch, close, complaint, json, root, undertone};
use serde_json::Value;

const ANSWERS: &str =
    "id,region,answer\n1,north,yes\n2,north,no\n3,south,no\n4,south,no\n5,north,no\n";

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect()
}

fn texts(value: &Value) -> Vec<&str> {
    value.as_array().unwrap().iter().map(|v| v.as_str().unwrap()).collect()
}

#[test]
fn a_column_becomes_a_prior_with_its_uncertainty() {
    let dir = Scratch::new("fit");
    let mut rows = String::from("answer\n");
    (0..1000).for_each(|at| rows += if at % 10 == 0 { "yes\n" } else { "no\n" });
    let data = dir.file("a.csv", &rows);
    let out = dir.path("prior.json");
    let (code, value) =
        json(&["prior", "fit", "--column", "answer", &data, "-o", &out, "--date", "2026-01-31"]);
    assert_eq!(code, 0);
    assert_eq!(texts(&value["symbols"]), ["no", "yes"]);
    assert_eq!(numbers(&value["p"]), [0.9, 0.1]);
    assert_eq!((&value["n"], &value["counts"][1]), (&Value::from(1000), &Value::from(100)));
    // SciPy 1.17: beta.ppf(.025, 100, 901), beta.isf(.025, 101, 900).
    assert!((value["lower"][1].as_f64().unwrap() - 0.08210533435558001).abs() < 1e-10);
    assert!((value["upper"][1].as_f64().unwrap() - 0.12028793651869264).abs() < 1e-10);
    close(&value["radius"], (2.0 / 1000.0 * (2f64 / 0.05).ln()).sqrt());
    assert_eq!(value["floored"], Value::Array(vec![]));
    assert_eq!(value["source"], "column answer of a.csv");
    // The file is the printed record, and is read wherever a prior is.
    let file: Value = serde_json::from_str(&std::fs::read_to_string(&out).unwrap()).unwrap();
    assert_eq!(file, value);
    let (code, relation) = json(&["relate", "--from", "lip:1", "--to", "ldp", "--prior", &out]);
    assert_eq!(code, 0);
    close(&relation["epsilon"], 1.2118577304);
    let (code, _) = json(&["transfer", "--from", &out, "--to", &out, "--epsilon", "1"]);
    assert_eq!(code, 0);
}

#[test]
fn unknown_fields_of_a_prior_are_still_refused_and_boxes_are_checked() {
    let dir = Scratch::new("fields");
    for (content, expected) in [
        (r#"{"symbols":["a","b"],"p":[0.5,0.5],"prior":1}"#, "unknown field `prior`"),
        (r#"{"symbols":["a","b"],"p":[0.5,0.5],"counts":[1]}"#, "counts has 1 entries"),
        (r#"{"symbols":["a","b"],"p":[0.5,0.5],"lower":[0,0]}"#, "both ends"),
        (r#"{"symbols":["a","b"],"p":[0.5,0.5],"lower":[0,0],"upper":[1,1]}"#, "beta"),
        (
            r#"{"symbols":["a","b"],"p":[0.5,0.5],"lower":[0.6,0],"upper":[0.5,1],"beta":0.05}"#,
            "upper[0]",
        ),
        (
            r#"{"symbols":["a","b"],"p":[0.5,0.5],"lower":[0,0],"upper":[0.4,0.4],"beta":0.05}"#,
            "no prior lies",
        ),
        (r#"{"symbols":["a","b"],"p":[0.5,0.5],"lower":[0,0],"upper":[1,1],"beta":1.5}"#, "beta"),
        (r#"{"symbols":["a"],"p":[0.5,0.5]}"#, "symbols has 1 entries"),
        ("[0.5,0.6]", "sums to 1.1"),
        ("", "expected a prior"),
    ] {
        let path = dir.file("p.json", content);
        let (code, said) =
            complaint(&["transfer", "--from", &path, "--to", &path, "--epsilon", "1"]);
        assert!(code == 1 && said.contains(expected), "{content}: {code} {said}");
    }
}

#[test]
fn unseen_symbols_are_floored_in_the_open() {
    let dir = Scratch::new("floor");
    let data = dir.file("a.csv", ANSWERS);
    let args = ["prior", "fit", "--column", "answer", &data, "--symbols", "no,yes,maybe"];
    let (_, value) = json(&args);
    assert_eq!(value["floored"][0]["symbol"], "maybe");
    close(&value["floored"][0]["to"], 0.5 / 5.5);
    close(&value["p"][2], 0.5 / 5.5);
    let text = String::from_utf8(undertone(&args).stdout).unwrap();
    assert!(text.contains("never seen: maybe") && text.contains("half an observation"), "{text}");
    let smoothed = [&args[..], &["--smoothing", "1"]].concat();
    let (_, value) = json(&smoothed);
    close(&value["p"][2], 1.0 / 8.0);
    assert_eq!(value["floored"], Value::Array(vec![]));
}

#[test]
fn bad_files_are_refused_with_row_and_reason() {
    let dir = Scratch::new("bad");
    let good = dir.file("good.csv", ANSWERS);
    let empty = dir.file("empty.csv", "");
    let header_only = dir.file("header.csv", "answer\n");
    let ragged = dir.file("ragged.csv", "a,b\n1,2\n3\n");
    let gap = dir.file("gap.csv", "a,b\n1,2\n3,\n");
    let nan = dir.file("nan.csv", "v\n1\n2\nNaN\n");
    let words = dir.file("words.csv", "v\n1\ntwo\n");
    let binary = dir.path("latin.csv");
    std::fs::write(&binary, b"v\nplain\n\xe9t\xe9\n").unwrap();
    let fit = |column: &str, path: &str, more: &[&str]| {
        complaint(&[&["prior", "fit", "--column", column, path], more].concat())
    };
    let refused = |(code, said): (i32, String), expected: &[&str]| {
        assert_eq!(code, 1, "{said}");
        expected.iter().for_each(|text| assert!(said.contains(text), "{said} has no {text}"));
    };
    refused(fit("reply", &good, &[]), &["no column \"reply\"", "id, region, answer"]);
    refused(fit("answer", &empty, &[]), &["empty"]);
    refused(fit("answer", &header_only, &[]), &["no rows"]);
    refused(fit("a", &ragged, &[]), &["row 2 (line 3)", "1 cells", "2"]);
    refused(fit("b", &gap, &[]), &["row 2 (line 3)", "empty or NaN", "--unknown skip"]);
    refused(fit("v", &nan, &["--range", "0,4", "--bins", "2"]), &["row 3 (line 4)", "NaN"]);
    refused(
        fit("v", &words, &["--range", "0,4", "--bins", "2"]),
        &["row 2 (line 3)", "column \"v\"", "not a number"],
    );
    refused(fit("v", &words, &["--points", "1,2"]), &["row 2", "not a number"]);
    refused(
        fit("v", &words, &["--symbols", "1,2"]),
        &["row 2", "column \"v\"", "not one of the symbols"],
    );
    refused(fit("v", &binary, &[]), &["row 2 (line 3)", "UTF-8"]);
    refused(fit("v", "/no/such/file.csv", &[]), &["cannot read"]);
    refused(fit("v", &nan, &["--unknown", "skip", "--symbols", "9"]), &["every row was skipped"]);
    for usage in [
        &["--beta", "0"][..],
        &["--beta", "nan"],
        &["--smoothing", "-1"],
        &["--range", "4,0", "--bins", "2"],
        &["--range", "0,4"],
        &["--range", "0", "--bins", "2"],
        &["--range", "0,4", "--bins", "0"],
        &["--range", "0,4", "--bins", "2", "--unknown", "other"],
        &["--points", "2,1"],
        &["--points", "1,x"],
        &["--symbols", "a,a"],
        &["--symbols", "a", "--points", "1"],
        &["--separator", "é"],
        &["--min-group", "5"],
    ] {
        let (code, said) = fit("v", &nan, usage);
        assert_eq!(code, 2, "{usage:?}: {said}");
    }
}

#[test]
fn unknown_values_are_skipped_or_counted_as_other_when_asked() {
    let dir = Scratch::new("unknown");
    let data = dir.file("a.csv", "v\na\nb\n\nc\na\nNaN\n");
    // In a file of one column a blank line is somebody who did not answer.
    let base = ["prior", "fit", "--column", "v", &data, "--symbols", "a,b"];
    let (_, value) = json(&[&base[..], &["--unknown", "skip"]].concat());
    assert_eq!((&value["n"], &value["skipped"]), (&Value::from(3), &Value::from(3)));
    let (_, value) = json(&[&base[..], &["--unknown", "other"]].concat());
    assert_eq!(texts(&value["symbols"]), ["a", "b", "other"]);
    assert_eq!(numbers(&value["counts"]), [2.0, 1.0, 3.0]);
}

#[test]
fn numbers_fall_into_points_and_bins_as_on_the_device() {
    let dir = Scratch::new("bins");
    let data = dir.file("v.csv", "v\n-3\n0\n24.9\n25\n1e2\n100\n250\n");
    let (_, value) =
        json(&["prior", "fit", "--column", "v", &data, "--range", "0,100", "--bins", "4"]);
    assert_eq!(numbers(&value["counts"]), [3.0, 1.0, 0.0, 3.0]);
    assert_eq!(numbers(&value["edges"]), [0.0, 25.0, 50.0, 75.0, 100.0]);
    assert_eq!(numbers(&value["values"]), [12.5, 37.5, 62.5, 87.5]);
    assert_eq!(texts(&value["symbols"]), ["12.5", "37.5", "62.5", "87.5"]);
    assert_eq!(value["clipped"], serde_json::json!([1, 1]));
    assert_eq!(value["floored"][0]["symbol"], "62.5");
    let scale = dir.file("s.csv", "v\n5\n1\n3.0\n1\n");
    let (_, value) = json(&["prior", "fit", "--column", "v", &scale, "--points", "1,2,3,4,5"]);
    assert_eq!(numbers(&value["counts"]), [2.0, 0.0, 1.0, 0.0, 1.0]);
    // Found values are sorted as numbers when they are numbers.
    let found = dir.file("f.csv", &format!("v\n{}", "10\n9\n100\n9\n".repeat(5)));
    let (_, value) = json(&["prior", "fit", "--column", "v", &found]);
    assert_eq!(texts(&value["symbols"]), ["9", "10", "100"]);
    assert_eq!(numbers(&value["values"]), [9.0, 10.0, 100.0]);
}

#[test]
fn separators_headers_spaces_and_standard_input() {
    let dir = Scratch::new("forms");
    let semicolon = dir.file("s.csv", "\"a\";\"b\"\n1;\"x;y\"\n2; z \n");
    let (_, value) = json(&["prior", "fit", "--column", "b", &semicolon]);
    assert_eq!(texts(&value["symbols"]), ["x;y", "z"]);
    let bare = dir.file("n.csv", "1, x\n2, y\n3, x\n");
    let (_, value) = json(&["prior", "fit", "--no-header", "--column", "2", &bare]);
    assert_eq!(
        (texts(&value["symbols"]), numbers(&value["counts"])),
        (vec!["x", "y"], vec![2.0, 1.0])
    );
    let pipe = dir.file("p.csv", "\u{feff}a|b\n1|x\n");
    let (_, value) = json(&["prior", "fit", "--separator", "|", "--column", "a", &pipe]);
    assert_eq!(value["n"], 1);
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_undertone"))
        .args(["prior", "fit", "--column", "answer", "-", "--json"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), ANSWERS.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (&value["n"], &value["source"]),
        (&Value::from(5), &Value::from("column answer of standard input"))
    );
}

#[test]
fn groups_have_priors_of_their_own_and_share_equal_ones() {
    let dir = Scratch::new("groups");
    let mut rows = String::from("region,sex,answer\n");
    let mut add = |region: &str, sex: &str, yes: u32, no: u32| {
        (0..yes).for_each(|_| rows += &format!("{region},{sex},yes\n"));
        (0..no).for_each(|_| rows += &format!("{region},{sex},no\n"));
    };
    add("north", "f", 20, 80);
    add("south", "f", 40, 160);
    add("east", "m", 50, 50);
    add("west", "m", 1, 1);
    add("isle", "f", 0, 2);
    let data = dir.file("a.csv", &rows);
    let folder = dir.path("priors");
    let args = [
        "prior",
        "fit",
        "--column",
        "answer",
        &data,
        "--group",
        "region",
        "--group",
        "sex",
        "--min-group",
        "50",
        "-o",
        &folder,
    ];
    let (code, value) = json(&args);
    assert_eq!(code, 0);
    let groups = value["groups"].as_array().unwrap();
    let find =
        |region: &str| groups.iter().find(|group| group["group"]["region"] == region).unwrap();
    assert_eq!(groups.len(), 4);
    assert_eq!(find("north")["prior"], find("south")["prior"], "equal priors share an entry");
    assert_ne!(find("north")["prior"], find("east")["prior"]);
    let other = groups.last().unwrap();
    assert_eq!(other["group"]["other"].as_array().unwrap().len(), 2);
    assert_eq!(other["rows"], 4);
    // The shared entry speaks for the smaller sample.
    let shared = &value["priors"][find("north")["prior"].as_u64().unwrap() as usize];
    assert_eq!(shared["n"], 100);
    assert_eq!(numbers(&shared["p"]), [0.8, 0.2]);
    for group in groups {
        let file = std::path::Path::new(&folder).join(group["file"].as_str().unwrap());
        let file = file.to_str().unwrap();
        let (code, _) = json(&["transfer", "--from", file, "--to", file, "--epsilon", "1"]);
        assert_eq!(code, 0, "{file}");
    }
    let text = String::from_utf8(undertone(&args).stdout).unwrap();
    for said in
        ["2 groups with fewer than 50 rows", "equal priors, one file", "other", "only 4 rows"]
    {
        assert!(text.contains(said), "{said}: {text}");
    }
}

#[test]
fn mixtures_blend_priors_and_what_is_known_about_them() {
    let dir = Scratch::new("mix");
    let a = dir.file("a.json", r#"{"symbols":["x","y"],"p":[0.2,0.8],"n":10,"lower":[0.1,0.7],"upper":[0.3,0.9],"radius":0.2,"beta":0.01}"#);
    let b = dir.file("b.json", r#"{"symbols":["y","x"],"p":[0.4,0.6],"n":30,"lower":[0.2,0.4],"upper":[0.6,0.8],"radius":0.4,"beta":0.02}"#);
    let out = dir.path("m.json");
    let (code, value) = json(&["prior", "mix", &a, &b, "--weights", "0.25,0.75", "-o", &out]);
    assert_eq!(code, 0);
    assert_eq!(texts(&value["symbols"]), ["x", "y"]);
    close(&value["p"][0], 0.5);
    close(&value["lower"][0], 0.25 * 0.1 + 0.75 * 0.4);
    close(&value["radius"], 0.35);
    close(&value["beta"], 0.03);
    assert_eq!(value["n"], 40);
    let (code, _) = json(&["transfer", "--from", &out, "--to", &out, "--epsilon", "1"]);
    assert_eq!(code, 0);
    let bare = dir.file("c.json", "[0.5,0.5]");
    let (_, value) = json(&["prior", "mix", &a, &bare, "--weights", "0.5,0.5"]);
    assert!(value.get("lower").is_none());
    let other = dir.file("d.json", r#"{"symbols":["x","z"],"p":[0.5,0.5]}"#);
    let (code, said) = complaint(&["prior", "mix", &a, &other, "--weights", "0.5,0.5"]);
    assert!(code == 1 && said.contains("\"y\" is missing"), "{said}");
    let three = dir.file("e.json", "[0.5,0.25,0.25]");
    assert_eq!(complaint(&["prior", "mix", &a, &three, "--weights", "0.5,0.5"]).0, 1);
    for weights in ["0.5", "0.5,0.6", "-1,2", "nan,1"] {
        let (code, said) = complaint(&["prior", "mix", &a, &b, &format!("--weights={weights}")]);
        assert_eq!(code, 2, "{weights}: {said}");
    }
}

#[cfg(feature = "parquet")]
mod parquet_files {
    use super::*;
    use parquet::basic::{Compression, GzipLevel};
    use parquet::data_type::{ByteArrayType, DoubleType, Int64Type};
    use parquet::file::properties::WriterProperties;
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;
    use std::sync::Arc;

    const SCHEMA: &str = "message rows { REQUIRED INT64 id; OPTIONAL BYTE_ARRAY answer (UTF8); REQUIRED DOUBLE score; REPEATED INT64 tags; }";

    /// Two row groups of `ids`, answers cycling no, no, yes; the last answer of each is null.
    fn write(path: &str, compression: Compression) {
        let schema = Arc::new(parse_message_type(SCHEMA).unwrap());
        let properties = WriterProperties::builder().set_compression(compression).build();
        let file = std::fs::File::create(path).unwrap();
        let mut writer = SerializedFileWriter::new(file, schema, Arc::new(properties)).unwrap();
        for _ in 0..2 {
            let mut group = writer.next_row_group().unwrap();
            let mut column = group.next_column().unwrap().unwrap();
            column.typed::<Int64Type>().write_batch(&[0, 1, 2, 3], None, None).unwrap();
            column.close().unwrap();
            let mut column = group.next_column().unwrap().unwrap();
            let answers = ["no", "no", "yes"].map(Into::into);
            column
                .typed::<ByteArrayType>()
                .write_batch(&answers, Some(&[1, 1, 1, 0]), None)
                .unwrap();
            column.close().unwrap();
            let mut column = group.next_column().unwrap().unwrap();
            column
                .typed::<DoubleType>()
                .write_batch(&[0.5, 1.5, 2.5, f64::NAN], None, None)
                .unwrap();
            column.close().unwrap();
            let mut column = group.next_column().unwrap().unwrap();
            column.typed::<Int64Type>().write_batch(&[], Some(&[0; 4]), Some(&[0; 4])).unwrap();
            column.close().unwrap();
            group.close().unwrap();
        }
        writer.close().unwrap();
    }

    #[test]
    fn plain_snappy_and_gzip_files_are_read() {
        let dir = Scratch::new("parquet");
        let gzip = Compression::GZIP(GzipLevel::default());
        for compression in
            [Compression::UNCOMPRESSED, Compression::SNAPPY, gzip, Compression::LZ4_RAW]
        {
            let path = dir.path("rows.parquet");
            write(&path, compression);
            let (code, value) =
                json(&["prior", "fit", "--column", "answer", &path, "--unknown", "skip"]);
            assert_eq!(code, 0, "{compression:?}");
            assert_eq!(texts(&value["symbols"]), ["no", "yes"]);
            assert_eq!(numbers(&value["counts"]), [4.0, 2.0]);
            assert_eq!(value["skipped"], 2);
        }
        let path = dir.path("rows.parquet");
        let (_, value) = json(&[
            "prior",
            "fit",
            "--column",
            "score",
            &path,
            "--range",
            "0,3",
            "--bins",
            "3",
            "--unknown",
            "skip",
        ]);
        assert_eq!(numbers(&value["counts"]), [2.0, 2.0, 2.0]);
        let (_, value) = json(&[
            "prior",
            "fit",
            "--column",
            "score",
            &path,
            "--range",
            "0,3",
            "--bins",
            "3",
            "--group",
            "answer",
            "--min-group",
            "1",
            "--unknown",
            "skip",
        ]);
        // The rows without an answer have no score either: that group has nothing to count.
        assert_eq!(value["groups"].as_array().unwrap().len(), 2);
    }

    #[test]
    fn missing_columns_nulls_and_lists_are_refused() {
        let dir = Scratch::new("parquet-bad");
        let path = dir.path("rows.parquet");
        write(&path, Compression::SNAPPY);
        for (column, expected) in [
            ("reply", "the columns are id, answer, score, tags"),
            ("answer", "row 4, column \"answer\" is empty or NaN"),
            ("score", "row 4"),
            ("tags", "holds lists"),
        ] {
            let (code, said) = complaint(&["prior", "fit", "--column", column, &path]);
            assert!(code == 1 && said.contains(expected), "{column}: {said}");
        }
        let bytes = std::fs::read(&path).unwrap();
        std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
        let (code, said) = complaint(&["prior", "fit", "--column", "id", &path]);
        assert!(code == 1 && said.contains("rows.parquet"), "{said}");
    }
}

/// Counts from the descriptions of the shared data sets; those files are not part of the repository.
#[test]
fn real_data_sets_have_the_published_counts() {
    let data = root().join("../shared/data");
    if !data.is_dir() {
        println!("skipped: no ../shared/data");
        return;
    }
    let path = |name: &str| data.join(name).to_str().unwrap().to_owned();
    let (_, value) = json(&["prior", "fit", "--column", "sex", &path("student/student-mat.csv")]);
    assert_eq!(
        (texts(&value["symbols"]), numbers(&value["counts"])),
        (vec!["F", "M"], vec![208.0, 187.0])
    );
    let (_, value) =
        json(&["prior", "fit", "--column", "15", "--no-header", &path("adult/adult.data.gz")]);
    assert_eq!(numbers(&value["counts"]), [24720.0, 7841.0]);
    assert_eq!(texts(&value["symbols"]), ["<=50K", ">50K"]);
    let salaries = path("baltimore_salaries/baltimore_fy2019_noname.csv.gz");
    let (_, value) = json(&[
        "prior",
        "fit",
        "--column",
        "gross_pay",
        "--range",
        "0,260776",
        "--bins",
        "20",
        "--unknown",
        "skip",
        &salaries,
    ]);
    assert_eq!((&value["n"], &value["skipped"]), (&Value::from(13_811 - 653), &Value::from(653)));
    let (_, value) = json(&[
        "prior",
        "fit",
        "--column",
        "G3",
        "--group",
        "school",
        "--points",
        "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20",
        &path("student/student-por.csv"),
    ]);
    let rows: Vec<_> =
        value["groups"].as_array().unwrap().iter().map(|g| g["rows"].as_u64().unwrap()).collect();
    assert_eq!(rows, [423, 226]);
    // UCI's test file begins with a line that is no row.
    let (code, said) =
        complaint(&["prior", "fit", "--column", "15", "--no-header", &path("adult/adult.test.gz")]);
    assert!(code == 1, "{said}");
}
