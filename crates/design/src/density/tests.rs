//! Densities against their own integrals, and fits against data whose law is known.

use super::*;
use undertone_numeric::normal::normal_cdf;

fn laws() -> Vec<Density> {
    ["uniform:-1,3", "normal:2,1.5", "beta:2,5", "beta:0.5,0.5,10,20", "mixture:0.3,0,1;0.7,6,2"]
        .iter()
        .map(|text| Density::parse(text).unwrap())
        .chain([Density::Histogram(
            Histogram::new(
                vec![0.0, 1.0, 4.0, 5.0],
                Distribution::new("mass", vec![0.2, 0.5, 0.3]).unwrap(),
            )
            .unwrap(),
        )])
        .collect()
}

/// Equal steps of probability: a slow stand-in for integrals under the law.
fn quantiles(law: &Density, steps: usize) -> Vec<f64> {
    let at = |share: f64| {
        let (mut low, mut high) = (-100.0, 100.0);
        for _ in 0..60 {
            let middle = (low + high) / 2.0;
            if law.below(middle) < share { low = middle } else { high = middle }
        }
        (low + high) / 2.0
    };
    (0..steps).map(|i| at((i as f64 + 0.5) / steps as f64)).collect()
}

#[test]
fn moments_agree_with_quantiles() {
    for law in laws() {
        let sample = quantiles(&law, 4000);
        let n = sample.len() as f64;
        let mean = sample.iter().sum::<f64>() / n;
        let variance = sample.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n;
        // Sorted, the mean distance is a weighted sum.
        let weighed = sample.iter().enumerate().map(|(i, v)| (2.0 * i as f64 + 1.0 - n) * v);
        let difference = 2.0 * weighed.sum::<f64>() / (n * n);
        let close = |ours: f64, slow: f64| (ours - slow).abs() < 3e-3 * law.variance().max(0.1);
        assert!(close(law.mean(), mean), "{law}: {} {mean}", law.mean());
        assert!(close(law.variance(), variance), "{law}: {} {variance}", law.variance());
        let ours = law.mean_difference();
        assert!(close(ours, difference), "{law}: {ours} {difference}");
    }
}

#[test]
fn the_density_is_the_slope_of_the_integral() {
    for law in laws() {
        for y in [-0.5, 0.3, 0.7, 2.2, 4.5, 11.0, 15.5] {
            let slope = (law.below(y + 1e-5) - law.below(y - 1e-5)) / 2e-5;
            assert!((law.density(y) - slope).abs() < 1e-6, "{law} {y}: {} {slope}", law.density(y));
        }
    }
}

#[test]
fn clipping_puts_the_tails_in_the_end_bins_and_truncating_forgets_them() {
    let law = Density::parse("normal:0,1").unwrap();
    let edges = [-1.0, 0.0, 2.0];
    let clipped = law.clipped(&edges).unwrap();
    assert!((clipped.p[0] - 0.5).abs() < 1e-15 && clipped.floored.is_empty());
    assert!((clipped.below - normal_cdf(-1.0)).abs() < 1e-16);
    assert!((clipped.above - normal_cdf(-2.0)).abs() < 1e-16);
    let truncated = law.truncated(&edges).unwrap();
    let inside = normal_cdf(2.0) - normal_cdf(-1.0);
    assert!((truncated.p[0] - (0.5 - normal_cdf(-1.0)) / inside).abs() < 1e-15);
    assert_eq!((truncated.below, truncated.above), (0.0, 0.0));
}

#[test]
fn bins_without_mass_are_raised_and_named() {
    let law = Density::parse("uniform:0,1").unwrap();
    let binned = law.clipped(&[-1.0, 0.0, 0.5, 1.0, 2.0]).unwrap();
    assert_eq!(binned.floored, [0, 3]);
    assert!(binned.p[0] > 0.9 * FLOOR && binned.p[0] < 1.1 * FLOOR);
    assert!(law.truncated(&[2.0, 3.0]).unwrap_err().to_string().contains("no mass"));
    let beyond = law.clipped(&[2.0, 3.0]).unwrap_err().to_string();
    assert!(beyond.contains("outside 2 to 3, 1 below and 0 above"), "{beyond}");
}

#[test]
fn bad_densities_and_edges_are_refused() {
    for bad in [
        "normal",
        "normal:1",
        "normal:1,0",
        "normal:nan,1",
        "normal:a,1",
        "uniform:1,1",
        "uniform:2,1",
        "uniform:0,inf",
        "beta:0,1",
        "beta:1,1,2,1",
        "mixture:0.5,0,1",
        "mixture:0.5,0,1;0.5,1",
        "cauchy:0,1",
    ] {
        let error = Density::parse(bad).unwrap_err().to_string();
        assert!(error.contains(bad), "{error}");
    }
    let law = Density::parse("normal:0,1").unwrap();
    for edges in [&[][..], &[0.0], &[1.0, 0.0], &[0.0, f64::NAN], &[f64::NEG_INFINITY, 0.0]] {
        assert!(law.clipped(edges).is_err(), "{edges:?}");
    }
}

#[test]
fn what_is_printed_is_what_is_read() {
    for law in laws().iter().filter(|law| !matches!(law, Density::Histogram(_))) {
        assert_eq!(Density::parse(&law.to_string()).unwrap(), *law);
    }
}

#[test]
fn two_well_separated_groups_are_found() {
    let law = Density::parse("mixture:0.3,-4,0.5;0.7,5,1.5").unwrap();
    let sample = quantiles(&law, 3000);
    let fitted = fit(&sample, 2, &Settings::default()).unwrap();
    assert!(fitted.converged);
    let [low, high] = fitted.mixture.components() else { panic!() };
    assert!((low.weight - 0.3).abs() < 2e-3 && (high.weight - 0.7).abs() < 2e-3);
    assert!((low.law.mean() + 4.0).abs() < 0.01 && (high.law.mean() - 5.0).abs() < 0.01);
    assert!((low.law.deviation() - 0.5).abs() < 0.01 && (high.law.deviation() - 1.5).abs() < 0.02);
    // Shares and likelihood as defined, computed afresh.
    let slow: f64 =
        sample.iter().map(|&v| Density::Mixture(fitted.mixture.clone()).density(v).ln()).sum();
    assert!((fitted.log_likelihood - slow).abs() < 1e-6 * slow.abs());
    assert!((fitted.bic - (5.0 * 3000f64.ln() - 2.0 * slow)).abs() < 1e-3);
    let (best, tried) = choose(&sample, 4, &Settings::default()).unwrap();
    assert_eq!((best, tried.len()), (1, 4));
}

#[test]
fn one_component_is_the_mean_and_the_deviation() {
    let values = [1.0, 2.0, 2.0, 7.0];
    let fitted = fit(&values, 1, &Settings::default()).unwrap();
    let law = fitted.mixture.components()[0].law;
    assert!((law.mean() - 3.0).abs() < 1e-12 && (law.deviation() - 5.5f64.sqrt()).abs() < 1e-12);
}

#[test]
fn the_same_seed_gives_the_same_fit_and_large_samples_are_grouped() {
    let law = Density::parse("mixture:0.5,0,1;0.5,3,1").unwrap();
    let sample = quantiles(&law, 20_000);
    let settings = Settings { restarts: 2, tolerance: 1e-8, ..Settings::default() };
    let (a, b) = (fit(&sample, 2, &settings).unwrap(), fit(&sample, 2, &settings).unwrap());
    assert_eq!(a, b);
    assert!((a.mixture.components()[0].law.mean()).abs() < 0.05, "{:?}", a.mixture);
}

#[test]
fn a_value_that_repeats_does_not_swallow_a_component() {
    let mut values: Vec<f64> = (0..100).map(f64::from).collect();
    values.extend([50.0; 40]);
    let settings = Settings { least_deviation: Some(2.0), ..Settings::default() };
    let fitted = fit(&values, 3, &settings).unwrap();
    assert!(fitted.mixture.components().iter().all(|c| c.law.deviation() >= 2.0 - 1e-12));
}

#[test]
fn data_that_cannot_be_fitted_is_refused() {
    let settings = Settings::default();
    for (values, k) in [
        (vec![], 1),
        (vec![1.0, f64::NAN], 1),
        (vec![1.0, f64::INFINITY], 1),
        (vec![3.0; 5], 1),
        (vec![1.0, 2.0], 3),
        (vec![1.0, 2.0], 0),
        (vec![1.0, 2.0], 17),
    ] {
        assert!(fit(&values, k, &settings).is_err(), "{values:?} {k}");
    }
    let bad = Settings { least_deviation: Some(f64::NAN), ..settings };
    assert!(fit(&[1.0, 2.0], 1, &bad).is_err());
    assert!(choose(&[1.0, 2.0], 0, &settings).is_err());
}
