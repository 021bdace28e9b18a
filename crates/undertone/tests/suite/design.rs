//! Designs as a Rust program asks for them.

use undertone::design::{
    self, Design, DesignDetails, DesignMethod, DesignReport, Losses, Objective, RefusedDetails,
    Scale,
};
use undertone::{Answer, ErrorCode, Prior};
use undertone_core::{Alphabet, Claim, Context, Epsilon, Nats, Policy, Provenance, Subject};
use undertone_design::Joint;

fn yes_no() -> Design {
    Design::new(["no", "yes"]).prior([0.9, 0.1])
}

fn words(design: Design) -> String {
    design.policy().unwrap_err().to_string()
}

fn labels(policy: &Policy) -> Vec<String> {
    let inputs = policy.draft().inputs();
    (0..inputs.len()).map(|x| inputs.label(x)).collect()
}

#[test]
fn the_policy_is_the_one_the_report_is_about() {
    let asked = || yes_no().protect("lip:1").objective(Objective::Frequency);
    let policy = asked().policy().unwrap();
    assert_eq!(labels(&policy), ["no", "yes"]);
    let report = asked().run().unwrap();
    let json = report.json();
    assert_eq!(json["policy_id"], policy.id().to_string());
    assert_eq!(
        (json["method"].as_str(), json["objective"].as_str()),
        (Some("optimal"), Some("frequency"))
    );
    assert_eq!(json["requested"][0], "lip:1");
    let found = report.verified().unwrap();
    // The shipped integers attain what was asked for, and are worth what the optimum is.
    let attained = found.attained.leakages.input.lip.unwrap().ln_up().unwrap();
    assert!(attained <= Nats::parse_down("1").unwrap(), "{attained}");
    let (utility, optimum) = (found.utility.unwrap(), found.optimum.unwrap());
    assert!((utility - optimum).abs() < 1e-9 && found.comparison.blind.is_infinite());
    assert_eq!(json["unbounded"][0], "/comparison/blind");
    let said = report.words();
    assert!(
        said.starts_with("verified: lip:1\npolicy id: ") && said.contains("moves by at most"),
        "{said}"
    );
}

#[test]
fn words_and_types_ask_for_the_same() {
    let id = |design: Design| design.policy().unwrap().id();
    let written = id(yes_no().protect("lip:1").objective("hamming").method("krr"));
    let epsilon = Epsilon::parse("1").unwrap();
    let typed = yes_no().protect(Claim::lip(epsilon)).objective(Objective::Hamming);
    assert_eq!(id(typed.method(DesignMethod::Krr)), written);
    // A prior may name its symbols itself, in any order.
    let named = |prior: Prior| Design::default().prior(prior).protect("lip:1").method("krr");
    let prior = Prior::named([("no", 0.9), ("yes", 0.1)]).unwrap();
    assert_eq!(id(named(prior)), written);
    let turned = Design::new(["no", "yes"]).prior([("no", 0.9), ("yes", 0.1)]).protect("lip:1");
    assert_eq!(id(turned.method("krr")), written);
    let over = Design::over(&Alphabet::names(["no", "yes"]).unwrap());
    assert_eq!(id(over.prior(vec![0.9, 0.1]).protect("lip:1").method("krr")), written);
}

#[test]
fn what_cannot_be_used_is_refused_at_the_end_with_the_field() {
    for (design, said) in [
        (Design::new(["no", "no"]).prior([0.5, 0.5]).protect("lip:1"), "\"no\""),
        (yes_no().protect("lip:x"), "protect: protection \"lip:x\""),
        (yes_no().protect("lip:x").objective("nope"), "protect: protection \"lip:x\""),
        (yes_no().protect("lip:1").objective("nope"), "objective \"nope\" is unknown"),
        (yes_no().protect("lip:1").method("nope"), "method \"nope\" is unknown: use optimal"),
        (yes_no(), "protect: give a protection"),
        (Design::default().protect("lip:1"), "give prior, prior_lower with prior_upper, or joint"),
        (
            Design::new(["no", "yes"]).protect("lip:1"),
            "lip:1 is about belief, which needs a prior, and with symbols alone there is none: give ldp:E",
        ),
        (Design::new(["no", "yes"]).accurate_for(100, 0.1, 0.95), "n finds a level of LIP"),
        (
            Design::new(["no", "yes"]).method("laplace").protect("ldp:1"),
            "symbols are names, and these are numbers",
        ),
        (Design::new(["a", "b", "c"]).prior([0.9, 0.1]).protect("lip:1"), "entries"),
        (yes_no().prior([0.2, 0.3]).protect("lip:1"), "sums to 0.5"),
        (
            yes_no().protect("lip:1").values([1.0]).objective("squared"),
            "values: values has 1 entries",
        ),
        (
            yes_no().protect("lip:1").scale(Scale::Table),
            "scale is for numbers: give range with points or bins",
        ),
        (yes_no().protect("lip:1").accurate_for(1000, 0.03, 0.95), "protect is what n finds"),
        (yes_no().accurate_for(1000, 3.0, 0.95), "accuracy, level: accuracy is 3"),
        (
            yes_no().any_prior().prior_within([0.8, 0.05], [0.95, 0.2]).protect("lip:1"),
            "any_prior and prior_lower are two contexts",
        ),
        (Design::numbers(1.0, 0.0, 4).density("uniform:0,1").protect("lip:1"), "range: it is 1,0"),
        (
            Design::numbers(0.0, f64::NAN, 4).density("uniform:0,1").protect("lip:1"),
            "range is 0,NaN",
        ),
        (Design::numbers(0.0, 1.0, 0).density("uniform:0,1").protect("lip:1"), "bins is 0"),
        (Design::numbers(0.0, 1.0, 4).density("odd:0,1").protect("lip:1"), "density \"odd:0,1\""),
        (
            Design::numbers(0.0, 1.0, 4).density("uniform:0,1").protect("lip:1").method("oue"),
            "method \"oue\" is not for numbers",
        ),
        (
            Design::numbers(0.0, 1.0, 4)
                .density("uniform:0,1")
                .protect("lip:1")
                .output_range(2.0, 1.0),
            "output_range: range: it is 2,1",
        ),
    ] {
        let found = words(design);
        assert!(found.contains(said), "{said:?} is not in {found:?}");
        assert!(!found.contains("--") && !found.contains('\u{e000}'), "{found}");
    }
    let error = yes_no().protect("lip:x").policy().unwrap_err();
    assert_eq!((error.code(), error.blamed()), (ErrorCode::Usage, Some("protect")));
}

#[test]
fn a_printed_formula_that_leaks_more_is_no_policy() {
    let asked = || yes_no().protect("lip:1").method(DesignMethod::Published);
    let DesignReport::Refused(refused) = asked().run().unwrap() else { panic!("it was verified") };
    let RefusedDetails::Symbols { published, refusal } = &refused.details else { panic!() };
    assert!((published.attained - 1.900_477_097_4).abs() < 1e-9);
    assert_eq!((refusal.output, refusal.high), (Some(1), Some(1)));
    let error = asked().policy().unwrap_err();
    assert_eq!(error.code(), ErrorCode::Refused);
    let said = error.to_string();
    assert!(said.contains("claims 1 and leaks 1.9004770974 nats: claim 0 (lip:1) is false at output \"yes\", input \"yes\""), "{said}");
    let accepted = asked().accept().policy().unwrap();
    assert!(
        accepted.certificate().input.lip().unwrap().ln_up().unwrap().to_string().starts_with("1.9")
    );
}

#[test]
fn every_context_is_understood() {
    let kind = |design: Design| match design
        .protect("lip:1")
        .method("krr")
        .policy()
        .unwrap()
        .draft()
        .context()
    {
        Context::Unknown => "any",
        Context::Known(_) => "known",
        Context::Each(_) => "each",
        Context::Within(_) => "box",
        Context::Secret(_) => "secret",
    };
    assert_eq!(kind(yes_no()), "known");
    assert_eq!(kind(yes_no().prior([0.5, 0.5])), "each");
    // Without a prior, all symbols weigh alike.
    assert_eq!(kind(Design::new(["a", "b", "c"]).any_prior()), "any");
    assert_eq!(kind(yes_no().any_prior()), "any");
    assert_eq!(kind(Design::new(["no", "yes"]).prior_within([0.8, 0.05], [0.95, 0.2])), "box");
    let joint = Joint::new(vec![vec![0.3, 0.2], vec![0.1, 0.4]]).unwrap();
    let secret = || Design::secret("illness", joint.clone()).objective("mi");
    let policy = secret().protect("lip:0.5").protect("input:ldp:2").policy().unwrap();
    let about: Vec<Subject> = policy.draft().claims().iter().map(|claim| claim.about).collect();
    assert_eq!(about, [Subject::Secret, Subject::Input]);
    let source = Provenance { source: "a pilot".into(), n: 50, ..Provenance::default() };
    let policy = yes_no().provenance(source).protect("lip:1").policy().unwrap();
    assert_eq!(
        (&*policy.draft().provenance().source, policy.draft().provenance().n),
        ("a pilot", 50)
    );
}

#[test]
fn numbers_are_clipped_put_in_bins_and_blurred() {
    let pay = || Design::numbers(0.0, 100.0, 16).density("normal:50,10").protect("lip:1");
    let report = pay().run().unwrap();
    let found = report.verified().unwrap();
    // The best single numbers do not tell all numbers apart; who asks for nothing gets numbers for a mean, and is told.
    assert_eq!((found.method, found.objective), ("optimal", "mean"));
    let note = found.method_note.as_deref().unwrap();
    assert!(note.contains("the objective mean was taken"), "{note}");
    let (variance, bound) = (found.utility.unwrap(), found.bound.unwrap().value);
    assert!(bound <= variance && variance <= 1.001 * bound, "{bound} {variance}");
    // Who wants single numbers gets them from the best method that tells them apart.
    let report = pay().objective("squared").run().unwrap();
    let found = report.verified().unwrap();
    assert_eq!(found.method, "laplace");
    let note = found.method_note.as_deref().unwrap();
    assert!(
        note.contains("the method laplace was taken") && note.contains("no better than the"),
        "{note}"
    );
    assert!(found.utility.unwrap() >= found.comparison.blind);
    assert_eq!(report.json()["codebook"]["inputs"], 16);
    let refused = pay().method("optimal").policy().unwrap_err();
    assert_eq!(refused.code(), ErrorCode::Uninformative);
    assert!(refused.to_string().ends_with("or allow_uninformative if this is what you want"));
    let best = pay().allow_uninformative().run().unwrap();
    assert_eq!(
        (best.verified().unwrap().method, &best.verified().unwrap().method_note),
        ("optimal", &None)
    );
}

#[test]
fn losses_of_any_kind() {
    let three = || {
        Design::new(["a", "b", "c"]).prior([0.6, 0.3, 0.1]).protect("lip:1").allow_uninformative()
    };
    let rows = vec![vec![0.0, 1.0, 4.0], vec![1.0, 0.0, 1.0], vec![4.0, 1.0, 0.0]];
    let utility = |design: Design| design.run().unwrap().verified().unwrap().utility.unwrap();
    let matrix = utility(three().objective(Losses::new(rows)));
    assert!((matrix - utility(three().objective(Objective::Squared))).abs() < 1e-9);
    let bad = three().objective(Losses::new(vec![vec![0.0, 1.0]; 2]));
    assert!(
        words(bad).starts_with("the loss matrix: the loss matrix has 2 entries where 3 are needed")
    );
}

#[test]
fn four_times_the_people_halve_the_interval() {
    let policy = yes_no().protect("lip:1").policy().unwrap();
    let half = |people: u64| design::half_width(&policy, [0.87, 0.13], people, 0.95).unwrap();
    assert!((half(1000) / half(4000) - 2.0).abs() < 1e-9);
    // What a request finds is what is promised for it.
    let report = yes_no().accurate_for(1000, 0.03, 0.95).run().unwrap();
    let policy = report.policy().unwrap();
    assert!(design::half_width(policy, [0.9, 0.1], 1000, 0.95).unwrap() <= 0.03);
    assert!(design::half_width(policy, [0.9, 0.1], 0, 0.95).is_err());
}

/// The figures of the literature for shares that are nought, from the integers that ship: n·Var of k-ary randomised response
/// and of optimised unary encoding.
#[test]
fn symbols_without_a_prior() {
    for (size, level, krr, oue) in [
        (16, "1", 5.662, 3.683),
        (16, "2", 0.524, 0.724),
        (128, "1", 43.60, 3.683),
        (128, "4", 0.0629, 0.0760),
        (1024, "1", 347.0, 3.683),
        (1024, "4", 0.375, 0.0760),
        (1_000_000, "1", 338_697.0, 3.683),
    ] {
        let facts = |method: &str| {
            let design = Design::sized(size).protect(format!("ldp:{level}")).method(method);
            let json = design.run().unwrap().json();
            let variance = json["variance_at_zero"].as_f64().unwrap();
            (json["shape"].clone(), json["report_bits"].as_u64().unwrap(), variance)
        };
        for (method, shape, bits, published) in [
            ("krr", "keep", u64::from(usize::BITS - (size - 1).leading_zeros()), krr),
            ("oue", "bits", size as u64, oue),
        ] {
            let (found, report_bits, variance) = facts(method);
            assert_eq!((found.as_str(), report_bits), (Some(shape), bits), "{method} {size}");
            let off = (variance / published - 1.0).abs();
            assert!(off < 1.5e-3, "{method} of {size} at {level}: {variance} is not {published}");
        }
    }
    let policy = Design::sized(300).protect("ldp:1").policy().unwrap();
    assert_eq!((policy.draft().inputs().len(), policy.draft().context()), (300, &Context::Unknown));
    assert!(policy.draft().inputs().label(299) == "299");
}

#[test]
fn symbols_without_a_prior_promise_no_belief() {
    let sized = |size: usize| Design::sized(size);
    for (design, said) in [
        (
            sized(9).protect("lip:1"),
            "lip:1 is about belief, which needs a prior, and with size alone",
        ),
        (sized(9).protect("ldp:1").protect("di:1"), "di:1 is about belief"),
        (sized(9).prior(vec![0.5, 0.5]).protect("ldp:1"), "size is for symbols of which nothing"),
        (sized(1).protect("ldp:1"), "size is 1: give at least 2"),
        (sized(usize::MAX).protect("ldp:1"), "give 1 to 16777216"),
        (sized(9).accurate_for(100, 0.1, 0.95), "n finds a level of LIP"),
        (sized(9).protect("ldp:1").method("laplace"), "size is for symbols without names"),
        (sized(9).protect("ldp:1").method("sampling"), "needs one known prior"),
    ] {
        let words = words(design);
        assert!(words.contains(said), "{words}");
    }
    // Whatever the prior, LIP is LDP.
    let any = sized(9).any_prior().protect("lip:1").policy().unwrap();
    assert_eq!(any.draft().claims(), sized(9).protect("ldp:1").policy().unwrap().draft().claims());
}

/// LDP needs no prior: names are enough, and say what any prior of them would.
#[test]
fn names_without_a_prior_promise_ldp() {
    let names = || Design::new(["bus", "car", "bike", "train"]).protect("ldp:1");
    let found = names().policy().unwrap();
    assert_eq!(found.draft().context(), &Context::Unknown);
    assert_eq!(labels(&found), ["bus", "car", "bike", "train"]);
    assert_eq!(found.id(), names().any_prior().policy().unwrap().id());
    let refused = names().protect("lip:1").policy().unwrap_err();
    assert_eq!(refused.blamed(), Some("protect"));
}

/// A claim with a delta keeps blocks and bits out; the same one without is stronger and better, and both errors are said.
#[test]
fn a_delta_that_costs_accuracy_is_pointed_out() {
    let advice = |protect: &str, method: &str| {
        let design = Design::sized(1024).protect(protect).method(method);
        let DesignReport::Verified(found) = design.run().unwrap() else { panic!("refused") };
        let DesignDetails::Symbols(details) = &found.details else { panic!("numbers") };
        (found.utility.unwrap(), details.advice.clone())
    };
    let (with, said) = advice("ldp:1,0.00001", "optimal");
    let (without, silent) = advice("ldp:1", "optimal");
    assert!(with > 50.0 * without && silent.is_none(), "{with} {without} {silent:?}");
    let said = said.unwrap();
    assert!(said.contains("ldp:1 alone") && said.contains("incidence, 11 bits"), "{said}");
    for error in [with, without] {
        let digits = format!("{error:.3}");
        assert!(said.contains(&digits[..6]), "{error} is not in {said}");
    }
    // Whoever asks for a method gets it without comment.
    assert!(!advice("ldp:1,0.00001", "krr").1.is_some_and(|said| said.contains("delta")));
}
