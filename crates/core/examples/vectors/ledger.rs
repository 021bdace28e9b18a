//! Budgets: sequences of requests, what each costs, and what is refused.

use super::grid::Named;
use super::policies::named;
use super::text::{inline, list, object, quoted};
use undertone_core::{
    Consent, Context, Decision, Ledger, LedgerError, Nats, Policy, Prior, Sequence,
};

/// One step: `request` or `spend`, a datum, a policy, the earlier policy where it is at hand, and
/// what must come of it.
type Step = (&'static str, &'static str, &'static str, Option<&'static str>, &'static str);

/// The sequences, each with its budget.
const SEQUENCES: &[(&str, &str, &[Step])] = &[
    (
        "attained LDP adds up to the budget exactly",
        "2.1972245774",
        &[
            ("request", "age", "minimal", None, "fresh"),
            ("spend", "age", "minimal", None, "fresh"),
            ("spend", "age", "minimal", None, "budget"),
        ],
    ),
    (
        "one unit less than two answers cost",
        "2.1972245773",
        &[
            ("spend", "age", "minimal", None, "fresh"),
            ("spend", "age", "minimal", None, "budget"),
            ("request", "age", "minimal", None, "repeat"),
        ],
    ),
    (
        "a repeat of the same answer is free, also when the budget is spent",
        "1.1",
        &[
            ("request", "age", "minimal", None, "fresh"),
            ("request", "age", "minimal", None, "repeat"),
            ("request", "age", "table_prior_lip", None, "budget"),
            ("request", "age", "minimal", None, "repeat"),
        ],
    ),
    (
        "each datum has its own budget",
        "1.1",
        &[
            ("request", "age", "minimal", None, "fresh"),
            ("request", "income", "minimal", None, "fresh"),
            ("spend", "age", "minimal", None, "budget"),
        ],
    ),
    (
        "the cost is what is attained, not what is claimed",
        "1.5",
        &[("request", "age", "alphabet_names", None, "fresh")],
    ),
    (
        "a policy that says nothing costs nothing",
        "0",
        &[
            ("spend", "age", "zero_epsilon_table", None, "fresh"),
            ("spend", "age", "zero_epsilon_table", None, "fresh"),
            ("spend", "age", "minimal", None, "budget"),
        ],
    ),
    (
        "no finite LDP level: once for a datum",
        "100",
        &[
            ("request", "purchases", "watchdog_three", None, "fresh"),
            ("request", "purchases", "watchdog_three", None, "repeat"),
            ("request", "purchases", "watchdog_two", None, "not_composable"),
            ("request", "purchases", "minimal", None, "not_composable"),
            ("request", "other", "watchdog_two", None, "fresh"),
        ],
    ),
    (
        "both releases together are checked and break the claim (Q36)",
        "100",
        &[
            ("request", "purchases", "watchdog_three", None, "fresh"),
            (
                "request",
                "purchases",
                "watchdog_two",
                Some("watchdog_three"),
                "not_composable_checked",
            ),
            ("request", "purchases", "watchdog_two", Some("watchdog_one"), "not_composable"),
        ],
    ),
    (
        "both releases together are checked and hold",
        "100",
        &[
            ("request", "purchases", "watchdog_three", None, "fresh"),
            ("request", "purchases", "watchdog_one", Some("watchdog_three"), "fresh"),
            ("request", "purchases", "watchdog_two", Some("watchdog_one"), "not_composable"),
        ],
    ),
    (
        "a merged release after a finite one, and the other way round",
        "100",
        &[
            ("request", "a", "watchdog_one", None, "fresh"),
            ("request", "a", "watchdog_two", Some("watchdog_one"), "fresh"),
            ("request", "b", "watchdog_two", None, "fresh"),
            ("request", "b", "watchdog_one", Some("watchdog_two"), "fresh"),
        ],
    ),
    (
        "a delta does not survive a second release chosen after the first",
        "100",
        &[
            ("spend", "a", "unbounded_table", None, "fresh"),
            ("spend", "a", "unbounded_table", Some("unbounded_table"), "not_composable"),
        ],
    ),
];

/// The file of sequences.
pub(crate) fn file(accepted: &[Named]) -> String {
    let sequences = SEQUENCES.iter().map(|&(about, budget, steps)| {
        let mut ledger = Ledger::new(nats(budget));
        let steps: Vec<String> =
            steps.iter().map(|step| self::step(accepted, &mut ledger, step)).collect();
        object(&[("about", quoted(about)), ("budget", quoted(budget)), ("steps", list(steps))])
    });
    let fields = [
        ("sequences", list(sequences.collect::<Vec<_>>())),
        ("consequences", list(consequences(accepted))),
    ];
    object(&fields) + "\n"
}

/// A release of which the policy is at hand and the answer is not.
fn past(earlier: Option<&Policy>) -> Sequence<'_> {
    let mut past = Sequence::new();
    earlier.into_iter().for_each(|policy| past.untold(policy));
    past
}

fn nats(text: &str) -> Nats {
    Nats::parse_down(text).expect("nats")
}

fn step(accepted: &[Named], ledger: &mut Ledger, step: &Step) -> String {
    let &(call, datum, policy_name, earlier_name, expected) = step;
    let policy = named(accepted, policy_name);
    let earlier = earlier_name.map(|name| named(accepted, name));
    let outcome = match call {
        "request" => ledger.request(datum, &policy, &past(earlier.as_ref()), &Consent::UNLIMITED),
        _ => ledger
            .spend(datum, &policy, &past(earlier.as_ref()), &Consent::UNLIMITED)
            .map(Decision::Fresh),
    };
    let found = match outcome {
        Ok(Decision::Fresh(_)) => "fresh",
        Ok(Decision::Repeat) => "repeat",
        Err(LedgerError::Budget { .. }) => "budget",
        Err(LedgerError::NotComposable { checked: true }) => "not_composable_checked",
        Err(_) => "not_composable",
    };
    assert_eq!(found, expected, "{step:?}");
    let file = |name: &str| quoted(format!("{name}.json"));
    let cost = policy.certificate().input.ldp.ratio.ln_up();
    let amount = |nats: Option<Nats>| quoted(nats.map_or("unbounded".into(), |n| n.to_string()));
    inline(&[
        ("call", quoted(call)),
        ("datum", quoted(datum)),
        ("policy", file(policy_name)),
        ("earlier", earlier_name.map_or("null".into(), file)),
        ("outcome", quoted(expected)),
        ("cost", amount(cost)),
        ("spent", amount(ledger.spent(datum))),
    ])
}

/// What LDP spent means for belief: ln(p + (1-p) e^spent), p the lightest symbol, rounded up.
fn consequences(accepted: &[Named]) -> Vec<String> {
    let context = |name: &str| match named(accepted, name).draft().context() {
        Context::Known(prior) => prior.clone(),
        _ => panic!("{name} has no single prior"),
    };
    let priors: [Prior; 4] = [
        context("one_symbol_table"),
        context("zero_epsilon_table"),
        context("provenance"),
        context("zero_weight_table"),
    ];
    let mut rows = Vec::new();
    for (answers, policy) in [
        (1, "minimal"),
        (2, "minimal"),
        (1, "response_16"),
        (1, "zero_epsilon_table"),
        (9, "full_width_prior"),
    ] {
        for prior in &priors {
            let mut ledger = Ledger::new(Nats::from_units(u64::MAX));
            for _ in 0..answers {
                let policy = named(accepted, policy);
                let _ = ledger
                    .spend("datum", &policy, &Sequence::new(), &Consent::UNLIMITED)
                    .expect("a budget");
            }
            let lip = ledger.lip_consequence("datum", prior).expect("a finite level");
            rows.push(inline(&[
                ("spent", quoted(ledger.spent("datum").expect("a finite level"))),
                ("prior", format!("{:?}", prior.weights())),
                ("lip", quoted(lip)),
            ]));
        }
    }
    rows
}
