//! `undertone design`: a verified policy from a prior, a protection and an objective.

use std::path::PathBuf;

use serde_json::{Map, Value, json};
use undertone_core::{Alphabet, Provenance};
use undertone_design::designer::{self, Designed, Method, Missed, Outcome as Found, Request};
use undertone_design::knowledge::Knowledge;
use undertone_design::mechanism::accuracy::{self, Accuracy, Coverage, Family};
use undertone_design::objective::Objective;
use undertone_design::quantize::Promise;
use undertone_design::{Distribution, protection};

use crate::audit::{attained, exact};
use crate::failure::Failure;
use crate::input::{self, NamedPrior};
use crate::output::{Outcome, nats, number, optional, table};

/// Make a verified policy from a prior, a protection and an objective.
///
/// The design may use any float; what ships are integers that the kernel has verified. A printed formula
/// that misses its claim is refused with its true leakage (exit 1), unless --accept.
///
/// Example: undertone design --prior prior.json --protect lip:1 --objective hamming -o policy.json
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
    /// What it is for: hamming (the default), absolute, squared, matrix:FILE, mmse, mi, nmi or frequency
    /// (the default with --n).
    #[arg(long)]
    objective: Option<String>,
    /// The symbols' values for absolute, squared and mmse; by default 0,1,2,...
    #[arg(long, value_delimiter = ',', allow_negative_numbers = true)]
    values: Vec<f64>,
    /// How: optimal, published, symmetric, krr, oue, sue, sampling or extremal-ldp.
    #[arg(long, default_value = "optimal")]
    method: String,
    /// Ship a printed formula that misses its claim, with the level it attains as the claim.
    #[arg(long)]
    accept: bool,
    /// Write the policy document here.
    #[arg(short, long)]
    output: Option<PathBuf>,
}

/// What is known about the data.
#[derive(clap::Args)]
pub(crate) struct ContextArgs {
    /// The prior; repeat it and every promise holds under each. `wc` means any prior.
    #[arg(long)]
    prior: Vec<PathBuf>,
    /// A box of priors: at least these probabilities. --prior then only weighs the objective.
    #[arg(long, requires = "prior_upper", conflicts_with = "joint")]
    prior_lower: Option<PathBuf>,
    /// A box of priors: at most these probabilities.
    #[arg(long, requires = "prior_lower")]
    prior_upper: Option<PathBuf>,
    /// A joint law P(s,x) of a secret and the data: the protections are about the secret.
    #[arg(long, conflicts_with = "prior")]
    joint: Option<PathBuf>,
    /// What the secret is called.
    #[arg(long, default_value = "secret")]
    secret_name: String,
}

/// What is known, the names of the symbols, and the prior that weighs the objective.
pub(crate) struct Known {
    pub(crate) knowledge: Knowledge,
    pub(crate) prior: Distribution,
    pub(crate) symbols: Alphabet,
    /// The numbers the symbols stand for, if the prior's file says.
    pub(crate) values: Option<Vec<f64>>,
    pub(crate) provenance: Provenance,
}

impl ContextArgs {
    pub(crate) fn read(&self) -> Result<Known, Failure> {
        let any = self.prior.iter().any(|path| path.as_os_str() == "wc");
        let files = self.prior.iter().filter(|path| path.as_os_str() != "wc");
        let priors = files.map(|path| input::named_prior(path)).collect::<Result<Vec<_>, _>>()?;
        let list = |path: &PathBuf| input::numbers(path, "a list of probabilities, one per symbol");
        let knowledge = if let (Some(lower), Some(upper)) = (&self.prior_lower, &self.prior_upper) {
            Knowledge::Within { lower: list(lower)?, upper: list(upper)? }
        } else if let Some(joint) = &self.joint {
            Knowledge::Secret(self.secret_name.clone(), input::joint(joint)?)
        } else if any {
            Knowledge::Nothing
        } else {
            match priors.as_slice() {
                [] => {
                    return Err(Failure::usage(
                        "give --prior, --prior-lower with --prior-upper, or --joint",
                    ));
                }
                [one] => Knowledge::Known(one.p.clone()),
                several => Knowledge::Each(several.iter().map(|p| p.p.clone()).collect()),
            }
        };
        let weighs = matches!(knowledge, Knowledge::Within { .. } | Knowledge::Nothing);
        let prior = match (priors.first(), knowledge.typical_prior()?) {
            (Some(given), _) if weighs => given.p.clone(),
            (_, Some(typical)) => typical,
            (_, None) => {
                return Err(Failure::usage(
                    "with --prior wc, give a second --prior that says the symbols and weighs the objective",
                ));
            }
        };
        let file = priors.iter().find_map(|prior| prior.file.as_ref());
        let names = file.map(|file| file.symbols.clone());
        let values = file.and_then(|file| file.values.clone());
        let symbols = match names {
            Some(names) => Alphabet::names(names),
            None => Alphabet::indices(prior.len()),
        };
        let symbols = symbols.map_err(|error| Failure::input(format!("symbols: {error}")))?;
        if let Some(size) = knowledge.symbols() {
            prior.check_len("the context", size)?;
        }
        let provenance = match priors.as_slice() {
            [one] => provenance(one)?,
            _ => Provenance::default(),
        };
        Ok(Known { knowledge, prior, symbols, values, provenance })
    }
}

/// What the prior's file says about itself.
fn provenance(prior: &NamedPrior) -> Result<Provenance, Failure> {
    let Some(file) = &prior.file else { return Ok(Provenance::default()) };
    let confidence = match file.beta.filter(|_| prior.confidence.is_some()) {
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

pub(crate) fn objective(name: &str, values: &[f64], known: &Known) -> Result<Objective, Failure> {
    let values = || {
        let counted = || (0..known.prior.len()).map(|x| x as f64).collect();
        if values.is_empty() {
            known.values.clone().unwrap_or_else(counted)
        } else {
            values.to_vec()
        }
    };
    Ok(match name {
        "hamming" => Objective::Hamming,
        "absolute" => Objective::Absolute(values()),
        "squared" => Objective::Squared(values()),
        "mmse" => Objective::Mmse(values()),
        "mi" => Objective::MutualInformation,
        "nmi" => Objective::NormalisedMutualInformation,
        "frequency" => Objective::Frequency,
        _ => match name.strip_prefix("matrix:") {
            Some(path) => {
                Objective::Matrix(input::matrix(path.as_ref(), "a loss matrix, one row per input")?)
            }
            None => {
                return Err(Failure::usage(format!(
                    "--objective {name:?} is unknown: use hamming, absolute, squared, matrix:FILE, mmse, mi, nmi or frequency"
                )));
            }
        },
    })
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
        inputs: known.symbols.clone(),
        outputs: None,
        context: rounded.context,
        claims,
        provenance: Provenance { rounding: rounded.moved, ..known.provenance.clone() },
    };
    Ok(Request { promise, prior: known.prior.clone(), objective, method, accept: false })
}

pub(crate) fn run(args: &Args) -> Result<Outcome, Failure> {
    let known = args.context.read()?;
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
    let objective = objective(goal.unwrap_or("hamming"), &args.values, &known)?;
    let method = method(&args.method)?;
    let request = Request { accept: args.accept, ..request(&known, &protect, objective, method)? };
    match designer::design(&request)? {
        Found::Shipped(mut designed) => {
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
            shipped(args, &request, &designed)
        }
        Found::Missed(missed) => Ok(refused(&request, &missed)),
    }
}

fn shipped(args: &Args, request: &Request, designed: &Designed) -> Result<Outcome, Failure> {
    let comparison = designer::compare(request)?;
    let certificate = designed.policy.certificate();
    let mut level = attained(&certificate.input);
    if let Some(secret) = &certificate.secret {
        level.insert("secret".into(), Value::Object(attained(secret)));
    }
    let delta = certificate.deltas.iter().flatten().map(|least| least.ratio).max();
    level.insert(
        "delta".into(),
        delta.map_or(Value::Null, |d| json!(d.scaled_up(52) as f64 / (1u64 << 52) as f64)),
    );
    let parameters: Map<String, Value> =
        designed.parameters.iter().map(|&(name, value)| (name.to_owned(), number(value))).collect();
    let claims: Vec<String> =
        designed.policy.draft().claims().iter().map(ToString::to_string).collect();
    let rows: Option<Vec<&[f64]>> = designed
        .channel
        .as_ref()
        .map(|channel| channel.rows().iter().map(Distribution::as_slice).collect());
    let labels: Vec<String> =
        designed.outputs.iter().map(|&y| designed.policy.draft().outputs().label(y)).collect();
    let json = json!({
        "policy_id": designed.policy.id().to_string(),
        "method": request.method.name(),
        "objective": request.objective.name(),
        "utility": optional(designed.utility),
        "optimum": optional(designed.optimum),
        "bound": optional(designed.bound),
        "mixed": designed.mixed,
        "channel": rows,
        "outputs": labels,
        "parameters": parameters,
        "requested": claims,
        "attained": level,
        "published": designed.published.map(|p| json!({"claimed": p.claimed, "attained": number(p.attained)})),
        "comparison": {
            "epsilon": comparison.epsilon,
            "ldp": optional(comparison.ldp),
            "ldp_twice": optional(comparison.ldp_twice),
            "blind": number(comparison.blind),
        },
        "output": args.output.as_ref().map(|path| path.display().to_string()),
    });
    Ok(Outcome::good(json, describe(args, request, designed, &comparison)))
}

fn describe(
    args: &Args,
    request: &Request,
    designed: &Designed,
    comparison: &designer::Comparison,
) -> String {
    let certificate = designed.policy.certificate();
    let claims: Vec<String> =
        designed.policy.draft().claims().iter().map(ToString::to_string).collect();
    let mut text =
        format!("verified: {}\npolicy id: {}\n\n", claims.join(" and "), designed.policy.id());
    text += &crate::audit::strength_table(&certificate.input, certificate.secret.as_ref());
    let goal = request.objective.name();
    let direction = if request.objective.is_gain() { "more is better" } else { "less is better" };
    let mut rows = vec![vec![
        "this policy".into(),
        designed.utility.map_or("-".into(), nats),
        "of the integers that ship".into(),
    ]];
    if let Some(bound) = designed.bound {
        rows.push(vec!["no policy can pass".into(), nats(bound), "under the same claims".into()]);
    }
    let epsilon = nats(comparison.epsilon);
    let compared = |value: Option<f64>| value.map_or("-".into(), nats);
    rows.push(vec![
        format!("LDP at {epsilon}"),
        compared(comparison.ldp),
        "the LDP optimum".into(),
    ]);
    let twice = nats(2.0 * comparison.epsilon);
    rows.push(vec![
        format!("LDP at {twice}"),
        compared(comparison.ldp_twice),
        "the LDP optimum".into(),
    ]);
    rows.push(vec!["a blind guess".into(), nats(comparison.blind), "without any data".into()]);
    text += &format!("\n\n{}", table(&[&format!("{goal} ({direction})"), "value", ""], rows));
    if let Some(level) = designed.published {
        text += &format!(
            "\nThe printed formula claims {} and attains {}.",
            nats(level.claimed),
            nats(level.attained)
        );
    }
    if !designed.parameters.is_empty() {
        let list: Vec<String> = designed
            .parameters
            .iter()
            .map(|(name, value)| format!("{name} = {}", nats(*value)))
            .collect();
        text += &format!("\nParameters: {}.", list.join(", "));
    }
    if let Some(channel) =
        designed.channel.as_ref().filter(|c| c.inputs() <= 12 && c.outputs() <= 8)
    {
        let labels = designed.outputs.iter().map(|&y| designed.policy.draft().outputs().label(y));
        let header: Vec<String> = std::iter::once("input".to_owned()).chain(labels).collect();
        let header: Vec<&str> = header.iter().map(String::as_str).collect();
        let row = |x: usize| {
            let cells = channel.rows()[x].as_slice().iter().map(|q| format!("{q:.6}"));
            std::iter::once(designed.policy.draft().inputs().label(x)).chain(cells).collect()
        };
        text += &format!(
            "\n\nProbability of each output:\n{}",
            table(&header, (0..channel.inputs()).map(row).collect())
        );
    }
    if let Some(path) = &args.output {
        text += &format!("\n\nwrote {}", path.display());
    }
    text
}

fn refused(request: &Request, missed: &Missed) -> Outcome {
    let json = json!({
        "policy_id": null,
        "method": request.method.name(),
        "objective": request.objective.name(),
        "published": {"claimed": missed.level.claimed, "attained": number(missed.level.attained)},
        "refusal": {
            "message": missed.refusal.to_string(),
            "output": missed.refusal.cell.output,
            "high": missed.refusal.cell.high,
            "low": missed.refusal.cell.low,
            "attained": exact(missed.refusal.attained),
            "allowed": exact(missed.refusal.allowed),
        },
        "channel": missed.channel.rows().iter().map(Distribution::as_slice).collect::<Vec<_>>(),
    });
    let text = format!(
        "REFUSED: the printed formula claims {} and leaks {} nats.\n{}\n\nUse --method optimal, or --accept to ship it with the level it attains.",
        nats(missed.level.claimed),
        nats(missed.level.attained),
        missed.refusal
    );
    Outcome { json, text, good: false }
}
