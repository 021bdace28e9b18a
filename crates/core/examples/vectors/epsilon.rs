//! Privacy levels: decimal text to odds, and odds to the nats people read.

use super::text::{inline, list, object, quoted};
use undertone_core::Epsilon;

/// The file of levels.
pub(crate) fn file() -> String {
    let texts = [
        "0",
        "0.0",
        "0.",
        ".5",
        "000000000.5",
        "0.5",
        "0.1",
        "0.01",
        "0.001",
        "0.3",
        "0.2",
        "0.7",
        "1",
        "1.0000000000",
        "1.5",
        "2",
        "3",
        "4",
        "5",
        "8",
        "10",
        "15",
        "20",
        "22",
        "22.18",
        "0.0000000001",
        "0.0000000002",
        "0.000001",
        "0.69314718055",
        "0.69314718056",
        "0.6931471805599999999999999",
        "1.0986122886",
        "1.0986122887",
        "1.09861228879",
        "22.1807097776",
        "22.1807097777",
        "0.123456789012345678901234567890",
    ];
    let parsed = texts.map(|text| {
        let level = Epsilon::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        inline(&[("text", quoted(text)), ("odds", pair(level)), ("nats", quoted(level))])
    });
    let odds = [
        (1, 1),
        (2, 2),
        (2, 1),
        (3, 1),
        (3, 2),
        (25, 12),
        (4_294_967_295, 1),
        (4_294_967_295, 4_294_967_294),
        (4_294_967_295, 4_294_967_295),
        (4_000_000_000, 1_471_517_765),
        (4_294_967_295, 2_147_483_648),
        (2_147_483_648, 1),
        (1_048_577, 1_048_576),
        (65_537, 65_535),
    ];
    let written = odds.map(|(n, d)| {
        let level = Epsilon::from_odds(n, d).expect("odds");
        inline(&[("odds", pair(level)), ("nats", quoted(level))])
    });
    let bad_texts = [
        ("", "not_nats"),
        (".", "not_nats"),
        ("-1", "not_nats"),
        ("+1", "not_nats"),
        ("1e0", "not_nats"),
        ("NaN", "not_nats"),
        ("inf", "not_nats"),
        (" 1", "not_nats"),
        ("1 ", "not_nats"),
        ("1,5", "not_nats"),
        ("1.2.3", "not_nats"),
        ("0x1", "not_nats"),
        ("१", "not_nats"),
        ("1000000000", "not_nats"),
        ("0000000000", "not_nats"),
        ("22.1807097778", "too_large"),
        ("23", "too_large"),
        ("999999999", "too_large"),
    ];
    let bad_texts = bad_texts.map(|(t, e)| inline(&[("text", quoted(t)), ("error", quoted(e))]));
    let bad_odds = [(0u32, 0u32), (1, 0), (0, 1), (1, 2), (4_294_967_294, 4_294_967_295)];
    let bad_odds = bad_odds.map(|(n, d)| format!("[{n}, {d}]"));
    let fields = [
        ("parsed", list(parsed)),
        ("written", list(written)),
        ("bad_texts", list(bad_texts)),
        ("bad_odds", list(bad_odds)),
    ];
    object(&fields) + "\n"
}

fn pair(level: Epsilon) -> String {
    let (numerator, denominator) = level.odds();
    format!("[{numerator}, {denominator}]")
}
