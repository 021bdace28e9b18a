//! Several releases about one datum.

use crate::common::{Level, Q, ln, nats as rational};
use crate::sequence::by_definition;
use crate::vectors::{bytes, fields, load, policy, text};
use serde_json::Value;
use undertone_core::{
    AboveConsent, Consent, Ledger, LedgerError, Nats, Policy, Ratio, Release, Report, ReportId,
    SecretConsent, Sequence, Token,
};

fn limit(value: &Value) -> Option<Nats> {
    (!value.is_null()).then(|| Nats::parse_down(text(value)).unwrap())
}

fn shown(ratio: Ratio) -> String {
    ratio.ln_up().map_or("unbounded".into(), |nats| nats.to_string())
}

/// The number of a token among all a policy can release.
fn number(token: &Token) -> usize {
    match token {
        Token::Index(index) => *index as usize,
        Token::Bits(packed) => {
            let is_set = |bit: &usize| packed[bit / 8] & (0x80 >> (bit % 8)) != 0;
            (0..8 * packed.len()).filter(is_set).map(|bit| 1 << bit).sum()
        }
    }
}

/// The printed level is the logarithm of the true ratio, rounded up.
fn check_level(printed: &Value, truth: &Level) {
    match truth {
        None => assert_eq!(text(printed), "unbounded"),
        Some(ratio) => {
            let found = rational(Nats::parse_down(text(printed)).unwrap());
            let exact = if *ratio == Q::ONE { Q::ZERO } else { ln(ratio) };
            assert!(found >= exact && found - exact < crate::common::ratio(11, 100_000_000_000));
        }
    }
}

pub(crate) fn check(path: &str) {
    let file = load(path);
    assert_eq!(
        fields(&file),
        ["about", "consent", "next", "outcome", "past", "standing"],
        "{path}"
    );
    let next = policy::verified(&file["next"]);
    let entries = file["past"].as_array().unwrap();
    let policies: Vec<Policy> =
        entries.iter().map(|one| policy::verified(&one["policy"])).collect();
    let mut sequence = Sequence::new();
    let mut noted = Vec::new();
    let mut told = Vec::new();
    for (entry, policy) in entries.iter().zip(&policies) {
        let release = Release { policy: policy.id(), cost: policy.ldp() };
        noted.push(release);
        let token = match (entry.get("token"), entry.get("bits"), entry.get("cost")) {
            (Some(index), None, None) => Token::Index(index.as_u64().unwrap() as u32),
            (None, Some(bits), None) => Token::Bits(bytes(bits).into()),
            (None, None, Some(cost)) => {
                let attained = policy.ldp().map_or("unbounded".into(), |nats| nats.to_string());
                assert_eq!(text(cost), attained, "{path}");
                sequence.forgotten(release);
                continue;
            }
            _ => {
                assert_eq!(fields(entry), ["policy"], "{path}");
                sequence.untold(policy);
                continue;
            }
        };
        told.push((policy, number(&token)));
        let report = Report { policy: policy.id(), id: ReportId([7; 16]), token };
        sequence.released(policy, &report).unwrap();
    }
    let standing = sequence.after(&next);
    let stated = &file["standing"];
    assert_eq!(fields(stated), ["claims", "exact", "ldp", "lip", "secrets"], "{path}");
    assert_eq!(stated["exact"].as_bool(), Some(standing.exact), "{path}");
    assert_eq!(stated["claims"].as_bool(), standing.claims, "{path}");
    assert_eq!(text(&stated["ldp"]), shown(standing.ldp), "{path}");
    assert_eq!(stated["lip"].as_str().map(String::from), standing.lip.map(shown), "{path}");
    assert_eq!(stated["secrets"].as_object().unwrap().len(), standing.secrets.len(), "{path}");
    for (name, ratio) in &standing.secrets {
        assert_eq!(text(&stated["secrets"][name]), shown(*ratio), "{path}");
    }
    // Everything at hand, and not a contradiction: the definitions say the same.
    if told.len() == policies.len() && standing.exact && !path.contains("contradiction") {
        let (ldp, lip, secret) = by_definition(&told, &next);
        check_level(&stated["ldp"], &ldp);
        if !stated["lip"].is_null() {
            check_level(&stated["lip"], &lip);
        }
        if let [(name, _)] = standing.secrets.as_slice() {
            check_level(&stated["secrets"][name], &secret);
        }
    }
    let agreed = &file["consent"];
    let secrets = agreed["secrets"].as_object().unwrap().iter();
    let consent = Consent {
        ldp: limit(&agreed["ldp"]),
        lip: limit(&agreed["lip"]),
        secrets: secrets
            .map(|(name, ldp)| SecretConsent { name: name.clone(), ldp: limit(ldp).unwrap() })
            .collect(),
    };
    let mut ledger = Ledger::restore(Nats::from_units(u64::MAX), [("datum".to_owned(), noted)]);
    let outcome = match ledger.spend("datum", &next, &sequence, &consent) {
        Ok(_) => "fresh",
        Err(LedgerError::Consent(AboveConsent::Ldp { .. })) => "consent_ldp",
        Err(LedgerError::Consent(AboveConsent::Lip { .. })) => "consent_lip",
        Err(LedgerError::Consent(AboveConsent::Secret { .. })) => "consent_secret",
        Err(LedgerError::NotComposable { checked: true }) => "not_composable_checked",
        Err(LedgerError::NotComposable { checked: false }) => "not_composable",
        Err(other) => panic!("{path}: {other}"),
    };
    assert_eq!(text(&file["outcome"]), outcome, "{path}");
    assert_eq!(path.contains("/bad_"), outcome != "fresh", "{path}");
}
