//! Says what the kernel's readers make of whatever comes in: the Rust half of the differential fuzz of both readers, driven by
//! `bindings/js/test/readers.mjs`.
//!
//! Standard input is a list of items: one byte for the reader (`p` policy document, `b` policy bytes, `r` report, `s` report bytes, `l` plan document,
//! `m` plan bytes, `n` response, `o` response bytes), a big-endian u32 with the number of bytes, and the bytes. Each gives one line: `ok` with the policy's id or
//! the report's bytes, for a plan its id and all it attains; `decode` with a reason of `vectors/v1/README.md`; or `verify` with the false claim.

use std::io::{Read, Write};
use undertone_core::{
    Belief, DecodeError, Draft, Given, Nats, Plan, PlanDecodeError, PlanDraft, PlanError,
    PlanRefusal, PlanSide, Report, Response, Side, Variable,
};

fn main() -> Result<(), std::io::Error> {
    let mut input = Vec::new();
    std::io::stdin().lock().read_to_end(&mut input)?;
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let mut rest = input.as_slice();
    while let Some((&[reader, a, b, c, d], tail)) = rest.split_first_chunk() {
        let (item, tail) = tail.split_at(u32::from_be_bytes([a, b, c, d]) as usize);
        writeln!(out, "{}", verdict(reader, item))?;
        rest = tail;
    }
    out.flush()
}

fn verdict(reader: u8, item: &[u8]) -> String {
    // Both languages get texts as texts; what is not UTF-8 never reaches a reader.
    let text = || core::str::from_utf8(item).unwrap_or_default();
    match reader {
        b'p' => policy(Draft::from_json(text())),
        b'b' => policy(Draft::from_bytes(item)),
        b'r' => report(Report::from_json(text())),
        b'l' => plan(PlanDraft::from_json(text())),
        b'm' => plan(PlanDraft::from_bytes(item)),
        b'n' => bytes(Response::from_json(text()).map(|response| response.to_bytes())),
        b'o' => bytes(Response::from_bytes(item).map(|response| response.to_bytes())),
        _ => report(Report::from_bytes(item)),
    }
}

fn plan(read: Result<PlanDraft, PlanDecodeError>) -> String {
    match read.map(PlanDraft::verify) {
        Ok(Ok(plan)) => format!("ok {} {}", plan.id(), attained(&plan)),
        Ok(Err(PlanRefusal::Policy { index, .. })) => format!("policy {index}"),
        Ok(Err(PlanRefusal::Claim { index, side, attained, allowed, .. })) => {
            let side = match side {
                PlanSide::Ldp => "ldp",
                PlanSide::Upper => "upper",
                PlanSide::Lower => "lower",
            };
            format!("verify {index} {side} {} {allowed}", nats(attained))
        }
        Err(error) => format!("decode {}", plan_reason(&error)),
    }
}

/// Costs, the person's LDP, and belief in every question given all and given its own answers, and in every secret.
fn attained(plan: &Plan) -> String {
    let mut parts: Vec<String> = plan.costs().iter().map(|&cost| nats(cost)).collect();
    let person = plan.person();
    parts.push(format!("{}/{}", nats(person.ldp), person.exact));
    let belief = |about, given| match plan.belief(about, given) {
        Some(Belief { upper, lower, exact, .. }) => {
            format!("{}/{}/{exact}", nats(upper), nats(lower))
        }
        None => "none".to_owned(),
    };
    for which in 0..plan.parts().questions.len() as u32 {
        parts.push(belief(Variable::Question(which), Given::All));
        parts.push(belief(Variable::Question(which), Given::Own));
    }
    for which in 0..plan.parts().secrets.len() as u32 {
        parts.push(belief(Variable::Secret(which), Given::All));
    }
    parts.join(" ")
}

fn nats(level: Option<Nats>) -> String {
    level.map_or("unbounded".to_owned(), |level| level.to_string())
}

/// The name the vectors have for a reason.
fn plan_reason(error: &PlanDecodeError) -> &'static str {
    match error {
        PlanDecodeError::NotAPlan => "not_a_plan",
        PlanDecodeError::Version { .. } => "version",
        PlanDecodeError::Json { .. } => "json",
        PlanDecodeError::Id { .. } => "id",
        PlanDecodeError::Level { .. } => "nats",
        PlanDecodeError::Row(_) | PlanDecodeError::Plan(PlanError::Law(_)) => "law",
        PlanDecodeError::Unknown { place, .. } if place.starts_with("law") => "law",
        PlanDecodeError::Unknown { .. } | PlanDecodeError::Plan(_) => "plan",
        PlanDecodeError::Policy { error, .. } | PlanDecodeError::Part(error) => reason(error),
        _ => "unknown",
    }
}

fn bytes(read: Result<Vec<u8>, DecodeError>) -> String {
    match read {
        Ok(bytes) => {
            format!("ok {}", bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>())
        }
        Err(error) => format!("decode {}", reason(&error)),
    }
}

fn policy(read: Result<Draft, DecodeError>) -> String {
    match read.map(Draft::verify) {
        Ok(Ok(policy)) => format!("ok {}", policy.id()),
        Ok(Err(refusal)) => {
            let (index, side) = (refusal.index, side(refusal.side));
            format!("verify {index} {side} {} {}", refusal.attained, refusal.allowed)
        }
        Err(error) => format!("decode {}", reason(&error)),
    }
}

fn report(read: Result<Report, DecodeError>) -> String {
    bytes(read.map(|report| report.to_bytes()))
}

fn side(side: Side) -> &'static str {
    match side {
        Side::Ldp => "ldp",
        Side::Upper => "upper",
        Side::Lower => "lower",
        Side::Di => "di",
        Side::Delta => "delta",
    }
}

/// The name the vectors have for a reason.
fn reason(error: &DecodeError) -> &'static str {
    match error {
        DecodeError::NotAPolicy => "not_a_policy",
        DecodeError::Version { .. } => "version",
        DecodeError::Truncated { .. } => "truncated",
        DecodeError::Trailing { .. } => "trailing",
        DecodeError::Tag { .. } => "tag",
        DecodeError::NotText => "not_text",
        DecodeError::NotCanonical => "not_canonical",
        DecodeError::Json { .. } => "json",
        DecodeError::Id { .. } => "id",
        DecodeError::Nats { .. } => "nats",
        DecodeError::Alphabet(_) => "alphabet",
        DecodeError::Prior(_) => "prior",
        DecodeError::Context(_) => "context",
        DecodeError::Shape(_) => "channel",
        DecodeError::Epsilon(_) => "epsilon",
        DecodeError::Delta(_) => "delta",
        DecodeError::Decimal(_) => "decimal",
        DecodeError::Draft(_) => "draft",
        _ => "unknown",
    }
}
