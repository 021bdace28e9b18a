//! Negative controls: a channel on the bound verifies, one unit past it is refused, and the
//! refusal names the claim, the cell and by how much.

#![allow(clippy::unwrap_used, clippy::result_large_err)]

use crate::common::{
    self, Random, alip, draft, exact, holds, identifiability, level, prior, table, value,
};
use undertone_core::{
    Alphabet, Bits, Bound, Cell, Claim, Context, Delta, Epsilon, KEEP_ONE, Keep, MASS_ONE,
    PriorBox, Priors, Refusal, Secret, Shape, Side, Subject, WEIGHT_ONE,
};

/// An eighth of a row.
const U: u64 = MASS_ONE / 8;
/// A quarter of a prior.
const W: u64 = WEIGHT_ONE / 4;
const FREE: Epsilon = Epsilon::LARGEST;

fn uniform() -> Context {
    Context::Known(prior(&[2 * W, 2 * W]))
}

/// Verifies `claim` on `good`, and returns the refusal on `bad` after checking that it is
/// about that claim and says by how much it fails.
fn control(good: &Shape, bad: &Shape, context: &Context, claim: Claim) -> Refusal {
    let verify = |shape: &Shape| draft(shape.clone(), context.clone(), vec![claim]).verify();
    assert!(verify(good).is_ok(), "{claim} on {good:?}: {:?}", verify(good));
    let refusal = verify(bad).unwrap_err();
    assert_eq!((refusal.index, refusal.claim), (0, claim));
    assert!(refusal.attained > refusal.allowed, "{refusal}");
    assert!(refusal.to_string().contains(&claim.to_string()), "{refusal}");
    refusal
}

/// The cell of an LDP refusal, of one for rising belief, and of one for falling belief.
fn pair(output: u32, high: u32, low: u32) -> Cell {
    Cell { output: Some(output), high: Some(high), low: Some(low), prior: None }
}

fn rise(output: u32, high: u32) -> Cell {
    Cell { output: Some(output), high: Some(high), ..Cell::default() }
}

fn fall(output: u32, low: u32) -> Cell {
    Cell { output: Some(output), low: Some(low), ..Cell::default() }
}

/// Rows 3/8 1/8 4/8 and 1/8 3/8 4/8; the third column takes up what moves.
fn square() -> Shape {
    table(&[&[3 * U, U, 4 * U], &[U, 3 * U, 4 * U]])
}

/// w(0|0) one unit too large.
fn raised() -> Shape {
    table(&[&[3 * U + 1, U, 4 * U - 1], &[U, 3 * U, 4 * U]])
}

/// w(1|0) one unit too small.
fn lowered() -> Shape {
    table(&[&[3 * U, U - 1, 4 * U + 1], &[U, 3 * U, 4 * U]])
}

#[test]
fn table_ldp() {
    let claim = Claim::ldp(level(3, 1));
    let refusal = control(&square(), &raised(), &Context::Unknown, claim);
    assert_eq!((refusal.side, refusal.cell), (Side::Ldp, pair(0, 0, 1)));
    assert_eq!(value(refusal.attained), Some(common::ratio(3 * U + 1, U)));
    assert_eq!(value(refusal.allowed), Some(common::ratio(3, 1)));
    let refusal = control(&square(), &lowered(), &Context::Unknown, claim);
    assert_eq!((refusal.side, refusal.cell), (Side::Ldp, pair(1, 1, 0)));
}

/// Marginal 2/8 2/8 4/8: belief rises by 3/2 and falls by 2.
#[test]
fn table_lip() {
    let (upper, lower) = (alip(FREE, level(3, 2)), alip(level(2, 1), FREE));
    let refusal = control(&square(), &raised(), &uniform(), upper);
    assert_eq!((refusal.side, refusal.cell), (Side::Upper, rise(0, 0)));
    let refusal = control(&square(), &raised(), &uniform(), lower);
    assert_eq!((refusal.side, refusal.cell), (Side::Lower, fall(0, 1)));
    let refusal = control(&square(), &lowered(), &uniform(), lower);
    assert_eq!((refusal.side, refusal.cell), (Side::Lower, fall(1, 0)));
    // Both sides at once, each on its bound.
    let refusal = control(&square(), &raised(), &uniform(), alip(level(2, 1), level(3, 2)));
    assert_eq!((refusal.side, refusal.cell), (Side::Upper, rise(0, 0)));
    // Two-sided: only the falling side is on the bound.
    let refusal = control(&square(), &lowered(), &uniform(), Claim::lip(level(2, 1)));
    assert_eq!((refusal.side, refusal.cell), (Side::Lower, fall(1, 0)));
}

struct Named<'a>(&'a Refusal, &'a Alphabet, &'a Alphabet);

impl std::fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let called = |alphabet: &Alphabet, at: u32| format!("{:?}", alphabet.label(at as usize));
        self.0.fmt_named(f, &|x| called(self.1, x), &|y| called(self.2, y))
    }
}

/// With names, a refusal calls inputs and outputs by them; a secret's values have none.
#[test]
fn symbols_by_name() {
    let names = |list: &[&str]| {
        Alphabet::names(list.iter().map(|name| (*name).into()).collect::<Vec<String>>()).unwrap()
    };
    let (inputs, outputs) = (names(&["bus", "car"]), names(&["bus", "car", "a \"b\""]));
    let refusal = control(&square(), &raised(), &Context::Unknown, Claim::ldp(level(3, 1)));
    let (plain, named) = (refusal.to_string(), Named(&refusal, &inputs, &outputs).to_string());
    assert!(plain.contains("at output 0, input 0 against 1: likelihoods"), "{plain}");
    assert_eq!(
        named,
        plain.replace("output 0, input 0 against 1", r#"output "bus", input "bus" against "car""#)
    );
    let bare = names(&["0", "1", "2"]);
    let plain =
        plain.replace("output 0, input 0 against 1", r#"output "0", input "0" against "1""#);
    assert_eq!(Named(&refusal, &bare, &bare).to_string(), plain);
    let about = Refusal { claim: refusal.claim.about_secret(), ..refusal };
    let said = Named(&about, &inputs, &outputs).to_string();
    assert!(said.contains(r#"at output "bus", secret value 0 against 1"#), "{said}");
}

/// Under the second prior, (1/4, 3/4), belief rises by 2 and falls by 5/2.
#[test]
fn table_lip_for_several_priors() {
    let context =
        Context::Each(Priors::new(vec![prior(&[2 * W, 2 * W]), prior(&[W, 3 * W])]).unwrap());
    let refusal = control(&square(), &raised(), &context, alip(level(5, 2), level(2, 1)));
    assert_eq!((refusal.side, refusal.cell), (Side::Upper, Cell { prior: Some(1), ..rise(0, 0) }));
    let refusal = control(&square(), &lowered(), &context, alip(level(5, 2), FREE));
    assert_eq!((refusal.side, refusal.cell), (Side::Lower, Cell { prior: Some(1), ..fall(1, 0) }));
}

/// The box between 1/4 and 3/4: the same numbers, from its worst corner for each output.
#[test]
fn table_lip_in_a_box() {
    let context = Context::Within(PriorBox::new(vec![W, W], vec![3 * W, 3 * W]).unwrap());
    let refusal = control(&square(), &raised(), &context, alip(level(5, 2), level(2, 1)));
    assert_eq!((refusal.side, refusal.cell), (Side::Upper, rise(0, 0)));
    let refusal = control(&square(), &lowered(), &context, alip(level(5, 2), FREE));
    assert_eq!((refusal.side, refusal.cell), (Side::Lower, fall(1, 0)));
    // One unit more room in the box is enough, too.
    let wider = Context::Within(PriorBox::new(vec![W - 1, W], vec![3 * W, 3 * W + 1]).unwrap());
    let claim = alip(level(5, 2), level(2, 1));
    let refusal = draft(square(), wider, vec![claim]).verify().unwrap_err();
    assert_eq!((refusal.side, refusal.cell), (Side::Upper, rise(0, 0)));
}

/// P(x|s) = 3/4 1/4 and 1/4 3/4: c(0|s) = 5/16 and 3/16, marginal 4/16.
#[test]
fn table_secret() {
    let rows = vec![prior(&[3 * W, W]), prior(&[W, 3 * W])];
    let secret = Secret::new("illness".into(), prior(&[2 * W, 2 * W]), rows).unwrap();
    let context = Context::Secret(secret);
    let refuse = |claim: Claim| control(&square(), &raised(), &context, claim.about_secret());
    let refusal = refuse(Claim::ldp(level(5, 3)));
    assert_eq!((refusal.side, refusal.cell), (Side::Ldp, pair(0, 0, 1)));
    assert!(refusal.to_string().contains("secret value 0 against 1"), "{refusal}");
    let refusal = refuse(alip(FREE, level(5, 4)));
    assert_eq!((refusal.side, refusal.cell), (Side::Upper, rise(0, 0)));
    let refusal = refuse(alip(level(4, 3), FREE));
    assert_eq!((refusal.side, refusal.cell), (Side::Lower, fall(0, 1)));
    // The input is protected less than the secret; its claim is its own.
    let refusal = control(&square(), &raised(), &context, Claim::ldp(level(3, 1)));
    assert_eq!((refusal.side, refusal.cell), (Side::Ldp, pair(0, 0, 1)));
}

#[test]
fn table_delta() {
    let units = |units| Delta::from_units(units).unwrap();
    // At odds 2 the first row exceeds the second by 3/8 - 2/8.
    let claim = Claim::ldp(level(2, 1)).with_delta(units(U));
    let refusal = control(&square(), &raised(), &Context::Unknown, claim);
    let row = Cell { high: Some(0), low: Some(1), ..Cell::default() };
    assert_eq!((refusal.side, refusal.cell), (Side::Delta, row));
    assert_eq!(value(refusal.attained), Some(common::binary(U + 1, 48)));
    // At odds 5/4 row 0 exceeds the marginal by 3/8 - 5/16 and falls short of it by 2/8 - 5/32.
    let claim = alip(FREE, level(5, 4)).with_delta(units(U / 2));
    let refusal = control(&square(), &raised(), &uniform(), claim);
    let row = Cell { high: Some(0), ..Cell::default() };
    assert_eq!((refusal.side, refusal.cell), (Side::Delta, row));
    let claim = alip(level(5, 4), FREE).with_delta(units(3 * U / 4));
    let refusal = control(&square(), &lowered(), &uniform(), claim);
    let row = Cell { low: Some(0), ..Cell::default() };
    assert_eq!((refusal.side, refusal.cell), (Side::Delta, row));
    // The odds alone decide nothing here: δ one unit smaller is refused on the good table.
    let claim = Claim::ldp(level(2, 1)).with_delta(units(U - 1));
    assert!(draft(square(), Context::Unknown, vec![claim]).verify().is_err());
    // Of the secret: 5/16 - 9/8 · 4/16 = 1/32 at odds 9/8.
    let rows = vec![prior(&[3 * W, W]), prior(&[W, 3 * W])];
    let secret = Secret::new("s".into(), prior(&[2 * W, 2 * W]), rows).unwrap();
    let claim = alip(FREE, level(9, 8)).about_secret().with_delta(units(U / 4));
    let refusal = control(&square(), &raised(), &Context::Secret(secret), claim);
    let row = Cell { high: Some(0), ..Cell::default() };
    assert_eq!((refusal.side, refusal.cell), (Side::Delta, row));
}

/// Keep with probability 1/2, else one of four: own 5/8, others 1/8, ratio 5.
fn kept(first: u64, base: [u64; 4]) -> Shape {
    let half = KEEP_ONE / 2;
    Shape::Keep(Keep::new(vec![first, half, half, half], base.to_vec()).unwrap())
}

const BASE: [u64; 4] = [2 * U, 2 * U, 2 * U, 2 * U];
const HALF: u64 = KEEP_ONE / 2;

#[test]
fn keep_ldp() {
    let claim = Claim::ldp(level(5, 1));
    let good = kept(HALF, BASE);
    // Kept one unit more often: input 0 is the rarest to release anything else.
    let refusal = control(&good, &kept(HALF + 1, BASE), &Context::Unknown, claim);
    assert_eq!((refusal.side, refusal.cell), (Side::Ldp, pair(1, 1, 0)));
    // One unit of base moved: output 1 gives its own input away more.
    let moved = kept(HALF, [2 * U + 1, 2 * U - 1, 2 * U, 2 * U]);
    let refusal = control(&good, &moved, &Context::Unknown, claim);
    assert_eq!(
        (refusal.side, refusal.cell.output, refusal.cell.high),
        (Side::Ldp, Some(1), Some(1))
    );
}

#[test]
fn keep_lip() {
    let context = Context::Known(prior(&[W, W, W, W]));
    let (good, bad) = (kept(HALF, BASE), kept(HALF + 1, BASE));
    let refusal = control(&good, &bad, &context, alip(level(2, 1), level(5, 2)));
    assert_eq!((refusal.side, refusal.cell), (Side::Upper, rise(0, 0)));
    let refusal = control(&good, &bad, &context, alip(level(2, 1), FREE));
    assert_eq!((refusal.side, refusal.cell), (Side::Lower, fall(1, 0)));
    // One unit of prior moved away from symbol 2 makes its discovery the worse.
    let claim = alip(FREE, level(5, 2));
    let lighter = Context::Known(prior(&[W, W, W - 1, W + 1]));
    let refusal = draft(good, lighter, vec![claim]).verify().unwrap_err();
    assert_eq!((refusal.side, refusal.cell), (Side::Upper, rise(2, 2)));
}

#[test]
fn keep_delta() {
    // At odds 3: λ + (1/2 - 3/2)/4 = 1/4.
    let claim = Claim::ldp(level(3, 1)).with_delta(Delta::from_units(2 * U).unwrap());
    let refusal = control(&kept(HALF, BASE), &kept(HALF + 1, BASE), &Context::Unknown, claim);
    let Cell { output, high, low, prior: _ } = refusal.cell;
    assert_eq!((refusal.side, output), (Side::Delta, None));
    assert!(high == Some(0) || low == Some(0), "{refusal}");
    // At odds 2 row 0 exceeds the uniform marginal by 5/8 - 2/4.
    let context = Context::Known(prior(&[W, W, W, W]));
    let claim = alip(FREE, level(2, 1)).with_delta(Delta::from_units(U).unwrap());
    let refusal = control(&kept(HALF, BASE), &kept(HALF + 1, BASE), &context, claim);
    let row = Cell { high: Some(0), ..Cell::default() };
    assert_eq!((refusal.side, refusal.cell), (Side::Delta, row));
}

/// Own bit 1/2, other bits 1/4: a = 2, b = 2/3, so LDP 3, and under a uniform prior of four belief
/// rises by 2 and falls by 5/2.
#[test]
fn bits_every_claim() {
    let bits = |own, other| Shape::Bits(Bits::new(4, own, other).unwrap());
    let good = bits(2 * W, W);
    let context = Context::Known(prior(&[W, W, W, W]));
    for bad in [bits(2 * W + 1, W), bits(2 * W, W - 1)] {
        let refusal = control(&good, &bad, &Context::Unknown, Claim::ldp(level(3, 1)));
        assert_eq!((refusal.side, refusal.cell), (Side::Ldp, pair(0, 0, 1)));
        let refusal = control(&good, &bad, &context, alip(FREE, level(2, 1)));
        assert_eq!((refusal.side, refusal.cell), (Side::Upper, rise(0, 0)));
        let refusal = control(&good, &bad, &context, alip(level(5, 2), FREE));
        assert_eq!((refusal.side, refusal.cell), (Side::Lower, fall(0, 0)));
    }
    // A lighter symbol is the one named; in a list, with its prior; in a box, at its least weight.
    let claim = alip(level(5, 2), level(2, 1));
    let lighter = prior(&[W, W, W - 1, W + 1]);
    let known = Context::Known(lighter.clone());
    let refusal = draft(good.clone(), known, vec![claim]).verify().unwrap_err();
    assert_eq!((refusal.side, refusal.cell), (Side::Upper, rise(2, 2)));
    let each = Context::Each(Priors::new(vec![prior(&[W; 4]), lighter]).unwrap());
    let refusal = draft(good.clone(), each, vec![claim]).verify().unwrap_err();
    assert_eq!((refusal.side, refusal.cell), (Side::Upper, Cell { prior: Some(1), ..rise(2, 2) }));
    let upper = vec![W, W + 1, W, W];
    let forced = PriorBox::new(vec![0; 4], vec![W; 4]).unwrap();
    assert!(draft(good.clone(), Context::Within(forced), vec![claim]).verify().is_ok());
    let loose = Context::Within(PriorBox::new(vec![0, W, W, W], upper).unwrap());
    let refusal = draft(good.clone(), loose, vec![claim]).verify().unwrap_err();
    assert_eq!((refusal.side, refusal.cell), (Side::Upper, rise(0, 0)));
    // A secret that splits the symbols two and two: the worst set of bits is the pair, likelihoods
    // 2 and 2/3 again, and under P(s) uniform belief rises by 3/2 and falls by 2.
    let rows = vec![prior(&[2 * W, 2 * W, 0, 0]), prior(&[0, 0, 2 * W, 2 * W])];
    let context = Context::Secret(Secret::new("s".into(), prior(&[2 * W, 2 * W]), rows).unwrap());
    let bad = bits(2 * W + 1, W);
    let refusal = control(&good, &bad, &context, Claim::ldp(level(3, 1)).about_secret());
    let cell = Cell { high: Some(0), low: Some(1), ..Cell::default() };
    assert_eq!((refusal.side, refusal.cell), (Side::Ldp, cell));
    assert!(refusal.to_string().contains("a pattern of bits"), "{refusal}");
    let refusal = control(&good, &bad, &context, alip(FREE, level(3, 2)).about_secret());
    assert_eq!(refusal.side, Side::Upper);
    let refusal = control(&good, &bad, &context, alip(level(2, 1), FREE).about_secret());
    assert_eq!(refusal.side, Side::Lower);
}

fn di(epsilon: Epsilon) -> Claim {
    Claim { about: Subject::Input, bound: Bound::Di(epsilon), delta: Delta::ZERO }
}

/// Prior 1/4 3/4 on rows 3 1 4 and 1 3 4: the joint is 3 1 4 against 3 9 12, so posterior odds
/// reach 9 at output 1.
#[test]
fn identifiability_every_shape() {
    let context = Context::Known(prior(&[W, 3 * W]));
    let refusal = control(&square(), &lowered(), &context, di(level(9, 1)));
    assert_eq!((refusal.side, refusal.cell), (Side::Di, pair(1, 1, 0)));
    let each =
        Context::Each(Priors::new(vec![prior(&[2 * W, 2 * W]), prior(&[W, 3 * W])]).unwrap());
    let refusal = control(&square(), &lowered(), &each, di(level(9, 1)));
    assert_eq!((refusal.side, refusal.cell), (Side::Di, Cell { prior: Some(1), ..pair(1, 1, 0) }));
    // The prior's own odds: no channel does better.
    let constant = table(&[&[MASS_ONE], &[MASS_ONE]]);
    assert!(draft(constant.clone(), context.clone(), vec![di(level(3, 1))]).verify().is_ok());
    let refusal = draft(constant, context, vec![di(level(299, 100))]).verify().unwrap_err();
    assert_eq!((refusal.side, refusal.cell), (Side::Di, pair(0, 1, 0)));
    // Keep: own 5/8 against 1/8 under weights 1 1 1 1, and one weight moved.
    let even = Context::Known(prior(&[W; 4]));
    let refusal = control(&kept(HALF, BASE), &kept(HALF + 1, BASE), &even, di(level(5, 1)));
    assert_eq!((refusal.side, refusal.cell), (Side::Di, pair(1, 1, 0)));
    let heavier = Context::Known(prior(&[W, W, W + 1, W - 1]));
    let refusal = draft(kept(HALF, BASE), heavier, vec![di(level(5, 1))]).verify().unwrap_err();
    assert_eq!((refusal.side, refusal.cell), (Side::Di, pair(2, 2, 3)));
    // An input that never releases itself can still be the likeliest cause of every output.
    let silent = Shape::Keep(Keep::new(vec![0; 3], vec![0, 4 * U, 4 * U]).unwrap());
    let context = Context::Known(prior(&[2 * W, W, W]));
    assert!(draft(silent.clone(), context.clone(), vec![di(level(2, 1))]).verify().is_ok());
    let refusal = draft(silent, context, vec![di(level(199, 100))]).verify().unwrap_err();
    assert_eq!((refusal.side, refusal.cell.high), (Side::Di, Some(0)));
    // Bits: ratio 3 under the uniform prior.
    let bits = |own| Shape::Bits(Bits::new(4, own, W).unwrap());
    let refusal = control(&bits(2 * W), &bits(2 * W + 1), &even, di(level(3, 1)));
    assert_eq!(refusal.side, Side::Di);
}

/// ε = 0 is legal: equal rows say nothing, one unit says something.
#[test]
fn zero_epsilon() {
    let equal = table(&[&[3 * U, 5 * U], &[3 * U, 5 * U]]);
    let unequal = table(&[&[3 * U + 1, 5 * U - 1], &[3 * U, 5 * U]]);
    for claim in [Claim::ldp(Epsilon::ZERO), Claim::lip(Epsilon::ZERO)] {
        control(&equal, &unequal, &uniform(), claim);
    }
    let keep = |first| Shape::Keep(Keep::new(vec![first, 0], vec![3 * U, 5 * U]).unwrap());
    let bits = |own| Shape::Bits(Bits::new(2, own, W).unwrap());
    for claim in [Claim::ldp(Epsilon::ZERO), Claim::lip(Epsilon::ZERO)] {
        control(&keep(0), &keep(1), &uniform(), claim);
        control(&bits(W), &bits(W + 1), &uniform(), claim);
    }
}

/// All claims must hold; the false one is named.
#[test]
fn conjunction() {
    let good = [
        Claim::ldp(level(3, 1)),
        Claim::lip(level(2, 1)),
        alip(level(2, 1), level(3, 2)),
        Claim::ldp(level(2, 1)).with_delta(Delta::from_units(U).unwrap()),
        Claim::lip(level(5, 4)).with_delta(Delta::from_units(3 * U / 4).unwrap()),
        di(level(3, 1)),
    ];
    assert!(draft(square(), uniform(), good.to_vec()).verify().is_ok());
    let bad = [
        Claim::ldp(level(3 * (1 << 20) - 1, 1 << 20)),
        Claim::lip(level(2 * (1 << 20) - 1, 1 << 20)),
        alip(level(2, 1), level(3 * (1 << 20) - 1, 2 << 20)),
        Claim::ldp(level(2, 1)).with_delta(Delta::from_units(U - 1).unwrap()),
        Claim::lip(level(5, 4)).with_delta(Delta::from_units(3 * U / 4 - 1).unwrap()),
        di(level(3 * (1 << 20) - 1, 1 << 20)),
    ];
    for at in 0..good.len() {
        let mut claims = good.to_vec();
        claims[at] = bad[at];
        let refusal = draft(square(), uniform(), claims).verify().unwrap_err();
        assert_eq!((refusal.index, refusal.claim), (at, bad[at]));
        assert!(refusal.to_string().starts_with(&format!("claim {at} ")), "{refusal}");
    }
}

/// On random channels the verdict is that of the definitions, and the first false claim is named.
#[test]
fn verdicts_are_those_of_the_definitions() {
    let mut random = Random::new(21);
    let (mut accepted, mut refused, mut touching) = (0, 0, 0);
    for round in 0..2500 {
        let shape = random.shape(4);
        let context = random.context(shape.inputs(), round % 5);
        let mut claims = Vec::new();
        for _ in 0..random.size(1, 3) {
            let mut claim = random.claim(&shape, &context);
            // Half of the time put a pure claim exactly on, or just below, what is attained.
            if claim.delta == Delta::ZERO
                && random.one_in(2)
                && let Some(on) = touch(&claim, &shape, &context, random.one_in(2))
            {
                claim = on;
                touching += 1;
            }
            claims.push(claim);
        }
        let first_false = claims.iter().position(|claim| !holds(claim, &shape, &context));
        let verdict = draft(shape.clone(), context.clone(), claims.clone()).verify();
        let shown = || format!("{claims:?} {shape:?} {context:?}");
        match (verdict, first_false) {
            (Ok(_), None) => accepted += 1,
            (Err(refusal), Some(index)) => {
                assert_eq!((refusal.index, refusal.claim), (index, claims[index]), "{}", shown());
                assert!(refusal.attained > refusal.allowed);
                refused += 1;
            }
            (verdict, expected) => panic!("{verdict:?}, expected {expected:?}: {}", shown()),
        }
    }
    // Neither outcome is rare, and the edge itself was hit.
    assert!(accepted > 400 && refused > 400 && touching > 300, "{accepted} {refused} {touching}");
}

/// The claim at exactly the attained odds, or a little below them, where they can be written.
fn touch(claim: &Claim, shape: &Shape, context: &Context, on: bool) -> Option<Claim> {
    let (input, secret) = exact(shape, context);
    let leakage = if claim.about == Subject::Input { input } else { secret? };
    let write = |level: common::Level| {
        let level = level?;
        let numerator: u32 = level.numerator().clone().try_into().ok()?;
        let denominator: u32 = level.denominator().clone().try_into().ok()?;
        let below = |n: u32, d: u32| Some((n.checked_mul(1 << 10)? - 1, d << 10));
        let (n, d) = if on { (numerator, denominator) } else { below(numerator, denominator)? };
        Epsilon::from_odds(n, d).ok()
    };
    let bound = match claim.bound {
        Bound::Ldp(_) => Bound::Ldp(write(leakage.ldp)?),
        Bound::Lip { .. } => {
            Bound::Lip { lower: write(leakage.lower?)?, upper: write(leakage.upper?)? }
        }
        Bound::Di(_) => Bound::Di(write(identifiability(shape, context))?),
    };
    Some(Claim { bound, ..*claim })
}

/// Domains of a million symbols verify in moments, whatever the context.
#[test]
fn large_alphabets() {
    let symbols = 1_000_000;
    let spread = |one: u64| {
        let mut parts = vec![one / symbols; symbols as usize];
        parts[0] += one - parts.iter().sum::<u64>();
        parts
    };
    let weights = spread(WEIGHT_ONE);
    let upper = weights.iter().map(|w| 2 * w).collect();
    let lower = weights.iter().map(|w| w / 2).collect();
    let known = Context::Known(prior(&weights));
    let within = Context::Within(PriorBox::new(lower, upper).unwrap());
    let keep = vec![KEEP_ONE / 2; symbols as usize];
    let keep = Shape::Keep(Keep::new(keep, spread(MASS_ONE)).unwrap());
    let bits = Shape::Bits(Bits::new(symbols as usize, WEIGHT_ONE / 2, WEIGHT_ONE / 4).unwrap());
    for context in [Context::Unknown, known, within] {
        let claim = Claim::ldp(level(3, 1));
        assert!(draft(bits.clone(), context.clone(), vec![claim]).verify().is_ok());
        let refusal = draft(keep.clone(), context, vec![claim]).verify().unwrap_err();
        assert_eq!(refusal.side, Side::Ldp);
    }
}
