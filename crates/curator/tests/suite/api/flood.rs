//! Floods: bodies that are withheld, answers that are not taken, crowds of connections and of reports.

use crate::api::harness::{Answer, Service, bearer, crowd, listed, yes_no};
use rand_chacha::ChaCha12Rng;
use rand_core::SeedableRng;
use serde_json::json;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Command, Stdio};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use undertone_curator::flight::Capacity;
use undertone_curator::limit::Rate;
use undertone_curator::server::Limits;
use undertone_curator::{Settings, store};
use undertone_wire::BatchForm;

const REPORTS: &str = "/v1/surveys/one/reports";

/// A connection from 127.0.0.`host`, which counts as an address of its own.
async fn connect(to: SocketAddr, host: u8) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    socket.bind(SocketAddr::from(([127, 0, 0, host], 0))).unwrap();
    socket.connect(to).await.unwrap()
}

fn head(length: usize) -> String {
    format!(
        "POST {REPORTS} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n"
    )
}

/// Announces `length` bytes and sends all but the last one.
async fn withhold(to: SocketAddr, host: u8, length: usize) -> TcpStream {
    let mut stream = connect(to, host).await;
    stream.write_all(head(length).as_bytes()).await.unwrap();
    // Refused, or taken.
    let _ = stream.write_all(&vec![b' '; length - 1]).await;
    stream
}

async fn ask(to: SocketAddr, host: u8, path: &str) -> Answer {
    let mut stream = connect(to, host).await;
    let request = format!("GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    Answer::read(&mut stream).await.expect("an answer")
}

/// Waits until a number of the metrics is what it should be.
async fn wait_for(service: &Service, name: &str, wanted: impl Fn(u64) -> bool) -> u64 {
    let mut seen = String::new();
    for _ in 0..1000 {
        seen = service.owner_get("/metrics").await.text();
        let line = seen.lines().find_map(|line| line.strip_prefix(&format!("{name} ")));
        let number: u64 = line.unwrap().parse().unwrap();
        if wanted(number) {
            return number;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{name} is not as it should be: {seen}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn withheld_bodies_hold_what_they_may_and_no_more() {
    const BODY: usize = 128 << 10;
    let small = |settings: &mut Settings| {
        settings.max_anonymous_body = BODY;
        settings.in_flight = Capacity { total: 3 * BODY, per_address: 2 * BODY };
        settings.body_timeout = Duration::from_secs(5);
    };
    let service = Service::with(small, Limits::default()).await;
    let policy = service.create(&yes_no("one")).await;
    let name = "undertone_bytes_in_flight";
    let held = [withhold(service.address, 2, BODY).await, withhold(service.address, 2, BODY).await];
    wait_for(&service, name, |bytes| bytes == 2 * BODY as u64).await;
    // The address has its share; another one does not suffer for it.
    let mut third = withhold(service.address, 2, BODY).await;
    let refused = Answer::read(&mut third).await.unwrap();
    assert_eq!(refused.code(), "busy");
    assert!(refused.header("retry-after").is_some());
    let other = withhold(service.address, 3, BODY).await;
    wait_for(&service, name, |bytes| bytes == 3 * BODY as u64).await;
    // Now everything is taken, for everybody but the owner.
    let mut rng = ChaCha12Rng::seed_from_u64(41);
    let report = crowd(&policy, &[0.5, 0.5], 1, &mut rng).remove(0).to_json();
    assert_eq!(service.post_json(REPORTS, &report).await.code(), "busy");
    let made = service.owner_post("/v1/surveys", &yes_no("two")).await;
    assert_eq!(made.status, 201, "{}", made.text());
    // Whoever withholds is cut off, and what they held is given back.
    for mut stream in held.into_iter().chain([other]) {
        assert_eq!(Answer::read(&mut stream).await.unwrap().code(), "timeout");
    }
    wait_for(&service, name, |bytes| bytes == 0).await;
    assert_eq!(service.post_json(REPORTS, &report).await.status, 202);
}

/// A survey whose description takes about 600 kB.
fn long_survey() -> serde_json::Value {
    let names: Vec<String> = (0..3000).map(|n| format!("{n:04}{}", "x".repeat(190))).collect();
    let mut body = yes_no("long");
    body["answers"] = json!({ "names": names });
    body["plan"] = json!({"epsilon": "1", "method": "krr"});
    body
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_that_are_not_taken_hold_a_share_and_are_given_up() {
    let limits = Limits { write: Duration::from_secs(2), ..Limits::default() };
    let capacity = Capacity { total: 8 << 20, per_address: 900_000 };
    let service = Service::with(|settings| settings.in_flight = capacity, limits).await;
    service.create(&long_survey()).await;
    let length = service.get("/v1/surveys/long").await.body.len();
    assert!((500_000..800_000).contains(&length), "{length}");
    // More than the sockets' own buffers take, and not one byte is read.
    let request = "GET /v1/surveys/long HTTP/1.1\r\nhost: x\r\n\r\n".repeat(60);
    let mut greedy = connect(service.address, 2).await;
    greedy.write_all(request.as_bytes()).await.unwrap();
    let name = "undertone_bytes_in_flight";
    wait_for(&service, name, |bytes| bytes >= length as u64).await;
    let refused = ask(service.address, 2, "/v1/surveys/long").await;
    assert_eq!(refused.code(), "busy");
    assert_eq!(ask(service.address, 2, "/assets/undertone.js").await.status, 200, "embedded");
    assert_eq!(ask(service.address, 3, "/v1/surveys/long").await.status, 200);
    // It is given up: the connection ends, and what it held is given back.
    wait_for(&service, name, |bytes| bytes == 0).await;
    wait_for(&service, "undertone_connections", |open| open == 1).await;
    let mut taken = Vec::new();
    let _ = greedy.read_to_end(&mut taken).await;
    assert!(taken.len() < 60 * length, "all of {} bytes were kept for it", taken.len());
    assert_eq!(ask(service.address, 2, "/v1/surveys/long").await.status, 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slow_readers_who_read_are_served() {
    let limits = Limits { write: Duration::from_millis(500), ..Limits::default() };
    let service = Service::with(|_| {}, limits).await;
    service.create(&long_survey()).await;
    let length = service.get("/v1/surveys/long").await.body.len();
    let request = "GET /v1/surveys/long HTTP/1.1\r\nhost: x\r\n";
    let requests = format!("{request}\r\n").repeat(19) + request + "connection: close\r\n\r\n";
    let mut stream = TcpStream::connect(service.address).await.unwrap();
    stream.write_all(requests.as_bytes()).await.unwrap();
    // Several times the deadline in all, and never that long without taking something.
    let mut piece = vec![0; 32 << 10];
    let mut taken = 0;
    loop {
        match stream.read(&mut piece).await.unwrap() {
            0 => break,
            bytes => taken += bytes,
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert!(taken > 20 * length, "{taken}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_address_has_so_many_connections() {
    let limits = Limits { per_address: Some(3), ..Limits::default() };
    let service = Service::with(|_| {}, limits).await;
    let held = [
        connect(service.address, 2).await,
        connect(service.address, 2).await,
        connect(service.address, 2).await,
    ];
    wait_for(&service, "undertone_connections", |open| open == 4).await;
    for _ in 0..20 {
        let refused = ask(service.address, 2, "/healthz").await;
        assert_eq!(refused.code(), "too_many_requests");
        assert_eq!(refused.header("retry-after"), Some("5"));
    }
    assert_eq!(ask(service.address, 3, "/healthz").await.status, 200);
    wait_for(&service, "undertone_connections_refused_total", |refused| refused == 20).await;
    drop(held);
    wait_for(&service, "undertone_connections", |open| open == 1).await;
    assert_eq!(ask(service.address, 2, "/healthz").await.status, 200);
    // Behind a proxy everybody comes from one address.
    let behind = Service::with(|settings| settings.trust_proxy = true, limits).await;
    let mut held = Vec::new();
    for _ in 0..10 {
        held.push(connect(behind.address, 2).await);
    }
    assert_eq!(ask(behind.address, 2, "/healthz").await.status, 200);
}

/// A client that sends all of a body before it reads the answer gets the answer.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn refusals_reach_whoever_is_still_sending() {
    let service =
        Service::with(|settings| settings.max_anonymous_body = 64 << 10, Limits::default()).await;
    service.create(&yes_no("one")).await;
    let body = vec![b' '; 6 << 20];
    let chunked = "POST /v1/surveys/one/reports HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n600000\r\n";
    let unauthorized =
        format!("POST /v1/surveys HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\n\r\n", body.len());
    for (head, code) in [
        (head(body.len()), "body_too_large"),
        (chunked.to_owned(), "body_too_large"),
        (unauthorized, "unauthorized"),
    ] {
        for turn in 0..10 {
            let mut stream = TcpStream::connect(service.address).await.unwrap();
            stream.write_all(head.as_bytes()).await.unwrap();
            stream.write_all(&body).await.expect("all of it is taken from the client");
            let answer = Answer::read(&mut stream).await;
            assert_eq!(answer.expect("an answer").code(), code, "turn {turn}");
        }
    }
    // The owner's token allows more.
    let large = [("authorization", bearer()), ("content-type", "application/json".into())];
    let large: Vec<(&str, &str)> = large.iter().map(|(k, v)| (*k, v.as_str())).collect();
    let answer = service.send("POST", REPORTS, &large, &body).await;
    assert_eq!(answer.code(), "malformed", "it was read");
}

/// A batch costs as many as there are reports in it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reports_are_counted_and_not_requests() {
    let strict = |settings: &mut Settings| {
        settings.rate = Some(Rate { burst: 1000.0, per_second: 0.0 });
    };
    let service = Service::with(strict, Limits::default()).await;
    let policy = service.create(&yes_no("one")).await;
    let mut rng = ChaCha12Rng::seed_from_u64(42);
    let reports = crowd(&policy, &[0.5, 0.5], 4000, &mut rng);
    let mut accepted = 0;
    for (turn, batch) in reports.chunks(400).enumerate() {
        let answer = match turn % 2 {
            0 => service.post_json(REPORTS, &listed(batch)).await,
            _ => service.post_binary(REPORTS, &BatchForm::Binary.encode(batch).unwrap()).await,
        };
        match answer.status {
            202 => accepted += batch.len(),
            _ => assert_eq!(answer.code(), "too_many_requests"),
        }
    }
    // Two batches leave something, and whoever has something left may take more than that.
    assert_eq!(accepted, 1200);
    assert_eq!(service.get("/v1/surveys/one").await.code(), "too_many_requests");
    assert_eq!(service.counted("one").await, 1200);
    let token = bearer();
    let headers = [("authorization", &*token), ("content-type", BatchForm::Binary.media_type())];
    let body = BatchForm::Binary.encode(&reports).unwrap();
    assert_eq!(service.send("POST", REPORTS, &headers, &body).await.status, 202, "the owner may");
    let metrics = service.owner_get("/metrics").await.text();
    let line = "undertone_reports_refused_total{reason=\"too_many_requests\"}";
    assert!(metrics.contains(line), "{metrics}");
}

/// A long list of short reports takes no more memory than the longest that is allowed, and is named as what it is.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn too_many_reports_are_too_large_a_body() {
    let service = Service::start().await;
    let policy = service.create(&yes_no("one")).await;
    let mut rng = ChaCha12Rng::seed_from_u64(43);
    let one = crowd(&policy, &[0.5, 0.5], 1, &mut rng).remove(0).to_json();
    let list = vec![one.as_str(); undertone_wire::limits::MOST_REPORTS].join(",");
    let full = service.post_json(REPORTS, &format!("{{\"reports\": [{list}]}}")).await;
    assert_eq!(full.status, 202, "{}", full.text());
    let more = service.post_json(REPORTS, &format!("{{\"reports\": [{list},{{}},7]}}")).await;
    assert_eq!(more.code(), "body_too_large");
    assert!(more.text().contains("10002 reports"), "{}", more.text());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_at_its_limit_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let place = format!("sqlite:{}", folder.path().join("curator.db").display());
    let options = store::Options { max_bytes: Some(1 << 20), ..store::Options::default() };
    let store = store::open_with(&place, options).await.unwrap();
    let service =
        Service::on(store, |settings| settings.fold_pause = Duration::ZERO, Limits::default())
            .await;
    let policy = service.create(&yes_no("one")).await;
    let mut rng = ChaCha12Rng::seed_from_u64(44);
    let mut refused = None;
    for _ in 0..200 {
        let body = BatchForm::Binary.encode(&crowd(&policy, &[0.5, 0.5], 5000, &mut rng)).unwrap();
        let answer = service.post_binary(REPORTS, &body).await;
        if answer.status != 202 {
            refused = Some(answer);
            break;
        }
    }
    let refused = refused.expect("20 MB do not fit into one");
    assert_eq!((refused.status, refused.code().as_str()), (507, "storage_full"));
    assert!(refused.text().contains("the size its owner allows"), "{}", refused.text());
    assert!(refused.header("retry-after").is_some());
    // What was taken is counted, and the round can be ended.
    assert!(service.counted("one").await >= 5000);
    let sealed = service.owner_post("/v1/surveys/one/rounds/1/seal", &json!(null)).await;
    assert_eq!(sealed.status, 200, "{}", sealed.text());
}

const ALONE: &str = "UNDERTONE_TEST_FLOOD_SERVER";

/// Not a test of its own: the curator whose memory is watched.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn serving_process() {
    if std::env::var_os(ALONE).is_none() {
        return;
    }
    let service = Service::start().await;
    service.create(&yes_no("one")).await;
    println!("\nSERVING {}", service.address);
    tokio::time::sleep(Duration::from_secs(120)).await;
}

/// Two hundred connections from each of four addresses, each withholding one byte: 1.6 GB in all.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn memory_is_bounded_by_bytes_in_flight() {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "api::flood::serving_process", "--nocapture"]).env(ALONE, "1");
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let address = lines.filter_map(|line| line.strip_prefix("SERVING ")?.parse().ok()).next();
    let address: SocketAddr = address.unwrap();
    let peak = |id: u32| -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() >> 10
    };
    let before = peak(child.id());
    let most = Settings::default().max_anonymous_body;
    let mut tasks = Vec::new();
    for host in 2..6 {
        for _ in 0..200 {
            tasks.push(tokio::spawn(withhold(address, host, most)));
        }
    }
    let mut held = Vec::new();
    for task in tasks {
        held.push(task.await.unwrap());
    }
    let after = peak(child.id());
    child.kill().unwrap();
    child.wait().unwrap();
    let allowed = (Settings::default().in_flight.total >> 20) as u64;
    println!("{before} MiB before, {after} MiB at most, {allowed} MiB allowed for bodies");
    assert!(after > before + allowed / 2, "the flood did not arrive: {before}, {after}");
    // 800 connections have buffers of their own, and a body that grows is copied: 40 MiB on a quiet machine, three times that
    // where the reader is kept waiting. Without the limit the bodies alone would be 800 MiB and more.
    assert!(after < before + allowed + 200, "{after} MiB");
}
