//! The budget of one person: what repetition costs, and what cannot be repeated.
//!
//! Attained LDP adds up, also when later policies are chosen after earlier answers were seen. LIP,
//! secret and (ε,δ) claims do not add up; a policy that attains no finite LDP level is therefore
//! used once for a datum, and a second, different release is refused unless the exact channel of
//! both together still meets the claims of both.

use crate::certificate::{View, check, with_view};
use crate::claim::Delta;
use crate::likelihood::Dense;
use crate::mass::{Prior, WEIGHT_ONE};
use crate::nats::Nats;
use crate::policy::{Policy, PolicyId};
use crate::wide::Wide;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

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

/// One past release.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Release {
    /// Under which policy.
    pub policy: PolicyId,
    /// Its attained LDP; `None` if it has no finite level.
    pub cost: Option<Nats>,
}

/// Why nothing may be released.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Exhausted {
    /// The budget would be exceeded.
    #[error(
        "the budget is {budget} nats, {spent} are spent and this release costs {cost}: answer less often or raise the budget"
    )]
    Budget {
        /// Spent so far.
        spent: Nats,
        /// What this release would add.
        cost: Nats,
        /// The budget.
        budget: Nats,
    },
    /// One of the releases has no finite LDP level and the two together were not, or could not be,
    /// verified.
    #[error("{}", not_composable(*checked))]
    NotComposable {
        /// Whether the joint channel was checked and failed a claim (otherwise it was not available).
        checked: bool,
    },
}

fn not_composable(checked: bool) -> &'static str {
    if checked {
        "this datum was already released under a policy whose promise does not add up, and both releases together break a claim"
    } else {
        "this datum was already released and one of the policies has no finite LDP level: such a policy is used once per datum, unless the earlier policy is at hand and both together verify"
    }
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
    /// `earlier` is the policy of the one previous release, where the device still has it; it is
    /// needed only when one of the two attains no finite LDP level.
    pub fn request(
        &mut self,
        datum: &str,
        policy: &Policy,
        earlier: Option<&Policy>,
    ) -> Result<Decision, Exhausted> {
        let known = self.data.get(datum).is_some_and(|r| r.iter().any(|r| r.policy == policy.id()));
        if known {
            Ok(Decision::Repeat)
        } else {
            self.spend(datum, policy, earlier).map(Decision::Fresh)
        }
    }

    /// Pays for an independent new answer, also under a policy that has answered before.
    pub fn spend(
        &mut self,
        datum: &str,
        policy: &Policy,
        earlier: Option<&Policy>,
    ) -> Result<Permit, Exhausted> {
        let cost = policy.certificate().input.ldp.ratio.ln_up();
        let past = self.data.get(datum).map_or(&[][..], Vec::as_slice);
        let spent = past.iter().try_fold(Nats::ZERO, |sum, r| sum.checked_add(r.cost?));
        match (spent, cost) {
            (Some(spent), Some(cost)) => {
                let total = spent.checked_add(cost);
                if total.is_none_or(|total| total > self.budget) {
                    return Err(Exhausted::Budget { spent, cost, budget: self.budget });
                }
            }
            _ if past.is_empty() => {}
            _ => {
                let earlier = earlier.filter(|e| past.len() == 1 && past[0].policy == e.id());
                match earlier.map(|earlier| verify_together(earlier, policy)) {
                    Some(Some(true)) => {}
                    Some(Some(false)) => return Err(Exhausted::NotComposable { checked: true }),
                    _ => return Err(Exhausted::NotComposable { checked: false }),
                }
            }
        }
        let release = Release { policy: policy.id(), cost };
        self.data.entry(datum.into()).or_default().push(release);
        Ok(Permit { policy: policy.id() })
    }

    /// The LDP spent on a datum; `None` if a release had no finite level.
    pub fn spent(&self, datum: &str) -> Option<Nats> {
        let past = self.data.get(datum).map_or(&[][..], Vec::as_slice);
        past.iter().try_fold(Nats::ZERO, |sum, r| sum.checked_add(r.cost?))
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

/// The largest joint table that is checked.
const MAX_JOINT_CELLS: usize = 1 << 22;

/// Whether both policies' claims hold for their two releases together; `None` if that cannot be
/// checked here (only tables can be joined exactly, and only up to a size).
///
/// A pure claim is an inequality per pair of outputs, so it also holds when the second policy was
/// chosen after the first answer. A δ is a sum over outputs and does not survive such a choice
/// (two candidates that each need .0204 with the first need .0336 when chosen by its answer).
fn verify_together(earlier: &Policy, policy: &Policy) -> Option<bool> {
    let claims = earlier.draft().claims().iter().chain(policy.draft().claims());
    if claims.into_iter().any(|claim| claim.delta != Delta::ZERO) {
        return None;
    }
    with_view(earlier.draft().shape(), |a| {
        with_view(policy.draft().shape(), |b| {
            let (View::Listed(a), View::Listed(b)) = (a, b) else { return None };
            let cells = a.inputs().saturating_mul(a.outputs()).saturating_mul(b.outputs());
            if a.inputs() != b.inputs() || a.unit() + b.unit() > 96 || cells > MAX_JOINT_CELLS {
                return None;
            }
            let joint = Dense::pair(a, b);
            let holds = |policy: &Policy| {
                let draft = policy.draft();
                check(&View::Listed(&joint), None, draft.context(), draft.claims()).is_ok()
            };
            Some(holds(earlier) && holds(policy))
        })
    })
}
