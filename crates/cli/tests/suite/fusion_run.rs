//! `undertone fusion sensor`, `center` and `demo`: real processes on a real connection.
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use crate::common::{Scratch, complaint, json, undertone};
use serde_json::{Value, json};
use undertone_fusion::runtime::{Broker, Link, LinkOptions, Message};

/// A network of two sensors for five epochs.
pub(crate) fn network(dir: &Scratch) -> String {
    let given = json!([[[0.7, 0.2, 0.1], [0.5, 0.3, 0.2]], [[0.2, 0.3, 0.5], [0.1, 0.2, 0.7]]]);
    let model = json!({
        "public": {"name": "leak", "values": ["no", "yes"]},
        "hypotheses": [[0.3, 0.2], [0.2, 0.3]],
        "sensors": [{"given": given}, {"given": given}]
    });
    let model = dir.file("model.json", &model.to_string());
    let bundle = dir.path("network.json");
    let mut args = vec!["fusion", "design", "--model", &model, "--information", "1", "--ldp", "1"];
    args.extend(["--epochs", "5", "--restarts", "5", "-o", &bundle]);
    let (code, made) = json(&args);
    assert_eq!(code, 0, "{made}");
    bundle
}

pub(crate) fn start(args: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_undertone"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// A centre, for which sensors wait before they are done; ended when dropped.
struct Listening(Child);

impl Listening {
    fn start(dir: &Scratch, bundle: &str, broker: &str) -> Self {
        let state = dir.path("center.state");
        let args = ["--broker", broker, "--state", &state, "--deadline", "60", "--json"];
        Self(start(&[&["fusion", "center", "--bundle", bundle], &args[..]].concat()))
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn the_demonstration_shows_one_hypothesis_and_hides_the_other() {
    let dir = Scratch::new("fusion-demo");
    let bundle = network(&dir);
    let args = ["fusion", "demo", "--bundle", &bundle, "--epochs", "60", "--broker", "builtin"];
    let (code, seen) = json(&args);
    assert_eq!(code, 0, "{seen}");
    assert_eq!(seen["broker"], "builtin");
    assert_eq!((&seen["epochs"], &seen["secrets"]), (&60.into(), &12.into()));
    let number = |field: &str| seen[field].as_f64().unwrap_or_else(|| panic!("{field}: {seen}"));
    assert!(number("bayes_error_public") < number("blind_public"));
    // Sixty draws from the system's generator: a miss of six standard deviations is no accident.
    let bayes = number("bayes_error_public");
    let spread = (bayes * (1.0 - bayes) / 60.0).sqrt();
    assert!((number("error_public") - bayes).abs() < 6.0 * spread, "{seen}");
    assert!(number("least_error_private") > 0.0);
    let information: f64 = seen["information"].as_str().unwrap().parse().unwrap();
    assert!(information > 0.0 && information <= 1.0, "{information}");
    assert_eq!(seen["beyond_budget"], json!({"constant": 2, "heard": 0}));
    assert_eq!(seen["metrics"]["refused"]["duplicate"], 0);

    // For people, with the network that is designed on the spot.
    let output = undertone(&["fusion", "demo", "--epochs", "6", "--broker", "builtin"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    for words in
        ["6 sensors", "alarm: the centre errs", "occupied: the attacker errs", "constant token"]
    {
        assert!(text.contains(words), "{words}: {text}");
    }
}

#[test]
fn processes_find_each_other_and_keep_their_budget() {
    let dir = Scratch::new("fusion-run");
    let bundle = network(&dir);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let broker = runtime.block_on(Broker::start(0)).unwrap();
    let address = format!("mqtt://127.0.0.1:{}", broker.port());
    let center_state = dir.path("center.state");
    let mut args = vec!["fusion", "center", "--bundle", &bundle, "--broker", &address];
    args.extend(["--state", &center_state, "--decisions", "7", "--deadline", "60", "--json"]);
    let center = start(&args);
    // Sensor 0 replays a file, sensor 1 reads lines; seven values each, one of them no reading.
    let table = dir.file("values.csv", "x,reading\na,0\nb,1\nc,2\nd,0\ne,oops\nf,2\ng,1\n");
    let (state_0, state_1) = (dir.path("sensor-0.state"), dir.path("sensor-1.state"));
    let sensor = ["fusion", "sensor", "--bundle", &bundle, "--broker", &address];
    let replay = ["--index", "0", "--state", &state_0, "--csv", &table, "--column", "reading"];
    let lines = ["--index", "1", "--state", &state_1];
    let first = start(&[&sensor[..], &replay[..], &["--json"]].concat());
    let mut second = start(&[&sensor[..], &lines[..], &["--json"]].concat());
    second.stdin.take().unwrap().write_all(b"0\n1\n2\n0\n1\n2\n1\n").unwrap();

    for sensor in [first, second] {
        let output = sensor.wait_with_output().unwrap();
        let said: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert!(output.status.success(), "{said}");
        assert_eq!((&said["published"], &said["constant"]), (&7.into(), &2.into()), "{said}");
        assert_eq!((&said["spent"], &said["acknowledged"]), (&5.into(), &true.into()));
    }
    let output = center.wait_with_output().unwrap();
    let lines: Vec<Value> = BufReader::new(&output.stdout[..])
        .lines()
        .map(|line| serde_json::from_str(&line.unwrap()).unwrap())
        .collect();
    let decided: Vec<&Value> = lines.iter().filter(|line| line["event"] == "decision").collect();
    assert_eq!(decided.len(), 7, "{lines:?}");
    let nats = |line: &Value| line["information"].as_str().unwrap().parse::<f64>().unwrap();
    for decision in &decided {
        assert!(decision["decision"] == "no" || decision["decision"] == "yes", "{decision}");
        let budget = decision["epoch"].as_u64().unwrap() <= 5;
        assert_eq!(decision["constant"].as_array().unwrap().is_empty(), budget, "{decision}");
        assert!(nats(decision) <= 1.0);
    }
    let done = lines.last().unwrap();
    assert_eq!((&done["event"], &done["metrics"]["epochs"]), (&"done".into(), &5.into()));

    // The files remember: nothing is left to say, until a reset.
    let again = [&sensor[..], &replay[..]].concat();
    let (code, said) = json(&again);
    assert_eq!((code, &said["published"], &said["past"]), (0, &0.into(), &7.into()), "{said}");
    let reset = [
        "fusion", "sensor", "--bundle", &bundle, "--index", "0", "--state", &state_0, "--reset",
        "8",
    ];
    let (code, said) = json(&reset);
    assert_eq!((code, &said["spent"], &said["limit"]), (0, &0.into(), &5.into()));
}

/// The head and the body of the answer to a request for a path under this name.
fn ask(address: &str, request: &str, host: &str) -> (String, String) {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "{request} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.to_owned(), body.to_owned())
}

#[test]
fn a_centre_has_a_page_that_only_tells() {
    let dir = Scratch::new("fusion-page");
    let bundle = network(&dir);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let broker = runtime.block_on(Broker::start(0)).unwrap();
    let mqtt = format!("mqtt://127.0.0.1:{}", broker.port());
    let args = ["fusion", "center", "--bundle", &bundle, "--broker", &mqtt, "--listen", "--json"];
    let mut center = Listening(start(&args));
    let mut said = BufReader::new(center.0.stdout.take().unwrap()).lines();
    let page: Value = serde_json::from_str(&said.next().unwrap().unwrap()).unwrap();
    assert_eq!(page["event"], "page", "{page}");
    let url = page["address"].as_str().unwrap();
    let address = url.strip_prefix("http://").unwrap().trim_end_matches('/');
    assert!(address.starts_with("127.0.0.1:"), "{url}");
    let port = address.rsplit_once(':').unwrap().1;
    for (index, lines) in [("0", "0\n1\n"), ("1", "2\n0\n")] {
        let state = dir.path(&format!("sensor-{index}.state"));
        let args = ["fusion", "sensor", "--bundle", &bundle, "--broker", &mqtt, "--index", index];
        let mut sensor = start(&[&args[..], &["--state", &state]].concat());
        sensor.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
        assert!(sensor.wait().unwrap().success());
    }
    let decisions = said.filter(|line| line.as_ref().unwrap().contains("\"decision\""));
    assert_eq!(decisions.take(2).count(), 2);

    let (head, body) = ask(address, "GET /v1/state", address);
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    let state: Value = serde_json::from_str(&body).unwrap();
    assert_eq!((&state["decided"], &state["budget"]["epochs"]), (&2.into(), &2.into()), "{state}");
    assert_eq!((&state["public"]["name"], &state["connected"]), (&"leak".into(), &true.into()));
    assert_eq!(state["sensors"].as_array().unwrap().len(), 2);
    assert!(state["private"]["words"].as_str().unwrap().contains("% at most"), "{state}");
    assert!(!body.contains("token") && !body.contains(&mqtt), "{body}");

    for (request, host, code) in [
        ("GET /", address, "200"),
        ("GET /", &format!("localhost:{port}"), "200"),
        ("GET /", &format!("[::1]:{port}"), "200"),
        ("GET /", "evil.example", "421"),
        ("GET /v1/state", &format!("evil.example:{port}"), "421"),
        ("GET http://evil.example/v1/state", address, "421"),
        ("GET /assets/style.css", address, "200"),
        ("GET /assets/index.html", address, "404"),
        ("GET /assets/..%2Fcenter.rs", address, "404"),
        ("GET /metrics", address, "404"),
        ("POST /v1/state", address, "405"),
        ("DELETE /", address, "405"),
        ("GET /healthz", address, "200"),
        ("GET /readyz", address, "200"),
    ] {
        let (head, body) = ask(address, request, host);
        assert!(head.starts_with(&format!("HTTP/1.1 {code}")), "{request} {host}: {head}");
        let head = head.to_lowercase();
        for header in [
            "content-security-policy: default-src 'none'; script-src 'self'",
            "cache-control: no-store",
            "x-content-type-options: nosniff",
            "cross-origin-resource-policy: same-origin",
        ] {
            assert!(head.contains(header), "{request}: {head}");
        }
        assert!(!head.contains("access-control-allow-origin"), "{head}");
        assert!(code != "421" || !body.contains("decided"), "{body}");
    }
    runtime.block_on(broker.stop());
    let gone = || ask(address, "GET /readyz", address).0.starts_with("HTTP/1.1 503");
    let mut tries = 0;
    while !gone() && tries < 600 {
        std::thread::sleep(std::time::Duration::from_millis(100));
        tries += 1;
    }
    assert!(gone(), "a centre without its broker is not ready");
}

#[test]
fn a_demonstration_goes_on_until_it_is_asked_to_end() {
    let dir = Scratch::new("fusion-demo-page");
    let bundle = network(&dir);
    let args = ["fusion", "demo", "--bundle", &bundle, "--broker", "builtin", "--rate", "50"];
    let mut demo = start(&[&args[..], &["--kill", "1@4"]].concat());
    let mut said = BufReader::new(demo.stdout.take().unwrap()).lines();
    let first = said.next().unwrap().unwrap();
    let address = first.strip_prefix("page at http://").unwrap().trim_end_matches('/').to_owned();
    let epochs = said.by_ref().find(|line| line.as_ref().unwrap().trim_start().starts_with("10 "));
    assert!(epochs.is_some(), "{first}");
    let state: Value = serde_json::from_str(&ask(&address, "GET /v1/state", &address).1).unwrap();
    assert!(state["decided"].as_u64().unwrap() >= 10, "{state}");
    assert_eq!(state["sensors"][1]["state"], "dead", "{state}");
    let events = state["events"].as_array().unwrap();
    assert!(events.iter().any(|event| event["kind"] == "dead" && event["sensor"] == 1), "{state}");
    let ended = Command::new("kill").args(["-INT", &demo.id().to_string()]).status().unwrap();
    assert!(ended.success());
    let rest: Vec<String> = said.map(Result::unwrap).collect();
    assert!(demo.wait().unwrap().success());
    let rest = rest.join("\n");
    assert!(rest.contains("1 of 2 sensors sent their constant token"), "{rest}");
}

#[test]
fn epochs_are_counted_numbered_or_the_clock_s() {
    let dir = Scratch::new("fusion-epochs");
    let bundle = network(&dir);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let broker = runtime.block_on(Broker::start(0)).unwrap();
    let address = format!("mqtt://127.0.0.1:{}", broker.port());
    let _center = Listening::start(&dir, &bundle, &address);
    let sensor = ["fusion", "sensor", "--bundle", &bundle, "--broker", &address, "--json"];
    let told = |rest: &[&str], lines: &str| -> Value {
        let mut process = start(&[&sensor[..], rest].concat());
        process.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
        let output = process.wait_with_output().unwrap();
        serde_json::from_slice(&output.stdout).unwrap()
    };

    // By number: an epoch that was said stays said, and the last is outside the budget of epochs 1 to 5.
    let state = dir.path("numbered.state");
    let numbered = ["--index", "0", "--state", &state, "--numbered"];
    let said = told(&numbered, "1 0\n2 1\n2 2\n4 0\n9 1\n");
    assert_eq!((&said["published"], &said["past"]), (&4.into(), &1.into()), "{said}");
    assert_eq!((&said["spent"], &said["constant"]), (&3.into(), &1.into()), "{said}");

    // By the clock: three values within one epoch of thirty years are one report.
    let state = dir.path("clock.state");
    let mut clock = vec!["--index", "1", "--state", &state, "--epoch-seconds", "1e9"];
    let said = told(&clock, "0\n");
    assert!(said["error"].as_str().unwrap_or_default().contains("--first-epoch"), "{said}");
    clock.extend(["--first-epoch", "1"]);
    let said = told(&clock, "0\n1\n2\n");
    assert_eq!((&said["published"], &said["past"]), (&1.into(), &2.into()), "{said}");
}

#[test]
fn a_sensor_follows_a_topic_until_it_is_asked_to_end() {
    let dir = Scratch::new("fusion-topic");
    let bundle = network(&dir);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (reports, values) = runtime
        .block_on(async { (Broker::start(0).await.unwrap(), Broker::start(0).await.unwrap()) });
    let address = |broker: &Broker| format!("mqtt://127.0.0.1:{}", broker.port());
    // Kept by the broker, so that it does not matter who comes first.
    let options = LinkOptions::new(address(&values).parse().unwrap(), "meter".into());
    runtime.block_on(async {
        let link = Link::open(options).unwrap();
        let payload = b"1 2".to_vec();
        link.publish(Message { topic: "home/meter".into(), payload, retain: true }).unwrap();
        assert!(link.close(std::time::Duration::from_secs(60)).await);
    });
    let (to, from, state) = (address(&reports), address(&values), dir.path("state"));
    let _center = Listening::start(&dir, &bundle, &to);
    let mut args = vec!["fusion", "sensor", "--bundle", &bundle, "--index", "0", "--broker", &to];
    args.extend(["--state", &state, "--topic", "home/meter", "--topic-broker", &from]);
    let mut process = Command::new(env!("CARGO_BIN_EXE_undertone"))
        .args([&args[..], &["--numbered", "--json"]].concat())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(process.stderr.take().unwrap()).lines();
    let drawn = said.find(|line| line.as_ref().unwrap().contains("\"drawn\"")).unwrap().unwrap();
    let drawn: Value = serde_json::from_str(&drawn).unwrap();
    assert_eq!(drawn["epoch"], 1, "{drawn}");
    let ended = Command::new("kill").args(["-TERM", &process.id().to_string()]).status().unwrap();
    assert!(ended.success());
    let output = process.wait_with_output().unwrap();
    let summary: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(output.status.success(), "{summary}");
    assert_eq!((&summary["published"], &summary["spent"]), (&1.into(), &1.into()), "{summary}");
}

#[test]
fn bad_arguments_are_named() {
    let dir = Scratch::new("fusion-run-bad");
    let bundle = network(&dir);
    let state = dir.path("state");
    let sensor = ["fusion", "sensor", "--bundle", &bundle, "--state", &state];
    let center = ["fusion", "center", "--bundle", &bundle];
    let with = |start: &[&str], rest: &[&str]| complaint(&[start, rest].concat());
    for (start, rest, code, words) in [
        (&sensor[..], &["--index", "0"][..], 2, "--broker"),
        (&sensor[..], &["--index", "9", "--broker", "mqtt://h"][..], 1, "the network has 2"),
        (
            &sensor[..],
            &["--index", "0", "--epochs", "6", "--broker", "mqtt://h"][..],
            1,
            "certified",
        ),
        (&sensor[..], &["--index", "0", "--broker", "http://h"][..], 2, "mqtt://"),
        (&sensor[..], &["--index", "0", "--broker", "mqtts://h"][..], 2, "--ca"),
        (
            &sensor[..],
            &["--index", "0", "--broker", "mqtt://h", "--epoch-seconds", "nan"][..],
            2,
            "--epoch-seconds",
        ),
        (&center[..], &["--broker", "mqtt://u:p@h"][..], 2, "--password-file"),
        (&center[..], &["--broker", "mqtt://h", "--deadline", "-1"][..], 2, "--deadline"),
        (&center[..], &["--broker", "mqtt://h", "--window", "0"][..], 2, "--window"),
        (&center[..], &["--broker", "mqtt://h", "--listen", "nowhere"][..], 2, "--listen"),
        (&["fusion", "demo", "--epochs", "0"][..], &[][..], 2, "epochs"),
        (&["fusion", "demo", "--rate", "0"][..], &[][..], 2, "from 0.01"),
        (&["fusion", "demo", "--kill", "2@7-7"][..], &[][..], 2, "2@20-40"),
        (&["fusion", "demo", "--kill", "2@0"][..], &[][..], 2, "2@20-40"),
        (&["fusion", "demo", "--bundle", &bundle, "--kill", "2@1"][..], &[][..], 2, "has 2"),
        (&["fusion", "demo", "--once", "--listen", "127.0.0.1:0"][..], &[][..], 2, "--once"),
    ] {
        let (found, said) = with(start, rest);
        assert_eq!(found, code, "{rest:?}: {said}");
        assert!(said.contains(words), "{rest:?}: {said}");
        assert!(!said.contains("u:p"), "{said}");
    }
    // Another network's state file is not taken.
    std::fs::write(&state, "something else entirely, and long enough to be no beginning\n")
        .unwrap();
    let (code, said) = with(&sensor, &["--index", "0", "--broker", "mqtt://h"]);
    assert!(code == 1 && said.contains("give another file"), "{said}");
}
