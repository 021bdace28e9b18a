//! Sentences of the papers that belong to no figure, each with its counter-example or its exact value: small enough to be
//! enumerated here by hand, beside the crates that implement what they speak of.

use undertone_design::measure::lip;
use undertone_design::mechanism::randomized_response::{binary_optimal, published};
use undertone_design::{Channel, Distribution};

fn law(p: &[f64]) -> Distribution {
    Distribution::new("prior", p.to_vec()).unwrap()
}

fn close(ours: f64, expected: f64, tolerance: f64) {
    assert!((ours - expected).abs() <= tolerance, "ours {ours}, expected {expected}");
}

/// The flips Pr(1|0) and Pr(0|1), and their mean under the prior.
fn flips(prior: &Distribution, channel: &Channel) -> [f64; 3] {
    let (raised, lost) = (channel.rows()[0][1], channel.rows()[1][0]);
    [raised, lost, prior[0] * raised + prior[1] * lost]
}

/// JSTL21 IV-B1: "less noise is required for more certain data". So it is for (19) where (19) keeps its claim, and
/// the opposite for the optimum below.
#[test]
fn less_noise_for_more_certain_data() {
    let at = |p: f64| {
        let prior = law(&[1.0 - p, p]);
        flips(&prior, &binary_optimal(&prior, 1.0).unwrap())
    };
    // A fair coin is flipped with 1/(2e).
    for (p, raised, lost, mean) in [
        (0.5, 0.183_939_720_586, 0.183_939_720_586, 0.183_939_720_586),
        (0.1, 0.217_595_070_563, 0.268_941_421_370, 0.222_729_705_644),
        (0.01, 0.264_273_571_297, 0.268_941_421_370, 0.264_320_249_797),
    ] {
        let found = at(p);
        close(found[0], raised, 1e-9);
        close(found[1], lost, 1e-9);
        close(found[2], mean, 1e-9);
        // Nothing that flips less keeps the promise: the optimum sits on the bound.
        let prior = law(&[1.0 - p, p]);
        let channel = |scale: f64| {
            let [raised, lost, _] = found.map(|flip| flip * scale);
            Channel::new(vec![vec![1.0 - raised, raised], vec![lost, 1.0 - lost]]).unwrap()
        };
        close(lip::leakage(&prior, &channel(1.0)).unwrap().nats, 1.0, 1e-9);
        assert!(lip::leakage(&prior, &channel(0.99)).unwrap().nats > 1.0 + 1e-3, "{p}");
    }
    // Where (19) is valid, from 1/(1+e) = .269 on, the sentence holds of the mean flip 2 p (1 − p)/e.
    let valid = [0.5, 0.4, 0.3].map(|p| {
        let prior = law(&[1.0 - p, p]);
        let channel = published(&prior, 1.0).unwrap();
        assert!(lip::leakage(&prior, &channel).unwrap().nats <= 1.0 + 1e-9);
        let [_, lost, mean] = flips(&prior, &channel);
        close(mean, 2.0 * p * (1.0 - p) / std::f64::consts::E, 1e-12);
        [lost, mean]
    });
    // And even there the flip of the rarer answer rises while the mean falls.
    assert!(valid.windows(2).all(|pair| pair[1][0] > pair[0][0] && pair[1][1] < pair[0][1]));
}

/// JSTL21 Section I: to satisfy LIP for P = Σ w_k P_k "it is sufficient to design K sub-mechanisms, each satisfying LIP for
/// a prior P'". One mechanism good for every P_k is good for P (Lemma 2). A mechanism for each P_k, used for the part of
/// the population that P_k describes, is not.
#[test]
fn sub_mechanisms_for_parts_of_a_prior() {
    let parts = [[0.9, 0.1], [0.1, 0.9]];
    // Each part's mechanism says one word: it tells nothing about X under that part's prior.
    let mechanisms = [[[1.0, 0.0], [1.0, 0.0]], [[0.0, 1.0], [0.0, 1.0]]];
    for (part, mechanism) in parts.iter().zip(&mechanisms) {
        let channel = Channel::new(mechanism.iter().map(|row| row.to_vec()).collect()).unwrap();
        assert_eq!(lip::leakage(&law(part), &channel).unwrap().nats, 0.0);
    }
    // P(x, y) = ½ Σ_k P_k(x) Q_k(y|x): the word tells the part, and the part tells X.
    let joint = |x: usize, y: usize| (0..2).map(|k| 0.5 * parts[k][x] * mechanisms[k][x][y]).sum();
    let joint: Vec<Vec<f64>> = (0..2).map(|x| (0..2).map(|y| joint(x, y)).collect()).collect();
    let prior: Vec<f64> = joint.iter().map(|row| row.iter().sum()).collect();
    assert_eq!(prior, [0.5, 0.5]);
    let rows = joint.iter().zip(&prior).map(|(row, p)| row.iter().map(|c| c / p).collect());
    let leaked = lip::leakage(&law(&prior), &Channel::new(rows.collect()).unwrap()).unwrap().nats;
    close(leaked, 5f64.ln(), 1e-12);
    // With odds that can be kept at every level: however small the parts' ε, the mixture's does not vanish.
    for epsilon in [1.0, 0.1, 0.01] {
        assert!(leaked > epsilon);
    }
    // One mechanism that is ε-LIP for both parts is ε-LIP for every mixture of them.
    let one = Channel::new(vec![vec![0.7, 0.3], vec![0.4, 0.6]]).unwrap();
    let worst = parts.map(|part| lip::leakage(&law(&part), &one).unwrap().nats);
    let worst = worst[0].max(worst[1]);
    for share in [0.1, 0.25, 0.5, 0.8] {
        let mixed: Vec<f64> =
            (0..2).map(|x| share * parts[0][x] + (1.0 - share) * parts[1][x]).collect();
        assert!(lip::leakage(&law(&mixed), &one).unwrap().nats <= worst + 1e-12);
    }
}

/// JLT18 III-B: Ŝ = E[S|Y] is unbiased since E[Ŝ] = E[S]. On average over the data; for given data it leans to the prior.
/// Three people of P₁ = .1, the optimum at ε = 1, all reports enumerated.
#[test]
fn the_posterior_mean_is_unbiased_over_the_prior_only() {
    let prior = law(&[0.9, 0.1]);
    let channel = binary_optimal(&prior, 1.0).unwrap();
    let marginal: [f64; 2] =
        [0, 1].map(|y| (0..2).map(|x| prior[x] * channel.rows()[x][y]).sum::<f64>());
    let belief: [f64; 2] = [0, 1].map(|y| prior[1] * channel.rows()[1][y] / marginal[y]);
    let people = |bits: usize| [0, 1, 2].map(|i| bits >> i & 1);
    let mut over_all = 0.0;
    let mut given = [(0.0, 0usize); 4];
    for data in 0..8 {
        let x = people(data);
        let mean: f64 = (0..8)
            .map(|reports| {
                let y = people(reports);
                let chance: f64 = (0..3).map(|i| channel.rows()[x[i]][y[i]]).product();
                chance * y.iter().map(|&bit| belief[bit]).sum::<f64>()
            })
            .sum();
        over_all += mean * x.iter().map(|&bit| prior[bit]).product::<f64>();
        let ones: usize = x.iter().sum();
        given[ones].0 += mean;
        given[ones].1 += 1;
    }
    close(over_all, 0.3, 1e-12);
    let given = given.map(|(sum, count)| sum / count as f64);
    for (ones, expected) in [0.263_795, 0.384_479, 0.505_164, 0.625_848].into_iter().enumerate() {
        close(given[ones], expected, 1e-6);
    }
    assert!(given[0] > 0.0 && given[3] < 3.0);
}

/// The information privacy about a value of probability `p` of s sensors that each see it through randomised response at
/// ε, by enumerating all outputs.
fn sensors(p: f64, count: u32, epsilon: f64) -> f64 {
    let keep = epsilon.exp() / (1.0 + epsilon.exp());
    let mut worst = 0.0f64;
    for outputs in 0..1u32 << count {
        let ones = outputs.count_ones();
        let chance = |g: u32| {
            let right = if g == 1 { ones } else { count - ones };
            keep.powi(right as i32) * (1.0 - keep).powi((count - right) as i32)
        };
        let marginal = p * chance(1) + (1.0 - p) * chance(0);
        worst = worst.max((chance(1) / marginal).ln().abs());
        worst = worst.max((chance(0) / marginal).ln().abs());
    }
    worst
}

/// ST20 after Theorem 1: information privacy by LDP alone needs an LDP budget of the order of ε/s, and then H is private
/// too. Sensors that all see G itself attain ln(p + (1−p) e^(s ε)), so the order is right for the worst law; and since the
/// bound asks nothing of which hypothesis it is about, the same holds for H.
#[test]
fn the_order_of_ldp_that_keeps_hypotheses_private() {
    for (p, count, level) in [(0.5, 1, 1.0), (0.5, 6, 0.2), (0.1, 4, 0.5), (0.01, 8, 0.3)] {
        let total = f64::from(count) * level;
        let exact: f64 = p + (1.0 - p) * total.exp();
        close(sensors(p, count, level), exact.ln(), 1e-9);
    }
    // .18 nats of information privacy for a fair coin, by one sensor and by six.
    let budget = |count: u32| (2.0 * 0.18f64.exp() - 1.0).ln() / f64::from(count);
    close(budget(1), 0.332_489, 1e-6);
    close(budget(6), 0.055_415, 1e-6);
    close(sensors(0.5, 6, budget(6)), 0.18, 1e-9);
    assert!(sensors(0.5, 6, budget(1)) > 1.2, "one sensor's budget for six is far too much");
    // One sensor of four readings, one for every (h, g), that reports any yes/no question about them at ε = .5: what may
    // be learnt of H and of G is the same, and at most that.
    let joint = [0.25; 4];
    let keep = 1.0 / (1.0 + (-0.5f64).exp());
    let leak = |question: u32, label: fn(usize) -> usize| {
        let yes = |x: usize| if question >> x & 1 == 1 { keep } else { 1.0 - keep };
        let of = |value: Option<usize>, z: usize| {
            let own = (0..4).filter(|&x| value.is_none_or(|value| label(x) == value));
            own.map(|x| joint[x] * if z == 1 { yes(x) } else { 1.0 - yes(x) }).sum::<f64>()
        };
        let lift = |value: usize, z: usize| (of(Some(value), z) / (0.5 * of(None, z))).ln().abs();
        [(0, 0), (0, 1), (1, 0), (1, 1)].map(|(g, z)| lift(g, z)).into_iter().fold(0.0, f64::max)
    };
    let most = |label: fn(usize) -> usize| {
        (0..16).map(|question| leak(question, label)).fold(0.0, f64::max)
    };
    let about = [most(|x| x / 2), most(|x| x % 2)];
    for nats in about {
        close(nats, (0.5 + 0.5 * 0.5f64.exp()).ln(), 1e-12);
        assert!(nats <= 0.5);
    }
}
