//! Golden values of the specification, read from `vectors/golden.json`.

/// The value of one golden entry and one unit of its last printed digit.
#[track_caller]
pub fn golden(id: &str) -> (f64, f64) {
    let text = include_str!("../../../vectors/golden.json");
    let all: Vec<serde_json::Value> = serde_json::from_str(text).unwrap();
    let entry = all.iter().find(|entry| entry["id"] == id);
    let entry = entry.unwrap_or_else(|| panic!("no golden value {id}"));
    let text = entry["text"].as_str().unwrap();
    let decimals = text.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    (text.parse().unwrap(), 10f64.powi(-(decimals as i32)))
}

/// Asserts that `ours` agrees with golden value `id` to every digit printed there.
#[track_caller]
pub fn assert_golden(id: &str, ours: f64) {
    let (value, unit) = golden(id);
    // Half a unit for the printed rounding, a little for our own float error.
    let tolerance = 0.51 * unit + 4.0 * f64::EPSILON * value.abs();
    assert!((ours - value).abs() <= tolerance, "{id}: ours {ours:.15}, golden {value:.15}");
}

/// Asserts that `ours` agrees with golden value `id` up to `tolerance`, where ours is a design for the kernel's odds,
/// which are below e^ε by up to one unit of its last printed place.
#[track_caller]
pub fn assert_golden_within(id: &str, ours: f64, tolerance: f64) {
    let (value, _) = golden(id);
    assert!((ours - value).abs() <= tolerance, "{id}: ours {ours:.15}, golden {value:.15}");
}
