//! Plans against slow implementations of their own.

use undertone_design::Distribution;
use undertone_design::plan::coins::{Coins, Repeats, subsets};
use undertone_design::plan::inclusion::Draw;
use undertone_design::plan::{Outline, Problem, Question, Target, best, bound, compared, levels};
use undertone_testkit::dice::Dice;

/// The law of the reports of a symbol as score of a cell and probability, one entry per output.
fn scores(coins: Coins, symbols: usize, cell: usize, x: usize) -> Vec<(f64, f64)> {
    match coins {
        Coins::Keep { own, other } => (0..symbols)
            .map(|y| {
                let score = (f64::from(u8::from(y < cell)) - cell as f64 * other) / (own - other);
                (score, if x == y { own } else { other })
            })
            .collect(),
        Coins::Bits { own, other } => (0..1u32 << symbols)
            .map(|bits| {
                let set = |at: usize| bits >> at & 1 == 1;
                let chance = |at: usize| {
                    let chance = if at == x { own } else { other };
                    if set(at) { chance } else { 1.0 - chance }
                };
                let count = (0..cell).filter(|&at| set(at)).count() as f64;
                let score = (count - cell as f64 * other) / (own - other);
                (score, (0..symbols).map(chance).product())
            })
            .collect(),
        Coins::Subset { size, own } => {
            let sets = subsets(symbols, size);
            let with = sets.iter().filter(|set| set.contains(&x)).count() as f64;
            let without = sets.len() as f64 - with;
            let other =
                (own * (size as f64 - 1.0) + (1.0 - own) * size as f64) / (symbols as f64 - 1.0);
            let entry = |set: &Vec<usize>| {
                let count = set.iter().filter(|&&at| at < cell).count() as f64;
                let chance = if set.contains(&x) { own / with } else { (1.0 - own) / without };
                ((count - cell as f64 * other) / (own - other), chance)
            };
            sets.iter().map(entry).collect()
        }
        Coins::Memo { .. } => unreachable!("memos are enumerated by their own test"),
    }
}

fn moment(law: &[(f64, f64)], power: i32) -> f64 {
    law.iter().map(|(score, chance)| score.powi(power) * chance).sum()
}

#[test]
fn moments_are_those_of_the_listed_outputs() {
    let mut dice = Dice::new(16);
    for _ in 0..60 {
        let symbols = 2 + (dice.unit() * 6.0) as usize;
        let cell = 1 + (dice.unit() * (symbols as f64 - 1.0)) as usize;
        let level = dice.between(0.1, 4.0);
        let mut coins =
            vec![Coins::keep(level, symbols), Coins::bits(level, dice.between(0.5, 0.9))];
        coins.extend((1..symbols).map(|size| Coins::subset(level, symbols, size)));
        for coins in coins {
            let moments = coins.moments(symbols, cell as f64);
            for x in 0..symbols {
                let law = scores(coins, symbols, cell, x);
                let inside = x < cell;
                assert!((moment(&law, 0) - 1.0).abs() < 1e-9);
                assert!((moment(&law, 1) - f64::from(u8::from(inside))).abs() < 1e-9, "{coins:?}");
                let wanted = if inside { moments.hit } else { moments.miss };
                assert!((moment(&law, 2) / wanted - 1.0).abs() < 1e-9, "{coins:?} {cell} {x}");
                // The ratio of likelihoods is e^level.
                let other = scores(coins, symbols, cell, (x + 1) % symbols);
                let ratio = law.iter().zip(&other).map(|(a, b)| a.1 / b.1).fold(0.0, f64::max);
                assert!((ratio.ln() - level).abs() < 1e-9, "{coins:?}");
            }
        }
    }
}

#[test]
fn memos_and_their_reports_are_enumerated() {
    // Two reports of a memo: the law of memo and reports is listed.
    for (level, first, symbols, cell) in [(2.0, 0.5, 3, 1), (1.0, 0.3, 4, 2), (3.0, 0.9, 2, 1)] {
        let repeats = Repeats { reports: 2, first };
        for coins in [
            Coins::memo_kept(level, symbols, repeats),
            Coins::memo_bits(level, symbols, 0.6, repeats),
        ] {
            let Coins::Memo { own, other, fresh, .. } = coins else { panic!("{coins:?}") };
            let fresh = match fresh {
                undertone_design::plan::coins::Fresh::Keep { own, other } => {
                    Coins::Keep { own, other }
                }
                undertone_design::plan::coins::Fresh::Bits { own, other } => {
                    Coins::Bits { own, other }
                }
            };
            let memo = |z: usize, x: usize| if z == x { own } else { other };
            let report = |x: usize| {
                let count = scores(fresh, symbols, cell, 0).len();
                let chance = |y: usize| {
                    let drawn = |z: usize| memo(z, x) * scores(fresh, symbols, cell, z)[y].1;
                    (0..symbols).map(drawn).sum::<f64>()
                };
                (0..count).map(chance).collect::<Vec<f64>>()
            };
            let (one, two) = (report(0), report(1));
            let ratio = one.iter().zip(&two).map(|(a, b)| a / b).fold(0.0, f64::max).ln();
            assert!((ratio - first * level).abs() < 1e-9, "{ratio} {coins:?}");
            let moments = coins.moments(symbols, cell as f64);
            for x in [0, symbols - 1] {
                let mut second = 0.0;
                for z in 0..symbols {
                    let law = scores(fresh, symbols, cell, z);
                    for (a, p) in &law {
                        for (b, q) in &law {
                            let score = ((a + b) / 2.0 - cell as f64 * other) / (own - other);
                            second += memo(z, x) * p * q * score * score;
                        }
                    }
                }
                let wanted = if x < cell { moments.hit } else { moments.miss };
                assert!((second / wanted - 1.0).abs() < 1e-9, "{second} {wanted} {coins:?}");
            }
        }
    }
}

#[test]
fn chances_of_drawing_several_are_those_of_all_orders() {
    /// Walks all orders in which `left` more are drawn.
    fn walk(
        weights: &[f64],
        taken: &mut Vec<usize>,
        left: usize,
        chance: f64,
        found: &mut [Vec<f64>],
    ) {
        if left == 0 {
            for &one in taken.iter() {
                for &other in taken.iter() {
                    found[one][other] += chance;
                }
            }
            return;
        }
        let rest: f64 =
            (0..weights.len()).filter(|at| !taken.contains(at)).map(|at| weights[at]).sum();
        for at in 0..weights.len() {
            if !taken.contains(&at) {
                taken.push(at);
                walk(weights, taken, left - 1, chance * weights[at] / rest, found);
                taken.pop();
            }
        }
    }
    for (weights, asked) in [
        (vec![1.0, 2.0, 5.0], 2),
        (vec![0.3, 1.0, 1.0, 4.0, 9.0], 3),
        (vec![1.0; 4], 2),
        (vec![1.0, 3.0], 1),
    ] {
        let mut found = vec![vec![0.0; weights.len()]; weights.len()];
        walk(&weights, &mut Vec::new(), asked, 1.0, &mut found);
        let draw = Draw { weights: &weights, asked };
        for (at, chance) in draw.chances().into_iter().enumerate() {
            assert!((chance - found[at][at]).abs() < 1e-6, "{chance} {}", found[at][at]);
            for other in (0..weights.len()).filter(|&other| other != at) {
                assert!((draw.together(at, other) - found[at][other]).abs() < 1e-6);
            }
        }
    }
    let wanted = [0.2, 0.5, 0.6, 0.7];
    let weights = Draw::weights_for(&wanted, 2);
    let found = Draw { weights: &weights, asked: 2 }.chances();
    assert!(found.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-4), "{found:?}");
}

#[test]
fn no_split_on_a_grid_is_better() {
    let costs = [1.0, 3.0, 0.4];
    let cost = |at: usize, level: f64| costs[at] / (level / 2.0f64).tanh().powi(2);
    let found = levels::split(3, 3.0, cost);
    assert!((found.iter().sum::<f64>() - 3.0).abs() < 1e-9);
    let value: f64 = found.iter().enumerate().map(|(at, e)| cost(at, *e)).sum();
    for i in 1..60 {
        for j in 1..60 - i {
            let (a, b) = (f64::from(i) * 0.05, f64::from(j) * 0.05);
            let other = cost(0, a) + cost(1, b) + cost(2, 3.0 - a - b);
            assert!(value <= other + 1e-9, "{value} {other}");
        }
    }
}

fn random_problem(dice: &mut Dice) -> Problem {
    let count = 1 + (dice.unit() * 5.0) as usize;
    let questions = (0..count)
        .map(|_| {
            let size = 2 + (dice.unit() * dice.unit() * 12.0) as usize;
            let shares = (0..size).map(|_| dice.open_unit()).collect();
            let shares = Distribution::normalised("shares", shares).unwrap();
            Question::new("question", shares, dice.log_between(0.1, 10.0)).unwrap()
        })
        .collect();
    Problem::new(questions, Vec::new(), dice.log_between(0.2, 6.0), None).unwrap()
}

#[test]
fn nothing_simpler_is_better_and_nothing_passes_the_bound() {
    let mut dice = Dice::new(2027);
    for _ in 0..40 {
        let problem = random_problem(&mut dice);
        let found = best(&problem).unwrap();
        let value = problem.value(&found);
        assert!(found.level() <= problem.level * (1.0 + 1e-9));
        let others = compared::compared(&problem);
        let simpler = [others.equal_split, others.one_each, others.combined, others.rs_fd];
        for other in simpler.into_iter().flatten() {
            assert!(value <= other * (1.0 + 1e-9), "{value} {others:?}");
        }
        let least = bound::lower(&problem.questions, &problem.targets, problem.level);
        assert!(value >= least * (1.0 - 1e-9), "{value} {least}");
        let clear: f64 =
            problem.targets.iter().map(|target| target.weight * target.in_the_clear()).sum();
        assert!(least >= clear, "{least} {clear}");
    }
}

#[test]
fn a_pair_from_two_answers_is_the_product_of_their_scores() {
    // Enumerated over both answers and both reports.
    let shares = [vec![0.6, 0.4], vec![0.2, 0.3, 0.5]];
    let joint = [[0.15, 0.25, 0.2], [0.05, 0.05, 0.3]];
    let question = |at: usize| {
        Question::new("q", Distribution::new("shares", shares[at].clone()).unwrap(), 1.0).unwrap()
    };
    let questions = vec![question(0), question(1)];
    let squares = joint.iter().flatten().map(|t| t * t).sum();
    let target = Target::pair(&questions, 0, 1, Some(squares));
    let problem = Problem::new(questions, vec![target], 2.0, None).unwrap();
    let coins = [Coins::keep(0.8, 2), Coins::keep(1.2, 3)];
    let group = |at: usize| undertone_design::plan::Group {
        questions: vec![at],
        level: 1.0,
        coins: coins[at],
    };
    let outline = Outline::everybody(vec![group(0), group(1)]);
    let mut expected = 0.0;
    for a in 0..2 {
        for b in 0..3 {
            let mut second = 0.0;
            for (x, row) in joint.iter().enumerate() {
                for (y, p) in row.iter().enumerate() {
                    // The score of cell {a} is that of the first symbol after a rotation.
                    let one = scores(coins[0], 2, 1, (x + 2 - a) % 2);
                    let two = scores(coins[1], 3, 1, (y + 3 - b) % 3);
                    second += p * moment(&one, 2) * moment(&two, 2);
                }
            }
            expected += second - joint[a][b] * joint[a][b];
        }
    }
    assert!((problem.value(&outline) / expected - 1.0).abs() < 1e-9);
}
