//! `undertone watchdog`: release data so that a secret behind it stays within a budget.

use std::path::{Path, PathBuf};
use std::time::Duration;

use indicatif::ProgressBar;
use undertone::watchdog::{
    SPLITS_TRIED, WatchdogBudget, WatchdogMethod, WatchdogReport, WatchdogRequest, split,
    watchdog_with,
};
use undertone_design::Symbols;

use crate::failure::Failure;
use crate::input;
use crate::output::{Outcome, Round, nats, progress, rounded, save, table};

/// Release data so that belief in a secret behind it stays within a budget.
///
/// Symbols that reveal too much about the secret are merged (or, with `optimal`, randomised). The methods
/// `merge` and `uniform` are the published ones and may miss the budget: then `met` is false and there is
/// no policy.
///
/// Example: undertone watchdog --joint joint.json --lower 0.8 --upper 0.5 -o policy.json
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The joint law P(s,x) of the secret and the data: a list of rows, one per value of the secret, or
    /// {"secret": [...], "symbols": [...], "rows": [...]}, whose symbols the policy then names.
    #[arg(long)]
    joint: PathBuf,
    /// How far belief in the secret may fall, in nats.
    #[arg(
        long,
        requires = "upper",
        required_unless_present = "ldp",
        allow_negative_numbers = true
    )]
    lower: Option<f64>,
    /// How far belief in the secret may rise, in nats.
    #[arg(long, requires = "lower", allow_negative_numbers = true)]
    upper: Option<f64>,
    /// An LDP level of the secret, to be split between the two sides.
    #[arg(long, conflicts_with_all = ["lower", "upper"], allow_negative_numbers = true)]
    ldp: Option<f64>,
    /// The lower side's share of --ldp, from 0 to 1, or `best`: the multiple of 0.05 that keeps most.
    #[arg(long, requires = "ldp", default_value = "best", allow_negative_numbers = true)]
    split: String,
    /// How to choose the release.
    #[arg(long, value_enum, default_value_t = Choice::Auto)]
    method: Choice,
    /// What the secret is called.
    #[arg(long, default_value = "secret")]
    secret_name: String,
    /// Write the policy document here.
    #[arg(short, long)]
    output: Option<PathBuf>,
}

#[derive(clap::ValueEnum, Clone, Copy, PartialEq)]
enum Choice {
    /// What the number of symbols allows: up to 30 the optimum, or the best groups where they keep as much; subset for
    /// more.
    Auto,
    /// One merged symbol for all risky ones, as published; may miss the budget.
    Merge,
    /// A random risky symbol for every risky one, as published; may miss the budget.
    Uniform,
    /// Merging, with harmless symbols given up until the budget is met.
    Repair,
    /// Several groups instead of one.
    Subset,
    /// The best groups there are; up to 14 symbols.
    Partition,
    /// The best randomised release, with a bound on any; up to 128 symbols.
    Optimal,
}

impl From<Choice> for Option<WatchdogMethod> {
    fn from(choice: Choice) -> Self {
        Some(match choice {
            Choice::Auto => return None,
            Choice::Merge => WatchdogMethod::Merge,
            Choice::Uniform => WatchdogMethod::Uniform,
            Choice::Repair => WatchdogMethod::Repair,
            Choice::Subset => WatchdogMethod::Subset,
            Choice::Partition => WatchdogMethod::Partition,
            Choice::Optimal => WatchdogMethod::Optimal,
        })
    }
}

pub(crate) fn run(args: &Args) -> Result<Outcome, Failure> {
    let split = split(&args.split)?;
    let budget = match (args.lower, args.upper, args.ldp) {
        (Some(lower), Some(upper), _) => WatchdogBudget::Sides { lower, upper },
        (_, _, Some(level)) => WatchdogBudget::Ldp { level, split },
        _ => return Err(Failure::usage("give --lower and --upper, or --ldp")),
    };
    let request = WatchdogRequest {
        joint: input::joint(&args.joint)?,
        secret_name: args.secret_name.clone(),
        source: source(&args.joint),
        budget,
        method: args.method.into(),
    };
    let searched = matches!(budget, WatchdogBudget::Ldp { split: None, .. });
    let bar = match searched {
        true => progress(u64::from(SPLITS_TRIED), "splits tried"),
        false => ProgressBar::new_spinner().with_message("looking for the best release"),
    };
    bar.enable_steady_tick(Duration::from_millis(200));
    let report = watchdog_with(&request, || bar.inc(1));
    bar.finish_and_clear();
    let report = report?;
    if let (Some(path), Some(policy)) = (&args.output, &report.policy) {
        save(path, &policy.draft().to_json())?;
    }
    let text = describe(&report, request.joint.symbols());
    Ok(Outcome::of(&report, text))
}

/// The file's name; a policy travels, so the rest of the path stays at home.
fn source(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    let name = if name == "-" { "standard input".into() } else { name };
    format!("joint law of {}", name.chars().take(100).collect::<String>())
}

fn describe(report: &WatchdogReport, symbols: &Symbols) -> String {
    let list = |members: &[usize]| match members {
        [] => "none".into(),
        _ => members.iter().map(|&x| symbols.label(x)).collect::<Vec<_>>().join(" "),
    };
    let split =
        report.split.map_or(String::new(), |share| format!(", {} of the LDP level", nats(share)));
    let mut rows = vec![
        vec!["method".into(), report.method.into(), report.method_note.clone().unwrap_or_default()],
        vec![
            "low risk".into(),
            report.low_risk.len().to_string(),
            format!("of {} symbols: {}", symbols.len(), list(&report.low_risk)),
        ],
        vec!["nmi".into(), nats(report.nmi), "share of the data's information kept".into()],
    ];
    if let Some(bound) = report.nmi_bound {
        let proven = if bound - report.nmi <= 1e-7 {
            "no release within the budget keeps more: this is the optimum"
        } else {
            "no release within the budget keeps more than this"
        };
        rows.push(vec!["nmi_bound".into(), rounded(bound, Round::Up), proven.into()]);
    }
    rows.push(vec![
        "max_lift".into(),
        rounded(report.max_lift, Round::Up),
        format!("budget {}", nats(report.upper)),
    ]);
    rows.push(vec![
        "min_lift".into(),
        rounded(report.min_lift, Round::Up),
        format!("budget {}{split}", nats(report.lower)),
    ]);
    let mut text: String =
        report.warnings.iter().map(|warning| format!("WARNING: {warning}\n\n")).collect();
    text += &table(&["", "value", "of what"], rows);
    text += &format!("\n\n{}", outputs(report, symbols));
    text += &match &report.policy {
        Some(policy) => {
            let claims = report.claims.iter().map(ToString::to_string);
            let claims = claims.collect::<Vec<_>>().join(" and ");
            format!("\n\nverified: {claims}\npolicy id: {}", policy.id())
        }
        None => "\n\nThe published method misses this budget, so there is no policy. \
                 --method subset always meets it and keeps more."
            .into(),
    };
    text
}

/// One line per output: where it comes from, how often it is seen, and what it reveals.
fn outputs(report: &WatchdogReport, symbols: &Symbols) -> String {
    let source = |&(x, share): &(usize, f64)| match share {
        all if all > 1.0 - 1e-6 => symbols.label(x),
        share => format!("{}({share:.2})", symbols.label(x)),
    };
    let rows = report.outputs.iter().map(|output| {
        vec![
            output.output.to_string(),
            output.sources.iter().map(source).collect::<Vec<_>>().join(" "),
            format!("{:.4}", output.seen),
            format!("{:.4}", output.rises),
            format!("{:.4}", output.falls),
        ]
    });
    let header = ["output", "from symbols", "seen", "belief rises", "belief falls"];
    table(&header, rows.collect())
}
