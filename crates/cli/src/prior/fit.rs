//! `undertone prior fit`: a prior from a column of data, or one for every group of rows.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use undertone_design::fit::Fit;

use super::codebook::Symbols;

use super::mixture::{self, Components};
use super::tally::{GroupTally, OTHER, Tally, Unknown};
use super::{describe, write};
use crate::columns::Source;
use crate::failure::Failure;
use crate::output::{Outcome, nats, table};
use undertone::document::{DensityDocument, Floored, PriorDocument};

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

pub(crate) fn run(args: &Args) -> Result<Outcome, Failure> {
    if !(args.smoothing >= 0.0 && args.smoothing.is_finite()) {
        let given = args.smoothing;
        return Err(Failure::usage(format!("--smoothing is {given}: give a number of at least 0")));
    }
    if !(args.beta > 0.0 && args.beta < 1.0) {
        let given = args.beta;
        return Err(Failure::usage(format!(
            "--beta is {given}: give a number above 0 and below 1"
        )));
    }
    let codebook = args.symbols.codebook()?;
    let keep = args.mixture.is_some();
    let tally = Tally::of(&args.source, &args.column, &args.groups, &codebook, args.unknown, keep)?;
    if args.groups.is_empty() { whole(args, &tally) } else { grouped(args, tally) }
}

fn fit(args: &Args, counts: Vec<u64>) -> Result<Fit, Failure> {
    Ok(Fit::from_counts(counts, args.smoothing, args.beta)?)
}

/// A fit as a file.
fn file(
    args: &Args,
    tally: &Tally,
    group: Option<&str>,
    fit: &Fit,
    counted: &GroupTally,
) -> PriorDocument {
    let floored =
        fit.floored.iter().map(|&x| Floored { symbol: tally.symbols[x].clone(), to: fit.p[x] });
    let source = source(args);
    PriorDocument {
        symbols: tally.symbols.clone(),
        p: fit.p.as_slice().to_vec(),
        values: tally.values.clone(),
        edges: tally.edges.clone(),
        n: Some(fit.n),
        counts: Some(fit.counts.clone()),
        lower: Some(fit.confidence.lower.clone()),
        upper: Some(fit.confidence.upper.clone()),
        radius: Some(fit.confidence.radius),
        beta: Some(fit.confidence.beta),
        smoothing: Some(fit.smoothing),
        floored: Some(floored.collect()),
        skipped: Some(counted.skipped),
        clipped: tally.edges.as_ref().map(|_| (counted.below, counted.above)),
        density: None,
        source: Some(match group {
            Some(group) => format!("{source}, group {group}"),
            None => source,
        }),
        date: args.date.clone(),
    }
}

/// Where the data came from: in words, or the column and the file's name.
fn source(args: &Args) -> String {
    let named = || {
        format!(
            "column {} of {}",
            args.column,
            args.source.rows().map_or_else(|_| String::new(), |rows| rows.title())
        )
    };
    args.origin.clone().unwrap_or_else(named)
}

/// What the prior says of its source unasked, since it is public.
fn source_remark(args: &Args) -> Option<String> {
    args.origin.is_none().then(|| {
        format!("{:?} stands in the prior and in every policy made from it: --source says something else", source(args))
    })
}

/// Everything a reader must not overlook.
fn remarks(tally: &Tally, fit: &Fit, counted: &GroupTally, fitted: bool) -> Vec<String> {
    let mut said = Vec::new();
    let list = |symbols: &[usize]| {
        let named = symbols.iter().take(10).map(|&x| tally.symbols[x].as_str());
        let more = symbols.len().saturating_sub(10);
        let names = named.collect::<Vec<_>>().join(", ");
        if more > 0 { format!("{names} and {more} more") } else { names }
    };
    if let Some(&first) = fit.floored.first() {
        let unseen = if fitted { "hardly any mass" } else { "never seen" };
        said.push(format!(
            "{unseen}: {}; counted as half an observation each, p = {}",
            list(&fit.floored),
            nats(fit.p[first])
        ));
    }
    let outside = fit.outside();
    if !outside.is_empty() {
        let pushed =
            if fitted { "the mixture leaves" } else { "smoothing pushed the estimate out of" };
        said.push(format!("{pushed} the box of the counts at: {}", list(&outside)));
    }
    if counted.skipped > 0 {
        said.push(format!("{} of {} rows were skipped", counted.skipped, counted.rows));
    }
    if counted.below + counted.above > 0 {
        said.push(format!(
            "{} numbers below and {} above the range were counted in the end bins",
            counted.below, counted.above
        ));
    }
    if tally.found {
        said.push(
            "the symbols are those found in the data: if others can occur, list all with --symbols"
                .into(),
        );
    }
    said
}

fn whole(args: &Args, tally: &Tally) -> Result<Outcome, Failure> {
    let counted = tally.groups.values().next().cloned().unwrap_or_default();
    let mut fit = fit(args, counted.counts(tally.symbols.len()))?;
    let mixed = match (args.mixture, &tally.edges) {
        (Some(components), Some(edges)) => {
            Some(mixture::fit(&counted.numbers, edges, components, &mut fit)?)
        }
        _ => None,
    };
    let mut prior = file(args, tally, None, &fit, &counted);
    if let Some(mixed) = &mixed {
        let density = DensityDocument::of(mixed.chosen());
        let laws = density.components.len();
        prior.source =
            prior.source.map(|source| format!("mixture of {laws} normal laws fitted to {source}"));
        prior.density = Some(density);
    }
    let mut text = format!("{} observations of {:?}\n\n{}", fit.n, args.column, describe(&prior));
    if let Some(mixed) = &mixed {
        text += &format!("\n\n{}", mixed.describe());
    }
    for remark in
        remarks(tally, &fit, &counted, mixed.is_some()).into_iter().chain(source_remark(args))
    {
        text += &format!("\nnote: {remark}");
    }
    if let Some(path) = &args.output {
        write(path, &prior)?;
        text += &format!("\nwritten to {}", path.display());
    }
    if let (Some(path), Some(edges)) = (&args.plot, &tally.edges) {
        let picture = mixture::picture(&args.column, edges, &fit, mixed.as_ref(), &counted);
        crate::plot::save(path, &crate::plot::density(&picture)?)?;
        text += &format!("\ndrawn into {}", path.display());
    }
    let json = serde_json::to_value(&prior).map_err(Failure::input)?;
    Ok(Outcome::good(json, text))
}

/// A group of rows and the entry its prior is kept in.
struct Group {
    name: String,
    json: Value,
    counted: GroupTally,
    entry: usize,
}

/// A prior that one group or several share.
struct Entry {
    fit: Fit,
    names: Vec<String>,
    counted: GroupTally,
}

fn grouped(args: &Args, mut tally: Tally) -> Result<Outcome, Failure> {
    let least = args.min_group.max(1);
    let mut remarks_on_groups = Vec::new();
    let mut kept: Vec<(String, Value, GroupTally)> = Vec::new();
    let mut rest = GroupTally::default();
    let mut merged = Vec::new();
    for (values, counted) in std::mem::take(&mut tally.groups) {
        let json: serde_json::Map<String, Value> =
            args.groups.iter().cloned().zip(values.iter().map(|v| json!(v))).collect();
        if counted.rows - counted.skipped < least {
            rest.absorb(&counted);
            merged.push((values.join(", "), Value::Object(json)));
        } else {
            kept.push((values.join(", "), Value::Object(json), counted));
        }
    }
    if !merged.is_empty() {
        let names: Vec<&str> = merged.iter().take(10).map(|(name, _)| name.as_str()).collect();
        let more = merged.len().saturating_sub(10);
        remarks_on_groups.push(format!(
            "{} groups with fewer than {least} rows were merged into \"{OTHER}\": {}{}",
            merged.len(),
            names.join("; "),
            if more > 0 { format!(" and {more} more") } else { String::new() }
        ));
        let rows = rest.rows - rest.skipped;
        if rows == 0 {
            remarks_on_groups
                .push(format!("no row of \"{OTHER}\" could be counted: it has no prior"));
        } else {
            if rows < least {
                remarks_on_groups.push(format!("\"{OTHER}\" itself has only {rows} rows"));
            }
            let members: Vec<Value> = merged.into_iter().map(|(_, json)| json).collect();
            kept.push((OTHER.into(), json!({ OTHER: members }), rest));
        }
    }
    let (groups, entries) = share(args, &tally, kept)?;
    report(args, &tally, &groups, &entries, remarks_on_groups)
}

/// Fits every group, and lets groups with equal priors share an entry.
fn share(
    args: &Args,
    tally: &Tally,
    kept: Vec<(String, Value, GroupTally)>,
) -> Result<(Vec<Group>, Vec<Entry>), Failure> {
    let mut entries: Vec<Entry> = Vec::new();
    let mut groups = Vec::new();
    for (name, json, counted) in kept {
        let fit = fit(args, counted.counts(tally.symbols.len()))?;
        let entry = match entries.iter_mut().position(|entry| entry.fit.same_prior(&fit)) {
            Some(at) => {
                let entry = &mut entries[at];
                entry.fit = entry.fit.clone().shared_with(&fit);
                entry.names.push(name.clone());
                entry.counted.absorb(&counted);
                at
            }
            None => {
                entries.push(Entry { fit, names: vec![name.clone()], counted: counted.clone() });
                entries.len() - 1
            }
        };
        groups.push(Group { name, json, counted, entry });
    }
    Ok((groups, entries))
}

fn report(
    args: &Args,
    tally: &Tally,
    groups: &[Group],
    entries: &[Entry],
    mut said: Vec<String>,
) -> Result<Outcome, Failure> {
    let files = file_names(entries);
    let priors: Vec<PriorDocument> = entries
        .iter()
        .map(|entry| file(args, tally, Some(&entry.names.join("; ")), &entry.fit, &entry.counted))
        .collect();
    for entry in entries {
        if entry.names.len() > 1 {
            said.push(format!(
                "equal priors, one file, with the widest of their boxes: {}",
                entry.names.join("; ")
            ));
        }
        for remark in remarks(tally, &entry.fit, &entry.counted, false) {
            // What holds for all groups is said once.
            let general = remark.starts_with("the symbols are");
            let remark =
                if general { remark } else { format!("{}: {remark}", entry.names.join("; ")) };
            if !said.contains(&remark) {
                said.push(remark);
            }
        }
    }
    said.extend(source_remark(args));
    let index: Vec<Value> = groups
        .iter()
        .map(|group| {
            json!({
                "group": group.json, "rows": group.counted.rows, "skipped": group.counted.skipped,
                "prior": group.entry, "file": files[group.entry],
            })
        })
        .collect();
    let mut json = json!({
        "column": args.column, "by": args.groups, "min_group": args.min_group, "groups": index,
    });
    let rows = groups.iter().map(|group| {
        let fit = &entries[group.entry].fit;
        let mut order: Vec<usize> = (0..fit.p.len()).collect();
        order.sort_by(|&a, &b| fit.p[b].total_cmp(&fit.p[a]));
        let likeliest = order
            .iter()
            .take(3)
            .map(|&x| format!("{} {} %", tally.symbols[x], nats((1e4 * fit.p[x]).round() / 1e2)));
        // Without a folder the entry's number in the JSON is the only name a prior has.
        let file = match &args.output {
            Some(_) => files[group.entry].clone(),
            None => group.entry.to_string(),
        };
        let likeliest = likeliest.collect::<Vec<_>>().join(", ");
        vec![
            group.name.clone(),
            group.counted.rows.to_string(),
            likeliest,
            nats(fit.confidence.radius),
            file,
        ]
    });
    let mut text = table(&["group", "rows", "likeliest", "l1 radius", "prior"], rows.collect());
    text +=
        &format!("\nEach group's box holds its truth with probability {}.", nats(1.0 - args.beta));
    for remark in said {
        text += &format!("\nnote: {remark}");
    }
    if let Some(folder) = &args.output {
        std::fs::create_dir_all(folder)
            .map_err(|error| Failure::of_system("make", folder, &error))?;
        for (name, prior) in files.iter().zip(&priors) {
            write(&folder.join(name), prior)?;
        }
        write(&folder.join("groups.json"), &json)?;
        text +=
            &format!("\n{} priors and groups.json written to {}", files.len(), folder.display());
    }
    json["priors"] = serde_json::to_value(&priors).map_err(Failure::input)?;
    Ok(Outcome::good(json, text))
}

/// A readable file name for every entry, all different.
fn file_names(entries: &[Entry]) -> Vec<String> {
    let mut taken = BTreeSet::from(["groups".to_owned()]);
    let name = |entry: &Entry| {
        let plain: String = entry.names[0]
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' })
            .take(60)
            .collect();
        let plain = plain.trim_matches('-');
        let plain = if plain.is_empty() { "group" } else { plain };
        let mut name = plain.to_owned();
        let mut copy = 2;
        while !taken.insert(name.clone()) {
            name = format!("{plain}-{copy}");
            copy += 1;
        }
        Path::new(&name).with_extension("json").to_string_lossy().into_owned()
    };
    entries.iter().map(name).collect()
}
