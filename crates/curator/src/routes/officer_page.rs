//! One self-contained page per survey for whoever answers for its privacy. The template escapes everything that is not ours.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};

use crate::clock::timestamp;
use crate::service::officer::{
    AssumedShares, OfficerFacts, OfficerPolicy, OfficerRound, PriorProvenance,
};
use crate::service::surveys::LogChain;

/// The policy of the page: nothing but its own style, known by its hash.
pub(super) fn content_policy() -> String {
    let hash = STANDARD.encode(Sha256::digest(STYLE));
    format!(
        "default-src 'none'; style-src 'sha256-{hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
}

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1b1b1b;background:#fff}h1,h2,h3{line-height:1.2}table{border-collapse:collapse;margin:.5rem 0}td,th{border:1px solid #999;padding:.2rem .6rem;text-align:left;vertical-align:top}code{overflow-wrap:anywhere}.note{border-left:.3rem solid #b50;padding-left:.8rem}.wide{overflow-wrap:anywhere}@media(max-width:40rem){.log tr,.log td{display:block;border:0;padding:0}.log tr{border-top:1px solid #999;padding:.5rem 0}.log th{display:none}}@media(prefers-color-scheme:dark){body{color:#e8e8e8;background:#161616}}";

/// The page.
pub(super) fn page(facts: &OfficerFacts) -> String {
    let survey = &facts.survey;
    let newest = facts.rounds.rounds.last().map_or(&[][..], |round| &round.policies);
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width";
                title { "Privacy of " (survey.title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                h1 { "Privacy of \u{201c}" (survey.title) "\u{201d}" }
                p {
                    "Survey " code { (survey.id) } ", written " (facts.written)
                    ". Current policy: "
                    @if newest.is_empty() { "none yet" }
                    @for (at, policy) in newest.iter().enumerate() {
                        @if at > 0 { ", " }
                        code { (policy.group.policy) }
                    }
                }
                p { "Question: " (survey.question) }
                h2 { "Rounds" }
                @for round in &facts.rounds.rounds { (round_section(round)) }
                h2 { "Composition so far" }
                p { (facts.composition.in_words) }
                @for group in &facts.composition.together {
                    p { (group.group) ": " (group.in_words) }
                }
                @if let Some(gain) = &facts.gain {
                    h2 { "Against LDP all along" }
                    p { (gain.in_words) }
                }
                h2 { "What is the owner's word" }
                p { "These are shown as the owner states them. Nothing here can check them." }
                (list(facts.owners_word))
                h2 { "Assumptions" }
                (list(facts.assumptions))
                h2 { "Attack model" }
                table {
                    tr { th { "who" } th { "can do" } }
                    @for attack in facts.attack_model {
                        tr { td { (attack.who) } td { (attack.what) } }
                    }
                }
                h2 { "Retention and contact" }
                p { "Retention, says the owner: " (stated(&survey.retention)) }
                p { "Contact, says the owner: " (stated(&survey.contact)) }
                h2 { "Log" }
                (chain(&facts.chain))
                p {
                    "Every entry carries the hash of the one before. Whoever kept an earlier copy, or its last hash, \
                     notices a change or an omission at the end; to anybody else a log that was written anew from its first \
                     entry looks the same. The \
                     first 500 entries are shown here, all of them under the survey's address with /log."
                }
                table class="log wide" {
                    tr { th { "#" } th { "when" } th { "what" } th { "detail" } th { "hash" } }
                    @for entry in &facts.log {
                        tr {
                            td { (entry.seq) }
                            td { (timestamp(entry.at)) }
                            td { (entry.kind) }
                            td { code { (entry.detail) } }
                            td { code { (entry.hash) } }
                        }
                    }
                }
            }
        }
    }
    .into_string()
}

/// Whether the log holds together: every entry of it was hashed again for this page.
fn chain(chain: &LogChain) -> Markup {
    html! {
        @if let Some(at) = chain.broken_at {
            p class="note" {
                strong { "The log was altered: entry " (at) " does not follow from the one before. " }
                "What stands from there on, and what was left out, cannot be relied on."
            }
        } @else if let Some(head) = &chain.head {
            p {
                "Checked for this page: " (chain.entries) " entries, each of which follows from the one before. Last hash: "
                code { (head) }
            }
        } @else {
            p class="note" { "The log is empty, and at least the survey's creation should be in it." }
        }
    }
}

fn round_section(round: &OfficerRound) -> Markup {
    let times = &round.times;
    html! {
        h3 { "Round " (times.number) " (" (times.state) ")" }
        p {
            "Opened " (times.opened)
            @if let Some(at) = &times.sealed { ", sealed " (at) }
            @if let Some(at) = &times.released { ", released " (at) }
            ". Accounted LDP: " (times.ldp) " nats."
        }
        @if let Some(reports) = round.reports {
            p { (reports) " reports. " (round.influence.as_deref().unwrap_or_default()) }
        }
        @for warning in &round.warnings { p class="note" { (warning) } }
        @for policy in &round.policies { (policy_section(policy)) }
    }
}

fn policy_section(policy: &OfficerPolicy) -> Markup {
    let OfficerPolicy { group, channel, prior, risk, .. } = policy;
    let row = |name: &str, value: Markup| html! { tr { th { (name) } td { (value) } } };
    html! {
        table {
            (row("policy", html! { code { (group.policy) } }))
            (row("group", html! {
                (group.group) ", at least " (group.people) " people (the owner's word)"
            }))
            (row("claims", joined(&group.claims, html! { " and " })))
            (row("attained, in nats", html! {
                "LIP " (group.lip.as_deref().unwrap_or("not claimed")) ", LDP " (group.ldp)
            }))
            (row("channel", html! { (channel) " (" (group.method) ")" }))
            (row("assumed", html! { (prior.in_words) (numbers(&prior.shares)) }))
            (row("provenance of the prior", provenance(policy)))
            @if let Some(why) = &group.unlearned {
                (row("nothing was learnt", html! { (why) }))
            }
            @if let Some(learned) = &group.learned {
                (row("confidence", html! {
                    "the LIP claim holds if the truth is in the box, which it is with probability " (learned.confidence)
                    " at least (from " (learned.reports) " reports of round " (learned.round) ")"
                }))
            }
            (row("what an observer can learn", joined(&risk.in_words, html! { br; })))
        }
    }
}

fn numbers(shares: &AssumedShares) -> String {
    let list = |shares: &[f64]| {
        let shown: Vec<String> = shares.iter().map(|p| format!("{p:.4}")).collect();
        shown.join(", ")
    };
    match shares {
        AssumedShares::Prior { p: Some(p) } => format!(" ({})", list(p)),
        AssumedShares::Box { lower: Some(lower), upper: Some(upper) } => {
            format!(" (at least {}; at most {})", list(lower), list(upper))
        }
        _ => String::new(),
    }
}

fn provenance(policy: &OfficerPolicy) -> Markup {
    let PriorProvenance { source, n, date, confidence } = &policy.provenance;
    html! {
        (stated(source))
        @if *n > 0 { ", n = " (n) }
        @if !date.is_empty() { ", " (date) }
        @if let Some(confidence) = confidence { ", confidence " (confidence) }
        @if policy.prior.kind == "prior" { " (the owner's word)" }
    }
}

fn list(lines: &[&str]) -> Markup {
    html! { ul { @for line in lines { li { (line) } } } }
}

/// Texts with something between them.
fn joined(texts: &[String], between: Markup) -> Markup {
    html! {
        @for (at, one) in texts.iter().enumerate() {
            @if at > 0 { (between) }
            (one)
        }
    }
}

fn stated(said: &str) -> &str {
    if said.is_empty() { "not stated" } else { said }
}
