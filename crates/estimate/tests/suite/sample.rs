//! Designs of samples, against textbook formulas written out.

use proptest::prelude::*;
use undertone_estimate::{Factor, Margin, Sample, SampleDesign, SampleError};

fn factor(names: &[&str], codes: &[u32]) -> Factor {
    Factor::new(names.iter().map(|name| (*name).to_owned()).collect(), codes.to_vec()).unwrap()
}

fn variance(sample: &Sample, scores: &[f64]) -> f64 {
    sample.covariance_of_total(1, |row, out| out[0] = scores[row]).unwrap().at(0, 0)
}

#[test]
fn a_simple_sample_has_the_textbook_variance() {
    let z = [1.0, 4.0, 2.0, 7.0];
    // n/(n-1) Σ (z - 3.5)² = 4/3 · 21.
    assert!((variance(&Sample::simple(4), &z) - 28.0).abs() < 1e-12);
    let design = SampleDesign { population: Some(16), ..SampleDesign::default() };
    let finite = Sample::new(4, design).unwrap();
    assert!((variance(&finite, &z) - 28.0 * 0.75).abs() < 1e-12);
    assert_eq!(finite.sampling_fraction(2), 0.25);
}

#[test]
fn bad_designs_are_refused_in_words() {
    let refused = |design: SampleDesign| Sample::new(3, design).unwrap_err().to_string();
    let weights =
        |weights: &[f64]| SampleDesign { weights: Some(weights.to_vec()), ..Default::default() };
    for (value, weight) in [("0", 0.0), ("-2", -2.0), ("NaN", f64::NAN), ("inf", f64::INFINITY)] {
        let words = refused(weights(&[1.0, weight, 1.0]));
        assert!(
            words.starts_with(&format!("row 1 has weight {value}: weights must be above")),
            "{words}"
        );
    }
    assert!(refused(weights(&[1.0])).contains("1 weights for 3 rows"));
    let strata = Some(factor(&["north", "south"], &[0, 1, 0]));
    let words = refused(SampleDesign { strata: strata.clone(), ..Default::default() });
    assert!(
        words.starts_with("stratum \"south\" has one row") && words.contains("merge"),
        "{words}"
    );
    let clusters = Some(factor(&["a", "b"], &[0, 0, 0]));
    let words = refused(SampleDesign { clusters: clusters.clone(), ..Default::default() });
    assert!(words.starts_with("all rows are in one cluster"), "{words}");
    let words = refused(SampleDesign { strata, clusters, ..Default::default() });
    assert!(words.contains("has one cluster"), "{words}");
    let words = refused(SampleDesign { population: Some(2), ..Default::default() });
    assert!(words.contains("population of 2"), "{words}");
    assert_eq!(Sample::new(0, SampleDesign::default()).unwrap_err(), SampleError::NoRows);
}

/// The stratified cluster variance as the textbooks write it, one sum inside another.
fn slow(scores: &[f64], weights: &[f64], strata: &[u32], clusters: &[u32], population: f64) -> f64 {
    let total: f64 = weights.iter().sum();
    let mut sum = 0.0;
    for h in 0..3 {
        let rows: Vec<usize> = (0..scores.len()).filter(|&row| strata[row] == h).collect();
        let weight: f64 = rows.iter().map(|&row| weights[row]).sum();
        let fraction = rows.len() as f64 / (population * weight / total);
        let mut totals = Vec::new();
        for c in 0..4 {
            let own: Vec<usize> = rows.iter().copied().filter(|&row| clusters[row] == c).collect();
            if !own.is_empty() {
                totals.push(own.iter().map(|&row| weights[row] * scores[row]).sum::<f64>());
            }
        }
        let n = totals.len() as f64;
        let mean = totals.iter().sum::<f64>() / n;
        let squares: f64 = totals.iter().map(|t| (t - mean) * (t - mean)).sum();
        sum += (1.0 - fraction.min(1.0)) * n / (n - 1.0) * squares;
    }
    sum
}

proptest! {
    #[test]
    fn strata_clusters_and_populations_agree_with_the_definition(
        scores in prop::collection::vec(-2.0..2.0f64, 36),
        weights in prop::collection::vec(0.2..3.0f64, 36),
        classes in prop::collection::vec(0..5u32, 36),
    ) {
        let strata: Vec<u32> = (0..36).map(|row| row % 3).collect();
        let clusters: Vec<u32> = (0..36).map(|row| (row / 3) % 4).collect();
        let own: Vec<u32> = (0..36).collect();
        let names = ["a", "b", "c"];
        let design = SampleDesign {
            weights: Some(weights.clone()),
            strata: Some(factor(&names, &strata)),
            clusters: Some(factor(&["p", "q", "r", "s"], &clusters)),
            population: Some(100),
        };
        let sample = Sample::new(36, design.clone()).unwrap();
        let expected = slow(&scores, &weights, &strata, &clusters, 100.0);
        prop_assert!((variance(&sample, &scores) / expected - 1.0).abs() < 1e-10);
        prop_assert_eq!(sample.degrees_of_freedom(), 9.0);
        // Rows of one class are added together, strata and margins apart, to the same result.
        let margin = |at: u32| Margin {
            name: format!("m{at}"),
            factor: factor(&["x", "y"], &own.iter().map(|row| (row >> at) & 1).collect::<Vec<_>>()),
            shares: vec![0.3 + 0.1 * f64::from(at), 0.6],
        };
        for clusters in [None, design.clusters.clone()] {
            let sample = Sample::new(36, SampleDesign { clusters, ..design.clone() }).unwrap();
            let raked = sample.clone().raked(vec![margin(0), margin(2)]).unwrap();
            for sample in [sample, raked] {
                let by_row = sample.covariance_of_total(1, |row, out| out[0] = scores[classes[row] as usize]);
                let by_class = sample.covariance_of_classes(1, &classes, |class, out| out[0] = scores[class as usize]);
                prop_assert!((by_row.unwrap().at(0, 0) / by_class.unwrap().at(0, 0) - 1.0).abs() < 1e-9);
            }
        }
    }
}

#[test]
fn raked_weights_have_the_margins_and_the_odds_they_had() {
    let sex = factor(&["f", "m"], &[0, 0, 0, 1, 1, 1, 1, 0]);
    let age = factor(&["old", "young"], &[0, 1, 1, 0, 0, 1, 0, 0]);
    let margins = vec![
        Margin { name: "sex".into(), factor: sex.clone(), shares: vec![52.0, 48.0] },
        Margin { name: "age".into(), factor: age.clone(), shares: vec![0.4, 0.6] },
    ];
    let sample = Sample::simple(8).raked(margins.clone()).unwrap();
    let share = |inside: &dyn Fn(usize) -> bool| {
        (0..8).filter(|&row| inside(row)).map(|row| sample.weight(row)).sum::<f64>() / 8.0
    };
    assert!((share(&|row| sex.codes()[row] == 0) - 0.52).abs() < 1e-11);
    assert!((share(&|row| age.codes()[row] == 0) - 0.40).abs() < 1e-11);
    // Iterative proportional fitting keeps the odds ratio: (2·1)/(2·3).
    let cell = |s: u32, a: u32| share(&|row| sex.codes()[row] == s && age.codes()[row] == a);
    assert!((cell(0, 0) * cell(1, 1) / (cell(0, 1) * cell(1, 0)) - 1.0 / 3.0).abs() < 1e-9);
    // What the margins explain does not vary: the total of a margin's own indicator is known.
    let of_sex =
        sample.covariance_of_total(1, |row, out| out[0] = f64::from(sex.codes()[row])).unwrap();
    assert!(of_sex.at(0, 0).abs() < 1e-18);
    let mut bad = margins.clone();
    bad[0].factor = factor(&["f", "m", "x"], sex.codes());
    bad[0].shares = vec![0.5, 0.4, 0.1];
    let words = Sample::simple(8).raked(bad).unwrap_err().to_string();
    assert!(words.starts_with("margin \"sex\": no row has \"x\""), "{words}");
}

#[test]
fn the_published_rows_of_rrtcs_are_reproduced() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/data/surveys/rrtcs_horvitz.csv");
    let Ok(text) = std::fs::read_to_string(path) else {
        println!("skipped: no ../shared/data/surveys");
        return;
    };
    let rows: Vec<Vec<f64>> = text
        .lines()
        .skip(1)
        .map(|line| {
            line.split(',').map(|cell| cell.trim_matches('"').parse().unwrap_or(f64::NAN)).collect()
        })
        .collect();
    let header: Vec<&str> =
        text.lines().next().unwrap().split(',').map(|name| name.trim_matches('"')).collect();
    let published = [
        ("copied", 1.0 / 12.0, 0.840_610_3, Some((0.767_545, 0.913_675_6))),
        ("fought", 0.1, 0.407_042_3, Some((0.343_677_6, 0.470_406_9))),
        ("bullied", 2.0 / 3.0, 0.122_065_7, Some((0.050_388_5, 0.193_742_9))),
        ("bullying", 0.1, 0.128_169, None),
        ("drug", 1.0 / 3.0, 0.128_638_5, None),
        ("sex", 1.0 / 12.0, 0.065_962_4, None),
    ];
    let design = SampleDesign { population: Some(10_777), ..Default::default() };
    let sample = Sample::new(rows.len(), design).unwrap();
    assert_eq!(rows.len(), 710);
    for (name, innocuous, value, interval) in published {
        let at = header.iter().position(|column| *column == name).unwrap();
        let classes: Vec<u32> = rows.iter().map(|row| row[at] as u32).collect();
        let shares = sample
            .shares(1, &classes, |z, out| out[0] = (f64::from(z) - 0.5 * innocuous) / 0.5)
            .unwrap();
        assert!((shares.values[0] - value).abs() < 5e-7, "{name}: {}", shares.values[0]);
        if let Some((low, high)) = interval {
            let reach = 1.959_963_985 * shares.covariance.at(0, 0).sqrt();
            assert!(
                (value - reach - low).abs() < 1e-6 && (value + reach - high).abs() < 1e-6,
                "{name}"
            );
        }
    }
}
