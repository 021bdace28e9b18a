//! Notions of sensor networks.

use undertone_design::{Channel, Distribution, Joint};
use undertone_theory::relation::{Guarantee, Notion, Setting, Subject, forms, relate};

use crate::properties_relations::generate::{respects, rows};
use crate::properties_relations::slow;
use undertone_testkit::channel::pulled;
use undertone_testkit::dice::Dice;
use undertone_testkit::law::{distribution, spiked};

/// A random network: P(g,x) over x = (x_1..x_s) and one channel per sensor.
struct Network {
    joint: Joint,
    sensors: Vec<Vec<Vec<f64>>>,
    /// p(z|x) on vectors, and the symbols per sensor.
    channel: Channel,
    base: usize,
}

impl Network {
    fn random(dice: &mut Dice, s: usize, q: usize) -> Self {
        let base = 2usize;
        let inputs = base.pow(s as u32);
        let spike = 2.0 * dice.open_unit();
        let cells = spiked((1 << q) * inputs, spike, dice);
        let joint = Joint::new(cells.chunks(inputs).map(<[f64]>::to_vec).collect()).unwrap();
        let mut sensors = Vec::new();
        let mut channel = vec![vec![1.0]; inputs];
        for t in 0..s {
            let sensor = pulled(base, dice);
            for (x, row) in channel.iter_mut().enumerate() {
                let own = &sensor[x / base.pow(t as u32) % base];
                *row = row.iter().flat_map(|a| own.iter().map(move |b| a * b)).collect();
            }
            sensors.push(sensor);
        }
        let rows = channel.into_iter().map(|row| Distribution::normalised("row", row).unwrap());
        Self { joint, sensors, channel: Channel::from_rows(rows.collect()).unwrap(), base }
    }

    /// Whether two data vectors differ in exactly one sensor.
    fn near(&self, x: usize, z: usize) -> bool {
        let digits = |mut v: usize| {
            (0..self.sensors.len()).map(move |_| {
                let digit = v % self.base;
                v /= self.base;
                digit
            })
        };
        digits(x).zip(digits(z)).filter(|(a, b)| a != b).count() == 1
    }

    fn level(&self, notion: Notion) -> f64 {
        let data = self.joint.data().unwrap();
        let (p, q) = (data.as_slice(), rows(&self.channel));
        let secret = self.joint.secret().as_slice();
        let hidden = rows(&self.joint.through(&self.channel).unwrap());
        match notion {
            Notion::Ldp => self.sensors.iter().map(|q| slow::ldp(q)).fold(0.0, f64::max),
            Notion::Mipx => slow::information(p, &q).max(0.0),
            Notion::Ident => slow::odds(p, &q, |x, z| self.near(x, z)),
            Notion::Avgleak => slow::information(secret, &hidden).max(0.0),
            Notion::Infp => {
                let (lower, upper) = slow::lifts(secret, &hidden);
                lower.max(upper)
            }
            Notion::Infdp => {
                let flat = vec![1.0; secret.len()];
                slow::odds(&flat, &hidden, |g, h| (g ^ h).count_ones() == 1)
            }
            _ => panic!("{notion} is not about a network"),
        }
    }

    fn spread(&self) -> f64 {
        let data = self.joint.data().unwrap();
        let constant = vec![vec![1.0]; data.len()];
        slow::odds(data.as_slice(), &constant, |x, z| self.near(x, z))
    }
}

#[test]
fn no_network_implication_is_violated() {
    let mut dice = Dice::new(5);
    let notions =
        [Notion::Ldp, Notion::Mipx, Notion::Ident, Notion::Avgleak, Notion::Infp, Notion::Infdp];
    let mut checked = 0;
    for round in 0..600 {
        let (s, q) = (1 + round % 3, 1 + round / 3 % 2);
        let network = Network::random(&mut dice, s, q);
        let bare = Setting { sensors: Some(s), secrets: Some(q), ..Setting::new() };
        let hypothesis = network.joint.secret().clone();
        let full = Setting {
            spread: Some(network.spread()),
            hypothesis: Some(hypothesis.clone()),
            ..bare.clone()
        };
        let some = Setting { hypothesis_min: Some(hypothesis.min()), ..bare.clone() };
        for setting in [full, some, bare] {
            for from in notions {
                let premise = Guarantee::new(from, network.level(from)).unwrap();
                for to in notions {
                    let answer = relate(&premise, to, &setting).unwrap();
                    let Some(found) = answer.holds() else { continue };
                    let measured = Guarantee::new(to, network.level(to)).unwrap();
                    respects(
                        &found.guarantee,
                        &measured,
                        &format!("{premise} to {to}, s={s} q={q}"),
                    );
                    checked += 1;
                }
            }
        }
    }
    assert!(checked > 15_000, "{checked}");
}

#[test]
fn a_network_of_one_sensor_joins_both_worlds() {
    // G - X - Z with one sensor: every notion at once.
    let mut dice = Dice::new(6);
    for _ in 0..150 {
        let network = Network::random(&mut dice, 1, 1);
        let prior = network.joint.data().unwrap();
        let q = rows(&network.channel);
        let setting = Setting {
            hypothesis: Some(network.joint.secret().clone()),
            sensors: Some(1),
            alpha: Some(2.5),
            ..Setting::of(prior.clone())
        };
        let level = |notion: Notion| match notion.subject() {
            Subject::Datum if notion != Notion::Ldp => {
                slow::datum(notion, prior.as_slice(), &q, &setting)
            }
            _ => Guarantee::new(notion, network.level(notion)).unwrap(),
        };
        for from in Notion::ALL.into_iter().filter(|&n| n != Notion::Bplip) {
            for to in Notion::ALL.into_iter().filter(|&n| n != Notion::Bplip) {
                let answer = relate(&level(from), to, &setting).unwrap();
                if let Some(found) = answer.holds() {
                    respects(&found.guarantee, &level(to), &format!("{from} to {to}"));
                }
            }
        }
    }
}

#[test]
fn hypotheses_with_hamming_distance_are_exact() {
    let mut dice = Dice::new(7);
    for round in 0..100 {
        let q = 1 + round % 3;
        let hypothesis = distribution(&spiked(1 << q, 2.0, &mut dice));
        let epsilon = 0.05 + dice.open_unit();
        let (lower, upper) = forms::infp_from_infdp(&hypothesis, epsilon).unwrap();
        // The column e^(±dε) around each g meets infdp with equality and attains one side.
        let (mut seen_lower, mut seen_upper) = (0.0f64, 0.0f64);
        for g in 0..1usize << q {
            for sign in [1.0, -1.0] {
                let column: Vec<f64> = (0..1usize << q)
                    .map(|h| (sign * epsilon * f64::from((g ^ h).count_ones())).exp())
                    .collect();
                let mean: f64 = column.iter().zip(hypothesis.as_slice()).map(|(c, p)| c * p).sum();
                seen_lower = seen_lower.max((mean / column[g]).ln());
                seen_upper = seen_upper.max((column[g] / mean).ln());
            }
        }
        assert!((lower - seen_lower).abs() < 1e-12 && (upper - seen_upper).abs() < 1e-12);
    }
}
