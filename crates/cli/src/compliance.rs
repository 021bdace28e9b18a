//! `undertone compliance`: estimates from data people randomised themselves, where some did not follow the design.

use undertone::Answer;
use undertone::compliance::{ComplianceDesign, ComplianceRequest, compliance};

use crate::columns::Source;
use crate::failure::Failure;
use crate::options;
use crate::output::{Outcome, nats, table};

/// Estimate a share from data people randomised themselves, and how many followed the design.
///
/// Example: undertone compliance --design crosswise:0.15,0.15 --response Y --attention A survey.csv
#[derive(clap::Args)]
#[command(group(clap::ArgGroup::new("second").required(true).args(["group", "attention"])))]
pub(crate) struct Args {
    #[command(flatten)]
    source: Source,
    /// lie-detector:P1,P2 (two groups: those it is not true of say no with probability P, yes otherwise; those it is true of say yes),
    /// cheaters:P1,P2 (two groups: a yes is forced with probability P, else the truth), or crosswise:P,Q (yes is "both or
    /// neither is true", P being the share the harmless statement is true of, Q that of the attention question's).
    #[arg(long)]
    design: String,
    /// The column of reports: 1 or 0, yes or no, true or false.
    #[arg(long)]
    response: String,
    /// The column of the two groups.
    #[arg(long)]
    group: Option<String>,
    /// What the group with P1 is called in that column.
    #[arg(long, requires = "group", default_value = "1")]
    first_group: String,
    /// The column of answers to the attention question, coded as the reports.
    #[arg(long)]
    attention: Option<String>,
    /// The column of weights.
    #[arg(long)]
    weights: Option<String>,
    /// What a yes is written as, if not 1, yes or true.
    #[arg(long)]
    yes: Option<String>,
    /// The confidence of intervals.
    #[arg(long, default_value = "0.95", value_parser = options::between_0_and_1)]
    level: f64,
}

pub(crate) fn run(args: &Args) -> Result<Outcome, Failure> {
    let design: ComplianceDesign = args.design.parse()?;
    let second = match (design.has_groups(), &args.group, &args.attention) {
        (true, Some(group), None) => group,
        (false, None, Some(attention)) => attention,
        (true, ..) => return Err(Failure::usage("this design has two groups: give --group")),
        (false, ..) => {
            return Err(Failure::usage("this design has an attention question: give --attention"));
        }
    };
    let report = compliance(ComplianceRequest {
        design,
        source: args.source.rows()?,
        response: args.response.clone(),
        second: second.clone(),
        weights: args.weights.clone(),
        yes: args.yes.clone(),
        first_group: design.has_groups().then(|| args.first_group.clone()),
        level: args.level,
    })?;
    let digits = |value: f64| nats((value * 1e4).round() / 1e4);
    let rows = report.estimates.iter().map(|one| {
        let numbers = [one.estimate, one.std_error, one.low, one.high].map(digits);
        [vec![one.name.to_owned()], numbers.to_vec()].concat()
    });
    let table = table(&["", "estimate", "std. error", "low", "high"], rows.collect());
    let text = format!("{}\n\n{table}", report.words());
    Ok(Outcome::of(&report, text))
}
