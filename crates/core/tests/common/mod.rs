//! Slow, independent arithmetic in exact rationals, straight from the definitions, and seeded
//! random channels to hold the kernel against it.
//!
//! Nothing here calls the kernel's own arithmetic: numbers enter as the integers of a draft and
//! leave the kernel as decimal digits.

#![allow(dead_code, clippy::unwrap_used)] // every test binary uses a part of this

use dashu::float::FBig;
use dashu::float::round::mode::HalfEven;
use dashu::integer::{IBig, UBig};
use dashu::rational::RBig;
use rand_chacha::ChaCha12Rng;
use rand_core::{Rng, SeedableRng};
use undertone_core::{
    Alphabet, Bits, Bound, Claim, Context, Delta, Draft, Epsilon, KEEP_ONE, Keep, MASS_ONE, Nats,
    Prior, PriorBox, Priors, Provenance, Ratio, Secret, Shape, Strength, Subject, Table,
    WEIGHT_ONE,
};

pub(crate) type Q = RBig;

/// A leakage ratio; `None` is "without bound".
pub(crate) type Level = Option<Q>;

/// numerator / denominator.
pub(crate) fn ratio(numerator: u64, denominator: u64) -> Q {
    Q::from_parts(IBig::from(numerator), UBig::from(denominator))
}

/// value x 2^-bits.
pub(crate) fn binary(value: u64, bits: usize) -> Q {
    Q::from_parts(IBig::from(value), UBig::ONE << bits)
}

pub(crate) fn odds(epsilon: Epsilon) -> Q {
    let (numerator, denominator) = epsilon.odds();
    ratio(u64::from(numerator), u64::from(denominator))
}

/// What the kernel says, read from its digits.
pub(crate) fn value(ratio: Ratio) -> Level {
    match ratio.to_string().as_str() {
        "unbounded" => None,
        digits => Some(digits.parse().unwrap()),
    }
}

/// Units of 10^-10 as a rational.
pub(crate) fn nats(nats: Nats) -> Q {
    ratio(nats.units(), 10_000_000_000)
}

/// ln to about 200 bits, by the big-number library's own algorithm.
pub(crate) fn ln(x: &Q) -> Q {
    let float: FBig<HalfEven, 2> = x.to_float(240).value();
    Q::try_from(float.ln()).unwrap()
}

/// e^x to about 200 bits.
pub(crate) fn exp(x: &Q) -> Q {
    let float: FBig<HalfEven, 2> = x.to_float(400).value();
    Q::try_from(float.exp()).unwrap()
}

/// Half a unit in the last place of what [`ln`] can be trusted with.
pub(crate) fn doubt() -> Q {
    binary(1, 200)
}

/// w(y|x) from the definition of each shape; for bits all 2^k outputs are listed, bit i of the
/// output's index being the bit of symbol i.
pub(crate) fn rows(shape: &Shape) -> Vec<Vec<Q>> {
    match shape {
        Shape::Table(table) => {
            let row = |masses: &[u64]| masses.iter().map(|&m| binary(m, 48)).collect();
            table.rows().iter().map(|r| row(r.masses())).collect()
        }
        Shape::Keep(keep) => {
            let base: Vec<Q> = keep.base().masses().iter().map(|&m| binary(m, 48)).collect();
            let row = |x: usize| {
                let kept = binary(keep.keep()[x], 40);
                let cell = |y: usize| {
                    let drawn = (Q::ONE - &kept) * &base[y];
                    if x == y { &kept + drawn } else { drawn }
                };
                (0..base.len()).map(cell).collect()
            };
            (0..base.len()).map(row).collect()
        }
        Shape::Bits(bits) => {
            let (own, other) = (binary(bits.own(), 32), binary(bits.other(), 32));
            let cell = |x: usize, y: usize| {
                (0..bits.symbols()).fold(Q::ONE, |product, z| {
                    let set = if z == x { &own } else { &other };
                    if y >> z & 1 == 1 { product * set } else { product * (Q::ONE - set) }
                })
            };
            let row = |x: usize| (0..1 << bits.symbols()).map(|y| cell(x, y)).collect();
            (0..bits.symbols()).map(row).collect()
        }
    }
}

fn weights(prior: &Prior) -> Vec<Q> {
    prior.weights().iter().map(|&w| binary(w, 32)).collect()
}

/// Every vertex of {lower <= p <= upper, sum p = 1}: all coordinates but one at an end.
pub(crate) fn vertices(within: &PriorBox) -> Vec<Vec<Q>> {
    let (lower, upper) = (within.lower(), within.upper());
    let size = lower.len();
    let mut found: Vec<Vec<i128>> = Vec::new();
    for free in 0..size {
        for choice in 0..1u32 << size {
            let mut point: Vec<i128> = (0..size)
                .map(|x| i128::from(if choice >> x & 1 == 1 { upper[x] } else { lower[x] }))
                .collect();
            point[free] = 0;
            point[free] = i128::from(WEIGHT_ONE) - point.iter().sum::<i128>();
            let inside = (i128::from(lower[free])..=i128::from(upper[free])).contains(&point[free]);
            if inside && !found.contains(&point) {
                found.push(point);
            }
        }
    }
    assert!(!found.is_empty(), "a box without a vertex");
    found.iter().map(|p| p.iter().map(|&w| binary(w as u64, 32)).collect()).collect()
}

/// The priors a context stands for; the vertices of a box, where a linear form is extreme.
pub(crate) fn priors(context: &Context) -> Vec<Vec<Q>> {
    match context {
        Context::Unknown => Vec::new(),
        Context::Known(prior) => vec![weights(prior)],
        Context::Each(priors) => priors.as_slice().iter().map(weights).collect(),
        Context::Within(within) => vertices(within),
        Context::Secret(secret) => {
            let p: Vec<Q> = weights(secret.prior());
            let given: Vec<Vec<Q>> = secret.rows().iter().map(weights).collect();
            let size = given[0].len();
            vec![(0..size).map(|x| sum(p.iter().zip(&given).map(|(p, row)| p * &row[x]))).collect()]
        }
    }
}

pub(crate) fn sum(terms: impl Iterator<Item = Q>) -> Q {
    terms.fold(Q::ZERO, |a, b| a + b)
}

/// Σ_x p(x) w(y|x).
pub(crate) fn mixture(p: &[Q], rows: &[Vec<Q>], y: usize) -> Q {
    sum(p.iter().zip(rows).map(|(p, row)| p * &row[y]))
}

/// The channel from the secret, c(y|s) = Σ_x P(x|s) w(y|x), and P(s).
pub(crate) fn pushed(secret: &Secret, rows: &[Vec<Q>]) -> (Vec<Vec<Q>>, Vec<Q>) {
    let push = |row: &Prior| {
        let given = weights(row);
        (0..rows[0].len()).map(|y| mixture(&given, rows, y)).collect()
    };
    (secret.rows().iter().map(push).collect(), weights(secret.prior()))
}

/// The exact leakage by definition. All ratios are at least one: likelihoods are compared with
/// themselves too, and a marginal lies between the extremes of its column.
#[derive(Debug, PartialEq, Clone)]
pub(crate) struct Leakage {
    pub(crate) ldp: Level,
    pub(crate) upper: Option<Level>,
    pub(crate) lower: Option<Level>,
}

fn worsen(worst: &mut Level, numerator: &Q, denominator: &Q) {
    if denominator.is_zero() {
        // 0/0 constrains nothing; anything else over zero has no bound.
        if !numerator.is_zero() {
            *worst = None;
        }
    } else if let Some(seen) = worst
        && *numerator > &*seen * denominator
    {
        *worst = Some(numerator / denominator);
    }
}

pub(crate) fn leakage(rows: &[Vec<Q>], priors: &[Vec<Q>]) -> Leakage {
    let one = || Some(Q::ONE);
    let (mut ldp, mut upper, mut lower) = (one(), one(), one());
    for y in 0..rows[0].len() {
        if rows.iter().all(|row| row[y].is_zero()) {
            continue;
        }
        for a in rows {
            for b in rows {
                worsen(&mut ldp, &a[y], &b[y]);
            }
        }
        for p in priors {
            let marginal = mixture(p, rows, y);
            for row in rows {
                worsen(&mut upper, &row[y], &marginal);
                worsen(&mut lower, &marginal, &row[y]);
            }
        }
    }
    let known = !priors.is_empty();
    Leakage { ldp, upper: known.then_some(upper), lower: known.then_some(lower) }
}

/// What the kernel certifies, in the same terms.
pub(crate) fn certified(strength: &Strength) -> Leakage {
    Leakage {
        ldp: value(strength.ldp.ratio),
        upper: strength.upper.map(|w| value(w.ratio)),
        lower: strength.lower.map(|w| value(w.ratio)),
    }
}

/// Of the input, and of the secret where there is one.
pub(crate) fn exact(shape: &Shape, context: &Context) -> (Leakage, Option<Leakage>) {
    let rows = rows(shape);
    let secret = match context {
        Context::Secret(secret) => {
            let (pushed, prior) = pushed(secret, &rows);
            Some(leakage(&pushed, &[prior]))
        }
        _ => None,
    };
    (leakage(&rows, &priors(context)), secret)
}

fn positive(x: Q) -> Q {
    if x > Q::ZERO { x } else { Q::ZERO }
}

/// The least δ at a bound's odds, conditional convention; for a box the worst marginal is taken
/// output by output.
pub(crate) fn least_delta(bound: &Bound, rows: &[Vec<Q>], context: &[Vec<Q>], is_box: bool) -> Q {
    let outputs = 0..rows[0].len();
    let (lower, upper) = match bound {
        Bound::Ldp(epsilon) => {
            let e = odds(*epsilon);
            let excess =
                |a: &[Q], b: &[Q]| sum(outputs.clone().map(|y| positive(&a[y] - &e * &b[y])));
            let pairs = rows.iter().flat_map(|a| rows.iter().map(move |b| (a, b)));
            return pairs.map(|(a, b)| excess(a, b)).max().unwrap();
        }
        Bound::Lip { lower, upper } => (odds(*lower), odds(*upper)),
        Bound::Di(_) => panic!("identifiability has no delta"),
    };
    let marginals: Vec<Vec<Q>> =
        context.iter().map(|p| outputs.clone().map(|y| mixture(p, rows, y)).collect()).collect();
    let needed = |least: &[Q], greatest: &[Q]| {
        let side = |row: &Vec<Q>| {
            let rise = sum(outputs.clone().map(|y| positive(&row[y] - &upper * &least[y])));
            let fall = sum(outputs.clone().map(|y| positive(&greatest[y] - &lower * &row[y])));
            rise.max(fall)
        };
        rows.iter().map(side).max().unwrap()
    };
    if is_box {
        let least: Vec<Q> = outputs
            .clone()
            .map(|y| marginals.iter().map(|m| &m[y]).min().unwrap().clone())
            .collect();
        let greatest: Vec<Q> = outputs
            .clone()
            .map(|y| marginals.iter().map(|m| &m[y]).max().unwrap().clone())
            .collect();
        needed(&least, &greatest)
    } else {
        marginals.iter().map(|m| needed(m, m)).max().unwrap()
    }
}

/// The least δ of a claim on a shape in a context.
pub(crate) fn delta_of(claim: &Claim, shape: &Shape, context: &Context) -> Q {
    let rows = rows(shape);
    match (claim.about, context) {
        (Subject::Secret, Context::Secret(secret)) => {
            let (pushed, prior) = pushed(secret, &rows);
            least_delta(&claim.bound, &pushed, &[prior], false)
        }
        (Subject::Secret, _) => panic!("no secret"),
        (Subject::Input, _) => least_delta(
            &claim.bound,
            &rows,
            &priors(context),
            matches!(context, Context::Within(_)),
        ),
    }
}

/// The largest posterior odds P(x)w(y|x) : P(x')w(y|x') over all priors, outputs and pairs.
pub(crate) fn identifiability(shape: &Shape, context: &Context) -> Level {
    let rows = rows(shape);
    let mut worst = Some(Q::ONE);
    for p in priors(context) {
        for y in 0..rows[0].len() {
            let joint: Vec<Q> = p.iter().zip(&rows).map(|(p, row)| p * &row[y]).collect();
            for a in &joint {
                for b in &joint {
                    worsen(&mut worst, a, b);
                }
            }
        }
    }
    worst
}

/// Whether a claim is true, by definition.
pub(crate) fn holds(claim: &Claim, shape: &Shape, context: &Context) -> bool {
    if claim.delta != Delta::ZERO {
        return delta_of(claim, shape, context) <= binary(claim.delta.units(), 48);
    }
    let (input, secret) = exact(shape, context);
    let leakage = match claim.about {
        Subject::Input => input,
        Subject::Secret => secret.unwrap(),
    };
    match claim.bound {
        Bound::Di(epsilon) => within(&identifiability(shape, context), epsilon),
        bound => satisfies(&bound, &leakage),
    }
}

fn within(level: &Level, epsilon: Epsilon) -> bool {
    level.as_ref().is_some_and(|level| *level <= odds(epsilon))
}

/// Whether a leakage keeps a pure LDP or LIP bound.
pub(crate) fn satisfies(bound: &Bound, leakage: &Leakage) -> bool {
    match *bound {
        Bound::Ldp(epsilon) => within(&leakage.ldp, epsilon),
        Bound::Lip { lower, upper } => {
            let side = |level: &Option<Level>, epsilon| within(level.as_ref().unwrap(), epsilon);
            side(&leakage.upper, upper) && side(&leakage.lower, lower)
        }
        Bound::Di(_) => panic!("identifiability is not a matter of leakage alone"),
    }
}

/// A draft over bare indices.
pub(crate) fn draft(shape: Shape, context: Context, claims: Vec<Claim>) -> Draft {
    let inputs = Alphabet::indices(shape.inputs()).unwrap();
    let outputs =
        matches!(shape, Shape::Table(_)).then(|| Alphabet::indices(shape.outputs()).unwrap());
    Draft::new(inputs, outputs, shape, context, claims, Provenance::default()).unwrap()
}

pub(crate) fn table(rows: &[&[u64]]) -> Shape {
    Shape::Table(Table::from_masses(rows.iter().map(|row| row.to_vec()).collect()).unwrap())
}

pub(crate) fn prior(weights: &[u64]) -> Prior {
    Prior::new(weights.to_vec()).unwrap()
}

pub(crate) fn level(numerator: u32, denominator: u32) -> Epsilon {
    Epsilon::from_odds(numerator, denominator).unwrap()
}

pub(crate) fn alip(lower: Epsilon, upper: Epsilon) -> Claim {
    Claim { about: Subject::Input, bound: Bound::Lip { lower, upper }, delta: Delta::ZERO }
}

/// A seeded source of channels with many coincidences: zeros, ties, point masses, coarse
/// fractions that sit exactly on simple odds, and rows one unit apart.
pub(crate) struct Random(ChaCha12Rng);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(ChaCha12Rng::seed_from_u64(seed))
    }

    pub(crate) fn rng(&mut self) -> &mut ChaCha12Rng {
        &mut self.0
    }

    /// Below `end`, with a bias too small to matter to a test.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        ((u128::from(self.0.next_u64()) * u128::from(end)) >> 64) as u64
    }

    pub(crate) fn size(&mut self, from: usize, to: usize) -> usize {
        from + self.below((to - from + 1) as u64) as usize
    }

    pub(crate) fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    /// A number of any size below 2^`bits`.
    pub(crate) fn magnitude(&mut self, bits: u64) -> u64 {
        let bits = self.below(bits);
        self.below(1 << bits)
    }

    /// A number up to and including `one`, often at an end or simple.
    pub(crate) fn probability(&mut self, one: u64) -> u64 {
        match self.below(8) {
            0 => 0,
            1 => one,
            2 => 1,
            3 => one - 1,
            4 => one / 16 * self.below(17),
            _ => self.below(one + 1),
        }
    }

    /// `count` numbers that sum to `one`.
    pub(crate) fn parts(&mut self, count: usize, one: u64) -> Vec<u64> {
        let style = self.below(7);
        let coarse = one / 64;
        let raw: Vec<u64> = (0..count)
            .map(|_| match style {
                0 => self.below(1 << 30),
                1 if self.one_in(2) => 0,
                1 => self.below(1 << 30),
                2 => 0,
                3 => 1 << 20,
                4 => 1 << self.below(40),
                _ => self.below(9),
            })
            .collect();
        let total: u128 = raw.iter().map(|&r| u128::from(r)).sum();
        let unit = if style >= 5 { coarse } else { 1 };
        let mut parts: Vec<u64> = if total == 0 {
            vec![0; count]
        } else {
            raw.iter()
                .map(|&r| {
                    let share = u128::from(one / unit) * u128::from(r) / total;
                    share as u64 * unit
                })
                .collect()
        };
        let left = one - parts.iter().sum::<u64>();
        let at = self.below(count as u64) as usize;
        parts[at] += left;
        parts
    }

    /// Another list with the same sum, one move away.
    fn nudged(&mut self, parts: &[u64], most: u64) -> Vec<u64> {
        let mut parts = parts.to_vec();
        let (from, to) = (self.size(0, parts.len() - 1), self.size(0, parts.len() - 1));
        let moved = (1 + self.below(most)).min(parts[from]);
        parts[from] -= moved;
        parts[to] += moved;
        parts
    }

    pub(crate) fn table(&mut self, inputs: usize, outputs: usize) -> Shape {
        let first = self.parts(outputs, MASS_ONE);
        let style = self.below(4);
        // Some columns may be empty for every input.
        let used = if self.one_in(4) { self.size(1, outputs) } else { outputs };
        let mut masses = Vec::new();
        for _ in 0..inputs {
            let row = match style {
                0 => self.nudged(&first, 2),
                1 => self.nudged(&first, MASS_ONE / 8),
                _ => {
                    let mut row = self.parts(used, MASS_ONE);
                    row.resize(outputs, 0);
                    row
                }
            };
            masses.push(row);
        }
        Shape::Table(Table::from_masses(masses).unwrap())
    }

    pub(crate) fn keep(&mut self, symbols: usize) -> Shape {
        let base = self.parts(symbols, MASS_ONE);
        let same = self.probability(KEEP_ONE);
        let style = self.below(4);
        let keep = (0..symbols)
            .map(|_| match style {
                0 => same,
                1 => same.saturating_sub(self.below(3)),
                _ => self.probability(KEEP_ONE),
            })
            .collect();
        Shape::Keep(Keep::new(keep, base).unwrap())
    }

    pub(crate) fn bits(&mut self, symbols: usize) -> Shape {
        let own = self.probability(WEIGHT_ONE);
        let other = match self.below(6) {
            0 => own,
            1 => own.saturating_sub(1),
            2 => WEIGHT_ONE - own,
            _ => self.probability(WEIGHT_ONE),
        };
        Shape::Bits(Bits::new(symbols, own, other).unwrap())
    }

    pub(crate) fn shape(&mut self, most: usize) -> Shape {
        match self.below(3) {
            0 => {
                let (inputs, outputs) = (self.size(1, most), self.size(1, most));
                self.table(inputs, outputs)
            }
            1 => {
                let symbols = self.size(1, most);
                self.keep(symbols)
            }
            _ => {
                let symbols = self.size(1, most);
                self.bits(symbols)
            }
        }
    }

    pub(crate) fn prior(&mut self, size: usize) -> Prior {
        Prior::new(self.parts(size, WEIGHT_ONE)).unwrap()
    }

    pub(crate) fn prior_box(&mut self, size: usize) -> PriorBox {
        let centre = self.parts(size, WEIGHT_ONE);
        let style = self.below(4);
        let (mut lower, mut upper) = (Vec::new(), Vec::new());
        for &p in &centre {
            let radius = match style {
                0 => 0,
                1 => self.below(3),
                2 => WEIGHT_ONE / 10,
                _ => self.probability(WEIGHT_ONE),
            };
            lower.push(p.saturating_sub(radius));
            upper.push(p + if style == 3 { self.probability(WEIGHT_ONE) } else { radius });
        }
        PriorBox::new(lower, upper).unwrap()
    }

    pub(crate) fn secret(&mut self, size: usize) -> Secret {
        let values = self.size(1, 4);
        let rows = (0..values).map(|_| self.prior(size)).collect();
        Secret::new("s".into(), self.prior(values), rows).unwrap()
    }

    /// Kinds 0 to 4 in the order of [`Context`].
    pub(crate) fn context(&mut self, size: usize, kind: u64) -> Context {
        match kind {
            0 => Context::Unknown,
            1 => Context::Known(self.prior(size)),
            2 => {
                let count = self.size(1, 3);
                Context::Each(Priors::new((0..count).map(|_| self.prior(size)).collect()).unwrap())
            }
            3 => Context::Within(self.prior_box(size)),
            _ => Context::Secret(self.secret(size)),
        }
    }

    pub(crate) fn epsilon(&mut self) -> Epsilon {
        match self.below(5) {
            0 => Epsilon::ZERO,
            1 => level(1 + self.below(20) as u32, 1),
            2 => {
                let denominator = 1 + self.below(64) as u32;
                level(denominator + self.below(64) as u32, denominator)
            }
            3 => level(u32::MAX, u32::MAX - self.below(4) as u32),
            _ => {
                let denominator = 1 + self.below(u64::from(u32::MAX / 4)) as u32;
                level(denominator + self.below(3 * u64::from(u32::MAX / 4)) as u32, denominator)
            }
        }
    }

    /// A claim that the shape and context allow.
    pub(crate) fn claim(&mut self, shape: &Shape, context: &Context) -> Claim {
        if matches!(context, Context::Known(_) | Context::Each(_)) && self.one_in(4) {
            let bound = Bound::Di(self.epsilon());
            return Claim { about: Subject::Input, bound, delta: Delta::ZERO };
        }
        let lip = !matches!(context, Context::Unknown) && !self.one_in(3);
        let bound = if lip {
            let (lower, upper) = (self.epsilon(), self.epsilon());
            Bound::Lip { lower: if self.one_in(2) { upper } else { lower }, upper }
        } else {
            Bound::Ldp(self.epsilon())
        };
        let secret = matches!(context, Context::Secret(_)) && self.one_in(2);
        let about = if secret { Subject::Secret } else { Subject::Input };
        let escape = !matches!(shape, Shape::Bits(_)) && self.one_in(3);
        let units = if escape { 1 + self.below(MASS_ONE - 1) } else { 0 };
        Claim { about, bound, delta: Delta::from_units(units).unwrap() }
    }
}
