//! The brokers that every fault is tried on.

use std::path::PathBuf;
use std::time::Duration;

use undertone_fusion::Bundle;
use undertone_fusion::runtime::{
    Address, Broker, Budget, Center, CenterEvent, CenterNode, Decision, LinkOptions, Metrics,
    Mosquitto, Pace, Sensor, SensorNode, free_port,
};

/// Far longer than anything takes; only a hang reaches it.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);

/// A kind of broker.
#[derive(Debug, Clone)]
pub(crate) enum BrokerKind {
    Builtin,
    Mosquitto(PathBuf),
}

/// Those that are on this machine.
pub(crate) fn kinds() -> Vec<BrokerKind> {
    let mut kinds = vec![BrokerKind::Builtin];
    match Mosquitto::find() {
        Some(program) => kinds.push(BrokerKind::Mosquitto(program)),
        None => eprintln!("skipped: mosquitto is not installed (the builtin broker was tested)"),
    }
    kinds
}

enum Running {
    Builtin(Broker),
    Mosquitto(Mosquitto),
}

/// A broker that can be killed and started again on the same port.
pub(crate) struct Host {
    kind: BrokerKind,
    pub(crate) folder: tempfile::TempDir,
    pub(crate) port: u16,
    running: Option<Running>,
}

impl Host {
    pub(crate) async fn start(kind: &BrokerKind) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut host = Self { kind: kind.clone(), folder, port: 0, running: None };
        // A port that was free may be taken by a test beside this one.
        for _ in 0..20 {
            host.port = free_port().unwrap();
            if host.try_start().await {
                return host;
            }
        }
        panic!("no broker could be started");
    }

    async fn try_start(&mut self) -> bool {
        self.running = match &self.kind {
            BrokerKind::Builtin => Broker::start(self.port).await.ok().map(Running::Builtin),
            BrokerKind::Mosquitto(program) => {
                let started = Mosquitto::start(program, self.folder.path(), self.port, &[]).await;
                started.ok().map(Running::Mosquitto)
            }
        };
        self.running.is_some()
    }

    pub(crate) async fn kill(&mut self) {
        match self.running.take() {
            Some(Running::Builtin(broker)) => broker.stop().await,
            Some(Running::Mosquitto(broker)) => broker.kill(),
            None => {}
        }
    }

    pub(crate) async fn restart(&mut self) {
        for _ in 0..100 {
            if self.try_start().await {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("the broker could not be started again on port {}", self.port);
    }

    pub(crate) fn options(&self, client: &str) -> LinkOptions {
        LinkOptions {
            longest_pause: Duration::from_millis(300),
            ..LinkOptions::new(Address::local(self.port), client.into())
        }
    }

    /// Sensor `index` with its state in this host's folder.
    pub(crate) fn sensor(&self, bundle: &Bundle, index: u16) -> SensorNode {
        let state = self.folder.path().join(format!("sensor-{index}"));
        let sensor = Sensor::open(bundle, index, Budget::certified(bundle), &state).unwrap();
        SensorNode::start(bundle, sensor, self.options("sensor")).unwrap()
    }

    pub(crate) fn sensors(&self, bundle: &Bundle) -> Vec<SensorNode> {
        (0..3).map(|index| self.sensor(bundle, index)).collect()
    }

    /// The centre with its state in this host's folder.
    pub(crate) fn center(&self, bundle: &Bundle, deadline: Duration) -> CenterNode {
        let pace = Pace { deadline, ..Pace::default() };
        let state = self.folder.path().join("center");
        let center = Center::open(bundle, Budget::certified(bundle), pace, Some(&state)).unwrap();
        CenterNode::start(center, self.options("center")).unwrap()
    }
}

/// Follows the centre until a condition holds for what has happened so far.
pub(crate) async fn until(
    center: &mut CenterNode,
    mut holds: impl FnMut(&CenterNode, &CenterEvent) -> bool,
) {
    let follow = async {
        loop {
            let event = center.next().await.unwrap();
            if holds(center, &event) {
                return;
            }
        }
    };
    let done = tokio::time::timeout(LIMIT, follow).await;
    assert!(
        done.is_ok(),
        "waited too long; {:#}",
        undertone::Answer::json(center.center().metrics())
    );
}

/// Follows the centre until its counters are as wanted, which they may be already.
pub(crate) async fn reach(center: &mut CenterNode, holds: impl Fn(&Metrics) -> bool) {
    if !holds(center.center().metrics()) {
        until(center, |center, _| holds(center.center().metrics())).await;
    }
}

/// The next `count` decisions, in the order of their epochs.
pub(crate) async fn decisions(center: &mut CenterNode, count: usize) -> Vec<Decision> {
    let mut found = Vec::new();
    until(center, |_, event| {
        if let CenterEvent::Decided(decision) = event {
            found.push(decision.clone());
        }
        found.len() == count
    })
    .await;
    found.sort_by_key(|decision| decision.epoch);
    found
}
