//! Every constructor's every way to refuse bad input.

use crate::common::{alip, level, prior, table};
use std::fmt::Debug;
use undertone_core::claim::DeltaTooLarge;
use undertone_core::decimal::NotDecimal;
use undertone_core::mass::MAX_SYMBOLS;
use undertone_core::policy::NotAnId;
use undertone_core::{
    Alphabet, AlphabetError, Bits, Bound, Claim, Context, ContextError, Decimal, Delta, Draft,
    DraftError, Epsilon, EpsilonError, KEEP_ONE, Keep, MASS_ONE, PartsError, PolicyId, Prior,
    PriorBox, Priors, Provenance, Row, Secret, Shape, ShapeError, Subject, Symbol, Table,
    WEIGHT_ONE,
};

/// The expected error, whose text says something about each of `words`.
fn refused<T: Debug, E: std::error::Error + PartialEq>(
    result: Result<T, E>,
    expected: E,
    words: &[&str],
) {
    let error = result.unwrap_err();
    assert_eq!(error, expected);
    let text = error.to_string();
    for word in words {
        assert!(text.contains(word), "{text:?} does not say {word:?}");
    }
}

fn decimal(text: &str) -> Decimal {
    text.parse().unwrap()
}

fn decimals(texts: &[&str]) -> Vec<Decimal> {
    texts.iter().map(|text| decimal(text)).collect()
}

#[test]
fn parts() {
    refused(Row::new(vec![]), PartsError::Empty, &["empty"]);
    refused(Prior::new(vec![]), PartsError::Empty, &["empty"]);
    let sum = |found, expected| PartsError::Sum { found, expected };
    refused(Row::new(vec![MASS_ONE, 1]), sum((1 << 48) + 1, MASS_ONE), &["281474976710657"]);
    refused(Row::new(vec![MASS_ONE - 1]), sum((1 << 48) - 1, MASS_ONE), &["281474976710655"]);
    refused(Prior::new(vec![0, 0]), sum(0, WEIGHT_ONE), &["sums to 0", "4294967296"]);
    // A sum that would wrap 64 bits around to one.
    let wrapping = vec![u64::MAX, MASS_ONE + 1];
    refused(Row::new(wrapping), sum(u128::from(u64::MAX) + (1 << 48) + 1, MASS_ONE), &[]);
    let long = MAX_SYMBOLS + 1;
    let mut many = vec![0; long];
    many[0] = MASS_ONE;
    refused(Row::new(many), PartsError::TooMany { found: long }, &["16777217", "16777216"]);
}

#[test]
fn shapes() {
    refused(Table::new(vec![]), ShapeError::Empty, &["empty"]);
    refused(Table::from_masses(vec![]), ShapeError::Empty, &["empty"]);
    let ragged = Table::from_masses(vec![vec![MASS_ONE], vec![MASS_ONE, 0]]);
    let expected = ShapeError::Ragged { row: 1, expected: 1, found: 2 };
    refused(ragged, expected, &["row 1"]);
    let short = Table::from_masses(vec![vec![MASS_ONE], vec![MASS_ONE - 1]]);
    let error = PartsError::Sum { found: (1 << 48) - 1, expected: MASS_ONE };
    refused(short, ShapeError::Row { row: Some(1), error }, &["row 1", "sums"]);
    let wide = || {
        let mut masses = vec![0; MAX_SYMBOLS];
        masses[0] = MASS_ONE;
        Row::new(masses).unwrap()
    };
    let large = Table::new((0..5).map(|_| wide()).collect());
    refused(large, ShapeError::TooLarge { inputs: 5, outputs: MAX_SYMBOLS }, &["5 x 16777216"]);

    refused(
        Keep::new(vec![0], vec![MASS_ONE, 0]),
        ShapeError::Sizes { keep: 1, base: 2 },
        &["1 keep", "2 base"],
    );
    refused(
        Keep::new(vec![0, KEEP_ONE + 1], vec![MASS_ONE, 0]),
        ShapeError::AboveOne { at: 1, value: KEEP_ONE + 1, one: KEEP_ONE },
        &["1099511627777"],
    );
    let error = PartsError::Sum { found: 0, expected: MASS_ONE };
    refused(Keep::new(vec![0], vec![0]), ShapeError::Row { row: None, error }, &["base"]);
    let error = PartsError::Empty;
    refused(Keep::new(vec![], vec![]), ShapeError::Row { row: None, error }, &["base"]);

    refused(Bits::new(0, 0, 0), ShapeError::Empty, &["empty"]);
    let size = MAX_SYMBOLS + 1;
    refused(Bits::new(size, 0, 0), ShapeError::TooLarge { inputs: size, outputs: size }, &[]);
    for (at, own, other) in [(0, WEIGHT_ONE + 1, 0), (1, 0, u64::MAX)] {
        let value = own.max(other);
        let expected = ShapeError::AboveOne { at, value, one: WEIGHT_ONE };
        refused(Bits::new(2, own, other), expected, &[&value.to_string()]);
    }
}

#[test]
fn contexts() {
    refused(Priors::new(vec![]), ContextError::NoPriors, &["empty"]);
    let odd = Priors::new(vec![prior(&[WEIGHT_ONE]), prior(&[WEIGHT_ONE, 0])]);
    refused(odd, ContextError::Sizes { what: "a prior", expected: 1, found: 2 }, &["a prior"]);

    refused(PriorBox::new(vec![], vec![]), ContextError::NoPriors, &["empty"]);
    let what = "the upper end of the prior box";
    let sizes = ContextError::Sizes { what, expected: 1, found: 2 };
    refused(PriorBox::new(vec![0], vec![0, 0]), sizes, &["upper end"]);
    let reversed = ContextError::Reversed { at: 1, lower: 2, upper: 1 };
    refused(PriorBox::new(vec![0, 2], vec![WEIGHT_ONE, 1]), reversed, &["symbol 1"]);
    // A lower end above one lies above its upper end, which is cut to one.
    let (lower, upper) = (WEIGHT_ONE + 1, WEIGHT_ONE);
    let reversed = ContextError::Reversed { at: 0, lower, upper };
    refused(PriorBox::new(vec![lower], vec![u64::MAX]), reversed, &["symbol 0"]);
    let half = WEIGHT_ONE / 2;
    let empty = ContextError::EmptyBox { lower: 0, upper: u128::from(WEIGHT_ONE) - 1 };
    refused(PriorBox::new(vec![0, 0], vec![half, half - 1]), empty, &["4294967295"]);
    let lower = u128::from(WEIGHT_ONE) + 1;
    let empty = ContextError::EmptyBox { lower, upper: 2 * u128::from(WEIGHT_ONE) };
    refused(PriorBox::new(vec![half, half + 1], vec![WEIGHT_ONE; 2]), empty, &["4294967297"]);
    // The smallest legal boxes: a point, from either side.
    assert!(PriorBox::new(vec![half, half], vec![WEIGHT_ONE; 2]).is_ok());
    assert!(PriorBox::new(vec![0, 0], vec![half, half]).is_ok());

    let one = || prior(&[WEIGHT_ONE]);
    for name in [String::new(), "n".repeat(201)] {
        refused(Secret::new(name, one(), vec![one()]), ContextError::Name, &["name"]);
    }
    let rows = Secret::new("s".into(), one(), vec![]);
    let what = "the list of rows P(x|s)";
    refused(rows, ContextError::Sizes { what, expected: 1, found: 0 }, &["P(x|s)"]);
    let two = prior(&[half, half]);
    let rows = Secret::new("s".into(), two.clone(), vec![one(), two]);
    let what = "a row P(x|s)";
    refused(rows, ContextError::Sizes { what, expected: 1, found: 2 }, &["P(x|s)"]);
}

#[test]
fn alphabets() {
    refused(Alphabet::indices(0), AlphabetError::Size { found: 0 }, &["0 symbols"]);
    let found = MAX_SYMBOLS + 1;
    refused(Alphabet::indices(found), AlphabetError::Size { found }, &["16777217"]);
    refused(Alphabet::names([""; 0]), AlphabetError::Size { found: 0 }, &[]);
    let names = |names: &[&str]| Alphabet::names(names.iter().copied());
    refused(names(&["a", ""]), AlphabetError::EmptyName { at: 1 }, &["symbol 1"]);
    let repeated = AlphabetError::Repeated { name: "a".into() };
    refused(names(&["a", "b", "a"]), repeated, &["\"a\"", "twice"]);

    refused(Alphabet::points(vec![]), AlphabetError::Size { found: 0 }, &[]);
    for points in [&["1", "1.0"][..], &["2", "1"], &["0.1", "-0.1"]] {
        let expected = AlphabetError::NotIncreasing { at: 1 };
        refused(Alphabet::points(decimals(points)), expected, &["entry 1"]);
    }
    let bins = |edges: &[&str], values: &[&str]| Alphabet::bins(decimals(edges), decimals(values));
    refused(bins(&[], &[]), AlphabetError::Size { found: 0 }, &[]);
    refused(bins(&["1"], &[]), AlphabetError::Size { found: 0 }, &[]);
    refused(bins(&["1", "1"], &["1"]), AlphabetError::NotIncreasing { at: 1 }, &[]);
    let values = AlphabetError::Values { bins: 2, found: 1 };
    refused(bins(&["0", "1", "2"], &["0.5"]), values, &["2 bins"]);
    let outside = AlphabetError::Outside { at: 1 };
    refused(bins(&["0", "1", "2"], &["0.5", "2.01"]), outside.clone(), &["bin 1"]);
    refused(bins(&["0", "1", "2"], &["0.5", "0.99"]), outside, &["bin 1"]);
}

/// What has no symbol is somebody's answer: the error says so and holds nothing of it.
#[test]
fn an_unknown_value_is_refused_without_being_repeated() {
    let refused = |result: Result<Symbol, AlphabetError>, value: &str| {
        let error = result.unwrap_err();
        assert_eq!(error, AlphabetError::Unknown, "{value}");
        for said in [error.to_string(), format!("{error:?}")] {
            assert!(!said.contains(value), "{said} repeats {value}");
        }
    };
    let indices = Alphabet::indices(3).unwrap();
    refused(indices.symbol(31337), "31337");
    for value in ["diabetes", "-1", "31337", "18446744073709551616"] {
        refused(indices.named(value), value);
    }
    refused(indices.valued(decimal("31337.5")), "31337.5");
    let names = Alphabet::names(["well"]).unwrap();
    refused(names.named("diabetes"), "diabetes");
    refused(names.valued(decimal("31337.5")), "31337.5");
    let points = Alphabet::points(decimals(&["0", "1"])).unwrap();
    refused(points.named("0.5123"), "0.5123");
    refused(points.named("diabetes"), "diabetes");
    refused(points.valued(decimal("31337.5")), "31337.5");
    let bins = Alphabet::bins(decimals(&["0", "1"]), decimals(&["0.5"])).unwrap();
    refused(bins.named("diabetes"), "diabetes");
}

/// What a name or a number stands for, bins with both kinds of edge included.
#[test]
fn alphabets_look_up() {
    let names = Alphabet::names(["a", "b"]).unwrap();
    assert_eq!(names.named("b"), names.symbol(1));
    assert_eq!(names.label(1), "b");
    let indices = Alphabet::indices(12).unwrap();
    assert_eq!(indices.named("11"), indices.symbol(11));
    let points = Alphabet::points(decimals(&["-1.5", "0", "2"])).unwrap();
    assert_eq!(points.named("-1.50"), points.symbol(0));
    assert_eq!(points.label(0), "-1.5");
    let bins =
        Alphabet::bins(decimals(&["0", "1", "2", "4"]), decimals(&["0.5", "1", "3"])).unwrap();
    let bin = |text: &str| {
        let symbol = bins.valued(decimal(text)).unwrap();
        (0..3).position(|at| bins.symbol(at) == Ok(symbol)).unwrap()
    };
    let cases =
        [("-7", 0), ("0", 0), ("0.999", 0), ("1", 1), ("1.999", 1), ("2", 2), ("4", 2), ("99", 2)];
    for (text, expected) in cases {
        assert_eq!(bin(text), expected, "{text}");
    }
}

#[test]
fn numbers() {
    refused(Epsilon::parse("one"), EpsilonError::NotNats, &["plain decimal"]);
    let asked = undertone_core::Nats::from_units(221_900_000_000);
    refused(Epsilon::parse("22.19"), EpsilonError::TooLarge { asked }, &["22.19", "22.180709"]);
    for (numerator, denominator) in [(0, 0), (1, 0), (0, 1), (6, 7)] {
        let expected = EpsilonError::NotOdds { numerator, denominator };
        let words = [&format!("{numerator}/{denominator}")[..]];
        refused(Epsilon::from_odds(numerator, denominator), expected, &words);
    }
    assert!(Delta::from_units(MASS_ONE - 1).is_ok());
    refused(Delta::from_units(MASS_ONE), DeltaTooLarge { units: MASS_ONE }, &["281474976710656"]);
    refused(Decimal::new(1, 19), NotDecimal, &["decimal"]);
    for text in
        ["", ".", "-", "-.", "1.", "+1", "1e3", "NaN", "inf", "0x1", "1.2.3", " 1", "1,5", "--1"]
    {
        refused(text.parse::<Decimal>(), NotDecimal, &["decimal"]);
    }
    let id = "0123456789abcdef".repeat(4);
    assert_eq!(id.parse::<PolicyId>().unwrap().to_string(), id);
    for text in [&id[1..], &id.to_uppercase(), "", &format!("{id}0"), &id.replace('0', "g")] {
        refused(text.parse::<PolicyId>(), NotAnId, &["64"]);
    }
}

#[test]
fn drafts() {
    let square = || table(&[&[MASS_ONE, 0], &[0, MASS_ONE]]);
    let indices = |size| Alphabet::indices(size).unwrap();
    let bits = || Shape::Bits(Bits::new(2, 1, 0).unwrap());
    let keep = || Shape::Keep(Keep::new(vec![0, 0], vec![MASS_ONE, 0]).unwrap());
    let ldp = || vec![Claim::ldp(level(2, 1))];
    let known = || Context::Known(prior(&[WEIGHT_ONE, 0]));
    let make = |inputs, outputs, shape, context, claims| {
        Draft::new(inputs, outputs, shape, context, claims, Provenance::default())
    };
    let sizes = |what, expected, found| DraftError::Sizes { what, expected, found };
    refused(
        make(indices(3), None, square(), Context::Unknown, ldp()),
        sizes("the input alphabet", 2, 3),
        &["input alphabet", "3", "2"],
    );
    refused(
        make(indices(2), Some(indices(3)), square(), Context::Unknown, ldp()),
        sizes("the output alphabet", 2, 3),
        &["output alphabet"],
    );
    // Without output names, a table that is not square has none for its outputs.
    let flat = table(&[&[MASS_ONE], &[MASS_ONE]]);
    refused(
        make(indices(2), None, flat, Context::Unknown, ldp()),
        sizes("the output alphabet", 1, 2),
        &[],
    );
    let third = Context::Known(prior(&[WEIGHT_ONE, 0, 0]));
    let within = Context::Within(PriorBox::new(vec![0], vec![WEIGHT_ONE]).unwrap());
    let each = Context::Each(Priors::new(vec![prior(&[WEIGHT_ONE])]).unwrap());
    let secret = Secret::new("s".into(), prior(&[WEIGHT_ONE]), vec![prior(&[WEIGHT_ONE])]).unwrap();
    for (context, found) in [(third, 3), (within, 1), (each, 1), (Context::Secret(secret), 1)] {
        let expected = sizes("the prior", 2, found);
        refused(make(indices(2), None, square(), context, ldp()), expected, &["prior"]);
    }
    for shape in [keep(), bits()] {
        let given = make(indices(2), Some(indices(2)), shape, Context::Unknown, ldp());
        refused(given, DraftError::Outputs, &["outputs"]);
    }
    for found in [0, 17] {
        let claims = vec![Claim::ldp(level(2, 1)); found];
        let given = make(indices(2), None, square(), Context::Unknown, claims);
        refused(given, DraftError::Claims { found }, &[&found.to_string()]);
    }
    let with = |second| vec![Claim::ldp(level(2, 1)), second];
    refused(
        make(indices(2), None, square(), Context::Unknown, with(alip(level(2, 1), level(2, 1)))),
        DraftError::NoContext { index: 1 },
        &["claim 1", "prior"],
    );
    for context in [Context::Unknown, known()] {
        let claims = with(Claim::ldp(level(2, 1)).about_secret());
        let given = make(indices(2), None, square(), context, claims);
        refused(given, DraftError::NoSecret { index: 1 }, &["claim 1", "secret"]);
    }
    let escape = Claim::ldp(level(2, 1)).with_delta(Delta::from_units(1).unwrap());
    refused(
        make(indices(2), None, bits(), Context::Unknown, with(escape)),
        DraftError::DeltaOnBits { index: 1 },
        &["claim 1", "delta"],
    );
    // Identifiability speaks of the input under listed priors, without δ.
    let di = |about, units| {
        let delta = Delta::from_units(units).unwrap();
        vec![Claim { about, bound: Bound::Di(level(2, 1)), delta }]
    };
    let secret = || {
        let rows = vec![prior(&[WEIGHT_ONE, 0])];
        Context::Secret(Secret::new("s".into(), prior(&[WEIGHT_ONE]), rows).unwrap())
    };
    let within = || Context::Within(PriorBox::new(vec![0, 0], vec![WEIGHT_ONE; 2]).unwrap());
    let cases = [
        (Context::Unknown, di(Subject::Input, 0)),
        (within(), di(Subject::Input, 0)),
        (secret(), di(Subject::Input, 0)),
        (secret(), di(Subject::Secret, 0)),
        (known(), di(Subject::Input, 1)),
    ];
    for (context, claims) in cases {
        let given = make(indices(2), None, square(), context, claims);
        refused(given, DraftError::Identifiability { index: 0 }, &["claim 0"]);
    }
    // The same refusals on the way in through `with_claims`.
    let draft = make(indices(2), None, bits(), known(), ldp()).unwrap();
    refused(draft.with_claims(vec![escape]), DraftError::DeltaOnBits { index: 0 }, &[]);

    let provenance = |source: &str, date: &str, confidence: Option<&str>| {
        let confidence = confidence.map(decimal);
        let (source, date) = (source.into(), date.into());
        let provenance = Provenance { source, n: 0, date, confidence, rounding: 0 };
        Draft::new(indices(2), None, square(), known(), ldp(), provenance)
    };
    assert!(provenance(&"s".repeat(500), "2024-02-29", Some("1")).is_ok());
    let long = "s".repeat(501);
    let cases = [
        ("source", provenance(&long, "", None)),
        ("date", provenance("", "2024-2-29", None)),
        ("date", provenance("", "29.02.2024", None)),
        ("date", provenance("", "2024-02-290", None)),
        ("confidence", provenance("", "", Some("1.01"))),
        ("confidence", provenance("", "", Some("-0.1"))),
    ];
    for (field, given) in cases {
        refused(given, DraftError::Provenance { field }, &[field]);
    }
    let counted = |n: u64, rounding: u64| {
        let provenance = Provenance { n, rounding, ..Provenance::default() };
        Draft::new(indices(2), None, square(), known(), ldp(), provenance)
    };
    assert!(counted((1 << 53) - 1, (1 << 53) - 1).is_ok());
    for (field, given) in [("n", counted(1 << 53, 0)), ("rounding", counted(0, 1 << 53))] {
        refused(given, DraftError::Provenance { field }, &["2^53"]);
    }
}
