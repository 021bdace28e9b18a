//! From columns of text to labels and levels.
//!
//! A codebook is fitted once, on training data, and reads any later data the same way: numbers fall
//! into its levels, names and labels must be known.

use undertone_core::{Alphabet, AlphabetView, Decimal};
use undertone_design::Error;
use undertone_design::found::check_name;

use crate::{Hypothesis, Sample, Samples};

/// Where the edges between levels of a continuous reading go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spacing {
    /// Levels of equal width from the smallest to the largest value.
    Equal,
    /// Levels that hold equally many values, as far as ties allow.
    Quantiles,
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// The column's name.
    pub name: String,
    /// Its cells, one per sample.
    pub cells: Vec<String>,
}

/// Labelled samples as a table holds them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Columns {
    /// One column per sensor.
    pub sensors: Vec<Column>,
    /// The public label.
    pub public: Column,
    /// The private label, or the components of a vector of private labels.
    pub private: Vec<Column>,
}

/// What labels and readings stand for.
#[derive(Debug, Clone, PartialEq)]
pub struct Codebook {
    public: Label,
    private: Vec<Label>,
    sensors: Vec<(String, Alphabet)>,
}

#[derive(Debug, Clone, PartialEq)]
struct Label {
    name: String,
    values: Vec<String>,
}

impl Label {
    /// The values found, sorted.
    fn fit(column: &Column) -> Self {
        let mut values = column.cells.clone();
        values.sort_unstable();
        values.dedup();
        Self { name: column.name.clone(), values }
    }

    fn read(&self, cell: &str) -> Result<usize, Error> {
        self.values.iter().position(|value| value == cell).ok_or_else(|| {
            // Somebody's label stays out of messages; those of the codebook are public.
            let problem = format!("the cell is not one of its labels ({})", self.values.join(", "));
            Error::other(format!("column {:?}", self.name), problem)
        })
    }
}

impl Codebook {
    /// Labels are the values found; readings become at most `levels` levels each.
    pub fn fit(columns: &Columns, levels: usize, spacing: Spacing) -> Result<Self, Error> {
        columns.check()?;
        let alphabet = |column: &Column| {
            let cells: Vec<&str> = column.cells.iter().map(String::as_str).collect();
            let found = readings(&cells, levels, spacing).map_err(|error| {
                Error::other(format!("column {:?}", column.name), error.to_string())
            })?;
            Ok::<_, Error>((column.name.clone(), found))
        };
        Ok(Self {
            public: Label::fit(&columns.public),
            private: columns.private.iter().map(Label::fit).collect(),
            sensors: columns.sensors.iter().map(alphabet).collect::<Result<_, _>>()?,
        })
    }

    /// Fits a codebook where only part of the data may decide: labels and names are those of `all`, levels are
    /// fitted on `train`. Numbers of few different values are readings themselves.
    pub fn fit_part(
        train: &Columns,
        all: &Columns,
        levels: usize,
        spacing: Spacing,
    ) -> Result<Self, Error> {
        train.check()?;
        let mut codebook = Self::fit(all, levels, spacing)?;
        for (column, (_, alphabet)) in train.sensors.iter().zip(&mut codebook.sensors) {
            if !matches!(alphabet.view(), AlphabetView::Bins { .. }) {
                continue;
            }
            let numbers: Vec<f64> = column.cells.iter().filter_map(|cell| finite(cell)).collect();
            // A sensor that never changes in training keeps the levels of all data.
            if let Ok(bins) = bins(&numbers, levels, spacing) {
                *alphabet = bins;
            }
        }
        Ok(codebook)
    }

    /// What a network's own labels and readings stand for.
    pub fn known(
        public: &Hypothesis,
        private: &Hypothesis,
        sensors: Vec<(String, Alphabet)>,
    ) -> Result<Self, Error> {
        let label = |hypothesis: &Hypothesis| Label {
            name: hypothesis.name().into(),
            values: hypothesis.values().to_vec(),
        };
        let sizes = private.components();
        if let [_] = sizes {
            return Ok(Self { public: label(public), private: vec![label(private)], sensors });
        }
        // A vector's name and values are those of its components, joined by commas.
        let cut = |text: &str| -> Result<Vec<String>, Error> {
            let parts: Vec<String> = text.split(',').map(str::to_owned).collect();
            if parts.len() == sizes.len() {
                return Ok(parts);
            }
            let problem = format!("{text:?} does not name its {} components", sizes.len());
            Err(Error::other("the private hypothesis", problem))
        };
        let values: Vec<Vec<String>> =
            private.values().iter().map(|value| cut(value)).collect::<Result<_, _>>()?;
        let component = |(j, name): (usize, String)| {
            let unit: usize = sizes[j + 1..].iter().product();
            let value = |v: usize| values[v * unit][j].clone();
            Label { name, values: (0..sizes[j]).map(value).collect() }
        };
        let private = cut(private.name())?.into_iter().enumerate().map(component).collect();
        Ok(Self { public: label(public), private, sensors })
    }

    /// Reads columns: every sensor and every label of the codebook must be among them.
    pub fn samples(&self, columns: &Columns) -> Result<Samples, Error> {
        columns.check()?;
        let find = |list: &[Column], name: &str, what: &str| {
            list.iter().position(|column| column.name == name).ok_or_else(|| {
                let names: Vec<&str> = list.iter().map(|column| column.name.as_str()).collect();
                let problem = format!("{what} {name:?} is missing; there are {}", names.join(", "));
                Error::other("samples", problem)
            })
        };
        let place = |(name, _): &(String, Alphabet)| find(&columns.sensors, name, "sensor");
        let sensors: Vec<usize> = self.sensors.iter().map(place).collect::<Result<_, _>>()?;
        let place = |label: &Label| find(&columns.private, &label.name, "private label");
        let private: Vec<usize> = self.private.iter().map(place).collect::<Result<_, _>>()?;
        let rows = columns.public.cells.len();
        let at =
            |row: usize, error: Error| Error::other(format!("sample {row}"), error.to_string());
        let mut samples = Vec::with_capacity(rows);
        for row in 0..rows {
            let mut flat = 0;
            for (label, &column) in self.private.iter().zip(&private) {
                let value = label.read(&columns.private[column].cells[row]);
                flat = flat * label.values.len() + value.map_err(|error| at(row, error))?;
            }
            let reading = |((name, alphabet), &column): (&(String, Alphabet), &usize)| {
                reading(alphabet, &columns.sensors[column].cells[row]).map_err(|error| {
                    at(row, Error::other(format!("sensor {name}"), error.to_string()))
                })
            };
            samples.push(Sample {
                public: self.public.read(&columns.public.cells[row]).map_err(|e| at(row, e))?,
                private: flat,
                readings: self
                    .sensors
                    .iter()
                    .zip(&sensors)
                    .map(reading)
                    .collect::<Result<_, _>>()?,
            });
        }
        Samples::new(self.public(), self.private()?, self.sensors.clone(), samples)
    }

    /// H.
    pub fn public(&self) -> Hypothesis {
        Hypothesis::named(&self.public.name, self.public.values.clone())
    }

    /// G; a vector if there are several private labels.
    pub fn private(&self) -> Result<Hypothesis, Error> {
        if let [label] = &self.private[..] {
            return Ok(Hypothesis::named(&label.name, label.values.clone()));
        }
        let names: Vec<&str> = self.private.iter().map(|label| label.name.as_str()).collect();
        let mut values = vec![String::new()];
        for label in &self.private {
            let extend = |start: &String| {
                let comma = if start.is_empty() { "" } else { "," };
                label.values.iter().map(|v| format!("{start}{comma}{v}")).collect::<Vec<_>>()
            };
            values = values.iter().flat_map(extend).collect();
            if values.len() > crate::model::MAX_VALUES {
                break;
            }
        }
        let components = self.private.iter().map(|label| label.values.len()).collect();
        Hypothesis::new(&names.join(","), values, components)
    }
}

impl Columns {
    /// Refuses columns of different lengths, none, and cells too long to be names.
    fn check(&self) -> Result<(), Error> {
        if self.sensors.is_empty() {
            return Err(Error::Empty { what: "the list of sensors".into() });
        }
        if self.private.is_empty() {
            return Err(Error::Empty { what: "the list of private labels".into() });
        }
        let rows = self.public.cells.len();
        if rows == 0 {
            return Err(Error::Empty { what: "the list of samples".into() });
        }
        let others = || self.sensors.iter().chain(&self.private);
        if let Some(column) = others().find(|column| column.cells.len() != rows) {
            return Err(Error::Size {
                what: format!("column {:?}", column.name),
                expected: rows,
                found: column.cells.len(),
            });
        }
        for column in others().chain([&self.public]) {
            for (row, cell) in column.cells.iter().enumerate() {
                check_name(|| format!("sample {row}, column {:?}", column.name), cell)?;
            }
        }
        Ok(())
    }
}

/// The readings of a column of texts: bins if it holds more than `levels` different numbers, the
/// numbers themselves if fewer, and names otherwise.
pub fn readings(cells: &[&str], levels: usize, spacing: Spacing) -> Result<Alphabet, Error> {
    let refuse = |error: undertone_core::AlphabetError| Error::other("readings", error.to_string());
    if cells.is_empty() {
        return Err(Error::Empty { what: "the column of readings".into() });
    }
    let numbers: Option<Vec<f64>> = cells.iter().map(|cell| finite(cell)).collect();
    let Some(numbers) = numbers else {
        let mut names: Vec<String> = cells.iter().map(|&cell| cell.into()).collect();
        names.sort_unstable();
        names.dedup();
        return Alphabet::names(names).map_err(refuse);
    };
    let mut distinct =
        numbers.iter().map(|&value| decimal(value)).collect::<Result<Vec<_>, _>>()?;
    distinct.sort_unstable();
    distinct.dedup();
    if distinct.len() <= levels.max(1) {
        return Alphabet::points(distinct).map_err(refuse);
    }
    bins(&numbers, levels, spacing)
}

/// `levels` bins over these numbers. Quantiles that fall together make fewer.
pub fn bins(values: &[f64], levels: usize, spacing: Spacing) -> Result<Alphabet, Error> {
    if values.is_empty() {
        return Err(Error::Empty { what: "the column of readings".into() });
    }
    if levels == 0 {
        return Err(Error::range("levels", 0.0, "at least 1"));
    }
    if let Some(&value) = values.iter().find(|value| !value.is_finite()) {
        return Err(Error::NotFinite { what: "a reading".into(), value });
    }
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let (least, most) = (sorted[0], sorted[sorted.len() - 1]);
    let edge = |level: usize| match spacing {
        Spacing::Equal => least + (most - least) * level as f64 / levels as f64,
        Spacing::Quantiles => sorted[(level * sorted.len() / levels).min(sorted.len() - 1)],
    };
    let mut edges = Vec::with_capacity(levels + 1);
    for level in 0..=levels {
        let next = decimal(edge(level))?;
        if edges.last().is_none_or(|last| next > *last) {
            edges.push(next);
        }
    }
    if edges.len() < 2 {
        let problem = "all readings are alike: a sensor that never changes says nothing";
        return Err(Error::other("readings", problem));
    }
    let middle = |pair: &[Decimal]| {
        let value = |d: Decimal| d.digits() as f64 / 10f64.powi(i32::from(d.scale()));
        let middle = decimal((value(pair[0]) + value(pair[1])) / 2.0)?;
        Ok::<_, Error>(middle.clamp(pair[0], pair[1]))
    };
    let middles = edges.windows(2).map(middle).collect::<Result<_, _>>()?;
    Alphabet::bins(edges, middles).map_err(|error| Error::other("readings", error.to_string()))
}

/// The index of a cell's reading; numbers outside the bins fall in the end bins, and anything else
/// that was never seen is refused. The same rule as [`Alphabet::valued`], which a sensor's policy
/// uses, but for labelled data, which is no secret to whoever trains.
pub fn reading(alphabet: &Alphabet, cell: &str) -> Result<usize, Error> {
    let number = || decimal(finite(cell)?).ok();
    let found = match alphabet.view() {
        AlphabetView::Names(names) => names.iter().position(|name| name == cell),
        AlphabetView::Indices(size) => cell.parse().ok().filter(|&x: &usize| x < size as usize),
        AlphabetView::Points(points) => number().and_then(|at| points.binary_search(&at).ok()),
        AlphabetView::Bins { edges, values } => number().map(|value| {
            let above = edges.partition_point(|edge| *edge <= value);
            above.clamp(1, values.len()) - 1
        }),
    };
    found.ok_or_else(|| {
        let problem = format!(
            "it was not seen when the readings were fitted: map it to one of the {} known readings \
             or leave the sample out",
            alphabet.len()
        );
        Error::other("reading", problem)
    })
}

fn finite(cell: &str) -> Option<f64> {
    cell.trim().parse::<f64>().ok().filter(|value| value.is_finite())
}

/// The nearest decimal with up to nine significant digits.
fn decimal(value: f64) -> Result<Decimal, Error> {
    let scale = if value == 0.0 { 0.0 } else { 8.0 - value.abs().log10().floor() };
    let scale = scale.clamp(0.0, 15.0) as usize;
    let text = format!("{value:.scale$}");
    text.parse().map_err(|_| Error::other("a reading", "must be below 10^17 in size"))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn column(name: &str, cells: &[&str]) -> Column {
        Column { name: name.into(), cells: cells.iter().map(|&cell| cell.into()).collect() }
    }

    fn columns() -> Columns {
        Columns {
            sensors: vec![
                column("heat", &["1.5", "2.5", "9", "4"]),
                column("door", &["open", "shut", "open", "open"]),
            ],
            public: column("fire", &["no", "no", "yes", "yes"]),
            private: vec![
                column("home", &["a", "b", "b", "a"]),
                column("pet", &["1", "0", "1", "1"]),
            ],
        }
    }

    #[test]
    fn a_codebook_reads_what_it_was_fitted_on() {
        let codebook = Codebook::fit(&columns(), 3, Spacing::Equal).unwrap();
        let samples = codebook.samples(&columns()).unwrap();
        let readings: Vec<&[usize]> =
            samples.samples().iter().map(|sample| &sample.readings[..]).collect();
        assert_eq!(readings, vec![&[0, 0][..], &[0, 1], &[2, 0], &[1, 0]]);
        let private = samples.private();
        assert_eq!((private.name(), private.components()), ("home,pet", &[2, 2][..]));
        assert_eq!(private.values()[samples.samples()[2].private], "b,1");
        assert_eq!(samples.public().values()[samples.samples()[3].public], "yes");
    }

    #[test]
    fn what_was_never_seen_is_named() {
        let codebook = Codebook::fit(&columns(), 3, Spacing::Equal).unwrap();
        let refused = |change: &dyn Fn(&mut Columns), words: [&str; 2]| {
            let mut columns = columns();
            change(&mut columns);
            let error = codebook.samples(&columns).unwrap_err().to_string();
            assert!(words.iter().all(|word| error.contains(word)), "{error}");
        };
        refused(
            &|c| c.sensors[1].cells[2] = "ajar".into(),
            ["sample 2: sensor door", "it was not seen"],
        );
        refused(&|c| c.public.cells[0] = "maybe".into(), ["sample 0", "no, yes"]);
        refused(&|c| c.private[0].cells[3] = "z".into(), ["column \"home\"", "a, b"]);
        refused(&|c| drop(c.sensors.remove(0)), ["sensor \"heat\" is missing", "door"]);
        refused(&|c| drop(c.sensors[0].cells.pop()), ["column \"heat\"", "3 entries where 4"]);
        refused(&|c| c.public.cells = vec!["no".into(); 4], ["fire", "every sample has the label"]);
        // A number beyond the levels falls in the last one.
        let mut far = columns();
        far.sensors[0].cells[0] = "1e6".into();
        assert_eq!(codebook.samples(&far).unwrap().samples()[0].readings[0], 2);
    }

    #[test]
    fn a_network_reads_with_its_own_labels_and_levels() {
        let codebook = Codebook::fit(&columns(), 3, Spacing::Equal).unwrap();
        let samples = codebook.samples(&columns()).unwrap();
        let (public, private) = (samples.public(), samples.private());
        let known = Codebook::known(public, private, samples.sensors().to_vec()).unwrap();
        assert_eq!(known, codebook);
        let unnamed = Hypothesis::vector("private", vec![2, 2]).unwrap();
        let error = Codebook::known(public, &unnamed, samples.sensors().to_vec()).unwrap_err();
        assert!(error.to_string().contains("2 components"), "{error}");
    }

    #[test]
    fn levels_come_from_the_training_part_and_names_from_all() {
        let mut part = columns();
        let rows = [0, 1, 3];
        let keep = |column: &mut Column| {
            column.cells = rows.iter().map(|&row| column.cells[row].clone()).collect();
        };
        part.sensors.iter_mut().chain(&mut part.private).for_each(keep);
        keep(&mut part.public);
        part.sensors[1].cells = vec!["shut".into(); 3];
        let codebook = Codebook::fit_part(&part, &columns(), 2, Spacing::Equal).unwrap();
        // Heat runs from 1.5 to 4 in the part, so 2.5 is low and 9 is high; open doors are known.
        let samples = codebook.samples(&columns()).unwrap();
        let readings: Vec<&[usize]> =
            samples.samples().iter().map(|sample| &sample.readings[..]).collect();
        assert_eq!(readings, vec![&[0, 0][..], &[0, 1], &[1, 0], &[1, 0]]);
    }

    #[test]
    fn columns_become_levels() {
        let numbers: Vec<String> = (0..100).map(|i| format!("{}", f64::from(i) * 0.1)).collect();
        let cells: Vec<&str> = numbers.iter().map(String::as_str).collect();
        let equal = readings(&cells, 10, Spacing::Equal).unwrap();
        assert_eq!(equal.len(), 10);
        assert_eq!(reading(&equal, "-5").unwrap(), 0);
        assert_eq!(reading(&equal, "0.99").unwrap(), 1);
        assert_eq!(reading(&equal, "1e3").unwrap(), 9);
        let skewed: Vec<&str> =
            cells.iter().copied().chain(std::iter::repeat_n("0", 100)).collect();
        let quantiles = readings(&skewed, 4, Spacing::Quantiles).unwrap();
        assert_eq!(quantiles.len(), 2, "half of all values tie at zero");
        let names = readings(&["b", "a", "b"], 10, Spacing::Equal).unwrap();
        assert_eq!(reading(&names, "b").unwrap(), 1);
        let unseen = reading(&names, "c").unwrap_err().to_string();
        assert!(unseen.contains("not seen") && !unseen.contains("\"c\""), "{unseen}");
        let points = readings(&["3", "1", "2"], 10, Spacing::Equal).unwrap();
        assert_eq!(reading(&points, "2.0").unwrap(), 1);
        assert!(readings(&["1", "1"], 1, Spacing::Equal).unwrap().len() == 1);
        assert!(bins(&[1.0, 1.0], 3, Spacing::Equal).is_err());
    }
}
