//! Where a network's model comes from: a file, or labelled samples.

use std::path::{Path, PathBuf};

use undertone_fusion::codebook::{Codebook, Column, Columns, Spacing};
use undertone_fusion::learn::sequences::{self, Sequenced};
use undertone_fusion::{Model, Samples, model};

use crate::columns::{Layout, Source};
use crate::failure::Failure;
use crate::input;
use crate::options;

/// A model, or samples to take its place.
#[derive(clap::Args)]
pub(super) struct ModelArgs {
    /// The model: {"hypotheses": [[P(h,g)..]..], "sensors": [{"given": [[[P(x|h,g)..]..]..]}..]}, or any
    /// joint law as {"points": [{"p": P, "public": h, "private": g, "readings": [x..]}..], "sensors":
    /// [{"size": n}..]}.
    // Said here and not of --samples, which `fusion train` takes without a --model to conflict with.
    #[arg(long, conflicts_with = "samples")]
    model: Option<PathBuf>,
    #[command(flatten)]
    pub(super) samples: SampleArgs,
}

/// Labelled samples in a table.
#[derive(clap::Args)]
pub(super) struct SampleArgs {
    /// Labelled samples: a CSV or Parquet file with a column for every sensor and label.
    #[arg(long, requires_all = ["public", "private", "sensors"])]
    samples: Option<PathBuf>,
    /// The public label, as [NAME=]COLUMN; COLUMN:A|B makes it whether the cell is A or B, and
    /// COLUMN:x(A|B);y(C) which list it is in.
    #[arg(long, requires = "samples")]
    public: Option<String>,
    /// The private label, likewise; several, separated by commas, make a vector of private hypotheses.
    #[arg(long, requires = "samples", value_delimiter = ',')]
    private: Vec<String>,
    /// The columns of the sensors, each as [NAME=]COLUMN.
    #[arg(long, requires = "samples", value_delimiter = ',')]
    sensors: Vec<String>,
    /// Into how many levels a continuous reading is cut.
    #[arg(long, requires = "samples", default_value = "10", value_parser = options::count)]
    pub(super) levels: usize,
    /// Where the levels are cut.
    #[arg(long, requires = "samples", value_enum, default_value_t = Cut::Equal)]
    cut: Cut,
    /// Keep this many sensors: those that say most about the public label.
    #[arg(long, requires = "samples", value_parser = options::count)]
    pub(super) keep: Option<usize>,
    /// The columns that say which sequence (recording, person) a row belongs to. Sequences that repeat
    /// another are left out, and no sequence is both learned from and judged by.
    #[arg(long, requires = "samples", value_delimiter = ',')]
    sequence: Vec<String>,
    /// Also what a sensor read so many rows earlier in its sequence: 0,1,2 makes three sensors of each.
    #[arg(long, requires = "sequence", value_delimiter = ',')]
    lags: Vec<usize>,
    /// Make one sensor of every name of a column of names. A column's LDP level is then twice that of
    /// each of its sensors.
    #[arg(long, requires = "samples")]
    pub(super) one_hot: bool,
    #[command(flatten)]
    layout: Layout,
}

/// Where the levels of a continuous reading are cut.
#[derive(clap::ValueEnum, Clone, Copy)]
enum Cut {
    /// At equal distances.
    Equal,
    /// So that each holds equally many values.
    Quantiles,
}

/// A model and where it came from.
pub(super) struct Origin {
    pub(super) model: Model,
    pub(super) source: String,
    /// How many samples it rests on; 0 for an assumption.
    pub(super) samples: u64,
}

impl ModelArgs {
    /// Whether a model or samples were given.
    pub(super) fn given(&self) -> bool {
        self.model.is_some() || self.samples.samples.is_some()
    }

    /// Reads the model, or makes one of the samples.
    pub(super) fn read(&self) -> Result<Origin, Failure> {
        if let Some(path) = &self.model {
            let model = input::document(path, model::read)?;
            return Ok(Origin { model, source: name(path), samples: 0 });
        }
        let Some(samples) = self.samples.read()? else {
            return Err(Failure::usage("give --model, or --samples with its columns"));
        };
        let source = self.samples.source();
        let count = samples.samples().len() as u64;
        Ok(Origin { model: samples.model()?, source, samples: count })
    }
}

/// Rows of a table, before readings are cut into levels.
pub(super) struct Table {
    pub(super) columns: Columns,
    /// Which sequence each row belongs to, if that is known.
    pub(super) sequence: Option<Vec<usize>>,
    /// How many sequences were left out because they repeat another.
    pub(super) repeated: usize,
    source: Source,
}

impl Table {
    /// Puts the file in front of what is wrong with it.
    pub(super) fn problem(&self, error: &undertone_fusion::Error) -> Failure {
        self.source.problem(error)
    }
}

impl SampleArgs {
    /// Where readings are cut into levels.
    pub(super) fn spacing(&self) -> Spacing {
        match self.cut {
            Cut::Equal => Spacing::Equal,
            Cut::Quantiles => Spacing::Quantiles,
        }
    }

    /// The name of the file.
    pub(super) fn source(&self) -> String {
        self.samples.as_deref().map_or(String::new(), name)
    }

    /// The samples, if there are any.
    fn read(&self) -> Result<Option<Samples>, Failure> {
        let Some(table) = self.table()? else { return Ok(None) };
        let named = |error: undertone_fusion::Error| table.problem(&error);
        let codebook = Codebook::fit(&table.columns, self.levels, self.spacing()).map_err(named)?;
        let samples = codebook.samples(&table.columns).map_err(named)?;
        let kept = match self.keep {
            Some(count) => samples.keep(&samples.most_relevant(count)).map_err(named)?,
            None => samples,
        };
        Ok(Some(kept))
    }

    /// The rows, if there are any.
    pub(super) fn table(&self) -> Result<Option<Table>, Failure> {
        let (Some(file), Some(public)) = (&self.samples, &self.public) else { return Ok(None) };
        let source = Source { file: file.clone(), layout: self.layout.clone() };
        let public = LabelColumn::parse(public)?;
        let private = self.private.iter().map(|text| LabelColumn::parse(text));
        let private: Vec<LabelColumn> = private.collect::<Result<_, _>>()?;
        let sensors: Vec<(&str, &str)> = self.sensors.iter().map(|text| named(text)).collect();
        let mut names: Vec<&str> = vec![&public.column];
        names.extend(private.iter().map(|label| label.column.as_str()));
        names.extend(sensors.iter().map(|(_, column)| *column));
        names.extend(self.sequence.iter().map(String::as_str));
        let mut columns: Vec<Column> =
            names.iter().map(|&name| Column { name: name.into(), cells: Vec::new() }).collect();
        source.each_row(&names, &mut |row| {
            for (column, cell) in columns.iter_mut().zip(row.cells) {
                let Some(cell) = cell else {
                    return Err(source.problem(format!(
                        "{}: column {:?} is empty: fill it in or leave the row out",
                        row.place(),
                        column.name
                    )));
                };
                column.cells.push(cell.to_string());
            }
            Ok(())
        })?;
        let sequence = columns.split_off(1 + private.len() + sensors.len());
        let mut readings = columns.split_off(1 + private.len());
        for (column, (name, _)) in readings.iter_mut().zip(&sensors) {
            column.name = (*name).to_owned();
        }
        let hidden = columns.split_off(1);
        let Some(shown) = columns.pop() else { return Ok(None) };
        let mut columns = Columns {
            sensors: readings,
            public: public.read(shown),
            private: private.iter().zip(hidden).map(|(label, column)| label.read(column)).collect(),
        };
        if self.one_hot {
            columns = sequences::one_hot(&columns);
        }
        if self.sequence.is_empty() {
            return Ok(Some(Table { columns, sequence: None, repeated: 0, source }));
        }
        let numbered = Sequenced::new(&columns, sequences::number(&sequence));
        let lagged = match self.lags[..] {
            [] => numbered,
            _ => numbered.and_then(|rows| rows.lagged(&self.lags)),
        };
        let Sequenced { columns, sequence, repeated } =
            lagged.map_err(|error| source.problem(error))?;
        Ok(Some(Table { columns, sequence: Some(sequence), repeated, source }))
    }
}

/// NAME=COLUMN, or a column that keeps its name.
fn named(text: &str) -> (&str, &str) {
    text.split_once('=').unwrap_or((text, text))
}

/// A label made of a column: its cells as they are, or which list they are in.
struct LabelColumn {
    name: String,
    column: String,
    /// The value of each list, and its cells.
    lists: Vec<(String, Vec<String>)>,
    /// The value of every other cell.
    rest: &'static str,
}

impl LabelColumn {
    fn parse(text: &str) -> Result<Self, Failure> {
        let (before, lists) = text.split_once(':').map_or((text, None), |(a, b)| (a, Some(b)));
        let (name, column) = named(before);
        let (name, column) = (name.to_owned(), column.to_owned());
        let cells = |list: &str| list.split('|').map(|cell| cell.trim().to_owned()).collect();
        let Some(lists) = lists else {
            return Ok(Self { name, column, lists: Vec::new(), rest: "" });
        };
        if !lists.contains('(') {
            return Ok(Self {
                name,
                column,
                lists: vec![("yes".into(), cells(lists))],
                rest: "no",
            });
        }
        let list = |list: &str| {
            let inside = list.trim().strip_suffix(')').and_then(|list| list.split_once('('));
            inside.map(|(name, list)| (name.to_owned(), cells(list))).ok_or_else(|| {
                Failure::usage(format!(
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

/// A file's name; a bundle travels, so the rest of the path stays at home.
pub(super) fn name(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    let name = if name == "-" { "standard input".into() } else { name };
    name.chars().take(80).collect()
}
