//! Several releases, another prior, correlated data: no allowed mechanism leaks more than is claimed, and
//! what is called exact is attained.

use undertone_design::extremal::LiftRange;
use undertone_design::measure::lip;
use undertone_design::{Channel, Distribution};
use undertone_theory::composition::{self, compose};
use undertone_theory::sequence::{self, Process};
use undertone_theory::transfer::{self, transfer};

use super::generate::prior;
use undertone_testkit::channel::{self, Cone, Lifts};
use undertone_testkit::dice::{Dice, rounds};

fn within(found: f64, claimed: f64) -> bool {
    found <= claimed * (1.0 + 1e-9) + 1e-15
}

fn range(dice: &mut Dice) -> LiftRange {
    let lower = dice.budget();
    let upper = if dice.unit() < 0.6 { lower } else { dice.budget() };
    LiftRange::asymmetric(lower, upper).unwrap()
}

fn cone<'a>(prior: &'a Distribution, range: &LiftRange) -> Lifts<'a> {
    Lifts { prior: prior.as_slice(), lower: range.epsilon_lower(), upper: range.epsilon_upper() }
}

#[test]
fn no_mechanism_transfers_worse_than_claimed() {
    let mut dice = Dice::new(51);
    let (mut wrong, mut confirmed) = (Vec::new(), 0);
    for _ in 0..rounds(600) {
        let m = 2 + dice.below(11);
        let (from, to) = (prior(&mut dice, m), prior(&mut dice, m));
        let range = range(&mut dice);
        let found = transfer(&from, &to, range).unwrap();
        let mut claims = vec![("exact", found.exact)];
        if range.epsilon_lower() == range.epsilon_upper() {
            claims.push(("published", found.published));
            claims.push(("ratio", range.epsilon() + found.ratio));
        }
        claims.extend(found.prior_free.map(|bound| ("prior_free", bound)));
        for _ in 0..6 {
            // One output is enough: the lifts of an extreme ray, and of mixtures of two.
            let (a, b) = (cone(&from, &range).ray(&mut dice), cone(&from, &range).ray(&mut dice));
            let share = if dice.unit() < 0.5 { 1.0 } else { dice.unit() };
            let lift: Vec<f64> =
                a.iter().zip(&b).map(|(a, b)| share * a + (1.0 - share) * b).collect();
            let total: f64 = lift.iter().zip(to.as_slice()).map(|(l, p)| l * p).sum();
            let leakage = lift.iter().map(|l| (l / total).ln().abs()).fold(0.0, f64::max);
            for (name, claimed) in &claims {
                if !within(leakage, *claimed) {
                    wrong.push(format!(
                        "{name} {claimed:e} < {leakage:e} {range:?} {from:?} {to:?}"
                    ));
                }
            }
        }
        // The witness is allowed under the first prior and attains the claim under the second.
        let lift = &found.witness;
        let mean: f64 = lift.iter().zip(from.as_slice()).map(|(l, p)| l * p).sum();
        let total: f64 = lift.iter().zip(to.as_slice()).map(|(l, p)| l * p).sum();
        let reached = lift.iter().map(|l| (l / total).ln().abs()).fold(0.0, f64::max);
        let spare = 1e-9;
        let allowed = lift.iter().all(|l| {
            let log = (l / mean).ln();
            log <= range.epsilon_upper() * (1.0 + spare)
                && -log <= range.epsilon_lower() * (1.0 + spare)
        });
        confirmed += usize::from(found.confirmed);
        if found.confirmed && (!allowed || (reached - found.exact).abs() > 1e-9 * found.exact) {
            wrong.push(format!(
                "witness {allowed} {reached:e} of {:e} {range:?} {from:?} {to:?}",
                found.exact
            ));
        }
    }
    println!("{confirmed} confirmed");
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong[..wrong.len().min(5)].join("\n"));
}

#[test]
fn the_single_sort_of_transfer_equals_a_search_for_every_symbol() {
    let mut dice = Dice::new(52);
    for _ in 0..rounds(400) {
        let m = 2 + dice.below(8);
        let (from, to) = (prior(&mut dice, m), prior(&mut dice, m));
        let range = range(&mut dice);
        let found = transfer(&from, &to, range).unwrap().exact;
        let slow = dinkelbach(&from, &to, range);
        assert!((found - slow).abs() <= 1e-9 * slow, "{found} {slow} {range:?} {from:?} {to:?}");
    }
}

/// Dinkelbach's iteration, symbol by symbol: maximise L(x) - θ Σ P2 L, set θ to the ratio attained, repeat.
fn dinkelbach(from: &Distribution, to: &Distribution, range: LiftRange) -> f64 {
    let (low, high) = (range.low(), range.high());
    let mut worst = 0.0f64;
    for x in 0..from.len() {
        for sign in [1.0, -1.0] {
            let mut theta = 1.0f64;
            loop {
                let gain = |z: usize| sign * (f64::from(u8::from(z == x)) - theta * to[z]);
                let mut lift: Vec<f64> = (0..from.len())
                    .map(|z| if from[z] == 0.0 && gain(z) > 0.0 { high } else { low })
                    .collect();
                let mut order: Vec<usize> = (0..from.len()).filter(|&z| from[z] > 0.0).collect();
                order.sort_by(|&a, &b| (gain(b) / from[b]).total_cmp(&(gain(a) / from[a])));
                let mut left = 1.0 - low;
                for z in order {
                    let step = (high - low).min(left / from[z]).max(0.0);
                    lift[z] += step;
                    left -= step * from[z];
                }
                let total: f64 = lift.iter().zip(to.as_slice()).map(|(l, p)| l * p).sum();
                let ratio = lift[x] / total;
                if sign * (ratio - theta) <= 1e-15 * theta {
                    break;
                }
                theta = ratio;
            }
            worst = worst.max(sign * theta.ln());
        }
    }
    worst
}

#[test]
fn no_releases_leak_more_together_than_claimed() {
    let mut dice = Dice::new(53);
    let (mut wrong, mut exact) = (Vec::new(), 0);
    for _ in 0..rounds(250) {
        let m = 2 + dice.below(6);
        let prior = prior(&mut dice, m);
        let first = range(&mut dice);
        let releases = 1 + dice.below(3);
        let ranges: Vec<LiftRange> = (0..releases)
            .map(|_| if dice.unit() < 0.6 { first } else { range(&mut dice) })
            .collect();
        let found = compose(&prior, &ranges).unwrap();
        let mut claims = vec![("published", found.published), ("sharpened", found.sharpened)];
        claims.extend(found.exact.as_ref().map(|worst| ("exact", worst.leakage)));
        for _ in 0..6 {
            let mut lift = vec![1.0; m];
            for range in &ranges {
                let ray = cone(&prior, range).ray(&mut dice);
                lift.iter_mut().zip(&ray).for_each(|(l, r)| *l *= r);
            }
            let total: f64 = lift.iter().zip(prior.as_slice()).map(|(l, p)| l * p).sum();
            let leakage = lift.iter().map(|l| (l / total).ln().abs()).fold(0.0, f64::max);
            for (name, claimed) in &claims {
                if !within(leakage, *claimed) {
                    wrong.push(format!("{name} {claimed:e} < {leakage:e} {ranges:?} {prior:?}"));
                }
            }
        }
        let Some(worst) = &found.exact else { continue };
        exact += 1;
        let channels = worst.channels(&ranges).unwrap();
        let reached = composition::given(&prior, &channels).unwrap().lip();
        if (reached - worst.leakage).abs() > 1e-9 * worst.leakage {
            wrong.push(format!("witness {reached:e} of {:e} {ranges:?} {prior:?}", worst.leakage));
        }
        for (channel, range) in channels.iter().zip(&ranges) {
            let lower = lip::min_lift(&prior, channel).unwrap().nats;
            let upper = lip::max_lift(&prior, channel).unwrap().nats;
            if !within(lower, range.epsilon_lower()) || !within(upper, range.epsilon_upper()) {
                wrong.push(format!("promise {lower:e} {upper:e} {range:?} {prior:?}"));
            }
        }
    }
    println!("{exact} exact");
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong[..wrong.len().min(8)].join("\n"));
}

#[test]
fn no_mechanism_of_a_family_leaks_more_than_claimed() {
    let mut dice = Dice::new(54);
    let (mut wrong, mut exact) = (Vec::new(), 0);
    for _ in 0..rounds(250) {
        let m = 2 + dice.below(2);
        let set = vec![prior(&mut dice, m), prior(&mut dice, m)];
        let ranges = vec![range(&mut dice); 1 + dice.below(2)];
        let truth = prior(&mut dice, m);
        let together = composition::family(&set, &ranges).unwrap();
        let moved = transfer::family(&set, &truth, ranges[0]).unwrap();
        exact += usize::from(together.exact.is_some());
        for _ in 0..8 {
            // Mix an extreme channel of the first prior with silence until the second agrees too.
            let cone = cone(&set[0], &ranges[0]);
            let Ok(q) = Channel::new(channel::extreme(&cone, m, &mut dice)) else {
                continue;
            };
            let Some(q) = quietened(&q, &set, &ranges[0]) else { continue };
            let releases = vec![q.clone(); ranges.len()];
            for p in &set {
                let leakage = composition::given(p, &releases).unwrap().lip();
                let claims = [Some(together.published), Some(together.sharpened), together.exact];
                for claimed in claims.into_iter().flatten() {
                    if !within(leakage, claimed) {
                        wrong.push(format!(
                            "together {claimed:e} < {leakage:e} {ranges:?} {set:?} {q:?}"
                        ));
                    }
                }
            }
            let leakage = lip::leakage(&truth, &q).unwrap().nats;
            for claimed in [Some(moved.sharpened), moved.exact].into_iter().flatten() {
                if !within(leakage, claimed) {
                    wrong.push(format!(
                        "moved {claimed:e} < {leakage:e} {ranges:?} {set:?} {truth:?} {q:?}"
                    ));
                }
            }
        }
    }
    println!("{exact} exact");
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong[..wrong.len().min(8)].join("\n"));
}

/// As much of `q` as keeps the promise under every prior of the set, the rest a constant output.
fn quietened(q: &Channel, set: &[Distribution], range: &LiftRange) -> Option<Channel> {
    let with = |share: f64| {
        let row = |row: &Distribution| {
            row.as_slice().iter().map(|v| share * v).chain([1.0 - share]).collect::<Vec<_>>()
        };
        // The constant output alone would be kept apart; merged into the first it blurs that one.
        let blur = |row: Vec<f64>| {
            let (last, rest) = row.split_last().unwrap();
            let even = last / rest.len() as f64;
            rest.iter().map(|v| v + even).collect::<Vec<_>>()
        };
        Channel::new(q.rows().iter().map(|r| blur(row(r))).collect()).ok()
    };
    let keeps = |q: &Channel| {
        set.iter().all(|p| {
            lip::min_lift(p, q).unwrap().nats <= range.epsilon_lower()
                && lip::max_lift(p, q).unwrap().nats <= range.epsilon_upper()
        })
    };
    let (mut good, mut bad) = (0.0, 1.0);
    for _ in 0..50 {
        let middle = f64::midpoint(good, bad);
        if with(middle).is_some_and(|q| keeps(&q)) { good = middle } else { bad = middle }
    }
    with(good)
}

#[test]
fn no_sequence_leaks_more_than_claimed() {
    let mut dice = Dice::new(55);
    let mut wrong = Vec::new();
    for round in 0..rounds(200) {
        let m = 2 + dice.below(2);
        let first = prior(&mut dice, m);
        let length = 2 + dice.below(2);
        let process = if round % 2 == 0 {
            let rows = (0..m).map(|_| prior(&mut dice, m).as_slice().to_vec()).collect();
            Process::markov(first.clone(), &Channel::new(rows).unwrap(), length).unwrap()
        } else {
            let laws: Vec<Distribution> = (0..length).map(|_| prior(&mut dice, m)).collect();
            Process::comonotone(&laws).unwrap()
        };
        let ranges: Vec<LiftRange> = (0..length).map(|_| range(&mut dice)).collect();
        let published = sequence::published(&process, &ranges).unwrap();
        let sharpened = sequence::sharpened(&process, &ranges).unwrap();
        let worst = sequence::worst_case(&process, &ranges);
        for _ in 0..4 {
            let steps = process.marginals().iter().zip(&ranges);
            let channels: Option<Vec<Channel>> = steps
                .map(|(law, range)| {
                    Channel::new(channel::extreme(&cone(law, range), law.len(), &mut dice)).ok()
                })
                .collect();
            let Some(channels) = channels else { continue };
            let found = sequence::exact_leakage(&process, &channels).unwrap();
            let bound = sequence::leakage_bound(&process, &channels).unwrap();
            let whole = found.sequence.lip();
            let mut claims = vec![("sharpened", sharpened), ("bound", bound.sequence.lip())];
            if ranges.iter().all(|r| r.epsilon_lower() == r.epsilon_upper()) {
                claims.push(("published", published));
            }
            claims.extend(worst.as_ref().ok().map(|w| ("worst", w.sequence)));
            for (name, claimed) in claims {
                if !within(whole, claimed) {
                    wrong.push(format!("{name} {claimed:e} < {whole:e} {ranges:?} {process:?}"));
                }
            }
            for (k, each) in found.each.iter().enumerate() {
                let mut claims = vec![("bound", bound.each[k].lip())];
                claims.extend(worst.as_ref().ok().map(|w| ("worst", w.each[k])));
                for (name, claimed) in claims {
                    if !within(each.lip(), claimed) {
                        wrong.push(format!(
                            "each {name} {claimed:e} < {:e} {ranges:?} {process:?}",
                            each.lip()
                        ));
                    }
                }
            }
        }
        if let Ok(worst) = &worst {
            let steps = worst.lifts.iter().zip(&ranges);
            let channels: Vec<Channel> = steps
                .map(|(lift, r)| {
                    undertone_design::extremal::witness(lift, r.low(), r.high()).unwrap()
                })
                .collect();
            let reached = sequence::exact_leakage(&process, &channels).unwrap().sequence.lip();
            if (reached - worst.sequence).abs() > 1e-9 * worst.sequence {
                wrong.push(format!(
                    "witness {reached:e} of {:e} {ranges:?} {process:?}",
                    worst.sequence
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong[..wrong.len().min(8)].join("\n"));
}
