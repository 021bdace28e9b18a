//! Estimates and output counts as one flat table: CSV, JSON or Parquet.

use serde_json::Value;

use crate::service::estimates::ShownRound;

/// One line of the table. Estimates have a value with its interval, counts have a count.
#[derive(Clone, PartialEq, Debug, serde::Serialize)]
pub(super) struct Row {
    /// The round.
    pub(super) round: u32,
    /// `headline`, `unbiased`, `mmse`, `difference` (of a group's share from the first group's) or `count`.
    pub(super) kind: String,
    /// The group; empty for estimates of everyone.
    pub(super) group: String,
    /// The policy of a count.
    pub(super) policy: String,
    /// The answer, or the output.
    pub(super) name: String,
    /// How many reports.
    pub(super) count: Option<u64>,
    /// The estimated share.
    pub(super) value: Option<f64>,
    /// Its interval's lower end.
    pub(super) low: Option<f64>,
    /// Its interval's upper end.
    pub(super) high: Option<f64>,
}

/// The rows of some rounds' estimates, as [`crate::service::estimates::round_estimates`] gives them.
pub(super) fn rows(rounds: &[ShownRound]) -> Vec<Row> {
    // Released rounds are kept as they were written, so all of them are read as they are written.
    let written = rounds.iter().filter_map(|round| serde_json::to_value(round).ok());
    of_written(&written.collect::<Vec<_>>())
}

fn of_written(rounds: &[Value]) -> Vec<Row> {
    let mut rows = Vec::new();
    for round in rounds {
        let number = round["number"].as_u64().unwrap_or(0) as u32;
        let mut shares = |kind: &str, group: &Value, shares: &Value| {
            let shares = shares.as_array().into_iter().flatten();
            rows.extend(shares.map(|share| Row {
                round: number,
                kind: kind.into(),
                group: text(group),
                policy: String::new(),
                name: text(&share["symbol"]),
                count: None,
                value: share["value"].as_f64(),
                low: share["low"].as_f64(),
                high: share["high"].as_f64(),
            }));
        };
        for kind in ["headline", "unbiased", "mmse"] {
            shares(kind, &Value::Null, &round[kind]["shares"]);
        }
        for own in round["groups"].as_array().into_iter().flatten() {
            shares("headline", &own["group"], &own["headline"]["shares"]);
        }
        for own in round["differences"].as_array().into_iter().flatten() {
            shares("difference", &own["group"], &own["shares"]);
        }
        for counts in round["counts"].as_array().into_iter().flatten() {
            for output in counts["outputs"].as_array().into_iter().flatten() {
                rows.push(Row {
                    round: number,
                    kind: "count".into(),
                    group: text(&counts["group"]),
                    policy: text(&counts["policy"]),
                    name: text(&output["output"]),
                    count: output["count"].as_u64(),
                    value: None,
                    low: None,
                    high: None,
                });
            }
        }
    }
    rows
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().into()
}

/// The table as CSV (RFC 4180). Text that a spreadsheet would run as a formula is put behind an apostrophe.
pub(super) fn csv(rows: &[Row]) -> String {
    let mut text = String::from("round,kind,group,policy,name,count,value,low,high\r\n");
    let number = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
    for row in rows {
        let fields = [
            row.round.to_string(),
            row.kind.clone(),
            quoted(&row.group),
            row.policy.clone(),
            quoted(&row.name),
            row.count.map_or(String::new(), |count| count.to_string()),
            number(row.value),
            number(row.low),
            number(row.high),
        ];
        text += &fields.join(",");
        text += "\r\n";
    }
    text
}

fn quoted(text: &str) -> String {
    let number = text.parse::<f64>().is_ok();
    let formula = !number && text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let text = if formula { format!("'{text}") } else { text.into() };
    if text.contains([',', '"', '\n', '\r']) {
        return format!("\"{}\"", text.replace('"', "\"\""));
    }
    text
}

/// The table as Parquet.
#[cfg(feature = "parquet")]
pub(super) fn parquet(rows: &[Row]) -> Result<Vec<u8>, String> {
    use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray, UInt32Array, UInt64Array};
    use parquet::arrow::ArrowWriter;
    use parquet::basic::Compression;
    use parquet::file::properties::WriterProperties;
    use std::sync::Arc;

    let texts = |part: fn(&Row) -> &str| -> ArrayRef {
        Arc::new(StringArray::from_iter_values(rows.iter().map(part)))
    };
    let numbers = |part: fn(&Row) -> Option<f64>| -> ArrayRef {
        Arc::new(rows.iter().map(part).collect::<Float64Array>())
    };
    let columns: [(&str, ArrayRef); 9] = [
        ("round", Arc::new(UInt32Array::from_iter_values(rows.iter().map(|row| row.round)))),
        ("kind", texts(|row| &row.kind)),
        ("group", texts(|row| &row.group)),
        ("policy", texts(|row| &row.policy)),
        ("name", texts(|row| &row.name)),
        ("count", Arc::new(rows.iter().map(|row| row.count).collect::<UInt64Array>())),
        ("value", numbers(|row| row.value)),
        ("low", numbers(|row| row.low)),
        ("high", numbers(|row| row.high)),
    ];
    let batch = RecordBatch::try_from_iter_with_nullable(
        columns.into_iter().enumerate().map(|(at, (name, column))| (name, column, at > 4)),
    )
    .map_err(|error| error.to_string())?;
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties))
        .map_err(|error| error.to_string())?;
    writer.write(&batch).map_err(|error| error.to_string())?;
    writer.close().map_err(|error| error.to_string())?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_table_a_spreadsheet_cannot_run() {
        let round = json!({
            "number": 2,
            "headline": {"shares": [{"symbol": "=1+1, \"x\"", "value": 0.25, "low": 0.2, "high": 0.3}]},
            "counts": [{"group": "everyone", "policy": "ab", "outputs": [{"output": "-1", "count": 7}]}],
        });
        let rows = of_written(&[round]);
        assert_eq!(rows.len(), 2);
        let text = csv(&rows);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[1], "2,headline,,,\"'=1+1, \"\"x\"\"\",,0.25,0.2,0.3");
        assert_eq!(lines[2], "2,count,everyone,ab,-1,7,,,");
    }
}
