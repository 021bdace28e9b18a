//! Golden values of the design, and a part of the tables of section 3; all of them are in
//! `examples/sweep.rs`.
use crate::common::{self, ga, indep_first};
use undertone_design::Channel;
use undertone_fusion::design::{Budgets, Method, Proposal, Request, Theta, Watch, design, vertex};
use undertone_fusion::{Bundle, Evaluation, ExactModel, Maps, Model, Origin};
use undertone_testkit::golden::{assert_golden, assert_golden_within};

fn request(method: Method, information: f64, ldp: f64, sensors: usize, restarts: u32) -> Request {
    let budgets = Budgets::new(information, ldp).unwrap();
    Request { method, budgets, outputs: vec![2; sensors], restarts, seed: 1 }
}

fn run(model: &Model, method: Method, information: f64, ldp: f64, restarts: u32) -> Proposal {
    let request = request(method, information, ldp, model.sensors().len(), restarts);
    design(model, &request, &Watch::PATIENT).unwrap()
}

#[test]
fn three_vertices() {
    assert_golden("I22", vertex::best(&[0.69, 0.11], 0.1f64.exp())[0]);
    // The printed rule's error in the specification's example, and the optimum.
    let (prior, x0, x1) = ([0.9, 0.1], [0.8, 0.2], [0.3, 0.7]);
    let d: Vec<f64> = (0..2).map(|x| prior[0] * x0[x] - prior[1] * x1[x]).collect();
    let error = |p: Vec<f64>| prior[1] + p.iter().zip(&d).map(|(p, d)| p * d).sum::<f64>();
    assert!((error(vertex::best(&d, 0.1f64.exp())) - 0.1).abs() < 1e-12);
    assert!((error(vertex::printed(&d, 0.1f64.exp())) - 0.48002).abs() < 1e-5);
}

#[test]
fn one_sensor_is_one_linear_program() {
    let model = ga(1);
    let infinity = f64::INFINITY;
    for (id, information, ldp) in
        [("I26", 0.1, infinity), ("I27", 0.1, 1.0), ("I29", infinity, 1.0)]
    {
        let found = run(&model, Method::Joint, information, ldp, 8);
        assert_golden_within(id, found.error, 1e-10);
    }
}

/// PB of the specification: three outputs, one of which says nothing.
fn rare_outputs() -> (Model, Maps) {
    let one_hot = |x: usize| (0..2).map(|at| f64::from(u8::from(at == x))).collect::<Vec<f64>>();
    // H is an independent coin, so that it has two values; X is G.
    let given = vec![vec![one_hot(0), one_hot(1)]; 2];
    let model = Model::independent(vec![vec![0.25; 2]; 2], vec![given]).unwrap();
    let map = Channel::new(vec![vec![0.96, 0.035, 0.005], vec![0.96, 0.005, 0.035]]).unwrap();
    (model, Maps::new(vec![map]).unwrap())
}

#[test]
fn the_printed_condition_is_circular() {
    let (model, maps) = rare_outputs();
    let theta = Theta::new(&model, &maps, 0.2).unwrap();
    assert_golden("I24", theta.theta);
    assert!(!theta.holds());
    let seen = Evaluation::new(&model, &maps).unwrap();
    assert_golden("I25", seen.information.nats);
    // Frozen at c_G = 1/2, the condition accepts these maps although belief moves by ln 4.
    let frozen = Theta::at(0.5, theta.spread, 0.2);
    assert!((frozen.theta - 0.47621).abs() < 5e-6 && (frozen.test_error - 0.485).abs() < 1e-12);
    assert!(frozen.holds());
}

/// (ε_I, ε_LD, best error known to the specification), a part of section 3.
const TABLE: [(f64, f64, f64); 4] =
    [(0.01, 0.25, 0.4761), (0.01, 2.0, 0.3685), (0.18, 1.0, 0.3464), (0.18, 2.0, 0.3023)];

#[test]
fn joint_reaches_the_best_known_and_beats_its_parts() {
    let model = ga(6);
    for (information, ldp, best) in TABLE {
        let found = run(&model, Method::Joint, information, ldp, 40);
        assert!(found.error <= best + 0.003, "{information} {ldp}: {}", found.error);
        for method in [Method::Ill, Method::IllHalf, Method::IllEta, Method::Lip] {
            let other = run(&model, method, information, ldp, 40);
            assert!(found.error <= other.error + 1e-12, "{information} {ldp} {method:?}");
        }
        let relaxed = run(&model, Method::Ldp, information, ldp, 40);
        assert!(relaxed.error <= found.error + 1e-9);
        let seen = Evaluation::new(&model, &found.maps).unwrap();
        assert!(seen.information.nats <= information + 1e-8, "{}", seen.information.nats);
        assert!(seen.ldp.iter().all(|&nats| nats <= ldp + 1e-8));
    }
}

#[test]
fn ldp_alone_is_as_tabulated() {
    let model = ga(6);
    for (ldp, error, information) in
        [(0.25, 0.4216, 0.303), (1.0, 0.2306, 1.125), (8.0, 0.0637, 2.021)]
    {
        let found = run(&model, Method::Ldp, f64::INFINITY, ldp, 20);
        assert!(found.error <= error + 5e-5, "{ldp}: {}", found.error);
        let seen = Evaluation::new(&model, &found.maps).unwrap();
        assert!((seen.information.nats - information).abs() < 0.01, "{ldp}");
    }
}

#[test]
fn a_sensor_that_knows_nothing_of_g() {
    let model = indep_first();
    let found = run(&model, Method::Joint, 0.15, 2.0, 40);
    assert!(found.error <= 0.2345 + 0.003, "{}", found.error);
    let seen = Evaluation::new(&model, &found.maps).unwrap();
    // LDP alone leaks much more of G; information privacy alone much more of X_1.
    let data = run(&model, Method::Ldp, f64::INFINITY, 2.0, 20);
    let data = Evaluation::new(&model, &data.maps).unwrap();
    assert!(data.private_information > 5.0 * seen.private_information);
    let hidden = run(&model, Method::InformationOnly, 0.15, f64::INFINITY, 40);
    let hidden = Evaluation::new(&model, &hidden.maps).unwrap();
    assert!(hidden.sensor_information[0] > 1.5 * seen.sensor_information[0]);
}

#[test]
fn independence_given_both_is_not_independence_given_g() {
    // ST20 writes p(y|g) as a product over sensors; that is the law of another network, whose
    // readings are independent given G alone.
    let model = ga(6);
    let maps = run(&model, Method::Ldp, f64::INFINITY, 1.0, 20).maps;
    let given_g = |g: usize| -> Vec<f64> {
        let parts = common::bell(0, g).into_iter().zip(common::bell(1, g));
        let share = |h: usize| common::PRIOR[h][g] / (common::PRIOR[0][g] + common::PRIOR[1][g]);
        parts.map(|(a, b)| share(0) * a + share(1) * b).collect()
    };
    let prior = common::PRIOR.iter().map(|row| row.to_vec()).collect();
    let printed = vec![vec![vec![given_g(0), given_g(1)]; 2]; 6];
    let printed = Model::independent(prior, printed).unwrap();
    let leak = |model: &Model| Evaluation::new(model, &maps).unwrap().information.nats;
    assert!((leak(&model) - 1.125).abs() < 0.001, "{}", leak(&model));
    assert!((leak(&printed) - 1.531).abs() < 0.001, "{}", leak(&printed));
}

/// F3 of the specification: everything has three values.
fn ternary() -> Model {
    let law = |h: usize, g: usize| {
        let weight = |x: usize| 1.0 + ((2 * h + 3 * g + x * (h + 1) + x * x * (g + 2)) % 7) as f64;
        let total: f64 = (0..6).map(weight).sum();
        (0..6).map(|x| weight(x) / total).collect::<Vec<f64>>()
    };
    let given = (0..3).map(|h| (0..3).map(|g| law(h, g)).collect()).collect::<Vec<Vec<_>>>();
    let prior = [[4.0, 2.0, 1.0], [1.0, 3.0, 2.0], [2.0, 1.0, 4.0]];
    let prior = prior.iter().map(|row| row.iter().map(|p| p / 20.0).collect()).collect();
    Model::independent(prior, vec![given; 3]).unwrap()
}

#[test]
fn three_values_of_everything() {
    let model = ternary();
    let exact = ExactModel::new(&model).unwrap();
    let mut request = request(Method::Joint, 0.3, 1.5, 3, 30);
    request.outputs = vec![3; 3];
    let found = design(&exact.model().unwrap(), &request, &Watch::PATIENT).unwrap();
    let blind = Evaluation::new(&model, &found.maps).unwrap().blind_public;
    let relaxed = Request { method: Method::Ldp, ..request.clone() };
    let relaxed = design(&model, &relaxed, &Watch::PATIENT).unwrap();
    assert!((blind - 0.65).abs() < 1e-12 && found.error < 0.611, "{}", found.error);
    assert!(relaxed.error < found.error);
    let bundle = Bundle::ship(&exact, &found.maps, request.budgets, &Origin::default()).unwrap();
    let shipped = Evaluation::new(&model, &bundle.maps().unwrap()).unwrap();
    assert!((shipped.error_public - found.error).abs() < 1e-6);
    assert!(shipped.information.nats <= 0.3 + 1e-12);
}

#[test]
fn the_printed_condition_costs_more_than_the_budget() {
    let model = ga(6);
    let printed = run(&model, Method::PaperTheta, 0.18, 2.0, 8);
    let half = run(&model, Method::IllHalf, 0.18, 2.0, 8);
    let report = printed.theta.unwrap();
    assert!(report.kept.holds() && report.information <= 0.18);
    assert!(printed.error > half.error + 0.03, "{} {}", printed.error, half.error);
    assert!(report.factor > 20.0, "{report:?}");
}
