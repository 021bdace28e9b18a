//! The certified strength is the exact leakage, and what is printed is never below it.

use crate::common::{
    self, Leakage, Level, Q, Random, binary, certified, doubt, draft, exact, ln, mixture, nats,
    priors, pushed, ratio, rows, value,
};
use undertone_core::{
    Claim, Context, Epsilon, Nats, Ratio, Shape, Strength, WEIGHT_ONE, Wide, Worst,
};

/// The decimal for people: never below the logarithm, and at most 2^-31 above.
fn check_printed(ratio: Ratio, level: &Level) {
    let Some(level) = level else {
        assert_eq!(ratio.ln_up(), None);
        return;
    };
    let printed = nats(ratio.ln_up().unwrap());
    if *level == Q::ONE {
        assert_eq!(printed, Q::ZERO);
        return;
    }
    let truth = ln(level);
    assert!(&printed + doubt() >= truth, "{printed} is printed for {truth}");
    assert!(printed - truth <= binary(1, 31), "too far above");
}

/// The cell the kernel names does attain the ratio it names it for.
fn check_cells(strength: &Strength, rows: &[Vec<Q>], priors: &[Vec<Q>]) {
    let attained =
        |numerator: &Q, denominator: &Q| (!denominator.is_zero()).then(|| numerator / denominator);
    let index = |at: Option<u32>| at.unwrap() as usize;
    let marginals = |worst: &Worst| -> Vec<Q> {
        let y = index(worst.cell.output);
        match worst.cell.prior {
            Some(at) => vec![mixture(&priors[at as usize], rows, y)],
            None => priors.iter().map(|p| mixture(p, rows, y)).collect(),
        }
    };
    let moved = |worst: &Worst| worst.ratio != Ratio::ONE;
    if moved(&strength.ldp) {
        let cell = strength.ldp.cell;
        let y = index(cell.output);
        let (high, low) = (&rows[index(cell.high)][y], &rows[index(cell.low)][y]);
        assert_eq!(value(strength.ldp.ratio), attained(high, low));
    }
    if let Some(worst) = strength.upper.filter(moved) {
        let high = &rows[index(worst.cell.high)][index(worst.cell.output)];
        let least = marginals(&worst).into_iter().min().unwrap();
        assert_eq!(value(worst.ratio), attained(high, &least));
    }
    if let Some(worst) = strength.lower.filter(moved) {
        let low = &rows[index(worst.cell.low)][index(worst.cell.output)];
        let greatest = marginals(&worst).into_iter().max().unwrap();
        assert_eq!(value(worst.ratio), attained(&greatest, low));
    }
}

fn check_levels(strength: &Strength, exact: &Leakage) {
    assert_eq!(certified(strength), *exact);
    check_printed(strength.ldp.ratio, &exact.ldp);
    for (worst, level) in [(&strength.upper, &exact.upper), (&strength.lower, &exact.lower)] {
        if let (Some(worst), Some(level)) = (worst, level) {
            check_printed(worst.ratio, level);
        }
    }
    let sides = [exact.upper.clone(), exact.lower.clone()];
    let two_sided = strength.lip().map(value);
    match sides {
        [Some(Some(a)), Some(Some(b))] => assert_eq!(two_sided, Some(Some(a.max(b)))),
        [Some(_), Some(_)] => assert_eq!(two_sided, Some(None)),
        _ => assert_eq!(two_sided, None),
    }
}

fn check(shape: Shape, context: Context) {
    let (input, secret) = exact(&shape, &context);
    let draft = draft(shape, context, vec![Claim::ldp(Epsilon::LARGEST)]);
    let (found_input, found_secret) = draft.strength();
    let shown = format!("{draft:?}");
    let checked = std::panic::catch_unwind(|| {
        check_levels(&found_input, &input);
        match (&found_secret, &secret) {
            (Some(found), Some(secret)) => check_levels(found, secret),
            (None, None) => {}
            _ => panic!("a secret on one side only"),
        }
        if !matches!(draft.shape(), Shape::Bits(_)) {
            let rows = rows(draft.shape());
            check_cells(&found_input, &rows, &priors(draft.context()));
            if let (Context::Secret(secret), Some(found)) = (draft.context(), &found_secret) {
                let (pushed, prior) = pushed(secret, &rows);
                check_cells(found, &pushed, &[prior]);
            }
        }
    });
    if let Err(cause) = checked {
        eprintln!("{shown}");
        std::panic::resume_unwind(cause);
    }
    // The certificate of a verified policy is the same strength.
    if let Ok(policy) = draft.verify() {
        assert_eq!(policy.certificate().input, found_input);
        assert_eq!(policy.certificate().secret, found_secret);
    }
}

#[test]
fn tables() {
    let mut random = Random::new(1);
    for round in 0..5000 {
        let (inputs, outputs) = (random.size(1, 5), random.size(1, 5));
        let shape = random.table(inputs, outputs);
        let context = random.context(inputs, round % 5);
        check(shape, context);
    }
}

#[test]
fn keeps() {
    let mut random = Random::new(2);
    for round in 0..5000 {
        let symbols = random.size(1, 5);
        let shape = random.keep(symbols);
        let context = random.context(symbols, round % 5);
        check(shape, context);
    }
}

#[test]
fn bits() {
    let mut random = Random::new(3);
    for round in 0..1000 {
        // Vertices and outputs both grow as 2^k.
        let symbols = random.size(1, if round % 5 == 3 { 4 } else { 6 });
        let shape = random.bits(symbols);
        let context = random.context(symbols, round % 5);
        check(shape, context);
    }
}

/// Larger channels, where an index in the wrong width or an early stop would show.
#[test]
fn larger_channels() {
    let mut random = Random::new(4);
    for round in 0..60 {
        let (inputs, outputs) = (random.size(6, 12), random.size(6, 12));
        let kind = [0, 1, 2, 4][round % 4];
        let context = random.context(inputs, kind);
        let shape =
            if round % 2 == 0 { random.table(inputs, outputs) } else { random.keep(inputs) };
        check(shape, context);
    }
    for _ in 0..10 {
        let shape = random.keep(8);
        let context = random.context(8, 3);
        check(shape, context);
        let shape = random.table(8, 3);
        let context = random.context(8, 3);
        check(shape, context);
    }
}

/// Zero denominators leak without bound, 0/0 constrains nothing, and symbols without prior mass
/// are protected like all others.
#[test]
fn zeros() {
    let half = 1 << 47;
    let one = 1 << 48;
    let strength = |rows: &[&[u64]], weights: &[u64]| {
        let context = Context::Known(common::prior(weights));
        draft(common::table(rows), context, vec![Claim::ldp(Epsilon::LARGEST)]).strength().0
    };
    // An empty column is dropped.
    let empty = strength(&[&[one, 0], &[one, 0]], &[WEIGHT_ONE / 2, WEIGHT_ONE / 2]);
    assert_eq!(certified(&empty).ldp, Some(Q::ONE));
    // Releasing the input: any belief can fall to nothing.
    let identity = strength(&[&[one, 0], &[0, one]], &[WEIGHT_ONE / 4, 3 * (WEIGHT_ONE / 4)]);
    assert!(identity.ldp.ratio.is_unbounded());
    assert_eq!(certified(&identity).upper, Some(Some(ratio(4, 1))));
    assert_eq!(certified(&identity).lower, Some(None));
    // The first symbol never occurs, yet it would be told from the rest at once.
    let absent = strength(&[&[half, half], &[one, 0]], &[0, WEIGHT_ONE]);
    assert_eq!(certified(&absent).upper, Some(None));
    assert_eq!(certified(&absent).lower, Some(Some(ratio(2, 1))));
}

/// The decimal against the true logarithm over the whole range of ratios the kernel can hold.
#[test]
fn printed_logarithms() {
    let mut random = Random::new(5);
    let wide = |a: u64, b: u64, shift: u32| (Wide::from(u128::from(a) * u128::from(b))) << shift;
    for round in 0..3000 {
        let bits = 1 + random.below(64);
        let numerator =
            wide(random.below(u64::MAX >> (64 - bits)) + 1, random.below(1 << 40) + 1, round % 60);
        let denominator = match random.below(3) {
            // Just below the numerator: logarithms near zero.
            0 => numerator.saturating_sub(Wide::from(1 + random.below(4))),
            1 => Wide::from(1 + random.below(1 << 40)),
            _ => wide(random.below(u64::MAX) + 1, random.below(1 << 30) + 1, round % 60),
        };
        let Some(ratio) = Ratio::new(numerator, denominator) else { continue };
        if ratio < Ratio::ONE {
            assert_eq!(ratio.ln_up(), Some(Nats::ZERO));
        } else {
            check_printed(ratio, &value(ratio));
        }
    }
    // Powers of two, where the reduction to [1, 2) has its edges.
    for exponent in 0..150 {
        let power = Wide::power_of_two(exponent);
        for numerator in [power, power + Wide::from(1u64), power.saturating_sub(Wide::from(1u64))] {
            let ratio = Ratio::new(numerator, Wide::from(1u64)).unwrap();
            if numerator.is_zero() {
                assert_eq!(ratio.ln_up(), Some(Nats::ZERO));
            } else {
                check_printed(ratio, &value(ratio));
            }
        }
    }
}

/// Ratios compare as numbers, print in lowest terms, and scale up.
#[test]
fn ratios_are_rationals() {
    let mut random = Random::new(6);
    for _ in 0..5000 {
        let mut number = || {
            let bits = random.below(65);
            let wide = if bits == 0 { 0 } else { random.below(u64::MAX) >> (64 - bits) };
            u128::from(wide) << random.below(40)
        };
        let (a, b, c, d) = (number(), number(), number(), number());
        let (x, z) = (Ratio::new(a.into(), b.into()), Ratio::new(c.into(), d.into()));
        assert_eq!(x.is_none(), a == 0 && b == 0);
        let (Some(x), Some(z)) = (x, z) else { continue };
        match (value(x), value(z)) {
            (Some(p), Some(r)) => {
                assert_eq!(x.cmp(&z), p.cmp(&r));
                let scaled = (p * binary(1, 0) * Q::from(1u64 << 48)).ceil();
                let most = dashu::integer::IBig::from(u64::MAX);
                assert_eq!(scaled.min(most).to_string(), x.scaled_up(48).to_string());
                let (numerator, denominator) = x.reduced();
                let digits: Q = format!("{numerator}/{denominator}").parse().unwrap();
                assert_eq!(digits.denominator().to_string(), denominator.to_string());
            }
            (None, Some(_)) => assert!(x > z),
            (Some(_), None) => assert!(x < z),
            (None, None) => assert_eq!(x, z),
        }
    }
}
