//! `undertone prior fit`: a prior from a column of data, or one for every group of rows.

use std::collections::BTreeSet;
use std::path::PathBuf;

use undertone::columns::UnknownValues;
use undertone::prior::{
    Components, FittedMixtures, GroupPriors, GroupRequest, PriorFit, PriorFitRequest, PriorSymbols,
};
use undertone_design::density::{Component, Density};

use super::{describe, notes, write};
use crate::columns::Source;
use crate::failure::Failure;
use crate::output::{Outcome, nats, table};
use crate::plot::DensityPlot;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The column to count.
    #[arg(long)]
    column: String,
    #[command(flatten)]
    source: Source,
    #[command(flatten)]
    symbols: Symbols,
    /// Fit one prior for every value of this column; may be given several times.
    #[arg(long = "group")]
    groups: Vec<String>,
    /// Groups with fewer rows than this are merged into the group "other".
    #[arg(long, default_value_t = 100, requires = "groups")]
    min_group: u64,
    /// Added to every count. With 0, symbols never seen count as half an observation, and are named.
    #[arg(long, default_value_t = 0.0, allow_negative_numbers = true)]
    smoothing: f64,
    /// Fit a mixture of this many normal laws to the numbers, or of as many as the Bayesian information criterion
    /// chooses (auto); the bins' probabilities are then the mixture's.
    #[arg(long, requires = "range", conflicts_with_all = ["groups", "smoothing"])]
    mixture: Option<Components>,
    /// Draw the data, the fit and the bins into this SVG file.
    #[arg(long, requires = "range", conflicts_with = "groups")]
    plot: Option<PathBuf>,
    /// The chance that the truth is outside the box, and outside the radius.
    #[arg(long, default_value_t = 0.05, allow_negative_numbers = true)]
    beta: f64,
    /// What to do with missing values and values that have no symbol.
    #[arg(long, value_enum, default_value_t = Unknown::Error)]
    unknown: Unknown,
    /// Where the data came from, in words (default: the column and the file's name).
    #[arg(long = "source")]
    origin: Option<String>,
    /// When the data were collected, as YYYY-MM-DD.
    #[arg(long)]
    date: Option<String>,
    /// Write the prior to this file; with --group, one file per prior into this folder.
    #[arg(long, short)]
    output: Option<PathBuf>,
}

/// What the symbols are.
#[derive(clap::Args, Debug, Clone)]
struct Symbols {
    /// The symbols, in order: a,b,c (default: the values found, sorted).
    #[arg(long, value_delimiter = ',', conflicts_with_all = ["points", "range"])]
    symbols: Option<Vec<String>>,
    /// The symbols are these numbers, increasing: 1,2,3,4,5.
    #[arg(long, value_delimiter = ',', allow_hyphen_values = true, conflicts_with = "range")]
    points: Option<Vec<String>>,
    /// Count numbers in equal bins between two ends: 0,100. Numbers beyond are counted in the end bins.
    #[arg(long, value_delimiter = ',', allow_hyphen_values = true, requires = "bins")]
    range: Option<Vec<String>>,
    /// How many bins.
    #[arg(long, requires = "range")]
    bins: Option<usize>,
    /// The numbers found are codes that may be public, such as postcodes: every one is a symbol.
    #[arg(long, conflicts_with_all = ["symbols", "points", "range"])]
    categories: bool,
}

impl Symbols {
    fn read(&self) -> Result<PriorSymbols, Failure> {
        Ok(if let Some(names) = &self.symbols {
            PriorSymbols::named(names)?
        } else if let Some(points) = &self.points {
            PriorSymbols::points(points)?
        } else if let (Some(range), Some(bins)) = (&self.range, self.bins) {
            PriorSymbols::bins(range, bins)?
        } else {
            PriorSymbols::Found { categories: self.categories }
        })
    }
}

/// What to do with a value that has no symbol, or is missing.
#[derive(clap::ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
enum Unknown {
    /// Stop and name the row.
    Error,
    /// Leave the row out, and say how many were.
    Skip,
    /// Count it as the symbol "other".
    Other,
}

impl From<Unknown> for UnknownValues {
    fn from(unknown: Unknown) -> Self {
        match unknown {
            Unknown::Error => Self::Refuse,
            Unknown::Skip => Self::Skip,
            Unknown::Other => Self::AsOther,
        }
    }
}

pub(crate) fn run(args: &Args) -> Result<Outcome, Failure> {
    let request = PriorFitRequest {
        rows: args.source.rows()?,
        column: args.column.clone(),
        symbols: args.symbols.read()?,
        mixture: args.mixture,
        smoothing: args.smoothing,
        beta: args.beta,
        unknown: args.unknown.into(),
        source: args.origin.clone(),
        date: args.date.clone(),
    };
    if args.groups.is_empty() {
        return whole(args, &undertone::prior::fit(request)?);
    }
    let groups = GroupRequest { group: args.groups.clone(), min_group: args.min_group };
    grouped(args, &undertone::prior::fit_groups(request, &groups)?)
}

fn whole(args: &Args, fitted: &PriorFit) -> Result<Outcome, Failure> {
    let prior = &fitted.prior;
    let n = prior.n.unwrap_or_default();
    let mut text = format!("{n} observations of {:?}\n\n{}", args.column, describe(prior));
    if let Some(mixtures) = &fitted.mixtures {
        text += &format!("\n\n{}", mixture_table(mixtures));
    }
    text += &notes(&fitted.remarks);
    if let Some(path) = &args.output {
        write(path, prior)?;
        text += &format!("\nwritten to {}", path.display());
    }
    if let Some(path) = &args.plot {
        crate::plot::save(path, &crate::plot::density(&picture(fitted))?)?;
        text += &format!("\ndrawn into {}", path.display());
    }
    Ok(Outcome::of(fitted, text))
}

fn grouped(args: &Args, fitted: &GroupPriors) -> Result<Outcome, Failure> {
    let rows = fitted.index.groups.iter().map(|entry| {
        // Without a folder the prior's number in the JSON is the only name it has.
        let file = match &args.output {
            Some(_) => entry.file.clone(),
            None => entry.prior.to_string(),
        };
        let radius = fitted.prior_of(entry).radius.unwrap_or_default();
        vec![
            entry.name.clone(),
            entry.rows.to_string(),
            fitted.likeliest(entry),
            nats(radius),
            file,
        ]
    });
    let mut text = table(&["group", "rows", "likeliest", "l1 radius", "prior"], rows.collect());
    text +=
        &format!("\nEach group's box holds its truth with probability {}.", nats(1.0 - args.beta));
    text += &notes(&fitted.remarks);
    if let Some(folder) = &args.output {
        std::fs::create_dir_all(folder)
            .map_err(|error| Failure::of_system("make", folder, &error))?;
        let mut written = BTreeSet::new();
        for entry in fitted.index.groups.iter().filter(|entry| written.insert(entry.prior)) {
            write(&folder.join(&entry.file), fitted.prior_of(entry))?;
        }
        let index = serde_json::to_value(&fitted.index).map_err(Failure::input)?;
        write(&folder.join("groups.json"), &index)?;
        text += &format!(
            "\n{} priors and groups.json written to {}",
            fitted.priors.len(),
            folder.display()
        );
    }
    Ok(Outcome::of(fitted, text))
}

fn mixture_table(mixtures: &FittedMixtures) -> String {
    let rows = mixtures.chosen().mixture.components().iter().map(|part| {
        let share = nats((1e4 * part.weight).round() / 1e2);
        vec![format!("{share} %"), nats(part.law.mean()), nats(part.law.deviation())]
    });
    let mut text = table(&["share", "mean", "deviation"], rows.collect());
    if mixtures.tried.len() > 1 {
        let rows = mixtures.tried.iter().enumerate().map(|(at, fitted)| {
            let chosen = if at == mixtures.best { "chosen" } else { "" };
            vec![(at + 1).to_string(), nats(fitted.bic), chosen.into()]
        });
        text += &format!("\n\n{}", table(&["components", "BIC", ""], rows.collect()));
    }
    if mixtures.at_most_tried() {
        text += "\nnote: no more components than these were tried; more may fit better still";
    }
    if !mixtures.chosen().converged {
        text += "\nnote: the fit had not settled when its steps ran out";
    }
    text
}

/// The data, the fit and the bins.
fn picture(fitted: &PriorFit) -> DensityPlot {
    const STEPS: usize = 600;
    let prior = &fitted.prior;
    let edges = prior.edges.clone().unwrap_or_default();
    let counts = prior.counts.as_deref().unwrap_or_default();
    let n = prior.n.unwrap_or_default();
    let ends = edges.first().copied().zip(edges.last().copied());
    let (low, high) = ends.unwrap_or_default();
    let bin = (high - low) / counts.len() as f64;
    let curve = |density: &dyn Fn(f64) -> f64| {
        let at = |i: usize| low + (high - low) * i as f64 / STEPS as f64;
        // As a share of one bin, so that it lies over the bars.
        (0..=STEPS).map(|i| (at(i), bin * density(at(i)))).collect::<Vec<_>>()
    };
    let mixture = fitted.mixtures.as_ref().map(|mixtures| &mixtures.chosen().mixture);
    let parts = mixture.map(|mixture| mixture.components()).unwrap_or_default();
    let part = |c: &Component| curve(&|y| c.weight * c.law.density(y));
    let (below, above) = prior.clipped.unwrap_or_default();
    DensityPlot {
        title: format!("{}: {n} observations in {} bins", fitted.column, counts.len()),
        note: match below + above {
            0 => String::new(),
            clipped => {
                format!("{clipped} of them lie outside the range and are counted in the end bins")
            }
        },
        label: fitted.column.clone(),
        data: counts.iter().map(|&count| count as f64 / n as f64).collect(),
        prior: prior.p.clone(),
        law: mixture.map(|mixture| {
            let law = Density::Mixture(mixture.clone());
            curve(&|y| law.density(y))
        }),
        parts: if parts.len() > 1 { parts.iter().map(part).collect() } else { Vec::new() },
        edges,
    }
}
