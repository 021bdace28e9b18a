//! Draws of blocks: both edges of every cell, every way to draw, and what is taken for a report.

use crate::common::{Random, draft};
use crate::sample::{Script, symbol, tail};
use rand_chacha::ChaCha12Rng;
use rand_core::{Rng, SeedableRng};
use undertone_core::incidence::{Family, Incidence};
use undertone_core::{
    Claim, Context, Epsilon, MASS_ONE, Policy, Report, ReportId, SampleError, Sampler, Shape,
    Symbol, Token,
};

/// A policy with a coin that leaves its level finite.
fn policy(random: &mut Random, symbols: usize, bits: bool) -> (Policy, Incidence) {
    loop {
        let incidence = random.incidence(symbols);
        if incidence.releases_bits() != bits {
            continue;
        }
        let claims = vec![Claim::ldp(Epsilon::LARGEST)];
        let shape = Shape::Incidence(incidence.clone());
        if let Ok(policy) = draft(shape, Context::Unknown, claims).verify() {
            return (policy, incidence);
        }
    }
}

/// The first and the last of the 2^64 indices that lead to a number.
fn ends(number: u64, kind: u64) -> [u64; 2] {
    let edge = |number: u64| (u128::from(number) << 64).div_ceil(u128::from(kind));
    [edge(number) as u64, (edge(number + 1) - 1) as u64]
}

#[test]
fn numbered_blocks_are_drawn_from_fourteen_bytes() {
    let mut random = Random::new(1821);
    for _ in 0..60 {
        let symbols = random.size(2, 7);
        let (policy, incidence) = policy(&mut random, symbols, false);
        let sampler = Sampler::new(&policy);
        let coin = incidence.coin();
        for x in 0..symbols {
            for inside in [true, false] {
                let each = incidence.replication().unwrap();
                let kind = if inside { each } else { incidence.blocks().unwrap() - each };
                // The last u that is inside, or the first that is not.
                let coin = if inside { coin.checked_sub(1) } else { Some(coin) };
                let Some(coin) = coin.filter(|&u| u < MASS_ONE) else { continue };
                for number in 0..kind as u64 {
                    for index in ends(number, kind as u64) {
                        let script = [tail(coin, 6), tail(index, 8)].concat();
                        let mut rng = Script::new(&script[..]);
                        let token = policy.draw(symbol(&policy, x), &mut rng).unwrap();
                        assert_eq!(rng.read, 14);
                        let expected = incidence.nth(x as u32, inside, number as u32);
                        assert_eq!(token, Token::Index(expected));
                        assert_eq!(incidence.contains(expected, x as u32), inside);
                        let (mut rng, mut bulk) = (Script::new(&script[..]), [u32::MAX]);
                        let list = [symbol(&policy, x)];
                        sampler.draw_indices(&list, &mut rng, &mut bulk).unwrap();
                        assert_eq!((bulk, rng.read), ([expected], 14));
                    }
                }
            }
        }
    }
}

/// A list longer than the blocks that bytes are read in, against one draw after another from the same bytes.
#[test]
fn many_draws_are_single_draws() {
    let mut random = Random::new(1822);
    for round in 0..24 {
        let symbols = random.size(2, 7);
        let bits = round % 2 == 0;
        let (policy, incidence) = policy(&mut random, symbols, bits);
        let sampler = Sampler::new(&policy);
        let inputs: Vec<Symbol> =
            (0..777).map(|_| symbol(&policy, random.size(0, symbols - 1))).collect();
        let size = match incidence.family() {
            Family::Subsets(subsets) => 6 + 8 * subsets.size(),
            Family::Geometry(_) | Family::Listed(_) => 14,
        };
        let mut bytes = vec![0; size * inputs.len()];
        ChaCha12Rng::seed_from_u64(round).fill_bytes(&mut bytes);
        let mut rng = Script::new(&bytes[..]);
        let single: Vec<Token> =
            inputs.iter().map(|&x| policy.draw(x, &mut rng).unwrap()).collect();
        assert_eq!(rng.read, bytes.len());
        let mut rng = Script::new(&bytes[..]);
        if bits {
            let mut packed = vec![0xff; inputs.len()];
            sampler.draw_bits(&inputs, &mut rng, &mut packed).unwrap();
            let bulk: Vec<Token> =
                packed.iter().map(|&byte| Token::Bits(vec![byte].into())).collect();
            assert_eq!(bulk, single);
            let refused = sampler.draw_indices(&inputs, &mut rng, &mut vec![0; inputs.len()]);
            assert_eq!(refused, Err(SampleError::WrongShape));
        } else {
            let mut out = vec![0; inputs.len()];
            sampler.draw_indices(&inputs, &mut rng, &mut out).unwrap();
            let bulk: Vec<Token> = out.into_iter().map(Token::Index).collect();
            assert_eq!(bulk, single);
            let refused = sampler.draw_bits(&inputs, &mut rng, &mut vec![0; inputs.len()]);
            assert_eq!(refused, Err(SampleError::WrongShape));
        }
        assert_eq!(rng.read, bytes.len());
        let mut rng = Script::new(&bytes[..]);
        let flat: Vec<Token> =
            inputs.iter().map(|&x| policy.draw_flat(x, &mut rng).unwrap()).collect();
        assert_eq!((flat, rng.read), (single, bytes.len()));
    }
}

/// What a subset's bytes say, by the definition of Floyd's algorithm.
#[test]
fn subsets_are_drawn_by_floyds_algorithm() {
    let mut random = Random::new(1823);
    for _ in 0..400 {
        let symbols = random.size(2, 7);
        let (policy, incidence) = policy(&mut random, symbols, true);
        let Family::Subsets(subsets) = incidence.family() else { panic!("subsets") };
        let x = random.size(0, symbols - 1);
        let mut bytes = vec![0; 6 + 8 * subsets.size()];
        random.rng().fill_bytes(&mut bytes);
        let number = |bytes: &[u8]| bytes.iter().fold(0u64, |n, &byte| n << 8 | u64::from(byte));
        let inside = number(&bytes[..6]) < incidence.coin();
        let others: Vec<usize> = (0..symbols).filter(|&z| z != x).collect();
        let mut chosen: Vec<usize> = Vec::new();
        let drawn = subsets.size() - usize::from(inside);
        for (step, last) in (others.len() - drawn..others.len()).enumerate() {
            let index = number(&bytes[6 + 8 * step..][..8]);
            let at = ((u128::from(index) * (last as u128 + 1)) >> 64) as usize;
            chosen.push(if chosen.contains(&at) { last } else { at });
        }
        let mut members: Vec<usize> = chosen.into_iter().map(|at| others[at]).collect();
        members.extend(inside.then_some(x));
        let mut packed = [0u8];
        members.iter().for_each(|z| packed[0] |= 0x80 >> z);
        let mut rng = Script::new(&bytes[..]);
        let token = policy.draw(symbol(&policy, x), &mut rng).unwrap();
        assert_eq!(token, Token::Bits(packed.to_vec().into()));
        assert_eq!(rng.read, bytes.len());
    }
}

#[test]
fn reports_that_no_block_has_are_refused() {
    let mut random = Random::new(1824);
    for round in 0..40 {
        let symbols = random.size(2, 7);
        let (policy, incidence) = policy(&mut random, symbols, round % 2 == 0);
        let accepts = |token: Token| {
            policy.accepts(&Report { policy: policy.id(), id: ReportId([0; 16]), token }).is_ok()
        };
        let bits = |byte: u8| Token::Bits(vec![byte].into());
        match incidence.family() {
            Family::Subsets(subsets) => {
                for byte in 0..=u8::MAX {
                    let spare = byte & (0xff >> symbols) != 0;
                    let is_subset = byte.count_ones() as usize == subsets.size() && !spare;
                    assert_eq!(accepts(bits(byte)), is_subset, "{byte:08b}");
                }
                assert!(!accepts(Token::Index(0)));
                assert!(!accepts(Token::Bits(vec![0xff; 2].into())));
                assert!(!accepts(Token::Bits(Vec::new().into())));
            }
            Family::Geometry(_) | Family::Listed(_) => {
                let blocks = incidence.blocks().unwrap() as u32;
                assert!(accepts(Token::Index(0)) && accepts(Token::Index(blocks - 1)));
                assert!(!accepts(Token::Index(blocks)) && !accepts(Token::Index(u32::MAX)));
                assert!(!accepts(bits(0x80)));
            }
        }
    }
}
