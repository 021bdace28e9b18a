//! The network's certificate against exact rationals, and bundles that were tampered with.
use crate::common::ga;
use dashu::base::Abs;
use dashu::rational::RBig;
use serde_json::{Value, json};
use undertone_core::{Nats, Shape};
use undertone_design::Channel;
use undertone_fusion::design::{Budgets, Method, Request, Watch, design};
use undertone_fusion::{Bundle, Certificate, Evaluation, ExactModel, Maps, Model, Origin};
use undertone_testkit::dice::Dice;
use undertone_testkit::law::level;

/// A random network of up to four sensors with random maps.
fn random(dice: &mut Dice) -> (Model, Maps) {
    let (h, g, s) = (2 + dice.below(2), 2 + dice.below(2), 1 + dice.below(4));
    let flat = level(h * g, 0.02, dice);
    let prior: Vec<Vec<f64>> = flat.chunks(g).map(<[f64]>::to_vec).collect();
    let sizes: Vec<(usize, usize)> =
        (0..s).map(|_| (2 + dice.below(3), 2 + dice.below(2))).collect();
    let given = sizes
        .iter()
        .map(|&(x, _)| (0..h).map(|_| (0..g).map(|_| level(x, 0.02, dice)).collect()).collect())
        .collect();
    let model = Model::independent(prior, given).unwrap();
    let map = |&(x, z): &(usize, usize)| {
        Channel::new((0..x).map(|_| level(z, 0.02, dice)).collect()).unwrap()
    };
    let maps = Maps::new(sizes.iter().map(map).collect()).unwrap();
    (model, maps)
}

fn one() -> RBig {
    RBig::from(1u64 << 48)
}

/// P(z|g) of every output vector, and P(g), from the integers of a bundle's file and policies.
fn exact_laws(bundle: &Bundle) -> (Vec<Vec<RBig>>, Vec<RBig>) {
    let file: Value = serde_json::from_str(&bundle.to_json()).unwrap();
    let tables: Vec<&[undertone_core::Row]> = bundle
        .policies()
        .iter()
        .map(|policy| match policy.draft().shape() {
            Shape::Table(table) => table.rows(),
            _ => panic!("not a table"),
        })
        .collect();
    // A star: readings, G and H are given the scenario, the last variable.
    let nodes = file["plan"]["law"]["nodes"].as_array().unwrap();
    let masses = |list: &Value| -> Vec<RBig> {
        list.as_array().unwrap().iter().map(|p| RBig::from(p.as_u64().unwrap()) / one()).collect()
    };
    let rows = |node: &Value| -> Vec<Vec<RBig>> {
        node["rows"].as_array().unwrap().iter().map(masses).collect()
    };
    let atoms = masses(&nodes[tables.len() + 2]["weights"]);
    let readings: Vec<Vec<Vec<RBig>>> = nodes[..tables.len()].iter().map(rows).collect();
    let private = rows(&nodes[tables.len()]);
    let outputs: Vec<usize> = tables.iter().map(|rows| rows[0].masses().len()).collect();
    let values = private[0].len();
    let mut prior = vec![RBig::ZERO; values];
    for (weight, private) in atoms.iter().zip(&private) {
        prior.iter_mut().zip(private).for_each(|(sum, p)| *sum += weight * p);
    }
    let vectors: usize = outputs.iter().product();
    let mut joint = vec![vec![RBig::ZERO; values]; vectors];
    for (index, law) in joint.iter_mut().enumerate() {
        let mut rest = index;
        let z: Vec<usize> = outputs
            .iter()
            .map(|size| {
                let at = rest % size;
                rest /= size;
                at
            })
            .collect();
        for (k, weight) in atoms.iter().enumerate() {
            let mut mass = weight.clone();
            for (t, rows) in tables.iter().enumerate() {
                let reading = readings[t][k].iter().zip(*rows);
                mass *= reading
                    .map(|(p, row)| p * RBig::from(row.masses()[z[t]]) / one())
                    .fold(RBig::ZERO, |sum, term| sum + term);
            }
            law.iter_mut().zip(&private[k]).for_each(|(sum, p)| *sum += &mass * p);
        }
    }
    for law in &mut joint {
        law.iter_mut().zip(&prior).for_each(|(m, p)| *m /= p.clone());
    }
    (joint, prior)
}

/// The largest lift or inverse lift over a set of likelihood vectors.
fn worst(laws: &[Vec<RBig>], prior: &[RBig]) -> RBig {
    let mut worst = RBig::ONE;
    for law in laws {
        let total = law.iter().zip(prior).fold(RBig::ZERO, |sum, (q, p)| sum + q * p);
        for q in law {
            worst = worst.max(q / &total).max(&total / q);
        }
    }
    worst
}

/// Likelihoods of all sequences of `epochs` outputs.
fn sequences(laws: &[Vec<RBig>], epochs: u32) -> Vec<Vec<RBig>> {
    (1..epochs).fold(laws.to_vec(), |all, _| {
        let times = |a: &Vec<RBig>, b: &Vec<RBig>| a.iter().zip(b).map(|(x, y)| x * y).collect();
        all.iter().flat_map(|a| laws.iter().map(move |b| times(a, b))).collect()
    })
}

/// Whether `nats` (in units of 10^-10) is at least the logarithm of `ratio` and not above it by more
/// than a few units.
#[track_caller]
fn assert_just_above(nats: Nats, ratio: &RBig) {
    let truth = ratio.to_f64().value().ln();
    let found = nats.units() as f64 * 1e-10;
    assert!(found >= truth - 1e-14, "{found} is below {truth}");
    assert!(found <= truth + 3e-10, "{found} is far above {truth}");
}

fn unlimited(model: &Model, maps: &Maps, epochs: u32) -> Bundle {
    let budgets = Budgets { epochs, ..Budgets::new(f64::INFINITY, f64::INFINITY).unwrap() };
    let exact = ExactModel::new(model).unwrap();
    Bundle::ship(&exact, maps, budgets, &Origin::default()).unwrap()
}

#[test]
fn certificates_are_the_exact_leakage_rounded_up() {
    let mut dice = Dice::new(48);
    for case in 0..60 {
        let (model, maps) = random(&mut dice);
        let bundle = unlimited(&model, &maps, 1);
        let (laws, prior) = exact_laws(&bundle);
        let line = bundle.certificate().after(1).unwrap();
        assert!(line.exact);
        assert_just_above(line.information.unwrap(), &worst(&laws, &prior));
        // The floats agree, and the laws of one sum to one.
        let float = Evaluation::new(&model, &maps).unwrap().information.nats;
        let certified = line.information.unwrap().units() as f64 * 1e-10;
        assert!((float - certified).abs() < 1e-8, "case {case}: {float} {certified}");
        let total = laws.iter().fold(RBig::ZERO, |sum, law| sum + &law[0]);
        assert!((total - RBig::ONE).abs() == RBig::ZERO);
        // What LDP alone guarantees is never below.
        assert!(line.always.unwrap() >= line.information.unwrap());
    }
}

#[test]
fn several_epochs_against_all_sequences() {
    let mut dice = Dice::new(49);
    for _ in 0..40 {
        let (model, maps) = random(&mut dice);
        let vectors: usize = maps.outputs().iter().product();
        for epochs in [2u32, 3, 4] {
            if vectors.pow(epochs) > 1500 {
                continue;
            }
            let bundle = unlimited(&model, &maps, epochs);
            let (laws, prior) = exact_laws(&bundle);
            let truth = worst(&sequences(&laws, epochs), &prior);
            let line = bundle.certificate().after(epochs).unwrap();
            if line.exact {
                assert_just_above(line.information.unwrap(), &truth);
            } else {
                let found = line.information.unwrap().units() as f64 * 1e-10;
                assert!(found >= truth.to_f64().value().ln() - 1e-14);
            }
            assert!(line.always.unwrap() >= line.information.unwrap());
        }
    }
}

#[test]
fn readings_that_never_change_stay_within_what_ldp_guarantees() {
    let mut dice = Dice::new(51);
    let mut beyond = 0;
    for _ in 0..40 {
        let (model, maps) = random(&mut dice);
        let (sensor, map) = (&model.sensors()[0], &maps.channels()[0]);
        let alone = Maps::new(vec![map.clone()]).unwrap();
        // The first sensor alone, reading the same x in every one of three epochs.
        let given: Vec<Vec<Vec<f64>>> = (0..model.public().size())
            .map(|h| {
                let cell =
                    |g: usize| sensor.given(h * model.private().size() + g).as_slice().to_vec();
                (0..model.private().size()).map(cell).collect()
            })
            .collect();
        let mut prior = vec![vec![0.0; model.private().size()]; model.public().size()];
        model.atoms().iter().for_each(|atom| prior[atom.public][atom.private] = atom.weight);
        let single = Model::independent(prior, vec![given]).unwrap();
        let line = *unlimited(&single, &alone, 3).certificate().after(3).unwrap();
        let law = single.private_law();
        let size = map.outputs();
        let mut worst = 0.0f64;
        for z in 0..size.pow(3) {
            let mut seen = vec![0.0; law.len()];
            for (k, atom) in single.atoms().iter().enumerate() {
                for (x, p) in single.sensors()[0].given(k).as_slice().iter().enumerate() {
                    let sent = [z % size, z / size % size, z / size / size];
                    let q: f64 = sent.iter().map(|&z| map.q(x, z)).product();
                    seen[atom.private] += atom.weight * p * q;
                }
            }
            let total: f64 = seen.iter().sum();
            for (mass, p) in seen.iter().zip(&law) {
                worst = worst.max((mass / (p * total)).ln().abs());
            }
        }
        assert!(worst <= line.always.unwrap().units() as f64 * 1e-10 + 1e-9);
        beyond += u32::from(worst > line.information.unwrap().units() as f64 * 1e-10 + 1e-6);
    }
    // The figure for independent epochs is about other worlds: a constant reading can leak more.
    assert!(beyond > 0, "the control never left the independent figure");
}

#[test]
fn repetition_grows_and_ends_at_certainty_of_the_other_side() {
    let mut dice = Dice::new(50);
    let (model, maps) = random(&mut dice);
    let certificate = unlimited(&model, &maps, 7).certificate().clone();
    let counts: Vec<u32> = certificate.epochs.iter().map(|line| line.epochs).collect();
    assert_eq!(counts, vec![1, 7, 10, 100]);
    let nats: Vec<u64> =
        certificate.epochs.iter().map(|line| line.information.unwrap().units()).collect();
    assert!(nats.windows(2).all(|pair| pair[0] < pair[1]), "{nats:?}");
}

#[test]
fn a_revealing_output_has_no_bound() {
    let one_hot = |x: usize| (0..2).map(|at| f64::from(u8::from(at == x))).collect::<Vec<f64>>();
    let given = vec![vec![one_hot(0), one_hot(1)]; 2];
    let model = Model::independent(vec![vec![0.25; 2]; 2], vec![given]).unwrap();
    let maps = Maps::identity(&model).unwrap();
    let budgets = Budgets::new(f64::INFINITY, f64::INFINITY).unwrap();
    let exact = ExactModel::new(&model).unwrap();
    // Even "no LDP" is a finite level, so the shipped maps leave a trace of doubt.
    let bundle = Bundle::ship(&exact, &maps, budgets, &Origin::default()).unwrap();
    let line = bundle.certificate().after(1).unwrap();
    let nats = line.information.unwrap().units() as f64 * 1e-10;
    assert!(nats > 20.0 && nats < 22.2, "{nats}");
    assert!(bundle.certificate().ldp[0].units() as f64 * 1e-10 < 22.19);
}

#[test]
fn budgets_are_met_and_hardly_missed() {
    let exact = ExactModel::new(&ga(4)).unwrap();
    let model = exact.model().unwrap();
    for (information, ldp, epochs) in [(0.1, 1.0, 1), (0.5, 2.0, 10), (0.05, f64::INFINITY, 1)] {
        let budgets = Budgets { epochs, ..Budgets::new(information, ldp).unwrap() };
        let request =
            Request { method: Method::Joint, budgets, outputs: vec![2; 4], restarts: 12, seed: 3 };
        let found = design(&model, &request, &Watch::PATIENT).unwrap();
        let bundle = Bundle::ship(&exact, &found.maps, budgets, &Origin::default()).unwrap();
        let line = bundle.certificate().after(epochs).unwrap();
        let attained = line.information.unwrap();
        assert!(attained <= budgets.information.unwrap().nats());
        let nats = attained.units() as f64 * 1e-10;
        assert!(line.exact && nats > information - 1e-6, "{epochs}: {nats} of {information}");
        if let Some(level) = budgets.ldp {
            assert!(bundle.certificate().ldp.iter().all(|&nats| nats <= level.nats()));
        }
        let shipped = Evaluation::new(&model, &bundle.maps().unwrap()).unwrap();
        assert!((shipped.error_public - found.error).abs() < 1e-6, "the integers cost nothing");
    }
}

#[test]
fn even_maps_that_reveal_everything_ship_once_they_are_drowned() {
    let model = ga(2);
    let exact = ExactModel::new(&model).unwrap();
    let budgets = Budgets::new(0.2, 3.0).unwrap();
    let maps = Maps::identity(&model).unwrap();
    let bundle = Bundle::ship(&exact, &maps, budgets, &Origin::default()).unwrap();
    let line = bundle.certificate().after(1).unwrap();
    assert!(line.information.unwrap() <= budgets.information.unwrap().nats());
    assert!(bundle.certificate().ldp.iter().all(|&nats| nats <= budgets.ldp.unwrap().nats()));
}

fn small_bundle() -> Bundle {
    let exact = ExactModel::new(&ga(2)).unwrap();
    let budgets = Budgets::new(0.2, 1.0).unwrap();
    let request =
        Request { method: Method::Joint, budgets, outputs: vec![2; 2], restarts: 8, seed: 1 };
    let found = design(&exact.model().unwrap(), &request, &Watch::PATIENT).unwrap();
    let origin = Origin { method: "joint".into(), source: "GA".into(), ..Origin::default() };
    Bundle::ship(&exact, &found.maps, budgets, &origin).unwrap()
}

#[test]
fn a_bundle_survives_its_file() {
    let bundle = small_bundle();
    let read = Bundle::from_json(&bundle.to_json()).unwrap();
    assert_eq!(read, bundle);
    assert_eq!(read.id().len(), 64);
    assert_eq!(read.sensors().collect::<Vec<_>>(), vec!["0", "1"]);
    assert_eq!(read.to_json(), bundle.to_json());
}

#[test]
fn tampered_bundles_are_refused() {
    let bundle = small_bundle();
    let original: Value = serde_json::from_str(&bundle.to_json()).unwrap();
    let refused = |change: &dyn Fn(&mut Value), word: &str| {
        let mut file = original.clone();
        change(&mut file);
        let error = Bundle::from_json(&file.to_string()).unwrap_err().to_string();
        assert!(error.contains(word), "{word}: {error}");
    };
    refused(&|file| file["origin"]["source"] = json!("elsewhere"), "id");
    refused(&|file| file["undertone"] = json!("bundle/9"), "bundle/9");
    refused(&|file| file["extra"] = json!(1), "extra");
    refused(&|file| file["budgets"]["epochs"] = json!(0), "epochs");
    refused(&|file| file["budgets"]["epochs"] = json!(50), "information privacy");
    refused(&|file| file["budgets"]["ldp"]["nats"] = json!("0.5"), "beside odds");
    refused(&|file| file["budgets"]["information"] = json!({"nats": "0", "odds": [1, 1]}), "leak");
    refused(&|file| file["budgets"]["ldp"] = json!({"nats": "0", "odds": [1, 1]}), "LDP");
    refused(
        &|file| file["certificate"]["epochs"][0]["information"] = json!("0.0000000001"),
        "certificate",
    );
    refused(&|file| file["certificate"]["ldp"][1] = json!("0"), "certificate");
    refused(&|file| _ = file["plan"]["policies"].as_array_mut().unwrap().pop(), "list of policies");
    // The plan's own id covers what is in it: without it, every check speaks for itself.
    let replanned = |change: &dyn Fn(&mut Value), word: &str| {
        let anew = |file: &mut Value| {
            file["plan"].as_object_mut().unwrap().remove("id");
            change(&mut file["plan"]);
        };
        refused(&anew, word);
    };
    refused(&|file| file["plan"]["law"]["nodes"][0]["rows"][0][0] = json!(5), "sums");
    replanned(
        &|plan| {
            // A policy that reveals its reading, under the same claim.
            let rows = plan["policies"][1]["channel"]["masses"].as_array_mut().unwrap();
            let row = rows[0].as_array_mut().unwrap();
            (row[0], row[1]) = (json!(1u64 << 48), json!(0));
            plan["policies"][1].as_object_mut().unwrap().remove("id");
        },
        "policy 1",
    );
    replanned(&|plan| plan["claims"] = json!([plan["claims"][0]]), "id");
    replanned(&|plan| plan["claims"][1]["nats"] = json!("0.0000000001"), "claim 1 is false");
    replanned(&|plan| plan["periods"] = json!(7), "claim 0 is false");
    replanned(&|plan| plan["items"].as_array_mut().unwrap().reverse(), "not a network's");
    replanned(&|plan| plan["secrets"][1]["name"] = json!("another"), "not a network's");
    replanned(&|plan| plan["questions"][0]["wording"] = json!("Hot?"), "not a network's");
    replanned(&|plan| plan["law"]["nodes"][4]["weights"][0] = json!(5), "sums");
    refused(&|file| file["private"]["values"][0] = json!("zero"), "not a network's");
    refused(&|file| file["private"]["name"] = json!("zero"), "not a network's");
    replanned(
        &|plan| {
            // A model in which the sensors know nothing makes any certificate look good.
            let rows = plan["law"]["nodes"][1]["rows"].as_array_mut().unwrap();
            let first = rows[0].clone();
            rows.iter_mut().for_each(|row| *row = first.clone());
        },
        "certificate",
    );
    assert!(Bundle::from_json("{}").is_err() && Bundle::from_json("").is_err());
}

#[test]
fn a_list_of_values_is_no_record() {
    let original: Value = serde_json::from_str(&small_bundle().to_json()).unwrap();
    for record in [
        "/origin",
        "/budgets",
        "/budgets/information",
        "/budgets/ldp",
        "/certificate",
        "/certificate/epochs/0",
        "/public",
        "/private",
        "/plan",
        "/plan/law",
        "/plan/items/0",
    ] {
        let mut file = original.clone();
        let place = file.pointer_mut(record).unwrap();
        *place = place.as_object().unwrap().values().cloned().collect();
        let error = Bundle::from_json(&file.to_string()).unwrap_err().to_string();
        assert!(error.contains("expected an object"), "{record}: {error}");
    }
}

#[test]
fn policies_must_fit_the_model() {
    let bundle = small_bundle();
    let other = ExactModel::new(&ga(3)).unwrap();
    assert!(Certificate::new(&other, bundle.policies(), 1).is_err());
}

/// A reading that never changes is one datum released once per epoch: the kernel's own rule says the same.
#[test]
fn the_ldp_of_a_constant_reading_is_that_of_its_sequence() {
    let bundle = small_bundle();
    let three = |policy| {
        let together = undertone_core::Sequence::together(&[policy, policy, policy]).unwrap();
        together.ldp.ln_up().unwrap().units()
    };
    let most = bundle.policies().iter().map(three).max().unwrap();
    let stated = bundle.certificate().reading_ldp(3).unwrap().units();
    // Rounded up three times instead of once.
    assert!(stated >= most && stated <= most + 3, "{stated} {most}");
}
