//! The policies that are refused, each by name, with the stage that must refuse it and why.

use super::block_edits::BLOCK_EDITS;
use super::edits::EDITS;
use super::grid::{Named, Parts, grid, keep, odds, one_unit_past, prior, table, unary};
use super::policies::named;
use super::text::{edit, hex, inline, object, quoted, without_id};
use undertone_core::{
    Alphabet, Claim, Context, Epsilon, Family, Geometry, Incidence, MASS_ONE, Ratio, Refusal,
    Shape, Side, Table,
};

/// The stable name of an inequality.
pub(crate) fn side(side: Side) -> &'static str {
    match side {
        Side::Ldp => "ldp",
        Side::Upper => "upper",
        Side::Lower => "lower",
        Side::Di => "di",
        Side::Delta => "delta",
    }
}

/// Every refused policy: its name without `bad_`, and its file.
pub(crate) fn files(accepted: &[Named]) -> Vec<(String, String)> {
    let mut files = Vec::new();
    for (name, about, expected, document) in documents(accepted) {
        let document = document.trim_end().to_string();
        files.push(decode(name, about, "document", &document, expected));
    }
    for (name, about, text) in texts(accepted) {
        files.push(decode(name, about, "text", &quoted(text), "json"));
    }
    for (name, about, expected, bytes) in byte_strings(accepted) {
        files.push(decode(name, about, "bytes", &quoted(hex(&bytes)), expected));
    }
    for (name, about, parts) in false_claims() {
        files.push(verify(name.into(), about, &parts));
    }
    for policy in grid() {
        let about = "the policy of the same name, one unit past its claim";
        files.push(verify(policy.name.clone(), about, &one_unit_past(&policy.parts)));
    }
    files
}

fn decode(
    name: &str,
    about: &str,
    form: &str,
    value: &str,
    expected: &'static str,
) -> (String, String) {
    let fields = [
        ("about", quoted(about)),
        (form, value.into()),
        ("stage", quoted("decode")),
        ("error", quoted(expected)),
    ];
    (name.into(), object(&fields) + "\n")
}

fn verify(name: String, about: &str, parts: &Parts) -> (String, String) {
    let draft = parts.draft();
    let document = draft.to_json();
    let refusal = draft.verify().err().unwrap_or_else(|| panic!("bad_{name} is accepted"));
    let fields = [
        ("about", quoted(about)),
        ("document", document),
        ("stage", quoted("verify")),
        ("refusal", refused(&refusal)),
    ];
    (name, object(&fields) + "\n")
}

fn refused(refusal: &Refusal) -> String {
    let index = |at: Option<u32>| at.map_or("null".into(), |at| at.to_string());
    let level = |ratio: Ratio| quoted(ratio);
    let cell = inline(&[
        ("output", index(refusal.cell.output)),
        ("high", index(refusal.cell.high)),
        ("low", index(refusal.cell.low)),
        ("prior", index(refusal.cell.prior)),
    ]);
    object(&[
        ("claim", refusal.index.to_string()),
        ("side", quoted(side(refusal.side))),
        ("attained", level(refusal.attained)),
        ("allowed", level(refusal.allowed)),
        ("cell", cell),
    ])
}

type Bad<T> = (&'static str, &'static str, &'static str, T);

/// Documents that are well-formed JSON and no policy. Each is an accepted one with one edit.
fn documents(accepted: &[Named]) -> Vec<Bad<String>> {
    let good = |name: &str| named(accepted, name).draft().to_json();
    let change = |name: &str, from: &str, to: &str| edit(&without_id(&good(name)), from, to);
    let mut documents: Vec<Bad<String>> = EDITS
        .iter()
        .chain(BLOCK_EDITS)
        .map(|&[name, about, error, base, from, to]| (name, about, error, change(base, from, to)))
        .collect();
    let table = good("table_unknown_ldp");
    let id = named(accepted, "table_unknown_ldp").id().to_string();
    let other = named(accepted, "keep_unknown_ldp").id().to_string();
    let weaker = "{\"nats\":\"1.3862943612\",\"odds\":[4,1]}";
    let most = good("conjunction_16");
    let claim = most.lines().find(|line| line.contains("\"notion\"")).expect("a claim");
    let one_more = format!("\"claims\": [\n{claim}\n");
    let source = format!("\"source\":\"{}\"", "x".repeat(501));
    // The values of the fields, in the order in which they are written.
    let listed = without_id(&good("minimal")).lines().fold(String::new(), |list, line| {
        let value = line.strip_prefix("  \"").and_then(|field| field.split_once("\": "));
        list + value.map_or(line, |(_, value)| value) + "\n"
    });
    let listed = edit(&format!("[{}]", &listed[1..listed.len() - 2]), "[\n\"policy/1\",", {
        "[\n\"policy/1\", null,"
    });
    let listed = edit(&listed, "{\"indices\":2},", "{\"indices\":2}, null,");
    documents.extend([
        ("id", "a stated id that is not the content's", "id", edit(&table, &id, &other)),
        ("id_capital", "the right id in capitals", "id", edit(&table, &id, &id.to_uppercase())),
        ("id_of_other_content", "content changed under its id: the claim is weaker", "id", {
            edit(&table, "{\"nats\":\"1.0986122887\",\"odds\":[3,1]}", weaker)
        }),
        ("claims_17", "one claim too many", "draft", {
            edit(&without_id(&most), "\"claims\": [\n", &one_more)
        }),
        ("provenance_source", "a source of 501 bytes", "draft", {
            change("table_unknown_ldp", "\"source\":\"\"", &source)
        }),
        ("list_policy", "a policy as the list of its fields' values", "json", listed),
    ]);
    documents
}

/// Texts that are not one JSON object.
fn texts(accepted: &[Named]) -> Vec<(&'static str, &'static str, String)> {
    let good = named(accepted, "minimal").draft().to_json();
    let blocks = named(accepted, "subsets_unknown_ldp").draft().to_json();
    vec![
        ("text_repeated_size", "the same size of subsets twice", {
            blocks.replace("\"size\":2", "\"size\":2,\"size\":2")
        }),
        ("text_repeated_family", "the same kind of family twice", {
            blocks.replace("\"kind\":\"subsets\"", "\"kind\":\"subsets\",\"kind\":\"subsets\"")
        }),
        ("text_coin_point", "a coin with a point", {
            blocks.replace("\"coin\":211106232532992", "\"coin\":211106232532992.0")
        }),
        ("text_empty", "nothing", String::new()),
        ("text_list", "a list", "[]".into()),
        (
            "text_truncated",
            "a document without its last brace",
            good.trim_end()[..good.trim_end().len() - 1].into(),
        ),
        ("text_trailing", "a document with a word behind it", format!("{good}true")),
        ("text_comma", "a comma too many", good.replace("\n}", ",\n}")),
        ("text_nan", "a mass that is not a number", good.replacen("[211106232532992,", "[NaN,", 1)),
        ("text_point", "odds of 3.0", good.replace("\"odds\":[3,", "\"odds\":[3.0,")),
        ("text_exponent", "odds of 3e0", good.replace("\"odds\":[3,", "\"odds\":[3e0,")),
        ("text_minus_zero", "a delta of -0", good.replace("\"delta\":0", "\"delta\":-0")),
        ("text_mark", "a byte-order mark before the document", format!("\u{feff}{good}")),
        ("text_repeated", "the same version twice", {
            good.replace("  \"undertone\"", "  \"undertone\": \"policy/1\",\n  \"undertone\"")
        }),
        ("text_repeated_kind", "the same kind of context twice", {
            good.replace("\"kind\":\"unknown\"", "\"kind\":\"unknown\",\"kind\":\"unknown\"")
        }),
        ("text_repeated_escaped", "the same delta twice, once in escaped letters", {
            good.replace("\"delta\":0", "\"delta\":0,\"d\\u0065lta\":0")
        }),
        ("text_surrogate", "half a surrogate pair in the source", {
            good.replace("\"source\":\"\"", "\"source\":\"\\ud83d\"")
        }),
    ]
}

/// Bytes that are not the canonical bytes of a policy.
fn byte_strings(accepted: &[Named]) -> Vec<Bad<Vec<u8>>> {
    let good = |name: &str| named(accepted, name).draft().to_bytes();
    // The layout of the policies used: a header of 17 bytes, the input alphabet, the outputs' flag.
    let plain = good("table_unknown_ldp");
    let (alphabet, flag, shape) = (17, 22, 23);
    let context = shape + 9 + 9 * 8;
    let claim = context + 2;
    let provenance = claim + 18;
    let set = |bytes: &[u8], at: usize, new: &[u8]| {
        let mut bytes = bytes.to_vec();
        bytes[at..at + new.len()].copy_from_slice(new);
        bytes
    };
    let named = good("alphabet_names");
    let bins = good("alphabet_bins");
    let boxed = good("table_box_lip");
    let keep = good("keep_unknown_ldp");
    let ends = shape + 9 + 9 * 8 + 5;
    // Symbols and coin take 12 bytes behind the shape's own.
    let (fractions, blocks, design) =
        (good("fraction_unknown_ldp"), good("hashing_unknown_ldp"), good("listed_unknown_ldp"));
    let family = shape + 13;
    let with_confidence = good("provenance");
    let confidence = with_confidence.len() - 18;
    let cut = |count: usize| plain[..plain.len() - count].to_vec();
    let ten = set(&bins, 22, &(-400i64).to_be_bytes());
    assert_eq!(bins[22..31], [&(-40i64).to_be_bytes()[..], &[0]].concat(), "the first edge");
    vec![
        ("bytes_empty", "no bytes", "truncated", vec![]),
        ("bytes_truncated", "the last byte is missing", "truncated", cut(1)),
        ("bytes_truncated_row", "the bytes end in the table", "truncated", plain[..60].to_vec()),
        ("bytes_trailing", "one byte too many", "trailing", [&plain[..], &[0]].concat()),
        ("bytes_magic", "another kind of file", "not_a_policy", set(&plain, 0, b"U")),
        ("bytes_version", "a version of the future", "version", set(&plain, 16, &[2])),
        ("bytes_alphabet_kind", "an alphabet there is not", "tag", set(&plain, alphabet, &[4])),
        ("bytes_outputs_flag", "a flag that is neither 0 nor 1", "tag", set(&plain, flag, &[2])),
        ("bytes_shape_kind", "a shape there is not", "tag", set(&plain, shape, &[4])),
        ("bytes_no_outputs", "a table of 2^32-1 rows without outputs", "truncated", {
            set(&plain, shape + 1, &[0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0])
        }),
        ("bytes_huge_table", "a table of 2^32-1 rows and columns", "truncated", {
            set(&plain, shape + 1, &[0xff; 8])
        }),
        (
            "bytes_huge_keep",
            "2^32-1 keep probabilities",
            "truncated",
            set(&keep, shape + 1, &[0xff; 4]),
        ),
        ("bytes_huge_names", "2^32-1 names", "truncated", set(&named, alphabet + 1, &[0xff; 4])),
        ("bytes_row_sum", "a row one unit over", "channel", {
            set(&plain, shape + 9, &(158_329_674_399_745u64).to_be_bytes())
        }),
        ("bytes_row_sum_wraps", "a row that sums to one only modulo 2^64", "channel", {
            let row = [1 << 63, 1 << 63, MASS_ONE].map(u64::to_be_bytes).concat();
            set(&plain, shape + 9, &row)
        }),
        ("bytes_context_kind", "a context there is not", "tag", set(&plain, context, &[5])),
        ("bytes_about", "a claim about someone else", "tag", set(&plain, claim, &[2])),
        ("bytes_notion", "a notion there is not", "tag", set(&plain, claim + 1, &[3])),
        ("bytes_odds", "odds below one", "epsilon", set(&plain, claim + 2, &[0, 0, 0, 0])),
        (
            "bytes_delta",
            "a delta of one",
            "delta",
            set(&plain, claim + 10, &MASS_ONE.to_be_bytes()),
        ),
        ("bytes_no_claims", "no claim", "draft", {
            [&plain[..claim - 1], &[0], &plain[provenance..]].concat()
        }),
        ("bytes_confidence_flag", "a flag that is neither 0 nor 1", "tag", {
            set(&with_confidence, confidence, &[2])
        }),
        ("bytes_scale", "a decimal with nineteen places", "decimal", {
            set(&with_confidence, confidence + 9, &[19])
        }),
        ("bytes_rounding", "a rounding of 2^53", "draft", {
            set(&plain, plain.len() - 8, &(1u64 << 53).to_be_bytes())
        }),
        ("bytes_n", "2^53 observations", "draft", {
            set(&plain, provenance + 4, &(1u64 << 53).to_be_bytes())
        }),
        ("bytes_not_utf8", "a name that is not UTF-8", "not_text", set(&named, 26, &[0xff])),
        ("bytes_decimal_too_long", "a decimal of nineteen digits", "decimal", {
            set(&bins, 22, &(-1_000_000_000_000_000_000i64).to_be_bytes())
        }),
        (
            "bytes_decimal_zeros",
            "a decimal with a zero too many: -40.0 for -40",
            "not_canonical",
            { set(&ten, 30, &[1]) },
        ),
        ("bytes_family_kind", "a family there is not", "tag", set(&blocks, family, &[4])),
        ("bytes_family_zero", "a flag that is neither 0 nor 1", "tag", {
            set(&fractions, family + 17, &[2])
        }),
        ("bytes_family_truncated", "the bytes end in the family", "truncated", {
            blocks[..family + 3].to_vec()
        }),
        ("bytes_huge_blocks", "2^32-1 blocks", "truncated", set(&design, family + 1, &[0xff; 4])),
        ("bytes_huge_block", "a block of 2^32-1 members", "truncated", {
            set(&design, family + 5, &[0xff; 4])
        }),
        ("bytes_block_order", "a block that begins with its second member", "channel", {
            set(&design, family + 13, &[0, 0, 0, 1])
        }),
        ("bytes_coin", "a coin one unit above one", "channel", {
            set(&blocks, shape + 5, &(MASS_ONE + 1).to_be_bytes())
        }),
        ("bytes_upper_end", "an upper end above one, which is cut to one", "not_canonical", {
            set(&boxed, ends + 3 * 8, &(1u64 << 33).to_be_bytes())
        }),
    ]
}

/// Claims that are false by more than a unit, or in a way the grid does not show.
fn false_claims() -> Vec<(&'static str, &'static str, Parts)> {
    let half = || Context::Known(prior(1, &[1, 1]));
    let two = |rows: [[u64; 2]; 2]| {
        Shape::Table(Table::from_masses(rows.map(|row| row.to_vec()).to_vec()).expect("a table"))
    };
    let middle = MASS_ONE / 2;
    let identity = || table(0, &[&[1, 0], &[0, 1]]);
    let ldp = |n, d| vec![Claim::ldp(odds(n, d))];
    vec![
        ("identity", "the input itself", Parts::plain(identity(), half(), ldp(u32::MAX, 1))),
        ("identity_lip", "the input itself: belief rises by ln 2 and falls without bound", {
            Parts::plain(identity(), half(), vec![Claim::lip(odds(2, 1))])
        }),
        ("zero_epsilon", "two rows that differ by one unit, claimed equal", {
            let shape = two([[middle + 1, middle - 1], [middle, middle]]);
            Parts::plain(shape, Context::Unknown, vec![Claim::ldp(Epsilon::ZERO)])
        }),
        ("second_claim", "the first claim holds, the second does not", {
            let shape = table(2, &[&[3, 1], &[1, 3]]);
            Parts::plain(shape, half(), vec![Claim::ldp(odds(3, 1)), Claim::lip(odds(3, 2))])
        }),
        ("zero_weight", "false only for a symbol without weight", {
            let shape = table(3, &[&[4, 4], &[4, 4], &[1, 7]]);
            let context = Context::Known(prior(2, &[3, 1, 0]));
            let outputs = Some(Alphabet::indices(2).expect("a size"));
            Parts { outputs, ..Parts::plain(shape, context, vec![Claim::lip(odds(2, 1))]) }
        }),
        ("keep_always", "a symbol that is always kept", {
            Parts::plain(keep(2, &[4, 1], &[2, 2]), half(), ldp(u32::MAX, 1))
        }),
        ("bits_certain", "the own bit is always set", {
            Parts::plain(unary(3, 1, 2, 1), Context::Unknown, ldp(u32::MAX, 1))
        }),
        (
            "bits_per_bit",
            "epsilon per bit instead of per symbol: the own and the other bit both speak",
            { Parts::plain(unary(4, 2, 3, 1), Context::Unknown, ldp(3, 1)) },
        ),
        ("blocks_certain", "the block always contains the symbol", {
            let family = Family::Geometry(Geometry::new(2, 2, 1, 0, true).expect("a geometry"));
            let shape = Incidence::new(3, MASS_ONE, family).expect("blocks");
            Parts::plain(Shape::Incidence(shape), Context::Unknown, ldp(u32::MAX, 1))
        }),
        ("blocks_uniform", "equal but for the unevenness of the index, claimed equal", {
            // A quarter of four blocks contains each symbol.
            let family = Family::Geometry(Geometry::new(3, 2, 1, 0, true).expect("a geometry"));
            let shape = Incidence::new(4, MASS_ONE / 4, family).expect("blocks");
            let claims = vec![Claim::ldp(Epsilon::ZERO)];
            Parts::plain(Shape::Incidence(shape), Context::Unknown, claims)
        }),
        ("box_midpoint", "holds for the middle of the box, not for its worst prior", {
            let lower = super::grid::weights(3, &[1, 1, 1]);
            let upper = super::grid::weights(3, &[6, 6, 6]);
            let within = undertone_core::PriorBox::new(lower, upper).expect("a box");
            let shape = table(3, &[&[4, 2, 2], &[2, 4, 2], &[2, 2, 4]]);
            Parts::plain(shape, Context::Within(within), vec![Claim::lip(odds(3, 2))])
        }),
    ]
}
