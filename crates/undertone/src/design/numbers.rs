//! Designing over numbers: the noise asked for, over the codebook's bins or points.

use undertone_core::{Delta, Policy, Refusal, Side};
use undertone_design::continuous::{
    self, ContinuousOutcome, Loss, Method, Missed, Request, Shipped,
};
use undertone_design::measure::delta::Convention;
use undertone_design::mechanism::gaussian::Sigma;
use undertone_design::mechanism::laplace::Scale;
use undertone_design::objective::Objective as Weighed;
use undertone_design::quantize::PolicySpec;
use undertone_design::shape_facts::ShapeFacts;
use undertone_design::{Channel, Symbols};

use super::codebook::{self, Inputs};
use super::report::{
    CellRefusal, CodebookReport, DesignDetails, DesignParameters, DesignReport, KeptReport,
    NumberDetails, NumberRefusal, RefusedDesign, RefusedDetails, ShapeReport, UtilityBound,
    VerifiedDesign, rows,
};
use super::{DesignMethod, DesignRequest, NumberOptions, Objective, uninformative};
use crate::error::mention;
use crate::{Error, number};

/// Tables with more cells than this are in the policy only, not in the report.
const LISTED: usize = 1 << 16;

/// What was found for numbers.
pub(super) struct NumberSolution {
    pub(super) method: &'static str,
    request: Request,
    inputs: Inputs,
    found: ContinuousOutcome,
    /// The protections as they were asked for.
    requested: Vec<String>,
    uninformative: Option<String>,
    /// Why another method than the optimum was taken, where nobody asked for one.
    note: Option<String>,
}

/// Whether the data are numbers, rather than symbols that may have values: because the request says so, or because the
/// prior is one of bins and nothing asked for is about symbols only.
pub(super) fn wanted(asked: &DesignRequest) -> Result<bool, Error> {
    let NumberOptions { points, range, density, .. } = &asked.numbers;
    let given = points.is_some() || range.is_some() || density.is_some();
    let method = asked.method.unwrap_or(DesignMethod::Optimal);
    if given || matches!(method, DesignMethod::Laplace | DesignMethod::Gaussian) {
        return Ok(true);
    }
    let context = &asked.context;
    let binned = match context.priors.as_slice() {
        [one] => one.document().is_some_and(|document| document.edges.is_some()),
        _ => false,
    };
    let known =
        matches!(method, DesignMethod::Optimal | DesignMethod::Published | DesignMethod::Sampling);
    let about_numbers = known
        && asked.objective.as_ref().is_none_or(|goal| goal.loss().is_ok())
        && asked.values.is_empty()
        && asked.accuracy.is_none()
        && context.within.is_none();
    if binned && about_numbers {
        return Ok(true);
    }
    let NumberOptions { bins, output_bins, output_range, scale, sigma, convention, .. } =
        &asked.numbers;
    for (field, used) in [
        ("bins", bins.is_some()),
        ("output_bins", output_bins.is_some()),
        ("output_range", output_range.is_some()),
        ("scale", scale.is_some()),
        ("sigma", sigma.is_some()),
        ("convention", *convention != Convention::Conditional),
    ] {
        if used {
            let range = mention("range");
            let problem = format!(
                "is for numbers: give {range} with {} or {}, or a prior fitted with {range}",
                mention("points"),
                mention("bins")
            );
            return Err(Error::field(field, problem));
        }
    }
    Ok(false)
}

/// Designs over numbers.
pub(super) fn solve(asked: &DesignRequest) -> Result<NumberSolution, Error> {
    if asked.context.size.is_some() {
        let problem = "is for symbols without names, and these are numbers: leave it out";
        return Err(Error::field("size", problem));
    }
    let named = asked.context.symbols.as_ref().is_some_and(Symbols::are_named);
    if named && asked.context.priors.is_empty() {
        let problem = "are names, and these are numbers: leave them out";
        return Err(Error::field("symbols", problem));
    }
    if asked.max_bits.is_some() {
        return Err(Error::field(
            "max_bits",
            "is for symbols, and these are numbers: leave it out",
        ));
    }
    if asked.accuracy.is_some() {
        return Err(Error::field("accuracy", "is about symbols: leave it out with numbers"));
    }
    if !asked.values.is_empty() {
        return Err(Error::field("values", "is about symbols: numbers stand for themselves"));
    }
    if asked.protect.is_empty() {
        return Err(Error::field("protect", ": give a protection, for example lip:1"));
    }
    let inputs = codebook::read(asked)?;
    let loss = asked.objective.as_ref().unwrap_or(&Objective::Squared).loss()?;
    let spec = inputs.known.spec(&asked.protect)?;
    let mut request = Request {
        method: noise(asked, &spec)?,
        codebook: inputs.codebook.clone(),
        prior: inputs.known.prior.clone(),
        density: inputs.density.clone(),
        spec,
        loss,
        convention: asked.numbers.convention,
        accept: asked.accept,
    };
    let mut method = asked.method.unwrap_or(DesignMethod::Optimal);
    let mut note = None;
    let mut found = continuous::design(&request)?;
    // Inside, the objective is a table of losses between bins.
    let numbers = Weighed::Squared(request.codebook.points());
    let left_to_us = asked.method.is_none()
        && matches!(&found, ContinuousOutcome::Shipped(made) if asked.is_defeated(&made.designed, &numbers));
    // What no single number is told of may still have a mean, unless single numbers were asked for.
    let for_means = left_to_us && asked.objective.is_none();
    let mean = Request { loss: Loss::Mean, ..request.clone() };
    let mean = for_means.then(|| continuous::design(&mean).ok().map(|found| (mean, found)));
    if let Some((averaged, made)) = mean.flatten() {
        (request, found) = (averaged, made);
        note = Some(super::for_means());
    } else if left_to_us {
        let noisy = Request { method: Method::Laplace(Scale::Exact), ..request.clone() };
        match continuous::design(&noisy) {
            Ok(ContinuousOutcome::Shipped(made))
                if !asked.is_defeated(&made.designed, &numbers) =>
            {
                (method, request, found) =
                    (DesignMethod::Laplace, noisy, ContinuousOutcome::Shipped(made));
                note = Some(super::instead(method.name()));
            }
            // Laplace noise does not know this claim: the refusal says what else there is.
            _ => {}
        }
    }
    let told = match &found {
        ContinuousOutcome::Shipped(shipped) => uninformative(asked, &shipped.designed, &numbers)?,
        ContinuousOutcome::Missed(_) => None,
    };
    let requested = asked.protect.iter().map(ToString::to_string).collect();
    let method = method.name();
    Ok(NumberSolution { method, request, inputs, found, requested, uninformative: told, note })
}

/// The noise that is asked for.
fn noise(asked: &DesignRequest, spec: &PolicySpec) -> Result<Method, Error> {
    let NumberOptions { scale, sigma, output_range, .. } = &asked.numbers;
    let method = match asked.method.unwrap_or(DesignMethod::Optimal) {
        DesignMethod::Laplace => Method::Laplace(scale.unwrap_or(Scale::Exact)),
        DesignMethod::Gaussian => Method::Gaussian(sigma.unwrap_or(Sigma::Constant)),
        DesignMethod::Sampling => Method::Sampling,
        DesignMethod::Optimal => Method::Optimal,
        // The papers print a scale for pure claims and a deviation for the others.
        DesignMethod::Published if spec.claims.iter().all(|claim| claim.delta == Delta::ZERO) => {
            Method::Laplace(Scale::Published)
        }
        DesignMethod::Published => Method::Gaussian(Sigma::Published),
        other => {
            let problem = format!(
                "{:?} is not for numbers: use laplace, gaussian, sampling, optimal or published",
                other.name()
            );
            return Err(Error::field("method", problem));
        }
    };
    let (laplace, gaussian) =
        (matches!(method, Method::Laplace(_)), matches!(method, Method::Gaussian(_)));
    for (field, given, owner, is) in [
        ("scale", scale.is_some(), "laplace", laplace),
        ("sigma", sigma.is_some(), "gaussian", gaussian),
        (
            "output_range",
            output_range.is_some(),
            "gaussian or optimal",
            gaussian || method == Method::Optimal,
        ),
    ] {
        if given && !is {
            let problem = format!("belongs to {} {owner}", mention("method"));
            return Err(Error::field(field, problem));
        }
    }
    Ok(method)
}

impl NumberSolution {
    pub(super) fn policy(&self) -> Option<&Policy> {
        match &self.found {
            ContinuousOutcome::Shipped(shipped) => Some(&shipped.designed.policy),
            ContinuousOutcome::Missed(_) => None,
        }
    }

    pub(super) fn report(&self) -> Result<DesignReport, Error> {
        match &self.found {
            ContinuousOutcome::Shipped(shipped) => {
                self.verified(shipped).map(|found| DesignReport::Verified(Box::new(found)))
            }
            ContinuousOutcome::Missed(missed) => Ok(DesignReport::Refused(self.refused(missed))),
        }
    }

    fn verified(&self, shipped: &Shipped) -> Result<VerifiedDesign, Error> {
        let (request, designed) = (&self.request, &shipped.designed);
        let comparison = match request.loss {
            Loss::Mean => continuous::compare_mean(shipped),
            _ => continuous::compare(shipped)?,
        };
        let bound = match designed.bound {
            Some(bound) => Some(bound),
            None => continuous::reachable(shipped)?,
        };
        let draft = designed.policy.draft();
        let channel = designed.channel.as_ref().and_then(listed);
        let outputs = match channel {
            Some(_) => designed.outputs.iter().map(|&y| draft.outputs().label(y)).collect(),
            None => Vec::new(),
        };
        let (low, high) = request.codebook.range().ends();
        let loss = request.loss.name();
        let method_note = self.note.as_ref().map(|note| match designed.utility {
            Some(utility) => {
                format!("{note}{}", super::beside_a_guess(loss, utility, comparison.blind))
            }
            None => note.clone(),
        });
        let binned = self.inputs.binned.as_ref();
        let details = NumberDetails {
            claims: draft.claims().to_vec(),
            convention: request.convention,
            published: self.published(shipped.density.as_ref()),
            density: shipped.density.as_ref().map(Into::into),
            codebook: CodebookReport {
                range: [low, high],
                inputs: draft.inputs().len(),
                outputs: draft.outputs().len(),
            },
            clipped: binned.map(|binned| [binned.below, binned.above]),
            floored: self.inputs.floored(),
        };
        Ok(VerifiedDesign {
            policy_id: designed.policy.id(),
            method: self.method,
            method_note,
            objective: loss,
            is_gain: false,
            utility: designed.utility,
            optimum: designed.optimum,
            bound: bound.map(|value| UtilityBound { value, is_gain: false }),
            mixed: designed.mixed,
            // Shares of single bins are not what noise on numbers is for.
            facts: ShapeReport {
                variance_at_zero: None,
                ..ShapeFacts::of(draft.shape(), &request.prior).into()
            },
            channel,
            outputs,
            parameters: DesignParameters(shipped.parameters.clone()),
            requested: self.requested.clone(),
            attained: (&designed.policy).into(),
            comparison: comparison.into(),
            uninformative: self.uninformative.clone(),
            details: DesignDetails::Numbers(details),
            policy: designed.policy.clone(),
        })
    }

    fn refused(&self, missed: &Missed) -> RefusedDesign {
        let request = &self.request;
        let codebook = &request.codebook;
        let refusal = missed.refusal.as_ref().map(|refusal| NumberRefusal {
            cell: CellRefusal::of(refusal, codebook.inputs(), codebook.outputs()),
            delta: needed(refusal),
        });
        let details = RefusedDetails::Numbers {
            published: self.published(missed.density.as_ref()),
            density: missed.density.as_ref().map(Into::into),
            parameters: DesignParameters(missed.parameters.clone()),
            convention: request.convention,
            refusal,
        };
        RefusedDesign::new(self.method, request.loss.name(), listed(&missed.channel), details)
    }

    /// What the density keeps of a formula of a paper, which is held to its own word.
    fn published(&self, density: Option<&continuous::Kept>) -> Option<KeptReport> {
        density.filter(|_| self.request.method.is_printed()).map(Into::into)
    }
}

/// The rows of a table that is not too large to list.
fn listed(channel: &Channel) -> Option<Vec<Vec<f64>>> {
    (channel.inputs() * channel.outputs() <= LISTED).then(|| rows(channel))
}

/// The delta a refused table needs, where that is what it was refused for; rounded up.
fn needed(refusal: &Refusal) -> Option<f64> {
    (refusal.side == Side::Delta).then(|| number::share(refusal.attained))
}
