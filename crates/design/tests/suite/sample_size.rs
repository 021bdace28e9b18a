//! Numbers of people: against textbooks, and against simulated surveys.

use undertone_design::sample_size::{self, TestedEffect};
use undertone_design::{Channel, Distribution};
use undertone_testkit::dice::Dice;

fn law(yes: f64) -> Distribution {
    Distribution::new("law", vec![1.0 - yes, yes]).unwrap()
}

fn warner(p: f64) -> Channel {
    Channel::new(vec![vec![p, 1.0 - p], vec![1.0 - p, p]]).unwrap()
}

#[test]
fn answers_in_the_clear_need_what_textbooks_say() {
    let clear = Channel::identity(2).unwrap();
    assert_eq!(sample_size::for_shares(&clear, &law(0.5), 0.03, 0.95).unwrap(), 1068);
    // .10 against .15 at 5 % and 80 %: 686 in each group with these errors.
    let effect = TestedEffect::difference(&clear, [&law(0.1), &law(0.15)], 1).unwrap();
    assert_eq!(effect.needed(0.05, 0.8).unwrap(), 2 * 686);
    // Warner at p divides the effect by 2p - 1.
    let (p, yes) = (0.75, 0.2);
    let seen: f64 = p * yes + (1.0 - p) * (1.0 - yes);
    let z = 1.959963984540054f64;
    let expected = (z / 0.02).powi(2) * seen * (1.0 - seen) / (2.0 * p - 1.0f64).powi(2);
    let found = sample_size::for_shares(&warner(p), &law(yes), 0.02, 0.95).unwrap();
    assert_eq!(found, expected.ceil() as u64);
}

#[test]
fn cells_of_two_questions_in_the_clear_are_shares_of_four() {
    let clear = Channel::identity(2).unwrap();
    let (a, b) = (law(0.3), law(0.6));
    let worst = [0.7 * 0.4, 0.7 * 0.6, 0.3 * 0.4, 0.3 * 0.6f64];
    let worst = worst.iter().map(|p| p * (1.0 - p)).fold(0.0, f64::max);
    let found = sample_size::cell_variance((&clear, &a), (&clear, &b)).unwrap();
    assert!((found - worst).abs() < 1e-9, "{found} {worst}");
    // Of randomised answers: by enumeration of all four reports with the inverse scores.
    let (p, q) = (0.8, 0.7);
    let score = |p: f64, y: usize, x: usize| if x == y { p } else { p - 1.0 } / (2.0 * p - 1.0);
    let mut largest = 0.0f64;
    for cell in 0..4 {
        let (i, j) = (cell / 2, cell % 2);
        let mut second = 0.0;
        for all in 0..16 {
            let [x, y, u, v] = [all / 8, all / 4 % 2, all / 2 % 2, all % 2];
            let keep = |p: f64, same: bool| if same { p } else { 1.0 - p };
            let chance = a[x] * b[y] * keep(p, x == u) * keep(q, y == v);
            second += chance * (score(p, u, i) * score(q, v, j)).powi(2);
        }
        largest = largest.max(second - (a[i] * b[j]).powi(2));
    }
    let found = sample_size::cell_variance((&warner(p), &a), (&warner(q), &b)).unwrap();
    assert!((found / largest - 1.0).abs() < 1e-9, "{found} {largest}");
}

/// 4,000 surveys: the share that finds it is within 4 standard errors of the planned power but for one seed in 16,000.
#[test]
fn simulated_surveys_have_the_planned_power() {
    const SURVEYS: usize = 4000;
    let mut dice = Dice::new(5);
    let (p, z) = (0.75, 1.959963984540054f64);
    let (one, other) = (0.2, 0.35);
    let effect = TestedEffect::difference(&warner(p), [&law(one), &law(other)], 1).unwrap();
    let people = effect.needed(0.05, 0.8).unwrap();
    let power = effect.power(people, 0.05);
    assert!((0.8..0.801).contains(&power), "{power}");
    let mut found = 0;
    for _ in 0..SURVEYS {
        let half = people / 2;
        let mut yes = |share: f64| {
            let seen = p * share + (1.0 - p) * (1.0 - share);
            (0..half).filter(|_| dice.unit() < seen).count() as f64 / half as f64
        };
        let (a, b) = (yes(one), yes(other));
        let pooled = (a + b) / 2.0;
        let error = (2.0 * pooled * (1.0 - pooled) / half as f64).sqrt();
        found += usize::from((b - a).abs() > z * error);
    }
    check(found, SURVEYS, power);

    let (yes, slope) = (0.3, 0.6);
    let effect = TestedEffect::slope(&warner(p), yes, slope).unwrap();
    let people = effect.needed(0.05, 0.9).unwrap();
    let power = effect.power(people, 0.05);
    // The intercept by which a share of .3 say yes in all.
    let intercept = -0.914_661_313;
    let mut found = 0;
    for _ in 0..SURVEYS {
        let rows: Vec<(f64, f64)> = (0..people)
            .map(|_| {
                let x = (-2.0 * dice.open_unit().ln()).sqrt()
                    * (std::f64::consts::TAU * dice.unit()).cos();
                let truth = dice.unit() < 1.0 / (1.0 + (-(intercept + slope * x)).exp());
                (x, f64::from(u8::from(truth == (dice.unit() < p))))
            })
            .collect();
        let n = rows.len() as f64;
        let (mean_x, mean) = (
            rows.iter().map(|row| row.0).sum::<f64>() / n,
            rows.iter().map(|row| row.1).sum::<f64>() / n,
        );
        let sum: f64 = rows.iter().map(|(x, y)| (x - mean_x) * (y - mean)).sum();
        let spread: f64 = rows.iter().map(|(x, _)| (x - mean_x).powi(2)).sum();
        found += usize::from(sum.abs() > z * (mean * (1.0 - mean) * spread).sqrt());
    }
    check(found, SURVEYS, power);
}

fn check(found: usize, surveys: usize, power: f64) {
    let share = found as f64 / surveys as f64;
    let error = (power * (1.0 - power) / surveys as f64).sqrt();
    println!("planned {power:.4}, found {share:.4} ± {error:.4}");
    assert!((share - power).abs() < 4.0 * error, "{share} {power}");
}

#[test]
fn what_cannot_be_planned_is_said() {
    let silent = warner(0.5);
    let words = |result: Result<u64, undertone_design::Error>| result.unwrap_err().to_string();
    assert!(
        words(sample_size::for_shares(&silent, &law(0.2), 0.02, 0.95)).contains("do not determine")
    );
    let clear = Channel::identity(2).unwrap();
    assert!(
        words(sample_size::for_shares(&clear, &law(0.2), 0.0, 0.95)).contains("half_width is 0")
    );
    assert!(
        words(sample_size::for_shares(&warner(0.5001), &law(0.2), 1e-6, 0.95))
            .contains("more than")
    );
    assert!(TestedEffect::difference(&clear, [&law(0.2), &law(0.2)], 1).is_err());
    assert!(TestedEffect::slope(&clear, 0.2, 0.0).is_err());
    let three = Channel::identity(3).unwrap();
    assert!(
        TestedEffect::slope(&three, 0.2, 1.0).unwrap_err().to_string().contains("yes/no question")
    );
}
