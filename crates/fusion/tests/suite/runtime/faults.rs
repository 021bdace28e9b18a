//! Everything that goes wrong on a network, on every broker there is.

use std::time::Duration;

use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use undertone_fusion::runtime::{
    Address, Broker, CenterEvent, Demo, Link, LinkEvent, Message, Refusal, SensorNode,
    SensorReport, Status, TokenKind, Topics,
};

use crate::runtime::brokers::{Host, LIMIT, decisions, kinds, reach, until};
use crate::runtime::network::{network, networks, report};

fn generator(seed: u64) -> ChaCha20Rng {
    ChaCha20Rng::seed_from_u64(seed)
}

/// All sensors report in these epochs; returns their tokens.
fn send(
    sensors: &mut [SensorNode],
    epochs: std::ops::RangeInclusive<u64>,
    rng: &mut ChaCha20Rng,
) -> Vec<Vec<Option<usize>>> {
    let one = |epoch: u64| -> Vec<Option<usize>> {
        let mut token = |sensor: &mut SensorNode| {
            let report = sensor.send(epoch, &(epoch % 3).to_string(), rng).unwrap();
            (report.kind == TokenKind::Drawn).then_some(report.token as usize)
        };
        sensors.iter_mut().map(&mut token).collect()
    };
    epochs.map(one).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_network_survives_its_broker() {
    for kind in kinds() {
        let bundle = network(60);
        let mut host = Host::start(&kind).await;
        let mut center = host.center(&bundle, LIMIT);
        let mut sensors = host.sensors(&bundle);
        let mut rng = generator(1);
        let mut said = send(&mut sensors, 1..=10, &mut rng);
        let mut decided = decisions(&mut center, 10).await;
        for round in 0..2 {
            host.kill().await;
            until(&mut center, |_, event| matches!(event, CenterEvent::Lost { .. })).await;
            // Nobody is there to hear these yet.
            let first = 11 + 10 * round;
            said.extend(send(&mut sensors, first..=first + 9, &mut rng));
            host.restart().await;
            decided.extend(decisions(&mut center, 10).await);
        }
        assert_eq!(decided.len(), 30);
        for ((epoch, said), decision) in (1..).zip(&said).zip(&decided) {
            assert_eq!((decision.epoch, &decision.outputs), (epoch, said), "{kind:?}");
            assert!(decision.missing.is_empty());
        }
        let metrics = center.center().metrics();
        assert_eq!((metrics.epochs, metrics.accepted), (30, 90));
        assert_eq!(metrics.refused(Refusal::Contradiction), 0);
        assert_eq!(metrics.refused(Refusal::Late), 0);
        for sensor in sensors {
            assert_eq!(sensor.sensor().spent(), 30);
            assert!(sensor.close(LIMIT).await.unwrap());
        }
        assert!(center.close(LIMIT).await.unwrap());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sensor_that_dies_is_averaged_over_and_comes_back_with_its_memory() {
    for kind in kinds() {
        let bundle = network(60);
        let host = Host::start(&kind).await;
        let mut center = host.center(&bundle, LIMIT);
        let mut sensors = host.sensors(&bundle);
        let mut rng = generator(2);
        let said = send(&mut sensors, 1..=3, &mut rng);
        decisions(&mut center, 3).await;
        // No farewell: the broker finds the connection cut and publishes the last will.
        drop(sensors.remove(1));
        let dead = CenterEvent::Status { sensor: 1, status: Status::Dead };
        until(&mut center, |_, event| *event == dead).await;
        for sensor in &mut sensors {
            sensor.send(4, "1", &mut rng).unwrap();
        }
        let without = decisions(&mut center, 1).await.remove(0);
        assert_eq!((without.epoch, &without.missing[..]), (4, &[1][..]), "{kind:?}");
        let expected = bundle.rule().unwrap().posterior(&without.outputs).unwrap();
        assert_eq!(without.posterior, expected.public);
        // It comes back, says its last word again, and goes on.
        let again = host.sensor(&bundle, 1);
        assert_eq!(again.sensor().spent(), 3);
        assert_eq!(again.sensor().last().map(|last| last.token as usize), said[2][1]);
        sensors.insert(1, again);
        reach(&mut center, |metrics| {
            metrics.refused(Refusal::Duplicate) == 1
                && metrics.sensors[1].status == Some(Status::Alive)
        })
        .await;
        let said = send(&mut sensors, 5..=5, &mut rng);
        assert_eq!(decisions(&mut center, 1).await[0].outputs, said[0]);
        assert_eq!(center.center().metrics().refused(Refusal::Contradiction), 0);
    }
}

/// Without access lists anybody may write what the broker keeps. A will that somebody else has written for a live sensor, before
/// the centre comes or while it listens, costs at most the epochs until the sensor's next report.
#[tokio::test(flavor = "multi_thread")]
async fn a_retained_death_does_not_silence_the_living() {
    for kind in kinds() {
        let bundle = network(60);
        let host = Host::start(&kind).await;
        let topics = Topics::new(&bundle);
        let mut rng = generator(9);
        let mut center = host.center(&bundle, LIMIT);
        let mut sensors = host.sensors(&bundle);
        send(&mut sensors, 1..=1, &mut rng);
        decisions(&mut center, 1).await;
        let rogue = Link::open(host.options("rogue")).unwrap();
        let bury = |sensor: u16| {
            let topic = topics.status(sensor);
            rogue.publish(Message { topic, payload: b"dead".to_vec(), retain: true }).unwrap();
        };
        (0..3).for_each(bury);
        reach(&mut center, |metrics| {
            metrics.sensors.iter().all(|sensor| sensor.status == Some(Status::Dead))
        })
        .await;
        // Nobody is waited for, so the first report decides its epoch alone; each sensor's report revives it.
        send(&mut sensors, 2..=2, &mut rng);
        let second = decisions(&mut center, 1).await.remove(0);
        assert_eq!((second.epoch, second.missing.len()), (2, 2), "{kind:?}: {second:?}");
        reach(&mut center, |metrics| {
            metrics.sensors.iter().all(|sensor| sensor.status == Some(Status::Alive))
        })
        .await;
        let said = send(&mut sensors, 3..=5, &mut rng);
        let decided = decisions(&mut center, 3).await;
        for (decision, said) in decided.iter().zip(&said) {
            assert_eq!((&decision.outputs, &decision.missing[..]), (said, &[][..]), "{kind:?}");
        }
        // The centre comes back and finds what the broker has kept.
        assert!(rogue.close(LIMIT).await);
        assert!(center.close(LIMIT).await.unwrap());
        let mut center = host.center(&bundle, LIMIT);
        reach(&mut center, |metrics| {
            metrics.sensors.iter().all(|sensor| sensor.status == Some(Status::Dead))
        })
        .await;
        send(&mut sensors, 6..=6, &mut rng);
        reach(&mut center, |metrics| {
            metrics.sensors.iter().all(|sensor| sensor.status == Some(Status::Alive))
        })
        .await;
        let said = send(&mut sensors, 7..=8, &mut rng);
        let mut decided = Vec::new();
        while decided.len() < 2 {
            let decision = decisions(&mut center, 1).await.remove(0);
            // Epoch 6 may be told of only now.
            decided.extend((decision.epoch > 6).then_some(decision));
        }
        for (decision, said) in decided.iter().zip(&said) {
            assert_eq!((&decision.outputs, &decision.missing[..]), (said, &[][..]), "{kind:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_lost_is_averaged_over_and_what_is_late_is_counted() {
    for kind in kinds() {
        let bundle = network(60);
        let host = Host::start(&kind).await;
        let mut center = host.center(&bundle, Duration::from_secs(2));
        let mut sensors = host.sensors(&bundle);
        let mut rng = generator(3);
        send(&mut sensors, 1..=1, &mut rng);
        decisions(&mut center, 1).await;
        // Sensor 1's second report never arrives.
        for at in [0, 2] {
            sensors[at].send(2, "1", &mut rng).unwrap();
        }
        let second = decisions(&mut center, 1).await.remove(0);
        assert!(second.epoch == 2 && second.missing.contains(&1), "{kind:?}: {second:?}");
        // It arrives after all, when the epoch is decided.
        sensors[1].send(2, "1", &mut rng).unwrap();
        reach(&mut center, |metrics| metrics.refused(Refusal::Late) >= 1).await;
        // Epochs out of order.
        for epoch in [5, 3, 4] {
            for sensor in &mut sensors {
                sensor.send(epoch, "0", &mut rng).unwrap();
            }
        }
        let epochs: Vec<u64> =
            decisions(&mut center, 3).await.iter().map(|decision| decision.epoch).collect();
        assert_eq!(epochs, [3, 4, 5]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rogues_are_counted_and_change_nothing() {
    for kind in kinds() {
        let bundle = network(60);
        let host = Host::start(&kind).await;
        let mut center = host.center(&bundle, LIMIT);
        let mut sensors = host.sensors(&bundle);
        let mut rng = generator(4);
        let topics = Topics::new(&bundle);
        let mut said = send(&mut sensors, 1..=1, &mut rng);
        let mut decided = decisions(&mut center, 1).await;
        let rogue = Link::open(host.options("rogue")).unwrap();
        let publish = |topic: String, payload: Vec<u8>| {
            rogue.publish(Message { topic, payload, retain: false }).unwrap();
        };
        let good = report(&bundle, 0, 2, 0);
        let other = report(&networks(60, "another"), 0, 2, 0);
        let raw = [
            (0, SensorReport { token: 2, ..good }.to_bytes().to_vec(), Refusal::OutsidePolicy),
            (0, SensorReport { token: 99, ..good }.to_bytes().to_vec(), Refusal::OutsidePolicy),
            (0, other.to_bytes().to_vec(), Refusal::OtherBundle),
            (0, report(&bundle, 1, 2, 0).to_bytes().to_vec(), Refusal::OtherTopic),
            (7, report(&bundle, 7, 2, 0).to_bytes().to_vec(), Refusal::UnknownSensor),
            (0, b"{\"token\": 1}".to_vec(), Refusal::Malformed),
            (0, vec![0; 20_000], Refusal::Malformed),
            (0, Vec::new(), Refusal::Malformed),
        ];
        for (topic, payload, _) in &raw {
            publish(topics.report(*topic), payload.clone());
        }
        // Everything sensor 2 said, twice more.
        let copy = report(&bundle, 2, 1, said[0][2].unwrap() as u32);
        publish(topics.report(2), copy.to_bytes().to_vec());
        publish(topics.report(2), copy.to_bytes().to_vec());
        publish(topics.status(1), b"resting".to_vec());
        reach(&mut center, |metrics| metrics.refused.values().sum::<u64>() >= raw.len() as u64 + 3)
            .await;
        let metrics = center.center().metrics();
        let expected = |reason: Refusal| raw.iter().filter(|(_, _, r)| *r == reason).count() as u64;
        for reason in Refusal::ALL {
            let more = match reason {
                Refusal::Duplicate => 2,
                Refusal::Malformed => 1,
                _ => 0,
            };
            assert_eq!(metrics.refused(reason), expected(reason) + more, "{kind:?}: {reason:?}");
        }
        said.extend(send(&mut sensors, 2..=4, &mut rng));
        decided.extend(decisions(&mut center, 3).await);
        for (decision, said) in decided.iter().zip(&said) {
            assert_eq!(decision.outputs, *said);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_spent_network_says_so_and_says_nothing_else() {
    for kind in kinds() {
        let bundle = network(5);
        let host = Host::start(&kind).await;
        let mut center = host.center(&bundle, LIMIT);
        let mut sensors = host.sensors(&bundle);
        let mut rng = generator(5);
        send(&mut sensors, 1..=8, &mut rng);
        let decided = decisions(&mut center, 8).await;
        let certified = bundle.certificate().after(5).unwrap().information;
        for decision in &decided[5..] {
            assert_eq!(decision.constant, [0, 1, 2], "{kind:?}");
            assert!(decision.outputs.iter().all(Option::is_none));
            assert_eq!((decision.epochs, decision.information), (5, certified));
        }
        reach(&mut center, |metrics| {
            metrics.sensors.iter().all(|sensor| sensor.status == Some(Status::Spent))
        })
        .await;
        // A sensor that does not keep to its budget is not used.
        let rogue = Link::open(host.options("rogue")).unwrap();
        let over = report(&bundle, 0, 9, 1);
        let topic = Topics::new(&bundle).report(0);
        let payload = over.to_bytes().to_vec();
        rogue.publish(Message { topic, payload, retain: false }).unwrap();
        reach(&mut center, |metrics| metrics.refused(Refusal::Spent) == 1).await;
        assert_eq!(center.center().metrics().information, certified);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_broker_keeps_reports_while_the_centre_is_away() {
    for kind in kinds() {
        let bundle = network(60);
        let host = Host::start(&kind).await;
        let mut center = host.center(&bundle, LIMIT);
        let mut sensors = host.sensors(&bundle);
        let mut rng = generator(6);
        send(&mut sensors, 1..=2, &mut rng);
        decisions(&mut center, 2).await;
        drop(center);
        let said = send(&mut sensors, 3..=6, &mut rng);
        for sensor in &sensors {
            assert!(sensor.link().flushed(LIMIT).await);
        }
        let mut center = host.center(&bundle, LIMIT);
        assert_eq!(center.center().metrics().epochs, 2, "its own memory");
        let decided = decisions(&mut center, 4).await;
        for (decision, said) in decided.iter().zip(&said) {
            assert_eq!(decision.outputs, *said, "{kind:?}");
        }
        assert_eq!(decided[3].epochs, 6);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn decisions_and_counters_can_be_heard_by_others() {
    for kind in kinds() {
        let bundle = network(60);
        let host = Host::start(&kind).await;
        let topics = Topics::new(&bundle);
        let mut options = host.options("listener");
        options.filters = vec![topics.decision(), topics.metrics(), topics.center_status()];
        let mut listener = Link::open(options).unwrap();
        let hear = async |listener: &mut Link, topic: &str| loop {
            let event = tokio::time::timeout(LIMIT, listener.next()).await.unwrap().unwrap();
            if let LinkEvent::Delivered(message) = event
                && message.topic == topic
            {
                return message.payload;
            }
        };
        let mut center = host.center(&bundle, LIMIT);
        until(&mut center, |_, event| *event == CenterEvent::Connected).await;
        assert_eq!(hear(&mut listener, &topics.center_status()).await, b"alive");
        let mut sensors = host.sensors(&bundle);
        send(&mut sensors, 1..=1, &mut generator(7));
        let decided = decisions(&mut center, 1).await.remove(0);
        let heard = hear(&mut listener, &topics.decision()).await;
        let heard: serde_json::Value = serde_json::from_slice(&heard).unwrap();
        assert_eq!(heard, serde_json::to_value(decided.record(&bundle)).unwrap());
        assert_eq!((&heard["epoch"], &heard["heard"]), (&1.into(), &3.into()));
        assert!(center.close(LIMIT).await.unwrap());
        // The last counters are the ones that count everything.
        loop {
            let metrics = hear(&mut listener, &topics.metrics()).await;
            let metrics: serde_json::Value = serde_json::from_slice(&metrics).unwrap();
            if metrics["decided"] == 1 {
                assert_eq!(metrics["refused"]["late"], 0);
                break;
            }
        }
        assert_eq!(hear(&mut listener, &topics.center_status()).await, b"done");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_demonstration_is_the_same_on_every_broker() {
    let bundle = network(5);
    let mut seen = Vec::new();
    for kind in kinds() {
        let host = Host::start(&kind).await;
        let address = Address::local(host.port);
        let mut demo =
            Demo::start(&bundle, &address, host.folder.path(), generator(8)).await.unwrap();
        for epoch in 1..=40 {
            let step = demo.epoch().await.unwrap();
            assert_eq!(u64::from(step.decision.epochs), (epoch - 1) % 5 + 1);
            assert_eq!(step.last, epoch % 5 == 0);
        }
        let beyond = demo.epoch_beyond().await.unwrap();
        assert_eq!(beyond.constant, [0, 1, 2]);
        let (tally, metrics) = demo.finish().await.unwrap();
        assert_eq!((tally.epochs, tally.secrets), (40, 8));
        assert_eq!(metrics.refused.values().sum::<u64>(), 0);
        assert_eq!(metrics.accepted, 3 * 41);
        assert!(tally.expected_public < tally.blind_public);
        assert!(tally.least_private < tally.blind_private);
        // 40 draws: six standard deviations around the Bayes error.
        let spread = (tally.expected_public * (1.0 - tally.expected_public) / 40.0).sqrt();
        assert!((tally.error_public() - tally.expected_public).abs() < 6.0 * spread, "{tally:?}");
        seen.push(tally);
    }
    assert!(seen.windows(2).all(|pair| pair[0] == pair[1]), "{seen:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_demonstration_shows_what_fails() {
    let bundle = network(5);
    for kind in kinds() {
        let host = Host::start(&kind).await;
        let address = Address::local(host.port);
        let mut demo =
            Demo::start(&bundle, &address, host.folder.path(), generator(10)).await.unwrap();
        let board = demo.board().clone();
        let sensor = |index: usize| board.state().sensors[index].state;
        for _ in 0..3 {
            demo.epoch().await.unwrap();
        }
        assert_eq!((0..3).map(sensor).collect::<Vec<_>>(), ["live"; 3]);
        demo.kill(1).await.unwrap();
        assert_eq!(sensor(1), "dead");
        assert!(demo.kill(1).await.is_err() && demo.kill(7).await.is_err());
        demo.kill(0).await.unwrap();
        assert!(demo.kill(2).await.is_err(), "the last one");
        demo.revive(0).await.unwrap();
        // Over the end of a private value, so that the sensor finds another budget than the one it left.
        for _ in 0..4 {
            assert_eq!(demo.epoch().await.unwrap().decision.missing, [1]);
        }
        demo.revive(1).await.unwrap();
        assert!(demo.revive(1).await.is_err());
        for _ in 0..4 {
            assert!(demo.epoch().await.unwrap().decision.missing.is_empty());
        }
        let state = board.state();
        assert_eq!((state.decided, state.decisions.len(), state.budget.epochs), (11, 11, 1));
        assert_eq!((state.sensors[1].missed, state.sensors[1].drawn), (4, 1));
        let lives: Vec<(&str, Option<u16>)> = state
            .events
            .iter()
            .rev()
            .filter(|event| matches!(event.kind, "dead" | "alive"))
            .map(|event| (event.kind, event.sensor))
            .skip(3)
            .collect();
        let expected =
            [("dead", Some(1)), ("dead", Some(0)), ("alive", Some(0)), ("alive", Some(1))];
        assert_eq!(lives, expected, "{kind:?}: {:?}", state.events);
        demo.finish().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_builtin_broker_outlives_bad_clients() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let broker = Broker::start(0).await.unwrap();
    let mut options =
        undertone_fusion::runtime::LinkOptions::new(Address::local(broker.port()), "good".into());
    options.filters = vec!["a/#".into()];
    let mut good = Link::open(options).unwrap();
    assert_eq!(good.next().await, Some(LinkEvent::Connected));
    let garbage: [&[u8]; 5] = [
        &[0xff; 100],
        &[0x10, 0xff, 0xff, 0xff, 0xff],
        &[0x30, 3, 0, 1, b'a'],
        &[0x10, 13, 0, 4, b'M', b'Q', b'T', b'T', 9, 2, 0, 60, 0, 1, b'b'],
        &[],
    ];
    for bytes in garbage {
        let mut stream =
            tokio::net::TcpStream::connect(("127.0.0.1", broker.port())).await.unwrap();
        stream.write_all(bytes).await.unwrap();
        stream.shutdown().await.unwrap();
        let mut answer = Vec::new();
        // Closed, after an answer at most.
        let ended = tokio::time::timeout(LIMIT, stream.read_to_end(&mut answer)).await;
        assert!(ended.is_ok() && answer.len() <= 4, "{bytes:?}: {answer:?}");
    }
    let message = Message { topic: "a/b".into(), payload: b"hello".to_vec(), retain: false };
    good.publish(message).unwrap();
    let heard = tokio::time::timeout(LIMIT, good.next()).await.unwrap();
    assert!(matches!(heard, Some(LinkEvent::Delivered(found)) if found.payload == b"hello"));
    assert!(good.close(LIMIT).await);
}

/// The crate carries its own copy of the example, so that it can be packaged.
#[test]
fn the_six_rooms_are_the_example_people_read() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/");
    let own = std::fs::read_to_string(format!("{root}src/runtime/six_rooms.json")).unwrap();
    let example = std::fs::read_to_string(format!("{root}../../examples/fusion-ga.json")).unwrap();
    assert_eq!(own, example);
    assert_eq!(undertone_fusion::runtime::six_rooms().unwrap().model.model.sensors().len(), 6);
}
