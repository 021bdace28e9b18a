//! Golden values of the closed-form mechanisms.
use undertone_design::measure::lip;
use undertone_design::mechanism::randomized_response::{binary_optimal, published};
use undertone_design::{Distribution, extremal, objective};
use undertone_testkit::golden::assert_golden;

fn binary(p1: f64) -> Distribution {
    Distribution::new("prior", vec![1.0 - p1, p1]).unwrap()
}

#[test]
fn g21_the_printed_formula_leaks_more_than_it_claims() {
    let prior = binary(0.1);
    let channel = published(&prior, 1.0).unwrap();
    assert_golden("G21", lip::leakage(&prior, &channel).unwrap().nats);
}

#[test]
fn g22_g23_g25_the_binary_optimum() {
    let channel = binary_optimal(&binary(0.1), 1.0).unwrap();
    assert_golden("G22", channel.q(0, 1));
    assert_golden("G23", objective::mmse(&binary(0.1), &channel, &[0.0, 1.0]).unwrap());
    let channel = binary_optimal(&binary(0.3), 2.0).unwrap();
    assert_golden("G25", objective::mmse(&binary(0.3), &channel, &[0.0, 1.0]).unwrap());
}

/// The specification's table (a): printed MSE, true leakage, true optimum.
#[test]
fn table_a_printed_against_true() {
    for (p1, eps, printed, leakage, optimum) in [
        (0.01, 0.5, 8.367e-3, 3.688, 9.874e-3),
        (0.01, 1.0, 5.944e-3, 4.152, 9.791e-3),
        (0.01, 2.0, 2.498e-3, 4.461, 9.348e-3),
        (0.01, 5.0, 1.330e-4, 5.0, 1.330e-4),
        (0.1, 0.5, 0.07607, 1.513, 0.08745),
        (0.1, 1.0, 0.05404, 1.900, 0.07914),
        (0.1, 2.0, 0.02271, 2.173, 0.03476),
        (0.1, 5.0, 0.001209, 5.0, 0.001209),
        (0.3, 0.5, 0.17749, 0.651, 0.18703),
        (0.3, 1.0, 0.12609, 1.0, 0.12609),
    ] {
        let prior = binary(p1);
        let close = |ours: f64, theirs: f64| (ours - theirs).abs() <= 6e-4 * theirs;
        let channel = published(&prior, eps).unwrap();
        let mse = objective::mmse(&prior, &channel, &[0.0, 1.0]).unwrap();
        assert!(close(mse, printed), "{p1} {eps}: {mse}");
        assert!(close(lip::leakage(&prior, &channel).unwrap().nats, leakage), "{p1} {eps}");
        let channel = binary_optimal(&prior, eps).unwrap();
        assert!(lip::leakage(&prior, &channel).unwrap().nats <= eps + 1e-12);
        let mse = objective::mmse(&prior, &channel, &[0.0, 1.0]).unwrap();
        assert!(close(mse, optimum), "{p1} {eps}: {mse}");
    }
}

/// No mixture of extremal outputs does better than the closed form: on a binary alphabet the
/// squared error is linear over pairs of extremal posteriors, so all pairs are tried.
#[test]
fn the_binary_optimum_beats_every_pair_of_extremal_outputs() {
    for step in 1..=40 {
        let prior = binary(f64::from(step) / 80.0);
        for eps in [0.1f64, 0.5, 1.0, 2.0, 4.0] {
            let best = objective::mmse(&prior, &binary_optimal(&prior, eps).unwrap(), &[0.0, 1.0]);
            let best = best.unwrap();
            let lifts = extremal::lifts(&prior, (-eps).exp(), eps.exp()).unwrap();
            for a in &lifts {
                for b in lifts.iter().filter(|b| (b[1] - 1.0) * (a[1] - 1.0) < 0.0) {
                    let weight = (1.0 - b[1]) / (a[1] - b[1]);
                    let posterior = |l: &[f64]| prior[1] * l[1];
                    let variance = |r: f64| r * (1.0 - r);
                    let mse =
                        weight * variance(posterior(a)) + (1.0 - weight) * variance(posterior(b));
                    assert!(best <= mse + 1e-12, "{prior:?} {eps}: {best} {mse}");
                }
            }
        }
    }
}
