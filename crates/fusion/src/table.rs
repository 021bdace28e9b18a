//! Labelled rows of a table: which of its columns are labels and which are sensors.

use undertone::Error;

use crate::codebook::{Codebook, Column, Columns, Spacing};
use crate::learn::sequences::{self, Sequenced};
use crate::{Bundle, Samples};

/// Which columns of a table are the labels and the sensors, and how their cells are read.
#[derive(Debug, Clone, PartialEq)]
pub struct TableSpec {
    /// The public label.
    pub public: LabelColumn,
    /// The private label; several make a vector of private hypotheses.
    pub private: Vec<LabelColumn>,
    /// The sensors.
    pub sensors: Vec<SensorColumn>,
    /// The columns that say which sequence (recording, person) a row belongs to; empty if rows come in none.
    /// Sequences that repeat another are left out.
    pub sequence: Vec<String>,
    /// Also what a sensor read so many rows earlier in its sequence: 0, 1, 2 makes three sensors of each.
    pub lags: Vec<usize>,
    /// Make one sensor of every name of a column of names.
    pub one_hot: bool,
}

impl TableSpec {
    /// Labels and sensors in the words people write: a label is `[NAME=]COLUMN`, `COLUMN:A|B` or
    /// `COLUMN:x(A|B);y(C)`, a sensor `[NAME=]COLUMN`.
    pub fn parse<S: AsRef<str>>(
        public: &str,
        private: impl IntoIterator<Item = S>,
        sensors: impl IntoIterator<Item = S>,
    ) -> Result<Self, Error> {
        let private = private.into_iter().map(|text| LabelColumn::parse(text.as_ref()));
        let sensors = sensors.into_iter().map(|text| SensorColumn::parse(text.as_ref()));
        let spec = Self {
            public: LabelColumn::parse(public)?,
            private: private.collect::<Result<_, _>>()?,
            sensors: sensors.collect(),
            sequence: Vec::new(),
            lags: Vec::new(),
            one_hot: false,
        };
        spec.check()?;
        Ok(spec)
    }

    /// Refuses a sensor that reads a label, or the column that one is made of: a network that is judged by what it was told
    /// looks perfect, and its private label is out.
    fn check(&self) -> Result<(), Error> {
        let labels = [("public", &self.public)].into_iter();
        let labels: Vec<_> =
            labels.chain(self.private.iter().map(|one| ("private", one))).collect();
        for SensorColumn { name, column } in &self.sensors {
            let of = |(_, label): &&(&str, &LabelColumn)| label.column.trim() == column.trim();
            if let Some((side, label)) = labels.iter().find(of) {
                let called = if name == column { String::new() } else { format!(" (as {name:?})") };
                return Err(Error::field(
                    "sensors",
                    format!(
                        "has column {column:?}{called}, of which the {side} label {:?} is made: a sensor must not read a label; \
                         leave it out",
                        label.name
                    ),
                ));
            }
        }
        Ok(())
    }

    /// The columns to read, in the order in which [`TableSpec::rows`] takes their cells.
    pub fn columns(&self) -> Vec<&str> {
        let mut names = vec![self.public.column.as_str()];
        names.extend(self.private.iter().map(|label| label.column.as_str()));
        names.extend(self.sensors.iter().map(|sensor| sensor.column.as_str()));
        names.extend(self.sequence.iter().map(String::as_str));
        names
    }

    /// Makes labelled rows of the cells of [`TableSpec::columns`], one list per column. `name` is what the table is
    /// called in errors.
    pub fn rows(&self, name: &str, cells: Vec<Vec<String>>) -> Result<LabelledTable, Error> {
        self.check()?;
        let mut columns = self.columns().into_iter().zip(cells);
        let mut take = |count: usize| -> Vec<Column> {
            let taken = columns.by_ref().take(count);
            taken.map(|(name, cells)| Column { name: name.into(), cells }).collect()
        };
        let (shown, hidden) = (take(1), take(self.private.len()));
        let (mut readings, sequence) = (take(self.sensors.len()), take(self.sequence.len()));
        for (column, sensor) in readings.iter_mut().zip(&self.sensors) {
            column.name.clone_from(&sensor.name);
        }
        let labels = self.private.iter().zip(hidden);
        let [public] = <[Column; 1]>::try_from(shown)
            .map_err(|_| Error::input(format!("{name}: there is no public label")))?;
        let mut columns = Columns {
            sensors: readings,
            public: self.public.read(public),
            private: labels.map(|(label, column)| label.read(column)).collect(),
        };
        if self.one_hot {
            columns = sequences::one_hot(&columns);
        }
        let (name, one_hot) = (name.to_owned(), self.one_hot);
        if self.sequence.is_empty() {
            return Ok(LabelledTable { name, columns, sequence: None, repeated: 0, one_hot });
        }
        let numbered = Sequenced::new(&columns, sequences::number(&sequence));
        let lagged = match self.lags[..] {
            [] => numbered,
            _ => numbered.and_then(|rows| rows.lagged(&self.lags)),
        };
        let Sequenced { columns, sequence, repeated } =
            lagged.map_err(|error| Error::input(format!("{name}: {error}")))?;
        Ok(LabelledTable { name, columns, sequence: Some(sequence), repeated, one_hot })
    }
}

/// A column of readings, and what its sensor is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SensorColumn {
    /// What the sensor is called.
    pub name: String,
    /// The column.
    pub column: String,
}

impl SensorColumn {
    /// `NAME=COLUMN`, or a column that keeps its name.
    pub fn parse(text: &str) -> Self {
        let (name, column) = named(text);
        Self { name: name.into(), column: column.into() }
    }
}

/// A label made of a column: its cells as they are, or which list they are in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabelColumn {
    /// What the label is called.
    pub name: String,
    /// The column.
    pub column: String,
    /// The value of each list, and its cells; empty if the cells are the values.
    pub lists: Vec<(String, Vec<String>)>,
    /// The value of every cell that is in no list.
    pub rest: &'static str,
}

impl LabelColumn {
    /// `[NAME=]COLUMN` takes the cells as they are, `COLUMN:A|B` makes the label whether the cell is A or B, and
    /// `COLUMN:x(A|B);y(C)` which list it is in.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let (before, lists) = text.split_once(':').map_or((text, None), |(a, b)| (a, Some(b)));
        let (name, column) = named(before);
        let (name, column) = (name.to_owned(), column.to_owned());
        let cells = |list: &str| list.split('|').map(|cell| cell.trim().to_owned()).collect();
        let Some(lists) = lists else {
            return Ok(Self { name, column, lists: Vec::new(), rest: "" });
        };
        if !lists.contains('(') {
            let lists = vec![("yes".into(), cells(lists))];
            return Ok(Self { name, column, lists, rest: "no" });
        }
        let list = |list: &str| {
            let inside = list.trim().strip_suffix(')').and_then(|list| list.split_once('('));
            inside.map(|(name, list)| (name.to_owned(), cells(list))).ok_or_else(|| {
                Error::usage(format!(
                    "{list:?} in {text:?} is not a list of cells: write NAME(CELL|CELL), several separated by semicolons"
                ))
            })
        };
        let lists = lists.split(';').map(list).collect::<Result<_, _>>()?;
        Ok(Self { name, column, lists, rest: "other" })
    }

    fn read(&self, column: Column) -> Column {
        let cell = |cell: String| {
            if self.lists.is_empty() {
                return cell;
            }
            let list = self.lists.iter().find(|(_, cells)| cells.contains(&cell));
            list.map_or(self.rest.to_owned(), |(name, _)| name.clone())
        };
        Column { name: self.name.clone(), cells: column.cells.into_iter().map(cell).collect() }
    }
}

fn named(text: &str) -> (&str, &str) {
    text.split_once('=').unwrap_or((text, text))
}

/// Rows of a table with their labels, before readings are cut into levels.
#[derive(Debug, Clone)]
pub struct LabelledTable {
    /// What the table is called in errors.
    pub name: String,
    /// Readings and labels.
    pub columns: Columns,
    /// Which sequence each row belongs to, if that is known.
    pub sequence: Option<Vec<usize>>,
    /// How many sequences were left out because they repeat another.
    pub repeated: usize,
    /// Whether columns of names became one sensor per name.
    pub one_hot: bool,
}

impl LabelledTable {
    /// Puts the table in front of what is wrong with it.
    pub(crate) fn problem(&self, error: crate::Error) -> Error {
        Error::input(format!("{}: {error}", self.name))
    }

    /// Cuts readings into levels, and keeps those sensors that say most about the public label, if so many are wanted.
    pub fn samples(
        &self,
        levels: usize,
        spacing: Spacing,
        keep: Option<usize>,
    ) -> Result<Samples, Error> {
        let cut = Codebook::fit(&self.columns, levels, spacing);
        let samples = cut.and_then(|codebook| codebook.samples(&self.columns));
        let kept = samples.and_then(|samples| match keep {
            Some(count) => samples.keep(&samples.most_relevant(count)),
            None => Ok(samples),
        });
        kept.map_err(|error| self.problem(error))
    }

    /// Reads the rows with a network's own labels and levels.
    pub fn samples_for(&self, network: &Bundle) -> Result<Samples, Error> {
        let sensors = network.sensors().zip(network.policies());
        let sensors =
            sensors.map(|(name, policy)| (name.to_owned(), policy.draft().inputs().clone()));
        let (public, private) = (network.model().public(), network.model().private());
        let mut columns = self.columns.clone();
        // There is one public label, whatever the table calls it.
        columns.public.name = public.name().to_owned();
        if let [label] = &mut columns.private[..] {
            label.name = private.name().to_owned();
        }
        let codebook = Codebook::known(public, private, sensors.collect());
        codebook
            .and_then(|codebook| codebook.samples(&columns))
            .map_err(|error| self.problem(error))
    }
}

/// Rows as CSV: sensors, labels, and the sequence where there is one.
pub fn csv(columns: &Columns, units: Option<&[usize]>) -> String {
    let quoted = |cell: &str| {
        if cell.contains([',', '"', '\n']) {
            format!("\"{}\"", cell.replace('"', "\"\""))
        } else {
            cell.to_owned()
        }
    };
    let all = || columns.sensors.iter().chain([&columns.public]).chain(&columns.private);
    let mut header: Vec<String> = all().map(|column| quoted(&column.name)).collect();
    header.extend(units.map(|_| "sequence".to_owned()));
    let mut text = header.join(",") + "\n";
    for row in 0..columns.public.cells.len() {
        let mut cells: Vec<String> = all().map(|column| quoted(&column.cells[row])).collect();
        cells.extend(units.map(|units| units[row].to_string()));
        text += &(cells.join(",") + "\n");
    }
    text
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn labels_are_cells_or_lists_of_them() {
        let read = |text: &str| {
            let cells = ["a", "b", "c"].map(String::from).to_vec();
            let label = LabelColumn::parse(text).unwrap();
            (label.name.clone(), label.read(Column { name: label.column.clone(), cells }).cells)
        };
        assert_eq!(read("state").1, ["a", "b", "c"]);
        assert_eq!(read("fire=state"), ("fire".into(), vec!["a".into(), "b".into(), "c".into()]));
        assert_eq!(read("state:a| c").1, ["yes", "no", "yes"]);
        assert_eq!(read("state:x(a|b);y(z)").1, ["x", "x", "other"]);
        assert!(
            LabelColumn::parse("state:x(a;b").unwrap_err().to_string().contains("list of cells")
        );
    }

    #[test]
    fn a_label_is_no_sensor_under_whatever_name() {
        let refused = |public: &str, private: &str, sensors: &[&str]| {
            let spec = TableSpec::parse(public, [private], sensors.iter().copied());
            spec.map(|_| ()).map_err(|error| error.to_string())
        };
        assert!(refused("fire", "home", &["heat", "lamp"]).is_ok());
        // Labels of the same column, or a sensor that only has a label's name, are no leak.
        assert!(refused("up=activity:a", "moving=activity:b", &["up=heat"]).is_ok());
        for (public, private, sensors) in [
            ("fire", "home", vec!["heat", "fire"]),
            ("fire", "home", vec!["home"]),
            ("fire", "home", vec!["warm=home"]),
            ("upright=activity:standing|walking", "home", vec!["activity"]),
            ("upright=activity:standing", "moving=state:x(a);y(b)", vec!["heat", "s=state"]),
        ] {
            let said = refused(public, private, &sensors).unwrap_err();
            let column = sensors[sensors.len() - 1].split('=').next_back().unwrap();
            assert!(
                said.contains(&format!("{column:?}")) && said.contains("leave it out"),
                "{said}"
            );
        }
        // Nor where the list was put together by hand.
        let mut spec = TableSpec::parse("h", ["g"], ["heat"]).unwrap();
        spec.sensors.push(SensorColumn { name: "x".into(), column: "g".into() });
        assert!(spec.rows("t", vec![Vec::new(); 4]).is_err());
    }

    #[test]
    fn rows_take_their_columns_in_the_order_asked_for() {
        let mut spec = TableSpec::parse("h", ["g"], ["warm=heat"]).unwrap();
        spec.sequence = vec!["who".into()];
        assert_eq!(spec.columns(), ["h", "g", "heat", "who"]);
        let cells = |text: &str| text.split(' ').map(String::from).collect::<Vec<_>>();
        let table =
            spec.rows("t", vec![cells("y n"), cells("1 2"), cells("5 6"), cells("ann bob")]);
        let table = table.unwrap();
        assert_eq!(table.columns.sensors[0].name, "warm");
        assert_eq!(table.sequence, Some(vec![0, 1]));
        assert_eq!(
            csv(&table.columns, table.sequence.as_deref()),
            "warm,h,g,sequence\n5,y,1,0\n6,n,2,1\n"
        );
    }
}
