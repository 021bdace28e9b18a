//! Running the real binary on files of its own.
#![allow(dead_code, clippy::unwrap_used)] // every test binary uses a part of this

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::Value;

/// A directory that is removed when the test ends.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn new(name: &str) -> Self {
        // All tests are one process, and names may coincide.
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let (process, count) = (std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(format!("undertone-{name}-{process}-{count}"));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// Writes a file and returns its path.
    pub(crate) fn file(&self, name: &str, content: &str) -> String {
        let path = self.0.join(name);
        std::fs::write(&path, content).unwrap();
        path.to_str().unwrap().to_owned()
    }

    pub(crate) fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub(crate) fn undertone(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_undertone")).args(args).output().unwrap()
}

/// The exit code and the JSON printed on standard output.
#[track_caller]
pub(crate) fn json(args: &[&str]) -> (i32, Value) {
    let output = undertone(&[args, &["--json"]].concat());
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let value = serde_json::from_str(&text).unwrap_or_else(|e| {
        panic!("{args:?}: {e}\n{text}\n{}", String::from_utf8_lossy(&output.stderr))
    });
    (output.status.code().unwrap(), value)
}

/// What a command answers.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) json: Value,
    /// The files it wrote, by name.
    pub(crate) written: BTreeMap<String, String>,
}

/// Why a command gave no answer.
#[derive(Debug)]
pub(crate) struct NoReply {
    /// Whether the arguments are to blame: exit code 2.
    pub(crate) usage: bool,
    pub(crate) message: String,
}

/// Runs a command in a folder that holds these files.
#[track_caller]
pub(crate) fn call(
    words: &[String],
    documents: BTreeMap<String, String>,
) -> Result<Reply, NoReply> {
    let folder = Scratch::new("call");
    for (name, content) in &documents {
        folder.file(name, content);
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_undertone"));
    let output = command.args(words).arg("--json").current_dir(&folder.0).output().unwrap();
    let json: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
        panic!("{words:?}: {error}\n{}", String::from_utf8_lossy(&output.stderr))
    });
    if let Some(message) = json["error"].as_str() {
        return Err(NoReply { usage: output.status.code() == Some(2), message: message.into() });
    }
    let files = std::fs::read_dir(&folder.0).unwrap().map(|entry| entry.unwrap().path());
    let named = files.map(|path| (path.file_name().unwrap().to_str().unwrap().to_owned(), path));
    let written = named.filter(|(name, _)| !documents.contains_key(name));
    let written = written.map(|(name, path)| (name, std::fs::read_to_string(path).unwrap()));
    Ok(Reply { json, written: written.collect() })
}

/// Whether an answer lists this place as a number without bound.
pub(crate) fn is_unbounded(answer: &Value, pointer: &str) -> bool {
    answer["unbounded"].as_array().is_some_and(|list| list.iter().any(|at| at == pointer))
}

/// Exit code and what was said on standard error.
#[track_caller]
pub(crate) fn complaint(args: &[&str]) -> (i32, String) {
    let output = undertone(args);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!said.contains("panicked"), "{args:?}: {said}");
    (output.status.code().unwrap(), said)
}

#[track_caller]
pub(crate) fn close(value: &Value, expected: f64) {
    let found = value.as_f64().unwrap_or_else(|| panic!("{value} is not a number"));
    assert!(
        (found - expected).abs() <= 1e-11 * expected.abs().max(1.0),
        "{found} is not {expected}"
    );
}

/// The repository's root.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
