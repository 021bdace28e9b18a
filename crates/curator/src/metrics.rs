//! Counters for Prometheus.

use prometheus_client::encoding::{EncodeLabelSet, text::encode};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use crate::store::Load;
use undertone_wire::Code;

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Reason {
    reason: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Answer {
    method: &'static str,
    route: String,
    status: u16,
}

/// What the curator counts about itself.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    /// Reports on disk and acknowledged.
    pub accepted: Counter,
    /// Reports that turned out to be repetitions while they were counted.
    pub duplicates: Counter,
    /// Reports counted.
    pub folded: Counter,
    /// Connections at present.
    pub connections: Gauge,
    /// Connections closed at once because their address had too many.
    pub crowded: Counter,
    /// Bytes of bodies and answers in memory, when last asked.
    pub in_flight: Gauge,
    waiting: Gauge,
    stored: Gauge,
    free: Gauge,
    refused: Family<Reason, Counter>,
    answers: Family<Answer, Counter>,
    seconds: Histogram,
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::default();
        let (accepted, duplicates, folded) =
            (Counter::default(), Counter::default(), Counter::default());
        let (refused, answers) = (Family::default(), Family::default());
        let (connections, in_flight) = (Gauge::default(), Gauge::default());
        let crowded = Counter::default();
        let (waiting, stored, free) = (Gauge::default(), Gauge::default(), Gauge::default());
        registry.register(
            "undertone_reports_waiting",
            "Acknowledged reports that wait to be counted",
            waiting.clone(),
        );
        registry.register("undertone_store_bytes", "Bytes of the store in use", stored.clone());
        registry.register(
            "undertone_store_free_bytes",
            "Bytes until the store's limit or, for a file, the end of its disk; -1 where it is not known",
            free.clone(),
        );
        let seconds =
            Histogram::new([0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0]);
        registry.register(
            "undertone_reports_accepted",
            "Reports on disk and acknowledged",
            accepted.clone(),
        );
        registry.register(
            "undertone_reports_duplicate",
            "Reports whose id had been counted before",
            duplicates.clone(),
        );
        registry.register("undertone_reports_folded", "Reports counted", folded.clone());
        registry.register(
            "undertone_reports_refused",
            "Reports refused, by reason",
            Family::clone(&refused),
        );
        registry.register(
            "undertone_http_responses",
            "Answers, by method, route and status",
            Family::clone(&answers),
        );
        registry.register("undertone_http_seconds", "Time to answer", seconds.clone());
        registry.register("undertone_connections", "Connections at present", connections.clone());
        registry.register(
            "undertone_connections_refused",
            "Connections closed at once because their address had too many",
            crowded.clone(),
        );
        registry.register(
            "undertone_bytes_in_flight",
            "Bytes of bodies and answers in memory",
            in_flight.clone(),
        );
        Self {
            registry,
            accepted,
            duplicates,
            folded,
            connections,
            crowded,
            in_flight,
            waiting,
            stored,
            free,
            refused,
            answers,
            seconds,
        }
    }
}

impl Metrics {
    /// Takes over what the store says of itself.
    pub fn store(&self, load: Load) {
        let number = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        self.waiting.set(number(load.waiting));
        self.stored.set(number(load.bytes));
        self.free.set(load.free.map_or(-1, number));
    }

    /// Counts refused reports.
    pub fn refuse(&self, code: Code, reports: usize) {
        let label = Reason { reason: code.name() };
        self.refused.get_or_create(&label).inc_by(reports as u64);
    }

    /// How many reports were refused for a reason.
    pub fn refused(&self, code: Code) -> u64 {
        self.refused.get_or_create(&Reason { reason: code.name() }).get()
    }

    /// Counts an answer. `route` is the pattern of the path, never the path itself.
    pub fn answered(&self, method: &axum::http::Method, route: &str, status: u16, seconds: f64) {
        let method = match method.as_str() {
            "GET" => "GET",
            "POST" => "POST",
            "HEAD" => "HEAD",
            "OPTIONS" => "OPTIONS",
            _ => "other",
        };
        let label = Answer { method, route: route.to_owned(), status };
        self.answers.get_or_create(&label).inc();
        self.seconds.observe(seconds);
    }

    /// The text that Prometheus reads.
    pub fn text(&self) -> String {
        let mut text = String::new();
        // Writing to a string does not fail.
        let _ = encode(&mut text, &self.registry);
        text
    }
}
