//! Policies to estimate from, and respondents to draw.

// Every test binary uses a part of this.
#![allow(dead_code, unused_imports, clippy::unwrap_used)]

use rand_chacha::ChaCha12Rng;
use rand_core::SeedableRng;
use rand_distr::{Binomial, Distribution as _};
use undertone_core::{
    Alphabet, Claim, Context, Decimal, Draft, Epsilon, KEEP_ONE, Keep, MASS_ONE, Policy,
    Provenance, Shape, Table, WEIGHT_ONE,
};
use undertone_design::designer::{self, Method, Outcome, Request};
use undertone_design::mechanism::{randomized_response, staircase, unary};
use undertone_design::objective::Objective;
use undertone_design::quantize::{self, Promise, largest_remainder};
use undertone_design::{Channel, Distribution};
use undertone_estimate::{Estimate, Estimator, Pool, Settings, Tally};

pub(crate) fn rng(seed: u64) -> ChaCha12Rng {
    ChaCha12Rng::seed_from_u64(seed)
}

pub(crate) fn epsilon(text: &str) -> Epsilon {
    Epsilon::parse(text).unwrap()
}

fn promise(inputs: Alphabet, prior: Option<&[f64]>, claims: Vec<Claim>) -> Promise {
    let context = prior.map_or(Context::Unknown, |prior| {
        let prior = Distribution::new("prior", prior.to_vec()).unwrap();
        Context::Known(quantize::prior(&prior).unwrap().prior)
    });
    Promise { inputs, outputs: None, context, claims, provenance: Provenance::default() }
}

/// The LIP optimum for a yes/no question.
pub(crate) fn binary(rare: f64, level: &str) -> Policy {
    let prior = [1.0 - rare, rare];
    let inputs = Alphabet::indices(2).unwrap();
    let promise = promise(inputs, Some(&prior), vec![Claim::lip(epsilon(level))]);
    let prior = Distribution::new("prior", prior.to_vec()).unwrap();
    let channel = randomized_response::binary_optimal(&prior, level.parse().unwrap()).unwrap();
    promise.ship(&channel).unwrap().policy
}

/// k-ary randomised response under LDP, with a prior to compare with if one is given.
pub(crate) fn krr(inputs: Alphabet, prior: Option<&[f64]>, level: &str) -> Policy {
    let promise = promise(inputs, prior, vec![Claim::ldp(epsilon(level))]);
    staircase::randomized_response(&promise).unwrap().policy
}

/// Optimised unary encoding under LDP.
pub(crate) fn oue(size: usize, prior: Option<&[f64]>, level: &str) -> Policy {
    let inputs = Alphabet::indices(size).unwrap();
    let promise = promise(inputs, prior, vec![Claim::ldp(epsilon(level))]);
    unary::design(&promise, unary::Encoding::Optimised).unwrap().policy
}

/// The optimal table for estimating frequencies under LIP.
pub(crate) fn optimal(prior: &[f64], level: &str) -> Policy {
    let inputs = Alphabet::indices(prior.len()).unwrap();
    let request = Request {
        promise: promise(inputs, Some(prior), vec![Claim::lip(epsilon(level))]),
        prior: Distribution::new("prior", prior.to_vec()).unwrap(),
        objective: Objective::Frequency,
        method: Method::Optimal,
        accept: false,
    };
    match designer::design(&request).unwrap() {
        Outcome::Shipped(designed) => designed.policy,
        Outcome::Missed(_) => panic!("the optimum is never missed"),
    }
}

/// Any shape, with the weakest claim.
pub(crate) fn loose(inputs: Alphabet, outputs: Option<Alphabet>, shape: Shape) -> Policy {
    assumed(inputs, outputs, shape, Context::Unknown)
}

/// Any shape and context, claiming as little as there is: (22, δ)-LDP.
pub(crate) fn assumed(
    inputs: Alphabet,
    outputs: Option<Alphabet>,
    shape: Shape,
    context: Context,
) -> Policy {
    let delta = match shape {
        Shape::Bits(_) => undertone_core::Delta::ZERO,
        _ => undertone_core::Delta::from_units(MASS_ONE - 1).unwrap(),
    };
    let claim = Claim { delta, ..Claim::ldp(epsilon("22")) };
    Draft::new(inputs, outputs, shape, context, vec![claim], Provenance::default())
        .unwrap()
        .verify()
        .unwrap()
}

/// A table from floats.
pub(crate) fn table(rows: &[Vec<f64>]) -> Shape {
    let rows = rows.iter().map(|row| largest_remainder(row, MASS_ONE)).collect();
    Shape::Table(Table::from_masses(rows).unwrap())
}

/// A keep channel from floats.
pub(crate) fn keep(keep: &[f64], base: &[f64]) -> Shape {
    let keep = keep.iter().map(|k| (k * KEEP_ONE as f64) as u64).collect();
    Shape::Keep(Keep::new(keep, largest_remainder(base, MASS_ONE)).unwrap())
}

pub(crate) fn bins(edges: &[f64]) -> Alphabet {
    let decimal = |value: f64| format!("{value:.6}").parse::<Decimal>().unwrap();
    let middle = |pair: &[f64]| decimal((pair[0] + pair[1]) / 2.0);
    Alphabet::bins(
        edges.iter().map(|&e| decimal(e)).collect(),
        edges.windows(2).map(middle).collect(),
    )
    .unwrap()
}

/// w(y|x) as floats.
pub(crate) fn row(shape: &Shape, x: usize) -> Vec<f64> {
    match shape {
        Shape::Table(table) => {
            table.rows()[x].masses().iter().map(|&m| m as f64 / MASS_ONE as f64).collect()
        }
        Shape::Keep(keep) => {
            let kept = keep.keep()[x] as f64 / KEEP_ONE as f64;
            let base = keep.base().masses().iter();
            let drawn = base.map(|&m| (1.0 - kept) * m as f64 / MASS_ONE as f64);
            drawn.enumerate().map(|(y, d)| if x == y { kept + d } else { d }).collect()
        }
        Shape::Bits(_) => panic!("bits have no rows"),
    }
}

fn binomial(n: u64, p: f64, rng: &mut ChaCha12Rng) -> u64 {
    if n == 0 || p <= 0.0 { 0 } else { Binomial::new(n, p.min(1.0)).unwrap().sample(rng) }
}

pub(crate) fn multinomial(n: u64, p: &[f64], rng: &mut ChaCha12Rng) -> Vec<u64> {
    let (mut left, mut mass) = (n, p.iter().sum::<f64>());
    let mut counts = vec![0; p.len()];
    for (count, p) in counts.iter_mut().zip(p) {
        *count = binomial(left, p / mass, rng);
        left -= *count;
        mass -= p;
    }
    *counts.last_mut().unwrap() += left;
    counts
}

/// A policy with what drawing from it needs, worked out once.
pub(crate) struct Source {
    pub(crate) policy: Policy,
    rows: Vec<Vec<f64>>,
}

impl Source {
    pub(crate) fn new(policy: Policy) -> Self {
        let shape = policy.draft().shape();
        let rows = match shape {
            Shape::Bits(_) => Vec::new(),
            shape => (0..shape.inputs()).map(|x| row(shape, x)).collect(),
        };
        Self { policy, rows }
    }

    /// How many respondents have each symbol, and the tally of their reports.
    pub(crate) fn draw(&self, n: u64, p: &[f64], rng: &mut ChaCha12Rng) -> (Vec<u64>, Tally) {
        let people = multinomial(n, p, rng);
        let mut tally = Tally::new(&self.policy);
        if let Shape::Bits(bits) = self.policy.draft().shape() {
            let share = |units: u64| units as f64 / WEIGHT_ONE as f64;
            let (own, other) = (share(bits.own()), share(bits.other()));
            let set: Vec<u64> = people
                .iter()
                .map(|&mine| binomial(mine, own, rng) + binomial(n - mine, other, rng))
                .collect();
            tally.add_bit_counts(n, &set).unwrap();
        } else {
            for (row, &mine) in self.rows.iter().zip(&people) {
                tally.add_counts(&multinomial(mine, row, rng)).unwrap();
            }
        }
        (people, tally)
    }
}

/// Enough for a coverage of exactly 95 % to have a standard error of 0.69 points.
pub(crate) const REPLICATIONS: usize = 1000;

/// What became of one interval over many surveys.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    /// How often it held its truth.
    pub(crate) share: f64,
    /// Its mean length, in units of 2 · 1.96 standard errors; 0 where there is no standard error.
    pub(crate) width: f64,
}

/// How often each of several intervals holds its truth, over surveys of `n` people per source. `ask`
/// also gets the respondents' own shares.
pub(crate) fn coverage(
    sources: &[(&Source, u64)],
    p: &[f64],
    seed: u64,
    settings: Settings,
    ask: impl Fn(&Estimator, &[f64]) -> Vec<(Estimate, f64)>,
) -> Vec<Held> {
    let mut rng = rng(seed);
    let mut sums: Vec<(usize, f64, f64)> = Vec::new();
    for _ in 0..REPLICATIONS {
        let mut people = vec![0u64; p.len()];
        let mut pool: Option<Pool> = None;
        for (source, n) in sources {
            let (drawn, tally) = source.draw(*n, p, &mut rng);
            people.iter_mut().zip(drawn).for_each(|(sum, more)| *sum += more);
            pool = Some(match pool {
                None => Pool::new(&source.policy, tally).unwrap(),
                Some(pool) => pool.and(&source.policy, tally).unwrap(),
            });
        }
        let total: u64 = people.iter().sum();
        let respondents: Vec<f64> = people.iter().map(|&c| c as f64 / total as f64).collect();
        let estimator = Estimator::new(pool.unwrap(), settings).unwrap();
        let answers = ask(&estimator, &respondents);
        sums.resize(answers.len(), (0, 0.0, 0.0));
        for (sum, (estimate, truth)) in sums.iter_mut().zip(answers) {
            assert!(estimate.low <= estimate.value && estimate.value <= estimate.high);
            sum.0 += usize::from(estimate.covers(truth));
            sum.1 += estimate.high - estimate.low;
            sum.2 += 2.0 * 1.959_964 * estimate.standard_error.unwrap_or(0.0);
        }
    }
    let held = |&(hits, length, normal): &(usize, f64, f64)| Held {
        share: hits as f64 / REPLICATIONS as f64,
        width: if normal > 0.0 { length / normal } else { 0.0 },
    };
    sums.iter().map(held).collect()
}

/// Asserts that nominal 95 % intervals cover at least that, less four standard errors of the simulation (one run in
/// 30,000 of an interval that covers exactly 95 % would fail, and the seeds are fixed), and that they are at most
/// `widest` times as long as the normal law would have them.
#[track_caller]
pub(crate) fn holds(name: &str, found: &[Held], widest: f64) {
    let shares: Vec<f64> = found.iter().map(|held| held.share).collect();
    let widths: Vec<f64> = found.iter().map(|held| held.width).collect();
    eprintln!("{name}: {shares:.4?}, lengths {widths:.2?}");
    for (at, held) in found.iter().enumerate() {
        assert!(held.share >= 0.9224, "{name}, interval {at}: covers {}", held.share);
        assert!(held.width <= widest, "{name}, interval {at}: {} times as long", held.width);
    }
}
