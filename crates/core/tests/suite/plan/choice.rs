//! The draw of the items, at the edges of its cells.

use super::{plain, verified};
use crate::common::Random;
use rand_core::{TryCryptoRng, TryRng};
use undertone_core::{Law, Plan};

/// Gives out these bytes and no more.
struct Bytes(Vec<u8>);

impl TryRng for Bytes {
    type Error = core::convert::Infallible;
    fn try_next_u32(&mut self) -> Result<u32, Self::Error> {
        panic!("only bytes are read")
    }
    fn try_next_u64(&mut self) -> Result<u64, Self::Error> {
        panic!("only bytes are read")
    }
    fn try_fill_bytes(&mut self, to: &mut [u8]) -> Result<(), Self::Error> {
        let rest = self.0.split_off(to.len());
        to.copy_from_slice(&self.0);
        self.0 = rest;
        Ok(())
    }
}

impl TryCryptoRng for Bytes {}

fn chosen(plan: &Plan, values: &[u64]) -> Vec<u32> {
    let mut bytes = Bytes(values.iter().flat_map(|value| value.to_be_bytes()).collect());
    let choice = plan.choose(&mut bytes);
    assert!(bytes.0.is_empty(), "bytes are left over");
    choice.items().to_vec()
}

fn plan(weights: &[u32], asked: u32) -> Plan {
    let mut random = Random::new(22);
    let shapes = weights.iter().map(|_| random.private(2)).collect();
    let mut parts = plain(shapes, &[], Law::Unknown);
    parts.items.iter_mut().zip(weights).for_each(|(item, &weight)| item.weight = weight);
    parts.asked = asked;
    verified(parts)
}

/// Every cell of the first draw begins and ends where the weights say.
#[test]
fn cells_have_their_weights() {
    let weights = [3u32, 0, 1, 5];
    let plan = plan(&weights, 1);
    let total: u128 = 9;
    let mut sum = 0u128;
    for item in [0usize, 2, 3] {
        // The least v with floor(v total / 2^64) >= sum.
        let first = (sum << 64).div_ceil(total) as u64;
        assert_eq!(chosen(&plan, &[first]), sorted(&[1, item as u32]));
        sum += u128::from(weights[item]);
        let last = ((sum << 64).div_ceil(total) - 1) as u64;
        assert_eq!(chosen(&plan, &[last]), sorted(&[1, item as u32]));
    }
    assert_eq!(chosen(&plan, &[u64::MAX]), [1, 3]);
}

fn sorted(items: &[u32]) -> Vec<u32> {
    let mut items = items.to_vec();
    items.sort_unstable();
    items
}

/// What was drawn is not drawn again, and the weights that are left decide.
#[test]
fn nothing_is_drawn_twice() {
    let plan = plan(&[1, 1, 1, 1], 3);
    assert_eq!(chosen(&plan, &[0, 0, 0]), [0, 1, 2]);
    assert_eq!(chosen(&plan, &[u64::MAX; 3]), [1, 2, 3]);
    // The middle of four, then of three, then of two.
    assert_eq!(chosen(&plan, &[1 << 63, 1 << 63, 1 << 63]), [1, 2, 3]);
}

#[test]
fn a_stored_choice_is_one_the_plan_can_make() {
    let plan = plan(&[3, 0, 1, 5], 2);
    for good in [vec![0, 1, 2], vec![0, 1, 3], vec![1, 2, 3]] {
        assert_eq!(plan.restore_choice(good.clone()).unwrap().items(), good);
    }
    for bad in [
        vec![],
        vec![0, 1],
        vec![0, 2, 3],
        vec![1, 0, 2],
        vec![0, 1, 1],
        vec![1, 2, 9],
        vec![0, 1, 2, 3],
    ] {
        assert!(plan.restore_choice(bad.clone()).is_none(), "{bad:?}");
    }
}
