//! `undertone serve` and the part of `undertone demo` that stays: the real binary, over real sockets.
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use crate::common::{Scratch, complaint};
use serde_json::{Value, json};

/// A running command that is ended when the test is.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Running {
    fn start(
        args: &[&str],
        variables: &[(&str, &str)],
    ) -> (Self, BufReader<std::process::ChildStdout>) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_undertone"));
        command.args(args).envs(variables.iter().copied());
        for name in ["UNDERTONE_ADMIN_TOKEN", "UNDERTONE_STORE"] {
            if !variables.iter().any(|(given, _)| *given == name) {
                command.env_remove(name);
            }
        }
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        (Self(child), output)
    }

    /// Asks it to stop and gives its exit code.
    fn stop(&mut self) -> Option<i32> {
        let id = self.0.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
        self.0.wait().unwrap().code()
    }
}

/// Sends a request and gives status and body.
fn ask(base: &str, method: &str, path: &str, token: Option<&str>, body: &Value) -> (u16, Value) {
    let host = base.strip_prefix("http://").unwrap().trim_end_matches('/');
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let token = token.map_or(String::new(), |token| format!("authorization: Bearer {token}\r\n"));
    let mut stream = TcpStream::connect(host).unwrap();
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\ncontent-type: application/json\r\n{token}content-length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
    let body = answer.split_once("\r\n\r\n").unwrap().1;
    (status, serde_json::from_str(body).unwrap_or(Value::Null))
}

#[test]
fn serves_until_it_is_stopped() {
    let dir = Scratch::new("serve");
    let store = format!("sqlite:{}", dir.path("curator.db"));
    let serve = ["serve", "--create", "--listen", "127.0.0.1:0", "--store", &store, "--json"];
    let (mut running, mut output) = Running::start(&serve, &[]);
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    let said: Value = serde_json::from_str(&line).unwrap();
    let (base, token) = (said["address"].as_str().unwrap(), said["token"].as_str().unwrap());
    assert_eq!(token.len(), 64);
    assert_eq!(ask(base, "GET", "/readyz", None, &Value::Null).0, 200);
    let survey = json!({
        "id": "commute", "title": "Commute", "question": "How do you get to work?",
        "answers": {"names": ["car", "bus", "bicycle"]}, "plan": {"epsilon": "1"},
    });
    assert_eq!(ask(base, "POST", "/v1/surveys", None, &survey).0, 401);
    let (status, made) = ask(base, "POST", "/v1/surveys", Some(token), &survey);
    assert_eq!((status, &made["state"]), (201, &json!("open")), "{made}");
    assert_eq!(running.stop(), Some(0));

    // What was made is still there, and so is the token; one of one's own replaces it.
    let (mut running, mut output) = Running::start(&serve, &[]);
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    let said: Value = serde_json::from_str(&line).unwrap();
    assert!(
        said["token"].is_null() && said["token_file"] == dir.path("curator.db.token"),
        "{said}"
    );
    let again = said["address"].as_str().unwrap();
    assert_eq!(ask(again, "GET", "/v1/surveys", Some(token), &Value::Null).0, 200);
    assert_eq!(running.stop(), Some(0));
    let own = "a-token-of-ones-own-0123456789";
    let (mut running, mut output) = Running::start(&serve, &[("UNDERTONE_ADMIN_TOKEN", own)]);
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    let said: Value = serde_json::from_str(&line).unwrap();
    assert!(said["token"].is_null(), "a given token is not printed");
    let base = said["address"].as_str().unwrap();
    let (status, listed) = ask(base, "GET", "/v1/surveys", Some(own), &Value::Null);
    assert_eq!((status, &listed["surveys"][0]["id"]), (200, &json!("commute")));
    assert_eq!(ask(base, "GET", "/v1/surveys", Some(token), &Value::Null).0, 401);
    assert_eq!(running.stop(), Some(0));
}

/// Neither the token nor the store's address needs to be on the command line, and the files made are
/// their owner's alone.
#[cfg(unix)]
#[test]
fn secrets_come_from_files_and_the_environment() {
    use std::os::unix::fs::PermissionsExt;
    let dir = Scratch::new("serve-secrets");
    let mode = |name: &str| std::fs::metadata(dir.path(name)).unwrap().permissions().mode() & 0o777;
    let close = |name: &str, mode: u32| {
        std::fs::set_permissions(dir.path(name), PermissionsExt::from_mode(mode)).unwrap();
    };
    let (token_file, store) = (dir.path("token"), format!("sqlite:{}", dir.path("curator.db")));
    let serve = [
        "serve",
        "--create",
        "--listen",
        "127.0.0.1:0",
        "--admin-token-file",
        &token_file,
        "--json",
    ];
    let began = |output: &mut BufReader<std::process::ChildStdout>| -> Value {
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    };
    // The address from the environment; a token is made, and written and not printed.
    let (mut running, mut output) = Running::start(&serve, &[("UNDERTONE_STORE", &store)]);
    let said = began(&mut output);
    assert_eq!((&said["token"], &said["token_file"]), (&Value::Null, &json!(token_file)));
    assert_eq!((mode("token"), mode("curator.db"), mode("curator.db-wal")), (0o600, 0o600, 0o600));
    let token = std::fs::read_to_string(&token_file).unwrap().trim().to_owned();
    let base = said["address"].as_str().unwrap();
    assert_eq!(ask(base, "GET", "/v1/surveys", Some(&token), &Value::Null).0, 200);
    assert_eq!(running.stop(), Some(0));
    // The address from a file, and the token that is there.
    let address = dir.file("store", &format!("{store}\n"));
    close("store", 0o600);
    let from_file = [&serve[..], &["--store-file", &address]].concat();
    let (mut running, mut output) = Running::start(&from_file, &[]);
    let said = began(&mut output);
    assert_eq!((&said["token"], &said["token_file"]), (&Value::Null, &Value::Null));
    let base = said["address"].as_str().unwrap();
    assert_eq!(ask(base, "GET", "/v1/surveys", Some(&token), &Value::Null).0, 200);
    assert_eq!(running.stop(), Some(0));
    // Files that others can read are refused, with what to do.
    for name in ["token", "store"] {
        close(name, 0o644);
        let (code, words) = complaint(&from_file);
        assert_eq!(code, 1, "{words}");
        assert!(words.contains(&format!("chmod 600 {}", dir.path(name))), "{words}");
        assert!(!words.contains(&token), "{words}");
        close(name, 0o600);
    }
}

/// A password on the command line is pointed out; none is printed.
#[test]
fn a_password_on_the_command_line_is_pointed_out() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_undertone"));
    let address = "postgres://u:verysecret@127.0.0.1:1/d?connect_timeout=1";
    command.args(["serve", "--listen", "127.0.0.1:0", "--store", address]);
    let done = command.output().unwrap();
    let said = format!(
        "{}{}",
        String::from_utf8_lossy(&done.stdout),
        String::from_utf8_lossy(&done.stderr)
    );
    assert_eq!(done.status.code(), Some(1), "{said}");
    assert!(said.contains("--store-file or PGPASSFILE"), "{said}");
    assert!(!said.contains("verysecret"), "{said}");
}

#[test]
fn bad_settings_get_plain_words() {
    let dir = Scratch::new("serve-bad");
    let short = dir.file("token", "short");
    #[cfg(unix)]
    std::fs::set_permissions(&short, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let store = format!("sqlite:{}", dir.path("x.db"));
    let missing = format!("sqlite:{}", dir.path("mistyped.db"));
    for (args, said) in [
        (vec!["serve", "--store", "mysql://x"], "sqlite:FILE"),
        (vec!["serve", "--store", &missing], "--create"),
        (vec!["serve", "--create", "--store", &store, "--admin-token-file", &short], "16 to 512"),
        (
            vec![
                "serve",
                "--create",
                "--store",
                &store,
                "--admin-token-file",
                "/nonexistent/token",
            ],
            "cannot create",
        ),
        (vec!["serve", "--store", &store, "--store-file", &short], "cannot be used with"),
        (vec!["serve", "--store-file", "/nonexistent/store"], "cannot read"),
        (vec!["serve", "--store", &store, "--max-store-bytes", "lots"], "number of bytes"),
        (vec!["serve", "--create", "--store", &store, "--listen", "nowhere"], "cannot listen"),
        (vec!["serve", "--store", &store, "--tls-cert", &short, "--tls-key", &short], "TLS"),
        (vec!["serve", "--store", &store, "--tls-cert", &short], "--tls-key"),
    ] {
        let (code, words) = complaint(&args);
        assert!(code == 1 || code == 2, "{args:?}: {code} {words}");
        assert!(words.contains(said), "{args:?}: {words}");
    }
}

#[test]
fn a_port_in_use_and_a_log_without_colours() {
    let dir = Scratch::new("serve-port");
    let store = format!("sqlite:{}", dir.path("x.db"));
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let (code, words) = complaint(&["serve", "--create", "--store", &store, "--listen", &address]);
    assert_eq!(code, 1, "{words}");
    assert!(words.contains(&address) && words.contains("another address with --listen"), "{words}");
    let mut command = Command::new(env!("CARGO_BIN_EXE_undertone"));
    command.args(["serve", "--create", "--store", &store, "--listen", "127.0.0.1:0"]);
    let log = dir.path("log");
    let redirected = std::fs::File::create(&log).unwrap();
    command.env("UNDERTONE_LOG", "debug").stdout(Stdio::piped()).stderr(redirected);
    let mut running = Running(command.spawn().unwrap());
    let mut output = BufReader::new(running.0.stdout.take().unwrap());
    let mut line = String::new();
    while !line.contains("http://") {
        assert_ne!(output.read_line(&mut line).unwrap(), 0, "{line}");
    }
    let base = line[line.find("http://").unwrap()..].split_whitespace().next().unwrap();
    assert_eq!(ask(base, "GET", "/healthz", None, &Value::Null).0, 200);
    assert_eq!(running.stop(), Some(0));
    let log = std::fs::read_to_string(&log).unwrap();
    assert!(!log.is_empty() && !log.contains('\u{1b}'), "{log}");
}

#[test]
fn the_demo_stays() {
    let demo = ["demo", "--users", "300", "--seed", "3", "--json"];
    let (mut running, mut output) = Running::start(&demo, &[]);
    // The result is one JSON document over several lines.
    let mut text = String::new();
    let value: Value = loop {
        let mut line = String::new();
        assert_ne!(output.read_line(&mut line).unwrap(), 0, "{text}");
        text += &line;
        if let Ok(value) = serde_json::from_str(&text) {
            break value;
        }
    };
    let base = value["address"].as_str().unwrap();
    assert_eq!(ask(base, "GET", "/healthz", None, &Value::Null).0, 200);
    let token = value["token"].as_str().unwrap();
    let (status, seen) = ask(base, "GET", "/v1/surveys/demo/estimates", Some(token), &Value::Null);
    assert_eq!((status, &seen["rounds"][0]["reports"]), (200, &json!(300)), "{seen}");
    assert_eq!(running.stop(), Some(0));
}
