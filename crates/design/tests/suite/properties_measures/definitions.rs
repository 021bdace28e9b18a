//! Every measure against a slow implementation written from its definition.

use crate::properties_measures::generate::*;
use crate::properties_measures::rational::{Exact, exact, ln, to_f64, total};
use dashu::rational::RBig;
use undertone_design::measure::network::{Network, product};
use undertone_design::measure::{
    alpha_lift, arimoto, delta, di, ldp, lip, maximal_leakage, mutual_information, renyi, sibson,
};
use undertone_design::{Distribution, Joint};
use undertone_testkit::law;

#[test]
fn measures_agree_with_exact_rationals() {
    for_cases(|dice| {
        let (prior, q) = if dice.unit() < 0.5 { positive_pair(dice) } else { sparse_pair(dice) };
        let e = Exact::of(&prior, &q);
        assert_close(lip::max_lift(&prior, &q).unwrap().nats, ln(e.max_lift()));
        assert_close(lip::min_lift(&prior, &q).unwrap().nats, ln(e.min_lift()));
        assert_close(ldp::leakage(&q).nats, ln(e.odds(|x, y| e.rows[x][y].clone())));
        let joint = |x: usize, y: usize| &e.prior[x] * &e.rows[x][y];
        assert_close(di::leakage(&prior, &q).unwrap().nats, ln(e.odds(joint)));
        let information = e.mutual_information().to_f64().value();
        assert_close(mutual_information::leakage(&prior, &q).unwrap(), information);
        let maximal = ln(Some(e.maximal_leakage()));
        assert_close(maximal_leakage::leakage(&prior, &q).unwrap(), maximal);
    });
}

#[test]
fn deltas_agree_with_exact_enumeration_of_sets() {
    for_cases(|dice| {
        let (prior, q) = if dice.unit() < 0.5 { positive_pair(dice) } else { sparse_pair(dice) };
        let epsilon = dice.unit();
        let (e, odds) = (Exact::of(&prior, &q), exact(epsilon.exp()));
        let inputs = prior.len();
        let sets = (1..1usize << inputs).map(|set| e.joint(set, &odds)).max().unwrap();
        let singles = (0..inputs).map(|x| e.joint(1 << x, &odds)).max().unwrap();
        assert_close(delta::joint_sets(&prior, &q, epsilon).unwrap(), to_f64(&sets));
        assert_close(delta::joint(&prior, &q, epsilon).unwrap(), to_f64(&singles));
        // Conditional and posterior as suprema over sets of outputs, the definitions' own words.
        let (mut d9, mut d5) = (RBig::ZERO, RBig::ZERO);
        for set in 0..1usize << q.outputs() {
            let mass = |law: &[RBig]| -> RBig {
                total((0..law.len()).filter(|y| set >> y & 1 == 1).map(|y| law[y].clone()))
            };
            let anyone = mass(&e.law);
            for row in &e.rows {
                let own = mass(row);
                let (above, below) = (&own - &odds * &anyone, &anyone - &odds * &own);
                d5 = d5.max(&above / &odds).max(below.clone());
                d9 = d9.max(above).max(below);
            }
        }
        assert_close(delta::conditional(&prior, &q, epsilon).unwrap(), to_f64(&d9));
        assert_close(delta::posterior(&prior, &q, epsilon).unwrap(), to_f64(&d5));
    });
}

#[test]
fn one_sided_deltas_take_their_own_epsilon() {
    for_cases(|dice| {
        let (prior, q) = positive_pair(dice);
        let (lower, upper) = (dice.unit(), dice.unit());
        let both = delta::Excess::of(&prior, &q, lower, upper).unwrap();
        let low = delta::Excess::of(&prior, &q, lower, lower).unwrap();
        let high = delta::Excess::of(&prior, &q, upper, upper).unwrap();
        assert_eq!((&both.above, &both.below), (&high.above, &low.below));
        // With both at their own leakage nothing is left over.
        let max = lip::max_lift(&prior, &q).unwrap().nats;
        let min = lip::min_lift(&prior, &q).unwrap().nats;
        assert!(delta::Excess::of(&prior, &q, min, max).unwrap().conditional() < SLACK);
    });
}

#[test]
fn alpha_measures_agree_with_their_definitions() {
    for_cases(|dice| {
        let (prior, q) = if dice.unit() < 0.5 { positive_pair(dice) } else { sparse_pair(dice) };
        let law = q.output_law(&prior).unwrap();
        let alpha = 1.05 + 5.0 * dice.unit();
        let ours = sibson::leakage(&prior, &q, alpha).unwrap();
        // Sibson: the infimum over Q_Y of D_α(P_XY || P_X × Q_Y), reached at Q_Y ∝ P_Y ℓ_α.
        let n = law.len();
        let against = |other: &Distribution| {
            let cells = |law: &dyn Fn(usize, usize) -> f64| {
                let cell = |i: usize| prior[i / n] * law(i / n, i % n);
                Distribution::normalised("cells", (0..prior.len() * n).map(cell).collect())
            };
            let (p, r) = (cells(&|x, y| q.q(x, y)).unwrap(), cells(&|_, y| other[y]).unwrap());
            renyi::divergence(&p, &r, alpha).unwrap()
        };
        let norm = |y: usize| -> f64 {
            let terms = (0..prior.len()).map(|x| prior[x] * q.q(x, y).powf(alpha));
            terms.sum::<f64>().powf(1.0 / alpha)
        };
        let best = Distribution::normalised("q", (0..law.len()).map(norm).collect()).unwrap();
        assert_close(ours, against(&best));
        for _ in 0..5 {
            assert!(against(&positive(dice, law.len())) >= ours - SLACK);
        }
        // Arimoto from the posteriors' norms.
        let mean: f64 = (0..law.len())
            .filter(|&y| law[y] > 0.0)
            .map(|y| {
                let posterior = (0..prior.len()).map(|x| prior[x] * q.q(x, y) / law[y]);
                law[y] * posterior.map(|p| p.powf(alpha)).sum::<f64>().powf(1.0 / alpha)
            })
            .sum();
        let blind = prior.as_slice().iter().map(|p| p.powf(alpha)).sum::<f64>().powf(1.0 / alpha);
        let expected = alpha / (alpha - 1.0) * (mean / blind).ln();
        assert_close(arimoto::leakage(&prior, &q, alpha).unwrap(), expected);
        // α-lift, and Sibson as its average ([ZDS22] (15)).
        let lift = |y: usize| norm(y) / law[y];
        let seen = || (0..law.len()).filter(|&y| law[y] > 0.0);
        let largest = alpha_lift::leakage(&prior, &q, alpha).unwrap();
        assert_close(largest.lift, seen().map(lift).fold(1.0, f64::max));
        let average: f64 = seen().map(|y| law[y] * lift(y)).sum();
        assert_close(ours, alpha / (alpha - 1.0) * average.ln());
    });
}

#[test]
fn networks_agree_with_the_full_table() {
    // Two binary hypotheses, two sensors with alphabets of 3 and 2 symbols; zeros everywhere.
    let (hypotheses, sensors) = ([2, 2], [3, 2]);
    for_cases(|dice| {
        let row = if dice.unit() < 0.5 { law::uneven } else { law::sparse };
        let maps = sensors.map(|n| channel_of(dice, n, 2, row));
        let secret = positive(dice, 4);
        let joint = Joint::from_parts(secret, channel_of(dice, 4, 6, row)).unwrap();
        let network = Network::from_sensors(hypotheses.to_vec(), joint.clone(), &maps).unwrap();
        // P(g,x,z), written out.
        let cell = |g: usize, x: usize, z: usize| {
            let given = joint.secret()[g] * joint.given_secret().q(g, x);
            given * maps[0].q(x / 2, z / 2) * maps[1].q(x % 2, z % 2)
        };
        let whole = product(&maps).unwrap();
        let gz = |g: usize, z: usize| (0..6).map(|x| cell(g, x, z)).sum::<f64>();
        let xz = |x: usize, z: usize| (0..4).map(|g| cell(g, x, z)).sum::<f64>();
        let z_mass = |z: usize| (0..4).map(|g| gz(g, z)).sum::<f64>();
        let differ = |a: usize, b: usize| usize::from(a / 2 != b / 2) + usize::from(a % 2 != b % 2);
        // The largest ln a/b over neighbours (0/0 is no constraint).
        let neighbours = |n: usize, weight: &dyn Fn(usize, usize) -> f64| {
            let mut most = 0f64;
            for (a, b) in (0..n * n).map(|i| (i / n, i % n)).filter(|&(a, b)| differ(a, b) == 1) {
                for z in (0..4).filter(|&z| weight(a, z) > 0.0) {
                    most = most.max((weight(a, z) / weight(b, z)).ln());
                }
            }
            most
        };
        let likelihood = |g: usize, z: usize| gz(g, z) / joint.secret()[g];
        assert_close(network.inference_dp().unwrap().nats, neighbours(4, &likelihood));
        assert_close(network.identifiability().unwrap().nats, neighbours(6, &xz));
        let entropy = |p: Vec<f64>| Distribution::normalised("p", p).unwrap().entropy();
        let pairs = |n: usize| (0..4 * n).map(|i| (i / 4, i % 4));
        let z = entropy((0..4).map(z_mass).collect());
        let both = entropy(pairs(4).map(|(g, z)| gz(g, z)).collect());
        assert_close(network.average_leakage().unwrap(), joint.secret().entropy() + z - both);
        let both = entropy(pairs(6).map(|(x, z)| xz(x, z)).collect());
        let data = joint.data().unwrap();
        assert_close(network.mutual_information().unwrap(), data.entropy() + z - both);
        let lift = |(g, z): (usize, usize)| (likelihood(g, z) / z_mass(z)).ln().abs();
        let worst = pairs(4).filter(|&(_, z)| z_mass(z) > 0.0).map(lift).fold(0.0, f64::max);
        assert_close(network.information_privacy().unwrap().nats, worst);
        // [ST20] Theorem 1 (vi) sharpened: InfP of G is at most the LDP of the vector.
        assert!(worst <= ldp::leakage(&whole).nats + 1e-12);
    });
}
