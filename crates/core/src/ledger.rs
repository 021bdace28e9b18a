//! The budget of one person: what repetition costs, and what cannot be repeated.
//!
//! Attained LDP adds up, also when later policies are chosen after earlier answers were seen, and the sum
//! stays within a budget. Everything released about a datum is one [`Sequence`], which is held against the
//! person's [`Consent`]. LIP, secret and (ε,δ) claims do not add up; once a policy without a finite LDP level is
//! among the releases, the claims of all of them must hold for the whole.

use crate::alphabet::AlphabetError;
use crate::consent::{AboveConsent, Consent};
use crate::mass::{Prior, WEIGHT_ONE};
use crate::nats::Nats;
use crate::policy::{Policy, PolicyId};
use crate::report::Report;
use crate::sample::SampleError;
use crate::sequence::Sequence;
use crate::wide::Wide;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use rand_core::CryptoRng;

/// Leave to randomise one answer under one policy. It is consumed by use and cannot be copied.
#[derive(Debug)]
#[must_use = "the budget has left the ledger"]
pub struct Permit {
    policy: PolicyId,
}

impl Permit {
    pub(crate) fn policy(&self) -> PolicyId {
        self.policy
    }
}

/// What may be done about a request to release a datum.
#[derive(Debug)]
pub enum Decision {
    /// A new answer may be drawn.
    Fresh(Permit),
    /// This policy already answered for this datum: send the remembered answer again, at no cost.
    Repeat,
}

/// One past release of a datum.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Release {
    /// The policy it was drawn under.
    pub policy: PolicyId,
    /// The LDP it attained; `None` if it has no finite level.
    pub cost: Option<Nats>,
}

/// Why nothing may be released.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LedgerError {
    /// The budget would be exceeded.
    #[error(
        "the budget is {budget} nats, {spent} are spent and this release costs {cost}: answer less often or raise the budget"
    )]
    Budget {
        /// The nats spent on the datum so far.
        spent: Nats,
        /// The nats this release would add.
        cost: Nats,
        /// The budget of the datum.
        budget: Nats,
    },
    /// The policy has no input of that name.
    #[error(transparent)]
    Answer(#[from] AlphabetError),
    /// Nothing could be drawn.
    #[error(transparent)]
    Draw(#[from] SampleError),
    /// Everything released about the datum would tell more than the person agreed to.
    #[error(transparent)]
    Consent(#[from] AboveConsent),
    /// One of the releases has no finite LDP level and the claims of all of them together fail or cannot be checked.
    #[error(
        "this datum was already released {}",
        if *checked {
            "under a policy whose promise does not add up, and all releases together break a claim"
        } else {
            "and one of the policies has no finite LDP level: such a policy is used once per datum, unless the earlier policies are at hand and the claims of all hold together"
        }
    )]
    NotComposable {
        /// Whether the claims were checked and one fails (otherwise what is needed was not at hand).
        checked: bool,
    },
}

/// Budgets per datum, all of the same size. Persistence is the client's business.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ledger {
    budget: Nats,
    data: BTreeMap<String, Vec<Release>>,
}

impl Ledger {
    /// An empty ledger with a budget of attained LDP for each datum.
    pub fn new(budget: Nats) -> Self {
        Self { budget, data: BTreeMap::new() }
    }

    /// A ledger as it was stored; a datum may come in several parts.
    pub fn restore(
        budget: Nats,
        releases: impl IntoIterator<Item = (String, Vec<Release>)>,
    ) -> Self {
        let mut data = BTreeMap::<String, Vec<Release>>::new();
        for (datum, past) in releases {
            data.entry(datum).or_default().extend(past);
        }
        Self { budget, data }
    }

    /// The budget of each datum.
    pub fn budget(&self) -> Nats {
        self.budget
    }

    /// Every datum with its releases, to be stored.
    pub fn releases(&self) -> impl Iterator<Item = (&str, &[Release])> {
        self.data.iter().map(|(datum, releases)| (datum.as_str(), releases.as_slice()))
    }

    /// Asks to release `datum` under `policy`. A policy that has answered already is not charged again.
    ///
    /// `past` is what was released about the datum, as far as the device still has it. Where it is not what
    /// this ledger has noted, only the noted costs are relied on.
    pub fn request(
        &mut self,
        datum: &str,
        policy: &Policy,
        past: &Sequence<'_>,
        consent: &Consent,
    ) -> Result<Decision, LedgerError> {
        let known = self.noted(datum).iter().any(|release| release.policy == policy.id());
        if known {
            Ok(Decision::Repeat)
        } else {
            self.spend(datum, policy, past, consent).map(Decision::Fresh)
        }
    }

    /// Answers for `datum` by name: looks the answer up among the policy's inputs, asks for leave as
    /// [`Ledger::request`] does, and randomises. A name that is not there costs nothing. `None` if the policy has
    /// answered for this datum already: that report is to be sent again.
    pub fn answer<R: CryptoRng + ?Sized>(
        &mut self,
        datum: &str,
        policy: &Policy,
        name: &str,
        past: &Sequence<'_>,
        consent: &Consent,
        rng: &mut R,
    ) -> Result<Option<Report>, LedgerError> {
        let answer = policy.inputs().named(name)?;
        Ok(match self.request(datum, policy, past, consent)? {
            Decision::Fresh(permit) => Some(policy.randomize(answer, permit, rng)?),
            Decision::Repeat => None,
        })
    }

    /// Pays for an independent new answer, also under a policy that has answered before.
    pub fn spend(
        &mut self,
        datum: &str,
        policy: &Policy,
        past: &Sequence<'_>,
        consent: &Consent,
    ) -> Result<Permit, LedgerError> {
        let noted = self.noted(datum);
        let (spent, cost) = (self.spent(datum), policy.ldp());
        // A sum too large for a number is above every budget.
        let adds_up = cost.filter(|_| noted.iter().all(|release| release.cost.is_some()));
        if let Some(cost) = adds_up {
            let total = spent.and_then(|spent| spent.checked_add(cost));
            if total.is_none_or(|total| total > self.budget) {
                let spent = spent.unwrap_or(Nats::from_units(u64::MAX));
                return Err(LedgerError::Budget { spent, cost, budget: self.budget });
            }
        }
        let forgotten = || {
            let mut sequence = Sequence::new();
            noted.iter().for_each(|&release| sequence.forgotten(release));
            sequence
        };
        let standing = match past.matches(noted) {
            true => past.after(policy),
            false => forgotten().after(policy),
        };
        if adds_up.is_none() && !noted.is_empty() && standing.claims != Some(true) {
            return Err(LedgerError::NotComposable { checked: standing.claims.is_some() });
        }
        consent.check(&standing)?;
        let release = Release { policy: policy.id(), cost };
        self.data.entry(datum.into()).or_default().push(release);
        Ok(Permit { policy: policy.id() })
    }

    fn noted(&self, datum: &str) -> &[Release] {
        self.data.get(datum).map_or(&[], Vec::as_slice)
    }

    /// The LDP spent on a datum; `None` if a release had no finite level, or the sum is too large for a number.
    pub fn spent(&self, datum: &str) -> Option<Nats> {
        self.noted(datum).iter().try_fold(Nats::ZERO, |sum, release| sum.checked_add(release.cost?))
    }

    /// What the LDP spent on a datum means for belief under a prior: posterior and prior differ by
    /// at most this, ln(p + (1-p)e^spent) with p the lightest symbol (JSTL21 Theorem 1, corrected).
    pub fn lip_consequence(&self, datum: &str, prior: &Prior) -> Option<Nats> {
        let spent = self.spent(datum)?;
        let lightest = prior.weights().iter().copied().min().unwrap_or(0);
        let Some(odds) = spent.exp_up() else { return Some(spent) };
        let one = Wide::power_of_two(120);
        let mixed = Wide::from(lightest) * one + Wide::from(WEIGHT_ONE - lightest) * odds;
        Some(Nats::ln_up(mixed, Wide::from(WEIGHT_ONE) * one).min(spent))
    }
}
