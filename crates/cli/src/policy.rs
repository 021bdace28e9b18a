//! `undertone policy`: make a policy of one's own mechanism, re-check a policy document, or show it.

mod make;
mod together;

use std::path::{Path, PathBuf};

use undertone::Answer;
use undertone::policy_report::{self, PolicyReport};
use undertone::together::ConsentLimit;
use undertone_core::Draft;

use crate::audit::strength_table;
use crate::failure::Failure;
use crate::input;
use crate::output::Outcome;
use crate::plot;
use crate::risk::Shown;

/// Make a policy of your own mechanism, re-check a policy document, or show what an observer can learn from it.
///
/// Example: undertone policy verify policy.json
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(clap::Subcommand)]
enum Action {
    Make(make::Args),
    /// Re-check every claim exactly; exit 1 with the offending cell if one is false.
    ///
    /// With --together: what several policies tell about one datum when all of them are answered, held against what a
    /// person agreed to. Example: undertone policy verify a.json b.json --together --consent lip:1
    Verify {
        /// The policy document; `-` reads standard input. Several with --together.
        #[arg(required = true)]
        policies: Vec<PathBuf>,
        /// Judge everything these policies tell about one datum as one release.
        #[arg(long)]
        together: bool,
        /// A limit on the whole: ldp:E, lip:E or secret:NAME=ldp:E (repeatable); exit 1 if one is not met.
        #[arg(long, value_name = "LIMIT", requires = "together")]
        consent: Vec<ConsentLimit>,
    },
    /// Show the claims, what is attained, and what an observer can learn.
    Show {
        /// The policy document; `-` reads standard input.
        policy: PathBuf,
        /// Draw what an observer can learn as an SVG picture.
        #[arg(long, value_name = "FILE.svg")]
        plot: Option<PathBuf>,
    },
}

pub(crate) fn run(args: &Args) -> Result<Outcome, Failure> {
    match &args.action {
        Action::Make(args) => make::run(args),
        Action::Verify { policies, together: true, consent } => together::run(policies, consent),
        Action::Verify { policies, .. } => match policies.as_slice() {
            [policy] => Ok(verify(input::draft(policy)?)),
            _ => Err(Failure::usage(
                "several policies are verified one by one, or with --together as releases about one datum",
            )),
        },
        Action::Show { policy, plot } => show(input::draft(policy)?, plot.as_deref()),
    }
}

fn verify(draft: Draft) -> Outcome {
    let (input, secret) = draft.strength();
    let strength = strength_table(&input, secret.as_ref());
    let report = policy_report::verify(draft);
    let text = format!("{}\n\n{strength}", report.words());
    Outcome::of(&report, text)
}

fn show(draft: Draft, plot: Option<&Path>) -> Result<Outcome, Failure> {
    let report = policy_report::show(draft.clone())?;
    let text = shown(&draft, &report, plot)?;
    Ok(Outcome::of(&report.shortened(), text))
}

/// Everything there is to say of a policy, for people, and its picture where one is asked for.
fn shown(draft: &Draft, report: &PolicyReport, plot: Option<&Path>) -> Result<String, Failure> {
    let (input, secret) = draft.strength();
    let strength = strength_table(&input, secret.as_ref());
    let PolicyReport { risk: Some(risk), provenance, .. } = report else {
        return Ok(format!("{}\n\n{strength}", report.words()));
    };
    let verdict = PolicyReport { risk: None, ..report.clone() }.words();
    let shape = report.shape.as_deref().unwrap_or_default();
    let mut text = format!("{verdict}\n\n{strength}\n\nchannel: {shape}");
    if !provenance.source.is_empty() {
        text += &format!(
            "\nprior from: {} (n = {}{}{})",
            provenance.source,
            provenance.n,
            if provenance.date.is_empty() {
                String::new()
            } else {
                format!(", {}", provenance.date)
            },
            provenance.confidence.map_or(String::new(), |c| format!(", confidence {c}"))
        );
    }
    let shown = Shown { draft, report: risk };
    text += &format!("\n\n{}", shown.text());
    if let Some(path) = plot {
        plot::save(path, &shown.picture(report.verified)?)?;
        text += &format!("\n\npicture written to {}", path.display());
    }
    Ok(text)
}
