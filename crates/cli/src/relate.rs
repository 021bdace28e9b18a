//! `undertone relate`: what one guarantee implies about another notion.

use std::path::PathBuf;

use serde_json::json;
use undertone::relate::{RelateReport, RelateRequest, relate};
use undertone_theory::relation;

use crate::failure::{Failure, option};
use crate::input;
use crate::output::{Outcome, table};

/// Say what one guarantee implies about another notion, as tightly as is known.
///
/// With a prior the answer is the exact supremum over all mechanisms, with a channel that attains it;
/// without one, the best chain of closed forms. Notions: ldp, lip, alip, bplip, wclip, pml, di, mip,
/// mil, sibson, arimoto, alphalift, infdp, avgleak, infp, mipx, ident.
///
/// Example: undertone relate --from lip:1 --to ldp --prior prior.json
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The guarantee: notion:epsilon or alip:lower,upper, each may end in ,delta.
    #[arg(long, required_unless_present = "map")]
    from: Option<String>,
    /// The notion wanted.
    #[arg(long, required_unless_present = "map")]
    to: Option<String>,
    /// The prior of the data (of the private hypothesis for infdp, avgleak and infp); repeat it for
    /// the set of priors of bplip.
    #[arg(long)]
    prior: Vec<PathBuf>,
    /// A lower bound on the smallest probability, when the prior is not known.
    #[arg(long, conflicts_with = "prior", allow_negative_numbers = true)]
    p_min: Option<f64>,
    /// How many symbols the data has, when the prior is not known.
    #[arg(long)]
    symbols: Option<usize>,
    /// How many sensors report.
    #[arg(long)]
    sensors: Option<usize>,
    /// How many binary private hypotheses there are.
    #[arg(long)]
    secrets: Option<usize>,
    /// The order of sibson, arimoto and alphalift.
    #[arg(long, allow_negative_numbers = true)]
    alpha: Option<f64>,
    /// The largest log ratio of the data's law between neighbours, for ident.
    #[arg(long, allow_negative_numbers = true)]
    spread: Option<f64>,
    /// In which convention delta is meant: conditional, posterior, joint or joint_sets.
    #[arg(long)]
    convention: Option<String>,
    /// Draw every implication into this SVG file.
    #[arg(long)]
    map: Option<PathBuf>,
}

pub(crate) fn run(args: &Args) -> Result<Outcome, Failure> {
    let mut drawn = None;
    if let Some(path) = &args.map {
        crate::output::save(path, &relation::map::svg())?;
        drawn = Some(format!("wrote {}", path.display()));
    }
    let (Some(from), Some(to)) = (&args.from, &args.to) else {
        let path = args.map.as_ref().map(|path| path.display().to_string());
        return Ok(Outcome::good(json!({ "map": path }), drawn.unwrap_or_default()));
    };
    let mut request = RelateRequest::parse(from, to)?;
    if let Some(convention) = &args.convention {
        request = request.in_convention(convention)?;
    }
    let request = RelateRequest {
        priors: input::priors(&args.prior)?,
        p_min: args.p_min,
        symbols: args.symbols,
        sensors: args.sensors,
        secrets: args.secrets,
        alpha: args.alpha,
        spread: args.spread,
        ..request
    };
    let report = relate(&request)?;
    let mut text = describe(&report);
    if let Some(drawn) = drawn {
        text += &format!("\n{drawn}");
    }
    Ok(Outcome::of(&report, text))
}

fn describe(report: &RelateReport) -> String {
    let mut text = report.headline(option);
    let remarks = report.remarks().join("\n");
    if report.implied.is_none() {
        if !remarks.is_empty() {
            text += &format!("\n{}; --json prints it.", remarks.trim_end_matches('.'));
        }
        return text;
    }
    let steps = report.steps.iter().map(|step| {
        vec![step.rule.into(), step.formula.into(), step.gives.words(), step.paper.into()]
    });
    text += &format!("\n\n{}", table(&["step", "formula", "gives", "from"], steps.collect()));
    if !remarks.is_empty() {
        text += &format!("\n\n{remarks}");
    }
    match report.witness.as_deref().and_then(witness_table) {
        Some(witness) => format!("{text}\n\nAttained by this channel:\n{witness}"),
        None => text,
    }
}

/// A channel as a table, unless it is too wide for a page.
fn witness_table(rows: &[Vec<f64>]) -> Option<String> {
    let outputs = rows.first().map_or(0, Vec::len);
    if outputs > 8 {
        return None;
    }
    let names: Vec<String> = (0..outputs).map(|y| format!("output {y}")).collect();
    let header: Vec<&str> = std::iter::once("").chain(names.iter().map(String::as_str)).collect();
    let rows = rows.iter().enumerate().map(|(x, row)| {
        let cells = row.iter().map(|q| format!("{q:.6}"));
        std::iter::once(format!("input {x}")).chain(cells).collect()
    });
    Some(table(&header, rows.collect()))
}
