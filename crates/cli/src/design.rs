//! `undertone design`: a verified policy from a prior, a protection and an objective.

mod many;
mod shown;

use std::path::{Path, PathBuf};

use serde_json::json;
use undertone::design::{
    self, AccuracyGoal, DesignContext, DesignMethod, DesignReport, DesignRequest, Losses,
    NumberOptions, Objective, People, SecretLaw,
};

use crate::failure::Failure;
use crate::input;
use crate::output::{Outcome, save};

/// Make a verified policy from a prior, a protection and an objective.
///
/// The design may use any float; what ships are integers that the kernel has verified. A printed formula
/// that misses its claim is refused with its true leakage (exit 1), unless --accept. So is a policy whose reports
/// cannot tell two symbols apart, or for frequency do not determine all shares, unless --allow-uninformative.
///
/// Example: undertone design --prior prior.json --protect lip:1 -o policy.json
///
/// Example: undertone design --size 1000000 --protect ldp:1 -o policy.json
///
/// Example: undertone design --symbols bus,car,bike --protect ldp:1 -o policy.json
///
/// With --priors there is a prior for every person: people whose priors are alike share a policy, which holds for each of them.
///
/// Example: undertone design --priors predicted.csv --symbols no,yes --protect lip:1 -o policies/map.json --grouped people.csv
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) context: ContextArgs,
    /// In place of a prior: so many symbols without names, 0 to SIZE-1, up to 16777216, of which nothing is known. The protections
    /// are then ldp, and the objective weighs all symbols alike.
    #[arg(long, conflicts_with = "symbols")]
    size: Option<usize>,
    /// What the symbols are called: a,b,c, or file:NAMES.txt with one on each line. Without a prior nothing is known of them: the
    /// protections are then ldp, and the objective weighs all alike. With one that has no names these are its names; with
    /// --priors they name its columns of probabilities.
    #[arg(long, value_delimiter = ',', value_name = "A,B,..")]
    symbols: Vec<String>,
    /// What must hold: lip:E, alip:L,U, ldp:E (each may end in ,DELTA) or di:E; repeat it and all hold at once. With
    /// --joint it protects the secret; input:ldp:E then protects the data.
    #[arg(long, required_unless_present = "n")]
    protect: Vec<String>,
    /// Find the smallest epsilon whose frequency estimates are within this half-width for --n people;
    /// with --for-n, print how many people the protection asked for needs.
    #[arg(long, requires = "reach", allow_negative_numbers = true)]
    accuracy: Option<f64>,
    /// How many people will answer.
    #[arg(long, group = "reach", requires = "accuracy", conflicts_with_all = ["protect", "for_n"])]
    n: Option<u64>,
    /// Print how many people are needed for --accuracy.
    #[arg(long, group = "reach", requires = "accuracy")]
    for_n: bool,
    /// The confidence of the half-width.
    #[arg(long, default_value_t = 0.95, allow_negative_numbers = true)]
    level: f64,
    /// What it is for: frequency (how many people have which symbol; the default), squared (the default for numbers), mean (numbers
    /// whose plain average is unbiased, with the least variance), absolute, hamming (how often the released symbol is right), matrix:FILE, mmse, mi or nmi.
    #[arg(long)]
    objective: Option<String>,
    /// The symbols' values for absolute, squared and mmse; by default 0,1,2,...
    #[arg(long, value_delimiter = ',', allow_negative_numbers = true)]
    values: Vec<f64>,
    /// How: optimal, published, symmetric, krr, oue, sue, sampling, extremal-ldp, compact, subset, hadamard, projective, hashing,
    /// blocks, balanced or head-tail; for numbers optimal, published, laplace,
    /// gaussian or sampling. The default is optimal, or where that cannot tell numbers apart the best that can.
    #[arg(long)]
    method: Option<String>,
    /// The most bits that one report may take on the wire. Without it the most accurate shape is taken, and for many symbols of those
    /// within 1 % the one with the smallest report.
    #[arg(long)]
    max_bits: Option<u32>,
    /// Ship a printed formula that misses its claim, with the level it attains as the claim.
    #[arg(long)]
    accept: bool,
    /// Ship a policy that cannot tell its symbols apart, such as one that always says the same.
    #[arg(long)]
    allow_uninformative: bool,
    /// Write the policy document here.
    #[arg(short, long)]
    output: Option<PathBuf>,
    #[command(flatten, next_help_heading = "Many priors")]
    many: many::ManyArgs,
    #[command(flatten, next_help_heading = "Numbers")]
    numbers: NumberArgs,
}

/// What is known about the data.
#[derive(clap::Args)]
pub(crate) struct ContextArgs {
    /// The prior; repeat it and every promise holds under each.
    #[arg(long)]
    prior: Vec<PathBuf>,
    /// Every promise holds for any prior. --prior then only says the symbols and weighs the objective.
    #[arg(long, conflicts_with_all = ["prior_lower", "joint"])]
    any_prior: bool,
    /// A box of priors: at least these probabilities, [0.1,0.2] or {"a": 0.1, "b": 0.2}. --prior then only
    /// weighs the objective.
    #[arg(long, requires = "prior_upper", conflicts_with = "joint")]
    prior_lower: Option<PathBuf>,
    /// A box of priors: at most these probabilities.
    #[arg(long, requires = "prior_lower")]
    prior_upper: Option<PathBuf>,
    /// A joint law P(s,x) of a secret and the data, a list of rows or {"secret": [...], "symbols": [...],
    /// "rows": [...]}: the protections are about the secret.
    #[arg(long, conflicts_with = "prior")]
    joint: Option<PathBuf>,
    /// What the secret is called.
    #[arg(long, default_value = "secret")]
    secret_name: String,
}

/// Data that are numbers.
#[derive(clap::Args)]
struct NumberArgs {
    /// The data are these numbers, increasing: 0,1.5,3.
    #[arg(long, value_delimiter = ',', allow_hyphen_values = true, requires = "range")]
    points: Option<Vec<String>>,
    /// Numbers are clipped to this range, a public choice: lo,hi. Released numbers lie in it, except with the objective mean.
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

impl ContextArgs {
    /// What the files say.
    pub(crate) fn read(&self) -> Result<DesignContext, Failure> {
        if self.prior.iter().any(|path| path == Path::new("wc") && !path.exists()) {
            return Err(Failure::usage("--prior wc is no longer an option: use --any-prior"));
        }
        let within = match (&self.prior_lower, &self.prior_upper) {
            (Some(lower), Some(upper)) => Some(input::prior_box(lower, upper)?),
            _ => None,
        };
        let secret = match &self.joint {
            Some(path) => {
                let joint = input::joint(path)?;
                Some(SecretLaw { name: self.secret_name.clone(), joint })
            }
            None => None,
        };
        Ok(DesignContext {
            priors: input::priors(&self.prior)?,
            any_prior: self.any_prior,
            within,
            secret,
            ..DesignContext::default()
        })
    }
}

impl NumberArgs {
    fn read(&self) -> Result<NumberOptions, Failure> {
        let range = |field: &str, ends: &Option<Vec<String>>| {
            ends.as_deref().map(|ends| design::range(field, ends)).transpose()
        };
        Ok(NumberOptions {
            points: self.points.as_deref().map(design::points).transpose()?,
            range: range("range", &self.range)?,
            bins: self.bins,
            output_bins: self.output_bins,
            output_range: range("output_range", &self.output_range)?,
            density: self.density.as_deref().map(str::parse).transpose()?,
            scale: design::laplace_scale(self.scale.as_deref(), self.alpha)?,
            sigma: self.sigma.as_deref().map(design::gaussian_sigma).transpose()?,
            convention: design::convention(&self.convention)?,
        })
    }
}

/// The objective's name, or the matrix of losses in a file.
pub(crate) fn objective(name: Option<&str>) -> Result<Option<Objective>, Failure> {
    let Some(name) = name else { return Ok(None) };
    Ok(Some(match name.strip_prefix("matrix:") {
        Some(path) => Losses::read(path, &input::text(path.as_ref())?)?.into(),
        None => name.parse()?,
    }))
}

impl Args {
    fn request(&self) -> Result<DesignRequest, Failure> {
        let accuracy = self.accuracy.map(|half_width| AccuracyGoal {
            half_width,
            level: self.level,
            people: self.n.map_or(People::Needed, People::Fixed),
        });
        let method: Option<DesignMethod> = self.method.as_deref().map(str::parse).transpose()?;
        let symbols = input::symbols(&self.symbols)?;
        Ok(DesignRequest {
            context: DesignContext { size: self.size, symbols, ..self.context.read()? },
            protect: self.protect.iter().map(|text| text.parse()).collect::<Result<_, _>>()?,
            accuracy,
            objective: objective(self.objective.as_deref())?,
            values: self.values.clone(),
            method,
            max_bits: self.max_bits,
            accept: self.accept,
            allow_uninformative: self.allow_uninformative,
            numbers: self.numbers.read()?,
        })
    }
}

pub(crate) fn run(args: &Args) -> Result<Outcome, Failure> {
    if let Some(priors) = args.many.table() {
        return many::run(args, priors);
    }
    let report = design::design(&args.request()?)?;
    let found = match &report {
        DesignReport::Verified(found) => found,
        DesignReport::Refused(refused) => return Ok(Outcome::of(&report, shown::refused(refused))),
    };
    if let Some(path) = &args.output {
        save(path, &found.policy.draft().to_json())?;
    }
    let written = args.output.as_ref().map(|path| path.display().to_string());
    let mut outcome = Outcome::of(&report, shown::verified(found, written.as_deref()));
    outcome.json["output"] = json!(written);
    Ok(outcome)
}
