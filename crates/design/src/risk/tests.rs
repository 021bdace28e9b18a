#![allow(clippy::unwrap_used)]

use super::*;
use crate::{Channel, Distribution};
use rand_chacha::ChaCha12Rng;
use rand_core::{Rng, SeedableRng};
use undertone_core::{
    Alphabet, Bits, Claim, Epsilon, KEEP_ONE, Keep, MASS_ONE, Priors, Provenance, Secret, Table,
};

fn unit(rng: &mut ChaCha12Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

/// A random distribution in integers, sometimes with a zero.
fn parts(rng: &mut ChaCha12Rng, n: usize, one: u64) -> Vec<u64> {
    let draw =
        |rng: &mut ChaCha12Rng| if unit(rng) < 0.08 { 0.0 } else { -unit(rng).max(1e-9).ln() };
    let mut p: Vec<f64> = (0..n).map(|_| draw(rng)).collect();
    p[0] = p[0].max(0.01);
    let p = Distribution::normalised("p", p).unwrap();
    crate::quantize::largest_remainder(p.as_slice(), one)
}

fn prior(rng: &mut ChaCha12Rng, n: usize) -> Prior {
    Prior::new(parts(rng, n, WEIGHT_ONE)).unwrap()
}

fn shape(rng: &mut ChaCha12Rng, n: usize, kind: u64) -> Shape {
    match kind % 3 {
        0 => Shape::Table(
            Table::from_masses((0..n).map(|_| parts(rng, n + 1, MASS_ONE)).collect()).unwrap(),
        ),
        1 => {
            let keep = (0..n).map(|_| (unit(rng) * KEEP_ONE as f64) as u64).collect();
            Shape::Keep(Keep::new(keep, parts(rng, n, MASS_ONE)).unwrap())
        }
        _ => {
            let mut p = || (unit(rng) * WEIGHT_ONE as f64) as u64;
            Shape::Bits(Bits::new(n, p(), p()).unwrap())
        }
    }
}

fn draft(shape: Shape, context: Context) -> Draft {
    let inputs = Alphabet::indices(shape.inputs()).unwrap();
    let outputs = match &shape {
        Shape::Table(table) => Some(Alphabet::indices(table.outputs()).unwrap()),
        _ => None,
    };
    let claims = vec![Claim::ldp(Epsilon::LARGEST)];
    Draft::new(inputs, outputs, shape, context, claims, Provenance::default()).unwrap()
}

/// The range of posteriors, by listing every output.
fn brute(prior: &[f64], channel: &Channel) -> Vec<(f64, f64)> {
    let mut ranges = vec![(1.0f64, 0.0f64); prior.len()];
    for y in 0..channel.outputs() {
        let total: f64 = prior.iter().zip(channel.column(y)).map(|(p, q)| p * q).sum();
        if total > 0.0 {
            for (x, range) in ranges.iter_mut().enumerate() {
                let posterior = prior[x] * channel.q(x, y) / total;
                *range = (range.0.min(posterior), range.1.max(posterior));
            }
        }
    }
    ranges
}

fn fractions(prior: &Prior) -> Vec<f64> {
    prior.weights().iter().map(|&w| w as f64 / WEIGHT_ONE as f64).collect()
}

fn assert_tight(beliefs: &Beliefs, expected: &[(f64, f64)], what: &str) {
    for (belief, &(least, most)) in beliefs.list.iter().zip(expected) {
        let close = |bound: f64, value: f64| (bound - value).abs() <= 1e-12 + 1e-11 * value;
        assert!(belief.least <= least + 1e-15 && belief.most >= most - 1e-15, "{what}: {belief:?}");
        assert!(
            close(belief.least, least) && close(belief.most, most),
            "{what}: {belief:?} {least} {most}"
        );
    }
}

#[test]
fn every_shape_agrees_with_listing_its_outputs() {
    let mut rng = ChaCha12Rng::seed_from_u64(11);
    for round in 0..300u64 {
        let n = 2 + (round % 5) as usize;
        let shape = shape(&mut rng, n, round);
        let channel = to_floats::channel(&shape).unwrap();
        let p = prior(&mut rng, n);
        let risk = Risk::of(&draft(shape.clone(), Context::Known(p.clone()))).unwrap();
        assert!(risk.input.attained);
        assert_tight(&risk.input, &brute(&fractions(&p), &channel), &format!("known {round}"));

        let other = prior(&mut rng, n);
        let both = Priors::new(vec![p.clone(), other.clone()]).unwrap();
        let risk = Risk::of(&draft(shape.clone(), Context::Each(both))).unwrap();
        let (a, b) = (brute(&fractions(&p), &channel), brute(&fractions(&other), &channel));
        let hull: Vec<_> = a.iter().zip(&b).map(|(a, b)| (a.0.min(b.0), a.1.max(b.1))).collect();
        assert_tight(&risk.input, &hull, &format!("each {round}"));

        let rows: Vec<Prior> = (0..3).map(|_| prior(&mut rng, n)).collect();
        let s = prior(&mut rng, 3);
        let secret = Context::Secret(Secret::new("s".into(), s.clone(), rows).unwrap());
        let joint = to_floats::secret(&secret).unwrap().unwrap();
        let risk = Risk::of(&draft(shape, secret)).unwrap();
        let data = joint.data().unwrap();
        assert_tight(&risk.input, &brute(data.as_slice(), &channel), &format!("data {round}"));
        let through = joint.through(&channel).unwrap();
        let about = risk.secret.unwrap();
        assert!(about.attained);
        assert_tight(&about, &brute(&fractions(&s), &through), &format!("secret {round}"));
    }
}

#[test]
fn no_prior_of_a_box_leaves_the_range_and_some_prior_reaches_it() {
    let mut rng = ChaCha12Rng::seed_from_u64(12);
    for round in 0..60u64 {
        let n = 2 + (round % 3) as usize;
        let shape = shape(&mut rng, n, round);
        let channel = to_floats::channel(&shape).unwrap();
        let centre = prior(&mut rng, n);
        let spread = WEIGHT_ONE / 20;
        let lower: Vec<u64> = centre.weights().iter().map(|w| w.saturating_sub(spread)).collect();
        let upper: Vec<u64> = centre.weights().iter().map(|w| w + spread).collect();
        let within = PriorBox::new(lower.clone(), upper).unwrap();
        let upper = within.upper().to_vec();
        let risk = Risk::of(&draft(shape, Context::Within(within))).unwrap();
        assert!(risk.input.attained);
        // Every vertex of the box's slice: all but one symbol at an end, the last takes the rest.
        let mut reached = vec![(1.0f64, 0.0f64); n];
        for free in 0..n {
            for corner in 0..1u32 << n {
                let end = |x: usize| if corner >> x & 1 == 1 { upper[x] } else { lower[x] };
                let others: u64 = (0..n).filter(|&x| x != free).map(end).sum();
                let Some(rest) = WEIGHT_ONE.checked_sub(others) else { continue };
                if rest < lower[free] || rest > upper[free] {
                    continue;
                }
                let weight = |x: usize| if x == free { rest } else { end(x) };
                let p: Vec<f64> = (0..n).map(|x| weight(x) as f64 / WEIGHT_ONE as f64).collect();
                for (seen, now) in reached.iter_mut().zip(brute(&p, &channel)) {
                    *seen = (seen.0.min(now.0), seen.1.max(now.1));
                }
            }
        }
        assert_tight(&risk.input, &reached, &format!("box {round}"));
    }
}

#[test]
fn certified_bounds_hold_and_large_alphabets_are_quick() {
    let mut rng = ChaCha12Rng::seed_from_u64(13);
    for round in 0..60 {
        let shape = shape(&mut rng, 4, round);
        let p = prior(&mut rng, 4);
        let context = Context::Known(p.clone());
        let strength = draft(shape.clone(), context.clone()).strength().0;
        let bounds = certified(&weights(&p), &weights(&p), &strength);
        let exact = Risk::of(&draft(shape, context)).unwrap().input.list;
        for (bound, exact) in bounds.iter().zip(exact) {
            assert!(bound.least <= exact.least + 1e-12, "{round}: {bound:?} {exact:?}");
            assert!(bound.most >= exact.most - 1e-12, "{round}: {bound:?} {exact:?}");
        }
    }
    let n = 100_000;
    let keep = Keep::new(vec![KEEP_ONE / 3; n], parts(&mut rng, n, MASS_ONE)).unwrap();
    let p = prior(&mut rng, n);
    let risk = Risk::of(&draft(Shape::Keep(keep), Context::Known(p))).unwrap();
    assert_eq!((risk.input.list.len(), risk.input.worst(10).len()), (n, 10));
}

#[test]
fn the_rare_answer_moves_by_a_factor_e_and_no_more() {
    let p = Distribution::new("prior", vec![0.9, 0.1]).unwrap();
    let rounded = crate::quantize::prior(&p).unwrap().prior;
    let channel = crate::mechanism::randomized_response::binary_optimal(&p, 1.0).unwrap();
    let masses = |row: &Distribution| crate::quantize::largest_remainder(row.as_slice(), MASS_ONE);
    let table = Table::from_masses(channel.rows().iter().map(masses).collect()).unwrap();
    let risk = Risk::of(&draft(Shape::Table(table), Context::Known(rounded))).unwrap();
    assert!((risk.input.list[1].most - 0.1f64 * 1f64.exp()).abs() < 1e-8);
    assert_eq!(risk.input.list[1].most_after, Some(1));
    assert_eq!(risk.input.steepest_rise(), Some(1));
    assert_eq!(risk.outputs.len(), 2);
    assert!((risk.outputs[1].posterior[1] - risk.input.list[1].most).abs() < 1e-14);
}

#[test]
fn without_a_context_only_the_odds_speak() {
    let bits = Bits::new(4, 3 << 30, 1 << 30).unwrap();
    let risk = Risk::of(&draft(Shape::Bits(bits), Context::Unknown)).unwrap();
    assert!((risk.input.odds - 9.0).abs() < 1e-8 && !risk.input.attained);
    let half = risk.input.list[4];
    assert!((half.most - 0.9).abs() < 1e-8 && (half.least - 0.1).abs() < 1e-8, "{half:?}");
}
