//! Shares from rows whose policies follow their groups.

use undertone::estimate::{
    CountedGroups, EstimateRequest, EstimatedShare, GroupedEstimateReport, GroupedReport,
    ReportColumn, estimate_groups,
};
use undertone::number::counted;
use undertone::observations::ReportedUnder;
use undertone_estimate::Target;

use super::Args;
use crate::columns::{ReadingBar, Source};
use crate::failure::Failure;
use crate::output::{Outcome, table};

pub(super) fn run(
    args: &Args,
    under: ReportedUnder,
    request: &EstimateRequest,
) -> Result<Outcome, Failure> {
    if !args.tally.is_empty() || args.save_tally.is_some() {
        return Err(Failure::usage(
            "--policy-by reads rows, and a stored tally does not say which group it is of: leave out --tally and --save-tally",
        ));
    }
    if args.plot.is_some()
        || args.above.is_some()
        || args.top.is_some()
        || args.population.is_some()
    {
        return Err(Failure::usage(
            "--policy-by does not go with --plot, --above, --top and --population: leave these out",
        ));
    }
    let Some(column) = &args.column else {
        return Err(Failure::usage("--policy-by needs the perturbed --column"));
    };
    let progress = ReadingBar::new("counted");
    let rows = |file: &std::path::PathBuf| {
        let source = Source { file: file.clone(), layout: args.layout.clone() };
        Ok(source.rows()?.watched_by(progress.clone()))
    };
    let files = args.files.iter().map(rows).collect::<Result<_, Failure>>()?;
    let asked = ReportColumn {
        unknown: args.unknown.into(),
        threads: args.threads,
        ..ReportColumn::new(column.clone())
    };
    let report = estimate_groups(&CountedGroups::read(under, files, &asked)?, request)?;
    let text = text(&report);
    Ok(Outcome::of(&report, text))
}

fn text(report: &GroupedEstimateReport) -> String {
    let whom = match report.target {
        Target::Population => "the population",
        Target::Respondents => "these respondents",
    };
    let mut text = format!(
        "{} in {} by column {:?}{}\n\nEstimates for {whom}, {} % intervals for many reports.\nMethod: {}.\n",
        counted(report.reports, "report"),
        counted(report.groups.len() as u64, "group"),
        report.policy_by,
        match report.skipped {
            0 => String::new(),
            skipped => format!(" ({skipped} of {} rows left out)", report.rows),
        },
        super::shown::plain(100.0 * report.level),
        report.headline.label
    );
    if let Some(mean) = &report.headline.mean {
        let [value, low, high] = mean.written(1.0);
        text += &format!("\nmean {value} ({low} to {high})\n");
    }
    let row = |(share, most_likely): (&EstimatedShare, &f64)| {
        let mut row = vec![share.symbol.clone()];
        row.extend(share.share.written(100.0));
        row.push(format!("{:.2}", 100.0 * share.share.standard_error.unwrap_or_default()));
        row.push(format!("{:.2}", 100.0 * most_likely));
        row
    };
    let header = ["symbol", "share %", "from", "to", "std. error", "most likely %"];
    let rows = report.headline.shares.iter().zip(&report.mle.shares).map(row).collect();
    text += &format!("\n{}\n({})\n", table(&header, rows), report.mle.label);
    let level = |nats: Option<f64>| nats.map_or("unbounded".into(), super::shown::plain);
    let row = |group: &GroupedReport| {
        let claims: Vec<String> = group.claims.iter().map(ToString::to_string).collect();
        vec![
            group.group.clone(),
            group.reports.to_string(),
            claims.join(" and "),
            level(group.ldp.map(|nats| (1e4 * nats).ceil() / 1e4)),
            group.prior.map_or("-".into(), |test| probability(test.p_value)),
        ]
    };
    let header = ["group", "reports", "under", "ldp", "prior fits (p)"];
    text += &format!("\n{}", table(&header, report.groups.iter().map(row).collect()));
    for warning in &report.warnings {
        text += &format!("\nwarning: {warning}");
    }
    text
}

/// A probability to three places, or to two digits where that would say nought.
fn probability(p: f64) -> String {
    if p >= 0.0005 || p == 0.0 { format!("{p:.3}") } else { format!("{p:.1e}") }
}
