//! Plans: what they attain, and which are refused.

use super::grid::{keep, table, unary};
use super::stream::Mix;
use super::text::{edit, hex, inline, object, quoted, without_id};
use undertone_core::{
    Alphabet, Belief, Claim, Context, Draft, Epsilon, Given, Item, Law, MASS_ONE, Nats, Node, Plan,
    PlanClaim, PlanDraft, PlanParts, Point, Provenance, Question, Row, SecretVariable, Shape,
    Variable,
};

/// A plan of the vectors.
pub(crate) struct NamedPlan {
    pub(crate) name: &'static str,
    pub(super) about: &'static str,
    pub(super) parts: PlanParts,
}

pub(super) fn row(masses: Vec<u64>) -> Row {
    Row::new(masses).expect("a distribution")
}

/// A distribution in sixteenths.
fn sixteenths(parts: &[u64]) -> Row {
    row(parts.iter().map(|part| part << 44).collect())
}

pub(super) fn indices(size: usize) -> Alphabet {
    Alphabet::indices(size).expect("a size")
}

pub(super) fn draft(inputs: Alphabet, shape: Shape) -> Draft {
    let outputs = matches!(shape, Shape::Table(_)).then(|| indices(shape.outputs()));
    let claims = vec![Claim::ldp(Epsilon::LARGEST)];
    Draft::new(inputs, outputs, shape, Context::Unknown, claims, Provenance::default())
        .expect("parts that fit")
}

/// One question per channel, each answered by everybody; the plan claims what it attains.
pub(super) fn asking(shapes: Vec<Shape>, secrets: &[usize], law: Law) -> PlanParts {
    let question = |(at, shape): (usize, &Shape)| Question {
        name: format!("q{at}"),
        wording: String::new(),
        answers: indices(shape.inputs()),
    };
    let secret = |(at, &size): (usize, &usize)| SecretVariable {
        name: format!("s{at}"),
        values: indices(size),
    };
    let item = |at: u32| Item { questions: vec![at], policy: at, fresh: None, weight: 0 };
    PlanParts {
        questions: shapes.iter().enumerate().map(question).collect(),
        secrets: secrets.iter().enumerate().map(secret).collect(),
        law,
        items: (0..shapes.len() as u32).map(item).collect(),
        asked: 0,
        periods: 1,
        claims: vec![PlanClaim::Person { ldp: Nats::from_units(1 << 52) }],
        provenance: Provenance::default(),
        policies: shapes.into_iter().map(|s| draft(indices(s.inputs()), s)).collect(),
    }
}

/// Claims exactly what the plan attains: of the person, and of every question and secret given all where there is a law.
pub(super) fn claiming(mut parts: PlanParts) -> PlanParts {
    let plan = verified(&parts);
    let mut claims = Vec::new();
    claims.extend(plan.person().ldp.map(|ldp| PlanClaim::Person { ldp }));
    for which in 0..parts.questions.len() as u32 {
        for given in [Given::All, Given::Own] {
            let belief = plan.belief(Variable::Question(which), given);
            let levels = belief.and_then(|belief| Some((belief.lower?, belief.upper?)));
            claims.extend(levels.map(|(lower, upper)| PlanClaim::Question {
                which,
                given,
                lower,
                upper,
            }));
        }
    }
    for which in 0..parts.secrets.len() as u32 {
        let belief = plan.belief(Variable::Secret(which), Given::All);
        let levels = belief.and_then(|belief| Some((belief.lower?, belief.upper?)));
        claims.extend(levels.map(|(lower, upper)| PlanClaim::Secret { which, lower, upper }));
    }
    parts.claims = claims;
    parts
}

pub(crate) fn verified(parts: &PlanParts) -> Plan {
    let draft = PlanDraft::new(parts.clone()).unwrap_or_else(|error| panic!("{error}"));
    draft.verify().unwrap_or_else(|refusal| panic!("{refusal}"))
}

/// Yes/no with odds 3.
pub(super) fn three() -> Shape {
    table(2, &[&[3, 1], &[1, 3]])
}

/// Yes/no with odds 5/3.
fn weak() -> Shape {
    table(3, &[&[5, 3], &[3, 5]])
}

pub(super) fn given(parent: u32, rows: &[&[u64]]) -> Node {
    Node::Given { parent, rows: rows.iter().map(|row| sixteenths(row)).collect() }
}

pub(super) fn root(parts: &[u64]) -> Node {
    Node::Root(sixteenths(parts))
}

/// All accepted plans.
pub(crate) fn accepted() -> Vec<NamedPlan> {
    let named = |name, about, parts| NamedPlan { name, about, parts: claiming(parts) };
    let mut list = vec![named(
        "minimal",
        "one question, nothing assumed",
        asking(vec![three()], &[], Law::Unknown),
    )];
    let ternary = || keep(4, &[4, 5, 6], &[5, 5, 6]);
    let independent = Law::Tree(vec![root(&[8, 8]), root(&[2, 6, 8]), root(&[1, 2, 5, 8])]);
    let shapes = vec![three(), ternary(), unary(4, 2, 2, 1)];
    list.push(named(
        "independent",
        "three questions that have nothing to do with each other: a table, a keep, bits",
        asking(shapes, &[], independent),
    ));

    let chain = Law::Tree(vec![
        given(2, &[&[12, 4], &[5, 11]]),
        given(0, &[&[10, 6], &[1, 15]]),
        root(&[14, 2]),
    ]);
    list.push(named(
        "chain",
        "a secret, a question that depends on it, and one that depends on that",
        asking(vec![three(), weak()], &[2], chain),
    ));

    let point =
        |weight: u64, values: &[u32]| Point { weight: weight << 44, values: values.to_vec() };
    let points = vec![
        point(6, &[0, 0, 0]),
        point(3, &[0, 1, 0]),
        point(1, &[1, 0, 1]),
        point(2, &[1, 2, 0]),
        point(4, &[1, 2, 1]),
    ];
    list.push(named(
        "points",
        "a law as a list of combinations, with a secret",
        asking(vec![three(), ternary()], &[2], Law::Points(points.clone())),
    ));

    let mut combined = asking(vec![three(), ternary()], &[2], Law::Points(points));
    combined.items = vec![Item { questions: vec![0, 1], policy: 0, fresh: None, weight: 0 }];
    combined.policies = vec![draft(indices(6), keep(4, &[6; 6], &[3, 3, 3, 3, 2, 2]))];
    list.push(named("combined", "two questions as one symbol", combined));

    let mut tree = asking(
        vec![three(), ternary()],
        &[2],
        Law::Tree(vec![
            given(2, &[&[12, 4], &[5, 11]]),
            given(0, &[&[10, 4, 2], &[1, 5, 10]]),
            root(&[14, 2]),
        ]),
    );
    tree.items = vec![
        Item { questions: vec![0, 1], policy: 0, fresh: None, weight: 1 },
        Item { questions: vec![0], policy: 1, fresh: None, weight: 2 },
        Item { questions: vec![1], policy: 2, fresh: None, weight: 3 },
    ];
    tree.policies = vec![
        draft(indices(6), keep(4, &[6; 6], &[3, 3, 3, 3, 2, 2])),
        draft(indices(2), three()),
        draft(indices(3), ternary()),
    ];
    tree.asked = 2;
    list.push(named(
        "overlapping",
        "a combined symbol along a tree, two of three items drawn, which share questions",
        tree,
    ));

    let mut split = asking(
        vec![three(), weak(), table(4, &[&[15, 1], &[1, 15]]), weak()],
        &[],
        Law::Tree(vec![
            root(&[4, 12]),
            given(0, &[&[12, 4], &[4, 12]]),
            given(1, &[&[15, 1], &[1, 15]]),
            given(1, &[&[16, 0], &[8, 8]]),
        ]),
    );
    split.items.iter_mut().zip([0, 5, 1, 7]).for_each(|(item, weight)| item.weight = weight);
    split.asked = 2;
    list.push(named("split", "one question for everybody and two of three others", split));

    let uniform = |size: u64| {
        let mut masses = vec![MASS_ONE / size; size as usize];
        masses[0] += MASS_ONE % size;
        masses
    };
    let tilted = |size: u64, by: u64| {
        let mut masses = uniform(size);
        masses[1] += by;
        masses[2] -= by;
        row(masses)
    };
    let wide = || unary(40, 2, 2, 1);
    let mut binary = asking(
        vec![three(), wide(), weak()],
        &[2],
        Law::Tree(vec![
            given(3, &[&[12, 4], &[5, 11]]),
            Node::Given { parent: 0, rows: vec![tilted(40, 0), tilted(40, MASS_ONE / 64)] },
            given(3, &[&[9, 7], &[2, 14]]),
            root(&[13, 3]),
        ]),
    );
    list.push(named("binary_tree", "too many outcomes to list, along a tree of yes/no variables: exact for them, a bound for the leaf", binary.clone()));
    binary.items.iter_mut().zip([0, 2, 1]).for_each(|(item, weight)| item.weight = weight);
    binary.asked = 1;
    list.push(named("binary_tree_split", "the same with one of two items drawn", binary));

    let ternary_secret = Law::Tree(vec![
        Node::Given {
            parent: 2,
            rows: vec![tilted(40, 0), tilted(40, MASS_ONE / 64), tilted(40, MASS_ONE / 128)],
        },
        given(2, &[&[12, 4], &[5, 11], &[8, 8]]),
        root(&[8, 5, 3]),
    ]);
    list.push(named(
        "pairwise",
        "a secret with three values and too many outcomes to list: a bound by pairs",
        asking(vec![wide(), three()], &[3], ternary_secret),
    ));

    let mut mix = Mix(16);
    let base = mix.parts(200, MASS_ONE, MASS_ONE / 1000);
    let large = Shape::Keep(undertone_core::Keep::new(vec![1 << 37; 200], base).expect("a keep"));
    let large_law = Law::Tree(vec![
        Node::Given {
            parent: 2,
            rows: (0..3).map(|_| row(mix.parts(200, MASS_ONE, MASS_ONE / 500))).collect(),
        },
        Node::Given {
            parent: 2,
            rows: vec![tilted(40, 0), tilted(40, MASS_ONE / 64), tilted(40, MASS_ONE / 128)],
        },
        root(&[8, 5, 3]),
    ]);
    list.push(named(
        "coarse",
        "an alphabet too large for pairs beside outcomes that cannot be listed",
        asking(vec![large, wide()], &[3], large_law),
    ));

    let mut repeated =
        asking(vec![three(), ternary()], &[], Law::Tree(vec![root(&[8, 8]), root(&[2, 6, 8])]));
    repeated.policies.push(draft(indices(2), weak()));
    repeated.items[0].fresh = Some(2);
    repeated.periods = 12;
    list.push(named("repeated", "a kept answer with fresh reports, in twelve periods", repeated));

    let mut words = asking(vec![three()], &[], Law::Tree(vec![root(&[12, 4])]));
    words.questions[0] = Question {
        name: "smokes".into(),
        wording: "Do you smoke every day?".into(),
        answers: Alphabet::names(["no", "yes"]).expect("names"),
    };
    words.policies = vec![draft(words.questions[0].answers.clone(), three())];
    words.provenance = Provenance {
        source: "an assumption".into(),
        n: 7,
        date: "2026-11-18".into(),
        ..Provenance::default()
    };
    list.push(named("words", "names, a wording and the origin of the law", words));
    list.extend(super::block_plans::accepted());
    list
}

fn nats(level: Option<Nats>) -> String {
    quoted(level.map_or("unbounded".into(), |nats| nats.to_string()))
}

fn belief(belief: Option<Belief>) -> String {
    belief.map_or("null".into(), |belief| {
        let Belief { upper, lower, exact, .. } = belief;
        inline(&[("upper", nats(upper)), ("lower", nats(lower)), ("exact", exact.to_string())])
    })
}

fn file(plan: &NamedPlan) -> String {
    let NamedPlan { name, about, parts } = plan;
    let draft = PlanDraft::new(parts.clone()).expect("parts that fit");
    let document = match *name {
        "minimal" => shortest(&draft.to_json()),
        _ => draft.to_json(),
    };
    let plan = verified(parts);
    let question = |at: usize| {
        let about = Variable::Question(at as u32);
        let [all, own] = [Given::All, Given::Own].map(|given| belief(plan.belief(about, given)));
        inline(&[("all", all), ("own", own)])
    };
    let questions: Vec<(&str, String)> =
        parts.questions.iter().zip(0..).map(|(q, at)| (q.name.as_str(), question(at))).collect();
    let secret = |at: u32| belief(plan.belief(Variable::Secret(at), Given::All));
    let secrets: Vec<(&str, String)> =
        parts.secrets.iter().zip(0..).map(|(s, at)| (s.name.as_str(), secret(at))).collect();
    let costs: Vec<String> = plan.costs().iter().map(|&cost| nats(cost)).collect();
    let first = (0..parts.items.len()).map(|item| {
        let (level, exact) = plan.first_report(item);
        inline(&[("ldp", nats(level)), ("exact", exact.to_string())])
    });
    let first: Vec<String> = first.collect();
    let person = plan.person();
    let attained = object(&[
        ("costs", format!("[{}]", costs.join(", "))),
        ("first_reports", format!("[{}]", first.join(", "))),
        ("person", inline(&[("ldp", nats(person.ldp)), ("exact", person.exact.to_string())])),
        ("questions", object(&questions)),
        ("secrets", if secrets.is_empty() { "{}".into() } else { object(&secrets) }),
    ]);
    let fields = [
        ("about", quoted(about)),
        ("document", document),
        ("bytes", quoted(hex(&draft.to_bytes()))),
        ("id", quoted(plan.id())),
        ("attained", attained),
    ];
    object(&fields) + "\n"
}

/// Everything that may be left out is.
fn shortest(document: &str) -> String {
    let kept = without_id(document);
    let kept: Vec<&str> = kept.lines().filter(|l| !l.starts_with("  \"provenance\": ")).collect();
    kept.join("\n")
}

pub(crate) fn find<'a>(accepted: &'a [NamedPlan], name: &str) -> &'a PlanParts {
    let found = accepted.iter().find(|plan| plan.name == name);
    &found.unwrap_or_else(|| panic!("no plan {name}")).parts
}

/// Every file of plans below `plan/`.
pub(crate) fn files(accepted: &[NamedPlan]) -> Vec<(String, String)> {
    let mut files: Vec<(String, String)> =
        accepted.iter().map(|plan| (plan.name.to_owned(), file(plan))).collect();
    files.extend(false_claims(accepted));
    files.extend(undecodable(accepted));
    files
}

/// One unit below what is attained, for every claim of some plans.
fn false_claims(accepted: &[NamedPlan]) -> Vec<(String, String)> {
    let mut files = Vec::new();
    for name in ["chain", "overlapping", "split", "binary_tree_split", "pairwise", "blocks_chain"] {
        let parts = find(accepted, name);
        for (index, claim) in parts.claims.iter().enumerate() {
            let less = |nats: Nats| nats.units().checked_sub(1).map(Nats::from_units);
            let changed = match *claim {
                PlanClaim::Person { ldp } => {
                    vec![("ldp", ldp, less(ldp).map(|ldp| PlanClaim::Person { ldp }))]
                }
                PlanClaim::Question { which, given, lower, upper } => vec![
                    (
                        "upper",
                        upper,
                        less(upper).map(|upper| PlanClaim::Question { which, given, lower, upper }),
                    ),
                    (
                        "lower",
                        lower,
                        less(lower).map(|lower| PlanClaim::Question { which, given, lower, upper }),
                    ),
                ],
                PlanClaim::Secret { which, lower, upper } => vec![
                    (
                        "upper",
                        upper,
                        less(upper).map(|upper| PlanClaim::Secret { which, lower, upper }),
                    ),
                    (
                        "lower",
                        lower,
                        less(lower).map(|lower| PlanClaim::Secret { which, lower, upper }),
                    ),
                ],
            };
            for (side, attained, claim) in changed {
                let Some(claim) = claim else { continue };
                let mut parts = parts.clone();
                parts.claims[index] = claim;
                let draft = PlanDraft::new(parts).expect("parts that fit");
                let refusal = inline(&[
                    ("claim", index.to_string()),
                    ("side", quoted(side)),
                    ("attained", nats(Some(attained))),
                    ("allowed", nats(less(attained))),
                ]);
                let fields = [
                    (
                        "about",
                        quoted(format!(
                            "{name}, claim {index}: one unit of nats less than is attained"
                        )),
                    ),
                    ("document", draft.to_json()),
                    ("stage", quoted("verify")),
                    ("refusal", refusal),
                ];
                files.push((format!("bad_{name}_{index}_{side}"), object(&fields) + "\n"));
            }
        }
    }
    files
}

fn undecodable(accepted: &[NamedPlan]) -> Vec<(String, String)> {
    let json = |name: &str| {
        let draft = PlanDraft::new(find(accepted, name).clone()).expect("parts that fit");
        without_id(&draft.to_json())
    };
    let (chain, split) = (json("chain"), json("split"));
    let combined = json("combined");
    let points = json("points");
    let repeated = json("repeated");
    let blocks = json("blocks_repeated");
    let first = |text: &str, from: &str, to: &str| {
        assert!(text.contains(from), "{from:?} should occur in {text}");
        text.replacen(from, to, 1)
    };
    let list = [
        ("version", "an unknown version", "version", edit(&chain, "\"plan/1\"", "\"plan/2\"")),
        (
            "field",
            "a field too many",
            "json",
            first(&chain, "\"questions\":", "\"extra\": 1,\n  \"questions\":"),
        ),
        (
            "list_for_object",
            "a list where an object is written",
            "json",
            first(
                &chain,
                "{\"name\":\"s0\",\"values\":{\"indices\":2}}",
                "[\"s0\",{\"indices\":2}]",
            ),
        ),
        ("fraction", "1.0 for 1", "json", first(&split, "\"asked\": 2", "\"asked\": 2.0")),
        (
            "level_zeros",
            "a level with a trailing zero",
            "nats",
            first(&repeated, "\"notion\":\"ldp\",\"nats\":\"", "\"notion\":\"ldp\",\"nats\":\"0"),
        ),
        (
            "unknown_parent",
            "a parent that does not exist",
            "law",
            first(&chain, "\"parent\":\"s0\"", "\"parent\":\"s1\""),
        ),
        (
            "unknown_question",
            "an item about nothing",
            "plan",
            first(&chain, "\"questions\":[\"q1\"]", "\"questions\":[\"q9\"]"),
        ),
        (
            "circle",
            "a circle of parents",
            "law",
            first(&chain, "\"parent\":\"s0\"", "\"parent\":\"q1\""),
        ),
        (
            "row_sum",
            "a law that does not sum to one",
            "law",
            first(&chain, "246290604621824", "246290604621823"),
        ),
        (
            "order",
            "points out of order",
            "law",
            first(&points, "\"values\":[0,0,0]", "\"values\":[0,1,1]"),
        ),
        (
            "asked_all",
            "all drawn items are asked",
            "plan",
            first(&split, "\"asked\": 2", "\"asked\": 3"),
        ),
        (
            "asked_none",
            "a weight and nothing asked",
            "plan",
            first(&split, "\"asked\": 2", "\"asked\": 0"),
        ),
        (
            "combined_size",
            "a combined symbol of another size",
            "plan",
            first(
                &combined,
                "{\"questions\":[\"q0\",\"q1\"],\"policy\":0}",
                "{\"questions\":[\"q0\"],\"policy\":0}",
            ),
        ),
        (
            "twice",
            "a question twice in one item",
            "plan",
            first(&combined, "[\"q0\",\"q1\"]", "[\"q0\",\"q0\"]"),
        ),
        ("periods", "no period", "plan", first(&repeated, "\"periods\": 12", "\"periods\": 0")),
        ("alip", "two equal levels written as two", "json", equal_levels(&chain)),
        (
            "fresh_blocks",
            "fresh reports over another number of blocks",
            "plan",
            edit(&blocks, "\"policy\":0,\"fresh\":3", "\"policy\":0,\"fresh\":4"),
        ),
        (
            "fresh_subsets",
            "subsets that are kept and randomised afresh",
            "plan",
            edit(&blocks, "\"policy\":2}", "\"policy\":2,\"fresh\":3}"),
        ),
    ];
    let mut files = Vec::new();
    for (name, about, error, document) in list {
        let fields = [
            ("about", quoted(about)),
            ("text", quoted(&document)),
            ("stage", quoted("decode")),
            ("error", quoted(error)),
        ];
        files.push((format!("bad_{name}"), object(&fields) + "\n"));
    }
    let bytes = PlanDraft::new(find(accepted, "chain").clone()).expect("parts that fit").to_bytes();
    let mut magic = bytes.clone();
    magic[0] ^= 1;
    let longer = [&bytes[..], &[0]].concat();
    for (name, about, error, bytes) in [
        ("bytes_magic", "bytes that begin otherwise", "not_a_plan", magic),
        ("bytes_trailing", "a byte too many", "trailing", longer),
        ("bytes_truncated", "a byte too few", "truncated", bytes[..bytes.len() - 1].to_vec()),
    ] {
        let fields = [
            ("about", quoted(about)),
            ("bytes", quoted(hex(&bytes))),
            ("stage", quoted("decode")),
            ("error", quoted(error)),
        ];
        files.push((format!("bad_{name}"), object(&fields) + "\n"));
    }
    files
}

/// A document whose first claim about both sides has two equal levels, in the spelling of two.
fn equal_levels(text: &str) -> String {
    let start = "\"notion\":\"alip\",\"lower\":\"";
    let (before, after) = text.split_once(start).expect("a claim with two levels");
    let (_, after) = after.split_once("\"}").expect("the end of a claim");
    format!("{before}{start}1\",\"upper\":\"1\"}}{after}")
}
