//! Random bytes of the system, fetched before anything is charged.

use core::convert::Infallible;
use rand_core::{TryCryptoRng, TryRng};
use undertone_core::{Family, Plan, Policy, Shape};

/// Bytes of the system's generator, enough for one message. They are fetched in one go, so that a
/// generator that fails does so before the ledger is touched, and are wiped when dropped.
pub(crate) struct SystemBytes {
    bytes: Vec<u8>,
    used: usize,
}

impl SystemBytes {
    /// Enough to draw any token of the policy and a report id.
    pub(crate) fn for_report(policy: &Policy) -> Result<Self, getrandom::Error> {
        Self::new(token_bytes(policy) + 16)
    }

    /// Enough to choose the items of a plan.
    pub(crate) fn for_choice(plan: &Plan) -> Result<Self, getrandom::Error> {
        Self::new(8 * plan.parts().asked as usize)
    }

    /// Enough to draw memos and answers of any items of a plan, and a response's id.
    pub(crate) fn for_response(plan: &Plan, items: &[u32]) -> Result<Self, getrandom::Error> {
        let item = |&item: &u32| {
            let policies = [plan.policy_of(item as usize), plan.reporting_policy(item as usize)];
            policies.map(token_bytes).iter().sum::<usize>()
        };
        Self::new(items.iter().map(item).sum::<usize>() + 16)
    }

    fn new(count: usize) -> Result<Self, getrandom::Error> {
        let mut bytes = vec![0; count];
        getrandom::fill(&mut bytes)?;
        Ok(Self { bytes, used: 0 })
    }
}

/// As many bytes as drawing any token of a policy reads.
fn token_bytes(policy: &Policy) -> usize {
    match policy.draft().shape() {
        Shape::Table(_) => 6,
        Shape::Keep(_) => 11,
        Shape::Bits(bits) => 4 * bits.symbols(),
        Shape::Incidence(incidence) => match incidence.family() {
            Family::Subsets(subsets) => 6 + 8 * subsets.size(),
            Family::Geometry(_) | Family::Listed(_) => 14,
        },
    }
}

impl TryRng for SystemBytes {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        let mut bytes = [0; 4];
        self.try_fill_bytes(&mut bytes)?;
        Ok(u32::from_be_bytes(bytes))
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        let mut bytes = [0; 8];
        self.try_fill_bytes(&mut bytes)?;
        Ok(u64::from_be_bytes(bytes))
    }

    fn try_fill_bytes(&mut self, out: &mut [u8]) -> Result<(), Infallible> {
        let end = self.used + out.len();
        // The constructor counted what the pinned map reads; past it the slice itself stops the program.
        out.copy_from_slice(&self.bytes[self.used..end]);
        self.used = end;
        Ok(())
    }
}

impl TryCryptoRng for SystemBytes {}

impl Drop for SystemBytes {
    fn drop(&mut self) {
        // The token and these bytes together say much about the input.
        self.bytes.fill(0);
        core::hint::black_box(&self.bytes);
    }
}
