//! From a method's proposal to a policy the kernel accepts.

use undertone_core::{
    Alphabet, Bound, Claim, Context, Delta, Epsilon, Policy, Provenance, Secret, Subject,
};

use super::{Budget, Method, Release, WatchdogProblem, measured, optimum, release};
use crate::mechanism::Mechanism;
use crate::quantize::{self, PolicySpec};
use crate::{Error, Joint, to_floats};

/// What is to be protected, and how well.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// What the secret is called.
    pub secret: String,
    /// How far belief in it may fall.
    pub lower: Epsilon,
    /// How far belief in it may rise.
    pub upper: Epsilon,
    /// An LDP level of the secret to claim as well.
    pub ldp: Option<Epsilon>,
    /// The origin of the joint law, in words.
    pub source: String,
    /// How to choose the release.
    pub method: Method,
}

/// A release and, if it keeps its budget, the policy that proves it.
#[derive(Debug, Clone)]
pub struct Shipment {
    /// The channel that ships (or would have) and what it is worth under the joint law as given.
    pub release: Release,
    /// `None` if a printed method missed its budget.
    pub policy: Option<Policy>,
    /// The share of noise that rounding took, for a randomised release.
    pub mixed: f64,
}

/// A group within this many nats of its budget may be outside it in exact arithmetic. If the kernel
/// says so, the groups are chosen again this much inside.
const HAIR: f64 = 1e-9;

/// Designs against the integers of the policy and has the kernel verify the result.
pub fn ship(joint: &Joint, request: &Request) -> Result<Shipment, Error> {
    let spec = spec(joint, request)?;
    let rounded = to_floats::secret(&spec.context)?
        .ok_or_else(|| Error::other("joint", "has no secret once rounded"))?;
    let budget = Budget::of_odds(request.lower, request.upper);
    let Proposed { found, policy, mixed } = match request.method {
        Method::Optimal => randomised(&spec, &rounded, budget)?,
        method => grouped(&spec, &rounded, budget, method)?,
    };
    let channel = match &policy {
        Some(policy) => to_floats::channel(policy.draft().shape())?,
        None => found.channel,
    };
    // The design saw the rounded law; people are told what it is worth under the law they gave.
    let given =
        measured(&WatchdogProblem::new(joint, budget)?, channel, found.groups, policy.is_some())?;
    let bound = found.bound.map(|bound| bound.max(given.nmi));
    let release = Release { low_risk: found.low_risk, bound, ..given };
    Ok(Shipment { release, policy, mixed })
}

struct Proposed {
    found: Release,
    policy: Option<Policy>,
    mixed: f64,
}

fn randomised(spec: &PolicySpec, rounded: &Joint, budget: Budget) -> Result<Proposed, Error> {
    let found = release(rounded, budget, Method::Optimal)?;
    let outputs = Alphabet::indices(found.channel.outputs()).map_err(refused)?;
    let shipped = PolicySpec { outputs: Some(outputs), ..spec.clone() }.ship(&found.channel)?;
    Ok(Proposed { found, policy: Some(shipped.policy), mixed: shipped.mixed })
}

fn grouped(
    spec: &PolicySpec,
    rounded: &Joint,
    budget: Budget,
    method: Method,
) -> Result<Proposed, Error> {
    let mut last = None;
    for hair in [0.0, HAIR] {
        let found = release(rounded, budget.tightened(hair), method)?;
        if method.is_printed() && !found.met {
            return Ok(Proposed { found, policy: None, mixed: 0.0 });
        }
        let outputs = match method {
            // A scrambled symbol is still one of the inputs' own.
            Method::Uniform => None,
            _ => Some(named(&spec.inputs, &found.groups)?),
        };
        match (PolicySpec { outputs, ..spec.clone() }).verify(&found.channel)? {
            Ok(policy) => return Ok(Proposed { found, policy: Some(policy), mixed: 0.0 }),
            Err(refusal) => last = Some((found, refusal)),
        }
    }
    match last {
        Some((found, _)) if method.is_printed() => Ok(Proposed { found, policy: None, mixed: 0.0 }),
        Some((_, refusal)) => Err(refused(refusal)),
        None => Err(Error::other("policy", "no release was tried")),
    }
}

fn refused(problem: impl std::fmt::Display) -> Error {
    Error::other("policy", problem.to_string())
}

/// A group is called by its members.
fn named(inputs: &Alphabet, groups: &[Vec<usize>]) -> Result<Alphabet, Error> {
    let label =
        |group: &Vec<usize>| group.iter().map(|&x| inputs.label(x)).collect::<Vec<_>>().join(",");
    Alphabet::names(groups.iter().map(label)).map_err(refused)
}

/// Everything of the policy but its channel: the secret's law in integers, and the claims about it.
fn spec(joint: &Joint, request: &Request) -> Result<PolicySpec, Error> {
    let prior = quantize::prior(joint.secret())?;
    let rows: Vec<_> =
        joint.given_secret().rows().iter().map(quantize::prior).collect::<Result<_, _>>()?;
    // The joint law moves at most as far as P(s) and the worst row P(x|s) together.
    let rounding = prior.moved + rows.iter().map(|row| row.moved).max().unwrap_or(0);
    let rows = rows.into_iter().map(|row| row.prior).collect();
    let secret = Secret::new(request.secret.clone(), prior.prior, rows)
        .map_err(|error| Error::other("secret", error.to_string()))?;
    let bound = Bound::Lip { lower: request.lower, upper: request.upper };
    let about = |bound| Claim { about: Subject::Secret, bound, delta: Delta::ZERO };
    let claims = [bound].into_iter().chain(request.ldp.map(Bound::Ldp)).map(about).collect();
    Ok(PolicySpec {
        inputs: joint.symbols().alphabet()?,
        outputs: None,
        context: Context::Secret(secret),
        claims,
        provenance: Provenance {
            source: request.source.clone(),
            rounding,
            ..Provenance::default()
        },
    })
}

/// The split of an LDP level whose release keeps most, over λ = .05, .1, .. .95; of equals the one that
/// lets belief rise least. A λ at which a printed method misses its budget does not count. `tried` is
/// called after each.
pub fn best_split(
    joint: &Joint,
    ldp: f64,
    method: Method,
    mut tried: impl FnMut(),
) -> Result<f64, Error> {
    let mut best: Option<(f64, f64)> = None;
    for step in (1..SPLITS).rev() {
        let lambda = f64::from(step) / f64::from(SPLITS);
        let problem = WatchdogProblem::new(joint, Budget::split(ldp, lambda)?)?;
        let found = match method {
            // Proving how good it is takes longest, and is not needed to choose.
            Method::Optimal => optimum::quick(&problem)?,
            _ => method.design(&problem)?,
        };
        tried();
        if found.met && best.is_none_or(|(nmi, _)| found.nmi > nmi + 1e-9) {
            best = Some((found.nmi, lambda));
        }
    }
    // With no release at all within a budget, the even split is as good as any to say so.
    Ok(best.map_or(0.5, |(_, lambda)| lambda))
}

/// [`best_split`] tries the multiples of 1/20.
pub const SPLITS: u32 = 20;
