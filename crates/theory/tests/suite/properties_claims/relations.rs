//! `relate`: no channel within the premise leaks more than the level claimed, and what is called exact is
//! attained by its own witness.

use undertone_design::measure::{delta, ldp};
use undertone_design::{Channel, Distribution};
use undertone_theory::relation::{Guarantee, Notion, RelationOutcome, Setting, relate};

use super::generate::{order, prior};
use super::measured::{kept, leakage};
use crate::properties_relations::generate::{about_datum, settings};
use undertone_design::measure::delta::Convention;
use undertone_testkit::channel::{self, Cone, Lifts, Odds};
use undertone_testkit::dice::{Dice, rounds};
use undertone_testkit::law::distribution;

/// Whether a leakage respects a claim up to 10⁻⁹ of it, and to what floats can say of lifts near one.
fn within(found: f64, claimed: f64) -> bool {
    found <= claimed * (1.0 + 1e-9) + 1e-15
}

fn check(
    premise: &Guarantee,
    prior: &Distribution,
    q: &Channel,
    setting: &Setting,
    seen: &mut Seen,
) {
    for to in about_datum() {
        let answer = relate(premise, to, setting).unwrap();
        let RelationOutcome::Holds(found) = &answer.outcome else { continue };
        let (lower, upper) = leakage(to, prior, q, setting);
        let level = &found.guarantee;
        let fine =
            within(upper, level.upper()) && (to != Notion::Alip || within(lower, level.lower()));
        seen.checked += 1;
        if !fine {
            seen.wrong.push(format!(
                "{premise:?} to {to} says {level:?} (exact {}), but ({lower:e}, {upper:e}) under {:?} alpha {:?} prior known {} by {:?} through {:?}",
                found.exact, prior.as_slice(), setting.alpha, setting.prior.is_some(), q,
                found.steps.iter().map(|s| s.rule).collect::<Vec<_>>()
            ));
        }
    }
}

#[derive(Default)]
struct Seen {
    checked: usize,
    exact: usize,
    doubtful: usize,
    wrong: Vec<String>,
}

impl Seen {
    #[track_caller]
    fn none_wrong(&self) {
        let shown: Vec<&str> = self.wrong.iter().take(5).map(String::as_str).collect();
        assert!(
            self.wrong.is_empty(),
            "{} wrong, for example\n{}",
            self.wrong.len(),
            shown.join("\n")
        );
    }
}

#[test]
fn no_channel_leaks_more_than_its_own_level_implies() {
    let mut dice = Dice::new(41);
    let mut seen = Seen::default();
    for round in 0..rounds(300) {
        let m = 2 + dice.below(if round % 8 == 0 { 11 } else { 5 });
        let prior = prior(&mut dice, m);
        let q = match round % 3 {
            0 => channel::channel(&channel::pulled(m, &mut dice)),
            1 => channel::channel(&channel::special(m, &mut dice)),
            _ => {
                let (lower, upper) = (dice.budget(), dice.budget());
                let cone = Lifts { prior: prior.as_slice(), lower, upper };
                let Ok(q) = Channel::new(channel::extreme(&cone, m, &mut dice)) else { continue };
                q
            }
        };
        let set = vec![super::generate::prior(&mut dice, m), prior.clone()];
        let alpha = order(&mut dice);
        for setting in settings(&prior, alpha, set) {
            for from in about_datum() {
                let Some(premise) = kept(from, leakage(from, &prior, &q, &setting)) else {
                    continue;
                };
                check(&premise, &prior, &q, &setting, &mut seen);
            }
        }
    }
    println!("{} checked", seen.checked);
    seen.none_wrong();
}

#[test]
fn no_extreme_channel_leaks_more_than_its_premise_implies() {
    let mut dice = Dice::new(42);
    let mut seen = Seen::default();
    for round in 0..rounds(300) {
        let m = 2 + dice.below(if round % 8 == 0 { 11 } else { 5 });
        let prior = prior(&mut dice, m);
        let (lower, upper) = (dice.budget(), dice.budget());
        let lifts = |lower, upper| Lifts { prior: prior.as_slice(), lower, upper };
        let positive = prior.min() > 0.0;
        let floor = (prior.max() / prior.min()).ln();
        let odds = |weights: Vec<f64>, epsilon| Odds { weights, epsilon };
        let premise = match round % 4 {
            0 => Guarantee::new(Notion::Lip, upper),
            1 => Guarantee::asymmetric(lower, upper),
            2 if positive && floor + upper < 300.0 => Guarantee::new(Notion::Di, floor + upper),
            _ => Guarantee::new(Notion::Ldp, upper),
        }
        .unwrap();
        let cone: Box<dyn Cone> = match premise.notion() {
            Notion::Di => Box::new(odds(prior.as_slice().to_vec(), premise.epsilon())),
            Notion::Ldp => Box::new(odds(vec![1.0; m], premise.epsilon())),
            _ => Box::new(lifts(premise.lower(), premise.upper())),
        };
        let alpha = order(&mut dice);
        let set = vec![super::generate::prior(&mut dice, m), prior.clone()];
        for setting in settings(&prior, alpha, set) {
            for _ in 0..3 {
                let Ok(q) = Channel::new(channel::extreme(cone.as_ref(), m, &mut dice)) else {
                    continue;
                };
                // Rounding may carry it a hair past the premise, which then is the channel's own level.
                let Some(own) =
                    kept(premise.notion(), leakage(premise.notion(), &prior, &q, &setting))
                else {
                    continue;
                };
                let hair = own.upper() <= premise.upper() * (1.0 + 1e-6)
                    && own.lower() <= premise.lower() * (1.0 + 1e-6);
                assert!(hair, "{premise:?} {own:?} {prior:?} {q:?}");
                let premise = if own.upper() > premise.upper() || own.lower() > premise.lower() {
                    own
                } else {
                    premise
                };
                check(&premise, &prior, &q, &setting, &mut seen);
            }
        }
    }
    println!("{} checked", seen.checked);
    seen.none_wrong();
}

#[test]
fn whatever_is_called_exact_is_attained_by_its_witness() {
    let mut dice = Dice::new(43);
    let mut seen = Seen::default();
    let mut doubted: std::collections::BTreeMap<String, usize> = Default::default();
    for round in 0..rounds(400) {
        let m = 2 + dice.below(if round % 16 == 0 { 11 } else { 5 });
        let prior = prior(&mut dice, m);
        let set = vec![super::generate::prior(&mut dice, m), prior.clone()];
        let setting =
            Setting { alpha: Some(order(&mut dice)), priors: set, ..Setting::of(prior.clone()) };
        let floor = (prior.max() / prior.min()).ln();
        let (lower, upper) = (dice.budget(), dice.budget());
        let mut premises = vec![
            Guarantee::new(Notion::Lip, upper).unwrap(),
            Guarantee::asymmetric(lower, upper).unwrap(),
            Guarantee::new(Notion::Pml, upper).unwrap(),
            Guarantee::new(Notion::Ldp, upper).unwrap(),
        ];
        premises.extend(Guarantee::new(Notion::Di, floor + upper));
        for premise in premises {
            for to in about_datum().filter(|to| *to != premise.notion()) {
                let answer = relate(&premise, to, &setting).unwrap();
                let RelationOutcome::Holds(found) = &answer.outcome else { continue };
                if !found.exact {
                    seen.doubtful += 1;
                    *doubted.entry(format!("{} to {to}", premise.notion())).or_default() += 1;
                    continue;
                }
                seen.exact += 1;
                let q = found.witness.as_ref().unwrap();
                let close = |found: f64, level: f64| {
                    found == level || (found - level).abs() <= 1e-9 * level
                };
                let reached = leakage(to, &prior, q, &setting);
                let level = &found.guarantee;
                let own = leakage(premise.notion(), &prior, q, &setting);
                let kept = own.1 <= premise.upper() * (1.0 + 1e-9)
                    && (premise.notion() != Notion::Alip
                        || own.0 <= premise.lower() * (1.0 + 1e-9));
                let attains = close(reached.1, level.upper())
                    && (to != Notion::Alip || close(reached.0, level.lower()));
                if !kept || !attains {
                    seen.wrong.push(format!(
                        "{premise:?} to {to}: {level:?} but {reached:?}, premise {own:?}"
                    ));
                }
                if let Some(closed) = &found.closed_form
                    && !(within(level.upper(), closed.upper())
                        && within(level.lower(), closed.lower()))
                {
                    seen.wrong.push(format!(
                        "{premise:?} to {to}: exact {level:?} above closed {closed:?} under {:?}",
                        prior.as_slice()
                    ));
                }
            }
        }
    }
    println!("{} exact, {} doubtful {doubted:?}", seen.exact, seen.doubtful);
    seen.none_wrong();
}

#[test]
fn a_budget_of_nought_says_nothing_about_symbols_that_never_occur() {
    let blind = distribution(&[0.5, 0.5, 0.0]);
    let bare = Setting { alpha: Some(3.0), priors: vec![blind.clone()], ..Setting::new() };
    let known = Setting { prior: Some(blind.clone()), ..bare.clone() };
    let positive = Setting { p_min: Some(0.1), ..bare.clone() };
    // The symbol without mass says its own name: no average sees it.
    let q = Channel::new(vec![vec![0.0, 1.0], vec![0.0, 1.0], vec![1.0, 0.0]]).unwrap();
    for from in about_datum() {
        let premise = Guarantee::new(from, 0.0).unwrap();
        if from == Notion::Di || leakage(from, &blind, &q, &known).1 > 0.0 {
            continue;
        }
        for to in about_datum().filter(|to| *to != Notion::Di) {
            let leaks = leakage(to, &blind, &q, &known).1;
            for setting in [&bare, &known] {
                let answer = relate(&premise, to, setting).unwrap();
                match &answer.outcome {
                    RelationOutcome::Holds(found) => {
                        assert!(leaks <= found.guarantee.upper(), "{premise} to {to}: {leaks}");
                    }
                    RelationOutcome::Needs { .. } => {
                        assert!(setting.prior.is_none(), "{premise} to {to}")
                    }
                    RelationOutcome::NoImplication(example) => {
                        assert!(leaks > 0.0, "{premise} to {to}");
                        if let Some(member) = &example.member {
                            let found = leakage(from, &member.prior, &member.channel, setting);
                            assert_eq!(found.1, 0.0, "{premise} to {to}");
                        }
                    }
                }
            }
            // Where every symbol occurs, no leakage is no leakage.
            let answer = relate(&premise, to, &positive).unwrap();
            assert_eq!(answer.holds().unwrap().guarantee.upper(), 0.0, "{premise} to {to}");
        }
    }
}

/// The least δ at which a channel keeps these levels, in the convention asked for.
fn least_delta(
    notion: Notion,
    level: (f64, f64),
    convention: Convention,
    prior: &Distribution,
    q: &Channel,
    s: &Setting,
) -> f64 {
    let (lower, upper) = level;
    match notion {
        Notion::Ldp | Notion::Wclip => ldp::delta(q, upper).unwrap().0,
        Notion::Alip => delta::Excess::of(prior, q, lower, upper).unwrap().conditional(),
        Notion::Bplip => {
            let under = |p: &Distribution| delta::conditional(p, q, upper).unwrap();
            s.priors.iter().map(under).fold(0.0, f64::max)
        }
        _ => match convention {
            Convention::Conditional => delta::conditional(prior, q, upper),
            Convention::Posterior => delta::posterior(prior, q, upper),
            Convention::Joint => delta::joint(prior, q, upper),
            Convention::JointSets => delta::joint_sets(prior, q, upper),
        }
        .unwrap(),
    }
}

#[test]
fn no_channel_needs_a_larger_delta_than_its_own_implies() {
    let mut dice = Dice::new(44);
    let mut seen = Seen::default();
    for round in 0..rounds(250) {
        let m = 2 + dice.below(4);
        let prior = prior(&mut dice, m);
        let q = match round % 2 {
            0 => channel::channel(&channel::pulled(m, &mut dice)),
            _ => channel::channel(&channel::special(m, &mut dice)),
        };
        let set = vec![super::generate::prior(&mut dice, m), prior.clone()];
        let epsilon = dice.budget();
        for setting in settings(&prior, order(&mut dice), set) {
            for from in [Notion::Ldp, Notion::Wclip, Notion::Lip, Notion::Alip, Notion::Bplip] {
                for convention in Convention::ALL {
                    if convention != Convention::Conditional && from != Notion::Lip {
                        continue;
                    }
                    let half = if from == Notion::Alip { epsilon / 2.0 } else { epsilon };
                    let delta =
                        least_delta(from, (epsilon, half), convention, &prior, &q, &setting);
                    let delta = delta * (1.0 + 1e-9) + 1e-15;
                    let premise = match from {
                        Notion::Alip => Guarantee::asymmetric(epsilon, half),
                        _ => Guarantee::new(from, epsilon),
                    };
                    let Ok(premise) = premise.unwrap().with_delta(delta, convention) else {
                        continue;
                    };
                    check_delta(&premise, &prior, &q, &setting, &mut seen);
                }
            }
        }
    }
    println!("{} checked", seen.checked);
    seen.none_wrong();
}

fn check_delta(
    premise: &Guarantee,
    prior: &Distribution,
    q: &Channel,
    setting: &Setting,
    seen: &mut Seen,
) {
    for to in [Notion::Ldp, Notion::Wclip, Notion::Lip, Notion::Alip, Notion::Bplip] {
        for convention in Convention::ALL {
            let setting = Setting { convention: Some(convention), ..setting.clone() };
            let answer = relate(premise, to, &setting).unwrap();
            let RelationOutcome::Holds(found) = &answer.outcome else { continue };
            for level in found.alternatives.iter().chain([&found.guarantee]) {
                let levels = (level.lower(), level.upper());
                if levels.0.max(levels.1) > 700.0 {
                    continue;
                }
                let needed = least_delta(to, levels, level.convention(), prior, q, &setting);
                seen.checked += 1;
                if needed > level.delta() * (1.0 + 1e-9) + 1e-14 {
                    seen.wrong.push(format!(
                        "{premise:?} to {level:?}, but {needed:e} under {:?} by {q:?}",
                        prior.as_slice()
                    ));
                }
            }
        }
    }
}

#[test]
fn arimoto_of_large_orders_is_not_lost_to_underflow() {
    // At order 1000 the escort law of this prior is one symbol to the last float, and three others decide.
    let prior = distribution(&[0.299832, 0.297578, 0.301599, 0.100991]);
    let setting = Setting { alpha: Some(1000.0), ..Setting::of(prior.clone()) };
    let premise = Guarantee::asymmetric(2.0, 2.0).unwrap();
    let answer = relate(&premise, Notion::Arimoto, &setting).unwrap();
    let found = answer.holds().unwrap();
    let reached = leakage(Notion::Arimoto, &prior, found.witness.as_ref().unwrap(), &setting).1;
    assert!(found.exact && (found.guarantee.upper() - reached).abs() < 1e-9);
    assert!((reached - 1.0790).abs() < 1e-4, "{reached}");
    // At order 170 a rare symbol's weight is e^-373; its lift, to the 170th power, makes up for it.
    let prior = distribution(&[0.9, 0.1]);
    let setting = Setting { alpha: Some(170.0), ..Setting::of(prior.clone()) };
    let lip = Guarantee::new(Notion::Lip, 2.5).unwrap();
    let answer = relate(&lip, Notion::Arimoto, &setting).unwrap();
    let found = answer.holds().unwrap();
    assert!(found.exact && found.guarantee.upper() > 1e-3, "{:?}", found.guarantee);
}
