//! Plans at the numbers of the specification.

use undertone_design::Distribution;
use undertone_design::plan::coins::{Coins, best_own_bit};
use undertone_design::plan::compared;
use undertone_design::plan::{
    Group, Outline, Problem, Question, Target, best, bound, rs_fd, search,
};
use undertone_numeric::golden_section::golden_section;

/// Questions with so many answers, the first with this share and the others alike.
fn alike(count: usize, size: usize, share: f64) -> Vec<Question> {
    let mut shares = vec![(1.0 - share) / (size as f64 - 1.0); size];
    shares[0] = share;
    let shares = Distribution::new("shares", shares).unwrap();
    (0..count).map(|_| Question::new("question", shares.clone(), 1.0).unwrap()).collect()
}

fn problem(questions: Vec<Question>, level: f64) -> Problem {
    Problem::new(questions, Vec::new(), level, None).unwrap()
}

/// The mean over questions and answers of n·Var.
fn each(problem: &Problem, outline: &Outline) -> f64 {
    let cells: f64 = problem.targets.iter().map(|target| target.cells).sum();
    problem.value(outline) / cells
}

fn close(found: f64, wanted: f64, digit: f64) {
    assert!((found - wanted).abs() <= digit / 2.0, "{found} is not {wanted}");
}

#[test]
fn nine_yes_no_questions() {
    for (level, split, combined, asked) in [(2.0, 3.879, 2.975, 2), (4.0, 1.940, 0.948, 4)] {
        let problem = problem(alike(9, 2, 0.5), level);
        // The best of drawing s single answers at ε/s each.
        let drawn = |s: usize| {
            let one = |at| problem.cheapest(&[at], level / s as f64).map(|group| (group, 1.0));
            each(&problem, &Outline::drawn(Vec::new(), (0..9).filter_map(one).collect(), s))
        };
        close((1..=9).map(drawn).fold(f64::INFINITY, f64::min), split, 0.001);
        let found = compared::combined(&problem).unwrap();
        close(each(&problem, &found), combined, 0.001);
        assert!(found.items.iter().all(|item| item.group.questions.len() == asked));
        // Nothing the search finds is worse, and nothing passes the bound.
        let best = best(&problem).unwrap();
        assert!(each(&problem, &best) <= combined + 0.0005, "{}", each(&problem, &best));
        assert!(best.level() <= level + 1e-9);
        let least = bound::lower(&problem.questions, &problem.targets, level);
        assert!(problem.value(&best) >= least, "{} {least}", problem.value(&best));
    }
}

#[test]
fn a_pair_beats_single_answers_from_here() {
    for (size, share, from) in [(2, 0.5, 1.34), (3, 0.3, 2.55), (5, 0.2, 3.79)] {
        // n·Var of the first answer's share, of people who answer both or one of two questions, each half of the people.
        let gain = |level: f64| {
            let noise = |symbols: usize, people: f64| {
                let cell = symbols as f64 / size as f64;
                let moments = Coins::keep(level, symbols).moments(symbols, cell);
                (share * moments.hit + (1.0 - share) * moments.miss - share * share) / people
            };
            noise(size, 0.5) - noise(size * size, 1.0)
        };
        assert!(gain(from - 0.01) < 0.0 && gain(from + 0.01) > 0.0, "{size}: {}", gain(from));
    }
}

#[test]
fn the_best_level_of_one_answer_of_optimised_bits() {
    for (share, level) in [(0.05, 5.16), (0.2, 3.46), (0.5, 2.51)] {
        let cost = |level: f64| {
            let moments = Coins::bits(level, 0.5).moments(2, 1.0);
            level * (share * moments.hit + (1.0 - share) * moments.miss - share * share)
        };
        let (low, high) = golden_section(0.5, 10.0, 60, cost);
        // Two of the three are cut, not rounded: 5.1669, 3.4606, 2.5136.
        close((low + high) / 2.0, level, 0.02);
    }
}

#[test]
fn rs_fd_speaks_of_one_answer() {
    for (own, person) in [(1.0, 2.801), (2.0, 4.069), (4.0, 6.181)] {
        close(rs_fd::level(own, 9), person, 0.001);
    }
    // At the same level of the whole person it is a randomised function of one answer each.
    for level in [0.5, 1.0, 2.0, 4.0] {
        for (size, share) in [(2, 0.5), (5, 0.3), (16, 0.1)] {
            let problem = problem(alike(9, size, share), level);
            let found = compared::compared(&problem);
            assert!(found.rs_fd.unwrap() >= found.one_each.unwrap(), "{found:?}");
        }
    }
}

#[test]
fn unequal_weights_are_sampled_by_the_roots_of_their_costs() {
    let mut questions = alike(4, 2, 0.5);
    for (at, weight) in [(0, 1.0), (1, 4.0), (2, 9.0), (3, 16.0)] {
        questions[at] = Question::new("q", questions[at].shares().clone(), weight).unwrap();
    }
    let problem = problem(questions, 0.3);
    let single = |at: usize| {
        let group = problem.cheapest(&[at], 0.3).unwrap();
        group.cost(&problem.questions, &problem.targets)
    };
    let expected = (0..4).map(|at| single(at).sqrt()).sum::<f64>().powi(2);
    let found = search::one_group(&problem, &[0, 1, 2, 3], 0.3, &search::whole).unwrap();
    // Pairs do not pay at this level, so the chances are 1, 2, 3 and 4 tenths.
    assert!(found.items.iter().all(|item| item.group.questions.len() == 1), "{found:?}");
    for (chance, wanted) in found.chances().iter().zip([0.1, 0.2, 0.3, 0.4]) {
        assert!((chance - wanted).abs() < 1e-3, "{chance} {wanted}");
    }
    assert!((problem.value(&found) / expected - 1.0).abs() < 1e-5);
}

#[test]
fn bits_move_with_the_share() {
    // At a share of nought the optimised form's one half is best, at one half the symmetric form.
    let level = 2.0f64;
    let own = |share: f64| {
        best_own_bit(level, |own| {
            let moments = Coins::bits(level, own).moments(2, 1.0);
            share * moments.hit + (1.0 - share) * moments.miss - share * share
        })
    };
    assert!((own(0.0) - 0.5).abs() < 1e-4, "{}", own(0.0));
    let symmetric = 1.0 / (1.0 + (-level / 2.0).exp());
    assert!((own(0.5) - symmetric).abs() < 1e-4, "{} {symmetric}", own(0.5));
}

#[test]
fn a_named_pair_is_asked_together() {
    let questions = alike(6, 2, 0.3);
    let pair = Target::pair(&questions, 1, 4, None);
    let problem = Problem::new(questions, vec![pair], 1.0, None).unwrap();
    assert_eq!(problem.targets.len(), 5);
    let found = best(&problem).unwrap();
    assert!(problem.value(&found).is_finite());
    // One question each never sees the pair.
    assert_eq!(compared::compared(&problem).one_each, None);
    let both = |group: &Group| group.questions.contains(&1) && group.questions.contains(&4);
    assert!(found.items.iter().any(|item| both(&item.group)), "{found:?}");
}
