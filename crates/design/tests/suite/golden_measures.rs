//! Golden values of the measures, and the specification's worked examples.
use undertone_design::measure::audit::Audit;
use undertone_design::measure::network::{self, Network};
use undertone_design::measure::{delta, ldp, lip, mutual_information};
use undertone_design::{Channel, Distribution, Joint};
use undertone_testkit::golden::assert_golden;

fn distribution(p: &[f64]) -> Distribution {
    Distribution::new("p", p.to_vec()).unwrap()
}

fn channel(rows: &[&[f64]]) -> Channel {
    Channel::new(rows.iter().map(|row| row.to_vec()).collect()).unwrap()
}

#[track_caller]
fn assert_close(ours: f64, expected: f64, tolerance: f64) {
    assert!((ours - expected).abs() <= tolerance, "ours {ours:.12}, expected {expected:.12}");
}

#[test]
fn every_measure_of_p3_q3() {
    let p3 = distribution(&[0.5, 0.3, 0.2]);
    let q3 = channel(&[&[0.6, 0.3, 0.1], &[0.2, 0.5, 0.3], &[0.25, 0.25, 0.5]]);
    let audit = Audit::of(&p3, &q3, Some(0.3), 2.0).unwrap();
    assert_golden("G01", audit.ldp.nats);
    assert_eq!(audit.ldp.at, (2, 0, 2));
    assert_golden("G02", audit.lip.nats);
    assert_golden("G04", audit.min_lift.nats);
    assert_eq!(audit.lip.at, audit.min_lift.at);
    assert_eq!(audit.min_lift.at, (0, 2));
    // q = .5 over P(y) = .24.
    assert_close(audit.max_lift.nats, (0.5f64 / 0.24).ln(), 1e-15);
    assert_eq!(audit.max_lift.at, (2, 2));
    assert_golden("G05", audit.mutual_information);
    assert_golden("G06", audit.maximal_leakage);
    let delta = audit.delta.unwrap();
    assert_eq!(delta.epsilon, 0.3);
    assert_golden("G08", delta.conditional);
    assert_golden("G09", delta.posterior);
    assert_golden("G11", delta.joint_sets.unwrap());
    // Some set of several inputs is worse than any single one.
    assert!(delta.joint < delta.joint_sets.unwrap());
    assert_close(audit.entropy, p3.entropy(), 0.0);
    // Posterior odds: inputs 0 and 2 given output 0, .5·.6 against .2·.25.
    assert_close(audit.identifiability.nats, 6f64.ln(), 1e-15);
    assert_eq!(audit.identifiability.at, (0, 2, 0));
}

/// Q(ns,nx)[s,x] proportional to frac(k² · golden ratio), k = s·nx + x + 1.
fn spec_joint(secrets: usize, symbols: usize) -> Joint {
    let weight = |k: usize| ((k * k) as f64 * 0.618_033_988_749_894_9).fract();
    let total: f64 = (1..=secrets * symbols).map(weight).sum();
    let row = |s: usize| (0..symbols).map(|x| weight(s * symbols + x + 1) / total).collect();
    Joint::new((0..secrets).map(row).collect()).unwrap()
}

#[test]
fn secret_against_the_data_itself() {
    let q36 = spec_joint(3, 6);
    let audit = Audit::of_secret(&q36, None, None, 2.0).unwrap();
    assert_golden("W01", audit.entropy);
    assert_golden("W02", -audit.min_lift.nats);
    assert_golden("W03", audit.max_lift.nats);
    assert_golden("W04", audit.mutual_information);
    assert_golden("W05", audit.sibson);
    assert_golden("W07", audit.maximal_leakage);
    assert_golden("W08", audit.ldp.nats);
    assert_close(audit.secret_entropy.unwrap(), q36.secret().entropy(), 0.0);
    assert!(audit.delta.is_none());
    let q2030 = Audit::of_secret(&spec_joint(20, 30), None, None, 2.0).unwrap();
    assert_golden("W20", -q2030.min_lift.nats);
    assert_golden("W21", q2030.max_lift.nats);
}

#[test]
fn secret_through_a_channel() {
    let q36 = spec_joint(3, 6);
    let identity = Channel::identity(6).unwrap();
    let direct = Audit::of_secret(&q36, None, Some(0.4), 3.0).unwrap();
    let through = Audit::of_secret(&q36, Some(&identity), Some(0.4), 3.0).unwrap();
    assert_close(through.lip.nats, direct.lip.nats, 1e-14);
    assert_close(through.sibson, direct.sibson, 1e-14);
    // The specification's pair of partitions: (.5,.3) each, everything together.
    let partition = |blocks: &[usize; 6], n: usize| {
        let row = |&b: &usize| (0..n).map(|y| f64::from(u8::from(y == b))).collect();
        Channel::new(blocks.iter().map(row).collect()).unwrap()
    };
    let three = partition(&[0, 1, 2, 0, 1, 2], 3);
    let two = partition(&[0, 1, 1, 1, 1, 0], 2);
    for once in [&three, &two] {
        let audit = Audit::of_secret(&q36, Some(once), None, 2.0).unwrap();
        assert!(audit.min_lift.nats <= 0.5 && audit.max_lift.nats <= 0.3);
    }
    let twice = three.beside(&two).unwrap();
    assert_golden("W02", -Audit::of_secret(&q36, Some(&twice), None, 2.0).unwrap().min_lift.nats);
}

#[test]
fn printed_randomised_response_misses_its_claim() {
    let prior = distribution(&[0.9, 0.1]);
    let odds = 1f64.exp();
    // [JSTL21] (19): keep x with probability 1 - 1/E, else draw from the prior.
    let cell =
        |x: usize, y: usize| (1.0 - 1.0 / odds) * f64::from(u8::from(x == y)) + prior[y] / odds;
    let printed = Channel::new((0..2).map(|x| vec![cell(x, 0), cell(x, 1)]).collect()).unwrap();
    let leakage = lip::leakage(&prior, &printed).unwrap();
    assert_golden("G21", leakage.nats);
    assert_eq!(leakage.at, (1, 1));
    // Its exact delta, [(1-1/E) - p(E-1/E)]_+.
    let expected = (1.0 - 1.0 / odds) - 0.1 * (odds - 1.0 / odds);
    assert_close(delta::conditional(&prior, &printed, 1.0).unwrap(), expected, 1e-15);
}

#[test]
fn corollary_3_needs_more_than_printed_under_definition_5() {
    let (odds, d) = (1f64.exp(), 0.01);
    let prior = distribution(&[1.0 / (2.0 * odds), 1.0 - 1.0 / (2.0 * odds)]);
    let marked = channel(&[&[2.0 * odds * d, 1.0 - 2.0 * odds * d], &[0.0, 1.0]]);
    assert_close(delta::posterior(&prior, &marked, 1.0).unwrap(), d, 1e-15);
    let (needed, pair) = ldp::delta(&marked, 2.0).unwrap();
    assert_golden("G19", needed);
    assert_eq!(pair, (0, 1));
    assert!(needed > (odds + 1.0) * d, "the printed bound {} would do", (odds + 1.0) * d);
}

#[test]
fn pointwise_delta_is_not_delta_on_sets() {
    // Two inputs, each with 50 outputs of its own: [JSTL21] (4) output by output asks for .01, (3) for .5.
    let row = |x: usize| (0..100).map(|y| if y / 50 == x { 0.02 } else { 0.0 }).collect();
    let disjoint = Channel::new(vec![row(0), row(1)]).unwrap();
    let prior = Distribution::uniform(2);
    let law = disjoint.output_law(&prior).unwrap();
    let odds = 0.5f64.exp();
    let mut pointwise = 0f64;
    for x in 0..2 {
        for y in 0..100 {
            let q = disjoint.q(x, y);
            pointwise = pointwise.max(q / odds - law[y]).max(law[y] - odds * q);
        }
    }
    assert_close(pointwise, 0.01, 1e-15);
    assert_close(delta::posterior(&prior, &disjoint, 0.5).unwrap(), 0.5, 1e-12);
    assert_close(delta::conditional(&prior, &disjoint, 0.5).unwrap(), 0.5, 1e-12);
}

#[test]
fn sampling_calibrated_for_definition_5_audited_under_corollary_9() {
    // [JSTL21] Proposition 2 on atomless data: lambda = E·d. On n equal symbols A_x is lambda minus a
    // term in 1/n, so two sizes give the limit exactly.
    let (odds, d) = (1f64.exp(), 0.01);
    let lambda = odds * d;
    let audited = |n: usize| {
        let base = (1.0 - lambda) / n as f64;
        let row = |x| (0..n).map(|y| base + if x == y { lambda } else { 0.0 }).collect();
        let sampling = Channel::new((0..n).map(row).collect()).unwrap();
        delta::Excess::of(&Distribution::uniform(n), &sampling, 1.0, 1.0).unwrap()
    };
    let (small, large) = (audited(100), audited(200));
    let limit = |f: &dyn Fn(&delta::Excess) -> f64| 2.0 * f(&large) - f(&small);
    assert_close(limit(&|e| e.conditional()), 0.027_182_818_284_6, 1e-12);
    assert_close(limit(&|e| e.posterior()), 0.01, 1e-12);
}

#[test]
fn mixtures_of_priors_break_stl19_definition_4() {
    // Lemma 2's second counterexample; P1 is the mass of the second symbol, weights are equal.
    let q = channel(&[&[0.19257, 0.80743], &[0.89697, 0.10303]]);
    let epsilon = 0.5185499;
    let joint = |p1: f64| delta::joint(&distribution(&[1.0 - p1, p1]), &q, epsilon).unwrap();
    let (a, b) = (0.0140612, 0.9858476);
    assert_close(joint(a).max(joint(b)), 0.00878, 5e-6);
    assert_close(joint((a + b) / 2.0), 0.14109, 5e-6);
}

#[test]
fn circulant_lift_attains_the_sharp_information_bounds() {
    // Lift 2 on the diagonal, 1/2 off it: ln 2-LIP with the largest possible I and Sibson-2.
    let prior = Distribution::uniform(3);
    let row = |x: usize| (0..3).map(|y| if x == y { 2.0 / 3.0 } else { 1.0 / 6.0 }).collect();
    let circulant = Channel::new((0..3).map(row).collect()).unwrap();
    let audit = Audit::of(&prior, &circulant, None, 2.0).unwrap();
    assert_close(audit.lip.nats, 2f64.ln(), 1e-15);
    assert_close(audit.mutual_information, 0.2310490602, 5e-11);
    assert_close(audit.sibson, 0.4054651081, 5e-11);
}

/// Model GA of the sensor specification: p(x|h,g) and P(h,g), x = 1..16.
fn ga(h: usize, g: usize) -> (f64, Vec<f64>) {
    let mean = [5.5, 7.5, 9.5, 11.5][2 * h + g];
    let weights: Vec<f64> =
        (1..=16).map(|x| (-(f64::from(x) - mean).powi(2) / 8.0).exp()).collect();
    let total: f64 = weights.iter().sum();
    (if h == g { 0.3 } else { 0.2 }, weights.iter().map(|w| w / total).collect())
}

/// P(g, x_1..x_s) of model GA after each sensor's `map`, conditionally independent given (h,g).
fn ga_joint(sensors: usize, map: &Channel) -> Joint {
    let row = |g: usize| {
        let mut sum = vec![0.0; map.outputs().pow(sensors as u32)];
        for h in 0..2 {
            let (mass, law) = ga(h, g);
            let one = map.output_law(&distribution(&law)).unwrap();
            for (x, cell) in sum.iter_mut().enumerate() {
                let digit = |t: u32| x / map.outputs().pow(t) % map.outputs();
                *cell += mass * (0..sensors as u32).map(|t| one[digit(t)]).product::<f64>();
            }
        }
        sum
    };
    Joint::new(vec![row(0), row(1)]).unwrap()
}

#[test]
fn sensor_networks() {
    // One sensor that transmits what it saw.
    let identity = Channel::identity(16).unwrap();
    let raw =
        Network::from_sensors(vec![2], ga_joint(1, &identity), std::slice::from_ref(&identity))
            .unwrap();
    assert_golden("I06", raw.information_privacy().unwrap().nats);
    // Six sensors that transmit a threshold.
    let bit = |x| if x >= 8 { vec![1.0, 0.0] } else { vec![0.0, 1.0] };
    let threshold = Channel::new((0..16).map(bit).collect()).unwrap();
    let maps = vec![Channel::identity(2).unwrap(); 6];
    let six = Network::from_sensors(vec![2], ga_joint(6, &threshold), &maps).unwrap();
    assert_golden("I11", six.average_leakage().unwrap());
    // One sensor with randomised response after the threshold.
    let keep = 1.0 / (1.0 + (-1f64).exp());
    let response = channel(&[&[keep, 1.0 - keep], &[1.0 - keep, keep]]);
    let noisy = threshold.then(&response).unwrap();
    let one = Network::from_sensors(vec![2], ga_joint(1, &identity), &[noisy]).unwrap();
    assert_golden("I15", one.mutual_information().unwrap());
    // The frozen-constant counterexample PB: X is G itself.
    let fair = Joint::new(vec![vec![0.5, 0.0], vec![0.0, 0.5]]).unwrap();
    let pb = channel(&[&[0.96, 0.035, 0.005], &[0.96, 0.005, 0.035]]);
    let pb = Network::new(vec![2], vec![2], fair, pb).unwrap();
    // Lift .035/.02 against .005/.02.
    assert_golden("I25", pb.information_privacy().unwrap().nats);
    assert_close(pb.inference_dp().unwrap().nats, 7f64.ln(), 1e-14);
}

#[test]
fn mutual_information_privacy_does_not_bound_information_privacy() {
    // [ST20] Theorem 1 (ix) with a valid example: Z = 1{X=0} tells a rare event that rules out g = 0.
    for alpha in [0.1, 0.01, 1e-4] {
        let joint = Joint::new(vec![vec![0.0, 0.5], vec![alpha, 0.5 - alpha]]).unwrap();
        let reveal = Channel::identity(2).unwrap();
        let network = Network::new(vec![2], vec![2], joint, reveal).unwrap();
        let entropy = -alpha * f64::ln(alpha) - (1.0 - alpha) * f64::ln(1.0 - alpha);
        assert_close(network.mutual_information().unwrap(), entropy, 1e-14);
        let worst = network.information_privacy().unwrap();
        assert_eq!((worst.nats, worst.at), (f64::INFINITY, (0, 0)));
    }
}

#[test]
fn neighbours_differ_in_one_coordinate() {
    // Two independent fair bits, each sent through its own randomised response: neighbours differ in
    // one bit, so the ratios are those of one sensor; both sensors together leak twice as much.
    let flip = |p: f64| channel(&[&[1.0 - p, p], &[p, 1.0 - p]]);
    let maps = [flip(0.2), flip(0.4)];
    let (first, second) = (4f64.ln(), 1.5f64.ln());
    let same: Vec<Vec<f64>> =
        (0..4).map(|g| (0..4).map(|x| if x == g { 0.25 } else { 0.0 }).collect()).collect();
    let network = Network::from_sensors(vec![2, 2], Joint::new(same).unwrap(), &maps).unwrap();
    assert_close(network.inference_dp().unwrap().nats, first, 1e-14);
    assert_close(network.identifiability().unwrap().nats, first, 1e-14);
    let whole = network::product(&maps).unwrap();
    assert_close(ldp::leakage(&whole).nats, first + second, 1e-14);
    let parts: f64 = maps
        .iter()
        .map(|map| mutual_information::leakage(&Distribution::uniform(2), map).unwrap())
        .sum();
    assert_close(network.mutual_information().unwrap(), parts, 1e-14);
    assert_close(network.average_leakage().unwrap(), parts, 1e-14);
}

#[test]
fn vectors_without_mass() {
    // x = (1,1) never occurs: identifiability is infinite, the other notions are not.
    let flip = channel(&[&[0.7, 0.3], &[0.3, 0.7]]);
    let joint = Joint::new(vec![vec![0.2, 0.1, 0.2, 0.0], vec![0.1, 0.2, 0.2, 0.0]]).unwrap();
    let network = Network::from_sensors(vec![2], joint, &[flip.clone(), flip.clone()]).unwrap();
    assert_eq!(network.identifiability().unwrap().nats, f64::INFINITY);
    assert!(network.information_privacy().unwrap().nats.is_finite());
    // A hypothesis without mass constrains nothing, even if its law would reveal it.
    let secret = distribution(&[0.5, 0.5, 0.0]);
    let laws = channel(&[&[0.6, 0.4], &[0.4, 0.6], &[0.0, 1.0]]);
    let joint = Joint::from_parts(secret, laws).unwrap();
    let network = Network::new(vec![3], vec![2], joint, Channel::identity(2).unwrap()).unwrap();
    assert_close(network.inference_dp().unwrap().nats, 1.5f64.ln(), 1e-14);
    assert_close(network.information_privacy().unwrap().nats, -(0.8f64.ln()), 1e-14);
}
