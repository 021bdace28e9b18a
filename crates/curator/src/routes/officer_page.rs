//! One self-contained page per survey for whoever answers for its privacy. The template escapes everything that is not ours.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::clock::timestamp;

/// The policy of the page: nothing but its own style, known by its hash.
pub(super) fn content_policy() -> String {
    let hash = STANDARD.encode(Sha256::digest(STYLE));
    format!(
        "default-src 'none'; style-src 'sha256-{hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
}

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1b1b1b;background:#fff}h1,h2,h3{line-height:1.2}table{border-collapse:collapse;margin:.5rem 0}td,th{border:1px solid #999;padding:.2rem .6rem;text-align:left;vertical-align:top}code{overflow-wrap:anywhere}.note{border-left:.3rem solid #b50;padding-left:.8rem}.wide{overflow-wrap:anywhere}@media(max-width:40rem){.log tr,.log td{display:block;border:0;padding:0}.log tr{border-top:1px solid #999;padding:.5rem 0}.log th{display:none}}@media(prefers-color-scheme:dark){body{color:#e8e8e8;background:#161616}}";

/// The page.
pub(super) fn page(facts: &Value) -> String {
    let survey = &facts["survey"];
    let newest = each(&facts["rounds"]).last().map_or(&[][..], |round| each(&round["policies"]));
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width";
                title { "Privacy of " (text(&survey["title"])) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                h1 { "Privacy of \u{201c}" (text(&survey["title"])) "\u{201d}" }
                p {
                    "Survey " code { (text(&survey["id"])) } ", written " (text(&facts["written"]))
                    ". Current policy: "
                    @if newest.is_empty() { "none yet" }
                    @for (at, policy) in newest.iter().enumerate() {
                        @if at > 0 { ", " }
                        code { (text(&policy["policy"])) }
                    }
                }
                p { "Question: " (text(&survey["question"])) }
                h2 { "Rounds" }
                @for round in each(&facts["rounds"]) { (round_section(round)) }
                h2 { "Composition so far" }
                p { (text(&facts["composition"]["in_words"])) }
                @for group in each(&facts["composition"]["together"]) {
                    p { (text(&group["group"])) ": " (text(&group["in_words"])) }
                }
                @if let Some(words) = facts["gain"]["in_words"].as_str() {
                    h2 { "Against LDP all along" }
                    p { (words) }
                }
                h2 { "What is the owner's word" }
                p { "These are shown as the owner states them. Nothing here can check them." }
                (list(&facts["owners_word"]))
                h2 { "Assumptions" }
                (list(&facts["assumptions"]))
                h2 { "Attack model" }
                table {
                    tr { th { "who" } th { "can do" } }
                    @for attack in each(&facts["attack_model"]) {
                        tr { td { (text(&attack["who"])) } td { (text(&attack["what"])) } }
                    }
                }
                h2 { "Retention and contact" }
                p { "Retention, says the owner: " (stated(&survey["retention"])) }
                p { "Contact, says the owner: " (stated(&survey["contact"])) }
                h2 { "Log" }
                p {
                    "Every entry carries the hash of the one before. Whoever kept an earlier copy, or its last hash, \
                     notices a change or an omission; to anybody else a log that was written anew looks the same. The \
                     first 500 entries are shown here, all of them under the survey's address with /log."
                }
                table class="log wide" {
                    tr { th { "#" } th { "when" } th { "what" } th { "detail" } th { "hash" } }
                    @for entry in each(&facts["log"]) {
                        tr {
                            td { (entry["seq"]) }
                            td { (timestamp(entry["at"].as_i64().unwrap_or(0))) }
                            td { (text(&entry["kind"])) }
                            td { code { (text(&entry["detail"])) } }
                            td { code { (text(&entry["hash"])) } }
                        }
                    }
                }
            }
        }
    }
    .into_string()
}

fn round_section(round: &Value) -> Markup {
    html! {
        h3 { "Round " (round["number"]) " (" (text(&round["state"])) ")" }
        p {
            "Opened " (text(&round["opened"]))
            @if let Some(at) = round["sealed"].as_str() { ", sealed " (at) }
            @if let Some(at) = round["released"].as_str() { ", released " (at) }
            ". Accounted LDP: " (text(&round["ldp"])) " nats."
        }
        @if let Some(reports) = round["reports"].as_u64() {
            p { (reports) " reports. " (text(&round["influence"])) }
        }
        @for warning in each(&round["warnings"]) { p class="note" { (text(warning)) } }
        @for policy in each(&round["policies"]) { (policy_section(policy)) }
    }
}

fn policy_section(policy: &Value) -> Markup {
    let learned = &policy["learned"];
    let row = |name: &str, value: Markup| html! { tr { th { (name) } td { (value) } } };
    html! {
        table {
            (row("policy", html! { code { (text(&policy["policy"])) } }))
            (row("group", html! {
                (text(&policy["group"])) ", at least " (policy["people"]) " people (the owner's word)"
            }))
            (row("claims", joined(&policy["claims"], html! { " and " })))
            (row("attained, in nats", html! {
                "LIP " (policy["lip"].as_str().unwrap_or("not claimed")) ", LDP " (text(&policy["ldp"]))
            }))
            (row("channel", html! { (text(&policy["channel"])) " (" (text(&policy["method"])) ")" }))
            (row("assumed", html! { (text(&policy["prior"]["in_words"])) (numbers(&policy["prior"])) }))
            (row("provenance of the prior", provenance(policy)))
            @if let Some(why) = policy["unlearned"].as_str() {
                (row("nothing was learnt", html! { (why) }))
            }
            @if let Some(confidence) = learned["confidence"].as_f64() {
                (row("confidence", html! {
                    "the LIP claim holds if the truth is in the box, which it is with probability " (confidence)
                    " at least (from " (learned["reports"]) " reports of round " (learned["round"]) ")"
                }))
            }
            (row("what an observer can learn", joined(&policy["observer"]["in_words"], html! { br; })))
        }
    }
}

fn numbers(prior: &Value) -> String {
    let list = |field: &str| {
        let values = prior[field].as_array()?;
        let shown: Vec<String> =
            values.iter().map(|p| format!("{:.4}", p.as_f64().unwrap_or(f64::NAN))).collect();
        Some(shown.join(", "))
    };
    match (list("p"), list("lower"), list("upper")) {
        (Some(p), _, _) => format!(" ({p})"),
        (_, Some(lower), Some(upper)) => format!(" (at least {lower}; at most {upper})"),
        _ => String::new(),
    }
}

fn provenance(policy: &Value) -> Markup {
    let provenance = &policy["provenance"];
    html! {
        (stated(&provenance["source"]))
        @if provenance["n"].as_u64().is_some_and(|n| n > 0) { ", n = " (provenance["n"]) }
        @if !text(&provenance["date"]).is_empty() { ", " (text(&provenance["date"])) }
        @if let Some(confidence) = provenance["confidence"].as_str() { ", confidence " (confidence) }
        @if policy["prior"]["kind"] == "prior" { " (the owner's word)" }
    }
}

fn list(lines: &Value) -> Markup {
    html! { ul { @for line in each(lines) { li { (text(line)) } } } }
}

/// Texts with something between them.
fn joined(texts: &Value, between: Markup) -> Markup {
    html! {
        @for (at, one) in each(texts).iter().enumerate() {
            @if at > 0 { (between) }
            (text(one))
        }
    }
}

fn each(values: &Value) -> &[Value] {
    values.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn stated(value: &Value) -> &str {
    match text(value) {
        "" => "not stated",
        said => said,
    }
}
