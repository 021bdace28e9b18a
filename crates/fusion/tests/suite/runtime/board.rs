//! What a centre shows: what is true of it, in bounded memory, and nothing that it does not publish.

use std::time::Duration;

use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use undertone_core::Nats;
use undertone_fusion::runtime::{
    Broker, Budget, Center, CenterEvent, CenterNode, Link, LinkOptions, Message, Pace, Refusal,
    Topics, belief_range,
};

use crate::runtime::brokers::{BrokerKind, Host, LIMIT, decisions, until};
use crate::runtime::network::{network, report};

#[tokio::test(flavor = "multi_thread")]
async fn the_board_says_what_the_centre_knows() {
    let bundle = network(10);
    let host = Host::start(&BrokerKind::Builtin).await;
    let mut center = host.center(&bundle, Duration::from_secs(5));
    let board = center.board().clone();
    let state = board.state();
    assert!(!board.is_connected() && !state.connected);
    assert_eq!((state.decided, state.seconds_since_decision), (0, None));
    assert!(state.sensors.iter().all(|sensor| sensor.state == "waiting"));
    assert!(state.private.words.contains("Nothing was heard yet"), "{}", state.private.words);
    let mut sensors = host.sensors(&bundle);
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let mut decided = Vec::new();
    for epoch in 1..=3 {
        // Sensor 2 is silent in the last one.
        for sensor in sensors.iter_mut().take(if epoch == 3 { 2 } else { 3 }) {
            sensor.send(epoch, "1", &mut rng).unwrap();
        }
        decided.extend(decisions(&mut center, 1).await);
    }
    assert!(board.is_connected());
    let state = board.state();
    assert_eq!(state.bundle, bundle.id());
    assert_eq!((state.decided, state.open, state.decisions.len()), (3, 0, 3));
    for (shown, decision) in state.decisions.iter().zip(&decided) {
        assert_eq!((shown.epoch, shown.value), (decision.epoch, decision.value));
        assert_eq!((&shown.posterior, &shown.missing), (&decision.posterior, &decision.missing));
    }
    let states: Vec<&str> = state.sensors.iter().map(|sensor| sensor.state).collect();
    assert_eq!(states, ["live", "live", "silent"]);
    assert_eq!(
        (state.sensors[0].drawn, state.sensors[2].drawn, state.sensors[2].limit),
        (3, 2, 10)
    );
    let silent = state.events.iter().find(|event| event.kind == "silent").unwrap();
    assert!(silent.fault && silent.sensor == Some(2) && silent.words.contains("nothing in time"));
    // Beliefs are the certificate's: P(no) is 1/2.
    let certified = bundle.certificate().after(10).unwrap();
    assert_eq!((state.budget.epochs, state.budget.limit, state.budget.first), (3, 10, 1));
    assert_eq!(state.budget.information, decided[2].information);
    assert_eq!(
        (state.budget.certified, state.budget.always),
        (certified.information, certified.always)
    );
    for belief in &state.private.beliefs {
        assert!((belief.before - 0.5).abs() < 1e-9, "{belief:?}");
        assert_eq!(
            (belief.least, belief.most),
            belief_range(belief.before, state.budget.information)
        );
        let end = (belief.least_certified, belief.most_certified);
        assert_eq!(end, belief_range(belief.before, certified.information));
        assert!(end.0 < belief.least && belief.most < end.1);
    }
    // No token of a sensor is anywhere in it: what a sensor says is known by what it does.
    let json = serde_json::to_value(&state).unwrap();
    let fields: Vec<&str> =
        json["decisions"][0].as_object().unwrap().keys().map(String::as_str).collect();
    let known = ["at", "constant", "decision", "epoch", "heard", "missing", "posterior", "value"];
    assert_eq!(fields.len(), known.len());
    assert!(known.iter().all(|field| fields.contains(field)), "{fields:?}");
    let sensor = json["sensors"][0].as_object().unwrap();
    assert!(!sensor.contains_key("token") && sensor["ldp"].is_string());
    assert_eq!(json["budget"]["information"], decided[2].information.unwrap().to_string());

    // A sensor that is heard again, a budget that is used up, a new one.
    for epoch in 4..=11 {
        for sensor in &mut sensors {
            sensor.send(epoch, "1", &mut rng).unwrap();
        }
    }
    decisions(&mut center, 8).await;
    // Each says that it is spent before its report of epoch 11.
    assert!(board.state().sensors.iter().all(|sensor| sensor.state == "spent"));
    center.reset(12).unwrap();
    let state = board.state();
    assert_eq!((state.budget.epochs, state.budget.first, state.sensors[0].drawn), (0, 12, 0));
    assert_eq!(state.budget.information, Some(Nats::ZERO));
    let kinds: Vec<&str> = state.events.iter().map(|event| event.kind).collect();
    for kind in ["budget", "used_up", "heard", "silent", "alive", "connected"] {
        assert!(kinds.contains(&kind), "{kind}: {kinds:?}");
    }
    assert_eq!(kinds[0], "budget", "the latest first");
    // Their ends are one fact of the network's and not one of each sensor's.
    assert!(!kinds.contains(&"spent"), "{kinds:?}");
    assert!(!state.events.iter().any(|event| event.fault && event.kind != "silent"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_takes_bounded_room_and_hides_nothing_else() {
    let bundle = network(60);
    let broker = Broker::start(0).await.unwrap();
    let address: undertone_fusion::runtime::Address =
        format!("mqtt://127.0.0.1:{}", broker.port()).parse().unwrap();
    let budget = Budget::certified(&bundle);
    let center = Center::open(&bundle, budget, Pace::default(), None).unwrap();
    let mut center =
        CenterNode::start(center, LinkOptions::new(address.clone(), "center".into())).unwrap();
    let board = center.board().clone();
    until(&mut center, |_, event| *event == CenterEvent::Connected).await;
    let rogue = Link::open(LinkOptions::new(address, "rogue".into())).unwrap();
    let topics = Topics::new(&bundle);
    let publish = |topic: String, payload: &[u8]| {
        rogue.publish(Message { topic, payload: payload.to_vec(), retain: false }).unwrap();
    };
    publish(topics.status(1), b"dead");
    for number in 0..600 {
        publish(topics.report(number), &[number as u8; 5]);
        publish(topics.status(number), b"<script>alert(1)</script>");
        publish(topics.report(0), &report(&bundle, 1, 1, 0).to_bytes());
    }
    until(&mut center, |center, _| center.center().metrics().refused.values().sum::<u64>() == 1800)
        .await;
    let state = board.state();
    assert!(state.events.len() < 50, "{}", state.events.len());
    let json = serde_json::to_string(&state).unwrap();
    assert!(json.len() < 20_000 && !json.contains("script"), "{json}");
    assert!(state.events.iter().any(|event| event.kind == "dead" && event.sensor == Some(1)));
    let wrong = state.events.iter().find(|event| event.reason == Some(Refusal::OtherTopic.name()));
    assert_eq!(wrong.map(|event| (event.times, event.sensor)), Some((600, Some(0))));
    let unknown = state.events.iter().filter(|event| event.sensor.is_none() && event.fault);
    assert_eq!(
        unknown.count(),
        1,
        "those of sensors that are not there count as one: {:?}",
        state.events
    );
    assert!(tokio::time::timeout(LIMIT, rogue.close(LIMIT)).await.unwrap());
}
