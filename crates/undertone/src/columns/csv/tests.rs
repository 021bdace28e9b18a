use super::*;

fn cells(text: &str, separator: u8) -> Vec<Vec<String>> {
    walked(Records::new(text.as_bytes(), separator, false))
}

/// The cells of a file of one column.
fn column(text: &str) -> Vec<String> {
    walked(Records::new(text.as_bytes(), b',', true)).concat()
}

fn walked(mut records: Records<'_>) -> Vec<Vec<String>> {
    let mut all = Vec::new();
    while let Some(record) = records.next().unwrap() {
        let text = |cell: &Range<usize>| {
            String::from_utf8(plain(&record.bytes[cell.clone()]).into_owned()).unwrap()
        };
        all.push(record.cells.iter().map(text).collect());
    }
    all
}

#[test]
fn cells_are_found_where_they_are() {
    assert_eq!(cells("a,b\nc,d", b','), [["a", "b"], ["c", "d"]]);
    assert_eq!(cells("a,b\r\n\r\nc,\r\n", b','), [["a", "b"], ["c", ""]]);
    assert_eq!(cells("a;b\rc;d\r", b';'), [["a", "b"], ["c", "d"]]);
    assert_eq!(cells("\"a,\n\"\"x\"\"\",b\n", b','), [["a,\n\"x\"", "b"]]);
    // A quote inside a cell is a character; after a closed quote the rest counts.
    assert_eq!(cells("5\" pipe,\"a\"b\n", b','), [["5\" pipe", "ab"]]);
    assert_eq!(cells("\"\",x\n", b','), [["", "x"]]);
    assert!(Records::new(b"a,\"b\n", b',', false).next().is_err());
}

/// A blank line of a file of one column is somebody's blank answer, wherever it stands.
#[test]
fn an_empty_line_of_one_column_is_an_empty_cell() {
    assert_eq!(column("a\n\nb\n"), ["a", "", "b"]);
    assert_eq!(column("\r\na\r\n\r\n\r\nb"), ["", "a", "", "", "b"]);
    assert_eq!(column("a\n\n"), ["a", ""]);
    assert_eq!(column("\"\"\n \n"), ["", " "]);
    let text = b"a\r\n\r\n\"x\r\ny\"\n\n\r\rb\r\n\r\n";
    let whole = column(std::str::from_utf8(text).unwrap());
    assert_eq!(whole, ["a", "", "x\r\ny", "", "", "", "b", ""]);
    for cut in 0..text.len() {
        let (a, b) = text.split_at(whole_records(&text[..cut], b',', false));
        let parts = [a, b].map(|part| column(std::str::from_utf8(part).unwrap()));
        assert_eq!(parts.concat(), whole, "cut at {cut}");
    }
}

#[test]
fn a_quoted_text_reads_back() {
    for text in ["plain", "a,b", "say \"no\"", "two\nlines", " spaced ", "\"", ""] {
        let cell = quoted(text, b',');
        assert_eq!(plain(&cell), text.as_bytes(), "{text:?}");
        assert_eq!(cell_end(&cell, 0, b','), Some(cell.len()), "{text:?}");
    }
    assert_eq!(quoted("a;b", b','), b"a;b");
}

/// Hands out a few bytes at a time.
struct Drip(Vec<u8>, usize);

impl Read for Drip {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let size = buffer.len().min(7).min(self.0.len() - self.1);
        buffer[..size].copy_from_slice(&self.0[self.1..self.1 + size]);
        self.1 += size;
        Ok(size)
    }
}

/// Whatever the block boundaries, the same records: cut a text at every place.
#[test]
fn blocks_never_divide_a_record() {
    let text = b"a,b\r\n\"x\r\ny\",1\n5\" pipe,\"\"\"\"\r\rplain,2\n\"q\"\"\n\",3\r\n";
    let whole = cells(std::str::from_utf8(text).unwrap(), b',');
    for cut in 0..text.len() {
        let first = whole_records(&text[..cut], b',', false);
        assert!(first <= cut);
        let (a, b) = text.split_at(first);
        let mut parts = cells(std::str::from_utf8(a).unwrap(), b',');
        parts.extend(cells(std::str::from_utf8(b).unwrap(), b','));
        assert_eq!(parts, whole, "cut at {cut}");
    }
    let drip = Box::new(Drip(text.to_vec(), 0));
    let mut blocks = CsvBlocks {
        text: drip,
        separator: b',',
        rest: Vec::new(),
        ended: false,
        name: "x".into(),
        size: BLOCK,
    };
    let joined: Vec<u8> = blocks.by_ref().flat_map(|block| block.unwrap()).collect();
    assert_eq!(joined, text);
}

#[test]
fn long_texts_come_in_blocks_and_endless_quotes_are_refused() {
    let line = "0123456789,abc\n";
    let text = line.repeat(300_000);
    let open = |text: String| CsvBlocks {
        text: Box::new(std::io::Cursor::new(text.into_bytes())),
        separator: b',',
        rest: Vec::new(),
        ended: false,
        name: "x".into(),
        size: BLOCK,
    };
    let blocks: Vec<Vec<u8>> = open(text.clone()).map(Result::unwrap).collect();
    assert!(blocks.len() > 3);
    assert!(blocks.iter().all(|block| block.len() % line.len() == 0));
    assert_eq!(blocks.concat(), text.as_bytes());
    let endless = open(format!("a,\"{}", "x".repeat(LONGEST_RECORD + 10)));
    let said = format!("{:?}", endless.last().unwrap().unwrap_err());
    assert!(said.contains("a quote never closed"), "{said}");
}

/// Small blocks are the same records, also where one record is longer than a block.
#[test]
fn smaller_blocks_hold_the_same_records() {
    let text = format!("a,b\n1,2\n\"x\ny\",{}\n3,\"\"\n\n4,5", "long ".repeat(40));
    let records = |size: usize| {
        let file = CsvFile::open("it", Box::new(std::io::Cursor::new(text.clone())), None, false);
        let blocks = file.unwrap().blocks.at_most(size).map(Result::unwrap).collect::<Vec<_>>();
        let whole = String::from_utf8(blocks.concat()).unwrap();
        assert_eq!(whole, text[4..], "{size}");
        let all = blocks.iter().flat_map(|block| cells(std::str::from_utf8(block).unwrap(), b','));
        (all.collect::<Vec<_>>(), blocks.len())
    };
    let (whole, one) = records(usize::MAX);
    assert_eq!((whole.len(), one), (4, 1));
    for size in [1, 2, 5, 9, 64, 300] {
        let (found, blocks) = records(size);
        assert_eq!(found, whole, "{size}");
        assert!(size > 200 || blocks > 1, "{size}: {blocks}");
    }
}
