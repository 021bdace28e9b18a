//! Privacy levels and budgets.

use crate::common::past;
use crate::vectors::exact::{Level, consequence, numbers, units};
use crate::vectors::{fields, policy, text};
use dashu::integer::UBig;
use dashu::rational::RBig;
use serde_json::Value;
use undertone_core::{Consent, Decision, Epsilon, EpsilonError, Ledger, LedgerError, Nats, Prior};

fn odds(value: &Value) -> (u32, u32) {
    let pair: Vec<u32> =
        value.as_array().unwrap().iter().map(|v| v.as_u64().unwrap().try_into().unwrap()).collect();
    (pair[0], pair[1])
}

/// The printed nats of odds, worked out by other means.
fn nats((n, d): (u32, u32)) -> String {
    Level::Finite(RBig::from_parts(n.into(), d.into())).nats()
}

/// The next larger fraction with terms below 2^32: the neighbour n'/d' with n'd - nd' = 1 (in
/// lowest terms) and the largest terms that fit.
fn next_above(n: u32, d: u32) -> Option<(u32, u32)> {
    let limit = i128::from(u32::MAX);
    let (n, d) = (i128::from(n), i128::from(d));
    // Extended Euclid for a·d - b·n = 1.
    let (mut old, mut new) = ((n, 1i128, 0i128), (d, 0i128, 1i128));
    while new.0 != 0 {
        let q = old.0 / new.0;
        (old, new) = (new, (old.0 - q * new.0, old.1 - q * new.1, old.2 - q * new.2));
    }
    assert_eq!(old.0, 1, "odds in lowest terms");
    // old.1·n + old.2·d = 1, so (a, b) = (old.2, -old.1), up to multiples of (n, d).
    let (a, b) = (old.2, -old.1);
    let steps = ((limit - a).div_euclid(n)).min((limit - b).div_euclid(d));
    let (a, b) = (a + steps * n, b + steps * d);
    (b > 0).then(|| (a.try_into().unwrap(), b.try_into().unwrap()))
}

pub(crate) fn epsilon(file: &Value) {
    assert_eq!(fields(file), ["bad_odds", "bad_texts", "parsed", "written"]);
    let list = |name: &str| file[name].as_array().unwrap();
    for case in list("parsed") {
        let level = Epsilon::parse(text(&case["text"])).unwrap();
        let (n, d) = odds(&case["odds"]);
        assert_eq!(level.odds(), (n, d), "{case}");
        assert_eq!(text(&case["nats"]), level.nats().to_string(), "{case}");
        assert_eq!(text(&case["nats"]), nats((n, d)), "{case}");
        // The largest odds whose printed nats are at most the text, cut after ten places.
        let (whole, fraction) =
            text(&case["text"]).split_once('.').unwrap_or((text(&case["text"]), ""));
        let asked = units(&format!("{whole}.{:.10}", fraction));
        assert!(units(text(&case["nats"])) <= asked, "{case}");
        match next_above(n, d) {
            Some(next) => assert!(units(&nats(next)) > asked, "{case}: {next:?} would do"),
            None => assert_eq!((n, d), (u32::MAX, 1), "{case}"),
        }
    }
    for case in list("written") {
        let (n, d) = odds(&case["odds"]);
        assert_eq!(text(&case["nats"]), Epsilon::from_odds(n, d).unwrap().to_string(), "{case}");
        assert_eq!(text(&case["nats"]), nats((n, d)), "{case}");
    }
    for case in list("bad_texts") {
        let code = match Epsilon::parse(text(&case["text"])).unwrap_err() {
            EpsilonError::NotNats => "not_nats",
            EpsilonError::TooLarge { .. } => "too_large",
            other => panic!("{case}: {other}"),
        };
        assert_eq!(text(&case["error"]), code, "{case}");
    }
    for case in list("bad_odds") {
        let (n, d) = odds(case);
        assert!(Epsilon::from_odds(n, d).is_err(), "{case}");
    }
}

pub(crate) fn ledger(file: &Value) {
    assert_eq!(fields(file), ["consequences", "sequences"]);
    for sequence in file["sequences"].as_array().unwrap() {
        assert_eq!(fields(sequence), ["about", "budget", "steps"]);
        let mut ledger = Ledger::new(Nats::parse_down(text(&sequence["budget"])).unwrap());
        for step in sequence["steps"].as_array().unwrap() {
            run(&mut ledger, step);
        }
        // What is stored is what is restored.
        let stored: Vec<_> =
            ledger.releases().map(|(datum, releases)| (datum.into(), releases.to_vec())).collect();
        assert_eq!(Ledger::restore(ledger.budget(), stored), ledger);
    }
    for case in file["consequences"].as_array().unwrap() {
        assert_eq!(fields(case), ["lip", "prior", "spent"]);
        let weights = numbers(&case["prior"]);
        let lightest: u64 = weights.iter().min().unwrap().clone().try_into().unwrap();
        let spent = units(text(&case["spent"]));
        assert_eq!(text(&case["lip"]), consequence(spent, lightest), "{case}");
        let release = undertone_core::Release {
            policy: undertone_core::PolicyId([0; 32]),
            cost: Some(Nats::from_units(spent)),
        };
        let ledger = Ledger::restore(Nats::ZERO, [("datum".into(), vec![release])]);
        let weight = |w: &UBig| w.clone().try_into().unwrap();
        let prior = Prior::new(weights.iter().map(weight).collect()).unwrap();
        let found = ledger.lip_consequence("datum", &prior).unwrap();
        assert_eq!(text(&case["lip"]), found.to_string(), "{case}");
    }
}

fn run(ledger: &mut Ledger, step: &Value) {
    let names = ["call", "cost", "datum", "earlier", "outcome", "policy", "spent"];
    assert_eq!(fields(step), names);
    let policy = policy::verified(&step["policy"]);
    let earlier = (!step["earlier"].is_null()).then(|| policy::verified(&step["earlier"]));
    let datum = text(&step["datum"]);
    let outcome = match text(&step["call"]) {
        "request" => ledger.request(datum, &policy, &past(earlier.as_ref()), &Consent::UNLIMITED),
        "spend" => ledger
            .spend(datum, &policy, &past(earlier.as_ref()), &Consent::UNLIMITED)
            .map(Decision::Fresh),
        other => panic!("{other}"),
    };
    let found = match outcome {
        Ok(Decision::Fresh(_)) => "fresh",
        Ok(Decision::Repeat) => "repeat",
        Err(LedgerError::Budget { .. }) => "budget",
        Err(LedgerError::NotComposable { checked: true }) => "not_composable_checked",
        Err(LedgerError::NotComposable { checked: false }) => "not_composable",
        Err(other) => panic!("{other}"),
    };
    assert_eq!(text(&step["outcome"]), found, "{step}");
    let amount = |nats: Option<Nats>| nats.map_or("unbounded".into(), |nats| nats.to_string());
    let cost = policy.certificate().input.ldp.ratio.ln_up();
    assert_eq!(text(&step["cost"]), amount(cost), "{step}");
    assert_eq!(text(&step["spent"]), amount(ledger.spent(datum)), "{step}");
}
