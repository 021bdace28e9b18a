//! Columns without what is noted about them.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_schema::{DataType, Field, FieldRef};
use parquet::arrow::PARQUET_FIELD_ID_META_KEY;

/// A field with its name and type alone: of what was noted about it and its parts, only the number that
/// tables are joined by stays.
pub fn bare_field(field: &Field) -> Field {
    let number = field.metadata().get(PARQUET_FIELD_ID_META_KEY);
    let number = number.map(|number| (PARQUET_FIELD_ID_META_KEY.to_owned(), number.clone()));
    Field::new(field.name(), bare_type(field.data_type()), field.is_nullable())
        .with_metadata(number.into_iter().collect::<HashMap<_, _>>())
}

fn bare_type(kind: &DataType) -> DataType {
    let part = |field: &FieldRef| Arc::new(bare_field(field));
    match kind {
        DataType::List(item) => DataType::List(part(item)),
        DataType::LargeList(item) => DataType::LargeList(part(item)),
        DataType::ListView(item) => DataType::ListView(part(item)),
        DataType::LargeListView(item) => DataType::LargeListView(part(item)),
        DataType::FixedSizeList(item, size) => DataType::FixedSizeList(part(item), *size),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(part).collect()),
        DataType::Map(entries, sorted) => DataType::Map(part(entries), *sorted),
        DataType::RunEndEncoded(ends, values) => DataType::RunEndEncoded(part(ends), part(values)),
        DataType::Dictionary(keys, values) => {
            DataType::Dictionary(keys.clone(), bare_type(values).into())
        }
        other => other.clone(),
    }
}
