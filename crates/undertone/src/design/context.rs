//! What a design knows about the data.

use std::borrow::Cow;

use undertone_core::{Alphabet, Bound, Provenance};
use undertone_design::designer::{DesignProblem, Method};
use undertone_design::knowledge::Knowledge;
use undertone_design::objective::Objective as Weighed;
use undertone_design::prior_region::PriorBox;
use undertone_design::quantize::PolicySpec;
use undertone_design::{Distribution, Joint, Symbols};

use super::{Objective, Protection};
use crate::Error;
use crate::document::{Prior, PriorSet};
use crate::error::mention;

/// What is known about the data: one prior, several, a box of them, nothing at all, or a secret behind the data.
#[derive(Debug, Clone, Default)]
pub struct DesignContext {
    /// What the entries of priors without names are, in their order. Without a prior, a box or a secret nothing is known of
    /// these symbols: protections are LDP, and the objective weighs all alike.
    pub symbols: Option<Symbols>,
    /// In place of a prior: so many unnamed symbols, 0 and up, of which nothing is known. Claims hold for any prior, and the
    /// objective weighs all symbols alike.
    pub size: Option<usize>,
    /// The prior, or several under each of which every claim holds. Beside a box or `any_prior`, the one prior that
    /// weighs the objective.
    pub priors: Vec<Prior>,
    /// Claims hold for any prior.
    pub any_prior: bool,
    /// Claims hold for every prior of a box.
    pub within: Option<PriorBox>,
    /// A secret behind the data: claims are about it.
    pub secret: Option<SecretLaw>,
    /// Where the knowledge comes from, if not from what the prior's document says.
    pub provenance: Option<Provenance>,
}

/// The joint law of a secret and the data.
#[derive(Debug, Clone)]
pub struct SecretLaw {
    /// What the secret is called.
    pub name: String,
    /// P(s,x).
    pub joint: Joint,
}

/// What is known, and the prior that weighs the objective, in the same order of symbols.
pub(crate) struct Known {
    pub(crate) knowledge: Knowledge,
    pub(crate) prior: Distribution,
    /// The priors as they were given.
    pub(crate) set: PriorSet,
    /// The numbers the symbols stand for, if the prior's document says.
    pub(crate) values: Option<Vec<f64>>,
    pub(crate) provenance: Provenance,
}

impl DesignContext {
    /// The context of these priors.
    pub fn of(priors: impl Into<Vec<Prior>>) -> Self {
        Self { priors: priors.into(), ..Self::default() }
    }

    /// What the context says as a whole.
    pub(crate) fn read(&self) -> Result<Known, Error> {
        self.known(&self.priors, None)
    }

    /// What the context says with these priors in place of its own. `of` are the symbols of lists without names, where
    /// the rest of the request says them.
    pub(crate) fn known(&self, priors: &[Prior], of: Option<&Symbols>) -> Result<Known, Error> {
        self.check()?;
        let counted = self.size.map(Symbols::unnamed);
        let of = of.or(self.symbols.as_ref()).or(counted.as_ref());
        let priors = &*named(priors, of)?;
        let set = PriorSet::new(priors)?;
        let first = set.laws().first();
        let weighs = self.within.is_some() || self.any_prior;
        if weighs && set.laws().len() > 1 {
            return Err(Error::usage(format!(
                "one {} weighs the objective beside {} and {}, or beside {}: several were given",
                mention("prior"),
                mention("prior_lower"),
                mention("prior_upper"),
                mention("any_prior")
            )));
        }
        let knowledge = match (&self.within, &self.secret) {
            (Some(within), _) => {
                let within = match of.filter(|_| !within.symbols().are_named()) {
                    Some(symbols) => within.clone().over(symbols)?,
                    None => within.clone(),
                };
                Knowledge::Within(match first {
                    Some(prior) => within.in_order_of(prior.symbols())?,
                    None => within,
                })
            }
            (None, Some(SecretLaw { name, joint })) => {
                let joint = match of.filter(|_| !joint.symbols().are_named()) {
                    Some(symbols) => {
                        let secret = joint.secret().symbols().clone();
                        joint.clone().over(&secret, symbols)?
                    }
                    None => joint.clone(),
                };
                Knowledge::Secret(name.clone(), joint)
            }
            (None, None) if self.any_prior || self.knows_nothing() => Knowledge::Nothing,
            (None, None) => match set.laws() {
                [] => return Err(nothing_known()),
                [one] => Knowledge::Known(one.clone()),
                several => Knowledge::Each(several.to_vec()),
            },
        };
        let prior = match (first, knowledge.typical_prior()?, of) {
            (Some(given), ..) if weighs => given.clone(),
            (_, Some(typical), _) => typical,
            (_, None, Some(symbols)) => Distribution::uniform(symbols.len()).over(symbols)?,
            (_, None, None) => {
                return Err(Error::usage(format!(
                    "with {}, give a {} that says the symbols and weighs the objective",
                    mention("any_prior"),
                    mention("prior")
                )));
            }
        };
        let values = values(priors)?;
        let provenance = match (&self.provenance, priors) {
            (Some(given), _) => given.clone(),
            (None, [one]) => provenance(one)?,
            (None, _) => Provenance::default(),
        };
        Ok(Known { knowledge, prior, set, values, provenance })
    }

    /// Whether the symbols are all that is said.
    pub(crate) fn knows_nothing(&self) -> bool {
        let said = !self.priors.is_empty() || self.within.is_some() || self.secret.is_some();
        !said && (self.size.is_some() || self.symbols.is_some())
    }

    /// Refuses protections about belief where nothing is known to be believed, and nobody said that they hold for any prior.
    pub(crate) fn check_protections(&self, protect: &[Protection]) -> Result<(), Error> {
        let about_belief = |one: &&Protection| !matches!(one.of_input().bound, Bound::Ldp(_));
        match protect.iter().find(about_belief) {
            Some(one) => self.check_belief("protect", &format!("{one} is")),
            None => Ok(()),
        }
    }

    /// Refuses to speak of belief, as `what` does, likewise.
    pub(crate) fn check_belief(&self, field: &str, what: &str) -> Result<(), Error> {
        if !self.knows_nothing() || self.any_prior {
            return Ok(());
        }
        let given = if self.size.is_some() { "size" } else { "symbols" };
        let problem = format!(
            ": {what} about belief, which needs a prior, and with {} alone there is none: give ldp:E, or {}, or {} for lip whatever the prior",
            mention(given),
            mention("prior"),
            mention("any_prior")
        );
        Err(Error::field(field, problem))
    }

    /// Refuses contexts that say two things at once.
    fn check(&self) -> Result<(), Error> {
        let refused = |field: &str, other: &str| {
            let problem = format!("and {} are two contexts: give one", mention(other));
            Err(Error::field(field, problem))
        };
        if let Some(size) = self.size {
            let others = [
                ("prior", !self.priors.is_empty()),
                ("prior_lower", self.within.is_some()),
                ("joint", self.secret.is_some()),
            ];
            if let Some((other, _)) = others.into_iter().find(|(_, given)| *given) {
                let problem = format!(
                    "is for symbols of which nothing is known, and {} says something: give one of them",
                    mention(other)
                );
                return Err(Error::field("size", problem));
            }
            if self.symbols.is_some() {
                let problem = "is for symbols without names, and these have some: leave it out";
                return Err(Error::field("size", problem));
            }
            if size < 2 {
                let problem = format!("is {size}: give at least 2 symbols");
                return Err(Error::field("size", problem));
            }
            // The kernel's limit, before a list of so many numbers is made.
            Alphabet::indices(size).map_err(|error| Error::field("size", format!(": {error}")))?;
        }
        match (&self.within, &self.secret) {
            (Some(_), Some(_)) => refused("prior_lower", "joint"),
            (Some(_), None) if self.any_prior => refused("any_prior", "prior_lower"),
            (None, Some(_)) if self.any_prior => refused("any_prior", "joint"),
            (None, Some(_)) if !self.priors.is_empty() => refused("prior", "joint"),
            _ => Ok(()),
        }
    }
}

fn nothing_known() -> Error {
    Error::usage(format!(
        "give {}, {} with {}, or {}",
        mention("prior"),
        mention("prior_lower"),
        mention("prior_upper"),
        mention("joint")
    ))
}

/// The priors with every law a law of named symbols, where names are known.
fn named<'a>(priors: &'a [Prior], of: Option<&Symbols>) -> Result<Cow<'a, [Prior]>, Error> {
    let Some(symbols) = of.filter(|of| of.are_named()) else { return Ok(Cow::Borrowed(priors)) };
    if priors.iter().all(|prior| prior.law().symbols().are_named()) {
        return Ok(Cow::Borrowed(priors));
    }
    let name = |prior: &Prior| {
        let law = prior.law();
        if law.symbols().are_named() {
            return Ok(prior.clone());
        }
        let document = prior.document().cloned();
        Ok(prior.clone().with_law(law.clone().over(symbols)?, document))
    };
    priors.iter().map(name).collect::<Result<_, Error>>().map(Cow::Owned)
}

/// The numbers the symbols stand for, in the order of the first prior; refuses documents that disagree.
fn values(priors: &[Prior]) -> Result<Option<Vec<f64>>, Error> {
    let Some(first) = priors.first() else { return Ok(None) };
    let own = |prior: &Prior| prior.document().and_then(|document| document.values.clone());
    let values = own(first);
    for other in priors {
        let (Some(values), Some(theirs)) = (&values, own(other)) else { continue };
        let what = other.name();
        let theirs = match other.law().symbols().places(what, first.law().symbols())? {
            Some(places) => places.iter().map(|&at| theirs[at]).collect(),
            None => theirs,
        };
        if let Some(x) = (0..values.len()).find(|&x| values[x] != theirs[x]) {
            return Err(Error::input(format!(
                "{what}: values says that {:?} stands for {} and the first prior says {}: give both the same values",
                first.law().symbols().label(x),
                theirs[x],
                values[x]
            )));
        }
    }
    Ok(values)
}

/// What the prior's document says about itself.
pub(crate) fn provenance(prior: &Prior) -> Result<Provenance, Error> {
    let Some(document) = prior.document() else { return Ok(Provenance::default()) };
    let confidence = match document.beta.filter(|_| prior.confidence().is_some()) {
        Some(beta) => {
            let text = format!("{:.6}", 1.0 - beta);
            Some(text.parse().map_err(|error| Error::input(format!("beta: {error}")))?)
        }
        None => None,
    };
    Ok(Provenance {
        source: document.source.clone().unwrap_or_default(),
        n: document.n.unwrap_or(0),
        date: document.date.clone().unwrap_or_default(),
        confidence,
        rounding: 0,
    })
}

impl Known {
    /// The objective with the numbers it needs. Where nothing is asked for it is `frequency`, or for numbers `squared`.
    pub(crate) fn objective(
        &self,
        asked: Option<&Objective>,
        values: &[f64],
    ) -> Result<Weighed, Error> {
        let given = !values.is_empty();
        if given {
            self.set.check_bare(&mention("values"), "put values into the prior's file")?;
        }
        let default = match given || self.values.is_some() {
            true => Objective::Squared,
            false => Objective::Frequency,
        };
        let asked = asked.unwrap_or(&default);
        if matches!(asked, Objective::Matrix(_)) {
            self.set.check_bare("the loss matrix", "write the priors in its order")?;
        }
        let counted = || (0..self.prior.len()).map(|x| x as f64).collect();
        let values = || match given {
            true => values.to_vec(),
            false => self.values.clone().unwrap_or_else(counted),
        };
        asked.weighed(values, given, self.prior.len())
    }

    /// Everything of the policy but its channel.
    pub(crate) fn spec(&self, protect: &[Protection]) -> Result<PolicySpec, Error> {
        let rounded = self.knowledge.context()?;
        Ok(PolicySpec {
            inputs: self.prior.symbols().alphabet()?,
            outputs: None,
            context: rounded.context,
            claims: protect.iter().map(|one| one.claim(&self.knowledge)).collect(),
            provenance: Provenance { rounding: rounded.moved, ..self.provenance.clone() },
        })
    }

    /// What the designer of symbols is asked for.
    pub(crate) fn request(
        &self,
        protect: &[Protection],
        objective: Weighed,
        method: Method,
    ) -> Result<DesignProblem, Error> {
        let spec = self.spec(protect)?;
        let (accept, max_bits) = (false, None);
        Ok(DesignProblem { spec, prior: self.prior.clone(), objective, method, accept, max_bits })
    }
}
