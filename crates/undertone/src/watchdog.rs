//! Releases data so that belief in a secret behind it stays within a budget.

use serde::Serialize;
use undertone_core::{Claim, Epsilon, Policy, Worst};
use undertone_design::mechanism::Mechanism;
use undertone_design::watchdog::{self, Budget, MAX_PARTITION_SYMBOLS, Request, SPLITS, Shipment};
use undertone_design::{Joint, protection};

use crate::Error;
use crate::answer::Answer;
use crate::attained::Attained;
use crate::number::{self, Round, nats, rounded};

pub use undertone_design::watchdog::Method as WatchdogMethod;

/// What is to be released, and how far belief in the secret may move.
#[derive(Debug, Clone)]
pub struct WatchdogRequest {
    /// P(s,x) of the secret and the data.
    pub joint: Joint,
    /// What the secret is called.
    pub secret_name: String,
    /// Where the joint law comes from.
    pub source: String,
    /// How far belief may move.
    pub budget: WatchdogBudget,
    /// How to choose the release; nothing for what the number of symbols allows: the best randomised release for up to
    /// [`MOST_FOR_OPTIMUM`] of them (the best groups, where these keep as much), subset merging for more.
    pub method: Option<WatchdogMethod>,
}

/// How far belief in the secret may move, in nats.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum WatchdogBudget {
    /// Down and up.
    Sides {
        /// How far it may fall.
        lower: f64,
        /// How far it may rise.
        upper: f64,
    },
    /// An LDP level of the secret, split between the two sides.
    Ldp {
        /// The level.
        level: f64,
        /// The lower side's share, from 0 to 1; nothing for the multiple of 0.05 that keeps most.
        split: Option<f64>,
    },
}

/// The budget asked for, and how it came about.
struct Asked {
    lower: f64,
    upper: f64,
    ldp: Option<f64>,
    split: Option<f64>,
}

/// With more symbols than this, the method that nobody asked for is subset merging: the optimum takes minutes.
pub const MOST_FOR_OPTIMUM: usize = 30;

/// Groups that keep this little less than the optimum are taken for it: they need no coins.
const AS_GOOD: f64 = 1e-6;

/// A release that keeps a smaller share of the data's information keeps nothing.
const NOTHING: f64 = 1e-9;

/// A release and, if it keeps its budget, the policy that proves it.
#[derive(Debug, Clone, Serialize)]
pub struct WatchdogReport {
    /// How the release was chosen.
    pub method: &'static str,
    /// Why that method was taken, where nobody asked for one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method_note: Option<String>,
    /// What is wrong with the release, if anything is.
    pub warnings: Vec<String>,
    /// How far belief may fall.
    #[serde(serialize_with = "number::as_value")]
    pub lower: f64,
    /// How far belief may rise.
    #[serde(serialize_with = "number::as_value")]
    pub upper: f64,
    /// The LDP level that was split, if one was.
    #[serde(serialize_with = "number::as_optional_value")]
    pub ldp: Option<f64>,
    /// The lower side's share of it.
    #[serde(serialize_with = "number::as_optional_value")]
    pub split: Option<f64>,
    /// What indices of symbols stand for; nothing where they have no names.
    pub symbols: Option<Vec<String>>,
    /// The symbols that could be released as they are.
    pub low_risk: Vec<usize>,
    /// For every output the symbols it can come from.
    pub groups: Vec<Vec<usize>>,
    /// The share of the data's information that is kept.
    #[serde(serialize_with = "number::as_value")]
    pub nmi: f64,
    /// No release within the budget keeps more than this, where that can be proved.
    #[serde(serialize_with = "number::as_optional_bound")]
    pub nmi_bound: Option<f64>,
    /// How far belief in the secret can rise.
    #[serde(serialize_with = "number::as_bound")]
    pub max_lift: f64,
    /// How far belief in the secret can fall.
    #[serde(serialize_with = "number::as_bound")]
    pub min_lift: f64,
    /// Whether both are within the budget.
    pub met: bool,
    /// The policy's id; nothing where a published method misses the budget.
    pub policy_id: Option<String>,
    /// What the policy claims.
    #[serde(serialize_with = "number::as_texts")]
    pub claims: Vec<Claim>,
    /// What the policy attains about the secret.
    pub attained: Option<Attained>,
    /// The share of noise that rounding took, for a randomised release.
    pub mixed: f64,
    /// P(output|symbol).
    pub channel: Vec<Vec<f64>>,
    /// The policy.
    #[serde(skip)]
    pub policy: Option<Policy>,
    /// What every output that is seen at all reveals.
    #[serde(skip)]
    pub outputs: Vec<WatchdogOutput>,
}

/// One output of a release, and what it reveals.
#[derive(Debug, Clone)]
pub struct WatchdogOutput {
    /// The output, as an index.
    pub output: usize,
    /// The symbols it comes from, each with the probability that it becomes this output; traces that rounding leaves
    /// are not listed.
    pub sources: Vec<(usize, f64)>,
    /// How often it is seen.
    pub seen: f64,
    /// How far belief in some value of the secret rises, in nats.
    pub rises: f64,
    /// How far belief in some value of the secret falls, in nats.
    pub falls: f64,
}

/// Chooses the release and verifies its policy.
pub fn watchdog(request: &WatchdogRequest) -> Result<WatchdogReport, Error> {
    watchdog_with(request, || {})
}

/// How many splits are tried where the best is looked for.
pub const SPLITS_TRIED: u32 = SPLITS - 1;

/// Chooses the release and verifies its policy; `tried` is called after each split that was tried, [`SPLITS_TRIED`]
/// times where the best is looked for.
pub fn watchdog_with(
    request: &WatchdogRequest,
    tried: impl FnMut(),
) -> Result<WatchdogReport, Error> {
    let joint = &request.joint;
    let method = request.method.unwrap_or_else(|| usual(joint));
    let asked = asked(request, method, tried)?;
    let mut wanted = Request {
        secret: request.secret_name.clone(),
        lower: level("lower", asked.lower)?,
        upper: level("upper", asked.upper)?,
        ldp: asked.ldp.map(|ldp| level("ldp", ldp)).transpose()?,
        source: request.source.clone(),
        method,
    };
    let mut shipment = watchdog::ship(joint, &wanted)?;
    let mut method_note = None;
    if request.method.is_none() {
        let count = alive(joint);
        let small = method == WatchdogMethod::Optimal;
        let why = if small { "few enough for the optimum" } else { "too many for the optimum" };
        let mut note = format!("{count} symbols are {why}");
        if small && count <= MAX_PARTITION_SYMBOLS {
            let groups = Request { method: WatchdogMethod::Partition, ..wanted.clone() };
            let groups = watchdog::ship(joint, &groups)?;
            if groups.release.nmi >= shipment.release.nmi - AS_GOOD {
                note += ", and the best groups keep as much without coins";
                (wanted.method, shipment) = (WatchdogMethod::Partition, groups);
            } else {
                note += &format!(", and the best groups keep {}", nats(groups.release.nmi));
            }
        }
        method_note = Some(note);
    }
    let method = wanted.method;
    let outputs = outputs(joint, &shipment)?;
    let Shipment { release, policy, mixed } = shipment;
    let symbols = joint.symbols();
    let secret = policy.as_ref().and_then(|policy| policy.certificate().secret);
    Ok(WatchdogReport {
        method: method.name(),
        method_note,
        warnings: warnings(&release),
        lower: asked.lower,
        upper: asked.upper,
        ldp: asked.ldp,
        split: asked.split,
        symbols: symbols
            .are_named()
            .then(|| (0..symbols.len()).map(|x| symbols.label(x)).collect()),
        low_risk: release.low_risk,
        groups: release.groups,
        nmi: release.nmi,
        nmi_bound: release.bound,
        // What ships is the integers.
        max_lift: secret.as_ref().map_or(release.max_lift, |shipped| lift(shipped.upper)),
        min_lift: secret.as_ref().map_or(release.min_lift, |shipped| lift(shipped.lower)),
        met: release.met,
        policy_id: policy.as_ref().map(|policy| policy.id().to_string()),
        claims: policy.iter().flat_map(|policy| policy.draft().claims()).copied().collect(),
        attained: secret.as_ref().map(Into::into),
        mixed,
        channel: release.channel.rows().iter().map(|row| row.as_slice().to_vec()).collect(),
        policy,
        outputs,
    })
}

/// How far belief in the secret moves to one side at most, in nats, rounded up.
fn lift(side: Option<Worst>) -> f64 {
    let nats = side.map(|worst| worst.ratio.ln_up());
    nats.map_or(0.0, |nats| nats.map_or(f64::INFINITY, number::float))
}

/// How many symbols have mass.
fn alive(joint: &Joint) -> usize {
    let symbols = joint.symbols().len();
    joint.data().map_or(symbols, |law| law.as_slice().iter().filter(|p| **p > 0.0).count())
}

/// The method that the number of symbols allows.
fn usual(joint: &Joint) -> WatchdogMethod {
    match alive(joint) {
        0..=MOST_FOR_OPTIMUM => WatchdogMethod::Optimal,
        _ => WatchdogMethod::Subset,
    }
}

/// What is wrong with a release that keeps its budget and is of no use.
fn warnings(release: &watchdog::Release) -> Vec<String> {
    if release.nmi > NOTHING {
        return Vec::new();
    }
    let better = match release.bound {
        Some(bound) if bound > NOTHING => {
            format!("; another method may keep up to a share of {}", rounded(bound, Round::Up))
        }
        Some(_) => "; nothing within this budget tells more: raise it".into(),
        None => "; try the method optimal, or raise the budget".to_owned(),
    };
    vec![format!(
        "The release says nothing of the data: its output does not depend on the symbol{better}."
    )]
}

/// A level in nats as the kernel's odds.
fn level(field: &str, value: f64) -> Result<Epsilon, Error> {
    if !(value >= 0.0 && value.is_finite()) {
        let problem = format!("is {value}: give a number of nats, at least 0");
        return Err(Error::field(field, problem));
    }
    // Twelve places hide the float error of a split; the kernel keeps ten, rounded down.
    protection::epsilon(&format!("{value:.12}"))
        .map_err(|error| Error::field(field, format!("is {value}: {error}")))
}

/// Reads the share of an LDP level: a number from 0 to 1, or nothing for `best`.
pub fn split(text: &str) -> Result<Option<f64>, Error> {
    if text == "best" {
        return Ok(None);
    }
    let share = text.parse().map_err(|_| bad_split(text))?;
    check_split(share)?;
    Ok(Some(share))
}

fn check_split(share: f64) -> Result<(), Error> {
    if (0.0..=1.0).contains(&share) { Ok(()) } else { Err(bad_split(share)) }
}

fn bad_split(shown: impl std::fmt::Display) -> Error {
    Error::field("split", format!("is {shown}: give a number from 0 to 1, or `best`"))
}

/// Reads the name of a method; nothing for `auto`.
pub fn method(name: &str) -> Result<Option<WatchdogMethod>, Error> {
    if name == "auto" {
        return Ok(None);
    }
    WatchdogMethod::ALL.into_iter().find(|method| method.name() == name).map(Some).ok_or_else(
        || {
            let all = WatchdogMethod::ALL.map(|method| method.name()).join(", ");
            Error::field("method", format!("{name:?} is unknown: use {all} or auto"))
        },
    )
}

fn asked(
    request: &WatchdogRequest,
    method: WatchdogMethod,
    tried: impl FnMut(),
) -> Result<Asked, Error> {
    let (ldp, split) = match request.budget {
        WatchdogBudget::Sides { lower, upper } => {
            return Ok(Asked { lower, upper, ldp: None, split: None });
        }
        WatchdogBudget::Ldp { level, split } => (level, split),
    };
    level("ldp", ldp)?;
    let split = match split {
        Some(share) => {
            check_split(share)?;
            share
        }
        None => watchdog::best_split(&request.joint, ldp, method, tried)?,
    };
    let budget = Budget::split(ldp, split)?;
    let (lower, upper) = (budget.lower(), budget.upper());
    Ok(Asked { lower, upper, ldp: Some(ldp), split: Some(split) })
}

/// What every output that is seen reveals.
fn outputs(joint: &Joint, shipment: &Shipment) -> Result<Vec<WatchdogOutput>, Error> {
    /// Rounding leaves traces of every symbol in a randomised release.
    const TRACE: f64 = 1e-6;
    let channel = &shipment.release.channel;
    let law = channel.output_law(&joint.data()?)?;
    let seen = joint.through(channel)?;
    let output = |y: usize| {
        let share = |x: usize| (x, channel.q(x, y));
        let sources = (0..channel.inputs()).map(share).filter(|(_, share)| *share > TRACE);
        let (least, most) = seen.column(y).fold((f64::INFINITY, 0.0f64), |(least, most), p| {
            (least.min(p / law[y]), most.max(p / law[y]))
        });
        WatchdogOutput {
            output: y,
            sources: sources.collect(),
            seen: law[y],
            rises: most.ln().max(0.0),
            falls: (-least.ln()).max(0.0),
        }
    };
    Ok((0..channel.outputs()).filter(|&y| law[y] > 0.0).map(output).collect())
}

impl Answer for WatchdogReport {
    fn words(&self) -> String {
        let kept = nats(self.nmi);
        let warnings: String =
            self.warnings.iter().map(|warning| format!("WARNING: {warning}\n")).collect();
        let words = match &self.policy {
            Some(policy) => {
                let claims: Vec<String> = self.claims.iter().map(ToString::to_string).collect();
                format!(
                    "verified: {}\npolicy id: {}\nA share of {kept} of the data's information is kept; belief in the secret rises by at most {} and falls by at most {} nats.",
                    claims.join(" and "),
                    policy.id(),
                    rounded(self.max_lift, Round::Up),
                    rounded(self.min_lift, Round::Up)
                )
            }
            None => format!(
                "The published method {} misses this budget, so there is no policy. The method subset always meets it and keeps more.",
                self.method
            ),
        };
        warnings + &words
    }
}
