//! Listing the symbols of one file in another order never changes an answer of any command.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::common::call;

/// A small deterministic source of numbers (SplitMix64).
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A distribution none of whose entries is tiny, in multiples of 2^-10: their sum is one in any order.
    fn law(&mut self, size: usize) -> Vec<f64> {
        let mut parts = vec![20u64; size];
        for _ in 0..1024 - 20 * size {
            // The last places are likelier, so that orders differ.
            let at = self.next() % (size * size) as u64;
            parts[at.isqrt() as usize] += 1;
        }
        parts.iter().map(|&part| part as f64 / 1024.0).collect()
    }

    fn order(&mut self, size: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..size).collect();
        for at in (1..size).rev() {
            order.swap(at, (self.next() % (at as u64 + 1)) as usize);
        }
        order
    }
}

const NAMES: [&str; 4] = ["north", "east", "south", "west"];

fn picked<T: Clone>(list: &[T], order: &[usize]) -> Vec<T> {
    order.iter().map(|&at| list[at].clone()).collect()
}

/// Everything the commands below read, before any file is turned.
struct World {
    size: usize,
    laws: Vec<Vec<f64>>,
    channels: Vec<Vec<Vec<f64>>>,
    chain: Vec<Vec<f64>>,
    joint: Vec<Vec<f64>>,
    pair: Vec<Vec<f64>>,
}

impl World {
    fn new(seed: u64) -> Self {
        let mut dice = Dice(seed);
        let size = 2 + (seed % 3) as usize;
        let rows = |dice: &mut Dice, columns: usize| (0..size).map(|_| dice.law(columns)).collect();
        let half = |row: Vec<f64>| row.iter().map(|p| p / 2.0).collect::<Vec<f64>>();
        Self {
            size,
            laws: (0..2).map(|_| dice.law(size)).collect(),
            channels: vec![rows(&mut dice, 3), rows(&mut dice, 2)],
            chain: rows(&mut dice, size),
            joint: (0..2).map(|_| half(dice.law(size))).collect(),
            pair: dice.law(size * size).chunks(size).map(<[f64]>::to_vec).collect(),
        }
    }

    /// The file of that name with its symbols listed in this order.
    fn file(&self, name: &str, order: &[usize]) -> Value {
        let names: Vec<&str> = picked(&NAMES[..self.size], order);
        let columns = |row: &Vec<f64>| picked(row, order);
        let by_name = |list: &[f64]| {
            let entries = order.iter().map(|&x| (NAMES[x].to_owned(), json!(list[x])));
            // Written by hand: a map of serde_json would sort the names.
            entries.map(|(name, p)| format!("{name:?}: {p}")).collect::<Vec<_>>().join(", ")
        };
        let object = |list: &[f64]| Value::String(format!("{{{}}}", by_name(list)));
        match name {
            "first" => object(&self.laws[0]),
            "second" => json!({"symbols": names, "p": picked(&self.laws[1], order)}),
            "low" => object(&self.laws[0].iter().map(|p| 0.8 * p).collect::<Vec<_>>()),
            "high" => object(&self.laws[0].iter().map(|p| (1.2 * p).min(1.0)).collect::<Vec<_>>()),
            "q" => json!({"inputs": names, "rows": picked(&self.channels[0], order)}),
            "r" => json!({"inputs": names, "rows": picked(&self.channels[1], order)}),
            "chain" => {
                let rows: Vec<_> = picked(&self.chain, order).iter().map(columns).collect();
                json!({"inputs": names, "outputs": names, "rows": rows})
            }
            "square" => {
                let rows: Vec<_> = picked(&self.chain, order).iter().map(columns).collect();
                json!({"inputs": names, "rows": rows})
            }
            "joint" => {
                json!({"symbols": names, "rows": self.joint.iter().map(columns).collect::<Vec<_>>()})
            }
            "pair" => {
                let rows: Vec<_> = picked(&self.pair, order).iter().map(columns).collect();
                json!({"first": names, "second": names, "rows": rows})
            }
            other => panic!("{other}"),
        }
    }

    /// Runs a command on the files it names; those in `turned` list their symbols in another order.
    fn ask(&self, words: &str, turned: &[&str], order: &[usize]) -> Value {
        let files =
            ["first", "second", "low", "high", "q", "r", "chain", "square", "joint", "pair"];
        let plain: Vec<usize> = (0..self.size).collect();
        let document = |name: &&str| {
            let order = if turned.contains(name) { order } else { &plain };
            let content = match self.file(name, order) {
                Value::String(text) => text,
                other => other.to_string(),
            };
            ((*name).to_owned(), content)
        };
        let documents: BTreeMap<String, String> = files.iter().map(document).collect();
        let words: Vec<String> = words.split_whitespace().map(String::from).collect();
        let reply = call(&words, documents);
        reply.unwrap_or_else(|none| panic!("{words:?}, {turned:?}: {}", none.message)).json
    }
}

/// A command, the file whose order its answer is in, the files that are matched with it, and the fields of
/// its answer that speak of no symbol in particular.
struct Case {
    words: &'static str,
    first: &'static [&'static str],
    matched: &'static [&'static str],
    fields: &'static [&'static str],
}

const CASES: &[Case] = &[
    Case {
        words: "design --prior first --prior second --protect lip:1 --objective mi --allow-uninformative",
        first: &["first"],
        matched: &["second"],
        fields: &["/utility", "/attained/lip", "/attained/ldp", "/comparison/blind"],
    },
    Case {
        words: "design --prior first --prior-lower low --prior-upper high --protect lip:1 --objective hamming --allow-uninformative",
        first: &["first"],
        matched: &["low", "high"],
        fields: &["/utility", "/attained/lip"],
    },
    Case {
        words: "design --prior-lower low --prior-upper high --protect lip:1 --method krr",
        first: &["low"],
        matched: &["high"],
        fields: &["/attained/lip", "/parameters/lambda"],
    },
    Case {
        words: "design --any-prior --prior first --protect lip:1 --objective mi --allow-uninformative",
        first: &["first"],
        matched: &[],
        fields: &["/utility", "/attained/ldp"],
    },
    Case {
        words: "design --joint joint --protect lip:0.3 --objective mi --allow-uninformative",
        first: &["joint"],
        matched: &[],
        fields: &["/utility", "/attained/secret/lip"],
    },
    Case {
        words: "curve --prior first --prior second --epsilons 0.5,1 --methods optimal,krr",
        first: &["first"],
        matched: &["second"],
        fields: &["/rows/0/utility", "/rows/1/utility", "/rows/3/lip"],
    },
    Case {
        words: "frontier --prior first --prior second --lip 0.5,1 --ldp 1",
        first: &["first"],
        matched: &["second"],
        fields: &["/blind", "/rows/0/utility", "/rows/3/utility"],
    },
    Case {
        words: "audit --prior first --channel q --epsilon 0.3",
        first: &["first"],
        matched: &["q"],
        fields: &[
            "/lip",
            "/max_lift",
            "/min_lift",
            "/ldp",
            "/identifiability",
            "/mutual_information",
            "/maximal_leakage",
            "/sibson",
            "/arimoto",
            "/alpha_lift",
            "/delta/conditional",
            "/delta/posterior",
            "/delta/joint",
            "/delta/joint_sets",
            "/upper_bounds/lip",
            "/upper_bounds/mutual_information",
            "/upper_bounds/maximal_leakage",
        ],
    },
    Case {
        words: "audit --joint joint --channel q",
        first: &["joint"],
        matched: &["q"],
        fields: &["/lip", "/mutual_information", "/entropy", "/secret_entropy"],
    },
    Case {
        words: "relate --from bplip:1 --to ldp --prior first --prior second",
        first: &["first"],
        matched: &["second"],
        fields: &["/epsilon"],
    },
    Case {
        words: "relate --from ldp:1 --to bplip --prior first --prior second",
        first: &["first"],
        matched: &["second"],
        fields: &["/epsilon"],
    },
    Case {
        words: "compose --prior first --channels q r q",
        first: &["first"],
        matched: &["q", "r"],
        fields: &["/exact", "/max_lift", "/min_lift", "/ldp"],
    },
    Case {
        words: "compose --prior first --prior second --channels q r",
        first: &["first"],
        matched: &["second", "q", "r"],
        fields: &["/exact", "/max_lift", "/min_lift", "/ldp"],
    },
    Case {
        words: "compose --prior first --prior second --epsilons 1,0.5",
        first: &["first"],
        matched: &["second"],
        fields: &["/bound", "/sharpened", "/exact"],
    },
    Case {
        words: "compose --prior first --markov chain --channels q r",
        first: &["first"],
        matched: &["chain", "q", "r"],
        fields: &["/sequence", "/each/0", "/each/1"],
    },
    Case {
        words: "compose --prior first --prior second --markov square --channels q r",
        first: &["first"],
        matched: &["second", "square", "q", "r"],
        fields: &["/sequence", "/each/0", "/each/1"],
    },
    Case {
        words: "compose --prior first --markov square --epsilons 1,1",
        first: &["first"],
        matched: &["square"],
        fields: &["/bound", "/sharpened", "/exact", "/each/0", "/each/1"],
    },
    Case {
        words: "compose --joint pair --channels q r",
        first: &["pair"],
        matched: &["q", "r"],
        fields: &["/sequence", "/each/0", "/each/1"],
    },
    Case {
        words: "transfer --from first --to second --epsilon 1",
        first: &["first"],
        matched: &["second"],
        fields: &["/published", "/ratio", "/exact", "/eta"],
    },
    Case {
        words: "prior mix first second --weights 0.3,0.7",
        first: &["first"],
        matched: &["second"],
        fields: &[],
    },
    Case {
        words: "watchdog --joint joint --lower 0.3 --upper 0.3",
        first: &["joint"],
        matched: &[],
        fields: &["/nmi", "/max_lift", "/min_lift", "/met"],
    },
];

fn near(a: &Value, b: &Value) -> bool {
    match (a.as_f64(), b.as_f64()) {
        (Some(a), Some(b)) => (a - b).abs() <= 1e-6 * (1.0 + b.abs()),
        _ => a == b,
    }
}

#[test]
fn no_answer_depends_on_the_order_of_the_symbols() {
    for seed in 0..6 {
        let world = World::new(seed);
        let mut dice = Dice(1000 + seed);
        for Case { words, first, matched, fields } in CASES {
            let plain: Vec<usize> = (0..world.size).collect();
            let expected = world.ask(words, &[], &plain);
            let mut order = dice.order(world.size);
            if order == plain {
                order.reverse();
            }
            // What is matched is first put in the other's order, so that not a bit may differ.
            for name in *matched {
                let found = world.ask(words, &[name], &order);
                assert_eq!(found, expected, "{words}: {name} turned {order:?}, seed {seed}");
            }
            assert_eq!(world.ask(words, matched, &order), expected, "{words}: all, seed {seed}");
            // The answer is in the order of the first, so that only what has no order can be compared.
            let found = world.ask(words, first, &order);
            for field in *fields {
                let (ours, theirs) = (found.pointer(field), expected.pointer(field));
                let (Some(ours), Some(theirs)) = (ours, theirs) else { panic!("{words}: {field}") };
                assert!(near(ours, theirs), "{words} {field}: {ours} against {theirs}, {order:?}");
            }
        }
    }
}

/// The per-symbol answer of a mixture, by name.
#[test]
fn a_mixture_is_the_same_by_name() {
    for seed in 0..6 {
        let world = World::new(seed);
        let order: Vec<usize> = (0..world.size).rev().collect();
        let by_name = |found: &Value| -> BTreeMap<String, f64> {
            let names = found["symbols"].as_array().unwrap().iter();
            let p = found["p"].as_array().unwrap().iter();
            names.zip(p).map(|(n, p)| (n.as_str().unwrap().into(), p.as_f64().unwrap())).collect()
        };
        let words = "prior mix first second --weights 0.3,0.7";
        let expected = by_name(&world.ask(words, &[], &order));
        for (name, p) in by_name(&world.ask(words, &["first"], &order)) {
            assert!((p - expected[&name]).abs() < 1e-12, "{name}");
        }
    }
}

/// Policies made for the symbols in different orders: the same promise, audit and estimate.
#[test]
fn policies_in_different_orders_agree_by_name() {
    let world = World::new(2);
    let order = [3, 1, 0, 2];
    let policy = |turned: &[&str]| {
        let words = "design --prior first --protect lip:1 --method krr -o policy";
        let words: Vec<String> = words.split_whitespace().map(String::from).collect();
        let content = |name: &str| match world
            .file(name, if turned.contains(&name) { &order } else { &[0, 1, 2, 3] })
        {
            Value::String(text) => text,
            other => other.to_string(),
        };
        let documents = BTreeMap::from([("first".to_owned(), content("first"))]);
        call(&words, documents).unwrap().written["policy"].clone()
    };
    let (plain, turned) = (policy(&[]), policy(&["first"]));
    assert_ne!(plain, turned);
    let second = world.file("second", &order).to_string();
    let ask = |words: &str, documents: &[(&str, &str)]| {
        let documents = documents.iter().map(|(n, c)| ((*n).to_owned(), (*c).to_owned())).collect();
        let words: Vec<String> = words.split_whitespace().map(String::from).collect();
        call(&words, documents).unwrap_or_else(|none| panic!("{words:?}: {}", none.message)).json
    };
    for words in [
        "audit policy --prior second",
        "audit policy --prior second --epsilon 0.2",
        "transfer --from second --to second --epsilon 1 --policy policy",
    ] {
        let a = ask(words, &[("policy", &plain), ("second", &second)]);
        let b = ask(words, &[("policy", &turned), ("second", &second)]);
        for field in ["lip", "ldp", "max_lift", "mutual_information", "policy", "exact"] {
            assert!(near(&a[field], &b[field]), "{words} {field}: {} and {}", a[field], b[field]);
        }
    }
    // One tally per policy, of the same answers by name.
    let counts = [290u64, 260, 240, 210];
    let tally = |policy: &str, order: &[usize]| {
        let id = ask("policy verify policy", &[("policy", policy)])["policy_id"].clone();
        let counts = picked(&counts, order);
        json!({"undertone": "tally/1", "policy": id, "kind": "indices", "reports": 1000, "counts": counts})
            .to_string()
    };
    let (here, there) = (tally(&plain, &[0, 1, 2, 3]), tally(&turned, &order));
    let one = ask("estimate --policy a --tally s", &[("a", &plain), ("s", &here)]);
    let documents = [
        ("a", plain.as_str()),
        ("b", turned.as_str()),
        ("s", here.as_str()),
        ("t", there.as_str()),
    ];
    let both = ask("estimate --policy a --policy b --tally s --tally t", &documents);
    let shares = |found: &Value| -> BTreeMap<String, f64> {
        let all = found["headline"]["shares"].as_array().unwrap().iter();
        all.map(|s| (s["symbol"].as_str().unwrap().into(), s["value"].as_f64().unwrap())).collect()
    };
    let (one, both) = (shares(&one), shares(&both));
    for (name, share) in &one {
        assert!((share - both[name]).abs() < 1e-9, "{name}: {share} and {}", both[name]);
    }
    assert!(both["north"] > both["west"] + 0.1);
}
