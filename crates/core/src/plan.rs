//! Several data of one person, and one promise about the person: a draft becomes a plan by being verified.
//!
//! `vectors/v1/plans.md` has the document, the checks, the draws and the message, for every language.

mod belief;
mod binary_tree;
mod choice;
mod claim;
mod codec;
mod document;
mod error;
mod law;
mod pairwise;
mod response;
mod scope;
mod walk;

pub use belief::{Belief, Outcome};
pub use choice::Choice;
pub use claim::{Given, PlanClaim, PlanRefusal, PlanSide};
pub use document::PlanDecodeError;
pub use error::{LawError, PlanError, PlanReadError};
pub use law::{Law, Node, Point};
pub use response::{ItemAnswer, Response, ResponseMismatch};
pub use walk::{Likelihoods, Walk};

use crate::alphabet::Alphabet;
use crate::codec::{from_hex, to_hex};
use crate::magnitude::{Magnitude, Round};
use crate::mass::MAX_SYMBOLS;
use crate::nats::Nats;
use crate::policy::{Draft, NotAnId, Policy, Provenance};
use crate::ratio::Ratio;
use crate::symbol::Symbol;
use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

/// One datum of a person that is asked for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Question {
    /// The name, unique in the plan: 1 to 200 bytes.
    pub name: String,
    /// What people read, at most 2,000 bytes. Budgets are kept by it, or by the name where it is empty.
    pub wording: String,
    /// The answers.
    pub answers: Alphabet,
}

/// Something about a person that is never asked and must stay hidden.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SecretVariable {
    /// The name, unique in the plan: 1 to 200 bytes.
    pub name: String,
    /// The values.
    pub values: Alphabet,
}

/// What is randomised as one: a question, or several as a combined symbol.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Item {
    /// The questions' numbers, increasing.
    pub questions: Vec<u32>,
    /// The number of the policy that randomises the answer.
    pub policy: u32,
    /// The number of the policy that draws every report from the kept answer of `policy`, where reports repeat.
    pub fresh: Option<u32>,
    /// How likely a device is to draw this item; 0 if everybody answers it.
    pub weight: u32,
}

/// A datum of a person: a question, or a secret that is never asked.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Variable {
    /// The question with this number.
    Question(u32),
    /// The secret with this number.
    Secret(u32),
}

/// Everything a plan is made of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PlanParts {
    /// The data that are asked for.
    pub questions: Vec<Question>,
    /// What must stay hidden.
    pub secrets: Vec<SecretVariable>,
    /// What is assumed about a person's data.
    pub law: Law,
    /// What is randomised as one.
    pub items: Vec<Item>,
    /// How many of the items with a weight a device answers.
    pub asked: u32,
    /// How many times the plan is answered in all.
    pub periods: u32,
    /// What is promised.
    pub claims: Vec<PlanClaim>,
    /// The origin of the law.
    pub provenance: Provenance,
    /// The channels, each used by an item.
    pub policies: Vec<Draft>,
}

/// The SHA-256 of a plan's canonical bytes: its identity.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PlanId(pub [u8; 32]);

impl fmt::Display for PlanId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&to_hex(&self.0))
    }
}

impl fmt::Debug for PlanId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PlanId({self})")
    }
}

impl core::str::FromStr for PlanId {
    type Err = NotAnId;

    fn from_str(text: &str) -> Result<Self, NotAnId> {
        from_hex(text).map(Self).ok_or(NotAnId)
    }
}

/// A plan whose parts fit together, not yet believed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PlanDraft(PlanParts);

impl PlanDraft {
    /// The most claims one plan may make.
    pub const MAX_CLAIMS: usize = 64;
    /// The most questions.
    pub const MAX_QUESTIONS: usize = 256;
    /// The most secrets.
    pub const MAX_SECRETS: usize = 16;
    /// The most items.
    pub const MAX_ITEMS: usize = 4096;
    /// The most questions of one combined symbol.
    pub const MAX_COMBINED: usize = 8;
    /// The most times a plan may be answered.
    pub const MAX_PERIODS: u32 = 100_000;

    /// Checks that the parts fit together.
    pub fn new(parts: PlanParts) -> Result<Self, PlanError> {
        let count = |what, found: usize, least, most| {
            let fits = (least..=most).contains(&found);
            if fits { Ok(()) } else { Err(PlanError::Count { what, found, least, most }) }
        };
        count("questions", parts.questions.len(), 1, Self::MAX_QUESTIONS)?;
        count("secrets", parts.secrets.len(), 0, Self::MAX_SECRETS)?;
        count("items", parts.items.len(), 1, Self::MAX_ITEMS)?;
        count("claims", parts.claims.len(), 1, Self::MAX_CLAIMS)?;
        count("periods", parts.periods as usize, 1, Self::MAX_PERIODS as usize)?;
        parts.check_names()?;
        parts.law.check(&parts.sizes(), !parts.secrets.is_empty())?;
        for (item, one) in parts.items.iter().enumerate() {
            parts.check_item(item, one)?;
        }
        parts.check_use()?;
        parts.check_split()?;
        for (index, claim) in parts.claims.iter().enumerate() {
            claim.check(&parts).map_err(|problem| PlanError::Claim { index, problem })?;
        }
        parts.provenance.check().map_err(PlanError::Provenance)?;
        Ok(Self(parts))
    }

    /// The parts.
    pub fn parts(&self) -> &PlanParts {
        &self.0
    }

    /// Gives the parts back.
    pub fn into_parts(self) -> PlanParts {
        self.0
    }

    /// Verifies every policy and every claim about the person. This is the only way to a [`Plan`].
    pub fn verify(self) -> Result<Plan, PlanRefusal> {
        let verified = |(index, draft): (usize, &Draft)| {
            let refused = |refusal| PlanRefusal::Policy { index, refusal: Box::new(refusal) };
            draft.clone().verify().map_err(refused)
        };
        let policies: Vec<Policy> =
            self.0.policies.iter().enumerate().map(verified).collect::<Result<_, _>>()?;
        let ratios = self.0.items.iter().map(|item| {
            let certificate = policies[item.policy as usize].certificate();
            certificate.input.ldp.ratio
        });
        let ratios: Vec<Ratio> = ratios.collect();
        let id = self.id();
        let costs = ratios.iter().map(|ratio| ratio.ln_up()).collect();
        let plan = Plan { draft: self, policies, ratios, costs, id };
        for (index, claim) in plan.parts().claims.iter().enumerate() {
            claim.hold(index, &plan)?;
        }
        Ok(plan)
    }
}

impl PlanParts {
    /// The sizes of all variables, questions first.
    pub(crate) fn sizes(&self) -> Vec<usize> {
        let questions = self.questions.iter().map(|question| question.answers.len());
        questions.chain(self.secrets.iter().map(|secret| secret.values.len())).collect()
    }

    /// The number of a variable among all.
    pub(crate) fn variable(&self, which: Variable) -> Option<usize> {
        let (number, most) = match which {
            Variable::Question(at) => (at as usize, self.questions.len()),
            Variable::Secret(at) => (at as usize, self.secrets.len()),
        };
        let first = if matches!(which, Variable::Secret(_)) { self.questions.len() } else { 0 };
        (number < most).then_some(first + number)
    }

    /// What a variable is called, and its alphabet.
    pub(crate) fn named(&self, variable: usize) -> (&str, &Alphabet) {
        match self.questions.get(variable) {
            Some(question) => (&question.name, &question.answers),
            None => {
                let secret = &self.secrets[variable - self.questions.len()];
                (&secret.name, &secret.values)
            }
        }
    }

    /// What an item is called: the names of its questions, joined.
    pub fn item_name(&self, item: usize) -> String {
        let questions = self.items[item].questions.iter();
        let names: Vec<&str> =
            questions.map(|&question| self.questions[question as usize].name.as_str()).collect();
        names.join(" × ")
    }

    /// The numbers of the items that are drawn.
    pub fn drawn(&self) -> Vec<usize> {
        (0..self.items.len()).filter(|&item| self.items[item].weight > 0).collect()
    }

    fn check_names(&self) -> Result<(), PlanError> {
        let mut seen = BTreeSet::new();
        let questions = self.questions.iter().map(|question| ("question", &question.name));
        let secrets = self.secrets.iter().map(|secret| ("secret", &secret.name));
        for (at, (what, name)) in questions.chain(secrets).enumerate() {
            if name.is_empty() || name.len() > 200 {
                return Err(PlanError::Name { what, at });
            }
            if !seen.insert(name) {
                return Err(PlanError::Repeated { name: name.clone() });
            }
        }
        let long = self.questions.iter().find(|question| question.wording.len() > 2000);
        long.map_or(Ok(()), |long| Err(PlanError::Wording { question: long.name.clone() }))
    }

    fn check_item(&self, at: usize, item: &Item) -> Result<(), PlanError> {
        let known = item.questions.iter().all(|&q| (q as usize) < self.questions.len());
        let increasing = item.questions.windows(2).all(|pair| pair[0] < pair[1]);
        let counted = (1..=PlanDraft::MAX_COMBINED).contains(&item.questions.len());
        if !known || !increasing || !counted {
            return Err(PlanError::Questions { item: at });
        }
        let policy = |what, index: u32| {
            let missing = PlanError::Reference { item: at, what, index };
            self.policies.get(index as usize).ok_or(missing)
        };
        let first = policy("policy", item.policy)?;
        let asked: Vec<&Question> =
            item.questions.iter().map(|&q| &self.questions[q as usize]).collect();
        match asked[..] {
            [question] if question.answers != *first.inputs() => {
                return Err(PlanError::Answers { item: at, question: question.name.clone() });
            }
            [_] => {}
            _ => {
                let size = asked.iter().try_fold(1usize, |product, question| {
                    let product = product.checked_mul(question.answers.len())?;
                    (product <= MAX_SYMBOLS).then_some(product)
                });
                let Some(size) = size else { return Err(PlanError::TooLarge { item: at }) };
                if Alphabet::indices(size).ok().as_ref() != Some(first.inputs()) {
                    return Err(PlanError::Combined { item: at, expected: size });
                }
            }
        }
        if let Some(fresh) = item.fresh {
            let fresh = policy("fresh", fresh)?;
            if first.shape().releases_bits() || fresh.inputs() != first.outputs() {
                return Err(PlanError::Fresh { item: at });
            }
        }
        Ok(())
    }

    /// Every question is asked and every policy is used.
    fn check_use(&self) -> Result<(), PlanError> {
        let mut asked = vec![false; self.questions.len()];
        let mut used = vec![false; self.policies.len()];
        for item in &self.items {
            item.questions.iter().for_each(|&question| asked[question as usize] = true);
            used[item.policy as usize] = true;
            if let Some(fresh) = item.fresh {
                used[fresh as usize] = true;
            }
        }
        if let Some(at) = asked.iter().position(|asked| !asked) {
            return Err(PlanError::NotAsked { question: self.questions[at].name.clone() });
        }
        let unused = used.iter().position(|used| !used);
        unused.map_or(Ok(()), |policy| Err(PlanError::Unused { policy }))
    }

    fn check_split(&self) -> Result<(), PlanError> {
        let (asked, drawn) = (self.asked as usize, self.drawn().len());
        let fits = if drawn == 0 { asked == 0 } else { asked >= 1 && asked < drawn };
        if fits { Ok(()) } else { Err(PlanError::Asked { asked, drawn }) }
    }
}

/// A verified draft: every policy and every claim about the person was checked in integers.
///
/// ```compile_fail
/// // There is no other constructor.
/// let forged = undertone_core::plan::Plan { draft, policies, ratios, costs, id };
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Plan {
    draft: PlanDraft,
    policies: Vec<Policy>,
    /// The LDP ratio of every item's policy.
    ratios: Vec<Ratio>,
    costs: Vec<Option<Nats>>,
    id: PlanId,
}

/// What everything one person sends tells about the person: LDP of the whole.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Person {
    /// The level; `None` if it has no bound.
    pub ldp: Option<Nats>,
    /// Whether the level is attained, or only a bound on it.
    pub exact: bool,
}

impl Plan {
    /// Reads a plan document and verifies it.
    pub fn from_json(text: &str) -> Result<Self, PlanReadError> {
        Ok(PlanDraft::from_json(text)?.verify().map_err(Box::new)?)
    }

    /// The plan document, with its id.
    pub fn to_json(&self) -> String {
        self.draft.to_json()
    }

    /// The draft that was verified.
    pub fn draft(&self) -> &PlanDraft {
        &self.draft
    }

    /// The parts.
    pub fn parts(&self) -> &PlanParts {
        &self.draft.0
    }

    /// The verified policies.
    pub fn policies(&self) -> &[Policy] {
        &self.policies
    }

    /// The policy that randomises the answer to an item.
    pub fn policy_of(&self, item: usize) -> &Policy {
        &self.policies[self.parts().items[item].policy as usize]
    }

    /// The policy that draws an item's reports: of its kept answer, where reports repeat.
    pub fn reporting_policy(&self, item: usize) -> &Policy {
        let item = &self.parts().items[item];
        &self.policies[item.fresh.unwrap_or(item.policy) as usize]
    }

    /// The plan's identity.
    pub fn id(&self) -> PlanId {
        self.id
    }

    /// The LDP each item costs in one period, however often it is reported; `None` if it has no bound.
    pub fn costs(&self) -> &[Option<Nats>] {
        &self.costs
    }

    /// LDP of everything one person sends.
    pub fn person(&self) -> Person {
        let counted = self.most_telling(|_| true);
        let sum =
            counted.iter().try_fold(0u64, |sum, &item| sum.checked_add(self.costs[item]?.units()));
        let sum = sum.and_then(|sum| sum.checked_mul(u64::from(self.parts().periods)));
        let product = self.whole_ratio().map(Magnitude::ln_up);
        let ldp = match (sum, product) {
            (Some(sum), Some(product)) => Some(product.min(Nats::from_units(sum))),
            // A sum past the largest number.
            (None, product) => product,
            (Some(_), None) => None,
        };
        // What is kept is told in full by no number of reports, only approached.
        let repeats = self.parts().items.iter().any(|item| item.fresh.is_some());
        let rounded = (0..self.parts().items.len()).any(|item| !self.is_exact(item));
        Person { ldp, exact: !repeats && !rounded && !self.overlaps() }
    }

    /// An upper bound on the likelihood ratio of everything one person sends, in all periods.
    pub(crate) fn whole_ratio(&self) -> Option<Magnitude> {
        let product = self.product(&self.most_telling(|_| true))?;
        Some(product.power(self.parts().periods, Round::Up))
    }

    /// The product of some items' LDP ratios, rounded up in their order.
    pub(crate) fn product(&self, items: &[usize]) -> Option<Magnitude> {
        items.iter().try_fold(Magnitude::ONE, |product, &item| {
            Some(product.times(self.ratios[item].magnitude_up()?, Round::Up))
        })
    }

    /// An upper bound on an item's LDP ratio.
    pub(crate) fn ratio_up(&self, item: usize) -> Option<Magnitude> {
        self.ratios[item].magnitude_up()
    }

    /// Of some items, those without a weight and the most telling drawn ones that can be answered together, in order.
    pub(crate) fn most_telling(&self, of: impl Fn(usize) -> bool) -> Vec<usize> {
        let items = &self.parts().items;
        let mut drawn: Vec<usize> =
            (0..items.len()).filter(|&item| items[item].weight > 0 && of(item)).collect();
        // Stable: the first of equals.
        drawn.sort_by(|&a, &b| self.ratios[b].cmp(&self.ratios[a]));
        drawn.truncate(self.parts().asked as usize);
        let everybody = (0..items.len()).filter(|&item| items[item].weight == 0 && of(item));
        drawn.extend(everybody);
        drawn.sort_unstable();
        drawn
    }

    /// Whether the levels of an item's policy are its own: blocks are known between a floor and a ceiling.
    pub(crate) fn is_exact(&self, item: usize) -> bool {
        self.policy_of(item).certificate().input.exact
    }

    /// Whether two items that one person can answer share a question.
    fn overlaps(&self) -> bool {
        let parts = self.parts();
        let mut everybody = vec![false; parts.questions.len()];
        let mut drawn = vec![false; parts.questions.len()];
        for item in &parts.items {
            for &question in &item.questions {
                let question = question as usize;
                let before = match item.weight {
                    0 => everybody[question] || drawn[question],
                    _ => everybody[question] || (drawn[question] && parts.asked > 1),
                };
                if before {
                    return true;
                }
                if item.weight == 0 { everybody[question] = true } else { drawn[question] = true }
            }
        }
        false
    }

    /// The LDP of one report of an item and whether it is exact: of the two channels in a row, where reports are drawn from a
    /// kept answer; else what the item costs.
    pub fn first_report(&self, item: usize) -> (Option<Nats>, bool) {
        let Some(fresh) = self.parts().items[item].fresh else {
            return (self.costs[item], self.is_exact(item));
        };
        let (memo, fresh) = (self.policy_of(item), &self.policies[fresh as usize]);
        match walk::in_a_row(memo.draft().shape(), fresh.draft().shape()) {
            Some((ratio, exact)) => (ratio.ln_up(), exact),
            // Neither channel can tell more than the other lets through.
            None => {
                let levels = [self.costs[item], fresh.ldp()];
                (levels.into_iter().flatten().min(), false)
            }
        }
    }

    /// What everything a person sends tells about a datum; `None` where nothing is assumed about it.
    ///
    /// It is found when it is asked for. The plan's claims share the steps that are taken to be exact, so that no plan takes
    /// long to verify.
    pub fn belief(&self, about: Variable, given: Given) -> Option<Belief> {
        let claims = self.parts().claims.iter();
        let claims = claims.filter(|claim| !matches!(claim, PlanClaim::Person { .. })).count();
        self.belief_among(about, given, claims)
    }

    /// What [`Plan::belief`] finds where so many beliefs share the steps: for whoever shows them all.
    pub fn belief_among(&self, about: Variable, given: Given, beliefs: usize) -> Option<Belief> {
        belief::belief(self, about, given, belief::MAX_STEPS / beliefs.max(1))
    }

    /// The combined symbol of one answer to each question of an item, in the item's order.
    pub fn combine(&self, item: usize, answers: &[Symbol]) -> Option<Symbol> {
        let questions = &self.parts().items[item].questions;
        if questions.len() != answers.len() {
            return None;
        }
        let sizes = questions.iter().map(|&q| self.parts().questions[q as usize].answers.len());
        let index = sizes.zip(answers).try_fold(0usize, |index, (size, answer)| {
            let answer = answer.index() as usize;
            (answer < size).then_some(index * size + answer)
        })?;
        self.policy_of(item).inputs().symbol(index).ok()
    }

    /// One answer to each question of an item, as indices: what a combined symbol's index stands for.
    pub fn separate(&self, item: usize, mut index: usize) -> Vec<usize> {
        let questions = &self.parts().items[item].questions;
        let mut answers = vec![0; questions.len()];
        for (answer, &question) in answers.iter_mut().zip(questions).rev() {
            let size = self.parts().questions[question as usize].answers.len();
            (*answer, index) = (index % size, index / size);
        }
        answers
    }
}
