//! A centre of hypotheses that move: it remembers, and counts the epochs that pass.

use std::time::{Duration, Instant};

use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use undertone_core::Epsilon;
use undertone_fusion::runtime::{Address, Budget, Center, Demo, Pace, Refusal};
use undertone_fusion::time::{Chain, ExactChain, Filter, Secret};
use undertone_fusion::{Bundle, CourseRequest};

use crate::runtime::brokers::{BrokerKind, Host, decisions};
use crate::runtime::network::{network, report};

const PACE: Pace = Pace { deadline: Duration::from_secs(5), window: 8 };

fn moving(epochs: u32) -> Bundle {
    let still = network(1);
    let model = still.float_model().unwrap();
    let stays = |p: f64| vec![vec![p, 1.0 - p], vec![1.0 - p, p]];
    let value = serde_json::json!({ "public": stays(0.9), "private": stays(0.8) });
    let chain = Chain::read(&model, &value).unwrap();
    let chain = ExactChain::new(still.model(), &chain).unwrap();
    let budget = Some(Epsilon::parse("0.5").unwrap());
    let request = CourseRequest { chain, secret: Secret::Any, epochs, budget };
    Bundle::from_json(&still.ship_over_time(&request, || {}).unwrap().to_json()).unwrap()
}

#[test]
fn a_centre_remembers_and_prints_what_passed_epochs_can_tell() {
    let bundle = moving(10);
    let course = bundle.course().unwrap();
    let now = Instant::now();
    let mut center = Center::open(&bundle, Budget::certified(&bundle), PACE, None).unwrap();
    let filter =
        |first: u64| Filter::new(bundle.model(), course.chain(), bundle.rule().unwrap(), first);
    let mut expected = filter(1);
    let mut memory = false;
    for (epoch, outputs) in [(1, [1, 1, 0]), (2, [0, 1, 1]), (5, [0, 0, 0])] {
        for (sensor, token) in (0..).zip(outputs) {
            let report = report(&bundle, sensor, epoch, token);
            center.hear(sensor, &report.to_bytes(), now).unwrap().unwrap();
        }
        let decision = center.decide(now).unwrap().unwrap();
        let outputs = outputs.map(|token| Some(token as usize));
        let believed = expected.hear(epoch, &outputs).unwrap();
        assert_eq!((decision.epoch, decision.posterior), (epoch, believed.public.clone()));
        memory |= believed.public != bundle.rule().unwrap().posterior(&outputs).unwrap().public;
        // Epochs 3 and 4 passed unheard, and count.
        assert_eq!(decision.information, course.after(epoch));
    }
    assert!(memory);
    assert_eq!(center.metrics().epochs, 3);
    assert!(
        course.after(5) > course.after(2) && course.after(10).unwrap().units() <= 5_000_000_000
    );
    assert_eq!(course.after(11), None);
    // The budget ends with the last epoch that was certified.
    let beyond = report(&bundle, 0, 11, 1);
    assert_eq!(center.hear(0, &beyond.to_bytes(), now).unwrap(), Err(Refusal::Spent));
    assert!(Budget::new(&bundle, 1, Some(11)).is_err());
    // A new budget begins with the chain's own law.
    center.reset(20).unwrap();
    let mut anew = filter(20);
    for (sensor, token) in (0..).zip([1, 1, 1]) {
        let report = report(&bundle, sensor, 20, token);
        center.hear(sensor, &report.to_bytes(), now).unwrap().unwrap();
    }
    let decision = center.decide(now).unwrap().unwrap();
    assert_eq!(decision.posterior, anew.hear(20, &[Some(1); 3]).unwrap().public);
    assert_eq!(decision.information, course.after(1));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_board_says_what_the_certificate_of_a_path_is_about() {
    let bundle = moving(10);
    let host = Host::start(&BrokerKind::Builtin).await;
    let mut center = host.center(&bundle, Duration::from_secs(5));
    let board = center.board().clone();
    let budget = board.state().budget;
    assert_eq!(budget.certified_for, Some(0));
    assert!(budget.assumption.contains("moving as the network's chain says"), "{budget:?}");
    assert!(budget.assumption.contains("in any one epoch so far"), "{budget:?}");
    assert!(!budget.assumption.contains("independent"), "{budget:?}");
    let mut sensors = host.sensors(&bundle);
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    for epoch in 1..=11 {
        for sensor in &mut sensors {
            sensor.send(epoch, "1", &mut rng).unwrap();
        }
        decisions(&mut center, 1).await;
        let budget = board.state().budget;
        // Certified are 1, 2, 5 and 10 epochs, and only so many are used.
        let next = [1, 2, 5, 10].into_iter().find(|&count| count >= epoch.min(10));
        assert_eq!(budget.certified_for.map(u64::from), next);
        assert_eq!(budget.information, bundle.course().unwrap().after(epoch.min(10)));
    }
    center.reset(12).unwrap();
    let words: Vec<String> = board.state().events.into_iter().map(|event| event.words).collect();
    for said in ["The hypotheses are drawn anew", "no more data are sent."] {
        assert!(words.iter().any(|words| words.contains(said)), "{said}: {words:?}");
    }
    let host = Host::start(&BrokerKind::Builtin).await;
    let still = host.center(&network(5), Duration::from_secs(5)).board().state().budget;
    assert_eq!(still.certified_for, None);
    assert!(still.assumption.contains("independent given"), "{still:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_demonstration_of_a_path_expects_a_centre_that_remembers_and_counts_paths() {
    let bundle = moving(10);
    let host = Host::start(&BrokerKind::Builtin).await;
    let address = Address::local(host.port);
    let rng = ChaCha20Rng::seed_from_u64(3);
    let mut demo = Demo::start(&bundle, &address, host.folder.path(), rng).await.unwrap();
    let mut of_path = vec![0.0];
    for epoch in 1..=200 {
        let step = demo.epoch().await.unwrap();
        *of_path.last_mut().unwrap() += f64::from(u8::from(step.decision.value != step.public));
        let tally = demo.tally();
        // Nine paths are too few, and so is one that has only begun.
        assert_eq!(tally.spread_public().is_some(), epoch >= 100, "{epoch}");
        assert_eq!(tally.spread_private().is_some(), epoch >= 100, "{epoch}");
        if step.last {
            of_path.push(0.0);
        }
    }
    let (tally, _) = demo.finish().await.unwrap();
    of_path.pop();
    assert_eq!((tally.epochs, tally.secrets, of_path.len()), (200, 20, 20));
    let mean = of_path.iter().sum::<f64>() / 20.0;
    let squares: f64 = of_path.iter().map(|wrong| (wrong - mean).powi(2)).sum();
    let spread = (squares / 19.0 / 20.0).sqrt() / 10.0;
    assert!((tally.spread_public().unwrap() - spread).abs() < 1e-12, "{tally:?}");
    // What is expected is what other paths show, and less than who does not remember errs.
    let (paths, own) = tally.drawn.unwrap();
    assert_eq!(paths, 1000);
    let far = 6.0 * (spread * spread + own * own).sqrt();
    assert!((tally.error_public() - tally.expected_public).abs() < far, "{tally:?}");
    let (model, maps) = (bundle.float_model().unwrap(), bundle.maps().unwrap());
    let forgets = undertone_fusion::Evaluation::new(&model, &maps).unwrap().error_public;
    assert!(tally.expected_public + 2.0 * own < forgets, "{tally:?} {forgets}");
}
