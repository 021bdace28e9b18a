//! Where a network's model comes from: a file, or labelled samples.

use std::path::{Path, PathBuf};

use undertone_fusion::codebook::{Codebook, Column, Columns, Spacing};
use undertone_fusion::{Model, Samples, model};

use crate::columns::{Layout, Source};
use crate::failure::Failure;
use crate::input;

/// A model, or samples to take its place.
#[derive(clap::Args)]
pub(super) struct ModelArgs {
    /// The model: {"hypotheses": [[P(h,g)..]..], "sensors": [{"given": [[[P(x|h,g)..]..]..]}..]}, or any
    /// joint law as {"points": [{"p": P, "public": h, "private": g, "readings": [x..]}..], "sensors":
    /// [{"size": n}..]}.
    #[arg(long)]
    model: Option<PathBuf>,
    #[command(flatten)]
    samples: SampleArgs,
}

/// Labelled samples in a table.
#[derive(clap::Args)]
pub(super) struct SampleArgs {
    /// Labelled samples: a CSV or Parquet file with a column for every sensor and label.
    #[arg(long, requires_all = ["public", "private", "sensors"], conflicts_with = "model")]
    samples: Option<PathBuf>,
    /// The column of the public label.
    #[arg(long, requires = "samples")]
    public: Option<String>,
    /// The column of the private label; several make a vector of private hypotheses.
    #[arg(long, requires = "samples", value_delimiter = ',')]
    private: Vec<String>,
    /// The columns of the sensors.
    #[arg(long, requires = "samples", value_delimiter = ',')]
    sensors: Vec<String>,
    /// Into how many levels a continuous reading is cut.
    #[arg(long, requires = "samples", default_value_t = 10)]
    levels: usize,
    /// Where the levels are cut.
    #[arg(long, requires = "samples", value_enum, default_value_t = Cut::Equal)]
    cut: Cut,
    /// Keep this many sensors: those that say most about the public label.
    #[arg(long, requires = "samples")]
    keep: Option<usize>,
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
            let text = input::text(path)?;
            let model = model::read(&text)
                .map_err(|error| Failure::input(format!("{}: {error}", path.display())))?;
            return Ok(Origin { model, source: name(path), samples: 0 });
        }
        let Some(samples) = self.samples.read()? else {
            return Err(Failure::usage("give --model, or --samples with its columns"));
        };
        let source = self.samples.samples.as_deref().map_or(String::new(), name);
        let count = samples.samples().len() as u64;
        Ok(Origin { model: samples.model()?, source, samples: count })
    }
}

impl SampleArgs {
    /// The samples, if there are any.
    fn read(&self) -> Result<Option<Samples>, Failure> {
        let (Some(file), Some(public)) = (&self.samples, &self.public) else { return Ok(None) };
        let source = Source { file: file.clone(), layout: self.layout.clone() };
        let mut names: Vec<&str> = vec![public];
        names.extend(self.private.iter().map(String::as_str));
        names.extend(self.sensors.iter().map(String::as_str));
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
        let sensors = columns.split_off(1 + self.private.len());
        let private = columns.split_off(1);
        let Some(public) = columns.pop() else { return Ok(None) };
        let columns = Columns { sensors, public, private };
        let spacing = match self.cut {
            Cut::Equal => Spacing::Equal,
            Cut::Quantiles => Spacing::Quantiles,
        };
        let named = |error: undertone_fusion::Error| source.problem(error);
        let codebook = Codebook::fit(&columns, self.levels, spacing).map_err(named)?;
        let samples = codebook.samples(&columns).map_err(named)?;
        let kept = match self.keep {
            Some(count) => samples.keep(&samples.most_relevant(count)).map_err(named)?,
            None => samples,
        };
        Ok(Some(kept))
    }
}

/// A file's name; a bundle travels, so the rest of the path stays at home.
pub(super) fn name(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    let name = if name == "-" { "standard input".into() } else { name };
    name.chars().take(80).collect()
}
