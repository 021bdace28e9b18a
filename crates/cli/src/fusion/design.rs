//! `undertone fusion design`: maps for every sensor, within budgets, certified.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use undertone_core::Epsilon;
use undertone_fusion::design::{
    self, Budgets, Method, Proposal, Request, Stricter, Theta, Watch, expected_steps,
    usual_restarts,
};
use undertone_fusion::{Bundle, Evaluation, ExactModel, Model, Origin};

use super::report;
use super::source::ModelArgs;
use crate::failure::Failure;
use crate::options;
use crate::output::{Outcome, certified, nats, progress, save, table};

/// Choose how every sensor randomises so that the centre learns the public hypothesis and not the
/// private one.
///
/// Both budgets hold for the integers that ship: every sensor's map is a policy the kernel verified,
/// and what all outputs together say about the private hypothesis is certified over their exact joint
/// law. The search has no bound on how much better other maps might be; --seed makes it repeatable.
///
/// Example: undertone fusion design --model examples/fusion-ga.json --information 0.18 --ldp 2 -o network.json
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    model: ModelArgs,
    /// The most that belief in the private hypothesis may move, in nats; `inf` for no limit.
    #[arg(long, value_parser = options::limit)]
    information: Option<f64>,
    /// The LDP level of every sensor's reading in each epoch, in nats; `inf` for no limit.
    #[arg(long, value_parser = options::limit)]
    ldp: Option<f64>,
    /// How many outputs every sensor has: one number, or one per sensor.
    #[arg(long, value_delimiter = ',', default_value = "2", value_parser = options::outputs)]
    outputs: Vec<usize>,
    /// How to choose the maps.
    #[arg(long, value_enum, default_value_t = Choice::Joint)]
    method: Choice,
    /// For how many epochs the private hypothesis may stay the same: the information budget is for all of them.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    epochs: u32,
    /// How many starts each search makes (default: 200 for small networks, fewer for large ones).
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    restarts: Option<u32>,
    /// Where the search's randomness begins.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Stop searching after this many seconds and take the best so far.
    #[arg(long, value_parser = options::seconds)]
    time_limit: Option<f64>,
    /// Write the network (model, policies, certificate) here.
    #[arg(short, long)]
    output: Option<PathBuf>,
    /// Write every sensor's policy into this folder.
    #[arg(long)]
    policies: Option<PathBuf>,
}

#[derive(clap::ValueEnum, Clone, Copy)]
enum Choice {
    /// Both budgets at once; never worse than ill or lip.
    Joint,
    /// Information privacy first, then LDP on its outputs, at the level promised.
    Ill,
    /// The same as printed: LDP at half the level.
    IllHalf,
    /// The same with the exact level of the second stage.
    IllEta,
    /// LDP first, then information privacy on its outputs.
    Lip,
    /// LDP alone.
    Ldp,
    /// Information privacy alone.
    Infp,
    /// ILL as printed, under the printed sufficient condition; reports how much stricter that is.
    PaperTheta,
}

impl From<Choice> for Method {
    fn from(choice: Choice) -> Self {
        match choice {
            Choice::Joint => Self::Joint,
            Choice::Ill => Self::Ill,
            Choice::IllHalf => Self::IllHalf,
            Choice::IllEta => Self::IllEta,
            Choice::Lip => Self::Lip,
            Choice::Ldp => Self::Ldp,
            Choice::Infp => Self::InformationOnly,
            Choice::PaperTheta => Self::PaperTheta,
        }
    }
}

pub(super) fn run(args: &Args) -> Result<Outcome, Failure> {
    let budgets = budgets(args)?;
    let limit = args.time_limit.map(Duration::from_secs_f64);
    let origin = args.model.read()?;
    let exact = ExactModel::new(&origin.model)?;
    let model = exact.model()?;
    let outputs = match args.outputs[..] {
        [all] => vec![all; model.sensors().len()],
        _ => args.outputs.clone(),
    };
    if outputs.len() != model.sensors().len() {
        return Err(Failure::usage(format!(
            "--outputs has {} entries where {} are needed: give one number, or one per sensor",
            outputs.len(),
            model.sensors().len()
        )));
    }
    let request = Request {
        method: args.method.into(),
        budgets,
        restarts: args.restarts.unwrap_or_else(|| usual_restarts(&model, &outputs)),
        outputs,
        seed: args.seed,
    };
    let bar = progress(expected_steps(&request), "starts");
    let begun = Instant::now();
    let watch = Watch {
        stop: &|| limit.is_some_and(|limit| begun.elapsed() >= limit),
        step: &|| bar.inc(1),
    };
    let proposal = design::design(&model, &request, &watch);
    bar.finish_and_clear();
    let proposal = proposal?;
    let about = Origin {
        method: request.method.name().into(),
        source: origin.source,
        samples: origin.samples,
        seed: request.seed,
        restarts: request.restarts,
    };
    let bundle = Bundle::ship(&exact, &proposal.maps, budgets, &about)?;
    if let Some(path) = &args.output {
        save(path, &bundle.to_json())?;
    }
    if let Some(folder) = &args.policies {
        report::save_policies(folder, bundle.sensors(), bundle.policies())?;
    }
    let seen = Evaluation::new(&origin.model, &bundle.maps()?)?;
    let json = fields(&request, &proposal, &bundle, &seen, &origin.model)?;
    Ok(Outcome::good(json, describe(&request, &proposal, &bundle, &seen, &origin.model)))
}

/// The budgets, checked against the method.
fn budgets(args: &Args) -> Result<Budgets, Failure> {
    let method = Method::from(args.method);
    if args.information.is_none() && args.ldp.is_none() {
        return Err(Failure::usage(
            "give --information, --ldp or both: the budgets of the private hypothesis and of the readings",
        ));
    }
    if args.ldp.is_some_and(f64::is_finite) && !method.hides_readings() {
        return Err(Failure::usage(
            "--method infp keeps no LDP level: leave --ldp out, or use joint",
        ));
    }
    if args.information.is_some_and(f64::is_finite) && !method.hides_private() {
        return Err(Failure::usage(
            "--method ldp keeps no information budget: leave --information out, or use joint",
        ));
    }
    let needs = |flag: &str, value: Option<f64>| match value {
        None | Some(f64::INFINITY) => Err(Failure::usage(format!(
            "--method {} needs {flag}: give a number of nats",
            method.name()
        ))),
        Some(_) => Ok(()),
    };
    match method {
        Method::Joint => {}
        Method::Ldp => needs("--ldp", args.ldp)?,
        Method::InformationOnly | Method::PaperTheta => needs("--information", args.information)?,
        _ => {
            needs("--information", args.information)?;
            needs("--ldp", args.ldp)?;
        }
    }
    let level = |value: Option<f64>| value.unwrap_or(f64::INFINITY);
    let option = |flag: &'static str| move |error| Failure::usage(format!("{flag}: {error}"));
    let information = Budgets::new(level(args.information), f64::INFINITY);
    let ldp = Budgets::new(f64::INFINITY, level(args.ldp)).map_err(option("--ldp"))?.ldp;
    let information = information.map_err(option("--information"))?.information;
    Ok(Budgets { information, ldp, epochs: args.epochs })
}

fn fields(
    request: &Request,
    proposal: &Proposal,
    bundle: &Bundle,
    seen: &Evaluation,
    model: &Model,
) -> Result<Value, Failure> {
    let mut json = report::fields(seen, model);
    let certificate = bundle.certificate();
    let attained = certificate.after(request.budgets.epochs).and_then(|line| line.information);
    // No limit is a level without bound.
    let budget = |level: Option<Epsilon>| certified(level.map(Epsilon::nats));
    let attempts = proposal.attempts.iter();
    let attempts = attempts.map(|part| json!({"name": part.name, "error": part.error}));
    let more = json!({
        "method": request.method.name(),
        "bundle_id": bundle.id(),
        "silent": bundle.is_silent(),
        "seed": request.seed,
        "restarts": request.restarts,
        "requested": {
            "information": budget(request.budgets.information),
            "ldp": budget(request.budgets.ldp),
            "epochs": request.budgets.epochs,
        },
        "information": certified(attained),
        "ldp": certificate.ldp.iter().map(|&nats| certified(Some(nats))).collect::<Vec<_>>(),
        "epochs": report::epochs(certificate),
        "policies": bundle.policies().iter().map(|p| p.id().to_string()).collect::<Vec<_>>(),
        "maps": report::maps(&bundle.maps()?),
        "found": proposal.error,
        "attempts": attempts.collect::<Vec<_>>(),
        "theta": proposal.theta.as_ref().map(theta),
    });
    report::merge(&mut json, more);
    Ok(json)
}

fn theta(report: &Stricter) -> Value {
    let condition = |theta: &Theta| {
        json!({
            "coverage": theta.coverage,
            "theta": theta.theta,
            "allowed": theta.allowed,
            "spread": theta.spread,
        })
    };
    json!({
        "kept": condition(&report.kept),
        "information": report.information,
        "exact": condition(&report.exact),
        "factor": report.factor,
    })
}

fn describe(
    request: &Request,
    proposal: &Proposal,
    bundle: &Bundle,
    seen: &Evaluation,
    model: &Model,
) -> String {
    let level = |level: Option<Epsilon>| {
        level.map_or("no limit".to_owned(), |level| format!("{} nats", level.nats()))
    };
    let epochs = request.budgets.epochs;
    let budget = match request.budgets.information {
        None => "in one epoch; no limit was set".to_owned(),
        Some(_) if epochs == 1 => {
            format!("in one epoch; budget {}", level(request.budgets.information))
        }
        Some(_) => format!(
            "in one epoch; budget {} for {epochs} epochs",
            level(request.budgets.information)
        ),
    };
    let mut text = format!(
        "method {}, {} starts from seed {}; LDP budget {}\n\n",
        request.method.name(),
        request.restarts,
        request.seed,
        level(request.budgets.ldp)
    );
    if bundle.is_silent() {
        text += &format!("{}\n\n", report::silence(model));
    }
    text += &report::learned(seen, model, Some(bundle.certificate()), &budget);
    text += &format!("\n\n{}", report::sensors(seen, model, Some(bundle)));
    text += &format!("\n\n{}", report::repetition(bundle.certificate()));
    if !proposal.attempts.is_empty() {
        let line = |part: &design::Attempt| vec![part.name.into(), format!("{:.6}", part.error)];
        let lines = proposal.attempts.iter().map(line).collect();
        text += &format!("\n\n{}", table(&["part of the search", "error_public"], lines));
    }
    if let Some(Stricter { kept, information, exact, factor }) = &proposal.theta {
        let row = |name: &str, condition: &Theta| {
            let numbers =
                [condition.coverage, condition.theta, condition.allowed, condition.spread];
            let mut row = vec![name.to_owned()];
            row.extend(numbers.map(|value| format!("{value:.6}")));
            row
        };
        let rows = vec![row("first stage", kept), row("maps at the budget", exact)];
        text += &format!(
            "\n\n{}\n\nThe first stage keeps the printed condition (9) and leaks {}. Maps that meet the \
             budget itself\nare {factor:.1} times as far apart as the condition would allow them.",
            table(&["", "c_G", "theta", "distance allowed", "distance"], rows),
            nats(*information),
        );
    }
    text += &format!("\n\nEvery policy and the network are verified.\nnetwork id: {}", bundle.id());
    text
}
