//! Golden values of optimal design for linear losses: to every digit for the float solution, to nine
//! digits for the policy that ships.
use undertone_core::{Claim, Context, PriorBox, WEIGHT_ONE};
use undertone_design::measure::lip;
use undertone_design::mechanism::linear::{self, Belief, Rule, Rules};
use undertone_design::mechanism::uncertain::{self, Interval};
use undertone_design::objective::Objective;
use undertone_testkit::claim::epsilon;
use undertone_testkit::golden::assert_golden;
use undertone_testkit::law::distribution;
use undertone_testkit::spec::{indexed, known};

const SKEWED: [f64; 4] = [0.1, 0.1, 0.1, 0.7];

fn losses(objective: &Objective, symbols: usize) -> Vec<Vec<f64>> {
    objective.losses(symbols).unwrap().unwrap()
}

fn absolute(symbols: usize) -> Vec<Vec<f64>> {
    losses(&Objective::Absolute((0..symbols).map(|x| x as f64).collect()), symbols)
}

/// The optimum in floats, under float rules.
fn optimum(p: &[f64], rules: Vec<Rule>, losses: &[Vec<f64>]) -> f64 {
    let rules = Rules::new(p.len(), None, rules).unwrap();
    let found = linear::optimal_under(&rules, &distribution(p), losses).unwrap();
    assert!((found.optimum - found.bound.unwrap()).abs() < 1e-11);
    found.optimum
}

fn lip_rule(p: &[f64], epsilon: f64) -> Rule {
    Rule::lip(Belief::Prior(distribution(p)), epsilon)
}

/// Asserts agreement to `digits` significant digits.
#[track_caller]
fn assert_digits(ours: f64, theirs: f64, digits: i32) {
    let unit = 10f64.powi(theirs.abs().log10().floor() as i32 + 1 - digits);
    assert!((ours - theirs).abs() <= 0.51 * unit, "ours {ours:.14}, theirs {theirs:.14}");
}

#[test]
fn g33_hamming() {
    let hamming = losses(&Objective::Hamming, 4);
    let value = optimum(&SKEWED, vec![lip_rule(&SKEWED, 2.0)], &hamming);
    assert_golden("G33", value);
    let spec = indexed(4, known(&SKEWED), vec![Claim::lip(epsilon("2"))]);
    let design = linear::design(&spec, &distribution(&SKEWED), &hamming).unwrap();
    assert_digits(design.loss, value, 9);
    // Rounding the prior moves the optimum by more than rounding the channel does.
    assert!(design.loss - design.proposal.optimum < 1e-10 * design.loss);
}

#[test]
fn g37_a_box_of_priors() {
    let (lower, upper) = (vec![0.1, 0.2, 0.3], vec![0.3, 0.4, 0.6]);
    let hamming = losses(&Objective::Hamming, 3);
    let belief = Belief::Within { lower: lower.clone(), upper: upper.clone() };
    let value = optimum(&[0.2, 0.3, 0.5], vec![Rule::lip(belief, 1.5)], &hamming);
    assert_golden("G37", value);
    let ends = |ends: &[f64], round: fn(f64) -> f64| {
        ends.iter().map(|end| round(end * WEIGHT_ONE as f64) as u64).collect()
    };
    let within = PriorBox::new(ends(&lower, f64::floor), ends(&upper, f64::ceil)).unwrap();
    let spec = indexed(3, Context::Within(within), vec![Claim::lip(epsilon("1.5"))]);
    let design = linear::design(&spec, &distribution(&[0.2, 0.3, 0.5]), &hamming).unwrap();
    assert_digits(design.loss, value, 9);
}

#[test]
fn absolute_losses_of_the_table() {
    let value = optimum(&SKEWED, vec![lip_rule(&SKEWED, 2.0)], &absolute(4));
    assert_digits(value, 0.16523, 5);
    let uniform = [1.0 / 21.0; 21];
    let value = optimum(&uniform, vec![lip_rule(&uniform, 2.0)], &absolute(21));
    assert_digits(value, 1.448, 4);
}

#[test]
fn zipf_under_ldp() {
    let zipf: Vec<f64> = (1..=4).map(|rank| 1.0 / f64::from(rank)).collect();
    let value = optimum(&zipf, vec![Rule::ldp(1.5)], &losses(&Objective::Hamming, 4));
    assert_digits(value, 0.3915, 4);
}

/// Under LDP and 0-1 loss the optimum is k-ary randomised response on the likeliest j symbols, for the
/// best j; the other inputs answer by chance.
#[test]
fn ldp_of_the_skewed_prior() {
    let hamming = losses(&Objective::Hamming, 4);
    for (level, best) in [(0.5, 1), (1.0, 1), (2.0, 4), (3.0, 4)] {
        let odds = f64::exp(level);
        let error = |j: usize| {
            let covered = 0.7 + 0.1 * (j as f64 - 1.0);
            1.0 - covered * odds / (odds + j as f64 - 1.0)
        };
        let value = optimum(&SKEWED, vec![Rule::ldp(level)], &hamming);
        assert!((value - error(best)).abs() < 1e-11, "{level}: {value}");
        assert!((1..=4).all(|j| error(j) >= error(best)), "{level}");
    }
}

#[test]
fn g27_an_uncertain_yes_or_no() {
    let interval = Interval::new(0.05, 0.2).unwrap();
    let best = uncertain::optimal(interval, 1.0).unwrap();
    assert_golden("G27", best.q(0, 1));
    assert!(!uncertain::published_is_valid(interval, 1.0).unwrap());
    let printed = uncertain::published(interval, 1.0).unwrap();
    let worst = lip::leakage(&distribution(&[0.95, 0.05]), &printed).unwrap().nats;
    assert_digits(worst, 1.9035, 5);
}
