//! Results of the papers on one bit: errors in closed form, and two claims about them that do not hold.
use undertone_design::measure::{ldp, lip, maximal_leakage, mutual_information};
use undertone_design::mechanism::{randomized_response, symmetric};
use undertone_design::objective::Objective;
use undertone_design::{Channel, Distribution};
use undertone_testkit::dice::Dice;

fn binary(p: f64) -> Distribution {
    Distribution::new("p", vec![1.0 - p, p]).unwrap()
}

/// q0 = Pr(1|0), q1 = Pr(0|1).
fn flips(q0: f64, q1: f64) -> Channel {
    Channel::new(vec![vec![1.0 - q0, q0], vec![q1, 1.0 - q1]]).unwrap()
}

fn mmse(p: f64, channel: &Channel) -> f64 {
    Objective::Mmse(vec![0.0, 1.0]).value(&binary(p), channel).unwrap()
}

/// JLT18 (9)-(16): the error of the sum of independent bits, by listing all answers, is the sum of the
/// single errors, each P(1-P) less what is explained.
#[test]
fn jlt18_the_error_of_a_sum_splits_over_people() {
    let mut dice = Dice::new(18);
    for _ in 0..50 {
        let people: Vec<(f64, Channel)> = (0..4)
            .map(|_| {
                (
                    dice.between(0.02, 0.98),
                    flips(dice.between(0.02, 0.98), dice.between(0.02, 0.98)),
                )
            })
            .collect();
        let mut error = 0.0;
        for answers in 0..16usize {
            // Over the sixteen inputs: probability, first and second moment of the sum.
            let (mut mass, mut first, mut second) = (0.0, 0.0, 0.0);
            for inputs in 0..16usize {
                let bit = |of: usize, who: usize| of >> who & 1;
                let weigh = |(who, (p, channel)): (usize, &(f64, Channel))| {
                    let x = bit(inputs, who);
                    (if x == 1 { *p } else { 1.0 - p }) * channel.q(x, bit(answers, who))
                };
                let weight: f64 = people.iter().enumerate().map(weigh).product();
                let sum = f64::from(inputs.count_ones());
                mass += weight;
                first += weight * sum;
                second += weight * sum * sum;
            }
            error += second - first * first / mass;
        }
        let split: f64 = people.iter().map(|(p, channel)| mmse(*p, channel)).sum();
        assert!((error - split).abs() < 1e-12, "{error} {split}");
    }
}

/// JLT18 (15), (26)-(29), (33), (34): the closed forms are the error of the posterior mean.
#[test]
fn jlt18_closed_forms_are_the_error_of_the_posterior_mean() {
    let mut dice = Dice::new(19);
    for _ in 0..200 {
        let (p, q0, q1) =
            (dice.between(0.02, 0.98), dice.between(0.02, 0.98), dice.between(0.02, 0.98));
        let one = p * (1.0 - q1) + (1.0 - p) * q0;
        let explained = (p * (1.0 - p) * (1.0 - q0 - q1)).powi(2) / (one * (1.0 - one));
        assert!((mmse(p, &flips(q0, q1)) - (p * (1.0 - p) - explained)).abs() < 1e-12);
        let symmetric = symmetric::error_at(p, q0).unwrap();
        assert!((mmse(p, &flips(q0, q0)) - symmetric).abs() < 1e-12);
    }
}

/// The gain of LIP over LDP does not grow towards a certain answer: it peaks at P1 = .234 for ε = 2 and
/// at .055 for ε = 5 (JLT18 below Proposition 3 says it grows).
#[test]
fn jlt18_the_gap_peaks_inside() {
    for (epsilon, peak) in [(2.0, 0.234), (5.0, 0.055)] {
        let gap = |p: f64| {
            let lip = randomized_response::binary_optimal(&binary(p), epsilon).unwrap();
            symmetric::opt_ldp_error(p, epsilon).unwrap() - mmse(p, &lip)
        };
        let at = |step: usize| step as f64 / 2000.0;
        let best = (1..=1000).max_by(|&a, &b| gap(at(a)).total_cmp(&gap(at(b)))).unwrap();
        assert!((at(best) - peak).abs() < 1e-3, "{}", at(best));
        assert!(gap(0.001) < gap(peak) / 5.0, "the gap vanishes towards a certain answer");
    }
}

/// LIP at ε/2 gives LDP at ε, so it cannot beat the LDP optimum; JLT18 Section V-A draws that it does.
#[test]
fn jlt18_half_the_budget_never_wins() {
    let round = |value: f64| (value * 1e5).round() / 1e5;
    let prior = binary(0.01);
    let right = mmse(0.01, &randomized_response::binary_optimal(&prior, 1.0).unwrap());
    let printed = mmse(0.01, &randomized_response::published(&prior, 1.0).unwrap());
    let ldp = symmetric::opt_ldp_error(0.01, 2.0).unwrap();
    assert_eq!((round(printed), round(right), round(ldp)), (0.00594, 0.00979, 0.00939));
    for p in (1..50).map(|at| f64::from(at) / 100.0) {
        for epsilon in (1..40).map(|at| f64::from(at) / 5.0) {
            let half = randomized_response::binary_optimal(&binary(p), epsilon / 2.0).unwrap();
            let ldp = symmetric::opt_ldp_error(p, epsilon).unwrap();
            assert!(mmse(p, &half) >= ldp - 1e-12, "{p} {epsilon}");
        }
    }
}

/// JSTL21 Example 1, with the logarithm its LIP line lacks.
#[test]
fn jstl21_example_1() {
    let mut dice = Dice::new(21);
    for _ in 0..200 {
        let (p, q) = (dice.between(0.02, 0.98), dice.between(0.02, 0.98));
        let (prior, channel) = (binary(p), flips(q, q));
        let one = p * (1.0 - q) + (1.0 - p) * q;
        let ratios = [one / q, one / (1.0 - q), (1.0 - one) / q, (1.0 - one) / (1.0 - q)];
        let printed = ratios.into_iter().fold(0.0, f64::max);
        let close = |ours: f64, theirs: f64| assert!((ours - theirs).abs() < 1e-12, "{p} {q}");
        close(lip::leakage(&prior, &channel).unwrap().nats, printed.ln());
        close(ldp::leakage(&channel).nats, (q / (1.0 - q)).ln().abs());
        close(maximal_leakage::leakage(&prior, &channel).unwrap(), (2.0 * q.max(1.0 - q)).ln());
        let information = p * (1.0 - q) * ((1.0 - q) / one).ln()
            + p * q * (q / (1.0 - one)).ln()
            + (1.0 - p) * (1.0 - q) * ((1.0 - q) / (1.0 - one)).ln()
            + (1.0 - p) * q * (q / one).ln();
        close(mutual_information::leakage(&prior, &channel).unwrap(), information);
    }
}
