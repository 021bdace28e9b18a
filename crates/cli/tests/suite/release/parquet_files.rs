//! Parquet: the questions' columns re-encoded, kept ones copied, items that a row does not answer null.

use std::fs::File;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow_select::concat::concat_batches;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::file::metadata::ParquetMetaDataReader;

use super::*;

/// Row groups of five rows.
fn write(path: &str, columns: Vec<(&str, ArrayRef)>) {
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut writer =
        ArrowWriter::try_new(File::create(path).unwrap(), batch.schema(), None).unwrap();
    for from in (0..batch.num_rows()).step_by(5) {
        writer.write(&batch.slice(from, 5.min(batch.num_rows() - from))).unwrap();
        writer.flush().unwrap();
    }
    writer.close().unwrap();
}

fn all(path: &str) -> RecordBatch {
    let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(path).unwrap()).unwrap();
    let reader = reader.build().unwrap();
    let schema = arrow_array::RecordBatchReader::schema(&reader);
    let batches: Vec<RecordBatch> = reader.map(Result::unwrap).collect();
    concat_batches(&schema, &batches).unwrap()
}

fn texts(batch: &RecordBatch, column: &str) -> Vec<String> {
    let column = batch.column_by_name(column).unwrap().as_string::<i32>();
    column.iter().map(|text| text.unwrap_or("-").to_owned()).collect()
}

fn names_of(batch: &RecordBatch) -> Vec<String> {
    batch.schema().fields().iter().map(|field| field.name().clone()).collect()
}

/// Twelve people; `town` is missing for one of them if asked for.
fn people(missing: bool) -> Vec<(&'static str, ArrayRef)> {
    let town = |at: usize| match at {
        7 if missing => None,
        _ => Some(["a, b", "c × d", "other"][at % 3]),
    };
    vec![
        ("id", Arc::new(Int64Array::from_iter_values(100..112))),
        ("age", Arc::new(Float64Array::from_iter_values((0..12).map(|at| f64::from(at) * 2.5)))),
        ("note", Arc::new(StringArray::from_iter_values((0..12).map(|at| format!("n{at}"))))),
        ("town", Arc::new(StringArray::from_iter((0..12).map(town)))),
        (
            "smokes",
            Arc::new(StringArray::from_iter_values((0..12).map(|at| ["no", "yes"][at % 2]))),
        ),
    ]
}

#[test]
fn questions_are_drawn_and_kept_columns_copied() {
    let dir = Scratch::new("release-pq");
    let (data, out) = (dir.path("a.parquet"), dir.path("out.parquet"));
    let plan = dir.file("plan.json", &single());
    write(&data, people(false));
    let args = ["release", "--plan", &plan, &data, "-o", &out, "--keep", "id"];
    let (code, value) = json(&args);
    assert_eq!(code, 0, "{value}");
    let (before, after) = (all(&data), all(&out));
    assert_eq!(names_of(&after), ["id", "age", "town", "smokes"]);
    assert_eq!(after.column(0), before.column(0));
    assert_eq!(texts(&after, "town"), texts(&before, "town"));
    assert_eq!(texts(&after, "smokes"), texts(&before, "smokes"));
    let ages = after.column(1).as_primitive::<Int64Type>();
    let expected: Vec<i64> = (0..12).map(|at| 5 + 10 * (at * 5 / 20)).collect();
    assert_eq!(ages.values().to_vec(), expected);
    assert_eq!((&value["kept"][0]["unique"], &value["kept"][0]["rows"]), (&1.0.into(), &12.into()));
    assert_eq!(value["left_out"], serde_json::json!(["note"]));
    // It says under which plan, and is not released a second time.
    let about = ParquetMetaDataReader::new().parse_and_finish(&File::open(&out).unwrap()).unwrap();
    let notes = about.file_metadata().key_value_metadata().unwrap();
    let note = notes.iter().find(|note| note.key == "undertone.plan.town").unwrap();
    assert_eq!(note.value.as_deref(), value["plan_id"].as_str());
    let again = dir.path("again.parquet");
    let (code, said) = complaint(&["release", "--plan", &plan, &out, "-o", &again]);
    assert!(code == 1 && said.contains("was perturbed already"), "{said}");
    // A kept column under another name.
    let mut columns = people(false);
    columns.push(("copy", columns[4].1.clone()));
    write(&data, columns);
    let (code, said) =
        complaint(&["release", "--plan", &plan, &data, "-o", &again, "--keep", "copy"]);
    assert!(code == 2 && said.contains("\"copy\": that column is equal to \"smokes\""), "{said}");
    // A column of another type.
    let mut columns = people(false);
    columns[1].1 = Arc::new(StringArray::from(vec!["old"; 12]));
    write(&data, columns);
    let (code, said) = complaint(&["release", "--plan", &plan, &data, "-o", &again]);
    assert!(code == 1 && said.contains("row 1, column \"age\" is not a finite number"), "{said}");
    assert!(!std::path::Path::new(&again).exists());
}

#[test]
fn rows_are_left_out_whole() {
    let dir = Scratch::new("release-pq-skip");
    let (data, out) = (dir.path("a.parquet"), dir.path("out.parquet"));
    let plan = dir.file("plan.json", &single());
    write(&data, people(true));
    let args = ["release", "--plan", &plan, &data, "-o", &out, "--keep", "note", "--keep", "id"];
    let (code, said) = complaint(&args);
    assert!(code == 1 && said.contains("row 8, column \"town\" is empty"), "{said}");
    let (code, value) = json(&[&args[..], &["--unknown", "skip"]].concat());
    assert_eq!(
        (code, &value["released"], &value["skipped"]),
        (0, &11.into(), &1.into()),
        "{value}"
    );
    let after = all(&out);
    assert_eq!(names_of(&after), ["id", "age", "note", "town", "smokes"]);
    let notes: Vec<String> = (0..12).filter(|at| *at != 7).map(|at| format!("n{at}")).collect();
    assert_eq!(texts(&after, "note"), notes);
}

#[test]
fn what_is_not_answered_is_null() {
    let dir = Scratch::new("release-pq-split");
    let (data, out) = (dir.path("a.parquet"), dir.path("out.parquet"));
    let policies = vec![
        faithful(&names(&["no", "yes"])),
        faithful(&Alphabet::indices(6).unwrap()),
        faithful(&bins()),
    ];
    let items = vec![item(&[0], 0, 1), item(&[0, 1], 1, 1), item(&[2], 2, 1)];
    let plan = dir.file("plan.json", &document(items, 1, policies));
    write(&data, people(false));
    let (code, value) = json(&["release", "--plan", &plan, &data, "-o", &out, "--keep", "id"]);
    assert_eq!(code, 0, "{value}");
    let (before, after) = (all(&data), all(&out));
    assert_eq!(names_of(&after), ["id", "age", "smokes", "smokes × town"]);
    let (smokes, both) = (texts(&after, "smokes"), texts(&after, "smokes × town"));
    let (was, town) = (texts(&before, "smokes"), texts(&before, "town"));
    let ages = after.column(1).as_primitive::<Int64Type>();
    for row in 0..12 {
        let answered = [smokes[row] != "-", both[row] != "-", ages.is_valid(row)];
        assert_eq!(answered.iter().filter(|one| **one).count(), 1, "{row}");
        if answered[0] {
            assert_eq!(smokes[row], was[row]);
        } else if answered[1] {
            assert_eq!(both[row], format!("{} × {}", was[row], town[row].replace('×', "\\×")));
        } else {
            assert_eq!(ages.value(row), 5 + 10 * (row as i64 * 5 / 20));
        }
    }
}
