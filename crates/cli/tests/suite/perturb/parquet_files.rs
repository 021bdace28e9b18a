//! Parquet: the column re-encoded, kept ones copied, and nothing else.

use std::fs::File;
use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, Int64Type};
use arrow_array::{
    Array, ArrayRef, DictionaryArray, Float64Array, Int64Array, RecordBatch, StringArray,
    TimestampMicrosecondArray,
};
use arrow_schema::DataType;
use arrow_select::concat::concat_batches;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::{Compression, GzipLevel};
use parquet::file::metadata::{KeyValue, ParquetMetaDataReader};
use parquet::file::properties::WriterProperties;

use super::*;

const ANSWERS: [Option<&str>; 7] =
    [Some("yes"), Some("no"), Some("no"), None, Some("yes"), Some("maybe"), Some("no")];

/// Seven rows of many kinds of columns.
fn rows(answers: &[Option<&str>]) -> RecordBatch {
    let size = answers.len();
    let mut tags = ListBuilder::new(StringBuilder::new());
    for at in 0..size {
        (0..at % 3).for_each(|tag| tags.values().append_value(format!("t{tag}")));
        tags.append(at % 4 != 3);
    }
    let category: DictionaryArray<Int32Type> =
        (0..size).map(|at| Some(["a", "b"][at % 2])).collect();
    let when =
        TimestampMicrosecondArray::from_iter_values((0..size as i64).map(|at| at * 1_000_003));
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("id", Arc::new(Int64Array::from_iter_values(0..size as i64))),
        ("tags", Arc::new(tags.finish())),
        ("answer", Arc::new(StringArray::from(answers.to_vec()))),
        ("category", Arc::new(category)),
        ("when", Arc::new(when.with_timezone("+00:00"))),
        (
            "pay",
            Arc::new(Float64Array::from_iter_values(
                (0..size).map(|at| 9_000.0 + 6_000.0 * at as f64),
            )),
        ),
        ("grade", Arc::new(Int64Array::from_iter_values((0..size as i64).map(|at| at % 3)))),
    ];
    RecordBatch::try_from_iter(columns).unwrap()
}

/// Row groups of four rows.
fn write(path: &str, batch: &RecordBatch, properties: WriterProperties) {
    let mut writer =
        ArrowWriter::try_new(File::create(path).unwrap(), batch.schema(), Some(properties))
            .unwrap();
    for from in (0..batch.num_rows()).step_by(4) {
        writer.write(&batch.slice(from, 4.min(batch.num_rows() - from))).unwrap();
        writer.flush().unwrap();
    }
    writer.close().unwrap();
}

fn all(path: &str) -> RecordBatch {
    let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(path).unwrap())
        .unwrap()
        .build()
        .unwrap();
    let schema = arrow_array::RecordBatchReader::schema(&reader);
    let batches: Vec<RecordBatch> = reader.map(Result::unwrap).collect();
    concat_batches(&schema, &batches).unwrap()
}

fn texts(batch: &RecordBatch, column: &str) -> Vec<String> {
    let column = batch.column_by_name(column).unwrap().as_string::<i32>();
    column.iter().map(|text| text.unwrap_or("(null)").to_owned()).collect()
}

const GROUPS: usize = 2;

/// All columns of `rows` but the answer.
const OTHERS: [&str; 12] = [
    "--keep", "id", "--keep", "tags", "--keep", "category", "--keep", "when", "--keep", "pay",
    "--keep", "grade",
];

#[test]
fn the_column_changes_and_kept_ones_do_not() {
    let dir = Scratch::new("pq");
    let known: Vec<Option<&str>> =
        ANSWERS.iter().map(|a| a.filter(|a| *a != "maybe").or(Some("no"))).collect();
    let batch = rows(&known);
    let (data, out) = (dir.path("a.parquet"), dir.path("out.parquet"));
    let policy = dir.file("p.json", &constant(names(&["yes", "no"])));
    for compression in
        [Compression::UNCOMPRESSED, Compression::SNAPPY, Compression::GZIP(GzipLevel::default())]
    {
        let properties = WriterProperties::builder()
            .set_compression(compression)
            .set_bloom_filter_enabled(true)
            .set_key_value_metadata(Some(vec![KeyValue::new(
                "made by".into(),
                "a test".to_owned(),
            )]));
        write(&data, &batch, properties.build());
        let (code, value) = json(
            &[
                &["perturb", "--policy", &policy, "--column", "answer", &data, "-o", &out],
                &OTHERS[..],
            ]
            .concat(),
        );
        assert_eq!((code, &value["perturbed"]), (0, &7.into()), "{value}");
        let (before, after) = (all(&data), all(&out));
        assert_eq!(before.schema(), after.schema());
        for (at, field) in before.schema().fields().iter().enumerate() {
            if field.name() == "answer" {
                assert_eq!(texts(&after, "answer"), vec!["no"; 7]);
            } else {
                assert_eq!(before.column(at), after.column(at), "{}", field.name());
            }
        }
        let about = |path: &str| {
            ParquetMetaDataReader::new().parse_and_finish(&File::open(path).unwrap()).unwrap()
        };
        let (was, is) = (about(&data), about(&out));
        assert_eq!(is.num_row_groups(), GROUPS);
        for group in 0..GROUPS {
            for leaf in 0..was.row_group(group).num_columns() {
                let (was, is) =
                    (was.row_group(group).column(leaf), is.row_group(group).column(leaf));
                assert_eq!(was.compression_codec(), is.compression_codec());
                assert!(was.bloom_filter_offset().is_some());
                if is.column_path().string() == "answer" {
                    // Neither the statistics nor the filter of the raw values survive.
                    assert!(is.bloom_filter_offset().is_none());
                    let stats = is.statistics().unwrap();
                    assert_eq!(stats.min_bytes_opt(), Some(&b"no"[..]));
                    assert_eq!(stats.max_bytes_opt(), Some(&b"no"[..]));
                } else {
                    assert_eq!(was.compressed_size(), is.compressed_size());
                    assert_eq!(was.statistics(), is.statistics());
                    assert!(is.bloom_filter_offset().is_some());
                }
            }
        }
        let notes = is.file_metadata().key_value_metadata().unwrap();
        let note = |key: &str| {
            notes.iter().find(|note| note.key == key).and_then(|note| note.value.clone())
        };
        assert_eq!(note("made by"), None);
        assert_eq!(value["notes_left_out"], serde_json::json!(["made by"]));
        assert_eq!(note("undertone.policy.answer").as_deref(), value["policy_id"].as_str());
    }
    // The raw bytes are nowhere in the output.
    let bytes = std::fs::read(&out).unwrap();
    assert!(!bytes.windows(3).any(|window| window == b"yes"));
    // What was perturbed once is not perturbed again.
    let (code, said) = complaint(&[
        "perturb",
        "--policy",
        &policy,
        "--column",
        "answer",
        &out,
        "-o",
        &dir.path("o2.parquet"),
    ]);
    assert!(code == 1 && said.contains("was perturbed already"), "{said}");
    let (code, said) = complaint(&[
        "perturb",
        "--policy",
        &policy,
        "--column",
        "answer",
        &data,
        "-o",
        &dir.path("o.csv"),
    ]);
    assert!(code == 2 && said.contains("which is Parquet"), "{said}");
}

/// Group a says what is asked, group b always the same, and lists its symbols in another order.
#[test]
fn rows_have_the_policies_of_their_groups() {
    let dir = Scratch::new("pq-groups");
    let known: Vec<Option<&str>> =
        ANSWERS.iter().map(|a| a.filter(|a| *a != "maybe").or(Some("no"))).collect();
    let batch = rows(&known);
    let (data, out) = (dir.path("a.parquet"), dir.path("out.parquet"));
    write(&data, &batch, WriterProperties::builder().build());
    dir.file("a.json", &faithful(names(&["yes", "no"])));
    dir.file("b.json", &constant(names(&["no", "yes"])));
    let by = format!("category={}", dir.file("map.json", r#"{"a": "a.json", "b": "b.json"}"#));
    let perturb = ["perturb", "--policy-by", &by, "--column", "answer", "--least-group", "1"];
    let (code, value) = json(&[&perturb[..], &["--keep", "category", &data, "-o", &out]].concat());
    assert_eq!((code, &value["groups"][1]["perturbed"]), (0, &3.into()), "{value}");
    let after = all(&out);
    assert_eq!(texts(&after, "answer"), ["yes", "yes", "no", "yes", "yes", "yes", "no"]);
    assert_eq!(after.column_by_name("category"), batch.column_by_name("category"));
    assert_eq!(after.num_columns(), 2);
    // Three of a group are fewer than the least, and then nothing is written.
    std::fs::remove_file(&out).unwrap();
    let few = ["--keep", "category", &data, "-o", &out];
    let perturb = ["perturb", "--policy-by", &by, "--column", "answer", "--least-group", "4"];
    let (code, said) = complaint(&[&perturb[..], &few[..]].concat());
    assert!(code == 1 && said.contains("b (3)") && !said.contains("a (4)"), "{said}");
    assert!(!std::path::Path::new(&out).exists());
    // A group that the map does not know is refused, whatever else is skipped.
    let by = format!("category={}", dir.file("half.json", r#"{"a": "a.json"}"#));
    let perturb = ["perturb", "--policy-by", &by, "--column", "answer", "--unknown", "skip"];
    let (code, said) = complaint(&[&perturb[..], &[&data, "-o", &out]].concat());
    assert!(code == 1 && said.contains("row 2, column \"category\" names no group"), "{said}");
}

#[test]
fn unknown_values_and_nulls_are_refused_left_out_or_other() {
    let dir = Scratch::new("pq-unknown");
    let (data, out) = (dir.path("a.parquet"), dir.path("out.parquet"));
    write(&data, &rows(&ANSWERS), WriterProperties::default());
    let policy = dir.file("p.json", &faithful(names(&["yes", "no", "other"])));
    let run = |more: &[&str]| {
        let args = ["perturb", "--policy", &policy, "--column", "answer", &data, "-o", &out];
        json(&[&args[..], more].concat())
    };
    let (code, value) = run(&[]);
    let said = value["error"].as_str().unwrap();
    assert!(code == 1 && said.contains("row 4, column \"answer\" is empty or NaN"), "{said}");
    assert!(!std::path::Path::new(&out).exists());
    assert_no_part(&dir);
    let (code, value) = run(&[&["--unknown", "skip"], &OTHERS[..]].concat());
    assert_eq!(code, 0, "{value}");
    for (field, count) in
        [("rows", 7), ("perturbed", 5), ("unknown", 1), ("missing", 1), ("skipped", 2)]
    {
        assert_eq!(value[field], count, "{field}");
    }
    // Whole rows are gone, of every column.
    let (before, after) = (all(&data), all(&out));
    assert_eq!(before.schema(), after.schema());
    assert_eq!(texts(&after, "answer"), ["yes", "no", "no", "yes", "no"]);
    let kept = arrow_array::BooleanArray::from(vec![true, true, true, false, true, false, true]);
    for (at, field) in before.schema().fields().iter().enumerate() {
        let expected = arrow_select::filter::filter(before.column(at), &kept).unwrap();
        assert_eq!(&expected, after.column(at), "{}", field.name());
    }
    let (code, _) = run(&["--unknown", "skip", "--only"]);
    assert_eq!(code, 0);
    let alone = all(&out);
    assert_eq!((alone.num_columns(), texts(&alone, "answer").len()), (1, 5));
    let (code, value) = run(&["--unknown", "other"]);
    assert_eq!((code, &value["skipped"]), (0, &0.into()));
    assert_eq!(texts(&all(&out), "answer"), ["yes", "no", "no", "other", "yes", "other", "no"]);
}

#[test]
fn numbers_of_every_kind_are_read_and_released_as_numbers() {
    let dir = Scratch::new("pq-numbers");
    let (data, out) = (dir.path("a.parquet"), dir.path("out.parquet"));
    write(&data, &rows(&ANSWERS), WriterProperties::default());
    let run = |policy: &str, column: &str, more: &[&str]| {
        let policy = dir.file("p.json", policy);
        let args = ["perturb", "--policy", &policy, "--column", column, &data, "-o", &out];
        let (code, value) = json(&[&args[..], more].concat());
        assert_eq!(code, 0, "{value}");
        (all(&out).column_by_name(column).unwrap().clone(), value)
    };
    // Floats into bins, one of whose values is no whole number.
    let (pay, value) = run(&faithful(bins()), "pay", &[]);
    assert_eq!(
        pay.as_primitive::<Float64Type>().values().as_ref(),
        [15_000.0, 15_000.0, 25_000.5, 25_000.5, 35_000.0, 35_000.0, 35_000.0]
    );
    assert_eq!((&value["clipped_below"], &value["clipped_above"]), (&1.into(), &1.into()));
    // Whole numbers as points, as indices, and as names.
    let points = Alphabet::points(decimals(&["0", "1", "2"])).unwrap();
    for alphabet in [points, Alphabet::indices(3).unwrap()] {
        let (grade, _) = run(&faithful(alphabet), "grade", &[]);
        assert_eq!(grade.as_primitive::<Int64Type>().values().as_ref(), [0, 1, 2, 0, 1, 2, 0]);
    }
    let (grade, value) = run(&faithful(names(&["0", "2"])), "grade", &["--unknown", "skip"]);
    assert_eq!(value["unknown"], 2);
    assert_eq!(
        grade.as_string::<i32>().iter().flatten().collect::<Vec<_>>(),
        ["0", "2", "0", "2", "0"]
    );
    // A dictionary, a time.
    let (category, _) = run(&constant(names(&["b", "a"])), "category", &[]);
    assert_eq!(category.len(), 7);
    let (when, _) = run(&constant(names(&["z"])), "when", &["--unknown", "skip"]);
    assert_eq!(when.len(), 0);
}

#[test]
fn bits_are_digits_here_too() {
    let dir = Scratch::new("pq-bits");
    let (data, out) = (dir.path("a.parquet"), dir.path("out.parquet"));
    write(&data, &rows(&[Some("yes"), Some("no")]), WriterProperties::default());
    let bits = Shape::Bits(Bits::new(2, WEIGHT_ONE, WEIGHT_ONE).unwrap());
    let policy = dir.file("p.json", &document(names(&["yes", "no"]), bits, "0"));
    let (code, _) =
        json(&["perturb", "--policy", &policy, "--column", "answer", &data, "-o", &out]);
    assert_eq!(code, 0);
    let after = all(&out);
    assert_eq!(texts(&after, "answer"), ["c0", "c0"]);
    assert_eq!(after.column_by_name("answer").unwrap().data_type(), &DataType::Utf8);
}

#[test]
fn columns_that_are_no_columns_are_refused() {
    let dir = Scratch::new("pq-bad");
    let (data, out) = (dir.path("a.parquet"), dir.path("out.parquet"));
    write(&data, &rows(&ANSWERS), WriterProperties::default());
    let policy = dir.file("p.json", &faithful(names(&["yes", "no"])));
    let check = |column: &str, data: &str, out: &str, expected: &str| {
        let (code, said) =
            complaint(&["perturb", "--policy", &policy, "--column", column, data, "-o", out]);
        assert!(code == 1 && said.contains(expected), "{expected}: {said}");
    };
    check("tags", &data, &out, "holds lists, not one value per row");
    check("reply", &data, &out, "the columns are id, tags, answer");
    check("id", &data, &out, "row 1, column \"id\" is none of");
    check("answer", &data, "/no/such/folder/out.parquet", "cannot write");
    let bytes = std::fs::read(&data).unwrap();
    let torn = dir.path("torn.parquet");
    std::fs::write(&torn, &bytes[..bytes.len() - 20]).unwrap();
    check("answer", &torn, &out, "torn.parquet");
    if std::path::Path::new("/dev/full").exists() {
        let known = dir.path("known.parquet");
        write(&known, &rows(&[Some("yes"); 7]), WriterProperties::default());
        check("answer", &known, "/dev/full", "make room");
    }
    assert!(!std::path::Path::new(&out).exists());
    assert_no_part(&dir);
}

#[test]
fn a_file_without_rows_keeps_its_columns() {
    let dir = Scratch::new("pq-none");
    let (data, out) = (dir.path("a.parquet"), dir.path("out.parquet"));
    write(&data, &rows(&ANSWERS).slice(0, 0), WriterProperties::default());
    let policy = dir.file("p.json", &faithful(names(&["yes", "no"])));
    let (code, value) = json(
        &[&["perturb", "--policy", &policy, "--column", "answer", &data, "-o", &out], &OTHERS[..]]
            .concat(),
    );
    assert_eq!((code, &value["rows"]), (0, &0.into()));
    assert_eq!(all(&out).schema(), all(&data).schema());
}

/// Whatever pandas, Spark, Arrow or a person wrote into the file beside its rows stays at home, and so do
/// the columns that are not named.
#[test]
fn nothing_a_file_says_about_itself_is_copied() {
    const SECRET: &str = "Zaphod31337";
    let dir = Scratch::new("pq-notes");
    let (data, out) = (dir.path("a.parquet"), dir.path("out.parquet"));
    let noted = |field: &arrow_schema::Field| {
        let notes = [("comment", SECRET), ("PARQUET:field_id", "7")];
        let notes = notes.map(|(key, value)| (key.to_owned(), value.to_owned()));
        field.clone().with_metadata(std::collections::HashMap::from(notes))
    };
    let plain = rows(&[Some("yes"), Some("no"), None, Some("no")]);
    let mut fields: Vec<_> = plain.schema().fields().iter().map(|field| noted(field)).collect();
    // Notes about a part of a nested column, too.
    let DataType::List(item) = fields[1].data_type().clone() else { panic!() };
    fields[1] = fields[1].clone().with_data_type(DataType::List(Arc::new(noted(&item))));
    let columns = plain
        .columns()
        .iter()
        .zip(&fields)
        .map(|(column, field)| arrow_cast::cast(column, field.data_type()).unwrap());
    let about = std::collections::HashMap::from([("owner".to_owned(), SECRET.to_owned())]);
    let schema = Arc::new(arrow_schema::Schema::new_with_metadata(fields.clone(), about));
    let batch = RecordBatch::try_new(schema, columns.collect()).unwrap();
    let policy = dir.file("p.json", &constant(names(&["yes", "no"])));
    let id = "0123456789abcdef".repeat(4);
    let notes = [
        ("pandas", SECRET),
        ("org.apache.spark.sql.parquet.row.metadata", SECRET),
        ("undertone.policy.pay", SECRET),
        ("undertone.policy.grade", &id),
        ("undertone.policy.id", &id),
    ];
    let notes = notes.map(|(key, value)| KeyValue::new(key.to_owned(), value.to_owned()));
    let properties = WriterProperties::builder().set_key_value_metadata(Some(notes.to_vec()));
    write(&data, &batch, properties.build());
    let bytes = std::fs::read(&data).unwrap();
    let found =
        |bytes: &[u8], text: &str| bytes.windows(text.len()).any(|at| at == text.as_bytes());
    assert!(found(&bytes, SECRET));
    // The Arrow schema is kept in base64.
    let hidden = |path: &str| {
        let about = ParquetMetaDataReader::new().parse_and_finish(&File::open(path).unwrap());
        let about = about.unwrap();
        let notes = about.file_metadata().key_value_metadata().cloned().unwrap_or_default();
        let note = notes.iter().find(|note| note.key == "ARROW:schema").cloned();
        let text = note.and_then(|note| note.value).unwrap();
        (unpacked(&text), notes.into_iter().map(|note| note.key).collect::<Vec<_>>())
    };
    assert!(found(&hidden(&data).0, SECRET));
    let base = ["perturb", "--policy", &policy, "--column", "answer", &data, "-o", &out];
    // Left out rows make kept columns be written anew instead of copied.
    let args = [&base[..], &["--unknown", "skip"]].concat();
    for (keep, kept_notes) in [
        (&[][..], &[][..]),
        (&["--keep", "grade", "--keep", "tags", "--keep", "pay"], &["undertone.policy.grade"][..]),
    ] {
        let (code, value) = json(&[&args[..], keep].concat());
        assert_eq!(code, 0, "{value}");
        let bytes = std::fs::read(&out).unwrap();
        let (arrow, notes) = hidden(&out);
        assert!(!found(&bytes, SECRET) && !found(&arrow, SECRET), "{keep:?}");
        let mut expected = kept_notes.to_vec();
        expected.extend(["ARROW:schema", "undertone.policy.answer"]);
        assert_eq!(notes, expected);
        assert!(!found(&bytes, "category") && !found(&arrow, "category"), "{keep:?}");
        let left_out = value["notes_left_out"].as_array().unwrap().len();
        assert_eq!(left_out, 5 - kept_notes.len(), "{value}");
        let (before, after) = (all(&data), all(&out));
        let stay = arrow_array::BooleanArray::from(vec![true, true, false, true]);
        for name in keep.iter().filter(|name| **name != "--keep") {
            let was = arrow_select::filter::filter(before.column_by_name(name).unwrap(), &stay);
            let is = after.column_by_name(name).unwrap();
            assert_eq!(&arrow_cast::cast(&was.unwrap(), is.data_type()).unwrap(), is, "{name}");
        }
        // Numbers that tables are joined by are no secret.
        let answer = after.schema().field_with_name("answer").unwrap().clone();
        assert_eq!(answer.metadata().get("PARQUET:field_id").map(String::as_str), Some("7"));
        assert_eq!(answer.metadata().len(), 1);
    }
    let said = String::from_utf8(undertone(&args).stdout).unwrap();
    assert!(
        said.contains("left out: what the file says about itself (pandas, org.apache"),
        "{said}"
    );
}

/// Base64 by the book.
fn unpacked(text: &str) -> Vec<u8> {
    let digits = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let values: Vec<usize> =
        text.bytes().filter_map(|byte| digits.iter().position(|digit| *digit == byte)).collect();
    let group = |group: &[usize]| {
        let bits = group.iter().fold(0, |bits, value| bits << 6 | value) << (6 * (4 - group.len()));
        (0..group.len() - 1).map(|at| (bits >> (16 - 8 * at)) as u8).collect::<Vec<_>>()
    };
    values.chunks(4).filter(|part| part.len() > 1).flat_map(group).collect()
}
