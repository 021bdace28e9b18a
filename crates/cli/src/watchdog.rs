//! `undertone watchdog`: release data so that a secret behind it stays within a budget.

use std::path::{Path, PathBuf};
use std::time::Duration;

use indicatif::ProgressBar;
use serde_json::{Value, json};
use undertone_core::Epsilon;
use undertone_design::watchdog::{self, Budget, Method, Request, SPLITS, Shipment};
use undertone_design::{Joint, protection};

use crate::audit::attained;
use crate::failure::Failure;
use crate::input;
use crate::output::{
    Outcome, Round, at_most, nats, number, optional, optional_at_most, progress, rounded, save,
    table,
};

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
    #[arg(long, value_enum, default_value_t = Choice::Subset)]
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

impl From<Choice> for Method {
    fn from(choice: Choice) -> Self {
        match choice {
            Choice::Merge => Self::Merge,
            Choice::Uniform => Self::Uniform,
            Choice::Repair => Self::Repair,
            Choice::Subset => Self::Subset,
            Choice::Partition => Self::Partition,
            Choice::Optimal => Self::Optimal,
        }
    }
}

/// The budget asked for, and how it came about.
struct Asked {
    lower: f64,
    upper: f64,
    ldp: Option<f64>,
    split: Option<f64>,
}

pub(crate) fn run(args: &Args) -> Result<Outcome, Failure> {
    let method = Method::from(args.method);
    let numbers = [("--lower", args.lower), ("--upper", args.upper), ("--ldp", args.ldp)];
    for (flag, value) in numbers.into_iter().filter_map(|(flag, value)| Some((flag, value?))) {
        level(flag, value)?;
    }
    let split = lambda(&args.split)?;
    let joint = input::joint(&args.joint)?;
    let asked = asked(args, &joint, method, split)?;
    let request = Request {
        secret: args.secret_name.clone(),
        lower: level("--lower", asked.lower)?,
        upper: level("--upper", asked.upper)?,
        ldp: asked.ldp.map(|ldp| level("--ldp", ldp)).transpose()?,
        source: source(&args.joint),
        method,
    };
    let waiting = ProgressBar::new_spinner().with_message("looking for the best release");
    waiting.enable_steady_tick(Duration::from_millis(200));
    let shipment = watchdog::ship(&joint, &request);
    waiting.finish_and_clear();
    let shipment = shipment?;
    if let (Some(path), Some(policy)) = (&args.output, &shipment.policy) {
        save(path, &policy.draft().to_json())?;
    }
    let text = describe(&asked, method, &joint, &shipment)?;
    Ok(Outcome::good(fields(&asked, method, &joint, &shipment), text))
}

/// The file's name; a policy travels, so the rest of the path stays at home.
fn source(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    let name = if name == "-" { "standard input".into() } else { name };
    format!("joint law of {}", name.chars().take(100).collect::<String>())
}

/// A level in nats as the kernel's odds.
fn level(flag: &str, value: f64) -> Result<Epsilon, Failure> {
    if !(value >= 0.0 && value.is_finite()) {
        let problem = format!("{flag} is {value}: give a number of nats, at least 0");
        return Err(Failure::usage(problem));
    }
    // Twelve places hide the float error of a split; the kernel keeps ten, rounded down.
    protection::epsilon(&format!("{value:.12}"))
        .map_err(|error| Failure::usage(format!("{flag} is {value}: {error}")))
}

/// The share given, or `None` for the best.
fn lambda(text: &str) -> Result<Option<f64>, Failure> {
    if text == "best" {
        return Ok(None);
    }
    let number: Option<f64> = text.parse().ok();
    match number.filter(|lambda| (0.0..=1.0).contains(lambda)) {
        Some(lambda) => Ok(Some(lambda)),
        None => {
            Err(Failure::usage(format!("--split is {text}: give a number from 0 to 1, or `best`")))
        }
    }
}

fn asked(args: &Args, joint: &Joint, method: Method, split: Option<f64>) -> Result<Asked, Failure> {
    if let (Some(lower), Some(upper)) = (args.lower, args.upper) {
        return Ok(Asked { lower, upper, ldp: None, split: None });
    }
    let Some(ldp) = args.ldp else {
        return Err(Failure::usage("give --lower and --upper, or --ldp"));
    };
    let split = match split {
        Some(lambda) => lambda,
        None => {
            let bar = progress(u64::from(SPLITS) - 1, "splits tried");
            let best = watchdog::best_split(joint, ldp, method, || bar.inc(1));
            bar.finish_and_clear();
            best?
        }
    };
    let budget = Budget::split(ldp, split)?;
    let (lower, upper) = (budget.lower(), budget.upper());
    Ok(Asked { lower, upper, ldp: Some(ldp), split: Some(split) })
}

fn fields(asked: &Asked, method: Method, joint: &Joint, shipment: &Shipment) -> Value {
    let symbols = joint.symbols();
    let names: Option<Vec<String>> =
        symbols.are_named().then(|| (0..symbols.len()).map(|x| symbols.label(x)).collect());
    let Shipment { release, policy, mixed } = shipment;
    let secret = policy.as_ref().and_then(|policy| policy.certificate().secret);
    let claims = policy.iter().flat_map(|policy| policy.draft().claims());
    json!({
        "method": method.name(),
        "lower": number(asked.lower),
        "upper": number(asked.upper),
        "ldp": optional(asked.ldp),
        "split": optional(asked.split),
        "symbols": names,
        "low_risk": release.low_risk,
        "groups": release.groups,
        "nmi": number(release.nmi),
        "nmi_bound": optional_at_most(release.bound),
        "max_lift": at_most(release.max_lift),
        "min_lift": at_most(release.min_lift),
        "met": release.met,
        "policy_id": policy.as_ref().map(|policy| policy.id().to_string()),
        "claims": claims.map(ToString::to_string).collect::<Vec<_>>(),
        "attained": secret.as_ref().map(attained),
        "mixed": mixed,
        "channel": release.channel.rows().iter().map(|row| row.as_slice()).collect::<Vec<_>>(),
    })
}

fn describe(
    asked: &Asked,
    method: Method,
    joint: &Joint,
    shipment: &Shipment,
) -> Result<String, Failure> {
    let Shipment { release, policy, .. } = shipment;
    let symbols = joint.symbols();
    let list = |members: &[usize]| match members {
        [] => "none".into(),
        _ => members.iter().map(|&x| symbols.label(x)).collect::<Vec<_>>().join(" "),
    };
    let split =
        asked.split.map_or(String::new(), |lambda| format!(", {} of the LDP level", nats(lambda)));
    let mut rows = vec![
        vec!["method".into(), method.name().into(), String::new()],
        vec![
            "low risk".into(),
            release.low_risk.len().to_string(),
            format!("of {} symbols: {}", symbols.len(), list(&release.low_risk)),
        ],
        vec!["nmi".into(), nats(release.nmi), "share of the data's information kept".into()],
    ];
    if let Some(bound) = release.bound {
        let proven = if bound - release.nmi <= 1e-7 {
            "no release within the budget keeps more: this is the optimum"
        } else {
            "no release within the budget keeps more than this"
        };
        rows.push(vec!["nmi_bound".into(), rounded(bound, Round::Up), proven.into()]);
    }
    rows.push(vec![
        "max_lift".into(),
        rounded(release.max_lift, Round::Up),
        format!("budget {}", nats(asked.upper)),
    ]);
    rows.push(vec![
        "min_lift".into(),
        rounded(release.min_lift, Round::Up),
        format!("budget {}{split}", nats(asked.lower)),
    ]);
    let mut text = table(&["", "value", "of what"], rows);
    text += &format!("\n\n{}", outputs(joint, shipment)?);
    text += &match policy {
        Some(policy) => {
            let claims = policy.draft().claims().iter().map(ToString::to_string);
            let claims = claims.collect::<Vec<_>>().join(" and ");
            format!("\n\nverified: {claims}\npolicy id: {}", policy.id())
        }
        None => "\n\nThe published method misses this budget, so there is no policy. \
                 --method subset always meets it and keeps more."
            .into(),
    };
    Ok(text)
}

/// One line per output: where it comes from, how often it is seen, and what it reveals.
fn outputs(joint: &Joint, shipment: &Shipment) -> Result<String, Failure> {
    let channel = &shipment.release.channel;
    let law = channel.output_law(&joint.data()?)?;
    let seen = joint.through(channel)?;
    let line = |y: usize| {
        // Rounding leaves traces of every symbol in a randomised release; they are not listed.
        let sources = (0..channel.inputs()).filter(|&x| channel.q(x, y) > 1e-6);
        let source = |x: usize| match channel.q(x, y) {
            all if all > 1.0 - 1e-6 => joint.symbols().label(x),
            share => format!("{}({share:.2})", joint.symbols().label(x)),
        };
        let (least, most) = seen.column(y).fold((f64::INFINITY, 0.0f64), |(least, most), p| {
            (least.min(p / law[y]), most.max(p / law[y]))
        });
        vec![
            y.to_string(),
            sources.map(source).collect::<Vec<_>>().join(" "),
            format!("{:.4}", law[y]),
            format!("{:.4}", most.ln().max(0.0)),
            format!("{:.4}", (-least.ln()).max(0.0)),
        ]
    };
    let used = (0..channel.outputs()).filter(|&y| law[y] > 0.0);
    let header = ["output", "from symbols", "seen", "belief rises", "belief falls"];
    Ok(table(&header, used.map(line).collect()))
}
