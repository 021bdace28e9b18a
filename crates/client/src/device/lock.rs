//! One process at a time: a lock file that Rust and JavaScript take in the same way.
//!
//! `<path>.held` exists while somebody holds the device. It is made whole (written under another name and linked,
//! which fails if it exists) and names its owner: process, when that process started, and a random tag. The lock of
//! a dead process is replaced by renaming a new one over it, and only by whoever holds the lock
//! `<path>.held.<tag>`, taken in the same way: so of several that find a dead owner one replaces it, and one
//! that comes late finds another tag. Whoever has replaced a lock removes what the dead have left beside it.

use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{Error, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A lock that is released when dropped.
#[derive(Debug)]
pub(super) struct Lock {
    path: PathBuf,
    tag: String,
}

/// Who holds a lock. The same three fields in every language.
#[derive(Serialize, Deserialize, PartialEq, Eq, Clone)]
struct Owner {
    pid: u32,
    /// When the process started, in the system's own unit; null where that is not known.
    started: Option<String>,
    tag: String,
}

/// How deep locks of dead takers may be nested before something else must be wrong.
const DEEPEST: usize = 4;
/// How often a lock that changes hands is looked at again.
const ATTEMPTS: usize = 50;

impl Lock {
    /// Takes the lock of a device's file; `WouldBlock` if somebody alive holds it.
    pub(super) fn take(file: &Path) -> Result<Self, Error> {
        let tag = tag()?;
        let path = beside(file, "held");
        if take(&path, &tag, 0)? == Taken::Replaced {
            // What is left of the dead is a matter of tidiness.
            let _ = sweep(&path);
        }
        Ok(Self { path, tag })
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Never somebody else's: a lock that was taken over is left alone.
        if owner(&self.path).is_ok_and(|owner| owner.tag == self.tag) {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// `<path>.<ending>`.
pub(super) fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(ending);
    name.into()
}

/// How a lock was taken.
#[derive(PartialEq, Eq)]
enum Taken {
    Made,
    /// Its owner was dead.
    Replaced,
}

fn take(path: &Path, tag: &str, depth: usize) -> Result<Taken, Error> {
    if depth > DEEPEST {
        return Err(Error::from(ErrorKind::WouldBlock));
    }
    let mine = beside(path, &format!("{tag}.new"));
    let me =
        Owner { pid: std::process::id(), started: started(std::process::id()), tag: tag.into() };
    let write = || {
        let mut file = File::create(&mine)?;
        file.write_all(&serde_json::to_vec(&me)?)?;
        // A lock must not be empty after the whole machine has failed.
        file.sync_all()
    };
    let taken = write().and_then(|()| take_with(path, &mine, tag, depth));
    let _ = std::fs::remove_file(&mine);
    taken
}

fn take_with(path: &Path, mine: &Path, tag: &str, depth: usize) -> Result<Taken, Error> {
    for _ in 0..ATTEMPTS {
        match std::fs::hard_link(mine, path) {
            Ok(()) => return Ok(Taken::Made),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
        let holder = match owner(path) {
            Ok(holder) => holder,
            // Released in between.
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        if is_alive(&holder) {
            return Err(Error::from(ErrorKind::WouldBlock));
        }
        // Whoever holds the dead owner's own lock may replace it, if it is still there.
        let right = beside(path, &holder.tag);
        match take(&right, tag, depth + 1) {
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                std::thread::sleep(Duration::from_millis(5));
                continue;
            }
            Err(error) => return Err(error),
        }
        let still = owner(path).is_ok_and(|now| now == holder);
        let replaced = if still { std::fs::rename(mine, path) } else { Ok(()) };
        // It may be gone: somebody who holds the lock may have removed it, as nobody can use it any more.
        let _ = std::fs::remove_file(&right);
        replaced?;
        if still {
            return Ok(Taken::Replaced);
        }
    }
    Err(Error::from(ErrorKind::WouldBlock))
}

/// Removes what dead takers have left beside a lock that is held: files of their making, and locks on the right to
/// replace an owner that was replaced long ago, which nobody can use any more.
fn sweep(path: &Path) -> Result<(), Error> {
    let name = path.file_name().unwrap_or_default().to_owned();
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    for entry in std::fs::read_dir(folder.unwrap_or(Path::new(".")))? {
        let entry = entry?;
        let found = entry.file_name();
        let rest = found.as_encoded_bytes().strip_prefix(name.as_encoded_bytes());
        let left = rest.is_some_and(|rest| rest.starts_with(b"."));
        if left && owner(&entry.path()).is_ok_and(|owner| !is_alive(&owner)) {
            std::fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

fn owner(path: &Path) -> Result<Owner, Error> {
    let bytes = std::fs::read(path)?;
    let owner: Option<Owner> = serde_json::from_slice(&bytes).ok();
    let is_tag = |tag: &str| !tag.is_empty() && tag.bytes().all(|b| b.is_ascii_hexdigit());
    owner.filter(|owner| is_tag(&owner.tag)).ok_or_else(|| {
        let what = format!(
            "{} is no lock of ours: if no program uses the device, delete it",
            path.display()
        );
        Error::new(ErrorKind::InvalidData, what)
    })
}

/// Eight random bytes in hexadecimal digits.
fn tag() -> Result<String, Error> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).map_err(|error| Error::other(error.to_string()))?;
    Ok(undertone_wire::hex::encode(&bytes))
}

/// Whether the process that made a lock still runs. A process number may have been given to another
/// process since, which then started at another time.
fn is_alive(owner: &Owner) -> bool {
    if !Path::new("/proc/self/stat").exists() {
        // Without a way to see processes nothing is taken over.
        return true;
    }
    match (started(owner.pid), &owner.started) {
        (None, _) => false,
        (Some(now), Some(then)) => now == *then,
        (Some(_), None) => true,
    }
}

/// When a process started, as the system counts; `None` if it has ended or cannot be seen. Fields are counted after the
/// name, which may hold anything: first the state, as 18th the number of threads, as 20th the start.
fn started(pid: u32) -> Option<String> {
    let entry = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let fields: Vec<&str> = entry.rsplit_once(')')?.1.split_whitespace().collect();
    let (state, threads, start) = (*fields.first()?, *fields.get(17)?, *fields.get(19)?);
    // A zombie has ended, unless threads of it still run.
    let ended = matches!(state, "Z" | "X") && matches!(threads, "0" | "1");
    (!ended).then(|| start.into())
}
