//! A request in floats, and the way from a proposed table to a policy.

use undertone_core::{Bound, Claim, Context, Delta, MASS_ONE, Policy, Refusal, Subject};

use super::{ContinuousOutcome, MOST_CELLS, Method, Missed, Noise, Origin, Request, Shipped};
use crate::designer;
use crate::measure::delta::Convention;
use crate::mechanism::{Proposal, printed};
use crate::objective::Objective;
use crate::quantize::PolicySpec;
use crate::{Channel, Distribution, Error, Symbols, measure, protection, to_floats};

/// How far rounding to integers moves a prior at most, in total variation.
const ROUNDING: f64 = 1e-6;

/// The kernel's verdict on a proposal: a policy or a refusal.
type Verdict = Result<Result<Policy, Refusal>, Error>;

/// A request with everything in floats that the mechanisms read.
pub(super) struct Problem<'a> {
    pub(super) request: &'a Request,
    pub(super) spec: PolicySpec,
    pub(super) points: Vec<f64>,
    pub(super) edges: Vec<f64>,
    pub(super) range: (f64, f64),
    /// The prior that weighs the loss.
    pub(super) weighing: Distribution,
    /// The prior the claims speak of; the objective's where they speak of none or several.
    pub(super) prior: Distribution,
}

impl<'a> Problem<'a> {
    pub(super) fn of(request: &'a Request) -> Result<Self, Error> {
        let book = &request.codebook;
        let (inputs, outputs) = (book.inputs().len(), book.outputs().len());
        let symbols = Symbols::of(book.inputs());
        let asked = Symbols::of(&request.spec.inputs);
        // The context's integers are in the order of the promise's own inputs.
        if asked.places("the promise", &symbols)?.is_some() {
            let problem = "lists the numbers in another order than the codebook: sort them";
            return Err(Error::other("the promise", problem));
        }
        let weighing = request.prior.in_order_of("the prior", &symbols)?.into_owned();
        if request.method != Method::Sampling && inputs.saturating_mul(outputs) > MOST_CELLS {
            return Err(Error::TooLarge {
                what: "the table of inputs times outputs".into(),
                size: inputs.saturating_mul(outputs),
                limit: MOST_CELLS,
                fix: "use fewer bins, or the method sampling, which needs no table".into(),
            });
        }
        if request.convention != Convention::Conditional {
            let plain = |claim: &&Claim| {
                claim.about == Subject::Input && matches!(claim.bound, Bound::Lip { .. })
            };
            if !request.spec.claims.iter().all(|claim| plain(&claim)) {
                let problem =
                    "conventions other than conditional are for lip claims about the data";
                return Err(Error::other("convention", problem));
            }
        }
        let spec = PolicySpec {
            inputs: book.inputs().clone(),
            outputs: Some(book.outputs().clone()),
            ..request.spec.clone()
        };
        let prior = match &spec.context {
            // The same but for rounding: then the floats, so that a density's figures have all their
            // digits.
            Context::Known(prior) => {
                let rounded = to_floats::distribution(prior)?.over(&symbols)?;
                let same = rounded.total_variation(&weighing)? <= ROUNDING;
                if same { weighing.clone() } else { rounded }
            }
            _ => weighing.clone(),
        };
        Ok(Self {
            request,
            spec,
            points: book.points(),
            edges: book.output_edges(),
            range: book.range().ends(),
            weighing,
            prior,
        })
    }

    pub(super) fn width(&self) -> f64 {
        self.range.1 - self.range.0
    }

    /// ε and δ of a request with one symmetric claim about the data, and the prior's least probability
    /// as far as it counts: an LDP claim ignores it.
    pub(super) fn level(&self, what: &str) -> Result<Level, Error> {
        let refuse = |problem: &str| {
            let problem = format!("{problem}: give one protection lip:E or lip:E,DELTA");
            Err(Error::other(what.to_owned(), problem))
        };
        let [claim] = self.spec.claims.as_slice() else {
            return refuse("its formula is for one claim");
        };
        if claim.about != Subject::Input {
            return refuse("its formula is about the data itself");
        }
        let (epsilon, delta) = (protection::level(claim), fraction(claim.delta));
        match (claim.bound, &self.spec.context) {
            (Bound::Ldp(_), _) => Ok(Level { epsilon, delta, least: 0.0 }),
            (Bound::Lip { lower, upper }, Context::Known(_)) if lower == upper => {
                Ok(Level { epsilon, delta, least: self.prior.min() })
            }
            (Bound::Lip { .. }, Context::Known(_)) => refuse("its formula has one epsilon"),
            (Bound::Lip { .. }, _) => refuse("its formula needs one known prior"),
            (Bound::Di(_), _) => refuse("its formula is for lip"),
        }
    }

    /// Whether a table keeps the claims, in the convention asked for.
    pub(super) fn holds(&self, channel: &Channel) -> Result<bool, Error> {
        if self.request.convention == Convention::Conditional {
            return Ok(self.spec.verify(channel)?.is_ok());
        }
        for claim in &self.spec.claims {
            if !(self.delta(channel, claim)? <= fraction(claim.delta)) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The least δ of a LIP claim, in the convention asked for.
    fn delta(&self, channel: &Channel, claim: &Claim) -> Result<f64, Error> {
        let Bound::Lip { lower, upper } = claim.bound else {
            return Err(Error::other("convention", "only lip claims have one"));
        };
        let nats = |epsilon: undertone_core::Epsilon| {
            let (n, d) = epsilon.odds();
            (f64::from(n) / f64::from(d)).ln()
        };
        let excess = measure::delta::Excess::of(&self.prior, channel, nats(lower), nats(upper))?;
        match self.request.convention {
            Convention::Conditional => Ok(excess.conditional()),
            Convention::Posterior => Ok(excess.posterior()),
            Convention::Joint => excess.joint(&self.prior),
            Convention::JointSets => {
                measure::delta::joint_sets(&self.prior, channel, protection::level(claim))
            }
        }
    }

    /// The promise with every δ as the channel behind `verify` needs it in the conditional convention,
    /// or as it was if that is the convention asked for and it is larger.
    pub(super) fn restated(
        &self,
        spec: &PolicySpec,
        verify: impl Fn(&PolicySpec) -> Verdict,
    ) -> Result<PolicySpec, Error> {
        let delta = |units: u64| {
            Delta::from_units(units).map_err(|error| Error::other("delta", error.to_string()))
        };
        let most = delta(MASS_ONE - 1)?;
        let claims = spec.claims.iter().map(|claim| claim.with_delta(most)).collect();
        let policy = match verify(&PolicySpec { claims, ..spec.clone() })? {
            Ok(policy) => policy,
            Err(refusal) => return Err(Error::other("claims", refusal.to_string())),
        };
        let mut restated = spec.clone();
        for (claim, least) in restated.claims.iter_mut().zip(&policy.certificate().deltas) {
            let needed = delta(least.map_or(0, |least| least.ratio.scaled_up(48)))?;
            claim.delta = match self.request.convention {
                Convention::Conditional => claim.delta.max(needed),
                _ => needed,
            };
        }
        Ok(restated)
    }

    pub(super) fn objective(&self) -> Objective {
        self.request.loss.objective(&self.points, &self.request.codebook.output_values())
    }

    pub(super) fn inner(&self, spec: PolicySpec, objective: Objective) -> designer::DesignProblem {
        designer::DesignProblem {
            spec,
            prior: self.weighing.clone(),
            objective,
            method: designer::Method::Optimal,
            accept: self.request.accept,
            max_bits: None,
        }
    }

    /// Ships a table. Noise that was not searched for and misses its claims by more than a hair is
    /// refused, or accepted at the level its table attains.
    pub(super) fn finish(&self, noise: Noise, origin: Origin) -> Result<ContinuousOutcome, Error> {
        let Noise { channel, parameters, density } = noise;
        let mut spec = self.spec.clone();
        let conditional = self.request.convention == Convention::Conditional;
        if origin != Origin::Searched {
            let refusal = self.spec.verify(&channel)?.err();
            let breaks = match (&refusal, conditional) {
                (None, _) => false,
                (Some(_), true) => self.misses(&channel)?,
                (Some(_), false) => !self.holds(&channel)?,
            };
            let misprinted = origin == Origin::Printed && density.is_some_and(|kept| kept.misses());
            if (breaks || misprinted) && !self.request.accept {
                let refusal = refusal.filter(|_| breaks);
                let missed = Missed { refusal, channel, parameters, density };
                return Ok(ContinuousOutcome::Missed(Box::new(missed)));
            }
            if breaks {
                spec = self.accepted(&channel)?;
            }
        }
        if !conditional {
            spec = self.restated(&self.spec, |spec| spec.verify(&channel))?;
        }
        let inner = self.inner(spec, self.objective());
        let optimum = inner.objective.value(&inner.prior, &channel)?;
        let proposal = Proposal { channel, optimum, bound: None };
        let designed = designer::ship(&inner, proposal, true)?;
        Ok(ContinuousOutcome::Shipped(Box::new(Shipped { designed, parameters, density, inner })))
    }

    /// Whether a refused table misses a claim by more than the hair that rounding costs.
    fn misses(&self, channel: &Channel) -> Result<bool, Error> {
        let mut loosened = self.spec.clone();
        for claim in &mut loosened.claims {
            if claim.delta == Delta::ZERO {
                let wider = |epsilon: undertone_core::Epsilon| {
                    let level = epsilon.nats().units() as f64 / 1e10 + designer::PRINTED_SLACK;
                    undertone_core::Epsilon::parse(&format!("{level:.12}")).unwrap_or(epsilon)
                };
                claim.bound = match claim.bound {
                    Bound::Ldp(epsilon) => Bound::Ldp(wider(epsilon)),
                    Bound::Di(epsilon) => Bound::Di(wider(epsilon)),
                    Bound::Lip { lower, upper } => {
                        Bound::Lip { lower: wider(lower), upper: wider(upper) }
                    }
                };
            } else {
                let wider =
                    claim.delta.units() + (designer::PRINTED_SLACK * MASS_ONE as f64) as u64;
                claim.delta = Delta::from_units(wider.min(MASS_ONE - 1)).unwrap_or(claim.delta);
            }
        }
        Ok(loosened.verify(channel)?.is_err())
    }

    /// The promise at the level a table attains: a larger δ where the claim has one, else a larger ε.
    fn accepted(&self, channel: &Channel) -> Result<PolicySpec, Error> {
        if self.spec.claims.iter().all(|claim| claim.delta != Delta::ZERO) {
            return self.restated(&self.spec, |spec| spec.verify(channel));
        }
        let request = self.inner(self.spec.clone(), self.objective());
        Ok(printed::accept(&request, channel)?.spec)
    }
}

/// The numbers of a formula with one claim.
pub(super) struct Level {
    pub(super) epsilon: f64,
    pub(super) delta: f64,
    pub(super) least: f64,
}

fn fraction(delta: Delta) -> f64 {
    delta.units() as f64 / MASS_ONE as f64
}
