//! JSON by hand, so that a file reads well and never changes by accident.

use std::fmt::Display;

/// Lower-case hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A JSON string.
pub(crate) fn quoted(text: impl Display) -> String {
    serde_json::to_string(&text.to_string()).expect("a string always serialises")
}

/// An object on one line.
pub(crate) fn inline(fields: &[(&str, String)]) -> String {
    let fields: Vec<String> = fields.iter().map(|(name, v)| format!("\"{name}\": {v}")).collect();
    format!("{{{}}}", fields.join(", "))
}

/// An object with one field per line; values of several lines are indented.
pub(crate) fn object(fields: &[(&str, String)]) -> String {
    let line = |(name, value): &(&str, String)| {
        format!("  \"{name}\": {}", value.trim_end().replace('\n', "\n  "))
    };
    let lines: Vec<String> = fields.iter().map(line).collect();
    format!("{{\n{}\n}}", lines.join(",\n"))
}

/// A list with one item per line.
pub(crate) fn list(items: impl IntoIterator<Item = String>) -> String {
    let line = |item: String| format!("  {}", item.replace('\n', "\n  "));
    let items: Vec<String> = items.into_iter().map(line).collect();
    if items.is_empty() { "[]".into() } else { format!("[\n{}\n]", items.join(",\n")) }
}

/// Replaces `from`, which occurs exactly once.
pub(crate) fn edit(text: &str, from: &str, to: &str) -> String {
    assert_eq!(text.matches(from).count(), 1, "{from:?} should occur once in {text}");
    text.replace(from, to)
}

/// A document without its id line, so that an edit is not refused for the id alone.
pub(crate) fn without_id(document: &str) -> String {
    let kept: Vec<&str> = document.lines().filter(|l| !l.starts_with("  \"id\": ")).collect();
    kept.join("\n")
}
