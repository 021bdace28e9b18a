//! Variances against enumeration, and what would happen without allowing for people who answer twice.

use super::*;
use undertone_core::{Alphabet, ItemAnswer, Policy, Token};
use undertone_testkit::plan::{PlannedItem, plan, tokens};
use undertone_testkit::policy::{keep, krr, loose, oue, table};

fn indices(size: usize) -> Alphabet {
    Alphabet::indices(size).unwrap()
}

/// Six combined symbols, seven outputs, nothing symmetric.
fn uneven() -> Policy {
    let rows: Vec<Vec<f64>> = (0..6usize)
        .map(|x| {
            let row: Vec<f64> = (0..7)
                .map(|y| 1.0 + ((3 * x + 5 * y) % 7) as f64 + f64::from(u8::from(x == y)) * 6.0)
                .collect();
            let sum: f64 = row.iter().sum();
            row.iter().map(|cell| cell / sum).collect()
        })
        .collect();
    loose(indices(6), Some(indices(7)), table(&rows))
}

/// Questions a (2 answers) and b (3), a joint law of their answers, and all their combinations.
const LAW: [f64; 6] = [0.05, 0.2, 0.15, 0.3, 0.1, 0.2];

fn truth(a: usize) -> f64 {
    LAW[3 * a..3 * a + 3].iter().sum()
}

/// All responses of people who answer some items each, with their probabilities.
fn enumerate(plan: &Plan, people: &[Vec<usize>], mut visit: impl FnMut(&PlanTally, f64)) {
    let one = |items: &Vec<usize>| {
        let mut all: Vec<(Vec<ItemAnswer>, f64)> = Vec::new();
        for (symbol, &share) in LAW.iter().enumerate() {
            let mut some = vec![(Vec::new(), share)];
            for &item in items {
                let drawn = tokens(plan, item, &[symbol / 3, symbol % 3]);
                let longer = |(before, chance): (Vec<ItemAnswer>, f64)| {
                    let next = drawn.iter().map(move |(token, more)| {
                        let answer = ItemAnswer { item: item as u32, token: token.clone() };
                        ([&before[..], &[answer]].concat(), chance * more)
                    });
                    next.collect::<Vec<_>>()
                };
                some = some.into_iter().flat_map(longer).collect();
            }
            for (answers, chance) in some {
                match all.iter_mut().find(|(known, _)| *known == answers) {
                    Some((_, sum)) => *sum += chance,
                    None => all.push((answers, chance)),
                }
            }
        }
        all
    };
    let each: Vec<_> = people.iter().map(one).collect();
    let mut states = vec![(PlanTally::new(plan), 1.0)];
    for person in &each {
        let mut next = Vec::new();
        for (tally, chance) in &states {
            for (answers, more) in person {
                let mut tally = tally.clone();
                tally.add_answers(plan, answers).unwrap();
                next.push((tally, chance * more));
            }
        }
        states = next;
    }
    states.iter().for_each(|(tally, chance)| visit(tally, *chance));
}

fn moments(plan: &Plan, people: &[Vec<usize>]) -> (f64, f64, f64, f64) {
    let (mut total, mut mean, mut square, mut stated) = (0.0, 0.0, 0.0, 0.0);
    enumerate(plan, people, |tally, chance| {
        let estimator = QuestionEstimator::new(plan, tally, 0, Settings::default()).unwrap();
        let Basis::Parts { parts, together } = &estimator.basis else { panic!("parts are needed") };
        let values = [0.0, 1.0];
        let combined = Combination::new(parts, Target::Population, &values);
        total += chance;
        mean += chance * combined.value;
        square += chance * combined.value * combined.value;
        stated = combined.variance(&values, *together, Target::Population, |part| {
            match part.points.len() {
                2 => vec![truth(0), truth(1)],
                _ => LAW.to_vec(),
            }
        });
    });
    (total, mean, square - mean * mean, stated)
}

#[test]
fn pooled_shares_are_right_on_average_and_vary_as_stated() {
    let lopsided = loose(indices(6), None, keep(&[0.2, 0.5, 0.4, 0.3, 0.6, 0.2], &[1.0 / 6.0; 6]));
    let items = vec![
        PlannedItem::new(&[0], &krr(indices(2), None, "1")).drawn(),
        PlannedItem::new(&[0, 1], &uneven()).drawn(),
        PlannedItem::new(&[0, 1], &lopsided).drawn(),
        PlannedItem::new(&[0], &oue(2, None, "2")).drawn(),
    ];
    let plan = plan(&[("a", indices(2)), ("b", indices(3))], items, 1);
    let (total, mean, variance, stated) = moments(&plan, &[vec![0], vec![1], vec![2], vec![3]]);
    assert!((total - 1.0).abs() < 1e-12);
    assert!((mean - truth(1)).abs() < 1e-12, "{mean}");
    assert!((variance - stated).abs() < 1e-12, "{variance} {stated}");
}

#[test]
fn people_who_answer_twice_are_allowed_for() {
    let items = vec![
        PlannedItem::new(&[0], &krr(indices(2), None, "3")),
        PlannedItem::new(&[0, 1], &uneven()),
    ];
    let plan = plan(&[("a", indices(2)), ("b", indices(3))], items, 0);
    let (_, mean, variance, stated) = moments(&plan, &[vec![0, 1], vec![0, 1]]);
    assert!((mean - truth(1)).abs() < 1e-12, "{mean}");
    assert!(variance <= stated + 1e-12, "{variance} {stated}");
    // As if the reports were of different people it would be too small.
    let between = truth(0) * truth(1);
    assert!(stated < variance + between / 2.0, "{variance} {stated}");
}

/// Two nearly noiseless items about the same yes/no question, answered by everybody: 40 people, not 80.
#[test]
fn intervals_hold_for_people_who_answer_twice_and_would_not_without() {
    let plain = krr(indices(2), None, "5");
    let other = krr(indices(2), None, "5.5");
    let items = vec![PlannedItem::new(&[0], &plain), PlannedItem::new(&[0], &other)];
    let plan = plan(&[("a", indices(2))], items, 0);
    let people = 40u64;
    let chances: Vec<Vec<f64>> = (0..2)
        .map(|a| {
            let [one, two] = [0, 1].map(|item| tokens(&plan, item, &[a]));
            let both = |y: usize| one[y / 2].1 * two[y % 2].1;
            (0..4).map(both).collect()
        })
        .collect();
    // The intervals of all counts of the four pairs of reports, as stated and as if nobody answered twice.
    let mut found = Vec::new();
    for (first, rare) in (0..=people).flat_map(|first| (0..9).map(move |rare| (first, rare))) {
        // Reports of one person seldom differ: what is all but impossible is left out.
        let (second, third) = (rare / 3, rare % 3);
        let Some(fourth) = people.checked_sub(first + second + third) else { continue };
        let counts = [first, second, third, fourth];
        let mut tally = PlanTally::new(&plan);
        for (pair, &count) in (0u32..).zip(&counts) {
            let answer = |item: u32, token: u32| ItemAnswer { item, token: Token::Index(token) };
            for _ in 0..count {
                tally.add_answers(&plan, &[answer(0, pair / 2), answer(1, pair % 2)]).unwrap();
            }
        }
        let estimator = QuestionEstimator::new(&plan, &tally, 0, Settings::default()).unwrap();
        let Basis::Parts { parts, together } = &estimator.basis else {
            panic!("everybody answers twice")
        };
        assert_eq!(*together, 2);
        let limits =
            [2, 1].map(|most| pooled(parts, most, Target::Population, &[0.0, 1.0], 0.05).limits);
        found.push((counts, limits));
    }
    let factorial = |n: u64| (1..=n).map(|i| (i as f64).ln()).sum::<f64>();
    let mut worst = [1.0f64; 2];
    for p in [0.2, 0.35, 0.5, 0.65] {
        let law: Vec<f64> = (0..4).map(|y| (1.0 - p) * chances[0][y] + p * chances[1][y]).collect();
        let mut held = [0.0; 2];
        let mut left_out = 1.0;
        for (counts, limits) in &found {
            let log = factorial(people)
                + counts
                    .iter()
                    .zip(&law)
                    .map(|(&n, p)| n as f64 * p.ln() - factorial(n))
                    .sum::<f64>();
            left_out -= log.exp();
            for (held, limits) in held.iter_mut().zip(limits) {
                if limits.low <= p && p <= limits.high {
                    *held += log.exp();
                }
            }
        }
        assert!(left_out < 0.005, "{left_out}");
        worst = [worst[0].min(held[0]), worst[1].min(held[1])];
    }
    assert!(worst[0] >= 0.95, "{worst:?}");
    // What was left out, at most 0.005, does not save it.
    assert!(worst[1] < 0.945, "{worst:?}");
}
