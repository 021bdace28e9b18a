//! Policies of mechanisms somebody else designed.

use undertone::policy_make::{MadePolicy, MakeRequest, OwnClaims, OwnMechanism, make};
use undertone::{Answer, Channel, Error, ErrorCode, Prior};
use undertone_core::{Consent, Ledger, MASS_ONE, Nats, Policy, Sequence, Shape};

fn read(text: &str) -> Result<OwnMechanism, Error> {
    OwnMechanism::read(text, |file| Err(Error::file(format!("cannot read {file}"))))
}

fn asked(design: &str, claims: OwnClaims) -> MakeRequest {
    MakeRequest { mechanism: read(design).unwrap(), symbols: Vec::new(), prior: None, claims }
}

fn made(design: &str, claims: OwnClaims) -> MadePolicy {
    make(&asked(design, claims)).unwrap()
}

fn policy(design: &str) -> Policy {
    made(design, OwnClaims::Attained).policy.unwrap()
}

fn masses(policy: &Policy) -> Vec<Vec<u64>> {
    let Shape::Table(table) = policy.draft().shape() else { panic!("no table") };
    table.rows().iter().map(|row| row.masses().to_vec()).collect()
}

/// The integer nearest to a ratio of two integers times 2^48, computed without floats.
fn nearest(over: u128, under: u128) -> u64 {
    ((2 * over * u128::from(MASS_ONE) + under) / (2 * under)) as u64
}

#[test]
fn every_survey_design_has_the_table_of_its_two_numbers() {
    // P(yes|1) and P(yes|0) as exact fractions.
    let designs = [
        ("warner:0.7", (7, 10), (3, 10)),
        ("warner:0.2", (2, 10), (8, 10)),
        ("crosswise:.15", (15, 100), (85, 100)),
        ("forced:0.7,0.2,0.1", (9, 10), (2, 10)),
        ("unrelated:0.5,1/12", (13, 24), (1, 24)),
        ("unrelated:0.6,2/3", (60 * 3 + 40 * 2, 300), (40 * 2, 300)),
        ("kuk:0.8,0.3", (8, 10), (3, 10)),
        ("triangular:0.25", (1, 1), (1, 4)),
        ("mangat:0.7", (1, 1), (3, 10)),
    ];
    for (design, yes, no) in designs {
        let policy = made(design, OwnClaims::Nothing).policy.unwrap();
        let (yes, no) = (nearest(yes.0, yes.1), nearest(no.0, no.1));
        let rows = vec![vec![MASS_ONE - no, no], vec![MASS_ONE - yes, yes]];
        assert_eq!(masses(&policy), rows, "{design}");
        assert_eq!(
            (policy.inputs().label(0), policy.inputs().label(1)),
            ("no".into(), "yes".into())
        );
    }
}

#[test]
fn what_is_attained_is_claimed_and_rounded_up() {
    let level = |design: &str| policy(design).claims()[0].to_string();
    assert_eq!(level("warner:0.75"), "ldp:1.0986122887"); // ln 3
    assert_eq!(level("crosswise:0.25"), "ldp:1.0986122887");
    assert_eq!(level("forced:0.5,0.25,0.25"), "ldp:1.0986122887");
    assert_eq!(level("forced:0.8,0.1,0.1"), "ldp:2.1972245774"); // ln 9
    assert_eq!(level("unrelated:1/2,1/2"), "ldp:1.0986122887");
    // .6 against .2 is 3 and a hair in integers, and the next odds of two 32-bit numbers are 3 + 2^-30.4.
    assert_eq!(level("kuk:0.8,0.4"), "ldp:1.098612289");
    assert_eq!(level("krr:5,1"), "ldp:1");
    assert_eq!(level("bits:4,0.5,0.25"), "ldp:1.0986122887");
    for design in ["warner:0.7", "unrelated:0.5,1/12", "kuk:0.83,0.21", "krr:17,0.3"] {
        let policy = policy(design);
        let (attained, claimed) = (policy.ldp().unwrap(), policy.claims()[0]);
        let undertone_core::Bound::Ldp(epsilon) = claimed.bound else { panic!("{claimed}") };
        let slack = epsilon.nats().units() - attained.units();
        assert!(slack <= 4, "{design}: {} for {attained}", epsilon.nats());
        assert!(Policy::from_json(&policy.to_json()).is_ok());
    }
}

#[test]
fn a_prior_adds_a_level_of_belief() {
    let prior = Some(Prior::named([("yes", 0.1), ("no", 0.9)]).unwrap());
    let policy = make(&MakeRequest { prior, ..asked("warner:0.75", OwnClaims::Attained) }).unwrap();
    let policy = policy.policy.unwrap();
    // P(yes) = .1 .75 + .9 .25 = .3: belief in "yes" rises by 2.5 and falls by (.7/.25) = 2.8.
    assert_eq!(policy.claims()[0].to_string(), "lip:1.0296194172");
    assert_eq!(policy.claims()[1].to_string(), "ldp:1.0986122887");
}

#[test]
fn a_mechanism_without_a_finite_level_serves_estimates_only() {
    for design in ["triangular:0.25", "mangat:0.7", "forced:0.75,0.25,0"] {
        let error = make(&asked(design, OwnClaims::Attained)).unwrap_err();
        assert!(error.to_string().contains("give claim none"), "{error}");
        // A prior does not help: belief in "yes" falls to nought after "no".
        let prior = Some(Prior::new([0.9, 0.1]).unwrap());
        let known = MakeRequest { prior, ..asked(design, OwnClaims::Attained) };
        let unnamed = MakeRequest { symbols: Vec::new(), ..known };
        assert!(make(&unnamed).is_err(), "{design}");
        let made = made(design, OwnClaims::Nothing);
        let said = made.words();
        assert!(said.starts_with("verified, for estimation only: it promises nothing"), "{said}");
        assert_eq!(made.json()["estimation_only"], true);
        let policy = made.policy.unwrap();
        assert!(policy.ldp().is_none());
        // No device with a limit answers it.
        let mut ledger = Ledger::new(Nats::parse_down("10").unwrap());
        let refused = ledger.request("q", &policy, &Sequence::new(), &Consent::default());
        assert!(refused.is_err());
    }
    let warner = made("warner:0.75", OwnClaims::Nothing);
    assert!(warner.words().contains("It attains LDP 1.0986122887 all the same"));
}

#[test]
fn claims_that_are_asked_for_are_checked() {
    let these = |text: &str| OwnClaims::These(vec![text.parse().unwrap()]);
    assert!(made("warner:0.75", these("ldp:1.1")).is_good());
    let refused = made("warner:0.75", these("ldp:1"));
    assert!(!refused.is_good() && refused.policy.is_none());
    assert!(refused.json()["refusal"]["message"].as_str().unwrap().contains("claim 0"));
    assert!(made("triangular:0.5", these("ldp:1,0.5")).is_good());
    assert!(!made("triangular:0.5", these("ldp:1,0.49")).is_good());
    let error = make(&asked("warner:0.75", these("lip:1"))).unwrap_err();
    assert!(error.to_string().starts_with("claim: "), "{error}");
}

#[test]
fn channels_ship_as_they_are() {
    let rows = vec![vec![0.5, 0.25, 0.25], vec![0.25, 0.5, 0.25]];
    let channel = Channel::new(rows).unwrap();
    let mechanism = OwnMechanism::Channel(channel);
    let symbols = vec!["a".to_owned(), "b".into()];
    let request = MakeRequest { mechanism, symbols, prior: None, claims: OwnClaims::Attained };
    let policy = make(&request).unwrap().policy.unwrap();
    let quarter = MASS_ONE / 4;
    assert_eq!(
        masses(&policy),
        [[2 * quarter, quarter, quarter], [quarter, 2 * quarter, quarter]].map(Vec::from).to_vec()
    );
    assert_eq!(policy.claims()[0].to_string(), "ldp:0.6931471806");
    assert_eq!((policy.inputs().label(1), policy.outputs().label(2)), ("b".into(), "2".into()));
    // Without noise there is nothing to promise, not even nothing.
    let mechanism = OwnMechanism::Channel(Channel::identity(2).unwrap());
    let bare = MakeRequest { mechanism, claims: OwnClaims::Nothing, ..request };
    assert!(!make(&bare).unwrap().is_good());
}

#[test]
fn showing_a_policy_explains_it_as_the_survey_designs_it_is() {
    let report = made("crosswise:0.25", OwnClaims::Attained).report;
    // Here "yes" is reported less often where it is true: only designs with p below one half are it.
    assert_eq!(report.explained.len(), 3, "{:?}", report.explained);
    assert!(report.explained[1].starts_with("Crosswise (crosswise:0.25): "));
    let explained = made("forced:0.5,0.3,0.2", OwnClaims::Attained).report.explained;
    assert!(explained[0].starts_with("Forced response (forced:0.5,0.3,0.2): "), "{explained:?}");
    assert!(explained[1].contains("unrelated:0.5,0.6") && explained[2].contains("kuk:0.8,0.3"));
    let explained = made("mangat:0.7", OwnClaims::Nothing).report.explained;
    let has = |text: &str| explained.iter().any(|one| one.contains(text));
    assert!(has("triangular:0.3") && has("mangat:0.7") && has("forced:0.7,0.3,0"));
}

#[test]
fn bad_parameters_are_refused_in_words() {
    let bad = [
        ("warner:0", "above 0 and below 1"),
        ("warner:1", "above 0 and below 1"),
        ("warner:-0.2", "above 0 and below 1"),
        ("warner:nan", "is not a number"),
        ("warner:0.5", "singular"),
        ("crosswise:.5", "singular"),
        ("kuk:0.3,0.3", "singular"),
        ("bits:3,0.4,0.4", "singular"),
        ("krr:3,0", "say nothing"),
        ("krr:1,1", "whole number of at least 2"),
        ("krr:3", "write krr:K,EPS"),
        ("forced:0.5,0.25,0.3", "sum to 1.05"),
        ("forced:0.5,0.25", "write forced:P,P1,P0"),
        ("unrelated:0.5,1.2", "from 0 to 1"),
        ("unrelated:0.5,1/0", "is not a number"),
        ("triangular:0.2,0.3", "write triangular:P"),
        ("warner", "write channel:FILE, krr:K,EPS"),
        ("coin:0.5", "write channel:FILE, krr:K,EPS"),
    ];
    for (design, words) in bad {
        let error = read(design).unwrap_err();
        assert_eq!(error.code(), ErrorCode::Usage, "{design}");
        let said = error.to_string();
        assert!(said.starts_with("design is") && said.contains(words), "{design}: {said}");
    }
    assert_eq!(read("channel:nowhere.json").unwrap_err().code(), ErrorCode::File);
    let three = ["a", "b", "c"].map(String::from).to_vec();
    let request = MakeRequest { symbols: three, ..asked("warner:0.75", OwnClaims::Attained) };
    let said = make(&request).unwrap_err().to_string();
    assert!(said.contains("has 3 names") && said.contains("the sensitive answer last"), "{said}");
    let twice = ["a", "a"].map(String::from).to_vec();
    let request = MakeRequest { symbols: twice, ..asked("warner:0.75", OwnClaims::Attained) };
    assert!(make(&request).unwrap_err().to_string().contains("occurs twice"));
}
