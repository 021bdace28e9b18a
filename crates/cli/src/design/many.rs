//! `undertone design --priors`: a policy for every group of people whose predicted priors are alike.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use undertone::design::{
    GroupDesign, ManyDesignReport, ManyDesignRequest, PriorTable, design_many,
};
use undertone::number::counted;
use undertone::perturb::LEAST_GROUP;

use super::{Args, objective};
use crate::columns::{ReadingBar, Source};
use crate::failure::Failure;
use crate::output::{Outcome, apart_from, progress, save, table};

/// Many priors at once.
#[derive(clap::Args)]
pub(super) struct ManyArgs {
    /// A CSV or Parquet table with a prior in every row, one column for each of --symbols: a person's predicted probabilities, or a
    /// segment's. -o writes a map of the groups' policies for `--policy-by`, and the policies beside it.
    #[arg(
        long,
        value_name = "TABLE",
        requires = "symbols",
        conflicts_with_all = ["prior", "any_prior", "prior_lower", "joint", "size", "accuracy", "density", "points", "range", "values", "max_bits", "accept", "allow_uninformative"]
    )]
    priors: Option<PathBuf>,
    /// The column that says how many people a row stands for (default: one each).
    #[arg(long, value_name = "COLUMN", requires = "priors")]
    people: Option<String>,
    /// How many people must share a policy at least: whoever sees the policy of one person knows that many are meant.
    #[arg(long, value_name = "PEOPLE", requires = "priors", default_value_t = LEAST_GROUP)]
    least_group: u64,
    /// How many groups there are at most.
    #[arg(long, requires = "priors", default_value_t = 16, value_parser = crate::options::count)]
    groups: usize,
    /// Write the table's other columns with one more, the group of every row, here.
    #[arg(long, value_name = "FILE.csv", requires = "priors")]
    grouped: Option<PathBuf>,
    /// What that column is called.
    #[arg(long, value_name = "NAME", requires = "grouped", default_value = "group")]
    group_column: String,
    /// When the predictions were made, for the policies' provenance: 2026-11-19.
    #[arg(long, requires = "priors")]
    date: Option<String>,
    #[command(flatten)]
    layout: crate::columns::Layout,
}

impl ManyArgs {
    /// The table, if there is one.
    pub(super) fn table(&self) -> Option<&Path> {
        self.priors.as_deref()
    }
}

pub(super) fn run(args: &Args, priors: &Path) -> Result<Outcome, Failure> {
    let many = &args.many;
    for path in args.output.iter().chain(&many.grouped) {
        apart_from(path, &[priors])?;
    }
    let source = Source { file: priors.to_owned(), layout: many.layout.clone() };
    let rows = source.rows()?.watched_by(ReadingBar::new("read"));
    let symbols = crate::input::names(&args.symbols)?;
    let request = ManyDesignRequest {
        table: PriorTable::read(rows, &symbols, many.people.as_deref())?,
        protect: args.protect.iter().map(|text| text.parse()).collect::<Result<_, _>>()?,
        objective: objective(args.objective.as_deref())?,
        method: args.method.as_deref().map(str::parse).transpose()?,
        least_group: many.least_group,
        most_groups: many.groups,
        date: many.date.clone(),
    };
    let bar = progress(0, "policies");
    let report = design_many(&request, &|done, all| {
        bar.set_length(all as u64);
        bar.set_position(done as u64);
    });
    bar.finish_and_clear();
    let report = report?;
    let grouped = match &many.grouped {
        Some(path) => Some((path, report.grouped(&request.table, &many.group_column)?)),
        None => None,
    };
    if let Some(path) = &args.output {
        write(path, &report)?;
    }
    if let Some((path, bytes)) = &grouped {
        save(path, &String::from_utf8_lossy(bytes))?;
    }
    let mut text = text(&report);
    let written = args.output.as_ref().map(|path| path.display().to_string());
    if let Some(path) = &written {
        text += &format!("\nmap written to {path}, policies beside it");
    }
    if let Some(path) = &many.grouped {
        text += &format!("\ngroups of all rows written to {}", path.display());
    }
    let mut outcome = Outcome::of(&report, text);
    outcome.json["output"] = json!(written);
    outcome.json["grouped"] = json!(many.grouped.as_ref().map(|path| path.display().to_string()));
    Ok(outcome)
}

/// The map, and every group's policy beside it.
fn write(path: &Path, report: &ManyDesignReport) -> Result<(), Failure> {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let folder = path.parent().unwrap_or(Path::new(""));
    if !folder.as_os_str().is_empty() {
        std::fs::create_dir_all(folder)
            .map_err(|error| Failure::of_system("create", folder, &error))?;
    }
    let mut map = Map::new();
    for GroupDesign { group, policy, .. } in &report.groups {
        let name = format!("{stem}-{group}.json");
        save(&folder.join(&name), &policy.draft().to_json())?;
        map.insert(group.clone(), Value::String(name));
    }
    let map = serde_json::to_string_pretty(&Value::Object(map)).map_err(Failure::input)?;
    save(path, &map)
}

fn text(report: &ManyDesignReport) -> String {
    let share = |p: f64| format!("{:.1}", 100.0 * p);
    let row = |group: &GroupDesign| {
        let mut row = vec![group.group.clone(), group.people.to_string()];
        let ends = group.lower.iter().zip(&group.upper);
        row.extend(ends.map(|(&low, &high)| format!("{} to {}", share(low), share(high))));
        let level = |ratio: undertone_core::Ratio| {
            ratio.ln_up().map_or("unbounded".into(), |nats| nats.to_string())
        };
        row.push(group.attained.input.lip.map_or("-".into(), level));
        row.push(level(group.attained.input.ldp));
        row.push(group.policy_id.to_string()[..16].to_owned());
        row
    };
    let mut header = vec!["group".to_owned(), "people".to_owned()];
    header.extend(report.symbols.iter().map(|symbol| format!("{symbol} %")));
    header.extend(["lip", "ldp", "policy"].map(str::to_owned));
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let mut text = format!(
        "{} of at least {} people for {} people under {}\nEvery policy keeps this for every prior of its group.\n\n{}\n",
        counted(report.groups.len() as u64, "group"),
        report.least_group,
        report.people,
        report.requested.join(" and "),
        table(&header, report.groups.iter().map(row).collect())
    );
    let told = &report.told;
    text += &format!(
        "\nA group is released without noise. If the predictions are right, whoever sees it guesses the answer in {} % of all people, in {} % without it; belief moves by up to {} nats.\n",
        share(told.guessed_with_group),
        share(told.guessed_blindly),
        told.lift
            .map_or("unboundedly many".into(), |lift| format!("{:.3}", (1e3 * lift).ceil() / 1e3))
    );
    let compared = &report.compared;
    let variance = |value: Option<f64>| value.map_or("-".into(), |value| format!("{value:.3}"));
    let rows = vec![
        vec!["these policies".to_owned(), variance(compared.by_group)],
        vec![
            "one policy that promises everybody the same".to_owned(),
            variance(compared.one_policy),
        ],
        vec!["LDP at the same level".to_owned(), variance(compared.ldp)],
        vec!["LDP at twice the level".to_owned(), variance(compared.ldp_twice)],
        vec!["no noise".to_owned(), variance(Some(compared.no_noise))],
    ];
    text += &format!(
        "\nVariance of all shares together, times people (less is better):\n{}",
        table(&["", "variance"], rows)
    );
    text
}
