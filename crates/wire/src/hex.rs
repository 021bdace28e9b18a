//! Hexadecimal digits as everything on the wire has them: lower case, two for a byte, and no other way.
//!
//! By hand, because the crates for it read capital letters too, and then one report has several texts.

/// The digits of some bytes.
pub fn encode(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |value: u8| char::from(DIGITS[usize::from(value)]);
    bytes.iter().flat_map(|&byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// The bytes behind some digits; `None` for an odd number of them and for anything but `0-9a-f`.
pub fn decode(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes();
    if !digits.len().is_multiple_of(2) {
        return None;
    }
    digits.chunks_exact(2).map(|pair| Some(value(pair[0])? << 4 | value(pair[1])?)).collect()
}

fn value(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_has_two_digits_and_one_reading() {
        let all: Vec<u8> = (0..=255).collect();
        let text = encode(&all);
        assert_eq!((text.len(), &text[..8], &text[508..]), (512, "00010203", "feff"));
        assert_eq!(decode(&text), Some(all));
        assert_eq!(decode(""), Some(Vec::new()));
        for bad in ["0", "0G", "0A", "A0", " 00", "0x00", "é"] {
            assert_eq!(decode(bad), None, "{bad}");
        }
    }
}
