//! `undertone design` over numbers: the codebook, the prior of its bins, and the noise asked for.

mod shown;

use std::path::Path;

use undertone_core::{Delta, Provenance};
use undertone_design::codebook::{self, Codebook, OUTPUT_BINS, Range};
use undertone_design::continuous::{self, Loss, Method, Outcome as Found, Request};
use undertone_design::density::{Binned, Density, Histogram};
use undertone_design::knowledge::Knowledge;
use undertone_design::mechanism::gaussian::Sigma;
use undertone_design::mechanism::laplace::Scale;
use undertone_design::objective::Objective;
use undertone_design::quantize::Promise;
use undertone_design::measure::delta::Convention;
use undertone_design::{Distribution, Symbols};

use super::{Args, Known, provenance};
use crate::failure::Failure;
use crate::input::{self, NamedPrior, PriorSet};
use crate::output::Outcome;

/// Data that are numbers.
#[derive(clap::Args)]
pub(crate) struct NumberArgs {
    /// The data are these numbers, increasing: 0,1.5,3.
    #[arg(long, value_delimiter = ',', allow_hyphen_values = true, requires = "range")]
    points: Option<Vec<String>>,
    /// Numbers are clipped to this range, a public choice: lo,hi. Released numbers lie in it.
    #[arg(long, value_delimiter = ',', allow_hyphen_values = true)]
    range: Option<Vec<String>>,
    /// How many equal bins numbers are rounded to; with --points, how many output bins there are.
    #[arg(long, requires = "range")]
    bins: Option<usize>,
    /// How many output bins there are (default: as many as --bins, else 64).
    #[arg(long)]
    output_bins: Option<usize>,
    /// Put Gaussian outputs in bins over this range instead; what lies beyond is released as the end bins.
    #[arg(long, value_delimiter = ',', allow_hyphen_values = true)]
    output_range: Option<Vec<String>>,
    /// The law of the numbers in place of --prior: normal:MEAN,DEVIATION, uniform:LO,HI,
    /// beta:A,B, beta:A,B,LO,HI or mixture:WEIGHT,MEAN,DEVIATION;... It is clipped to the range.
    #[arg(long, requires = "range", conflicts_with_all = ["joint", "prior_lower"])]
    density: Option<String>,
    /// Laplace noise: exact (the least whose density keeps the claim, the default), table (the least
    /// whose table does), closed, published, instance (one scale per input) or a number.
    #[arg(long)]
    scale: Option<String>,
    /// The alpha of --scale instance (default: the largest that keeps the claim).
    #[arg(long, requires = "scale", allow_negative_numbers = true)]
    alpha: Option<f64>,
    /// Gaussian noise: constant (the least whose table keeps the claim, the default), floor (one per
    /// input, with a floor), published (one per input), analytic or vanilla (for LDP) or a number.
    #[arg(long)]
    sigma: Option<String>,
    /// What delta bounds: conditional, posterior, joint or joint_sets. Policies claim in the
    /// conditional convention.
    #[arg(long, default_value = "conditional")]
    convention: String,
}

/// Whether the data are numbers, rather than symbols that may have values: because the command line
/// says so, or because the prior is one of bins and nothing asked for is about symbols only.
pub(super) fn wanted(args: &Args, priors: &[NamedPrior]) -> Result<bool, Failure> {
    let NumberArgs { points, range, density, .. } = &args.numbers;
    let given = points.is_some() || range.is_some() || density.is_some();
    if given || ["laplace", "gaussian"].contains(&args.method()) {
        return Ok(true);
    }
    let binned =
        matches!(priors, [one] if one.file.as_ref().is_some_and(|file| file.edges.is_some()));
    let about_numbers = ["optimal", "published", "sampling"].contains(&args.method())
        && args.objective.as_deref().is_none_or(|name| loss(name).is_ok())
        && args.values.is_empty()
        && args.accuracy.is_none()
        && args.context.prior_lower.is_none();
    if binned && about_numbers {
        return Ok(true);
    }
    let NumberArgs { output_bins, output_range, scale, sigma, convention, .. } = &args.numbers;
    for (option, used) in [
        ("--output-bins", output_bins.is_some()),
        ("--output-range", output_range.is_some()),
        ("--scale", scale.is_some()),
        ("--sigma", sigma.is_some()),
        ("--convention", convention != Convention::Conditional.name()),
    ] {
        if used {
            return Err(Failure::usage(format!(
                "{option} is for numbers: give --range with --points or --bins, or a prior fitted with --range"
            )));
        }
    }
    Ok(false)
}

/// The prior of a codebook's inputs, and what was done to get it.
struct Inputs {
    codebook: Codebook,
    known: Known,
    density: Option<Density>,
    /// How much of a density lay outside the range, and which bins it left empty.
    binned: Option<Binned>,
}

pub(super) fn run(args: &Args, priors: &[NamedPrior]) -> Result<Outcome, Failure> {
    if args.accuracy.is_some() {
        return Err(Failure::usage("--accuracy is about symbols: leave it out with numbers"));
    }
    if !args.values.is_empty() {
        return Err(Failure::usage("--values is about symbols: numbers stand for themselves"));
    }
    let inputs = read(args, priors)?;
    let loss = loss(args.objective.as_deref().unwrap_or("squared"))?;
    let convention: Convention =
        args.numbers.convention.parse().map_err(|error| Failure::usage(format!("--{error}")))?;
    let promise =
        super::request(&inputs.known, &args.protect, Objective::Hamming, super::Method::Optimal)?
            .promise;
    let mut request = Request {
        method: method(args, &promise)?,
        codebook: inputs.codebook.clone(),
        prior: inputs.known.prior.clone(),
        density: inputs.density.clone(),
        promise,
        loss,
        convention,
        accept: args.accept,
    };
    let mut named = args.method();
    let mut found = continuous::design(&request)?;
    // Inside, the objective is a table of losses between bins.
    let numbers = Objective::Squared(request.codebook.points());
    let left_to_us = args.method.is_none()
        && matches!(&found, Found::Shipped(made) if args.defeated(&made.designed, &numbers));
    if left_to_us {
        let noisy = Request { method: Method::Laplace(Scale::Exact), ..request.clone() };
        match continuous::design(&noisy) {
            Ok(Found::Shipped(made)) if !args.defeated(&made.designed, &numbers) => {
                (named, request, found) = ("laplace", noisy, Found::Shipped(made));
            }
            // Laplace noise does not know this claim: the refusal says what else there is.
            _ => {}
        }
    }
    match found {
        Found::Shipped(shipped) => {
            let blind = args.checked(&shipped.designed, &numbers)?;
            if let Some(path) = &args.output {
                crate::output::save(path, &shipped.designed.policy.draft().to_json())?;
            }
            shown::shipped(args, named, &request, &inputs, &shipped, blind)
        }
        Found::Missed(missed) => Ok(shown::refused(named, &request, &missed)),
    }
}

fn usage(error: undertone_design::Error) -> Failure {
    Failure::usage(format!("--{error}"))
}

fn loss(name: &str) -> Result<Loss, Failure> {
    [Loss::Absolute, Loss::Squared, Loss::Mmse].into_iter().find(|loss| loss.name() == name).ok_or_else(|| {
        Failure::usage(format!(
            "--objective {name:?} is not about numbers: use squared, absolute or mmse, or leave --range out"
        ))
    })
}

/// The words of `--method`, `--scale`, `--alpha` and `--sigma`.
fn method(args: &Args, promise: &Promise) -> Result<Method, Failure> {
    let NumberArgs { scale, alpha, sigma, .. } = &args.numbers;
    let number = |option: &str, text: &str, words: &str| {
        text.parse::<f64>().map_err(|_| {
            Failure::usage(format!("{option} {text:?} is unknown: use {words} or a number"))
        })
    };
    let scale = match (scale.as_deref(), *alpha) {
        (Some("instance"), alpha) => Scale::Instance(alpha),
        (_, Some(_)) => return Err(Failure::usage("--alpha belongs to --scale instance")),
        (None | Some("exact"), _) => Scale::Exact,
        (Some("table"), _) => Scale::Table,
        (Some("closed"), _) => Scale::Closed,
        (Some("published"), _) => Scale::Published,
        (Some(text), _) => {
            Scale::Given(number("--scale", text, "exact, table, closed, published, instance")?)
        }
    };
    let sigma = match sigma.as_deref() {
        None | Some("constant") => Sigma::Constant,
        Some("floor") => Sigma::Floor,
        Some("published") => Sigma::Published,
        Some("analytic") => Sigma::Analytic,
        Some("vanilla") => Sigma::Vanilla,
        Some(text) => {
            Sigma::Given(number("--sigma", text, "constant, floor, published, analytic, vanilla")?)
        }
    };
    let method = match args.method() {
        "laplace" => Method::Laplace(scale),
        "gaussian" => Method::Gaussian(sigma),
        "sampling" => Method::Sampling,
        "optimal" => Method::Optimal,
        // The papers print a scale for pure claims and a deviation for the others.
        "published" if promise.claims.iter().all(|claim| claim.delta == Delta::ZERO) => {
            Method::Laplace(Scale::Published)
        }
        "published" => Method::Gaussian(Sigma::Published),
        other => {
            return Err(Failure::usage(format!(
                "--method {other:?} is not for numbers: use laplace, gaussian, sampling, optimal or published"
            )));
        }
    };
    let belongs = |option: &str, given: bool, owner: &str, is: bool| {
        if given && !is {
            let problem = format!("{option} belongs to --method {owner}");
            return Err(Failure::usage(problem));
        }
        Ok(())
    };
    belongs(
        "--scale",
        args.numbers.scale.is_some(),
        "laplace",
        matches!(method, Method::Laplace(_)),
    )?;
    belongs(
        "--sigma",
        args.numbers.sigma.is_some(),
        "gaussian",
        matches!(method, Method::Gaussian(_)),
    )?;
    let wide = args.numbers.output_range.is_some();
    belongs(
        "--output-range",
        wide,
        "gaussian or optimal",
        matches!(method, Method::Gaussian(_) | Method::Optimal),
    )?;
    Ok(method)
}

/// The codebook and the prior of its inputs.
fn read(args: &Args, priors: &[NamedPrior]) -> Result<Inputs, Failure> {
    let context = &args.context;
    let any = context.prior.iter().any(|path| path.as_os_str() == "wc");
    let one = match priors {
        [one] if context.prior_lower.is_none() && !any => Some(one),
        _ => None,
    };
    let codebook = codebook(&args.numbers, priors.first())?;
    let symbols = Symbols::of(codebook.inputs());
    if let Some(text) = &args.numbers.density {
        if !priors.is_empty() {
            return Err(Failure::usage("--density takes the place of --prior: give one of them"));
        }
        let density = Density::parse(text).map_err(usage)?;
        let mut inputs = from_density(codebook, density, assumed(text))?;
        if any {
            inputs.known.knowledge = Knowledge::Nothing;
        }
        return Ok(inputs);
    }
    if let Some(prior) = one {
        let path = &context.prior[0];
        let density = prior.file.as_ref().and_then(|file| file.density.as_ref());
        let density = density.map(|density| density.law(path)).transpose()?;
        if let Some(own) = of_inputs(&codebook, prior)? {
            let known = context.known(&[own], Some(&symbols))?;
            return Ok(Inputs { codebook, known, density, binned: None });
        }
        // A law can be put in any bins, counted bins only be merged.
        let law = match density {
            Some(density) => Some(density),
            None => merged(&codebook, prior)?,
        };
        return match law {
            Some(law) => from_density(codebook, law, provenance(prior)?),
            None => Err(mismatch(path, prior, &codebook)),
        };
    }
    let mut own = Vec::new();
    for (path, prior) in context.files().iter().zip(priors) {
        let fits = of_inputs(&codebook, prior)?;
        own.push(fits.ok_or_else(|| mismatch(path, prior, &codebook))?);
    }
    let known = context.known(&own, Some(&symbols))?;
    Ok(Inputs { codebook, known, density: None, binned: None })
}

/// Where an assumed law came from. Provenance has room for a sentence, not for a long mixture.
fn assumed(text: &str) -> Provenance {
    let law = if text.len() <= 200 { text } else { "mixture of normal laws" };
    Provenance {
        source: format!("assumed law {law}, clipped to the range"),
        ..Provenance::default()
    }
}

/// The prior's own bins as a law, if every edge asked for is one of theirs.
fn merged(codebook: &Codebook, prior: &NamedPrior) -> Result<Option<Density>, Failure> {
    let edges = prior.file.as_ref().and_then(|file| file.edges.as_ref());
    let (Some(theirs), Some(ours)) = (edges, codebook::edges(codebook.inputs())) else {
        return Ok(None);
    };
    let (low, high) = codebook.range().ends();
    let among = |edge: &f64| theirs.iter().any(|other| (edge - other).abs() <= 1e-9 * (high - low));
    if !ours.iter().all(among) {
        return Ok(None);
    }
    Ok(Some(Density::Histogram(Histogram::new(theirs.clone(), prior.p.clone())?)))
}

fn from_density(
    codebook: Codebook,
    density: Density,
    provenance: Provenance,
) -> Result<Inputs, Failure> {
    let binned = density.clipped(&codebook.cells())?;
    let prior = binned.p.clone().over(&Symbols::of(codebook.inputs()))?;
    let known = Known {
        knowledge: Knowledge::Known(prior.clone()),
        prior,
        set: PriorSet::new(&[], &[])?,
        values: Some(codebook.points()),
        provenance,
    };
    Ok(Inputs { codebook, known, density: Some(density), binned: Some(binned) })
}

/// The bins and points of the command line, or those of the prior's file.
fn codebook(args: &NumberArgs, prior: Option<&NamedPrior>) -> Result<Codebook, Failure> {
    let file = prior.and_then(|prior| prior.file.as_ref());
    let outputs =
        |inputs: Option<usize>| args.output_bins.or(args.bins).or(inputs).unwrap_or(OUTPUT_BINS);
    let numbers = |what: &str, list: &[String]| {
        list.iter()
            .map(|text| codebook::number(what, text))
            .collect::<Result<Vec<_>, _>>()
            .map_err(usage)
    };
    let found = match (&args.points, &args.range) {
        (Some(points), Some(range)) => {
            let range = Range::parse(range).map_err(usage)?;
            Codebook::of_points(numbers("points", points)?, range, outputs(None))
        }
        (None, Some(range)) => {
            let range = Range::parse(range).map_err(usage)?;
            let listed =
                file.filter(|file| file.edges.is_none()).and_then(|file| file.values.as_ref());
            match (args.bins, listed) {
                (Some(bins), _) => Codebook::of_bins(range, bins, outputs(Some(bins))),
                (None, Some(values)) => {
                    let points: Vec<String> = values.iter().map(f64::to_string).collect();
                    Codebook::of_points(numbers("points", &points)?, range, outputs(None))
                }
                (None, None) => {
                    let problem = "--range needs --points, the numbers themselves, or --bins, how many bins they are rounded to";
                    return Err(Failure::usage(problem));
                }
            }
        }
        _ => match file.filter(|file| file.edges.is_some()) {
            Some(file) => {
                let inputs = input::alphabet(file)?;
                let bins = inputs.len();
                Codebook::of_alphabet(inputs, outputs(Some(bins)))
            }
            None => {
                return Err(Failure::usage(
                    "the data must be numbers here: give --points with --range, --range with --bins, or a prior fitted with --range",
                ));
            }
        },
    };
    let found = found.map_err(usage)?;
    match &args.output_range {
        Some(range) => {
            let range = Range::parse(range)
                .map_err(|error| Failure::usage(format!("--output-range: {error}")))?;
            let bins = found.outputs().len();
            found.releasing(range, bins).map_err(usage)
        }
        None => Ok(found),
    }
}

/// The prior with its probabilities in the order of the codebook's inputs, if they are of those: the numbers
/// it lists are the codebook's, or it lists none and has as many.
fn of_inputs(codebook: &Codebook, prior: &NamedPrior) -> Result<Option<NamedPrior>, Failure> {
    let inputs = codebook.inputs();
    if prior.p.len() != inputs.len() {
        return Ok(None);
    }
    let symbols = Symbols::of(inputs);
    let own = |order: Option<Vec<usize>>| {
        let file = prior.file.clone().map(|mut file| {
            // What is read of it from here on is in the codebook's order.
            file.values = Some(codebook.points());
            file
        });
        let p = match order {
            Some(order) => {
                let p = order.iter().map(|&at| prior.p[at]).collect();
                Distribution::new("prior", p)?
            }
            None => prior.p.clone(),
        };
        let p = p.over(&symbols)?;
        Ok(Some(NamedPrior { p, file, confidence: prior.confidence.clone() }))
    };
    let Some(file) = &prior.file else { return own(None) };
    let (low, high) = codebook.range().ends();
    let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * (high - low);
    match (&file.edges, &file.values) {
        (Some(edges), _) => match codebook::edges(inputs) {
            Some(ours) if ours.iter().zip(edges).all(|(a, b)| near(*a, *b)) => own(None),
            _ => Ok(None),
        },
        (None, Some(values)) => {
            // The codebook's points increase.
            let mut order: Vec<usize> = (0..values.len()).collect();
            order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
            let points = codebook.points();
            match points.iter().zip(&order).all(|(point, &at)| near(*point, values[at])) {
                true => own(Some(order)),
                false => Ok(None),
            }
        }
        (None, None) => match prior.p.symbols().places("the prior", &symbols) {
            Ok(order) => own(order),
            Err(_) => Ok(None),
        },
    }
}

fn mismatch(path: &Path, prior: &NamedPrior, codebook: &Codebook) -> Failure {
    let inputs = codebook.inputs();
    let ours = match codebook::edges(inputs) {
        Some(edges) => {
            format!("{} bins from {} to {}", inputs.len(), edges[0], edges[inputs.len()])
        }
        None => format!("{} points", inputs.len()),
    };
    let edges = prior.file.as_ref().and_then(|file| file.edges.as_ref());
    let theirs = match edges {
        Some(edges) => {
            format!("{} bins from {} to {}", prior.p.len(), edges[0], edges[edges.len() - 1])
        }
        None if prior.file.is_some() => format!("the symbols {}", prior.p.symbols()),
        None => format!("{} probabilities", prior.p.len()),
    };
    Failure::input(format!(
        "{}: the prior has {theirs} and the command line asks for {ours}: fit the prior again with these bins, or leave --range and --bins out",
        path.display()
    ))
}
