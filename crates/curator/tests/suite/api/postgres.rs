//! The same story on PostgreSQL, and two curators on one database.

use crate::api::harness::{Service, crowd, listed, yes_no};
use crate::api::story::story;
use crate::common::postgres::Server;
use rand_chacha::ChaCha12Rng;
use rand_core::SeedableRng;
use serde_json::Value;
use undertone_curator::server::Limits;
use undertone_wire::BatchForm;

const REPORTS: &str = "/v1/surveys/one/reports";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_postgres() {
    let Some(server) = Server::start() else { return };
    let store = undertone_curator::store::open(&server.database("story")).await.unwrap();
    let mut service = Service::on(store, |_| {}, Limits::default()).await;
    story(&service).await;
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_curators_on_one_database() {
    let Some(server) = Server::start() else { return };
    let address = server.database("shared");
    let open = || async { undertone_curator::store::open(&address).await.unwrap() };
    let mut first = Service::on(open().await, |_| {}, Limits::default()).await;
    let mut second = Service::on(open().await, |_| {}, Limits::default()).await;
    let policy = first.create(&yes_no("one")).await;
    assert_eq!(second.policy("one").await, policy);
    // The id is taken for both.
    assert_eq!(second.owner_post("/v1/surveys", &yes_no("one")).await.code(), "conflict");
    // Everybody's report goes to one curator, half of them to the other one as well.
    let mut rng = ChaCha12Rng::seed_from_u64(13);
    let reports = crowd(&policy, &[0.85, 0.15], 2000, &mut rng);
    for (at, batch) in reports.chunks(100).enumerate() {
        let (one, other) = if at % 2 == 0 { (&first, &second) } else { (&second, &first) };
        let body = BatchForm::Binary.encode(batch).unwrap();
        let (a, b) = tokio::join!(one.post_binary(REPORTS, &body), async {
            match at % 4 {
                0 => Some(other.post_json(REPORTS, &listed(batch)).await),
                _ => None,
            }
        });
        assert_eq!(a.status, 202, "{}", a.text());
        assert!(b.is_none_or(|b| b.status == 202));
    }
    assert_eq!(first.counted("one").await, 2000);
    assert_eq!(second.counted("one").await, 2000);
    let sealed = second.owner_post("/v1/surveys/one/rounds/1/seal", &Value::Null).await;
    assert_eq!(sealed.status, 200);
    // The first curator may remember an open round; the store does not.
    let late = first.post_json(REPORTS, &reports[0].to_json()).await;
    assert_eq!(late.code(), "round_sealed");
    let released = first.owner_post("/v1/surveys/one/rounds/1/release", &Value::Null).await;
    assert_eq!(released.status, 200, "{}", released.text());
    tokio::time::sleep(std::time::Duration::from_millis(1100)).await;
    let seen = |service: Value| service["rounds"][0].clone();
    let (a, b) = tokio::join!(
        first.get("/v1/surveys/one/estimates"),
        second.get("/v1/surveys/one/estimates")
    );
    assert_eq!(seen(a.json()), seen(b.json()));
    assert_eq!(seen(a.json())["reports"], 2000);
    assert_eq!(seen(a.json())["duplicates"], 500);
    first.stop().await;
    second.stop().await;
}
