//! `undertone compose`: what several releases leak together.

use std::path::PathBuf;

use serde_json::{Value, json};
use undertone_design::extremal::LiftRange;
use undertone_theory::sequence::{self, Process};
use undertone_design::{Channel, Distribution};
use undertone_theory::composition;

use crate::failure::Failure;
use crate::input;
use crate::output::{Outcome, Round, at_most, nats, number, optional_at_most, rounded, table};

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

fn ranges(texts: &[String]) -> Result<Vec<LiftRange>, Failure> {
    let parse = |text: &str| {
        text.trim().parse::<f64>().map_err(|_| {
            Failure::usage(format!("--epsilons: {text:?} is not a number; write 2,2 or 0.5/1"))
        })
    };
    let range = |text: &String| {
        let range = match text.split_once('/') {
            Some((lower, upper)) => LiftRange::asymmetric(parse(lower)?, parse(upper)?),
            None => LiftRange::symmetric(parse(text)?),
        };
        range.map_err(|error| Failure::usage(format!("--epsilons: {error}")))
    };
    texts.iter().map(range).collect()
}

pub(crate) fn run(args: &Args) -> Result<Outcome, Failure> {
    let ranges = ranges(&args.epsilons)?;
    let channels: Vec<Channel> =
        args.channels.iter().map(|path| input::channel(path)).collect::<Result<_, _>>()?;
    let releases = ranges.len().max(channels.len());
    if let Some(path) = &args.joint {
        return correlated(&[input::pair(path)?], &ranges, &channels);
    }
    let set = input::priors(&args.prior)?;
    let priors = &set.priors;
    let Some(prior) = priors.first() else {
        return Err(Failure::usage("give --prior, or --joint for correlated data"));
    };
    let naming = "write it as {\"inputs\": [...], \"rows\": [...]}";
    for (path, _) in args.channels.iter().zip(&channels).filter(|(_, channel)| channel.is_bare()) {
        set.check_bare(&path.display().to_string(), naming)?;
    }
    if let Some(path) = &args.markov {
        let transition = input::channel(path)?;
        if transition.is_bare() {
            set.check_bare(&path.display().to_string(), naming)?;
        }
        let processes = priors
            .iter()
            .map(|prior| Process::markov(prior.clone(), &transition, releases))
            .collect::<Result<Vec<_>, _>>()?;
        return correlated(&processes, &ranges, &channels);
    }
    if !channels.is_empty() {
        let found = worst_given(priors, &channels)?;
        let under = worst_of(priors.len());
        let json = json!({
            "exact": at_most(found.lip()),
            "max_lift": at_most(found.max_lift),
            "min_lift": at_most(found.min_lift),
            "ldp": at_most(found.ldp),
            "releases": releases,
            "priors": priors.len(),
        });
        let text = format!(
            "{releases} releases of one datum through these channels leak, together and exactly{under}:\n{}",
            table(
                &["lip", "max_lift", "min_lift", "ldp"],
                vec![[found.lip(), found.max_lift, found.min_lift, found.ldp].map(up).to_vec()]
            )
        );
        return Ok(Outcome::good(json, text));
    }
    if priors.len() > 1 {
        let found = composition::family(priors, &ranges)?;
        let json = json!({
            "bound": at_most(found.published),
            "sharpened": at_most(found.sharpened),
            "exact": optional_at_most(found.exact),
            "releases": releases,
            "priors": priors.len(),
        });
        let text = bounds(found.published, found.sharpened, found.exact, "Corollary 4");
        return Ok(Outcome::good(json, text));
    }
    let found = composition::compose(prior, &ranges)?;
    let exact = found.exact.as_ref().map(|worst| worst.leakage);
    let sum: f64 = ranges.iter().map(LiftRange::epsilon).sum();
    let json = json!({
        "bound": at_most(found.published),
        "sharpened": at_most(found.sharpened),
        "exact": optional_at_most(exact),
        "sum": number(sum),
        "releases": releases,
        "witness": found.exact.as_ref().map(|worst| json!({"symbol": worst.symbol, "lifts": worst.lifts})),
    });
    let mut text = bounds(found.published, found.sharpened, exact, "Theorem 4");
    if let Some(exact) = exact.filter(|exact| *exact > sum + 1e-9) {
        text += &format!(
            "\nAdding the epsilons up gives {}, which is too little: {} is attained.",
            nats(sum),
            up(exact)
        );
    }
    Ok(Outcome::good(json, text))
}

/// The exact leakage of given channels: each figure under the prior of the set for which it is worst.
fn worst_given(
    priors: &[Distribution],
    channels: &[Channel],
) -> Result<composition::Leakage, Failure> {
    let mut worst = composition::Leakage { max_lift: 0.0, min_lift: 0.0, ldp: 0.0 };
    for prior in priors {
        let found = composition::given(prior, channels)?;
        worst.max_lift = worst.max_lift.max(found.max_lift);
        worst.min_lift = worst.min_lift.max(found.min_lift);
        worst.ldp = worst.ldp.max(found.ldp);
    }
    Ok(worst)
}

/// A sentence's end for a set of priors.
fn worst_of(priors: usize) -> String {
    if priors > 1 { format!(", under the worst of the {priors} priors") } else { String::new() }
}

/// A leakage for people, never below it.
fn up(value: f64) -> String {
    rounded(value, Round::Up)
}

fn bounds(published: f64, sharpened: f64, exact: Option<f64>, result: &str) -> String {
    let exact = exact.map_or("not known: too large, or too fine for floats".into(), up);
    let rows = vec![
        vec!["bound".into(), up(published), format!("JSTL21 {result}, as printed")],
        vec![
            "sharpened".into(),
            up(sharpened),
            "exact LDP of each release, added, back to LIP".into(),
        ],
        vec!["exact".into(), exact, "worst over all mechanisms that keep the promises".into()],
    ];
    table(&["LIP together", "nats", "how"], rows)
}

/// Correlated data: each figure is that of the worst of the processes, which differ in their first law.
fn correlated(
    processes: &[Process],
    ranges: &[LiftRange],
    channels: &[Channel],
) -> Result<Outcome, Failure> {
    let widest = |a: Vec<f64>, b: Vec<f64>| a.iter().zip(&b).map(|(a, b)| a.max(*b)).collect();
    if !channels.is_empty() {
        let (mut sequence, mut each, mut exact) = (0.0f64, vec![0.0; channels.len()], true);
        for process in processes {
            let found = sequence::leakage(process, channels)?;
            sequence = sequence.max(found.sequence.lip());
            each = widest(each, found.each.iter().map(sequence::Lifts::lip).collect());
            exact &= found.exact;
        }
        let json = json!({
            "sequence": at_most(sequence),
            "each": each.iter().map(|&l| at_most(l)).collect::<Vec<_>>(),
            "exact": exact,
            "priors": processes.len(),
        });
        let how = if exact { "exact" } else { "upper bound" };
        let how = format!("{how}{}", worst_of(processes.len()));
        let mut rows = vec![vec!["the whole sequence".into(), up(sequence), how.clone()]];
        rows.extend(
            each.iter()
                .enumerate()
                .map(|(k, &l)| vec![format!("datum {}", k + 1), up(l), how.clone()]),
        );
        return Ok(Outcome::good(json, table(&["LIP about", "nats", "how"], rows)));
    }
    let (mut published, mut sharpened) = (0.0f64, 0.0f64);
    let mut worst = Some((0.0f64, vec![0.0; ranges.len()]));
    for process in processes {
        published = published.max(sequence::published(process, ranges)?);
        sharpened = sharpened.max(sequence::sharpened(process, ranges)?);
        worst = match (worst, sequence::worst_case(process, ranges)) {
            (Some((exact, each)), Ok(found)) => {
                Some((exact.max(found.sequence), widest(each, found.each)))
            }
            (None, Ok(_)) => None,
            (_, Err(error)) if error.leaves_a_bound() => None,
            (_, Err(other)) => return Err(other.into()),
        };
    }
    let exact = worst.as_ref().map(|(exact, _)| *exact);
    let each =
        worst.as_ref().map(|(_, each)| each.iter().map(|&l| at_most(l)).collect::<Vec<Value>>());
    let json = json!({
        "bound": at_most(published),
        "sharpened": at_most(sharpened),
        "exact": optional_at_most(exact),
        "each": each,
        "releases": ranges.len(),
        "priors": processes.len(),
    });
    let mut text = bounds(published, sharpened, exact, "Corollary 5");
    if let Some((_, each)) = worst {
        let each: Vec<String> = each.iter().map(|&l| up(l)).collect();
        text += &format!("\nAbout each datum by itself, from all outputs: {}.", each.join(", "));
    }
    Ok(Outcome::good(json, text))
}
