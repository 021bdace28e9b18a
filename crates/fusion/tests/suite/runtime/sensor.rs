//! A sensor's budget and memory, without any network.

use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use undertone_core::Token;
use undertone_fusion::Bundle;
use undertone_fusion::runtime::{Budget, Sensor, TokenKind};

use crate::runtime::network::{network, networks};

fn generator(seed: u64) -> ChaCha20Rng {
    ChaCha20Rng::seed_from_u64(seed)
}

#[test]
fn tokens_are_what_the_policy_draws() {
    let bundle = network(1000);
    let folder = tempfile::tempdir().unwrap();
    let mut sensor =
        Sensor::open(&bundle, 1, Budget::certified(&bundle), &folder.path().join("state")).unwrap();
    let (mut ours, mut theirs) = (generator(7), generator(7));
    let policy = &bundle.policies()[1];
    for epoch in 1..=300 {
        let reading = (epoch % 3) as usize;
        let report = sensor.report(epoch, &reading.to_string(), &mut ours).unwrap();
        let symbol = policy.draft().inputs().symbol(reading).unwrap();
        let expected = policy.draw(symbol, &mut theirs).unwrap();
        assert_eq!(Token::Index(report.token), expected);
        assert_eq!((report.sensor, report.epoch, report.kind), (1, epoch, TokenKind::Drawn));
    }
}

#[test]
fn no_epoch_is_randomised_twice_not_even_after_a_restart() {
    let bundle = network(100);
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state");
    let mut sensor = Sensor::open(&bundle, 0, Budget::certified(&bundle), &state).unwrap();
    let mut rng = generator(1);
    let first: Vec<_> =
        (1..=50).map(|epoch| sensor.report(epoch, "0", &mut rng).unwrap()).collect();
    assert_eq!(sensor.spent(), 50);
    // Asked again with other readings and other randomness: the same tokens, nothing spent.
    for before in first.iter().rev() {
        assert_eq!(sensor.report(before.epoch, "2", &mut rng).unwrap(), *before);
    }
    assert_eq!(sensor.spent(), 50);
    drop(sensor);
    let mut again = Sensor::open(&bundle, 0, Budget::certified(&bundle), &state).unwrap();
    let mut other = generator(2);
    assert_eq!((again.spent(), again.next_epoch()), (50, 51));
    assert_eq!(again.last(), first.last().copied());
    for before in &first {
        assert_eq!(again.report(before.epoch, "2", &mut other).unwrap(), *before);
    }
    assert_eq!(again.spent(), 50);
    // An epoch whose record was cut off in the middle was never published, and may be drawn.
    let last = again.report(51, "1", &mut other).unwrap();
    drop(again);
    let bytes = std::fs::read(&state).unwrap();
    std::fs::write(&state, &bytes[..bytes.len() - 3]).unwrap();
    let mut torn = Sensor::open(&bundle, 0, Budget::certified(&bundle), &state).unwrap();
    assert_eq!((torn.spent(), torn.next_epoch()), (50, 51));
    assert_eq!(torn.report(51, "1", &mut other).unwrap().epoch, last.epoch);
}

#[test]
fn a_spent_sensor_is_constant_until_reset() {
    let bundle = network(4);
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state");
    let mut sensor = Sensor::open(&bundle, 2, Budget::certified(&bundle), &state).unwrap();
    let mut rng = generator(3);
    for epoch in 1..=4 {
        assert_eq!(sensor.report(epoch, "2", &mut rng).unwrap().kind, TokenKind::Drawn);
    }
    assert!(sensor.is_spent());
    // Whatever it reads, the token is the same, and no randomness is used.
    let before = rng.clone();
    for (epoch, cell) in (5..).zip(["0", "1", "2", "odd"]) {
        let report = sensor.report(epoch, cell, &mut rng).unwrap();
        assert_eq!((report.kind, report.token), (TokenKind::Constant, 0));
    }
    assert_eq!(rng, before);
    drop(sensor);
    // A restart is no reset.
    let mut sensor = Sensor::open(&bundle, 2, Budget::certified(&bundle), &state).unwrap();
    assert!(sensor.is_spent());
    assert_eq!(sensor.report(9, "1", &mut rng).unwrap().kind, TokenKind::Constant);
    // A new budget cannot begin with an epoch that is over, and not before it begins.
    assert!(sensor.reset(9).is_err());
    sensor.reset(11).unwrap();
    assert_eq!(sensor.report(10, "1", &mut rng).unwrap().kind, TokenKind::Constant);
    assert_eq!(sensor.report(11, "1", &mut rng).unwrap().kind, TokenKind::Drawn);
    // What was said stays said, also where it was constant.
    assert_eq!(sensor.report(9, "1", &mut rng).unwrap().kind, TokenKind::Constant);
    assert_eq!(sensor.report(2, "1", &mut rng).unwrap().kind, TokenKind::Drawn);
    assert_eq!(sensor.spent(), 1);
    drop(sensor);
    let sensor = Sensor::open(&bundle, 2, Budget::certified(&bundle), &state).unwrap();
    assert_eq!((sensor.spent(), sensor.next_epoch()), (1, 12));
    assert_eq!((sensor.budget().first(), sensor.is_spent()), (11, false));
}

#[test]
fn all_sensors_draw_in_the_same_epochs() {
    // Whatever one of them misses: T epochs of the network, not T epochs of each sensor.
    let bundle = network(4);
    let folder = tempfile::tempdir().unwrap();
    let mut rng = generator(4);
    for (index, epochs) in [(0, vec![1, 2, 3, 4, 5]), (1, vec![3, 4, 5, 6]), (2, vec![4, 2, 5, 3])]
    {
        let state = folder.path().join(index.to_string());
        let budget = Budget::certified(&bundle);
        let mut sensor = Sensor::open(&bundle, index, budget, &state).unwrap();
        for epoch in epochs {
            let kind = sensor.report(epoch, "0", &mut rng).unwrap().kind;
            assert_eq!(kind == TokenKind::Drawn, epoch <= 4, "sensor {index}, epoch {epoch}");
        }
        assert!(sensor.is_spent());
        // After a reset, epochs that were skipped before it are over.
        sensor.reset(20).unwrap();
        assert!(
            sensor.report(7, "0", &mut rng).is_ok_and(|report| report.kind == TokenKind::Constant)
        );
        assert_eq!(sensor.report(23, "0", &mut rng).unwrap().kind, TokenKind::Drawn);
        assert_eq!(sensor.report(24, "0", &mut rng).unwrap().kind, TokenKind::Constant);
    }
}

#[test]
fn values_that_cannot_be_read_are_replaced_by_random_ones() {
    let bundle = network(100_000);
    let folder = tempfile::tempdir().unwrap();
    let mut sensor =
        Sensor::open(&bundle, 0, Budget::certified(&bundle), &folder.path().join("state")).unwrap();
    let mut rng = generator(5);
    let mut ones = 0u32;
    for epoch in 1..=600 {
        let report = sensor.report(epoch, "not a reading", &mut rng).unwrap();
        assert_eq!(report.kind, TokenKind::Drawn);
        ones += report.token;
    }
    assert_eq!(sensor.unreadable(), 600);
    // The average of the rows sends 0 and 1 equally often: 300 ± 5 standard deviations of 12.2.
    assert!((239..=361).contains(&ones), "{ones}");
}

#[test]
fn what_does_not_fit_is_refused() {
    let bundle = network(4);
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state");
    let open = |bundle: &Bundle, index, epochs| {
        Sensor::open(bundle, index, Budget::new(bundle, 1, epochs)?, &state)
    };
    let error = open(&bundle, 3, None).unwrap_err().to_string();
    assert!(error.contains("the network has 3"), "{error}");
    let error = open(&bundle, 0, Some(5)).unwrap_err().to_string();
    assert!(error.contains("5") && error.contains("certified"), "{error}");
    let held = open(&bundle, 0, Some(2)).unwrap();
    assert_eq!(held.budget().epochs(), 2);
    let error = open(&bundle, 0, None).unwrap_err().to_string();
    assert!(error.contains("another process"), "{error}");
    drop(held);
    // The state of another sensor, or of another network, is not this sensor's.
    assert!(open(&bundle, 1, None).is_err());
    assert!(open(&networks(4, "another"), 0, None).is_err());
    assert!(open(&bundle, 0, None).is_ok());
}
