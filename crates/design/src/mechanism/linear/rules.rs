//! What a channel must satisfy, in floats: read off a promise's integers, or given as they are.

use undertone_core::{Bound, Context, MASS_ONE, Prior, PriorBox, Subject, WEIGHT_ONE};

use crate::quantize::PolicySpec;
use crate::{Channel, Distribution, Error, to_floats};

/// A conjunction of rules about one channel over `inputs` symbols.
#[derive(Debug, Clone)]
pub struct Rules {
    pub(super) inputs: usize,
    /// P(x|s), one row per value of the secret.
    pub(super) secret: Option<Channel>,
    pub(super) all: Vec<Rule>,
}

/// One rule.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    /// Whose likelihoods are bounded.
    pub about: Subject,
    /// By what.
    pub limit: Limit,
    /// How much probability may escape, per row and side (per pair of rows for LDP).
    pub delta: f64,
}

/// What bounds the likelihoods of one output. All odds are e^ε.
#[derive(Debug, Clone, PartialEq)]
pub enum Limit {
    /// Any two are within these odds of each other.
    Ldp(f64),
    /// The output's probability is at most `lower` times, and at least 1/`upper` times, each of them.
    Lip {
        /// The odds by which belief may fall.
        lower: f64,
        /// The odds by which belief may rise.
        upper: f64,
        /// What is believed beforehand.
        belief: Belief,
    },
    /// Any two, weighted with the prior, are within these odds of each other.
    Di {
        /// The odds.
        odds: f64,
        /// The weights.
        prior: Distribution,
    },
}

/// What is believed before anything is released.
#[derive(Debug, Clone, PartialEq)]
pub enum Belief {
    /// One prior.
    Prior(Distribution),
    /// Any prior between these ends.
    Within {
        /// The least probabilities.
        lower: Vec<f64>,
        /// The greatest.
        upper: Vec<f64>,
    },
}

impl Rule {
    /// LDP of the input at ε.
    pub fn ldp(epsilon: f64) -> Self {
        Self { about: Subject::Input, limit: Limit::Ldp(epsilon.exp()), delta: 0.0 }
    }

    /// Two-sided LIP of the input at ε.
    pub fn lip(belief: Belief, epsilon: f64) -> Self {
        let limit = Limit::Lip { lower: epsilon.exp(), upper: epsilon.exp(), belief };
        Self { about: Subject::Input, limit, delta: 0.0 }
    }

    /// Whether it makes all likelihoods of an output equal: odds of one, and nothing may escape.
    ///
    /// For LIP one side is enough. Every likelihood is then on the same side of the output's
    /// probability, and both sum to one over the outputs.
    pub(super) fn is_silence(&self) -> bool {
        let one = |odds: f64| odds <= 1.0;
        self.is_pure()
            && match self.limit {
                Limit::Ldp(odds) => one(odds),
                Limit::Lip { lower, upper, .. } => one(lower) || one(upper),
                Limit::Di { .. } => false,
            }
    }

    /// How many times the floor of an output a pure rule lets its probability or ceiling be.
    pub(super) fn floor_odds(&self) -> f64 {
        match self.limit {
            Limit::Ldp(odds) | Limit::Di { odds, .. } => odds,
            Limit::Lip { lower, .. } => lower,
        }
    }

    pub(super) fn is_pure(&self) -> bool {
        self.delta <= 0.0
    }

    /// Checks sizes and numbers, and that some channel obeys.
    fn check(&self, rows: usize) -> Result<(), Error> {
        if !(0.0..1.0).contains(&self.delta) {
            return Err(Error::range("delta", self.delta, "at least 0 and below 1"));
        }
        let size = |what: &str, found: usize| match found == rows {
            true => Ok(()),
            false => Err(Error::Size { what: what.into(), expected: rows, found }),
        };
        let at_least_one = |odds: f64| match odds >= 1.0 && odds.is_finite() {
            true => Ok(()),
            false => Err(Error::range("the odds e^epsilon", odds, "at least 1 and finite")),
        };
        match &self.limit {
            Limit::Ldp(odds) => at_least_one(*odds),
            Limit::Lip { lower, upper, belief } => {
                at_least_one(*lower)?;
                at_least_one(*upper)?;
                match belief {
                    Belief::Prior(prior) => size("the prior", prior.len()),
                    Belief::Within { lower, upper } => {
                        size("the lower end of the prior box", lower.len())?;
                        size("the upper end of the prior box", upper.len())?;
                        check_box(lower, upper)
                    }
                }
            }
            Limit::Di { odds, prior } => {
                at_least_one(*odds)?;
                size("the prior", prior.len())?;
                if self.about == Subject::Secret || !self.is_pure() {
                    let problem = "speaks of the input and has no delta; claim lip or ldp instead";
                    return Err(Error::other("di", problem));
                }
                check_identifiable(*odds, prior)
            }
        }
    }
}

impl Rules {
    /// All of `rules`; those about a secret need its rows P(x|s).
    pub fn new(inputs: usize, secret: Option<Channel>, rules: Vec<Rule>) -> Result<Self, Error> {
        if inputs == 0 || rules.is_empty() {
            return Err(Error::Empty { what: "the alphabet or the list of rules".into() });
        }
        if let Some(secret) = &secret
            && secret.outputs() != inputs
        {
            return Err(Error::Size {
                what: "a row P(x|s)".into(),
                expected: inputs,
                found: secret.outputs(),
            });
        }
        for rule in &rules {
            let rows = match (rule.about, &secret) {
                (Subject::Input, _) => inputs,
                (Subject::Secret, Some(secret)) => secret.inputs(),
                (Subject::Secret, None) => {
                    let problem =
                        "a claim is about a secret but there is none: give P(s) and P(x|s)";
                    return Err(Error::other("secret", problem));
                }
            };
            rule.check(rows)?;
        }
        Ok(Self { inputs, secret, all: rules })
    }

    /// The rules behind a promise's claims: integer priors over 2^32, odds as their quotient.
    pub fn of(spec: &PolicySpec) -> Result<Self, Error> {
        let secret = to_floats::secret(&spec.context)?;
        let mut rules = Vec::new();
        for claim in &spec.claims {
            let delta = claim.delta.units() as f64 / MASS_ONE as f64;
            let mut add = |limit| rules.push(Rule { about: claim.about, limit, delta });
            match claim.bound {
                Bound::Ldp(epsilon) => add(Limit::Ldp(odds(epsilon))),
                Bound::Lip { lower, upper } => {
                    for belief in beliefs(&spec.context, claim.about)? {
                        add(Limit::Lip { lower: odds(lower), upper: odds(upper), belief });
                    }
                }
                Bound::Di(epsilon) => {
                    let priors = known(&spec.context);
                    if priors.is_empty() {
                        let problem =
                            "needs one prior or a list of priors to weigh the inputs with";
                        return Err(Error::other("di", problem));
                    }
                    for prior in priors {
                        let prior = to_floats::distribution(prior)?;
                        add(Limit::Di { odds: odds(epsilon), prior });
                    }
                }
            }
        }
        Self::new(spec.inputs.len(), secret.map(|joint| joint.given_secret().clone()), rules)
    }
}

fn check_box(lower: &[f64], upper: &[f64]) -> Result<(), Error> {
    for (at, (low, high)) in lower.iter().zip(upper).enumerate() {
        if !(0.0 <= *low && low <= high && *high <= 1.0) {
            let what = format!("the prior box at symbol {at}, [{low}, {high}]");
            return Err(Error::other(what, "must have 0 <= lower <= upper <= 1"));
        }
    }
    let (low, high) = (lower.iter().sum::<f64>(), upper.iter().sum::<f64>());
    if low > 1.0 + 1e-9 || high < 1.0 - 1e-9 {
        let problem = format!("is empty: its ends sum to {low} and {high}, and 1 must lie between");
        return Err(Error::other("the prior box", problem));
    }
    Ok(())
}

/// Summing P(x)q(y|x) <= E P(x')q(y|x') over y shows that the prior's own odds are a floor for ε;
/// at or above it a constant output obeys.
fn check_identifiable(odds: f64, prior: &Distribution) -> Result<(), Error> {
    let (min, max) = (prior.min(), prior.max());
    if max <= odds * min {
        return Ok(());
    }
    let asked = odds.ln();
    Err(Error::other(
        "di",
        if min > 0.0 {
            let least = ((max / min).ln() * 1e6).ceil() / 1e6;
            format!(
                "epsilon {asked:.6} is below ln(Pmax/Pmin), and even a constant output has the prior's own odds; ask for di:{least} or more, or protect with lip"
            )
        } else {
            "a symbol has probability 0, so its posterior odds against any other are unbounded; give it mass, leave it out, or protect with lip".into()
        },
    ))
}

fn odds(epsilon: undertone_core::Epsilon) -> f64 {
    let (numerator, denominator) = epsilon.odds();
    f64::from(numerator) / f64::from(denominator)
}

fn known(context: &Context) -> &[Prior] {
    match context {
        Context::Known(prior) => std::slice::from_ref(prior),
        Context::Each(priors) => priors.as_slice(),
        Context::Unknown | Context::Within(_) | Context::Secret(_) => &[],
    }
}

/// The beliefs a LIP claim about `subject` must hold for, one rule each.
fn beliefs(context: &Context, subject: Subject) -> Result<Vec<Belief>, Error> {
    match (context, subject) {
        (Context::Secret(secret), Subject::Secret) => {
            Ok(vec![Belief::Prior(to_floats::distribution(secret.prior())?)])
        }
        (Context::Secret(_), Subject::Input) => {
            Ok(to_floats::prior(context)?.map(Belief::Prior).into_iter().collect())
        }
        (Context::Unknown, _) => Err(Error::other(
            "claims",
            "lip is about belief but no prior is given: add a prior or claim ldp",
        )),
        (Context::Within(within), _) => Ok(vec![belief_within(within)]),
        (Context::Known(_) | Context::Each(_), _) => {
            let belief = |prior| to_floats::distribution(prior).map(Belief::Prior);
            known(context).iter().map(belief).collect()
        }
    }
}

fn belief_within(within: &PriorBox) -> Belief {
    let ends = |ends: &[u64]| ends.iter().map(|&end| end as f64 / WEIGHT_ONE as f64).collect();
    Belief::Within { lower: ends(within.lower()), upper: ends(within.upper()) }
}
