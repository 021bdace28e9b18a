//! What is certified is not below what the definitions give, and above it by no more than indices are uneven.

#![allow(clippy::result_large_err)]

use super::room;
use crate::common::{
    Leakage, Level, Q, Random, alip, certified, draft, exact, identifiability, mixture, priors,
    pushed, rows, value,
};
use undertone_core::incidence::{Family, Incidence};
use undertone_core::{
    Bound, Claim, Context, Delta, Draft, Epsilon, Ratio, Shape, Strength, Subject, Worst,
};

fn lax(incidence: &Incidence, context: &Context) -> Draft {
    let shape = Shape::Incidence(incidence.clone());
    draft(shape, context.clone(), vec![Claim::ldp(Epsilon::LARGEST)])
}

/// Not below the truth, and above it by at most `room`; without `room` only the first.
fn hold(found: &Level, truth: &Level, room: Option<&Q>, shown: &dyn Fn() -> String) {
    match (found, truth) {
        (Some(found), Some(truth)) => {
            assert!(found >= truth, "{found} is below {truth}: {}", shown());
            if let Some(room) = room {
                let most = truth * (Q::ONE + room);
                assert!(*found <= most, "{found} is far above {truth}: {}", shown());
            }
        }
        (None, None) => {}
        (None, Some(_)) if room.is_none() => {}
        _ => panic!("{found:?} for {truth:?}: {}", shown()),
    }
}

fn hold_all(found: &Strength, truth: &Leakage, room: Option<&Q>, shown: &dyn Fn() -> String) {
    let levels = certified(found);
    if found.exact {
        assert_eq!(levels, *truth, "{}", shown());
    }
    hold(&levels.ldp, &truth.ldp, room, shown);
    for (found, truth) in [(&levels.upper, &truth.upper), (&levels.lower, &truth.lower)] {
        match (found, truth) {
            (Some(found), Some(truth)) => hold(found, truth, room, shown),
            (None, None) => {}
            _ => panic!("a side is missing: {}", shown()),
        }
    }
}

/// The cell that is named attains its ratio, but for rounding.
fn cells(strength: &Strength, rows: &[Vec<Q>], priors: &[Vec<Q>], room: &Q) -> usize {
    let attains = |worst: &Worst, top: Q, bottom: Q| {
        let named = value(worst.ratio);
        match named {
            None => assert!(bottom.is_zero() && !top.is_zero(), "{worst:?}"),
            Some(ratio) => {
                assert!(ratio <= (Q::ONE + room) * (top / bottom), "{worst:?} attains less");
            }
        }
    };
    let mixed = |worst: &Worst, y: usize| -> Vec<Q> {
        match worst.cell.prior {
            Some(at) => vec![mixture(&priors[at as usize], rows, y)],
            None => priors.iter().map(|p| mixture(p, rows, y)).collect(),
        }
    };
    let mut seen = 0;
    let sides = [Some(strength.ldp), strength.upper, strength.lower];
    for (side, worst) in sides.into_iter().enumerate() {
        let Some(worst) = worst.filter(|worst| worst.ratio != Ratio::ONE) else { continue };
        // Where only the rounding differs no block is named.
        let Some(y) = worst.cell.output.map(|y| y as usize) else { continue };
        let row = |x: Option<u32>| rows[x.unwrap() as usize][y].clone();
        match side {
            0 => attains(&worst, row(worst.cell.high), row(worst.cell.low)),
            1 => attains(&worst, row(worst.cell.high), mixed(&worst, y).into_iter().min().unwrap()),
            _ => attains(&worst, mixed(&worst, y).into_iter().max().unwrap(), row(worst.cell.low)),
        }
        seen += 1;
    }
    seen
}

#[test]
fn strength_encloses_the_definitions_in_every_context() {
    let mut random = Random::new(1801);
    let (mut named, mut subsets, mut finite) = (0, 0, 0);
    for round in 0..1500 {
        let kind = round % 5;
        let symbols = random.size(2, if kind == 3 { 4 } else { 6 });
        let incidence = random.incidence(symbols);
        let context = random.context(symbols, kind);
        let shape = Shape::Incidence(incidence.clone());
        let (input, secret) = exact(&shape, &context);
        let (found, found_secret) = lax(&incidence, &context).strength();
        let shown = || format!("{incidence:?} {context:?}");
        let is_subsets = matches!(incidence.family(), Family::Subsets(_));
        let room = room(&incidence);
        // The weights of a box at both ends may belong to different subsets: a bound, which says so.
        let only_bound = is_subsets && kind == 3;
        assert!(!(only_bound && found.exact));
        hold_all(&found, &input, (!only_bound).then_some(&room), &shown);
        match (&found_secret, &secret) {
            (Some(found), Some(secret)) => hold_all(found, secret, Some(&room), &shown),
            (None, None) => {}
            _ => panic!("a secret on one side only"),
        }
        if is_subsets {
            subsets += 1;
        } else {
            let rows = rows(&shape);
            named += cells(&found, &rows, &priors(&context), &room);
            if let (Context::Secret(secret), Some(found)) = (&context, &found_secret) {
                let (pushed, prior) = pushed(secret, &rows);
                named += cells(found, &pushed, &[prior], &room);
            }
        }
        finite += usize::from(input.ldp.is_some());
    }
    assert!(named > 1000 && subsets > 250 && finite > 700, "{named} {subsets} {finite}");
}

/// Secrets on larger subsets, where the set that is worst is no prefix of anything simple: Dinkelbach against all subsets.
#[test]
fn secrets_on_subsets_are_those_of_all_subsets() {
    let mut random = Random::new(1802);
    let mut told = 0;
    for round in 0..40 {
        let symbols = random.size(7, 8);
        let incidence = loop {
            let found = random.incidence(symbols);
            if found.releases_bits() {
                break found;
            }
        };
        let context = random.context(symbols, 4);
        let (_, secret) = exact(&Shape::Incidence(incidence.clone()), &context);
        let (_, found) = lax(&incidence, &context).strength();
        let shown = || format!("{round} {incidence:?} {context:?}");
        hold_all(&found.unwrap(), &secret.clone().unwrap(), Some(&room(&incidence)), &shown);
        told += usize::from(secret.unwrap().ldp.is_none_or(|ldp| ldp > Q::ONE));
    }
    assert!(told > 20, "{told}");
}

/// The smallest odds with this denominator that are not below a level, and the largest that are; `None` if they cannot be written.
fn beside(level: &Q, denominator: u32) -> Option<(Epsilon, Option<Epsilon>)> {
    let above: u32 = (level * Q::from(denominator)).ceil().try_into().ok()?;
    let above = above.max(denominator);
    let below = (above > denominator).then(|| Epsilon::from_odds(above - 1, denominator).unwrap());
    Some((Epsilon::from_odds(above, denominator).unwrap(), below))
}

/// Odds just above what is certified are accepted; odds just below the truth are refused, and the refusal says so.
#[test]
fn claims_turn_at_the_boundary() {
    let mut random = Random::new(1803);
    let (mut accepted, mut refused, mut odds) = (0, 0, 0);
    for round in 0..1200 {
        let symbols = random.size(2, 5);
        let incidence = random.incidence(symbols);
        let kind = [0, 1, 2, 4][round % 4];
        let context = random.context(symbols, kind);
        let shape = Shape::Incidence(incidence.clone());
        let (input, secret) = exact(&shape, &context);
        let (found, found_secret) = lax(&incidence, &context).strength();
        let denominator = 1 + random.below(1 << 20) as u32;
        let subjects = [
            (Subject::Input, Some(input), Some(certified(&found))),
            (Subject::Secret, secret, found_secret.map(|found| certified(&found))),
        ];
        for (about, truth, found) in subjects {
            let (Some(truth), Some(found)) = (truth, found) else { continue };
            let largest = Epsilon::LARGEST;
            let one_sided = |side: u8, level: Epsilon| match side {
                0 => Claim::ldp(level),
                1 => alip(largest, level),
                _ => alip(level, largest),
            };
            let most = Q::from(u32::MAX);
            let small = |level: &Option<Level>| match level {
                Some(Some(level)) => *level <= most,
                Some(None) => false,
                None => true,
            };
            let sides = [
                (Some(truth.ldp.clone()), Some(found.ldp.clone())),
                (truth.upper.clone(), found.upper.clone()),
                (truth.lower.clone(), found.lower.clone()),
            ];
            for (side, (truth_here, found_here)) in (0u8..).zip(sides) {
                let (Some(truth_here), Some(Some(found_here))) = (truth_here, found_here) else {
                    continue;
                };
                let claim = |level| Claim { about, ..one_sided(side, level) };
                let verify = |claim| draft(shape.clone(), context.clone(), vec![claim]).verify();
                let other_side = side == 0 || (small(&found.upper) && small(&found.lower));
                if let Some((above, _)) = beside(&found_here, denominator).filter(|_| other_side) {
                    assert!(verify(claim(above)).is_ok(), "{incidence:?} {context:?}");
                    accepted += 1;
                }
                let truth_here = truth_here.unwrap();
                if let Some((_, Some(below))) = beside(&truth_here, denominator) {
                    let refusal = verify(claim(below)).unwrap_err();
                    assert!(refusal.attained > refusal.allowed);
                    refused += 1;
                }
            }
        }
        // Identifiability; where a list does not part the heaviest from the lightest it is only a bound.
        if matches!(context, Context::Known(_) | Context::Each(_)) {
            let Some(truth) = identifiability(&shape, &context) else { continue };
            let claim = |level| Claim {
                about: Subject::Input,
                bound: Bound::Di(level),
                delta: Delta::ZERO,
            };
            let verify = |level| draft(shape.clone(), context.clone(), vec![claim(level)]).verify();
            if let Some((_, Some(below))) = beside(&truth, denominator) {
                let refusal = verify(below).unwrap_err();
                assert!(refusal.attained > refusal.allowed && refusal.cell.high.is_some());
                odds += 1;
            }
            let above = truth * (Q::ONE + room(&incidence));
            if let Some((above, _)) = beside(&above, denominator)
                && !matches!(incidence.family(), Family::Listed(_))
            {
                assert!(verify(above).is_ok());
            }
        }
    }
    assert!(accepted > 800 && refused > 800 && odds > 80, "{accepted} {refused} {odds}");
}
