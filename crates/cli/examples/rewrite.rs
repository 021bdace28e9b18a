//! For `bench/perturb` and `bench/release`: makes Parquet files, and reads and rewrites them without changing anything,
//! with the reader and writer settings of `undertone perturb` and as many threads. Row groups are
//! decoded and encoded in parallel and written in order, so that nothing but the noise is missing.
//!
//! `rewrite make FILE ROWS answers|salaries|people|frame`
//! `rewrite copy IN OUT [threads]`
#![allow(clippy::unwrap_used, missing_docs)] // a measuring tool

#[cfg(feature = "parquet")]
mod tool {
    use std::fs::File;
    use std::sync::Arc;
    use std::sync::mpsc::sync_channel;

    use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
    use bytes::Bytes;
    use parquet::arrow::ArrowWriter;
    use parquet::arrow::arrow_reader::{
        ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
    };
    use parquet::basic::Compression;
    use parquet::column::writer::ColumnCloseResult;
    use parquet::file::metadata::ParquetMetaData;
    use parquet::file::properties::WriterProperties;
    use parquet::file::writer::SerializedFileWriter;
    use rand_chacha::ChaCha12Rng;
    use rand_core::{Rng, SeedableRng};

    const GROUP: usize = 1 << 20;
    const BATCH: usize = 1 << 14;

    fn properties() -> WriterProperties {
        WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_max_row_group_row_count(None)
            .build()
    }

    /// The columns of a frame: six of answers and three of salaries.
    const FRAME: [&str; 9] = ["q1", "q2", "q3", "q4", "q5", "q6", "s1", "s2", "s3"];

    /// Answers a00 to a15 with falling frequencies, salaries around two peaks, both and more, or nine columns of them.
    pub(super) fn make(path: &str, rows: usize, kind: &str) {
        let mut rng = ChaCha12Rng::seed_from_u64(4);
        let mut unit = move || (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        let names: Vec<String> = (0..16).map(|at| format!("a{at:02}")).collect();
        let mut writer: Option<ArrowWriter<File>> = None;
        let mut write = |columns: Vec<(&str, ArrayRef)>| {
            let batch = RecordBatch::try_from_iter(columns).unwrap();
            let writer = writer.get_or_insert_with(|| {
                let file = File::create(path).unwrap();
                ArrowWriter::try_new(file, batch.schema(), Some(properties())).unwrap()
            });
            writer.write(&batch).unwrap();
            writer.flush().unwrap();
        };
        let mut done = 0;
        while done < rows {
            let size = GROUP.min(rows - done);
            let answers = |unit: &mut dyn FnMut() -> f64| -> StringArray {
                let answer = |_| Some(names[(16.0 * unit() * unit()) as usize].as_str());
                (0..size).map(answer).collect()
            };
            let salary = |unit: &mut dyn FnMut() -> f64| {
                let bump = unit() + unit() + unit() + unit() - 2.0;
                let middle = if unit() < 0.7 { 45_000.0 } else { 80_000.0 };
                ((middle + 12_000.0 * bump) * 100.0).round() / 100.0
            };
            let salaries = |unit: &mut dyn FnMut() -> f64| -> Float64Array {
                (0..size).map(|_| Some(salary(unit))).collect()
            };
            if kind == "frame" {
                let column = |name: &'static str| -> (&str, ArrayRef) {
                    match name.starts_with('q') {
                        true => (name, Arc::new(answers(&mut unit))),
                        false => (name, Arc::new(salaries(&mut unit))),
                    }
                };
                write(FRAME.map(column).to_vec());
                done += size;
                continue;
            }
            let (answers, salaries) = (answers(&mut unit), salaries(&mut unit));
            let ids: Int64Array = (0..size).map(|at| Some((done + at) as i64)).collect();
            let weights: Float64Array = (0..size).map(|_| Some(unit())).collect();
            let columns: Vec<(&str, ArrayRef)> = match kind {
                "answers" => vec![("answer", Arc::new(answers))],
                "salaries" => vec![("salary", Arc::new(salaries))],
                _ => vec![
                    ("id", Arc::new(ids)),
                    ("answer", Arc::new(answers)),
                    ("salary", Arc::new(salaries)),
                    ("weight", Arc::new(weights)),
                ],
            };
            write(columns);
            done += size;
        }
        writer.unwrap().close().unwrap();
    }

    /// One row group decoded and encoded again.
    fn again(path: &str, reading: &ArrowReaderMetadata, group: usize) -> (Bytes, ParquetMetaData) {
        let file = File::open(path).unwrap();
        let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(file, reading.clone())
            .with_row_groups(vec![group])
            .with_batch_size(BATCH)
            .build()
            .unwrap();
        let schema = reading.schema().clone();
        let mut bytes = Vec::new();
        let mut writer = ArrowWriter::try_new(&mut bytes, schema, Some(properties())).unwrap();
        for batch in reader {
            writer.write(&batch.unwrap()).unwrap();
        }
        let metadata = writer.close().unwrap();
        (bytes.into(), metadata)
    }

    pub(super) fn copy(from: &str, to: &str, threads: usize) {
        let file = File::open(from).unwrap();
        let reading = ArrowReaderMetadata::load(&file, ArrowReaderOptions::new()).unwrap();
        let groups = reading.metadata().num_row_groups();
        let schema = reading.metadata().file_metadata().schema_descr().root_schema_ptr();
        let part = format!("{to}.part");
        let out = std::io::BufWriter::with_capacity(1 << 18, File::create(&part).unwrap());
        let mut writer = SerializedFileWriter::new(out, schema, Arc::new(properties())).unwrap();
        std::thread::scope(|scope| {
            let mut results = Vec::new();
            for turn in 0..threads {
                let (sender, receiver) = sync_channel(1);
                results.push(receiver);
                let reading = &reading;
                scope.spawn(move || {
                    for group in (turn..groups).step_by(threads) {
                        sender.send(again(from, reading, group)).unwrap();
                    }
                });
            }
            for group in 0..groups {
                let (bytes, metadata) = results[group % threads].recv().unwrap();
                let mut out = writer.next_row_group().unwrap();
                let about = metadata.row_group(0);
                for (leaf, chunk) in about.columns().iter().enumerate() {
                    let index = metadata.page_index();
                    let close = ColumnCloseResult {
                        bytes_written: chunk.compressed_size() as u64,
                        rows_written: about.num_rows() as u64,
                        metadata: chunk.clone(),
                        bloom_filter: None,
                        column_index: index.and_then(|i| i.column_index(0, leaf)).cloned(),
                        offset_index: index.and_then(|i| i.offset_index(0, leaf)).cloned(),
                    };
                    out.append_column(&bytes, close).unwrap();
                }
                out.close().unwrap();
            }
        });
        writer.into_inner().unwrap().into_inner().unwrap();
        std::fs::rename(part, to).unwrap();
    }
}

#[cfg(feature = "parquet")]
fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args.as_slice() {
        ["make", path, rows, kind] => tool::make(path, rows.parse().unwrap(), kind),
        ["copy", from, to] => {
            let threads = std::thread::available_parallelism().map_or(1, Into::into);
            tool::copy(from, to, threads);
        }
        ["copy", from, to, threads] => tool::copy(from, to, threads.parse().unwrap()),
        _ => {
            eprintln!(
                "usage: rewrite make FILE ROWS answers|salaries|people|frame | copy IN OUT [threads]"
            );
            std::process::exit(2);
        }
    }
}

#[cfg(not(feature = "parquet"))]
fn main() {
    eprintln!("this build has no Parquet");
}
