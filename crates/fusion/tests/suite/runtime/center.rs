//! What the centre uses, refuses and decides, without any network.

use std::time::{Duration, Instant};

use undertone_fusion::Bundle;
use undertone_fusion::runtime::{
    Budget, Center, Decision, Pace, Refusal, SensorReport, Status, TokenKind,
};

use crate::runtime::network::{network, networks, report};

const PACE: Pace = Pace { deadline: Duration::from_secs(5), window: 8 };

struct Desk {
    center: Center,
    now: Instant,
}

impl Desk {
    fn new(bundle: &Bundle) -> Self {
        let center = Center::open(bundle, Budget::certified(bundle), PACE, None).unwrap();
        Self { center, now: Instant::now() }
    }

    fn hear(&mut self, report: SensorReport) -> Result<(), Refusal> {
        self.center.hear(report.sensor, &report.to_bytes(), self.now).unwrap()
    }

    fn later(&mut self, seconds: u64) {
        self.now += Duration::from_secs(seconds);
    }

    fn decide(&mut self) -> Option<Decision> {
        self.center.decide(self.now).unwrap()
    }

    fn refused(&self, reason: Refusal) -> u64 {
        self.center.metrics().refused(reason)
    }
}

#[test]
fn complete_epochs_are_decided_at_once_in_any_order() {
    let bundle = network(100);
    let mut desk = Desk::new(&bundle);
    let rule = bundle.rule().unwrap();
    // Three epochs, shuffled.
    let order =
        [(2, 1, 1), (0, 2, 0), (1, 3, 1), (1, 1, 0), (2, 2, 1), (0, 1, 1), (0, 3, 0), (1, 2, 1)];
    let mut decisions = Vec::new();
    for (sensor, epoch, token) in order {
        desk.hear(report(&bundle, sensor, epoch, token)).unwrap();
        decisions.extend(desk.decide());
    }
    assert_eq!(decisions.iter().map(|d| d.epoch).collect::<Vec<_>>(), [1, 2]);
    for (decision, outputs) in decisions.iter().zip([[1, 0, 1], [0, 1, 1]]) {
        let outputs = outputs.map(Some).to_vec();
        let expected = rule.posterior(&outputs).unwrap();
        assert_eq!(decision.posterior, expected.public);
        assert_eq!(decision.value, expected.likeliest());
        assert_eq!(decision.outputs, outputs);
        assert!(decision.missing.is_empty());
    }
    // The third waits for sensor 2 until its deadline, and is decided without it.
    desk.later(4);
    assert_eq!(desk.decide(), None);
    desk.later(1);
    let late = desk.decide().unwrap();
    assert_eq!((late.epoch, &late.missing[..]), (3, &[2][..]));
    let expected = rule.posterior(&[Some(0), Some(1), None]).unwrap();
    assert_eq!(late.posterior, expected.public);
    assert_eq!(desk.center.metrics().sensors[2].missed, 1);
}

#[test]
fn every_reason_is_counted() {
    let bundle = network(u32::MAX);
    let mut desk = Desk::new(&bundle);
    let good = report(&bundle, 0, 1, 1);
    assert_eq!(desk.hear(good), Ok(()));
    assert_eq!(desk.hear(good), Err(Refusal::Duplicate));
    assert_eq!(desk.hear(SensorReport { token: 0, ..good }), Err(Refusal::Contradiction));
    assert_eq!(
        desk.hear(SensorReport { kind: TokenKind::Constant, ..good }),
        Err(Refusal::Contradiction)
    );
    // Output 2 exists but is never sent; output 3 does not exist.
    for token in [2, 3, u32::MAX] {
        let refusal = desk.hear(SensorReport { epoch: 2, token, ..good });
        assert_eq!(refusal, Err(Refusal::OutsidePolicy));
    }
    assert_eq!(desk.hear(report(&bundle, 9, 1, 0)), Err(Refusal::UnknownSensor));
    let other = networks(100, "another");
    assert_eq!(desk.hear(report(&other, 0, 2, 0)), Err(Refusal::OtherBundle));
    let now = desk.now;
    let wrong = desk.center.hear(1, &good.to_bytes(), now).unwrap();
    assert_eq!(wrong, Err(Refusal::OtherTopic));
    for bytes in [&b""[..], b"hello", &[1; 24], &[0xff; 1000]] {
        let heard = desk.center.hear(0, bytes, now).unwrap();
        let expected = if bytes.len() == 24 { Refusal::OtherBundle } else { Refusal::Malformed };
        // Twenty-four ones are a report, but of another network.
        assert!(heard == Err(expected), "{bytes:?}: {heard:?}");
    }
    desk.later(5);
    assert_eq!(desk.decide().unwrap().epoch, 1);
    assert_eq!(desk.hear(good), Err(Refusal::Duplicate));
    assert_eq!(desk.hear(report(&bundle, 1, 1, 1)), Err(Refusal::Late));
    // One sensor alone may have eight epochs open.
    for epoch in 10..18 {
        assert_eq!(desk.hear(report(&bundle, 0, epoch, 0)), Ok(()));
    }
    assert_eq!(desk.hear(report(&bundle, 0, 1 << 30, 0)), Err(Refusal::Ahead));
    // The others are not hindered.
    assert_eq!(desk.hear(report(&bundle, 1, 1 << 30, 0)), Ok(()));
    let counted = [
        (Refusal::Duplicate, 2),
        (Refusal::Contradiction, 2),
        (Refusal::OutsidePolicy, 3),
        (Refusal::UnknownSensor, 1),
        (Refusal::OtherBundle, 2),
        (Refusal::OtherTopic, 1),
        (Refusal::Malformed, 3),
        (Refusal::Late, 1),
        (Refusal::Ahead, 1),
        (Refusal::Spent, 0),
    ];
    for (reason, count) in counted {
        assert_eq!(desk.refused(reason), count, "{reason:?}");
    }
    assert_eq!(desk.center.metrics().accepted, 1 + 8 + 1);
}

#[test]
fn the_dead_are_not_waited_for() {
    let bundle = network(100);
    let mut desk = Desk::new(&bundle);
    assert_eq!(desk.center.hear_status(1, b"dead"), Ok(Some(Status::Dead)));
    assert_eq!(desk.center.hear_status(1, b"dead"), Ok(None), "no news");
    assert_eq!(desk.center.hear_status(0, b"resting"), Err(Refusal::Malformed));
    assert_eq!(desk.center.hear_status(7, b"dead"), Err(Refusal::UnknownSensor));
    assert_eq!((desk.refused(Refusal::Malformed), desk.refused(Refusal::UnknownSensor)), (1, 1));
    desk.hear(report(&bundle, 0, 1, 1)).unwrap();
    assert_eq!(desk.decide(), None);
    desk.hear(report(&bundle, 2, 1, 1)).unwrap();
    assert_eq!(desk.decide().unwrap().missing, [1]);
    // Dying completes what waits; living again is waited for.
    desk.hear(report(&bundle, 0, 2, 1)).unwrap();
    assert_eq!(desk.center.hear_status(2, b"done"), Ok(Some(Status::Done)));
    assert_eq!(desk.decide().unwrap().missing, [1, 2]);
    desk.center.hear_status(1, b"alive").unwrap();
    desk.hear(report(&bundle, 0, 3, 1)).unwrap();
    assert_eq!(desk.decide(), None);
    // Constant tokens count as heard and say nothing.
    desk.hear(SensorReport { kind: TokenKind::Constant, ..report(&bundle, 1, 3, 0) }).unwrap();
    let decision = desk.decide().unwrap();
    assert_eq!((&decision.constant[..], &decision.missing[..]), (&[1][..], &[2][..]));
    assert_eq!(decision.outputs, [Some(1), None, None]);
}

#[test]
fn a_report_newer_than_the_will_revives_its_sensor() {
    let bundle = network(100);
    let mut desk = Desk::new(&bundle);
    for sensor in 0..3 {
        desk.hear(report(&bundle, sensor, 1, 1)).unwrap();
    }
    assert!(desk.decide().unwrap().missing.is_empty());
    // Somebody says of a live sensor that it is dead: epochs no longer wait for it.
    desk.center.hear_status(1, b"dead").unwrap();
    desk.hear(report(&bundle, 0, 2, 1)).unwrap();
    desk.hear(report(&bundle, 2, 2, 1)).unwrap();
    assert_eq!(desk.decide().unwrap().missing, [1]);
    assert_eq!(desk.center.metrics().sensors[1].missed_in_a_row, 1);
    // What was said before the will, and comes again, proves nothing; nor does what is no report of it.
    assert_eq!(desk.hear(report(&bundle, 1, 1, 1)), Err(Refusal::Duplicate));
    assert_eq!(desk.hear(report(&bundle, 1, 1, 0)), Err(Refusal::Contradiction));
    assert_eq!(desk.hear(report(&bundle, 1, 3, 2)), Err(Refusal::OutsidePolicy));
    assert_eq!(desk.hear(report(&bundle, 1, 500, 1)), Err(Refusal::Spent));
    assert_eq!(desk.center.status(1), Some(Status::Dead));
    // Its report of the epoch that did not wait comes too late, but it comes: the next epoch waits.
    assert_eq!(desk.hear(report(&bundle, 1, 2, 1)), Err(Refusal::Late));
    assert_eq!(desk.center.status(1), Some(Status::Alive));
    desk.hear(report(&bundle, 0, 3, 1)).unwrap();
    desk.hear(report(&bundle, 2, 3, 1)).unwrap();
    assert_eq!(desk.decide(), None);
    desk.hear(report(&bundle, 1, 3, 0)).unwrap();
    assert!(desk.decide().unwrap().missing.is_empty());
    assert_eq!(desk.center.metrics().sensors[1].missed_in_a_row, 0);
    // The same of "done", and of a sensor whose budget is used up.
    desk.center.hear_status(0, b"done").unwrap();
    desk.hear(report(&bundle, 0, 4, 1)).unwrap();
    assert_eq!(desk.center.status(0), Some(Status::Alive));
    desk.center.hear_status(2, b"dead").unwrap();
    desk.hear(SensorReport { kind: TokenKind::Constant, ..report(&bundle, 2, 500, 0) }).unwrap();
    assert_eq!(desk.center.status(2), Some(Status::Spent));
    // One forged report of a far epoch does not make later ones old.
    desk.hear(SensorReport { kind: TokenKind::Constant, ..report(&bundle, 1, u64::MAX, 0) })
        .unwrap();
    desk.center.hear_status(1, b"dead").unwrap();
    desk.hear(report(&bundle, 1, 5, 1)).unwrap();
    assert_eq!(desk.center.status(1), Some(Status::Alive));
}

#[test]
fn the_budget_is_kept_and_its_price_is_the_certificates() {
    let bundle = network(10);
    let mut desk = Desk::new(&bundle);
    let certified = |epochs| bundle.certificate().after(epochs).unwrap().information;
    let mut last = None;
    for epoch in 1..=10 {
        for sensor in 0..3 {
            desk.hear(report(&bundle, sensor, epoch, (epoch % 2) as u32)).unwrap();
        }
        let decision = desk.decide().unwrap();
        assert_eq!(u64::from(decision.epochs), epoch);
        assert!(decision.information > last, "it grows with every epoch");
        last = decision.information;
        if epoch == 1 {
            assert_eq!(decision.information, certified(1));
        }
    }
    assert_eq!(last, certified(10));
    assert_eq!(desk.hear(report(&bundle, 0, 11, 0)), Err(Refusal::Spent));
    // Constant tokens still come, and the decision is the prior's.
    for sensor in 0..3 {
        let constant = report(&bundle, sensor, 11, 0);
        desk.hear(SensorReport { kind: TokenKind::Constant, ..constant }).unwrap();
    }
    let decision = desk.decide().unwrap();
    let prior = bundle.float_model().unwrap().public_law();
    assert!(decision.posterior.iter().zip(&prior).all(|(a, b)| (a - b).abs() < 1e-12));
    assert_eq!((decision.epochs, decision.information), (10, last));
    // A new budget, from an epoch that was not used before.
    assert!(desk.center.reset(10).is_err());
    desk.center.reset(12).unwrap();
    assert_eq!((desk.center.metrics().epochs, desk.center.metrics().first), (0, 12));
    assert_eq!(desk.hear(report(&bundle, 0, 11, 0)), Err(Refusal::Contradiction));
    assert_eq!(desk.hear(report(&bundle, 0, 9, 1)), Err(Refusal::Duplicate));
    assert_eq!(desk.hear(report(&bundle, 0, 12, 0)), Ok(()));
    assert_eq!(desk.hear(report(&bundle, 0, 21, 0)), Ok(()));
    assert_eq!(desk.hear(report(&bundle, 0, 22, 0)), Err(Refusal::Spent));
}

#[test]
fn a_restart_forgets_no_used_epoch() {
    let bundle = network(3);
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("center");
    let open = || Center::open(&bundle, Budget::certified(&bundle), PACE, Some(&state)).unwrap();
    let now = Instant::now();
    let mut center = open();
    for epoch in [1, 2] {
        center.hear(0, &report(&bundle, 0, epoch, 1).to_bytes(), now).unwrap().unwrap();
    }
    assert_eq!(center.metrics().epochs, 2);
    drop(center);
    let mut center = open();
    assert_eq!(center.metrics().epochs, 2);
    assert_eq!(center.metrics().information, {
        let mut spending = undertone_fusion::runtime::Spending::new(&bundle).unwrap();
        spending.after(2, 2).unwrap()
    });
    let old = center.hear(1, &report(&bundle, 1, 2, 1).to_bytes(), now).unwrap();
    assert_eq!(old, Err(Refusal::Late), "who said what in it is no longer known");
    center.hear(1, &report(&bundle, 1, 3, 1).to_bytes(), now).unwrap().unwrap();
    let spent = center.hear(1, &report(&bundle, 1, 4, 1).to_bytes(), now).unwrap();
    assert_eq!(spent, Err(Refusal::Spent));
    center.reset(4).unwrap();
    drop(center);
    let mut center = open();
    assert_eq!(center.metrics().epochs, 0);
    let old = center.hear(2, &report(&bundle, 2, 3, 1).to_bytes(), now).unwrap();
    assert_eq!(old, Err(Refusal::Late));
    center.hear(2, &report(&bundle, 2, 5, 1).to_bytes(), now).unwrap().unwrap();
}

#[test]
fn nobody_is_late_while_nobody_can_be_heard() {
    let bundle = network(10);
    let mut desk = Desk::new(&bundle);
    desk.hear(report(&bundle, 0, 1, 1)).unwrap();
    desk.later(100);
    let now = desk.now;
    desk.center.restart_deadlines(now);
    assert_eq!(desk.decide(), None);
    desk.hear(report(&bundle, 1, 1, 1)).unwrap();
    desk.hear(report(&bundle, 2, 1, 1)).unwrap();
    assert!(desk.decide().unwrap().missing.is_empty());
}

#[test]
fn the_centre_decides_by_the_rule_that_ships() {
    use undertone_fusion::Objective;
    use undertone_fusion::runtime::coin;
    let detection = Objective::Detection { false_alarm: 0.05 };
    let bundle = network(100).deciding(detection).unwrap();
    let mut desk = Desk::new(&bundle);
    let rule = bundle.rule().unwrap();
    let (mut unlike, mut alarms) = (0, [0, 0]);
    for epoch in 1..=64u64 {
        let outputs: Vec<Option<usize>> = (0..3).map(|t| Some((epoch as usize >> t) & 1)).collect();
        for (sensor, z) in (0..).zip(&outputs) {
            desk.hear(report(&bundle, sensor, epoch, z.unwrap() as u32)).unwrap();
        }
        let decision = desk.decide().unwrap();
        let posterior = rule.posterior(&outputs).unwrap();
        assert_eq!(decision.value, rule.decide(&outputs, coin(&bundle, epoch)).unwrap());
        unlike += usize::from(decision.value != posterior.likeliest());
        // Of the same outputs some are an alarm and some are not, as the coin falls.
        if outputs == [Some(1), Some(1), Some(0)] {
            alarms[decision.value] += 1;
        }
    }
    assert!(unlike > 0, "the test is not Bayes' rule");
    assert_eq!(alarms[0] + alarms[1], 8);
    let mut coins: Vec<f64> = (0..2000).map(|epoch| coin(&bundle, epoch)).collect();
    coins.sort_by(f64::total_cmp);
    // Uniform: no quantile is further off than .05 (a chance of about 1e-4 for true coins; these never change).
    let off = |(at, u): (usize, &f64)| (u - at as f64 / 2000.0).abs();
    assert!(coins.iter().enumerate().map(off).fold(0.0, f64::max) < 0.05);
}
