//! Designing over symbols.

use undertone_core::{Alphabet, Policy};
use undertone_design::designer::{self, DesignOutcome, DesignProblem, Designed, Method};
use undertone_design::mechanism::accuracy::{self, Accuracy, Coverage, Family};
use undertone_design::objective::Objective as Weighed;
use undertone_design::shape_facts::ShapeFacts;

use super::advice::advice;
use super::report::{
    CellRefusal, ClaimAlone, DesignDetails, DesignParameters, DesignReport, RefusedDesign,
    RefusedDetails, SymbolDetails, UtilityBound, VerifiedDesign, rows,
};
use super::{DesignMethod, DesignRequest, Objective, People, Protection, uninformative};
use crate::Error;
use crate::error::mention;

/// What was found for symbols.
pub(super) struct SymbolSolution {
    pub(super) request: DesignProblem,
    pub(super) found: DesignOutcome,
    /// What the policy does not tell, in words.
    pub(super) uninformative: Option<String>,
    /// Why another method than the optimum was taken, where nobody asked for one.
    pub(super) note: Option<String>,
}

/// Designs over symbols.
pub(super) fn solve(asked: &DesignRequest) -> Result<SymbolSolution, Error> {
    let known = asked.context.read()?;
    let accuracy = match &asked.accuracy {
        Some(goal) => {
            let accuracy = Accuracy::new(goal.half_width, goal.level, Coverage::Each);
            let fields = format!("{}, {}", mention("accuracy"), mention("level"));
            let refused = |error| Error::usage(format!("{fields}: {error}"));
            Some((accuracy.map_err(refused)?, goal.people))
        }
        None => None,
    };
    let mut protect = asked.protect.clone();
    let mut goal = asked.objective.as_ref();
    if let Some((accuracy, People::Fixed(n))) = &accuracy {
        if asked.context.knows_nothing() {
            let given = if asked.context.size.is_some() { "size" } else { "symbols" };
            let problem = format!(
                "finds a level of LIP, which needs a prior, and with {} alone there is none: give {} and {}",
                mention(given),
                mention("protect"),
                mention("for_n")
            );
            return Err(Error::field("n", problem));
        }
        if !protect.is_empty() {
            let problem = format!("is what {} finds: leave it out", mention("n"));
            return Err(Error::field("protect", problem));
        }
        let reached = accuracy::smallest_epsilon(&known.prior, *n, accuracy, Family::OptimalLip)?;
        protect = vec![format!("lip:{}", reached.epsilon).parse::<Protection>()?];
    }
    if accuracy.is_some() {
        // Accuracy is about shares, also of symbols that stand for numbers.
        goal = goal.or(Some(&Objective::Frequency));
    }
    if protect.is_empty() {
        return Err(Error::field("protect", ": give a protection, for example lip:1"));
    }
    asked.context.check_protections(&protect)?;
    let objective = known.objective(goal, &asked.values)?;
    let method = asked.method.map_or(Some(Method::Optimal), DesignMethod::of_symbols);
    let method = method.ok_or_else(|| Error::field("method", "is for numbers"))?;
    let request = known.request(&protect, objective, method)?;
    let request = DesignProblem { accept: asked.accept, max_bits: asked.max_bits, ..request };
    let (request, mut found, note) = found(asked, request)?;
    let mut told = None;
    if let DesignOutcome::Shipped(designed) = &mut found {
        told = uninformative(asked, designed, &request.objective)?;
        if let (Some((accuracy, people)), Some(channel)) = (&accuracy, designed.channel.clone()) {
            let parameter = match people {
                People::Fixed(n) => {
                    ("half_width", accuracy.half_width(&request.prior, &channel, *n)?)
                }
                People::Needed => {
                    let n = accuracy::needed_n(&request.prior, &channel, accuracy)?;
                    ("needed_n", n as f64)
                }
            };
            designed.parameters.push(parameter);
        }
    }
    Ok(SymbolSolution { request, found, uninformative: told, note })
}

/// Designs as asked. Where the method is left to us and the best for single numbers cannot tell them apart, the best of
/// the methods that can is taken; where no policy can tell symbols apart and that is allowed, one that does not.
fn found(
    asked: &DesignRequest,
    request: DesignProblem,
) -> Result<(DesignProblem, DesignOutcome, Option<String>), Error> {
    let found = match designer::design(&request) {
        Err(undertone_design::Error::Uninformative { .. })
            if asked.allow_uninformative && request.method == Method::Optimal =>
        {
            let request = DesignProblem { method: Method::Krr, ..request };
            let found = designer::design(&request)?;
            let note = "Under these claims no report tells the symbols apart, and none is better than another: the method krr was taken.";
            return Ok((request, found, Some(note.into())));
        }
        found => found?,
    };
    let defeated = |found: &DesignOutcome| match found {
        DesignOutcome::Shipped(designed) => asked.is_defeated(designed, &request.objective),
        DesignOutcome::Missed(_) => true,
    };
    if asked.method.is_some() || !request.objective.is_about_numbers() || !defeated(&found) {
        return Ok((request, found, None));
    }
    let loss = |found: &DesignOutcome| match found {
        DesignOutcome::Shipped(designed) => designed.utility.unwrap_or(f64::INFINITY),
        DesignOutcome::Missed(_) => f64::INFINITY,
    };
    let others = [Method::Krr, Method::Sampling].into_iter().filter_map(|method| {
        let request = DesignProblem { method, ..request.clone() };
        // A method that does not know this context is none to choose from.
        let found = designer::design(&request).ok()?;
        (!defeated(&found)).then_some((request, found))
    });
    let best = others.min_by(|(_, a), (_, b)| loss(a).total_cmp(&loss(b)));
    Ok(match best {
        Some((request, found)) => {
            let note = super::instead(request.method.name());
            (request, found, Some(note))
        }
        None => (request, found, None),
    })
}

impl SymbolSolution {
    pub(super) fn policy(&self) -> Option<&Policy> {
        match &self.found {
            DesignOutcome::Shipped(designed) => Some(&designed.policy),
            DesignOutcome::Missed(_) => None,
        }
    }

    pub(super) fn report(&self) -> Result<DesignReport, Error> {
        match &self.found {
            DesignOutcome::Shipped(designed) => {
                self.verified(designed).map(|found| DesignReport::Verified(Box::new(found)))
            }
            DesignOutcome::Missed(missed) => {
                let spec = &self.request.spec;
                let outputs = spec.outputs.as_ref().unwrap_or(&spec.inputs);
                let refusal = CellRefusal::of(&missed.refusal, &spec.inputs, outputs);
                Ok(DesignReport::Refused(RefusedDesign::new(
                    self.request.method.name(),
                    self.request.objective.name(),
                    Some(rows(&missed.channel)),
                    RefusedDetails::Symbols { published: missed.level.into(), refusal },
                )))
            }
        }
    }

    fn verified(&self, designed: &Designed) -> Result<VerifiedDesign, Error> {
        let request = &self.request;
        let comparison = designer::compare(request)?;
        let alone = match designed.utility {
            Some(utility) => undertone_design::price::alone(request, utility)?,
            None => Vec::new(),
        };
        let draft = designed.policy.draft();
        let claims: Vec<String> = draft.claims().iter().map(ToString::to_string).collect();
        let channel = designed.channel.as_ref().map(rows);
        let is_gain = request.objective.is_gain();
        let details = SymbolDetails {
            inputs: channel.as_ref().map(|_| labels(draft.inputs())),
            published: designed.published.map(Into::into),
            alone: alone
                .iter()
                .map(|one| ClaimAlone {
                    claim: claims[one.claim].clone(),
                    utility: one.utility,
                    decides: one.decides,
                })
                .collect(),
            advice: advice(request, designed),
        };
        Ok(VerifiedDesign {
            policy_id: designed.policy.id(),
            method: request.method.name(),
            method_note: worth_saying(
                self.note.as_deref(),
                &request.objective,
                designed.utility,
                comparison.blind,
            ),
            objective: request.objective.name(),
            is_gain,
            utility: designed.utility,
            optimum: designed.optimum,
            bound: designed.bound.map(|value| UtilityBound { value, is_gain }),
            mixed: designed.mixed,
            facts: ShapeFacts::of(draft.shape(), &request.prior).into(),
            channel,
            outputs: designed.outputs.iter().map(|&y| draft.outputs().label(y)).collect(),
            parameters: DesignParameters::of(&designed.parameters),
            requested: claims,
            attained: (&designed.policy).into(),
            comparison: comparison.into(),
            uninformative: self.uninformative.clone(),
            details: DesignDetails::Symbols(details),
            policy: designed.policy.clone(),
        })
    }
}

fn labels(alphabet: &Alphabet) -> Vec<String> {
    (0..alphabet.len()).map(|x| alphabet.label(x)).collect()
}

/// A note on the method taken, and whether the policy is worth more than a guess without any report.
fn worth_saying(
    note: Option<&str>,
    objective: &Weighed,
    utility: Option<f64>,
    blind: f64,
) -> Option<String> {
    let note = note?;
    match utility {
        Some(utility) if objective.is_about_numbers() => {
            Some(format!("{note}{}", super::beside_a_guess(objective.name(), utility, blind)))
        }
        _ => Some(note.into()),
    }
}
