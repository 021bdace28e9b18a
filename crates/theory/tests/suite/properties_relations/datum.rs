//! Notions of one datum: every pair, every setting, with and without δ.

use undertone_design::measure::delta::Convention;
use undertone_theory::relation::{
    Guarantee, Holds, Notion, RelationOutcome, Setting, forms, relate,
};

use crate::properties_relations::generate::{about_datum, respects, rows, settings};
use crate::properties_relations::slow;
use undertone_testkit::channel::pulled;
use undertone_testkit::dice::Dice;
use undertone_testkit::law::{distribution, spiked};

#[test]
fn no_pure_implication_is_violated() {
    let mut dice = Dice::new(1);
    let (mut checked, mut exact) = (0, 0);
    for round in 0..250 {
        let m = 2 + round % 4;
        let spike = 3.0 * dice.open_unit();
        let prior = distribution(&spiked(m, spike, &mut dice));
        let q = pulled(m, &mut dice);
        let set = vec![distribution(&spiked(m, 1.0, &mut dice)), prior.clone()];
        let alpha = 1.05 + 4.0 * dice.open_unit();
        for setting in settings(&prior, alpha, set) {
            for from in about_datum() {
                let premise = slow::datum(from, prior.as_slice(), &q, &setting);
                for to in about_datum() {
                    let answer = relate(&premise, to, &setting).unwrap();
                    let Some(found) = answer.holds() else { continue };
                    let measured = slow::datum(to, prior.as_slice(), &q, &setting);
                    respects(&found.guarantee, &measured, &format!("{premise} to {to}"));
                    if let Some(closed) = &found.closed_form {
                        respects(closed, &found.guarantee, "the closed form bounds the exact one");
                    }
                    checked += 1;
                    exact += usize::from(found.exact);
                }
            }
        }
    }
    assert!(checked > 60_000 && exact > 10_000, "{checked} {exact}");
}

#[test]
fn witnesses_satisfy_the_premise_and_attain_the_supremum() {
    let mut dice = Dice::new(2);
    let mut checked = 0;
    for round in 0..120 {
        let m = 2 + round % 4;
        let spike = 2.5 * dice.open_unit();
        let prior = distribution(&spiked(m, spike, &mut dice));
        let set = vec![distribution(&spiked(m, 1.0, &mut dice)), prior.clone()];
        let alpha = 1.2 + 3.0 * dice.open_unit();
        let setting = Setting { alpha: Some(alpha), priors: set, ..Setting::of(prior.clone()) };
        let epsilon = 0.02 + 2.5 * dice.open_unit();
        let floor = (prior.max() / prior.min()).ln();
        let premises = [
            Guarantee::new(Notion::Lip, epsilon),
            Guarantee::asymmetric(epsilon, 1.5 * dice.open_unit()),
            Guarantee::new(Notion::Pml, epsilon),
            Guarantee::new(Notion::Ldp, epsilon),
            Guarantee::new(Notion::Wclip, epsilon),
            Guarantee::new(Notion::Di, floor + epsilon),
        ];
        for premise in premises.map(Result::unwrap) {
            for to in about_datum().filter(|&to| to != premise.notion()) {
                let answer = relate(&premise, to, &setting).unwrap();
                let (level, witness) = match &answer.outcome {
                    RelationOutcome::Holds(Holds {
                        exact: true,
                        guarantee,
                        witness: Some(q),
                        ..
                    }) => (*guarantee, q),
                    RelationOutcome::NoImplication(example) => {
                        // Only a missing lower side leaves anything unbounded.
                        assert!(premise.notion() == Notion::Pml, "{premise} to {to}");
                        let member = example.member.as_ref().unwrap();
                        let q = rows(&member.channel);
                        let p = member.prior.as_slice();
                        respects(&premise, &slow::datum(Notion::Pml, p, &q, &setting), "member");
                        assert!(slow::ldp(&q).is_infinite());
                        continue;
                    }
                    other => panic!("{premise} to {to}: {other:?}"),
                };
                let q = rows(witness);
                let p = prior.as_slice();
                let what = format!("witness of {premise} to {to} under {p:?}");
                respects(&premise, &slow::datum(premise.notion(), p, &q, &setting), &what);
                if to == Notion::Alip && level.lower().is_infinite() {
                    assert!(slow::lifts(p, &q).0.is_infinite());
                    continue;
                }
                let attained = slow::datum(to, p, &q, &setting);
                let gap = (level.upper() - attained.upper())
                    .abs()
                    .max((level.lower() - attained.lower()).abs());
                assert!(gap <= 1e-9 * (1.0 + level.epsilon()), "{what}: {level} but {attained}");
                checked += 1;
            }
        }
    }
    assert!(checked > 5_000, "{checked}");
}

#[test]
fn exact_suprema_agree_with_the_closed_forms() {
    let mut dice = Dice::new(3);
    for round in 0..300 {
        let m = 2 + round % 5;
        let spike = 3.0 * dice.open_unit();
        let prior = distribution(&spiked(m, spike, &mut dice));
        let setting = Setting::of(prior.clone());
        let (lower, upper) = (0.01 + 3.0 * dice.open_unit(), 0.01 + 2.0 * dice.open_unit());
        let at = |premise: &Guarantee, to| {
            let answer = relate(premise, to, &setting).unwrap();
            let found = answer.holds().unwrap().clone();
            assert!(found.exact);
            found.guarantee
        };
        let near = |a: f64, b: f64, what: &str| {
            assert!((a - b).abs() < 1e-9 * (1.0 + b), "{what} {prior:?} {lower} {upper}: {a} {b}");
        };
        let alip = Guarantee::asymmetric(lower, upper).unwrap();
        near(at(&alip, Notion::Ldp).epsilon(), forms::exact_ldp(&prior, lower, upper), "ldp");
        near(at(&alip, Notion::Di).epsilon(), forms::exact_di(&prior, lower, upper), "di");
        let ldp = Guarantee::new(Notion::Ldp, lower).unwrap();
        let lifts = at(&ldp, Notion::Alip);
        near(lifts.lower(), forms::lip_from_ldp(lower, prior.min()), "ldp to lower");
        near(lifts.upper(), forms::max_lift_from_ldp(lower, prior.min()), "ldp to upper");
        near(
            at(&ldp, Notion::Mil).epsilon(),
            forms::maximal_leakage_from_ldp(lower, m as f64),
            "mil",
        );
        let floor = (prior.max() / prior.min()).ln();
        let di = Guarantee::new(Notion::Di, floor + upper).unwrap();
        let lifts = at(&di, Notion::Alip);
        let closed = forms::lip_from_di(&prior, floor + upper);
        near(lifts.lower(), closed.0, "di to lower");
        near(lifts.upper(), closed.1, "di to upper");
        near(at(&di, Notion::Ldp).epsilon(), 2.0 * floor + upper, "di to ldp");
        // Maximal leakage under LIP is exact where the prior is flat enough.
        let lip = Guarantee::new(Notion::Lip, lower).unwrap();
        if prior.min() >= 1.0 / (1.0 + lower.exp()) {
            near(
                at(&lip, Notion::Mil).epsilon(),
                forms::maximal_leakage(lower, lower, m as f64),
                "mil",
            );
        }
    }
}

#[test]
fn large_budgets_stay_exact() {
    let setting = Setting::of(distribution(&[0.5, 0.3, 0.2]));
    for epsilon in [15.0, 25.0, 40.0] {
        let lip = Guarantee::new(Notion::Lip, epsilon).unwrap();
        let answer = relate(&lip, Notion::Ldp, &setting).unwrap();
        let exact = forms::exact_ldp(setting.prior.as_ref().unwrap(), epsilon, epsilon);
        assert!((answer.holds().unwrap().guarantee.epsilon() - exact).abs() < 1e-9 * exact);
        let answer = relate(&lip, Notion::Mip, &setting).unwrap();
        let entropy = setting.prior.as_ref().unwrap().entropy();
        assert!((answer.holds().unwrap().guarantee.epsilon() - entropy).abs() < 1e-4);
    }
}

#[test]
fn no_delta_implication_is_violated() {
    let mut dice = Dice::new(4);
    let mut checked = 0;
    for round in 0..400 {
        let m = 2 + round % 3;
        let spike = 2.0 * dice.open_unit();
        let p = spiked(m, spike, &mut dice);
        let q = pulled(m, &mut dice);
        let epsilon = slow::ldp(&q) * dice.open_unit();
        let prior = distribution(&p);
        let set = vec![prior.clone(), distribution(&spiked(m, 1.0, &mut dice))];
        let mut premises = vec![
            Guarantee::new(Notion::Ldp, epsilon)
                .unwrap()
                .with_delta(slow::ldp_delta(&q, epsilon), Convention::Conditional),
            Guarantee::new(Notion::Wclip, epsilon)
                .unwrap()
                .with_delta(slow::ldp_delta(&q, epsilon), Convention::Conditional),
            Guarantee::asymmetric(epsilon, epsilon / 2.0).unwrap().with_delta(
                slow::sides_delta(&p, &q, epsilon, epsilon / 2.0),
                Convention::Conditional,
            ),
        ];
        let worst = set
            .iter()
            .map(|p| slow::lip_delta(p.as_slice(), &q, epsilon, Convention::Conditional))
            .fold(0.0, f64::max);
        premises.push(
            Guarantee::new(Notion::Bplip, epsilon)
                .unwrap()
                .with_delta(worst, Convention::Conditional),
        );
        for convention in Convention::ALL {
            let delta = slow::lip_delta(&p, &q, epsilon, convention);
            premises
                .push(Guarantee::new(Notion::Lip, epsilon).unwrap().with_delta(delta, convention));
        }
        for premise in premises.into_iter().map(Result::unwrap).filter(|g| g.delta() > 0.0) {
            for setting in settings(&prior, 2.0, set.clone()) {
                for to in [Notion::Ldp, Notion::Wclip, Notion::Alip, Notion::Bplip, Notion::Lip] {
                    for convention in Convention::ALL {
                        let setting = Setting { convention: Some(convention), ..setting.clone() };
                        let answer = relate(&premise, to, &setting).unwrap();
                        let Some(found) = answer.holds() else { continue };
                        for g in found.alternatives.iter().chain([&found.guarantee]) {
                            let delta = match to {
                                Notion::Ldp | Notion::Wclip => slow::ldp_delta(&q, g.epsilon()),
                                Notion::Alip => slow::sides_delta(&p, &q, g.lower(), g.upper()),
                                Notion::Bplip => setting
                                    .priors
                                    .iter()
                                    .map(|p| {
                                        slow::lip_delta(
                                            p.as_slice(),
                                            &q,
                                            g.epsilon(),
                                            Convention::Conditional,
                                        )
                                    })
                                    .fold(0.0, f64::max),
                                _ => slow::lip_delta(&p, &q, g.epsilon(), convention),
                            };
                            assert!(
                                delta <= g.delta() + 1e-12,
                                "{premise} to {to} {convention}: {g}, needs {delta}"
                            );
                            checked += 1;
                        }
                    }
                }
            }
        }
    }
    assert!(checked > 50_000, "{checked}");
}

#[test]
fn small_budgets_stay_exact() {
    // The exact supremum is at most the closed form even where all lifts are within 1e-7 of one.
    let mut dice = Dice::new(11);
    for round in 0..40 {
        let m = 2 + round % 7;
        let spike = 8.0 * dice.open_unit();
        let prior = distribution(&spiked(m, spike, &mut dice));
        let setting = Setting { alpha: Some(2.0), ..Setting::of(prior) };
        for epsilon in [1e-7, 1e-5, 1e-3] {
            for from in [Notion::Lip, Notion::Pml, Notion::Ldp] {
                for to in [Notion::Mip, Notion::Mil, Notion::Sibson, Notion::Alphalift] {
                    let premise = Guarantee::new(from, epsilon).unwrap();
                    let answer = relate(&premise, to, &setting).unwrap();
                    let found = answer.holds().unwrap();
                    // Below 1e-6 a channel's floats cannot show 1e-9 of the budget: that is a bound.
                    assert!(found.exact || epsilon < 1e-6);
                    let (exact, closed) =
                        (found.guarantee.upper(), found.closed_form.unwrap().upper());
                    assert!(
                        exact > 0.0 && exact <= closed * (1.0 + 1e-6),
                        "{premise} to {to}: {exact} {closed}"
                    );
                }
            }
        }
    }
}
