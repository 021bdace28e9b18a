//! The short way through the kernel: a policy from its document, what it attains, an answer by name.

use crate::common::{draft, level, prior, table};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use undertone_core::{
    Alphabet, AlphabetError, Claim, Consent, Context, DecodeError, Draft, Epsilon, Ledger,
    LedgerError, MASS_ONE, Nats, Policy, PolicyError, Provenance, Sequence, WEIGHT_ONE,
};

const QUARTER: u64 = MASS_ONE / 4;

/// Randomised response with odds 3 about "no" and "yes", where a quarter says yes.
fn response(claim: Claim) -> Draft {
    let shape = table(&[&[3 * QUARTER, QUARTER], &[QUARTER, 3 * QUARTER]]);
    let inputs = Alphabet::names(["no", "yes"]).unwrap();
    let outputs = Alphabet::names(vec!["rather no".to_owned(), "rather yes".to_owned()]).unwrap();
    let context = Context::Known(prior(&[3 * (WEIGHT_ONE / 4), WEIGHT_ONE / 4]));
    Draft::new(inputs, Some(outputs), shape, context, vec![claim], Provenance::default()).unwrap()
}

fn policy() -> Policy {
    response(Claim::lip(level(5, 2))).verify().unwrap()
}

fn nats(text: &str) -> Nats {
    text.parse().unwrap()
}

#[test]
fn a_policy_says_what_it_is_and_attains() {
    let policy = policy();
    assert_eq!(policy.inputs().label(1), "yes");
    assert_eq!(policy.outputs().label(1), "rather yes");
    assert_eq!(policy.claims(), [Claim::lip(level(5, 2))]);
    // ln 3, and ln (5/8)/(1/4): "rather no" when the answer is yes.
    assert_eq!(policy.ldp(), Some(nats("1.0986122887")));
    assert_eq!(policy.lip(), Some(nats("0.9162907319")));
    // No context and no finite level both give none.
    let claim = || vec![Claim::ldp(Epsilon::LARGEST)];
    let silent = table(&[&[MASS_ONE], &[MASS_ONE]]);
    let silent = draft(silent, Context::Unknown, claim()).verify().unwrap();
    assert_eq!((silent.ldp(), silent.lip()), (Some(Nats::ZERO), None));
    let half = Context::Known(prior(&[WEIGHT_ONE / 2; 2]));
    let delta = undertone_core::Delta::from_units(MASS_ONE - 1).unwrap();
    let open = table(&[&[MASS_ONE, 0], &[MASS_ONE - 1, 1]]);
    let open = draft(open, half, vec![claim()[0].with_delta(delta)]).verify().unwrap();
    assert_eq!((open.ldp(), open.lip()), (None, None));
}

#[test]
fn a_document_is_read_and_verified_in_one_step() {
    let policy = policy();
    assert_eq!(policy.to_json(), policy.draft().to_json());
    assert_eq!(Policy::from_json(&policy.to_json()), Ok(policy.clone()));
    let broken = policy.to_json().replace("\"rather yes\"", "\"rather no\"");
    let repeated = AlphabetError::Repeated { name: "rather no".into() };
    let expected = PolicyError::Document(DecodeError::Alphabet(repeated));
    assert_eq!(Policy::from_json(&broken), Err(expected));
    // One unit of odds too tight.
    let odds = Epsilon::from_odds(2_499_999, 1_000_000).unwrap();
    let boasting = response(Claim::lip(odds));
    let refusal = boasting.clone().verify().unwrap_err();
    let error = Policy::from_json(&boasting.to_json()).unwrap_err();
    assert_eq!(error, PolicyError::Refused(Box::new(refusal)));
    assert_eq!(error.to_string(), refusal.to_string());
}

#[test]
fn nats_are_read_as_budgets_and_print_as_numbers() {
    assert_eq!(nats("0.5"), Nats::from_units(5_000_000_000));
    assert_eq!(nats("0.00000000019"), Nats::from_units(1));
    assert!("half".parse::<Nats>().is_err());
    assert_eq!(format!("{:?}", nats("1.0986122887")), "Nats(1.0986122887)");
    assert_eq!(format!("{:?}", Nats::ZERO), "Nats(0)");
}

#[test]
fn an_answer_by_name_is_the_one_by_symbol() {
    let policy = policy();
    let (none, any) = (Sequence::new(), Consent::UNLIMITED);
    for (seed, name) in (0..20).flat_map(|seed| [(seed, "no"), (seed, "yes")]) {
        let rng = || ChaCha20Rng::seed_from_u64(seed);
        let mut ledger = Ledger::new(nats("2"));
        let permit = ledger.spend("one", &policy, &none, &any).unwrap();
        let symbol = policy.inputs().named(name).unwrap();
        let expected = policy.randomize(symbol, permit, &mut rng()).unwrap();
        let answer = ledger.answer("two", &policy, name, &none, &any, &mut rng());
        assert_eq!(answer, Ok(Some(expected)));
        assert_eq!(ledger.spent("two"), policy.ldp());
        // Whoever answers again sends the first report again.
        assert_eq!(ledger.answer("two", &policy, name, &none, &any, &mut rng()), Ok(None));
        assert_eq!(ledger.spent("two"), policy.ldp());
    }
}

/// What is not known, not affordable or not agreed to is not drawn, and a wrong name costs nothing.
#[test]
fn an_answer_that_may_not_be_given_costs_nothing() {
    let policy = policy();
    let none = Sequence::new();
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let mut ledger = Ledger::new(nats("1"));
    let mut ask = |name, consent: &Consent| {
        ledger.answer("datum", &policy, name, &none, consent, &mut rng).unwrap_err()
    };
    let unknown = LedgerError::Answer(AlphabetError::Unknown);
    assert_eq!(ask("perhaps", &Consent::UNLIMITED), unknown);
    assert!(!unknown.to_string().contains("perhaps"));
    let (budget, cost) = (nats("1"), nats("1.0986122887"));
    let dear = LedgerError::Budget { spent: Nats::ZERO, cost, budget };
    assert_eq!(ask("yes", &Consent::UNLIMITED), dear);
    assert_eq!(ledger.spent("datum"), Some(Nats::ZERO));
    let mut ledger = Ledger::new(nats("2"));
    let shy = Consent { lip: Some(nats("0.9")), ..Consent::UNLIMITED };
    let refused = ledger.answer("datum", &policy, "yes", &none, &shy, &mut rng).unwrap_err();
    assert!(matches!(refused, LedgerError::Consent(_)), "{refused:?}");
    assert_eq!(ledger.spent("datum"), Some(Nats::ZERO));
}
