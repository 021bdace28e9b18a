//! What a Parquet file says about itself beside its data. pandas, Spark and Arrow keep attributes, comments
//! and descriptions there, which may name people: only what a reader of the output needs is said again.

use parquet::arrow::ARROW_SCHEMA_META_KEY;
use parquet::file::metadata::{FileMetaData, KeyValue};

use crate::columns::parquet::{plan_note, policy_note};

/// The notes of a file, sorted by whether they are said again.
pub(super) struct Notes {
    /// Under which policies and plans kept columns were perturbed earlier.
    pub(super) kept: Vec<KeyValue>,
    /// The keys of all others.
    pub(super) left_out: Vec<String>,
    /// Whether the columns' Arrow types were noted; they are noted anew.
    pub(super) had_arrow_schema: bool,
}

impl Notes {
    pub(super) fn of(about: &FileMetaData, kept_columns: &[String]) -> Self {
        let all = about.key_value_metadata().cloned().unwrap_or_default();
        let (arrow, others): (Vec<KeyValue>, Vec<KeyValue>) =
            all.into_iter().partition(|note| note.key == ARROW_SCHEMA_META_KEY);
        let keys: Vec<String> =
            kept_columns.iter().flat_map(|name| [policy_note(name), plan_note(name)]).collect();
        let (kept, left_out): (Vec<KeyValue>, Vec<KeyValue>) =
            others.into_iter().partition(|note| keys.contains(&note.key) && is_id(note));
        let left_out = left_out.into_iter().map(|note| note.key).collect();
        Self { kept, left_out, had_arrow_schema: !arrow.is_empty() }
    }
}

/// Whether a note holds an id and nothing else.
fn is_id(note: &KeyValue) -> bool {
    let digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    note.value.as_deref().is_some_and(|id| id.len() == 64 && id.bytes().all(digit))
}
