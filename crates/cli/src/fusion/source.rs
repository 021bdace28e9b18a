//! Where a network's model comes from: a file, or labelled samples.

use std::path::{Path, PathBuf};

use undertone_fusion::codebook::Spacing;
use undertone_fusion::model;
use undertone_fusion::report::FusionModel;
use undertone_fusion::table::{LabelledTable, TableSpec};

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
    one_hot: bool,
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

impl ModelArgs {
    /// Whether a model or samples were given.
    pub(super) fn given(&self) -> bool {
        self.model.is_some() || self.samples.samples.is_some()
    }

    /// Reads the model, or makes one of the samples.
    pub(super) fn read(&self) -> Result<FusionModel, Failure> {
        if let Some(path) = &self.model {
            let model = input::document(path, model::read)?;
            return Ok(FusionModel::assumed(model, name(path)));
        }
        let Some(table) = self.samples.table()? else {
            return Err(Failure::usage("give --model, or --samples with its columns"));
        };
        let SampleArgs { levels, keep, .. } = self.samples;
        let samples = table.samples(levels, self.samples.spacing(), keep)?;
        let count = samples.samples().len() as u64;
        let source = self.samples.source();
        Ok(FusionModel { model: samples.model()?, source, samples: count })
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

    /// The rows, if there are any.
    pub(super) fn table(&self) -> Result<Option<LabelledTable>, Failure> {
        let (Some(file), Some(public)) = (&self.samples, &self.public) else { return Ok(None) };
        let source = Source { file: file.clone(), layout: self.layout.clone() };
        let spec = TableSpec {
            sequence: self.sequence.clone(),
            lags: self.lags.clone(),
            one_hot: self.one_hot,
            ..TableSpec::parse(public, &self.private, &self.sensors)?
        };
        let names = spec.columns();
        let mut cells: Vec<Vec<String>> = vec![Vec::new(); names.len()];
        source.each_row(&names, &mut |row| {
            for ((name, column), cell) in names.iter().zip(&mut cells).zip(row.cells) {
                let Some(cell) = cell else {
                    let place = row.place();
                    return Err(source.problem(format!(
                        "{place}: column {name:?} is empty: fill it in or leave the row out"
                    )));
                };
                column.push(cell.to_string());
            }
            Ok(())
        })?;
        Ok(Some(spec.rows(&file.display().to_string(), cells)?))
    }
}

/// A file's name; a bundle travels, so the rest of the path stays at home.
pub(super) fn name(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    let name = if name == "-" { "standard input".into() } else { name };
    name.chars().take(80).collect()
}
