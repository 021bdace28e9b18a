//! Rows that come in sequences: which belong together, which sequences repeat another, and what a
//! sensor read a few rows earlier.

use std::collections::BTreeMap;

use undertone_design::Error;

use crate::{Column, Columns};

/// Rows with the sequence each belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sequenced {
    /// The rows.
    pub columns: Columns,
    /// One number per row.
    pub sequence: Vec<usize>,
    /// How many sequences were left out because they repeat another.
    pub repeated: usize,
}

/// Rows with equal cells in all of these columns belong to one sequence; sequences are numbered in
/// order of appearance.
pub fn number(columns: &[Column]) -> Vec<usize> {
    let rows = columns.first().map_or(0, |column| column.cells.len());
    let mut known: BTreeMap<Vec<&str>, usize> = BTreeMap::new();
    let row = |i: usize| {
        let key: Vec<&str> = columns.iter().map(|column| column.cells[i].as_str()).collect();
        let next = known.len();
        *known.entry(key).or_insert(next)
    };
    (0..rows).map(row).collect()
}

impl Sequenced {
    /// Rows in the sequences numbered by `sequence`; a sequence whose readings equal those of an earlier
    /// one, row by row, is left out: else the same recording would be learned from and judged by.
    pub fn new(columns: &Columns, sequence: Vec<usize>) -> Result<Self, Error> {
        let rows = columns.public.cells.len();
        let all = columns.sensors.iter().chain(&columns.private).chain([&columns.public]);
        if sequence.len() != rows || all.into_iter().any(|column| column.cells.len() != rows) {
            let what = "a column of the sequences".into();
            return Err(Error::Size { what, expected: rows, found: sequence.len() });
        }
        let mut members: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        sequence.iter().enumerate().for_each(|(i, &at)| members.entry(at).or_default().push(i));
        let mut seen: BTreeMap<Vec<&str>, usize> = BTreeMap::new();
        let mut kept = Vec::new();
        let mut repeated = 0;
        for rows in members.values() {
            let content: Vec<&str> = columns
                .sensors
                .iter()
                .flat_map(|column| rows.iter().map(|&i| column.cells[i].as_str()))
                .collect();
            if seen.insert(content, 0).is_none() {
                kept.extend(rows);
            } else {
                repeated += 1;
            }
        }
        kept.sort_unstable();
        Ok(Self {
            columns: pick(columns, &kept),
            sequence: kept.iter().map(|&i| sequence[i]).collect(),
            repeated,
        })
    }

    /// Every sensor once per lag: what it read so many rows earlier in the same sequence. Rows too early
    /// in their sequence are left out. A lagged sensor is called `name@lag`.
    pub fn lagged(&self, lags: &[usize]) -> Result<Self, Error> {
        let Some(&most) = lags.iter().max() else {
            return Err(Error::Empty { what: "the list of lags".into() });
        };
        let mut before: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        // For every row that is kept, its place and the rows of its sequence up to it.
        let mut kept: Vec<(usize, Vec<usize>)> = Vec::new();
        for (i, at) in self.sequence.iter().enumerate() {
            let rows = before.entry(*at).or_default();
            rows.push(i);
            if rows.len() > most {
                let earlier = lags.iter().map(|lag| rows[rows.len() - 1 - lag]).collect();
                kept.push((i, earlier));
            }
        }
        if kept.is_empty() {
            let problem = format!("no sequence has more than {most} rows");
            return Err(Error::other("lags", problem));
        }
        let sensor = |column: &Column| {
            let lagged = |(j, lag): (usize, &usize)| Column {
                name: lag_name(&column.name, *lag),
                cells: kept.iter().map(|(_, earlier)| column.cells[earlier[j]].clone()).collect(),
            };
            lags.iter().enumerate().map(lagged).collect::<Vec<_>>()
        };
        let places: Vec<usize> = kept.iter().map(|(i, _)| *i).collect();
        let labels = pick(&self.columns, &places);
        Ok(Self {
            columns: Columns {
                sensors: self.columns.sensors.iter().flat_map(sensor).collect(),
                ..labels
            },
            sequence: places.iter().map(|&i| self.sequence[i]).collect(),
            repeated: self.repeated,
        })
    }
}

/// What a lagged sensor is called.
fn lag_name(name: &str, lag: usize) -> String {
    if lag == 0 { name.into() } else { format!("{name}@{lag}") }
}

/// The rows at these places.
pub fn pick(columns: &Columns, places: &[usize]) -> Columns {
    let column = |column: &Column| Column {
        name: column.name.clone(),
        cells: places.iter().map(|&i| column.cells[i].clone()).collect(),
    };
    Columns {
        sensors: columns.sensors.iter().map(column).collect(),
        public: column(&columns.public),
        private: columns.private.iter().map(column).collect(),
    }
}

/// Every sensor of names as one sensor per name, whose reading is 1 if the cell is that name: the
/// one-hot reading of ST20 Table II. One feature then speaks through several sensors, and its LDP level
/// is twice that of each.
pub fn one_hot(columns: &Columns) -> Columns {
    let expand = |column: &Column| {
        if column.cells.iter().all(|cell| cell.trim().parse::<f64>().is_ok()) {
            return vec![column.clone()];
        }
        let mut names = column.cells.clone();
        names.sort_unstable();
        names.dedup();
        let bit = |name: &String| Column {
            name: format!("{}={name}", column.name),
            cells: column.cells.iter().map(|cell| u8::from(cell == name).to_string()).collect(),
        };
        names.iter().map(bit).collect()
    };
    Columns { sensors: columns.sensors.iter().flat_map(expand).collect(), ..columns.clone() }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn column(name: &str, cells: &[&str]) -> Column {
        Column { name: name.into(), cells: cells.iter().map(|&cell| cell.into()).collect() }
    }

    fn table() -> Columns {
        Columns {
            sensors: vec![column("a", &["1", "2", "3", "1", "2", "3", "9", "2", "3"])],
            public: column("h", &["x", "x", "x", "y", "y", "y", "y", "y", "y"]),
            private: vec![column("g", &["p", "q", "p", "q", "p", "q", "p", "q", "p"])],
        }
    }

    #[test]
    fn repeated_sequences_go_and_lags_stay_within_a_sequence() {
        let ids = number(&[column("id", &["u", "u", "u", "v", "v", "v", "w", "w", "w"])]);
        assert_eq!(ids, vec![0, 0, 0, 1, 1, 1, 2, 2, 2]);
        let rows = Sequenced::new(&table(), ids).unwrap();
        assert_eq!((rows.repeated, rows.sequence.len()), (1, 6));
        let lagged = rows.lagged(&[0, 1]).unwrap();
        let names: Vec<&str> = lagged.columns.sensors.iter().map(|c| c.name.as_str()).collect();
        assert_eq!(names, vec!["a", "a@1"]);
        assert_eq!(lagged.columns.sensors[0].cells, vec!["2", "3", "2", "3"]);
        assert_eq!(lagged.columns.sensors[1].cells, vec!["1", "2", "9", "2"]);
        assert_eq!(lagged.columns.public.cells, vec!["x", "x", "y", "y"]);
        assert_eq!(lagged.sequence, vec![0, 0, 2, 2]);
        assert!(rows.lagged(&[3]).unwrap_err().to_string().contains("more than 3 rows"));
        assert!(rows.lagged(&[]).is_err());
        assert!(Sequenced::new(&table(), vec![0]).is_err());
    }

    #[test]
    fn names_become_bits_and_numbers_stay() {
        let mut columns = table();
        columns.sensors.push(column("c", &["r", "s", "r", "t", "r", "r", "s", "s", "t"]));
        let bits = one_hot(&columns);
        let names: Vec<&str> = bits.sensors.iter().map(|c| c.name.as_str()).collect();
        assert_eq!(names, vec!["a", "c=r", "c=s", "c=t"]);
        assert_eq!(bits.sensors[2].cells[..3], ["0", "1", "0"]);
    }
}
