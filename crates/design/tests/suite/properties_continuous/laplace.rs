//! Bounded Laplace noise.

use undertone_design::Distribution;
use undertone_design::measure::{delta, lip};
use undertone_design::mechanism::gaussian::GaussianNoise;
use undertone_design::mechanism::laplace::{self, BoundedLaplace, Limits};

use crate::properties_continuous::generate::{points, prior};
use undertone_testkit::dice::Dice;
use undertone_testkit::integral::{grid, simpson};

/// f_x(y) of bounded Laplace noise, straight from the definition.
fn laplace_density(range: (f64, f64), x: f64, b: f64, y: f64) -> f64 {
    let inside = 1.0 - ((-(x - range.0) / b).exp() + (-(range.1 - x) / b).exp()) / 2.0;
    (-(y - x).abs() / b).exp() / (2.0 * b * inside)
}

#[test]
fn laplace_leakage_agrees_with_a_dense_grid() {
    let mut dice = Dice::new(1);
    for case in 0..60 {
        let n = dice.count(2, 6);
        let range = (-1.0, 2.0);
        let points = points(n, range.0, range.1, &mut dice);
        let prior = prior(points.len(), &mut dice);
        let scales: Vec<f64> = if case % 2 == 0 {
            vec![dice.between(0.3, 4.0); points.len()]
        } else {
            points.iter().map(|_| dice.between(0.3, 4.0)).collect()
        };
        let noise = BoundedLaplace::new(range, points.clone(), scales.clone()).unwrap();
        let exact = noise.leakage(&prior).unwrap();
        let (mut up, mut down, mut ldp) = (0.0f64, 0.0f64, 0.0f64);
        for y in grid(range.0, range.1, 6000).into_iter().chain(points.clone()) {
            let f: Vec<f64> = points
                .iter()
                .zip(&scales)
                .map(|(&x, &b)| laplace_density(range, x, b, y))
                .collect();
            let law: f64 = f.iter().zip(prior.as_slice()).map(|(f, p)| f * p).sum();
            let (high, low) =
                f.iter().fold((0.0f64, f64::INFINITY), |(h, l), &v| (h.max(v), l.min(v)));
            up = up.max((high / law).ln());
            down = down.max((law / low).ln());
            ldp = ldp.max((high / low).ln());
        }
        for (name, exact, slow) in
            [("rise", exact.max_lift, up), ("fall", exact.min_lift, down), ("ldp", exact.ldp, ldp)]
        {
            assert!(exact >= slow - 1e-12 && exact <= slow + 1e-6, "{case} {name}: {exact} {slow}");
        }
    }
}

#[test]
fn laplace_tables_and_errors_agree_with_integrals() {
    let mut dice = Dice::new(2);
    for _ in 0..20 {
        let range = (0.0, 3.0);
        let n = dice.count(1, 4);
        let points = points(n, range.0, range.1, &mut dice);
        let prior = prior(points.len(), &mut dice);
        let scales: Vec<f64> = points.iter().map(|_| dice.between(0.05, 50.0)).collect();
        let noise = BoundedLaplace::new(range, points.clone(), scales.clone()).unwrap();
        let edges = grid(range.0, range.1, dice.count(1, 9));
        let table = noise.table(&edges).unwrap();
        let (mut squared, mut absolute) = (0.0, 0.0);
        for (x, (&at, &b)) in points.iter().zip(&scales).enumerate() {
            let f = |y: f64| laplace_density(range, at, b, y);
            // The density has a kink at the input: integrate either side of it.
            let over = |g: &dyn Fn(f64) -> f64, from: f64, to: f64| {
                let cut = at.clamp(from, to);
                simpson(g, from, cut, 400) + simpson(g, cut, to, 400)
            };
            for (y, e) in edges.windows(2).enumerate() {
                let slow = over(&f, e[0], e[1]);
                assert!((table.q(x, y) - slow).abs() < 1e-9, "{at} {b}: {} {slow}", table.q(x, y));
            }
            squared += prior[x] * over(&|y| f(y) * (y - at).powi(2), range.0, range.1);
            absolute += prior[x] * over(&|y| f(y) * (y - at).abs(), range.0, range.1);
        }
        assert!((noise.mean_squared_error(&prior).unwrap() - squared).abs() < 1e-8);
        assert!((noise.mean_absolute_error(&prior).unwrap() - absolute).abs() < 1e-8);
    }
}

#[test]
fn scales_are_ordered_and_each_keeps_its_claim() {
    let mut dice = Dice::new(4);
    for _ in 0..40 {
        let n = dice.count(2, 6);
        let range = (0.0, 5.0);
        let mut points = points(n, range.0, range.1, &mut dice);
        (points[0], *points.last_mut().unwrap()) = range;
        points.dedup();
        let prior = prior(points.len(), &mut dice);
        let epsilon = dice.between(0.05, 6.0);
        let leaks = |scale: f64| {
            let noise = BoundedLaplace::constant(range, &points, scale).unwrap();
            noise.leakage(&prior).unwrap().lip()
        };
        let exact = laplace::exact(range, &points, &prior, Limits::lip(epsilon)).unwrap();
        let closed = laplace::closed(5.0, prior.min(), epsilon).unwrap();
        let printed = laplace::published(5.0, prior.min(), epsilon).unwrap();
        assert!(exact <= closed * (1.0 + 1e-12) && closed <= printed * (1.0 + 1e-12));
        assert!(printed <= 5.0 / epsilon * (1.0 + 1e-12));
        assert!((leaks(exact) - epsilon).abs() < 1e-11, "{} {epsilon}", leaks(exact));
        assert!(leaks(exact * (1.0 - 1e-9)) > epsilon);
        assert!(leaks(closed) <= epsilon + 1e-12 && leaks(printed) <= epsilon + 1e-12);
    }
}

/// JSTL21 (26) leaves α open. 0 is always valid; the readings that come to mind are not.
#[test]
fn natural_readings_of_alpha_leak_more_than_they_claim() {
    let mut dice = Dice::new(5);
    let (mut failed, range) = ([0; 4], (0.0, 1.0));
    for _ in 0..120 {
        let n = dice.count(2, 5);
        let points = grid(0.0, 1.0, n - 1);
        let weights = (0..n).map(|_| -(1.0 - dice.unit()).ln()).collect();
        let prior = Distribution::normalised("prior", weights).unwrap();
        let epsilon = dice.between(0.2, 3.0);
        let leaks = |scales: Vec<f64>| {
            let noise = BoundedLaplace::new(range, points.clone(), scales).unwrap();
            noise.leakage(&prior).unwrap().lip()
        };
        let instance = |alpha: f64| leaks(laplace::instance(1.0, &prior, epsilon, alpha).unwrap());
        let each = prior.as_slice().iter();
        let own = each.map(|p| 1.0 / ((epsilon.exp() - p) / (1.0 - p)).ln()).collect();
        let readings =
            [instance(1.0 - (-epsilon).exp()), instance(1.0), instance(epsilon), leaks(own)];
        for (count, leaked) in failed.iter_mut().zip(readings) {
            *count += usize::from(leaked > epsilon + 1e-9);
        }
        assert!(instance(0.0) <= epsilon + 1e-12);
        let alpha = laplace::largest_alpha(range, &points, &prior, epsilon).unwrap();
        assert!(instance(alpha) <= epsilon);
        assert!(instance(alpha * (1.0 + 1e-6) + 1e-9) > epsilon, "{alpha}");
    }
    assert!(failed.iter().all(|count| (20..100).contains(count)), "{failed:?}");
}

/// Halving cells is undone by post-processing, so leakage grows with every halving and never passes the
/// density's.
#[test]
fn binning_is_monotone_for_both_kinds_of_noise() {
    let mut dice = Dice::new(3);
    for _ in 0..20 {
        let n = dice.count(2, 5);
        let points = points(n, 0.0, 1.0, &mut dice);
        let prior = prior(points.len(), &mut dice);
        let scales: Vec<f64> = points.iter().map(|_| dice.between(0.2, 2.0)).collect();
        let noise = BoundedLaplace::new((0.0, 1.0), points.clone(), scales.clone()).unwrap();
        let bells = GaussianNoise::new(&points, &scales).unwrap();
        let (whole, epsilon) = (noise.leakage(&prior).unwrap().lip(), dice.between(0.0, 1.0));
        let all = bells.delta(&prior, epsilon).unwrap();
        let (mut least, mut excess) = (0.0, 0.0);
        for doublings in 0..8 {
            let edges = grid(0.0, 1.0, 3 << doublings);
            let found = lip::leakage(&prior, &noise.table(&edges).unwrap()).unwrap().nats;
            assert!(found >= least - 1e-12 && found <= whole + 1e-12, "{found} {least} {whole}");
            let table = bells.table(&edges).unwrap();
            let escaped = delta::conditional(&prior, &table, epsilon).unwrap();
            assert!(escaped >= excess - 1e-13 && escaped <= all + 1e-13, "{escaped} {all}");
            (least, excess) = (found, escaped);
        }
    }
}
