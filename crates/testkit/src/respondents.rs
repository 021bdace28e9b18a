//! People who answer through a policy.

use rand_distr::{Binomial, Distribution as _};
use undertone_core::{Policy, Shape, WEIGHT_ONE};
use undertone_estimate::Tally;

use crate::dice::Dice;
use crate::policy::row;

fn binomial(n: u64, p: f64, dice: &mut Dice) -> u64 {
    if n == 0 || p <= 0.0 { 0 } else { Binomial::new(n, p.min(1.0)).unwrap().sample(dice) }
}

/// How often each of several outcomes occurs in n draws.
pub fn multinomial(n: u64, p: &[f64], dice: &mut Dice) -> Vec<u64> {
    let (mut left, mut mass) = (n, p.iter().sum::<f64>());
    let mut counts = vec![0; p.len()];
    for (count, p) in counts.iter_mut().zip(p) {
        *count = binomial(left, p / mass, dice);
        left -= *count;
        mass -= p;
    }
    *counts.last_mut().unwrap() += left;
    counts
}

/// A policy with what drawing from it needs, worked out once.
#[derive(Debug)]
pub struct Source {
    /// The policy.
    pub policy: Policy,
    rows: Vec<Vec<f64>>,
}

impl Source {
    /// Works out the rows of a policy.
    pub fn new(policy: Policy) -> Self {
        let shape = policy.draft().shape();
        let rows = match shape {
            Shape::Bits(_) => Vec::new(),
            shape => (0..shape.inputs()).map(|x| row(shape, x)).collect(),
        };
        Self { policy, rows }
    }

    /// How many respondents have each symbol, and the tally of their reports.
    pub fn draw(&self, n: u64, p: &[f64], dice: &mut Dice) -> (Vec<u64>, Tally) {
        let people = multinomial(n, p, dice);
        let mut tally = Tally::new(&self.policy);
        if let Shape::Bits(bits) = self.policy.draft().shape() {
            let share = |units: u64| units as f64 / WEIGHT_ONE as f64;
            let (own, other) = (share(bits.own()), share(bits.other()));
            let set: Vec<u64> = people
                .iter()
                .map(|&mine| binomial(mine, own, dice) + binomial(n - mine, other, dice))
                .collect();
            tally.add_bit_counts(n, &set).unwrap();
        } else {
            for (row, &mine) in self.rows.iter().zip(&people) {
                tally.add_counts(&multinomial(mine, row, dice)).unwrap();
            }
        }
        (people, tally)
    }
}
