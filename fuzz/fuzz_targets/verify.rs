//! Small channels of every shape, context and claim against floating-point brute force: what the
//! kernel accepts leaks no more than claimed, and what it refuses leaks no less, up to 1e-9.

#![no_main]

use arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use undertone_core::incidence::{Family, Geometry, Incidence, Listed, Subsets};
use undertone_core::{
    Alphabet, Bits, Bound, Claim, Context, Delta, Draft, Epsilon, KEEP_ONE, Keep, MASS_ONE, Prior,
    PriorBox, Priors, Provenance, Secret, Shape, Subject, Table, WEIGHT_ONE,
};

const SLACK: f64 = 1e-9;

type Rows = Vec<Vec<f64>>;

/// `count` integers that sum to `one`: cuts at arbitrary places, sorted.
fn parts(u: &mut Unstructured<'_>, count: usize, one: u64) -> Result<Vec<u64>> {
    let mut cuts = vec![0, one];
    for _ in 1..count {
        // Coarse cuts make ties and zeros likely.
        let cut = if u.ratio(1, 2)? {
            one / 16 * u.int_in_range(0..=16)?
        } else {
            u.int_in_range(0..=one)?
        };
        cuts.push(cut);
    }
    cuts.sort_unstable();
    Ok(cuts.windows(2).map(|pair| pair[1] - pair[0]).collect())
}

fn probability(u: &mut Unstructured<'_>, one: u64) -> Result<u64> {
    if u.ratio(1, 2)? { Ok(one / 8 * u.int_in_range(0..=8)?) } else { u.int_in_range(0..=one) }
}

fn shape(u: &mut Unstructured<'_>) -> Result<Shape> {
    let size = u.int_in_range(1..=4)?;
    Ok(match u.int_in_range(0..=3)? {
        3 => Shape::Incidence(blocks(u, size.max(2))?),
        0 => {
            let outputs = u.int_in_range(1..=4)?;
            let rows = (0..size).map(|_| parts(u, outputs, MASS_ONE)).collect::<Result<_>>()?;
            Shape::Table(Table::from_masses(rows).unwrap())
        }
        1 => {
            let keep = (0..size).map(|_| probability(u, KEEP_ONE)).collect::<Result<_>>()?;
            Shape::Keep(Keep::new(keep, parts(u, size, MASS_ONE)?).unwrap())
        }
        _ => Shape::Bits(
            Bits::new(size, probability(u, WEIGHT_ONE)?, probability(u, WEIGHT_ONE)?).unwrap(),
        ),
    })
}

/// Blocks of a family that has room for the symbols; subsets of one symbol where what was asked for does not exist.
fn blocks(u: &mut Unstructured<'_>, symbols: usize) -> Result<Incidence> {
    let coin = probability(u, MASS_ONE)?;
    let family = match u.int_in_range(0..=3)? {
        0 => Some(Family::Subsets(Subsets::new(u.int_in_range(1..=symbols - 1)?))),
        1 => {
            let [order, dimension] = [u.int_in_range(2..=5)?, u.int_in_range(2..=3)?];
            let [classes, cosets] = [u.int_in_range(1..=order - 1)?, u.int_in_range(0..=order)?];
            let geometry = Geometry::new(order, dimension, classes, cosets, u.arbitrary()?);
            geometry.ok().map(Family::Geometry)
        }
        2 => {
            let geometry = Geometry::hashing(u.int_in_range(2..=5)?, u.int_in_range(1..=2)?);
            geometry.ok().map(Family::Geometry)
        }
        _ => {
            let base = u.int_in_range(1..=(1u32 << symbols) - 2)?;
            let turned = |turn: usize| {
                let inside = |&x: &usize| base >> ((x + turn) % symbols) & 1 == 1;
                (0..symbols).filter(inside).map(|x| x as u32).collect()
            };
            let lists: Vec<Vec<u32>> = (0..symbols).map(turned).collect();
            Listed::new(symbols, &lists).ok().map(Family::Listed)
        }
    };
    let found = family.and_then(|family| Incidence::new(symbols, coin, family).ok());
    let single = || Incidence::new(symbols, coin, Family::Subsets(Subsets::new(1))).unwrap();
    Ok(found.unwrap_or_else(single))
}

fn prior(u: &mut Unstructured<'_>, size: usize) -> Result<Prior> {
    Ok(Prior::new(parts(u, size, WEIGHT_ONE)?).unwrap())
}

fn context(u: &mut Unstructured<'_>, size: usize) -> Result<Context> {
    Ok(match u.int_in_range(0..=4)? {
        0 => Context::Unknown,
        1 => Context::Known(prior(u, size)?),
        2 => {
            let count = u.int_in_range(1..=3)?;
            let list = (0..count).map(|_| prior(u, size)).collect::<Result<_>>()?;
            Context::Each(Priors::new(list).unwrap())
        }
        3 => {
            let centre = parts(u, size, WEIGHT_ONE)?;
            let lower = centre.iter().map(|&p| u.int_in_range(0..=p)).collect::<Result<_>>()?;
            let upper =
                centre.iter().map(|&p| u.int_in_range(p..=WEIGHT_ONE)).collect::<Result<_>>()?;
            Context::Within(PriorBox::new(lower, upper).unwrap())
        }
        _ => {
            let values = u.int_in_range(1..=3)?;
            let rows = (0..values).map(|_| prior(u, size)).collect::<Result<_>>()?;
            Context::Secret(Secret::new("s".into(), prior(u, values)?, rows).unwrap())
        }
    })
}

fn claim(u: &mut Unstructured<'_>) -> Result<Claim> {
    let level = |u: &mut Unstructured<'_>| {
        let denominator = u.int_in_range(1..=1 << 16)?;
        Ok(Epsilon::from_odds(u.int_in_range(denominator..=u32::MAX)?, denominator).unwrap())
    };
    let bound = match u.int_in_range(0..=2)? {
        0 => Bound::Ldp(level(u)?),
        1 => Bound::Lip { lower: level(u)?, upper: level(u)? },
        _ => Bound::Di(level(u)?),
    };
    let about = if u.ratio(1, 3)? { Subject::Secret } else { Subject::Input };
    let units = if u.ratio(1, 3)? { u.int_in_range(0..=MASS_ONE - 1)? } else { 0 };
    Ok(Claim { about, bound, delta: Delta::from_units(units).unwrap() })
}

fn rows(shape: &Shape) -> Rows {
    let unit = |value: u64, one: u64| value as f64 / one as f64;
    match shape {
        Shape::Table(table) => table
            .rows()
            .iter()
            .map(|row| row.masses().iter().map(|&m| unit(m, MASS_ONE)).collect())
            .collect(),
        Shape::Keep(keep) => (0..keep.keep().len())
            .map(|x| {
                let kept = unit(keep.keep()[x], KEEP_ONE);
                let rest = unit(KEEP_ONE - keep.keep()[x], KEEP_ONE);
                let base = keep.base().masses().iter().enumerate();
                base.map(|(y, &m)| rest * unit(m, MASS_ONE) + if x == y { kept } else { 0.0 })
                    .collect()
            })
            .collect(),
        Shape::Bits(bits) => {
            let chance = |x: usize, z: usize, set: bool| {
                let one = if x == z { bits.own() } else { bits.other() };
                unit(if set { one } else { WEIGHT_ONE - one }, WEIGHT_ONE)
            };
            let k = bits.symbols();
            let cell = |x: usize, y: usize| (0..k).map(|z| chance(x, z, y >> z & 1 == 1)).product();
            (0..k).map(|x| (0..1 << k).map(|y| cell(x, y)).collect()).collect()
        }
        Shape::Incidence(incidence) => {
            let k = incidence.symbols();
            let blocks: Vec<usize> = match incidence.family() {
                Family::Subsets(subsets) => {
                    (0..1usize << k).filter(|y| y.count_ones() as usize == subsets.size()).collect()
                }
                Family::Geometry(_) | Family::Listed(_) => {
                    (0..incidence.blocks().unwrap_or(0)).collect()
                }
            };
            let contains = |y: usize, x: usize| match incidence.releases_bits() {
                true => y >> x & 1 == 1,
                false => incidence.contains(y as u32, x as u32),
            };
            // Blocks of a kind are equally likely but for one part in 2^58.
            let each = blocks.iter().filter(|&&y| contains(y, 0)).count();
            let coin = unit(incidence.coin(), MASS_ONE);
            let rest = unit(MASS_ONE - incidence.coin(), MASS_ONE);
            let cell = |x: usize, y: usize| match contains(y, x) {
                true => coin / each as f64,
                false => rest / (blocks.len() - each) as f64,
            };
            (0..k).map(|x| blocks.iter().map(|&y| cell(x, y)).collect()).collect()
        }
    }
}

fn weights(prior: &Prior) -> Vec<f64> {
    prior.weights().iter().map(|&w| w as f64 / WEIGHT_ONE as f64).collect()
}

/// The priors of a context; of a box, its vertices.
fn priors(context: &Context) -> Rows {
    match context {
        Context::Unknown => Vec::new(),
        Context::Known(prior) => vec![weights(prior)],
        Context::Each(list) => list.as_slice().iter().map(weights).collect(),
        Context::Within(within) => {
            let (lower, upper) = (within.lower(), within.upper());
            let size = lower.len();
            let mut found = Vec::new();
            for free in 0..size {
                for choice in 0..1usize << size {
                    let end = |x: usize| if choice >> x & 1 == 1 { upper[x] } else { lower[x] };
                    let others: u64 = (0..size).filter(|&x| x != free).map(end).sum();
                    let Some(left) = WEIGHT_ONE.checked_sub(others) else { continue };
                    if (lower[free]..=upper[free]).contains(&left) {
                        let point = |x| if x == free { left } else { end(x) };
                        found
                            .push((0..size).map(|x| point(x) as f64 / WEIGHT_ONE as f64).collect());
                    }
                }
            }
            found
        }
        Context::Secret(secret) => vec![mix(&weights(secret.prior()), &given(secret))],
    }
}

fn given(secret: &Secret) -> Rows {
    secret.rows().iter().map(weights).collect()
}

fn mix(p: &[f64], rows: &[Vec<f64>]) -> Vec<f64> {
    (0..rows[0].len()).map(|y| p.iter().zip(rows).map(|(p, row)| p * row[y]).sum()).collect()
}

/// ln(a/b), with 0/0 no constraint.
fn gap(a: f64, b: f64) -> f64 {
    if a == 0.0 { 0.0 } else { (a / b).ln() }
}

/// How far a claim is missed: positive when it is false. Pure claims in nats, others in
/// probability.
fn miss(claim: &Claim, draft: &Draft) -> f64 {
    let mut rows = rows(draft.shape());
    let mut marginals: Rows = priors(draft.context()).iter().map(|p| mix(p, &rows)).collect();
    if let (Subject::Secret, Context::Secret(secret)) = (claim.about, draft.context()) {
        rows = given(secret).iter().map(|row| mix(row, &rows)).collect();
        marginals = vec![mix(&weights(secret.prior()), &rows)];
    }
    let outputs = 0..rows[0].len();
    let odds = |epsilon: Epsilon| f64::from(epsilon.odds().0) / f64::from(epsilon.odds().1);
    let pairs = || rows.iter().flat_map(|a| rows.iter().map(move |b| (a, b)));
    let most = |values: &mut dyn Iterator<Item = f64>| values.fold(0.0, f64::max);
    let delta = claim.delta.units() as f64 / MASS_ONE as f64;
    match claim.bound {
        Bound::Ldp(epsilon) if delta == 0.0 => {
            let columns = pairs().flat_map(|(a, b)| a.iter().zip(b).map(|(&a, &b)| gap(a, b)));
            most(&mut columns.into_iter()) - odds(epsilon).ln()
        }
        Bound::Ldp(epsilon) => {
            let e = odds(epsilon);
            let excess = |(a, b): (&Vec<f64>, &Vec<f64>)| -> f64 {
                a.iter().zip(b).map(|(a, b)| (a - e * b).max(0.0)).sum()
            };
            most(&mut pairs().map(excess)) - delta
        }
        Bound::Lip { lower, upper } if delta == 0.0 => {
            let cells = || marginals.iter().flat_map(|m| rows.iter().map(move |row| (m, row)));
            let rise = cells().flat_map(|(m, row)| row.iter().zip(m).map(|(&w, &m)| gap(w, m)));
            let fall = cells().flat_map(|(m, row)| row.iter().zip(m).map(|(&w, &m)| gap(m, w)));
            let rise = most(&mut rise.into_iter()) - odds(upper).ln();
            rise.max(most(&mut fall.into_iter()) - odds(lower).ln())
        }
        Bound::Lip { lower, upper } => {
            let (up, low) = (odds(upper), odds(lower));
            let sides: Vec<(Vec<f64>, Vec<f64>)> = match draft.context() {
                Context::Within(_) => {
                    let end = |f: fn(f64, f64) -> f64, from: f64| {
                        outputs
                            .clone()
                            .map(|y| marginals.iter().map(|m| m[y]).fold(from, f))
                            .collect()
                    };
                    vec![(end(f64::min, f64::INFINITY), end(f64::max, 0.0))]
                }
                _ => marginals.iter().map(|m| (m.clone(), m.clone())).collect(),
            };
            let needed = |(least, greatest): &(Vec<f64>, Vec<f64>), row: &Vec<f64>| {
                let rise: f64 = row.iter().zip(least).map(|(w, m)| (w - up * m).max(0.0)).sum();
                let fall: f64 = row.iter().zip(greatest).map(|(w, m)| (m - low * w).max(0.0)).sum();
                rise.max(fall)
            };
            let each = sides.iter().flat_map(|side| rows.iter().map(move |row| needed(side, row)));
            most(&mut each.into_iter()) - delta
        }
        Bound::Di(epsilon) => {
            let joint = |p: &Vec<f64>, y: usize| -> Vec<f64> {
                p.iter().zip(&rows).map(|(p, row)| p * row[y]).collect()
            };
            let mut worst = 0f64;
            for p in priors(draft.context()) {
                for y in outputs.clone() {
                    let joint = joint(&p, y);
                    for &a in &joint {
                        worst = joint.iter().fold(worst, |worst, &b| worst.max(gap(a, b)));
                    }
                }
            }
            worst - odds(epsilon).ln()
        }
    }
}

/// Claims that are held against a bound: subsets in a box of priors, odds between symbols that a list does not part, and coins of
/// so few units that their rounding shows.
fn is_bound(claim: &Claim, draft: &Draft) -> bool {
    let Shape::Incidence(incidence) = draft.shape() else { return false };
    let coarse = incidence.coin().min(MASS_ONE - incidence.coin()) < 1 << 12;
    match incidence.family() {
        Family::Subsets(_) => coarse || matches!(draft.context(), Context::Within(_)),
        Family::Geometry(_) => false,
        Family::Listed(_) => matches!(claim.bound, Bound::Di(_)),
    }
}

fn run(u: &mut Unstructured<'_>) -> Result<()> {
    let shape = shape(u)?;
    let context = context(u, shape.inputs())?;
    let count = u.int_in_range(1..=3)?;
    let claims: Vec<Claim> = (0..count).map(|_| claim(u)).collect::<Result<_>>()?;
    let inputs = Alphabet::indices(shape.inputs()).unwrap();
    let outputs =
        matches!(shape, Shape::Table(_)).then(|| Alphabet::indices(shape.outputs()).unwrap());
    let Ok(draft) = Draft::new(inputs, outputs, shape, context, claims, Provenance::default())
    else {
        return Ok(());
    };
    assert_eq!(Draft::from_bytes(&draft.to_bytes()).as_ref(), Ok(&draft));
    match draft.clone().verify() {
        Ok(policy) => {
            for claim in policy.draft().claims() {
                assert!(miss(claim, &draft) <= SLACK, "{claim} is false of {draft:?}");
            }
        }
        Err(refusal) => {
            assert!(refusal.attained > refusal.allowed);
            assert_eq!(refusal.claim, draft.claims()[refusal.index]);
            let claim = &refusal.claim;
            assert!(
                miss(claim, &draft) >= -SLACK || is_bound(claim, &draft),
                "{claim} is true of {draft:?}"
            );
            assert!(!refusal.to_string().is_empty());
        }
    }
    Ok(())
}

fuzz_target!(|bytes: &[u8]| {
    let _ = run(&mut Unstructured::new(bytes));
});
