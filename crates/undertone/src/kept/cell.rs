//! A cell of a kept column, reduced to what prediction needs.

/// What a cell says, without its text: a key that equal texts share, and the number it is, if it is one.
#[derive(Debug, Clone, Copy)]
pub struct KeptCell {
    /// Equal for equal texts; two different ones share a key once in 2^64.
    pub(super) key: u64,
    /// NaN unless the text is a number or begins with a date.
    pub(super) number: f64,
}

impl KeptCell {
    /// A cell that is empty.
    pub const MISSING: Self = Self { key: 0, number: f64::NAN };

    /// A cell as text; blanks around it mean nothing.
    pub fn of(text: &str) -> Self {
        let text = text.trim();
        if text.is_empty() {
            return Self::MISSING;
        }
        let number = text.parse().ok().filter(|number: &f64| number.is_finite());
        let number = number.or_else(|| date(text)).unwrap_or(f64::NAN);
        Self { key: key(text.as_bytes()), number }
    }
}

/// The date a text begins with, as 2019-07-01 or 2019-07-01 12:30, as a number in the order of days.
fn date(text: &str) -> Option<f64> {
    let date = text.as_bytes().get(..10)?;
    let digits = |from: usize, to: usize| {
        let part = &date[from..to];
        let all = part.iter().all(u8::is_ascii_digit);
        all.then(|| part.iter().fold(0, |sum, digit| 10 * sum + u32::from(digit - b'0')))
    };
    let (year, month, day) = (digits(0, 4)?, digits(5, 7)?, digits(8, 10)?);
    let fits = date[4] == b'-' && date[7] == b'-' && month <= 12 && day <= 31;
    fits.then(|| f64::from(372 * year + 31 * month + day))
}

/// A key for some bytes, spread over all 64 bits.
pub fn key(bytes: &[u8]) -> u64 {
    let mut state = bytes.len() as u64 ^ 0x5bd1_e995_9d1b_87a5;
    for chunk in bytes.chunks(8) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        state = spread(state ^ u64::from_le_bytes(word));
    }
    spread(state)
}

/// A key for a row from the key of the cells so far and that of the next.
pub(super) fn joined(keys: u64, next: u64) -> u64 {
    spread(keys.rotate_left(23) ^ next)
}

/// The finisher of SplitMix64: every bit of the result depends on every bit given, and no two inputs share a result.
pub(super) fn spread(mut bits: u64) -> u64 {
    bits = bits.wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_dates_have_an_order_and_equal_texts_one_key() {
        let (early, late) = (KeptCell::of("2019-07-01"), KeptCell::of(" 2019-08-01T10:00 "));
        assert!(early.number < late.number);
        assert_eq!(KeptCell::of("12.50").number, 12.5);
        for text in ["", "  ", "abc", "inf", "2019-7-1", "2019-13-01", "20é9-07-01"] {
            assert!(KeptCell::of(text).number.is_nan(), "{text:?}");
        }
        assert_eq!(KeptCell::of(" a ").key, KeptCell::of("a").key);
        assert_eq!(KeptCell::of(" ").key, KeptCell::MISSING.key);
        let mut keys: Vec<u64> = (0..10_000).map(|n: u32| key(n.to_string().as_bytes())).collect();
        keys.extend([key(b""), key(b"\0"), key(b"\0\0"), joined(1, 2), joined(2, 1)]);
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), 10_005);
    }
}
