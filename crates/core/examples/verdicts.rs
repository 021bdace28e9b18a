//! Says what the kernel's readers make of whatever comes in: the Rust half of the differential fuzz of both readers, driven by
//! `bindings/js/test/readers.mjs`.
//!
//! Standard input is a list of items: one byte for the reader (`p` policy document, `b` policy bytes, `r` report, `s` report bytes), a
//! big-endian u32 with the number of bytes, and the bytes. Each gives one line: `ok` with the policy's id or the report's bytes,
//! `decode` with a reason of `vectors/v1/README.md`, or `verify` with the false claim.

use std::io::{Read, Write};
use undertone_core::{DecodeError, Draft, Report, Side};

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
        _ => report(Report::from_bytes(item)),
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
    match read {
        Ok(report) => {
            let hex: String = report.to_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
            format!("ok {hex}")
        }
        Err(error) => format!("decode {}", reason(&error)),
    }
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
