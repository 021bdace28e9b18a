//! CSV, whatever its bytes: no panic, nothing that is read is lost or changed, and where a file is cut into blocks
//! changes no record.

#![no_main]

use std::io::Cursor;
use std::ops::Range;

use libfuzzer_sys::fuzz_target;
use undertone::columns::csv::{
    CsvFile, CsvForm, CsvProblem, each_record, quoted, text, whole_records,
};

/// Where the records of a block are, up to the first that cannot be read, and what is wrong with that.
fn records(block: &[u8], form: CsvForm) -> (Vec<Range<usize>>, Option<String>) {
    let mut found = Vec::new();
    let walked = each_record(block, form, &[], |record, _| -> Result<(), CsvProblem> {
        let end = record.start + record.bytes.len();
        assert_eq!(&block[record.start..end], record.bytes);
        rebuild(record.bytes, record.cells, form);
        found.push(record.start..end);
        Ok(())
    });
    match walked {
        Ok(count) => assert_eq!(count, found.len() as u64),
        Err(problem) => return (found, Some(problem.what)),
    }
    // Between records there is nothing but empty lines.
    let mut at = 0;
    for range in found.iter().cloned().chain([block.len()..block.len()]) {
        assert!(block[at..range.start].iter().all(|byte| matches!(byte, b'\r' | b'\n')));
        at = range.end;
    }
    (found, None)
}

/// A record is its cells with separators between them and a line break behind them, and a cell reads back as itself.
fn rebuild(bytes: &[u8], cells: &[Range<usize>], form: CsvForm) {
    let mut again = Vec::new();
    for (at, cell) in cells.iter().enumerate() {
        if at > 0 {
            again.push(form.separator);
        }
        again.extend_from_slice(&bytes[cell.clone()]);
        if let Some(read) = text(&bytes[cell.clone()]) {
            let written = quoted(&read, form.separator);
            assert_eq!(text(&written).as_deref(), Some(&*read));
            let alone = CsvForm { width: 1, ..form };
            let mut count = 0;
            let walked = each_record(&written, alone, &[], |record, _| -> Result<(), CsvProblem> {
                assert_eq!(record.bytes, written);
                count += 1;
                Ok(())
            });
            assert!(walked.is_ok() && count == usize::from(!written.is_empty()));
        }
    }
    assert!(matches!(bytes[again.len()..], [] | [b'\n'] | [b'\r'] | [b'\r', b'\n']));
    assert_eq!(bytes[..again.len()], again);
}

fuzz_target!(|bytes: &[u8]| {
    for no_header in [false, true] {
        let read = Box::new(Cursor::new(bytes.to_vec()));
        let Ok(file) = CsvFile::open("fuzz", read, None, no_header) else { continue };
        let form = file.form();
        assert_eq!(file.columns.len(), form.width);
        let head = file.head.len();
        let mut all = file.head;
        for block in file.blocks {
            all.extend(block.expect("memory can be read"));
        }
        assert_eq!(all, bytes);

        // A block may end anywhere: what is whole before it and what follows are the same records.
        let block = &bytes[head..];
        let (whole, problem) = records(block, form);
        let cut = block.len() * usize::from(*bytes.last().unwrap_or(&0)) / 255;
        let first = whole_records(&block[..cut], form.separator, false);
        assert!(first <= cut);
        let (mut parts, mut trouble) = records(&block[..first], form);
        if trouble.is_none() {
            let (rest, other) = records(&block[first..], form);
            parts.extend(rest.into_iter().map(|range| range.start + first..range.end + first));
            trouble = other;
        }
        assert_eq!((parts, trouble), (whole, problem));
    }
});
