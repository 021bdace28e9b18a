//! The ledger of a person: three levels, windows, plans, and the way to another device.

use crate::common::{TestCurator, golden};
use rand_core::SeedableRng;
use std::path::Path;
use std::sync::Arc;
use undertone_client::{
    Asking, Budget, Budgets, Charge, Client, ClientError, Consent, Day, Delivery, Device,
    DeviceError, Level, OverBudget, PlanPart, Refused, Responded, ResponseError,
};
use undertone_core::{
    Draft, Item, Law, Nats, Plan, PlanClaim, PlanDraft, PlanId, PlanParts, Policy, Provenance,
    Question, ReportId, Symbol, Token,
};

const START: u32 = 20_000;

fn nats(text: &str) -> Nats {
    Nats::parse_down(text).unwrap()
}

fn day(after: u32) -> Day {
    Day::new(START + after).unwrap()
}

fn symbol(policy: &Policy, at: usize) -> Symbol {
    policy.draft().inputs().symbol(at).unwrap()
}

/// The minimal policy, ln 3, under another identity.
fn marked(n: u64) -> Arc<Policy> {
    let policy = golden("minimal");
    let draft = policy.draft();
    let provenance = Provenance { n, ..Provenance::default() };
    let (inputs, shape) = (draft.inputs().clone(), draft.shape().clone());
    let (context, claims) = (draft.context().clone(), draft.claims().to_vec());
    let draft = Draft::new(inputs, None, shape, context, claims, provenance).unwrap();
    Arc::new(draft.verify().unwrap())
}

/// Asks a question of its own for each number and answers it; what stands against it.
fn answer(
    curator: &TestCurator,
    device: Device,
    n: u64,
    today: Day,
) -> (Device, Result<bool, ClientError>) {
    let policy = marked(n);
    let id = format!("survey-{n}");
    curator.ask(&id, &format!("Question number {n}?"), &policy, "open");
    let mut client = Client::with_connection(curator.connection(), device).with_today(today);
    let survey = client.survey(&id).unwrap();
    let outcome = client.answer(&survey, symbol(&policy, 0)).map(|answer| answer.repeated);
    (client.into_device(), outcome)
}

fn over(outcome: Result<bool, ClientError>) -> OverBudget {
    match outcome {
        Err(ClientError::Budget(over)) => over,
        other => panic!("{other:?}"),
    }
}

/// One question asked by two collectors under two policies is one budget, and under one policy one release.
#[test]
fn a_question_at_two_collectors_has_one_budget() {
    let curators = [TestCurator::start(), TestCurator::start()];
    let mut device = Device::memory_with_budget(nats("2.1972245774"));
    let mut released = 0;
    for n in 0..6 {
        let (curator, policy) = (&curators[n % 2], marked(n as u64));
        curator.ask("survey", "Do you smoke?", &policy, "open");
        let mut client = Client::with_connection(curator.connection(), device);
        let survey = client.survey("survey").unwrap();
        match client.answer(&survey, symbol(&policy, 0)) {
            Ok(_) => released += 1,
            Err(ClientError::Budget(over)) => {
                assert_eq!(
                    (over.level, over.whose.as_str()),
                    (Level::Question, "question:doyousmoke")
                );
            }
            Err(other) => panic!("{other}"),
        }
        device = client.into_device();
    }
    assert_eq!(released, 2);
    assert_eq!(device.spent("question:doyousmoke"), Some(nats("2.1972245774")));
    for curator in &curators {
        assert_eq!(device.spent_at(&curator.base), nats("1.0986122887"));
    }
}

/// Collectors that work together, or one under several addresses, share the device's budget.
#[test]
fn the_device_has_a_budget_over_three_collectors() {
    let curators = [TestCurator::start(), TestCurator::start(), TestCurator::start()];
    let mut device = Device::memory();
    let budget = Budget::within(nats("10"), 365).unwrap();
    device.set_budget(Level::Device, budget).unwrap();
    let mut released = 0;
    for n in 0..24 {
        let outcome;
        (device, outcome) = answer(&curators[n as usize % 3], device, n, day(0));
        if n < 9 {
            assert!(!outcome.unwrap());
            released += 1;
            continue;
        }
        let over = over(outcome);
        assert_eq!((over.level, over.whose.as_str()), (Level::Device, ""));
        assert_eq!((over.spent, over.cost), (nats("9.8875105983"), nats("1.0986122887")));
        assert_eq!(over.refills, Some(day(365)));
        assert_eq!(
            over.to_string(),
            "the budget of everything this device tells anybody is 10 nats in 365 days, 9.8875105983 are spent and this release costs 1.0986122887: wait until 2025-10-04, or raise the device's budget"
        );
    }
    assert_eq!(released, 9);
    let account = device.device_account(day(0));
    assert_eq!((account.spent, account.percent_left()), (nats("9.8875105983"), 1));
    assert_eq!((account.left(), account.yearly), (nats("0.1124894017"), nats("10")));
    // The same report to another collector is news to that one alone.
    let (curator, policy) = (&curators[2], marked(0));
    curator.ask("again", "Question number 0?", &policy, "open");
    let mut client = Client::with_connection(curator.connection(), device).with_today(day(0));
    let before = client.device().spent_at(&curator.base);
    let survey = client.survey("again").unwrap();
    assert!(client.answer(&survey, symbol(&policy, 1)).unwrap().repeated);
    assert!(client.device().spent_at(&curator.base) > before);
    assert_eq!(client.accounts(&survey)[2], account);
}

#[test]
fn windows_refill_and_a_clock_set_back_does_not() {
    let curator = TestCurator::start();
    let mut device = Device::memory();
    device.set_budget(Level::Collector, Budget::within(nats("2.5"), 30).unwrap()).unwrap();
    let mut outcome;
    for (n, today) in [(0, 0), (1, 10)] {
        (device, outcome) = answer(&curator, device, n, day(today));
        assert!(!outcome.unwrap());
    }
    (device, outcome) = answer(&curator, device, 2, day(29));
    let refused = over(outcome);
    assert_eq!((refused.level, refused.refills), (Level::Collector, Some(day(30))));
    // A repeated answer is free, also when nothing is left.
    (device, outcome) = answer(&curator, device, 1, day(29));
    assert!(outcome.unwrap());
    (device, outcome) = answer(&curator, device, 2, day(30));
    assert!(!outcome.unwrap());
    // Back to the first day: what is known of the day is the latest seen.
    (device, outcome) = answer(&curator, device, 3, day(0));
    let refused = over(outcome);
    assert_eq!((refused.spent, refused.refills), (nats("2.1972245774"), Some(day(40))));
    // A release on a clock set back is dated on the latest day, so it does not end earlier.
    (device, outcome) = answer(&curator, device, 3, day(40));
    assert!(!outcome.unwrap());
    (device, outcome) = answer(&curator, device, 4, day(59));
    assert_eq!(over(outcome).refills, Some(day(60)));
    assert_eq!(device.collector_account(&curator.base, day(0)).spent, nats("2.1972245774"));
    assert_eq!(device.collector_account(&curator.base, day(70)).spent, Nats::ZERO);
    assert_eq!(device.collector_account(&curator.base, day(70)).yearly, nats("32.5"));
}

/// A cost that no day brings back, and one that is above the whole budget.
#[test]
fn what_never_refills_says_so() {
    let curator = TestCurator::start();
    let mut device = Device::memory();
    device.set_budget(Level::Device, Budget::within(nats("1"), 7).unwrap()).unwrap();
    let (mut device, outcome) = answer(&curator, device, 0, day(0));
    let refused = over(outcome);
    assert_eq!((refused.level, refused.refills), (Level::Device, None));
    assert!(refused.to_string().ends_with("answer less often, or raise the device's budget"));
    device.set_budget(Level::Device, Budgets::DEFAULT.device).unwrap();
    device.set_budget(Level::Collector, Budget::ever(nats("1.1"))).unwrap();
    let (device, _) = answer(&curator, device, 0, day(0));
    let (_, outcome) = answer(&curator, device, 1, day(5_000));
    assert_eq!(over(outcome).refills, None);
}

/// A release that was allowed, on the latest day seen.
struct Allowed<'a> {
    day: u32,
    data: Vec<&'a str>,
    collector: &'a str,
}

/// Random releases about one or two data to random collectors, on a clock that jumps: whatever was allowed, added up by hand over
/// every stretch of days, is within all budgets, and whatever was refused was above one of them.
#[test]
fn no_stretch_of_days_holds_more_than_a_budget() {
    let mut rng = rand_chacha::ChaCha12Rng::from_seed([9; 32]);
    let mut below = |end: u32| rand_core::Rng::next_u32(&mut rng) % end;
    let (data, collectors) = (["a", "b", "c"], [ONE, TWO]);
    let policies: Vec<_> = (0..400).map(marked).collect();
    let cost = nats("1.0986122887").units();
    for round in 0..12u32 {
        let windows = [10 + round, 5 + round, 3];
        let mut device = Device::memory();
        let levels = [Level::Question, Level::Collector, Level::Device];
        let most = [3u64, 4, 6];
        for ((level, days), most) in levels.into_iter().zip(windows).zip(most) {
            let budget = Budget::within(Nats::from_units(most * cost), days).unwrap();
            device.set_budget(level, budget).unwrap();
        }
        let mut log: Vec<Allowed<'_>> = Vec::new();
        let (mut clock, mut latest, mut refusals) = (0u32, 0u32, 0);
        for (item, policy) in (0..).zip(&policies) {
            clock = if below(8) == 0 { clock.saturating_sub(below(20)) } else { clock + below(6) };
            let first = below(3) as usize;
            let mut about = vec![data[first]];
            if below(3) == 0 {
                about.push(data[(first + 1) % 3]);
            }
            let collector = collectors[below(2) as usize];
            let seen = latest.max(clock);
            let counted = |days: u32, who: &dyn Fn(&Allowed<'_>) -> bool| {
                log.iter().filter(|entry| entry.day + days > seen && who(entry)).count() as u64
            };
            let fits = about
                .iter()
                .all(|datum| counted(windows[0], &|e| e.data.contains(datum)) < most[0])
                && counted(windows[1], &|e| e.collector == collector) < most[1]
                && counted(windows[2], &|_| true) < most[2];
            let consent = Consent::UNLIMITED;
            let mut spending = device.spend(collector, &consent, day(clock)).unwrap();
            match spending.leave(Charge { data: &about, policy, part: Some(part(item, 0)) }) {
                Ok(_) => {
                    spending.commit(ReportId([1; 16])).unwrap();
                    assert!(fits);
                    latest = seen;
                    log.push(Allowed { day: seen, data: about, collector });
                }
                Err(Refused::Budget(_)) => {
                    assert!(!fits);
                    refusals += 1;
                }
                Err(other) => panic!("{other}"),
            }
        }
        assert!(log.len() > 30 && refusals > 30, "{} {refusals}", log.len());
    }
}

/// A file that noted no days: whatever it released counts as released when it is first used again.
#[test]
fn releases_of_unknown_days_count_from_the_first_day_seen() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("device.json");
    let old = concat!(env!("CARGO_MANIFEST_DIR"), "/../../bindings/js/test/data/device-2.json");
    std::fs::copy(old, &path).unwrap();
    let mut device = Device::open(&path).unwrap();
    let address = "https://curator.example";
    device.set_budget(Level::Collector, Budget::within(nats("5"), 30).unwrap()).unwrap();
    let spent = |device: &Device, at| device.collector_account(address, day(at)).spent;
    // Looking does not date anything.
    assert_eq!([spent(&device, 0), spent(&device, 500)], [nats("1.0986122887"); 2]);
    let account = device.question_account("größe", address, day(0));
    assert_eq!((account.spent, account.uncounted), (nats("1.0986122887"), 1));
    let curator = TestCurator::start();
    let (device, outcome) = answer(&curator, device, 0, day(100));
    assert!(!outcome.unwrap());
    assert_eq!([spent(&device, 129), spent(&device, 130)], [nats("1.0986122887"), Nats::ZERO]);
    drop(device);
    assert_eq!(spent(&Device::open(&path).unwrap(), 129), nats("1.0986122887"));
}

// ------------------------------------------------------------------------------------------------ plans

const PLAN: PlanId = PlanId([3; 32]);

fn part(item: u32, period: u32) -> PlanPart {
    PlanPart { plan: PLAN, item, period }
}

/// What a device does for a plan: each item with its data, decided in order.
fn spend(
    device: &mut Device,
    items: &[(u32, &[&str])],
    id: u8,
    today: Day,
) -> Vec<Result<(), Refused>> {
    let consent = Consent::default();
    let mut rng = rand_chacha::ChaCha12Rng::from_seed([id; 32]);
    let mut spending = device.spend("https://one.example", &consent, today).unwrap();
    let decided = items
        .iter()
        .map(|&(item, data)| {
            let policy = marked(u64::from(item));
            let charge = Charge { data, policy: &policy, part: Some(part(item, 0)) };
            let permit = spending.leave(charge)?;
            let report = policy.randomize(symbol(&policy, 0), permit, &mut rng).unwrap();
            spending.memo(part(item, 0), report.token);
            Ok(())
        })
        .collect();
    spending.commit(ReportId([id; 16])).unwrap();
    decided
}

#[test]
fn a_combined_symbol_is_charged_to_each_question_and_once_to_the_others() {
    let mut device = Device::memory();
    let decided = spend(&mut device, &[(0, &["age", "sex"]), (1, &["town"])], 1, day(0));
    assert!(decided.iter().all(Result::is_ok), "{decided:?}");
    let one = nats("1.0986122887");
    for datum in ["age", "sex", "town"] {
        assert_eq!(device.spent(datum), Some(one), "{datum}");
    }
    assert_eq!(device.spent_at("https://one.example"), nats("2.1972245774"));
    assert_eq!(device.device_account(day(0)).spent, nats("2.1972245774"));
    // The question that was told with another one counts with all of it: one more fits, and two do not.
    assert!(spend(&mut device, &[(2, &["sex"])], 2, day(0))[0].is_ok());
    let refused = spend(&mut device, &[(3, &["age", "sex"]), (4, &["age"])], 3, day(0));
    match &refused[..] {
        [Err(Refused::Budget(over)), Ok(())] => {
            assert_eq!((over.level, over.whose.as_str()), (Level::Question, "sex"));
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(device.spent("age"), Some(nats("2.1972245774")));
    // An item of a period is paid for once, and needs a datum.
    assert_eq!(spend(&mut device, &[(4, &["town"])], 4, day(0)), [Err(Refused::Released)]);
    assert_eq!(spend(&mut device, &[(9, &[])], 5, day(0)), [Err(Refused::NoDatum)]);
}

/// The items of a message are decided in view of each other, and written together or not at all.
#[test]
fn a_message_is_paid_for_in_one_write_or_not_at_all() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("device.json");
    let mut device = Device::create(&path, Device::DEFAULT_BUDGET).unwrap();
    device.set_budget(Level::Collector, Budget::ever(nats("2.5"))).unwrap();
    let before = std::fs::read(&path).unwrap();
    let consent = Consent::default();
    let mut spending = device.spend("https://one.example", &consent, day(0)).unwrap();
    let policy = marked(0);
    for (item, datum) in (0..).zip(["a", "b", "c"]) {
        let charge = Charge { data: &[datum], policy: &policy, part: Some(part(item, 0)) };
        let outcome = spending.leave(charge);
        assert_eq!(outcome.is_ok(), item < 2, "{outcome:?}");
        spending.memo(part(item, 0), Token::Index(1));
    }
    drop(spending);
    assert_eq!(std::fs::read(&path).unwrap(), before);
    assert_eq!(device.spent("a"), Some(Nats::ZERO));
    let decided =
        spend(&mut device, &[(0, &["a"]), (1, &["b"]), (2, &["c"]), (3, &["d"])], 1, day(0));
    let allowed: Vec<bool> = decided.iter().map(Result::is_ok).collect();
    assert_eq!(allowed, [true, true, false, false]);
    drop(device);
    let device = Device::open(&path).unwrap();
    assert!(device.memo(part(1, 0)).is_some());
    // Nothing was paid for the others, so nothing is remembered of them.
    assert!(device.memo(part(2, 0)).is_none() && device.memo(part(0, 1)).is_none());
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains("\"generation\": 2"), "one write for the budget and one for the message");
}

/// Killed after the choice and before the first byte: the choice is the same, and nothing was spent.
#[test]
fn a_choice_survives_and_is_never_drawn_again() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("device.json");
    let mut device = Device::create(&path, Device::DEFAULT_BUDGET).unwrap();
    assert_eq!(device.choice(PLAN), None);
    device.remember_choice(PLAN, vec![4, 7]).unwrap();
    // The process dies here.
    drop(device);
    let mut device = Device::open(&path).unwrap();
    assert_eq!(device.choice(PLAN), Some(&[4, 7][..]));
    assert_eq!(device.device_account(day(0)).spent, Nats::ZERO);
    for items in [vec![4, 7], vec![1, 2]] {
        assert!(matches!(device.remember_choice(PLAN, items), Err(DeviceError::Chosen)));
    }
    // Nor after something was refused.
    device.set_budget(Level::Device, Budget::ever(Nats::ZERO)).unwrap();
    assert!(spend(&mut device, &[(4, &["a"]), (7, &["b"])], 1, day(0)).iter().all(Result::is_err));
    drop(device);
    assert_eq!(Device::open(&path).unwrap().choice(PLAN), Some(&[4, 7][..]));
}

/// Five yes/no questions: one for everybody, two together as one symbol, one of the last two, which have the first's wording in
/// one case; all at ln 3, the pair at ln 5.
fn plan(fresh: bool) -> Plan {
    let policy = golden("minimal");
    let draft = policy.draft();
    let (own, other) = (5u64 << 45, 1u64 << 45);
    let row = |x: usize| (0..4).map(|y| if x == y { own } else { other }).collect::<Vec<u64>>();
    let pair = serde_json::json!({
        "undertone": "policy/1", "inputs": {"indices": 4}, "context": {"kind": "unknown"},
        "channel": {"shape": "table", "masses": (0..4).map(row).collect::<Vec<_>>()},
        "claims": [{"notion": "ldp", "about": "input", "epsilon": {"nats": "1.6094379125", "odds": [5, 1]}}],
    });
    let pair = Draft::from_json(&pair.to_string()).unwrap();
    let question = |name: &str, wording: &str| Question {
        name: name.into(),
        wording: wording.into(),
        answers: draft.inputs().clone(),
    };
    let item = |questions: &[u32], policy, weight| Item {
        questions: questions.to_vec(),
        policy,
        fresh: fresh.then_some(0).filter(|_| policy == 0),
        weight,
    };
    let parts = PlanParts {
        questions: vec![
            question("smoke", "Do you smoke?"),
            question("drink", "Do you drink?"),
            question("drive", "Do you drive?"),
            question("old", ""),
            question("again", "do you SMOKE"),
        ],
        secrets: vec![],
        law: Law::Unknown,
        items: vec![item(&[0], 0, 0), item(&[1, 2], 1, 0), item(&[3], 0, 1), item(&[4], 0, 1)],
        asked: 1,
        periods: 2,
        claims: vec![PlanClaim::Person { ldp: nats("20") }],
        provenance: Provenance::default(),
        policies: vec![draft.clone(), pair],
    };
    PlanDraft::new(parts).unwrap().verify().unwrap()
}

const ONE: &str = "https://one.example";
const TWO: &str = "https://two.example";

fn asking<'a>(collector: &'a str, consent: &'a Consent, period: u32, after: u32) -> Asking<'a> {
    Asking { collector, consent, period, today: day(after) }
}

/// Answers every question but those left out.
fn answers(plan: &Plan, left_out: &[usize]) -> Vec<Option<Symbol>> {
    let questions = plan.parts().questions.iter().enumerate();
    questions
        .map(|(at, question)| {
            (!left_out.contains(&at)).then(|| question.answers.symbol(0).unwrap())
        })
        .collect()
}

fn items(responded: &Responded) -> Vec<u32> {
    responded.response.answers.iter().map(|answer| answer.item).collect()
}

#[test]
fn a_plan_is_answered_in_one_message_and_repeated() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("device.json");
    let (plan, consent) = (plan(false), Consent::default());
    let mut device = Device::create(&path, Device::DEFAULT_BUDGET).unwrap();
    let all = answers(&plan, &[]);
    let first = device.respond(&plan, &all, asking(ONE, &consent, 0, 0)).unwrap();
    plan.accepts(&first.response).unwrap();
    let choice = device.choice(plan.id()).unwrap().to_vec();
    assert_eq!((items(&first), first.refused.len(), first.repeated), (choice.clone(), 0, false));
    // ln 3 twice and ln 5 once, whichever of the drawn ones it was.
    let spent = nats("3.8066624899");
    assert_eq!((device.spent_at(ONE), device.device_account(day(0)).spent), (spent, spent));
    for datum in ["question:doyoudrink", "question:doyoudrive"] {
        assert_eq!(device.spent(datum), Some(nats("1.6094379125")), "{datum}");
    }
    let drawn = if choice.contains(&3) { "question:doyousmoke" } else { "question:old" };
    let twice = if choice.contains(&3) { "2.1972245774" } else { "1.0986122887" };
    assert_eq!(device.spent(drawn), Some(nats(twice)));
    // Repeated as it was, whatever the answers are now, after a crash too.
    drop(device);
    let mut device = Device::open(&path).unwrap();
    let again = device.respond(&plan, &answers(&plan, &[0]), asking(ONE, &consent, 0, 9)).unwrap();
    assert_eq!((again.response, again.repeated), (first.response.clone(), true));
    // Another collector gets the same tokens in a message of its own, and is charged for them.
    let there = device.respond(&plan, &all, asking(TWO, &consent, 0, 9)).unwrap();
    assert_eq!(there.response.answers, first.response.answers);
    assert_ne!(there.response.id, first.response.id);
    assert_eq!((device.spent_at(TWO), device.device_account(day(9)).spent), (spent, spent));
    // The next period costs again, and is refused where that is too much.
    let next = device.respond(&plan, &all, asking(ONE, &consent, 1, 9)).unwrap();
    let levels = next.refused.iter().map(|(item, why)| match why {
        Refused::Budget(over) => (*item, over.level),
        other => panic!("{other}"),
    });
    let mut expected = vec![(1, Level::Question)];
    if choice.contains(&3) {
        expected.extend([(3, Level::Question)]);
        expected.insert(0, (0, Level::Question));
    }
    assert_eq!(levels.collect::<Vec<_>>(), expected);
    assert_eq!(device.choice(plan.id()).unwrap(), choice);
    device.note_response(plan.id(), first.response.id, &Delivery::Accepted).unwrap();
    let waiting = device.responses(plan.id()).iter();
    let waiting = waiting.filter(|kept| kept.delivery == Delivery::Waiting).count();
    // A message that would tell nothing is not kept.
    let told = usize::from(!next.response.answers.is_empty());
    assert_eq!((waiting, device.responses(plan.id()).len()), (1 + told, 2 + told));
    drop(device);
    assert_eq!(Device::open(&path).unwrap().responses(plan.id()).len(), 2 + told);
}

#[test]
fn fresh_reports_are_drawn_from_the_memo_and_cost_nothing_more() {
    let (plan, consent) = (plan(true), Consent::default());
    let mut device = Device::memory();
    let all = answers(&plan, &[1]);
    let mut ids = std::collections::BTreeSet::new();
    let mut spent = None;
    let mut tokens = std::collections::BTreeSet::new();
    let mut rng = rand_chacha::ChaCha12Rng::from_seed([1; 32]);
    for after in 0..40 {
        let asking = asking(ONE, &consent, 0, after);
        let sent = device.respond_with(&plan, &all, asking, &mut rng).unwrap();
        plan.accepts(&sent.response).unwrap();
        assert!(!sent.repeated && sent.refused.is_empty());
        // The pair was left out with one of its questions.
        assert!(!items(&sent).contains(&1));
        ids.insert(sent.response.id);
        tokens.extend(sent.response.answers.iter().map(|answer| format!("{:?}", answer.token)));
        device.note_response(plan.id(), sent.response.id, &Delivery::Accepted).unwrap();
        let now = device.device_account(day(after)).spent;
        assert_eq!(*spent.get_or_insert(now), now);
    }
    assert_eq!((spent, ids.len()), (Some(nats("2.1972245774")), 40));
    assert_eq!(tokens.len(), 2);
    // Only the last of a period is kept once it was delivered.
    assert_eq!(device.responses(plan.id()).len(), 1);
}

/// Everything is refused, the person raises the budget, and the same items are answered.
#[test]
fn a_refusal_is_not_final() {
    let (plan, consent) = (plan(false), Consent::default());
    let mut device = Device::memory();
    device.set_budget(Level::Device, Budget::ever(nats("1"))).unwrap();
    let all = answers(&plan, &[]);
    let none = device.respond(&plan, &all, asking(ONE, &consent, 0, 0)).unwrap();
    assert_eq!((none.response.answers.len(), none.refused.len()), (0, 3));
    let choice = device.choice(plan.id()).unwrap().to_vec();
    assert!(device.responses(plan.id()).is_empty());
    device.set_budget(Level::Device, Budgets::DEFAULT.device).unwrap();
    let some = device.respond(&plan, &all, asking(ONE, &consent, 0, 0)).unwrap();
    assert_eq!((items(&some), some.repeated), (choice, false));
}

#[test]
fn what_does_not_fit_the_plan_is_refused_before_anything_is_drawn() {
    let (plan, consent) = (plan(false), Consent::default());
    let mut device = Device::memory();
    let all = answers(&plan, &[]);
    let mut refuse = |answers: &[Option<Symbol>], period| {
        let outcome = device.respond(&plan, answers, asking(ONE, &consent, period, 0));
        (outcome.unwrap_err(), device.device_account(day(0)).spent)
    };
    let (error, spent) = refuse(&all, 2);
    assert!(
        matches!(error, ResponseError::Period { period: 2, periods: 2 }) && spent == Nats::ZERO
    );
    let (error, _) = refuse(&all[1..], 0);
    assert!(matches!(error, ResponseError::Answers { questions: 5 }));
    let mut foreign = all.clone();
    foreign[2] = Some(golden("keep_300").inputs().symbol(299).unwrap());
    let (error, spent) = refuse(&foreign, 0);
    assert!(matches!(error, ResponseError::Answers { .. }) && spent == Nats::ZERO, "{error}");
    // A choice the plan cannot have made.
    let mut device = Device::memory();
    device.remember_choice(plan.id(), vec![0, 1, 2, 3]).unwrap();
    let error = device.respond(&plan, &all, asking(ONE, &consent, 0, 0)).unwrap_err();
    assert!(matches!(error, ResponseError::Memory), "{error}");
}

// ------------------------------------------------------------------------------------------------ moving

/// A new device that took over a ledger.
fn taken(path: &Path) -> Device {
    let mut device = Device::memory();
    device.import(path).unwrap();
    device
}

#[test]
fn a_ledger_moves_to_a_new_device_and_the_old_one_is_silent() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    let curator = TestCurator::start();
    let mut old = Device::create(at("old.json"), nats("3")).unwrap();
    old.set_budget(Level::Collector, Budget::within(nats("7"), 90).unwrap()).unwrap();
    old.remember_choice(PLAN, vec![1]).unwrap();
    let (mut old, outcome) = answer(&curator, old, 0, day(0));
    assert!(!outcome.unwrap());
    old.export(at("ledger.json"), day(1)).unwrap();
    assert_eq!(old.moved(), Some(day(1)));
    // The old device stays silent, also after it was closed, and does not move again.
    drop(old);
    let mut old = Device::open(at("old.json")).unwrap();
    assert!(matches!(old.export(at("again.json"), day(2)), Err(DeviceError::Moved { .. })));
    assert!(!at("again.json").exists());
    assert!(matches!(old.remember_choice(PlanId([9; 32]), vec![]), Err(DeviceError::Moved { .. })));
    assert!(matches!(old.import(at("ledger.json")), Err(DeviceError::OwnLedger)));
    let sent = curator.attempts().len();
    for n in [0, 1] {
        let outcome;
        (old, outcome) = answer(&curator, old, n, day(2));
        assert!(matches!(outcome, Err(ClientError::Device(DeviceError::Moved { .. }))));
    }
    let mut client = Client::with_connection(curator.connection(), old);
    assert!(matches!(client.flush(), Err(ClientError::Device(DeviceError::Moved { .. }))));
    assert_eq!(curator.attempts().len(), sent);
    drop(client);

    let new = taken(&at("ledger.json"));
    assert_eq!(new.moved(), None);
    assert_eq!((new.budgets().question.nats, new.budgets().collector.nats), (nats("3"), nats("7")));
    assert_eq!(new.choice(PLAN), Some(&[1][..]));
    assert_eq!(new.spent_at(&curator.base), nats("1.0986122887"));
    // What was answered there is repeated here.
    let (new, outcome) = answer(&curator, new, 0, day(3));
    assert!(outcome.unwrap());
    let (mut new, outcome) = answer(&curator, new, 1, day(3));
    assert!(!outcome.unwrap());
    // And it may come back.
    new.export(at("back.json"), day(4)).unwrap();
    let mut old = Device::open(at("old.json")).unwrap();
    old.import(at("back.json")).unwrap();
    assert_eq!((old.moved(), old.spent_at(&curator.base)), (None, nats("2.1972245774")));
    let (_, outcome) = answer(&curator, old, 2, day(4));
    assert!(!outcome.unwrap());
}

#[test]
fn two_ledgers_that_meet_count_the_costs_of_both() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    let curator = TestCurator::start();
    // Both phones answered question 0 under one policy, by themselves; each has one question more.
    let (mut one, _) = answer(&curator, Device::memory(), 0, day(0));
    (one, _) = answer(&curator, one, 1, day(0));
    let (mut two, _) = answer(&curator, Device::memory_with_budget(nats("5")), 0, day(9));
    (two, _) = answer(&curator, two, 2, day(9));
    one.remember_choice(PLAN, vec![1]).unwrap();
    two.remember_choice(PLAN, vec![2]).unwrap();
    one.export(at("one.json"), day(1)).unwrap();
    two.import(at("one.json")).unwrap();
    assert_eq!(two.spent("question:questionnumber0"), Some(nats("2.1972245774")));
    assert_eq!(two.device_account(day(9)).spent, nats("4.3944491548"));
    assert_eq!(two.answers().count(), 4);
    assert_eq!(two.budgets().question.nats, nats("5"), "it had answered, and keeps its own");
    assert_eq!(two.choice(PLAN), Some(&[1][..]), "nothing was released under its own choice");
    // The same file again adds nothing.
    two.import(at("one.json")).unwrap();
    assert_eq!(two.device_account(day(9)).spent, nats("4.3944491548"));
    assert_eq!(two.answers().count(), 4);
    assert!(two.answers().all(|(_, answer)| answer.delivery == Delivery::Accepted));
    // What counted on the old device still counts on the new one, from the same day on.
    assert_eq!(two.device_account(day(364)).spent, nats("4.3944491548"));
    assert_eq!(two.device_account(day(365)).spent, nats("2.1972245774"));
    // A choice under which something was released stays.
    let mut three = Device::memory();
    three.remember_choice(PLAN, vec![3]).unwrap();
    assert!(spend(&mut three, &[(3, &["a"])], 7, day(0))[0].is_ok());
    three.import(at("one.json")).unwrap();
    assert_eq!(three.choice(PLAN), Some(&[3][..]));
}

#[test]
fn what_is_no_ledger_changes_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    let mut device = Device::create(at("device.json"), Device::DEFAULT_BUDGET).unwrap();
    let mut other = Device::memory();
    other.export(at("ledger.json"), day(0)).unwrap();
    let whole = std::fs::read_to_string(at("ledger.json")).unwrap();
    let before = std::fs::read(at("device.json")).unwrap();
    for text in ["", "{}", &whole.replace("35.", "36."), &whole.replace("ledger/1", "ledger/2")] {
        std::fs::write(at("bad.json"), text).unwrap();
        let refused = device.import(at("bad.json"));
        assert!(matches!(refused, Err(DeviceError::NoLedger { .. })), "{refused:?}");
    }
    assert!(matches!(device.import(at("missing.json")), Err(DeviceError::Io { .. })));
    let own = device.import(at("device.json"));
    assert!(
        matches!(&own, Err(DeviceError::NoLedger { reason }) if reason.contains("export")),
        "{own:?}"
    );
    assert_eq!(std::fs::read(at("device.json")).unwrap(), before);
    // A file that is there is not written over, and one that cannot be written moves nothing.
    assert!(matches!(device.export(at("ledger.json"), day(0)), Err(DeviceError::Exists { .. })));
    assert!(matches!(device.export(at("no/such.json"), day(0)), Err(DeviceError::Io { .. })));
    assert_eq!(device.moved(), None);
    drop(device);
    std::fs::copy(at("ledger.json"), at("device.json")).unwrap();
    assert!(matches!(Device::open(at("device.json")), Err(DeviceError::Damaged { .. })));
}
