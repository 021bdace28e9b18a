//! What values are, and how each becomes bits of a public code.

use std::fmt;
use std::str::FromStr;

use super::code::Code;
use crate::Error;

/// A set of values too large to list.
///
/// | written | values | code |
/// |---|---|---|
/// | `text:L` | text of at most L bytes of UTF-8 | its bytes, then bytes 255, which UTF-8 never has |
/// | `letters:a-z:L` | at most L of the letters listed, ranges with a hyphen | numbers from 1, then noughts; as few bits for each as there can be |
/// | `integers:B` | numbers from 0 to 2^B - 1 | B bits, the highest first |
///
/// Different values have different codes, and the code of a value that begins another ends where the other goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenValues(Kind);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    Text { most: usize },
    Letters { letters: Vec<char>, most: usize },
    Integers { bits: usize },
}

/// The code's end in a text: no byte of UTF-8.
const END_OF_TEXT: u8 = 0xff;

/// Why a value has no code. The value is a person's, so neither the error nor its message holds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoCode {
    /// It is longer than the set allows.
    TooLong,
    /// It has a letter that is not listed.
    Letter,
    /// It is not a whole number without a sign.
    NotANumber,
    /// It is a number above the greatest.
    TooLarge,
}

impl OpenValues {
    /// The most bits of a code.
    pub const MOST_BITS: usize = 512;

    /// Texts of at most so many bytes of UTF-8.
    pub fn text(most: usize) -> Result<Self, Error> {
        Self(Kind::Text { most }).checked()
    }

    /// Texts of at most so many of some letters, listed singly or as ranges such as `a-z`.
    pub fn letters(list: &str, most: usize) -> Result<Self, Error> {
        let wrong = |problem: String| Error::field("values", problem);
        let mut letters = Vec::new();
        let mut rest: &[char] = &list.chars().collect::<Vec<_>>();
        loop {
            // A hyphen at the end is a letter by itself.
            let (first, last, read) = match *rest {
                [] => break,
                [first, '-', last, ..] => (first, last, 3),
                [first, ..] => (first, first, 1),
            };
            if first > last {
                return Err(wrong(format!(": the range {first}-{last} is empty: turn it round")));
            }
            letters.extend(first..=last);
            rest = &rest[read..];
            if letters.len() > 1 << 12 {
                return Err(wrong(": more than 4,096 letters: use text".into()));
            }
        }
        let mut sorted = letters.clone();
        sorted.sort_unstable();
        if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(wrong(format!(": the letter {:?} is listed twice", pair[0])));
        }
        if letters.is_empty() {
            return Err(wrong(": no letters: list them, as in letters:a-z:12".into()));
        }
        Self(Kind::Letters { letters, most }).checked()
    }

    /// Numbers of so many bits.
    pub fn integers(bits: usize) -> Result<Self, Error> {
        if bits > 64 {
            let problem = format!("is integers:{bits}: give 2 to 64 bits");
            return Err(Error::field("values", problem));
        }
        Self(Kind::Integers { bits }).checked()
    }

    fn checked(self) -> Result<Self, Error> {
        if self.symbols() < 2 {
            let problem = format!(
                "is {self}: that is a short list of values; give at least 2 characters or bits, or use `design` over the values"
            );
            return Err(Error::field("values", problem));
        }
        if self.symbols() > Self::MOST_BITS / self.symbol_bits() {
            let most = Self::MOST_BITS / self.symbol_bits();
            let problem = format!("is {self}: give a length of at most {most}");
            return Err(Error::field("values", problem));
        }
        Ok(self)
    }

    /// How many characters or bits a code has at most: what a prefix is counted in.
    pub fn symbols(&self) -> usize {
        match &self.0 {
            Kind::Text { most } | Kind::Letters { most, .. } => *most,
            Kind::Integers { bits } => *bits,
        }
    }

    /// How many bits each of them takes.
    pub fn symbol_bits(&self) -> usize {
        match &self.0 {
            Kind::Text { .. } => 8,
            // One more than there are letters: the end.
            Kind::Letters { letters, .. } => (usize::BITS - letters.len().leading_zeros()) as usize,
            Kind::Integers { .. } => 1,
        }
    }

    /// How many bits a code has.
    pub fn code_bits(&self) -> usize {
        self.symbols() * self.symbol_bits()
    }

    /// The code of a value.
    pub fn code(&self, value: &str) -> Result<Code, NoCode> {
        let mut code = Code::new();
        match &self.0 {
            Kind::Text { most } => {
                if value.len() > *most {
                    return Err(NoCode::TooLong);
                }
                value.bytes().for_each(|byte| code.push(byte.into(), 8));
                (value.len()..*most).for_each(|_| code.push(END_OF_TEXT.into(), 8));
            }
            Kind::Letters { letters, most } => {
                let mut count = 0;
                for letter in value.chars() {
                    let at = letters.iter().position(|&known| known == letter);
                    code.push(at.ok_or(NoCode::Letter)? as u64 + 1, self.symbol_bits());
                    count += 1;
                    if count > *most {
                        return Err(NoCode::TooLong);
                    }
                }
                (count..*most).for_each(|_| code.push(0, self.symbol_bits()));
            }
            Kind::Integers { bits } => {
                let plain = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
                if !plain {
                    return Err(NoCode::NotANumber);
                }
                let number: u64 = value.parse().map_err(|_| NoCode::TooLarge)?;
                if *bits < 64 && number >> bits != 0 {
                    return Err(NoCode::TooLarge);
                }
                code.push(number, *bits);
            }
        }
        Ok(code)
    }

    /// As much of a value as fits, from its beginning.
    pub fn cut<'v>(&self, value: &'v str) -> &'v str {
        let end = match &self.0 {
            Kind::Text { most } => {
                let most = value.len().min(*most);
                (0..=most).rev().find(|&end| value.is_char_boundary(end)).unwrap_or(0)
            }
            Kind::Letters { most, .. } => {
                value.char_indices().nth(*most).map_or(value.len(), |(at, _)| at)
            }
            Kind::Integers { .. } => value.len(),
        };
        &value[..end]
    }

    /// The value of a whole code; nothing if no value has it.
    pub fn value(&self, code: &Code) -> Option<String> {
        if code.bits() != self.code_bits() {
            return None;
        }
        let width = self.symbol_bits();
        let symbols = (0..self.symbols()).map(|at| code.slice(at * width, (at + 1) * width));
        match &self.0 {
            Kind::Text { .. } => {
                let mut bytes: Vec<u8> = symbols.map(|byte| byte as u8).collect();
                let end = bytes.iter().position(|&byte| byte == END_OF_TEXT);
                let end = end.unwrap_or(bytes.len());
                let ended = bytes.split_off(end).iter().all(|&byte| byte == END_OF_TEXT);
                String::from_utf8(bytes).ok().filter(|_| ended)
            }
            Kind::Letters { letters, .. } => {
                let list: Vec<usize> = symbols.map(|symbol| symbol as usize).collect();
                let end = list.iter().position(|&symbol| symbol == 0).unwrap_or(list.len());
                if list[end..].iter().any(|&symbol| symbol != 0) {
                    return None;
                }
                list[..end].iter().map(|&symbol| letters.get(symbol - 1)).collect()
            }
            Kind::Integers { bits } => Some(code.slice(0, *bits).to_string()),
        }
    }

    /// Whether the value has come to its end in a prefix of its code, so that only one code goes on from it.
    pub fn ended(&self, prefix: &Code) -> bool {
        let width = self.symbol_bits();
        let last = prefix.bits().checked_sub(width).map(|from| prefix.slice(from, prefix.bits()));
        match &self.0 {
            Kind::Text { .. } => last == Some(END_OF_TEXT.into()),
            Kind::Letters { .. } => last == Some(0),
            Kind::Integers { .. } => false,
        }
    }

    /// What goes on from a prefix that has come to its end.
    pub fn after_end(&self, bits: usize) -> u64 {
        match &self.0 {
            Kind::Text { .. } if bits > 0 => u64::MAX >> (64 - bits),
            _ => 0,
        }
    }

    /// Whether some value begins with this prefix, of whole symbols.
    pub fn begins(&self, prefix: &Code) -> bool {
        let width = self.symbol_bits();
        let symbols =
            (0..prefix.bits() / width).map(|at| prefix.slice(at * width, (at + 1) * width));
        match &self.0 {
            Kind::Text { .. } => {
                let mut bytes: Vec<u8> = symbols.map(|byte| byte as u8).collect();
                let end = bytes.iter().position(|&byte| byte == END_OF_TEXT);
                let behind = end.map(|end| bytes.split_off(end));
                let ended =
                    behind.as_ref().is_none_or(|rest| rest.iter().all(|&b| b == END_OF_TEXT));
                let fits = match std::str::from_utf8(&bytes) {
                    Ok(_) => true,
                    // The last character may go on behind the prefix, if the text does.
                    Err(error) => error.error_len().is_none() && behind.is_none(),
                };
                ended && fits
            }
            Kind::Letters { letters, .. } => {
                let mut ended = false;
                symbols.map(|symbol| symbol as usize).all(|symbol| {
                    let fits = if ended { symbol == 0 } else { symbol <= letters.len() };
                    ended |= symbol == 0;
                    fits
                })
            }
            Kind::Integers { .. } => true,
        }
    }

    /// What is wrong with a value that has no code, in words that end a sentence about it.
    pub fn problem(&self, why: NoCode) -> String {
        match (why, &self.0) {
            (NoCode::TooLong, Kind::Text { most }) => format!("has more than {most} bytes"),
            (NoCode::TooLong, _) => format!("has more than {} letters", self.symbols()),
            (NoCode::Letter, _) => "has a letter that the plan does not list".into(),
            (NoCode::NotANumber, _) => "is not a whole number without a sign".into(),
            (NoCode::TooLarge, _) => {
                format!("is above {}", u64::MAX >> (64 - self.symbols().clamp(1, 64)))
            }
        }
    }

    /// Whether the empty text is a value.
    pub fn has_empty(&self) -> bool {
        !matches!(self.0, Kind::Integers { .. })
    }
}

impl fmt::Display for OpenValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Text { most } => write!(f, "text:{most}"),
            Kind::Integers { bits } => write!(f, "integers:{bits}"),
            Kind::Letters { letters, most } => {
                f.write_str("letters:")?;
                // Runs as ranges; a hyphen only as the end of one, so that it is read back as it is meant.
                let mut at = 0;
                while at < letters.len() {
                    let run = letters[at..].windows(2).take_while(|two| follows(two[0], two[1]));
                    let last = at + run.count();
                    let (first, end) = (letters[at], letters[last]);
                    if last > at || first == '-' || letters.get(at + 1) == Some(&'-') {
                        write!(f, "{first}-{end}")?;
                    } else {
                        write!(f, "{first}")?;
                    }
                    at = last + 1;
                }
                write!(f, ":{most}")
            }
        }
    }
}

/// Whether a letter is the one behind another.
fn follows(first: char, second: char) -> bool {
    (first..=second).nth(1) == Some(second) && first < second
}

impl FromStr for OpenValues {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let wrong = || {
            let problem = format!(
                "is {:?}: give text:16, letters:a-z:12 or integers:32, with the greatest length or the bits",
                crate::error::shortened_to(60, text)
            );
            Error::field("values", problem)
        };
        let (rest, most) = text.rsplit_once(':').ok_or_else(wrong)?;
        let most: usize = most.parse().map_err(|_| wrong())?;
        match rest.split_once(':') {
            None if rest == "text" => Self::text(most),
            None if rest == "integers" => Self::integers(most),
            Some(("letters", list)) => Self::letters(list, most),
            _ => Err(wrong()),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn values(text: &str) -> OpenValues {
        text.parse().unwrap()
    }

    #[test]
    fn codes_are_of_one_length_and_read_back() {
        for (set, list) in [
            ("text:8", vec!["", "a", "ab", "abcdefgh", "naïve", "日本", "\0", "a\0", "ÿ"]),
            ("letters:a-z0-9.:5", vec!["", "a", "ab", "z9.", "abcde", "....."]),
            ("letters:日本a:3", vec!["", "日", "本日a"]),
            ("letters:---:3", vec!["", "-", "---"]),
            ("letters:ab-:3", vec!["", "-", "b-a"]),
            ("integers:64", vec!["0", "1", "18446744073709551615"]),
            ("integers:7", vec!["0", "5", "127"]),
        ] {
            let values = values(set);
            assert_eq!(values.to_string().parse::<OpenValues>().unwrap(), values, "{values}");
            let codes: Vec<Code> = list.iter().map(|value| values.code(value).unwrap()).collect();
            for (at, (value, code)) in list.iter().zip(&codes).enumerate() {
                assert_eq!(code.bits(), values.code_bits());
                assert_eq!(values.value(code).as_deref(), Some(*value));
                assert!(!codes[..at].contains(code), "{value}");
                for symbols in 0..=values.symbols() {
                    let prefix = code.prefix(symbols * values.symbol_bits());
                    assert!(values.begins(&prefix), "{value} {symbols}");
                    if values.ended(&prefix) {
                        let left = code.bits() - prefix.bits();
                        let tail = code.slice(code.bits() - left, code.bits());
                        assert_eq!(tail, values.after_end(left));
                    }
                }
            }
        }
    }

    #[test]
    fn what_has_no_code_says_why_and_not_what_it_is() {
        for (set, value, why) in [
            ("text:3", "abcd", NoCode::TooLong),
            ("text:3", "日本", NoCode::TooLong),
            ("letters:ab:2", "aba", NoCode::TooLong),
            ("letters:ab:2", "ac", NoCode::Letter),
            ("integers:8", "256", NoCode::TooLarge),
            ("integers:8", "99999999999999999999999", NoCode::TooLarge),
            ("integers:8", "-1", NoCode::NotANumber),
            ("integers:8", "+1", NoCode::NotANumber),
            ("integers:8", "", NoCode::NotANumber),
        ] {
            let values = values(set);
            assert_eq!(values.code(value), Err(why), "{set} {value}");
            let words = values.problem(why);
            assert!(value.is_empty() || !words.contains(value), "{words}");
        }
        assert_eq!(values("text:3").cut("日本"), "日");
        assert_eq!(values("text:4").cut("日本"), "日");
        assert_eq!(values("letters:日本:2").cut("日本日"), "日本");
    }

    #[test]
    fn codes_of_no_value_are_known() {
        let text = values("text:3");
        for (bytes, begins) in [
            (&[0xffu8, 0xff][..], true),
            (&[0xff, 0x61], false),
            (&[0x61, 0xe6], true),
            (&[0xe6, 0xff], false),
            (&[0x80, 0x61], false),
            (&[0xc0, 0x80], false),
        ] {
            assert_eq!(text.begins(&Code::of_bytes(bytes, 16)), begins, "{bytes:?}");
        }
        // The last character does not fit.
        assert_eq!(text.value(&Code::of_bytes(&[0x61, 0x61, 0xe6], 24)), None);
        let letters = values("letters:abc:3");
        assert_eq!(letters.symbol_bits(), 2);
        assert!(!letters.begins(&Code::of_bytes(&[0b0001_0000], 4)));
        assert_eq!(values("letters:ab:2").value(&Code::of_bytes(&[0b0111_0000], 4)), None);
    }

    #[test]
    fn sets_that_cannot_be_used_are_refused_in_words() {
        for (text, says) in [
            ("text:1", "short list"),
            ("text:65", "at most 64"),
            ("integers:65", "2 to 64"),
            ("letters::5", "no letters"),
            ("letters:z-a:5", "turn it round"),
            ("letters:aba:5", "twice"),
            ("words:5", "give text:16"),
            ("text", "give text:16"),
            ("text:-3", "give text:16"),
        ] {
            let error = text.parse::<OpenValues>().unwrap_err().to_string();
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}
