//! Relations between privacy notions: one engine that knows every implication of the five papers.
//!
//! [`relate`] takes a guarantee and a notion and gives the tightest guarantee of that notion it can
//! find: the exact supremum over all mechanisms when the prior is known ([`exact`]), otherwise the
//! best chain of closed-form [`rules`]. Each rule carries its printed form beside the corrected one,
//! so an answer also shows what the papers would have said. Where nothing follows, the answer is a
//! [`counterexample`].
//!
//! Everything is in nats.

mod answer;
pub mod audited;
mod chain;
pub mod counterexample;
pub mod degrade;
pub mod exact;
pub mod forms;
mod guarantee;
mod hull;
pub mod map;
mod notion;
mod rule;
pub mod rules;
mod setting;

pub use answer::{Answer, Holds, PrintedChain, RelationOutcome, Step};
pub use counterexample::{Counterexample, Member, NonImplication, Scope};
pub use guarantee::{Guarantee, MAX_EPSILON};
pub use notion::{Notion, Subject};
pub use rule::{DERIVED, Form, Printed, Rule, Verdict};
pub use setting::{Missing, Setting};

use std::collections::BTreeSet;

use chain::Reading;
use undertone_design::Error;
use undertone_design::measure::delta::Convention;

/// The tightest guarantee of notion `to` that follows from `from` in this setting, what would be
/// needed for one, or why there is none.
pub fn relate(from: &Guarantee, to: Notion, setting: &Setting) -> Result<Answer, Error> {
    setting.check()?;
    let setting = &*setting.in_one_order()?;
    setting.check_feasible(from)?;
    let outcome = outcome(from, to, setting)?;
    Ok(Answer { from: *from, to, outcome })
}

fn outcome(from: &Guarantee, to: Notion, setting: &Setting) -> Result<RelationOutcome, Error> {
    let wanted = setting.convention.unwrap_or(from.convention());
    let mut chains = chain::tightest(from, to, wanted, setting, Reading::Corrected);
    let alternatives = chains.iter().skip(1).map(|label| label.guarantee).collect();
    let closed = if chains.is_empty() { None } else { Some(chains.swap_remove(0)) };
    let closed_form = closed.as_ref().map(|label| label.guarantee);
    let printed = printed(from, to, wanted, setting);
    let identity = from.notion() == to && (from.is_pure() || from.convention() == wanted);
    let supremum = match exact::supremum(from, to, setting) {
        _ if identity => None,
        // A solver that does not settle must not hide a valid bound.
        Err(_) if closed.is_some() => None,
        other => other?,
    };
    if let Some(supremum) = supremum {
        let guarantee = supremum.guarantee;
        let bounded = guarantee.epsilon().is_finite() || to == Notion::Alip;
        if supremum.audited && !bounded {
            return Ok(RelationOutcome::NoImplication(unbounded(from, setting, supremum)));
        }
        let size = |g: &Guarantee| g.lower() + g.upper();
        let tighter = closed_form.is_none_or(|closed| size(&guarantee) < size(&closed));
        if supremum.audited || (bounded && tighter) {
            let paper = closed.as_ref().and_then(|label| match label.rules.as_slice() {
                [only] => Some(only.paper),
                _ => None,
            });
            let formula = "sup over mechanisms with the premise, under this prior";
            let rule = if supremum.audited {
                "exact supremum over all mechanisms, by extremal lift vectors"
            } else {
                "upper bound over all mechanisms, by extremal lift vectors"
            };
            let paper = paper.unwrap_or(DERIVED);
            return Ok(RelationOutcome::Holds(Holds {
                guarantee,
                exact: supremum.audited,
                witness: supremum.audited.then_some(supremum.witness),
                steps: vec![Step { rule, paper, formula, guarantee }],
                closed_form,
                printed,
                alternatives: vec![],
            }));
        }
    }
    if let Some(best) = closed {
        return Ok(RelationOutcome::Holds(Holds {
            guarantee: best.guarantee,
            exact: false,
            witness: None,
            steps: best.steps,
            closed_form,
            printed,
            alternatives,
        }));
    }
    if let Some(outcome) = independence(from, to, setting) {
        return Ok(outcome);
    }
    let missing = chain::missing(from, to, wanted, setting);
    let needs_pure = missing.as_ref().is_some_and(|set| set.contains(&Missing::Pure));
    match missing {
        Some(set) if !set.is_empty() && !needs_pure => {
            Ok(RelationOutcome::Needs { missing: set.into_iter().collect() })
        }
        other => {
            // Everything is known and still no bound: it is infinite in this very setting.
            let stuck = other.as_ref().is_some_and(BTreeSet::is_empty);
            if let Some(example) = refute(from, to, setting, stuck) {
                return Ok(RelationOutcome::NoImplication(example));
            }
            let missing = other.filter(|set| !set.is_empty());
            let missing = missing.map_or(vec![Missing::Rule], |set| set.into_iter().collect());
            Ok(RelationOutcome::Needs { missing })
        }
    }
}

/// What the papers' own formulas give.
fn printed(
    from: &Guarantee,
    to: Notion,
    wanted: Convention,
    setting: &Setting,
) -> Option<PrintedChain> {
    let chains = chain::tightest(from, to, wanted, setting, Reading::Printed);
    let best = chains.into_iter().next()?;
    let verdict = best.rules.iter().filter_map(|rule| rule.printed).map(|p| p.verdict).max()?;
    let mut steps = best.steps;
    for (step, rule) in steps.iter_mut().zip(&best.rules) {
        if let Some(printed) = rule.printed {
            step.formula = printed.formula;
        }
    }
    Some(PrintedChain { guarantee: best.guarantee, steps, verdict })
}

/// A budget of zero means that output and secret are independent, whatever the notion; only odds keep the
/// prior's own, and a notion that sees only the support says nothing about symbols that never occur.
fn independence(from: &Guarantee, to: Notion, setting: &Setting) -> Option<RelationOutcome> {
    let about_hypothesis = |notion: Notion| notion.subject() == Subject::Hypothesis;
    let odds = [Notion::Di, Notion::Ident].contains(&to);
    let same_secret =
        about_hypothesis(from.notion()) == about_hypothesis(to) || !about_hypothesis(from.notion());
    if !(from.is_pure() && from.upper() == 0.0) || odds || !same_secret {
        return None;
    }
    if to.counts_massless() && !from.notion().counts_massless() {
        let (law, least) = if about_hypothesis(to) {
            (setting.hypothesis.as_ref(), setting.hypothesis_min())
        } else {
            (setting.prior.as_ref(), setting.p_min())
        };
        match least {
            Ok(least) if least > 0.0 => {}
            Ok(_) if law.is_some() => {
                return counterexample::massless(to, law).map(RelationOutcome::NoImplication);
            }
            Ok(_) => return Some(RelationOutcome::Needs { missing: vec![Missing::PositiveMin] }),
            Err(missing) => return Some(RelationOutcome::Needs { missing: vec![missing] }),
        }
    }
    let guarantee = Guarantee::raw(to, 0.0);
    let step = Step {
        rule: "no leakage at all means independence",
        paper: DERIVED,
        formula: "0",
        guarantee,
    };
    Some(RelationOutcome::Holds(Holds {
        guarantee,
        exact: false,
        witness: None,
        steps: vec![step],
        closed_form: Some(guarantee),
        printed: None,
        alternatives: vec![],
    }))
}

/// The premise leaves the conclusion unbounded under this very prior: the witness is the proof.
///
/// It can only be a lift of zero, so what is large is LDP, which every unbounded notion implies.
fn unbounded(from: &Guarantee, setting: &Setting, supremum: exact::Supremum) -> Counterexample {
    let prior = setting.prior.clone().or_else(|| setting.hypothesis.clone());
    let member = prior.map(|prior| Member {
        prior,
        joint: None,
        channel: supremum.witness,
        copies: 1,
        leakage: supremum.guarantee.epsilon(),
    });
    let known =
        counterexample::all().iter().find(|n| n.from == from.notion() && n.scope == Scope::Prior);
    Counterexample {
        large: Notion::Ldp,
        paper: known.map_or(DERIVED, |n| n.paper),
        words: known.map_or("an output that some symbol never produces", |n| n.words),
        member,
    }
}

/// A counterexample for the question itself, or for something the target implies, by a family that
/// meets something which implies the premise.
fn refute(from: &Guarantee, to: Notion, setting: &Setting, stuck: bool) -> Option<Counterexample> {
    let usable = |n: &&NonImplication| match n.scope {
        Scope::Always => true,
        Scope::Delta => !from.is_pure(),
        Scope::Prior => n.from == from.notion(),
        Scope::Vanishing => stuck && n.verdict != Verdict::False,
        Scope::Growing => false,
    };
    let direct = |n: &&NonImplication| n.from == from.notion() && n.to == to;
    let statements = || counterexample::all().iter().filter(usable);
    let ordered = statements().filter(direct).chain(statements().filter(|n| !direct(n)));
    let fits =
        ordered.filter(|n| chain::connected(n.from, from.notion()) && chain::connected(to, n.to));
    let mut fallback = None;
    for statement in fits {
        let example = Counterexample {
            large: statement.to,
            paper: statement.paper,
            words: statement.words,
            member: member_within(statement, from, setting),
        };
        if example.member.is_some() {
            return Some(example);
        }
        fallback.get_or_insert(example);
    }
    // Without a member only statements that hold in every setting may speak.
    fallback.filter(|_| from.upper() == 0.0)
}

/// A member of the family that meets the premise: shrink its own budget until the rules say so.
fn member_within(
    statement: &NonImplication,
    from: &Guarantee,
    setting: &Setting,
) -> Option<Member> {
    let (mut epsilon, mut delta) = (from.lower().min(from.upper()), from.delta());
    for _ in 0..60 {
        let budget = Guarantee::raw(statement.from, epsilon).and_delta(
            if statement.from.has_delta() { delta } else { 0.0 },
            Convention::Conditional,
        );
        let member = (statement.member)(&budget, setting)?;
        let own = member.setting(setting.alpha.or(Some(2.0)));
        let own = Setting { priors: setting.priors.clone(), ..own };
        let reached =
            chain::tightest(&budget, from.notion(), from.convention(), &own, Reading::Corrected);
        let within = |g: &Guarantee| {
            g.lower() <= from.lower() && g.upper() <= from.upper() && g.delta() <= from.delta()
        };
        if reached.iter().any(|label| within(&label.guarantee)) {
            return Some(member);
        }
        (epsilon, delta) = (epsilon / 2.0, delta / 2.0);
    }
    None
}
