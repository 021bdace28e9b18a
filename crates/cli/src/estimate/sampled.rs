//! Shares of rows that were drawn with a design, and in groups.

use undertone::estimate::{
    NamedPolicy, SampledShare, SampledSharesReport, SampledSharesRequest, estimate_sample,
};
use undertone::number::counted;
use undertone::observations::ReportedUnder;

use super::{Args, Unknown};
use crate::columns::{ReadingBar, Source};
use crate::failure::Failure;
use crate::output::{Outcome, table};

/// The one policy, or the one that --policy-column names.
pub(super) fn under(args: &Args, policies: Vec<NamedPolicy>) -> Result<ReportedUnder, Failure> {
    let under = match (policies.len(), &args.policy_column) {
        (1, None) => policies.into_iter().next().map(|named| ReportedUnder::from(named.policy)),
        (_, Some(by)) => {
            let designs = policies.iter().flat_map(|named| {
                named.all_names().into_iter().map(|name| (name, Some(named.policy.clone())))
            });
            Some(ReportedUnder::By { column: by.clone(), designs: designs.collect() })
        }
        _ => None,
    };
    under.ok_or_else(|| {
        Failure::usage("with several policies, say with --policy-column which one each row has")
    })
}

pub(super) fn run(args: &Args, under: ReportedUnder) -> Result<Outcome, Failure> {
    let alone = "--by, --weights, --strata, --cluster and --margins";
    let ([file], Some(column)) = (&args.files[..], &args.column) else {
        return Err(Failure::usage(format!("{alone} need one file and its --column")));
    };
    if !args.tally.is_empty() || args.save_tally.is_some() || args.plot.is_some() {
        return Err(Failure::usage(format!(
            "{alone} need rows: a tally has none; leave out --tally, --save-tally and --plot"
        )));
    }
    if args.all || args.respondents || args.above.is_some() {
        return Err(Failure::usage(format!(
            "{alone} do not go with --all, --respondents and --above: leave these out"
        )));
    }
    if args.unknown == Unknown::Skip {
        return Err(Failure::usage(format!(
            "{alone} leave out rows that lack a cell, and stop at a cell no policy releases: leave out --unknown"
        )));
    }
    let request = SampledSharesRequest {
        column: column.clone(),
        under,
        by: args.by.clone(),
        sampling: args.sampling.sampling(args.population)?,
        level: args.level,
    };
    let source = Source { file: file.clone(), layout: args.layout.clone() };
    let report = estimate_sample(source.rows()?.watched_by(ReadingBar::new("read")), &request)?;
    let text = text(&report);
    Ok(Outcome::of(&report, text))
}

fn text(report: &SampledSharesReport) -> String {
    let mut text = format!(
        "{}{}\n\nShares of {} in %, {} % intervals\n{}\n",
        counted(report.n, "row"),
        match report.missing {
            0 => String::new(),
            missing =>
                format!(" ({missing} of {} left out because a cell is missing)", report.rows),
        },
        report.column,
        super::shown::plain(100.0 * report.level),
        share_table(report)
    );
    if let Some(by) = &report.by {
        let header = [by, &report.column, "share", "from", "to", "minus first group", "from", "to"];
        let mut rows = Vec::new();
        for group in &report.groups {
            let other = report.differences.iter().find(|other| other.group == group.group);
            for (at, share) in group.shares.iter().enumerate() {
                let mut row = vec![group.group.clone(), share.symbol.clone()];
                row.extend(share.share.written(100.0));
                let difference = other.and_then(|other| other.shares.get(at));
                row.extend(difference.map_or([const { String::new() }; 3], |difference| {
                    difference.share.written(100.0)
                }));
                rows.push(row);
            }
        }
        text += &format!("\nIn each group\n{}\n", table(&header, rows));
    }
    text += &format!("\nDesign effect, on average: {:.2}\n", report.design_effect);
    for sentence in report.assumptions.iter().chain(&report.notes) {
        text += &format!("{sentence}\n");
    }
    text
}

/// The shares of all rows.
pub(super) fn share_table(report: &SampledSharesReport) -> String {
    let row = |share: &SampledShare| {
        let mut row = vec![share.symbol.clone()];
        row.extend(share.share.written(100.0));
        let two = |number: Option<f64>, scale: f64| {
            number.map_or("-".into(), |number| format!("{:.2}", scale * number))
        };
        row.push(two(share.share.std_error, 100.0));
        row.push(two(share.share.design_effect, 1.0));
        row
    };
    let header = ["symbol", "share %", "from", "to", "std. error", "design effect"];
    table(&header, report.shares.iter().map(row).collect())
}
