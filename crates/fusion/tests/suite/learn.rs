//! Learning from samples, against slow implementations and with things that must go wrong.
use crate::common::table_iv;
use rand_chacha::ChaCha12Rng;
use rand_core::SeedableRng;
use undertone_core::Alphabet;
use undertone_design::{Channel, measure};
use undertone_fusion::design::Watch;
use undertone_fusion::learn::compare::{Entry, Study, compare};
use undertone_fusion::learn::leakage::{self, Evidence, Observer};
use undertone_fusion::learn::release::{Release, one_hot_ldp};
use undertone_fusion::learn::{Kernel, Loss, Method, Settings, draw, risks, train};
use undertone_fusion::{Evaluation, Hypothesis, Maps, Model, Origin, Sample, Samples};

fn drawn(model: &Model, n: usize, seed: u64) -> Samples {
    draw::samples(model, n, &mut ChaCha12Rng::seed_from_u64(seed)).unwrap()
}

fn learn(samples: &Samples, method: Method, ldp: f64) -> undertone_fusion::learn::Trained {
    let settings = Settings { ldp, ratio: 0.999, ..Settings::default() };
    train(samples, method, &settings, &Watch::PATIENT).unwrap()
}

/// ST20 Fig. 8 on the law of Table IV: the shape, and every budget.
#[test]
fn figure_8_keeps_its_shape() {
    let model = table_iv();
    let samples = drawn(&model, 400, 7);
    let seen = |maps: &Maps| Evaluation::new(&model, maps).unwrap();
    let mut last = 1.0;
    for ldp in [0.5, 2.0, 5.0] {
        let (epic, open) = (learn(&samples, Method::Epic, ldp), learn(&samples, Method::ELdp, ldp));
        for maps in [&epic.maps, &open.maps] {
            let worst = maps.channels().iter().map(|map| measure::ldp::leakage(map).nats);
            assert!(worst.fold(0.0, f64::max) <= ldp + 1e-7);
        }
        let (hidden, plain) = (seen(&epic.maps), seen(&open.maps));
        // Hiding G costs some of H and saves G, and both shrink together with the budget.
        assert!(hidden.error_public >= plain.error_public - 1e-3);
        assert!(hidden.error_private > plain.error_private + 0.01, "{ldp}");
        assert!(hidden.information.nats < 0.7 * plain.information.nats, "{ldp}");
        assert!(plain.error_public < last);
        last = plain.error_public;
        let threshold = epic.threshold.unwrap();
        assert!(threshold.kept <= threshold.most && threshold.most <= 2f64.ln() + 1e-12);
        assert!(epic.adversaries.iter().all(|a| a.risk >= threshold.kept - 1e-6));
        assert!(open.threshold.is_none() && open.adversaries[0].risk < epic.adversaries[0].risk);
        assert!(open.risk <= epic.risk + 1e-9 && epic.risk < epic.blind);
    }
    // Without an LDP level the maps of EPIC tend to those of NPO.
    let free = seen(&learn(&samples, Method::Npo, 1.0).maps);
    let far = seen(&learn(&samples, Method::Epic, 8.0).maps);
    assert!((free.error_public - far.error_public).abs() < 0.02);
}

/// The specification's warning: nothing leaks in training, and the truth leaks.
#[test]
fn no_training_leakage_is_no_guarantee() {
    let model = table_iv();
    let worst = (0..4).map(|seed| {
        let trained = learn(&drawn(&model, 40, seed), Method::Npo, 1.0);
        assert!(trained.adversaries[0].risk > 0.999 * trained.threshold.unwrap().most - 1e-6);
        assert!(trained.threshold.unwrap().most > 0.692);
        Evaluation::new(&model, &trained.maps).unwrap().information.nats
    });
    assert!(worst.fold(0.0, f64::max) > 0.3);
}

/// E-LDP with one sensor, two outputs: a grid over all LDP maps with two levels per reading finds
/// nothing better.
#[test]
fn the_least_risk_of_one_sensor_against_a_grid() {
    let rows =
        [(0, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1), (1, 0, 2), (1, 1, 2), (0, 1, 0), (1, 0, 1)];
    let sample = |&(public, private, x): &(usize, usize, usize)| Sample {
        public,
        private,
        readings: vec![x],
    };
    let labels = (Hypothesis::indexed("h", 2), Hypothesis::indexed("g", 2));
    let sensors = vec![("a".to_owned(), Alphabet::indices(3).unwrap())];
    let samples =
        Samples::new(labels.0, labels.1, sensors, rows.iter().map(sample).collect()).unwrap();
    let (ldp, steps) = (1.0f64, 40);
    let trained = learn(&samples, Method::ELdp, ldp);
    let within = |p: &[f64]| {
        let ratio = |a: f64, b: f64| a <= ldp.exp() * b + 1e-12;
        p.iter().all(|&a| p.iter().all(|&b| ratio(a, b) && ratio(1.0 - a, 1.0 - b)))
    };
    let mut least = f64::INFINITY;
    for a in 0..=steps {
        for b in 0..=steps {
            for c in 0..=steps {
                let p = [a, b, c].map(|v| f64::from(v) / f64::from(steps));
                if within(&p) {
                    let map = p.iter().map(|&p| vec![p, 1.0 - p]).collect();
                    let maps = Maps::new(vec![Channel::new(map).unwrap()]).unwrap();
                    least = least.min(risks(&samples, &maps, 0.01).unwrap().0);
                }
            }
        }
    }
    assert!(trained.risk <= least + 1e-5, "{} against {least}", trained.risk);
}

/// (12) and its average against sums over everything.
#[test]
fn leakage_against_the_definition() {
    for seed in 0..6 {
        let samples = drawn(&table_iv(), 60, seed);
        let trained = learn(&samples, Method::ELdp, 1.5);
        let (n, s) = (samples.samples().len() as f64, 4);
        let mut worst = 0.0f64;
        for z in 0..1usize << s {
            let bit = |t: usize| z >> t & 1;
            let mass = |g: usize| -> f64 {
                let own = samples.samples().iter().filter(|sample| sample.private == g);
                let one = |sample: &Sample| -> f64 {
                    (0..s)
                        .map(|t| trained.maps.channels()[t].q(sample.readings[t], bit(t)))
                        .product()
                };
                own.map(one).sum::<f64>() / n
            };
            let prior = |g: usize| {
                samples.samples().iter().filter(|sample| sample.private == g).count() as f64 / n
            };
            for g in 0..2 {
                let lift = mass(g) / (prior(g) * (mass(0) + mass(1)));
                worst = worst.max(lift.ln().abs());
            }
        }
        let release = Release::Maps(trained.maps);
        let averaged = leakage::averaged(&samples, &release).unwrap().unwrap();
        assert!((averaged - worst).abs() < 1e-12, "{averaged} {worst}");
    }
    let rows = vec![vec![0], vec![0], vec![0], vec![1], vec![1], vec![1]];
    let found = leakage::counted(&[0, 0, 1, 0, 1, 1], &rows);
    assert!((found - (4f64 / 3.0).ln().max((1.5f64).ln())).abs() < 1e-12, "{found}");
    assert_eq!(leakage::counted(&[0, 0, 0, 1, 1, 1], &rows), f64::INFINITY);
    assert_eq!(leakage::counted(&[0, 1, 0, 1], &[vec![0], vec![0], vec![0], vec![0]]), 0.0);
}

fn evidence<'a>(held_out: &'a Samples) -> Evidence<'a> {
    Evidence { held_out, units: None, prior: None, chosen_with: None }
}

fn bound(held_out: &Samples, release: &Release) -> f64 {
    leakage::bounded(&evidence(held_out), release, Observer::Outputs, 0.95, 1).unwrap().nats
}

#[test]
fn the_bound_covers_the_truth_and_is_capped_by_ldp() {
    let model = table_iv();
    let map = |x: i32| {
        let high = 1f64.exp() / (1.0 + 1f64.exp());
        if x >= 0 { vec![1.0 - high, high] } else { vec![high, 1.0 - high] }
    };
    let channel = Channel::new((-5..=5).map(map).collect()).unwrap();
    let maps = Maps::same(&model, &channel).unwrap();
    let truth = Evaluation::new(&model, &maps).unwrap().information.nats;
    let release = Release::Maps(maps);
    let cap = (0.5 + 0.5 * 4f64.exp()).ln();
    let mut small = 0.0;
    for seed in 0..12 {
        let held_out = drawn(&model, 1000, 100 + seed);
        let found = bound(&held_out, &release);
        assert!(found >= truth, "seed {seed}: {found} below the truth {truth}");
        let known = Evidence { prior: Some(&[0.5, 0.5]), ..evidence(&held_out) };
        let known = leakage::bounded(&known, &release, Observer::Outputs, 0.95, 1).unwrap();
        assert!(known.nats <= found && known.nats <= cap + 1e-9 && known.nats >= truth);
        assert_eq!((known.cells, known.units, known.outside), (16, 1000, 0.0));
        small += found / 12.0;
    }
    let large = bound(&drawn(&model, 20_000, 5), &release);
    assert!(large < 0.8 * small && large >= truth, "{truth} {large} {small}");
    // Two samples prove nothing beyond LDP.
    let few = drawn(&model, 3, 3);
    let few = leakage::bounded(
        &Evidence { prior: Some(&[0.5, 0.5]), ..evidence(&few) },
        &release,
        Observer::Outputs,
        0.95,
        1,
    );
    assert!((few.unwrap().nats - cap).abs() < 1e-6);
}

#[test]
fn maps_that_leak_are_found_out_and_silent_ones_acquitted() {
    // The first sensor reads G itself.
    let given = |h: usize, g: usize| {
        vec![
            vec![0.5 + 0.4 * (1.0 - g as f64), 0.1 + 0.4 * g as f64],
            vec![0.9 - 0.8 * h as f64, 0.1 + 0.8 * h as f64],
        ]
    };
    let laws = |t: usize| -> Vec<Vec<Vec<f64>>> {
        (0..2).map(|h| (0..2).map(|g| given(h, g)[t].clone()).collect()).collect()
    };
    let mut first = laws(0);
    first.iter_mut().flatten().enumerate().for_each(|(i, law)| {
        let g = (i % 2) as f64;
        *law = vec![0.95 - 0.9 * g, 0.05 + 0.9 * g];
    });
    let model = Model::independent(vec![vec![0.25, 0.25], vec![0.25, 0.25]], vec![first, laws(1)]);
    let model = model.unwrap();
    let held_out = drawn(&model, 5000, 1);
    let open = Release::Maps(Maps::identity(&model).unwrap());
    assert!(bound(&held_out, &open) > 2.0);
    let constant = Channel::new(vec![vec![0.3, 0.7], vec![0.3, 0.7]]).unwrap();
    let silent = Release::Maps(Maps::same(&model, &constant).unwrap());
    assert!(bound(&held_out, &silent) < 1e-9);
    // EPIC silences the first sensor and keeps the second.
    let samples = drawn(&model, 600, 2);
    let trained = learn(&samples, Method::Epic, 2.0);
    let seen = Evaluation::new(&model, &trained.maps).unwrap();
    assert!(seen.private_information < 0.01 && seen.error_private > 0.48, "{seen:?}");
    assert!(seen.error_public < 0.3, "{seen:?}");
    // Whoever sees only the decision learns less, and the bound says so.
    let release = Release::Maps(trained.maps.clone());
    let decide = |row: &[usize]| trained.rule.decide(row);
    let observer = Observer::Decisions(&decide, 2);
    let decided = leakage::bounded(&evidence(&held_out), &release, observer, 0.95, 1).unwrap();
    assert!(decided.nats <= bound(&held_out, &release) + 1e-9 && decided.cells == 2);
}

#[test]
fn a_whole_comparison() {
    let model = table_iv();
    let (samples, held_out) = (drawn(&model, 200, 11), drawn(&model, 1200, 12));
    let units: Vec<usize> = (0..1200).map(|i| i / 4).collect();
    let study =
        |units| Study { train: &samples, test: &held_out, units, confidence: 0.9, levels: 10 };
    let settings = Settings { ldp: 2.0, restarts: 1, ..Settings::default() };
    let origin = Origin { source: "table IV".into(), samples: 200, ..Origin::default() };
    let line = |name: &str, units| {
        let entry = Entry::parse(name).unwrap();
        compare(&study(units), entry, &settings, &origin, &Watch::PATIENT).unwrap()
    };
    let [epic, open, raw, dca, ruca] =
        ["epic", "e-ldp", "raw", "dca", "ruca:100"].map(|name| line(name, None));
    let figures = |line: &undertone_fusion::learn::compare::Line| {
        (line.judged.detectors, line.judged.examined.attackers)
    };
    // The raw readings tell everything: a tenth of the errors that hiding leaves.
    assert!(figures(&raw).0.public < 0.05 && figures(&raw).0.private < 0.25);
    assert!(figures(&epic).0.private > 0.38 && figures(&epic).1.private > 0.38);
    assert!(figures(&open).1.private < figures(&epic).1.private);
    assert!(figures(&epic).0.public < 0.4);
    // One direction tells both labels here: a projection shows both, or at a price hides both.
    assert!(figures(&dca).0.public < 0.1 && figures(&dca).0.private < 0.2);
    assert!(figures(&ruca).0.private > 0.4 && figures(&ruca).0.public > 0.3);
    assert_eq!(raw.judged.examined.ldp, f64::INFINITY);
    assert_eq!(raw.judged.examined.bound.nats, f64::INFINITY);
    // What ships is exact.
    let shipped = epic.shipped.as_ref().unwrap();
    let levels = shipped.policies.iter().map(|p| p.certificate().input.ldp.ratio.ln_up().unwrap());
    assert!(levels.max().unwrap().to_string().parse::<f64>().unwrap() <= 2.0);
    let bundle = shipped.bundle.as_ref().unwrap();
    assert_eq!((bundle.origin().method.as_str(), bundle.origin().samples), ("epic", 200));
    undertone_fusion::Bundle::from_json(&bundle.to_json()).unwrap();
    assert!(epic.judged.examined.if_independent.is_none());
    // Fewer independent units prove less.
    let grouped = line("epic", Some(&units[..]));
    let (own, rows) =
        (grouped.judged.examined.bound, grouped.judged.examined.if_independent.unwrap());
    assert_eq!((own.units, rows.units), (300, 1200));
    assert!(own.nats > 0.0 && rows.nats == epic.judged.examined.bound.nats);
}

#[test]
fn more_values_more_outputs_more_labels() {
    // Three values of H, a vector of two private bits, three outputs.
    let law = |h: usize, g: usize| -> Vec<f64> {
        let weight = |x: usize| 1.0 / (1.0 + (x as f64 - 2.0 * h as f64 - g as f64 % 2.0).powi(2));
        let total: f64 = (0..6).map(weight).sum();
        (0..6).map(|x| weight(x) / total).collect()
    };
    let given: Vec<Vec<Vec<f64>>> = (0..3).map(|h| (0..4).map(|g| law(h, g)).collect()).collect();
    let model = Model::independent(vec![vec![1.0 / 12.0; 4]; 3], vec![given; 3]).unwrap();
    let samples = drawn(&model, 300, 3);
    let settings = Settings { outputs: 3, ldp: 2.0, restarts: 2, ..Settings::default() };
    let epic = train(&samples, Method::Epic, &settings, &Watch::PATIENT).unwrap();
    let open = train(&samples, Method::ELdp, &settings, &Watch::PATIENT).unwrap();
    assert_eq!(epic.adversaries.iter().map(|a| a.private).collect::<Vec<_>>(), vec![1, 2, 3]);
    let (hidden, plain) = (
        Evaluation::new(&model, &epic.maps).unwrap(),
        Evaluation::new(&model, &open.maps).unwrap(),
    );
    assert!(plain.error_public < plain.blind_public - 0.1);
    assert!(hidden.private_information < plain.private_information);
    // Readings never seen get the average row, which keeps every ratio.
    let few = samples.subset(&(0..8).collect::<Vec<_>>()).unwrap();
    let maps = train(&few, Method::ELdp, &settings, &Watch::PATIENT).unwrap().maps;
    let worst = maps.channels().iter().map(|map| measure::ldp::leakage(map).nats);
    assert!(worst.fold(0.0, f64::max) <= 2.0 + 1e-7);
}

/// A feature spread over bits: its level against the ratio of all outputs.
#[test]
fn one_hot_bits_cost_up_to_twice() {
    let rows = [[0.7, 0.3], [0.4, 0.6]];
    let other = [[0.5, 0.5], [0.2, 0.8]];
    let channel =
        |rows: [[f64; 2]; 2]| Channel::new(rows.map(|row| row.to_vec()).to_vec()).unwrap();
    let maps = Maps::new(vec![channel(rows), channel(other), channel(rows)]).unwrap();
    let p = |t: usize, value: usize, z: usize| {
        maps.channels()[t].q(usize::from(t == value), z >> t & 1)
    };
    let all = |value: usize, z: usize| -> f64 { (0..3).map(|t| p(t, value, z)).product() };
    let mut worst = 0.0f64;
    for z in 0..8 {
        for a in 0..3 {
            for b in 0..3 {
                worst = worst.max((all(a, z) / all(b, z)).ln());
            }
        }
    }
    let found = one_hot_ldp(&maps, &[0, 1, 2]);
    assert!((found - worst).abs() < 1e-12, "{found} {worst}");
    let single = maps.channels().iter().map(|map| measure::ldp::leakage(map).nats);
    let single = single.fold(0.0, f64::max);
    assert!(found > single && found <= 2.0 * single + 1e-12);
}

#[test]
fn bad_settings_are_refused_in_words() {
    let samples = drawn(&table_iv(), 40, 1);
    let refused = |change: &dyn Fn(&mut Settings), word: &str| {
        let mut settings = Settings::default();
        change(&mut settings);
        let error = train(&samples, Method::Epic, &settings, &Watch::PATIENT).unwrap_err();
        assert!(error.to_string().contains(word), "{error}");
    };
    refused(&|s| s.ldp = 0.0, "LDP budget is 0");
    refused(&|s| s.ldp = f64::NAN, "LDP budget");
    refused(&|s| s.outputs = 1, "outputs is 1");
    refused(&|s| s.ratio = 1.5, "ratio is 1.5");
    refused(&|s| s.slack = -1.0, "slack is -1");
    refused(&|s| s.ridge = 0.0, "ridge is 0");
    refused(&|s| s.restarts = 0, "restarts");
    assert!(Entry::parse("svm").unwrap_err().to_string().contains("not one of epic"));
    assert!(Entry::parse("ruca:-1").is_err());
    let release = Release::Raw(vec![2]);
    let wrong = leakage::bounded(&evidence(&samples), &release, Observer::Outputs, 1.0, 1);
    assert!(wrong.unwrap_err().to_string().contains("confidence is 1"));
    let short = Evidence { units: Some(&[0, 1]), ..evidence(&samples) };
    let constant = Channel::new(vec![vec![0.5, 0.5]; 11]).unwrap();
    let silent = Release::Maps(Maps::new(vec![constant; 4]).unwrap());
    let wrong = leakage::bounded(&short, &silent, Observer::Outputs, 0.9, 1);
    assert!(wrong.unwrap_err().to_string().contains("2 entries where 40"));
}

/// Three bits; H is their majority and G the parity of the first two, of which no bit tells anything by itself.
fn parity() -> Samples {
    let sample = |n: usize| {
        let bits = [n & 1, (n >> 1) & 1, (n >> 2) & 1];
        let public = usize::from(bits.iter().sum::<usize>() >= 2);
        Sample { public, private: bits[0] ^ bits[1], readings: bits.to_vec() }
    };
    let (h, g) = (Hypothesis::indexed("majority", 2), Hypothesis::indexed("parity", 2));
    let sensors = ["a", "b", "c"].map(|name| (name.to_owned(), Alphabet::indices(2).unwrap()));
    Samples::new(h, g, sensors.to_vec(), (0..80).map(sample).collect()).unwrap()
}

/// How often the best guess of a label from all outputs is wrong on these samples, by adding up all outputs.
fn best_guess(samples: &Samples, maps: &Maps, label: fn(&Sample) -> usize) -> f64 {
    let all = samples.samples();
    let right: f64 = (0..8usize)
        .map(|z| {
            let mut by_label = [0.0f64; 2];
            for sample in all {
                let chance = (0..3).map(|t| maps.channels()[t].q(sample.readings[t], (z >> t) & 1));
                by_label[label(sample)] += chance.product::<f64>() / all.len() as f64;
            }
            by_label[0].max(by_label[1])
        })
        .sum();
    1.0 - right
}

#[test]
fn what_two_sensors_tell_together_is_hidden_by_the_kernel_of_pairs_alone() {
    let samples = parity();
    let under = |kernel: Kernel| {
        let settings = Settings { kernel, ratio: 0.98, ..Settings::default() };
        train(&samples, Method::Npo, &settings, &Watch::PATIENT).unwrap().maps
    };
    let (count, pairs) = (under(Kernel::Count), under(Kernel::Pairs));
    let errors = |maps: &Maps| {
        let public = best_guess(&samples, maps, |sample| sample.public);
        (public, best_guess(&samples, maps, |sample| sample.private))
    };
    let (seen, hidden) = (errors(&count), errors(&pairs));
    assert!(seen.1 < 0.2, "a sum over sensors does not see the parity: {seen:?}");
    assert!(hidden.1 > 0.35 && hidden.0 < 0.4, "{hidden:?} after {seen:?}");
    // What the count kernel calls hidden is plain to a rule over pairs.
    let (_, adversaries) = risks(&samples, &count, 0.01).unwrap();
    assert!(adversaries[0].risk > 0.99 * 2f64.ln());
}

#[test]
fn every_loss_hides_and_keeps_the_level() {
    let model = table_iv();
    let samples = drawn(&model, 200, 5);
    for loss in Loss::ALL {
        let under = |method: Method| {
            let settings = Settings { loss, ldp: 2.0, restarts: 1, ..Settings::default() };
            train(&samples, method, &settings, &Watch::PATIENT).unwrap()
        };
        let (epic, open) = (under(Method::Epic), under(Method::ELdp));
        for maps in [&epic.maps, &open.maps] {
            let worst = maps.channels().iter().map(|map| measure::ldp::leakage(map).nats);
            assert!(worst.fold(0.0, f64::max) <= 2.0 + 1e-7, "{loss:?}");
        }
        let seen = |maps: &Maps| Evaluation::new(&model, maps).unwrap();
        let (hidden, plain) = (seen(&epic.maps), seen(&open.maps));
        assert!(plain.error_public < 0.45, "{loss:?}: {}", plain.error_public);
        assert!(hidden.error_private > plain.error_private + 0.01, "{loss:?}");
        // The dual at the adversary's own multipliers is its risk.
        let adversary = epic.adversaries[0];
        assert!((adversary.risk - adversary.dual).abs() < 1e-9, "{loss:?}");
        assert!(adversary.risk >= epic.threshold.unwrap().kept - 1e-6, "{loss:?}");
    }
}
