//! From an outline to integers: every group becomes a policy that keeps its level exactly, and equal policies are one.

use std::collections::BTreeMap;

use undertone_core::plan::Item;
use undertone_core::{
    Alphabet, Bits, Claim, Context, Draft, Epsilon, Nats, Policy, Provenance, Shape, WEIGHT_ONE,
};

use super::coins::{Coins, Fresh, subsets};
use super::group::Group;
use super::outline::{Outline, OutlineItem};
use super::target::Question;
use crate::mechanism::staircase;
use crate::quantize::PolicySpec;
use crate::{Channel, Error};

/// The part of a plan that an outline decides.
#[derive(Debug, Clone)]
pub struct Integers {
    /// The items, in the outline's order.
    pub items: Vec<Item>,
    /// How many drawn items a device answers.
    pub asked: u32,
    /// The policies.
    pub policies: Vec<Draft>,
    /// The outline with the coins of the policies' integers, which is what is predicted from.
    pub outline: Outline,
}

/// Units of 10^-10 nats in one nat.
const UNITS: f64 = 1e10;

/// The levels of an outline in nats, so that the whole person's stay within `most`.
fn levels(outline: &Outline, most: Nats) -> Vec<Nats> {
    // Sums of floats that stand for round numbers are taken for them.
    let units = |level: f64| (level * UNITS + 1e-3).floor() as u64;
    let items = &outline.items;
    let mut found: Vec<u64> = items.iter().map(|item| units(item.group.level)).collect();
    loop {
        let of = |drawn: bool| {
            let pairs = items.iter().zip(&found);
            pairs.filter(move |(item, _)| (item.weight > 0) == drawn).map(|(_, units)| *units)
        };
        let mut drawn: Vec<u64> = of(true).collect();
        drawn.sort_unstable_by(|a, b| b.cmp(a));
        let sum = of(false).sum::<u64>() + drawn.iter().take(outline.asked).sum::<u64>();
        let excess = sum.saturating_sub(most.units());
        if excess == 0 {
            return found.into_iter().map(Nats::from_units).collect();
        }
        let counted = of(false).count() + outline.asked;
        let less = excess.div_ceil(counted.max(1) as u64);
        found.iter_mut().for_each(|units| *units = units.saturating_sub(less));
    }
}

/// Rounds an outline: the levels sum to at most `most`, and `first` is the part of a memo's level that one report alone may
/// attain.
pub fn ship(
    outline: &Outline,
    questions: &[Question],
    answers: &[Alphabet],
    most: Nats,
) -> Result<Integers, Error> {
    let mut made = Made { policies: Vec::new(), numbers: BTreeMap::new(), cache: Vec::new() };
    let mut items = Vec::with_capacity(outline.items.len());
    let mut shipped = outline.clone();
    for ((item, level), shown) in
        outline.items.iter().zip(levels(outline, most)).zip(&mut shipped.items)
    {
        let (policy, fresh) = made.policies_of(item, level, questions, answers)?;
        let odd = || Error::other("policy", "its integers are not those of the coins asked for");
        let coins = |number: u32| Coins::of(made.policies[number as usize].shape());
        let coins = match fresh {
            None => coins(policy),
            Some(fresh) => coins(policy)
                .zip(coins(fresh))
                .and_then(|(memo, fresh)| memo.with_fresh(fresh, reports(item.group.coins))),
        };
        shown.group = Group { coins: coins.ok_or_else(odd)?, ..item.group.clone() };
        items.push(Item {
            questions: item.group.questions.iter().map(|&at| at as u32).collect(),
            policy,
            fresh,
            weight: item.weight,
        });
    }
    let asked = outline.asked as u32;
    Ok(Integers { items, asked, policies: made.policies, outline: shipped })
}

fn reports(coins: Coins) -> u64 {
    match coins {
        Coins::Memo { reports, .. } => reports as u64,
        _ => 1,
    }
}

/// The policies so far, each once.
struct Made {
    policies: Vec<Draft>,
    numbers: BTreeMap<undertone_core::PolicyId, u32>,
    /// What was asked for before, and the numbers it got.
    cache: Vec<(Asked, (u32, Option<u32>))>,
}

/// What decides a policy.
#[derive(PartialEq)]
struct Asked {
    inputs: Alphabet,
    level: Nats,
    coins: Coins,
}

impl Made {
    fn policies_of(
        &mut self,
        item: &OutlineItem,
        level: Nats,
        questions: &[Question],
        answers: &[Alphabet],
    ) -> Result<(u32, Option<u32>), Error> {
        let inputs = match item.group.questions.as_slice() {
            &[one] => answers[one].clone(),
            _ => Alphabet::indices(item.group.symbols(questions))
                .map_err(|error| Error::other("answers", error.to_string()))?,
        };
        let asked = Asked { inputs, level, coins: item.group.coins };
        if let Some((_, numbers)) = self.cache.iter().find(|(before, _)| *before == asked) {
            return Ok(*numbers);
        }
        let numbers = match asked.coins {
            Coins::Memo { fresh, .. } => {
                let memo = keep(&asked.inputs, level)?;
                let report = report(&asked.inputs, fresh)?;
                (self.number(memo), Some(self.number(report)))
            }
            Coins::Keep { .. } => (self.number(keep(&asked.inputs, level)?), None),
            Coins::Bits { own, .. } => (self.number(bits(&asked.inputs, level, own)?), None),
            Coins::Subset { size, own } => {
                (self.number(sets(&asked.inputs, level, size, own)?), None)
            }
        };
        self.cache.push((asked, numbers));
        Ok(numbers)
    }

    fn number(&mut self, policy: Policy) -> u32 {
        let next = self.policies.len() as u32;
        let number = *self.numbers.entry(policy.id()).or_insert(next);
        if number == next {
            self.policies.push(policy.draft().clone());
        }
        number
    }
}

fn spec(inputs: &Alphabet, level: Nats) -> Result<PolicySpec, Error> {
    let epsilon = Epsilon::at_most(level.min(Epsilon::LARGEST.nats()))
        .map_err(|error| Error::other("the person's level", error.to_string()))?;
    Ok(PolicySpec {
        inputs: inputs.clone(),
        outputs: None,
        context: Context::Unknown,
        claims: vec![Claim::ldp(epsilon)],
        provenance: Provenance::default(),
    })
}

fn keep(inputs: &Alphabet, level: Nats) -> Result<Policy, Error> {
    Ok(staircase::randomized_response(&spec(inputs, level)?)?.policy)
}

/// Bits whose own probability is given and whose others are as far below as the level allows.
fn bits(inputs: &Alphabet, level: Nats, own: f64) -> Result<Policy, Error> {
    let spec = spec(inputs, level)?;
    let own = (own * WEIGHT_ONE as f64).round() as u64;
    let other = own as f64 / (own as f64 + to_float(level).exp() * (WEIGHT_ONE - own) as f64);
    let guess = own.saturating_sub((other * WEIGHT_ONE as f64).ceil() as u64);
    let shape = |below: u64| {
        Bits::new(inputs.len(), own, own - below)
            .map(Shape::Bits)
            .map_err(|error| Error::other("policy", error.to_string()))
    };
    Ok(spec.strongest(guess, own, shape)?.0)
}

/// A table whose outputs are all sets of `size` answers.
fn sets(inputs: &Alphabet, level: Nats, size: usize, own: f64) -> Result<Policy, Error> {
    let symbols = inputs.len();
    let sets = subsets(symbols, size);
    let with = sets.iter().filter(|set| set.contains(&0)).count() as f64;
    let without = sets.len() as f64 - with;
    let row = |x: usize| {
        let mass = |set: &Vec<usize>| {
            if set.contains(&x) { own / with } else { (1.0 - own) / without }
        };
        sets.iter().map(mass).collect()
    };
    let channel = Channel::new((0..symbols).map(row).collect())?;
    let outputs = Alphabet::indices(sets.len());
    let outputs = outputs.map_err(|error| Error::other("outputs", error.to_string()))?;
    let spec = PolicySpec { outputs: Some(outputs), ..spec(inputs, level)? };
    Ok(spec.ship(&channel)?.policy)
}

/// How reports are drawn from a memo: at a level of its own, which is that of a report to somebody who knows nothing of the memo's.
fn report(inputs: &Alphabet, fresh: Fresh) -> Result<Policy, Error> {
    // A hair below, so that one report alone stays at the level asked for.
    let nats = |ratio: f64| Nats::from_units(((ratio.ln() * UNITS).max(20.0) as u64) - 20);
    match fresh {
        Fresh::Keep { own, other } => keep(inputs, nats(own / other)),
        Fresh::Bits { own, other } => {
            bits(inputs, nats(own * (1.0 - other) / (other * (1.0 - own))), own)
        }
    }
}

fn to_float(nats: Nats) -> f64 {
    nats.units() as f64 / UNITS
}
