//! The device's file: what survives a crash, and what is refused.

use crate::common::{TestCurator, golden};
use undertone_client::{Budget, Client, ClientError, Delivery, Device, DeviceError, Level};
use undertone_core::{Nats, Policy, Symbol};

/// What the test curator asks, as a key.
const QUESTION: &str = "question:aquestion";
const BUDGET: Nats = Device::DEFAULT_BUDGET;

fn symbol(policy: &Policy, at: usize) -> Symbol {
    policy.draft().inputs().symbol(at).unwrap()
}

#[test]
fn a_crash_between_the_ledger_and_the_network_loses_nothing_and_costs_nothing_more() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("device.json");
    let (curator, policy) = (TestCurator::start(), golden("minimal"));
    curator.publish("survey", &policy, "open");
    let device = Device::create(&path, BUDGET).unwrap();
    let mut client = Client::with_connection(curator.connection(), device);
    let survey = client.survey("survey").unwrap();
    let (report, _) = client.record(&survey, symbol(&policy, 0)).unwrap();
    // The process dies here: nothing of it but the file is left.
    drop(client);
    assert!(curator.attempts().is_empty());

    let mut client = Client::with_connection(curator.connection(), Device::open(&path).unwrap());
    assert_eq!(client.device().spent(QUESTION), Some(Nats::from_units(10_986_122_887)));
    let again = client.answer(&survey, symbol(&policy, 1)).unwrap();
    assert_eq!((again.report.clone(), again.repeated), (report.clone(), true));
    assert_eq!(again.delivery, Delivery::Accepted);
    assert_eq!(curator.stored().into_keys().collect::<Vec<_>>(), [report.id.to_string()]);

    // And dies again, after the acknowledgement was noted.
    drop(client);
    let mut client = Client::with_connection(curator.connection(), Device::open(&path).unwrap());
    assert_eq!(client.flush().unwrap().accepted, 0);
    assert_eq!(curator.attempts().len(), 1);
}

#[test]
fn nothing_is_sent_when_the_ledger_cannot_be_written() {
    let directory = tempfile::tempdir().unwrap();
    let inner = directory.path().join("inner");
    std::fs::create_dir(&inner).unwrap();
    let (curator, policy) = (TestCurator::start(), golden("minimal"));
    curator.publish("survey", &policy, "open");
    let device = Device::create(inner.join("device.json"), BUDGET).unwrap();
    let mut client = Client::with_connection(curator.connection(), device);
    let survey = client.survey("survey").unwrap();
    std::fs::remove_dir_all(&inner).unwrap();
    let refused = client.answer(&survey, symbol(&policy, 0));
    assert!(matches!(refused, Err(ClientError::Device(DeviceError::Io { .. }))));
    assert!(curator.attempts().is_empty());
    assert_eq!(client.device().spent(QUESTION), Some(Nats::ZERO));
    assert_eq!(client.device().answers().count(), 0);
    // Once there is room again it works.
    std::fs::create_dir(&inner).unwrap();
    assert_eq!(client.answer(&survey, symbol(&policy, 0)).unwrap().delivery, Delivery::Accepted);
}

#[test]
fn a_damaged_file_is_refused_and_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("device.json");
    let (curator, policy) = (TestCurator::start(), golden("minimal"));
    curator.publish("survey", &policy, "open");
    let device = Device::create(&path, BUDGET).unwrap();
    let mut client = Client::with_connection(curator.connection(), device);
    let survey = client.survey("survey").unwrap();
    client.answer(&survey, symbol(&policy, 0)).unwrap();
    drop(client);
    let whole = std::fs::read(&path).unwrap();
    let text = String::from_utf8(whole.clone()).unwrap();
    assert!(text.contains("1.0986122887") && text.contains("accepted"));
    let mut damaged = vec![
        Vec::new(),
        whole[..whole.len() - 3].to_vec(),
        text.replace("1.0986122887", "0.0986122887").into_bytes(),
        text.replace("accepted", "waiting").into_bytes(),
        text.replace("device/3", "device/4").into_bytes(),
        [whole.as_slice(), b"x"].concat(),
    ];
    // Any bit of any byte, a spread of them.
    for at in (0..whole.len()).step_by(37) {
        let mut flipped = whole.clone();
        flipped[at] ^= 1;
        damaged.push(flipped);
    }
    let mut refused = 0;
    for bytes in damaged {
        std::fs::write(&path, &bytes).unwrap();
        match Device::open(&path) {
            Err(DeviceError::Damaged { .. }) => refused += 1,
            // White space between fields carries nothing.
            Ok(device) => {
                assert_eq!(device.spent(QUESTION), Some(Nats::from_units(10_986_122_887)))
            }
            Err(other) => panic!("{other}"),
        }
        assert_eq!(std::fs::read(&path).unwrap(), bytes);
    }
    assert!(refused > 20, "{refused}");
    std::fs::write(&path, &whole).unwrap();
    Device::open(&path).unwrap();
}

#[test]
fn one_process_at_a_time_and_no_silent_reset() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("device.json");
    assert!(matches!(Device::open(&path), Err(DeviceError::Missing { .. })));
    let device = Device::create(&path, BUDGET).unwrap();
    assert!(matches!(Device::open(&path), Err(DeviceError::InUse { .. })));
    assert!(matches!(Device::create(&path, BUDGET), Err(DeviceError::InUse { .. })));
    drop(device);
    assert!(matches!(Device::create(&path, BUDGET), Err(DeviceError::Exists { .. })));
    assert_eq!(Device::open(&path).unwrap().budgets().question.nats, BUDGET);
}

/// Two names of one file are one device.
#[cfg(unix)]
#[test]
fn a_link_to_the_file_shares_its_lock_and_its_ledger() {
    let directory = tempfile::tempdir().unwrap();
    let (path, link) = (directory.path().join("device.json"), directory.path().join("link.json"));
    let device = Device::create(&path, BUDGET).unwrap();
    std::os::unix::fs::symlink(&path, &link).unwrap();
    assert!(matches!(Device::open(&link), Err(DeviceError::InUse { .. })));
    drop(device);
    Device::open(&link)
        .unwrap()
        .set_budget(Level::Question, Budget::ever(Nats::from_units(5)))
        .unwrap();
    assert_eq!(Device::open(&path).unwrap().budgets().question.nats, Nats::from_units(5));
    assert!(link.is_symlink());
}

#[test]
fn the_file_never_holds_the_answer() {
    // The same random bytes and different answers: the files differ in the token only, if at all.
    let (curator, policy) = (TestCurator::start(), golden("minimal"));
    curator.publish("survey", &policy, "open");
    let survey = curator.connection().survey("survey").unwrap();
    let written = |at: usize, seed: u8| {
        use rand_core::SeedableRng;
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("device.json");
        let device = Device::create(&path, BUDGET).unwrap();
        let mut client = Client::with_connection(curator.connection(), device);
        let mut rng = rand_chacha::ChaCha12Rng::from_seed([seed; 32]);
        let (report, _) = client.record_with(&survey, symbol(&policy, at), &mut rng).unwrap();
        (std::fs::read_to_string(&path).unwrap(), report.token)
    };
    let (mut same, mut different) = (0, 0);
    for seed in 0..20 {
        let ((left, drawn), (right, other)) = (written(0, seed), written(1, seed));
        if drawn == other {
            assert_eq!(left, right);
            same += 1;
        } else {
            different += 1;
        }
    }
    assert!(same > 0 && different > 0, "{same} {different}");
}

#[test]
fn two_releases_without_a_finite_level_are_checked_together() {
    use undertone_client::Consent;
    use undertone_core::LedgerError;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("device.json");
    let curator = TestCurator::start();
    let (three, two) = (golden("watchdog_three"), golden("watchdog_two"));
    curator.publish("three", &three, "open");
    curator.publish("two", &two, "open");
    let consent = Consent::UNLIMITED;
    let device = Device::create(&path, BUDGET).unwrap();
    let mut client =
        Client::with_connection(curator.connection(), device).with_consent(consent.clone());
    let survey = client.survey("three").unwrap().about("purchases");
    client.record(&survey, symbol(&three, 0)).unwrap();
    assert_eq!(client.device().spent("purchases"), None);
    drop(client);
    // The earlier policy is on the device, so the second release is checked, not merely refused.
    let device = Device::open(&path).unwrap();
    let mut client = Client::with_connection(curator.connection(), device).with_consent(consent);
    let second = client.survey("two").unwrap().about("purchases");
    let refused = client.record(&second, symbol(&two, 0));
    assert!(matches!(
        refused,
        Err(ClientError::Ledger(LedgerError::NotComposable { checked: true }))
    ));
    assert!(client.record(&survey, symbol(&three, 0)).unwrap().1, "the first may be repeated");
}
