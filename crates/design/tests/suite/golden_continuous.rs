//! Golden values of the mechanisms for numbers: bounded Laplace, Gaussian, and the table of true δ.
use undertone_design::Distribution;
use undertone_design::density::{Density, Normal};
use undertone_design::measure::lip;
use undertone_design::mechanism::gaussian::{
    self, GaussianNoise, Spread, analytic_delta, between, corollary_10, vanilla_delta,
};
use undertone_design::mechanism::laplace::{self, BoundedLaplace, Limits};
use undertone_testkit::golden::assert_golden;

fn normal(mean: f64, deviation: f64) -> Normal {
    Normal::new(mean, deviation).unwrap()
}

/// The data of STL19 Figure 3: X = {0, 1.5, 3} released on [0, 3].
const POINTS: [f64; 3] = [0.0, 1.5, 3.0];
const RANGE: (f64, f64) = (0.0, 3.0);

fn skewed() -> Distribution {
    Distribution::normalised("prior", vec![8.0, 5.0, 2.0]).unwrap()
}

/// JSTL21 Figure 10 with s = 0.2.
fn figure_10() -> Distribution {
    Distribution::normalised("prior", vec![13.0, 10.0, 7.0]).unwrap()
}

fn noise(scale: f64) -> BoundedLaplace {
    BoundedLaplace::constant(RANGE, &POINTS, scale).unwrap()
}

#[test]
fn g59_the_first_branch_holds_where_the_paper_leaves_it() {
    let least = skewed().min();
    assert_golden("G59", laplace::closed(3.0, least, 3.0).unwrap());
    assert_eq!(laplace::published(3.0, least, 3.0).unwrap(), 1.0);
    // The printed scale jumps up at ln(1/Pmin) = ln 7.5; the first branch does not.
    let jump = 7.5f64.ln();
    let before = laplace::published(3.0, least, jump * (1.0 - 1e-12)).unwrap();
    let after = laplace::published(3.0, least, jump * (1.0 + 1e-12)).unwrap();
    assert!((before - 1.4018).abs() < 1e-4 && (after - 1.4889).abs() < 1e-4, "{before} {after}");
    assert!((laplace::closed(3.0, least, jump * (1.0 + 1e-12)).unwrap() - before).abs() < 1e-9);
}

#[test]
fn g60_g61_g63_leakage_scale_and_error_of_one_scale() {
    let prior = skewed();
    assert_golden("G60", noise(2.0).leakage(&prior).unwrap().lip());
    assert_golden("G63", noise(2.0).mean_squared_error(&prior).unwrap());
    let exact = laplace::exact(RANGE, &POINTS, &prior, Limits::lip(1.0)).unwrap();
    assert_golden("G61", exact);
    let printed = laplace::published(3.0, prior.min(), 1.0).unwrap();
    assert!((printed - 2.745).abs() < 5e-4, "{printed}");
    for (scale, mse) in [(3.0, 1.744), (printed, 1.700), (exact, 1.576)] {
        let found = noise(scale).mean_squared_error(&prior).unwrap();
        assert!((found - mse).abs() < 5e-4, "{scale}: {found}");
        assert!(noise(scale).leakage(&prior).unwrap().lip() <= 1.0 + 1e-12);
    }
    // The LDP scale is exact for LDP, and no smaller one is.
    let ldp = laplace::exact(RANGE, &POINTS, &prior, Limits::ldp(1.0)).unwrap();
    assert!((ldp - 3.0).abs() < 1e-9, "{ldp}");
}

/// Bins leak less than the density: the specification's three figures at the exact scale for ε = 1.
#[test]
fn binning_only_lowers_the_leakage() {
    let prior = skewed();
    let exact = laplace::exact(RANGE, &POINTS, &prior, Limits::lip(1.0)).unwrap();
    for (bins, leakage) in [(3usize, 0.670), (10, 0.897), (1000, 0.999)] {
        let edges: Vec<f64> = (0..=bins).map(|i| 3.0 * i as f64 / bins as f64).collect();
        let table = noise(exact).table(&edges).unwrap();
        let found = lip::leakage(&prior, &table).unwrap().nats;
        assert!((found - leakage).abs() < 5e-4, "{bins}: {found}");
    }
}

#[test]
fn lemma_2_of_stl19_needs_the_data_to_span_the_range() {
    let noise = BoundedLaplace::constant(RANGE, &[0.0, 1.0], 1.0).unwrap();
    let leaks = noise.leakage(&Distribution::uniform(2)).unwrap();
    assert!((leaks.ldp - 1.454).abs() < 5e-4, "{}", leaks.ldp);
}

#[test]
fn g65_alpha_calibrated_on_the_leakage() {
    let prior = figure_10();
    let alpha = laplace::largest_alpha(RANGE, &POINTS, &prior, 1.0).unwrap();
    // G65, 10 digits.
    assert!((alpha - 1.727_845_828_49).abs() < 5e-10, "{alpha}");
    let error = |scales: Vec<f64>| {
        let noise = BoundedLaplace::new(RANGE, POINTS.to_vec(), scales).unwrap();
        noise.mean_squared_error(&prior).unwrap()
    };
    let instance = error(laplace::instance(3.0, &prior, 1.0, alpha).unwrap());
    let exact = laplace::exact(RANGE, &POINTS, &prior, Limits::lip(1.0)).unwrap();
    let printed = laplace::published(3.0, prior.min(), 1.0).unwrap();
    for (found, expected) in
        [(instance, 1.4652), (error(vec![exact; 3]), 1.5123), (error(vec![printed; 3]), 1.6616)]
    {
        assert!((found - expected).abs() < 5e-5, "{found} {expected}");
    }
    let two = Distribution::new("prior", vec![0.9, 0.1]).unwrap();
    let alpha = laplace::largest_alpha((0.0, 1.0), &[0.0, 1.0], &two, 1.0).unwrap();
    assert!((alpha - 0.158).abs() < 5e-4, "{alpha}");
}

#[test]
fn g52_g54_g55_divergences_of_two_normal_laws() {
    let odds = |epsilon: f64| epsilon.exp();
    assert_golden("G52", between(&normal(0.0, 2.0), &normal(1.0, 1.0), odds(-1.0)).unwrap());
    assert_golden("G54", analytic_delta(20.0, 2.0, 10.0).unwrap());
    let marginal = normal(0.0, 125f64.sqrt());
    assert_golden("G55", between(&marginal, &normal(10.0, 10.0), odds(2.0)).unwrap());
    // Theorem 5 is vacuous on the line: δ tends to one.
    for (x, delta) in [(10.0, 0.045), (20.0, 0.33), (60.0, 0.99)] {
        let above = between(&normal(x, 10.0), &marginal, odds(2.0)).unwrap();
        let below = between(&marginal, &normal(x, 10.0), odds(2.0)).unwrap();
        assert!((above.max(below) - delta).abs() < 6e-3, "{x}: {above} {below}");
    }
}

#[test]
fn the_textbook_bound_is_false_at_large_epsilon() {
    let (bound, exact) = (vanilla_delta(1.0, 8.0, 0.5), analytic_delta(1.0, 8.0, 0.5).unwrap());
    assert!((bound - 4.19e-4).abs() < 5e-7 && (exact - 4.95e-4).abs() < 5e-7, "{bound} {exact}");
}

/// The printed noise of Corollary 10 on normal data with mean 0 and deviation 5, δ = 1e-4.
const DATA: Spread = Spread { weight: 1.0, mean: 0.0, deviation: 5.0 };
const DELTA: f64 = 1e-4;

#[test]
fn g56_corollary_10_at_one_point() {
    let sigma = corollary_10(&[DATA], 5.0, 2.0, DELTA).unwrap();
    // G56, 10 digits.
    assert!((sigma - 13.641_785_345_8).abs() < 5e-9, "{sigma}");
}

/// The specification's grid: `count` points on [-reach, reach] with the law of a normal number
/// truncated there and rounded to them.
fn grid(reach: f64, count: usize) -> (Vec<f64>, Vec<f64>) {
    let step = 2.0 * reach / (count - 1) as f64;
    let points: Vec<f64> = (0..count).map(|k| -reach + step * k as f64).collect();
    let mut edges = vec![-reach];
    edges.extend(points[1..].iter().map(|x| x - step / 2.0));
    edges.push(reach);
    (points, edges)
}

fn truncated(edges: &[f64]) -> Distribution {
    Density::parse("normal:0,5").unwrap().truncated(edges).unwrap().p
}

fn printed(points: &[f64], epsilon: f64) -> Vec<f64> {
    points.iter().map(|&x| corollary_10(&[DATA], x, epsilon, DELTA).unwrap()).collect()
}

#[test]
fn g57_the_true_delta_of_the_printed_noise() {
    let (points, edges) = grid(10.0, 41);
    let noise = GaussianNoise::new(&points, &printed(&points, 2.0)).unwrap();
    let excess = noise.excess(&truncated(&edges), 2.0).unwrap();
    assert_golden("G57", excess.sides[0].above);
    let (worst, delta) = excess.worst();
    assert!(worst == 0 || worst == 40, "{worst}");
    assert!((delta - excess.sides[0].above).abs() < 1e-12);
    // Refining the grid changes little.
    for (count, expected) in [(21, 0.0526), (81, 0.0532), (161, 0.0532)] {
        let (points, edges) = grid(10.0, count);
        let noise = GaussianNoise::new(&points, &printed(&points, 2.0)).unwrap();
        let found = noise.excess(&truncated(&edges), 2.0).unwrap().sides[0].above;
        assert!((found - expected).abs() < 5.1e-5, "{count}: {found}");
    }
    // A mechanism that clips puts the tails on the end points and has a δ of its own.
    let clipped = Density::parse("normal:0,5").unwrap().clipped(&edges).unwrap().p;
    let found = noise.delta(&clipped, 2.0).unwrap();
    assert!((found - 0.0487).abs() < 5e-5, "{found}");
}

struct Row {
    reach: f64,
    epsilon: f64,
    delta: f64,
    true_epsilon: f64,
    sigma: (f64, f64),
    constant: f64,
    /// E σ² printed, constant, floor.
    power: (f64, f64, f64),
}

#[rustfmt::skip]
const TABLE: [Row; 8] = [
    Row { reach: 10.0, epsilon: 1.0, delta: 0.1411, true_epsilon: 34.267, sigma: (11.54, 35.28), constant: 35.10, power: (383.0, 1232.0, 1207.0) },
    Row { reach: 10.0, epsilon: 2.0, delta: 0.0531, true_epsilon: 21.748, sigma: (8.53, 20.66), constant: 20.07, power: (157.0, 403.0, 388.0) },
    Row { reach: 10.0, epsilon: 3.0, delta: 0.0195, true_epsilon: 18.171, sigma: (7.12, 15.41), constant: 14.78, power: (97.0, 218.0, 198.0) },
    Row { reach: 10.0, epsilon: 4.0, delta: 0.0115, true_epsilon: 16.733, sigma: (6.26, 12.64), constant: 12.00, power: (70.0, 144.0, 113.0) },
    Row { reach: 15.0, epsilon: 1.0, delta: 0.2736, true_epsilon: 54.843, sigma: (11.54, 50.19), constant: 50.95, power: (436.0, 2595.0, 2595.0) },
    Row { reach: 15.0, epsilon: 2.0, delta: 0.1553, true_epsilon: 34.381, sigma: (8.53, 28.43), constant: 28.53, power: (173.0, 814.0, 765.0) },
    Row { reach: 15.0, epsilon: 3.0, delta: 0.0847, true_epsilon: 28.532, sigma: (7.12, 20.73), constant: 20.74, power: (105.0, 430.0, 386.0) },
    Row { reach: 15.0, epsilon: 4.0, delta: 0.0303, true_epsilon: 26.165, sigma: (6.26, 16.72), constant: 16.69, power: (75.0, 279.0, 237.0) },
];

/// Table (e), the printed mechanism: its noise, its true δ, and the ε at which δ = 1e-4 would be true.
///
/// The specification prints 21.7, 18.2 and 16.7 for the latter as here, but "above 60" for 34.27,
/// 54.84, 34.38 and 28.53 and 30.2 for
/// 26.16: differences of distribution functions near 1 have no digits left once multiplied by e^30. The figures
/// here were confirmed by an integration of log-densities in another language.
#[test]
fn table_e_the_printed_noise_and_what_it_leaks() {
    for row in &TABLE {
        let (points, edges) = grid(row.reach, 41);
        let prior = truncated(&edges);
        let sigmas = printed(&points, row.epsilon);
        let noise = GaussianNoise::new(&points, &sigmas).unwrap();
        let close = |found: f64, expected: f64, unit: f64| (found - expected).abs() <= 0.51 * unit;
        let (reach, epsilon) = (row.reach, row.epsilon);
        assert!(close(sigmas[20], row.sigma.0, 0.01), "{reach} {epsilon}: {}", sigmas[20]);
        assert!(close(sigmas[40], row.sigma.1, 0.01), "{reach} {epsilon}: {}", sigmas[40]);
        let delta = noise.delta(&prior, epsilon).unwrap();
        assert!(close(delta, row.delta, 1e-4), "{reach} {epsilon}: {delta}");
        // The upper bound is one, and the two agree as the specification says.
        let upper = noise.delta_upper(&prior, epsilon, 4000).unwrap();
        assert!(upper >= delta && upper - delta < 6.5e-5, "{reach} {epsilon}: {delta} {upper}");
        let found = noise.epsilon(&prior, DELTA, 60.0).unwrap().unwrap();
        assert!(close(found, row.true_epsilon, 0.001), "{reach} {epsilon}: {found}");
        let power = noise.mean_squared_error(&prior).unwrap();
        assert!(close(power, row.power.0, 1.0), "{reach} {epsilon}: {power}");
    }
}

/// Table (e), the certified mechanisms: the least constant deviation and the least floor that 2,000
/// cells certify.
///
/// The specification's constants are certified by our bound too, and 0.03 less is not. Which cells are
/// open jumps with the deviation, so two bisections may end that far apart.
#[test]
fn table_e_the_certified_noise() {
    for row in &TABLE {
        let (points, edges) = grid(row.reach, 41);
        let prior = truncated(&edges);
        let (reach, epsilon) = (row.reach, row.epsilon);
        let least =
            |cells| gaussian::least_constant(&points, &prior, epsilon, DELTA, cells).unwrap();
        let (certified, exact) = (least(Some(2000)), least(None));
        let upper = |deviation: f64| {
            let noise = GaussianNoise::constant(&points, deviation).unwrap();
            noise.delta_upper(&prior, epsilon, 2000).unwrap()
        };
        assert!(upper(row.constant) <= DELTA, "{reach} {epsilon}: {}", upper(row.constant));
        assert!(upper(row.constant - 0.03) > DELTA, "{reach} {epsilon}");
        assert!((certified - row.constant).abs() < 0.03, "{reach} {epsilon}: {certified}");
        assert!(exact < certified && certified < 1.02 * exact, "{reach} {epsilon}: {exact}");
        let power = row.constant * row.constant;
        assert!((power - row.power.1).abs() < 1.0, "{reach} {epsilon}: {power}");
        let sigmas = printed(&points, epsilon);
        let floor =
            gaussian::least_floor(&points, &prior, &sigmas, epsilon, DELTA, Some(2000)).unwrap();
        let raised: Vec<f64> = sigmas.iter().map(|s| s.max(floor)).collect();
        let noise = GaussianNoise::new(&points, &raised).unwrap();
        assert!(noise.delta(&prior, epsilon).unwrap() <= DELTA);
        let power = noise.mean_squared_error(&prior).unwrap();
        // At [-15, 15] and ε = 1 the specification found no floor below the constant; there is one.
        let expected = if (reach, epsilon) == (15.0, 1.0) { 2480.0 } else { row.power.2 };
        assert!((power - expected).abs() <= 0.51, "{reach} {epsilon}: {power}");
    }
    let (points, edges) = grid(10.0, 41);
    let prior = truncated(&edges);
    for (epsilon, expected) in [(1.0, 34.68), (2.0, 19.98), (3.0, 14.74), (4.0, 11.98)] {
        let found = gaussian::least_constant(&points, &prior, epsilon, DELTA, Some(4000)).unwrap();
        assert!((found - expected).abs() < 0.0051, "{epsilon}: {found}");
    }
}

/// More of the printed noise does not mend it: the deviation itself tells which input it was.
#[test]
fn scaling_the_printed_noise_up_does_not_certify_it() {
    let (points, edges) = grid(10.0, 41);
    let prior = truncated(&edges);
    for factor in [2.0, 10.0, 100.0] {
        let scaled: Vec<f64> = printed(&points, 2.0).iter().map(|s| factor * s).collect();
        let delta = GaussianNoise::new(&points, &scaled).unwrap().delta(&prior, 2.0).unwrap();
        assert!(delta > 100.0 * DELTA, "{factor}: {delta}");
    }
}

/// STL19 Remark 8: the printed scale is never above the LDP one, so it errs less; but it does not err
/// least for the uniform prior.
#[test]
fn remark_8_of_stl19_names_the_wrong_best_prior() {
    let error = |p: [f64; 3]| {
        let prior = Distribution::new("prior", p.to_vec()).unwrap();
        let scale = laplace::published(3.0, prior.min(), 1.0).unwrap();
        let ours = noise(scale).mean_squared_error(&prior).unwrap();
        assert!(ours <= noise(3.0).mean_squared_error(&prior).unwrap());
        ours
    };
    let (uniform, peaked) = (error([1.0 / 3.0; 3]), error([0.25, 0.5, 0.25]));
    assert!((uniform - 1.6166).abs() < 5e-5, "{uniform}");
    assert!((peaked - 1.4013).abs() < 5e-5, "{peaked}");
}
