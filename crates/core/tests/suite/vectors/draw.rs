//! Draws from given bytes, by the three ways of the kernel and by the pinned map read off the document.

use crate::vectors::blocks::Blocks;
use crate::vectors::{bytes, fields, load, policy, text};
use serde_json::Value;
use undertone_core::{Draft, Sampler, Shape, Symbol, Token};

use crate::vectors::generator::stream::Stream;

/// The token of a case or report.
pub(crate) fn token(value: &Value) -> Token {
    match value.get("token") {
        Some(index) => Token::Index(index.as_u64().unwrap() as u32),
        None => Token::Bits(bytes(&value["bits"]).into()),
    }
}

pub(crate) fn check(path: &str) {
    let file = load(path);
    assert_eq!(fields(&file), ["bytes", "cases", "policy"], "{path}");
    let document = policy::document(&file["policy"]);
    let drawn = policy::verified(&file["policy"]);
    assert_eq!(Draft::from_bytes(&bytes(&file["bytes"])).unwrap(), *drawn.draft(), "{path}");
    let listed = document["channel"].get("family").and_then(|_| Blocks::new(&document["channel"]));
    let cases = file["cases"].as_array().unwrap();
    assert!(!cases.is_empty(), "{path}");
    let (mut symbols, mut stream, mut tokens) = (Vec::new(), Vec::new(), Vec::new());
    for case in cases {
        let index = case["symbol"].as_u64().unwrap() as usize;
        let given = bytes(&case["stream"]);
        let (expected, consumed) = (token(case), case["consumed"].as_u64().unwrap() as usize);
        assert!(fields(case).len() == 4, "{path}: {case}");

        if let Some(read) = pinned(&document, listed.as_ref(), index, &given) {
            assert_eq!(read, (expected.clone(), consumed), "{case}");
        }
        let symbol = drawn.draft().inputs().symbol(index).unwrap();
        let mut rng = Stream::new(&given);
        assert_eq!(drawn.draw(symbol, &mut rng).unwrap(), expected, "{path}: {case}");
        assert_eq!(rng.consumed, consumed, "{path}: {case}");
        let flat = drawn.draw_flat(symbol, &mut Stream::new(&given));
        assert_eq!(flat, Ok(expected.clone()), "{case}");

        symbols.push(symbol);
        stream.extend_from_slice(&given[..consumed]);
        tokens.push(expected);
    }
    bulk(drawn.draft().shape(), &Sampler::new(&drawn), &symbols, &stream, &tokens);
}

/// All cases in one call read the same bytes and give the same tokens.
fn bulk(shape: &Shape, sampler: &Sampler, symbols: &[Symbol], stream: &[u8], tokens: &[Token]) {
    let mut rng = Stream::new(stream);
    if shape.releases_bits() {
        let width = shape.outputs().div_ceil(8);
        let mut out = vec![0; width * symbols.len()];
        sampler.draw_bits(symbols, &mut rng, &mut out).unwrap();
        let found: Vec<Token> = out.chunks(width).map(|bits| Token::Bits(bits.into())).collect();
        assert_eq!(found, tokens);
    } else {
        let mut out = vec![0; symbols.len()];
        sampler.draw_indices(symbols, &mut rng, &mut out).unwrap();
        assert_eq!(out.into_iter().map(Token::Index).collect::<Vec<_>>(), tokens);
    }
    assert_eq!(rng.consumed, stream.len());
}

/// The pinned map, as the README of the vectors states it; `None` where blocks are too many to list.
fn pinned(
    document: &Value,
    listed: Option<&Blocks>,
    symbol: usize,
    stream: &[u8],
) -> Option<(Token, usize)> {
    let channel = &document["channel"];
    let list = |value: &Value| -> Vec<u64> {
        value.as_array().unwrap().iter().map(|v| v.as_u64().unwrap()).collect()
    };
    let number = |range: std::ops::Range<usize>| {
        stream[range].iter().fold(0u64, |value, &byte| 256 * value + u64::from(byte))
    };
    let below = |masses: &[u64], u: u64| {
        let edge = |y: usize| masses[..=y].iter().sum::<u64>();
        (0..masses.len()).filter(|&y| edge(y) <= u).count() as u32
    };
    Some(match text(&channel["shape"]) {
        "incidence" => {
            let inside = number(0..6) < channel["coin"].as_u64().unwrap();
            let Some(size) = channel["family"]["size"].as_u64() else {
                let block = listed?.nth(symbol, inside, number(6..14));
                return Some((Token::Index(block as u32), 14));
            };
            let count = channel["symbols"].as_u64().unwrap();
            let drawn = size - u64::from(inside);
            let mut set: Vec<u64> = if inside { vec![symbol as u64] } else { Vec::new() };
            for (at, last) in (count - 1 - drawn..count - 1).enumerate() {
                let index = u128::from(number(6 + 8 * at..14 + 8 * at));
                let place = |candidate: u64| candidate + u64::from(candidate >= symbol as u64);
                let candidate = place(((index * u128::from(last + 1)) >> 64) as u64);
                set.push(if set.contains(&candidate) { place(last) } else { candidate });
            }
            let mut packed = vec![0u8; count.div_ceil(8) as usize];
            set.iter().for_each(|&x| packed[x as usize / 8] |= 0x80 >> (x % 8));
            (Token::Bits(packed.into()), 6 + 8 * size as usize)
        }
        "table" => (Token::Index(below(&list(&channel["masses"][symbol]), number(0..6))), 6),
        "keep" => {
            let kept = number(0..5) < list(&channel["keep"])[symbol];
            let drawn = below(&list(&channel["base"]), number(5..11));
            (Token::Index(if kept { symbol as u32 } else { drawn }), 11)
        }
        _ => {
            let count = channel["symbols"].as_u64().unwrap() as usize;
            let mut consumed = count;
            let mut packed = vec![0u8; count.div_ceil(8)];
            for at in 0..count {
                let own = if at == symbol { "own" } else { "other" };
                let threshold = channel[own].as_u64().unwrap();
                let mut value = u64::from(stream[at]) << 24;
                if u64::from(stream[at]) == threshold >> 24 {
                    value += number(consumed..consumed + 3);
                    consumed += 3;
                }
                packed[at / 8] |= u8::from(value < threshold) << (7 - at % 8);
            }
            (Token::Bits(packed.into()), consumed)
        }
    })
}
