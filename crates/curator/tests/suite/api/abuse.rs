//! Requests nobody should send: too large, too slow, malformed, prying, from the wrong site.

use crate::api::harness::{Answer, Service, TOKEN, bearer, report, yes_no};
use rand_chacha::ChaCha12Rng;
use rand_core::{Rng, SeedableRng};
use serde_json::json;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use undertone_curator::limit::Rate;
use undertone_curator::routes::PAGE_POLICY;
use undertone_curator::server::Limits;
use undertone_wire::BatchForm;

const REPORTS: &str = "/v1/surveys/one/reports";

async fn raw(service: &Service, bytes: &[u8]) -> Option<Answer> {
    let mut stream = TcpStream::connect(service.address).await.unwrap();
    let _ = stream.write_all(bytes).await;
    let _ = stream.shutdown().await;
    Answer::read(&mut stream).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bodies_have_a_largest_size() {
    let service = Service::with(|settings| settings.max_body = 1000, Limits::default()).await;
    service.create(&yes_no("one")).await;
    // Announced: refused before any of it is read.
    let head = format!(
        "POST {REPORTS} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: 99999999999\r\n\r\n"
    );
    let mut stream = TcpStream::connect(service.address).await.unwrap();
    stream.write_all(head.as_bytes()).await.unwrap();
    assert_eq!(Answer::read(&mut stream).await.unwrap().code(), "body_too_large");
    // In chunks, without a length.
    let mut chunked = format!(
        "POST {REPORTS} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n"
    )
    .into_bytes();
    for _ in 0..20 {
        chunked.extend_from_slice(format!("64\r\n{}\r\n", " ".repeat(100)).as_bytes());
    }
    chunked.extend_from_slice(b"0\r\n\r\n");
    assert_eq!(raw(&service, &chunked).await.unwrap().code(), "body_too_large");
    // A head without end is refused by the connection itself.
    let long = format!("GET /healthz HTTP/1.1\r\nhost: x\r\nx: {}\r\n\r\n", "y".repeat(1 << 20));
    let answer = raw(&service, long.as_bytes()).await;
    assert!(answer.is_none_or(|answer| answer.status == 431), "no service for endless heads");
    assert_eq!(service.get("/healthz").await.status, 200);
}

/// Slow heads and slow bodies are cut off, and others are served meanwhile.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slow_clients_are_cut_off() {
    let limits = Limits { connections: 8, head: Duration::from_millis(200), ..Limits::default() };
    let service =
        Service::with(|settings| settings.body_timeout = Duration::from_millis(200), limits).await;
    service.create(&yes_no("one")).await;
    // More dribblers than connections: new ones get in when the old ones are cut off.
    let mut slow = Vec::new();
    for _ in 0..12 {
        let mut stream = TcpStream::connect(service.address).await.unwrap();
        stream.write_all(b"GET /healthz HTTP/1.1\r\nho").await.unwrap();
        slow.push(stream);
    }
    assert_eq!(service.get("/healthz").await.status, 200);
    for mut stream in slow {
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest).await;
        assert!(!rest.windows(4).any(|w| w == b" 200"), "an unfinished request was answered");
    }
    let mut stream = TcpStream::connect(service.address).await.unwrap();
    let head = format!(
        "POST {REPORTS} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{{"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    assert_eq!(Answer::read(&mut stream).await.unwrap().code(), "timeout");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nonsense_never_breaks_anything() {
    let service = Service::start().await;
    let policy = service.create(&yes_no("one")).await;
    let mut rng = ChaCha12Rng::seed_from_u64(5);
    let good = report(&policy, 1, &mut rng);
    let (json, packed) = (good.to_json().into_bytes(), BatchForm::Binary.encode(&[good]).unwrap());
    let mut accepted = 0;
    for round in 0..150 {
        for (body, binary) in [(&json, false), (&packed, true)] {
            let mut body = body.clone();
            // Change, cut or lengthen at a random place.
            let at = rng.next_u32() as usize % body.len();
            match round % 3 {
                0 => body[at] = rng.next_u32() as u8,
                1 => body.truncate(at),
                _ => body.insert(at, rng.next_u32() as u8),
            }
            let answer = match binary {
                true => service.post_binary(REPORTS, &body).await,
                false => {
                    service
                        .send("POST", REPORTS, &[("content-type", "application/json")], &body)
                        .await
                }
            };
            match answer.status {
                202 => accepted += 1,
                400 | 404 | 409 | 413 | 422 => {
                    answer.code();
                }
                other => panic!("{other}: {}", answer.text()),
            }
        }
    }
    for nonsense in
        [&b"\x16\x03\x01\x02\x00\x01"[..], b"GET / HTTP/9.9\r\n\r\n", b"\r\n\r\n\r\n", b"GET"]
    {
        let answer = raw(&service, nonsense).await;
        assert!(answer.is_none_or(|answer| answer.status >= 400));
    }
    // What was accepted is counted; changes of one id digit are other reports.
    let counted = service.counted("one").await;
    assert!(counted <= accepted, "{counted} of {accepted}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn paths_lead_nowhere_else() {
    let service = Service::start().await;
    for path in [
        "/assets/../Cargo.toml",
        "/assets/..%2f..%2fCargo.toml",
        "/assets/%2e%2e/%2e%2e/etc/passwd",
        "/assets/%00",
        "/assets//etc/passwd",
        "/assets/kernel",
        "/assets/kernel/",
        "/assets/kernel/..",
        "/assets/kernel/../page.js",
        "/assets/kernel/..%2fpage.js",
        "/assets/kernel%2fjson.js/x",
        "/assets/web/page.js",
        "/s/..%2f..%2fetc",
        "/s/../../../etc/passwd",
        "/v1/policies/..%2f..%2fx",
        "/v1/surveys/..%2fx",
        "/v1/surveys/%ff",
        "//etc/passwd",
    ] {
        let answer = service.get(path).await;
        assert!(matches!(answer.status, 400 | 404), "{path}: {}", answer.status);
        assert!(!answer.text().contains("root:"), "{path}");
    }
}

/// Every module of the client library, in a folder or not, is there for the pages of other sites too, and always the newest.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn modules_are_served_alike() {
    let service = Service::start().await;
    for path in ["/assets/undertone.js", "/assets/client.js", "/assets/kernel/json.js"] {
        let answer = service.get(path).await;
        assert_eq!(answer.status, 200, "{path}");
        assert_eq!(answer.header("content-type"), Some("text/javascript; charset=utf-8"), "{path}");
        assert_eq!(answer.header("cache-control"), Some("no-cache"), "{path}");
        assert_eq!(answer.header("access-control-allow-origin"), Some("*"), "{path}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{path}");
        assert!(answer.text().contains("export "), "{path}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_owners_routes_are_the_owners() {
    let service = Service::start().await;
    service.create(&yes_no("one")).await;
    for (method, path) in [
        ("GET", "/v1/surveys"),
        ("POST", "/v1/surveys"),
        ("POST", "/v1/surveys/one/rounds"),
        ("POST", "/v1/surveys/one/rounds/1/seal"),
        ("POST", "/v1/surveys/one/rounds/1/release"),
        ("GET", "/metrics"),
    ] {
        assert_eq!(service.send(method, path, &[], b"").await.code(), "unauthorized", "{path}");
    }
    // Nobody is locked out for asking without a token.
    for _ in 0..30 {
        service.get("/metrics").await;
    }
    assert_eq!(service.owner_get("/v1/surveys").await.status, 200);
    // A wrong token is not taken for none.
    let wrong = [("authorization", "Bearer wrong-token-0123456789")];
    let answer = service.send("GET", "/v1/surveys/one/estimates", &wrong, b"").await;
    assert_eq!(answer.code(), "unauthorized");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_address_that_asks_too_often_waits() {
    let strict = |settings: &mut undertone_curator::Settings| {
        settings.rate = Some(Rate { burst: 5.0, per_second: 0.001 });
        settings.trust_proxy = true;
    };
    let service = Service::with(strict, Limits::default()).await;
    let from = |address: &'static str| [("x-forwarded-for", address)];
    for _ in 0..5 {
        assert_eq!(
            service.send("GET", "/v1/openapi.json", &from("10.0.0.1"), b"").await.status,
            200
        );
    }
    let answer = service.send("GET", "/v1/openapi.json", &from("10.0.0.1"), b"").await;
    assert_eq!(answer.code(), "too_many_requests");
    assert!(answer.header("retry-after").unwrap().parse::<u32>().unwrap() >= 1);
    // What anybody can invent in front of the proxy's own entry changes nothing.
    let invented = from("6.6.6.6, 10.0.0.1");
    assert_eq!(service.send("GET", "/v1/openapi.json", &invented, b"").await.status, 429);
    assert_eq!(service.send("GET", "/v1/openapi.json", &from("10.0.0.2"), b"").await.status, 200);
    assert_eq!(service.send("GET", "/healthz", &from("10.0.0.1"), b"").await.status, 200);
}

/// Neither wrong tokens nor a crowd behind the same address keep the right token out, and a request
/// with credentials for somebody else is anybody's.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_right_token_is_never_locked_out() {
    let strict = |settings: &mut undertone_curator::Settings| {
        settings.rate = Some(Rate { burst: 30.0, per_second: 0.0 });
        settings.guesses = Rate { burst: 10.0, per_second: 0.0 };
    };
    let service = Service::with(strict, Limits::default()).await;
    service.create(&yes_no("one")).await;
    let basic = [("authorization", "Basic b3duZXI6cGFzc3dvcmQ=")];
    for _ in 0..11 {
        let answer = service.send("GET", "/v1/surveys/one/estimates", &basic, b"").await;
        assert_eq!(answer.status, 200, "a proxy's password is no guess at the token");
    }
    let wrong = [("authorization", "Bearer wrong-token-0123456789")];
    for guess in 0..40 {
        let answer = service.send("GET", "/v1/surveys", &wrong, b"").await;
        let code = if guess < 10 { "unauthorized" } else { "too_many_requests" };
        assert_eq!(answer.code(), code, "guess {guess}");
        assert_eq!(service.owner_get("/v1/surveys").await.status, 200, "guess {guess}");
    }
    assert_eq!(service.get("/v1/surveys/one").await.status, 429, "the address has asked too often");
    assert_eq!(service.owner_get("/metrics").await.status, 200);
    let sealed = service.owner_post("/v1/surveys/one/rounds/1/seal", &json!(null)).await;
    assert_eq!(sealed.status, 200, "{}", sealed.text());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_listed_sites_may_use_a_survey() {
    let service = Service::start().await;
    let mut body = yes_no("one");
    body["origins"] = json!(["https://poll.example"]);
    service.create(&body).await;
    let ask = |method: &'static str, path: &'static str, origin: &'static str| {
        let service = &service;
        async move { service.send(method, path, &[("origin", origin)], b"").await }
    };
    let allowed = "access-control-allow-origin";
    let preflight = ask("OPTIONS", REPORTS, "https://poll.example").await;
    assert_eq!(preflight.status, 204);
    assert_eq!(preflight.header(allowed), Some("https://poll.example"));
    assert_eq!(preflight.header("access-control-allow-headers"), Some("content-type"));
    assert_eq!(ask("OPTIONS", REPORTS, "https://evil.example").await.header(allowed), None);
    let shown = ask("GET", "/v1/surveys/one", "https://poll.example").await;
    assert_eq!(shown.header(allowed), Some("https://poll.example"));
    assert_eq!(shown.header("vary"), Some("origin"));
    assert_eq!(ask("GET", "/v1/surveys/one", "https://evil.example").await.header(allowed), None);
    // Refusals can be read by the page too.
    let refused = ask("POST", REPORTS, "https://poll.example").await;
    assert_eq!(
        (refused.code().as_str(), refused.header(allowed)),
        ("unsupported_form", Some("https://poll.example"))
    );
    // The owner's routes are for no site.
    for path in ["/v1/surveys", "/v1/surveys/one/rounds"] {
        let answer = service
            .send(
                "POST",
                path,
                &[("origin", "https://poll.example"), ("authorization", &bearer())],
                b"",
            )
            .await;
        assert_eq!(answer.header(allowed), None, "{path}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_answer_is_armoured() {
    let service = Service::start().await;
    service.create(&yes_no("one")).await;
    for path in
        ["/", "/s/one", "/v1/surveys/one", "/nowhere", "/v1/surveys/one/officer", "/healthz"]
    {
        let answer = service.get(path).await;
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{path}");
        assert_eq!(answer.header("referrer-policy"), Some("no-referrer"), "{path}");
        assert_eq!(answer.header("x-frame-options"), Some("DENY"), "{path}");
        let policy = answer.header("content-security-policy").unwrap();
        assert!(policy.starts_with("default-src 'none'"), "{path}: {policy}");
        assert!(!policy.contains("unsafe"), "{path}: {policy}");
    }
    assert!(!PAGE_POLICY.contains("http:") && !PAGE_POLICY.contains('*'));
    let policies = service.policy("one").await;
    let cached = service.get(&format!("/v1/policies/{}", policies.id())).await;
    assert_eq!(cached.header("cache-control"), Some("public, max-age=31536000, immutable"));
    let bytes = service.get(&format!("/v1/policies/{}?form=bytes", policies.id())).await;
    assert_eq!(bytes.body, policies.draft().to_bytes());
    assert!(!service.get("/v1/surveys/one").await.text().contains(TOKEN));
}

/// A question with markup in it stays a question.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_officers_page_escapes_what_is_not_ours() {
    let service = Service::start().await;
    let mut body = yes_no("one");
    for field in ["title", "question", "retention", "contact"] {
        body[field] = json!("<script>alert(1)</script>&\"'");
    }
    body["answers"] = json!({"names": ["<b>no</b>", "</style><img src=x>"]});
    body["plan"]["prior"]["source"] = json!("<i>census</i>");
    body["plan"]["groups"] = json!([{"group": "<u>all</u>", "people": 200}]);
    service.create(&body).await;
    let page = service.get("/v1/surveys/one/officer").await.text();
    for markup in ["<script", "<b>", "<img", "<i>", "<u>"] {
        assert!(!page.contains(markup), "{markup}");
    }
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;&amp;&quot;'"));
}
