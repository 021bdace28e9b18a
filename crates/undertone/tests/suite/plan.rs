//! Plans from their documents to verified integers.

use serde_json::{Value, json};
use undertone::plan::{JointLaw, PlanDesign, PlanRequest, QuestionList, design, verify};
use undertone::{Answer, Error};
use undertone_core::{Nats, Plan, PlanClaim, PlanDraft};

const QUESTIONS: &str = include_str!("../../../../examples/plan-questions.json");
const JOINT: &str = include_str!("../../../../examples/plan-joint.json");

fn request(questions: &str, joint: Option<&str>, person: &str) -> PlanRequest {
    let questions = QuestionList::read("questions", questions).unwrap();
    let joint = joint.map(|text| JointLaw::read("joint", text, &questions).unwrap());
    PlanRequest { joint, ..PlanRequest::new(questions, person.parse().unwrap()) }
}

fn refused(questions: &str, joint: Option<&str>) -> String {
    let read = |questions: &str| -> Result<(), Error> {
        let questions = QuestionList::read("q.json", questions)?;
        if let Some(joint) = joint {
            JointLaw::read("j.json", joint, &questions)?;
        }
        Ok(())
    };
    read(questions).unwrap_err().to_string()
}

/// A plan that another reader of its document believes, too.
fn believed(report: &PlanDesign) -> Plan {
    let again = Plan::from_json(&report.plan.to_json()).unwrap();
    assert_eq!(again.id(), report.plan_id);
    again
}

fn units(nats: Nats) -> f64 {
    nats.units() as f64 / 1e10
}

#[test]
fn the_promise_about_the_person_holds_as_printed() {
    for person in ["ldp:0.5", "ldp:2", "ldp:4"] {
        let report = design(&request(QUESTIONS, None, person)).unwrap();
        let plan = believed(&report);
        let claimed: Nats = person["ldp:".len()..].parse().unwrap();
        assert_eq!(plan.parts().claims, [PlanClaim::Person { ldp: claimed }]);
        // Next to nothing of the level is left unused.
        let attained = plan.person().ldp.unwrap();
        assert!(attained <= claimed && units(claimed) - units(attained) < 1e-7, "{attained}");
        let compared = &report.compared;
        for other in [compared.equal_split, compared.one_each, compared.combined, compared.rs_fd] {
            assert!(report.objective <= other.unwrap() * (1.0 + 1e-6), "{person}: {other:?}");
        }
        assert!(report.objective >= report.bound && report.bound >= report.in_the_clear);
        let json = report.json();
        assert_eq!(json["half_widths"].as_object().unwrap().len(), 6);
        assert_eq!(json["person"]["exact"], true);
        assert_eq!(json["items"][0]["policy_id"].as_str().unwrap().len(), 64);
    }
}

#[test]
fn a_secret_and_an_answer_stay_within_their_limits() {
    let free = design(&request(QUESTIONS, Some(JOINT), "ldp:2")).unwrap();
    let before = free.person.secrets["depression"].lip().unwrap();
    assert!(units(before) > 0.5, "{before}");
    let mut asked = request(QUESTIONS, Some(JOINT), "ldp:2");
    asked.secrets = vec!["depression=lip:0.5".parse().unwrap()];
    asked.beliefs = vec!["smokes=alip:0.9,0.8".parse().unwrap()];
    let hidden = design(&asked).unwrap();
    let plan = believed(&hidden);
    assert_eq!(plan.parts().claims.len(), 3);
    let secret = hidden.person.secrets["depression"].lip().unwrap();
    // Within the limit, and close to it: nothing is given away for nothing.
    assert!(units(secret) <= 0.5 && units(secret) > 0.49, "{secret}");
    let smokes = &hidden.person.lip["smokes"];
    assert!(units(smokes.upper.unwrap()) <= 0.8 && units(smokes.lower.unwrap()) <= 0.9);
    assert!(hidden.objective > free.objective);
    for other in [hidden.compared.equal_split, hidden.compared.one_each, hidden.compared.combined] {
        assert!(hidden.objective <= other.unwrap(), "{} {other:?}", hidden.objective);
    }
    assert!(hidden.words().contains("secret depression"), "{}", hidden.words());
    // Turning the whole plan down to the level at which LDP alone hides the secret costs far more.
    let p: f64 = 0.08;
    let g = ((1.0 - p) / ((-0.5f64).exp() - p)).min((0.5f64.exp() - p) / (1.0 - p));
    let blunt = design(&request(QUESTIONS, Some(JOINT), &format!("ldp:{:.10}", g.ln()))).unwrap();
    assert!(hidden.objective < blunt.objective, "{} {}", hidden.objective, blunt.objective);
}

#[test]
fn the_order_of_symbols_changes_nothing() {
    let turned = |text: &str| -> Value {
        let mut value: Value = serde_json::from_str(text).unwrap();
        for question in value["questions"].as_array_mut().unwrap() {
            question["answers"].as_array_mut().unwrap().reverse();
        }
        value["questions"].as_array_mut().unwrap().reverse();
        value
    };
    let mut one = request(QUESTIONS, Some(JOINT), "ldp:1.5");
    one.secrets = vec!["depression=lip:0.4".parse().unwrap()];
    let mut other = request(&turned(QUESTIONS).to_string(), Some(JOINT), "ldp:1.5");
    other.secrets = one.secrets.clone();
    let (one, other) = (design(&one).unwrap(), design(&other).unwrap());
    assert!((one.objective / other.objective - 1.0).abs() < 1e-4);
    for (name, width) in &one.half_widths {
        assert!((width / other.half_widths[name] - 1.0).abs() < 1e-2, "{name}");
    }
    // The same law as a list of points says the same of the same plan.
    let small = json!({"questions": [
        {"name": "a", "answers": ["no", "yes"]}, {"name": "b", "answers": ["x", "y", "z"]}]});
    let rows = [[0.3, 0.1, 0.1], [0.1, 0.15, 0.25]];
    let tree = json!({"tree": {
        "a": {"p": [0.5, 0.5]},
        "b": {"given": "a", "rows": {"yes": [0.2, 0.3, 0.5], "no": [0.6, 0.2, 0.2]}}}});
    let mut points = Vec::new();
    for (a, row) in ["no", "yes"].iter().zip(rows) {
        for (b, p) in ["x", "y", "z"].iter().zip(row) {
            points.push(json!({"p": p, "values": {"b": b, "a": a}}));
        }
    }
    points.reverse();
    let points = json!({ "points": points }).to_string();
    let by_tree = design(&request(&small.to_string(), Some(&tree.to_string()), "ldp:1")).unwrap();
    let by_points = design(&request(&small.to_string(), Some(&points), "ldp:1")).unwrap();
    for name in ["a", "b"] {
        let (one, other) = (&by_tree.person.lip[name], &by_points.person.lip[name]);
        assert!(one.exact && other.exact);
        assert!((units(one.lip().unwrap()) - units(other.lip().unwrap())).abs() < 1e-9);
    }
}

#[test]
fn priors_are_assumed_and_shares_only_expected() {
    let with = |field: &str| {
        let list = json!({"questions": [
            {"name": "a", "answers": ["no", "yes"], field: {"yes": 0.2, "no": 0.8}},
            {"name": "b", "answers": 3, field: [0.5, 0.25, 0.25]}]});
        request(&list.to_string(), None, "ldp:1")
    };
    let (shares, priors) = (design(&with("shares")).unwrap(), design(&with("prior")).unwrap());
    assert!(shares.person.lip.is_empty() && priors.person.lip.len() == 2);
    assert_eq!(shares.objective, priors.objective);
    // Under its prior an answer's belief moves less than LDP.
    assert!(priors.person.lip["a"].lip().unwrap() < priors.person.ldp.unwrap());
    let mut asked = with("shares");
    asked.beliefs = vec!["a=lip:0.5".parse().unwrap()];
    let error = design(&asked).unwrap_err().to_string();
    assert!(error.contains("give the questions priors"), "{error}");
}

#[test]
fn reports_repeat_from_a_memo() {
    let mut asked = request(QUESTIONS, None, "ldp:12");
    (asked.reports, asked.periods) = (Some(30), 6);
    let report = design(&asked).unwrap();
    let plan = believed(&report);
    assert!(plan.parts().items.iter().all(|item| item.fresh.is_some()));
    let repeated = report.repeated.as_ref().unwrap();
    let level = |level: Option<Nats>| units(level.unwrap());
    assert!(level(repeated.all_periods) <= 12.0 && level(repeated.all_periods) > 11.99);
    assert!(level(repeated.any_number) <= 2.0 && level(repeated.any_number) > 1.99);
    assert!(level(repeated.first_report) <= 1.0 && level(repeated.first_report) > 0.99);
    // More reports of a memo cannot beat the memo; fewer are worse.
    let objective = |reports: Option<u64>, person: &str, periods: u32| {
        let mut asked = request(QUESTIONS, None, person);
        (asked.reports, asked.periods) = (reports, periods);
        design(&asked).unwrap().objective
    };
    assert!(objective(Some(1), "ldp:12", 6) > report.objective);
    assert!(objective(None, "ldp:2", 1) <= report.objective);
    let mut odd = asked.clone();
    odd.first_report = Some("2.5".parse().unwrap());
    assert!(design(&odd).unwrap_err().to_string().starts_with("first_report is"));
}

#[test]
fn named_pairs_are_asked_together() {
    let mut asked = request(QUESTIONS, Some(JOINT), "ldp:1");
    asked.questions.add_pair("sleep", "smokes").unwrap();
    let report = design(&asked).unwrap();
    assert_eq!(report.compared.one_each, None);
    let both = |item: &undertone::plan::DesignedItem| {
        ["sleep", "smokes"].iter().all(|name| item.questions.iter().any(|q| q == name))
    };
    assert!(report.items.iter().any(both) || report.asked != 1, "{:?}", report.items);
    assert!(asked.questions.add_pair("sleep", "sleep").is_err());
}

#[test]
fn a_plan_whose_parts_verify_and_whose_whole_does_not_is_refused() {
    let plan = design(&request(QUESTIONS, None, "ldp:2")).unwrap().plan;
    let good = verify(plan.draft().clone());
    assert!(good.verified && good.is_good());
    let mut parts = plan.parts().clone();
    parts.claims = vec![PlanClaim::Person { ldp: "1.9".parse().unwrap() }];
    let report = verify(PlanDraft::new(parts).unwrap());
    assert!(!report.is_good());
    let said = report.refusal.unwrap();
    assert!(said.contains("1.9"), "{said}");
}

#[test]
fn bad_documents_are_refused_by_name() {
    let two =
        r#"{"questions": [{"name": "a", "answers": ["no", "yes"]}, {"name": "b", "answers": 3}]}"#;
    for (questions, joint, said) in [
        (r#"{"questions": []}"#, None, "no questions"),
        (
            r#"{"questions": [{"name": "a", "answers": 2}, {"name": "a", "answers": 2}]}"#,
            None,
            "given twice",
        ),
        (r#"{"questions": [{"name": "a", "answers": 1}]}"#, None, "fewer than two answers"),
        (r#"{"questions": [{"name": "a", "answers": ["x", "x"]}]}"#, None, "occurs twice"),
        (r#"{"questions": [{"name": "a", "answers": 2, "weight": 0}]}"#, None, "weight is 0"),
        (r#"{"questions": [{"name": "a", "answers": 2, "shares": [0.5, 0.4]}]}"#, None, "shares"),
        (
            r#"{"questions": [{"name": "a", "answers": 2, "shares": {"0": 0.5, "2": 0.5}}]}"#,
            None,
            "\"2\"",
        ),
        (
            r#"{"questions": [{"name": "a", "answers": 2, "shares": {"0": 0.5, "0": 0.5}}]}"#,
            None,
            "shares",
        ),
        (
            r#"{"questions": [{"name": "a", "answers": 2}], "pairs": [["a", "c"]]}"#,
            None,
            "no question \"c\"",
        ),
        (two, Some(r#"{"independent": {"a": [0.5, 0.5]}}"#), "does not have the question \"b\""),
        (
            two,
            Some(r#"{"independent": {"a": {"no": 0.5, "maybe": 0.5}, "b": [0.3, 0.3, 0.4]}}"#),
            "maybe",
        ),
        (
            two,
            Some(r#"{"independent": {"a": [1.0, 0.0], "b": [0.3, 0.3, 0.4]}}"#),
            "\"yes\" of \"a\" has probability nought",
        ),
        (
            two,
            Some(r#"{"independent": {"a": [1.0, 1e-18], "b": [0.3, 0.3, 0.4]}}"#),
            "rounds to nought",
        ),
        (
            two,
            Some(r#"{"points": [{"p": 1, "values": {"a": "no", "b": 7}}]}"#),
            "\"7\" is no value of \"b\"",
        ),
        (two, Some(r#"{"points": [{"p": 1, "values": {"a": "no"}}]}"#), "\"b\""),
        (
            two,
            Some(r#"{"tree": {"a": {"p": [0.5, 0.5]}, "b": {"given": "c", "rows": {}}}}"#),
            "given \"c\"",
        ),
        (
            two,
            Some(
                r#"{"tree": {"a": {"p": [0.5, 0.5]}, "b": {"given": "a", "rows": {"no": [0.3, 0.3, 0.4]}}}}"#,
            ),
            "none for the value \"yes\"",
        ),
        (two, Some(r#"{"tree": {}, "points": []}"#), "exactly one of"),
    ] {
        let error = refused(questions, joint);
        assert!(error.contains(said), "{said:?} is not in {error:?}");
    }
    let circle = r#"{"tree": {"a": {"given": "b", "rows": {"0": [0.5, 0.5], "1": [0.5, 0.5], "2": [0.5, 0.5]}},
        "b": {"given": "a", "rows": {"no": [0.3, 0.3, 0.4], "yes": [0.3, 0.3, 0.4]}}}}"#;
    let error = refused(two, Some(circle));
    assert!(error.contains("ancestor"), "{error}");
    let mut asked = request(QUESTIONS, Some(JOINT), "ldp:2");
    asked.secrets = vec!["cancer=lip:0.5".parse().unwrap()];
    let error = design(&asked).unwrap_err().to_string();
    assert!(error.contains("depression"), "{error}");
    assert!("depression".parse::<undertone::plan::NamedPromise>().is_err());
    assert!("ldp:0".parse::<undertone::plan::PersonLevel>().is_err());
}

#[test]
fn forty_questions_of_up_to_a_thousand_answers() {
    let sizes = [2, 3, 5, 8, 12, 20, 50, 100, 300, 1000];
    let question =
        |at: usize| json!({"name": format!("q{at}"), "answers": sizes[at % sizes.len()]});
    let list = json!({"questions": (0..40).map(question).collect::<Vec<_>>()}).to_string();
    for person in ["ldp:1", "ldp:6"] {
        let report = design(&request(&list, None, person)).unwrap();
        let plan = believed(&report);
        assert!(plan.person().ldp.unwrap() <= person["ldp:".len()..].parse().unwrap());
        let compared = &report.compared;
        let simpler = [compared.equal_split, compared.one_each, compared.combined, compared.rs_fd];
        assert!(simpler.into_iter().flatten().all(|other| report.objective <= other * 1.000001));
    }
}
