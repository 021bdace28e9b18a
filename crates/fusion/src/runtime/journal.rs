//! A file that only grows, one record per line, on disk before anyone acts on it.
//!
//! The first line says whose journal it is. Every other line begins with eight hexadecimal digits
//! that depend on the first line and on the record. A last line without its end was never finished:
//! whatever it was about did not happen, and it is cut off. Anything else that does not check is
//! refused, because forgetting a record means spending twice.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use undertone_design::Error;
use undertone_wire::hex;

/// Journals larger than this were not written by this program.
const LARGEST: u64 = 1 << 28;

#[derive(Debug)]
pub(crate) struct Journal {
    path: PathBuf,
    header: String,
    file: File,
    /// Bytes that are known to be good; `None` after a write that could not be undone.
    length: Option<u64>,
    records: usize,
}

impl Journal {
    /// Opens the journal with this first line, or begins it, and returns its records. Nobody else
    /// can open it meanwhile.
    pub(crate) fn open(path: &Path, header: &str) -> Result<(Self, Vec<String>), Error> {
        let fail = |error: std::io::Error| problem(path, &error);
        let new = !path.exists();
        let mut options = OpenOptions::new();
        let mut file =
            options.read(true).write(true).create(true).truncate(false).open(path).map_err(fail)?;
        lock(path, &file)?;
        let mut bytes = Vec::new();
        (&file).take(LARGEST + 1).read_to_end(&mut bytes).map_err(fail)?;
        if bytes.len() as u64 > LARGEST {
            return Err(problem(path, &"it is larger than any journal: is it the right file?"));
        }
        let first = format!("{header}\n");
        // A first line that was never finished: nothing has been recorded yet.
        if bytes.len() < first.len() && first.as_bytes().starts_with(&bytes) {
            file.set_len(0).map_err(fail)?;
            file.seek(SeekFrom::Start(0)).map_err(fail)?;
            file.write_all(first.as_bytes()).map_err(fail)?;
            file.sync_all().map_err(fail)?;
            if new {
                sync_folder(path)?;
            }
            let length = Some(first.len() as u64);
            let journal =
                Self { path: path.into(), header: header.into(), file, length, records: 0 };
            return Ok((journal, Vec::new()));
        }
        let Some(rest) = bytes.strip_prefix(first.as_bytes()) else {
            let found = bytes.split(|&byte| byte == b'\n').next().unwrap_or_default();
            let found: String = String::from_utf8_lossy(found).chars().take(120).collect();
            let text =
                format!("begins with {found:?} where {header:?} is needed: give another file");
            return Err(problem(path, &text));
        };
        let mut records = Vec::new();
        let mut length = first.len() as u64;
        for line in rest.split_inclusive(|&byte| byte == b'\n') {
            let Some(whole) = line.strip_suffix(b"\n") else { break };
            let record = std::str::from_utf8(whole).ok().and_then(|line| line.split_once(' '));
            match record {
                Some((digits, record)) if digits == check(header, record) => {
                    records.push(record.to_owned());
                }
                _ => {
                    let text = format!(
                        "record {} is damaged: what was published can no longer be told; keep the \
                         file, and begin a new one only with a new private value",
                        records.len() + 1
                    );
                    return Err(problem(path, &text));
                }
            }
            length += line.len() as u64;
        }
        if length < bytes.len() as u64 {
            file.set_len(length).map_err(fail)?;
            file.sync_all().map_err(fail)?;
        }
        file.seek(SeekFrom::Start(length)).map_err(fail)?;
        let journal = Self {
            path: path.into(),
            header: header.into(),
            file,
            length: Some(length),
            records: records.len(),
        };
        Ok((journal, records))
    }

    /// How many records there are.
    pub(crate) fn records(&self) -> usize {
        self.records
    }

    /// Adds a record. It is on disk when this returns.
    pub(crate) fn append(&mut self, record: &str) -> Result<(), Error> {
        let Some(length) = self.length else {
            return Err(problem(&self.path, &"an earlier write failed: mend the disk and restart"));
        };
        let line = format!("{} {record}\n", check(&self.header, record));
        self.length = None;
        let written = self.file.write_all(line.as_bytes()).and_then(|()| self.file.sync_data());
        if let Err(error) = written {
            // The half-written line must not be in front of the next one.
            let undone = self.file.set_len(length).and_then(|()| self.file.sync_data());
            let back = undone.and_then(|()| self.file.seek(SeekFrom::Start(length)));
            self.length = back.ok();
            return Err(problem(&self.path, &error));
        }
        self.length = Some(length + line.len() as u64);
        self.records += 1;
        Ok(())
    }

    /// Replaces all records, or none.
    pub(crate) fn rewrite(&mut self, records: &[String]) -> Result<(), Error> {
        let mut name = self.path.clone().into_os_string();
        name.push(".new");
        let new = PathBuf::from(name);
        let fail = |error: std::io::Error| problem(&new, &error);
        let mut text = format!("{}\n", self.header);
        for record in records {
            text += &format!("{} {record}\n", check(&self.header, record));
        }
        let mut options = OpenOptions::new();
        let mut file =
            options.read(true).write(true).create(true).truncate(true).open(&new).map_err(fail)?;
        lock(&new, &file)?;
        file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(fail)?;
        std::fs::rename(&new, &self.path).map_err(fail)?;
        sync_folder(&self.path)?;
        self.file = file;
        self.length = Some(text.len() as u64);
        self.records = records.len();
        Ok(())
    }
}

fn problem(path: &Path, problem: &dyn std::fmt::Display) -> Error {
    Error::other(format!("state file {}", path.display()), problem.to_string())
}

fn lock(path: &Path, file: &File) -> Result<(), Error> {
    file.try_lock().map_err(|error| match error {
        std::fs::TryLockError::WouldBlock => {
            problem(path, &"another process uses it: one state file belongs to one process")
        }
        std::fs::TryLockError::Error(error) => problem(path, &error),
    })
}

/// The name of a new file is on disk when its folder is.
fn sync_folder(path: &Path) -> Result<(), Error> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let synced = File::open(folder).and_then(|folder| folder.sync_all());
    // Not every system lets folders be opened.
    if cfg!(unix) { synced.map_err(|error| problem(path, &error)) } else { Ok(()) }
}

fn check(header: &str, record: &str) -> String {
    let digest =
        Sha256::new().chain_update(header).chain_update("\n").chain_update(record).finalize();
    hex::encode(&digest[..4])
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn records_survive_and_torn_ones_vanish() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state");
        let (mut journal, records) = Journal::open(&path, "mine").unwrap();
        assert!(records.is_empty());
        for record in ["a 1", "b 2", "c 3"] {
            journal.append(record).unwrap();
        }
        drop(journal);
        let whole = std::fs::read(&path).unwrap();
        // Cut anywhere: all complete records are there, and the next append is sound.
        for cut in 0..=whole.len() {
            std::fs::write(&path, &whole[..cut]).unwrap();
            let (mut journal, records) = Journal::open(&path, "mine").unwrap();
            let ends = whole[..cut].iter().filter(|&&byte| byte == b'\n').count();
            assert_eq!(records, ["a 1", "b 2", "c 3"][..ends.saturating_sub(1)]);
            journal.append("d 4").unwrap();
            drop(journal);
            let (_, again) = Journal::open(&path, "mine").unwrap();
            assert_eq!(again.len(), records.len() + 1);
            assert_eq!(again.last().unwrap(), "d 4");
        }
    }

    #[test]
    fn damage_other_owners_and_second_users_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state");
        let (mut journal, _) = Journal::open(&path, "mine").unwrap();
        journal.append("a 1").unwrap();
        journal.append("b 2").unwrap();
        let held = Journal::open(&path, "mine").unwrap_err().to_string();
        assert!(held.contains("another process uses it"), "{held}");
        drop(journal);
        let other = Journal::open(&path, "yours").unwrap_err().to_string();
        assert!(other.contains("\"mine\"") && other.contains("\"yours\""), "{other}");
        let whole = std::fs::read(&path).unwrap();
        // A changed byte in a record (not the last line's end) is found.
        for at in "mine\n".len()..whole.len() - 1 {
            let mut bytes = whole.clone();
            bytes[at] ^= 1;
            std::fs::write(&path, &bytes).unwrap();
            let error = Journal::open(&path, "mine").unwrap_err().to_string();
            assert!(error.contains("damaged"), "{at}: {error}");
        }
    }

    #[test]
    fn rewriting_keeps_the_file_and_the_lock() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state");
        let (mut journal, _) = Journal::open(&path, "mine").unwrap();
        (0..9).for_each(|at| journal.append(&format!("r {at}")).unwrap());
        journal.rewrite(&["kept".into()]).unwrap();
        journal.append("next").unwrap();
        assert_eq!(journal.records(), 2);
        assert!(Journal::open(&path, "mine").is_err());
        drop(journal);
        assert_eq!(Journal::open(&path, "mine").unwrap().1, ["kept", "next"]);
    }
}
