//! What a channel leaks, by definition: every ratio is formed, nothing is clever.

use super::{Level, Q, binary, odds, value};
use dashu::integer::UBig;
use std::collections::BTreeMap;
use undertone_core::incidence::{Family, Incidence};
use undertone_core::{
    Bound, Claim, Context, Delta, Epsilon, Prior, PriorBox, Secret, Shape, Strength, Subject,
    WEIGHT_ONE,
};

/// w(y|x) from the definition of each shape; for bits all 2^k outputs are listed, bit i of the
/// output's index being the bit of symbol i. Blocks of a kind are taken as equally likely, which they are to 40 bits.
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
        Shape::Incidence(incidence) => {
            (0..incidence.symbols()).map(|x| block_row(incidence, x)).collect()
        }
    }
}

/// The share of the 2^64 indices that lead to each number below `kind`: cell i begins at ⌈i 2^64 / kind⌉.
pub(crate) fn tickets(kind: u64) -> Vec<Q> {
    let edge = |number: u64| (u128::from(number) << 64).div_ceil(u128::from(kind));
    let share = |number: u64| {
        let tickets = edge(number + 1) - edge(number);
        Q::from_parts(tickets.into(), UBig::ONE << 64)
    };
    (0..kind).map(share).collect()
}

/// The law of the block that is released for x, by its number or, for subsets, by its bits.
fn block_row(incidence: &Incidence, x: usize) -> Vec<Q> {
    let coin = binary(incidence.coin(), 48);
    let kinds = [(true, coin.clone()), (false, Q::ONE - coin)];
    let Family::Subsets(subsets) = incidence.family() else {
        let mut row = vec![Q::ZERO; incidence.blocks().unwrap()];
        for (inside, chance) in kinds {
            let each = incidence.replication().unwrap();
            let kind = if inside { each } else { row.len() - each };
            for (number, share) in tickets(kind as u64).into_iter().enumerate() {
                row[incidence.nth(x as u32, inside, number as u32) as usize] += &chance * share;
            }
        }
        return row;
    };
    let others = incidence.symbols() - 1;
    let place = |candidate: usize| candidate + usize::from(candidate >= x);
    let mut row = vec![Q::ZERO; 1 << incidence.symbols()];
    for (inside, chance) in kinds {
        let own = usize::from(inside) << x;
        let mut law = BTreeMap::from([(own, chance)]);
        // Floyd's algorithm, one element after the other.
        for last in others - (subsets.size() - usize::from(inside))..others {
            let mut next: BTreeMap<usize, Q> = BTreeMap::new();
            let shares = tickets(last as u64 + 1);
            for (set, mass) in &law {
                for (candidate, share) in shares.iter().enumerate() {
                    let taken = set >> place(candidate) & 1 == 1;
                    let chosen = place(if taken { last } else { candidate });
                    *next.entry(set | 1 << chosen).or_insert(Q::ZERO) += mass * share;
                }
            }
            law = next;
        }
        law.into_iter().for_each(|(set, mass)| row[set] += mass);
    }
    row
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
