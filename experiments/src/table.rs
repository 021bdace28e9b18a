//! A CSV table.

use serde::{Deserialize, Serialize};

/// Named columns, rows of text; numbers are written so that they read back exactly.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Table {
    /// The file's name, without `.csv`.
    pub name: String,
    /// The header.
    pub columns: Vec<String>,
    /// As many cells as columns each.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// An empty table.
    pub fn new(name: impl Into<String>, columns: &[&str]) -> Self {
        let columns = columns.iter().map(|c| c.to_string()).collect();
        Self { name: name.into(), columns, rows: Vec::new() }
    }

    /// Adds a row; numbers and texts may be mixed: `table.push(row!["a", 1.5])`.
    /// Missing cells are left empty, cells beyond the header are dropped.
    pub fn push(&mut self, mut row: Vec<String>) {
        row.resize(self.columns.len(), String::new());
        self.rows.push(row);
    }

    /// A column's place.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column == name)
    }

    /// A cell as a number; NaN if there is no such cell or it is not a number.
    pub fn number(&self, row: usize, column: &str) -> f64 {
        let cell = self.column(column).and_then(|at| self.rows.get(row)?.get(at));
        cell.and_then(|text| text.parse().ok()).unwrap_or(f64::NAN)
    }

    /// A whole column as numbers.
    pub fn numbers(&self, column: &str) -> Vec<f64> {
        (0..self.rows.len()).map(|row| self.number(row, column)).collect()
    }

    /// The first row whose cells in the given columns read as given.
    pub fn find(&self, wanted: &[(&str, &str)]) -> Option<usize> {
        let fits = |row: &&Vec<String>| {
            wanted.iter().all(|(column, text)| {
                self.column(column).and_then(|at| row.get(at)).is_some_and(|cell| cell == text)
            })
        };
        self.rows.iter().position(|row| fits(&row))
    }

    /// As CSV: fields with a comma, quote or line break are quoted.
    pub fn csv(&self) -> String {
        let line = |cells: &[String]| cells.iter().map(|c| field(c)).collect::<Vec<_>>().join(",");
        let mut csv = line(&self.columns);
        for row in &self.rows {
            csv.push('\n');
            csv.push_str(&line(row));
        }
        csv.push('\n');
        csv
    }
}

fn field(text: &str) -> String {
    if text.contains([',', '"', '\n']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.into()
    }
}

/// A row of a [`Table`] from anything that can be displayed.
#[macro_export]
macro_rules! row {
    ($($cell:expr),* $(,)?) => { vec![$(($cell).to_string()),*] };
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn cells_read_back_and_are_found() {
        let mut table = Table::new("t", &["method", "epsilon", "value"]);
        table.push(row!["a, b", 0.1, 1.0 / 3.0]);
        table.push(row!["c", 2.0, f64::INFINITY]);
        assert_eq!(table.csv(), "method,epsilon,value\n\"a, b\",0.1,0.3333333333333333\nc,2,inf\n");
        assert_eq!(table.number(0, "value"), 1.0 / 3.0);
        assert_eq!(table.number(table.find(&[("method", "c")]).unwrap(), "value"), f64::INFINITY);
        assert!(table.number(5, "value").is_nan() && table.number(0, "none").is_nan());
        assert_eq!(table.find(&[("method", "d")]), None);
    }
}
