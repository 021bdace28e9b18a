//! `vectors/hitters-1.json`: what every reader of a `hitters/1` document accepts, refuses, hashes and draws. Python and JavaScript read the
//! same file. `UNDERTONE_WRITE_VECTORS=1` writes it anew.

use std::convert::Infallible;

use rand_core::{TryCryptoRng, TryRng};
use serde_json::{Value, json};
use undertone::hitters::{HittersPlan, HittersRequest, Longer, NotReported, design};

/// Gives out these bytes and no more.
struct Bytes(Vec<u8>);

impl TryRng for Bytes {
    type Error = Infallible;
    fn try_next_u32(&mut self) -> Result<u32, Self::Error> {
        panic!("only bytes are read")
    }
    fn try_next_u64(&mut self) -> Result<u64, Self::Error> {
        panic!("only bytes are read")
    }
    fn try_fill_bytes(&mut self, to: &mut [u8]) -> Result<(), Self::Error> {
        let rest = self.0.split_off(to.len());
        to.copy_from_slice(&self.0);
        self.0 = rest;
        Ok(())
    }
}

impl TryCryptoRng for Bytes {}

/// Bytes that look like any.
fn bytes(count: usize, from: usize) -> Vec<u8> {
    let byte = |at: usize| {
        ((at as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15 ^ ((from as u64) << 40)) >> 37) as u8
    };
    (0..count).map(byte).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Documents, with values that have a code and some that have none.
type Case = (&'static str, &'static str, Longer, &'static [&'static str], &'static [&'static str]);

const CASES: [Case; 5] = [
    ("text:4", "1", Longer::Refuse, &["", "a", "abcd", "日", "é\0"], &["abcde", "日本"]),
    ("text:3", "2", Longer::Cut, &["", "abcd", "日本", "ab日"], &[]),
    (
        "letters:a-f.-:6",
        "1",
        Longer::Refuse,
        &["", "f", "a-.", "abcdef"],
        &["g", "abcdefa", "gaaaaaaaa"],
    ),
    ("letters:日本a:5", "0.5", Longer::Cut, &["日", "本本本本本本"], &["b"]),
    (
        "integers:12",
        "3",
        Longer::Refuse,
        &["0", "7", "4095", "0012"],
        &["4096", "-1", "", "1.0", "99999999999999999999999"],
    ),
];

/// Changes of the first document's text, each of which makes it refused.
const BROKEN: [(&str, &str); 16] = [
    ("hitters/1", "hitters/2"),
    ("\"text:4\"", "\"text:5\""),
    ("\"text:4\"", "\"text:04x\""),
    ("\"text:4\"", "\"letters:a-z:4\""),
    ("\"refuse\"", "\"cut\""),
    ("\"refuse\"", "\"drop\""),
    ("\"refuse\"", "1"),
    ("    32\n", "    24,\n    32\n"),
    ("    16,\n    32\n", "    32\n"),
    ("    16,\n", "    12,\n"),
    ("    16,\n", "    16.0,\n"),
    ("    16,\n", "    16,\n    16,\n"),
    ("\"plan\": {", "\"extra\": 1,\n  \"plan\": {"),
    ("\"plan\": {", "\"plan\": {\"extra\": 1,"),
    ("\"asked\": 1", "\"asked\": 2"),
    ("\"wording\": \"The first", "\"wording\": \"The last"),
];

fn accepted((values, level, longer, good, bad): Case) -> Value {
    let request = HittersRequest {
        longer,
        ..HittersRequest::new(values.parse().unwrap(), format!("ldp:{level}").parse().unwrap())
    };
    let plan = design(&request).unwrap().plan;
    let rounds = plan.prefixes().len();
    let place = |symbol| {
        let inputs = plan.policy().inputs();
        (0..inputs.len()).find(|&x| inputs.symbol(x).unwrap() == symbol)
    };
    let hashes = good.iter().enumerate().flat_map(|(at, value)| {
        (0..rounds)
            .map(move |round| (at, round, value))
            .map(|(at, round, value)| {
                let seed = bytes(plan.seed_bytes(), 16 * at + round);
                let symbol = place(plan.symbol(round, &seed, value).unwrap());
                json!({ "round": round, "seed": hex(&seed), "value": value, "symbol": symbol })
            })
            .collect::<Vec<_>>()
    });
    let refused = |value: &&&str| {
        let seed = bytes(plan.seed_bytes(), 0);
        let why = plan.symbol(0, &seed, value).unwrap_err();
        let drawn = plan.report(value, &mut Bytes(bytes(4096, 0)));
        assert!(matches!(drawn, Err(NotReported::Value(same)) if same == why));
        json!({ "value": value, "reason": match why {
            undertone::hitters::NoCode::TooLong => "long",
            undertone::hitters::NoCode::Letter => "letter",
            undertone::hitters::NoCode::NotANumber => "number",
            undertone::hitters::NoCode::TooLarge => "large",
        } })
    };
    let draws = good.iter().enumerate().map(|(at, value)| {
        let given = bytes(4096, 1000 + at);
        let mut random = Bytes(given.clone());
        let report = plan.report(value, &mut random).unwrap();
        let read = given.len() - random.0.len();
        json!({ "random": hex(&given[..read]), "value": value, "report": plan.write(&report) })
    });
    json!({
        "values": values,
        "document": plan.to_json(),
        "id": plan.id().to_string(),
        "prefixes": plan.prefixes(),
        "hash_bits": plan.support().hash_bits(),
        "seed_bits": plan.seed_bits(),
        "report_bytes": plan.report_bytes(),
        "hashes": hashes.collect::<Vec<_>>(),
        "no_code": bad.iter().map(|value| refused(&value)).collect::<Vec<_>>(),
        "draws": draws.collect::<Vec<_>>(),
    })
}

#[test]
fn the_vectors_are_those_that_are_kept() {
    let good: Vec<Value> = CASES.into_iter().map(accepted).collect();
    let text = good[0]["document"].as_str().unwrap();
    for (from, to) in BROKEN {
        assert!(text.contains(from), "{from}");
        assert!(HittersPlan::from_json("x", &text.replacen(from, to, 1)).is_err(), "{to}");
    }
    let bad = BROKEN.map(|(from, to)| json!({ "from": from, "to": to })).to_vec();
    let about = "Documents hitters/1 that every reader accepts, with the hashes of values by seeds, the values that have no code, and reports drawn from given random bytes; and changes of the first document's text (the first occurrence of `from`) that make it refused.";
    let all = json!({ "about": about, "good": good, "bad": bad });
    let written = serde_json::to_string_pretty(&all).unwrap() + "\n";
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/hitters-1.json");
    if std::env::var_os("UNDERTONE_WRITE_VECTORS").is_some() {
        std::fs::write(path, &written).unwrap();
    }
    let kept = std::fs::read_to_string(path).unwrap();
    assert!(kept == written, "vectors/hitters-1.json is not what this build writes");
    for one in good {
        let text = one["document"].as_str().unwrap();
        assert_eq!(HittersPlan::from_json("x", text).unwrap().id().to_string(), one["id"]);
    }
}
