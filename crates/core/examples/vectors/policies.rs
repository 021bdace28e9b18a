//! The policies that are accepted: the grid, and what the grid does not reach.

use super::grid::{
    Named, Parts, grid, keep, least_delta, odds, prior, secret, table, unary, weights,
};
use super::stream::Mix;
use super::text::{hex, inline, object, quoted, without_id};
use undertone_core::{
    Alphabet, Bound, Claim, Context, Decimal, Delta, Epsilon, Keep, LeastDelta, MASS_ONE, Nats,
    Policy, Prior, PriorBox, Priors, Provenance, Ratio, Secret, Shape, Strength, Subject, Table,
    WEIGHT_ONE, Worst,
};

/// All accepted policies.
pub(crate) fn accepted() -> Vec<Named> {
    let mut all = grid();
    all.extend(alphabets());
    all.extend(corners());
    all.extend(large());
    all.extend(several_claims());
    all.extend(watchdogs());
    all.extend(super::blocks::policies());
    all.extend(super::sequences::policies());
    all
}

/// The verified policy with this name.
pub(crate) fn named(accepted: &[Named], name: &str) -> Policy {
    let found = accepted.iter().find(|policy| policy.name == name);
    let parts = &found.unwrap_or_else(|| panic!("no policy {name}")).parts;
    parts.draft().verify().expect("an accepted policy")
}

/// The text of a policy's file.
pub(crate) fn file(policy: &Named) -> String {
    let draft = policy.parts.draft();
    // One document leaves out everything that may be left out.
    let document = match policy.name.as_str() {
        "minimal" => shortest(&draft.to_json()),
        _ => draft.to_json(),
    };
    let bytes = draft.to_bytes();
    let verified = draft.verify().unwrap_or_else(|refusal| panic!("{}: {refusal}", policy.name));
    let certificate = verified.certificate();
    let secret = certificate.secret.as_ref().map_or("null".into(), strength);
    let deltas: Vec<String> = certificate.deltas.iter().map(least).collect();
    let attained = object(&[
        ("input", strength(&certificate.input)),
        ("secret", secret),
        ("deltas", format!("[{}]", deltas.join(", "))),
    ]);
    let fields = [
        ("about", quoted(&policy.about)),
        ("document", document),
        ("bytes", quoted(hex(&bytes))),
        ("id", quoted(verified.id())),
        ("attained", attained),
    ];
    object(&fields) + "\n"
}

fn shortest(document: &str) -> String {
    let kept = without_id(document);
    let kept: Vec<&str> = kept.lines().filter(|l| !l.starts_with("  \"provenance\": ")).collect();
    kept.join("\n").replace(",\"delta\":0", "")
}

fn level(ratio: Ratio) -> String {
    let nats = ratio.ln_up().map_or("unbounded".into(), |nats| nats.to_string());
    inline(&[("ratio", quoted(ratio)), ("nats", quoted(nats))])
}

fn strength(strength: &Strength) -> String {
    let side = |worst: Option<Worst>| worst.map_or("null".into(), |worst| level(worst.ratio));
    object(&[
        ("ldp", level(strength.ldp.ratio)),
        ("upper", side(strength.upper)),
        ("lower", side(strength.lower)),
        ("exact", strength.exact.to_string()),
    ])
}

fn least(delta: &Option<LeastDelta>) -> String {
    delta.map_or("null".into(), |least| {
        inline(&[("ratio", quoted(least.ratio)), ("bound", least.bound.to_string())])
    })
}

/// A policy of the vectors.
pub(crate) fn name(name: &str, about: &str, parts: Parts) -> Named {
    Named { name: name.into(), about: about.into(), parts }
}

fn decimals(texts: &[&str]) -> Vec<Decimal> {
    texts.iter().map(|text| text.parse().expect("a decimal")).collect()
}

fn alphabets() -> Vec<Named> {
    let square = || table(2, &[&[3, 1], &[1, 3]]);
    let wide = || table(3, &[&[4, 2, 1, 1], &[1, 2, 4, 1]]);
    let claims = || vec![Claim::ldp(odds(4, 1))];
    let with = |shape: Shape, inputs: Alphabet, outputs: Option<Alphabet>| Parts {
        inputs,
        outputs,
        ..Parts::plain(shape, Context::Unknown, claims())
    };
    let names = || Alphabet::names(["yes", "no"]).expect("names");
    let bins = || {
        let (edges, values) = (decimals(&["-40", "0", "55.5"]), decimals(&["-3.25", "18"]));
        Alphabet::bins(edges, values).expect("bins")
    };
    let points =
        Alphabet::points(decimals(&["-1.5", "0", "0.000000000000000001", "123456789012345678"]));
    let unicode = Alphabet::names(["été", "冬", "\"quoted\" \\ \u{1}", "🜁 air"]);
    let filled = Provenance {
        source: "round 1 of the \"commute\" survey, Zürich".into(),
        n: 9_007_199_254_740_991,
        date: "2026-02-28".into(),
        confidence: Some("0.95".parse().expect("a decimal")),
        rounding: 12_345,
    };
    let known = Context::Known(prior(2, &[3, 1]));
    vec![
        name("alphabet_names", "names, outputs are the inputs", with(square(), names(), None)),
        name(
            "alphabet_names_outputs",
            "names in, other names out, with characters beyond ASCII",
            with(wide(), names(), Some(unicode.expect("names"))),
        ),
        name(
            "alphabet_points",
            "points out, with the smallest and the longest decimals",
            with(wide(), names(), Some(points.expect("points"))),
        ),
        name("alphabet_bins", "bins, outputs are the inputs", with(square(), bins(), None)),
        name(
            "alphabet_bins_outputs",
            "bins in, bare indices out",
            with(wide(), bins(), Some(Alphabet::indices(4).expect("a size"))),
        ),
        name(
            "alphabet_names_bits",
            "names on the shape bits",
            with(unary(2, 2, 2, 1), names(), None),
        ),
        name("alphabet_bins_keep", "bins on the shape keep", {
            with(keep(1, &[1, 1], &[1, 1]), bins(), None)
        }),
        name(
            "provenance",
            "every field of the provenance filled; n is the largest integer every language reads",
            Parts { provenance: filled, ..Parts::plain(square(), known, claims()) },
        ),
        name(
            "minimal",
            "a document without id, provenance and deltas",
            Parts::plain(square(), Context::Unknown, vec![Claim::ldp(odds(3, 1))]),
        ),
    ]
}

fn corners() -> Vec<Named> {
    let same = |context| {
        Parts::plain(table(3, &[&[5, 2, 1], &[5, 2, 1]]), context, vec![Claim::ldp(Epsilon::ZERO)])
    };
    let nothing = |context: Context| {
        let lip = Claim::lip(Epsilon::ZERO);
        Parts { claims: vec![Claim::ldp(Epsilon::ZERO), lip], ..same(context) }
    };
    let half = || Context::Known(prior(1, &[1, 1]));
    let zero = || Context::Known(prior(2, &[3, 1, 0]));
    let lip = |n, d| vec![Claim::lip(odds(n, d))];
    let one = |shape| {
        let context = Context::Known(prior(0, &[1]));
        Parts::plain(shape, context, vec![Claim::ldp(Epsilon::ZERO), Claim::lip(Epsilon::ZERO)])
    };
    let unbounded = |shape, claim: Claim| {
        let parts = Parts::plain(shape, half(), vec![]);
        let delta = least_delta(&parts, claim);
        Parts { claims: vec![claim.with_delta(delta)], ..parts }
    };
    let largest = Shape::Table(
        Table::from_masses(vec![
            vec![u64::from(u32::MAX), MASS_ONE - u64::from(u32::MAX)],
            vec![1, MASS_ONE - 1],
        ])
        .expect("a table"),
    );
    vec![
        name("zero_epsilon_table", "every row equal: nothing leaks", nothing(half())),
        name(
            "zero_epsilon_keep",
            "nothing is kept: nothing leaks",
            Parts { shape: keep(2, &[0, 0], &[3, 1]), outputs: None, ..nothing(half()) },
        ),
        name(
            "zero_epsilon_bits",
            "both probabilities equal: nothing leaks",
            Parts { shape: unary(2, 2, 1, 1), outputs: None, ..nothing(half()) },
        ),
        name(
            "bits_always_set",
            "both probabilities one",
            Parts { shape: unary(2, 0, 1, 1), outputs: None, ..same(Context::Unknown) },
        ),
        name(
            "bits_never_set",
            "both probabilities zero",
            Parts { shape: unary(2, 0, 0, 0), outputs: None, ..same(Context::Unknown) },
        ),
        name(
            "zero_weight_table",
            "the last symbol has no weight, and it alone sets the bound",
            Parts::plain(table(3, &[&[4, 4], &[4, 4], &[2, 6]]), zero(), lip(2, 1)),
        ),
        name(
            "zero_weight_keep",
            "the last symbol has no weight",
            Parts::plain(keep(2, &[1, 1, 1], &[1, 1, 2]), zero(), lip(3, 1)),
        ),
        name(
            "zero_weight_bits",
            "the last symbol has no weight: its bit leaks all of the odds",
            Parts::plain(unary(3, 2, 3, 1), zero(), lip(9, 1)),
        ),
        name(
            "zero_weight_secret",
            "a value of the secret without weight, and data no value leads to",
            Parts::plain(
                table(3, &[&[4, 4], &[2, 6], &[1, 7]]),
                secret("s", 2, &[4, 0], &[&[2, 2, 0], &[0, 4, 0]]),
                vec![Claim::lip(odds(2, 1)).about_secret(), Claim::lip(odds(4, 1))],
            ),
        ),
        name("one_symbol_table", "one input, two outputs", one(table(1, &[&[1, 1]]))),
        name("one_symbol_keep", "one symbol, always kept", one(keep(0, &[1], &[1]))),
        name("one_symbol_bits", "one symbol, its bit always set", one(unary(1, 0, 1, 0))),
        name(
            "never_released",
            "outputs 0, 2 and 4 have no mass and constrain nothing",
            Parts::plain(table(2, &[&[0, 3, 0, 1, 0], &[0, 1, 0, 3, 0]]), half(), lip(2, 1)),
        ),
        name(
            "unbounded_table",
            "each output is impossible for one input: no finite level, only a delta",
            unbounded(table(3, &[&[7, 1, 0], &[0, 1, 7]]), Claim::ldp(odds(2, 1))),
        ),
        name(
            "unbounded_keep",
            "symbol 0 is always kept",
            unbounded(keep(2, &[4, 1], &[2, 2]), Claim::lip(odds(4, 3))),
        ),
        name(
            "largest_epsilon",
            "the weakest level that can be written, attained exactly",
            Parts::plain(largest, Context::Unknown, vec![Claim::ldp(Epsilon::LARGEST)]),
        ),
    ]
}

/// The level whose printed nats are the next above those attained: it holds, and barely.
fn just_above(ratio: Ratio) -> Epsilon {
    let attained = ratio.ln_up().expect("a finite ratio").units();
    Epsilon::at_most(Nats::from_units(attained + 1)).expect("a level")
}

/// Claims LDP and LIP of the input, and LIP of the secret where there is one, just above what is attained.
fn claim_what_is_attained(parts: Parts) -> Parts {
    claim_by(parts, just_above)
}

/// Parts that claim what they attain, each ratio at the level that a function has for it.
pub(crate) fn claim_by(parts: Parts, level: fn(Ratio) -> Epsilon) -> Parts {
    let draft = Parts { claims: vec![Claim::ldp(Epsilon::LARGEST)], ..parts.clone() }.draft();
    let (input, secret) = draft.strength();
    let mut claims = vec![Claim::ldp(level(input.ldp.ratio))];
    claims.extend(input.lip().map(|ratio| Claim::lip(level(ratio))));
    if let Some(secret) = secret {
        let (lower, upper) = (secret.lower.expect("known"), secret.upper.expect("known"));
        let bound = Bound::Lip { lower: level(lower.ratio), upper: level(upper.ratio) };
        claims.push(Claim { about: Subject::Secret, bound, delta: Delta::ZERO });
    }
    Parts { claims, ..parts }
}

fn large() -> Vec<Named> {
    let mut mix = Mix(7);
    let mut rows = |inputs: usize, outputs: usize| {
        let row = |_| mix.parts(outputs, MASS_ONE, MASS_ONE / 64);
        Shape::Table(Table::from_masses((0..inputs).map(row).collect()).expect("a table"))
    };
    let (square, long) = (rows(5, 5), rows(4, 7));
    let mut prior = |size| Prior::new(mix.parts(size, WEIGHT_ONE, 1 << 20)).expect("a prior");
    let (first, second) = (prior(5), prior(5));
    let conditionals: Vec<Prior> = (0..3).map(|_| prior(4)).collect();
    let secret = Secret::new("diagnosis".into(), prior(3), conditionals).expect("a secret");
    let end = |sign: i64| {
        let shift = |w: &u64| w.saturating_add_signed(sign * (w / 10) as i64 + sign * 12_345);
        first.weights().iter().map(shift).collect::<Vec<u64>>()
    };
    let within = PriorBox::new(end(-1), end(1)).expect("a box");
    let listed = Priors::new(vec![first.clone(), second]).expect("priors");

    // k-ary randomised response: every symbol of 16 kept, e^1 to 1 against each other.
    let (own, other) = (u64::pow(2, 48) * 2_718 / (2_718 + 15_000), |own| (MASS_ONE - own) / 15);
    let own = own + (MASS_ONE - own) % 15;
    let row = |x: usize| (0..16).map(|y| if x == y { own } else { other(own) }).collect();
    let response = Table::from_masses((0..16).map(row).collect()).expect("a table");

    let weights = mix.parts(300, WEIGHT_ONE, 1 << 10);
    let base = weights.iter().map(|w| w << 16).collect();
    let kept = (0..300u64).map(|x| (1 << 38) + x * 1_000_003).collect();
    let domain = Keep::new(kept, base).expect("a keep");
    let spread = Context::Known(Prior::new(weights).expect("a prior"));

    let plain = |shape, context| claim_what_is_attained(Parts::plain(shape, context, vec![]));
    vec![
        name(
            "full_width_prior",
            "masses and weights of full width",
            plain(square.clone(), Context::Known(first)),
        ),
        name("full_width_priors", "the same for two priors", {
            plain(square.clone(), Context::Each(listed))
        }),
        name("full_width_box", "the same for a box", plain(square, Context::Within(within))),
        name("full_width_secret", "a secret of full width, and seven outputs", {
            plain(long, Context::Secret(secret))
        }),
        name("response_16", "16-ary randomised response as a table", {
            plain(Shape::Table(response), Context::Unknown)
        }),
        name("keep_300", "300 symbols, the base is the prior", {
            plain(Shape::Keep(domain), spread)
        }),
        name("bits_11", "eleven bits, so that five are spare; thresholds of full width", {
            let shape = undertone_core::Bits::new(11, 0x8000_0001, 0x4512_3456).expect("bits");
            let prior = Prior::new(mix.parts(11, WEIGHT_ONE, 1 << 20)).expect("a prior");
            plain(Shape::Bits(shape), Context::Known(prior))
        }),
        name("bits_1000", "a thousand bits: the outputs cannot be listed", {
            plain(unary(1000, 2, 2, 1), Context::Unknown)
        }),
    ]
}

fn several_claims() -> Vec<Named> {
    let shape = || table(4, &[&[9, 4, 3], &[3, 8, 5], &[4, 4, 8]]);
    let known = || Context::Known(prior(3, &[4, 2, 2]));
    let hidden = || secret("habit", 3, &[5, 3], &[&[5, 2, 1], &[1, 3, 4]]);
    let quarter = Delta::from_units(MASS_ONE / 4).expect("below one");
    let uneven = |lower, upper| Claim {
        about: Subject::Input,
        bound: Bound::Lip { lower, upper },
        delta: Delta::ZERO,
    };
    vec![
        name(
            "conjunction",
            "five claims of the input at once",
            Parts::plain(
                shape(),
                known(),
                vec![
                    Claim::ldp(odds(3, 1)),
                    Claim::lip(odds(5, 2)),
                    uneven(odds(25, 12), odds(32, 19)),
                    Claim::lip(odds(3, 2)).with_delta(quarter),
                    Claim::ldp(odds(2, 1)).with_delta(quarter),
                ],
            ),
        ),
        name(
            "conjunction_secret",
            "claims of the input and of the secret at once",
            Parts::plain(
                shape(),
                hidden(),
                vec![
                    Claim::ldp(odds(3, 1)),
                    Claim::ldp(odds(2, 1)).about_secret(),
                    Claim::lip(odds(5, 2)),
                    Claim::lip(odds(3, 2)).about_secret(),
                    Claim::lip(odds(9, 8)).about_secret().with_delta(quarter),
                ],
            ),
        ),
        name(
            "conjunction_16",
            "the most claims a policy may make",
            Parts::plain(shape(), known(), vec![Claim::lip(odds(5, 2)); 16]),
        ),
        name("box_forced", "the upper ends force weight on the last symbol", {
            let within = PriorBox::new(weights(3, &[0, 0, 0]), weights(3, &[2, 2, 6]));
            let lip = vec![Claim::lip(odds(3, 1))];
            Parts::plain(unary(3, 2, 2, 1), Context::Within(within.expect("a box")), lip)
        }),
    ]
}

/// The joint distribution Q36 of the specification, P(s,x) proportional to the fractional part of
/// 0.6180339887498949 k², k = 6s + x + 1, rounded to the kernel's units by largest remainder.
fn q36() -> Context {
    const UNIT: u128 = 10u128.pow(16);
    let fraction = |k: u128| k * k * 6_180_339_887_498_949 % UNIT;
    let cells: Vec<Vec<u128>> =
        (0..3).map(|s| (0..6).map(|x| fraction(6 * s + x + 1)).collect()).collect();
    let sums: Vec<u128> = cells.iter().map(|row| row.iter().sum()).collect();
    let rows = cells.iter().map(|row| rounded(row)).collect();
    Context::Secret(Secret::new("S".into(), rounded(&sums), rows).expect("a secret"))
}

fn rounded(parts: &[u128]) -> Prior {
    let total: u128 = parts.iter().sum();
    let one = u128::from(WEIGHT_ONE);
    let mut weights: Vec<u64> = parts.iter().map(|p| (p * one / total) as u64).collect();
    let mut order: Vec<usize> = (0..parts.len()).collect();
    order.sort_by_key(|&at| core::cmp::Reverse(parts[at] * one % total));
    let short = WEIGHT_ONE - weights.iter().sum::<u64>();
    order.iter().take(short as usize).for_each(|&at| weights[at] += 1);
    Prior::new(weights).expect("a prior")
}

/// Two partitions of Q36 that each protect the secret and together give it away: the ledger's pair.
fn watchdogs() -> Vec<Named> {
    let parsed = |text| Epsilon::parse(text).expect("a level");
    let bound = Bound::Lip { lower: parsed("0.5"), upper: parsed("0.3") };
    let claim = Claim { about: Subject::Secret, bound, delta: Delta::ZERO };
    let merged = |groups: [u64; 6], count: u64| {
        let row = |group: &u64| (0..count).map(|y| u64::from(y == *group) << 48).collect();
        let table = Table::from_masses(groups.iter().map(row).collect()).expect("a table");
        Parts::plain(Shape::Table(table), q36(), vec![claim])
    };
    vec![
        name("watchdog_three", "blocks {0,3} {1,4} {2,5} of Q36, alip:0.5,0.3 of the secret", {
            merged([0, 1, 2, 0, 1, 2], 3)
        }),
        name("watchdog_two", "blocks {0,5} {1,2,3,4} of Q36, alip:0.5,0.3 of the secret", {
            merged([0, 1, 1, 1, 1, 0], 2)
        }),
        name("watchdog_one", "all of Q36 in one block: nothing leaks", merged([0; 6], 1)),
    ]
}
