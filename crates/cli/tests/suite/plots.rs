//! Pictures of what an observer can learn.
use crate::common::{Scratch, complaint, json, root, undertone};
use undertone_core::{
    Alphabet, Bits, Claim, Context, Draft, Epsilon, KEEP_ONE, Keep, MASS_ONE, Prior, PriorBox,
    Provenance, Secret, Shape, Table, WEIGHT_ONE,
};

fn document(shape: Shape, context: Context, claim: Claim) -> String {
    let inputs = Alphabet::indices(shape.inputs()).unwrap();
    Draft::new(inputs, None, shape, context, vec![claim], Provenance::default()).unwrap().to_json()
}

fn ldp() -> Claim {
    Claim::ldp(Epsilon::parse("10").unwrap())
}

/// The positions of every text, checked to lie on the sheet and not on top of each other.
fn assert_tidy(svg: &str) {
    let attribute = |tag: &str, name: &str| -> Option<f64> {
        let start = tag.find(&format!(" {name}=\""))? + name.len() + 3;
        tag[start..].split('"').next()?.parse().ok()
    };
    let head = &svg[..svg.find('>').unwrap()];
    let (width, height) = (attribute(head, "width").unwrap(), attribute(head, "height").unwrap());
    let mut boxes: Vec<(f64, f64, f64, f64, String)> = Vec::new();
    for part in svg.split("<text").skip(1) {
        let (tag, rest) = part.split_once('>').unwrap();
        let text = rest.split("</text>").next().unwrap().trim().to_owned();
        if tag.contains("rotate") {
            continue; // the label of a vertical axis, in a margin of its own
        }
        let size = attribute(tag, "font-size").unwrap() * 1.25;
        let (x, y) = (attribute(tag, "x").unwrap(), attribute(tag, "y").unwrap());
        let long = 0.5 * size * text.chars().count() as f64;
        let left = if tag.contains("\"end\"") {
            x - long
        } else if tag.contains("\"middle\"") {
            x - long / 2.0
        } else {
            x
        };
        assert!(left >= -2.0 && left + long <= width + 2.0, "{text:?} leaves the sheet");
        assert!(y >= 0.0 && y <= height, "{text:?} leaves the sheet");
        boxes.push((left, y, left + long, y + 0.7 * size, text));
    }
    for (at, a) in boxes.iter().enumerate() {
        for b in &boxes[at + 1..] {
            let apart = a.2 <= b.0 || b.2 <= a.0 || a.3 <= b.1 || b.3 <= a.1;
            assert!(apart, "{:?} overlaps {:?}", a.4, b.4);
        }
    }
}

#[test]
fn the_picture_states_claims_attained_levels_and_every_symbol() {
    let dir = Scratch::new("plot");
    let svg = dir.path("rare.svg");
    let policy = root().join("examples/rare-answer.json");
    let (code, value) = json(&["policy", "show", policy.to_str().unwrap(), "--plot", &svg]);
    assert_eq!(code, 0);
    let most = value["beliefs"][1]["most"].as_f64().unwrap();
    assert!((most - 0.1 * 1f64.exp()).abs() < 1e-8, "{most}");
    let picture = std::fs::read_to_string(&svg).unwrap();
    for text in [
        "claims lip:1: verified",
        "LIP 1, LDP 1.2118577304",
        "yes",
        "no",
        "belief before",
        "27.2 %",
    ] {
        assert!(picture.contains(text), "{text}");
    }
    assert_tidy(&picture);
    // A refused policy is drawn too, and says so.
    let policy = root().join("examples/false-claim.json");
    let output = undertone(&["policy", "show", policy.to_str().unwrap(), "--plot", &svg]);
    assert_eq!(output.status.code(), Some(1));
    let picture = std::fs::read_to_string(&svg).unwrap();
    assert!(picture.contains("REFUSED") && picture.contains("66.9 %"));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.contains("Seeing \"yes\" can raise belief in \"yes\" from 10 % to 66.9 %"),
        "{text}"
    );
}

#[test]
fn every_shape_and_context_is_drawn_and_told() {
    let dir = Scratch::new("shapes");
    let prior = |weights: &[u64]| {
        let mut weights: Vec<u64> = weights.iter().map(|w| w * (WEIGHT_ONE / 1000)).collect();
        weights[0] += WEIGHT_ONE - weights.iter().sum::<u64>();
        Prior::new(weights).unwrap()
    };
    let half = MASS_ONE / 2;
    let table = Shape::Table(
        Table::from_masses(vec![vec![half, half], vec![half / 2, half + half / 2]]).unwrap(),
    );
    let bits = Shape::Bits(Bits::new(14, WEIGHT_ONE / 2, WEIGHT_ONE / 4).unwrap());
    let n = 5000u64;
    let even = vec![MASS_ONE / n; n as usize];
    let mut base = even.clone();
    base[0] += MASS_ONE - base.iter().sum::<u64>();
    let keep = Shape::Keep(Keep::new(vec![KEEP_ONE / 4; n as usize], base).unwrap());
    let mut zipf: Vec<u64> = (1..=n).map(|rank| WEIGHT_ONE / (10 * rank)).collect();
    zipf[0] += WEIGHT_ONE - zipf.iter().sum::<u64>();
    let within = PriorBox::new(vec![WEIGHT_ONE / 20; 2], vec![WEIGHT_ONE; 2]).unwrap();
    let rows = vec![prior(&[0; 14]), prior(&[50; 14])];
    let secret = Secret::new("smoker".into(), prior(&[800, 200]), rows).unwrap();
    let cases = [
        ("unknown", document(table.clone(), Context::Unknown, ldp()), "Without a prior"),
        ("box", document(table, Context::Within(within), ldp()), "5–95"),
        (
            "keep",
            document(keep, Context::Known(Prior::new(zipf).unwrap()), ldp()),
            "30 of 5000 symbols",
        ),
        ("secret", document(bits, Context::Secret(secret), ldp().about_secret()), "smoker = 1"),
    ];
    for (name, text, expected) in cases {
        let policy = dir.file(&format!("{name}.json"), &text);
        let svg = dir.path(&format!("{name}.svg"));
        let (_, value) = json(&["policy", "show", &policy, "--plot", &svg]);
        let picture = std::fs::read_to_string(&svg).unwrap();
        assert!(picture.contains(expected), "{name}");
        assert_tidy(&picture);
        assert!(!value["in_words"].as_array().unwrap().is_empty());
        for belief in value["beliefs"].as_array().unwrap() {
            let at = |field: &str| belief[field].as_f64().unwrap();
            assert!(
                at("least") <= at("before_least") && at("before_most") <= at("most"),
                "{name}: {belief}"
            );
        }
        if let Ok(folder) = std::env::var("UNDERTONE_PLOTS") {
            std::fs::write(std::path::Path::new(&folder).join(format!("{name}.svg")), picture)
                .unwrap();
        }
    }
}

#[test]
fn a_picture_that_cannot_be_written_is_an_error() {
    let policy = root().join("examples/rare-answer.json");
    let (code, said) =
        complaint(&["policy", "show", policy.to_str().unwrap(), "--plot", "/no/such/folder/a.svg"]);
    assert!(code == 1 && said.contains("cannot write"), "{said}");
}

#[test]
fn curves_are_drawn_tidily() {
    let dir = Scratch::new("curve");
    let svg = dir.path("curve.svg");
    let prior = root().join("examples/opinion.json");
    let output = undertone(&[
        "curve",
        "--prior",
        prior.to_str().unwrap(),
        "--epsilons",
        "0.5:3:0.5",
        "--methods",
        "optimal,published,krr",
        "--plot",
        &svg,
    ]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let picture = std::fs::read_to_string(&svg).unwrap();
    for text in ["optimal", "published", "krr", "as promised", "attained LIP"] {
        assert!(picture.contains(text), "{text}");
    }
    assert_tidy(&picture);
}
