//! The sampled distribution is the table: both edges of every cell, through every way to draw.

use crate::common::{Random, draft, table};
use rand_core::{TryCryptoRng, TryRng};
use std::convert::Infallible;
use undertone_core::{
    Bits, Claim, Context, Epsilon, KEEP_ONE, Keep, MASS_ONE, Policy, SampleError, Sampler, Shape,
    Symbol, Token, WEIGHT_ONE,
};

/// A generator that returns a script, byte by byte, and knows how much of it was read.
pub(crate) struct Script {
    bytes: Vec<u8>,
    pub(crate) read: usize,
}

impl Script {
    pub(crate) fn new(bytes: impl Into<Vec<u8>>) -> Self {
        Self { bytes: bytes.into(), read: 0 }
    }
}

impl TryRng for Script {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        panic!("the draw is pinned to bytes")
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        panic!("the draw is pinned to bytes")
    }

    fn try_fill_bytes(&mut self, out: &mut [u8]) -> Result<(), Infallible> {
        out.copy_from_slice(&self.bytes[self.read..self.read + out.len()]);
        self.read += out.len();
        Ok(())
    }
}

impl TryCryptoRng for Script {}

/// A policy that claims as little as can be claimed; identity rows claim nothing finite, so they
/// escape through δ, or through rows mixed with a trace of everything.
fn policy(shape: Shape) -> Policy {
    let delta = undertone_core::Delta::from_units(MASS_ONE - 1).unwrap();
    let claim = Claim::ldp(Epsilon::LARGEST);
    let escaping = !matches!(shape, Shape::Bits(_));
    let claim = if escaping { claim.with_delta(delta) } else { claim };
    draft(shape, Context::Unknown, vec![claim]).verify().unwrap()
}

pub(crate) fn symbol(policy: &Policy, x: usize) -> Symbol {
    policy.draft().inputs().symbol(x).unwrap()
}

/// The last `count` bytes of a number, big-endian.
pub(crate) fn tail(value: u64, count: usize) -> Vec<u8> {
    value.to_be_bytes()[8 - count..].to_vec()
}

/// Draws through the three ways, which must agree and read exactly the whole script.
fn draw_index(policy: &Policy, sampler: &Sampler, x: usize, script: &[u8]) -> u32 {
    let x = symbol(policy, x);
    let mut rng = Script::new(script);
    let Token::Index(single) = policy.draw(x, &mut rng).unwrap() else { panic!("an index") };
    assert_eq!(rng.read, script.len());
    let mut rng = Script::new(script);
    assert_eq!(policy.draw_flat(x, &mut rng).unwrap(), Token::Index(single));
    assert_eq!(rng.read, script.len());
    let mut rng = Script::new(script);
    let mut bulk = [u32::MAX];
    sampler.draw_indices(&[x], &mut rng, &mut bulk).unwrap();
    assert_eq!((bulk, rng.read), ([single], script.len()));
    single
}

/// First and last u of every cell, by adding masses up.
fn edges(masses: &[u64]) -> Vec<(u64, u32)> {
    let mut edges = Vec::new();
    let mut start = 0;
    for (y, &mass) in masses.iter().enumerate().filter(|&(_, &mass)| mass > 0) {
        edges.push((start, y as u32));
        start += mass;
        edges.push((start - 1, y as u32));
    }
    assert_eq!(start, MASS_ONE);
    edges
}

fn check_table(masses: Vec<Vec<u64>>) {
    let rows: Vec<&[u64]> = masses.iter().map(Vec::as_slice).collect();
    let policy = policy(table(&rows));
    let sampler = Sampler::new(&policy);
    for (x, row) in masses.iter().enumerate() {
        for (u, y) in edges(row) {
            assert_eq!(draw_index(&policy, &sampler, x, &tail(u, 6)), y, "row {x}, u {u}");
        }
    }
}

#[test]
fn table_edges() {
    let mut random = Random::new(41);
    for _ in 0..150 {
        let (inputs, outputs) = (random.size(1, 6), random.size(1, 40));
        // The last row keeps any two rows from being disjoint, which no δ below one allows.
        let base = vec![MASS_ONE / outputs as u64; outputs];
        let mut masses: Vec<Vec<u64>> =
            (0..inputs).map(|_| random.parts(outputs, MASS_ONE)).collect();
        for row in &mut masses {
            if row[0] == 0 {
                let donor = row.iter().position(|&mass| mass > 0).unwrap();
                row[donor] -= 1;
                row[0] += 1;
            }
        }
        let mut last = base;
        last[outputs - 1] += MASS_ONE - last.iter().sum::<u64>();
        masses.push(last);
        check_table(masses);
    }
}

#[test]
fn keep_edges() {
    let mut random = Random::new(42);
    for round in 0..60 {
        let symbols = random.size(1, 12);
        let base = random.parts(symbols, MASS_ONE);
        let keep: Vec<u64> = (0..symbols)
            .map(|_| match random.below(4) {
                // Always keeping two different inputs is disjoint; one in every channel may.
                0 if round % 4 == 0 => 0,
                1 => 1,
                2 => KEEP_ONE - 1,
                _ => random.below(KEEP_ONE),
            })
            .collect();
        let mut keep = keep;
        if round % 3 == 0 {
            keep[0] = KEEP_ONE;
        }
        let Ok(policy) = draft(
            Shape::Keep(Keep::new(keep.clone(), base.clone()).unwrap()),
            Context::Unknown,
            vec![
                Claim::ldp(Epsilon::LARGEST)
                    .with_delta(undertone_core::Delta::from_units(MASS_ONE - 1).unwrap()),
            ],
        )
        .verify() else {
            continue;
        };
        let sampler = Sampler::new(&policy);
        for (x, &keep) in keep.iter().enumerate() {
            for (u, y) in edges(&base) {
                let draw = |coin: u64| {
                    let script = [tail(coin, 5), tail(u, 6)].concat();
                    draw_index(&policy, &sampler, x, &script)
                };
                if keep > 0 {
                    assert_eq!(draw(0), x as u32);
                    assert_eq!(draw(keep - 1), x as u32);
                }
                if keep < KEEP_ONE {
                    assert_eq!(draw(keep), y);
                    assert_eq!(draw(KEEP_ONE - 1), y);
                }
            }
        }
    }
}

/// Bits straight from their definition: byte i against the top byte of threshold i, ties resolved
/// in order by three more bytes each. Returns the bits and how many bytes that took.
fn pinned_bits(bits: &Bits, x: usize, script: &[u8]) -> (Vec<u8>, usize) {
    let symbols = bits.symbols();
    let mut packed = vec![0u8; symbols.div_ceil(8)];
    let mut read = symbols;
    for at in 0..symbols {
        let threshold = if at == x { bits.own() } else { bits.other() };
        let mut u = u64::from(script[at]) << 24;
        if u64::from(script[at]) == threshold >> 24 {
            for byte in 0..3 {
                u |= u64::from(script[read + byte]) << (16 - 8 * byte);
            }
            read += 3;
        }
        if u < threshold {
            packed[at / 8] |= 1 << (7 - at % 8);
        }
    }
    (packed, read)
}

fn check_bits(policy: &Policy, sampler: &Sampler, x: usize, script: &[u8]) {
    let Shape::Bits(bits) = policy.draft().shape() else { panic!("bits") };
    let (expected, used) = pinned_bits(bits, x, script);
    let symbol = symbol(policy, x);
    let mut rng = Script::new(script);
    let token = policy.draw(symbol, &mut rng).unwrap();
    assert_eq!((&token, rng.read), (&Token::Bits(expected.clone().into()), used));
    let mut rng = Script::new(script);
    let mut bulk = vec![0xff; expected.len()];
    sampler.draw_bits(&[symbol], &mut rng, &mut bulk).unwrap();
    assert_eq!((bulk, rng.read), (expected, used));
    // The flat way reads four bytes per bit whatever happens.
    let mut rng = Script::new(script);
    assert_eq!(policy.draw_flat(symbol, &mut rng).unwrap(), token);
    assert_eq!(rng.read, 4 * bits.symbols());
}

#[test]
fn bits_edges() {
    let thresholds = [
        0,
        1,
        0xff_ffff,
        1 << 24,
        (1 << 24) + 1,
        0x7f00_0000,
        0x7f12_3456,
        0x8000_0000,
        0xff00_0000,
        0xff00_0001,
        WEIGHT_ONE - 1,
        WEIGHT_ONE,
    ];
    for own in thresholds {
        for other in thresholds {
            for symbols in [1, 2, 8, 9] {
                let shape = Shape::Bits(Bits::new(symbols, own, other).unwrap());
                let verified =
                    draft(shape, Context::Unknown, vec![Claim::ldp(Epsilon::LARGEST)]).verify();
                // Where own and other are told apart for sure nothing finite holds.
                let Ok(policy) = verified else { continue };
                let sampler = Sampler::new(&policy);
                for x in [0, symbols / 2, symbols - 1] {
                    // Both sides of each threshold, at every place, and everywhere at once.
                    for threshold in [own, other] {
                        for u in [threshold.saturating_sub(1), threshold.min(WEIGHT_ONE - 1)] {
                            let (first, rest) = (tail(u, 4)[0], &tail(u, 4)[1..]);
                            let everywhere = [vec![first; symbols], rest.repeat(symbols)].concat();
                            check_bits(&policy, &sampler, x, &everywhere);
                            for place in 0..symbols {
                                let mut script = vec![0x55; symbols];
                                script[place] = first;
                                script.extend(rest.repeat(symbols));
                                check_bits(&policy, &sampler, x, &script);
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Several ties in one vector, resolved differently.
#[test]
fn bits_ties_in_order() {
    let (own, other) = (0x8012_3456, 0x4080_0000);
    let policy = policy(Shape::Bits(Bits::new(5, own, other).unwrap()));
    let sampler = Sampler::new(&policy);
    let mut script = vec![0x40, 0x40, 0x80, 0x00, 0x40]; // ties: 0, 1, own bit 2, 4; set: 3
    script.extend([0x7f, 0xff, 0xff]); // bit 0: just below, set
    script.extend([0x80, 0x00, 0x00]); // bit 1: at the threshold, clear
    script.extend([0x12, 0x34, 0x55]); // bit 2: just below, set
    script.extend([0xff, 0xff, 0xff]); // bit 4: above, clear
    script.extend([0; 3]); // only the flat way reads these
    assert_eq!(
        pinned_bits(&Bits::new(5, own, other).unwrap(), 2, &script),
        (vec![0b1011_0000], 17)
    );
    check_bits(&policy, &sampler, 2, &script);
    let mut random = Random::new(43);
    for _ in 0..2000 {
        let script: Vec<u8> = (0..20)
            .map(|_| match random.below(4) {
                0 => 0x40,
                1 => 0x80,
                2 => [0x12, 0x34, 0x56, 0x00][random.size(0, 3)],
                _ => random.below(256) as u8,
            })
            .collect();
        let x = random.size(0, 4);
        check_bits(&policy, &sampler, x, &script);
    }
}

/// Many draws at once read the same bytes in the same order as one after the other, across the
/// block boundary too.
#[test]
fn bulk_is_single() {
    let mut random = Random::new(44);
    for round in 0..12 {
        let shape = match round % 3 {
            0 => table(&[&[MASS_ONE / 4, 3 * (MASS_ONE / 4), 0], &[1, 1, MASS_ONE - 2]]),
            1 => random.keep(5),
            _ => Shape::Bits(Bits::new(11, 3 << 29, 5 << 28).unwrap()),
        };
        let claims = vec![Claim::ldp(Epsilon::LARGEST)];
        let delta = undertone_core::Delta::from_units(MASS_ONE - 1).unwrap();
        let claims = if matches!(shape, Shape::Bits(_)) {
            claims
        } else {
            vec![claims[0].with_delta(delta)]
        };
        let Ok(policy) = draft(shape, Context::Unknown, claims).verify() else { continue };
        let sampler = Sampler::new(&policy);
        let size = policy.draft().inputs().len();
        for count in [0, 1, 255, 256, 257, 600] {
            let inputs: Vec<Symbol> =
                (0..count).map(|_| symbol(&policy, random.size(0, size - 1))).collect();
            let script: Vec<u8> = (0..44 * 600).map(|_| random.below(256) as u8).collect();
            let (mut one, mut many) = (Script::new(script.clone()), Script::new(script));
            let single: Vec<Token> =
                inputs.iter().map(|&x| policy.draw(x, &mut one).unwrap()).collect();
            let bulk: Vec<Token> = if let Shape::Bits(_) = policy.draft().shape() {
                let mut out = vec![0; 2 * count];
                sampler.draw_bits(&inputs, &mut many, &mut out).unwrap();
                out.chunks(2).map(|two| Token::Bits(two.into())).collect()
            } else {
                let mut out = vec![0; count];
                sampler.draw_indices(&inputs, &mut many, &mut out).unwrap();
                out.into_iter().map(Token::Index).collect()
            };
            assert_eq!((single, one.read), (bulk, many.read));
        }
    }
}

/// A report is the token of the same bytes, then sixteen for its id.
#[test]
fn reports_are_drawn_from_the_same_bytes() {
    use undertone_core::{Consent, Ledger, Nats, Sequence};
    let policy =
        policy(table(&[&[MASS_ONE / 2, MASS_ONE / 2], &[MASS_ONE / 4, 3 * (MASS_ONE / 4)]]));
    let other = policy.draft().clone().with_claims(vec![Claim::ldp(Epsilon::LARGEST)]).unwrap();
    let other = other.verify().unwrap();
    let x = symbol(&policy, 1);
    let id: Vec<u8> = (1..=16).collect();
    for (u, token) in [(MASS_ONE / 4 - 1, 0), (MASS_ONE / 4, 1)] {
        let mut ledger = Ledger::new(Nats::from_units(100_000_000_000));
        let script = [tail(u, 6), id.clone()].concat();
        let permit = ledger.spend("datum", &policy, &Sequence::new(), &Consent::UNLIMITED).unwrap();
        let mut rng = Script::new(script.clone());
        let report = policy.randomize(x, permit, &mut rng).unwrap();
        assert_eq!((report.token.clone(), rng.read), (Token::Index(token), 22));
        assert_eq!(report.id.0.to_vec(), id);
        assert_eq!(report.policy, policy.id());
        assert_eq!(policy.accepts(&report), Ok(()));
        let permit = ledger.spend("datum", &policy, &Sequence::new(), &Consent::UNLIMITED).unwrap();
        assert_eq!(policy.randomize_flat(x, permit, &mut Script::new(script.clone())), Ok(report));
        // A permit is for one policy; nothing is drawn for another.
        let permit = ledger.spend("datum", &other, &Sequence::new(), &Consent::UNLIMITED).unwrap();
        let mut rng = Script::new(script);
        assert_eq!(policy.randomize(x, permit, &mut rng), Err(SampleError::WrongPermit));
        assert_eq!(rng.read, 0);
    }
}

#[test]
fn misuse_is_refused() {
    let square =
        policy(table(&[&[MASS_ONE / 2, MASS_ONE / 2], &[MASS_ONE / 4, 3 * (MASS_ONE / 4)]]));
    let kept = policy(Shape::Keep(Keep::new(vec![1, 2], vec![MASS_ONE / 2; 2]).unwrap()));
    let bits = policy(Shape::Bits(Bits::new(2, 3 << 30, 1 << 30).unwrap()));
    let larger = undertone_core::Alphabet::indices(3).unwrap();
    let (inside, outside) = (symbol(&square, 1), larger.symbol(2).unwrap());
    let mut out = [7; 2];
    for policy in [&square, &kept, &bits] {
        let mut rng = Script::new([]);
        assert_eq!(policy.draw(outside, &mut rng), Err(SampleError::UnknownSymbol));
        assert_eq!(policy.draw_flat(outside, &mut rng), Err(SampleError::UnknownSymbol));
    }
    for policy in [&square, &kept] {
        let sampler = Sampler::new(policy);
        let mut rng = Script::new([]);
        let unknown = sampler.draw_indices(&[inside, outside], &mut rng, &mut out);
        assert_eq!(unknown, Err(SampleError::UnknownSymbol));
        let buffer = sampler.draw_indices(&[inside], &mut rng, &mut out);
        assert_eq!(buffer, Err(SampleError::Buffer { expected: 1, found: 2 }));
        let shape = sampler.draw_bits(&[inside], &mut rng, &mut [0]);
        assert_eq!(shape, Err(SampleError::WrongShape));
    }
    // Nothing was written.
    assert_eq!(out, [7; 2]);
    let sampler = Sampler::new(&bits);
    let mut rng = Script::new([]);
    let shape = sampler.draw_indices(&[inside], &mut rng, &mut [0]);
    assert_eq!(shape, Err(SampleError::WrongShape));
    let unknown = sampler.draw_bits(&[outside], &mut rng, &mut [0]);
    assert_eq!(unknown, Err(SampleError::UnknownSymbol));
    for found in [0, 2] {
        let buffer = sampler.draw_bits(&[inside], &mut rng, &mut vec![0; found]);
        assert_eq!(buffer, Err(SampleError::Buffer { expected: 1, found }));
    }
    // The secret does not print.
    assert_eq!(format!("{inside:?}"), "Symbol(..)");
}
