//! What a parser says about a JSON document, in words for whoever wrote it.

use crate::error::{shortened, shortened_to};

/// Characters of what is said: room for the names of all fields a document may have.
const LONGEST: usize = 400;

/// What a parser said about `text`, in words for people who do not know its types. Where the parser gives a
/// place, the field at that place comes first: `p[1]: found the text "half", expected a number at line 1 column 9`.
pub fn json_words(text: &str, said: &str) -> String {
    let valid = serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
    let mut words = plain(said, valid);
    if let Some(odd) = place(said).filter(|_| !valid).and_then(|place| no_number(text, place)) {
        let problem = format!("{odd} is not a number that can be used");
        words = words.replace("this is not JSON", &problem).replace("invalid number", &problem);
    }
    // At a sudden end every field is as much to blame as the last.
    let field = match said.contains("EOF while") || said.contains("trailing characters") {
        true => String::new(),
        false => {
            // Only these words have a place inside the list or object they are about.
            let inside = usize::from(valid && said.contains("expected value"));
            let place = place(said).map(|(line, column)| (line, column.saturating_sub(inside)));
            place.map(|place| field(text, place)).unwrap_or_default()
        }
    };
    shortened_to(LONGEST, &if field.is_empty() { words } else { format!("{field}: {words}") })
}

/// What a parser said about a text that nobody sees, such as a part of a document that was written anew.
pub fn unplaced(said: &str) -> String {
    let place = place(said).and_then(|_| said.rfind(" at line "));
    shortened_to(LONGEST, &plain(&said[..place.unwrap_or(said.len())], true))
}

/// A parser's words about a text that is JSON or not, each replaced by ours.
fn plain(said: &str, valid: bool) -> String {
    // Also said of JSON, where a word out of a list is expected and something else stands.
    let no_value = if valid { "something else is expected" } else { "this is not JSON" };
    let mut words = said.to_owned();
    for (theirs, ours) in [
        ("invalid type: ", "found "),
        ("invalid value: ", "found "),
        ("invalid length ", "found a list of length "),
        ("found map", "found an object"),
        ("found sequence", "found a list"),
        ("found string ", "found the text "),
        ("found integer ", "found the number "),
        ("found floating point ", "found the number "),
        ("found boolean ", "found "),
        ("expected a sequence", "expected a list"),
        ("expected a map", "expected an object"),
        ("expected a tuple of size ", "expected a list of length "),
        ("expected f64", "expected a number"),
        ("expected a borrowed string", "expected a text"),
        ("expected a string", "expected a text"),
        ("expected u64", "expected a whole number of at least 0"),
        ("expected u32", "expected a whole number of at least 0"),
        ("expected usize", "expected a whole number of at least 0"),
        ("EOF while parsing", "it ends in the middle of"),
        ("trailing characters", "something follows the end of the document"),
        ("expected value", no_value),
        ("expected ident", "this is not JSON"),
        ("key must be a string", "a name must be written in quotes"),
        ("number out of range", "the number is too large"),
        ("recursion limit exceeded", "lists or objects are nested too deeply"),
    ] {
        words = words.replace(theirs, ours);
    }
    // Names of Rust types say nothing to whoever wrote the file.
    for kind in ["struct ", "enum ", "tuple struct ", "newtype struct ", "internally tagged enum "]
    {
        let pattern = format!("expected {kind}");
        while let Some(at) = words.find(&pattern) {
            let after = at + pattern.len();
            let length = words[after..].find([' ', ',']).unwrap_or(words.len() - after);
            words.replace_range(at..after + length, "expected an object");
        }
    }
    words
}

/// The line and the column a parser names, if it names any.
fn place(said: &str) -> Option<(usize, usize)> {
    let (_, place) = said.rsplit_once(" at line ")?;
    let (line, rest) = place.split_once(" column ")?;
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    Some((line.parse().ok()?, rest[..digits].parse().ok()?))
}

/// What programs write for a number that is none, if it stands at this place.
fn no_number(text: &str, (line, column): (usize, usize)) -> Option<&'static str> {
    let before: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    let at = (before + column).saturating_sub(1);
    let odd = ["NaN", "nan", "Infinity", "infinity", "inf", "-Infinity", "-infinity", "-inf"];
    // A parser stops behind a sign, or behind the first letter of what it takes for `null`.
    [at.saturating_sub(1), at].into_iter().find_map(|from| {
        let rest = text.get(from..).unwrap_or_default();
        odd.into_iter().find(|odd| rest.starts_with(odd))
    })
}

/// A list or an object that a walk through a document is inside of.
enum Inside<'a> {
    /// The entry it is at.
    List(usize),
    /// The name of the field, and whether its value has begun.
    Object(&'a str, bool),
}

/// The field that a line and a column of JSON belong to, such as `claims[0].epsilon`; empty for the whole document.
/// A parser's place is just behind a number, a text or a name, and just before a list or an object.
fn field(text: &str, (line, column): (usize, usize)) -> String {
    let before: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    let end = (before + column).min(text.len());
    let bytes = text.as_bytes();
    let mut stack = Vec::new();
    let mut at = 0;
    while at < end {
        let byte = bytes[at];
        at += 1;
        match byte {
            b'"' => {
                let start = at;
                while at < bytes.len() && bytes[at] != b'"' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                if let Some(Inside::Object(name, false)) = stack.last_mut() {
                    *name = text.get(start..at).unwrap_or_default();
                }
                at += 1;
            }
            b'[' => stack.push(Inside::List(0)),
            b'{' => stack.push(Inside::Object("", false)),
            b']' | b'}' => drop(stack.pop()),
            b':' | b',' => match stack.last_mut() {
                Some(Inside::List(entry)) => *entry += 1,
                Some(Inside::Object(_, value)) => *value = byte == b':',
                None => {}
            },
            _ => {}
        }
    }
    let mut path = String::new();
    for inside in &stack {
        match inside {
            Inside::List(entry) => path += &format!("[{entry}]"),
            Inside::Object(name, true) if path.is_empty() => path += &named(name),
            Inside::Object(name, true) => path += &format!(".{}", named(name)),
            Inside::Object(_, false) => {}
        }
    }
    shortened(&path)
}

/// A field's name, in quotes unless it is a plain word.
fn named(name: &str) -> String {
    const MOST: usize = 40;
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if !name.is_empty() && name.chars().all(plain) && name.len() <= MOST {
        return name.to_owned();
    }
    let start: String = name.chars().take(MOST).collect();
    let more = if name.chars().count() > MOST { "..." } else { "" };
    format!("\"{start}{more}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parsers_types_are_not_shown() {
        for (theirs, ours) in [
            (
                "invalid type: sequence, expected struct RawProvenance at line 1 column 9",
                "found a list, expected an object at line 1 column 9",
            ),
            (
                "invalid type: map, expected f64 at line 2 column 1",
                "found an object, expected a number at line 2 column 1",
            ),
            ("expected value at line 1 column 1", "this is not JSON at line 1 column 1"),
        ] {
            assert_eq!(json_words("", theirs), ours);
        }
        let long = format!("invalid type: string {:?}", "x".repeat(100_000));
        assert!(json_words("", &long).len() < 500);
    }

    #[test]
    fn the_field_at_fault_is_named() {
        #[derive(Debug, serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Document {
            #[serde(default)]
            _p: Vec<f64>,
            #[serde(default)]
            _rows: Vec<Vec<f64>>,
            #[serde(default)]
            _parts: Vec<Document>,
            #[serde(default)]
            _kind: Option<WordKind>,
        }
        #[derive(Debug, serde::Deserialize)]
        enum WordKind {
            _Bits,
        }
        for (text, begins) in [
            (r#"{"_p": [0.5, "half"]}"#, "_p[1]: found the text \"half\", expected a number"),
            (r#"{"_p": "half"}"#, "_p: found the text \"half\", expected a list"),
            ("{\n  \"_p\": [1],\n  \"_rows\": [[1, 2],\n [3, [4]]]}", "_rows[1][1]: found a list"),
            (r#"{"_rows": [[1], {"a": 1}]}"#, "_rows[1]: found an object, expected a list"),
            (r#"{"_p": [1], "colour": 3}"#, "unknown field `colour`"),
            (r#"{"_parts": [{}, {"_p": [true]}]}"#, "_parts[1]._p[0]: found `true`"),
            (r#"{"_parts": [{}, {"a \" b": [true]}]}"#, "_parts[1]: unknown field"),
            (r#"{"_p": [1e999]}"#, "_p[0]: the number is too large"),
            (r#"{"_p": [NaN]}"#, "_p[0]: NaN is not a number that can be used"),
            (r#"{"_p": [1, -Infinity]}"#, "_p[1]: -Infinity is not a number that can be used"),
            (r#"{"_p": [nothing]}"#, "_p[0]: this is not JSON"),
            (r#"{"_kind": [[]]}"#, "_kind: something else is expected"),
            (r#"{"_kind": 3}"#, "_kind: something else is expected"),
            (r#"{"_parts": [{"_kind": "Bytes"}]}"#, "_parts[0]._kind: unknown variant `Bytes`"),
            (r#"{"_p": [0.5, 0."#, "it ends in the middle of a value"),
            ("[[1], 2]", "[0]: found a list"),
        ] {
            let said = match text.starts_with('{') {
                true => serde_json::from_str::<Document>(text).unwrap_err().to_string(),
                false => serde_json::from_str::<Vec<f64>>(text).unwrap_err().to_string(),
            };
            let words = json_words(text, &said);
            assert!(words.starts_with(begins), "{text}: {said}: {words}");
        }
    }

    #[test]
    fn names_of_fields_are_quoted_unless_plain_and_cut() {
        let long = "x".repeat(1_000);
        let text = format!(r#"{{"a b": 1, "{long}": "y"}}"#);
        let place = (1, text.len() - 1);
        assert_eq!(field(&text, place), format!("\"{}...\"", "x".repeat(40)));
        assert_eq!(field(r#"{"a b": "y"}"#, (1, 11)), "\"a b\"");
        // A place that the text does not have is no reason to stop.
        assert_eq!(field("[1", (7, 40)), "[0]");
        assert_eq!(field("", (0, 0)), "");
    }

    #[test]
    fn what_was_said_of_a_text_that_nobody_sees_has_no_place() {
        assert_eq!(unplaced("missing field `n` at line 1 column 30"), "missing field `n`");
        assert_eq!(unplaced("stands at line 3"), "stands at line 3");
    }
}
