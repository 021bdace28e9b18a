//! The document of a search for frequent values: what devices and the collector agree on.

use serde::{Deserialize, Serialize};
use undertone_core::plan::{Item, Law, Plan, PlanClaim, PlanDraft, PlanId, PlanParts, Question};
use undertone_core::{Alphabet, Nats, Object, Policy, Provenance, Symbol};

use super::hash::{hashed, seed_bits};
use super::support::Support;
use super::values::{NoCode, OpenValues};
use crate::document;
use crate::{Error, ErrorCode};

/// Equal seeds of this many bits are one report: of ten million reports two have the same with chance 10^-10.
const TELLING_BITS: usize = 80;

/// How one person's value becomes one report: which prefix of its code each round asks for, and the kernel's plan that draws
/// the round and randomises the hash of the prefix.
///
/// A round is an item of the plan, of which a device draws one, whatever its value. So everything a person sends costs what
/// one report costs, and the people of two rounds are different people.
#[derive(Debug, Clone)]
pub struct HittersPlan {
    values: OpenValues,
    longer: Longer,
    /// The bits of the code that each round asks for.
    prefixes: Vec<usize>,
    plan: Plan,
    support: Support,
}

/// What happens to a value that is longer than the codes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Longer {
    /// It is refused.
    #[default]
    Refuse,
    /// Its beginning is reported.
    Cut,
}

impl Longer {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Refuse => "refuse",
            Self::Cut => "cut",
        }
    }
}

impl std::str::FromStr for Longer {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let all = [Self::Refuse, Self::Cut];
        all.into_iter()
            .find(|one| one.word() == text)
            .ok_or_else(|| Error::field("longer", format!("is {text:?}: give refuse or cut")))
    }
}

const NAME: &str = "hitters/1";
const EXPECTED: &str = "a plan for frequent values, as `undertone hitters design` writes it";

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawHitters {
    undertone: String,
    values: String,
    longer: Longer,
    prefixes: Vec<usize>,
    plan: serde_json::Value,
}

impl HittersPlan {
    /// The fewest rounds: one that finds candidates and one that tests them on other people.
    pub const FEWEST_ROUNDS: usize = 2;
    /// The most rounds.
    pub const MOST_ROUNDS: usize = 255;
    /// The most bits by which a round's prefix is longer than the one before: all its ways to go on are examined.
    pub const MOST_STEP: usize = 20;

    /// A plan whose rounds ask for prefixes of so many bits, each drawn with its weight, and randomise hashes by one policy.
    pub fn new(
        values: OpenValues,
        longer: Longer,
        prefixes: Vec<usize>,
        weights: &[u32],
        policy: &Policy,
        ldp: Nats,
    ) -> Result<Self, Error> {
        check_prefixes(&values, &prefixes)?;
        let support = Support::of(policy)?;
        let round = |at: usize| {
            let (name, wording) = question(&values, longer, &prefixes, &support, at);
            Ok(Question { name, wording, answers: policy.inputs().clone() })
        };
        let questions = (0..prefixes.len()).map(round).collect::<Result<_, Error>>()?;
        let item = |(at, &weight)| Item { questions: vec![at], policy: 0, fresh: None, weight };
        let parts = PlanParts {
            questions,
            secrets: Vec::new(),
            law: Law::Unknown,
            items: (0..).zip(weights).map(item).collect(),
            asked: 1,
            periods: 1,
            claims: vec![PlanClaim::Person { ldp }],
            provenance: Provenance::default(),
            policies: vec![policy.draft().clone()],
        };
        let draft = PlanDraft::new(parts).map_err(Error::input)?;
        let refused = |refusal| Error::new(ErrorCode::Refused, refusal);
        let plan = draft.verify().map_err(refused)?;
        Ok(Self { values, longer, prefixes, plan, support })
    }

    /// Reads a document and verifies it: the kernel's plan with its policy and its promise, and that the plan's rounds are those the
    /// document speaks of. Errors begin with the document's name.
    pub fn from_json(name: &str, text: &str) -> Result<Self, Error> {
        let Object::<RawHitters>(raw) = document::json(name, text, EXPECTED)?;
        if raw.undertone != NAME {
            let found = crate::error::shortened_to(40, &raw.undertone);
            let problem = format!("its version is {found:?} where {NAME:?} is read");
            return Err(Error::in_document(name, problem));
        }
        let wrong = |error: Error| Error::in_document(name, error);
        let values: OpenValues = raw.values.parse().map_err(wrong)?;
        check_prefixes(&values, &raw.prefixes).map_err(wrong)?;
        // The plan is written anew to be read, so that a place in it is none in the document.
        let plan = Plan::from_json(&raw.plan.to_string()).map_err(|error| {
            wrong(Error::input(format!("plan: {}", document::unplaced(&error.to_string()))))
        })?;
        let (longer, prefixes) = (raw.longer, raw.prefixes);
        let support = rounds_of(&plan, &values, longer, &prefixes).map_err(wrong)?;
        Ok(Self { values, longer, prefixes, plan, support })
    }

    /// The document.
    pub fn to_json(&self) -> String {
        let raw = RawHitters {
            undertone: NAME.into(),
            values: self.values.to_string(),
            longer: self.longer,
            prefixes: self.prefixes.clone(),
            plan: serde_json::from_str(&self.plan.to_json()).unwrap_or_default(),
        };
        // A plain record of texts and numbers always serialises.
        serde_json::to_string_pretty(&raw).unwrap_or_default() + "\n"
    }

    /// What values are.
    pub fn values(&self) -> &OpenValues {
        &self.values
    }

    /// What happens to a value that is longer than the codes.
    pub fn longer(&self) -> Longer {
        self.longer
    }

    /// The bits of the code that each round asks for.
    pub fn prefixes(&self) -> &[usize] {
        &self.prefixes
    }

    /// The kernel's plan: one of the rounds is drawn, and its policy randomises a hash.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The plan's identity. The rounds' wordings are part of it, so it stands for the whole document.
    pub fn id(&self) -> PlanId {
        self.plan.id()
    }

    /// The policy that randomises hashes.
    pub fn policy(&self) -> &Policy {
        self.plan.policy_of(0)
    }

    /// What its tokens say about values.
    pub fn support(&self) -> &Support {
        &self.support
    }

    /// The part of all people who are in each round.
    pub fn chances(&self) -> Vec<f64> {
        let weights = self.plan.parts().items.iter().map(|item| f64::from(item.weight));
        let total: f64 = weights.clone().sum();
        weights.map(|weight| weight / total).collect()
    }

    /// How many bits the seed of a hash function has: as many as the function needs, and enough for no two reports to have the same
    /// by chance, so that one that is read twice counts once.
    pub fn seed_bits(&self) -> usize {
        seed_bits(self.values.code_bits(), self.support.hash_bits()).max(TELLING_BITS)
    }

    /// How many bytes a seed takes in a report.
    pub fn seed_bytes(&self) -> usize {
        self.seed_bits().div_ceil(8)
    }

    /// What a device randomises in a round: the hash of the prefix of its value's code, by the function of the seed. The seed must be
    /// drawn anew for every report and be independent of the value.
    pub fn symbol(&self, round: usize, seed: &[u8], value: &str) -> Result<Symbol, NoCode> {
        let value = match self.longer {
            Longer::Refuse => value,
            Longer::Cut => self.values.cut(value),
        };
        let code = self.values.code(value)?.prefix(self.prefixes[round]);
        let bits = (self.values.code_bits(), self.support.hash_bits());
        let hash = hashed(seed, &code, bits.0, bits.1) as usize;
        // A hash of k bits is one of the policy's 2^k symbols.
        self.policy().inputs().symbol(hash).map_err(|_| NoCode::TooLarge)
    }
}

/// What a round is called, and what people can read about it. It says all that the kernel's plan does not.
fn question(
    values: &OpenValues,
    longer: Longer,
    prefixes: &[usize],
    support: &Support,
    at: usize,
) -> (String, String) {
    let wording = format!(
        "The first {} of {} bits of your value ({values}, longer values: {}), hashed to {} bits by a Toeplitz matrix of your own",
        prefixes[at],
        values.code_bits(),
        longer.word(),
        support.hash_bits()
    );
    (format!("round {}", at + 1), wording)
}

fn check_prefixes(values: &OpenValues, prefixes: &[usize]) -> Result<(), Error> {
    let wrong = |problem: String| Error::field("prefixes", problem);
    let (fewest, most) = (HittersPlan::FEWEST_ROUNDS, HittersPlan::MOST_ROUNDS);
    if !(fewest..=most).contains(&prefixes.len()) {
        return Err(wrong(format!(": {} rounds: give {fewest} to {most}", prefixes.len())));
    }
    if prefixes.last() != Some(&values.code_bits()) {
        let whole = values.code_bits();
        return Err(wrong(format!(": the last round asks for the whole code, {whole} bits")));
    }
    let mut before = 0;
    for &bits in prefixes {
        let step = bits.saturating_sub(before);
        if step == 0 || step > HittersPlan::MOST_STEP || bits % values.symbol_bits() != 0 {
            return Err(wrong(format!(
                ": {bits} bits after {before}: each is a multiple of {} and 1 to {} above the one before",
                values.symbol_bits(),
                HittersPlan::MOST_STEP
            )));
        }
        before = bits;
    }
    Ok(())
}

/// Whether a plan's items are the rounds of a document, and what its policy's tokens say.
fn rounds_of(
    plan: &Plan,
    values: &OpenValues,
    longer: Longer,
    prefixes: &[usize],
) -> Result<Support, Error> {
    let parts = plan.parts();
    let wrong = |problem: &str| Err(Error::input(format!("plan: {problem}")));
    let drawn = parts.items.iter().all(|item| item.weight > 0 && item.fresh.is_none());
    let in_order = (0..).zip(&parts.items).all(|(at, item)| item.questions == [at]);
    if parts.asked != 1 || parts.periods != 1 || !drawn || !in_order {
        return wrong(
            "a person is in one round, drawn once: every item is a round with a weight, of which one is asked, in one period",
        );
    }
    if parts.questions.len() != prefixes.len() || parts.policies.len() != 1 {
        return wrong("it has one item for every prefix and one policy for all");
    }
    if parts.law != Law::Unknown {
        return wrong("nothing is assumed about values, so it has no law");
    }
    let policy = plan.policy_of(0);
    let support = Support::of(policy)?;
    if Alphabet::indices(1 << support.hash_bits()).as_ref() != Ok(policy.inputs()) {
        return wrong("its policy is over unnamed symbols, which are hashes");
    }
    for (at, asked) in parts.questions.iter().enumerate() {
        let (name, wording) = question(values, longer, prefixes, &support, at);
        if asked.name != name || asked.wording != wording {
            return wrong(
                "its rounds are worded for other values or prefixes than the document has",
            );
        }
    }
    Ok(support)
}
