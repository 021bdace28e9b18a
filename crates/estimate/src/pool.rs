//! Reports under one policy or several, about the same symbols.

use crate::channel::{Bits, Channel};
use crate::{Error, Tally, reorder};
use undertone_core::{Alphabet, Context, Policy, PolicyId, Ratio, WEIGHT_ONE};

/// Reports to estimate from: one tally per policy, all over one input alphabet.
///
/// Several policies (groups of people, rounds, personal priors) make one estimate if their
/// respondents come from one population; [`Drift`](crate::Drift) tests that. Policies may list the
/// symbols in different orders: they are matched by name, and answers are in the first one's order.
/// Tallies of the same policy are merged.
#[derive(Clone, Debug)]
pub struct Pool {
    inputs: Alphabet,
    groups: Vec<Group>,
}

/// One policy's reports, its symbols in the pool's order.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub(crate) policy: PolicyId,
    pub(crate) channel: Channel,
    pub(crate) context: Context,
    pub(crate) ldp: Ratio,
    pub(crate) lip: Option<Ratio>,
    pub(crate) tally: Tally,
    /// The tally as the policy's reports are, where that is another: in its own order, or by block.
    own: Option<Tally>,
}

impl Pool {
    /// The reports of one policy.
    pub fn new(policy: &Policy, tally: Tally) -> Result<Self, Error> {
        let group = Group::new(policy, tally)?;
        Ok(Self { inputs: policy.draft().inputs().clone(), groups: vec![group] })
    }

    /// One group of another pool.
    pub(crate) fn of(inputs: Alphabet, group: Group) -> Self {
        Self { inputs, groups: vec![group] }
    }

    /// Groups whose channels are all about the same symbols, in the same order.
    pub(crate) fn of_groups(inputs: Alphabet, groups: Vec<Group>) -> Self {
        Self { inputs, groups }
    }

    /// The reports of one more policy.
    pub fn and(mut self, policy: &Policy, tally: Tally) -> Result<Self, Error> {
        let inputs = policy.draft().inputs();
        let order =
            self.inputs.order_in(inputs).ok_or_else(|| Error::alphabet(policy, &self.inputs))?;
        let group = Group::new(policy, tally)?;
        let group = if reorder::moves(&order) { group.reordered(&order)? } else { group };
        match self.groups.binary_search_by_key(&group.policy, |old| old.policy) {
            Ok(at) => self.groups[at].merge(&group)?,
            Err(at) => self.groups.insert(at, group),
        }
        Ok(self)
    }

    /// The symbols all groups were asked about.
    pub fn inputs(&self) -> &Alphabet {
        &self.inputs
    }

    /// How many reports, of all policies.
    pub fn reports(&self) -> u64 {
        self.groups.iter().fold(0, |sum, group| sum.saturating_add(group.tally.reports()))
    }

    /// The policies, in the order of their ids, and their tallies.
    pub fn tallies(&self) -> impl Iterator<Item = (PolicyId, &Tally)> {
        self.groups.iter().map(|group| (group.policy, group.own.as_ref().unwrap_or(&group.tally)))
    }

    pub(crate) fn groups(&self) -> &[Group] {
        &self.groups
    }
}

impl Group {
    fn new(policy: &Policy, tally: Tally) -> Result<Self, Error> {
        tally.check(policy)?;
        Ok(Self::through(policy, Channel::new(policy.draft().shape())?, tally))
    }

    /// Reports that reached us through another channel than the policy's own: one that does more to its answers, or speaks
    /// of a part of them. What the policy promises holds all the more.
    pub(crate) fn through(policy: &Policy, channel: Channel, tally: Tally) -> Self {
        // Blocks are counted by number, and read by symbol.
        let (tally, own) = match channel.bits().and_then(Bits::blocks) {
            Some(blocks) => (tally.by_symbol(blocks), Some(tally)),
            None => (tally, None),
        };
        Self {
            policy: policy.id(),
            channel,
            context: policy.draft().context().clone(),
            ldp: policy.certificate().input.ldp.ratio,
            lip: policy.certificate().input.lip(),
            tally,
            own,
        }
    }

    /// The same policy's reports about other symbols.
    pub(crate) fn about(&self, channel: Channel, context: Context, tally: Tally) -> Self {
        Self { channel, context, tally, own: None, ..self.clone() }
    }

    /// These reports with the symbols in the pool's order.
    fn reordered(self, order: &[usize]) -> Result<Self, Error> {
        let (tally, own) = match self.channel.releases_inputs() {
            true => (self.tally.reordered(order), self.own.or(Some(self.tally))),
            false => (self.tally, None),
        };
        let context = reorder::context(&self.context, order)?;
        Ok(Self { channel: self.channel.reordered(order), context, tally, own, ..self })
    }

    /// Adds the reports of another group of the same policy.
    pub(crate) fn merge(&mut self, other: &Self) -> Result<(), Error> {
        self.tally.merge(&other.tally)?;
        match (&mut self.own, &other.own) {
            (Some(own), Some(others)) => own.merge(others),
            _ => Ok(()),
        }
    }

    /// How many reports, as a float.
    pub(crate) fn reports(&self) -> f64 {
        self.tally.reports() as f64
    }

    /// The share of reports with each output, or with each bit set.
    pub(crate) fn law(&self) -> Vec<f64> {
        self.tally.counts().iter().map(|&count| count as f64 / self.reports()).collect()
    }

    /// The counts of numbered blocks, where that is what reports are.
    pub(crate) fn by_block(&self) -> Option<&Tally> {
        self.own.as_ref().filter(|own| !own.counts_bits())
    }

    /// The one prior of the context, if it has one.
    pub(crate) fn prior(&self) -> Option<Vec<f64>> {
        single_prior(&self.context)
    }
}

/// The prior of the data, where the context assumes exactly one.
pub(crate) fn single_prior(context: &Context) -> Option<Vec<f64>> {
    match context {
        Context::Known(prior) => Some(shares(prior.weights())),
        Context::Secret(secret) => {
            let mut prior = vec![0.0; secret.rows().first().map_or(0, |row| row.len())];
            for (row, weight) in secret.rows().iter().zip(shares(secret.prior().weights())) {
                for (sum, share) in prior.iter_mut().zip(shares(row.weights())) {
                    *sum += weight * share;
                }
            }
            Some(prior)
        }
        Context::Unknown | Context::Each(_) | Context::Within(_) => None,
    }
}

/// Weights in units of 2^-32 as floats, exactly.
pub(crate) fn shares(weights: &[u64]) -> Vec<f64> {
    weights.iter().map(|&weight| weight as f64 / WEIGHT_ONE as f64).collect()
}
