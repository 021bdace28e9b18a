//! `undertone compose`: what several releases leak together.

use std::path::{Path, PathBuf};

use undertone::compose::{
    ComposeReport, ComposeRequest, ComposedBounds, ComposedData, NamedChannel, Releases, compose,
    promises, worst_of,
};

use crate::failure::Failure;
use crate::input;
use crate::output::{Outcome, Round, rounded, table};

/// Bound what several releases leak together, and compute it exactly.
///
/// Releases of one datum: --prior with --epsilons (the worst over all mechanisms) or --channels (exact
/// for these). Several --prior files: every prior of the set, and each figure is that of the worst of them.
/// Correlated data, one release each: --joint P(x1,x2), or --markov with the transition matrix and --prior
/// as the first law.
///
/// Example: undertone compose --prior prior.json --epsilons 1,1,1
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The prior; repeat it for a set of priors (each must hold).
    #[arg(long)]
    prior: Vec<PathBuf>,
    /// One epsilon per release, or lower/upper for asymmetric LIP: 2,2 or 0.5/1,2.
    #[arg(long, value_delimiter = ',', required_unless_present = "channels")]
    epsilons: Vec<String>,
    /// The channels of the releases, in order: lists of rows in the order of the prior's symbols, or
    /// {"inputs": [...], "outputs": [...], "rows": [...]}, whose inputs are matched by name.
    #[arg(long, num_args = 1.., conflicts_with = "epsilons")]
    channels: Vec<PathBuf>,
    /// The joint law of two correlated data, one row per value of the first, or {"first": [...],
    /// "second": [...], "rows": [...]}.
    #[arg(long, conflicts_with_all = ["markov", "prior"])]
    joint: Option<PathBuf>,
    /// The transition matrix of a Markov chain of data, in either form of a channel.
    #[arg(long)]
    markov: Option<PathBuf>,
}

pub(crate) fn run(args: &Args) -> Result<Outcome, Failure> {
    let ranges = promises(&args.epsilons)?;
    let releases = match args.channels.as_slice() {
        [] => Releases::Promises(ranges),
        paths => {
            Releases::Channels(paths.iter().map(|path| channel(path)).collect::<Result<_, _>>()?)
        }
    };
    let data = match (&args.joint, &args.markov) {
        (Some(path), _) => ComposedData::Joint(input::pair(path)?),
        (None, _) if args.prior.is_empty() => {
            return Err(Failure::usage("give --prior, or --joint for correlated data"));
        }
        (None, Some(path)) => {
            let priors = input::priors(&args.prior)?;
            ComposedData::Markov { priors, transition: channel(path)? }
        }
        (None, None) => ComposedData::OneDatum { priors: input::priors(&args.prior)? },
    };
    let report = compose(&ComposeRequest { data, releases })?;
    let text = describe(&report);
    Ok(Outcome::of(&report, text))
}

fn channel(path: &Path) -> Result<NamedChannel, Failure> {
    Ok(NamedChannel { name: path.display().to_string(), channel: input::channel(path)? })
}

/// A leakage for people, never below it.
fn up(value: f64) -> String {
    rounded(value, Round::Up)
}

fn describe(report: &ComposeReport) -> String {
    let lines = |first: String, second: Option<String>| match second {
        Some(second) => format!("{first}\n{second}"),
        None => first,
    };
    match report {
        ComposeReport::Channels(found) => {
            let row = [found.lip, found.max_lift, found.min_lift, found.ldp].map(up).to_vec();
            let table = table(&["lip", "max_lift", "min_lift", "ldp"], vec![row]);
            format!("{}\n{table}", found.headline())
        }
        ComposeReport::Promises(found) => lines(bounds(&found.bounds), found.warning()),
        ComposeReport::Family(found) => bounds(&found.bounds),
        ComposeReport::SequenceChannels(found) => {
            let how = if found.exact { "exact" } else { "upper bound" };
            let how = format!("{how}{}", worst_of(found.priors));
            let row = |about: String, leakage: f64| vec![about, up(leakage), how.clone()];
            let mut rows = vec![row("the whole sequence".into(), found.sequence)];
            let each = found.each.iter().enumerate();
            rows.extend(each.map(|(k, &leakage)| row(format!("datum {}", k + 1), leakage)));
            table(&["LIP about", "nats", "how"], rows)
        }
        ComposeReport::SequencePromises(found) => lines(bounds(&found.bounds), found.about_each()),
    }
}

fn bounds(found: &ComposedBounds) -> String {
    let exact = found.exact.map_or("not known: too large, or too fine for floats".into(), up);
    let row = |name: &str, value: String, how: String| vec![name.to_owned(), value, how];
    let rows = vec![
        row("bound", up(found.published), format!("JSTL21 {}, as printed", found.result)),
        row(
            "sharpened",
            up(found.sharpened),
            "exact LDP of each release, added, back to LIP".into(),
        ),
        row("exact", exact, "worst over all mechanisms that keep the promises".into()),
    ];
    table(&["LIP together", "nats", "how"], rows)
}
