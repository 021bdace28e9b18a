//! `undertone store`: the real binary on a store that a curator has made.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use crate::common::{Scratch, complaint};
use serde_json::Value;

/// Runs a command with `--json`; its exit code and what it printed.
fn told(args: &[&str]) -> (i32, Value) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_undertone"));
    let done = command.args(args).arg("--json").output().unwrap();
    let text = String::from_utf8_lossy(&done.stdout).into_owned();
    (done.status.code().unwrap(), serde_json::from_str(&text).unwrap_or_else(|_| panic!("{text}")))
}

/// A store that `serve --create` made.
fn made(store: &str) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_undertone"));
    command.args(["serve", "--create", "--store", store, "--listen", "127.0.0.1:0"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    assert!(line.starts_with("serving"), "{line}");
    // At once: from the moment it says so it can be asked to stop.
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_store_is_checked_backed_up_and_restored() {
    let dir = Scratch::new("store");
    let store = format!("sqlite:{}", dir.path("a.db"));
    let (code, words) = complaint(&["store", "check", "--store", &store]);
    assert!(code == 1 && words.contains("no store") && words.contains("--create"), "{words}");
    made(&store);
    let (code, said) = told(&["store", "check", "--store", &store]);
    assert_eq!((code, &said["sound"]), (0, &Value::Bool(true)), "{said}");
    let backup = dir.path("backup.db");
    let (code, said) = told(&["store", "backup", "--store", &store, "--to", &backup]);
    assert_eq!((code, &said["sound"]), (0, &Value::Bool(true)), "{said}");
    let (code, words) = complaint(&["store", "backup", "--store", &store, "--to", &backup]);
    let said =
        format!("error: --to: {backup} is there already: nothing is replaced, give another name\n");
    assert_eq!((code, words), (1, said));
    let other = format!("sqlite:{}", dir.path("b.db"));
    let (code, _) = told(&["store", "restore", "--store", &other, "--from", &backup]);
    assert_eq!(code, 0);
    made(&other);
    // Tokens are made on the store itself, and listed without themselves.
    let create = ["token", "create", "--store", &store, "--name", "Ann", "--role", "analyst"];
    let (code, made) = told(&create);
    assert_eq!((code, made["token"].as_str().unwrap().len()), (0, 64), "{made}");
    let (code, words) = complaint(&create);
    assert!(code == 1 && words.contains("already"), "{words}");
    let id = made["id"].as_str().unwrap();
    let (code, new) = told(&["token", "rotate", "--store", &store, "--id", id]);
    assert_eq!((code, &new["name"]), (0, &made["name"]));
    let new = new["id"].as_str().unwrap();
    let revoke = ["token", "revoke", "--store", &store, "--id", new];
    assert_eq!(told(&revoke).0, 0);
    let said = format!("error: token {new} of Ann is revoked already\n");
    assert_eq!(complaint(&revoke), (1, said));
    for step in ["revoke", "rotate"] {
        let said = "error: --id: there is no token 99: see `undertone token list`\n";
        let none = complaint(&["token", step, "--store", &store, "--id", "99"]);
        assert_eq!(none, (1, said.into()));
    }
    let (_, list) = told(&["token", "list", "--store", &store]);
    let tokens = list["tokens"].as_array().unwrap();
    assert!(tokens.len() == 2 && tokens.iter().all(|one| one["revoked_by"] == "command"), "{list}");
    assert!(tokens.iter().all(|one| one.get("token").is_none()));
    let king = ["token", "create", "--store", &store, "--name", "K", "--role", "king"];
    let (code, words) = complaint(&king);
    assert!(code == 1 && words.contains("analyst"), "{words}");
    // A damaged store is listed as such, is not copied, and no curator starts on it.
    let damaged = dir.path("b.db");
    let mut bytes = std::fs::read(&damaged).unwrap();
    // The root of the schema's table: the second half of its first page is in use.
    let end = bytes.len().min(8192);
    bytes[end / 2..end].fill(0xff);
    std::fs::write(&damaged, bytes).unwrap();
    for args in [
        vec!["store", "check", "--store", &other],
        vec!["store", "backup", "--store", &other, "--to", &damaged],
        vec!["serve", "--store", &other, "--listen", "127.0.0.1:0"],
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_undertone"));
        assert_eq!(command.args(&args).output().unwrap().status.code(), Some(1), "{args:?}");
    }
}

/// What was never a store is not called a damaged one: nobody is told to go back to a backup for it.
#[test]
fn files_of_something_else_are_no_damaged_stores() {
    let dir = Scratch::new("no-store");
    let (table, database) = (dir.path("table.csv"), dir.path("other.db"));
    std::fs::write(&table, "answer\n".repeat(3000)).unwrap();
    let empty = dir.path("empty.db");
    std::fs::write(&empty, "").unwrap();
    let target = format!("sqlite:{}", dir.path("new.db"));
    let restored =
        |from: &str| complaint(&["store", "restore", "--store", &target, "--from", from]);
    let said = format!("error: --from: {table} is not a store (not SQLite)\n");
    assert_eq!(restored(&table), (1, said));
    let said = format!("error: --from: there is no file {database}\n");
    assert_eq!(restored(&database), (1, said));
    let said = format!("error: --from: {empty} is empty: give a backup\n");
    assert_eq!(restored(&empty), (1, said));
    let address = format!("sqlite:{table}");
    let said = format!("error: --store: {table} is not a store (not SQLite)\n");
    let copy = dir.path("copy.db");
    for args in [
        vec!["store", "check", "--store", &address],
        vec!["store", "backup", "--store", &address, "--to", &copy],
        vec!["token", "list", "--store", &address],
        vec!["serve", "--create", "--store", &address, "--listen", "127.0.0.1:0"],
    ] {
        let (code, words) = complaint(&args);
        assert_eq!((code, &words), (1, &said), "{args:?}");
    }
    for path in [dir.path("new.db"), copy] {
        assert!(!std::path::Path::new(&path).exists(), "{path} was made");
        assert!(!std::path::Path::new(&format!("{path}.part")).exists(), "{path}.part is left");
    }
}
