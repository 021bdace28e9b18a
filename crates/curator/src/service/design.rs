//! From a plan and what is known so far to the verified policy of a round.
//!
//! What people answer is used to estimate shares, so candidates compete on one number: the summed variance
//! of an efficient estimate of all shares, at the prior that is assumed (or the estimate a box was
//! learnt around, or equal shares). Every candidate is verified by the kernel for the same claims, so the choice among
//! them is one of accuracy only.
//!
//! For a box of priors the claims are linear in the prior, so they hold in the whole box if they hold at its
//! corners. Small boxes are therefore designed for as the list of their corners, which is the exact robust
//! optimum; for larger ones a channel for the estimate is mixed with noise until the kernel
//! accepts the whole box. LDP at the same ε is always a candidate: it implies LIP for any prior.

use undertone_core::{Alphabet, Claim, Decimal, Epsilon, Policy, Provenance, Shape, WEIGHT_ONE};
use undertone_design::designer::{self, DesignOutcome, DesignProblem, Method};
use undertone_design::knowledge::Knowledge;
use undertone_design::mechanism::{keep, posterior, robust, staircase, unary};
use undertone_design::objective::{self, Objective};
use undertone_design::prior_region::PriorBox;
use undertone_design::quantize::{self, PolicySpec};
use undertone_design::{Channel, Distribution, Error, Symbols, to_floats};
use undertone_wire::{Code, Problem};

use super::plan::{GivenPrior, Plan};
use super::survey::Learned;

/// Up to this many answers the best channel of any shape is sought.
const OPTIMAL: usize = 10;
/// Up to this many answers channels are written out to be compared.
const LISTED: usize = 300;

/// What a round assumes about its people.
#[derive(Debug, Clone, PartialEq)]
pub enum Assumed {
    /// Nothing: the round is LDP.
    Nothing,
    /// A prior its owner states.
    Given(GivenPrior),
    /// Any prior in the box learnt from an earlier round.
    Learned(Learned),
}

/// For whom a policy is designed.
#[derive(Debug, Clone, Copy)]
pub struct Audience<'a> {
    /// The survey's id.
    pub survey: &'a str,
    /// The round.
    pub round: u32,
    /// The group.
    pub group: &'a str,
    /// Today, as YYYY-MM-DD.
    pub date: &'a str,
}

/// A verified policy, and how it was found.
#[derive(Debug, Clone)]
pub struct Found {
    /// The policy.
    pub policy: Policy,
    /// The method that won.
    pub method: String,
    /// The summed variance of the shares for one report, at the prior that weighs.
    pub variance: f64,
}

/// Designs and verifies the policy of a round.
pub fn policy(
    plan: &Plan,
    answers: &Alphabet,
    assumed: &Assumed,
    audience: Audience<'_>,
) -> Result<Found, Problem> {
    let task = Task::new(plan, answers, assumed, audience)?;
    let found = match plan.named_method()? {
        Some(method) => vec![(method.name(), task.with_method(method))],
        None => task.candidates(),
    };
    let mut refusals = Vec::new();
    let mut best: Option<Found> = None;
    for (name, candidate) in found {
        let scored = candidate.and_then(|policy| Ok((variance(&task.prior, &policy)?, policy)));
        match scored {
            Ok((variance, policy)) if variance.is_finite() => {
                if best.as_ref().is_none_or(|best| variance < best.variance) {
                    best = Some(Found { policy, method: name.into(), variance });
                }
            }
            Ok(_) => refusals.push(format!("{name}: it cannot tell all answers apart")),
            Err(error) => refusals.push(format!("{name}: {error}")),
        }
    }
    best.ok_or_else(|| Problem::new(Code::RefusedClaim, refusals.join("; ")))
}

/// Everything a candidate needs.
struct Task {
    promise: PolicySpec,
    prior: Distribution,
    epsilon: Epsilon,
    knowledge: Knowledge,
}

impl Task {
    fn new(
        plan: &Plan,
        answers: &Alphabet,
        assumed: &Assumed,
        audience: Audience<'_>,
    ) -> Result<Self, Problem> {
        let refused = |error: Error| Problem::new(Code::RefusedClaim, error.to_string());
        let epsilon = plan.epsilon()?;
        // Plans and lessons list their probabilities in the order of the survey's answers.
        let symbols = Symbols::of(answers);
        let of_answers = |law: Result<Distribution, Error>| {
            law.and_then(|law| law.over(&symbols)).map_err(refused)
        };
        let (knowledge, prior) = match assumed {
            Assumed::Nothing => {
                let any = of_answers(Ok(Distribution::uniform(answers.len())))?;
                (Knowledge::Nothing, any)
            }
            Assumed::Given(given) => {
                let prior = of_answers(Distribution::new("prior", given.p.clone()))?;
                (Knowledge::Known(prior.clone()), prior)
            }
            Assumed::Learned(learned) => {
                let prior = of_answers(inside(&learned.estimate))?;
                let within = PriorBox::new(learned.lower.clone(), learned.upper.clone())
                    .and_then(|within| within.over(&symbols))
                    .map_err(refused)?;
                (Knowledge::Within(within), prior)
            }
        };
        let mut claims = vec![knowledge.claim(Claim::lip(epsilon))];
        if let (Some(cap), false) = (plan.cap()?, matches!(knowledge, Knowledge::Nothing)) {
            claims.push(Claim::ldp(cap));
        }
        let rounded = knowledge.context().map_err(refused)?;
        let provenance = provenance(assumed, audience, rounded.moved)?;
        let promise = PolicySpec {
            inputs: answers.clone(),
            outputs: None,
            context: rounded.context,
            claims,
            provenance,
        };
        Ok(Self { promise, prior, epsilon, knowledge })
    }

    fn with_method(&self, method: Method) -> Result<Policy, Error> {
        if method == Method::Optimal && matches!(self.knowledge, Knowledge::Within(_)) {
            return self.corners().or_else(|_| self.around_estimate());
        }
        if method == Method::ExtremalLdp && !matches!(self.knowledge, Knowledge::Nothing) {
            return self.best_ldp();
        }
        let request = DesignProblem {
            spec: self.promise.clone(),
            prior: self.prior.clone(),
            objective: Objective::Frequency,
            method,
            accept: false,
        };
        match designer::design(&request)? {
            DesignOutcome::Shipped(designed) => Ok(designed.policy),
            DesignOutcome::Missed(missed) => {
                Err(Error::other("method", missed.refusal.to_string()))
            }
        }
    }

    fn candidates(&self) -> Vec<(&'static str, Result<Policy, Error>)> {
        let small = self.prior.len() <= OPTIMAL;
        let mut list = Vec::new();
        match &self.knowledge {
            Knowledge::Nothing if small => {
                list.push(("extremal-ldp", self.with_method(Method::ExtremalLdp)))
            }
            Knowledge::Within(_) if small => {
                list.push(("robust optimum", self.corners()));
                list.push(("optimal for the estimate, repaired", self.around_estimate()));
                list.push(("extremal-ldp", self.best_ldp()));
            }
            Knowledge::Known(_) if small => {
                list.push(("optimal", self.with_method(Method::Optimal)))
            }
            Knowledge::Known(_) => {
                let kept = keep::design(&self.promise, &Objective::Frequency);
                list.push(("keep", kept.map(|kept| kept.policy)));
            }
            _ => {}
        }
        let krr = staircase::randomized_response(&self.promise);
        list.push(("krr", krr.map(|found| found.policy)));
        for (name, encoding) in
            [("oue", unary::Encoding::Optimised), ("sue", unary::Encoding::Symmetric)]
        {
            list.push((name, unary::design(&self.promise, encoding).map(|found| found.policy)));
        }
        list
    }

    /// The exact robust optimum, by way of the box's corners.
    fn corners(&self) -> Result<Policy, Error> {
        let found = robust::by_corners(&self.promise, &self.prior, &Objective::Frequency)?;
        self.ship(&found.channel)
    }

    /// The optimum for the estimate alone at a level somewhat below ε, mixed with noise until the whole
    /// box is served; the best of a few levels.
    fn around_estimate(&self) -> Result<Policy, Error> {
        let mut best: Option<(f64, Policy)> = None;
        let mut last = None;
        for proposal in robust::around(&self.promise, &self.prior, &Objective::Frequency)? {
            match self.ship(&proposal.channel) {
                Ok(policy) => {
                    let variance = variance(&self.prior, &policy)?;
                    if best.as_ref().is_none_or(|(least, _)| variance < *least) {
                        best = Some((variance, policy));
                    }
                }
                Err(error) => last = Some(error),
            }
        }
        best.map(|(_, policy)| policy)
            .ok_or_else(|| last.unwrap_or_else(|| Error::other("claims", "nothing was found")))
    }

    /// The best LDP channel at ε: its LIP holds for any prior.
    fn best_ldp(&self) -> Result<Policy, Error> {
        let proposal =
            posterior::optimal_odds(&self.prior, nats(self.epsilon), &Objective::Frequency)?;
        self.ship(&proposal.channel)
    }

    fn ship(&self, channel: &Channel) -> Result<Policy, Error> {
        let (channel, kept) = quantize::drop_ghosts(channel)?;
        let outputs = Alphabet::indices(kept.len())
            .map_err(|error| Error::other("outputs", error.to_string()))?;
        let promise = PolicySpec { outputs: Some(outputs), ..self.promise.clone() };
        Ok(promise.ship(&channel)?.policy)
    }
}

/// An estimate with every share positive: a weight of exactly zero would forget that the answer exists.
fn inside(estimate: &[f64]) -> Result<Distribution, Error> {
    let least = 1e-4 / estimate.len() as f64;
    Distribution::normalised("the estimate", estimate.iter().map(|p| p.max(least)).collect())
}

fn nats(epsilon: Epsilon) -> f64 {
    let (numerator, denominator) = epsilon.odds();
    (f64::from(numerator) / f64::from(denominator)).ln()
}

/// The summed variance of an efficient estimate of all shares, for one report under `prior`, a law of
/// the policy's answers.
pub fn variance(prior: &Distribution, policy: &Policy) -> Result<f64, Error> {
    let prior = &*prior.in_order_of("the prior", &Symbols::of(policy.draft().inputs()))?;
    let shape = policy.draft().shape();
    match shape {
        Shape::Bits(bits) => {
            let part = |units: u64| units as f64 / WEIGHT_ONE as f64;
            unary::variance(prior, part(bits.own()), part(bits.other()))
        }
        Shape::Keep(keep) if prior.len() > LISTED => {
            // Read off the counts: share(y) = λ(y) p(y) + (Σ (1-λ) p) b(y), for one λ for all.
            let unit = |units: u64, one: u64| units as f64 / one as f64;
            let lambda = keep.keep().iter().map(|&k| unit(k, undertone_core::KEEP_ONE));
            let lambda = lambda.fold(1.0, f64::min);
            if !(lambda > 0.0) {
                return Ok(f64::INFINITY);
            }
            let base = keep.base().masses().iter().map(|&b| unit(b, undertone_core::MASS_ONE));
            let seen =
                prior.as_slice().iter().zip(base).map(|(p, b)| lambda * p + (1.0 - lambda) * b);
            Ok(seen.map(|s| s * (1.0 - s)).sum::<f64>() / (lambda * lambda))
        }
        _ => objective::frequency(prior, &to_floats::channel(shape)?),
    }
}

/// Where the prior came from: part of the policy's identity, and different for every round and group.
fn provenance(
    assumed: &Assumed,
    audience: Audience<'_>,
    rounding: u64,
) -> Result<Provenance, Problem> {
    let Audience { survey, round, group, date } = audience;
    let of = match group {
        undertone_wire::limits::EVERYONE => String::new(),
        group => format!(", group {group}"),
    };
    Ok(match assumed {
        Assumed::Nothing => Provenance {
            source: format!("nothing is assumed (survey {survey}, round {round}{of})"),
            date: date.into(),
            rounding,
            ..Provenance::default()
        },
        Assumed::Given(given) => {
            let source =
                if given.source.is_empty() { "stated by the owner" } else { &given.source };
            Provenance {
                source: format!("{source} (survey {survey}, round {round}{of})"),
                n: given.n,
                date: if given.date.is_empty() { date.into() } else { given.date.clone() },
                rounding,
                ..Provenance::default()
            }
        }
        Assumed::Learned(learned) => {
            let confidence: Decimal = format!("{:.6}", learned.confidence)
                .parse()
                .map_err(|_| Problem::malformed("plan.confidence: give at most six digits"))?;
            Provenance {
                source: format!(
                    "box around the estimate of round {} of survey {survey} (for round {round}{of})",
                    learned.round
                ),
                n: learned.reports,
                date: date.into(),
                confidence: Some(confidence),
                rounding,
            }
        }
    })
}
