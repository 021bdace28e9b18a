//! Lost requests, lost responses, repetitions and reordering, with fixed seeds; an orderly end.

use crate::api::harness::{Answer, Service, crowd, listed, report, yes_no};
use rand_chacha::ChaCha12Rng;
use rand_core::{Rng, SeedableRng};
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use undertone_core::Report;
use undertone_wire::BatchForm;

const REPORTS: &str = "/v1/surveys/one/reports";

/// Sends a body over a network that loses requests (cut before the end) and answers (closed before they
/// are read); gives whether it was acknowledged.
async fn send_over_bad_network(service: &Service, body: &[u8], rng: &mut ChaCha12Rng) -> bool {
    let head = format!(
        "POST {REPORTS} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: {}\r\ncontent-length: {}\r\n\r\n",
        BatchForm::Binary.media_type(),
        body.len()
    );
    let mut stream = TcpStream::connect(service.address).await.unwrap();
    let whole = [head.as_bytes(), body].concat();
    match rng.next_u32() % 4 {
        // The request is lost on its way.
        0 => {
            let cut = rng.next_u32() as usize % whole.len();
            let _ = stream.write_all(&whole[..cut]).await;
            false
        }
        // The answer is lost: the reports may have been stored.
        1 => {
            let _ = stream.write_all(&whole).await;
            false
        }
        _ => {
            stream.write_all(&whole).await.unwrap();
            Answer::read(&mut stream).await.is_some_and(|answer| answer.status == 202)
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_acknowledged_report_counts_once() {
    let service = Service::start().await;
    let policy = service.create(&yes_no("one")).await;
    let mut rng = ChaCha12Rng::seed_from_u64(6);
    let reports = crowd(&policy, &[0.8, 0.2], 600, &mut rng);
    let mut batches: Vec<&[Report]> = reports.chunks(20).collect();
    while let Some(batch) = batches.pop() {
        let body = BatchForm::Binary.encode(batch).unwrap();
        if !send_over_bad_network(&service, &body, &mut rng).await {
            // Tried again later, after others.
            let at = rng.next_u32() as usize % (batches.len() + 1);
            batches.insert(at, batch);
        }
    }
    // A careless client repeats everything, in another order and the other form.
    let mut again: Vec<Report> = reports.clone();
    again.reverse();
    assert_eq!(service.post_json(REPORTS, &listed(&again)).await.status, 202);
    assert_eq!(service.counted("one").await, 600);
    let expected = reports.iter().fold([0u64; 2], |mut counts, report| {
        if let undertone_core::Token::Index(index) = report.token {
            counts[index as usize] += 1;
        }
        counts
    });
    let live = service.owner_get("/v1/surveys/one/estimates?round=1").await.json();
    let outputs = &live["rounds"][0]["counts"][0]["outputs"];
    assert_eq!(outputs[0]["count"], expected[0]);
    assert_eq!(outputs[1]["count"], expected[1]);
    let duplicates = live["rounds"][0]["duplicates"].as_u64().unwrap();
    assert!(duplicates >= 600, "{duplicates}");
    let metrics = service.owner_get("/metrics").await.text();
    assert!(
        metrics.contains(&format!("undertone_reports_duplicate_total {duplicates}")),
        "{metrics}"
    );
    assert!(metrics.contains("undertone_reports_folded_total 600"), "{metrics}");
}

/// Requests under way finish; new ones find nobody.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_orderly_end() {
    let mut service = Service::start().await;
    let policy = service.create(&yes_no("one")).await;
    let mut rng = ChaCha12Rng::seed_from_u64(7);
    let body = report(&policy, 0, &mut rng).to_json();
    let head = format!(
        "POST {REPORTS} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    let mut stream = TcpStream::connect(service.address).await.unwrap();
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(&body.as_bytes()[..10]).await.unwrap();
    // The head has arrived once the server has answered somebody who came later.
    assert_eq!(service.get("/healthz").await.status, 200);
    tokio::time::sleep(Duration::from_millis(50)).await;
    service.begin_stop();
    tokio::time::sleep(Duration::from_millis(50)).await;
    stream.write_all(&body.as_bytes()[10..]).await.unwrap();
    let answer = Answer::read(&mut stream).await.unwrap();
    assert_eq!(answer.status, 202, "{}", answer.text());
    service.stop().await;
    assert!(TcpStream::connect(service.address).await.is_err());
}
