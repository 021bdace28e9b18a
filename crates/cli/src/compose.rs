//! `undertone compose`: what several releases leak together.

use std::path::PathBuf;

use serde_json::{Value, json};
use undertone_design::extremal::LiftRange;
use undertone_design::sequence::{self, Process};
use undertone_design::{Channel, composition};

use crate::failure::Failure;
use crate::input;
use crate::output::{Outcome, Round, at_most, nats, number, optional_at_most, rounded, table};

/// Bound what several releases leak together, and compute it exactly.
///
/// Releases of one datum: --prior with --epsilons (the worst over all mechanisms) or --channels (exact
/// for these). Several --prior files: every prior of the set. Correlated data, one release each:
/// --joint P(x1,x2), or --markov with the transition matrix and --prior as the first law.
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
    /// The channels of the releases, in order.
    #[arg(long, num_args = 1.., conflicts_with = "epsilons")]
    channels: Vec<PathBuf>,
    /// The joint law of two correlated data, one row per value of the first.
    #[arg(long, conflicts_with_all = ["markov", "prior"])]
    joint: Option<PathBuf>,
    /// The transition matrix of a Markov chain of data.
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
        let rows = input::matrix(path, "a joint law P(x1,x2): a list of rows")?;
        return correlated(&Process::pair(&rows)?, &ranges, &channels);
    }
    let priors = input::priors(&args.prior)?;
    let Some(prior) = priors.first() else {
        return Err(Failure::usage("give --prior, or --joint for correlated data"));
    };
    if let Some(path) = &args.markov {
        let process = Process::markov(prior.clone(), &input::channel(path)?, releases)?;
        return correlated(&process, &ranges, &channels);
    }
    if !channels.is_empty() {
        let mut worst: Option<composition::Leakage> = None;
        for prior in &priors {
            let found = composition::given(prior, &channels)?;
            if worst.as_ref().is_none_or(|old| found.lip() > old.lip()) {
                worst = Some(found);
            }
        }
        let Some(found) = worst else { return Err(Failure::usage("give --prior")) };
        let json = json!({
            "exact": at_most(found.lip()),
            "max_lift": at_most(found.max_lift),
            "min_lift": at_most(found.min_lift),
            "ldp": at_most(found.ldp),
            "releases": releases,
        });
        let text = format!(
            "{releases} releases of one datum through these channels leak, together and exactly:\n{}",
            table(
                &["lip", "max_lift", "min_lift", "ldp"],
                vec![[found.lip(), found.max_lift, found.min_lift, found.ldp].map(up).to_vec()]
            )
        );
        return Ok(Outcome::good(json, text));
    }
    if priors.len() > 1 {
        let found = composition::family(&priors, &ranges)?;
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

fn correlated(
    process: &Process,
    ranges: &[LiftRange],
    channels: &[Channel],
) -> Result<Outcome, Failure> {
    if !channels.is_empty() {
        let found = sequence::leakage(process, channels)?;
        let each: Vec<f64> = found.each.iter().map(sequence::Lifts::lip).collect();
        let json = json!({
            "sequence": at_most(found.sequence.lip()),
            "each": each.iter().map(|&l| at_most(l)).collect::<Vec<_>>(),
            "exact": found.exact,
        });
        let how = if found.exact { "exact" } else { "upper bound" };
        let mut rows =
            vec![vec!["the whole sequence".into(), up(found.sequence.lip()), how.into()]];
        rows.extend(
            each.iter()
                .enumerate()
                .map(|(k, &l)| vec![format!("datum {}", k + 1), up(l), how.into()]),
        );
        return Ok(Outcome::good(json, table(&["LIP about", "nats", "how"], rows)));
    }
    let published = sequence::published(process, ranges)?;
    let sharpened = sequence::sharpened(process, ranges)?;
    let worst = match sequence::worst_case(process, ranges) {
        Ok(worst) => Some(worst),
        Err(error) if error.leaves_a_bound() => None,
        Err(other) => return Err(other.into()),
    };
    let exact = worst.as_ref().map(|worst| worst.sequence);
    let each =
        worst.as_ref().map(|worst| worst.each.iter().map(|&l| at_most(l)).collect::<Vec<Value>>());
    let json = json!({
        "bound": at_most(published),
        "sharpened": at_most(sharpened),
        "exact": optional_at_most(exact),
        "each": each,
        "releases": ranges.len(),
    });
    let mut text = bounds(published, sharpened, exact, "Corollary 5");
    if let Some(worst) = worst {
        let each: Vec<String> = worst.each.iter().map(|&l| up(l)).collect();
        text += &format!("\nAbout each datum by itself, from all outputs: {}.", each.join(", "));
    }
    Ok(Outcome::good(json, text))
}
