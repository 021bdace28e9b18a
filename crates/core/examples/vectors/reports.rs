//! Reports: from given bytes, through both encodings, and refused.

use super::draws::token;
use super::grid::Named;
use super::policies::named;
use super::stream::{Mix, Stream};
use super::text::{edit, hex, object, quoted};
use undertone_core::{Consent, Ledger, Nats, Policy, Report, ReportId, Sequence, Token};

/// Every file of reports.
pub(crate) fn files(accepted: &[Named]) -> Vec<(String, String)> {
    let mut files = Vec::new();
    let mut mix = Mix(5);
    for (file, name, symbol) in [
        ("table", "table_prior_lip", 1),
        ("keep", "keep_300", 299),
        ("bits", "bits_11", 10),
        ("names", "alphabet_names_outputs", 0),
        ("unbounded", "watchdog_three", 4),
        ("block", "blocks_fano", 6),
        ("block_million", "blocks_million", 777_777),
        ("subset", "blocks_subsets_11", 10),
    ] {
        let policy = named(accepted, name);
        let stream = mix.bytes(64);
        let (report, consumed) = randomize(&policy, symbol, &stream);
        let fields = [
            ("policy", quoted(format!("{name}.json"))),
            ("symbol", symbol.to_string()),
            ("stream", quoted(hex(&stream))),
            ("consumed", consumed.to_string()),
            token(&report.token),
            ("report", report.to_json()),
            ("bytes", quoted(hex(&report.to_bytes()))),
        ];
        files.push((file.into(), object(&fields) + "\n"));
    }
    files.extend(undecodable(accepted));
    files.extend(foreign(accepted));
    files
}

fn randomize(policy: &Policy, symbol: usize, stream: &[u8]) -> (Report, usize) {
    let mut ledger = Ledger::new(Nats::from_units(u64::MAX));
    let permit =
        ledger.spend("answer", policy, &Sequence::new(), &Consent::UNLIMITED).expect("a budget");
    let x = policy.draft().inputs().symbol(symbol).expect("a symbol");
    let mut rng = Stream::new(stream);
    let report = policy.randomize(x, permit, &mut rng).expect("a report");
    (report, rng.consumed)
}

/// A report about output `index` of a policy, with a fixed id.
fn plain(policy: &Policy, token: Token) -> Report {
    Report { policy: policy.id(), id: ReportId(*b"sixteen bytes id"), token }
}

fn undecodable(accepted: &[Named]) -> Vec<(String, String)> {
    let index = plain(&named(accepted, "table_prior_lip"), Token::Index(2));
    let bits = plain(&named(accepted, "bits_11"), Token::Bits([0xa5, 0x60].into()));
    let (bytes, json) = (index.to_bytes(), index.to_json());
    let with = |at: usize, byte: u8| {
        let mut bytes = bytes.clone();
        bytes[at] = byte;
        bytes
    };
    let capital = index.policy.to_string();
    let letter = capital.find(|c: char| c.is_ascii_lowercase()).expect("a letter");
    let (head, tail) = capital.split_at(letter);
    let capital = format!("{head}{}{}", tail[..1].to_uppercase(), &tail[1..]);
    let in_bytes = [
        ("bytes_empty", "no bytes", "truncated", vec![]),
        ("bytes_version", "a version of the future", "version", with(0, 2)),
        ("bytes_truncated", "the last byte is missing", "truncated", bytes[..53].to_vec()),
        ("bytes_no_token", "the bytes end before the token", "truncated", bytes[..49].to_vec()),
        ("bytes_trailing", "one byte too many", "trailing", [&bytes[..], &[0]].concat()),
        ("bytes_token_kind", "a token that is neither index nor bits", "tag", with(49, 2)),
    ];
    let in_json = [
        ("version", "a version of the future", "version", edit(&json, "report/1", "report/2")),
        ("policy_id_short", "63 digits", "json", edit(&json, &index.policy.to_string()[1..], "")),
        ("policy_id_capital", "a capital digit", "json", {
            edit(&json, &index.policy.to_string(), &capital)
        }),
        ("id_short", "31 digits", "json", edit(&json, &index.id.to_string(), &"0".repeat(31))),
        ("token_negative", "a negative token", "json", edit(&json, "\"token\":2", "\"token\":-2")),
        ("token_fraction", "a token with a fraction", "json", {
            edit(&json, "\"token\":2", "\"token\":2.5")
        }),
        ("token_too_wide", "a token of 2^32", "json", {
            edit(&json, "\"token\":2", "\"token\":4294967296")
        }),
        ("token_missing", "no token", "json", edit(&json, ",\"token\":2", "")),
        ("token_twice", "an index and bits", "json", {
            edit(&json, "\"token\":2", "\"token\":2,\"bits\":\"80\"")
        }),
        ("bits_half_byte", "three digits of bits", "json", edit(&bits.to_json(), "a560", "a56")),
        ("bits_not_hex", "bits in other letters", "json", edit(&bits.to_json(), "a560", "a5zz")),
        ("bits_capital", "bits in capitals", "json", edit(&bits.to_json(), "a560", "A560")),
        ("field_unknown", "a symbol beside the token", "json", {
            edit(&json, "\"token\":2", "\"token\":2,\"symbol\":1")
        }),
        ("list", "a report as the list of its fields' values", "json", {
            format!("[\"report/1\",\"{}\",\"{}\",2,null]", index.policy, index.id)
        }),
    ];
    let file = |name: &str, about: &str, form: &str, value: String, error: &str| {
        let fields = [
            ("about", quoted(about)),
            (form, value),
            ("stage", quoted("decode")),
            ("error", quoted(error)),
        ];
        (format!("bad_{name}"), object(&fields) + "\n")
    };
    let mut files = Vec::new();
    for (name, about, error, bytes) in in_bytes {
        files.push(file(name, about, "bytes", quoted(hex(&bytes)), error));
    }
    for (name, about, error, json) in in_json {
        files.push(file(name, about, "report", json, error));
    }
    let in_text = [
        ("text_trailing", "two reports in one text", format!("{json}{json}")),
        ("text_repeated", "the same token twice", {
            edit(&json, "\"token\":2", "\"token\":2,\"token\":2")
        }),
        ("text_point", "a token of 2.0", edit(&json, "\"token\":2", "\"token\":2.0")),
        ("text_mark", "a byte-order mark before the report", format!("\u{feff}{json}")),
    ];
    for (name, about, text) in in_text {
        files.push(file(name, about, "text", quoted(text), "json"));
    }
    files
}

/// Reports that decode and do not belong to their policy.
fn foreign(accepted: &[Named]) -> Vec<(String, String)> {
    let table = || named(accepted, "table_prior_lip");
    let bits = || named(accepted, "bits_11");
    let packed = |bytes: &[u8]| Token::Bits(bytes.into());
    let lines = || named(accepted, "blocks_fano");
    let four = || named(accepted, "blocks_subsets_11");
    let cases = [
        ("block_outside", "a block past the last", "token", "blocks_fano", {
            plain(&lines(), Token::Index(7))
        }),
        ("block_bits", "a block as bits", "token", "blocks_fano", plain(&lines(), packed(&[0xe0]))),
        ("subset_index", "an index for subsets", "token", "blocks_subsets_11", {
            plain(&four(), Token::Index(0))
        }),
        ("subset_few", "three of eleven where four are released", "token", "blocks_subsets_11", {
            plain(&four(), packed(&[0xe0, 0]))
        }),
        ("subset_many", "five of eleven", "token", "blocks_subsets_11", {
            plain(&four(), packed(&[0xf8, 0]))
        }),
        ("subset_spare", "four bits, one of them spare", "token", "blocks_subsets_11", {
            plain(&four(), packed(&[0xe0, 0x10]))
        }),
        ("subset_short", "a byte is missing", "token", "blocks_subsets_11", {
            plain(&four(), packed(&[0xf0]))
        }),
        ("other_policy", "drawn under another policy", "policy", "table_prior_lip", {
            plain(&named(accepted, "keep_prior_lip"), Token::Index(2))
        }),
        ("token_outside", "an index past the outputs", "token", "table_prior_lip", {
            plain(&table(), Token::Index(3))
        }),
        ("token_bits", "bits for a table", "token", "table_prior_lip", {
            plain(&table(), packed(&[0x80]))
        }),
        ("token_index", "an index for bits", "token", "bits_11", plain(&bits(), Token::Index(0))),
        ("bits_short", "a byte of bits is missing", "token", "bits_11", {
            plain(&bits(), packed(&[0xa5]))
        }),
        ("bits_long", "a byte of bits too many", "token", "bits_11", {
            plain(&bits(), packed(&[0xa5, 0x60, 0]))
        }),
        ("bits_none", "no bits at all", "token", "bits_11", plain(&bits(), packed(&[]))),
        ("bits_spare", "a spare bit is set", "token", "bits_11", {
            plain(&bits(), packed(&[0xa5, 0x70]))
        }),
    ];
    let file = |(name, about, error, policy, report): (&str, &str, &str, &str, Report)| {
        let fields = [
            ("about", quoted(about)),
            ("policy", quoted(format!("{policy}.json"))),
            ("report", report.to_json()),
            ("bytes", quoted(hex(&report.to_bytes()))),
            ("stage", quoted("accept")),
            ("error", quoted(error)),
        ];
        (format!("bad_{name}"), object(&fields) + "\n")
    };
    cases.into_iter().map(file).collect()
}
