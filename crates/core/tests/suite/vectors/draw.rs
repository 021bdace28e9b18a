//! Draws from given bytes, by the three ways of the kernel and by the pinned map read off the document.

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
    let cases = file["cases"].as_array().unwrap();
    assert!(!cases.is_empty(), "{path}");
    let (mut symbols, mut stream, mut tokens) = (Vec::new(), Vec::new(), Vec::new());
    for case in cases {
        let index = case["symbol"].as_u64().unwrap() as usize;
        let given = bytes(&case["stream"]);
        let (expected, consumed) = (token(case), case["consumed"].as_u64().unwrap() as usize);
        assert!(fields(case).len() == 4, "{path}: {case}");

        assert_eq!(pinned(&document, index, &given), (expected.clone(), consumed), "{case}");
        let symbol = drawn.draft().inputs().symbol(index).unwrap();
        let mut rng = Stream::new(&given);
        assert_eq!(drawn.draw(symbol, &mut rng).unwrap(), expected, "{path}: {case}");
        assert_eq!(rng.consumed, consumed, "{path}: {case}");
        assert_eq!(drawn.draw_flat(symbol, &mut Stream::new(&given)).unwrap(), expected, "{case}");

        symbols.push(symbol);
        stream.extend_from_slice(&given[..consumed]);
        tokens.push(expected);
    }
    bulk(drawn.draft().shape(), &Sampler::new(&drawn), &symbols, &stream, &tokens);
}

/// All cases in one call read the same bytes and give the same tokens.
fn bulk(shape: &Shape, sampler: &Sampler, symbols: &[Symbol], stream: &[u8], tokens: &[Token]) {
    let mut rng = Stream::new(stream);
    if matches!(shape, Shape::Bits(_)) {
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

/// The pinned map, as the README of the vectors states it.
fn pinned(document: &Value, symbol: usize, stream: &[u8]) -> (Token, usize) {
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
    match text(&channel["shape"]) {
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
    }
}
