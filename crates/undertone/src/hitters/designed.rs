//! From what values are and a protection to a verified plan.

use serde::Serialize;
use undertone_core::plan::PlanId;
use undertone_core::{Alphabet, Bound, Delta, Nats, Policy, PolicyId};

use super::known::KnownValues;
use super::plan::{HittersPlan, Longer};
use super::support::Support;
use super::values::OpenValues;
use super::visible::{Passage, least_people, rule_of_thumb};
use crate::answer::Answer;
use crate::design::{Design, Protection};
use crate::number::{self, Round, counted, decimal};
use crate::{Error, ErrorCode};

/// What to plan for.
#[derive(Debug, Clone)]
pub struct HittersRequest {
    /// What values are.
    pub values: OpenValues,
    /// What must hold: `ldp:1`.
    pub protect: Protection,
    /// How many rounds; where nothing is said, as few as examine at most 16 bits each.
    pub rounds: Option<usize>,
    /// What happens to a value that is longer than the codes.
    pub longer: Longer,
    /// Values that are known to be popular: they are tested in the last round, which then asks more of the people.
    pub known: KnownValues,
    /// How many people there will be, to say from which share on a value is seen.
    pub people: Option<u64>,
    /// A share that must be seen, to say how many people that takes.
    pub share: Option<f64>,
    /// The chance that any value is found that nobody has.
    pub error: f64,
    /// The probability with which a value must be found to be called visible.
    pub power: f64,
}

impl HittersRequest {
    /// Plans for values and a protection, nothing else said.
    pub fn new(values: OpenValues, protect: Protection) -> Self {
        Self {
            values,
            protect,
            rounds: None,
            longer: Longer::Refuse,
            known: KnownValues::default(),
            people: None,
            share: None,
            error: 0.05,
            power: 0.9,
        }
    }
}

/// How many prefixes are thought to go on from a round when visibility is predicted.
pub(super) const THOUGHT_KEPT: u64 = 32;

/// A round examines so many bits where nobody says how many rounds there are.
const USUAL_STEP: usize = 16;

/// A verified plan and what can be seen under it.
#[derive(Debug, Clone, Serialize)]
pub struct HittersDesign {
    /// The identity of the plan and of all its rounds.
    #[serde(serialize_with = "number::as_text")]
    pub plan_id: PlanId,
    /// What values are.
    #[serde(serialize_with = "number::as_text")]
    pub values: OpenValues,
    /// What everything one person sends tells: LDP in nats, rounded up.
    #[serde(serialize_with = "number::as_certified")]
    pub ldp: Option<Nats>,
    /// The rounds.
    pub rounds: Vec<PlannedRound>,
    /// The policy that randomises hashes.
    #[serde(serialize_with = "number::as_text")]
    pub policy_id: PolicyId,
    /// The method that found it.
    pub method: &'static str,
    /// How many hashes there are.
    pub hashes: usize,
    /// How many bytes a report has.
    pub report_bytes: usize,
    /// n times the variance of the estimate of a share that is nought, from n reports of one round.
    #[serde(serialize_with = "number::as_value")]
    pub variance_at_zero: f64,
    /// How many values are known beforehand.
    pub known: usize,
    /// The chance that any value is found that nobody has.
    #[serde(serialize_with = "number::as_value")]
    pub error: f64,
    /// The probability with which what is visible is found.
    #[serde(serialize_with = "number::as_value")]
    pub power: f64,
    /// How many people there will be.
    pub people: Option<u64>,
    /// From which share on a value is visible with so many people, whether prefixes lead to it or not.
    #[serde(serialize_with = "number::as_optional_bound")]
    pub visible_share: Option<f64>,
    /// From which share on a value is visible that is known beforehand.
    #[serde(serialize_with = "number::as_optional_bound")]
    pub visible_share_known: Option<f64>,
    /// (z_{error/candidates} + z_{1-power})·√(v·rounds/people), for 1,000 candidates.
    #[serde(serialize_with = "number::as_optional_value")]
    pub rule_of_thumb: Option<f64>,
    /// The share that must be seen.
    #[serde(serialize_with = "number::as_optional_value")]
    pub share: Option<f64>,
    /// How many people that takes.
    pub needed_n: Option<u64>,
    /// The plan.
    #[serde(skip)]
    pub plan: HittersPlan,
}

/// One round of a plan.
#[derive(Debug, Clone, Serialize)]
pub struct PlannedRound {
    /// How many bits of the code it asks for.
    pub bits: usize,
    /// The part of all people who are in it.
    #[serde(serialize_with = "number::as_value")]
    pub chance: f64,
}

/// Plans rounds, takes the policy from [`crate::design`], and verifies all of it.
pub fn design(request: &HittersRequest) -> Result<HittersDesign, Error> {
    check(request)?;
    let claim = request.protect.of_input();
    let Bound::Ldp(level) = claim.bound else {
        return Err(not_ldp(&request.protect));
    };
    if claim.delta != Delta::ZERO {
        return Err(not_ldp(&request.protect));
    }
    let ldp = level.nats();
    let (policy, method) = policy_for(&request.protect, number::float(ldp))?;
    let prefixes = prefixes(&request.values, request.rounds)?;
    request.known.codes(&request.values)?;
    let weights = weights(request, &prefixes, &Support::of(&policy)?);
    let values = request.values.clone();
    let plan = HittersPlan::new(values, request.longer, prefixes, &weights, &policy, ldp)?;
    let outlook = Outlook { plan: &plan, request };
    let visible = request.people.map(|people| outlook.visible(people)).transpose()?;
    let needed_n = request.share.map(|share| outlook.needed(share)).transpose()?;
    let support = plan.support();
    let rounds = plan.prefixes().iter().zip(plan.chances());
    Ok(HittersDesign {
        plan_id: plan.id(),
        values: request.values.clone(),
        ldp: plan.plan().person().ldp,
        rounds: rounds.map(|(&bits, chance)| PlannedRound { bits, chance }).collect(),
        policy_id: policy.id(),
        method,
        hashes: 1 << support.hash_bits(),
        report_bytes: plan.report_bytes(),
        variance_at_zero: support.variance_at_zero(),
        known: request.known.len(),
        error: request.error,
        power: request.power,
        people: request.people,
        visible_share: visible,
        visible_share_known: request
            .people
            .filter(|_| !request.known.is_empty())
            .and_then(|people| outlook.visible_known(people)),
        rule_of_thumb: request.people.map(|people| {
            let (variance, rounds) = (support.variance_at_zero(), plan.prefixes().len());
            rule_of_thumb(variance, rounds, people, 1000, request.error, request.power)
        }),
        share: request.share,
        needed_n,
        plan,
    })
}

fn not_ldp(protect: &Protection) -> Error {
    let problem = format!(
        ": {protect}: nothing is assumed about values nobody has listed, so give ldp with one level, as in ldp:1"
    );
    Error::field("protect", problem)
}

fn check(request: &HittersRequest) -> Result<(), Error> {
    for (field, share) in [("error", request.error), ("power", request.power)] {
        if !(share > 0.0 && share < 1.0) {
            let problem = format!("is {share}: give a probability above 0 and below 1");
            return Err(Error::field(field, problem));
        }
    }
    if let Some(share) = request.share.filter(|&share| !(share > 0.0 && share <= 1.0)) {
        return Err(Error::field("share", format!("is {share}: give a share above 0, at most 1")));
    }
    match request.people {
        Some(0) => Err(Error::field("people", "is 0: give at least 1")),
        _ => Ok(()),
    }
}

/// The policy over so few hashes that a share of nought is estimated as well as can be, within 1 %, or as well as 256 hashes
/// do; and the method that found it.
fn policy_for(protect: &Protection, level: f64) -> Result<(Policy, &'static str), Error> {
    // What no number of hashes improves on: as many that a report's own one in e^ε + 1 is right.
    let limit = 4.0 * level.exp() / level.exp_m1().powi(2);
    let mut best: Option<(f64, Policy, &'static str)> = None;
    for hash_bits in 1..=Support::MOST_BITS {
        let method = if hash_bits <= 4 { "optimal" } else { "krr" };
        let Ok(policy) = over(1 << hash_bits, protect.clone(), method) else { continue };
        let Ok(support) = Support::of(&policy) else { continue };
        let variance = support.variance_at_zero();
        if best.as_ref().is_none_or(|(least, ..)| variance < *least) {
            best = Some((variance, policy, method));
        }
        if variance <= 1.01 * limit {
            break;
        }
    }
    let Some((_, policy, method)) = best else {
        return Err(Error::new(
            ErrorCode::Uninformative,
            format!("at {protect} reports tell nothing: ask for a larger level"),
        ));
    };
    Ok((policy, method))
}

/// The policy of the one design function for so many unnamed symbols of which nothing is known.
fn over(symbols: usize, protect: Protection, method: &str) -> Result<Policy, Error> {
    let alphabet = Alphabet::indices(symbols).map_err(Error::input)?;
    Design::over(&alphabet)
        .any_prior()
        .prior(vec![1.0 / symbols as f64; symbols])
        .protect(protect)
        .objective("frequency")
        .method(method)
        .policy()
}

/// The policy of a level for so many symbols, for tests.
#[cfg(test)]
pub(super) fn policy_over(symbols: usize, level: &str, method: &str) -> Result<Policy, Error> {
    over(symbols, format!("ldp:{level}").parse()?, method)
}

/// The bits of the code that each round asks for: the symbols in parts as equal as can be.
fn prefixes(values: &OpenValues, rounds: Option<usize>) -> Result<Vec<usize>, Error> {
    let (symbols, width) = (values.symbols(), values.symbol_bits());
    let most = HittersPlan::MOST_STEP / width;
    if most == 0 {
        let problem = format!(
            ": {values}: a letter takes {width} bits, and a round examines at most {}: list fewer letters",
            HittersPlan::MOST_STEP
        );
        return Err(Error::field("values", problem));
    }
    let usual = symbols.div_ceil((USUAL_STEP / width).max(1)).max(HittersPlan::FEWEST_ROUNDS);
    let rounds = rounds.unwrap_or(usual);
    let fewest = symbols.div_ceil(most).max(HittersPlan::FEWEST_ROUNDS);
    let greatest = symbols.min(HittersPlan::MOST_ROUNDS);
    if rounds < HittersPlan::FEWEST_ROUNDS {
        let problem = format!(
            "is {rounds}: give at least 2, so that what one finds is tested on other people"
        );
        return Err(Error::field("rounds", problem));
    }
    if !(fewest..=greatest).contains(&rounds) {
        let problem = format!("is {rounds}: {values} takes {fewest} to {greatest} rounds");
        return Err(Error::field("rounds", problem));
    }
    Ok((1..=rounds).map(|round| (symbols * round).div_ceil(rounds) * width).collect())
}

/// How likely each round is drawn. Without known values all alike. With them the last round is drawn more often, so that the share from which on
/// a value is visible is least on average: over the part of people who are thought to have a known value, which needs the last round
/// alone, and all others, who need every round.
fn weights(request: &HittersRequest, prefixes: &[usize], support: &Support) -> Vec<u32> {
    const WHOLE: f64 = 1e6;
    let rounds = prefixes.len();
    if request.known.is_empty() {
        return vec![1; rounds];
    }
    let (spread, known) = (support.variance_at_zero().sqrt(), request.known.share());
    let average = |last: f64| {
        let others = (1.0 - last) / (rounds - 1) as f64;
        let tested = spread / last.sqrt();
        let led = spread / others.min(last).sqrt();
        known * tested + (1.0 - known) * led
    };
    let even = 1.0 / rounds as f64;
    let step = |at: u32| even + (0.99 - even) * f64::from(at) / 1000.0;
    let last = (0..=1000)
        .map(step)
        .fold(even, |best, next| if average(next) < average(best) { next } else { best });
    let others = (WHOLE * (1.0 - last) / (rounds - 1) as f64).round().max(1.0) as u32;
    let mut weights = vec![others; rounds];
    weights[rounds - 1] = (WHOLE * last).round() as u32;
    weights
}

/// What can be expected of a plan.
struct Outlook<'a> {
    plan: &'a HittersPlan,
    request: &'a HittersRequest,
}

impl Outlook<'_> {
    /// The part of all people in each round, and the chance with which it lets a value through that nobody has.
    fn rounds(&self) -> Vec<(f64, f64)> {
        let (mut before, last) = (0, self.plan.prefixes().len() - 1);
        let rounds = self.plan.prefixes().iter().zip(self.plan.chances()).enumerate();
        let round = |(at, (&bits, chance)): (usize, (&usize, f64))| {
            let kept = if at == 0 { 1 } else { THOUGHT_KEPT };
            let candidates = (kept << (bits - before)) as f64;
            before = bits;
            let level = match at == last {
                true => self.request.error / (candidates + self.request.known.len() as f64),
                false => 1.0 / candidates,
            };
            (chance, level)
        };
        rounds.map(round).collect()
    }

    /// From which share on a value is visible that must pass these rounds.
    fn least_share(&self, people: u64, rounds: &[(f64, f64)]) -> Option<f64> {
        let rounds = rounds.iter().map(|&(part, level)| ((people as f64 * part) as u64, level));
        Passage::new(self.plan.support(), 0.0, rounds).least_share(self.request.power)
    }

    fn visible(&self, people: u64) -> Result<f64, Error> {
        self.least_share(people, &self.rounds()).map_or_else(
            || {
                let needed = self.needed(1.0)?;
                Err(Error::field(
                    "people",
                    format!(
                        "is {people}: not even a value that everybody has would be found; it takes {needed} people, or a larger level"
                    ),
                ))
            },
            Ok,
        )
    }

    /// From which share on a value is visible that is known, and so needs the last round alone.
    fn visible_known(&self, people: u64) -> Option<f64> {
        self.least_share(people, &self.rounds()[self.plan.prefixes().len() - 1..])
    }

    /// How many people it takes for a share to be visible.
    fn needed(&self, share: f64) -> Result<u64, Error> {
        let (support, power) = (self.plan.support(), self.request.power);
        least_people(support, 0.0, &self.rounds(), share, power).ok_or_else(|| {
            let problem = format!("is {share}: more than 10^15 people would be needed to see it");
            Error::field("share", problem)
        })
    }
}

impl Answer for HittersDesign {
    fn words(&self) -> String {
        let percent = |share: f64| format!("{} %", decimal(100.0 * share, Round::Up, 3));
        let ldp = self.ldp.map_or("no finite level".into(), |ldp| format!("ldp:{ldp}"));
        let mut words = format!(
            "Each person is in one of {} rounds, drawn once whatever the value, and sends one report of {} bytes: {ldp} for everything the person sends.",
            self.rounds.len(),
            self.report_bytes
        );
        if let (Some(people), Some(share)) = (self.people, self.visible_share) {
            words += &format!(
                "\nWith {} a value is found with probability {} from a share of {} on",
                counted(people, "report"),
                self.power,
                percent(share)
            );
            words += &match self.visible_share_known {
                Some(known) => {
                    format!(", one of the {} known from {} on.", self.known, percent(known))
                }
                None => ".".into(),
            };
        }
        if let (Some(share), Some(needed)) = (self.share, self.needed_n) {
            words +=
                &format!("\nA share of {} takes {}.", percent(share), counted(needed, "report"));
        }
        words += &format!(
            "\nThe chance that any value is listed that nobody has is at most {}.",
            self.error
        );
        words
    }
}
