//! A network is a plan: the kernel finds in its document what the network's own certificate says.
use crate::common::ga;
use serde_json::{Value, json};
use undertone_core::{Given, Law, Nats, Plan, PlanClaim, Shape, Variable};
use undertone_design::Channel;
use undertone_fusion::design::{Budgets, Method, Request, Watch, design};
use undertone_fusion::{
    Bundle, Evaluation, ExactModel, Hypothesis, Maps, Model, Origin, Point, model,
};
use undertone_testkit::dice::Dice;
use undertone_testkit::law::level;

fn example(name: &str) -> Model {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
    model::read(&std::fs::read_to_string(format!("{folder}/fusion-{name}.json")).unwrap()).unwrap()
}

/// A joint design for a model under budgets that bind.
fn designed(model: &Model, information: f64, ldp: f64) -> Bundle {
    let exact = ExactModel::new(model).unwrap();
    let budgets = Budgets::new(information, ldp).unwrap();
    let outputs = vec![2; model.sensors().len()];
    let request = Request { method: Method::Joint, budgets, outputs, restarts: 2, seed: 1 };
    let found = design(&exact.model().unwrap(), &request, &Watch::PATIENT).unwrap();
    Bundle::ship(&exact, &found.maps, budgets, &Origin::default()).unwrap()
}

/// Random maps with two outputs for any model.
fn shipped(model: &Model, seed: u64) -> Bundle {
    let mut dice = Dice::new(seed);
    let map = |sensor: &model::Sensor| {
        Channel::new((0..sensor.inputs()).map(|_| level(2, 0.1, &mut dice)).collect()).unwrap()
    };
    let maps = Maps::new(model.sensors().iter().map(map).collect()).unwrap();
    let budgets = Budgets::new(f64::INFINITY, f64::INFINITY).unwrap();
    Bundle::ship(&ExactModel::new(model).unwrap(), &maps, budgets, &Origin::default()).unwrap()
}

/// The document of the plan inside a bundle's document, as anybody may cut it out.
fn plan_text(bundle: &Bundle) -> String {
    let file: Value = serde_json::from_str(&bundle.to_json()).unwrap();
    file["plan"].to_string()
}

fn one_epoch(bundle: &Bundle) -> Nats {
    bundle.certificate().after(1).unwrap().information.unwrap()
}

#[test]
fn the_kernel_finds_the_certificates_number_in_the_plan_alone() {
    let networks = [("ga", 0.18, true), ("people", 0.3, true), ("pipe", 0.1, false)];
    for (name, information, tree) in networks {
        let bundle = designed(&example(name), information, 2.0);
        let plan = Plan::from_json(&plan_text(&bundle)).unwrap();
        assert_eq!(plan.id(), bundle.plan().id());
        assert_eq!(matches!(plan.parts().law, Law::Tree(_)), tree, "{name}");
        let belief = plan.belief(Variable::Secret(0), Given::All).unwrap();
        let (certified, found) = (one_epoch(&bundle), belief.lip().unwrap());
        assert!(belief.exact, "{name}");
        assert_eq!(found, certified, "{name}");
        let person = plan.person();
        let sum: u64 = bundle.certificate().ldp.iter().map(|nats| nats.units()).sum();
        assert!(person.exact && person.ldp.unwrap().units() <= sum);
        let sensors = bundle.policies().len() as u64;
        assert!(person.ldp.unwrap().units() + sensors >= sum, "{name}");
        let claims = [
            PlanClaim::Person { ldp: person.ldp.unwrap() },
            PlanClaim::Secret { which: 0, lower: found, upper: found },
        ];
        assert_eq!(plan.parts().claims, claims);
        assert_eq!(Bundle::from_json(&bundle.to_json()).unwrap(), bundle);
    }
}

#[test]
fn random_networks_agree_with_the_kernel_and_survive_their_files() {
    let mut dice = Dice::new(77);
    for seed in 0..40 {
        let (h, g, s) = (2 + dice.below(2), 2 + dice.below(3), 1 + dice.below(4));
        let sizes: Vec<usize> = (0..s).map(|_| 2 + dice.below(4)).collect();
        let model = if seed % 2 == 0 {
            // Readings and labels that never occur are likely among so few points.
            let point = |weight: f64, dice: &mut Dice| Point {
                weight,
                public: dice.below(h),
                private: dice.below(g),
                readings: sizes.iter().map(|&size| dice.below(size)).collect(),
            };
            let weights = level(6, 0.02, &mut dice);
            let mut points: Vec<Point> =
                weights.into_iter().map(|weight| point(weight, &mut dice)).collect();
            (points[0].public, points[0].private) = (0, 0);
            (points[1].public, points[1].private) = (1, 1);
            let sensors = sizes.iter().enumerate();
            let sensors = sensors
                .map(|(t, &size)| {
                    (format!("s{t}"), undertone_core::Alphabet::indices(size).unwrap())
                })
                .collect();
            let names = (Hypothesis::indexed("h", h), Hypothesis::indexed("g", g));
            Model::joint(names.0, names.1, sensors, &points).unwrap()
        } else {
            let prior: Vec<Vec<f64>> =
                level(h * g, 0.02, &mut dice).chunks(g).map(<[f64]>::to_vec).collect();
            // The last reading of every sensor never occurs.
            let mut law = |size: usize| {
                let mut law = level(size - 1, 0.05, &mut dice);
                law.push(0.0);
                law
            };
            let given = sizes
                .iter()
                .map(|&x| (0..h).map(|_| (0..g).map(|_| law(x)).collect()).collect())
                .collect();
            Model::independent(prior, given).unwrap()
        };
        let bundle = shipped(&model, seed);
        assert_eq!(Bundle::from_json(&bundle.to_json()).unwrap(), bundle, "case {seed}");
        let belief = bundle.plan().belief(Variable::Secret(0), Given::All).unwrap();
        let (found, certified) = (belief.lip().unwrap().units(), one_epoch(&bundle).units());
        // Rounded outwards in another order.
        assert!(belief.exact && found.abs_diff(certified) <= 1, "case {seed}: {found} {certified}");
        // A unit for what never occurs moves nothing that anybody prints.
        let maps = bundle.maps().unwrap();
        let float = Evaluation::new(&model, &maps).unwrap().information.nats;
        assert!(
            (float - certified as f64 * 1e-10).abs() < 1e-8,
            "case {seed}: {float} {certified}"
        );
    }
}

#[test]
fn what_never_occurs_is_written_down_and_not_left_out() {
    let bundle = shipped(&example("pipe"), 3);
    let Law::Points(before) = &bundle.plan().parts().law else { panic!("not points") };
    let one = 1u64 << 48;
    assert_eq!(before.iter().map(|point| point.weight).sum::<u64>(), one);

    // One more reading of a sensor and one more value of G than ever occur.
    let mut file: Value = serde_json::from_str(
        &std::fs::read_to_string(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../examples/fusion-pipe.json"
        ))
        .unwrap(),
    )
    .unwrap();
    file["sensors"][1]["size"] = json!(4);
    file["private"]["values"] = json!(["no", "eclipse", "yes"]);
    for point in file["points"].as_array_mut().unwrap() {
        point["private"] = json!(2 * point["private"].as_u64().unwrap());
    }
    let model = model::read(&file.to_string()).unwrap();
    let bundle = shipped(&model, 3);
    let parts = bundle.plan().parts();
    let Law::Points(points) = &parts.law else { panic!("not points") };
    assert_eq!(points.len(), before.len() + 1);
    assert_eq!(points.iter().map(|point| point.weight).sum::<u64>(), one);
    let unseen: Vec<_> = points.iter().filter(|point| point.values[1] == 3).collect();
    assert!(unseen.len() == 1 && unseen[0].weight == 1);
    assert_eq!(parts.questions[1].answers.len(), 4);
    // No belief in a value without mass can move: the plan speaks of the others, the network knows all three.
    assert_eq!(parts.secrets[0].values.len(), 2);
    assert_eq!(bundle.model().private().values(), ["no", "eclipse", "yes"]);
    assert_eq!(Bundle::from_json(&bundle.to_json()).unwrap(), bundle);

    // Designed, such a reading is answered as if nothing had been read.
    let budgets = Budgets::new(0.2, 2.0).unwrap();
    let exact = ExactModel::new(&model).unwrap();
    let request =
        Request { method: Method::Joint, budgets, outputs: vec![2; 2], restarts: 2, seed: 1 };
    let maps = design(&exact.model().unwrap(), &request, &Watch::PATIENT).unwrap().maps;
    let float = exact.model().unwrap();
    let law = float.reading_law(1);
    let channel = &maps.channels()[1];
    let average: f64 = (0..4).map(|x| law[x] * channel.q(x, 0)).sum();
    assert!((channel.q(3, 0) - average).abs() < 1e-12);
}

#[test]
fn planted_changes_are_refused() {
    let bundle = designed(&ga(3), 0.2, 1.0);
    let original: Value = serde_json::from_str(&bundle.to_json()).unwrap();
    // Everything that only says that something changed is left out: what is false must show by itself.
    let read = |change: &dyn Fn(&mut Value)| {
        let mut plan = original["plan"].clone();
        plan.as_object_mut().unwrap().remove("id");
        for policy in plan["policies"].as_array_mut().unwrap() {
            policy.as_object_mut().unwrap().remove("id");
        }
        change(&mut plan);
        let mut file = original.clone();
        file["plan"] = plan.clone();
        (Plan::from_json(&plan.to_string()), Bundle::from_json(&file.to_string()))
    };
    let (plan, same) = read(&|_| ());
    assert_eq!((plan.unwrap().id(), same.unwrap()), (bundle.plan().id(), bundle.clone()));

    // One row of a sensor that speaks, moved by as few units as break its claim, and by one less.
    let table = |t: usize| match bundle.policies()[t].draft().shape() {
        Shape::Table(table) => table.rows().iter().map(|row| row.masses().to_vec()).collect(),
        _ => panic!("not a table"),
    };
    let tables: Vec<Vec<Vec<u64>>> = (0..3).map(table).collect();
    let speaks = |t: &usize| tables[*t].iter().any(|row| *row != tables[*t][0]);
    let sensor = (0..3).find(speaks).unwrap();
    let rows = &tables[sensor];
    let at = (0..rows.len()).max_by_key(|&x| rows[x][0]).unwrap();
    let verdict = |units: u64| {
        read(&|plan| {
            plan["policies"][sensor]["channel"]["masses"][at] =
                json!([rows[at][0] + units, rows[at][1] - units]);
        })
    };
    let named = format!("policy {sensor}: ");
    let breaks = |units: u64| match verdict(units).0 {
        Ok(_) => false,
        Err(error) => error.to_string().starts_with(&named),
    };
    let (mut holds, mut false_from) = (0u64, rows[at][1]);
    assert!(breaks(false_from));
    while false_from - holds > 1 {
        let middle = holds.midpoint(false_from);
        if breaks(middle) { false_from = middle } else { holds = middle }
    }
    let said = |units: u64| verdict(units).1.unwrap_err().to_string();
    assert!(said(false_from).contains(&named), "{}", said(false_from));
    if holds > 0 {
        // The policy's claim stands; the network is another, and says so.
        assert!(!said(holds).contains(&named), "{}", said(holds));
    }

    // Sensors in another order, by item and by policy.
    let (plan, network) = read(&|plan| plan["items"].as_array_mut().unwrap().swap(0, 1));
    assert!(plan.is_ok(), "items in another order are a plan");
    assert!(network.unwrap_err().to_string().contains("not a network's"));
    let (_, network) = read(&|plan| plan["policies"].as_array_mut().unwrap().swap(0, 1));
    assert!(network.is_err());
    // Two scenarios exchange their values of G.
    let (plan, network) = read(&|plan| {
        let rows = plan["law"]["nodes"][3]["rows"].as_array_mut().unwrap();
        rows.swap(0, 1);
    });
    let said = network.unwrap_err().to_string();
    assert!(plan.is_err() || said.contains("certificate"), "{said}");
}

#[test]
fn networks_of_the_version_before_are_refused_with_the_way_out() {
    let before = json!({"undertone": "bundle/1", "id": "00", "model": {}, "policies": []});
    let error = Bundle::from_json(&before.to_string()).unwrap_err().to_string();
    for word in ["bundle/1", "bundle/2", "design or train the network again"] {
        assert!(error.contains(word), "{error}");
    }
}

#[test]
fn names_of_sensors_and_hypotheses_differ() {
    let named = |sensor: &str, public: &str| {
        let mut file = json!({
            "public": {"name": public},
            "hypotheses": [[0.25, 0.25], [0.25, 0.25]],
            "sensors": [{"given": [[[0.6, 0.4], [0.4, 0.6]], [[0.3, 0.7], [0.7, 0.3]]]}]
        });
        file["sensors"][0]["name"] = json!(sensor);
        ExactModel::new(&model::read(&file.to_string()).unwrap())
    };
    assert!(named("heat", "fire").is_ok());
    let error = named("fire", "fire").unwrap_err().to_string();
    assert!(error.contains("hypothesis \"fire\"") && error.contains("differ"), "{error}");
    assert!(named("", "fire").unwrap_err().to_string().contains("1 to 200 bytes"));
    // The scenario's own name steps aside.
    let bundle = shipped(&named("scenario", "fire").unwrap().model().unwrap(), 1);
    assert_eq!(bundle.plan().parts().secrets[2].name, "scenario'");
}

#[test]
fn laws_too_large_to_write_down_are_refused() {
    // Some 1,500 scenarios, each with a law of its own over 3,000 readings.
    let (g, readings) = (750, 3000);
    let prior = vec![vec![1.0 / (2 * g) as f64; g]; 2];
    let law = |h: usize, g: usize| {
        let mut law = vec![0.5 / (readings - 1) as f64; readings];
        law[2 * g + h] = 0.5;
        law
    };
    let given = (0..2).map(|h| (0..g).map(|g| law(h, g)).collect()).collect();
    let model = Model::independent(prior, vec![given]).unwrap();
    let error = ExactModel::new(&model).unwrap().law().unwrap_err().to_string();
    assert!(error.contains("atoms times readings") && error.contains("merge"), "{error}");
}
