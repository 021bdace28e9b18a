//! Shares from data that people randomised themselves.

use undertone_estimate::compliance::{
    AttentiveCrosswise, CheaterDetection, ComplianceError, LieDetector, Quantity, ReportCells,
};
use undertone_testkit::dice::Dice;

/// Many rows with exactly the shares of yes (first, second) in two groups of equal size.
fn groups(first: f64, second: f64, rows: usize) -> ReportCells {
    let mut cells = ReportCells::default();
    for (group, share) in [(false, first), (true, second)] {
        for row in 0..rows {
            cells.add(group, (row as f64) < share * rows as f64, 1.0).unwrap();
        }
    }
    cells
}

fn near(quantity: &Quantity, value: f64) {
    assert!((quantity.estimate - value).abs() < 1e-9, "{quantity:?} {value}");
}

#[test]
fn expected_shares_give_back_the_truth() {
    let (share, truthful) = (0.3, 0.8);
    let seen = |p: f64| share * truthful + (1.0 - share) * (1.0 - p);
    let found = LieDetector::new(0.8, 0.4).unwrap().estimate(&groups(seen(0.8), seen(0.4), 1000));
    let [found_share, found_truthful] = found.unwrap();
    near(&found_share, share);
    near(&found_truthful, truthful);
    // π = .2 honest yes, β = .7 honest no, .1 cheaters.
    let seen = |p: f64| 0.2 + 0.7 * p;
    let found =
        CheaterDetection::new(0.2, 0.6).unwrap().estimate(&groups(seen(0.2), seen(0.6), 1000));
    for (quantity, value) in found.unwrap().iter().zip([0.2, 0.7, 0.1]) {
        near(quantity, value);
    }
}

#[test]
fn the_corrected_share_is_the_published_formula() {
    let mut dice = Dice::new(17);
    let mut cells = ReportCells::default();
    let mut sums = [0.0; 3];
    for _ in 0..500 {
        let (yes, attended, weight) = (dice.unit() < 0.7, dice.unit() < 0.75, 0.5 + dice.unit());
        cells.add(attended, yes, weight).unwrap();
        sums[0] += weight;
        sums[1] += weight * f64::from(u8::from(yes));
        sums[2] += weight * f64::from(u8::from(attended));
    }
    let (p, other) = (0.15, 0.2);
    let [share, naive, attentive] =
        AttentiveCrosswise::new(p, other).unwrap().estimate(&cells).unwrap();
    let (yes, attended) = (sums[1] / sums[0], sums[2] / sums[0]);
    let printed_naive = (yes + p - 1.0) / (2.0 * p - 1.0);
    let gamma = (attended - 0.5) / (0.5 - other);
    near(&naive, printed_naive);
    near(&attentive, gamma);
    near(&share, printed_naive - 0.5 * (1.0 - 1.0 / gamma) * (yes - 0.5) / (p - 0.5));
}

/// The rows of a survey where `share` is true, drawn with these rules: (group or attention, report).
fn simulate(
    rows: usize,
    dice: &mut Dice,
    mut row: impl FnMut(&mut Dice, usize) -> (bool, bool),
) -> ReportCells {
    let mut cells = ReportCells::default();
    for at in 0..rows {
        let (second, report) = row(dice, at);
        cells.add(second, report, 1.0).unwrap();
    }
    cells
}

/// 2,000 surveys: a 95 % interval misses 93 to 97 % with a chance below 1e-4 if its coverage is 95 %.
#[test]
fn intervals_cover() {
    const SURVEYS: usize = 2000;
    let mut dice = Dice::new(1);
    let covers = |quantity: &Quantity, truth: f64| {
        let (low, high) = quantity.interval(0.95);
        low <= truth && truth <= high
    };
    let mut covered = [0usize; 4];
    for _ in 0..SURVEYS {
        let cells = simulate(2000, &mut dice, |dice, at| {
            let p = if at % 2 == 0 { 0.8 } else { 0.3 };
            let yes = match dice.unit() < 0.3 {
                true => dice.unit() < 0.85,
                false => dice.unit() < 1.0 - p,
            };
            (at % 2 == 1, yes)
        });
        let found = LieDetector::new(0.8, 0.3).unwrap().estimate(&cells).unwrap();
        covered[0] += usize::from(covers(&found[0], 0.3));
        let cells = simulate(2000, &mut dice, |dice, at| {
            let p = if at % 2 == 0 { 0.2 } else { 0.7 };
            let who = dice.unit();
            let honest = if who < 0.25 { true } else { who < 0.85 && dice.unit() < p };
            (at % 2 == 1, honest)
        });
        let found = CheaterDetection::new(0.2, 0.7).unwrap().estimate(&cells).unwrap();
        covered[1] += usize::from(covers(&found[0], 0.25));
        covered[2] += usize::from(covers(&found[2], 0.15));
        let cells = simulate(2000, &mut dice, |dice, _| {
            let attends = dice.unit() < 0.8;
            let one = |dice: &mut Dice, truth: bool| match attends {
                // Both or neither.
                true => truth == (dice.unit() < 0.15),
                false => dice.unit() < 0.5,
            };
            let truth = dice.unit() < 0.1;
            (one(dice, false), one(dice, truth))
        });
        let found = AttentiveCrosswise::new(0.15, 0.15).unwrap().estimate(&cells).unwrap();
        covered[3] += usize::from(covers(&found[0], 0.1));
    }
    for (name, count) in ["lie detector", "honest yes", "cheaters", "crosswise"].iter().zip(covered)
    {
        let share = count as f64 / SURVEYS as f64;
        println!("{name}: {share}");
        assert!((0.93..=0.97).contains(&share), "{name}: {share}");
    }
}

#[test]
fn counts_merge() {
    let (mut one, all) = (groups(0.4, 0.6, 10), groups(0.4, 0.6, 20));
    one.merge(&groups(0.4, 0.6, 10));
    assert_eq!(one, all);
}

#[test]
fn bad_input_is_refused_in_words() {
    assert!(matches!(LieDetector::new(0.5, 0.5), Err(ComplianceError::Singular { .. })));
    assert!(CheaterDetection::new(0.0, 0.5).unwrap_err().to_string().starts_with("P1 is 0: "));
    let singular = AttentiveCrosswise::new(0.5, 0.15).unwrap_err().to_string();
    assert!(singular.contains("singular") && singular.contains("not 0.5"), "{singular}");
    let mut cells = ReportCells::default();
    assert!(cells.add(true, true, 0.0).unwrap_err().to_string().contains("above 0"));
    assert!(cells.add(true, true, f64::NAN).is_err());
    let empty = LieDetector::new(0.2, 0.6).unwrap().estimate(&cells).unwrap_err();
    assert_eq!(empty, ComplianceError::Rows { group: "the first group", rows: 0 });
    let asleep = groups(0.5, 0.5, 50);
    let error = AttentiveCrosswise::new(0.15, 0.15).unwrap().estimate(&asleep).unwrap_err();
    assert!(error.to_string().contains("attended"), "{error}");
}

/// The published estimates of the R package cWise on its own data, and the delta method's error.
#[test]
fn golden_crosswise_with_attention() {
    let path =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/surveys/cwise_cmdata.csv");
    let Ok(text) = std::fs::read_to_string(path) else {
        println!("skipped: no ../shared/data/surveys");
        return;
    };
    let (mut plain, mut weighted) = (ReportCells::default(), ReportCells::default());
    for line in text.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let (yes, attended) = (cells[0] == "1", cells[1] == "1");
        plain.add(attended, yes, 1.0).unwrap();
        weighted.add(attended, yes, cells[2].parse().unwrap()).unwrap();
    }
    let design = AttentiveCrosswise::new(0.15, 0.15).unwrap();
    let round = |value: f64| (value * 1e4).round() / 1e4;
    let [share, naive, attentive] = design.estimate(&plain).unwrap();
    assert_eq!((round(naive.estimate), round(naive.std_error)), (0.1950, 0.0144));
    assert_eq!((round(share.estimate), round(share.std_error)), (0.1054, 0.0227));
    assert_eq!(round(attentive.estimate), 0.7729);
    let found = design.estimate(&weighted).unwrap().map(|quantity| round(quantity.estimate));
    assert_eq!(found, [0.1097, 0.1921, 0.7888]);
}
