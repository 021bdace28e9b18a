//! `undertone design`: a verified policy from a prior, a protection and an objective.

mod continuous;
mod shown;

use std::path::PathBuf;

use undertone::document::{Prior, PriorSet};
use undertone_core::Provenance;
use undertone_design::designer::{self, Designed, Method, Outcome as Found, Request};
use undertone_design::knowledge::Knowledge;
use undertone_design::mechanism::accuracy::{self, Accuracy, Coverage, Family};
use undertone_design::objective::Objective;
use undertone_design::quantize::Promise;
use undertone_design::{Distribution, Symbols, protection};

use crate::failure::Failure;
use crate::input;
use crate::output::Outcome;
use undertone::ErrorCode as Code;

/// Make a verified policy from a prior, a protection and an objective.
///
/// The design may use any float; what ships are integers that the kernel has verified. A printed formula
/// that misses its claim is refused with its true leakage (exit 1), unless --accept. So is a policy whose reports
/// cannot tell two symbols apart, or for frequency do not determine all shares, unless --allow-uninformative.
///
/// Example: undertone design --prior prior.json --protect lip:1 -o policy.json
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) context: ContextArgs,
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
    /// What it is for: frequency (how many people have which symbol; the default), squared (the default for numbers),
    /// absolute, hamming (how often the released symbol is right), matrix:FILE, mmse, mi or nmi.
    #[arg(long)]
    objective: Option<String>,
    /// The symbols' values for absolute, squared and mmse; by default 0,1,2,...
    #[arg(long, value_delimiter = ',', allow_negative_numbers = true)]
    values: Vec<f64>,
    /// How: optimal, published, symmetric, krr, oue, sue, sampling or extremal-ldp; for numbers optimal, published, laplace,
    /// gaussian or sampling. The default is optimal, or where that cannot tell numbers apart the best that can.
    #[arg(long)]
    method: Option<String>,
    /// Ship a printed formula that misses its claim, with the level it attains as the claim.
    #[arg(long)]
    accept: bool,
    /// Ship a policy that cannot tell its symbols apart, such as one that always says the same.
    #[arg(long)]
    allow_uninformative: bool,
    /// Write the policy document here.
    #[arg(short, long)]
    output: Option<PathBuf>,
    #[command(flatten, next_help_heading = "Numbers")]
    numbers: continuous::NumberArgs,
}

/// What is known about the data.
#[derive(clap::Args)]
pub(crate) struct ContextArgs {
    /// The prior; repeat it and every promise holds under each. `wc` means any prior.
    #[arg(long)]
    prior: Vec<PathBuf>,
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

/// What is known, and the prior that weighs the objective, in the same order of symbols.
pub(crate) struct Known {
    pub(crate) knowledge: Knowledge,
    pub(crate) prior: Distribution,
    /// The priors as they were given.
    pub(crate) set: PriorSet,
    /// The numbers the symbols stand for, if the prior's file says.
    pub(crate) values: Option<Vec<f64>>,
    pub(crate) provenance: Provenance,
}

impl ContextArgs {
    pub(crate) fn read(&self) -> Result<Known, Failure> {
        self.known(&self.priors()?, None)
    }

    /// The paths of --prior that are files.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        self.prior.iter().filter(|path| path.as_os_str() != "wc").cloned().collect()
    }

    /// The files of --prior, read once.
    fn priors(&self) -> Result<Vec<Prior>, Failure> {
        input::priors(&self.files())
    }

    /// What the files say together. `of` are the symbols of lists without names, where the command line
    /// says them.
    fn known(&self, priors: &[Prior], of: Option<&Symbols>) -> Result<Known, Failure> {
        let any = self.prior.iter().any(|path| path.as_os_str() == "wc");
        let set = PriorSet::new(priors)?;
        let first = set.laws().first();
        let weighs = self.prior_lower.is_some() || any;
        if weighs && set.laws().len() > 1 {
            let problem = "one --prior weighs the objective beside --prior-lower and --prior-upper, or beside --prior wc: several were given";
            return Err(Failure::usage(problem));
        }
        let knowledge = if let (Some(lower), Some(upper)) = (&self.prior_lower, &self.prior_upper) {
            let within = input::prior_box(lower, upper)?;
            let within = match of.filter(|_| !within.symbols().are_named()) {
                Some(symbols) => within.over(symbols)?,
                None => within,
            };
            Knowledge::Within(match first {
                Some(prior) => within.in_order_of(prior.symbols())?,
                None => within,
            })
        } else if let Some(joint) = &self.joint {
            let joint = input::joint(joint)?;
            let joint = match of.filter(|_| !joint.symbols().are_named()) {
                Some(symbols) => {
                    let secret = joint.secret().symbols().clone();
                    joint.over(&secret, symbols)?
                }
                None => joint,
            };
            Knowledge::Secret(self.secret_name.clone(), joint)
        } else if any {
            Knowledge::Nothing
        } else {
            match set.laws() {
                [] => {
                    return Err(Failure::usage(
                        "give --prior, --prior-lower with --prior-upper, or --joint",
                    ));
                }
                [one] => Knowledge::Known(one.clone()),
                several => Knowledge::Each(several.to_vec()),
            }
        };
        let prior = match (first, knowledge.typical_prior()?) {
            (Some(given), _) if weighs => given.clone(),
            (_, Some(typical)) => typical,
            (_, None) => {
                return Err(Failure::usage(
                    "with --prior wc, give a second --prior that says the symbols and weighs the objective",
                ));
            }
        };
        let values = self.values(priors)?;
        let provenance = match priors {
            [one] => provenance(one)?,
            _ => Provenance::default(),
        };
        Ok(Known { knowledge, prior, set, values, provenance })
    }

    /// The numbers the symbols stand for, in the order of the first prior; refuses files that disagree.
    fn values(&self, priors: &[Prior]) -> Result<Option<Vec<f64>>, Failure> {
        let Some(first) = priors.first() else { return Ok(None) };
        let own = |prior: &Prior| prior.document().and_then(|document| document.values.clone());
        let values = own(first);
        for other in priors {
            let (Some(values), Some(theirs)) = (&values, own(other)) else { continue };
            let what = other.name();
            let theirs = match other.law().symbols().places(what, first.law().symbols())? {
                Some(places) => places.iter().map(|&at| theirs[at]).collect(),
                None => theirs,
            };
            if let Some(x) = (0..values.len()).find(|&x| values[x] != theirs[x]) {
                return Err(Failure::input(format!(
                    "{what}: values says that {:?} stands for {} and the first prior says {}: give both the same values",
                    first.law().symbols().label(x),
                    theirs[x],
                    values[x]
                )));
            }
        }
        Ok(values)
    }
}

/// What the prior's file says about itself.
fn provenance(prior: &Prior) -> Result<Provenance, Failure> {
    let Some(file) = prior.document() else { return Ok(Provenance::default()) };
    let confidence = match file.beta.filter(|_| prior.confidence().is_some()) {
        Some(beta) => {
            let text = format!("{:.6}", 1.0 - beta);
            Some(text.parse().map_err(|error| Failure::input(format!("beta: {error}")))?)
        }
        None => None,
    };
    Ok(Provenance {
        source: file.source.clone().unwrap_or_default(),
        n: file.n.unwrap_or(0),
        date: file.date.clone().unwrap_or_default(),
        confidence,
        rounding: 0,
    })
}

/// The objective of a command line. Without a name it is `frequency`, or for numbers `squared`.
pub(crate) fn objective(
    name: Option<&str>,
    values: &[f64],
    known: &Known,
) -> Result<Objective, Failure> {
    if !values.is_empty() {
        known.set.check_bare("--values", "put values into the prior's file")?;
    }
    let numbers = known.values.is_some() || !values.is_empty();
    let name = name.unwrap_or(if numbers { "squared" } else { "frequency" });
    let given = !values.is_empty();
    let values = || {
        let counted = || (0..known.prior.len()).map(|x| x as f64).collect();
        if values.is_empty() {
            known.values.clone().unwrap_or_else(counted)
        } else {
            values.to_vec()
        }
    };
    let goal = match name {
        "hamming" => Objective::Hamming,
        "absolute" => Objective::Absolute(values()),
        "squared" => Objective::Squared(values()),
        "mmse" => Objective::Mmse(values()),
        "mi" => Objective::MutualInformation,
        "nmi" => Objective::NormalisedMutualInformation,
        "frequency" => Objective::Frequency,
        _ => match name.strip_prefix("matrix:") {
            Some(path) => {
                known.set.check_bare("the loss matrix", "write the priors in its order")?;
                Objective::Matrix(input::json(path.as_ref(), "a loss matrix, one row per input")?)
            }
            None => {
                return Err(Failure::usage(format!(
                    "--objective {name:?} is unknown: use hamming, absolute, squared, matrix:FILE, mmse, mi, nmi or frequency"
                )));
            }
        },
    };
    goal.check(known.prior.len()).map_err(|error| match name.strip_prefix("matrix:") {
        Some(path) => Failure::input(format!("{path}: {error}")),
        None if given => Failure::usage(format!("--values: {error}")),
        None => error.into(),
    })?;
    Ok(goal)
}

pub(crate) fn method(name: &str) -> Result<Method, Failure> {
    Method::ALL.into_iter().find(|method| method.name() == name).ok_or_else(|| {
        let all: Vec<&str> = Method::ALL.iter().map(|method| method.name()).collect();
        Failure::usage(format!("--method {name:?} is unknown: use {}", all.join(", ")))
    })
}

/// A request from what is known and the words of the command line.
pub(crate) fn request(
    known: &Known,
    protect: &[String],
    objective: Objective,
    method: Method,
) -> Result<Request, Failure> {
    let about = known.knowledge.subject();
    let claims = protect
        .iter()
        .map(|text| protection::parse(text, about).map(|claim| known.knowledge.claim(claim)))
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| Failure::usage(format!("--protect: {error}")))?;
    let rounded = known.knowledge.context()?;
    let promise = Promise {
        inputs: known.prior.symbols().alphabet()?,
        outputs: None,
        context: rounded.context,
        claims,
        provenance: Provenance { rounding: rounded.moved, ..known.provenance.clone() },
    };
    Ok(Request { promise, prior: known.prior.clone(), objective, method, accept: false })
}

/// Designs as asked. Where the method is left to us and the best for single numbers cannot tell them apart, the best of
/// the methods that can is taken.
fn designed(args: &Args, request: Request) -> Result<(Request, Found), Failure> {
    let found = designer::design(&request)?;
    let defeated = |found: &Found| match found {
        Found::Shipped(designed) => args.defeated(designed, &request.objective),
        Found::Missed(_) => true,
    };
    if args.method.is_some() || !request.objective.is_about_numbers() || !defeated(&found) {
        return Ok((request, found));
    }
    let loss = |found: &Found| match found {
        Found::Shipped(designed) => designed.utility.unwrap_or(f64::INFINITY),
        Found::Missed(_) => f64::INFINITY,
    };
    let others = [Method::Krr, Method::Sampling].into_iter().filter_map(|method| {
        let request = Request { method, ..request.clone() };
        // A method that does not know this context is none to choose from.
        let found = designer::design(&request).ok()?;
        (!defeated(&found)).then_some((request, found))
    });
    let best = others.min_by(|(_, a), (_, b)| loss(a).total_cmp(&loss(b)));
    Ok(best.unwrap_or((request, found)))
}

impl Args {
    /// How the channel is to be found.
    fn method(&self) -> &str {
        self.method.as_deref().unwrap_or("optimal")
    }

    /// Whether the policy tells too little to be shipped.
    fn defeated(&self, designed: &Designed, goal: &Objective) -> bool {
        !self.allow_uninformative && designed.blind().is_some_and(|blind| blind.defeats(goal))
    }

    /// What the policy does not tell, in words; a failure if that defeats its purpose and was not allowed.
    fn checked(&self, designed: &Designed, goal: &Objective) -> Result<Option<String>, Failure> {
        let Some(blind) = designed.blind() else { return Ok(None) };
        let said = blind.describe(designed.policy.draft().inputs());
        if self.allow_uninformative || !blind.defeats(goal) {
            return Ok(Some(said));
        }
        Err(Failure::new(
            Code::Uninformative,
            format!(
                "{said}. Use --objective frequency, --method krr, sampling or (for numbers) laplace, or a larger epsilon; or --allow-uninformative if this is what you want"
            ),
        ))
    }
}

pub(crate) fn run(args: &Args) -> Result<Outcome, Failure> {
    let priors = args.context.priors()?;
    if continuous::wanted(args, &priors)? {
        return continuous::run(args, &priors);
    }
    let known = args.context.known(&priors, None)?;
    let accuracy = match args.accuracy {
        Some(half_width) => Some(
            Accuracy::new(half_width, args.level, Coverage::Each)
                .map_err(|error| Failure::usage(format!("--accuracy, --level: {error}")))?,
        ),
        None => None,
    };
    let mut protect = args.protect.clone();
    let mut goal = args.objective.as_deref();
    if let (Some(accuracy), Some(n)) = (&accuracy, args.n) {
        let reached = accuracy::smallest_epsilon(&known.prior, n, accuracy, Family::OptimalLip)?;
        protect = vec![format!("lip:{}", reached.epsilon)];
        goal = goal.or(Some("frequency"));
    }
    let objective = objective(goal, &args.values, &known)?;
    let method = method(args.method())?;
    let request = Request { accept: args.accept, ..request(&known, &protect, objective, method)? };
    let (request, found) = designed(args, request)?;
    match found {
        Found::Shipped(mut designed) => {
            let blind = args.checked(&designed, &request.objective)?;
            if let (Some(accuracy), Some(channel)) = (&accuracy, designed.channel.clone()) {
                match args.n {
                    Some(n) => {
                        let half = accuracy.half_width(&request.prior, &channel, n)?;
                        designed.parameters.push(("half_width", half));
                    }
                    None => {
                        let n = accuracy::needed_n(&request.prior, &channel, accuracy)?;
                        designed.parameters.push(("needed_n", n as f64));
                    }
                }
            }
            if let Some(path) = &args.output {
                crate::output::save(path, &designed.policy.draft().to_json())?;
            }
            shown::shipped(args, &request, &designed, blind)
        }
        Found::Missed(missed) => Ok(shown::refused(&request, &missed)),
    }
}
