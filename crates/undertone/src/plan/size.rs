//! How many people a survey needs.

use serde::Serialize;
use undertone_core::{Policy, PolicyId};
use undertone_design::sample_size::{self, TestedEffect};
use undertone_design::{Channel, Distribution, Symbols, to_floats};

use crate::answer::Answer;
use crate::design::{Design, Objective, Protection};
use crate::error::mention;
use crate::{Error, number};

/// Points of a curve.
const CURVE: usize = 25;

/// One question: what randomises its answers, and the shares that are expected.
#[derive(Debug, Clone)]
pub struct PlannedQuestion {
    /// The policy, or what it has to keep.
    pub randomised: Randomised,
    /// The expected shares, in the order of the policy's inputs.
    pub shares: Vec<f64>,
}

/// What randomises answers.
#[derive(Debug, Clone)]
pub enum Randomised {
    /// A policy.
    Policy(Box<Policy>),
    /// The best policy for shares that keeps these; promises of belief are held under the expected shares.
    Promise(Vec<Protection>),
}

/// What the people are needed for.
#[derive(Debug, Clone)]
pub enum SizeGoal {
    /// Every share within this of the truth.
    HalfWidth(f64),
    /// Every cell of the table with a second question within this of the truth.
    CellHalfWidth(f64, PlannedQuestion),
    /// To find a difference between two groups of equal size in the share of a symbol, the last unless one is named.
    Difference {
        /// How much more of the symbol the second group has.
        difference: f64,
        /// The symbol's name.
        symbol: Option<String>,
    },
    /// To find a slope of the log-odds of the last symbol per standard deviation of a clear covariate.
    Slope(f64),
}

/// A request for a number of people.
#[derive(Debug, Clone)]
pub struct SizeRequest {
    /// The question.
    pub question: PlannedQuestion,
    /// What the people are needed for.
    pub goal: SizeGoal,
    /// The confidence of intervals; a test's significance is the rest.
    pub level: f64,
    /// The chance with which a difference or a slope is found.
    pub power: f64,
}

/// How many people are needed.
#[derive(Debug, Clone, Serialize)]
pub struct SizeReport {
    /// The number of people.
    pub needed_n: u64,
    /// How many of them are in each group, where two are compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_group: Option<u64>,
    /// How many would be needed if everybody answered in the clear.
    pub in_the_clear: u64,
    /// The goal in words.
    pub goal: String,
    /// The confidence of intervals.
    pub level: f64,
    /// The chance of finding what is looked for, where something is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub power: Option<f64>,
    /// What is reached by other numbers of people.
    pub curve: Vec<SizePoint>,
    /// What the curve shows: power, or half_width.
    pub curve_of: &'static str,
    /// The policy that was reckoned with.
    #[serde(serialize_with = "number::as_text")]
    pub policy_id: PolicyId,
    /// What it promises.
    pub claims: Vec<String>,
}

/// What so many people reach.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct SizePoint {
    /// The number of people.
    pub n: u64,
    /// The power, or the half-width.
    #[serde(serialize_with = "number::as_value")]
    pub reached: f64,
}

/// A question ready to be reckoned with.
struct Reckoned {
    policy: Policy,
    channel: Channel,
    law: Distribution,
}

impl PlannedQuestion {
    fn reckoned(&self) -> Result<Reckoned, Error> {
        let policy = match &self.randomised {
            Randomised::Policy(policy) => (**policy).clone(),
            Randomised::Promise(protect) => {
                let names = (0..self.shares.len()).map(|x| x.to_string());
                let law = self.shares.clone();
                let about_belief = |one: &Protection| !one.to_string().starts_with("ldp:");
                let mut design = Design::new(names).prior(law).objective(Objective::Frequency);
                if !protect.iter().any(about_belief) {
                    design = design.any_prior();
                }
                for one in protect {
                    design = design.protect(one.clone());
                }
                design.policy()?
            }
        };
        let inputs = policy.inputs();
        if self.shares.len() != inputs.len() {
            let problem = format!(
                "has {} numbers and the policy {} inputs: give the expected share of each, in this order: {}",
                self.shares.len(),
                inputs.len(),
                crate::error::listed((0..inputs.len()).map(|x| inputs.label(x)), 8)
            );
            return Err(Error::field("shares", problem));
        }
        let law = Distribution::new("shares", self.shares.clone())
            .map_err(|error| Error::field("shares", format!(": {error}")))?;
        let law = law.over(&Symbols::of(inputs))?;
        Ok(Reckoned { channel: to_floats::policy_channel(policy.draft())?, law, policy })
    }
}

impl Reckoned {
    fn clear(&self) -> Result<Channel, Error> {
        Ok(Channel::identity(self.law.len())?.of_inputs(self.law.symbols())?)
    }
}

/// Finds the number of people.
pub fn size(request: &SizeRequest) -> Result<SizeReport, Error> {
    let (level, power) = (request.level, request.power);
    let one = request.question.reckoned()?;
    let clear = one.clear()?;
    let significance = 1.0 - level;
    let report = |needed_n: u64, in_the_clear: u64, goal: String, curve_of, curve| SizeReport {
        needed_n,
        per_group: None,
        in_the_clear,
        goal,
        level,
        power: None,
        curve,
        curve_of,
        policy_id: one.policy.id(),
        claims: one.policy.claims().iter().map(ToString::to_string).collect(),
    };
    let half_widths = |needed: u64, half_width: f64| {
        let at = |n: u64| half_width * (needed as f64 / n as f64).sqrt();
        curve(needed, at)
    };
    match &request.goal {
        SizeGoal::HalfWidth(width) => {
            let needed = sample_size::for_shares(&one.channel, &one.law, *width, level)?;
            let bare = sample_size::for_shares(&clear, &one.law, *width, level)?;
            let goal = format!("to know every share within ±{width}");
            Ok(report(needed, bare, goal, "half_width", half_widths(needed, *width)))
        }
        SizeGoal::CellHalfWidth(width, second) => {
            let other = second.reckoned()?;
            let bare = other.clear()?;
            let pair = (&one.channel, &one.law);
            let needed = sample_size::for_cells(pair, (&other.channel, &other.law), *width, level)?;
            let bare =
                sample_size::for_cells((&clear, &one.law), (&bare, &other.law), *width, level)?;
            let goal = format!("to know every cell of the table of both questions within ±{width}");
            Ok(report(needed, bare, goal, "half_width", half_widths(needed, *width)))
        }
        SizeGoal::Difference { difference, symbol } => {
            let at = symbol_of(&one, symbol.as_deref())?;
            let moved = moved(&one.law, at, *difference)?;
            let effect =
                |channel: &Channel| TestedEffect::difference(channel, [&one.law, &moved], at);
            let name = one.policy.inputs().label(at);
            let goal = format!(
                "to find a difference of {difference} in the share of {name:?} between two groups of equal size ({} and {})",
                number::nats(one.law[at]),
                number::nats(moved[at])
            );
            let (noisy, bare) = (effect(&one.channel)?, effect(&clear)?);
            let needed = noisy.needed(significance, power)?;
            let points = curve(needed, |n| noisy.power(n, significance));
            let bare = bare.needed(significance, power)?;
            let report = report(needed, bare, goal, "power", points);
            Ok(SizeReport { per_group: Some(needed / 2), power: Some(power), ..report })
        }
        SizeGoal::Slope(slope) => {
            let yes = one.law.as_slice().last().copied().unwrap_or_default();
            let effect = |channel: &Channel| TestedEffect::slope(channel, yes, *slope);
            let goal = format!(
                "to find a slope of {slope} of the log-odds of {:?} per standard deviation of a covariate in the clear",
                one.policy.inputs().label(one.law.len() - 1)
            );
            let (noisy, bare) = (effect(&one.channel)?, effect(&clear)?);
            let needed = noisy.needed(significance, power)?;
            let points = curve(needed, |n| noisy.power(n, significance));
            let bare = bare.needed(significance, power)?;
            let report = report(needed, bare, goal, "power", points);
            Ok(SizeReport { power: Some(power), ..report })
        }
    }
}

fn symbol_of(question: &Reckoned, name: Option<&str>) -> Result<usize, Error> {
    let inputs = question.policy.inputs();
    let Some(name) = name else { return Ok(inputs.len() - 1) };
    (0..inputs.len()).find(|&x| inputs.label(x) == name).ok_or_else(|| {
        let all = crate::error::listed((0..inputs.len()).map(|x| inputs.label(x)), 8);
        Error::field("symbol", format!("is {name:?}, and the policy's inputs are {all}"))
    })
}

/// The law with more of one symbol and less of the others, in proportion.
fn moved(law: &Distribution, symbol: usize, difference: f64) -> Result<Distribution, Error> {
    let (from, to) = (law[symbol], law[symbol] + difference);
    if from >= 1.0 {
        let problem = ": everybody gives the answer whose share is to differ: expect some of another, or name another symbol";
        return Err(Error::field("shares", problem));
    }
    if !((0.0..=1.0).contains(&to) && difference != 0.0) {
        let problem = format!(
            "is {difference}, and the share it moves is {from} (see {}): both groups' shares must differ and lie between 0 and 1",
            mention("shares")
        );
        return Err(Error::field("difference", problem));
    }
    let rest = (1.0 - to) / (1.0 - from);
    let share = |(x, p): (usize, &f64)| if x == symbol { to } else { p * rest };
    let shares = law.as_slice().iter().enumerate().map(share).collect();
    Ok(Distribution::normalised("shares", shares)?.over(law.symbols())?)
}

/// What numbers of people from a twentieth of those needed to twice as many reach.
fn curve(needed: u64, reached: impl Fn(u64) -> f64) -> Vec<SizePoint> {
    let at = |step: usize| {
        let share = 0.05 * 40f64.powf(step as f64 / (CURVE - 1) as f64);
        ((needed as f64 * share).round() as u64).max(1)
    };
    let mut numbers: Vec<u64> = (0..CURVE).map(at).collect();
    numbers.dedup();
    numbers.into_iter().map(|n| SizePoint { n, reached: reached(n) }).collect()
}

impl Answer for SizeReport {
    fn words(&self) -> String {
        let percent = |share: f64| format!("{} %", number::nats((share * 1e4).round() / 100.0));
        let chance = match self.power {
            Some(power) => format!(
                " with a chance of {} at a significance of {}",
                percent(power),
                percent(1.0 - self.level)
            ),
            None => format!(" at a confidence of {}", percent(self.level)),
        };
        let groups = self.per_group.map_or(String::new(), |half| format!(", {half} in each group"));
        format!(
            "{} people are needed {}{chance}{groups}; in the clear it would be {}.\nReckoned with a policy that promises {} ({}).\nA large-sample figure, for planning: it supposes the shares expected and says nothing of people who do not answer.",
            self.needed_n,
            self.goal,
            self.in_the_clear,
            self.claims.join(" and "),
            self.policy_id
        )
    }
}
