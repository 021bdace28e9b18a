//! Choices of items and responses: what a device draws under a plan, and what it refuses to read.

use super::plans::{NamedPlan, find, verified};
use super::stream::{Mix, Stream};
use super::text::{hex, inline, list, object, quoted};
use rand_core::Rng;
use undertone_core::{Consent, ItemAnswer, Ledger, Nats, Plan, ReportId, Response, Sequence};

/// The draw of the items, at the edges of its cells.
pub(crate) fn choices(accepted: &[NamedPlan]) -> Vec<(String, String)> {
    let plan = verified(find(accepted, "split"));
    let mut cases: Vec<Vec<u64>> = Vec::new();
    // Weights 5, 1, 7 of 13.
    for sum in [0u128, 5, 6, 13] {
        let edge = (sum << 64).div_ceil(13);
        for first in [edge.checked_sub(1), Some(edge)] {
            let Some(Ok(first)) = first.map(u64::try_from) else { continue };
            cases.push(vec![first, 0]);
            cases.push(vec![first, u64::MAX]);
        }
    }
    let case = |values: &Vec<u64>| {
        let mut stream: Vec<u8> = values.iter().flat_map(|value| value.to_be_bytes()).collect();
        stream.push(0xff);
        let mut bytes = Stream::new(&stream);
        let choice = plan.choose(&mut bytes);
        let items: Vec<String> = choice.items().iter().map(ToString::to_string).collect();
        inline(&[
            ("stream", quoted(hex(&stream))),
            ("items", format!("[{}]", items.join(", "))),
            ("consumed", bytes.consumed.to_string()),
        ])
    };
    let fields = [
        ("about", quoted("two of three drawn items, at the edges of the first draw")),
        ("plan", quoted("split.json")),
        ("cases", list(cases.iter().map(case))),
    ];
    vec![("choose_split".into(), object(&fields) + "\n")]
}

/// Every file of responses below `response/`.
pub(crate) fn files(accepted: &[NamedPlan]) -> Vec<(String, String)> {
    let mut mix = Mix(17);
    let mut files = Vec::new();
    for (name, items, answers) in [
        ("independent", vec![0u32, 1, 2], vec![1usize, 2, 3]),
        ("combined", vec![0], vec![1, 2]),
        ("split", vec![0, 1, 3], vec![1, 0, 1, 1]),
        ("repeated", vec![0, 1], vec![1, 2]),
        ("words", vec![], vec![0]),
        ("blocks", vec![0, 1, 2, 3, 4, 5], vec![0, 1, 2, 0, 1, 2]),
        ("blocks_combined", vec![0, 1, 2], vec![1, 2]),
        ("blocks_repeated", vec![0, 1, 2], vec![2, 1, 0]),
    ] {
        let plan = verified(find(accepted, name));
        let stream = mix.bytes(if name.starts_with("blocks") { 160 } else { 64 });
        let mut rng = Stream::new(&stream);
        let response = respond(&plan, &items, &answers, &mut rng);
        let answered: Vec<String> = answers.iter().map(ToString::to_string).collect();
        let chosen: Vec<String> = items.iter().map(ToString::to_string).collect();
        let fields = [
            ("plan", quoted(format!("{name}.json"))),
            ("items", format!("[{}]", chosen.join(", "))),
            ("answers", format!("[{}]", answered.join(", "))),
            ("stream", quoted(hex(&stream))),
            ("consumed", rng.consumed.to_string()),
            ("response", response.to_json()),
            ("bytes", quoted(hex(&response.to_bytes()))),
        ];
        files.push((name.to_owned(), object(&fields) + "\n"));
    }
    files.extend(foreign(accepted));
    files
}

/// The response of a person who answers so, with leave from an ample budget: the items' tokens in order, then the response's id.
pub(crate) fn respond(
    plan: &Plan,
    items: &[u32],
    answers: &[usize],
    rng: &mut Stream<'_>,
) -> Response {
    let answers = items.iter().map(|&number| {
        let item = number as usize;
        let questions = &plan.parts().items[item].questions;
        let given = |q: &u32| {
            let question = &plan.parts().questions[*q as usize];
            question.answers.symbol(answers[*q as usize]).expect("an answer")
        };
        let symbols: Vec<_> = questions.iter().map(given).collect();
        let symbol = plan.combine(item, &symbols).expect("answers that fit");
        let mut ledger = Ledger::new(Nats::from_units(u64::MAX));
        let policy = plan.policy_of(item);
        let permit = ledger.spend("item", policy, &Sequence::new(), &Consent::UNLIMITED);
        let drawn = plan.draw_item(item, symbol, permit.expect("a budget"), rng).expect("a draw");
        let token = plan.report_item(item, &drawn, rng).expect("a report");
        ItemAnswer { item: number, token }
    });
    let answers = answers.collect();
    let mut id = [0; 16];
    rng.fill_bytes(&mut id);
    Response { plan: plan.id(), id: ReportId(id), answers }
}

fn foreign(accepted: &[NamedPlan]) -> Vec<(String, String)> {
    let plan = verified(find(accepted, "split"));
    let other = verified(find(accepted, "chain"));
    let message = |plan: &Plan, answers: &str| {
        format!(
            r#"{{"undertone":"response/1","plan":"{}","id":"{}","answers":[{answers}]}}"#,
            plan.id(),
            "07".repeat(16)
        )
    };
    let one = r#"{"item":0,"token":1}"#;
    let accept = [
        ("plan", "drawn under another plan", "plan", message(&other, one)),
        ("item", "an item that does not exist", "items", message(&plan, r#"{"item":4,"token":1}"#)),
        (
            "repeated",
            "an item twice",
            "items",
            message(&plan, r#"{"item":0,"token":1},{"item":0,"token":1}"#),
        ),
        (
            "asked",
            "more drawn items than are asked",
            "asked",
            message(&plan, r#"{"item":1,"token":1},{"item":2,"token":1},{"item":3,"token":1}"#),
        ),
        (
            "token",
            "a token that is never released",
            "token",
            message(&plan, r#"{"item":0,"token":2}"#),
        ),
        (
            "bits",
            "bits of a policy that releases none",
            "token",
            message(&plan, r#"{"item":0,"bits":"80"}"#),
        ),
    ];
    let decode = [
        (
            "version",
            "an unknown version",
            "version",
            message(&plan, one).replace("response/1", "response/2"),
        ),
        ("both", "a token and bits", "json", message(&plan, r#"{"item":0,"token":1,"bits":"80"}"#)),
        ("neither", "an answer without one", "json", message(&plan, r#"{"item":0}"#)),
        (
            "id",
            "an id of another length",
            "json",
            message(&plan, one).replace(&"07".repeat(16), "07"),
        ),
    ];
    let file = |stage: &str, (name, about, error, text): (&str, &str, &str, String)| {
        let fields = [
            ("about", quoted(about)),
            ("plan", quoted("split.json")),
            ("text", quoted(&text)),
            ("stage", quoted(stage)),
            ("error", quoted(error)),
        ];
        (format!("bad_{name}"), object(&fields) + "\n")
    };
    let accept = accept.into_iter().map(|entry| file("accept", entry));
    let decode = decode.into_iter().map(|entry| file("decode", entry));
    accept.chain(decode).collect()
}
