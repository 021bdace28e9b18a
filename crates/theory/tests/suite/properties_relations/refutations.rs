//! What does not follow: the counterexamples, by the slow measures.

use undertone_design::Distribution;
use undertone_design::measure::delta::Convention;
use undertone_theory::relation::{
    Guarantee, Member, Missing, Notion, RelationOutcome, Scope, Setting, Verdict, counterexample,
    relate,
};

use crate::properties_relations::generate::rows;
use crate::properties_relations::slow;
use undertone_testkit::law::distribution;

/// The leakage of a counterexample member, by the slow measures.
fn member_level(member: &Member, notion: Notion, alpha: f64) -> f64 {
    let (p, q) = (member.prior.as_slice(), rows(&member.channel));
    let hidden = || {
        let joint = member.joint.as_ref().unwrap();
        (joint.secret().as_slice().to_vec(), rows(&joint.through(&member.channel).unwrap()))
    };
    // Independent copies: informations and worst lifts add, neighbours differ in one copy.
    let copies = member.copies as f64;
    match notion {
        Notion::Mip | Notion::Mipx => slow::information(p, &q) * copies,
        Notion::Ldp | Notion::Wclip => slow::ldp(&q),
        Notion::Lip => {
            let (lower, upper) = slow::lifts(p, &q);
            lower.max(upper)
        }
        Notion::Alip => slow::lifts(p, &q).0.max(slow::lifts(p, &q).1),
        Notion::Pml => slow::lifts(p, &q).1,
        Notion::Di | Notion::Ident => slow::odds(p, &q, |_, _| true),
        Notion::Mil => {
            // Like every average it sees only the support.
            let seen = q.iter().zip(p).filter(|(_, p)| **p > 0.0);
            slow::maximal(&seen.map(|(row, _)| row.clone()).collect::<Vec<_>>())
        }
        Notion::Sibson => slow::sibson(p, &q, alpha),
        Notion::Arimoto => slow::arimoto(p, &q, alpha),
        Notion::Alphalift => slow::alpha_lift(p, &q, alpha),
        Notion::Avgleak => {
            let (g, q) = hidden();
            slow::information(&g, &q) * copies
        }
        Notion::Infp => {
            let (g, q) = hidden();
            let (lower, upper) = slow::lifts(&g, &q);
            lower.max(upper) * copies
        }
        Notion::Infdp => {
            let (g, q) = hidden();
            slow::odds(&vec![1.0; g.len()], &q, |_, _| true)
        }
        Notion::Bplip => panic!("a set of priors is not part of a member"),
    }
}

#[test]
fn counterexample_families_do_what_they_say() {
    let alpha = 2.5;
    for statement in counterexample::all() {
        let mut levels = Vec::new();
        for budget in [1.0, 0.1, 0.01, 0.001] {
            let premise = Guarantee::new(statement.from, budget).unwrap();
            let premise = if statement.scope == Scope::Delta {
                premise.with_delta(budget / 4.0, Convention::Conditional).unwrap()
            } else {
                premise
            };
            for prior in [None, Some(distribution(&[0.5, 0.3, 0.2]))] {
                let setting = Setting { alpha: Some(alpha), prior, ..Setting::new() };
                let Some(member) = (statement.member)(&premise, &setting) else {
                    let excused = statement.verdict == Verdict::False
                        || statement.scope == Scope::Prior && setting.prior.is_some();
                    assert!(excused, "{} {}", statement.from, statement.to);
                    continue;
                };
                let small = if statement.scope == Scope::Delta {
                    assert!(
                        slow::ldp_delta(&rows(&member.channel), 0.0) <= premise.delta() + 1e-12
                    );
                    0.0
                } else {
                    member_level(&member, statement.from, alpha)
                };
                let (from, to) = (statement.from, statement.to);
                assert!(small <= budget + 1e-12, "{from} not to {to}: {small} > {budget}");
                let large = member_level(&member, to, alpha);
                let same = large == member.leakage
                    || (large - member.leakage).abs() < 1e-9 * (1.0 + large);
                assert!(same, "{from} not to {to}: {large}, said {}", member.leakage);
                levels.push(large);
            }
        }
        // The large side does not shrink with the budget.
        assert!(
            levels.iter().all(|level| *level > 0.1),
            "{} not to {}",
            statement.from,
            statement.to
        );
        assert_eq!(levels.is_empty(), statement.verdict == Verdict::False);
    }
}

#[test]
fn the_printed_example_of_theorem_1_ix_does_not_vanish() {
    // |X|^s = |G| = 2: I(X;Z) tends to h(1/4) = .5623, not to 0.
    for (a, expected) in [(0.1, 0.6109), (0.01, 0.5678), (1e-3, 0.5629), (1e-4, 0.5624)] {
        let p0 = f64::midpoint(a, 0.5);
        let information = slow::information(&[p0, 1.0 - p0], &[vec![1.0, 0.0], vec![0.0, 1.0]]);
        assert!((information - expected).abs() < 1e-4, "{information}");
    }
}

#[test]
fn identifiability_approaches_twice_its_level() {
    // ST20 (xiv): a rare output, e = .3; the ratio to e tends to 2.
    for (pz, expected) in [(0.1, 1.798), (0.01, 1.980), (0.001, 1.998)] {
        let e = 0.3f64.exp();
        let (high, low) = (e / (1.0 + e), 1.0 / (1.0 + e));
        // Posterior odds e^.3 one way after the rare output, the other way after the common one.
        let p = [pz * high + (1.0 - pz) * low, pz * low + (1.0 - pz) * high];
        let q: Vec<Vec<f64>> = vec![
            vec![pz * high / p[0], (1.0 - pz) * low / p[0]],
            vec![pz * low / p[1], (1.0 - pz) * high / p[1]],
        ];
        assert!((slow::odds(&p, &q, |_, _| true) - 0.3).abs() < 1e-12);
        let ratio = slow::ldp(&q) / 0.3;
        assert!((ratio - expected).abs() < 1e-3, "{ratio}");
        let ident = Guarantee::new(Notion::Ident, 0.3).unwrap();
        let answer = relate(&ident, Notion::Ldp, &Setting::new()).unwrap();
        assert!(slow::ldp(&q) <= answer.holds().unwrap().guarantee.epsilon());
    }
}

#[test]
fn every_question_has_an_answer_and_every_refutation_a_member() {
    let full = Setting {
        alpha: Some(2.0),
        sensors: Some(1),
        secrets: Some(1),
        hypothesis: Some(Distribution::uniform(2)),
        priors: vec![distribution(&[0.5, 0.3, 0.2]), Distribution::uniform(3)],
        ..Setting::of(distribution(&[0.5, 0.3, 0.2]))
    };
    let bare = Setting { alpha: Some(2.0), ..Setting::new() };
    // A symbol without mass: odds are infinite whatever is released.
    let massless = Setting { prior: Some(distribution(&[0.6, 0.4, 0.0])), ..full.clone() };
    let (mut held, mut refuted, mut needing) = (0, 0, 0);
    for (setting, known) in [(&full, true), (&bare, false), (&massless, true)] {
        for from in Notion::ALL {
            for to in Notion::ALL {
                for epsilon in [0.0, 0.05, 1.0, 4.0] {
                    let skewed = [Notion::Di, Notion::Ident].contains(&from) && known;
                    if skewed && setting == &massless {
                        let impossible = Guarantee::new(from, 9.0).unwrap();
                        assert!(relate(&impossible, to, setting).is_err());
                        continue;
                    }
                    let premise =
                        Guarantee::new(from, if skewed { epsilon + 1.0 } else { epsilon }).unwrap();
                    match relate(&premise, to, setting).unwrap().outcome {
                        RelationOutcome::Holds(found) => {
                            held += 1;
                            assert!(found.guarantee.upper() >= 0.0);
                            assert_eq!(found.guarantee.notion(), to);
                            assert!(from == to || !found.steps.is_empty());
                            let last = found.steps.last().map_or(premise, |step| step.guarantee);
                            assert_eq!(last, found.guarantee);
                        }
                        RelationOutcome::Needs { missing } => {
                            needing += 1;
                            assert!(!missing.is_empty(), "{premise} to {to}");
                            let excuse =
                                missing == [Missing::OneSensor] || missing == [Missing::PriorInSet];
                            assert!(!known || excuse, "{premise} to {to} needs {missing:?}");
                        }
                        RelationOutcome::NoImplication(example) => {
                            refuted += 1;
                            let Some(member) = example.member else {
                                assert_eq!(epsilon, 0.0, "{premise} to {to}");
                                continue;
                            };
                            if from != Notion::Bplip {
                                let small = member_level(&member, from, 2.0);
                                assert!(
                                    small <= premise.upper() + 1e-9,
                                    "{premise} to {to}: {small}"
                                );
                            }
                            let large = member_level(&member, example.large, 2.0);
                            assert!(large > 0.1, "{premise} to {to}: {} is {large}", example.large);
                        }
                    }
                }
            }
        }
    }
    assert!(held > 900 && refuted > 500 && needing > 100, "{held} {refuted} {needing}");
}

#[test]
fn delta_reaches_only_what_a_rule_carries() {
    let prior = Setting { alpha: Some(2.0), ..Setting::of(distribution(&[0.5, 0.3, 0.2])) };
    let lip: Guarantee = "lip:0.5,0.01".parse().unwrap();
    for to in [Notion::Pml, Notion::Di, Notion::Alphalift] {
        let answer = relate(&lip, to, &prior).unwrap();
        let RelationOutcome::NoImplication(example) = answer.outcome else {
            panic!("{to}: {:?}", answer.outcome)
        };
        let member = example.member.unwrap();
        let q = rows(&member.channel);
        assert!(slow::lip_delta(member.prior.as_slice(), &q, 0.5, Convention::Conditional) <= 0.01);
        assert!(member_level(&member, to, 2.0) > 0.3);
    }
    let answer = relate(&lip, Notion::Mip, &prior).unwrap();
    assert_eq!(answer.outcome, RelationOutcome::Needs { missing: vec![Missing::Pure] });
}
