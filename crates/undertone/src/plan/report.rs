//! A designed plan, and everything an honest reader wants beside it.

use std::collections::BTreeMap;

use serde::Serialize;
use undertone_core::{Nats, Plan, PlanClaim, PlanId, PolicyId};
use undertone_design::mechanism::accuracy::{Accuracy, Coverage};
use undertone_design::plan::compared::Compared;
use undertone_design::plan::{Outline, Problem};

use super::costs::{PersonCosts, number_of_level};
use super::request::PlanRequest;
use super::shown::answering;
use crate::Error;
use crate::answer::Answer;
use crate::number::{self, Round, decimal, nats};

/// A verified plan, what it is worth, and what simpler ones would be.
#[derive(Debug, Clone, Serialize)]
pub struct PlanDesign {
    /// The plan's identity.
    #[serde(serialize_with = "number::as_text")]
    pub plan_id: PlanId,
    /// What is promised.
    pub claims: Vec<String>,
    /// What is randomised as one.
    pub items: Vec<DesignedItem>,
    /// How many of the drawn items each person answers.
    pub asked: u32,
    /// How many times the plan is answered in all.
    pub periods: u32,
    /// What everything one person sends tells.
    pub person: PersonCosts,
    /// The weighted sum of n times the variances of all shares (or of pairs, where pairs are named).
    #[serde(serialize_with = "number::as_value")]
    pub objective: f64,
    /// No way of collecting within the person's level can make it less, if answers are independent.
    #[serde(serialize_with = "number::as_lower_bound")]
    pub bound: f64,
    /// The weighted sum of n times the variances if everybody answered in the clear.
    #[serde(serialize_with = "number::as_value")]
    pub in_the_clear: f64,
    /// How many people half-widths are for.
    pub people: u64,
    /// For each question, the expected half-width at 95 % of the widest of its shares' intervals.
    #[serde(serialize_with = "values")]
    pub half_widths: BTreeMap<String, f64>,
    /// For each question, the part of all people who answer it.
    #[serde(serialize_with = "values")]
    pub reach: BTreeMap<String, f64>,
    /// The weighted sum of n times the variances for simpler plans at the same level of the whole person.
    pub compared: ComparedPlans,
    /// Repeated reports; nothing where there is one answer.
    pub repeated: Option<RepeatedReports>,
    /// What else a reader should know.
    pub notes: Vec<String>,
    /// The plan.
    #[serde(skip)]
    pub plan: Plan,
}

/// One item of a designed plan.
#[derive(Debug, Clone, Serialize)]
pub struct DesignedItem {
    /// The names of its questions, joined.
    pub name: String,
    /// Its questions.
    pub questions: Vec<String>,
    /// The policy that randomises it.
    #[serde(serialize_with = "number::as_text")]
    pub policy_id: PolicyId,
    /// The LDP it attains, in nats rounded up.
    #[serde(serialize_with = "number_of_level")]
    pub attained: Option<Nats>,
    /// How it is randomised.
    pub mechanism: &'static str,
    /// How many combinations of answers it has.
    pub symbols: usize,
    /// The part of all people who answer it.
    #[serde(serialize_with = "number::as_value")]
    pub chance: f64,
    /// With repeated reports, the LDP of one report alone.
    #[serde(serialize_with = "number_or_nothing", skip_serializing_if = "Option::is_none")]
    pub first_report: Option<Option<Nats>>,
}

/// The weighted sum of n times the variances for simpler plans; nothing where they cannot do what was asked: tell a pair, or
/// repeat reports.
#[derive(Debug, Clone, Serialize)]
pub struct ComparedPlans {
    /// Everybody answers every question at the same part of the level.
    #[serde(serialize_with = "number::as_optional_value")]
    pub equal_split: Option<f64>,
    /// Each person answers one question, all with the same chance.
    #[serde(serialize_with = "number::as_optional_value")]
    pub one_each: Option<f64>,
    /// Each person answers one combined symbol of s questions, for the best s.
    #[serde(serialize_with = "number::as_optional_value")]
    pub combined: Option<f64>,
    /// Random sampling plus fake data, at this level of the whole person; its own ε speaks of one answer only.
    #[serde(serialize_with = "number::as_optional_value")]
    pub rs_fd: Option<f64>,
}

/// What repeated reports of a person tell, in nats rounded up: the sums over everything one person answers.
#[derive(Debug, Clone, Serialize)]
pub struct RepeatedReports {
    /// Reports in a period.
    pub reports: u64,
    /// One report of everything.
    #[serde(serialize_with = "number_of_level")]
    pub first_report: Option<Nats>,
    /// Any number of reports of one period.
    #[serde(serialize_with = "number_of_level")]
    pub any_number: Option<Nats>,
    /// All periods together.
    #[serde(serialize_with = "number_of_level")]
    pub all_periods: Option<Nats>,
}

fn number_or_nothing<S: serde::Serializer>(
    level: &Option<Option<Nats>>,
    to: S,
) -> Result<S::Ok, S::Error> {
    match level {
        Some(level) => number_of_level(level, to),
        None => to.serialize_none(),
    }
}

fn values<S: serde::Serializer>(of: &BTreeMap<String, f64>, to: S) -> Result<S::Ok, S::Error> {
    to.collect_map(of.iter().map(|(name, value)| (name, number::number(*value))))
}

/// What a search found, on the plan's integers.
pub(super) struct Found<'a> {
    pub(super) outline: &'a Outline,
    pub(super) problem: &'a Problem,
    pub(super) compared: Compared,
    pub(super) bound: f64,
    pub(super) notes: Vec<String>,
}

/// Everything beside a plan.
pub(super) fn report(
    request: &PlanRequest,
    plan: Plan,
    found: Found<'_>,
) -> Result<PlanDesign, Error> {
    let Found { outline, problem, compared, bound, notes } = found;
    let parts = plan.parts();
    // The half-width that is asked for does not matter to the quantile.
    let z = Accuracy::new(0.5, 0.95, Coverage::Each)?.quantile(1);
    let by_name = |value: &dyn Fn(usize) -> f64| -> BTreeMap<String, f64> {
        let questions = parts.questions.iter().enumerate();
        questions.map(|(at, question)| (question.name.clone(), value(at))).collect()
    };
    let half_width = |at: usize| {
        let widest = outline.share_variances(&problem.questions, at);
        z * (widest.into_iter().fold(0.0, f64::max) / request.people as f64).sqrt()
    };
    let repeats = request.reports.is_some();
    let item = |(at, (item, chance)): (usize, (&undertone_design::plan::OutlineItem, f64))| {
        let questions = item.group.questions.iter();
        DesignedItem {
            name: parts.item_name(at),
            questions: questions.map(|&q| parts.questions[q].name.clone()).collect(),
            policy_id: plan.policy_of(at).id(),
            attained: plan.costs()[at],
            mechanism: item.group.coins.name(),
            symbols: item.group.symbols(&problem.questions),
            chance,
            first_report: repeats.then(|| plan.first_report(at).0),
        }
    };
    let shown = outline.items.iter().zip(outline.chances()).enumerate();
    Ok(PlanDesign {
        plan_id: plan.id(),
        claims: claims(&plan),
        items: shown.map(item).collect(),
        asked: parts.asked,
        periods: parts.periods,
        person: PersonCosts::of(&plan),
        objective: problem.value(outline),
        bound,
        in_the_clear: problem.targets.iter().map(|t| t.weight * t.in_the_clear()).sum(),
        people: request.people,
        half_widths: by_name(&half_width),
        reach: by_name(&|at| outline.reach(at)),
        compared: ComparedPlans {
            equal_split: compared.equal_split,
            one_each: compared.one_each,
            combined: compared.combined,
            rs_fd: compared.rs_fd,
        },
        repeated: request.reports.map(|reports| repeated(&plan, reports)),
        notes,
        plan,
    })
}

/// The sums over what one person answers of what one report, and any number, attain.
fn repeated(plan: &Plan, reports: u64) -> RepeatedReports {
    let parts = plan.parts();
    let whole = |level: &dyn Fn(usize) -> Option<Nats>| {
        let levels =
            (0..parts.items.len()).map(|at| Some((parts.items[at].weight, level(at)?.units())));
        let levels: Option<Vec<(u32, u64)>> = levels.collect();
        let (everybody, mut drawn): (Vec<_>, Vec<_>) =
            levels?.into_iter().partition(|(weight, _)| *weight == 0);
        drawn.sort_by_key(|(_, units)| std::cmp::Reverse(*units));
        let counted = everybody.iter().chain(drawn.iter().take(parts.asked as usize));
        Some(Nats::from_units(counted.map(|(_, units)| *units).sum()))
    };
    RepeatedReports {
        reports,
        first_report: whole(&|at| plan.first_report(at).0),
        any_number: whole(&|at| plan.costs()[at]),
        all_periods: plan.person().ldp,
    }
}

/// The promises of a plan in words.
pub(super) fn claims(plan: &Plan) -> Vec<String> {
    let parts = plan.parts();
    let belief = |what: String, lower: Nats, upper: Nats| match lower == upper {
        true => format!("{what}: lip:{lower}"),
        false => format!("{what}: alip:{lower},{upper}"),
    };
    let one = |claim: &PlanClaim| match *claim {
        PlanClaim::Person { ldp } => format!("person: ldp:{ldp}"),
        PlanClaim::Question { which, given, lower, upper } => {
            let name = &parts.questions[which as usize].name;
            let alone = match given {
                undertone_core::Given::All => "",
                undertone_core::Given::Own => " from its own item alone",
            };
            belief(format!("question {name}{alone}"), lower, upper)
        }
        PlanClaim::Secret { which, lower, upper } => {
            belief(format!("secret {}", parts.secrets[which as usize].name), lower, upper)
        }
    };
    parts.claims.iter().map(one).collect()
}

impl Answer for PlanDesign {
    fn words(&self) -> String {
        let three = |value: f64| nats(decimal(value, Round::Nearest, 4));
        let drawn = self.items.iter().filter(|item| item.chance < 1.0).count();
        let who = answering(self.items.len() - drawn, drawn, self.asked);
        let simpler = [
            ("equal splitting", self.compared.equal_split),
            ("one question each", self.compared.one_each),
            ("the best combined symbol", self.compared.combined),
            (
                "sampling with fake answers (RS+FD) at this level of the whole person",
                self.compared.rs_fd,
            ),
        ];
        let simpler = simpler
            .into_iter()
            .filter_map(|(name, value)| Some(format!("{name} {}", three(value?))));
        let simpler: Vec<String> = simpler.collect();
        let mut words = format!(
            "verified: {}\nplan id: {}\n{who}\nThe weighted sum of the shares' variances, times the number of people, is {}; with {}. Nobody gets below {} at this level if answers are independent; in the clear it is {}.\n{}",
            self.claims.join(" and "),
            self.plan_id,
            three(self.objective),
            simpler.join(", "),
            three(self.bound),
            three(self.in_the_clear),
            self.person.words()
        );
        if let Some(repeated) = &self.repeated {
            words += &format!("\n{}", repeated.words(self.periods));
        }
        for note in &self.notes {
            words += &format!("\n{note}");
        }
        words
    }
}

impl RepeatedReports {
    fn words(&self, periods: u32) -> String {
        let level =
            |level: Option<Nats>| level.map_or("no finite level".into(), |nats| nats.to_string());
        format!(
            "One report of everything attains {} nats, any number of one period {}, all {periods} periods together {}. The memo is drawn anew at the public date on which a period begins, whether or not the answer has changed, and the answer is held in between.",
            level(self.first_report),
            level(self.any_number),
            level(self.all_periods)
        )
    }
}
