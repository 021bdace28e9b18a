//! The least δ is the exact one, for every claim, context and listed shape.

use crate::common::{self, Q, Random, binary, delta_of, draft, level, rows, table, value};
use undertone_core::{
    Bound, Certificate, Claim, Context, Delta, Epsilon, Keep, MASS_ONE, Ratio, Shape, Side, Subject,
};

/// What the kernel needs, as it says when it accepts or when it refuses, and whether it calls it
/// a bound.
fn least(claim: Claim, shape: &Shape, context: &Context, allowed: u64) -> (Ratio, Option<bool>) {
    let claim = claim.with_delta(Delta::from_units(allowed).unwrap());
    match draft(shape.clone(), context.clone(), vec![claim]).verify() {
        Ok(policy) => {
            let Certificate { deltas, .. } = policy.certificate();
            let least = deltas[0].unwrap();
            assert!(value(least.ratio).unwrap() <= binary(allowed, 48));
            (least.ratio, Some(least.bound))
        }
        Err(refusal) => {
            assert_eq!(refusal.side, Side::Delta);
            assert_eq!(refusal.claim, claim);
            assert!(refusal.attained > refusal.allowed);
            assert_eq!(value(refusal.allowed), Some(binary(allowed, 48)));
            (refusal.attained, None)
        }
    }
}

fn check(claim: Claim, shape: &Shape, context: &Context, random: &mut Random) {
    let exact = delta_of(&claim, shape, context);
    let (most, bound) = least(claim, shape, context, MASS_ONE - 1);
    let shown = || format!("{claim:?} {shape:?} {context:?}");
    assert_eq!(value(most), Some(exact.clone()), "{}", shown());
    if let Some(bound) = bound {
        let lip_in_box =
            matches!(claim.bound, Bound::Lip { .. }) && matches!(context, Context::Within(_));
        assert_eq!(bound, lip_in_box, "{}", shown());
    }
    // The verdict turns exactly at the least δ: one unit below is refused.
    let units: u64 = (exact.clone() * Q::from(MASS_ONE)).ceil().try_into().unwrap();
    for allowed in [units, units.saturating_sub(1), random.below(MASS_ONE)] {
        if (1..MASS_ONE).contains(&allowed) {
            let accepted = least(claim, shape, context, allowed).1.is_some();
            assert_eq!(accepted, exact <= binary(allowed, 48), "{allowed}: {}", shown());
        }
    }
}

/// A claim of every kind: LDP, two-sided LIP, asymmetric LIP, of the input or the secret.
fn claims(random: &mut Random, context: &Context) -> Vec<Claim> {
    let (a, b) = (random.epsilon(), random.epsilon());
    let mut bounds = vec![Bound::Ldp(a)];
    if !matches!(context, Context::Unknown) {
        bounds.push(Bound::Lip { lower: a, upper: a });
        bounds.push(Bound::Lip { lower: a, upper: b });
    }
    let mut abouts = vec![Subject::Input];
    if matches!(context, Context::Secret(_)) {
        abouts.push(Subject::Secret);
    }
    let pure = |about| move |bound| Claim { about, bound, delta: Delta::ZERO };
    abouts.into_iter().flat_map(|about| bounds.clone().into_iter().map(pure(about))).collect()
}

#[test]
fn tables() {
    let mut random = Random::new(11);
    for round in 0..800 {
        let (inputs, outputs) = (random.size(1, 5), random.size(1, 5));
        let shape = random.table(inputs, outputs);
        let context = random.context(inputs, round % 5);
        for claim in claims(&mut random, &context) {
            check(claim, &shape, &context, &mut random);
        }
    }
}

#[test]
fn keeps() {
    let mut random = Random::new(12);
    for round in 0..1600 {
        let symbols = random.size(1, 6);
        let shape = random.keep(symbols);
        let kind = if symbols > 5 && round % 5 == 3 { 4 } else { round % 5 };
        let context = random.context(symbols, kind);
        for claim in claims(&mut random, &context) {
            check(claim, &shape, &context, &mut random);
        }
    }
}

/// Many symbols with empty base cells, kept and never kept, with and without prior mass: the fast
/// forms order the outputs by marginal over base, and 0/0 must not disturb the order.
#[test]
fn keeps_with_many_empty_cells() {
    let mut random = Random::new(13);
    for _ in 0..60 {
        let symbols = random.size(20, 40);
        let mut base = vec![0; symbols];
        let filled = random.size(2, symbols / 2);
        for (y, mass) in random.parts(filled, MASS_ONE).into_iter().enumerate() {
            base[y * symbols / filled] = mass;
        }
        let keep = (0..symbols)
            .map(|_| if random.one_in(2) { 0 } else { random.probability(1 << 40) })
            .collect();
        let shape = Shape::Keep(Keep::new(keep, base).unwrap());
        let kind = 1 + random.below(2);
        let context = random.context(symbols, kind);
        for claim in claims(&mut random, &context) {
            check(claim, &shape, &context, &mut random);
        }
    }
}

/// Beside small sizes, some where the 64-bit sieve of row pairs has work to do.
#[test]
fn larger_tables() {
    let mut random = Random::new(14);
    for _ in 0..12 {
        let (inputs, outputs) = (random.size(10, 16), random.size(10, 16));
        let shape = random.table(inputs, outputs);
        let context = random.context(inputs, 1);
        for claim in claims(&mut random, &context) {
            check(claim, &shape, &context, &mut random);
        }
    }
}

/// A `Keep` and the same channel as a `Table` need the same δ (λ of the form that the table's unit
/// can hold).
#[test]
fn keep_is_its_table() {
    let mut random = Random::new(15);
    for round in 0..300 {
        let symbols = random.size(1, 6);
        let eighths = |random: &mut Random| random.below(9);
        let keep: Vec<u64> = (0..symbols).map(|_| eighths(&mut random) << 37).collect();
        let mut base = vec![0; symbols];
        for _ in 0..16 {
            base[random.size(0, symbols - 1)] += MASS_ONE / 16;
        }
        let keep = Shape::Keep(Keep::new(keep, base).unwrap());
        let unit = Q::from(MASS_ONE);
        let masses: Vec<Vec<u64>> = rows(&keep)
            .iter()
            .map(|row| row.iter().map(|w| (w * &unit).floor().try_into().unwrap()).collect())
            .collect();
        let dense = table(&masses.iter().map(Vec::as_slice).collect::<Vec<_>>());
        let context = random.context(symbols, round % 5);
        for claim in claims(&mut random, &context) {
            let a = least(claim, &keep, &context, MASS_ONE - 1);
            let b = least(claim, &dense, &context, MASS_ONE - 1);
            assert_eq!(a, b, "{claim:?} {keep:?} {context:?}");
        }
    }
}

/// Worked by hand: rows (3/4, 1/4) and (1/4, 3/4) at odds 2. LDP: 3/4 - 2/4 = 1/4. Under the
/// uniform prior the marginal is 1/2 everywhere and no lift exceeds 3/2 or falls below 1/2.
#[test]
fn by_hand() {
    let q = MASS_ONE / 4;
    let shape = table(&[&[3 * q, q], &[q, 3 * q]]);
    let uniform = Context::Known(common::prior(&[1 << 31, 1 << 31]));
    let found = |claim| value(least(claim, &shape, &uniform, MASS_ONE - 1).0).unwrap();
    assert_eq!(found(Claim::ldp(level(2, 1))), common::ratio(1, 4));
    assert_eq!(found(Claim::lip(level(2, 1))), Q::ZERO);
    assert_eq!(found(Claim::lip(level(5, 4))), common::ratio(3, 16));
    // Upper side at odds 5/4: 3/4 - 5/8 = 1/8. Lower side at 5/4: 1/2 - 5/16 = 3/16.
    assert_eq!(found(common::alip(level(2, 1), level(5, 4))), common::ratio(1, 8));
    assert_eq!(found(Claim::lip(Epsilon::ZERO)), common::ratio(1, 4));
}

#[test]
fn a_delta_prints_as_it_was_asked_for_and_never_below_itself() {
    for (text, tenths) in [("0.01", 100u128), ("0.001", 1000), ("0.000001", 1_000_000)] {
        let units = u128::from(MASS_ONE) / tenths;
        assert_eq!(Delta::from_units(units as u64).unwrap().to_string(), text);
    }
    assert_eq!(Delta::from_units(MASS_ONE / 2).unwrap().to_string(), "0.5");
    assert_eq!(Delta::ZERO.to_string(), "0");
    let mut units = 1u64;
    while units < MASS_ONE {
        for units in [units, units + 1, units / 3] {
            let Ok(delta) = Delta::from_units(units) else { continue };
            let text = delta.to_string();
            let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
            let tens = 10u128.pow(fraction.len() as u32);
            let digits: u128 = format!("{whole}{fraction}").parse().unwrap();
            // Not below, and read back, rounded down, as the same units.
            assert!(digits * u128::from(MASS_ONE) >= u128::from(units) * tens, "{text}");
            assert_eq!(digits * u128::from(MASS_ONE) / tens, u128::from(units), "{text}");
        }
        units = units * 7 + 1;
    }
}

#[test]
fn a_claim_with_a_delta_reads_like_what_was_asked() {
    let epsilon = Epsilon::parse("1").unwrap();
    let delta = Delta::from_units(MASS_ONE / 1000).unwrap();
    assert_eq!(Claim::lip(epsilon).with_delta(delta).to_string(), "lip:1 with delta 0.001");
}
